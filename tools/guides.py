"""Compares what the guides name with what exists: options, commands, verbs, extras, messages and figures.

    python3 tools/dev.py guides    lists the differences, and runs the commands that are quick
    python3 tools/dev.py docs      the same, then builds the site

Every one that a guide names must exist, and every one that exists must be named in a guide; the options of
the commands are all in docs/commands.md, which the site makes from their help. Every complete command in a
guide must be one that its program accepts. It is run if that is quick (`QUICK`), and what it prints compared
with the lines below it; why others are not run is in `NOT_RUN`. A figure is a number beside a command that
measures: the program must still print a line with that label (`FIGURES`, `ROWS`).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from goryu.__main__ import COMMANDS
from goryu.base.language import speaking
from goryu.usi.options import OPTIONS, OPTIONS_OF_MORE_DEVICES

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [
    path
    for path in sorted(
        [
            *ROOT.glob("*.md"),
            *(ROOT / "tools").rglob("*.md"),
            *(ROOT / "docs").glob("*.md"),
            *(ROOT / "models").glob("*.md"),
        ]
    )
    if not path.name.endswith(".ja.md") and path.name != "CHANGELOG.md"
]
"""The English guides; the others have the same commands and code (`test_guides.py`)."""

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
"""A block of code: its language and its lines."""

QUICK = r"goryu (arena \w+ (?!.*--model).+|tree --game \w+ (?!FILE).+|tsume solve \".+|analysis --schema)$"
NOT_RUN = {
    "usi csa analysis play web": "sessions; tests/acceptance and tests/page run them",
    "match move-test selfplay teach train learn": "minutes to days",
    "bench doctor": "measures this machine",
    "arena book convert evaluate options records review tree tsume": "needs files, which the tests make",
    "download": "fetches 23 MB",
}
"""Commands of goryu, and why the guides' examples of them are not run here."""

OF_OTHERS = {
    "--build-arg", "--generate", "--interactive", "--tag", "--head", "--max-restarts",
    "--nnodes", "--no-deps", "--nproc-per-node", "--num-cpus",
    "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--repo", "--rm", "--standalone",
    "Python was not found", "DLL load failed", "No matching distribution", "pip uninstall goryu",
    "info nps time nodes hashfull score cp pv",
}  # fmt: skip
"""Options and messages of pip, Docker, Ray, torchrun and Windows."""

MEASURES = r"goryu (bench|doctor|evaluate|match|book \w+|learn \w+)|dev\.py ([a-z-]+)|experiments/(\w+)\.py"
SOURCES = {
    "bench": "goryu_lab/benchmark", "book": "goryu_lab/commands/book.py",
    "doctor": "goryu/commands/doctor.py",
    "evaluate": "goryu_lab/commands/training/evaluate.py", "match": "goryu_lab/match",
    "learn": "goryu_lab/lessons",
}  # fmt: skip
"""Where a command of goryu that measures has its labels, in engine/."""

SCRIPTS = {"problems": "problem_soundness"}
"""Verbs of dev.py whose program in tools/ has another name."""

NOT_MEASURING = {
    "setup", "usi", "web", "test", "lint", "docs", "guides", "clean", "texts", "notebooks", "zip", "vendor",
    "fuzz", "asan", "cross", "openings", "series", "rehearse",
}  # fmt: skip

WITHOUT_FIGURES = {
    "README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/books.md", "docs/cluster.md", "docs/commands.md",
    "docs/gui.md",
    "docs/models.md", "docs/play.md", "docs/releasing.md", "docs/texts.md", "tools/experiments/README.md",
}  # fmt: skip
"""Guides without a number of a command that they name, and the one whose numbers `dev.py texts` compares."""

FIGURES: dict[str, dict[str, str]] = {
    "docs/algorithms.md": {"crosstable": "{points:g}/{games}", "match": ""},
    "docs/gpu.md": {
        "doctor": "positions/s", "first-contact": "", "match": "Elo",
        "muon-steps": "positions/s",
    },
    "docs/kernel.md": {"bench": "compare", "kernel-accuracy": "same first choice"},
    "docs/levels.md": {"levels": "{100 * mean:.0f} ± "},
    "docs/measurements.md": {
        "analysis_load": "", "bench": "", "cluster": "", "loop-trial": "", "muon-steps": "", "perft-race": "",
        "clock": "| control | first ten | longest | mean of", "distillation-speed": "| wall | CPU |",
        "first-problem": "review, median", "large-dojo": "{1000 * number:.0f}",
        "match": "Elo", "page": "'median'", "tab-speed": "memory of the page",
        "problems": "checked", "review-quality": "s of CPU time", "simulated-gpus": "search {run.search_rate",
    },
    "docs/page.md": {"page": "requests"},
    "docs/pseudocode.md": {"differences": "{mean:.2f}", "learn pseudocode": ""},
    "docs/records.md": {"evaluate": "network's first choice", "match": "Elo"},
    "docs/tables.md": {
        "learn lesson": "moving first - ", "learn replay": "", "learn strip": "",
        "learn tictactoe": "moving {place} - uct-flat:100", "text-tables": "{found.error:.3f}",
    },
    "docs/training.md": {
        "evaluate": "", "learn lesson": "", "learn pseudocode": "puct:20 - {name}", "learn reversi": "",
        "learn tictactoe": "", "match": "Elo",
    },
    "docs/tried.md": {"mate-cost": "DfpnNodesPerVisit {nodes}: "},
    "docs/wasm.md": {"wasm": "bytes, packed"},
    "models/goryu-10x96.md": {"bench": "compare", "evaluate": "value favours the winner", "match": "Elo"},
    "models/goryu-5x64.md": {"evaluate": "value favours the winner", "match": "Elo"},
    "models/goryu-book.md": {
        "book check": "no problem", "book coverage": "moves on average", "book make": "positions, ",
    },
    "models/reversi-value.md": {
        "learn lesson": "moving first - ", "learn replay": "", "learn reversi": "moving {place} - random",
        "learn strip": "",
    },
    "models/reversi.md": {"learn reversi": "AlphaZero, puct:100 - "},
    "models/tictactoe.md": {"learn tictactoe": "moving {place} - uct-flat:100"},
}  # fmt: skip
"""A guide -> the commands that it names and that measure -> the label under which each prints what the guide
says; "" where the guide has no number of it, and `ROWS` for those of docs/measurements.md."""

ROWS = {
    "perft, native": " M/s",
    "playouts without a network, middle game, native": "playouts/s, no mate search",
    "native search over Python search": "native speed / Python speed",
    "playouts with goryu-5x64, middle game": "playouts/s",
    "time of a playout outside the network": "µs per playout outside the network",
    "from `stop` to the answer": "ms from stop to the answer, wall time",
    "memory of a position in the middle game": "memory, bytes per node",
    "playouts of `goryu analysis`, one search at a time, over those of `goryu bench`": ", goryu bench {",
    "1,000 queries to `goryu analysis`, a tenth wrong and a tenth cancelled": "one final answer for",
    "two Ray workers against two processes, the same games of self-play": "of the processes' by the clock",
    "processor time of the driver for a game in a block": "the driver for each",
    "the loop on tic-tac-toe while nodes die: replies of eleven that are correct": "of 11 positions",
}
"""The subject of a row of `docs/measurements.md` -> the label under which its command prints the number."""


def differences() -> dict[str, list[str]]:
    """Returns what is named and does not exist, and what exists and is not named, by kind."""
    text = "\n".join(path.read_text("utf-8") for path in GUIDES)
    found: dict[str, list[str]] = {}
    for kind, (named, existing) in named_and_existing(text).items():
        found[kind] = [f"{name}: named, does not exist" for name in sorted(named - existing)]
        found[kind] += [f"{name}: exists, is not named" for name in sorted(existing - named)]
    found["commands as written"] = [f"{command}: {why}" for command, why in refused(text)]
    found["options of commands, and messages"] = [f"{name}: named, does not exist" for name in unknown(text)]
    found["words of the page"] = list(unknown_words())
    found["figures"] = [*lost_rows(), *lost_figures()]
    return found


def named_and_existing(text: str) -> dict[str, tuple[set[str], set[str]]]:
    """Returns for each kind the names in the guides and those that exist."""
    import dev

    words = set(re.findall(r"\w+", text))
    options = {option.name for option in OPTIONS}
    known = options | {option.name for option in OPTIONS_OF_MORE_DEVICES}
    looks_like = re.findall(r"`((?:[A-Z]+_)?[A-Z][a-z]\w+)`", (ROOT / "docs" / "gui.md").read_text("utf-8"))
    commands = set(re.findall(r"(?:`|^|\n)(?:\.venv/bin/)?goryu ([a-z][a-z-]*[a-z])", text))
    verbs = set(re.findall(r"tools[/\\]dev\.py ([a-z][a-z-]*[a-z])", text))
    code = set(re.findall(r"`([a-z-]+)`", text))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(project["optional-dependencies"])
    named_extras = {name for found in re.findall(r"goryu\[([\w,]+)\]|\.\[([\w,]+)\]", text)
                    for name in ",".join(found).split(",") if name}  # fmt: skip
    named_extras |= {name for name in extras if re.search(rf"dev\.py setup [\w ]*\b{name}\b|`{name}`", text)}
    read = set(variables("engine", "tools"))
    of_tests = set(variables("tests")) - read
    return {
        "options of the engine": (
            (options & words) | set(looks_like) - {"Goryu"} - (known - options),
            options,
        ),
        "commands of goryu": (commands, set(COMMANDS)),
        "verbs of dev.py": (verbs | set(dev.VERBS) & (commands | code), set(dev.VERBS)),
        "extras": (named_extras, extras),
        "variables": (set(re.findall(r"\bGORYU_[A-Z_]+[A-Z]\b", text)) - of_tests, read),
    }


def variables(*folders: str) -> Iterator[str]:
    """Yields the environment variables that the programs of folders, or the set-up, read."""
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        yield from re.findall(r"""["'](GORYU_[A-Z_]+)["']""", path.read_text("utf-8"))
    if "engine" in folders:
        yield from re.findall(r'"(GORYU_\w+)"', (ROOT / "setup.py").read_text("utf-8"))


def written(text: str, programs: str = "goryu", *, with_spans: bool = True) -> list[str]:
    """Returns the commands in the code of a guide, without prompts and comments.

    programs: a regular expression. with_spans: also those within a line of text?
    """
    text = re.sub(r" *\\\n\s*", " ", text)
    blocks = [block for kind, block in FENCE.findall(text) if kind in ("", "sh")]
    outside = FENCE.sub("", text)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(r"^ {4}(\S.*)", outside, flags=re.MULTILINE)
    lines += re.findall(r"`([^`\n]+)`", outside) if with_spans else []
    lines = [line.removeprefix("$ ") for line in lines]
    found = [line for line in lines if re.match(rf"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(?:{programs})\s", line)]
    return [re.sub(r"\s+#\s.*", "", line).strip() for line in found]


def refused(text: str) -> Iterator[tuple[str, str]]:
    """Yields the commands that their programs do not accept, and why.

    A command that only lacks something, such as `goryu train --initial`, is named and not written out.
    """
    commands = [part for command in written(text) for part in command.split(" && ")]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for command in dict.fromkeys(commands):
            words = shlex.split(command)
            at = next(i for i, word in enumerate(words) if word.endswith("goryu"))
            if words[at + 1] not in COMMANDS or re.search(r"\.\.\.|…|--help|of commit", command):
                continue
            module = import_module(COMMANDS[words[at + 1]].function.partition(":")[0])
            for word in words:  # Some programs want the folder of a file to write.
                if not word.startswith("/"):
                    Path(word).parent.mkdir(parents=True, exist_ok=True)
            if not hasattr(module, "make_parser"):
                continue
            parser = module.make_parser()
            given = {word.partition("=")[0] for word in words[at + 2 :] if re.match(r"--\w", word)}
            if unknown := given - set(options_of(parser)):
                yield command, f"no option {' '.join(sorted(unknown))}"
            said = io.StringIO()  # It stays empty if a package of an extra is missing.
            with contextlib.redirect_stderr(said), contextlib.suppress(SystemExit, ModuleNotFoundError):
                parser.parse_args(words[at + 2 :])
            why = said.getvalue().strip().rpartition("\n")[2]
            if why and not re.search(r"are required|expected (one|2|at least one) argument", why):
                yield command, why


def options_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yields the options of a program and of its verbs."""
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from options_of(verb)


def unknown(text: str) -> list[str]:
    """Returns the options of commands, and the messages of three words and more, that no program has."""
    paths = [path for folder in ("engine", "tools") for path in (ROOT / folder).rglob("*.py")]
    sources = "\n".join(path.read_text("utf-8") for path in paths)
    parsers = [parser for _, parser in parsers_of_commands()]
    existing = {option for parser in parsers for option in options_of(parser)}
    existing |= set(re.findall(r'"(--[a-z][\w-]*)"', sources))
    fields = re.findall(r"^    ([a-z_]+): .+ = (?:ranged|option)\(", sources, flags=re.MULTILINE)
    existing |= {f"--{name.replace('_', '-')}" for name in fields}
    options = set(re.findall(r"(?<![\w-])--[a-z][\w-]*\w", text)) - existing
    messages = re.findall(r"`([A-Za-z][a-z]+(?: [a-z]+){2,})`", FENCE.sub("", text))
    messages = [found for found in messages if not found.startswith("goryu ") and found not in sources]
    return sorted((options | set(messages)) - OF_OTHERS)


def parsers_of_commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yields what is typed before the options, and the parser, of each command and of its verbs."""
    for name, command in COMMANDS.items():
        module = import_module(command.function.partition(":")[0])
        if hasattr(module, "make_parser"):
            parser = module.make_parser()
            yield f"goryu {name}", parser
            for action in parser._actions:
                if isinstance(action, argparse._SubParsersAction):
                    yield from ((f"goryu {name} {verb}", sub) for verb, sub in action.choices.items())


def reference(language: str) -> str:
    """Returns what the commands of goryu print with --help, as Markdown."""
    with speaking(language):
        helps = {name: parser.format_help() for name, parser in parsers_of_commands()}
        for name in (name for name in COMMANDS if f"goryu {name}" not in helps and name != "options"):
            module, _, function = COMMANDS[name].function.partition(":")
            with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
                getattr(import_module(module), function)(["--help"])
            helps[f"goryu {name}"] = said.getvalue()
    order = [f"goryu {name}" for name in COMMANDS]
    names = sorted(helps, key=lambda name: order.index(" ".join(name.split()[:2])))
    return "\n\n".join(f"## {name}\n\n```text\n{helps[name].rstrip()}\n```" for name in names)


def unknown_words() -> Iterator[str]:
    """Yields the words in italics or brackets of the guides to the page that it does not show."""
    for language, ending, quoted in (("en", ".md", ()), ("ja", ".ja.md", (r"「([^」\n]+)」",))):
        engine = ROOT / "engine"  # texts.ja.toml has the English texts of Python, too.
        paths = [
            *engine.rglob(f"page.{language}.toml"),
            *engine.rglob("texts.ja.toml"),
            *engine.rglob("levels.py"),
        ]
        shown = "".join(path.read_text("utf-8") for path in paths).lower()
        for guide in ("web", "dojo"):
            text = FENCE.sub("", (ROOT / "docs" / f"{guide}{ending}").read_text("utf-8"))
            for pattern in (r"(?<![*\w])\*([^*\n]+)\*(?![*\w])", *quoted):
                for words in re.findall(pattern, text):
                    parts = re.split(r"\s*\d+\s*", words.lower())  # A label may have a number in it.
                    if not re.fullmatch(r"[A-Z]-\d\w", words) and not all(part in shown for part in parts):
                        yield f"docs/{guide}{ending}: {words}"


def lost_rows() -> Iterator[str]:
    """Yields the rows of measurements whose command prints no such figure."""
    for line in (ROOT / "docs" / "measurements.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        found = re.match(r"`(?:goryu|python3 tools/dev\.py|tools/experiments/)[ ]?([\w-]+)", cells[-1])
        if line.startswith("|") and found and not prints(found[1], ROWS.get(cells[0])):
            yield f"{cells[0]}: {cells[-1]} prints no {ROWS.get(cells[0])!r}"


def lost_figures() -> Iterator[str]:
    """Yields the commands in guides that measure, and print no such figure."""
    for path in GUIDES:
        guide = path.relative_to(ROOT).as_posix()
        if guide not in WITHOUT_FIGURES and not guide.startswith("tools/notebooks"):
            found = {next(filter(None, names)) for names in re.findall(MEASURES, path.read_text("utf-8"))}
            found -= NOT_MEASURING
            labels = FIGURES.get(guide, {})
            for name in sorted(found | {name for name, label in labels.items() if label}):
                if name not in found or (labels.get(name) != "" and not prints(name, labels.get(name))):
                    yield f"{guide}: {name} prints no {labels.get(name)!r}"


def prints(program: str, label: str | None) -> bool:
    """Has the source of a program that measures this label?"""
    name = program.partition(" ")[0]
    folder = ROOT / "engine" / SOURCES[name] if name in SOURCES else ROOT / "tools"
    paths = (
        [folder]
        if folder.is_file()
        else folder.rglob("*.py" if name in SOURCES else f"{SCRIPTS.get(name, name).replace('-', '_')}.py")
    )
    return label is not None and any(label in path.read_text("utf-8") for path in paths)


def not_as_written() -> Iterator[str]:
    """Runs the quick commands of the guides; yields those that fail or print other lines than those below.

    Numbers may differ: of a time, say. Also yields commands of which nothing says why they are not run.
    `dev.py texts` and `dev.py notebooks` run those of their pages.
    """
    own = [path for path in GUIDES if path.name != "texts.md" and path.parent.name != "notebooks"]
    text = "\n".join(path.read_text("utf-8") for path in own)
    said = {name for names in NOT_RUN for name in names.split()}
    commands = {part: "" for command in written(text) for part in command.split(" && ")}
    for block in (block for kind, block in FENCE.findall(text) if kind == ""):
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, lines = example.partition("\n")
            commands[re.sub(r"\s+#\s.*", "", command).strip()] = lines
    with tempfile.TemporaryDirectory() as folder:
        for command, lines in commands.items():
            words = shlex.split(command)
            if re.match(QUICK, command):
                run = [sys.executable, "-m", *words]
                done = subprocess.run(run, cwd=folder, capture_output=True, text=True)
                printed = re.sub(r"[\d.]+", "#", done.stdout)
                missing = [line for line in lines.splitlines() if re.sub(r"[\d.]+", "#", line) not in printed]
                if done.returncode or missing:
                    yield f"{command}: status {done.returncode} {done.stderr[-200:]} {missing}"
            elif words[0] == "goryu" and words[1] in COMMANDS and words[1] not in said:
                yield f"{command}: not run"


def main() -> int:
    """Lists the differences; returns 1 if there are any."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    found = differences()
    found["commands that are run"] = list(not_as_written())
    for kind, lines in found.items():
        print(f"{kind}: {len(lines)} differences", *lines, sep="\n    ")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
