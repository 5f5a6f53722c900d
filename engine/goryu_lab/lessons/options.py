"""What the user of `goryu learn` can change. Without PyTorch, so that `goryu learn --help` needs none."""

from dataclasses import dataclass

from goryu.base.config_fields import MOST_WHOLE, check_ranges, option, ranged
from goryu_lab.lessons.pseudocode_config import SMALL_GAMES


@dataclass(frozen=True, slots=True)
class TutorialOptions:
    """The options of every tutorial, and after `seed` those of some. Raises InputError for bad numbers."""

    match_games: int = ranged(100, "games of each match", least=2)
    seed: int = ranged(1, "seed of all random numbers", least=0, most=2**63 - 1)
    cycles: int | None = ranged(None, "cycles of AlphaZero's loop", most=MOST_WHOLE)
    value_games: int | None = ranged(None, "games that train a value network", most=MOST_WHOLE)
    value_only: bool = option(False, "skip AlphaZero's loop")

    def __post_init__(self) -> None:
        check_ranges(self)


LOOP_OPTIONS = ("playouts", "search", "temperature", "games_per_cycle", "steps_per_cycle", "window_positions",
                "batch", "evaluation_games")  # fmt: skip
"""The fields of `AlphaZeroConfig` that `goryu learn tictactoe` has as options."""


@dataclass(frozen=True, slots=True)
class NetworkSize:
    """The size of a residual network. Raises InputError."""

    blocks: int = ranged(1, "residual blocks of the network", most=100)
    channels: int = ranged(32, "channels of the network", most=4096)

    def __post_init__(self) -> None:
        check_ranges(self)


PUBLISHED_SIZE = NetworkSize(blocks=16, channels=128)
"""That of the AlphaZero tutorial."""


@dataclass(frozen=True, slots=True)
class LessonOptions:
    """The opponents, in turn, and how often a network is written. Raises InputError for a bad number."""

    opponents: tuple[str, ...] = ("greedy",)
    checkpoint_every: int = ranged(30, "games between two checkpoints")

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True)
class PseudocodeOptions:
    """How the pseudocode runs. board: the game. Raises InputError for a bad number."""

    board: str = "tictactoe"
    actors: int = ranged(1, "processes that play")
    untried: str = option(
        "lost",
        "value of an untried move: a loss, as published, or reduced, our first play urgency",
        choices=("lost", "reduced"),
    )
    as_published: bool = option(
        False, "search the pseudocode's tree, learn its visits, and do not rotate or reflect positions"
    )

    def __post_init__(self) -> None:
        check_ranges(self)
        assert self.board in SMALL_GAMES
