#include "puct.h"

#include <algorithm>
#include <chrono>

namespace goryu {
namespace {

// Playouts completed without an evaluation, at most, per position of a batch.
constexpr double kFreePlayouts = 2.4;
// At most 1/16 of the root's visits may be in flight.
constexpr std::uint32_t kInFlightShare = 16;
// What a node can count, and collisions beside: half of its 16 bits.
constexpr std::uint32_t kMostInFlight = 0x7FFF;
// A batch outlives one collision for so many playouts in flight, those of other threads included.
constexpr int kCollisionShare = 8;
// How long a thread that found nothing to do waits for the others, at most.
constexpr std::chrono::milliseconds kPatience{1};

const Mask kNoMask;

}  // namespace

void Puct::set_config(const PuctConfig& config) {
    if (!(config.formula == config_.formula)) selection_ = Selection(config.formula);
    config_ = config;
}

void Puct::clear() noexcept {
    table_.clear();
    root_ = kNoNode;
}

void Puct::begin(State& state, LeafSink& sink, Batch& batch, std::uint64_t max_playouts) {
    max_playouts_ = max_playouts;
    progress_ = {};
    masked_.clear();
    batch.empty(1);

    const double draw_value = state.turn() == 0 ? config_.draw_value : -config_.draw_value;
    if (draw_value != draw_value_first_) {
        clear();
        draw_value_first_ = draw_value;
    }
    const NodeIndex known = table_.find(state.key(), state.ply());
    if (known != kNoNode && table_[known].is_complete) {
        if (known != root_) table_.prune(known);
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
    add_leaf(state, sink, batch, 0);
    batches_.push_back(&batch);
    ++in_flight_;
}

void Puct::add_root(const Leaf& leaf, std::span<const Move> legal, const double* policy, double value) {
    root_ = table_.add(leaf.key, leaf.ply, legal, policy, value);
    table_.sort_moves(table_[root_]);
    if (kept_mate_) enter_mate(root_, kept_mate_->move, kept_mate_->length, kept_mate_->key, kept_mate_->ply);
}

bool Puct::add_mate(State& state, Move move, int length) {
    const Lock lock(mutex_);
    const NodeIndex place = table_.find(state.key(), state.ply());
    if (place == kNoNode || table_[place].proof != Proof::kUnknown || table_.is_full()) return false;
    state.push(move);
    const std::uint64_t key = state.key();
    const std::uint32_t ply = state.ply();
    state.pop();
    table_.sort_moves(table_[place]);
    return enter_mate(place, move, length, key, ply);
}

// Settles a node whose moves are sorted, and where its mating move leads to, the position of the key.
bool Puct::enter_mate(NodeIndex place, Move move, int length, std::uint64_t key, std::uint32_t ply) {
    const Node& node = table_[place];
    const std::span moves(table_.moves(node), node.move_count);
    const auto found = std::find_if(moves.begin(), moves.end(), [&](LegalMove m) { return m.move == move; });
    const int i = static_cast<int>(found - moves.begin());
    if (found == moves.end() || (i < node.tried && table_.edges(node)[i].has_repetition)) return false;
    NodeIndex child = table_.find(key, ply);
    if (child == kNoNode) {
        const auto awaits = [&](const Batch* b) { return b->examined_ == key || b->waiting_.has(key); };
        if (std::any_of(batches_.begin(), batches_.end(), awaits)) return false;
        child = add_settled(key, ply, {{}, Proof::kLoss, length - 1, -1.0});
    } else if (table_[child].proof == Proof::kUnknown) {
        table_[child].settle(Proof::kLoss, length - 1, -1.0);
        table_[child].is_complete = false;
    }
    table_.try_moves(place, i + 1);
    table_.edges(table_[place])[i].child = child;
    table_[place].settle(Proof::kWin, length, +1.0);
    return true;
}

bool Puct::is_finished() {
    const Lock lock(mutex_);
    return progress_.is_exhausted || progress_.playouts >= max_playouts_;
}

void Puct::gather(State& state, LeafSink& sink, Batch& batch) {
    Lock lock(mutex_);
    const std::uint32_t share = std::max(1U, table_[root_].total_visits / kInFlightShare / config_.threads);
    const std::uint32_t most = kMostInFlight / config_.threads;
    const int limit = static_cast<int>(std::min({static_cast<std::uint32_t>(config_.batch_size), share, most}));
    batch.empty(limit);
    batches_.push_back(&batch);
    const int collisions_allowed = limit * config_.threads / kCollisionShare;
    int free = 0, collisions = 0;
    while (static_cast<int>(batch.size()) < limit && free < kFreePlayouts * limit) {
        if (progress_.playouts + in_flight_ >= max_playouts_) break;
        if (table_.is_exhausted()) {
            progress_.is_exhausted = in_flight_ == 0;
            break;
        }
        const Descent descent = walk(state, sink, batch, lock);
        if (descent == Descent::kDone) {
            ++free;
        } else if (descent == Descent::kCollision) {
            if (++collisions > collisions_allowed) break;
        } else if (descent == Descent::kStuck) {
            progress_.is_exhausted = in_flight_ == 0;
            break;
        }
    }
    take_back(batch.collided_);
    batch.collided_.clear();
    if (batch.size() == 0) retire(batch);
}

// Walks down and back up; leaves the state as it was, and nothing in flight if it throws.
Puct::Descent Puct::walk(State& state, LeafSink& sink, Batch& batch, Lock& lock) {
    const std::size_t first_step = batch.steps_.size();
    std::size_t unfinished = 1;
    in_flight_ += unfinished;
    try {
        const Descent descent = descend(state, sink, batch, first_step, lock);
        const std::size_t depth = batch.steps_.size() - first_step;
        if (descent != Descent::kNew) {
            const auto path = batch.steps_.begin() + static_cast<std::ptrdiff_t>(first_step);
            if (descent == Descent::kCollision) {
                batch.collided_.insert(batch.collided_.end(), path, batch.steps_.end());
            }
            batch.steps_.erase(path, batch.steps_.end());
            in_flight_ -= unfinished;
        }
        unfinished = 0;
        for (std::size_t i = 0; i < depth; ++i) state.pop();
        return descent;
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        // All steps are in flight: those of the leaves and, after them, those of an unfinished walk.
        take_back(batch.steps_);
        take_back(batch.collided_);
        in_flight_ -= batch.size() + unfinished;
        retire(batch);
        throw;
    }
}

// Plays the selected moves on the state, noting them in the batch, until the playout ends.
Puct::Descent Puct::descend(State& state, LeafSink& sink, Batch& batch, std::size_t first_step, Lock& lock) {
    auto& steps = batch.steps_;
    NodeIndex place = root_;
    while (true) {
        const bool is_root = place == root_;
        const int i = selection_.select(table_, place, is_root, is_root ? masked_ : kNoMask);
        if (i < 0) {  // The last open move was settled, perhaps by way of another parent.
            table_.recompute(place);
            if (is_root) return Descent::kStuck;
            complete(batch, first_step, steps.size());
            return Descent::kDone;
        }
        table_.try_moves(place, i + 1);
        steps.push_back({place, i});
        Node& node = table_[place];
        ++table_.edges(node)[i].pending;
        ++node.in_flight;
        if (const NodeIndex next = table_.edges(node)[i].child; next != kNoNode) table_.prefetch_node(next);
        state.push(table_.moves(node)[i].move);
        if (const auto end = state.repetition()) {
            complete(batch, first_step, steps.size(), worth(*end, state));
            return Descent::kDone;
        }
        NodeIndex child = table_.edges(node)[i].child;
        if (child == kNoNode) {
            const std::uint64_t key = state.key();
            const std::uint32_t ply = state.ply();
            child = table_.find(key, ply);
            if (child == kNoNode) {
                if (is_waiting(key, batch)) return Descent::kCollision;
                batch.examined_ = key;
                lock.unlock();
                const auto settled = settle(state);
                if (!settled) add_leaf(state, sink, batch, first_step);
                lock.lock();
                batch.examined_.reset();
                if (!settled) {
                    batch.waiting_.add(key);
                    return Descent::kNew;
                }
                if (table_.is_full()) {
                    complete(batch, first_step, steps.size(), settled->value);
                    return Descent::kDone;
                }
                child = add_settled(key, ply, *settled);
            }
            table_.edges(node)[i].child = child;
        }
        if (table_[child].proof != Proof::kUnknown || table_[child].total_visits > table_.child_visits(place, i)) {
            complete(batch, first_step, steps.size());
            return Descent::kDone;
        }
        place = child;
        if (batch.is_cold) {
            table_.prefetch_lists(place);
            table_.prefetch_children(place);
        }
    }
}

// Is the position a leaf already, or about to become one?
bool Puct::is_waiting(std::uint64_t key, const Batch& own) const noexcept {
    if (own.waiting_.has(key)) return true;
    return std::any_of(batches_.begin(), batches_.end(), [&](const Batch* batch) {
        return batch != &own && (batch->examined_ == key || batch->waiting_.has(key));
    });
}

// The certain value of a state that is over or whose side to move has a mate.
std::optional<Puct::Settled> Puct::settle(State& state) const {
    if (const auto outcome = state.outcome()) {
        const Proof proof = *outcome == 0.0 ? Proof::kDraw : *outcome > 0.0 ? Proof::kWin : Proof::kLoss;
        std::vector<Move> moves;
        if (proof == Proof::kWin) state.legal_moves(moves);
        const bool is_declared = !moves.empty();  // Declaring takes a ply.
        return Settled{{}, proof, static_cast<int>(is_declared), worth(*outcome, state)};
    }
    if (config_.mate_nodes == 0) return {};
    const auto mate = state.find_mate(config_.mate_nodes);
    if (!mate) return {};
    return Settled{mate->move, Proof::kWin, mate->length, +1.0};
}

// An outcome's value for the side to move, draws at their set worth.
double Puct::worth(double outcome, State& state) const {
    if (outcome != 0.0) return outcome;
    return state.turn() == 0 ? draw_value_first_ : -draw_value_first_;
}

void Puct::add_leaf(State& state, LeafSink& sink, Batch& batch, std::size_t first_step) {
    const std::size_t first_move = batch.moves_.size();
    state.legal_moves(batch.moves_);
    sink.add(batch.size());
    batch.leaves_.push_back({state.key(), state.ply(), state.turn(), first_step, batch.steps_.size(), first_move,
                             batch.moves_.size()});
}

NodeIndex Puct::add_settled(std::uint64_t key, std::uint32_t ply, const Settled& settled) {
    constexpr double kCertain = 1.0;
    const auto moves = settled.mate ? std::span(&*settled.mate, 1) : std::span<const Move>();
    const NodeIndex place = table_.add(key, ply, moves, &kCertain, settled.value);
    table_[place].settle(settled.proof, settled.distance, settled.value);
    table_[place].is_complete = false;
    return place;
}

void Puct::expand(Batch& batch) {
    const Lock lock(mutex_);
    const double* policy = batch.policies.data();
    if (batch.is_cold) prefetch(batch);
    std::size_t first_step = 0;
    try {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            expand(batch, i, policy);
            first_step = batch.leaf(i).last_step;
            policy += batch.moves(i).size();
        }
    } catch (...) {  // There is no memory left.
        take_back(std::span(batch.steps_).subspan(first_step));
        in_flight_ -= batch.size();
        retire(batch);
        throw;
    }
    in_flight_ -= batch.size();
    retire(batch);
}

// Turns one leaf into a node.
void Puct::expand(const Batch& batch, std::size_t i, const double* policy) {
    const Leaf& leaf = batch.leaf(i);
    const double value = batch.values[i];
    if (root_ == kNoNode) {
        add_root(leaf, batch.moves(i), policy, value);
        return;
    }
    if (table_.is_full()) {
        complete(batch, leaf.first_step, leaf.last_step, static_cast<float>(value));
    } else {
        const NodeIndex child = table_.add(leaf.key, leaf.ply, batch.moves(i), policy, value);
        const Batch::Step last = batch.steps_[leaf.last_step - 1];
        table_.edges(table_[last.node])[last.move].child = child;
        complete(batch, leaf.first_step, leaf.last_step);
    }
    ++progress_.evaluations;
}

// Asks for the nodes on the paths of a batch that was long away.
void Puct::prefetch(const Batch& batch) const noexcept {
    for (const auto& step : batch.steps_) table_.prefetch_node(step.node);
    for (const auto& step : batch.steps_) table_.prefetch_lists(step.node);
    for (const auto& step : batch.steps_) table_.prefetch_children(step.node);
}

void Puct::retract(Batch& batch) noexcept {
    const Lock lock(mutex_);
    take_back(batch.steps_);
    in_flight_ -= batch.size();
    retire(batch);
}

void Puct::wait_for_others(bool is_helper) {
    Lock lock(mutex_);
    if (in_flight_ != 0 || is_helper) expanded_.wait_for(lock, kPatience);
}

// Counts a playout on its path, from the leaf up. path_value: the result for the side to move at the leaf,
// where only the path decides it or no node could be stored.
void Puct::complete(const Batch& batch, std::size_t first_step, std::size_t last_step,
                    std::optional<double> path_value) {
    const auto& steps = batch.steps_;
    if (path_value) table_.add_repetition(steps[last_step - 1].node, steps[last_step - 1].move, -*path_value);
    for (std::size_t at = last_step; at-- > first_step;) {
        Node& node = table_[steps[at].node];
        Edge& edge = table_.edges(node)[steps[at].move];
        --edge.pending;
        --node.in_flight;
        ++edge.visits;
        table_.recompute(steps[at].node);
    }
    ++progress_.playouts;
    progress_.depth_sum += last_step - first_step;
    progress_.max_depth = std::max<std::uint64_t>(progress_.max_depth, last_step - first_step);
}

// Takes playouts back that will not be completed.
void Puct::take_back(std::span<const Batch::Step> steps) noexcept {
    for (const auto& step : steps) {
        Node& node = table_[step.node];
        --table_.edges(node)[step.move].pending;
        --node.in_flight;
    }
}

// Nothing of the batch waits any more.
void Puct::retire(Batch& batch) noexcept {
    if (batch.size() != 0) expanded_.notify_all();
    batch.examined_.reset();
    batch.leaves_.clear();
    batch.steps_.clear();
    batch.collided_.clear();
    std::erase(batches_, &batch);
}

}  // namespace goryu
