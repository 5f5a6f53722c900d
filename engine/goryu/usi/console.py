"""What people type: questions about the position and the search, and `goryu options`.

In a session every answer is an `info string`, because a GUI may be listening; only `side`
answers with the bare word that the client Ayane waits for.

`moves` and `perft` count every legal move, as YaneuraOu does and as the published numbers are; the search,
and so `policy` and `tree`, may leave the pointless non-promotions out (GenerateAllLegalMoves).
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.players.model_path import read_model_options
from goryu.usi.commands import words
from goryu.usi.option_values import OptionValues
from goryu.usi.options import OPTIONS

if TYPE_CHECKING:
    from goryu.implementation import Board
    from goryu.players.player import Player
    from goryu.players.request import Request, SearchControl

__all__ = ["ask", "print_options", "show"]

SHOWN = 20
"""Moves listed by `policy` and `tree`."""

DEEPEST_PERFT = 30

LARGEST = 10**9
"""Numbers in questions are clamped to this."""


def show(command: str, board: "Board") -> Iterator[str]:
    """Yields the lines that answer `d`, `moves` or `side`, for which nothing has to be computed."""
    from goryu.games.shogi import move_to_usi

    if command == "side":
        yield "white" if board.turn else "black"
    elif command == "moves":
        moves = board.all_legal_moves()
        yield _line(f"{len(moves)} legal moves: {' '.join(map(move_to_usi, moves))}")
    else:
        for line in str(board).splitlines():
            yield _line(line)


def ask(question: str, request: "Request", control: "SearchControl", player: "Player") -> list[str]:
    """Returns the lines that answer `eval`, `policy [lines]`, `tree [lines]` or `perft [depth]`.

    `tree FILE.json [least visits [depth]]` writes the search graph into a file; its name may hold blanks.
    """
    command, *arguments = words(question)
    number = _number(arguments[0]) if arguments else None
    board = request.board
    if command == "perft":
        return list(_perft(board, min(DEEPEST_PERFT, number if number is not None else 1), control))
    if command == "tree" and arguments and number is None:
        return [_line(_write_graph(player, " ".join(arguments)))]
    if command == "tree":
        return list(_tree(player, number or SHOWN))
    if not board.legal_moves():
        return [_line("no legal move")]
    return list(
        _policy(board, player, number or SHOWN) if command == "policy" else _eval(board, request, player)
    )


def _perft(board: "Board", depth: int, control: "SearchControl") -> Iterator[str]:
    """Yields the number of move sequences behind each move, and their sum."""
    from goryu.games.shogi import move_to_usi

    total = 1
    if depth > 0:
        total = 0
        for move in board.all_legal_moves():
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
    if depth == 0 or control.is_stopped:
        return 1
    moves = board.all_legal_moves()
    if depth == 1:
        return len(moves)
    total = 0
    for move in moves:
        board.push(move)
        total += _count(board, depth - 1, control)
        board.pop()
    return total


def _eval(board: "Board", request: "Request", player: "Player") -> Iterator[str]:
    from goryu.usi.scores import centipawns, win_rate

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
    from goryu.usi.scores import win_rate

    result = player.result(lines)
    if result is None or not result.moves:
        yield _line("nothing was searched yet")
        return
    for move in result.moves[:lines]:
        proof = f" mate {move.mate}" if move.mate is not None else ""
        yield _line(
            f"{move_to_usi(move.move):5} visits {move.visits:7} prior {move.prior:.4f} "
            f"win rate {win_rate(move.value):.4f}{proof} pv {' '.join(map(move_to_usi, move.pv))}"
        )


def _write_graph(player: "Player", wanted: str) -> str:
    """Writes the search graph into the file that `wanted` names; returns what came of it."""
    # As of an option, a path may have the quotes in which Windows copies it.
    found = re.fullmatch(r'("?)([^"]+\.json)\1((?: \S+)*)', wanted)
    numbers = found[3].split() if found else []
    limits = [number for word in numbers if (number := _number(word)) is not None]
    if found is None or len(limits) != len(numbers) or len(limits) > 2:
        return f"tree: expected FILE.json [least visits [depth]], received {wanted}"
    least_visits = limits[0] if limits else 1
    depth = limits[1] if len(limits) > 1 else None
    graph = player.graph(depth, least_visits)
    if graph is None:
        return "nothing was searched yet"
    try:
        Path(found[2]).write_text(json.dumps(graph) + "\n", "utf-8")
    except OSError as error:
        return f"tree: {error}"
    return f"{len(graph['nodes'])} positions written to {found[2]}"


def _number(word: str) -> int | None:
    """Returns the whole number that a word is, at most `LARGEST`, or None."""
    # Of more digits than 20 those in front tell enough, and int refuses thousands of them.
    return min(LARGEST, int(word[:20])) if word.isdecimal() else None


def _line(text: str) -> str:
    return f"info string {text}".rstrip()


def print_options(arguments: Sequence[str]) -> int:
    """`goryu options`: prints every option with its default, bounds, other names and help."""
    options = OptionValues()
    options.set_model_options(read_model_options(options.config.evaluator))
    for option in OPTIONS:
        print(option.description(options.defaults))
        print(f"    {option.help}")
        if option.aliases:
            names = (name if factor == 1 else f"{name} (times {factor})" for name, factor in option.aliases)
            print(f"    also: {', '.join(names)}")
    return 0
