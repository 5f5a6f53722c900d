"""Files of training games in every format, by their suffix: ours, and those of the field.

| suffix | format | what it loses |
|---|---|---|
| `.games` | ours (`game_records.py`) | nothing |
| `.hcpe3` | dlshogi's games (`hcpe3.py`) | teacher, scale |
| `.hcpe`, `.hcpe.xz` | dlshogi's positions (`hcpe.py`) | also policies, endings, move numbers, other moves |
| `.psv`, `.bin` | YaneuraOu's positions (`psv.py`) | as HCPE, but it keeps move numbers |

Positions become games again as `game_numbers` separates them.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from goryu_lab.records.conversion import games_from_hcpe, hcpe_records
from goryu_lab.records.game_records import GAMES_SUFFIX, GameRecord, read_games, write_games
from goryu_lab.records.hcpe import HCPE, good_records, read_hcpe_as_it_is, write_hcpe
from goryu_lab.records.hcpe3 import read_hcpe3, write_hcpe3
from goryu_lab.records.psv import hcpe_of_psv, psv_records

SUFFIXES = (GAMES_SUFFIX, ".hcpe", ".hcpe.xz", ".hcpe3", ".psv", ".bin")


def is_training_file(path: Path) -> bool:
    """Does the name have a suffix of such a file?"""
    return path.name.endswith(SUFFIXES)


def read_training_file(path: Path, report: Callable[[str], None], teacher: str = "") -> Iterator[GameRecord]:
    """Yields the games of a file.

    report: takes a line for each damaged record, with its number; it is left out.
    teacher: the name for the games of formats that keep none.

    Raises GameFileError or HcpeError if the file is of another kind, and OSError.
    """
    if path.suffix == GAMES_SUFFIX:
        yield from read_games(path)
    elif path.suffix == ".hcpe3":
        yield from read_hcpe3(path, report, teacher)
    elif path.suffix in (".psv", ".bin"):
        records, plies = hcpe_of_psv(path, report)
        yield from games_from_hcpe(records, teacher, plies)
    else:
        records = read_hcpe_as_it_is(path, report)
        yield from games_from_hcpe(records[good_records(records, path, report)], teacher)


def write_training_file(path: Path, games: Iterable[GameRecord], suffix: str) -> None:
    """Writes games to a file in the format of a suffix, one of `SUFFIXES`."""
    if suffix == GAMES_SUFFIX:
        write_games(path, games)
    elif suffix == ".hcpe3":
        write_hcpe3(path, games)
    elif suffix in (".psv", ".bin"):
        with path.open("wb") as file:
            file.writelines(psv_records(game).tobytes() for game in games)
    else:
        write_hcpe(path, np.concatenate([np.zeros(0, HCPE), *map(hcpe_records, games)]))
