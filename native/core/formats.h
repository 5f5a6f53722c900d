// The model formats: how a position becomes a network's planes, and a move a place in its policy. The modules of
// evaluators/formats/ in C++; the planes and labels are described there.
#pragma once

#include <memory>
#include <string_view>

#include "game.h"
#include "plane_row.h"

namespace goryu {

class Format {
public:
    virtual ~Format() = default;

    PlaneCounts planes() const noexcept { return planes_; }
    // The length of the policy.
    int labels() const noexcept { return labels_; }
    // Writes the planes of the position that the game is in.
    virtual void write(const Game& game, PlaneRow<float>& row) const noexcept = 0;
    virtual void write(const Game& game, PlaneRow<Half>& row) const noexcept = 0;
    virtual void write(const Game& game, BitRow& row) const noexcept = 0;
    // The place of a legal move of a side in the policy.
    virtual int label(Move move, Color color) const noexcept = 0;

protected:
    Format(PlaneCounts planes, int labels) noexcept : planes_(planes), labels_(labels) {}

private:
    PlaneCounts planes_;
    int labels_;
};

// The format of this name (`ModelFormat.name` in Python), or null.
// draw_value: the value of a draw to black, in [-1, +1], which nshogi's networks see.
std::unique_ptr<Format> make_format(std::string_view name, double draw_value);

}  // namespace goryu
