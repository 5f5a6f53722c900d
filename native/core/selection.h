// The PUCT formula: search/graph/selection.py, line by line. Every sum and product is in the same order as in Python.
#pragma once

#include <array>

#include "node_table.h"

namespace goryu {

struct Formula {
    double c_init = 2.5;
    double c_base = 19652.0;
    double c_factor = 2.0;
    double fpu_reduction = 0.35;

    bool operator==(const Formula&) const = default;
};

// The indices of root moves that must not be played: a flag for each move, or empty.
using Mask = std::vector<bool>;

// A formula, and what it needs again and again.
class Selection {
public:
    explicit Selection(const Formula& formula);

    // The index of the move with the greatest score, the first of equals; -1 if no move is open. Moves proven to lose
    // are closed, and those of the mask.
    // is_root: are all moves of a certain value closed, too?
    int select(const NodeTable& table, NodeIndex index, const Mask& masked, bool is_root) const noexcept;
    // The value that is assumed of a move without a completed playout.
    double untried_value(const Node& node) const noexcept;
    // c(N) * sqrt(N); remembered for the usual nodes, which are small.
    double exploration(std::uint32_t visits) const noexcept {
        return visits < kRemembered ? explorations_[visits] : computed_exploration(visits);
    }

private:
    static constexpr std::uint32_t kRemembered = 1024;

    double computed_exploration(std::uint32_t visits) const noexcept;

    Formula formula_;
    std::array<double, kRemembered> explorations_;
};

}  // namespace goryu
