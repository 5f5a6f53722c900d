"""The configuration of the engine: nested dataclasses, whose defaults are the engine's.

Values are in the search's units: results in [-1, +1], differences of results and exploration constants on the
same scale, twice the usual win-rate scale [0, 1]. The table of USI options (`usi/options.py`) names these
fields and converts the numbers that users know.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from goryu.players.agents.usi_traits import USI_TRAITS, UsiTraits
from goryu.players.books.config import BookConfig, BookFile
from goryu.players.clock.time_manager import TimeConfig
from goryu.players.set_up.memory import automatic_hash_bytes
from goryu.search.graph.config import Formula, PuctConfig

SEARCH = PuctConfig(
    Formula(fpu_reduction=0.36), Formula(fpu_reduction=0.1), capacity=10_000_000, capacity_bytes=0
)
"""The engine's constants, where they are not AlphaZero's; a network may have others in the file beside it."""

Value = bool | int | float | str
"""The value of a field that an option sets."""


MOST_DEVICES = 8


@dataclass(frozen=True, slots=True)
class DeviceConfig:
    """What one of several devices has of its own; "" or 0: the same as the first."""

    model: str = ""
    threads: int = 0
    batch_size: int = 0


@dataclass(frozen=True, slots=True)
class EvaluatorConfig:
    """Which evaluator is loaded, and how; a change of any field loads it again.

    kind: "network", "material", "uniform" or "hashed".
    model: a path, or a name in the models folder; "" for that of `model_path.default_model`.
    model_folder: where a relative path is looked for first; "" for nowhere.
    model_format: one of `detect.FORMAT_NAMES`.
    backend: one of `providers.BACKENDS`.
    device: number of the GPU, or of several as in "0,1"; -1 for the CPU, whatever the backend. `devices.py`
        tells what this and `more_devices` mean.
    fp16: does a GPU compute in 16-bit floats? "on", "off", or "auto" if the model answers nearly as before.
    batch_size: most positions per network call; 0 lets the backend choose.
    threads: of the native search for each device, or of the network if the search is the Python one; 0 for
        what was measured (`measuring.py`).
    temperature: the policy's Boltzmann temperature; 1 leaves the network's policy as it is.
    more_devices: what the second to the eighth have of their own.
    """

    kind: str = "network"
    model: str = ""
    model_folder: str = ""
    model_format: str = "auto"
    backend: str = "auto"
    allows_fallback: bool = True
    device: str = "0"
    fp16: str = "auto"
    batch_size: int = 0
    threads: int = 0
    temperature: float = 1.5
    more_devices: tuple[DeviceConfig, ...] = (DeviceConfig(),) * (MOST_DEVICES - 1)


@dataclass(frozen=True, slots=True)
class AlgorithmConfig:
    """Which search plays; a name of `USI_TRAITS`.

    leaf_value: what evaluates positions where alpha-beta stops: "material", or "network" for the evaluator.
    temperature: of a draw from the policy by `policy`; 0 plays the most probable move.
    """

    name: str = next(iter(USI_TRAITS))
    leaf_value: str = "material"
    temperature: float = 0.0

    @property
    def traits(self) -> UsiTraits:
        """What the algorithm tells a GUI."""
        return USI_TRAITS[self.name]


@dataclass(frozen=True, slots=True)
class MateConfig:
    """Mate searches; budgets in nodes.

    solves_mates: answer `go mate` by a search, not by `notimplemented`.
    leaf_nodes: at each new position of the graph; 0 for none. root_nodes: before each move; 0 for none.
    nodes_per_visit: again at positions that playouts visit often (`proof.SECOND_LOOKS`), for each of their
        visits; 0 for none.
    reply_nodes: see `reply_mates.py`; 0 for none.
    """

    solves_mates: bool = True
    leaf_nodes: int = 40
    nodes_per_visit: int = 8
    root_nodes: int = 10_000
    reply_nodes: int = 40_000


@dataclass(frozen=True, slots=True)
class RulesConfig:
    """The rules of the game.

    moves_to_draw: moves after which a game is drawn; 0 for never.
    draw_value_black, draw_value_white: value of a draw in [-1, +1] when the engine plays this colour.
    entering_king, first_recurrence, all_moves: as in `Rules`, but a search leaves out pointless moves.
    """

    moves_to_draw: int = 0
    draw_value_black: float = 0.0
    draw_value_white: float = 0.0
    entering_king: str = "CSARule27"
    first_recurrence: bool = True
    all_moves: bool = False

    def draw_value(self, turn: int) -> float:
        """Returns the value of a draw in [-1, +1] for the side `turn` (0: black) to move at the root."""
        return self.draw_value_white if turn else self.draw_value_black

    def draw_value_of_black(self, turn: int) -> float:
        """Returns the same value from black's side."""
        return -self.draw_value_white if turn else self.draw_value_black


@dataclass(frozen=True, slots=True)
class RandomOpeningConfig:
    """Sampling of the first moves by visit counts.

    plies: number of plies that are sampled; 0 for none.
    temperature: 1 samples in proportion to visits, a higher one more evenly; falls by `temperature_drop` with
        each move of the engine.
    cutoff: how much worse than the best a sampled move may be, in [0, 2]; falls by `cutoff_drop` likewise.
    """

    plies: int = 0
    temperature: float = 1.0
    temperature_drop: float = 0.0
    cutoff: float = 2.0
    cutoff_drop: float = 0.0


@dataclass(frozen=True, slots=True)
class OutputConfig:
    """The output during a search.

    lines: principal variations. interval_ms: between reports; 0 for only the last report.
    eval_coef: centipawns at which the odds to win are e : 1.
    shows_moves: show a table of all moves before the answer. table_order: its order, "visits" or "moves".
    log_file: path of the session's log; "" for none.
    """

    lines: int = 1
    interval_ms: int = 300
    eval_coef: int = 285  # FukauraOu's; least squares against Fairy-Stockfish's scores give 210 to 310.
    shows_moves: bool = False
    table_order: str = "visits"
    log_file: str = ""


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Everything that a USI option can set.

    search: without what `puct_config` fills in; `capacity_bytes` 0 means `automatic_hash_bytes`.
    clock: without the game's length, see `time_config`.
    nodes, depth: limits of a search for which `go` names neither; 0 for none. A node is a playout that
        needs an evaluation, or any playout (`UsiTraits.counts_playouts`).
    nodes_stop_early: end such a search of N nodes, and `go nodes N`, when its move is decided.
    resign_value, resign_value_percent: the engine resigns below the greater of these values in [-1, +1]; -1
        for never. Their options have different units.
    seed: of all random choices; 0 for a new one every time.
    level: at which moves of a game are played, a number of `levels.py`; 0 for full strength.
    limits_strength, elo: if `level` is 0 and the strength is limited, the nearest level is played.
    preset: the settings that are not the engine's own, a name of `usi/presets.py`.
    """

    evaluator: EvaluatorConfig = field(default_factory=EvaluatorConfig)
    algorithm: AlgorithmConfig = field(default_factory=AlgorithmConfig)
    search: PuctConfig = SEARCH
    mate: MateConfig = field(default_factory=MateConfig)
    rules: RulesConfig = field(default_factory=RulesConfig)
    clock: TimeConfig = field(default_factory=TimeConfig)
    book_file: BookFile = field(default_factory=BookFile)
    book: BookConfig = field(default_factory=BookConfig)
    random_opening: RandomOpeningConfig = field(default_factory=RandomOpeningConfig)
    output: OutputConfig = field(default_factory=OutputConfig)
    reuses_subtree: bool = True
    ponders_on_all_replies: bool = False
    nodes: int = 0
    depth: int = 0
    nodes_stop_early: bool = False
    resign_value: float = -1.0
    resign_value_percent: float = -1.0
    seed: int = 0
    level: int = 0
    limits_strength: bool = False
    elo: int = 1550
    preset: str = "none"

    @property
    def resigns_below(self) -> float:
        """The value in [-1, +1] below which the engine resigns."""
        return max(self.resign_value, self.resign_value_percent)

    def time_config(self) -> TimeConfig:
        """Returns the config of the time manager."""
        return replace(self.clock, moves_to_draw=self.rules.moves_to_draw)

    def hash_bytes(self, *, uses_gpu: bool) -> int:
        """Returns the memory for the search graph: the user's choice, or what suits the machine."""
        return self.search.capacity_bytes or automatic_hash_bytes(uses_gpu=uses_gpu)

    def puct_config(
        self, turn: int, batch_size: int, memory_factor: float = 1, *, uses_gpu: bool = False
    ) -> PuctConfig:
        """Returns the config of the search for a root with `turn` to move.

        batch_size, uses_gpu: of the evaluator.
        memory_factor: memory that the search needs over what its table counts.
        """
        return replace(
            self.search,
            batch_size=batch_size,
            capacity_bytes=max(int(self.hash_bytes(uses_gpu=uses_gpu) / memory_factor), 1 << 20),
            draw_value=self.rules.draw_value(turn),
        )


def with_fields(config: EngineConfig, values: Mapping[str, Value]) -> EngineConfig:
    """Returns a copy of the config with other values in some fields.

    >>> with_fields(EngineConfig(), {"mate.root_nodes": 5, "seed": 1}).mate.root_nodes
    5
    """
    for path, value in values.items():
        config = _with_field(config, path, value)
    return config


def value_at(config: Any, path: str) -> Value:
    """Returns the value of a field; a number in the path is a place in a tuple.

    >>> value_at(EngineConfig(), "evaluator.more_devices.0.threads")
    0
    """
    for name in path.split("."):
        config = config[int(name)] if name.isdigit() else getattr(config, name)
    value: Value = config
    return value


def _with_field(config: Any, path: str, value: Value) -> Any:
    name, _, rest = path.partition(".")
    if name.isdigit():
        place = int(name)
        return (*config[:place], _with_field(config[place], rest, value), *config[place + 1 :])
    return replace(config, **{name: _with_field(getattr(config, name), rest, value) if rest else value})
