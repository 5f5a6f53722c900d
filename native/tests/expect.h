// The few words a test program needs; a failed expectation is printed and remembered.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "core/zobrist.h"

namespace goryu::test {

inline std::atomic<int> failures{0};

inline void fail(const char* what, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: expected %s\n", file, line, what);
    ++failures;
}

// A small random generator that is the same everywhere.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        state_ += kGoldenGamma;
        return splitmix64(state_);
    }
    // In [0, n).
    int below(int n) { return static_cast<int>(next() % static_cast<std::uint64_t>(n)); }

private:
    std::uint64_t state_;
};

}  // namespace goryu::test

#define EXPECT(condition)                                                     \
    do {                                                                      \
        if (!(condition)) ::goryu::test::fail(#condition, __FILE__, __LINE__); \
    } while (false)
