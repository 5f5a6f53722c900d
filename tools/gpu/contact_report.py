"""The report of a first contact in Markdown, from its log."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from goryu.base.files import atomic_write
from gpu.contact_log import ContactLog

REPORT = "report.md"

Events = Sequence[Mapping[str, Any]]

RATES = ("raw_per_s", "search_per_s", "ratio", "cpu_us", "memory_mb", "load_s")
SPEEDS = ("moves", "ms_per_move", "nps", "depth", "slowest_ms", "late_ms")
DIFFERENCES = ("policy_max", "policy_mean", "value_max", "value_mean", "same_first")


def write_report(log: ContactLog, folder: Path, *, rehearses: bool) -> None:
    """Writes the report as far as it goes."""
    atomic_write(folder / REPORT, "\n".join(_lines(log, rehearses)) + "\n")


def _lines(log: ContactLog, rehearses: bool) -> Iterator[str]:
    hardware = log.found("machine", "hardware") or {}
    yield f"# First contact: {hardware.get('gpu', '-')}"
    if rehearses:
        yield ""
        yield "This was a rehearsal: the CPU ran in place of the GPU. No number is one of a GPU."
    for stage in TITLES:
        results = list(log.results(stage))
        if all(event["stage"] != stage for event in log.events):
            continue
        done = [event for event in results if event["event"] == "done" and event["found"]]
        failed = [event for event in results if event["event"] == "failed"]
        yield from ("", f"## {TITLES[stage]}", "")
        left = 0 if log.has_ended(stage) else _left(log, stage)
        seconds = round(sum(float(event.get("seconds", 0.0)) for event in results))
        yield f"{len(results) - len(failed)} done, {len(failed)} failed, {left} left; {seconds} s"
        yield ""
        yield from SECTIONS[stage]([*done, *log.unfinished(stage)])
        broken = [event for event in log.events if event["stage"] == stage and event["event"] == "broken"]
        if failed or broken:
            yield ""
        for event in failed:
            yield f"- ! **{event['item']}**: {event['reason']}"
        for event in broken:
            yield f"- ! {event['reason']}"


def _left(log: ContactLog, stage: str) -> int | str:
    """Returns how many items the last call left for lack of time; "?" if it was killed."""
    last = [each for each in log.events if each["stage"] == stage][-1]
    return len(last["left"]) if last["event"] == "out of time" else "?"


def _machine(done: Events) -> Iterator[str]:
    for event in done:
        if event["item"] in ("hardware", "software"):
            for name, value in event["found"].items():
                yield f"- {name}: {_shown(value)}"
        else:
            found = event["found"]
            note = f"; ! {found['note']}" if found["note"] else ""
            yield f"- **{event['item']}**: {_shown(found['shares'])}; {found['network']}{note}"


def _answers(done: Events) -> Iterator[str]:
    heads = ("", "policy max", "policy mean", "value max", "value mean", "same first move", "")
    rows = [
        (
            event["item"],
            *(f"{event['found'][name]:.3g}" for name in DIFFERENCES),
            "" if event["found"]["is_close"] else "!",
        )
        for event in done
    ]
    yield from _table(heads, rows)


def _rates(done: Events) -> Iterator[str]:
    heads = ("", "alone/s", "search/s", "ratio", "CPU µs", "MB", "load s")
    rows = [
        (
            event["item"] + (" !" if event["found"]["note"] else ""),
            *(
                "-" if (number := event["found"][name]) is None else f"{number:,.{2 * (name == 'ratio')}f}"
                for name in RATES
            ),
        )
        for event in done
    ]
    yield from _table(heads, rows)
    phases = list(dict.fromkeys(name for event in done for name in event["found"]["phases_us"]))
    if not phases:
        return
    yield from (
        "",
        "Microseconds of a position by phase of the search: of processors / of wall time.",
        "",
    )
    times = [
        (
            event["item"],
            *(
                "{} / {}".format(*event["found"]["phases_us"][name])
                if name in event["found"]["phases_us"]
                else "-"
                for name in phases
            ),
        )
        for event in done
    ]
    yield from _table(("", *phases), times)


def _faults(done: Events) -> Iterator[str]:
    yield "Every engine below answered each go with exactly one bestmove, and with a move."
    yield ""
    for event in done:
        yield f"- **{event['item']}**"
        yield from _tree(event["found"], "  ")


def _tree(found: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield f"{indent}- {name}:"
            yield from _tree(value, indent + "  ")
        elif name == "said":
            yield from (f"{indent}- `{line}`" for line in value)
        else:
            yield f"{indent}- {name}: {_shown(value)}"


def _match(done: Events) -> Iterator[str]:
    for event in done:
        found = event["found"]
        names = " - ".join(engine["name"] for engine in found["engines"])
        score = f"+{found['wins']} ={found['draws']} -{found['losses']}"
        yield f"- **{names}**: {score}, {found['strength']}"
        yield f"- games at a time: {found['at_once']}"
        for engine in found["engines"]:
            numbers = {name: engine[name] for name in SPEEDS if engine[name] is not None}
            yield f"- {engine['name']}: " + ", ".join(
                f"{name} {value:,.0f}" for name, value in numbers.items()
            )
        yield from (f"- ! {line}" for line in found["warnings"])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if rows:
        yield f"| {' | '.join(heads)} |"
        yield "|---" * len(heads) + "|"
        yield from (f"| {' | '.join(row)} |" for row in rows)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items()) or "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return str(value)


TITLES = {
    "machine": "Machine and providers",
    "answers": "Answers against the CPU",
    "rates": "Positions a second",
    "faults": "Faults",
    "match": "Match",
}

SECTIONS: dict[str, Callable[[Events], Iterator[str]]] = {
    "machine": _machine,
    "answers": _answers,
    "rates": _rates,
    "faults": _faults,
    "match": _match,
}
