// Some of many numbers, and which of them each is: one bit each, and how many come before every word of bits, so that
// both stay near the processor.
#pragma once
#include <cstddef>

#include "../counted_memory.hpp"
#include "../field.hpp"

namespace relift::passes {

// How many bits of a word are set.
inline u32 count_ones(u64 word) {
    word -= word >> 1 & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
    return u32(((word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

class Numbered {
public:
    // Room for numbers below a size; add() them all, then number() them.
    explicit Numbered(size_t size) : bits_(size / 64 + 1, 0), before_(bits_.size()) {}
    void add(size_t number) { bits_[number / 64] |= u64(1) << number % 64; }
    size_t number() {
        size_t count = 0;
        for (size_t k = 0; k < bits_.size(); ++k) before_[k] = u32(count), count += count_ones(bits_[k]);
        return count;
    }
    bool has(size_t number) const { return bits_[number / 64] >> number % 64 & 1; }
    size_t place(size_t number) const {
        return before_[number / 64] + count_ones(bits_[number / 64] & ((u64(1) << number % 64) - 1));
    }
    // Calls work(number), ascending.
    template <class Work> void each(Work&& work) const {
        for (size_t k = 0; k < bits_.size(); ++k)
            for (u64 rest = bits_[k]; rest; rest &= rest - 1) work(64 * k + count_ones((rest & (~rest + 1)) - 1));
    }

private:
    Array<u64> bits_;
    Array<u32> before_;
};

}  // namespace relift::passes
