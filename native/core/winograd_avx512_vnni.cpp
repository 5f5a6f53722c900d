// The layers with AVX-512 and VNNI.
#include "winograd_layers.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#include <string.h>

#include "types.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wuninitialized"  // Wrong in GCC 12: its bug 105593.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")
#endif

#define GORYU_HAS_VNNI

namespace goryu {
namespace {

#include "winograd_avx512.h"
#include "winograd_kernels.h"

}  // namespace
}  // namespace goryu

#if defined(__clang__)
#pragma clang attribute pop
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

namespace goryu {
const Layers* layers_avx512_vnni() noexcept { return &kLayers; }
}  // namespace goryu

#else

namespace goryu {
const Layers* layers_avx512_vnni() noexcept { return nullptr; }
}  // namespace goryu

#endif
