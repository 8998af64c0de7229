// Kernel rows over the active examples, kept while memory lasts; the one that was used longest ago goes first.
//
// When examples leave, a row is not rewritten at once but when it is next asked for: `kept` of each epoch says which
// columns lived on into the next one. Columns that are appended are computed when they are asked for.
// Included by targets.hpp once for each processor: no include guard.

namespace relift::ml::RELIFT_ML_TARGET {

template <class Real> class RowCache {
public:
    RowCache(RowSource<Real>& source, std::size_t most_bytes)
        : source_(source), rows_(source.size()), columns_(source.size()),
          slabs_(padded(source.size()) * sizeof(Real)), most_rows_(std::max<std::size_t>(2, most_bytes / slabs_.slot_bytes())) {
        for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i] = std::uint32_t(i);
        source_.set_columns(columns_);
    }

    const std::vector<std::uint32_t>& columns() const { return columns_; }
    std::uint64_t computed() const { return computed_ + source_.computed(); }

    // Only the columns at these positions (ascending) stay.
    void keep(std::vector<std::uint32_t> positions) {
        for (std::size_t p = 0; p < positions.size(); ++p) columns_[p] = columns_[positions[p]];
        columns_.resize(positions.size());
        kept_.push_back(std::move(positions));
        source_.set_columns(columns_);
    }

    void append(const std::vector<std::uint32_t>& examples) {
        columns_.insert(columns_.end(), examples.begin(), examples.end());
        source_.set_columns(columns_);
    }

    // All examples in their own order, and no rows: for sources that keep theirs.
    void start_anew() {
        for (std::uint32_t i = first_; i != none;) {
            const std::uint32_t next = rows_[i].after;
            slabs_.give(rows_[i].values);
            rows_[i] = Row();
            i = next;
        }
        first_ = last_ = none;
        n_rows_ = 0;
        kept_.clear();
        columns_.resize(rows_.size());
        for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i] = std::uint32_t(i);
        source_.set_columns(columns_);
    }

    // The row of an example over all columns, in whole lanes. Valid until the second next call.
    const Real* row(std::size_t i) {
        if (const Real* kept = source_.kept_row(i)) return kept;
        Row& row = rows_[i];
        if (row.values)
            unlink(std::uint32_t(i));
        else
            take_slot(row);
        bring_up_to_date(row);
        if (row.length < columns_.size()) {
            source_.row(i, row.length, columns_.size(), row.values);
            if (!source_.keeps_rows()) computed_ += columns_.size() - row.length;
            row.length = columns_.size();
        }
        link_last(std::uint32_t(i));
        return row.values;
    }

private:
    static constexpr std::uint32_t none = 0xffffffffu;
    struct Row {
        Real* values = nullptr;
        std::size_t length = 0;  // columns that are computed
        std::size_t epoch = 0;
        std::uint32_t before = none, after = none;
    };

    static std::size_t padded(std::size_t length) { return (length + lane_count - 1) / lane_count * lane_count; }

    void take_slot(Row& row) {
        // The row that was asked for last always stays: a step needs two.
        if (n_rows_ >= most_rows_ && first_ != none && first_ != last_) {
            const std::uint32_t oldest = first_;
            unlink(oldest);
            row.values = rows_[oldest].values;
            rows_[oldest] = Row();
        } else {
            row.values = static_cast<Real*>(slabs_.take());
            ++n_rows_;
        }
        row.length = 0;
        row.epoch = kept_.size();
    }

    void bring_up_to_date(Row& row) {
        if (row.epoch == kept_.size()) return;
        for (; row.epoch < kept_.size(); ++row.epoch) {
            const std::vector<std::uint32_t>& kept = kept_[row.epoch];
            Real* values = row.values;
            const std::size_t length =
                std::size_t(std::lower_bound(kept.begin(), kept.end(), row.length) - kept.begin());
            for (std::size_t p = 0; p < length; ++p) values[p] = values[kept[p]];
            row.length = length;
        }
        std::fill(row.values + row.length, row.values + padded(columns_.size()), Real(0));
    }

    void unlink(std::uint32_t i) {
        Row& row = rows_[i];
        (row.before == none ? first_ : rows_[row.before].after) = row.after;
        (row.after == none ? last_ : rows_[row.after].before) = row.before;
        row.before = row.after = none;
    }

    void link_last(std::uint32_t i) {
        Row& row = rows_[i];
        row.before = last_;
        row.after = none;
        (last_ == none ? first_ : rows_[last_].after) = i;
        last_ = i;
    }

    RowSource<Real>& source_;
    std::vector<Row> rows_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::vector<std::uint32_t>> kept_;
    Slabs slabs_;
    std::size_t most_rows_, n_rows_ = 0;
    std::uint64_t computed_ = 0;
    std::uint32_t first_ = none, last_ = none;
};

}  // namespace relift::ml::RELIFT_ML_TARGET
