// Residual networks on a CPU: convolutions of 3x3 by Winograd's F(3x3, 3x3), in 16-bit integers or in float32.
//
// A tile of 3x3 outputs needs 25 products of each pair of channels instead of 81, and nine tiles cover the 9x9
// squares of a shogi board exactly. evaluators/winograd.py has the arithmetic and its bounds; the integers here
// are the same bit for bit. A network is a list of layers that evaluators/residual_graph.py reads from an ONNX
// file: the stem, which sums the weights of the pieces that are present, convolutions, and small layers.
//
// The weights are shared by all threads; each thread has its own workspace.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "batch.h"
#include "game.h"
#include "state.h"
#include "winograd_layers.h"

namespace goryu {

// Memory that begins at a multiple of 64 bytes, filled with zeros.
template <class Element>
class Aligned {
public:
    explicit Aligned(std::size_t size = 0) : memory_(size + 64 / sizeof(Element)), size_(size) { align(); }
    Aligned(Aligned&& other) noexcept : memory_(std::move(other.memory_)), size_(other.size_) { align(); }
    Aligned& operator=(Aligned&& other) noexcept {
        memory_ = std::move(other.memory_);
        size_ = other.size_;
        align();
        return *this;
    }

    void assign(const Element* from, std::size_t size) {
        *this = Aligned(size);
        std::copy(from, from + size, data_);
    }

    Element* data() noexcept { return data_; }
    const Element* data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

private:
    void align() noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        data_ = memory_.data() + (64 - address % 64) % 64 / sizeof(Element);
    }

    std::vector<Element> memory_;
    std::size_t size_;
    Element* data_ = nullptr;
};

// The kinds of vector instructions, best first.
enum class Instructions : int { kAvx512Vnni, kAvx512, kAvxVnni, kAvx2, kNeon, kNone };
constexpr int kInstructionKinds = 5;

const char* name_of(Instructions instructions) noexcept;
// Can this processor, and this build, use them?
bool is_usable(Instructions instructions) noexcept;

// A layer. Maps and vectors are buffers, known by their numbers; -1: none.
struct Layer {
    enum class Kind : int { kStem, kConv3, kConv1, kPool, kDense, kSpread };

    Kind kind = Kind::kStem;
    Activation activation = Activation::kNone;
    int from = -1, to = -1;
    int residual = -1, scale = -1, shift = -1;
    int inputs = 0, outputs = 0;  // Channels; of a dense layer, numbers.
    int groups = 1, used = 0, width = 0;  // Of a dense layer.
    int mean_at = -1, maximum_at = -1;    // Where a pool writes into its vector.
    float level = 0.0F;
    Aligned<std::int16_t> weights16;
    Aligned<float> weights32;
    Aligned<std::int16_t> hands16;
    Aligned<float> hands32;
    Aligned<float> factors;
    Aligned<float> bias;
};

class WinogradNetwork;

// What one thread needs to evaluate positions.
class Workspace {
public:
    explicit Workspace(const WinogradNetwork& network);

private:
    friend class WinogradNetwork;

    std::vector<Aligned<float>> maps_;     // [most positions][81][channels]
    std::vector<Aligned<float>> vectors_;  // [most positions][numbers]
    std::vector<std::vector<std::uint32_t>> maxima_;
    // Elements are int16 or float; memory of floats serves both. The sums are int32 or float.
    Aligned<float> columns_, transformed_, sums_;
};

class WinogradNetwork {
public:
    // Positions that are computed together: more would not stay in the second-level cache.
    static constexpr int kMostPositions = 4;

    // maps: the channels of each map. vectors: the length of each vector. They are multiples of 32.
    // Throws std::invalid_argument if a number is out of range.
    WinogradNetwork(Instructions instructions, bool is_integer, std::vector<int> maps, std::vector<int> vectors);

    // Adds a layer to the end and takes its weights. Throws std::invalid_argument if it does not fit.
    void add(Layer& layer);
    // Which buffers hold the answers: a map of at least 27 channels, to which bias, [27][81], is added, and a
    // vector whose first number is x; the value is 2 / (1 + exp(-steepness * x)) - 1.
    void set_outputs(int policy, std::vector<float> policy_bias, int value, double steepness);

    // Evaluates up to kMostPositions positions; the answers stay in the workspace.
    void run(const Features* features, int positions, Workspace& work) const;
    // The logit of a label of position n, and its value in [-1, +1].
    float logit(const Workspace& work, int n, int label) const noexcept;
    double value(const Workspace& work, int n) const noexcept;

private:
    friend class Workspace;

    void run(const Layer& layer, const Features* features, int positions, Workspace& work) const;
    void check(bool is_right, const char* what) const;
    bool is_map(int buffer, int channels) const noexcept;
    bool is_vector(int buffer) const noexcept;

    const Layers* code_;
    bool is_integer_;
    std::vector<int> map_channels_;
    std::vector<int> vector_lengths_;
    std::vector<Layer> layers_;
    int policy_ = -1;
    int value_ = -1;
    std::vector<float> policy_bias_;
    double steepness_ = 1.0;
};

// Where the features of a batch's positions go.
class FeatureSink final : public LeafSink {
public:
    FeatureSink(const Game& game, bool sees_nyugyoku) : game_(game), sees_nyugyoku_(sees_nyugyoku) {}

    void add(std::size_t leaf) override;
    const Features* features() const noexcept { return features_.data(); }

private:
    const Game& game_;
    bool sees_nyugyoku_;
    std::vector<Features> features_;
};

// The features of planes: [62][81], where everything but zero counts as one, and [planes][81], of which only the
// first square is read.
void fill_features(const float* board, const float* hands, int hand_planes, Features& features) noexcept;

// Evaluates a batch. Returns whether all values and the logits of all legal moves are numbers.
bool answer_winograd(const WinogradNetwork& network, const Features* features, double temperature, Batch& batch,
                     Workspace& work);

}  // namespace goryu
