#include "position_rows.h"

#include <cstring>

#include "movegen.h"

namespace goryu {

bool PositionRows::write(std::size_t row, const Game& start, const Move* moves, int plies, int length) const {
    Game game = start;
    game.reserve();
    for (int i = 0; i < plies; ++i) {
        if (!is_legal(game.position(), moves[i])) return false;
        game.push(moves[i]);
    }
    for (const RowFormat& each : formats) {
        BitRow bits(each.layout, each.bits + row * each.layout.bytes, each.numbers + row * each.layout.numbers);
        each.format->write(game, bits);
    }
    const Format& first = *formats.front().format;
    std::uint8_t* const labels = legal + row * legal_bytes;
    std::memset(labels, 0, legal_bytes);
    MoveList listed;
    game.legal_moves(listed);
    for (const Move move : listed) {
        const int label = first.label(move, game.turn());
        labels[label / 8] |= static_cast<std::uint8_t>(1U << label % 8);
    }
    played[row] = -1;
    if (plies == length) return true;
    if (!is_legal(game.position(), moves[plies])) return false;
    played[row] = static_cast<std::int16_t>(first.label(moves[plies], game.turn()));
    return true;
}

}  // namespace goryu
