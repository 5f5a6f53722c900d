// The layers with NEON, in float32 only: without a product of pairs of 16-bit integers they would not be faster.
#include "winograd_layers.h"

namespace goryu {
const Layers* layers_neon() noexcept { return nullptr; }
}  // namespace goryu
