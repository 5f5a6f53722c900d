#include "winograd.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>

#include "dlshogi.h"
#include "policy.h"

#if defined(__x86_64__) || defined(_M_X64)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace goryu {
namespace {

#if defined(__x86_64__) || defined(_M_X64)

struct Cpuid {
    std::uint32_t a, b, c, d;

    Cpuid(std::uint32_t leaf, std::uint32_t subleaf) noexcept {
#if defined(_MSC_VER)
        int out[4];
        __cpuidex(out, static_cast<int>(leaf), static_cast<int>(subleaf));
        a = out[0], b = out[1], c = out[2], d = out[3];
#else
        __cpuid_count(leaf, subleaf, a, b, c, d);
#endif
    }
};

// Which registers the operating system saves.
std::uint64_t saved_registers() noexcept {
#if defined(_MSC_VER)
    return _xgetbv(0);
#else
    std::uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
#endif
}

// Does the operating system give this process the registers of AMX? They are large, so Linux wants to be asked.
bool may_use_tiles() noexcept {
#if defined(__linux__)
    constexpr long kAskForRegisters = 0x1023, kTiles = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA.
    return syscall(SYS_arch_prctl, kAskForRegisters, kTiles) == 0;
#else
    return false;
#endif
}

bool has_instructions(Instructions instructions) noexcept {
    constexpr std::uint64_t kYmm = 0x6, kZmm = 0xE6;
    const auto bit = [](std::uint32_t word, int i) { return (word >> i & 1) != 0; };
    if (Cpuid(0, 0).a < 7) return false;
    const Cpuid basic(1, 0), extended(7, 0);
    const bool has_fma = bit(basic.c, 12), has_xsave = bit(basic.c, 27), has_avx = bit(basic.c, 28);
    if (!has_fma || !has_xsave || !has_avx || !bit(extended.b, 5)) return false;
    const std::uint64_t saved = saved_registers();
    if ((saved & kYmm) != kYmm) return false;
    const bool has_zmm = (saved & kZmm) == kZmm;
    const bool has_avx512 =
        has_zmm && bit(extended.b, 16) && bit(extended.b, 17) && bit(extended.b, 30) && bit(extended.b, 31);
    const bool has_vnni = has_avx512 && bit(extended.c, 11);
    const bool has_bfloats = extended.a >= 1 && bit(Cpuid(7, 1).a, 5);
    const bool has_tiles = bit(extended.d, 24) && bit(extended.d, 22);  // Tiles, and products of bfloat16.
    switch (instructions) {
        case Instructions::kAmx: return has_vnni && has_bfloats && has_tiles && may_use_tiles();
        case Instructions::kAvx512Vnni: return has_vnni;
        case Instructions::kAvx512: return has_avx512;
        case Instructions::kAvxVnni: return extended.a >= 1 && bit(Cpuid(7, 1).a, 4);
        case Instructions::kAvx2: return true;
        default: return false;
    }
}

#else

bool has_instructions(Instructions instructions) noexcept {
#if defined(__aarch64__) || defined(_M_ARM64)
    return instructions == Instructions::kNeon;
#elif defined(__wasm__)
    return instructions == Instructions::kWasm;
#else
    return false;
#endif
}

#endif

const Layers* code_of(Instructions instructions) noexcept {
    switch (instructions) {
        case Instructions::kAmx: return layers_amx();
        case Instructions::kAvx512Vnni: return layers_avx512_vnni();
        case Instructions::kAvx512: return layers_avx512();
        case Instructions::kAvxVnni: return layers_avx_vnni();
        case Instructions::kAvx2: return layers_avx2();
        case Instructions::kNeon: return layers_neon();
        case Instructions::kWasm: return layers_wasm();
        default: return nullptr;
    }
}

constexpr std::size_t kLine = 64, kLargePage = std::size_t{2} << 20;
constexpr int kMostChannels = 4096;
constexpr int kPolicyChannels = 27;
static_assert(kHandRows == kHandPlanes + kNyugyokuPlanes && kStemPlanes == kBoardPlanes);

template <class Element>
std::size_t floats_for(std::size_t count) {
    return (count * sizeof(Element) + sizeof(float) - 1) / sizeof(float);
}

bool is_in_bfloats(const Layer& layer) noexcept {
    return layer.kind == Layer::Kind::kConv3Bfloat || layer.kind == Layer::Kind::kConv1Bfloat;
}

bool is_convolution(const Layer& layer) noexcept {
    using Kind = Layer::Kind;
    return layer.kind == Kind::kConv3 || layer.kind == Kind::kConv1 || layer.kind == Kind::kConv1Bytes ||
           is_in_bfloats(layer) || layer.kind == Kind::kConv9;
}

// How many matrices of weights a convolution has.
int places_of(const Layer& layer) noexcept {
    if (layer.kind == Layer::Kind::kConv3) return kPatch;
    if (layer.kind == Layer::Kind::kConv3Bfloat) return 3 * 3;
    return layer.kind == Layer::Kind::kConv9 ? kBoardSide : 1;
}

auto convolution_of(const Layers& code, Layer::Kind kind, bool is_integer) noexcept {
    if (kind == Layer::Kind::kConv3) return is_integer ? code.conv3_16 : code.conv3_32;
    if (kind == Layer::Kind::kConv1) return is_integer ? code.conv1_16 : code.conv1_32;
    if (kind == Layer::Kind::kConv1Bytes) return code.conv1_8;
    if (kind == Layer::Kind::kConv3Bfloat) return code.conv3_bfloat;
    if (kind == Layer::Kind::kConv1Bfloat) return code.conv1_bfloat;
    return is_integer ? code.conv9_16 : code.conv9_32;
}

bool is_width(int n) { return n > 0 && n <= kMostChannels && n % kBlock == 0; }

}  // namespace

const char* name_of(Instructions instructions) noexcept {
    constexpr const char* kNames[] = {"amx", "avx512-vnni", "avx512", "avx-vnni", "avx2", "neon", "wasm", "none"};
    return kNames[static_cast<int>(instructions)];
}

bool is_usable(Instructions instructions) noexcept {
    return code_of(instructions) != nullptr && has_instructions(instructions);
}

bool has_bytes(Instructions instructions) noexcept {
    return is_usable(instructions) && code_of(instructions)->conv1_8 != nullptr;
}

bool has_bfloats(Instructions instructions) noexcept {
    return is_usable(instructions) && code_of(instructions)->conv1_bfloat != nullptr;
}

AlignedBytes aligned_bytes(std::size_t size, bool has_large_pages) {
    const std::size_t alignment = has_large_pages ? kLargePage : kLine;
    size = (size + alignment - 1) / alignment * alignment;
    AlignedBytes memory(::operator new(size, std::align_val_t{alignment}), Release{alignment});
#if defined(__linux__)
    // Without them the memory is only slower.
    if (has_large_pages) static_cast<void>(madvise(memory.get(), size, MADV_HUGEPAGE));
#endif
    std::memset(memory.get(), 0, size);
    return memory;
}

// ---- The network

WinogradNetwork::WinogradNetwork(Instructions instructions, bool is_integer, std::vector<int> maps,
                                 std::vector<int> vectors)
    : code_(is_usable(instructions) ? code_of(instructions) : nullptr),
      is_integer_(is_integer),
      map_channels_(std::move(maps)),
      vector_lengths_(std::move(vectors)) {
    check(code_ != nullptr, "instructions that this processor has");
    check(!is_integer || code_->conv3_16 != nullptr, "instructions for integers");
    check(std::all_of(map_channels_.begin(), map_channels_.end(), is_width), "maps whose width is a multiple of 32");
    check(std::all_of(vector_lengths_.begin(), vector_lengths_.end(), is_width),
          "vectors whose length is a multiple of 32");
}

void WinogradNetwork::check(bool is_right, const char* what) const {
    if (!is_right) throw std::invalid_argument(std::string("expected ") + what);
}

bool WinogradNetwork::is_map(int buffer, int channels) const noexcept {
    return buffer >= 0 && buffer < static_cast<int>(map_channels_.size()) && map_channels_[buffer] == channels;
}

bool WinogradNetwork::is_vector(int buffer) const noexcept {
    return buffer >= 0 && buffer < static_cast<int>(vector_lengths_.size());
}

void WinogradNetwork::add(Layer& layer) {
    const auto size = [](const auto& memory) { return static_cast<long long>(memory.size()); };
    const long long inputs = layer.inputs, outputs = layer.outputs;
    const auto fits = [&](int vector) {
        return vector < 0 || (is_vector(vector) && vector_lengths_[vector] == layer.outputs);
    };
    check(is_width(layer.outputs), "outputs in multiples of 32");
    if (layer.kind == Layer::Kind::kStem) {
        const long long weights = is_integer_ ? size(layer.weights16) : size(layer.weights32);
        const long long hands = is_integer_ ? size(layer.hands16) : size(layer.hands32);
        check(is_map(layer.to, layer.outputs) && weights == (kBoardPlanes * 9 + 1) * outputs &&
                  hands == (kHandRows + 1) * outputs && size(layer.bias) == outputs &&
                  (!is_integer_ || size(layer.factors) == outputs),
              "a stem that fits");
    } else if (layer.kind == Layer::Kind::kInput) {
        check(layer.used > 0 && layer.used <= layer.outputs && is_map(layer.to, layer.outputs), "an input that fits");
    } else if (is_convolution(layer)) {
        const bool has_bytes = layer.kind == Layer::Kind::kConv1Bytes, has_bfloats = is_in_bfloats(layer);
        const long long area = places_of(layer);
        const long long weights = is_integer_ ? size(layer.weights16) * (has_bytes ? 2 : 1) : size(layer.weights32);
        check(is_map(layer.from, layer.inputs) && is_map(layer.to, layer.outputs) && layer.from != layer.to &&
                  (layer.residual < 0 || is_map(layer.residual, layer.outputs)) && fits(layer.shift) &&
                  weights == area * inputs * outputs && size(layer.bias) == outputs &&
                  (!is_integer_ || has_bfloats || size(layer.factors) == outputs) &&
                  (!is_integer_ || has_bytes || has_bfloats || layer.level >= 1.0F) &&
                  (is_integer_ || (!has_bytes && !has_bfloats)) &&
                  convolution_of(*code_, layer.kind, is_integer_) != nullptr &&
                  (!has_bytes || size(layer.totals) == outputs),
              "a convolution that fits");
    } else if (layer.kind == Layer::Kind::kPool) {
        const auto has_room = [&](int at) { return at <= vector_lengths_[layer.to] - layer.outputs; };
        check(is_map(layer.from, layer.outputs) && is_vector(layer.to) && has_room(layer.mean_at) &&
                  has_room(layer.maximum_at),
              "a pool that fits");
    } else if (layer.kind == Layer::Kind::kDense) {
        const long long places = static_cast<long long>(layer.groups) * layer.width;
        const bool reads_map = layer.groups == kBoardSquares && is_map(layer.from, layer.width);
        const bool reads_vector = layer.groups == 1 && is_vector(layer.from) && layer.from != layer.to &&
                                  places <= vector_lengths_[layer.from];
        check((reads_map || reads_vector) && layer.used > 0 && layer.used <= layer.width && is_vector(layer.to) &&
                  vector_lengths_[layer.to] == layer.outputs &&
                  size(layer.weights32) == static_cast<long long>(layer.groups) * layer.used * outputs &&
                  size(layer.bias) == outputs,
              "a dense layer that fits");
    } else {
        check(is_map(layer.from, layer.outputs) && is_map(layer.to, layer.outputs) && fits(layer.scale) &&
                  fits(layer.shift) && (layer.residual < 0 || is_map(layer.residual, layer.outputs)),
              "a layer that spreads and fits");
    }
    layers_.push_back(std::move(layer));
}

void WinogradNetwork::set_outputs(int policy, std::vector<float> policy_bias, int value, double steepness) {
    const auto maps = static_cast<int>(map_channels_.size());
    check(policy >= 0 && policy < maps && map_channels_[policy] >= kPolicyChannels && is_vector(value) &&
              policy_bias.size() == kDlshogiLabels,
          "outputs that fit");
    policy_ = policy;
    policy_bias_ = std::move(policy_bias);
    value_ = value;
    steepness_ = steepness;
    find_readers();
    if (is_integer_) {
        pack(&Layer::weights16, packed16_);
    } else {
        pack(&Layer::weights32, packed32_);
    }
}

void WinogradNetwork::find_readers() {
    using Kind = Layer::Kind;
    has_places_.assign(map_channels_.size(), false);
    has_floats_ = has_places_;
    has_floats_[policy_] = true;
    for (const Layer& layer : layers_) {
        const bool adds_map = is_convolution(layer) || layer.kind == Kind::kSpread;
        if (adds_map && layer.residual >= 0) has_floats_[layer.residual] = true;
        if (is_in_bfloats(layer)) {
            has_places_[layer.from] = true;
        } else if (adds_map || layer.kind == Kind::kPool ||
                   (layer.kind == Kind::kDense && layer.groups == kBoardSquares)) {
            has_floats_[layer.from] = true;
        }
    }
}

template <class Element>
void WinogradNetwork::pack(Aligned<Element> Layer::*weights, Aligned<Element>& packed) {
    std::size_t size = 0;
    for (const Layer& layer : layers_) size += is_convolution(layer) ? (layer.*weights).size() : 0;
    packed = Aligned<Element>(size, true);
    Element* to = packed.data();
    for (Layer& layer : layers_) {
        if (!is_convolution(layer)) continue;
        layer.weights_at = static_cast<std::size_t>(to - packed.data());
        to = std::copy_n((layer.*weights).data(), (layer.*weights).size(), to);
        layer.*weights = Aligned<Element>();
    }
}

void WinogradNetwork::run(NetworkInputs inputs, int positions, Workspace& work) const {
    for (const Layer& layer : layers_) {
        run(layer, inputs, positions, work);
        if (is_in_bfloats(layer) || layer.kind == Layer::Kind::kDense || layer.kind == Layer::Kind::kPool) continue;
        if (has_places_[layer.to]) {
            code_->fill_places(work.maps_[layer.to].data(), positions, layer.outputs, work.places_[layer.to].data());
        }
    }
}

void WinogradNetwork::run(const Layer& layer, NetworkInputs inputs, int positions, Workspace& work) const {
    const auto map = [&](int i) { return i < 0 ? nullptr : work.maps_[i].data(); };
    const auto vector = [&](int i) { return i < 0 ? nullptr : work.vectors_[i].data(); };
    const auto maxima = [&](int i) { return i < 0 ? nullptr : work.maxima_[i].data(); };
    switch (layer.kind) {
        case Layer::Kind::kStem: {
            const void* weights =
                is_integer_ ? static_cast<const void*>(layer.weights16.data()) : layer.weights32.data();
            const void* hands =
                is_integer_ ? static_cast<const void*>(layer.hands16.data()) : layer.hands32.data();
            (is_integer_ ? code_->stem16 : code_->stem32)(
                {inputs.features, map(layer.to), positions, layer.outputs, weights, hands,
                 is_integer_ ? layer.factors.data() : nullptr, layer.bias.data(), layer.activation, maxima(layer.to),
                 work.sums_.data()});
            return;
        }
        case Layer::Kind::kInput:
            copy_planes(layer, inputs.planes, positions, work);
            return;
        case Layer::Kind::kConv3:
        case Layer::Kind::kConv1:
        case Layer::Kind::kConv1Bytes:
        case Layer::Kind::kConv3Bfloat:
        case Layer::Kind::kConv1Bfloat:
        case Layer::Kind::kConv9: {
            const auto convolution = convolution_of(*code_, layer.kind, is_integer_);
            const void* const packed = is_integer_ ? static_cast<const void*>(packed16_.data() + layer.weights_at)
                                                   : packed32_.data() + layer.weights_at;
            const auto places = [&](int i) { return has_places_[i] ? work.places_[i].data() : nullptr; };
            const bool writes_floats = !is_in_bfloats(layer) || has_floats_[layer.to];
            convolution({map(layer.from), writes_floats ? map(layer.to) : nullptr, places(layer.from), places(layer.to),
                         map(layer.residual), vector(layer.shift),
                         layer.shift < 0 ? 0 : vector_lengths_[layer.shift], positions, layer.inputs, layer.outputs,
                         packed, layer.factors.data(), layer.totals.data(), layer.bias.data(), layer.activation,
                         layer.level, maxima(layer.from), maxima(layer.to), work.columns_.data(), work.transformed_.data(),
                         work.sums_.data()});
            return;
        }
        case Layer::Kind::kPool: {
            float* to = vector(layer.to);
            code_->pool({map(layer.from), layer.mean_at < 0 ? nullptr : to + layer.mean_at,
                         layer.maximum_at < 0 ? nullptr : to + layer.maximum_at, positions, layer.outputs,
                         vector_lengths_[layer.to]});
            return;
        }
        case Layer::Kind::kDense: {
            const bool reads_map = layer.groups == kBoardSquares;
            const std::ptrdiff_t stride =
                reads_map ? kBoardSquares * map_channels_[layer.from] : vector_lengths_[layer.from];
            code_->dense({reads_map ? map(layer.from) : vector(layer.from), vector(layer.to), positions, stride,
                          vector_lengths_[layer.to], layer.groups, layer.used, layer.width, layer.outputs,
                          layer.weights32.data(), layer.bias.data(), layer.activation});
            return;
        }
        case Layer::Kind::kSpread:
            code_->spread({map(layer.from), map(layer.to), vector(layer.scale), vector(layer.shift),
                           map(layer.residual), positions, layer.outputs,
                           layer.scale < 0 ? 0 : vector_lengths_[layer.scale],
                           layer.shift < 0 ? 0 : vector_lengths_[layer.shift], layer.activation, maxima(layer.to)});
    }
}

void WinogradNetwork::copy_planes(const Layer& layer, const float* planes, int positions, Workspace& work) const {
    float* to = work.maps_[layer.to].data();
    for (int n = 0; n < positions; ++n, to += static_cast<std::ptrdiff_t>(kBoardSquares) * layer.outputs) {
        std::fill_n(to, static_cast<std::ptrdiff_t>(kBoardSquares) * layer.outputs, 0.0F);
        float greatest = 0.0F;
        for (int plane = 0; plane < layer.used; ++plane) {
            for (int s = 0; s < kBoardSquares; ++s) {
                const float x = *planes++;
                if (x == 0.0F) continue;
                to[static_cast<std::ptrdiff_t>(s) * layer.outputs + plane] = x;
                if (!(std::fabs(x) <= greatest)) greatest = std::fabs(x);
            }
        }
        std::memcpy(&work.maxima_[layer.to][n], &greatest, sizeof greatest);
    }
}

float WinogradNetwork::logit(const Workspace& work, int n, int label) const noexcept {
    const int channels = map_channels_[policy_];
    const int place = (n * kBoardSquares + label % kBoardSquares) * channels + label / kBoardSquares;
    return work.maps_[policy_].data()[place] + policy_bias_[label];
}

double WinogradNetwork::value(const Workspace& work, int n) const noexcept {
    const double x = work.vectors_[value_].data()[static_cast<std::ptrdiff_t>(n) * vector_lengths_[value_]];
    return 2.0 / (1.0 + std::exp(-steepness_ * x)) - 1.0;
}

Workspace::Workspace(const WinogradNetwork& network) {
    constexpr std::size_t kMost = WinogradNetwork::kMostPositions;
    std::size_t widest = kBlock;
    for (std::size_t i = 0; i < network.map_channels_.size(); ++i) {
        const int channels = network.map_channels_[i];
        maps_.emplace_back(kMost * kBoardSquares * channels);
        places_.emplace_back(network.has_places_[i] ? kMost * kBorderedPlaces * channels : 0);
        maxima_.emplace_back(kMost);
        widest = std::max(widest, static_cast<std::size_t>(channels));
    }
    for (const int length : network.vector_lengths_) vectors_.emplace_back(kMost * length);
    const auto space = [&](std::size_t count) {
        return network.is_integer_ ? floats_for<std::int16_t>(count) : count;
    };
    columns_ = Aligned<float>(space(kTransformedColumns * kBlock));
    transformed_ = Aligned<float>(space(kMost * kPatch * kTiles * widest), true);
    // The sums and rows of a 3x3 convolution, those of a 1x1 or 9x1 one, or those of the stem.
    sums_ = Aligned<float>(std::max(kMost * (3 + 5) * 5 * kTiles * kBlock, widest));
}

// ---- Features

void FeatureSink::add(std::size_t leaf) {
    if (leaf >= features_.size()) features_.resize(leaf + 1);
    fill_features(game_.position(), sees_nyugyoku_, features_[leaf]);
}

void PlaneSink::add(std::size_t leaf) {
    const std::size_t size = static_cast<std::size_t>(kBoardSquares) * format_.planes()[0];
    if ((leaf + 1) * size > planes_.size()) planes_.resize((leaf + 1) * size);
    PlaneRow<float> row(planes_.data() + leaf * size, nullptr, format_.planes());
    format_.write(game_, row);
}

NetworkInputs PlaneSink::inputs(std::size_t first) const noexcept {
    return {nullptr, planes_.data() + first * kBoardSquares * format_.planes()[0]};
}

void fill_features(const float* board, const float* hands, int hand_planes, Features& features) noexcept {
    std::fill_n(features.counts, kBoardSquares, std::uint8_t{0});
    for (int plane = 0; plane < kBoardPlanes; ++plane, board += kBoardSquares) {
        for (int s = 0; s < kBoardSquares; ++s) {
            if (board[s] != 0.0F) features.planes[s][features.counts[s]++] = static_cast<std::uint8_t>(plane);
        }
    }
    features.hand_count = 0;
    for (int plane = 0; plane < hand_planes; ++plane) {
        if (hands[plane * kBoardSquares] != 0.0F) {
            features.hands[features.hand_count++] = static_cast<std::uint8_t>(plane);
        }
    }
}

bool answer_winograd(const WinogradNetwork& network, const Format& format, const NetworkSink& sink, double temperature,
                     Batch& batch, Workspace& work) {
    batch.is_cold = true;
    bool are_numbers = true;
    const int count = static_cast<int>(batch.size());
    for (int first = 0; first < count; first += WinogradNetwork::kMostPositions) {
        const int positions = std::min(count - first, WinogradNetwork::kMostPositions);
        network.run(sink.inputs(first), positions, work);
        for (int n = 0; n < positions; ++n) {
            const int turn = batch.leaf(first + n).turn;
            const std::size_t begin = batch.policies.size();
            for (const Move move : batch.moves(first + n)) {
                const float logit = network.logit(work, n, format.label(move, turn));
                are_numbers = are_numbers && std::isfinite(logit);
                batch.policies.push_back(logit);
            }
            softmax(std::span(batch.policies).subspan(begin), temperature);
            const double value = network.value(work, n);
            are_numbers = are_numbers && std::isfinite(value);
            batch.values.push_back(value);
        }
    }
    return are_numbers;
}

}  // namespace goryu
