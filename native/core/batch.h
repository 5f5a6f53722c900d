// New positions that wait for their evaluation together.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "key_set.h"
#include "node_table.h"

namespace goryu {

// One position; its path and legal moves are in the batch.
struct Leaf {
    std::uint64_t key;
    std::uint32_t ply;
    int turn;
    std::size_t first_step, last_step;
    std::size_t first_move, last_move;
};

// Puct fills it, an adapter adds the evaluations, and Puct expands it. Keeps its memory.
class Batch {
public:
    std::size_t size() const noexcept { return leaves_.size(); }
    const Leaf& leaf(std::size_t i) const noexcept { return leaves_[i]; }
    // In ascending order.
    std::span<const Move> moves(std::size_t i) const noexcept {
        return {moves_.data() + leaves_[i].first_move, leaves_[i].last_move - leaves_[i].first_move};
    }

    // The evaluations: the probabilities, in [0, kMaxHalf], of the moves of all leaves one after another,
    // and the value of each leaf.
    std::vector<double> policies;
    std::vector<double> values;
    // The most leaves; 0: as many as the config allows.
    std::size_t most = 0;
    // Does a network evaluate it? Its calls leave little of the graph in the caches.
    bool is_cold = false;

private:
    friend class Puct;

    // A move that a playout takes, by its index at the node.
    struct Step {
        NodeIndex node;
        int move;
    };

    void empty(std::size_t room) {
        leaves_.clear();
        steps_.clear();
        collided_.clear();
        moves_.clear();
        policies.clear();
        values.clear();
        waiting_.clear(room);
    }

    std::uint64_t expansions_seen_ = 0;  // Puct's counter at the end of `gather`.
    std::vector<Leaf> leaves_;
    std::vector<Step> steps_;
    std::vector<Step> collided_;  // Those of playouts that met a waiting position.
    std::vector<Move> moves_;
    KeySet waiting_;                         // The keys of the leaves,
    std::optional<std::uint64_t> examined_;  // and of the position that may become the next one.
};

}  // namespace goryu
