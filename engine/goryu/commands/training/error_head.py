r"""Gives a network an error head, which predicts the squared error of its win probability.

    goryu selfplay play --model goryu-5x64.onnx --full-share 1 --cheap-playouts 0 --full-playouts 0 \
        --sampled-plies 400 --temperature 0.7 --games 4000 --out new.games
    goryu selfplay leaves new.games --model goryu-5x64.onnx --share 0.04 --playouts 400 --leaves 8 \
        --out leaves.games
    goryu selfplay reanalyse leaves.games --model miniosl --temperature 1.5 --playouts 0 --out labels.games
    goryu error-head goryu-5x64.onnx --source labels.games,400,0 --out goryu-5x64-error.onnx

The search counts a value the less, the greater the error that its network expects. The positions must be new
to the network, and their labels a stronger network's. Everything else in the file stays as it is, and other
engines still read it. A head that the file has already is replaced.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goryu.base.errors import InputError
from goryu.base.files import atomic_path, check_outputs
from goryu.commands.common import new_parser, output_file, program, seed, share
from goryu.commands.progress_display import ProgressDisplay

if TYPE_CHECKING:
    from goryu.learning.training.error_head import Quality


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("goryu error-head", make_parser(), run, arguments, extra="train")


def make_parser() -> argparse.ArgumentParser:
    parser = new_parser(__doc__)
    parser.add_argument("model", type=Path, help="a network of the dlshogi format, in 32 or 8 bits")
    parser.add_argument(
        "--source",
        action="append",
        required=True,
        metavar="FILE,SCALE[,RESULT_WEIGHT]",
        help="file of games with labels (*.games), the scale of their scores (centipawns at which the win "
        "odds are e : 1; 400 for labels of miniosl's network), and the weight of the game's result in the "
        "label: 0 for leaves (default 0.3); may be repeated",
    )
    parser.add_argument("--out", type=output_file, required=True, metavar="FILE", help="file to write")
    parser.add_argument(
        "--held-out",
        type=share,
        default=0.1,
        help="share of the games on which the head is measured, not trained (default 0.1)",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of everything random (default 0)")
    return parser


def run(args: argparse.Namespace) -> None:
    """Trains the head, prints how well it predicts, and writes the network with it."""
    # PyTorch takes seconds to import.
    from goryu.learning.training import error_head
    from goryu.learning.training.dataset import Dataset, load_datasets, parse_source

    sources = [parse_source(text) for text in args.source]
    check_outputs([args.out], [args.model, *(source.path for source in sources)])
    model = error_head.load_without_head(args.model)
    try:
        error_head.check_network(model)
    except InputError as error:
        raise InputError(f"{args.model}: {error}") from error
    training, testing = load_datasets(sources, args.held_out, args.seed, merge=True)
    with ProgressDisplay() as display:

        def examples(data: Dataset, what: str) -> error_head.Examples:
            size = max(1, len(data))
            return error_head.examples_of(
                model, data, lambda done: display.update(what, done, size, f"{done} positions")
            )

        learnt = examples(training, "evaluating")
        for number, (loss, head) in enumerate(error_head.fit(learnt, args.seed), 1):  # noqa: B007
            display.update("training", number, error_head.PASSES, f"loss {loss:.4f}")
        display.print(f"trained on {len(training)} positions and their mirror images, loss {loss:.4f}")
        for name, data in testing.items():
            if len(data):
                show(display, name, len(data), error_head.quality(head, examples(data, "measuring")))
    error_head.check_head(model, head, training)
    with atomic_path(args.out) as unfinished:
        unfinished.write_bytes(error_head.with_head(model, head).SerializeToString())
    print(f"wrote {args.out}")


def show(display: ProgressDisplay, name: str, count: int, quality: "Quality") -> None:
    """Prints how well the head predicts the errors in held-out games."""
    display.print(
        f"held out, {name}: {count} positions; it explains {100 * quality.explained:.1f} % of the "
        f"variance of the squared errors"
    )
    for row, numbers in (
        ("predicted", [p for p, _ in quality.groups]),
        ("true", [t for _, t in quality.groups]),
    ):
        display.print(f"  {row:>9}, in sixths: " + " ".join(f"{number:.4f}" for number in numbers))


if __name__ == "__main__":
    raise SystemExit(main())
