// Memory for the many small arrays of the graph, given out in blocks and taken back in blocks.
//
// A block is named by a 32-bit number, not a pointer; blocks that were taken back are handed out again for
// requests of the same size. The system provides memory one large chunk at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace goryu {

using Block = std::uint32_t;

class Blocks {
public:
    // There are no names for more chunks, of 2 MiB each.
    static constexpr std::size_t kMaxChunks = std::size_t{1} << 15;

    // One chunk from the start, so that a block without bytes has an address too.
    explicit Blocks(std::size_t max_chunks = kMaxChunks) : max_chunks_(max_chunks) { add_chunk(); }

    // Returns room for `bytes` bytes, aligned to 4. All blocks of size 0 have the same name.
    Block allocate(std::size_t bytes) {
        const std::size_t units = units_of(bytes);
        if (units == 0) return 0;
        in_use_ += units;
        if (units < free_.size() && !free_[units].empty()) {
            const Block block = free_[units].back();
            free_[units].pop_back();
            return block;
        }
        if (units > kChunkUnits - used_) add_chunk();
        held_ += units;
        const auto block = static_cast<Block>(((chunk_count_ - 1) << kChunkBits) + used_);
        used_ += units;
        return block;
    }

    // `bytes` must be the size that was allocated.
    void release(Block block, std::size_t bytes) {
        const std::size_t units = units_of(bytes);
        if (units == 0) return;
        in_use_ -= units;
        if (units >= free_.size()) free_.resize(units + 1);
        free_[units].push_back(block);
    }

    // Takes everything back; the memory is kept for what comes next.
    void clear() noexcept {
        for (auto& blocks : free_) blocks.clear();
        chunk_count_ = 1;
        used_ = 0;
        held_ = 0;
        in_use_ = 0;
    }

    // Gives the chunks that are not in use back to the system.
    void shrink() { chunks_.resize(chunk_count_); }

    template <class T>
    T* at(Block block) const noexcept {
        return reinterpret_cast<T*>(chunks_[block >> kChunkBits].get() + (block & (kChunkUnits - 1)) * kUnit);
    }

    // Are `count` eighths of the chunks in use? Beyond eight, a new block would get the name of an older one.
    bool uses_eighths(std::size_t count) const noexcept { return 8 * chunk_count_ >= count * max_chunks_; }

    // Memory that is in use or waits to be used again.
    std::size_t bytes() const noexcept { return held_ * kUnit; }
    std::size_t bytes_in_use() const noexcept { return in_use_ * kUnit; }

private:
    static constexpr std::size_t kUnit = 16;
    static constexpr int kChunkBits = 17;
    static constexpr std::size_t kChunkUnits = std::size_t{1} << kChunkBits;
    static_assert(std::uint64_t{kMaxChunks} << kChunkBits == std::uint64_t{1} << 32);

    static std::size_t units_of(std::size_t bytes) noexcept { return (bytes + kUnit - 1) / kUnit; }

    void add_chunk() {
        if (chunk_count_ == chunks_.size()) {
            chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(kChunkUnits * kUnit));
        }
        ++chunk_count_;
        used_ = 0;
    }

    std::size_t max_chunks_;
    std::vector<std::unique_ptr<std::byte[]>> chunks_;
    // By size. Not a list through the blocks themselves: taking one back shall not touch its memory.
    std::vector<std::vector<Block>> free_;
    std::size_t chunk_count_ = 0;
    std::size_t used_ = 0;  // Units of the last chunk that were ever handed out.
    std::size_t held_ = 0;  // Units of all chunks that were.
    std::size_t in_use_ = 0;  // Units that are handed out now.
};

}  // namespace goryu
