// A PUCT formula for the test programs, which have no Python and so no native/selection.pxi. What they expect is
// true of the graph of any formula, so this one is plain: c = 1, and untried moves have the node's value.
#pragma once

#include <cmath>
#include <limits>

#include "core/selection.h"

namespace goryu::test {

inline int select(const Selection& selection, const NodeTable& table, NodeIndex index, const Mask& masked,
                  bool is_root) {
    const Node& node = table[index];
    const double explore = selection_functions.exploration(node.total_visits + node.in_flight, selection.formula);
    int best = -1;
    double best_score = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < node.move_count && i <= node.tried; ++i) {
        if (!masked.empty() && masked[i]) continue;
        const Edge edge = i < node.tried ? table.edges(node)[i] : Edge{};
        if (edge.proof == Proof::kWin) continue;
        if (is_root && (edge.proof != Proof::kUnknown || edge.has_repetition)) continue;
        const double q = edge.visits != 0 ? edge.value : node.value;
        const double score = q + explore * from_half(table.moves(node)[i].prior) / (1 + edge.visits + edge.pending);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
    }
    return best;
}

inline double exploration(std::uint32_t visits, const Formula&) { return std::sqrt(static_cast<double>(visits)); }

inline const bool has_formula = (selection_functions = {&select, &exploration}, true);

}  // namespace goryu::test
