"""Support vector machines as programs: their duals, ground and lifted, give certified optima of the ground program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

import relift
from relift.errors import OptionError
from relift.lifting.certificate import certify
from relift.paper.hinge_dual import SignedHinges, lift_equal, solve_by_dual


def hinge_program(seed: int, n_points: int, n_weights: int, copies: int) -> relift.Program:
    """Random points of both labels, some of them several times, with prices of two kinds."""
    random = np.random.default_rng(seed)
    Z = random.integers(-2, 3, (n_points, n_weights)).astype(float)
    Z = np.concatenate([Z, np.repeat(Z[:1], copies, axis=0)])
    side = np.where(random.integers(0, 2, len(Z)) == 1, 1.0, -1.0)
    side[:2] = [1.0, -1.0]
    side[n_points:] = side[0]
    price = random.choice([0.5, 2.0], len(Z))
    price[n_points:] = price[0]
    A = sparse.hstack([side[:, None] * Z, side[:, None], sparse.eye_array(len(Z))]).tocsr()
    P = np.concatenate([random.choice([1.0, 2.0], n_weights), np.zeros(1 + len(Z))])
    q = np.concatenate([np.zeros(n_weights + 1), price])
    lb = np.concatenate([np.full(n_weights + 1, -np.inf), np.zeros(len(Z))])
    return relift.Program(P=sparse.diags_array(P).tocsc(), q=q, A=A, l=np.ones(len(Z)), lb=lb)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 6), st.integers(0, 5))
def test_the_dual_gives_a_certified_optimum_ground_and_lifted(
    seed: int, points: int, weights: int, copies: int
) -> None:
    program = hinge_program(seed, points, weights, copies)
    lifting = lift_equal(program)
    ground = solve_by_dual(SignedHinges.of(program), tolerance=1e-9).solution
    lifted = lifting.expand(solve_by_dual(SignedHinges.of(lifting.small), tolerance=1e-9).solution)
    for solution in (ground, lifted):
        assert certify(program, solution).worst_residual < 1e-6
    expected = relift.solve(program, lift="none").objective
    assert ground.objective == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert lifted.objective == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_repeated_points_become_one_of_larger_price() -> None:
    program = hinge_program(3, 6, 4, 5)
    form = SignedHinges.of(lift_equal(program).small).form
    assert len(form.slacks) < program.n_rows
    assert form.program.q[form.slacks].max() > program.q.max()


def test_rows_written_the_other_way_round_have_the_same_optimum() -> None:
    program = hinge_program(2, 8, 3, 2)
    turn = np.where(np.arange(program.n_rows) % 2 == 0, 1.0, -1.0)
    inf = np.full(program.n_rows, np.inf)
    turned = program.replace(
        A=sparse.diags_array(turn) @ program.A,
        l=np.where(turn > 0, program.l, -inf),
        u=np.where(turn > 0, inf, -program.l),
    )
    one, other = (solve_by_dual(SignedHinges.of(each), tolerance=1e-9).solution for each in (program, turned))
    assert other.objective == pytest.approx(one.objective, rel=1e-9)
    assert certify(turned, other).is_optimal


def test_other_prices_and_a_start_lead_to_the_same_optimum() -> None:
    program = hinge_program(1, 12, 4, 0)
    form = SignedHinges.of(program)
    K = form.kernel()
    first = solve_by_dual(form, K)
    warm = solve_by_dual(form, K, 3.0 * program.q, first.beta, tolerance=1e-9)
    cold = solve_by_dual(SignedHinges.of(program.replace(q=3.0 * program.q)), tolerance=1e-9)
    assert warm.solution.objective == pytest.approx(cold.solution.objective, rel=1e-8)
    assert certify(program.replace(q=3.0 * program.q), warm.solution).is_optimal


def test_programs_of_another_form_are_refused() -> None:
    program = hinge_program(0, 4, 2, 0)
    others = [
        relift.Program(q=program.q, A=program.A, l=program.l, lb=program.lb),
        program.replace(u=np.full(program.n_rows, 3.0)),
        program.replace(q=program.q + np.where(program.lb < 0, 1.0, 0.0)),
        program.replace(lb=np.zeros(program.n_variables)),
        relift.Program(P=np.eye(2), q=np.zeros(2), A=np.ones((1, 2)), l=[1.0]),
    ]
    for other in others:
        with pytest.raises(OptionError, match="not a support vector machine in hinge form"):
            SignedHinges.of(other)
