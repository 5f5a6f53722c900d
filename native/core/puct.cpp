#include "puct.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

namespace goryu {
namespace {

// The most playouts completed without an evaluation, per position of a batch.
constexpr double kFreePlayouts = 2.4;
// At most 1/16 of the root's visits may be in flight.
constexpr std::uint32_t kInFlightShare = 16;
// What a node can count in 16 bits: leaves and collisions, of which a batch may have one too many.
constexpr std::uint32_t kMostInFlight = 0xFFFF;
// A batch may have 4 collisions for each of its positions, and all batches together 1/4 of the root's visits;
// small batches end at the first.
constexpr std::uint32_t kLeastBatchWithCollisions = 8;
constexpr std::uint32_t kCollisionsPerPosition = 4;
constexpr std::uint32_t kCollisionShare = 4;
// The longest that a thread with nothing to do waits for the others.
constexpr std::chrono::milliseconds kPatience{1};

// Of final_move.py.
constexpr double kLcbSigmas = 5.0;
constexpr double kLcbShare = 0.2;
constexpr double kLcbVisits = 10.0;

// When that many playouts have come to a position, the search looks for a mate again.
constexpr std::uint32_t kEarliestSecondLook = 32;
constexpr std::uint32_t kLatestSecondLook = 512;

const Mask kNoMask;

bool is_time_for_second_look(std::uint32_t visits) noexcept {
    return std::has_single_bit(visits) && visits >= kEarliestSecondLook && visits <= kLatestSecondLook;
}

// Gives a lock back until its end, also when an exception passes.
class Unlocked {
public:
    explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
    ~Unlocked() { lock_.lock(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

private:
    std::unique_lock<std::mutex>& lock_;
};

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
    batch.empty();

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
    Leaf leaf{};
    look(state, sink, batch, 0, leaf);
    batch.leaves_.push_back(leaf);
    batch.in_flight_ = 1;
    ++in_flight_;
}

void Puct::add_root(const Leaf& leaf, std::span<const LegalMove> moves, double value) {
    root_ = table_.add(leaf.key, leaf.ply, moves, value);
    table_.sort_moves(table_[root_]);
    if (kept_mate_) add_mate(root_, kept_mate_->line, kept_mate_->key, kept_mate_->ply);
}

bool Puct::add_mate(State& state, std::span<const Move> line) {
    const Lock lock(mutex_);
    const NodeIndex index = table_.find(state.key());
    if (index == kNoNode || table_[index].proof != Proof::kUnknown) return false;
    return add_mate(index, state, line);
}

// Proves a node, the state's.
bool Puct::add_mate(NodeIndex index, State& state, std::span<const Move> line) {
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
        if (waiting_.has(key)) return false;
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
    batch.empty();
    const Limits limits = limits_of(batch);
    Line line(state);
    try {
        for (Tally tally; tally.goes_on && batch.size() < limits.leaves;) {
            walk_until(config_.threads == 1 ? 1 : limits.leaves - batch.size(), line, batch, limits, tally, lock);
            if (batch.found_.empty()) break;
            lock.unlock();
            examine(line, sink, batch);
            lock.lock();
            tally.free += settle(batch);
        }
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        abandon(batch);
        throw;
    }
    batch.expansions_seen_ = expansions_;
    if (batch.size() == 0) retire(batch);
    lock.unlock();
    line.take_back(0);
}

Puct::Limits Puct::limits_of(const Batch& batch) const noexcept {
    const auto threads = static_cast<std::uint32_t>(config_.threads), visits = table_[root_].total_visits;
    const std::uint32_t most = (kMostInFlight / threads - 1) / 2;
    const auto room = static_cast<std::uint32_t>(batch.most != 0 ? batch.most : config_.batch_size);
    const std::uint32_t leaves = std::min({room, std::max(1U, visits / kInFlightShare / threads), most});
    std::uint32_t collisions = 0;
    if (leaves >= kLeastBatchWithCollisions) {
        collisions = std::min({kCollisionsPerPosition * leaves, visits / kCollisionShare / threads, most});
    }
    return {leaves, collisions, kFreePlayouts * leaves};
}

// Walks until `found` positions may become leaves, or the batch may have no other walk.
void Puct::walk_until(std::size_t found, Line& line, Batch& batch, const Limits& limits, Tally& tally,
                      Lock& lock) {
    while (tally.goes_on && batch.found_.size() < found) {
        tally.goes_on = tally.free < limits.free && has_room(in_flight_);
        if (!tally.goes_on) return;
        switch (walk(line, batch, lock)) {
            case Descent::kNew:
                break;
            case Descent::kFree:
                ++tally.free;
                break;
            case Descent::kCollision:
                tally.goes_on = ++tally.collisions <= limits.collisions;
                break;
            case Descent::kStuck:
                progress_.is_exhausted = in_flight_ == 0;
                tally.goes_on = false;
                break;
        }
    }
}

// Walks down from the root until the playout ends or has to wait.
Puct::Descent Puct::walk(Line& line, Batch& batch, Lock& lock) {
    auto& steps = batch.steps_;
    const std::size_t first_step = steps.size();
    const auto drop = [&] { steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(first_step), steps.end()); };
    ++in_flight_;
    ++batch.in_flight_;
    try {
        const Descent descent = descend(line, batch, first_step, lock);
        if (descent == Descent::kNew) return descent;
        if (descent == Descent::kCollision) {
            batch.collided_.insert(batch.collided_.end(), steps.begin() + static_cast<std::ptrdiff_t>(first_step),
                                   steps.end());
        }
        drop();
        --in_flight_;
        --batch.in_flight_;
        return descent;
    } catch (...) {
        cancel(Path(steps).subspan(first_step));
        drop();
        throw;
    }
}

// Follows the selected moves, noting them in the batch. No position of the line repeats another one.
Puct::Descent Puct::descend(Line& line, Batch& batch, std::size_t first_step, Lock& lock) {
    State& state = line.state();
    const auto path = [&] { return Path(batch.steps_).subspan(first_step); };
    NodeIndex index = root_;
    for (int i; (i = select(index)) >= 0;) {
        const std::size_t depth = batch.steps_.size() - first_step;
        const Move move = enter(index, i, batch);
        const Node& node = table_[index];
        if (const NodeIndex next = table_.edges(node)[i].child; next != kNoNode) table_.prefetch_node(next);
        if (line.play(depth, move)) {
            if (const auto end = state.repetition()) {
                if (index == root_) {  // The game is the only path here; what others found behind the move is void.
                    Edge& edge = table_.edges(node)[i];
                    edge.child = kNoNode;
                    edge.visits = 0;
                }
                const double value = outcome_value(*end, state);
                line.take_back(depth);
                back_up(path(), value);
                return Descent::kFree;
            }
        }
        NodeIndex child = table_.edges(node)[i].child;
        if (child == kNoNode) {
            line.take_back(depth + 1);
            const std::uint64_t key = state.key();
            child = table_.find(key);  // Here paths merge.
            if (child == kNoNode) {
                if (waiting_.has(key)) return Descent::kCollision;
                waiting_.make_room();  // Nothing fails after the position has been noted.
                batch.found_.push_back({{key, state.ply(), state.turn(), first_step, batch.steps_.size(), 0, 0}, {}});
                waiting_.add(key);
                return Descent::kNew;
            }
            table_.edges(node)[i].child = child;
        }
        if (table_[child].proof != Proof::kUnknown || table_[child].total_visits > table_.child_visits(index, i)) {
            back_up(path());  // The value is certain, or the child is ahead of its edge.
            return Descent::kFree;
        }
        index = child;
        if (is_solved_now(index, line, depth + 1, lock)) {
            back_up(path());
            return Descent::kFree;
        }
        if (batch.is_cold) {
            table_.prefetch_lists(index);
            table_.prefetch_children(index);
        }
    }
    table_.recompute(index);  // Its last open move was proven, perhaps by way of another parent.
    if (index == root_) return Descent::kStuck;
    back_up(path());
    return Descent::kFree;
}

// Looks for a mate again, without the lock, if it is time to; is the node proven now? depth: of the node.
bool Puct::is_solved_now(NodeIndex index, Line& line, std::size_t depth, Lock& lock) {
    const std::uint32_t visits = table_[index].total_visits + table_[index].in_flight;
    if (config_.mate_nodes_per_visit == 0 || !is_time_for_second_look(visits)) return false;
    line.take_back(depth);
    std::span<const Move> mate;
    {
        const Unlocked unlocked(lock);
        mate = line.state().find_mate(config_.mate_nodes_per_visit * static_cast<int>(visits), visits);
    }
    if (table_[index].proof != Proof::kUnknown) return true;  // Another thread has found it meanwhile.
    return !mate.empty() && add_mate(index, line.state(), mate);
}

// Looks at the positions that the walks have found: all that needs rules and not the graph.
void Puct::examine(Line& line, LeafSink& sink, Batch& batch) const {
    std::size_t leaves = batch.size();
    for (auto& [leaf, certain] : batch.found_) {
        const Path path = batch.path(leaf);
        for (std::size_t depth = 0; depth < path.size(); ++depth) line.play(depth, path[depth].move);
        line.take_back(path.size());
        certain = prove(line.state());
        if (!certain) look(line.state(), sink, batch, leaves++, leaf);
    }
}

// Turns what was found into leaves, and into nodes where the value is certain; returns how many are certain.
std::uint32_t Puct::settle(Batch& batch) {
    std::uint32_t count = 0;
    batch.leaves_.reserve(batch.size() + batch.found_.size());
    for (auto& [leaf, certain] : batch.found_) {
        if (!certain) continue;
        const Path path = batch.path(leaf);
        const NodeIndex child =
            table_.add_proven(leaf.key, leaf.ply, certain->proof, certain->distance, certain->value, certain->line);
        table_.edges(table_[path.back().node])[path.back().index].child = child;
        back_up(path);
        waiting_.remove(leaf.key);
        leaf.last_step = leaf.first_step;  // There is nothing left to cancel.
        --in_flight_;
        --batch.in_flight_;
        ++count;
    }
    for (const auto& [leaf, certain] : batch.found_) {
        if (!certain) batch.leaves_.push_back(leaf);
    }
    batch.found_.clear();
    return count;
}

// The index of the move that a playout takes, or -1 if none is worth one.
int Puct::select(NodeIndex index) const noexcept {
    if (index != root_) return selection_.select(table_, index, kNoMask, false);
    return root_selection_.select(table_, index, masked_, true);
}

// Counts a playout through move i as in flight, notes it, and returns the move.
Move Puct::enter(NodeIndex index, int i, Batch& batch) {
    table_.try_moves(index, i + 1);
    Node& node = table_[index];
    const Move move = table_.moves(node)[i].move;
    batch.steps_.push_back({index, static_cast<std::uint16_t>(i), move});
    ++table_.edges(node)[i].pending;
    ++node.in_flight;
    return move;
}

// The certain value of a state that is over or whose side to move has a mate.
std::optional<Certain> Puct::prove(State& state) const {
    if (const auto outcome = state.outcome()) {
        const Proof proof = *outcome == 0.0 ? Proof::kDraw : *outcome > 0.0 ? Proof::kWin : Proof::kLoss;
        std::vector<Move> moves;
        if (proof == Proof::kWin) state.legal_moves(moves);
        const int distance = moves.empty() ? 0 : 1;  // A declaration of a win takes a ply.
        return Certain{proof, distance, outcome_value(*outcome, state), {}};
    }
    if (config_.mate_nodes == 0) return {};
    const auto line = state.find_mate(config_.mate_nodes, 0);
    if (line.empty()) return {};
    return Certain{Proof::kWin, static_cast<int>(line.size()), +1.0, {line.begin(), line.end()}};
}

// An outcome's value for the side to move; that of a draw is configured.
double Puct::outcome_value(double outcome, State& state) const {
    if (outcome != 0.0) return outcome;
    return state.turn() == 0 ? draw_value_first_ : -draw_value_first_;
}

// Fills in what a leaf says of the state, and sends it to the sink. number: of the leaf in its batch.
void Puct::look(State& state, LeafSink& sink, Batch& batch, std::size_t number, Leaf& leaf) {
    leaf.key = state.key();
    leaf.ply = state.ply();
    leaf.turn = state.turn();
    leaf.first_move = batch.moves_.size();
    state.legal_moves(batch.moves_);
    leaf.last_move = batch.moves_.size();
    sink.add(number);
}

void Puct::expand(Batch& batch) {
    Lock lock(mutex_, std::defer_lock);
    std::size_t i = 0;
    try {
        batch.ranked_.resize(batch.moves_.size());
        const double* policy = batch.policies.data();
        for (const Leaf& leaf : batch.leaves_) {
            const std::size_t count = leaf.last_move - leaf.first_move;
            NodeTable::rank({batch.moves_.data() + leaf.first_move, count}, policy, &batch.ranked_[leaf.first_move]);
            policy += count;
        }
        lock.lock();
        if (batch.is_cold) prefetch(batch);
        for (; i < batch.size(); ++i) expand(batch, i);
    } catch (...) {  // There is no memory left.
        if (!lock.owns_lock()) lock.lock();
        for (; i < batch.size(); ++i) cancel(batch.path(batch.leaf(i)));
        retire(batch);
        throw;
    }
    retire(batch);
    table_.fit();  // A large batch may have tried many moves.
}

// Turns one leaf into a node.
void Puct::expand(const Batch& batch, std::size_t i) {
    const Leaf& leaf = batch.leaf(i);
    const double value = batch.values[i];
    const auto moves = std::span(batch.ranked_).subspan(leaf.first_move, leaf.last_move - leaf.first_move);
    const Path path = batch.path(leaf);
    if (path.empty()) {
        add_root(leaf, moves, value);
        return;
    }
    const NodeIndex child = table_.add(leaf.key, leaf.ply, moves, value);
    table_.edges(table_[path.back().node])[path.back().index].child = child;
    back_up(path);
    ++progress_.evaluations;
}

// Fetches the nodes on the paths to a batch's leaves, after an evaluation that took long. The other steps of the batch
// belong to playouts that have been backed up: their nodes may have been freed meanwhile.
void Puct::prefetch(const Batch& batch) const noexcept {
    const auto for_each_node = [&](auto fetch) {
        for (const Leaf& leaf : batch.leaves_) {
            for (const auto& step : batch.path(leaf)) fetch(step.node);
        }
    };
    for_each_node([&](NodeIndex node) { table_.prefetch_node(node); });
    for_each_node([&](NodeIndex node) { table_.prefetch_lists(node); });
    for_each_node([&](NodeIndex node) { table_.prefetch_children(node); });
}

void Puct::retract(Batch& batch) noexcept {
    const Lock lock(mutex_);
    abandon(batch);
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
    contest(seen);
    return seen;
}

// Sets the move that would be played now, and the playouts that another needs: `contest` of final_move.py.
void Puct::contest(Snapshot& seen) const {
    const Node& root = table_[root_];
    const auto visits = [&](int i) { return table_.edges(root)[i].visits; };
    const auto variance = [&](int i) { return static_cast<double>(table_[table_.edges(root)[i].child].variance); };
    const auto is_open = [&](int i) {
        return visits(i) != 0 && !(i < std::ssize(masked_) && masked_[i]) && !table_.is_certain(root_, i);
    };
    int favourite = -1;  // The most visited move.
    for (int i = 0; i < root.tried; ++i) {
        if (is_open(i) && (favourite < 0 || visits(i) > visits(favourite))) favourite = i;
    }
    if (favourite < 0) return;
    const double most = visits(favourite), contends = std::max(kLcbVisits, kLcbShare * most);
    const auto bound_of = [&](int i) {
        return table_.edge_value(root_, i) - kLcbSigmas * std::sqrt(variance(i) / visits(i));
    };
    int best = favourite;
    double bound = bound_of(favourite);
    for (int i = 0; config_.plays_by_bound && i < root.tried; ++i) {
        if (i == favourite || !is_open(i) || visits(i) < contends) continue;
        const double other = bound_of(i);
        if (other > bound || (other == bound && visits(i) > visits(best))) {
            best = i;
            bound = other;
        }
    }
    double needed = most;
    for (int i = 0; i < root.tried; ++i) {
        if (i == best || !is_open(i)) continue;
        needed = std::min(needed, most - visits(i));
        const double above = table_.edge_value(root_, i) - bound;
        if (!config_.plays_by_bound || !(above > 0.0)) continue;
        const double sigmas = kLcbSigmas * std::sqrt(variance(i)) / above;
        needed = std::min(needed, std::max(0.0, std::max(contends, sigmas * sigmas) - visits(i)));
    }
    seen.best_move = best;
    seen.lead = static_cast<std::int64_t>(std::ceil(needed));
}

// Completes a playout: counts it on its path, from the leaf up. repetition: the result for the side to move at
// the leaf, if the playout ended by repetition.
void Puct::back_up(Path path, std::optional<double> repetition) {
    if (repetition) table_.add_repetition(path.back().node, path.back().index, -*repetition);
    for (std::size_t at = path.size(); at-- > 0;) {
        Node& node = table_[path[at].node];
        Edge& edge = table_.edges(node)[path[at].index];
        --edge.pending;
        --node.in_flight;
        ++edge.visits;
        table_.recompute(path[at].node);
    }
    ++progress_.playouts;
    progress_.depth_sum += path.size();
    progress_.max_depth = std::max<std::uint64_t>(progress_.max_depth, path.size());
}

// Takes a playout back that will not be completed.
void Puct::cancel(Path path) noexcept {
    for (const auto& step : path) {
        Node& node = table_[step.node];
        --table_.edges(node)[step.index].pending;
        --node.in_flight;
    }
}

// Takes everything back that is in flight.
void Puct::abandon(Batch& batch) noexcept {
    for (const Leaf& leaf : batch.leaves_) cancel(batch.path(leaf));
    for (const auto& found : batch.found_) cancel(batch.path(found.leaf));
    retire(batch);
}

// Nothing of the batch waits any more. Collisions end only now: until the positions are evaluated they keep other
// threads away from them.
void Puct::retire(Batch& batch) noexcept {
    if (batch.size() != 0) {
        ++expansions_;
        expanded_.notify_all();
    }
    cancel(batch.collided_);
    for (const Leaf& leaf : batch.leaves_) waiting_.remove(leaf.key);
    for (const auto& found : batch.found_) waiting_.remove(found.leaf.key);
    in_flight_ -= batch.in_flight_;
    batch.in_flight_ = 0;
    batch.leaves_.clear();
    batch.found_.clear();
    batch.steps_.clear();
    batch.collided_.clear();
}

}  // namespace goryu
