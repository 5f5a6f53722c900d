"""What an `info` line says, as far as a match wants to know it."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

__all__ = ["MATE_CP", "Info", "best_info", "variations"]

MATE_CP = 32000
"""Centipawns that stand for a mate now; a mate in n plies is worth n less."""


@dataclass(frozen=True, slots=True)
class Info:
    """The numbers of a search; None where the engine did not say.

    cp: centipawns from the side to move, a mate in n plies counted as ±(MATE_CP - n).
    """

    cp: int | None = None
    depth: int | None = None
    nodes: int | None = None
    nps: int | None = None
    pv: tuple[str, ...] = ()


def best_info(lines: Sequence[str]) -> Info:
    """Sums up the `info` lines of one search: the last word on every number, of the first variation only.

    A score that is only a bound gives way to the last exact one.
    """
    return sum_up(lines, 1)


def variations(lines: Sequence[str]) -> list[Info]:
    """Sums up the `info` lines of a MultiPV search, one entry a variation, the best first."""
    numbers = {number_after(line.split(), "multipv") or 1 for line in lines if " score " in line}
    return [sum_up(lines, number) for number in sorted(numbers)]


def sum_up(lines: Sequence[str], variation: int) -> Info:
    """Returns the last word on every number of one variation."""
    numbers: dict[str, int] = {}
    exact: int | None = None
    bound: int | None = None
    pv: tuple[str, ...] = ()
    for line in lines:
        words = line.split()
        if "string" in words:
            words = words[: words.index("string")]
        if "pv" in words:
            words, line_pv = words[: words.index("pv")], tuple(words[words.index("pv") + 1 :])
        else:
            line_pv = ()
        for name in ("nodes", "nps"):
            if (value := number_after(words, name)) is not None:
                numbers[name] = value
        if "score" not in words or (number_after(words, "multipv") or 1) != variation:
            continue
        if (depth := number_after(words, "depth")) is not None:
            numbers["depth"] = depth
        pv = line_pv or pv
        score = score_cp(words)
        if "lowerbound" in words or "upperbound" in words:
            bound = score
        else:
            exact = score
    cp = exact if exact is not None else bound
    return Info(cp, numbers.get("depth"), numbers.get("nodes"), numbers.get("nps"), pv)


def number_after(words: Sequence[str], name: str) -> int | None:
    """Returns the whole number that follows `name`, or None."""
    if name in words[:-1]:
        with suppress(ValueError, OverflowError):  # The latter from `nps inf`.
            return int(float(words[words.index(name) + 1]))
    return None


def score_cp(words: Sequence[str]) -> int | None:
    """Returns the score in centipawns; `mate +` and `mate -` (length unknown) count as mates in one."""
    at = words.index("score")
    kind, value = (*words[at + 1 : at + 3], "", "")[:2]
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
