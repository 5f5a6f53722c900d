"""Which faults do the tests find? Draws mutants of the engine and runs the tests that reach their lines.

    pip install cosmic-ray coverage pytest-cov
    export GORYU_IMPLEMENTATION=python
    python -m pytest --cov --cov-context=test --cov-config=FILE --cov-report= TESTS
    python tools/experiments/mutants.py draw LIST.json --coverage .coverage
    python tools/experiments/mutants.py run LIST.json RESULT.json

The mutants are those of cosmic-ray, drawn with a seed from the lines that a test reaches, without
annotations. A mutant is killed when a test fails, or does not end within a minute of processor time. Its
tests run in the order of their lengths; those of more than `--seconds` together are left out. `run --again
OLD.json` runs a list after the tests have changed: the test that killed a mutant before, if it is still
there, comes first, and a test is run with all its parameters.
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
PACKAGES = {"search": 50, "players": 40, "usi": 30}
"""How many mutants are drawn from each package."""

PROCESSOR_S = 60
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


def draw(arguments: argparse.Namespace) -> None:
    """Writes the list of mutants: file, operator, occurrence, line, and the tests that reach the line."""
    import coverage
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    data = coverage.CoverageData(str(arguments.coverage))
    data.read()
    contexts = {
        str(Path(name).relative_to(ROOT)): data.contexts_by_lineno(name) for name in data.measured_files()
    }
    names = [name for name in operator_names() if not name.split("/")[1].startswith(LEFT_OUT)]
    rng = random.Random(arguments.seed)
    drawn: list[dict[str, Any]] = []
    for package, count in PACKAGES.items():
        found: list[dict[str, Any]] = []
        for path in sorted((ROOT / "engine" / "goryu" / package).rglob("*.py")):
            file, source = str(path.relative_to(ROOT)), path.read_text("utf-8")
            skipped, tree = annotated_lines(source), get_ast(source)
            reached = contexts.get(file, {})
            for name in names:
                operator, occurrence = get_operator(name)(), 0
                for node in ast_nodes(tree):
                    for (line, _), _ in operator.mutation_positions(node):
                        tests = sorted({one.partition("|")[0] for one in reached.get(line, ())} - {""})
                        if tests and line not in skipped:
                            kind = name.split("/")[1].split("_")[0]
                            found.append({
                                "package": package, "file": file, "operator": name, "kind": kind,
                                "occurrence": occurrence, "line": line, "tests": tests,
                            })  # fmt: skip
                        occurrence += 1
        # Operators have very different numbers of variants: first a line, then a mutant of it.
        lines = sorted({(one["file"], one["line"]) for one in found})
        for file, line in rng.sample(lines, min(count, len(lines))):
            drawn.append(rng.choice([one for one in found if (one["file"], one["line"]) == (file, line)]))
        print(f"{package}: {len(found)} mutants on {len(lines)} lines")
    arguments.list.write_text(json.dumps(drawn, indent=1) + "\n", "utf-8")


def run(arguments: argparse.Namespace) -> None:
    """Runs the tests of each mutant in a process of its own, and prints how many were killed."""
    lengths: dict[str, float] = json.loads(arguments.lengths.read_text()) if arguments.lengths else {}
    mutants: list[dict[str, Any]] = json.loads(arguments.list.read_text("utf-8"))
    old: list[dict[str, Any]] = json.loads(arguments.again.read_text("utf-8")) if arguments.again else []
    killers = {(one["file"], one["operator"], one["occurrence"]): one.get("killer") for one in old}
    for mutant in mutants:
        killer = killers.get((mutant["file"], mutant["operator"], mutant["occurrence"])) or ""
        tests = [killer, *sorted(mutant["tests"], key=lambda test: lengths.get(test, 1.0))]
        if arguments.again:
            tests = [test.partition("[")[0] for test in tests]
        tests = [test for test in dict.fromkeys(tests) if is_there(test)]
        chosen, total = list[str](), 0.0
        for test in tests:
            total += lengths.get(test, 1.0)
            if chosen and (total > arguments.seconds or len(chosen) >= arguments.most):
                break
            chosen.append(test)
        mutant["killed"], mutant["killer"] = outcome(mutant, chosen)
        mutant["tests_run"] = len(chosen)
        verdict = "killed" if mutant["killed"] else "SURVIVED"
        print(
            f"{verdict} {mutant['file']}:{mutant['line']} {mutant['operator']} {mutant['killer']}", flush=True
        )
        arguments.result.write_text(json.dumps(mutants, indent=1) + "\n", "utf-8")
    for package in PACKAGES:
        of = [one for one in mutants if one["package"] == package]
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
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-m", "slow or not slow"]
    status = pytest.main([*options, *tests], plugins=[watcher])
    return watcher.failed or ("internal error" if status == pytest.ExitCode.INTERNAL_ERROR else "")


def is_there(test: str) -> bool:
    """Is the function of a test still in its file?"""
    file, _, name = test.partition("::")
    function = name.rpartition("::")[2].partition("[")[0]
    path = ROOT / file
    return bool(name) and path.exists() and f"def {function}(" in path.read_text("utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("list", type=Path)
    drawing.add_argument(
        "--coverage", type=Path, required=True, help="data of coverage.py with a context a test"
    )
    drawing.add_argument("--seed", type=int, default=1)
    drawing.set_defaults(function=draw)
    running = commands.add_parser("run")
    running.add_argument("list", type=Path)
    running.add_argument("result", type=Path)
    running.add_argument("--again", type=Path, help="the result of an earlier run of the list")
    running.add_argument("--lengths", type=Path, help="the seconds of tests, as a JSON object")
    running.add_argument("--seconds", type=float, default=30.0)
    running.add_argument("--most", type=int, default=60, help="tests for a mutant")
    running.set_defaults(function=run)
    arguments = parser.parse_args()
    arguments.function(arguments)
    if arguments.function is run:
        print(Counter(one["killed"] for one in json.loads(arguments.result.read_text())))


if __name__ == "__main__":
    main()
