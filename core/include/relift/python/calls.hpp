// What every function of a Python module needs around its work in C++: errors that become Python's, and the lock let go.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <new>
#include <stdexcept>

namespace relift {

// A Python error has been set: unwinds to the entry of the function.
struct PythonError {};

// Runs work and turns C++ exceptions into Python ones.
template <class Work> PyObject* guarded(Work&& work) {
    try {
        return work();
    } catch (const PythonError&) {
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::length_error&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
    }
    return nullptr;
}

// Lets other Python threads run while C++ works.
class WithoutLock {
public:
    WithoutLock() : thread_(PyEval_SaveThread()) {}
    ~WithoutLock() { PyEval_RestoreThread(thread_); }

private:
    PyThreadState* thread_;
};

}  // namespace relift
