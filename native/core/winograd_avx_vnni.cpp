// The layers with AVX2 and AVX-VNNI.
#include "winograd_layers.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#include <string.h>

#include "types.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avxvnni"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,avxvnni")
#endif

#define GORYU_HAS_VNNI

namespace goryu {
namespace {

#include "winograd_avx2.h"
#include "winograd_kernels.h"

}  // namespace
}  // namespace goryu

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

namespace goryu {
const Layers* layers_avx_vnni() noexcept { return &kLayers; }
}  // namespace goryu

#else

namespace goryu {
const Layers* layers_avx_vnni() noexcept { return nullptr; }
}  // namespace goryu

#endif
