// Sequential minimal optimisation with cached kernel rows, up to a proved duality gap.
//
// In each step i has the largest slope among those that may grow, j gains most to second order among those that may
// shrink [1]; the best t, clipped to the box, moves from j to i. Examples that sit at a bound and are pushed against it
// by all others leave the active set when many can; at the end v is computed for all of them, and those that violate
// come back. The duality gap is a sum over examples of nonnegative terms: with p = v - b,
//
//   max(0, hi (p - epsilon), lo (p + epsilon)) - beta p + epsilon |beta|,
//
// and proves how far beta is from the optimum for any b; the best b is found by bisection. Any other function proves it
// as well: f + b, scaled a little so that margins which are missed by a hair are met, has a much smaller primal value
// when C is large.
//
// [1] Fan, Chen, Lin: Working Set Selection Using Second Order Information for Training SVMs, JMLR 6, 2005.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

RELIFT_ML_INLINE Doubles load_as_double(const double* from) { return load<Doubles>(from); }
RELIFT_ML_INLINE Doubles load_as_double(const float* from) {
    return __builtin_convertvector(load<HalfFloats>(from), Doubles);
}

// The active part of a dual, packed into whole lanes. `grow` is what v lacks of the slope of growing: -epsilon or
// epsilon, or minus infinity where the variable cannot grow; `shrink` is the same for shrinking.
template <class Real> struct ActivePart {
    std::size_t size = 0, stride = 0;
    std::vector<double> v, beta, lo, hi, c;
    std::vector<Real> diagonal;
    std::vector<float> grow, shrink;  // of a step's memory traffic they are a large part

    void resize(std::size_t new_size) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        size = new_size;
        stride = (new_size + lane_count - 1) / lane_count * lane_count;
        for (auto* array : {&v, &beta, &lo, &hi, &c}) {
            array->resize(new_size);
            array->resize(stride, 0.0);
        }
        diagonal.resize(new_size);
        diagonal.resize(stride, Real(1));
        grow.resize(new_size);
        grow.resize(stride, -infinity);
        shrink.resize(new_size);
        shrink.resize(stride, infinity);
    }

    void judge(std::size_t p, double epsilon) {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        const float width = float(epsilon);
        grow[p] = beta[p] < 0.0 ? width : beta[p] < hi[p] ? -width : -infinity;
        shrink[p] = beta[p] > 0.0 ? -width : beta[p] > lo[p] ? width : infinity;
    }

    void keep(const std::vector<std::uint32_t>& positions) {
        for (auto* array : {&v, &beta, &lo, &hi, &c}) pick(*array, positions);
        for (auto* array : {&grow, &shrink}) pick(*array, positions);
        pick(diagonal, positions);
        resize(positions.size());
    }

private:
    template <class Array> static void pick(Array& array, const std::vector<std::uint32_t>& positions) {
        for (std::size_t p = 0; p < positions.size(); ++p) array[p] = array[positions[p]];
    }
};

struct Extremes {
    double highest, lowest;  // the largest slope of growing, the smallest of shrinking
    std::size_t i;
};

// v -= moved (K_i - K_j), then the extremes.
template <class Real>
RELIFT_ML_INLINE Extremes update_and_find(ActivePart<Real>& part, const Real* row_i, const Real* row_j, double moved) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr std::size_t width = LanesOf<double>::count;
    double* v = part.v.data();
    const float *grow = part.grow.data(), *shrink = part.shrink.data();
    Longs at;
    for (std::size_t lane = 0; lane < width; ++lane) at[lane] = std::int64_t(lane);
    Doubles top = all<Doubles>(-infinity), bottom = all<Doubles>(infinity);
    Longs top_at{};
    for (std::size_t k = 0; k < part.stride; k += width) {
        Doubles value = load<Doubles>(v + k);
        value -= (load_as_double(row_i + k) - load_as_double(row_j + k)) * moved;
        store(v + k, value);
        const Doubles up = value + load_as_double(grow + k), down = value + load_as_double(shrink + k);
        const auto higher = up > top;
        top = higher ? up : top;
        top_at = higher ? at : top_at;
        bottom = down < bottom ? down : bottom;
        at += std::int64_t(width);
    }
    Extremes found{-infinity, infinity, 0};
    for (std::size_t lane = 0; lane < width; ++lane) {
        if (top[lane] > found.highest || (top[lane] == found.highest && std::size_t(top_at[lane]) < found.i)) {
            found.highest = top[lane];
            found.i = std::size_t(top_at[lane]);
        }
        found.lowest = std::min(found.lowest, double(bottom[lane]));
    }
    return found;
}

// The partner that gains most: (highest - down)^2 / curvature, compared without division.
template <class Real>
RELIFT_ML_INLINE std::size_t best_partner(const ActivePart<Real>& part, const Real* row_i, double highest, double diagonal_i,
                                          double least_curvature) {
    constexpr std::size_t width = LanesOf<double>::count;
    const double* v = part.v.data();
    const float* shrink = part.shrink.data();
    const Real* diagonal = part.diagonal.data();
    Longs at;
    for (std::size_t lane = 0; lane < width; ++lane) at[lane] = std::int64_t(lane);
    Doubles best = {}, best_curvature = all<Doubles>(1.0);
    Longs best_at = at - at - 1;
    const Doubles least = all<Doubles>(least_curvature), zero = {};
    for (std::size_t k = 0; k < part.stride; k += width) {
        Doubles difference = highest - (load<Doubles>(v + k) + load_as_double(shrink + k));
        difference = difference > zero ? difference : zero;
        Doubles curvature = load_as_double(diagonal + k) + diagonal_i - load_as_double(row_i + k) * 2.0;
        curvature = curvature > least ? curvature : least;
        const Doubles square = difference * difference;
        const auto higher = square * best_curvature > best * curvature;
        best = higher ? square : best;
        best_curvature = higher ? curvature : best_curvature;
        best_at = higher ? at : best_at;
        at += std::int64_t(width);
    }
    std::size_t j = std::size_t(-1);
    double gain = 0.0;
    for (std::size_t lane = 0; lane < width; ++lane) {
        if (best_at[lane] < 0) continue;
        const double here = best[lane] / best_curvature[lane];
        if (here > gain || (here == gain && std::size_t(best_at[lane]) < j)) {
            gain = here;
            j = std::size_t(best_at[lane]);
        }
    }
    return j;
}

// The sum of the terms of the gap for one b, and how it changes with b.
struct GapAt {
    double total, slope;
};
template <class Real> RELIFT_ML_INLINE GapAt gap_at(const ActivePart<Real>& part, double b, double epsilon) {
    constexpr std::size_t width = LanesOf<double>::count;
    Doubles total = {}, slope = {};
    const Doubles zero = {};
    for (std::size_t k = 0; k < part.stride; k += width) {
        const Doubles push = load<Doubles>(part.v.data() + k) - b, beta = load<Doubles>(part.beta.data() + k);
        const Doubles hi = load<Doubles>(part.hi.data() + k), lo = load<Doubles>(part.lo.data() + k);
        const Doubles above = push - epsilon, below = push + epsilon;
        const Doubles size = beta < zero ? -beta : beta;
        const Doubles gain = above > zero ? hi * above : below < zero ? lo * below : zero;
        total += gain - beta * push + size * epsilon;
        slope += (above > zero ? -hi : below < zero ? -lo : zero) + beta;
    }
    GapAt found{0.0, 0.0};
    for (std::size_t lane = 0; lane < width; ++lane) {
        found.total += total[lane];
        found.slope += slope[lane];
    }
    return found;
}

// The sum of max(0, hi (p - epsilon), lo (p + epsilon)) for the function scale * f + b.
template <class Real>
RELIFT_ML_INLINE double losses_at(const ActivePart<Real>& part, double scale, double b, double epsilon) {
    constexpr std::size_t width = LanesOf<double>::count;
    Doubles total = {};
    const Doubles zero = {};
    for (std::size_t k = 0; k < part.stride; k += width) {
        const Doubles c = load<Doubles>(part.c.data() + k), v = load<Doubles>(part.v.data() + k);
        const Doubles push = c - (c - v) * scale - b;
        const Doubles above = push - epsilon, below = push + epsilon;
        const Doubles hi = load<Doubles>(part.hi.data() + k), lo = load<Doubles>(part.lo.data() + k);
        total += above > zero ? hi * above : below < zero ? lo * below : zero;
    }
    double sum = 0.0;
    for (std::size_t lane = 0; lane < width; ++lane) sum += total[lane];
    return sum;
}

template <class Real> class SmoMachine final : public DualMachine {
public:
    SmoMachine(std::unique_ptr<RowSource<Real>> source, std::size_t most_bytes)
        : source_(std::move(source)), cache_(*source_, most_bytes), diagonal_(source_->size()) {
        for (std::size_t i = 0; i < diagonal_.size(); ++i) diagonal_[i] = source_->diagonal(i);
    }

    std::size_t size() const override { return source_->size(); }

    DualOutcome solve(const DualProblem& problem, double* beta, double* v, bool is_v_given,
                      const DualLimits& limits) override {
        problem_ = problem;
        beta_ = beta;
        v_ = v;
        limits_ = &limits;
        begin(is_v_given);
        DualOutcome outcome = run();
        unload();
        outcome.kernel_values = cache_.computed();
        return outcome;
    }

private:
    void begin(bool is_v_given) {
        const std::size_t n = size();
        std::vector<std::uint32_t> everything(n);
        for (std::size_t i = 0; i < n; ++i) everything[i] = std::uint32_t(i);
        if (!is_v_given) compute_v(everything);
        if (source_->keeps_rows())
            cache_.start_anew();
        else
            bring_back([](std::size_t) { return true; });
        departures_.clear();
        load();
        measure_outside();
        value_ = 0.0;
        for (std::size_t i = 0; i < n; ++i)
            value_ += 0.5 * beta_[i] * (problem_.c[i] + v_[i]) - problem_.epsilon * std::abs(beta_[i]);
        start_ = clock();
    }

    void compute_v(const std::vector<std::uint32_t>& rows) {
        std::vector<std::uint32_t> support;
        std::vector<double> weights;
        for (std::size_t i = 0; i < size(); ++i)
            if (beta_[i] != 0.0) {
                support.push_back(std::uint32_t(i));
                weights.push_back(beta_[i]);
            }
        std::vector<double> sums(rows.size(), 0.0);
        if (!support.empty()) source_->sums(rows, support, weights, sums.data());
        for (std::size_t r = 0; r < rows.size(); ++r) v_[rows[r]] = problem_.c[rows[r]] - sums[r];
    }

    // The same for examples that left the active set, from what their v was then: only what has changed since is added.
    void follow_departed() {
        for (Departure& departure : departures_) {
            std::vector<std::uint32_t> changed;
            std::vector<double> by;
            std::size_t n_support = 0;
            for (std::size_t i = 0; i < size(); ++i) {
                n_support += beta_[i] != 0.0;
                if (beta_[i] == departure.beta[i]) continue;
                changed.push_back(std::uint32_t(i));
                by.push_back(beta_[i] - departure.beta[i]);
            }
            if (changed.size() >= n_support) {
                compute_v(departure.examples);
            } else if (!changed.empty()) {
                std::vector<double> sums(departure.examples.size());
                source_->sums(departure.examples, changed, by, sums.data());
                for (std::size_t r = 0; r < sums.size(); ++r) v_[departure.examples[r]] -= sums[r];
            }
            std::copy_n(beta_, size(), departure.beta.begin());
        }
    }

    // Examples outside the active set that are wanted are appended to it.
    template <class Wanted> std::size_t bring_back(Wanted&& is_wanted) {
        if (cache_.columns().size() == size()) return 0;
        std::vector<char> is_active(size(), 0);
        for (const std::uint32_t i : cache_.columns()) is_active[i] = 1;
        std::vector<std::uint32_t> added;
        for (std::size_t i = 0; i < size(); ++i)
            if (!is_active[i] && is_wanted(i)) added.push_back(std::uint32_t(i));
        if (!added.empty()) cache_.append(added);
        return added.size();
    }

    void load() {
        const std::vector<std::uint32_t>& columns = cache_.columns();
        part_.resize(columns.size());
        for (std::size_t p = 0; p < columns.size(); ++p) {
            const std::size_t i = columns[p];
            part_.v[p] = v_[i];
            part_.beta[p] = beta_[i];
            part_.lo[p] = problem_.lo[i];
            part_.hi[p] = problem_.hi[i];
            part_.c[p] = problem_.c[i];
            part_.diagonal[p] = diagonal_[i];
            part_.judge(p, problem_.epsilon);
        }
    }

    void unload() {
        const std::vector<std::uint32_t>& columns = cache_.columns();
        for (std::size_t p = 0; p < columns.size(); ++p) {
            v_[columns[p]] = part_.v[p];
            beta_[columns[p]] = part_.beta[p];
        }
    }

    DualOutcome run() {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        DualOutcome outcome{DualStatus::gap_reached, 0, 0, infinity, 0.0, 0.0, infinity, infinity, 1.0};
        std::int64_t next_check = first_check, last_shrinking = 0;
        double share = 1.0;  // of the gap that the active part may have
        const Real *row_i = nullptr, *row_j = nullptr;
        std::vector<Real> nothing(part_.stride, Real(0));
        row_i = row_j = nothing.data();
        double moved = 0.0;
        bool is_start = source_->keeps_rows();
        for (;;) {
            const Extremes found = update_and_find<Real>(part_, row_i, row_j, moved);
            const bool is_open = found.highest > -infinity && found.lowest < infinity;
            const double violation = is_open ? std::max(0.0, found.highest - found.lowest) : 0.0;
            const bool is_settled = violation <= limits_->tolerance;
            const bool is_over = outcome.steps >= limits_->most_steps;
            // Where rows cost nothing, those that the start has on the right side are left out at once.
            bool is_changed = is_start && !is_settled && !is_over && leave_out(found);
            is_start = false;
            if (is_changed) {
                last_shrinking = outcome.steps;
            } else if (is_settled || is_over || outcome.steps >= next_check) {
                next_check = outcome.steps + std::max<std::int64_t>(first_check, std::int64_t(part_.size / 64));
                judge_gap(found, nullptr, outcome);
                outcome.violation = violation;
                const bool is_late = is_out_of_time(outcome);
                const bool is_good = share_is_good(share, outcome);
                if (is_good || is_settled || is_over || is_late) {
                    const bool was_whole = part_.size == size();
                    const std::size_t n_back = was_whole ? 0 : look_at_all(found, outcome);
                    is_changed = !was_whole;
                    if (share_is_good(1.0, outcome)) {
                        outcome.status = DualStatus::gap_reached;
                        return outcome;
                    }
                    if (is_over || is_late) {
                        if (is_over) outcome.status = DualStatus::step_limit;
                        return outcome;
                    }
                    if (is_settled && n_back == 0) {
                        outcome.status = DualStatus::no_violation;
                        return outcome;
                    }
                    if (n_back == 0) share *= 0.5;
                    last_shrinking = outcome.steps;
                } else if (outcome.steps - last_shrinking >= patience()) {
                    last_shrinking = outcome.steps;
                    is_changed = leave_out(found);
                }
            }
            if (is_changed) {  // positions are new: look again
                nothing.assign(part_.stride, Real(0));
                row_i = row_j = nothing.data();
                moved = 0.0;
                continue;
            }
            const std::size_t i = found.i;
            row_i = cache_.row(cache_.columns()[i]);
            const std::size_t j =
                best_partner<Real>(part_, row_i, found.highest, double(part_.diagonal[i]), least_curvature);
            if (j >= part_.size || j == i) {
                row_j = row_i;
                moved = 0.0;
                // Nothing is left to exchange: tell so by the tolerance.
                judge_gap(found, nullptr, outcome);
                outcome.status = outcome.gap <= limits_->tol_gap ? DualStatus::gap_reached : DualStatus::no_violation;
                if (part_.size < size() && look_at_all(found, outcome) > 0) {
                    nothing.assign(part_.stride, Real(0));
                    row_i = row_j = nothing.data();
                    outcome.status = DualStatus::gap_reached;
                    continue;
                }
                return outcome;
            }
            row_j = cache_.row(cache_.columns()[j]);
            moved = step(i, j, found.highest, double(row_i[j]));
            ++outcome.steps;
        }
    }

    // The gap is reached, and slopes agree: with few free variables the gap hardly depends on b, the slopes do.
    bool share_is_good(double share, const DualOutcome& outcome) const {
        return outcome.gap <= share * limits_->tol_gap && outcome.violation <= limits_->enough;
    }

    // Moves as much as is best from j to i; returns how much.
    double step(std::size_t i, std::size_t j, double highest, double value_ij) {
        const double epsilon = problem_.epsilon;
        const double curvature = std::max(double(part_.diagonal[i]) + double(part_.diagonal[j]) - 2.0 * value_ij, least_curvature);
        double &beta_i = part_.beta[i], &beta_j = part_.beta[j];
        // Where beta is zero the slope jumps by 2 epsilon: a step ends there.
        const double end_i = beta_i < 0.0 && epsilon > 0.0 ? 0.0 : part_.hi[i];
        const double end_j = beta_j > 0.0 && epsilon > 0.0 ? 0.0 : part_.lo[j];
        const double room_i = end_i - beta_i, room_j = beta_j - end_j;
        const double difference = highest - (part_.v[j] + double(part_.shrink[j]));
        double moved = difference / curvature;
        const bool fills_i = moved >= room_i, empties_j = moved >= room_j;
        moved = std::min(moved, std::min(room_i, room_j));
        beta_i = fills_i && room_i <= room_j ? end_i : beta_i + moved;
        beta_j = empties_j && room_j <= room_i ? end_j : beta_j - moved;
        part_.judge(i, epsilon);
        part_.judge(j, epsilon);
        value_ += moved * difference - 0.5 * moved * moved * curvature;
        return moved;
    }

    // The gap for the best b between the extremes. Those outside the active part, if they are not given, are taken for
    // right where they are: they add nothing.
    void judge_gap(const Extremes& found, const ActivePart<Real>* outside, DualOutcome& outcome) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double size = std::max(std::abs(value_), 1e-12);
        double low = std::min(found.highest, found.lowest), high = std::max(found.highest, found.lowest);
        if (!(low > -infinity)) low = high;
        if (!(high < infinity)) high = low;
        if (!(low > -infinity && high < infinity)) low = high = 0.0;
        double least = infinity, best = 0.5 * (low + high);
        for (int round = 0; round < 12 && low <= high; ++round) {
            const double b = 0.5 * (low + high);
            const GapAt here = gap_at(part_, b, problem_.epsilon);
            if (here.total < least) {
                least = here.total;
                best = b;
            }
            // Far from the end the middle will do.
            if (here.slope == 0.0 || low == high || least > 4.0 * limits_->tol_gap * size) break;
            (here.slope > 0.0 ? high : low) = b;
        }
        outcome.bias = best;
        outcome.scale = 1.0;
        outcome.total = std::max(0.0, least);
        if (outside) outcome.total += std::max(0.0, gap_at(*outside, best, problem_.epsilon).total);
        const double missed = 0.5 * (found.highest - found.lowest);
        if (problem_.epsilon == 0.0 && missed > 0.0 && missed < 0.5 && outcome.total > limits_->tol_gap * size) {
            const double scale = 1.0 / (1.0 - missed), middle = 0.5 * (found.highest + found.lowest);
            const double scaled = scaled_gap(scale, scale * middle, outside);
            if (scaled < outcome.total) {
                outcome.bias = middle;
                outcome.scale = scale;
                outcome.total = std::max(0.0, scaled);
            }
        }
        outcome.dual_value = value_;
        outcome.gap = outcome.total / size;
    }

    // Primal value of scale * f + b less the dual value, for epsilon = 0: the square of f is twice c'beta - value.
    double scaled_gap(double scale, double b, const ActivePart<Real>* outside) const {
        double linear = 0.0, product = 0.0, sum = 0.0;
        for (std::size_t p = 0; p < part_.size; ++p) {
            linear += part_.c[p] * part_.beta[p];
            product += part_.v[p] * part_.beta[p];
            sum += part_.beta[p];
        }
        const double whole = linear + linear_outside_;
        double losses = losses_at(part_, scale, b, 0.0);
        if (outside)
            losses += losses_at(*outside, scale, b, 0.0);
        else if (part_.size < size())
            // Sums of beta, of c beta and of v beta over those outside, without looking at them.
            losses += (1.0 - scale) * linear_outside_ + scale * (2.0 * value_ - whole - product) + b * sum;
        return losses + scale * scale * (whole - value_) - value_;
    }

    void measure_outside() {
        linear_outside_ = 0.0;
        if (part_.size == size()) return;
        for (std::size_t i = 0; i < size(); ++i) linear_outside_ += problem_.c[i] * beta_[i];
        for (std::size_t p = 0; p < part_.size; ++p) linear_outside_ -= part_.c[p] * part_.beta[p];
    }

    // Every example: v of those that were left out is computed; those that violate come back. Returns how many did.
    std::size_t look_at_all(const Extremes& found, DualOutcome& outcome) {
        unload();
        follow_departed();
        const double epsilon = problem_.epsilon;
        const std::size_t n_back = bring_back([&](std::size_t i) {
            const bool may_grow = beta_[i] < problem_.hi[i], may_shrink = beta_[i] > problem_.lo[i];
            const double up = v_[i] + (beta_[i] < 0.0 ? epsilon : -epsilon);
            const double down = v_[i] + (beta_[i] > 0.0 ? -epsilon : epsilon);
            return (may_grow && up >= found.lowest) || (may_shrink && down <= found.highest);
        });
        // The gap of all, with the bounds of all: those that are left out still add what they add.
        load();
        measure_outside();
        ActivePart<Real> rest;
        std::vector<char> is_in(size(), 0);
        for (const std::uint32_t i : cache_.columns()) is_in[i] = 1;
        for (Departure& departure : departures_) {
            auto& examples = departure.examples;
            examples.erase(std::remove_if(examples.begin(), examples.end(), [&](std::uint32_t i) { return is_in[i]; }),
                           examples.end());
        }
        departures_.erase(std::remove_if(departures_.begin(), departures_.end(),
                                         [](const Departure& departure) { return departure.examples.empty(); }),
                          departures_.end());
        if (cache_.columns().size() < size()) {
            std::vector<std::uint32_t> out;
            for (std::size_t i = 0; i < size(); ++i)
                if (!is_in[i]) out.push_back(std::uint32_t(i));
            rest.resize(out.size());
            for (std::size_t p = 0; p < out.size(); ++p) {
                rest.v[p] = v_[out[p]];
                rest.beta[p] = beta_[out[p]];
                rest.lo[p] = problem_.lo[out[p]];
                rest.hi[p] = problem_.hi[out[p]];
                rest.c[p] = problem_.c[out[p]];
            }
        }
        std::vector<Real> nothing(part_.stride, Real(0));
        const Extremes now = update_and_find<Real>(part_, nothing.data(), nothing.data(), 0.0);
        judge_gap(now, &rest, outcome);
        outcome.violation = std::isfinite(now.highest - now.lowest) ? std::max(0.0, now.highest - now.lowest) : 0.0;
        return n_back;
    }

    // Steps after which leaving examples out has paid for looking at them again at the end.
    std::int64_t patience() const {
        std::size_t n_support = 0;
        for (std::size_t p = 0; p < part_.size; ++p) n_support += part_.beta[p] != 0.0;
        return std::max<std::int64_t>(300, std::int64_t(source_->cost() * double(n_support)));
    }

    bool leave_out(const Extremes& found) {
        std::vector<std::uint32_t> stay;
        for (std::size_t p = 0; p < part_.size; ++p)
            if (part_.v[p] + double(part_.grow[p]) >= found.lowest || part_.v[p] + double(part_.shrink[p]) <= found.highest)
                stay.push_back(std::uint32_t(p));
        if (4 * stay.size() > 3 * part_.size || stay.size() < 2) return false;
        unload();
        Departure departure{{}, std::vector<double>(beta_, beta_ + size())};
        for (std::size_t p = 0, next = 0; p < part_.size; ++p) {
            if (next < stay.size() && stay[next] == p)
                ++next;
            else
                departure.examples.push_back(cache_.columns()[p]);
        }
        departures_.push_back(std::move(departure));
        part_.keep(stay);
        measure_outside();
        cache_.keep(std::move(stay));
        return true;
    }

    static double clock() { return double(std::clock()) / CLOCKS_PER_SEC; }

    bool is_out_of_time(DualOutcome& outcome) {
        const double now = clock();
        if (limits_->is_interrupted && now - asked_ > 0.2) {
            asked_ = now;
            if (limits_->is_interrupted()) {
                outcome.status = DualStatus::interrupted;
                return true;
            }
        }
        if (now - start_ <= limits_->most_seconds) return false;
        outcome.status = DualStatus::time_limit;
        return true;
    }

    static constexpr double least_curvature = 1e-12;
    static constexpr std::int64_t first_check = 64;

    // Examples that left the active set together, and beta as it is in their v.
    struct Departure {
        std::vector<std::uint32_t> examples;
        std::vector<double> beta;
    };

    std::unique_ptr<RowSource<Real>> source_;
    RowCache<Real> cache_;
    std::vector<Departure> departures_;
    std::vector<Real> diagonal_;
    ActivePart<Real> part_;
    DualProblem problem_{};
    const DualLimits* limits_ = nullptr;
    double *beta_ = nullptr, *v_ = nullptr;
    double value_ = 0.0, linear_outside_ = 0.0, start_ = 0.0, asked_ = 0.0;
};

template <class Real>
std::unique_ptr<DualMachine> machine_of_points(const Real* points, std::size_t n, std::size_t n_features,
                                               const Kernel& kernel, std::size_t most_bytes) {
    return std::make_unique<SmoMachine<Real>>(std::make_unique<PointRows<Real>>(points, n, n_features, kernel),
                                              most_bytes);
}

template <class Real>
std::unique_ptr<DualMachine> machine_of_kept_points(const Real* points, std::size_t n, std::size_t n_features,
                                                    const Kernel& kernel, std::size_t most_bytes) {
    return std::make_unique<SmoMachine<Real>>(std::make_unique<KeptPointRows<Real>>(points, n, n_features, kernel),
                                              most_bytes);
}

template <class Real>
std::unique_ptr<DualMachine> machine_of_matrix(const Real* K, std::size_t n, std::vector<std::uint32_t> members,
                                               std::size_t most_bytes) {
    return std::make_unique<SmoMachine<Real>>(std::make_unique<MatrixRows<Real>>(K, n, std::move(members)), most_bytes);
}

template <class Real>
std::unique_ptr<DualMachine> machine_of_sparse(const double* values, const std::int32_t* features,
                                               const std::int32_t* begin, std::size_t n, std::size_t n_features,
                                               const Kernel& kernel, std::size_t most_bytes) {
    return std::make_unique<SmoMachine<Real>>(
        std::make_unique<SparseRows<Real>>(values, features, begin, n, n_features, kernel), most_bytes);
}

template <class Real>
std::unique_ptr<DualMachine> machine_of_function(std::size_t n, std::vector<Real> diagonal,
                                                 typename std::function<void(std::size_t, const std::uint32_t*,
                                                                             std::size_t, Real*)> work,
                                                 std::size_t most_bytes) {
    return std::make_unique<SmoMachine<Real>>(
        std::make_unique<FunctionRows<Real>>(n, std::move(diagonal), std::move(work)), most_bytes);
}

// Machines of pairs of labels that share what they can.
template <class Real> class SharedLabels final : public PairsOfLabels {
public:
    SharedLabels(const Real* points, std::size_t n_features, std::vector<std::size_t> begin, const Kernel& kernel,
                 std::size_t most_bytes)
        : shared_(std::make_shared<LabelRows<Real>>(points, n_features, std::move(begin), kernel, most_bytes)) {}
    std::unique_ptr<DualMachine> machine(std::size_t first, std::size_t second, std::size_t most_bytes) override {
        return std::make_unique<SmoMachine<Real>>(std::make_unique<PairRows<Real>>(shared_, first, second), most_bytes);
    }

private:
    std::shared_ptr<LabelRows<Real>> shared_;
};

template <class Real>
std::unique_ptr<PairsOfLabels> shared_labels(const Real* points, std::size_t n_features, std::vector<std::size_t> begin,
                                             const Kernel& kernel, std::size_t most_bytes) {
    return std::make_unique<SharedLabels<Real>>(points, n_features, std::move(begin), kernel, most_bytes);
}

}  // namespace relift::ml::RELIFT_ML_TARGET
