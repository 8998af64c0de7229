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
    u32 neighbour = 0, entry = none;
    static constexpr u32 none = ~u32(0);
    bool is_there() const { return entry != none; }
    void take(double other, u32 from, u64 through, bool least) {
        if (entry != none && (least ? other >= value : other <= value)) return;
        value = other;
        neighbour = from;
        entry = u32(through);
    }
    void take(const Offer& later, bool least) { take(later.value, later.neighbour, later.entry, least); }
};

// The same where nothing exact is asked for.
struct FloatOffer {
    double value = NAN;
    bool is_there() const { return !std::isnan(value); }
    void take(double other, u32, u64, bool least) {  // NaN, where nothing was offered, gives way
        value = least ? (value < other ? value : other) : (value > other ? value : other);
    }
    void take(const FloatOffer& later, bool least) { take(later.value, 0, 0, least); }
};

// The best offers of one step.
template <class Offer>
class Offers {
public:
    // What one thread offers.
    class Part {
    public:
        Part(Offer* best, Array<u32>* those) : best_(best), those_(those) {}
        void take(u32 to, double value, u32 from, u64 through, bool least) {
            Offer& best = best_[to];
            if (those_ && !best.is_there()) those_->push_back(to);
            best.take(value, from, through, least);
            are_there = true;
        }
        // All that is offered to one.
        void take_best(u32 to, const Offer& best) {
            if (!best.is_there()) return;
            if (those_) those_->push_back(to);
            best_[to] = best;
            are_there = true;
        }
        bool are_there = false;

    private:
        Offer* best_;
        Array<u32>* those_;
    };

    Offers(u64 size, bool takes_least, u32 n_threads) : size_(size), takes_least_(takes_least), n_threads_(n_threads) {}

    // Calls offer(k, part) for parts of what is offered, by a thread each. Where the same things are offered something in
    // several parts each has bests of its own; of equal ones those of earlier parts count, as if one thread had made all.
    // Those who are offered something are listed where that is worth it: then there is one part.
    template <class Work>
    void make(u32 n_parts, bool are_apart, bool lists, Work&& offer) {
        if (best_.empty()) best_.resize(size_, Offer());
        lists_ = lists;
        std::vector<Array<Offer>> own(n_parts);
        std::vector<u8> are_there(n_parts);
        in_parallel(n_parts, [&](u32 k) {
            const bool has_own = k > 0 && !are_apart;
            if (has_own) own[k].resize(size_, Offer());
            Part part(has_own ? own[k].data() : best_.data(), lists ? &those_ : nullptr);
            offer(k, part);
            are_there[k] = part.are_there;
        });
        for (const u8 is_there : are_there) are_there_ |= is_there != 0;
        if (n_parts == 1 || are_apart) return;
        over_range(size_, threads_for(size_, n_threads_), [&](u64 first, u64 last) {
            for (u32 k = 1; k < n_parts; ++k)
                for (u64 to = first; to < last; ++to)
                    if (own[k][to].is_there()) best_[to].take(own[k][to], takes_least_);
        });
    }

    // The same for blocks of the majors of a matrix, offer(part, first, last): to themselves, or to their minors.
    template <class Index, class Work>
    void make_by_majors(const SparseView<Index>& matrix, bool to_majors, Work&& offer) {
        const u32 n_parts = to_majors ? threads_for(matrix.n_entries(), n_threads_)
                                      : scattering_threads(matrix, n_threads_, sizeof(Offer));
        make(n_parts, to_majors, false, [&](u32 k, Part& part) {
            offer(part, first_major_of(matrix, k, n_parts), first_major_of(matrix, k + 1, n_parts));
        });
    }

    // In how many parts offers are collected.
    u32 n_collected() const { return !are_there_ ? 0 : lists_ ? 1 : threads_for(size_, n_threads_); }

    // Calls take(k, each) for these parts, by a thread each, where each(work) calls work(to, best) in ascending order, and
    // forgets all offers.
    template <class Take>
    void collect(Take&& take) {
        const u32 n_parts = n_collected();
        in_parallel(n_parts, [&](u32 k) {
            take(k, [&](auto&& work) {
                const auto hand_over = [&](u32 to) {
                    const Offer best = std::exchange(best_[to], Offer());
                    if (best.is_there()) work(to, best);
                };
                if (lists_) {
                    std::sort(those_.begin(), those_.end());
                    for (const u32 to : those_) hand_over(to);
                    return those_.clear();
                }
                for (u64 to = part_of(size_, k, n_parts), end = part_of(size_, k + 1, n_parts); to < end; ++to)
                    hand_over(u32(to));
            });
        });
        are_there_ = false;
    }

private:
    u64 size_;
    bool takes_least_, are_there_ = false, lists_ = false;
    u32 n_threads_;
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

// Takes some offers over.
template <class Each>
void learn_some(const Each& each, const Known& of, bool divides, const EntrySizes& given, Known& to, Learnt& learnt, Offer) {
    EntrySizes size_of(given);
    Array<u64> sizes;
    each([&](u32 k, const Offer& best) {
        if (!is_positive_number(best.value)) {
            learnt.have_refused = true;
            return;
        }
        to.floats[k] = best.value;
        to.images[k] = of.images[best.neighbour];
        learnt.those.push_back(k);
        sizes.push_back(size_of(best.entry));
    });
    if (learnt.those.empty()) return;
    const Array<u64> factors = divides ? inverses(sizes.data(), u32(sizes.size())) : std::move(sizes);
    for (u64 place = 0; place < learnt.those.size(); ++place) {
        u64& image = to.images[learnt.those[place]];
        image = field_multiply(image, factors[place]);
    }
}

template <class Each>
void learn_some(const Each& each, const Known&, bool, const EntrySizes&, Known& to, Learnt& learnt, FloatOffer) {
    each([&](u32 k, const FloatOffer& best) {
        if (is_positive_number(best.value)) {
            to.floats[k] = best.value;
            learnt.those.push_back(k);
        } else {
            learnt.have_refused = true;
        }
    });
}

// Takes offers over.
template <class Offer>
Learnt learn(Offers<Offer>& offers, const Known& of, bool divides, const EntrySizes& size_of, Known& to) {
    std::vector<Learnt> parts(std::max<u32>(1, offers.n_collected()));
    offers.collect([&](u32 k, const auto& each) { learn_some(each, of, divides, size_of, to, parts[k], Offer()); });
    Learnt& all = parts[0];
    for (u64 k = 1; k < parts.size(); ++k) {
        all.those.insert(all.those.end(), parts[k].those.begin(), parts[k].those.end());
        all.have_refused |= parts[k].have_refused;
    }
    return std::move(all);
}

// Sizes, or prices, which spread over the matrix, step by step, until nothing new is learnt. What is divided by entries
// is worth taking where it is least, and what is multiplied where it is largest. Who knows a number offers it once: all
// neighbours that knew none have one then, unless they refused it. So a wave through a long chain costs as much as a few
// passes.
template <class Index, class Offer>
class HandOn {
public:
    // Not over rows that are known in `without`, which may be null.
    HandOn(const Problem<Index>& problem, bool is_price, const EntrySizes& size_of, Known& variables, Known& rows,
           u32 n_threads, const Known* without = nullptr)
        : matrix_(problem.A), size_of_(size_of), n_threads_(n_threads),
          majors_(problem.A_is_by_rows ? Side(rows, is_price, without, n_threads)
                                       : Side(variables, !is_price, nullptr, n_threads)),
          minors_(problem.A_is_by_rows ? Side(variables, !is_price, nullptr, n_threads)
                                       : Side(rows, is_price, without, n_threads)) {}

    void run() {
        const double* const floats = majors_.known.floats.data();
        const double* const without = majors_.without ? majors_.without->floats.data() : nullptr;
        open_majors_ = those_of_which(matrix_.n_major, n_threads_, [floats, without](u64 major) {
            return floats[major] == 0 && (!without || without[major] == 0);
        });
        u64 n_open_minors = 0;
        for (u64 minor = 0; minor < matrix_.n_minor; ++minor) n_open_minors += minors_.is_open(minor);
        if (open_majors_.empty() && n_open_minors == 0) return;
        Array<u32> new_majors = those_known(majors_), new_minors = those_known(minors_);
        for (u32 step = 0; step < most_steps_of_masses; ++step) {
            const bool lists = step >= first_listed_step;
            if (n_open_minors > 0 && !new_majors.empty())
                make_offers(minors_.offers, new_majors, false, lists, [this](Part& part, const u32* first, const u32* last) {
                    minors_.divides ? offer_to_minors<true>(part, first, last) : offer_to_minors<false>(part, first, last);
                });
            if (!open_majors_.empty() && !new_minors.empty()) {
                if (lists) list_neighbours(new_minors);
                const Array<u32>& some = lists ? neighbours_ : open_majors_;
                make_offers(majors_.offers, some, true, lists, [this](Part& part, const u32* first, const u32* last) {
                    majors_.divides ? take_from_minors<true>(part, first, last) : take_from_minors<false>(part, first, last);
                });
            }
            Learnt of_majors = learn(majors_.offers, minors_.known, majors_.divides, size_of_, majors_.known);
            Learnt of_minors = learn(minors_.offers, majors_.known, minors_.divides, size_of_, minors_.known);
            if (of_majors.those.empty() && of_minors.those.empty()) return;
            n_open_minors -= of_minors.those.size();
            const auto is_known = [this](u32 major) { return majors_.known.floats[major] != 0; };
            open_majors_.erase(std::remove_if(open_majors_.begin(), open_majors_.end(), is_known), open_majors_.end());
            if (open_majors_.empty() && n_open_minors == 0) return;
            // Who refused an offer may accept another one later: then all are made again.
            const bool have_refused = of_majors.have_refused || of_minors.have_refused;
            new_majors = have_refused ? those_known(majors_) : std::move(of_majors.those);
            new_minors = have_refused ? those_known(minors_) : std::move(of_minors.those);
        }
    }

private:
    using Part = typename Offers<Offer>::Part;

    struct Side {
        Known& known;
        const bool divides;
        const Known* without;
        Offers<Offer> offers;
        Side(Known& known_, bool divides_, const Known* without_, u32 n_threads)
            : known(known_), divides(divides_), without(without_), offers(known_.floats.size(), divides_, n_threads) {}
        bool is_open(u64 k) const { return known.floats[k] == 0 && (!without || without->floats[k] == 0); }
    };

    Array<u32> those_known(const Side& side) const {
        const double* const floats = side.known.floats.data();
        return those_of_which(side.known.floats.size(), n_threads_, [floats](u64 k) { return floats[k] != 0; });
    }

    // What some majors, ascending, offer to minors, or take from them: work(part, first, last) for blocks of these majors.
    template <class Work>
    void make_offers(Offers<Offer>& offers, const Array<u32>& majors, bool are_apart, bool lists, Work&& work) {
        u64 n_entries = 0;
        for (const u32 major : majors) n_entries += u64(matrix_.offsets[major + 1] - matrix_.offsets[major]);
        u32 n_parts = lists ? 1 : threads_for(n_entries, n_threads_);
        if (!are_apart) n_parts = std::min(n_parts, scattering_threads(matrix_, n_threads_, sizeof(Offer)));
        offers.make(n_parts, are_apart, lists, [&](u32 k, Part& part) {
            work(part, majors.data() + first_place_of(majors, k, n_parts), majors.data() + first_place_of(majors, k + 1, n_parts));
        });
    }
    // Where those of them begin that stand in the k-th of n parts of all.
    u64 first_place_of(const Array<u32>& majors, u32 k, u32 n) const {
        return u64(std::lower_bound(majors.begin(), majors.end(), first_major_of(matrix_, k, n)) - majors.begin());
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

    // What every entry needs is held in locals: nobody else knows of them, so that they stay in registers.
    template <bool divides>
    void offer_to_minors(Part& part, const u32* first, const u32* last) const {
        const SparseView<Index> matrix = matrix_;
        const double *const from = majors_.known.floats.data(), *const known = minors_.known.floats.data();
        const double* const without = minors_.without ? minors_.without->floats.data() : nullptr;
        Part own = part;
        for (; first != last; ++first) {
            const u32 major = *first;
            const double here = from[major];
            for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e) {
                const u32 minor = u32(matrix.indices[e]);
                const double size = std::fabs(matrix.values[e]);
                if (size == 0 || known[minor] != 0 || (without && without[minor] != 0)) continue;
                own.take(minor, divides ? here / size : here * size, major, e, divides);
            }
        }
        part = own;
    }
    template <bool divides>
    void take_from_minors(Part& part, const u32* first, const u32* last) const {
        Part own = part;
        for (; first != last; ++first)
            own.take_best(*first, best_offer<divides>(matrix_, minors_.known.floats.data(), *first));
        part = own;
    }
    template <bool divides>
    static Offer best_offer(const SparseView<Index>& matrix, const double* known, u32 major) {
        Offer best;
        for (u64 e = u64(matrix.offsets[major]), end = u64(matrix.offsets[major + 1]); e < end; ++e) {
            const u32 minor = u32(matrix.indices[e]);
            const double size = std::fabs(matrix.values[e]), there = known[minor];
            if (size == 0 || there == 0) continue;
            best.take(divides ? there / size : there * size, minor, e, divides);
        }
        return best;
    }

    const SparseView<Index>& matrix_;
    const EntrySizes& size_of_;
    const u32 n_threads_;
    Side majors_, minors_;
    Array<u32> open_majors_, neighbours_;
    Array<u64> offsets_;          // of each minor, into the majors beside it; empty until they are listed
    Array<u32> open_majors_of_;
};

// Gives variables without bounds the least that a row admits, whether its own numbers tell that or other variables: the
// latter over rows that have no numbers of their own.
template <class Index, class Offer>
void hand_on_from_bounds(const Problem<Index>& problem, const EntrySizes& size_of, Known& sizes, Known& row_sizes,
                         u32 n_threads) {
    const auto n_known = [](const Known& known) {
        return std::count_if(known.floats.begin(), known.floats.end(), [](double value) { return value != 0; });
    };
    const u64 n = sizes.floats.size(), n_sizes = u64(n_known(sizes));
    if (n_sizes == n || n_known(row_sizes) == i64(problem.n_rows)) return;
    Offers<Offer> offers(n, true, n_threads);
    offers.make_by_majors(problem.A, !problem.A_is_by_rows, [&](auto& part, u32 first, u32 last) {
        for_each_entry_of_A(problem, first, last, [&](u32 row, u32 column, u64 entry) {
            const double size = std::fabs(problem.A.values[entry]), there = row_sizes.floats[row];
            if (size != 0 && there != 0 && sizes.floats[column] == 0) part.take(column, there / size, row, entry, true);
        });
    });
    if (n_sizes == 0) {  // no variable tells another one anything
        learn(offers, row_sizes, true, size_of, sizes);
        return;
    }
    Known near(sizes), near_rows(problem.n_rows, sizes.is_exact()), far(n, sizes.is_exact());
    HandOn<Index, Offer>(problem, false, size_of, near, near_rows, n_threads, &row_sizes).run();
    learn(offers, row_sizes, true, size_of, far);
    over_range(n, threads_for(n, n_threads), [&](u64 first, u64 last) {
        for (u64 j = first; j < last; ++j) {
            if (sizes.floats[j] != 0) continue;
            const bool takes_far = far.floats[j] > 0 && (near.floats[j] == 0 || far.floats[j] < near.floats[j]);
            sizes.take(j, takes_far ? far : near);
        }
    });
    for (u64 i = 0; i < row_sizes.floats.size(); ++i)
        if (row_sizes.floats[i] == 0) row_sizes.take(i, near_rows);
}

struct MassArrays {
    double* floats;
    u64* images;
};

// Size times price, the least of each class for all its members.
inline void multiply_within_classes(const Known& sizes, const Known& prices, const i64* labels, u64 n_classes,
                                    const MassArrays& out, u32 n_threads) {
    constexpr u64 nobody = ~u64(0);
    const u64 size = sizes.floats.size();
    const u32 n_parts = threads_for(size, n_threads);
    over_range(size, n_parts, [&](u64 begin, u64 end) {
        for (u64 k = begin; k < end; ++k) {
            const double mass = sizes.floats[k] * prices.floats[k];
            const bool is_known = mass > 0 && std::isfinite(mass);
            out.floats[k] = is_known ? mass : 1.0;
            out.images[k] = is_known ? field_multiply(sizes.images[k], prices.images[k]) : 1;
        }
    });
    if (n_classes == size) return;  // each is alone
    Array<u64> least(n_classes, nobody);
    for (u64 k = 0; k < size; ++k) {
        u64& first = least[u64(labels[k])];
        if (first == nobody || out.floats[k] < out.floats[first]) first = k;
    }
    Array<double> floats(n_classes);
    Array<u64> images(n_classes);
    for (u64 c = 0; c < n_classes; ++c) {
        floats[c] = least[c] == nobody ? 1.0 : out.floats[least[c]];
        images[c] = least[c] == nobody ? 1 : out.images[least[c]];
    }
    over_range(size, n_parts, [&](u64 begin, u64 end) {
        for (u64 k = begin; k < end; ++k) {
            out.floats[k] = floats[u64(labels[k])];
            out.images[k] = images[u64(labels[k])];
        }
    });
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
                           const Numbers& rows, const Weights* A_read, SizesAndPrices& found, u32 n_threads) {
    const EntrySizes size_in_A(problem.A.values, reading, A_read);
    Known &sizes = found.sizes, &prices = found.prices, &row_sizes = found.row_sizes;
    const auto take_size = [](const Numbers& given, u64 k, Known& known) {
        u64 image = 0;
        size_of_interval(given.low[k], given.high[k], given.low_image[k], given.high_image[k], known.floats[k], image);
        if (known.is_exact()) known.images[k] = image;
    };
    over_range(problem.n_variables, threads_for(problem.n_variables, n_threads), [&](u64 first, u64 last) {
        for (u64 j = first; j < last; ++j) {
            take_size(variables, j, sizes);
            if (variables.cost_image[j] == 0) continue;
            const double cost = variables.cost[j];
            prices.floats[j] = std::fabs(cost);
            if (prices.is_exact())
                prices.images[j] = cost < 0 ? field_negate(variables.cost_image[j]) : variables.cost_image[j];
        }
    });
    over_range(problem.n_rows, threads_for(problem.n_rows, n_threads), [&](u64 first, u64 last) {
        for (u64 i = first; i < last; ++i) take_size(rows, i, row_sizes);
    });
    hand_on_from_bounds<Index, Offer>(problem, size_in_A, sizes, row_sizes, n_threads);
    HandOn<Index, Offer>(problem, false, size_in_A, sizes, row_sizes, n_threads).run();
    if (problem.has_P()) {
        Offers<Offer> offers(problem.n_variables, false, n_threads);
        offers.make_by_majors(problem.P, false, [&](auto& part, u32 first, u32 last) {
            for (u32 j = first; j < last; ++j)
                for (u64 e = u64(problem.P.offsets[j]), end = u64(problem.P.offsets[j + 1]); e < end; ++e) {
                    const u32 k = u32(problem.P.indices[e]);
                    if (prices.floats[k] != 0 || sizes.floats[j] == 0 || problem.P.values[e] == 0) continue;
                    part.take(k, std::fabs(problem.P.values[e]) * sizes.floats[j], j, e, false);
                }
        });
        const EntrySizes size_in_P(problem.P.values, reading, nullptr);
        learn(offers, sizes, false, size_in_P, prices);
    }
    HandOn<Index, Offer>(problem, true, size_in_A, prices, found.row_prices, n_threads).run();
}

// Bounds and costs of the variables, then bounds of the rows; labels of both, and the masses of both, which are written.
// What they are products of is returned. A_read is null, or the values of A as they were read before.
template <class Index>
SizesAndPrices find_masses(const Problem<Index>& problem, Reading reading, const OwnNumbers& variables, const OwnNumbers& rows,
                           const i64* labels, const i64* row_labels, u64 n_classes, u64 n_row_classes,
                           const MassArrays& out, const MassArrays& row_out, const Weights* A_read = nullptr,
                           u32 n_threads = 1) {
    SizesAndPrices found(problem.n_variables, problem.n_rows, true);
    find_sizes_and_prices<Offer>(problem, reading, variables, rows, A_read, found, n_threads);
    multiply_within_classes(found.sizes, found.prices, labels, n_classes, out, n_threads);
    multiply_within_classes(found.row_sizes, found.row_prices, row_labels, n_row_classes, row_out, n_threads);
    return found;
}

// The same in floats alone, where each is in a class of its own.
template <class Index, class Numbers>
SizesAndPrices find_masses(const Problem<Index>& problem, const Numbers& variables, const Numbers& rows, double* masses,
                           double* row_masses, u32 n_threads = 1) {
    SizesAndPrices found(problem.n_variables, problem.n_rows, false);
    find_sizes_and_prices<FloatOffer>(problem, Reading::decimal, variables, rows, nullptr, found, n_threads);
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
