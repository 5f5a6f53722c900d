// The PUCT formula: search/graph/selection.py in C++, every sum and product in the same order.
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

class Selection {
public:
    explicit Selection(const Formula& formula);

    // The index of the move with the greatest score, the first of equals, or -1 if none is open.
    // is_root: are all moves of a certain value closed, and not only those proven to lose?
    int select(const NodeTable& table, NodeIndex index, const Mask& masked, bool is_root) const noexcept;

    // The value that is assumed of a move without a completed playout.
    double untried_value(const Node& node) const noexcept;

    // c(N) * sqrt(N)
    double exploration(std::uint32_t visits) const noexcept;

    const Formula& formula() const noexcept { return formula_; }

private:
    static constexpr std::uint32_t kRemembered = 1024;

    double compute_exploration(std::uint32_t visits) const noexcept;

    Formula formula_;
    std::array<double, kRemembered> remembered_;  // exploration(visits)
};

}  // namespace goryu
