// An array that Python lends by the buffer protocol, contiguous, and held as long as this lives.
//
// Each module adds what it takes from arrays; what kind of elements they have, and how many, is checked there.
#pragma once
#include "calls.hpp"

#include <cstddef>

namespace relift {

class HeldArray {
public:
    // Only what is said to be optional may be None.
    explicit HeldArray(PyObject* object, bool writable = false, bool optional = false) {
        if (object == Py_None && optional) return;
        if (PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)))
            throw PythonError();
    }
    ~HeldArray() {
        if (view_.obj) PyBuffer_Release(&view_);
    }
    HeldArray(const HeldArray&) = delete;
    HeldArray& operator=(const HeldArray&) = delete;

    bool is_there() const { return view_.obj != nullptr; }
    std::size_t size() const { return view_.itemsize ? std::size_t(view_.len / view_.itemsize) : 0; }
    std::size_t itemsize() const { return std::size_t(view_.itemsize); }
    std::size_t rows() const { return view_.ndim == 2 ? std::size_t(view_.shape[0]) : 0; }
    std::size_t columns() const { return view_.ndim == 2 ? std::size_t(view_.shape[1]) : 0; }

protected:
    // The letter of struct formats for its elements, or 0 where these are more than one number each.
    char kind() const {
        const char* format = view_.format ? view_.format : "B";
        if (*format == '@' || *format == '=' || *format == '<') ++format;
        return format[0] && format[1] ? '\0' : format[0];
    }
    bool holds_integers() const { return kind() == 'i' || kind() == 'l' || kind() == 'q'; }
    bool holds_words() const { return kind() == 'L' || kind() == 'Q'; }
    void* memory() const { return view_.buf; }

private:
    Py_buffer view_{};
};

}  // namespace relift
