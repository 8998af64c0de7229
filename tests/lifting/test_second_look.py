"""After an exact lifting, numbers that differ by rounding alone are told of where they keep much apart."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from typer.testing import CliRunner

import relift
from relift.arrays import Vector
from relift.cli.commands import app
from relift.formats.program_files import write_program
from relift.lifting.second_look import _at, has_nearly_equal_numbers, may_be_rounded
from relift.program.program import Program


def kernel_on_a_circle(n: int = 40) -> Program:
    angle = 2 * np.pi * np.arange(n) / n
    points = np.c_[np.cos(angle), np.sin(angle)]
    kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2))
    return Program(P=kernel + 0.01 * np.eye(n), q=-np.ones(n), A=np.ones((1, n)), l=[1], u=[1], lb=0)


def even_costs(n: int = 400) -> Program:
    z = np.linspace(-1, 1, n)
    return Program(q=np.abs(z), A=np.stack([np.ones(n), z**2]), l=[1, 0.1], u=[1, 1], lb=0)


def test_a_kernel_of_points_on_a_circle_is_one_class_with_the_digits_of_the_hint() -> None:
    result = relift.solve(kernel_on_a_circle())
    assert result.lifting.small.n_variables == 40
    assert result.hint is not None
    assert (result.hint.digits, result.hint.variables, result.hint.rows) == (11, 1, 1)
    assert relift.lift(kernel_on_a_circle(), digits=result.hint.digits).small.n_variables == 1


def test_costs_that_are_even_but_for_rounding_are_told_of() -> None:
    lifting = relift.lift(even_costs())
    assert lifting.small.n_variables > 200
    assert lifting.hint is not None
    assert lifting.hint.variables == relift.lift(even_costs(), digits=11).small.n_variables == 200
    assert lifting.notes == (
        "numbers that differ only by rounding keep variables apart: digits=11 (--digits 11) would leave 200 variables "
        "and 2 rows.",
    )


@pytest.mark.parametrize("seed", range(5))
def test_data_without_near_misses_get_no_hint_and_no_second_look(seed: int) -> None:
    random = np.random.default_rng(seed)
    program = Program(q=random.random(300), A=random.random((40, 300)), l=1, lb=0)
    assert not has_nearly_equal_numbers(program)
    lifting = relift.lift(program)
    assert lifting.hint is None
    assert "second look" not in lifting.timings


def test_rows_of_the_same_numbers_that_stand_apart_are_no_reason_for_a_second_look() -> None:
    random = np.random.default_rng(0)
    A = (random.random((300, 200)) < 0.02).astype(float)
    lifting = relift.lift(Program(q=np.ones(200), A=A[A.any(axis=1)], l=1.0, lb=0, ub=2))
    assert lifting.small.n_variables > 150
    assert lifting.hint is None
    assert "second look" not in lifting.timings


def fleet(size: Vector, digits: int) -> Program:
    """Cars whose needs, limits and curvature are in proportion to their sizes, over six hours with a price each."""
    n, hours = size.size, 6
    slots = np.tile(np.arange(hours), n)
    own = np.repeat(size, hours)
    of_car = sparse.kron(sparse.eye_array(n), np.ones((1, hours)))
    P = sparse.diags_array(np.round(1.0 / own, digits))
    return Program(
        P=P, q=1.0 + slots, A=sparse.csr_array(of_car), l=np.round(size / 3, digits), lb=0, ub=np.round(own / 7, digits)
    )


def test_a_second_look_is_taken_when_the_hint_is_asked_for() -> None:
    lifting = relift.lift(even_costs())
    assert "second look" not in lifting.timings
    hint = lifting.hint
    assert hint is not None
    assert lifting.timings["second look"] > 0
    assert lifting.hint is hint


def test_a_lifting_that_was_pickled_or_copied_gives_the_same_hint() -> None:
    lifting = relift.lift(even_costs(), progress=lambda progress: None)
    for other in (pickle.loads(pickle.dumps(lifting)), copy.deepcopy(lifting)):
        assert other.hint == relift.lift(even_costs()).hint
        assert other.hint is not None


def test_an_update_takes_no_second_look() -> None:
    program = even_costs()
    lifting = relift.lift(program)
    assert lifting.update(q=2 * program.q).hint is None
    assert lifting.hint is not None


def test_sizes_in_proportion_up_to_rounding_are_told_of_as_digits_find_them() -> None:
    size = np.random.default_rng(0).integers(11, 999, 40) / 10
    lifting = relift.lift(fleet(size, 13))
    found = relift.lift(fleet(size, 13), digits=11).small
    assert (found.n_variables, found.n_rows) == (6, 1)
    assert lifting.small.n_variables > 200
    assert lifting.hint is not None
    assert (lifting.hint.variables, lifting.hint.rows) == (6, 1)


def test_numbers_of_few_digits_are_no_reason_for_a_second_look() -> None:
    size = np.random.default_rng(0).integers(11, 999, 40) / 10
    typed = fleet(size, 6)
    assert not may_be_rounded(typed)
    lifting = relift.lift(typed)
    assert lifting.hint is None
    assert "second look" not in lifting.timings
    assert relift.lift(typed, digits=11).small.n_variables == lifting.small.n_variables


@pytest.mark.parametrize(("number", "is_long"), [(0.123456789, False), (123456789e20, False), (1.234567891, True)])
def test_ten_digits_are_many(number: float, is_long: bool) -> None:
    assert may_be_rounded(Program(q=[number, 1.0], lb=0)) == is_long


def test_sizes_that_were_rounded_to_twelve_digits_are_told_of() -> None:
    size = np.random.default_rng(0).integers(101, 999, 40) / 100
    fewer = [np.array([float(f"{value:.12g}") for value in size / part]) for part in (3, 7)]
    program = Program(q=np.ones(40), A=np.eye(40), l=fewer[0], lb=0, ub=4 * fewer[1])
    assert not any(len(str(value).replace(".", "").strip("0")) > 12 for value in [*program.l, *fewer[1]])
    lifting = relift.lift(program, reduce=False)
    assert lifting.small.n_variables > 30
    assert lifting.hint is not None
    assert (lifting.hint.variables, lifting.hint.rows) == (1, 1)


@pytest.mark.parametrize("place", ["q", "A", "P", "l", "u", "lb", "ub"])
def test_one_number_of_many_digits_may_be_rounded_wherever_it_stands(place: str) -> None:
    parts: dict[str, Any] = {
        "P": np.diag([0.5, 0.25]), "q": [0.3, 123456.789], "A": [[1, -2.5], [3e-30, 0]], "l": [-4, -np.inf],
        "u": [7, 0.1], "lb": [-3, 0], "ub": [np.inf, 9e30],
    }  # fmt: skip
    assert not may_be_rounded(Program(**parts))
    part = np.array(parts[place], np.float64)
    part[part != 0] *= 1 + 2.0**-50
    assert may_be_rounded(Program(**{**parts, place: part}))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_what_a_hint_says_is_what_its_digits_find(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(4, 30))
    size = random.integers(11, 999, n) / random.choice([10, 7])
    program = fleet(size, int(random.choice([5, 12, 16])))
    if random.random() < 0.5:
        joint = random.choice([1.0, 1 / 3, 0.7], program.n_variables)
        program = program.replace(A=sparse.vstack([program.A, joint[None]]), l=[*program.l, 1], u=[*program.u, np.inf])
    hint = relift.lift(program).hint
    if hint is not None:
        found = relift.lift(program, digits=hint.digits).small
        assert (hint.variables, hint.rows) == (found.n_variables, found.n_rows)


def test_large_arrays_are_sampled_and_near_misses_are_still_seen() -> None:
    values = np.repeat(np.random.default_rng(0).random(100_000), 2)
    assert not has_nearly_equal_numbers(Program(q=values, lb=0))
    values[1::2] *= 1 + 2e-15
    assert has_nearly_equal_numbers(Program(q=values, lb=0))


def test_near_misses_between_long_lower_and_upper_bounds_are_seen() -> None:
    numbers = np.random.default_rng(4).integers(1, 1 << 40, 90_000) / 7.0
    for lb, ub in ((numbers, numbers * (1 + 2**-51)), (np.full(90_000, -np.inf), numbers), (numbers, numbers + 1e9)):
        is_near = bool(np.isfinite(lb).all() and (ub - lb).max() < 1)
        assert has_nearly_equal_numbers(Program(q=np.ones(90_000), lb=lb, ub=ub)) is is_near


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4).filter(any), st.integers(0, 2**32))
def test_numbers_of_several_vectors_are_found_as_if_they_were_one(sizes: list[int], seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = tuple(random.normal(size=size) for size in sizes)
    places = random.integers(sum(sizes), size=20)
    assert np.array_equal(_at(parts, places), np.concatenate(parts)[places])


def test_near_misses_that_keep_nothing_apart_get_no_hint() -> None:
    program = Program(q=[0.3, 0.1 + 0.2, 5, 7], A=[[1, 2, 3, 4], [4, 7, 2, 1]], l=[1, 2], lb=0)
    assert has_nearly_equal_numbers(program)
    assert relift.lift(program).hint is None


@pytest.mark.parametrize("options", [{"digits": 12}, {"lift": "counting"}, {"lift": "none"}])
def test_only_exact_equitable_lifting_takes_a_second_look(options: dict[str, Any]) -> None:
    assert relift.lift(kernel_on_a_circle(), **options).hint is None


def test_the_hint_is_printed_when_asked_for_words(capsys: pytest.CaptureFixture[str]) -> None:
    relift.solve(even_costs(), verbose=True)
    assert "relift: numbers that differ only by rounding" in capsys.readouterr().out
    relift.solve(even_costs())
    assert capsys.readouterr().out == ""


def test_the_command_line_shows_the_hint(tmp_path: Path) -> None:
    write_program(even_costs(), tmp_path / "even.npz")
    shown = CliRunner().invoke(app, ["solve", str(tmp_path / "even.npz")])
    assert "--digits 11" in " ".join(shown.output.split())
    document = json.loads(CliRunner().invoke(app, ["solve", str(tmp_path / "even.npz"), "--json"]).stdout)
    assert document["hint"]["digits"] == 11


def test_cvxpy_shows_the_hint_in_its_statistics() -> None:
    program = even_costs()
    cp = pytest.importorskip("cvxpy")
    from relift.cvxpy import Lifted

    x = cp.Variable(400, nonneg=True)
    sums = program.A @ x
    problem = cp.Problem(cp.Minimize(program.q @ x), [sums[0] == 1, sums[1] >= 0.1, sums[1] <= 1])
    problem.solve(solver=Lifted())
    assert problem.solver_stats.extra_stats["hint"]["digits"] == 11


@pytest.mark.parametrize(("written", "digits"), [("%.17g", None), ("%.12g", 10)])
def test_a_file_of_twelve_digits_has_a_hint_although_ratios_agree_to_fewer(written: str, digits: int | None) -> None:
    # Numbers just above 1 are rounded by up to 5e-12, and ratios by twice as much: digits=11 is not enough.
    size = 1.0 + 0.02 * np.random.default_rng(4).random(60)
    rounded = np.vectorize(lambda value: float(written % value))
    needs, feeder = np.kron(np.eye(60), np.ones((1, 4))), np.kron(np.ones((1, 60)), np.eye(4))
    program = Program(
        q=np.tile([3.0, 1.0, 2.0, 4.0], 60), A=np.vstack([needs, feeder]), lb=0, ub=np.repeat(rounded(size), 4),
        l=np.append(rounded(size * 1.0234982347), np.full(4, -np.inf)),
        u=np.append(np.full(60, np.inf), np.full(4, 33.0)),
    )  # fmt: skip
    lifting = relift.lift(program)
    if digits is None:
        assert (lifting.small.n_variables, lifting.hint) == (4, None)
        return
    assert lifting.hint is not None
    assert (lifting.hint.digits, lifting.hint.variables) == (digits, 4)
    result = relift.solve(program, digits=digits)
    assert result.lifting.small.n_variables == 4
    assert result.certificate.is_optimal
