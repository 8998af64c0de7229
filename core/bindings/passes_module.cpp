// The Python module relift._passes_core, against the limited API: single passes over the matrices of a program.
//
// The caller is relift/program/passes.py, which makes arrays of the right types; types and sizes are checked again here
// so that no array can crash the process. A matrix comes as (offsets, indices, values), and last how many threads may be
// used; results whose length is not known before come as bytearrays.

#include "passes/checks.hpp"
#include "passes/classes.hpp"
#include "passes/cones.hpp"
#include "passes/conic_form.hpp"
#include "passes/looks.hpp"
#include "passes/matrices.hpp"
#include "passes/quadratic.hpp"
#include "passes/rows.hpp"
#include "passes/substitution.hpp"
#include "passes/vectors.hpp"

namespace {

using namespace relift;
using namespace relift::bindings;

std::vector<PyMethodDef> all_methods() {
    std::vector<PyMethodDef> all;
    const auto take = [&all](const auto& methods) { all.insert(all.end(), std::begin(methods), std::end(methods)); };
    take(methods_of_checks);
    take(methods_of_rows);
    take(methods_of_substitution);
    take(methods_of_matrices);
    take(methods_of_classes);
    take(methods_of_looks);
    take(methods_of_conic_form);
    take(methods_of_cones);
    take(methods_of_quadratic);
    take(methods_of_vectors);
    all.push_back({nullptr, nullptr, 0, nullptr});
    return all;
}

std::vector<PyMethodDef> methods = all_methods();  // as long as the module

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_passes_core", "Single passes over the matrices of a program.", -1,
                          methods.data(), nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__passes_core() {
    if (!memory_type && !(memory_type = type_of_aligned_memory("relift._passes_core.Memory"))) return nullptr;
    return PyModule_Create(&definition);
}
