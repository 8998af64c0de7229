// What every test program of the core needs.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                             \
    do {                                                                             \
        if (!(condition)) {                                                          \
            std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);    \
            std::exit(1);                                                            \
        }                                                                            \
    } while (0)

// Whether a call throws an exception of that kind.
template <class Error, class Call> bool throws(Call&& call) {
    try {
        call();
    } catch (const Error&) {
        return true;
    }
    return false;
}
