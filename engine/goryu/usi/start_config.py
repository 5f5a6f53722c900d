"""The config of the engine at its start, for commands other than `usi`."""

from collections.abc import Callable
from pathlib import Path

from goryu.errors import InputError
from goryu.players.config import EngineConfig
from goryu.players.model_path import read_model_options
from goryu.usi.option_values import OptionValues
from goryu.usi.options_file import read_options_file


def start_config(model: Path | None, report: Callable[[str], None]) -> EngineConfig:
    """Returns the config with `engine_options.txt` and the network's options; `model` replaces the network.

    report: takes one-line messages about options that cannot be used.

    Raises:
        InputError: the network cannot be used.
    """
    options = OptionValues()
    text, problem = read_options_file()
    messages = [problem] if problem else []
    messages += options.fix(text)
    if model:
        if not model.is_file():
            raise InputError(f"--model {model}: no such file")
        if refused := options.set("DNN_Model", str(model.absolute())):
            raise InputError(f"--model: {refused[0]}")
        options.set("AllowFallback", "false")  # A user who names a network wants no other.
    messages += options.set_model_options(read_model_options(options.config.evaluator))
    for message in messages:
        report(message)
    return options.config
