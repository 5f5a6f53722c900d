// The layers with AVX-512, without VNNI.
#include "winograd_x86.h"

#ifdef GORYU_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wuninitialized"  // Wrong in GCC 12: its bug 105593.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,fma")
#endif
#endif

#define GORYU_VECTORS "winograd_avx512.h"
#define GORYU_LAYERS layers_avx512
#include "winograd_x86_layers.h"
