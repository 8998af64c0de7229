"""Solver objects that are kept: the answers are those of fresh ones, whatever was solved before."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relift
from relift.arrays import Vector
from relift.kept_solvers import KeptSolvers
from relift.lifting.lifting import Lifting
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.solution import Solution, Status
from relift.settings import SolverSettings
from relift.solvers.kept import KEPT, KeptSolver
from relift.solvers.registry import backend_names, get_backend

BACKENDS = [name for name in ("highs", "clarabel", "osqp") if name in backend_names(installed=True)]


class Changes(TypedDict, total=False):
    """What an update changes."""

    q: Vector
    l: Vector
    u: Vector
    lb: Vector
    ub: Vector
    r: float


def linear(random: np.random.Generator, n: int = 6) -> Program:
    """A linear program without symmetry, bounded below."""
    A = random.uniform(0.1, 1, (n // 2, n)).round(3)
    return Program(q=random.uniform(1, 2, n), A=A, l=random.uniform(1, 2, n // 2), u=50, lb=0, ub=40)


def quadratic(random: np.random.Generator, n: int = 6) -> Program:
    root = random.normal(size=(n, n)).round(2)
    return linear(random, n).replace(P=root @ root.T + np.eye(n))


def conic(random: np.random.Generator, n: int = 6) -> Program:
    cone = ConicRows(np.vstack([np.zeros((1, n)), -np.eye(n)]), np.r_[30.0, np.zeros(n)], [SecondOrder(n + 1)])
    return linear(random, n).replace(conic=cone)


def changes_of(kind: str, program: Program, random: np.random.Generator) -> Changes:
    n, m = program.n_variables, program.n_rows
    match kind:
        case "costs":
            return {"q": random.uniform(0.5, 2, n)}
        case "rows":
            return {"l": random.uniform(0.5, 3, m)}
        case "bounds":
            return {"lb": random.uniform(0, 0.2, n), "ub": random.uniform(20, 40, n)}
        case "constant":
            return {"r": float(random.normal())}
        case "large":
            return {"q": 1e4 * random.uniform(0.5, 2, n)}
        case "infeasible":
            return {"l": np.full(m, 49.0), "ub": np.full(n, 0.5)}
        case "unbounded":
            return {"q": -np.ones(n), "u": np.full(m, np.inf), "ub": np.full(n, np.inf)}
        case "free":
            return {"lb": np.full(n, -np.inf)}
    raise AssertionError(kind)


KINDS = st.lists(
    st.sampled_from(["costs", "costs", "rows", "bounds", "constant", "large", "infeasible", "unbounded", "free"]),
    min_size=3,
    max_size=7,
)


def agrees(found: relift.Result, expected: relift.Result) -> None:
    assert found.status == expected.status
    if expected.status == Status.OPTIMAL:
        assert found.objective == pytest.approx(expected.objective, rel=2e-5, abs=2e-5)
        assert found.certificate.is_optimal


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [linear, quadratic])
@settings(max_examples=30)
@given(kinds=KINDS, seed=st.integers(0, 2**16), on_one=st.booleans())
def test_answers_of_kept_objects_are_those_of_fresh_ones(
    backend: str, make: object, kinds: list[str], seed: int, on_one: bool
) -> None:
    assert callable(make)
    random = np.random.default_rng(seed)
    program: Program = make(random)
    first = lifting = relift.lift(program)
    for kind in kinds:
        lifting = (first if on_one else lifting).update(**changes_of(kind, program, random))
        fresh = relift.solve(relift.lift(lifting.program), backend=backend)
        agrees(relift.solve(lifting, backend=backend), fresh)


@settings(max_examples=30)
@given(kinds=KINDS, seed=st.integers(0, 2**16))
def test_answers_of_kept_objects_with_cones_are_those_of_fresh_ones(kinds: list[str], seed: int) -> None:
    random = np.random.default_rng(seed)
    program = conic(random)
    lifting = relift.lift(program)
    for kind in kinds:
        lifting = lifting.update(**changes_of(kind, program, random))
        agrees(relift.solve(lifting), relift.solve(relift.lift(lifting.program)))


def solved_twice(program: Program, backend: str = "auto") -> tuple[Lifting, str]:
    """A lifting whose solver object is kept, and the name of its backend."""
    lifting = relift.lift(program)
    assert relift.solve(lifting, backend=backend).solution.statistics.get(KEPT) is None
    assert not lifting.solvers.names
    lifting = lifting.update(q=1.5 * program.q)
    assert relift.solve(lifting, backend=backend).solution.statistics.get(KEPT) is None
    assert len(lifting.solvers.names) == 1
    return lifting, lifting.solvers.names[0]


def is_kept(result: relift.Result) -> bool:
    assert result.status == Status.OPTIMAL
    return bool(result.solution.statistics.get(KEPT))


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_object_is_kept_from_the_first_update_on(backend: str) -> None:
    lifting, name = solved_twice(linear(np.random.default_rng(1)), backend)
    assert name == backend
    q = lifting.program.q
    assert is_kept(relift.solve(lifting.update(q=1.01 * q), backend=backend))
    assert is_kept(relift.solve(lifting.update(l=1.01 * lifting.program.l), backend=backend))
    for limit in (60.0, None, 30.0):
        assert is_kept(relift.solve(lifting.update(q=q + 0.01), backend=backend, time_limit=limit))


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_settings_and_limits_ask_for_a_fresh_object(backend: str) -> None:
    lifting, _ = solved_twice(linear(np.random.default_rng(2)), backend)
    assert not is_kept(relift.solve(lifting, backend=backend, iteration_limit=100_000))
    assert not is_kept(relift.solve(lifting, backend=backend, tolerance=1e-5))


@pytest.mark.parametrize(
    ("backend", "make"),  # of quadratic programs HiGHS keeps nothing
    [(name, make) for name in BACKENDS for make in (linear, quadratic) if (name, make) != ("highs", quadratic)],
)
def test_new_numbers_in_the_matrices_are_put_into_the_object(backend: str, make: object) -> None:
    assert callable(make)
    random = np.random.default_rng(3)
    program: Program = make(random)
    lifting, _ = solved_twice(program, backend)
    for _ in range(3):
        P = None if program.P is None else program.P * random.uniform(0.5, 2)
        other = program.replace(A=program.A * random.uniform(0.5, 2), P=P, q=random.uniform(1, 2, 6))
        again = lifting.with_values_of(other)
        assert again is not None
        found = relift.solve(again, backend=backend)
        assert is_kept(found)
        agrees(found, relift.solve(relift.lift(other), backend=backend))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_program_of_other_structure_gets_a_fresh_object(backend: str) -> None:
    random = np.random.default_rng(4)
    lifting, _ = solved_twice(linear(random), backend)
    others = [linear(random, 8), linear(random).replace(A=np.eye(3, 6)), linear(random).replace(A=np.ones((3, 6)))]
    for other in others:
        there = replace(relift.lift(other), solvers=lifting.solvers)
        agrees(relift.solve(there, backend=backend), relift.solve(relift.lift(other), backend=backend))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_bound_that_appears_or_goes_is_not_forgotten(backend: str) -> None:
    random = np.random.default_rng(5)
    lifting, _ = solved_twice(linear(random), backend)
    for lb in (np.full(6, -np.inf), np.r_[-np.inf, np.zeros(5)], np.ones(6), np.zeros(6)):
        lifting = lifting.update(lb=lb)
        agrees(relift.solve(lifting, backend=backend), relift.solve(relift.lift(lifting.program), backend=backend))


class Dying(KeptSolver):
    """Fails as solvers can."""

    def __init__(self, settings: SolverSettings, error: BaseException) -> None:
        super().__init__(settings, 10)
        self.error = error

    def solve_again(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution | None:
        raise self.error


class Lying(KeptSolver):
    """Says optimal, of any point."""

    def solve_again(self, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution | None:
        zeros, rows = np.zeros(program.n_variables), np.zeros(program.n_rows)
        return Solution(Status.OPTIMAL, zeros, rows, zeros, objective=0.0, backend="highs")


def put(lifting: Lifting, name: str, solver: KeptSolver) -> None:
    with lifting.solvers.lent() as objects:
        assert objects is not None
        objects[name] = solver


class Panic(BaseException):
    """As a panic in Rust reaches Python."""


@pytest.mark.parametrize("error", [RuntimeError("dead"), MemoryError(), Panic()])
def test_an_object_that_dies_is_replaced_by_a_fresh_one(error: BaseException) -> None:
    lifting, name = solved_twice(linear(np.random.default_rng(6)))
    expected = relift.solve(lifting).objective
    put(lifting, name, Dying(SolverSettings(), error))
    result = relift.solve(lifting)
    assert not is_kept(result)
    assert result.objective == pytest.approx(expected)
    assert len(result.attempts) == 1
    assert is_kept(relift.solve(lifting))


def test_an_interrupt_by_the_user_is_not_taken_for_a_failure() -> None:
    lifting, name = solved_twice(linear(np.random.default_rng(6)))
    put(lifting, name, Dying(SolverSettings(), KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        relift.solve(lifting)
    assert lifting.solvers.names == ()
    assert relift.solve(lifting).status == Status.OPTIMAL


def test_a_wrong_answer_of_a_kept_object_fails_its_check_and_a_fresh_one_is_asked() -> None:
    lifting, name = solved_twice(linear(np.random.default_rng(7)))
    expected = relift.solve(lifting).objective
    put(lifting, name, Lying(SolverSettings(), 10))
    result = relift.solve(lifting)
    assert result.status == Status.OPTIMAL
    assert result.objective == pytest.approx(expected)
    assert [attempt.backend for attempt in result.attempts] == ["highs", "highs"]
    assert result.attempts[0].residual > 1e-3


def test_an_object_that_takes_many_iterations_is_dropped() -> None:
    backend, kept = get_backend("clarabel"), KeptSolvers(is_wanted=True)
    program = quadratic(np.random.default_rng(8))
    backend.solve_by_kept(program, SolverSettings(), None, kept)
    with kept.lent() as objects:
        assert objects is not None
        solver = objects["clarabel"]
    assert isinstance(solver, KeptSolver)
    assert not solver.is_slow(Solution(Status.OPTIMAL, iterations=20))
    assert solver.is_slow(Solution(Status.OPTIMAL, iterations=2 * max(20, solver.iterations) + 1))


def test_copies_and_other_processes_begin_without_objects() -> None:
    lifting, _ = solved_twice(linear(np.random.default_rng(9)))
    for other in (copy.deepcopy(lifting.solvers), pickle.loads(pickle.dumps(lifting.solvers))):
        assert other.is_wanted
        assert other.names == ()
    assert len(lifting.solvers.names) == 1


def test_objects_are_freed_with_the_last_lifting_that_shares_them() -> None:
    lifting, name = solved_twice(linear(np.random.default_rng(10)))
    with lifting.solvers.lent() as objects:
        assert objects is not None
        reference = weakref.ref(objects[name])
    del objects
    other = lifting.update(l=0.9 * lifting.program.l)
    del lifting
    gc.collect()
    assert reference() is not None
    del other
    gc.collect()
    assert reference() is None


def test_threads_that_solve_liftings_of_one_family_agree_with_fresh_solves() -> None:
    random = np.random.default_rng(11)
    lifting, _ = solved_twice(linear(random, 20))
    costs = [random.uniform(1, 2, 20) for _ in range(40)]
    expected = [relift.solve(lifting.program.replace(q=q)).objective for q in costs]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda q: relift.solve(lifting.update(q=q)).objective, costs))
    assert found == pytest.approx(expected)


def test_while_one_thread_has_the_objects_another_gets_none() -> None:
    lifting, _ = solved_twice(linear(np.random.default_rng(12)))
    with lifting.solvers.lent() as objects:
        assert objects is not None
        assert not is_kept(relift.solve(lifting))
    assert is_kept(relift.solve(lifting))
