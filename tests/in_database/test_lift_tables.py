"""Classes found inside an engine are those of the compiled core, and so are quotients and answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift import Program
from relift.errors import EngineError
from relift.in_database import EngineLifting, EngineLiftSettings, EngineResult, lift_tables, tables_from_program
from relift.settings import LiftMethod, Progress
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.testing.random_programs import random_program, symmetric_program

METHODS = ("equitable", "counting")
few = settings(max_examples=8, deadline=None)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with DuckDBEngine(threads=1) as opened:
        yield opened


def lifted(engine: Engine, program: Program, **options: object) -> EngineLifting:
    return lift_tables(engine, **tables_from_program(program), settings=EngineLiftSettings(**options))  # type: ignore[arg-type]


def close(lifting: EngineLifting) -> None:
    lifting.close()
    lifting.program.drop()


def assert_as_local(engine: Engine, program: Program, method: LiftMethod, **options: Any) -> None:
    """Classes equal to the core's, a quotient equal to the local one, and the same certified answer."""
    lifting = lifted(engine, program, lift=method, **options)
    try:
        assert_lifting_as_local(lifting, program, method, **options)
    finally:
        close(lifting)


def assert_lifting_as_local(lifting: EngineLifting, program: Program, method: LiftMethod, **options: Any) -> None:
    """The same of a lifting that is there."""
    scale_rows = bool(options.get("scale_rows", True))
    values = options.get("values", "decimal")
    local = relift.lift(
        program, lift=method, reduce=False, sizes=False, signs=False, scale_rows=scale_rows, values=values
    )
    assert lifting.variable_partition == local.variables
    assert lifting.row_partition == local.rows
    assert_same_program(lifting.small, local.small)
    here, there = relift.solve(local), lifting.solve()
    assert there.status == here.status
    if here.x is not None:
        assert there.objective == pytest.approx(here.objective, rel=1e-6, abs=1e-6)
        checked = relift.certify(program, _solution(there), 1e-5)
        assert checked.is_optimal
        ours = there.certificate
        assert ours.primal_residual == pytest.approx(checked.primal_residual, abs=1e-9)
        assert ours.dual_residual == pytest.approx(checked.dual_residual, abs=1e-9)
        assert ours.duality_gap == pytest.approx(checked.duality_gap, abs=1e-9)


def _solution(result: EngineResult) -> relift.Solution:
    return relift.Solution(
        result.status,
        x=result.fetch_x(),
        y=result.fetch_y(),
        w=result.fetch_w(),
    )


def assert_same_program(one: Program, other: Program) -> None:
    for name in ("q", "l", "u", "lb", "ub"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-14, atol=0)
    assert one.r == pytest.approx(other.r)
    for first, second in ((one.A, other.A), (one.P, other.P)):
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            np.testing.assert_allclose(first.toarray(), second.toarray(), rtol=1e-12, atol=1e-13)


@few
@given(
    seed=st.integers(0, 10**6), method=st.sampled_from(METHODS), quadratic=st.booleans(), scaled=st.booleans(),
    disguised=st.booleans(),
)  # fmt: skip
def test_symmetric_programs_have_the_classes_of_the_core(
    engine: Engine, seed: int, method: LiftMethod, quadratic: bool, scaled: bool, disguised: bool
) -> None:
    built = symmetric_program(seed, quadratic=quadratic, scaled_rows=scaled, disguised=disguised)
    assert_as_local(engine, built.program, method)


@few
@given(seed=st.integers(0, 10**6), method=st.sampled_from(METHODS), quadratic=st.booleans())
def test_programs_without_symmetry_have_the_classes_of_the_core(
    engine: Engine, seed: int, method: LiftMethod, quadratic: bool
) -> None:
    assert_as_local(engine, random_program(seed, quadratic=quadratic), method)


@few
@given(data=st.data(), method=st.sampled_from(METHODS), values=st.sampled_from(["decimal", "bits"]))
def test_small_random_matrices_have_the_classes_of_the_core(
    engine: Engine, data: st.DataObject, method: LiftMethod, values: str
) -> None:
    """Few values on few places: many near misses, zeros, negative and proportional rows, empty rows and columns."""
    m, n = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 6))
    entry = st.sampled_from([0.0, 0.0, 1.0, -1.0, 2.0, 0.1, 0.2, 0.3, 1 / 3, 1e-7, 12345.678901])
    A = np.array([[data.draw(entry) for _ in range(n)] for _ in range(m)]).reshape(m, n)
    bound = st.sampled_from([0.0, 1.0, 2.0, 0.3, np.inf])
    u = np.array([data.draw(bound) for _ in range(m)]) + 1.0
    l = np.array([-data.draw(bound) for _ in range(m)])
    q = np.array([data.draw(st.sampled_from([0.0, -0.0, 1.0])) for _ in range(n)])
    program = Program(q=q, A=sparse.csr_array(A), l=l, u=u, lb=-1.0, ub=1.0)
    scale_rows = data.draw(st.booleans())
    assert_as_local(engine, program, method, values=values, scale_rows=scale_rows)


WILD = [0.0, -0.0, 1.0, -1.0, 1 / 3, np.pi, 1e-300, 1e18, 2.0**24, 2.0**24 + 1, 1e300]


@few
@given(seed=st.integers(0, 10**6), method=st.sampled_from(METHODS), values=st.sampled_from(["decimal", "bits"]))
def test_wild_values_and_stored_zeros_have_the_classes_of_the_core(
    engine: Engine, seed: int, method: LiftMethod, values: str
) -> None:
    """Values from 1e-300 to 1e300, zeros of both signs given as entries; some symmetry."""
    random = np.random.default_rng(seed)
    m, n = random.integers(1, 4, 2)
    pool = random.choice(WILD, 3)
    A = np.kron(random.choice(pool, (m, n)), np.eye(2) if seed % 2 else np.ones((2, 2)))
    program = Program(q=np.repeat(random.choice([0.0, -0.0, 1 / 3], n), 2), A=A, u=np.ones(2 * m), lb=0.0, ub=1.0)
    tables: dict[str, Any] = {**tables_from_program(program)}
    tables["entries"] = [(i, j, float(A[i, j])) for i in range(2 * m) for j in range(2 * n)]
    how = EngineLiftSettings(lift=method, values=values)  # type: ignore[arg-type]
    lifting = lift_tables(engine, **tables, settings=how)
    local = relift.lift(program, lift=method, reduce=False, sizes=False, signs=False, values=values)  # type: ignore[arg-type]
    assert lifting.variable_partition == local.variables
    assert lifting.row_partition == local.rows
    close(lifting)


def test_values_that_are_one_residue_are_refused_not_merged(engine: Engine) -> None:
    """Read by bits, 2^61 is 1 modulo 2^61 - 1: no words can tell them apart, and the exact check says so."""
    program = Program(q=np.ones(2), A=[[1.0, 0.0], [0.0, 2.0**61]], u=np.ones(2), lb=0.0, ub=1.0)
    before = engine.tables()
    with pytest.raises(EngineError, match="no classes passed their check"):
        lifted(engine, program, values="bits", scale_rows=False)
    assert engine.tables() == before


def test_a_path_needs_many_rounds_and_gets_them(engine: Engine) -> None:
    n = 24
    A = sparse.diags_array([1.0, 1.0], offsets=[0, 1], shape=(n - 1, n))
    program = Program(q=np.ones(n), A=A, l=np.ones(n - 1), lb=0)
    seen: list[Progress] = []
    lifting = lift_tables(engine, **tables_from_program(program), progress=seen.append)
    assert lifting.small.n_variables == n // 2
    assert lifting.variable_partition == relift.lift(program, reduce=False, sizes=False, signs=False).variables
    rounds = [event for event in seen if event.round]
    assert [event.round for event in rounds] == list(range(1, lifting.rounds + 1))
    assert [event.classes for event in rounds] == sorted(event.classes for event in rounds)
    assert rounds[-1].classes == lifting.small.n_variables + lifting.small.n_rows
    close(lifting)


def test_sums_are_compared_not_multisets(engine: Engine) -> None:
    """Mixtures of permutations: one class by sums, as many as rows by counting."""
    A = np.array([[0.1, 0.2], [0.2, 0.1], [0.3, 0.0], [0.0, 0.3]])
    program = Program(q=[1, 1], A=A, l=np.ones(4), lb=0)
    by_sum, by_count = lifted(engine, program), lifted(engine, program, lift="counting")
    assert (by_sum.small.n_rows, by_count.small.n_rows) == (1, 2)
    close(by_sum)


def ring_with_a_mark(n: int) -> Program:
    """A ring in which one variable costs more: classes by distance from it, one further round by round."""
    A = sparse.eye_array(n) + sparse.eye_array(n, k=1) + sparse.eye_array(n, k=1 - n)
    return Program(q=np.where(np.arange(n) == 3, 2.0, 1.0), A=A, l=np.ones(n), lb=0)


@pytest.mark.parametrize("method", METHODS)
def test_collisions_of_words_are_caught_by_the_check(engine: Engine, method: str) -> None:
    """Words of one bit collide nearly always; classes are right all the same, after some seeds."""
    program = ring_with_a_mark(9)
    expected = relift.lift(program, lift=method, reduce=False, sizes=False, signs=False)  # type: ignore[arg-type]
    seeds = []
    for seed in (100, 200):
        lifting = lifted(engine, program, lift=method, word_bits=1, seed=seed)
        assert lifting.variable_partition == expected.variables
        assert lifting.row_partition == expected.rows
        seeds.append(lifting.seeds)
        close(lifting)
    assert max(seeds) > 1


def test_without_the_check_colliding_words_would_merge_too_much(engine: Engine) -> None:
    """The check is needed: words of one bit, checked by nothing but a further round of them, give fewer classes."""
    program = ring_with_a_mark(41)
    found = []
    for seed in range(3):
        lifting = lifted(engine, program, word_bits=1, verify="hash", seed=1000 * seed)
        found.append(lifting.small.n_variables)
        close(lifting)
    assert min(found) < relift.lift(program, reduce=False, sizes=False, signs=False).small.n_variables


def test_verify_hash_gives_the_same_classes(engine: Engine) -> None:
    program = symmetric_program(11, quadratic=True).program
    lifting = lifted(engine, program, verify="hash")
    assert lifting.variable_partition == relift.lift(program, reduce=False, sizes=False, signs=False).variables
    close(lifting)


def test_nothing_is_left_in_the_engine(engine: Engine) -> None:
    before = engine.tables()
    lifting = lifted(engine, symmetric_program(1, quadratic=True).program)
    lifting.solve()
    close(lifting)
    assert engine.tables() == before


def test_infeasible_and_unbounded_programs_are_proved_in_the_engine(engine: Engine) -> None:
    infeasible = Program(q=np.ones(4), A=np.ones((2, 4)), l=[9, 9], u=[9, 9], lb=0, ub=1)
    unbounded = Program(q=-np.ones(3), A=[[1, -1, 0], [0, 1, -1], [-1, 0, 1]], u=np.ones(3), lb=0)
    for program, status in ((infeasible, "infeasible"), (unbounded, "unbounded")):
        lifting = lifted(engine, program)
        result = lifting.solve()
        assert str(result.status) == status
        assert result.certificate.is_proved
        close(lifting)


def test_maximisation_has_the_objective_of_the_user(engine: Engine) -> None:
    program = Program(q=[1, 1], A=[[1, 1]], u=[3], lb=0, r=2.0, sense="max")
    lifting = lifted(engine, program)
    result = lifting.solve()
    assert result.objective == pytest.approx(5.0)
    assert result.certificate.is_optimal
    close(lifting)
