"""Repetition (千日手): the results that follow from a game's history.

The rule: the fourth occurrence of a position ends the game in a draw, unless one side
gave check with every move since the first occurrence; that side loses (perpetual
check, 連続王手の千日手). A search does not wait for the fourth: a player who can repeat once
can repeat again. The search also counts the same board with more pieces in hand than
before as a win (superior position, 優等局面), and with fewer as a loss. Values are for
the side to move.

Sources: the rules of the Japan Shogi Association; for the search, YaneuraOu and dlshogi.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

from goryu.games.state import Outcome

__all__ = ["SEARCH_WINDOW", "Frame", "History", "add_to_hand", "count_in_hand"]

SEARCH_WINDOW = 16
"""How many plies back a search looks for the first recurrence (YaneuraOu's and dlshogi's number)."""

DRAW = Outcome(0.0, "repetition")
FOURFOLD = Outcome(0.0, "fourfold repetition")
PERPETUAL_WIN, PERPETUAL_LOSS = Outcome(1.0, "perpetual check"), Outcome(-1.0, "perpetual check")
SUPERIOR, INFERIOR = Outcome(1.0, "superior position"), Outcome(-1.0, "inferior position")

_HAND_BITS = 6
_GUARDS = sum(1 << _HAND_BITS * place + 5 for place in range(7))


def count_in_hand(packed: int, place: int) -> int:
    """Returns the count at a place of a packed hand."""
    return packed >> _HAND_BITS * place & 31


def add_to_hand(packed: int, place: int, count: int) -> int:
    """Returns a packed hand with `count` more (or fewer) pieces at a place of P L N S G B R.

    A packed hand keeps each count in six bits, of which the highest stays 0.
    """
    return packed + (count << _HAND_BITS * place)


def _has_all_of(hand: int, other: int) -> bool:
    """Does a packed hand hold at least as many of every piece as another?"""
    # A field of `hand` smaller than its field of `other` borrows its guard bit.
    return ((hand | _GUARDS) - other) & _GUARDS == _GUARDS


class Frame(NamedTuple):
    """The part of a position that decides repetitions.

    position_key, board_key: with and without hands and side to move (see `zobrist.py`).
    hands: black's and white's, packed.
    is_check: is the side to move in check?
    streaks: how many moves black and white have given check without a break, up to here.
    """

    position_key: int
    board_key: int
    hands: tuple[int, int]
    is_check: bool
    streaks: tuple[int, int]


@dataclass(slots=True)
class History:
    """The positions of a game from its start; results are those of the last one."""

    frames: list[Frame] = field(default_factory=list)
    position_keys: list[int] = field(default_factory=list)

    def append(self, frame: Frame) -> None:
        """Adds the position that the last move led to."""
        self.frames.append(frame)
        self.position_keys.append(frame.position_key)

    def pop(self) -> None:
        """Removes the last position."""
        self.frames.pop()
        self.position_keys.pop()

    def copy(self) -> Self:
        """Returns an independent history."""
        return type(self)(self.frames[:], self.position_keys[:])

    def fourth_occurrence(self, turn: int) -> Outcome | None:
        """Returns the result if the last position has occurred four times, else None.

        turn: its side to move.
        """
        same_side = self.position_keys[::-2]
        if same_side.count(same_side[0]) < 4:
            return None
        distance = 0
        for _ in range(3):
            distance = same_side.index(same_side[0], distance + 1)
        return self._perpetual(2 * distance, turn) or FOURFOLD

    def first_recurrence(self, turn: int) -> Outcome | None:
        """Returns the result of the nearest equal, superior or inferior position within the window.

        turn: the side to move in the last position.
        """
        frames = self.frames
        now = frames[-1]
        for distance in range(4, min(SEARCH_WINDOW, len(frames) - 1) + 1, 2):
            then = frames[-1 - distance]
            if then.board_key != now.board_key:
                continue
            if then.position_key == now.position_key:
                return self._perpetual(distance, turn) or DRAW
            if _has_all_of(now.hands[turn], then.hands[turn]):
                return SUPERIOR
            if _has_all_of(then.hands[turn], now.hands[turn]):
                return INFERIOR
        return None

    def recurs(self, attacker: int, plies: int) -> bool:
        """Was the board the same up to `plies` plies back, and the attacker's hand as full or fuller?"""
        frames = self.frames
        now = frames[-1]
        for distance in range(4, min(plies, len(frames) - 1) + 1, 2):
            then = frames[-1 - distance]
            if then.board_key == now.board_key and _has_all_of(then.hands[attacker], now.hands[attacker]):
                return True
        return False

    def _perpetual(self, distance: int, turn: int) -> Outcome | None:
        """Returns the result if one side gave check with each of its last distance / 2 moves."""
        streaks = self.frames[-1].streaks
        if 2 * streaks[turn] >= distance:
            return PERPETUAL_LOSS
        if 2 * streaks[turn ^ 1] >= distance:
            return PERPETUAL_WIN
        return None
