// The PUCT formula: twin of search/selection.py, which explains it. Every sum and product is made in the same order.
#pragma once

#include "node_table.h"

namespace goryu {

struct Formula {
    double c_init = 2.5;
    double c_base = 19652.0;
    double c_factor = 2.0;
    double c_init_root = 2.5;
    double c_base_root = 19652.0;
    double fpu_reduction = 0.35;
    double fpu_reduction_root = 0.1;

    bool operator==(const Formula&) const = default;
};

// The indices of root moves that must not be played: a flag for each move, or empty.
using Mask = std::vector<bool>;

class Selection {
public:
    explicit Selection(const Formula& formula);

    // The index of the move with the greatest score, the first if tied, or -1 if none is open.
    int select(const NodeTable& table, NodeIndex place, bool is_root, const Mask& masked) const noexcept;

    // The value that is assumed of a move without a completed visit.
    double untried_value(const NodeTable& table, const Node& node, bool is_root) const noexcept;

    // c(N) * sqrt(N)
    double exploration(std::uint32_t visits, bool is_root) const noexcept;

private:
    static constexpr std::uint32_t kRemembered = 1024;

    Formula formula_;
    std::array<double, kRemembered> remembered_;  // exploration(visits, false)
};

}  // namespace goryu
