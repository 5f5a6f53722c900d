"""The numbers of a lesson of reversi. Without PyTorch, so that `goryu lesson --help` needs none."""

from dataclasses import asdict, dataclass, field
from typing import Any

from goryu.errors import InputError
from goryu.ranges import MOST_WHOLE


def number(default: Any, text: str) -> Any:
    """Returns a field of `LessonConfig` with its help."""
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True, slots=True)
class LessonConfig:
    """Every number of a lesson; the defaults are those of the tutorial."""

    size: int = number(8, "squares a side: 4, 6 or 8")
    games: int = number(1500, "games to learn from")
    discount: float = number(0.8, "gamma: the target loses this factor with every own turn to come")
    epsilon: float = number(0.9, "share of random moves in the first games")
    epsilon_decay: float = number(0.9, "factor on epsilon after every --epsilon-every games")
    epsilon_every: int = number(30, "games between two decays of epsilon")
    batch: int = number(256, "positions of an update")
    updates: int = number(1, "updates after --games-together games")
    games_together: int = number(3, "games between two updates")
    window: int = number(3, "games whose positions an update samples from")
    learning_rate: float = number(0.001, "Adam's learning rate")
    filters: int = number(32, "filters of each convolution")
    layers: int = number(2, "convolutions")
    hidden: int = number(512, "width of the dense layer")
    depth: int = number(2, "plies that the learner looks ahead")
    both_sides: bool = number(False, "play every second game as the second player")
    symmetries: bool = number(False, "rotate and reflect positions at random")
    checkpoint_every: int = number(30, "games between two checkpoints")
    seed: int = number(1, "seed of all random numbers")

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
                option = name.replace("_", "-")
                raise InputError(f"--{option} {value}: expected at least 1 and at most {MOST_WHOLE}")
        if self.checkpoint_every % self.games_together:
            expected = f"a multiple of --games-together ({self.games_together})"
            raise InputError(f"--checkpoint-every {self.checkpoint_every}: expected {expected}")
