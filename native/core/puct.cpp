#include "puct.h"

#include <algorithm>
#include <bit>

namespace goryu {
namespace {

// Playouts completed without an evaluation, at most, per position of a batch.
constexpr double kFreePlayouts = 2.4;
// At most 1/16 of the root's visits may be in flight.
constexpr std::uint32_t kInFlightShare = 16;

const Mask kNoMask;

}  // namespace

void KeySet::clear(std::size_t room) {
    if (2 * room > keys_.size()) {
        keys_.assign(std::bit_ceil(2 * room), 0);
        stamps_.assign(keys_.size(), 0);
        stamp_ = 0;
    }
    if (++stamp_ == 0) {
        std::fill(stamps_.begin(), stamps_.end(), 0);
        stamp_ = 1;
    }
}

std::size_t KeySet::find(std::uint64_t key) const noexcept {
    const std::size_t mask = keys_.size() - 1;
    std::size_t i = (key * 0x9E3779B97F4A7C15ULL >> 32) & mask;
    while (stamps_[i] == stamp_ && keys_[i] != key) i = (i + 1) & mask;
    return i;
}

void KeySet::add(std::uint64_t key) noexcept {
    const std::size_t i = find(key);
    keys_[i] = key;
    stamps_[i] = stamp_;
}

void Puct::set_config(const PuctConfig& config) noexcept {
    if (!(config.formula == config_.formula)) selection_ = Selection(config.formula);
    config_ = config;
}

void Puct::clear() noexcept {
    table_.clear();
    root_ = kNoNode;
}

void Puct::begin(State& state, Inbox& inbox, std::uint64_t max_playouts) {
    max_playouts_ = max_playouts;
    playouts_ = evaluations_ = depth_sum_ = max_depth_ = 0;
    is_exhausted_ = false;
    masked_.clear();
    empty_batch(1);

    const double draw_value = state.turn() == 0 ? config_.draw_value : -config_.draw_value;
    if (draw_value != draw_value_first_) {
        clear();
        draw_value_first_ = draw_value;
    }
    const NodeIndex known = table_.find(state.key(), state.ply());
    if (known != kNoNode && table_[known].is_complete) {
        if (known != root_) table_.delete_old(known);
        root_ = known;
        table_.sort_moves(table_[root_]);  // The mask goes by a move's place among all.
        return;
    }
    kept_mate_.reset();
    if (known != kNoNode && table_[known].proof == Proof::kWin && table_[known].move_count != 0) {
        const Move move = table_.moves(table_[known])[0].move;
        state.push(move);
        kept_mate_ = {move, table_[known].distance, state.key(), state.ply()};
        state.pop();
    }
    clear();
    add_leaf(state, inbox, 0);
}

void Puct::add_root(const double* policy, double value) {
    const Leaf& leaf = leaves_.front();
    root_ = table_.add(leaf.key, leaf.ply, leaf_moves(0), policy, value);
    table_.sort_moves(table_[root_]);
    if (!kept_mate_) return;
    const std::span moves(table_.moves(table_[root_]), table_[root_].move_count);
    const auto is_kept = [this](LegalMove m) { return m.move == kept_mate_->move; };
    const auto i = std::find_if(moves.begin(), moves.end(), is_kept) - moves.begin();
    if (i == std::ssize(moves)) return;
    const int length = kept_mate_->length;
    const NodeIndex child = add_settled(kept_mate_->key, kept_mate_->ply, {}, Proof::kLoss, length - 1, -1.0);
    table_.try_moves(root_, static_cast<int>(i) + 1);
    table_.edges(table_[root_])[i].child = child;
    table_[root_].settle(Proof::kWin, length, +1.0);
}

void Puct::empty_batch(std::size_t room) {
    leaves_.clear();
    steps_.clear();
    moves_.clear();
    expanded_ = 0;
    waiting_.clear(room);
}

void Puct::gather(State& state, Inbox& inbox) {
    const std::uint32_t share = std::max(1U, table_[root_].total / kInFlightShare);
    const int limit = static_cast<int>(std::min<std::uint32_t>(config_.batch_size, share));
    empty_batch(limit);
    int free = 0;
    while (static_cast<int>(leaves_.size()) < limit && free < kFreePlayouts * limit) {
        if (playouts_ + leaves_.size() >= max_playouts_) break;
        const Descent descent = walk(state, inbox);
        if (descent == Descent::kDone) {
            ++free;
        } else if (descent != Descent::kNew) {
            is_exhausted_ = descent == Descent::kStuck && leaves_.empty();
            break;
        }
    }
}

// Walks down and back up; leaves the state as it was, and nothing in flight if it throws.
Puct::Descent Puct::walk(State& state, Inbox& inbox) {
    const std::size_t first_step = steps_.size();
    try {
        const Descent descent = descend(state, first_step);
        const std::size_t depth = steps_.size() - first_step;
        if (descent == Descent::kNew) {
            add_leaf(state, inbox, first_step);
        } else {
            steps_.resize(first_step);
        }
        for (std::size_t i = 0; i < depth; ++i) state.pop();
        return descent;
    } catch (...) {
        // What is in flight are the leaves and, after their steps, those of an unfinished walk.
        take_back(leaves_.empty() ? 0 : leaves_.back().last_step, steps_.size());
        retract();
        throw;
    }
}

// Plays the selected moves on the state, noting them in steps_, until the playout ends.
Puct::Descent Puct::descend(State& state, std::size_t first_step) {
    NodeIndex place = root_;
    while (true) {
        const bool is_root = place == root_;
        const int i = selection_.select(table_, place, is_root, is_root ? masked_ : kNoMask);
        if (i < 0) {  // The last open move was settled, perhaps by way of another parent.
            table_.recompute(place);
            if (is_root) return Descent::kStuck;
            complete(first_step, steps_.size());
            return Descent::kDone;
        }
        table_.try_moves(place, i + 1);
        Node& node = table_[place];
        Edge& edge = table_.edges(node)[i];
        ++edge.pending;
        ++node.in_flight;
        steps_.push_back({place, i});
        state.push(table_.moves(node)[i].move);
        if (const auto end = state.repetition()) {
            complete(first_step, steps_.size(), worth(*end, state));
            return Descent::kDone;
        }
        NodeIndex child = edge.child;
        if (child == kNoNode) {
            const std::uint64_t key = state.key();
            child = table_.find(key, state.ply());
            if (child == kNoNode && waiting_.has(key)) {
                take_back(first_step, steps_.size());
                return Descent::kCollision;
            }
            if (child == kNoNode) {
                std::optional<double> unstored;
                child = settle(state, unstored);
                if (unstored) {
                    complete(first_step, steps_.size(), unstored);
                    return Descent::kDone;
                }
            }
            if (child == kNoNode) return Descent::kNew;
            edge.child = child;
        }
        if (table_[child].proof != Proof::kUnknown || table_[child].total > table_.visits_below(place, i)) {
            complete(first_step, steps_.size());
            return Descent::kDone;
        }
        place = child;
    }
}

// Stores and returns a proven node if the state is over or its side to move has a mate, else kNoNode. If the
// table is full, the node's value comes back in `unstored`.
NodeIndex Puct::settle(State& state, std::optional<double>& unstored) {
    if (const auto outcome = state.outcome()) {
        const double value = worth(*outcome, state);
        const Proof proof = *outcome == 0.0 ? Proof::kDraw : *outcome > 0.0 ? Proof::kWin : Proof::kLoss;
        if (!table_.is_full()) return add_settled(state.key(), state.ply(), {}, proof, 0, value);
        unstored = value;
        return kNoNode;
    }
    if (config_.mate_nodes == 0) return kNoNode;
    const auto mate = state.find_mate(config_.mate_nodes);
    if (!mate) return kNoNode;
    if (table_.is_full()) {
        unstored = +1.0;
        return kNoNode;
    }
    return add_settled(state.key(), state.ply(), {&mate->move, 1}, Proof::kWin, mate->length, +1.0);
}

NodeIndex Puct::add_settled(std::uint64_t key, std::uint32_t ply, std::span<const Move> mate, Proof proof,
                            int distance, double value) {
    constexpr double kCertain = 1.0;
    const NodeIndex place = table_.add(key, ply, mate, &kCertain, value);
    table_[place].settle(proof, distance, value);
    table_[place].is_complete = false;
    return place;
}

// An outcome's value for the side to move, draws at their set worth.
double Puct::worth(double outcome, State& state) const {
    if (outcome != 0.0) return outcome;
    return state.turn() == 0 ? draw_value_first_ : -draw_value_first_;
}

void Puct::add_leaf(State& state, Inbox& inbox, std::size_t first_step) {
    const std::size_t first_move = moves_.size();
    state.legal_moves(moves_);
    inbox.add(leaves_.size());
    leaves_.push_back({state.key(), state.ply(), state.turn(), first_step, steps_.size(), first_move, moves_.size()});
    waiting_.add(leaves_.back().key);
}

void Puct::expand(const double* policy, double value) {
    const std::size_t i = expanded_++;
    if (root_ == kNoNode) return add_root(policy, value);
    const Leaf& leaf = leaves_[i];
    if (table_.is_full()) {
        complete(leaf.first_step, leaf.last_step, static_cast<float>(value));
    } else {
        const NodeIndex child = table_.add(leaf.key, leaf.ply, leaf_moves(i), policy, value);
        const Step last = steps_[leaf.last_step - 1];
        table_.edges(table_[last.node])[last.move].child = child;
        complete(leaf.first_step, leaf.last_step);
    }
    ++evaluations_;
}

// Counts a playout on its path, from the leaf up. path_value: the result for the side to move at the leaf,
// where only the path decides it or no node could be stored.
void Puct::complete(std::size_t first_step, std::size_t last_step, std::optional<double> path_value) {
    if (path_value) table_.end_path(steps_[last_step - 1].node, steps_[last_step - 1].move, -*path_value);
    for (std::size_t at = last_step; at-- > first_step;) {
        Node& node = table_[steps_[at].node];
        Edge& edge = table_.edges(node)[steps_[at].move];
        --edge.pending;
        --node.in_flight;
        ++edge.visits;
        table_.recompute(steps_[at].node);
    }
    ++playouts_;
    depth_sum_ += last_step - first_step;
    max_depth_ = std::max<std::uint64_t>(max_depth_, last_step - first_step);
}

void Puct::take_back(std::size_t first_step, std::size_t last_step) noexcept {
    for (std::size_t at = first_step; at < last_step; ++at) {
        Node& node = table_[steps_[at].node];
        --table_.edges(node)[steps_[at].move].pending;
        --node.in_flight;
    }
}

void Puct::retract() noexcept {
    for (; expanded_ < leaves_.size(); ++expanded_) {
        take_back(leaves_[expanded_].first_step, leaves_[expanded_].last_step);
    }
}

}  // namespace goryu
