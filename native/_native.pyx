# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The native twins: C++ versions of Python classes of goryu.

The fidelity contract: each class here has the name, the methods and the results of its Python class. The
Python class is right by definition: same integers, same lists in the same order, same floats bit for bit,
equal Outcome values, same errors with the same text. A call that the Python class forbids (pushing an illegal
move) is forbidden here, too. tests/native/ compare both, position by position.

Rules and arithmetic are in native/core, C++ that knows nothing of Python; the files included below only
translate. core.pxd declares the core to Cython. goryu/implementation.py chooses between both versions.

    file                names                              Python                                   C++ (core/)
    board.pxi           Board, perft                       games/shogi/board.py, perft.py           game, position, movegen
    reversi.pxi         Reversi                            games/reversi.py                         reversi
    formats.pxi         fill_planes, policy_label          evaluators/formats/                      formats, plane_row
                        read_value                         evaluators/formats/value_scale.py        policy
                        fill_dlshogi, dlshogi_label        evaluators/formats/dlshogi.py            dlshogi
                        pack_planes                        evaluators/network/packed_input.py       plane_row
                        write_positions                    goryu_lab/training/game_positions.py     position_rows
                        moves_of_labels                    evaluators/formats/                      formats
    mate.pxi            mate_in_one, solve                 search/mates/mate.py                     mate
                        (inside)                           search/mates/df_pn.py                    mate
                                                           search/mates/mate_table.py               mate_table
                                                           search/mates/mate_refutation.py          mate_refutation
    node_table.pxi      Node, NodeTable (read-only), half  search/graph/node.py, node_table.py      node_table, repetitions
                        Memory (read-only)                 search/graph/memory.py                   node_table
                        (inside)                           search/graph/forgetting.py               node_table, blocks
    puct.pxi            Puct                               search/graph/puct.py, batch.py           puct, batch
                        (inside)                           search/graph/proof.py, found_mate.py     puct, node_table
                        (inside)                           search/graph/selection.py                selection
    pipeline.pxi        Pipeline, Helpers                  (the loop of Puct.search)
    winograd.pxi        WinogradNetwork                    tests/helpers/kernel_reference.py        winograd, winograd_*
    evaluators.pxi      EvaluatorAdapter ...               evaluators/hashed.py, network.py         policy, game_state
    packed.pxi          PackedAdapter                      evaluators/network/packed_network.py     policy, game_state

Where a C++ name differs from the Python name: kWin is WIN and so on; Batch and Batch::Step are the leaves and
the path of puct.py; Certain is the proven node that proof.py makes; Selection is one Formula with what it remembers.
"""

from core cimport *

include "board.pxi"
include "formats.pxi"
include "packed_position.pxi"
include "reversi.pxi"
include "mate.pxi"
include "node_table.pxi"
include "winograd.pxi"
include "evaluators.pxi"
include "packed.pxi"
include "pipeline.pxi"
include "puct.pxi"
