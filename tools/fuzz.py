"""Sends random bytes and commands to the USI engine and checks that it survives and answers as it must.

    python tools/fuzz.py --seconds 600                      each implementation for ten minutes
    python tools/fuzz.py --files 100                        a hundred times as many damaged files as the tests
    python tools/fuzz.py --seed 7 --sessions 1 --implementation native    one session again

A session is one process: it gets commands of GUIs, damaged commands and random bytes, in writes that split
lines anywhere, with and without pauses. The engine must survive, print only valid USI lines, answer every
`go` and `isready` exactly once, and end with status 0 after `quit` or at the end of its input. The fuzzer
finds the end of a session by `getoption`, a command of Goryu. The input of a session that fails is kept in
--out.

Exit status: 0; 1 after a failed session; 2 for wrong arguments.
"""

import argparse
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random

from goryu.base.errors import GoryuError
from goryu.base.installation import CHECKOUT
from goryu.commands.common import above_zero, new_parser, positive, program

MOVE = r"(?:[1-9][a-i][1-9][a-i]\+?|[PLNSGBR]\*[1-9][a-i])"

INFO = re.compile(
    rf"info(?: multipv [1-9]\d*)? depth [1-9]\d* seldepth [1-9]\d* time \d+ nodes \d+ nps \d+ hashfull \d+"
    rf" score (?:cp -?\d+|mate -?[1-9]\d*) pv (?P<pv>{MOVE}(?: {MOVE})*)"
)
"""An `info` line with a variation, in Goryu's strict form: a fixed order of words, and only
words that every client that we have read understands."""

OTHER_INFO = re.compile(
    rf"info(?: multipv [1-9]\d*)?(?: depth \d+(?: seldepth \d+)?)? time \d+(?: nodes \d+ nps \d+)?"
    rf"(?: hashfull \d+)?(?: score (?:cp -?\d+|mate -?[1-9]\d*))? pv (?P<pv>{MOVE}(?: {MOVE})*)"
)
"""The same for the algorithms that do not know all of these numbers (the option Algorithm)."""

ENGINE_LINE = re.compile(
    rf"|{INFO.pattern.replace('(?P<pv>', '(?:')}|info string .*\S"
    rf"|info depth 0 seldepth 0 time 0 nodes 0 nps 0 hashfull 0 score cp -30000"
    rf"|id (?:name|author) \S.*|usiok|readyok"
    rf"|option name \S+ type (?:check|spin|combo|string|filename|button)(?: (?:default|min|max|var) \S+)*"
    rf"|bestmove (?:resign|win|{MOVE}(?: ponder {MOVE})?)"
    rf"|checkmate (?:nomate|timeout|notimplemented|{MOVE}(?: {MOVE})*)"
)
"""Any line in that strict form. An empty line is valid: it shows that the engine is still loading."""

PATIENCE_S = 60.0
"""After this time without an answer the engine counts as hung. Generous: the machine may be busy."""

LONGEST_LINE = 1 << 20
"""The engine ignores longer lines."""

LONG_LINES = (10_000, 1_000_000, 2_000_000)

SENTINEL = b"the-end-of-the-session"

SFENS = (
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "4k4/9/4G4/9/9/9/9/9/4K4 b G 1",
    "4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1",
    "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
)

COMMANDS = tuple(
    line.encode()
    for line in (
        *("usi", "isready", "isready", "usinewgame", "stop", "stop", "stop", "ponderhit", "getoption"),
        *("side", "d", "moves", "eval", "", "unknown words", "getoption Seed"),
        *("gameover", "gameover win", "gameover lose", "gameover draw"),
        *("policy 2", "tree 2", "perft 1", "go perft 1"),
        *("position startpos", "position startpos moves 7g7f 3c3d 2g2f 8c8d 2f2e 8d8e"),
        *("position startpos moves 7g7f 9z9z", "position", "position sfen"),
        *(f"position sfen {sfen}" for sfen in SFENS),
        *("go", "go infinite", "go ponder", "go ponder btime 1000 wtime 1000 byoyomi 20", "go nodes 5"),
        *("go depth 2", "go byoyomi 10", "go btime 100 wtime 100 binc 5 winc 5", "go movetime 5"),
        *("go mate 20", "go mate infinite", "go searchmoves 7g7f nodes 3"),
        "ponderhit btime 0 wtime 0 byoyomi 10",
        *(
            f"setoption name {words}"
            for words in (
                *("Algorithm value puct", "Algorithm value gumbel", "Algorithm value uct"),
                *("Algorithm value flat-mc", "Algorithm value alpha-beta", "Algorithm value value"),
                *("Algorithm value policy", "Algorithm value random", "Algorithm value minimax"),
                *("AlphaBeta_Value value network", "Policy_Temperature value 1", "Random_Ply value 20"),
                *("DebugMessage value true", "DebugMessage_Order value moves", "NodesLimit value 7"),
                *("NodesLimit_Early_Stop value true", "Resign_Percent value 30", "resign_threshold value 0"),
                *("NodesLimit value 0", "DepthLimit value 1", "DepthLimit value 0"),
                *("Clear_Hash", "MultiPV value 3", "MultiPV value 1", "USI_Ponder value true"),
                *("Evaluator value uniform", "Evaluator value hashed", "Evaluator value material"),
                *("Evaluator value network", "DNN_Model value C:/My Models/日本.onnx", "DNN_Model value "),
                *("Stochastic_Ponder value true", "Stochastic_Ponder value false"),
                *("MaxMovesToDraw value 4", "EnteringKingRule value TryRule"),
                *("BookFile value /nowhere.db", "BookFile value "),
                *("Threads value 1", "Threads value 3", "USI_Hash value 16"),
            )
        ),
    )
)
"""Commands of GUIs, and those that people type."""


class FuzzerError(GoryuError):
    """The engine broke a rule in a session."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    return program("fuzz.py", make_parser(), run, arguments)


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = new_parser(__doc__)
    parser.add_argument(
        "--implementation", choices=("python", "native"), help="default: each one that is installed"
    )
    parser.add_argument(
        "--seconds", type=above_zero, default=600, metavar="S", help="for each implementation (default 600)"
    )
    parser.add_argument(
        "--sessions", type=positive, default=sys.maxsize, metavar="N", help="at most (default: no limit)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the first session (default 1)")
    parser.add_argument(
        "--pieces", type=positive, default=200, metavar="N",
        help="commands and random bytes of a session (default 200)",
    )  # fmt: skip
    parser.add_argument(
        "--engine", nargs="+", default=[sys.executable, "-m", "goryu"], metavar="WORD",
        help="command of the engine (default: goryu)",
    )  # fmt: skip
    parser.add_argument(
        "--files",
        type=positive,
        metavar="N",
        help="run tests/fuzz with N times as many files, and no session",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/fuzz"), metavar="DIR",
        help="folder for the input of failed sessions (default build/fuzz)",
    )  # fmt: skip
    return parser


def run(args: argparse.Namespace) -> int:
    """Fuzzes each implementation, or the readers of files; returns 1 if something failed."""
    if args.files:
        words = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-m",
            "slow or not slow",
            str(CHECKOUT / "tests" / "fuzz"),
        ]
        environment = {**os.environ, "GORYU_FUZZ_ROUNDS": str(args.files)}
        return int(subprocess.run([*words, "--timeout", "0"], env=environment).returncode != 0)
    installed = ("python", "native") if find_spec("goryu._native") else ("python",)
    names = [args.implementation] if args.implementation else installed
    return int(sum([fuzz(args, name) for name in names]) > 0)


def fuzz(args: argparse.Namespace, implementation: str) -> int:
    """Plays the sessions of one implementation and prints a summary; returns how many failed."""
    start_s, seed, counts, failures = time.monotonic(), args.seed, Counter[str](), 0
    while time.monotonic() - start_s < args.seconds and seed - args.seed < args.sessions:
        data = make_session(Random(seed), args.pieces)
        try:
            counts += play(args.engine, data, Random(seed), implementation)
        except FuzzerError as error:
            failures += 1
            args.out.mkdir(parents=True, exist_ok=True)
            kept = args.out / f"{implementation}-{seed}.bytes"
            kept.write_bytes(b"".join(data))
            print(f"{implementation}, seed {seed}: {error}\n  input: {kept}", flush=True)
        seed += 1
    print(
        f"{implementation}: {seed - args.seed} sessions in {time.monotonic() - start_s:.0f} s, "
        f"{counts['bytes']} bytes, {counts['lines']} lines, {counts['go']} go, {counts['isready']} isready; "
        f"{counts['received']} lines received; {failures} sessions failed",
        flush=True,
    )
    return failures


def make_session(rng: Random, pieces: int) -> list[bytes]:
    """Returns the input of a session in the pieces in which it is written; they split lines anywhere.

    pieces: the number of commands, damaged commands and random lines.
    """
    stream = bytearray()
    for _ in range(pieces):
        kind = rng.random()
        if kind < 0.7:
            stream += rng.choice(COMMANDS) + rng.choice((b"\n", b"\n", b"\r\n"))
        elif kind < 0.92:
            stream += damaged(rng.choice(COMMANDS), rng) + b"\n"
        elif kind < 0.99:
            stream += rng.randbytes(int(rng.expovariate(1 / 100))) + b"\n"
        else:
            word, length = rng.choice((b" ", b"7g7f ", b"\0", b"go ", b"9")), rng.choice(LONG_LINES)
            stream += word * (length // len(word)) + b"\n"
    writes = []
    while stream:
        length = int(rng.expovariate(1 / 60)) + 1 if len(stream) < 100_000 else 50_000
        writes.append(bytes(stream[:length]))
        del stream[:length]
    return writes


def damaged(command: bytes, rng: Random) -> bytes:
    """Returns a command with a few bytes or words changed, removed, added or repeated."""
    text = bytearray(command)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(6):
            case 0:
                text[at : at + 1] = rng.randbytes(1)
            case 1:
                del text[at : at + rng.randrange(1, 4)]
            case 2:
                text[at:at] = rng.choice((b" ", b"\t", b"-", b"+", b"*", b"9", b"1e9", b".5", b"\xe3"))
            case 3:
                words = text.split(b" ")
                rng.shuffle(words)
                text = bytearray(b" ".join(words))
            case 4:
                words = text.split(b" ")
                text += b" " + rng.choice(words) * rng.randrange(1, 20)
            case 5:
                text[at:at] = rng.choice(COMMANDS)
    # Without this a damaged command could start millions of threads, or perft at depth nine.
    return re.sub(rb"(?i)(perft|Threads value|USI_Hash value)(.*)", rb"\1 1", bytes(text))


def play(engine: Sequence[str], writes: Sequence[bytes], rng: Random, implementation: str) -> Counter[str]:
    """Plays one session; returns its numbers of bytes, lines, commands and answers, or raises FuzzerError."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            list(engine),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            env={**os.environ, "GORYU_IMPLEMENTATION": implementation},
        )
        lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=read_lines, args=(process, lines), daemon=True).start()
        try:
            received = converse(process, lines, writes, rng)
        finally:
            process.kill()
            process.wait()
        if errors.tell() > 4096:
            raise FuzzerError(f"wrote {errors.tell()} bytes to stderr: expected at most 4096")
    expected = count_commands(b"".join(writes))
    for command, answers in {"go": ("bestmove", "checkmate"), "isready": ("readyok",)}.items():
        count = sum(line.split()[0] in answers for line in received if line)
        if count != expected[command]:
            raise FuzzerError(f"{expected[command]} {command}, but {count} answers")
    return expected + Counter(bytes=sum(map(len, writes)), received=len(received))


def converse(
    process: "subprocess.Popen[bytes]",
    lines: "queue.SimpleQueue[bytes | None]",
    writes: Sequence[bytes],
    rng: Random,
) -> list[str]:
    """Sends the input, waits for all answers and ends the process; returns the engine's lines, checked."""
    assert process.stdin is not None
    received: list[str] = []
    try:
        for data in writes:
            process.stdin.write(data)
            process.stdin.flush()
            if rng.random() < 0.3:
                time.sleep(rng.expovariate(1 / 0.01))
        # Each `stop` ends one search, and the splits may have made several `go` out of one line.
        deadline_s, is_done = time.monotonic() + PATIENCE_S, False
        process.stdin.write(b"\nsetoption name EvalDir value " + SENTINEL + b"\n")
        while not is_done:
            process.stdin.write(b"stop\ngetoption EvalDir\n")
            process.stdin.flush()
            is_done = take(lines, received, 0.2)
            if time.monotonic() > deadline_s:
                raise FuzzerError(f"no answer within {PATIENCE_S:.0f} s; its last lines: {received[-3:]}")
        if rng.random() < 0.5:
            process.stdin.write(b"quit\n")
        process.stdin.close()
    except OSError as error:
        raise FuzzerError(
            f"died with status {process.wait()}: {error}; its last lines: {received[-3:]}"
        ) from error
    try:
        status = process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired as expired:
        raise FuzzerError("does not end") from expired
    take(lines, received, PATIENCE_S)
    if status != 0:
        raise FuzzerError(f"ended with status {status}; its last lines: {received[-3:]}")
    return received


def take(lines: "queue.SimpleQueue[bytes | None]", received: list[str], wait_s: float) -> bool:
    """Checks lines until none comes for `wait_s`; returns whether the sentinel was among them."""
    is_done = False
    while True:
        try:
            raw = lines.get(timeout=wait_s)
        except queue.Empty:
            return is_done
        if raw is None:
            return is_done
        line = raw.decode("latin-1").removesuffix("\n").removesuffix("\r")
        is_usi = ENGINE_LINE.fullmatch(line) or OTHER_INFO.fullmatch(line) or line in ("black", "white")
        if not is_usi:
            raise FuzzerError(f"not USI: {line[:200]!r}")
        if not line.isascii() or line != line.rstrip() or len(line) >= 4096:
            raise FuzzerError(f"not ASCII, trailing blanks, or too long: {line[:200]!r}")
        received.append(line)
        is_done = is_done or line == f"info string EvalDir = {SENTINEL.decode()}"


def read_lines(process: "subprocess.Popen[bytes]", lines: "queue.SimpleQueue[bytes | None]") -> None:
    assert process.stdout is not None
    for raw in process.stdout:
        lines.put(raw)
    lines.put(None)


def count_commands(data: bytes) -> Counter[str]:
    """Counts the lines, and the `go` and `isready` that the engine must answer."""
    count = Counter[str]()
    for line in data.split(b"\n"):
        words = [word for word in re.split(rb"[ \t\r]+", line) if word]
        count["lines"] += 1
        if words and len(line) <= LONGEST_LINE and words[0] in (b"go", b"isready") and b"perft" not in words:
            count[words[0].decode()] += 1
    return count


if __name__ == "__main__":
    raise SystemExit(main())
