"""Soft policy targets from an engine's `info` lines.

The move played contains no information about the second best. The preferred moves of the last iterations of
a search do, and are free.
"""

from collections import defaultdict
from collections.abc import Sequence

from goryu.engines.usi_output import number_after
from goryu.games.shogi import move_from_usi
from goryu_lab.records.game_records import Policy

ITERATION_WEIGHTS = (0.6, 0.25, 0.15)
"""Weights of the preferred moves of the last iterations, latest first."""


def iteration_target(lines: Sequence[str], best: str) -> Policy | None:
    """Returns the policy target from the last iterations of a search, or None if they agree on `best`.

    The move of an iteration is that of the last line of its depth without a bound. `best`, the engine's final
    move, counts as one more iteration if it differs from the last one.

    >>> lines = ["info depth 1 score cp 3 pv 2g2f", "info depth 2 score cp 9 pv 7g7f"]
    >>> [round(probability, 2) for _, probability in iteration_target(lines, "7g7f")]
    [0.71, 0.29]
    """
    choices: dict[int, str] = {}
    for line in lines:
        words, _, variation = line.partition(" pv ")
        parts = words.split()
        depth = number_after(parts, "depth")
        is_bound = "lowerbound" in parts or "upperbound" in parts
        is_first = "string" not in parts and (number_after(parts, "multipv") or 1) == 1
        if depth is not None and variation and is_first and not is_bound:
            choices[depth] = variation.split()[0]
    moves = list(choices.values())
    if not moves or moves[-1] != best:
        moves.append(best)
    weights: defaultdict[str, float] = defaultdict(float)
    for move, weight in zip(reversed(moves), ITERATION_WEIGHTS, strict=False):
        weights[move] += weight
    if len(weights) == 1:
        return None
    total = sum(weights.values())
    return tuple((int(move_from_usi(move)), weight / total) for move, weight in weights.items())
