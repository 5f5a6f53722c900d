"""Stages in processes of their own: whatever ends such a process costs one item."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from goryu.base.errors import InputError
from goryu_lab.benchmark.first_contact import child
from goryu_lab.benchmark.first_contact.contact_log import ContactLog
from goryu_lab.benchmark.first_contact.plan import Contact, ContactError, Found, Item, Stage
from goryu_lab.benchmark.first_contact.runner import run_stage, supervise

CHILD = """
import json, os, sys, time
settled, failed = json.loads(sys.stdin.readline())
assert set(failed) <= set(settled)
print("a library says something", flush=True)
for item in ("good", "bad", "crash", "hang", "better"):
    if item in settled:
        continue
    print(json.dumps({"stage": "s", "item": item, "event": "begin"}), flush=True)
    if item == "bad":
        print("a warning", file=sys.stderr, flush=True)
        print(json.dumps({"stage": "s", "item": item, "event": "failed", "reason": "bad"}), flush=True)
        sys.exit()
    if item == "crash" and os.environ.get("SPEAKS"):
        print("out of luck", file=sys.stderr, flush=True)
    if item == "crash":
        os.abort()
    if item == "hang" and float(sys.argv[1]) < 90.0:
        time.sleep(60)
    print(json.dumps({"stage": "s", "item": item, "event": "done", "found": {}}), flush=True)
print(json.dumps({"stage": "s", "event": "end"}), flush=True)
"""
STAGE = Stage("s", 1.0, lambda contact: iter(()))


def supervised(folder: Path, seconds: float) -> ContactLog:
    log = ContactLog(folder / "log.jsonl")
    command = [sys.executable, "-I", "-S", "-c", CHILD]  # Starts quickly.
    supervise(STAGE, log, command, seconds, lambda event: None, folder / "errors.log")
    return ContactLog(log.path)


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

    def events(settled: set[str], failed: set[str], seconds: float) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        run_stage(stage, Contact(tmp_path), settled, failed, seconds, lambda event: found.append(dict(event)))
        return found

    assert [event.get("reason") for event in events(set(), set(), 60.0)] == [None, "no such device"]
    assert [event.get("reason") for event in events({"a"}, {"a"}, 60.0)] == [None, "KeyError: 'x'"]
    assert events({"a", "b", "d"}, {"a", "b", "d"}, 60.0) == [{"stage": "s", "event": "end"}]
    assert events({"a"}, {"a"}, 0.0) == [{"stage": "s", "event": "out of time", "left": ["b", "d"]}]
    assert [event["event"] for event in events({"a", "b", "d"}, set(), 60.0)] == ["begin", "done", "end"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_who_measures_ends_with_the_process_that_listens(tmp_path: Path) -> None:
    command = [*child.command(Contact(tmp_path, rehearses=True), "rates"), "60"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True}
    with subprocess.Popen(command, **pipes) as process:
        out, _ = process.communicate(b"[[], []]\n")
    assert process.returncode == -signal.SIGKILL
    assert b'"event": "end"' not in out


def test_a_full_disk_costs_no_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = ContactLog(tmp_path / "log.jsonl")
    events = [{"stage": "s", "item": name, "event": "done", "found": {}} for name in "abc"]
    log.append(events[0])

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        log.append(events[1])
    assert "No space left" in log.problem
    assert log.settled("s") == {"a", "b"}
    assert ContactLog(log.path).events == events[:1]
    log.append(events[2])
    assert not log.problem
    assert ContactLog(log.path).events == events


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
