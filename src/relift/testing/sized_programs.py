"""Random programs of things of a few kinds and many sizes, coupled by shared rows: planted classes up to size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import sparse

from relift.arrays import Labels, Matrix, Vector
from relift.program.program import Program

SIZES = (1.0, 2.0, 4.0, 5.0, 8.0, 10.0, 0.5, 2.5)
"""Sizes whose inverses are short decimals."""


@final
@dataclass(frozen=True, eq=False)
class SizedProgram:
    """A program with classes up to size that are known.

    Parameters
    ----------
    program
        Feasible and bounded.
    variable_labels, row_labels
        Classes by construction: the same part of things of one kind, and shared parts for themselves.
    """

    program: Program
    variable_labels: Labels
    row_labels: Labels


@final
@dataclass(frozen=True, eq=False)
class _Kind:
    """A thing of the size 1: rows of its own, entries in shared rows, curvature, costs, bounds, a point."""

    A: Matrix
    shared: Matrix
    P: Matrix
    q: Vector
    lb: Vector
    ub: Vector
    point: Vector
    l: Vector
    u: Vector


def sized_program(
    seed: int,
    *,
    kinds: int = 2,
    members: int = 4,
    parts: int = 3,
    own_rows: int = 2,
    shared_rows: int = 2,
    shared_variables: int = 1,
    quadratic: bool = False,
    sizes: tuple[float, ...] = SIZES,
) -> SizedProgram:
    """Things of some kinds, each kind in several sizes, that share rows and some variables.

    A thing of size s has bounds and right-hand sides s times those of its kind, equal costs and coefficients, and 1/s
    times the curvature.

    Parameters
    ----------
    seed
        Of the random numbers.
    kinds, members
        How many kinds, and how many things of each.
    parts, own_rows
        Variables and rows of a thing.
    shared_rows, shared_variables
        Rows over all things, and variables that belong to none.
    quadratic
        Whether things have curvature.
    sizes
        Which sizes.

    Examples
    --------
    >>> planted = sized_program(0, kinds=1, members=3)
    >>> planted.variable_labels.tolist()
    [0, 1, 2, 0, 1, 2, 0, 1, 2, 3]
    """
    random = np.random.default_rng(seed)
    made = [_kind(random, parts, own_rows, shared_rows, quadratic) for _ in range(kinds)]
    things = [(kind, size) for kind in range(kinds) for size in random.choice(sizes, members)]
    A = sparse.block_diag([sparse.coo_array(made[kind].A) for kind, _ in things])
    coupling = np.hstack([made[kind].shared for kind, _ in things])
    beside = random.choice([-1.0, 1.0, 2.0, 0.0], (shared_rows, shared_variables))
    A = sparse.block_array([[A, None], [sparse.coo_array(coupling), sparse.coo_array(beside)]]) if shared_rows else A
    q = np.concatenate([made[kind].q for kind, _ in things])
    point, lb, ub, l, u = (
        np.concatenate([getattr(made[kind], name) * size for kind, size in things])
        for name in ("point", "lb", "ub", "l", "u")
    )
    if shared_rows:
        level = random.choice([0.0, 0.5, 1.0], shared_variables)
        q = np.append(q, random.choice([0.3, 0.7, 1.0, 2.0], shared_variables))
        point = np.append(point, level)
        lb, ub = np.append(lb, np.zeros(shared_variables)), np.append(ub, np.full(shared_variables, 50.0))
        activity = (coupling @ point[: coupling.shape[1]] + beside @ level).round(9)
        kind = random.integers(0, 3, shared_rows)
        l = np.append(l, np.where(kind == 0, -np.inf, activity))
        u = np.append(u, np.where(kind == 1, np.inf, activity))
    P = None
    if quadratic:
        blocks = [sparse.coo_array(made[kind].P / size) for kind, size in things]
        none = sparse.coo_array((shared_variables, shared_variables))
        P = sparse.block_diag([*blocks, none] if shared_rows else blocks)
        P = P.tocsc()
        P.eliminate_zeros()
    labels = np.concatenate([kind * parts + np.arange(parts) for kind, _ in things])
    row_labels = np.concatenate([kind * own_rows + np.arange(own_rows) for kind, _ in things])
    if shared_rows:
        labels = np.append(labels, kinds * parts + np.arange(shared_variables))
        row_labels = np.append(row_labels, kinds * own_rows + np.arange(shared_rows))
    program = Program(P=P, q=q, A=A.tocsr(), l=l, u=u, lb=lb, ub=ub)
    return SizedProgram(program, labels, row_labels)


def _kind(random: np.random.Generator, parts: int, own_rows: int, shared_rows: int, quadratic: bool) -> _Kind:
    A = random.choice([1.0, 1.0, 2.0, -1.0, 0.5], (own_rows, parts)) * (random.random((own_rows, parts)) < 0.8)
    shared = random.choice([1.0, 1.0, 0.5, 2.0], (shared_rows, parts)) * (random.random((shared_rows, parts)) < 0.5)
    point = random.choice([0.0, 0.5, 1.0], parts)
    lb = random.choice([0.0, 0.0, -1.0], parts)
    ub = random.choice([1.0, 1.5, 3.0], parts)
    q = random.choice([0.0, 0.5, 1.0, 1.5, -0.25], parts)
    # Some cost reaches every part: prices are what sizes of things without a common price are told from.
    q[:1] = 0.75
    A[:1] = np.where(A[:1] == 0, 1.0, A[:1])
    if own_rows == 0:
        q = np.where(q == 0, 1.25, q)
    activity = (A @ point).round(9)
    kind = random.integers(0, 3, own_rows)
    l = np.where(kind == 0, -np.inf, activity)
    u = np.where(kind == 1, np.inf, activity)
    P = np.zeros((parts, parts))
    if quadratic:
        factor = random.choice([0.0, 1.0, -1.0, 0.5], (parts, parts))
        P = (factor @ factor.T).round(9)
    return _Kind(A, shared, P, q, lb, ub, point, l, u)
