"""The PUCT formula: goryu.search.graph.selection, line by line, on the nodes of the C++ search.

Without the GIL, and every sum and product in the same order as in Python. The C++ search calls `select` and
`exploration` by the pointers in core/selection.h, which the last lines enter.
"""

from libc.math cimport INFINITY, log, sqrt


cdef int select(
    const Selection& selection, const CoreNodeTable& table, NodeIndex index, const vector[cbool]& masked, cbool is_root
) noexcept nogil:
    """Returns the index of the move with the greatest score, the first of equals; -1 if no move is open.

    masked: a flag for each move that must not be selected, or empty. Moves proven to lose are closed, too, and
    at the root those of any certain value.
    """
    cdef const CoreNode* node = &table[index]
    cdef const LegalMove* moves = table.moves(node[0])
    cdef const Edge* edges = table.edges(node[0])
    cdef double untried = untried_value(node[0], selection.formula)
    cdef double explore = remembered_exploration(node.total_visits + node.in_flight, selection)
    cdef double q, score, best_score = -INFINITY
    cdef int i, best = -1
    cdef uint32_t visits
    for i in range(node.move_count):
        if not masked.empty() and masked[i]:
            continue
        q, visits = untried, 0
        if i < node.tried:
            if is_closed(edges[i], is_root):
                continue
            visits = edges[i].visits + edges[i].pending
            if edges[i].visits:
                q = edges[i].value
        score = q + explore * from_half(moves[i].prior) / (1 + visits)
        if score > best_score:
            best, best_score = i, score
        if i >= node.tried:
            break  # Moves are sorted by prior, so no later untried move has a greater score.
    return best


cdef inline cbool is_closed(const Edge& edge, cbool is_root) noexcept nogil:
    """Is this tried move not worth a playout?"""
    return edge.proof == Proof.kWin or (is_root and (edge.proof != Proof.kUnknown or edge.has_repetition))


cdef inline double untried_value(const CoreNode& node, const CoreFormula& formula) noexcept nogil:
    """Returns the value that is assumed of a move without a completed playout."""
    cdef double q = node.value if formula.fpu_from_parent else 0.0
    return max(-1.0, q - formula.fpu_reduction * sqrt(<double> node.tried_prior))


cdef double exploration(uint32_t visits, const CoreFormula& formula) noexcept nogil:
    """Returns c(N) * sqrt(N)."""
    cdef double n = visits
    cdef double c = formula.c_init + formula.c_factor * log((n + formula.c_base + 1.0) / formula.c_base)
    return c * sqrt(n)


cdef inline double remembered_exploration(uint32_t visits, const Selection& selection) noexcept nogil:
    """Returns the same; a table knows it for the usual nodes, which are small."""
    return selection.explorations[visits] if visits < kRemembered else exploration(visits, selection.formula)


selection_functions.select = select
selection_functions.exploration = exploration
