#include "puct.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <tuple>
#include <utility>

#include "final_move.h"

namespace goryu {
namespace {

// No walk begins when that many playouts have been completed without an evaluation, per position of a batch.
constexpr double kFreePlayouts = 2.4;
// At most 1/16 of the root's visits may be in flight.
constexpr std::uint32_t kVisitsPerPosition = 16;
// What a node can count in 16 bits: leaves and collisions, of which a batch may have one too many.
constexpr std::uint32_t kMostInFlight = 0xFFFF;
// A batch may have 4 collisions for each of its positions, and all batches together 1/4 of the root's visits;
// small batches end at the first.
constexpr std::uint32_t kLeastBatchWithCollisions = 8;
constexpr std::uint32_t kCollisionsPerPosition = 4;
constexpr std::uint32_t kVisitsPerCollision = 4;
// The longest that a thread with nothing to do waits for the others.
constexpr std::chrono::milliseconds kPatience{1};
// With several threads a batch with that share of its positions is full: another walk would wait for the lock.
constexpr double kFullEnough = 0.75;

// When that many playouts have come to a position, the search looks for a mate again.
constexpr std::uint32_t kEarliestSecondLook = 32;
constexpr std::uint32_t kLatestSecondLook = 512;

const Mask kNoMask;

// Gives a lock back until its end, also when an exception passes.
class Unlocked {
public:
    explicit Unlocked(std::unique_lock<Mutex>& lock) : lock_(lock) { lock_.unlock(); }
    ~Unlocked() { lock_.lock(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

private:
    std::unique_lock<Mutex>& lock_;
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
    return progress_.is_exhausted || room(0) == 0;
}

// How many more playouts may start while others wait for their evaluation?
std::uint64_t Puct::room(std::uint64_t waiting) const noexcept {
    const auto below = [](std::uint64_t used, std::uint64_t most) { return used < most ? most - used : 0; };
    return std::min(below(progress_.playouts + waiting, max_playouts_),
                    below(progress_.evaluations + waiting, max_evaluations_));
}

void Puct::gather(State& state, LeafSink& sink, Batch& batch) {
    Lock lock(mutex_);
    if (table_.is_full()) table_.make_room(root_);
    table_.fit();
    batch.empty();
    const Limits limits = limits_of(batch);
    Walk walk{Line(state), batch, lock};
    try {
        for (Tally tally; tally.goes_on && batch.size() < limits.leaves;) {
            walk_until(config_.threads == 1 ? 1 : limits.leaves - batch.size(), walk, limits, tally);
            if (batch.found_.empty()) break;
            lock.unlock();
            examine(walk.line, sink, batch);
            if (config_.threads != 1 && batch.size() >= kFullEnough * limits.leaves) break;
            lock.lock();
            tally.free += settle(batch);
        }
    } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        abandon(batch);
        throw;
    }
    if (batch.size() == 0) {
        batch.expansions_seen_ = expansions_;
        retire(batch);
    }
    if (lock.owns_lock()) lock.unlock();
    walk.line.take_back(0);
}

Puct::Limits Puct::limits_of(const Batch& batch) const noexcept {
    const auto threads = static_cast<std::uint32_t>(config_.threads), visits = table_[root_].total_visits;
    const std::uint32_t most = (kMostInFlight / threads - 1) / 2;
    const auto room = static_cast<std::uint32_t>(batch.most != 0 ? batch.most : config_.batch_size);
    const std::uint32_t leaves = std::min({room, std::max(1U, visits / kVisitsPerPosition / threads), most});
    std::uint32_t collisions = 0;
    if (leaves >= kLeastBatchWithCollisions) {
        collisions = std::min({kCollisionsPerPosition * leaves, visits / kVisitsPerCollision / threads, most});
    }
    return {leaves, collisions, kFreePlayouts * leaves};
}

// Walks until `found` positions may become leaves, or the batch may have no other walk.
void Puct::walk_until(std::size_t found, Walk& walk, const Limits& limits, Tally& tally) {
    Batch& batch = walk.batch;
    while (tally.goes_on && batch.found_.size() < found) {
        const std::size_t before = batch.found_.size();
        // One playout by one would stop at the limit of collisions; so must many at once.
        const std::uint64_t most = std::min<std::uint64_t>(found - before, 1 + limits.collisions - tally.collisions);
        const auto count = static_cast<std::uint32_t>(std::min(most, room(in_flight_)));
        tally.goes_on = tally.free < limits.free && count != 0;
        if (!tally.goes_on) return;
        in_flight_ += count;
        batch.in_flight_ += count;
        const Ends ends = send(root_, count, walk);
        const std::size_t ended = count - (batch.found_.size() - before);
        in_flight_ -= ended;
        batch.in_flight_ -= ended;
        tally.free += ends.completed;
        tally.collisions += ends.collided;
        tally.goes_on = tally.collisions <= limits.collisions;
        if (ends.completed + ends.collided != ended) {  // The others have found no open move at the root.
            progress_.is_exhausted = in_flight_ == 0;
            tally.goes_on = false;
        }
    }
}

// Sends playouts down from a node, to which the path leads. All choose a move before the first goes on; those with the
// same move go on together.
Puct::Ends Puct::send(NodeIndex index, std::uint32_t count, Walk& walk) {
    const std::size_t first = walk.counts.size();
    Ends ends;
    try {
        if (const std::uint32_t left = choose(index, count, walk); left != 0) {
            table_.recompute(index);  // Its last open move was proven, perhaps by way of another parent.
            if (index != root_) ends = complete(left, walk);
        }
        for (std::size_t at = first, last = walk.counts.size(); at < last; ++at) {
            if (walk.counts[at] == 0) continue;
            const Ends found = follow(index, static_cast<int>(at - first), std::exchange(walk.counts[at], 0), walk);
            ends.completed += found.completed;
            ends.collided += found.collided;
        }
    } catch (...) {
        for (std::size_t at = first; at < walk.counts.size(); ++at) {
            cancel(index, static_cast<std::uint32_t>(at - first), walk.counts[at]);
        }
        walk.counts.resize(first);
        table_.recompute(index);  // Some may have been completed.
        throw;
    }
    walk.counts.resize(first);
    if (ends.completed != 0) table_.recompute(index);
    return ends;
}

// Counts playouts as in flight through the moves that they select, and notes how many take each. Returns how many
// find no open move.
std::uint32_t Puct::choose(NodeIndex index, std::uint32_t count, Walk& walk) {
    const std::size_t first = walk.counts.size();
    for (int i; count != 0 && (i = select(index)) >= 0; --count) {
        table_.try_moves(index, i + 1);
        const auto at = first + static_cast<std::size_t>(i);
        if (walk.counts.size() <= at) walk.counts.resize(at + 1);
        ++walk.counts[at];
        Node& node = table_[index];
        Edge& edge = table_.edges(node)[i];
        if (++edge.pending == 1 && edge.child != kNoNode) table_.prefetch_node(edge.child);
        ++node.in_flight;
    }
    return count;
}

// Sends playouts through a move that they have chosen.
Puct::Ends Puct::follow(NodeIndex index, int i, std::uint32_t count, Walk& walk) {
    Batch& batch = walk.batch;
    const std::size_t before = batch.found_.size();
    const auto number = static_cast<std::uint16_t>(i);
    Ends ends;
    try {
        walk.path.push_back({index, number, table_.moves(table_[index])[i].move});
        ends = arrive(index, i, count, walk);
        if (ends.collided != 0) batch.collided_.push_back({index, number, static_cast<std::uint16_t>(ends.collided)});
    } catch (...) {
        cancel(index, number, count - static_cast<std::uint32_t>(batch.found_.size() - before));
        throw;
    }
    walk.path.pop_back();
    if (ends.completed != 0) {
        cancel(index, number, ends.completed);
        table_.edges(table_[index])[i].visits += ends.completed;
    }
    return ends;
}

// Plays the last move of the path, move i of a node, and goes on from there.
Puct::Ends Puct::arrive(NodeIndex index, int i, std::uint32_t count, Walk& walk) {
    State& state = walk.line.state();
    Edge& edge = table_.edges(table_[index])[i];
    const std::size_t depth = walk.path.size();
    if (walk.line.play(depth - 1, walk.path.back().move)) {
        if (const auto end = state.repetition()) {
            const double value = -outcome_value(*end, state);
            walk.line.take_back(depth - 1);
            if (index != root_) {
                table_.add_repetition(index, i, value, count);
                return complete(count, walk);
            }
            // The first repetition closes the move. While the lock was free, another thread may have come first.
            if (edge.has_repetition) return {0, count};
            table_.add_repetition(index, i, value, 1);
            edge.child = kNoNode;  // The game is the only path here; what others found behind the move is void.
            edge.visits = 0;
            return {complete(1, walk).completed, count - 1};
        }
    }
    NodeIndex child = edge.child;
    if (child == kNoNode) {
        walk.line.take_back(depth);
        child = table_.find(state.key());  // Here paths merge.
        if (child == kNoNode) return {0, note(walk) ? count - 1 : count};
        edge.child = child;
    }
    if (table_[child].proof != Proof::kUnknown || lead_of(child, index, i) >= count) {
        return complete(count, walk);  // The value is certain, or the child is ahead of its edge.
    }
    if (is_solved_now(child, count, walk)) return complete(count, walk);
    const std::uint32_t lead = std::min(count, lead_of(child, index, i));  // Others may have gained while it looked.
    const Ends ends = complete(lead, walk);
    if (lead == count) return ends;
    if (walk.batch.is_cold) {
        table_.prefetch_lists(child);
        table_.prefetch_children(child);
    }
    const Ends below = send(child, count - lead, walk);
    return {ends.completed + below.completed, below.collided};
}

// By how many visits is a child ahead of the edge of one of its parents?
std::uint32_t Puct::lead_of(NodeIndex child, NodeIndex parent, int i) const noexcept {
    const std::uint32_t visits = table_[child].total_visits, counted = table_.child_visits(parent, i);
    return visits > counted ? visits - counted : 0;
}

// Notes that the path has found a position without a node, unless it waits already.
bool Puct::note(const Walk& walk) {
    State& state = walk.line.state();
    Batch& batch = walk.batch;
    const std::uint64_t key = state.key();
    if (waiting_.has(key)) return false;
    waiting_.make_room();  // Nothing fails after the position has been noted.
    const std::size_t first = batch.steps_.size();
    batch.steps_.insert(batch.steps_.end(), walk.path.begin(), walk.path.end());
    batch.found_.push_back({{key, state.ply(), state.turn(), first, batch.steps_.size(), 0, 0}, {}});
    waiting_.add(key);
    return true;
}

// Counts playouts that end at the end of the path.
Puct::Ends Puct::complete(std::uint32_t count, const Walk& walk) noexcept {
    if (count != 0) count_playouts(count, walk.path.size());
    return {count, 0};
}

void Puct::count_playouts(std::uint32_t count, std::size_t depth) noexcept {
    progress_.playouts += count;
    progress_.depth_sum += count * depth;
    progress_.max_depth = std::max<std::uint64_t>(progress_.max_depth, depth);
}

// Looks for a mate again, without the lock, if one of the playouts that come to a node is the one to do so; is the node
// proven now?
bool Puct::is_solved_now(NodeIndex index, std::uint32_t count, Walk& walk) {
    const std::uint32_t visits = table_[index].total_visits + table_[index].in_flight;
    if (config_.mate_nodes_per_visit == 0 || visits > kLatestSecondLook) return false;
    const std::uint32_t mark = std::bit_ceil(std::max(visits, kEarliestSecondLook));
    if (mark >= visits + count) return false;
    walk.line.take_back(walk.path.size());
    std::span<const Move> mate;
    {
        const Unlocked unlocked(walk.lock);
        mate = walk.line.state().find_mate(config_.mate_nodes_per_visit * static_cast<int>(mark), mark);
    }
    if (table_[index].proof != Proof::kUnknown) return true;  // Another thread has found it meanwhile.
    return !mate.empty() && add_mate(index, walk.line.state(), mate);
}

// Looks at the positions that the walks have found: all that needs rules and not the graph. Those without a certain
// value become leaves.
void Puct::examine(Line& line, LeafSink& sink, Batch& batch) const {
    batch.leaves_.reserve(batch.size() + batch.found_.size());
    std::size_t leaves = batch.size();
    for (auto& [leaf, certain] : batch.found_) {
        const Path path = batch.path(leaf);
        for (std::size_t depth = 0; depth < path.size(); ++depth) line.play(depth, path[depth].move);
        line.take_back(path.size());
        certain = prove(line.state());
        if (!certain) look(line.state(), sink, batch, leaves++, leaf);
    }
    for (const auto& [leaf, certain] : batch.found_) {
        if (!certain) batch.leaves_.push_back(leaf);
    }
    std::erase_if(batch.found_, [](const auto& found) { return !found.certain; });
}

// Turns what was found and is certain into nodes; returns how many.
std::uint32_t Puct::settle(Batch& batch) {
    const auto count = static_cast<std::uint32_t>(batch.found_.size());
    for (auto& [leaf, certain] : batch.found_) {
        const Path path = batch.path(leaf);
        const NodeIndex child =
            table_.add_proven(leaf.key, leaf.ply, certain->proof, certain->distance, certain->value, certain->line);
        table_.edges(table_[path.back().node])[path.back().index].child = child;
        back_up(path, 0);
        waiting_.remove(leaf.key);
        leaf.last_step = leaf.first_step;  // There is nothing left to cancel.
        --in_flight_;
        --batch.in_flight_;
    }
    batch.found_.clear();
    return count;
}

// The index of the move that a playout takes, or -1 if none is worth one.
int Puct::select(NodeIndex index) const noexcept {
    if (index != root_) return selection_.select(table_, index, kNoMask, false);
    return root_selection_.select(table_, index, masked_, true);
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
        settle(batch);
        for (; i < batch.size(); ++i) expand(batch, i);
    } catch (...) {  // There is no memory left.
        if (!lock.owns_lock()) lock.lock();
        if (i != 0) {  // The leaf before has left to this one to bring up to date what they share.
            const Path path = batch.path(batch.leaf(i));
            for (std::size_t at = path.size(); at-- > 0;) table_.recompute(path[at].node);
        }
        while (i-- > 0) batch.leaves_[i].last_step = batch.leaves_[i].first_step;  // There is nothing left to cancel.
        abandon(batch);
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
    // The next leaf brings the nodes that it shares up to date.
    back_up(path, i + 1 < batch.size() ? shared(path, batch.path(batch.leaf(i + 1))) : 0);
    ++progress_.evaluations;
}

// Fetches the nodes on the paths to a batch's leaves, after an evaluation that took long. The other steps of the batch
// belong to playouts that have been backed up: their nodes may have been freed meanwhile.
void Puct::prefetch(const Batch& batch) const noexcept {
    const auto for_each_node = [&](auto fetch) {
        Path before;
        for (const Leaf& leaf : batch.leaves_) {
            const Path path = batch.path(leaf);
            for (const auto& step : path.subspan(shared(before, path))) fetch(step.node);
            before = path;
        }
    };
    for_each_node([&](NodeIndex node) { table_.prefetch_node(node); });
    for_each_node([&](NodeIndex node) { table_.prefetch_lists(node); });
    for_each_node([&](NodeIndex node) { table_.prefetch_children(node); });
}

// How many nodes, from the root down, do two paths share?
std::size_t Puct::shared(Path path, Path other) noexcept {
    std::size_t count = 0;
    while (count < std::min(path.size(), other.size()) && path[count].node == other[count].node) ++count;
    return count;
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
    std::tie(seen.best_move, seen.lead) = contest(table_, root_, masked_, config_.plays_by_bound);
    return seen;
}

// Completes a playout: counts it on its path, and brings the nodes up to date, from the leaf up to `first`.
void Puct::back_up(Path path, std::size_t first) {
    for (std::size_t at = path.size(); at-- > 0;) {
        Node& node = table_[path[at].node];
        Edge& edge = table_.edges(node)[path[at].index];
        --edge.pending;
        --node.in_flight;
        ++edge.visits;
        if (at >= first) table_.recompute(path[at].node);
    }
    count_playouts(1, path.size());
}

// Playouts are no longer in flight on an edge: they have been completed, or never will be.
void Puct::cancel(NodeIndex index, std::uint32_t i, std::uint32_t count) noexcept {
    if (count == 0) return;
    Node& node = table_[index];
    Edge& edge = table_.edges(node)[i];
    edge.pending = static_cast<std::uint16_t>(edge.pending - count);
    node.in_flight = static_cast<std::uint16_t>(node.in_flight - count);
}

void Puct::cancel(Path path) noexcept {
    for (const auto& step : path) cancel(step.node, step.index, 1);
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
    for (const auto& [node, index, count] : batch.collided_) cancel(node, index, count);
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
