"""The program that makes openings for matches."""

import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from goryu.commands.common import command_words
from goryu.engines.usi_client import EngineError, EngineSpec, UsiClient
from paths import ROOT

pytest.importorskip("rsshogi")
make_openings: Any = pytest.importorskip("make_openings")

MISSING = str(Path(__file__).with_name("missing"))
"""The path of no file."""

SCRIPTED = f"{sys.executable} {ROOT / 'tests' / 'helpers' / 'engines' / 'scripted.py'}"
FAIRY_STOCKFISH = Path("/usr/games/fairy-stockfish")


def status_of(arguments: list[str]) -> object:
    """Returns the exit status, be it by `return` or by argparse."""
    try:
        return make_openings.main(arguments)
    except SystemExit as error:
        return error.code


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_openings_stop_their_engine_when_they_are_interrupted(tmp_path: Path) -> None:
    pid, trace = tmp_path / "pid", tmp_path / "trace"
    engine = f"sh -c 'echo $$ > {pid}; export USI_TRACE={trace}; exec {SCRIPTED} hang'"
    command = [sys.executable, str(ROOT / "tools" / "make_openings.py"), "--engine", engine]
    with subprocess.Popen([*command, "--out", str(tmp_path / "out")], stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while "go nodes" not in (trace.read_text() if trace.exists() else "") and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not FAIRY_STOCKFISH.exists(), reason=f"{FAIRY_STOCKFISH} is not installed")
def test_openings_are_balanced_and_reproducible_from_the_seed() -> None:
    def sample() -> list[tuple[str, int]]:
        options = (("UCI_Variant", "shogi"), ("MultiPV", "4"))
        client = UsiClient(EngineSpec((str(FAIRY_STOCKFISH),), options))
        client.start()
        try:
            sampling = make_openings.Sampling(walk_nodes=300, evaluation_nodes=1000)
            found = islice(make_openings.sample_openings(client, sampling, Random(2)), 4)
            return [(str(balanced.opening), balanced.cp) for balanced in found]
        finally:
            client.quit()

    first = sample()
    assert first == sample()
    assert all(abs(cp) < 150 for _, cp in first)
    assert len({opening for opening, _ in first}) == 4


def test_an_engine_that_finds_no_more_openings_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("make_openings.MAX_WALKS", 5)
    client = UsiClient(EngineSpec(command_words(f"{SCRIPTED} push 0")))
    client.start()
    try:
        found = make_openings.sample_openings(client, make_openings.Sampling((0, 0)), Random(1))
        assert str(next(found).opening) == "startpos"
        with pytest.raises(EngineError, match="no new balanced opening in 5 walks"):
            next(found)
    finally:
        client.quit()


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--plies", "9", "4"], "MIN <= MAX"),
        (["--balance", "0"], "--balance: 0"),
        (["--out", "."], "expected a file"),
        ([], f"cannot start '{MISSING}'"),
    ],
)
def test_openings_reports_wrong_arguments(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = ["--engine", MISSING, "--out", str(tmp_path / "openings.txt")]
    assert status_of([*engine, *arguments]) == 2
    assert words in capsys.readouterr().err
