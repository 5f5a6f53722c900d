"""The usual handicaps (駒落ち). White gives the handicap and moves first.

Sources: the 手合割 of Kifu for Windows, and the presets of json-kifu-format.
"""

from dataclasses import dataclass

from goryu.games.shogi import START_SFEN


@dataclass(frozen=True, slots=True)
class Handicap:
    """A start position.

    japanese: the name in the KIF header 手合割. preset: the name in JKF ("" if it has none).
    """

    japanese: str
    english: str
    preset: str
    sfen: str


def _handicap(japanese: str, english: str, preset: str, white: str) -> Handicap:
    """white: the two upper ranks of the SFEN."""
    return Handicap(japanese, english, preset, f"{white}/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1")


HANDICAPS = (
    Handicap("平手", "even", "HIRATE", START_SFEN),
    _handicap("香落ち", "lance", "KY", "lnsgkgsn1/1r5b1"),
    _handicap("右香落ち", "right lance", "KY_R", "1nsgkgsnl/1r5b1"),
    _handicap("角落ち", "bishop", "KA", "lnsgkgsnl/1r7"),
    _handicap("飛車落ち", "rook", "HI", "lnsgkgsnl/7b1"),
    _handicap("飛香落ち", "rook and lance", "HIKY", "lnsgkgsn1/7b1"),
    _handicap("二枚落ち", "2-piece", "2", "lnsgkgsnl/9"),
    _handicap("三枚落ち", "3-piece", "3", "lnsgkgsn1/9"),
    _handicap("四枚落ち", "4-piece", "4", "1nsgkgsn1/9"),
    _handicap("五枚落ち", "5-piece", "5", "2sgkgsn1/9"),
    _handicap("左五枚落ち", "left 5-piece", "5_L", "1nsgkgs2/9"),
    _handicap("六枚落ち", "6-piece", "6", "2sgkgs2/9"),
    _handicap("右七枚落ち", "right 7-piece", "7_R", "2sgkg3/9"),
    _handicap("左七枚落ち", "left 7-piece", "7_L", "3gkgs2/9"),
    _handicap("八枚落ち", "8-piece", "8", "3gkg3/9"),
    _handicap("九枚落ち", "9-piece", "", "4kg3/9"),
    _handicap("十枚落ち", "10-piece", "10", "4k4/9"),
)


def handicap_of_name(name: str) -> Handicap | None:
    """Returns the handicap of a Japanese or English name, or None."""
    return next((item for item in HANDICAPS if name.strip() in (item.japanese, item.english)), None)


def handicap_of_sfen(sfen: str) -> Handicap | None:
    """Returns the handicap that begins in this position, or None; the move number does not matter."""
    return next((item for item in HANDICAPS if item.sfen.split()[:3] == sfen.split()[:3]), None)


def has_handicap(sfen: str) -> bool:
    """Does a game that begins in this position have a handicap?"""
    found = handicap_of_sfen(sfen)
    return found is not None and found.english != "even"


def naming_sides(text: str, sfen: str) -> str:
    """Returns a Japanese text about Black (先手) and White as it is said in a game that begins in a position.

    >>> naming_sides("先手の勝ち", HANDICAPS[1].sfen)
    '下手の勝ち'
    """
    return text.replace("先手", "下手").replace("後手", "上手") if has_handicap(sfen) else text
