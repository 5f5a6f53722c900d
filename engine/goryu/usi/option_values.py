"""What the user has set with `setoption`, and what `engine_options.txt` and the model's own file say."""

import re
from dataclasses import replace

from goryu.players.config import EngineConfig
from goryu.usi.option import Kind, Option, OptionError, Value
from goryu.usi.options import OPTIONS
from goryu.usi.options_file import OPTIONS_FILE, parse_options_file

__all__ = ["UsiOptions"]

_BY_NAME: dict[str, tuple[Option | None, int]] = {
    name.lower(): (option, factor)
    for option in OPTIONS
    for name, factor in ((option.name, 1), *option.aliases)
}

NOT_OF_A_FILE = ("", "log_file")
"""Buttons, and what is done when the option is set."""

NOT_OF_A_MODEL = (*NOT_OF_A_FILE, "evaluator", "model", "model_folder")
"""And what decides which model is loaded."""


_MORE_GPUS = re.compile(r"(uct_threads|dnn_model|dnn_batch_size)[2-8]|max_gpu|numgpus|disabled_gpu")
"""Options by which other engines use several GPUs, in lower case."""


class UsiOptions:
    """The options with their values.

    What `fix` has set stays. A setting of the model's file counts where the user's option stands at its
    default: GUIs send every option, the unchanged ones too, so that "was sent" says nothing (dlshogi's rule).
    """

    def __init__(self) -> None:
        self._set = EngineConfig()
        self._fixed: set[str] = set()
        self._model_settings: dict[str, Value] = {}

    @property
    def config(self) -> EngineConfig:
        """The settings in force."""
        from_model = self._from_model()
        return replace(self._set, **from_model) if from_model else self._set  # type: ignore[arg-type]

    def _from_model(self) -> dict[str, Value]:
        """Returns the fields that the model's file decides, with their values."""
        default = EngineConfig()
        return {
            name: value
            for name, value in self._model_settings.items()
            if getattr(self._set, name) == getattr(default, name) and name not in self._fixed
        }

    def find(self, name: str) -> Option | None:
        """Returns the option of this name or alias, or None."""
        return _BY_NAME.get(name.lower(), (None, 1))[0]

    def set(self, name: str, text: str) -> str:
        """Sets an option; returns a remark if the value in force is another one, else "".

        Numbers are brought into their bounds, and what `fix` has set stays. A name that no option has, and a
        button, change nothing.

        Raises:
            OptionError: the value was refused.
        """
        option, factor = _BY_NAME.get(name.lower(), (None, 1))
        if _MORE_GPUS.fullmatch(name.lower()) and text.strip() not in ("", "0", "1"):
            return f"option {name} has no effect: Goryu uses one GPU, that of Device"
        if option is None or option.kind is Kind.BUTTON:
            return ""
        value = option.parse(text, factor)
        if option.field in self._fixed:
            stays = value != getattr(self._set, option.field)
            return f"option {option.name} stays {option.text(self._set)}: {OPTIONS_FILE}" if stays else ""
        self._set = replace(self._set, **{option.field: value})  # type: ignore[arg-type]
        if option.kind is Kind.SPIN and value != factor * option.number(text):
            return f"option {option.name}: {text.strip()[:40]!a} became {value}"
        return ""

    def fix(self, text: str) -> list[str]:
        """Sets for good what the text of an `engine_options.txt` says.

        Returns for people what was wrong with it, then in one line what it has set.
        """
        problems: list[str] = []
        for name, value in parse_options_file(text):
            option = self.find(name)
            if option is None:
                problems.append(f"{OPTIONS_FILE}: no option {name[:80]!a}")
                continue
            if option.field in NOT_OF_A_FILE:
                problems.append(f"{OPTIONS_FILE}: {option.name} cannot be set here")
                continue
            try:
                problem = self.set(name, value)
            except OptionError as error:
                problem = str(error)
            else:
                self._fixed.add(option.field)
            problems += [f"{OPTIONS_FILE}: {problem}"] if problem else []
        fixed = [option for option in OPTIONS if option.field in self._fixed]
        settings = " ".join(f"{option.name}={option.text(self._set)}" for option in fixed)
        return [*problems, f"set by {OPTIONS_FILE}: {settings}"] if settings else problems

    def set_model_settings(self, text: str) -> list[str]:
        """Takes over a model's settings file, lines of `name=value`; returns what was wrong with it."""
        problems: list[str] = []
        self._model_settings = {}
        for line in text.splitlines():
            name, equals, value = line.strip().partition("=")
            if not name or name.startswith(("#", ";", "[")):
                continue
            option, factor = _BY_NAME.get(name.strip().lower(), (None, 1))
            if not equals or option is None or option.field in NOT_OF_A_MODEL:
                problems.append(f"model settings: no option in {line[:80]!a}")
                continue
            try:
                self._model_settings[option.field] = option.parse(value, factor)
            except OptionError as error:
                problems.append(f"model settings: {error}")
        return problems

    def model_settings(self) -> list[str]:
        """Returns `NAME=VALUE` for each option that the model's file decides."""
        config, fields = self.config, self._from_model()
        return [f"{option.name}={option.text(config)}" for option in OPTIONS if option.field in fields]

    def explain(self, name: str) -> list[str]:
        """Returns how an option is offered to the GUI, and what it means."""
        option = self.find(name)
        if option is None:
            return [f"no option of the name {name[:80]!a}"]
        return [option.declaration().removeprefix("option name "), option.help]

    def describe(self, name: str) -> list[str]:
        """Returns `NAME = VALUE`; for every option if the name is empty."""
        config = self.config
        if not name:
            return [f"{option.name} = {option.text(config)}" for option in OPTIONS if option.field]
        option = self.find(name)
        if option is None or not option.field:
            return [f"no option of the name {name[:80]!a} has a value"]
        return [f"{option.name} = {option.text(config)}"]
