"""What the workers of the loop do: games of self-play and pairs of a match, many at once.

A task names its networks, which are made while the run goes on. A worker keeps those that its games use and
the newest ones. In each round the positions of all games on one network are evaluated in one call, also those
of a match.
"""

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from goryu.games.state import State
from goryu.search.evaluator import Evaluation, Evaluator
from goryu_lab.loop.adapter import LoopGame
from goryu_lab.self_play.batching import relayed, run_batched
from goryu_lab.work.seam import Inbox, Job, Result, Results, Shipment

KEPT = 3
"""Networks that a worker keeps though no game of its own uses them."""

Request = tuple[int, State]
"""The number of a network and a position for it."""

Steps = Generator[list[Request], list[Evaluation], Result]


@dataclass(frozen=True, slots=True)
class PlayTask:
    """Game `number` of the run by the network of a candidate."""

    number: int
    network: int
    shipment: Shipment


@dataclass(frozen=True, slots=True)
class PairTask:
    """Pair `number` of the match of `candidate` against `champion`."""

    number: int
    candidate: int
    champion: int
    shipments: tuple[Shipment, Shipment]


@dataclass(frozen=True, slots=True)
class PlayersJob(Job):
    """The job. at_once: games, or pairs, in progress in each worker."""

    game: LoopGame
    at_once: int = 1

    def work(self, inbox: Inbox) -> Iterator[Result]:
        networks = Networks(self.game, self.at_once, inbox.index)

        def games() -> Iterator[Steps | None]:
            while True:
                if (task := inbox.take(wait=not networks.users)) is not None:
                    yield self._steps(*task, networks)
                elif networks.users:
                    yield None
                else:
                    return

        return run_batched(games(), networks, self.at_once)

    def bundled(self, results: Sequence[Result]) -> Results:
        """Counts the positions of the games, for the display; a pair is two numbers and has none."""
        games = [result for _, result in results if not isinstance(result, tuple)]
        return Results(results, sum(map(self.game.positions_in, games)))

    def _steps(self, number: int, task: PlayTask | PairTask, networks: "Networks") -> Steps:
        """Returns the generator that does a task; its networks are in use from now on."""
        if isinstance(task, PlayTask):
            used = {task.network: task.shipment}
            steps = relayed(
                self.game.play(task.number, task.network),
                lambda states: [(task.network, state) for state in states],
            )
        else:
            numbers = task.candidate, task.champion
            used = dict(zip(numbers, task.shipments, strict=True))
            steps = relayed(
                self.game.pair(task.candidate, task.number),
                lambda seats: [(numbers[seats[0]], state) for state in seats[1]],
            )
        for network, shipment in used.items():
            networks.take(network, shipment)
        return _releasing(number, steps, networks, list(used))


def _releasing(
    number: int,
    steps: Generator[list[Request], list[Evaluation], Any],
    networks: "Networks",
    used: Sequence[int],
) -> Steps:
    """Numbers the result of a task, and releases its networks at its end."""
    result = yield from steps
    for network in used:
        networks.release(network)
    return number, result


class Networks:
    """The networks of a worker by number, and how many tasks use each. Evaluates requests for any of them."""

    def __init__(self, game: LoopGame, batch_size: int, worker: int = 0) -> None:
        self.users: Counter[int] = Counter()
        self._game = game
        self._batch_size = batch_size
        self._worker = worker
        self._opened: dict[int, Evaluator] = {}

    def take(self, number: int, shipment: Shipment) -> None:
        """Opens a network unless it is open; one more task uses it."""
        if number not in self._opened:
            self._opened[number] = self._game.open(shipment.path(), self._batch_size, self._worker)
        self.users[number] += 1

    def release(self, number: int) -> None:
        """One task less uses a network; closes the oldest ones without use."""
        self.users[number] -= 1
        if not self.users[number]:
            del self.users[number]
        idle = sorted(self._opened.keys() - self.users.keys())
        for old in idle[: max(0, len(self._opened) - KEPT)]:
            del self._opened[old]

    def evaluate(self, requests: Sequence[Request]) -> list[Evaluation]:
        """Returns one evaluation per request, in order, with one call for each network."""
        places: dict[int, list[int]] = {}
        for place, (number, _) in enumerate(requests):
            places.setdefault(number, []).append(place)
        found: dict[int, Evaluation] = {}
        for number, own in places.items():
            states = [requests[place][1] for place in own]
            found.update(zip(own, self._opened[number].evaluate(states), strict=True))
        return [found[place] for place in range(len(requests))]
