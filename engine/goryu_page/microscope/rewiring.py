"""How a function is observed: its own code runs, with other functions in place of some that it calls.

A function finds the functions that it calls among its globals. `rewired` makes a second function of the same
code with other globals, so an observer sees every call, a recursion's too. The module itself is not
changed: other threads that call the function are not observed.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

from goryu.base.errors import InputError
from goryu.base.language import tr

F = TypeVar("F", bound=Callable[..., Any])


def rewired(function: F, **names: Callable[..., Any]) -> F:
    """Returns a function with the code of `function`, for which the global `names` mean these functions.

    Raises InputError if it does not use one of these names: readers change the code.
    """
    source = cast(FunctionType, function)
    missing = [name for name in names if name not in source.__code__.co_names]
    if missing:
        raise InputError(
            tr(
                "{function} does not call {names}, so its steps cannot be shown",
                function=source.__qualname__,
                names=", ".join(missing),
            )
        )
    copy = FunctionType(
        source.__code__,
        {**source.__globals__, **names},
        source.__name__,
        source.__defaults__,
        source.__closure__,
    )
    copy.__kwdefaults__ = source.__kwdefaults__
    return cast(F, copy)
