// Reciprocals of many field elements by one inversion.
#pragma once
#include "counted_memory.hpp"
#include "field.hpp"
#include "threads.hpp"

namespace relift {

// Writes the reciprocals of nonzero field elements: one inversion, three multiplications each. Four chains of products
// are made side by side, since each product waits for the one before it.
inline void write_inverses(const u64* values, u64 size, u64* result) {
    constexpr u64 n_chains = 4;
    u64 product[n_chains] = {1, 1, 1, 1};
    const u64 whole = size - size % n_chains;
    for (u64 i = 0; i < whole; i += n_chains)
        for (u64 k = 0; k < n_chains; ++k) {
            result[i + k] = product[k];
            product[k] = field_multiply(product[k], values[i + k]);
        }
    for (u64 i = whole; i < size; ++i) {
        result[i] = product[i - whole];
        product[i - whole] = field_multiply(product[i - whole], values[i]);
    }
    const u64 first = field_multiply(product[0], product[1]), last = field_multiply(product[2], product[3]);
    const u64 of_all = field_inverse(field_multiply(first, last));
    const u64 of_first = field_multiply(of_all, last), of_last = field_multiply(of_all, first);
    u64 inverse[n_chains] = {field_multiply(of_first, product[1]), field_multiply(of_first, product[0]),
                             field_multiply(of_last, product[3]), field_multiply(of_last, product[2])};
    for (u64 i = size; i-- > whole;) {
        result[i] = field_multiply(result[i], inverse[i - whole]);
        inverse[i - whole] = field_multiply(inverse[i - whole], values[i]);
    }
    for (u64 i = whole; i > 0;) {
        i -= n_chains;
        for (u64 k = 0; k < n_chains; ++k) {
            result[i + k] = field_multiply(result[i + k], inverse[k]);
            inverse[k] = field_multiply(inverse[k], values[i + k]);
        }
    }
}

inline Array<u64> inverses(const u64* values, u64 size, u32 n_threads = 1) {
    Array<u64> result(size);
    over_range(size, threads_for(size, n_threads),
               [&](u64 first, u64 last) { write_inverses(values + first, last - first, result.data() + first); });
    return result;
}

}  // namespace relift
