// Convolutions in bfloat16 with AMX, for winograd_kernels.h: a float32 without its last 16 bits. A register is a tile:
// up to 16 rows of 64 bytes. One instruction adds to a tile of sums, [rows][16 outputs], the products of a tile of
// inputs, [rows][32], and one of weights, [16 pairs of inputs][16 outputs][2]: 512 products for each row. So a
// convolution needs no transform.
//
// For each output an instruction sums the products of the even inputs one after another, and those of the odd ones;
// both sums together are added to what is there. tests/helpers/kernel_reference.py does the same.

constexpr int kTileRows = 15, kTileInputs = 32, kTileOutputs = 16;
constexpr int kTileBytes = 64, kTileWeights = kTileInputs * kTileOutputs;
static_assert(kPlaces == 6 * kTileRows);

constexpr int place_of(int square) { return square + square / kBoardSide; }

// The tiles 0 to 5 hold sums, 6 inputs and 7 weights. An object gives this thread the registers until its end.
class Tiles {
public:
    Tiles() {
        alignas(64) std::uint8_t shapes[64] = {1};  // The kind of the table; then two bytes of width and one of height.
        for (int tile = 0; tile < 8; ++tile) {
            shapes[16 + 2 * tile] = kTileBytes;
            shapes[48 + tile] = tile < 7 ? kTileRows : kTileInputs / 2;
        }
        _tile_loadconfig(shapes);
    }
    ~Tiles() { _tile_release(); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;
};

// Of 32 channels of a map. A tile of inputs is one piece of it, and all of it stays in the first-level cache while the
// neighbours of all squares are multiplied.
constexpr std::ptrdiff_t kPart = kBorderedPlaces * kTileInputs;

void fill_places(const float* maps, int positions, int channels, std::int16_t* places) {
    for (int n = 0; n < positions; ++n, places += channels / kTileInputs * kPart) {
        for (int square = 0; square < kBoardSquares; ++square) {
            std::int16_t* to = places + (kBorder + place_of(square)) * kTileInputs;
            for (int i = 0; i < channels; i += kTileInputs, maps += kTileInputs, to += kPart) {
                V::store_h(to, V::bfloats(V::load(maps), V::load(maps + V::kLanes)));
            }
        }
    }
}

// Half of a map's places are multiplied at once, and 32 outputs: three tiles of sums for each 16.
constexpr int kHalf = kPlaces / 2;
constexpr int kSquaresOfHalf = 41;  // The first has so many squares, the second one fewer.
static_assert(place_of(kSquaresOfHalf - 1) < kHalf && place_of(kSquaresOfHalf) >= kHalf);

// Writes 32 channels of half of a position's map, some squares at a time; without arguments, nothing.
template <Activation kActivation>
class TileOutput {
public:
    GORYU_INLINE TileOutput() {}

    // sums: [45][32].
    GORYU_INLINE TileOutput(const ConvCall& call, int n, std::ptrdiff_t channel, int half, const float* sums)
        : sums_(sums),
          first_place_(half * kHalf),
          channels_(call.outputs),
          maximum_at_(call.to_maxima + n),
          square_(half * kSquaresOfHalf),
          end_(half == 0 ? kSquaresOfHalf : kBoardSquares) {
        const std::ptrdiff_t at = n * static_cast<std::ptrdiff_t>(kBoardSquares) * channels_ + channel;
        to_ = call.to ? call.to + at : nullptr;
        places_ = call.to_places;
        if (places_) places_ += (n * channels_ + channel) / kTileInputs * kPart + kBorder * kTileInputs;
        residual_ = offset(call.residual, at);
        for (int v = 0; v < 2; ++v) {
            bias_[v] = V::load(call.bias + channel + v * V::kLanes);
            if (call.shift) {
                bias_[v] = V::add(bias_[v], V::load(call.shift + n * call.shift_stride + channel + v * V::kLanes));
            }
        }
        maximum_ = V::set1_i(static_cast<std::int32_t>(*maximum_at_));
    }

    GORYU_INLINE void write(int squares) {
        const int end = square_ + squares < end_ ? square_ + squares : end_;
        for (; square_ < end; ++square_) {
            V::F x[2];
            for (int v = 0; v < 2; ++v) {
                const std::ptrdiff_t at = square_ * channels_ + v * V::kLanes;
                x[v] = V::add(V::load(sums_ + (place_of(square_) - first_place_) * kBlock + v * V::kLanes), bias_[v]);
                if (residual_) x[v] = V::add(x[v], V::load(residual_ + at));
                x[v] = activate<kActivation>(x[v]);
                if (to_) V::store(to_ + at, x[v]);
                maximum_ = V::max_bits(maximum_, x[v]);
            }
            if (places_) V::store_h(places_ + place_of(square_) * kTileInputs, V::bfloats(x[0], x[1]));
        }
    }

    GORYU_INLINE void end() {
        write(kBoardSquares);
        if (maximum_at_) *maximum_at_ = V::greatest(maximum_);
    }

private:
    const float* sums_;
    int first_place_;
    std::ptrdiff_t channels_;
    std::uint32_t* maximum_at_ = nullptr;
    float* to_;
    std::int16_t* places_;
    const float* residual_;
    V::F bias_[2];
    V::I maximum_;
    int square_ = 0, end_ = 0;
};

// 32 outputs of 45 places; out: [45][32]. places: the first of these in 32 channels; the next ones are kPart away.
// weights: [2][inputs / 32][kSide * kSide][16][16][2]. After each step some squares of `before` are written: the
// processor does that beside the products.
// GORYU_INLINE may not be left out: registers have numbers, not names, and belong to whoever calls.
template <int kSide, Activation kActivation>
GORYU_INLINE void tile_products(const std::int16_t* places, std::ptrdiff_t inputs, const std::int16_t* weights,
                                float* out, TileOutput<kActivation>& before, int squares) {
    __asm__ volatile("" ::: "memory");  // The compiler does not see what the instructions read.
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    const std::ptrdiff_t others = kSide * kSide * inputs * kTileOutputs;
    for (std::ptrdiff_t i = 0; i < inputs; i += kTileInputs, places += kPart) {
        for (int neighbour = 0; neighbour < kSide * kSide; ++neighbour, weights += kTileWeights) {
            const int away = (neighbour / kSide - kSide / 2) * kPlacesAcross + neighbour % kSide - kSide / 2;
            const std::int16_t* const from = places + away * kTileInputs;
#define GORYU_MULTIPLY(tile, sums)                                         \
    _tile_loadd(6, from + tile * kTileRows * kTileInputs, kTileBytes); \
    _tile_dpbf16ps(sums, 6, 7);
            _tile_loadd(7, weights, kTileBytes);
            GORYU_MULTIPLY(0, 0)
            GORYU_MULTIPLY(1, 1)
            GORYU_MULTIPLY(2, 2)
            _tile_loadd(7, weights + others, kTileBytes);
            GORYU_MULTIPLY(0, 3)
            GORYU_MULTIPLY(1, 4)
            GORYU_MULTIPLY(2, 5)
#undef GORYU_MULTIPLY
            before.write(squares);
        }
    }
    constexpr int kTile = kTileRows * kBlock, kRow = kBlock * static_cast<int>(sizeof *out);
    _tile_stored(0, out, kRow);
    _tile_stored(1, out + kTile, kRow);
    _tile_stored(2, out + 2 * kTile, kRow);
    _tile_stored(3, out + kTileOutputs, kRow);
    _tile_stored(4, out + kTile + kTileOutputs, kRow);
    _tile_stored(5, out + 2 * kTile + kTileOutputs, kRow);
    __asm__ volatile("" ::: "memory");
}

template <int kSide>
struct TileConvolution {
    template <Activation kActivation>
    struct Of {
        // While sums are multiplied, those before are written.
        static void run(const ConvCall& call) {
            const Tiles tiles;
            const std::ptrdiff_t inputs = call.inputs;
            const int steps = static_cast<int>(kSide * kSide * inputs / kTileInputs);
            const int squares = (kSquaresOfHalf + steps - 1) / steps;
            for (int n = 0; n < call.positions; ++n) call.to_maxima[n] = 0;
            const auto* weights = static_cast<const std::int16_t*>(call.weights);
            TileOutput<kActivation> before;
            for (int channel = 0; channel < call.outputs; channel += kBlock, weights += 2 * steps * kTileWeights) {
                const std::int16_t* places = call.from_places + kBorder * kTileInputs;
                for (int n = 0; n < call.positions; ++n, places += kBorderedPlaces * inputs) {
                    for (int half = 0; half < 2; ++half) {
                        float* const sums = static_cast<float*>(call.sums) + half * kHalf * kBlock;
                        tile_products<kSide>(places + half * kHalf * kTileInputs, inputs, weights, sums, before,
                                             squares);
                        before.end();
                        before = TileOutput<kActivation>(call, n, channel, half, sums);
                    }
                }
            }
            before.end();
        }
    };
};

template <int kSide>
void tile_convolution(const ConvCall& call) {
    with_activation<TileConvolution<kSide>::template Of>(call.activation, call);
}
