// How many entries the triangular factor of a sparse symmetric matrix will have, without computing it.
//
// Nodes are eliminated by approximate minimum degree on a quotient graph (Amestoy, Davis, Duff 1996), as the solvers do
// before they factor: eliminated nodes are elements that stand for the cliques they leave behind, elements that a new one
// covers are absorbed, and nodes that have become indistinguishable are one. Degrees of the columns are added up. Nodes of
// very high degree are left to the end, as the solvers do too, and counted as full. Lists of nodes of high degree are not
// read for each element that reaches them, which would cost the square of their length: a row of a thousand variables
// that are each eliminated by themselves would be read a thousand times.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace relift::factor {

struct Fill {
    double entries = 0;     // below the diagonal
    double operations = 0;  // the sum of the squares of the lengths of columns
    bool is_whole = true;   // false if it was given up; the numbers are then bounds, with what was left as one clique

    void add_clique(double nodes) {
        for (double length = nodes - 1; length > 0; --length) {
            entries += length;
            operations += length * length;
        }
    }
};

class MinimumDegree {
public:
    // A list is read when elements have reached it as often as the 24th part of its length: then factors are within a few
    // hundredths as large as if it were read each time, and with an eighth up to six times as large.
    static constexpr size_t usual_patience = 24;

    // A graph as adjacency lists, each edge from both of its ends, no loops, no double edges.
    template <class Offset, class Index>
    MinimumDegree(const Offset* offsets, const Index* indices, size_t n, size_t patience = usual_patience)
        : n_(n), patience_(patience), weight_(n, 1), degree_(n), head_(n + 1, none), next_(n, none), last_(n, none), state_(n, alive), nodes_(n),
          elements_(n), mark_(n, 0), outside_(n, 0), size_(n, 0), put_off_(n, 0) {
        for (size_t i = 0; i < n; ++i) {
            nodes_[i].reserve(size_t(offsets[i + 1] - offsets[i]));
            for (Offset k = offsets[i]; k < offsets[i + 1]; ++k) {
                if (indices[k] < 0 || size_t(indices[k]) >= n || size_t(indices[k]) == i)
                    throw std::invalid_argument("an edge leads to no other node");
                nodes_[i].push_back(int32_t(indices[k]));
            }
            degree_[i] = int32_t(nodes_[i].size());
            put(int32_t(i));
        }
    }

    // Eliminates all nodes, or stops once it has looked at this many entries of lists.
    Fill run(double most_work) {
        Fill fill;
        size_t left = n_;
        for (size_t least = 0; left;) {
            while (head_[least] == none) ++least;
            const int32_t pivot = head_[least];
            take(pivot);
            const int32_t size = weight_[size_t(pivot)];
            const size_t reach = eliminate(pivot);
            left -= size_t(size);
            for (int32_t k = 0; k < size; ++k) {
                const double length = double(reach) + double(size - 1 - k);
                fill.entries += length;
                fill.operations += length * length;
            }
            if (reach == left || work_ > most_work) {  // what is left is one clique, or no more than that
                fill.is_whole = reach == left;
                fill.add_clique(double(left));
                return fill;
            }
            least = update(pivot, left, reach, least);
        }
        return fill;
    }

private:
    static constexpr int32_t none = -1;
    enum State : unsigned char { alive, element, gone };

    void put(int32_t i) {
        const size_t d = size_t(degree_[size_t(i)]);
        next_[size_t(i)] = head_[d];
        last_[size_t(i)] = none;
        if (head_[d] != none) last_[size_t(head_[d])] = i;
        head_[d] = i;
    }
    void take(int32_t i) {
        const int32_t after = next_[size_t(i)], before = last_[size_t(i)];
        if (after != none) last_[size_t(after)] = before;
        if (before != none)
            next_[size_t(before)] = after;
        else
            head_[size_t(degree_[size_t(i)])] = after;
    }

    // Turns a node into an element: the nodes that it is joined with, directly or by other elements, which are absorbed.
    size_t eliminate(int32_t pivot) {
        state_[size_t(pivot)] = element;
        ++stamp_;
        mark_[size_t(pivot)] = stamp_;
        reach_.clear();
        size_t total = 0;
        const auto visit = [&](int32_t i) {
            if (state_[size_t(i)] != alive || mark_[size_t(i)] == stamp_) return;
            mark_[size_t(i)] = stamp_;
            reach_.push_back(i);
            total += size_t(weight_[size_t(i)]);
        };
        for (const int32_t i : nodes_[size_t(pivot)]) visit(i);
        work_ += double(nodes_[size_t(pivot)].size());
        for (const int32_t e : elements_[size_t(pivot)]) {
            if (state_[size_t(e)] != element) continue;
            work_ += double(nodes_[size_t(e)].size());
            for (const int32_t i : nodes_[size_t(e)]) visit(i);
            state_[size_t(e)] = gone;
            std::vector<int32_t>().swap(nodes_[size_t(e)]);
        }
        std::vector<int32_t>().swap(elements_[size_t(pivot)]);
        nodes_[size_t(pivot)] = reach_;
        size_[size_t(pivot)] = int64_t(total);
        return total;
    }

    // Brings lists and degrees of the nodes of a new element up to date; where to look for the next least degree.
    size_t update(int32_t pivot, size_t left, size_t reach, size_t least) {
        const uint64_t in_reach = stamp_;
        put_off_long_lists(pivot, left, reach);
        // For each older element, how much of it lies outside of the new one.
        ++stamp_;
        for (const int32_t i : reach_)
            for (const int32_t e : elements_[size_t(i)]) {
                if (state_[size_t(e)] != element) continue;
                if (seen_stamp(e) != stamp_) {
                    seen(e) = stamp_;
                    outside_[size_t(e)] = size_[size_t(e)];
                }
                outside_[size_t(e)] -= weight_[size_t(i)];
            }
        ++stamp_;  // marks of nodes in reach stay comparable: they equal in_reach
        buckets_.clear();
        for (const int32_t i : reach_) {
            std::vector<int32_t>&own = elements_[size_t(i)], &others = nodes_[size_t(i)];
            work_ += double(own.size() + others.size());
            size_t kept = 0;
            int64_t degree = 0;
            uint64_t hash = 0;
            for (const int32_t e : own) {
                if (state_[size_t(e)] != element || outside_[size_t(e)] <= 0) continue;  // covered by the new element
                own[kept++] = e;
                degree += outside_[size_t(e)];
                hash += uint64_t(e);
            }
            own.resize(kept);
            own.push_back(pivot);
            hash += uint64_t(pivot);
            kept = 0;
            for (const int32_t j : others) {
                if (state_[size_t(j)] != alive || mark_[size_t(j)] == in_reach) continue;
                others[kept++] = j;
                degree += weight_[size_t(j)];
                hash += uint64_t(j);
            }
            others.resize(kept);
            degree = std::min(degree + int64_t(reach) - weight_[size_t(i)], most_degree(i, pivot, left, reach));
            degree_[size_t(i)] = int32_t(std::max<int64_t>(degree, 0));
            buckets_.push_back({hash, i});
        }
        merge_equal();
        for (const int32_t i : reach_) {
            if (state_[size_t(i)] != alive) continue;
            put(i);
            least = std::min(least, size_t(degree_[size_t(i)]));
        }
        for (const int32_t i : later_) {
            put(i);
            least = std::min(least, size_t(degree_[size_t(i)]));
        }
        later_.clear();
        return least;
    }

    // What the degree of a node can be, by what it was: the pivot has gone, and what the pivot was joined with is new.
    int64_t most_degree(int32_t i, int32_t pivot, size_t left, size_t reach) const {
        const int64_t own = weight_[size_t(i)];
        return std::min(degree_[size_t(i)] - weight_[size_t(pivot)] + int64_t(reach) - own, int64_t(left) - own);
    }

    // Until it is the turn of a long list, its degree is a bound, and nodes that have gone stay in it. What is put off leaves
    // reach_.
    void put_off_long_lists(int32_t pivot, size_t left, size_t reach) {
        size_t kept = 0;
        for (const int32_t i : reach_) {
            take(i);
            std::vector<int32_t>& own = elements_[size_t(i)];
            if (own.size() + nodes_[size_t(i)].size() <= patience_ * (size_t(++put_off_[size_t(i)]) + 3)) {
                put_off_[size_t(i)] = 0;
                reach_[kept++] = i;
                continue;
            }
            own.push_back(pivot);
            degree_[size_t(i)] = int32_t(most_degree(i, pivot, left, reach));
            later_.push_back(i);
        }
        reach_.resize(kept);
    }

    // Nodes with the same neighbours and elements are one from here on.
    void merge_equal() {
        std::sort(buckets_.begin(), buckets_.end());
        for (size_t a = 0; a < buckets_.size(); ++a) {
            const int32_t i = buckets_[a].second;
            if (state_[size_t(i)] != alive) continue;
            bool is_marked = false;
            for (size_t b = a + 1; b < buckets_.size() && buckets_[b].first == buckets_[a].first; ++b) {
                const int32_t j = buckets_[b].second;
                if (state_[size_t(j)] != alive || nodes_[size_t(i)].size() != nodes_[size_t(j)].size() ||
                    elements_[size_t(i)].size() != elements_[size_t(j)].size())
                    continue;
                if (!is_marked) {
                    ++stamp_;
                    for (const int32_t k : nodes_[size_t(i)]) twin(k) = stamp_;
                    for (const int32_t e : elements_[size_t(i)]) twin(e) = stamp_;
                    is_marked = true;
                }
                const auto is_known = [&](int32_t k) { return twin(k) == stamp_; };
                if (!std::all_of(nodes_[size_t(j)].begin(), nodes_[size_t(j)].end(), is_known) ||
                    !std::all_of(elements_[size_t(j)].begin(), elements_[size_t(j)].end(), is_known))
                    continue;
                weight_[size_t(i)] += weight_[size_t(j)];
                degree_[size_t(i)] -= weight_[size_t(j)];
                degree_[size_t(i)] = std::max(degree_[size_t(i)], 0);
                state_[size_t(j)] = gone;
                std::vector<int32_t>().swap(nodes_[size_t(j)]);
                std::vector<int32_t>().swap(elements_[size_t(j)]);
            }
        }
    }

    uint64_t& seen(int32_t e) {
        if (seen_.empty()) seen_.assign(n_, 0);
        return seen_[size_t(e)];
    }
    uint64_t seen_stamp(int32_t e) { return seen(e); }
    uint64_t& twin(int32_t k) {
        if (twins_.empty()) twins_.assign(n_, 0);
        return twins_[size_t(k)];
    }

    size_t n_, patience_;
    std::vector<int32_t> weight_, degree_, head_, next_, last_;
    std::vector<unsigned char> state_;
    std::vector<std::vector<int32_t>> nodes_, elements_;
    std::vector<uint64_t> mark_, seen_, twins_;
    std::vector<int64_t> outside_, size_;  // of elements
    std::vector<int32_t> put_off_, reach_, later_;
    std::vector<std::pair<uint64_t, int32_t>> buckets_;
    uint64_t stamp_ = 0;
    double work_ = 0;
};

template <class Index>
Fill predicted_fill(const Index* offsets, size_t n_offsets, const int32_t* indices, size_t n_indices, double most_work) {
    const size_t n = n_offsets - 1;
    for (size_t i = 0; i < n; ++i)
        if (offsets[i] < 0 || offsets[i + 1] < offsets[i] || size_t(offsets[i + 1]) > n_indices)
            throw std::invalid_argument("offsets do not increase");
    const double dense = std::max(16.0, 10.0 * std::sqrt(double(n)));
    std::vector<int32_t> number(n, -1);
    int32_t kept = 0;
    for (size_t i = 0; i < n; ++i)
        if (double(offsets[i + 1] - offsets[i]) <= dense) number[i] = kept++;
    const double n_dense = double(n) - kept;
    std::vector<int64_t> starts{0};
    std::vector<int32_t> ends;
    for (size_t i = 0; i < n; ++i) {
        if (number[i] < 0) continue;
        for (Index k = offsets[i]; k < offsets[i + 1]; ++k) {
            if (indices[k] < 0 || size_t(indices[k]) >= n) throw std::invalid_argument("an edge leads to no other node");
            if (number[size_t(indices[k])] >= 0) ends.push_back(number[size_t(indices[k])]);
        }
        starts.push_back(int64_t(ends.size()));
    }
    Fill fill = MinimumDegree(starts.data(), ends.data(), size_t(kept)).run(most_work);
    if (n_dense > 0) {  // every column has an entry in each full row, and these are a clique
        fill.operations += 2 * n_dense * fill.entries + n_dense * n_dense * kept;
        fill.operations += (n_dense - 1) * n_dense * (2 * n_dense - 1) / 6;
        fill.entries += n_dense * kept + n_dense * (n_dense - 1) / 2;
    }
    return fill;
}

}  // namespace relift::factor
