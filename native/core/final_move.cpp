#include "final_move.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>

namespace goryu {
namespace {

constexpr double kLcbSigmas = 5.0;
constexpr double kLcbShare = 0.2;
constexpr double kLcbVisits = 10.0;

enum Group { kWon, kOpen, kCertain, kLost };

// The root's moves, as far as their ranks ask for them.
class Root {
public:
    Root(const NodeTable& table, NodeIndex index, const Mask& masked) : table_(table), index_(index), masked_(masked) {}

    const Node& node() const noexcept { return table_[index_]; }
    bool is_masked(int i) const noexcept { return i < std::ssize(masked_) && masked_[i]; }
    bool is_certain(int i) const noexcept { return table_.is_certain(index_, i); }
    Proof child_proof(int i) const noexcept { return table_.child_proof(node(), i); }
    std::uint32_t visits(int i) const noexcept { return i < node().tried ? edge(i).visits : 0; }
    const Node& child(int i) const noexcept { return table_[edge(i).child]; }
    double edge_value(int i) const noexcept { return table_.edge_value(index_, i); }
    double variance(int i) const noexcept { return child(i).variance; }
    double bound(int i) const noexcept { return edge_value(i) - kLcbSigmas * std::sqrt(variance(i) / visits(i)); }

    // An untried move has the value that the root has without a proof.
    double value(int i) const noexcept {
        if (visits(i) != 0 || is_certain(i)) return edge_value(i);
        return node().proof == Proof::kUnknown ? node().value : node().raw_value;
    }
    int mate(int i) const noexcept {
        const Proof proof = child_proof(i);
        if (proof == Proof::kLoss) return child(i).distance + 1;
        return proof == Proof::kWin ? -(child(i).distance + 1) : 0;
    }
    // A sort key: first the group, then distance, visits or value.
    std::tuple<Group, double, int> rank(int i) const noexcept {
        const Proof proof = child_proof(i);
        if (proof == Proof::kLoss) return {kWon, child(i).distance, i};
        if (proof == Proof::kWin) return {kLost, -static_cast<double>(child(i).distance), i};
        if (is_certain(i)) return {kCertain, -value(i), i};
        return {kOpen, -static_cast<double>(visits(i)), i};
    }

private:
    const Edge& edge(int i) const noexcept { return table_.edges(node())[i]; }

    const NodeTable& table_;
    NodeIndex index_;
    const Mask& masked_;
};

double enough_visits(double most) noexcept { return std::max(kLcbVisits, kLcbShare * most); }

// The contender with the greatest lower confidence bound, of equal ones the most visited, then the first; the most
// visited move if none contends. moves: in any order.
int favourite_of(const Root& root, const std::vector<int>& moves, int most_visited, bool plays_by_bound) {
    const double enough = enough_visits(root.visits(most_visited));
    int best = most_visited;
    double greatest = -std::numeric_limits<double>::infinity();
    for (const int i : moves) {
        if (!plays_by_bound || root.visits(i) < enough) continue;
        const double bound = root.bound(i);
        if (bound > greatest || (bound == greatest && root.visits(i) > root.visits(best))) {
            best = i;
            greatest = bound;
        }
    }
    return best;
}

// The indices of the root's moves, the best first.
std::vector<int> ranking(const Root& root, bool plays_by_bound) {
    std::vector<std::tuple<Group, double, int>> ranks;
    for (int i = 0; i < root.node().move_count; ++i) {
        if (!root.is_masked(i)) ranks.push_back(root.rank(i));
    }
    std::sort(ranks.begin(), ranks.end());
    std::vector<int> groups[4];
    for (const auto& [group, _, i] : ranks) groups[group].push_back(i);
    auto& [order, open, certain, lost] = groups;
    if (!open.empty() && order.empty()) {
        const int best = favourite_of(root, open, open.front(), plays_by_bound);
        const auto favourite = std::find(open.begin(), open.end(), best);
        std::rotate(open.begin(), favourite, favourite + 1);
    }
    auto next = certain.begin();
    for (const int i : open) {
        for (; next != certain.end() && root.value(*next) >= root.value(i); ++next) order.push_back(*next);
        order.push_back(i);
    }
    order.insert(order.end(), next, certain.end());
    order.insert(order.end(), lost.begin(), lost.end());
    return order;
}

}  // namespace

std::vector<RootMove> root_moves(const NodeTable& table, NodeIndex index, const Mask& masked, bool plays_by_bound) {
    const Root root(table, index, masked);
    std::vector<RootMove> moves;
    for (const int i : ranking(root, plays_by_bound)) {
        const LegalMove& move = table.moves(root.node())[i];
        moves.push_back({i, move.move, from_half(move.prior), root.visits(i), root.value(i), root.mate(i),
                         root.is_certain(i)});
    }
    return moves;
}

double root_value(const NodeTable& table, NodeIndex root, const std::vector<RootMove>& moves) noexcept {
    return !moves.empty() && moves.front().is_certain ? moves.front().value : table[root].value;
}

std::vector<Move> continuation(const NodeTable& table, NodeIndex root, int i, State& state) {
    std::vector<Move> line;
    NodeIndex index = root;
    const auto follow = [&](int move) {
        const Node& node = table[index];
        line.push_back(table.moves(node)[move].move);
        state.push(line.back());
        index = move < node.tried ? table.edges(node)[move].child : kNoNode;
    };
    follow(i);
    while (index != kNoNode && table[index].proof == Proof::kUnknown && !state.repetition()) {
        const Edge* const edges = table.edges(table[index]);
        int reply = -1;
        for (int move = 0; move < table[index].tried; ++move) {
            if (edges[move].visits > (reply < 0 ? 0 : edges[reply].visits)) reply = move;
        }
        if (reply < 0) break;
        follow(reply);
    }
    for (std::size_t n = line.size(); n != 0; --n) state.pop();
    if (index != kNoNode && table[index].proof != Proof::kUnknown) {
        const std::vector<Move> proof = table.proof_line(index);
        line.insert(line.end(), proof.begin(), proof.end());
    }
    return line;
}

std::pair<int, std::int64_t> contest(const NodeTable& table, NodeIndex index, const Mask& masked, bool plays_by_bound) {
    const Root root(table, index, masked);
    std::vector<int> moves;
    int most_visited = -1;
    for (int i = 0; i < root.node().tried; ++i) {
        if (root.visits(i) == 0 || root.is_masked(i) || root.is_certain(i)) continue;
        moves.push_back(i);
        if (most_visited < 0 || root.visits(i) > root.visits(most_visited)) most_visited = i;
    }
    if (moves.empty()) return {-1, -1};
    const double most = root.visits(most_visited);
    const int best = favourite_of(root, moves, most_visited, plays_by_bound);
    const double bound = root.bound(best);
    double needed = most;
    for (const int i : moves) {
        if (i == best) continue;
        needed = std::min(needed, most - root.visits(i));
        const double above = root.edge_value(i) - bound;
        if (!plays_by_bound || !(above > 0.0)) continue;
        const double sigmas = kLcbSigmas * std::sqrt(root.variance(i)) / above;
        needed = std::min(needed, std::max(0.0, std::max(enough_visits(most), sigmas * sigmas) - root.visits(i)));
    }
    return {best, static_cast<std::int64_t>(std::ceil(needed))};
}

}  // namespace goryu
