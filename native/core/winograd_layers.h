// The layers of a network as functions of pointers, one set of them for each kind of vector instructions.
// winograd.h puts them together; winograd_kernels.h has the code; winograd_avx512.cpp and its like instantiate it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace goryu {

constexpr int kTiles = 9;                   // A board of 9x9 squares is exactly nine tiles of 3x3.
constexpr int kBoardSquares = 81;
constexpr int kBoardSide = 9;
constexpr int kPatch = 25;                  // A tile with its border: 5x5.
constexpr int kPaddedSide = 11;             // A row of the board with a border of zeros.
constexpr int kTransformedColumns = 3 * 5 * kPaddedSide;  // Three rows of tiles, transformed column by column.
// A map for products of tiles. Behind each rank of the board is a place of zeros, the border of this rank and of the next
// one: so all squares are 90 places, and each neighbour is always the same number of places away. The places before and
// after them are the other borders.
constexpr int kPlacesAcross = kBoardSide + 1;
constexpr int kPlaces = kBoardSide * kPlacesAcross;
constexpr int kBorder = kPlacesAcross + 1;
constexpr int kBorderedPlaces = kPlaces + 2 * kBorder;
constexpr int kBlock = 32;                  // Output channels that are computed together.
constexpr int kStemPlanes = 62;
constexpr int kListedPlanes = 64;           // Room for the planes of a square, a multiple of 16.
constexpr int kHandRows = 119;

enum class Activation : int { kNone, kRelu, kSwish, kSigmoid };

// One position as the network sees it: for each square the board planes that are one there, and the planes of
// the second input that are one.
struct Features {
    std::uint8_t counts[kBoardSquares];
    std::uint8_t planes[kBoardSquares][kListedPlanes];  // Those behind the count have any valid numbers.
    std::uint8_t hand_count;
    std::uint8_t hands[kHandRows];
};

// A convolution, of 3x3, 1x1 or 9x1. One of 9x1 makes one row of nine squares, which is every row of the map. Maps
// are float [positions][81][channels]; the number of channels is a multiple of 32. Maxima are the bits of the
// greatest absolute value in each position's map: bits of floats that are not negative are ordered like the floats,
// and a NaN is above them all.
struct ConvCall {
    const float* from;
    float* to;  // Null if nothing reads the floats.
    // The same maps in bfloat16, [positions][channels / 32][kBorderedPlaces][32], or null.
    const std::int16_t* from_places;
    std::int16_t* to_places;
    const float* residual;  // Added to the sum, or null. May be `to`.
    const float* shift;     // Likewise: [positions][shift_stride], a number for each output.
    std::ptrdiff_t shift_stride;
    int positions, inputs, outputs;
    // int16 [outputs/32][25, 1 or 9][inputs/2][32][2], float [outputs/32][25, 1 or 9][inputs][32], or int8
    // [outputs/32][inputs/4][32][4], or bfloat16 [outputs/16][inputs/32][9 or 1][16][16][2]. Place (i, j) of the 5x5
    // is 5 j + i.
    const void* weights;
    const float* factors;  // [outputs]: what a sum of integers counts (not for floats).
    const float* totals;   // [outputs]: the sum of an output's weights (only for bytes).
    const float* bias;     // [outputs]
    Activation activation;
    float level;  // The greatest integer that an input becomes.
    const std::uint32_t* from_maxima;
    std::uint32_t* to_maxima;
    // Scratch memory: columns of the inputs' transform (the first and the last are zero), transformed inputs,
    // sums of products.
    void* columns;
    void* transformed;
    void* sums;
};

struct StemCall {
    const Features* features;
    float* to;
    int positions, outputs;
    const void* board;  // int16 or float [9][62][outputs], and a row of zeros.
    const void* hands;  // int16 or float [119][outputs], and a row of zeros.
    const float* factors;  // [outputs]: what an integer counts (not for floats).
    const float* bias;
    Activation activation;
    std::uint32_t* to_maxima;
    void* sums;  // Scratch memory: int32 or float [outputs].
};

// Mean and maximum over the squares.
struct PoolCall {
    const float* from;
    float* mean;     // [positions][stride] or null.
    float* maximum;  // Likewise.
    int positions, channels;
    std::ptrdiff_t stride;
};

// A matrix times a vector of groups * used values; each group of `used` takes `width` places.
struct DenseCall {
    const float* from;
    float* to;
    int positions;
    std::ptrdiff_t from_stride, to_stride;
    int groups, used, width, outputs;
    const float* weights;  // [groups * used][outputs]
    const float* bias;
    Activation activation;
};

// to = activation(from * scale + shift + residual), where scale and shift are vectors of channels.
struct SpreadCall {
    const float* from;
    float* to;
    const float* scale;  // Or null, like shift and residual.
    const float* shift;
    const float* residual;
    int positions, channels;
    std::ptrdiff_t scale_stride, shift_stride;
    Activation activation;
    std::uint32_t* to_maxima;
};

struct Layers {
    void (*stem16)(const StemCall&);
    void (*stem32)(const StemCall&);
    void (*conv3_16)(const ConvCall&);
    void (*conv3_32)(const ConvCall&);
    void (*conv1_16)(const ConvCall&);
    void (*conv1_32)(const ConvCall&);
    void (*conv1_8)(const ConvCall&);  // Or null: the processor has no products of bytes, or better ones.
    void (*conv3_bfloat)(const ConvCall&);  // Or null: it has none of bfloat16.
    void (*conv1_bfloat)(const ConvCall&);
    // Rounds maps for these. The borders of `places` stay as they are: zeros.
    void (*fill_places)(const float* maps, int positions, int channels, std::int16_t* places);
    void (*conv9_16)(const ConvCall&);
    void (*conv9_32)(const ConvCall&);
    void (*pool)(const PoolCall&);
    void (*dense)(const DenseCall&);
    void (*spread)(const SpreadCall&);
};

// Null where the compiler could not make them.
const Layers* layers_amx() noexcept;
const Layers* layers_avx512_vnni() noexcept;
const Layers* layers_avx512() noexcept;
const Layers* layers_avx_vnni() noexcept;
const Layers* layers_avx2() noexcept;
const Layers* layers_neon() noexcept;
const Layers* layers_wasm() noexcept;

}  // namespace goryu
