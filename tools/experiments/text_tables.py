"""Measures the tables of the texts that Goryu grew from again, for docs/tables.md.

    python3 tools/dev.py text-tables --lessons runs/lesson-1
    python3 tools/dev.py text-tables --games 400 --markdown tables.md

No network is trained: tic-tac-toe and reversi play with the shipped networks. The lessons of the reversi
tutorial are read from their folders, those of `goryu learn lesson --as-published`, one for each seed. With
--markdown the tables are written, too, in Japanese to FILE.ja.md.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from goryu.base.errors import InputError
from goryu.base.files import atomic_write
from goryu.commands.common import new_parser, output_file, positive, program, seed
from goryu.commands.progress_display import ProgressDisplay
from goryu.evaluators.board_network import BOARD_GAMES, load
from goryu.evaluators.network.model_files import models_folder
from goryu.implementation import Reversi
from goryu.players.agents.agents import AgentSetup, make_agent
from goryu.players.agents.arena import match, mean_and_error
from goryu.players.agents.presets import disc_lead
from goryu_lab.commands.training.learn_shows import print_table
from goryu_lab.lessons import experiments
from goryu_lab.lessons.alphazero_config import TICTACTOE, puct_config
from goryu_lab.lessons.lesson_games import GAMES, LessonGame, read_games
from goryu_lab.lessons.report import Measurement, TutorialReport
from goryu_lab.lessons.value_config import PUBLISHED

LESSON = {
    "training games not lost": 745 / 1500,
    "the last 300 of them": 179 / 300,
    "points against the tutorial's opponent": 0.81,
    "discs ahead against the tutorial's opponent": 17.2,
    "points against random moves": 0.75,
    "discs ahead against random moves": 20.8,
}
"""The notebook's numbers; the first two are counted in its strip."""

AS_PUBLISHED = {**asdict(PUBLISHED), "opponents": ["greedy"]}
"""The options of a lesson whose numbers may stand beside the notebook's."""

JAPANESE = {
    "the text": "文章",
    "here": "Goryu",
    "Tic-tac-toe: OJIMA's three articles": "三目並べ：OJIMA 氏の三つの記事",
    "Reversi: enakai00's notebook": "リバーシ：enakai00 氏のノートブック",
    "training games not lost": "学習中に負けなかった割合",
    "the last 300 of them": "そのうち最後の 300 局",
    "trained as published": "コードどおりの学習",
    "points against the tutorial's opponent": "チュートリアルの相手に対する勝率",
    "points against random moves": "ランダムな相手に対する勝率",
    "discs ahead against the tutorial's opponent": "チュートリアルの相手に対する石の差",
    "discs ahead against random moves": "ランダムな相手に対する石の差",
    "our network": "Goryu のネットワーク",
    "moving first": "（先手）",
    "moving second": "（後手）",
    "that never grows (as published)": "木が育たない（掲載どおり）",
    "expanding at 10 visits (as intended)": "10 回の訪問で展開（本来の意図）",
    "exploring less": "探索を控えめ",
    "mean margin": "平均の石の差",
    "wins": "勝",
    "win": "勝",
    "draws": "分",
    "draw": "分",
    "losses": "敗",
    "loss": "敗",
    "trainings": "回の学習",
    "1 training": "1 回の学習",
    "runs": "回",
    "of 11": "11 問中",
}
"""The words of titles, names and details; those without a translation stay."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "--games", type=positive, default=100, metavar="N", help="of each match (default 100)"
    )
    parser.add_argument("--lessons", nargs="+", type=Path, default=[], metavar="FOLDER")
    parser.add_argument("--seed", type=seed, default=1, help="of the random numbers (default 1)")
    parser.add_argument("--markdown", type=output_file, metavar="FILE.md", help="also to FILE.ja.md")
    return program("text_tables.py", parser, run, arguments)


def run(args: argparse.Namespace) -> None:
    """Measures the tables and prints each."""
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
        write_both(
            args.markdown,
            lambda words: "\n".join(markdown(title, found, words) for title, found in tables.items()),
            JAPANESE,
        )


def write_both(path: Path, table: Callable[[Mapping[str, str]], str], japanese: Mapping[str, str]) -> None:
    """Writes a table in English to X.md, and in Japanese to X.ja.md. table: takes the translations."""
    atomic_write(path, table({}))
    atomic_write(path.with_suffix(f".ja{path.suffix}"), table(japanese))


def markdown(title: str, measurements: Sequence[Measurement], words: Mapping[str, str]) -> str:
    """Returns what the texts have numbers for."""
    heads = translated(" | the text | here | ", words)
    lines = [f"## {translated(title, words)}", "", f"|{heads}|", "|---|--:|--:|---|"]
    for found in measurements:
        if found.theirs is None:
            continue
        digits = 3 if abs(found.value) < 1 else 2 if abs(found.value) < 12 else 1
        error = f" ± {found.error:.{digits}f}" if found.error else ""
        cells = (
            translated(found.name, words),
            f"{found.theirs:.3g}",
            f"{found.value:.{digits}f}{error}",
            translated(found.detail, words),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def translated(text: str, words: Mapping[str, str]) -> str:
    """Returns a text with the words that have a translation."""
    for english, japanese in words.items():
        text = text.replace(english, japanese)
    return text


def tictactoe(games: int, rng: Random) -> Iterator[Measurement]:
    """Yields the numbers of OJIMA's three articles."""
    network = load(models_folder() / "tictactoe.onnx", BOARD_GAMES["tictactoe"])
    setup = AgentSetup(evaluator=network, puct=puct_config(TICTACTOE), gumbel=TICTACTOE.gumbel)
    yield from experiments.tictactoe_network(setup, games, rng)
    yield from experiments.tictactoe_basics(games, rng)


def reversi(games: int, lessons: Sequence[Path], rng: Random) -> Iterator[Measurement]:
    """Yields the notebook's numbers: trainings as published, and our network."""
    yield from trainings(lessons)
    network = load(models_folder() / "reversi-value.onnx", BOARD_GAMES["reversi"])
    ours = make_agent("value:2", AgentSetup(values=network))
    greedy = make_agent("greedy", AgentSetup(heuristic=disc_lead), rng)
    random = make_agent("random", rng=rng)
    for name, opponent, theirs in (
        ("our network moving {place} - greedy", greedy, 0.81),
        ("our network moving {place} - random", random, 0.75),
    ):
        for side, place in enumerate(("first", "second")):
            score = match(ours, opponent, Reversi, games, side=side, margin=lambda s: 64 * disc_lead(s))
            yield experiments.points(name.format(place=place), score, None if side else theirs)


def trainings(folders: Sequence[Path]) -> Iterator[Measurement]:
    """Yields the numbers of lessons as published.

    The error of one lesson is that of its games; the error of several is that of their mean.

    Raises InputError for a folder without a finished lesson as published.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for folder in folders:
        for name, number in _numbers_of(folder).items():
            found.setdefault(name, []).append(number)
    for name, numbers in found.items():
        mean, error = mean_and_error([value for value, _ in numbers])
        count = f"{len(folders)} trainings" if len(folders) > 1 else "1 training"
        error = numbers[0][1] if len(numbers) == 1 else error
        yield Measurement("points", f"trained as published: {name}", mean, error, LESSON[name], count)


def _numbers_of(folder: Path) -> dict[str, tuple[float, float]]:
    """Returns the numbers of `LESSON`, each with the error of its games; 0 where that is not known."""
    try:
        games = read_games(folder / GAMES)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        options = {name: report[name] for name in AS_PUBLISHED}
        measured = {one["name"]: one for one in report["measurements"]}
        numbers = {
            "training games not lost": _not_lost(games),
            "the last 300 of them": _not_lost(games[-300:]),
        }
        for opponent, shown in (("greedy", "the tutorial's opponent"), ("random", "random moves")):
            match = measured[f"without random moves, moving first - {opponent}"]
            numbers[f"points against {shown}"] = match["value"], match["error"]
            margin = re.search(r"mean margin ([-+][\d.]+)", match["detail"])
            numbers[f"discs ahead against {shown}"] = float(margin[1]) if margin else 0.0, 0.0
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{folder}: expected a finished lesson ({problem!r})") from None
    if options != AS_PUBLISHED:
        raise InputError(f"{folder}: expected a lesson with --as-published and no other numbers")
    return numbers


def _not_lost(games: Sequence[LessonGame]) -> tuple[float, float]:
    """Returns the share of games that the learner did not lose, which the notebook shows as +."""
    return mean_and_error([float(game.discs >= 0) for game in games])


SECTIONS: dict[str, Callable[[int, Sequence[Path], Random], Iterator[Measurement]]] = {
    "Tic-tac-toe: OJIMA's three articles": lambda games, lessons, rng: tictactoe(games, rng),
    "Reversi: enakai00's notebook": reversi,
}
"""The tables by their titles."""


if __name__ == "__main__":
    raise SystemExit(main())
