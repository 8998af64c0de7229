"""A program, its parts and an answer are the caller's no more once they are made."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift import ConicRows, Partition, Program, SecondOrder, Solution, Status
from relift.errors import PartitionError, ShapeError
from relift.program.quadratic_rows import QuadraticRows

A = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
P = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
VECTORS = {"q": (3, 1.0), "l": (2, 0.0), "u": (2, 1.0), "lb": (3, 0.0), "ub": (3, 1.0)}
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
PARTS = ("data", "indices", "indptr", "row", "col", "offsets")


def arrays_of(thing: Any) -> list[np.ndarray]:
    """All arrays that a program, its rows, a partition or a solution holds."""
    found: list[np.ndarray] = []
    names = [*getattr(type(thing), "__slots__", ()), *getattr(thing, "__dataclass_fields__", ())]
    for name in names:
        value = getattr(thing, name)
        if sparse.issparse(value):
            found += [value.data, value.indices, value.indptr]
        elif isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, (QuadraticRows, ConicRows)):
            found += arrays_of(value)
    return found


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("make", ["array", "matrix"])
def test_nothing_that_the_caller_changes_later_changes_the_program(form: str, make: str) -> None:
    given: dict[str, Any] = {name: getattr(sparse, f"{form}_{make}")(dense) for name, dense in (("A", A), ("P", P))}
    vectors: dict[str, Any] = {name: np.full(*size) for name, size in VECTORS.items()}
    names = np.array(["a", "b", "c"])
    program = Program(**given, **vectors, variable_names=names)
    expected = Program(P, 1.0, A, 0.0, 1.0, 0.0, 1.0, variable_names=["a", "b", "c"])
    answer = relift.solve(program).objective
    for matrix in given.values():
        for part in PARTS:
            array = getattr(matrix, part, None)
            if isinstance(array, np.ndarray) and array.dtype != object:
                array[...] = 77
        if form == "lil":
            for row in matrix.data:
                row[:] = [77.0] * len(row)
    for vector in vectors.values():
        vector[:] = 77.0
    names[:] = "z"
    assert program == expected
    assert np.array_equal(program.A.toarray(), A)
    assert np.array_equal(program.P.toarray(), P)
    assert program.variable_names == ["a", "b", "c"]
    assert relift.solve(program).objective == answer


def test_views_columns_and_other_memory_are_copied_too() -> None:
    whole = np.ones((3, 3))
    memory = bytearray(np.ones(3).tobytes())
    for vector in (whole[0], whole[:, 1], whole.diagonal(), np.frombuffer(memory), np.asmatrix(whole)[0], whole.T[2]):
        program = Program(q=vector, lb=0)
        whole[...], memory[:8] = 5.0, np.full(1, 5.0).tobytes()
        assert program.q.tolist() == [1, 1, 1]
        whole[...], memory[:8] = 1.0, np.full(1, 1.0).tobytes()
    read_only = whole[0].view()
    read_only.flags.writeable = False  # a view: its base can still be written
    program = Program(q=read_only, lb=0)
    whole[...] = 5.0
    assert program.q.tolist() == [1, 1, 1]


def test_dense_matrices_are_not_kept() -> None:
    dense_A, dense_P = A.copy(), P.copy()
    program = Program(P=dense_P, A=dense_A)
    dense_A[...], dense_P[...] = 7.0, 7.0
    assert np.array_equal(program.A.toarray(), A)
    assert np.array_equal(program.P.toarray(), P)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix])
def test_what_is_read_only_and_owns_its_data_is_not_copied(make: Any) -> None:
    matrices: dict[str, Any] = {"A": make(A), "P": make(P)}
    for matrix in matrices.values():
        for part in PARTS[:3]:
            setattr(matrix, part, getattr(matrix, part).copy())  # SciPy's own may be views
    vectors: dict[str, Any] = {name: np.full(*size) for name, size in VECTORS.items()}
    for array in (*vectors.values(), *(getattr(m, part) for m in matrices.values() for part in PARTS[:3])):
        array.flags.writeable = False
    program = Program(**matrices, **vectors)
    for name, matrix in matrices.items():
        for part in PARTS[:3]:
            assert np.shares_memory(getattr(getattr(program, name), part), getattr(matrix, part)), (name, part)
    for name, vector in vectors.items():
        assert np.shares_memory(getattr(program, name), vector)
    again = program.replace(r=1.0)
    for here, there in zip(arrays_of(program), arrays_of(again), strict=True):
        assert here.size == 0 or np.shares_memory(here, there)


def test_all_arrays_of_a_program_are_read_only() -> None:
    conic = ConicRows([[0, 0, 0], [-1, 0, 0], [0, -1, 0]], [1, 0, 0], [SecondOrder(3)])
    program = Program(
        P, np.ones(3), A, np.zeros(2), np.ones(2), 0, 1, quadratic=[(np.eye(3), np.ones(3), 4.0)], conic=conic
    )
    for which in (program, pickle.loads(pickle.dumps(program)), program.minimisation(), program.replace(r=2.0)):
        arrays = arrays_of(which)
        assert len(arrays) >= 20
        assert not [array for array in arrays if array.flags.writeable]
    with pytest.raises(ValueError, match="read-only"):
        program.q[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        program.A.data[0] = 1.0


def test_conic_and_quadratic_rows_keep_what_they_were_given() -> None:
    C, b = sparse.csr_array(np.array([[0.0, 0], [-1, 0], [0, -1]])), np.array([1.0, 0, 0])
    rows = ConicRows(C, b, [SecondOrder(3)])
    C.data[:], C.indices[:], b[:] = 9.0, 0, 9.0
    assert rows.A.toarray().tolist() == [[0, 0], [-1, 0], [0, -1]]
    assert rows.b.tolist() == [1, 0, 0]
    square, linear = 2 * np.eye(2), np.ones(2)
    program = Program(q=[1.0, 1.0], quadratic=[(square, linear, 3.0)])
    square[...], linear[...] = 9.0, 9.0
    assert program.quadratic.matrix(0).toarray().tolist() == [[2, 0], [0, 2]]
    assert program.quadratic.q.toarray().tolist() == [[1, 1]]
    parts = [np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), np.array([2.0, 2.0])]
    q, r = sparse.csr_array(np.ones((1, 2))), np.array([3.0])
    stacked = QuadraticRows(parts[0], parts[1], parts[2], parts[3], q, r)
    for array in (*parts, q.data, q.indices, r):
        array[...] = 9
    assert stacked == program.quadratic


def test_quadratic_rows_that_do_not_fit_together_are_refused() -> None:
    zero, one, q, r = np.array([0]), np.array([1.0]), sparse.csr_array((1, 2)), np.array([3.0])
    for parts, message in (
        ((np.array([1]), zero, zero, one, q, r), "owner of the quadratic constraints has the index 1 of 1"),
        ((zero, np.array([2]), zero, one, q, r), "first of the quadratic constraints has the index 2 of 2"),
        ((zero, zero, np.array([-1]), one, q, r), "second of the quadratic constraints has the index -1 of 2"),
        ((np.array([0, 0]), zero, zero, one, q, r), "owner of the quadratic constraints is not a list of 1 indices"),
        ((np.array([0.5]), zero, zero, one, q, r), "owner of the quadratic constraints is not a list of 1 indices"),
        ((zero, zero, zero, one, sparse.csr_array((2, 2)), r), "q has 2 rows for 1 quadratic constraints"),
    ):
        with pytest.raises(ShapeError, match=message):
            QuadraticRows(*parts)


def test_an_update_keeps_its_own_vectors() -> None:
    lifting = relift.lift(Program(q=[1.0, 1, 1], A=[[1, 1, 1]], l=[3], lb=0))
    l, q = np.array([6.0]), np.array([2.0, 2, 2])
    updated = lifting.update(l=l, q=q)
    l[:], q[:] = 99.0, 99.0
    assert updated.program.l.tolist() == [6]
    assert relift.solve(updated).objective == pytest.approx(12)


def test_a_solution_and_a_warm_start_do_not_change_later() -> None:
    x = np.array([1.0, 2.0])
    solution = Solution(Status.OPTIMAL, x=x)
    x[:] = 9.0
    assert solution.x.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        solution.x[0] = 5.0
    result = relift.solve(Program(q=[1.0, 1], A=[[1, 1]], l=[1], lb=0))
    for vector in (result.x, result.y, result.w):
        assert not vector.flags.writeable
    own = relift.linprog([1, 1], A_ub=[[-1, -1]], b_ub=[-1]).x
    own[:] = 7  # SciPy's results can be written
    assert relift.solve_qp(np.eye(2), -np.ones(2)).flags.writeable


def test_a_partition_keeps_its_labels_and_takes_no_others() -> None:
    labels = np.array([0, 1, 0])
    partition = Partition(labels)
    labels[:] = 0
    assert partition.labels.tolist() == [0, 1, 0]
    assert not partition.labels.flags.writeable
    for wrong in ([1, 0], [0, 2], [0, -1], [[0]], [0.5], ["a"], np.ma.array([0, 1], mask=[False, True])):
        with pytest.raises(PartitionError):
            Partition(np.asanyarray(wrong))
    with pytest.raises(PartitionError, match="masked"):
        Partition.from_labels(np.ma.array([0, 1], mask=[False, True]))
