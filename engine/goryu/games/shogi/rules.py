"""The rules that differ between tournaments, GUIs and searches."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["STANDARD_RULES", "EnteringKingRule", "Rules"]


class EnteringKingRule(Enum):
    """When an entering king (入玉) wins; the names are YaneuraOu's option values.

    Points are 5 for R, B and their promoted forms and 1 for every other piece but
    the king; they count in hand and in the three far ranks.
    CSARule27: black needs 28 points, white 27. CSARule24: both need 31.
    The H rules suit handicap games: white, who gives the handicap, needs as many
    points fewer as are missing from the full set of 54.
    TryRule: the king reaches the square where the opponent's king starts.
    """

    NoEnteringKing = "NoEnteringKing"
    CSARule24 = "CSARule24"
    CSARule24H = "CSARule24H"
    CSARule27 = "CSARule27"
    CSARule27H = "CSARule27H"
    TryRule = "TryRule"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a game.

    max_ply: the game is drawn after this many moves, counted from move number 1; 0: no limit.
    all_moves: does `legal_moves()` list the pointless non-promotions too? They are always legal
        to play; left out are those of pawn, bishop and rook wherever they could promote, and of a
        lance that moves to the last rank but one. (Knight and silver can gain by not promoting, and
        so can a lance on the third rank.) This is Apery's distinction between Legal and LegalAll,
        but in check all are listed: not promoting (玉方不成) may turn a mating pawn drop into
        uchifuzume, and without it a search would prove a loss that is not one.
    first_recurrence: does a search count the first recurrence within 16 plies as the result, or
        only the fourth occurrence, which ends the real game?
    """

    entering_king: EnteringKingRule = EnteringKingRule.CSARule27
    max_ply: int = 0
    all_moves: bool = True
    first_recurrence: bool = True


STANDARD_RULES = Rules()
