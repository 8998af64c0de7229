"""Fill is predicted as it comes out, and OSQP is asked first where that says so, and for so long only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import splu

import relift
from relift import Program
from relift.solvers import first_order_choice, predicted_fill
from relift.solvers.first_order_choice import first_order_iterations
from relift.solvers.predicted_fill import Fill

pytestmark = pytest.mark.skipif(not predicted_fill.CORE_IS_COMPILED, reason="the compiled core is not built")


def fill_of_graph(n: int, edges: list[tuple[int, int]]) -> Fill:
    P = np.eye(n) * (n + 1)
    for i, j in edges:
        P[i, j] = P[j, i] = 1.0 if i != j else P[i, j]
    found = predicted_fill.predicted_fill(Program(P=P, q=np.zeros(n)), effort=1e6)
    assert found is not None
    return found


def least_fill(n: int, edges: list[tuple[int, int]]) -> tuple[int, int]:
    """Elimination by exact minimum degree, one node after the other."""
    neighbours: dict[int, set[int]] = {i: set() for i in range(n)}
    for i, j in edges:
        if i != j:
            neighbours[i].add(j)
            neighbours[j].add(i)
    entries = operations = 0
    while neighbours:
        pivot = min(neighbours, key=lambda i: len(neighbours[i]))
        reach = neighbours.pop(pivot)
        entries, operations = entries + len(reach), operations + len(reach) ** 2
        for i in reach:
            neighbours[i] |= reach - {i}
            neighbours[i].discard(pivot)
    return entries, operations


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 14), pairs=st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=30))
def test_fill_is_near_that_of_exact_minimum_degree(n: int, pairs: list[tuple[int, int]]) -> None:
    edges = [(i % n, j % n) for i, j in pairs]
    entries, operations = least_fill(n, edges)
    found = fill_of_graph(n, edges)
    assert len({frozenset(e) for e in edges if e[0] != e[1]}) <= found.entries <= 1.3 * entries + 3
    assert found.operations <= 1.6 * operations + 20


def test_fill_of_known_graphs() -> None:
    path = [(k, k + 1) for k in range(29)]
    star = [(0, k) for k in range(1, 15)]
    clique = [(i, j) for i in range(9) for j in range(i)]
    assert fill_of_graph(30, path) == Fill(29, 29)
    assert fill_of_graph(15, star) == Fill(14, 14)
    assert fill_of_graph(9, clique) == Fill(36, sum(k * k for k in range(9)))
    assert fill_of_graph(30, [*path, (29, 0)]) == Fill(29 + 28, 1 + 28 * 4)
    rows = predicted_fill.predicted_fill(Program(q=np.zeros(5), A=np.ones((1, 5))))
    assert rows == Fill(5, 5)


def grid(side: int) -> Program:
    """An obstacle under a membrane in three dimensions: its factor fills up."""
    line = sparse.diags_array([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1])
    one = sparse.eye_array(side)
    P = sum(sparse.kron(sparse.kron(a, b), c) for a, b, c in ((line, one, one), (one, line, one), (one, one, line)))
    return Program(P=P.tocsc(), q=np.linspace(-1.0, -0.5, side**3), lb=0.0, ub=np.linspace(0.5, 2.0, side**3))


def test_fill_of_a_grid_is_that_of_superlu() -> None:
    program = grid(10)
    found = predicted_fill.predicted_fill(program)
    assert found is not None
    factor = splu(
        sparse.csc_matrix(program.P + sparse.eye_array(1000)), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip
    assert found.entries == pytest.approx(factor.L.nnz - 1000, rel=0.15)


def test_a_row_of_everything_is_counted_and_costs_no_time() -> None:
    n = 20_000
    found = predicted_fill.predicted_fill(
        Program(P=sparse.eye_array(n, format="csc"), q=np.zeros(n), A=np.ones((1, n)), l=[1.0])
    )
    assert found == Fill(n, n)


def test_counting_gives_up_where_it_takes_long() -> None:
    assert predicted_fill.predicted_fill(grid(12), effort=0.01) is None


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds at which a small grid is large."""
    for name, value in (("FEWEST_NODES", 1000), ("LEAST_OPERATIONS", 1e5), ("LEAST_LENGTH", 30.0)):
        monkeypatch.setattr(first_order_choice, name, value)


@pytest.mark.usefixtures("small_steps")
def test_osqp_is_asked_first_where_factors_fill_up() -> None:
    pytest.importorskip("osqp")
    program = grid(11)
    found = predicted_fill.predicted_fill(program)
    assert found is not None
    assert int(0.35 * 15 * found.operations / found.entries / 4) < first_order_iterations(program) == 300
    result = relift.solve(program, lift="none")
    assert (result.backend, result.status) == ("osqp", "optimal")
    assert result.objective == pytest.approx(relift.solve(program, lift="none", backend="clarabel").objective, rel=1e-6)
    limits: list[dict[str, Any]] = [
        {"iteration_limit": 100}, {"backend_options": {"max_iter": 100}}, {"backend": "clarabel"},
    ]  # fmt: skip
    for asked in limits:
        assert relift.solve(program, lift="none", **asked).backend == "clarabel"


@pytest.mark.usefixtures("small_steps")
def test_clarabel_answers_where_osqp_does_not_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("osqp")
    monkeypatch.setattr(first_order_choice, "SHARE", 0.001)
    monkeypatch.setattr(first_order_choice, "FEWEST_ITERATIONS", 10)
    result = relift.solve(grid(11), lift="none")
    assert (result.backend, result.status) == ("clarabel", "optimal")
    assert [attempt.backend for attempt in result.attempts] == ["osqp", "clarabel"]


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize(
    "change",
    [
        {"P": None},
        {"P": sparse.diags_array(np.r_[np.ones(400), np.zeros(931)], format="csc")},
        {"P": sparse.eye_array(1331, format="csc")},
        {"quadratic": [(sparse.eye_array(1331), np.zeros(1331), 1e6)]},
    ],
    ids=["linear", "mostly flat", "no fill", "quadratic rows"],
)
def test_other_programs_are_left_to_the_default(change: dict[str, Any]) -> None:
    pytest.importorskip("osqp")
    program = grid(11)
    assert first_order_iterations(program) is not None
    assert first_order_iterations(program.replace(**change, assume_convex=True)) is None


def test_thresholds_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("osqp")
    assert first_order_iterations(grid(19)) is None  # 6,859 nodes
    program = grid(20)
    found = predicted_fill.predicted_fill(program)
    assert found is not None
    length = found.operations / found.entries
    assert first_order_iterations(program) == int(0.35 * 15 * length / 4) > 300
    size = program.n_variables + 0.5 * program.P.nnz
    for name, value in (
        ("LEAST_FILL", found.entries / size), ("LEAST_OPERATIONS", found.operations), ("LEAST_LENGTH", length),
    ):  # fmt: skip
        assert getattr(first_order_choice, name) < value
        with monkeypatch.context() as change:
            change.setattr(first_order_choice, name, 1.01 * value)
            assert first_order_iterations(program) is None
            change.setattr(first_order_choice, name, 0.99 * value)
            assert first_order_iterations(program) is not None


@pytest.mark.usefixtures("small_steps")
def test_a_dense_program_is_left_to_the_default() -> None:
    program = Program(P=np.ones((1000, 1000)) + np.eye(1000), q=np.zeros(1000), assume_convex=True)
    found = predicted_fill.predicted_fill(program)
    assert found is not None
    assert found.operations > first_order_choice.LEAST_OPERATIONS
    assert found.operations / found.entries > first_order_choice.LEAST_LENGTH
    assert first_order_iterations(program) is None
