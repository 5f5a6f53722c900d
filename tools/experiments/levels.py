r"""Measures the levels of strength: matches between neighbours, the loss of their moves.

    python tools/experiments/levels.py play --out runs/levels --fairy /usr/games/fairy-stockfish
    python tools/experiments/levels.py judge --out runs/levels
    python tools/experiments/levels.py report --out runs/levels

`play` runs `goryu match` for each pair and resumes where it was interrupted. `judge` lets the engine at full
strength evaluate the positions before and after moves of these games. `report` prints the losses and draws
them (docs/pictures/levels.png), and writes the other tables of both languages of docs/levels.md.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import exp
from pathlib import Path
from random import Random
from statistics import fmean, stdev

from goryu.base.language import both
from goryu.commands.common import UsageError, new_parser, positive, program
from goryu.engines.time_control import TimeControl
from goryu.engines.usi_client import EngineSpec, UsiClient
from goryu.evaluators.network.model_files import SHIPPED
from goryu.players.levels.levels import LEVELS
from goryu_lab.commands import match
from goryu_lab.match.game_log import GameEntry, read_game_log
from goryu_lab.match.match_statistics import elo_of_score

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "pictures" / "levels.png"
GUIDES = {"docs/levels.md": 0, "docs/levels.ja.md": 1}
"""File -> the column of TEXTS that it shows."""

FAIRY = "fairy"
"""The name of the opponent of level 1 in the names of folders."""

FAIRY_OPTIONS = (("UCI_Variant", "shogi"), ("Skill Level", "-20"))
FAIRY_NODES = 2_000
FULL_NODES = 250
"""The search of full strength in these matches, with the network of the levels; a number of nodes, because
times depend on the machine."""

JUDGE_NODES = 1_000
GUI_COEFFICIENT = 600
"""Centipawns at which GUIs put the odds to win at e : 1."""

BOUNDS = (0.02, 0.05, 0.10, 0.20, 0.30)
"""The classes of losses."""

CONFIDENCE = 1.96
"""Standard errors of a 95 % interval."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("levels.py", make_parser(), run, arguments, interrupted="the same command resumes")


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument("step", choices=("play", "judge", "report"))
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the matches")
    parser.add_argument("--fairy", type=Path, metavar="FILE", help="Fairy-Stockfish, for the pair 1-fairy")
    parser.add_argument("--games", type=positive, default=200, metavar="N", help="of a pair (default 200)")
    parser.add_argument(
        "--moves", type=positive, default=200, metavar="N", help="judged for a level (default 200)"
    )
    parser.add_argument(
        "--pairs",
        nargs="*",
        choices=all_pairs(),
        metavar="PAIR",
        help="such as 2-1 or 1-fairy (default: all)",
    )
    parser.add_argument("--concurrency", type=positive, default=1, metavar="N", help="games at a time")
    return parser


def run(args: argparse.Namespace) -> int:
    """Runs one step; returns the exit status."""
    if args.step != "play" and not args.out.is_dir():
        raise UsageError(f"--out {args.out}: expected the folder of the matches")
    if args.step == "report":
        report(args.out)
        return 0
    if args.step == "judge":
        judge(args)
        return 0
    pairs = args.pairs or all_pairs()
    plays_fairy = any(FAIRY in pair for pair in pairs)
    if plays_fairy and (args.fairy is None or not args.fairy.is_file()):
        raise UsageError(f"--fairy {args.fairy}: expected the program of Fairy-Stockfish")
    return max(play(args, pair) for pair in pairs)


# The matches.


def all_pairs() -> list[str]:
    """Returns the matches: each level against the one below, level 1 against Fairy-Stockfish."""
    return [f"1-{FAIRY}", *(f"{number}-{number - 1}" for number in range(2, len(LEVELS) + 1))]


def play(args: argparse.Namespace, pair: str) -> int:
    """Plays or resumes one match; returns the exit status of `goryu match`."""
    first, second = pair.split("-")
    words = [*engine_words("1", first, args.fairy), *engine_words("2", second, args.fairy)]
    words += ["--games", str(args.games), "--out", str(args.out / pair), "--seed", "1"]
    words += ["--openings", str(ROOT / "tools" / "openings" / "balanced.txt")]
    return match.main([*words, "--concurrency", str(args.concurrency)])


def engine_words(side: str, player: str, fairy: Path | None) -> list[str]:
    """Returns the arguments of `goryu match` for a level or Fairy-Stockfish."""
    if player == FAIRY:
        options = [f"{name}={value}" for name, value in FAIRY_OPTIONS]
        command, nodes = str(fairy), FAIRY_NODES
    else:
        options = [f"Level={player}", f"DNN_Model={SHIPPED}", "Seed=1", "Threads=1"]
        # Below full strength the playouts of the level are fewer than these nodes.
        command, nodes = f"{sys.executable} -m goryu", FULL_NODES
    words = [f"--engine{side}", command, f"--name{side}", player, f"--limits{side}", f"nodes={nodes}"]
    return words + [word for option in options for word in (f"--option{side}", option)]


def games_of(folder: Path) -> list[GameEntry]:
    """Returns the finished games of a match; raises GameLogError."""
    path = folder / "games.jsonl"
    return read_game_log(path)[1] if path.is_file() else []


# The loss of each move.


def judge(args: argparse.Namespace) -> None:
    """Writes losses.json: for each level that has played, the losses of its moves in win rate."""
    path = args.out / "losses.json"
    losses: dict[str, list[float]] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    spec = EngineSpec(
        (sys.executable, "-m", "goryu"),
        (("DNN_Model", SHIPPED), ("Threads", "1")),
        TimeControl(nodes=JUDGE_NODES),
    )
    client = UsiClient(spec)
    try:
        client.start()
        for level in LEVELS:
            moves = sampled_moves(args.out, level.number, args.moves)
            if str(level.number) in losses or not moves:
                continue
            found = [loss_of(client, *move) for move in moves]
            losses[str(level.number)] = [loss for loss in found if loss is not None]
            path.write_text(
                json.dumps(dict(sorted(losses.items(), key=lambda item: int(item[0])))) + "\n", "utf-8"
            )
            print(f"level {level.number}: {len(moves)} moves", flush=True)
    finally:
        client.quit()


def sampled_moves(folder: Path, number: int, count: int) -> list[tuple[str, str]]:
    """Returns (position command, move) of moves that a level played, drawn from all of its games."""
    found = []
    for pair in all_pairs():
        players = pair.split("-")
        if str(number) in players:
            engine = 1 + players.index(str(number))
            found += [move for entry in games_of(folder / pair) for move in moves_of(entry, engine)]
    return Random(number).sample(sorted(found), min(count, len(found)))


def moves_of(entry: GameEntry, engine: int) -> Iterator[tuple[str, str]]:
    """Yields the positions in which an engine moved, and its moves."""
    for index, move in enumerate(entry.moves):
        if entry.engine_of_move(index) == engine and re.fullmatch(r"\S{4,5}", move):
            before = " ".join(entry.moves[:index])
            words = entry.opening if " moves " in entry.opening else f"{entry.opening} moves"
            yield f"position {words} {before}".rstrip(), move


def loss_of(client: UsiClient, position: str, move: str) -> float | None:
    """Returns the loss of a move in win rate, at least 0; None if the judge gives no score."""
    before = score(client, position)
    after = score(client, f"{position} {move}")
    if before is None or after is None:
        return None
    return max(0.0, win_rate(before) - win_rate(-after))


def score(client: UsiClient, position: str) -> int | None:
    """Returns the judge's score of a position in centipawns, for the side to move."""
    client.new_game()
    return client.go(position, f"go nodes {JUDGE_NODES}", None).info.cp


def win_rate(cp: float) -> float:
    """Returns the win rate that GUIs show for a score."""
    return 1 / (1 + exp(-max(-9000.0, min(9000.0, cp)) / GUI_COEFFICIENT))


# The report.

TEXTS = {
    "match": ("match", "対戦"),
    "games": ("games", "対局数"),
    "score": ("score of the stronger", "上のレベルの勝率"),
    "elo": ("Elo difference", "Elo差"),
    "fairy": (
        "Fairy-Stockfish, Skill Level −20, 2,000 nodes",
        "Fairy-Stockfish（Skill Level −20、2,000ノード）",
    ),
    "level": ("level", "レベル"),
    "rating": ("rating", "レーティング"),
}


def report(folder: Path) -> None:
    """Writes the tables of the guides and the picture."""
    losses = json.loads((folder / "losses.json").read_text("utf-8"))
    for name, language in GUIDES.items():
        guide = ROOT / name
        text = guide.read_text("utf-8")
        text = replaced(text, "levels", level_table(language))
        text = replaced(text, "matches", match_table(folder, language))
        guide.write_text(text, "utf-8", newline="\n")
    draw(losses)
    print(match_table(folder, 0))
    print(loss_table(losses))


def replaced(text: str, name: str, table: str) -> str:
    """Returns the text with the table between the comments of this name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = text.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise UsageError(f"expected {begin.strip()} and {end} in the guide")
    return f"{before}{begin}{table}\n{end}{after}"


def level_table(language: int) -> str:
    """Returns names, ratings and descriptions of the levels as a table."""
    words = {name: texts[language] for name, texts in TEXTS.items()}
    lines = [f"| {words['level']} | {words['rating']} | |", "|---|--:|---|"]
    for level in LEVELS:
        about = list(both(level.about).values())[language]
        lines.append(f"| {level_name(level.number, language)} | {level.elo} | {about} |")
    return "\n".join(lines)


def match_table(folder: Path, language: int) -> str:
    """Returns the results of the matches as a table."""
    words = {name: texts[language] for name, texts in TEXTS.items()}
    lines = [
        f"| {words['match']} | {words['games']} | {words['score']} | {words['elo']} |",
        "|---|--:|--:|--:|",
    ]
    for pair in all_pairs():
        scores = pair_scores(games_of(folder / pair))
        if not scores:
            continue
        first, second = pair.split("-")
        other = words["fairy"] if second == FAIRY else level_name(int(second), language)
        mean, error = fmean(scores), error_of(scores)
        bounds = [elo_of_score(min(max(value, 0.001), 0.999)) for value in (mean, mean - error, mean + error)]
        elo = f"{bounds[0]:+.0f} ({bounds[1]:+.0f}…{bounds[2]:+.0f})"
        lines.append(
            f"| {level_name(int(first), language)} – {other} | {2 * len(scores)} "
            f"| {100 * mean:.0f} ± {100 * error:.0f} % | {elo} |"
        )
    return "\n".join(lines)


def pair_scores(entries: Sequence[GameEntry]) -> list[float]:
    """Returns the mean score of engine 1 in each pair of games from one opening."""
    scores = {entry.number: entry.score for entry in entries}
    return [(scores[n] + scores[n + 1]) / 2 for n in scores if n % 2 == 0 and n + 1 in scores]


def error_of(scores: Sequence[float]) -> float:
    """Returns half of the 95 % interval of the mean; by the rule of three if all scores are equal."""
    if len(set(scores)) == 1:
        return min(1.0, 3 / (2 * len(scores)))
    return float(CONFIDENCE * stdev(scores) / len(scores) ** 0.5)


def level_name(number: int, language: int) -> str:
    """Returns a level's number and name."""
    level = LEVELS[number - 1]
    return f"{number} {(level.english, level.japanese)[language]}"


def shares(losses: Sequence[float]) -> list[float]:
    """Returns the share of each class of losses."""
    edges = [0.0, *BOUNDS, 2.0]
    return [sum(low <= loss < high for loss in losses) / len(losses) for low, high in pairwise(edges)]


def class_names() -> list[str]:
    """Returns the names of the classes of losses."""
    percents = [0, *(round(100 * bound) for bound in BOUNDS)]
    return [*(f"{low}-{high} %" for low, high in pairwise(percents)), f"≥ {percents[-1]} %"]


def loss_table(losses: dict[str, list[float]]) -> str:
    """Returns the distribution of losses as a table."""
    header = ["level", "moves", "mean loss", *class_names()]
    lines = [f"| {' | '.join(header)} |", "|---|" + "--:|" * (len(header) - 1)]
    for number, values in losses.items():
        cells = [f"{100 * share:.0f} %" for share in shares(values)]
        mean = f"{100 * fmean(values):.1f} %"
        lines.append(f"| {' | '.join([level_name(int(number), 0), str(len(values)), mean, *cells])} |")
    return "\n".join(lines)


def draw(losses: dict[str, list[float]]) -> None:
    """Draws the distribution of losses: a bar for each level."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    names = [level_name(int(number), 0) for number in losses]
    left = [0.0] * len(names)
    columns = list(zip(*(shares(values) for values in losses.values()), strict=True))
    for index, (column, label) in enumerate(zip(columns, class_names(), strict=True)):
        widths = [100 * share for share in column]
        axes.barh(names, widths, left=left, label=label, color=colormaps["YlOrRd"](index / len(columns)))
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("share of moves (%)")
    figure.legend(title="loss of win rate", loc="outside right upper")
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    raise SystemExit(main())
