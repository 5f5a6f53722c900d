"""USI without I/O: a line or an event in, actions out; one thread.

    nothing loaded --isready or go--> loading --> ready --go--> searching --bestmove/checkmate--> ready

Whatever the order of `stop`, `ponderhit`, `gameover` and `quit`, every `go` that was accepted
gets exactly one answer, and an infinite or pondering search answers only when it is told to.
Lines that cannot be served at once, because something is loading or a stopped search has not
answered yet, wait in a queue, so that the order of the answers is the order of the commands.

Nothing heavy is imported before it is needed: GUIs give `usiok` two to five seconds on a cold disk.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goryu.players.books.config import BookFile
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.limits import Limits
from goryu.players.request import Answer, Request, SearchControl
from goryu.search.mate import Mate, MateVerdict
from goryu.search.result import SearchResult
from goryu.usi.actions import (
    Action,
    Ask,
    Load,
    NewGame,
    OpenLog,
    Quit,
    Search,
    SolveMate,
    Write,
    remark,
)
from goryu.usi.commands import (
    GoCommand,
    PositionCommand,
    legal_root_moves,
    parse_go,
    parse_position,
    parse_setoption,
    words,
)
from goryu.usi.option import OptionError
from goryu.usi.option_values import OptionValues
from goryu.usi.options import identification

if TYPE_CHECKING:
    from goryu.players.position import GamePosition

__all__ = ["UsiEngine"]

_log = logging.getLogger("goryu")

NO_ANSWER = Mate(MateVerdict.UNKNOWN, (), 0)
"""The result of a mate search that could not be made."""


@dataclass(slots=True)
class _Running:
    """The search under way.

    is_open: it must not answer yet (infinite, or pondering).
    held: the answer of a search that came to its end while it was open.
    """

    request: Request
    control: SearchControl
    is_mate: bool
    is_open: bool
    is_stopping: bool = False
    held: Answer | None = None


class UsiEngine:
    """The state machine of the protocol.

    read_model_options: returns the text of the options file beside the model, "" if there is none.
    fixed_options: the text of `engine_options.txt`. problem_of_file: why it could not be read, or "".
    """

    def __init__(
        self,
        read_model_options: Callable[[EvaluatorConfig], str] = lambda config: "",
        fixed_options: str = "",
        problem_of_file: str = "",
    ) -> None:
        self._read_model_options = read_model_options
        self._options = OptionValues()
        self._remarks_on_file = [problem_of_file] if problem_of_file else []
        self._remarks_on_file += self._options.fix(fixed_options)
        self._is_loading = False
        self._waiting: deque[tuple[str, float]] = deque()
        self._loaded_config: tuple[EvaluatorConfig, BookFile] | None = None
        self._readyoks_owed = 0
        self._position: GamePosition | None = None
        self._problem = ""
        self._running: _Running | None = None
        self._question: SearchControl | None = None
        self._is_quitting = False
        self._handlers: dict[str, Callable[[str, float], list[Action]]] = {
            "isready": self._isready,
            "usinewgame": self._usinewgame,
            "setoption": self._setoption,
            "position": self._set_position,
            "go": self._go,
            "stop": self._stop,
            "ponderhit": self._ponderhit,
            "gameover": self._stop,
            "getoption": self._getoption,
            "help": self._help,
            **dict.fromkeys(("d", "moves", "side"), self._show),
            **dict.fromkeys(("eval", "policy", "tree", "perft"), self._ask_console),
        }

    # What the loop asks.

    @property
    def is_loading(self) -> bool:
        """Is something loading, or a question being answered, so that all else must wait?"""
        return self._is_loading or self._question is not None

    @property
    def owes_an_answer(self) -> bool:
        """Has a search been accepted and not been answered?"""
        return self._running is not None

    # Events: what happens to the engine. Each returns the actions it calls for.

    def receive(self, line: str, at_s: float) -> list[Action]:
        """Takes a line that arrived at `at_s` (seconds, monotonic)."""
        tokens = words(line)
        if not tokens or self._is_quitting:
            return []
        if tokens[0] == "quit":
            return self.close()
        if tokens[0] == "usi":
            self._read_model_file()  # Its values are the defaults that the GUI is to show.
            return [Write(text) for text in identification(self._options.defaults)]
        if tokens[0] == "stop" and self._question is not None:
            self._question.stop()
        self._waiting.append((line, at_s))
        return self._serve()

    def close(self) -> list[Action]:
        """The GUI said `quit`, or is gone."""
        self._is_quitting = True
        self._waiting.clear()
        if self._question is not None:
            self._question.stop()
        return [*self._stop_search(), Quit()]

    def loaded(self) -> list[Action]:
        """The evaluator is loaded."""
        self._is_loading = False
        readyok: list[Action] = [Write("readyok")] * self._readyoks_owed
        self._readyoks_owed = 0
        return readyok + self._serve()

    def remarked(self, message: str) -> list[Action]:
        """Something happened that a human should know."""
        return [remark(message)]

    def progressed(self, result: SearchResult, elapsed_ms: float) -> list[Action]:
        """The running search has found so much."""
        from goryu.usi.output import info_lines

        if self._running is None:
            return []
        return [Write(line) for line in info_lines(result, elapsed_ms, self._running.request.config)]

    def answered(self, answer: Answer) -> list[Action]:
        """The running search has ended; if it may not answer yet, the answer is held back, but shown."""
        assert self._running is not None
        if self._running.is_open:
            self._running.held = replace(answer, info_string="")
            remarks: list[Action] = [remark(answer.info_string)] if answer.info_string else []
            found = answer.result
            return remarks + (self.progressed(found, answer.elapsed_ms) if found is not None else [])
        return self._answer(answer) + self._serve()

    def mate_solved(self, mate: Mate) -> list[Action]:
        """The running mate search has ended."""
        return self._answer_mate(mate) + self._serve()

    def told(self, lines: list[str]) -> list[Action]:
        """A question of the console has been answered."""
        self._question = None
        return [*(Write(line) for line in lines), *self._serve()]

    def failed(self, message: str) -> list[Action]:
        """What was asked for last broke down; the game goes on with what is left."""
        complaint = remark(f"Error! {message}")
        if self._question is not None:
            return [complaint, *self.told([])]
        if self._running is None:
            return [complaint, *self.loaded()]
        if self._running.is_mate:
            return [complaint, *self.mate_solved(NO_ANSWER)]
        legal = self._running.request.board.legal_moves()
        return [complaint, *self.answered(Answer(legal[0] if legal else None))]

    # The queue of lines. A line is served when everything before it has been.

    def _serve(self) -> list[Action]:
        """Serves the waiting lines up to the first that must wait for something to end."""
        actions: list[Action] = []
        while self._waiting and not self.is_loading:
            line, at_s = self._waiting[0]
            command = words(line)[0]
            if command in _NEEDS_IDLE:
                actions += self._stop_search()
                if self._running is not None:
                    break
            elif command == "isready" and self._running is not None and self._running.is_stopping:
                break
            self._waiting.popleft()
            handler = self._handlers.get(command)
            if handler is not None:
                try:
                    actions += handler(line, at_s)
                except Exception as error:
                    _log.exception("%s failed", command)
                    actions.append(remark(f"Error! {type(error).__name__}: {error}"))
                    actions += self._failed(command, line)
        return actions

    def _failed(self, command: str, line: str) -> list[Action]:
        """Returns the answer to a command that broke down, as it does where a library is missing."""
        if command == "isready":
            self._readyoks_owed -= 1
            return [Write("readyok")]
        if command == "go" and "perft" not in words(line):
            self._running = None
            return [Write("checkmate timeout" if "mate" in words(line) else "bestmove resign")]
        return []

    # Commands.

    def _isready(self, line: str, at_s: float) -> list[Action]:
        if self._running is not None:
            # A search goes on meanwhile; what has to be loaded is loaded before the next one.
            return [Write("readyok")]
        self._readyoks_owed += 1
        return self._load()

    def _usinewgame(self, line: str, at_s: float) -> list[Action]:
        return [NewGame()]

    def _setoption(self, line: str, at_s: float) -> list[Action]:
        parsed = parse_setoption(line)
        if parsed is None:
            return [remark("setoption: expected setoption name NAME value VALUE")]
        name, text = parsed
        try:
            problems = self._options.set(name, text)
        except OptionError as error:
            return [remark(str(error))]
        names = [option.name for option in self._options.find(name)]
        if "Clear_Hash" in names:
            return [NewGame()]
        if "LogFile" in names:
            return [OpenLog(self._options.config.output.log_file)]
        return [remark(problem) for problem in problems]

    def _getoption(self, line: str, at_s: float) -> list[Action]:
        return [remark(text) for text in self._options.describe(" ".join(words(line)[1:]))]

    def _help(self, line: str, at_s: float) -> list[Action]:
        name = " ".join(words(line)[1:])
        return [remark(text) for text in (self._options.explain(name) if name else _HELP)]

    def _set_position(self, line: str, at_s: float) -> list[Action]:
        command = parse_position(words(line)[1:])
        try:
            if command is None:
                raise ValueError("expected position startpos|sfen ... [moves ...]")
            self._position = self._new_position(command)
        except ValueError as error:
            self._problem = f"position: {error}"
            return [remark(f"Error! {self._problem}")]
        self._problem = ""
        return []

    def _go(self, line: str, at_s: float) -> list[Action]:
        command = parse_go(words(line)[1:])
        if command.perft is not None:
            return self._ask(f"perft {command.perft}", at_s)
        if self._must_load():
            load = self._load()
            self._waiting.appendleft((line, at_s))
            return load
        position, problem = self._current_position(), self._problem
        if not problem and position.only_for_mate and not command.is_mate:
            problem = "position: the side to move has no king"
        request = self._request(position, command, at_s)
        is_open = command.limits.is_open and not command.is_mate
        self._running = _Running(request, SearchControl(), command.is_mate, is_open)
        if problem:
            # A move of another position could be legal in the GUI's, and would be a silent blunder.
            complaint = remark(f"Error! no search: {problem}")
            if command.is_mate:
                return [complaint, *self._answer_mate(NO_ANSWER)]
            self._running.held = Answer(None)
            return [complaint] if is_open else [complaint, *self._answer(Answer(None))]
        if command.is_mate and not request.config.mate.solves_mates:
            return self._answer_mate(NO_ANSWER)
        if command.is_mate:
            return [SolveMate(request, self._running.control, command.mate_ms)]
        return [Search(request, self._running.control)]

    def _stop(self, line: str, at_s: float) -> list[Action]:
        return self._stop_search()

    def _ponderhit(self, line: str, at_s: float) -> list[Action]:
        running = self._running
        if running is None or not running.request.limits.ponder or not running.is_open or running.is_stopping:
            return []
        limits = replace(running.request.limits, ponder=False)
        clocks = parse_go(words(line)[1:]).limits
        if clocks.is_timed:
            limits = replace(clocks, root_moves=limits.root_moves)
        running.control.ponderhit(limits, at_s)
        running.is_open = limits.infinite
        return self._answer(running.held) if running.held is not None and not running.is_open else []

    def _ask_console(self, line: str, at_s: float) -> list[Action]:
        return self._ask(" ".join(words(line)), at_s)

    def _show(self, line: str, at_s: float) -> list[Action]:
        from goryu.usi.console import show

        return [Write(text) for text in show(words(line)[0], self._current_position().board)]

    # Parts of the commands.

    def _must_load(self) -> bool:
        return self._loaded_config != _loaded_of(self._options.config)

    def _read_model_file(self) -> list[str]:
        """Reads the options that the model's file sets; returns in words what is wrong with it."""
        return self._options.set_model_options(self._read_model_options(self._options.config.evaluator))

    def _load(self) -> list[Action]:
        remarks = list(self._remarks_on_file)
        remarks += self._read_model_file()
        remarks += self._options.model_options()
        config = self._options.config
        self._loaded_config = _loaded_of(config)
        self._is_loading = True
        return [*map(remark, remarks), Load(config)]

    def _ask(self, question: str, at_s: float) -> list[Action]:
        if self._must_load():
            load = self._load()
            self._waiting.appendleft((question, at_s))
            return load
        request = self._request(self._current_position(), GoCommand(Limits()), at_s)
        self._question = SearchControl()
        return [Ask(question, request, self._question)]

    def _new_position(self, command: PositionCommand) -> "GamePosition":
        from goryu.players.position import GamePosition, rules_of

        return GamePosition(command.sfen, command.moves, rules_of(self._options.config), self._position)

    def _current_position(self) -> "GamePosition":
        """Returns the position last set up, under the rules now in force."""
        from goryu.players.position import rules_of

        if self._position is None:
            self._position = self._new_position(PositionCommand("", ()))
        self._position = self._position.under(rules_of(self._options.config))
        return self._position

    def _request(self, position: "GamePosition", command: GoCommand, at_s: float) -> Request:
        from goryu.players.position import legal_moves_by_name

        limits, board = command.limits, position.board
        if command.searchmoves:
            legal = legal_moves_by_name(board)
            if not legal.keys() >= set(command.searchmoves):
                # Not promoting may be pointless and is legal all the same.
                everything = position.under(replace(board.rules, all_moves=True)).board
                wider = legal_moves_by_name(everything)
                if wider.keys() & set(command.searchmoves) - legal.keys():
                    board, legal = everything, wider
            limits = replace(limits, root_moves=legal_root_moves(command.searchmoves, legal))
        return Request(board.copy(), limits, self._options.config, at_s)

    # Answers.

    def _stop_search(self) -> list[Action]:
        """Tells the running search, if any, to end; answers at once if it had ended already."""
        if self._running is None:
            return []
        self._running.control.stop()
        self._running.is_open = False
        self._running.is_stopping = True
        return self._answer(self._running.held) if self._running.held is not None else []

    def _answer(self, answer: Answer) -> list[Action]:
        from goryu.usi.output import answer_lines

        assert self._running is not None
        config = self._running.request.config
        self._running = None
        remarks = [remark(answer.info_string)] if answer.info_string else []
        return [*remarks, *map(Write, answer_lines(answer, config))]

    def _answer_mate(self, mate: Mate) -> list[Action]:
        from goryu.usi.output import mate_line

        assert self._running is not None
        is_implemented = self._running.request.config.mate.solves_mates
        self._running = None
        return [Write(mate_line(mate) if is_implemented else "checkmate notimplemented")]


def _loaded_of(config: EngineConfig) -> tuple[EvaluatorConfig, BookFile]:
    """Returns what must be loaded again when it changes."""
    return config.evaluator, config.book_file


_HELP = (
    "for people: d, moves, side, eval, policy [LINES], perft [DEPTH]",
    "of the last search: tree [LINES], tree FILE.json [LEAST_VISITS [DEPTH]]",
    "getoption [NAME] says what an option is set to, help NAME what it means",
)

_NEEDS_IDLE = frozenset(("go", "usinewgame", "eval", "policy", "tree", "perft"))
"""Commands that end a running search before they are served."""
