// Masses of variables and rows: products of sizes and prices that their own numbers, or their neighbours, tell; the twin
// of relift/symmetry/masses.py, which says what is meant.
#pragma once
#include "own_scales.hpp"

namespace relift {

constexpr u32 most_steps_of_masses = 32;
constexpr u32 first_listed_step = 6;  // from here on who may be offered something is listed: before, that costs more

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
    bool is_there() const { return entry != none; }
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
    bool is_there() const { return !std::isnan(value); }
    void take(double other, u32, u64, bool least) {
        const bool stays = least ? other >= value : other <= value;  // NaN, where nothing was offered, does not
        value = stays ? value : other;
    }
};

// The best offers of one step.
template <class Offer>
class Offers {
public:
    explicit Offers(u64 size) : size_(size) {}
    // Before the first of a step; `lists` where few are made.
    void begin(bool lists = false) {
        if (best_.empty()) best_.resize(size_, Offer());
        lists_ = lists;
    }
    void take(u32 to, double value, u32 from, u64 through, bool least) {
        Offer& best = best_[to];
        if (lists_ && !best.is_there()) those_.push_back(to);
        best.take(value, from, through, least);
        are_there_ = true;
    }
    // All that was offered to one, which is offered nothing else.
    void take_best(u32 to, const Offer& best) {
        if (!best.is_there()) return;
        if (lists_) those_.push_back(to);
        best_[to] = best;
        are_there_ = true;
    }
    // Calls work(to, best) for each, in ascending order, and forgets them.
    template <class Work>
    void collect(Work&& work) {
        if (!std::exchange(are_there_, false)) return;
        const auto hand_over = [&](u32 to) {
            const Offer best = std::exchange(best_[to], Offer());
            if (best.is_there()) work(to, best);
        };
        if (lists_) {
            std::sort(those_.begin(), those_.end());
            for (const u32 to : those_) hand_over(to);
            those_.clear();
        } else {
            for (u64 to = 0; to < size_; ++to) hand_over(u32(to));
        }
    }

private:
    u64 size_;
    bool are_there_ = false, lists_ = false;
    Array<Offer> best_;  // empty until something is offered
    Array<u32> those_;   // where they are listed
};

// Who has learnt something in a step; and whether an offer was refused, since its number leaves the range of floats.
struct Learnt {
    Array<u32> those;
    bool have_refused = false;
};

inline bool is_positive_number(double value) { return value > 0 && std::isfinite(value); }

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

// Takes offers over.
inline Learnt learn(Offers<Offer>& offers, const Known& of, bool divides, EntrySizes& size_of, Known& to) {
    Learnt learnt;
    Array<u64> sizes;
    offers.collect([&](u32 k, const Offer& best) {
        if (!is_positive_number(best.value)) {
            learnt.have_refused = true;
            return;
        }
        to.floats[k] = best.value;
        to.images[k] = of.images[best.neighbour];
        learnt.those.push_back(k);
        sizes.push_back(size_of(best.entry));
    });
    if (learnt.those.empty()) return learnt;
    const Array<u64> factors = divides ? inverses(sizes.data(), u32(sizes.size())) : std::move(sizes);
    for (u64 place = 0; place < learnt.those.size(); ++place) {
        u64& image = to.images[learnt.those[place]];
        image = field_multiply(image, factors[place]);
    }
    return learnt;
}

inline Learnt learn(Offers<FloatOffer>& offers, const Known&, bool, EntrySizes&, Known& to) {
    Learnt learnt;
    offers.collect([&](u32 k, const FloatOffer& best) {
        if (is_positive_number(best.value)) {
            to.floats[k] = best.value;
            learnt.those.push_back(k);
        } else {
            learnt.have_refused = true;
        }
    });
    return learnt;
}

// Sizes, or prices, which spread over the matrix, step by step, until nothing new is learnt. What is divided by entries
// is worth taking where it is least, and what is multiplied where it is largest. Who knows a number offers it once: all
// neighbours that knew none have one then, unless they refused it. So a wave through a long chain costs as much as a few
// passes.
template <class Index, class Offer>
class HandOn {
public:
    // Not over rows that are known in `without`, which may be null.
    HandOn(const Problem<Index>& problem, bool is_price, EntrySizes& size_of, Known& variables, Known& rows,
           const Known* without = nullptr)
        : matrix_(problem.A), size_of_(size_of),
          majors_(problem.A_is_by_rows ? Side(rows, is_price, without) : Side(variables, !is_price, nullptr)),
          minors_(problem.A_is_by_rows ? Side(variables, !is_price, nullptr) : Side(rows, is_price, without)) {}

    void run() {
        for (u32 major = 0; major < matrix_.n_major; ++major)
            if (majors_.is_open(major)) open_majors_.push_back(major);
        u64 n_open_minors = 0;
        for (u64 minor = 0; minor < matrix_.n_minor; ++minor) n_open_minors += minors_.is_open(minor);
        Array<u32> new_majors = those_known(majors_), new_minors = those_known(minors_);
        for (u32 step = 0; step < most_steps_of_masses; ++step) {
            const bool lists = step >= first_listed_step;
            if (n_open_minors > 0 && !new_majors.empty()) {
                minors_.offers.begin(lists);
                for (const u32 major : new_majors) offer_to_minors(major);
            }
            if (!open_majors_.empty() && !new_minors.empty()) {
                majors_.offers.begin(lists);
                if (lists) list_neighbours(new_minors);
                for (const u32 major : lists ? neighbours_ : open_majors_) take_from_minors(major);
            }
            Learnt of_majors = learn(majors_.offers, minors_.known, majors_.divides, size_of_, majors_.known);
            Learnt of_minors = learn(minors_.offers, majors_.known, minors_.divides, size_of_, minors_.known);
            if (of_majors.those.empty() && of_minors.those.empty()) return;
            n_open_minors -= of_minors.those.size();
            const auto is_known = [this](u32 major) { return majors_.known.floats[major] != 0; };
            open_majors_.erase(std::remove_if(open_majors_.begin(), open_majors_.end(), is_known), open_majors_.end());
            // Who refused an offer may accept another one later: then all are made again.
            const bool have_refused = of_majors.have_refused || of_minors.have_refused;
            new_majors = have_refused ? those_known(majors_) : std::move(of_majors.those);
            new_minors = have_refused ? those_known(minors_) : std::move(of_minors.those);
        }
    }

private:
    struct Side {
        Known& known;
        const bool divides;
        const Known* without;
        Offers<Offer> offers;
        Side(Known& known_, bool divides_, const Known* without_)
            : known(known_), divides(divides_), without(without_), offers(known_.floats.size()) {}
        bool is_open(u64 k) const { return known.floats[k] == 0 && (!without || without->floats[k] == 0); }
        double of(double offered, double size) const { return divides ? offered / size : offered * size; }
    };

    static Array<u32> those_known(const Side& side) {
        Array<u32> those;
        for (u64 k = 0; k < side.known.floats.size(); ++k)
            if (side.known.floats[k] != 0) those.push_back(u32(k));
        return those;
    }

    // The open majors beside some minors, in ascending order.
    void list_neighbours(const Array<u32>& minors) {
        if (offsets_.empty()) list_open_majors();
        neighbours_.clear();
        for (const u32 minor : minors)
            for (u64 at = offsets_[minor]; at < offsets_[minor + 1]; ++at)
                if (majors_.is_open(open_majors_of_[at])) neighbours_.push_back(open_majors_of_[at]);
        std::sort(neighbours_.begin(), neighbours_.end());
        neighbours_.erase(std::unique(neighbours_.begin(), neighbours_.end()), neighbours_.end());
    }

    // Of each minor, the majors that are open now: later ones are among them.
    void list_open_majors() {
        const auto for_each_entry = [&](auto&& visit) {
            for (const u32 major : open_majors_)
                for (u64 e = u64(matrix_.offsets[major]), end = u64(matrix_.offsets[major + 1]); e < end; ++e)
                    visit(u32(matrix_.indices[e]), major);
        };
        offsets_.assign(u64(matrix_.n_minor) + 1, 0);
        for_each_entry([&](u32 minor, u32) { ++offsets_[minor + 1]; });
        for (u64 minor = 0; minor < matrix_.n_minor; ++minor) offsets_[minor + 1] += offsets_[minor];
        open_majors_of_.resize(offsets_[matrix_.n_minor]);
        Array<u64> next(offsets_);
        for_each_entry([&](u32 minor, u32 major) { open_majors_of_[next[minor]++] = major; });
    }

    void offer_to_minors(u32 major) {
        const double here = majors_.known.floats[major];
        for (u64 e = u64(matrix_.offsets[major]), end = u64(matrix_.offsets[major + 1]); e < end; ++e) {
            const u32 minor = u32(matrix_.indices[e]);
            const double size = std::fabs(matrix_.values[e]);
            if (size == 0 || !minors_.is_open(minor)) continue;
            minors_.offers.take(minor, minors_.of(here, size), major, e, minors_.divides);
        }
    }
    void take_from_minors(u32 major) {
        Offer best;
        for (u64 e = u64(matrix_.offsets[major]), end = u64(matrix_.offsets[major + 1]); e < end; ++e) {
            const u32 minor = u32(matrix_.indices[e]);
            const double size = std::fabs(matrix_.values[e]), there = minors_.known.floats[minor];
            if (size == 0 || there == 0) continue;
            best.take(majors_.of(there, size), minor, e, majors_.divides);
        }
        majors_.offers.take_best(major, best);
    }

    const SparseView<Index>& matrix_;
    EntrySizes& size_of_;
    Side majors_, minors_;
    Array<u32> open_majors_, neighbours_;
    Array<u64> offsets_;          // of each minor, into the majors beside it; empty until they are listed
    Array<u32> open_majors_of_;
};

// Gives variables without bounds the least that a row admits, whether its own numbers tell that or other variables: the
// latter over rows that have no numbers of their own.
template <class Index, class Offer>
void hand_on_from_bounds(const Problem<Index>& problem, EntrySizes& size_of, Known& sizes, Known& row_sizes) {
    const auto n_known = [](const Known& known) {
        return std::count_if(known.floats.begin(), known.floats.end(), [](double value) { return value != 0; });
    };
    const u64 n = sizes.floats.size(), n_sizes = u64(n_known(sizes));
    if (n_sizes == n || n_known(row_sizes) == i64(problem.n_rows)) return;
    Offers<Offer> offers(n);
    offers.begin();
    for_each_entry_of_A(problem, [&](u32 row, u32 column, u64 entry) {
        const double size = std::fabs(problem.A.values[entry]), there = row_sizes.floats[row];
        if (size != 0 && there != 0 && sizes.floats[column] == 0) offers.take(column, there / size, row, entry, true);
    });
    if (n_sizes == 0) {  // no variable tells another one anything
        learn(offers, row_sizes, true, size_of, sizes);
        return;
    }
    Known near(sizes), near_rows(problem.n_rows, sizes.is_exact()), far(n, sizes.is_exact());
    HandOn<Index, Offer>(problem, false, size_of, near, near_rows, &row_sizes).run();
    learn(offers, row_sizes, true, size_of, far);
    for (u64 j = 0; j < n; ++j) {
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
    hand_on_from_bounds<Index, Offer>(problem, size_in_A, sizes, row_sizes);
    HandOn<Index, Offer>(problem, false, size_in_A, sizes, row_sizes).run();
    if (problem.has_P()) {
        Offers<Offer> offers(problem.n_variables);
        offers.begin();
        for (u32 j = 0; j < problem.n_variables; ++j)
            for (u64 e = u64(problem.P.offsets[j]), end = u64(problem.P.offsets[j + 1]); e < end; ++e) {
                const u32 k = u32(problem.P.indices[e]);
                if (prices.floats[k] != 0 || sizes.floats[j] == 0 || problem.P.values[e] == 0) continue;
                offers.take(k, std::fabs(problem.P.values[e]) * sizes.floats[j], j, e, false);
            }
        EntrySizes size_in_P(problem.P.values, reading, nullptr);
        learn(offers, sizes, false, size_in_P, prices);
    }
    HandOn<Index, Offer>(problem, true, size_in_A, prices, found.row_prices).run();
}

// Bounds and costs of the variables, then bounds of the rows; labels of both, and the masses of both, which are written.
// What they are products of is returned. A_read is null, or the values of A as they were read before.
template <class Index>
SizesAndPrices find_masses(const Problem<Index>& problem, Reading reading, const OwnNumbers& variables, const OwnNumbers& rows,
                           const i64* labels, const i64* row_labels, u64 n_classes, u64 n_row_classes,
                           const MassArrays& out, const MassArrays& row_out, const Weights* A_read = nullptr) {
    SizesAndPrices found(problem.n_variables, problem.n_rows, true);
    find_sizes_and_prices<Offer>(problem, reading, variables, rows, A_read, found);
    multiply_within_classes(found.sizes, found.prices, labels, n_classes, out);
    multiply_within_classes(found.row_sizes, found.row_prices, row_labels, n_row_classes, row_out);
    return found;
}

// The same in floats alone, where each is in a class of its own.
template <class Index, class Numbers>
SizesAndPrices find_masses(const Problem<Index>& problem, const Numbers& variables, const Numbers& rows, double* masses,
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
    return found;
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
