"""The numbers of a lesson of reversi. Without PyTorch, so that `goryu lesson --help` needs none."""

from dataclasses import asdict, dataclass

from goryu.base.config_fields import MOST_WHOLE, option
from goryu.base.errors import InputError


@dataclass(frozen=True, slots=True)
class LessonConfig:
    """Every number of a lesson; the defaults are those of the tutorial."""

    size: int = option(8, "squares a side: 4, 6 or 8")
    games: int = option(1500, "games to learn from")
    discount: float = option(0.8, "gamma: the target loses this factor with every own turn to come")
    epsilon: float = option(0.9, "share of random moves in the first games")
    epsilon_decay: float = option(0.9, "factor on epsilon after every --epsilon-every games")
    epsilon_every: int = option(30, "games between two decays of epsilon")
    batch: int = option(256, "positions of an update")
    updates: int = option(1, "updates after --games-together games")
    games_together: int = option(3, "games between two updates")
    window: int = option(3, "games whose positions an update samples from")
    learning_rate: float = option(0.001, "Adam's learning rate")
    filters: int = option(32, "filters of each convolution")
    layers: int = option(2, "convolutions")
    hidden: int = option(512, "width of the dense layer")
    depth: int = option(2, "plies that the learner looks ahead")
    both_sides: bool = option(False, "play every second game as the second player")
    symmetries: bool = option(False, "rotate and reflect positions at random")
    checkpoint_every: int = option(30, "games between two checkpoints")
    seed: int = option(1, "seed of all random numbers")

    def check(self) -> None:
        """Raises InputError for numbers with which nothing can be learnt."""
        if self.size not in (4, 6, 8):
            raise InputError(f"--size {self.size}: expected 4, 6 or 8")
        if self.layers >= self.size:
            raise InputError(f"--layers {self.layers}: expected at most {self.size - 1} on this board")
        for name in ("discount", "epsilon", "epsilon_decay"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                option = name.replace("_", "-")
                raise InputError(f"--{option} {getattr(self, name):g}: expected a number from 0 to 1")
        if not 0.0 < self.learning_rate < 10.0:
            raise InputError(f"--learning-rate {self.learning_rate:g}: expected more than 0, at most 10")
        for name, value in asdict(self).items():
            if type(value) is int and name not in ("seed", "size") and not 1 <= value <= MOST_WHOLE:
                shown = name.replace("_", "-")
                raise InputError(f"--{shown} {value}: expected at least 1 and at most {MOST_WHOLE}")
        if self.checkpoint_every % self.games_together:
            expected = f"a multiple of --games-together ({self.games_together})"
            raise InputError(f"--checkpoint-every {self.checkpoint_every}: expected {expected}")
