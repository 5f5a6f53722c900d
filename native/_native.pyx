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

    file                names                              Python                              C++ (core/)
    board.pxi           Board, perft                       games/shogi/board.py, perft.py      game, position, movegen
    reversi.pxi         Reversi                            games/reversi.py                    reversi
    dlshogi.pxi         fill_dlshogi, dlshogi_label        evaluators/formats/dlshogi.py       dlshogi
    mate.pxi            mate_in_one, solve                 search/mate.py                      mate
                        (inside)                           search/mate_table.py                mate_table
                                                           search/mate_refutation.py           mate_refutation
    node_table.pxi      Node, NodeTable (read-only), half  search/node.py, node_table.py       node_table, repetitions
                        (inside)                           search/forgetting.py                node_table, blocks
    puct.pxi            Puct                               search/puct.py, proof.py            puct, selection, batch
    pipeline.pxi        Pipeline, Helpers                  (the loop of Puct.search)
    evaluators.pxi      EvaluatorAdapter ...               evaluators/hashed.py, network.py    policy, game_state

Where a C++ name differs from the Python name: kWin is WIN and so on; Batch and Batch::Step are the leaves and
the path of puct.py; Certain is the proven node that proof.py makes; Selection is selection.py with one Formula.
"""

from core cimport *

include "board.pxi"
include "dlshogi.pxi"
include "reversi.pxi"
include "mate.pxi"
include "node_table.pxi"
include "evaluators.pxi"
include "pipeline.pxi"
include "puct.pxi"
