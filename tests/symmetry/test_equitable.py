"""The independent check accepts every equitable pair and no other, up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from relift.arrays import Vector
from relift.lifting.lifting import lift
from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import equitable
from relift.symmetry.equitable import TOLERANCE, is_constant_on_classes
from relift.symmetry.partition import Partition
from relift.testing.random_programs import random_program, symmetric_program

SEEDS = st.integers(0, 10**6)


def distance_from_equitable(
    program: Program, variables: Partition, rows: Partition, *scales: Vector | None, **more: Vector
) -> float:
    """As it is by all entries, after a comparison with what it is by those of classes of several alone, by side."""
    found = []
    for few in ((), (variables,), (rows,), (variables, rows)):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(equitable, "_are_nearly_alone", lambda classes, few=few: any(classes is one for one in few))
            found.append(equitable.distance_from_equitable(program, variables, rows, *scales, **more))
    assert len({each <= TOLERANCE for each in found}) == 1
    return found[0]


def is_equitable_by_definition(program: Program, variables: Partition, rows: Partition) -> bool:
    """Sums into and out of each class, one by one."""
    S, R, A = variables.indicator.toarray(), rows.indicator.toarray(), program.A.toarray()
    constant = [(A @ S, rows), (A.T @ R, variables)]
    constant += [(v[:, None], variables) for v in (program.q, program.lb, program.ub)]
    constant += [(v[:, None], rows) for v in (program.l, program.u)]
    if program.P is not None:
        constant.append((program.P @ S, variables))
    return all(
        np.array_equal(np.isinf(v), np.isinf(v[c.representatives][c.labels]))
        and np.allclose(np.nan_to_num(v), np.nan_to_num(v[c.representatives][c.labels]), rtol=1e-12, atol=1e-12)
        for v, c in constant
    )


@settings(max_examples=100, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), break_it=st.booleans())
def test_the_verdict_is_that_of_the_definition(seed: int, quadratic: bool, break_it: bool) -> None:
    case = symmetric_program(seed, quadratic=quadratic, copies=3)
    labels, row_labels = case.variable_labels.copy(), case.row_labels.copy()
    random = np.random.default_rng(seed)
    if break_it:  # move one variable or one row to another class
        target = labels if random.random() < 0.5 else row_labels
        target[random.integers(target.size)] = random.choice(target)
    variables, rows = Partition.from_labels(labels), Partition.from_labels(row_labels)
    distance = distance_from_equitable(case.program, variables, rows, np.ones(rows.size))
    assert (distance <= TOLERANCE) == is_equitable_by_definition(case.program, variables, rows)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), scaled=st.booleans())
def test_what_refinement_finds_passes(seed: int, quadratic: bool, scaled: bool) -> None:
    program = symmetric_program(seed, quadratic=quadratic, copies=3, scaled_rows=scaled).program
    plain = LiftSettings(reduce=False, sizes=False, signs=False)  # else some may be at rest, in no class
    classes = lift(program, plain).symmetry
    assert distance_from_equitable(program, classes.variables, classes.rows, classes.row_scales) <= TOLERANCE


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_the_discrete_partition_passes_and_one_class_seldom_does(seed: int, quadratic: bool) -> None:
    program = random_program(seed, quadratic=quadratic)
    n, m = program.n_variables, program.n_rows
    assert distance_from_equitable(program, Partition.discrete(n), Partition.discrete(m), np.ones(m)) == 0.0
    assert distance_from_equitable(program, Partition.one_class(n), Partition.one_class(m), np.ones(m)) > TOLERANCE


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, by_rows=st.booleans())
def test_scales_and_masses_are_read_alike_by_all_entries_and_by_those_of_classes_of_several(
    seed: int, by_rows: bool
) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 9))
    size, price = random.choice([1.0, 2, 5], n), random.choice([1.0, 3], n)
    A = np.vstack([np.ones((1, n)), np.eye(n)])
    kind = sparse.csr_array if by_rows else sparse.csc_array
    program = Program(q=price, A=kind(A), l=np.r_[0.5 * size.sum(), 0.1 * size], lb=0, ub=size)
    found = lift(program, LiftSettings(reduce=False)).symmetry
    given_ = found.variables, found.rows, found.row_scales, found.variable_scales
    masses = found.variable_masses, found.row_masses
    assert distance_from_equitable(program, *given_, *masses) <= TOLERANCE
    if not found.variables.is_discrete:
        j = int(np.flatnonzero(found.variables.class_sizes[found.variables.labels] > 1)[0])
        for name in ("q", "ub"):
            changed = getattr(program, name).copy()
            changed[j] *= 1.001
            assert distance_from_equitable(program.replace(**{name: changed}), *given_, *masses) > TOLERANCE


def test_of_many_variables_only_those_in_company_are_looked_at() -> None:
    n = 500
    A = sparse.csr_array(np.vstack([np.ones((1, n)), np.arange(n) // 2]))
    program = Program(q=np.r_[1.0, 1.0, np.arange(2.0, n)], A=A, l=[1, 2], lb=0, ub=3)
    labels = np.r_[0, 0, np.arange(1, n - 1)]
    pair, rows = Partition.from_labels(labels), Partition.discrete(2)
    assert pair.size - pair.n_classes <= equitable.MOST_SHARED * pair.size
    assert distance_from_equitable(program, pair, rows, np.ones(2)) == 0.0
    other = Partition.from_labels(np.r_[0, 1, 0, np.arange(2, n - 1)])
    assert distance_from_equitable(program, other, rows, np.ones(2)) > 0.1


ALIKE = Program(P=[[2, 1], [1, 2]], q=[1, 1], A=[[1, 2], [2, 1]], l=[0, 0], u=[3, 3], lb=-1, ub=5)


@pytest.mark.parametrize(
    "change",
    [
        {"q": [1, 1 + 1e-8]},
        {"l": [0, 1e-8]},
        {"l": [0, -np.inf]},
        {"u": [3, np.inf]},
        {"lb": [-1, -np.inf]},
        {"ub": [5, 5 - 1e-8]},
        {"A": [[1, 2], [2, 1 + 1e-8]]},
        {"P": [[2, 1], [1, 2 + 1e-8]]},
    ],
)
def test_each_condition_is_checked(change: dict[str, Any]) -> None:
    one = Partition.one_class(2)
    assert distance_from_equitable(ALIKE, one, one, np.ones(2)) == 0.0
    assert distance_from_equitable(ALIKE.replace(**change), one, one, np.ones(2)) > TOLERANCE


def test_entries_of_another_sign_in_another_row_are_seen() -> None:
    # Row sums agree and column sums do not: both directions are looked at.
    program = Program(q=[1, 1], A=[[1, 0], [1, 0]])
    assert distance_from_equitable(program, Partition.discrete(2), Partition.one_class(2), np.ones(2)) == 0.0
    assert distance_from_equitable(program, Partition.one_class(2), Partition.one_class(2), np.ones(2)) > 0.1


def test_rows_are_compared_after_division_by_their_scales() -> None:
    program = Program(q=[1, 1], A=sparse.csr_array([[2, 0], [0, -1]]), l=[-2, -3], u=[6, 1], lb=0)
    one = Partition.one_class(2)
    assert distance_from_equitable(program, one, one, np.ones(2)) > 0.1
    assert distance_from_equitable(program, one, one, np.array([2.0, -1.0])) == 0.0
    assert distance_from_equitable(program, one, one, np.array([2.0, 1.0])) > 0.1


def test_rounding_passes_and_more_than_rounding_does_not() -> None:
    one = Partition.one_class(2)
    assert 0 < distance_from_equitable(Program(q=[0.1 + 0.2, 0.3]), one, Partition.discrete(0), np.ones(0)) < TOLERANCE
    assert distance_from_equitable(Program(q=[0.0, 1e-300]), one, Partition.discrete(0), np.ones(0)) > TOLERANCE


def test_a_program_of_nothing_is_equitable() -> None:
    nothing = Partition.discrete(0)
    assert distance_from_equitable(Program(q=[]), nothing, nothing, np.ones(0)) == 0.0


def test_constant_on_classes_is_meant_exactly() -> None:
    partition = Partition.from_labels([0, 1, 0])
    assert is_constant_on_classes(np.array([0.3, 7.0, 0.3]), partition)
    assert not is_constant_on_classes(np.array([0.3, 7.0, 0.1 + 0.2]), partition)
    assert is_constant_on_classes(np.array([np.inf, 0, np.inf]), partition)


@pytest.mark.parametrize(
    ("parts", "scales"),
    [
        ({"A": [[1e308, 1e308], [1e308, 5e307]]}, {}),
        ({"A": [[1.0, 1.0]], "P": np.diag([1e300, 2e300])}, {"variable_masses": np.full(2, 1e-20)}),
        ({"A": [[1.0, 1.0]], "q": [1e300, 2e300]}, {"variable_masses": np.full(2, 1e-20)}),
        ({"A": [[1.0, 1.0]], "ub": [1e30, 2e30]}, {"variable_scales": np.full(2, 1e-300)}),
    ],
)
@pytest.mark.filterwarnings("error")
def test_numbers_that_overflow_pass_for_nothing(parts: dict[str, Any], scales: dict[str, Any]) -> None:
    program = Program(**{"q": [1, 1], **parts})
    classes = Partition.one_class(2), Partition.one_class(program.n_rows)
    assert distance_from_equitable(program, *classes, np.ones(program.n_rows), **scales) == np.inf
