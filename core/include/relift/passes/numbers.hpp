// Vectors as looks read them: a number for each member, or, as bounds often are, one number for all.
#pragma once
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

// The same exactly too, with costs of variables; rows have none.
struct GivenNumbers {
    Numbers<double> low, high, cost;
    Numbers<u64> low_image, high_image, cost_image;
    u64 size = 0;
};

}  // namespace passes
}  // namespace relift
