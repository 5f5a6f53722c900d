"""Makes openings for matches: varied, balanced, and repeatable from a seed.

Every opening is a random walk from the start position, or from one of the usual beginnings, which an engine
without an opening book hardly ever finds. At each step the engine proposes its best few moves and one is
drawn by its score (a softmax over centipawns), or now and then any legal move is played. The walk is kept if
a longer search then calls the position balanced, and no kept opening ends in the same position.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from random import Random

from goryu.match.openings import DEFAULT_OPENINGS, Opening
from goryu.match.referee import Referee
from goryu.match.usi_client import EngineError, UsiClient
from goryu.match.usi_output import variations

__all__ = ["BalancedOpening", "Sampling", "sample_openings"]

MAX_WALKS = 1000
"""Walks in a row that may lead to nothing new before it is given up."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to walk and what to keep.

    min_plies, max_plies: length, drawn evenly. walk_nodes: for each step, judge_nodes: for the final verdict.
    temperature_cp: a move worse by this much is drawn e times as rarely.
    any_move: probability that a step plays any legal move instead.
    stem: probability that a walk begins with the first moves of one of `DEFAULT_OPENINGS`.
    balance_cp: kept while the score of the side to move stays within it.
    """

    min_plies: int = 4
    max_plies: int = 12
    walk_nodes: int = 2000
    judge_nodes: int = 50_000
    temperature_cp: float = 60.0
    any_move: float = 0.1
    stem: float = 0.5
    balance_cp: int = 150


@dataclass(frozen=True, slots=True)
class BalancedOpening:
    """An opening and its score in centipawns, from the side to move."""

    opening: Opening
    cp: int


def sample_openings(client: UsiClient, sampling: Sampling, rng: Random) -> Iterator[BalancedOpening]:
    """Yields distinct balanced openings, as many as are asked for.

    client: started with one thread and MultiPV set; only then, and with a fixed seed, the openings repeat.
    Raises EngineError if it fails, or if `MAX_WALKS` in a row led to no new opening.
    """
    seen: set[str] = set()
    walks = 0
    while walks < MAX_WALKS:
        walks += 1
        client.new_game()
        referee = Referee()
        if not walk(client, referee, sampling, rng) or referee.key in seen or referee.is_check:
            continue
        client.new_game()
        cp = client.go(referee.position_command, f"go nodes {sampling.judge_nodes}", None).info.cp
        if cp is not None and abs(cp) < sampling.balance_cp:
            seen.add(referee.key)
            yield BalancedOpening(Opening(moves=tuple(referee.moves)), cp)
            walks = 0
    raise EngineError("protocol", f"{client.name}: no new opening among {walks} that it calls balanced")


def walk(client: UsiClient, referee: Referee, sampling: Sampling, rng: Random) -> bool:
    """Plays a random opening; returns whether the game still goes on."""
    plies = rng.randint(sampling.min_plies, sampling.max_plies)
    if rng.random() < sampling.stem:
        for move in rng.choice(DEFAULT_OPENINGS).moves[: min(plies, rng.randint(1, 4))]:
            referee.play(move)
    while len(referee.moves) < plies:
        if rng.random() < sampling.any_move:
            move = rng.choice(sorted(referee.legal_moves()))
        else:
            lines = client.go(referee.position_command, f"go nodes {sampling.walk_nodes}", None).lines
            choices = [(info.pv[0], info.cp) for info in variations(lines) if info.pv and info.cp is not None]
            if not choices:
                return False
            best = max(cp for _, cp in choices)
            weights = [exp((cp - best) / sampling.temperature_cp) for _, cp in choices]
            move = rng.choices([move for move, _ in choices], weights)[0]
        if referee.play(move) is not None:
            return False
    return True
