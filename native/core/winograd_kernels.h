// The layers, for any kind of vector instructions. Included inside an anonymous namespace by a file that has
// switched those instructions on and has defined V, the operations on one vector:
//   F, I, H          vectors of kLanes floats, kLanes int32, 2 * kLanes int16
//   kRows, kVectors  rows (of 9) and vectors of outputs that are multiplied at once
// If the file has defined GORYU_HAS_VNNI, V has products of bytes, too; with GORYU_HAS_TILES of bfloat16 instead.
// Nothing of the standard library is instantiated here: the linker could choose this file's copy for the whole
// program, and older processors would fail in it.
//
// The arithmetic on floats is written out, without fused multiply-add, because tests/helpers/kernel_reference.py does the
// same operations in the same order; only the float32 convolutions are fused.

// ---- One-dimensional transforms (Winograd F(3, 3) with the points 0, 1, -1, 2 and infinity).

#define GORYU_INPUT_TRANSFORM(d0, d1, d2, d3, d4, ADD, SUB, t0, t1, t2, t3, t4) \
    {                                                                           \
        const auto d31 = SUB(d3, d1), d32 = SUB(d3, d2), d02 = SUB(d0, d2);     \
        const auto d12 = SUB(d1, d2);                                           \
        t0 = ADD(ADD(d02, d02), d31);       /*  2 -1 -2  1  0 */                \
        t1 = SUB(d32, ADD(d1, d1));         /*  0 -2 -1  1  0 */                \
        t2 = ADD(d32, ADD(d12, d12));       /*  0  2 -3  1  0 */                \
        t3 = d31;                           /*  0 -1  0  1  0 */                \
        t4 = SUB(SUB(d4, d2), ADD(d31, d31)); /*  0  2 -1 -2  1 */              \
    }

// ---- exp, swish and sigmoid in a fixed order of operations.

GORYU_INLINE V::F exponential(V::F x) {
    x = V::max(V::set1(-87.0F), V::min(V::set1(87.0F), x));
    x = V::mul(x, V::set1(1.44269504F));
    const V::I n = V::round(x);
    const V::F r = V::sub(x, V::to_float(n));
    V::F p = V::set1(1.32647273e-3F);
    p = V::add(V::mul(p, r), V::set1(9.67151299e-3F));
    p = V::add(V::mul(p, r), V::set1(5.55073359e-2F));
    p = V::add(V::mul(p, r), V::set1(2.40222424e-1F));
    p = V::add(V::mul(p, r), V::set1(6.93147004e-1F));
    p = V::add(V::mul(p, r), V::set1(1.0F));
    return V::mul(p, V::power_of_two(n));
}

GORYU_INLINE V::F sigmoid(V::F x) {
    return V::reciprocal(V::add(V::set1(1.0F), exponential(V::sub(V::set1(0.0F), x))));
}

template <Activation kActivation>
GORYU_INLINE V::F activate(V::F x) {
    // V::max returns its second operand if one is a NaN.
    if constexpr (kActivation == Activation::kRelu) return V::max(V::set1(0.0F), x);
    if constexpr (kActivation == Activation::kSwish) return V::mul(x, sigmoid(x));
    if constexpr (kActivation == Activation::kSigmoid) return sigmoid(x);
    return x;
}

// Calls F<activation>::run(call).
template <template <Activation> class F, class Call>
GORYU_INLINE void with_activation(Activation activation, const Call& call) {
    switch (activation) {
        case Activation::kNone: F<Activation::kNone>::run(call); break;
        case Activation::kRelu: F<Activation::kRelu>::run(call); break;
        case Activation::kSwish: F<Activation::kSwish>::run(call); break;
        case Activation::kSigmoid: F<Activation::kSigmoid>::run(call); break;
    }
}

// ---- From floats to integers.

// What an integer counts, from the greatest absolute value of a map.
GORYU_INLINE float unit_of(std::uint32_t maximum, float level) {
    constexpr std::uint32_t kLeast = 0x0DA24260;  // The bits of 1e-30: a map of zeros has some unit, too.
    const std::uint32_t bits = maximum > kLeast ? maximum : kLeast;
    float greatest;
    memcpy(&greatest, &bits, sizeof greatest);
    return greatest / level;
}

// Two vectors of floats in units, as one of halves.
GORYU_INLINE V::H rounded(const float* from, V::F per_unit) {
    return V::pack(V::round(V::mul(V::load(from), per_unit)),
                   V::round(V::mul(V::load(from + V::kLanes), per_unit)));
}

// ---- Vectors of the elements of inputs, and of sums of products.

struct Halves {
    using Element = std::int16_t;
    using Vector = V::H;
    static constexpr int kCount = 2 * V::kLanes;
    GORYU_INLINE static Vector zero() { return V::zero_h(); }
    GORYU_INLINE static Vector load(const Element* p) { return V::load_h(p); }
    GORYU_INLINE static void store(Element* p, Vector x) { V::store_h(p, x); }
    GORYU_INLINE static Vector add(Vector a, Vector b) { return V::add_h(a, b); }
    GORYU_INLINE static Vector sub(Vector a, Vector b) { return V::sub_h(a, b); }
};

struct Words {
    using Element = std::int32_t;
    using Vector = V::I;
    GORYU_INLINE static Vector zero() { return V::zero(); }
    GORYU_INLINE static Vector load(const Element* p) { return V::load_i(p); }
    GORYU_INLINE static void store(Element* p, Vector x) { V::store_i(p, x); }
    GORYU_INLINE static Vector add(Vector a, Vector b) { return V::add_i(a, b); }
    GORYU_INLINE static Vector sub(Vector a, Vector b) { return V::sub_i(a, b); }
};

struct Floats {
    using Element = float;
    using Vector = V::F;
    static constexpr int kCount = V::kLanes;
    GORYU_INLINE static Vector zero() { return V::set1(0.0F); }
    GORYU_INLINE static Vector load(const Element* p) { return V::load(p); }
    GORYU_INLINE static void store(Element* p, Vector x) { V::store(p, x); }
    GORYU_INLINE static Vector add(Vector a, Vector b) { return V::add(a, b); }
    GORYU_INLINE static Vector sub(Vector a, Vector b) { return V::sub(a, b); }
};

inline const float* offset(const float* map, std::ptrdiff_t by) { return map ? map + by : nullptr; }

// What differs between the kinds of arithmetic. An object holds what one position's map counts.
class Integers {
public:
    using Inputs = Halves;
    using Sums = Words;
    using Scale = V::F;
    static constexpr int kInputs = 2;  // Of each row, multiplied at once.

    Integers(const ConvCall& call, int n) : unit_(unit_of(call.from_maxima[n], call.level)) {}

    GORYU_INLINE V::H input(const float* from, int) const { return rounded(from, V::set1(1.0F / unit_)); }
    // What a sum of products counts, of outputs from `at`.
    GORYU_INLINE Scale scale(const ConvCall& call, std::ptrdiff_t at) const {
        return V::mul(V::load(call.factors + at), V::set1(unit_));
    }
    // The number that a sum of a square means.
    GORYU_INLINE static V::F value(V::I sum, Scale scale, int) { return V::mul(V::to_float(sum), scale); }
    GORYU_INLINE static V::I broadcast(const std::int16_t* v) { return V::broadcast(v); }
    GORYU_INLINE static V::I add_product(V::I sum, V::I x, const std::int16_t* u) { return V::dot(sum, x, u); }

private:
    float unit_;
};

class Singles {
public:
    using Inputs = Floats;
    using Sums = Floats;
    struct Scale {};
    static constexpr int kInputs = 1;

    Singles(const ConvCall&, int) {}

    GORYU_INLINE V::F input(const float* from, int) const { return V::load(from); }
    GORYU_INLINE Scale scale(const ConvCall&, std::ptrdiff_t) const { return {}; }
    GORYU_INLINE static V::F value(V::F sum, Scale, int) { return sum; }
    GORYU_INLINE static V::F broadcast(const float* v) { return V::set1(*v); }
    GORYU_INLINE static V::F add_product(V::F sum, V::F x, const float* u) { return V::fma(x, V::load(u), sum); }
};

#ifdef GORYU_HAS_VNNI
// Bytes: those of inputs have no sign, those of weights have one. Each square has its own unit, and a lowest number
// that becomes 0.
class Bytes {
public:
    struct Inputs {
        using Element = std::int8_t;
        static constexpr int kCount = V::kLanes;
        GORYU_INLINE static void store(Element* p, V::I x) { V::store_bytes(p, x); }
    };
    using Sums = Words;
    struct Scale {
        V::F factors, totals;
    };
    static constexpr int kInputs = 4;

    Bytes(const ConvCall& call, int n) {
        constexpr float kLeast = 1e-30F, kMost = 255.0F;
        float greatest;
        memcpy(&greatest, call.from_maxima + n, sizeof greatest);
        const float fault = greatest * 0.0F;  // A NaN if the map has one, or an infinite number.
        const float* from = call.from + static_cast<std::ptrdiff_t>(n) * kBoardSquares * call.inputs;
        for (int s = 0; s < kBoardSquares; ++s, from += call.inputs) {
            auto low = V::set1(0.0F), high = low;
            for (int i = 0; i < call.inputs; i += V::kLanes) {
                const auto x = V::load(from + i);
                low = V::min(low, x);
                high = V::max(high, x);
            }
            lows_[s] = V::least_of(low);
            const float range = V::greatest_of(high) - lows_[s];
            units_[s] = (range > kLeast ? range : kLeast) / kMost + fault;
        }
    }

    GORYU_INLINE V::I input(const float* from, int square) const {
        const auto above = V::sub(V::load(from), V::set1(lows_[square]));
        return V::round(V::mul(above, V::set1(1.0F / units_[square])));
    }
    GORYU_INLINE Scale scale(const ConvCall& call, std::ptrdiff_t at) const {
        return {V::load(call.factors + at), V::load(call.totals + at)};
    }
    GORYU_INLINE V::F value(V::I sum, const Scale& scale, int square) const {
        const auto factor = V::mul(scale.factors, V::set1(units_[square]));
        const auto below = V::mul(scale.totals, V::set1(lows_[square]));
        return V::add(V::mul(V::to_float(sum), factor), below);
    }
    GORYU_INLINE static V::I broadcast(const std::int8_t* v) { return V::broadcast(v); }
    GORYU_INLINE static V::I add_product(V::I sum, V::I x, const std::int8_t* u) { return V::dot_bytes(sum, x, u); }

private:
    float units_[kBoardSquares], lows_[kBoardSquares];
};
#endif

// ---- Transformed inputs: a map [81][C] becomes [25][9 tiles][C]; place (i, j) of the 5x5 is 5 j + i.

// columns: scratch memory, [3 rows of tiles][5 i][11 columns][kCount]; its border is zero.
template <class Kind>
GORYU_INLINE void transform_inputs(const Kind& kind, const float* map, int channels,
                                   typename Kind::Inputs::Element* columns, typename Kind::Inputs::Element* out) {
    using E = typename Kind::Inputs;
    using Vector = typename E::Vector;
    const std::ptrdiff_t c = channels;
    constexpr int kRow = kPaddedSide * E::kCount;
    for (int channel = 0; channel < channels; channel += E::kCount) {
        for (int file = 0; file < kBoardSide; ++file) {
            Vector d[kPaddedSide];
            d[0] = d[kPaddedSide - 1] = E::zero();
            for (int r = 0; r < kBoardSide; ++r) d[r + 1] = kind.input(map + (r * kBoardSide + file) * c + channel, 0);
            auto* to = columns + (file + 1) * E::kCount;
            for (int r = 0; r < kBoardSide; r += 3, to += 5 * kRow) {
                Vector m[5];
                GORYU_INPUT_TRANSFORM(d[r], d[r + 1], d[r + 2], d[r + 3], d[r + 4], E::add, E::sub, m[0], m[1], m[2],
                                      m[3], m[4])
                for (int i = 0; i < 5; ++i) E::store(to + i * kRow, m[i]);
            }
        }
        const auto* from = columns;
        for (int row = 0; row < 3; ++row) {
            for (int i = 0; i < 5; ++i, from += kRow) {
                auto* to = out + (i * kTiles + 3 * row) * c + channel;
                for (int tile = 0; tile < 3; ++tile, to += c) {
                    Vector d[5], q[5];
                    for (int j = 0; j < 5; ++j) d[j] = E::load(from + (3 * tile + j) * E::kCount);
                    GORYU_INPUT_TRANSFORM(d[0], d[1], d[2], d[3], d[4], E::add, E::sub, q[0], q[1], q[2], q[3], q[4])
                    for (int j = 0; j < 5; ++j) E::store(to + 5 * j * kTiles * c, q[j]);
                }
            }
        }
    }
}

// ---- Products: rows of v, [rows][inputs], times a block of weights for vectors of outputs.

// Weights are fetched before they are needed: they come from the second- or third-level cache or from memory. A call
// that is alone with its weights fetches them a short way ahead, so that what was fetched does not drive the inputs
// out of the first-level cache. Several calls that use the same weights each fetch their share of the next ones, so
// that the fetching takes no longer than the products if possible.
constexpr int kStepsAhead = 16;

struct Share {
    int calls;  // That use the same weights.
    int index;  // Of this one.
};

// The same input of kRows rows: every third row has a pointer, and the two behind it are `stride` and 2 * `stride`
// away, which an instruction's address can hold. So three additions step nine rows forward.
template <class Element, int kRows>
class Rows {
public:
    GORYU_INLINE Rows(const Element* first, std::ptrdiff_t stride) : stride_(stride) {
        for (int i = 0; i < kRows / 3; ++i) at_[i] = first + 3 * i * stride;
    }

    GORYU_INLINE const Element* operator[](int r) const { return at_[r / 3] + r % 3 * stride_; }
    GORYU_INLINE void forward(int by) {
        for (int i = 0; i < kRows / 3; ++i) at_[i] += by;
    }

private:
    static_assert(kRows % 3 == 0);
    std::ptrdiff_t stride_;
    const Element* at_[kRows / 3];
};

// One place's 32 outputs of kRows rows, kVectors vectors at once, so that all sums stay in registers. Every `between`
// steps it fetches two lines of 64 bytes, the weights of one step, from `next` on.
template <class Kind, int kRows, int kVectors, bool kIsAlone>
GORYU_INLINE void some_products(const typename Kind::Inputs::Element* v, std::ptrdiff_t stride,
                                const typename Kind::Inputs::Element* u, const typename Kind::Inputs::Element* next,
                                int between, int inputs, typename Kind::Sums::Element* out) {
    using Sums = typename Kind::Sums;
    constexpr int kStep = Kind::kInputs * kBlock;
    typename Sums::Vector sums[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kVectors; ++j) sums[r][j] = Sums::zero();
    }
    Rows<typename Kind::Inputs::Element, kRows> rows(v, stride);
    const int steps = inputs / Kind::kInputs;
    int left = 0;  // Steps until the next lines are fetched.
    for (int step = 0; step < steps; ++step, --left, u += kStep, rows.forward(Kind::kInputs)) {
        if (kIsAlone || left == 0) {
            GORYU_PREFETCH(next);
            GORYU_PREFETCH(next + kStep / 2);
            next += kStep;
            left = between;
        }
        typename Sums::Vector x[kRows];
        for (int r = 0; r < kRows; ++r) x[r] = Kind::broadcast(rows[r]);
        for (int j = 0; j < kVectors; ++j) {
            for (int r = 0; r < kRows; ++r) {
                sums[r][j] = Kind::add_product(sums[r][j], x[r], u + Kind::kInputs * V::kLanes * j);
            }
        }
    }
    for (int r = 0; r < kRows; ++r) {
        for (int j = 0; j < kVectors; ++j) Sums::store(out + r * kBlock + V::kLanes * j, sums[r][j]);
    }
}

// Nine rows times a block of 32 outputs; out [9][32].
// share: which of the calls with these weights this is.
template <class Kind>
inline void products(const typename Kind::Inputs::Element* v, std::ptrdiff_t stride,
                     const typename Kind::Inputs::Element* u, int inputs, Share share,
                     typename Kind::Sums::Element* out) {
    constexpr int kVectors = V::kVectors, kRows = V::kRows, kStep = Kind::kInputs * kBlock;
    constexpr int kParts = kBlock / V::kLanes / kVectors * (kTiles / kRows);
    static_assert(kTiles % kRows == 0 && kBlock % (kVectors * V::kLanes) == 0);
    if constexpr (kParts == 1) {
        if (share.calls == 1) {
            some_products<Kind, kRows, kVectors, true>(v, stride, u, u + kStepsAhead * kStep, 1, inputs, out);
            return;
        }
    }
    const int calls = share.calls * kParts, steps = inputs / Kind::kInputs;
    const std::ptrdiff_t fetched = (steps + calls - 1) / calls * kStep;  // By each call.
    const auto* next = u + static_cast<std::ptrdiff_t>(kBlock) * inputs + fetched * kParts * share.index;
    for (int j = 0; j < kBlock / V::kLanes; j += kVectors) {
        for (int r = 0; r < kTiles; r += kRows, next += fetched) {
            some_products<Kind, kRows, kVectors, false>(v + r * stride, stride, u + j * Kind::kInputs * V::kLanes,
                                                        next, calls, inputs, out + r * kBlock + j * V::kLanes);
        }
    }
}

// ---- Transformed outputs: the sums of a column of places, [5][9][32], become [3][9][32], and five such columns
// become 32 channels of the map. Done column by column, the sums stay in the first-level cache.

#define GORYU_OUTPUT_TRANSFORM(m0, m1, m2, m3, m4, ADD, SUB, y0, y1, y2) \
    {                                                                    \
        const auto s = ADD(m1, m2), d = SUB(m1, m2);                     \
        const auto m33 = ADD(m3, m3);                                    \
        y0 = ADD(ADD(m0, s), m3);               /* 1  1  1  1  0 */      \
        y1 = ADD(d, m33);                       /* 0  1 -1  2  0 */      \
        y2 = ADD(ADD(s, ADD(m33, m33)), m4);    /* 0  1  1  4  1 */      \
    }

constexpr int kColumn = 5 * kTiles * kBlock;  // Sums of a column of places,
constexpr int kRows3 = 3 * kTiles * kBlock;   // and what the transform makes of them.

template <class S>
GORYU_INLINE void transform_column(const typename S::Element* sums, typename S::Element* out) {
    constexpr int kPlace = kTiles * kBlock;
    for (int at = 0; at < kPlace; at += V::kLanes, sums += V::kLanes, out += V::kLanes) {
        typename S::Vector m[5], y[3];
        for (int i = 0; i < 5; ++i) m[i] = S::load(sums + i * kPlace);
        GORYU_OUTPUT_TRANSFORM(m[0], m[1], m[2], m[3], m[4], S::add, S::sub, y[0], y[1], y[2])
        for (int i = 0; i < 3; ++i) S::store(out + i * kPlace, y[i]);
    }
}

// The end of a convolution: 32 channels of the map, from `block`, of one position.
template <class Kind>
struct OutputCall {
    const ConvCall* conv;
    const Kind* kind;
    const typename Kind::Sums::Element* sums;  // [81][32], or of a 3x3 convolution [5 columns][3][9][32]
    std::ptrdiff_t block;
    const float* residual;  // Of this position and block, like `shift` and `to`.
    const float* shift;
    float* to;
    std::uint32_t* maximum;

    GORYU_INLINE V::F bias(int at) const {
        const V::F constant = V::load(conv->bias + block + at);
        return shift ? V::add(constant, V::load(shift + at)) : constant;
    }
};

template <class Kind>
struct LargeOutput {
    template <Activation kActivation>
    struct Of {
        static void run(const OutputCall<Kind>& call) {
            using S = typename Kind::Sums;
            const std::ptrdiff_t c = call.conv->outputs;
            V::I maximum = V::set1_i(static_cast<std::int32_t>(*call.maximum));
            for (int at = 0; at < kBlock; at += V::kLanes) {
                const V::F bias = call.bias(at);
                const auto scale = call.kind->scale(*call.conv, call.block + at);
                for (int tile = 0; tile < kTiles; ++tile) {
                    const std::ptrdiff_t first = (tile / 3 * 3 * kBoardSide + tile % 3 * 3) * c + at;
                    for (int r = 0; r < 3; ++r) {
                        const auto* from = call.sums + (r * kTiles + tile) * kBlock + at;
                        typename S::Vector y[5], z[3];
                        for (int i = 0; i < 5; ++i) y[i] = S::load(from + i * kRows3);
                        GORYU_OUTPUT_TRANSFORM(y[0], y[1], y[2], y[3], y[4], S::add, S::sub, z[0], z[1], z[2])
                        for (int j = 0; j < 3; ++j) {
                            const std::ptrdiff_t to = first + (r * kBoardSide + j) * c;
                            V::F v = V::add(Kind::value(z[j], scale, 0), bias);
                            if (call.residual) v = V::add(v, V::load(call.residual + to));
                            v = activate<kActivation>(v);
                            V::store(call.to + to, v);
                            maximum = V::max_bits(maximum, v);
                        }
                    }
                }
            }
            *call.maximum = V::greatest(maximum);
        }
    };
};

// kSums: how many squares have sums of their own; square s has those of s % kSums.
template <class Kind, int kSums>
struct PlainOutput {
    template <Activation kActivation>
    struct Of {
        static void run(const OutputCall<Kind>& call) {
            V::I maximum = V::set1_i(static_cast<std::int32_t>(*call.maximum));
            for (int at = 0; at < kBlock; at += V::kLanes) {
                const V::F bias = call.bias(at);
                const auto scale = call.kind->scale(*call.conv, call.block + at);
                for (int s = 0; s < kBoardSquares; ++s) {
                    const std::ptrdiff_t to = s * static_cast<std::ptrdiff_t>(call.conv->outputs) + at;
                    const auto sum = Kind::Sums::load(call.sums + s % kSums * kBlock + at);
                    V::F v = V::add(call.kind->value(sum, scale, s), bias);
                    if (call.residual) v = V::add(v, V::load(call.residual + to));
                    v = activate<kActivation>(v);
                    V::store(call.to + to, v);
                    maximum = V::max_bits(maximum, v);
                }
            }
            *call.maximum = V::greatest(maximum);
        }
    };
};

template <class Kind>
using SmallOutput = PlainOutput<Kind, kBoardSquares>;
template <class Kind>
using RowOutput = PlainOutput<Kind, kBoardSide>;

template <template <class> class Output, class Kind>
GORYU_INLINE void finish(const Kind& kind, const ConvCall& call, int n, std::ptrdiff_t block,
                         const typename Kind::Sums::Element* sums) {
    const std::ptrdiff_t map = static_cast<std::ptrdiff_t>(n) * kBoardSquares * call.outputs + block;
    with_activation<Output<Kind>::template Of>(
        call.activation, OutputCall<Kind>{&call, &kind, sums, block, offset(call.residual, map),
                                          offset(call.shift, n * call.shift_stride + block), call.to + map,
                                          call.to_maxima + n});
}

// ---- Convolutions

template <class Kind>
void conv3(const ConvCall& call) {
    using Element = typename Kind::Inputs::Element;
    using Sum = typename Kind::Sums::Element;
    const std::ptrdiff_t inputs = call.inputs, outputs = call.outputs;
    auto* const transformed = static_cast<Element*>(call.transformed);
    auto* const sums = static_cast<Sum*>(call.sums);       // [positions][5][9][32]
    auto* const rows = sums + call.positions * kColumn;  // [positions][5][3][9][32]
    const std::ptrdiff_t patches = kPatch * kTiles * inputs;
    const auto* weights = static_cast<const Element*>(call.weights);
    for (int n = 0; n < call.positions; ++n) {
        transform_inputs(Kind(call, n), call.from + n * kBoardSquares * inputs, call.inputs,
                         static_cast<Element*>(call.columns), transformed + n * patches);
        call.to_maxima[n] = 0;
    }
    for (std::ptrdiff_t block = 0; block < outputs; block += kBlock) {
        for (int column = 0; column < 5; ++column, weights += 5 * inputs * kBlock) {
            for (int i = 0; i < 5; ++i) {  // A place's weights stay in the first-level cache for all positions.
                const Element* from = transformed + (column * 5 + i) * kTiles * inputs;
                for (int n = 0; n < call.positions; ++n) {
                    products<Kind>(from + n * patches, inputs, weights + i * inputs * kBlock, call.inputs,
                                   Share{call.positions, n}, sums + n * kColumn + i * kTiles * kBlock);
                }
            }
            for (int n = 0; n < call.positions; ++n) {
                transform_column<typename Kind::Sums>(sums + n * kColumn, rows + (n * 5 + column) * kRows3);
            }
        }
        for (int n = 0; n < call.positions; ++n) {
            finish<LargeOutput>(Kind(call, n), call, n, block, rows + n * 5 * kRows3);
        }
    }
}

// Begins a convolution without a transform: writes the inputs of position n, [81][inputs].
template <class Kind>
GORYU_INLINE void begin_plain(const Kind& kind, const ConvCall& call, int n, typename Kind::Inputs::Element* squares) {
    const float* from = call.from + static_cast<std::ptrdiff_t>(n) * kBoardSquares * call.inputs;
    for (int s = 0; s < kBoardSquares; ++s, from += call.inputs, squares += call.inputs) {
        for (int i = 0; i < call.inputs; i += Kind::Inputs::kCount) {
            Kind::Inputs::store(squares + i, kind.input(from + i, s));
        }
    }
    call.to_maxima[n] = 0;
}

template <class Kind>
void conv1(const ConvCall& call) {
    using Element = typename Kind::Inputs::Element;
    const std::ptrdiff_t inputs = call.inputs;
    auto* const squares = static_cast<Element*>(call.transformed);
    auto* const sums = static_cast<typename Kind::Sums::Element*>(call.sums);
    for (int n = 0; n < call.positions; ++n) {
        const Kind kind(call, n);
        begin_plain(kind, call, n, squares);
        const auto* weights = static_cast<const Element*>(call.weights);
        for (std::ptrdiff_t block = 0; block < call.outputs; block += kBlock, weights += inputs * kBlock) {
            for (int s = 0; s < kBoardSquares; s += kTiles) {
                products<Kind>(squares + s * inputs, inputs, weights, call.inputs, Share{kTiles, s / kTiles},
                               sums + s * kBlock);
            }
            finish<SmallOutput>(kind, call, n, block, sums);
        }
    }
}

// One row of outputs, to which all nine rows of the map contribute, is added to each row of the residual.
template <class Kind>
void conv9(const ConvCall& call) {
    using Element = typename Kind::Inputs::Element;
    using Sums = typename Kind::Sums;
    constexpr int kRow = kBoardSide * kBlock;
    static_assert(kTiles == kBoardSide);  // `products` multiplies nine squares.
    const std::ptrdiff_t inputs = call.inputs;
    auto* const squares = static_cast<Element*>(call.transformed);
    auto* const sums = static_cast<typename Sums::Element*>(call.sums);
    auto* const terms = sums + kRow;
    for (int n = 0; n < call.positions; ++n) {
        const Kind kind(call, n);
        begin_plain(kind, call, n, squares);
        const auto* weights = static_cast<const Element*>(call.weights);
        for (std::ptrdiff_t block = 0; block < call.outputs; block += kBlock) {
            for (int i = 0; i < kRow; i += V::kLanes) Sums::store(sums + i, Sums::zero());
            for (int rank = 0; rank < kBoardSide; ++rank, weights += inputs * kBlock) {
                products<Kind>(squares + rank * kBoardSide * inputs, inputs, weights, call.inputs, Share{1, 0}, terms);
                for (int i = 0; i < kRow; i += V::kLanes) {
                    Sums::store(sums + i, Sums::add(Sums::load(sums + i), Sums::load(terms + i)));
                }
            }
            finish<RowOutput>(kind, call, n, block, sums);
        }
    }
}

// ---- The stem: for each square the sum of the weights of the pieces around it. Sums of integers are exact, so
// their order does not matter.

// Four weights of 14 bits are added in 16 bits before the sum goes on in 32. The weights of 32 channels are in the
// order 0, 16, 1, 17, ..., so that the even places make one vector of sums and the odd ones another.
struct StemIntegers {
    using Element = std::int16_t;
    using Sums = Words;
    static constexpr int kTogether = 4;

    GORYU_INLINE static void add(V::I* sums, const Element* weights, const std::int32_t* rows) {
        const V::I even = V::set1_i(1), odd = V::set1_i(1 << 16);
        for (int v = 0; v < kBlock / V::kLanes; v += 2) {
            const Element* const at = weights + v * V::kLanes;
            const V::H left = V::add_h(V::load_h(at + rows[0]), V::load_h(at + rows[1]));
            const V::H right = V::add_h(V::load_h(at + rows[2]), V::load_h(at + rows[3]));
            const V::H four = V::add_h(left, right);
            sums[v] = V::dot_h(sums[v], even, four);
            sums[v + 1] = V::dot_h(sums[v + 1], odd, four);
        }
    }
    GORYU_INLINE static V::F value(V::I sum, const float* factors) {
        return V::mul(V::to_float(sum), V::load(factors));
    }
    // Where vector v of a block's sums has its channels.
    static constexpr int channel_of(int v) { return v / 2 * V::kLanes + v % 2 * (kBlock / 2); }
};

struct StemSingles {
    using Element = float;
    using Sums = Floats;
    static constexpr int kTogether = 1;

    GORYU_INLINE static void add(V::F* sums, const Element* weights, const std::int32_t* rows) {
        for (int v = 0; v < kBlock / V::kLanes; ++v) {
            sums[v] = V::add(sums[v], V::load(weights + rows[0] + v * V::kLanes));
        }
    }
    GORYU_INLINE static V::F value(V::F sum, const float*) { return sum; }
    static constexpr int channel_of(int v) { return v * V::kLanes; }
};

// One square of one position: which weights are added, and to what.
template <class Kind>
struct StemSquare {
    const StemCall* call;
    const typename Kind::Element* weights;
    const std::int32_t* rows;          // Where the rows to add begin.
    int count;                         // Of rows, a multiple of kTogether.
    const typename Kind::Sums::Element* common;  // What every square has, [outputs].
    float* to;
    V::I* maximum;
};

template <class Kind>
struct Stem {
    template <Activation kActivation>
    struct Square {
        static void run(const StemSquare<Kind>& square) {
            constexpr int kVectors = kBlock / V::kLanes;
            const StemCall& call = *square.call;
            V::I maximum = *square.maximum;
            for (int channel = 0; channel < call.outputs; channel += kBlock) {
                typename Kind::Sums::Vector sums[kVectors];
                for (int v = 0; v < kVectors; ++v) sums[v] = Kind::Sums::load(square.common + channel + v * V::kLanes);
                for (int i = 0; i < square.count; i += Kind::kTogether) {
                    Kind::add(sums, square.weights + channel, square.rows + i);
                }
                for (int v = 0; v < kVectors; ++v) {
                    const int at = channel + Kind::channel_of(v);
                    const V::F sum = Kind::value(sums[v], offset(call.factors, at));
                    const V::F x = activate<kActivation>(V::add(sum, V::load(call.bias + at)));
                    V::store(square.to + at, x);
                    maximum = V::max_bits(maximum, x);
                }
            }
            *square.maximum = maximum;
        }
    };
};

// Fills up a list of rows with rows of zeros.
template <class Kind>
GORYU_INLINE int filled_up(std::int32_t* rows, int count, std::int32_t zeros) {
    while (count % Kind::kTogether != 0) rows[count++] = zeros;
    return count;
}

template <class Kind>
void stem(const StemCall& call) {
    using Element = typename Kind::Element;
    constexpr int kVectors = kBlock / V::kLanes;
    constexpr int kAtOnce = V::kLanes > 8 ? V::kLanes : 8;
    const std::int32_t c = call.outputs;
    const auto* const board = static_cast<const Element*>(call.board);
    const auto* const hands = static_cast<const Element*>(call.hands);
    const std::int32_t zeros = kStemPlanes * 9 * c;
    auto* const common = static_cast<typename Kind::Sums::Element*>(call.sums);
    std::int32_t offsets[kBoardSquares][kListedPlanes];  // Of each square's planes among the rows of a place.
    std::int32_t rows[9 * kListedPlanes + kAtOnce];
    for (int n = 0; n < call.positions; ++n) {
        const Features& features = call.features[n];
        for (int s = 0; s < kBoardSquares; ++s) {
            for (int i = 0; i < features.counts[s]; i += kAtOnce) {
                for (int k = 0; k < kAtOnce; ++k) offsets[s][i + k] = features.planes[s][i + k] * c;
            }
        }
        for (int channel = 0; channel < c; channel += kBlock) {
            typename Kind::Sums::Vector sums[kVectors];
            for (int v = 0; v < kVectors; ++v) sums[v] = Kind::Sums::zero();
            for (int h = 0; h < features.hand_count; ++h) {
                // The last row of the hands is zero.
                const std::int32_t row[4] = {features.hands[h] * c, kHandRows * c, kHandRows * c, kHandRows * c};
                Kind::add(sums, hands + channel, row);
            }
            for (int v = 0; v < kVectors; ++v) Kind::Sums::store(common + channel + v * V::kLanes, sums[v]);
        }
        float* to = call.to + static_cast<std::ptrdiff_t>(n) * kBoardSquares * c;
        V::I maximum = V::zero();
        for (int r = 0; r < kBoardSide; ++r) {
            for (int f = 0; f < kBoardSide; ++f, to += c) {
                int count = 0;
                for (int a = r == 0; a < 3 - (r == kBoardSide - 1); ++a) {
                    for (int b = f == 0; b < 3 - (f == kBoardSide - 1); ++b) {
                        const int s = (r + a - 1) * kBoardSide + f + b - 1;
                        const std::int32_t first = (3 * a + b) * kStemPlanes * c;
                        // Whole vectors, so that hardly any branch is mispredicted; those too many are overwritten.
                        for (int i = 0; i < features.counts[s]; i += V::kLanes) {
                            V::store_i(rows + count + i, V::add_i(V::load_i(offsets[s] + i), V::set1_i(first)));
                        }
                        count += features.counts[s];
                    }
                }
                count = filled_up<Kind>(rows, count, zeros);
                with_activation<Stem<Kind>::template Square>(
                    call.activation, StemSquare<Kind>{&call, board, rows, count, common, to, &maximum});
            }
        }
        call.to_maxima[n] = V::greatest(maximum);
    }
}

// ---- The small layers

void pool(const PoolCall& call) {
    const V::F share = V::set1(1.0F / kBoardSquares);
    for (int n = 0; n < call.positions; ++n) {
        const float* map = call.from + static_cast<std::ptrdiff_t>(n) * kBoardSquares * call.channels;
        for (int c = 0; c < call.channels; c += V::kLanes) {
            V::F sum = V::load(map + c), maximum = sum;
            for (int s = 1; s < kBoardSquares; ++s) {
                const V::F x = V::load(map + static_cast<std::ptrdiff_t>(s) * call.channels + c);
                sum = V::add(sum, x);
                maximum = V::max(maximum, x);
            }
            if (call.mean) V::store(call.mean + n * call.stride + c, V::mul(sum, share));
            if (call.maximum) V::store(call.maximum + n * call.stride + c, maximum);
        }
    }
}

// kVectors: as many sums at once hide the time that one addition takes.
template <Activation kActivation, int kVectors>
GORYU_INLINE void dense_outputs(const DenseCall& call, int n, int output) {
    V::F sums[kVectors];
    for (int v = 0; v < kVectors; ++v) sums[v] = V::load(call.bias + output + v * V::kLanes);
    const float* from = call.from + n * call.from_stride;
    const float* weights = call.weights + output;
    for (int g = 0; g < call.groups; ++g, from += call.width) {
        for (int i = 0; i < call.used; ++i, weights += call.outputs) {
            const V::F x = V::set1(from[i]);
            for (int v = 0; v < kVectors; ++v) {
                sums[v] = V::add(sums[v], V::mul(x, V::load(weights + v * V::kLanes)));
            }
        }
    }
    float* to = call.to + n * call.to_stride + output;
    for (int v = 0; v < kVectors; ++v) V::store(to + v * V::kLanes, activate<kActivation>(sums[v]));
}

template <Activation kActivation>
struct Dense {
    static void run(const DenseCall& call) {
        constexpr int kVectors = kBlock / V::kLanes;
        for (int n = 0; n < call.positions; ++n) {
            int output = 0;
            for (; output + 2 * kBlock <= call.outputs; output += 2 * kBlock) {
                dense_outputs<kActivation, 2 * kVectors>(call, n, output);
            }
            if (output < call.outputs) dense_outputs<kActivation, kVectors>(call, n, output);
        }
    }
};

void dense(const DenseCall& call) { with_activation<Dense>(call.activation, call); }

template <Activation kActivation>
struct Spread {
    static void run(const SpreadCall& call) {
        for (int n = 0; n < call.positions; ++n) {
            V::I maximum = V::zero();
            const float* scale = offset(call.scale, n * call.scale_stride);
            const float* shift = offset(call.shift, n * call.shift_stride);
            for (int s = 0; s < kBoardSquares; ++s) {
                const std::ptrdiff_t at = (static_cast<std::ptrdiff_t>(n) * kBoardSquares + s) * call.channels;
                for (int c = 0; c < call.channels; c += V::kLanes) {
                    V::F x = V::load(call.from + at + c);
                    if (scale) x = V::mul(x, V::load(scale + c));
                    if (shift) x = V::add(x, V::load(shift + c));
                    if (call.residual) x = V::add(x, V::load(call.residual + at + c));
                    x = activate<kActivation>(x);
                    V::store(call.to + at + c, x);
                    maximum = V::max_bits(maximum, x);
                }
            }
            call.to_maxima[n] = V::greatest(maximum);
        }
    }
};

void spread(const SpreadCall& call) { with_activation<Spread>(call.activation, call); }

using Convolve = void (*)(const ConvCall&);

#ifdef GORYU_HAS_TILES
#include "winograd_tiles.h"
constexpr Convolve kBytes1 = nullptr, kBfloats3 = tile_convolution<3>, kBfloats1 = tile_convolution<1>;
constexpr auto* kFillPlaces = fill_places;
#elif defined(GORYU_HAS_VNNI)
constexpr Convolve kBytes1 = conv1<Bytes>, kBfloats3 = nullptr, kBfloats1 = nullptr;
constexpr auto kFillPlaces = nullptr;
#else
constexpr Convolve kBytes1 = nullptr, kBfloats3 = nullptr, kBfloats1 = nullptr;
constexpr auto kFillPlaces = nullptr;
#endif

constexpr Layers kLayers{stem<StemIntegers>, stem<StemSingles>, conv3<Integers>, conv3<Singles>,
                         conv1<Integers>,    conv1<Singles>,    kBytes1,         kBfloats3,
                         kBfloats1,          kFillPlaces,       conv9<Integers>, conv9<Singles>,
                         pool,               dense,             spread};
