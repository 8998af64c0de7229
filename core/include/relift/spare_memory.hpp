// Memory that one step of a search gives back and the next one takes, without the system in between: to map new pages
// costs as much as the passes over them.
//
// Blocks are kept in the thread that frees them, while a search goes on there, and never so many that more memory is
// held than was in use at some time before. A search that needed little leaves them to the next one in its thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include "portable.hpp"

namespace relift {

class SpareMemory {
public:
    SpareMemory() = default;
    SpareMemory(const SpareMemory&) = delete;
    SpareMemory& operator=(const SpareMemory&) = delete;
    ~SpareMemory() { free_all(); }

    // Searches may stand in each other; the outermost one frees what is left, if it is not little.
    void open() {
        blocks_.reserve(most_blocks);  // so that nothing can fail when memory is given back
        if (n_open_++ == 0) most_in_use_ = kept_;
    }
    void close() {
        if (n_open_ == 0 || --n_open_ > 0) return;
        if (most_in_use_ > most_left) free_all();
        in_use_ = most_in_use_ = 0;
    }

    void* take(std::size_t bytes) {
        if (bytes < least_kept) return ::operator new(bytes);
        const std::size_t size = size_of_block(bytes);  // also where none are kept: it may be given back where they are
        if (n_open_ == 0) return fresh(size);
        const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& each) { return each.size == size; });
        void* memory = nullptr;
        if (found != blocks_.end()) {
            memory = found->memory;
            kept_ -= size;
            blocks_.erase(found);
        } else {
            while (!blocks_.empty() && in_use_ + kept_ + size > most_in_use_) free_first();
            memory = fresh(size);
        }
        most_in_use_ = std::max(most_in_use_, in_use_ += size);
        return memory;
    }

    void give_back(void* memory, std::size_t bytes) noexcept {
        if (bytes < least_kept) return ::operator delete(memory);
        const std::size_t size = size_of_block(bytes);
        if (n_open_ == 0) return release(memory, size);
        in_use_ -= std::min(in_use_, size);  // it may come from before the search, or from another thread
        if (blocks_.size() == most_blocks || in_use_ + kept_ + size > most_in_use_) return release(memory, size);
        blocks_.push_back({memory, size});
        kept_ += size;
    }

    std::size_t n_kept_bytes() const { return kept_; }

private:
    struct Block {
        void* memory;
        std::size_t size;
    };
    static constexpr std::size_t least_kept = std::size_t(1) << 15, most_blocks = 64;
    static constexpr std::size_t most_left = std::size_t(1) << 22;  // between searches
    static constexpr std::size_t large_page = std::size_t(1) << 21, least_aligned = 3 * large_page / 2;

    // Few sizes, so that blocks fit again: at most an eighth more than is asked for.
    static std::size_t size_of_block(std::size_t bytes) {
        std::size_t step = least_kept / 8;
        while (16 * step <= bytes) step *= 2;
        return (bytes + step - 1) / step * step;
    }

    static void* fresh(std::size_t size) {
        if (size < least_aligned) return ::operator new(size);
        void* memory = ::operator new(size, std::align_val_t(large_page));
        ask_for_large_pages(memory, size / large_page * large_page);  // what is beyond may not all be used
        return memory;
    }
    static void release(void* memory, std::size_t size) {
        if (size < least_aligned) ::operator delete(memory);
        else ::operator delete(memory, std::align_val_t(large_page));
    }

    void free_first() {
        release(blocks_.front().memory, blocks_.front().size);
        kept_ -= blocks_.front().size;
        blocks_.erase(blocks_.begin());
    }
    void free_all() {
        while (!blocks_.empty()) free_first();
    }

    std::vector<Block> blocks_;
    std::size_t n_open_ = 0, in_use_ = 0, most_in_use_ = 0, kept_ = 0;
};

// Of this thread.
inline SpareMemory& spare_memory() {
    static thread_local SpareMemory memory;
    return memory;
}

}  // namespace relift
