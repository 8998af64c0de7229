// What each vertex is multiplied by before it is compared, where that is found on the way.
//
// Row i times g_i and variable j times g_j turn the entry a_ij into g_i a_ij g_j. Where a vertex's own numbers (bounds,
// cost, right-hand side) do not tell its size or its sign, it rests: it stands for 0, adds nothing to any sum, and its
// own sums are 0. The first sum S that is not 0 wakes it and decides what was open: g = 1/S, or the sign of S. Members
// of one class have sums in the proportion of their multipliers, so that it does not matter which sum comes first.
//
// Sums are exact, in the field; signs and sizes are found in floats beside them. A sum that is lost in cancellation
// there decides nothing: the vertex is then compared as it is given.
//
// A row may have a link: an entry (of the value 1) that joins it to a column whatever the sign of the row, as rows of a
// second-order cone are joined to their cone. The entry counts from when the row is awake, and takes its sign.
//
// With masses (positive numbers M) sums that reach variable j are divided by M_j, and what row i adds is multiplied by
// M_i: classes in which members count for more or less.
#pragma once
#include <memory>

#include "algebra.hpp"
#include "counted_memory.hpp"
#include "problem.hpp"
#include "row_scales.hpp"
#include "weights.hpp"

namespace relift {

// By what sums of a vertex, and what it adds to those of others, are multiplied; null where by nothing.
struct Factors {
    const u64 *variable_source = nullptr, *variable_target = nullptr;
    const u64 *row_source = nullptr, *row_target = nullptr;
};

constexpr u8 rests = 1, has_open_size = 2, has_open_sign = 4;

// Arrays of the caller, the variables first, then the rows. Multipliers are read and written; of a vertex with an open
// size only the sign is read.
struct MultiplierArrays {
    u64* exact = nullptr;
    double* floats = nullptr;
    u8* states = nullptr;
    const u64* masses = nullptr;  // null: all are 1
    const double* mass_floats = nullptr;
    const u64* relative_masses = nullptr;  // to those of classes that are known; null: there are none
    const i64* links = nullptr;   // for each row its link among the entries of A, by rows, or -1; null: none
};

// The entries of A as floats, seen from its minors.
template <class Index>
struct MinorValues {
    Array<u32> offsets, indices;
    Array<double> values;

    explicit MinorValues(const SparseView<Index>& matrix) {
        const u64 n_entries = matrix.n_entries();
        offsets.assign(u64(matrix.n_minor) + 1, 0);
        for (u64 e = 0; e < n_entries; ++e) ++offsets[matrix.indices[e]];
        u32 start = 0;
        for (u32& offset : offsets) start += std::exchange(offset, start);
        indices.resize(n_entries);
        values.resize(n_entries);
        for (u32 major = 0; major < matrix.n_major; ++major)
            for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e) {
                const u32 at = offsets[matrix.indices[e]]++;
                indices[at] = major;
                values[at] = matrix.values[e];
            }
        for (u32 minor = matrix.n_minor; minor > 0; --minor) offsets[minor] = offsets[minor - 1];  // ends to starts
        offsets[0] = 0;
    }
};

template <class Index>
class Multipliers {
public:
    Multipliers(const Problem<Index>& problem, const MultiplierArrays& arrays)
        : problem_(problem), arrays_(arrays), n_variables_(problem.n_variables),
          n_vertices_(problem.n_variables + problem.n_rows), sources_(n_vertices_) {
        if (arrays.masses) {
            targets_.resize(n_vertices_);
            inverse_masses_ = inverses(arrays.masses, n_variables_);
        }
        for (u32 v = 0; v < n_vertices_; ++v) {
            use(v);
            if (this->rests_at(v)) ++(v < n_variables_ ? n_resting_variables_ : n_resting_rows_);
        }
    }
    Multipliers(const Multipliers&) = delete;
    Multipliers& operator=(const Multipliers&) = delete;

    Factors factors() const {
        const u64 *sources = sources_.data(), *targets = targets_.empty() ? sources : targets_.data();
        return {sources, targets, sources + n_variables_, targets + n_variables_};
    }
    bool rests_at(u32 vertex) const { return arrays_.states[vertex] & rests; }
    u8 state_of(u32 vertex) const { return arrays_.states[vertex]; }
    const u64* relative_masses() const { return arrays_.relative_masses; }
    u32 n_resting_variables() const { return n_resting_variables_; }
    u32 n_resting_rows() const { return n_resting_rows_; }
    u64 n_lost() const { return n_lost_; }  // how many were compared as they are given, since a sum was lost
    u32 n_resting() const { return n_resting_variables_ + n_resting_rows_; }

    // The weights of A in which links are written: seen from the rows and, once they are there, from the columns.
    void write_links_to(Weights* by_rows) {
        by_rows_ = by_rows;
        if (!arrays_.links) return;
        for (u32 i = 0; i < problem_.n_rows; ++i)
            if (arrays_.links[i] >= 0) write_link(i);
    }
    void write_links_to(const u32* column_offsets, const u32* column_rows, Weights* by_columns) {
        column_offsets_ = column_offsets;
        column_rows_ = column_rows;
        by_columns_ = by_columns;
    }

    // All are awake: nobody asks for their multipliers, since each is alone in its class.
    void wake_all() {
        std::fill_n(arrays_.states, n_vertices_, u8(0));
        n_resting_variables_ = n_resting_rows_ = 0;
    }

    // What only rounds need goes; most of what they have woken at a time is not woken again.
    void end_rounds() {
        release(to_invert_);
        release(source_weights_);
        release(minor_sums_);
    }

    // Wakes vertices, whose sums are not 0, and multiplies their sums. weight_of(neighbour) says how the sums count it,
    // in floats; what rests counts nothing. In a round all of them are variables, or all are rows.
    template <class SumOf, class WeightOf>
    void wake(const Array<u32>& vertices, SumOf&& sum_of, WeightOf&& weight_of, bool in_a_round = false) {
        to_invert_.clear();
        to_invert_.reserve(vertices.size());
        log_of_sizes_ = LogOfProduct();
        const auto weight = [&](u32 v) { return source_weight(v, weight_of); };
        if (in_a_round && are_many(vertices)) {  // weights are read more often than there are vertices
            source_weights_.resize(n_vertices_);
            for (u32 v = 0; v < n_vertices_; ++v) source_weights_[v] = weight(v);
            find_multipliers(vertices, sum_of, [&](u32 v) { return source_weights_[v]; }, true);
        } else {
            find_multipliers(vertices, sum_of, weight, in_a_round);
        }
        Array<u64> inverted = inverses(to_invert_.data(), u32(to_invert_.size()));
        const Shift shift = common_shift();
        const double factor = std::ldexp(1.0, shift.exponent);
        u32 next = 0;
        for (u32 v : vertices) {
            u8& state = arrays_.states[v];
            if (state & has_open_size) {
                const u64 size = field_multiply(inverted[next++], shift.exact);
                arrays_.exact[v] = field_multiply(arrays_.exact[v], size);
                if (v < n_variables_ && arrays_.masses)
                    arrays_.exact[v] = field_multiply(arrays_.exact[v], arrays_.masses[v]);
                arrays_.floats[v] *= factor;
            }
            state = 0;
            --(v < n_variables_ ? n_resting_variables_ : n_resting_rows_);
            use(v);
            if (is_linked(v)) write_link(v - n_variables_);
            u64& sum = sum_of(v);
            sum = field_multiply(sum, targets_.empty() ? sources_[v] : targets_[v]);
        }
    }

private:
    // A sum of floats with what rounding has lost of it, and that of its absolute terms.
    struct FloatSum {
        double total = 0, lost = 0, size = 0;
        void add(double term) {
            const double sum = total + term, of_term = sum - total;
            lost += (total - (sum - of_term)) + (term - of_term);
            total = sum;
            size += std::fabs(term);
        }
        double value() const { return total + lost; }
    };

    // The logarithm of a product of positive numbers.
    class LogOfProduct {
    public:
        void multiply(double factor) {
            int exponent = 0;
            mantissa_ *= std::frexp(factor, &exponent);  // each at least 1/2
            exponents_ += exponent;
            if (++n_factors_ % 512) return;
            mantissa_ = std::frexp(mantissa_, &exponent);
            exponents_ += exponent;
        }
        double value() const { return std::log2(mantissa_) + double(exponents_); }

    private:
        double mantissa_ = 1;
        i64 exponents_ = 0;
        u64 n_factors_ = 0;
    };

    // One power of two for all that wake together: otherwise sizes would drift away along a wave, until sums of large
    // and small ones are lost in cancellation. Members of a class wake together, so that their ratios stay.
    struct Shift { int exponent; u64 exact; };
    Shift common_shift() const {
        const double mean = to_invert_.empty() ? 0.0 : log_of_sizes_.value() / double(to_invert_.size());
        const int exponent = int(-std::lround(std::max(-1000.0, std::min(mean, 1000.0))));
        return {exponent, field_power_of_two(exponent)};
    }

    // What a vertex adds to sums, and by what its own are multiplied.
    void use(u32 v) {
        const u64 exact = rests_at(v) ? 0 : arrays_.exact[v];
        sources_[v] = exact;
        if (targets_.empty()) return;
        targets_[v] = exact;
        if (v < n_variables_) targets_[v] = field_multiply(exact, inverse_masses_[v]);
        else sources_[v] = field_multiply(exact, arrays_.masses[v]);
    }

    bool is_linked(u32 v) const {
        return v >= n_variables_ && arrays_.links && arrays_.links[v - n_variables_] >= 0;
    }

    // 0 while the row rests, then 1 with the sign of its multiplier.
    void write_link(u32 row) {
        const u32 v = n_variables_ + row;
        const u64 entry = u64(arrays_.links[row]);
        const u64 word = rests_at(v) ? 0 : arrays_.floats[v] < 0 ? modulus - 1 : 1;
        by_rows_->words[entry] = word;
        if (!by_columns_) return;
        const u32 column = u32(problem_.A.indices[entry]);
        const u32 *first = column_rows_ + column_offsets_[column], *last = column_rows_ + column_offsets_[column + 1];
        by_columns_->words[u64(std::lower_bound(first, last, row) - column_rows_)] = word;
    }

    void keep_as_given(u32 v) {
        arrays_.exact[v] = arrays_.states[v] & has_open_size ? 1 : arrays_.exact[v];
        arrays_.floats[v] = arrays_.states[v] & has_open_size ? 1.0 : arrays_.floats[v];
        arrays_.states[v] &= u8(~(has_open_size | has_open_sign));
    }

    void decide(u32 v, u64 sum, double total) {
        const u8 state = arrays_.states[v];
        double& multiplier = arrays_.floats[v];
        if (!(state & has_open_size)) {
            if (total < 0) {
                multiplier = -multiplier;
                arrays_.exact[v] = field_negate(arrays_.exact[v]);
            }
            return;
        }
        const double mass = v < n_variables_ && arrays_.masses ? arrays_.mass_floats[v] : 1.0;
        log_of_sizes_.multiply(mass / std::fabs(total));
        if (state & has_open_sign) {
            multiplier = mass / total;
            arrays_.exact[v] = 1;
            to_invert_.push_back(sum);
        } else {
            multiplier = std::copysign(mass / total, multiplier);
            to_invert_.push_back(total < 0 ? field_negate(sum) : sum);
        }
    }

    // Whether the vertices have many entries.
    bool are_many(const Array<u32>& vertices) const {
        const bool are_rows = vertices[0] >= n_variables_;
        if (are_rows != problem_.A_is_by_rows) return vertices.size() > n_vertices_ / 16;
        const u32 first = are_rows ? n_variables_ : 0;
        u64 n_entries = 0;
        for (u32 v : vertices) n_entries += u64(problem_.A.offsets[v - first + 1]) - u64(problem_.A.offsets[v - first]);
        return n_entries > n_vertices_;
    }
    bool is_open(u32 v) const { return arrays_.states[v] & (has_open_size | has_open_sign); }

    // What a neighbour is multiplied with in sums of floats; 0 while it rests.
    template <class WeightOf>
    double source_weight(u32 neighbour, WeightOf&& weight_of) const {
        if (rests_at(neighbour)) return 0;
        const double weight = arrays_.floats[neighbour] * weight_of(neighbour);
        return neighbour >= n_variables_ && arrays_.masses ? weight * arrays_.mass_floats[neighbour] : weight;
    }

    // Decides what is open of the vertices; inverses of exact sums are still to be taken.
    template <class SumOf, class Weight>
    void find_multipliers(const Array<u32>& vertices, SumOf&& sum_of, Weight&& weight, bool in_a_round) {
        const bool is_added_up = in_a_round && add_up_minors(vertices, weight);
        for (u32 v : vertices) {
            if (!is_open(v)) continue;
            const FloatSum sum = is_added_up ? minor_sums_[v < n_variables_ ? v : v - n_variables_] : float_sum(v, weight);
            const double total = sum.value();
            const bool is_sound = std::fabs(total) >= smallest_share * sum.size && std::isnormal(total) &&
                                  std::isnormal(1.0 / total);
            if (is_sound) decide(v, sum_of(v), total);
            else keep_as_given(v), ++n_lost_;
        }
    }

    // Sums of all that rest among the minors of A, by one pass over all entries; false where single sums are cheaper: to
    // see A from its minors costs as much as three such passes.
    template <class Weight>
    bool add_up_minors(const Array<u32>& vertices, Weight&& weight) {
        const auto& A = problem_.A;
        const bool are_rows = vertices[0] >= n_variables_;
        if (are_rows == problem_.A_is_by_rows || arrays_.links || minors_ || n_passes_ == 3) return false;
        if (std::none_of(vertices.begin(), vertices.end(), [&](u32 v) { return is_open(v); })) return false;
        ++n_passes_;
        minor_sums_.assign(A.n_minor, FloatSum());
        const u32 first_major = are_rows ? 0 : n_variables_, first_minor = are_rows ? n_variables_ : 0;
        for (u32 major = 0; major < A.n_major; ++major) {
            if (rests_at(first_major + major)) continue;
            const double of_major = weight(first_major + major);
            for (u64 e = u64(A.offsets[major]), end = u64(A.offsets[major + 1]); e < end; ++e)
                if (rests_at(first_minor + u32(A.indices[e]))) minor_sums_[A.indices[e]].add(of_major * A.values[e]);
        }
        if (!are_rows && problem_.has_P())
            for (u32 v : vertices)
                if (is_open(v)) add_curvatures(v, weight, minor_sums_[v]);
        return true;
    }

    template <class Weight>
    void add_curvatures(u32 v, Weight&& weight, FloatSum& sum) const {
        const auto& P = problem_.P;
        for (u64 e = u64(P.offsets[v]), end = u64(P.offsets[v + 1]); e < end; ++e)
            sum.add(weight(u32(P.indices[e])) * P.values[e]);
    }

    template <class Weight>
    FloatSum float_sum(u32 v, Weight&& weight) {
        FloatSum sum;
        const bool is_row = v >= n_variables_;
        const u32 place = is_row ? v - n_variables_ : v, first = is_row ? 0 : n_variables_;
        if (problem_.n_rows && is_row == problem_.A_is_by_rows) {
            const auto& A = problem_.A;
            for (u64 e = u64(A.offsets[place]), end = u64(A.offsets[place + 1]); e < end; ++e)
                if (!is_linked(v) || i64(e) != arrays_.links[place]) sum.add(weight(first + u32(A.indices[e])) * A.values[e]);
        } else if (problem_.n_rows) {
            if (!minors_) minors_ = std::make_unique<MinorValues<Index>>(problem_.A);
            for (u32 e = minors_->offsets[place], end = minors_->offsets[place + 1]; e < end; ++e) {
                const u32 neighbour = first + minors_->indices[e];
                const bool is_link = is_linked(neighbour) &&
                                     u32(problem_.A.indices[arrays_.links[minors_->indices[e]]]) == place;
                const double term = weight(neighbour) * minors_->values[e];
                sum.add(is_link ? std::fabs(term) : term);
            }
        }
        if (!is_row && problem_.has_P()) add_curvatures(v, weight, sum);
        return sum;
    }

    const Problem<Index>& problem_;
    const MultiplierArrays arrays_;
    const u32 n_variables_, n_vertices_;
    u32 n_resting_variables_ = 0, n_resting_rows_ = 0;
    Array<u64> sources_, targets_, inverse_masses_, to_invert_;
    LogOfProduct log_of_sizes_;
    Array<double> source_weights_;
    u64 n_lost_ = 0;
    std::unique_ptr<MinorValues<Index>> minors_;
    Array<FloatSum> minor_sums_;
    u32 n_passes_ = 0;  // over all entries, for these sums
    Weights *by_rows_ = nullptr, *by_columns_ = nullptr;
    const u32 *column_offsets_ = nullptr, *column_rows_ = nullptr;
};

}  // namespace relift
