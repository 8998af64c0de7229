// A dictionary of texts: each distinct text gets a number, in the order in which they come.
#pragma once
#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "../portable.hpp"
#include "keys.hpp"

namespace relift::tables {

// Whether bytes are UTF-8: no stray or missing continuation, nothing overlong, no surrogate, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) {
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    const auto* end = at + text.size();
    while (at < end) {
        if (*at < 0x80) {
            ++at;
            continue;
        }
        const int more = *at >= 0xF0 ? 3 : *at >= 0xE0 ? 2 : 1;
        if (*at < 0xC2 || *at > 0xF4 || end - at <= more) return false;
        const unsigned char low = *at == 0xE0 ? 0xA0 : *at == 0xF0 ? 0x90 : 0x80;
        const unsigned char high = *at == 0xED ? 0x9F : *at == 0xF4 ? 0x8F : 0xBF;
        if (at[1] < low || at[1] > high) return false;
        for (int k = 2; k <= more; ++k)
            if (at[k] < 0x80 || at[k] > 0xBF) return false;
        at += more + 1;
    }
    return true;
}

class Texts {
public:
    Texts() : slots_(1024, Slot{0, -1}), starts_(1, 0) {}

    int32_t size() const { return int32_t(starts_.size() - 1); }
    std::string_view text(int32_t number) const {
        const size_t from = starts_[size_t(number)];
        return {bytes_.data() + from, starts_[size_t(number) + 1] - from};
    }
    int32_t number(std::string_view text) { return number(text, hash(text)); }
    int32_t find(std::string_view text) const { return slots_[place(text, hash(text))].number; }

    // Texts that lie one behind the other, from starts[i] to starts[i + 1]; -1 where is_there has a 0.
    template <class Start>
    void number_all(const Start* starts, const char* bytes, const unsigned char* is_there, size_t n, int32_t* numbers) {
        constexpr size_t ahead = 16;
        uint64_t hashes[ahead];
        for (size_t begin = 0; begin < n; begin += ahead) {
            const size_t count = std::min(ahead, n - begin);
            const auto text_at = [&](size_t i) {
                return std::string_view(bytes + starts[i], size_t(starts[i + 1] - starts[i]));
            };
            for (size_t k = 0; k < count; ++k) {
                hashes[k] = hash(text_at(begin + k));
                RELIFT_PREFETCH(&slots_[hashes[k] & (slots_.size() - 1)]);
            }
            for (size_t k = 0; k < count; ++k)
                numbers[begin + k] = is_there && !is_there[begin + k] ? -1 : number(text_at(begin + k), hashes[k]);
        }
    }

    // The place of each text in the order of bytes, which for UTF-8 is that of code points.
    void ranks(int32_t* ranks) const {
        std::vector<int32_t> order(static_cast<size_t>(size()));
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [this](int32_t a, int32_t b) { return text(a) < text(b); });
        for (size_t k = 0; k < order.size(); ++k) ranks[order[k]] = int32_t(k);
    }

private:
    struct Slot {
        uint64_t hash;
        int32_t number;
    };

    static uint64_t hash(std::string_view text) {
        uint64_t state = text.size() * 0x9E3779B97F4A7C15u;
        const char* at = text.data();
        size_t left = text.size();
        for (; left >= 8; at += 8, left -= 8) {
            uint64_t word;
            std::memcpy(&word, at, 8);
            state = mixed(state ^ word);
        }
        uint64_t word = 0;
        for (size_t k = 0; k < left; ++k) word |= uint64_t(static_cast<unsigned char>(at[k])) << (8 * k);
        return mixed(state ^ word);
    }
    size_t place(std::string_view text, uint64_t hash) const {
        size_t at = hash & (slots_.size() - 1);
        while (slots_[at].number >= 0 && (slots_[at].hash != hash || this->text(slots_[at].number) != text))
            at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    int32_t number(std::string_view text, uint64_t hash) {
        const size_t at = place(text, hash);
        if (slots_[at].number >= 0) return slots_[at].number;
        if (size() == INT32_MAX) throw std::length_error("too many texts");
        if (!is_utf8(text)) throw std::invalid_argument("a text is not UTF-8");
        const int32_t number = size();
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        starts_.push_back(bytes_.size());
        slots_[at] = {hash, number};
        if (2 * starts_.size() > slots_.size()) grow();
        return number;
    }
    void grow() {
        std::vector<Slot> old(2 * slots_.size(), Slot{0, -1});
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.number < 0) continue;
            size_t at = slot.hash & (slots_.size() - 1);
            while (slots_[at].number >= 0) at = (at + 1) & (slots_.size() - 1);
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;
    std::vector<size_t> starts_;
    std::vector<char> bytes_;
};

}  // namespace relift::tables
