"""The USI protocol without I/O: lines and events in, actions out, in one thread.

Every accepted `go` gets exactly one answer, whatever the order of `stop`, `ponderhit`, `gameover` and `quit`.
An infinite or pondering search answers only after `stop` or `ponderhit`. A command that must wait for the
player waits in a queue, so that answers come in the order of the commands.

Here and in `session_position.py`, methods import the rules, the native code and the texts only when they need
them, so that `usiok` comes first: some GUIs wait only two seconds for it.
"""

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from goryu.base.errors import named
from goryu.players.books.config import BookFile
from goryu.players.clock.limits import Limits
from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.levels.levels import evaluator_of
from goryu.players.request import Answer, Request, SearchControl
from goryu.search.mates.mate import Mate, MateVerdict
from goryu.search.result import SearchResult
from goryu.usi.actions import Action, Ask, Load, NewGame, Quit, Search, SolveMate, Write, info_string
from goryu.usi.commands import Command, GoCommand, parse_command, parse_go
from goryu.usi.option_commands import OptionCommands
from goryu.usi.session_position import SessionPosition

_log = logging.getLogger("goryu")

MATE_UNKNOWN = Mate(MateVerdict.UNKNOWN, (), 0)
"""The result of a mate search that failed."""


@dataclass(slots=True)
class _Loading:
    """The player loads evaluator and book. owes_readyok: after `isready`, not after `go`.

    control: stops the measuring of threads and batch size.
    """

    owes_readyok: bool
    control: SearchControl


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

    read_model_options: returns the text of the options file next to the model, and why it cannot be read.
    fixed_options: the text of `engine_options.txt`. file_problem: why it cannot be read, or "".
    engine_defaults: the values of options that nothing sets.
    """

    def __init__(
        self,
        read_model_options: Callable[[EvaluatorConfig], tuple[str, str]] = lambda config: ("", ""),
        fixed_options: str = "",
        file_problem: str = "",
        engine_defaults: EngineConfig | None = None,
    ) -> None:
        self._options = OptionCommands(read_model_options, fixed_options, file_problem, engine_defaults)
        self._position = SessionPosition()
        self._job: _Loading | _Searching | _Asking | None = None
        self._waiting: deque[Command] = deque()
        self._is_quitting = False
        self._loaded_files: tuple[EvaluatorConfig, BookFile] | None = None
        self._handlers: dict[str, Callable[[Command], list[Action]]] = {
            "isready": self._isready,
            "usinewgame": self._usinewgame,
            "setoption": self._options.set,
            "getoption": self._options.show,
            "help": self._options.explain,
            "position": lambda command: self._position.set(command, self._options.config),
            "go": self._go,
            "stop": self._stop,
            "ponderhit": self._ponderhit,
            "gameover": self._stop,
            **dict.fromkeys(("d", "moves", "side"), self._show),
            **dict.fromkeys(("eval", "policy", "tree", "perft"), self._ask),
        }

    @property
    def is_busy(self) -> bool:
        """Do all commands wait for the player?"""
        return isinstance(self._job, (_Loading, _Asking))

    @property
    def owes_answers(self) -> bool:
        """Has a command been accepted and not been answered?"""
        return isinstance(self._job, _Searching) or self._owes_more()

    def _owes_more(self) -> bool:
        """Are there unanswered commands besides the search?"""
        job = self._job
        is_answering = isinstance(job, _Asking) or (isinstance(job, _Loading) and job.owes_readyok)
        return is_answering or bool(self._waiting)

    # Events. Each returns the actions to perform.

    def receive(self, line: str, received_s: float) -> list[Action]:
        """Takes a line from the GUI. received_s: when it arrived (seconds of `perf_counter`)."""
        command = parse_command(line, received_s)
        if command is None or self._is_quitting:
            return []
        if command.name == "quit":
            return self.finish()
        if command.name == "usi":
            return self._options.identify()
        if command.name == "stop" and isinstance(self._job, _Asking):
            self._job.control.stop()
        if isinstance(self._job, _Loading) and _starts_a_clock(command):
            self._job.control.stop()
        self._waiting.append(command)
        return self._serve()

    def finish(self) -> list[Action]:
        """Ends the session: the GUI sent `quit`, or its output has ended.

        The commands that wait are still served, since a script may send them all at once with `quit`: a `go`
        is stopped as soon as it has begun.
        """
        if self._is_quitting:
            return []
        self._is_quitting = True
        if isinstance(self._job, _Loading):
            self._job.control.stop()
        stopped = self._stop_search() if not self._waiting else []
        return [*stopped, Quit(self._owes_more())]

    def close(self) -> list[Action]:
        """Ends the session at once, after a signal."""
        self._is_quitting = True
        self._waiting.clear()
        if isinstance(self._job, _Asking):
            self._job.control.stop()
        elif isinstance(self._job, _Loading):
            self._job.owes_readyok = False
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
        traits = config.algorithm.traits
        return [Write(line) for line in info_lines(result, elapsed_ms, config.output, traits)]

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
                    actions.append(info_string(f"Error! {named(error)}"))
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

    def _isready(self, command: Command) -> list[Action]:
        if isinstance(self._job, _Searching):
            # The search goes on. A changed model is loaded before the next one.
            return [Write("readyok")]
        return self._load(owes_readyok=True)

    def _usinewgame(self, command: Command) -> list[Action]:
        return [NewGame()]

    def _go(self, command: Command) -> list[Action]:
        go = parse_go(command.arguments)
        if go.perft is not None:
            return self._ask(replace(command, name="perft", arguments=(str(go.perft),)))
        if self._must_load():
            actions = self._load()
            self._waiting.appendleft(command)  # Unless an error has answered it.
            return actions
        notes = [info_string(f"go: ignored {' '.join(go.ignored)}")] if go.ignored else []
        return [*notes, *self._search(go, command.received_s)]

    def _search(self, go: GoCommand, received_s: float) -> list[Action]:
        problem = self._position.problem(self._options.config, go)
        request = self._position.request(self._options.config, go, received_s)
        is_open = go.limits.is_open and not go.is_mate
        self._job = _Searching(request, SearchControl(), go.is_mate, is_open, problem)
        if problem:
            # A move from another position could be legal in the GUI's and would be a silent blunder.
            return [info_string(f"Error! no search: {problem}"), *self._answer_without_search()]
        if not go.is_mate:
            search = Search(request, self._job.control)
            if go.searchmoves and not request.limits.root_moves:
                return [info_string("Error! searchmoves: none of them is legal; searching all moves"), search]
            return [search]
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
            nodes = limits.nodes if clocks.nodes is None else clocks.nodes
            depth = limits.depth if clocks.depth is None else clocks.depth
            limits = replace(clocks, nodes=nodes, depth=depth, root_moves=limits.root_moves)
        job.control.ponderhit(limits, command.received_s)
        job.is_open = limits.infinite
        return self._answer(job.held) if job.held is not None and not job.is_open else []

    def _show(self, command: Command) -> list[Action]:
        from goryu.usi.console import show

        board = self._position.current(self._options.config).board
        return [*map(Write, show(command.name, board))]

    def _ask(self, command: Command) -> list[Action]:
        if self._must_load():
            actions = self._load()
            self._waiting.appendleft(command)  # Unless an error has answered it.
            return actions
        # The published numbers of perft count every legal move.
        request = self._position.request(
            self._options.config, GoCommand(Limits()), command.received_s, command.name == "perft"
        )
        self._job = _Asking(SearchControl())
        return [Ask(command, request, self._job.control)]

    # Parts of the commands.

    def _must_load(self) -> bool:
        return self._loaded_files != _files_of(self._options.config)

    def _load(self, owes_readyok: bool = False) -> list[Action]:
        messages = self._options.loading_messages()
        config = self._options.config
        self._loaded_files = _files_of(config)
        self._job = _Loading(owes_readyok, SearchControl())
        measures = owes_readyok and not self._is_quitting and not any(map(_starts_a_clock, self._waiting))
        return [*messages, Load(config, measures, self._job.control)]

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
        try:
            lines = answer_lines(answer, config.output, config.algorithm.traits, job.request.board)
        except Exception as error:  # The game goes on without the numbers of this search.
            _log.exception("the result of the search cannot be written")
            lines = [f"info string Error! {named(error)}"]
            lines += answer_lines(replace(answer, result=None), config.output)
        if not job.problem and not job.request.board.legal_moves():
            lines.insert(0, MATED_LINE)
        return [*([info_string(answer.info_string)] if answer.info_string else []), *map(Write, lines)]

    def _answer_mate(self, mate: Mate) -> list[Action]:
        from goryu.usi.output import mate_line

        assert isinstance(self._job, _Searching)
        job, self._job = self._job, None
        solves_mates = job.request.config.mate.solves_mates
        return [Write(mate_line(mate) if solves_mates else "checkmate notimplemented")]


def _starts_a_clock(command: Command) -> bool:
    """Is this a `go` that must be answered in time? One without any limit has a second."""
    if command.name != "go":
        return False
    go = parse_go(command.arguments)
    if go.is_mate:
        return go.mate_ms is not None
    return go.limits.is_timed or (go.limits.is_unlimited and go.perft is None)


def _files_of(config: EngineConfig) -> tuple[EvaluatorConfig, BookFile]:
    """Returns the parts of the config that require loading when they change."""
    return evaluator_of(config), config.book_file


_NEEDS_IDLE = frozenset(("go", "usinewgame", "eval", "policy", "tree", "perft"))
"""Commands that stop a search and wait for its answer before they are served."""
