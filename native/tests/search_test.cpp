// Tests of the graph search alone, for the sanitizers: tools/dev.py asan. No Python is involved.
//
// That the graphs are those of the Python search is tested in tests/engine/native/test_puct.py; here the invariants
// of any graph are, on one thread and on several.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <set>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#if defined(_WIN32)
#include <malloc.h>
#endif

#include "core/game_state.h"
#include "core/policy.h"
#include "core/puct.h"
#include "core/sfen.h"
#include "graph.h"

namespace {

// Allocations up to one that fails, -1: none does.
std::atomic<int> allocations_left{-1};

void* allocate(std::size_t size, std::size_t alignment) {
    if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
    const std::size_t padded = (size + alignment - 1) / alignment * alignment;
#if defined(_WIN32)  // The C library of Windows has no aligned_alloc.
    void* const memory = _aligned_malloc(padded, alignment);
#else
    void* const memory = std::aligned_alloc(alignment, padded);
#endif
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

void release(void* memory) noexcept {
#if defined(_WIN32)
    _aligned_free(memory);
#else
    std::free(memory);
#endif
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace goryu::test {
namespace {

constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;
constexpr std::string_view kChecks = "l3k4/3R5/2p1p4/9/9/9/4PP3/4K4/L8 b RG2b3s4n 1";
constexpr std::string_view kShuffle = "4k4/9/9/9/9/9/9/R8/4K4 b - 1";

Game game_of(std::string_view sfen) { return Game(parse_sfen(sfen).value().position, 0, Rules{}); }

// One thread of a search, on a game of its own.
void work(Puct& puct, Game game) {
    ShogiState state(game);
    NoLeafSink sink;
    Batch batch;
    for (int i = 0; !puct.is_finished(); ++i) {
        puct.gather(state, sink, batch);
        if (batch.size() == 0) {
            puct.wait_for_others(batch, false);
        } else if (i % 50 == 49) {
            puct.retract(batch);
        } else {
            answer_hashed(batch);
            puct.expand(batch);
        }
    }
}

void search(Puct& puct, Game& game, int threads, std::uint64_t playouts) {
    ShogiState state(game);
    NoLeafSink sink;
    Batch batch;
    puct.begin(state, sink, batch, playouts, kNoLimit);
    if (batch.size() != 0) {
        answer_hashed(batch);
        puct.expand(batch);
    }
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back([&] { work(puct, game); });
    for (std::thread& worker : workers) worker.join();
    EXPECT(puct.progress().is_exhausted || puct.progress().playouts == playouts);
}

// Searches and plays the most visited move, over and over.
void play_a_game(std::string_view sfen, int threads, std::uint64_t capacity, int mate_nodes, int batch_size) {
    PuctConfig config;
    config.batch_size = batch_size;
    config.threads = threads;
    config.mate_nodes = mate_nodes;
    config.mate_nodes_per_visit = mate_nodes / 8;
    Puct puct(config, {capacity});
    Game game = game_of(sfen);
    for (int ply = 0; ply < 8 && game.outcome() == Ending::kNone; ++ply) {
        search(puct, game, threads, 400);
        NodeTable& table = puct.table();
        check_graph(table);
        const Node& root = table[puct.root()];
        // With more threads, nodes on the paths of the others come on top: make_room does not fold them.
        EXPECT(threads > 1 || table.size() <= capacity + root.tried + 100);
        if (root.tried == 0) break;
        const Edge* const edges = table.edges(root);
        const auto fewer = [](const Edge& a, const Edge& b) { return a.visits < b.visits; };
        game.push(table.moves(root)[std::max_element(edges, edges + root.tried, fewer) - edges].move);
        if (ply % 3 != 2) continue;
        const std::uint64_t size = table.size();
        table.make_room(puct.root());
        EXPECT(table.size() <= size / 2 + root.tried + 1);
        check_graph(table);
    }
}

// A search ends where memory does; the graph stays whole, and can be searched on when there is some again.
// threads: with more than one, a gather sends many playouts down at once.
void a_lack_of_memory_leaves_nothing_in_flight(int threads, int batch_size) {
    int lacks = 0;
    for (int granted = 0; granted < 40; ++granted) {
        PuctConfig config;
        config.threads = threads;
        config.batch_size = batch_size;
        Puct puct(config, {1 << 20});
        Game game = game_of(kShuffle);
        search(puct, game, 1, 1);
        Game played = game_of(kShuffle);  // Not a copy, which would have no room for the moves to come.
        ShogiState state(played);
        NoLeafSink sink;
        Batch batch;
        puct.begin(state, sink, batch, 3000, kNoLimit);
        allocations_left = granted;
        try {
            while (!puct.is_finished()) {
                puct.gather(state, sink, batch);
                answer_hashed(batch);
                puct.expand(batch);
            }
        } catch (const std::bad_alloc&) {
            ++lacks;
            puct.retract(batch);  // For a failure between the two; those two have done so themselves.
        }
        allocations_left = -1;
        check_graph(puct.table());
        search(puct, game, 1, 500);
        check_graph(puct.table());
    }
    EXPECT(lacks > 20);
}

// Searches the start position on one thread, and gathers a batch as one of `threads` does.
void gather_after(std::uint64_t playouts, int threads, PuctConfig config, Puct& puct, Batch& batch) {
    Game game = game_of(kStartSfen);
    search(puct, game, 1, playouts);
    config.threads = threads;
    puct.set_config(config);
    ShogiState state(game);
    NoLeafSink sink;
    puct.begin(state, sink, batch, 1000, kNoLimit);
    puct.gather(state, sink, batch);
}

// Leaves that became nodes before memory ended have been counted all the way up.
void a_lack_of_memory_in_expand_leaves_no_count_stale(int threads) {
    int lacks = 0;
    for (int visits = 1100; visits < 4300; visits += 160) {
        PuctConfig config;
        config.batch_size = 64;
        Puct puct(config, {1 << 20});
        Batch batch;
        gather_after(static_cast<std::uint64_t>(visits), threads, config, puct, batch);
        answer_hashed(batch);
        allocations_left = 1;  // For the ranked moves.
        try {
            puct.expand(batch);
        } catch (const std::bad_alloc&) {
            ++lacks;
        }
        allocations_left = -1;
        check_graph(puct.table());
    }
    EXPECT(lacks > 0);
}

// Playouts that are sent down at once find what they find one by one.
void many_playouts_at_once_choose_as_one_by_one() {
    std::vector<std::uint64_t> found[2];
    for (const int threads : {1, 2}) {
        PuctConfig config;
        config.batch_size = 16;
        Puct puct(config, {1 << 20});
        Batch batch;
        gather_after(600, threads, config, puct, batch);
        EXPECT(batch.size() == 16);
        for (std::size_t i = 0; i < batch.size(); ++i) found[threads - 1].push_back(batch.leaf(i).key);
        std::sort(found[threads - 1].begin(), found[threads - 1].end());
        puct.retract(batch);
        EXPECT(puct.progress().playouts == 0);  // None was free, or the order would matter.
        check_graph(puct.table());
    }
    EXPECT(found[0] == found[1]);
}

// There are names for 64 GiB of moves and edges; here, for 8 MiB, and the nodes take half as much.
void no_block_is_handed_out_twice() {
    PuctConfig config;
    config.batch_size = 16;
    Puct puct(config, {1 << 20, std::uint64_t{1} << 60, 4});
    Game game = game_of(kStartSfen);
    search(puct, game, 1, 100'000);
    check_graph(puct.table());
    EXPECT(puct.progress().playouts == 100'000);
    EXPECT(puct.table().size() < 80'000);  // Some were forgotten.
    EXPECT(puct.table().bytes_held() < 13 << 20);
}

// The table holds at most a quarter more than its capacity, over many times what fits into it.
void memory_stays_bounded() {
    constexpr std::uint64_t kBytes = 1 << 20;
    PuctConfig config;
    config.batch_size = 8;
    config.mate_nodes = 20;
    for (const std::string_view sfen : {kStartSfen, kChecks, kShuffle}) {
        Puct puct(config, {1 << 20, kBytes});
        Game game = game_of(sfen);
        for (int i = 1; i <= 5; ++i) {
            search(puct, game, 1, 4000);
            check_graph(puct.table());
            EXPECT(puct.table().bytes() < kBytes + (kBytes >> 4));
            EXPECT(puct.table().bytes_held() <= kBytes + (kBytes >> 2));
            if (puct.progress().is_exhausted) break;
            const Node& root = puct.table()[puct.root()];
            EXPECT(root.total_visits == 1 + 4000U * i);
        }
    }
}

// Breaks after a number of positions.
class FailingLeafSink final : public LeafSink {
public:
    void add(std::size_t) override {
        if (++calls_ == 40) throw std::runtime_error("no room");
    }

private:
    int calls_ = 0;
};

void a_failure_leaves_nothing_in_flight(int threads) {
    PuctConfig config;
    config.threads = threads;
    config.batch_size = 4;
    Puct puct(config, {1000});
    Game game = game_of(kStartSfen);
    search(puct, game, 1, 200);
    ShogiState state(game);
    FailingLeafSink sink;
    Batch batch;
    puct.begin(state, sink, batch, 1000, kNoLimit);
    bool has_failed = false;
    while (!has_failed) {
        try {
            puct.gather(state, sink, batch);
            answer_hashed(batch);
            puct.expand(batch);
        } catch (const std::runtime_error&) {
            has_failed = true;
        }
    }
    check_graph(puct.table());
}

// Few different keys, so that most of them collide in a small table.
void a_set_of_keys_is_a_set() {
    KeySet keys;
    std::set<std::uint64_t> expected;
    std::uint64_t random = 1;
    for (int i = 0; i < 20'000; ++i) {
        random = splitmix64(random);
        const std::uint64_t key = random % 97 << (random >> 32) % 2 * 32;
        if (random >> 60 < 8) {
            keys.remove(key);
            expected.erase(key);
        } else if (!keys.has(key)) {
            keys.make_room();
            keys.add(key);
            expected.insert(key);
        }
        EXPECT(keys.has(key) == expected.contains(key));
        if (i % 100 != 0) continue;
        for (std::uint64_t other = 0; other < 97; ++other) {
            EXPECT(keys.has(other) == expected.contains(other));
            EXPECT(keys.has(other << 32) == expected.contains(other << 32));
        }
    }
}

void play_games(int threads) {
    for (const std::string_view sfen : {kStartSfen, kChecks, kShuffle}) {
        play_a_game(sfen, threads, 100'000, 0, 4);
        play_a_game(sfen, threads, 100'000, 30, 16);  // Large enough for collisions.
        play_a_game(sfen, threads, 60, 30, 4);
    }
}

void run_on_one_thread() {
    a_set_of_keys_is_a_set();
    play_games(1);
    a_failure_leaves_nothing_in_flight(1);
    a_failure_leaves_nothing_in_flight(2);
    a_lack_of_memory_leaves_nothing_in_flight(1, 8);
    a_lack_of_memory_leaves_nothing_in_flight(2, 64);
    a_lack_of_memory_in_expand_leaves_no_count_stale(1);
    a_lack_of_memory_in_expand_leaves_no_count_stale(2);
    many_playouts_at_once_choose_as_one_by_one();
    no_block_is_handed_out_twice();
    memory_stays_bounded();
}

}  // namespace
}  // namespace goryu::test

// With an argument only what several threads do at once, for ThreadSanitizer.
int main(int count, char**) {
    using namespace goryu::test;
    if (count == 1) run_on_one_thread();
    play_games(3);
    std::printf("search_test: %d failures\n", failures.load());
    return failures == 0 ? 0 : 1;
}
