"""`goryu play`: a game at a terminal; an algorithm or a person plays each side."""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from goryu.base.arguments import ArgumentParser, in_range
from goryu.base.config_fields import Range
from goryu.base.errors import GoryuError, explained
from goryu.base.language import tr
from goryu.commands.common import add_model
from goryu.commands.terminal.game_display import GAMES, NOTATIONS
from goryu.commands.terminal.screen import BOARDS
from goryu.commands.terminal.session import PERSON, Session
from goryu.players.agents.agents import AGENTS
from goryu.players.agents.catalogue import ALGORITHMS
from goryu.players.levels.levels import LEVELS

time = in_range(float, Range(0, 1_000_000, is_open=True))
"""Minutes or seconds of a clock."""


def main(arguments: Sequence[str], given: TextIO | None = None, written: TextIO | None = None) -> int:
    """Plays one game at the terminal, or on two streams; returns the exit status."""
    out: TextIO = written or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        session = Session(options, out)
        session.run(_reader(given, out))
    except GoryuError as error:
        sys.stderr.write(f"goryu play: {explained(error)}\n")
        return 2
    except OSError as error:
        if not error.filename:
            raise  # The output is gone.
        sys.stderr.write(f"goryu play: {explained(error)}\n")
        return 2
    except (EOFError, KeyboardInterrupt):  # Ctrl-D and Ctrl-C end the session.
        out.write("\n")
        out.flush()
    return 0


def _reader(given: TextIO | None, out: TextIO) -> Callable[[str], str]:
    """Returns a function that prints a prompt and reads a line; at the end it raises EOFError."""
    if given is None and isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")  # Other bytes are an illegal move.
    if given is None and sys.stdin.isatty():
        with suppress(ImportError):
            # Arrow keys and history for `input`; not on Windows.
            import readline  # noqa: F401
        return input
    lines = given or sys.stdin

    def read(prompt: str) -> str:
        out.write(prompt)
        out.flush()
        line = lines.readline()
        if not line:
            raise EOFError
        return line

    return read


def _parser() -> argparse.ArgumentParser:
    players = [f"  {PERSON:<17}{tr('you, at this terminal')}"]
    for name, kind in AGENTS.items():
        shown = f"{name}:{kind.budget}" if kind.budget else name
        counted = f" (N: {tr(kind.counts)})" if kind.counts else ""
        players.append(f"  {shown:<17}{tr(ALGORITHMS[name].about)}{counted}")
    players += ["", tr("levels:")]
    players += [f"  {level.number:<3}{level.name}: {tr(level.about)}" for level in LEVELS]
    parser = ArgumentParser(
        "goryu play",
        description=tr(
            "Plays a game at the terminal. During the game, help lists what you can write.\n"
            "Shogi uses the engine's options in engine_options.txt; level 10 also uses the opening book."
        ),
        epilog=tr("players (the number after the colon is N, with its default):") + "\n" + "\n".join(players),
    )
    parser.add_argument("game", choices=GAMES)
    _add_players(parser.add_argument_group(tr("players")))
    _add_start(parser.add_argument_group(tr("start and clock")))
    _add_display(parser.add_argument_group(tr("display")))
    return parser


def _add_players(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--level", metavar="N", help=tr("strength of the opponent, 1 to 10 or a name"))
    group.add_argument(
        "--side", choices=("first", "second"), help=tr("your side; black is the first (default: first)")
    )
    group.add_argument("--first", metavar="PLAYER", help=tr("plays black (default: person)"))
    group.add_argument(
        "--second", metavar="PLAYER", help=tr("plays white (default: an algorithm, or person)")
    )
    add_model(group)
    group.add_argument("--seed", type=int, help=tr("makes random moves reproducible"))


def _add_start(group: argparse._ArgumentGroup) -> None:
    position = tr("an SFEN; of the small games moves, or a board, XO./.X./..O, ..../.XO./.OX./.... X")
    group.add_argument("--position", metavar="TEXT", help=position)
    group.add_argument("--record", type=Path, metavar="FILE", help=tr("game to go on with: KIF, CSA ..."))
    group.add_argument("--ply", type=int, metavar="N", help=tr("with --record: go on after this move"))
    group.add_argument("--handicap", metavar="NAME", help=tr("such as 4-piece or 四枚落ち"))
    group.add_argument("--time", type=time, metavar="MIN", help=tr("main time in minutes"))
    group.add_argument("--byoyomi", type=time, metavar="S", help=tr("seconds for every move after it"))
    group.add_argument("--increment", type=time, metavar="S", help=tr("seconds gained by every move"))


def _add_display(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--board", choices=BOARDS, default="auto", help=tr("kanji and colours, or letters (default: auto)")
    )
    group.add_argument(
        "--notation",
        choices=("auto", *NOTATIONS),
        default="auto",
        help=tr("of shown moves of shogi; you may write any (default: auto)"),
    )
    group.add_argument("--scores", action="store_true", help=tr("the value of every move beside the board"))
    group.add_argument("--save", type=Path, metavar="FILE", help=tr("writes the game there at the end"))
