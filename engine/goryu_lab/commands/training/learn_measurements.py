"""`goryu learn tables` and `goryu learn differences`: for the terminal, and in Markdown for the docs."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from goryu.base.arguments import ArgumentParser
from goryu.base.files import atomic_write, held_folder
from goryu.base.language import speaking, tr
from goryu.commands.common import add_verb, output_file, positive, seed
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu_lab.commands.training.learn_shows import print_table
from goryu_lab.lessons.options import DifferencesOptions
from goryu_lab.lessons.report import Measurement, TutorialReport

if TYPE_CHECKING:
    from goryu_lab.lessons.differences import Row

PHRASES = (
    "training games not lost", "the last 300 of them",
    "trained as published", "points against the tutorial's opponent", "points against random moves",
    "discs ahead against the tutorial's opponent", "discs ahead against random moves", "our network",
    "moving first", "moving second", "that never grows (as published)",
    "expanding at 10 visits (as intended)", "exploring less",
    "mean margin", "wins", "draws", "losses", "trainings", "1 training", "runs", "of 11",
)  # fmt: skip
"""The words of the names and details that are translated."""


def add_measurements(verbs: "argparse._SubParsersAction[ArgumentParser]") -> None:
    """Adds both verbs to `goryu learn`."""
    tables = add_verb(verbs, "tables", show_tables, "the tables of the texts beside ours")
    tables.add_argument(
        "--games", type=positive, default=100, metavar="N", help="games of each match (default 100)"
    )
    tables.add_argument(
        "--lessons", nargs="+", type=Path, default=[], metavar="FOLDER",
        help="of goryu learn lesson --as-published, one for each seed",
    )  # fmt: skip
    tables.add_argument("--seed", type=seed, default=1, help="of the random numbers (default 1)")
    differences = add_verb(
        verbs, "differences", show_differences, "what each difference from the pseudocode brings"
    )
    differences.add_argument("board", choices=("tictactoe", "reversi4", "reversi6"), metavar="GAME")
    differences.add_argument("--folder", type=Path, help="of the results, from which it resumes")
    add_fields(differences, DifferencesOptions)
    for verb in (tables, differences):
        verb.add_argument(
            "--markdown", type=output_file, metavar="FILE.md", help="write the table, also to FILE.ja.md"
        )


def show_tables(args: argparse.Namespace) -> None:
    """Measures the tables of the texts and prints each when it is complete."""
    from goryu_lab.lessons.text_tables import SECTIONS, trainings  # They load onnxruntime.

    list(trainings(args.lessons))  # A wrong folder is told now, not after minutes.
    tables: dict[str, list[Measurement]] = {}
    with ProgressDisplay() as display:
        for title, measurements in SECTIONS.items():
            tables[title] = []
            for found in measurements(args.games, args.lessons, Random(args.seed)):
                tables[title].append(found)
                display.print(f"{found.name}: {found.value:.3f} ± {found.error:.3f}")
    for title, found_here in tables.items():
        print_table(TutorialReport({"game": title, "seed": args.seed}, measurements=found_here))
    if args.markdown:
        _write_both(args.markdown, lambda: "\n".join(_text_table(*one) for one in tables.items()))


def show_differences(args: argparse.Namespace) -> None:
    """Trains the variants of the pseudocode and prints the table."""
    import torch  # Takes seconds.

    from goryu_lab.lessons.differences import measure

    torch.set_num_threads(1)
    folder = args.folder or Path("runs/learn") / f"differences-{args.board}"
    with held_folder(folder), ProgressDisplay() as display:
        options = from_arguments(DifferencesOptions, args)
        rows = measure(args.board, options, folder / "trainings.jsonl", display.print)
    print(differences_table(rows))
    if args.markdown:
        _write_both(args.markdown, lambda: differences_table(rows))


def differences_table(rows: Sequence["Row"]) -> str:
    """Returns the rows in Markdown, in the user's language."""
    names = list(rows[0].numbers)
    lines = ["| | " + " | ".join(tr(name) for name in names) + " |", "|---" + "|--:" * len(names) + "|"]
    for row in rows:
        cells = [f"{mean:.2f}" + f" ± {error:.2f}" * (error > 0) for mean, error in row.numbers.values()]
        lines.append(f"| {tr(row.variant)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _text_table(title: str, measurements: Sequence[Measurement]) -> str:
    """Returns what the texts have numbers for, in Markdown."""
    heads = " | ".join(("", tr("the text"), tr("here"), ""))
    lines = [f"## {tr(title)}", "", f"|{heads}|", "|---|--:|--:|---|"]
    for found in measurements:
        if found.theirs is None:
            continue
        digits = 3 if abs(found.value) < 1 else 2 if abs(found.value) < 12 else 1
        error = f" ± {found.error:.{digits}f}" if found.error else ""
        cells = (
            _translated(found.name),
            f"{found.theirs:.3g}",
            f"{found.value:.{digits}f}{error}",
            _translated(found.detail),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _translated(text: str) -> str:
    for phrase in PHRASES:
        text = text.replace(phrase, tr(phrase))
    return text


def _write_both(path: Path, table: Callable[[], str]) -> None:
    """Writes a table in English to X.md, and in Japanese to X.ja.md."""
    for name, language in ((path, "en"), (path.with_suffix(f".ja{path.suffix}"), "ja")):
        with speaking(language):
            atomic_write(name, table())
