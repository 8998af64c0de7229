// Vectors as looks read them: a number for each member, or, as bounds often are, one number for all.
#pragma once
#include "../field.hpp"

namespace relift {
namespace passes {

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

}  // namespace passes
}  // namespace relift
