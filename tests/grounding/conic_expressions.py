"""Random convex and concave expressions, each as text and as what CVXPY makes of it by nested loops.

The two forms are drawn together, so that nothing of relift (its checker least of all) stands between them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

pytest.importorskip("cvxpy", reason="CVXPY is the other form")

import cvxpy as cp

Env = dict[str, int]


class NothingThere(Exception):  # noqa: N818
    """A function of nothing that has no value."""


@dataclass(frozen=True)
class Both:
    """An expression in both forms; `level` is "sum", "product" or "atom", for parentheses."""

    text: str
    build: Callable[[World, Env], Any]

    def __str__(self) -> str:
        return f"({self.text})"


@dataclass
class World:
    """Unknowns of CVXPY, and tables."""

    x: Any
    y: Any
    n: list[int]
    q: list[tuple[int, int]]
    a: dict[int, float]
    b: dict[tuple[int, int], float]

    def answers(self, query: str, env: Env) -> list[Env]:
        if query == "n":
            return [{"new": i} for i in self.n]
        outer = env[query.partition(" ")[2]]
        return [{"new": j} for i, j in self.q if i == outer]


NUMBERS = st.sampled_from([0.5, 1.0, 2.0, 0.3])


class Writer:
    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.names = itertools.count(1)

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def query(self, bound: tuple[str, ...]) -> tuple[str, str, str]:
        """A new variable, its query as text, and how the world answers it."""
        new = f"V{next(self.names)}"
        if bound and self.draw(st.booleans()):
            outer = self.pick(*bound)
            return new, f"q({outer}, {new})", f"q {outer}"
        return new, f"n({new})", "n"

    def over(self, bound: tuple[str, ...], body: Callable[[tuple[str, ...]], Both]) -> tuple[str, Both, Any]:
        """An index, the body inside of it, and what lists the bodies of all answers."""
        new, text, query = self.query(bound)
        inside = body((*bound, new))

        def parts(world: World, env: Env) -> list[Any]:
            return [inside.build(world, {**env, new: found["new"]}) for found in world.answers(query, env)]

        return f"{{{new} in {text}}}", inside, parts

    # --- affine -----------------------------------------------------------------------------------------------------

    def affine(self, bound: tuple[str, ...]) -> Both:
        parts = [self.linear(bound) for _ in range(self.pick(1, 1, 2))]
        number = self.draw(NUMBERS)
        text = " + ".join(part.text for part in parts) + f" - {number}"
        return Both(text, lambda w, env: sum(part.build(w, env) for part in parts) - number)

    def linear(self, bound: tuple[str, ...]) -> Both:
        factor = self.pick(0.5, -1.0, 2.0)
        kind = self.pick("x", "y", "a", "sum") if bound else self.pick("y", "sum", "x")
        if kind == "y":
            return Both(f"{factor}*y", lambda w, env: factor * w.y)
        if kind == "sum":
            index, inside, parts = self.over(
                bound, lambda b: Both(f"{factor}*x({b[-1]})", lambda w, env: factor * w.x[env[b[-1]]])
            )
            return Both(f"(sum{index} {inside.text})", lambda w, env: sum(parts(w, env)))
        if not bound:
            return Both(f"{factor}*x(1)", lambda w, env: factor * w.x[1])
        name = self.pick(*bound)
        if kind == "a":
            return Both(f"a({name})*x({name})", lambda w, env: w.a[env[name]] * w.x[env[name]])
        return Both(f"{factor}*x({name})", lambda w, env: factor * w.x[env[name]])

    def positive(self, bound: tuple[str, ...]) -> Both:
        """At least 0.5 for unknowns between -1 and 1."""
        name = self.pick(*bound) if bound else "1"
        factor = self.pick(0.5, 1.0)

        def build(w: World, env: Env) -> Any:
            return 1.5 + factor * w.x[env.get(name, 1)]

        return Both(f"1.5 + {factor}*x({name})", build)

    # --- convex and concave -----------------------------------------------------------------------------------------

    def convex(self, bound: tuple[str, ...], depth: int) -> Both:
        plain = ["abs", "square", "norm", "exp", "huber", "quad_over_lin", "inv", "power", "fourth", "kl", "lse"]
        nested = ["max", "max over", "sum", "plus", "minus", "norm of hinges", "hinge", "exp of", "norminf", "norm1"]
        kind = self.pick(*plain, *(nested if depth else ()))
        return getattr(self, f"_{kind.replace(' ', '_')}")(bound, depth)

    def concave(self, bound: tuple[str, ...], depth: int) -> Both:
        kind = self.pick(
            "log", "sqrt", "entropy", "root", "geo mean", *(("min", "min over", "log of") if depth else ())
        )
        return getattr(self, f"_{kind.replace(' ', '_')}")(bound, depth)

    def _abs(self, bound: Any, depth: int) -> Both:
        e = self.affine(bound)
        return Both(f"abs({e.text})", lambda w, env: cp.abs(e.build(w, env)))

    def _square(self, bound: Any, depth: int) -> Both:
        e = self.affine(bound)
        return Both(f"{e}**2", lambda w, env: cp.square(e.build(w, env)))

    def _fourth(self, bound: Any, depth: int) -> Both:
        e = self.affine(bound)
        return Both(f"{e}**4", lambda w, env: cp.power(e.build(w, env), 4))

    def _norm(self, bound: Any, depth: int) -> Both:
        if self.draw(st.booleans()):
            e, f = self.affine(bound), self.affine(bound)
            return Both(f"norm({e.text}, {f.text})", lambda w, env: _norm([e.build(w, env), f.build(w, env)], 2))
        index, inside, parts = self.over(bound, self.affine)
        return Both(f"(norm{index} {inside})", lambda w, env: _norm(parts(w, env), 2))

    def _norm1(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, self.affine)
        return Both(f"(norm1{index} {inside})", lambda w, env: _norm(parts(w, env), 1))

    def _norminf(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, self.affine)
        return Both(f"(norminf{index} {inside})", lambda w, env: _norm(parts(w, env), "inf"))

    def _norm_of_hinges(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, lambda b: self._hinge(b, depth - 1))
        return Both(f"(norm{index} {inside})", lambda w, env: _norm(parts(w, env), 2))

    def _hinge(self, bound: Any, depth: int) -> Both:
        e = self.convex(bound, depth - 1) if depth > 0 else self.affine(bound)
        power = self.pick(1, 2, 1.5)
        text = f"max(0, {e.text})" if power == 1 else f"max(0, {e.text})**{power}"
        return Both(text, lambda w, env: cp.power(cp.pos(e.build(w, env)), power))

    def _exp(self, bound: Any, depth: int) -> Both:
        e = self.affine(bound)
        return Both(f"exp(0.3*{e})", lambda w, env: cp.exp(0.3 * e.build(w, env)))

    def _exp_of(self, bound: Any, depth: int) -> Both:
        e = self.convex(bound, depth - 1)
        return Both(f"exp(0.05*{e})", lambda w, env: cp.exp(0.05 * e.build(w, env)))

    def _huber(self, bound: Any, depth: int) -> Both:
        e, d = self.affine(bound), self.draw(NUMBERS)
        return Both(f"huber({e.text}, {d})", lambda w, env: cp.huber(e.build(w, env), d))

    def _quad_over_lin(self, bound: Any, depth: int) -> Both:
        t = self.positive(bound)
        index, inside, parts = self.over(bound, self.affine)

        def build(w: World, env: Env) -> Any:
            found = parts(w, env)
            return cp.quad_over_lin(cp.hstack(found), t.build(w, env)) if found else 0.0

        return Both(f"(quad_over_lin{index} ({inside.text}, {t.text}))", build)

    def _inv(self, bound: Any, depth: int) -> Both:
        e = self.positive(bound)
        return Both(f"inv({e.text})", lambda w, env: cp.inv_pos(e.build(w, env)))

    def _power(self, bound: Any, depth: int) -> Both:
        e, p = self.positive(bound), self.pick(1.5, 3, -0.5, -2)
        return Both(f"{e}**{p}", lambda w, env: cp.power(e.build(w, env), p))

    def _kl(self, bound: Any, depth: int) -> Both:
        e, f = self.positive(bound), self.positive(bound)
        return Both(f"kl({e.text}, {f.text})", lambda w, env: cp.kl_div(e.build(w, env), f.build(w, env)))

    def _lse(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, self.affine)

        def build(w: World, env: Env) -> Any:
            return cp.log_sum_exp(cp.hstack(_some(parts(w, env))))

        return Both(f"(log_sum_exp{index} {inside})", build)

    def _max(self, bound: Any, depth: int) -> Both:
        e, f = self.convex(bound, depth - 1), self.affine(bound)
        return Both(f"max({e.text}, {f.text}, 1)", lambda w, env: cp.maximum(e.build(w, env), f.build(w, env), 1))

    def _max_over(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, lambda b: self.convex(b, depth - 1))
        return Both(f"(max{index} {inside})", lambda w, env: cp.max(cp.hstack(_some(parts(w, env)))))

    def _sum(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, lambda b: self.convex(b, depth - 1))
        weight = self.draw(NUMBERS)
        return Both(f"(sum{index} {weight}*{inside})", lambda w, env: weight * sum(parts(w, env)))

    def _plus(self, bound: Any, depth: int) -> Both:
        e, f, weight = self.convex(bound, depth - 1), self.convex(bound, depth - 1), self.draw(NUMBERS)
        return Both(f"{weight}*{e} + {f.text}", lambda w, env: weight * e.build(w, env) + f.build(w, env))

    def _minus(self, bound: Any, depth: int) -> Both:
        e, f = self.convex(bound, depth - 1), self.concave(bound, depth - 1)
        return Both(f"{e.text} - {f}", lambda w, env: e.build(w, env) - f.build(w, env))

    def _log(self, bound: Any, depth: int) -> Both:
        e = self.positive(bound)
        return Both(f"log({e.text})", lambda w, env: cp.log(e.build(w, env)))

    def _log_of(self, bound: Any, depth: int) -> Both:
        e, f = self.positive(bound), self.positive(bound)
        return Both(
            f"log(min({e.text}, {f.text}))", lambda w, env: cp.log(cp.minimum(e.build(w, env), f.build(w, env)))
        )

    def _sqrt(self, bound: Any, depth: int) -> Both:
        e = self.positive(bound)
        return Both(f"sqrt({e.text})", lambda w, env: cp.sqrt(e.build(w, env)))

    def _root(self, bound: Any, depth: int) -> Both:
        e, p = self.positive(bound), self.pick(0.3, 0.75)
        return Both(f"{e}**{p}", lambda w, env: cp.power(e.build(w, env), p))

    def _entropy(self, bound: Any, depth: int) -> Both:
        e = self.positive(bound)
        return Both(f"entropy({e.text})", lambda w, env: cp.entr(e.build(w, env)))

    def _geo_mean(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, self.positive)

        def build(w: World, env: Env) -> Any:
            return cp.geo_mean(cp.hstack(_some(parts(w, env))))

        return Both(f"(geo_mean{index} {inside})", build)

    def _min(self, bound: Any, depth: int) -> Both:
        e, f = self.concave(bound, depth - 1), self.affine(bound)
        return Both(f"min({e.text}, {f.text})", lambda w, env: cp.minimum(e.build(w, env), f.build(w, env)))

    def _min_over(self, bound: Any, depth: int) -> Both:
        index, inside, parts = self.over(bound, lambda b: self.concave(b, depth - 1))
        return Both(f"(min{index} {inside})", lambda w, env: cp.min(cp.hstack(_some(parts(w, env)))))


def _norm(parts: list[Any], order: Any) -> Any:
    return cp.norm(cp.hstack(parts), order) if parts else 0.0


def _some(parts: list[Any]) -> list[Any]:
    if not parts:
        raise NothingThere
    return parts


TEXT = """
relation n/1, q/2;  param a/1;
var x(I) in n(I) >= -1 <= 1, y >= -1 <= 1;
"""


@st.composite
def conic_models(draw: Any) -> tuple[str, dict[str, Any], Callable[[], tuple[cp.Problem, Any, Any]]]:
    """A model as text, its tables, and a function that makes the problem in CVXPY."""
    writer = Writer(draw)
    n = list(range(1, 1 + draw(st.integers(1, 3))))
    pairs = [(i, j) for i in n for j in n]
    q = draw(st.lists(st.sampled_from(pairs), max_size=5, unique=True))
    a = {i: draw(st.sampled_from([1.0, -0.5, 2.0])) for i in n}
    is_minimised = draw(st.booleans())
    goal = writer.convex((), 2) if is_minimised else writer.concave((), 2)
    below = writer.convex(("I",), 1)
    above = writer.concave(("I",), 1)
    room = draw(st.sampled_from([0.5, 3.0]))
    text = (
        TEXT
        + f"""
    {"minimize" if is_minimised else "maximize"} goal: {goal.text};
    subject to below forall {{I in n(I)}}: {below.text} <= {room} + 2*x(I) + 6;
    subject to above forall {{I in n(I)}}: y + {above.text} >= -{room};
    """
    )

    def problem() -> tuple[cp.Problem, Any, Any]:
        unknown = cp.Variable(len(n))
        x, y = {i: unknown[k] for k, i in enumerate(n)}, cp.Variable()
        world = World(x, y, n, q, a, {})
        objective = goal.build(world, {})
        rows = [unknown >= -1, unknown <= 1, y >= -1, y <= 1]
        for i in n:
            rows.append(below.build(world, {"I": i}) <= room + 2 * x[i] + 6)
            rows.append(y + above.build(world, {"I": i}) >= -room)
        sense = cp.Minimize if is_minimised else cp.Maximize
        return cp.Problem(sense(objective), rows), unknown, y

    return text, {"n": n, "q": q, "a": a}, problem


def value(problem: cp.Problem) -> float:
    """The optimum that CVXPY finds; infinite if there is none."""
    problem.solve(solver=cp.CLARABEL)
    assert problem.status in {"optimal", "optimal_inaccurate", "infeasible"}, problem.status
    return float(np.asarray(problem.value))
