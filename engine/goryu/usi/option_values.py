"""The values of the options: from the engine, the model's file, the user, and `engine_options.txt`."""

import re
from collections.abc import Mapping

from goryu.players.config import EngineConfig, Value, value_at, with_fields
from goryu.usi.option import Kind, Option, OptionError
from goryu.usi.options import OPTIONS, OPTIONS_OF_MORE_DEVICES
from goryu.usi.options_file import OPTIONS_FILE, parse_options_file
from goryu.usi.presets import PRESETS

_BY_EXACT_NAME = {option.exact_alias: option for option in OPTIONS if option.exact_alias}
_BY_NAME: dict[str, list[tuple[Option, int]]] = {}
for _option in (*OPTIONS, *OPTIONS_OF_MORE_DEVICES):
    for _name, _factor in ((_option.name, 1), *_option.aliases):
        _BY_NAME.setdefault(_name.lower(), []).append((_option, _factor))

NOT_IN_A_FILE = ("", "output.log_file")
"""Fields that no file may set: none for buttons, and one that acts at the moment when it is set."""

NOT_IN_A_MODEL_FILE = (
    *NOT_IN_A_FILE,
    "preset",
    "evaluator.kind",
    "evaluator.model",
    "evaluator.model_folder",
    *(option.field for option in OPTIONS_OF_MORE_DEVICES if option.field.endswith(".model")),
)
"""A model's file may choose neither the preset nor the model."""

_COUNTS_OF_GPUS = re.compile(r"max_gpu|numgpus|disabled_gpu")
"""Names, in lower case, of the options by which other engines use several GPUs without naming them."""


MOST_PROBLEMS = 5
"""More problems of a file are only counted."""


class OptionValues:
    """The options with their values.

    A later source overrides an earlier one: the engine's defaults, the file next to the model, the preset,
    the user (by `set`), and `engine_options.txt`. There is one exception: GUIs send every option, changed or
    not, so that after a change of the model or the preset a value that was offered as the default for the
    last one does not count.

    engine_defaults: the engine's defaults.
    """

    def __init__(self, engine_defaults: EngineConfig | None = None) -> None:
        self._engine_defaults = engine_defaults or EngineConfig()
        # Values by field.
        self._model: dict[str, Value] = {}
        self._user: dict[str, Value] = {}
        self._fixed: dict[str, Value] = {}
        self._offered: EngineConfig | None = None
        self._config: EngineConfig | None = None  # Computed from the above when it is needed.

    @property
    def config(self) -> EngineConfig:
        """The values in force."""
        if self._config is None:
            self._config = self._with(self._model, {**self._set_by_user(), **self._fixed})
        return self._config

    @property
    def defaults(self) -> EngineConfig:
        """The values in force if the user sets nothing."""
        return self._with(self._model, self._fixed)

    def _with(self, model: Mapping[str, Value], values: Mapping[str, Value]) -> EngineConfig:
        """Returns the engine's defaults with the values of the model's file, the preset's, and others."""
        preset = str(values.get("preset", self._engine_defaults.preset))
        return with_fields(self._engine_defaults, {**model, **PRESETS[preset], **values})

    def offer(self) -> EngineConfig:
        """Returns the defaults to offer to the GUI; remembers for which model they are."""
        self._offered, self._config = self.defaults, None
        return self._offered

    def _set_by_user(self) -> dict[str, Value]:
        """Returns the user's values that count."""
        chosen = self._with({}, {**self._user, **self._fixed})
        if self._offered is None or _defaults_of(chosen) == _defaults_of(self._offered):
            return self._user
        return {
            field: value for field, value in self._user.items() if value != value_at(self._offered, field)
        }

    def find(self, name: str) -> list[Option]:
        """Returns the options that a name or alias sets: usually one."""
        try:
            return [option for option, _ in _found(name)]
        except OptionError:
            return []

    def set(self, name: str, text: str) -> list[str]:
        """Sets the options of a name; returns a message for each that got another value.

        A number out of bounds becomes the nearest possible one. A button changes nothing.

        Raises:
            OptionError: no option has this name, or the value is not possible.
        """
        if _COUNTS_OF_GPUS.fullmatch(name.lower()):
            is_default = text.strip() in ("", "0", "1")
            return [] if is_default else [f"option {name} has no effect: Goryu uses the GPUs of Device"]
        messages: list[str] = []
        for option, factor in _found(name):
            if option.kind is Kind.BUTTON:
                continue
            value = option.parse(text, factor)
            if self._fixed.get(option.field, value) != value:
                messages.append(f"option {option.name} stays {option.text(self.config)}: {OPTIONS_FILE}")
                continue
            self._user[option.field], self._config = value, None
            if name == option.exact_alias:
                messages.append(f"option {name} sets {option.name}, in {option.unit.name}")
            messages += _correction(option, text, factor, value)
        return messages

    def fix(self, text: str) -> list[str]:
        """Sets the values in an `engine_options.txt`, which nothing overrides; returns its errors."""
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
        return [f"{OPTIONS_FILE}: {problem}" for problem in _first(problems)]

    def fixed_messages(self) -> list[str]:
        """Returns a line with the options that `engine_options.txt` has set, if it has set any."""
        config = self.config
        fixed = [f"{option.name}={option.text(config)}" for option in OPTIONS if option.field in self._fixed]
        return [f"set by {OPTIONS_FILE}: {' '.join(fixed)}"] if fixed else []

    def set_model_options(self, text: str, problem: str = "") -> list[str]:
        """Sets the values in the file next to the model, lines `NAME=VALUE`; returns its errors.

        problem: why the file cannot be read, "" if it can.
        """
        problems = [problem] if problem else []
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
                    problems += _correction(option, value, factor, self._model[option.field])
            except OptionError as error:
                problems.append(str(error))
            if not equals:
                problems.append(f"expected NAME=VALUE, received {line[:80]!a}")
        return [f"file next to the model: {problem}" for problem in _first(problems)]

    def model_messages(self) -> list[str]:
        """Returns messages about values that depend on the model and that the GUI may not show."""
        overriding = {**self._set_by_user(), **self._fixed}
        preset = PRESETS[self.config.preset]
        model, user = self._with(self._model, {}), self._with({}, self._user)
        applied, overridden, defaults = list[str](), list[str](), list[str]()
        for option in filter(lambda option: option.field, OPTIONS):
            text = option.text(self.config)
            if option.field in self._model and option.field not in {**preset, **overriding}:
                applied.append(f"{option.name}={text}")
            elif option.field in self._model and option.text(model) != text:
                overridden.append(f"{option.name}={option.text(model)}")
            elif option.field in self._user.keys() - overriding.keys() and option.text(user) != text:
                defaults.append(f"{option.name}={text}")
        lines = {
            "set by the file next to the model": applied,
            "the file next to the model has other values": overridden,
            "other defaults for this model": defaults,
        }
        return [f"{line}: {' '.join(values)}" for line, values in lines.items() if values]

    def explain(self, name: str) -> list[str]:
        """Returns the declaration and the help of every option of a name."""
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


def _defaults_of(config: EngineConfig) -> tuple[str, str, str, str]:
    """Returns the values that decide what the defaults are: the preset, and what names the model."""
    return config.preset, config.evaluator.kind, config.evaluator.model, config.evaluator.model_folder


def _first(problems: list[str]) -> list[str]:
    """Returns a few problems, and the number of others: a file of another kind has one in every line."""
    if len(problems) <= MOST_PROBLEMS:
        return problems
    return [*problems[:MOST_PROBLEMS], f"and {len(problems) - MOST_PROBLEMS} more such lines"]


def _found(name: str) -> list[tuple[Option, int]]:
    """Returns the options of a name with the factor of this name; raises OptionError if there is none."""
    if (exact := _BY_EXACT_NAME.get(name)) is not None:
        return [(exact, 1)]
    found = _BY_NAME.get(name.lower())
    if found is None:
        raise OptionError(_no_option(name))
    return found


def _no_option(name: str) -> str:
    return f"no option is called {name[:80]!a}"


def _correction(option: Option, text: str, factor: int, value: Value) -> list[str]:
    """Returns a message if a number was out of bounds."""
    if option.kind is not Kind.SPIN or isinstance(value, str):
        return []
    number = option.unit.number(value)
    if number == factor * option.parse_number(text):
        return []
    return [f"option {option.name}: {text.strip()[:40]!a} became {number}"]
