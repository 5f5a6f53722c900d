#include "goryu.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>

#include "core/declaration.h"
#include "core/final_move.h"
#include "core/game_state.h"
#include "core/movegen.h"
#include "core/perft.h"
#include "core/policy.h"
#include "core/puct.h"
#include "core/sfen.h"
#include "network_file.h"

namespace goryu {
namespace {

std::string& error_text() {
    static std::string text;
    return text;
}

int fail(std::string why) {
    error_text() = std::move(why);
    return 0;
}

// ---- USI's texts of moves

constexpr std::string_view kDropLetters = "PLNSBRG";

void add_square(std::string& text, Square square) {
    text += static_cast<char>('1' + file_of(square));
    text += static_cast<char>('a' + rank_of(square));
}

void add_move(std::string& text, Move move) {
    if (is_drop(move)) {
        text += kDropLetters[static_cast<std::size_t>(dropped_kind(move) - 1)];
        text += '*';
    } else {
        add_square(text, from_of(move));
    }
    add_square(text, to_of(move));
    if (is_promotion(move)) text += '+';
}

std::string text_of(std::span<const Move> line) {
    std::string text;
    for (const Move move : line) {
        if (!text.empty()) text += ' ';
        add_move(text, move);
    }
    return text;
}

// kNoMove if it is no legal move of the position.
Move read_move(const Position& position, std::string_view text) {
    MoveList moves;
    legal_moves(position, moves);
    for (const Move move : moves) {
        std::string name;
        add_move(name, move);
        if (name == text) return move;
    }
    return kNoMove;
}

// The words of a text, one by one.
std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    return word;
}

std::uint64_t limit_of(double most) {
    constexpr double kMost = 0x1p62;
    return static_cast<std::uint64_t>(std::clamp(most, 0.0, kMost));
}

// ---- The engine

// What a search owns, and what its answers are read from.
class Engine {
public:
    int load(std::span<const std::byte> bytes);
    int set_option(std::string_view name, double value);
    int set_position(std::string_view text);
    int begin(double playouts, double evaluations);
    int go(int positions);
    int rank();
    double evaluate(float* logits);
    double policy(double* probabilities);
    std::string line(int i);
    const double* stats();
    int add_mate(std::string_view line);
    void close(int i);
    NodeIndex find(std::uint64_t key) { return puct_ ? puct_->table().find(key) : kNoNode; }
    NodeIndex root() { return puct_ ? puct_->root() : kNoNode; }
    const double* node(NodeIndex index);
    const double* edges(NodeIndex index);

    const Game& game() const { return game_; }
    Game& game() { return game_; }
    const RootMove& move(int i) const { return moves_[static_cast<std::size_t>(i)]; }
    bool has_move(int i) const { return i >= 0 && i < std::ssize(moves_); }
    double value() const { return moves_.empty() ? 0.0 : root_value(puct_->table(), puct_->root(), moves_); }

    void renew();

private:
    bool answer();

    NetworkFile file_;
    std::unique_ptr<Workspace> work_;
    bool is_hashed_ = false;
    PuctConfig config_;
    double temperature_ = 1.0;
    Capacity capacity_{1'000'000};
    Rules rules_;
    bool may_lack_king_ = false;
    int slice_ = 8;
    Game game_{parse_sfen(kStartSfen)->position, 0, Rules{}};

    // Of a search: its game, and what plays on it.
    std::unique_ptr<Puct> puct_;
    std::unique_ptr<Game> line_;
    std::unique_ptr<ShogiState> state_;
    std::unique_ptr<LeafSink> sink_;
    Batch batch_;
    std::vector<RootMove> moves_;
    std::vector<double> told_;  // What the last array holds that was returned.
};

Engine& engine() {
    static Engine engine;
    return engine;
}

int Engine::load(std::span<const std::byte> bytes) {
    NetworkFile file;
    if (!bytes.empty()) {
        if (std::string problem = read_network_file(bytes, file); !problem.empty()) return fail(std::move(problem));
    }
    is_hashed_ = bytes.empty();
    work_ = is_hashed_ ? nullptr : std::make_unique<Workspace>(*file.network);
    file_ = std::move(file);
    renew();
    for (const auto& [name, value] : file_.options) {
        if (set_option(name, value) == 0) return 0;
    }
    return 1;
}

// Forgets what was searched.
void Engine::renew() {
    moves_.clear();
    sink_.reset();
    state_.reset();
    puct_.reset();
}

int Engine::set_option(std::string_view name, double value) {
    if (!std::isfinite(value)) return fail("expected a number");
    const bool is_root = name.starts_with("root_");
    Formula& formula = is_root ? config_.root_formula : config_.formula;
    const std::string_view constant = is_root ? name.substr(5) : name;
    const auto integer = static_cast<int>(std::clamp(value, -1e9, 1e9));
    if (constant == "c_init") formula.c_init = value;
    else if (constant == "c_base") formula.c_base = value;
    else if (constant == "c_factor") formula.c_factor = value;
    else if (constant == "fpu_reduction") formula.fpu_reduction = value;
    else if (name == "batch_size") config_.batch_size = std::clamp(integer, 1, 4096);
    else if (name == "mate_nodes") config_.mate_nodes = std::max(integer, 0);
    else if (name == "mate_nodes_per_visit") config_.mate_nodes_per_visit = std::max(integer, 0);
    else if (name == "lcb") config_.plays_by_bound = value != 0.0;
    else if (name == "draw_value") config_.draw_value = std::clamp(value, -1.0, 1.0);
    else if (name == "temperature" && value > 0.0) temperature_ = value;
    else if (name == "max_ply") rules_.max_ply = std::max(integer, 0);
    else if (name == "entering_king") rules_.entering_king = static_cast<EnteringKing>(std::clamp(integer, 0, 5));
    else if (name == "all_moves") rules_.all_moves = value != 0.0;
    else if (name == "first_recurrence") rules_.first_recurrence = value != 0.0;
    else if (name == "slice") slice_ = std::max(integer, 1);
    else if (name == "missing_king") may_lack_king_ = value != 0.0;
    else if ((name == "capacity" || name == "capacity_bytes") && value >= 1.0) {
        (name == "capacity" ? capacity_.nodes : capacity_.bytes) = limit_of(value);
        renew();
    } else {
        return fail("no option " + std::string(name) + " with this value");
    }
    game_.set_rules(rules_);
    return 1;
}

int Engine::set_position(std::string_view text) {
    std::string_view left = text;
    std::string sfen(kStartSfen);
    const std::string_view kind = next_word(left);
    std::string_view word = next_word(left);
    if (kind == "sfen") {
        sfen.clear();
        for (; !word.empty() && word != "moves"; word = next_word(left)) (sfen += sfen.empty() ? "" : " ") += word;
    } else if (kind != "startpos") {
        return fail("expected startpos or sfen, received " + std::string(text));
    }
    const auto parsed = parse_sfen(sfen, may_lack_king_);
    if (!parsed) return fail("expected an SFEN, received " + sfen);
    if (!word.empty() && word != "moves") return fail("expected moves, received " + std::string(word));
    Game game(parsed->position, std::max(1, parsed->move_number) - 1, rules_);
    while (!word.empty() && !(word = next_word(left)).empty()) {
        const Move move = read_move(game.position(), word);
        if (move == kNoMove) return fail("expected a legal move, received " + std::string(word));
        game.push(move);
    }
    game_ = game;
    moves_.clear();
    return 1;
}

// Fills in the evaluations of a batch; false if they are no numbers.
bool Engine::answer() {
    if (is_hashed_) {
        answer_hashed(batch_);
        return true;
    }
    return answer_winograd(*file_.network, *file_.format, static_cast<const NetworkSink&>(*sink_), temperature_, batch_,
                           *work_);
}

std::unique_ptr<LeafSink> sink_for(const NetworkFile& file, const Game& game) {
    if (!file.network) return std::make_unique<NoLeafSink>();
    if (file.reads_planes) return std::make_unique<PlaneSink>(game, *file.format);
    return std::make_unique<FeatureSink>(game, file.sees_nyugyoku);
}

int Engine::begin(double playouts, double evaluations) {
    if (!is_hashed_ && !file_.network) return fail("no network is loaded");
    if (!has_legal_move(game_.position())) return fail("the game is over");
    line_ = std::make_unique<Game>(game_);
    state_ = std::make_unique<ShogiState>(*line_);
    sink_ = sink_for(file_, *line_);
    if (!puct_) puct_ = std::make_unique<Puct>(config_, capacity_);
    puct_->set_config(config_);
    moves_.clear();
    puct_->begin(*state_, *sink_, batch_, limit_of(playouts), limit_of(evaluations));
    if (batch_.size() == 0) return 1;
    if (!answer()) return fail("the network answers with what is no number");
    puct_->expand(batch_);
    return 1;
}

int Engine::go(int positions) {
    if (!state_) return fail("no search has begun");
    moves_.clear();
    if (positions <= 0) positions = slice_;
    for (int done = 0; done < positions && !puct_->is_finished();) {
        puct_->gather(*state_, *sink_, batch_);
        if (batch_.size() == 0) break;
        done += static_cast<int>(batch_.size());
        if (!answer()) {
            puct_->retract(batch_);
            return fail("the network answers with what is no number");
        }
        puct_->expand(batch_);
    }
    return puct_->is_finished() ? 0 : 1;
}

int Engine::rank() {
    if (!state_ || puct_->root() == kNoNode) return fail("no search has begun");
    moves_ = root_moves(puct_->table(), puct_->root(), puct_->mask(), config_.plays_by_bound);
    return static_cast<int>(moves_.size());
}

std::string Engine::line(int i) {
    return text_of(continuation(puct_->table(), puct_->root(), move(i).index, *state_));
}

double Engine::evaluate(float* logits) {
    if (!file_.network) return 0.0;
    const auto sink = sink_for(file_, game_);
    sink->add(0);
    file_.network->run(static_cast<const NetworkSink&>(*sink).inputs(0), 1, *work_);
    for (int label = 0; label < kDlshogiLabels; ++label) logits[label] = file_.network->logit(*work_, 0, label);
    return file_.network->value(*work_, 0);
}

double Engine::policy(double* probabilities) {
    if (!file_.network) return std::numeric_limits<double>::quiet_NaN();
    std::vector<float> logits(kDlshogiLabels);
    const double value = evaluate(logits.data());
    MoveList moves;
    game_.legal_moves(moves);
    double* end = probabilities;
    for (const Move move : moves) *end++ = logits[file_.format->label(move, game_.turn())];
    softmax({probabilities, end}, temperature_);
    return value;
}

const double* Engine::stats() {
    const Snapshot seen = puct_ ? puct_->snapshot() : Snapshot{};
    const Progress& progress = seen.progress;
    const bool is_over = !state_ || puct_->is_finished();
    const auto number = [](auto value) { return static_cast<double>(value); };
    told_ = {number(progress.playouts), number(progress.evaluations), number(progress.depth_sum),
             number(progress.max_depth), number(seen.nodes), number(seen.hashfull), number(seen.is_proven),
             number(progress.is_exhausted), number(is_over), number(seen.best_move), number(seen.lead)};
    return told_.data();
}

int Engine::add_mate(std::string_view text) {
    if (!puct_) return 0;
    std::vector<Move> line;
    Game game = game_;
    for (std::string_view word; !(word = next_word(text)).empty(); game.push(line.back())) {
        const Move move = read_move(game.position(), word);
        if (move == kNoMove) return fail("expected a legal move, received " + std::string(word)) - 1;
        line.push_back(move);
    }
    if (line.empty()) return fail("expected the moves of a mate, received none") - 1;
    game = game_;
    ShogiState state(game);
    return puct_->add_mate(state, line);
}

void Engine::close(int i) {
    if (!state_ || i < 0 || i >= puct_->table()[puct_->root()].move_count) return;
    Mask mask = puct_->mask();
    mask.resize(puct_->table()[puct_->root()].move_count);
    mask[static_cast<std::size_t>(i)] = true;
    puct_->set_mask(std::move(mask));
}

const double* Engine::node(NodeIndex index) {
    const Node& node = puct_->table()[index];
    const auto number = [](auto value) { return static_cast<double>(value); };
    told_ = {number(node.key >> 32), number(node.key & 0xFFFFFFFF), number(node.ply), node.value, node.raw_value,
             node.variance, number(node.proof), number(node.distance), number(node.total_visits),
             number(node.is_complete), number(node.move_count), number(node.tried)};
    return told_.data();
}

const double* Engine::edges(NodeIndex index) {
    NodeTable& table = puct_->table();
    Node& node = table[index];
    table.sort_moves(node);
    told_.clear();
    for (int i = 0; i < node.move_count; ++i) {
        const LegalMove& move = table.moves(node)[i];
        const Edge edge = i < node.tried ? table.edges(node)[i] : Edge{};
        const bool has_value = edge.visits != 0 || edge.child != kNoNode;
        const double child = edge.child == kNoNode ? -1.0 : edge.child;
        told_.insert(told_.end(), {static_cast<double>(move.move), from_half(move.prior), static_cast<double>(edge.visits),
                                   child, has_value ? table.edge_value(index, i) : 0.0, edge.has_repetition ? 1.0 : 0.0});
    }
    return told_.data();
}

// Of goryu_solve.
MateSearch& mate_search() {
    static MateSearch search;
    return search;
}

// Asks the caller's program, which is slow, at every hundredth position.
class Stopper final : public MateSearch::Stopper {
public:
    bool should_stop() override { return ++asked_ % 100 == 0 && goryu_should_stop() != 0; }

private:
    int asked_ = 0;
};

// Keeps a text that was returned.
template <int kPlace>
const char* kept(std::string text) {
    static std::string last;
    last = std::move(text);
    return last.c_str();
}

}  // namespace
}  // namespace goryu

using goryu::engine;

// The target has no exceptions: what throws ends the instance, and leaves its reason.
extern "C" void* __cxa_allocate_exception(std::size_t size) noexcept { return ::operator new(size); }
extern "C" void __cxa_throw(void* thrown, void*, void (*)(void*)) {
    // All that native/core throws are exceptions of the library.
    goryu::error_text() = static_cast<std::exception*>(thrown)->what();
    __builtin_trap();
}

#define GORYU_EXPORT(name) __attribute__((export_name(#name))) name

void* GORYU_EXPORT(goryu_allocate)(size_t bytes) { return ::operator new(bytes); }
void GORYU_EXPORT(goryu_release)(void* memory) { ::operator delete(memory); }
const char* GORYU_EXPORT(goryu_error)() { return goryu::error_text().c_str(); }

int GORYU_EXPORT(goryu_load_network)(const void* file, size_t bytes) {
    return engine().load({static_cast<const std::byte*>(file), bytes});
}
int GORYU_EXPORT(goryu_set_option)(const char* name, double value) { return engine().set_option(name, value); }
int GORYU_EXPORT(goryu_set_position)(const char* position) { return engine().set_position(position); }
const char* GORYU_EXPORT(goryu_sfen)() {
    return goryu::kept<0>(goryu::to_sfen(engine().game().position(), engine().game().ply() + 1));
}
double GORYU_EXPORT(goryu_perft)(int depth) {
    goryu::Position position = engine().game().position();
    return static_cast<double>(goryu::perft(position, depth));
}
double GORYU_EXPORT(goryu_evaluate)(float* logits) { return engine().evaluate(logits); }
double GORYU_EXPORT(goryu_policy)(double* policy) { return engine().policy(policy); }

int GORYU_EXPORT(goryu_begin)(double playouts, double evaluations) { return engine().begin(playouts, evaluations); }
int GORYU_EXPORT(goryu_go)(int positions) { return engine().go(positions); }
const double* GORYU_EXPORT(goryu_stats)() { return engine().stats(); }
double GORYU_EXPORT(goryu_value)() { return engine().value(); }
void GORYU_EXPORT(goryu_close)(int i) { engine().close(i); }
int GORYU_EXPORT(goryu_add_mate)(const char* line) { return engine().add_mate(line); }
void GORYU_EXPORT(goryu_clear)() { engine().renew(); }
int GORYU_EXPORT(goryu_root)() { return static_cast<int>(engine().root()); }
int GORYU_EXPORT(goryu_find)(double high, double low) {
    const auto key = static_cast<std::uint64_t>(high) << 32 | static_cast<std::uint64_t>(low);
    return static_cast<int>(engine().find(key));
}
const double* GORYU_EXPORT(goryu_node)(int node) { return engine().node(static_cast<goryu::NodeIndex>(node)); }
const double* GORYU_EXPORT(goryu_edges)(int node) { return engine().edges(static_cast<goryu::NodeIndex>(node)); }

int GORYU_EXPORT(goryu_rank)() { return engine().rank(); }
const char* GORYU_EXPORT(goryu_move)(int i) {
    if (!engine().has_move(i)) return "";
    return goryu::kept<1>(goryu::text_of({&engine().move(i).move, 1}));
}
int GORYU_EXPORT(goryu_move_code)(int i) { return engine().has_move(i) ? engine().move(i).move : 0; }
double GORYU_EXPORT(goryu_move_visits)(int i) { return engine().has_move(i) ? engine().move(i).visits : 0; }
double GORYU_EXPORT(goryu_move_prior)(int i) { return engine().has_move(i) ? engine().move(i).prior : 0; }
double GORYU_EXPORT(goryu_move_value)(int i) { return engine().has_move(i) ? engine().move(i).value : 0; }
int GORYU_EXPORT(goryu_move_mate)(int i) { return engine().has_move(i) ? engine().move(i).mate : 0; }
const char* GORYU_EXPORT(goryu_line)(int i) {
    return engine().has_move(i) ? goryu::kept<2>(engine().line(i)) : "";
}

int GORYU_EXPORT(goryu_mate_in_one)() {
    goryu::Game game = engine().game();
    return goryu::mate_in_one(game);
}
int GORYU_EXPORT(goryu_solve)(double nodes, double shortening_nodes, double entries) {
    goryu::Game game = engine().game();
    goryu::MateBudget budget{static_cast<std::int64_t>(nodes), static_cast<std::int64_t>(shortening_nodes)};
    if (entries >= 1.0) budget.capacity = static_cast<std::size_t>(entries);
    goryu::Stopper stopper;
    const auto verdict = goryu::mate_search().solve(game, budget, &stopper);
    if (verdict == goryu::MateVerdict::kMate) return 1;
    return verdict == goryu::MateVerdict::kNoMate ? 0 : -1;
}
const char* GORYU_EXPORT(goryu_mate_line)() { return goryu::kept<3>(goryu::text_of(goryu::mate_search().line())); }
double GORYU_EXPORT(goryu_mate_nodes)() { return static_cast<double>(goryu::mate_search().nodes()); }
int GORYU_EXPORT(goryu_can_declare)() {
    return goryu::can_declare(engine().game().position(), engine().game().rules().entering_king) ? 1 : 0;
}
