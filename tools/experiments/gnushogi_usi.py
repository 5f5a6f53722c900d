"""GNU Shogi as a USI engine, for `goryu match`.

    python tools/experiments/gnushogi_usi.py [/usr/games/gnushogi]

gnushogi (1.4.2, as in Debian) reads moves like `7g7f`, one on each line, echoes each of them, and answers
`go` with `2. ... 3c3d -1000`. Its search time is in whole seconds. Any line that arrives during a search
makes it move at once; the adapter uses this for shorter limits and for `stop`. gnushogi has no node limit and
no scores, and the adapter supports only games from the start position.

Options: `OwnBook` (its opening book, by default on) and `Overhead`, the ms that every move leaves unused.
"""

import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence

ECHO = re.compile(r"(?:depth = )?\d+\. (?:\.\.\. )?\S+ -?\d+$")
ANSWER = re.compile(r"(?:depth = )?\d+\. \.\.\. (\S+) -?\d+$")
MAX_DEPTH = 39
SECONDS_BEYOND = 5.0
"""gnushogi counts as hung if it has not moved this long after the end of its time."""


class GnuShogiError(Exception):
    """gnushogi ended, hung, or printed a line that this adapter does not understand."""


class GnuShogi:
    """The gnushogi process with its own protocol, and the game as it knows it."""

    def __init__(self, command: Sequence[str]) -> None:
        self._moves: list[str] = []
        self._is_new = True
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="latin-1",
        )
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, line: str) -> None:
        """Sends one line; an empty one ends a search."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def new_game(self) -> None:
        """Forgets the game."""
        if self._moves or not self._is_new:
            self.send("new")
        self._moves, self._is_new = [], True

    def play(self, moves: Sequence[str]) -> None:
        """Sets up the position after `moves`; sends only the new ones if it can."""
        if list(moves[: len(self._moves)]) != self._moves or (self._is_new and self._moves):
            self.new_game()
        if self._is_new:
            # `force` is a toggle; after `new` and after `go` it is off.
            self.send("force")
            self._is_new = False
        for move in moves[len(self._moves) :]:
            self.send(move)
            self._expect(ECHO, 10.0, f"an echo of {move}")
            self._moves.append(move)

    def search(self, budget_ms: int | None, depth: int | None, stop: threading.Event) -> str:
        """Returns the move that gnushogi plays; it counts as played in the game."""
        seconds = 3600 if budget_ms is None else budget_ms // 1000 + 1
        self.send(f"level 0 {seconds // 60}:{seconds % 60:02}")
        self.send("depth")
        self.send(str(depth or MAX_DEPTH))
        self.send("go")
        start, is_stopped = time.monotonic(), False
        limit_s = float("inf") if budget_ms is None else budget_ms / 1000
        while True:
            elapsed_s = time.monotonic() - start
            if not is_stopped and (stop.is_set() or elapsed_s >= limit_s):
                self.send("")
                is_stopped, limit_s = True, elapsed_s
            if is_stopped and elapsed_s > limit_s + SECONDS_BEYOND:
                raise GnuShogiError(f"gnushogi did not move within {SECONDS_BEYOND:g} s after its time")
            line = self._next(0.005)
            if line is not None and (match := ANSWER.match(line)):
                self._moves.append(match[1])
                self.send("force")
                return match[1]

    def quit(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.strip())

    def _next(self, timeout_s: float) -> str | None:
        try:
            return self._lines.get(timeout=timeout_s)
        except queue.Empty:
            if self._process.poll() is not None:
                raise GnuShogiError(f"gnushogi ended with code {self._process.returncode}") from None
            return None

    def _expect(self, pattern: re.Pattern[str], timeout_s: float, what: str) -> None:
        deadline = time.monotonic() + timeout_s
        while (left := deadline - time.monotonic()) > 0:
            line = self._next(left)
            if line is not None and line.startswith("Illegal"):
                raise GnuShogiError(f"gnushogi printed {line!r}: expected {what}")
            if line is not None and pattern.match(line):
                return
        raise GnuShogiError(f"gnushogi printed nothing within {timeout_s:g} s: expected {what}")


class Adapter:
    """The USI side; the main thread reads commands, so that it reads `stop` during a search."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._engine: GnuShogi | None = None
        self._moves: list[str] = []
        self._error: str | None = None
        self._own_book = True
        self._overhead_ms = 20
        self._search: threading.Thread | None = None
        self._stop = threading.Event()

    def run(self, lines: Iterator[str]) -> None:
        """Answers commands until `quit` or the end of the input."""
        for line in lines:
            words = line.split()
            if words[:1] == ["quit"]:
                break
            if words:
                self._receive(words)
        self._finish_search()
        if self._engine:
            self._engine.quit()

    def _receive(self, words: list[str]) -> None:
        match words:
            case ["usi"]:
                send("id name GNU Shogi 1.4.2")
                send("id author the GNU Shogi authors; USI adapter by Goryu")
                send("option name OwnBook type check default true")
                send("option name Overhead type spin default 20 min 0 max 5000")
                send("usiok")
            case ["setoption", "name", "OwnBook", "value", value]:
                self._own_book = value == "true"
            case ["setoption", "name", "Overhead", "value", value] if value.isdecimal():
                self._overhead_ms = int(value)
            case ["isready"]:
                if self._engine is None:
                    self._engine = GnuShogi(self._command)
                    if not self._own_book:
                        self._engine.send("book")
                send("readyok")
            case ["usinewgame"] if self._engine:
                self._finish_search()
                self._engine.new_game()
            case ["position", *rest]:
                self._error = None if rest[:1] == ["startpos"] else "only games from startpos are supported"
                self._moves = rest[2:] if rest[1:2] == ["moves"] else []
            case ["go", *rest]:
                self._finish_search()
                self._stop.clear()
                self._search = threading.Thread(target=self._go, args=(rest,))
                self._search.start()
            case ["stop" | "gameover", *_]:
                self._finish_search()
            case _:
                pass

    def _finish_search(self) -> None:
        self._stop.set()
        if self._search:
            self._search.join()

    def _go(self, words: list[str]) -> None:
        if self._error or self._engine is None:
            send(f"info string Error! {self._error or 'isready has not been sent'}")
            send("bestmove resign")
            return
        numbers = {words[i]: int(words[i + 1]) for i in range(len(words) - 1) if words[i + 1].isdecimal()}
        try:
            self._engine.play(self._moves)
            move = self._engine.search(self._budget_ms(numbers, words), numbers.get("depth"), self._stop)
        except GnuShogiError as error:
            send(f"info string Error! {error}")
            move = "resign"
        send(f"bestmove {move}")

    def _budget_ms(self, numbers: dict[str, int], words: list[str]) -> int | None:
        """Returns the time for this move: a fortieth of the rest, the increment and the byoyomi."""
        if "infinite" in words or ("depth" in numbers and len(numbers) == 1):
            return None
        if "movetime" in numbers:
            budget = numbers["movetime"]
        else:
            turn = "bw"[len(self._moves) % 2]
            left, extra = numbers.get(f"{turn}time", 0), numbers.get("byoyomi", 0)
            budget = left // 40 + extra
            if left + extra > budget:
                budget = min(budget + numbers.get(f"{turn}inc", 0), left + extra)
        return max(1, (budget or 1000) - self._overhead_ms)


def main() -> int:
    """Runs the adapter and returns its exit status."""
    command = sys.argv[1:] or ["/usr/games/gnushogi"]
    if command[0] in ("-h", "--help"):
        print((__doc__ or "").strip())
        return 0
    try:
        Adapter(command).run(iter(sys.stdin.readline, ""))
    except OSError as error:
        print(f"gnushogi_usi: {error}", file=sys.stderr)
        return 2
    return 0


def send(line: str) -> None:
    """Sends one line to the GUI."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
