// The layers for one kind of vector instructions of x86 processors. Included once by a file that has switched on
// these instructions with a pragma and has defined
//   GORYU_VECTORS  the file with the operations on one vector
//   GORYU_LAYERS   the function that returns the layers
// The instructions are switched off again before that function, which every processor may call.

#ifdef GORYU_X86

namespace goryu {
namespace {

#include GORYU_VECTORS
#include "winograd_kernels.h"

}  // namespace
}  // namespace goryu

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

namespace goryu {
const Layers* GORYU_LAYERS() noexcept { return &kLayers; }
}  // namespace goryu

#else

namespace goryu {
const Layers* GORYU_LAYERS() noexcept { return nullptr; }
}  // namespace goryu

#endif
