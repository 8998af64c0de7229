// How many members each class has.
#pragma once
#include "../threads.hpp"

namespace relift::passes {

// Every thread counts in numbers of its own. False if a label is no class.
inline bool class_sizes(const int64_t* labels, size_t n, size_t n_classes, int64_t* sizes, u32 n_threads) {
    n_threads = n_classes <= n / 64 ? threads_for(n, n_threads) : 1;  // what others have counted is to be added
    std::vector<Array<int64_t>> own(n_threads);
    std::vector<u8> are_inside(n_threads, 1);
    in_parallel(n_threads, [&](u32 k) {
        own[k].assign(k ? n_classes : 0, 0);
        int64_t* const counts = k ? own[k].data() : sizes;
        if (k == 0) std::fill_n(sizes, n_classes, 0);
        for (u64 i = part_of(n, k, n_threads), end = part_of(n, k + 1, n_threads); i < end;) {
            const int64_t label = labels[i];
            if (u64(label) >= n_classes) {
                are_inside[k] = 0;
                return;
            }
            const u64 first = i;  // those of a class often follow each other
            while (++i < end && labels[i] == label) {}
            counts[label] += int64_t(i - first);
        }
    });
    for (u32 k = 1; k < n_threads; ++k)
        for (size_t label = 0; label < n_classes; ++label) sizes[label] += own[k][label];
    return std::all_of(are_inside.begin(), are_inside.end(), [](u8 is_inside) { return is_inside != 0; });
}

}  // namespace relift::passes
