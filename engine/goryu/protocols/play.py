"""`goryu play`: a game at a terminal, each side an algorithm or a person.

Like the USI engine it does no input or output of its own: lines go in, lines come out; only
`main` knows of a terminal.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TextIO

from goryu.games.shogi import move_to_usi
from goryu.games.state import Move, State
from goryu.games.tictactoe import TicTacToe
from goryu.implementation import Board, Reversi
from goryu.players.agents import AGENTS, Agent, AgentError, Knowledge, make_agent

__all__ = ["GAMES", "Play", "Table", "main"]

PERSON = "person"
NETWORK_AGENTS = ("puct", "gumbel", "value")
HELP = "a move, `moves` (list them), `undo` (take back), `quit`"


@dataclass(frozen=True, slots=True)
class Table:
    """How a game is played by people.

    sides: the names of the first and the second player. move_name: a move as people write it.
    opponent: the agent that a newcomer meets.
    """

    new: Callable[[], State]
    sides: tuple[str, str]
    move_name: Callable[[Move], str]
    opponent: str


GAMES = {
    "tictactoe": Table(TicTacToe, ("X", "O"), lambda move: str(int(move)), "puct:100"),
    "reversi": Table(Reversi, ("black (X)", "white (O)"), lambda move: Reversi().move_name(move), "puct:100"),
    "shogi": Table(Board, ("black (sente)", "white (gote)"), move_to_usi, "puct:200"),
}


class Play:
    """A game in progress. Agents move as soon as it is their turn; None is a person."""

    def __init__(self, table: Table, state: State, players: tuple[Agent | None, Agent | None]) -> None:
        self.table = table
        self.state = state
        self.players = players
        self.is_over = False
        self._sides_moved: list[int] = []  # Since the start of the session.

    def start(self) -> Iterator[str]:
        """Yields the board, then all moves and boards up to a person's turn or the end."""
        yield str(self.state)
        yield from self._advance()

    def receive(self, line: str) -> Iterator[str]:
        """Yields what happens after a person's line."""
        text = line.strip()
        if text == "quit":
            self.is_over = True
        elif text == "moves":
            yield " ".join(self._names())
        elif text == "undo":
            yield from self._undo()
        elif text in (names := self._names()):
            yield from self._push(names[text])
            yield from self._advance()
        else:
            yield f"{text!r} is no legal move here; expected {HELP}"

    def prompt(self) -> str:
        """Returns what a person is asked."""
        return f"{self.table.sides[self.state.turn]} to move> "

    def _names(self) -> dict[str, Move]:
        return {self.table.move_name(move): move for move in self.state.legal_moves()}

    def _advance(self) -> Iterator[str]:
        while self.state.outcome() is None:
            agent = self.players[self.state.turn]
            if agent is None:
                return
            yield from self._push(agent(self.state))
        yield self._verdict()
        self.is_over = True

    def _push(self, move: Move) -> Iterator[str]:
        number, side = self.state.ply + 1, self.table.sides[self.state.turn]
        yield f"{number}. {side}: {self.table.move_name(move)}"
        self._sides_moved.append(self.state.turn)
        self.state.push(move)
        yield str(self.state)

    def _undo(self) -> Iterator[str]:
        """Takes the person's last move back, and the reply to it."""
        side = self.state.turn
        if side not in self._sides_moved:
            yield "there is no move of yours to take back"
            return
        is_own = False
        while not is_own:
            self.state.pop()
            is_own = self._sides_moved.pop() == side
        yield str(self.state)

    def _verdict(self) -> str:
        outcome = self.state.outcome()
        assert outcome is not None
        if outcome.value == 0.0:
            return f"draw: {outcome.reason}"
        winner = self.state.turn if outcome.value > 0.0 else 1 - self.state.turn
        discs = (
            f", {abs(self.state.disc_difference())} discs ahead" if isinstance(self.state, Reversi) else ""
        )
        return f"{self.table.sides[winner]} wins: {outcome.reason}{discs}"


def main(arguments: Sequence[str], given: TextIO | None = None, written: TextIO | None = None) -> int:
    """Plays one game at the terminal, or on the two streams; returns the exit status."""
    lines: TextIO = given or sys.stdin
    out: TextIO = written or sys.stdout
    options = _parser().parse_args(arguments)
    table = GAMES[options.game]
    rng = Random(options.seed)

    def say(text: str) -> None:
        out.write(text + "\n")
        out.flush()

    try:
        players = _players(options, table, rng, say)
    except AgentError as error:
        sys.stderr.write(f"goryu play: {error}, or {PERSON!r}\n")
        return 2
    play = Play(table, table.new(), players)
    for text in play.start():
        say(text)
    while not play.is_over:
        out.write(play.prompt())
        out.flush()
        line = lines.readline()
        if not line:
            say("")
            return 0
        for text in play.receive(line):
            say(text)
    return 0


def _players(
    options: argparse.Namespace, table: Table, rng: Random, say: Callable[[str], None]
) -> tuple[Agent | None, Agent | None]:
    first: str = options.first
    second: str = options.second or (table.opponent if first == PERSON else PERSON)
    knowledge = Knowledge()
    algorithms = {name.partition(":")[0] for name in (first, second)}
    if algorithms & {*NETWORK_AGENTS, "depth-limited"}:
        from goryu.players.knowledge import knowledge_of  # Networks are loaded only where one is needed.

        knowledge = knowledge_of(options.game, rng, say)

    def player(name: str) -> Agent | None:
        return None if name == PERSON else make_agent(name, knowledge, rng)

    return player(first), player(second)


def _parser() -> argparse.ArgumentParser:
    names = ", ".join([PERSON, *AGENTS])
    parser = argparse.ArgumentParser(
        prog="goryu play",
        description="Plays a game at the terminal.",
        epilog=f"A player is one of {names}; a number after a colon is its budget, as in uct:400.",
    )
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("--first", default=PERSON, metavar="PLAYER", help="who moves first (default: person)")
    parser.add_argument(
        "--second", metavar="PLAYER", help="the other side (default: an algorithm, or person)"
    )
    parser.add_argument("--seed", type=int, help="makes random players repeat themselves")
    return parser
