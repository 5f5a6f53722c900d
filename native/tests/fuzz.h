// What the fuzz targets have in common: texts to begin with, and a loop that mutates them where there is no
// libFuzzer.
//
//     fuzz_NAME SECONDS [SEED]
//
// An input's first line is an SFEN; what the bytes after it mean is the target's matter.
#pragma once

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>

#include "expect.h"

namespace goryu::test {

// Judges one input; failed expectations are counted.
void judge(std::string_view input);

inline int fuzz(const char* name, int count, char** arguments) {
    using Clock = std::chrono::steady_clock;
    constexpr std::string_view kSeeds[]{
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
        "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1",
        "1+P1K1G3/+P+P1G+P4/1S+R1+P4/9/9/9/3+p1+p1k1/2+r3g2/4+p2+bs w BGSN2L7Ps3n2l3p 180",
        "+R6bk/6L2/8G/9/9/9/l+b4K2/9/9 b P 1",
        "4k4/9/4P4/9/9/4r4/3n5/9/9 b GR2b3g4s3n4l16p 0",
        "4k4/9/9/9/9/9/9/R8/4K4 b - 1",
    };
    constexpr std::string_view kLetters = "plnsgbrkPLNSGBRK+/123456789 bw-0x";
    const double seconds = count > 1 ? std::atof(arguments[1]) : 5.0;
    Random random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    long inputs = 0;
    for (; Clock::now() < until; ++inputs) {
        std::string input(kSeeds[random.below(std::size(kSeeds))]);
        for (int i = random.below(4); i > 0; --i) {
            const std::size_t place = random.below(static_cast<int>(input.size()));
            const char known = kLetters[random.below(static_cast<int>(kLetters.size()))];
            const char letter = random.below(8) == 0 ? static_cast<char>(random.below(256)) : known;
            input.replace(place, random.below(3), std::string(1, letter));
        }
        input += '\n';
        for (int i = random.below(120); i > 0; --i) input += static_cast<char>(random.below(256));
        judge(input);
        if (failures != 0) {
            std::fprintf(stderr, "%s: input %ld: %s\n", name, inputs, input.c_str());
            std::abort();
        }
    }
    std::printf("%s: %ld inputs, no finding\n", name, inputs);
    return 0;
}

}  // namespace goryu::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    goryu::test::judge({reinterpret_cast<const char*>(data), size});
    if (goryu::test::failures != 0) std::abort();
    return 0;
}
