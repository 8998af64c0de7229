"""The forms of solvers are steps: dual values of a form expand to those of the program, and come forward unchanged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import relift
from relift.program import passes
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.solvers import second_order
from relift.solvers.forms import Conic, Stacked, is_recession_direction, with_point
from relift.solvers.second_order import SecondOrderCones
from relift.testing.random_programs import symmetric_program


def in_form(kind: str, program: Program) -> tuple[Stacked | Conic, Program]:
    """A form, and the same as a program: its rows with the objective of the first."""
    if kind == "stacked":
        stacked = Stacked.from_program(program)
        return stacked, Program(program.P, program.q, stacked.G, stacked.l, stacked.u, r=program.r)
    conic = Conic.from_program(program)
    lower = np.where(np.arange(conic.b.size) < conic.n_equalities, conic.b, -np.inf)
    return conic, Program(program.P, program.q, conic.K, lower, conic.b, r=program.r)


@pytest.mark.parametrize("kind", ["stacked", "conic"])
@given(seed=st.integers(0, 2**32 - 1), quadratic=st.booleans())
@settings(max_examples=15, deadline=None)
def test_dual_values_of_a_form_expand_to_those_of_the_program(kind: str, seed: int, quadratic: bool) -> None:
    program = symmetric_program(seed, quadratic=quadratic, scaled_rows=True).program.minimisation()
    form, same = in_form(kind, program)
    found = relift.solve(same, lift="none", reduce=False, tolerance=1e-8)
    assume(found.status is relift.Status.OPTIMAL)
    y, w = form.expand(found.y, program.n_variables)
    assert relift.certify(program, Solution(found.status, found.x, y, w), 1e-5).is_optimal
    forward = Solution(found.status, found.x, form.restrict(y, w), np.zeros(program.n_variables))
    assert relift.certify(same, forward, 1e-5).is_optimal
    back = form.expand(form.restrict(y, w), program.n_variables)
    np.testing.assert_allclose(np.concatenate(back), np.concatenate([y, w]), atol=1e-12)


def test_missing_dual_values_stay_missing() -> None:
    program = Program(q=[1.0, 1.0], A=[[1.0, 1.0]], l=[1.0], lb=0)
    for form in (Stacked.from_program(program), Conic.from_program(program)):
        assert form.restrict(None, np.zeros(2)) is None
        assert form.restrict(np.zeros(1), None) is None


def test_the_dual_value_of_a_quadratic_constraint_is_the_sum_of_the_first_two_of_its_cone() -> None:
    program = Program(q=[1.0, 0.0], quadratic=[(np.eye(2), [0.0, 0.0], 0.5), (np.eye(2), [1.0, 0.0], 8.0)])
    cones = SecondOrderCones.from_program(program)
    assert cones.sizes == (4, 4)
    assert cones.units.tolist() == [1.0, 4.0]
    assert cones.expand(np.array([1.0, 0.5, 0, 0, 2.0, -3.0, 0, 0])).tolist() == [1.5, 0.0]
    assert cones.expand(np.array([1.0, 0.5, 0, 0, 2.0, -1.0, 0, 0])).tolist() == [1.5, 0.0625]


@pytest.mark.parametrize("slope", [1e160, 1e200, 1e-200])
@pytest.mark.filterwarnings("error")
def test_cones_of_quadratic_constraints_are_finite_whatever_their_size(slope: float) -> None:
    cones = SecondOrderCones.from_program(Program(q=[1.0, 0.0], quadratic=[(np.eye(2), [slope, 0.0], 0.0)]))
    for numbers in (cones.K.data, cones.b, cones.units, cones.units**2):
        assert np.isfinite(numbers).all()


@pytest.mark.parametrize("in_units", [True, False])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_cones_of_quadratic_constraints_hold_factors_of_their_matrices(in_units: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    root, banded = random.normal(size=(2, 4)), 2.5 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
    matrices = [np.diag([4.0, 0.0, 9.0, 0.0]), root.T @ root, np.zeros((4, 4)), root.T @ root + np.eye(4), banded]
    matrices = [10.0 ** random.integers(-3, 4) * P for P in matrices]
    linear = random.normal(size=(5, 4)) * (random.uniform(size=(5, 4)) < 0.7) * 10.0 ** random.integers(-3, 4, (5, 1))
    right = random.choice([0.0, 1.5, 300.0, 0.002], 5)
    quadratic = list(zip(matrices, linear, right, strict=True))
    cones = SecondOrderCones.from_program(Program(q=np.ones(4), quadratic=quadratic), in_units=in_units)
    assert cones.sizes == (4, 4, 2, 6, 6)
    K, starts = cones.K.toarray(), np.cumsum([0, *cones.sizes])
    for (P, q, r), unit, start, end in zip(quadratic, cones.units, starts[:-1], starts[1:], strict=True):
        assert unit == (unit_by_hand(P, q, r) if in_units else 1.0)
        F = unit * K[start + 2 : end]
        assert pytest.approx(P, abs=1e-12 * abs(P).max()) == F.T @ F
        assert (K[start] * unit**2).tolist() == (K[start + 1] * unit**2).tolist() == q.tolist()
        expected = [r / unit**2 + 0.5, r / unit**2 - 0.5]
        assert cones.b[start:end].tolist() == [*expected, *[0.0] * (end - start - 2)]
    of_band = K[starts[4] + 2 :]
    assert not np.triu(of_band, 2).any()
    assert not np.tril(of_band, -1).any()


@pytest.mark.skipif(passes.core is None, reason="there is no compiled core")
@pytest.mark.parametrize("in_units", [True, False])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_compiled_cones_of_quadratic_constraints_are_those_of_their_twin(in_units: bool, seed: int) -> None:
    random = np.random.default_rng(seed)
    n, quadratic = int(random.integers(1, 8)), []
    for _ in range(int(random.integers(1, 4))):
        root = random.normal(size=(n, n)) * (random.uniform(size=n) < 0.7) * 10.0 ** random.integers(-3, 4)
        P = [root.T @ root + np.diag((root**2).sum(0)), np.diag(random.uniform(0, 2, n).round()), None][
            random.integers(3)
        ]
        q = None if random.uniform() < 0.3 else random.normal(size=n) * (random.uniform(size=n) < 0.7)
        quadratic.append((P, q, random.choice([0.0, 1.5, 300.0, -0.002])))
    program = Program(q=np.ones(n), quadratic=quadratic)
    found = SecondOrderCones.from_program(program, in_units=in_units)
    twin = SecondOrderCones._of_many(program.quadratic, in_units=in_units)
    assert (found.sizes, found.K.shape) == (twin.sizes, twin.K.shape)
    assert found.units.tolist() == twin.units.tolist()
    assert found.b.tolist() == twin.b.tolist()
    for part in ("indptr", "indices"):
        assert getattr(found.K, part).tolist() == getattr(twin.K, part).tolist()
    assert found.K.data == pytest.approx(twin.K.data, rel=1e-9)


@pytest.mark.skipif(passes.core is None, reason="there is no compiled core")
@pytest.mark.parametrize("fits", [True, False])
def test_factors_are_compiled_up_to_their_limit_only(fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Program(q=np.ones(3), quadratic=[(np.ones((3, 3)) + np.eye(3), None, 1.0)]).quadratic
    monkeypatch.setattr(second_order, "MOST_DENSE", 3 if fits else 2)
    assert (second_order._by_the_core(rows, in_units=True) is not None) == fits


def unit_by_hand(P: np.ndarray, q: np.ndarray, r: float) -> float:
    """The power of two nearest to the root of the level at which a constraint is active."""
    levels = [2 * abs(r), *(q[j] ** 2 / P[j, j] for j in range(q.size) if P[j, j] > 0)]
    return 2.0 ** round(np.log2(max(levels)) / 2) if max(levels) else 1.0


@pytest.mark.parametrize("places", [[0, 1, 2], [37, 38, 39], [2, 20, 39], [1]])
def test_a_factor_stands_in_the_columns_that_its_matrix_touches(places: list[int]) -> None:
    P = np.zeros((40, 40))
    P[np.ix_(places, places)] = np.ones(len(places)) + 2 * np.eye(len(places))
    cones = SecondOrderCones.from_program(Program(q=np.ones(40), quadratic=[(P, None, 1.0)]))
    assert cones.sizes == (2 + len(places),)
    F = cones.K.toarray()[2:]
    assert pytest.approx(P) == F.T @ F


@pytest.mark.parametrize(("smallest", "n_rows"), [(1e-6, 2), (1e-12, 2), (1e-14, 1), (0.0, 1)])
def test_curvatures_that_are_rounding_errors_are_left_out_of_a_factor(smallest: float, n_rows: int) -> None:
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    P = turn @ np.diag([1.0, smallest]) @ turn.T
    P = (P + P.T) / 2
    cones = SecondOrderCones.from_program(Program(q=[1.0, 1.0], quadratic=[(P, None, 1.0)]))
    assert cones.sizes == (2 + n_rows,)
    F = cones.K.toarray()[2:]
    assert pytest.approx(P, abs=1e-13) == F.T @ F


@pytest.mark.parametrize(
    ("cost", "is_proof"), [(-1.0, True), (-1e-3, True), (-1e-6, False), (0.0, False), (1.0, False)]
)
def test_a_direction_proves_unboundedness_only_if_the_objective_falls_along_it(cost: float, is_proof: bool) -> None:
    program = Program(q=[cost, 0.0], A=[[1.0, -1.0]], l=[0.0], u=[0.0], lb=0)
    assert is_recession_direction(program, np.array([1.0, 1.0]), 1e-7) is is_proof
    assert not is_recession_direction(program, np.array([1.0, -1.0]), 1e-7)


@pytest.mark.parametrize("backend", ["highs", "auto"])
def test_an_optimum_far_away_is_not_called_unbounded(backend: str) -> None:
    # x is pushed down by its cost until y is at its bound: 1e-5 x + 2e6 y >= 550, and y <= 3.
    program = Program(q=[0.7, 7e8], A=[[1e-5, 2e6]], l=[550.0], lb=[-np.inf, -1.0], ub=[np.inf, 3.0])
    result = relift.solve(program, backend=backend)
    assert result.status == "optimal"
    assert result.objective == pytest.approx(0.7 * (550.0 - 6e6) / 1e-5 + 2.1e9, rel=1e-9)
    assert len(result.attempts) == 1


def test_a_point_far_away_without_dual_values_that_hold_it_is_unbounded() -> None:
    program = Program(q=[-1.0, 1.0], A=[[1.0, -1.0]], u=[1.0], lb=0)
    far = np.array([1e9 + 1.0, 1e9])
    steeper = Program(q=[-2.0, 1.0], A=[[1.0, -1.0]], u=[1.0], lb=0)
    assert with_point(steeper, "it", Status.OPTIMAL, far, np.ones(1), np.zeros(2)).status == "unbounded"
    assert with_point(program, "it", Status.OPTIMAL, far, np.ones(1), np.zeros(2)).status == "optimal"


def test_dual_values_expand_alike_with_and_without_the_compiled_core(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    owner = np.concatenate([random.permutation(9)[:4], random.permutation(9)[:5]]).astype(np.int32)
    values = random.normal(size=9)
    found = passes.expand_duals(values, owner, 4, 9)
    monkeypatch.setattr(passes, "core", None)
    np.testing.assert_array_equal(found, passes.expand_duals(values, owner, 4, 9))


def test_owners_beyond_the_vector_are_refused() -> None:
    if passes.core is not None:
        for owner, n_first in (([0, 3], 1), ([-1, 0], 1), ([0, 1], 3), ([0, 1], -1)):
            with pytest.raises(ValueError, match=r"owner|fewer"):
                passes.core.expand_duals(np.ones(2), np.array(owner, np.int32), n_first, np.zeros(3))
