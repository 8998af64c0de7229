// Masses of variables and rows: products of sizes and prices that their own numbers, or their neighbours, tell; the twin
// of relift/symmetry/masses.py, which says what is meant.
#pragma once
#include <memory>

#include "own_scales.hpp"

namespace relift {

constexpr u32 most_steps_of_masses = 32;
constexpr u32 full_steps_of_masses = 6;  // then only what has learnt goes on, since to list entries costs as much as some

// Positive numbers of some of many things, floats and, where they are wanted, exact; 0 where not known.
struct Known {
    Array<double> floats;
    Array<u64> images;
    explicit Known(u64 size, bool is_exact = true) : floats(size, 0.0), images(is_exact ? size : 0, 0) {}
    bool is_exact() const { return images.size() == floats.size(); }
    void take(u64 k, const Known& from) {
        floats[k] = from.floats[k];
        if (is_exact()) images[k] = from.images[k];
    }
};

// The best offer that reaches a thing: from a neighbour through an entry.
struct Offer {
    double value = 0;
    u32 neighbour = 0;
    u64 entry = none;
    static constexpr u64 none = ~u64(0);
    bool is_none() const { return entry == none; }
    void take(double other, u32 from, u64 through, bool least) {
        if (entry != none && (least ? other >= value : other <= value)) return;
        value = other;
        neighbour = from;
        entry = through;
    }
};

// The same where nothing exact is asked for.
struct FloatOffer {
    double value = NAN;
    bool is_none() const { return std::isnan(value); }
    void take(double other, u32, u64, bool least) {
        if (!(least ? other >= value : other <= value)) value = other;
    }
};

// Absolute values of the entries of a matrix, exactly: as a refinement has read them, or read here.
class EntrySizes {
public:
    EntrySizes(const double* values, Reading reading, const Weights* read)
        : values_(values), image_(reading), read_(read && read->kind != WeightKind::unit ? read : nullptr) {}
    u64 operator()(u64 entry) {
        const double value = values_[entry];
        if (!read_) return image_(std::fabs(value));
        const u64 word = read_->kind == WeightKind::words ? read_->words[entry] : read_->table[read_->ids[entry]];
        return value < 0 ? field_negate(word) : word;
    }

private:
    const double* values_;
    ValueReader image_;
    const Weights* read_;
};

// How many have learnt in the last step, and which, if that is asked; whether some offers were refused, since their
// numbers leave the range of floats.
struct Learnt {
    u64 number = 0;
    Array<u32> places;
    bool is_listed = false, have_refused = false;
};

// Calls visit(k) for some, or for all below a size where null is given.
template <class Visit>
void for_some(const Array<u32>* some, u64 size, Visit&& visit) {
    if (!some)
        for (u64 k = 0; k < size; ++k) visit(u32(k));
    else
        for (const u32 k : *some) visit(k);
}

// Takes offers over, of some or of all, and clears them.
inline void learn(Array<Offer>& offers, const Known& of, bool divides, EntrySizes& size_of, Known& to, Learnt& learnt,
                  const Array<u32>* some = nullptr) {
    Array<u32> places;
    Array<u64> sizes;
    for_some(some, offers.size(), [&](u32 k) {
        Offer& offer = offers[k];
        if (offer.entry == Offer::none) return;
        if (offer.value > 0 && std::isfinite(offer.value)) {
            places.push_back(k);
            sizes.push_back(size_of(offer.entry));
        } else {
            offer.entry = Offer::none;
            learnt.have_refused = true;
        }
    });
    const Array<u64> factors = divides ? inverses(sizes.data(), u32(sizes.size())) : std::move(sizes);
    for (u64 k = 0; k < places.size(); ++k) {
        Offer& offer = offers[places[k]];
        to.floats[places[k]] = offer.value;
        to.images[places[k]] = field_multiply(of.images[offer.neighbour], factors[k]);
        offer.entry = Offer::none;
    }
    learnt.number = places.size();
    learnt.places.swap(places);
}

inline void learn(Array<FloatOffer>& offers, const Known&, bool, EntrySizes&, Known& to, Learnt& learnt,
                  const Array<u32>* some = nullptr) {
    learnt.places.clear();
    learnt.number = 0;
    for_some(some, offers.size(), [&](u32 k) {
        const double value = std::exchange(offers[k].value, NAN);
        if (value > 0 && std::isfinite(value)) {
            to.floats[k] = value;
            ++learnt.number;
            if (learnt.is_listed) learnt.places.push_back(k);
        } else if (!std::isnan(value)) {
            learnt.have_refused = true;
        }
    });
}

// What variables and rows are offered in one step; nothing between steps.
template <class Offer>
struct Offers {
    Array<Offer> to_variables, to_rows;
    Offers(u64 n_variables, u64 n_rows) : to_variables(n_variables, Offer()), to_rows(n_rows, Offer()) {}
};

// Offers of majors that are known to minors that are not, and the other way round. What majors get is divided by entries,
// and the least of it is best, or it is multiplied, and the largest is; for minors the opposite. What is left out, which
// may be null, neither offers nor is offered anything.
template <class Index, class Offer>
void offer(const SparseView<Index>& matrix, const Known& majors, const Known& minors, bool minors_are_open,
           bool to_majors_divides, const Known* left_out_majors, const Known* left_out_minors, Array<Offer>& to_majors,
           Array<Offer>& to_minors) {
    for (u32 major = 0; major < matrix.n_major; ++major) {
        const double here = majors.floats[major];
        if (here != 0 && !minors_are_open) continue;
        if (left_out_majors && left_out_majors->floats[major] != 0) continue;
        const u64 end = u64(matrix.offsets[major + 1]);
        Offer best;
        for (u64 e = u64(matrix.offsets[major]); e < end; ++e) {
            const u32 minor = u32(matrix.indices[e]);
            const double size = std::fabs(matrix.values[e]), there = minors.floats[minor];
            if (size == 0 || (here == 0) == (there == 0)) continue;
            if (left_out_minors && left_out_minors->floats[minor] != 0) continue;
            if (here == 0) best.take(to_majors_divides ? there / size : there * size, minor, e, to_majors_divides);
            else to_minors[minor].take(to_majors_divides ? here * size : here / size, major, e, !to_majors_divides);
        }
        if (here == 0) to_majors[major] = best;
    }
}

// The same for what has learnt in the step before alone, since all others have made their offers: a wave through a long
// chain costs as much as a few steps. Each that is offered something hears all of its neighbours again, in their order.
template <class Index, class Offer>
class OffersOfLearnt {
public:
    OffersOfLearnt(const SparseView<Index>& matrix, Known& majors, Known& minors, bool to_majors_divides,
                   const Known* left_out_majors, const Known* left_out_minors, const Array<u32>& learnt_minors)
        : matrix_(matrix), majors_(majors), minors_(minors), to_majors_divides_(to_majors_divides),
          left_out_majors_(left_out_majors), left_out_minors_(left_out_minors), offsets_(u64(matrix.n_minor) + 1, 0) {
        Array<u8> may_offer(matrix.n_minor);
        for (u32 minor = 0; minor < matrix.n_minor; ++minor)
            may_offer[minor] = minors.floats[minor] == 0 && !is_left_out(left_out_minors, minor);
        for (const u32 minor : learnt_minors) may_offer[minor] = 1;
        const auto for_each = [&](auto&& visit) {
            for (u32 major = 0; major < matrix.n_major; ++major) {
                if (majors.floats[major] != 0 || is_left_out(left_out_majors, major)) continue;
                for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e)
                    if (may_offer[matrix.indices[e]] && matrix.values[e] != 0) visit(u32(matrix.indices[e]), major);
            }
        };
        for_each([&](u32 minor, u32) { ++offsets_[minor + 1]; });
        for (u64 minor = 0; minor < matrix.n_minor; ++minor) offsets_[minor + 1] += offsets_[minor];
        open_majors_.resize(offsets_[matrix.n_minor]);
        Array<u32> next(offsets_);
        for_each([&](u32 minor, u32 major) { open_majors_[next[minor]++] = major; });
    }

    // Which majors and minors are offered something, in ascending order.
    Array<u32> offered_majors, offered_minors;

    void make(const Array<u32>& learnt_majors, const Array<u32>& learnt_minors, Array<Offer>& to_majors,
              Array<Offer>& to_minors) {
        offered_majors.clear();
        offered_minors.clear();
        for (const u32 minor : learnt_minors)
            for (u32 at = offsets_[minor]; at < offsets_[minor + 1]; ++at)
                if (majors_.floats[open_majors_[at]] == 0) offered_majors.push_back(open_majors_[at]);
        std::sort(offered_majors.begin(), offered_majors.end());
        offered_majors.erase(std::unique(offered_majors.begin(), offered_majors.end()), offered_majors.end());
        for (const u32 major : offered_majors) {
            Offer best;
            for_each_entry(major, [&](u32 minor, double size, u64 e) {
                const double there = minors_.floats[minor];
                if (there != 0) best.take(to_majors_divides_ ? there / size : there * size, minor, e, to_majors_divides_);
            });
            to_majors[major] = best;
        }
        for (const u32 major : learnt_majors) {
            const double here = majors_.floats[major];
            for_each_entry(major, [&](u32 minor, double size, u64 e) {
                if (minors_.floats[minor] != 0) return;
                if (to_minors[minor].is_none()) offered_minors.push_back(minor);
                to_minors[minor].take(to_majors_divides_ ? here * size : here / size, major, e, !to_majors_divides_);
            });
        }
        std::sort(offered_minors.begin(), offered_minors.end());
        offered_minors.erase(std::unique(offered_minors.begin(), offered_minors.end()), offered_minors.end());
    }

private:
    static bool is_left_out(const Known* left_out, u32 place) { return left_out && left_out->floats[place] != 0; }

    template <class Visit>
    void for_each_entry(u32 major, Visit&& visit) const {
        if (is_left_out(left_out_majors_, major)) return;
        for (u64 e = u64(matrix_.offsets[major]), end = u64(matrix_.offsets[major + 1]); e < end; ++e) {
            const u32 minor = u32(matrix_.indices[e]);
            if (matrix_.values[e] != 0 && !is_left_out(left_out_minors_, minor)) visit(minor, std::fabs(matrix_.values[e]), e);
        }
    }

    const SparseView<Index>& matrix_;
    const Known &majors_, &minors_;
    const bool to_majors_divides_;
    const Known *left_out_majors_, *left_out_minors_;
    Array<u32> offsets_, open_majors_;  // of each minor: the majors that it may offer something
};

// Lets sizes, or prices, spread over the matrix until nothing new is learnt; not over rows that are known in `without`.
template <class Index, class Offer>
void hand_on(const Problem<Index>& problem, bool is_price, EntrySizes& size_of, Known& variables, Known& rows,
             Offers<Offer>& offers, const Known* without = nullptr) {
    const auto is_open = [](const Known& known) {
        return std::any_of(known.floats.begin(), known.floats.end(), [](double value) { return value == 0; });
    };
    const bool by_rows = problem.A_is_by_rows, to_majors_divides = by_rows == is_price;
    Known &majors = by_rows ? rows : variables, &minors = by_rows ? variables : rows;
    Array<Offer> &to_majors = by_rows ? offers.to_rows : offers.to_variables,
                 &to_minors = by_rows ? offers.to_variables : offers.to_rows;
    const Known *without_majors = by_rows ? without : nullptr, *without_minors = by_rows ? nullptr : without;
    Learnt of_majors, of_minors;
    std::unique_ptr<OffersOfLearnt<Index, Offer>> of_learnt;
    for (u32 step = 0; step < most_steps_of_masses; ++step) {
        const bool has_refused = of_majors.have_refused || of_minors.have_refused;  // who did may learn from another later
        const Array<u32> *some_majors = nullptr, *some_minors = nullptr;
        if (step >= full_steps_of_masses && !has_refused) {
            if (!of_learnt)
                of_learnt = std::make_unique<OffersOfLearnt<Index, Offer>>(
                    problem.A, majors, minors, to_majors_divides, without_majors, without_minors, of_minors.places);
            of_learnt->make(of_majors.places, of_minors.places, to_majors, to_minors);
            some_majors = &of_learnt->offered_majors, some_minors = &of_learnt->offered_minors;
        } else {
            const bool minors_are_open = is_open(minors);
            if (!minors_are_open && !is_open(majors)) return;
            offer(problem.A, majors, minors, minors_are_open, to_majors_divides, without_majors, without_minors, to_majors,
                  to_minors);
        }
        of_majors.is_listed = of_minors.is_listed = step + 1 >= full_steps_of_masses;
        learn(to_majors, minors, to_majors_divides, size_of, majors, of_majors, some_majors);
        learn(to_minors, majors, !to_majors_divides, size_of, minors, of_minors, some_minors);
        if (of_majors.number + of_minors.number == 0) return;
    }
}

// Gives variables without bounds the least that a row admits, whether its own numbers tell that or other variables: the
// latter over rows that have no numbers of their own.
template <class Index, class Offer>
void hand_on_from_bounds(const Problem<Index>& problem, EntrySizes& size_of, Known& sizes, Known& row_sizes,
                         Offers<Offer>& offers) {
    const auto are_known = [](const Known& known) {
        return std::all_of(known.floats.begin(), known.floats.end(), [](double value) { return value != 0; });
    };
    if (are_known(sizes) || are_known(row_sizes)) return;
    Known near(sizes), near_rows(problem.n_rows, sizes.is_exact()), far(problem.n_variables, sizes.is_exact());
    hand_on(problem, false, size_of, near, near_rows, offers, &row_sizes);
    for_each_entry_of_A(problem, [&](u32 row, u32 column, u64 entry) {
        const double size = std::fabs(problem.A.values[entry]), there = row_sizes.floats[row];
        if (size != 0 && there != 0 && sizes.floats[column] == 0)
            offers.to_variables[column].take(there / size, row, entry, true);
    });
    Learnt learnt;
    learn(offers.to_variables, row_sizes, true, size_of, far, learnt);
    for (u64 j = 0; j < sizes.floats.size(); ++j) {
        if (sizes.floats[j] != 0) continue;
        const bool takes_far = far.floats[j] > 0 && (near.floats[j] == 0 || far.floats[j] < near.floats[j]);
        sizes.take(j, takes_far ? far : near);
    }
    for (u64 i = 0; i < row_sizes.floats.size(); ++i)
        if (row_sizes.floats[i] == 0) row_sizes.take(i, near_rows);
}

struct MassArrays {
    double* floats;
    u64* images;
};

// Size times price, the least of each class for all its members.
inline void multiply_within_classes(const Known& sizes, const Known& prices, const i64* labels, u64 n_classes,
                                    const MassArrays& out) {
    constexpr u64 nobody = ~u64(0);
    const u64 size = sizes.floats.size();
    const bool all_are_alone = n_classes == size;
    Array<u64> least(all_are_alone ? 0 : n_classes, nobody);
    for (u64 k = 0; k < size; ++k) {
        const double mass = sizes.floats[k] * prices.floats[k];
        const bool is_known = mass > 0 && std::isfinite(mass);
        out.floats[k] = is_known ? mass : 1.0;
        out.images[k] = is_known ? field_multiply(sizes.images[k], prices.images[k]) : 1;
        if (all_are_alone) continue;
        u64& first = least[u64(labels[k])];
        if (first == nobody || out.floats[k] < out.floats[first]) first = k;
    }
    if (all_are_alone) return;
    Array<double> floats(n_classes);
    Array<u64> images(n_classes);
    for (u64 c = 0; c < n_classes; ++c) {
        floats[c] = least[c] == nobody ? 1.0 : out.floats[least[c]];
        images[c] = least[c] == nobody ? 1 : out.images[least[c]];
    }
    for (u64 k = 0; k < size; ++k) {
        out.floats[k] = floats[u64(labels[k])];
        out.images[k] = images[u64(labels[k])];
    }
}

// The longer side of an interval, if it is finite and not 0.
inline void size_of_interval(double low, double high, u64 low_image, u64 high_image, double& size, u64& image) {
    const bool low_counts = is_size(low, low_image), high_counts = is_size(high, high_image);
    if (!low_counts && !high_counts) return;
    const bool takes_low = low_counts && (!high_counts || std::fabs(low) > std::fabs(high));
    const double bound = takes_low ? low : high;
    image = takes_low ? low_image : high_image;
    if (bound < 0) image = field_negate(image);
    size = std::fabs(bound);
}

// What the numbers of variables and rows, and the matrices, tell about sizes and prices.
struct SizesAndPrices {
    Known sizes, prices, row_sizes, row_prices;
    SizesAndPrices(u64 n_variables, u64 n_rows, bool is_exact)
        : sizes(n_variables, is_exact), prices(n_variables, is_exact), row_sizes(n_rows, is_exact),
          row_prices(n_rows, is_exact) {}
};

// Numbers are those of OwnNumbers or of passes::GivenNumbers.
template <class Offer, class Index, class Numbers>
void find_sizes_and_prices(const Problem<Index>& problem, Reading reading, const Numbers& variables,
                           const Numbers& rows, const Weights* A_read, SizesAndPrices& found) {
    EntrySizes size_in_A(problem.A.values, reading, A_read);
    Known &sizes = found.sizes, &prices = found.prices, &row_sizes = found.row_sizes;
    const auto take_size = [](const Numbers& given, u64 k, Known& known) {
        u64 image = 0;
        size_of_interval(given.low[k], given.high[k], given.low_image[k], given.high_image[k], known.floats[k], image);
        if (known.is_exact()) known.images[k] = image;
    };
    for (u32 j = 0; j < problem.n_variables; ++j) {
        take_size(variables, j, sizes);
        if (variables.cost_image[j] == 0) continue;
        const double cost = variables.cost[j];
        prices.floats[j] = std::fabs(cost);
        if (prices.is_exact()) prices.images[j] = cost < 0 ? field_negate(variables.cost_image[j]) : variables.cost_image[j];
    }
    for (u32 i = 0; i < problem.n_rows; ++i) take_size(rows, i, row_sizes);
    Offers<Offer> offers(problem.n_variables, problem.n_rows);
    hand_on_from_bounds(problem, size_in_A, sizes, row_sizes, offers);
    hand_on(problem, false, size_in_A, sizes, row_sizes, offers);
    if (problem.has_P()) {
        for (u32 j = 0; j < problem.n_variables; ++j)
            for (u64 e = u64(problem.P.offsets[j]), end = u64(problem.P.offsets[j + 1]); e < end; ++e) {
                const u32 k = u32(problem.P.indices[e]);
                if (prices.floats[k] != 0 || sizes.floats[j] == 0 || problem.P.values[e] == 0) continue;
                offers.to_variables[k].take(std::fabs(problem.P.values[e]) * sizes.floats[j], j, e, false);
            }
        EntrySizes size_in_P(problem.P.values, reading, nullptr);
        Learnt learnt;
        learn(offers.to_variables, sizes, false, size_in_P, prices, learnt);
    }
    hand_on(problem, true, size_in_A, prices, found.row_prices, offers);
}

// Bounds and costs of the variables, then bounds of the rows; labels of both, and the masses of both, which are written.
// A_read is null, or the values of A as they were read before.
template <class Index>
void find_masses(const Problem<Index>& problem, Reading reading, const OwnNumbers& variables, const OwnNumbers& rows,
                 const i64* labels, const i64* row_labels, u64 n_classes, u64 n_row_classes, const MassArrays& out,
                 const MassArrays& row_out, const Weights* A_read = nullptr) {
    SizesAndPrices found(problem.n_variables, problem.n_rows, true);
    find_sizes_and_prices<Offer>(problem, reading, variables, rows, A_read, found);
    multiply_within_classes(found.sizes, found.prices, labels, n_classes, out);
    multiply_within_classes(found.row_sizes, found.row_prices, row_labels, n_row_classes, row_out);
}

// The same in floats alone, where each is in a class of its own.
template <class Index, class Numbers>
void find_masses(const Problem<Index>& problem, const Numbers& variables, const Numbers& rows, double* masses,
                 double* row_masses) {
    SizesAndPrices found(problem.n_variables, problem.n_rows, false);
    find_sizes_and_prices<FloatOffer>(problem, Reading::decimal, variables, rows, nullptr, found);
    const auto multiply = [](const Known& sizes, const Known& prices, double* out) {
        for (u64 k = 0; k < sizes.floats.size(); ++k) {
            const double mass = sizes.floats[k] * prices.floats[k];
            out[k] = mass > 0 && std::isfinite(mass) ? mass : 1.0;
        }
    };
    multiply(found.sizes, found.prices, masses);
    multiply(found.row_sizes, found.row_prices, row_masses);
}

// One mass for each cone and all its rows: the least among the rows of its class, the first of equal ones. Arrays begin at
// the first cone and at the first conic row. The twin of ScaledCones.equalised_slowly in relift/symmetry/scaled_cones.py.
inline void equalise_masses(MassArrays cones, MassArrays rows, const i64* labels, u64 n_cones, const i64* cone_of_row,
                            u64 n_rows, u64 n_classes) {
    Array<u64> least(n_classes, n_rows);
    for (u64 i = 0; i < n_rows; ++i) {
        u64& best = least[u64(labels[cone_of_row[i]])];
        if (best == n_rows || rows.floats[i] < rows.floats[best]) best = i;
    }
    Array<double> floats(n_classes, 1.0);
    Array<u64> images(n_classes, 1);
    for (u64 c = 0; c < n_classes; ++c) {
        if (least[c] == n_rows) continue;
        floats[c] = rows.floats[least[c]];
        images[c] = rows.images[least[c]];
    }
    for (u64 k = 0; k < n_cones; ++k) cones.floats[k] = floats[labels[k]], cones.images[k] = images[labels[k]];
    for (u64 i = 0; i < n_rows; ++i) {
        const u64 c = u64(labels[cone_of_row[i]]);
        rows.floats[i] = floats[c], rows.images[i] = images[c];
    }
}

}  // namespace relift
