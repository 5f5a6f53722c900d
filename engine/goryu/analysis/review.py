"""The review of a game: the analysis of every position, and the judgement of every move that follows.

The loss of a move compares the position after it with the position after the better move, both searched
with the same number of playouts. The search of the position before the move only proposes the better move:
its value of a move that it tried a few times would be a guess.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from goryu.analysis.judgement import (
    GREAT_LEAD,
    GREAT_PRIOR,
    LEAST_LOSS,
    MISTAKES,
    MoveClass,
    class_of_loss,
    game_accuracy,
)
from goryu.analysis.position_analysis import MoveAnalysis, PositionAnalysis
from goryu.games.shogi import START_SFEN

SUSPICION = LEAST_LOSS[MoveClass.INACCURACY]
"""A move that seems to lose as much is compared with the better move by another search."""

LEAST_VISITS = 8
"""Playouts that the second best move needs before its value says that the best move is the only one."""


@dataclass(frozen=True, slots=True)
class PlyReview:
    """The judgement of one move. Values are for the player who moved, win rates in [0, 1].

    ply: 1 for the first move. turn: the player, 0 black or 1 white. move: in USI.
    win_rate: after the best move; played_win_rate: after the played one; loss: their difference, at least 0.
    best: the best move, None if the search found the played one to be the best and it allows no mate.
    better_line: the best move and the moves that should have followed.
    refutation: the opponent's best answer to the played move, and the moves after it.
    prior, visits: of the played move in the search before it.
    rank: 1 for the first choice of the search, 0 for a move that it did not consider.
    missed_mate: plies of the mate that the player could have forced and did not; else None.
    allows_mate: plies in which the opponent can mate after a move that need not have allowed it; else None.
    is_compared: was the better move searched like the played one?
    """

    ply: int
    turn: int
    move: str
    win_rate: float
    played_win_rate: float
    loss: float
    kind: MoveClass
    best: str | None
    better_line: tuple[str, ...]
    refutation: tuple[str, ...]
    prior: float
    visits: int
    rank: int
    missed_mate: int | None
    allows_mate: int | None
    is_compared: bool


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """The judgement of one player, over the moves known so far.

    accuracy: as in `game_accuracy`, in [0, 100]; None before all moves are known or without a move.
    agreement: share of the moves that are the search's first choice; mean_loss: of win rate; in [0, 1].
    counts: of moves by class.
    """

    moves: int
    accuracy: float | None
    agreement: float
    mean_loss: float
    counts: dict[MoveClass, int]


_Judged = tuple[tuple[PositionAnalysis, PositionAnalysis, PositionAnalysis | None], PlyReview]
"""The analyses before the move, after it and after the better move; and what follows from them."""


class GameReview:
    """The review of one game, which fills while the positions are searched; may be read from any thread.

    start: SFEN. moves: in USI. playouts: for each position.
    analyses: of the position before each move and after the last; None while it is not known.
    better: by the index of a move, the analysis of the position after the best move instead.
    """

    def __init__(self, start: str, moves: Sequence[str], playouts: int) -> None:
        self.start = start or START_SFEN
        self.moves = tuple(moves)
        self.playouts = playouts
        self.analyses: list[PositionAnalysis | None] = [None] * (len(self.moves) + 1)
        self.better: dict[int, PositionAnalysis] = {}
        self.first_turn = int(self.start.split()[1] == "w")
        self._judged: dict[int, _Judged] = {}

    def known(self) -> int:
        """Returns how many positions have been searched in full."""
        return sum(is_enough(analysis, self.playouts) for analysis in self.analyses)

    def turn(self, index: int) -> int:
        """Returns the side to move in position `index`: 0 black, 1 white."""
        return (self.first_turn + index) % 2

    def black_win_rate(self, index: int) -> float | None:
        """Returns black's win rate in position `index`, in [0, 1], or None while it is not known."""
        analysis = self.analyses[index]
        if analysis is None:
            return None
        return analysis.win_rate if self.turn(index) == 0 else 1 - analysis.win_rate

    def ply(self, index: int) -> PlyReview | None:
        """Returns the judgement of move `index` (0 for the first), or None while it is not known."""
        before, after = self.analyses[index], self.analyses[index + 1]
        if before is None or after is None or before.best is None:
            return None
        searched = (before, after, self.better.get(index))
        judged = self._judged.get(index)
        # Each summary needs every move, and only a few have been searched since the last one.
        if judged is None or any(old is not new for old, new in zip(judged[0], searched, strict=True)):
            judged = searched, _judge(index, self.turn(index), self.moves[index], *searched)
            self._judged[index] = judged
        return judged[1]

    def plies(self) -> Iterator[PlyReview]:
        """Yields the judgements that are known, in order."""
        for index in range(len(self.moves)):
            if (ply := self.ply(index)) is not None:
                yield ply

    def mistakes(self) -> list[PlyReview]:
        """Returns the moves called mistakes (`MISTAKES`), the worst first."""
        return sorted(
            (ply for ply in self.plies() if ply.kind in MISTAKES), key=lambda ply: (-ply.loss, ply.ply)
        )

    def summary(self, turn: int) -> PlayerSummary:
        """Returns the judgement of the player `turn`: 0 black, 1 white."""
        own = [ply for ply in self.plies() if ply.turn == turn]
        accuracy = None
        count = self._moves_to_end()
        losses = [ply.loss for i in range(count) if (ply := self.ply(i)) is not None]
        if len(losses) == count:
            rates = [rate for i in range(count + 1) if (rate := self.black_win_rate(i)) is not None]
            accuracy = game_accuracy(losses, rates, (turn - self.first_turn) % 2)
        return PlayerSummary(
            moves=len(own),
            accuracy=accuracy,
            agreement=sum(ply.rank == 1 for ply in own) / max(1, len(own)),
            mean_loss=sum(ply.loss for ply in own) / max(1, len(own)),
            counts={kind: sum(ply.kind is kind for ply in own) for kind in MoveClass},
        )

    def _moves_to_end(self) -> int:
        """Returns how many moves lead to the end; some records go on after a fourth repetition."""
        ends = (i for i, known in enumerate(self.analyses[:-1]) if known is not None and known.best is None)
        return next(ends, len(self.moves))

    def enter(self, index: int, analysis: PositionAnalysis) -> None:
        """Takes an analysis of position `index`; comparisons that it makes stale are forgotten."""
        old, self.analyses[index] = self.analyses[index], analysis
        if old is not None and _names(old.moves[:2]) != _names(analysis.moves[:2]):
            self.better.pop(index, None)  # It may have been searched for another move.
        for move in (index - 1, index):
            if move in self.better and not is_enough(self.better[move], self.playouts):
                del self.better[move]

    def is_judged(self, index: int) -> bool:
        """Is the judgement of move `index` final: all its positions searched in full?"""
        searched = self.analyses[index : index + 2]
        if not all(is_enough(analysis, self.playouts) for analysis in searched):
            return False
        return self.better_position(index) is None

    def take(self, other: "GameReview", index: int) -> None:
        """Takes the judgement of move `index` from a review of the same game with more playouts."""
        for position in (index, index + 1):
            if (analysis := other.analyses[position]) is not None:
                self.enter(position, analysis)
        self.better.pop(index, None)
        if index in other.better:
            self.better[index] = other.better[index]

    def better_position(self, index: int) -> tuple[str, ...] | None:
        """Returns the moves to the position to compare with the one after move `index`, or None."""
        ply = self.ply(index)
        if ply is None or ply.best is None or ply.is_compared or ply.loss < SUSPICION:
            return None  # There is nothing to compare.
        analysis = self.analyses[index]
        if analysis is None or analysis.mate is not None or analysis.ending:
            return None  # The best move is certain.
        return (*self.moves[:index], ply.best)


def _judge(
    index: int,
    turn: int,
    move: str,
    before: PositionAnalysis,
    after: PositionAnalysis,
    better: PositionAnalysis | None,
) -> PlyReview:
    mate, mate_after = before.mate, after.mate
    won, lost_after = mate is not None and mate > 0, mate_after is not None and mate_after > 0
    was_lost = mate is not None and mate < 0
    best, best_value = before.best, before.value
    assert best is not None
    played = before.find(move)
    played_value = -after.value
    is_best = best.move == move and before.ending != "declaration"
    if is_best and lost_after and not was_lost and len(before.moves) > 1:
        # The search before the move did not see the mate that it allows, so the second choice is better.
        is_best, best = False, before.moves[1]
        best_value = before.value if best.value is None else best.value
    better_line = best.pv
    if better is not None and not is_best:
        best_value = -better.value
        better_line = (best.move, *(better.best.pv if better.best else ()))
    loss = 0.0 if is_best else max(0.0, (best_value - played_value) / 2)
    return PlyReview(
        ply=index + 1,
        turn=turn,
        move=move,
        win_rate=(1 + (played_value if is_best else max(best_value, played_value))) / 2,
        played_win_rate=(1 + played_value) / 2,
        loss=loss,
        kind=_class(before, best, loss, is_best),
        best=None if is_best else best.move,
        better_line=() if is_best else better_line,
        refutation=after.best.pv if after.best else (),
        prior=played.prior if played else 0.0,
        visits=played.visits if played else 0,
        rank=before.moves.index(played) + 1 if played else 0,
        missed_mate=mate if won and (mate_after is None or mate_after > 0) else None,
        allows_mate=mate_after if lost_after and not was_lost and loss > 0 else None,
        is_compared=better is not None,
    )


def _class(before: PositionAnalysis, best: MoveAnalysis, loss: float, is_best: bool) -> MoveClass:
    if not is_best:
        return class_of_loss(loss, before.playouts)
    others = [
        move.value
        for move in before.moves[1:]
        if move.value is not None and (move.visits >= LEAST_VISITS or move.mate)
    ]
    is_only = bool(others) and best.value is not None and best.value - max(others) >= 2 * GREAT_LEAD
    return MoveClass.GREAT if is_only and best.prior <= GREAT_PRIOR else MoveClass.BEST


def _names(moves: Sequence[MoveAnalysis]) -> list[str]:
    return [move.move for move in moves]


def is_enough(analysis: PositionAnalysis | None, playouts: int) -> bool:
    """Would a search with so many playouts tell no more than this analysis?"""
    return analysis is not None and (analysis.is_final or analysis.playouts >= playouts)
