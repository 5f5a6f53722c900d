"""Every setting of the engine, typed, with its default; and the one place where user units become our own.

Users know values on the win-rate scale, [0, 1], in percent or per mille (‰); the search
works in [-1, +1]. A difference on the first scale is twice as large on the second.
"""

from dataclasses import dataclass

from goryu.players.books.config import BookFile, BookSettings
from goryu.players.time_manager import TimeSettings
from goryu.search.puct import PuctConfig

__all__ = ["EngineConfig", "EvaluatorSettings", "LoadedSettings", "OccasionalSettings", "RandomSettings"]


@dataclass(frozen=True, slots=True)
class EvaluatorSettings:
    """What decides which evaluator is loaded; a change of any of these loads it anew.

    kind: "network", "material", "uniform" or "hashed".
    model: a path, or a name in the models folder; "" for the network shipped with Goryu.
    model_folder: where a relative path is looked for first; "" for nowhere.
    backend: "auto", "tensorrt", "cuda", "directml" or "cpu".
    batch_size: positions per network call, at most; 0 leaves it to the backend.
    temperature: the policy's Boltzmann temperature; 1 leaves the network's policy as it is.
    """

    kind: str
    model: str
    model_folder: str
    backend: str
    allows_fallback: bool
    batch_size: int
    threads: int
    device: int
    temperature: float


LoadedSettings = tuple[EvaluatorSettings, BookFile]
"""What decides which files are loaded."""


@dataclass(frozen=True, slots=True)
class RandomSettings:
    """Sampling of the first moves by visit counts, the first book's rule for its opening plies.

    plies: up to this ply. temperature: 1 is proportional to the visits, more is more even; it falls by
    `temperature_drop` with each own move. cutoff: how much worse than the best a sampled move may be, as a
    difference of values in [0, 2]; it falls by `cutoff_drop` with each own move.
    """

    plies: int
    temperature: float
    temperature_drop: float
    cutoff: float
    cutoff_drop: float


@dataclass(frozen=True, slots=True)
class OccasionalSettings:
    """Sampling of single moves by visit counts, dlshogi's second way to make games differ.

    plies: up to this ply. probability: of sampling a move at all. temperature, cutoff: as above.
    value_limit: in [-1, +1]; positions that stand better than this are not tampered with.
    """

    plies: int
    probability: float
    temperature: float
    cutoff: float
    value_limit: float


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """The settings as users know them: units are part of the names, the defaults are the engine's.

    The options of the USI protocol (`protocols/options.py`) are a table over these fields.
    """

    # Evaluator.
    evaluator: str = "network"
    model: str = ""
    model_folder: str = ""
    backend: str = "auto"
    allows_fallback: bool = True
    device: int = 0
    batch_size: int = 0
    threads: int = 2
    softmax_temperature_percent: int = 150

    # Memory.
    hash_mb: int = 1024
    graph_capacity: int = 10_000_000

    # Search constants, on the win-rate scale.
    c_init_percent: int = 125
    c_base: int = 19652
    c_fpu_reduction_percent: int = 18
    c_init_root_percent: int = 125
    c_base_root: int = 19652
    c_fpu_reduction_root_percent: int = 5
    final_move: str = "lcb"
    leaf_mate_nodes: int = 40
    root_mate_nodes: int = 10_000
    solves_mates: bool = True
    pv_mate_search_threads: int = 0
    pv_mate_search_nodes: int = 500_000
    reuse_subtree: bool = True

    # Rules.
    moves_to_draw: int = 0
    draw_value_black_permille: int = 500
    draw_value_white_permille: int = 500
    entering_king_rule: str = "CSARule27"
    first_recurrence: bool = True
    generates_all_legal_moves: bool = False

    # Time.
    network_delay_ms: int = 30
    network_delay2_ms: int = 100
    time_margin_ms: int = 0
    minimum_thinking_time_ms: int = 0
    slow_mover_percent: int = 100
    does_round_up_to_full_second: bool = False
    stops_early_in_byoyomi: bool = False
    playout_limit: int = 0
    depth_limit: int = 0

    # Pondering, output, resignation.
    ponder: bool = False
    stochastic_ponder: bool = False
    multi_pv: int = 1
    pv_interval_ms: int = 300
    eval_coef: int = 600
    resign_threshold_permille: int = 0
    debug_message: bool = False
    log_file: str = ""

    # Opening books.
    own_book: bool = True
    book_file: str = ""
    book_folder: str = ""
    book_moves: int = 16
    book_ignore_rate_percent: int = 0
    best_book_move: bool = False
    considers_book_move_count: bool = False
    narrow_book: bool = False
    book_depth_limit: int = 16
    book_eval_diff: int = 30
    book_eval_black_limit: int = 0
    book_eval_white_limit: int = -140
    min_book_score: int = -3000
    flipped_book: bool = True
    ignores_book_ply: bool = True
    book_pv_moves: int = 8

    # Random openings.
    random_ply: int = 0
    random_temperature_permille: int = 1000
    random_temperature_drop_permille: int = 0
    random_cutoff_permille: int = 1000
    random_cutoff_drop_permille: int = 0
    random2_ply: int = 0
    random2_probability_permille: int = 40
    random2_temperature_permille: int = 10_000
    random2_cutoff_permille: int = 30
    random2_value_limit_permille: int = 750
    seed: int = 0

    def evaluator_settings(self) -> EvaluatorSettings:
        """Returns what decides which evaluator is loaded."""
        return EvaluatorSettings(
            kind=self.evaluator,
            model=self.model,
            model_folder=self.model_folder,
            backend=self.backend,
            allows_fallback=self.allows_fallback,
            batch_size=self.batch_size,
            threads=self.threads,
            device=self.device,
            temperature=self.softmax_temperature_percent / 100,
        )

    def loaded_settings(self) -> LoadedSettings:
        """Returns what decides whether something must be loaded before the next search."""
        return self.evaluator_settings(), self.opening_book()

    def time_settings(self) -> TimeSettings:
        """Returns what the time manager needs."""
        return TimeSettings(
            network_delay_ms=self.network_delay_ms,
            network_delay2_ms=self.network_delay2_ms,
            time_margin_ms=self.time_margin_ms,
            minimum_ms=self.minimum_thinking_time_ms,
            slow_mover_percent=self.slow_mover_percent,
            does_round_up=self.does_round_up_to_full_second,
            stops_early_in_byoyomi=self.stops_early_in_byoyomi,
            moves_to_draw=self.moves_to_draw,
            ponders=self.ponder,
        )

    def random_settings(self) -> RandomSettings:
        """Returns the sampling of the first moves, in [-1, +1]."""
        return RandomSettings(
            plies=self.random_ply,
            temperature=self.random_temperature_permille / 1000,
            temperature_drop=self.random_temperature_drop_permille / 1000,
            cutoff=difference_from_rate(self.random_cutoff_permille / 1000),
            cutoff_drop=difference_from_rate(self.random_cutoff_drop_permille / 1000),
        )

    def occasional_settings(self) -> OccasionalSettings:
        """Returns the sampling of single moves, in [-1, +1]."""
        return OccasionalSettings(
            plies=self.random2_ply,
            probability=self.random2_probability_permille / 1000,
            temperature=self.random2_temperature_permille / 1000,
            cutoff=difference_from_rate(self.random2_cutoff_permille / 1000),
            value_limit=value_from_rate(self.random2_value_limit_permille / 1000),
        )

    def opening_book(self) -> BookFile:
        """Returns which book is opened."""
        path = self.book_file if self.own_book else ""
        return BookFile(path, self.book_folder, self.ignores_book_ply)

    def book_settings(self) -> BookSettings:
        """Returns which of the book's moves may be played."""
        return BookSettings(
            max_ply=self.book_moves,
            ignore_rate=self.book_ignore_rate_percent / 100,
            plays_best=self.best_book_move,
            draws_by_count=self.considers_book_move_count,
            is_narrow=self.narrow_book,
            least_depth=self.book_depth_limit,
            most_worse_cp=self.book_eval_diff,
            least_cp=(
                max(self.book_eval_black_limit, self.min_book_score),
                max(self.book_eval_white_limit, self.min_book_score),
            ),
            flips=self.flipped_book,
            pv_moves=self.book_pv_moves,
        )

    def puct_config(self, turn: int, batch_size: int, memory_factor: int = 1) -> PuctConfig:
        """Returns the constants of the search on the scale [-1, +1], for a root with `turn` to move.

        batch_size: what the evaluator was made for.
        memory_factor: how many times the memory of the packed native table the one in use needs.
        """
        return PuctConfig(
            c_init=difference_from_rate(self.c_init_percent / 100),
            c_base=float(self.c_base),
            c_factor=difference_from_rate(1.0),
            c_init_root=difference_from_rate(self.c_init_root_percent / 100),
            c_base_root=float(self.c_base_root),
            fpu_reduction=difference_from_rate(self.c_fpu_reduction_percent / 100),
            fpu_reduction_root=difference_from_rate(self.c_fpu_reduction_root_percent / 100),
            batch_size=batch_size,
            capacity=self.graph_capacity,
            capacity_bytes=max((self.hash_mb << 20) // memory_factor, 1 << 20),
            final_move=self.final_move,
            mate_nodes=self.leaf_mate_nodes,
            draw_value=self.draw_value(turn),
            threads=self.threads,
        )

    def draw_value(self, turn: int) -> float:
        """Returns a draw's worth in [-1, +1] for the side `turn` (0: black), which is to move at the root."""
        permille = self.draw_value_white_permille if turn else self.draw_value_black_permille
        return value_from_rate(permille / 1000)

    @property
    def resign_value(self) -> float:
        """The value in [-1, +1] below which the engine resigns; -1 for never."""
        return value_from_rate(self.resign_threshold_permille / 1000)


def value_from_rate(win_rate: float) -> float:
    """Returns the value in [-1, +1] of a win rate in [0, 1].

    >>> value_from_rate(0.5)
    0.0
    """
    return 2.0 * win_rate - 1.0


def difference_from_rate(difference: float) -> float:
    """Returns a difference of win rates (or a constant that is added to them) on the scale [-1, +1]."""
    return 2.0 * difference
