"""What presolve shares with the program that it is given, and what it lets go."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from relift import Program, lift
from relift.lifting.presolve import reduce


def with_multiples(bounds: tuple[float, float] = (1.0, 1.0)) -> Program:
    """Five rows: the third is twice the first, the fourth bounds a variable."""
    A = sparse.csr_array([[1.0, 2, 0], [0, 1, 1], [2, 4, 0], [0, 0, 1], [1, 0, 3]])
    l = np.array([bounds[0], 0, 2 * bounds[1], -5, 0])
    return Program(q=[1.0, 2, 4], A=A, l=l, u=np.full(5, 9.0), lb=0, ub=7)


def test_vectors_that_presolve_leaves_are_those_of_the_program() -> None:
    program = with_multiples()
    reduced = reduce(program).program
    assert reduced.q is program.q or np.shares_memory(reduced.q, program.q)
    assert reduced.n_rows == 3
    assert reduced.l.tolist() == [1, 0, 0]


def test_the_tightest_of_multiples_wins_and_says_where_it_came_from() -> None:
    reduction = reduce(with_multiples((1.0, 3.0)))
    assert reduction.rows.tolist() == [0, 1, 4]
    assert reduction.program.l.tolist() == [3, 0, 0]
    assert reduction.duplicate_lower.tolist() == [2, 1, 4]
    assert reduction.duplicate_upper.tolist() == [2, 1, 4]  # 9 / 2 is the tighter of the upper sides too


def test_exact_vectors_are_read_again_after_they_were_let_go() -> None:
    program = with_multiples()
    reduction = reduce(program)
    assert reduction.scan is not None
    first = reduction.scan.images
    assert reduction.scan.images is first
    fresh = reduce(program, "decimal", reduction)
    assert np.array_equal(fresh.images.l, reduction.images.l)


def test_an_update_after_presolve_agrees_with_lifting_anew() -> None:
    program = with_multiples()
    lifting = lift(program)
    for l in ([4.0, 0, 2, -5, 0], [0.0, 0, 8, -5, 1], [1.0, 0, 2, 1, 0]):
        updated, fresh = lifting.update(l=l).small, lift(program.replace(l=l)).small
        assert updated.n_rows >= fresh.n_rows
        assert sorted(set(updated.l.tolist())) == sorted(set(fresh.l.tolist()))


def test_bounds_that_rows_of_one_entry_do_not_tighten_are_those_of_the_program() -> None:
    n = 300
    A = sparse.vstack([sparse.eye_array(3, n), sparse.csr_array(np.arange(1.0, 2 * n + 1).reshape(2, n))])
    reduction = reduce(Program(q=np.arange(n), A=A, l=-9, u=9, lb=-9, ub=np.arange(1.0, n + 1) % 9))
    assert reduction.rows.tolist() == [3, 4]
    assert np.shares_memory(reduction.program.ub, reduction.ground.ub)
    assert reduction.lower_source.strides == reduction.upper_source.strides == (0,)


def test_equal_bounds_of_what_is_left_are_a_part_of_those_of_the_program() -> None:
    n = 300
    A = sparse.csr_array(np.vander(np.arange(1.0, n + 1), 3, increasing=True)[:, [0, 0, 1]])
    A = sparse.csr_array(sparse.vstack([A.T, A.T]))
    program = Program(q=np.arange(n), A=A, l=-1, u=np.inf, lb=0, ub=np.r_[np.zeros(3), np.full(n - 3, 5.0)])
    small = lift(program).small
    assert small.n_variables == n - 3
    assert np.shares_memory(small.lb, program.lb)


def test_zeros_of_different_signs_stay_with_their_variables() -> None:
    n, zeros = 300, np.zeros(300)
    zeros[7] = -0.0
    A = sparse.csr_array(np.arange(1.0, 2 * n + 1).reshape(2, n))
    reduction = reduce(Program(q=np.arange(n), A=A, l=-1, u=9, lb=zeros, ub=np.r_[0.0, np.full(n - 1, 5.0)]))
    assert reduction.variables.tolist() == list(range(1, n))
    assert np.flatnonzero(np.signbit(reduction.program.lb)).tolist() == [6]
