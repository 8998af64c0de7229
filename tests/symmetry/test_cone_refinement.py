"""Classes of programs with cones, against a slow refinement in fractions and against their meaning."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.arrays import SparseMatrix
from relift.lifting.lifting import lift
from relift.program import ConicRows, Exponential, Power, PowerND, Program, SecondOrder, Semidefinite
from relift.program.cone_distance import pushed_into
from relift.settings import LiftMethod, LiftSettings
from relift.symmetry import finite_field as field
from relift.symmetry.equitable import TOLERANCE, distance_from_equitable, distance_of_conic_rows
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.find import Images, Symmetry, find_symmetry
from relift.symmetry.partition import Partition
from relift.testing.random_conic_programs import symmetric_conic_program


def classes_of(program: Program, method: LiftMethod = "equitable", *, scale_rows: bool = False) -> Symmetry:
    images = VectorImages.of(program, "decimal")
    words = Images(images)
    return find_symmetry(program, words, LiftSettings(lift=method, scale_rows=scale_rows))


def slow_classes(program: Program, *, is_counting: bool = False) -> tuple[list[int], list[int], list[int], list[int]]:
    """Variables, rows, conic rows and cones, parted until nothing changes: fractions, dictionaries, no cleverness."""

    def exact(value: float) -> Any:
        return Fraction(repr(float(value))) if np.isfinite(value) else float(value)

    def numbered(keys: Sequence[Hashable]) -> list[int]:
        seen: dict[Hashable, int] = {}
        return [seen.setdefault(key, len(seen)) for key in keys]

    def entries(matrix: SparseMatrix) -> list[list[Fraction]]:
        dense = matrix.toarray()
        return [[exact(value) for value in line] for line in dense]

    def seen_by(values: Sequence[Fraction], colours: Sequence[int]) -> Hashable:
        if is_counting:
            return tuple(sorted((c, v) for c, v in zip(colours, values, strict=True) if v))
        sums: dict[int, Fraction] = {}
        for c, v in zip(colours, values, strict=True):
            sums[c] = sums.get(c, Fraction(0)) + v
        return tuple(sorted((c, v) for c, v in sums.items() if v))

    A, C = entries(program.A), entries(program.conic.A)
    P = None if program.P is None else entries(program.P)
    rows = program.conic
    position: list[Hashable] = []
    for cone in rows.cones:
        match cone:
            case SecondOrder(size=size):
                position += ["head"] + ["tail"] * (size - 1)
            case Exponential():
                position += ["x", "y", "z"]
            case Power(alpha=alpha):
                position += [("argument", exact(alpha)), ("argument", 1 - exact(alpha)), "product"]
            case PowerND(alphas=alphas):
                position += [*(("argument", exact(alpha)) for alpha in alphas), "product"]
            case Semidefinite(n=n):
                position += [("entry", i) for i in range(n * (n + 1) // 2)]
    kind = ["power" if isinstance(c, (Power, PowerND)) else type(c).__name__ for c in rows.cones]
    n, m, k = program.n_variables, program.n_rows, rows.n_rows
    diagonal = [P[j][j] if P is not None and is_counting else 0 for j in range(n)]
    variables = numbered([(exact(program.q[j]), program.lb[j], program.ub[j], diagonal[j]) for j in range(n)])
    plain = numbered([(exact(program.l[i]), exact(program.u[i])) for i in range(m)])
    conic = numbered([(exact(rows.b[i]), position[i]) for i in range(k)])
    cones = numbered(kind)
    while True:
        before = (variables, plain, conic, cones)
        off = [
            [Fraction(0) if is_counting and i == j else v for j, v in enumerate(line)] for i, line in enumerate(P or [])
        ]
        variables = numbered(
            [
                (
                    before[0][j],
                    seen_by([A[i][j] for i in range(m)], before[1]),
                    seen_by([C[i][j] for i in range(k)], before[2]),
                    seen_by(off[j], before[0]) if off else (),
                )
                for j in range(n)
            ]
        )
        plain = numbered([(before[1][i], seen_by(A[i], before[0])) for i in range(m)])
        conic = numbered([(before[2][i], seen_by(C[i], before[0]), before[3][rows.cone_of_row[i]]) for i in range(k)])
        cones = numbered(
            [
                (before[3][c], tuple(sorted(before[2][i] for i in np.flatnonzero(rows.cone_of_row == c))))
                for c in range(len(rows))
            ]
        )
        after = (variables, plain, conic, cones)
        if [max(labels, default=0) for labels in after] == [max(labels, default=0) for labels in before]:
            return after


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(1, 3), is_counting=st.booleans(), scale_rows=st.booleans())
def test_classes_are_those_of_the_slow_refinement(seed: int, copies: int, is_counting: bool, scale_rows: bool) -> None:
    program = symmetric_conic_program(seed, copies=copies, quadratic_objective=seed % 2 == 0).program
    found = classes_of(program, "counting" if is_counting else "equitable", scale_rows=scale_rows)
    variables, rows, conic_rows, cones = slow_classes(program, is_counting=is_counting)
    assert found.variables.labels.tolist() == variables
    assert found.rows.labels.tolist() == rows
    assert found.conic_rows.labels.tolist() == conic_rows
    assert found.cones.labels.tolist() == cones


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(2, 4))
def test_averages_over_classes_commute_with_the_matrix_and_lead_into_the_cones(seed: int, copies: int) -> None:
    program = symmetric_conic_program(seed, copies=copies).program
    found, rows = classes_of(program), program.conic
    S, R = found.variables.indicator.toarray(), found.conic_rows.indicator.toarray()
    X, Y = S / S.sum(axis=0) @ S.T, R / R.sum(axis=0) @ R.T
    C = rows.A.toarray()
    np.testing.assert_allclose(Y @ C, C @ X, atol=1e-12)
    np.testing.assert_allclose(Y @ rows.b, rows.b, atol=1e-12)
    random = np.random.default_rng(seed)
    for _ in range(10):
        s = random.normal(size=rows.n_rows) * random.choice([0.1, 1.0, 10.0], rows.n_rows)
        _, member = pushed_into(rows, s, np.ones(rows.n_rows))
        push, _ = pushed_into(rows, Y @ member, 1.0 + np.abs(member))
        assert push.max(initial=0.0) <= 1e-10
        _, member = pushed_into(rows, s, np.ones(rows.n_rows), dual=True)
        push, _ = pushed_into(rows, Y @ member, 1.0 + np.abs(member), dual=True)
        assert push.max(initial=0.0) <= 1e-10


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(2, 3))
def test_orbits_refine_counting_which_refines_equitable(seed: int, copies: int) -> None:
    pytest.importorskip("igraph")
    made = symmetric_conic_program(seed, copies=copies, n_cones=2)
    orbits, counting, equitable = (classes_of(made.program, how) for how in ("orbits", "counting", "equitable"))
    for name in ("variables", "rows", "conic_rows", "cones"):
        assert getattr(orbits, name).refines(getattr(counting, name))
        assert getattr(counting, name).refines(getattr(equitable, name))
    assert Partition.from_labels(made.variable_labels).refines(orbits.variables)
    rows = made.program.conic
    assert distance_of_conic_rows(rows, orbits.variables, orbits.conic_rows, orbits.cones) <= TOLERANCE


def test_without_the_compiled_core_the_classes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [symmetric_conic_program(seed, copies=3, quadratic_objective=seed % 2 == 0).program for seed in range(6)]
    before = [classes_of(program, scale_rows=True) for program in programs]
    monkeypatch.setattr(field, "CORE_IS_COMPILED", False)
    for program, found in zip(programs, before, strict=True):
        again = classes_of(program, scale_rows=True)
        for name in ("variables", "rows", "conic_rows", "cones"):
            assert getattr(again, name) == getattr(found, name)


def test_rows_of_different_cones_are_kept_apart_by_their_cones_alone() -> None:
    # maximise x0 + x1 + x2 with |(x0, x1)| <= 3 and |x2| <= 3: all tails look alike, and so do both heads.
    C = np.zeros((5, 3))
    C[1, 0] = C[2, 1] = C[4, 2] = -1.0
    rows = ConicRows(C, [3, 0, 0, 3, 0], [SecondOrder(3), SecondOrder(2)])
    program = Program(q=[-1, -1, -1], conic=rows)
    found = classes_of(program)
    assert found.variables.labels.tolist() == [0, 0, 1]
    assert found.cones.labels.tolist() == [0, 1]
    without_cones = Partition.from_labels([0, 1, 1, 0, 1])
    together = Partition.one_class(3)
    # Everything but the count of rows in the cones is as it should be, and the check sees that.
    as_plain_rows = Program(q=program.q, A=rows.A, l=rows.b, u=rows.b)
    assert distance_from_equitable(as_plain_rows, together, without_cones, np.ones(5)) == 0.0
    for cones in (Partition.one_class(2), Partition.discrete(2)):
        assert distance_of_conic_rows(rows, together, without_cones, cones) == np.inf


@pytest.mark.parametrize(
    ("cones", "labels", "is_right"),
    [
        ([SecondOrder(3)], [0, 1, 1], True),
        ([SecondOrder(3)], [0, 0, 1], False),
        ([Exponential()], [0, 0, 1], False),
        ([Power(0.5)], [0, 0, 1], True),
        ([Power(0.4)], [0, 0, 1], False),
        ([PowerND((0.25, 0.5, 0.25))], [0, 1, 0, 2], True),
        ([PowerND((0.25, 0.5, 0.25))], [0, 0, 1, 2], False),
        ([PowerND((0.25, 0.5, 0.25))], [0, 1, 2, 0], False),
        ([Semidefinite(2)], [0, 1, 0], True),
        ([Semidefinite(2)], [0, 0, 1], False),
        ([Semidefinite(3)], [0, 1, 0, 2, 1, 0], False),
    ],
)
def test_rows_of_one_cone_merge_only_in_positions_that_may(cones: list, labels: list[int], is_right: bool) -> None:
    rows = ConicRows(np.zeros((len(labels), 1)), np.zeros(len(labels)), cones)
    distance = distance_of_conic_rows(
        rows, Partition.one_class(1), Partition.from_labels(labels), Partition.one_class(1)
    )
    assert (distance == 0.0) == is_right


def test_both_forms_of_a_power_cone_are_alike() -> None:
    # 1 - .9 is not .1 in floats.
    C = -np.eye(6)
    rows = ConicRows(C, np.zeros(6), [Power(0.9), PowerND((0.9, 0.1))])
    found = lift(Program(q=[1, 2, -1, 1, 2, -1], lb=[1, 1, 0, 1, 1, 0], ub=3, conic=rows))
    assert found.cones.n_classes == 1
    assert found.variables.labels.tolist() == [0, 1, 2, 0, 1, 2]


def test_digits_make_nearly_equal_cones_equal() -> None:
    C = -np.eye(4)
    C[3, 3] *= 1 + 1e-12
    rows = ConicRows(C, [0, 0, 0, 1e-13], [SecondOrder(2), SecondOrder(2)])
    program = Program(q=[1, -1, 1, -1], ub=5, conic=rows.__class__(C, [0, 2, 0, 2 + 1e-12], rows.cones))
    assert lift(program).cones.n_classes == 2
    snapped = lift(program, LiftSettings(digits=9))
    assert snapped.cones.n_classes == 1
    assert snapped.snapped is not None
    assert snapped.snapped.n_values_merged == 2
