// Hopcroft's worklist: splits cells until every one has equal sums into every other, in O((nnz + n) log n).
//
// A splitter is taken from the stack (last in, first out); its members add the weights of their entries to the
// neighbours, and every cell whose members got different sums falls apart. Of the parts all but the largest become
// splitters, or all if the cell was waiting to be one itself. Sums into one cell need no random words: in the
// field they are exact as they stand.
//
// Cells of vertices that rest (multipliers.hpp) are never splitters. A sum that is not 0 wakes a member; what it adds to
// others is new then, so that all cells of the woken become splitters.
//
// What keeps it quick: sum and cell of a vertex lie in one 16-byte record; members of a cell lie in an arena that
// is only appended to, those that have left are filtered when the cell is next read; cells of one vertex are
// skipped at the entry; a cell whose touched members all got the same sum is split without sorting.
#pragma once
#include "algebra.hpp"
#include "distinct_words.hpp"
#include "monitor.hpp"
#include "multipliers.hpp"
#include "portable.hpp"
#include "weights.hpp"

namespace relift {

// The entries of one matrix seen from one side: from the variables to the rows, say.
struct Adjacency {
    const u32 *offsets = nullptr, *targets = nullptr;
    const Weights* weights = nullptr;
    u32 first_source = 0, first_target = 0;  // vertex numbers of the two sides
    const u64* source_factors = nullptr;     // multiply the weights: multipliers of the sources
    bool exists() const { return offsets != nullptr; }
};

template <class Index, class Algebra>
class Worklist {
public:
    // Cells are numbered from 0, those of the variables first. factors multiply the sums; multipliers is null where
    // nothing rests.
    Worklist(u32 n_variables, u32 n_rows, Adjacency P, Adjacency columns, Adjacency rows, Factors factors,
             Multipliers<Index>* multipliers, Monitor& monitor)
        : n_variables_(n_variables), n_vertices_(n_variables + n_rows), P_(P), columns_(columns), rows_(rows),
          factors_(factors), multipliers_(multipliers), monitor_(monitor) {}

    // Starts from cells and those among them that may split others; frees the arrays that it is given.
    template <class CellOf>
    void start(CellOf&& cell_of, Array<u32> sizes, Array<u32>&& splitters) {
        vertices_.resize(n_vertices_);
        touched_.resize(n_vertices_ + 1);
        arena_.resize(u64(n_vertices_) + n_vertices_ / 2 + 64);
        u32 start = 0;
        for (u32& size : sizes) {
            append_cell(start, size);
            start += std::exchange(size, start);
        }
        for (u32 v = 0; v < n_vertices_; ++v) {
            const u32 cell = cell_of(v);
            if (multipliers_ && multipliers_->rests_at(v) && !cells_[cell].is_resting) {
                cells_[cell].is_resting = true;
                ++n_resting_cells_;
            }
            arena_[sizes[cell]++] = v;
            vertices_[v] = {0, tagged(cell), 0};
        }
        arena_used_ = n_vertices_;
        stack_ = std::move(splitters);
        for (u32 cell : stack_) cells_[cell].is_waiting = true;
    }

    // Returns true when all is done; false when there are so many cells, and rounds over all vertices promise to
    // multiply their number: cheaper than going on one splitter at a time.
    bool run(u64 n_cells_for_rounds) {
        while ((cells_.size() < n_vertices_ || n_resting_cells_) && !stack_.empty()) {
            if (cells_.size() >= n_cells_for_rounds && cells_.size() < n_vertices_) {
                n_cells_for_rounds = 2 * cells_.size();
                if (would_fall_apart()) return false;
            }
            const u32 splitter = stack_.back();
            stack_.pop_back();
            cells_[splitter].is_waiting = false;
            ++n_splitters_;
            split_by(splitter);
        }
        return true;
    }

    u64 n_splitters() const { return n_splitters_; }
    u32 n_cells() const { return u32(cells_.size()); }

    // Writes labels numbered by smallest member.
    void labels(i64* variable_labels, i64* row_labels) const {
        Array<u32> number(cells_.size(), none);
        write_labels(0, n_variables_, number, variable_labels);
        write_labels(n_variables_, n_vertices_, number, row_labels);
    }

private:
    static constexpr u32 none = ~u32(0);
    static constexpr u32 singleton = 0x80000000u, touched = 0x40000000u, cell_bits = 0x3FFFFFFFu;

    struct Vertex {
        u64 sum;
        u32 cell;  // with the bits singleton and touched
        u32 unused;
    };
    struct Cell {
        u32 start, length;  // its part of the arena, with members that have left
        u32 size;
        u32 n_touched : 29;
        u32 is_waiting : 1, sums_differ : 1, is_resting : 1;
        u64 sum_or_offset;  // the first sum, then the place of its touched members among the pairs
    };
    static constexpr u64 nowhere = ~u64(0);
    struct Pair {
        u64 sum;
        u32 vertex, group;
    };

    // Compares a sample of vertices with another member of their cells by what a round would tell of them; large cells
    // only, since small ones that fall in two do not multiply the number. The other member stands anywhere in the cell: the
    // first ones are those that a wave along a path or through periods has just reached, and differ from all others.
    bool would_fall_apart() const {
        constexpr u32 n_samples = 512, most_looks = 8, smallest_large = 64;
        u64 n_apart = 0;
        for (u32 sample = 0; sample < n_samples; ++sample) {
            const u64 random = mix(sample);
            const u32 vertex = u32(random % n_vertices_), number = cell_of(vertex);
            const Cell& cell = cells_[number];
            if (cell.size < smallest_large) continue;
            u32 place = u32((random >> 32) * cell.length >> 32);
            for (u32 look = 0; look < most_looks; ++look, place = place + 1 < cell.length ? place + 1 : 0) {
                const u32 other = arena_[cell.start + place];
                if (other == vertex || cell_of(other) != number) continue;
                n_apart += signature(vertex) != signature(other);
                break;
            }
        }
        return n_apart * n_vertices_ / n_samples > 4 * cells_.size();
    }

    // The sums over all cells in one word, as in a round.
    u64 signature(u32 vertex) const {
        if (vertex >= n_variables_) return multiplied(vertex, sum_along(rows_, vertex, factors_.variable_source));
        u64 sum = P_.exists() ? sum_along(P_, vertex, factors_.variable_source) : 0;
        if (columns_.exists()) sum = Algebra::tight(Algebra::loose_add(sum, sum_along(columns_, vertex, factors_.row_source)));
        return multiplied(vertex, sum);
    }

    u64 multiplied(u32 vertex, u64 sum) const {
        const u64* const factors = vertex < n_variables_ ? factors_.variable_target : factors_.row_target;
        return factors ? Algebra::multiply(sum, factors[vertex < n_variables_ ? vertex : vertex - n_variables_]) : sum;
    }

    u64 sum_along(const Adjacency& along, u32 vertex, const u64* target_factors) const {
        const u32 source = vertex - along.first_source;
        u64 sum = 0;
        with_weight(*along.weights, [&](auto weight) {
            for (u32 e = along.offsets[source], end = along.offsets[source + 1]; e < end; ++e) {
                u64 word = Algebra::colour(mix(cell_of(along.first_target + along.targets[e])));
                if (target_factors) word = Algebra::multiply(word, target_factors[along.targets[e]]);
                sum = Algebra::loose_add_product(sum, word, weight(e));
            }
        });
        return Algebra::tight(sum);
    }

    u32 cell_of(u32 vertex) const { return vertices_[vertex].cell & cell_bits; }
    u32 tagged(u32 cell) const { return cells_[cell].size == 1 && !cells_[cell].is_resting ? cell | singleton : cell; }

    void split_by(u32 splitter) {
        const u32 n_touched = push(splitter);
        collect(n_touched);
        monitor_.did(work_, "worklist", n_splitters_, cells_.size());
        work_ = 0;
    }

    // Members of the splitter add to the sums of their neighbours; returns how many were touched.
    u32 push(u32 splitter) {
        if (cells_[splitter].length != cells_[splitter].size) drop_those_who_left(splitter);
        const u32* members = &arena_[cells_[splitter].start];
        const u32 size = cells_[splitter].size;
        u32 n_variables = 0, n_touched = 0;
        if (members[0] >= n_variables_) {
            n_touched = n_variables = push_along(rows_, members, size, 0);
        } else {
            if (P_.exists()) n_touched = n_variables = push_along(P_, members, size, 0);
            if (columns_.exists()) n_touched = push_along(columns_, members, size, n_touched);
        }
        multiply_sums(0, n_variables, factors_.variable_target, 0);
        multiply_sums(n_variables, n_touched, factors_.row_target, n_variables_);
        if (!woken_.empty()) wake(splitter);
        return n_touched;
    }

    // Multiplies the sums of touched vertices; those that they wake have no factor yet.
    void multiply_sums(u32 first, u32 last, const u64* factors, u32 first_vertex) {
        if (!factors) return;
        for (u32 i = first; i < last; ++i) {
            const u32 v = touched_[i];
            u64& sum = vertices_[v].sum;
            if (multipliers_ && sum && multipliers_->rests_at(v)) woken_.push_back(v);
            else sum = Algebra::multiply(sum, factors[v - first_vertex]);
        }
    }

    void wake(u32 splitter) {
        multipliers_->wake(woken_, [&](u32 v) -> u64& { return vertices_[v].sum; },
                           [&](u32 v) { return cell_of(v) == splitter ? 1.0 : 0.0; });
        woken_.clear();
    }

    u32 push_along(const Adjacency& along, const u32* members, u32 size, u32 n_touched) {
        with_weight(*along.weights, [&](auto weight) {
            n_touched = along.source_factors ? push_entries<true>(along, weight, members, size, n_touched)
                                             : push_entries<false>(along, weight, members, size, n_touched);
        });
        return n_touched;
    }

    template <bool has_factors, class Weight>
    u32 push_entries(const Adjacency& along, Weight weight, const u32* members, u32 size, u32 n_touched) {
        Vertex* const vertices = vertices_.data() + along.first_target;
        u32* const list = touched_.data();
        const u32* const targets = along.targets;
        for (u32 i = 0; i < size; ++i) {
            if (size > 8) prefetch_members(along, members, i, size);
            const u32 source = members[i] - along.first_source;
            const u64 factor = has_factors ? along.source_factors[source] : 1;
            const u32 end = along.offsets[source + 1];
            u32 e = along.offsets[source];
            work_ += end - e + 1;
            for (; e < end; ++e) {
                const u32 target = targets[e];
                Vertex& vertex = vertices[target];
                const u32 cell = vertex.cell;
                if (cell & singleton) continue;
                list[n_touched] = target + along.first_target;
                n_touched += !(cell & touched);
                vertex.cell = cell | touched;
                const u64 word = !has_factors       ? weight(e)
                                 : Weight::is_unit  ? factor
                                                    : Algebra::multiply(factor, weight(e));
                vertex.sum = Algebra::tight(Algebra::loose_add(vertex.sum, word));
            }
        }
        return n_touched;
    }

    void prefetch_members(const Adjacency& along, const u32* members, u32 i, u32 size) const {
        if (i + 16 < size) RELIFT_PREFETCH(&along.offsets[members[i + 16] - along.first_source]);
        if (i + 8 < size) RELIFT_PREFETCH(&along.targets[along.offsets[members[i + 8] - along.first_source]]);
        if (i + 3 < size) {
            const u32 ahead = members[i + 3] - along.first_source;
            u32 e = along.offsets[ahead];
            const u32 end = std::min(along.offsets[ahead + 1], e + 8);
            for (; e < end; ++e) RELIFT_PREFETCH_TO_WRITE(&vertices_[along.first_target + along.targets[e]]);
        }
    }

    // Finds the cells whose members got different sums, and splits them.
    void collect(u32 n_touched) {
        Vertex* const vertices = vertices_.data();
        Cell* const cells = cells_.data();
        const u32* const list = touched_.data();
        touched_cells_.clear();
        for (u32 i = 0; i < n_touched; ++i) {
            if (i + 8 < n_touched) RELIFT_PREFETCH(&vertices[list[i + 8]]);
            if (i + 4 < n_touched) RELIFT_PREFETCH(&cells[vertices[list[i + 4]].cell & cell_bits]);
            const Vertex& vertex = vertices[list[i]];
            const u32 number = vertex.cell & cell_bits;
            Cell& cell = cells[number];
            if (cell.n_touched++ == 0) {
                cell.sum_or_offset = vertex.sum;
                touched_cells_.push_back(number);
            } else if (vertex.sum != cell.sum_or_offset) {
                cell.sums_differ = true;
            }
        }
        u32 n_pairs = 0;
        splitting_.clear();
        for (u32 number : touched_cells_) {
            Cell& cell = cells[number];
            const bool splits = cell.sums_differ ||
                                ((cell.n_touched < cell.size || cell.is_resting) && cell.sum_or_offset != 0);
            cell.sum_or_offset = splits ? n_pairs : nowhere;
            if (splits) {
                n_pairs += cell.n_touched;
                splitting_.push_back(number);
            } else {
                cell.n_touched = 0;
            }
        }
        if (pairs_.size() < n_pairs) {
            release(pairs_);
            pairs_.resize(u64(n_pairs) + n_pairs / 4 + 16);
        }
        for (u32 i = 0; i < n_touched; ++i) {
            Vertex& vertex = vertices[list[i]];
            vertex.cell &= cell_bits;
            Cell& cell = cells[vertex.cell];
            if (cell.sum_or_offset != nowhere) pairs_[cell.sum_or_offset++] = {vertex.sum, list[i], 0};
            vertex.sum = 0;
        }
        for (u32 number : splitting_) {
            Cell& cell = cells_[number];
            const u32 n = cell.n_touched;
            const bool sums_differ = cell.sums_differ;
            cell.n_touched = 0;
            cell.sums_differ = false;
            split(number, &pairs_[cell.sum_or_offset - n], n, sums_differ);
        }
    }

    // Splits a cell whose touched members are given with their sums; those not given have the sum 0.
    void split(u32 number, Pair* pairs, u32 n_pairs, bool sums_differ) {
        group_by_sum(pairs, n_pairs, sums_differ);
        const u32 n_groups = u32(group_sizes_.size()), size = cells_[number].size;
        const bool has_rested = cells_[number].is_resting;
        u32 rest = size - n_pairs, zero_group = none;
        if (rest || has_rested) {  // members whose weights cancelled stay with the untouched ones
            for (u32 g = 0, at = 0; g < n_groups; at += group_sizes_[g++])
                if (pairs[at].sum == 0) {
                    zero_group = g;
                    rest += group_sizes_[g];
                    break;
                }
        }
        if (rest == size) return;
        const u32 first_new = n_cells();
        u32 largest = number, largest_size = rest;  // the part that need not become a splitter
        if (rest) {
            if (arena_used_ + n_pairs > arena_.size()) rebuild_arena();
            for (u32 g = 0, at = 0; g < n_groups; at += group_sizes_[g++]) {
                if (g == zero_group) continue;
                if (group_sizes_[g] > largest_size) {
                    largest = n_cells();
                    largest_size = group_sizes_[g];
                }
                add_cell(u32(arena_used_), pairs + at, group_sizes_[g]);
                arena_used_ += group_sizes_[g];
            }
            cells_[number].size = rest;
            if (rest == 1 && !has_rested) {
                drop_those_who_left(number);
                vertices_[arena_[cells_[number].start]].cell |= singleton;
            }
        } else {  // all were touched: the parts share the place of the whole, the largest keeps its number
            if (has_rested) --n_resting_cells_;
            cells_[number].is_resting = false;
            u32 keeper = 0;
            for (u32 g = 1; g < n_groups; ++g)
                if (group_sizes_[g] > group_sizes_[keeper]) keeper = g;
            u32 start = cells_[number].start;
            for (u32 g = 0, at = 0; g < n_groups; at += group_sizes_[g++]) {
                if (g == keeper) {
                    Cell& cell = cells_[number];
                    cell.start = start;
                    cell.length = cell.size = group_sizes_[g];
                    place(number, pairs + at, group_sizes_[g]);
                } else {
                    add_cell(start, pairs + at, group_sizes_[g]);
                }
                start += group_sizes_[g];
            }
        }
        if (has_rested) enqueue_woken(number, first_new);
        else enqueue(number, first_new, largest);
    }

    // Sorts the pairs so that equal sums lie together, and lists the sizes of the groups.
    void group_by_sum(Pair* pairs, u32 n_pairs, bool sums_differ) {
        group_sizes_.clear();
        if (!sums_differ) {
            group_sizes_.push_back(n_pairs);
        } else if (n_pairs <= 24) {
            for (u32 i = 1; i < n_pairs; ++i) {
                const Pair pair = pairs[i];
                u32 at = i;
                for (; at && pairs[at - 1].sum > pair.sum; --at) pairs[at] = pairs[at - 1];
                pairs[at] = pair;
            }
            for (u32 i = 0, first = 0; i < n_pairs; first = i) {
                while (i < n_pairs && pairs[i].sum == pairs[first].sum) ++i;
                group_sizes_.push_back(i - first);
            }
        } else {
            group_by_hashing(pairs, n_pairs);
        }
    }

    void group_by_hashing(Pair* pairs, u32 n_pairs) {
        const u32 capacity = power_of_two_above(2 * u64(n_pairs));
        const int shift = 64 - trailing_zeros(capacity);
        slots_.assign(capacity, none);
        for (u32 i = 0; i < n_pairs; ++i) {
            u64 at = spread(pairs[i].sum) >> shift;
            while (slots_[at] != none && pairs[slots_[at]].sum != pairs[i].sum) at = (at + 1) & (capacity - 1);
            if (slots_[at] == none) {
                slots_[at] = i;
                pairs[i].group = u32(group_sizes_.size());
                group_sizes_.push_back(1);
            } else {
                pairs[i].group = pairs[slots_[at]].group;
                ++group_sizes_[pairs[i].group];
            }
        }
        if (group_sizes_.size() == 1) return;
        group_starts_.clear();
        for (u32 start = 0, g = 0; g < group_sizes_.size(); start += group_sizes_[g++]) group_starts_.push_back(start);
        sorted_.resize(n_pairs);
        for (u32 i = 0; i < n_pairs; ++i) sorted_[group_starts_[pairs[i].group]++] = pairs[i];
        std::copy_n(sorted_.begin(), n_pairs, pairs);
    }

    void add_cell(u32 start, const Pair* pairs, u32 size) {
        append_cell(start, size);
        place(n_cells() - 1, pairs, size);
    }

    // There are never more cells than vertices: memory grows by halves, and from a quarter of that on at once, so that
    // two large arrays do not stand beside each other; what is not written to takes no memory.
    void append_cell(u32 start, u32 size) {
        if (cells_.size() == cells_.capacity())
            cells_.reserve(cells_.size() > n_vertices_ / 4 ? n_vertices_ : cells_.size() + cells_.size() / 2 + 64);
        cells_.push_back({start, size, size, 0, false, false, false, 0});
    }

    void place(u32 number, const Pair* pairs, u32 size) {
        u32* const members = &arena_[cells_[number].start];
        const u32 cell = tagged(number);
        for (u32 i = 0; i < size; ++i) {
            members[i] = pairs[i].vertex;
            vertices_[pairs[i].vertex].cell = cell;
        }
    }

    // After a split of a cell into itself and the cells from first_new on.
    void enqueue(u32 number, u32 first_new, u32 largest) {
        if (cells_[number].is_waiting) largest = none;
        else if (largest != number) wait(number);
        for (u32 cell = first_new; cell < n_cells(); ++cell)
            if (cell != largest) wait(cell);
    }

    // Members who wake have not split anything yet, whatever their number.
    void enqueue_woken(u32 number, u32 first_new) {
        if (!cells_[number].is_resting) wait(number);
        for (u32 cell = first_new; cell < n_cells(); ++cell) wait(cell);
    }

    void wait(u32 cell) {
        cells_[cell].is_waiting = true;
        stack_.push_back(cell);
    }

    void drop_those_who_left(u32 number) {
        Cell& cell = cells_[number];
        u32 kept = cell.start;
        for (u32 i = cell.start, end = cell.start + cell.length; i < end; ++i)
            if ((vertices_[arena_[i]].cell & cell_bits) == number) arena_[kept++] = arena_[i];
        cell.length = cell.size;
    }

    void rebuild_arena() {
        Array<u32> next(cells_.size());
        u32 start = 0;
        for (u32 number = 0; number < n_cells(); ++number) {
            Cell& cell = cells_[number];
            next[number] = cell.start = start;
            cell.length = cell.size;
            start += cell.size;
        }
        for (u32 v = 0; v < n_vertices_; ++v) arena_[next[vertices_[v].cell & cell_bits]++] = v;
        arena_used_ = n_vertices_;
    }

    void write_labels(u32 first, u32 last, Array<u32>& number, i64* labels) const {
        u32 n_numbers = 0;
        for (u32 v = first; v < last; ++v) {
            u32& label = number[vertices_[v].cell & cell_bits];
            if (label == none) label = n_numbers++;
            labels[v - first] = label;
        }
    }

    const u32 n_variables_, n_vertices_;
    const Adjacency P_, columns_, rows_;
    const Factors factors_;
    Multipliers<Index>* const multipliers_;
    Monitor& monitor_;
    Array<Vertex> vertices_;
    Array<Cell> cells_;
    Array<u32> arena_, touched_, stack_, touched_cells_, splitting_, group_sizes_, group_starts_, slots_, woken_;
    Array<Pair> pairs_, sorted_;
    u64 arena_used_ = 0, n_splitters_ = 0, work_ = 0;
    u32 n_resting_cells_ = 0;
};

}  // namespace relift
