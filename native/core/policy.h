// Evaluators computed natively: twins of evaluators/hashed.py, evaluators/softmax.py and the policy of
// evaluators/network.py.
#pragma once

#include "puct.h"

namespace goryu {

// Expands a batch as the hashed stub judges it.
void expand_hashed(Puct& puct);

// Expands a batch with a network's answers: logits [N][2187] (see dlshogi.h) and values [N].
void expand_dlshogi(Puct& puct, const float* logits, const double* values, double temperature);

// Replaces logits by exp((z_i - max z) / T), divided by their sum; there must be one.
void softmax(std::span<double> logits, double temperature) noexcept;

}  // namespace goryu
