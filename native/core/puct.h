// The graph search: twin of search/puct.py, without its loop. Whoever runs it calls, over and over,
// gather(), an evaluator, and expand() for each leaf.
#pragma once

#include "selection.h"
#include "state.h"

namespace goryu {

struct PuctConfig {
    Formula formula;
    int batch_size = 1;
    int mate_nodes = 0;
    double draw_value = 0.0;
};

// A set of 64-bit keys that is emptied at once and keeps its memory.
class KeySet {
public:
    void clear(std::size_t room);
    bool has(std::uint64_t key) const noexcept { return stamps_[find(key)] == stamp_; }
    void add(std::uint64_t key) noexcept;

private:
    std::size_t find(std::uint64_t key) const noexcept;

    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> stamps_;
    std::uint32_t stamp_ = 0;
};

// A new position that waits for its evaluation; its path and legal moves lie in the search.
struct Leaf {
    std::uint64_t key;
    std::uint32_t ply;
    int turn;
    std::size_t first_step, last_step;
    std::size_t first_move, last_move;
};

class Puct {
public:
    Puct(const PuctConfig& config, std::uint64_t capacity, bool merge)
        : config_(config), selection_(config.formula), table_(capacity, merge) {}

    // Forgets everything that was searched.
    void clear() noexcept;
    void set_config(const PuctConfig& config) noexcept;

    // Begins a search: makes the state the root, keeps what it can reach, deletes the rest. A root that is
    // not known yet is the only leaf afterwards, and must be expanded.
    void begin(State& state, Inbox& inbox, std::uint64_t max_playouts);
    // Closes root moves: a flag for each, in the node's order; empty: none.
    void set_mask(Mask masked) { masked_ = std::move(masked); }

    bool is_finished() const noexcept { return is_exhausted_ || playouts_ >= max_playouts_; }
    // Walks down until a batch of new positions waits for its evaluation. Leaves nothing in flight if it throws.
    void gather(State& state, Inbox& inbox);
    std::size_t leaf_count() const noexcept { return leaves_.size(); }
    const Leaf& leaf(std::size_t i) const noexcept { return leaves_[i]; }
    // In ascending order.
    std::span<const Move> leaf_moves(std::size_t i) const noexcept {
        return {moves_.data() + leaves_[i].first_move, leaves_[i].last_move - leaves_[i].first_move};
    }
    // Turns the next leaf into a node and backs its value up. policy: in the order of leaf_moves(), each in
    // [0, kMaxHalf].
    void expand(const double* policy, double value);
    // Takes the leaves back that were not expanded.
    void retract() noexcept;

    const Selection& selection() const noexcept { return selection_; }
    NodeTable& table() noexcept { return table_; }
    NodeIndex root() const noexcept { return root_; }
    const Mask& mask() const noexcept { return masked_; }
    std::uint64_t playouts() const noexcept { return playouts_; }
    std::uint64_t evaluations() const noexcept { return evaluations_; }
    std::uint64_t depth_sum() const noexcept { return depth_sum_; }
    std::uint64_t max_depth() const noexcept { return max_depth_; }
    bool is_exhausted() const noexcept { return is_exhausted_; }

private:
    enum class Descent { kNew, kDone, kCollision, kStuck };

    struct Step {
        NodeIndex node;
        int move;
    };

    // What a leaf's mate search had found for the position that is now the root, and where its move leads.
    struct KeptMate {
        Move move;
        int length;
        std::uint64_t key;
        std::uint32_t ply;
    };

    void empty_batch(std::size_t room);
    Descent walk(State& state, Inbox& inbox);
    Descent descend(State& state, std::size_t first_step);
    NodeIndex settle(State& state, std::optional<double>& unstored);
    NodeIndex add_settled(std::uint64_t key, std::uint32_t ply, std::span<const Move> mate, Proof proof,
                          int distance, double value);
    double worth(double outcome, State& state) const;
    void add_root(const double* policy, double value);
    void add_leaf(State& state, Inbox& inbox, std::size_t first_step);
    void complete(std::size_t first_step, std::size_t last_step, std::optional<double> path_value = {});
    void take_back(std::size_t first_step, std::size_t last_step) noexcept;

    PuctConfig config_;
    Selection selection_;
    NodeTable table_;
    NodeIndex root_ = kNoNode;
    double draw_value_first_ = 0.0;  // A draw's worth to the player with turn 0.
    std::optional<KeptMate> kept_mate_;

    std::uint64_t max_playouts_ = 0;
    std::uint64_t playouts_ = 0;
    std::uint64_t evaluations_ = 0;
    std::uint64_t depth_sum_ = 0;
    std::uint64_t max_depth_ = 0;
    bool is_exhausted_ = false;
    Mask masked_;

    // The batch; the vectors keep their memory.
    std::vector<Leaf> leaves_;
    std::size_t expanded_ = 0;  // Leaves before this one are nodes already.
    std::vector<Step> steps_;
    std::vector<Move> moves_;
    KeySet waiting_;
};

}  // namespace goryu
