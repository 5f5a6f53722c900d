"""Model files: where those that come with goryu lie, and the error of one that cannot be used."""

from pathlib import Path

from goryu.errors import GoryuError

__all__ = ["ModelError", "models_folder"]


class ModelError(GoryuError, ValueError):
    """A model file that cannot be used: missing, broken, or of a format that Goryu does not know."""


def models_folder() -> Path:
    """Returns the copy of `models/` in the package, where a wheel installed it, or that of the checkout.

    The folder is found from this file, never from the working directory: a GUI starts the engine anywhere.
    """
    package = Path(__file__).resolve().parent.parent
    installed = package / "models"
    return installed if installed.is_dir() else package.parent.parent / "models"
