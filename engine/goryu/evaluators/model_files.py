"""Model files: where those that come with goryu lie, and the error of one that cannot be used."""

from pathlib import Path

__all__ = ["ModelError", "models_folder"]


class ModelError(ValueError):
    """A model file that cannot be used: missing, broken, or of a format that Goryu does not know."""


def models_folder() -> Path:
    """Returns `models/` of the checkout, or where goryu is installed from a wheel, the copy in the package.

    The folder is found from this file, never from the working directory: a GUI starts the engine anywhere.
    """
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent.parent
    return checkout / "models" if (checkout / "pyproject.toml").is_file() else package / "models"
