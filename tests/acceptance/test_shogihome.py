"""ShogiHome's engine client: the commands that it sends in each state, and how it handles the answers.

The state machine is that of `src/background/usi/engine.ts` in ShogiHome 1.29, rewritten in Python. It is
stricter: an answer that ShogiHome only logs as unexpected is an error here.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

import pytest

from goryu.engines.usi_output import last_info

if TYPE_CHECKING:
    from tests.acceptance.conftest import Engine, Pool

cshogi = pytest.importorskip("cshogi")

TSUME = "position sfen 4k4/9/4G4/9/9/9/9/9/4K4 b G 1"
NO_TSUME = "position sfen 4k4/9/9/9/9/9/9/9/4K4 b P 1"


@pytest.fixture(scope="module")
def mode() -> tuple[str, str]:
    """As built: which implementation of the rules the engine has makes no difference here."""
    return "", "unread"


class Gui(Enum):
    """The state of the engine, as the GUI assumes it."""

    STARTING = auto()
    NOT_READY = auto()
    WAITING_FOR_READYOK = auto()
    READY = auto()
    THINKING = auto()
    PONDERING = auto()
    WAITING_FOR_PONDER_ANSWER = auto()
    SOLVING_MATE = auto()


SEARCHING = (Gui.THINKING, Gui.PONDERING, Gui.SOLVING_MATE)


@dataclass(frozen=True, slots=True)
class Clock:
    """The clocks as ShogiHome sends them, in milliseconds, before the increment is added."""

    times: tuple[int, int] = (0, 0)
    byoyomi: int = 0
    increments: tuple[int, int] = (0, 0)

    def words(self) -> str:
        clocks = f"btime {self.times[0]} wtime {self.times[1]}"
        if any(self.increments):
            return f"{clocks} binc {self.increments[0]} winc {self.increments[1]}"
        return f"{clocks} byoyomi {self.byoyomi}"


@dataclass(slots=True)
class ShogiHome:
    """One engine of ShogiHome. engine: the process, which also checks the rules for all sessions."""

    engine: Engine
    early_ponder: bool = False
    state: Gui = Gui.STARTING
    position: str = ""
    options: dict[str, str] = field(default_factory=dict)
    answers: list[tuple[str, ...]] = field(default_factory=list)
    infos: list[str] = field(default_factory=list)
    on_bestmove: Callable[[str, str, str | None], None] | None = None
    _last_sent: str = ""
    _reserved_go: tuple[str, str, Gui] | None = None
    _reserved_options: list[str] = field(default_factory=list)
    _answers_to_ignore: int = 0

    # Actions of the user.

    def launch(self, settings: dict[str, str]) -> None:
        """Starts a session: sends every option, changed or not, and two that the engine need not offer."""
        self._send("usi")
        self.wait(lambda: self.state is Gui.NOT_READY)
        for name, default in {"USI_Hash": "32", "USI_Ponder": "true", **self.options, **settings}.items():
            self._send(f"setoption name {name} value {'' if default == '<empty>' else default}")

    def start_game(self) -> None:
        if self.state is not Gui.NOT_READY:
            self.gameover("draw")
        self._send("isready")
        self.state = Gui.WAITING_FOR_READYOK
        self.wait(lambda: self.state is not Gui.WAITING_FOR_READYOK)

    def go(self, position: str, clock: Clock | None = None) -> None:
        """Starts a search, or research without a clock, after stopping the search that is running."""
        self._reserved_go = (position, "go " + (clock.words() if clock else "infinite"), Gui.THINKING)
        if self.state is Gui.READY:
            self._send_reserved_go()
        elif self.state in SEARCHING:
            self.stop()

    def go_ponder(self, position: str, clock: Clock) -> None:
        assert self.state in (Gui.READY, Gui.THINKING), self.state
        line = "go ponder" if self.early_ponder else f"go ponder {clock.words()}"
        self._reserved_go = (position, line, Gui.PONDERING)
        if self.state is Gui.READY:
            self._send_reserved_go()

    def ponderhit(self, clock: Clock) -> None:
        assert self.state is Gui.PONDERING, self.state
        self._send(f"ponderhit {clock.words()}" if self.early_ponder else "ponderhit")
        self.state = Gui.THINKING

    def go_mate(self, position: str, seconds: float | None = None) -> None:
        assert self.state is Gui.READY, self.state
        limit = "infinite" if seconds is None else f"{1000 * seconds:.0f}"
        self._reserved_go = (position, f"go mate {limit}", Gui.SOLVING_MATE)
        self._send_reserved_go()

    def stop(self) -> None:
        assert self.state in SEARCHING, self.state
        if self._last_sent != "stop":
            self._send("stop")
            if self.state is Gui.PONDERING:
                self.state = Gui.WAITING_FOR_PONDER_ANSWER

    def gameover(self, result: str) -> None:
        """Ends the game without waiting for the answer of a running search."""
        is_thinking = self.state in (Gui.THINKING, Gui.PONDERING)
        self._answers_to_ignore += is_thinking or self.state is Gui.WAITING_FOR_PONDER_ANSWER
        if self.state in SEARCHING:
            self.stop()
        self._send(f"gameover {result}")
        self.state = Gui.NOT_READY
        self._reserved_go = None

    def set_option(self, name: str, value: str) -> None:
        """Sends an option, after the end of the search if one is running."""
        line = f"setoption name {name} value {value}"
        if self.state in (Gui.THINKING, Gui.WAITING_FOR_PONDER_ANSWER, Gui.SOLVING_MATE):
            self._reserved_options.append(line)
        else:
            self._send(line)

    @property
    def waits_to_go(self) -> bool:
        """Is a search still to be sent, after the answer of the one that runs?"""
        return self._reserved_go is not None

    # Answers of the engine.

    def wait(self, is_done: Callable[[], bool], timeout_s: float = 60.0) -> None:
        """Reads lines until the condition holds."""
        end_s = time.monotonic() + timeout_s
        while not is_done():
            line = self.engine.next_line(max(0.0, end_s - time.monotonic()))
            assert line is not None, f"waited in vain in {self.state}"
            self._receive(line)

    def wait_for_answer(self) -> tuple[str, ...]:
        count = len(self.answers)
        self.wait(lambda: len(self.answers) > count)
        return self.answers[-1]

    def research_for(self, seconds: float) -> list[str]:
        """Reads for a while; returns the info lines of the search that runs."""
        end_s = time.monotonic() + seconds
        while (rest_s := end_s - time.monotonic()) > 0:
            line = self.engine.next_line(rest_s)
            if line is not None:
                self._receive(line)
        return list(self.infos)

    def _receive(self, line: str) -> None:
        if line == "usiok":
            assert self.state is Gui.STARTING
            self.state = Gui.NOT_READY
        elif line == "readyok":
            assert self.state is Gui.WAITING_FOR_READYOK
            self.state = Gui.READY
            self._send("usinewgame")
            self._send_reserved_go()
        elif line.startswith("option "):
            words = line.split(" ")
            assert words[3] == "type"
            if words[4] != "button":
                self.options[words[2]] = words[words.index("default") + 1]
        elif line.startswith("bestmove "):
            self._on_bestmove(line.split(" ")[1:])
        elif line.startswith("checkmate "):
            self._flush_options()
            assert self.state is Gui.SOLVING_MATE, self.state
            self.state = Gui.READY
            self.answers.append(tuple(line.split(" ")[1:]))
        elif line.startswith("info "):
            self.infos.append(line)

    def _on_bestmove(self, words: list[str]) -> None:
        self._flush_options()
        if self._answers_to_ignore:
            self._answers_to_ignore -= 1
            return
        assert self.state in (Gui.THINKING, Gui.WAITING_FOR_PONDER_ANSWER), self.state
        if self.state is Gui.THINKING:
            ponder = words[2] if words[1:2] == ["ponder"] else None
            self.answers.append((words[0], *([ponder] if ponder else [])))
            if self.on_bestmove:  # May call go_ponder while the state is still that of the search.
                self.on_bestmove(self.position, words[0], ponder)
        self.state = Gui.READY
        self._send_reserved_go()

    def _send_reserved_go(self) -> None:
        if self._reserved_go is not None:
            (self.position, line, state), self._reserved_go = self._reserved_go, None
            self.infos.clear()
            self._send(self.position)
            self._send(line)
            self.state = state

    def _flush_options(self) -> None:
        for line in self._reserved_options:
            self._send(line)
        self._reserved_options.clear()

    def _send(self, line: str) -> None:
        self.engine.send(line)
        self._last_sent = line


@contextmanager
def shogihome(pool: Pool, early_ponder: bool = False, **options: str) -> Iterator[ShogiHome]:
    """A started session with a quick evaluator."""
    with pool.start() as engine:
        gui = ShogiHome(engine, early_ponder)
        gui.launch({"Evaluator": "hashed", "USI_Hash": "64", **options})
        yield gui


def position_after(moves: list[str]) -> str:
    return "position startpos" + (" moves " + " ".join(moves) if moves else "")


# Games.


class Game:
    """A game between two engines in ShogiHome, with cshogi as the referee."""

    def __init__(self, players: tuple[ShogiHome, ShogiHome], clock: Clock, plies: int) -> None:
        self.players, self.clock, self.plies = players, clock, plies
        self.board = cshogi.Board()
        self.moves: list[str] = []
        self.seen: Counter[int] = Counter()
        self.hits = 0

    def play(self) -> str:
        """Plays to the end or to the limit; returns how the game ended for the side to move."""
        for player in self.players:
            player.start_game()
        expected: dict[int, str] = {}
        while True:
            color = len(self.moves) % 2
            player, clock = self.players[color], self.clock
            if expected.pop(color, None) == position_after(self.moves):
                player.ponderhit(clock)
                self.hits += 1
            else:
                player.go(position_after(self.moves), clock)
            move, *ponder = player.wait_for_answer()
            if move in ("resign", "win"):
                return self._finish(color, "lose" if move == "resign" else "win")
            assert move in map(cshogi.move_to_usi, self.board.legal_moves), f"foul: {move}"
            self.board.push_usi(move)
            self.moves.append(move)
            self.seen[self.board.zobrist_hash()] += 1
            if self.seen[self.board.zobrist_hash()] == 4 or len(self.moves) >= self.plies:
                return self._finish(color, "draw")
            if self.board.is_game_over():
                return self._finish(color, "win")
            if ponder:
                expected[color] = position_after([*self.moves, *ponder])
                player.go_ponder(expected[color], clock)

    def _finish(self, color: int, result: str) -> str:
        other = {"win": "lose", "lose": "win", "draw": "draw"}[result]
        self.players[color].gameover(result)
        self.players[1 - color].gameover(other)
        return result


@pytest.mark.parametrize(
    "way, games, plies, byoyomi",
    [
        *(("classic", 1, 8, 60), ("early", 2, 6, 60), ("stochastic", 1, 8, 60)),
        pytest.param("early", 1, 80, 30, marks=pytest.mark.slow),
    ],
)
def test_shogihome_plays_games_with_every_kind_of_pondering(
    way: str, games: int, plies: int, byoyomi: int, pool: Pool
) -> None:
    is_early, options = way == "early", {"Stochastic_Ponder": str(way == "stochastic").lower()}
    with shogihome(pool, is_early, **options) as first, shogihome(pool, False, **options) as second:
        for _ in range(games):
            game = Game((first, second), Clock(byoyomi=byoyomi), plies)
            result = game.play()
            assert result in ("win", "lose", "draw")
            assert len(game.moves) >= min(plies, 20)


def test_shogihome_plays_on_a_fischer_clock(pool: Pool) -> None:
    with shogihome(pool) as first, shogihome(pool) as second:
        clock = Clock(times=(500, 500), increments=(30, 30))
        assert Game((first, second), clock, 8).play() == "draw"


def test_shogihome_ends_a_game_during_a_search_and_begins_the_next(pool: Pool) -> None:
    with shogihome(pool) as gui:
        for _ in range(3):
            gui.start_game()
            gui.go(position_after([]), Clock(times=(60_000, 60_000)))
            # Sends stop, gameover draw and isready back to back, as after a lost connection.
            gui.start_game()
            gui.go(position_after(["7g7f"]), Clock(byoyomi=60))
            move, *_ = gui.wait_for_answer()
            board = cshogi.Board()
            board.push_usi("7g7f")
            assert move in map(cshogi.move_to_usi, board.legal_moves), "an answer of the last game"
            gui.go_ponder(position_after(["7g7f", move, "2g2f"]), Clock(byoyomi=60))
            gui.gameover("win")


def test_shogihome_starts_to_ponder_while_it_handles_an_answer(pool: Pool) -> None:
    """The bridge to CSA servers does so with early pondering."""
    with shogihome(pool, early_ponder=True, NodesLimit="50") as gui:  # However slow: enough for a reply.
        gui.start_game()

        def ponder_at_once(position: str, move: str, ponder: str | None) -> None:
            if ponder and len(gui.answers) < 3:
                gui.go_ponder(f"{position} {move} {ponder}", Clock())

        gui.on_bestmove = ponder_at_once
        gui.go(position_after(["2g2f"]), Clock(byoyomi=60_000))
        gui.wait_for_answer()
        for _ in range(2):
            assert gui.state is Gui.PONDERING
            gui.ponderhit(Clock(byoyomi=60_000))
            gui.wait_for_answer()
        assert len(gui.answers) == 3


# Research, analysis, mate search.


def ranks(infos: list[str]) -> set[int]:
    """Returns the ranks of the lines of play; one without a number is the first."""
    return {int((line + " multipv 1").split(" multipv ")[1].split()[0]) for line in infos if " pv " in line}


def test_shogihome_researches_one_position_after_the_other_without_waiting(pool: Pool) -> None:
    with shogihome(pool) as gui:
        gui.start_game()
        moves: list[str] = []
        for move in ("7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e"):
            gui.go(position_after(moves))
            moves.append(move)
        last = position_after(moves[:-1])
        gui.wait(lambda: gui.position == last and bool(last_info(gui.infos, 1).pv))
        gui.stop()
        gui.wait(lambda: gui.state is Gui.READY)


def is_shown(gui: ShogiHome, rank: int) -> bool:
    """Does the last requested search show a line of this rank?"""
    return not gui.waits_to_go and rank in ranks(gui.infos)


def test_shogihome_changes_the_number_of_lines_during_research(pool: Pool) -> None:
    with shogihome(pool) as gui:
        gui.start_game()
        for lines in (1, 5, 2):
            gui.set_option("MultiPV", str(lines))
            gui.go(position_after(["7g7f"]))
            gui.wait(partial(is_shown, gui, lines))
            assert max(ranks(gui.infos)) == lines
        gui.stop()
        gui.wait(lambda: gui.state is Gui.READY)


def test_shogihome_analyses_a_game(pool: Pool) -> None:
    moves = ["7g7f", "3c3d", "2g2f", "8c8d", "2f2e", "8d8e", "6i7h", "4a3b"]
    with shogihome(pool) as gui:
        gui.start_game()
        for ply in range(len(moves) + 1):
            gui.go(position_after(moves[:ply]))
            gui.research_for(0.1)
            gui.stop()
            best, *_ = gui.wait_for_answer()
            line = last_info(gui.infos, 1)
            assert line.cp is not None, "no evaluation for the graph"
            assert line.pv[0] == best


def test_shogihome_searches_for_mates(pool: Pool) -> None:
    with shogihome(pool) as gui:
        gui.start_game()
        gui.go_mate(TSUME)
        assert gui.wait_for_answer() == ("G*5b",)
        gui.go_mate(NO_TSUME, seconds=5)
        assert gui.wait_for_answer() == ("nomate",)
        gui.go_mate("position startpos", seconds=0.2)
        assert gui.wait_for_answer()[0] in ("nomate", "timeout")
        gui.gameover("draw")
        gui.start_game()
        gui.go(position_after([]), Clock(byoyomi=60))
        assert gui.wait_for_answer()
