"""Sets up a board from an SFEN and the moves since, as a GUI sends them."""

from collections.abc import Sequence
from dataclasses import replace

from goryu.games.shogi import START_SFEN, EnteringKingRule, Rules, SfenError, move_to_usi
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.players.config import EngineConfig
from goryu.players.request import Answer
from goryu.search.result import RootMove


def rules_of(config: EngineConfig) -> Rules:
    """Returns the rules of the game that the config describes."""
    return Rules(
        entering_king=EnteringKingRule(config.rules.entering_king),
        max_ply=config.rules.moves_to_draw,
        all_moves=config.rules.all_moves,
        first_recurrence=config.rules.first_recurrence,
    )


def legal_reply(board: Board, best: RootMove) -> Move | None:
    """Returns the expected reply, or None if the game is over after the best move."""
    if len(best.pv) < 2:
        return None
    board.push(best.move)
    is_legal = board.outcome() is None and best.pv[1] in board.legal_moves()
    board.pop()
    return best.pv[1] if is_legal else None


def declaration(board: Board) -> Answer | None:
    """Returns a win by declaration; under the try rule the winning king move is played instead."""
    if board.declaration() and board.rules.entering_king is not EnteringKingRule.TryRule:
        return Answer(None, declares=True)
    return None


class GamePosition:
    """The position that a GUI sets up: an SFEN ("" for the start), the moves since, and the resulting board.

    only_for_mate: the side to move has no king, so only a mate search can use the position.

    Raises:
        SfenError: the SFEN cannot be read or breaks a rule.
        MoveError, IllegalMoveError: one of the moves cannot be read, or is not legal.
    """

    def __init__(
        self, sfen: str, moves: tuple[str, ...], rules: Rules, last: "GamePosition | None" = None
    ) -> None:
        """Sets up the position; only the new moves are played if it continues the `last` one."""
        self.sfen = sfen
        self.moves = moves
        self.board: Board
        self.only_for_mate: bool
        if last and (last.sfen, last.board.rules) == (sfen, rules) and moves[: len(last.moves)] == last.moves:
            self.board = last.board.copy()
            self.only_for_mate = last.only_for_mate
            moves = moves[len(last.moves) :]
        else:
            self.board, self.only_for_mate = _set_up(sfen or START_SFEN, rules)
        for text in moves:
            self.board.push_usi(text)

    def under(self, rules: Rules) -> "GamePosition":
        """Returns the position under other rules, or itself if they are the same."""
        return self if rules == self.board.rules else GamePosition(self.sfen, self.moves, rules)


def legal_root_moves(position: GamePosition, texts: Sequence[str]) -> tuple[Board, tuple[Move, ...]]:
    """Returns the board to search and the legal ones among the given moves, each once.

    If one of them is a pointless non-promotion, the board is under rules that generate these too.
    """
    board = position.board
    legal = {move_to_usi(move): move for move in board.all_legal_moves()} if texts else {}
    moves = tuple(legal[text] for text in dict.fromkeys(texts) if text in legal)
    if not set(moves) <= set(board.legal_moves()):
        board = position.under(replace(board.rules, all_moves=True)).board
    return board, moves


def _set_up(sfen: str, rules: Rules) -> tuple[Board, bool]:
    """Returns the board, and whether the side to move has no king."""
    try:
        return Board(sfen, rules), False
    except SfenError:
        return Board(sfen, rules, allow_missing_king=True), True
