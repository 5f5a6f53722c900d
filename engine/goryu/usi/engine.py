"""The USI protocol without I/O: lines and events in, actions out, in one thread.

Every accepted `go` gets exactly one answer, whatever the order of `stop`, `ponderhit`, `gameover` and `quit`.
An infinite or pondering search answers only after `stop` or `ponderhit`. A command that must wait for the
player waits in a queue, so that answers come in the order of the commands.

Heavy modules are imported when they are needed: some GUIs wait only two seconds for `usiok`.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goryu.players.algorithms import ALGORITHMS
from goryu.players.books.config import BookFile
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.limits import Limits
from goryu.players.request import Answer, Request, SearchControl
from goryu.search.mate import Mate, MateVerdict
from goryu.search.result import SearchResult
from goryu.usi.actions import Action, Ask, Load, NewGame, OpenLog, Quit, Search, SolveMate, Write, info_string
from goryu.usi.commands import (
    Command,
    GoCommand,
    PositionCommand,
    parse_command,
    parse_go,
    parse_position,
    parse_setoption,
)
from goryu.usi.option import OptionError
from goryu.usi.option_values import OptionValues
from goryu.usi.options import identification

if TYPE_CHECKING:
    from goryu.players.position import GamePosition

_log = logging.getLogger("goryu")

MATE_UNKNOWN = Mate(MateVerdict.UNKNOWN, (), 0)
"""The result of a mate search that failed."""


@dataclass(slots=True)
class _Loading:
    """The player loads evaluator and book. owes_readyok: after `isready`, not after `go`."""

    owes_readyok: bool


@dataclass(slots=True)
class _Asking:
    """The player computes the answer to a command of the console."""

    control: SearchControl


@dataclass(slots=True)
class _Searching:
    """A `go` was accepted and has not been answered.

    is_open: it is infinite or pondering, so it must not answer yet. is_stopping: it has been stopped.
    problem: why the position cannot be searched, or "".
    held: the answer of an open search that has ended.
    """

    request: Request
    control: SearchControl
    is_mate: bool
    is_open: bool
    problem: str = ""
    is_stopping: bool = False
    held: Answer | None = None


class UsiEngine:
    """The state machine of the protocol. Its state is `_job`, what the player is doing:

        None        idle: every command is served at once
        _Loading    `isready`, or a `go` after a change of the model: all other commands wait
        _Searching  commands that need an idle player stop the search and wait for its answer
        _Asking     `eval`, `perft` etc.: all other commands wait, but `stop` cuts the answer short

    The player has one job at a time. `_waiting` holds the commands that wait.

    read_model_options: returns the text of the options file next to the model, "" if there is none.
    fixed_options: the text of `engine_options.txt`. file_problem: why it cannot be read, or "".
    engine_defaults: the values of options that nothing sets.
    """

    def __init__(
        self,
        read_model_options: Callable[[EvaluatorConfig], str] = lambda config: "",
        fixed_options: str = "",
        file_problem: str = "",
        engine_defaults: EngineConfig | None = None,
    ) -> None:
        self._read_model_options = read_model_options
        self._options = OptionValues(engine_defaults)
        self._file_messages = [file_problem] if file_problem else []
        self._file_messages += self._options.fix(fixed_options)
        self._job: _Loading | _Searching | _Asking | None = None
        self._waiting: deque[Command] = deque()
        self._is_quitting = False
        self._loaded_files: tuple[EvaluatorConfig, BookFile] | None = None
        self._position: GamePosition | None = None
        self._position_problem = ""  # Of the last `position` command, until a good one.
        self._handlers: dict[str, Callable[[Command], list[Action]]] = {
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
            **dict.fromkeys(("eval", "policy", "tree", "perft"), self._ask),
        }

    @property
    def is_busy(self) -> bool:
        """Do all commands wait for the player?"""
        return isinstance(self._job, (_Loading, _Asking))

    @property
    def owes_answers(self) -> bool:
        """Has a `go` or a question been accepted and not been answered?"""
        return isinstance(self._job, (_Searching, _Asking)) or bool(self._waiting)

    # Events. Each returns the actions to perform.

    def receive(self, line: str, received_s: float) -> list[Action]:
        """Takes a line from the GUI. received_s: when it arrived (seconds, monotonic)."""
        command = parse_command(line, received_s)
        if command is None or self._is_quitting:
            return []
        if command.name == "quit":
            return self.finish()
        if command.name == "usi":
            return self._identify()
        if command.name == "stop" and isinstance(self._job, _Asking):
            self._job.control.stop()
        self._waiting.append(command)
        return self._serve()

    def finish(self) -> list[Action]:
        """Ends the session: the GUI sent `quit`, or its output has ended.

        The questions that wait are still answered: a script may send them together with `quit`.
        """
        if self._is_quitting:
            return []
        self._is_quitting = True
        while self._waiting and not _is_question(self._waiting[-1]):
            self._waiting.pop()
        has_questions = bool(self._waiting) or isinstance(self._job, _Asking)
        return [*(self._stop_search() if not self._waiting else ()), Quit(has_questions)]

    def close(self) -> list[Action]:
        """Ends the session at once, after a signal."""
        self._is_quitting = True
        self._waiting.clear()
        if isinstance(self._job, _Asking):
            self._job.control.stop()
        return [*self._stop_search(), Quit()]

    def loaded(self) -> list[Action]:
        """The player has finished loading."""
        assert isinstance(self._job, _Loading)
        readyok: list[Action] = [Write("readyok")] if self._job.owes_readyok else []
        self._job = None
        return readyok + self._serve()

    def message(self, text: str) -> list[Action]:
        """The player has a message for the user."""
        return [info_string(text)]

    def progressed(self, result: SearchResult, elapsed_ms: float) -> list[Action]:
        """The search reports its result so far."""
        from goryu.usi.output import info_lines

        if not isinstance(self._job, _Searching):
            return []
        config = self._job.request.config
        algorithm = ALGORITHMS[config.algorithm.name]
        return [Write(line) for line in info_lines(result, elapsed_ms, config.output, algorithm)]

    def answered(self, answer: Answer) -> list[Action]:
        """The search has ended. An open search shows its result now and answers later."""
        assert isinstance(self._job, _Searching)
        if not self._job.is_open:
            return self._answer(answer) + self._serve()
        self._job.held = replace(answer, info_string="")
        actions: list[Action] = [info_string(answer.info_string)] if answer.info_string else []
        if answer.result is not None:
            actions += self.progressed(answer.result, answer.elapsed_ms)
        return actions

    def mate_solved(self, mate: Mate) -> list[Action]:
        """The mate search has ended."""
        return self._answer_mate(mate) + self._serve()

    def question_answered(self, lines: list[str]) -> list[Action]:
        """The answer to a command of the console is known."""
        self._job = None
        return [*map(Write, lines), *self._serve()]

    def failed(self, message: str) -> list[Action]:
        """The player's job raised an error. The command still gets its answer."""
        error = info_string(f"Error! {message}")
        if isinstance(self._job, _Asking):
            return [error, *self.question_answered([])]
        if isinstance(self._job, _Loading):
            return [error, *self.loaded()]
        assert isinstance(self._job, _Searching)
        if self._job.is_mate:
            return [error, *self.mate_solved(MATE_UNKNOWN)]
        legal = self._job.request.board.legal_moves()
        return [error, *self.answered(Answer(legal[0] if legal else None))]

    # The queue of commands. A command is served when all commands before it have been.

    def _serve(self) -> list[Action]:
        """Serves the waiting commands up to the first that must wait longer."""
        actions: list[Action] = []
        while self._waiting and not self.is_busy:
            command = self._waiting[0]
            if command.name in _NEEDS_IDLE:
                actions += self._stop_search()
                if self._job is not None:
                    break
            elif command.name == "isready" and isinstance(self._job, _Searching) and self._job.is_stopping:
                break
            self._waiting.popleft()
            if (handler := self._handlers.get(command.name)) is not None:
                try:
                    actions += handler(command)
                except Exception as error:
                    _log.exception("%s failed", command.name)
                    actions.append(info_string(f"Error! {type(error).__name__}: {error}"))
                    actions += self._answer_failed(command)
        if self._is_quitting and not self._waiting:
            actions += self._stop_search()
        return actions

    def _answer_failed(self, command: Command) -> list[Action]:
        """Returns the answer to a command that raised an error, as every one does if a library is missing."""
        if command.name == "isready":
            self._job = None
            return [Write("readyok")]
        if command.name == "go" and "perft" not in command.arguments:
            self._job = None
            return [Write("checkmate timeout" if "mate" in command.arguments else "bestmove resign")]
        return []

    # Commands.

    def _identify(self) -> list[Action]:
        self._read_model_file()  # Its values are the defaults that the GUI should show.
        return [Write(line) for line in identification(self._options.offer())]

    def _isready(self, command: Command) -> list[Action]:
        if isinstance(self._job, _Searching):
            # The search goes on. A changed model is loaded before the next one.
            return [Write("readyok")]
        return self._load(owes_readyok=True)

    def _usinewgame(self, command: Command) -> list[Action]:
        return [NewGame()]

    def _setoption(self, command: Command) -> list[Action]:
        parsed = parse_setoption(command.line)
        if parsed is None:
            return [info_string("setoption: expected setoption name NAME value VALUE")]
        try:
            corrections = self._options.set(*parsed)
        except OptionError as error:
            return [info_string(str(error))]
        names = [option.name for option in self._options.find(parsed[0])]
        if "Clear_Hash" in names:
            return [NewGame()]
        if "LogFile" in names:
            return [OpenLog(self._options.config.output.log_file)]
        return [*map(info_string, corrections)]

    def _getoption(self, command: Command) -> list[Action]:
        return [*map(info_string, self._options.describe(" ".join(command.arguments)))]

    def _help(self, command: Command) -> list[Action]:
        name = " ".join(command.arguments)
        return [*map(info_string, self._options.explain(name) if name else _HELP)]

    def _set_position(self, command: Command) -> list[Action]:
        described = parse_position(command.arguments)
        try:
            if described is None:
                raise ValueError("expected position startpos|sfen ... [moves ...]")
            self._position = self._new_position(described)
        except ValueError as error:
            self._position_problem = f"position: {error}"
            return [info_string(f"Error! {self._position_problem}")]
        self._position_problem = ""
        return []

    def _go(self, command: Command) -> list[Action]:
        go = parse_go(command.arguments)
        if go.perft is not None:
            return self._ask(replace(command, name="perft", arguments=(str(go.perft),)))
        if self._must_load():
            self._waiting.appendleft(command)
            return self._load()
        position, problem = self._current_position(), self._position_problem
        if not problem and position.only_for_mate and not go.is_mate:
            problem = "position: the side to move has no king"
        request = self._request(position, go, command.received_s)
        is_open = go.limits.is_open and not go.is_mate
        self._job = _Searching(request, SearchControl(), go.is_mate, is_open, problem)
        if problem:
            # A move from another position could be legal in the GUI's and would be a silent blunder.
            return [info_string(f"Error! no search: {problem}"), *self._answer_without_search()]
        if not go.is_mate:
            return [Search(request, self._job.control)]
        if not request.config.mate.solves_mates:
            return self._answer_without_search()
        return [SolveMate(request, self._job.control, go.mate_ms)]

    def _stop(self, command: Command) -> list[Action]:
        return self._stop_search()

    def _ponderhit(self, command: Command) -> list[Action]:
        job = self._job
        if not isinstance(job, _Searching) or not (job.is_open and job.request.limits.ponder):
            return []
        limits = replace(job.request.limits, ponder=False)
        clocks = parse_go(command.arguments).limits
        if clocks.is_timed:
            limits = replace(clocks, root_moves=limits.root_moves)
        job.control.ponderhit(limits, command.received_s)
        job.is_open = limits.infinite
        return self._answer(job.held) if job.held is not None and not job.is_open else []

    def _show(self, command: Command) -> list[Action]:
        from goryu.usi.console import show

        return [*map(Write, show(command.name, self._current_position().board))]

    def _ask(self, command: Command) -> list[Action]:
        if self._must_load():
            self._waiting.appendleft(command)
            return self._load()
        position = self._current_position()
        if command.name == "perft":  # The published numbers count every legal move.
            position = position.under(replace(position.board.rules, all_moves=True))
        request = self._request(position, GoCommand(Limits()), command.received_s)
        self._job = _Asking(SearchControl())
        return [Ask(command, request, self._job.control)]

    # Parts of the commands.

    def _must_load(self) -> bool:
        return self._loaded_files != _files_of(self._options.config)

    def _load(self, owes_readyok: bool = False) -> list[Action]:
        messages = [*self._file_messages, *self._read_model_file(), *self._options.model_messages()]
        config = self._options.config
        self._loaded_files = _files_of(config)
        self._job = _Loading(owes_readyok)
        return [*map(info_string, messages), Load(config)]

    def _read_model_file(self) -> list[str]:
        """Sets the options in the file next to the model; returns its errors."""
        return self._options.set_model_options(self._read_model_options(self._options.config.evaluator))

    def _new_position(self, described: PositionCommand) -> "GamePosition":
        from goryu.players.position import GamePosition, rules_of

        rules = rules_of(self._options.config)
        return GamePosition(described.sfen, described.moves, rules, self._position)

    def _current_position(self) -> "GamePosition":
        """Returns the position last set up, under the rules now in force."""
        from goryu.players.position import rules_of

        if self._position is None:
            self._position = self._new_position(PositionCommand("", ()))
        self._position = self._position.under(rules_of(self._options.config))
        return self._position

    def _request(self, position: "GamePosition", go: GoCommand, received_s: float) -> Request:
        from goryu.players.position import legal_root_moves

        board, root_moves = legal_root_moves(position, go.searchmoves)
        limits = replace(go.limits, root_moves=root_moves)
        return Request(board.copy(), limits, self._options.config, received_s)

    # Answers.

    def _stop_search(self) -> list[Action]:
        """Stops the search, if there is one; answers at once if it has already ended."""
        job = self._job
        if not isinstance(job, _Searching):
            return []
        job.control.stop()
        job.is_open = False
        job.is_stopping = True
        return self._answer(job.held) if job.held is not None else []

    def _answer_without_search(self) -> list[Action]:
        """Answers a `go` that is not searched, as soon as it may be answered."""
        assert isinstance(self._job, _Searching)
        if self._job.is_mate:
            return self._answer_mate(MATE_UNKNOWN)
        self._job.held = Answer(None)
        return [] if self._job.is_open else self._answer(self._job.held)

    def _answer(self, answer: Answer) -> list[Action]:
        from goryu.usi.output import MATED_LINE, answer_lines

        assert isinstance(self._job, _Searching)
        job, self._job = self._job, None
        config = job.request.config
        lines = answer_lines(answer, config.output, ALGORITHMS[config.algorithm.name])
        if not job.problem and not job.request.board.legal_moves():
            lines.insert(0, MATED_LINE)
        return [*([info_string(answer.info_string)] if answer.info_string else []), *map(Write, lines)]

    def _answer_mate(self, mate: Mate) -> list[Action]:
        from goryu.usi.output import mate_line

        assert isinstance(self._job, _Searching)
        job, self._job = self._job, None
        solves_mates = job.request.config.mate.solves_mates
        return [Write(mate_line(mate) if solves_mates else "checkmate notimplemented")]


def _is_question(command: Command) -> bool:
    """Is this a command of the console?"""
    return command.name in _QUESTIONS or (command.name == "go" and "perft" in command.arguments)


def _files_of(config: EngineConfig) -> tuple[EvaluatorConfig, BookFile]:
    """Returns the parts of the config that require loading when they change."""
    return config.evaluator, config.book_file


_HELP = (
    "about the position: d, moves, side, eval, policy [LINES], perft [DEPTH]",
    "about the last search: tree [LINES], tree FILE.json [MINIMUM_VISITS [DEPTH]]",
    "about the options: getoption [NAME] shows values, help NAME explains an option",
)

_QUESTIONS = frozenset(("d", "moves", "side", "eval", "policy", "tree", "perft", "getoption", "help"))
"""Commands of the console."""

_NEEDS_IDLE = frozenset(("go", "usinewgame", "eval", "policy", "tree", "perft"))
"""Commands that stop a search and wait for its answer before they are served."""
