#include "selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace goryu {
namespace {

double explore(std::uint32_t visits, double c_init, double c_base, double c_factor) noexcept {
    const double n = visits;
    return (c_init + c_factor * std::log((n + c_base + 1.0) / c_base)) * std::sqrt(n);
}

}  // namespace

Selection::Selection(const Formula& formula) : formula_(formula) {
    for (std::uint32_t n = 0; n < kRemembered; ++n) {
        remembered_[n] = explore(n, formula.c_init, formula.c_base, formula.c_factor);
    }
}

int Selection::select(const NodeTable& table, NodeIndex place, bool is_root, const Mask& masked) const noexcept {
    const Node& node = table[place];
    const LegalMove* const moves = table.moves(node);
    const Edge* const edges = table.edges(node);
    const double untried = untried_value(table, node, is_root);
    const double explore = exploration(node.total_visits + node.in_flight, is_root);
    int best = -1;
    double best_score = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < node.move_count; ++i) {
        if (!masked.empty() && masked[i]) continue;
        double q = untried;
        std::uint32_t visits = 0;
        if (i < node.tried) {
            const Edge& edge = edges[i];
            if (edge.child != kNoNode && !edge.has_repetition) {
                const Proof proof = table[edge.child].proof;
                if (proof == Proof::kWin || (is_root && proof == Proof::kLoss)) continue;
            }
            visits = edge.visits + edge.pending;
            if (edge.visits != 0) q = table.edge_value(place, i);
        }
        const double score = q + explore * from_half(moves[i].prior) / (1 + visits);
        if (score > best_score) {
            best = i;
            best_score = score;
        }
        if (i >= node.tried) break;  // The first move that was never tried: the others have no greater prior.
    }
    return best;
}

double Selection::untried_value(const NodeTable& table, const Node& node, bool is_root) const noexcept {
    const LegalMove* const moves = table.moves(node);
    const Edge* const edges = table.edges(node);
    double prior_mass = 0.0;
    for (int i = 0; i < node.tried; ++i) {
        if (edges[i].visits + edges[i].pending != 0) prior_mass += from_half(moves[i].prior);
    }
    const double reduction = is_root ? formula_.fpu_reduction_root : formula_.fpu_reduction;
    return std::max(-1.0, node.value - reduction * std::sqrt(prior_mass));
}

double Selection::exploration(std::uint32_t visits, bool is_root) const noexcept {
    if (is_root) return explore(visits, formula_.c_init_root, formula_.c_base_root, formula_.c_factor);
    if (visits < kRemembered) return remembered_[visits];
    return explore(visits, formula_.c_init, formula_.c_base, formula_.c_factor);
}

}  // namespace goryu
