"""Stages in processes of their own: whatever ends such a process costs one item."""

import json
import sys
from pathlib import Path

import pytest

from goryu.base.errors import InputError
from goryu.benchmark.first_contact.contact_log import ContactLog
from goryu.benchmark.first_contact.plan import Contact, ContactError, Found, Stage
from goryu.benchmark.first_contact.runner import run_stage, supervise

CHILD = """
import json, os, sys, time
log, seconds = sys.argv[1:]
lines = [json.loads(line) for line in open(log)] if os.path.exists(log) else []
settled = {line.get("item") for line in lines if line["event"] in ("done", "failed")}
print("a library says something", flush=True)
for item in ("good", "crash", "hang", "better"):
    if item in settled:
        continue
    print(json.dumps({"stage": "s", "item": item, "event": "begin"}), flush=True)
    if item == "crash":
        print("out of luck", file=sys.stderr, flush=True)
        os.abort()
    if item == "hang" and float(seconds) < 100.0:
        time.sleep(60)
    print(json.dumps({"stage": "s", "item": item, "event": "done", "found": {}}), flush=True)
print(json.dumps({"stage": "s", "event": "end"}), flush=True)
"""
STAGE = Stage("s", 1.0, lambda contact: iter(()))


def supervised(folder: Path, seconds: float) -> ContactLog:
    log = ContactLog(folder / "log.jsonl")
    command = [sys.executable, "-c", CHILD, str(log.path)]
    supervise(STAGE, log, command, seconds, lambda event: None, folder / "errors.log")
    return ContactLog(log.path)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_crash_and_a_hang_cost_one_item_each_and_the_rest_is_done_later(tmp_path: Path) -> None:
    log = supervised(tmp_path, 3.0)
    reasons = {event["item"]: event.get("reason") for event in log.results("s")}
    assert reasons == {"good": None, "crash": "killed by SIGABRT: out of luck", "hang": "over its time"}
    assert not log.has_ended("s")
    log = supervised(tmp_path, 100.0)
    assert log.settled("s") == {"good", "crash", "hang", "better"}
    assert log.has_ended("s")
    begun = [event["item"] for event in log.events if event["event"] == "begin"]
    assert begun == ["good", "crash", "hang", "better"], "nothing is done twice"


def test_an_error_and_a_lack_of_time_are_lines_of_the_log(tmp_path: Path) -> None:
    def fails(seconds: float) -> Found:
        raise ContactError("no such device\nand more")

    def breaks(seconds: float) -> Found:
        raise KeyError("x")

    stage = Stage("s", 1.0, lambda contact: iter([("a", fails), ("b", breaks), ("c", lambda seconds: {})]))
    events: list[dict[str, object]] = []
    run_stage(stage, Contact(tmp_path), {"c"}, 60.0, lambda event: events.append(dict(event)))
    assert [event["reason"] for event in events if event["event"] == "failed"] == [
        "no such device",
        "KeyError: 'x'",
    ]
    assert events[-1] == {"stage": "s", "event": "end"}
    events.clear()
    run_stage(stage, Contact(tmp_path), {"a"}, 0.0, lambda event: events.append(dict(event)))
    assert events == [{"stage": "s", "event": "out of time", "left": ["b", "c"]}]


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
