"""A quadratic part without a direction of negative curvature passes; any other is refused, with the direction named."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import relift
from relift.errors import NonConvexError
from relift.program.convexity import check_convex, direction_of_negative_curvature
from relift.program.program import Program

SEEDS = st.integers(0, 10**6)


def refusal(P: Any, **options: Any) -> NonConvexError:
    with pytest.raises(NonConvexError) as caught:
        Program(P=P, **options)
    return caught.value


def with_spectrum(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((values.size, values.size)))[0]
    P = basis @ np.diag(values) @ basis.T
    return (P + P.T) / 2


def test_a_negative_diagonal_entry_is_named() -> None:
    error = refusal(np.diag([1.0, 2.0, -0.25]))
    assert str(error) == (
        "P is not positive semidefinite: along x[2] = 1 the curvature is -0.25. "
        "A minimisation needs a positive semidefinite P; "
        "if this is rounding in your data, repair P or pass assume_convex=True."
    )
    assert (error.argument, error.entry) == ("P", (2,))
    assert refusal([[-1.0]]).entry == (0,)
    assert refusal([[-5e-324]]).entry == (0,)


def test_an_entry_beside_a_zero_on_the_diagonal_is_named() -> None:
    P = np.diag([3.0, 0.0, 5.0, 4.0])
    P[1, 3] = P[3, 1] = 0.5
    error = refusal(P)
    assert error.entry == (1, 3)
    assert "along x[1] = 0.993, x[3] = -0.122 the curvature is -0.0615" in str(error)


@pytest.mark.parametrize("P", [[[0, 1e-300], [1e-300, 1e308]], [[1e308, 1e-300], [1e-300, 0]]])
def test_the_direction_is_named_even_if_its_curvature_is_too_small_for_a_float(P: Any) -> None:
    assert refusal(P).entry == (0, 1)
    direction = direction_of_negative_curvature(sparse.csc_array(P))
    assert direction is not None
    assert np.linalg.norm(direction[1]) == pytest.approx(1.0)


def test_two_variables_that_pull_too_hard_are_named() -> None:
    error = refusal([[1.0, 2.0], [2.0, 1.0]])
    assert "along x[0] = 0.707, x[1] = -0.707 the curvature is -1." in str(error)
    assert error.entry == (0, 1)


def test_names_of_variables_are_used_in_the_message() -> None:
    error = refusal([[1.0, 2.0], [2.0, 1.0]], variable_names=["bread", "wine"])
    assert "along bread = 0.707, wine = -0.707 the curvature is -1." in str(error)


def test_when_maximising_the_sign_is_the_other_one() -> None:
    assert Program(P=[[-1.0]], sense="max").P.toarray().tolist() == [[-1.0]]
    assert str(refusal([[1.0]], sense="max")) == (
        "P is not negative semidefinite: along x[0] = 1 the curvature is 1. "
        "A maximisation needs a negative semidefinite P; "
        "if this is rounding in your data, repair P or pass assume_convex=True."
    )
    refusal([[-1.0, 0.0], [0.0, 0.5]], sense="max")


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 60), rank=st.integers(0, 60), scale=st.sampled_from([1e-8, 1.0, 1e12]))
def test_gram_matrices_of_low_rank_pass(seed: int, n: int, rank: int, scale: float) -> None:
    factor = np.random.default_rng(seed).standard_normal((min(rank, n), n)) * scale
    gram = factor.T @ factor
    check_convex(sparse.csc_array((gram + gram.T) / 2))


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 60))
def test_gram_matrices_of_badly_scaled_variables_pass(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    factor = random.standard_normal((max(1, n // 3), n)) * 10.0 ** random.uniform(-8, 8, n)
    gram = factor.T @ factor
    check_convex(sparse.csc_array((gram + gram.T) / 2))


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS, gamma=st.sampled_from([1e-3, 0.1, 1.0]), degree=st.integers(1, 4))
def test_kernel_matrices_pass(seed: int, gamma: float, degree: int) -> None:
    points = np.random.default_rng(seed).standard_normal((80, 2))
    points[40:50] = points[:10]  # equal points: exactly singular
    products = points @ points.T
    products = (products + products.T) / 2
    squares = np.diag(products)
    check_convex(sparse.csc_array((products + 1) ** degree))
    check_convex(sparse.csc_array(np.exp(-gamma * (squares[:, None] + squares[None] - 2 * products))))


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS, n=st.integers(2, 50), size=st.floats(1e-6, 1.0))
def test_a_negative_eigenvalue_is_found_and_its_direction_proves_it(seed: int, n: int, size: float) -> None:
    random = np.random.default_rng(seed)
    P = with_spectrum(np.r_[-size, random.uniform(0.0, 10.0, n - 1)], seed)
    direction = direction_of_negative_curvature(sparse.csc_array(P))
    assert direction is not None
    indices, vector = direction
    assert np.linalg.norm(vector) == pytest.approx(1.0)
    assert vector @ P[np.ix_(indices, indices)] @ vector < 0


def test_a_slightly_negative_eigenvalue_is_refused_with_its_size() -> None:
    values = np.r_[-1.3e-5, np.linspace(0.1, 100.0, 201)]
    P = with_spectrum(values, 1)
    error = refusal(P)
    assert "the curvature is -1.3e-05." in str(error)
    assert "(and 198 more variables)" in str(error)
    assert len(error.entry) == 4
    program = Program(P=P, assume_convex=True)
    assert program.n_variables == 202
    assert program.replace(q=np.ones(202)).q[0] == 1.0  # what was assumed once stays assumed
    with pytest.raises(NonConvexError):
        program.replace(P=P)


def test_an_eigenvalue_that_rounding_made_negative_passes() -> None:
    check_convex(sparse.csc_array(with_spectrum(np.r_[-1e-14, np.linspace(0.1, 1.0, 60)], 2)))


def tridiagonal(n: int) -> Any:
    off = -np.ones(n - 1)
    return sparse.diags_array([off, np.full(n, 2.0), off], offsets=[-1, 0, 1]).tolil()


def test_a_large_sparse_matrix_passes() -> None:
    P = tridiagonal(20_000).tocsc()
    check_convex(P)
    check_convex((P @ P).tocsc())  # not diagonally dominant: really factorised


def test_one_bad_block_in_a_large_sparse_matrix_is_named() -> None:
    P = tridiagonal(20_000)
    P[776, 777] = P[777, 776] = P[778, 779] = P[779, 778] = 0.0
    P[777, 778] = P[778, 777] = -2.5
    error = refusal(P.tocsc())
    assert error.entry == (777, 778)
    assert "along x[777] = 0.707, x[778] = 0.707 the curvature is -0.5." in str(error)


def test_a_bad_pair_inside_a_large_component_is_named_with_its_neighbours() -> None:
    P = tridiagonal(20_000)
    P[777, 777] = P[778, 778] = 0.5
    error = refusal(P.tocsc())
    assert {777, 778} <= set(error.entry) <= set(range(770, 786))


@pytest.mark.parametrize("square", [False, True])
def test_a_large_matrix_that_is_only_just_indefinite_is_refused_without_a_long_search(square: bool) -> None:
    # The smallest eigenvalue lies in a crowd near zero, where Lanczos steps alone take for ever.
    n = 20_000
    P = tridiagonal(n).tocsc()
    P = (P @ P if square else P) - 1e-6 * sparse.eye_array(n)
    error = refusal(P.tocsc())
    found = re.search(r"the curvature is (\S+)\. ", str(error))
    assert found is not None
    assert -1.1e-6 < float(found[1]) < 0


def test_a_large_dense_indefinite_matrix_is_refused() -> None:
    n = 1600
    factor = np.random.default_rng(0).standard_normal((n, 40))
    P = factor @ factor.T
    P = (P + P.T) / 2
    check_convex(sparse.csc_array(P))
    P[3, 4] += 30.0
    P[4, 3] += 30.0
    assert {3, 4} <= set(refusal(P).entry)


def test_huge_and_tiny_entries_are_judged_alike() -> None:
    for size in (1e308, 1e-308, 5e-324):
        check_convex(sparse.csc_array(np.full((2, 2), size)))
        assert refusal(np.array([[1.0, 1.0], [1.0, 0.0]]) * size).entry == (0, 1)


def test_a_matrix_with_nothing_in_it_makes_a_linear_program() -> None:
    assert Program(P=np.zeros((3, 3))).is_linear
    check_convex(sparse.csc_array((0, 0)))


@settings(max_examples=50, deadline=None)
@given(seed=SEEDS, n=st.integers(1, 12))
def test_the_verdict_is_that_of_the_eigenvalues(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    P = random.integers(-2, 3, (n, n)).astype(float)
    P = np.triu(P) + np.triu(P, 1).T + np.diag(random.integers(0, 2 * n, n)) * 1.0
    smallest = np.linalg.eigvalsh(P)[0]
    if abs(smallest) < 1e-8 and not np.array_equal(P, np.diag(np.diag(P))):
        return  # too near to call for the reference
    direction = direction_of_negative_curvature(sparse.csc_array(P))
    assert (direction is not None) == (smallest < 0)


def test_a_program_assumed_convex_is_still_certified_on_its_own() -> None:
    program = Program(P=np.diag([1.0, -1e-13]), q=[1, 0], lb=-1, ub=1, assume_convex=True)
    assert relift.lift(program).small.n_variables == 2


def test_explicit_zeros_do_not_lead_to_variables_without_curvature() -> None:
    indices = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    values = np.array([1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 0.0, 0.0])  # one component, if zeros count
    P = sparse.csc_array((values, indices, np.array([0, 3, 6, 9])), shape=(3, 3))
    assert direction_of_negative_curvature(P) is None
