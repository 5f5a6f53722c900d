"""The folders of model files, shipped and downloaded, and the error of an unusable file."""

from pathlib import Path

from goryu.base.errors import GoryuError
from goryu.base.files import data_folder
from goryu.base.installation import is_checkout
from goryu.base.language import tr

SHIPPED = "goryu-5x64.onnx"
"""The network that comes with Goryu: small, for every machine; levels 1 to 9 were measured with it."""

LARGER = "goryu-10x96.onnx"
"""The larger network that comes with Goryu; it plays where the downloaded one is missing."""

DOWNLOADED = "miniosl.onnx"
"""The network that `goryu download` fetches: larger and much stronger."""


class ModelError(GoryuError, ValueError):
    """A model file that cannot be used: missing, broken, or of a format that Goryu does not know."""


def damaged(path: Path, error: Exception) -> ModelError:
    """Returns the error of a file whose content is not a model."""
    return ModelError(f"model {path}: {tr('not an ONNX file, or a damaged one ({error})', error=error)}")


def models_folder() -> Path:
    """Returns `models/` in the installed package, or that of the checkout.

    It is found relative to this file, not to the working directory: a GUI starts the engine anywhere.
    """
    package = Path(__file__).resolve().parents[2]
    installed = package / "models"
    return installed if installed.is_dir() else package.parent.parent / "models"


def shipped_model() -> Path:
    """Returns the file of the small shipped network."""
    return models_folder() / SHIPPED


def larger_model() -> Path:
    """Returns the file of the larger shipped network."""
    return models_folder() / LARGER


def downloaded_model() -> Path:
    """Returns the file of the downloaded network; it may not exist."""
    return downloads_folder() / DOWNLOADED


def downloads_folder() -> Path:
    """Returns the folder for networks that the user has downloaded; it may not exist.

    It is in the user's data, which upgrades and `pip uninstall` leave alone. A checkout has its own, and an
    installation keeps the one that is in it.
    """
    inside = models_folder() / "downloads"
    if is_checkout() or inside.is_dir():
        return inside
    try:
        return data_folder() / "models"
    except FileNotFoundError:  # The user has no home folder.
        return inside
