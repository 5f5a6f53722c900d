// The layers with AVX-512 and VNNI, and the convolutions in bfloat16 with AMX.
#include "winograd_x86.h"

// GCC 10 does not know AMX, and only Linux gives its registers to a program that asks as winograd.cpp does.
#if !defined(GORYU_X86) || !defined(__linux__) || (!defined(__clang__) && __GNUC__ < 11)
#undef GORYU_X86
#elif defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma,amx-tile,amx-bf16"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic ignored "-Wuninitialized"  // Wrong in GCC 12: its bug 105593.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,fma,amx-tile,amx-bf16")
#endif

#define GORYU_HAS_TILES
#define GORYU_HAS_VNNI
#define GORYU_VECTORS "winograd_avx512.h"
#define GORYU_LAYERS layers_amx
#include "winograd_x86_layers.h"
