// The layers with AVX2.
#include "winograd_x86.h"

#ifdef GORYU_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#endif

#define GORYU_VECTORS "winograd_avx2.h"
#define GORYU_LAYERS layers_avx2
#include "winograd_x86_layers.h"
