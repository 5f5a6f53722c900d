"""Runs the commands of docs/texts.md, compares what they print, and writes the tables of the page anew.

    python3 tools/dev.py texts               all commands that need no training, a few minutes
    python3 tools/dev.py texts --only usi    the commands that contain a word
    python3 tools/dev.py texts --train       also those that train networks (PyTorch; half an hour)
    python3 tools/dev.py texts --write       runs nothing, writes the tables

The rows are in texts.toml. Of each, `out` is a line (or several) that the command must print: blanks count as
one, "…" stands for anything, and a number after the sign U+2248 for any number.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(__file__).with_suffix(".toml")
PAGES = {"en": ROOT / "docs" / "texts.md", "ja": ROOT / "docs" / "texts.ja.md"}
HEADS = {
    "en": "| in the text | in Goryu | it prints | remark |\n|---|---|---|---|",
    "ja": "| 文章では | Goryu では | 出力 | 備考 |\n|---|---|---|---|",
}
OUTLINE = "card"
"""The table of the project's outline, which is none of the five texts."""
COUNTS = {
    "en": "Of the {all} items of the texts {works} work, {partly} work partly, and {history} is history.",
    "ja": "文章の {all} 項目のうち、{works} 項目が動き、{partly} 項目は一部だけ、"
    "{history} 項目は歴史的なものです。",
}
STATES = {"works": ("", ""), "partly": ("partly", "一部"), "history": ("history", "歴史")}
"""What the remark begins with."""

TABLE = re.compile(r"(?<=^<!-- table: )(\w+) -->\n.*?(?=<!-- end -->$)", re.MULTILINE | re.DOTALL)
ENVIRONMENT = {
    "GORYU_LANGUAGE": "en", "GORYU_NETWORK": "shipped", "COLUMNS": "160", "NO_COLOR": "1", "TERM": "dumb",
    "PYTHONIOENCODING": "utf-8",
}  # fmt: skip
MOST_S = 3600
ANSWERS = {"isready": ("readyok",), "go": ("bestmove", "checkmate")}
"""What is typed -> the beginnings of the line that ends the answer."""

PRELUDE = """\
from importlib.metadata import requires
from pathlib import Path
from random import Random
from goryu.evaluators.uniform import UniformEvaluator
from goryu.games.tictactoe import TicTacToe"""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table; `texts` and `why` are in English and in Japanese.

    see: files of the repository with names of functions in them, such as "engine/goryu/search/uct.py Node".
    run: the command. typed: what is then typed. out: lines that it prints. py: an expression in place of a
        command, with the names of `see` and of PRELUDE.
    why: what differs, or the reason why it does not all work. trains: does the command train a network?
    """

    table: str
    texts: tuple[str, str]
    see: tuple[str, ...]
    py: str
    run: str
    typed: tuple[str, ...]
    out: tuple[str, ...]
    state: str
    why: tuple[str, str]
    trains: bool

    @property
    def program(self) -> str:
        """The Python program that prints the expression."""
        imports = []
        for path, *names in map(str.split, self.see):
            module = path.removeprefix("engine/").removesuffix(".py").replace("/", ".")
            imports += [f"from {module} import {name.partition('.')[0]}" for name in names]
        return "\n".join([PRELUDE, *imports, f"print({self.py})"])

    def markdown(self, language: str) -> str:
        """Returns the row of the page in one of the languages."""
        i = list(PAGES).index(language)
        places = []
        for path, *names in map(str.split, self.see):
            places.append(_link(language, path, *(name for name in names if name not in self.py)))
        typed = f": `{' ⏎ '.join(self.typed)}`" if self.typed else ""
        here = "<br>".join([*places, *([_code(self.py or self.run) + typed] if self.py or self.run else [])])
        printed = "<br>".join(_code(line) for line in self.out)
        remark = self.why[i]
        if self.state != "works":
            remark = f"{STATES[self.state][i]}{'：' if i else ': '}{remark}"
        return f"| {self.texts[i]} | {here} | {printed} | {remark} |"


def _code(text: str) -> str:
    return "`" + text.replace("|", r"\|") + "`"


def _link(language: str, path: str, *names: str) -> str:
    if path.startswith("docs/"):
        page = Path(path).relative_to("docs")
        name = (page.with_suffix(f".ja{page.suffix}") if language == "ja" else page).as_posix()
        return f"[{name}]({name})"
    shown = path.removeprefix("engine/").removeprefix("goryu/")
    return f"[{shown}](../{path})" + (f" {', '.join(f'`{name}`' for name in names)}" if names else "")


def read(path: Path = DATA) -> list[Row]:
    """Returns the rows in the order of the page."""
    rows = []
    for table, found in tomllib.loads(path.read_text("utf-8")).items():
        for row in found:
            lines = row.get("out", ())
            rows.append(
                Row(
                    table,
                    (row.pop("en"), row.pop("ja")),
                    tuple(row.pop("see", ())),
                    row.pop("py", ""),
                    row.pop("run", ""),
                    tuple(row.pop("typed", ())),
                    (lines,) if isinstance(lines, str) else tuple(lines),
                    row.pop("state", "works"),
                    tuple(row.pop("why", ("", ""))),
                    row.pop("trains", False),
                )
            )
            row.pop("out", None)
            assert not row, f"{table}: unknown fields {row}"
    return rows


def page(text: str, rows: Sequence[Row], language: str) -> str:
    """Returns a page with its tables written anew."""

    def table(match: re.Match[str]) -> str:
        if match[1] == "counts":
            states = [row.state for row in rows if row.table != OUTLINE]
            numbers = {state: states.count(state) for state in STATES}
            return f"counts -->\n\n{COUNTS[language].format(all=len(states), **numbers)}\n\n"
        lines = [row.markdown(language) for row in rows if row.table == match[1]]
        return "\n".join([f"{match[1]} -->", "", HEADS[language], *lines, "", ""])

    return TABLE.sub(table, text)


def missing(row: Row, output: str) -> list[str]:
    """Returns the lines of the row that the output lacks."""
    lines = [" ".join(line.split()) for line in output.splitlines()]
    matches = re.fullmatch if row.py else re.search  # An expression prints its value and nothing else.
    return [out for out in row.out if not any(matches(_pattern(out), line) for line in lines)]


def _pattern(out: str) -> str:
    literal = re.escape(" ".join(out.split()))
    return re.sub(r"≈\d[\d,]*(?:\\\.\d+)?", r"[\\d.,]+", literal).replace("…", ".*?")


def output_of(row: Row, folder: Path) -> str:
    """Runs the command of a row in a folder; returns what it prints.

    After `isready` and `go` it waits for the answer before it types on: an engine stops thinking at the end
    of its input, and the clock of a search starts with `go`, also while a network loads.
    """
    if row.py:
        return _printed([sys.executable, "-c", row.program], (), folder)
    words = (shlex.split(command) for command in row.run.split(" && "))
    return "".join(_printed([sys.executable, "-m", *command], row.typed, folder) for command in words)


def _printed(command: Sequence[str], typed: Sequence[str], folder: Path) -> str:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **ENVIRONMENT}, stdin=pipe, stdout=pipe,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8",
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        printed = ""
        try:
            for line in typed:
                process.stdin.write(line + "\n")
                process.stdin.flush()
                if ends := ANSWERS.get(line.split()[0]):
                    for answer in process.stdout:
                        printed += answer
                        if answer.startswith(ends):
                            break
            return printed + process.communicate(timeout=MOST_S)[0]
        finally:
            process.kill()


def outputs(rows: Sequence[Row], folder: Path) -> Iterator[tuple[Row, str]]:
    """Yields the rows with a command, in order, and what it prints; the same command runs once."""
    known: dict[tuple[str, tuple[str, ...]], str] = {}
    for row in rows:
        if row.py or row.run:
            key = row.program if row.py else row.run, row.typed
            if key not in known:
                known[key] = output_of(row, folder)
            yield row, known[key]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns 1 if a line is missing."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("dev.py texts", description=__doc__, formatter_class=raw)
    parser.add_argument("--only", default="", metavar="WORD", help="only commands that contain the word")
    parser.add_argument("--train", action="store_true", help="also the commands that train networks")
    parser.add_argument("--folder", type=Path, help="where the commands write (default: a temporary folder)")
    parser.add_argument("--write", action="store_true", help="write the tables without running anything")
    options = parser.parse_args(arguments)
    rows = read()
    failed = 0
    if not options.write:
        named = (row for row in rows if options.only in row.py + row.run)
        wanted = [row for row in named if options.train or not row.trains]
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.folder or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            for row, output in outputs(wanted, folder):
                lacks = missing(row, output)
                failed += bool(lacks)
                typed = "".join(f"\n     > {line}" for line in row.typed)
                print(f"{'MISSING' if lacks else 'ok'}  {row.py or row.run}{typed}", flush=True)
                if lacks:
                    print("\n".join([f"    expected {lacks}", *output.splitlines()[-30:]]), flush=True)
        print(f"{failed} of {len(wanted)} rows are wrong")
    for language, path in PAGES.items():
        path.write_text(page(path.read_text("utf-8"), read(), language), "utf-8", newline="\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
