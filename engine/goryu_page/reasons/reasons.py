"""Proves why a move is a mistake: a mate, a threat of mate, or material lost or missed by force.

A reason is a fact about the move of the game, the opponent's best answer to it, or the better move; where
nothing can be proved, there is none. Mates are proved by the mate search. A threat of mate (tsumero, 詰めろ)
is a mate after a pass; one that no move parries but a check is brinkmate (hisshi, 必至). Material is lost by
force if the answer wins at least `LEAST_GAIN` whatever the reply (`exchanges.forced`), and the better move
avoids it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from goryu.analysis.review import PlyReview
from goryu.evaluators.material import PIECE_VALUES
from goryu.games.shogi import is_drop, move_from, move_from_usi, move_to, move_to_usi
from goryu.games.shogi.pieces import EMPTY, KING, LANCE, PAWN, SLIDES, WHITE_PIECE, attacks
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board, solve
from goryu.search.mates.mate import MateVerdict
from goryu_page.reasons.exchanges import MATED, Exchange, forced, gain, unpromoted

LEAST_GAIN = 2 * PIECE_VALUES[LANCE]
"""The least material that is worth a sentence: a lance for nothing, or a bishop for a gold."""

MATE_NODES = {"python": 300, "native": 20_000}[IMPLEMENTATION]
"""What the mate search may expand for one position."""

EACH_NODES = MATE_NODES // 10
"""... and for each of all moves of a position."""


class ReasonKind(StrEnum):
    """What is proved. "The answer" is the first move of `PlyReview.refutation`."""

    ALLOWS_MATE = "allows mate"  # The opponent can mate by checks.
    IGNORES_THREAT = "ignores threat"  # The same, and the opponent threatened mate before the mistake.
    ONLY_MOVE = "only move"  # The same, as after every move but the better one.
    MISSES_MATE = "misses mate"  # There was a mate by checks.
    BRINKMATE = "brinkmate"  # After the answer every move that is no check allows a mate.
    LOSES = "loses"  # The answer wins material by force.
    THREAT = "threat"  # The answer threatens mate; the best answer to the better move does not.
    MISSES_GAIN = "misses gain"  # The better move wins material by force.
    MISSES_THREAT = "misses threat"  # The better move threatens mate, and the move of the game does not.


class Way(StrEnum):
    """How a move wins material, where that can be told from the board."""

    FORK = "fork"  # The piece that has moved attacks two pieces, or the king and one, without capturing.
    DEFENDER = "defender"  # It captures what the piece moved by the mistake had defended.
    OPEN_LINE = "open line"  # It captures along a line that the mistake has opened.
    PIN = "pin"  # It captures what a pinned piece seems to defend.
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Reason:
    """move: of which the sentence speaks, after the mistake or, if `is_instead`, in its place; in USI.

    plies: of the mate; its first move is `move`, or `mate` if it is threatened.
    lost: the pieces that the loser gives, and won: those that it gets for them, as kinds, the same left out.
    better: the only move. way, pieces: how, and the kinds of the two pieces that a fork attacks, of the piece
    that no longer defends or is pinned, or of the one whose line is open.
    """

    kind: ReasonKind
    move: str
    is_instead: bool = False
    plies: int = 0
    mate: str = ""
    better: str = ""
    lost: tuple[int, ...] = ()
    won: tuple[int, ...] = ()
    way: Way = Way.PLAIN
    pieces: tuple[int, ...] = ()


def reason_of(board: Board, ply: PlyReview) -> Reason | None:
    """Returns the first reason that can be proved, the weightiest kind first; None if there is none.

    board: the position before the move; it is left as it was. Takes some tenths of a second.
    """
    if not ply.better_line:
        return None
    return next(_Proof(board.copy(), ply).reasons(), None)


class _Proof:
    """What is asked about one mistake, in the positions before it, after it and after the better move."""

    def __init__(self, before: Board, ply: PlyReview) -> None:
        self.before, self.ply = before, ply
        self.played, self.better = move_from_usi(ply.move), move_from_usi(ply.better_line[0])
        self.after, self.instead = after(before, self.played), after(before, self.better)
        self.answer = move_from_usi(ply.refutation[0]) if ply.refutation else None

    def reasons(self) -> Iterator[Reason]:
        # A review also counts wins in which a move gives no check: those are no mates (詰み) to people.
        if self.ply.allows_mate is not None and (mate := mating_line(self.after)):
            yield self._mate(mate)
        if self.ply.missed_mate is not None and (mate := mating_line(self.before)):
            yield Reason(ReasonKind.MISSES_MATE, move_to_usi(mate[0]), True, len(mate))
        threat = None
        if self.answer is not None:
            threat = threatened(answered := after(self.after, self.answer))
            if threat and not self._is_threatened_instead():
                if is_brinkmate(answered):
                    yield self._threat(ReasonKind.BRINKMATE, self.answer, threat)
            else:
                threat = None
            yield from self._material_lost(self.answer)
            if threat:
                yield self._threat(ReasonKind.THREAT, self.answer, threat)
        yield from self._material_missed()
        if (missed := threatened(self.instead)) and threat_is_refuted(self.after):
            yield self._threat(ReasonKind.MISSES_THREAT, self.better, missed)

    def _mate(self, mate: tuple[Move, ...]) -> Reason:
        kind, better = ReasonKind.ALLOWS_MATE, ""
        if is_only_move(self.before, self.better):
            kind, better = ReasonKind.ONLY_MOVE, self.ply.better_line[0]
        elif threatened(self.before):
            kind = ReasonKind.IGNORES_THREAT
        return Reason(kind, move_to_usi(mate[0]), False, len(mate), better=better)

    def _threat(self, kind: ReasonKind, move: Move, mate: tuple[Move, ...]) -> Reason:
        is_instead = kind is ReasonKind.MISSES_THREAT
        return Reason(kind, move_to_usi(move), is_instead, len(mate), move_to_usi(mate[0]))

    def _is_threatened_instead(self) -> bool:
        """Does the best answer to the better move threaten mate, too? Then it is not the mistake's fault."""
        answers = self.ply.better_line[1:2]
        return any(threatened(after(self.instead, move_from_usi(move))) for move in answers)

    def _material_lost(self, answer: Move) -> Iterator[Reason]:
        played = gain(self.before.pieces, self.played)
        exchange = forced(self.after, answer)
        lost = exchange.gain - played
        if not LEAST_GAIN <= lost < MATED // 2:  # From MATED // 2 on the line ends in mate, another reason.
            return
        own = gain(self.before.pieces, self.better)
        answers = {answer, *map(move_from_usi, self.ply.better_line[1:2])}
        legal = [move for move in answers if self.instead.is_legal(move)]
        anyway = max((forced(self.instead, move).gain for move in legal), default=0) - own
        if lost - anyway >= LEAST_GAIN:
            yield self._material(ReasonKind.LOSES, self.after, exchange, (self.played, *exchange.line))

    def _material_missed(self) -> Iterator[Reason]:
        exchange = forced(self.before, self.better)
        missed = exchange.gain - forced(self.before, self.played).gain
        if LEAST_GAIN <= exchange.gain < MATED // 2 and missed >= LEAST_GAIN:
            yield self._material(ReasonKind.MISSES_GAIN, self.before, exchange, exchange.line)

    def _material(self, kind: ReasonKind, board: Board, exchange: Exchange, line: tuple[Move, ...]) -> Reason:
        is_instead = kind is ReasonKind.MISSES_GAIN
        winner = board.turn
        given, taken = captured(self.before, line, winner), captured(self.before, line, 1 - winner)
        for piece in list(taken):
            if piece in given:
                given.remove(piece)
                taken.remove(piece)
        way, pieces = self._way(board, exchange.line[0], is_instead)
        if way is Way.FORK and not set(given) & set(map(unpromoted, pieces)):
            way, pieces = Way.PLAIN, ()  # Something else is lost.
        move = move_to_usi(exchange.line[0])
        return Reason(kind, move, is_instead, lost=tuple(given), won=tuple(taken), way=way, pieces=pieces)

    def _way(self, board: Board, move: Move, is_instead: bool) -> tuple[Way, tuple[int, ...]]:
        pieces, to = board.pieces, move_to(move)
        moved = after(board, move)
        if pieces[to] == EMPTY:
            targets = forked(moved, to)
            return (Way.FORK, targets) if len(targets) == 2 else (Way.PLAIN, ())
        was = self.before.pieces
        # What the mistake has moved into the capture is lost for a simpler cause.
        if not is_instead and not is_drop(self.played) and was[to] == pieces[to]:
            origin = move_from(self.played)
            kind = was[origin] % WHITE_PIECE
            slider = EMPTY if is_drop(move) else pieces[move_from(move)] % WHITE_PIECE
            if attacks(was, origin, to) and not defends(moved, to):
                return Way.DEFENDER, (kind,)
            if slider in SLIDES and not attacks(was, move_from(move), to):
                return Way.OPEN_LINE, (slider,)
        if (pinned := pinned_defender(moved, to)) is not None:
            return Way.PIN, (pinned,)
        return Way.PLAIN, ()


def after(board: Board, move: Move) -> Board:
    """Returns a copy of a board after a move."""
    copy = board.copy()
    copy.push(move)
    return copy


def passed(board: Board) -> Board | None:
    """Returns the position with the turn passed; None in check, where nobody can pass."""
    if board.is_check():
        return None
    squares, turn, rest = board.sfen().split(" ", 2)
    return Board(f"{squares} {'w' if turn == 'b' else 'b'} {rest}")


def mating_line(board: Board) -> tuple[Move, ...]:
    """Returns a mate by checks of the side to move; () if none is found."""
    return solve(board, MATE_NODES, lambda: False, MATE_NODES).moves


def threatened(board: Board) -> tuple[Move, ...]:
    """Returns the mate that the side that has just moved threatens (詰めろ); () if none is found."""
    there = passed(board)
    return () if there is None else mating_line(there)


def threat_is_refuted(board: Board) -> bool:
    """Is it proved that the side that has just moved threatens no mate?"""
    there = passed(board)
    return there is not None and solve(there, MATE_NODES).verdict is MateVerdict.NO_MATE


def is_mated_after(board: Board, move: Move) -> bool:
    """Can the opponent mate after a move of the side to move?"""
    return solve(after(board, move), EACH_NODES).verdict is MateVerdict.MATE


def is_only_move(board: Board, only: Move) -> bool:
    """Does the opponent mate after every other legal move?"""
    others = [move for move in board.all_legal_moves() if move != only]
    return bool(others) and all(is_mated_after(board, move) for move in others)


def is_brinkmate(board: Board) -> bool:
    """Does the opponent mate after every move of the side to move that gives no check (必至)?"""
    checks = set(board.checks())
    quiet = [move for move in board.all_legal_moves() if move not in checks]
    return bool(quiet) and all(is_mated_after(board, move) for move in quiet)


def captured(board: Board, line: tuple[Move, ...], by: int) -> list[int]:
    """Returns the kinds of the pieces that the side `by` takes in a line, in order, as in its hand."""
    kinds, past = [], board.copy()
    for move in line:
        if past.turn == by and (piece := past.pieces[move_to(move)]) != EMPTY:
            kinds.append(unpromoted(piece % WHITE_PIECE))
        past.push(move)
    return kinds


def forked(board: Board, square: int) -> tuple[int, ...]:
    """Returns the kinds of the two best pieces that the piece on a square attacks and that are worth it.

    Those are the king, pieces that nobody defends and pieces worth more than the attacker.
    """
    pieces, side = board.pieces, board.turn
    own = PIECE_VALUES[pieces[square] % WHITE_PIECE]
    found = []
    for at, piece in enumerate(pieces):
        kind = piece % WHITE_PIECE
        if piece == EMPTY or piece // WHITE_PIECE != side or not attacks(pieces, square, at):
            continue
        if kind == KING or PIECE_VALUES[kind] > own or (kind != PAWN and not is_defended(pieces, at, side)):
            found.append(kind)
    return tuple(sorted(found, key=lambda kind: -(PIECE_VALUES[kind] or MATED))[:2])


def is_defended(pieces: list[int], square: int, side: int) -> bool:
    """Does another piece of its side attack a square?"""
    return any(
        piece != EMPTY and piece // WHITE_PIECE == side and at != square and attacks(pieces, at, square)
        for at, piece in enumerate(pieces)
    )


def defends(board: Board, square: int) -> bool:
    """Can the side to move recapture on a square?"""
    return any(move_to(move) == square for move in board.all_legal_moves())


def pinned_defender(board: Board, square: int) -> int | None:
    """Returns the kind of the only piece that attacks a square, if it may not capture there."""
    if board.is_check() or defends(board, square):
        return None
    pieces, side = board.pieces, board.turn
    found = [
        piece % WHITE_PIECE
        for at, piece in enumerate(pieces)
        if piece != EMPTY and piece // WHITE_PIECE == side and attacks(pieces, at, square)
    ]
    return found[0] if len(found) == 1 and found[0] != KING else None
