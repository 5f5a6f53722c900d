"""The state machine without I/O: in every order of commands and events, one answer for every `go`."""

from collections import deque
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from goryu.games.shogi import Rules, move_from_usi
from goryu.players.clock.limits import Limits
from goryu.players.config import OutputConfig
from goryu.players.position import GamePosition
from goryu.players.request import Answer
from goryu.search.mates.mate import Mate, MateVerdict
from goryu.search.result import RootMove, SearchResult, SearchStats
from goryu.usi.actions import Action, Ask, Load, NewGame, OpenLog, Quit, Search, SolveMate, Write
from goryu.usi.commands import parse_command
from goryu.usi.console import ask
from goryu.usi.engine import UsiEngine
from goryu.usi.output import info_lines
from present import present

MOVES = ("7g7f", "2g2f")
STATS = SearchStats(10, 10, 2, 4, 10, 100, False, False)


class World:
    """A very slow computer: performs the engine's actions in order, but only when `work` is called."""

    def __init__(self) -> None:
        self.engine = UsiEngine()
        self.jobs: deque[Action] = deque()
        self.lines: list[str] = []
        self.has_quit = False
        self.accepted = 0

    def send(self, *lines: str) -> list[str]:
        """Sends lines; returns the lines that the engine answers at once."""
        before = len(self.lines)
        for line in lines:
            self.do(self.engine.receive(line, 0.0))
        return self.lines[before:]

    def do(self, actions: list[Action]) -> None:
        for action in actions:
            match action:
                case Write(line):
                    self.lines.append(line)
                case Quit():
                    self.has_quit = True
                case Load() | Search() | SolveMate() | Ask() | NewGame():
                    self.jobs.append(action)
                    self.accepted += isinstance(action, (Search, SolveMate))
                case OpenLog():
                    pass

    def work(self) -> list[str]:
        """Finishes the oldest job; returns the lines that the engine answers."""
        before = len(self.lines)
        match self.jobs.popleft() if self.jobs else None:
            case Load():
                self.do(self.engine.loaded())
            case Search(request):
                legal = request.board.legal_moves()
                if not legal:
                    self.do(self.engine.answered(Answer(None)))
                else:
                    moves = (RootMove(legal[0], 1.0, 5, 0.1, None, (legal[0],)),)
                    result = SearchResult(moves, 0.1, STATS)
                    self.do(self.engine.progressed(result, 5.0))
                    self.do(self.engine.answered(Answer(legal[0], None, result, 10.0)))
            case SolveMate():
                self.do(self.engine.mate_solved(Mate(MateVerdict.MATE, (move_from_usi("G*5b"),), 1)))
            case Ask():
                self.do(self.engine.question_answered(["info string answered"]))
        return self.lines[before:]

    def work_off(self) -> list[str]:
        lines: list[str] = []
        while self.jobs:
            lines += self.work()
        return lines

    def answers(self) -> int:
        return sum(line.startswith(("bestmove", "checkmate")) for line in self.lines)


def ready_world() -> World:
    world = World()
    world.send("isready")
    world.work()
    return world


MODEL_FILE = "C_init=65\nC_init_root=75\n"


def lines_of(actions: list[Action]) -> list[str]:
    return [action.line for action in actions if isinstance(action, Write)]


def test_the_values_of_the_file_next_to_the_model_are_offered_as_defaults() -> None:
    engine = UsiEngine(lambda config: (MODEL_FILE, ""), "Threads=3")
    offered = lines_of(engine.receive("usi", 0.0))
    assert "option name C_init type spin default 65 min 0 max 500" in offered
    assert "option name Threads type spin default 3 min 0 max 1024" in offered


@pytest.mark.parametrize("value", [125, 90])
def test_the_user_overrides_the_file_next_to_the_model(value: int) -> None:
    """Even with 125, the engine's own default."""
    engine = UsiEngine(lambda config: (MODEL_FILE, ""))
    engine.receive(f"setoption name C_init value {value}", 0.0)
    *messages, load = engine.receive("isready", 0.0)
    assert lines_of(messages) == [
        "info string set by the file next to the model: C_init_root=75",
        "info string the file next to the model has other values: C_init=65",
    ]
    assert isinstance(load, Load)
    assert load.config.search.formula.c_init == value / 50
    assert load.config.search.root_formula.c_init == 1.5
    assert lines_of(engine.receive("getoption C_init", 0.0)) == []  # It waits for the model.
    assert lines_of(engine.loaded()) == ["readyok", f"info string C_init = {value}"]


@pytest.mark.parametrize(
    "setoption, c_init, message",
    [
        ("", 1.3, "set by the file next to the model: C_init=65 C_init_root=75"),
        ("DNN_Model value bare.onnx", 2.5, "other defaults for this model: C_init=125 C_init_root=125"),
        ("DNN_Model value other.onnx", 2.88, "set by the file next to the model: C_init=144"),
    ],
)
def test_offered_defaults_that_the_gui_sends_back_do_not_bind_another_model(
    setoption: str, c_init: float, message: str
) -> None:
    """GUIs send every option, changed or not; the offered defaults are those for goryu-5x64."""
    files = {"": MODEL_FILE, "bare.onnx": "", "other.onnx": "C_init=144"}
    engine = UsiEngine(lambda config: (files[config.model], ""))
    for line in lines_of(engine.receive("usi", 0.0)):
        if setoption and " default " in line:
            name, default = line.split()[2], line.split(" default ")[1].split()[0]
            engine.receive(f"setoption name {name} value {default}", 0.0)
    engine.receive(f"setoption name {setoption}", 0.0)
    *messages, load = engine.receive("isready", 0.0)
    assert f"info string {message}" in lines_of(messages)
    assert isinstance(load, Load)
    assert load.config.search.formula.c_init == c_init


def test_an_infinite_search_that_has_ended_answers_at_stop() -> None:
    world = ready_world()
    world.send("go infinite")
    assert all(line.startswith("info") for line in world.work())
    assert world.send("isready") == ["readyok"]
    assert world.send("stop")[-1].startswith("bestmove")
    assert world.send("stop") == []


def test_the_result_of_an_infinite_search_is_shown_when_it_ends() -> None:
    world = ready_world()
    world.send("go infinite")
    shown = world.work()
    assert len(shown) == 2, "the progress, which a search that ends soon does not report, and the result"
    assert world.send("stop")[:-1] == shown[1:]


def test_the_error_of_an_infinite_search_is_shown_at_once_and_only_once() -> None:
    world = ready_world()
    world.send("go infinite")
    world.do(world.engine.answered(Answer(None, info_string="Error! gone")))
    assert world.lines[-1] == "info string Error! gone"
    assert world.send("stop") == ["bestmove resign"]


def test_a_pondering_search_that_has_ended_answers_at_ponderhit() -> None:
    world = ready_world()
    world.send("go ponder byoyomi 100")
    world.work()
    assert world.answers() == 0
    assert world.send("ponderhit")[-1].startswith("bestmove")
    assert world.send("ponderhit", "stop") == []


@pytest.mark.parametrize(
    ("go", "hit", "expected"),
    [
        ("", "btime 5 wtime 7 byoyomi 9", Limits(time_ms=(5, 7), byoyomi_ms=9)),
        ("searchmoves 7g7f", "btime 5 wtime 7", Limits(time_ms=(5, 7), root_moves=(move_from_usi("7g7f"),))),
        ("btime 900 nodes 50 depth 9", "btime 5 wtime 7", Limits(time_ms=(5, 7), nodes=50, depth=9)),
        ("btime 900 nodes 50 depth 9", "btime 5 wtime 7 nodes 70", Limits((5, 7), nodes=70, depth=9)),
        ("btime 900 nodes 50 depth 9", "btime 5 wtime 7 depth 3", Limits((5, 7), nodes=50, depth=3)),
    ],
)
def test_ponderhit_passes_its_limits_to_the_running_search_and_keeps_the_others(
    go: str, hit: str, expected: Limits
) -> None:
    world = ready_world()
    world.send(f"go ponder {go}", f"ponderhit {hit}")
    search = world.jobs[0]
    assert isinstance(search, Search)
    assert present(search.control.hit)[0] == expected
    assert search.request.limits.root_moves == expected.root_moves
    assert world.work()[-1].startswith("bestmove")


def test_go_ponder_infinite_is_infinite_after_ponderhit() -> None:
    world = ready_world()
    world.send("go ponder infinite", "ponderhit")
    world.work_off()
    assert world.answers() == 0
    assert world.send("stop")[-1].startswith("bestmove")


def test_a_result_that_cannot_be_written_costs_no_move(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ready_world()
    world.send("position startpos", "go nodes 5")
    move = move_from_usi("7g7f")
    result = SearchResult((RootMove(move, 1.0, 5, 0.1, None, (move,)),), 0.1, STATS)

    def fails(*_: Any) -> list[str]:
        raise OverflowError("no such number")

    monkeypatch.setattr("goryu.usi.output.info_lines", fails)
    world.do(world.engine.answered(Answer(move, None, result, 10.0)))
    assert "info string Error! OverflowError: no such number" in world.lines
    assert world.lines[-1] == "bestmove 7g7f"
    assert world.answers() == 1


def shown(lines: int, *moves: tuple[str, int, float, int | None]) -> list[str]:
    """Returns "MOVE SCORE" of the lines shown for root moves (move, visits, value, mate)."""
    ranked = tuple(
        RootMove(move_from_usi(text), 0.1, visits, value, mate, (move_from_usi(text),))
        for text, visits, value, mate in moves
    )
    infos = info_lines(SearchResult(ranked, 0.0, STATS), 5.0, OutputConfig(lines=lines, eval_coef=600))
    assert [info.split()[2] for info in infos] == [str(rank) for rank in range(1, len(infos) + 1)]
    return [" ".join(info.split(" score ")[1].replace("pv ", "").split()[::-1]) for info in infos]


def test_the_lines_after_the_move_to_play_are_sorted_by_score() -> None:
    """The search ranks them by visits, and the first by a confidence bound."""
    ranked = (
        ("7g7f", 90, 0.1, None),
        ("2g2f", 40, -0.2, None),
        ("1g1f", 9, 0.0, None),
        ("9g9f", 5, 0.2, None),
    )
    assert shown(4, *ranked) == ["7g7f 120 cp", "9g9f 243 cp", "1g1f 0 cp", "2g2f -243 cp"]
    assert shown(3, *ranked) == ["7g7f 120 cp", "1g1f 0 cp", "2g2f -243 cp"]


def test_wins_are_shown_first_and_losses_last() -> None:
    wins = (("7g7f", 5, 1.0, 3), ("2g2f", 0, 1.0, 11))
    losses = (("1g1f", 50, -1.0, -2), ("9g9f", 5, -1.0, -8))
    open_move = ("3g3f", 9, 0.0, None)
    expected = ["7g7f 3 mate", "2g2f 11 mate", "3g3f 0 cp", "9g9f -8 mate", "1g1f -2 mate"]
    assert shown(5, *wins, open_move, *losses) == expected


def test_a_move_without_visits_has_no_line() -> None:
    assert shown(2, ("7g7f", 1, 0.1, None), ("2g2f", 0, 0.5, None)) == ["7g7f 120 cp"]
    assert shown(2, ("7g7f", 0, 0.0, None), ("2g2f", 0, 0.0, None)) == ["7g7f 0 cp"], "but the first has"


def test_the_depth_of_a_line_is_its_length() -> None:
    short, long = (tuple(map(move_from_usi, MOVES[:count])) for count in (1, 2))
    moves = (RootMove(short[0], 0.1, 5, 0.0, None, long), RootMove(short[0], 0.1, 4, 0.0, None, short))
    infos = info_lines(SearchResult(moves, 0.0, STATS), 5.0, OutputConfig(lines=2))
    assert [info.split()[4] for info in infos] == ["2", "1"]


class CountingBoard:
    """Counts the moves that are played on it."""

    rules = Rules()

    def __init__(self) -> None:
        self.played: list[str] = []

    def push_usi(self, text: str) -> None:
        self.played.append(text)

    def copy(self) -> "CountingBoard":
        return CountingBoard()


def test_a_game_that_continues_the_last_one_plays_only_the_new_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goryu.players.position.Board", lambda sfen, rules: CountingBoard())
    moves = ("2h3h", "8b7b", "3h2h", "7b8b") * 50_000
    position = GamePosition("", moves, Rules())
    assert cast(CountingBoard, position.board).played == list(moves)
    longer = GamePosition("", (*moves, "7g7f"), Rules(), position)
    assert cast(CountingBoard, longer.board).played == ["7g7f"]
    other = GamePosition("", ("7g7f", *moves[1:]), Rules(), position)
    assert len(cast(CountingBoard, other.board).played) == len(moves)


def test_isready_after_stop_is_answered_after_bestmove() -> None:
    world = ready_world()
    assert world.send("go infinite", "stop", "gameover win", "isready") == []
    lines = [line for line in world.work_off() if not line.startswith("info")]
    assert lines[0].startswith("bestmove")
    assert lines[1] == "readyok"


def test_searchmoves_may_name_a_pointless_non_promotion() -> None:
    world = ready_world()
    world.send("position startpos moves 7g7f 3c3d")
    for asked, found in (("8h2b 9z9z", ["8h2b"]), ("2g2f 8h2b", ["2g2f", "8h2b"]), ("2g2f 9z9z", ["2g2f"])):
        world.send(f"go nodes 1 searchmoves {asked}")
        search = world.jobs[0]
        assert isinstance(search, Search)
        assert search.request.limits.root_moves == tuple(map(move_from_usi, found))
        assert set(search.request.limits.root_moves) <= set(search.request.board.legal_moves())
        world.work()


def test_searchmoves_without_a_legal_move_are_reported() -> None:
    world = ready_world()
    for asked, is_reported in (("5e5d 1a1b", True), ("5e5d 7g7f", False), ("", False)):
        written = world.send(f"go nodes 1 searchmoves {asked}")
        reports = [line for line in written if "Error! searchmoves: none of them is legal" in line]
        assert len(reports) == is_reported, asked
        assert world.work()[-1].startswith("bestmove")


def test_a_failing_search_still_plays_a_legal_move_and_reports_why() -> None:
    world = ready_world()
    world.send("go nodes 1")
    world.jobs.clear()
    world.do(world.engine.failed("RuntimeError: out of memory\nof the GPU"))
    assert world.lines[-3] == "info string Error! RuntimeError: out of memory of the GPU"
    assert world.lines[-2].startswith("info depth 1")
    assert world.lines[-1].startswith("bestmove")


def test_a_failing_load_is_reported_and_readyok_comes() -> None:
    world = World()
    world.send("isready")
    world.do(world.engine.failed("broken"))
    assert world.lines == ["info string Error! broken", "readyok"]


def test_moves_and_perft_count_pointless_non_promotions() -> None:
    """The number is the published one; the search leaves pointless non-promotions out by default."""
    (listed,) = ready_world().send("position startpos moves 7g7f 3c3d", "moves")
    assert {"8h2b", "8h2b+"} <= set(listed.split())
    world = ready_world()
    world.send("go perft 3")
    (question,) = world.jobs
    assert isinstance(question, Ask)
    answer = ask(question.question, question.request, question.control, cast(Any, None))
    assert answer[-1] == "info string perft 3: 25470"


def test_quit_waits_for_the_answers_to_all_commands_before_it() -> None:
    world = World()
    world.send("isready", "position startpos moves 7g7f", "side", "go infinite", "tree 3", "go nodes 5")
    world.send("quit")
    assert world.has_quit
    assert world.engine.owes_answers
    world.work_off()
    assert world.lines[:2] == ["readyok", "white"]
    answers = [line.split()[0] for line in world.lines[2:] if not line.startswith("info depth")]
    assert answers == ["bestmove", "info", "bestmove"], "the search, the tree, the other search"
    assert not world.engine.owes_answers


def test_a_signal_waits_for_no_question_and_no_network() -> None:
    world = World()
    world.send("isready", "policy")
    world.do(world.engine.close())
    assert world.has_quit
    assert not world.engine.owes_answers
    assert world.work_off() == []


def test_a_longer_or_shorter_move_list_gives_the_right_board() -> None:
    world = ready_world()
    world.send("position startpos moves 7g7f", "position startpos moves 7g7f 3c3d")
    assert world.send("side") == ["black"]
    world.send("position startpos moves 7g7f")
    assert world.send("side") == ["white"]
    world.send("setoption name MaxMovesToDraw value 100", "go nodes 1")
    search = world.jobs[0]
    assert isinstance(search, Search)
    assert search.request.board.rules.max_ply == 100


COMMANDS = st.sampled_from(
    """
    usi | isready | usinewgame | stop | ponderhit | gameover win | gameover | d | side | moves | xyz
    position startpos | position startpos moves 7g7f | position startpos moves 7g7g | position x
    position sfen 4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1 | position sfen 4k4/9/4G4/9/9/9/9/9/9 b G 1
    go | go infinite | go ponder | go ponder byoyomi 5 | go nodes 3 | go mate 5 | go perft 1
    go searchmoves 7g7f 1a1b nodes 2 | ponderhit btime 1 | eval | policy | tree 3 | perft 2
    setoption name Evaluator value uniform | setoption name Evaluator value hashed
    setoption name MultiPV value 3 | setoption name MaxMovesToDraw value 9 | setoption name Clear_Hash
    getoption | getoption x
    """.strip()
    .replace("\n", "|")
    .split("|")
)


def name_of(line: str) -> str:
    command = parse_command(line)
    return command.name if command else ""


class Session(RuleBasedStateMachine):
    """A GUI, a console and a slow player that may fail, in any order; at the end everything is answered."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.goes = self.readies = 0

    @rule(line=COMMANDS | st.text())
    def the_gui_sends(self, line: str) -> None:
        self.world.send(line)
        self.goes += name_of(line) == "go" and "perft" not in line
        self.readies += name_of(line) == "isready"

    @rule()
    def the_player_finishes_a_job(self) -> None:
        self.world.work()

    @precondition(lambda self: self.world.jobs and not isinstance(self.world.jobs[0], NewGame))
    @rule()
    def a_job_fails(self) -> None:
        self.world.jobs.popleft()
        self.world.do(self.world.engine.failed("RuntimeError: lost"))

    @rule()
    def a_message_comes(self) -> None:
        self.world.do(self.world.engine.message("loading"))

    @invariant()
    def no_answer_comes_unasked(self) -> None:
        assert self.world.answers() <= self.goes
        assert self.world.lines.count("readyok") <= self.readies

    @invariant()
    def every_line_is_one_of_usi(self) -> None:
        assert all(line.isascii() and "\n" not in line and line == line.rstrip() for line in self.world.lines)

    def teardown(self) -> None:
        """The last `stop`, or `quit`, after which the answers to everything before come."""
        self.world.send("stop" if len(self.world.lines) % 2 else "quit")
        while self.world.jobs:
            self.world.work()
            self.world.send("stop")
        assert self.world.answers() == self.goes
        assert self.world.lines.count("readyok") == self.readies


TestSession = Session.TestCase
TestSession.settings = settings(max_examples=60, stateful_step_count=25, deadline=None, derandomize=True)


@settings(max_examples=50)
@given(st.sampled_from(["go infinite", "go ponder", "go ponder byoyomi 10"]), st.lists(COMMANDS, max_size=6))
def test_an_open_search_does_not_answer_by_itself(go: str, commands: list[str]) -> None:
    harmless = ("setoption", "getoption", "position", "isready", "d", "side", "moves", "xyz", "usi")
    world = ready_world()
    world.send(go)
    world.work_off()
    for command in commands:
        if name_of(command) in harmless:
            world.send(command)
            world.work_off()
    assert world.answers() == 0
