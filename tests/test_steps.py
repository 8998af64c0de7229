"""Every step from a program to another one keeps its promise: an optimum, expanded, is one of the program before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import relift
from relift.lifting.lifting import lift
from relift.lifting.presolve import reduce
from relift.lifting.quotient import IsometricForm, Quotient, quotient
from relift.program.cones import PowerND
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.step import Step, expand_through, restrict_through
from relift.settings import LiftSettings
from relift.solvers.dummy_variable import DummyVariable
from relift.solvers.idle_bounds import IdleBounds
from relift.solvers.power_trees import PowerTrees
from relift.symmetry.snapping import snap
from relift.testing.random_conic_programs import symmetric_conic_program
from relift.testing.random_programs import symmetric_program

Case = tuple[Program, Step]
Random = np.random.Generator


def symmetric(random: Random, *, disguised: bool = False) -> Program:
    seed, quadratic = int(random.integers(2**31)), bool(random.integers(2))
    return symmetric_program(seed, quadratic=quadratic, scaled_rows=True, disguised=disguised).program.minimisation()


def presolve(random: Random) -> Case:
    program = symmetric(random, disguised=True)
    step = reduce(program)
    assert not step.is_trivial
    return program, step


def merge(random: Random) -> Case:
    program = symmetric(random)
    return program, quotient(program, lift(program, LiftSettings(reduce=False, signs=False)).symmetry)


def isometric(random: Random) -> Case:
    _, merged = merge(random)
    assert isinstance(merged, Quotient)
    return merged.program, IsometricForm.of(merged)


def conic_merge(random: Random) -> Case:
    program = symmetric_conic_program(int(random.integers(2**31))).program.minimisation()
    return program, quotient(program, lift(program, LiftSettings(reduce=False, signs=False)).symmetry)


def snapped(random: Random) -> Case:
    program = symmetric(random)
    noisy = program.replace(q=program.q * (1 + 1e-13 * random.standard_normal(program.n_variables)))
    return noisy, snap(noisy, 9)


def power_trees(random: Random) -> Case:
    """Maximise a weighted geometric mean under a budget, with arguments bounded from below."""
    n = int(random.integers(3, 7))
    weights = random.random(n) + 0.1
    weights /= weights.sum()
    cone = ConicRows(-np.eye(n + 1), np.zeros(n + 1), [PowerND(tuple(weights))])
    A = np.concatenate([random.random(n) + 0.5, [0.0]])[None, :]
    program = Program(
        q=np.append(np.zeros(n), -1.0), A=A, u=[float(n)], lb=np.append(np.full(n, 0.01), 0.0), conic=cone
    )
    return program, PowerTrees.of(program)


def dummy(random: Random) -> Case:
    """Right-hand sides alone, inside their cone."""
    n = int(random.integers(3, 6))
    cone = ConicRows(np.zeros((n + 1, 0)), np.append(random.random(n) + 1.0, 0.5), [PowerND((1.0 / n,) * n)])
    program = Program(A=np.zeros((1, 0)), l=[-1.0], u=[1.0], conic=cone)
    return program, DummyVariable.of(program)


def idle_bounds(random: Random) -> Case:
    """Squared hinges of a few variables in a box; the bounds of their helper variables are idle."""
    n, m = int(random.integers(1, 5)), int(random.integers(1, 8))
    A = np.hstack([random.normal(size=(m, n)), np.eye(m)])
    lower, upper = np.r_[np.full(n, -1.0), np.zeros(m)], np.r_[np.ones(n), np.full(m, np.inf)]
    program = Program(P=np.diag(random.random(n + m) + 0.1), A=A, l=random.normal(size=m), lb=lower, ub=upper)
    step = IdleBounds.of(program, fewest=1)
    assert step is not None
    return program, step


STEPS: dict[str, Callable[[Random], Case]] = {
    "presolve": presolve,
    "quotient": merge,
    "quotient of cones": conic_merge,
    "isometric form": isometric,
    "snapped numbers": snapped,
    "power-cone trees": power_trees,
    "dummy variable": dummy,
    "idle bounds": idle_bounds,
}


def recovered(kind: str) -> Callable[[Random], Case]:
    """Cones of CVXPY, read as what they were made from."""

    def draw(random: Random) -> Case:
        cp = pytest.importorskip("cvxpy", reason="CVXPY makes the cones")
        from relift.bridges.cvxpy import Lifted
        from relift.bridges.cvxpy.compiled import Compiled
        from relift.bridges.cvxpy.recovery import recover

        n = int(random.integers(3, 6))
        x = cp.Variable(n)
        M = random.normal(size=(n + 1, n))
        if kind == "means":
            problem = cp.Problem(cp.Maximize(cp.geo_mean(x)), [cp.sum(x) <= 3, x >= 0.05])
        elif kind == "norms":
            problem = cp.Problem(cp.Minimize(cp.norm(M @ x - 1) + cp.norm(x) + 0.1 * cp.sum(x)))
        else:
            problem = cp.Problem(cp.Minimize(random.normal(size=n) @ x), [cp.quad_form(x, M.T @ M) <= 5])
        program = Compiled.from_data(problem.get_problem_data(Lifted())[0]).program
        found = recover(program)
        assume(found)
        return program, found[-1]

    return draw


STEPS |= {f"recovered {kind}": recovered(kind) for kind in ("means", "norms", "quadratics")}


@pytest.mark.parametrize("name", sorted(STEPS))
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_an_optimum_of_the_program_after_a_step_expands_to_one_of_the_program_before(name: str, seed: int) -> None:
    program, step = STEPS[name](np.random.default_rng(seed))
    found = relift.solve(step.program, lift="none", reduce=False, tolerance=1e-8)
    assume(found.status is relift.Status.OPTIMAL)
    back = step.expand(found.solution)
    certificate = relift.certify(program, back, 1e-5)
    assert certificate.is_optimal, certificate


@pytest.mark.parametrize("name", sorted(STEPS))
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_a_point_that_was_expanded_comes_forward_unchanged(name: str, seed: int) -> None:
    _, step = STEPS[name](np.random.default_rng(seed))
    found = relift.solve(step.program, lift="none", reduce=False, tolerance=1e-8)
    assume(found.status is relift.Status.OPTIMAL)
    forward = restrict_through([step], expand_through([step], found.solution))
    np.testing.assert_allclose(forward.x, found.x, atol=2e-4, rtol=1e-4)
