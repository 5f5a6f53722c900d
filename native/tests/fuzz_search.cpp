// A fuzz target for the graph search: whatever the position, the settings and the order of the requests, the
// graph stays sound and nothing stays in flight.
#include <stdexcept>

#include "core/game_state.h"
#include "core/policy.h"
#include "core/puct.h"
#include "core/sfen.h"
#include "fuzz.h"
#include "graph.h"

namespace goryu::test {
namespace {

// Hands the bytes of an input out one by one, zeros after the last.
class Bytes {
public:
    explicit Bytes(std::string_view left) : left_(left) {}

    bool any() const { return !left_.empty(); }
    int next() {
        if (left_.empty()) return 0;
        const int byte = static_cast<std::uint8_t>(left_.front());
        left_.remove_prefix(1);
        return byte;
    }

private:
    std::string_view left_;
};

// Breaks at the n-th position; never if n is 0.
class BreakingLeafSink final : public LeafSink {
public:
    explicit BreakingLeafSink(int n) : left_(n) {}
    void add(std::size_t) override {
        if (--left_ == 0) throw std::runtime_error("no room");
    }

private:
    int left_;
};

PuctConfig config_of(Bytes& bytes) {
    PuctConfig config;
    config.batch_size = 1 + bytes.next() % 16;
    config.mate_nodes = bytes.next() % 3 * 15;
    config.mate_nodes_per_visit = bytes.next() % 3;
    config.draw_value = (bytes.next() % 3 - 1) * 0.25;
    config.formula.c_init = 0.5 + bytes.next() % 4;
    return config;
}

void search(Puct& puct, Game& game, Bytes& bytes) {
    const int playouts = 1 + bytes.next(), breaks_at = bytes.next() % 8 == 0 ? 1 + bytes.next() : 0;
    ShogiState state(game);
    BreakingLeafSink sink(breaks_at);
    Batch batch;
    try {
        puct.begin(state, sink, batch, playouts, 1 + bytes.next());
        if (batch.size() != 0) {
            answer_hashed(batch);
            puct.expand(batch);
        }
        if (bytes.next() % 8 == 0) puct.set_mask(Mask(puct.table()[puct.root()].move_count, bytes.next() % 2 == 0));
        while (!puct.is_finished()) {
            puct.gather(state, sink, batch);
            if (batch.size() == 0) continue;
            if (bytes.next() % 32 == 1) {
                puct.retract(batch);
            } else {
                answer_hashed(batch);
                puct.expand(batch);
            }
        }
    } catch (const std::runtime_error&) {
        if (puct.root() == kNoNode) puct.clear();
    }
    check_graph(puct.table());
}

}  // namespace

void judge(std::string_view input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const auto parsed = parse_sfen(input.substr(0, end), false);
    if (!parsed) return;
    Bytes bytes(input.substr(std::min(end + 1, input.size())));
    Rules rules;
    rules.first_recurrence = bytes.next() % 2 == 0;
    rules.max_ply = bytes.next() % 4 == 0 ? parsed->move_number + bytes.next() % 16 : 0;
    Game game(parsed->position, parsed->move_number, rules);
    const Capacity capacity{static_cast<std::uint64_t>(1 + 8 * bytes.next()),
                            bytes.next() % 2 == 0 ? std::uint64_t{1} << 60 : std::uint64_t{500} * bytes.next() + 1};
    Puct puct(config_of(bytes), capacity);
    MoveList moves;
    for (bool is_first = true; is_first || bytes.any(); is_first = false) {
        if (game.outcome() != Ending::kNone) break;
        search(puct, game, bytes);
        if (bytes.next() % 16 == 0) puct.clear();
        game.legal_moves(moves);
        game.push(moves[bytes.next() % moves.size()]);
    }
}

}  // namespace goryu::test

#ifndef GORYU_LIBFUZZER
int main(int count, char** arguments) { return goryu::test::fuzz("fuzz_search", count, arguments); }
#endif
