"""Writes game records as KIF, KI2, CSA, JKF and USI lines.

KIF and CSA have whole seconds, rounded down as clocks count; JKF keeps fractions.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from goryu.games.shogi import START_SFEN, is_drop, is_promotion, move_from, move_from_usi, move_to, parse_sfen
from goryu.games.shogi.pieces import HAND_KINDS, WHITE_PIECE
from goryu.games.shogi.sfen import SfenFields
from goryu.games.state import Move
from goryu.implementation import Board
from goryu.kifu.csa import HEADERS as CSA_HEADERS
from goryu.kifu.csa import clock_in_csa
from goryu.kifu.endings import written
from goryu.kifu.handicaps import handicap_of_sfen, naming_sides
from goryu.kifu.notation import CSA_NAMES, FILES, KANJI, RANKS, csa_move, japanese_move, kif_move
from goryu.kifu.record import Ending, GameRecord, Ply, Variation

KANJI_NUMBERS = ("", "", *"二三四五六七八九十", *(f"十{digit}" for digit in "一二三四五六七八"))
"""The count of a piece in hand; 1 is left out."""
DIAGRAM_KANJI = {10: "杏", 11: "圭", 12: "全"}


def to_kif(record: GameRecord) -> str:
    """Returns the game as KIF, with comments, times and variations."""
    lines = [
        "#KIF version=2.0 encoding=UTF-8",
        *_kif_headers(record),
        "手数----指手---------消費時間--",
        *_comment_lines("*", record.comment),
    ]
    board = Board(record.start)
    clock = _Clock(record.turn)
    lines += _kif_plies(board, record.plies, 1, clock)
    lines += _kif_ending(record, clock)
    for variation, before in _in_kif_order(record):
        board = _board_after(record.start, before)
        clock = _Clock(record.turn)
        for number, ply in enumerate(before, 1):
            clock.spend(number, ply.seconds or 0.0)
        lines += ["", f"変化：{variation.ply}手"]
        lines += _kif_plies(board, variation.plies, variation.ply, clock)
    return "\n".join(lines) + "\n"


def to_ki2(record: GameRecord) -> str:
    """Returns the game as KI2: moves for readers, without times."""
    lines = [*_kif_headers(record), "", *_comment_lines("*", record.comment)]
    lines += _ki2_plies(Board(record.start), record.plies)
    lines += filter(None, [_result_line(record)])
    for variation, before in _in_kif_order(record):
        lines += ["", f"変化：{variation.ply}手"]
        lines += _ki2_plies(_board_after(record.start, before), variation.plies)
    return "\n".join(lines) + "\n"


def to_csa(record: GameRecord) -> str:
    """Returns the game as CSA 2.2, which has no variations."""
    lines = ["V2.2"]
    lines += [f"N{sign}{_one_line(name)}" for sign, name in zip("+-", record.names, strict=True) if name]
    lines += [
        f"'{colour}_rate:{_one_line(name) or colour}:{rating:g}"
        for colour, name, rating in zip(("black", "white"), record.names, record.ratings, strict=True)
        if rating is not None
    ]
    english = {japanese: word for word, japanese in reversed(CSA_HEADERS.items())}
    for key, value in record.headers.items():
        word, text = english.get(key, _key(key)), value
        if word == "TIME_LIMIT":
            limit = clock_in_csa(value)
            word, text = (_key(key), value) if limit is None else (word, limit)
        lines.append(f"${word}:{_one_line(text)}")
    lines += [*_csa_position(record.start), *_comment_lines("'*", record.comment)]
    board = Board(record.start)
    for ply in record.plies:
        move = move_from_usi(ply.move)
        lines.append(csa_move(board, move))
        lines += _csa_time(ply.seconds)
        lines += _comment_lines("'*", ply.comment)
        board.push(move)
    if record.ending is not Ending.UNKNOWN:
        lines += _csa_ending(record, board.turn)
    return "\n".join(lines) + "\n"


def to_usi(record: GameRecord) -> str:
    """Returns the start and the moves as the words of a USI position command, without `position`."""
    start = "startpos" if record.start == START_SFEN else f"sfen {record.start}"
    return " ".join([start, *(["moves", *record.moves] if record.plies else [])])


def to_jkf(record: GameRecord) -> str:
    """Returns the game as JSON in json-kifu-format, with variations as forks."""
    header = {name: value for name, value in zip(_side_names(record), record.names, strict=True) if value}
    for side, rating in zip(_side_names(record), record.ratings, strict=True):
        if rating is not None:
            header[f"{side}レート"] = f"{rating:g}"
    data = {
        "header": header | dict(record.headers),
        "initial": _jkf_initial(record.start),
        "moves": _jkf_moves(record),
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


class _Clock:
    """The sums of both sides' times."""

    def __init__(self, turn: int) -> None:
        self._turn, self._sums = turn, [0, 0]

    def spend(self, ply: int, seconds: float) -> int:
        """Adds the seconds of a move and returns the sum of its side."""
        side = (self._turn + ply - 1) % 2
        self._sums[side] += int(seconds)
        return self._sums[side]


def _side_names(record: GameRecord) -> tuple[str, str]:
    return naming_sides("先手", record.start), naming_sides("後手", record.start)


def _kif_headers(record: GameRecord) -> list[str]:
    sides = _side_names(record)
    lines = [f"{_key(key)}：{_one_line(value)}" for key, value in record.headers.items()]
    handicap = handicap_of_sfen(record.start)
    if handicap is not None and handicap.preset:  # Other names are not known everywhere.
        lines.append(f"手合割：{handicap.japanese}")
    else:
        lines += _diagram(record.start)
    lines += [f"{side}：{_one_line(name)}" for side, name in zip(sides, record.names, strict=True) if name]
    lines += [
        f"{side}レート：{rating:g}"
        for side, rating in zip(sides, record.ratings, strict=True)
        if rating is not None
    ]
    return lines


def _key(text: str) -> str:
    return re.sub("[：:]", " ", _one_line(text))


def _diagram(start: str) -> list[str]:
    fields = parse_sfen(start)
    ranks = []
    for rank, name in enumerate(RANKS):
        squares = (fields.pieces[9 * file + rank] for file in range(8, -1, -1))
        ranks.append(f"|{''.join(map(_diagram_square, squares))}|{name}")
    frame = "+---------------------------+"
    return [
        f"後手の持駒：{_held(fields.hands[1])}",
        "  " + " ".join(reversed(FILES)),
        frame,
        *ranks,
        frame,
        f"先手の持駒：{_held(fields.hands[0])}",
        *(["後手番"] if fields.turn else []),
    ]


def _diagram_square(piece: int) -> str:
    kind = piece % WHITE_PIECE
    return ("v" if piece > WHITE_PIECE else " ") + (DIAGRAM_KANJI.get(kind) or KANJI[kind] or "・")


def _held(hand: tuple[int, ...]) -> str:
    """Returns the pieces in hand, the rook first: 飛　金二."""
    texts = [
        KANJI[kind] + (KANJI_NUMBERS[count] if count > 1 else "")
        for kind, count in sorted(zip(HAND_KINDS, hand, strict=True), key=_by_value)
        if count
    ]
    return "　".join(texts) or "なし"


def _by_value(item: tuple[int, int]) -> int:
    return "飛角金銀桂香歩".index(KANJI[item[0]])


def _kif_plies(board: Board, plies: tuple[Ply, ...], first: int, clock: _Clock) -> Iterator[str]:
    """Yields the lines of the moves, which it plays on the board."""
    for number, ply in enumerate(plies, first):
        move = move_from_usi(ply.move)
        yield f"{number:4} {kif_move(board, move)}{_kif_time(number, ply.seconds, clock)}"
        yield from _comment_lines("*", ply.comment)
        board.push(move)


def _ki2_plies(board: Board, plies: tuple[Ply, ...]) -> Iterator[str]:
    """Yields lines of up to six moves, which it plays on the board; a comment ends a line."""
    row: list[str] = []
    for ply in plies:
        move = move_from_usi(ply.move)
        row.append(japanese_move(board, move))
        board.push(move)
        if ply.comment or len(row) == 6:
            yield "　".join(row)
            row = []
        yield from _comment_lines("*", ply.comment)
    if row:
        yield "　".join(row)


def _kif_time(number: int, seconds: float | None, clock: _Clock) -> str:
    return "" if seconds is None else f"   ({_minutes(seconds):>5}/{_hours(clock.spend(number, seconds))})"


def _kif_ending(record: GameRecord, clock: _Clock) -> list[str]:
    number, word = len(record.plies) + 1, written(record.ending, "kif")
    if record.winner == (record.turn + number - 1) % 2:
        word = {"反則負け": "反則勝ち", "不戦敗": "不戦勝"}.get(word, word)
    line = f"{number:4} {word}{_kif_time(number, record.end_seconds, clock)}"
    return [*([line] if word else []), *filter(None, [_result_line(record)])]


def _result_line(record: GameRecord) -> str:
    """Returns a line such as まで110手で後手の勝ち."""
    plies, sides = len(record.plies), _side_names(record)
    if record.ending is Ending.UNKNOWN and record.winner is None:
        return ""
    if record.winner is None:
        return f"まで{plies}手で{written(record.ending, 'kif')}"
    how = {
        Ending.TIME: "時間切れにより",
        Ending.FORFEIT: "不戦により",
        Ending.CHECKMATE: "詰みにより",
    }.get(record.ending, "")
    what = {
        Ending.DECLARATION: "入玉勝ち",
        Ending.ILLEGAL_MOVE: "反則勝ち",
        Ending.PERPETUAL_CHECK: "反則勝ち",
        Ending.INTERRUPTED: "勝ち（中断）",
    }.get(record.ending, "勝ち")
    return f"まで{plies}手で{how}{sides[record.winner]}の{what}"


def _in_kif_order(record: GameRecord) -> Iterator[tuple[Variation, tuple[Ply, ...]]]:
    """Yields every variation and the moves before it, in an order in which KIF's branches are unique.

    KIF's 変化：N手 branches from the line before it. So the last branch of a line comes first, and the
    branches of a variation follow it at once.
    """
    stack = [(variation, record.plies) for variation in _ascending(record.variations)]
    while stack:
        variation, plies = stack.pop()
        before = plies[: variation.ply - 1]
        yield variation, before
        own = (*before, *variation.plies)
        stack += [(child, own) for child in _ascending(variation.variations)]


def _ascending(variations: tuple[Variation, ...]) -> list[Variation]:
    """Returns the variations so that the last one comes first when a stack gives them back in order."""
    return sorted(variations, key=lambda variation: -variation.ply)[::-1]


def _board_after(start: str, plies: tuple[Ply, ...]) -> Board:
    board = Board(start)
    for ply in plies:
        board.push(move_from_usi(ply.move))
    return board


def _csa_position(start: str) -> list[str]:
    fields = parse_sfen(start)
    sign = "+-"[fields.turn]
    if start.split()[0] == START_SFEN.split()[0] and not any(map(any, fields.hands)):
        return ["PI", sign]
    lines = []
    for rank in range(9):
        squares = [fields.pieces[9 * file + rank] for file in range(8, -1, -1)]
        lines.append(f"P{rank + 1}" + "".join(_csa_square(piece) for piece in squares))
    for side, hand in zip("+-", fields.hands, strict=True):
        held = "".join(f"00{CSA_NAMES[kind]}" * count for kind, count in zip(HAND_KINDS, hand, strict=True))
        lines += [f"P{side}{held}"] if held else []
    return [*lines, sign]


def _csa_square(piece: int) -> str:
    return f"{'+-'[piece > WHITE_PIECE]}{CSA_NAMES[piece % WHITE_PIECE]}" if piece else " * "


def _csa_ending(record: GameRecord, turn: int) -> list[str]:
    word = written(record.ending, "csa")
    if word == "ILLEGAL_MOVE" and record.winner == turn:
        word = f"{'+-'[1 - turn]}ILLEGAL_ACTION"
    return [f"%{word}", *_csa_time(record.end_seconds), *_summary(record)]


def _csa_time(seconds: float | None) -> list[str]:
    return [] if seconds is None else [f"T{int(seconds)}"]


def _summary(record: GameRecord) -> list[str]:
    """Returns shogi-server's result where CSA has no word for it."""
    needs_words = (Ending.PERPETUAL_CHECK, Ending.FORFEIT, Ending.INTERRUPTED)
    if record.winner is None or record.ending not in needs_words:
        return []
    words = ["lose", "lose"]
    words[record.winner] = "win"
    names = [_one_line(name).replace(":", " ") for name in record.names]
    reason = written(record.ending, "summary")
    return [f"'summary:{reason}:{names[0]} {words[0]}:{names[1]} {words[1]}"]


def _jkf_initial(start: str) -> dict[str, Any]:
    handicap = handicap_of_sfen(start)
    if handicap is not None and handicap.preset:
        return {"preset": handicap.preset}
    return {"preset": "OTHER", "data": _jkf_position(parse_sfen(start))}


def _jkf_position(fields: SfenFields) -> dict[str, Any]:
    def square(piece: int) -> dict[str, Any]:
        return {"color": int(piece > WHITE_PIECE), "kind": CSA_NAMES[piece % WHITE_PIECE]} if piece else {}

    names = [CSA_NAMES[kind] for kind in HAND_KINDS]
    hands = [dict(zip(names, hand, strict=True)) for hand in fields.hands]
    board = [[square(fields.pieces[9 * file + rank]) for rank in range(9)] for file in range(9)]
    return {"board": board, "color": fields.turn, "hands": hands}


def _jkf_moves(record: GameRecord) -> list[dict[str, Any]]:
    """Returns the entries of the game; each variation becomes a fork of the entry that it replaces."""
    first: dict[str, Any] = {"comments": record.comment.split("\n")} if record.comment else {}
    board = Board(record.start)
    main = [first, *_jkf_entries(board, record.plies)]
    if record.ending is not Ending.UNKNOWN:
        main.append({"special": _csa_ending(record, board.turn)[0][1:], **_jkf_time(record.end_seconds)})
    by_line: dict[int, tuple[list[dict[str, Any]], int]] = {id(record): (main, 0)}
    for parent, variation, before in _with_parents(record):
        entries, offset = by_line[id(parent)]
        fork = list(_jkf_entries(_board_after(record.start, before), variation.plies))
        while len(entries) <= variation.ply - offset:
            entries.append({})
        entries[variation.ply - offset].setdefault("forks", []).append(fork)
        by_line[id(variation)] = (fork, variation.ply)
    return main


def _with_parents(
    record: GameRecord,
) -> Iterator[tuple[GameRecord | Variation, Variation, tuple[Ply, ...]]]:
    """Yields every variation after the line that it branches from, with that line and the moves before it."""
    lines: list[tuple[GameRecord | Variation, tuple[Ply, ...]]] = [(record, record.plies)]
    for parent, plies in lines:  # Grows meanwhile.
        for variation in parent.variations:
            before = plies[: variation.ply - 1]
            yield parent, variation, before
            lines.append((variation, (*before, *variation.plies)))


def _jkf_entries(board: Board, plies: tuple[Ply, ...]) -> Iterator[dict[str, Any]]:
    for ply in plies:
        move = move_from_usi(ply.move)
        entry: dict[str, Any] = {"move": _jkf_move(board, move), **_jkf_time(ply.seconds)}
        if ply.comment:
            entry["comments"] = ply.comment.split("\n")
        board.push(move)
        yield entry


def _jkf_time(seconds: float | None) -> dict[str, Any]:
    if seconds is None:
        return {}
    minutes, rest = divmod(seconds, 60)
    return {"time": {"now": {"m": int(minutes), "s": int(rest) if rest % 1 == 0 else rest}}}


def _jkf_move(board: Board, move: Move) -> dict[str, Any]:
    to = move_to(move)
    data: dict[str, Any] = {"color": board.turn, "to": _jkf_square(to)}
    if is_drop(move):
        return data | {"piece": csa_move(board, move)[-2:], "relative": "H"}
    origin = move_from(move)
    data |= {"from": _jkf_square(origin), "piece": CSA_NAMES[board.pieces[origin] % WHITE_PIECE]}
    if board.pieces[to]:
        data["capture"] = CSA_NAMES[board.pieces[to] % WHITE_PIECE]
    if board.move_stack and move_to(board.move_stack[-1]) == to:
        data["same"] = True
    if is_promotion(move):
        data["promote"] = True
    return data


def _jkf_square(square: int) -> dict[str, int]:
    return {"x": square // 9 + 1, "y": square % 9 + 1}


def _comment_lines(sign: str, comment: str) -> list[str]:
    return [sign + line for line in comment.splitlines()] if comment else []


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _minutes(seconds: float) -> str:
    """Returns minutes and seconds, 0:16."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _hours(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


WRITERS: Mapping[str, Callable[[GameRecord], str]] = {
    ".kif": to_kif,
    ".kifu": to_kif,
    ".ki2": to_ki2,
    ".csa": to_csa,
    ".jkf": to_jkf,
    ".json": to_jkf,
    ".usi": lambda record: to_usi(record) + "\n",
    ".sfen": lambda record: to_usi(record) + "\n",
}
"""The function that writes a file, by its suffix."""
