#include "winograd_weights.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>

namespace goryu {
namespace {

constexpr double kMost14 = 8191.0, kMost16 = 32767.0, kMost32 = 2147483647.0;
constexpr int kSide = 5, kTile = 3;

// The transposed matrices B^T and A^T, and G.
constexpr int kB[kSide][kSide] = {{2, -1, -2, 1, 0}, {0, -2, -1, 1, 0}, {0, 2, -3, 1, 0}, {0, -1, 0, 1, 0}, {0, 2, -1, -2, 1}};
constexpr double kG[kSide][kTile] = {
    {1.0 / 2, 0, 0}, {-1.0 / 2, -1.0 / 2, -1.0 / 2}, {-1.0 / 6, 1.0 / 6, -1.0 / 6}, {1.0 / 6, 1.0 / 3, 2.0 / 3}, {0, 0, 1}};
constexpr int kA[kTile][kSide] = {{1, 1, 1, 1, 0}, {0, 1, -1, 2, 0}, {0, 1, 1, 4, 1}};

// The bits of the nearest bfloat16, ties to even.
std::int16_t bfloat(float x) noexcept {
    auto bits = std::bit_cast<std::uint32_t>(x);
    if (!std::isnan(x)) bits += 0x7FFF + (bits >> 16 & 1);
    return static_cast<std::int16_t>(bits >> 16);
}

// How many times the greatest input a transformed input can be, by its place.
std::array<int, kPatch> growth_of(bool is_positive) noexcept {
    std::array<int, kSide> plus{}, minus{};
    for (int i = 0; i < kSide; ++i) {
        for (const int b : kB[i]) (b > 0 ? plus : minus)[i] += std::abs(b);
    }
    std::array<int, kPatch> growth{};
    for (int i = 0; i < kSide; ++i) {
        for (int j = 0; j < kSide; ++j) {
            const int same = plus[i] * plus[j] + minus[i] * minus[j], other = plus[i] * minus[j] + minus[i] * plus[j];
            growth[i * kSide + j] = is_positive ? std::max(same, other) : same + other;
        }
    }
    return growth;
}

// A convolution's weights on their way. rows: [places][outputs][inputs]; errors: [squares][places], how much an error
// of 1 in a weight can change an output; reach: [outputs], the greatest output that the exact weights can make.
struct Rows {
    std::size_t places, outputs, inputs;
    std::vector<double> rows = std::vector<double>(places * outputs * inputs);
    std::vector<std::vector<double>> errors = {};
    std::vector<double> reach = {};
    double level = 0.0;

    double& at(std::size_t place, std::size_t output, std::size_t input) {
        return rows[(place * outputs + output) * inputs + input];
    }
};

// Writes G g G^T of 3x3 weights.
void transform(const float* g, Rows& rows, std::size_t output, std::size_t input) {
    double half[kSide][kTile];
    for (int i = 0; i < kSide; ++i) {
        for (int b = 0; b < kTile; ++b) half[i][b] = kG[i][0] * g[b] + kG[i][1] * g[3 + b] + kG[i][2] * g[6 + b];
    }
    for (int i = 0; i < kSide; ++i) {
        for (int j = 0; j < kSide; ++j) {
            rows.at(i * kSide + j, output, input) =
                half[i][0] * kG[j][0] + half[i][1] * kG[j][1] + half[i][2] * kG[j][2];
        }
    }
}

void set_bounds(Rows& rows, bool has_transform, bool is_positive) {
    if (!has_transform) {
        rows.level = kMost14;
        rows.errors = {std::vector<double>(rows.places, kMost14)};
        return;
    }
    const auto growth = growth_of(is_positive);
    rows.level = static_cast<int>(kMost16) / *std::max_element(growth.begin(), growth.end());
    for (int r = 0; r < kTile; ++r) {
        for (int s = 0; s < kTile; ++s) {
            std::vector<double>& errors = rows.errors.emplace_back();
            for (int place = 0; place < kPatch; ++place) {
                const int share = std::abs(kA[r][place / kSide]) * std::abs(kA[s][place % kSide]);
                errors.push_back(rows.level * share * growth[place]);
            }
        }
    }
}

void set_reach(Rows& rows, std::span<const float> weights, bool is_positive) {
    const std::size_t size = weights.size() / rows.outputs;
    for (std::size_t o = 0; o < rows.outputs; ++o) {
        double plus = 0.0, minus = 0.0;
        for (const double w : weights.subspan(o * size, size)) (w > 0.0 ? plus : minus) += std::fabs(w);
        rows.reach.push_back(rows.level * (is_positive ? std::max(plus, minus) : plus + minus));
    }
}

// The greatest number that an output can become with its weights times `factor`, rounded.
double reached(Rows& rows, std::size_t output, double factor) {
    std::vector<double> wrong(rows.places);
    for (std::size_t place = 0; place < rows.places; ++place) {
        for (std::size_t i = 0; i < rows.inputs; ++i) {
            const double exact = rows.at(place, output, i) * factor;
            wrong[place] += std::fabs(std::nearbyint(exact) - exact);
        }
    }
    double most = 0.0;
    for (const auto& errors : rows.errors) {
        double sum = 0.0;
        for (std::size_t place = 0; place < rows.places; ++place) sum += errors[place] * wrong[place];
        most = std::max(most, sum);
    }
    return factor * rows.reach[output] + most;
}

// For each output the factor of its weights.
std::vector<double> factors_of(Rows& rows) {
    std::vector<double> factors, found(rows.outputs);
    for (std::size_t o = 0; o < rows.outputs; ++o) {
        double greatest = 0.0;
        for (std::size_t place = 0; place < rows.places; ++place) {
            for (std::size_t i = 0; i < rows.inputs; ++i) greatest = std::max(greatest, std::fabs(rows.at(place, o, i)));
        }
        const double factor = std::min(kMost32 / std::max(rows.reach[o], 1e-30), kMost16 / std::max(greatest, 1e-30));
        factors.push_back(std::min(factor, 1e30));
    }
    while (true) {
        for (std::size_t o = 0; o < rows.outputs; ++o) found[o] = reached(rows, o, factors[o]);
        if (*std::max_element(found.begin(), found.end()) <= kMost32) return factors;
        for (std::size_t o = 0; o < rows.outputs; ++o) {
            factors[o] *= std::min(1.0, 0.999 * kMost32 / std::max(found[o], 1.0));
        }
    }
}

void set_factors(Layer& layer, std::span<const double> factors) {
    layer.factors = Aligned<float>(factors.size());
    std::transform(factors.begin(), factors.end(), layer.factors.data(),
                   [](double factor) { return static_cast<float>(1.0 / factor); });
}

// The place of an output among the rows of a stem: in a block 0, 16, 1, 17 and so on.
std::size_t in_stem_order(std::size_t output) noexcept {
    const std::size_t lane = output % kBlock, half = kBlock / 2;
    return output - lane + 2 * (lane % half) + lane / half;
}

}  // namespace

void round_convolution(Layer& layer, std::span<const float> weights, bool is_positive) {
    const bool has_transform = layer.kind == Layer::Kind::kConv3;
    const auto outputs = static_cast<std::size_t>(layer.outputs), inputs = static_cast<std::size_t>(layer.inputs);
    const std::size_t area = weights.size() / (outputs * inputs);
    Rows rows{has_transform ? kPatch : area, outputs, inputs};
    for (std::size_t o = 0; o < outputs; ++o) {
        for (std::size_t i = 0; i < inputs; ++i) {
            const float* const g = &weights[(o * inputs + i) * area];
            if (has_transform) transform(g, rows, o, i);
            for (std::size_t place = 0; !has_transform && place < area; ++place) rows.at(place, o, i) = g[place];
        }
    }
    set_bounds(rows, has_transform, is_positive);
    set_reach(rows, weights, is_positive);
    const std::vector<double> factors = factors_of(rows);
    set_factors(layer, factors);
    layer.level = static_cast<float>(rows.level);
    layer.weights16 = Aligned<std::int16_t>(rows.rows.size());
    // [blocks][places, column by column][pairs of inputs][32 outputs][2]
    std::int16_t* to = layer.weights16.data();
    for (std::size_t block = 0; block < outputs; block += kBlock) {
        for (std::size_t p = 0; p < rows.places; ++p) {
            const std::size_t place = has_transform ? p % kSide * kSide + p / kSide : p;
            for (std::size_t i = 0; i < inputs; i += 2) {
                for (std::size_t o = block; o < block + kBlock; ++o) {
                    *to++ = static_cast<std::int16_t>(std::nearbyint(rows.at(place, o, i) * factors[o]));
                    *to++ = static_cast<std::int16_t>(std::nearbyint(rows.at(place, o, i + 1) * factors[o]));
                }
            }
        }
    }
}

void round_to_bfloats(Layer& layer, std::span<const float> weights) {
    constexpr std::size_t kOutputs = 16, kInputs = 32;
    const auto outputs = static_cast<std::size_t>(layer.outputs), inputs = static_cast<std::size_t>(layer.inputs);
    const std::size_t area = weights.size() / (outputs * inputs);
    layer.weights16 = Aligned<std::int16_t>(weights.size());
    std::int16_t* to = layer.weights16.data();  // [outputs / 16][inputs / 32][k * k][16 pairs of inputs][16 outputs][2]
    for (std::size_t block = 0; block < weights.size(); block += kOutputs * kInputs) {
        const std::size_t place = block / (kOutputs * kInputs) % area;
        const std::size_t input = block / (kOutputs * area) % inputs / kInputs * kInputs;
        const std::size_t output = block / (kOutputs * area * inputs) * kOutputs;
        for (std::size_t i = 0; i < kInputs; i += 2) {
            for (std::size_t o = 0; o < kOutputs; ++o) {
                const float* const pair = &weights[((output + o) * inputs + input + i) * area + place];
                *to++ = bfloat(pair[0]);
                *to++ = bfloat(pair[area]);
            }
        }
    }
}

void round_stem(Layer& layer, std::span<const float> board, std::span<const float> hands) {
    constexpr std::size_t kPlaces = kStemPlanes * 9;
    const auto outputs = static_cast<std::size_t>(layer.outputs);
    const std::size_t planes = hands.size() / outputs;
    std::vector<double> factors;
    layer.weights16 = Aligned<std::int16_t>((kPlaces + 1) * outputs);
    layer.hands16 = Aligned<std::int16_t>((kHandRows + 1) * outputs);
    for (std::size_t o = 0; o < outputs; ++o) {
        const auto own_board = board.subspan(o * kPlaces, kPlaces), own_hands = hands.subspan(o * planes, planes);
        float greatest = 0.0F;
        for (const float w : own_board) greatest = std::max(greatest, std::fabs(w));
        for (const float w : own_hands) greatest = std::max(greatest, std::fabs(w));
        const double factor = kMost14 / std::max(static_cast<double>(greatest), 1e-30);
        const auto rounded = [&](double w) { return static_cast<std::int16_t>(std::nearbyint(w * factor)); };
        const std::size_t at = in_stem_order(o);
        for (std::size_t i = 0; i < kPlaces; ++i) {
            layer.weights16.data()[(i % 9 * kStemPlanes + i / 9) * outputs + at] = rounded(own_board[i]);
        }
        for (std::size_t i = 0; i < planes; ++i) layer.hands16.data()[i * outputs + at] = rounded(own_hands[i]);
        factors.push_back(factor);
    }
    set_factors(layer, factors);
}

}  // namespace goryu
