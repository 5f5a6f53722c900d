// What winograd_avx2.cpp and its like include before they switch on their instructions.
#pragma once

#include "types.h"
#include "winograd_layers.h"

#if defined(__x86_64__) || defined(_M_X64)
#define GORYU_X86
#include <immintrin.h>
#include <string.h>
#endif
