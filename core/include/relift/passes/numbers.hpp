// Vectors as looks read them: a number for each member, or, as bounds often are, one number for all.
#pragma once
#include <cmath>

#include "../field.hpp"

namespace relift {
namespace passes {

constexpr size_t most_indices = 0x7FFFFFFF;  // that 32 bits hold

template <class T>
struct Numbers {
    const T* first = nullptr;
    u64 step = 1;  // 0 if there is one for all
    T operator[](u64 k) const { return first[k * step]; }
    bool is_one() const { return step == 0; }
};

// Bounds on both sides, of variables or of rows.
struct Sides {
    Numbers<double> low, high;
    u64 size = 0;
    bool are_one() const { return low.is_one() && high.is_one(); }
};

// What stands for a float that was not read exactly: it tells whether the number is 0, and whether it is infinite.
inline u64 mark_of(double value) {
    return std::isinf(value) ? (value > 0 ? plus_infinity : minus_infinity) : u64(value != 0);
}

// Images of numbers, or, where they are those of the floats themselves and were not read, marks of these.
struct Images {
    Numbers<u64> read;
    Numbers<double> given;
    Images() = default;
    Images(const u64* words, u64 step) : read{words, step} {}
    Images(Numbers<u64> read_, Numbers<double> given_) : read(read_), given(given_) {}
    bool are_read() const { return read.first != nullptr; }
    bool is_one() const { return are_read() ? read.is_one() : given.is_one(); }
    u64 operator[](u64 k) const { return are_read() ? read[k] : mark_of(given[k]); }
};

// The same exactly too, with costs of variables; rows have none. Images of all are read, or of none.
struct GivenNumbers {
    Numbers<double> low, high, cost;
    Images low_image, high_image, cost_image;
    u64 size = 0;
    bool are_read() const { return low_image.are_read(); }
};

}  // namespace passes
}  // namespace relift
