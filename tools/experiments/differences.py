"""Measures what each difference between AlphaZero's pseudocode and our version of it brings.

    python3 tools/dev.py differences tictactoe --seeds 3
    python3 tools/dev.py differences reversi4 --match-games 40 --markdown table.md

Each variant trains several networks with different seeds, with the same numbers of games and steps. All
networks then play in the same way, so that a difference is one of what they have learnt. The trainings are
kept in a folder, from which the same command resumes. With --markdown the table is written, too, in Japanese
to FILE.ja.md.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch
from text_tables import write_both

from goryu.base.config_fields import check_ranges, ranged
from goryu.base.files import held_folder
from goryu.commands.common import new_parser, output_file, program
from goryu.commands.config_options import add_fields, from_arguments
from goryu.commands.progress_display import ProgressDisplay
from goryu.evaluators.board_network import BOARD_GAMES
from goryu.games.state import Move, State
from goryu.players.agents.agents import Agent, AgentSetup, make_agent
from goryu.players.agents.arena import mean_and_error, paired_match
from goryu.players.agents.presets import disc_lead
from goryu.search.evaluator import Evaluator
from goryu_lab.lessons import experiments
from goryu_lab.lessons.alphazero_config import puct_config
from goryu_lab.lessons.board_learner import BoardLearner
from goryu_lab.lessons.pseudocode import NetworkStorage, OneActor, Trainer
from goryu_lab.lessons.pseudocode_config import SMALL_GAMES, scaled
from goryu_lab.lessons.pseudocode_games import GAMES
from goryu_lab.records.json_lines import JsonLines, read_lines

TREE: Mapping[str, Any] = {"search": "published"}

VARIANTS: dict[str, Mapping[str, Any]] = {
    "ours": {},
    "ours, without rotations and reflections": {"symmetries": False},
    "ours, a proven win learnt by its visits": {"learns_proofs": False},
    "ours, untried moves not as lost": {"untried": "reduced"},
    "the pseudocode's tree: no merging, no proofs": TREE,
    "that tree, noise not divided by its sum": {**TREE, "divides_noise": False},
    "as published: that, without rotations and reflections": {
        **TREE, "divides_noise": False, "symmetries": False
    },
    "as published, with the printed signs": {
        **TREE, "divides_noise": False, "symmetries": False, "printed_signs": True
    },
}  # fmt: skip
"""The variants, and what each changes of the config of `goryu learn pseudocode`."""

SHORTER = {"tictactoe": 0.25, "reversi4": 1.0, "reversi6": 0.5}
"""The share of the games and steps of `goryu learn pseudocode` that a training has."""

JAPANESE = {
    "ours": "Goryu",
    "ours, without rotations and reflections": "Goryu、回転と反転なし",
    "ours, a proven win learnt by its visits": "Goryu、証明された勝ちも訪問回数で学習",
    "ours, untried moves not as lost": "Goryu、未訪問の手を負けとみなさない",
    "the pseudocode's tree: no merging, no proofs": "疑似コードの木（合流も証明もしない）",
    "that tree, noise not divided by its sum": "その木、ノイズを合計で割らない",
    "as published: that, without rotations and reflections": "公開どおり（さらに回転と反転なし）",
    "as published, with the printed signs": "公開どおり、符号も印刷のまま",
    "network alone, of 11": "ネットワークだけ、11 問中",
    "puct:20, of 11": "puct:20、11 問中",
    "puct:20 - uct:100": "puct:20 対 uct:100",
    "puct:20 - random": "puct:20 対 random",
    "puct:20 - greedy": "puct:20 対 greedy",
    "policy loss": "方策の損失",
}


@dataclass(frozen=True, slots=True)
class DifferencesOptions:
    """How to measure. Raises InputError for a bad number."""

    seeds: int = ranged(5, "trainings of each variant", most=1000)
    length: float = ranged(1.0, "factor of the games and steps of a training", most=1000)
    match_games: int = ranged(100, "games of each match", least=2, most=1_000_000)

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True)
class Row:
    """The results of a variant: name of a number -> its mean over the trainings and the standard error."""

    variant: str
    numbers: dict[str, tuple[float, float]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = new_parser(__doc__)
    parser.add_argument("board", choices=SHORTER, metavar="GAME", help=", ".join(SHORTER))
    parser.add_argument("--folder", type=Path, help="of the results, from which it resumes")
    add_fields(parser, DifferencesOptions)
    parser.add_argument("--markdown", type=output_file, metavar="FILE.md", help="also to FILE.ja.md")
    return program("differences.py", parser, run, arguments, extra="train")


def run(args: argparse.Namespace) -> None:
    """Trains the variants and prints the table."""
    torch.set_num_threads(1)
    folder = args.folder or Path("runs/learn") / f"differences-{args.board}"
    with held_folder(folder), ProgressDisplay() as display:
        options = from_arguments(DifferencesOptions, args)
        rows = measure(args.board, options, folder / "trainings.jsonl", display.print)
    print(markdown(rows, {}))
    if args.markdown:
        write_both(args.markdown, lambda words: markdown(rows, words), JAPANESE)


def markdown(rows: Sequence[Row], words: Mapping[str, str]) -> str:
    """Returns the table. words: translations."""
    names = list(rows[0].numbers)
    heads = " | ".join(words.get(name, name) for name in names)
    lines = [f"| | {heads} |", "|---" + "|--:" * len(names) + "|"]
    for row in rows:
        cells = [f"{mean:.2f}" + f" ± {error:.2f}" * (error > 0) for mean, error in row.numbers.values()]
        lines.append(f"| {words.get(row.variant, row.variant)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def measure(game: str, options: DifferencesOptions, path: Path, log: Callable[[str], None]) -> list[Row]:
    """Trains every variant with the first seed, then with the next, and returns the rows of all.

    path: JSON lines of the trainings. Those that are there, with the same options, are not repeated.

    Raises InputError for a damaged file.
    """
    settings = {"game": game, "length": options.length, "match_games": options.match_games}
    found = {
        (one["variant"], one["seed"]): one["numbers"]
        for one in read_lines(path)
        if {key: one.get(key) for key in settings} == settings
    }
    for seed in range(1, options.seeds + 1):
        for name, changes in VARIANTS.items():
            if (name, seed) in found:
                continue
            evaluator, loss = train(game, changes, seed, SHORTER[game] * options.length)
            numbers = strength(game, evaluator, options.match_games, Random(seed))
            numbers["policy loss"] = round(loss, 4)
            found[name, seed] = numbers
            lines = JsonLines(path)
            lines.write([{**settings, "variant": name, "seed": seed, "numbers": numbers}])
            lines.close()
            log(f"seed {seed}, {name}: " + ", ".join(f"{key} {x:.3f}" for key, x in numbers.items()))
    rows = []
    for name in VARIANTS:
        trained = [found[name, seed] for seed in range(1, options.seeds + 1)]
        means = {key: mean_and_error([numbers[key] for numbers in trained]) for key in trained[0]}
        rows.append(Row(name, means))
    return rows


def train(game: str, changes: Mapping[str, Any], seed: int, share: float) -> tuple[Evaluator, float]:
    """Trains a network; returns it and its last policy loss. share: of the steps and games."""
    factors = SMALL_GAMES[game]
    factors = replace(factors, steps=factors.steps * share, checkpoints=0.1)
    config = scaled(factors)
    config = replace(config, alphazero=replace(config.alphazero, **changes))
    learner = BoardLearner(BOARD_GAMES[game], blocks=1, channels=32, seed=seed)
    with TemporaryDirectory() as folder:
        storage = NetworkStorage(Path(folder), GAMES[game])
        trainer = Trainer(learner, storage, config, Random(seed))
        *_, last = trainer.run(OneActor(storage, config.alphazero, Random(seed + 1000)))
        return storage.newest()[1], last.policy_loss


def strength(game: str, evaluator: Evaluator, games: int, rng: Random) -> dict[str, float]:
    """Returns what a network can do: at tic-tac-toe correct replies of 11, and points a game."""
    setup = AgentSetup(evaluator=evaluator, puct=puct_config(scaled(SMALL_GAMES[game]).alphazero))
    player = make_agent("puct:20", setup)
    new = GAMES[game].new
    if game == "tictactoe":
        return {
            "network alone, of 11": float(experiments.correctness(policy_agent(evaluator))),
            "puct:20, of 11": float(experiments.correctness(player)),
            "puct:20 - uct:100": paired_match(player, make_agent("uct:100", rng=rng), new, games).points,
        }
    opponents = {"random": make_agent("random", rng=rng)}
    opponents["greedy"] = make_agent("greedy", AgentSetup(heuristic=disc_lead), rng)
    return {
        f"puct:20 - {name}": paired_match(player, opponent, new, games).points
        for name, opponent in opponents.items()
    }


def policy_agent(evaluator: Evaluator) -> Agent:
    """Returns the player of the network's favourite moves."""

    def choose(state: State) -> Move:
        policy = evaluator.evaluate([state])[0].policy
        return state.legal_moves()[max(range(len(policy)), key=lambda i: policy[i])]

    return choose


if __name__ == "__main__":
    raise SystemExit(main())
