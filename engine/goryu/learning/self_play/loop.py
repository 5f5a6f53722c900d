"""The loop of self-play, training and evaluation, for shogi and on disk.

    champion plays itself -> challenger learns from the last cycles' games -> match -> the winner plays on

as in AlphaGo Zero (Silver et al., Nature, 2017). `learning/alphazero.py` is the same loop in a page, in
memory and for any game; this one has files at every step, so that a run of days can be killed and goes on,
and several processes. Everything of cycle 7 is in `cycle-007/`: `self.games`, `train/` (checkpoint, log),
`network.onnx`, `match.json`. A step is done if its file is there; cycle 0 is the network at the start.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

import torch

from goryu.agents.arena import Score, play_game, result
from goryu.evaluators.named_networks import open_network
from goryu.files import atomic_write
from goryu.games.shogi import Rules
from goryu.games.state import Move, State
from goryu.implementation import Board, Puct
from goryu.learning.records.summary import GameTally
from goryu.learning.self_play import workers
from goryu.learning.self_play.game import SelfPlaySettings
from goryu.learning.training.dataset import Source, load
from goryu.learning.training.export import export_onnx
from goryu.learning.training.network import PolicyValueNet
from goryu.learning.training.train import TrainingConfig, load_initial, train
from goryu.match.openings import Opening
from goryu.search.config import PuctConfig
from goryu.search.evaluator import Evaluator

__all__ = ["Cycle", "LoopSettings", "run_loop", "shogi_match"]

RANDOM_PLIES = 4
"""Random moves after the opening of a match."""

MATCH_BATCH = 4
"""Positions a network call in the match: what one CPU core likes best."""


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """Every number of a loop; `tools/selfplay.py loop --help` says what they mean."""

    self_play: SelfPlaySettings = field(default_factory=SelfPlaySettings)
    openings: tuple[Opening, ...] = (Opening(),)
    initial: Path | None = None
    blocks: int = 5
    channels: int = 64
    cycles: int = 10
    games: int = 200
    window: int = 4
    steps: int = 400
    batch_size: int = 256
    learning_rate: float = 5e-4
    result_weight: float = 0.5
    match_games: int = 40
    match_playouts: int = 100
    promotion: float = 0.5
    source: tuple[Source, ...] = ()
    device: str = "cpu"
    processes: int = 1
    at_once: int = 32
    backend: str = "cpu"
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises ValueError for numbers that make no loop."""
        for name in ("cycles", "games", "window"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: expected more than 0, received {getattr(self, name)}")
        for name in ("cheap_playouts", "full_playouts"):  # Without a search there is nothing to learn from.
            if (playouts := getattr(self.self_play, name)) < 1:
                raise ValueError(f"{name}: expected more than 0, received {playouts}")
        if self.match_games < 0 or self.match_games % 2:
            raise ValueError(f"match_games: expected an even number or 0, received {self.match_games}")


@dataclass(frozen=True, slots=True)
class Cycle:
    """What happened in a cycle; score: the challenger's (None: there was no match)."""

    number: int
    games: int
    positions: int
    losses: dict[str, float]
    score: Score | None
    is_promoted: bool

    def __str__(self) -> str:
        losses = ", ".join(f"{name} {loss:.3f}" for name, loss in self.losses.items())
        match = "no match" if self.score is None else f"challenger {self.score}"
        return (
            f"cycle {self.number}: {self.games} games, {self.positions} positions; losses: {losses}; "
            f"{match}; {'promoted' if self.is_promoted else 'not promoted'}"
        )


def run_loop(
    settings: LoopSettings, folder: Path, report: Callable[[GameTally], None] = lambda tally: None
) -> Iterator[Cycle]:
    """Runs the cycles that the folder does not hold yet and yields all of them, the finished ones too.

    report: called after every game of self-play.
    """
    champion = _initialise(settings, folder / "cycle-000")
    for number in range(1, settings.cycles + 1):
        cycle = folder / f"cycle-{number:03}"
        cycle.mkdir(parents=True, exist_ok=True)
        name = f"self-play, cycle {number}"
        work = workers.PlayWork(
            name, settings.self_play, settings.openings, settings.seed + number, settings.games
        )
        played = workers.run(
            work, champion / "network.onnx", cycle / "self.games",
            processes=settings.processes, at_once=settings.at_once, backend=settings.backend, report=report,
        )  # fmt: skip
        losses = _train(settings, folder, number, champion)
        score = None
        if settings.match_games:
            score = _match(settings, cycle, champion)
        is_promoted = score is None or score.points > settings.promotion
        yield Cycle(number, played.games, played.positions, losses, score, is_promoted)
        if is_promoted:
            champion = cycle


def _initialise(settings: LoopSettings, folder: Path) -> Path:
    """Writes the first champion, unless it is there; returns its folder."""
    network = folder / "network.onnx"
    if not network.exists():
        if settings.initial is None:
            torch.manual_seed(settings.seed)
            net = PolicyValueNet(settings.blocks, settings.channels)
        else:
            net = load_initial(settings.initial, settings.blocks, settings.channels)
        folder.mkdir(parents=True, exist_ok=True)
        if settings.initial is None or settings.initial.suffix != ".onnx":
            (folder / "train").mkdir(exist_ok=True)
            torch.save({"averaged": net.state_dict()}, folder / "train" / "checkpoint.pt")
        export_onnx(net, network)
    return folder


def _train(settings: LoopSettings, folder: Path, number: int, champion: Path) -> dict[str, float]:
    """Trains the challenger from the champion's weights on the last cycles' games; returns its losses."""
    cycle = folder / f"cycle-{number:03}"
    first = max(1, number - settings.window + 1)
    sources = [
        Source(folder / f"cycle-{i:03}" / "self.games", settings.self_play.scale, settings.result_weight)
        for i in range(first, number + 1)
    ]
    network = cycle / "network.onnx"
    if not network.exists():
        training, _ = load([*sources, *settings.source], held_out=0.0, seed=settings.seed)
        config = TrainingConfig(
            blocks=settings.blocks, channels=settings.channels, batch_size=settings.batch_size,
            steps=settings.steps, learning_rate=settings.learning_rate, smoothing=0.0, evaluations=4,
            average=0.99, seed=settings.seed + number, device=settings.device, threads=settings.processes,
        )  # fmt: skip
        checkpoint = champion / "train" / "checkpoint.pt"  # none of a first champion from an exported file
        initial = checkpoint if checkpoint.exists() else champion / "network.onnx"
        net = train(config, training, {}, cycle / "train", initial=initial)
        export_onnx(net, network)
    last = json.loads((cycle / "train" / "log.jsonl").read_text().splitlines()[-1])
    return {"policy": last["policy_loss"], "value": last["value_loss"]}


def _match(settings: LoopSettings, cycle: Path, champion: Path) -> Score:
    """Plays the challenger against the champion, unless the result is there."""
    path = cycle / "match.json"
    if not path.exists():
        challenger, old = (
            open_network(folder / "network.onnx", batch_size=MATCH_BATCH, backend=settings.backend)
            for folder in (cycle, champion)
        )
        rng, games = Random(settings.seed + 1), settings.match_games
        score = shogi_match(
            challenger,
            old,
            settings.openings,
            games,
            settings.match_playouts,
            settings.self_play.max_plies,
            rng,
        )
        atomic_write(path, json.dumps(asdict(score)))
    return Score(**json.loads(path.read_text()))


def shogi_match(
    challenger: Evaluator,
    champion: Evaluator,
    openings: tuple[Opening, ...],
    games: int,
    playouts: int,
    max_plies: int,
    rng: Random,
) -> Score:
    """Plays pairs of games with swapped colours and returns the challenger's score.

    An opening starts each pair, after it four plies drawn at random make the games differ.
    """
    score = Score(0, 0, 0)
    for _ in range(games // 2):
        start = _random_start(rng.choice(openings), max_plies, rng)
        for side in (0, 1):
            agents = [_Agent(evaluator, playouts) for evaluator in (challenger, champion)]
            final = play_game(agents[side], agents[1 - side], start.copy())
            points = result(final) if side == 0 else -result(final)
            score += Score(int(points > 0), int(points == 0), int(points < 0))
    return score


def _random_start(opening: Opening, max_plies: int, rng: Random) -> Board:
    while True:
        board = Board(opening.sfen, Rules(max_ply=max_plies, all_moves=False))
        for move in opening.moves:
            board.push_usi(move)
        for _ in range(RANDOM_PLIES):
            if board.outcome() is None:
                board.push(rng.choice(board.legal_moves()))
        if board.outcome() is None:
            return board


class _Agent:
    """Plays the most visited move of a search that keeps its graph during the game."""

    def __init__(self, evaluator: Evaluator, playouts: int) -> None:
        self._search = Puct(evaluator, PuctConfig(batch_size=MATCH_BATCH))
        self._playouts = playouts

    def __call__(self, state: State) -> Move:
        found = self._search.search(state, lambda stats: stats.is_proven, max_playouts=self._playouts)
        return found.moves[0].move
