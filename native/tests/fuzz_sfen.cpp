// A fuzz target for SFEN texts and move lists: whatever the bytes, the core neither crashes nor disagrees
// with itself.
#include <algorithm>

#include "core/dlshogi.h"
#include "core/game.h"
#include "core/movegen.h"
#include "core/sfen.h"
#include "fuzz.h"

namespace goryu::test {

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

}  // namespace goryu::test

#ifndef GORYU_LIBFUZZER
int main(int count, char** arguments) { return goryu::test::fuzz("fuzz_sfen", count, arguments); }
#endif
