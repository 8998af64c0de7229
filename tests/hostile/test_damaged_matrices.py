"""Matrices whose parts do not fit together get a sentence; compiled code never sees them.

What goes wrong here ends the process, so the whole table also runs once in a process of its own, under both cores.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift import ConicRows, Program, SecondOrder, colour_refinement, linprog, solve_qp
from relift.errors import NotANumberError, ProgramError, ReliftError, ShapeError

HUGE = np.iinfo(np.int32).max


def fresh(form: str) -> Any:
    return sparse.coo_array(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [5.0, 0.0, 6.0]])).asformat(form)


def damaged() -> Iterator[tuple[str, Any]]:
    """Every way to damage a square matrix of each format, with a name."""
    for form in ("csr", "csc", "bsr"):
        for value in (HUGE, -1, -HUGE, 3):
            matrix = fresh(form)
            matrix.indices[-1] = value
            yield f"{form} index {value}", matrix
        for at, value in ((-1, HUGE), (-1, 2), (0, 1), (1, HUGE), (1, -5), (2, 0), (-1, 10**6)):
            if form == "bsr" and (at, value) == (-1, 2):
                continue  # fewer blocks are still a matrix
            matrix = fresh(form)
            matrix.indptr[at] = value
            yield f"{form} indptr[{at}] {value}", matrix
        for part in ("data", "indices", "indptr"):
            matrix = fresh(form)
            setattr(matrix, part, getattr(matrix, part)[:-1])
            yield f"{form} short {part}", matrix
            matrix = fresh(form)
            setattr(matrix, part, None)
            yield f"{form} no {part}", matrix
            matrix = fresh(form)
            setattr(matrix, part, getattr(matrix, part).astype("U8"))
            yield f"{form} text {part}", matrix
        matrix = fresh(form)
        matrix.indices = matrix.indices.astype(float)
        yield f"{form} float indices", matrix
        matrix = fresh(form)
        matrix.indices = matrix.indices.astype(np.uint64) + np.uint64(2**63)
        yield f"{form} indices beyond int64", matrix
    for value in (HUGE, -1, 3):
        for axis in (0, 1):
            matrix = fresh("coo")
            matrix.coords[axis][-1] = value
            yield f"coo coords[{axis}] {value}", matrix
    matrix = fresh("coo")
    matrix.data = matrix.data[:-1]
    yield "coo short data", matrix
    matrix = fresh("lil")
    matrix.rows[0] = [0, HUGE]
    yield "lil outside", matrix
    matrix = fresh("lil")
    matrix.data[0] = [1.0] * 100_000
    yield "lil longer data", matrix
    matrix = fresh("lil")
    matrix.rows[0] = [0] * 100_000
    yield "lil longer rows", matrix
    matrix = fresh("dok")
    matrix._dict[(HUGE, 0)] = 1.0
    yield "dok outside", matrix
    matrix = fresh("dia")
    matrix.offsets = matrix.offsets[:-1]
    yield "dia short offsets", matrix
    matrix = fresh("csr").astype(complex)
    yield "csr complex", matrix
    matrix = fresh("csr")
    matrix.data = np.ma.array(matrix.data, mask=[True] + [False] * 5)
    yield "csr masked", matrix


MODEL = relift.Model.from_text("param a/2; var x(I) in a(I,J) >= 1; minimize: sum{I,J in a(I,J)} a(I,J)*x(I);")
USES: dict[str, Callable[[Any], Any]] = {
    "A": lambda M: Program(A=M),
    "P": lambda M: Program(P=M),
    "P with a triangle": lambda M: Program(P=M, triangle="upper"),
    "conic": lambda M: ConicRows(M, np.zeros(3), [SecondOrder(3)]),
    "quadratic": lambda M: Program(q=np.ones(3), quadratic=[(M, None, 1.0)]),
    "graph": colour_refinement,
    "rectangle": lambda M: colour_refinement(M, row_colours=[0, 0, 0]),
    "linprog": lambda M: linprog(np.ones(3), A_ub=M, b_ub=np.ones(3)),
    "solve_qp": lambda M: solve_qp(np.eye(3), np.ones(3), G=M, h=np.ones(3)),
    "solve_qp P": lambda M: solve_qp(M, np.ones(3)),
    "factor": relift.semidefinite_factor,
    "kernel": lambda M: relift.kernel_partition(M),
    "table": lambda M: MODEL.solve(data={"a": M}),
    "examples": lambda M: import_module("relift.ml").LiftedLinearSVC().fit(M, [0, 1, 0]),
}


@pytest.mark.parametrize("use", USES)
def test_a_damaged_matrix_gets_a_sentence_wherever_it_is_given(use: str) -> None:
    if use == "examples":
        pytest.importorskip("sklearn")
    n_cases = 0
    for name, matrix in damaged():
        n_cases += 1
        with pytest.raises(ReliftError) as error:
            USES[use](matrix)
        assert isinstance(error.value, ProgramError), name
        assert str(error.value).endswith("."), name
        assert "Error" not in str(error.value), name
    assert n_cases > 60
    for form in ("csr", "csc", "bsr", "coo", "lil", "dok", "dia"):
        USES[use](sparse.coo_array(2.0 * np.eye(3)).asformat(form))  # whole ones are taken


def test_the_words_for_damaged_matrices() -> None:
    hint = " The indices of the sparse matrix are damaged: make it anew."
    for name, message in (
        ("csr index 3", "A has an entry in column 3, but only 3 columns." + hint),
        ("csc index -1", "A has an entry in row -1, but only 3 rows." + hint),
        ("csr indptr[0] 1", "indptr of A does not begin with 0, or decreases." + hint),
        ("csr short indptr", "indptr of A has 3 entries, but 4 are needed." + hint),
        ("csr short data", "A has 5 numbers and 6 indices, but indptr ends with 6." + hint),
        ("csr float indices", "indices of A is not a list of whole numbers." + hint),
        ("csr indices beyond int64", f"indices of A has the entry {2**63 + 2}." + hint),
        ("csr complex", "A has entries of type complex128. Give real numbers."),
        ("csr masked", "A has masked entries. Fill them with numbers, or remove them."),
        ("coo short data", "A has 5 numbers, but 6 row and 6 column indices." + hint),
        ("lil longer data", "the lists of A do not fit together." + hint),
    ):
        with pytest.raises(ProgramError) as error:
            Program(A=dict(damaged())[name])
        assert str(error.value) == message


def test_unusual_index_types_that_fit_are_read() -> None:
    whole = Program(A=fresh("csr"))
    for kind in (np.uint64, np.uint32, np.int16, np.uint8, ">i4", ">i8", np.int64):
        for form in ("csr", "csc", "coo"):
            matrix = fresh(form)
            if form == "coo":
                matrix.coords = tuple(part.astype(kind) for part in matrix.coords)
            else:
                matrix.indices, matrix.indptr = matrix.indices.astype(kind), matrix.indptr.astype(kind)
            assert Program(A=matrix) == whole, (kind, form)
    matrix = fresh("csr")
    matrix.data = matrix.data.astype(">f8")
    assert Program(A=matrix) == whole
    roomy = fresh("csr")
    roomy.data, roomy.indices = np.append(roomy.data, 9.0), np.append(roomy.indices, HUGE).astype(np.int32)
    assert Program(A=roomy) == whole  # SciPy allows room behind the last entry


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"q": np.ma.array([1.0, 2.0], mask=[False, True])}, "q[1] is masked. Fill it with a number, or remove it."),
        ({"A": np.ma.masked_equal([[1.0, 2.0]], 2.0)}, "A[0, 1] is masked. Fill it with a number, or remove it."),
        ({"q": [1.0, None]}, "q[1] is nan. Every entry must be a finite number."),
        ({"q": [1.0, 2j]}, "q is not made of real numbers. Give a list, an array or a sparse matrix of numbers."),
        ({"q": ["1", "2"]}, "q is not made of real numbers. Give a list, an array or a sparse matrix of numbers."),
        ({"q": [b"1"]}, "q is not made of real numbers. Give a list, an array or a sparse matrix of numbers."),
        ({"q": np.array(["2020-01-01"], dtype="M8[D]")}, "q is not made of real numbers."),
        ({"q": {"a": 1}}, "q is not made of real numbers."),
        ({"q": np.array([(1, 2)], dtype="i4,f8")}, "q is not made of real numbers."),
        ({"A": "text"}, "A is not made of real numbers."),
        ({"A": object()}, "A is not made of real numbers."),
        ({"A": [[1.0, 2.0], [3.0]]}, "A is not made of real numbers."),
        ({"q": sparse.csr_array((10**9, 10**9)), "A": np.ones((1, 2))}, "q has 1000000000 x 1000000000 entries, but 2"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_of_numbers_gets_a_sentence(parts: dict[str, Any], message: str) -> None:
    with pytest.raises((NotANumberError, ShapeError)) as error:
        Program(**parts)
    assert str(error.value).startswith(message)


def test_masked_arrays_without_masked_entries_are_arrays() -> None:
    assert Program(q=np.ma.array([1.0, 2.0])).q.tolist() == [1, 2]


def test_no_damaged_matrix_ends_the_process() -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import tests.hostile.test_damaged_matrices as t\n"
        "from relift.errors import ReliftError\n"
        "n = 0\n"
        "for use in t.USES.values():\n"
        "    for _, matrix in t.damaged():\n"
        "        try:\n            use(matrix)\n        except ReliftError:\n            n += 1\n"
        "print(n)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, "."], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) == len(USES) * len(list(damaged()))
