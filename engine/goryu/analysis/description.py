"""Describes a review for people and programs: as JSON for the page, as comments for a KIF record.

Moves are given in USI and as people write them, in Japanese (▲７六歩) and in Western notation (P-7f).
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from goryu.analysis.judgement import (
    GREAT_LEAD,
    GREAT_PRIOR,
    LEAST_LOSS,
    MISTAKES,
    SYMBOLS,
    MoveClass,
    margin,
)
from goryu.analysis.position_analysis import PositionAnalysis
from goryu.analysis.review import GameReview, PlyReview
from goryu.analysis.strategies import Name, strategies_of
from goryu.games.shogi import MoveError, move_from_usi, move_to_usi
from goryu.implementation import Board
from goryu.kifu.handicaps import handicap_of_sfen, has_handicap, naming_sides
from goryu.kifu.notation import japanese_move, western_move
from goryu.kifu.record import GameRecord, Ply, Variation
from goryu.players.config import OutputConfig
from goryu.players.score import centipawns

CLASS_NAMES = {
    MoveClass.GREAT: Name("好手", "great"),
    MoveClass.BEST: Name("最善手", "best"),
    MoveClass.GOOD: Name("普通の手", "good"),
    MoveClass.INACCURACY: Name("緩手", "inaccuracy"),
    MoveClass.DUBIOUS: Name("疑問手", "dubious"),
    MoveClass.MISTAKE: Name("悪手", "mistake"),
    MoveClass.BLUNDER: Name("大悪手", "blunder"),
}
"""The names of the classes for people."""

SHOWN_MOVES = 5
"""Moves of a position that are described with their continuation."""

LEAST_PRIOR = 0.001
"""A move that was not searched is listed if the policy gives it at least this probability."""

KIF_LINE = 8
"""Moves of a line in a comment."""

Json = dict[str, Any]


class Describer:
    """Describes one review; it keeps the positions of the game, from which the names of moves follow."""

    def __init__(self, record: GameRecord, review: GameReview) -> None:
        self.record = record
        self.review = review
        board = Board(review.start)
        self._boards = [board.copy()]
        for move in review.moves:
            board.push_usi(move)
            self._boards.append(board.copy())

    def line(self, index: int, moves: Sequence[str]) -> Json:
        """Returns moves played from position `index` as {"usi": [...], "ja": [...], "en": [...]}."""
        return named_line(self._boards[index], moves)

    def game(self) -> Json:
        """Returns everything that is known without a search."""
        record, review = self.record, self.review
        names = strategies_of(review.start, review.moves)
        handicap = handicap_of_sfen(review.start)
        line = self.line(0, review.moves)
        return {
            "start": review.start,
            "turn": review.first_turn,
            "names": list(record.names),
            "ratings": list(record.ratings),
            "ending": str(record.ending),
            "winner": record.winner,
            "headers": dict(record.headers),
            "comment": record.comment,
            "isHandicap": has_handicap(review.start),
            "handicap": _pair(Name(handicap.japanese, handicap.english) if handicap else None),
            "opening": _pair(names.opening),
            "castles": [_pair(castle) for castle in names.castles],
            "playouts": review.playouts,
            "moves": [
                {
                    "usi": line["usi"][i],
                    "ja": line["ja"][i],
                    "en": line["en"][i],
                    "comment": record.plies[i].comment if i < len(record.plies) else "",
                    "seconds": record.plies[i].seconds if i < len(record.plies) else None,
                }
                for i in range(len(review.moves))
            ],
            "positions": [{"sfen": board.sfen(), "check": board.is_check()} for board in self._boards],
            "variations": [self._variation(variation, review.moves) for variation in record.variations],
            "thresholds": {str(kind): least for kind, least in LEAST_LOSS.items()},
            "margin": margin(review.playouts),
            "great": {"lead": GREAT_LEAD, "prior": GREAT_PRIOR},
        }

    def _variation(self, variation: Variation, main: Sequence[str]) -> Json:
        before = [*main[: variation.ply - 1]]
        moves = [ply.move for ply in variation.plies]
        line = named_line(board_after(self.review.start, before), moves)
        return {
            "ply": variation.ply,
            "before": before,
            "comments": [ply.comment for ply in variation.plies],
            **line,
            "variations": [self._variation(child, [*before, *moves]) for child in variation.variations],
        }

    def position(self, index: int) -> Json | None:
        """Returns the analysis of position `index`, or None while there is none."""
        analysis = self.review.analyses[index]
        return None if analysis is None else position_json(self._boards[index], analysis)

    def ply(self, index: int) -> Json | None:
        """Returns the judgement of move `index`, or None while there is none."""
        ply = self.review.ply(index)
        return None if ply is None else ply_json(self._boards[index], ply)

    def summary(self) -> list[Json]:
        """Returns the judgement of both players, black first."""
        return [_summary(self.review, turn) for turn in (0, 1)]

    def everything(self) -> Json:
        """Returns the whole review."""
        count = len(self.review.moves)
        return {
            "game": self.game(),
            "positions": [self.position(index) for index in range(count + 1)],
            "plies": [self.ply(index) for index in range(count)],
            "summary": self.summary(),
        }

    def commented(self) -> GameRecord:
        """Returns the record with the judgements as comments; the comments of the record stay before them."""
        plies = []
        for index, ply in enumerate(self.record.plies):
            text = "\n".join(filter(None, [ply.comment, self._comment(index)]))
            plies.append(replace(ply, comment=text))
        return replace(self.record, plies=tuple(plies), variations=self._lines_as_variations())

    def _comment(self, index: int) -> str:
        ply, rate = self.review.ply(index), self.review.black_win_rate(index + 1)
        if ply is None or rate is None:
            return ""
        percent = naming_sides(f"先手の勝率 {100 * rate:.1f} %", self.review.start)
        lines = [percent, self._score(index + 1, rate)]
        if ply.kind in (*MISTAKES, MoveClass.INACCURACY, MoveClass.GREAT):
            lines.append(f"【{CLASS_NAMES[ply.kind].japanese}】 損失 {100 * ply.loss:.1f} %")
        if ply.missed_mate is not None:
            lines.append(f"{ply.missed_mate}手詰を逃した")
        if ply.allows_mate is not None:
            lines.append(f"{ply.allows_mate}手詰を許した")
        if ply.kind in MISTAKES:
            lines.append("代えて " + " ".join(self.line(index, ply.better_line[:KIF_LINE])["ja"]))
            if ply.refutation:
                refutation = self.line(index + 1, ply.refutation[:KIF_LINE])["ja"]
                lines.append("以下 " + " ".join(refutation))
        return "\n".join(lines)

    def _score(self, index: int, rate: float) -> str:
        """Returns the evaluation for black as ShogiHome writes it, which draws a graph of such lines."""
        analysis = self.review.analyses[index]
        if analysis and analysis.mate:
            has_black_won = (analysis.mate > 0) == (self.review.turn(index) == 0)
            return f"#詰み={'先手' if has_black_won else '後手'}勝ち:{abs(analysis.mate)}手"
        return f"#評価値={centipawns(2.0 * rate - 1.0, OutputConfig().eval_coef)}"

    def _lines_as_variations(self) -> tuple[Variation, ...]:
        """Returns the record's variations, and the better line of each mistake as one more."""
        better = [
            Variation(ply.ply, tuple(Ply(move) for move in ply.better_line[:KIF_LINE]))
            for ply in self.review.mistakes()
            if ply.better_line
        ]
        return (*self.record.variations, *sorted(better, key=lambda variation: variation.ply))


def mark(ply: PlyReview) -> str:
    """Returns the mark of a move, such as "??"; "" for none."""
    return SYMBOLS.get(ply.kind, "")


def board_after(start: str, moves: Sequence[str]) -> Board:
    """Returns the board after moves in USI from an SFEN."""
    board = Board(start)
    for move in moves:
        board.push_usi(move)
    return board


def shown_position(board: Board) -> Json:
    """Returns what a board of the page needs; after the end of the game there is no legal move."""
    is_over = board.outcome() is not None
    legal = [] if is_over else sorted(map(move_to_usi, board.all_legal_moves()))
    return {"sfen": board.sfen(), "check": board.is_check(), "legal": legal}


def legal_part(board: Board, moves: Iterable[str]) -> list[str]:
    """Returns the moves (USI) before the first that cannot be played: an engine's line may end in a word."""
    past, legal = board.copy(), []
    with suppress(MoveError):
        for move in moves:
            past.push_usi(move)
            legal.append(move)
    return legal


def named_line(board: Board, moves: Sequence[str]) -> Json:
    """Returns moves played from a board as `Describer.line` does; the board is left as it was."""
    line: dict[str, list[str]] = {"usi": [], "ja": [], "en": []}
    for text in moves:
        move = move_from_usi(text)
        line["usi"].append(text)
        line["ja"].append(japanese_move(board, move))
        line["en"].append(western_move(board, move))
        board.push(move)
    for _ in moves:
        board.pop()
    return line


def ply_json(board: Board, ply: PlyReview) -> Json:
    """Returns a judgement with the names of the moves. Win rates are in [0, 1].

    board: the position before the move; it is left as it was.
    """
    better = named_line(board, ply.better_line)
    board.push_usi(ply.move)
    refutation = named_line(board, ply.refutation)
    board.pop()
    return {
        "ply": ply.ply,
        "turn": ply.turn,
        "kind": str(ply.kind),
        "mark": mark(ply),
        "loss": round(ply.loss, 4),
        "winRate": round(ply.win_rate, 4),
        "playedWinRate": round(ply.played_win_rate, 4),
        "best": ply.best,
        "rank": ply.rank,
        "visits": ply.visits,
        "prior": ply.prior,
        "better": better,
        "refutation": refutation,
        "missedMate": ply.missed_mate,
        "allowsMate": ply.allows_mate,
    }


def position_json(board: Board, analysis: PositionAnalysis, lines: int = SHOWN_MOVES) -> Json:
    """Returns an analysis with the names of the moves, and of `lines` continuations. Rates are in [0, 1]."""
    shown = [move for move in analysis.moves if move.visits or move.mate or move.prior >= LEAST_PRIOR]
    rate = analysis.win_rate
    return {
        "playouts": analysis.playouts,
        "isFinal": analysis.is_final,
        "black": round(rate if board.turn == 0 else 1 - rate, 4),
        "winRate": round(rate, 4),
        "mate": analysis.mate,
        "ending": analysis.ending,
        "moves": [
            {
                "usi": move.move,
                "prior": move.prior,
                "visits": move.visits,
                "winRate": None if move.value is None else round((1 + move.value) / 2, 4),
                "mate": move.mate,
                "line": named_line(board, move.pv if i < lines else move.pv[:1]),
            }
            for i, move in enumerate(shown)
        ],
    }


def _pair(name: Name | None) -> Json | None:
    return None if name is None else {"ja": name.japanese, "en": name.english}


def _summary(review: GameReview, turn: int) -> Json:
    summary = review.summary(turn)
    return {
        "moves": summary.moves,
        "accuracy": None if summary.accuracy is None else round(summary.accuracy, 1),
        "agreement": round(summary.agreement, 4),
        "meanLoss": round(summary.mean_loss, 4),
        "counts": {str(kind): count for kind, count in summary.counts.items()},
    }
