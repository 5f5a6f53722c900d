"""Games between two agents, and the score of several of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev

from goryu.base.language import plural
from goryu.games.state import Outcome, State
from goryu.players.agents.agents import Agent


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Returns the mean of some values and its standard error, 0 for a single value.

    >>> mean_and_error([1.0, 0.0, 1.0, 0.0])
    (0.5, 0.28867513459481287)
    """
    error = stdev(values) / sqrt(len(values)) if len(values) > 1 else 0.0
    return fmean(values), error


@dataclass(frozen=True, slots=True)
class Score:
    """Wins, draws and losses of one side; a draw counts half a point.

    margin: the mean over the games of a number that the caller chose, such as discs, or None.

    >>> str(Score(6, 2, 2))
    '0.700 +- 0.133 (6 wins, 2 draws, 2 losses)'
    """

    wins: int
    draws: int
    losses: int
    margin: float | None = None

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points per game, in [0, 1]."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def error(self) -> float:
        """The standard error of `points`, 0 if all results are equal."""
        return mean_and_error([1.0] * self.wins + [0.5] * self.draws + [0.0] * self.losses)[1]

    @property
    def counts(self) -> str:
        """The numbers of wins, draws and losses, and the margin, for display."""
        margin = "" if self.margin is None else f", mean margin {self.margin:+.1f}"
        counts = plural(self.wins, "win"), plural(self.draws, "draw"), plural(self.losses, "loss")
        return ", ".join(counts) + margin

    def __add__(self, other: "Score") -> "Score":
        margin = None
        if self.margin is not None and other.margin is not None:
            margin = (self.margin * self.games + other.margin * other.games) / (self.games + other.games)
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses, margin)

    def __str__(self) -> str:
        return f"{self.points:.3f} +- {self.error:.3f} ({self.counts})"


def play_game(first: Agent, second: Agent, state: State, max_plies: int | None = None) -> State:
    """Plays `state` to its end or to `max_plies` and returns it; `first` moves when `state.turn` is 0."""
    agents = (first, second)
    while ending(state) is None and (max_plies is None or state.ply < max_plies):
        state.push(agents[state.turn](state))
    return state


def ending(state: State) -> Outcome | None:
    """Returns the result if the game is over, also by a repetition."""
    return state.outcome() or state.repetition()


def result(state: State) -> float:
    """Returns the result for the player who moved first: -1, 0 or +1; 0 for an unfinished game."""
    outcome = ending(state)
    if outcome is None:
        return 0.0
    return outcome.value if state.turn == 0 else -outcome.value


def match(
    agent: Agent,
    opponent: Agent,
    new_game: Callable[[], State],
    games: int,
    *,
    side: int = 0,
    margin: Callable[[State], float] | None = None,
    max_plies: int | None = None,
) -> Score:
    """Plays `games` games and returns the agent's score.

    side: 0 if the agent moves first in the game, 1 if second. max_plies: longer games are draws.
    margin: returns a number of a final state, for the side to move there. The score has its mean from the
        agent's side.
    """
    counts = {1.0: 0, 0.0: 0, -1.0: 0}
    margins = 0.0
    for _ in range(games):
        first, second = (agent, opponent) if side == 0 else (opponent, agent)
        final = play_game(first, second, new_game(), max_plies)
        counts[result(final) if side == 0 else -result(final)] += 1
        if margin is not None:
            margins += margin(final) if final.turn == side else -margin(final)
    mean_margin = margins / games if margin is not None and games else None
    return Score(counts[1.0], counts[0.0], counts[-1.0], mean_margin)


def paired_match(
    agent: Agent,
    opponent: Agent,
    new_game: Callable[[], State],
    games: int,
    *,
    max_plies: int | None = None,
) -> Score:
    """Plays half of the games with each side and returns the agent's score."""
    half = games // 2
    as_first = match(agent, opponent, new_game, games - half, max_plies=max_plies)
    return as_first + match(agent, opponent, new_game, half, side=1, max_plies=max_plies)
