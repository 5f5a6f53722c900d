// New positions that wait for their evaluation together.
#pragma once

#include <optional>
#include <span>
#include <vector>

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

// What makes the value of a position certain. line: the moves that prove it, if a mate search did.
struct Certain {
    Proof proof;
    int distance;
    double value;
    std::vector<Move> line;
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

    // A move that a playout takes, and its index at the node.
    struct Step {
        NodeIndex node;
        std::uint16_t index;
        Move move;
    };

    // Playouts that took a move and met a waiting position.
    struct Collided {
        NodeIndex node;
        std::uint16_t index;
        std::uint16_t count;
    };

    // A position that a walk has found, which becomes a leaf unless its value is certain.
    struct Found {
        Leaf leaf;
        std::optional<Certain> certain;
    };

    std::span<const Step> path(const Leaf& leaf) const noexcept {
        return {steps_.data() + leaf.first_step, leaf.last_step - leaf.first_step};
    }

    void empty() noexcept {
        leaves_.clear();
        found_.clear();
        steps_.clear();
        collided_.clear();
        moves_.clear();
        ranked_.clear();
        policies.clear();
        values.clear();
    }

    std::uint64_t expansions_seen_ = 0;  // Puct's counter when `gather` found nothing.
    std::size_t in_flight_ = 0;          // What Puct counts of this batch.
    std::vector<Leaf> leaves_;
    std::vector<Found> found_;  // By the walks of this round; after `examine` those of a certain value.
    std::vector<Step> steps_;   // Of the walks that found a position.
    std::vector<Collided> collided_;
    std::vector<Move> moves_;
    std::vector<LegalMove> ranked_;  // The same, as nodes have them.
};

}  // namespace goryu
