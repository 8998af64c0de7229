// Conic rows as looks and rounds in floats read them.
#pragma once
#include "field.hpp"

namespace relift {

// Conic rows are the last rows; those of a cone stand together.
struct ConicNumbers {
    u64 first_row = ~u64(0), n_cones = 0;
    const i64* cone_of_row = nullptr;
    const u64* kinds = nullptr;          // only rows of one kind can be in one class
    const u8* has_open_sign = nullptr;   // whether the cone does not see the sign of the row; so it is for all of a kind
    bool sizes = true;                   // whether sizes other than 1 are looked for
};

}  // namespace relift
