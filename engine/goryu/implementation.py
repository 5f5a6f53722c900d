"""Chooses between the Python classes and the native classes of the same names.

GORYU_IMPLEMENTATION=python or =native selects one and fails if it is missing; unset, goryu uses the native
classes where they are built. Nothing else decides. The USI engine, the benchmark and the test header print
`IMPLEMENTATION`, the choice, and `WHY`, its reason.
"""

import os
from typing import TYPE_CHECKING, Any

from goryu.search.evaluator import Evaluator
from goryu.search.graph.config import PuctConfig
from goryu.search.graph.proof import Solver, no_solver

__all__ = ["IMPLEMENTATION", "WHY", "Board", "Puct", "Reversi", "make_puct", "mate_in_one", "perft", "solve"]

_requested = os.environ.get("GORYU_IMPLEMENTATION", "")
if _requested not in ("", "python", "native"):
    raise ImportError(f"GORYU_IMPLEMENTATION must be 'python' or 'native', not {_requested!r}")

IMPLEMENTATION = "python"
WHY = "set by GORYU_IMPLEMENTATION"

if TYPE_CHECKING or _requested == "python":
    from goryu.games.perft import perft
    from goryu.games.reversi import Reversi
    from goryu.games.shogi import Board
    from goryu.search.graph.puct import Puct
    from goryu.search.mates.mate import mate_in_one, solve
else:
    try:
        from goryu._native import Board, Puct, Reversi, mate_in_one, perft, solve
    except ImportError as error:
        if _requested == "native":
            raise ImportError(
                f"GORYU_IMPLEMENTATION=native, but the native code is not built ({error})"
            ) from error
        from goryu.games.perft import perft
        from goryu.games.reversi import Reversi
        from goryu.games.shogi import Board
        from goryu.search.graph.puct import Puct
        from goryu.search.mates.mate import mate_in_one, solve

        WHY = f"native code not built ({error})"
    else:
        IMPLEMENTATION = "native"
        WHY = "native code found" if not _requested else WHY


def make_puct(evaluator: Evaluator, config: PuctConfig, solver: Solver = no_solver, threads: int = 1) -> Puct:
    """Returns the search in use. threads: of the native search; the Python search has one."""
    native: dict[str, Any] = {"threads": threads} if IMPLEMENTATION == "native" else {}
    return Puct(evaluator, config, solver, **native)
