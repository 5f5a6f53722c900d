// The graph search: twin of search/puct.py, without its loop. Whoever runs it calls, over and over,
// gather(), an evaluator, and expand().
//
// Several threads may do so, each with a batch, a state and an sink of its own: while one waits for its
// evaluator, another gathers. One lock guards the graph; rules, mate search and planes of a new position are
// done without it. With one thread the graph is that of the Python search, bit by bit.
#pragma once

#include <condition_variable>
#include <mutex>

#include "batch.h"
#include "selection.h"
#include "state.h"

namespace goryu {

struct PuctConfig {
    Formula formula;
    int batch_size = 1;
    int threads = 1;
    int mate_nodes = 0;
    double draw_value = 0.0;
};

struct Progress {
    std::uint64_t playouts = 0;
    std::uint64_t evaluations = 0;
    std::uint64_t depth_sum = 0;
    std::uint64_t max_depth = 0;
    bool is_exhausted = false;
};

class Puct {
public:
    Puct(const PuctConfig& config, const Capacity& capacity, bool merge)
        : config_(config), selection_(config.formula), table_(capacity, merge) {}

    // Before a search, on one thread.

    // Forgets everything that was searched.
    void clear() noexcept;
    void set_config(const PuctConfig& config);
    // Makes the state the root: keeps what it can reach, deletes the rest. A root that is not known yet is
    // the only leaf of the batch afterwards, and must be expanded.
    void begin(State& state, LeafSink& sink, Batch& batch, std::uint64_t max_playouts);
    // Closes root moves: a flag for each, in the node's order; empty: none.
    void set_mask(Mask masked) { masked_ = std::move(masked); }

    // During a search, on any thread.

    bool is_finished();
    // Walks down until a batch of new positions waits for its evaluation. Leaves nothing in flight if it
    // throws. The batch stays empty if every way leads to a position that waits already.
    void gather(State& state, LeafSink& sink, Batch& batch);
    // Turns the leaves, which have been judged, into nodes, and backs their values up. Leaves nothing in
    // flight if it throws.
    void expand(Batch& batch);
    // Enters a mate that was found elsewhere; returns whether it could be entered. The side to move in the
    // state, which is left as it was, mates in so many plies, beginning with the move.
    bool add_mate(State& state, Move move, int length);
    // Takes the leaves back.
    void retract(Batch& batch) noexcept;
    // Waits until another thread has expanded a batch, or a moment. Where nothing is in flight only helpers
    // wait: they would keep the lock from the thread that looks at the clock, and walk no further than it does.
    void wait_for_others(bool is_helper);

    // While it is held, nothing changes; whatever is below is to be called then, or between searches.
    std::mutex& mutex() noexcept { return mutex_; }
    NodeTable& table() noexcept { return table_; }
    NodeIndex root() const noexcept { return root_; }
    const Mask& mask() const noexcept { return masked_; }
    const Selection& selection() const noexcept { return selection_; }
    const Progress& progress() const noexcept { return progress_; }

private:
    enum class Descent { kNew, kDone, kCollision, kStuck };
    using Lock = std::unique_lock<std::mutex>;

    // A position whose value is certain; `mate` is the move that proves it, if a mate search did.
    struct Settled {
        std::optional<Move> mate;
        Proof proof;
        int distance;
        double value;
    };

    // What a leaf's mate search had found for the position that is now the root, and where its move leads.
    struct KeptMate {
        Move move;
        int length;
        std::uint64_t key;
        std::uint32_t ply;
    };

    Descent walk(State& state, LeafSink& sink, Batch& batch, Lock& lock);
    Descent descend(State& state, LeafSink& sink, Batch& batch, std::size_t first_step, Lock& lock);
    bool is_waiting(std::uint64_t key, const Batch& own) const noexcept;
    std::optional<Settled> settle(State& state) const;
    double worth(double outcome, State& state) const;
    static void add_leaf(State& state, LeafSink& sink, Batch& batch, std::size_t first_step);
    NodeIndex add_settled(std::uint64_t key, std::uint32_t ply, const Settled& settled);
    void expand(const Batch& batch, std::size_t i, const double* policy);
    void add_root(const Leaf& leaf, std::span<const Move> moves, const double* policy, double value);
    bool enter_mate(NodeIndex place, Move move, int length, std::uint64_t key, std::uint32_t ply);
    void complete(const Batch& batch, std::size_t first_step, std::size_t last_step,
                  std::optional<double> path_value = {});
    void prefetch(const Batch& batch) const noexcept;
    void take_back(std::span<const Batch::Step> steps) noexcept;
    void retire(Batch& batch) noexcept;

    PuctConfig config_;
    Selection selection_;
    NodeTable table_;
    NodeIndex root_ = kNoNode;
    double draw_value_first_ = 0.0;  // A draw's worth to the player with turn 0.
    std::optional<KeptMate> kept_mate_;

    std::uint64_t max_playouts_ = 0;
    Progress progress_;
    Mask masked_;

    std::mutex mutex_;
    std::condition_variable expanded_;
    std::vector<Batch*> batches_;  // Those that are being gathered or evaluated.
    std::size_t in_flight_ = 0;    // Leaves of all batches, and walks that may become leaves.
};

}  // namespace goryu
