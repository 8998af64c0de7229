// Refines one program from a file inside the function `measured`, for callgrind's --toggle-collect=measured.
//
// The file: n, m, entries of P (0: no P), entries of A, A by rows, scale rows as u64; then, of P (if any) and of A,
// int32 offsets, int32 indices and float64 values; then the images (u64) of l and u, then l and u (float64).
// Prints passes, splitters, extra bytes and the number of classes. See benchmarks/refinement.
#include <cstdio>

#include "relift/refine.hpp"

using namespace relift;

struct Quiet final : Monitor {
    bool go_on(const char*, u64, u64) override { return true; }
};

template <class T>
std::vector<T> read(std::FILE* file, u64 size) {
    std::vector<T> array(size);
    if (std::fread(array.data(), sizeof(T), size, file) != size) throw std::invalid_argument("the file is too short");
    return array;
}

struct Matrix {
    std::vector<std::int32_t> offsets, indices;
    std::vector<double> values;
    Matrix(std::FILE* file, u64 n_major, u64 n_entries)
        : offsets(read<std::int32_t>(file, n_major + 1)), indices(read<std::int32_t>(file, n_entries)),
          values(read<double>(file, n_entries)) {}
    SparseView<std::int32_t> view(u64 n_major, u64 n_minor) const {
        return {u32(n_major), u32(n_minor), offsets.data(), indices.data(), values.data()};
    }
    void check(const SparseView<std::int32_t>& view) const {
        check_structure(view, offsets.size(), indices.size(), values.size());
    }
};

extern "C" __attribute__((noinline)) Statistics measured(const Problem<std::int32_t>& problem, const Matrix* P,
                                                         const Matrix& A, const Options& options,
                                                         const Output& output) {
    Quiet monitor;
    if (P) P->check(problem.P);
    A.check(problem.A);
    return refine(problem, options, output, monitor);
}

int main(int n_arguments, char** arguments) {
    std::FILE* file = n_arguments == 2 ? std::fopen(arguments[1], "rb") : nullptr;
    if (!file) return 1;
    const auto header = read<u64>(file, 6);
    const u64 n = header[0], m = header[1];
    const bool by_rows = header[4];
    std::unique_ptr<Matrix> P;
    if (header[2]) P = std::make_unique<Matrix>(file, n, header[2]);
    const Matrix A(file, by_rows ? m : n, header[3]);
    const auto lower = read<u64>(file, m), upper = read<u64>(file, m);
    const auto l = read<double>(file, m), u = read<double>(file, m);
    std::fclose(file);

    Problem<std::int32_t> problem;
    problem.n_variables = u32(n);
    problem.n_rows = u32(m);
    problem.A_is_by_rows = by_rows;
    problem.A = by_rows ? A.view(m, n) : A.view(n, m);
    if (P) problem.P = P->view(n, n);
    problem.row_lower = lower.data();
    problem.row_upper = upper.data();
    problem.l = l.data();
    problem.u = u.data();
    Options options;
    options.scale_rows = header[5];

    std::vector<i64> variables(n), rows(m);
    std::vector<double> scales(m);
    std::vector<u64> images(m);
    const Statistics statistics =
        measured(problem, P.get(), A, options, {variables.data(), rows.data(), scales.data(), images.data()});
    const auto n_classes = [](const std::vector<i64>& labels) {
        return labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
    };
    std::printf("%llu %llu %llu %lld\n", (unsigned long long)statistics.passes,
                (unsigned long long)statistics.splitters, (unsigned long long)statistics.peak_bytes,
                (long long)(n_classes(variables) + n_classes(rows)));
}
