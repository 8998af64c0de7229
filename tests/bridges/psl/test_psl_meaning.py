"""A PSL project has the optimum that enumerating all groundings gives; so has the same model as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

pytest.importorskip("cvxpy")

from tests.bridges.psl.slow_psl import Arithmetic, Atom, Logical, Missing, World, optimum

import relift
from relift.errors import DataError

CLOSED = {"Near": 2, "Sick": 1}
OPEN = {"Good": 1, "Likes": 2}
VALUES = st.sampled_from([0.0, 0.2, 0.5, 1.0])


@st.composite
def worlds(draw: Any) -> World:
    constants = ["a", "b", "c"][: draw(st.integers(1, 3))]
    observed: dict[Any, float] = {}
    targets: set[tuple[str, tuple[str, ...]]] = set()
    for name, arity in (CLOSED | OPEN).items():
        tuples = [(x,) if arity == 1 else (x, y) for x in constants for y in (constants if arity == 2 else [""])]
        for entry in tuples:
            is_open = name in OPEN
            if draw(st.booleans()) and (not is_open or draw(st.booleans())):
                observed[name, entry] = draw(VALUES)
            elif is_open:
                targets.add((name, entry))
    return World(constants, set(OPEN), observed, targets)


class Drawing:
    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def atom(self, names: dict[str, int], variables: list[str], constants: bool = True) -> Atom:
        name = self.draw(st.sampled_from(sorted(names)))
        choices = variables + (["a"] if constants else [])
        return Atom(name, tuple(self.draw(st.sampled_from(choices)) for _ in range(names[name])))

    def weight(self) -> tuple[float | None, int]:
        if self.draw(st.integers(0, 4)) == 0:
            return None, 1
        return self.draw(st.sampled_from([0.5, 1.0, 3.0])), self.draw(st.sampled_from([1, 2]))

    def logical(self) -> Logical:
        everything = CLOSED | OPEN
        body = [(False, self.atom(everything, ["A", "B"])) for _ in range(self.draw(st.integers(1, 2)))]
        bound = sorted({v for _, a in body for v in a.variables()}) or ["a"]
        if self.draw(st.booleans()):
            body.append((True, self.atom(everything, bound)))
        head = [(False, self.atom(OPEN, bound))]
        if self.draw(st.booleans()):
            head.append((self.draw(st.booleans()), self.atom(everything, bound)))
        tests = []
        if len(bound) == 2 and self.draw(st.booleans()):
            tests.append((bound[0], self.draw(st.sampled_from(["!=", "==", "%"])), bound[1]))
        return Logical(tuple(body), tuple(head), tuple(tests), *self.weight())

    def arithmetic(self) -> Arithmetic:
        number = st.sampled_from([1.0, -1.0, 0.5, 2.0])
        terms = [(self.draw(number), False, self.atom(OPEN, ["A", "B"]))]
        filters = []
        kind = self.draw(st.sampled_from(["plain", "sum", "mean"]))
        if kind == "plain":
            terms.append((self.draw(number), False, self.atom(CLOSED | OPEN, ["A", "B"])))
        else:
            terms.append(
                (self.draw(number), kind == "mean", Atom("Likes", (self.draw(st.sampled_from(["A", "a"])), "+C")))
            )
            if self.draw(st.booleans()):
                condition = self.draw(st.sampled_from([Atom("Sick", ("C",)), Atom("Near", ("a", "C"))]))
                filters.append(("C", self.draw(st.booleans()), condition))
        sign = self.draw(st.sampled_from(["<=", ">=", "="]))
        weight, power = self.weight()
        constant = self.draw(st.sampled_from([0.0, 0.5, 1.0]))
        return Arithmetic(tuple(terms), sign, constant, weight, power, tuple(filters))


@st.composite
def programs(draw: Any) -> tuple[World, list[Logical | Arithmetic]]:
    drawing = Drawing(draw)
    rules: list[Any] = [Logical((), ((True, Atom("Good", ("A",))),), (), 0.3, 2)]
    rules.append(Logical((), ((False, Atom("Likes", ("A", "B"))), (True, Atom("Near", ("A", "B")))), (), 0.2, 2))
    for _ in range(draw(st.integers(1, 3))):
        rules.append(drawing.logical() if draw(st.booleans()) else drawing.arithmetic())
    return draw(worlds()), rules


def project_of(world: World, rules: list[Any]) -> dict[str, Any]:
    predicates: dict[str, Any] = {}
    for name, arity in (CLOSED | OPEN).items():
        words: dict[str, Any] = {"observations": [[*e, str(v)] for (n, e), v in world.observed.items() if n == name]}
        if name in OPEN:
            words |= {"targets": [list(e) for n, e in sorted(world.targets) if n == name], "force-open": True}
        predicates[f"{name}/{arity}"] = words
    return {"rules": [str(rule) for rule in rules], "predicates": predicates}


@settings(max_examples=80, deadline=None, phases=[Phase.reuse, Phase.generate], suppress_health_check=list(HealthCheck))
@given(drawn=programs())
def test_a_project_has_the_optimum_of_all_its_groundings(drawn: Any) -> None:
    world, rules = drawn
    project = relift.read_psl(project_of(world, rules))
    wanted, values = optimum(world, rules)
    answer = project.solve()
    event(str(answer.status))
    if np.isinf(wanted):
        assert answer.status == "infeasible"
        return
    assert answer.status == "optimal"
    assert answer.objective == pytest.approx(wanted, rel=1e-5, abs=2e-6)
    written = relift.solve_model(str(project), project.data())
    assert written.objective == pytest.approx(wanted, rel=1e-5, abs=2e-6)
    assert answer.grounded.program == written.grounded.program
    for name, found in project.inferred(answer).items():
        assert {entry for n, entry in world.targets if n == name} == set(found)
        assert all(-1e-6 <= value <= 1 + 1e-6 for value in found.values())
        assert {entry for n, entry in values if n == name} <= set(found)


def test_an_atom_that_is_neither_observed_nor_a_target_is_an_error_that_names_it() -> None:
    rules: list[Any] = [Logical(((False, Atom("Near", ("A", "B"))),), ((False, Atom("Good", ("B",))),), (), 1.0)]
    world = World(["a", "b"], {"Good"}, {("Near", ("a", "b")): 1.0}, {("Good", ("a",))})
    with pytest.raises(Missing):
        optimum(world, rules)
    project = relift.read_psl(
        {
            "rules": [str(rule) for rule in rules],
            "predicates": {"Near/2": {"observations": [["a", "b"]]}, "Good/1": {"targets": [["a"]]}},
        }
    )
    with pytest.raises(DataError, match=r"good\(b\) is used, but lies outside of the domain of 'good'"):
        project.solve()
