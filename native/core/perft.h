// Perft: the number of leaves of the tree of legal moves, the standard test of a move generator.
#pragma once

#include "position.h"

namespace goryu {

// Leaves at the depth, pointless non-promotions included. The last ply is counted, not listed.
std::uint64_t perft(Position& position, int depth) noexcept;

}  // namespace goryu
