"""The config of the engine at its start, for commands other than `usi`."""

from collections.abc import Callable
from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.players.config import EngineConfig
from goryu.players.levels.levels import evaluator_of
from goryu.players.set_up.model_path import read_model_options
from goryu.usi.option_values import OptionValues
from goryu.usi.options_file import read_options_file


def start_config(model: Path | None, report: Callable[[str], None]) -> EngineConfig:
    """Returns the config with `engine_options.txt` and the network's options; `model` replaces the network.

    report: takes one-line messages about options that cannot be used.

    Raises:
        InputError: the network cannot be used.
    """
    if model and not model.is_file():
        raise InputError(tr("{file}: no such file", file=f"--model {model}"))
    options, problems = start_options(str(model.absolute()) if model else "")
    if model:
        options.set("AllowFallback", "false")  # A user who names a network wants no other.
    for message in (*problems, *options.fixed_messages()):
        report(message)
    return options.config


def start_options(model: str) -> tuple[OptionValues, list[str]]:
    """Returns the options with which the engine would start, and messages about those that cannot be used.

    model: the value of DNN_Model; "" for that of `engine_options.txt` or the default.

    Raises:
        InputError: the option cannot have this value.
    """
    options = OptionValues()
    text, problem = read_options_file()
    problems = [problem] if problem else []
    problems += options.fix(text)
    if model and (refused := options.set("DNN_Model", model)):
        raise InputError(f"--model: {refused[0]}")
    problems += options.set_model_options(*read_model_options(evaluator_of(options.config)))
    return options, problems
