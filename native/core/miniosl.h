// The format of miniosl's networks: evaluators/formats/miniosl.py in C++.
#pragma once

#include "formats.h"

namespace goryu {

constexpr int kMinioslPlanes = 176;

class MinioslFormat final : public Format {
public:
    MinioslFormat();

    void write(const Game& game, PlaneRow<float>& row) const noexcept override;
    void write(const Game& game, PlaneRow<Half>& row) const noexcept override;
    void write(const Game& game, BitRow& row) const noexcept override;
    int label(Move move, Color color) const noexcept override;
};

}  // namespace goryu
