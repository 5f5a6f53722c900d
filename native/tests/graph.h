// What is true of every graph between two searches.
#pragma once

#include <algorithm>

#include "core/node_table.h"
#include "expect.h"

namespace goryu::test {

inline void check_node(NodeTable& table, NodeIndex index) {
    Node& node = table[index];
    table.sort_moves(node);
    const LegalMove* const moves = table.moves(node);
    EXPECT(!node.is_complete || std::is_sorted(moves, moves + node.move_count, [](LegalMove a, LegalMove b) {
        return a.prior != b.prior ? a.prior > b.prior : a.move < b.move;
    }));
    EXPECT(node.value >= -1.0 && node.value <= 1.0);
    EXPECT(node.in_flight == 0);
    EXPECT(table.find(node.key) == index);
    EXPECT(node.is_complete || (node.proof != Proof::kUnknown && node.tried == 0));
    std::uint32_t total = node.raw_visits;
    for (int i = 0; i < node.tried; ++i) {
        const Edge& edge = table.edges(node)[i];
        total += edge.visits;
        EXPECT(edge.pending == 0);
        if (edge.child == kNoNode) continue;
        EXPECT(table.live().has(edge.child));
        EXPECT(table[edge.child].ply == node.ply + 1);
    }
    EXPECT(node.total_visits == total);
}

inline void check_graph(NodeTable& table) {
    const auto indices = table.live().indices();
    EXPECT(indices.size() == table.size());
    std::uint64_t bytes = 128 * table.repetitions().size();
    for (const NodeIndex index : indices) {
        check_node(table, index);
        bytes += 72 + 4 * table[index].move_count + 16 * table[index].tried;
    }
    EXPECT(bytes == table.bytes());
}

}  // namespace goryu::test
