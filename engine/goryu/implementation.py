"""Which implementation of the twinned classes is in use: Python or native.

GORYU_IMPLEMENTATION=python | native asks for one and fails if it is missing; unset, the native one is used
where it is built. Nothing else in goryu decides. The USI engine, the benchmark and the test header print
`IMPLEMENTATION`, the choice, and `WHY`, its reason.
"""

import os
from typing import TYPE_CHECKING

__all__ = ["IMPLEMENTATION", "WHY", "Board", "Puct", "Reversi", "mate_in_one", "perft", "solve"]

_asked = os.environ.get("GORYU_IMPLEMENTATION", "")
if _asked not in ("", "python", "native"):
    raise ImportError(f"GORYU_IMPLEMENTATION must be 'python' or 'native', not {_asked!r}")

IMPLEMENTATION = "python"
WHY = "asked for by GORYU_IMPLEMENTATION"

if TYPE_CHECKING or _asked == "python":
    from goryu.games.perft import perft
    from goryu.games.reversi import Reversi
    from goryu.games.shogi import Board
    from goryu.search.mate import mate_in_one, solve
    from goryu.search.puct import Puct
else:
    try:
        from goryu._native import Board, Puct, Reversi, mate_in_one, perft, solve
    except ImportError as error:
        if _asked == "native":
            raise ImportError(
                f"GORYU_IMPLEMENTATION=native, but the twins are not built ({error})"
            ) from error
        from goryu.games.perft import perft
        from goryu.games.reversi import Reversi
        from goryu.games.shogi import Board
        from goryu.search.mate import mate_in_one, solve
        from goryu.search.puct import Puct

        WHY = f"native twins not built ({error})"
    else:
        IMPLEMENTATION = "native"
        WHY = "native twins found" if not _asked else WHY
