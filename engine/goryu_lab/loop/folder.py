"""What a run has on disk, so that a kill at any time costs only the games in progress.

    loop.json                   the game, which must stay the same; other options may change from now on
    games/0001.games            the games that were played until the training of candidate 1 began, and so on
    candidates/0001/plan.json   which games it is trained on; written before the training begins
                    network.onnx, and what the training keeps
                    trained.json    its losses; written when all of the above is
                    match.jsonl     the pairs of its match against the champion so far
                    verdict.json    whether it was promoted
    log.jsonl                   trainings and verdicts in the order of time, for people and plots
    clock.json                  the seconds that the run has taken

Candidate 0 is the first champion. Every file is written at once or grows by whole lines or blocks.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError
from goryu.base.files import atomic_write
from goryu.base.strict_json import parse_json
from goryu_lab.loop.adapter import NETWORK, GameFile, LoopGame
from goryu_lab.loop.gate import Points
from goryu_lab.loop.trainer import Plan
from goryu_lab.loop.window import newest
from goryu_lab.records.expecting import expecting
from goryu_lab.records.json_lines import JsonLines, read_lines

KIND = "loop"

SAVE_EVERY_S = 10.0
"""How often the time is saved."""


class LoopFolder:
    """The files of a run, and what they say.

    numbers: of all games played. sizes: the positions in each file of games, the last of which grows.
    planned, trained: how many candidates have a plan, and how many are trained (candidate 0 not counted).
    verdicts: the entries of `verdict.json` by candidate.

    Raises InputError if the folder belongs to another kind of run.
    """

    def __init__(self, folder: Path, game: LoopGame) -> None:
        self.folder = folder
        self._game = game
        self._check_kind()
        if not self.network(0).exists():
            game.initialise(self.candidate(0))  # Before anything else, since it may refuse a file.
        atomic_write(folder / "loop.json", json.dumps(self._kind))
        (folder / "games").mkdir(exist_ok=True)
        self._log = JsonLines(folder / "log.jsonl")
        with expecting(folder / "log.jsonl", "the log of a run"):
            self._logged = {(entry["event"], entry.get("candidate")) for entry in self.log()}
        clock = folder / "clock.json"
        with expecting(clock, "the seconds of a run"):
            self._clock_s = time.monotonic() - (parse_json(clock.read_bytes()) if clock.exists() else 0.0)
        self._saved_s = 0.0
        self._match: tuple[int, JsonLines] | None = None
        self.planned = self._count("plan.json")
        self.trained = self._count("trained.json")
        self.verdicts = self._verdicts()
        self._complete_log()
        self.numbers: set[int] = set()
        self.sizes: list[int] = []
        for file in range(1, self.planned + 2):
            self._load(file)
        self._games: GameFile = game.append_to(self._file(self.planned + 1))

    def close(self) -> None:
        """Closes the files."""
        self._save_clock()
        self._games.close()
        self._log.close()
        if self._match is not None:
            self._match[1].close()

    @property
    def seconds(self) -> float:
        """The seconds that the run has taken, with those of earlier programs."""
        return round(time.monotonic() - self._clock_s, 1)

    @property
    def positions(self) -> int:
        """The positions of all games."""
        return sum(self.sizes)

    @property
    def champion(self) -> int:
        """The number of the network that plays."""
        return max((number for number, verdict in self.verdicts.items() if verdict["promoted"]), default=0)

    def candidate(self, number: int) -> Path:
        """Returns the folder of a candidate."""
        return self.folder / "candidates" / f"{number:04}"

    def network(self, number: int) -> Path:
        """Returns the network of a candidate."""
        return self.candidate(number) / NETWORK

    def add_games(self, games: Sequence[Any]) -> None:
        """Writes new games."""
        self._games.write(games)
        self.numbers.update(map(self._game.number_of, games))
        self.sizes[-1] += sum(map(self._game.positions_in, games))
        if self.seconds > self._saved_s + SAVE_EVERY_S:
            self._save_clock()

    def new_plan(self, wanted: int) -> Plan:
        """Closes the last file of games, and plans the next candidate on a window of `wanted` positions."""
        number = self.planned + 1
        files = range(len(self.sizes) - newest(self.sizes, wanted) + 1, len(self.sizes) + 1)
        self.candidate(number).mkdir(parents=True, exist_ok=True)
        atomic_write(self.candidate(number) / "plan.json", json.dumps({"files": list(files)}))
        self.planned = number
        self._games.close()
        self.sizes.append(0)
        self._games = self._game.append_to(self._file(number + 1))
        return self.plan(number)

    def plan(self, number: int) -> Plan:
        """Returns the plan of a candidate."""
        plan = self.candidate(number) / "plan.json"
        with expecting(plan, "the plan of a training"):
            paths = tuple(map(self._file, _entry(plan, "files")["files"]))
        return Plan(number, self.candidate(number), self.candidate(number - 1), paths)

    def note_trained(self, number: int, losses: dict[str, float]) -> dict[str, Any]:
        """Notes that a candidate is trained; returns the entry of the log."""
        files = len(self.plan(number).files)
        window = sum(self.sizes[max(0, number - files) : number])
        entry = {
            "seconds": self.seconds, "games": len(self.numbers), "positions": self.positions,
            "window": window, **losses,
        }  # fmt: skip
        atomic_write(self.candidate(number) / "trained.json", json.dumps(entry))
        self.trained = number
        self.log_once("trained", number, entry)
        return entry

    def has_match(self, candidate: int) -> bool:
        """Has a match of this candidate begun?"""
        return (self.candidate(candidate) / "match.jsonl").exists()

    def pairs(self, candidate: int, champion: int) -> dict[int, Points]:
        """Opens the match of a candidate and returns the pairs played so far."""
        path = self.candidate(candidate) / "match.jsonl"
        self._match = candidate, JsonLines(path)
        with expecting(path, "the pairs of a match"):
            return {
                entry["pair"]: (entry["points"][0], entry["points"][1])
                for entry in read_lines(path)
                if entry["champion"] == champion
            }

    def add_pair(self, champion: int, pair: int, points: Points) -> None:
        """Writes a new pair of the open match."""
        assert self._match is not None
        self._match[1].write([{"champion": champion, "pair": pair, "points": points}])

    def note_verdict(self, candidate: int, entry: dict[str, Any]) -> None:
        """Notes the verdict on a candidate, whose match is then over."""
        if self._match is not None and self._match[0] == candidate:
            self._match[1].close()
            self._match = None
        entry = {"seconds": self.seconds, **entry}
        atomic_write(self.candidate(candidate) / "verdict.json", json.dumps(entry))
        self.verdicts[candidate] = entry
        self.log_once("verdict", candidate, entry)

    def log(self) -> list[dict[str, Any]]:
        """Returns the entries of the log."""
        return list(read_lines(self.folder / "log.jsonl"))

    def log_once(self, event: str, candidate: int | None, entry: dict[str, Any]) -> None:
        """Adds an entry to the log unless the event of this candidate is there."""
        if (event, candidate) not in self._logged or candidate is None:
            self._logged.add((event, candidate))
            self._log.write([{"event": event, "candidate": candidate, **entry}])

    def _check_kind(self) -> None:
        """Compares what the run is with what is there."""
        path = self.folder / "loop.json"
        if path.exists() and (found := _entry(path)) != self._kind:
            raise InputError(f"{self.folder}: expected {self._game.name}'s {KIND}, found {found}")

    @property
    def _kind(self) -> dict[str, str]:
        return {"kind": KIND, "game": self._game.name}

    def _complete_log(self) -> None:
        """Adds what a kill kept out of the log."""
        for number in range(1, self.trained + 1):
            self.log_once("trained", number, _entry(self.candidate(number) / "trained.json"))
            if number in self.verdicts:
                self.log_once("verdict", number, self.verdicts[number])

    def _save_clock(self) -> None:
        self._saved_s = self.seconds
        atomic_write(self.folder / "clock.json", json.dumps(self.seconds))

    def _count(self, name: str) -> int:
        """Returns the number of candidates from 1 on that have a file of this name."""
        number = 0
        while (self.candidate(number + 1) / name).exists():
            number += 1
        return number

    def _verdicts(self) -> dict[int, dict[str, Any]]:
        paths = {number: self.candidate(number) / "verdict.json" for number in range(1, self.trained + 1)}
        return {number: _entry(path, "promoted") for number, path in paths.items() if path.exists()}

    def _file(self, number: int) -> Path:
        return self.folder / "games" / f"{number:04}{self._game.suffix}"

    def _load(self, file: int) -> None:
        """Counts the games of a file, from 1."""
        positions, path = 0, self._file(file)
        if path.exists():
            with expecting(path, "games of a run"):
                for game in self._game.read(path):
                    self.numbers.add(self._game.number_of(game))
                    positions += self._game.positions_in(game)
        self.sizes.append(positions)


def _entry(path: Path, *keys: str) -> dict[str, Any]:
    """Returns the JSON object of a file; raises InputError if it is none, or lacks a key."""
    with expecting(path, "an entry of a run"):
        entry = {**parse_json(path.read_bytes())}
        if missing := {*keys} - entry.keys():
            raise InputError(f"{' '.join(missing)} is missing")
    return entry
