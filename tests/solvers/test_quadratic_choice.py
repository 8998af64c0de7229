"""Fill is predicted as it comes out, and PIQP or OSQP are asked first where that says so, and for so long only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.families.control import obstacle
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import splu

import relift
from relift import Program
from relift.program.solution import Solution
from relift.settings import SolverSettings
from relift.solvers import predicted_fill, quadratic_choice
from relift.solvers.clarabel_ import ClarabelBackend
from relift.solvers.piqp_ import PiqpBackend
from relift.solvers.predicted_fill import Fill
from relift.solvers.quadratic_choice import FirstTry, first_tries

pytestmark = pytest.mark.skipif(not predicted_fill.CORE_IS_COMPILED, reason="the compiled core is not built")


def fill_of_graph(n: int, edges: list[tuple[int, int]], effort: float = 1e6) -> Fill:
    P = np.eye(n) * (n + 1)
    for i, j in edges:
        P[i, j] = P[j, i] = 1.0 if i != j else P[i, j]
    found = predicted_fill.predicted_fill(Program(P=P, q=np.zeros(n)), effort=effort)
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
    assert found.is_whole
    assert len({frozenset(e) for e in edges if e[0] != e[1]}) <= found.entries <= 1.3 * entries + 3
    assert found.operations <= 1.6 * operations + 20


@settings(max_examples=100, deadline=None)
@given(
    n=st.integers(2, 14),
    pairs=st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=30),
    effort=st.floats(0.0, 3.0),
)
def test_what_is_not_counted_is_bounded(n: int, pairs: list[tuple[int, int]], effort: float) -> None:
    edges = [(i % n, j % n) for i, j in pairs]
    found, whole = fill_of_graph(n, edges, effort), fill_of_graph(n, edges)
    assert found == whole if found.is_whole else found.entries >= whole.entries
    assert whole.operations <= found.operations <= n**3 / 3


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


def test_rows_that_are_long_but_not_of_everything_are_counted_in_time() -> None:
    plants, customers = 12, 1_000  # each plant has a row of 1,000 flows
    A = sparse.vstack([
        sparse.kron(sparse.eye_array(plants), np.ones((1, customers))),
        sparse.kron(np.ones((1, plants)), sparse.eye_array(customers)),
    ])  # fmt: skip
    found = predicted_fill.predicted_fill(Program(q=np.zeros(plants * customers), A=A, u=1.0, lb=0.0))
    flows, among = plants * customers, np.arange(plants)  # flows go first, then customers, and plants are a clique
    assert found == Fill(3 * flows + among.sum(), 4 * flows + customers * plants**2 + (among**2).sum())


def test_counting_stops_where_it_takes_long_and_takes_the_rest_for_dense() -> None:
    bound, whole = (predicted_fill.predicted_fill(grid(12), effort=effort) for effort in (0.01, 1e6))
    assert bound is not None
    assert whole is not None
    assert whole.is_whole
    assert not bound.is_whole
    assert whole.entries < bound.entries <= 1728 * 1727 / 2
    assert whole.operations < bound.operations <= 1728**3 / 3


# --- who is asked -----------------------------------------------------------------------------------------------------


def chain(n: int) -> Program:
    """A chain of masses: its factor has no more entries than its matrix."""
    P = sparse.diags_array([-np.ones(n - 1), 2.1 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    return Program(P=P.tocsc(), q=np.linspace(-1.0, -0.5, n), lb=0.0, ub=np.linspace(0.5, 2.0, n))


def names(program: Program) -> list[str]:
    return [first.backend for first in first_tries(program)]


@pytest.fixture
def both() -> None:
    pytest.importorskip("osqp")
    pytest.importorskip("piqp")


def known_fill(program: Program) -> tuple[Fill, float, float]:
    """Fill, operations for each entry of the factor, and entries of the factor for each of the program."""
    found = predicted_fill.predicted_fill(program)
    assert found is not None
    assert program.P is not None
    size = program.n_variables + program.n_rows + program.A.nnz + 0.5 * program.P.nnz
    return found, found.operations / found.entries, found.entries / size


@pytest.mark.usefixtures("both")
def test_osqp_is_asked_first_where_factors_fill_up_and_piqp_where_they_are_short() -> None:
    program = grid(14)
    assert names(program) == ["osqp", "piqp"]
    result = relift.solve(program, lift="none")
    assert (result.backend, result.status) == ("osqp", "optimal")
    by_clarabel = relift.solve(program, lift="none", backend="clarabel")
    assert result.objective == pytest.approx(by_clarabel.objective, rel=1e-6)
    assert names(chain(1000)) == ["piqp"]
    result = relift.solve(chain(1000), lift="none")
    assert (result.backend, result.status) == ("piqp", "optimal")


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize("program", [grid(14), chain(1000)], ids=["grid", "chain"])
@pytest.mark.parametrize(
    "asked", [{"iteration_limit": 100}, {"backend_options": {"max_iter": 100}}, {"backend": "clarabel"}]
)
def test_what_the_user_asks_for_is_meant_for_the_default(program: Program, asked: dict[str, Any]) -> None:
    assert relift.solve(program, lift="none", **asked).backend == "clarabel"


@pytest.mark.usefixtures("both")
def test_the_next_one_answers_where_iterations_do_not_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quadratic_choice, "SHARE", 0.001)
    monkeypatch.setattr(quadratic_choice, "FEWEST_ITERATIONS", 10)
    result = relift.solve(grid(14), lift="none")
    assert (result.backend, result.status) == ("piqp", "optimal")
    assert [attempt.backend for attempt in result.attempts] == ["osqp", "piqp"]
    monkeypatch.setattr(quadratic_choice, "PROXIMAL_ITERATIONS", 2)
    result = relift.solve(grid(14), lift="none")
    assert (result.backend, result.status) == ("clarabel", "optimal")
    assert [attempt.backend for attempt in result.attempts] == ["osqp", "piqp", "clarabel"]


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("seconds", "asked", "backend", "iterations"),
    [
        (1e3, {"time_limit": 1e4}, "piqp", 60),
        (1e5, {}, "piqp", 60),
        (1.2e4, {"time_limit": 1e4}, "piqp", 25),
        (1.6e4, {"time_limit": 1e4}, "clarabel", 0),
    ],
)
def test_who_cannot_be_stopped_is_granted_what_must_end_in_time(
    seconds: float, asked: dict[str, Any], backend: str, iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    granted: list[object] = []

    def solve(self: PiqpBackend, program: Program, settings: SolverSettings, warm_start: Solution | None) -> Solution:
        granted.append(settings.options["max_iter"])
        return original(self, program, settings, warm_start)

    original = PiqpBackend.solve_form
    monkeypatch.setattr(PiqpBackend, "solve_form", solve)
    tries = (FirstTry("piqp", 60, seconds),)
    monkeypatch.setattr("relift.certified_solve.first_tries", lambda program: tries)
    assert relift.solve(chain(4000), lift="none", **asked).backend == backend
    assert granted == ([iterations] if iterations else [])


@pytest.mark.usefixtures("both")
def test_a_solver_that_is_kept_is_not_replaced_by_one_that_is_not() -> None:
    program = chain(1000)
    lifting = relift.lift(program, lift="none")
    assert relift.solve(lifting).backend == "piqp"
    lifting.solvers.is_wanted = True
    assert relift.solve(lifting).backend == "clarabel"
    assert lifting.solvers.names == ("clarabel",)


@pytest.mark.usefixtures("both")
def test_a_claim_without_a_proof_is_left_to_the_default() -> None:
    program = chain(1000)
    A = sparse.vstack([sparse.eye_array(1000), np.ones((1, 1000))]).tocsc()
    result = relift.solve(program.replace(A=A, l=np.r_[np.zeros(1000), 5000.0], u=np.inf), lift="none")
    assert result.status == "infeasible"
    assert result.certificate.is_proved
    assert [attempt.backend for attempt in result.attempts] == ["piqp", "clarabel"]
    assert [attempt.status for attempt in result.attempts] == ["infeasible", "infeasible"]


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    "change",
    [
        {"P": None},
        {"quadratic": [(sparse.eye_array(2744), np.zeros(2744), 1e6)]},
        {"lb": -np.inf, "ub": np.inf},
    ],
    ids=["linear", "quadratic rows", "no inequality"],
)
def test_other_programs_are_left_to_the_default(change: dict[str, Any]) -> None:
    assert first_tries(grid(14).replace(**change, assume_convex=True)) == ()


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    "P",
    [
        sparse.diags_array(np.r_[np.ones(800), np.zeros(1944)], format="csc"),
        sparse.eye_array(2744, format="csc"),
    ],
    ids=["mostly flat", "no fill"],
)
def test_where_factors_do_not_fill_up_osqp_is_not_asked(P: Any) -> None:
    n = 2744
    chained = sparse.diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n)).tocsc()
    assert names(Program(P=P, q=np.ones(n), A=chained, l=-1.0, lb=0.0, assume_convex=True)) == ["piqp"]


@pytest.mark.usefixtures("both")
def test_a_bound_of_the_fill_is_enough_for_piqp_and_not_for_osqp(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _, _ = known_fill(grid(14))
    monkeypatch.setattr(quadratic_choice, "predicted_fill", lambda program: Fill(*_numbers(found), is_whole=False))
    assert names(grid(14)) == ["piqp"]


def _numbers(fill: Fill) -> tuple[float, float]:
    return fill.entries, fill.operations


def test_small_programs_are_left_to_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("piqp")
    entries = 499 + 3 * 499 - 2
    assert entries < quadratic_choice.FEWEST_ENTRIES <= entries + 8
    assert first_tries(chain(499)) == ()
    assert names(chain(501)) == ["piqp"]


@pytest.mark.usefixtures("both")
def test_thresholds_of_piqp_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    found, length, _ = known_fill(chain(1000))
    monkeypatch.setattr(quadratic_choice, "LEAST_SPREAD", np.inf)
    monkeypatch.setattr(quadratic_choice, "LONGEST", 0.99 * length)
    assert first_tries(chain(1000)) == ()
    monkeypatch.setattr(quadratic_choice, "LONGEST", 1.01 * length)
    (first,) = first_tries(chain(1000))
    seconds = 4.5e-8 * (1000 + 2998 + found.entries) + 9e-10 * found.operations
    assert (first.backend, first.iterations) == ("piqp", 60)
    assert first.seconds == pytest.approx(60 * seconds, rel=1e-12)


def test_longer_columns_are_left_to_piqp_where_they_are_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("piqp")
    monkeypatch.setattr(quadratic_choice, "_first_order_iterations", lambda program, fill: 0)
    program = grid(14)
    found, length, _ = known_fill(program)
    monkeypatch.setattr(quadratic_choice, "LONGEST", 0.99 * length)
    assert found.entries > quadratic_choice.LEAST_SPREAD * 1.125 * length**2
    assert names(program) == ["piqp"]
    with monkeypatch.context() as change:
        change.setattr(quadratic_choice, "LONGEST_SPREAD", 0.99 * length)
        assert names(program) == []
    monkeypatch.setattr(quadratic_choice, "LEAST_SPREAD", found.entries)
    assert names(program) == []


@pytest.fixture
def short_of_the_tolerance(monkeypatch: pytest.MonkeyPatch) -> Program:
    """A small dense program whose every answer by Clarabel is a little wrong."""
    original = ClarabelBackend.solve_form

    def solve(
        self: ClarabelBackend, program: Program, settings: SolverSettings, warm_start: Solution | None
    ) -> Solution:
        answer = original(self, program, settings, warm_start)
        return answer if answer.x is None else answer.but(x=answer.x + 1e-5)

    monkeypatch.setattr(ClarabelBackend, "solve_form", solve)
    monkeypatch.setattr(ClarabelBackend, "keeps_solver", False)
    monkeypatch.setattr("relift.certified_solve.MOST_POLISHED", 0)
    monkeypatch.setattr(quadratic_choice, "FEWEST_ENTRIES", 10_000)
    return Program(P=np.ones((60, 60)) + np.eye(60), q=np.linspace(-1, 1, 60), lb=-0.01, assume_convex=True)


def test_piqp_is_asked_before_a_default_that_ended_short_is_asked_again(
    short_of_the_tolerance: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("piqp")
    assert names(short_of_the_tolerance) == []
    result = relift.solve(short_of_the_tolerance)
    assert (result.status, result.backend) == ("optimal", "piqp")
    assert [attempt.backend for attempt in result.attempts] == ["clarabel", "piqp"]
    _, length, _ = known_fill(short_of_the_tolerance)
    monkeypatch.setattr(quadratic_choice, "LONGEST_SECOND", 0.99 * length)
    again = relift.solve(short_of_the_tolerance)
    assert [attempt.backend for attempt in again.attempts][:2] == ["clarabel", "clarabel"]


@pytest.mark.parametrize("asked", [{"iteration_limit": 100}, {"backend_options": {"max_iter": 100}}])
def test_piqp_is_not_asked_second_where_the_user_says_how_to_solve(
    short_of_the_tolerance: Program, asked: dict[str, Any]
) -> None:
    result = relift.solve(short_of_the_tolerance, **asked)
    assert [attempt.backend for attempt in result.attempts][:2] == ["clarabel", "clarabel"]


@pytest.mark.usefixtures("both")
def test_thresholds_of_osqp_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    program = grid(14)
    found, length, of_program = known_fill(program)
    spread = found.entries / (1.125 * length**2)
    assert first_tries(program)[0] == FirstTry("osqp", max(150, int(0.35 * 15 * length / 4)))
    for name, value in (
        ("FEWEST_NODES", 2744.0), ("LEAST_FILL", of_program), ("LEAST_LENGTH", length), ("LEAST_SPREAD", spread),
    ):  # fmt: skip
        assert getattr(quadratic_choice, name) < value
        with monkeypatch.context() as change:
            change.setattr(quadratic_choice, name, 1.01 * value)
            assert names(program) == ["piqp"]
            change.setattr(quadratic_choice, name, 0.99 * value)
            assert names(program) == ["osqp", "piqp"]


@pytest.mark.usefixtures("both")
def test_thresholds_of_osqp_in_large_programs_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    program = grid(20)
    found, length, of_program = known_fill(program)
    monkeypatch.setattr(quadratic_choice, "LEAST_SPREAD", np.inf)  # so that it counts as large or not at all
    assert first_tries(program)[0] == FirstTry("osqp", max(300, int(0.35 * 15 * length / 4)))
    for name, value in (
        ("LARGE_NODES", 8000.0), ("LARGE_FILL", of_program), ("LARGE_LENGTH", length),
        ("LARGE_OPERATIONS", found.operations), ("LARGE_SPREAD", found.entries / (1.125 * length**2)),
    ):  # fmt: skip
        assert getattr(quadratic_choice, name) <= value
        with monkeypatch.context() as change:
            change.setattr(quadratic_choice, name, 1.01 * value)
            assert "osqp" not in names(program)
            change.setattr(quadratic_choice, name, 0.99 * value)
            assert names(program)[0] == "osqp"


@pytest.mark.usefixtures("both")
def test_a_dense_program_is_left_to_the_default() -> None:
    program = Program(P=np.ones((500, 500)) + np.eye(500), q=np.zeros(500), lb=-1.0, assume_convex=True)
    _, length, of_program = known_fill(program)
    assert length > quadratic_choice.LONGEST > quadratic_choice.LEAST_LENGTH
    assert of_program < quadratic_choice.LEAST_FILL
    assert first_tries(program) == ()


@pytest.mark.usefixtures("both")
def test_osqp_is_asked_for_more_digits_where_it_only_thinks_to_have_enough() -> None:
    program = obstacle(20)  # costs of 0.001
    result = relift.solve(program)
    assert [(attempt.backend, attempt.status) for attempt in result.attempts] == [("osqp", "optimal")] * 2
    assert result.status == "optimal"
    first, second = (attempt.residual for attempt in result.attempts)
    assert second <= 1e-6 < first
