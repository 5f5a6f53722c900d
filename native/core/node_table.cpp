#include "node_table.h"

#include <algorithm>
#include <cstring>

namespace goryu {

namespace {

// Most nodes are never visited again, and most of the others try few moves: only so many are sorted at first.
constexpr int kSortedAtFirst = 4;
constexpr std::size_t kCacheLine = 64;

}  // namespace

int NodeTable::hashfull() const noexcept {
    const std::uint64_t by_nodes = 1000 * size_ / capacity_.nodes, by_bytes = 1000 * bytes() / capacity_.bytes;
    return static_cast<int>(std::min<std::uint64_t>(std::max(by_nodes, by_bytes), 1000));
}

void NodeTable::prefetch_lists(NodeIndex place) const noexcept {
    const Node& node = (*this)[place];
    const auto* const all = reinterpret_cast<const char*>(edges(node));
    for (std::size_t at = 0; at < node.tried * sizeof(Edge); at += kCacheLine) GORYU_PREFETCH(all + at);
    GORYU_PREFETCH(moves(node));
}

void NodeTable::prefetch_children(NodeIndex place) const noexcept {
    const Node& node = (*this)[place];
    const Edge* const all = edges(node);
    for (int i = 0; i < node.tried; ++i) {
        if (all[i].child != kNoNode) prefetch_node(all[i].child);
    }
}

NodeIndex NodeTable::find(std::uint64_t key, std::uint32_t ply) const noexcept {
    if (!merge_) return kNoNode;
    NodeIndex place = index_[bucket(key)];
    while (place != kNoNode && (*this)[place].key != key) place = (*this)[place].next;
    return place != kNoNode && (*this)[place].ply == ply ? place : kNoNode;
}

NodeIndex NodeTable::add(std::uint64_t key, std::uint32_t ply, std::span<const Move> moves, const double* policy,
                         double value) {
    const NodeIndex place = new_place();
    Node& node = (*this)[place];
    node = {};
    node.key = merge_ ? key : ++serial_;
    node.ply = ply;
    node.moves = blocks_.allocate(moves.size() * sizeof(LegalMove));
    node.move_count = static_cast<std::uint16_t>(moves.size());
    LegalMove* const all = blocks_.at<LegalMove>(node.moves);
    for (std::size_t i = 0; i < moves.size(); ++i) all[i] = {moves[i], to_half(policy[i])};
    sort_moves(node, kSortedAtFirst);
    node.total_visits = 1;
    node.raw_value = static_cast<float>(value);
    node.value = node.raw_value;
    node.mean_square = node.value * node.value;
    node.is_complete = true;
    if (merge_) {
        if (size_ + 1 > index_.size()) rebuild_index(index_bits_ + 1);
        link(place);
    }
    live_.add(place);
    ++size_;
    return place;
}

void NodeTable::clear() noexcept {
    size_ = 0;
    end_ = 0;
    free_.clear();
    std::fill(index_.begin(), index_.end(), kNoNode);
    live_.clear(0);
    blocks_.clear();
    repetitions_.clear();
}

void NodeTable::sort_moves(Node& node, int count) noexcept {
    count = std::min<int>(count, node.move_count);
    if (count <= node.sorted) return;
    LegalMove* const all = blocks_.at<LegalMove>(node.moves);
    // Halves that are not negative are in the order of their bits.
    const auto rank = [](LegalMove m) { return static_cast<std::uint32_t>(0xFFFF - m.prior) << 16 | m.move; };
    std::partial_sort(all + node.sorted, all + count, all + node.move_count,
                      [&](LegalMove a, LegalMove b) { return rank(a) < rank(b); });
    node.sorted = static_cast<std::uint16_t>(count);
}

void NodeTable::try_moves(NodeIndex place, int count) {
    Node& node = (*this)[place];
    if (count <= node.tried) return;
    if (count >= node.sorted) sort_moves(node, 2 * count);
    if (count > node.room) {
        // One edge fills a block of 16 bytes, four fill three such units; from there, doubling.
        int room = node.room == 0 ? 1 : node.room == 1 ? 4 : 2 * node.room;
        room = std::min<int>(std::max(room, count), node.move_count);
        const Block block = blocks_.allocate(room * sizeof(Edge));
        const Edge* old = edges(node);
        std::copy(old, old + node.tried, blocks_.at<Edge>(block));
        blocks_.release(node.edges, node.room * sizeof(Edge));
        node.edges = block;
        node.room = static_cast<std::uint16_t>(room);
    }
    Edge* const all = edges(node);
    std::fill(all + node.tried, all + count, Edge{});
    node.tried = static_cast<std::uint16_t>(count);
}

void NodeTable::add_repetition(NodeIndex place, int i, double value) {
    repetitions_.add(place, i, value);
    edges((*this)[place])[i].has_repetition = 1;
}

double NodeTable::mixed_value(NodeIndex place, int i) const noexcept {
    const Edge& edge = edges((*this)[place])[i];
    const RepetitionStats& end = repetitions_.get(place, i);
    if (edge.child == kNoNode) return end.value_sum / edge.visits;
    const double below = edge.visits - end.visits;
    return (end.value_sum + below * -(*this)[edge.child].value) / edge.visits;
}

std::uint32_t NodeTable::child_visits(NodeIndex place, int i) const noexcept {
    const Edge& edge = edges((*this)[place])[i];
    return edge.has_repetition ? edge.visits - repetitions_.get(place, i).visits : edge.visits;
}

void NodeTable::recompute(NodeIndex place) noexcept {
    Node& node = (*this)[place];
    const Edge* const all = edges(node);
    const double evaluation = node.raw_value;
    std::uint32_t total = 1, weight = 1;
    double value_sum = evaluation, square_sum = evaluation * evaluation;
    for (int i = 0; i < node.tried; ++i) {
        const Edge& edge = all[i];
        std::uint32_t visits = edge.visits;
        if (visits == 0) continue;
        total += visits;
        const Node* const child = edge.child != kNoNode ? &(*this)[edge.child] : nullptr;
        if (edge.has_repetition) {
            const RepetitionStats& end = repetitions_.get(place, i);
            value_sum += end.value_sum;
            square_sum += end.square_sum;
            weight += visits;
            visits -= end.visits;
        } else if (child->proof == Proof::kWin) {
            continue;  // A move that is proven to lose is not played: it does not count.
        } else {
            weight += visits;
        }
        if (child != nullptr) {
            value_sum += visits * -child->value;
            square_sum += visits * child->mean_square;
        }
    }
    node.total_visits = total;
    if (node.proof == Proof::kUnknown) {
        node.value = value_sum / weight;
        node.mean_square = square_sum / weight;
    }
    prove(node);
}

// Proves a node from proven children: won if one reply is lost, lost if all are won. An edge on which a
// path ended proves nothing: another path might have gone on.
void NodeTable::prove(Node& node) noexcept {
    int winning = 0, losing = 0, drawing = 0;  // Plies to the shortest win, the longest loss and draw; 0: none.
    double draw_value = 0.0;
    bool decided = node.tried == node.move_count;
    const Edge* const all = edges(node);
    for (int i = 0; i < node.tried; ++i) {
        const Node* const child = all[i].child != kNoNode ? &(*this)[all[i].child] : nullptr;
        if (child == nullptr || child->proof == Proof::kUnknown || all[i].has_repetition) {
            decided = false;
        } else if (child->proof == Proof::kLoss) {
            winning = winning != 0 ? std::min(winning, child->distance + 1) : child->distance + 1;
        } else if (child->proof == Proof::kWin) {
            losing = std::max(losing, child->distance + 1);
        } else {
            drawing = std::max(drawing, child->distance + 1);
            draw_value = -child->value;
        }
    }
    if (winning != 0) {
        if (!(node.proof == Proof::kWin && node.distance <= winning)) node.settle(Proof::kWin, winning, +1.0);
    } else if (decided && node.proof == Proof::kUnknown) {
        if (drawing != 0) {
            node.settle(Proof::kDraw, drawing, draw_value);
        } else {
            node.settle(Proof::kLoss, losing, -1.0);
        }
    }
}

void NodeTable::prune(NodeIndex root) {
    mark_reachable(root);
    live_.for_each_without(reached_, [this](NodeIndex place) { release(place); });
    std::swap(live_, reached_);
    live_.grow(end_);
    if (merge_) rebuild_index(index_bits_);
    forget_repetitions();
    if (4 * bytes() > capacity_.bytes || blocks_.uses_eighths(7)) compact();
}

// Closes the gaps between the blocks in use: what is free suits nobody who asks for another size.
void NodeTable::compact() {
    struct Owner {
        Block block;
        NodeIndex node;
        bool of_edges;
    };
    std::vector<Owner> owners;
    owners.reserve(2 * size_);
    live_.for_each([&](NodeIndex place) {
        const Node& node = (*this)[place];
        if (node.move_count != 0) owners.push_back({node.moves, place, false});
        if (node.room != 0) owners.push_back({node.edges, place, true});
    });
    std::sort(owners.begin(), owners.end(), [](const Owner& a, const Owner& b) { return a.block < b.block; });
    blocks_.clear();
    for (const Owner& owner : owners) {  // Each moves down, or stays; never onto one that has yet to move.
        Node& node = (*this)[owner.node];
        const std::size_t size = owner.of_edges ? node.room * sizeof(Edge) : node.move_count * sizeof(LegalMove);
        Block& block = owner.of_edges ? node.edges : node.moves;
        block = blocks_.allocate(size);
        std::memmove(blocks_.at<std::byte>(block), blocks_.at<std::byte>(owner.block), size);
    }
    blocks_.shrink();
}

void NodeTable::mark_reachable(NodeIndex root) {
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
}

// Takes the visits of path ends back; a node's value follows at its next visit.
void NodeTable::forget_repetitions() noexcept {
    repetitions_.for_each([this](const RepetitionStats& end) {
        if (!live_.has(end.node)) return;
        Node& node = (*this)[end.node];
        Edge& edge = edges(node)[end.move];
        edge.visits -= end.visits;
        edge.has_repetition = 0;
        node.total_visits -= end.visits;
    });
    repetitions_.clear();
}

NodeIndex NodeTable::new_place() {
    if (!free_.empty()) {
        const NodeIndex place = free_.back();
        free_.pop_back();
        return place;
    }
    if ((end_ & kChunkMask) == 0 && end_ >> kChunkBits == chunks_.size()) {
        chunks_.push_back(std::make_unique_for_overwrite<Node[]>(std::size_t{1} << kChunkBits));
    }
    live_.grow(end_ + 1);
    return end_++;
}

void NodeTable::link(NodeIndex place) noexcept {
    NodeIndex& head = index_[bucket((*this)[place].key)];
    (*this)[place].next = head;
    head = place;
}

void NodeTable::rebuild_index(int bits) {
    index_.assign(std::size_t{1} << bits, kNoNode);
    index_bits_ = bits;
    live_.for_each([this](NodeIndex place) { link(place); });
}

void NodeTable::release(NodeIndex place) {
    const Node& node = (*this)[place];
    blocks_.release(node.moves, node.move_count * sizeof(LegalMove));
    blocks_.release(node.edges, node.room * sizeof(Edge));
    free_.push_back(place);
    --size_;
}

}  // namespace goryu
