#include "selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace goryu {
namespace {

// Is this tried move not worth a playout?
bool is_closed(const Edge& edge, bool is_root) noexcept {
    return edge.proof == Proof::kWin || (is_root && (edge.proof != Proof::kUnknown || edge.has_repetition));
}

}  // namespace

Selection::Selection(const Formula& formula) : formula_(formula) {
    for (std::uint32_t n = 0; n < kRemembered; ++n) explorations_[n] = computed_exploration(n);
}

int Selection::select(const NodeTable& table, NodeIndex index, const Mask& masked, bool is_root) const noexcept {
    const Node& node = table[index];
    const LegalMove* const moves = table.moves(node);
    const Edge* const edges = table.edges(node);
    const double untried = untried_value(node);
    const double explore = exploration(node.total_visits + node.in_flight);
    double best_score = -std::numeric_limits<double>::infinity();
    int best = -1;
    for (int i = 0; i < node.move_count; ++i) {
        if (!masked.empty() && masked[i]) continue;
        double q = untried;
        std::uint32_t visits = 0;
        if (i < node.tried) {
            if (is_closed(edges[i], is_root)) continue;
            visits = edges[i].visits + edges[i].pending;
            if (edges[i].visits != 0) q = edges[i].value;
        }
        const double score = q + explore * from_half(moves[i].prior) / (1 + visits);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
        if (i >= node.tried) break;  // Moves are sorted by prior, so no later untried move has a greater score.
    }
    return best;
}

double Selection::untried_value(const Node& node) const noexcept {
    return std::max(-1.0, node.value - formula_.fpu_reduction * std::sqrt(static_cast<double>(node.tried_prior)));
}

double Selection::computed_exploration(std::uint32_t visits) const noexcept {
    const double n = visits;
    const double c = formula_.c_init + formula_.c_factor * std::log((n + formula_.c_base + 1.0) / formula_.c_base);
    return c * std::sqrt(n);
}

}  // namespace goryu
