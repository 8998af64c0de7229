"""A look at masses says that they gain little only where the search with them does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.program.cones import SecondOrder
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.settings import LiftSettings
from relift.symmetry import scaled_search
from relift.symmetry.colour_refinement import core_is_compiled
from relift.symmetry.exact_vectors import VectorImages
from relift.symmetry.masses import masses_of
from relift.symmetry.partition import Partition
from relift.symmetry.scaled_cones import ScaledCones, intervals_of
from relift.symmetry.told_apart import kinds_in_floats

pytestmark = pytest.mark.skipif(not core_is_compiled(), reason="the look at masses is compiled only")
SEEDS = st.integers(0, 2**32 - 1)


def plants(size: np.ndarray, price: np.ndarray, form: str = "csr") -> Program:
    """Plants that meet one need each and all together another one; their sizes and their prices are given."""
    n = size.size
    own = sparse.hstack([sparse.eye_array(n), sparse.eye_array(n)])  # output and what is bought
    A = sparse.vstack([own, np.r_[np.ones(n), np.zeros(n)][None, :]], format=form)
    return Program(
        q=np.r_[price, 2 * price], A=A, l=np.r_[0.75 * size, 0.25 * size.sum()], lb=0, ub=np.r_[size, 4 * size]
    )


def speak(program: Program) -> tuple[bool, bool]:
    """By exact masses, and by masses in floats."""
    vectors, n, m = VectorImages.of(program, "decimal"), program.n_variables, program.n_rows
    alone = Partition.discrete(n), Partition.discrete(m)
    exact = masses_of(program, *intervals_of(program, vectors), vectors.q, *alone, looks=True)
    kinds = kinds_in_floats(program, vectors, LiftSettings(), masses=True, may_stay=0.02, looks=True)
    assert kinds is not None
    return exact is not None, not kinds.masses_are_idle


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_things_of_one_kind_and_many_sizes_speak_for_masses(form: str) -> None:
    size = np.random.default_rng(1).integers(10, 90, 300) / 8.0
    program = plants(size, np.ones(300), form)
    assert speak(program) == (True, True)
    assert relift.lift(program).small.n_variables == 2


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_things_that_are_all_of_their_own_kind_do_not(form: str) -> None:
    random = np.random.default_rng(2)
    A = sparse.random_array((200, 400), density=0.02, rng=random, format=form)
    program = Program(q=random.uniform(1, 2, 400), A=A, l=random.uniform(1, 2, 200), lb=0, ub=random.uniform(1, 9, 400))
    assert speak(program) == (False, False)


def test_prices_that_curvature_tells_are_looked_at() -> None:
    """Without costs all entries would be alike."""
    random, n = np.random.default_rng(3), 400
    A = sparse.random_array((200, n), density=0.02, rng=random, format="csr")
    P = sparse.diags_array(random.uniform(1, 2, n))
    assert speak(Program(P, np.zeros(n), A, l=-1.0, u=1.0, lb=-5, ub=5)) == (False, False)


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_the_look_says_the_same_of_a_matrix_by_rows_and_by_columns(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 60)), int(random.choice([1, 7, 500]))
    A = sparse.random_array((m, n), density=0.2, rng=random, format="csr")
    A.data = random.choice([1.0, -1.0, 2.0, 0.0], A.nnz)
    size, q = random.choice([3.5, 4.5], n), random.choice([1.0, 2.0, 0.0], n)
    program = Program(q=q, A=A, l=random.integers(0, 3, m), lb=0, ub=size)
    assert speak(program) == speak(program.replace(A=A.tocsc()))


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_what_masses_put_together_is_found_in_programs_that_are_not_small(seed: int) -> None:
    """Copies of a few random programs, each with a size, beside a share of others; shuffled, in other units."""
    random = np.random.default_rng(seed)
    n0, m0, copies, kinds = int(random.integers(2, 6)), int(random.integers(2, 5)), 400, int(random.integers(1, 4))
    size, unit = random.integers(8, 99, copies) / 8.0, 2.0 ** random.integers(-2, 3, (copies, n0))
    which = random.integers(kinds, size=copies)
    blocks = random.integers(1, 9, (kinds, m0, n0)) * random.choice([1.0, -1.0], (kinds, m0, n0))
    cost, side, bound = (
        random.integers(1, 9, (kinds, n0)),
        random.integers(1, 9, (kinds, m0)),
        random.integers(1, 9, (kinds, n0)),
    )
    factor = np.where(random.random(copies) < random.choice([0.0, 0.5]), random.uniform(1, 2, copies), 1.0)
    A = sparse.block_diag([blocks[k] * factor[i] ** np.arange(1, n0 + 1) * unit[i] for i, k in enumerate(which)])
    link = (cost[which] * unit).reshape(1, -1)
    q, ub = (cost[which] * unit).ravel(), (bound[which] * size[:, None] / unit).ravel()
    order = random.permutation(q.size)
    A = sparse.csr_array(sparse.vstack([A, link]))[:, order]
    u = np.r_[(side[which] * size[:, None]).ravel(), np.inf]
    l = np.r_[np.full(u.size - 1, -np.inf), 0.125 * float((link.ravel() * ub).sum())]
    program = Program(q=q[order], A=A if seed % 2 else A.tocsc(), l=l, u=u, lb=0, ub=ub[order])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaled_search, "SMALL", 500)
        here = relift.lift(program).small
        patch.setattr(scaled_search, "masses_of", lambda *given, looks, **options: masses_of(*given, **options))
        patch.setattr(
            scaled_search, "kinds_in_floats", lambda *given, looks, **options: kinds_in_floats(*given, **options)
        )
        there = relift.lift(program).small
    assert here.n_variables <= 1.1 * there.n_variables
    assert here.n_rows <= 1.1 * there.n_rows


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("n_rows", [1, 3])
def test_things_of_many_sizes_are_seen_in_a_few_long_rows_among_many(form: str, n_rows: int) -> None:
    """The long rows come last, below thousands in which all is apart."""
    random, m, n, count = np.random.default_rng(5), 3000, 600, 3000
    lengths = random.integers(2, 6, m)
    rows, columns = np.repeat(np.arange(m), lengths), random.integers(n, size=lengths.sum())
    net = sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(m, n))
    net.data[:] = 1.0
    A = sparse.block_diag([net] + [np.ones((1, count))] * n_rows, format=form)
    size = random.gamma(2, size=(n_rows, count)).round(2) + 0.1
    l, ub = np.r_[np.ones(m), size.sum(axis=1) / 2], np.r_[np.ones(n), size.ravel()]
    program = Program(q=np.ones(n + n_rows * count), A=A, l=l, lb=0, ub=ub)
    assert speak(program) == (True, True)
    assert relift.lift(program).small.n_variables <= n + n_rows


def test_a_column_that_things_of_many_sizes_share_does_not_hide_them() -> None:
    """Each thing has its share of what is built, which is dearer for those that need less of it."""
    random, n = np.random.default_rng(6), 400
    size = random.integers(10, 90, n) / 8.0
    shares = sparse.hstack([sparse.eye_array(n), -size[:, None]])
    A = sparse.csr_array(sparse.vstack([shares, np.r_[np.ones(n), 0.0][None, :]]))
    low, high = np.r_[np.full(n, -np.inf), size.sum() / 4], np.r_[np.zeros(n), np.inf]
    program = Program(q=np.r_[np.ones(n), 30.0], A=A, l=low, u=high, lb=0, ub=np.r_[size, 1.0])
    assert speak(program) == (True, True)


def test_rows_of_a_cone_are_of_one_kind_if_their_cones_are() -> None:
    """Each cone has a row of one entry, which is alike in all; the others are not."""
    random, n, cones = np.random.default_rng(4), 40, 60
    rows = []
    for k in range(cones):
        head = sparse.csr_array(([-1.0], ([0], [n + k])), shape=(1, n + cones))
        tail = sparse.hstack([sparse.csr_array(random.uniform(1, 2, (3, n))), sparse.csr_array((3, cones))])
        rows += [head, tail]
    A, b = sparse.csr_array(sparse.vstack(rows)), random.uniform(-1, 1, 4 * cones)
    b[::4] = 0
    conic = ConicRows(A, b, [SecondOrder(4)] * cones)
    program = Program(q=np.r_[np.zeros(n), random.uniform(1, 2, cones)], lb=-9.0, ub=9.0, conic=conic)
    vectors = VectorImages.of(program, "decimal")
    scaled = ScaledCones.of(program, vectors, LiftSettings())
    kinds = kinds_in_floats(
        scaled.stacked.program, scaled.vectors(vectors), LiftSettings(), masses=True, may_stay=0.02, looks=True,
        conic=scaled.told,
    )  # fmt: skip
    assert kinds is not None
    assert kinds.masses_are_idle
