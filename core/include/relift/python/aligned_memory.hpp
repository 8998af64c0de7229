// A Python object that holds memory for one array, which begins where a large page does: the system then maps all of it
// in far fewer steps, where of memory that begins elsewhere megabytes at both ends come in small pages.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <new>

#include "../portable.hpp"

namespace relift {

constexpr std::size_t large_page = std::size_t(1) << 21, least_aligned = 3 * large_page / 2;

struct AlignedMemory {
    PyObject_HEAD
    void* memory;
    Py_ssize_t size;
};

inline int get_buffer_of_memory(PyObject* self, Py_buffer* view, int flags) {
    const auto* held = reinterpret_cast<AlignedMemory*>(self);
    return PyBuffer_FillInfo(view, self, held->memory, held->size, 0, flags);
}

inline void free_memory(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    ::operator delete(reinterpret_cast<AlignedMemory*>(self)->memory, std::align_val_t(large_page));
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

// The type, made once for each module; nullptr, with an error set, where that fails.
inline PyObject* type_of_aligned_memory(const char* name) {
    static PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer_of_memory)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(free_memory)},
                                  {0, nullptr}};
    PyType_Spec spec = {name, int(sizeof(AlignedMemory)), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    return PyType_FromSpec(&spec);
}

// New memory of so many bytes, not written yet; nullptr, with an error set, where there is none.
inline PyObject* aligned_memory(PyObject* type, std::size_t size) {
    auto* const made = reinterpret_cast<AlignedMemory*>(PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(type), 0));
    if (!made) return nullptr;
    made->memory = ::operator new(size, std::align_val_t(large_page), std::nothrow);
    made->size = Py_ssize_t(size);
    if (!made->memory) {
        Py_DECREF(reinterpret_cast<PyObject*>(made));
        return PyErr_NoMemory();
    }
    ask_for_large_pages(made->memory, size / large_page * large_page);  // what is beyond may not all be used
    return reinterpret_cast<PyObject*>(made);
}

}  // namespace relift
