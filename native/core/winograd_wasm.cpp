// The layers with the 128-bit vectors of WebAssembly.
#include "winograd_layers.h"

#if defined(__wasm_simd128__)
#include <string.h>
#include <wasm_simd128.h>

#include "types.h"

namespace goryu {
namespace {

struct V {
    using F = v128_t;
    using I = v128_t;
    using H = v128_t;
    static constexpr int kLanes = 4;
    static constexpr int kRows = 9, kVectors = 1;  // The best of six shapes.

    GORYU_INLINE static F load(const float* p) { return wasm_v128_load(p); }
    GORYU_INLINE static void store(float* p, F x) { wasm_v128_store(p, x); }
    GORYU_INLINE static F set1(float x) { return wasm_f32x4_splat(x); }
    GORYU_INLINE static F add(F a, F b) { return wasm_f32x4_add(a, b); }
    GORYU_INLINE static F sub(F a, F b) { return wasm_f32x4_sub(a, b); }
    GORYU_INLINE static F mul(F a, F b) { return wasm_f32x4_mul(a, b); }
    GORYU_INLINE static F reciprocal(F x) { return wasm_f32x4_div(set1(1.0F), x); }
    // Rounds the product, too: the others do not. Only the code for floats has it.
    GORYU_INLINE static F fma(F a, F b, F c) { return add(mul(a, b), c); }
    // As x86 does it: `b` if one of them is no number.
    GORYU_INLINE static F max(F a, F b) { return wasm_f32x4_pmax(b, a); }
    GORYU_INLINE static F min(F a, F b) { return wasm_f32x4_pmin(b, a); }

    GORYU_INLINE static I zero() { return wasm_i32x4_splat(0); }
    GORYU_INLINE static I load_i(const std::int32_t* p) { return wasm_v128_load(p); }
    GORYU_INLINE static void store_i(std::int32_t* p, I x) { wasm_v128_store(p, x); }
    GORYU_INLINE static I set1_i(std::int32_t x) { return wasm_i32x4_splat(x); }
    GORYU_INLINE static I add_i(I a, I b) { return wasm_i32x4_add(a, b); }
    GORYU_INLINE static I sub_i(I a, I b) { return wasm_i32x4_sub(a, b); }
    GORYU_INLINE static F to_float(I x) { return wasm_f32x4_convert_i32x4(x); }
    GORYU_INLINE static I round(F x) { return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(x)); }
    GORYU_INLINE static F power_of_two(I n) { return wasm_i32x4_shl(add_i(n, wasm_i32x4_splat(127)), 23); }
    GORYU_INLINE static I max_bits(I a, F x) {
        return wasm_u32x4_max(a, wasm_v128_and(x, wasm_i32x4_splat(0x7FFFFFFF)));
    }
    GORYU_INLINE static std::uint32_t greatest(I x) {
        std::uint32_t bits[kLanes], most = 0;
        wasm_v128_store(bits, x);
        for (const std::uint32_t each : bits) most = each > most ? each : most;
        return most;
    }

    GORYU_INLINE static H zero_h() { return wasm_i16x8_splat(0); }
    GORYU_INLINE static H load_h(const std::int16_t* p) { return wasm_v128_load(p); }
    GORYU_INLINE static void store_h(std::int16_t* p, H x) { wasm_v128_store(p, x); }
    GORYU_INLINE static H add_h(H a, H b) { return wasm_i16x8_add(a, b); }
    GORYU_INLINE static H sub_h(H a, H b) { return wasm_i16x8_sub(a, b); }
    // The values fit into 16 bits.
    GORYU_INLINE static H pack(I a, I b) { return wasm_i16x8_narrow_i32x4(a, b); }
    // The same 32 bits in all places: a pair of halves.
    GORYU_INLINE static I broadcast(const void* p) { return wasm_v128_load32_splat(p); }
    GORYU_INLINE static I dot(I sum, I a, const std::int16_t* b) { return dot_h(sum, a, load_h(b)); }
    GORYU_INLINE static I dot_h(I sum, I a, H b) { return add_i(sum, wasm_i32x4_dot_i16x8(a, b)); }
};

#include "winograd_kernels.h"

}  // namespace

const Layers* layers_wasm() noexcept { return &kLayers; }

}  // namespace goryu

#else

namespace goryu {
const Layers* layers_wasm() noexcept { return nullptr; }
}  // namespace goryu

#endif
