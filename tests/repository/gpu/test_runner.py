"""Stages in processes of their own: whatever ends such a process costs one item."""

import json
import sys
from pathlib import Path

import pytest

from goryu.base.errors import InputError
from gpu.contact_log import LOG, ContactLog
from gpu.plan import Contact, ContactError, Found, Item, Stage
from gpu.runner import run_stage, supervise

CHILD = """
import json, os, sys, time
from pathlib import Path
log = Path(sys.argv[1])
settled = [event["item"] for event in map(json.loads, log.read_text().splitlines()) if "found" in event
           or "reason" in event] if log.exists() else []
def note(**event):
    with log.open("a") as file:
        print(json.dumps({"stage": "s", **event}), file=file)
for item in ("good", "bad", "crash", "hang", "better"):
    if item in settled:
        continue
    note(item=item, event="begin")
    if item == "bad":
        print("a warning", file=sys.stderr, flush=True)
        note(item=item, event="failed", reason="bad")
        sys.exit()
    if item == "crash" and os.environ.get("SPEAKS"):
        print("out of luck", file=sys.stderr, flush=True)
    if item == "crash":
        os.abort()
    if item == "hang" and float(sys.argv[2]) < 90.0:
        time.sleep(60)
    note(item=item, event="done", found={})
note(event="end")
"""


def supervised(folder: Path, seconds: float) -> ContactLog:
    command = [sys.executable, "-I", "-S", "-c", CHILD, str(folder / LOG)]  # Starts quickly.
    supervise("s", folder, command, seconds)
    return ContactLog(folder / LOG)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("words", ["", ": out of luck"])
def test_a_crash_and_a_hang_cost_one_item_each_and_the_rest_is_done_later(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPEAKS", words)
    log = supervised(tmp_path, 5.0)
    reasons = {event["item"]: event.get("reason") for event in log.results("s")}
    crash = f"killed by SIGABRT{words}"  # Without the warning of an earlier process.
    assert reasons == {"good": None, "bad": "bad", "crash": crash, "hang": "over its time"}
    assert not log.has_ended("s")
    log = supervised(tmp_path, 100.0)
    assert log.settled("s") == {"good", "bad", "crash", "hang", "better"}
    assert log.has_ended("s")
    begun = [event["item"] for event in log.events if event["event"] == "begin"]
    assert begun == ["good", "bad", "crash", "hang", "better"], "nothing is done twice"


def test_an_error_and_a_lack_of_time_are_lines_of_the_log(tmp_path: Path) -> None:
    def fails(seconds: float) -> Found:
        raise ContactError("no such device\nand more")

    def breaks(seconds: float) -> Found:
        raise KeyError("x")

    items = [Item("a", fails), Item("b", breaks), Item("c", lambda seconds: {}, "a"), Item("d", fails)]
    stage = Stage("s", 1.0, lambda contact: iter(items))

    log = ContactLog(tmp_path / LOG)

    def run(seconds: float) -> list[object]:
        before = len(log.events)
        run_stage(stage, Contact(tmp_path, say=log.append), log, seconds)
        return [event.get("reason", event["event"]) for event in log.events[before:]]

    assert run(60.0) == ["begin", "no such device"]
    assert run(0.0) == ["out of time"]
    assert log.events[-1]["left"] == ["b", "d"], "c needs a"
    assert run(60.0) == ["begin", "KeyError: 'x'"]
    assert run(60.0) == ["begin", "no such device"]
    assert run(60.0) == ["end"]


def test_a_log_survives_a_kill_in_the_middle_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    event = {"stage": "s", "item": "a", "event": "done", "found": {"rate": 1.5}}
    path.write_text(json.dumps(event) + '\n{"stage": "s", "it')
    log = ContactLog(path)
    log.append({"stage": "s", "event": "end"})
    assert ContactLog(path).events == [event, {"stage": "s", "event": "end"}]
    path.write_text("[1]\n")
    with pytest.raises(InputError, match="line 1"):
        ContactLog(path)
