#include "policy.h"

#include <algorithm>
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

double scaled(ValueScale scale, double x) noexcept {
    switch (scale) {
        case ValueScale::kProbability: return 2.0 * x - 1.0;
        case ValueScale::kLogit: return std::tanh(0.5 * x);
        default: return x;
    }
}

}  // namespace

double ValueHeads::operator()(float value_output, float draw_output, Color turn) const noexcept {
    const double found = scaled(value, value_output);
    if (!has_draw) return found;
    const double draws = 0.5 * (1.0 + scaled(draw, draw_output));
    return draws * (turn == 0 ? draw_value : -draw_value) + (1.0 - draws) * found;
}

bool read_values(const Batch& batch, const ValueHeads& heads, const float* values, const float* draws,
                 std::vector<double>& found) {
    bool are_numbers = true;
    found.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        found.push_back(heads(values[heads.width * i], heads.has_draw ? draws[i] : 0.0F, batch.leaf(i).turn));
        are_numbers = are_numbers && std::isfinite(found.back());
    }
    return are_numbers;
}

void answer_hashed(Batch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const std::uint64_t key = batch.leaf(i).key;
        const std::size_t first = batch.policies.size();
        for (const Move move : batch.moves(i)) {
            const std::uint64_t hashed = splitmix64(key ^ (std::uint64_t{move} + 1) * kGoldenGamma);
            batch.policies.push_back(static_cast<double>((hashed >> 11) + 1) * 0x1p-53);
        }
        normalise(std::span(batch.policies).subspan(first));
        batch.values.push_back(static_cast<double>(splitmix64(key) >> 11) * 0x1p-52 - 1.0);
    }
}

bool answer_network(Batch& batch, const Format& format, const float* logits, const double* values,
                    double temperature) {
    batch.is_cold = true;
    bool are_numbers = true;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const int turn = batch.leaf(i).turn;
        const std::size_t first = batch.policies.size();
        for (const Move move : batch.moves(i)) {
            const float logit = logits[format.label(move, turn)];
            are_numbers = are_numbers && std::isfinite(logit);
            batch.policies.push_back(logit);
        }
        softmax(std::span(batch.policies).subspan(first), temperature);
        batch.values.push_back(values[i]);
        logits += format.labels();
    }
    return are_numbers;
}

std::size_t most_moves(const Batch& batch) noexcept {
    std::size_t most = 0;
    for (std::size_t i = 0; i < batch.size(); ++i) most = std::max(most, batch.moves(i).size());
    return most;
}

void write_labels(const Batch& batch, const Format& format, std::int32_t* labels, std::size_t width) noexcept {
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const auto first = static_cast<std::int32_t>(i) * format.labels();
        std::int32_t* row = labels + i * width;
        for (const Move move : batch.moves(i)) *row++ = first + format.label(move, batch.leaf(i).turn);
    }
}

bool answer_labels(Batch& batch, const float* logits, std::size_t width, const double* values, double temperature) {
    batch.is_cold = true;
    bool are_numbers = true;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        const std::size_t first = batch.policies.size();
        const float* row = logits + i * width;
        for (std::size_t move = 0; move < batch.moves(i).size(); ++move) {
            are_numbers = are_numbers && std::isfinite(row[move]);
            batch.policies.push_back(row[move]);
        }
        softmax(std::span(batch.policies).subspan(first), temperature);
        batch.values.push_back(values[i]);
    }
    return are_numbers;
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
