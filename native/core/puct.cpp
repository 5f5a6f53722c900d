#include "puct.h"

#include <algorithm>
#include <chrono>

namespace goryu {
namespace {

// The most playouts completed without an evaluation, per position of a batch.
constexpr double kFreePlayouts = 2.4;
// At most 1/16 of the root's visits may be in flight.
constexpr std::uint32_t kInFlightShare = 16;
// Half of what a node can count in 16 bits; collisions may take the other half.
constexpr std::uint32_t kMostInFlight = 0x7FFF;
// A batch may have 4 collisions for each of its positions, and all batches together 1/4 of the root's visits;
// small batches end at the first.
constexpr std::uint32_t kLeastBatchWithCollisions = 8;
constexpr std::uint32_t kCollisionsPerPosition = 4;
constexpr std::uint32_t kCollisionShare = 4;
// The longest that a thread with nothing to do waits for the others.
constexpr std::chrono::milliseconds kPatience{1};

const Mask kNoMask;

}  // namespace

void Puct::set_config(const PuctConfig& config) {
    if (config.formula != config_.formula) selection_ = Selection(config.formula);
    if (config.root_formula != config_.root_formula) root_selection_ = Selection(config.root_formula);
    config_ = config;
}

void Puct::clear() noexcept {
    table_.clear();
    root_ = kNoNode;
}

void Puct::begin(State& state, LeafSink& sink, Batch& batch, std::uint64_t max_playouts,
                 std::uint64_t max_evaluations) {
    max_playouts_ = max_playouts;
    max_evaluations_ = max_evaluations;
    progress_ = {};
    masked_.clear();
    batch.empty(1);

    const double draw_value = state.turn() == 0 ? config_.draw_value : -config_.draw_value;
    if (draw_value != draw_value_first_) {
        clear();
        draw_value_first_ = draw_value;
    }
    const NodeIndex known = table_.find(state.key());
    if (known != kNoNode && table_[known].is_complete) {
        if (known != root_) table_.prune(known);
        root_ = known;
        table_.sort_moves(table_[root_]);  // The mask goes by a move's index among all.
        return;
    }
    kept_mate_.reset();
    if (known != kNoNode && table_[known].proof == Proof::kWin && table_[known].move_count != 0) {
        kept_mate_.emplace(KeptMate{table_.proof_line(known), 0, 0});
        state.push(kept_mate_->line.front());
        kept_mate_->key = state.key();
        kept_mate_->ply = state.ply();
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
    if (kept_mate_) add_mate(root_, kept_mate_->line, kept_mate_->key, kept_mate_->ply);
}

bool Puct::add_mate(State& state, std::span<const Move> line) {
    const Lock lock(mutex_);
    const NodeIndex index = table_.find(state.key());
    if (index == kNoNode || table_[index].proof != Proof::kUnknown) return false;
    table_.sort_moves(table_[index]);
    const std::span moves(table_.moves(table_[index]), table_[index].move_count);
    if (std::none_of(moves.begin(), moves.end(), [&](LegalMove m) { return m.move == line.front(); })) return false;
    state.push(line.front());
    const std::uint64_t key = state.key();
    const std::uint32_t ply = state.ply();
    state.pop();
    return add_mate(index, line, key, ply);
}

// Proves a node whose moves are sorted. key, ply: of the position after the first move of the line.
bool Puct::add_mate(NodeIndex index, std::span<const Move> line, std::uint64_t key, std::uint32_t ply) {
    const Node& node = table_[index];
    const std::span moves(table_.moves(node), node.move_count);
    const auto found = std::find_if(moves.begin(), moves.end(), [&](LegalMove m) { return m.move == line.front(); });
    const int i = static_cast<int>(found - moves.begin());
    if (found == moves.end() || (i < node.tried && table_.edges(node)[i].has_repetition)) return false;
    const int length = static_cast<int>(line.size());
    NodeIndex child = table_.find(key);
    if (child == kNoNode) {
        const auto awaits = [&](const Batch* b) { return b->examined_ == key || b->waiting_.has(key); };
        if (std::any_of(batches_.begin(), batches_.end(), awaits)) return false;
        child = table_.add_proven(key, ply, Proof::kLoss, length - 1, -1.0, line.subspan(1));
    } else if (table_[child].proof == Proof::kUnknown) {
        table_[child].set_proof(Proof::kLoss, length - 1, -1.0);
        if (table_[child].in_flight == 0) table_.forget_moves(child, line.subspan(1));  // Else a thread needs them.
    }
    table_.try_moves(index, i + 1);
    table_.edges(table_[index])[i].child = child;
    table_[index].set_proof(Proof::kWin, length, +1.0);
    return true;
}

bool Puct::is_finished() {
    const Lock lock(mutex_);
    return progress_.is_exhausted || !has_room(0);
}

// May one more playout start while others wait for their evaluation?
bool Puct::has_room(std::uint64_t waiting) const noexcept {
    return progress_.playouts + waiting < max_playouts_ && progress_.evaluations + waiting < max_evaluations_;
}

void Puct::gather(State& state, LeafSink& sink, Batch& batch) {
    Lock lock(mutex_);
    if (table_.is_full()) table_.make_room(root_);
    table_.fit();
    const std::uint32_t share = std::max(1U, table_[root_].total_visits / kInFlightShare / config_.threads);
    const std::uint32_t most = kMostInFlight / config_.threads;
    const auto room = static_cast<std::uint32_t>(batch.most != 0 ? batch.most : config_.batch_size);
    const std::uint32_t limit = std::min({room, share, most});
    batch.empty(limit);
    batches_.push_back(&batch);
    std::uint32_t allowed = 0;
    if (limit >= kLeastBatchWithCollisions) {
        const std::uint32_t collisions_share = table_[root_].total_visits / kCollisionShare / config_.threads;
        allowed = std::min({kCollisionsPerPosition * limit, collisions_share, most});
    }
    std::uint32_t free = 0, collisions = 0;
    while (batch.size() < limit && free < kFreePlayouts * limit) {
        if (!has_room(in_flight_)) break;
        const Descent descent = walk(state, sink, batch, lock);
        if (descent == Descent::kFree) {
            ++free;
        } else if (descent == Descent::kCollision) {
            if (++collisions > allowed) break;
        } else if (descent == Descent::kStuck) {
            progress_.is_exhausted = in_flight_ == 0;
            break;
        }
    }
    cancel(batch.collided_);
    batch.collided_.clear();
    batch.expansions_seen_ = expansions_;
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
        cancel(batch.steps_);
        cancel(batch.collided_);
        in_flight_ -= batch.size() + unfinished;
        retire(batch);
        throw;
    }
}

// Plays the selected moves on the state, noting them in the batch, until the playout ends.
Puct::Descent Puct::descend(State& state, LeafSink& sink, Batch& batch, std::size_t first_step, Lock& lock) {
    const auto& steps = batch.steps_;
    NodeIndex index = root_;
    for (int i; (i = select(index)) >= 0;) {
        enter(index, i, batch);
        const Node& node = table_[index];
        if (const NodeIndex next = table_.edges(node)[i].child; next != kNoNode) table_.prefetch_node(next);
        state.push(table_.moves(node)[i].move);
        if (const auto end = state.repetition()) {
            if (index == root_) {  // The game is the only path here; what others found behind the move is void.
                Edge& edge = table_.edges(node)[i];
                edge.child = kNoNode;
                edge.visits = 0;
            }
            back_up(batch, first_step, steps.size(), outcome_value(*end, state));
            return Descent::kFree;
        }
        NodeIndex child = table_.edges(node)[i].child;
        if (child == kNoNode) {
            const std::uint64_t key = state.key();
            const std::uint32_t ply = state.ply();
            child = table_.find(key);  // Here paths merge.
            if (child == kNoNode) {
                if (is_waiting(key, batch)) return Descent::kCollision;
                batch.examined_ = key;
                lock.unlock();
                const auto certain = prove(state);
                if (!certain) add_leaf(state, sink, batch, first_step);
                lock.lock();
                batch.examined_.reset();
                if (!certain) {
                    batch.waiting_.add(key);
                    return Descent::kNew;
                }
                child = table_.add_proven(key, ply, certain->proof, certain->distance, certain->value, certain->line);
            }
            table_.edges(node)[i].child = child;
        }
        if (table_[child].proof != Proof::kUnknown || table_[child].total_visits > table_.child_visits(index, i)) {
            back_up(batch, first_step, steps.size());  // The value is certain, or the child is ahead of its edge.
            return Descent::kFree;
        }
        index = child;
        if (batch.is_cold) {
            table_.prefetch_lists(index);
            table_.prefetch_children(index);
        }
    }
    table_.recompute(index);  // Its last open move was proven, perhaps by way of another parent.
    if (index == root_) return Descent::kStuck;
    back_up(batch, first_step, steps.size());
    return Descent::kFree;
}

// The index of the move that a playout takes, or -1 if none is worth one.
int Puct::select(NodeIndex index) const noexcept {
    if (index != root_) return selection_.select(table_, index, kNoMask, false);
    return root_selection_.select(table_, index, masked_, true);
}

// Counts a playout through move i as in flight, and notes it.
void Puct::enter(NodeIndex index, int i, Batch& batch) {
    table_.try_moves(index, i + 1);
    batch.steps_.push_back({index, i});
    Node& node = table_[index];
    ++table_.edges(node)[i].pending;
    ++node.in_flight;
}

// Is the position a leaf already, or about to become one?
bool Puct::is_waiting(std::uint64_t key, const Batch& own) const noexcept {
    if (own.waiting_.has(key)) return true;
    return std::any_of(batches_.begin(), batches_.end(), [&](const Batch* batch) {
        return batch != &own && (batch->examined_ == key || batch->waiting_.has(key));
    });
}

// The certain value of a state that is over or whose side to move has a mate.
std::optional<Puct::Certain> Puct::prove(State& state) const {
    if (const auto outcome = state.outcome()) {
        const Proof proof = *outcome == 0.0 ? Proof::kDraw : *outcome > 0.0 ? Proof::kWin : Proof::kLoss;
        std::vector<Move> moves;
        if (proof == Proof::kWin) state.legal_moves(moves);
        const int distance = moves.empty() ? 0 : 1;  // A declaration of a win takes a ply.
        return Certain{proof, distance, outcome_value(*outcome, state), {}};
    }
    if (config_.mate_nodes == 0) return {};
    const auto line = state.find_mate(config_.mate_nodes);
    if (line.empty()) return {};
    return Certain{Proof::kWin, static_cast<int>(line.size()), +1.0, line};
}

// An outcome's value for the side to move; that of a draw is configured.
double Puct::outcome_value(double outcome, State& state) const {
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
        cancel(std::span(batch.steps_).subspan(first_step));
        in_flight_ -= batch.size();
        retire(batch);
        throw;
    }
    in_flight_ -= batch.size();
    retire(batch);
    table_.fit();  // A large batch may have tried many moves.
}

// Turns one leaf into a node.
void Puct::expand(const Batch& batch, std::size_t i, const double* policy) {
    const Leaf& leaf = batch.leaf(i);
    const double value = batch.values[i];
    if (root_ == kNoNode) {
        add_root(leaf, batch.moves(i), policy, value);
        return;
    }
    const NodeIndex child = table_.add(leaf.key, leaf.ply, batch.moves(i), policy, value);
    const Batch::Step last = batch.steps_[leaf.last_step - 1];
    table_.edges(table_[last.node])[last.move].child = child;
    back_up(batch, leaf.first_step, leaf.last_step);
    ++progress_.evaluations;
}

// Fetches the nodes on the paths of a batch whose evaluation took long.
void Puct::prefetch(const Batch& batch) const noexcept {
    for (const auto& step : batch.steps_) table_.prefetch_node(step.node);
    for (const auto& step : batch.steps_) table_.prefetch_lists(step.node);
    for (const auto& step : batch.steps_) table_.prefetch_children(step.node);
}

void Puct::retract(Batch& batch) noexcept {
    const Lock lock(mutex_);
    cancel(batch.steps_);
    in_flight_ -= batch.size();
    retire(batch);
}

void Puct::wait_for_others(const Batch& batch, bool is_helper) {
    Lock lock(mutex_);
    if (in_flight_ == 0 && !is_helper) return;
    expanded_.wait_for(lock, kPatience, [&] { return expansions_ != batch.expansions_seen_; });
}

Snapshot Puct::snapshot() {
    const Lock lock(mutex_);
    Snapshot seen;
    seen.progress = progress_;
    seen.nodes = table_.size();
    seen.hashfull = table_.hashfull();
    if (root_ == kNoNode) return seen;
    const Node& root = table_[root_];
    seen.is_proven = root.proof != Proof::kUnknown;
    for (int i = 0; i < root.tried; ++i) {
        if (table_.is_certain(root_, i)) continue;
        const std::uint32_t visits = table_.edges(root)[i].visits;
        seen.second_visits = std::max(seen.second_visits, std::min(visits, seen.best_visits));
        seen.best_visits = std::max(seen.best_visits, visits);
    }
    return seen;
}

// Completes a playout: counts it on its path, from the leaf up. repetition: the result for the side to move at
// the leaf, if the playout ended by repetition.
void Puct::back_up(const Batch& batch, std::size_t first_step, std::size_t last_step,
                   std::optional<double> repetition) {
    const auto& steps = batch.steps_;
    if (repetition) table_.add_repetition(steps[last_step - 1].node, steps[last_step - 1].move, -*repetition);
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
void Puct::cancel(std::span<const Batch::Step> steps) noexcept {
    for (const auto& step : steps) {
        Node& node = table_[step.node];
        --table_.edges(node)[step.move].pending;
        --node.in_flight;
    }
}

// Nothing of the batch waits any more.
void Puct::retire(Batch& batch) noexcept {
    if (batch.size() != 0) {
        ++expansions_;
        expanded_.notify_all();
    }
    batch.examined_.reset();
    batch.leaves_.clear();
    batch.steps_.clear();
    batch.collided_.clear();
    std::erase(batches_, &batch);
}

}  // namespace goryu
