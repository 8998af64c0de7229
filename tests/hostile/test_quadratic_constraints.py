"""Quadratic constraints that were taken as they came: stacked rows were not checked, and triples could be anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift import Program
from relift.errors import AsymmetricError, NonConvexError, NotANumberError, ProgramError, ShapeError
from relift.program.quadratic_rows import QuadraticRows


def stacked(values: list[float], columns: tuple[int, ...] = (0, 1), r: float = 1.0) -> QuadraticRows:
    """One constraint with these entries in rows 0 and 1."""
    rows = np.arange(len(values))
    return QuadraticRows(
        np.zeros(len(values), np.int64), rows, np.array(columns), np.array(values), sparse.csr_array((1, 2)),
        np.array([r]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (stacked([-1.0, 1.0]), NonConvexError, r"P of quadratic\[0\] is not positive semidefinite"),
        (stacked([1.0, 1.0], columns=(0, 0)), AsymmetricError, r"P of quadratic\[0\] is not symmetric"),
        (stacked([1.0, np.inf]), NotANumberError, r"quadratic\[0\] has an entry that is not a finite number"),
        (stacked([1.0, 1.0], r=np.inf), NotANumberError, r"quadratic\[0\] has an entry that is not a finite number"),
    ],
)
def test_stacked_rows_are_checked_as_triples_are(rows: QuadraticRows, error: type[ProgramError], message: str) -> None:
    with pytest.raises(error, match=message):
        Program(q=[1, 1], quadratic=rows)
    with pytest.raises(error, match=message):
        Program(q=[1, 1], lb=0).replace(quadratic=rows)


def test_new_constraints_of_a_checked_program_are_checked() -> None:
    program = Program(P=np.eye(2), q=[1, 1], quadratic=[(np.eye(2), None, 1.0)])
    with pytest.raises(NonConvexError):  # the triples were let through, because P had not changed
        program.replace(quadratic=[(-np.eye(2), None, 1.0)])
    assert len(program.replace(quadratic=[(-np.eye(2), None, 1.0)], assume_convex=True).quadratic) == 1


def test_rows_that_have_passed_are_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = stacked([1.0, 1.0])
    program = Program(q=[1, 1], quadratic=rows)
    looks: list[object] = []
    monkeypatch.setattr(QuadraticRows, "_check", lambda self, **words: looks.append(self))
    assert Program(q=[2, 1], quadratic=rows) == program.replace(q=[2, 1])
    assert not looks
    Program(q=[1, 1], quadratic=stacked([1.0, 1.0]))
    assert len(looks) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(np.eye(2), 1.0)], r"quadratic\[0\] has 2 parts. Give a list of triples"),
        ((np.eye(2), [0, 0], 1.0), r"quadratic\[0\] is a ndarray. Give a list of triples"),
        ([{"P": np.eye(2)}], r"quadratic\[0\] is a dict"),
        (None, "quadratic is a NoneType. Give a list of triples"),
        (3, "quadratic is a int"),
        ("abc", "quadratic is a str"),
        ([(np.eye(2), None, [1, 2])], r"r of quadratic\[0\] has 2 entries. The right-hand side is one number"),
    ],
)
def test_what_is_no_list_of_triples_is_told(given: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        Program(q=[1, 1], quadratic=given)


@pytest.mark.parametrize("r", [None, "1", np.nan, 1j])
def test_a_right_hand_side_that_is_no_number_is_told(r: Any) -> None:
    with pytest.raises(NotANumberError, match=r"quadratic\[0\]"):
        Program(q=[1, 1], quadratic=[(np.eye(2), None, r)])


def test_an_array_of_one_number_is_a_right_hand_side() -> None:
    r: Any = np.array([1.0])
    program = Program(q=[-1, -1], quadratic=[(np.eye(2), None, r)])
    assert relift.solve(program).objective == pytest.approx(-2)
