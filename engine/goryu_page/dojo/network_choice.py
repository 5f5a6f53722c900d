"""The network of full strength that all searches of the page use: which there are, and which is chosen."""

from pathlib import Path

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.evaluators.network.model_files import downloads_folder, models_folder
from goryu.players.config import EngineConfig
from goryu.players.set_up.loading import LoadedEvaluator, LoadingError, SharedEvaluators
from goryu.players.set_up.model_path import model_path

KEY = "network"
"""The key of the setting: the name of the file, "" for the strongest network here."""

OTHER_GAMES = ("reversi", "tictactoe")
"""Begin the names of the networks that come with Goryu for other games."""


def found_networks(config: EngineConfig) -> dict[str, Path]:
    """Returns the networks for shogi that came with Goryu or were downloaded, and that of the config."""
    folders = (models_folder(), downloads_folder())
    files = [path for folder in folders for path in sorted(folder.glob("*.onnx"))]
    found = {path.name: path for path in files if not path.name.startswith(OTHER_GAMES)}
    named = Path(config.evaluator.model)
    return found | ({named.name: named} if named.name and named.name not in found else {})


def network_named(name: str, config: EngineConfig) -> Path | None:
    """Returns the file of a network, None for ""; raises InputError if there is none of this name."""
    if not name:
        return None
    found = found_networks(config)
    if name not in found:
        raise InputError(
            tr("{name}: no such network; expected one of {names}", name=name[:60], names=", ".join(found))
        )
    return found[name]


def loaded_or_refused(networks: SharedEvaluators, config: EngineConfig) -> LoadedEvaluator:
    """Loads the network of a config; raises InputError, one sentence, if it cannot be used for shogi."""
    try:
        loaded = networks.get(config.evaluator)
        problem = loaded.problem
    except LoadingError as error:
        problem = error.reason
    if problem:
        path = model_path(config.evaluator)
        told = problem.partition("\n")[0].removeprefix(f"model {path}: ")
        raise InputError(
            tr("{name} cannot be used as a network for shogi: {problem}", name=path.name, problem=told)
        )
    return loaded
