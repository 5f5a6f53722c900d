#include "reversi.h"

#include <bit>

#include "zobrist.h"

namespace goryu {
namespace {

constexpr int kCells = 64;
constexpr int kMaxPlies = 128;  // 60 discs are played, and no two passes follow each other.

// The words of games/reversi.py: black's discs, white's discs, plies.
constexpr std::uint64_t zobrist_word(int n) noexcept {
    constexpr std::uint64_t kSeed = 0x7265766572736900ULL;  // "reversi" in ASCII
    return splitmix64(kSeed + static_cast<std::uint64_t>(n) * kGoldenGamma);
}
constexpr std::uint64_t disc_word(int player, int square) noexcept { return zobrist_word(player * kCells + square); }

template <class Action>
void for_each_bit(std::uint64_t bits, Action action) {
    for (; bits != 0; bits &= bits - 1) action(std::countr_zero(bits));
}

}  // namespace

ReversiGame::ReversiGame(int size) : size_(size), now_{} {
    full_ = size == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << size * size) - 1;
    const std::uint64_t row = (std::uint64_t{1} << (size - 1)) - 2;  // Without both edge columns.
    std::uint64_t inner = 0;
    for (int i = 0; i < size; ++i) inner |= row << size * i;
    axes_ = {Axis{1, inner}, Axis{size - 1, inner}, Axis{size, full_}, Axis{size + 1, inner}};
    const int upper_left = (size / 2 - 1) * (size + 1);
    const int lower_left = upper_left + size;
    now_.own = std::uint64_t{1} << (upper_left + 1) | std::uint64_t{1} << lower_left;
    now_.opponent = std::uint64_t{1} << upper_left | std::uint64_t{1} << (lower_left + 1);
    for_each_bit(now_.own, [&](int square) { now_.key ^= disc_word(0, square); });
    for_each_bit(now_.opponent, [&](int square) { now_.key ^= disc_word(1, square); });
    past_.reserve(kMaxPlies);
}

std::uint64_t ReversiGame::key() const noexcept { return now_.key ^ zobrist_word(2 * kCells + length()); }

int ReversiGame::disc_difference() const noexcept {
    return std::popcount(now_.own) - std::popcount(now_.opponent);
}

std::uint64_t ReversiGame::targets(std::uint64_t own, std::uint64_t opponent) const noexcept {
    std::uint64_t beyond = 0;
    for (const auto [shift, between] : axes_) {
        const std::uint64_t passable = opponent & between;
        std::uint64_t up = passable & own << shift;
        std::uint64_t down = passable & own >> shift;
        for (int step = 0; step < size_ - 3; ++step) {
            up |= passable & up << shift;
            down |= passable & down >> shift;
        }
        beyond |= up << shift | down >> shift;
    }
    return beyond & full_ & ~(own | opponent);
}

std::uint64_t ReversiGame::flips(int square) const noexcept {
    const std::uint64_t origin = std::uint64_t{1} << square;
    std::uint64_t flipped = 0;
    for (const auto [shift, between] : axes_) {
        const std::uint64_t passable = now_.opponent & between;
        std::uint64_t run = 0;
        std::uint64_t end = origin << shift;
        for (; (end & passable) != 0; end <<= shift) run |= end;
        if ((end & now_.own) != 0) flipped |= run;
        run = 0;
        end = origin >> shift;
        for (; (end & passable) != 0; end >>= shift) run |= end;
        if ((end & now_.own) != 0) flipped |= run;
    }
    return flipped;
}

void ReversiGame::legal_moves(MoveList& moves) const noexcept {
    moves.clear();
    const std::uint64_t squares = targets(now_.own, now_.opponent);
    for_each_bit(squares, [&](int square) { moves.add(static_cast<Move>(square)); });
    if (squares == 0 && targets(now_.opponent, now_.own) != 0) moves.add(kPass);
}

bool ReversiGame::is_legal(Move move) const noexcept {
    const std::uint64_t squares = targets(now_.own, now_.opponent);
    if (move < kPass) return (squares >> move & 1) != 0;
    return move == kPass && squares == 0 && targets(now_.opponent, now_.own) != 0;
}

void ReversiGame::push(Move move) noexcept {
    const int player = turn();
    past_.push_back({now_, move});
    if (move != kPass) {
        const std::uint64_t flipped = flips(move);
        now_.key ^= disc_word(player, move);
        for_each_bit(flipped, [&](int square) { now_.key ^= disc_word(0, square) ^ disc_word(1, square); });
        now_.own |= flipped | std::uint64_t{1} << move;
        now_.opponent ^= flipped;
    }
    now_ = {now_.opponent, now_.own, now_.key};
}

Move ReversiGame::pop() noexcept {
    const Past last = past_.back();
    past_.pop_back();
    now_ = last.discs;
    return last.move;
}

ReversiEnding ReversiGame::outcome() const noexcept {
    if (targets(now_.own, now_.opponent) != 0 || targets(now_.opponent, now_.own) != 0) return ReversiEnding::kNone;
    const int difference = disc_difference();
    return difference > 0 ? ReversiEnding::kWin : difference < 0 ? ReversiEnding::kLoss : ReversiEnding::kDraw;
}

}  // namespace goryu
