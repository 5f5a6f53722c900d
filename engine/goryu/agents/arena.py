"""Games between two agents, and what a number of them says about their strength."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from goryu.agents.agents import Agent
from goryu.games.state import State

__all__ = ["Score", "match", "paired_match", "play_game", "result"]


NO_LIMIT = 1 << 30
"""More plies than any game has."""


@dataclass(frozen=True, slots=True)
class Score:
    """Wins, draws and losses of one side; a draw counts half a point.

    margin: the mean over the games of what the caller asked for (discs, say), or None.

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
        """Points a game, in [0, 1]."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def error(self) -> float:
        """The standard error of `points`, from the spread of the results (0 if all are alike)."""
        if self.games < 2:
            return 0.0
        spread = (
            self.wins * (1.0 - self.points) ** 2
            + self.draws * (0.5 - self.points) ** 2
            + self.losses * self.points**2
        )
        return sqrt(spread / (self.games - 1) / self.games)

    @property
    def counts(self) -> str:
        """What lies behind `points`, in words."""
        margin = "" if self.margin is None else f", mean margin {self.margin:+.1f}"
        return f"{self.wins} wins, {self.draws} draws, {self.losses} losses{margin}"

    def __add__(self, other: "Score") -> "Score":
        margin = None
        if self.margin is not None and other.margin is not None:
            margin = (self.margin * self.games + other.margin * other.games) / (self.games + other.games)
        return Score(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses, margin)

    def __str__(self) -> str:
        return f"{self.points:.3f} +- {self.error:.3f} ({self.counts})"


def play_game(first: Agent, second: Agent, state: State, max_plies: int = NO_LIMIT) -> State:
    """Plays `state` to its end or to `max_plies` and returns it; `first` moves when `state.turn` is 0."""
    agents = (first, second)
    while state.outcome() is None and state.ply < max_plies:
        state.push(agents[state.turn](state))
    return state


def result(state: State) -> float:
    """Returns the result for the player who moved first, in {-1, 0, +1}; 0 for a game that was cut short."""
    outcome = state.outcome()
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
    max_plies: int = NO_LIMIT,
) -> Score:
    """Plays `games` games and returns the agent's score.

    side: 0 if the agent moves first in the game, 1 if second. max_plies: longer games are draws.
    margin: what to average over the final states, seen from the side to move there; the score has it
        from the agent's side.
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
    max_plies: int = NO_LIMIT,
) -> Score:
    """Plays half of the games on either side and returns the agent's score."""
    half = games // 2
    as_first = match(agent, opponent, new_game, games - half, max_plies=max_plies)
    return as_first + match(agent, opponent, new_game, half, side=1, max_plies=max_plies)
