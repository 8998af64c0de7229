// Sixteen floats or eight doubles side by side, by the compiler's vector extension: one source for every processor.
// Included by targets.hpp once for each processor, like the other files that say so: no include guard.
#define RELIFT_ML_INLINE inline __attribute__((always_inline))

namespace relift::ml::RELIFT_ML_TARGET {

using Floats = float __attribute__((vector_size(64), aligned(4), may_alias));
using Doubles = double __attribute__((vector_size(64), aligned(8), may_alias));
using Ints = std::int32_t __attribute__((vector_size(64), aligned(4), may_alias));
using Longs = std::int64_t __attribute__((vector_size(64), aligned(8), may_alias));

using HalfFloats = float __attribute__((vector_size(32), aligned(4), may_alias));

template <class Real> struct LanesOf;
template <> struct LanesOf<float> {
    using Values = Floats;
    using Numbers = Ints;
    using Number = std::int32_t;
    static constexpr int count = 16;
};
template <> struct LanesOf<double> {
    using Values = Doubles;
    using Numbers = Longs;
    using Number = std::int64_t;
    static constexpr int count = 8;
};

template <class Lanes, class Real> RELIFT_ML_INLINE Lanes load(const Real* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof(Lanes));
    return lanes;
}
template <class Lanes, class Real> RELIFT_ML_INLINE void store(Real* to, const Lanes& lanes) {
    std::memcpy(to, &lanes, sizeof(Lanes));
}
template <class Lanes, class Real> RELIFT_ML_INLINE Lanes all(Real value) { return Lanes{} + value; }

// 2^t for t <= 0 (and small positive t), relative error below 1e-7: a polynomial on [-1/2, 1/2], then the exponent.
RELIFT_ML_INLINE Floats power_of_two(Floats t) {
    const Floats least = all<Floats>(-125.0f), most = all<Floats>(127.0f);
    t = t < least ? least : t;
    t = t > most ? most : t;
    const Floats shift = all<Floats>(12582912.0f);  // 1.5 * 2^23: adding it rounds to whole numbers
    const Floats shifted = t + shift;
    const Floats rest = t - (shifted - shift);
    Floats value = all<Floats>(1.5403530e-4f);
    value = value * rest + 1.3333558e-3f;
    value = value * rest + 9.6181291e-3f;
    value = value * rest + 5.5504109e-2f;
    value = value * rest + 2.4022651e-1f;
    value = value * rest + 6.9314718e-1f;
    value = value * rest + 1.0f;
    const Ints exponent = ((Ints)shifted - (Ints)shift) << 23;
    return (Floats)((Ints)value + exponent);
}

// The same in double precision, relative error below 1e-15: the series of exp(rest log 2).
RELIFT_ML_INLINE Doubles power_of_two(Doubles t) {
    const Doubles least = all<Doubles>(-1021.0), most = all<Doubles>(1023.0);
    t = t < least ? least : t;
    t = t > most ? most : t;
    const Doubles shift = all<Doubles>(6755399441055744.0);  // 1.5 * 2^52
    const Doubles shifted = t + shift;
    const Doubles rest = t - (shifted - shift);
    constexpr double series[] = {1.3691488853904128e-12, 2.5678435993488206e-11, 4.4455382718708116e-10,
                                 7.0549116208011234e-9,  1.0178086009239699e-7,  1.3215486790144309e-6,
                                 1.5252733804059841e-5,  1.5403530393381609e-4,  1.3333558146428443e-3,
                                 9.6181291076284772e-3,  5.5504108664821580e-2,  2.4022650695910071e-1,
                                 6.9314718055994531e-1,  1.0};
    Doubles value = all<Doubles>(series[0]);
    for (int k = 1; k < 14; ++k) value = value * rest + series[k];
    const Longs exponent = ((Longs)shifted - (Longs)shift) << 52;
    return (Doubles)((Longs)value + exponent);
}

// The square root of t >= 0, relative error below 1e-6: Newton's steps for 1/sqrt(t), then times t.
RELIFT_ML_INLINE Floats square_root(Floats t) {
    Floats inverse = (Floats)(0x5f3759df - ((Ints)t >> 1));
    const Floats half = t * 0.5f;
    for (int step = 0; step < 3; ++step) inverse = inverse * (1.5f - half * inverse * inverse);
    return t * inverse;
}

}  // namespace relift::ml::RELIFT_ML_TARGET
