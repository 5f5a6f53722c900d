// The layers with NEON, which every 64-bit ARM processor has. float32 is the faster arithmetic here: without
// products of pairs of 16-bit integers the integers gain nothing. They are here because they compute the same bits
// as on other processors.
#include "winograd_layers.h"

#if defined(__aarch64__) || defined(_M_ARM64)
#include <arm_neon.h>
#include <string.h>

#include "types.h"

namespace goryu {
namespace {

struct V {
    using F = float32x4_t;
    using I = int32x4_t;
    using H = int16x8_t;
    static constexpr int kLanes = 4;
    static constexpr int kRows = 9, kVectors = 2;

    GORYU_INLINE static F load(const float* p) { return vld1q_f32(p); }
    GORYU_INLINE static void store(float* p, F x) { vst1q_f32(p, x); }
    GORYU_INLINE static F set1(float x) { return vdupq_n_f32(x); }
    GORYU_INLINE static F add(F a, F b) { return vaddq_f32(a, b); }
    GORYU_INLINE static F sub(F a, F b) { return vsubq_f32(a, b); }
    GORYU_INLINE static F mul(F a, F b) { return vmulq_f32(a, b); }
    GORYU_INLINE static F reciprocal(F x) { return vdivq_f32(set1(1.0F), x); }
    GORYU_INLINE static F fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }
    GORYU_INLINE static F max(F a, F b) { return vmaxq_f32(a, b); }
    GORYU_INLINE static F min(F a, F b) { return vminq_f32(a, b); }

    GORYU_INLINE static I zero() { return vdupq_n_s32(0); }
    GORYU_INLINE static I load_i(const std::int32_t* p) { return vld1q_s32(p); }
    GORYU_INLINE static void store_i(std::int32_t* p, I x) { vst1q_s32(p, x); }
    GORYU_INLINE static I set1_i(std::int32_t x) { return vdupq_n_s32(x); }
    // Sums of products may wrap around on the way to a number that fits; signed overflow is undefined in C++.
    GORYU_INLINE static I add_i(I a, I b) {
        return vreinterpretq_s32_u32(vaddq_u32(vreinterpretq_u32_s32(a), vreinterpretq_u32_s32(b)));
    }
    GORYU_INLINE static I sub_i(I a, I b) {
        return vreinterpretq_s32_u32(vsubq_u32(vreinterpretq_u32_s32(a), vreinterpretq_u32_s32(b)));
    }
    GORYU_INLINE static F to_float(I x) { return vcvtq_f32_s32(x); }
    GORYU_INLINE static I round(F x) { return vcvtnq_s32_f32(x); }
    GORYU_INLINE static F power_of_two(I n) {
        return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
    }
    GORYU_INLINE static I max_bits(I a, F x) {
        const uint32x4_t bits = vandq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(0x7FFFFFFF));
        return vreinterpretq_s32_u32(vmaxq_u32(vreinterpretq_u32_s32(a), bits));
    }
    GORYU_INLINE static std::uint32_t greatest(I x) { return vmaxvq_u32(vreinterpretq_u32_s32(x)); }

    GORYU_INLINE static H zero_h() { return vdupq_n_s16(0); }
    GORYU_INLINE static H load_h(const std::int16_t* p) { return vld1q_s16(p); }
    GORYU_INLINE static void store_h(std::int16_t* p, H x) { vst1q_s16(p, x); }
    GORYU_INLINE static H add_h(H a, H b) { return vaddq_s16(a, b); }
    GORYU_INLINE static H sub_h(H a, H b) { return vsubq_s16(a, b); }
    // The values fit into 16 bits.
    GORYU_INLINE static H pack(I a, I b) { return vcombine_s16(vmovn_s32(a), vmovn_s32(b)); }
    // The same 32 bits in all places: a pair of halves or four bytes.
    GORYU_INLINE static I broadcast(const void* p) {
        std::int32_t word;
        memcpy(&word, p, sizeof word);
        return vdupq_n_s32(word);
    }
    GORYU_INLINE static I dot(I sum, I a, const std::int16_t* b) { return dot_h(sum, a, load_h(b)); }
    GORYU_INLINE static I dot_h(I sum, I a, H b) {
        const int16x8_t pairs = vreinterpretq_s16_s32(a);
        const int32x4_t low = vmull_s16(vget_low_s16(pairs), vget_low_s16(b));
        return add_i(sum, vpaddq_s32(low, vmull_high_s16(pairs, b)));
    }
};

#include "winograd_kernels.h"

}  // namespace

const Layers* layers_neon() noexcept { return &kLayers; }

}  // namespace goryu

#else

namespace goryu {
const Layers* layers_neon() noexcept { return nullptr; }
}  // namespace goryu

#endif
