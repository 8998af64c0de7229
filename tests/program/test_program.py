"""A program is checked once, says what is wrong with it, copies only when it must, and never changes."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.errors import (
    AsymmetricError,
    BoundsError,
    NotANumberError,
    OptionError,
    ProgramError,
    ReliftError,
    ShapeError,
)
from relift.program.program import Program
from relift.testing.random_programs import random_program

INF, NAN = np.inf, np.nan
DENSE = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
GIVE_NUMBERS = " Give a list, an array or a sparse matrix of numbers."
ONE_EACH = " Give one number for each, or one for all."
FINITE = " Every coefficient must be a finite number."
FORMATS = ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]


def raised(kind: type[ProgramError], **parts: Any) -> ProgramError:
    with pytest.raises(kind) as caught:
        Program(**parts)
    assert isinstance(caught.value, (ReliftError, ValueError))
    return caught.value


# What is taken


@pytest.mark.parametrize("family", ["array", "matrix"])
@pytest.mark.parametrize("format", FORMATS)
def test_every_sparse_format_is_taken(format: str, family: str) -> None:
    make = getattr(sparse, f"{format}_{family}")
    program = Program(A=make(DENSE))
    assert program.A.toarray().tolist() == DENSE.tolist()
    assert program.A.format == ("csr" if format == "csr" else "csc")
    assert isinstance(program.A, sparse.sparray)
    quadratic = Program(P=make(np.diag([1.0, 2.0, 3.0])))
    assert quadratic.P.toarray().tolist() == np.diag([1.0, 2.0, 3.0]).tolist()
    assert quadratic.P.format == "csc"


@pytest.mark.parametrize(
    "given_",
    [
        DENSE.tolist(),
        tuple(map(tuple, DENSE)),
        np.matrix(DENSE),
        DENSE.astype(np.float32),
        DENSE.astype(int),
        DENSE.astype(np.uint8),
        np.asfortranarray(DENSE),
        DENSE.astype(">f8"),
        DENSE.astype(object),
        [[Fraction(1), 2, 0], [0, 0, np.float32(3)]],
    ],
)
def test_lists_and_arrays_of_every_kind_are_taken(given_: Any) -> None:
    program = Program(A=given_)
    assert program.A.toarray().tolist() == DENSE.tolist()
    assert program.A.data.dtype == np.float64


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", [np.float32, np.int16, bool])
def test_index_and_number_types_do_not_matter(index: Any, kind: Any) -> None:
    A = sparse.csr_array((np.ones(2, kind), np.array([1, 0], index), np.array([0, 1, 2], index)), shape=(2, 2))
    assert Program(A=A).A.toarray().tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("make", [sparse.coo_array, sparse.coo_matrix])
def test_entries_given_twice_are_added_up(make: Any) -> None:
    A = make((np.array([1.0, 2.0, 4.0]), (np.array([0, 0, 1]), np.array([1, 1, 0]))), shape=(2, 2))
    program = Program(A=A)
    assert program.A.toarray().tolist() == [[0.0, 3.0], [4.0, 0.0]]
    assert program.A.nnz == 2
    assert A.nnz == 3
    compressed = sparse.csr_array((np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    assert Program(A=compressed).A.toarray().tolist() == [[0.0, 3.0]]
    assert compressed.data.tolist() == [1.0, 2.0]
    assert compressed.indices.tolist() == [1, 1]


def test_unsorted_indices_are_sorted_in_a_copy() -> None:
    A = sparse.csr_array((np.array([2.0, 1.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    program = Program(A=A)
    assert program.A.indices.tolist() == [0, 1]
    assert A.indices.tolist() == [1, 0]


@pytest.mark.parametrize(
    "vector",
    [
        [1, 2, 3],
        (1, 2, 3),
        np.array([1, 2, 3], np.int8),
        np.array([[1.0], [2.0], [3.0]]),
        np.matrix([1, 2, 3]),
        sparse.csr_array([[1, 2, 3]]),
        sparse.coo_array([1.0, 2.0, 3.0]),
        np.arange(1.0, 7.0)[::2] * 0 + [1, 2, 3],
    ],
)
def test_vectors_of_every_kind_are_taken_and_tell_the_number_of_variables(vector: Any) -> None:
    for name in ("q", "lb"):
        program = Program(**{name: vector})
        assert getattr(program, name).tolist() == [1.0, 2.0, 3.0]
        assert program.n_variables == 3


def test_one_number_stands_for_all() -> None:
    program = Program(q=2, A=DENSE, l=-1, u=4, lb=0, ub=np.float32(9))
    assert program.q.tolist() == [2.0] * 3
    assert (program.l.tolist(), program.u.tolist()) == ([-1.0] * 2, [4.0] * 2)
    assert (program.lb.tolist(), program.ub.tolist()) == ([0.0] * 3, [9.0] * 3)


def test_what_is_left_out_is_zero_or_without_bound() -> None:
    program = Program(A=DENSE)
    assert (program.P, program.r, program.sense, program.kind) == (None, 0.0, "min", "LP")
    assert program.q.tolist() == [0.0] * 3
    assert np.all(program.l == -INF)
    assert np.all(program.ub == INF)
    assert (program.n_variables, program.n_rows, program.n_nonzeros) == (3, 2, 3)
    assert Program(P=np.eye(2)).kind == "QP"
    assert Program(variable_names=["a", "b"]).n_variables == 2


def test_a_program_may_have_no_variables_or_no_rows() -> None:
    assert repr(Program(q=[])) == "Program(LP, min, 0 variables, 0 rows, 0 nonzeros)"
    empty = Program(A=np.zeros((2, 0)), l=[-1, 0], u=[0, 1])
    assert (empty.n_variables, empty.n_rows) == (0, 2)
    assert empty.objective([]) == 0.0
    assert Program(P=np.zeros((0, 0)), q=[]).is_linear
    assert Program(q=[1], A=np.zeros((0, 1)), l=[], u=[]).n_rows == 0
    assert relift.solve(empty).status == "optimal"
    assert relift.solve(empty.replace(l=[0.5, 0], u=[0.75, 1])).status == "infeasible"


def test_huge_tiny_and_signed_zero_numbers_are_kept_to_the_last_bit() -> None:
    values = np.array([1e308, -1e308, 5e-324, -0.0, 1.7976931348623157e308])
    program = Program(q=values, A=sparse.csr_array(values[None]), lb=-9e30, ub=9e30)
    assert program.q.tobytes() == values.tobytes()
    assert program.A.toarray()[0, [0, 1, 2, 4]].tolist() == values[[0, 1, 2, 4]].tolist()
    assert Program(q=[0.0], lb=[-0.0], ub=[0.0]).lb[0] == 0.0
    assert Program(q=[-0.0]) == Program(q=[0.0])
    assert Program(q=[1], lb=[9.9e30], ub=[9.9e30]).ub[0] == 9.9e30  # those from 1e31 on are infinite


# What is copied


@pytest.mark.parametrize("format", FORMATS)
def test_what_the_caller_gave_is_not_changed(format: str) -> None:
    A = sparse.coo_array(DENSE).asformat(format)
    q, names = np.arange(3), ["a", "b", "c"]
    before = A.copy()
    program = Program(q=q, A=A, variable_names=names)
    assert type(A) is type(before)
    assert (before != A).nnz == 0
    A.tocsr().data[:] = 7.0
    names[0] = "z"
    assert program.variable_names == ["a", "b", "c"]
    assert q.dtype.kind == "i"


# What is refused, and how


@pytest.mark.parametrize(
    ("parts", "argument", "entry", "message"),
    [
        ({"q": [1, NAN]}, "q", (1,), "q[1] is nan. Every entry must be a finite number."),
        ({"q": [INF, 1]}, "q", (0,), "q[0] is inf. Every entry must be a finite number."),
        ({"A": [[1, 2], [NAN, 0]]}, "A", (1, 0), "A[1, 0] is nan." + FINITE),
        ({"A": sparse.csr_array([[1, 2], [0, -INF]])}, "A", (1, 1), "A[1, 1] is -inf." + FINITE),
        ({"P": sparse.coo_array([[1, 0], [0, NAN]])}, "P", (1, 1), "P[1, 1] is nan." + FINITE),
        ({"q": [1, 1], "lb": [NAN, 0]}, "lb", (0,), "lb[0] is nan. Write -inf or inf where there is no bound."),
        ({"q": [1, 1], "ub": NAN}, "ub", (0,), "ub[0] is nan. Write -inf or inf where there is no bound."),
        ({"A": DENSE, "l": [0, NAN]}, "l", (1,), "l[1] is nan. Write -inf or inf where there is no bound."),
        ({"A": DENSE, "u": [NAN, 0]}, "u", (0,), "u[0] is nan. Write -inf or inf where there is no bound."),
        ({"q": [1], "r": NAN}, "r", (), "r is nan. The constant of the objective must be one finite number."),
        ({"q": [1], "r": [1, 2]}, "r", (), "r is [1, 2]. The constant of the objective must be one finite number."),
        ({"q": ["a", "b"]}, "q", (), "q is not made of real numbers." + GIVE_NUMBERS),
        ({"q": [1, None]}, "q", (1,), "q[1] is nan. Every entry must be a finite number."),
        ({"q": [1, 2j]}, "q", (), "q is not made of real numbers." + GIVE_NUMBERS),
        ({"q": [[1], [1, 2]]}, "q", (), "q is not made of real numbers." + GIVE_NUMBERS),
        ({"A": [[1, 2], [1]]}, "A", (), "A is not made of real numbers." + GIVE_NUMBERS),
        ({"A": [[1, "2"]]}, "A", (), "A is not made of real numbers." + GIVE_NUMBERS),
        ({"A": sparse.csr_array([[1j]])}, "A", (), "A has entries of type complex128. Give real numbers."),
    ],
)
def test_what_is_not_a_number_is_named(parts: Any, argument: str, entry: tuple[int, ...], message: str) -> None:
    error = raised(NotANumberError, **parts)
    assert (error.argument, error.entry, str(error)) == (argument, entry, message)


@pytest.mark.parametrize(
    ("parts", "argument", "message"),
    [
        ({}, "", "the number of variables is not known. Give at least one of P, q, A, lb and ub as an array."),
        (
            {"q": 1, "lb": 0},
            "",
            "the number of variables is not known. Give at least one of P, q, A, lb and ub as an array.",
        ),
        ({"q": [1, 2], "A": DENSE}, "q", "q has 2 entries, but 3 are needed." + ONE_EACH),
        ({"A": DENSE, "l": [1, 2, 3]}, "l", "l has 3 entries, but 2 are needed." + ONE_EACH),
        ({"A": DENSE, "u": [1]}, "u", "u has 1 entries, but 2 are needed." + ONE_EACH),
        ({"q": [1, 2], "lb": [0]}, "lb", "lb has 1 entries, but 2 are needed." + ONE_EACH),
        ({"q": [1, 2], "ub": [[0, 1], [2, 3]]}, "ub", "ub has 2 x 2 entries, but 2 are needed." + ONE_EACH),
        (
            {"A": np.ones((1, 4)), "q": sparse.csr_array(np.ones((2, 2)))},
            "q",
            "q has 2 x 2 entries, but 4 are needed." + ONE_EACH,
        ),
        ({"A": [1, 2]}, "A", "A has 1 dimensions. A matrix has two."),
        ({"P": np.ones((1, 1, 1))}, "P", "P has 3 dimensions. A matrix has two."),
        ({"A": sparse.coo_array([1.0, 2.0])}, "A", "A has 1 dimensions. A matrix has two."),
        (
            {"P": np.eye(2), "A": DENSE},
            "A",
            "A has 3 columns, but there are 2 variables. Each column of A is a variable.",
        ),
        ({"P": np.ones((2, 3))}, "P", "P is 2 x 3, but there are 3 variables. P must be 3 x 3."),
        ({"q": [1], "l": [0]}, "l", "l is given, but there are no rows: A is None. Give A too."),
        ({"q": [1], "u": 3}, "u", "u is given, but there are no rows: A is None. Give A too."),
        ({"q": [1, 2], "variable_names": ["x"]}, "variable_names", "variable_names has 1 names, but 2 are needed."),
        ({"A": DENSE, "row_names": list("abc")}, "row_names", "row_names has 3 names, but 2 are needed."),
        (
            {"q": [1, 2], "variable_names": "xy"},
            "variable_names",
            "variable_names is one string, 'xy'. Give a list of names, one for each.",
        ),
    ],
)
def test_an_argument_of_another_size_is_named(parts: Any, argument: str, message: str) -> None:
    error = raised(ShapeError, **parts)
    assert (error.argument, str(error)) == (argument, message)


@pytest.mark.parametrize(
    ("parts", "argument", "entry", "message"),
    [
        (
            {"q": [1, 1], "lb": [0, 2], "ub": [1, 1]},
            "lb",
            1,
            "lb[1] = 2 and ub[1] = 1 are infeasible bounds.",
        ),
        (
            {"A": DENSE, "l": [1, 0], "u": [0.1, 1]},
            "l",
            0,
            "l[0] = 1 and u[0] = 0.10000000000000001 are infeasible bounds.",
        ),
        (
            {"q": [1], "lb": INF},
            "lb",
            0,
            "lb[0] = inf and ub[0] = inf are infeasible bounds.",
        ),
        (
            {"q": [1], "ub": -INF},
            "lb",
            0,
            "lb[0] = -inf and ub[0] = -inf are infeasible bounds.",
        ),
        (
            {"A": DENSE, "l": 3, "u": 2},
            "l",
            0,
            "l[0] = 3 and u[0] = 2 are infeasible bounds. 2 of 2 rows are bounded so.",
        ),
        (
            {"q": [1, 1, 1], "lb": [0, 2, 2], "ub": 1},
            "lb",
            1,
            "lb[1] = 2 and ub[1] = 1 are infeasible bounds. 2 of 3 variables are bounded so.",
        ),
        (
            {"q": [1], "lb": 2, "ub": 1, "variable_names": ["tea"]},
            "lb",
            0,
            "lb[0] = 2 and ub[0] = 1 (variable 'tea') are infeasible bounds.",
        ),
        (
            {"A": [[1]], "l": 2, "u": 1, "row_names": ["cup"]},
            "l",
            0,
            "l[0] = 2 and u[0] = 1 (row 'cup') are infeasible bounds.",
        ),
    ],
)
def test_bounds_that_cross_are_named(parts: Any, argument: str, entry: int, message: str) -> None:
    error = raised(BoundsError, **parts)
    assert (error.argument, error.entry, str(error)) == (argument, (entry,), message)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array])
def test_a_matrix_that_is_not_symmetric_is_named_with_its_worst_entry(make: Any) -> None:
    error = raised(AsymmetricError, P=make(np.array([[4.0, 1.0, 0.0], [1.5, 4.0, 2.0], [0.0, 0.0, 4.0]])))
    assert error.argument == "P"
    assert error.entry in {(1, 2), (2, 1)}
    i, j = error.entry
    pair = {(1, 2): 2.0, (2, 1): 0.0}
    assert str(error) == (
        f"P is not symmetric: P[{i}, {j}] = {pair[i, j]:g} but P[{j}, {i}] = {pair[j, i]:g}. "
        "Pass (P + P.T) / 2 if that is what you mean, or triangle='upper' or 'lower' if P holds one triangle."
    )


def test_the_last_bit_decides_symmetry() -> None:
    raised(AsymmetricError, P=[[1.0, 0.1], [np.nextafter(0.1, 1), 1.0]])
    assert Program(P=[[1.0, 0.1], [0.1, 1.0]]).n_nonzeros == 4


def test_a_stored_zero_does_not_make_a_matrix_asymmetric() -> None:
    P = sparse.csc_array((np.array([1.0, 0.0, 1.0]), np.array([0, 0, 1]), np.array([0, 1, 3])), shape=(2, 2))
    assert Program(P=P).P.toarray().tolist() == np.eye(2).tolist()


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("triangle", ["upper", "lower"])
def test_a_triangle_is_completed_only_on_request(triangle: Any, make: Any) -> None:
    full = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 4.0]])
    part = np.triu(full) if triangle == "upper" else np.tril(full)
    assert Program(P=make(part), triangle=triangle).P.toarray().tolist() == full.tolist()
    assert Program(P=make(part), triangle=triangle) == Program(P=full)
    raised(AsymmetricError, P=make(part))
    other = raised(AsymmetricError, P=make(part.T), triangle=triangle)
    outside = "[1, 0] = 1" if triangle == "upper" else "[0, 1] = 1"
    assert str(other) == (
        f"P{outside} lies outside the {triangle} triangle. "
        "Give that triangle only, or the full matrix without triangle=."
    )


def test_options_that_are_not_known_are_refused() -> None:
    with pytest.raises(OptionError, match=r"sense='maximise' is not valid. Expected one of: min, max."):
        Program(q=[1], sense="maximise")  # type: ignore[arg-type]
    for parts in ({"q": [1]}, {"P": [[1]]}):
        with pytest.raises(OptionError, match=r"triangle='up' is not valid. Expected one of: upper, lower."):
            Program(**parts, triangle="up")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [NotANumberError, BoundsError, AsymmetricError, ShapeError])
def test_errors_survive_pickling(kind: type[ProgramError]) -> None:
    error = kind("what", "do this", "A", (1, 2))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.argument, again.entry) == (kind, "what do this", "A", (1, 2))


# What stays as it is


def test_a_program_does_not_change() -> None:
    program = Program(P=np.eye(2), q=[1, 2], A=[[1, 1]], l=[0], u=[1])
    with pytest.raises(AttributeError, match=r"a Program does not change: make a new one with replace\(q=...\)"):
        program.q = np.zeros(2)
    with pytest.raises(AttributeError, match="a Program does not change"):
        del program.q
    with pytest.raises(AttributeError):
        program.colour = "red"
    for array in (
        program.q,
        program.l,
        program.u,
        program.lb,
        program.ub,
        program.A.data,
        program.A.indices,
        program.P.indptr,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0
    with pytest.raises(ValueError, match="read-only"):
        program.A[0, 0] = 5.0  # type: ignore[index]
    with pytest.raises(TypeError):
        hash(program)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda program: pickle.loads(pickle.dumps(program))])
@pytest.mark.parametrize("quadratic", [False, True])
def test_a_copy_is_equal_and_as_unchangeable(again: Any, quadratic: bool) -> None:
    program = random_program(1, quadratic=quadratic).replace(variable_names=[f"v{j}" for j in range(8)], r=2.5)
    other = again(program)
    assert other == program
    assert other is not program
    for array in (other.q, other.lb, other.A.data):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        other.r = 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"q": [1, 3]},
        {"r": 1},
        {"sense": "max", "P": None},
        {"l": [-1]},
        {"u": [5]},
        {"lb": -1},
        {"ub": 9},
        {"A": [[1, 2]]},
        {"P": None},
        {"P": np.eye(2)},
        {"variable_names": ["a", "b"]},
        {"row_names": ["a"]},
    ],
)
def test_programs_are_equal_when_all_their_parts_are(change: dict[str, Any]) -> None:
    program = Program(P=2 * np.eye(2), q=[1, 2], A=[[1, 1]], l=[0], u=[1], lb=0)
    assert program == Program(
        P=sparse.dia_array(2 * np.eye(2)), q=(1, 2), A=sparse.csr_array([[1, 1]]), l=[0], u=[1], lb=[0, 0]
    )
    changed = program.replace(**change)
    assert changed != program
    assert changed.replace(**{name: getattr(program, name) for name in change}) == program
    assert program != "a program"
    assert program != Program(q=[1, 2])


def test_replace_checks_the_new_parts() -> None:
    program = Program(q=[1, 2], A=[[1, 1]], u=[1], lb=0)
    assert program.replace(ub=3).ub.tolist() == [3.0, 3.0]
    assert program.replace(A=None, l=None, u=None).n_rows == 0
    with pytest.raises(ShapeError):
        program.replace(q=[1])
    with pytest.raises(BoundsError):
        program.replace(ub=-1)
    with pytest.raises(TypeError, match="colour"):
        program.replace(colour=1)  # type: ignore[call-arg]


def test_the_objective_is_half_the_quadratic_form() -> None:
    program = Program(P=[[2.0, 1.0], [1.0, 4.0]], q=[1, -1], r=10)
    assert program.objective([1, 2]) == 0.5 * (2 + 2 * 2 + 16) + 1 - 2 + 10
    assert Program(q=[1, -1]).objective(np.array([3, 1])) == 2.0


def test_a_maximisation_is_the_minimisation_of_the_negated_objective() -> None:
    program = Program(P=[[-2.0]], q=[4.0], r=1.0, lb=0, sense="max")
    negated = program.minimisation()
    assert negated == Program(P=[[2.0]], q=[-4.0], r=-1.0, lb=0)
    assert negated.minimisation() is negated
    assert repr(program) == "Program(QP, max, 1 variables, 0 rows, 1 nonzeros)"
    result = relift.solve(program)
    assert result.objective == pytest.approx(5.0, abs=1e-6)


def test_things_without_a_name_are_called_by_their_number() -> None:
    program = Program(q=[1, 2], A=[[1, 1]], variable_names=("a", "b"))
    assert (program.name_of_variable(1), program.name_of_row(0)) == ("b", "row[0]")
    assert program.variable_names == ("a", "b")
    assert Program(q=[1]).name_of_variable(0) == "x[0]"


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), quadratic=st.booleans(), format=st.sampled_from(FORMATS))
def test_the_format_that_is_given_makes_no_difference(seed: int, quadratic: bool, format: str) -> None:
    program = random_program(seed, quadratic=quadratic)
    P = None if program.P is None else sparse.csc_array(program.P).asformat(format)
    A = sparse.csc_array(program.A).asformat(format)
    assert Program(P, program.q, A, program.l, program.u, program.lb, program.ub) == program


def test_replaced_vectors_are_checked_as_in_a_new_program() -> None:
    program = Program(q=[1, 2], A=[[1, 1]], l=[0], u=[3], lb=0, variable_names=["x", "y"])
    with pytest.raises(ShapeError, match="q has 3 entries, but 2 are needed"):
        program.replace(q=[1, 2, 3])
    with pytest.raises(NotANumberError, match=r"ub\[1\] is nan"):
        program.replace(ub=[1, np.nan])
    with pytest.raises(BoundsError):
        program.replace(u=[-1])
    with pytest.raises(BoundsError):
        program.replace(ub=-1.0)
    changed = program.replace(q=None, ub=[4, 5], r=2.0)
    assert changed.q.tolist() == [0.0, 0.0]
    assert (changed.r, changed.ub.tolist(), changed.variable_names) == (2.0, [4.0, 5.0], program.variable_names)
    assert changed.A is program.A


def test_vectors_given_to_replace_are_not_shared_with_the_caller() -> None:
    program, q = Program(q=[1, 2], lb=0), np.array([3.0, 4.0])
    changed = program.replace(q=q)
    q[0] = 9.0
    assert changed.q.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("order", ["csr", "csc", "coo"])
def test_wide_indices_become_narrow_where_that_is_enough(order: str) -> None:
    wide = sparse.csr_array(
        (np.array([1.0, 2.0]), np.array([0, 2], np.int64), np.array([0, 1, 2], np.int64)), shape=(2, 3)
    ).asformat(order)
    program = Program(q=np.zeros(3), A=wide, u=[1.0, 1.0])
    assert program.A.indices.dtype == program.A.indptr.dtype == np.int32
    assert program.A.toarray().tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]


@pytest.mark.parametrize(
    ("name", "hint"),
    [("c", "relift.linprog"), ("A_ub", "relift.linprog"), ("G", "relift.solve_qp"), ("maximize", "sense='max'"),
     ("variable_name", "Did you mean 'variable_names'?")],
)  # fmt: skip
def test_names_of_other_tools_are_told_apart_from_those_of_a_program(name: str, hint: str) -> None:
    with pytest.raises(TypeError, match=re.escape(hint)):
        Program(**{name: [1.0]})  # type: ignore[arg-type]


def test_errors_can_be_named_before_anything_else_is_used() -> None:
    code = "import relift; print(relift.errors.BoundsError.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "BoundsError\n"


def test_a_vector_of_the_wrong_size_is_refused_before_memory_is_taken_for_the_others() -> None:
    wide = sparse.csc_array((np.ones(1), np.zeros(1, np.int32), np.array([0, 1, 1], np.int32)), shape=(10**12, 2))
    with pytest.raises(ShapeError, match="u has 2 entries, but 1000000000000 are needed"):
        Program(q=[1.0, 1.0], A=wide, u=[1.0, 1.0])
