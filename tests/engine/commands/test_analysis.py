"""`goryu analysis` as a process: its streams, its signals and its client."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from goryu.analysis.client import AnalysisClient, AnalysisError

ARGUMENTS = ("--option", "Evaluator=hashed", "--searches", "1")
COMMAND = (sys.executable, "-m", "goryu", "analysis", *ARGUMENTS)
ENDLESS = b'{"id": "endless", "playouts": 10000000, "report_every_ms": 10}\n'


@pytest.fixture
def process() -> "Iterator[subprocess.Popen[bytes]]":
    with subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as made:
        yield made
        made.kill()


def test_the_end_of_the_input_comes_after_all_answers() -> None:
    lines = [
        '{"id": "a"}',
        "",
        '{"id": "b", "moves": ["7g7f"], "options": {"MaxMovesToDraw": 1}}',
        "x" * (1 << 20) + "y",
        "\udcff",
    ]
    lines += [
        '{"id": "c", "options": {"Threads": 2}}',
        '{"id": "d", "options": {"DrawValueBlack": 0}}',
        '{"id": "e"}',
    ]
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    done = subprocess.run(COMMAND, input=text, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    errors = sorted((answer["id"] or "", answer["field"]) for answer in answers if "error" in answer)
    assert errors == [("", ""), ("", ""), ("c", "options.Threads"), ("d", "options.DrawValueBlack")]
    found = {answer["id"]: answer for answer in answers if "error" not in answer}
    assert set(found) == {"a", "b", "e"}
    assert found["b"]["ending"]
    assert not found["a"]["ending"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_answers_what_is_open(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(ENDLESS + b'{"id": "waits"}\n')
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    answers = [json.loads(line) for line in process.stdout]
    assert process.wait() == 130
    final = [answer for answer in answers if not answer["is_during_search"]]
    assert {answer["id"] for answer in final if answer["is_cancelled"]} == {"endless", "waits"}
    assert len(final) == 2


def test_a_closed_output_ends_the_process_quietly(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(ENDLESS)
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 1
    assert process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_an_output_that_is_full_is_an_error() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(COMMAND, input=b"{}\n", stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (2, b"goryu analysis: No space left on device\n")


def test_the_client_returns_answers_in_order_and_raises_errors() -> None:
    with AnalysisClient(ARGUMENTS) as client:
        endless = client.submit(
            {"playouts": 10_000_000, "report_every_ms": 10}, lambda answer: client.terminate(endless)
        )
        game = client.submit({"moves": ["7g7f", "3c3d"], "analyze_turns": [2, 0], "playouts": 20})
        bad = client.submit({"moves": ["7g7f", "3c3e"]})
        assert [answer["turn_number"] for answer in game.result()] == [0, 2]
        assert endless.result()[0]["is_cancelled"]
        assert isinstance(error := bad.exception(), AnalysisError)
        assert error.field == "moves[1]"
    late = client.submit({})
    assert isinstance(late.exception(), AnalysisError)
