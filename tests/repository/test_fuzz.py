"""A few sessions of the fuzzer (`tools/dev.py fuzz` plays for ten minutes), and faults that it must find."""

import sys
from random import Random
from typing import Any

import pytest

fuzz: Any = pytest.importorskip("fuzz")

PATIENT = """
import sys
for line in sys.stdin.buffer:
    words = line.split()
    if words[:1] == [b"isready"]:
        print("readyok", flush=True)
    elif words[:1] == [b"go"] and b"perft" not in words:
        print("{answer}", flush=True)
    elif words[:2] == [b"getoption", b"EvalDir"]:
        print("info string EvalDir = the-end-of-the-session", flush=True)
{habit}
"""


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 5))])
def test_the_engine_survives_bytes_and_commands_in_any_order(seed: int, mode: tuple[str, str]) -> None:
    writes = [b"usi\nisready\n", *fuzz.make_session(Random(seed), pieces=100)]
    counted = fuzz.play([sys.executable, "-m", "goryu"], writes, Random(seed), mode[0])
    assert counted["go"] > 0
    assert counted["isready"] > 0


def test_a_session_is_the_same_for_the_same_seed() -> None:
    assert fuzz.make_session(Random(3), 50) == fuzz.make_session(Random(3), 50)


@pytest.mark.parametrize(
    "answer, habit, complaint",
    [
        ("bestmove resign", "", None),
        ("bestmove resign\\nbestmove resign", "", r"\d+ go, but \d+ answers"),
        ("info string thinking", "", r"\d+ go, but 0 answers"),
        ("bestmove none", "", "not USI: 'bestmove none'"),
        ("bestmove resign", "    if b'byoyomi' in words: print('debug: byoyomi', flush=True)",
         "not USI: 'debug"),
        ("bestmove resign", "    if b'mate' in words: sys.exit(3)", r"(died|ended) with status 3"),
        ("bestmove resign", "    if b'nodes' in words: sys.stderr.write('x' * 5000)",
         r"wrote \d+ bytes to stderr"),
    ],
    ids=["none", "two answers", "no answer", "bestmove none", "debug output", "dies", "stderr"],
)  # fmt: skip
def test_the_fuzzer_finds_forbidden_output(answer: str, habit: str, complaint: str | None) -> None:
    program = PATIENT.format(answer=answer, habit=habit)
    writes = [command + b"\n" for command in fuzz.COMMANDS]
    session = ([sys.executable, "-c", program], writes, Random(0), "python")
    if complaint is None:
        fuzz.play(*session)
    else:
        with pytest.raises(fuzz.FuzzerError, match=complaint):
            fuzz.play(*session)
