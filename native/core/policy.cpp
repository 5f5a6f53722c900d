#include "policy.h"

#include <cmath>

#include "dlshogi.h"
#include "zobrist.h"

namespace goryu {
namespace {

// Divides by the sum, taken from the left.
void normalise(std::span<double> weights) noexcept {
    double total = 0.0;
    for (const double weight : weights) total += weight;
    for (double& weight : weights) weight = weight / total;
}

}  // namespace

void expand_hashed(Puct& puct) {
    std::vector<double> policy;
    for (std::size_t i = 0; i < puct.leaf_count(); ++i) {
        const std::uint64_t key = puct.leaf(i).key;
        policy.clear();
        for (const Move move : puct.leaf_moves(i)) {
            const std::uint64_t hashed = splitmix64(key ^ (std::uint64_t{move} + 1) * kGoldenGamma);
            policy.push_back(static_cast<double>((hashed >> 11) + 1) * 0x1p-53);
        }
        normalise(policy);
        puct.expand(policy.data(), static_cast<double>(splitmix64(key) >> 11) * 0x1p-52 - 1.0);
    }
}

void expand_dlshogi(Puct& puct, const float* logits, const double* values, double temperature) {
    std::vector<double> policy;
    for (std::size_t i = 0; i < puct.leaf_count(); ++i) {
        policy.clear();
        const int turn = puct.leaf(i).turn;
        for (const Move move : puct.leaf_moves(i)) policy.push_back(logits[dlshogi_label(move, turn)]);
        softmax(policy, temperature);
        puct.expand(policy.data(), values[i]);
        logits += kDlshogiLabels;
    }
}

void softmax(std::span<double> logits, double temperature) noexcept {
    double greatest = logits.front();
    for (const double logit : logits) {
        if (logit > greatest) greatest = logit;
    }
    for (double& logit : logits) logit = std::exp((logit - greatest) / temperature);
    normalise(logits);
}

}  // namespace goryu
