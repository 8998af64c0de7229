// Where the rows of a kernel matrix come from, one at a time, over a list of columns that may change.
//
// A solver asks for the kernel between one example and those that are still active. Points are kept by feature for the
// active ones, so that a row is computed in whole lanes; a matrix that is there already is copied from.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

template <class Real> class RowSource {
public:
    virtual ~RowSource() = default;
    virtual std::size_t size() const = 0;
    virtual Real diagonal(std::size_t i) const = 0;
    // What a kernel value costs, roughly, in the time that a step spends on one example.
    virtual double cost() const = 0;
    // From now on column p of every row is example columns[p].
    virtual void set_columns(const std::vector<std::uint32_t>& columns) = 0;
    // values[p] = k(example i, column p) for p from `begin` to `end`. Whole lanes around both are written, too; what is
    // written behind the last column is finite.
    virtual void row(std::size_t i, std::size_t begin, std::size_t end, Real* values) = 0;
    // sums[r] = sum_s weights[s] k(rows[r], support[s]).
    virtual void sums(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
                      const std::vector<double>& weights, double* sums) = 0;
    // Whether rows over all examples are kept here, so that rows over other columns cost next to nothing.
    virtual bool keeps_rows() const { return false; }
    // The row over all columns in whole lanes, if it is there as it is wanted; else nullptr.
    virtual const Real* kept_row(std::size_t) { return nullptr; }
    // Kernel values that were computed for kept rows.
    virtual std::uint64_t computed() const { return 0; }
};

// Kernel rows inside one label, kept for all machines in which the label takes part: the examples of label l are those
// from begin[l] to begin[l + 1]. Not more than `most_bytes` are kept.
template <class Real> class LabelRows {
public:
    LabelRows(const Real* points, std::size_t n_features, std::vector<std::size_t> begin, const Kernel& kernel,
              std::size_t most_bytes)
        : points_(points), n_features_(n_features), begin_(std::move(begin)), kernel_(kernel), most_bytes_(most_bytes),
          by_feature_(begin_.size() - 1), rows_(begin_.back()) {}

    std::size_t begin(std::size_t label) const { return begin_[label]; }
    std::size_t end(std::size_t label) const { return begin_[label + 1]; }
    const Real* point(std::size_t i) const { return points_ + i * n_features_; }
    std::size_t n_features() const { return n_features_; }
    const Kernel& kernel() const { return kernel_; }

    const PointsBy<Real>& by_feature(std::size_t label) {
        if (!by_feature_[label])
            by_feature_[label] = std::make_unique<PointsBy<Real>>(points_ + begin_[label] * n_features_,
                                                                  end(label) - begin(label), n_features_);
        return *by_feature_[label];
    }

    // The row of an example among those of its own label; nullptr if no more can be kept.
    const Real* own_row(std::size_t label, std::size_t i) {
        std::vector<Real>& row = rows_[i];
        if (row.empty()) {
            const PointsBy<Real>& s = by_feature(label);
            const std::size_t bytes = s.stride() * sizeof(Real);
            if (bytes_ + bytes > most_bytes_) return nullptr;
            bytes_ += bytes;
            row.resize(s.stride());
            kernel_row<Real>(point(i), n_features_, s, 0, s.size(), kernel_, row.data());
        }
        return row.data();
    }

private:
    const Real* points_;
    std::size_t n_features_;
    std::vector<std::size_t> begin_;
    Kernel kernel_;
    std::size_t most_bytes_, bytes_ = 0;
    std::vector<std::unique_ptr<PointsBy<Real>>> by_feature_;
    std::vector<std::vector<Real>> rows_;
};

template <class Real> Real kernel_of_itself(const Real* x, std::size_t n_features, const Kernel& kernel) {
    if (kernel.kind == KernelKind::rbf) return Real(1);
    const PointsBy<Real> itself(x, 1, n_features);
    Real values[lane_count];
    kernel_row<Real>(x, n_features, itself, 0, 1, kernel, values);
    return values[0];
}

template <class Real>
void point_sums(const Real* points, std::size_t n_features, const Kernel& kernel,
                const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
                const std::vector<double>& weights, double* sums) {
    if (rows.empty()) return;
    if (support.empty()) {
        std::fill_n(sums, rows.size(), 0.0);
        return;
    }
    const PointsBy<Real> s(points, support.size(), n_features, [&](std::size_t j) { return support[j]; });
    std::vector<double> padded(s.stride(), 0.0);
    std::copy(weights.begin(), weights.end(), padded.begin());
    std::vector<Real> gathered(rows.size() * n_features);
    for (std::size_t r = 0; r < rows.size(); ++r)
        std::copy_n(points + std::size_t(rows[r]) * n_features, n_features, &gathered[r * n_features]);
    kernel_sums<Real>(gathered.data(), rows.size(), n_features, s, padded.data(), kernel, sums);
}

// Dense points.
template <class Real> class PointRows final : public RowSource<Real> {
public:
    PointRows(const Real* points, std::size_t n, std::size_t n_features, const Kernel& kernel)
        : points_(points), n_(n), n_features_(n_features), kernel_(kernel) {}

    std::size_t size() const override { return n_; }
    Real diagonal(std::size_t i) const override {
        return kernel_of_itself<Real>(points_ + i * n_features_, n_features_, kernel_);
    }
    double cost() const override { return 0.4 + 0.06 * double(n_features_); }
    void set_columns(const std::vector<std::uint32_t>& columns) override {
        columns_ = std::make_unique<PointsBy<Real>>(points_, columns.size(), n_features_,
                                                    [&](std::size_t j) { return columns[j]; });
    }
    void row(std::size_t i, std::size_t begin, std::size_t end, Real* values) override {
        kernel_row<Real>(points_ + i * n_features_, n_features_, *columns_, begin, end, kernel_, values);
    }
    void sums(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
              const std::vector<double>& weights, double* sums) override {
        point_sums<Real>(points_, n_features_, kernel_, rows, support, weights, sums);
    }

private:
    const Real* points_;
    std::size_t n_, n_features_;
    Kernel kernel_;
    std::unique_ptr<PointsBy<Real>> columns_;
};

// Dense points whose rows over all examples are kept for many solves: those of all folds and all C of a search. A row
// over some of the columns is picked from the whole one.
template <class Real> class KeptPointRows final : public RowSource<Real> {
public:
    KeptPointRows(const Real* points, std::size_t n, std::size_t n_features, const Kernel& kernel)
        : points_(points), n_(n), n_features_(n_features), kernel_(kernel), all_(points, n, n_features), rows_(n),
          slabs_(all_.stride() * sizeof(Real)) {}

    std::size_t size() const override { return n_; }
    Real diagonal(std::size_t i) const override {
        return kernel_of_itself<Real>(points_ + i * n_features_, n_features_, kernel_);
    }
    double cost() const override { return 0.1; }
    bool keeps_rows() const override { return true; }
    std::uint64_t computed() const override { return computed_; }
    void set_columns(const std::vector<std::uint32_t>& columns) override {
        columns_ = columns;
        is_whole_ = columns.size() == n_;
        for (std::size_t p = 0; is_whole_ && p < n_; ++p) is_whole_ = columns[p] == p;
    }
    const Real* kept_row(std::size_t i) override { return is_whole_ ? whole(i) : nullptr; }
    void row(std::size_t i, std::size_t begin, std::size_t end, Real* values) override {
        const Real* from = whole(i);
        for (std::size_t p = begin; p < end; ++p) values[p] = from[columns_[p]];
        std::fill(values + end, values + (end + lane_count - 1) / lane_count * lane_count, Real(0));
    }
    void sums(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
              const std::vector<double>& weights, double* sums) override {
        std::fill_n(sums, rows.size(), 0.0);
        for (std::size_t s = 0; s < support.size(); ++s) {
            const Real* from = whole(support[s]);
            for (std::size_t r = 0; r < rows.size(); ++r) sums[r] += weights[s] * double(from[rows[r]]);
        }
    }

private:
    const Real* whole(std::size_t i) {
        if (!rows_[i]) {
            Real* row = static_cast<Real*>(slabs_.take());
            kernel_row<Real>(points_ + i * n_features_, n_features_, all_, 0, n_, kernel_, row);
            computed_ += n_;
            rows_[i] = row;
        }
        return rows_[i];
    }

    const Real* points_;
    std::size_t n_, n_features_;
    Kernel kernel_;
    PointsBy<Real> all_;
    std::vector<Real*> rows_;
    Slabs slabs_;
    std::vector<std::uint32_t> columns_;
    bool is_whole_ = true;
    std::uint64_t computed_ = 0;
};

// The examples of two labels, first those of one, then those of the other; rows inside a label are shared.
template <class Real> class PairRows final : public RowSource<Real> {
public:
    PairRows(std::shared_ptr<LabelRows<Real>> shared, std::size_t first, std::size_t second)
        : shared_(std::move(shared)), first_(first), second_(second),
          n_first_(shared_->end(first) - shared_->begin(first)),
          n_second_(shared_->end(second) - shared_->begin(second)) {}

    std::size_t size() const override { return n_first_ + n_second_; }
    Real diagonal(std::size_t i) const override {
        return kernel_of_itself<Real>(point(i), shared_->n_features(), shared_->kernel());
    }
    double cost() const override { return 0.4 + 0.06 * double(shared_->n_features()); }
    void set_columns(const std::vector<std::uint32_t>& columns) override {
        is_whole_ = columns.size() == size();
        for (std::size_t p = 0; is_whole_ && p < columns.size(); ++p) is_whole_ = columns[p] == p;
        if (!is_whole_)
            columns_ = std::make_unique<PointsBy<Real>>(shared_->point(0), columns.size(), shared_->n_features(),
                                                        [&](std::size_t j) { return number(columns[j]); });
    }
    void row(std::size_t i, std::size_t begin, std::size_t end, Real* values) override {
        if (!is_whole_ || begin > 0) {
            if (!columns_ || is_whole_)  // only after columns were appended back to the whole
                columns_ = std::make_unique<PointsBy<Real>>(shared_->point(0), size(), shared_->n_features(),
                                                            [&](std::size_t j) { return number(j); });
            kernel_row<Real>(point(i), shared_->n_features(), *columns_, begin, end, shared_->kernel(), values);
            return;
        }
        part(first_, i, values);
        // The second part starts anywhere in a lane: it is computed aside and copied behind the first.
        scratch_.resize(shared_->by_feature(second_).stride());
        part(second_, i, scratch_.data());
        std::copy_n(scratch_.data(), n_second_, values + n_first_);
        const std::size_t stride = (end + lane_count - 1) / lane_count * lane_count;
        std::fill(values + n_first_ + n_second_, values + stride, Real(0));
    }
    void sums(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
              const std::vector<double>& weights, double* sums) override {
        std::vector<std::uint32_t> rows_there(rows.size()), support_there(support.size());
        for (std::size_t r = 0; r < rows.size(); ++r) rows_there[r] = std::uint32_t(number(rows[r]));
        for (std::size_t s = 0; s < support.size(); ++s) support_there[s] = std::uint32_t(number(support[s]));
        point_sums<Real>(shared_->point(0), shared_->n_features(), shared_->kernel(), rows_there, support_there,
                         weights, sums);
    }

private:
    std::size_t number(std::size_t i) const {
        return i < n_first_ ? shared_->begin(first_) + i : shared_->begin(second_) + (i - n_first_);
    }
    const Real* point(std::size_t i) const { return shared_->point(number(i)); }
    void part(std::size_t label, std::size_t i, Real* values) {
        const bool is_own = (i < n_first_) == (label == first_);
        const Real* kept = is_own ? shared_->own_row(label, number(i)) : nullptr;
        const PointsBy<Real>& s = shared_->by_feature(label);
        if (kept)
            std::copy_n(kept, s.stride(), values);
        else
            kernel_row<Real>(point(i), shared_->n_features(), s, 0, s.size(), shared_->kernel(), values);
    }

    std::shared_ptr<LabelRows<Real>> shared_;
    std::size_t first_, second_, n_first_, n_second_;
    bool is_whole_ = true;
    std::unique_ptr<PointsBy<Real>> columns_;
    std::vector<Real> scratch_;
};

// A kernel matrix that is there already: the rows and columns of its members.
template <class Real> class MatrixRows final : public RowSource<Real> {
public:
    MatrixRows(const Real* K, std::size_t stride, std::vector<std::uint32_t> members)
        : K_(K), stride_(stride), members_(std::move(members)) {}

    std::size_t size() const override { return members_.size(); }
    Real diagonal(std::size_t i) const override { return row_of(i)[members_[i]]; }
    double cost() const override { return 0.5; }
    void set_columns(const std::vector<std::uint32_t>& columns) override {
        columns_.resize(columns.size());
        for (std::size_t p = 0; p < columns.size(); ++p) columns_[p] = members_[columns[p]];
    }
    void row(std::size_t i, std::size_t begin, std::size_t end, Real* values) override {
        const Real* row = row_of(i);
        for (std::size_t p = begin; p < end; ++p) values[p] = row[columns_[p]];
        std::fill(values + end, values + (end + lane_count - 1) / lane_count * lane_count, Real(0));
    }
    void sums(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
              const std::vector<double>& weights, double* sums) override {
        for (std::size_t r = 0; r < rows.size(); ++r) {
            const Real* row = row_of(rows[r]);
            double sum = 0.0;
            for (std::size_t s = 0; s < support.size(); ++s) sum += weights[s] * double(row[members_[support[s]]]);
            sums[r] = sum;
        }
    }

private:
    const Real* row_of(std::size_t i) const { return K_ + std::size_t(members_[i]) * stride_; }

    const Real* K_;
    std::size_t stride_;
    std::vector<std::uint32_t> members_, columns_;
};

// Points with few nonzero features, by rows. One point is spread out, the others are multiplied with it.
template <class Real> class SparseRows final : public RowSource<Real> {
public:
    SparseRows(const double* values, const std::int32_t* features, const std::int32_t* begin, std::size_t n,
               std::size_t n_features, const Kernel& kernel)
        : values_(values), features_(features), begin_(begin), n_(n), kernel_(kernel), squares_(n, 0.0),
          spread_(n_features, 0.0) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::int32_t at = begin[i]; at < begin[i + 1]; ++at) squares_[i] += values[at] * values[at];
    }

    std::size_t size() const override { return n_; }
    Real diagonal(std::size_t i) const override { return Real(of_inner(squares_[i], i, i)); }
    double cost() const override { return 10.0; }
    void set_columns(const std::vector<std::uint32_t>& columns) override { columns_ = columns; }
    void row(std::size_t i, std::size_t begin, std::size_t end, Real* values) override {
        for (std::int32_t at = begin_[i]; at < begin_[i + 1]; ++at) spread_[std::size_t(features_[at])] = values_[at];
        for (std::size_t p = begin; p < end; ++p) values[p] = Real(of_spread(i, columns_[p]));
        for (std::int32_t at = begin_[i]; at < begin_[i + 1]; ++at) spread_[std::size_t(features_[at])] = 0.0;
        std::fill(values + end, values + (end + lane_count - 1) / lane_count * lane_count, Real(0));
    }
    void sums(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
              const std::vector<double>& weights, double* sums) override {
        std::fill_n(sums, rows.size(), 0.0);
        for (std::size_t s = 0; s < support.size(); ++s) {
            const std::size_t i = support[s];
            for (std::int32_t at = begin_[i]; at < begin_[i + 1]; ++at)
                spread_[std::size_t(features_[at])] = values_[at];
            for (std::size_t r = 0; r < rows.size(); ++r) sums[r] += weights[s] * of_spread(i, rows[r]);
            for (std::int32_t at = begin_[i]; at < begin_[i + 1]; ++at) spread_[std::size_t(features_[at])] = 0.0;
        }
    }

private:
    double of_spread(std::size_t i, std::size_t j) const {
        double inner = 0.0;
        for (std::int32_t at = begin_[j]; at < begin_[j + 1]; ++at)
            inner += values_[at] * spread_[std::size_t(features_[at])];
        return of_inner(inner, i, j);
    }
    double of_inner(double inner, std::size_t i, std::size_t j) const {
        switch (kernel_.kind) {
            case KernelKind::rbf:
                return std::exp(-kernel_.gamma * std::max(0.0, squares_[i] + squares_[j] - 2.0 * inner));
            case KernelKind::linear: return inner;
            case KernelKind::sigmoid: return std::tanh(kernel_.gamma * inner + kernel_.coef0);
            case KernelKind::polynomial: break;
        }
        double power = 1.0;
        for (int d = 0; d < kernel_.degree; ++d) power *= kernel_.gamma * inner + kernel_.coef0;
        return power;
    }

    const double* values_;
    const std::int32_t *features_, *begin_;
    std::size_t n_;
    Kernel kernel_;
    std::vector<double> squares_, spread_;
    std::vector<std::uint32_t> columns_;
};

// Rows by a function: work(i, columns, count, values).
template <class Real> class FunctionRows final : public RowSource<Real> {
public:
    using Work = std::function<void(std::size_t, const std::uint32_t*, std::size_t, Real*)>;
    FunctionRows(std::size_t n, std::vector<Real> diagonal, Work work)
        : n_(n), diagonal_(std::move(diagonal)), work_(std::move(work)) {}

    std::size_t size() const override { return n_; }
    Real diagonal(std::size_t i) const override { return diagonal_[i]; }
    double cost() const override { return 50.0; }
    void set_columns(const std::vector<std::uint32_t>& columns) override { columns_ = columns; }
    void row(std::size_t i, std::size_t begin, std::size_t end, Real* values) override {
        work_(i, columns_.data() + begin, end - begin, values + begin);
        std::fill(values + end, values + (end + lane_count - 1) / lane_count * lane_count, Real(0));
    }
    void sums(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& support,
              const std::vector<double>& weights, double* sums) override {
        std::fill_n(sums, rows.size(), 0.0);
        std::vector<Real> values(rows.size());
        for (std::size_t s = 0; s < support.size(); ++s) {
            work_(support[s], rows.data(), rows.size(), values.data());
            for (std::size_t r = 0; r < rows.size(); ++r) sums[r] += weights[s] * double(values[r]);
        }
    }

private:
    std::size_t n_;
    std::vector<Real> diagonal_;
    Work work_;
    std::vector<std::uint32_t> columns_;
};

}  // namespace relift::ml::RELIFT_ML_TARGET
