"""Sends the solves of CVXPY's own tests through relift, with the solver that CVXPY chose as the backend.

CVXPY resolves ``solver=`` (or its default) to a solver as always, with all its errors; only then is that solver, if it
is a conic or QP one and the problem is continuous, replaced by relift with the same solver behind it. The replacement
goes by the name of the solver it replaces, so that statistics and messages read the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("cvxpy")

import cvxpy
from cvxpy.problems.problem import Cache, Problem
from cvxpy.reductions.solvers import solving_chain

import relift.cvxpy
from relift.bridges.cvxpy.solve import Outcome
from relift.bridges.cvxpy.solver import Lifted
from relift.errors import OptionError

COUNTS: Counter[str] = Counter()
"""What happened to the solves so far."""

_depth = 0  # how many calls of problem.solve are under way; below zero inside a backend, which is not routed again


class Routed(Lifted):
    """Relift in the clothes of the solver that solves the small problem."""

    def __init__(self, solver: str) -> None:
        super().__init__(backend=f"cvxpy:{solver}")
        self.solver = solver

    def name(self) -> str:
        return self.solver

    def solve_via_data(
        self, data: Any, warm_start: bool, verbose: bool, solver_opts: Any, solver_cache: Any = None
    ) -> Outcome:
        global _depth
        COUNTS["routed"] += 1
        outside, _depth = _depth, -1000
        for_backend = {name: value for name, value in solver_opts.items() if name != "use_quad_obj"}
        try:
            outcome = super().solve_via_data(data, warm_start, verbose, {"backend_options": for_backend}, solver_cache)
        except OptionError as error:
            COUNTS["raised"] += 1
            raise error.__cause__ or error from None  # in the backend's own words
        except Exception:
            COUNTS["raised"] += 1
            raise
        finally:
            _depth = outside
        report: dict[str, Any] = outcome.report
        ground, reduced, small = (report[key] for key in ("ground", "reduced", "small"))
        COUNTS[f"status {outcome.answer.status}"] += 1
        COUNTS["smaller"] += size(small) < size(ground)
        COUNTS["merged"] += small["variables"] < reduced["variables"] or size(small) < size(reduced)
        COUNTS["recovered"] += bool(report["recovered"])
        COUNTS["cones"] += bool(ground["cones"])
        COUNTS["certified"] += bool(report["certificate"]["is_optimal"] or report["certificate"]["is_proved"])
        if isinstance(own := report["backend_stats"], dict):
            return replace(outcome, report={**own, **outcome.report})
        return outcome


def size(report: dict[str, int]) -> int:
    """Variables and rows of all kinds."""
    return report["variables"] + report["rows"] + report["conic_rows"] + report["quadratic_constraints"]


def install() -> None:
    """Patch CVXPY, for the rest of this process."""
    relift.cvxpy.unregister()  # some tests go through all solvers that CVXPY knows: they must be the same in both runs
    resolve, solve, make_key = solving_chain._resolve_solver, Problem._solve, Cache.make_key

    def resolve_and_route(solver: Any, problem_form: Any, gp: bool) -> Any:
        found = resolve(solver, problem_form, gp)
        name = found.name()
        is_plain = type(found).__module__.startswith("cvxpy.reductions.solvers")
        if _depth <= 0 or not is_plain or name not in cvxpy.installed_solvers() or problem_form.is_mixed_integer():
            if _depth > 0:
                COUNTS["left alone"] += 1
            return found
        return Routed(name)

    def solve_inside(self: Problem, *args: Any, **kwargs: Any) -> Any:
        with _inside():
            return solve(self, *args, **kwargs)

    def key_with_route(self: Cache, *args: Any) -> Any:
        return (*make_key(self, *args), _depth > 0)

    solving_chain._resolve_solver = resolve_and_route
    Problem._solve = solve_inside  # type: ignore[method-assign]
    Cache.make_key = key_with_route  # type: ignore[method-assign]


@contextmanager
def _inside() -> Iterator[None]:
    global _depth
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
