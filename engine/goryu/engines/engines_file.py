"""The USI engines that the user names in `engines.toml`, in the user's config folder.

    [[engine]]
    name = "Fairy-Stockfish"
    command = ["/usr/games/fairy-stockfish"]
    directory = "/usr/games"  # where it runs; may be missing, like all that follows
    seconds = 2               # for a move in a game without a clock, and for an opinion
    options = {Threads = 2, USI_Hash = 256}

The page knows the names only: commands come from this file alone.
"""

import tomllib
from dataclasses import dataclass
from os.path import expanduser
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError, explained
from goryu.base.files import config_folder
from goryu.base.language import tr
from goryu.engines.usi_client import EngineSpec

FILE_NAME = "engines.toml"

KEYS = ("name", "command", "directory", "seconds", "options")

SECONDS = 3.0
MOST_SECONDS = 600.0

MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class UserEngine:
    """An engine of the user. seconds: its time for a move."""

    name: str
    spec: EngineSpec
    seconds: float


def engines_path() -> Path:
    """Returns where the file lies, or would lie; raises FileNotFoundError without a home folder."""
    return config_folder() / FILE_NAME


def read_engines(path: Path) -> list[UserEngine]:
    """Returns the engines of a file, none if it does not exist; raises InputError if it cannot be read."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: {explained(error)}") from error
    except (ValueError, RecursionError) as error:  # Of the encoding, or of TOML.
        raise InputError(f"{path}: {error}") from error
    entries = data.pop("engine", [])
    if data or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(tr("{path}: expected tables [[engine]] and nothing else", path=path))
    engines = [_engine(entry, f"{path}, [[engine]] {at}") for at, entry in enumerate(entries, start=1)]
    names = [engine.name for engine in engines]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(tr("{path}: two engines have the name {name}", path=path, name=twice))
    return engines


def user_engines() -> list[UserEngine]:
    """Returns the user's engines; raises InputError if their file cannot be read."""
    try:
        path = engines_path()
    except FileNotFoundError:
        return []
    return read_engines(path)


def engine_named(name: str) -> UserEngine:
    """Returns the user's engine of a name; raises InputError if there is none."""
    found = next((engine for engine in user_engines() if engine.name == name), None)
    if found is None:
        raise InputError(tr("no engine has the name {name} in {file}", name=name[:MOST_NAME], file=FILE_NAME))
    return found


def _engine(entry: dict[str, Any], place: str) -> UserEngine:
    unknown = next((key for key in entry if key not in KEYS), None)
    if unknown is not None:
        known = ", ".join(KEYS)
        raise InputError(
            tr("{place}: {key} is not known; expected {known}", place=place, key=unknown, known=known)
        )
    name, command = entry.get("name"), entry.get("command")
    if not isinstance(name, str) or not 0 < len(name.strip()) <= MOST_NAME:
        raise InputError(
            tr("{place}: name: expected a text of 1 to {most} characters", place=place, most=MOST_NAME)
        )
    if not isinstance(command, list) or not command or not all(isinstance(word, str) for word in command):
        raise InputError(tr('{place}: command: expected texts, such as ["/usr/games/gpsusi"]', place=place))
    directory = entry.get("directory")
    if not isinstance(directory, str | None):
        raise InputError(tr("{place}: directory: expected a text", place=place))
    seconds = entry.get("seconds", SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MOST_SECONDS:
        raise InputError(
            tr("{place}: seconds: expected a number up to {most:.0f}", place=place, most=MOST_SECONDS)
        )
    options = entry.get("options", {})
    if not isinstance(options, dict) or not all(isinstance(v, str | int | float) for v in options.values()):
        raise InputError(tr("{place}: options: expected texts, numbers, true or false", place=place))
    spec = EngineSpec(
        command=(expanduser(command[0]), *command[1:]),
        options=tuple((option, _usi_value(value)) for option, value in options.items()),
        name=name.strip(),
        directory=None if directory is None else expanduser(directory),
    )
    return UserEngine(name.strip(), spec, float(seconds))


def _usi_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
