"""Where the networks that come with goryu lie."""

from pathlib import Path

__all__ = ["models_folder"]


def models_folder() -> Path:
    """Returns `models/` of the checkout, or where goryu is installed from a wheel, the copy in the package.

    The folder is found from this file, never from the working directory: a GUI starts the engine anywhere.
    """
    package = Path(__file__).resolve().parent.parent
    checkout = package.parent.parent
    return checkout / "models" if (checkout / "pyproject.toml").is_file() else package / "models"
