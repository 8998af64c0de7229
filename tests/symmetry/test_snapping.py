"""``digits`` makes close numbers equal, says what it changed, and refuses what closeness does not settle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relift
from relift.errors import OptionError
from relift.program.program import Program
from relift.symmetry.snapping import SnapReport, snap, snap_values
from relift.testing.random_programs import symmetric_program

NUMBERS = st.lists(st.floats(allow_nan=False), max_size=30)


@settings(deadline=None)
@given(values=NUMBERS, digits=st.integers(1, 15))
def test_no_number_moves_by_more_than_was_allowed(values: list[float], digits: int) -> None:
    array = np.array(values, dtype=float)
    snapped, report = snap_values(array, digits)
    finite = np.isfinite(array) & (array != 0)
    assert np.array_equal(snapped[~finite], array[~finite])
    # Width is measured against the larger end of a chain; against the smaller one it is at most 1 / (1 - width) wider.
    width = 10.0**-digits
    with np.errstate(over="ignore"):
        change = np.abs(snapped[finite] - array[finite])
    assert np.all(change <= width / (1 - width) * np.abs(array[finite]) * (1 + 1e-9) + 5e-324)
    assert np.array_equal(np.signbit(snapped), np.signbit(array))
    assert report.n_values_merged == len({*np.abs(array[snapped != array])})
    assert (report.largest_change > 0) <= (report.n_values_merged > 0)


@settings(deadline=None)
@given(values=NUMBERS, digits=st.integers(1, 15))
def test_the_order_of_numbers_is_kept(values: list[float], digits: int) -> None:
    array = np.sort(np.array(values, dtype=float))
    assert np.all(np.diff(snap_values(array, digits)[0][np.isfinite(array)]) >= 0)


@given(values=NUMBERS, digits=st.integers(1, 15), seed=st.integers(0, 10**6))
@settings(deadline=None)
def test_the_order_in_which_numbers_are_given_does_not_matter(values: list[float], digits: int, seed: int) -> None:
    array = np.array(values, dtype=float)
    order = np.random.default_rng(seed).permutation(array.size)
    assert np.array_equal(snap_values(array, digits)[0][order], snap_values(array[order], digits)[0])


def test_the_most_frequent_number_stands_for_its_neighbours() -> None:
    sum_of_floats = 0.1 + 0.2
    snapped, report = snap_values(np.array([sum_of_floats, 0.3, sum_of_floats, -0.3, -sum_of_floats, 7.0]), 9)
    assert snapped.tolist() == [sum_of_floats, sum_of_floats, sum_of_floats, -sum_of_floats, -sum_of_floats, 7.0]
    assert snap_values(np.array([sum_of_floats, 0.3]), 9)[0].tolist() == [0.3, 0.3]  # the smaller one of equals
    assert report.n_values_merged == 1
    assert 0 < report.largest_change < 1e-15


def test_a_chain_whose_ends_are_too_far_apart_is_left_as_it_is() -> None:
    values = np.array([1.0, 1.0006, 1.0012, 5.0, 5.0001])
    snapped, report = snap_values(values, 3)
    assert snapped[:3].tolist() == [1.0, 1.0006, 1.0012]
    assert snapped[3] == snapped[4] == 5.0
    assert (report.n_chains_refused, report.n_values_merged) == (1, 1)
    assert str(report) == "digits=3: 1 values merged, largest relative change 2e-05, 1 chains refused as too wide"


def test_zeros_infinities_and_signs_stay() -> None:
    values = np.array([0.0, -0.0, 1e-300, np.inf, -np.inf, -1.0, 1.0 + 1e-12])
    snapped, _ = snap_values(values, 9)
    assert snapped[:6].tolist() == values[:6].tolist()
    assert snapped[6] == 1.0
    assert np.signbit(snapped[1])


def test_nothing_close_means_nothing_changed() -> None:
    for values in (np.array([]), np.array([3.0]), np.array([1.0, 2.0, np.inf])):
        snapped, report = snap_values(values, 6)
        assert np.array_equal(snapped, values)
        assert report == SnapReport(6)
    assert str(SnapReport(6)) == "digits=6: 0 values merged, largest relative change 0"


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), quadratic=st.booleans())
def test_noise_on_a_program_is_taken_away_and_its_symmetry_comes_back(seed: int, quadratic: bool) -> None:
    program = symmetric_program(seed, quadratic=quadratic, copies=3).program
    random = np.random.default_rng(seed)

    def noisy(values: np.ndarray) -> np.ndarray:
        return values * (1 + 1e-13 * random.integers(-3, 4, values.shape))

    A = program.A.copy()
    A.data = noisy(A.data)
    disturbed = program.replace(A=A, q=noisy(program.q), ub=noisy(program.ub) + 1e-6)
    step = snap(disturbed, 9)
    snapped, report = step.program, step.report
    assert report.digits == 9
    assert report.largest_change < 1e-9
    assert np.all(snapped.lb <= snapped.ub)
    lifted = relift.lift(disturbed, digits=9, reduce=False)
    clean = relift.lift(program.replace(ub=program.ub + 1e-6), reduce=False)
    assert lifted.small.n_variables <= clean.small.n_variables
    result = relift.solve(disturbed, digits=9)
    assert result.status == "optimal"


@pytest.mark.parametrize("P", [None, np.diag([1.0, 2.0, 3.0])])
def test_digits_that_merge_nothing_and_spoil_the_answer_cost_no_answer(P: np.ndarray | None) -> None:
    A = [[1.0, 2.0, 4.0], [1.004, 3.0, -1.0], [2.0, 5.0, 7.0]]
    program = Program(P=P, q=[1, 5, 2], A=A, l=[7.0, 3.004, 14.0], u=[7.0, 3.004, 14.0], lb=0)
    lifting = relift.lift(program, digits=2, reduce=False, sizes=False)
    assert lifting.is_trivial  # nothing is merged, and yet it is another program
    assert not lifting.is_original
    assert not relift.lift(program, digits=2, sizes=False).is_original
    assert relift.lift(program, digits=9, reduce=False, sizes=False).is_original
    result = relift.solve(program, digits=2, reduce=False, sizes=False)
    assert result.status == "optimal"
    assert result.x == pytest.approx(np.ones(3), rel=1e-6)
    assert any(attempt.message.startswith("without lifting: ") for attempt in result.attempts)


def test_bounds_that_cross_by_less_than_the_digits_do_not_cross_afterwards() -> None:
    program = Program(q=[1, 1], lb=[1.0, 1.0 + 1e-12], ub=[1.0 + 1e-12, 1.0 + 1e-12])
    snapped = snap(program, 9).program
    assert np.array_equal(snapped.lb, snapped.ub)


@pytest.mark.parametrize("digits", [0, 16, -1])
def test_digits_out_of_range_are_refused(digits: int) -> None:
    with pytest.raises(OptionError, match=rf"digits={digits} is out of range. Give a whole number from 1 to 15."):
        relift.lift(Program(q=[1]), digits=digits)
