// IEEE half precision, the format of stored priors, without the help of the processor.
#pragma once

#include <bit>
#include <cstdint>

namespace goryu {

using Half = std::uint16_t;

// Halves above this have no successor that is finite.
constexpr double kMaxHalf = 65504.0;

// Rounds 0 <= x <= kMaxHalf to the nearest half, ties to even, as Python's struct.pack("e") does.
constexpr Half to_half(double x) noexcept {
    constexpr double kLeastNormal = 0x1p-14;
    // Subnormal halves count 2^-24; so does the last bit of a double between 2^28 and 2^29.
    const std::uint64_t subnormal = std::bit_cast<std::uint64_t>(x + 0x1p28);
    constexpr int kDropped = 52 - 10;
    constexpr std::uint64_t kRebias = std::uint64_t{1023 - 15} << 52;
    std::uint64_t bits = std::bit_cast<std::uint64_t>(x) - kRebias;
    bits += (std::uint64_t{1} << (kDropped - 1)) - 1 + (bits >> kDropped & 1);
    return static_cast<Half>(x < kLeastNormal ? subnormal : bits >> kDropped);
}

// The value of a half that is not negative.
constexpr double from_half(Half h) noexcept {
    if (h < 1 << 10) return h * 0x1p-24;
    return std::bit_cast<double>((std::uint64_t{h} << 42) + (std::uint64_t{1023 - 15} << 52));
}

}  // namespace goryu
