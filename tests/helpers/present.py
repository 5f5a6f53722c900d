"""What must be there."""

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """Returns a value that is not None."""
    assert value is not None
    return value
