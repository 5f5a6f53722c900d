"""Programs that run for hours end in the same way on SIGTERM (`kill`, a shutdown) as on Ctrl-C."""

import signal
from types import FrameType

__all__ = ["interrupt_on_sigterm"]


def interrupt_on_sigterm() -> None:
    """Raises KeyboardInterrupt on SIGTERM, so that files are closed and engines stopped."""
    signal.signal(signal.SIGTERM, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
