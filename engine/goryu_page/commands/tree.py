"""`goryu tree`: a picture of a search on any position, as an HTML file or as text."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from goryu.base.arguments import ArgumentParser, whole_number
from goryu.base.errors import InputError
from goryu.base.files import atomic_write, check_outputs, check_writable, readable_name
from goryu.base.language import tr
from goryu.base.strict_json import parse_json
from goryu.commands.common import program
from goryu.games.given_tree import TreeError
from goryu.games.state import State
from goryu.table.positions import GAMES, parse_position
from goryu_page.microscope.counting import counts
from goryu_page.microscope.dump import from_dump
from goryu_page.microscope.minimax import MinimaxObserver
from goryu_page.microscope.networks import EVALUATOR, NAMES, open_evaluator
from goryu_page.microscope.observed import MOST_STEPS, OBSERVED, make_observer
from goryu_page.microscope.page import Subject, page, picture_alone
from goryu_page.microscope.recording import Recording, run
from goryu_page.microscope.text import counts_header, counts_line, tree_text
from goryu_page.microscope.view import Extent

MOST_PLAYOUTS = 100_000
DESCRIPTION = """\
Runs a search on a position and draws its tree. Without --html or --svg it prints the board, the
value of every move, and the tree as text.

examples:
  goryu tree --html tree.html                            the start of shogi, 100 playouts of PUCT
  goryu tree "startpos moves 7g7f 3c3d" --playouts 1000 --html tree.html
  goryu tree --game tictactoe "4 0 8 1" --algorithm alpha-beta
  goryu tree --game reversi 4x4 --count 20               what cuts and ordering save
  goryu tree --game numbers cuts.txt                     a tree of numbers that you write:
                                                         A: B C
                                                         B: D=5 E=10
                                                         C: F=3 G=7
"""

NETWORK_HELP = "network (the engine's), a model file, or material, uniform, rollout, noise; default: network"
COUNT_HELP = "prints how many positions minimax visits in 1 to N plies, with and without cuts and ordering"
BOARDS_HELP = "prints every position that minimax visits in N plies, then how many these are"
GRAPH_HELP = "draws the graph that the engine's `tree FILE.json` wrote; POSITION is its root"


def main(arguments: Sequence[str]) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu tree", make_parser(), _draw, arguments, starts_engines=False)


def _draw(options: argparse.Namespace) -> None:
    if options.boards is not None:
        count = _print_boards(_position(options), options.boards)
        sys.stdout.write(tr("{count:,} {count:position|positions}", count=count) + "\n")
        return
    if options.count:
        _print_counts(options)
        return
    files = [(path, made) for path, made in ((options.html, page), (options.svg, picture_alone)) if path]
    for path, _ in files:
        check_writable(path)
    check_outputs([options.html, options.svg], [options.graph])
    recording, subject = _searched(options)
    extent = Extent(options.depth, options.width, options.most)
    if not files:
        sys.stdout.write(tree_text(recording, subject, extent))
    for path, made in files:
        atomic_write(path, made(recording, len(recording) - 1, subject, extent))
        unit = "playouts" if subject.observed.playouts else "positions"
        sys.stdout.write(f"{path}: {recording.playouts} {unit}\n")


def _print_counts(options: argparse.Namespace) -> None:
    """Prints how many positions a search of 1, 2, ... plies visits, each line as soon as it is known."""
    state = _position(options)
    name = "material" if options.game in ("reversi", "shogi") else "uniform"
    evaluator = open_evaluator(options.game, state, name)
    sys.stdout.write(counts_header() + "\n")
    for found in counts(state, options.count, evaluator):
        sys.stdout.write(counts_line(found) + "\n")
        sys.stdout.flush()


def _print_boards(state: State, plies: int) -> int:
    """Prints a position and those below it, each before its own successors; returns their number."""
    sys.stdout.write(f"{state}\n\n")
    count = 1
    if plies > 0 and state.outcome() is None:
        for move in state.legal_moves():
            state.push(move)
            count += _print_boards(state, plies - 1)
            state.pop()
    return count


def _searched(options: argparse.Namespace) -> tuple[Recording, Subject]:
    """Returns the recording of the search that the options describe, or of a dumped graph."""
    state = _position(options)
    if options.graph is not None:
        recording = from_dump(_read_json(options.graph), state)
        return recording, Subject(options.game, state, OBSERVED["puct"], readable_name(options.graph.name))
    algorithm = options.algorithm or ("alpha-beta" if options.game == "numbers" else "puct")
    observed = OBSERVED[algorithm]
    values = dict(map(_parameter, options.parameter))
    playouts = options.playouts or observed.playouts
    if algorithm == "gumbel":
        values.setdefault("playouts", playouts)
    name = options.network if observed.algorithm.uses != "rules" else "uniform"
    config = EVALUATOR
    if name not in NAMES:  # A file.
        name, config = "network", replace(EVALUATOR, model=name, allows_fallback=False)
    evaluator = open_evaluator(options.game, state, name, config, _warn)
    observer = make_observer(algorithm, state, evaluator, values)
    run(observer, playouts or 1)
    if isinstance(observer, MinimaxObserver) and not observer.is_complete:
        _warn(f"the search is too large: only its first {MOST_STEPS} steps are shown; see --count")
    details = options.network if observed.algorithm.uses != "rules" else ""
    return observer.recording, Subject(options.game, state, observed, details)


def _position(options: argparse.Namespace) -> State:
    text: str = options.position
    if options.game != "numbers" or not text.strip() or (":" in text and not _is_file(text)):
        return parse_position(options.game, text)
    try:
        return parse_position(options.game, Path(text).read_text("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(tr("{path}: expected a text in UTF-8 ({error})", path=text, error=error)) from None
    except TreeError as error:
        raise InputError(f"{text}: {error}") from None


def _is_file(text: str) -> bool:
    """Is this the name of a file, such as C:/tree.txt, and not a tree?"""
    try:
        return Path(text).is_file()
    except OSError:  # It is too long for a name.
        return False


def _read_json(path: Path) -> Any:
    try:
        return parse_json(path.read_text("utf-8"))
    except ValueError as error:
        problem = tr("expected a graph, as `tree FILE.json` writes it ({error})", error=error)
        raise InputError(f"{path}: {problem}") from None


def _warn(line: str) -> None:
    sys.stderr.write(f"goryu tree: {line}\n")


def _parameter(given: str) -> tuple[str, float]:
    name, _, value = given.partition("=")
    try:
        return name, float(value)
    except ValueError:
        problem = tr("expected NAME=NUMBER, such as c=2.5")
        raise InputError(f"-p {given!r}: {problem}") from None


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = ArgumentParser(
        "goryu tree",
        description=DESCRIPTION,
    )
    add = parser.add_argument
    position = "an SFEN, moves or the text of a record; a tree of numbers or its file; default: the start"
    add("position", nargs="?", default="", help=position)
    add("--game", choices=tuple(GAMES), default="shogi")
    chosen = "default: puct; for numbers alpha-beta"
    add("--algorithm", choices=tuple(OBSERVED), help=chosen)
    playouts = "default: 100 (gumbel: 32)"
    add("--playouts", type=whole_number(1, MOST_PLAYOUTS), default=0, help=playouts)
    add("--network", default="network", metavar="NAME", help=NETWORK_HELP)
    numbers = tr("a number of the algorithm")
    add(
        "-p", "--parameter", action="append", default=[], metavar="NAME=N", help=f"{numbers}: {_parameters()}"
    )
    depth = "plies to show; default: 4"
    add("--depth", type=whole_number(0, 100), default=4, help=depth)
    width = "moves of a position to show; default: 6"
    add("--width", type=whole_number(1, 1000), default=6, help=width)
    most = "positions to show; default: 300"
    add("--most", type=whole_number(1, 5000), default=300, help=most)
    html = "writes a picture that any browser shows"
    add("--html", type=Path, metavar="FILE", help=html)
    add("--svg", type=Path, metavar="FILE", help="writes the tree alone, as a picture for other pages")
    add("--count", type=whole_number(1, 30), metavar="N", help=COUNT_HELP)
    add("--boards", type=whole_number(0, 30), metavar="N", help=BOARDS_HELP)
    add("--graph", type=Path, metavar="FILE.json", help=GRAPH_HELP)
    return parser


def _parameters() -> str:
    """Returns the parameters of the algorithms with their defaults, for the help."""
    return "; ".join(
        f"{name}: {', '.join(f'{p.name}={p.default:g} ({tr(p.about)})' for p in observed.parameters)}"
        for name, observed in OBSERVED.items()
        if observed.parameters
    )
