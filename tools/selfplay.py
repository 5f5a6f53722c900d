r"""Lets a network play shogi against itself, or look again at old games, and keeps what is worth learning.

    python tools/selfplay.py play --model models/goryu-5x64-int8.onnx --processes 2 --games 2000 \
        --openings tools/openings/balanced.txt --out runs/self.games
    python tools/selfplay.py reanalyse runs/fsf.games --model models/goryu-5x64-int8.onnx --playouts 64 \
        --share 0.5 --keep-scores --out runs/fsf-soft.games
    python tools/selfplay.py reanalyse runs/fsf.games --model miniosl --temperature 1.5 --playouts 0 \
        --out runs/fsf-distilled.games
    python tools/selfplay.py play --model models/goryu-5x64-int8.onnx --cheap-playouts 0 --full-playouts 0 \
        --full-share 1 --sampled-plies 400 --games 10000 --out runs/drawn.games
    python tools/selfplay.py loop --folder runs/loop --initial runs/first/checkpoint.pt --cycles 5

Without playouts every move is drawn from the network's policy: so many positions in so little time that only
new labels (`reanalyse`) are still to be paid for. `loop` is AlphaZero's: self-play, training on the last
cycles' games, a match of the challenger against the champion, and so on. All three may be killed at any time:
the same command goes on where it stopped. Files of games are those of `tools/teach.py` (show, convert, pack);
`tools/train.py` learns from them.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from common import interrupt_on_sigterm, needs_extra, positive
from goryu.evaluators.model_files import ModelError
from goryu.evaluators.named_networks import MODEL_HELP, named_network
from goryu.evaluators.providers import BACKENDS, BackendError
from goryu.files import held_folder
from goryu.learning.records.game_records import GAMES_SUFFIX, read_games
from goryu.learning.records.summary import GameTally
from goryu.learning.self_play import workers
from goryu.learning.self_play.game import SelfPlaySettings
from goryu.match.openings import Opening, read_openings

with needs_extra("train"):
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    args = make_parser().parse_args(arguments)
    interrupt_on_sigterm()
    try:
        return int(args.verb(args))
    except (OSError, ValueError, ModelError, BackendError, workers.SelfPlayError) as error:
        print(f"selfplay: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("selfplay: interrupted; the same command goes on", file=sys.stderr)
        return 130


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    verbs = parser.add_subparsers(required=True)
    default = SelfPlaySettings()

    play = verbs.add_parser("play", help="play games", allow_abbrev=False)
    play.set_defaults(verb=_play)
    _add_run_options(play)
    _add_game_options(play)
    play.add_argument("--games", type=int, metavar="N", help="play the games 0 to N - 1 (default: no end)")

    reanalyse = verbs.add_parser("reanalyse", help="new targets for old games", allow_abbrev=False)
    reanalyse.set_defaults(verb=_reanalyse)
    reanalyse.add_argument("games", type=Path, nargs="+", metavar="FILE.games")
    _add_run_options(reanalyse)
    reanalyse.add_argument(
        "--playouts", type=int, default=default.full_playouts, metavar="N",
        help="0 for the network alone, without a search: distillation",
    )  # fmt: skip
    reanalyse.add_argument("--share", type=float, default=1.0, help="of the positions (default 1)")
    reanalyse.add_argument(
        "--keep-scores", action="store_true", help="keep the teacher's scores, and half of its moves"
    )

    loop = verbs.add_parser("loop", help="self-play, training, match, and again", allow_abbrev=False)
    loop.set_defaults(verb=_loop)
    _add_loop_options(loop)
    _add_game_options(loop)
    return parser


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model", type=Path, required=True, metavar="FILE.onnx",
        help=MODEL_HELP,
    )  # fmt: skip
    parser.add_argument(
        "--temperature", type=float, default=1.0, metavar="T", help="of the network's policy (default 1)"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.games")
    _add_machine_options(parser)


def _add_machine_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--processes", type=positive, default=1, metavar="N")
    parser.add_argument(
        "--at-once", type=positive, default=32, metavar="N", help="games at once in each process"
    )
    parser.add_argument(
        "--backend", choices=BACKENDS, default="cpu", help="as of the USI option (default cpu)"
    )
    parser.add_argument("--seed", type=int, default=0)


def _add_game_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--openings", type=Path, metavar="FILE", help="half of the games start from these")
    default = SelfPlaySettings()
    for field in fields(SelfPlaySettings):
        value = getattr(default, field.name)
        option = "--" + field.name.replace("_", "-")
        if isinstance(value, tuple):
            parser.add_argument(
                option, type=int, nargs=2, default=value, metavar=("MIN", "MAX"), help=f"default {value}"
            )
        else:
            parser.add_argument(option, type=type(value), default=value, help=f"default {value}")


def _add_loop_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", type=Path, required=True, help="everything is kept here")
    parser.add_argument("--initial", type=Path, metavar="FILE", help="as for tools/train.py")
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--channels", type=int, default=64)
    parser.add_argument("--cycles", type=int, default=10)
    parser.add_argument("--games", type=int, default=200, metavar="N", help="of self-play in a cycle")
    parser.add_argument("--window", type=int, default=4, help="cycles whose games are learned from")
    parser.add_argument("--steps", type=int, default=400, help="of training in a cycle")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--result-weight", type=float, default=0.5, help="share of the result in the value")
    parser.add_argument("--match-games", type=int, default=40, help="challenger against champion; 0 for none")
    parser.add_argument("--match-playouts", type=int, default=100)
    parser.add_argument("--promotion", type=float, default=0.5, help="points a game to be exceeded")
    parser.add_argument(
        "--source", action="append", default=[], metavar="FILE,SCALE[,RESULT_WEIGHT[,REPEAT]]",
        help="more data for every training, as of tools/train.py",
    )  # fmt: skip
    parser.add_argument("--device", default="cpu", help="of the training: cpu or cuda")
    _add_machine_options(parser)


def _play(args: argparse.Namespace) -> int:
    _check_out(args.out)
    settings = _settings(args)
    playouts = f"{settings.cheap_playouts} or {settings.full_playouts} playouts"
    teacher = f"self-play of {named_network(args.model, args.temperature)}; {playouts}; seed {args.seed}"
    work = workers.PlayWork(teacher, settings, _openings(args), args.seed, args.games)
    return _run(args, work)


def _reanalyse(args: argparse.Namespace) -> int:
    _check_out(args.out)
    if args.out.exists() and any(path.samefile(args.out) for path in args.games):
        raise ValueError(f"--out {args.out}: expected another file than those to look at again")
    if args.playouts < 0 or not 0.0 < args.share <= 1.0:
        raise ValueError(f"--playouts {args.playouts} --share {args.share:g}: expected 0 or more, and 0 to 1")
    games = tuple(game for path in args.games for game in read_games(path))
    settings = SelfPlaySettings(full_playouts=args.playouts)
    kept = " and the teacher" if args.keep_scores else ""
    share = f"; {args.share:g} of the positions" if args.share < 1.0 else ""
    network = named_network(args.model, args.temperature)
    teacher = f"{network} at {args.playouts} playouts{kept}{share}; seed {args.seed}"
    work = workers.ReanalysisWork(teacher, settings, games, args.share, args.keep_scores, args.seed)
    return _run(args, work)


def _run(args: argparse.Namespace, work: workers.Work) -> int:
    with progress_bar() as bar:
        report = reporter(bar, work.size)
        tally = workers.run(
            work, args.model, args.out,
            processes=args.processes, at_once=args.at_once, backend=args.backend,
            temperature=args.temperature, report=report,
        )  # fmt: skip
    print(summary(tally))
    return 0


def _loop(args: argparse.Namespace) -> int:
    from goryu.learning.self_play.loop import LoopSettings, run_loop
    from goryu.learning.training.dataset import parse_source

    chosen: dict[str, Any] = vars(args) | {
        "self_play": _settings(args),
        "openings": _openings(args),
        "source": tuple(parse_source(text) for text in args.source),
    }
    settings = LoopSettings(**{field.name: chosen[field.name] for field in fields(LoopSettings)})
    with held_folder(args.folder), progress_bar() as bar:
        for cycle in run_loop(settings, args.folder, reporter(bar, settings.games)):
            bar.console.print(str(cycle), highlight=False)
    return 0


def _check_out(path: Path) -> None:
    """Raises ValueError for a name by which no tool would know the file."""
    if path.suffix != GAMES_SUFFIX:
        raise ValueError(f"--out {path}: expected a name that ends in {GAMES_SUFFIX}")


def _settings(args: argparse.Namespace) -> SelfPlaySettings:
    chosen = {field.name: getattr(args, field.name) for field in fields(SelfPlaySettings)}
    return SelfPlaySettings(**{**chosen, "random_plies": tuple(args.random_plies)})


def _openings(args: argparse.Namespace) -> tuple[Opening, ...]:
    """Returns what games start from: the start position, and as often one of the file's."""
    if args.openings is None:
        return (Opening(),)
    opened = tuple(read_openings(args.openings))
    return opened + (Opening(),) * len(opened)


def reporter(bar: Progress, games: int | None) -> Callable[[GameTally], None]:
    """Adds a line for so many games to the bar; returns what keeps it up to date."""
    task = bar.add_task("games", total=games)

    def report(tally: GameTally) -> None:
        bar.update(task, completed=tally.games, description=f"{tally.positions} positions")

    return report


def progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        console=Console(stderr=True),
    )  # fmt: skip


def summary(tally: GameTally) -> str:
    """Returns a few lines on what a file holds now."""
    draws, black, white = tally.results
    endings = ", ".join(f"{number} {ending}" for ending, number in tally.endings.most_common())
    return (
        f"{tally.games} games, {tally.positions} positions ({tally.new_positions} new); "
        f"{draws} draws, {black} wins of black, {white} of white\n{endings}"
    )


if __name__ == "__main__":
    with needs_extra("train"):
        sys.exit(main())
