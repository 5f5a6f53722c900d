"""The values of the options: from the engine, the model's file, the user, and `engine_options.txt`."""

import re

from goryu.players.config import EngineConfig, Value, with_fields
from goryu.usi.option import Kind, Option, OptionError
from goryu.usi.options import OPTIONS
from goryu.usi.options_file import OPTIONS_FILE, parse_options_file

_BY_NAME: dict[str, list[tuple[Option, int]]] = {}
for _option in OPTIONS:
    for _name, _factor in ((_option.name, 1), *_option.aliases):
        _BY_NAME.setdefault(_name.lower(), []).append((_option, _factor))

NOT_IN_A_FILE = ("", "output.log_file")
"""Fields that no file may set: none for buttons, and one that acts at the moment when it is set."""

NOT_IN_A_MODEL_FILE = (*NOT_IN_A_FILE, "evaluator.kind", "evaluator.model", "evaluator.model_folder")
"""A model's file may not choose the model either."""

_SEVERAL_GPUS = re.compile(r"(uct_threads|dnn_model|dnn_batch_size)[2-8]|max_gpu|numgpus|disabled_gpu")
"""Names, in lower case, of the options by which other engines use several GPUs."""


class OptionValues:
    """The options with their values.

    A later source overrides an earlier one: the engine's defaults, the file beside the model, what was set
    by name, and `engine_options.txt`.
    """

    def __init__(self) -> None:
        # Values by field.
        self._model: dict[str, Value] = {}
        self._user: dict[str, Value] = {}
        self._fixed: dict[str, Value] = {}
        self._config: EngineConfig | None = None  # Of these values, once it has been needed.

    @property
    def config(self) -> EngineConfig:
        """The values in force."""
        if self._config is None:
            self._config = with_fields(EngineConfig(), {**self._model, **self._user, **self._fixed})
        return self._config

    @property
    def defaults(self) -> EngineConfig:
        """The values in force if the user sets nothing."""
        return with_fields(EngineConfig(), {**self._model, **self._fixed})

    def find(self, name: str) -> list[Option]:
        """Returns the options of this name or alias: mostly one, none, or both that an alias sets."""
        return [option for option, _ in _BY_NAME.get(name.lower(), [])]

    def set(self, name: str, text: str) -> list[str]:
        """Sets what the name stands for; returns in words why the value in force is another one, if it is.

        A number out of bounds becomes the nearest possible one. A button changes nothing.

        Raises:
            OptionError: no option has this name, or the value was refused.
        """
        if _SEVERAL_GPUS.fullmatch(name.lower()):
            is_default = text.strip() in ("", "0", "1")
            return [] if is_default else [f"option {name} has no effect: Goryu uses one GPU, that of Device"]
        problems: list[str] = []
        for option, factor in _found(name):
            if option.kind is Kind.BUTTON:
                continue
            value = option.parse(text, factor)
            if self._fixed.get(option.field, value) != value:
                problems.append(f"option {option.name} stays {option.text(self.config)}: {OPTIONS_FILE}")
                continue
            self._user[option.field], self._config = value, None
            problems += _correction(option, text, factor, value)
        return problems

    def fix(self, text: str) -> list[str]:
        """Sets for good what the text of an `engine_options.txt` says.

        Returns in words what was wrong with it, then in one line what it has set.
        """
        problems: list[str] = []
        for name, value in parse_options_file(text):
            try:
                for option, factor in _found(name):
                    if option.field in NOT_IN_A_FILE:
                        raise OptionError(f"{option.name} cannot be set here")
                    self._fixed[option.field] = option.parse(value, factor)
                    problems += _correction(option, value, factor, self._fixed[option.field])
            except OptionError as error:
                problems.append(str(error))
        self._config = None
        problems = [f"{OPTIONS_FILE}: {problem}" for problem in problems]
        config = self.config
        fixed = [f"{option.name}={option.text(config)}" for option in OPTIONS if option.field in self._fixed]
        return [*problems, f"set by {OPTIONS_FILE}: {' '.join(fixed)}"] if fixed else problems

    def set_model_options(self, text: str) -> list[str]:
        """Sets what the file beside the model says, lines `NAME=VALUE`; returns what is wrong with it."""
        problems: list[str] = []
        self._model, self._config = {}, None
        for line in map(str.strip, text.splitlines()):
            if not line or line.startswith(("#", ";", "[")):
                continue
            name, equals, value = line.partition("=")
            try:
                for option, factor in _found(name.strip()) if equals else ():
                    if option.field in NOT_IN_A_MODEL_FILE:
                        raise OptionError(f"{option.name} cannot be set here")
                    self._model[option.field] = option.parse(value, factor)
            except OptionError as error:
                problems.append(str(error))
            if not equals:
                problems.append(f"expected NAME=VALUE, received {line[:80]!a}")
        return [f"file beside the model: {problem}" for problem in problems]

    def model_options(self) -> list[str]:
        """Returns in words what the file beside the model has set, and what it would set but for the user."""
        others = {**self._user, **self._fixed}
        config, model = self.config, with_fields(EngineConfig(), self._model)
        applied, overridden = list[str](), list[str]()
        for option in OPTIONS:
            if option.field not in self._model:
                continue
            text = option.text(model)
            if option.field not in others:
                applied.append(f"{option.name}={text}")
            elif option.text(config) != text:
                overridden.append(f"{option.name}={text}")
        lines = [f"set by the file beside the model: {' '.join(applied)}"] if applied else []
        if overridden:
            lines.append(f"the file beside the model has other values: {' '.join(overridden)}")
        return lines

    def explain(self, name: str) -> list[str]:
        """Returns how the options of a name are offered to the GUI, and what they mean."""
        lines: list[str] = []
        for option in self.find(name):
            lines += [option.declaration(self.defaults).removeprefix("option name "), option.help]
        return lines or [_no_option(name)]

    def describe(self, name: str) -> list[str]:
        """Returns `NAME = VALUE` for the options of a name; for every option if the name is empty."""
        config = self.config
        options = self.find(name) if name else OPTIONS
        lines = [f"{option.name} = {option.text(config)}" for option in options if option.field]
        return lines or [f"{name} has no value" if options else _no_option(name)]


def _found(name: str) -> list[tuple[Option, int]]:
    """Returns the options of a name with the factor of this name; raises OptionError if there is none."""
    found = _BY_NAME.get(name.lower())
    if found is None:
        raise OptionError(_no_option(name))
    return found


def _no_option(name: str) -> str:
    return f"no option is called {name[:80]!a}"


def _correction(option: Option, text: str, factor: int, value: Value) -> list[str]:
    """Returns in words to what a number out of bounds was corrected."""
    if option.kind is not Kind.SPIN or isinstance(value, str):
        return []
    number = option.unit.number(value)
    if number == factor * option.parse_number(text):
        return []
    return [f"option {option.name}: {text.strip()[:40]!a} became {number}"]
