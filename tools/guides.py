"""Compares what the guides name with what exists: options, commands, verbs, extras, variables and figures.

    python3 tools/dev.py guides    lists the differences
    python3 tools/dev.py docs      the same, then builds the site

Every one that a guide names must exist, and every one that exists must be named in a guide. Every complete
command in a guide must be one that its program accepts; it is parsed, not run. A figure is a row of a table
of measurements with a command: the program must still print a line with that label (`FIGURES`).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from goryu.__main__ import COMMANDS
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

FIGURES = {
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
    found["figures"] = list(lost_figures())
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


def written(text: str) -> list[str]:
    """Returns the commands in the code of a guide, without prompts and comments."""
    text = re.sub(r" *\\\n\s*", " ", text)
    blocks = "".join(re.findall(r"^```(?:sh)?\n.*?^```", text, flags=re.MULTILINE | re.DOTALL))
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    indented = re.findall(r"^ {4}(?:\$ )?(\S.*)", text, flags=re.MULTILINE)
    found = [
        line
        for line in [*blocks.splitlines(), *indented, *spans]
        if re.match(r"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?goryu\s", line)
    ]
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
            with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.suppress(SystemExit):
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


def lost_figures() -> Iterator[str]:
    """Yields the rows of measurements whose command prints no such figure."""
    for line in (ROOT / "docs" / "measurements.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        found = re.match(r"`(?:goryu|python3 tools/dev\.py|tools/experiments/)[ ]?([\w-]+)", cells[-1])
        if not line.startswith("|") or found is None:
            continue
        label, name = FIGURES.get(cells[0]), found[1].replace("-", "_")
        sources = [*(ROOT / "tools").rglob(f"{name}.py")]
        if found[1] == "bench":
            sources = [ROOT / "engine" / "goryu_lab" / "benchmark" / "suite.py"]
        if label is None or not any(label in path.read_text("utf-8") for path in sources):
            yield f"{cells[0]}: {cells[-1]} prints no {label!r}"


def main() -> int:
    """Lists the differences; returns 1 if there are any."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    found = differences()
    for kind, lines in found.items():
        print(f"{kind}: {len(lines)} differences", *lines, sep="\n    ")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
