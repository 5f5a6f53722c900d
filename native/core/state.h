// The interface between a search and a game: games/state.py in C++.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "types.h"

namespace goryu {

// A game in progress that the search plays on. Results are for the side to move. Implementations may throw.
class State {
public:
    virtual ~State() = default;

    virtual int turn() = 0;
    virtual std::uint32_t ply() = 0;
    virtual std::uint64_t key() = 0;
    virtual void push(Move move) = 0;
    virtual void pop() = 0;
    virtual std::optional<double> outcome() = 0;
    virtual std::optional<double> repetition() = 0;
    // Appends the legal moves in ascending order.
    virtual void legal_moves(std::vector<Move>& moves) = 0;
    // The moves of a mate by the side to move, to the end, searched within `nodes` positions; empty if none is
    // found. They stay valid until the next call. visits: how often playouts have come to the position.
    virtual std::span<const Move> find_mate(int nodes, std::uint32_t visits) = 0;
};

// Receives new positions for the evaluator.
class LeafSink {
public:
    virtual ~LeafSink() = default;

    // Takes the position that the state is in now, as the next one of the batch. May throw.
    virtual void add(std::size_t leaf) = 0;
};

}  // namespace goryu
