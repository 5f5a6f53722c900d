"""Ten levels of strength, from a child's first opponent to the full strength of the engine.

A level below the last is a player who looks at few positions and misjudges what it sees. Three things make
it weaker, and all of them grow gradually, so that a level is neither perfect in one move nor absurd in the
next:

- It makes a fixed number of playouts, whatever the clock and the speed of the machine.
- It considers the moves that come to a player's mind: those of the network's policy at a higher temperature,
  and for beginners also those that catch a beginner's eye (captures, checks, steps forward).
- It draws one of them at random, the less often the worse the move:

      weight(a) = P(a)^(1/temperature) * ((1 - blindness) * exp(-loss(a) / tolerance) + blindness)

  Blindness is the chance to overlook what is wrong with a move. No move loses more than `worst`.

The loss is in win rate, as a GUI shows it (`level_moves.py`). Between beginners an extra piece is far from
a won game. By the win rate of strong players all moves of a lost position would cost nothing.

A player of any level takes a mate that it can see, and a valuable piece that is free: see `obvious_gain`.
Source of exp(-loss): McKelvey and Palfrey, "Quantal Response Equilibria", 1995.
"""

from dataclasses import dataclass, replace

from goryu.base.errors import InputError
from goryu.base.language import language, tr
from goryu.evaluators.network.model_files import shipped_model
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig

FULL_STRENGTH = 10
"""The number of the level that leaves the engine as the options configure it."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level; a higher `number` is stronger.

    english, japanese: its name. about: one line for users, a text of `tr`.
    elo: its rating, on a scale of Goryu's own; docs/levels.md tells how it was measured.
    playouts: for each move; 0 for no limit of the level's own.
    temperature: of the policy; 1 is the network's.
    tolerance: the loss at which a move is e times less likely.
    blindness: see above. worst: the greatest loss of a move.
    naivety: the share of moves in mind that catch a beginner's eye, in [0, 1].
    least_prior: no move is considered whose probability is smaller than this share of the greatest.
    obvious_gain: the value of a piece, in pawns, that the player never refuses when it is free.
    mate_plies: the longest mate that the player sees. sees_threats: that the opponent threatens mate in one.
    leaf_mate_nodes: budget of the mate search at the positions of its search.
    """

    number: int
    english: str
    japanese: str
    about: str
    elo: int
    playouts: int = 0
    temperature: float = 1.0
    tolerance: float = 0.0
    blindness: float = 0.0
    worst: float = 0.0
    naivety: float = 0.0
    least_prior: float = 0.01
    obvious_gain: int = 5
    mate_plies: int = 1
    sees_threats: bool = True
    leaf_mate_nodes: int = 0

    @property
    def is_full_strength(self) -> bool:
        """Does this level leave the engine as it is configured?"""
        return self.number == FULL_STRENGTH

    @property
    def name(self) -> str:
        """The name in the user's language."""
        return self.japanese if language() == "ja" else self.english


# fmt: off
LEVELS: tuple[Level, ...] = (
    Level(1, "Chick", "ひよこ", "a child's first opponent", 500,
          playouts=1, temperature=3.25, tolerance=0.37, blindness=0.40, worst=0.68, naivety=0.81,
          least_prior=0.0014, obvious_gain=8, sees_threats=False),
    Level(2, "Squirrel", "りす", "has just learned the moves", 800,
          playouts=1, temperature=2.6, tolerance=0.22, blindness=0.20, worst=0.50, naivety=0.5,
          least_prior=0.003, obvious_gain=8, sees_threats=False),
    Level(3, "Rabbit", "うさぎ", "takes what is free", 1050,
          playouts=1, temperature=2.35, tolerance=0.175, blindness=0.147, worst=0.437, naivety=0.37,
          least_prior=0.004, sees_threats=False),
    Level(4, "Raccoon", "たぬき", "defends what is attacked, most of the time", 1300,
          playouts=1, temperature=2.18, tolerance=0.147, blindness=0.116, worst=0.394, naivety=0.29,
          least_prior=0.0052, sees_threats=False),
    Level(5, "Fox", "きつね", "builds castles, sees mates in three", 1550,
          playouts=1, temperature=1.97, tolerance=0.119, blindness=0.082, worst=0.344, naivety=0.207,
          least_prior=0.007, mate_plies=3),
    Level(6, "Monkey", "さる", "seldom gives a piece away", 1825,
          playouts=1, temperature=1.76, tolerance=0.091, blindness=0.051, worst=0.292, naivety=0.126,
          least_prior=0.009, obvious_gain=3, mate_plies=3),
    Level(7, "Wolf", "おおかみ", "makes small mistakes only", 2050,
          playouts=1, temperature=1.55, tolerance=0.0625, blindness=0.0265, worst=0.2335, naivety=0.058,
          least_prior=0.012, obvious_gain=3, mate_plies=5),
    Level(8, "Bear", "くま", "reads a few moves ahead", 2275,
          playouts=3, temperature=1.295, tolerance=0.0325, blindness=0.0088, worst=0.155,
          least_prior=0.0187, obvious_gain=3, mate_plies=5),
    Level(9, "Tiger", "とら", "makes hardly a mistake", 2475,
          playouts=7, temperature=1.06, tolerance=0.017, blindness=0.002, worst=0.096,
          least_prior=0.02, obvious_gain=1, mate_plies=7),
    Level(10, "Dragon", "竜", "full strength: uses all of its time", 2975),
)
"""Every level; `LEVELS[n - 1]` has the number n."""
# fmt: on


def level_by_name(text: str) -> Level:
    """Returns the level with this number or name; raises InputError."""
    wanted = text.strip().lower()
    for level in LEVELS:
        if wanted in (str(level.number), level.english.lower(), level.japanese):
            return level
    names = ", ".join(f"{level.number} {level.name}" for level in LEVELS)
    raise InputError(tr("level {text!r}: expected one of {names}", text=text, names=names))


def level_by_elo(elo: int) -> Level:
    """Returns the level whose rating is nearest."""
    return min(LEVELS, key=lambda level: abs(level.elo - elo))


def level_of(config: EngineConfig) -> Level:
    """Returns the level at which an engine with this config plays; usually full strength."""
    if config.level:
        return LEVELS[config.level - 1]
    return level_by_elo(config.elo) if config.limits_strength else LEVELS[-1]


def level_of_move(config: EngineConfig, limits: Limits) -> Level | None:
    """Returns the level of a move; None at full strength, by another algorithm, and in an analysis."""
    level = level_of(config)
    is_analysis = limits.infinite or limits.root_moves
    return None if level.is_full_strength or is_analysis or config.algorithm.name != "puct" else level


def evaluator_of(config: EngineConfig) -> EvaluatorConfig:
    """Returns the config of the evaluator with which an engine with this config plays.

    The levels below full strength were measured with goryu-5x64, so they do not take the default of
    the engine, which depends on the machine; a network that the user names is also theirs.
    """
    if config.evaluator.model or level_of(config).is_full_strength:
        return config.evaluator
    return replace(config.evaluator, model=str(shipped_model()))


def at_level(config: EngineConfig, level: Level) -> EngineConfig:
    """Returns the config of the search of a level.

    The playouts are the level's, and each search starts from nothing: neither the machine's speed nor what an
    earlier search found changes the strength.
    """
    if level.is_full_strength:
        return config
    return replace(
        config,
        nodes=level.playouts,
        depth=0,
        reuses_subtree=False,
        mate=replace(config.mate, leaf_nodes=level.leaf_mate_nodes, nodes_per_visit=0, reply_nodes=0),
        search=replace(config.search, final_move="visits"),
    )


def limits_at_level(limits: Limits, level: Level) -> Limits:
    """Returns the limits of a search of a level: the clock's, and at most the level's playouts."""
    if level.is_full_strength:
        return limits
    nodes = level.playouts if limits.nodes is None else min(limits.nodes, level.playouts)
    return replace(limits, nodes=nodes, depth=None)
