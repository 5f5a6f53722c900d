// The node table: twin of search/node_table.py, packed.
//
// A node fills one cache line. Its legal moves lie in a block of 4 bytes each, sorted by falling prior;
// the tried ones, always the first of them, have 12 bytes each in a second block. Nodes name each other by
// their place in the pool, which never changes; the index from keys to places is separate, so that deleting
// a node breaks no chain of probes.
#pragma once

#include <span>

#include "blocks.h"
#include "half.h"
#include "repetitions.h"
#include "index_set.h"
#include "types.h"

namespace goryu {

using NodeIndex = std::uint32_t;
constexpr NodeIndex kNoNode = ~NodeIndex{0};

// What is proven of a node, for its side to move, whatever the path to it.
enum class Proof : std::uint8_t { kUnknown, kWin, kLoss, kDraw };

struct LegalMove {
    Move move;
    Half prior;
};

struct Edge {
    NodeIndex child = kNoNode;
    std::uint32_t visits = 0;        // N(a): completed playouts
    std::uint16_t pending = 0;       // Playouts that await their evaluation.
    std::uint16_t has_repetition = 0;  // Is there more in the path ends?
};

static_assert(sizeof(LegalMove) == 4 && sizeof(Edge) == 12);

struct alignas(64) Node {
    std::uint64_t key;
    double value;              // Q
    double mean_square;        // Mean of the squared values behind Q.
    float raw_value;           // V
    std::uint32_t total_visits;  // N: 1 for the node's own evaluation, plus the visits of its moves.
    Block moves;               // move_count LegalMoves
    Block edges;               // Room for `room` Edges, of which `tried` are in use.
    NodeIndex next;            // In the same bucket of the index.
    std::uint32_t ply;
    std::uint16_t in_flight;   // The sum of `pending`.
    std::uint16_t move_count;
    std::uint16_t tried;
    std::uint16_t room;
    std::uint16_t distance;    // Plies to the end that is proven.
    std::uint16_t sorted;      // So many of the moves are the best ones, in order; always more than `tried`.
    Proof proof;
    bool is_complete;          // Do `moves` hold every move? Not after a mate search: then only the mate.

    void settle(Proof proven, int plies, double worth) noexcept {
        proof = proven;
        distance = static_cast<std::uint16_t>(plies);
        value = worth;
        mean_square = worth * worth;
    }
};

static_assert(sizeof(Node) == 64);

// How much a table may hold; the Python table counts the same bytes.
struct Capacity {
    std::uint64_t nodes;
    std::uint64_t bytes = std::uint64_t{1} << 60;
    std::uint64_t chunks = Blocks::kMaxChunks;  // Of the memory for moves and edges.
};

class NodeTable {
public:
    NodeTable(const Capacity& capacity, bool merge)
        : capacity_(capacity), merge_(merge), blocks_(capacity.chunks) {}

    std::uint64_t size() const noexcept { return size_; }
    const Capacity& capacity() const noexcept { return capacity_; }
    // Is there no room for another node? The last eighth of bytes and chunks is for edges and path ends.
    bool is_full() const noexcept {
        return size_ >= capacity_.nodes || 8 * bytes() >= 7 * capacity_.bytes || blocks_.uses_eighths(7);
    }
    // Is there no room even for what is known of the nodes that are stored?
    bool is_exhausted() const noexcept { return bytes() >= capacity_.bytes || blocks_.uses_eighths(8); }
    // Memory that is held for nodes, index, moves, edges and path ends, whether it is in use or not.
    std::uint64_t bytes() const noexcept {
        return kNodeBytes * end_ + blocks_.bytes() + kRepetitionBytes * repetitions_.size();
    }
    // How full the table is, in thousandths, by nodes or by bytes.
    int hashfull() const noexcept;

    Node& operator[](NodeIndex place) noexcept { return chunks_[place >> kChunkBits][place & kChunkMask]; }
    const Node& operator[](NodeIndex place) const noexcept {
        return chunks_[place >> kChunkBits][place & kChunkMask];
    }
    // After a call of a network little of the graph is left in the caches, and what a visit reads is a chain:
    // the node, its moves and edges, its children. Whoever knows what comes asks for it ahead, link by link.
    void prefetch_node(NodeIndex place) const noexcept { GORYU_PREFETCH(&(*this)[place]); }
    void prefetch_lists(NodeIndex place) const noexcept;
    void prefetch_children(NodeIndex place) const noexcept;

    // The places of all nodes.
    const IndexSet& live() const noexcept { return live_; }

    const LegalMove* moves(const Node& node) const noexcept { return blocks_.at<LegalMove>(node.moves); }
    // By falling prior, ties by the move, as far as they are sorted.
    void sort_moves(Node& node) noexcept { sort_moves(node, node.move_count); }
    // The first `tried` of the node's moves.
    Edge* edges(const Node& node) const noexcept { return blocks_.at<Edge>(node.edges); }
    const Repetitions& repetitions() const noexcept { return repetitions_; }

    // The node of this position, or kNoNode.
    NodeIndex find(std::uint64_t key, std::uint32_t ply) const noexcept;
    // Stores a new node. 0 <= policy[i] <= kMaxHalf.
    NodeIndex add(std::uint64_t key, std::uint32_t ply, std::span<const Move> moves, const double* policy,
                  double value);
    void clear() noexcept;

    // Makes the first `count` moves of a node tried.
    void try_moves(NodeIndex place, int count);
    // Books one playout that ended on edge i with `value` for the side that moved.
    void add_repetition(NodeIndex place, int i, double value);

    // Q(a) of a visited move, for the side to move at the node.
    double edge_value(NodeIndex place, int i) const noexcept {
        const Edge& edge = edges((*this)[place])[i];
        return edge.has_repetition ? mixed_value(place, i) : -(*this)[edge.child].value;
    }
    // How many of the visits of move i went on into its child.
    std::uint32_t child_visits(NodeIndex place, int i) const noexcept;
    // Brings N, Q and the mean square of a node up to date with its children.
    void recompute(NodeIndex place) noexcept;

    // Is move i proven to lose, or to win?
    bool is_lost(NodeIndex place, int i) const noexcept { return leads_to((*this)[place], i, Proof::kWin); }
    bool is_won(NodeIndex place, int i) const noexcept { return leads_to((*this)[place], i, Proof::kLoss); }

    // Deletes every node that `root` cannot reach, and what earlier paths decided.
    void prune(NodeIndex root);

private:
    static constexpr int kChunkBits = 14;  // 1 MiB
    static constexpr NodeIndex kChunkMask = (NodeIndex{1} << kChunkBits) - 1;
    // A node, its place in the index (up to two for each node), and its bits in two sets.
    static constexpr std::uint64_t kNodeBytes = sizeof(Node) + 8;
    // Twice its entry of a hash table that may be half empty.
    static constexpr std::uint64_t kRepetitionBytes = 128;

    bool leads_to(const Node& node, int i, Proof proof) const noexcept {
        if (i >= node.tried) return false;
        const Edge& edge = edges(node)[i];
        return edge.child != kNoNode && (*this)[edge.child].proof == proof && !edge.has_repetition;
    }
    double mixed_value(NodeIndex place, int i) const noexcept;
    void prove(Node& node) noexcept;
    void sort_moves(Node& node, int count) noexcept;
    NodeIndex new_place();
    std::size_t bucket(std::uint64_t key) const noexcept {
        return key * 0x9E3779B97F4A7C15ULL >> (64 - index_bits_);
    }
    void link(NodeIndex place) noexcept;
    void rebuild_index(int bits);
    void mark_reachable(NodeIndex root);
    void forget_repetitions() noexcept;
    void release(NodeIndex place);
    void compact();

    Capacity capacity_;
    bool merge_;
    std::uint64_t size_ = 0;
    std::uint64_t serial_ = 0;
    std::vector<std::unique_ptr<Node[]>> chunks_;
    NodeIndex end_ = 0;
    std::vector<NodeIndex> free_;  // Places below end_ without a node.
    int index_bits_ = 1;
    std::vector<NodeIndex> index_ = std::vector<NodeIndex>(2, kNoNode);
    Blocks blocks_;
    Repetitions repetitions_;
    IndexSet live_;
    IndexSet reached_;  // These two are kept for their memory.
    std::vector<NodeIndex> waiting_;
};

}  // namespace goryu
