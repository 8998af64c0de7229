// Tests of the C++ core that need no Python: built with sanitizers and run by tests/core/test_cpp_core.py.
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "check.hpp"
#include "relift/passes/submatrix.hpp"
#include "relift/refine.hpp"
#include "relift/start_apart.hpp"
#include "relift/told_apart.hpp"

using namespace relift;

struct Quiet final : Monitor {
    bool go_on(const char*, u64, u64) override { return true; }
};
struct Impatient final : Monitor {
    Impatient() : Monitor(std::chrono::milliseconds(0)) {}  // asked however fast the machine is
    bool go_on(const char*, u64, u64) override { return false; }
};

// A program with random entries; every array is exactly as long as it must be, so that sanitizers see a step beyond.
template <class Index>
struct RandomProgram {
    u32 n, m;
    std::vector<Index> P_offsets, P_indices, A_offsets, A_indices;
    std::vector<double> P_values, A_values, l, u;
    std::vector<u64> q, lower, upper;
    bool has_P, by_rows;

    RandomProgram(std::mt19937_64& random, u32 n, u32 m, u32 degree, u32 n_values, bool has_P, bool by_rows)
        : n(n), m(m), l(m, -1.0), u(m, 1.0), q(n, 0), lower(m), upper(m), has_P(has_P), by_rows(by_rows) {
        const double unit = n_values % 2 ? 0.1 : 1.0;  // whole numbers are added mod 2^64, others in the field
        const auto value = [&] { return (double(random() % n_values) - double(n_values / 3)) * unit; };
        for (u32 i = 0; i < m; ++i) {
            lower[i] = image_of(l[i], Reading::decimal);
            upper[i] = image_of(u[i], Reading::decimal);
        }
        const u32 n_major = by_rows ? m : n, n_minor = by_rows ? n : m;
        A_offsets.push_back(0);
        for (u32 j = 0; j < n_major; ++j) {
            std::map<u32, double> entries;
            for (u32 d = 0; n_minor && d < random() % (degree + 1); ++d) entries[u32(random() % n_minor)] = value();
            for (const auto& entry : entries) {
                A_indices.push_back(Index(entry.first));
                A_values.push_back(entry.second);
            }
            A_offsets.push_back(Index(A_indices.size()));
        }
        std::vector<std::map<u32, double>> columns(n);
        for (u32 k = 0; has_P && n && k < n; ++k) {
            const u32 i = u32(random() % n), j = u32(random() % n);
            columns[i][j] = columns[j][i] = value();
        }
        P_offsets.push_back(0);
        for (const auto& column : columns) {
            for (const auto& entry : column) {
                P_indices.push_back(Index(entry.first));
                P_values.push_back(entry.second);
            }
            P_offsets.push_back(Index(P_indices.size()));
        }
    }
    Problem<Index> problem() const {
        Problem<Index> problem;
        problem.n_variables = n;
        problem.n_rows = m;
        problem.A_is_by_rows = by_rows;
        problem.A = {by_rows ? m : n, by_rows ? n : m, A_offsets.data(), A_indices.data(), A_values.data()};
        if (has_P) problem.P = {n, n, P_offsets.data(), P_indices.data(), P_values.data()};
        problem.variable_images = {q.data()};
        problem.row_lower = lower.data();
        problem.row_upper = upper.data();
        problem.l = l.data();
        problem.u = u.data();
        return problem;
    }
};

struct Classes {
    std::vector<i64> variables, rows;
    Statistics statistics;
    bool operator==(const Classes& other) const { return variables == other.variables && rows == other.rows; }
};

template <class Index>
Classes classes_of(const RandomProgram<Index>& program, const Options& options) {
    Classes classes{std::vector<i64>(program.n), std::vector<i64>(program.m), {}};
    std::vector<double> scales(program.m);
    std::vector<u64> images(program.m);
    Quiet monitor;
    classes.statistics = refine(program.problem(), options,
                                {classes.variables.data(), classes.rows.data(), scales.data(), images.data()}, monitor);
    if (classes.statistics.all_are_apart) {  // nothing was written
        std::iota(classes.variables.begin(), classes.variables.end(), 0);
        std::iota(classes.rows.begin(), classes.rows.end(), 0);
    }
    return classes;
}

// Whether no sum over a class tells two members of a class apart: by exact sums, class by class.
template <class Index>
bool is_equitable(const RandomProgram<Index>& program, const Classes& classes) {
    std::vector<std::map<i64, u64>> of_rows(program.m), of_variables(program.n);
    const auto add = [](u64& sum, double value) { sum = field_add(sum, image_of(value, Reading::decimal)); };
    for_each_entry_of_A(program.problem(), [&](u32 row, u32 column, u64 entry) {
        add(of_rows[row][classes.variables[column]], program.A_values[entry]);
        add(of_variables[column][classes.rows[row]], program.A_values[entry]);
    });
    for (u32 j = 0; program.has_P && j < program.n; ++j)
        for (u64 e = u64(program.P_offsets[j]); e < u64(program.P_offsets[j + 1]); ++e)
            add(of_variables[j][-1 - classes.variables[program.P_indices[e]]], program.P_values[e]);
    const auto agree = [](std::vector<std::map<i64, u64>>& sums, const std::vector<i64>& labels) {
        std::map<i64, std::map<i64, u64>> first;
        for (u32 v = 0; v < labels.size(); ++v) {
            for (auto at = sums[v].begin(); at != sums[v].end();) at = at->second ? std::next(at) : sums[v].erase(at);
            if (!first.emplace(labels[v], sums[v]).second && first[labels[v]] != sums[v]) return false;
        }
        return true;
    };
    return agree(of_rows, classes.rows) && agree(of_variables, classes.variables);
}

// The coarsest partition there is, slowly: everything starts in one class (rows and variables apart), and whoever sees
// other sums into a class than its fellows leaves them, until nobody does. With counting, what is seen is how often each
// value stands there, and the diagonal is a colour.
template <class Index>
Classes slow_classes(const RandomProgram<Index>& program, const Options& options) {
    using Seen = std::map<std::pair<i64, u64>, u64>;
    Classes found{std::vector<i64>(program.n, 0), std::vector<i64>(program.m, 0), {}};
    const auto see = [&](Seen& seen, i64 label, double value) {
        const u64 image = image_of(value, options.reading);
        if (!image) return;
        if (options.counting) ++seen[{label, image}];
        else seen[{label, 0}] = field_add(seen[{label, 0}], image);
    };
    while (true) {
        std::vector<Seen> of_rows(program.m), of_variables(program.n);
        for_each_entry_of_A(program.problem(), [&](u32 row, u32 column, u64 entry) {
            see(of_rows[row], found.variables[column], program.A_values[entry]);
            see(of_variables[column], found.rows[row], program.A_values[entry]);
        });
        for (u32 j = 0; program.has_P && j < program.n; ++j)
            for (u64 e = u64(program.P_offsets[j]); e < u64(program.P_offsets[j + 1]); ++e) {
                const bool is_colour = options.counting && u32(program.P_indices[e]) == j;
                const i64 label = is_colour ? -1000000 : -1 - found.variables[program.P_indices[e]];
                see(of_variables[j], label, program.P_values[e]);
            }
        const auto parted = [](std::vector<Seen>& seen, std::vector<i64>& labels) {
            std::map<std::pair<i64, Seen>, i64> number;
            const std::vector<i64> before = labels;
            for (u32 v = 0; v < labels.size(); ++v) {
                for (auto at = seen[v].begin(); at != seen[v].end();)
                    at = at->second ? std::next(at) : seen[v].erase(at);  // sums that cancel count as none
                labels[v] = number.emplace(std::make_pair(before[v], seen[v]), i64(number.size())).first->second;
            }
            return std::set<i64>(before.begin(), before.end()).size() != number.size();
        };
        const bool rows_change = parted(of_rows, found.rows), variables_change = parted(of_variables, found.variables);
        if (!rows_change && !variables_change) return found;
    }
}

// Nothing is split that need not be: small programs whose few values often cancel, some of them large enough for rounds
// and worklist to take turns, against the slow classes.
template <class Index>
void test_classes_are_the_coarsest() {
    std::mt19937_64 random(11);
    for (int k = 0; k < 300; ++k) {
        const bool is_large = k % 60 == 0;
        const u32 n = u32(random() % (is_large ? 400 : 24)), m = u32(random() % (is_large ? 400 : 24));
        const RandomProgram<Index> program(random, n, m, is_large ? 2 : 5, 2 + u32(random() % 4), k % 3, k % 2);
        const Options options{k % 4 == 0, Reading::decimal, false, random()};
        const Classes found = classes_of(program, options), expected = slow_classes(program, options);
        CHECK(found == expected);
    }
}

// Sparse graphs of a few dozen vertices: cells that wait to split others fall apart themselves.
void test_sparse_graphs() {
    std::mt19937_64 random(99);
    for (int k = 0; k < 2000; ++k) {
        const u32 n = 20 + u32(random() % 42);
        const RandomProgram<std::int32_t> program(random, n, 0, 1, 2 + u32(random() % 2), true, false);
        const Options options{k % 4 == 0, Reading::decimal, false, random()};
        CHECK(classes_of(program, options) == slow_classes(program, options));
    }
}

// The worklist alone, from cells that all wait to split others: what waits falls apart itself, and each part must still
// split. Rounds leave it little of that, so that whole refinements seldom come here.
void test_waiting_cells_fall_apart() {
    std::mt19937_64 random(7);
    for (int k = 0; k < 500; ++k) {
        const u32 n = 10 + u32(random() % 30), n_colours = 1 + u32(random() % 4);
        std::vector<std::set<u32>> neighbours(n);
        for (u32 e = 0; e < n + n / 2; ++e) {
            const u32 i = u32(random() % n), j = u32(random() % n);
            neighbours[i].insert(j);
            neighbours[j].insert(i);
        }
        std::vector<u32> offsets{0}, targets;
        for (const auto& row : neighbours) {
            targets.insert(targets.end(), row.begin(), row.end());
            offsets.push_back(u32(targets.size()));
        }
        std::vector<i64> expected(n), found(n);
        Array<u32> sizes(n_colours, 0), splitters(n_colours, 0);
        for (u32 v = 0; v < n; ++v) ++sizes[u32(expected[v] = v < n_colours ? v : i64(random() % n_colours))];
        std::iota(splitters.begin(), splitters.end(), 0);

        Quiet monitor;
        const Weights unit;
        Worklist<std::int32_t, FieldAlgebra> worklist(n, 0, {offsets.data(), targets.data(), &unit}, {}, {}, {},
                                                      nullptr, monitor);
        worklist.start([&](u32 v) { return u32(expected[v]); }, std::move(sizes), std::move(splitters));
        CHECK(worklist.run(~u64(0)));
        worklist.labels(found.data(), nullptr);

        for (size_t n_before = 0, n_now = n_colours; n_now != n_before;) {
            std::map<std::pair<i64, std::multiset<i64>>, i64> number;
            std::vector<i64> next(n);
            for (u32 v = 0; v < n; ++v) {
                std::multiset<i64> seen;
                for (u32 w : neighbours[v]) seen.insert(expected[w]);
                next[v] = number.emplace(std::make_pair(expected[v], seen), i64(number.size())).first->second;
            }
            expected = next;
            n_before = std::exchange(n_now, number.size());
        }
        CHECK(found == expected);
    }
}

// Rings of rows over a ring of variables: whole rings stay together, and where the values of a row cancel, with those of
// rows that are empty. Whole numbers and decimals.
void test_rings() {
    std::mt19937_64 random(17);
    for (int k = 0; k < 300; ++k) {
        const u32 n = 3 + u32(random() % 10), n_rings = 1 + u32(random() % 4);
        RandomProgram<std::int32_t> program(random, n, n * n_rings, 0, 1, false, true);
        program.A_offsets.assign(1, 0);
        program.A_indices.clear();
        program.A_values.clear();
        for (u32 ring = 0; ring < n_rings; ++ring) {
            std::map<u32, double> steps;
            for (u32 d = 0, degree = u32(random() % 4); d < degree; ++d)
                steps[u32(random() % n)] = (double(random() % 5) - 2.0) * (k % 2 ? 0.1 : 1.0);
            for (u32 i = 0; i < n; ++i) {
                for (const auto& step : steps) {
                    program.A_indices.push_back(std::int32_t((i + step.first) % n));
                    program.A_values.push_back(step.second);
                }
                program.A_offsets.push_back(std::int32_t(program.A_indices.size()));
            }
        }
        const Options options{k % 3 == 0, Reading::decimal, false, random()};
        const Classes found = classes_of(program, options);
        CHECK(found == slow_classes(program, options));
        CHECK(std::set<i64>(found.variables.begin(), found.variables.end()).size() == 1);
    }
}

// Two variables of ten see +1 and -1 in a cell of two rows: their sums cancel, and they stay with the untouched.
void test_cancelled_sums_split_nothing() {
    RandomProgram<std::int32_t> program = [] {
        std::mt19937_64 random(1);
        return RandomProgram<std::int32_t>(random, 10, 5, 0, 1, false, true);
    }();
    const std::vector<std::vector<std::pair<int, double>>> rows{
        {{0, 1.0}, {1, 1.0}}, {{0, -1.0}, {1, -1.0}}, {{2, 1.0}}, {{3, 1.0}}, {{4, 2.0}}};
    program.A_offsets.assign(1, 0);
    program.A_indices.clear();
    program.A_values.clear();
    for (const auto& row : rows) {
        for (const auto& [column, value] : row) {
            program.A_indices.push_back(column);
            program.A_values.push_back(value);
        }
        program.A_offsets.push_back(std::int32_t(program.A_indices.size()));
    }
    const Options options;
    CHECK(classes_of(program, options) == slow_classes(program, options));
}

// Where most words are alone a filter comes first: the classes are those of the table.
void test_grouping_of_words_that_are_mostly_alone() {
    std::mt19937_64 random(12);
    for (u32 size : {0u, 1u, 2u, 4095u, 4096u, 30000u})
        for (u32 share : {1u, 3u, 1000u}) {
            std::vector<u64> words(size);
            for (u64& word : words) word = random() % share ? random() : random() % 9;
            std::map<u64, i64> number;
            std::vector<i64> expected, table(size), filter(size), chosen(size), threads(size);
            for (u64 word : words) expected.push_back(number.emplace(word, i64(number.size())).first->second);
            const Grouping a = group(words.data(), size, size / 2, table.data());
            const Grouping b = group_mostly_alone(words.data(), size, filter.data(), 1);
            const Grouping c = group(words.data(), size, size, chosen.data());
            const Grouping d = group(words.data(), size, size, threads.data(), 3);
            CHECK(table == expected && filter == expected && chosen == expected && threads == expected);
            CHECK(a.sizes == b.sizes && a.sizes == c.sizes && a.sizes == d.sizes);
            CHECK(a.representatives == b.representatives && a.representatives == c.representatives);
            CHECK(a.representatives == d.representatives);
        }
    std::vector<u64> words(3 * least_entries_of_a_thread + 7);
    std::vector<i64> one(words.size()), several(words.size());
    for (u64& word : words) word = random() % 5 ? random() : random() % (words.size() / 4);
    const Grouping a = group_mostly_alone(words.data(), u32(words.size()), one.data(), 1);
    for (u32 n_threads : {2u, 3u}) {
        const Grouping b = group_mostly_alone(words.data(), u32(words.size()), several.data(), n_threads);
        CHECK(one == several && a.sizes == b.sizes && a.representatives == b.representatives);
        for (const bool zero_counts : {false, true}) {
            const Array<u32> some = maybe_repeated(words.data(), words.size(), zero_counts, 1);
            CHECK(some == maybe_repeated(words.data(), words.size(), zero_counts, n_threads));
        }
    }
    CHECK(are_mostly_alone(4096, 3073) && !are_mostly_alone(4096, 3072) && !are_mostly_alone(4095, 4095));
}

void test_equal_words_are_seen() {
    std::mt19937_64 random(8);
    const auto in = [](const std::vector<u64>& words) { return [&words](u32 k) { return words[k]; }; };
    for (u32 size : {0u, 1u, 2u, 3u, 31u, 33u, 5000u}) {
        std::vector<u64> words(size);
        for (u64& word : words) word = random();
        if (size) words[0] = 0;
        CHECK(all_distinct_by_marks(in(words), size));
        CHECK(all_words_distinct(in(words), size, 1));
        for (int k = 0; size > 1 && k < 20; ++k) {
            std::vector<u64> with_two = words;
            const u32 first = u32(random() % size), second = (first + 1 + u32(random() % (size - 1))) % size;
            with_two[second] = with_two[first];
            CHECK(!all_distinct_by_marks(in(with_two), size));
            CHECK(!all_words_distinct(in(with_two), size, 1));
        }
    }
    // Words of which the marks agree are not mistaken for equal ones: they differ beyond the bits that are kept.
    const u64 inverse_of_spread = [] {
        u64 x = 1;
        for (int k = 0; k < 6; ++k) x *= 2 - 0x9E3779B97F4A7C15u * x;
        return x;
    }();
    std::vector<u64> alike;
    for (u64 k = 0; k < 20; ++k) alike.push_back(k * inverse_of_spread);
    CHECK(all_distinct_by_marks(in(alike), u32(alike.size())));
}

// Each row has the entries 3 and 4 in two columns of one kind, or 7 alone; the last row, at times, others.
template <class Index>
void share_one_total(RandomProgram<Index>& program, bool by_rows) {
    const u32 n = program.n, m = program.m;
    std::vector<std::vector<std::pair<u32, double>>> majors(by_rows ? m : n);
    for (u32 i = 0; i < m; ++i) {
        const u32 j = i % n, other = (i + 1) % n;
        const auto put = [&](u32 column, double value) {
            if (by_rows) majors[i].emplace_back(column, value);
            else majors[column].emplace_back(i, value);
        };
        if (j == other || i % 3 == 0) put(j, i + 1 == m && n % 3 == 0 ? 8.0 : 7.0);
        else put(j, 3.0), put(other, 4.0);
    }
    program.A_offsets.assign(1, 0);
    program.A_indices.clear();
    program.A_values.clear();
    for (const auto& major : majors) {
        for (const auto& [minor, value] : major) {
            program.A_indices.push_back(Index(minor));
            program.A_values.push_back(value);
        }
        program.A_offsets.push_back(Index(program.A_indices.size()));
    }
}

// Scales by integers are those by floats and field elements, whatever the orientation and the number of threads.
template <class Index>
void test_scales_by_integers() {
    std::mt19937_64 random(9);
    int n_shared = 0;
    for (int k = 0; k < 60; ++k) {
        const bool by_rows = k % 2;
        const u32 n = 1 + u32(random() % 40), m = 1 + u32(random() % 40);
        RandomProgram<Index> program(random, n, m, 6, 2 + 2 * (u32(k) % 5), false, by_rows);
        if (k % 4 > 1) share_one_total(program, by_rows);
        for (double& value : program.A_values) value /= k % 3 ? 1000.0 : 1.0;
        const Problem<Index> problem = program.problem();
        const auto encoded = [&](double value) { return image_of(value, Reading::decimal); };
        std::vector<double> scales(m), others(m), values(problem.A.values, problem.A.values + problem.A.n_entries());
        std::vector<u64> exact(m), other_exact(m);
        const u64 n_without = find_row_scales(
            problem, [&](u64 e) { return encoded(problem.A.values[e]); }, scales.data(), exact.data(), 1);
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        const auto whole = WholeMultiples::of(values.data(), u32(values.size()), problem.A.n_entries(), Reading::decimal);
        CHECK(whole.exist);
        const auto number = [&](u64 e) {
            return u8(std::lower_bound(values.begin(), values.end(), problem.A.values[e]) - values.begin());
        };
        CHECK(n_without == find_row_scales(problem, whole, number, others.data(), other_exact.data(), 2));
        CHECK(exact == other_exact);
        for (u32 i = 0; i < m; ++i) CHECK(std::fabs(scales[i] - others[i]) <= 1e-12 * std::fabs(scales[i]));
        // One scale that all rows share is told, and only then.
        SharedScale shared;
        std::vector<double> written(m, 0);
        std::vector<u64> written_exact(m, 0);
        CHECK(n_without == find_row_scales(problem, whole, number, written.data(), written_exact.data(), 2, &shared));
        const bool is_one = n_without == 0 && std::count(exact.begin(), exact.end(), exact[0]) == i64(m);
        CHECK(shared.exists == is_one);
        n_shared += is_one;
        if (is_one) CHECK(shared.exact == exact[0] && shared.scale == others[0] && written_exact[0] == 0);
        else CHECK(written == others && written_exact == exact);
    }
    CHECK(n_shared > 5 && n_shared < 55);
    const double fractions[] = {0.1, 0.25, -3.0}, seventh = 1.0 / 7.0, large = 1e18;
    CHECK(WholeMultiples::of(fractions, 3, 10, Reading::decimal).multiples[1] == 25);
    CHECK(!WholeMultiples::of(fractions, 3, 10, Reading::bits).exist);
    CHECK(!WholeMultiples::of(&seventh, 1, 10, Reading::decimal).exist);
    CHECK(!WholeMultiples::of(&large, 1, 10, Reading::decimal).exist);
}

// Long columns of ascending rows: rows are shared out among threads, and floats are added in the order of the entries.
// Columns cancel in pairs, so that every second row is added again in more digits.
void test_scales_of_rows_that_threads_share() {
    std::mt19937_64 random(31);
    const u32 m = 9000, n_long = 40;
    RandomProgram<std::int32_t> program(random, n_long + m, m, 0, 1, false, false);
    program.A_offsets = {0};
    for (u32 j = 0; j < program.n; ++j) {
        for (u32 i = j < n_long ? 0 : j - n_long, end = j < n_long ? m : i + 1; i < end; ++i) {
            const double drawn = double(random() >> 11) * 0x1p-53, slack = i % 2 ? 1e-3 : 1.0;
            program.A_indices.push_back(std::int32_t(i));
            program.A_values.push_back(j >= n_long ? slack : j % 2 ? -program.A_values[(j - 1) * m + i] : drawn);
        }
        program.A_offsets.push_back(std::int32_t(program.A_indices.size()));
        program.q[j] = j < n_long ? 1 : 2 + j % 3;
    }
    const Problem<std::int32_t> problem = program.problem();
    const auto& A = problem.A;
    CHECK(!can_share_minors(A, 1) && can_share_minors(A, 2));
    const VariableWeights weights(problem, false, 1);
    std::vector<RowTotal> totals(m, RowTotal{0, 0});
    std::vector<long double> sharp(m, 0);
    for_each_entry_of_A(problem, [&](u32 row, u32 column, u64 e) {
        totals[row].add(A.values[e] * double(weights[column]));
        sharp[row] += (long double)(A.values[e]) * (long double)(weights[column]);
    });
    u64 n_poor = 0;
    for (u32 threads : {1u, 2u, 3u}) {
        std::vector<double> scales(m);
        std::vector<u64> exact(m);
        const auto image = [&](u64 e) { return image_of(A.values[e], Reading::decimal); };
        CHECK(find_row_scales(problem, image, scales.data(), exact.data(), threads) == 0);
        for (u32 i = 0; i < m; ++i) {
            const bool is_poor = totals[i].is_cancelled_below(0.01);
            CHECK(scales[i] == (is_poor ? double(sharp[i]) : totals[i].total));
            const u64 slack = u64(weights[n_long + i]);
            CHECK(exact[i] == field_multiply(slack, image_of(i % 2 ? 1e-3 : 1.0, Reading::decimal)));
            n_poor += is_poor;
        }
    }
    CHECK(n_poor >= 3 * m / 2);
    std::swap(program.A_indices[m - 2], program.A_indices[m - 1]);
    CHECK(!can_share_minors(A, 2));
    std::vector<u64> words(3 * least_entries_of_a_thread);
    for (u64& word : words) word = 1 + random() % (modulus - 1);
    CHECK(inverses(words.data(), words.size(), 3) == inverses(words.data(), words.size()));
}

// Large enough for several threads: classes, scales and passes are those of one thread, and no byte is lost count of.
void test_threads_change_nothing() {
    std::mt19937_64 random(23);
    const u32 n = 75000, m = 70000;
    for (u32 n_values : {1u, 7u, 300u})
        for (bool by_rows : {false, true}) {
            if (n_values == 1 && by_rows) continue;
            const RandomProgram<std::int32_t> program(random, n, m, 16, n_values, n_values == 7, by_rows);
            CHECK(program.A_values.size() > 2 * least_entries_of_a_thread);
            for (bool scale_rows : {false, true}) {
                std::vector<double> scales[2] = {std::vector<double>(m), std::vector<double>(m)};
                std::vector<u64> images[2] = {std::vector<u64>(m), std::vector<u64>(m)};
                Classes classes[2];
                for (u32 k : {0u, 1u}) {
                    Options options;
                    options.scale_rows = scale_rows;
                    options.n_threads = 1 + 2 * k;
                    classes[k] = {std::vector<i64>(n), std::vector<i64>(m), {}};
                    Quiet monitor;
                    const Output output{classes[k].variables.data(), classes[k].rows.data(), scales[k].data(),
                                        images[k].data()};
                    classes[k].statistics = refine(program.problem(), options, output, monitor);
                    CHECK(memory_count().now == 0 && memory_count().peak < u64(1) << 30);
                }
                CHECK(classes[0] == classes[1] && scales[0] == scales[1] && images[0] == images[1]);
                CHECK(classes[0].statistics.passes == classes[1].statistics.passes);
            }
        }
}

void test_parallel_blocks() {
    for (u32 n : {1u, 2u, 7u}) {
        std::vector<int> seen(1000, 0);
        over_range(seen.size(), n, [&](u64 first, u64 last) {
            for (u64 i = first; i < last; ++i) ++seen[i];
        });
        CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
        u32 thrown = ~u32(0);
        try {
            in_parallel(n, [&](u32 k) {
                if (k + 2 >= n) throw k;
            });
        } catch (u32 k) {
            thrown = k;  // the first by number, whoever comes first
        }
        CHECK(thrown == (n < 2 ? 0 : n - 2));
    }
    CHECK(threads_for(1000, 8) == 1 && threads_for(least_entries_of_a_thread * 3, 8) == 3);
    CHECK(threads_for(u64(1) << 40, 2) == 2 && threads_for(u64(1) << 40, 0) == 1);
    // Groups by several threads are numbered by smallest members too.
    std::mt19937_64 random(2);
    std::vector<u64> words(3 * least_entries_of_a_thread);
    for (u64 i = 0; i < words.size(); ++i) words[i] = mix(random() % (i < words.size() / 2 ? 900 : 1000));
    std::vector<i64> one(words.size()), several(words.size());
    const Grouping a = group(words.data(), u32(words.size()), 1000, one.data());
    const Grouping b = group(words.data(), u32(words.size()), 1000, several.data(), 3);
    CHECK(one == several && a.sizes == b.sizes && a.representatives == b.representatives);
    for (const u64 size : {u64(words.size()), u64(most_marks) + 1}) {  // by one table, and by buckets
        words.resize(size);
        std::iota(words.begin(), words.end(), u64(5));
        CHECK(all_distinct(words.data(), u32(size), 1) && all_distinct(words.data(), u32(size), 3));
        words.back() = words.front();
        CHECK(!all_distinct(words.data(), u32(size), 3) && !all_distinct(words.data(), u32(size), 1));
        words.back() = ~u64(0);
        words[9] = words[8];  // among the first, which are looked at by themselves
        CHECK(!all_distinct(words.data(), u32(size), 3) && !all_distinct(words.data(), u32(size), 1));
    }
}

template <class Index>
void test_random_programs() {
    std::mt19937_64 random(7);
    for (int k = 0; k < 240; ++k) {
        const bool is_large = k % 40 == 0;
        const u32 n = u32(random() % (is_large ? 9000 : 30)), m = u32(random() % (is_large ? 9000 : 30));
        const RandomProgram<Index> program(random, n, m, is_large ? 2 : 4, 1 + u32(random() % 300), k % 3, k % 2);
        Options options{k % 5 == 0, k % 7 ? Reading::decimal : Reading::bits, k % 11 == 0, random()};
        const Classes first = classes_of(program, options);
        if (!options.counting && !options.scale_rows && options.reading == Reading::decimal)
            CHECK(is_equitable(program, first));
        options.seed = random();
        CHECK(first == classes_of(program, options));
    }
}

// A graph as P, from its edges.
template <class Index>
RandomProgram<Index> graph(u32 n, const std::vector<std::pair<u32, u32>>& edges) {
    std::mt19937_64 random(1);
    RandomProgram<Index> program(random, n, 0, 0, 1, true, false);
    std::vector<std::vector<u32>> neighbours(n);
    for (const auto& edge : edges) {
        neighbours[edge.first].push_back(edge.second);
        neighbours[edge.second].push_back(edge.first);
    }
    program.P_offsets.assign(1, 0);
    program.P_indices.clear();
    for (const auto& list : neighbours) {
        program.P_indices.insert(program.P_indices.end(), list.begin(), list.end());
        program.P_offsets.push_back(Index(program.P_indices.size()));
    }
    program.P_values.assign(program.P_indices.size(), 1.0);
    return program;
}

// A path: half as many classes as vertices, found by the worklist.
template <class Index>
RandomProgram<Index> path(u32 n) {
    std::vector<std::pair<u32, u32>> edges;
    for (u32 j = 0; j + 1 < n; ++j) edges.emplace_back(j, j + 1);
    return graph<Index>(n, edges);
}

// Around one odd vertex a random cubic graph falls apart: worklist first, then rounds again.
void test_rounds_come_back() {
    const u32 n = 20000;
    std::vector<u32> ends;
    for (u32 k = 0; k < 3 * n; ++k) ends.push_back(k / 3);
    std::mt19937_64 random(3);
    std::shuffle(ends.begin(), ends.end(), random);
    std::vector<std::pair<u32, u32>> edges{{0, n}};
    for (u32 k = 0; k < 3 * n; k += 2)
        if (ends[k] != ends[k + 1]) edges.emplace_back(ends[k], ends[k + 1]);
    const auto program = graph<std::int32_t>(n + 1, edges);
    const Classes classes = classes_of(program, Options());
    CHECK(is_equitable(program, classes));
    CHECK(classes.statistics.splitters > 0 && classes.statistics.passes > 1);
}

// The same program in every period, each joined to the one before: both ends tell the periods apart, one after the other.
// That only the periods next to an end have differed so far is seen, and rounds, which would go on at the same pace, are
// not made again.
void test_wave_through_periods() {
    constexpr u32 n_periods = 1200, width = 6;
    std::mt19937_64 random(11);
    RandomProgram<std::int32_t> program(random, n_periods * width, 0, 0, 1, false, true);
    double own[width][width] = {}, coming[width][width] = {};
    for (u32 i = 0; i < width; ++i)
        for (u32 k = 0; k < 2; ++k) {
            own[i][random() % width] = double(1 + random() % 5);
            coming[i][random() % width] = -1;
        }
    program.m = n_periods * width;
    program.A_offsets = {0};
    for (u32 i = 0; i < program.m; ++i) {
        const u32 period = i / width;
        for (u32 k = 0; k < 2 * width; ++k) {
            const bool is_own = k >= width;
            const double value = (is_own ? own : coming)[i % width][k % width];
            if (value == 0 || (!is_own && period == 0)) continue;
            program.A_indices.push_back(std::int32_t((is_own ? period : period - 1) * width + k % width));
            program.A_values.push_back(value);
        }
        program.A_offsets.push_back(std::int32_t(program.A_indices.size()));
    }
    program.l.assign(program.m, -1.0), program.u.assign(program.m, 1.0);
    program.lower.assign(program.m, 1), program.upper.assign(program.m, 1);
    for (u32 j = 0; j < program.n; ++j) program.q[j] = j % width;
    const Classes classes = classes_of(program, Options());
    CHECK(is_equitable(program, classes));
    CHECK(classes.statistics.splitters > program.n / 2 && classes.statistics.passes <= 4);
}

// Beyond so many classes nothing is of use: rounds end a fifth beyond, since they may have been estimated.
void test_too_many_classes_end_the_rounds() {
    std::mt19937_64 random(12);
    RandomProgram<std::int32_t> program(random, 400, 0, 0, 1, false, true);
    program.m = program.n;
    program.A_offsets = {0};
    for (u32 i = 0; i < program.m; ++i) {  // rows of blocks of four, each of its own kind
        for (u32 k = 0; k < 4; ++k) {
            program.A_indices.push_back(std::int32_t(i / 4 * 4 + k));
            program.A_values.push_back(1.0);
        }
        program.A_offsets.push_back(std::int32_t(program.A_indices.size()));
        program.q[i] = i / 4;
    }
    program.l.assign(program.m, -1.0), program.u.assign(program.m, 1.0);
    program.lower.assign(program.m, 1), program.upper.assign(program.m, 1);
    Options options;
    const auto n_classes = [&](u64 most) {
        options.most_classes = most;
        const Classes classes = classes_of(program, options);
        return 2 + *std::max_element(classes.variables.begin(), classes.variables.end()) +
               *std::max_element(classes.rows.begin(), classes.rows.end());
    };
    CHECK(n_classes(~u64(0)) == 200 && n_classes(160) == 200);
    CHECK(n_classes(159) == 800);
}

void test_numbers_that_are_equal_in_classes() {
    std::mt19937_64 random(13);
    for (u32 size : {1u, 2u, 100u, 5000u})
        for (u32 n_classes : {1u, 3u, size / 2 + 1, size}) {
            Array<u64> colours(size), numbers(size);
            for (u32 i = 0; i < size; ++i) {
                const u64 kind = random() % n_classes;
                colours[i] = mix(kind);
                numbers[i] = kind % 3;
            }
            for (u64 expected : {u64(0), u64(n_classes), u64(size)}) {
                CHECK(are_equal_in_classes(colours, numbers.data(), expected));
                for (u32 trial = 0; trial < 20; ++trial) {
                    const u32 odd = u32(random() % size);
                    const bool is_alone = std::count(colours.begin(), colours.end(), colours[odd]) == 1;
                    numbers[odd] += 7;
                    CHECK(are_equal_in_classes(colours, numbers.data(), expected) == is_alone);
                    numbers[odd] -= 7;
                }
            }
        }
}

void test_long_path() {
    const u32 n = 20001;
    const auto program = path<std::int32_t>(n);
    const Classes classes = classes_of(program, Options());
    for (u32 j = 0; j < n; ++j) CHECK(classes.variables[j] == i64(std::min(j, n - 1 - j)));
    CHECK(classes.statistics.splitters > 0 && classes.statistics.peak_bytes > 0);
    CHECK(memory_count().now == 0);
}

void test_interruption_frees_everything() {
    const auto program = path<std::int64_t>(200000);  // more than is done between two looks at the clock
    std::vector<i64> labels(program.n);
    Impatient monitor;
    bool stopped = false;
    try {
        refine(program.problem(), Options(), {labels.data(), nullptr, nullptr, nullptr}, monitor);
    } catch (const Interrupted&) {
        stopped = true;
    }
    CHECK(stopped);
    CHECK(memory_count().now == 0);
}

// While a search goes on, what is freed is taken again; never is more held than was in use before. What a search leaves that
// needed little is taken by the next one.
void test_spare_memory() {
    SpareMemory memory;
    const std::size_t large = 5000001, small = 300000, tiny = 100;
    void* const from_before = memory.take(large);
    memory.give_back(memory.take(small), small);
    CHECK(memory.n_kept_bytes() == 0);  // no search goes on
    memory.open();
    memory.give_back(from_before, large);
    CHECK(memory.n_kept_bytes() == 0);  // more than was in use in this search
    void* const first = memory.take(large);
    std::memset(first, 1, large);
    memory.give_back(first, large);
    CHECK(memory.n_kept_bytes() >= large);
    memory.open();
    memory.close();
    void* const again = memory.take(large - 1000);  // of the same size, rounded
    CHECK(again == first && memory.n_kept_bytes() == 0);
    void* const other = memory.take(small);
    memory.give_back(again, large - 1000);
    memory.give_back(memory.take(tiny), tiny);
    CHECK(memory.n_kept_bytes() >= large);
    void* const larger = memory.take(2 * large);  // what is kept goes first
    CHECK(memory.n_kept_bytes() == 0);
    memory.give_back(other, small);
    memory.give_back(larger, 2 * large);
    CHECK(memory.n_kept_bytes() > 2 * large);
    memory.close();
    CHECK(memory.n_kept_bytes() == 0);
    memory.close();  // one too many does nothing
    memory.open();
    void* const little = memory.take(small);
    memory.give_back(little, small);
    memory.close();
    CHECK(memory.n_kept_bytes() >= small);
    void* const between = memory.take(small);
    CHECK(between != little);  // it is for searches
    memory.open();
    memory.give_back(between, small);
    CHECK(memory.take(small) == little && memory.n_kept_bytes() == 0);
    memory.give_back(memory.take(large), large);  // not little any more
    memory.give_back(little, small);
    memory.close();
    CHECK(memory.n_kept_bytes() == 0);
    std::mt19937_64 random(13);
    std::vector<std::pair<void*, std::size_t>> held;
    for (u32 step = 0; step < 4000; ++step) {  // sanitizers see what is wrong here
        if (random() % 50 == 0) memory.open();
        if (random() % 40 == 0) memory.close();
        if (held.size() > 20 || (!held.empty() && random() % 2)) {
            std::swap(held[random() % held.size()], held.back());
            memory.give_back(held.back().first, held.back().second);
            held.pop_back();
        } else {
            const std::size_t bytes = 1 + random() % (std::size_t(1) << (random() % 24));
            held.emplace_back(memory.take(bytes), bytes);
            static_cast<char*>(held.back().first)[0] = static_cast<char*>(held.back().first)[bytes - 1] = 1;
        }
    }
    for (const auto& [block, bytes] : held) memory.give_back(block, bytes);
}

void test_malformed_matrices() {
    const double values[] = {1, 1};
    const auto is_refused = [&](std::vector<std::int32_t> offsets, std::vector<std::int32_t> indices) {
        const SparseView<std::int32_t> view{2, 3, offsets.data(), indices.data(), values};
        try {
            check_structure(view, offsets.size(), indices.size(), 2);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    CHECK(!is_refused({0, 1, 2}, {0, 2}));
    CHECK(is_refused({0, 1, 2}, {0, 3}));
    CHECK(is_refused({0, 1, 2}, {0, -1}));
    CHECK(is_refused({0, 1, 2}, {0, -2147483647 - 1}));
    CHECK(is_refused({0, 1, 2}, {0, 2147483647}));
    CHECK(is_refused({0, 2, 1}, {0, 2}));
    CHECK(is_refused({1, 1, 2}, {0, 2}));
    CHECK(is_refused({0, 1, 3}, {0, 2}));
    CHECK(is_refused({0, 1}, {0, 2}));
    // Several threads look: at either side of where their parts meet, too.
    const u32 n_major = 3 * u32(least_entries_of_a_thread);
    std::vector<std::int32_t> offsets(n_major + 1, 1);
    offsets[0] = 0;
    const std::int32_t index = 0;
    const SparseView<std::int32_t> many{n_major, 1, offsets.data(), &index, values};
    const auto is_taken = [&] {
        try {
            check_structure(many, offsets.size(), 1, 1, 3);
        } catch (const std::invalid_argument&) {
            return false;
        }
        return true;
    };
    CHECK(is_taken());
    for (u32 place : {1u, n_major / 3, n_major / 3 + 1, 2 * n_major / 3, n_major - 1}) {
        offsets[place] = 2;
        CHECK(!is_taken());
        offsets[place] = -1;
        CHECK(!is_taken());
        offsets[place] = 1;
    }
}

// Rows that are multiples of each other are never said to be apart, whatever the order and the values of their entries.
template <class Index>
void test_rows_apart() {
    std::mt19937_64 random(11);
    u32 n_apart = 0;
    for (u32 round = 0; round < 400; ++round) {
        const u32 m = u32(random() % 5), n = 1 + u32(random() % 4);
        std::vector<std::vector<int>> rows(m, std::vector<int>(n));
        for (auto& row : rows)
            for (int& value : row) value = int(random() % 3) * (random() % 4 ? 1 : -1);
        const bool by_rows = random() % 2;
        std::vector<Index> offsets{0}, indices;
        std::vector<double> values;
        for (u32 major = 0; major < (by_rows ? m : n); ++major) {
            for (u32 minor = 0; minor < (by_rows ? n : m); ++minor)
                if (const int value = by_rows ? rows[major][minor] : rows[minor][major]; value || random() % 8 == 0) {
                    indices.push_back(Index(minor));
                    values.push_back(value);
                }
            offsets.push_back(Index(indices.size()));
        }
        Problem<Index> problem;
        problem.n_variables = n;
        problem.n_rows = m;
        problem.A_is_by_rows = by_rows;
        problem.A = {by_rows ? m : n, by_rows ? n : m, offsets.data(), indices.data(), values.data()};
        const auto are_multiples = [&](const std::vector<int>& a, const std::vector<int>& b) {
            for (u32 j = 0; j < n; ++j)
                for (u32 k = 0; k < n; ++k)
                    if (a[j] * b[k] != a[k] * b[j] || !a[j] != !b[j]) return false;
            return true;
        };
        bool some_are = false;
        for (u32 i = 0; i < m; ++i)
            for (u32 k = 0; k < i; ++k) some_are |= are_multiples(rows[i], rows[k]);
        const bool apart = rows_are_apart(problem, false, 1);
        n_apart += apart;
        CHECK(apart == !some_are);
        const auto is_empty = [](const std::vector<int>& row) {
            return std::all_of(row.begin(), row.end(), [](int value) { return value == 0; });
        };
        const bool none_is_empty = std::none_of(rows.begin(), rows.end(), is_empty);
        CHECK(none_are_multiples(problem.A, by_rows, 1) == (none_is_empty && !some_are));
    }
    CHECK(n_apart > 50);
    // An entry in two parts, and indices that do not ascend.
    const Index offsets[] = {0, 2, 3}, twice[] = {0, 0, 0}, turned[] = {1, 0, 0};
    const double values[] = {1, 1, 2};
    Problem<Index> problem;
    problem.n_variables = problem.n_rows = 2;
    problem.A_is_by_rows = true;
    problem.A = {2, 2, offsets, twice, values};
    CHECK(!rows_are_apart(problem, false, 1) && !rows_are_apart(problem, true, 1));
    problem.A.indices = turned;
    CHECK(!rows_are_apart(problem, false, 1) && !rows_are_apart(problem, true, 1));
    CHECK(!none_are_multiples(problem.A, true, 1));
    problem.A.indices = twice;
    CHECK(!none_are_multiples(problem.A, true, 1));
    // A multiple of which few bits are left by rounding.
    const Index twos[] = {0, 2, 4}, pairs[] = {0, 1, 0, 1};
    const double tiny[] = {1e-323, 3e-323, 1, 3.1};
    problem.A = {2, 2, twos, pairs, tiny};
    CHECK(!none_are_multiples(problem.A, true, 1) || !look_like_multiples(problem.A, 0, 1));
    CHECK(passes::are_close({0, HUGE_VAL, 0, 0}, {0, HUGE_VAL, 1, 0}));
}

// Rounds in floats say that all are alone only where exact classes do, and often where they do.
template <class Index>
void test_told_apart_in_floats() {
    std::mt19937_64 random(13);
    u32 n_told = 0, n_alone = 0;
    for (int k = 0; k < 600; ++k) {
        const u32 n = 2 + u32(random() % 12), m = 1 + u32(random() % 12);
        RandomProgram<Index> program(random, n, m, 6, k % 2 ? 100000 : 5, k % 3 == 0, k % 4 < 2);
        std::vector<double> costs(n), low(n, 0.0), high(n, 1.0);
        for (double& cost : costs) cost = k % 5 ? 1.0 : double(random() % 3);
        std::vector<u64> images(3 * n);
        for (u32 j = 0; j < n; ++j) {
            images[j] = program.q[j] = image_of(costs[j], Reading::decimal);
            images[n + j] = image_of(low[j], Reading::decimal);
            images[2 * n + j] = image_of(high[j], Reading::decimal);
        }
        const passes::GivenNumbers variables{{low.data(), 1}, {high.data(), 1}, {costs.data(), 1}, {&images[n], 1},
                                             {&images[2 * n], 1}, {&images[0], 1}, n};
        const passes::GivenNumbers rows{{program.l.data(), 1}, {program.u.data(), 1}, {}, {program.lower.data(), 1},
                                        {program.upper.data(), 1}, {}, m};
        const Classes classes = classes_of(program, Options{true, Reading::decimal, false, 1});
        const bool are_alone = std::set<i64>(classes.variables.begin(), classes.variables.end()).size() == n;
        for (const bool has_masses : {false, true}) {
            const ApartQuestion question{true, true, true, has_masses};
            const bool told = ToldApart<Index>(program.problem(), variables, rows, question).run().are_all_apart;
            CHECK(are_alone || !told);
            n_told += told;
            n_alone += are_alone;
        }
    }
    CHECK(n_alone > 200 && n_told > 100);
}

// What is alone keeps its colour, and has no error that grew; what is left has that of its sum.
void test_what_is_alone_settles() {
    const double low[3] = {0, 0, 0}, high[3] = {1, 1, 1}, cost[3] = {1, 2, 2};
    u64 images[9];
    for (int k = 0; k < 3; ++k) {
        images[k] = image_of(low[k], Reading::decimal);
        images[3 + k] = image_of(high[k], Reading::decimal);
        images[6 + k] = image_of(cost[k], Reading::decimal);
    }
    const passes::GivenNumbers given{{low, 1}, {high, 1}, {cost, 1}, {images, 1}, {images + 3, 1}, {images + 6, 1}, 3};
    FloatColours colours(3, true);
    colours.begin(given, true, true, nullptr);
    const double first = colours.error(0);
    SumOfTerms sums[3];
    for (SumOfTerms& sum : sums) sum.total = 1.0, sum.square = 0x1p-60;
    colours.recolour(sums);
    CHECK(colours.error(0) > 1000 * first && colours.error(1) > 1000 * first);
    const double key = colours.keys[0], square = colours.words[1].square;
    colours.settle_all_but({1, 2});
    CHECK(colours.error(0) == first && colours.error(1) > 1000 * first);
    CHECK(colours.keys[0] == key && colours.words[0].square < 0x1p-30 * square && colours.words[1].square == square);
    colours.recolour_some({1, 2}, sums);
    CHECK(colours.keys[0] == key && colours.keys[1] != key && colours.error(0) == first);
}

// Numbers of variables tell them apart where no two have the same; rows are then apart too, as long as entries ascend and
// are finite.
void test_starts_apart() {
    std::int32_t offsets[] = {0, 2, 3, 4}, indices[] = {0, 1, 1, 2};
    double values[] = {1, 2, 4, 1};
    Problem<std::int32_t> problem;
    problem.n_variables = problem.n_rows = 3;
    problem.A_is_by_rows = true;
    problem.A.n_major = problem.A.n_minor = 3;
    problem.A.offsets = offsets, problem.A.indices = indices, problem.A.values = values;
    const double distinct[] = {1, 2, 3}, two[] = {1, 2, 1}, other[] = {5, 5, 6}, zeros[] = {0.0, 1, -0.0}, one = 7;
    using Vectors = std::vector<passes::Numbers<double>>;
    CHECK(starts_apart(problem, Vectors{{distinct, 1}, {&one, 0}}, 1) == StartsApart::apart);
    CHECK(starts_apart(problem, Vectors{{two, 1}, {&one, 0}}, 1) == StartsApart::alike);
    CHECK(starts_apart(problem, Vectors{{two, 1}, {other, 1}}, 1) == StartsApart::apart);
    CHECK(starts_apart(problem, Vectors{{zeros, 1}}, 1) == StartsApart::alike);
    CHECK(starts_apart(problem, Vectors{{&one, 0}}, 1) == StartsApart::alike);
    indices[1] = 0;
    CHECK(starts_apart(problem, Vectors{{distinct, 1}}, 1) == StartsApart::open);
    indices[1] = 1, values[2] = -std::numeric_limits<double>::infinity();
    CHECK(starts_apart(problem, Vectors{{distinct, 1}}, 1) == StartsApart::open);
}

// Two variables stand in the same rows where their entries that are not 0 do, by rows and by columns.
void test_supports() {
    const std::int32_t row_offsets[] = {0, 2, 4, 6}, columns[] = {0, 1, 1, 2, 0, 2};
    const std::int32_t column_offsets[] = {0, 2, 4, 6}, rows[] = {0, 2, 0, 1, 1, 2};
    const auto are_distinct = [&](const std::vector<double>& by_rows, const std::vector<double>& by_columns) {
        Problem<std::int32_t> problem;
        problem.n_variables = problem.n_rows = 3;
        problem.A_is_by_rows = true;
        problem.A = {3, 3, row_offsets, columns, by_rows.data()};
        const bool told = supports_are_distinct(problem, 3);
        problem.A_is_by_rows = false;
        problem.A = {3, 3, column_offsets, rows, by_columns.data()};
        CHECK(told == supports_are_distinct(problem, 3));
        return told;
    };
    CHECK(are_distinct({1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}));
    CHECK(are_distinct({0, 1, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 1}));
    CHECK(!are_distinct({0, 0, 0, 1, 1, 1}, {0, 1, 0, 0, 1, 1}));  // one stands nowhere
    CHECK(!are_distinct({1, 1, 0, 1, 0, 1}, {1, 0, 1, 0, 1, 1}));  // two of them in the first row alone
}

// Flows of commodities through a grid with measured costs: what their balances leave of sums is rounding, so that errors
// overtake the colours of some. All others are known to be alone, but not the two commodities that go the same way.
void test_errors_leave_a_few() {
    constexpr u32 side = 5, n_places = side * side, n_commodities = 60;
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> number(1.0, 5.0);
    std::vector<std::pair<u32, u32>> arcs;
    for (u32 place = 0; place < n_places; ++place)
        for (const u32 next : {place % side + 1 < side ? place + 1 : place, place + side})
            if (next != place && next < n_places) arcs.insert(arcs.end(), {{place, next}, {next, place}});
    const u32 n_arcs = u32(arcs.size()), n = n_commodities * n_arcs, m = n_commodities * n_places + n_arcs;
    std::vector<double> costs(n), zeros(n, 0.0), no_bound(n, HUGE_VAL), l(m, -HUGE_VAL), u(m);
    for (u32 j = 0; j < n; ++j) costs[j] = j < n_arcs ? number(random) : costs[j - n_arcs];
    for (u32 i = 0; i < m; ++i) u[i] = i < n_commodities * n_places ? 0.0 : 3.0 * number(random);
    for (u32 k = 0; k < n_commodities; ++k) {
        const u32 from = u32(random() % n_places), to = (from + 1 + u32(random() % (n_places - 1))) % n_places;
        const double demand = number(random);
        u[k * n_places + from] = -demand, u[k * n_places + to] = demand;
    }
    std::copy_n(u.begin(), n_places, u.begin() + (n_commodities - 1) * n_places);  // the last goes the way of the first
    std::copy_n(u.begin(), n_commodities * n_places, l.begin());
    const auto images = [](const std::vector<double>& numbers) {
        std::vector<u64> words;
        for (const double one : numbers) words.push_back(image_of(one, Reading::decimal));
        return words;
    };
    const auto cost_image = images(costs), low_image = images(zeros), high_image = images(no_bound);
    const auto l_image = images(l), u_image = images(u);
    const passes::GivenNumbers variables{{zeros.data(), 1}, {no_bound.data(), 1}, {costs.data(), 1}, {low_image.data(), 1},
                                         {high_image.data(), 1}, {cost_image.data(), 1}, n};
    const passes::GivenNumbers rows{{l.data(), 1}, {u.data(), 1}, {}, {l_image.data(), 1}, {u_image.data(), 1}, {}, m};
    struct Entry { u32 row, column; double value; };
    std::vector<Entry> entries;
    for (u32 j = 0; j < n; ++j) {
        const u32 first_place = j / n_arcs * n_places, arc = j % n_arcs;
        entries.push_back({first_place + arcs[arc].first, j, -1.0});
        entries.push_back({first_place + arcs[arc].second, j, 1.0});
        entries.push_back({n_commodities * n_places + arc, j, 1.0});
    }
    for (const bool is_by_rows : {false, true}) {
        const auto major = [is_by_rows](const Entry& entry) { return is_by_rows ? entry.row : entry.column; };
        const auto minor = [is_by_rows](const Entry& entry) { return is_by_rows ? entry.column : entry.row; };
        std::sort(entries.begin(), entries.end(), [&](const Entry& one, const Entry& other) {
            return std::make_pair(major(one), minor(one)) < std::make_pair(major(other), minor(other));
        });
        std::vector<std::int32_t> offsets((is_by_rows ? m : n) + 1, 0), indices;
        std::vector<double> values;
        for (const Entry& entry : entries) {
            ++offsets[major(entry) + 1];
            indices.push_back(std::int32_t(minor(entry)));
            values.push_back(entry.value);
        }
        for (u32 k = 1; k < offsets.size(); ++k) offsets[k] += offsets[k - 1];
        Problem<std::int32_t> problem;
        problem.n_variables = n, problem.n_rows = m, problem.A_is_by_rows = is_by_rows;
        problem.A = {is_by_rows ? m : n, is_by_rows ? n : m, offsets.data(), indices.data(), values.data()};
        const FloatKinds kinds = ToldApart<std::int32_t>(problem, variables, rows, ApartQuestion()).run();
        CHECK(!kinds.are_all_apart && kinds.variables == 0 && kinds.rows == 0);
        CHECK(kinds.are_few_left && 8 * kinds.variables_left.size() <= n && 8 * kinds.rows_left.size() <= m);
        const auto is_left = [](const Array<u32>& some, u32 k) { return std::binary_search(some.begin(), some.end(), k); };
        for (u32 arc = 0; arc < n_arcs; ++arc)
            CHECK(is_left(kinds.variables_left, arc) && is_left(kinds.variables_left, n - n_arcs + arc));
        for (u32 place = 0; place < n_places; ++place)
            CHECK(is_left(kinds.rows_left, place) && is_left(kinds.rows_left, (n_commodities - 1) * n_places + place));
        for (const u32 row : kinds.rows_left)  // and no row of others
            CHECK(std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
                return entry.row == row && is_left(kinds.variables_left, entry.column);
            }));
    }
}

// Copies of a program of measured numbers agree in every round, whatever cancellation leaves; a program alone does not.
void test_copies_agree_in_floats() {
    std::mt19937_64 random(17);
    std::normal_distribution<double> normal;
    u32 n_told = 0;
    for (int k = 0; k < 300; ++k) {
        const u32 n_copies = 1 + u32(k % 3), n_one = 5 + u32(random() % 40), m_one = 5 + u32(random() % 60);
        const u32 n = n_copies * n_one, m = n_copies * m_one;
        std::vector<std::int32_t> offsets{0}, indices;
        std::vector<double> values, costs(n), low(n), high(n, HUGE_VAL), l(m), u(m, HUGE_VAL);
        for (u32 i = 0; i < m; ++i) {
            const u32 place = i % m_one, like = i < m_one ? i : i - place - 1 - place;  // in the opposite order
            for (u32 e = 0; e < 4; ++e) {
                const u32 other = 4 * like + 3 - e;
                indices.push_back(std::int32_t(i < m_one ? random() % n_one : u32(indices[other]) + n_one));
                values.push_back(i < m_one ? std::round(1e4 * normal(random)) * 1e-4 : values[other]);
            }
            offsets.push_back(std::int32_t(indices.size()));
            l[i] = i < m_one ? double(random() % 3) : l[like];
        }
        for (u32 j = 0; j < n; ++j) {
            costs[j] = j < n_one ? double(random() % 3) : costs[j - n_one];
            low[j] = j < n_one ? (random() % 2 ? 0.0 : -1.0) : low[j - n_one];
        }
        const auto images = [](const std::vector<double>& numbers) {
            std::vector<u64> words;
            for (const double number : numbers) words.push_back(image_of(number, Reading::decimal));
            return words;
        };
        const auto cost_image = images(costs), low_image = images(low), high_image = images(high);
        const auto l_image = images(l), u_image = images(u);
        Problem<std::int32_t> problem;
        problem.n_variables = n, problem.n_rows = m, problem.A_is_by_rows = true;
        problem.A = {m, n, offsets.data(), indices.data(), values.data()};
        const passes::GivenNumbers variables{{low.data(), 1}, {high.data(), 1}, {costs.data(), 1}, {low_image.data(), 1},
                                             {high_image.data(), 1}, {cost_image.data(), 1}, n};
        const passes::GivenNumbers rows{{l.data(), 1}, {u.data(), 1}, {}, {l_image.data(), 1}, {u_image.data(), 1}, {}, m};
        for (const bool has_masses : {false, true}) {
            const ApartQuestion question{true, true, true, has_masses, 0.0};
            const bool told = ToldApart<std::int32_t>(problem, variables, rows, question).run().are_all_apart;
            CHECK(n_copies == 1 || !told);
            n_told += told;
        }
    }
    CHECK(n_told > 40);
}

void test_values_that_are_not_finite() {
    std::vector<double> values{0.0, -0.0, 1e308, -1e308, 5e-324, 1.0};
    const std::int32_t offsets[] = {0, 6};
    const SparseView<std::int32_t> matrix{1, 1, offsets, nullptr, values.data()};
    CHECK(are_finite(matrix, 1));
    for (const double wrong : {HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("")})
        for (double& value : values) {
            const double before = std::exchange(value, wrong);
            CHECK(!are_finite(matrix, 1));
            value = before;
        }
}

void test_signs_of_entries() {
    std::vector<double> values(10000, 0.0);
    const auto is_one = [&] { return have_one_sign(values.data(), values.size()); };
    CHECK(is_one());
    values[9999] = -1;
    CHECK(is_one());
    values[3] = -2;
    CHECK(is_one());
    values[5000] = 1;
    CHECK(!is_one());
}

// Classes and counts do not depend on the number of threads: few and many distinct words, runs of equal ones, zeros.
void test_words_are_grouped_and_counted_alike_by_threads() {
    std::mt19937_64 random(14);
    for (const u32 size : {0u, 1u, 5u, 3000u, 70000u})
        for (const u64 n_kinds : {u64(1), u64(3), u64(4096), u64(4097), u64(8750), u64(8751), u64(60000), ~u64(0)}) {
            std::vector<u64> words(size);
            for (u32 i = 0; i < size; ++i)
                words[i] = i && random() % 4 == 0 ? words[i - 1] : n_kinds == ~u64(0) ? random() : mix(random() % n_kinds);
            if (size > 4) words[2] = words[4] = 0;
            std::vector<i64> labels(size), others(size);
            const Grouping expected = group(words.data(), size, size / 8, labels.data());
            DistinctCounter counter;
            const DistinctCount count = counter.count_by_parts(words.data(), size, false, 1);
            CHECK(!count.is_exact || count.number == expected.n_classes());
            const u64 estimated = counter.count_by_parts(words.data(), size, true, 1).number;
            for (const u32 n_parts : {1u, 2u, 3u, 7u}) {
                for (const u64 guess : {u64(0), u64(size)}) {
                    const Grouping found = group_by_hash(words.data(), size, guess, others.data(), n_parts);
                    CHECK(others == labels && found.sizes == expected.sizes);
                    CHECK(found.representatives == expected.representatives);
                }
                const DistinctCount by_parts = counter.count_by_parts(words.data(), size, false, n_parts);
                CHECK(by_parts.is_exact == count.is_exact && by_parts.number == count.number);
                CHECK(counter.count_by_parts(words.data(), size, true, n_parts).number == estimated);
            }
        }
}

// Costs, and bounds of variables and rows, with what the core reads of them.
struct Given {
    std::vector<double> cost, low, high, l, u;
    std::vector<u64> images[5];
    Given(u32 n, u32 m) : cost(n, 1.0), low(n, 0.0), high(n, 1.0), l(m, -HUGE_VAL), u(m, 1.0) {}
    void read() {
        u32 place = 0;
        for (const auto* some : {&cost, &low, &high, &l, &u}) {
            images[place].clear();
            for (const double number : *some) images[place].push_back(image_of(number, Reading::decimal));
            ++place;
        }
    }
    passes::GivenNumbers variables() const {
        return {{low.data(), 1}, {high.data(), 1}, {cost.data(), 1}, {images[1].data(), 1}, {images[2].data(), 1},
                {images[0].data(), 1}, cost.size()};
    }
    passes::GivenNumbers rows() const {
        return {{l.data(), 1}, {u.data(), 1}, {}, {images[3].data(), 1}, {images[4].data(), 1}, {}, l.size()};
    }
};

// Large enough for several threads: masses, and looks at them, and what floats tell, are those of one thread.
void test_masses_and_floats_are_alike_by_threads() {
    std::mt19937_64 random(31);
    for (const bool by_rows : {false, true})
        for (const u32 kind : {0u, 1u, 2u}) {
            const u32 n = by_rows ? 6000 : 62000, m = by_rows ? 62000 : 6000;
            const RandomProgram<std::int32_t> program(random, n, m, 60, kind ? 7 : 30000, kind == 2, by_rows);
            const auto problem = program.problem();
            CHECK(problem.A.n_entries() > 3 * least_entries_of_a_thread && scattering_threads(problem.A, 3, sizeof(Offer)) > 1);
            Given given(n, m);
            for (u32 j = 0; j < n; ++j) {  // some sizes and prices are told by others
                given.cost[j] = random() % 4 ? 0.0 : double(random() % 5) - 2;
                given.high[j] = random() % 4 ? HUGE_VAL : double(1 + random() % 5);
            }
            for (u32 i = 0; i < m; ++i) given.u[i] = random() % 3 ? 0.0 : double(random() % 4);
            given.read();
            const passes::GivenNumbers variables = given.variables(), rows = given.rows();
            const OwnNumbers own{given.low.data(), given.high.data(), given.cost.data(), nullptr, given.images[1].data(),
                                 given.images[2].data(), given.images[0].data(), nullptr, n};
            const OwnNumbers own_rows{given.l.data(), given.u.data(), nullptr, nullptr, given.images[3].data(),
                                      given.images[4].data(), nullptr, nullptr, m};
            std::vector<i64> labels(n), row_labels(m);
            for (u32 j = 0; j < n; ++j) labels[j] = j % 1000;
            for (u32 i = 0; i < m; ++i) row_labels[i] = i;
            std::vector<double> floats[2] = {std::vector<double>(n + m), std::vector<double>(n + m)};
            std::vector<u64> images[2] = {std::vector<u64>(n + m), std::vector<u64>(n + m)};
            std::vector<double> in_floats[2] = {std::vector<double>(n + m), std::vector<double>(n + m)};
            bool speaks[2] = {};
            FloatKinds kinds[2][4];
            for (const u32 n_threads : {1u, 2u, 3u}) {
                const u32 at = n_threads > 1;
                const SizesAndPrices of = find_masses(
                    problem, Reading::decimal, own, own_rows, labels.data(), row_labels.data(), 1000, m,
                    MassArrays{floats[at].data(), images[at].data()}, MassArrays{&floats[at][n], &images[at][n]}, nullptr, n_threads);
                const MassesLookedAt masses{of, [&](u32 j) { return images[at][j]; }, [&](u32 i) { return images[at][n + i]; }};
                speaks[at] = LookAtMasses(problem, own_rows, masses, ConicNumbers(), n_threads).speaks();
                find_masses(problem, variables, rows, in_floats[at].data(), &in_floats[at][n], n_threads);
                CHECK(floats[at] == floats[0] && images[at] == images[0] && in_floats[at] == in_floats[0]);
                CHECK(speaks[at] == speaks[0]);
                for (const u32 k : {0u, 1u, 2u, 3u}) {
                    ApartQuestion question{true, true, true, k % 2 == 1, k < 2 ? 0.0 : 0.02};
                    question.n_threads = n_threads;
                    FloatKinds& found = kinds[at][k] = ToldApart(problem, variables, rows, question).run();
                    const FloatKinds& expected = kinds[0][k];
                    CHECK(found.are_all_apart == expected.are_all_apart && found.variables == expected.variables);
                    CHECK(found.rows == expected.rows && found.are_few_left == expected.are_few_left);
                    CHECK(found.variables_left == expected.variables_left && found.rows_left == expected.rows_left);
                }
                CHECK(supports_are_distinct(problem, n, n_threads) == supports_are_distinct(problem, n));
            }
        }
    CHECK(memory_count().now == 0);
}

// Own scales, entries of chosen rows, words of rows and parts of a matrix are those of one thread.
void test_passes_are_alike_by_threads() {
    std::mt19937_64 random(37);
    const u32 n = 3 * u32(least_entries_of_a_thread), m = 6000;
    Given given(n, m);
    for (u32 j = 0; j < n; ++j) {  // runs of equal numbers, over the ends of parts too
        const u32 kind = j / 7 % 5;
        given.cost[j] = double(kind) - 2, given.low[j] = kind % 2 ? -1.0 : 0.0, given.high[j] = 1.0 + kind / 3;
    }
    given.read();
    const OwnNumbers own{given.low.data(), given.high.data(), given.cost.data(), nullptr, given.images[1].data(),
                         given.images[2].data(), given.images[0].data(), nullptr, n};
    struct Found {
        std::vector<double> floats;
        std::vector<u64> images, low, high, cost;
        std::vector<u8> states;
        explicit Found(u32 n) : floats(n), images(n), low(n), high(n), cost(n), states(n) {}
        OwnScaleArrays arrays() {
            return {floats.data(), images.data(), states.data(), low.data(), high.data(), cost.data()};
        }
        bool operator==(const Found& other) const {
            return floats == other.floats && images == other.images && low == other.low && high == other.high &&
                   cost == other.cost && states == other.states;
        }
    };
    Found one(n), several(n);
    find_own_scales(own, true, true, one.arrays());
    find_own_scales(own, true, true, several.arrays(), 3);
    CHECK(one == several);
    const RandomProgram<std::int32_t> program(random, 62000, m, 60, 7, false, false);
    const auto A = program.problem().A;
    CHECK(A.n_entries() > 3 * least_entries_of_a_thread);
    const Array<u32> rows = sampled_rows(program.problem()).rows;
    const auto entries = entries_by_columns(A, rows), by_threads = entries_by_columns(A, rows, 3);
    const auto are_same = [](const SampledEntry& a, const SampledEntry& b) {
        return a.row == b.row && a.column == b.column && a.value == b.value;
    };
    CHECK(!entries.empty() && std::equal(entries.begin(), entries.end(), by_threads.begin(), by_threads.end(), are_same));
    std::vector<u32> counts(m), other_counts(m);
    CHECK(passes::scan_rows(A, false, 1, counts.data(), 1) == passes::scan_rows(A, false, 1, other_counts.data(), 3));
    CHECK(counts == other_counts);
    std::vector<long long> majors, minors;
    for (u32 j = 0; j < A.n_major; j += 1 + j % 2) majors.push_back(j);
    for (u32 i = 0; i < A.n_minor; i += 1 + i % 3) minors.push_back(i);
    const passes::SomeMinors some(minors.data(), minors.size(), A.n_minor);
    std::vector<std::int32_t> offsets(majors.size() + 1), other_offsets(offsets);
    const auto count = [&](std::vector<std::int32_t>& to, u32 n_threads) {
        return passes::count_entries(A, majors.data(), majors.size(), &some, to.data(), n_threads);
    };
    CHECK(count(offsets, 1) == count(other_offsets, 2) && offsets == other_offsets && offsets.back() > 0);
}

// Rows that the columns of the last block alone tell apart.
void test_floats_are_scattered_in_blocks() {
    const u32 n_kinds = 16, m = 4 * least_entries_of_a_thread / n_kinds + 16, n = n_kinds * m;
    std::vector<std::int32_t> offsets(n + 1), indices(n);
    std::vector<double> values(n, 1.0);
    Given given(n, m);
    for (u32 j = 0; j < n; ++j) {
        offsets[j + 1] = std::int32_t(j + 1);
        indices[j] = std::int32_t(j % m);
        given.high[j] = 1.0 + double(j / m);
        if (j / m + 1 == n_kinds) values[j] = 1.0 + double(j % m);
    }
    given.read();
    Problem<std::int32_t> problem;
    problem.n_variables = n, problem.n_rows = m;
    problem.A = {n, m, offsets.data(), indices.data(), values.data()};
    CHECK(scattering_threads(problem.A, 4, sizeof(SumOfTerms)) == 4);
    const passes::GivenNumbers variables = given.variables(), rows = given.rows();
    // All are apart; then two variables of one row are equal that different threads look at; then two rows are.
    for (const u32 n_equal : {0u, 2u, 2 * n_kinds}) {
        const bool are_apart = n_equal == 0;
        double& high = given.high[(n_kinds - 2) * m + 5];
        high = n_equal == 2 ? 1.0 : double(n_kinds - 1);
        given.read();
        if (n_equal > 2) values[n - 1] = values[n - 2];
        for (const u32 n_threads : {1u, 3u}) {
            ApartQuestion question{false, false, false, false};
            question.n_threads = n_threads;
            const FloatKinds kinds = ToldApart(problem, variables, rows, question).run();
            CHECK(kinds.are_all_apart == are_apart);
            CHECK(are_apart || (kinds.are_few_left && kinds.variables_left.size() >= n_equal));
        }
    }
}

int main() {
    test_equal_words_are_seen();
    test_grouping_of_words_that_are_mostly_alone();
    test_scales_by_integers<std::int32_t>();
    test_scales_by_integers<std::int64_t>();
    test_random_programs<std::int32_t>();
    test_random_programs<std::int64_t>();
    test_classes_are_the_coarsest<std::int32_t>();
    test_classes_are_the_coarsest<std::int64_t>();
    test_cancelled_sums_split_nothing();
    test_rows_apart<std::int32_t>();
    test_rows_apart<std::int64_t>();
    test_told_apart_in_floats<std::int32_t>();
    test_told_apart_in_floats<std::int64_t>();
    test_copies_agree_in_floats();
    test_what_is_alone_settles();
    test_starts_apart();
    test_supports();
    test_values_that_are_not_finite();
    test_signs_of_entries();
    test_scales_of_rows_that_threads_share();
    test_words_are_grouped_and_counted_alike_by_threads();
    test_sparse_graphs();
    test_waiting_cells_fall_apart();
    test_rings();
    test_wave_through_periods();
    test_too_many_classes_end_the_rounds();
    test_numbers_that_are_equal_in_classes();
    test_long_path();
    test_rounds_come_back();
    test_interruption_frees_everything();
    test_spare_memory();
    test_malformed_matrices();
    test_parallel_blocks();
    test_threads_change_nothing();
    test_masses_and_floats_are_alike_by_threads();
    test_passes_are_alike_by_threads();
    test_errors_leave_a_few();
    test_floats_are_scattered_in_blocks();
    std::puts("all passed");
}
