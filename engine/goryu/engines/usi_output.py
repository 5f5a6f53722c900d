"""Reads the `info` lines that a USI engine prints."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

MATE_CP = 32000
"""The score of a mate now, in centipawns; a mate in n plies scores n less."""


@dataclass(frozen=True, slots=True)
class Info:
    """The numbers of a search; None where the engine gave none.

    cp: centipawns for the side to move; a mate in n plies is ±(MATE_CP - n).
    """

    cp: int | None = None
    depth: int | None = None
    nodes: int | None = None
    nps: int | None = None
    pv: tuple[str, ...] = ()


def best_info(lines: Sequence[str]) -> Info:
    """Returns the last value of each number in the `info` lines of one search, for the first variation.

    An exact score counts more than a later lower or upper bound.
    """
    return last_info(lines, 1)


def variations(lines: Sequence[str]) -> list[Info]:
    """Returns one `Info` for each variation of a MultiPV search, the best first."""
    numbers = {number_after(line.split(), "multipv") or 1 for line in lines if " score " in line}
    return [last_info(lines, number) for number in sorted(numbers)]


def last_info(lines: Sequence[str], variation: int) -> Info:
    """Returns the last value of each number of one variation."""
    numbers: dict[str, int] = {}
    exact: int | None = None
    bound: int | None = None
    pv: tuple[str, ...] = ()
    for line in lines:
        words, line_pv = split_info(line)
        for name in ("nodes", "nps"):
            if (value := number_after(words, name)) is not None:
                numbers[name] = value
        if "score" not in words or (number_after(words, "multipv") or 1) != variation:
            continue
        if (depth := number_after(words, "depth")) is not None:
            numbers["depth"] = depth
        pv = line_pv or pv
        if "lowerbound" in words or "upperbound" in words:
            bound = score_cp(words)
        else:
            exact = score_cp(words)
    cp = exact if exact is not None else bound
    return Info(cp, numbers.get("depth"), numbers.get("nodes"), numbers.get("nps"), pv)


def split_info(line: str) -> tuple[list[str], tuple[str, ...]]:
    """Returns the words of an `info` line before `pv` and `string`, and the moves after `pv`."""
    words = line.split()
    if "string" in words:
        words = words[: words.index("string")]
    if "pv" not in words:
        return words, ()
    at = words.index("pv")
    return words[:at], tuple(words[at + 1 :])


def number_after(words: Sequence[str], name: str) -> int | None:
    """Returns the whole number that follows `name`, or None."""
    if name in words[:-1]:
        with suppress(ValueError, OverflowError):  # int(inf), from `nps inf`, overflows.
            return int(float(words[words.index(name) + 1]))
    return None


def score_cp(words: Sequence[str]) -> int | None:
    """Returns the score in centipawns; `mate +` and `mate -` (length unknown) count as mates in one."""
    at = words.index("score") + 1
    kind = words[at] if at < len(words) else ""
    value = words[at + 1] if at + 1 < len(words) else ""
    if kind == "cp":
        return number_after(words, "cp")
    if kind != "mate":
        return None
    plies = {"+": 1, "-": -1, "-0": -1}.get(value)
    if plies is None:
        plies = number_after(words, "mate")
    if plies is None:
        return None
    return MATE_CP - plies if plies >= 0 else -MATE_CP - plies
