"""Makes openings for matches: varied, balanced, and reproducible from a seed.

Every opening is a random walk from the start position or from one of the common openings, which an engine
without an opening book rarely finds. At each step the engine searches, and one of its best moves is drawn by
its score (a softmax over centipawns). Sometimes any legal move is played instead. The walk is kept if a
longer search scores its last position as balanced and no kept opening ends there.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from random import Random

from goryu.base.config_fields import option, ranged
from goryu.engines.usi_client import EngineError, UsiClient
from goryu.engines.usi_output import variations
from goryu_lab.match.openings import DEFAULT_OPENINGS, Opening
from goryu_lab.match.referee import Referee

MAX_WALKS = 1000
"""How many walks in a row may fail before the sampler gives up."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to walk and which openings to keep.

    walk_nodes, evaluation_nodes: of the search at each step, and of the last position.
    temperature_cp: a move that is this much worse is drawn e times less often.
    any_move: probability that a step plays any legal move instead.
    stem: probability that a walk begins with the first moves of one of `DEFAULT_OPENINGS`.
    balance_cp: of the last position.
    """

    plies: tuple[int, int] = option((4, 12), "length of an opening, drawn uniformly")
    walk_nodes: int = 2000
    evaluation_nodes: int = 50_000
    temperature_cp: float = 60.0
    any_move: float = 0.1
    stem: float = 0.5
    balance_cp: int = ranged(150, "keep openings whose score is below this for either side", least=1)


@dataclass(frozen=True, slots=True)
class BalancedOpening:
    """An opening and its score in centipawns, from the side to move."""

    opening: Opening
    cp: int


def sample_openings(client: UsiClient, sampling: Sampling, rng: Random) -> Iterator[BalancedOpening]:
    """Yields distinct balanced openings without end.

    client: started, with MultiPV set. With one thread the same seed gives the same openings.
    Raises EngineError if the engine fails, or after `MAX_WALKS` walks in a row without a new opening.
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
        cp = client.go(referee.position_command, f"go nodes {sampling.evaluation_nodes}", None).info.cp
        if cp is not None and abs(cp) < sampling.balance_cp:
            seen.add(referee.key)
            yield BalancedOpening(Opening(moves=tuple(referee.moves)), cp)
            walks = 0
    raise EngineError("protocol", f"{client.name}: no new balanced opening in {walks} walks")


def walk(client: UsiClient, referee: Referee, sampling: Sampling, rng: Random) -> bool:
    """Plays a random opening; returns False if the game ended or the engine proposed no move."""
    plies = rng.randint(*sampling.plies)
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
