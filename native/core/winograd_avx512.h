// Operations on one vector of AVX-512, for winograd_kernels.h. Included where those instructions are switched on.

struct V {
    using F = __m512;
    using I = __m512i;
    using H = __m512i;
    static constexpr int kLanes = 16;
    static constexpr int kRows = 9, kVectors = 2;

    GORYU_INLINE static F load(const float* p) { return _mm512_loadu_ps(p); }
    GORYU_INLINE static void store(float* p, F x) { _mm512_storeu_ps(p, x); }
    GORYU_INLINE static F set1(float x) { return _mm512_set1_ps(x); }
    GORYU_INLINE static F add(F a, F b) { return _mm512_add_ps(a, b); }
    GORYU_INLINE static F sub(F a, F b) { return _mm512_sub_ps(a, b); }
    GORYU_INLINE static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
    GORYU_INLINE static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
    GORYU_INLINE static F max(F a, F b) { return _mm512_max_ps(a, b); }
    GORYU_INLINE static F min(F a, F b) { return _mm512_min_ps(a, b); }
    // 1 / x of 1 <= x < 2^126, to the last bit, in two steps of Newton's method: a division takes twice as long. The
    // first step rounds up, since the second one rounds 1 / (2 - 2^-23) rightly only from above.
    GORYU_INLINE static F reciprocal(F x) {
        const F one = set1(1.0F);
        F y = _mm512_rcp14_ps(x);
        y = _mm512_fmadd_round_ps(_mm512_fnmadd_ps(x, y, one), y, y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
        return _mm512_fmadd_ps(_mm512_fnmadd_ps(x, y, one), y, y);
    }

    GORYU_INLINE static I zero() { return _mm512_setzero_si512(); }
    GORYU_INLINE static I load_i(const std::int32_t* p) { return _mm512_loadu_si512(p); }
    GORYU_INLINE static void store_i(std::int32_t* p, I x) { _mm512_storeu_si512(p, x); }
    GORYU_INLINE static I set1_i(std::int32_t x) { return _mm512_set1_epi32(x); }
    GORYU_INLINE static I add_i(I a, I b) { return _mm512_add_epi32(a, b); }
    GORYU_INLINE static I sub_i(I a, I b) { return _mm512_sub_epi32(a, b); }
    GORYU_INLINE static F to_float(I x) { return _mm512_cvtepi32_ps(x); }
    GORYU_INLINE static I round(F x) { return _mm512_cvtps_epi32(x); }
    GORYU_INLINE static F power_of_two(I n) {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(n, _mm512_set1_epi32(127)), 23));
    }
    GORYU_INLINE static I max_bits(I a, F x) {
        return _mm512_max_epu32(a, _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF)));
    }
    GORYU_INLINE static std::uint32_t greatest(I x) {
        alignas(64) std::uint32_t bits[kLanes];
        _mm512_store_si512(bits, x);
        std::uint32_t most = 0;
        for (const std::uint32_t each : bits) most = each > most ? each : most;
        return most;
    }

    GORYU_INLINE static H zero_h() { return _mm512_setzero_si512(); }
    GORYU_INLINE static H load_h(const std::int16_t* p) { return _mm512_loadu_si512(p); }
    GORYU_INLINE static void store_h(std::int16_t* p, H x) { _mm512_storeu_si512(p, x); }
    GORYU_INLINE static H add_h(H a, H b) { return _mm512_add_epi16(a, b); }
    GORYU_INLINE static H sub_h(H a, H b) { return _mm512_sub_epi16(a, b); }
    // The values fit into 16 bits.
    GORYU_INLINE static H pack(I a, I b) {
        return _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0), _mm512_packs_epi32(a, b));
    }
    // The same 32 bits in all places: a pair of halves or four bytes.
    GORYU_INLINE static I broadcast(const void* p) {
        std::int32_t word;
        memcpy(&word, p, sizeof word);
        return _mm512_set1_epi32(word);
    }
    GORYU_INLINE static I dot(I sum, I a, const std::int16_t* b) { return dot_h(sum, a, load_h(b)); }
    GORYU_INLINE static I dot_h(I sum, I a, H b) {
#ifdef GORYU_HAS_VNNI
        return _mm512_dpwssd_epi32(sum, a, b);
#else
        return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
#endif
    }

#ifdef GORYU_HAS_TILES
    // Two vectors as one of bfloat16.
    GORYU_INLINE static H bfloats(F a, F b) { return reinterpret_cast<H>(_mm512_cvtne2ps_pbh(b, a)); }
#endif

#ifdef GORYU_HAS_VNNI
    // Adds the products of fours of bytes: those of `a` have no sign, those at `b` have one.
    GORYU_INLINE static I dot_bytes(I sum, I a, const std::int8_t* b) {
        return _mm512_dpbusd_epi32(sum, a, _mm512_loadu_si512(b));
    }
    // Numbers from 0 to 255.
    GORYU_INLINE static void store_bytes(std::int8_t* p, I x) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(x));
    }
    GORYU_INLINE static float least_of(F x) { return _mm512_reduce_min_ps(x); }
    GORYU_INLINE static float greatest_of(F x) { return _mm512_reduce_max_ps(x); }
#endif
};
