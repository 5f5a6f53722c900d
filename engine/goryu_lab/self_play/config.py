"""Every number of self-play; without PyTorch, so that `goryu selfplay --help` is quick."""

from dataclasses import dataclass

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError


@dataclass(frozen=True, slots=True)
class SelfPlayConfig:
    """How games are played and which of their positions are recorded. Raises InputError for bad numbers.

    cheap_playouts, full_playouts: with 0 the moves are drawn from the network's policy.
    considered: most moves of a position that a search tries. scale: centipawns at which the recorded win odds
        are e : 1.
    target_scale: `c_scale` of the recorded policies. The policies by which a search chooses its moves are too
        confident to be learned: they take every error of the network's values for knowledge. 0.2 was best for
        64 and for 128 playouts of goryu-5x64 on 245 held-out positions of Fairy-Stockfish's games: its moves
        cost the network's own policy 2.14 nats and the policy of 64 playouts 2.72 at 1, 2.18 at 0.5, 2.04 at
        0.2 and 2.06 at 0.1. It was not tested by a match.
    """

    cheap_playouts: int = ranged(12, "playouts of most searches, which only choose the move", least=0)
    full_playouts: int = ranged(64, "playouts of the searches whose positions are recorded", least=0)
    full_share: float = ranged(
        0.3,
        "share of the moves that get a full search; approximate, but exact with 0 cheap playouts",
        least=0,
    )
    considered: int = ranged(16)
    random_plies: tuple[int, int] = option((0, 6), "least and greatest number of random moves at the start")
    sampled_plies: int = ranged(
        12, "moves after the random ones that are drawn from the search's policy", least=0
    )
    mate_nodes: int = ranged(300, "nodes of the mate search before every move; 0: no mate search", least=0)
    resign_value: float = ranged(
        -0.94, "greatest value, from -1 to +1, at which a side gives up hope", least=-1, most=1
    )
    resign_moves: int = ranged(3, "a side resigns after this many hopeless moves in a row; 0: never", least=0)
    control_share: float = ranged(
        0.1, "share of the games played to the end, to check the resignations", least=0, most=1
    )
    max_plies: int = ranged(320, "moves after which a game is a draw")
    scale: float = ranged(600.0)
    target_scale: float = ranged(0.2)

    def __post_init__(self) -> None:
        check_ranges(self)
        least, most = self.random_plies
        if not 0 <= least <= most:
            raise InputError(f"random_plies {least} {most}: expected 0 <= MIN <= MAX")


@dataclass(frozen=True, slots=True)
class LeafConfig:
    """Which positions are searched, and how many leaves of each search are recorded.

    inner_share: of the leaves that are replaced by a position on the way to them.

    Few leaves of many games teach more than many leaves of few games (`models/goryu-5x64-runs.md`, run 13).

    Raises InputError for bad numbers.
    """

    playouts: int = ranged(120, "playouts of each search")
    leaves: int = ranged(12, "most leaves of a search to record")
    share: float = ranged(0.05, "share of the positions with a score that are searched", least=0, most=1)
    inner_share: float = ranged(0.25, least=0, most=1)

    def __post_init__(self) -> None:
        check_ranges(self)
