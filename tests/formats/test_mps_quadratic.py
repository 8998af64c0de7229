"""Quadratic constraints in MPS files, as CPLEX, Gurobi and Mosek write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import relift
from relift.errors import FileFormatError, NonConvexError
from relift.formats.mps_reader import program_from_mps
from relift.formats.mps_writer import mps_lines
from relift.formats.names import names_for_mps
from relift.program.program import Program

TEXT = """NAME circle
ROWS
 N cost
 L line
 L disc
 G bowl
COLUMNS
 x cost -1 line 1
 x bowl 1
 y cost -1 disc 2
RHS
 RHS line 3 disc 4
 RHS bowl -5
BOUNDS
 FR BND x
 FR BND y
QCMATRIX disc
 x x 1
 x y 0.5
 y x 0.5
 y y 1
QCMATRIX bowl
 x x -2
ENDATA
"""


def test_sections_are_read_without_the_factor_of_the_objective() -> None:
    program = program_from_mps(TEXT, "circle.mps")
    assert program.row_names == ["line"]
    assert program.A.toarray().tolist() == [[1.0, 0.0]]
    point = np.array([2.0, -1.0])
    # x^2 + xy + y^2 + 2y <= 4, and x - 2x^2 >= -5 turned round
    assert program.quadratic.values_at(point).tolist() == [4 - 2 + 1 - 2, -2 + 8]
    assert program.quadratic.r.tolist() == [4.0, 5.0]


def test_what_cannot_be_convex_is_refused() -> None:
    with pytest.raises(FileFormatError, match="line 17: the row 'disc' has quadratic terms and two sides"):
        program_from_mps(TEXT.replace(" L disc", " E disc"), "circle.mps")
    with pytest.raises(NonConvexError):
        program_from_mps(TEXT.replace(" x x -2", " x x 2"), "circle.mps")


@given(data=st.data(), n=st.integers(1, 4), n_curved=st.integers(1, 3))
def test_programs_come_back_as_they_were(data: st.DataObject, n: int, n_curved: int) -> None:
    numbers = st.integers(-3, 3).map(lambda k: k / 4)
    curved = []
    for _ in range(n_curved):
        B = np.array(data.draw(st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=1, max_size=3)))
        q = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
        curved.append((B.T @ B, q, float(data.draw(numbers))))
    program = Program(q=np.ones(n), A=np.ones((1, n)), l=[-1.5], quadratic=curved, row_names=["qc0"])
    again = program_from_mps("".join(mps_lines(program, names_for_mps(program))), "again.mps")
    assert again.row_names == ["qc0"]
    np.testing.assert_array_equal(again.A.toarray(), program.A.toarray())
    np.testing.assert_array_equal(again.quadratic.r, program.quadratic.r)
    point = np.arange(1.0, n + 1)
    np.testing.assert_array_equal(again.quadratic.values_at(point), program.quadratic.values_at(point))


def test_a_solved_circle_comes_back_from_a_file(tmp_path: Path) -> None:
    program = Program(q=[-3.0, -4.0], quadratic=[(2 * np.eye(2), None, 25.0)], lb=-np.inf)
    relift.write_program(program, tmp_path / "circle.mps.gz")
    again = relift.read_program(tmp_path / "circle.mps.gz")
    assert again.quadratic == program.quadratic
    np.testing.assert_allclose(relift.solve(again).x, [3.0, 4.0], atol=1e-4)
    with pytest.raises(FileFormatError, match=r"cannot be written as \.lp\. Write \.mps"):
        relift.write_program(program, tmp_path / "circle.lp")
