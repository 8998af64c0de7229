// Labels of points by the nearest of a few centres, where a point x is described by its signature
//
//   s(x) = sorted distances from x to the anchors, divided by the square root of their number.
//
// s is 1-Lipschitz, and so is the distance of s from the bisector of two centres a and b,
// (|s-b|^2 - |s-a|^2) / (2 |a-b|). One signature, taken at the middle of a cell of radius r, therefore decides all
// points of the cell when every bisector is farther than r; otherwise the cell is halved. What a parent knows bounds
// what its halves can know, so that many cells are decided, or halved, without a signature of their own.
//
// Nothing is sorted: with distances rounded to 2048 steps h and c_b anchors in the steps up to b, summation by parts
// gives the inner product of the rounded signature and a vector u with prefix sums U,
//
//   <s, u> = (top step) U_m - h sum_b U[c_b],
//
// and rounding, being monotone, moves the signature by exactly the root mean square of what it moves the distances.
// The slack of a decision covers this and the rounding of the sums. A single point that the rounded signature leaves
// open is decided by a sorted one (16 bits), and if that leaves it open by the caller (label -1).
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

class SignatureLabels {
public:
    // centres: k x n_anchors, each ascending, divided by the root of n_anchors like the signatures.
    SignatureLabels(const float* points, std::size_t n_points, std::size_t n_features, const float* anchors,
                    std::size_t n_anchors, const double* centres, std::size_t k, std::int32_t* labels)
        : points_(points), n_features_(n_features), anchors_(anchors, n_anchors, n_features), n_anchors_(n_anchors),
          k_(k), stride_(anchors_.stride()), labels_(labels), order_(n_points), numbers_(stride_), keys_(stride_),
          spare_(stride_), sorted_(stride_, 0.0f), shifted_(k * stride_, 0.0f),
          group_stride_((k + lane_count - 1) / lane_count * lane_count), prefix_((n_anchors + 1) * group_stride_, 0.0f),
          counts_(n_steps + 1), offsets_(k), norms_(k), apart_(k * k, 0.0), scores_(k) {
        for (std::size_t i = 0; i < n_points; ++i) order_[i] = std::uint32_t(i);
        prepare(centres);
        farthest_ = farthest_distance(n_points);
        if (!(farthest_ > 1e-30)) farthest_ = 1e-30;  // all points are one: any unit will do
        step_ = farthest_ / 65535.0;
        slack_ = 2.0 * step_ + 2e-6 * farthest_;
    }

    // Labels every point; returns how many signatures were taken.
    std::int64_t run() {
        if (!order_.empty()) {
            const double nothing = std::numeric_limits<double>::infinity();
            std::vector<Cell> stack{{0, order_.size(), {}, -nothing, nothing, -1}};
            while (!stack.empty()) {
                Cell cell = std::move(stack.back());
                stack.pop_back();
                settle(cell, stack);
            }
        }
        return n_signatures_;
    }

private:
    static constexpr std::int32_t n_steps = 2048;

    struct Cell {
        std::size_t begin, end;
        std::vector<float> parent_middle;
        double least_margin, most_margin;  // of the parent, at its middle
        std::int32_t parent_label;
    };

    void prepare(const double* centres) {
        std::vector<double> mean(n_anchors_, 0.0);
        for (std::size_t c = 0; c < k_; ++c)
            for (std::size_t a = 0; a < n_anchors_; ++a) mean[a] += centres[c * n_anchors_ + a] / double(k_);
        for (std::size_t c = 0; c < k_; ++c) {
            double square = 0.0, with_mean = 0.0;
            for (std::size_t a = 0; a < n_anchors_; ++a) {
                const double shifted = centres[c * n_anchors_ + a] - mean[a];
                square += shifted * shifted;
                with_mean += shifted * mean[a];
                shifted_[c * stride_ + a] = float(shifted);
            }
            double sum = 0.0;
            for (std::size_t a = 0; a < n_anchors_; ++a) {
                sum += centres[c * n_anchors_ + a] - mean[a];
                prefix_[(a + 1) * group_stride_ + c] = float(sum);
            }
            norms_[c] = std::sqrt(square);
            offsets_[c] = square + 2.0 * with_mean;  // |s-c|^2 = offset - 2 <s, c - mean> + terms without c
            for (std::size_t other = 0; other < k_; ++other) {
                double apart = 0.0;
                for (std::size_t a = 0; a < n_anchors_; ++a) {
                    const double difference = centres[c * n_anchors_ + a] - centres[other * n_anchors_ + a];
                    apart += difference * difference;
                }
                apart_[c * k_ + other] = std::sqrt(apart);
            }
        }
    }

    // An upper bound on every distance between a point (or the middle of points) and an anchor.
    double farthest_distance(std::size_t n_points) const {
        double square = 0.0;
        for (std::size_t f = 0; f < n_features_; ++f) {
            float least = std::numeric_limits<float>::infinity(), most = -least;
            for (std::size_t i = 0; i < n_points; ++i) {
                least = std::min(least, points_[i * n_features_ + f]);
                most = std::max(most, points_[i * n_features_ + f]);
            }
            for (std::size_t a = 0; a < n_anchors_; ++a) {
                least = std::min(least, anchors_.at(a)[f * lane_count]);
                most = std::max(most, anchors_.at(a)[f * lane_count]);
            }
            square += (double(most) - double(least)) * (double(most) - double(least));
        }
        return std::sqrt(square);
    }

    void sort_distances(const float* x) {
        const float scale = float(65535.0 / farthest_);
        for (std::size_t j = 0; j < stride_; j += lane_count) {
            Floats square = {};
            for (std::size_t f = 0; f < n_features_; ++f)
                square = accumulate<KernelKind::rbf>(square, all<Floats>(x[f]), load<Floats>(anchors_.at(j) + f * lane_count));
            const Floats rounded = square_root(square) * scale + 0.5f;
            store(&numbers_[j], __builtin_convertvector(rounded, Ints));
        }
        for (std::size_t j = 0; j < n_anchors_; ++j) keys_[j] = std::uint16_t(std::max(0, std::min(numbers_[j], 65535)));
        std::uint32_t low[256] = {}, high[256] = {};
        for (std::size_t j = 0; j < n_anchors_; ++j) {
            ++low[keys_[j] & 255];
            ++high[keys_[j] >> 8];
        }
        std::uint32_t before_low = 0, before_high = 0;
        for (int byte = 0; byte < 256; ++byte) {
            before_low += std::exchange(low[byte], before_low);
            before_high += std::exchange(high[byte], before_high);
        }
        for (std::size_t j = 0; j < n_anchors_; ++j) spare_[low[keys_[j] & 255]++] = keys_[j];
        for (std::size_t j = 0; j < n_anchors_; ++j) sorted_[high[spare_[j] >> 8]++] = float(spare_[j]);
    }

    // By the signature rounded to few steps: the nearest centre, the distance to its nearest bisector, the slack.
    std::int32_t nearest_roughly(const float* x, double& least_margin, double& most_margin) {
        ++n_signatures_;
        const double step = farthest_ / double(n_steps);
        const float scale = float(1.0 / step);
        std::fill(counts_.begin(), counts_.end(), 0);
        Floats squares = {};
        for (std::size_t j = 0; j < stride_; j += lane_count) {
            Floats square = {};
            for (std::size_t f = 0; f < n_features_; ++f)
                square = accumulate<KernelKind::rbf>(square, all<Floats>(x[f]), load<Floats>(anchors_.at(j) + f * lane_count));
            const Floats distance = square_root(square) * scale;
            const Ints number = __builtin_convertvector(distance + 0.5f, Ints);
            const Floats moved = distance - __builtin_convertvector(number, Floats);
            squares += moved * moved;  // the padding adds a little: the slack only grows
            store(&numbers_[j], number);
        }
        for (std::size_t j = 0; j < n_anchors_; ++j) ++counts_[std::size_t(std::max(0, std::min(numbers_[j], n_steps)))];
        const std::size_t groups = group_stride_ / lane_count;
        for (std::size_t group = 0; group < groups; ++group) {
            Floats total = {};
            const float* prefix = prefix_.data() + group * lane_count;
            std::size_t below = 0;
            int b = 0;
            while (b < n_steps && below < n_anchors_) {
                Floats part = {};
                const int end = std::min(b + 256, int(n_steps));
                for (; b < end; ++b) {
                    below += std::size_t(counts_[std::size_t(b)]);
                    part += load<Floats>(prefix + below * group_stride_);
                }
                total += part;
            }
            const Floats last = load<Floats>(prefix + n_anchors_ * group_stride_);
            const double unit = step / std::sqrt(double(n_anchors_));
            for (std::size_t lane = 0; lane < lane_count && group * lane_count + lane < k_; ++lane) {
                const std::size_t c = group * lane_count + lane;
                const double steps = double(b) * double(last[lane]) - double(total[lane]);
                scores_[c] = offsets_[c] - 2.0 * unit * steps;
            }
        }
        double moved = 0.0;
        for (std::size_t lane = 0; lane < lane_count; ++lane) moved += double(squares[lane]);
        const double slack = step * std::sqrt(moved / double(n_anchors_)) + 2e-6 * farthest_;
        // No partial sum above is made of more than 264 terms in single precision: 264 * 2^-24 < 2e-5.
        return best_of_scores(2e-5, slack, least_margin, most_margin);
    }

    // By the signature rounded to 16 bits and sorted.
    std::int32_t nearest_closely(const float* x, double& least_margin, double& most_margin) {
        ++n_signatures_;
        sort_distances(x);
        const double scale = step_ / std::sqrt(double(n_anchors_));
        for (std::size_t c = 0; c < k_; ++c) {
            double total = 0.0;
            for (std::size_t begin = 0; begin < stride_; begin += 1024) {
                Floats sums = {};
                const std::size_t end = std::min(begin + 1024, stride_);
                for (std::size_t j = begin; j < end; j += lane_count)
                    sums += load<Floats>(&sorted_[j]) * load<Floats>(&shifted_[c * stride_ + j]);
                for (std::size_t lane = 0; lane < lane_count; ++lane) total += double(sums[lane]);
            }
            scores_[c] = offsets_[c] - 2.0 * scale * total;
        }
        return best_of_scores(5e-6, slack_, least_margin, most_margin);
    }

    // The best centre and bounds on the distance to its nearest bisector, given the relative error of the inner
    // products and by how much the signature itself may be off.
    std::int32_t best_of_scores(double rounding, double slack, double& least_margin, double& most_margin) const {
        std::size_t best = 0;
        for (std::size_t c = 1; c < k_; ++c)
            if (scores_[c] < scores_[best]) best = c;
        least_margin = most_margin = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < k_; ++c) {
            const double apart = apart_[best * k_ + c];
            if (c == best || !(apart > 0.0)) continue;
            const double margin = (scores_[c] - scores_[best]) / (2.0 * apart);
            const double error = slack + rounding * farthest_ * (norms_[best] + norms_[c]) / apart;
            least_margin = std::min(least_margin, margin - error);
            most_margin = std::min(most_margin, margin + error);
        }
        for (std::size_t c = 0; c < best; ++c)
            if (apart_[best * k_ + c] == 0.0) return std::int32_t(c);  // equal centres: the lowest number
        return std::int32_t(best);
    }

    void settle(const Cell& cell, std::vector<Cell>& stack) {
        std::vector<float> least(n_features_, std::numeric_limits<float>::infinity());
        std::vector<float> most(n_features_), middle(n_features_);
        for (std::size_t f = 0; f < n_features_; ++f) most[f] = -least[f];
        for (std::size_t at = cell.begin; at < cell.end; ++at)
            for (std::size_t f = 0; f < n_features_; ++f) {
                const float value = points_[std::size_t(order_[at]) * n_features_ + f];
                least[f] = std::min(least[f], value);
                most[f] = std::max(most[f], value);
            }
        double from_parent = 0.0;
        std::size_t longest = 0;
        for (std::size_t f = 0; f < n_features_; ++f) {
            middle[f] = least[f] + 0.5f * (most[f] - least[f]);
            if (most[f] - least[f] > most[longest] - least[longest]) longest = f;
            if (!cell.parent_middle.empty()) {
                const double moved = double(middle[f]) - double(cell.parent_middle[f]);
                from_parent += moved * moved;
            }
        }
        float square = 0.0f;
        for (std::size_t at = cell.begin; at < cell.end; ++at) {
            float to_middle = 0.0f;
            for (std::size_t f = 0; f < n_features_; ++f) {
                const float difference = points_[std::size_t(order_[at]) * n_features_ + f] - middle[f];
                to_middle += difference * difference;
            }
            square = std::max(square, to_middle);
        }
        const double radius = std::sqrt(double(square)) * (1.0 + 1e-5);
        from_parent = std::sqrt(from_parent) * (1.0 + 1e-9);
        double least_margin = cell.least_margin - from_parent, most_margin = cell.most_margin + from_parent;
        std::int32_t label = cell.parent_label;
        const bool is_point = most[longest] == least[longest];
        if (!(least_margin > radius) && (is_point || most_margin > radius)) {
            label = nearest_roughly(middle.data(), least_margin, most_margin);
            if (is_point && !(least_margin > 0.0)) label = nearest_closely(middle.data(), least_margin, most_margin);
        }
        if (least_margin > radius || is_point) {
            if (!(least_margin > 0.0)) label = -1;
            for (std::size_t at = cell.begin; at < cell.end; ++at) labels_[order_[at]] = label;
            return;
        }
        // Between neighbouring numbers the middle may be the upper one; both halves must have points.
        const float cut = middle[longest] < most[longest] ? middle[longest] : least[longest];
        const auto begin = order_.begin() + std::ptrdiff_t(cell.begin), end = order_.begin() + std::ptrdiff_t(cell.end);
        const auto half = std::partition(begin, end, [&](std::uint32_t i) {
            return points_[std::size_t(i) * n_features_ + longest] <= cut;
        });
        const std::size_t at = cell.begin + std::size_t(half - begin);
        stack.push_back({cell.begin, at, middle, least_margin, most_margin, label});
        stack.push_back({at, cell.end, std::move(middle), least_margin, most_margin, label});
    }

    const float* points_;
    std::size_t n_features_;
    PointsByFeature anchors_;
    std::size_t n_anchors_, k_, stride_;
    std::int32_t* labels_;
    std::vector<std::uint32_t> order_;
    std::vector<std::int32_t> numbers_;
    std::vector<std::uint16_t> keys_, spare_;
    std::vector<float> sorted_, shifted_;
    std::size_t group_stride_;
    std::vector<float> prefix_;  // sums of the first centres' entries, one row for each number of anchors
    std::vector<std::int32_t> counts_;
    std::vector<double> offsets_, norms_, apart_, scores_;
    double farthest_ = 0.0, step_ = 1.0, slack_ = 0.0;
    std::int64_t n_signatures_ = 0;
};

inline std::int64_t label_by_signature(const float* points, std::size_t n_points, std::size_t n_features,
                                       const float* anchors, std::size_t n_anchors, const double* centres,
                                       std::size_t k, std::int32_t* labels) {
    return SignatureLabels(points, n_points, n_features, anchors, n_anchors, centres, k, labels).run();
}

}  // namespace relift::ml::RELIFT_ML_TARGET
