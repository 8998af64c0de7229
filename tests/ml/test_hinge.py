"""Programs with hinge structure: first-order methods on the quotient reach the optimum with a true gap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

import relift
from relift.errors import OptionError
from relift.ml.hinge import solve_hinge
from relift.ml.hinge_form import HingeForm


def hinge_program(seed: int, n_rows: int, n_weights: int, copies: int, *, bias: bool, curved: bool) -> relift.Program:
    """Random rows, some of them several times, some as upper bounds; prices of two kinds; a linear term."""
    random = np.random.default_rng(seed)
    Z = np.repeat(random.integers(-2, 3, (n_rows, n_weights)).astype(float), copies, axis=0)
    m = len(Z)
    sides = np.repeat(random.choice([-1.0, 1.0], n_rows), copies)[:, None]
    slope = np.repeat(random.choice([1.0, 2.0], n_rows), copies)
    is_upper = np.repeat(random.integers(0, 2, n_rows) == 1, copies)
    turn = np.where(is_upper, -1.0, 1.0)
    parts = [sides * Z * turn[:, None], *([sides * turn[:, None]] if bias else []), sparse.diags_array(turn * slope)]
    P = np.zeros((n_weights + int(bias) + m,) * 2)
    root = random.integers(-1, 2, (n_weights, n_weights)) if curved else np.zeros((n_weights, n_weights))
    P[:n_weights, :n_weights] = root @ root.T + np.eye(n_weights)
    q = np.concatenate(
        [random.integers(-1, 2, n_weights), np.zeros(int(bias)), np.repeat(random.choice([0.5, 2.0], n_rows), copies)]
    )
    lb = np.concatenate([np.full(n_weights + bias, -np.inf), np.zeros(m)])
    l, u = np.where(is_upper, -np.inf, 1.0), np.where(is_upper, -1.0, np.inf)
    return relift.Program(P=P, q=q, A=sparse.hstack(parts).tocsr(), l=l, u=u, lb=lb)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 10), st.integers(1, 4), st.integers(1, 4), st.booleans(), st.booleans())
def test_cutting_planes_reach_the_optimum_of_the_generic_route(
    seed: int, rows: int, weights: int, copies: int, bias: bool, curved: bool
) -> None:
    program = hinge_program(seed, rows, weights, copies, bias=bias, curved=curved)
    expected = relift.solve(program, lift="none").objective
    for lifted in (True, False):
        result = solve_hinge(program, lifted=lifted, tol_gap=1e-6)
        assert result.gap <= 1e-6
        assert result.lower_bound <= expected + 1e-6 * max(1.0, abs(expected))
        assert result.objective == pytest.approx(expected, rel=1e-5, abs=1e-5)
        assert result.certificate.primal_residual < 1e-9


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 8), st.booleans())
def test_stochastic_gradients_tell_a_true_gap(seed: int, rows: int, bias: bool) -> None:
    program = hinge_program(seed, rows, 3, 2, bias=bias, curved=False)
    expected = relift.solve(program, lift="none").objective
    result = solve_hinge(program, method="sgd", tol_gap=1e-2, max_rounds=300)
    assert result.lower_bound <= expected + 1e-7 * max(1.0, abs(expected))
    assert result.objective >= expected - 1e-7 * max(1.0, abs(expected))
    assert result.gap == pytest.approx(
        (result.objective - result.lower_bound) / max(1, abs(result.objective)), abs=1e-9
    )


def test_copies_become_one_row_of_larger_price() -> None:
    program = hinge_program(3, 6, 4, 5, bias=True, curved=False)
    result = solve_hinge(program)
    assert result.lifting is not None
    form = HingeForm.of(result.lifting.small)
    assert len(form.price) <= 6
    assert form.price.sum() == pytest.approx(HingeForm.of(program).price.sum())
    assert [line["round"] for line in result.rounds] == list(range(1, len(result.rounds) + 1))


def test_a_limit_of_rounds_is_told() -> None:
    program = hinge_program(5, 8, 4, 1, bias=True, curved=True)
    result = solve_hinge(program, tol_gap=1e-9, max_rounds=1)
    assert str(result.solution.status) == "optimal_inaccurate"
    assert result.gap > 1e-9


def test_what_has_no_hinge_structure_is_refused() -> None:
    program = hinge_program(0, 4, 2, 1, bias=True, curved=False)
    others = [
        relift.Program(q=program.q, A=program.A, l=program.l, u=program.u, lb=program.lb),
        program.replace(lb=np.zeros(program.n_variables)),
        program.replace(l=np.full(program.n_rows, -5.0), u=np.full(program.n_rows, 5.0)),
        relift.Program(P=np.eye(2), q=np.zeros(2), A=np.ones((1, 2)), l=[1.0]),
    ]
    for other in others:
        with pytest.raises(OptionError, match=r"no hinge structure.* at most one free variable"):
            solve_hinge(other)
    A = program.A.toarray()
    A[0, program.n_variables - program.n_rows] *= -1
    with pytest.raises(OptionError, match="a slack tightens its row"):
        solve_hinge(program.replace(A=A))
    with pytest.raises(OptionError, match=r"method='adam' is not one. Expected one of: cutting_plane, sgd"):
        solve_hinge(program, method="adam")  # type: ignore[arg-type]
