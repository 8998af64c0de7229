// Numbers told from one another along links, each of which says what multiple of a second number a first one is, exactly.
//
// Each number is kept as a multiple of another one of its part, up to one that stands for the part; parts that a link joins
// become one. Which number that is does not matter: what is asked for are ratios.
// The twin of relift/symmetry/linked_sizes.py.
#pragma once
#include <algorithm>
#include <numeric>
#include <vector>

#include "../counted_memory.hpp"
#include "../field.hpp"

namespace relift::passes {

class LinkedParts {
public:
    explicit LinkedParts(u64 size) : before_(size), factors_(size, 1), sizes_(size, 1) {
        std::iota(before_.begin(), before_.end(), u32(0));
    }

    // The first number is the ratio times the second; nothing is said where both are of one part already.
    void link(u32 first, u32 second, u64 ratio) {
        const u32 one = first_of(first), other = first_of(second);
        if (one == other) return;
        // first = factors_[first] one, second = factors_[second] other
        const u64 over = field_multiply(ratio, factors_[second]), under = factors_[first];
        const bool keeps_other = sizes_[one] <= sizes_[other];
        const u32 joins = keeps_other ? one : other, stays = keeps_other ? other : one;
        before_[joins] = stays;
        factors_[joins] = field_multiply(keeps_other ? over : under, field_inverse(keeps_other ? under : over));
        sizes_[stays] += sizes_[joins];
    }

    // The number that stands for the part of this one.
    u32 first_of(u32 number) {
        path_.clear();
        for (; before_[number] != number; number = before_[number]) path_.push_back(number);
        for (u64 k = path_.size(); k-- > 1;) {
            const u32 near = path_[k], far = path_[k - 1];
            factors_[far] = field_multiply(factors_[far], factors_[near]);
            before_[far] = number;
        }
        return number;
    }

    // By what the number that stands for its part is multiplied; first_of() has been asked before.
    u64 factor(u32 number) const { return factors_[number]; }

private:
    Array<u32> before_;
    Array<u64> factors_;
    Array<u32> sizes_;
    std::vector<u32> path_;
};

struct Link {
    u32 first, second;
    u64 ratio;
    i64 rank;
};

// Links of low ranks are used first, those of one rank in their order.
inline void link_parts(std::vector<Link>& links, u64 size, long long* part, u64* factor) {
    const auto comes_first = [](const Link& one, const Link& other) { return one.rank < other.rank; };
    if (!std::is_sorted(links.begin(), links.end(), comes_first)) std::stable_sort(links.begin(), links.end(), comes_first);
    LinkedParts parts(size);
    for (const Link& link : links) parts.link(link.first, link.second, link.ratio);
    for (u64 k = 0; k < size; ++k) {
        part[k] = parts.first_of(u32(k));
        factor[k] = u64(part[k]) == k ? 1 : parts.factor(u32(k));
    }
}

}  // namespace relift::passes
