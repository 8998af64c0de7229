// Rows that agree: numbering of equal keys, joins, and membership. Keys are 64-bit integers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace relift::tables {

using std::int32_t;
using std::int64_t;
using std::size_t;
using std::uint64_t;

inline uint64_t mixed(uint64_t key) {
    key ^= key >> 32;
    key *= 0xD6E8FEB86659FD93u;
    key ^= key >> 29;
    key *= 0x9E3779B97F4A7C15u;
    return key ^ (key >> 32);
}

// Numbers distinct keys in the order in which they come. Keys that lie close together address a table directly; others
// are hashed.
class KeyIndex {
public:
    KeyIndex(const int64_t* keys, size_t n) {
        int64_t low = n ? keys[0] : 0, high = low;
        for (size_t i = 1; i < n; ++i) {
            low = keys[i] < low ? keys[i] : low;
            high = keys[i] > high ? keys[i] : high;
        }
        low_ = low;
        span_ = uint64_t(high) - uint64_t(low);
        is_direct_ = span_ < 8 * uint64_t(n) + 4096;
        if (is_direct_)
            table_.assign(span_ + 1, -1);
        else
            resize(1024);
    }

    int32_t size() const { return size_; }

    // The number of a key, which is a new one if it has not come before.
    int32_t insert(int64_t key) {
        if (is_direct_) {
            const uint64_t at = uint64_t(key) - uint64_t(low_);
            if (at > span_) throw std::invalid_argument("a column was changed while it was read");
            int32_t& number = table_[at];
            if (number < 0) number = size_++;
            return number;
        }
        if (2 * uint64_t(size_) >= slots_.size()) resize(2 * slots_.size());
        Slot& slot = place(key);
        if (slot.number < 0) slot = {key, size_++};
        return slot.number;
    }

    // The number of a key, or -1.
    int32_t find(int64_t key) const {
        if (is_direct_) {
            const uint64_t at = uint64_t(key) - uint64_t(low_);
            return at <= span_ ? table_[at] : -1;
        }
        return const_cast<KeyIndex*>(this)->place(key).number;
    }

private:
    struct Slot {
        int64_t key;
        int32_t number;
    };

    Slot& place(int64_t key) {
        uint64_t at = mixed(uint64_t(key)) & (slots_.size() - 1);
        while (slots_[at].number >= 0 && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        return slots_[at];
    }
    void resize(size_t capacity) {
        std::vector<Slot> old(capacity, Slot{0, -1});
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.number >= 0) place(slot.key) = slot;
    }

    int64_t low_ = 0;
    uint64_t span_ = 0;
    bool is_direct_ = true;
    int32_t size_ = 0;
    std::vector<int32_t> table_;
    std::vector<Slot> slots_;
};

// Equal keys get equal numbers; first[k] is the first row of number k. Returns how many numbers there are.
inline int32_t group(const int64_t* keys, size_t n, int32_t* numbers, int32_t* first) {
    KeyIndex index(keys, n);
    for (size_t i = 0; i < n; ++i) {
        const int32_t before = index.size();
        numbers[i] = index.insert(keys[i]);
        if (numbers[i] == before) first[before] = int32_t(i);
    }
    return index.size();
}

// Whether no key comes twice. Many hashed keys are parted by their hash first, so that each table stays in the cache.
inline bool all_distinct(const int64_t* keys, size_t n) {
    constexpr size_t small = size_t(1) << 16;
    int64_t low = n ? keys[0] : 0, high = low;
    for (size_t i = 1; i < n; ++i) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    if (uint64_t(high) - uint64_t(low) < 64 * uint64_t(n) + 4096) {
        std::vector<uint64_t> bits((uint64_t(high) - uint64_t(low)) / 64 + 1, 0);
        for (size_t i = 0; i < n; ++i) {
            const uint64_t at = uint64_t(keys[i]) - uint64_t(low), bit = uint64_t(1) << (at & 63);
            if (at > uint64_t(high) - uint64_t(low)) throw std::invalid_argument("a column was changed while it was read");
            if (bits[at >> 6] & bit) return false;
            bits[at >> 6] |= bit;
        }
        return true;
    }
    int shift = 64;
    while (shift > 52 && (n >> (64 - shift)) > small) --shift;
    const size_t n_parts = shift == 64 ? 1 : size_t(1) << (64 - shift);
    const auto part_of = [&](int64_t key) { return shift == 64 ? 0 : mixed(uint64_t(key)) >> shift; };
    std::vector<size_t> ends(n_parts + 1, 0);
    for (size_t i = 0; i < n; ++i) ++ends[part_of(keys[i]) + 1];
    for (size_t p = 0; p < n_parts; ++p) ends[p + 1] += ends[p];
    std::vector<int64_t> parted(n);
    {
        std::vector<size_t> next(ends.begin(), ends.end() - 1);
        for (size_t i = 0; i < n; ++i) {
            const int64_t key = keys[i];
            const size_t part = size_t(part_of(key));
            if (next[part] >= ends[part + 1]) throw std::invalid_argument("a column was changed while it was read");
            parted[next[part]++] = key;
        }
    }
    std::vector<int64_t> slots;
    std::vector<uint64_t> used;
    for (size_t p = 0; p < n_parts; ++p) {
        const size_t size = ends[p + 1] - ends[p];
        size_t capacity = 64;
        while (capacity < 2 * size) capacity *= 2;
        slots.resize(capacity);
        used.assign(capacity / 64, 0);
        for (size_t i = ends[p]; i < ends[p + 1]; ++i) {
            size_t at = mixed(uint64_t(parted[i])) & (capacity - 1);
            while (used[at >> 6] >> (at & 63) & 1) {
                if (slots[at] == parted[i]) return false;
                at = (at + 1) & (capacity - 1);
            }
            used[at >> 6] |= uint64_t(1) << (at & 63);
            slots[at] = parted[i];
        }
    }
    return true;
}

inline void contains(const int64_t* keys, size_t n, const int64_t* set, size_t m, bool* found) {
    KeyIndex index(set, m);
    for (size_t j = 0; j < m; ++j) index.insert(set[j]);
    for (size_t i = 0; i < n; ++i) found[i] = index.find(keys[i]) >= 0;
}

// values[rows[i]]; a row -1 gives 0.
template <class T> void gather(const T* values, size_t m, const int32_t* rows, size_t n, T* to) {
    for (size_t i = 0; i < n; ++i) {
        if (rows[i] >= 0 && size_t(rows[i]) >= m) throw std::invalid_argument("a row lies outside of its table");
        to[i] = rows[i] < 0 ? T(0) : values[rows[i]];
    }
}

// Pairs of rows with equal keys, in the order of the left rows. With keep_all a left row without partner gets the right
// row -1. If every left row comes exactly once, in order, left stays empty.
struct Pairs {
    uint64_t size = 0;
    bool is_whole_left = false;
    std::vector<int32_t> left, right;
};

inline Pairs join(const int64_t* left, size_t n, const int64_t* right, size_t m, bool keep_all, uint64_t most) {
    Pairs pairs;
    KeyIndex index(right, m);
    std::vector<int32_t> number_of(m);
    for (size_t j = 0; j < m; ++j) number_of[j] = index.insert(right[j]);
    const size_t n_keys = size_t(index.size());
    if (n_keys == m) {  // the number of a key is the row that has it
        pairs.right.resize(n);
        size_t count = 0;
        for (size_t i = 0; i < n; ++i) {
            pairs.right[i] = index.find(left[i]);
            count += pairs.right[i] >= 0;
        }
        pairs.size = keep_all ? n : count;
        pairs.is_whole_left = pairs.size == n;
        if (pairs.is_whole_left) return pairs;
        pairs.left.resize(count);
        size_t to = 0;
        for (size_t i = 0; i < n; ++i)
            if (pairs.right[i] >= 0) {
                pairs.left[to] = int32_t(i);
                pairs.right[to++] = pairs.right[i];
            }
        pairs.right.resize(count);
        return pairs;
    }
    std::vector<int32_t> starts(n_keys + 1, 0), rows(m);
    for (size_t j = 0; j < m; ++j) ++starts[size_t(number_of[j]) + 1];
    for (size_t k = 0; k < n_keys; ++k) starts[k + 1] += starts[k];
    {
        std::vector<int32_t> next(starts.begin(), starts.end() - 1);
        for (size_t j = 0; j < m; ++j) rows[size_t(next[size_t(number_of[j])]++)] = int32_t(j);
    }
    std::vector<int32_t>().swap(number_of);
    std::vector<int32_t> key_of(n);
    for (size_t i = 0; i < n; ++i) {
        const int32_t key = key_of[i] = index.find(left[i]);
        pairs.size += key < 0 ? uint64_t(keep_all) : uint64_t(starts[size_t(key) + 1] - starts[size_t(key)]);
    }
    if (pairs.size > most) return pairs;
    pairs.left.resize(pairs.size);
    pairs.right.resize(pairs.size);
    size_t to = 0;
    for (size_t i = 0; i < n; ++i) {
        if (key_of[i] < 0) {
            if (keep_all) {
                pairs.left[to] = int32_t(i);
                pairs.right[to++] = -1;
            }
            continue;
        }
        for (int32_t k = starts[size_t(key_of[i])]; k < starts[size_t(key_of[i]) + 1]; ++k) {
            pairs.left[to] = int32_t(i);
            pairs.right[to++] = rows[size_t(k)];
        }
    }
    return pairs;
}

// The rows in the order of their keys; equal keys keep their order. Least significant digits first, and digits that all
// keys share are passed over.
inline void sorted_rows(const int64_t* keys, size_t n, int32_t* rows) {
    constexpr int digit = 11;
    constexpr size_t radix = size_t(1) << digit;
    for (size_t i = 0; i < n; ++i) rows[i] = int32_t(i);
    uint64_t low = n ? uint64_t(keys[0]) ^ (uint64_t(1) << 63) : 0, high = low;
    bool is_sorted = true;
    for (size_t i = 1; i < n; ++i) {
        const uint64_t key = uint64_t(keys[i]) ^ (uint64_t(1) << 63);
        is_sorted = is_sorted && keys[i - 1] <= keys[i];
        low = key < low ? key : low;
        high = key > high ? key : high;
    }
    if (is_sorted) return;
    struct Entry {
        uint64_t key;
        int32_t row;
    };
    std::vector<Entry> from(n), to(n);
    for (size_t i = 0; i < n; ++i) from[i] = {(uint64_t(keys[i]) ^ (uint64_t(1) << 63)) - low, int32_t(i)};
    for (int shift = 0; shift < 64 && (high - low) >> shift; shift += digit) {
        size_t next[radix] = {};
        for (size_t i = 0; i < n; ++i) ++next[from[i].key >> shift & (radix - 1)];
        size_t total = 0;
        for (size_t d = 0; d < radix; ++d) {
            const size_t count = next[d];
            next[d] = total;
            total += count;
        }
        for (size_t i = 0; i < n; ++i) to[next[from[i].key >> shift & (radix - 1)]++] = from[i];
        from.swap(to);
    }
    for (size_t i = 0; i < n; ++i) rows[i] = from[i].row;
}

}  // namespace relift::tables
