"""`goryu analysis`: an engine for programs, with JSON lines on stdin and stdout."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from threading import Thread

from goryu.analysis.engine import AnalysisEngine
from goryu.analysis.query import Configure, QueryError, schema_text
from goryu.analysis.searchers import Searchers
from goryu.base.arguments import ArgumentParser, whole_number
from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.commands.common import add_model, name_and_value, program
from goryu.commands.review import MOST_PLAYOUTS, MOST_THREADS, PLAYOUTS
from goryu.players.config import EngineConfig, Value
from goryu.players.set_up.loading import load_evaluator
from goryu.usi.loop import MAX_LINE, claim_stdin, read_lines
from goryu.usi.option import OptionError
from goryu.usi.option_values import OptionValues
from goryu.usi.start_config import start_options

MOST_WAITING = 10_000
"""Positions; a query of 100 moves takes some 3 kB."""

STEP_S = 0.1
"""How long the main thread waits for the end of the input before it looks whether the output is closed."""

INTERRUPTED = 130
"""The exit status, as that of `program`."""

PER_QUERY = ("search.formula.", "search.root_formula.", "search.final_move", "mate.", "rules.")
"""Fields whose options a query may set: the searches of all queries share the rest."""

NOT_PER_QUERY = ("mate.solves_mates", "mate.reply_nodes", "rules.draw_value_black", "rules.draw_value_white")
"""Those of them that mean nothing to an analysis."""


def main(arguments: Sequence[str]) -> int:
    """Answers the requests on stdin; returns the exit status."""
    return program("goryu analysis", make_parser(), run, arguments, starts_engines=False)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = ArgumentParser(
        "goryu analysis",
        description=tr(
            "Analyses positions for programs: a line of JSON on standard input is a query, and the answers "
            "are lines of JSON on standard output."
        ),
        epilog=tr("docs/analysis.md describes the fields; `--schema` prints them as JSON Schema."),
    )
    parser.add_argument("--schema", action="store_true", help=tr("print the JSON Schema of all lines"))
    parser.add_argument(
        "--playouts", type=whole_number(1, MOST_PLAYOUTS), default=PLAYOUTS, metavar="N",
        help=tr("for each position (default {default})", default=PLAYOUTS),
    )  # fmt: skip
    add_model(parser)
    parser.add_argument(
        "--option", type=name_and_value, action="append", default=[], metavar="NAME=VALUE",
        help=tr("set a USI option; may be repeated"),
    )  # fmt: skip
    parser.add_argument(
        "--searches", type=whole_number(1, MOST_THREADS), metavar="N",
        help=tr("positions searched at once (default: what suits the network)"),
    )  # fmt: skip
    parser.add_argument(
        "--queue", type=whole_number(1, 1_000_000), default=MOST_WAITING, metavar="N",
        help=tr("read no more while N positions are unanswered (default {default})", default=MOST_WAITING),
    )  # fmt: skip
    return parser


def run(options: argparse.Namespace) -> int:
    """Answers the requests; returns the exit status."""
    if options.schema:
        sys.stdout.write(schema_text())
        return 0
    values = _start_values(options)
    config, commands, output = values.config, claim_stdin(), _claim_stdout()
    engine = AnalysisEngine(
        lambda: Searchers(load_evaluator(config.evaluator, _say), config, options.searches or 0),
        _configure(values),
        lambda line: _send(output, line),
        playouts=options.playouts,
        most_waiting=options.queue,
    )
    faults: list[Exception] = []
    reader = Thread(target=_read, args=(engine, commands, faults), name="reader", daemon=True)
    reader.start()
    try:
        while reader.is_alive() and engine.fault is None:
            reader.join(STEP_S)
        engine.finish()
    except KeyboardInterrupt:  # SIGTERM raises it, too.
        engine.stop()
        engine.finish()
        return INTERRUPTED
    if faults:
        raise faults[0]
    if engine.fault is not None:
        raise engine.fault
    return 0


def _read(engine: AnalysisEngine, commands: int, faults: list[Exception]) -> None:
    """Hands the lines of `commands` to the engine until they end; a fault of Goryu goes into `faults`."""
    try:
        _read_lines(engine, commands)
    except Exception as fault:
        faults.append(fault)


def _read_lines(engine: AnalysisEngine, commands: int) -> None:
    too_long = f"expected at most {MAX_LINE} bytes in a line"
    for raw in read_lines(commands, lambda: engine.refuse(None, too_long)):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError:
            engine.refuse(None, "expected a line in UTF-8")
            continue
        if line:
            engine.receive(line)


def _start_values(options: argparse.Namespace) -> OptionValues:
    """Returns the options at the start; raises InputError."""
    if options.model and not options.model.is_file():
        raise InputError(tr("{file}: no such file", file=f"--model {options.model}"))
    values, problems = start_options(str(options.model.absolute()) if options.model else "")
    if options.model:
        values.set("AllowFallback", "false")
    for name, text in options.option:
        try:
            problems += values.set(name, text)
        except OptionError as error:
            raise InputError(f"--option {name}: {error}") from error
    for message in problems:
        _say(message)
    return values


def _configure(values: OptionValues) -> Configure:
    """Returns what sets the options of a query, on top of those of the start."""

    def configure(options: Mapping[str, Value]) -> EngineConfig:
        if not options:
            return values.config
        own = deepcopy(values)
        for name, value in options.items():
            place = f"options.{name}"
            fields = [option.field for option in own.find(name)]
            if not fields:
                raise QueryError("no option has this name", place)
            if any(not field.startswith(PER_QUERY) or field in NOT_PER_QUERY for field in fields):
                raise QueryError("a query cannot set this option", place)
            try:
                messages = own.set(name, str(value).lower() if isinstance(value, bool) else str(value))
            except OptionError as error:
                raise QueryError(str(error), place) from error
            if messages:
                raise QueryError(messages[0], place)
        return own.config

    return configure


def _claim_stdout() -> int:
    """Returns a private copy of stdout; what libraries print goes to stderr from now on."""
    sys.stdout.flush()
    output = os.dup(1)
    os.set_inheritable(output, False)
    os.dup2(2, 1)
    return output


def _send(output: int, line: str) -> None:
    text = memoryview(f"{line}\n".encode("ascii"))
    while text:
        text = text[os.write(output, text) :]


def _say(message: str) -> None:
    sys.stderr.write(f"goryu analysis: {message}\n")
