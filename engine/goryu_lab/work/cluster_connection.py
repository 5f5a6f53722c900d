"""The connection to a Ray cluster, and what it prints and raises, made readable."""

import logging
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from goryu.base.errors import GoryuError, first_line
from goryu.base.installation import how_to_install

ANSWER_S = 10.0
"""How long the pool waits for the head of a cluster to answer at all."""

MESSAGE_WIDTH = 240
"""The most characters of a message of the cluster that are shown. Its log file has the whole."""


class ClusterError(GoryuError):
    """There is no such cluster, or Ray is missing."""


def connect(address: str, show: Callable[[str], object]) -> Any:
    """Connects to a cluster; returns the module ray. Raises ClusterError.

    show: called with the first line of every message of the cluster, in one of Ray's threads.
    """
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ClusterError(
            f"--cluster needs Ray, which is not installed: {how_to_install('cluster')}"
        ) from error
    _check_address(address)
    options: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # Ray's errors have no other base class: a start that lasts too long is one.
        raise ClusterError(f"--cluster {address}: {one_line(error)}") from error
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)  # Ray replaces it; ours closes the files.
    _shorten_messages(show)
    return ray


def _shorten_messages(show: Callable[[str], object]) -> None:
    """Keeps the messages of the cluster off the terminal, where Ray prints them into the progress display.

    When a node dies, such a message has the last lines of its log, up to some hundred. `show` gets the first
    line, and a log file the whole. Ray has no setting for it: this replaces its function that prints, if this
    version of Ray has one; otherwise Ray goes on to print.
    """
    from ray._private import worker

    if not hasattr(worker, "print_to_stdstream"):
        return
    log = Path(tempfile.gettempdir()) / f"goryu-ray-{os.getpid()}.log"

    def keep(data: Mapping[str, Any], *arguments: Any, **options: Any) -> None:
        lines = [line for message in data["lines"] for line in str(message).splitlines() if line.strip()]
        with log.open("a", encoding="utf-8") as file:
            file.write("\n".join([f"{datetime.now():%Y-%m-%d %H:%M:%S}", *lines, ""]))
        if lines:
            show(f"{shortened(lines[0])} ({log})")

    worker.print_to_stdstream = keep


def _check_address(address: str) -> None:
    """Raises ClusterError if nothing answers at HOST:PORT, which Ray would try for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if address in ("auto", "local"):
        return
    if not colon or not port.isdecimal():
        raise ClusterError(f"--cluster {address}: expected auto, local, HOST:PORT or ray://HOST:PORT")
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"--cluster {address}: nothing answers there: {error}") from error


def one_line(error: BaseException) -> str:
    """Returns an error in one line.

    Of an error in an actor, the error and not Ray's account of it. Of the death of an actor, what Ray says
    about its cause, after a list of the actor's properties, each after a tab.
    """
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):
        return f"{type(cause).__name__}: {one_line(cause)}"
    if hasattr(error, "actor_id"):
        _, *lines = str(error).splitlines()
        if causes := [line for line in lines if line.strip() and not line.startswith("\t")]:
            return shortened(" ".join(causes))
    return first_line(error)


def shortened(text: str) -> str:
    return text if len(text) <= MESSAGE_WIDTH else text[:MESSAGE_WIDTH] + "..."
