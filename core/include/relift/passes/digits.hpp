// Whether some number has more significant digits than a few.
#pragma once
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace relift::passes {

// By the digits that std::to_chars prints: the shortest ones that read back as x > 0.
inline bool is_longer_as_printed(double x, int digits) {
    char text[40];
    const char* const end = std::to_chars(text, text + sizeof text, x, std::chars_format::scientific).ptr;
    int count = 0;
    for (const char* at = text; at < end && *at != 'e'; ++at) count += *at != '.';
    return count > digits;  // there are no zeros at the end
}

// The nearest whole number to x, from 0 to 2^51, the even one of two. To add and take away 2^52 is a fraction of a call.
inline double nearest_whole(double x) {
    const double high = x + 4503599627370496.0;
    return high - 4503599627370496.0;
}

// Whether the shortest decimal that reads back as x has more than so many digits, at most 15: of so few there is one
// decimal at most that rounds to x, and it survives a correctly rounded division by, or product with, a power of ten.
inline bool is_longer(double x, int digits) {
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const double size = std::fabs(x);
    if (!(size > 0) || std::isinf(size)) return false;
    if (size < powers[digits] && size == double(std::int64_t(size))) return false;
    if (!(size > 1e-6 && size < 1e15)) return is_longer_as_printed(size, digits);
    int places = digits;  // behind the point, so many that size * 10^places has `digits` digits before it
    if (size >= 1) {
        while (size >= powers[digits - places]) --places;
    } else {
        while (size * powers[places - digits + 1] < 1) ++places;  // rounding up to 1 means a 1 and zeros
    }
    if (places < 0) return nearest_whole(size / powers[-places]) * powers[-places] != size;
    return nearest_whole(size * powers[places]) / powers[places] != size;
}

inline bool has_longer(const double* values, size_t size, int digits) {
    for (size_t k = 0; k < size; ++k)
        if ((k == 0 || values[k] != values[k - 1]) && is_longer(values[k], digits)) return true;
    return false;
}

}  // namespace relift::passes
