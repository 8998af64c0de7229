// Tests of the kernels of tables against slow twins from the standard library; built with sanitizers.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "check.hpp"
#include "relift/tables/closure.hpp"
#include "relift/tables/rows.hpp"
#include "relift/tables/texts.hpp"

using namespace relift::tables;

using Keys = std::vector<int64_t>;

// Keys that lie close together, far apart, or at the ends of what 64 bits hold: direct tables and hashed ones.
Keys random_keys(std::mt19937_64& random, size_t n) {
    Keys keys(n);
    const int kind = int(random() % 4);
    for (int64_t& key : keys) {
        const uint64_t word = random();
        key = kind == 0   ? int64_t(word % 7) - 3
              : kind == 1 ? int64_t(word % (2 * n + 1)) * 1000003
              : kind == 2 ? (word % 2 ? INT64_MAX - int64_t(word % 5) : INT64_MIN + int64_t(word % 5))
                          : int64_t(word);
        if (kind == 3 && word % 3 == 0) key = keys[word % n];
    }
    return keys;
}

void test_numbers_of_keys() {
    std::mt19937_64 random(1);
    for (int k = 0; k < 400; ++k) {
        const size_t n = random() % (k % 50 ? 40 : 5000);
        const Keys keys = random_keys(random, n);
        std::vector<int32_t> numbers(n), first(n);
        const int32_t count = group(keys.data(), n, numbers.data(), first.data());
        std::map<int64_t, int32_t> expected;
        for (size_t i = 0; i < n; ++i) {
            const auto [at, is_new] = expected.emplace(keys[i], int32_t(expected.size()));
            CHECK(numbers[i] == at->second);
            if (is_new) CHECK(first[size_t(at->second)] == int32_t(i));
        }
        CHECK(count == int32_t(expected.size()));
        CHECK(all_distinct(keys.data(), n) == (expected.size() == n));
        std::vector<int32_t> rows(n);
        sorted_rows(keys.data(), n, rows.data());
        for (size_t i = 1; i < n; ++i) {
            const int64_t one = keys[size_t(rows[i - 1])], other = keys[size_t(rows[i])];
            CHECK(one < other || (one == other && rows[i - 1] < rows[i]));
        }
        const Keys set = random_keys(random, random() % 20);
        std::vector<char> found(n);
        contains(keys.data(), n, set.data(), set.size(), reinterpret_cast<bool*>(found.data()));
        for (size_t i = 0; i < n; ++i)
            CHECK(bool(found[i]) == (std::find(set.begin(), set.end(), keys[i]) != set.end()));
    }
}

// Far more keys than one table holds, so that they are parted first; one pair of equals at any distance is seen.
void test_many_keys_are_parted() {
    std::mt19937_64 random(2);
    Keys keys(200000);
    for (int64_t& key : keys) key = int64_t(random());
    CHECK(all_distinct(keys.data(), keys.size()));
    for (size_t other : {size_t(0), size_t(1), keys.size() / 2}) {
        const int64_t kept = std::exchange(keys.back(), keys[other]);
        CHECK(!all_distinct(keys.data(), keys.size()));
        keys.back() = kept;
    }
}

void test_joins() {
    std::mt19937_64 random(3);
    for (int k = 0; k < 600; ++k) {
        const Keys left = random_keys(random, random() % 12);
        Keys right = random_keys(random, random() % 12);
        for (int64_t& key : right)
            if (!left.empty() && random() % 2) key = left[random() % left.size()];
        if (k % 3 == 0) {  // no key twice: the numbers of the keys are the rows
            std::set<int64_t> seen;
            right.erase(std::remove_if(right.begin(), right.end(), [&](int64_t x) { return !seen.insert(x).second; }),
                        right.end());
        }
        const bool keep_all = k % 2;
        std::vector<std::pair<int32_t, int32_t>> expected;
        for (size_t i = 0; i < left.size(); ++i) {
            const size_t before = expected.size();
            for (size_t j = 0; j < right.size(); ++j)
                if (left[i] == right[j]) expected.emplace_back(int32_t(i), int32_t(j));
            if (keep_all && expected.size() == before) expected.emplace_back(int32_t(i), -1);
        }
        const Pairs pairs = join(left.data(), left.size(), right.data(), right.size(), keep_all, 1000);
        CHECK(pairs.size == expected.size());
        for (size_t at = 0; at < expected.size(); ++at) {
            CHECK((pairs.is_whole_left ? int32_t(at) : pairs.left[at]) == expected[at].first);
            CHECK(pairs.right[at] == expected[at].second);
        }
        // Too many pairs are counted and not made.
        const Pairs few = join(left.data(), left.size(), right.data(), right.size(), keep_all, 2);
        CHECK(few.size == expected.size());
        if (std::set<int64_t>(right.begin(), right.end()).size() < right.size() && few.size > 2)
            CHECK(few.left.empty() && few.right.empty());
    }
}

void test_gathering() {
    const double values[] = {1.5, 2.5};
    const int32_t rows[] = {1, -1, 0, 1}, wrong[] = {0, 2};
    double to[4];
    gather(values, 2, rows, 4, to);
    CHECK(to[0] == 2.5 && to[1] == 0.0 && to[2] == 1.5 && to[3] == 2.5);
    CHECK(throws<std::invalid_argument>([&] { gather(values, 2, wrong, 2, to); }));
}

void test_rows_from_triplets() {
    std::mt19937_64 random(4);
    for (int k = 0; k < 300; ++k) {
        const size_t n_rows = 1 + random() % 6, n_columns = 1 + random() % 40, n = random() % (k % 20 ? 30 : 300);
        std::vector<int32_t> rows(n), columns(n), starts(n_rows + 1), indices(n);
        std::vector<double> values(n), data(n);
        for (size_t i = 0; i < n; ++i) {
            rows[i] = int32_t(random() % n_rows);
            columns[i] = int32_t(random() % n_columns);
            values[i] = double(random() % 5) - (k % 2 ? 5.0 : 0.0);
        }
        if (k % 4 == 0) std::sort(rows.begin(), rows.end());
        std::map<std::pair<int32_t, int32_t>, std::vector<double>> expected;
        for (size_t i = 0; i < n; ++i) expected[{rows[i], columns[i]}].push_back(values[i]);
        const Found found = rows_from_triplets(rows.data(), columns.data(), values.data(), n, n_rows, n_columns,
                                               starts.data(), indices.data(), data.data());
        bool has_double = false;
        int32_t at = 0;
        for (const auto& [place, entries] : expected)
            for (double entry : entries) {
                CHECK(starts[size_t(place.first)] <= at && at < starts[size_t(place.first) + 1]);
                CHECK(indices[size_t(at)] == place.second && data[size_t(at)] == entry);
                has_double = has_double || entries.size() > 1;
                ++at;
            }
        CHECK(at == int32_t(n) && starts[0] == 0 && starts[n_rows] == int32_t(n));
        CHECK(found.has_double == has_double);
        CHECK(found.has_zero == (std::find(values.begin(), values.end(), 0.0) != values.end()));
        std::vector<int32_t> places(n);
        rows_from_triplets(rows.data(), columns.data(), nullptr, n, n_rows, n_columns, starts.data(), places.data(),
                           nullptr);
        CHECK(places == indices);
    }
    int32_t starts[3], indices[1];
    for (const auto& [row, column] : {std::pair(2, 0), std::pair(-1, 0), std::pair(0, 3), std::pair(0, -1)})
        CHECK(throws<std::invalid_argument>([&, row = int32_t(row), column = int32_t(column)] {
            rows_from_triplets(&row, &column, nullptr, 1, 2, 3, starts, indices, nullptr);
        }));
}

void test_placing_rows() {
    const std::vector<int32_t> starts{0, 2, 2, 3}, indices{0, 2, 1}, of_row{2, 0};
    const std::vector<double> data{1, 2, 3}, scale{10, -1};
    std::vector<int64_t> next{1, 3};
    std::vector<int32_t> to_indices(5, -7);
    std::vector<double> to_data(5, -7);
    const auto place = [&](const int32_t* rows, size_t n_entries) {
        place_rows(starts.data(), indices.data(), data.data(), 3, 3, rows, scale.data(), 2, 4, next.data(), n_entries,
                   to_indices.data(), to_data.data());
    };
    place(of_row.data(), 5);
    CHECK((to_indices == std::vector<int32_t>{-7, 5, -7, 4, 6}));
    CHECK((to_data == std::vector<double>{-7, 30, -7, -1, -2}));
    CHECK((next == std::vector<int64_t>{2, 5}));
    const std::vector<int32_t> outside{3, 0}, negative{-1, 0};
    CHECK(throws<std::invalid_argument>([&] { place(outside.data(), 9); }));
    CHECK(throws<std::invalid_argument>([&] { place(negative.data(), 9); }));
    next = {2, 4};
    CHECK(throws<std::invalid_argument>([&] { place(of_row.data(), 5); }));  // the second row would end behind the array
}

void test_texts() {
    std::mt19937_64 random(5);
    Texts texts;
    std::map<std::string, int32_t> expected;
    std::vector<std::string> in_order;
    for (int k = 0; k < 4000; ++k) {
        std::string text(random() % 20, 'a');
        for (char& letter : text) letter = char('a' + random() % 3);
        const auto [at, is_new] = expected.emplace(text, int32_t(expected.size()));
        if (is_new) in_order.push_back(text);
        CHECK(texts.find(text) == (is_new ? -1 : at->second));
        CHECK(texts.number(text) == at->second);
        CHECK(texts.text(at->second) == text);
    }
    CHECK(texts.size() == int32_t(expected.size()) && texts.size() > 1024);  // it has grown
    std::vector<int32_t> ranks(in_order.size());
    texts.ranks(ranks.data());
    int32_t rank = 0;
    for (const auto& [text, number] : expected) CHECK(ranks[size_t(number)] == rank++);

    const std::string bytes = "ab" "" "b" "ab";
    const std::vector<int64_t> starts{0, 2, 2, 3, 5};
    const std::vector<unsigned char> is_there{1, 1, 0, 1};
    std::vector<int32_t> numbers(4);
    Texts others;
    others.number_all(starts.data(), bytes.data(), is_there.data(), 4, numbers.data());
    CHECK((numbers == std::vector<int32_t>{0, 1, -1, 0}));
    CHECK(throws<std::invalid_argument>([&] { others.number("\xff"); }));
}

void test_utf8() {
    for (const char* good : {"", "a", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
                             "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "a\xC3\xA9z"})
        CHECK(is_utf8(good));
    for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x7F", "\xC2\xC0", "\xE0\x9F\xBF", "\xE0\xA0", "\xED\xA0\x80",
                            "\xF0\x8F\xBF\xBF", "\xF0\x90\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE1\x80\x7F",
                            "\xF1\x80\x80\xC0", "a\xFF"})
        CHECK(!is_utf8(bad));
}

// Steps that join, test and swap columns, against sets that are gone through until nothing changes.
void test_closure() {
    std::mt19937_64 random(6);
    using Tuple = std::vector<int64_t>;
    for (int k = 0; k < 300; ++k) {
        const int64_t range = 1 + int64_t(random() % 6);
        std::vector<TupleSet> sets{TupleSet(2), TupleSet(1)};
        std::vector<std::set<Tuple>> expected(2);
        const auto start = [&](size_t s, const Tuple& tuple) {
            CHECK(sets[s].add(tuple.data()) == expected[s].insert(tuple).second);
        };
        for (int i = 0; i < 3; ++i) start(0, {int64_t(random() % uint64_t(range)), int64_t(random() % uint64_t(range))});
        start(1, {int64_t(random() % uint64_t(range))});
        std::vector<int64_t> rest;
        for (size_t i = 0, n = random() % 12; i < 2 * n; ++i) rest.push_back(int64_t(random() % uint64_t(range)));
        const int32_t kind = int32_t(random() % 4);
        const auto holds = [&](int64_t a, int64_t b) { return kind == 0 ? a != b : kind == 1 ? a == b : kind == 2 ? a < b : a <= b; };
        std::vector<Step> steps;
        steps.emplace_back(0, 0, rest.data(), rest.size() / 2, 2, std::vector<std::pair<int32_t, int32_t>>{{1, 0}});
        steps.back().outputs = {0, -2};
        steps.back().tests = {{kind, 0, -2}};
        steps.emplace_back(0, 1, rest.data(), rest.size() / 2, 2, std::vector<std::pair<int32_t, int32_t>>{});
        steps.back().outputs = {-1};
        steps.emplace_back(1, 0, rest.data(), rest.size() / 2, 2, std::vector<std::pair<int32_t, int32_t>>{{0, 1}});
        steps.back().outputs = {-1, 0};
        CHECK(close(sets, steps, 1000));
        for (size_t before = size_t(-1); before != expected[0].size() + expected[1].size();) {
            before = expected[0].size() + expected[1].size();
            for (size_t r = 0; r < rest.size(); r += 2) {
                const int64_t a = rest[r], b = rest[r + 1];
                const auto pairs = expected[0], ones = expected[1];
                for (const Tuple& t : pairs) {
                    if (t[1] == a && holds(t[0], b)) expected[0].insert({t[0], b});
                    expected[1].insert({a});
                }
                for (const Tuple& t : ones)
                    if (t[0] == b) expected[0].insert({a, t[0]});
            }
        }
        for (size_t s = 0; s < 2; ++s) {
            CHECK(sets[s].size() == expected[s].size());
            for (size_t i = 0; i < sets[s].size(); ++i)
                CHECK(expected[s].count(Tuple(sets[s].at(i), sets[s].at(i) + sets[s].width())) == 1);
        }
    }
    std::vector<TupleSet> chain{TupleSet(2)};
    std::vector<int64_t> edges;
    for (int64_t i = 0; i < 400; ++i) {
        edges.insert(edges.end(), {i, i + 1});
        chain[0].add(edges.data() + 2 * i);
    }
    std::vector<Step> steps;
    steps.emplace_back(0, 0, edges.data(), 400, 2, std::vector<std::pair<int32_t, int32_t>>{{1, 0}});
    steps.back().outputs = {0, -2};
    std::vector<TupleSet> cut = chain;
    CHECK(!close(cut, steps, 1000));  // more than allowed
    CHECK(close(chain, steps, 100000) && chain[0].size() == 400 * 401 / 2);
    CHECK(throws<std::invalid_argument>([] { TupleSet(0); }));
}

int main() {
    test_closure();
    test_numbers_of_keys();
    test_many_keys_are_parted();
    test_joins();
    test_gathering();
    test_rows_from_triplets();
    test_placing_rows();
    test_texts();
    test_utf8();
    std::puts("all passed");
}
