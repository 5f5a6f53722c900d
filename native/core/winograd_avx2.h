// Operations on one vector of AVX2, for winograd_kernels.h. Included where those instructions are switched on.

struct V {
    using F = __m256;
    using I = __m256i;
    using H = __m256i;
    static constexpr int kLanes = 8;
    static constexpr int kRows = 3, kVectors = 4;  // There are 16 registers.

    GORYU_INLINE static F load(const float* p) { return _mm256_loadu_ps(p); }
    GORYU_INLINE static void store(float* p, F x) { _mm256_storeu_ps(p, x); }
    GORYU_INLINE static F set1(float x) { return _mm256_set1_ps(x); }
    GORYU_INLINE static F add(F a, F b) { return _mm256_add_ps(a, b); }
    GORYU_INLINE static F sub(F a, F b) { return _mm256_sub_ps(a, b); }
    GORYU_INLINE static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
    GORYU_INLINE static F reciprocal(F x) { return _mm256_div_ps(set1(1.0F), x); }
    GORYU_INLINE static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
    GORYU_INLINE static F max(F a, F b) { return _mm256_max_ps(a, b); }
    GORYU_INLINE static F min(F a, F b) { return _mm256_min_ps(a, b); }

    GORYU_INLINE static I zero() { return _mm256_setzero_si256(); }
    GORYU_INLINE static I load_i(const std::int32_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    GORYU_INLINE static void store_i(std::int32_t* p, I x) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
    }
    GORYU_INLINE static I set1_i(std::int32_t x) { return _mm256_set1_epi32(x); }
    GORYU_INLINE static I add_i(I a, I b) { return _mm256_add_epi32(a, b); }
    GORYU_INLINE static I sub_i(I a, I b) { return _mm256_sub_epi32(a, b); }
    GORYU_INLINE static F to_float(I x) { return _mm256_cvtepi32_ps(x); }
    GORYU_INLINE static I round(F x) { return _mm256_cvtps_epi32(x); }
    GORYU_INLINE static F power_of_two(I n) {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
    }
    GORYU_INLINE static I max_bits(I a, F x) {
        return _mm256_max_epu32(a, _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF)));
    }
    GORYU_INLINE static std::uint32_t greatest(I x) {
        alignas(32) std::uint32_t bits[kLanes];
        _mm256_store_si256(reinterpret_cast<__m256i*>(bits), x);
        std::uint32_t most = 0;
        for (const std::uint32_t each : bits) most = each > most ? each : most;
        return most;
    }

    GORYU_INLINE static H zero_h() { return _mm256_setzero_si256(); }
    GORYU_INLINE static H load_h(const std::int16_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    GORYU_INLINE static void store_h(std::int16_t* p, H x) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x);
    }
    GORYU_INLINE static H add_h(H a, H b) { return _mm256_add_epi16(a, b); }
    GORYU_INLINE static H sub_h(H a, H b) { return _mm256_sub_epi16(a, b); }
    // The values fit into 16 bits.
    GORYU_INLINE static H pack(I a, I b) {
        return _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), _MM_SHUFFLE(3, 1, 2, 0));
    }
    // The same 32 bits in all places: a pair of halves or four bytes.
    GORYU_INLINE static I broadcast(const void* p) {
        std::int32_t word;
        memcpy(&word, p, sizeof word);
        return _mm256_set1_epi32(word);
    }
    // Adds the products of pairs.
    GORYU_INLINE static I dot(I sum, I a, const std::int16_t* b) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(GORYU_HAS_VNNI)
        // As one instruction to the compiler: GCC would begin all products first, and run out of registers.
        I product;
        __asm__("vpmaddwd %2, %3, %1\n\tvpaddd %1, %0, %0"
                : "+x"(sum), "=&x"(product)
                : "m"(*reinterpret_cast<const __m256i_u*>(b)), "x"(a));
        return sum;
#else
        return dot_h(sum, a, load_h(b));
#endif
    }
    GORYU_INLINE static I dot_h(I sum, I a, H b) {
#ifdef GORYU_HAS_VNNI
        return _mm256_dpwssd_avx_epi32(sum, a, b);
#else
        return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
#endif
    }

#ifdef GORYU_HAS_VNNI
    // Adds the products of fours of bytes: those of `a` have no sign, those at `b` have one.
    GORYU_INLINE static I dot_bytes(I sum, I a, const std::int8_t* b) {
        return _mm256_dpbusd_avx_epi32(sum, a, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
    }
    // Numbers from 0 to 255.
    GORYU_INLINE static void store_bytes(std::int8_t* p, I x) {
        const __m256i halves = _mm256_permute4x64_epi64(_mm256_packus_epi32(x, x), _MM_SHUFFLE(3, 1, 2, 0));
        const __m128i low = _mm256_castsi256_si128(halves);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packus_epi16(low, low));
    }
    GORYU_INLINE static float least_of(F x) {
        __m128 four = _mm_min_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
        four = _mm_min_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_min_ps(four, _mm_movehdup_ps(four)));
    }
    GORYU_INLINE static float greatest_of(F x) {
        __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
        four = _mm_max_ps(four, _mm_movehl_ps(four, four));
        return _mm_cvtss_f32(_mm_max_ps(four, _mm_movehdup_ps(four)));
    }
#endif
};
