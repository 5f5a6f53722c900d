// Memory for the many small arrays of the graph, given out in blocks and taken back in blocks.
//
// A block is named by a 32-bit number, not a pointer; blocks that were taken back are handed out again to
// whoever asks for the same size. The system is asked for memory one large chunk at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace goryu {

using Block = std::uint32_t;

class Blocks {
public:
    // One chunk from the start, so that a block without bytes has an address too.
    Blocks() { add_chunk(); }

    // Room for `bytes` bytes, aligned to 4. Blocks of size 0 all have the same name.
    Block allocate(std::size_t bytes) {
        const std::size_t units = units_of(bytes);
        if (units == 0) return 0;
        if (units < free_.size() && free_[units] != kNone) {
            const Block block = free_[units];
            free_[units] = *at<Block>(block);
            return block;
        }
        if (units > kChunkUnits - used_) add_chunk();
        const auto block = static_cast<Block>(((chunk_count_ - 1) << kChunkBits) + used_);
        used_ += units;
        return block;
    }

    // `bytes` must be what was asked for.
    void release(Block block, std::size_t bytes) {
        const std::size_t units = units_of(bytes);
        if (units == 0) return;
        if (units >= free_.size()) free_.resize(units + 1, kNone);
        *at<Block>(block) = free_[units];
        free_[units] = block;
    }

    // Takes everything back; the memory is kept for what comes next.
    void clear() noexcept {
        free_.clear();
        chunk_count_ = 1;
        used_ = 0;
    }

    template <class T>
    T* at(Block block) const noexcept {
        return reinterpret_cast<T*>(chunks_[block >> kChunkBits].get() + (block & (kChunkUnits - 1)) * kUnit);
    }

    // Could the names run out with the next block?
    bool is_exhausted() const noexcept { return chunk_count_ >= kMaxChunks; }

    // Memory that has been handed out at least once.
    std::size_t bytes() const noexcept {
        return ((chunk_count_ - 1) * kChunkUnits + used_) * kUnit;
    }

private:
    static constexpr std::size_t kUnit = 16;
    static constexpr int kChunkBits = 17;  // 2 MiB
    static constexpr std::size_t kChunkUnits = std::size_t{1} << kChunkBits;
    static constexpr std::size_t kMaxChunks = (std::size_t{1} << (32 - kChunkBits)) - 2;
    static constexpr Block kNone = ~Block{0};

    static std::size_t units_of(std::size_t bytes) noexcept { return (bytes + kUnit - 1) / kUnit; }

    void add_chunk() {
        if (chunk_count_ == chunks_.size()) {
            chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunkUnits * kUnit));
        }
        ++chunk_count_;
        used_ = 0;
    }

    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    std::vector<Block> free_;  // By size: the first free block; each free block holds the next one's name.
    std::size_t chunk_count_ = 0;
    std::size_t used_ = 0;  // Units of the last chunk that were ever handed out.
};

}  // namespace goryu
