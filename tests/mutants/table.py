"""Small errors that tests must notice: a place, what stands there, what is put there, and who has to see it.

The places are those where an error would be silent: signs, tolerances, what is added to what. Each old text stands
exactly once in its file. C++ is tested by the programs in ``core/tests``, Python by the files of tests that are named.
"""

from __future__ import annotations

from dataclasses import dataclass

GUARDS = "tests/guards/test_named_constants.py"


@dataclass(frozen=True)
class Mutant:
    """One error.

    Parameters
    ----------
    file
        Where it is made.
    old, new
        The text that stands there once, and what is put in its place.
    tests
        Files of tests, or programs of the C++ core, at least one of which must fail.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def is_cpp(self) -> bool:
        """Whether it is in the C++ core."""
        return self.file.endswith(".hpp")


def _of(folder: str, *mutants: tuple[str, str, str, str]) -> list[Mutant]:
    return [Mutant(f"{folder}/{file}", old, new, tuple(tests.split())) for file, old, new, tests in mutants]


PROGRAM = _of(
    "src/relift/program",
    ("program.py", "NO_NUMBER = 1e31", "NO_NUMBER = 1e200", "tests/hostile/test_huge_numbers.py"),
    ("huge_bounds.py", "NO_BOUND = 1e20", "NO_BOUND = 1e21", "tests/hostile/test_huge_numbers.py"),
    ("convexity.py", "TOLERANCE = 1e-11", "TOLERANCE = 1e-1", "tests/program/test_convexity.py"),
    (
        "formulas.py",
        "return leader_scale / (scale * class_size)",
        "return leader_scale / scale",
        "tests/lifting/test_lifting.py",
    ),
    ("cones.py", "SUM_TOLERANCE = 1e-9", "SUM_TOLERANCE = 1.0", "tests/program/test_cones.py"),
    (
        "magnitudes.py",
        "return _largest_along(matrix.tocsc(), sizes)",
        "return _largest_along(matrix.tocsr(), sizes)",
        "tests/program tests/hostile/test_gap.py",
    ),
)
SYMMETRY = _of(
    "src/relift/symmetry",
    ("centres.py", "LARGEST_CENTRE = 1e7", "LARGEST_CENTRE = 1e30", "tests/hostile/test_huge_numbers.py"),
    (
        "rounded_refinement.py",
        "_MOST_CANCELLED = 100.0, 0.01",
        "_MOST_CANCELLED = 100.0, 1.0",
        "tests/symmetry/test_rounded_refinement.py",
    ),
    (
        "scaled_search.py",
        "ASKING_AGAIN = 200_000",
        "ASKING_AGAIN = 0",
        "tests/symmetry/test_told_apart_in_floats.py",
    ),
    (
        "scaled_search.py",
        "relative = relative if self.small is None else self.small.over_sizes(masses)",
        "relative = relative if self.small is None else (np.ones_like(relative[0]), np.ones_like(relative[1]))",
        "tests/symmetry/test_merged_program.py",
    ),
    ("semidefinite_classes.py", "SAME_ROUNDS = 2", "SAME_ROUNDS = 0", "tests/lifting/test_semidefinite_blocks.py"),
    (
        "semidefinite_classes.py",
        "& (own_scales[turned] * other_scales > 0)",
        "",
        "tests/lifting/test_semidefinite_blocks.py",
    ),
    (
        "equitable.py",
        "inverse, fits = None, _distance_of_squares(rows, conic_rows)",
        "inverse, fits = None, 0.0",
        "tests/lifting/test_semidefinite_blocks.py",
    ),
    (
        "merged_program.py",
        "rows.floats * floats",
        "rows.floats",
        "tests/symmetry/test_merged_program.py",
    ),
    (
        "merged_program.py",
        "masses.variables * sizes.variables, field.multiply(masses.variable_images, sizes.variable_images)",
        "masses.variables, masses.variable_images",
        "tests/symmetry/test_merged_program.py",
    ),
    (
        "merged_program.py",
        "if not np.array_equal(field.images(product, reading), exact):",
        "if False:",
        "tests/symmetry/test_merged_program.py",
    ),
    (
        "equitable.py",
        "is_first[classes.representatives[shared]] = False",
        "pass",
        "tests/symmetry/test_equitable.py",
    ),
    (
        "equitable.py",
        "TOLERANCE = 1e-10",
        "TOLERANCE = 1e10",
        "tests/symmetry/test_cone_refinement.py tests/symmetry/test_equitable.py tests/lifting/test_lifting.py",
    ),
    (
        "equitable.py",
        "count * cones.class_sizes[cone_class[one]] == conic_rows.class_sizes[conic_rows.labels[one]]",
        "count == count",
        "tests/symmetry/test_cone_refinement.py",
    ),
    ("finite_field.py", "MODULUS = (1 << 61) - 1", "MODULUS = (1 << 31) - 1", "tests/symmetry/test_finite_field.py"),
    (
        "finite_field.py",
        "np.where(special <= MINUS_INFINITY, both - special, special)",
        "special",
        "tests/symmetry/test_finite_field.py",
    ),
    ("exact_vectors.py", "sum(sizes) <= SMALL", "sum(sizes) <= 2 * SMALL", "tests/symmetry/test_exact_vectors.py"),
    (
        "exact_vectors.py",
        "return all(self.exact(name) is",
        "return any(self.exact(name) is",
        "tests/symmetry/test_exact_vectors.py",
    ),
    ("snapping.py", "too_wide = ends > starts", "too_wide = ends < starts", "tests/symmetry/test_snapping.py"),
    (
        "scaled_cones.py",
        "keeps_sign = is_negative & ~has_open_sign",
        "keeps_sign = is_negative",
        "tests/symmetry/test_looks.py",
    ),
    (
        "snapping.py",
        "np.lexsort((magnitudes[joined], -counts[joined], chain[joined]))",
        "np.lexsort((magnitudes[joined], counts[joined], chain[joined]))",
        "tests/symmetry/test_snapping.py",
    ),
)
LIFTING = _of(
    "src/relift/lifting",
    ("substitution.py", "SLACK * below", "SLACK * above", "tests/hostile/test_huge_numbers.py"),
    ("semidefinite_blocks.py", "(1.0 if i == j else ROOT)", "1.0", "tests/lifting/test_semidefinite_blocks.py"),
    ("semidefinite_blocks.py", "MAKERS = 4", "MAKERS = 2", "tests/lifting/test_semidefinite_blocks.py"),
    (
        "quotient.py",
        "duals = self.cones.blocks.T @ duals",
        "duals = duals[: self.cones.factor.size]",
        "tests/lifting/test_semidefinite_blocks.py",
    ),
    (
        "presolve.py",
        'new.shares(known, "l", "u", "lb", "ub")',
        'new.shares(known, "l", "u", "ub")',
        "tests/lifting/test_reduction.py",
    ),
    (
        "presolve.py",
        "or earlier.has_own_costs:",
        ":",
        "tests/lifting/test_reduction.py",
    ),
    ("second_look.py", "FEW_DIGITS = 9", "FEW_DIGITS = 12", "tests/lifting/test_second_look.py"),
    ("second_look.py", "FEW_DIGITS = 9", "FEW_DIGITS = 5", "tests/lifting/test_second_look.py"),
    ("second_look.py", "*vectors, *matrices", "*vectors, *matrices[:1]", "tests/lifting/test_second_look.py"),
    ("quotient.py", "CANCELLED = 1e-14", "CANCELLED = 0.0", GUARDS),
    ("quotient.py", "CANCELLED = 1e-14", "CANCELLED = 1e-10", GUARDS),
    (
        "quotient.py",
        "duals[variables] * variable_share",
        "duals[variables]",
        "tests/lifting/test_lifting.py",
    ),
    (
        "quotient.py",
        "(duals / classes.class_sizes)[classes.labels]",
        "duals[classes.labels]",
        "tests/lifting/test_quadratic_rows.py",
    ),
    ("ray_residuals.py", "DUST_OF_RAYS = 1e-8", "DUST_OF_RAYS = 0.0", GUARDS),
    ("ray_residuals.py", "0 < M.shape[0] <= SMALL", "M.shape[0] <= SMALL", "tests/lifting/test_ray_residuals.py"),
    ("ray_residuals.py", ".sum()) + inside):", ".sum())):", "tests/lifting/test_ray_residuals.py"),
    ("ray_residuals.py", "FOUND = 1e-11", "FOUND = 1e-9", "tests/lifting/test_ray_residuals.py"),
    (
        "cuts.py",
        "if not (_is_same(self.rows, rows) and _is_same(self.columns, columns)):",
        "if not _is_same(self.columns, columns):",
        "tests/lifting/test_reduction.py",
    ),
    (
        "substituted_values.py",
        "suspects = moved[np.abs(values[moved]) < terms[moved]]",
        "suspects = moved[:0]",
        "tests/lifting/test_given_vectors.py",
    ),
    (
        "remaining_program.py",
        "are_apart = are_apart and (differ or rows.size == n_before - duplicates.member.size)",
        "are_apart = bool(are_apart)",
        "tests/lifting/test_given_vectors.py",
    ),
    (
        "duplicate_rows_reference.py",
        "ratio = rows.data[first[member]] / rows.data[first[leader[member]]]",
        "ratio = rows.data[first[leader[member]]] / rows.data[first[member]]",
        "tests/lifting/test_duplicate_rows.py",
    ),
)
SOLVERS = _of(
    "src/relift/solvers",
    ("highs_.py", "LARGE_ENTRY = 1e200", "LARGE_ENTRY = 1e15", "tests/hostile/test_huge_numbers.py"),
    ("highs_.py", "NO_BOUND = 1e31", "NO_BOUND = 1e37", "tests/hostile/test_huge_numbers.py"),
    ("huge_numbers.py", "answer.w - self.excess", "answer.w", "tests/hostile/test_huge_numbers.py"),
    ("huge_numbers.py", "side <= -limit", "abs(side) >= limit", "tests/hostile/test_huge_numbers.py"),
    (
        "huge_numbers.py",
        "LARGE_BOUND, GAP_OF_BOUNDS = 1e9, 1e6",
        "LARGE_BOUND, GAP_OF_BOUNDS = 1e13, 1e6",
        "tests/hostile/test_huge_numbers.py",
    ),
    ("newton_polish.py", "return bool(np.all(new * old >= 0))", "return True", GUARDS),
    (
        "newton_polish.py",
        "return _Point(x, y, w, z, given.v) if said else given",
        "return given",
        "tests/solvers/test_newton_polish.py",
    ),
    (
        "newton_polish.py",
        "return np.where(dual_value > 0, upper, lower)",
        "return np.where(dual_value > 0, lower, upper)",
        GUARDS,
    ),
    (
        "newton_polish.py",
        "slack = np.where(dual_value > 0, upper - value, value - lower)",
        "slack = np.where(dual_value > 0, value - lower, upper - value)",
        GUARDS,
    ),
    (
        "second_order.py",
        "np.maximum.at(levels, owner[is_curved], slopes * (slopes / curvatures))",
        "pass",
        "tests/solvers/test_forms.py",
    ),
    ("second_order.py", "LEAST_CURVATURE = 1e-13", "LEAST_CURVATURE = 1e-17", "tests/solvers/test_forms.py"),
    (
        "newton_polish.py",
        "return min(1.0, costs, float(of_matrices.min(initial=1.0)))",
        "return 1.0",
        "tests/solvers/test_newton_polish.py",
    ),
    ("newton_polish.py", "ENOUGH = 1e-6", "ENOUGH = 1e-9", "tests/solvers/test_newton_polish.py"),
    ("feasibility.py", "FARTHEST = 1e4", "FARTHEST = 1e9", "tests/solvers/test_unbounded.py"),
    (
        "feasibility.py",
        "speed = np.where(program.l[places] > at[places], along[places], -along[places])",
        "speed = along[places]",
        "tests/solvers/test_unbounded.py",
    ),
    (
        "forms.py",
        "return float(program.q @ d) < -100 * tolerance",
        "return True",
        "tests/solvers/test_forms.py",
    ),
    (
        "idle_bounds.py",
        "not_raised = np.where(entries.data > 0, has_upper, has_lower)",
        "not_raised = np.where(entries.data > 0, has_lower, has_upper)",
        "tests/solvers/test_idle_bounds.py",
    ),
    (
        "idle_bounds.py",
        "(_slope(curvature, lb, program.q) <= 0)",
        "(curvature > 0)",
        "tests/solvers/test_idle_bounds.py",
    ),
    ("short_factors.py", "LONGEST = 50.0", "LONGEST = 500.0", "tests/solvers/test_short_factors.py"),
    ("registry.py", "backend.may_ask_others = True", "pass", "tests/solvers/test_short_factors.py"),
    (
        "quadratic_choice.py",
        "LONGEST, LONGEST_SPREAD = 220.0",
        "LONGEST, LONGEST_SPREAD = 420.0",
        "tests/solvers/test_quadratic_choice.py",
    ),
    (
        "quadratic_choice.py",
        "return bool(has_bound or np.any(program.l != program.u))",
        "return True",
        "tests/solvers/test_quadratic_choice.py",
    ),
    (
        "kept.py",
        "> max(FEW_ITERATIONS, 2 * self.iterations)",
        "> max(FEW_ITERATIONS, 200 * self.iterations)",
        "tests/solvers/test_kept.py",
    ),
    (
        "clarabel_.py",
        "return all(one is other or np.array_equal(one, other) for one, other in bounds)",
        "return True",
        "tests/solvers/test_kept.py",
    ),
)
OTHERS = _of(
    "src/relift",
    (
        "certified_solve.py",
        "is_to_be_proved = work.said in _CLAIMS and not work.is_first_try",
        "is_to_be_proved = work.said in _CLAIMS",
        "tests/solvers/test_quadratic_choice.py",
    ),
    (
        "certified_solve.py",
        "DUST_OF_DIRECTIONS = 1e-6",
        "DUST_OF_DIRECTIONS = 1e-5",
        "tests/solvers/test_unbounded.py",
    ),
    (
        "bridges/psl/rows.py",
        "return found if len(found) == len(given) else None",
        "return found",
        "tests/bridges/psl/test_psl_rows.py",
    ),
    (
        "bridges/psl/rows.py",
        "if many is not None and rows.keys().isdisjoint(many):",
        "if many is not None:",
        "tests/bridges/psl/test_psl_rows.py",
    ),
    ("formats/mps_program.py", "INFINITE_BOUND = 1e20", "INFINITE_BOUND = 1e25", GUARDS),
    ("formats/mps_program.py", "INFINITE_BOUND = 1e20", "INFINITE_BOUND = 1e15", GUARDS),
    ("formats/mps_writer.py", '("G", -1e30, None)', '("G", -1e10, None)', GUARDS),
    (
        "approximate/lower_bound.py",
        "((y > 0) & np.isinf(upper)) | ((y < 0) & np.isinf(lower))",
        "((y < 0) & np.isinf(upper)) | ((y > 0) & np.isinf(lower))",
        "tests/approximate/test_lower_bound.py",
    ),
    ("bridges/scipy_.py", "np.maximum(-sign * w, 0.0)", "np.maximum(sign * w, 0.0)", "tests/bridges/test_scipy.py"),
)
CVXPY = _of(
    "src/relift/bridges/cvxpy",
    (
        "hidden_means.py",
        "weighs_y = -node.share * density[number] if number else",
        "weighs_y = node.share * density[number] if number else",
        "tests/bridges/cvxpy_problems/test_recovery.py",
    ),
    (
        "hidden_means.py",
        "leaf = np.maximum(of_leaves, 0.0) / (exponents * (1.0 - mean.own_weight))",
        "leaf = np.maximum(of_leaves, 0.0) / exponents",
        "tests/bridges/cvxpy_problems/test_recovery.py",
    ),
)
ML = _of(
    "src/relift/ml",
    ("exact.py", "return labels if is_stable else np.arange(size)", "return labels", GUARDS),
    ("exact.py", "DIGITS = 10", "DIGITS = 1", "tests/ml/test_dual.py"),
    (
        "small_dual.py",
        "np.maximum(hi * push, lo * push) - beta * push",
        "np.maximum(hi * push, lo * push)",
        "tests/ml/test_dual.py",
    ),
    (
        "small_dual.py",
        "return np.where(beta > 0, beta * (below / above), beta)",
        "return np.where(beta > 0, beta * (above / below), beta)",
        "tests/ml/test_dual.py",
    ),
    ("merging.py", "if not is_equal.all():", "if False:", "tests/ml/test_merging.py"),
    ("glm.py", "np.inf if np.isnan(gap) else max(0.0, gap)", "max(0.0, gap)", "tests/ml/test_dense_rows.py"),
    ("newton.py", "self.has_memory, False", "self.has_memory, True", "tests/ml/test_dense_rows.py"),
    ("preconditioner.py", "found -= self._each(", "found -= 0.0 * self._each(", "tests/ml/test_dense_rows.py"),
    ("tied_columns.py", "bool(len(some)) and", "bool(len(some)) or", "tests/ml/test_dense_rows.py"),
    ("grouping.py", "(X[: _BLOCK >> 4, :few], X[:, :few])", "(X[:0, :few],)", "tests/ml/test_dense_rows.py"),
)
CORE = _of(
    "core/include/relift",
    ("worklist.hpp", "if (pairs[at].sum == 0) {", "if (false) {", "test_core"),
    (
        "worklist.hpp",
        "if (cells_[splitter].length != cells_[splitter].size) drop_those_who_left(splitter);",
        "",
        "test_core",
    ),
    ("worklist.hpp", "if (cells_[number].is_waiting) largest = none;\n        else if", "if", "test_core"),
    ("worklist.hpp", "} else if (vertex.sum != cell.sum_or_offset) {", "} else if (false) {", "test_core"),
    ("worklist.hpp", "u32 place = u32((random >> 32) * cell.length >> 32);", "u32 place = 0;", "test_core"),
    ("hash_rounds.hpp", "n_classes() / 5 * 4 > most_classes_;", "n_classes() > most_classes_;", "test_core"),
    ("equal_in_classes.hpp", "} else if (numbers[table[at].first] != numbers[i]) {", "} else if (0) {", "test_core"),
    (
        "equal_in_classes.hpp",
        "if (numbers[i] != numbers[before]) return false;",
        "",
        "test_core",
    ),
    (
        "refine.hpp",
        "return diagonal_.empty() || diagonal_[j] == diagonal_[j - 1];",
        "return true;",
        "test_core",
    ),
    ("refine.hpp", "return diagonal_.empty() ? colour : absorb(colour, diagonal_[j]);", "return colour;", "test_core"),
    ("spare_memory.hpp", "in_use_ + kept_ + size > most_in_use_) free_first();", "false) free_first();", "test_core"),
    ("spare_memory.hpp", "if (most_in_use_ > most_left) free_all();", "free_all();", "test_core"),
    ("rows_apart.hpp", "ascend &= matrix.indices[e - 1] < matrix.indices[e];", ";", "test_core"),
    ("rows_apart.hpp", "counts.end(), 0u) < 2;", "counts.end(), 0u) < 3;", "test_core"),
    ("start_apart.hpp", "rows_are_apart(problem, true, n_threads) ?", "true ?", "test_core"),
    ("start_apart.hpp", "bits_of(vector[j])", "bits_of(several[0][j])", "test_core"),
    ("repeated_words.hpp", "<< (bit + (cell >> bit & 1));", "<< bit;", "test_core"),
    ("proportions.hpp", "if (matrix.offsets[major] == matrix.offsets[major + 1]) return false;", ";", "test_core"),
    ("proportions.hpp", "if (!some_are_close) return true;", "return true;", "test_core"),
    ("row_scales.hpp", "return !(n_above && n_below);", "return true;", "test_core"),
    ("row_scales.hpp", "if (sum.total != first.total) return false;", ";", "test_core"),
    ("distinct_words.hpp", "expected > size / 4 * 3; }", "expected > size / 4 * 2; }", "test_core"),
    ("distinct_words.hpp", "first[k] != nobody && first[k] != k)", "first[k] != nobody)", "test_core"),
    ("row_scales.hpp", "/ 4 * 3 && are_ascending(matrix, n_threads);", "/ 4 * 3;", "test_core"),
    (
        "supports.hpp",
        "sums[A.indices[e]] += A.values[e] != 0 ? word : 0;",
        "sums[A.indices[e]] += word;",
        "test_core",
    ),
    ("supports.hpp", "words.end(), u64(0)) == words.end() && ", "words.end(), u64(0)) == words.end() || ", "test_core"),
    (
        "told_apart.hpp",
        "if (are_overtaken && !parts_much_of(n_left)) return what_errors_leave(kinds);",
        "if (are_overtaken) return FloatKinds();",
        "test_core",
    ),
    ("told_apart.hpp", "keep_rows_of(variables.those, rows.those);", ";", "test_core"),
    ("told_apart.hpp", "].add(A.values[e + 1], word);", "].add(double(e), word);", "test_core"),
    ("told_apart.hpp", "sums_[minor].add(sums[minor]);", ";", "test_core"),
    ("told_apart.hpp", "(all.there[word] & bits[k].there[word]);", "0;", "test_core"),
    ("masses.hpp", "best_[to].take(own[k][to], takes_least_);", "best_[to] = own[k][to];", "test_core"),
    ("float_colours.hpp", "if (!are_alone_[k] || (!were_alone", "if (are_alone_[k] || (!were_alone", "test_core"),
    (
        "exact_values.hpp",
        "for (u64 i = first; i < last; ++i) images[i] = image_of(values[i], reading_);",
        "for (u64 i = first; i < last; ++i) images[i] = images[first - 1];",
        "test_numbers",
    ),
    (
        "refine.hpp",
        "if (largest[parent[c]] != c && !(multipliers_",
        "if (largest[parent[c]] == c && !(multipliers_",
        "test_core",
    ),
    (
        "hash_rounds.hpp",
        "return before.is_exact && now.is_exact && before.number == now.number;",
        "return true;",
        "test_core",
    ),
    ("hash_rounds.hpp", "!multipliers_ && are_distinct(rows_, n_row_classes_)", "!multipliers_", "test_core"),
    (
        "algebra.hpp",
        "static constexpr u32 products_between_folds = 32;",
        "static constexpr u32 products_between_folds = 512;",
        "test_numbers",
    ),
    ("exact_values.hpp", "tens + 10 * is_next", "tens", "test_numbers"),
    ("exact_values.hpp", "floor + (rest >> 63)", "floor", "test_numbers"),
    ("weights.hpp", "if (word > largest_small_integer) word -= modulus;", ";", "test_core"),
    (
        "field.hpp",
        "inline u64 field_negate(u64 a) { return a ? modulus - a : 0; }",
        "inline u64 field_negate(u64 a) { return modulus - a; }",
        "test_numbers",
    ),
)
TABLES = _of(
    "core/include/relift/tables",
    ("keys.hpp", "pairs.size = keep_all ? n : count;", "pairs.size = count;", "test_tables"),
    (
        "keys.hpp",
        "from[i] = {(uint64_t(keys[i]) ^ (uint64_t(1) << 63)) - low, int32_t(i)};",
        "from[i] = {uint64_t(keys[i]) - low, int32_t(i)};",
        "test_tables",
    ),
    ("keys.hpp", "if (slots[at] == parted[i]) return false;", "", "test_tables"),
    ("rows.hpp", "indices[to - 1] > column", "indices[to - 1] >= column", "test_tables"),
    ("rows.hpp", "size_t(next[i]) + size_t(end - begin) > n_entries", "size_t(next[i]) > n_entries", "test_tables"),
    ("texts.hpp", "*at == 0xED ? 0x9F", "*at == 0xED ? 0xBF", "test_tables"),
)
LEARNING = _of(
    "core/include/relift/ml",
    (
        "smo.hpp",
        "beta[i] = fills_i && room_i <= room_j ? hi[i] : beta[i] + moved;",
        "beta[i] = fills_i ? hi[i] : beta[i] + moved;",
        "test_ml",
    ),
    ("smo.hpp", "shrink[j] = beta[j] > lo[j] ? Real(0) : infinity;", "", "test_ml"),
    (
        "kmeans.hpp",
        "(best[lane] == least && best_at[lane] < label)",
        "(best[lane] == least && best_at[lane] > label)",
        "test_ml",
    ),
    (
        "coordinate.hpp",
        "(is_full && slope > 0) || (is_empty && slope < 0) ? Real(0)",
        "is_full || is_empty ? Real(0)",
        "test_ml",
    ),
    ("pivots.hpp", "rest[i] -= column[i] * column[i];", "rest[i] -= column[i];", "test_ml"),
)

MUTANTS = (*PROGRAM, *SYMMETRY, *LIFTING, *SOLVERS, *OTHERS, *CVXPY, *ML, *CORE, *TABLES, *LEARNING)
