#include "node_table.h"

#include <algorithm>
#include <cstring>

namespace goryu {

namespace {

// Most nodes are never visited again, and most of the others try few moves: only the best few are sorted at first.
constexpr int kSortedAtFirst = 4;
constexpr std::size_t kCacheLine = 64;

// Sorts moves from `first` to `last`, so that none of the later ones is better.
void sort_part(LegalMove* moves, int first, int last, int count) noexcept {
    // Halves that are not negative are in the order of their bits.
    const auto rank = [](LegalMove m) { return std::bit_cast<std::uint32_t>(m) ^ 0xFFFF0000U; };
    std::partial_sort(moves + first, moves + last, moves + count,
                      [&](LegalMove a, LegalMove b) { return rank(a) < rank(b); });
}

}  // namespace

int NodeTable::hashfull() const noexcept {
    const std::uint64_t by_nodes = 1000 * size_ / capacity_.nodes, by_bytes = 1000 * bytes() / capacity_.bytes;
    return static_cast<int>(std::min<std::uint64_t>(std::max(by_nodes, by_bytes), 1000));
}

void NodeTable::prefetch_lists(NodeIndex index) const noexcept {
    const Node& node = (*this)[index];
    const auto* const all = reinterpret_cast<const char*>(edges(node));
    for (std::size_t at = 0; at < node.tried * sizeof(Edge); at += kCacheLine) GORYU_PREFETCH(all + at);
    GORYU_PREFETCH(moves(node));
}

void NodeTable::prefetch_children(NodeIndex index) const noexcept {
    const Node& node = (*this)[index];
    const Edge* const all = edges(node);
    for (int i = 0; i < node.tried; ++i) {
        if (all[i].child != kNoNode) prefetch_node(all[i].child);
    }
}

NodeIndex NodeTable::find(std::uint64_t key) const noexcept {
    NodeIndex index = buckets_[bucket(key)];
    while (index != kNoNode && (*this)[index].key != key) index = (*this)[index].next;
    return index;
}

void NodeTable::rank(std::span<const Move> moves, const double* policy, LegalMove* ranked) noexcept {
    for (std::size_t i = 0; i < moves.size(); ++i) ranked[i] = {moves[i], to_half(policy[i])};
    sort_part(ranked, 0, std::min<int>(kSortedAtFirst, static_cast<int>(moves.size())), static_cast<int>(moves.size()));
}

NodeIndex NodeTable::add(std::uint64_t key, std::uint32_t ply, std::span<const LegalMove> moves, double value) {
    const NodeIndex index = new_node(key, ply, moves.size(), value);
    Node& node = (*this)[index];
    std::copy(moves.begin(), moves.end(), blocks_.at<LegalMove>(node.moves));
    node.sorted = static_cast<std::uint16_t>(std::min<std::size_t>(kSortedAtFirst, moves.size()));
    return index;
}

NodeIndex NodeTable::add_proven(std::uint64_t key, std::uint32_t ply, Proof proof, int distance, double value,
                                std::span<const Move> line) {
    const NodeIndex index = new_node(key, ply, line.size(), value);
    Node& node = (*this)[index];
    node.set_proof(proof, distance, value);
    set_line(node, line);
    return index;
}

NodeIndex NodeTable::new_node(std::uint64_t key, std::uint32_t ply, std::size_t move_count, double value) {
    const NodeIndex index = new_index();
    Node& node = (*this)[index];
    node = {};
    node.key = key;
    node.ply = static_cast<std::uint16_t>(ply);
    node.moves = blocks_.allocate(move_count * sizeof(LegalMove));
    node.move_count = static_cast<std::uint16_t>(move_count);
    node.raw_visits = 1;
    node.total_visits = 1;
    node.raw_value = static_cast<float>(value);
    node.value = node.raw_value;
    node.is_complete = true;
    if (size_ + 1 > buckets_.size()) rebuild_buckets(bucket_bits_ + 1);
    link(index);
    live_.add(index);
    ++size_;
    node_bytes_ += bytes_of(node);
    return index;
}

// Fills the moves of a node, which has room for them.
void NodeTable::set_line(Node& node, std::span<const Move> line) {
    LegalMove* const all = blocks_.at<LegalMove>(node.moves);
    for (std::size_t i = 0; i < line.size(); ++i) all[i] = {line[i], to_half(1.0)};
    node.sorted = node.move_count;
    node.is_complete = false;
}

void NodeTable::clear() noexcept {
    size_ = 0;
    node_bytes_ = 0;
    end_ = 0;
    free_.clear();
    std::fill(buckets_.begin(), buckets_.end(), kNoNode);
    live_.clear(0);
    blocks_.clear();
    repetitions_.clear();
}

void NodeTable::sort_moves(Node& node, int count) noexcept {
    count = std::min<int>(count, node.move_count);
    if (count <= node.sorted) return;
    sort_part(blocks_.at<LegalMove>(node.moves), node.sorted, count, node.move_count);
    node.sorted = static_cast<std::uint16_t>(count);
}

// Returns how many Edges fit into the block of a node with `tried` tried moves.
int NodeTable::room_for(const Node& node, int tried) noexcept {
    return std::min<int>(std::bit_ceil(static_cast<unsigned>(tried)), node.move_count);
}

void NodeTable::try_moves(NodeIndex index, int count) {
    Node& node = (*this)[index];
    if (count <= node.tried) return;
    if (count >= node.sorted) sort_moves(node, 2 * count);
    const int old_room = node.tried == 0 ? 0 : room_for(node, node.tried), room = room_for(node, count);
    if (room > old_room) {
        const Block block = blocks_.allocate(room * sizeof(Edge));
        const Edge* old = edges(node);
        std::copy(old, old + node.tried, blocks_.at<Edge>(block));
        blocks_.release(node.edges, old_room * sizeof(Edge));
        node.edges = block;
    }
    Edge* const all = edges(node);
    std::fill(all + node.tried, all + count, Edge{});
    for (int i = node.tried; i < count; ++i) node.tried_prior += static_cast<float>(from_half(moves(node)[i].prior));
    node_bytes_ += (count - node.tried) * sizeof(Edge);
    node.tried = static_cast<std::uint16_t>(count);
}

// Forgets the statistics of the moves of a node; N and Q stay as they are. Its repetitions become stale.
void NodeTable::release_edges(Node& node) {
    if (node.tried != 0) blocks_.release(node.edges, room_for(node, node.tried) * sizeof(Edge));
    node_bytes_ -= node.tried * sizeof(Edge);
    node.tried = 0;
    node.tried_prior = 0.0F;
    node.edges = 0;
    node.raw_visits = node.total_visits;
}

// The same for a proven node, which keeps the line that proves it instead of its legal moves.
void NodeTable::release_moves(Node& node, std::span<const Move> line) {
    release_edges(node);
    blocks_.release(node.moves, node.move_count * sizeof(LegalMove));
    node_bytes_ -= node.move_count * sizeof(LegalMove);
    node.move_count = static_cast<std::uint16_t>(line.size());
    node.moves = blocks_.allocate(line.size() * sizeof(LegalMove));
    node_bytes_ += node.move_count * sizeof(LegalMove);
    set_line(node, line);
}

void NodeTable::forget_moves(NodeIndex index, std::span<const Move> line) {
    release_moves((*this)[index], line);
    drop_stale_repetitions();
}

void NodeTable::add_repetition(NodeIndex index, int i, double value, std::uint32_t count) {
    repetitions_.add(index, i, value, count);
    edges((*this)[index])[i].has_repetition = true;
}

double NodeTable::mixed_value(NodeIndex index, int i) const noexcept {
    const Edge& edge = edges((*this)[index])[i];
    const RepetitionStats& repeated = repetitions_.get(index, i);
    if (edge.child == kNoNode) return repeated.value_sum / edge.visits;
    const double below = edge.visits - repeated.visits;
    return (repeated.value_sum + below * -(*this)[edge.child].value) / edge.visits;
}

std::uint32_t NodeTable::child_visits(NodeIndex index, int i) const noexcept {
    const Edge& edge = edges((*this)[index])[i];
    return edge.has_repetition ? edge.visits - repetitions_.get(index, i).visits : edge.visits;
}

void NodeTable::recompute(NodeIndex index) noexcept {
    Node& node = (*this)[index];
    Edge* const all = edges(node);
    const double raw_value = node.raw_value;
    std::uint32_t total = node.raw_visits, counted = node.raw_visits;
    double value_sum = counted * raw_value;
    double square_sum = counted * (raw_value * raw_value + from_half(node.raw_variance));
    bool has_proof = false;
    for (int i = 0; i < node.tried; ++i) {
        Edge& edge = all[i];
        const Node* const child = edge.child != kNoNode ? &(*this)[edge.child] : nullptr;
        const Proof proof = child != nullptr && !edge.has_repetition ? child->proof : Proof::kUnknown;
        edge.proof = proof;
        has_proof = has_proof || proof != Proof::kUnknown;
        std::uint32_t visits = edge.visits;
        total += visits;
        if (visits == 0 || proof == Proof::kWin) continue;  // A move that is proven to lose is not played.
        counted += visits;
        edge.value = static_cast<float>(edge_value(index, i));
        if (edge.has_repetition) {
            const RepetitionStats& repeated = repetitions_.get(index, i);
            value_sum += repeated.value_sum;
            square_sum += repeated.square_sum;
            visits -= repeated.visits;
        }
        if (child != nullptr) {
            value_sum += visits * -child->value;
            square_sum += visits * (child->value * child->value + child->variance);
        }
    }
    node.total_visits = total;
    if (node.proof == Proof::kUnknown) {
        node.value = value_sum / counted;
        node.variance = static_cast<float>(std::max(0.0, square_sum / counted - node.value * node.value));
    }
    if (has_proof) prove(node);
}

// Proves a node as won if a move is proven to win, as drawn or lost if all its moves are proven.
void NodeTable::prove(Node& node) noexcept {
    const int i = proving_move(node);
    if (i < 0) return;
    const Node& child = (*this)[edges(node)[i].child];
    if (child.proof == Proof::kLoss) {
        if (node.proof != Proof::kWin || child.distance + 1 < node.distance) {
            node.set_proof(Proof::kWin, child.distance + 1, +1.0);
        }
    } else if (node.proof == Proof::kUnknown && node.tried == node.move_count) {
        for (int j = 0; j < node.tried; ++j) {
            if (child_proof(node, j) == Proof::kUnknown) return;
        }
        node.set_proof(child.proof == Proof::kWin ? Proof::kLoss : Proof::kDraw, child.distance + 1, -child.value);
    }
}

int NodeTable::proving_move(const Node& node) const noexcept {
    int best = -1;
    Proof best_proof = Proof::kUnknown;
    int best_distance = 0;
    // The nearest win, or else the farthest draw, or else the farthest loss; the first of equals.
    const auto rank = [](Proof proof) { return proof == Proof::kLoss ? 3 : proof == Proof::kDraw ? 2 : 1; };
    for (int i = 0; i < node.tried; ++i) {
        const Proof proof = child_proof(node, i);
        if (proof == Proof::kUnknown) continue;
        const int distance = (*this)[edges(node)[i].child].distance;
        const bool is_better = best < 0 || rank(proof) > rank(best_proof) ||
                               (proof == best_proof &&
                                (proof == Proof::kLoss ? distance < best_distance : distance > best_distance));
        if (is_better) {
            best = i;
            best_proof = proof;
            best_distance = distance;
        }
    }
    return best;
}

std::vector<Move> NodeTable::proof_line(NodeIndex index) const {
    std::vector<Move> line;
    const Node* node = &(*this)[index];
    for (int i; node->is_complete && (i = proving_move(*node)) >= 0; node = &(*this)[edges(*node)[i].child]) {
        line.push_back(moves(*node)[i].move);
    }
    if (!node->is_complete) {
        for (int i = 0; i < node->move_count; ++i) line.push_back(moves(*node)[i].move);
    }
    return line;
}

void NodeTable::prune(NodeIndex root) {
    keep_reachable(root);
    // Takes the visits of repetitions back; a node's value follows at its next visit.
    repetitions_.for_each([this](const RepetitionStats& repeated) {
        Node& node = (*this)[repeated.node];
        Edge& edge = edges(node)[repeated.move];
        edge.visits -= repeated.visits;
        edge.has_repetition = false;
        node.total_visits -= repeated.visits;
    });
    repetitions_.clear();
    fit();
}

void NodeTable::make_room(NodeIndex root) {
    const std::uint64_t limit = fold_limit();
    live_.for_each([&](NodeIndex index) {
        const Node& node = (*this)[index];
        if (node.total_visits < limit && node.tried != 0 && node.in_flight == 0 && index != root) fold(index);
    });
    keep_reachable(root);
    fit();
}

// The least number of visits, rounded down to three significant bits, such that nodes with at least as many have,
// all together, tried at most half as many moves as the table has nodes.
std::uint64_t NodeTable::fold_limit() const {
    std::array<std::uint64_t, 8 * 32> children{};  // Tried moves; index 8 * bits + n: n << bits visits.
    live_.for_each([&](NodeIndex index) {
        const Node& node = (*this)[index];
        const int bits = std::max(static_cast<int>(std::bit_width(node.total_visits)) - 3, 0);
        children[8 * bits + (node.total_visits >> bits)] += node.tried;
    });
    std::uint64_t limit = std::uint64_t{1} << 32, kept = 0;
    for (std::size_t i = children.size(); i-- > 0;) {
        if (children[i] == 0) continue;
        kept += children[i];
        if (2 * kept > size_) break;
        limit = static_cast<std::uint64_t>(i % 8) << i / 8;
    }
    return limit;
}

// Forgets the statistics of the moves of a node. Its repetitions become stale.
void NodeTable::fold(NodeIndex index) {
    Node& node = (*this)[index];
    if (node.proof == Proof::kUnknown) {
        node.raw_value = static_cast<float>(node.value);
        node.raw_variance = to_half(node.variance);
        release_edges(node);
        recompute(index);
    } else {
        release_moves(node, proof_line(index));
    }
}

// Deletes the nodes that the root cannot reach.
void NodeTable::keep_reachable(NodeIndex root) {
    reached_.clear(end_);
    reached_.add(root);
    waiting_.push_back(root);
    while (!waiting_.empty()) {
        const Node& node = (*this)[waiting_.back()];
        waiting_.pop_back();
        const Edge* const all = edges(node);
        for (int i = 0; i < node.tried; ++i) {
            if (all[i].child != kNoNode && reached_.add(all[i].child)) waiting_.push_back(all[i].child);
        }
    }
    live_.for_each_without(reached_, [this](NodeIndex index) { release(index); });
    std::swap(live_, reached_);
    live_.grow(end_);
    rebuild_buckets(bucket_bits_);
    drop_stale_repetitions();
}

// Removes the repetitions of deleted nodes and of moves that were forgotten.
void NodeTable::drop_stale_repetitions() {
    repetitions_.keep_if([this](const RepetitionStats& repeated) {
        if (!live_.has(repeated.node)) return false;
        const Node& node = (*this)[repeated.node];
        return repeated.move < node.tried && edges(node)[repeated.move].has_repetition;
    });
}

void NodeTable::fit() {
    const bool is_fragmented = 8 * blocks_.bytes() > 9 * blocks_.bytes_in_use();
    if (is_fragmented && (4 * bytes_held() > 5 * capacity_.bytes || blocks_.uses_eighths(7))) compact();
}

// Closes the gaps between the blocks in use: a free block serves only requests of its own size.
void NodeTable::compact() {
    struct Owner {
        Block block;
        NodeIndex node;
        bool of_edges;
    };
    std::vector<Owner> owners;
    owners.reserve(2 * size_);
    live_.for_each([&](NodeIndex index) {
        const Node& node = (*this)[index];
        if (node.move_count != 0) owners.push_back({node.moves, index, false});
        if (node.tried != 0) owners.push_back({node.edges, index, true});
    });
    std::sort(owners.begin(), owners.end(), [](const Owner& a, const Owner& b) { return a.block < b.block; });
    blocks_.clear();
    for (const Owner& owner : owners) {  // Each moves down, or stays; never onto one that has yet to move.
        Node& node = (*this)[owner.node];
        const std::size_t size = owner.of_edges ? room_for(node, node.tried) * sizeof(Edge)
                                                : node.move_count * sizeof(LegalMove);
        Block& block = owner.of_edges ? node.edges : node.moves;
        block = blocks_.allocate(size);
        std::memmove(blocks_.at<std::byte>(block), blocks_.at<std::byte>(owner.block), size);
    }
    blocks_.shrink();
}

NodeIndex NodeTable::new_index() {
    if (!free_.empty()) {
        const NodeIndex index = free_.back();
        free_.pop_back();
        return index;
    }
    if ((end_ & kChunkMask) == 0 && end_ >> kChunkBits == chunks_.size()) {
        chunks_.push_back(std::make_unique_for_overwrite<Node[]>(std::size_t{1} << kChunkBits));
    }
    live_.grow(end_ + 1);
    return end_++;
}

void NodeTable::link(NodeIndex index) noexcept {
    NodeIndex& head = buckets_[bucket((*this)[index].key)];
    (*this)[index].next = head;
    head = index;
}

void NodeTable::rebuild_buckets(int bits) {
    buckets_.assign(std::size_t{1} << bits, kNoNode);
    bucket_bits_ = bits;
    live_.for_each([this](NodeIndex index) { link(index); });
}

void NodeTable::release(NodeIndex index) {
    const Node& node = (*this)[index];
    node_bytes_ -= bytes_of(node);
    blocks_.release(node.moves, node.move_count * sizeof(LegalMove));
    if (node.tried != 0) blocks_.release(node.edges, room_for(node, node.tried) * sizeof(Edge));
    free_.push_back(index);
    --size_;
}

}  // namespace goryu
