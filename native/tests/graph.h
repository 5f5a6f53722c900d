// What is true of every graph between two searches.
#pragma once

#include <algorithm>

#include "core/node_table.h"
#include "expect.h"

namespace goryu::test {

inline void check_node(NodeTable& table, NodeIndex place, bool merges) {
    Node& node = table[place];
    table.sort_moves(node);
    const LegalMove* const moves = table.moves(node);
    EXPECT(std::is_sorted(moves, moves + node.move_count, [](LegalMove a, LegalMove b) {
        return a.prior != b.prior ? a.prior > b.prior : a.move < b.move;
    }));
    EXPECT(node.value >= -1.0 && node.value <= 1.0);
    EXPECT(node.in_flight == 0);
    EXPECT(table.find(node.key, node.ply) == (merges ? place : kNoNode));
    std::uint32_t total = 1;
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

inline void check_graph(NodeTable& table, bool merges = true) {
    const auto places = table.live().places();
    EXPECT(places.size() == table.size());
    for (const NodeIndex place : places) check_node(table, place, merges);
}

}  // namespace goryu::test
