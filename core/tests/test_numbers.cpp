// Tests of exact numbers, on which all else rests: quick to build, so that they are also built with sanitizers and our
// own 128 bits (see tests/core/test_cpp_core.py).
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "relift/refine.hpp"

using namespace relift;

// The two words that stand for 128 bits where the compiler has none, against the compiler's own.
void test_two_words() {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 Own;
    const auto of = [](Own x) { return TwoWords(u64(x), u64(x >> 64)); };
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 20000; ++trial) {
        const auto word = [&] { return trial % 3 ? random() : random() >> (random() % 64); };
        const u64 a0 = word(), a1 = trial % 2 ? word() : ~u64(0), b0 = word(), b1 = trial % 5 ? word() : 0;
        const Own a = Own(a1) << 64 | a0, b = Own(b1) << 64 | b0;
        const TwoWords x = of(a), y = of(b);
        const int by = int(random() % 128);
        CHECK(TwoWords::product(a0, b0) == of(Own(a0) * b0));
        CHECK(x + y == of(a + b) && x - y == of(a - b) && x * y == of(a * b));
        CHECK((x & y) == of(a & b) && ~x == of(~a));
        CHECK((x << by) == of(a << by) && (x >> by) == of(a >> by));
        CHECK((x > y) == (a > b) && (x == y) == (a == b));
    }
    for (double power = 1; power < 1e35; power *= 10) CHECK(TwoWords::of(power) == of(Own(power)));
#endif
}

void test_field() {
    CHECK(field_multiply(field_inverse(10), 10) == 1);
    CHECK(field_inverse(0) == 0);
    CHECK(field_negate(0) == 0 && field_negate(1) == modulus - 1 && field_negate(modulus - 1) == 1);
    CHECK(field_reduce(~u128(0)) == field_add(field_multiply(field_reduce(~u64(0)), field_reduce(u128(1) << 64)),
                                              field_reduce(~u64(0))));
    for (Reading reading : {Reading::decimal, Reading::bits}) {
        CHECK(image_of(-0.0, reading) == 0);
        CHECK(image_of(9007199254740992.0, reading) == u64(1) << 53);
        CHECK(image_of(HUGE_VAL, reading) == plus_infinity && image_of(-HUGE_VAL, reading) == minus_infinity);
        CHECK(field_multiply(image_of(0.375, reading), 8) == 3);
        CHECK(field_add(image_of(-2.5, reading), image_of(2.5, reading)) == 0);
    }
    const auto sum_is = [](Reading r) { return field_add(image_of(.1, r), image_of(.2, r)) == image_of(.3, r); };
    CHECK(sum_is(Reading::decimal) && !sum_is(Reading::bits));
    std::mt19937_64 random(1);
    for (int k = 0; k < 60000; ++k) {  // every way to read a decimal agrees with printing it
        u64 word = random();
        double x;
        if (k % 3 == 0) x = double(i64(word % 2000000001) - 1000000000) / std::pow(10.0, double(word >> 60));
        else if (k % 3 == 1) std::memcpy(&x, &word, sizeof x);
        else x = std::ldexp(double(word >> (k % 16)), -int(word % 90));
        if (!std::isfinite(x)) continue;
        const u64 printed = magnitude_by_printing(x);
        CHECK(image_of(x, Reading::decimal) == (x < 0 ? field_negate(printed) : printed));
    }
}

void test_inverses() {
    std::mt19937_64 random(6);
    for (int k = 0; k < 2000; ++k) {
        const u64 a = k < 40 ? u64(k) : k < 80 ? modulus - u64(k - 39) : random() % modulus;
        CHECK(field_inverse(a) == field_power(a, modulus - 2));
    }
    for (int k = -200; k <= 200; ++k) {
        const u64 power = field_power(2, u64(std::abs(k)));
        CHECK(field_power_of_two(k) == (k < 0 ? field_inverse(power) : power));
    }
}

// Floats around powers of two and around short decimals, ties, and the ends of where integers do, read by integers.
void test_digits_by_integers() {
    std::mt19937_64 random(5);
    u64 n_read = 0;
    const auto check = [&](double x) {
        u64 magnitude = 0;
        if (!magnitude_by_integers(x, magnitude)) return;
        ++n_read;
        CHECK(magnitude == magnitude_by_printing(x));
    };
    for (int exponent = -40; exponent < 56; ++exponent)
        for (u64 k = 0; k < 200; ++k) {
            const u64 bits = bits_of(std::ldexp(1.0, exponent));
            for (u64 word : {bits + k, bits - k, bits + (u64(1) << 51) + k, bits + (random() >> 12)}) {
                double x;
                std::memcpy(&x, &word, sizeof x);
                check(x);
            }
        }
    for (int digits = 1; digits <= 17; ++digits)
        for (int k = 0; k < 2000; ++k) {
            const double x = double(random() % u64(std::pow(10.0, digits))) / std::pow(10.0, double(random() % 24));
            check(x), check(std::nextafter(x, 0.0)), check(std::nextafter(x, HUGE_VAL));
        }
    check(std::ldexp(9007199254740991.0, -1)), check(std::ldexp(9007199254740991.0, -84));
    CHECK(n_read > 100000);
    u64 ignored;
    CHECK(!magnitude_by_integers(0.0, ignored) && !magnitude_by_integers(0.25, ignored));
    CHECK(!magnitude_by_integers(1e-300, ignored) && !magnitude_by_integers(1e300, ignored));
}

// Many values that were mostly seen before, then many that were not, then again.
void test_many_values_are_read_as_one_by_one() {
    std::mt19937_64 random(12);
    std::vector<double> values;
    for (u32 k = 0; k < 60000; ++k) {
        const double many_digits = double(i64(random())) * 0x1p-63;
        values.push_back(k / 9000 % 3 == 1 ? many_digits
                         : k / 9000 % 3    ? std::round(many_digits * 1e7) / 1e2
                                           : double(random() % 50) / 8 - 3);
    }
    values[123] = HUGE_VAL;
    // Among those of many digits: what integers do not read.
    const double others[] = {-0.0, 0.0, HUGE_VAL, -HUGE_VAL, 0.25, -1e300, 5e-324, -7.0, 0.1, 1e22, 4503599627370497.5};
    std::copy(std::begin(others), std::end(others), values.begin() + 12000);
    for (const Reading reading : {Reading::decimal, Reading::bits}) {
        std::vector<u64> images(values.size());
        ValueReader(reading, values.size()).read(values.data(), values.size(), images.data());
        for (u32 k = 0; k < values.size(); ++k) CHECK(images[k] == image_of(values[k], reading));
    }
}

// The words of entries are those of their values whatever the form, which depends on how many values there are.
void test_forms_of_weights() {
    const u64 n_entries = 60000;
    for (const u32 n_values : {1u, 2u, 256u, 257u, 2048u, 2049u, 50000u})
        for (const u64 n_given : {n_entries, u64(20000)}) {
            std::vector<double> values(n_given);
            for (u64 e = 0; e < n_given; ++e) values[e] = 0.1 * double(1 + e * 7919 % n_values);
            const auto word_of = [](u64 key) {
                double value;
                std::memcpy(&value, &key, sizeof value);
                return image_of(value, Reading::decimal);
            };
            const auto write = [&](u64 first, u64 last, u64* words) {
                for (u64 e = first; e < last; ++e) *words++ = image_of(values[e], Reading::decimal);
            };
            const Weights one = encode(n_given, [&](auto&& visit) {
                for (const double value : values)
                    if (!visit(bits_of(value))) return;
            }, word_of, [&](u64* words) { write(0, n_given, words); });
            const bool has_room = n_values <= 2048 && n_given == n_entries;
            CHECK(one.kind == (n_values == 1     ? WeightKind::unit
                               : n_values <= 256 ? WeightKind::table
                               : has_room        ? WeightKind::wide_table
                                                 : WeightKind::words));
            const Weights two = encode_by_blocks(values.data(), n_given, word_of, write, 2);
            for (const Weights* weights : {&one, &two})
                with_weight(*weights, [&](auto weight) {
                    for (u64 e = 0; e < n_given && weights->kind != WeightKind::unit; ++e)
                        CHECK(weight(e) == image_of(values[e], Reading::decimal));
                });
        }
}

// Several threads number values as one does, also those that stand late, in one block or in several.
void test_numbers_by_blocks() {
    const u64 n_entries = 80000;
    const auto word_of = [](u64 key) { return key | 1; };
    for (const u32 n_values : {2u, 256u, 257u, 2048u, 2049u})
        for (const u64 n_early : {u64(0), u64(30000), n_entries - 1})
            for (const u32 n_threads : {1u, 2u, 3u, 7u}) {
                std::vector<double> values(n_entries, 1.0);
                for (u64 e = n_early; e < n_entries; ++e)
                    values[e] = double(e % 3 ? 1 + (e - n_early) * n_values / n_entries : n_values - e % n_values);
                const auto for_each_key = [&](auto&& visit) {
                    for (const double value : values)
                        if (!visit(bits_of(value))) return;
                };
                const auto agree = [&](auto id) {
                    using Id = decltype(id);
                    Weights one, some;
                    const bool fits = number_values<Id>(n_entries, for_each_key, word_of, one);
                    CHECK(number_values_by_blocks<Id>(values.data(), n_entries, word_of, n_threads, some) == fits);
                    if (!fits) return;
                    CHECK(some.keys == one.keys && some.table == one.table);
                    CHECK(ids_of<Id>(some) == ids_of<Id>(one));
                };
                agree(u8());
                agree(u16());
            }
}

// A row of many entries is folded on the way: in the field as slowly as can be, and by the kernel.
void test_long_rows() {
    std::mt19937_64 random(13);
    const u32 n = 1000;
    std::vector<std::int32_t> offsets{0, std::int32_t(n)}, indices(n);
    std::vector<double> values(n, 1.0);
    std::vector<u64> source(n);
    Weights weights;
    weights.kind = WeightKind::words;
    u64 expected = 0, found = 0;
    for (u32 j = 0; j < n; ++j) {
        indices[j] = std::int32_t(j);
        source[j] = modulus - 1 - random() % 1000;  // as large as can be
        weights.words.push_back(modulus - 1 - random() % 1000);
        expected = field_add(expected, field_multiply(source[j], weights.words[j]));
    }
    const SparseView<std::int32_t> matrix{1, n, offsets.data(), indices.data(), values.data()};
    gather<FieldAlgebra>(matrix, weights, Source{source.data(), false}, 1, [&](u32, u64 sum) { found = sum; });
    CHECK(found == expected);
    std::vector<u64> sums(n);
    Array<u64> parts;
    scatter<FieldAlgebra>(matrix, weights, Source{source.data(), false}, sums.data(), parts, 1);
    for (u32 j = 0; j < n; ++j) CHECK(sums[j] == field_multiply(source[0], weights.words[j]));
    u64 loose = 0;
    for (u32 j = 0; j < n; ++j) loose = FieldAlgebra::loose_add_product(loose, source[j], weights.words[j]);
    CHECK(FieldAlgebra::tight(loose) == expected);
}

int main() {
    test_two_words();
    test_field();
    test_inverses();
    test_digits_by_integers();
    test_many_values_are_read_as_one_by_one();
    test_forms_of_weights();
    test_numbers_by_blocks();
    test_long_rows();
    std::puts("all passed");
}
