"""Sends training games through every format and back: moves, scores and results must stay.

python tools/experiments/format_round_trip.py GAMES [--positions 100000]     # HCPE, or any other format
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from goryu_lab.records.game_records import GameRecord
from goryu_lab.records.training_files import SUFFIXES, read_training_file, write_training_file


def positions(games: Sequence[GameRecord]) -> list[tuple[tuple[int, ...], tuple[int | None, ...], int]]:
    """Returns what every format keeps of games whose positions all have a score."""
    return [(game.moves, game.evals, game.result) for game in games]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--positions", type=int, default=100_000)
    args = parser.parse_args()
    games: list[GameRecord] = []
    count = 0
    for game in read_training_file(args.source, print):
        games.append(game)
        count += len(game.moves)
        if count >= args.positions:
            break
    print(f"{len(games)} games, {count} positions")
    with tempfile.TemporaryDirectory() as folder:
        for suffix in SUFFIXES:
            path = Path(folder) / f"games{suffix}"
            began = time.process_time()
            write_training_file(path, games, suffix)
            written = time.process_time()
            found = list(read_training_file(path, print))
            read = time.process_time()
            is_same = positions(found) == positions(games)
            times = f"written in {written - began:.1f} s, read in {read - written:.1f} s"
            print(f"{suffix}: {'the same' if is_same else 'DIFFERENT'}, {path.stat().st_size} bytes, {times}")


if __name__ == "__main__":
    main()
