// The place of the PUCT formula. The formula itself is native/selection.pxi, in Cython, which the extension enters
// here when it is imported; the test programs enter their own.
#pragma once

#include <array>

#include "node_table.h"

namespace goryu {

struct Formula {
    double c_init = 2.5;
    double c_base = 19652.0;
    double c_factor = 2.0;
    double fpu_reduction = 0.35;
    bool fpu_from_parent = true;

    bool operator==(const Formula&) const = default;
};

// The indices of root moves that must not be played: a flag for each move, or empty.
using Mask = std::vector<bool>;

struct Selection;

struct SelectionFunctions {
    // The index of the move that a playout takes, or -1 if none is open.
    // is_root: are all moves of a certain value closed, and not only those proven to lose?
    int (*select)(const Selection&, const NodeTable&, NodeIndex, const Mask& masked, bool is_root) = nullptr;
    // c(N) * sqrt(N)
    double (*exploration)(std::uint32_t visits, const Formula&) = nullptr;
};

// What every search calls; they must be entered before there is one.
inline SelectionFunctions selection_functions;

// A formula, and what it needs again and again.
struct Selection {
    static constexpr std::uint32_t kRemembered = 1024;

    explicit Selection(const Formula& formula) : formula(formula) {
        for (std::uint32_t n = 0; n < kRemembered; ++n) explorations[n] = selection_functions.exploration(n, formula);
    }

    int select(const NodeTable& table, NodeIndex index, const Mask& masked, bool is_root) const {
        return selection_functions.select(*this, table, index, masked, is_root);
    }

    Formula formula;
    std::array<double, kRemembered> explorations;  // exploration(visits)
};

}  // namespace goryu
