"""The file with the server, the logins and the options of the engine. It holds passwords.

    host = "wdoor.c.u-tokyo.ac.jp"
    game = "floodgate-300-10F"      # without it the password is sent alone
    [[login]]
    name = "goryu"
    password = "secret"
    [options]
    Threads = 4

A password is sent to the server and written nowhere: not into messages, records or logs.
"""

import os
import re
import shlex
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr

PORT = 4081
"""The port of the protocol."""

_KINDS: dict[str, type] = {"host": str, "port": int, "game": str, "login": list, "options": dict}
_EXAMPLES = {
    "host": '"wdoor.c.u-tokyo.ac.jp"', "port": str(PORT), "game": '"floodgate-300-10F"', "login": "[[login]]",
    "options": "[options]",
}  # fmt: skip
_NAME = re.compile(r"[\w@.-]{1,32}", re.ASCII)
_WORD = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Login:
    """A name on a server, and the second word after it, which holds the password."""

    name: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """A server, the logins there, and the USI options of the engine in the order of the file."""

    host: str
    logins: tuple[Login, ...]
    port: int = PORT
    options: tuple[tuple[str, str], ...] = ()


def read_settings(path: Path) -> Settings:
    """Reads the file.

    Raises:
        InputError: others than its owner may read it, or it is wrong.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        if sys.platform != "win32" and os.fstat(file.fileno()).st_mode & 0o077:
            command = f"chmod 600 {shlex.quote(str(path))}"
            raise InputError(
                tr("{path} holds a password and others may read it: {command}", path=path, command=command)
            )
        try:
            return _settings(tomllib.load(file))
        except (ValueError, RecursionError) as error:  # An InputError, wrong UTF-8, or wrong TOML.
            raise InputError(f"{path}: {error}") from None


def _settings(data: Mapping[str, Any]) -> Settings:
    for key, value in data.items():
        _check(key in _KINDS, key, " ".join(_KINDS))
        _check(isinstance(value, _KINDS[key]), key, _EXAMPLES[key])
    _check(bool(_WORD.fullmatch(data.get("host", ""))), "host", _EXAMPLES["host"])
    port, game = data.get("port", PORT), data.get("game", "")
    _check(0 < port < 1 << 16, "port", _EXAMPLES["port"])
    _check(not game or bool(_WORD.fullmatch(game)), "game", _EXAMPLES["game"])
    logins = tuple(_login(one, game) for one in data.get("login", ()))
    names = {login.name for login in logins}
    _check(0 < len(names) == len(logins), "login", _EXAMPLES["login"])
    options = tuple((name, _option(name, value)) for name, value in data.get("options", {}).items())
    return Settings(data["host"], logins, port, options)


def _login(data: Any, game: str) -> Login:
    _check(isinstance(data, dict) and data.keys() == {"name", "password"}, "login", "name, password")
    name, password = data["name"], data["password"]
    _check(isinstance(name, str) and bool(_NAME.fullmatch(name)), "name", "A-Z a-z 0-9 _ @ . - (1-32)")
    _check(isinstance(password, str) and bool(_WORD.fullmatch(password)), "password", "! ... ~")
    return Login(name, f"{game},{password}" if game else password)


def _option(name: str, value: Any) -> str:
    is_line = isinstance(value, (str, int, float)) and not set("\r\n") & set(f"{name}{value}")
    _check(is_line, f"options.{name}", 'true, 1, "text"')
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check(is_right: bool, key: str, expected: str) -> None:
    """Raises InputError for a key of the file; the value is left out, for it may be a password."""
    if not is_right:
        raise InputError(tr("wrong or missing: {key}; expected {expected}", key=key, expected=expected))
