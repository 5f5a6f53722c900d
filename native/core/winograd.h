// Residual networks on a CPU: convolutions of 3x3 by Winograd's F(3x3, 3x3), in 16-bit integers or in float32; those
// of 1x1 in bytes, or with AMX both in bfloat16, where the processor multiplies these faster.
//
// A tile of 3x3 outputs needs 25 products of each pair of channels instead of 81, and nine tiles cover the 9x9
// squares of a shogi board exactly. evaluators/kernel/winograd.py and eight_bits.py have the arithmetic and its bounds;
// the integers here are the same bit for bit. A network is a list of layers that evaluators/kernel/reading.py reads from an ONNX
// file: the stem, which sums the weights of the pieces that are present, convolutions, and small layers.
//
// The weights are shared by all threads; each thread has its own workspace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "batch.h"
#include "formats.h"
#include "game.h"
#include "state.h"
#include "winograd_layers.h"

namespace goryu {

// Releases memory that was aligned by `operator new`.
struct Release {
    std::size_t alignment;
    void operator()(void* memory) const noexcept { ::operator delete(memory, std::align_val_t{alignment}); }
};
using AlignedBytes = std::unique_ptr<void, Release>;

// Memory filled with zeros, beginning at a multiple of 64 bytes.
// has_large_pages: asks the system (Linux) for pages of 2 MB, and takes a multiple of that. A network's weights are
// read from end to end for every few positions: every 4 KB a new page would have to be looked up.
AlignedBytes aligned_bytes(std::size_t size, bool has_large_pages);

template <class Element>
class Aligned {
public:
    explicit Aligned(std::size_t size = 0, bool has_large_pages = false)
        : memory_(aligned_bytes(size * sizeof(Element), has_large_pages)), size_(size) {}

    void assign(const Element* from, std::size_t size) {
        *this = Aligned(size);
        std::copy(from, from + size, data());
    }

    Element* data() noexcept { return static_cast<Element*>(memory_.get()); }
    const Element* data() const noexcept { return static_cast<const Element*>(memory_.get()); }
    std::size_t size() const noexcept { return size_; }

private:
    AlignedBytes memory_;
    std::size_t size_;
};

// The kinds of vector instructions, best first.
enum class Instructions : int { kAmx, kAvx512Vnni, kAvx512, kAvxVnni, kAvx2, kNeon, kWasm, kNone };
constexpr int kInstructionKinds = 7;

const char* name_of(Instructions instructions) noexcept;
// Can this processor, and this build, use them?
bool is_usable(Instructions instructions) noexcept;
// Do they multiply bytes faster than anything else? Only then there are layers of the kind kConv1Bytes.
bool has_bytes(Instructions instructions) noexcept;
// Do they have products of bfloat16? Only then there are layers of the kinds kConv3Bfloat and kConv1Bfloat.
bool has_bfloats(Instructions instructions) noexcept;

// A layer. Maps and vectors are buffers, known by their numbers; -1: none.
struct Layer {
    enum class Kind : int { kStem, kInput, kConv3, kConv1, kConv1Bytes, kConv9, kPool, kDense, kSpread, kConv3Bfloat, kConv1Bfloat };

    Kind kind = Kind::kStem;
    Activation activation = Activation::kNone;
    int from = -1, to = -1;
    int residual = -1, scale = -1, shift = -1;
    int inputs = 0, outputs = 0;  // Channels; of a dense layer, numbers.
    int groups = 1, used = 0, width = 0;  // Of a dense layer. Of an input, `used` is the number of planes.
    int mean_at = -1, maximum_at = -1;    // Where a pool writes into its vector.
    float level = 0.0F;
    Aligned<std::int16_t> weights16;  // Of a kConv1Bytes, two bytes in each.
    Aligned<float> weights32;
    std::size_t weights_at = 0;  // Where those of a convolution are among the network's, in the end.
    Aligned<std::int16_t> hands16;
    Aligned<float> hands32;
    Aligned<float> factors;
    Aligned<float> totals;  // Of a kConv1Bytes.
    Aligned<float> bias;
};

class WinogradNetwork;

// Positions as the first layer reads them: a stem reads features, an input planes [positions][planes][81].
struct NetworkInputs {
    const Features* features = nullptr;
    const float* planes = nullptr;
};

// What one thread needs to evaluate positions.
class Workspace {
public:
    explicit Workspace(const WinogradNetwork& network);

private:
    friend class WinogradNetwork;

    std::vector<Aligned<float>> maps_;           // [most positions][81][channels]
    std::vector<Aligned<std::int16_t>> places_;  // Maps that convolutions in bfloat16 read, see ConvCall.
    std::vector<Aligned<float>> vectors_;  // [most positions][numbers]
    std::vector<std::vector<std::uint32_t>> maxima_;
    // Elements are bytes, int16 or float; memory of floats serves all. The sums are int32 or float.
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
    // vector whose first number is x; the value is 2 / (1 + exp(-steepness * x)) - 1. Ends the list of layers.
    void set_outputs(int policy, std::vector<float> policy_bias, int value, double steepness);

    // Evaluates up to kMostPositions positions; the answers stay in the workspace.
    void run(NetworkInputs inputs, int positions, Workspace& work) const;
    // The logit of a label of position n, and its value in [-1, +1].
    float logit(const Workspace& work, int n, int label) const noexcept;
    double value(const Workspace& work, int n) const noexcept;

private:
    friend class Workspace;

    void run(const Layer& layer, NetworkInputs inputs, int positions, Workspace& work) const;
    void copy_planes(const Layer& layer, const float* planes, int positions, Workspace& work) const;
    template <class Element>
    void pack(Aligned<Element> Layer::*weights, Aligned<Element>& packed);
    // Sets has_places_ and has_floats_.
    void find_readers();
    void check(bool is_right, const char* what) const;
    bool is_map(int buffer, int channels) const noexcept;
    bool is_vector(int buffer) const noexcept;

    const Layers* code_;
    bool is_integer_;
    std::vector<int> map_channels_;
    std::vector<int> vector_lengths_;
    std::vector<Layer> layers_;
    std::vector<bool> has_places_, has_floats_;  // Is each map read in bfloat16, and in float32?
    // The weights of all convolutions, in the order in which they are read.
    Aligned<std::int16_t> packed16_;
    Aligned<float> packed32_;
    int policy_ = -1;
    int value_ = -1;
    std::vector<float> policy_bias_;
    double steepness_ = 1.0;
};

// Where a batch's positions go.
class NetworkSink : public LeafSink {
public:
    // The positions from the given one on.
    virtual NetworkInputs inputs(std::size_t first) const noexcept = 0;
};

class FeatureSink final : public NetworkSink {
public:
    FeatureSink(const Game& game, bool sees_nyugyoku) : game_(game), sees_nyugyoku_(sees_nyugyoku) {}

    void add(std::size_t leaf) override;
    NetworkInputs inputs(std::size_t first) const noexcept override { return {features_.data() + first, nullptr}; }

private:
    const Game& game_;
    bool sees_nyugyoku_;
    std::vector<Features> features_;
};

// format: of the network; has one input. The game and the format must outlive the sink.
class PlaneSink final : public NetworkSink {
public:
    PlaneSink(const Game& game, const Format& format) : game_(game), format_(format) {}

    void add(std::size_t leaf) override;
    NetworkInputs inputs(std::size_t first) const noexcept override;

private:
    const Game& game_;
    const Format& format_;
    std::vector<float> planes_;
};

// The features of planes: [62][81], where everything but zero counts as one, and [planes][81], of which only the
// first square is read.
void fill_features(const float* board, const float* hands, int hand_planes, Features& features) noexcept;

// Evaluates a batch, whose labels are those of the format. Returns whether all values and the logits of all legal
// moves are numbers.
bool answer_winograd(const WinogradNetwork& network, const Format& format, const NetworkSink& sink, double temperature,
                     Batch& batch, Workspace& work);

}  // namespace goryu
