"""The commands about options: `usi`, `setoption`, `getoption` and `help`."""

from collections.abc import Callable

from goryu.players.config import EngineConfig, EvaluatorConfig
from goryu.players.levels.levels import evaluator_of
from goryu.usi.actions import Action, NewGame, OpenLog, Write, info_string
from goryu.usi.commands import Command, parse_setoption
from goryu.usi.option import OptionError
from goryu.usi.option_values import OptionValues
from goryu.usi.options import identification


class OptionCommands:
    """Keeps the options of a session.

    read_model_options: returns the text of the options file next to the model, and why it cannot be read.
    fixed_options: the text of `engine_options.txt`. file_problem: why it cannot be read, or "".
    engine_defaults: the values of options that nothing sets.
    """

    def __init__(
        self,
        read_model_options: Callable[[EvaluatorConfig], tuple[str, str]],
        fixed_options: str,
        file_problem: str,
        engine_defaults: EngineConfig | None,
    ) -> None:
        self._read_model_options = read_model_options
        self._values = OptionValues(engine_defaults)
        self._file_messages = [file_problem] if file_problem else []
        self._file_messages += self._values.fix(fixed_options)
        self._file_messages += self._values.fixed_messages()

    @property
    def config(self) -> EngineConfig:
        """The values in force."""
        return self._values.config

    def identify(self) -> list[Action]:
        """Returns the answer to `usi`."""
        self.read_model_file()  # Its values are the defaults that the GUI should show.
        return [Write(line) for line in identification(self._values.offer())]

    def read_model_file(self) -> list[str]:
        """Sets the options in the file next to the model; returns its errors."""
        return self._values.set_model_options(*self._read_model_options(evaluator_of(self.config)))

    def loading_messages(self) -> list[Action]:
        """Reads the file next to the model; returns what the user should know about the options' files."""
        messages = [*self._file_messages, *self.read_model_file(), *self._values.model_messages()]
        return [*map(info_string, messages)]

    def set(self, command: Command) -> list[Action]:
        """Serves `setoption`."""
        parsed = parse_setoption(command.line)
        if parsed is None:
            return [info_string("setoption: expected setoption name NAME value VALUE")]
        try:
            corrections = self._values.set(*parsed)
        except OptionError as error:
            return [info_string(str(error))]
        names = [option.name for option in self._values.find(parsed[0])]
        if "Clear_Hash" in names:
            return [NewGame()]
        if "LogFile" in names:
            return [OpenLog(self.config.output.log_file)]
        return [*map(info_string, corrections)]

    def show(self, command: Command) -> list[Action]:
        """Serves `getoption [NAME]`."""
        return [*map(info_string, self._values.describe(" ".join(command.arguments)))]

    def explain(self, command: Command) -> list[Action]:
        """Serves `help [NAME]`."""
        name = " ".join(command.arguments)
        return [*map(info_string, self._values.explain(name) if name else _HELP)]


_HELP = (
    "about the position: d, moves, side, eval, policy [LINES], perft [DEPTH]",
    "about the last search: tree [LINES], tree FILE.json [MINIMUM_VISITS [DEPTH]]",
    "about the options: getoption [NAME] shows values, help NAME explains an option",
)
