"""The console: commands that inspect the position and the search in a session; and `goryu options`.

Every answer in a session is an `info string`, because a GUI may be reading. The exception is `side`, which
answers with a bare word: the client Ayane expects that.

`moves` and `perft` count every legal move, as YaneuraOu and the published numbers do. The search, and so
`policy` and `tree`, may leave out pointless non-promotions (GenerateAllLegalMoves).
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.files import atomic_write
from goryu.base.language import japanese, language, tr
from goryu.players.set_up.model_path import read_model_options
from goryu.usi.commands import Command
from goryu.usi.option import Option
from goryu.usi.option_values import OptionValues
from goryu.usi.options import OPTIONS

if TYPE_CHECKING:
    from goryu.implementation import Board
    from goryu.players.player import Player
    from goryu.players.request import Request, SearchControl

LINES = 20
"""Number of moves that `policy` and `tree` list by default."""

MAX_PERFT_DEPTH = 30

UNINTERRUPTED_PLIES = 3
"""Depth of a perft that does not check for `stop`: some 30,000 positions, milliseconds in native code."""

LARGEST = 10**9
"""Numbers in commands are clamped to this."""


def show(name: str, board: "Board") -> Iterator[str]:
    """Yields the answer to `d`, `moves` or `side`."""
    from goryu.games.shogi import move_to_usi

    if name == "side":
        yield "white" if board.turn else "black"
    elif name == "moves":
        moves = board.all_legal_moves()
        yield _line(f"{len(moves)} legal moves: {' '.join(map(move_to_usi, moves))}")
    else:
        for line in str(board).splitlines():
            yield _line(line)


def ask(question: Command, request: "Request", control: "SearchControl", player: "Player") -> list[str]:
    """Returns the answer to `eval`, `policy [LINES]`, `tree [LINES]` or `perft [DEPTH]`.

    `tree FILE.json [MINIMUM_VISITS [DEPTH]]` writes the search graph to a file; its name may contain blanks.
    """
    board, arguments = request.board, question.arguments
    number = _number(arguments[0]) if arguments else None
    if question.name == "perft":
        return [*_perft(board, min(MAX_PERFT_DEPTH, 1 if number is None else number), control)]
    if question.name == "tree" and arguments and number is None:
        return [_line(_write_graph(player, " ".join(arguments)))]
    if question.name == "tree":
        return [*_tree(player, number or LINES)]
    if not board.legal_moves():
        return [_line("no legal move")]
    if question.name == "policy":
        return [*_policy(board, player, number or LINES)]
    return [*_eval(board, request, player)]


def _perft(board: "Board", depth: int, control: "SearchControl") -> Iterator[str]:
    """Yields the number of move sequences after each move, then their sum."""
    from goryu.games.shogi import move_to_usi

    total = 0 if depth else 1
    for move in board.all_legal_moves() if depth else ():
        board.push(move)
        count = _count(board, depth - 1, control)
        board.pop()
        if control.is_stopped:
            yield _line("perft: stopped")
            return
        total += count
        yield _line(f"{move_to_usi(move)}: {count}")
    yield _line(f"perft {depth}: {total}")


def _count(board: "Board", depth: int, control: "SearchControl") -> int:
    """Returns `perft(board, depth)`, or some other number after `stop`."""
    from goryu.implementation import perft

    if depth == 0 or control.is_stopped:
        return 1
    if depth <= UNINTERRUPTED_PLIES:
        return perft(board, depth)
    total = 0
    for move in board.all_legal_moves():
        board.push(move)
        total += _count(board, depth - 1, control)
        board.pop()
    return total


def _eval(board: "Board", request: "Request", player: "Player") -> Iterator[str]:
    from goryu.players.score import centipawns, win_rate

    value = player.evaluate(board).value
    cp = centipawns(value, request.config.output.eval_coef)
    yield _line(f"value {value:+.4f} win rate {win_rate(value):.4f} cp {cp}")


def _policy(board: "Board", player: "Player", lines: int) -> Iterator[str]:
    from goryu.games.shogi import move_to_usi

    policy = player.evaluate(board).policy
    ranked = sorted(zip(policy, board.legal_moves(), strict=True), key=lambda pair: -pair[0])
    for probability, move in ranked[:lines]:
        yield _line(f"{move_to_usi(move):5} {probability:.4f}")


def _tree(player: "Player", lines: int) -> Iterator[str]:
    from goryu.games.shogi import move_to_usi
    from goryu.players.agents.usi_traits import USI_TRAITS
    from goryu.usi.output import move_columns

    result = player.result(lines)
    if result is None or not result.moves:
        yield _line("nothing was searched yet")
        return
    traits = USI_TRAITS[player.last_algorithm]
    for move in result.moves[:lines]:
        columns = f"{move_to_usi(move.move):5} {move_columns(move, traits)}".rstrip()
        yield _line(f"{columns} pv {' '.join(map(move_to_usi, move.pv))}")


def _write_graph(player: "Player", text: str) -> str:
    """Writes the search graph to the file that `text` names; returns the outcome in words."""
    # Windows copies a path with quotes.
    found = re.fullmatch(r'("?)([^"]+\.json)\1((?: \S+)*)', text)
    words = found[3].split() if found else []
    limits = [number for word in words if (number := _number(word)) is not None]
    if found is None or len(limits) != len(words) or len(limits) > 2:
        return f"tree: expected FILE.json [MINIMUM_VISITS [DEPTH]], received {text}"
    minimum_visits = limits[0] if limits else 1
    depth = limits[1] if len(limits) > 1 else None
    graph = player.graph(depth, minimum_visits)
    if graph is None and player.last_algorithm != "puct":
        return f"tree: Algorithm {player.last_algorithm} has no graph; only puct has one"
    if graph is None:
        return "nothing was searched yet"
    try:
        atomic_write(Path(found[2]), json.dumps(graph) + "\n")
    except OSError as error:
        return f"tree: {found[2]}: {error.strerror or error}"
    return f"{len(graph['nodes'])} positions written to {found[2]}"


def _number(word: str) -> int | None:
    """Returns the whole number in a word, at most `LARGEST`, or None."""
    # 20 digits are enough to know that a number is too large; int refuses thousands of them.
    return min(LARGEST, int(word[:20])) if word.isdecimal() else None


def _line(text: str) -> str:
    return f"info string {text}".rstrip()


def print_options(arguments: Sequence[str]) -> int:
    """Prints options with values, default, help and other names: the command `goryu options [NAME ...]`.

    arguments: names, also those of other engines; none for every option.
    """
    values = OptionValues()
    values.set_model_options(*read_model_options(values.config.evaluator))
    for name in arguments:
        if not values.find(name):
            problem = tr("no option is called {name!r}; goryu options lists all", name=name)
            print(f"goryu options: {problem}", file=sys.stderr)
            return 2
    named = [option for name in arguments for option in values.find(name)]
    for option in named if arguments else OPTIONS:
        print(option.description(values.defaults))
        print(f"    {_help(option)}")
        names = [
            name if factor == 1 else tr("{name} (times {factor})", name=name, factor=factor)
            for name, factor in option.aliases
        ]
        if option.exact_alias:
            names.append(tr("{name} (in lower case)", name=option.exact_alias))
        if names:
            print("    " + tr("also: {names}", names=tr(", ").join(names)))
    return 0


def _help(option: Option) -> str:
    """Returns the help of an option in the user's language."""
    translation = japanese(option.name, "usi_options") if language() == "ja" else None
    return translation or option.help
