// Memory for many arrays of the same size: large pieces, on large pages where the system has them.
//
// Kernel rows are written once and read often; on small pages the faults of first use would cost as much as the kernel.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace relift::ml {

class Slabs {
public:
    // Slots of so many bytes each.
    explicit Slabs(std::size_t slot_bytes) : slot_bytes_((slot_bytes + 63) / 64 * 64) {}
    Slabs(const Slabs&) = delete;
    Slabs& operator=(const Slabs&) = delete;

    std::size_t slot_bytes() const { return slot_bytes_; }

    void* take() {
        if (free_.empty()) add_piece();
        void* slot = free_.back();
        free_.pop_back();
        return slot;
    }
    void give(void* slot) { free_.push_back(slot); }

private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    void add_piece() {
        constexpr std::size_t page = std::size_t(1) << 21;
        std::size_t bytes = std::max(slot_bytes_, std::min(4 * page, slot_bytes_ * next_count_));
        next_count_ *= 2;
        const std::size_t alignment = bytes >= page ? page : 64;
        bytes = (bytes + alignment - 1) / alignment * alignment;
        void* memory = std::aligned_alloc(alignment, bytes);
        if (!memory) throw std::bad_alloc();
        pieces_.emplace_back(memory);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (alignment == page) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: what it answers does not matter
#endif
        const std::size_t count = bytes / slot_bytes_;
        for (std::size_t k = count; k-- > 0;) free_.push_back(static_cast<char*>(memory) + k * slot_bytes_);
    }

    std::size_t slot_bytes_, next_count_ = 16;
    std::vector<std::unique_ptr<void, Free>> pieces_;
    std::vector<void*> free_;
};

}  // namespace relift::ml
