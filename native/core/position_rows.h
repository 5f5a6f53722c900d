// Positions of games as the rows of a batch: for training, which reads them by several formats at once.
#pragma once

#include <cstdint>
#include <vector>

#include "formats.h"

namespace goryu {

// The rows of a batch in one format.
struct RowFormat {
    const Format* format;
    PackedLayout layout;
    std::uint8_t* bits;  // [N][layout.bytes]
    float* numbers;      // [N][layout.numbers]
};

// Where a batch is written. Labels are those of the first format.
struct PositionRows {
    std::vector<RowFormat> formats;
    std::uint8_t* legal;      // [N][legal_bytes]: a bit for each label, of the legal moves.
    std::size_t legal_bytes;
    std::int16_t* played;     // [N]: the label of the move that was played, or -1 at the end of the moves.

    // Writes the position after `plies` of the moves, of which there are `length`, into a row.
    // False if one of those moves, or the one played, is illegal: the row is then unfinished.
    bool write(std::size_t row, const Game& start, const Move* moves, int plies, int length) const;
};

}  // namespace goryu
