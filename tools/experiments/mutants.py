"""Which faults do the tests find? Draws mutants of the engine and runs the tests of their modules.

    pip install cosmic-ray
    export GORYU_IMPLEMENTATION=python
    python tools/experiments/mutants.py draw LIST.json
    python tools/experiments/mutants.py run LIST.json RESULT.json

The mutants are those of cosmic-ray, drawn with a seed: first a line, then a mutant of it. Lines of
annotations are left out. First the test file of the module runs, then the others of its package. A mutant is
killed when a test fails; one that runs for ever fails by its time. `run --again OLD.json` runs a list after
code or tests have changed: it finds the mutated line by its text, and runs the file that killed the mutant
first.
"""

import argparse
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("search", "players", "usi")

PROCESSOR_S = 300
TEST_S = 150
LEFT_OUT = ("RemoveDecorator", "ReplaceBinaryOperator_BitOr", "Variable", "ExceptionReplacer")
"""Operators whose mutants are mostly no faults: slots, annotations with |, names that are not there."""


class Mutated(importlib.machinery.SourceFileLoader):
    """Loads a module from a text instead of from its file."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    """Finds the mutated module before the real one."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        self.name, self.path, self.source = name, path, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        loader = Mutated(fullname, str(self.path), self.source)
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


def annotated_lines(source: str) -> set[int]:
    """Returns the lines of annotations, docstrings and imports, where a mutant means nothing."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        parts: list[ast.AST] = []
        if isinstance(node, ast.FunctionDef):
            parts = [
                part for part in (node.args, node.returns) if part is not None and hasattr(part, "lineno")
            ]
            lines |= set(range(node.lineno, node.body[0].lineno))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            parts = [node]
        for part in parts:
            lines |= set(range(part.lineno, (part.end_lineno or part.lineno) + 1))  # type: ignore[attr-defined]
    return lines


def mutants_of(path: Path) -> list[dict[str, Any]]:
    """Returns all mutants of a file."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    source = path.read_text("utf-8")
    lines, skipped, tree = source.splitlines(), annotated_lines(source), get_ast(source)
    found = []
    for name in operator_names():
        if name.split("/")[1].startswith(LEFT_OUT):
            continue
        operator, occurrence = get_operator(name)(), 0
        ranks = Counter[int]()
        for node in ast_nodes(tree):
            for (line, _), _ in operator.mutation_positions(node):
                if line not in skipped:
                    mutant = {"file": str(path.relative_to(ROOT)), "operator": name, "occurrence": occurrence}
                    place = {"line": line, "text": lines[line - 1].strip(), "rank": ranks[line]}
                    found.append(mutant | place)
                ranks[line] += 1
                occurrence += 1
    return found


def draw(arguments: argparse.Namespace) -> None:
    """Writes the list of mutants."""
    rng = random.Random(arguments.seed)
    drawn: list[dict[str, Any]] = []
    for package in PACKAGES:
        files = sorted((ROOT / "engine" / "goryu" / package).rglob("*.py"))
        found = [mutant for path in files for mutant in mutants_of(path)]
        lines = sorted({(one["file"], one["line"]) for one in found})
        for place in rng.sample(lines, arguments.count):
            choice = rng.choice([one for one in found if (one["file"], one["line"]) == place])
            drawn.append({"package": package, **choice})
        print(f"{package}: {len(found)} mutants on {len(lines)} lines")
    arguments.list.write_text(json.dumps(drawn, indent=1) + "\n", "utf-8")


def found_again(mutant: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the mutant in the file as it is now, or None if its line is gone."""
    path = ROOT / mutant["file"]
    same = [
        one
        for one in (mutants_of(path) if path.exists() else [])
        if all(one[name] == mutant[name] for name in ("operator", "text", "rank"))
    ]
    return min(same, key=lambda one: abs(one["line"] - mutant["line"]), default=None)


def tests_of(file: str, killer: str) -> list[str]:
    """Returns the test files of a module's package, its own first."""
    module = (ROOT / file).relative_to(ROOT / "engine" / "goryu")
    folder = ROOT / "tests" / module.parent
    files = sorted(folder.glob("test_*.py"))
    if len(module.parts) > 2:  # Of a package within a package: then those of the outer one.
        files += sorted(folder.parent.glob("test_*.py"))
    names = [str(path.relative_to(ROOT)) for path in files]
    own = f"/test_{module.stem}"
    return sorted(names, key=lambda name: (name != killer.partition("::")[0], own not in name))


def run(arguments: argparse.Namespace) -> None:
    """Runs the tests of each mutant in a process of its own, and prints how many were killed."""
    mutants: list[dict[str, Any]] = json.loads((arguments.again or arguments.list).read_text("utf-8"))
    done = []
    for mutant in mutants:
        if arguments.package not in ("", mutant["package"]):
            continue
        now = found_again(mutant) if arguments.again else mutant
        if now is None:
            print(f"gone {mutant['file']}:{mutant['line']}", flush=True)
            continue
        mutant |= now
        killer = mutant.get("killer", "")
        mutant["killed"], mutant["killer"] = outcome(mutant, tests_of(mutant["file"], killer))
        verdict = "killed" if mutant["killed"] else "SURVIVED"
        print(
            f"{verdict} {mutant['file']}:{mutant['line']} {mutant['operator']} {mutant['killer']}", flush=True
        )
        done.append(mutant)
        arguments.result.write_text(json.dumps(done, indent=1) + "\n", "utf-8")
    for package in PACKAGES:
        of = [one for one in done if one["package"] == package]
        if of:
            print(f"{package}: {sum(one['killed'] for one in of)} of {len(of)} killed")


def outcome(mutant: dict[str, Any], tests: list[str]) -> tuple[bool, str]:
    """Returns whether a test failed, and which; or why the mutant counts as killed."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    path = ROOT / mutant["file"]
    source = mutate_code(path.read_text("utf-8"), get_operator(mutant["operator"])(), mutant["occurrence"])
    assert source is not None, mutant
    name = ".".join(path.relative_to(ROOT / "engine").with_suffix("").parts).removesuffix(".__init__")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        sys.meta_path.insert(0, Finder(name, path, source))
        failed = in_this_process(tests)
        os.write(writer, failed.encode()[:4000])
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as answers:
        text = answers.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        return True, f"ended with status {status}"
    return bool(text), text


def in_this_process(tests: list[str]) -> str:
    """Runs tests until one fails; returns its name, or ''."""
    import pytest

    class Watcher:
        failed = ""

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed and not self.failed:
                self.failed = report.nodeid

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed and not self.failed:
                self.failed = report.nodeid or "collection"

    watcher = Watcher()
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-o", f"timeout={TEST_S}"]
    status = pytest.main([*options, *tests], plugins=[watcher])
    return watcher.failed or ("internal error" if status == pytest.ExitCode.INTERNAL_ERROR else "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("list", type=Path)
    drawing.add_argument("--count", type=int, default=40, help="mutants of each package")
    drawing.add_argument("--seed", type=int, default=1)
    drawing.set_defaults(function=draw)
    running = commands.add_parser("run")
    running.add_argument("list", type=Path)
    running.add_argument("result", type=Path)
    running.add_argument("--again", type=Path, help="the result of an earlier run of the list")
    running.add_argument("--package", default="", choices=("", *PACKAGES))
    running.set_defaults(function=run)
    arguments = parser.parse_args()
    arguments.function(arguments)


if __name__ == "__main__":
    main()
