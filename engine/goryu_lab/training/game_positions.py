"""Positions as the moves of their games: two bytes for each, eight to find it, and four for a target.

A batch is written anew from the moves whenever it is needed, as bits of one or two formats
(`evaluators/network/packed_input.py`). With the past of a position a teacher can see its last moves. Native
code writes a batch without Python's lock, so several threads can; the same in Python is here, far slower.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from goryu.base.errors import InputError
from goryu.evaluators.formats.base import Array, ModelFormat, planes_of
from goryu.evaluators.formats.dlshogi import DlshogiFormat
from goryu.evaluators.formats.value_scale import from_probability
from goryu.evaluators.network.packed_input import pack, packed_layout
from goryu.games.shogi import Rules
from goryu.games.state import Move
from goryu.implementation import IMPLEMENTATION, Board
from goryu_lab.records.game_records import GAMES_SUFFIX, GameFileError, GameRecord, read_games
from goryu_lab.records.hcpe import points
from goryu_lab.training.dataset import held_out_games, number_of_game
from goryu_lab.training.score_scale import value_targets
from goryu_lab.training.sources import Source

STUDENT = DlshogiFormat(from_probability)
"""The format of the networks that we train, whose labels all moves have here."""

RULES = Rules(all_moves=False)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PositionBits:
    """N positions as they travel to a device.

    rows, numbers: uint8 [N, bytes] and float32 [N, numbers] for each format.
    legal: uint8 [N, 274], a bit for each label, the lowest bit of a byte first.
    played: int16 [N], the label of the move that was played, or -1.
    """

    rows: list[Array]
    numbers: list[Array]
    legal: Array
    played: npt.NDArray[np.int16]

    @classmethod
    def empty(cls, count: int, formats: Sequence[ModelFormat]) -> "PositionBits":
        """Makes room for some positions."""
        layouts = [packed_layout(model_format) for model_format in formats]
        return cls(
            [np.zeros((count, layout.bytes), np.uint8) for layout in layouts],
            [np.zeros((count, len(layout.numbers)), np.float32) for layout in layouts],
            np.zeros((count, -(-formats[0].labels // 8)), np.uint8),
            np.zeros(count, np.int16),
        )


@dataclass(frozen=True)
class GamePositions:
    """Positions of games before a move that was played.

    starts: SFENs. start, first, length [G]: of each game, the number of its start, where its moves begin in
    `moves`, and how many they are. result [G]: as in HCPE. moves: uint16, of all games.
    game, ply [N]: of each position, the number of the game, and how many of its moves come before it.
    value [N]: of each position, the target that its file gives, in [0, 1] for the side to move; NaN if none.
    """

    starts: tuple[str, ...]
    start: npt.NDArray[np.int32]
    first: npt.NDArray[np.int64]
    length: npt.NDArray[np.int32]
    result: npt.NDArray[np.int8]
    moves: npt.NDArray[np.uint16]
    game: npt.NDArray[np.int32]
    ply: npt.NDArray[np.int32]
    value: Floats

    @classmethod
    def of(cls, games: Sequence[GameRecord], sources: Sequence[Source] = ()) -> "GamePositions":
        """Takes the positions with a score from games. sources: one for each game; none: no targets."""
        starts = {game.start_sfen: None for game in games}
        places = {sfen: i for i, sfen in enumerate(starts)}
        length = np.array([len(game.moves) for game in games], np.int32)
        scored = [[i for i, score in enumerate(game.evals) if score is not None] for game in games]
        return cls(
            tuple(starts),
            np.array([places[game.start_sfen] for game in games], np.int32),
            np.cumsum(np.concatenate([[0], length[:-1]]), dtype=np.int64),
            length,
            np.array([game.result for game in games], np.int8),
            np.concatenate([np.zeros(0, np.uint16), *(np.array(game.moves, np.uint16) for game in games)]),
            np.repeat(np.arange(len(games), dtype=np.int32), [len(plies) for plies in scored]),
            np.array([ply for plies in scored for ply in plies], np.int32),
            np.concatenate([np.zeros(0, np.float32), *map(_targets, games, scored, sources)])
            if sources
            else np.full(sum(map(len, scored)), np.nan, np.float32),
        )

    def __len__(self) -> int:
        return len(self.game)

    def checksum(self) -> str:
        """Returns a text that other positions do not have."""
        checksum = zlib.crc32("\n".join(self.starts).encode())
        for array in (self.start, self.moves, self.game, self.ply, self.result, self.value):
            checksum = zlib.crc32(array.tobytes(), checksum)
        return f"{len(self)} of {len(self.length)} games with checksum {checksum:08x}"

    @cached_property
    def boards(self) -> list[Board]:
        """The boards at which the games start."""
        return [Board(sfen, RULES) for sfen in self.starts]

    @cached_property
    def turns(self) -> npt.NDArray[np.int32]:
        """The side to move at each start, 0 or 1."""
        return np.array([board.turn for board in self.boards], np.int32)

    def results(self, chosen: npt.NDArray[np.int64]) -> Floats:
        """Returns the result of the game for the side to move: 0, 0.5 or 1."""
        game = self.game[chosen]
        turn = (self.turns[self.start[game]] + self.ply[chosen]) % 2
        return points(self.result[game], turn).astype(np.float32)

    def write(self, chosen: npt.NDArray[np.int64], formats: Sequence[ModelFormat]) -> PositionBits:
        """Returns some positions as bits of these formats, of which the first is `STUDENT`.

        Raises GameFileError if a move before them is illegal.
        """
        game = self.game[chosen]
        places = self.start[game], self.first[game], self.ply[chosen], self.length[game]
        try:
            return write_positions(self.boards, *places, self.moves, formats)
        except ValueError as error:
            raise GameFileError(f"a game cannot be played: {error}") from error


def write_positions(
    starts: Sequence[Board],
    start: npt.NDArray[np.int32],
    first: npt.NDArray[np.int64],
    ply: npt.NDArray[np.int32],
    length: npt.NDArray[np.int32],
    moves: npt.NDArray[np.uint16],
    formats: Sequence[ModelFormat],
) -> PositionBits:
    """Returns positions of games as bits; the arrays [N] are those of `GamePositions`, for each position.

    Raises ValueError if a move before a position, or the one played in it, is illegal.
    """
    found = PositionBits.empty(len(start), formats)
    if IMPLEMENTATION == "native":
        from goryu import _native

        _native.write_positions(
            list(formats), list(starts), start, moves, first, ply, length,
            found.rows, found.numbers, found.legal, found.played,
        )  # fmt: skip
        return found
    boards = []
    for i, (number, at, plies, count) in enumerate(zip(start, first, ply, length, strict=True)):
        board = starts[number].copy()
        line = [Move(move) for move in moves[at : at + min(plies + 1, count)].tolist()]
        for k, move in enumerate(line):
            if not board.is_legal(move):
                raise ValueError(f"expected legal moves, found another among those before ply {plies + 1}")
            if k < plies:
                board.push(move)
        labels = [formats[0].label(move, board.turn) for move in board.legal_moves()]
        bits = np.zeros(8 * found.legal.shape[1], np.bool_)
        bits[labels] = True
        found.legal[i] = np.packbits(bits, bitorder="little")
        found.played[i] = formats[0].label(line[plies], board.turn) if plies < count else -1
        boards.append(board)
    for k, model_format in enumerate(formats):
        found.rows[k][:], found.numbers[k][:] = pack(model_format, planes_of(model_format, boards))
    return found


def _targets(game: GameRecord, plies: Sequence[int], source: Source) -> Floats:
    """Returns the targets of positions of a game, or NaN for each if the source has no scale."""
    if source.scale is None:
        return np.full(len(plies), np.nan, np.float32)
    scores = np.array([game.evals[ply] for ply in plies], np.float64)
    turns = (np.array(plies) + (game.start_sfen.split()[1] == "w")) % 2
    return value_targets(scores, points(game.result, turns), source.scale, source.result_weight)


def load_games(
    sources: Sequence[Source], held_out: float, seed: int
) -> tuple[GamePositions, dict[str, GamePositions]]:
    """Returns the positions to train on, and those that are held out by the name of the source.

    Whole games are held out, the same as `load_datasets` holds out, and their copies are not trained on.

    held_out: share of the games of every source, in [0, 1). Raises InputError for sources other than games.
    """
    training: list[tuple[GameRecord, Source]] = []
    testing: dict[str, list[tuple[GameRecord, Source]]] = {}
    for source in sources:
        if source.path.suffix != GAMES_SUFFIX:
            raise InputError(f"{source.path}: expected a file of games (*{GAMES_SUFFIX}) for the teacher")
        games = list(read_games(source.path))
        seen: dict[tuple[str, int | None, int], int] = {}
        numbers = np.array([number_of_game(game, seen) for game in games], np.int64)
        is_held_out = held_out_games(numbers, source, held_out, seed)
        own = testing.setdefault(source.name, [])
        for game, is_own in zip(games, is_held_out.tolist(), strict=True):
            if is_own:
                own.append((game, source))
            else:
                training += [(game, source)] * source.repeat
    copies = {(game.start_sfen, game.moves) for pairs in testing.values() for game, _ in pairs}
    training = [pair for pair in training if (pair[0].start_sfen, pair[0].moves) not in copies]
    return _of_pairs(training), {name: _of_pairs(pairs) for name, pairs in testing.items()}


def _of_pairs(pairs: Sequence[tuple[GameRecord, Source]]) -> GamePositions:
    return GamePositions.of([game for game, _ in pairs], [source for _, source in pairs])
