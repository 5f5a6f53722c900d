// Products of bytes with AMX, for winograd_kernels.h. A register is a tile: up to 16 rows of 64 bytes. One
// instruction adds to a tile of sums, [rows][16 outputs], the products of a tile of inputs, [rows][64], and one of
// weights, [16 fours of inputs][16 outputs][4]: a thousand products for each row.

constexpr int kTileBytes = 64, kTileOutputs = 16, kTileRows = 14;
// Six tiles of 14 rows hold the 81 squares; the last one computes three squares again.
constexpr int kSquareTiles = 6;
static_assert((kSquareTiles - 1) * kTileRows < kBoardSquares && kBoardSquares <= kSquareTiles * kTileRows);

constexpr int first_square(int tile) {
    return tile < kSquareTiles - 1 ? tile * kTileRows : kBoardSquares - kTileRows;
}

// The tiles 0 to 5 hold sums, 6 inputs and 7 weights. An object gives this thread the registers until its end.
class Tiles {
public:
    Tiles() {
        alignas(64) std::uint8_t shapes[64] = {1};  // The kind of the table; then two bytes of width and one of height.
        for (int tile = 0; tile < 8; ++tile) {
            shapes[16 + 2 * tile] = kTileBytes;
            shapes[48 + tile] = tile < 7 ? kTileRows : kTileBytes / 4;
        }
        _tile_loadconfig(shapes);
    }
    ~Tiles() { _tile_release(); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;
};

// Every square times a block of 32 outputs. squares: [81][inputs], inputs: a multiple of 64; out: [81][32].
// GORYU_INLINE may not be left out: registers have numbers, not names, and belong to whoever calls.
GORYU_INLINE void tile_products(const std::int8_t* squares, const std::int8_t* weights, std::ptrdiff_t inputs,
                                std::int32_t* out) {
    constexpr int kWeightRow = 4 * kBlock, kSumRow = kBlock * static_cast<int>(sizeof *out);
    const std::int8_t* next = weights + kBlock * inputs;  // Those of the next block.
    __asm__ volatile("" ::: "memory");  // The compiler does not see what the instructions read.
    for (int half = 0; half < kBlock; half += kTileOutputs, out += kTileOutputs) {
        const std::int8_t* from = weights + 4 * half;
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        _tile_zero(4);
        _tile_zero(5);
        for (std::ptrdiff_t i = 0; i < inputs; i += kTileBytes, from += kTileBytes / 4 * kWeightRow) {
            for (int line = 0; line < kTileBytes / 4; ++line, next += 64) GORYU_PREFETCH(next);
            _tile_loadd(7, from, kWeightRow);
#define GORYU_MULTIPLY(tile)                                           \
    _tile_loadd(6, squares + first_square(tile) * inputs + i, inputs); \
    _tile_dpbusd(tile, 6, 7);
            GORYU_MULTIPLY(0)
            GORYU_MULTIPLY(1)
            GORYU_MULTIPLY(2)
            GORYU_MULTIPLY(3)
            GORYU_MULTIPLY(4)
            GORYU_MULTIPLY(5)
#undef GORYU_MULTIPLY
        }
        _tile_stored(0, out + first_square(0) * kBlock, kSumRow);
        _tile_stored(1, out + first_square(1) * kBlock, kSumRow);
        _tile_stored(2, out + first_square(2) * kBlock, kSumRow);
        _tile_stored(3, out + first_square(3) * kBlock, kSumRow);
        _tile_stored(4, out + first_square(4) * kBlock, kSumRow);
        _tile_stored(5, out + first_square(5) * kBlock, kSumRow);
    }
    __asm__ volatile("" ::: "memory");
}
