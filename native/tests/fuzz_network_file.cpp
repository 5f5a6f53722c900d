// A fuzz target for networks as the WebAssembly module reads them: whatever the bytes, the file is refused or the
// network that it holds can be run. The bytes are layers whose fields fit most of the time.
//
//     fuzz_network_file SECONDS [SEED]
#include "wasm/network_file.cpp"  // It belongs to the module, not to the core.

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "core/dlshogi.h"
#include "core/half.h"
#include "expect.h"

namespace goryu::test {

constexpr int kWidth = 32;

class Writer {
public:
    explicit Writer(Random& random) : random_(random) {}

    template <class Number>
    void number(Number number) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(&number);
        bytes_.insert(bytes_.end(), bytes, bytes + sizeof number);
    }
    void text(std::string_view text) {
        number(static_cast<std::uint32_t>(text.size()));
        for (const char letter : text) number(letter);
    }
    void list(std::initializer_list<int> numbers) {
        number(static_cast<std::uint32_t>(numbers.size()));
        for (const int each : numbers) number(each);
    }
    void halves(int count) {
        if (random_.below(60) == 0) count += random_.below(3) - 1;
        number(16);
        number(count);
        for (int i = 0; i < count; ++i) number(static_cast<Half>(random_.below(0x3C00)));
    }
    void layer();
    std::vector<std::byte> file();

private:
    // A field of a layer: mostly one that may fit.
    int field(int fitting) {
        constexpr int kOdd[]{-1, 0, 1, 2, kWidth, 2 * kWidth, -kWidth, 4096, 0x7FFFFFFF, -0x7FFFFFFF - 1};
        return random_.below(40) == 0 ? kOdd[random_.below(std::size(kOdd))] : fitting;
    }

    Random& random_;
    std::vector<std::byte> bytes_;
};

void Writer::layer() {
    using Kind = Layer::Kind;
    const auto kind = static_cast<Kind>(random_.below(9));
    const bool reads_map = random_.below(2) == 0;
    const bool is_dense = kind == Kind::kDense, is_stem = kind == Kind::kStem;
    const int from = random_.below(2), to = is_dense && reads_map ? random_.below(2) : 1 - from;
    number(field(static_cast<int>(kind)));
    number(field(random_.below(4)));
    for (const int fitting : {from, to, random_.below(3) - 1, random_.below(3) - 1, random_.below(3) - 1, kWidth, kWidth,
                              reads_map ? kBoardSquares : 1, kWidth, kWidth, -1 + random_.below(2),
                              -1 + random_.below(2)}) {
        number(field(fitting));
    }
    number(random_.below(2));
    const int area = kind == Kind::kConv1 ? 1 : 9;
    const bool is_convolution = kind == Kind::kConv3 || kind == Kind::kConv1 || kind == Kind::kConv9;
    halves(is_stem          ? kBoardPlanes * 9 * kWidth
           : is_convolution ? area * kWidth * kWidth
           : is_dense       ? (reads_map ? kBoardSquares : 1) * kWidth * kWidth
                            : 0);
    halves(is_stem ? kHandPlanes * kWidth : 0);
    halves(is_stem || is_convolution || is_dense ? kWidth : 0);
}

std::vector<std::byte> Writer::file() {
    for (const char letter : kMagic) number(letter);
    text("");  // The checksum.
    const bool reads_planes = random_.below(2) == 0;
    text(random_.below(20) == 0 ? "aobazero 362" : reads_planes ? "python-dlshogi2 104" : "dlshogi 62+57");
    if (reads_planes) list({field(104)});
    else list({kBoardPlanes, field(kHandPlanes)});
    list({});
    list({kWidth, kWidth});
    list({kWidth, field(kWidth)});
    const int layers = random_.below(4);
    number(layers);
    for (int i = 0; i < layers; ++i) layer();
    number(field(0));
    number(field(0));
    number(1.0);
    halves(kDlshogiLabels);
    for (int i = random_.below(3); i > 0 && random_.below(4) == 0; --i) {
        bytes_[static_cast<std::size_t>(random_.below(static_cast<int>(bytes_.size())))] ^= std::byte{1} << random_.below(8);
    }
    if (random_.below(20) == 0) bytes_.resize(static_cast<std::size_t>(random_.below(static_cast<int>(bytes_.size()))));
    return bytes_;
}

// Returns whether the file is a network, which then has been run.
bool runs(std::span<const std::byte> bytes, Instructions instructions) {
    NetworkFile file;
    try {
        if (!read_network_file(bytes, file, instructions).empty()) return false;
    } catch (const std::invalid_argument&) {
        return false;
    }
    Workspace work(*file.network);
    const std::vector<Features> features(WinogradNetwork::kMostPositions);
    const int planes = file.format->planes()[0] * kBoardSquares;
    const std::vector<float> input(static_cast<std::size_t>(planes * WinogradNetwork::kMostPositions), 1.0F);
    file.network->run(file.reads_planes ? NetworkInputs{nullptr, input.data()} : NetworkInputs{features.data(), nullptr},
                      WinogradNetwork::kMostPositions, work);
    volatile double total = file.network->value(work, WinogradNetwork::kMostPositions - 1);
    for (int label = 0; label < file.format->labels(); ++label) total = total + file.network->logit(work, 0, label);
    return true;
}

}  // namespace goryu::test

int main(int count, char** arguments) {
    using namespace goryu;
    using Clock = std::chrono::steady_clock;
    const double seconds = count > 1 ? std::atof(arguments[1]) : 5.0;
    test::Random random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
    int best = 0;
    while (best < kInstructionKinds && !is_usable(static_cast<Instructions>(best))) ++best;
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    long files = 0, networks = 0;
    for (; Clock::now() < until; ++files) {
        networks += test::runs(test::Writer(random).file(), static_cast<Instructions>(best)) ? 1 : 0;
    }
    std::printf("fuzz_network_file: %ld files, of which %ld are networks, no finding\n", files, networks);
    return networks > 0 || files < 1000 ? 0 : 1;
}
