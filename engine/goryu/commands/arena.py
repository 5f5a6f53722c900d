r"""Plays games between the algorithms of the textbook: tic-tac-toe, reversi on three boards, or shogi.

    goryu arena tictactoe uct:100 alpha-beta --games 100
    goryu arena reversi4 random uct:50 uct:200 alpha-beta
    goryu arena reversi6 value:2 uct:400 --model network.onnx
    goryu arena shogi depth-limited:2 flat-mc:3 --games 4

Every pair plays half of its games with each side. A win is a point, a draw half a point; after +- stands the
standard error. Two players without random numbers repeat the same two games. PLAYER is a name of
`goryu play --help`; engines with a clock play in `goryu match`.
"""

import argparse
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations
from random import Random
from time import perf_counter

from goryu.commands.common import UsageError, add_model, new_parser, positive, program, seed
from goryu.commands.terminal.game_display import GAMES
from goryu.commands.terminal.players import check_players
from goryu.games.state import Move, State
from goryu.players.agents.agents import Agent, AgentError, AgentSetup, make_agent
from goryu.players.agents.arena import Score, match
from goryu.players.agents.catalogue import ALGORITHMS

LONGEST_SHOGI = 200
"""Plies after which a game of shogi is a draw, if the user names no other number."""

Results = Mapping[tuple[str, str], Score]
"""The scores of each player against each other, from both sides."""


class TimedAgent:
    """An agent that measures how long it thinks."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.moves = 0
        self.seconds = 0.0

    def __call__(self, state: State) -> Move:
        began_s = perf_counter()
        move = self._agent(state)
        self.seconds += perf_counter() - began_s
        self.moves += 1
        return move


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu arena", make_parser(), run, arguments, starts_engines=False)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("players", nargs="+", metavar="PLAYER", help="two or more, such as uct:100")
    parser.add_argument("--games", type=positive, default=100, metavar="N", help="of each pair (default 100)")
    add_model(parser)
    parser.add_argument("--max-plies", type=positive, metavar="N", help="longer games are draws")
    parser.add_argument("--seed", type=seed, default=1, help="of the random numbers (default 1)")
    return parser


def run(args: argparse.Namespace) -> None:
    """Plays all games and prints the score of each pair as soon as it is known, then the table."""
    names: list[str] = args.players
    if len(names) < 2 or len({*names}) < len(names):
        raise UsageError("expected at least two players, each once")
    check_players(names, args.game)
    agents = _agents(args)
    max_plies = args.max_plies or (LONGEST_SHOGI if args.game == "shogi" else None)
    width = max(map(len, names))
    results: dict[tuple[str, str], Score] = {}
    for name, other in combinations(names, 2):
        halves = [
            match(agents[name], agents[other], GAMES[args.game].new, games, side=side, max_plies=max_plies)
            for side, games in ((0, (args.games + 1) // 2), (1, args.games // 2))
            if games
        ]
        score = sum(halves[1:], halves[0])
        results |= {(name, other): score, (other, name): Score(score.losses, score.draws, score.wins)}
        sides = zip(("first", "second"), halves, strict=False)
        shown = ", ".join(f"{side} {half.points:.3f}" for side, half in sides)
        print(f"{name:{width}} - {other:{width}}  {score}; {shown}", flush=True)
    print("\n".join(["", *table(names, results, agents)]))


def _agents(args: argparse.Namespace) -> dict[str, TimedAgent]:
    """Returns the players by their names."""
    from goryu.players.agents.presets import board_setup, shogi_setup  # They import networks.
    from goryu.usi.start_config import start_config

    rng = Random(args.seed)
    uses = {
        name: ALGORITHMS[word].uses for name in args.players if (word := name.split(":")[0]) in ALGORITHMS
    }
    if args.model and "network" not in uses.values():
        raise UsageError("--model: expected a player with a network, such as puct or value")

    @cache
    def setup() -> AgentSetup:
        if args.game == "shogi":
            return shogi_setup(start_config(args.model, print), print)
        return board_setup(args.game, rng, print, args.model)

    found = {}
    for name in args.players:
        if args.game == "shogi" and name.partition(":")[0] == "level":
            raise AgentError(f"{name}: levels of shogi play in goryu match --option1 Level=N")
        needed = setup() if uses.get(name, "rules") != "rules" else AgentSetup()
        found[name] = TimedAgent(make_agent(name, needed, rng))
    return found


def table(names: Sequence[str], results: Results, agents: Mapping[str, TimedAgent]) -> list[str]:
    """Returns the lines of the cross table: the points of each row's player against each column's.

    For two players it is the last two columns only: all points, and seconds a move.
    """
    columns = names if len(names) > 2 else ()
    first = max(map(len, names))
    widths = [max(5, len(name)) for name in columns]
    heads = "".join(f"  {name:>{width}}" for name, width in zip(columns, widths, strict=True))
    lines = [f"{'':{first}}{heads}  {'points':>15}  s a move"]
    for name in names:
        scores = [results.get((name, other)) for other in columns]
        cells = "".join(
            f"  {f'{score.points:.3f}' if score else '':>{width}}"
            for score, width in zip(scores, widths, strict=True)
        )
        against = [results[name, other] for other in names if other != name]
        total, agent = sum(against[1:], against[0]), agents[name]
        seconds = agent.seconds / max(1, agent.moves)
        lines.append(f"{name:{first}}{cells}  {total.points:.3f} +- {total.error:.3f}  {seconds:8.4f}")
    return lines
