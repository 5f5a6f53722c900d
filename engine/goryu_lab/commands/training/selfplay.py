r"""Lets a network play shogi against itself, labels old games anew, or improves a network in a loop.

    goryu selfplay play --model models/goryu-5x64.onnx --processes 2 --games 2000 \
        --openings tools/openings/balanced.txt --out runs/self.games
    goryu selfplay reanalyse runs/fsf.games --model models/goryu-5x64.onnx --playouts 64 \
        --share 0.5 --keep-scores --out runs/fsf-soft.games
    goryu selfplay reanalyse runs/fsf.games --model miniosl.onnx --playouts 0 \
        --out runs/fsf-distilled.games
    goryu selfplay play --model models/goryu-5x64.onnx --cheap-playouts 0 --full-playouts 0 \
        --full-share 1 --games 10000 --out runs/drawn.games
    goryu selfplay leaves runs/self.games --model models/goryu-5x64.onnx --processes 2 \
        --out runs/leaves.games
    goryu selfplay loop --folder runs/loop --initial runs/first/checkpoint.pt --cycles 5 --processes 2
    goryu selfplay loop --folder runs/tictactoe --game tictactoe --processes 2

With 0 playouts `play` draws every move from the network's policy. That gives many positions in little time;
`reanalyse` then labels them, or `goryu train --teacher`. With `--device` PyTorch runs the network for
thousands of such games at once. `leaves` searches the positions of games as the engine does and records
positions that the network evaluated in these searches, for `reanalyse` to label: most of them occur in no
game. `loop` is the loop of AlphaGo Zero: the champion plays itself, the training reads a window of its games,
and a network that wins a match against the champion is the next champion, all at the same time. `--cluster`
does the work on a Ray cluster. A killed run resumes when the same command is given again. `goryu teach show`
shows the files of games; `goryu train` trains on them.
"""

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.files import check_outputs, held_folder
from goryu.commands.common import (
    UsageError,
    add_verb,
    new_parser,
    program,
    run_verb,
)
from goryu.commands.config_options import add_fields, changed, from_arguments, given_options
from goryu.commands.progress_display import ProgressDisplay
from goryu.evaluators.network.named_networks import named_network
from goryu.evaluators.network.providers import CPU_BACKENDS
from goryu.players.set_up.model_path import named_model
from goryu_lab.commands.cluster_options import add_worker_options, new_pools, watcher
from goryu_lab.commands.training.selfplay_options import (
    MachineOptions,
    ReanalysisOptions,
    add_game_options,
    add_games,
    add_loop_options,
    add_out,
    add_run_options,
)
from goryu_lab.loop.config import LoopConfig, ShogiLoopConfig
from goryu_lab.match.openings import Opening, read_openings
from goryu_lab.records.game_records import GAMES_SUFFIX, GameRecord, read_games
from goryu_lab.records.summary import GameSummary
from goryu_lab.self_play.config import LeafConfig, SelfPlayConfig
from goryu_lab.work.processes import ProcessPool

if TYPE_CHECKING:
    from goryu_lab.loop.adapter import LoopGame
    from goryu_lab.self_play.workers import PlayWork, Work


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    again = "the same command resumes"
    return program("goryu selfplay", make_parser(), run_verb, arguments, extra="train", interrupted=again)


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    verbs = parser.add_subparsers(prog="goryu selfplay", required=True)

    play = add_verb(verbs, "play", _play, "play games")
    add_run_options(play)
    add_game_options(play)
    add_games(play)
    play.add_argument(
        "--device",
        metavar="NAME",
        help="draw all moves from the policy, with the network on this device of PyTorch (cpu, cuda)",
    )

    reanalyse = add_verb(verbs, "reanalyse", _reanalyse, "label old games anew")
    reanalyse.add_argument("games", type=Path, nargs="+", metavar="FILE.games", help="games to label")
    add_run_options(reanalyse)
    add_fields(reanalyse, ReanalysisOptions)

    leaves = add_verb(verbs, "leaves", _leaves, "record leaves of searches, to be labelled")
    leaves.add_argument("games", type=Path, nargs="+", metavar="FILE.games", help="games to search")
    leaves.add_argument(
        "--model", type=named_model, required=True, metavar="FILE.onnx", help="the network of the searches"
    )
    add_out(leaves)
    add_worker_options(leaves, "processes that play")
    add_fields(leaves, MachineOptions, ["seed"])
    add_fields(leaves, LeafConfig)

    loop = add_verb(verbs, "loop", _loop, "self-play, training and match in a loop")
    add_loop_options(loop)
    add_game_options(loop, fills=False)
    return parser


def _play(args: argparse.Namespace) -> None:
    from goryu_lab.self_play.workers import PlayWork

    _check_out(args.out)
    config = from_arguments(SelfPlayConfig, args)
    openings = _openings(args)
    playouts = f"{config.cheap_playouts} or {config.full_playouts} playouts"
    others = blake2b(repr((config, openings)).encode(), digest_size=3).hexdigest()
    teacher = (
        f"self-play of {named_network(args.model, args.temperature)}; {playouts}; options {others}; "
        f"seed {args.seed}"
    )
    work = PlayWork(teacher, config, openings, args.seed, args.games)
    if args.device is None:
        _run(args, work)
        return
    if config.cheap_playouts or config.full_playouts or args.processes or args.cluster:
        raise UsageError(
            "--device: for games without searches (--cheap-playouts 0 --full-playouts 0), in one process"
        )
    usual = SelfPlayConfig()
    if (config.full_share, config.sampled_plies) != (usual.full_share, usual.sampled_plies):
        raise UsageError("--device: expected no --full-share and --sampled-plies; it draws every move")
    if args.gpus or args.backend != "cpu":
        raise UsageError("--gpus and --backend are for onnxruntime; PyTorch's: --device cuda:1, for instance")
    _draw(args, work)


def _draw(args: argparse.Namespace, work: "PlayWork") -> None:
    """Plays the games that the file lacks on PyTorch's device."""
    from goryu_lab.self_play.drawn_games import Drawer, run_drawn
    from goryu_lab.training.device_network import DeviceNetwork

    on_gpu = not args.device.startswith("cpu")
    drawer = Drawer(DeviceNetwork(args.model, in_halves=on_gpu), args.device, args.temperature)
    with ProgressDisplay() as display:
        summary = run_drawn(work, drawer, args.out, args.at_once, reporter(display, work.size))
    print(f"{args.out}: {summary}; {summary.new_positions} positions are new")


def _reanalyse(args: argparse.Namespace) -> None:
    from goryu_lab.self_play.workers import ReanalysisWork

    games = _games(args)
    config = SelfPlayConfig(full_playouts=args.playouts)
    kept = " and the teacher" if args.keep_scores else ""
    share_label = f"; {args.share:g} of the positions" if args.share < 1.0 else ""
    danger_label = f"; danger {args.danger}" if args.danger else ""
    network = named_network(args.model, args.temperature)
    teacher = f"{network} at {args.playouts} playouts{kept}{share_label}{danger_label}; seed {args.seed}"
    _run(args, ReanalysisWork(teacher, config, games, args.share, args.keep_scores, args.seed, args.danger))


def _leaves(args: argparse.Namespace) -> None:
    from goryu.usi.start_config import start_config
    from goryu_lab.self_play import leaves, workers

    games = _games(args)
    config = from_arguments(LeafConfig, args)
    numbers = ", ".join(f"{name} {value:g}" for name, value in asdict(config).items())
    name = f"leaves of {named_network(args.model)}; {numbers}; seed {args.seed}"
    with ProgressDisplay() as display:
        engine = start_config(args.model, display.print)
        engine = replace(engine, evaluator=replace(engine.evaluator, threads=1))
        summary = workers.run(
            leaves.LeafJob(name, config, engine, args.seed),
            leaves.LeafWork(name, games),
            args.out,
            new_pools(args),
            lambda summary: display.update(
                "games", summary.tasks, len(games), f"{summary.positions} leaves, {summary.new_positions} new"
            ),
            watcher(display.print, display.below),
        )
    print(f"{args.out}: {summary.positions} leaves, {summary.new_positions} of them new")


def _games(args: argparse.Namespace) -> tuple[GameRecord, ...]:
    """Returns the games of the files; raises UsageError or InputError if `--out` is no file for others."""
    _check_out(args.out)
    check_outputs([args.out], args.games)
    return tuple(game for path in args.games for game in read_games(path))


def _run(args: argparse.Namespace, work: "Work") -> None:
    from goryu_lab.self_play import workers

    job = workers.GamesJob(work.bare(), args.model, args.at_once, args.backend, args.temperature, _gpus(args))
    with ProgressDisplay() as display:
        report, watch = reporter(display, work.size), watcher(display.print, display.below)
        summary = workers.run(job, work, args.out, new_pools(args), report, watch)
    print(f"{args.out}: {summary}; {summary.new_positions} positions are new")


def _loop(args: argparse.Namespace) -> None:
    import torch  # noqa: F401 (so that a missing package is reported before the first game)

    from goryu_lab.loop.loop import LoopProgress, run_loop
    from goryu_lab.loop.strength import plot_strength

    game, config = _game_and_config(args)
    new_players = new_pools(args)
    with held_folder(args.folder), ProgressDisplay() as display:

        def on_progress(progress: LoopProgress) -> None:
            display.update("cycles", progress.done, config.cycles, str(progress))

        events = run_loop(
            game,
            config,
            args.folder,
            new_players,
            lambda: ProcessPool(1),
            on_progress,
            watcher(display.print, display.below, "tasks"),
        )
        with closing(events):
            for event in events:
                display.print(str(event))
                if event.event == "verdict":
                    plot_strength(args.folder / "log.jsonl", args.folder / "strength.svg")


def _game_and_config(args: argparse.Namespace) -> "tuple[LoopGame, LoopConfig]":
    """Returns the game of the arguments and the numbers of its loop; raises UsageError or InputError."""
    from goryu_lab.loop.board_games import LOOPS
    from goryu_lab.loop.shogi import ShogiLoopGame

    game: LoopGame
    if args.game == "shogi":
        game, base = ShogiLoopGame(_shogi_config(args)), LoopConfig()
    else:
        others = {
            "openings": args.openings, "source": args.source, "gpus": args.gpus,
            "backend": args.backend != "cpu",
        }  # fmt: skip
        given = [
            *given_options(ShogiLoopConfig, args), *given_options(SelfPlayConfig, args),
            *(f"--{name}" for name, value in others.items() if value),
        ]  # fmt: skip
        if wrong := [option for option in given if option not in ("--steps", "--batch-size")]:
            raise UsageError(f"{', '.join(wrong)}: for shogi only; {args.game} has its own numbers")
        board, base = LOOPS[args.game]
        steps, batch = args.steps or board.config.steps_per_cycle, args.batch_size or board.config.batch
        game = replace(
            board, config=replace(board.config, steps_per_cycle=steps, batch=batch), seed=args.seed
        )
    config = replace(changed(base, args), window=changed(base.window, args), gate=changed(base.gate, args))
    if args.game == "shogi" and config.window.window_start < (batch := game.samples // game.steps):
        raise UsageError(f"--window-start: expected at least one batch of {batch} positions")
    return game, config


def _shogi_config(args: argparse.Namespace) -> ShogiLoopConfig:
    from goryu_lab.training.sources import parse_source

    return changed(
        ShogiLoopConfig(),
        args,
        self_play=changed(SelfPlayConfig(), args),
        openings=_openings(args),
        source=tuple(parse_source(text) for text in args.source or ()),
        # On a cluster the driver only trains; here the training takes as much as all players.
        threads=0 if args.cluster else args.processes or 1,
        gpus=_gpus(args),
    )


def _gpus(args: argparse.Namespace) -> tuple[int, ...]:
    """Returns the numbers of the GPUs that the processes take in turn; raises UsageError."""
    if args.gpus and args.cluster:
        raise UsageError("--gpus is for the processes of this computer; a cluster's workers: --worker-gpus")
    if args.gpus and args.backend in CPU_BACKENDS:
        raise UsageError(f"--gpus: --backend {args.backend} runs on the CPU")
    return args.gpus or (0,)


def _check_out(path: Path) -> None:
    """Raises UsageError for a name by which no tool would recognise the file."""
    if path.suffix != GAMES_SUFFIX:
        raise UsageError(f"--out {path}: expected a name that ends in {GAMES_SUFFIX}")


def _openings(args: argparse.Namespace) -> tuple[Opening, ...]:
    """Returns the openings to draw from: half of the draws are the start position."""
    if args.openings is None:
        return (Opening(),)
    openings = tuple(read_openings(args.openings))
    return openings + (Opening(),) * len(openings)


def reporter(display: ProgressDisplay, games: int | None) -> Callable[[GameSummary], None]:
    """Returns a function that shows the progress of self-play."""
    return lambda summary: display.update(
        "games", summary.games, games, f"{summary.positions} positions, {summary.new_positions} new"
    )
