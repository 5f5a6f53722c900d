"""Training games on disk: moves, scores and soft policies, about 3 bytes a position.

A file keeps the start and the moves of each game, from which the positions follow. That is a tenth of HCPE's
size (half of compressed JSON), and unlike HCPE it shows where a game begins and keeps moves that are not for
training.

A file is a header and blocks, and grows by whole blocks. A program that is killed while it writes leaves at
most one incomplete block at the end; readers skip it and writers truncate it, both with a `TornTailWarning`.
Small blocks compress badly (over 4 bytes a position for single games, under 3 for a thousand): `pack_games`
merges them.

Layout, all numbers little-endian:

    header    8 bytes   b"GORYUG", version u16 (1)
    block    20 bytes   b"GAME", size of the payload u32, games u32, crc32 of the payload u32,
                        crc32 of these first 16 bytes u32
             payload    raw LZMA2 (lc 0, lp 1, pb 1) of the columns below, one after the other

    text      size u32, then one line of JSON (ASCII) a game: [start SFEN ("" for the usual one), teacher,
              result, ending, number, scale, plies, has policies], padded with spaces to an even size
    moves     u16 a ply
    evals     u16 a ply: the zigzag of (eval - forecast) in 16 bits; the forecast is the last score in the
              game, for the side to move (0 at first); "no score" counts as -32768
    counts    u16 a ply, of games with policies only: entries of its policy, 0 for none
    entries   u16 each: the moves of all policies, then their probabilities in units of 1/65535

Each column holds the numbers of all games of a block, because similar numbers compress best together.
"""

import json
import lzma
import struct
import sys
import warnings
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import numpy as np

from goryu.base.errors import GoryuError
from goryu.base.files import append_through, atomic_path, try_lock
from goryu.games.shogi.sfen import START_SFEN
from goryu_lab.records.hcpe import BLACK_WON, DRAW, WHITE_WON

Policy = tuple[tuple[int, float], ...]
"""Moves and their probabilities. A file rounds them to 1/65535 and omits those that become 0."""

GAMES_SUFFIX = ".games"

HEADER = struct.Struct("<6sH")
MAGIC, VERSION = b"GORYUG", 1

BLOCK = struct.Struct("<4sIII")
BLOCK_MAGIC = b"GAME"
CRC = struct.Struct("<I")

FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 1, "pb": 1}]
"""Tuned for 16-bit numbers: files are a tenth smaller than with the default filters."""

GAMES_PER_BLOCK = 1024

PLIES, HAS_POLICIES = 6, 7
"""Indices in a line of the text."""

UNITS = 65535
"""Units in a probability of 1."""

NO_SCORE = -32768
"""Marks a position without a score in the column of evals."""


class GameFileError(GoryuError, ValueError):
    """The file is of another kind or damaged, or it cannot hold the game."""


class TornTailWarning(UserWarning):
    """The last block of a file is incomplete: its writer was killed or is still writing."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One game, or a piece of one; the tuples have one entry per ply.

    moves: the moves played, as 16-bit moves (`bestMove16` of HCPE).
    evals: score of the position before the move in centipawns for the side to move, within ±32767; None for a
        position that is not for training, such as one of a random opening.
    result: `DRAW`, `BLACK_WON` or `WHITE_WON` of `goryu_lab.records.hcpe`.
    policies: policy target before each move, or None for a position without one (the target is then the move
        played); None for the whole game if no position has one.
    start_sfen: the position before the first move.
    teacher: the player and its limits. ending: why the game ended, in a few words.
    number: of the game within its run, if known. Records of one teacher with the same number are pieces of
        one game.
    scale: centipawns at which the win odds are e : 1, if known because the evals come from win rates.

    Raises GameFileError if a file cannot hold the game.
    """

    moves: tuple[int, ...]
    evals: tuple[int | None, ...]
    result: int
    policies: tuple[Policy | None, ...] | None = None
    start_sfen: str = START_SFEN
    teacher: str = ""
    ending: str = ""
    number: int | None = None
    scale: float | None = None

    def __post_init__(self) -> None:
        plies = len(self.moves)
        if len(self.evals) != plies or (self.policies is not None and len(self.policies) != plies):
            raise GameFileError(f"expected an eval and a policy for each of {plies} moves: {self!r}")
        if self.result not in (DRAW, BLACK_WON, WHITE_WON):
            raise GameFileError(f"expected a result 0 to 2, received {self.result}")
        if not all(0 < move < 65536 for move in self.moves):
            raise GameFileError(f"expected moves 1 to 65535, received {self.moves}")
        if not all(score is None or -32767 <= score <= 32767 for score in self.evals):
            raise GameFileError(f"expected evals within 32767 centipawns, received {self.evals}")
        for policy in self.policies or ():
            if not all(0 < move < 65536 and 0.0 <= probability <= 1.0 for move, probability in policy or ()):
                raise GameFileError(f"expected moves and their probabilities, received {policy}")


class GameWriter:
    """Appends games to a file in blocks; creates the file and its folder if necessary.

    What a call has appended is on the disk when it returns: neither a kill nor a power failure loses it.

    Raises GameFileError if the file is of another kind or damaged, or if another program is writing to it
    (not detected on Windows).
    """

    def __init__(self, path: Path | str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        # Without a buffer, since `close` would write again what could not be written.
        self._file = open(path, "ab+", buffering=0)  # noqa: SIM115 (closed by `close`)
        try:
            if not try_lock(self._file):
                raise GameFileError(f"{path}: another program is writing to it")
            ends = [end for end, _ in _blocks(self._file, str(path))]
        except GameFileError:
            self._file.close()
            raise
        self._file.truncate(ends[-1] if ends else 0)
        if not ends:
            append_through(self._file, HEADER.pack(MAGIC, VERSION), path)

    def write(self, games: Sequence[GameRecord]) -> None:
        """Appends the games as one block."""
        self.append([encode_block(games)] if games else [])

    def append(self, blocks: Sequence[bytes]) -> None:
        """Appends blocks from `encode_block`, and waits once for the disk."""
        if blocks:
            append_through(self._file, b"".join(blocks), self._path)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def write_games(path: Path | str, games: Iterable[GameRecord]) -> None:
    """Appends games to a file in large blocks; creates the file if necessary."""
    rest = iter(games)
    with GameWriter(path) as writer:
        while block := list(islice(rest, GAMES_PER_BLOCK)):
            writer.write(block)


def read_games(path: Path | str) -> Iterator[GameRecord]:
    """Yields the games of a file in the order of writing.

    Raises GameFileError if the file is of another kind or damaged, and OSError if it cannot be read.
    """
    with open(path, "rb") as file:
        for _, payload in islice(_blocks(file, str(path)), 1, None):
            yield from _decode_payload(payload)


def pack_games(path: Path | str) -> None:
    """Rewrites a file in large blocks, which take less space; a kill in between leaves the old file."""
    path = Path(path)
    with GameWriter(path) as writer, atomic_path(path) as packed:  # The writer locks the file.
        write_games(packed, read_games(path))
        if sys.platform == "win32":
            writer.close()  # Windows does not replace an open file.


def _blocks(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """Yields the end of the header with b"", then the end of each whole block with its decompressed payload.

    Yields nothing for a file that is empty or ends within its header.
    """
    file.seek(0)
    header = file.read(HEADER.size)
    if not header.startswith(MAGIC[: len(header)]):
        raise GameFileError(f"{name}: expected a file of games, found one that begins with {header!r}")
    if len(header) < HEADER.size:
        return
    version = HEADER.unpack(header)[1]
    if version != VERSION:
        raise GameFileError(f"{name}: expected version {VERSION}, found {version}")
    end = file.tell()
    yield end, b""
    while head := file.read(BLOCK.size + CRC.size):
        payload = b""
        if len(head) == BLOCK.size + CRC.size:
            magic, size, _, crc = BLOCK.unpack_from(head)
            if magic != BLOCK_MAGIC or CRC.unpack_from(head, BLOCK.size)[0] != zlib.crc32(head[: BLOCK.size]):
                raise GameFileError(f"{name}: expected a block at byte {end}, found {head!r}")
            payload = file.read(size)
            if len(payload) == size:
                if zlib.crc32(payload) != crc:
                    raise GameFileError(f"{name}: the block at byte {end} is damaged: its checksum is wrong")
                end = file.tell()
                yield end, lzma.decompress(payload, lzma.FORMAT_RAW, filters=FILTERS)
                continue
        lost = len(head) + len(payload)
        warnings.warn(f"{name}: skipped {lost} bytes of an unfinished block", TornTailWarning, stacklevel=3)
        return


def encode_block(games: Sequence[GameRecord]) -> bytes:
    """Returns games as one block of a file."""
    text = "".join(_line(game) for game in games).encode()
    text += b" " * (len(text) % 2)
    policies = [_quantised(policy) for game in games for policy in game.policies or ()]
    columns = (
        [move for game in games for move in game.moves],
        [code for game in games for code in _eval_codes(game.evals)],
        [len(policy) for policy in policies],
        [move for policy in policies for move, _ in policy],
        [units for policy in policies for _, units in policy],
    )
    numbers = b"".join(np.array(column, "<u2").tobytes() for column in columns)
    payload = lzma.compress(CRC.pack(len(text)) + text + numbers, lzma.FORMAT_RAW, filters=FILTERS)
    head = BLOCK.pack(BLOCK_MAGIC, len(payload), len(games), zlib.crc32(payload))
    return head + CRC.pack(zlib.crc32(head)) + payload


def decode_block(block: bytes) -> Iterator[GameRecord]:
    """Yields the games of a block from `encode_block`."""
    payload = block[BLOCK.size + CRC.size :]
    return _decode_payload(lzma.decompress(payload, lzma.FORMAT_RAW, filters=FILTERS))


def _decode_payload(payload: bytes) -> Iterator[GameRecord]:
    numbers_at = CRC.size + CRC.unpack_from(payload)[0]
    lines = [json.loads(line) for line in payload[CRC.size : numbers_at].decode().rstrip(" ").splitlines()]
    plies = sum(line[PLIES] for line in lines)
    policies = sum(line[PLIES] for line in lines if line[HAS_POLICIES])
    numbers = np.frombuffer(payload, "<u2", offset=numbers_at)
    moves, codes, sizes, rest = np.split(numbers, [plies, 2 * plies, 2 * plies + policies])
    entry_moves, units = np.split(rest, 2)
    all_moves, all_codes, all_sizes = iter(moves.tolist()), iter(codes.tolist()), iter(sizes.tolist())
    entries = zip(entry_moves.tolist(), (units / UNITS).tolist(), strict=True)
    for start, teacher, result, ending, number, scale, plies, has_policies in lines:
        yield GameRecord(
            tuple(islice(all_moves, plies)),
            tuple(_evals(islice(all_codes, plies))),
            result,
            tuple(tuple(islice(entries, size)) or None for size in islice(all_sizes, plies))
            if has_policies
            else None,
            start or START_SFEN,
            teacher,
            ending,
            number,
            scale,
        )


def _line(game: GameRecord) -> str:
    """Returns the values that a game has once, as a line of JSON."""
    start = "" if game.start_sfen == START_SFEN else game.start_sfen
    plies, has_policies = len(game.moves), int(game.policies is not None)
    values = (start, game.teacher, game.result, game.ending, game.number, game.scale, plies, has_policies)
    return json.dumps(values, separators=(",", ":")) + "\n"


def _eval_codes(evals: Iterable[int | None]) -> Iterator[int]:
    forecast = 0
    for score in evals:
        difference = ((NO_SCORE if score is None else score) - forecast + 32768) % 65536 - 32768
        yield 2 * difference if difference >= 0 else -2 * difference - 1
        forecast = -(forecast if score is None else score)


def _evals(codes: Iterable[int]) -> Iterator[int | None]:
    forecast = 0
    for code in codes:
        difference = -(code + 1 >> 1) if code & 1 else code >> 1
        score = (difference + forecast + 32768) % 65536 - 32768
        yield None if score == NO_SCORE else score
        forecast = -(forecast if score == NO_SCORE else score)


def _quantised(policy: Policy | None) -> list[tuple[int, int]]:
    units = [(move, round(UNITS * probability)) for move, probability in policy or ()]
    return [entry for entry in units if entry[1] > 0]
