// Tests of the network kernel alone, for the sanitizers: tools/dev.py asan. No Python is involved.
//
// That the numbers are those of the Python reference is tested in tests/engine/evaluators/kernel/test_winograd.py; here all kinds of
// instructions must agree with each other, on random weights and on the greatest ones, in searches of one thread
// and of several.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/game_state.h"
#include "core/puct.h"
#include "core/sfen.h"
#include "core/winograd.h"
#include "expect.h"

namespace goryu::test {
namespace {

constexpr int kFirst = 64, kSecond = 32;  // Channels.
constexpr int kPlanes = 50;               // Of a network that reads planes.

// Makes a network: stem or planes, residual block, squeeze-and-excitation, pooling, heads.
class Maker {
public:
    Maker(Instructions instructions, bool is_integer, bool is_greatest, bool reads_planes = false,
          Layer::Kind large = Layer::Kind::kConv3, Layer::Kind small = Layer::Kind::kConv1)
        : network_(instructions, is_integer, {kFirst, kFirst, kSecond, kFirst}, {2 * kFirst, kFirst, 32}),
          is_greatest_(is_greatest), reads_planes_(reads_planes), large_(large), small_(small) {}

    WinogradNetwork make() {
        if (reads_planes_) {
            input();
            convolution(large_, 3, 0, -1, kFirst, kFirst, Activation::kRelu);
            convolution(Layer::Kind::kConv9, 0, 3, 0, kFirst, kFirst, Activation::kNone);
            convolution(small_, 3, 0, 3, kFirst, kFirst, Activation::kSwish);
        } else {
            stem();
        }
        convolution(large_, 0, 1, -1, kFirst, kFirst, Activation::kRelu);
        convolution(large_, 1, 0, 0, kFirst, kFirst, Activation::kSwish);
        pool(0, kFirst);
        dense(0, 1, 1, 2 * kFirst, 2 * kFirst, kFirst, Activation::kSigmoid);
        spread();
        convolution(small_, 0, 1, -1, kFirst, kFirst, Activation::kNone, 1);
        convolution(Layer::Kind::kConv1, 1, 2, -1, kFirst, kSecond, Activation::kNone);
        dense(2, 2, kBoardSquares, 27, kSecond, 32, Activation::kNone);
        network_.set_outputs(2, std::vector<float>(kDlshogiLabels, 0.125F), 2, 1.0);
        return std::move(network_);
    }

private:
    float real(float scale) { return scale * (static_cast<float>(random_() % 2001) / 1000.0F - 1.0F); }

    void fill(Aligned<float>& memory, std::size_t size, float scale) {
        std::vector<float> numbers(size);
        for (float& number : numbers) number = real(scale);
        memory.assign(numbers.data(), size);
    }

    void fill(Aligned<std::int16_t>& memory, std::size_t size, int most) {
        std::vector<std::int16_t> numbers(size);
        for (auto& number : numbers) {
            number = static_cast<std::int16_t>(is_greatest_ ? most : static_cast<int>(random_() % (2 * most + 1)) - most);
        }
        memory.assign(numbers.data(), size);
    }

    void fill_bfloats(Aligned<std::int16_t>& memory, std::size_t size) {
        std::vector<std::int16_t> numbers(size);
        for (auto& number : numbers) {
            const float exact = is_greatest_ ? 0.05F : real(0.05F);
            std::memcpy(&number, reinterpret_cast<const char*>(&exact) + 2, sizeof number);
        }
        memory.assign(numbers.data(), size);
    }

    void stem() {
        Layer layer;
        layer.activation = Activation::kRelu;
        layer.to = 0;
        layer.outputs = kFirst;
        fill(layer.weights16, (kStemPlanes * 9 + 1) * kFirst, 8191);
        fill(layer.hands16, 120 * kFirst, 8191);
        fill(layer.weights32, (kStemPlanes * 9 + 1) * kFirst, 0.2F);
        fill(layer.hands32, 120 * kFirst, 0.2F);
        fill(layer.factors, kFirst, 3e-5F);
        fill(layer.bias, kFirst, 0.1F);
        network_.add(layer);
    }

    void input() {
        Layer layer;
        layer.kind = Layer::Kind::kInput;
        layer.to = 3;
        layer.used = kPlanes;
        layer.outputs = kFirst;
        network_.add(layer);
    }

    void convolution(Layer::Kind kind, int from, int to, int residual, int inputs, int outputs, Activation activation,
                     int shift = -1) {
        const bool is_large = kind == Layer::Kind::kConv3, is_bfloat = kind >= Layer::Kind::kConv3Bfloat;
        const bool has_nine = kind == Layer::Kind::kConv9 || kind == Layer::Kind::kConv3Bfloat;
        const int places = is_large ? kPatch : has_nine ? 9 : 1;
        Layer layer;
        layer.kind = kind;
        layer.activation = activation;
        layer.from = from;
        layer.to = to;
        layer.residual = residual;
        layer.shift = shift;
        layer.inputs = inputs;
        layer.outputs = outputs;
        layer.level = is_large ? 910.0F : 8191.0F;  // 910 * 36 < 2^15.
        const bool is_small = kind == Layer::Kind::kConv1Bytes;
        // Sums of a 3x3 convolution may wrap around; 0x7F7F is twice the greatest byte.
        const int most = is_large   ? 32767
                         : is_small ? 0x7F7F
                                    : static_cast<int>(2147483647LL / inputs / places / 8191);
        const std::size_t weights = static_cast<std::size_t>(places) * inputs * outputs;
        if (is_bfloat) {
            fill_bfloats(layer.weights16, weights);
        } else {
            fill(layer.weights16, weights / (is_small ? 2 : 1), most);
        }
        if (is_small) fill(layer.totals, outputs, 0.1F);
        fill(layer.weights32, weights, 0.05F);
        fill(layer.factors, outputs, 1e-3F);
        fill(layer.bias, outputs, 0.1F);
        network_.add(layer);
    }

    void pool(int from, int channels) {
        Layer layer;
        layer.kind = Layer::Kind::kPool;
        layer.from = from;
        layer.to = 0;
        layer.outputs = channels;
        layer.mean_at = 0;
        layer.maximum_at = channels;
        network_.add(layer);
    }

    void dense(int from, int to, int groups, int used, int width, int outputs, Activation activation) {
        Layer layer;
        layer.kind = Layer::Kind::kDense;
        layer.activation = activation;
        layer.from = from;
        layer.to = to;
        layer.groups = groups;
        layer.used = used;
        layer.width = width;
        layer.outputs = outputs;
        fill(layer.weights32, static_cast<std::size_t>(groups) * used * outputs, 0.01F);
        fill(layer.bias, outputs, 0.1F);
        network_.add(layer);
    }

    void spread() {
        Layer layer;
        layer.kind = Layer::Kind::kSpread;
        layer.activation = Activation::kRelu;
        layer.from = 0;
        layer.to = 0;
        layer.scale = 1;
        layer.shift = 1;
        layer.residual = 0;
        layer.outputs = kFirst;
        network_.add(layer);
    }

    WinogradNetwork network_;
    bool is_greatest_;
    bool reads_planes_;
    Layer::Kind large_, small_;  // Of the convolutions of 3x3, and of those of 1x1 that have as many outputs.
    std::mt19937 random_{1};
};

std::vector<Instructions> usable() {
    std::vector<Instructions> found;
    for (int i = 0; i < kInstructionKinds; ++i) {
        if (is_usable(static_cast<Instructions>(i))) found.push_back(static_cast<Instructions>(i));
    }
    return found;
}

struct Answers {
    std::vector<float> logits;
    std::vector<double> values;
};

// Positions for both kinds of networks.
struct Positions {
    std::vector<Features> features;
    std::vector<float> planes;
};

Answers answers_of(const WinogradNetwork& network, const Positions& positions, int together) {
    Workspace work(network);
    Answers answers;
    const std::size_t number = positions.features.size();
    for (std::size_t first = 0; first < number; first += together) {
        const int count = static_cast<int>(std::min<std::size_t>(together, number - first));
        const float* planes = positions.planes.data() + first * kPlanes * kBoardSquares;
        network.run({positions.features.data() + first, planes}, count, work);
        for (int n = 0; n < count; ++n) {
            for (int label = 0; label < kDlshogiLabels; ++label) {
                answers.logits.push_back(network.logit(work, n, label));
            }
            answers.values.push_back(network.value(work, n));
        }
    }
    return answers;
}

std::vector<Features> some_features() {
    std::vector<Features> found(7);
    std::mt19937 random(2);
    for (Features& features : found) {
        std::memset(&features, 0, sizeof features);
        for (int i = 0; i < 300; ++i) {
            const std::size_t s = random() % kBoardSquares;
            features.planes[s][features.counts[s]++] = static_cast<std::uint8_t>(random() % kStemPlanes);
        }
        for (int i = 0; i < 9; ++i) features.hands[features.hand_count++] = static_cast<std::uint8_t>(random() % 57);
    }
    // The fullest that there can be.
    for (int s = 0; s < kBoardSquares; ++s) {
        found[0].counts[s] = kStemPlanes;
        for (int plane = 0; plane < kStemPlanes; ++plane) found[0].planes[s][plane] = static_cast<std::uint8_t>(plane);
    }
    return found;
}

Positions some_positions() {
    Positions found{some_features(), {}};
    std::mt19937 random(3);
    found.planes.resize(found.features.size() * kPlanes * kBoardSquares, 1.0F);  // The first has nothing but ones.
    for (std::size_t i = kPlanes * kBoardSquares; i < found.planes.size(); ++i) {
        found.planes[i] = random() % 8 == 0 ? static_cast<float>(random() % 5) / 4.0F : 0.0F;
    }
    return found;
}

// The same on every processor.
void print_checksum(const Answers& answers) {
    std::uint64_t sum = 0;
    for (const float logit : answers.logits) {
        std::uint32_t bits;
        std::memcpy(&bits, &logit, sizeof bits);
        sum = splitmix64(sum ^ bits);
    }
    std::printf("winograd_test: logits %016llx\n", static_cast<unsigned long long>(sum));
}

void test_all_instructions_agree() {
    const Positions positions = some_positions();
    for (const int i : {0, 1, 2, 3}) {
        const bool is_greatest = i % 2 == 1, reads_planes = i / 2 == 1;
        const auto kinds = usable();
        for (const bool is_integer : {true, false}) {
            Answers first;
            for (const Instructions kind : kinds) {
                const WinogradNetwork network = Maker(kind, is_integer, is_greatest, reads_planes).make();
                const Answers one = answers_of(network, positions, 1);
                const Answers four = answers_of(network, positions, WinogradNetwork::kMostPositions);
                EXPECT(one.logits == four.logits && one.values == four.values);
                if (first.logits.empty()) first = one;
                if (is_integer) print_checksum(one);
                if (!is_integer) {
                    std::printf("winograd_test: %s float32 %.3f %.3f\n", name_of(kind), one.logits[0], one.values[1]);
                }
                if (is_integer) EXPECT(one.logits == first.logits && one.values == first.values);
                for (std::size_t i = 0; i < one.logits.size(); ++i) {
                    EXPECT(std::isfinite(one.logits[i]));
                    EXPECT(std::abs(one.logits[i] - first.logits[i]) <= 1e-3F * (1 + std::abs(first.logits[i])));
                }
            }
        }
    }
}

void test_small_numbers_agree(bool (*has)(Instructions), Layer::Kind large, Layer::Kind small) {
    const Positions positions = some_positions();
    for (const int i : {0, 1, 2, 3}) {
        const bool is_greatest = i % 2 == 1, reads_planes = i / 2 == 1;
        Answers first;
        for (const Instructions kind : usable()) {
            if (!has(kind)) continue;
            const WinogradNetwork network = Maker(kind, true, is_greatest, reads_planes, large, small).make();
            const Answers one = answers_of(network, positions, 1);
            const Answers four = answers_of(network, positions, WinogradNetwork::kMostPositions);
            EXPECT(one.logits == four.logits && one.values == four.values);
            if (first.logits.empty()) first = one;
            EXPECT(one.logits == first.logits && one.values == first.values);
            for (const float logit : one.logits) EXPECT(std::isfinite(logit));
            print_checksum(one);
        }
    }
}

// Some instructions have no division in a sigmoid: see V::reciprocal. The numbers here make its denominators go
// through all floats from 1 to 2.
void test_sigmoids_agree() {
    constexpr int kChannels = 4096, kNumbers = kBoardSquares * kChannels;
    std::vector<float> from(kNumbers), to(kNumbers), first(kNumbers);
    std::uint32_t maximum = 0;
    const auto run = [&](const Layers& layers, std::vector<float>& found) {
        layers.spread({from.data(), found.data(), nullptr, nullptr, nullptr, 1, kChannels, 0, 0, Activation::kSigmoid, &maximum});
    };
    for (int k = 1; k < 1 << 23;) {
        for (float& number : from) number = -std::log(std::ldexp(static_cast<float>(std::min(k++, 1 << 23)), -23));
        run(*layers_avx2(), first);
        for (const auto& [kind, layers] : {std::pair(Instructions::kAmx, layers_amx()), std::pair(Instructions::kAvx512, layers_avx512())}) {
            if (!is_usable(kind)) continue;
            run(*layers, to);
            EXPECT(to == first);
        }
    }
}

void test_a_search_on_several_threads() {
    constexpr std::string_view kStart = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    for (const Instructions kind : usable()) {
        const WinogradNetwork network = Maker(kind, true, false).make();
        PuctConfig config;
        config.batch_size = 3;
        config.threads = 3;
        Puct puct(config, {1000});
        const auto work = [&](bool is_first) {
            Game game(parse_sfen(kStart).value().position, 0, Rules{});
            ShogiState state(game);
            const std::unique_ptr<Format> format = make_format("dlshogi 62+57", 0.0);
            FeatureSink sink(game, false);
            Workspace space(network);
            Batch batch;
            if (is_first) {
                puct.begin(state, sink, batch, 200, 1 << 20);
                EXPECT(answer_winograd(network, *format, sink, 1.0, batch, space));
                puct.expand(batch);
                return;
            }
            while (!puct.is_finished()) {
                puct.gather(state, sink, batch);
                if (batch.size() == 0) {
                    puct.wait_for_others(batch, true);
                    continue;
                }
                EXPECT(answer_winograd(network, *format, sink, 1.0, batch, space));
                puct.expand(batch);
            }
        };
        work(true);
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back(work, false);
        for (std::thread& thread : threads) thread.join();
        EXPECT(puct.snapshot().progress.playouts == 200);
    }
}

void test_layers_that_do_not_fit_are_refused() {
    for (const Instructions kind : usable()) {
        WinogradNetwork network(kind, false, {64, 32}, {32});
        for (int i = 0; i <= static_cast<int>(Layer::Kind::kConv1Bfloat); ++i) {
            Layer layer;
            layer.kind = static_cast<Layer::Kind>(i);
            layer.from = 0;
            layer.to = 1;
            layer.outputs = 64;
            layer.inputs = 64;
            bool is_refused = false;
            try {
                network.add(layer);
            } catch (const std::invalid_argument&) {
                is_refused = true;
            }
            EXPECT(is_refused);
        }
    }
}

// A convolution of 64 inputs and outputs, from map 0 to map 1.
Layer small_convolution(Layer::Kind kind) {
    const std::vector<std::int16_t> halves(kFirst * kFirst / (kind == Layer::Kind::kConv1Bytes ? 2 : 1));
    const std::vector<float> floats(kFirst * kFirst);
    Layer layer;
    layer.kind = kind;
    layer.from = 0;
    layer.to = 1;
    layer.inputs = layer.outputs = kFirst;
    layer.level = 1.0F;
    layer.weights16.assign(halves.data(), halves.size());
    layer.weights32.assign(floats.data(), floats.size());
    for (auto* const numbers : {&layer.factors, &layer.totals, &layer.bias}) numbers->assign(floats.data(), kFirst);
    return layer;
}

void test_convolutions_that_do_not_fit_are_refused() {
    for (const Instructions instructions : usable()) {
        for (const auto kind : {Layer::Kind::kConv1, Layer::Kind::kConv1Bytes, Layer::Kind::kConv1Bfloat}) {
            for (const bool is_integer : {true, false}) {
                const auto accepts = [&](auto change) {
                    WinogradNetwork network(instructions, is_integer, {kFirst, kFirst}, {kFirst, kSecond});
                    Layer layer = small_convolution(kind);
                    change(layer);
                    try {
                        network.add(layer);
                    } catch (const std::invalid_argument&) {
                        return false;
                    }
                    return true;
                };
                const bool is_bytes = kind == Layer::Kind::kConv1Bytes, is_bfloat = kind == Layer::Kind::kConv1Bfloat;
                const bool is_right = is_bytes    ? is_integer && has_bytes(instructions)
                                      : is_bfloat ? is_integer && has_bfloats(instructions)
                                                  : true;
                EXPECT(accepts([](Layer&) {}) == is_right);
                EXPECT(accepts([](Layer& layer) { layer.shift = 0; }) == is_right);
                EXPECT(!accepts([](Layer& layer) { layer.shift = 1; }));
                EXPECT(!accepts([](Layer& layer) { layer.shift = 2; }));
                EXPECT(accepts([](Layer& layer) { layer.totals = Aligned<float>(); }) == (is_right && !is_bytes));
                EXPECT(accepts([](Layer& layer) { layer.factors = Aligned<float>(); }) == (is_right && (!is_integer || is_bfloat)));
                EXPECT(!accepts([](Layer& layer) {
                    layer.weights16 = Aligned<std::int16_t>();
                    layer.weights32 = Aligned<float>();
                }));
            }
        }
    }
}

}  // namespace
}  // namespace goryu::test

int main() {
    goryu::test::test_all_instructions_agree();
    using Kind = goryu::Layer::Kind;
    goryu::test::test_small_numbers_agree(goryu::has_bytes, Kind::kConv3, Kind::kConv1Bytes);
    goryu::test::test_small_numbers_agree(goryu::has_bfloats, Kind::kConv3Bfloat, Kind::kConv1Bfloat);
    if (goryu::is_usable(goryu::Instructions::kAvx512)) goryu::test::test_sigmoids_agree();
    goryu::test::test_a_search_on_several_threads();
    goryu::test::test_layers_that_do_not_fit_are_refused();
    goryu::test::test_convolutions_that_do_not_fit_are_refused();
    std::printf("winograd_test: %d failures\n", goryu::test::failures.load());
    return goryu::test::failures == 0 ? 0 : 1;
}
