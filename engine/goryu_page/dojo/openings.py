"""Names the opening of a game by the files of both rooks: static (居飛車) or ranging (振り飛車), and which.

The name of each side's choice is that of Japanese books. Where both rooks stay at home, exchanged bishops
(角換わり) and a rook that took the pawn beside (横歩取り) have names.
"""

from collections.abc import Sequence

from goryu.games.shogi import START_SFEN

PLIES = 30
"""The opening is judged after this many moves, or at the end of a shorter game."""

_ROOKS = {
    "static": ("static rook", "居飛車"),
    "right": ("right fourth-file rook", "右四間飛車"),
    "third-right": ("sleeve rook", "袖飛車"),
    "central": ("central rook", "中飛車"),
    "fourth": ("fourth-file rook", "四間飛車"),
    "third": ("third-file rook", "三間飛車"),
    "opposing": ("opposing rook", "向かい飛車"),
}
"""Code -> the name in English and in Japanese."""

_FILES = {
    "2": "static",
    "3": "third-right",
    "4": "right",
    "5": "central",
    "6": "fourth",
    "7": "third",
    "8": "opposing",
}
"""The file of black's rook -> code."""

_WHOLE = {
    "bishop-exchange": ("bishop exchange", "角換わり"),
    "side-pawn": ("side pawn capture", "横歩取り"),
    "double-static": ("double static rook", "相居飛車"),
    "double-ranging": ("double ranging rook", "相振り飛車"),
    "handicap": ("handicap or given position", "駒落ち・指定局面"),
}


def opening_of(start: str, moves: Sequence[str]) -> str:
    """Returns the code of a game's opening, "BLACK/WHITE" or one of `_WHOLE`; "" for a very short game."""
    if start.split()[:3] != START_SFEN.split()[:3]:
        return "handicap"
    if len(moves) < 10:
        return ""
    rooks, bishops = ["2h", "8b"], ["8h", "2b"]
    files, taken = ["2", "8"], False
    bishops_lost = [False, False]
    for ply, move in enumerate(moves[:PLIES]):
        side = ply % 2
        source, target = move[:2], move[2:4]
        for other in (rooks, bishops):
            if other[1 - side] == target:
                other[1 - side] = ""
                if other is bishops:
                    bishops_lost[1 - side] = True
        if source == rooks[side]:
            taken = taken or target == ("3d", "7f")[side]
            rooks[side], files[side] = target, target[0]
        elif source == bishops[side]:
            bishops[side] = target
    own_files = (files[0], str(10 - int(files[1])))
    black, white = (_FILES.get(file, "static") for file in own_files)
    ranging = ("central", "fourth", "third", "opposing")
    if black not in ranging and white not in ranging:
        if taken:
            return "side-pawn"
        if all(bishops_lost):
            return "bishop-exchange"
        if black == white == "static":
            return "double-static"
    if black in ranging and white in ranging:
        return "double-ranging"
    return f"{black}/{white}"


def opening_names(code: str) -> dict[str, str]:
    """Returns the name of a code in both languages; "" for an unknown opening.

    >>> opening_names("static/fourth")
    {'en': 'static rook against fourth-file rook', 'ja': '居飛車対四間飛車'}
    """
    english = japanese = ""
    black, _, white = code.partition("/")
    if code in _WHOLE:
        english, japanese = _WHOLE[code]
    elif white:
        (first, one), (second, other) = _ROOKS[black], _ROOKS[white]
        english, japanese = f"{first} against {second}", f"{one}対{other}"
    return {"en": english, "ja": japanese}
