// Whether reading bounds as exact multiples of one another, where they are so but for rounding, would change any of them.
//
// The twin of proportional_images in relift/symmetry/proportional_bounds.py up to the point where sizes are handed on
// along links: most programs whose bounds have many digits have none that are in proportion, or only exact ones.
#pragma once
#include <algorithm>
#include <cmath>

#include "../exact_values.hpp"
#include "../own_scales.hpp"
#include "fractions.hpp"

namespace relift::passes {

// Sizes of intervals, exactly too; 0 where there is none.
struct SizesOf {
    Array<double> floats;
    Array<u64> images;

    explicit SizesOf(const OwnNumbers& of) : floats(of.size, 0.0), images(of.size, 0) {
        for (u64 k = 0; k < of.size; ++k) {
            const bool low_counts = is_size(of.low[k], of.low_image[k]), high_counts = is_size(of.high[k], of.high_image[k]);
            if (!low_counts && !high_counts) continue;
            const bool takes_low = low_counts && (!high_counts || std::fabs(of.low[k]) > std::fabs(of.high[k]));
            const double bound = takes_low ? of.low[k] : of.high[k];
            const u64 image = takes_low ? of.low_image[k] : of.high_image[k];
            floats[k] = std::fabs(bound);
            images[k] = bound < 0 ? field_negate(image) : image;
        }
    }
};

class LinkCheck {
public:
    LinkCheck(const OwnNumbers& variables, const OwnNumbers& rows, double largest, double rounding)
        : variables_(variables), rows_(rows), w_(variables), v_(rows), largest_(largest), rounding_(rounding) {}

    template <class Index>
    bool changes_nothing(const SparseView<Index>& A, bool is_by_rows) {
        const u64 n_entries = A.n_entries(), m = rows_.size;
        const auto for_each = [&](auto&& visit) {  // entries that are not 0, of variables with a size, until it is false
            for (u64 e = 0, major = 0; e < n_entries; ++e) {
                while (u64(A.offsets[major + 1]) <= e) ++major;
                const u64 minor = u64(A.indices[e]), i = is_by_rows ? major : minor, j = is_by_rows ? minor : major;
                if (A.values[e] != 0 && w_.floats[j] > 0 && !visit(i, j, std::fabs(A.values[e]))) return false;
            }
            return true;
        };
        Array<double> sizes(v_.floats);
        bool is_used = false;
        for_each([&](u64 i, u64 j, double entry) {
            is_used = true;
            if (!(v_.floats[i] > 0)) sizes[i] = std::max(sizes[i], entry * w_.floats[j]);
            return true;
        });
        if (!is_used) return true;
        ValueReader image(Reading::decimal);
        Array<u64> of_rows(v_.images);  // rows without a size have that of their first link
        Array<u8> is_known(m);
        for (u64 i = 0; i < m; ++i) is_known[i] = v_.floats[i] > 0;
        const bool are_exact = for_each([&](u64 i, u64 j, double entry) {
            u64 factor = w_.images[j];
            Fraction ratio = fraction(w_.floats[j] / sizes[i]);
            if (ratio.numerator == 0) {
                ratio = fraction(entry * w_.floats[j] / sizes[i]);
                if (ratio.numerator == 0) return true;
                factor = field_multiply(factor, image(entry));
            }
            factor = field_multiply(factor, u64(ratio.denominator));
            if (is_known[i]) return factor == field_multiply(of_rows[i], u64(ratio.numerator));
            is_known[i] = 1;
            of_rows[i] = field_multiply(factor, field_inverse(u64(ratio.numerator)));
            return true;
        });
        return are_exact && stay(variables_, w_) && stay(rows_, v_);
    }

private:
    // Ratios repeat themselves, over time say, and to find a fraction takes many times as long as to find it again.
    Fraction fraction(double value) {
        const u64 bits = bits_of(value);
        Seen& seen = seen_[bits * 0x9E3779B97F4A7C15u >> (64 - 10)];
        if (seen.bits != bits) seen = {bits, simple_fraction(value, largest_, rounding_)};
        return seen.fraction;
    }

    // Whether bounds that are simple multiples of the size are so as they are read.
    bool stays(double value, u64 image, double size, u64 size_image) {
        if (!std::isfinite(value) || image == 0) return true;
        const Fraction ratio = fraction(std::fabs(value) / size);
        if (ratio.numerator == 0) return true;
        const u64 absolute = value < 0 ? field_negate(image) : image;
        return field_multiply(size_image, u64(ratio.numerator)) == field_multiply(absolute, u64(ratio.denominator));
    }
    bool stay(const OwnNumbers& of, const SizesOf& sizes) {
        for (u64 k = 0; k < of.size; ++k)
            if (sizes.floats[k] > 0 && !(stays(of.low[k], of.low_image[k], sizes.floats[k], sizes.images[k]) &&
                                         stays(of.high[k], of.high_image[k], sizes.floats[k], sizes.images[k])))
                return false;
        return true;
    }

    const OwnNumbers variables_, rows_;
    const SizesOf w_, v_;
    const double largest_, rounding_;
    struct Seen { u64 bits; Fraction fraction; };
    Array<Seen> seen_ = Array<Seen>(1 << 10, Seen{~u64(0), Fraction()});  // by their bits, which are those of no number
};

}  // namespace relift::passes
