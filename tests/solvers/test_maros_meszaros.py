"""The core backends are right on programs on which their own defaults are not."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy import sparse
from tests.data import data_folder

from relift.program import Program, Solution
from relift.settings import SolverSettings
from relift.solvers.registry import get_backend
from relift.testing.asserts import assert_optimal

FOLDER = data_folder("maros_meszaros")
with (FOLDER / "index.csv").open() as _file:
    OPTIMA = {row["name"]: float(row["resolved_opt"]) for row in csv.DictReader(_file)}


def read(name: str) -> Program:
    """The last n rows of A are the bounds of the variables."""
    with np.load(FOLDER / f"{name}.npz") as data:
        rows, n = (int(size) for size in data["shape"])
        m = rows - n
        P = sparse.csc_array((data["P_data"], data["P_indices"], data["P_indptr"]), shape=(n, n))
        A = sparse.csc_array((data["A_data"], data["A_indices"], data["A_indptr"]), shape=(rows, n))[:m]
        l, u = data["l"], data["u"]
        return Program(P, data["q"], A, l[:m], u[:m], l[m:], u[m:], float(data["r"]), assume_convex=True)


def answer(name: str, backend: str, attempts: int) -> Solution:
    """The first answer that is optimal, after at most so many attempts."""
    solver, program, settings = get_backend(backend), read(name), SolverSettings()
    for attempt in range(attempts):
        tried = settings if attempt == 0 else solver.harder(settings, attempt)
        assert tried is not None
        solution = solver.solve(program, tried)
        try:
            assert_optimal(program, solution, 1e-6)
        except AssertionError as error:
            failure = error
        else:
            return solution
    raise failure


def relative_error(name: str, solution: Solution) -> float:
    return abs(solution.objective - OPTIMA[name]) / max(1.0, abs(OPTIMA[name]))


@pytest.mark.parametrize(
    ("name", "attempts"),
    [
        *((name, 1) for name in ("LISWET7", "LISWET8", "LISWET11", "LISWET12", "YAO", "GOULDQP3", "QSHARE1B")),
        *((name, 1) for name in ("QRECIPE", "QSIERRA", "QPCBOEI1", "DUAL1", "CVXQP2_S", "KSIP", "STADAT2")),
        ("UBH1", 2),
    ],
)
def test_clarabel_reaches_the_optimum(name: str, attempts: int) -> None:
    assert relative_error(name, answer(name, "clarabel", attempts)) <= 1e-6


@pytest.mark.parametrize("name", ["YAO", "DUAL1", "CVXQP2_S", "GOULDQP3", "HS21", "QISRAEL"])
def test_highs_reaches_the_optimum(name: str) -> None:
    assert relative_error(name, answer(name, "highs", 1)) <= 1e-6


def test_highs_stops_in_time_where_its_active_set_method_does_not_end() -> None:
    solution = get_backend("highs").solve(read("MOSARQP2"), SolverSettings(time_limit=0.5))
    assert not solution.status.has_point


@pytest.mark.parametrize("name", ["highs", "clarabel"])
def test_harder_settings_end_and_keep_the_options_of_the_caller(name: str) -> None:
    backend = get_backend(name)
    options: dict[str, dict[str, object]] = {"highs": {"presolve": "on"}, "clarabel": {"max_iter": 77}}
    mine = options[name]
    settings, attempt = SolverSettings(tolerance=1e-7, time_limit=3, options=mine), 1
    while (harder := backend.harder(settings, attempt)) is not None:
        assert harder.options.items() > mine.items()
        assert (harder.tolerance, harder.time_limit) == (1e-7, 3)
        attempt += 1
    assert 2 <= attempt <= 5
