// Tests of native/core alone, for the sanitizers: tools/dev.py asan. No Python is involved.
//
// What the core computes is compared with the Python reference in tests/native/; here it is
// compared with itself done differently: undone, read back from its own SFEN, tried out move by move.
#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/dlshogi.h"
#include "core/formats.h"
#include "core/game.h"
#include "core/movegen.h"
#include "core/perft.h"
#include "core/reversi.h"
#include "core/sfen.h"
#include "expect.h"

namespace goryu::test {
namespace {

constexpr std::string_view kMatsuri = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1";
constexpr std::string_view kMostMoves = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";

std::uint64_t leaves(std::string_view sfen, int depth) {
    Position position = parse_sfen(sfen).value().position;
    return perft(position, depth);
}

void perft_counts_are_known() {
    EXPECT(leaves(kStartSfen, 4) == 719'731);
    EXPECT(leaves(kMatsuri, 2) == 28'684);
    EXPECT(leaves(kMostMoves, 2) == 105'677);
}

bool equal(const MoveList& a, const MoveList& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// Everything that can be said about one position without a second program.
void check_position(const Game& game) {
    const Position& position = game.position();
    MoveList moves, checks, read_back_moves;
    legal_moves(position, moves);
    checking_moves(position, checks);
    EXPECT(std::is_sorted(moves.begin(), moves.end()));
    EXPECT(count_legal_moves(position) == moves.size());
    EXPECT(has_legal_move(position) == !moves.empty());

    const auto read_back = parse_sfen(to_sfen(position, game.ply() + 1));
    EXPECT(read_back.has_value());
    if (!read_back) return;
    EXPECT(read_back->position.position_key() == position.position_key());
    EXPECT(read_back->position.board_key() == position.board_key());
    EXPECT(read_back->position.checkers() == position.checkers());
    EXPECT(read_back->position.pinned() == position.pinned());
    legal_moves(read_back->position, read_back_moves);
    EXPECT(equal(moves, read_back_moves));

    // Tried out: no king is left hanging, and checks() are the moves after which there is check.
    MoveList giving_check;
    Position tried = position;
    const std::uint64_t key = tried.position_key();
    for (const Move move : moves) {
        EXPECT(is_legal(position, move));
        EXPECT(tried.can_move(move));
        Undo undo;
        tried.do_move(move, undo);
        const Square king = tried.king(tried.turn() ^ 1);
        EXPECT(tried.attackers(tried.turn(), king, tried.occupied()).none());
        EXPECT(tried.in_check() == tried.attackers(tried.turn() ^ 1, tried.king(tried.turn()), tried.occupied()).any());
        if (tried.in_check()) giving_check.add(move);
        tried.undo_move(undo);
        EXPECT(tried.position_key() == key);
    }
    EXPECT(equal(checks, giving_check));
    EXPECT(to_sfen(tried, 1) == to_sfen(position, 1));
}

void play_random_games(std::uint64_t seed, int games) {
    Random random(seed);
    MoveList moves;
    for (int i = 0; i < games; ++i) {
        Rules rules;
        rules.entering_king = static_cast<EnteringKing>(random.below(6));
        rules.all_moves = random.below(2) == 0;
        rules.max_ply = random.below(2) * 200;
        Game game(Position(), 0, rules);
        std::vector<std::uint64_t> keys;
        while (game.length() < 250 && !is_over(game.outcome())) {
            check_position(game);
            keys.push_back(game.key());
            game.legal_moves(moves);
            game.push(moves[random.below(moves.size())]);
            (void)game.repetition();
        }
        const Game copied = game;
        EXPECT(copied.key() == game.key());
        while (game.length() > 0) {
            game.pop();
            EXPECT(game.key() == keys.back());
            keys.pop_back();
        }
        EXPECT(to_sfen(game.position(), 1) == kStartSfen);
    }
}

void any_number_may_be_asked_about() {
    for (const std::string_view sfen : {kStartSfen, kMatsuri}) {
        Position position = parse_sfen(sfen).value().position;
        MoveList moves;
        legal_moves(position, moves);
        int legal = 0;
        for (int number = 0; number < 1 << 16; ++number) {
            const Move move = static_cast<Move>(number);
            legal += is_legal(position, move);
            if (position.can_move(move)) {
                Undo undo;
                position.do_move(move, undo);
                position.undo_move(undo);
            } else {
                EXPECT(!is_legal(position, move));
            }
        }
        EXPECT(legal == moves.size());
        EXPECT(position.position_key() == parse_sfen(sfen)->position.position_key());
    }
}

void repetitions_are_judged() {
    const auto play = [](Game& game, std::initializer_list<Move> moves) {
        for (const Move move : moves) {
            EXPECT(is_legal(game.position(), move));
            game.push(move);
        }
    };
    const Position kings = parse_sfen("4k4/9/9/9/9/9/9/9/4K4 b - 1").value().position;
    Game game(kings, 0, {});
    for (int lap = 1; lap <= 3; ++lap) {
        EXPECT(game.outcome() == Ending::kNone);
        play(game, {make_move(44, 43), make_move(36, 37), make_move(43, 44), make_move(37, 36)});
        EXPECT(game.repetition() == (lap == 3 ? Ending::kFourfold : Ending::kRepetition));
    }
    EXPECT(game.outcome() == Ending::kFourfold);

    const Position rook = parse_sfen("4k4/9/9/9/9/9/9/9/R3K4 b - 1").value().position;
    Game chase(rook, 0, {});
    play(chase, {make_move(80, 72), make_move(36, 37)});
    play(chase, {make_move(72, 73), make_move(37, 36), make_move(73, 72), make_move(36, 37)});
    EXPECT(chase.repetition() == Ending::kPerpetualLoss);  // Black is to move and gave all the checks.
    play(chase, {make_move(72, 73)});
    EXPECT(chase.repetition() == Ending::kPerpetualWin);
}

std::uint32_t crc32(const std::vector<std::uint8_t>& bytes) {
    std::uint32_t crc = ~0U;
    for (const std::uint8_t byte : bytes) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320U : 0);
    }
    return ~crc;
}

// The published vectors; the buffers are exactly as long as promised, so that a sanitizer sees a write beyond.
void planes_are_those_of_the_test_vectors() {
    struct Vector {
        std::string_view sfen;
        std::uint32_t board, hands, hands_nyugyoku;
    };
    for (const Vector& vector : {
             Vector{kStartSfen, 0x902daf0d, 0x477da44b, 0xb3bd85f1},
             Vector{"lr5nl/6k2/6bpp/p1p1S1R2/1P1np2P1/P1P1P3P/3K5/1S3G3/LN5NL b 2G6Pbg2sp 95", 0x4d74ab41,
                    0x76f3ea64, 0xe47fa838},
             Vector{"1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180", 0x13b1a349,
                    0xb31a9686, 0x8577b124},
         }) {
        const Position position = parse_sfen(vector.sfen).value().position;
        for (const bool sees_nyugyoku : {false, true}) {
            const std::size_t planes = sees_nyugyoku ? kHandPlanes + kNyugyokuPlanes : kHandPlanes;
            std::vector<float> board(kBoardPlanes * kSquares, 7.0F), hands(planes * kSquares, 7.0F);
            fill_dlshogi(position, sees_nyugyoku, board.data(), hands.data());
            EXPECT(crc32({board.begin(), board.end()}) == vector.board);
            EXPECT(crc32({hands.begin(), hands.end()}) == (sees_nyugyoku ? vector.hands_nyugyoku : vector.hands));
        }
        MoveList moves;
        legal_moves(position, moves);
        std::vector<bool> taken(kDlshogiLabels);
        for (const Move move : moves) {
            const int label = dlshogi_label(move, position.turn());
            EXPECT(label >= 0 && label < kDlshogiLabels && !taken[label]);
            if (label >= 0 && label < kDlshogiLabels) taken[label] = true;
        }
    }
}

// Writes the same planes as bits. Each plane has 81 bits here, of which one is set if all squares are equal.
void check_bits(const Format& format, const Game& game, const std::vector<float>& planes) {
    const int count = static_cast<int>(planes.size()) / kSquares;
    PackedLayout layout{{}, (planes.size() + 7) / 8, 0};
    for (int plane = 0; plane < count; ++plane) layout.places.push_back(kSquares * plane);
    std::vector<std::uint8_t> bits(layout.bytes, 0xA5);
    BitRow row(layout, bits.data(), nullptr);
    format.write(game, row);
    for (int plane = 0; plane < count; ++plane) {
        bool are_bits = true, are_equal = true;
        for (int at = kSquares * plane; at < kSquares * (plane + 1); ++at) {
            are_bits = are_bits && (bits[at / 8] >> at % 8 & 1) == planes[at];
            are_equal = are_equal && planes[at] == planes[kSquares * plane];
        }
        EXPECT(are_bits || are_equal);
    }
}

// Writes exactly the rows of each input, and gives every legal move a label of its own.
void check_format(const Format& format, const Game& game) {
    const auto [first, second] = format.planes();
    std::vector<float> one(first * kSquares, 7.0F), two(second * kSquares, 7.0F);
    PlaneRow<float> row(one.data(), two.data(), format.planes());
    format.write(game, row);
    for (const auto& planes : {one, two}) {
        for (const float x : planes) EXPECT(x >= 0.0F && x < 2.0F);
    }
    one.insert(one.end(), two.begin(), two.end());
    check_bits(format, game, one);
    MoveList moves;
    game.legal_moves(moves);
    std::vector<bool> taken(format.labels());
    for (const Move move : moves) {
        const int label = format.label(move, game.turn());
        EXPECT(label >= 0 && label < format.labels() && !taken[label]);
        if (label >= 0 && label < format.labels()) taken[label] = true;
    }
}

void planes_and_labels_of_every_format_stay_in_their_place() {
    Random random(5);
    EXPECT(make_format("dlshogi", 0.0) == nullptr);
    for (const std::string_view name : {"dlshogi 62+57", "dlshogi 62+119", "python-dlshogi 104", "python-dlshogi2 104",
                                        "nshogi 86", "nshogi 93", "aobazero 362"}) {
        const auto format = make_format(name, -0.5);
        EXPECT(format != nullptr);
        for (const std::string_view sfen : {kStartSfen, kMatsuri}) {
            Game game(parse_sfen(sfen).value().position, 0, {.max_ply = 200});
            MoveList moves;
            for (game.legal_moves(moves); !moves.empty() && game.ply() < 60; game.legal_moves(moves)) {
                check_format(*format, game);
                game.push(moves[random.below(moves.size())]);
            }
        }
    }
}

void play_random_reversi(std::uint64_t seed, int games) {
    Random random(seed);
    MoveList moves;
    for (int i = 0; i < games; ++i) {
        ReversiGame game(4 + 2 * (i % 3));
        const std::uint64_t start = game.key();
        for (game.legal_moves(moves); !moves.empty(); game.legal_moves(moves)) {
            EXPECT(!is_over(game.outcome()));
            for (const Move move : moves) EXPECT(game.is_legal(move));
            game.push(moves[random.below(moves.size())]);
            EXPECT((game.own() & game.opponent()) == 0);
        }
        EXPECT(is_over(game.outcome()));
        while (game.length() > 0) game.pop();
        EXPECT(game.key() == start);
    }
}

int run() {
    perft_counts_are_known();
    any_number_may_be_asked_about();
    repetitions_are_judged();
    planes_are_those_of_the_test_vectors();
    planes_and_labels_of_every_format_stay_in_their_place();
    // Every thread has its own game; what they share must be constant.
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        threads.emplace_back([seed] {
            play_random_games(seed, 6);
            play_random_reversi(seed, 30);
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::printf("core_test: %d failures\n", failures.load());
    return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace goryu::test

int main() { return goryu::test::run(); }
