// Evaluators in C++: evaluators/hashed.py, evaluators/softmax.py and the policy of evaluators/network/network.py. They
// fill in the evaluations of a batch.
#pragma once

#include "batch.h"
#include "formats.h"

namespace goryu {

// The hashed evaluator.
void answer_hashed(Batch& batch);

// What a value output holds; evaluators/formats/value_scale.py.
enum class ValueScale { kProbability, kLogit, kTanh };

// How the value outputs of a network become values for the side to move: `ModelFormat.interpret` in Python.
struct ValueHeads {
    ValueScale value = ValueScale::kProbability;
    bool has_draw = false;  // Is there an output for the probability of a draw?
    ValueScale draw = ValueScale::kProbability;
    double draw_value = 0.0;  // To black, in [-1, +1].
    std::size_t width = 1;    // Numbers of a position in the value output, of which the first is its value.

    // draw: not read without such an output.
    double operator()(float value, float draw, Color turn) const noexcept;
};
// Finds the value of each leaf; draws may be null without such an output. Returns whether all are numbers.
bool read_values(const Batch& batch, const ValueHeads& heads, const float* values, const float* draws,
                 std::vector<double>& found);

// A network's answer: logits [N][labels of the format] and values [N]. Returns whether the logits of all legal
// moves are numbers.
bool answer_network(Batch& batch, const Format& format, const float* logits, const double* values,
                    double temperature);

// For a network that answers for given labels only (evaluators/network/packed_input.py): the most moves of a leaf; the
// labels [N][width] of its moves (the rest of a row stays as it is); and the answer to them, logits
// [N][width] and values [N].
std::size_t most_moves(const Batch& batch) noexcept;
void write_labels(const Batch& batch, const Format& format, std::int32_t* labels, std::size_t width) noexcept;
bool answer_labels(Batch& batch, const float* logits, std::size_t width, const double* values, double temperature);

// Replaces logits by exp((z_i - max z) / T), divided by their sum; there must be one.
void softmax(std::span<double> logits, double temperature) noexcept;

}  // namespace goryu
