"""A game of a match between two networks, as a generator: Gumbel searches without noise, equal playouts."""

from collections.abc import Generator
from functools import partial

from goryu.games.state import State
from goryu.players.agents.arena import result
from goryu.search.evaluator import Evaluation
from goryu.search.gumbel import GumbelConfig, search_steps
from goryu_lab.loop.adapter import PairSteps, Seats
from goryu_lab.self_play.batching import relayed


def pair_of_games(start: State, playouts: int, gumbel: GumbelConfig, max_plies: int) -> PairSteps:
    """Plays two games from `start` with swapped colours; returns the candidate's points in each.

    max_plies: longer games are draws. `start` stays as it is.
    """
    first = yield from _game(start.copy(), 0, playouts, gumbel, max_plies)
    second = yield from _game(start.copy(), 1, playouts, gumbel, max_plies)
    return first, second


def _game(
    state: State, side: int, playouts: int, gumbel: GumbelConfig, max_plies: int
) -> Generator[Seats, list[Evaluation], float]:
    """Plays a game to its end; the candidate is the player of turn 0 if `side` is 0."""
    while state.outcome() is None and state.ply < max_plies:
        found = yield from relayed(search_steps(state, playouts, gumbel), partial(_asked, state.turn ^ side))
        state.push(found.move)
    return (1.0 + (result(state) if side == 0 else -result(state))) / 2.0


def _asked(seat: int, leaves: list[State]) -> Seats:
    return seat, leaves
