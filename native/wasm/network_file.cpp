#include "network_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/dlshogi.h"
#include "core/half.h"
#include "core/winograd_weights.h"

namespace goryu {
namespace {

constexpr std::string_view kMagic = "goryu network 2\n";
constexpr std::uint32_t kMostLayers = 4096, kMostNumbers = 1 << 26;
constexpr long long kMostWidth = 1 << 16;  // Of all maps together, and of all vectors: 85 MB for the maps.

using Floats = std::vector<float>;

float from_signed_half(Half half) noexcept {
    const auto size = static_cast<float>(from_half(half & 0x7FFF));
    return (half & 0x8000) != 0 ? -size : size;
}

// The file from its beginning. After something that does not fit, all that follows is empty.
class Reader {
public:
    explicit Reader(std::span<const std::byte> left) : left_(left) {}

    bool is_good() const noexcept { return is_good_; }
    void fail() noexcept {
        is_good_ = false;
        left_ = {};
    }
    bool is_at_end() const noexcept { return left_.empty(); }

    template <class Number>
    Number number() noexcept {
        Number number{};
        if (const auto bytes = take(sizeof number); !bytes.empty()) std::memcpy(&number, bytes.data(), sizeof number);
        return number;
    }
    int integer() noexcept { return number<std::int32_t>(); }
    std::uint32_t size(std::uint32_t most) noexcept {
        const auto size = number<std::uint32_t>();
        if (size > most) fail();
        return is_good_ ? size : 0;
    }
    std::string text() {
        const auto bytes = take(size(256));
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
    std::vector<int> integers() {
        std::vector<int> found;
        for (std::uint32_t left = size(kMostLayers); left != 0 && is_good_; --left) found.push_back(integer());
        return found;
    }
    // In halves where nothing is lost, otherwise in floats.
    Floats floats() {
        const bool has_halves = integer() == 16;
        const std::size_t count = size(kMostNumbers), width = has_halves ? sizeof(Half) : sizeof(float);
        const auto bytes = take(count * width);
        Floats found(bytes.size() / width);
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (has_halves) {
                Half half;
                std::memcpy(&half, &bytes[i * width], width);
                found[i] = from_signed_half(half);
            } else {
                std::memcpy(&found[i], &bytes[i * width], width);
            }
            if (!std::isfinite(found[i]) || std::fabs(found[i]) > 1e30F) fail();
        }
        return is_good_ ? found : Floats();
    }

    std::span<const std::byte> take(std::size_t count) noexcept {
        if (count > left_.size()) {
            fail();
            return {};
        }
        const auto taken = left_.first(count);
        left_ = left_.subspan(count);
        return taken;
    }

private:
    std::span<const std::byte> left_;
    bool is_good_ = true;
};

bool is_width(int n) noexcept { return n > 0 && n <= 4096 && n % kBlock == 0; }

bool are_widths(const std::vector<int>& widths) noexcept {
    return std::all_of(widths.begin(), widths.end(), is_width) &&
           std::accumulate(widths.begin(), widths.end(), 0LL) <= kMostWidth;
}

// Is the policy as long as what the network computes, and are these the planes of the format?
bool suits(const Format& format, const std::vector<int>& planes) noexcept {
    const auto [first, second] = format.planes();
    return format.labels() == kDlshogiLabels && !planes.empty() && planes.size() <= 2 && planes.front() == first &&
           (planes.size() == 2 ? planes.back() : 0) == second;
}

// Does a layer that reads the input find there what it reads?
bool finds_input(const Layer& layer, const NetworkFile& file) noexcept {
    if (layer.kind == Layer::Kind::kStem) return !file.reads_planes;
    return layer.kind != Layer::Kind::kInput || (file.reads_planes && layer.used <= file.format->planes()[0]);
}

void assign(Aligned<float>& to, const Floats& from) { to.assign(from.data(), from.size()); }

// Reads a layer, in the order of LAYER_FIELDS in the Python module.
Layer read_layer(Reader& reader) {
    Layer layer;
    const int kind = reader.integer(), activation = reader.integer();
    for (int* const field : {&layer.from, &layer.to, &layer.residual, &layer.scale, &layer.shift, &layer.inputs,
                             &layer.outputs, &layer.groups, &layer.used, &layer.width, &layer.mean_at,
                             &layer.maximum_at}) {
        *field = reader.integer();
    }
    const bool is_positive = reader.integer() != 0;
    const Floats first = reader.floats(), second = reader.floats(), bias = reader.floats();
    layer.kind = static_cast<Layer::Kind>(kind);
    layer.activation = static_cast<Activation>(activation);
    assign(layer.bias, bias);
    const auto outputs = static_cast<std::size_t>(layer.outputs), inputs = static_cast<std::size_t>(layer.inputs);
    const auto has = [&](const Floats& weights, std::size_t each) { return weights.size() == each * outputs; };
    if (kind < 0 || kind > static_cast<int>(Layer::Kind::kSpread) || layer.kind == Layer::Kind::kConv1Bytes ||
        activation < 0 || activation > static_cast<int>(Activation::kSigmoid) || !is_width(layer.outputs)) {
        reader.fail();
    } else if (layer.kind == Layer::Kind::kStem) {
        const std::size_t hands = second.size() / outputs;
        if (has(first, kStemPlanes * 9) && has(second, hands) && hands <= kHandRows) {
            round_stem(layer, first, second);
        } else {
            reader.fail();
        }
    } else if (layer.kind == Layer::Kind::kConv3 || layer.kind == Layer::Kind::kConv1 ||
               layer.kind == Layer::Kind::kConv9) {
        const std::size_t area = layer.kind == Layer::Kind::kConv1 ? 1 : 9;
        if (is_width(layer.inputs) && has(first, inputs * area)) {
            round_convolution(layer, first, is_positive);
        } else {
            reader.fail();
        }
    } else {
        assign(layer.weights32, first);
    }
    return layer;
}

}  // namespace

std::string read_network_file(std::span<const std::byte> bytes, NetworkFile& file, Instructions instructions) {
    Reader reader(bytes);
    const auto magic = reader.take(kMagic.size());
    if (magic.empty() || std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
        return "expected a network packed by `dev.py wasm`";
    }
    reader.text();  // The model's checksum.
    file.format = make_format(reader.text(), 0.0);
    const std::vector<int> planes = reader.integers();
    file.reads_planes = planes.size() == 1;
    file.sees_nyugyoku = std::find(planes.begin(), planes.end(), kHandRows) != planes.end();
    for (std::uint32_t left = reader.size(kMostLayers); left != 0 && reader.is_good(); --left) {
        std::string name = reader.text();
        file.options.emplace_back(std::move(name), reader.number<double>());
    }
    const std::vector<int> maps = reader.integers(), vectors = reader.integers();
    if (!reader.is_good() || !file.format || !suits(*file.format, planes) || !are_widths(maps) || !are_widths(vectors)) {
        return "the network is damaged";
    }
    file.network = std::make_unique<WinogradNetwork>(instructions, true, maps, vectors);
    for (std::uint32_t left = reader.size(kMostLayers); left != 0; --left) {
        Layer layer = read_layer(reader);
        if (!reader.is_good() || !finds_input(layer, file)) return "the network is damaged";
        file.network->add(layer);
    }
    const int policy = reader.integer(), value = reader.integer();
    const auto steepness = reader.number<double>();
    Floats bias = reader.floats();
    if (!reader.is_good() || !reader.is_at_end()) return "the network is damaged";
    file.network->set_outputs(policy, std::move(bias), value, steepness);
    return {};
}

}  // namespace goryu
