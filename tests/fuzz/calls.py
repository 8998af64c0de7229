"""The ways through relift: each is a name with its options, can be run on a draft, and can be written down as code."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from tests.fuzz.draft import Draft

import relift
from relift.lifting.certificate import certify
from relift.solvers.registry import backend_names

Random = np.random.Generator


@dataclass(frozen=True)
class Verdict:
    """What relift says, in the words of :class:`relift.Status`."""

    status: str
    objective: float = float("nan")
    lower: float = float("nan")
    upper: float = float("nan")
    broken: str = ""
    """A promise that the answer itself breaks."""
    x: Any = None
    """The point."""


@dataclass(frozen=True)
class Call:
    """A way through relift."""

    name: str
    words: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{k}={v!r}' for k, v in self.words.items())})"

    def run(self, draft: Draft) -> Verdict:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # inaccurate answers of linprog and solve_qp
            return _RUN[self.name](draft, dict(self.words))

    def code(self) -> str:
        lines = {
            "solve": "result = relift.solve(program{words})",
            "expand": "lifting = relift.lift(program{words})\nsmall = relift.solve(lifting.small, lift='none')\n"
            "print(small)\nprint(relift.certify(program, lifting.expand(small.solution)))",
            "update": "lifting = relift.lift(program.replace(q=program.q * 0){words}).update(q=program.q)\n"
            "result = relift.solve(lifting)",
            "warm start": "result = relift.solve(program{words}, warm_start=relift.solve(program{words}))",
        }
        if self.name not in lines:
            return f"# by {self}: see tests/fuzz/calls.py\nprint(relift.solve(program))\n"
        words = "".join(f", {name}={value!r}" for name, value in self.words.items())
        if self.name == "expand":
            return lines[self.name].replace("{words}", words) + "\n"
        return lines[self.name].replace("{words}", words) + "\nprint(result, result.certificate)\n"


def drawn_call(random: Random, draft: Draft) -> Call:
    """A way that the program can take, with options that hardly anybody gives together."""
    names = ["solve"] * 10 + ["expand", "update", "warm start", "warm start"]
    if draft.is_linear:
        names += ["linprog", "linprog", "vertex", "vertex"]
    if not draft.cones and not draft.quadratic:
        names += ["solve_qp", "approximate", "approximate"]
    name = str(random.choice(names))
    words: dict[str, Any] = {}
    if name in ("linprog", "solve_qp"):
        return Call(name)
    if random.random() < 0.6:
        methods = ["equitable", "counting", "none", *([] if draft.cones or draft.quadratic else ["orbits"])]
        drawn = str(random.choice(methods))  # the same draw whatever is installed
        words["lift"] = drawn if drawn != "orbits" or find_spec("igraph") is not None else "equitable"
    if random.random() < 0.25:
        words["values"] = str(random.choice(["decimal", "bits"]))
    if random.random() < 0.15 and name != "approximate":
        words["digits"] = int(random.choice([6, 9, 12]))
    if random.random() < 0.25:
        words["scale_rows"] = bool(random.integers(2))
    if random.random() < 0.3:
        words["reduce"] = bool(random.integers(2))
    if name in ("solve", "warm start") and random.random() < 0.35:
        drawn = str(random.choice(_backends(draft)))
        words["backend"] = drawn if drawn in backend_names(installed=True) else "clarabel"
    if name == "approximate":
        words["approximate"] = float(random.choice([1e-2, 1e-3, 1e-4]))
    return Call(name, words)


def _backends(draft: Draft) -> list[str]:
    if draft.cones:
        return ["clarabel"] * 9 + ["scs"]
    if draft.quadratic:
        return ["clarabel"]
    return ["highs"] * 6 + ["clarabel"] * 6 + ["piqp"] * 6 + ["osqp", "osqp", "scs", "scs"]


def _of_result(result: Any) -> Verdict:
    broken = ""
    if result.status == "optimal":
        again = certify(result.program, result.solution, 1e-6)
        if not again.is_optimal:
            broken = f"the certificate does not pass when it is computed again: {again}"
        elif result.objective != result.program.objective(result.x):
            broken = f"objective {result.objective!r} is not that of the point, {result.program.objective(result.x)!r}"
    if result.status in {"infeasible", "unbounded"} and not certify(result.program, result.solution, 1e-6).is_proved:
        broken = f"{result.status} without a ray that proves it"
    if result.status == "optimal" and result.x is None:
        broken = "optimal without a point"
    bounds = result.lower_bound, result.upper_bound
    return Verdict(str(result.status), float(result.objective), *bounds, broken, result.x)


def _solve(draft: Draft, words: dict[str, Any]) -> Verdict:
    return _of_result(relift.solve(draft.program(), **words))


def _vertex(draft: Draft, words: dict[str, Any]) -> Verdict:
    return _of_result(relift.solve(draft.program(), vertex=True, **words))


def _of_lift(words: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in words.items() if name != "approximate"}


def _expand(draft: Draft, words: dict[str, Any]) -> Verdict:
    """The small program by itself, expanded and restricted by hand."""
    lifting = relift.lift(draft.program(), **_of_lift(words))
    small = relift.solve(lifting.small, lift="none")
    expanded = lifting.expand(small.solution)
    if small.status != "optimal":
        return Verdict(str(small.status), float(small.objective))
    certificate = certify(lifting.program, expanded)
    if not certificate.is_optimal:
        return Verdict("optimal_inaccurate", expanded.objective)
    again = lifting.restrict(expanded)
    error = float(np.abs(again.x - small.x).max(initial=0.0) / (1.0 + np.abs(small.x).max(initial=0.0)))
    broken = f"restrict(expand(x)) differs from x by {error:g}" if error > 1e-9 else ""
    return Verdict("optimal", expanded.objective, broken=broken, x=expanded.x)


def _update(draft: Draft, words: dict[str, Any]) -> Verdict:
    """Lifted without its costs and with wider rows, then given the true vectors."""
    program = draft.program()
    first = program.replace(q=program.q * 0.0, u=np.where(np.isfinite(program.u), program.u + 1.0, program.u))
    lifting = relift.lift(first, **_of_lift(words)).update(q=program.q, u=program.u)
    return _of_result(relift.solve(lifting))


def _warm_start(draft: Draft, words: dict[str, Any]) -> Verdict:
    program = draft.program()
    first = relift.solve(program, **words)
    return _of_result(relift.solve(program, **words, warm_start=first))


def _linprog(draft: Draft, words: dict[str, Any]) -> Verdict:
    sign = -1.0 if draft.sense == "max" else 1.0
    equal = draft.l == draft.u
    upper, lower = ~equal & np.isfinite(draft.u), ~equal & np.isfinite(draft.l)
    found = relift.linprog(
        sign * draft.q,
        A_ub=np.vstack([draft.A[upper], -draft.A[lower]]), b_ub=np.concatenate([draft.u[upper], -draft.l[lower]]),
        A_eq=draft.A[equal], b_eq=draft.u[equal], bounds=np.column_stack([draft.lb, draft.ub]),
    )  # fmt: skip
    status = {0: "optimal", 1: "time_limit", 2: "infeasible", 3: "unbounded"}.get(int(found.status), "failure")
    if status != "optimal":
        return Verdict(status)
    return Verdict(status, sign * found.fun + draft.r, x=found.x)


def _solve_qp(draft: Draft, words: dict[str, Any]) -> Verdict:
    sign = -1.0 if draft.sense == "max" else 1.0
    equal = draft.l == draft.u
    upper, lower = ~equal & np.isfinite(draft.u), ~equal & np.isfinite(draft.l)
    P = np.zeros((draft.n, draft.n)) if draft.P is None else sign * draft.P
    G, h = np.vstack([draft.A[upper], -draft.A[lower]]), np.concatenate([draft.u[upper], -draft.l[lower]])
    x = relift.solve_qp(P, sign * draft.q, G, h, draft.A[equal], draft.u[equal], draft.lb, draft.ub)
    return Verdict("none") if x is None else Verdict("optimal", draft.program().objective(x), x=x)


def _approximate(draft: Draft, words: dict[str, Any]) -> Verdict:
    return _of_result(relift.solve(draft.program(), **words))


_RUN = {
    "solve": _solve, "vertex": _vertex, "expand": _expand, "update": _update, "warm start": _warm_start,
    "linprog": _linprog, "solve_qp": _solve_qp, "approximate": _approximate,
}  # fmt: skip


def plain(draft: Draft) -> Draft:
    """The same as a minimisation, for those who compare."""
    if draft.sense == "min":
        return draft
    return replace(draft, sense="min", q=-draft.q, P=None if draft.P is None else -draft.P, r=-draft.r)
