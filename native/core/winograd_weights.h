// From the weights of a network's file to the integers of the kernel: evaluators/kernel/winograd.py, which explains the
// arithmetic and has the bounds.
#pragma once

#include <span>

#include "winograd.h"

namespace goryu {

// Fills in the integers, factors and level of a convolution. kind, inputs and outputs are those of the layer.
// weights: [outputs][inputs][k][k], or [outputs][inputs][9] for a kConv9. is_positive: is no input negative?
void round_convolution(Layer& layer, std::span<const float> weights, bool is_positive);

// The same for a stem. board: [outputs][62][9]. hands: [outputs][planes], of at most kHandRows planes.
void round_stem(Layer& layer, std::span<const float> board, std::span<const float> hands);

// Rounds the weights of a kConv3Bfloat or kConv1Bfloat, [outputs][inputs][k][k].
void round_to_bfloats(Layer& layer, std::span<const float> weights);

}  // namespace goryu
