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
    program = Program(q=[1.0, 0.0], quadratic=[(np.eye(2), [0.0, 0.0], 1.0), (np.eye(2), [1.0, 0.0], 2.0)])
    cones = SecondOrderCones.from_program(program)
    assert cones.sizes == (4, 4)
    assert cones.expand(np.array([1.0, 0.5, 0, 0, 2.0, -3.0, 0, 0])).tolist() == [1.5, 0.0]


def test_cones_of_quadratic_constraints_hold_factors_of_their_matrices() -> None:
    random = np.random.default_rng(5)
    root = random.normal(size=(2, 4))
    matrices = [np.diag([4.0, 0.0, 9.0, 0.0]), root.T @ root, np.zeros((4, 4))]
    linear = random.normal(size=(3, 4))
    program = Program(q=np.ones(4), quadratic=[(P, q, 1.5) for P, q in zip(matrices, linear, strict=True)])
    cones = SecondOrderCones.from_program(program)
    assert cones.sizes == (4, 4, 2)
    K, starts = cones.K.toarray(), np.cumsum([0, *cones.sizes])
    for P, q, start, end in zip(matrices, linear, starts[:-1], starts[1:], strict=True):
        F = K[start + 2 : end]
        assert pytest.approx(P) == F.T @ F
        assert K[start] == pytest.approx(q)
        assert K[start + 1] == pytest.approx(q)
        assert cones.b[start:end].tolist() == [2.0, 1.0, *[0.0] * (end - start - 2)]


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
