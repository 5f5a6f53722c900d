// A fuzz target for SFEN texts and move lists: whatever the bytes, the core neither crashes nor disagrees
// with itself. Built with libFuzzer where there is clang; otherwise main() below mutates known texts:
//
//     fuzz_sfen SECONDS [SEED]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/dlshogi.h"
#include "core/game.h"
#include "core/movegen.h"
#include "core/sfen.h"
#include "expect.h"

namespace goryu::test {
namespace {

// The first line is an SFEN, the bytes after it choose moves, two bytes each: a 16-bit number that is
// played if it is legal, else the place of a move in the list.
void judge(std::string_view input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    for (const bool allow_missing_king : {false, true}) {
        const auto parsed = parse_sfen(input.substr(0, end), allow_missing_king);
        if (!parsed) continue;
        EXPECT(parse_sfen(to_sfen(parsed->position, 1), allow_missing_king).has_value());
        Game game(parsed->position, parsed->move_number, {});
        MoveList moves, checks;
        for (std::size_t i = end + 1; i + 1 < input.size(); i += 2) {
            const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(input[at]); };
            const Move number = static_cast<Move>(byte(i) | byte(i + 1) << 8);
            game.legal_moves(moves);
            checking_moves(game.position(), checks);
            EXPECT(count_legal_moves(game.position()) == moves.size());
            EXPECT(checks.size() <= moves.size());
            if (moves.empty()) break;
            game.push(is_legal(game.position(), number) ? number : moves[number % moves.size()]);
            (void)game.repetition();
            (void)game.outcome();
        }
        static thread_local float board[kBoardPlanes * kSquares], hands[(kHandPlanes + kNyugyokuPlanes) * kSquares];
        fill_dlshogi(game.position(), true, board, hands);
        while (game.length() > 0) game.pop();
        EXPECT(game.position().position_key() == parsed->position.position_key());
    }
}

}  // namespace
}  // namespace goryu::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    goryu::test::judge({reinterpret_cast<const char*>(data), size});
    if (goryu::test::failures != 0) std::abort();
    return 0;
}

#ifndef GORYU_LIBFUZZER
int main(int count, char** arguments) {
    using Clock = std::chrono::steady_clock;
    constexpr std::string_view kSeeds[]{
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
        "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180",
        "+R6bk/6L2/8G/9/9/9/l+b4K2/9/9 b P 1",
        "4k4/9/4P4/9/9/4r4/3n5/9/9 b GR2b3g4s3n4l16p 0",
    };
    constexpr std::string_view kLetters = "plnsgbrkPLNSGBRK+/123456789 bw-0x";
    const double seconds = count > 1 ? std::atof(arguments[1]) : 5.0;
    goryu::test::Random random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    long inputs = 0;
    for (; Clock::now() < until; ++inputs) {
        std::string input(kSeeds[random.below(std::size(kSeeds))]);
        for (int i = random.below(4); i > 0; --i) {
            const std::size_t place = random.below(static_cast<int>(input.size()));
            const std::string letter(1, random.below(8) == 0 ? static_cast<char>(random.below(256))
                                                            : kLetters[random.below(static_cast<int>(kLetters.size()))]);
            input.replace(place, random.below(3), letter);
        }
        input += '\n';
        for (int i = random.below(120); i > 0; --i) input += static_cast<char>(random.below(256));
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    }
    std::printf("fuzz_sfen: %ld inputs, no finding\n", inputs);
    return 0;
}
#endif
