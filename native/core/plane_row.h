// One position's planes among the inputs of a batch, as numbers or as bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "bitboard.h"
#include "half.h"
#include "types.h"

namespace goryu {

// How many planes the one or two inputs of a network have; 0 for no second input.
using PlaneCounts = std::array<int, 2>;

// Where in a plane each square is.
using Places = std::array<std::uint8_t, kSquares>;

// Writes planes of 81 floats or halves, numbered through both inputs. Most planes of most positions are zero, so
// `clear` only touches those that the last position used.
template <class Element>
class PlaneRow {
public:
    // first, second: this position's planes in each input, of which nothing is known yet.
    PlaneRow(Element* first, Element* second, PlaneCounts counts)
        : first_(first), second_(second), split_(counts[0]), is_used_(counts[0] + counts[1], true) {}

    // Makes all planes zero.
    void clear() noexcept {
        for (int plane = 0; plane < static_cast<int>(is_used_.size()); ++plane) {
            if (is_used_[plane]) std::memset(at(plane), 0, sizeof(Element) * kSquares);
            is_used_[plane] = false;
        }
    }
    // Sets one square to one.
    void set(int plane, Square s) noexcept {
        is_used_[plane] = true;
        at(plane)[s] = element(1.0F);
    }
    // Sets squares to a number, which is not negative.
    void set(int plane, Bitboard squares, const Places& places, double x = 1.0) noexcept {
        if (squares.none()) return;
        is_used_[plane] = true;
        Element* const to = at(plane);
        const Element number = element(static_cast<float>(x));
        for_each(squares, [=, &places](Square s) { to[places[s]] = number; });
    }
    // Sets all squares to a number, which is not negative; it is rounded to a float first, as in Python.
    void fill(int plane, double x) noexcept {
        is_used_[plane] = true;
        std::fill_n(at(plane), kSquares, element(static_cast<float>(x)));
    }

private:
    static constexpr Element element(float x) noexcept {
        if constexpr (std::is_same_v<Element, Half>) {
            return to_half(std::min(static_cast<double>(x), kMaxHalf));
        } else {
            return x;
        }
    }
    Element* at(int plane) const noexcept {
        return plane < split_ ? first_ + kSquares * plane : second_ + kSquares * (plane - split_);
    }

    Element* first_;
    Element* second_;
    int split_;
    std::vector<char> is_used_;  // By plane.
};

// A plane of counts holds multiples of one over this.
constexpr int kLevels = 4;

// Where the planes of a position are in its rows of bits and floats: PackedLayout in Python.
struct PackedLayout {
    std::vector<int> places;  // By plane: its first bit, or -1 - n for the n-th float.
    std::size_t bytes = 0;
    std::size_t numbers = 0;
    int level_bits = 0;  // From a bit of a plane of counts to that of the next level.
};

// Writes planes as bits and floats: evaluators/network/packed_input.py in C++.
class BitRow {
public:
    // bits, numbers: this position's rows. The layout must outlive the row.
    BitRow(const PackedLayout& layout, std::uint8_t* bits, float* numbers) noexcept
        : layout_(layout), bits_(bits), numbers_(numbers) {}

    // Makes all planes zero.
    void clear() noexcept {
        std::memset(bits_, 0, layout_.bytes);
        std::fill_n(numbers_, layout_.numbers, 0.0F);
    }
    // Sets one square to one.
    void set(int plane, Square s) noexcept { set_bit(static_cast<unsigned>(layout_.places[plane] + s)); }
    // Sets squares to one.
    void set(int plane, Bitboard squares, const Places& places) noexcept {
        set_bits(static_cast<unsigned>(layout_.places[plane]), squares, places);
    }
    // Sets squares of a plane of counts.
    void set(int plane, Bitboard squares, const Places& places, double x) noexcept {
        for (int level = 0; level < static_cast<int>(x * kLevels + 0.5); ++level) {
            set_bits(static_cast<unsigned>(layout_.places[plane] + level * layout_.level_bits), squares, places);
        }
    }
    // Sets all squares to a number: to one, if the plane has a single bit.
    void fill(int plane, double x) noexcept {
        const int place = layout_.places[plane];
        if (place < 0) {
            numbers_[-1 - place] = static_cast<float>(x);
        } else {
            set_bit(static_cast<unsigned>(place));
        }
    }

private:
    void set_bit(unsigned at) noexcept { bits_[at / 8] |= static_cast<std::uint8_t>(1U << at % 8); }
    void set_bits(unsigned first, Bitboard squares, const Places& places) noexcept {
        std::uint8_t* const bits = bits_;  // The compiler cannot know that no bit changes the member.
        for_each(squares, [=, &places](Square s) {
            const unsigned at = first + places[s];
            bits[at / 8] |= static_cast<std::uint8_t>(1U << at % 8);
        });
    }

    const PackedLayout& layout_;
    std::uint8_t* bits_;
    float* numbers_;
};

}  // namespace goryu
