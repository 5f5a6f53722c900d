// The graph search: search/graph/puct.py in C++, without its loop. The caller runs gather(), an evaluator and
// expand(), over and over.
//
// Several threads may do so, each with its own batch, state and sink: while one waits for its evaluator,
// another gathers. One lock guards the graph. A thread takes it once for the walks of a batch, which go down at once
// and share what they can of their way; then, without it, it looks at what they have found: rules, mate search, legal
// moves and planes; and once more to enter evaluations and mates. A walk gives the lock back while it looks for a mate
// again. With one thread the walks are one playout each, each is looked at before the next one, and the graph is that
// of the Python search, bit by bit.
#pragma once

#include "batch.h"
#include "key_set.h"
#include "line.h"
#include "selection.h"
#include "state.h"
#include "threads.h"

namespace goryu {

struct PuctConfig {
    Formula formula;
    Formula root_formula{.fpu_reduction = 0.1};
    int batch_size = 1;
    int threads = 1;
    int mate_nodes = 0;
    int mate_nodes_per_visit = 0;
    bool plays_by_bound = true;  // final_move is "lcb".
    double draw_value = 0.0;
};

// The counters of one search.
struct Progress {
    std::uint64_t playouts = 0;
    std::uint64_t evaluations = 0;
    std::uint64_t depth_sum = 0;
    std::uint64_t max_depth = 0;
    bool is_exhausted = false;
};

// What SearchStats (search/result.py) shows.
struct Snapshot {
    Progress progress;
    std::uint64_t nodes = 0;
    int hashfull = 0;
    bool is_proven = false;
    int best_move = -1;
    std::int64_t lead = -1;  // -1: no move has visits.
};

class Puct {
public:
    Puct(const PuctConfig& config, const Capacity& capacity)
        : config_(config), selection_(config.formula), root_selection_(config.root_formula), table_(capacity) {}

    // Before a search, on one thread.

    // Forgets everything that was searched.
    void clear() noexcept;
    void set_config(const PuctConfig& config);
    // Makes the state the root: keeps what it can reach, deletes the rest. A root that is not known yet is
    // the only leaf of the batch afterwards, and must be expanded.
    void begin(State& state, LeafSink& sink, Batch& batch, std::uint64_t max_playouts,
               std::uint64_t max_evaluations);
    // Closes root moves: a flag for each, in the node's order; empty: none.
    void set_mask(Mask masked) { masked_ = std::move(masked); }

    // During a search, on any thread.

    bool is_finished();
    // Walks down until a batch of new positions waits for its evaluation. Leaves nothing in flight if it
    // throws. The batch stays empty if every way leads to a position that waits already.
    void gather(State& state, LeafSink& sink, Batch& batch);
    // Turns the evaluated leaves into nodes and backs their values up. Leaves nothing in flight if it throws.
    void expand(Batch& batch);
    // Adds a mate that was found elsewhere; returns whether it could be added. line: mating moves of the side to
    // move in the state, to the end. The state is left as it was.
    bool add_mate(State& state, std::span<const Move> line);
    // Takes the leaves back.
    void retract(Batch& batch) noexcept;
    // Waits until another thread has expanded a batch since `gather` left this one empty, or a moment. Where nothing
    // is in flight only helpers wait: they would keep the lock from the thread that checks the clock, and find no
    // more to do than it does.
    void wait_for_others(const Batch& batch, bool is_helper);
    // The state of the search.
    Snapshot snapshot();

    // While it is held, nothing changes; what follows may be called then, or between searches.
    Mutex& mutex() noexcept { return mutex_; }
    NodeTable& table() noexcept { return table_; }
    NodeIndex root() const noexcept { return root_; }
    const Mask& mask() const noexcept { return masked_; }
    const Selection& selection(bool is_root) const noexcept { return is_root ? root_selection_ : selection_; }
    const Progress& progress() const noexcept { return progress_; }

private:
    using Lock = std::unique_lock<Mutex>;
    using Path = std::span<const Batch::Step>;

    // What playouts walk with: the moves that they play, the batch that they fill, and the lock of the graph.
    struct Walk {
        Line line;
        Batch& batch;
        Lock& lock;
        std::vector<Batch::Step> path = {};
        std::vector<std::uint32_t> counts = {};  // Playouts by move, of one node of the path after another.
    };

    // What became of playouts that did not find a new position.
    struct Ends {
        std::uint32_t completed = 0;  // They needed no evaluation.
        std::uint32_t collided = 0;   // They met a position that waits already.
    };

    // The most that a batch may have.
    struct Limits {
        std::uint32_t leaves;
        std::uint32_t collisions;
        double free;
    };

    // What a batch has; goes_on: may there be another walk?
    struct Tally {
        std::uint32_t collisions = 0;
        std::uint32_t free = 0;
        bool goes_on = true;
    };

    // A mate at the position that is now the root, found when it was a leaf, and the key after its first move.
    struct KeptMate {
        std::vector<Move> line;
        std::uint64_t key;
        std::uint32_t ply;
    };

    Limits limits_of(const Batch& batch) const noexcept;
    void walk_until(std::size_t found, Walk& walk, const Limits& limits, Tally& tally);
    Ends send(NodeIndex index, std::uint32_t count, Walk& walk);
    std::uint32_t choose(NodeIndex index, std::uint32_t count, Walk& walk);
    Ends follow(NodeIndex index, int i, std::uint32_t count, Walk& walk);
    Ends arrive(NodeIndex index, int i, std::uint32_t count, Walk& walk);
    std::uint32_t lead_of(NodeIndex child, NodeIndex parent, int i) const noexcept;
    bool note(const Walk& walk);
    Ends complete(std::uint32_t count, const Walk& walk) noexcept;
    void count_playouts(std::uint32_t count, std::size_t depth) noexcept;
    bool is_solved_now(NodeIndex index, std::uint32_t count, Walk& walk);
    void examine(Line& line, LeafSink& sink, Batch& batch) const;
    std::uint32_t settle(Batch& batch);
    std::uint64_t room(std::uint64_t waiting) const noexcept;
    int select(NodeIndex index) const noexcept;
    std::optional<Certain> prove(State& state) const;
    double outcome_value(double outcome, State& state) const;
    static void look(State& state, LeafSink& sink, Batch& batch, std::size_t number, Leaf& leaf);
    void expand(const Batch& batch, std::size_t i);
    void add_root(const Leaf& leaf, std::span<const LegalMove> moves, double value);
    bool add_mate(NodeIndex index, State& state, std::span<const Move> line);
    bool add_mate(NodeIndex index, std::span<const Move> line, std::uint64_t key, std::uint32_t ply);
    static std::size_t shared(Path path, Path other) noexcept;
    void back_up(Path path, std::size_t first);
    void prefetch(const Batch& batch) const noexcept;
    void cancel(NodeIndex index, std::uint32_t i, std::uint32_t count) noexcept;
    void cancel(Path path) noexcept;
    void abandon(Batch& batch) noexcept;
    void retire(Batch& batch) noexcept;

    PuctConfig config_;
    Selection selection_;
    Selection root_selection_;
    NodeTable table_;
    NodeIndex root_ = kNoNode;
    double draw_value_first_ = 0.0;  // The value of a draw for the player with turn 0.
    std::optional<KeptMate> kept_mate_;

    std::uint64_t max_playouts_ = 0;
    std::uint64_t max_evaluations_ = 0;
    Progress progress_;
    Mask masked_;

    Mutex mutex_;
    ConditionVariable expanded_;
    KeySet waiting_;                // The positions that are leaves, or may become leaves.
    std::size_t in_flight_ = 0;     // Leaves of all batches, and walks that may become leaves.
    std::uint64_t expansions_ = 0;  // Batches that wait no more: what a waiting thread watches.
};

}  // namespace goryu
