"""The base class of the errors that Goryu raises for bad input: files, positions, options, engines."""

import re
from os import PathLike, fspath

from goryu.base.language import tr
from goryu.base.printable import printable


class GoryuError(Exception):
    """Something outside Goryu is wrong; the message names what was received and what was expected."""

    def translated(self) -> str:
        """Returns the message in the user's language where there is a translation; see `language.py`."""
        return str(self)


class InputError(GoryuError, ValueError):
    """A number, a name or a file from outside that Goryu cannot use."""


ONNXRUNTIMES_SOURCE = re.compile(r"/onnxruntime_src/\S+ [^()\n]*\([^()\n]*\)(?: const)?(?: \[[^\]\n]*\])? ")
DEVICE_FAILURE = re.compile(r"\b[A-Z_]+ failure \d+: [^;\n]*[^;\s]")
"""What onnxruntime says of CUDA, behind a thousand characters of C++ types."""


def first_line(error: BaseException) -> str:
    r"""Returns the first line of an error's message, or its type if it has none; libraries write whole pages.

    >>> first_line(RuntimeError("no memory\nat line 5 of ..."))
    'no memory'
    >>> first_line(MemoryError())
    'MemoryError'
    >>> first_line(RuntimeError("/onnxruntime_src/a.cc:729 void Register(Options&) Please install TensorRT"))
    'Please install TensorRT'
    >>> first_line(RuntimeError("a.cc:154 CudaCall(int) [T = int] CUDA failure 2: out of memory ; GPU=0"))
    'CUDA failure 2: out of memory'
    """
    text = ONNXRUNTIMES_SOURCE.sub("", str(error)).strip()
    if failure := DEVICE_FAILURE.search(text):
        return failure[0]
    return text.partition("\n")[0] or type(error).__name__


def named(error: BaseException) -> str:
    """Returns the first line of an error, with its type if it is not one of ours.

    >>> named(ZeroDivisionError("division by zero")), named(InputError("--size 5: expected 4, 6 or 8"))
    ('ZeroDivisionError: division by zero', '--size 5: expected 4, 6 or 8')
    """
    kind, line = type(error).__name__, first_line(error)
    return line if line == kind or isinstance(error, GoryuError) else f"{kind}: {line}"


def explained(error: Exception) -> str:
    """Returns an error as text for the user, in their language where there is a translation.

    For an error of the system it names the file and the fault. Names of files may have control characters,
    which are escaped; lines stay.

    >>> explained(FileNotFoundError(2, "No such file or directory", "game.kif"))
    'game.kif: No such file or directory'
    >>> explained(OSError(28, "No space left on device"))
    'No space left on device'
    >>> explained(InputError("--size 5: expected 4, 6 or 8"))
    '--size 5: expected 4, 6 or 8'
    """
    return "\n".join(map(printable, _explained(error).split("\n")))


def _explained(error: Exception) -> str:
    if isinstance(error, GoryuError):
        return error.translated()
    if isinstance(error, OSError) and error.strerror:
        place = f"{fspath(error.filename)}: " if isinstance(error.filename, (str, PathLike)) else ""
        return place + fault(error)
    return str(error)


def fault(error: OSError) -> str:
    """Returns what the system says about an error, in the user's language where it is a frequent one."""
    return tr(error.strerror) if error.strerror else str(error)
