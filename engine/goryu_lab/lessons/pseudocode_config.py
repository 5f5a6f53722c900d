"""The numbers of AlphaZero's published run, and the factors that scale it to a small game.

Source: the pseudocode in the supplement of D. Silver et al., "A general reinforcement learning algorithm that
masters chess, shogi, and Go through self-play", Science, 2018, and the supplement's table of training (44
million games of chess in 700,000 steps).
"""

from dataclasses import dataclass, replace
from typing import Any

from goryu.base.config_fields import check_ranges, ranged
from goryu.base.errors import InputError
from goryu_lab.lessons.alphazero_config import PUBLISHED, AlphaZeroConfig

STEPS = 700_000
CHECKPOINT_INTERVAL = 1000
GAMES_PER_STEP = 44_000_000 / STEPS


def _factor(text: str) -> Any:
    return ranged(1.0, f"factor of {text}", most=1_000_000)


@dataclass(frozen=True, slots=True)
class Factors:
    """What the published numbers for chess are multiplied by. All 1: the published run, for a data centre.

    Raises InputError for a factor that is not above 0, or so large that its number would overflow.
    """

    playouts: float = _factor("the 800 playouts of a move")
    exploration: float = _factor("c_init, 1.25")
    noise: float = _factor("the Dirichlet noise's alpha, 0.3: about ten divided by the legal moves")
    sampled: float = _factor("the 30 plies that are drawn by visits")
    plies: float = _factor("the 512 plies of the longest game")
    steps: float = _factor("the 700,000 steps, and of those at which the learning rate falls")
    checkpoints: float = _factor("the 1,000 steps between two networks")
    games: float = _factor("the 63 games of self-play for each step")
    window: float = _factor("the million games that training samples from")
    batch: float = _factor("the 4,096 positions of a step")
    rate: float = _factor("the learning rate, 0.2 at first")

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True)
class PseudocodeConfig:
    """The numbers of one run.

    alphazero: of search and training; its cycles mean nothing here. steps: of the training.
    checkpoint_interval: steps between two networks. games_per_step: games of self-play for each step.
    """

    alphazero: AlphaZeroConfig
    steps: int
    checkpoint_interval: int
    games_per_step: float


def scaled(
    factors: Factors, untried: str = "lost", *, as_published: bool = False, game: str = "chess"
) -> PseudocodeConfig:
    """Returns the published config, with its numbers multiplied by the factors.

    game: "shogi" has its own config; all others have that of chess.

    untried: "lost", as published, or "reduced"; see `AlphaZeroConfig`.
    as_published: search the pseudocode's tree and learn positions as they are, without symmetries.

    >>> scaled(Factors()).alphazero.playouts, scaled(Factors(playouts=0.025)).alphazero.playouts
    (800, 20)
    """
    if untried not in ("lost", "reduced"):
        raise InputError(f"untried {untried!r}: expected 'lost' or 'reduced'")
    if as_published and untried != "lost":
        raise InputError(f"untried {untried!r}: expected 'lost', as published")
    published = PUBLISHED["shogi" if game == "shogi" else "chess"]
    config = replace(
        published,
        playouts=_whole(published.playouts * factors.playouts),
        c_init=published.c_init * factors.exploration,
        untried=untried,  # type: ignore[arg-type]
        search="published" if as_published else "puct",
        symmetries=not as_published,
        divides_noise=not as_published,
        noise_alpha=published.noise_alpha * factors.noise,
        sampling_plies=_whole(published.sampling_plies * factors.sampled),
        max_plies=_whole(published.max_plies * factors.plies),
        window=_whole(published.window * factors.window),
        batch=_whole(published.batch * factors.batch),
        learning_rates=tuple(
            (round(step * factors.steps), rate * factors.rate) for step, rate in published.learning_rates
        ),
    )
    return PseudocodeConfig(
        config,
        _whole(STEPS * factors.steps),
        _whole(CHECKPOINT_INTERVAL * factors.checkpoints),
        GAMES_PER_STEP * factors.games,
    )


def _whole(x: float) -> int:
    return max(1, round(x))


SMALL_GAMES = {
    "tictactoe": Factors(
        playouts=1 / 16,
        noise=3.0,
        sampled=0.3,
        steps=0.004,
        checkpoints=0.05,
        games=0.01,
        window=0.001,
        batch=1 / 32,
        rate=0.1,
    ),
    "reversi": Factors(
        playouts=0.04,
        exploration=0.4,
        noise=3.0,
        sampled=0.5,
        steps=0.008,
        checkpoints=0.1,
        games=0.011,
        window=0.0015,
        batch=1 / 16,
        rate=0.5,
    ),
}
SMALL_GAMES["reversi6"] = replace(
    SMALL_GAMES["reversi"], steps=0.002, games=0.014, window=0.001, checkpoints=0.1, batch=1 / 32
)
SMALL_GAMES["reversi4"] = replace(SMALL_GAMES["reversi6"], playouts=0.02, steps=0.001, sampled=0.3)
SMALL_GAMES["shogi"] = Factors(
    playouts=0.02,
    noise=20.0,
    plies=0.15,
    steps=0.0003,
    checkpoints=0.03,
    games=0.0045,
    window=0.001,
    batch=1 / 64,
    rate=0.5,
)
"""Factors for two CPU cores. Noise and sampled plies follow the number of moves and the length of the games.

Tic-tac-toe takes some five minutes and answers all eleven positions of the AlphaZero tutorial; with half the
playouts and an exploration of 0.4 all games were soon the same draw, and it answered five.

Reversi takes some fifteen minutes. With an exploration of 1 the 32 playouts spread over all moves, and the
policy hardly learned (a loss of 1.94, not 1.79): 62 points of 100 against the tutorial's opponent, not 98.

Shogi is no small game: its factors, 210 steps with games cut after 77 plies, are to show that the
configuration runs. They were tried with half the steps and with games cut after 15 plies only.
"""
