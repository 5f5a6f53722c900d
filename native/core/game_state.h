// The native games as the search's State, and the sinks of their new positions.
#pragma once

#include "dlshogi.h"
#include "formats.h"
#include "mate.h"
#include "reversi.h"
#include "state.h"

namespace goryu {

// Plays on a game of shogi that the caller owns.
class ShogiState final : public State {
public:
    explicit ShogiState(Game& game) : game_(game) { game_.reserve(); }

    int turn() override { return game_.turn(); }
    std::uint32_t ply() override { return game_.ply(); }
    std::uint64_t key() override { return game_.key(); }
    void push(Move move) override { game_.push(move); }
    void pop() override { game_.pop(); }
    std::optional<double> outcome() override { return value(game_.outcome()); }
    std::optional<double> repetition() override { return value(game_.repetition()); }
    void legal_moves(std::vector<Move>& moves) override;
    std::span<const Move> find_mate(int nodes, std::uint32_t) override;

private:
    static std::optional<double> value(Ending ending) {
        if (ending == Ending::kNone) return {};
        return value_of(ending);
    }

    Game& game_;
    MateSearch mate_search_;
};

// Plays on a game of reversi that the caller owns.
class ReversiState final : public State {
public:
    explicit ReversiState(ReversiGame& game) : game_(game) {}

    int turn() override { return game_.turn(); }
    std::uint32_t ply() override { return game_.ply(); }
    std::uint64_t key() override { return game_.key(); }
    void push(Move move) override { game_.push(move); }
    void pop() override { game_.pop(); }
    std::optional<double> outcome() override;
    std::optional<double> repetition() override { return {}; }
    void legal_moves(std::vector<Move>& moves) override;
    std::span<const Move> find_mate(int, std::uint32_t) override { return {}; }

private:
    ReversiGame& game_;
};

// Throws positions away: for evaluators that need no more than key and moves.
class NoLeafSink final : public LeafSink {
public:
    void add(std::size_t) override {}
};

// Writes the planes of a game of shogi into the rows of a batch, [N][planes][81] for each input, where nobody else
// writes.
template <class Element>
class PlaneLeafSink final : public LeafSink {
public:
    // second: null for a format with one input. The format must outlive the sink.
    PlaneLeafSink(const Game& game, const Format& format, Element* first, Element* second)
        : game_(game), format_(format), first_(first), second_(second) {}

    void add(std::size_t leaf) override;

private:
    const Game& game_;
    const Format& format_;
    Element* first_;
    Element* second_;
    std::vector<PlaneRow<Element>> rows_;
};

// Writes the positions of a game of shogi as bits and floats into the rows of a batch.
class PackedLeafSink final : public LeafSink {
public:
    // The format and the layout must outlive the sink.
    PackedLeafSink(const Game& game, const Format& format, const PackedLayout& layout, std::uint8_t* bits,
                   float* numbers)
        : game_(game), format_(format), layout_(layout), bits_(bits), numbers_(numbers) {}

    void add(std::size_t leaf) override {
        BitRow row(layout_, bits_ + leaf * layout_.bytes, numbers_ + leaf * layout_.numbers);
        format_.write(game_, row);
    }

private:
    const Game& game_;
    const Format& format_;
    const PackedLayout& layout_;
    std::uint8_t* bits_;
    float* numbers_;
};

}  // namespace goryu
