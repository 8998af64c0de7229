"""Orbits are those of all renamings that keep the program, tried one by one on tiny programs."""

from __future__ import annotations

import builtins
from fractions import Fraction
from importlib.util import find_spec
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import relift
from relift.errors import MissingPackageError
from relift.program.program import Program
from relift.symmetry.partition import Partition

SEEDS = st.integers(0, 10**6)


needs_igraph = pytest.mark.skipif(find_spec("igraph") is None, reason="orbits need igraph")


def row_as_written(entries: Any, l: float, u: float, scaled: bool) -> tuple[Any, ...]:
    """A row as something that can be compared; divided by its sum when rows are compared up to a factor."""
    exact = [Fraction(repr(float(v))) for v in entries]
    total = sum(exact) if scaled else Fraction(1)
    bounds = [b / float(total) if np.isinf(b) else Fraction(repr(float(b))) / total for b in (l, u)]
    return (*(v / total for v in exact), *(bounds if total > 0 else bounds[::-1]))


def orbits_by_trying(program: Program, scaled: bool = False) -> tuple[Partition, Partition]:
    """Orbits of variables and rows under all renamings of variables that keep everything."""
    n, m = program.n_variables, program.n_rows
    P = np.zeros((n, n)) if program.P is None else program.P.toarray()
    A = program.A.toarray()
    written = [row_as_written(A[i], program.l[i], program.u[i], scaled) for i in range(m)]
    images, row_images = np.arange(n), np.arange(m)
    for order in map(list, permutations(range(n))):
        moved = [row_as_written(A[i, order], program.l[i], program.u[i], scaled) for i in range(m)]
        keeps = np.array_equal(P[np.ix_(order, order)], P) and sorted(moved) == sorted(written)
        if keeps and all(np.array_equal(v[order], v) for v in (program.q, program.lb, program.ub)):
            images = np.minimum(images, images[order])
            row_images = np.minimum(row_images, [min(k for k in range(m) if written[k] == row) for row in moved])
    # The renamings form a group, so the smallest image of each thing is the smallest member of its orbit.
    return Partition.from_labels(images), Partition.from_labels(row_images)


def tiny_program(seed: int, quadratic: bool, n_values: int) -> Program:
    """A program on at most five variables in which renamings are not rare."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 6)), int(random.integers(1, 6))
    values = np.array([1.0, 0.1, -2.0])[:n_values]
    shape = random.choice(["any", "cyclic", "blocks"])
    A = random.choice(values, (m, n)) * (random.random((m, n)) < 0.5)
    if shape == "cyclic":
        first = random.choice(values, n) * (random.random(n) < 0.6)
        A = np.array([np.roll(first, k) for k in range(n)])
    elif shape == "blocks":
        block = random.choice(values, (2, 2)) * (random.random((2, 2)) < 0.7)
        A = np.kron(np.eye(n // 2 + 1), block)[:, :n]
    A[np.all(A == 0, axis=1), 0] = 1.0
    P = None
    if quadratic:
        P = np.roll(np.eye(n), 1, axis=0)
        if shape == "any":
            P = random.choice(values, (n, n)) * (random.random((n, n)) < 0.4)
        P = np.triu(P + P.T, 1)
        P = P + P.T + 20 * np.eye(n)
    q = np.ones(n) if random.random() < 0.7 else random.integers(0, 2, n).astype(float)
    u = np.full(len(A), 3.0)
    u[random.random(len(A)) < 0.1] = np.inf
    return Program(P=P, q=q, A=sparse.csr_array(A), l=-5.0, u=u, lb=0, ub=9)


@needs_igraph
@settings(max_examples=120, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans(), n_values=st.integers(1, 3))
def test_orbits_are_those_found_by_trying_every_renaming(seed: int, quadratic: bool, n_values: int) -> None:
    program = tiny_program(seed, quadratic, n_values)
    lifting = relift.lift(program, lift="orbits", reduce=False, scale_rows=False)
    variables, rows = orbits_by_trying(program)
    assert lifting.variables == variables
    assert lifting.rows == rows


@needs_igraph
@settings(max_examples=80, deadline=None)
@given(seed=SEEDS, quadratic=st.booleans())
def test_orbits_are_found_when_rows_are_multiplied_by_factors(seed: int, quadratic: bool) -> None:
    program = tiny_program(seed, quadratic, 2)  # entries 1 and .1: no row sums up to nothing
    factors = np.random.default_rng(seed).choice([1.0, 2.0, -4.0, 0.5], program.n_rows)
    l, u = np.sort([program.l * factors, program.u * factors], axis=0)
    scaled = program.replace(A=sparse.diags_array(factors) @ program.A, l=l, u=u)
    lifting = relift.lift(scaled, lift="orbits", reduce=False)
    variables, rows = orbits_by_trying(scaled, scaled=True)
    assert lifting.variables == variables
    assert lifting.rows == rows
    assert (variables, rows) == orbits_by_trying(program, scaled=True)


@needs_igraph
def test_weights_on_the_edges_of_a_ring_part_its_orbits() -> None:
    def ring(weights: list[float]) -> Program:
        n = len(weights)
        A = np.zeros((n, n))
        for i, weight in enumerate(weights):
            A[i, i] = A[i, (i + 1) % n] = weight
        return Program(q=np.ones(n), A=A, u=4.0, lb=0)

    def labels(weights: list[float]) -> list[int]:
        return relift.lift(ring(weights), lift="orbits", scale_rows=False).variables.labels.tolist()

    assert labels([1, 1, 1, 1, 1, 1]) == [0] * 6
    assert labels([1, 2, 1, 2, 1, 2]) == [0] * 6
    assert labels([1, 1, 2, 1, 1, 2]) == [0, 1, 0, 0, 1, 0]
    assert labels([1, 2, 3, 1, 2, 3]) == [0, 1, 2, 0, 1, 2]
    assert labels([1, 1, 1, 1, 1, 2]) == [0, 1, 2, 2, 1, 0]


@needs_igraph
def test_orbits_tell_apart_what_counting_does_not() -> None:
    # Two triangles and a hexagon: all vertices have two neighbours, but no renaming moves one into the other.
    ring = np.roll(np.eye(3), 1, axis=0)
    hexagon = np.roll(np.eye(6), 1, axis=0)
    step = sparse.block_diag([ring, ring, hexagon])
    program = Program(P=step + step.T + 2 * sparse.eye_array(12), q=np.ones(12), lb=0)
    assert relift.lift(program, lift="counting").variables.n_classes == 1
    assert relift.lift(program, lift="orbits").variables.labels.tolist() == [0] * 6 + [1] * 6


@needs_igraph
def test_a_program_without_company_needs_no_search() -> None:
    program = Program(q=[1, 2, 3], A=[[1, 1, 1]], l=[1], lb=0)
    assert relift.lift(program, lift="orbits").variables.is_discrete


def test_without_igraph_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name == "igraph":
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingPackageError, match="orbits need the package igraph"):
        relift.lift(Program(q=[1, 1], A=[[1, 1]], u=[1], lb=0), lift="orbits")
