"""Lists of games in text files, and the split into training and test games.

A list has the name of a game on each line, as `selection.Candidate` names it; lines that begin with # are
comments. So a split can be read, compared and edited, and used again.
"""

import hashlib
import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.files import atomic_write
from goryu.base.strict_json import parse_json
from goryu.kifu.archives import Candidate, find_records, read_candidates
from goryu.kifu.record import GameRecord
from goryu_lab.records.selection import game_hash

HEADER = "# goryu: a list of games"


def is_test_game(game: GameRecord, share: float, seed: int) -> bool:
    """Returns whether a game is for testing; the same moves always give the same answer.

    share: of the test games, in [0, 1].
    """
    data = seed.to_bytes(8, "little", signed=True) + game_hash(game)
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest()) < share * 2**64


def write_list(path: Path, names: Iterable[str], comment: str) -> None:
    """Writes a list of games."""
    lines = [f"{HEADER}; {' '.join(comment.split())}", *map(_line, names)]
    atomic_write(path, "\n".join(lines) + "\n")


def is_list(path: Path) -> bool:
    """Is a file a list of games?"""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(100).removeprefix(BOM_UTF8).startswith(HEADER.encode())


def read_list(path: Path) -> list[str]:
    """Returns the names in a list; raises InputError if it is not UTF-8."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected UTF-8: {error}") from error
    return [_name(line, path) for line in lines if line.strip() and not line.startswith("#")]


def listed_candidates(names: list[str]) -> Iterator[Candidate]:
    """Yields the games of a list in the order of their files; a missing one comes with the reason."""
    wanted = dict.fromkeys(names)
    roots = dict.fromkeys(map(_root, names))
    for root in roots:
        if root is not None:
            for candidate in read_candidates(find_records([root])):
                if candidate.name in wanted:
                    del wanted[candidate.name]
                    yield candidate
    for name in wanted:
        yield Candidate(name, None, f"{name}: in the list, but not found")


def _root(name: str) -> Path | None:
    """Returns the file on disk that holds a game, or None if there is none."""
    name = name.rpartition("#")[0] if not Path(name).exists() and _ends_with_number(name) else name
    parts = name.split("!")
    paths = (Path("!".join(parts[:count])) for count in range(1, len(parts) + 1))
    return next((path for path in paths if path.is_file()), None)


def _ends_with_number(name: str) -> bool:
    return name.rpartition("#")[2].isdigit() and "#" in name


def _line(name: str) -> str:
    """Returns the line of a name, as JSON if it would not be read back as it is."""
    is_plain = name.isprintable() and not name.startswith(("#", '"', " ")) and not name.endswith(" ")
    return name if is_plain else json.dumps(name)


def _name(line: str, path: Path) -> str:
    try:
        return str(parse_json(line)) if line.startswith('"') else line
    except ValueError as error:
        raise InputError(f"{path}: expected the name of a game, received {line[:60]!r}: {error}") from error
