"""Options made from the fields of a config, so that name, default, range and help are written once.

    @dataclass
    class Config:
        steps: int = ranged(100, "training steps")                  # --steps N, at least 1
        rate: float | None = ranged(None, "learning rate (default: the game's)", most=1)
        search: str = option("puct", "the search", choices=("puct", "uct"))
        plies: tuple[int, int] = option((2, 8), "random moves")     # --plies MIN MAX
        mirrors: bool = option(False, "reflect positions")          # --mirrors, --no-mirrors
        resign_cp: int = ranged(0, "end the game at this score")    # --resign CP: the unit is no part of it
        workers: int = 1                                            # no help: no option

    add_fields(parser, Config)
    config = from_arguments(Config, parser.parse_args())

`goryu.base.config_fields` has `option` and `ranged`.
"""

import argparse
from collections.abc import Collection, Sequence
from dataclasses import MISSING, Field, fields, replace
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from goryu.base.arguments import in_range

T = TypeVar("T")

UNITS = ("cp", "ms", "s")
"""The last words of the names of fields that are units: centipawns, milliseconds, seconds."""


class Interval(argparse.Action):
    """Takes two whole numbers, 0 <= MIN <= MAX, and stores them as a tuple."""

    def __init__(self, option_strings: Sequence[str], dest: str, **others: Any) -> None:
        super().__init__(
            option_strings, dest, **others | {"nargs": 2, "type": int, "metavar": ("MIN", "MAX")}
        )

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Checks and stores the numbers."""
        least, most = values
        if not 0 <= least <= most:
            raise argparse.ArgumentError(self, f"{least} {most}: expected 0 <= MIN <= MAX")
        setattr(namespace, self.dest, (least, most))


def add_fields(
    parser: argparse._ActionsContainer, config: Any, names: Collection[str] = (), *, fills: bool = True
) -> None:
    """Adds an option for each field of a dataclass that has a help; a field without a default must be given.

    config: the dataclass, or one of its objects, which has other defaults.
    names: the fields to add; empty: all.
    fills: does an option that is not given get its default? If not, it is None (for `changed`).
    The type is that of the annotation; `Literal` and `StrEnum` give choices. The help ends with the
    default, unless that is None or no text.
    """
    is_class = isinstance(config, type)
    kinds = get_type_hints(config if is_class else type(config))
    for item in fields(config):
        if "help" in item.metadata and (not names or item.name in names):
            default = _default(item) if is_class else getattr(config, item.name)
            action = _add_field(parser, item, _kind(kinds[item.name]), default)
            action.default = action.default if fills else None


def from_arguments(config: type[T], args: argparse.Namespace, **others: Any) -> T:
    """Makes a dataclass from the arguments of the same names; `others` go before them."""
    names = {item.name for item in fields(config)}  # type: ignore[arg-type]
    return config(**{**{name: value for name, value in vars(args).items() if name in names}, **others})


def changed(config: T, args: argparse.Namespace, **others: Any) -> T:
    """Returns a dataclass with the arguments of the same names that are not None; `others` go before them."""
    found = {item.name: getattr(args, item.name, None) for item in fields(config)}  # type: ignore[arg-type]
    given = {name: value for name, value in found.items() if value is not None}
    return replace(config, **{**given, **others})  # type: ignore[type-var]


def given_options(config: type[Any], args: argparse.Namespace) -> list[str]:
    """Returns the names of the options of a dataclass that were given, if it was added without `fills`."""
    names = [item.name for item in fields(config) if "help" in item.metadata]
    return ["--" + name.replace("_", "-") for name in names if getattr(args, name) is not None]


def _kind(annotation: Any) -> Any:
    """Returns the type of an annotation without `| None`."""
    kinds = [kind for kind in get_args(annotation) if kind is not NoneType]
    return kinds[0] if NoneType in get_args(annotation) else annotation


def _default(item: "Field[Any]") -> Any:
    return item.default_factory() if item.default_factory is not MISSING else item.default


def _add_field(
    parser: argparse._ActionsContainer, item: "Field[Any]", kind: Any, default: Any
) -> argparse.Action:
    more: dict[str, Any] = {"required": True} if default is MISSING else {"default": default}
    name, unit = _name_and_unit(item.name)
    if kind == tuple[int, int]:
        more["action"] = Interval
    elif kind is bool:
        more["action"] = argparse.BooleanOptionalAction
    elif choices := _choices(item, kind):
        more["choices"] = choices
        if isinstance(kind, type) and issubclass(kind, StrEnum):
            more["type"] = lambda text: kind(text) if text in choices else text
    else:
        more["type"] = in_range(kind, item.metadata["range"]) if "range" in item.metadata else kind
        more["metavar"] = unit or {int: "N", float: "X", Path: "FILE"}.get(kind)
    text = item.metadata["help"] + _shown(default)
    # argparse replaces "%(...)s" in a help text.
    return parser.add_argument(f"--{name}", dest=item.name, help=text.replace("%", "%%"), **more)


def _name_and_unit(field_name: str) -> tuple[str, str]:
    """Returns the name of an option without its dashes, and its unit, if it has one.

    >>> _name_and_unit("resign_cp"), _name_and_unit("max_plies")
    (('resign', 'CP'), ('max-plies', ''))
    """
    words = field_name.split("_")
    unit = words.pop().upper() if words[-1] in UNITS else ""
    return "-".join(words), unit


def _choices(item: "Field[Any]", kind: Any) -> Sequence[str]:
    """Returns the texts that an option allows; none: any."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return [str(one) for one in kind]
    return tuple(item.metadata.get("choices", ()))


def _shown(default: Any) -> str:
    """Returns how a help ends.

    >>> _shown(0.5), _shown((2, 8)), _shown(None)
    (' (default 0.5)', ' (default 2 8)', '')
    """
    if default is None or default is MISSING or default == "":
        return ""
    if isinstance(default, bool):
        shown = "yes" if default else "no"
    elif isinstance(default, tuple):
        shown = " ".join(map(str, default))
    else:
        shown = format(default, "g") if isinstance(default, float) else str(default)
    return f" (default {'no limit' if shown == 'inf' else shown})"
