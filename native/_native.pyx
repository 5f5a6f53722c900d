# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The native twins: the classes of goryu that exist a second time, compiled.

The fidelity contract. Each class here has the name and the results of the Python class it twins, and those
of its methods that are called from outside the search. The Python is right by definition: same integers, same
lists in the same order, same floats bit for bit, equal Outcome values, the same errors with the same text.
What a caller must not do to the Python class (push an illegal move) it must not do here.
tests/test_native_*.py compare the two position by position.

The rules and the arithmetic live in native/core, C++ that knows nothing of Python; the files included
below only translate. Which implementation runs is decided in goryu/implementation.py.

    board.pxi       Board, perft                    goryu/games/shogi/board.py, goryu/games/perft.py
    dlshogi.pxi     fill_dlshogi, dlshogi_label     goryu/evaluators/formats/dlshogi.py
    reversi.pxi     Reversi                         goryu/games/reversi.py
    mate.pxi        mate_in_one, solve              goryu/search/mate.py
    node_table.pxi  Node, NodeTable, half           goryu/search/node_table.py, to be read only
    puct.pxi        Puct                            goryu/search/puct.py, selection.py
"""

include "board.pxi"
include "dlshogi.pxi"
include "reversi.pxi"
include "mate.pxi"
include "node_table.pxi"
include "puct.pxi"
