// The node table: node.py, node_table.py, memory.py and forgetting.py of search/graph in C++, packed, and the proofs
// of nodes by their children (proof.py).
//
// A node fills one cache line. Its legal moves are in a block of 4 bytes each, sorted by falling prior; the
// tried ones, always the first of them, have 16 bytes each in a second block. Nodes name each other by their
// index in the pool, which never changes. The hash table from keys to indices is separate, so that deleting a
// node breaks no chain of probes.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "blocks.h"
#include "half.h"
#include "index_set.h"
#include "repetitions.h"
#include "types.h"

namespace goryu {

using NodeIndex = std::uint32_t;
constexpr NodeIndex kNoNode = ~NodeIndex{0};

// What is proven of a node, for its side to move, on whatever path it is reached.
enum class Proof : std::uint8_t { kUnknown, kWin, kLoss, kDraw };

struct LegalMove {
    Move move;
    Half prior;
};

struct Edge {
    NodeIndex child = kNoNode;
    std::uint32_t visits = 0;       // N(a): completed playouts
    float value = 0.0F;             // Q(a) at the last `recompute` of the node
    std::uint16_t pending = 0;      // Playouts that wait for their evaluation.
    Proof proof = Proof::kUnknown;  // What `recompute` found proven of the child.
    bool has_repetition = false;    // Is there an entry in the repetitions?
};

static_assert(sizeof(LegalMove) == 4 && sizeof(Edge) == 16);

struct alignas(64) Node {
    std::uint64_t key;
    double value;                // Q
    float variance;              // Of the values behind Q.
    float raw_value;             // V
    std::uint32_t raw_visits;    // The visits that V stands for; more than 1 in a folded node.
    std::uint32_t total_visits;  // N: raw_visits and the visits of the moves.
    Block moves;                 // move_count LegalMoves
    Block edges;                 // Room for room_for(tried) Edges.
    NodeIndex next;              // In the same bucket of the hash table.
    float tried_prior;           // The sum of the priors of the tried moves.
    std::uint16_t ply;           // Modulo 65,536.
    std::uint16_t in_flight;     // The sum of `pending`.
    std::uint16_t move_count;
    std::uint16_t tried;
    std::uint16_t distance;      // Plies to the proven end.
    std::uint16_t sorted;        // This many moves are the best ones, in order; always more than `tried`.
    Half raw_variance;           // The variance of the values behind V.
    Proof proof;
    bool is_complete;            // False: `moves` is the line that proves the node, not its legal moves.

    void set_proof(Proof proven, int plies, double certain_value) noexcept {
        proof = proven;
        distance = static_cast<std::uint16_t>(plies);
        value = certain_value;
        variance = 0.0F;
    }
};

static_assert(sizeof(Node) == 64);

// The limits of a table; the Python table counts the same bytes.
struct Capacity {
    std::uint64_t nodes;
    std::uint64_t bytes = std::uint64_t{1} << 60;
    std::uint64_t chunks = Blocks::kMaxChunks;  // Of the memory for moves and edges.
};

class NodeTable {
public:
    explicit NodeTable(const Capacity& capacity) : capacity_(capacity), blocks_(capacity.chunks) {}

    std::uint64_t size() const noexcept { return size_; }
    const Capacity& capacity() const noexcept { return capacity_; }
    // Memory in use: nodes, hash table, moves, tried moves and repetitions.
    std::uint64_t bytes() const noexcept { return node_bytes_ + kRepetitionBytes * repetitions_.size(); }
    // Memory that is held for them. `fit` keeps it below 1.25 times the capacity.
    std::uint64_t bytes_held() const noexcept {
        return kNodeBytes * end_ + blocks_.bytes() + kRepetitionBytes * repetitions_.size();
    }
    // Is it time to make_room?
    bool is_full() const noexcept {
        return size_ >= capacity_.nodes || bytes() >= capacity_.bytes || blocks_.uses_eighths(7);
    }
    // How full the table is, in thousandths, by nodes or by bytes.
    int hashfull() const noexcept;

    Node& operator[](NodeIndex index) noexcept { return chunks_[index >> kChunkBits][index & kChunkMask]; }
    const Node& operator[](NodeIndex index) const noexcept {
        return chunks_[index >> kChunkBits][index & kChunkMask];
    }
    // After a call of a network little of the graph is left in the caches, and a visit reads a chain: the node,
    // its moves and edges, its children. These fetch it ahead, link by link.
    void prefetch_node(NodeIndex index) const noexcept { GORYU_PREFETCH(&(*this)[index]); }
    void prefetch_lists(NodeIndex index) const noexcept;
    void prefetch_children(NodeIndex index) const noexcept;

    // The indices of all nodes.
    const IndexSet& live() const noexcept { return live_; }

    const LegalMove* moves(const Node& node) const noexcept { return blocks_.at<LegalMove>(node.moves); }
    // By falling prior, ties by the move, as far as they are sorted.
    void sort_moves(Node& node) noexcept { sort_moves(node, node.move_count); }
    // The first `tried` of the node's moves.
    Edge* edges(const Node& node) const noexcept { return blocks_.at<Edge>(node.edges); }
    const Repetitions& repetitions() const noexcept { return repetitions_; }

    // The node of this position, or kNoNode.
    NodeIndex find(std::uint64_t key) const noexcept;
    // Turns moves and their probabilities, 0 <= policy[i] <= kMaxHalf, into what `add` takes; the best come first.
    static void rank(std::span<const Move> moves, const double* policy, LegalMove* ranked) noexcept;
    // Stores a new node. moves: by `rank`.
    NodeIndex add(std::uint64_t key, std::uint32_t ply, std::span<const LegalMove> moves, double value);
    // Stores a new proven node, with the line that proves it.
    NodeIndex add_proven(std::uint64_t key, std::uint32_t ply, Proof proof, int distance, double value,
                         std::span<const Move> line);
    void clear() noexcept;

    // Makes the first `count` moves of a node tried.
    void try_moves(NodeIndex index, int count);
    // Replaces the moves of a proven node by the line that proves it; N and Q stay as they are.
    void forget_moves(NodeIndex index, std::span<const Move> line);
    // Counts playouts that ended on edge i with `value` for the side that moved.
    void add_repetition(NodeIndex index, int i, double value, std::uint32_t count);

    // Q(a) of a visited move, for the side to move at the node.
    double edge_value(NodeIndex index, int i) const noexcept {
        const Edge& edge = edges((*this)[index])[i];
        return edge.has_repetition ? mixed_value(index, i) : -(*this)[edge.child].value;
    }
    // How many playouts through move i went on into its child.
    std::uint32_t child_visits(NodeIndex index, int i) const noexcept;
    // Brings N, Q, the variance and the edges of a node up to date with its children.
    void recompute(NodeIndex index) noexcept;

    // What is proven of the child behind move i.
    Proof child_proof(const Node& node, int i) const noexcept {
        return i < node.tried ? child_proof(edges(node)[i]) : Proof::kUnknown;
    }
    Proof child_proof(const Edge& edge) const noexcept {
        return edge.child == kNoNode || edge.has_repetition ? Proof::kUnknown : (*this)[edge.child].proof;
    }
    // Is the value of move i of a root certain?
    bool is_certain(NodeIndex index, int i) const noexcept {
        const Node& node = (*this)[index];
        return child_proof(node, i) != Proof::kUnknown || (i < node.tried && edges(node)[i].has_repetition);
    }
    // The best of the proven moves, or -1.
    int proving_move(const Node& node) const noexcept;
    // The moves from a proven node to the end.
    std::vector<Move> proof_line(NodeIndex index) const;

    // Deletes every node that `root` cannot reach, and forgets repetitions.
    void prune(NodeIndex root);
    // Folds the least visited nodes and deletes what `root` cannot reach any more, about half of the table.
    void make_room(NodeIndex root);
    // Compacts if gaps hold too much memory. Nothing that can be seen changes.
    void fit();

private:
    static constexpr int kChunkBits = 14;  // 1 MiB
    static constexpr NodeIndex kChunkMask = (NodeIndex{1} << kChunkBits) - 1;
    // A node, its index in the hash table (up to two for each node), and its bits in two sets.
    static constexpr std::uint64_t kNodeBytes = sizeof(Node) + 8;
    // Twice an entry of a hash table that may be half empty.
    static constexpr std::uint64_t kRepetitionBytes = 128;

    static int room_for(const Node& node, int tried) noexcept;
    static std::uint64_t bytes_of(const Node& node) noexcept {
        return kNodeBytes + node.move_count * sizeof(LegalMove) + node.tried * sizeof(Edge);
    }
    double mixed_value(NodeIndex index, int i) const noexcept;
    void prove(Node& node) noexcept;
    void sort_moves(Node& node, int count) noexcept;
    void set_line(Node& node, std::span<const Move> line);
    void release_edges(Node& node);
    void release_moves(Node& node, std::span<const Move> line);
    NodeIndex new_node(std::uint64_t key, std::uint32_t ply, std::size_t move_count, double value);
    NodeIndex new_index();
    std::size_t bucket(std::uint64_t key) const noexcept {
        return key * 0x9E3779B97F4A7C15ULL >> (64 - bucket_bits_);
    }
    void link(NodeIndex index) noexcept;
    void rebuild_buckets(int bits);
    std::uint64_t fold_limit() const;
    void fold(NodeIndex index);
    void keep_reachable(NodeIndex root);
    void drop_stale_repetitions();
    void release(NodeIndex index);
    void compact();

    Capacity capacity_;
    std::uint64_t size_ = 0;
    std::uint64_t node_bytes_ = 0;
    std::vector<std::unique_ptr<Node[]>> chunks_;
    NodeIndex end_ = 0;
    std::vector<NodeIndex> free_;  // Indices below end_ without a node.
    int bucket_bits_ = 1;
    std::vector<NodeIndex> buckets_ = std::vector<NodeIndex>(2, kNoNode);
    Blocks blocks_;
    Repetitions repetitions_;
    IndexSet live_;
    IndexSet reached_;  // These two are kept for their memory.
    std::vector<NodeIndex> waiting_;
};

}  // namespace goryu
