// Arrays that come from Python, checked so that none can crash the process, and memory that goes there.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "relift/passes/numbers.hpp"
#include "relift/python/aligned_memory.hpp"
#include "relift/python/held_array.hpp"
#include "relift/sparse_view.hpp"
#include "relift/threads.hpp"

namespace relift::bindings {

using namespace relift::passes;

class Buffer : public HeldArray {
public:
    using HeldArray::HeldArray;
    bool is_wide() const { return itemsize() == 8; }
    double* doubles(const char* name, size_t size) const {
        if (kind() != 'd' || this->size() != size) fail(name);
        return static_cast<double*>(memory());
    }
    template <class Integer> Integer* integers(const char* name, size_t size) const {
        if (itemsize() != sizeof(Integer) || !holds_integers() || this->size() != size) fail(name);
        return static_cast<Integer*>(memory());
    }
    u8* bytes(const char* name, size_t size) const {
        if (itemsize() != 1 || this->size() != size) fail(name);
        return static_cast<u8*>(memory());
    }
    u64* words(const char* name, size_t size) const {
        if (itemsize() != 8 || !holds_words() || this->size() != size) fail(name);
        return static_cast<u64*>(memory());
    }
    // One for each of `size`, or one for all of them.
    Numbers<double> numbers(const char* name, size_t size) const {
        return this->size() == 1 && size > 1 ? Numbers<double>{doubles(name, 1), 0} : Numbers<double>{doubles(name, size), 1};
    }
    Numbers<u64> images(const char* name, size_t size) const {
        return this->size() == 1 && size > 1 ? Numbers<u64>{words(name, 1), 0} : Numbers<u64>{words(name, size), 1};
    }

private:
    static void fail(const char* name) {
        throw std::invalid_argument(std::string(name) + " has a wrong type or length");
    }
};

// The three arrays of a compressed matrix, held as long as this lives.
class MatrixBuffers {
public:
    MatrixBuffers(PyObject* parts, size_t n_minor) : n_minor_(n_minor) {
        PyObject *offsets, *indices, *values;
        if (!PyArg_ParseTuple(parts, "OOO", &offsets, &indices, &values)) throw PythonError();
        offsets_ = std::make_unique<Buffer>(offsets);
        indices_ = std::make_unique<Buffer>(indices);
        values_ = std::make_unique<Buffer>(values);
        if (offsets_->size() == 0 || offsets_->size() > most_vertices || n_minor > most_vertices)
            throw std::invalid_argument("a matrix has no offsets, or too many");
    }
    bool is_wide() const { return offsets_->is_wide(); }
    template <class Index> SparseView<Index> view(u32 n_threads) const {
        const SparseView<Index> matrix = sampled<Index>();
        check_indices(matrix, n_threads);
        return matrix;
    }
    // For looks at some entries, which check the indices that they read.
    template <class Index> SparseView<Index> sampled() const {
        SparseView<Index> matrix;
        matrix.n_major = u32(offsets_->size() - 1), matrix.n_minor = u32(n_minor_);
        matrix.offsets = offsets_->integers<Index>("offsets", offsets_->size());
        matrix.indices = indices_->integers<Index>("indices", indices_->size());
        matrix.values = values_->doubles("values", values_->size());
        check_offsets(matrix, offsets_->size(), indices_->size(), values_->size());
        return matrix;
    }

private:
    size_t n_minor_;
    std::unique_ptr<Buffer> offsets_, indices_, values_;
};

// A buffer that may be None.
class MaybeBuffer {
public:
    MaybeBuffer(PyObject* object, bool writable = false) {
        if (object != Py_None) buffer_ = std::make_unique<Buffer>(object, writable);
    }
    double* doubles(const char* name, size_t size) const { return buffer_ ? buffer_->doubles(name, size) : nullptr; }

private:
    std::unique_ptr<Buffer> buffer_;
};

inline PyObject* memory_type = nullptr;  // made with the module

// New memory for an array: a bytearray, or, of megabytes, what begins where a large page does.
class Room {
public:
    Room(size_t n, size_t item) {
        const size_t size = n * item;
        object_ = size < least_aligned ? PyByteArray_FromStringAndSize(nullptr, Py_ssize_t(size))
                                       : aligned_memory(memory_type, size);
        if (!object_) throw PythonError();
        memory_ = size < least_aligned ? PyByteArray_AsString(object_)
                                       : reinterpret_cast<AlignedMemory*>(object_)->memory;
    }
    ~Room() { Py_XDECREF(object_); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    template <class T> T* as() const { return static_cast<T*>(memory_); }
    PyObject* handed_over() {
        PyObject* object = object_;
        object_ = nullptr;
        return object;
    }

private:
    PyObject* object_;
    void* memory_;
};

template <class Work> PyObject* by_width(bool is_wide, Work&& work) {
    return is_wide ? work(int64_t{}) : work(int32_t{});
}

// Rows of a vector of this size, every one inside it.
inline const long long* rows_inside(const Buffer& rows, const char* name, size_t count, size_t size) {
    const long long* found = rows.integers<long long>(name, count);
    for (size_t k = 0; k < count; ++k)
        if (found[k] < 0 || size_t(found[k]) >= size) throw std::invalid_argument("a cone lies outside the vector");
    return found;
}

template <class T> PyObject* bytes_of(const std::vector<T>& numbers) {
    Room room(numbers.size(), sizeof(T));
    std::copy(numbers.begin(), numbers.end(), room.as<T>());
    return room.handed_over();
}

}  // namespace relift::bindings
