"""Models survive the way into a file and back, and what is not a model is refused with a reason."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.data import data_folder

from relift import Program, read_program, write_program
from relift.atomic import write_atomically
from relift.errors import BoundsError, FileFormatError, NonConvexError
from relift.formats.lp_words import HEADING_WORDS
from relift.formats.mps_reader import program_from_mps

NUMBERS = st.floats(-1e6, 1e6).map(lambda v: 0.0 if abs(v) < 1e-6 else v)
NAMES = st.text(min_size=1, max_size=6, alphabet=st.characters(exclude_categories=["Cs", "Cc"]))


@st.composite
def programs(draw: st.DrawFn, two_sided: bool = True, names: bool = True) -> Program:
    """Programs of every shape that a file can hold: any bounds, senses and names, with and without rows and P."""
    n, m = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def vector(size: int) -> np.ndarray:
        return np.array(draw(st.lists(NUMBERS, min_size=size, max_size=size)), dtype=float)

    def bounds(size: int, two_sided: bool) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.sort(np.stack([vector(size), vector(size)]), axis=0)
        kind = rng.integers(0, 5, size)
        high = np.where(kind == 4, low, high)
        low = np.where((kind == 1) | (kind == 0), -np.inf, low)
        high = np.where((kind == 2) | (kind == 0), np.inf, high)
        if not two_sided:
            high = np.where(np.isfinite(low) & (low != high), np.inf, high)
        return low, high

    A = vector(m * n).reshape(m, n) * (rng.random((m, n)) < 0.6)
    P = None
    sense: Literal["min", "max"] = draw(st.sampled_from(["min", "max"]))
    if draw(st.booleans()):
        B = rng.integers(-3, 4, (n, n)).astype(float)
        P = (B @ B.T) * (1 if sense == "min" else -1)
    l, u = bounds(m, two_sided)
    lb, ub = bounds(n, True)
    variable_names = row_names = None
    if names:
        variable_names = draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))
        row_names = draw(st.lists(NAMES, min_size=m, max_size=m, unique=True))
    return Program(P, vector(n), A, l, u, lb, ub, draw(NUMBERS), sense=sense, variable_names=variable_names,
                   row_names=row_names)  # fmt: skip


def unnamed(program: Program) -> Program:
    return program.replace(variable_names=None, row_names=None)


@settings(max_examples=100, deadline=None)
@given(program=programs())
def test_npz_gives_back_the_same_program_with_its_names(program: Program, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("npz") / "model.npz"
    write_program(program, path)
    assert read_program(path) == program


@settings(max_examples=100, deadline=None)
@given(program=programs(), suffix=st.sampled_from([".mps", ".MPS", ".qps", ".mps.gz", ".qps.gz"]))
def test_mps_gives_back_the_same_numbers(program: Program, suffix: str, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("mps") / f"model{suffix}"
    write_program(program, path)
    back = read_program(path)
    exact = program
    # The upper end of a two-sided row is stored as a width; it may be off by one rounding.
    if not np.array_equal(back.l, program.l) or not np.array_equal(back.u, program.u):
        assert np.allclose(back.l, program.l, rtol=1e-15, atol=0)
        assert np.allclose(back.u, program.u, rtol=1e-9, atol=1e-9)
        exact = program.replace(l=back.l, u=back.u)
    assert unnamed(back) == unnamed(exact)


@settings(max_examples=100, deadline=None)
@given(program=programs(two_sided=False), suffix=st.sampled_from([".lp", ".LP", ".lp.gz"]))
def test_lp_gives_back_the_same_numbers(program: Program, suffix: str, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("lp") / f"model{suffix}"
    write_program(program, path)
    assert unnamed(read_program(path)) == unnamed(program)


@settings(max_examples=100, deadline=None)
@given(program=programs())
def test_mps_is_read_by_highs_as_the_same_program(program: Program, tmp_path_factory) -> None:
    import highspy

    path = tmp_path_factory.mktemp("highs") / "model.mps"
    write_program(unnamed(program), path)
    highs = highspy.Highs()
    highs.setOptionValue("log_to_console", False)
    assert highs.readModel(str(path)) != highspy.HighsStatus.kError
    lp, ours = highs.getModel().lp_, read_program(path)
    assert np.array_equal(lp.col_cost_, ours.q)
    for theirs, bound in (
        (lp.col_lower_, ours.lb),
        (lp.col_upper_, ours.ub),
        (lp.row_lower_, ours.l),
        (lp.row_upper_, ours.u),
    ):
        assert np.array_equal(theirs, bound)
    assert lp.offset_ == ours.r
    matrix = sparse.csc_array((lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_), shape=ours.A.shape)
    assert np.array_equal(matrix.toarray(), ours.A.toarray())


def test_names_are_kept_where_the_format_can_hold_them(tmp_path: Path) -> None:
    program = Program(q=[1, 2], A=[[1, 1]], u=[3], variable_names=["äpfel", "x[2]"], row_names=["c#1"])
    for suffix in (".mps", ".npz"):
        assert write_program(program, tmp_path / f"m{suffix}") == ()
        back = read_program(tmp_path / f"m{suffix}")
        assert (back.variable_names, back.row_names) == (["äpfel", "x[2]"], ["c#1"])


@pytest.mark.parametrize("change", [str, str.upper, str.title])
def test_names_of_which_headings_are_made_are_replaced_in_lp(change: Callable[[str], str], tmp_path: Path) -> None:
    words = sorted({"inf", "nan", "free", "obj", "e5", "sos7", *HEADING_WORDS})
    names = list(map(change, words))
    n, path = len(names), tmp_path / "m.lp"
    A = sparse.eye_array(n) + sparse.eye_array(n, k=1)
    program = Program(q=np.arange(n), A=A, u=np.arange(1.0, n + 1), lb=-np.inf, variable_names=names, row_names=names)
    write_program(program, path)
    assert unnamed(read_program(path)) == unnamed(program)
    assert set(names).isdisjoint(read_program(path).variable_names or ())
    highs = pytest.importorskip("highspy").Highs()
    highs.setOptionValue("log_to_console", False)
    assert str(highs.readModel(str(path))) == "HighsStatus.kOk"
    assert (highs.getNumCol(), highs.getNumRow()) == (n, n)


def test_names_with_spaces_are_replaced_and_the_file_says_so(tmp_path: Path) -> None:
    program = Program(q=[1, 2, 3], variable_names=["two words", "two_words", ""])
    notes = write_program(program, tmp_path / "m.mps")
    assert notes == (
        "2 names that MPS cannot hold were replaced, such as 'two words' by 'two_words_1'; the comments at the head of "
        "the file list them.",
    )
    assert "* two_words_1 stands for 'two words'" in (tmp_path / "m.mps").read_text()
    assert read_program(tmp_path / "m.mps").variable_names == ["two_words_1", "two_words", "x"]


@pytest.mark.parametrize(
    "name", ["inf", "Infrastructure", "nan", "e5", "free", "st", "end", "1st", "x[2]", "a+b", "é", "."]
)
def test_names_that_mean_something_else_in_lp_are_replaced(name: str, tmp_path: Path) -> None:
    program = Program(q=[1, 2], A=[[1, 1]], u=[3], variable_names=[name, "y"], row_names=[name])
    write_program(program, tmp_path / "m.lp")
    assert unnamed(read_program(tmp_path / "m.lp")) == unnamed(program)


def test_two_sided_rows_become_two_rows_in_lp(tmp_path: Path) -> None:
    program = Program(q=[1], A=[[1]], l=[1], u=[2], row_names=["c"])
    notes = write_program(program, tmp_path / "m.lp")
    assert notes == ("1 rows with two sides were each written as two rows, .lower and .upper.",)
    assert read_program(tmp_path / "m.lp").row_names == ["c.lower", "c.upper"]


def test_equal_programs_make_equal_files(tmp_path: Path) -> None:
    program = Program(q=[1.0, 2.0], A=[[1, 1]], u=[3])
    for name in ("one.mps.gz", "two.mps.gz"):
        write_program(program, tmp_path / name)
    assert (tmp_path / "one.mps.gz").read_bytes() == (tmp_path / "two.mps.gz").read_bytes()


def test_source_files_of_the_symmetric_programs_equal_their_archives() -> None:
    folder = data_folder("lp_symmetric")
    files = sorted(folder.glob("*.mps.gz"))
    assert files
    for path in files:
        archive = path.with_name(path.name.replace(".mps.gz", ".npz"))
        assert unnamed(read_program(path, relax_integers=True)) == read_program(archive), path.name


def test_quadratic_programs_of_the_collection_survive_mps(tmp_path: Path) -> None:
    folder = data_folder("maros_meszaros")
    for name in ("AUG3D", "DUALC2", "HS21", "KSIP", "QPCBOEI1", "STADAT2"):
        program = read_program(folder / f"{name}.npz")
        write_program(program, tmp_path / f"{name}.QPS")
        assert unnamed(read_program(tmp_path / f"{name}.QPS")) == program, name


# --- the dialects of MPS -------------------------------------------------------------------------------------------

MODEL = """* a comment
NAME          EXAMPLE
ROWS
 N  COST
 L  LIM1
 G  LIM2
 E  EQ
 N  EXTRA
COLUMNS
    X         COST               1.0   LIM1               1.0
    X         LIM2               1.0
    Y         COST               2.0   LIM1               1.0
    Y         EQ                -1.0   EXTRA              5.0
    Z         EQ                 1.0
RHS
    RHS       COST              -3.0   LIM1               4.0
    RHS       LIM2               1.0   EQ                 7.0
RANGES
    RNG       LIM1               2.5   EQ                -1.0
BOUNDS
 UP BND       X            4.0
 LO BND       Y           -1.0
 UP BND       Y            1.0
 FR BND       Z
ENDATA
"""


def test_every_section_of_mps_means_what_it_should() -> None:
    program = program_from_mps(MODEL, "m")
    assert program.q.tolist() == [1, 2, 0]
    assert program.r == 3
    assert program.A.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, -1, 1]]
    assert program.l.tolist() == [1.5, 1, 6]
    assert program.u.tolist() == [4, np.inf, 7]
    assert program.lb.tolist() == [0, -1, -np.inf]
    assert program.ub.tolist() == [4, 1, np.inf]
    assert program.sense == "min"
    assert (program.variable_names, program.row_names) == (["X", "Y", "Z"], ["LIM1", "LIM2", "EQ"])


@pytest.mark.parametrize("text", ["OBJSENSE\n    MAX\n", "OBJSENSE MAXIMIZE\n", "OBJSENSE\nMAX\n"])
def test_objective_sense_is_read(text: str) -> None:
    assert program_from_mps(MODEL.replace("ROWS", text + "ROWS", 1), "m").sense == "max"


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("QUADOBJ\n    X  X  2.0\n    X  Y  1.0\n    Y  Y  2.0\n", [[2, 1], [1, 2]]),
        ("QUADOBJ\n    X  X  2.0\n    Y  X  1.0\n    Y  Y  2.0\n", [[2, 1], [1, 2]]),
        ("QSECTION COST\n    X  X  2.0\n    X  Y  1.0\n    Y  Y  2.0\n", [[2, 1], [1, 2]]),
        ("QMATRIX\n    X  X  2.0\n    X  Y  1.0\n    Y  X  1.0\n    Y  Y  2.0\n", [[2, 1], [1, 2]]),
        ("QMATRIX\n    X  X  2.0  Y  1.0\n    Y  X  1.0  Y  2.0\n", [[2, 1], [1, 2]]),
    ],
)
def test_quadratic_sections_give_the_full_matrix(section: str, expected: list[list[float]]) -> None:
    P = program_from_mps(MODEL.replace("ENDATA", section + "ENDATA"), "m").P.toarray()
    assert P[:2, :2].tolist() == expected
    assert not P[2].any()


def test_fixed_format_may_have_spaces_in_names() -> None:
    text = MODEL.replace("    X  ", "    X 1").replace(" BND       X  ", " BND       X 1").replace("LIM1", "L 1 ")
    program = program_from_mps(text, "m")
    assert program.variable_names[0] == "X 1"
    assert program.row_names[0] == "L 1"
    assert unnamed(program) == unnamed(program_from_mps(MODEL, "m"))


def test_fortran_exponents_and_missing_set_names_are_read() -> None:
    text = (
        MODEL.replace("4.0\n    RHS       LIM2", "0.4D+01\n    RHS       LIM2")
        .replace(" BND ", " ")
        .replace("    RNG ", "    ")
    )
    assert program_from_mps(text, "m") == program_from_mps(MODEL, "m")


def test_integer_variables_are_refused_unless_relaxed() -> None:
    text = MODEL.replace("    Y         COST", "    M  'MARKER'  'INTORG'\n    Y         COST").replace(
        "    Z         EQ", "    M  'MARKER'  'INTEND'\n    Z         EQ"
    )
    with pytest.raises(FileFormatError) as error:
        program_from_mps(text, "m.mps")
    assert str(error.value) == (
        "m.mps has 1 integer variables, the first is 'Y'; relift solves continuous programs. Ask for the relaxation"
        " with relax_integers=True (on the command line: --relax)."
    )
    assert program_from_mps(text, "m.mps", relax_integers=True) == program_from_mps(MODEL, "m")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("LIM2               1.0\n    Y", "LIM2               one\n    Y", "m, line 11: 'one' is not a number."),
        ("LIM2               1.0\n    Y", "LIM2         1_0\n    Y", "m, line 11: '1_0' is not a number."),
        (
            "LIM2               1.0\n    Y",
            "LIM2         nan\n    Y",
            "m, line 11: the coefficient in row 'LIM2' is nan. It must be a finite number.",
        ),
        ("LIM2               1.0\n    Y", "LIM9         1.0\n    Y", "m, line 11: row 'LIM9' is not declared in ROWS."),
        ("LIM2               1.0\n    Y", "LIM1         1.0\n    Y", "m, line 11: the coefficient is given twice."),
        ("EQ                 7.0", "EQ                 nan", "m, line 17: 'nan' is not a number."),
        (" G  LIM2", " Q  LIM2", "m, line 6: row type 'Q' is not one of N, L, G and E."),
        (" G  LIM2", " G  LIM1", "m, line 6: row 'LIM1' is declared twice."),
        (
            " UP BND       X            4.0",
            " UP BND       W            4.0",
            "m, line 21: variable 'W' does not occur in COLUMNS.",
        ),
        (
            " UP BND       X            4.0",
            " XX BND       X            4.0",
            "m, line 21: bound type 'XX' is not known.",
        ),
        (
            " UP BND       X            4.0",
            " SC BND       X            4.0",
            "m, line 21: it has semi-continuous variables, which relift does not take.",
        ),
        (
            " UP BND       X            4.0",
            " UP BND       X           -4.0",
            "m, line 21: the upper bound -4 is negative and there is no lower bound: readers disagree whether it is"
            " then 0 or -inf. Add a bound of type LO or MI.",
        ),
        (
            " UP BND       Y            1.0",
            " UP BND       Y            1.0\n UP BND       Y            2.0",
            "m, line 24: the upper bound of 'Y' is given twice: 1 in line 23, and now 2. Keep one of them (MI and UP"
            " together have no lower bound).",
        ),
        ("ENDATA\n", "", "m: the file ends without ENDATA: it is cut off, or it is not an MPS file."),
        (
            "ENDATA",
            "QCMATRIX NONE\n X X 1\nENDATA",
            "m, line 25: there is no constraint 'NONE'.",
        ),
        ("ENDATA", "QCMATRIX\nENDATA", "m, line 25: QCMATRIX is followed by the name of a row."),
        (
            "ENDATA",
            "QCMATRIX LIM2\n X Y 1\nENDATA",
            "m, line 25: this QCMATRIX is not symmetric; both triangles are listed.",
        ),
        ("ENDATA", "QCMATRIX LIM2\n X X 1\n X X 1\nENDATA", "m, line 27: the entry of QCMATRIX is given twice."),
        ("ENDATA", "QCMATRIX LIM2\n X X 1 Y Y\nENDATA", "m, line 26: a line of QCMATRIX has 3 fields, this one has 5."),
        ("ENDATA", "SOS1\nENDATA", "m, line 25: it has special ordered sets (SOS1), which relift does not take."),
        ("ENDATA", "CSECTION K 0 QUAD\nENDATA", "m, line 25: it has cones (CSECTION), which relift does not take."),
        (
            "ENDATA",
            "QUADOBJ\n X Y 1\n Y X 1\nENDATA",
            "m, line 27: QUADOBJ lists one triangle, but this pair is given twice.",
        ),
        ("ENDATA", "QMATRIX\n X Y 1\nENDATA", "m: QMATRIX is not symmetric: the entries of 'X' and 'Y' differ."),
        ("ENDATA", "WHATEVER\nENDATA", "m, line 25: the section 'WHATEVER' is not known."),
    ],
)
def test_what_is_wrong_with_mps_is_said_with_its_line(old: str, new: str, message: str) -> None:
    assert old in MODEL
    with pytest.raises(FileFormatError) as error:
        program_from_mps(MODEL.replace(old, new, 1), "m")
    assert str(error.value) == message


def test_crossing_bounds_and_non_convex_parts_keep_their_own_errors() -> None:
    with pytest.raises(BoundsError, match="variable 'Y'"):
        program_from_mps(MODEL.replace(" LO BND       Y           -1.0", " LO BND       Y            2.0"), "m")
    with pytest.raises(NonConvexError):
        program_from_mps(MODEL.replace("ENDATA", "QUADOBJ\n X Y 1\nENDATA"), "m")


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ("5 <= x <= 4", "lb[0] = 5 and ub[0] = 4 (variable 'x') are infeasible bounds."),
        (
            "x <= -4",
            "the upper bound -4 of variable 'x' is negative, and the lower bound is 0 where none is given."
            " Write -inf <= x <= -4 if there is none.",
        ),
    ],
)
def test_errors_in_the_numbers_of_a_file_name_the_file(tmp_path: Path, bounds: str, message: str) -> None:
    path = tmp_path / "m.lp"
    path.write_text(f"min\n o: x\nst\n c: x >= -9\nbounds\n {bounds}\nend\n")
    with pytest.raises(BoundsError) as error:
        read_program(path)
    assert str(error.value) == f"{path}: {message}"


# --- the dialect of LP ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min\n o: x + y\nst\n c: x >= 1\nsos\n s1: S1:: x:1 y:2\nend\n", "line 5: it has special ordered sets"),
        ("min\n o: x + y + * 2\nst\n c: x >= 1\nend\n", "line 2: a name is needed here, not '*'."),
        ("min\n o: x + y\nst\n c: x >= nan\nend\n", "line 4: a number is needed here, not 'nan'."),
        ("min\n o: x + nan\nst\n c: x >= 1\nend\n", "line 2: 'nan' means something else in LP format"),
        ("min\n o: x + 3 4 y\nst\n c: x >= 1\nend\n", "line 2: a sign is missing before '4'."),
        ("min\n o: x y\nst\n c: x >= 1\nend\n", "line 2: a sign is missing before 'y'."),
        ("min\n o: x + 1e400 y\nst\n c: x >= 1\nend\n", "line 2: the coefficient '1e400' is not a finite number."),
        (
            "min\n o: x\nst\n c: x <= 2 - y\n d: x >= 1\nend\n",
            "line 5: <=, >= or = is needed here, not 'd'. If the terms before belong to the row before them: variables "
            "stand on the left side.",
        ),
        ("min\n o: x\nst\n c: x <= y + 2\nend\n", "line 4: a number is needed here, not 'y'."),
        ("min\n o: x\nst\n c: 1 <= 2\nend\n", "line 4: this row has no variable."),
        ("min\n o: x\nst\n c: 1 <= x >= 2\nend\n", "line 4: a row with two sides reads a <= expression <= b."),
        ("min\n o: x\nst\n c: x >= 1\n c: x <= 2\nend\n", "line 5: two rows are called 'c'."),
        ("min\n o: x\nst\n c: b = 1 -> x >= 1\nend\n", "line 4: it has indicator constraints"),
        (
            "max: x\nst\n c: x <= 1\nend\n",
            "line 1: after max comes the objective, not a colon. A file in lp_solve's own format is not read",
        ),
        (
            "/* Objective function */\nmax: 3x + 2y;\n",
            "line 1: it begins with a comment as C has them. A file in lp_solve's own format is not read",
        ),
        ("min\n x + [ x ^ 2 ]\nst\n c: x >= 1\nend\n", "In the objective, [ ... ] is followed by / 2."),
        ("min\n x\nst\n c: x + [ x ^ 2 ] / 2 <= 1\nend\n", "Only the objective has / 2."),
        ("min\n x + [ x ^ 3 ] / 2\nst\n c: x >= 1\nend\n", "line 2: the exponent must be 2."),
        ("min\n x + [ x y ] / 2\nst\n c: x >= 1\nend\n", "between [ and ] stand squares x ^ 2 and products x * y."),
        (
            "min\n x\nst\n c: [ x ^ 2 ] = 1\nend\n",
            "line 4: a row has quadratic terms and two sides, which is not convex.",
        ),
        (
            "min\n x\nst\n c: x >= 1\nbounds\n x <= 4\n x <= 5\nend\n",
            "line 7: the upper bound of 'x' is given twice: 4,",
        ),
        ("min\n x\nst\n c: x >= 1\nbounds\n x <= 4\nmin\n x\nend\n", "line 7: there are two objectives."),
        ("min\n x\nst\n c: x >= 1\n", "m.lp: the file ends without END: it is cut off."),
        ("min\n x\nst\n c: x + ", "m.lp ends too early: a name is needed here."),
        ("min\n \\* a\n b *\\ x\nst\n c: x >= 1\nend\n", "line 2: a comment \\* ... *\\ of several lines"),
        (
            "min\n x\nst\n c: x >= 1\nlazy constraints\n d: x >= 2\nend\n",
            "line 5: it has a section of lazy constraints",
        ),
        ("once upon a time", "line 1: this is not an LP file: it begins with 'once', not with min or max."),
        ("min\n o: x + y\nst\n c: x >= 1\nsemi-continuous\n x\nend\n", "semi-continuous"),
        ("min\n o: x + y\nst\n c: x >= 1\ngeneral\n x\nend\n", "1 integer variables, the first is 'x'"),
        ("\n \n", "is empty"),
    ],
)
def test_what_is_wrong_with_lp_is_said(text: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    path = tmp_path / "m.lp"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"m\.lp") as error:
        read_program(path)
    assert message in str(error.value)
    assert capfd.readouterr() == ("", "")


# --- archives ------------------------------------------------------------------------------------------------------


def test_archives_of_qpsolvers_are_read_dense_and_sparse(tmp_path: Path) -> None:
    qpsolvers = pytest.importorskip("qpsolvers")
    P, q = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1.0, -1.0])
    G, h, A, b = np.array([[1.0, 0.0]]), np.array([3.0]), np.array([[1.0, 1.0]]), np.array([1.0])
    expected = Program(P, q, [[1, 0], [1, 1]], [-np.inf, 1], [3, 1], [-1, -np.inf])
    for convert in (np.asarray, sparse.csc_matrix):
        problem = qpsolvers.Problem(P, q, convert(G), h, convert(A), b, lb=np.array([-1.0, -np.inf]))
        problem.save(str(tmp_path / "problem.npz"))
        assert read_program(tmp_path / "problem.npz") == expected
    qpsolvers.Problem(P, q).save(str(tmp_path / "free.npz"))
    assert read_program(tmp_path / "free.npz") == Program(P, q)


def test_archives_that_would_run_code_are_refused(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self):
            return os.system, ("touch " + str(tmp_path / "harm"),)

    harmful = np.empty((), dtype=object)
    harmful[()] = Evil()
    np.savez(tmp_path / "evil.npz", P=np.eye(1), q=np.zeros(1), G=harmful)
    with pytest.raises(FileFormatError, match=r"evil.npz: G.npy holds a pickled \w+.system, which is not read"):
        read_program(tmp_path / "evil.npz")
    assert not (tmp_path / "harm").exists()
    pickle.loads(pickle.dumps(FileFormatError("a", "b")))


def damaged_archives() -> dict[str, dict[str, object]]:
    good = {"q": [1.0], "l": [0.0], "u": [1.0], "shape": [1, 1], "A_data": [1.0], "A_indices": [0], "A_indptr": [0, 1]}
    own = {"relift_format": 1, "lb": [0.0], "ub": [1.0], "r": 0.0, "sense": "min", **good}
    return {
        "holds no|without a program: its keys are points": {"points": [1.0]},
        "lacks lb, ub, r, sense": {"relift_format": 1, **good},
        "has layout 99, but this version of relift reads layout 1": {**own, "relift_format": 99},
        "A is not a sparse matrix of 1 x 1": {**own, "A_indices": [5]},
        "shape is": {**own, "shape": [1]},
        "the last 1 rows of A are not the identity": {**good, "A_data": [2.0]},
        "l and u have 2 and 1 entries": {**good, "l": [0.0, 0.0]},
    }


@pytest.mark.parametrize(("message", "arrays"), damaged_archives().items())
def test_what_is_wrong_with_an_archive_is_said(message: str, arrays: dict[str, Any], tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", **arrays)
    with pytest.raises(FileFormatError, match=message):
        read_program(tmp_path / "m.npz")


def test_the_benchmark_layout_keeps_bounds_in_the_last_rows(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "m.npz", P_data=[2.0], P_indices=[0], P_indptr=[0, 1, 1], q=[1.0, 2.0],
        A_data=[3.0, 1.0, 1.0], A_indices=[0, 1, 2], A_indptr=[0, 2, 3], l=[1.0, 0.0, -np.inf], u=[1.0, np.inf, 5.0],
        shape=[3, 2], r=-4.0,
    )  # fmt: skip
    expected = Program([[2, 0], [0, 0]], [1, 2], [[3, 0]], [1], [1], [0, -np.inf], [np.inf, 5], -4)
    assert read_program(tmp_path / "m.npz") == expected


# --- files that are not what they seem -----------------------------------------------------------------------------


def wrong_files() -> dict[str, tuple[str, bytes, str]]:
    packed = gzip.compress(MODEL.encode())
    archive = io.BytesIO()
    np.savez(archive, q=np.arange(100.0))
    return {
        "empty": ("m.mps", b"", "m.mps is empty."),
        "cut off gzip": ("m.mps.gz", packed[:-30], "m.mps.gz is cut off or damaged"),
        "damaged gzip": ("m.mps.gz", packed[:40] + b"\xff\xff" + packed[42:], "m.mps.gz is cut off or damaged"),
        "no gzip": ("m.mps.gz", MODEL.encode(), "m.mps.gz is not compressed by gzip, although its name ends in .gz."),
        "gzip without .gz": ("m.mps", packed, "m.mps is compressed by gzip. Add .gz to its name."),
        "utf-16": ("m.mps", MODEL.encode("utf-16"), "m.mps is written in UTF-16. Save it as UTF-8 or as plain text."),
        "picture": ("m.mps", b"\x89PNG\0\0\0", "m.mps is not a text file."),
        "cut off mps": ("m.mps", MODEL[:200].encode(), "m.mps: the file ends without ENDATA"),
        "prose": ("m.mps", b"Dear reader,\n", "m.mps, line 1: this is not an MPS file: 'Dear' is not known."),
        "no archive": ("m.npz", b"hello", "m.npz is not a NumPy archive, or it is cut off or damaged"),
        "cut off archive": ("m.npz", archive.getvalue()[:300], "m.npz is not a NumPy archive, or it is cut off"),
        "unknown": ("m.xls", b"x", "the file extension is unknown. Expected one of: .mps, .qps, .lp, .npz"),
    }


@pytest.mark.parametrize("case", wrong_files())
def test_a_file_that_is_not_what_its_name_says_is_refused(case: str, tmp_path: Path) -> None:
    name, data, message = wrong_files()[case]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileFormatError) as error:
        read_program(tmp_path / name)
    assert message in str(error.value)


def test_files_that_cannot_be_opened_raise_the_error_of_python(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_program(tmp_path / "nothing.mps")
    with pytest.raises(IsADirectoryError):
        read_program(tmp_path)


def test_names_in_an_old_encoding_are_read(tmp_path: Path) -> None:
    (tmp_path / "m.mps").write_bytes(MODEL.replace("    X  ", "    Ü  ").replace(" X ", " Ü ").encode("latin-1"))
    assert read_program(tmp_path / "m.mps").variable_names[0] == "Ü"


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_damaged_file_never_raises_anything_but_our_errors(data: st.DataObject, tmp_path_factory) -> None:
    from relift.errors import ReliftError

    folder = tmp_path_factory.mktemp("fuzz")
    program = Program([[2, 1], [1, 2]], [1, 2], [[1, 1]], [1], [2], variable_names=["a", "b"], row_names=["c"])
    suffix = data.draw(st.sampled_from([".mps", ".npz", ".lp", ".mps.gz"]))
    write_program(program, folder / f"m{suffix}")
    content = bytearray((folder / f"m{suffix}").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    (folder / f"m{suffix}").write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
    with contextlib.suppress(ReliftError):
        read_program(folder / f"m{suffix}")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("old")

    def fail() -> None:
        with write_atomically(path) as file:
            file.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.txt"]


def test_writing_keeps_the_mode_and_follows_links(tmp_path: Path) -> None:
    path, link = tmp_path / "m.mps", tmp_path / "link.mps"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_program(Program(q=[1.0]), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert read_program(path).q.tolist() == [1.0]


@pytest.mark.parametrize("suffix", ["mps", "mps.gz", "lp"])
@pytest.mark.parametrize(
    ("program", "what"),
    [
        (Program(q=[1, 1], lb=[0, -2], ub=[1, 1e30]), "ub[1] = 1e+30"),
        (Program(q=[1], lb=[-1e20]), "lb[0] = -1e+20"),
        (Program(q=[1], lb=[1e25], ub=[1e26], variable_names=["sun"]), "lb[0] = 1e+25 (variable 'sun')"),
        (Program(q=[1], A=[[1]], l=[1e22], u=[1e23], row_names=["mass"]), "l[0] = 1e+22 (row 'mass')"),
        (Program(q=[1], A=[[1]], u=[1e22]), "u[0] = 1e+22"),
    ],
)
def test_bounds_that_mean_infinity_in_a_file_are_not_written(
    program: Program, what: str, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"large.{suffix}"
    with pytest.raises(FileFormatError) as refused:
        write_program(program, path)
    assert str(refused.value) == (
        f"{path}: {what} cannot be written as .{suffix}: numbers from 1e20 on mean no bound there."
        " Write .npz, or make the bound infinite."
    )
    assert not path.exists()
    assert write_program(program, tmp_path / "large.npz") == ()
    assert read_program(tmp_path / "large.npz") == program


@pytest.mark.parametrize("suffix", ["mps", "lp"])
def test_the_largest_bounds_that_a_file_holds_come_back(suffix: str, tmp_path: Path) -> None:
    path, large = tmp_path / f"large.{suffix}", np.nextafter(1e20, 0)
    program = Program(q=[1], A=[[1], [2]], l=[-large, -np.inf], u=[np.inf, large], lb=[-large], ub=[large])
    assert write_program(program, path) == ()
    assert read_program(path).replace(variable_names=None, row_names=None) == program


def test_quadratic_constraints_with_huge_sides_are_not_written(tmp_path: Path) -> None:
    program = Program(q=[1], quadratic=[([[2]], [0], 1e21)])
    with pytest.raises(FileFormatError, match=r"r of quadratic constraint 0, 1e\+21, cannot be .* the bound infinite"):
        write_program(program, tmp_path / "ball.mps")
