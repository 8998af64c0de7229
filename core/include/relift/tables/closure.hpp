// Recursion with one recursive atom in each rule: all tuples that follow from given ones, each found once.
//
// Tuples wait in the order in which they were found; each is joined with what the steps of its predicate know besides the
// recursion, and what is new is appended. The cost is that of the joins plus one look into a hash for each tuple derived.
#pragma once
#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "../portable.hpp"
#include "keys.hpp"

namespace relift::tables {

// A set of tuples of one width, in the order in which they came.
class TupleSet {
public:
    explicit TupleSet(size_t width) : width_(width), slots_(64, Slot{0, 0}) {
        if (!width) throw std::invalid_argument("a tuple has at least one column");
    }

    size_t width() const { return width_; }
    size_t size() const { return values_.size() / width_; }
    const int64_t* at(size_t i) const { return values_.data() + i * width_; }
    const std::vector<int64_t>& values() const { return values_; }

    uint64_t hash(const int64_t* tuple) const {
        uint64_t state = 0;
        for (size_t k = 0; k < width_; ++k) state = mixed(state + uint64_t(tuple[k]) + 0x9E3779B97F4A7C15u);
        return state;
    }
    // Says that a tuple of this hash will be asked for soon.
    void prefetch(uint64_t hash) const { RELIFT_PREFETCH(&slots_[hash & (slots_.size() - 1)]); }

    // Whether a tuple was not there yet; it is then.
    bool add(const int64_t* tuple) { return add(tuple, hash(tuple)); }
    bool add(const int64_t* tuple, uint64_t hash) {
        const uint32_t tag = uint32_t(hash >> 32);
        size_t place = hash & (slots_.size() - 1);
        for (; slots_[place].number; place = (place + 1) & (slots_.size() - 1))
            if (slots_[place].tag == tag && std::equal(tuple, tuple + width_, at(slots_[place].number - 1))) return false;
        if (size() >= size_t(UINT32_MAX) - 1) throw std::length_error("too many tuples");
        values_.insert(values_.end(), tuple, tuple + width_);
        slots_[place] = {tag, uint32_t(size())};
        if (2 * size() > slots_.size()) grow();
        return true;
    }

private:
    struct Slot {
        uint32_t tag;     // the upper half of the hash
        uint32_t number;  // of the tuple, from 1 on; 0 where there is none
    };

    void grow() {
        std::vector<Slot> larger(4 * slots_.size(), Slot{0, 0});
        for (size_t i = 0; i < size(); ++i) {
            const uint64_t h = hash(at(i));
            size_t place = h & (larger.size() - 1);
            while (larger[place].number) place = (place + 1) & (larger.size() - 1);
            larger[place] = {uint32_t(h >> 32), uint32_t(i + 1)};
        }
        slots_.swap(larger);
    }

    size_t width_;
    std::vector<int64_t> values_;
    std::vector<Slot> slots_;
};

// One rule: source(tuple) and a row of the rest that agrees with it give a tuple of the target.
class Step {
public:
    // A place: from 0 on a column of the tuple, below that column -1 - place of the rest.
    using Place = int32_t;

    size_t source = 0, target = 0;
    std::vector<Place> outputs;
    std::vector<std::array<Place, 3>> tests;  // a comparison (0 is !=, 1 is =, 2 is <, 3 is <=) and its two places
    uint64_t n_matches = 0;

    Step(size_t source, size_t target, const int64_t* rest, size_t n_rest, size_t width,
         std::vector<std::pair<int32_t, int32_t>> on)
        : source(source), target(target), rest_(rest), n_rest_(n_rest), width_(width), on_(std::move(on)) {
        size_t size = 64;
        while (size < 2 * n_rest) size *= 2;
        slots_.assign(size, 0);
        next_.assign(n_rest, 0);
        for (size_t row = n_rest; row-- > 0;) {  // from the back, so that chains run forwards
            const size_t place = rest_hash(row) & (size - 1);
            next_[row] = slots_[place];
            slots_[place] = uint32_t(row + 1);
        }
    }

    // Calls `found` with every tuple that follows from one.
    template <class Found> void follow(const int64_t* tuple, std::vector<int64_t>& out, Found&& found) {
        uint64_t state = 0;
        for (const auto& [position, column] : on_) state = mixed(state + uint64_t(tuple[position]) + salt);
        for (uint32_t row = slots_[state & (slots_.size() - 1)]; row; row = next_[row - 1]) {
            const int64_t* rest = rest_ + size_t(row - 1) * width_;
            if (!agrees(tuple, rest)) continue;
            ++n_matches;
            for (size_t k = 0; k < outputs.size(); ++k) out[k] = value(outputs[k], tuple, rest);
            found(out.data());
        }
    }

private:
    static constexpr uint64_t salt = 0x9E3779B97F4A7C15u;

    static int64_t value(Place place, const int64_t* tuple, const int64_t* rest) {
        return place >= 0 ? tuple[place] : rest[-1 - place];
    }
    uint64_t rest_hash(size_t row) const {
        uint64_t state = 0;
        for (const auto& [position, column] : on_) state = mixed(state + uint64_t(rest_[row * width_ + size_t(column)]) + salt);
        return state;
    }
    bool agrees(const int64_t* tuple, const int64_t* rest) const {
        for (const auto& [position, column] : on_)
            if (tuple[position] != rest[column]) return false;
        for (const auto& [kind, first, second] : tests) {
            const int64_t left = value(first, tuple, rest), right = value(second, tuple, rest);
            if (!(kind == 0 ? left != right : kind == 1 ? left == right : kind == 2 ? left < right : left <= right)) return false;
        }
        return true;
    }

    const int64_t* rest_;
    size_t n_rest_, width_;
    std::vector<std::pair<int32_t, int32_t>> on_;
    std::vector<uint32_t> slots_, next_;
};

// What was derived and waits to be looked up: some at a time, so that memory is asked for before it is needed.
class Waiting {
public:
    Waiting(std::vector<TupleSet>& sets, size_t widest) : sets_(sets), widest_(widest) {}

    void add(size_t target, const int64_t* tuple) {
        const uint64_t hash = sets_[target].hash(tuple);
        sets_[target].prefetch(hash);
        waiting_.push_back({target, hash});
        values_.insert(values_.end(), tuple, tuple + sets_[target].width());
        values_.resize(waiting_.size() * widest_);
        if (waiting_.size() == at_a_time) settle();
    }
    void settle() {
        for (size_t k = 0; k < waiting_.size(); ++k)
            sets_[waiting_[k].target].add(values_.data() + k * widest_, waiting_[k].hash);
        waiting_.clear();
        values_.clear();
    }

private:
    static constexpr size_t at_a_time = 32;
    struct Item {
        size_t target;
        uint64_t hash;
    };

    std::vector<TupleSet>& sets_;
    size_t widest_;
    std::vector<Item> waiting_;
    std::vector<int64_t> values_;
};

// Adds all that follows; false if a set would have more than `most` tuples.
inline bool close(std::vector<TupleSet>& sets, std::vector<Step>& steps, size_t most) {
    std::vector<std::vector<Step*>> of_source(sets.size());
    size_t widest = 1;
    for (const TupleSet& set : sets) widest = std::max(widest, set.width());
    for (Step& step : steps) of_source[step.source].push_back(&step);
    std::vector<size_t> done(sets.size(), 0);
    std::vector<int64_t> tuple(widest), out(widest);
    Waiting waiting(sets, widest);
    for (bool is_over = false; !is_over;) {
        is_over = true;
        for (size_t s = 0; s < sets.size(); ++s) {
            for (; done[s] < sets[s].size(); ++done[s]) {
                is_over = false;
                // A copy: what is found may be appended to the same set, whose memory then moves.
                std::copy(sets[s].at(done[s]), sets[s].at(done[s]) + sets[s].width(), tuple.begin());
                for (Step* step : of_source[s])
                    step->follow(tuple.data(), out, [&](const int64_t* found) { waiting.add(step->target, found); });
                for (const TupleSet& set : sets)
                    if (set.size() > most) return false;
            }
            waiting.settle();
        }
    }
    return true;
}

}  // namespace relift::tables
