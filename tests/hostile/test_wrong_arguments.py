"""Arguments that ended in an error of NumPy, or in no error at all."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import relift
from relift import Program, Solution, Status, colour_refinement, linprog, solve
from relift.errors import NotANumberError, OptionError, ShapeError


def test_a_whole_number_too_large_for_a_float_is_no_number() -> None:
    with pytest.raises(NotANumberError, match="q is not made of real numbers"):
        Program(q=[10**400])


@pytest.mark.parametrize("lift", ["equitable", "none"])
def test_a_warm_start_of_another_size_is_named(lift: str) -> None:
    start = Solution(Status.OPTIMAL, x=np.ones(3))
    with pytest.raises(ShapeError, match="x of the warm start has 3 entries, but 2 are needed"):
        solve(Program(q=[1, 1], A=[[1, 1]], l=[1], lb=0), lift=lift, warm_start=start)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="x of the warm start"):
        relift.solve_qp(np.eye(2), -np.ones(2), initvals=np.ones(3))


def test_an_answer_that_does_not_fit_its_program_is_named_and_lists_are_taken() -> None:
    program = Program(q=[1, 1], lb=0)
    assert relift.certify(program, Solution(Status.OPTIMAL, x=[0, 0], y=[], w=[-1, -1])).is_optimal  # type: ignore[arg-type]
    for wrong, message in (
        (Solution(Status.OPTIMAL, x=np.zeros(3)), "x of the solution has 3 entries, but 2 are needed"),
        (Solution(Status.OPTIMAL, x=np.zeros(2), y=np.ones(1), w=np.zeros(2)), "y of the solution has 1 entries"),
        (Solution(Status.OPTIMAL, x=0.0), "x of the solution is one number, but 2 are needed"),  # type: ignore[arg-type]
        (Solution(Status.INFEASIBLE, ray_y=np.ones(1)), "ray_y of the solution has 1 entries, but 0 are needed"),
        (Solution(Status.UNBOUNDED, ray_x=np.ones(1)), "ray_x of the solution has 1 entries, but 2 are needed"),
    ):
        with pytest.raises(ShapeError, match=message):
            relift.certify(program, wrong)
    with pytest.raises(NotANumberError, match="x of the solution is not made of real numbers"):
        relift.certify(program, Solution(Status.OPTIMAL, x="ab"))  # type: ignore[arg-type]
    for nothing in (None, [0.0, 0.0]):
        with pytest.raises(OptionError, match="is not an answer"):
            relift.certify(program, nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1j, "a", None])
def test_a_graph_of_what_is_no_number_is_refused(entry: Any) -> None:
    with pytest.raises(NotANumberError, match="not a finite real number"):
        colour_refinement([[0, entry], [entry, 0]])
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge(0, 1, weight=entry)
    with pytest.raises(NotANumberError, match="weight"):
        colour_refinement(graph)


def test_a_node_without_colour_is_named() -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(ShapeError, match="no entry for the node 'b'"):
        colour_refinement(networkx.Graph([("a", "b")]), colours={"a": 1})


@pytest.mark.parametrize(
    "options", [{"presolve": True}, {"presolve": False}, {"simplex_dual_edge_weight_strategy": "dantzig"}]
)
def test_linprog_takes_the_options_that_scipy_documents(options: dict[str, object]) -> None:
    assert linprog([-1, -2], A_ub=[[1, 1], [1, 3]], b_ub=[4, 6], options=options).fun == pytest.approx(-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warm_start": [1, 2]}, "warm_start is a list. Give an earlier result, or relift.Solution"),
        ({"warm_start": {"x": [1]}}, "warm_start is a dict"),
        ({"backend_options": ["presolve"]}, "backend_options is a list. Give a mapping"),
        ({"progress": 3}, "progress=3 cannot be called"),
        ({"sizes": "no"}, "sizes='no' is not valid. Give True or False"),
        ({"reduce": None}, "reduce=None is not valid"),
        ({"vertex": "yes"}, "vertex='yes' is not valid"),
    ],
)
def test_options_of_another_kind_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        solve(Program(q=[1, 1], A=[[1, 2]], l=[1], lb=0), **options)


def test_switches_of_numpy_are_switches() -> None:
    program = Program(q=[1, 1], A=[[1, 1]], l=[1], lb=0)
    switches: dict[str, Any] = {"sizes": np.bool_(False), "vertex": np.bool_(True)}
    assert solve(program, **switches).objective == pytest.approx(1)


ORDERED, SHUFFLED = ["a", "b", "c"], ["c", "a", "b"]


def _labelled(name: str, labels: list[str]) -> Any:
    pandas = pytest.importorskip("pandas")
    if name == "P":
        return pandas.DataFrame(np.eye(3), index=labels, columns=labels)
    if name == "A":
        return pandas.DataFrame(np.ones((3, 3)), index=[1, 2, 3], columns=labels)
    if name == "wide ub":
        return pandas.DataFrame(np.ones((1, 3)), columns=labels)
    return pandas.Series([0.0, 0.0, 0.0], index=labels)


@pytest.mark.parametrize("name", ["q", "lb", "ub", "P", "wide ub"])
def test_labels_in_another_order_are_refused_and_the_same_order_is_not(name: str) -> None:
    argument = name.removeprefix("wide ")
    parts: dict[str, Any] = {"A": _labelled("A", ORDERED), "l": -1.0}
    sentence = f"{argument} has the labels of A in another order: label 0 is 'c', and that of A is 'a'. Bring them into"
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}") as caught:
        Program(**parts, **{argument: _labelled(name, SHUFFLED)})
    assert caught.value.argument == argument
    for labels in (ORDERED, ["a", "b", "d"]):  # other labels say nothing about places
        assert Program(**parts, **{argument: _labelled(name, labels)}).n_variables == 3
    given: dict[str, Any] = {"A": np.ones((3, 3)), "l": -1.0, argument: _labelled(name, SHUFFLED)}
    assert Program(**given).n_variables == 3  # nothing contradicts it


def test_labels_of_rows_in_another_order_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    A, sides = _labelled("A", ORDERED), pandas.Series([1.0, 2.0, 3.0], index=[3, 2, 1])
    with pytest.raises(
        ShapeError, match="l has the labels of A in another order: label 0 is '3', and that of A is '1'"
    ):
        Program(A=A, l=sides)
    assert Program(A=A, l=sides[::-1]).l.tolist() == [3.0, 2.0, 1.0]
    assert Program(A=A, l=sides.to_numpy()).l.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ShapeError, match="u has the labels of l in another order"):
        Program(A=np.ones((3, 3)), l=sides, u=sides[::-1])


def test_an_index_of_P_in_another_order_than_its_columns_is_refused() -> None:
    frame = _labelled("P", ORDERED).reindex(SHUFFLED)
    with pytest.raises(ShapeError, match="the index of P has the labels of P in another order"):
        Program(P=frame)
