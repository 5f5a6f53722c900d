"""A match of two networks with equal playouts, in pairs of games with swapped colours.

Each pair starts from one opening and four random plies, which make the games differ.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from goryu.base.errors import InputError
from goryu.evaluators.network.named_networks import open_network
from goryu.games.shogi import Rules, move_to_usi
from goryu.games.state import Move, State
from goryu.implementation import Board, Puct
from goryu.match.openings import Opening
from goryu.players.agents.arena import Score, play_game, result
from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import PuctConfig
from goryu.work.cluster import ClusterConfig, ClusterPool
from goryu.work.driver import Workforce, run_tasks
from goryu.work.processes import ProcessPool
from goryu.work.seam import Inbox, Pool, Result, Task

RANDOM_PLIES = 4
"""Random moves after the opening of a match."""

MOST_TRIES = 1000
"""How often to look for random moves that leave the game undecided."""

MATCH_BATCH = 4
"""Positions per network call in the match: the fastest batch size on one CPU core."""


@dataclass(frozen=True, slots=True)
class PairsJob:
    """What a worker does: it opens both networks and plays pairs of games."""

    challenger: Path
    champion: Path
    playouts: int
    max_plies: int
    backend: str = "cpu"
    at_once: int = 1
    gpus: tuple[int, ...] = (0,)

    @property
    def files(self) -> Sequence[Path]:
        return self.challenger, self.champion

    def prepared(self, place: Callable[[Path], Path]) -> "PairsJob":
        return replace(self, challenger=place(self.challenger), champion=place(self.champion))

    def work(self, inbox: Inbox) -> Iterator[Result]:
        challenger, champion = (
            open_network(
                path, batch_size=MATCH_BATCH, backend=self.backend, gpus=self.gpus, worker=inbox.index
            )
            for path in (self.challenger, self.champion)
        )
        while (task := inbox.take(wait=True)) is not None:
            number, start = task
            yield number, play_pair(challenger, champion, start, self.playouts, self.max_plies)


def network_match(
    challenger: Path,
    champion: Path,
    openings: Sequence[Opening],
    games: int,
    playouts: int,
    max_plies: int,
    rng: Random,
    *,
    backend: str = "cpu",
    gpus: tuple[int, ...] = (0,),
    processes: int = 1,
    cluster: ClusterConfig | None = None,
    watch: Callable[[Workforce], None] = lambda workforce: None,
) -> Score:
    """Plays the games of `shogi_match` with several workers, from two files; the score is the same."""
    job = PairsJob(challenger, champion, playouts, max_plies, backend, gpus=gpus)
    starts: list[Task] = list(enumerate(random_starts(openings, games // 2, max_plies, rng)))
    pool: Pool = ClusterPool(cluster) if cluster else ProcessPool(processes)
    score = Score(0, 0, 0)
    with closing(run_tasks(pool, job, iter(starts), len(starts), watch)) as finished:
        for results in finished:
            for _, pair in results:
                score += pair
    return score


def shogi_match(
    challenger: Evaluator,
    champion: Evaluator,
    openings: Sequence[Opening],
    games: int,
    playouts: int,
    max_plies: int,
    rng: Random,
) -> Score:
    """Plays pairs of games with swapped colours and returns the challenger's score."""
    score = Score(0, 0, 0)
    for start in random_starts(openings, games // 2, max_plies, rng):
        score += play_pair(challenger, champion, start, playouts, max_plies)
    return score


def random_starts(openings: Sequence[Opening], pairs: int, max_plies: int, rng: Random) -> Iterator[Opening]:
    """Yields an opening and random moves for every pair."""
    for _ in range(pairs):
        yield _random_start(rng.choice(openings), max_plies, rng)


def play_pair(
    challenger: Evaluator, champion: Evaluator, start: Opening, playouts: int, max_plies: int
) -> Score:
    """Plays two games from one start and returns the challenger's score."""
    score = Score(0, 0, 0)
    for side in (0, 1):
        agents = [_Agent(evaluator, playouts) for evaluator in (challenger, champion)]
        final = play_game(agents[side], agents[1 - side], board_of(start, max_plies))
        points = result(final) if side == 0 else -result(final)
        score += Score(int(points > 0), int(points == 0), int(points < 0))
    return score


def board_of(opening: Opening, max_plies: int) -> Board:
    """Returns the position after an opening; the game is a draw after `max_plies`."""
    board = Board(opening.sfen, Rules(max_ply=max_plies, all_moves=False))
    for move in opening.moves:
        board.push_usi(move)
    return board


def _random_start(opening: Opening, max_plies: int, rng: Random) -> Opening:
    for _ in range(MOST_TRIES):
        board = board_of(opening, max_plies)
        moves = list(opening.moves)
        for _ in range(RANDOM_PLIES):
            if board.outcome() is None:
                moves.append(move_to_usi(rng.choice(board.legal_moves())))
                board.push_usi(moves[-1])
        if board.outcome() is None:
            return replace(opening, moves=tuple(moves))
    raise InputError(
        f"{opening}: expected an opening after which {RANDOM_PLIES} random moves leave a game of at most "
        f"{max_plies} plies undecided"
    )


class _Agent:
    """Plays the most visited move of a search that keeps its graph during the game."""

    def __init__(self, evaluator: Evaluator, playouts: int) -> None:
        self._search = Puct(evaluator, PuctConfig(batch_size=MATCH_BATCH))
        self._playouts = playouts

    def __call__(self, state: State) -> Move:
        found = self._search.search(state, lambda stats: stats.is_proven, max_playouts=self._playouts)
        return found.moves[0].move
