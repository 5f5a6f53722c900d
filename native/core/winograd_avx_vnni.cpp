// The layers with AVX2 and AVX-VNNI.
#include "winograd_x86.h"

#ifdef GORYU_X86
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avxvnni"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,avxvnni")
#endif
#endif

#define GORYU_HAS_VNNI
#define GORYU_VECTORS "winograd_avx2.h"
#define GORYU_LAYERS layers_avx_vnni
#include "winograd_x86_layers.h"
