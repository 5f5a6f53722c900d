"""Converts games to HCPE records and back.

HCPE keeps single positions, so a conversion loses the opening moves, the ends of the games, the policies and
the teacher's name. Games from HCPE begin at their first recorded position.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from goryu.games.state import Move
from goryu.implementation import Board
from goryu_lab.records.game_records import GAMES_SUFFIX, GameFileError, GameRecord, read_games
from goryu_lab.records.hcpe import HCPE, board_of, game_numbers, packed, read_hcpe


def hcpe_records(game: GameRecord) -> npt.NDArray[np.void]:
    """Returns the positions of a game that have a score, as HCPE records.

    Raises GameFileError at an illegal move.
    """
    board = Board(game.start_sfen)
    records = np.zeros(len(game.moves), HCPE)
    records["bestMove16"] = game.moves
    records["eval"] = [0 if score is None else score for score in game.evals]
    records["gameResult"] = game.result
    for ply, move16 in enumerate(game.moves):
        records["hcp"][ply] = packed(board)
        push(board, move16)
    return records[[score is not None for score in game.evals]]


def read_records(path: Path) -> npt.NDArray[np.void]:
    """Returns the positions of a file of games (`*.games`) or of an HCPE file, as HCPE records."""
    if path.suffix != GAMES_SUFFIX:
        return read_hcpe(path)
    return np.concatenate([np.zeros(0, HCPE), *map(hcpe_records, read_games(path))])


def games_from_hcpe(
    records: npt.NDArray[np.void], teacher: str = "", plies: npt.NDArray[np.uint16] | None = None
) -> Iterator[GameRecord]:
    """Yields the games of the records, as `game_numbers` separates them.

    A game with missing positions in the middle comes in pieces with the same number.

    plies: the number of each record's move in its game, where it is known.

    Raises GameFileError at an illegal move.
    """
    board, after = Board(), np.zeros(32, np.uint8)
    numbers = game_numbers(records)
    first, start_sfen = 0, ""
    for i, record in enumerate(records):
        if i == first or numbers[i] != numbers[first] or (after != record["hcp"]).any():
            if i > first:
                yield _game(records[first:i], start_sfen, teacher, int(numbers[first]))
            board = board_of(record["hcp"].tobytes())
            first, start_sfen = i, board.sfen()
            if plies is not None and plies[i]:
                start_sfen = " ".join([*start_sfen.split()[:3], str(plies[i])])
        push(board, int(record["bestMove16"]))
        after = packed(board)
    if len(records):
        yield _game(records[first:], start_sfen, teacher, int(numbers[first]))


def push(board: Board, move16: int) -> None:
    """Plays a move; raises GameFileError if it is illegal."""
    if not board.is_legal(Move(move16)):
        raise GameFileError(f"expected a move that is legal in {board.sfen()}, received {move16}")
    board.push(Move(move16))


def _game(records: npt.NDArray[np.void], start_sfen: str, teacher: str, number: int) -> GameRecord:
    return GameRecord(
        moves=tuple(records["bestMove16"].tolist()),
        evals=tuple(records["eval"].tolist()),
        result=int(records["gameResult"][0]),
        start_sfen=start_sfen,
        teacher=teacher,
        number=number,
    )
