"""Reads game records of any usual format and encoding."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from goryu.base.language import tr
from goryu.games.shogi import START_SFEN, SfenError, parse_sfen
from goryu.kifu.builder import GameBuilder
from goryu.kifu.csa import read_csa
from goryu.kifu.jkf import read_jkf
from goryu.kifu.kif import read_kif
from goryu.kifu.notation import parse_move
from goryu.kifu.record import Ending, GameRecord, RecordError

SUFFIXES = (".kif", ".kifu", ".ki2", ".ki2u", ".csa", ".jkf", ".sfen", ".usi")
"""The suffixes of records. Some have .txt or .json, but most files with these are something else."""

MAX_BYTES = 8 << 20
"""A single file may have this size."""

MAX_LINES = 100_000
"""Of one game, five for each move that it may have."""

_CSA = re.compile(r"^(V[0-9]|N[+-]|P[I1-9+-]|[+-][0-9]{4}[A-Z]{2}|%[A-Z+-])", re.MULTILINE)
_KIF = re.compile(
    r"^[^\S\n]*([0-9０-９]+[\s　.]+([同１-９1-9]|投了|中断|詰み)|手数[-=＝]|手合割|[▲△☗☖▼▽]|まで|#KIF|"
    r"# ?-+ ?Kifu|[先後上下]手\S*[：:]|[|｜].*[|｜])",
    re.MULTILINE,
)
_USI = re.compile(r"\s*(position\s|startpos\b|sfen\s|(?:[^\s/]+/){8}[^\s/]+\s+[bw]\s)")
_HALF_WIDTH_KANA = re.compile("[\uff61-\uff9f]")


def read_record(path: Path | str) -> GameRecord:
    """Returns the only game of a file; raises RecordError, or OSError if the file cannot be read."""
    with open(path, "rb") as file:
        return parse_record(file.read(MAX_BYTES + 1), str(path))


def parse_record(data: bytes | str, name: str = "") -> GameRecord:
    """Returns the only game of a record in KIF, KI2, CSA, JKF or as a USI or SFEN line.

    data: text, or bytes in UTF-8, UTF-16, CP932 (Shift_JIS), EUC-JP or ISO-2022-JP.
    name: the file, for error messages.

    Raises:
        RecordError: names the file and the line. Also if there are several games.
    """
    games = list(parse_records(data, name))
    if len(games) != 1:
        raise RecordError(tr("expected one game, found {count}", count=len(games)), name)
    game = games[0]
    if isinstance(game, RecordError):
        raise game
    return game


def parse_records(data: bytes | str, name: str = "") -> Iterator[GameRecord | RecordError]:
    """Yields the games of a file, in place of a damaged one its error.

    CSA separates games by a line "/"; a file of USI or SFEN lines has one on each line.
    """
    try:
        text = _decoded(data, name)
        games = list(_separated(text, name))
    except RecordError as error:
        yield error
        return
    for kind, lines, first_line in games:
        try:
            yield _parse(kind, lines, first_line, name)
        except RecordError as error:
            yield error


def _parse(kind: str, lines: Sequence[str], first_line: int, name: str) -> GameRecord:
    if kind != "jkf" and len(lines) > MAX_LINES:
        raise RecordError(tr("expected at most {count} lines", count=MAX_LINES), name)
    if kind == "csa":
        return read_csa(lines, name, first_line)
    if kind == "jkf":
        return read_jkf("\n".join(lines), name)
    if kind == "usi":
        return _read_usi(lines[0], name, first_line)
    return read_kif(lines, name)


def _separated(text: str, name: str) -> Iterator[tuple[str, list[str], int]]:
    """Yields the format, the lines and the first line's number of each game."""
    lines = re.split(r"\r\n|\r|\n", text)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise RecordError(tr("expected a game record, the file is empty"), name)
    if first.lstrip().startswith("{"):
        yield "jkf", lines, 1
    elif _USI.match(first):
        for number, line in enumerate(lines, 1):
            plain = line.partition("#")[0].strip()
            if plain:
                yield "usi", [plain], number
    elif _is_csa(text):
        yield from _separated_csa(lines)
    elif _KIF.search(text):
        yield "kif", lines, 1
    else:
        text = first.strip()[:60]
        raise RecordError(
            tr("expected a record in KIF, KI2, CSA, JKF or USI, received {text!r}", text=text), name, 1
        )


def _is_csa(text: str) -> bool:
    """Is the first line that only one of the formats can have one of CSA?"""
    csa, kif = _CSA.search(text), _KIF.search(text)
    return csa is not None and (kif is None or csa.start() < kif.start())


def _separated_csa(lines: Sequence[str]) -> Iterator[tuple[str, list[str], int]]:
    first = 0
    for number, line in enumerate([*lines, "/"]):
        if line.strip() == "/":
            game = list(lines[first:number])
            if any(part.strip() for part in game):
                yield "csa", game, first + 1
            first = number + 1


def _read_usi(line: str, name: str, number: int) -> GameRecord:
    """Returns the game of `position startpos moves ...`, `sfen ... moves ...` or a bare SFEN with moves."""
    words = line.split()
    words = words[1:] if words[0] == "position" else words
    if words[:1] == ["startpos"]:
        start, rest = START_SFEN, words[1:]
    else:
        words = words[1:] if words[:1] == ["sfen"] else words
        fields = 4 if len(words) > 3 and words[3].isascii() and words[3].isdigit() else 3
        start, rest = " ".join(words[:fields]), words[fields:]
    try:
        start = str(parse_sfen(start))
    except SfenError as error:
        raise RecordError(error.translated(), name, number) from None
    builder = GameBuilder(start, name, number)
    for word in rest[1:] if rest[:1] == ["moves"] else rest:
        if builder.ending is not Ending.UNKNOWN:
            raise builder.error(
                tr("expected nothing after the end of the game, received {text!r}", text=word[:30])
            )
        if word in ("resign", "win"):
            builder.end(Ending.RESIGNATION if word == "resign" else Ending.DECLARATION)
        else:
            builder.play(lambda board, word=word: parse_move(board, word))  # type: ignore[misc]
    return builder.finish()


def _decoded(data: bytes | str, name: str) -> str:
    if len(data) > MAX_BYTES:
        raise RecordError(tr("expected at most {size} MiB", size=MAX_BYTES >> 20), name)
    text = data.removeprefix("\ufeff") if isinstance(data, str) else _decoded_bytes(data, name)
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise RecordError(tr("a zero byte: the file is damaged"), name, line)
    return text


def _decoded_bytes(data: bytes, name: str) -> str:
    """Returns the text; tries the encodings that Japanese records come in."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _strict(data, "utf-16", name)
    if b"\x1b$" in data:
        return _strict(data, "iso2022_jp_ext", name)
    text = _tried(data, "utf-8-sig")
    if text is not None:
        return text
    text = _tried(data, "cp932")
    # EUC-JP often decodes as CP932 too, but to half-width kana, which records do not use.
    if text is None or _HALF_WIDTH_KANA.search(text):
        euc = _tried(data, "euc_jp")
        text = text if euc is None else euc
    if text is None and _CSA.search(data.decode("ascii", "replace")):
        return data.decode("utf-8-sig", "replace")  # The moves are ASCII: only names and comments suffer.
    return _strict(data, "cp932", name) if text is None else text


def _tried(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _strict(data: bytes, encoding: str, name: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"{data[error.start]:#x}"
        problem = tr(
            "expected UTF-8, CP932, EUC-JP, ISO-2022-JP or UTF-16, received the byte {byte}", byte=found
        )
        raise RecordError(problem, name, line) from None
