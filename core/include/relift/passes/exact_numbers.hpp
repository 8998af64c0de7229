// Numbers as exact ones: products of a matrix with a vector of field elements, and numbers that are nearly equal.
#pragma once
#include "../distinct_words.hpp"
#include "../exact_values.hpp"
#include "../sparse_view.hpp"

namespace relift {
namespace passes {

// products[i] = sum_j a_ij words[j] in the field, entries read exactly; where the word is 0 nothing is read.
template <class Index>
void field_product(const SparseView<Index>& matrix, bool is_by_rows, const u64* words, Reading reading, u64* products) {
    ValueReader image(reading);
    const u32 n_rows = is_by_rows ? matrix.n_major : matrix.n_minor;
    std::fill_n(products, n_rows, 0);
    for (u32 major = 0; major < matrix.n_major; ++major) {
        if (!is_by_rows && words[major] == 0) continue;
        for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e) {
            const u32 minor = u32(matrix.indices[e]);
            const u64 word = words[is_by_rows ? minor : major];
            if (word == 0) continue;
            u64& sum = products[is_by_rows ? major : minor];
            sum = field_add(sum, field_multiply(image(matrix.values[e]), word));
        }
    }
}

// How many different numbers there are, and how many that differ before their last bits; signs do not count. Of several
// slices of the latter only one is looked at: all numbers of one key, or none of them.
struct NearCounts {
    u64 numbers = 0, keys = 0;
};

inline NearCounts count_near(const double* values, u64 size, int last_bits, u64 n_slices) {
    Array<u64> numbers, keys;
    u64 before = ~u64(0);
    for (u64 k = 0; k < size; ++k) {
        const u64 bits = bits_of(values[k]) & ~(u64(1) << 63);
        if (bits == before) continue;
        before = bits;
        const u64 key = (bits + (u64(1) << (last_bits - 1))) >> last_bits;
        if (n_slices > 1 && (mix(key) >> 32) * n_slices >> 32) continue;
        numbers.push_back(bits);
        keys.push_back(key);
    }
    Array<i64> labels(numbers.size());
    const auto distinct = [&](const Array<u64>& words) {
        return u64(group(words.data(), u32(words.size()), words.size() / 4, labels.data()).n_classes());
    };
    return {distinct(numbers), distinct(keys)};
}

}  // namespace passes
}  // namespace relift
