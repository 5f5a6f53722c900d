"""Every number of self-play and of its loop; without PyTorch, so that `goryu selfplay --help` is quick."""

from dataclasses import dataclass, field
from pathlib import Path

from goryu.base.config_fields import check_ranges, option, ranged
from goryu.base.errors import InputError
from goryu.learning.training.dataset import Source
from goryu.match.openings import Opening
from goryu.work.cluster import ClusterConfig


@dataclass(frozen=True, slots=True)
class SelfPlayConfig:
    """How games are played and which of their positions are recorded. Raises InputError for bad numbers.

    cheap_playouts, full_playouts: with 0 the moves are drawn from the network's policy.
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
    considered: int = ranged(16, "most moves of a position that a search tries (Gumbel search)")
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
    scale: float = ranged(600.0, "centipawns at which the recorded win odds are e : 1")
    target_scale: float = ranged(0.2, "sharpness of the recorded policies; Gumbel search's c_scale")

    def __post_init__(self) -> None:
        check_ranges(self)
        least, most = self.random_plies
        if not 0 <= least <= most:
            raise InputError(f"random_plies {least} {most}: expected 0 <= MIN <= MAX")


@dataclass(frozen=True, slots=True)
class LeafConfig:
    """Which positions are searched, and how many leaves of each search are recorded.

    Few leaves of many games teach more than many leaves of few games (`models/goryu-5x64.md`, run 13).

    Raises InputError for bad numbers.
    """

    playouts: int = ranged(120, "playouts of each search")
    leaves: int = ranged(12, "most leaves of a search to record")
    share: float = ranged(0.05, "share of the positions with a score that are searched", least=0, most=1)
    inner_share: float = ranged(
        0.25, "share of the leaves that are replaced by a position on the way to them", least=0, most=1
    )

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """Every number of the loop of self-play, training and match. Raises InputError for bad numbers."""

    self_play: SelfPlayConfig = field(default_factory=SelfPlayConfig)
    openings: tuple[Opening, ...] = (Opening(),)
    initial: Path | None = None
    source: tuple[Source, ...] = ()
    blocks: int = ranged(5, "residual blocks of the network", least=0)
    channels: int = ranged(64, "channels of every convolution in the tower")
    cycles: int = ranged(10, "cycles of self-play, training and match")
    games: int = ranged(200, "games of self-play in a cycle")
    window: int = ranged(4, "train on the games of this many cycles, the current one included")
    steps: int = ranged(400, "training steps in a cycle")
    batch_size: int = ranged(256, "positions in a training step")
    learning_rate: float = ranged(5e-4, "peak of the learning rate in each cycle")
    result_weight: float = ranged(
        0.5, "share of the game's result in the value target, from 0 to 1", least=0, most=1
    )
    match_games: int = ranged(40, "games of the challenger against the champion; 0: always promote", least=0)
    match_playouts: int = ranged(100, "playouts a move in the match")
    promotion: float = ranged(
        0.5, "points a game that the challenger must exceed to become champion", least=0, most=1
    )
    device: str = option("cpu", "device of the training: cpu or cuda")
    processes: int = 1
    cluster: ClusterConfig | None = None
    at_once: int = 32
    backend: str = "cpu"
    gpus: tuple[int, ...] = (0,)
    seed: int = ranged(0, least=0, most=2**63 - 1)

    def __post_init__(self) -> None:
        check_ranges(self)
        for name in ("cheap_playouts", "full_playouts"):  # Without a search there is nothing to learn.
            if (playouts := getattr(self.self_play, name)) < 1:
                raise InputError(f"{name}: expected more than 0, received {playouts}")
        if self.match_games % 2:
            raise InputError(f"match_games: expected an even number or 0, received {self.match_games}")
