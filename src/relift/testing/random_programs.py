"""Random programs with known symmetry, for property-based tests; seeded, so that a failure can be repeated.

A *symmetric* program starts from a small one: every variable and row of it becomes a class, every entry a block with
constant row and column sums (a mixture of permutation matrices), then rows and columns are shuffled. Feasibility is
built in: bounds are put around a known point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from relift.arrays import Labels, Matrix, Vector
from relift.program.program import Program

SHORT_NUMBERS = np.array([-3.0, -2.0, -1.0, -0.5, -0.1, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.0, 1.0, 2.0, 3.0, 0.25])
"""Coefficients as people write them; .1 + .2 = .3 must hold among them."""


@final
@dataclass(frozen=True, eq=False)
class SymmetricProgram:
    """A program with an equitable partition that is known, though not always the coarsest.

    Parameters
    ----------
    program
        The program.
    variable_labels, row_labels
        A partition that is equitable by construction.
    point
        A feasible point.
    """

    program: Program
    variable_labels: NDArray[np.int64]
    row_labels: NDArray[np.int64]
    point: NDArray[np.float64]


def symmetric_program(
    seed: int,
    *,
    quadratic: bool = False,
    copies: int = 4,
    n_classes: int = 4,
    m_classes: int = 3,
    scaled_rows: bool = False,
    disguised: bool = False,
) -> SymmetricProgram:
    """A feasible, bounded program in which each class has as many members as there are copies.

    Parameters
    ----------
    seed
        Of the random numbers.
    quadratic
        Whether to add a quadratic part, positive semidefinite by construction.
    copies, n_classes, m_classes
        Members of each class, classes of variables, classes of rows.
    scaled_rows
        Multiply rows by random factors, negative ones too.
    disguised
        Add fixed variables, rows with one entry, duplicate rows and empty rows.
    """
    random = np.random.default_rng(seed)
    base = random.choice(SHORT_NUMBERS, (m_classes, n_classes)) * (random.random((m_classes, n_classes)) < 0.7)
    A = _blown_up(base, copies, random)
    variable_labels, row_labels = (
        np.repeat(np.arange(n_classes), copies),
        np.repeat(np.arange(m_classes), copies),
    )
    centre = random.choice([-1.0, 0.0, 0.5, 1.0, 2.0], n_classes)
    point = centre[variable_labels]
    lb = (centre - random.choice([0.0, 0.5, 1.0, 3.0], n_classes))[variable_labels]
    ub = (centre + random.choice([0.5, 1.0, 3.0], n_classes))[variable_labels]
    activity = np.array([float(base[i] @ centre) for i in range(m_classes)])
    kind = random.integers(0, 4, m_classes)
    slack = random.choice([0.25, 0.5, 1.0], m_classes)
    l = np.where(kind == 1, -np.inf, np.where(kind == 3, activity, activity - slack)).round(9)[row_labels]
    u = np.where(kind == 2, np.inf, np.where(kind == 3, activity, activity + slack)).round(9)[row_labels]
    q = random.choice(SHORT_NUMBERS, n_classes)[variable_labels]
    P = None
    if quadratic:
        rank = int(random.integers(1, n_classes + 1))
        factor = _blown_up(random.integers(-1, 2, (rank, n_classes)).astype(float), copies, random)
        P = factor.T @ factor + np.diag(random.choice([0.0, 0.5, 1.0], n_classes)[variable_labels])
        P = ((P + P.T) / 2).round(9)  # short decimals again: the symmetry is in the numbers, not in their rounding
    if scaled_rows:
        factors = random.choice([-2.0, -1.0, 0.5, 1.0, 4.0], l.size)
        A = A * factors[:, None]
        l, u = np.where(factors > 0, l, u) * factors, np.where(factors > 0, u, l) * factors
    if disguised:
        A, P, q, l, u, lb, ub, point, variable_labels, row_labels = _disguised(
            A, P, q, l, u, lb, ub, point, variable_labels, row_labels, random
        )
    columns, rows = random.permutation(q.size), random.permutation(l.size)
    program = Program(
        P=None if P is None else sparse.csc_array(P[np.ix_(columns, columns)]),
        q=q[columns],
        A=(sparse.csc_array if random.random() < 0.5 else sparse.csr_array)(A[np.ix_(rows, columns)]),
        l=l[rows],
        u=u[rows],
        lb=lb[columns],
        ub=ub[columns],
        r=float(random.choice([0.0, 3.5])),
    )
    return SymmetricProgram(program, variable_labels[columns], row_labels[rows], point[columns])


def random_program(seed: int, *, quadratic: bool = False, n: int = 8, m: int = 6) -> Program:
    """A feasible, bounded program without any symmetry on purpose."""
    random = np.random.default_rng(seed)
    A = np.where(random.random((m, n)) < 0.6, random.standard_normal((m, n)).round(3), 0.0)
    point = random.standard_normal(n).round(2)
    l, u = A @ point - random.random(m), A @ point + random.random(m)
    P = None
    if quadratic:
        factor = random.standard_normal((int(random.integers(1, n + 1)), n)).round(2)
        P = factor.T @ factor
        P = (P + P.T) / 2
    return Program(P, random.standard_normal(n).round(3), A, l, u, point - 2, point + 2)


def _blown_up(base: NDArray[np.float64], copies: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Each entry becomes a block with that row and column sum: one permutation, or the entry in two or three parts."""
    blocks = [[_block(entry, copies, random) for entry in row] for row in base]
    return np.block(blocks) if base.size else np.zeros((base.shape[0] * copies, base.shape[1] * copies))


def _block(entry: float, copies: int, random: np.random.Generator) -> NDArray[np.float64]:
    block = np.zeros((copies, copies))
    if entry == 0:
        return block
    parts = [entry]
    if copies > 1 and random.random() < 0.5:  # the parts add up exactly as decimals, seldom as floats
        part = float(random.choice([0.1, 0.2, 0.3, 0.7, 1.0]))
        parts = [part, float(np.round(entry - part, 9))]
    for part, shift in zip(parts, random.permutation(copies), strict=False):  # no overlap: no float sum enters the data
        block[np.arange(copies), (np.arange(copies) + shift) % copies] = part
    order = random.permutation(copies)
    return block[order][:, random.permutation(copies)]


def _disguised(
    A: Matrix,
    P: Matrix | None,
    q: Vector,
    l: Vector,
    u: Vector,
    lb: Vector,
    ub: Vector,
    point: Vector,
    variables: Labels,
    rows: Labels,
    random: np.random.Generator,
) -> tuple[Matrix, Matrix | None, Vector, Vector, Vector, Vector, Vector, Vector, Labels, Labels]:
    """Hide the symmetry behind fixed variables that touch some rows, singleton rows, duplicates and empty rows."""
    n, m = q.size, l.size
    n_fixed = 2
    values = random.choice([0.1, 1.0, -0.7], n_fixed)
    touch = random.choice([0.0, 0.1, 0.2, 1.0], (m, n_fixed))
    shift = touch @ values
    A = np.hstack([A, touch])
    l, u = (l + shift).round(9), (u + shift).round(9)
    if P is not None:
        P = np.block([[P, np.zeros((n, n_fixed))], [np.zeros((n_fixed, n)), np.eye(n_fixed)]])
    q = np.concatenate([q, random.choice(SHORT_NUMBERS, n_fixed)])
    lb, ub = np.concatenate([lb, values[:1], [-np.inf]]), np.concatenate([ub, values[:1], [np.inf]])
    point = np.concatenate([point, values])
    extra, extra_l, extra_u = [], [], []
    fixing = np.zeros(n + n_fixed)  # the second fixed variable is fixed by a row
    fixing[-1] = -2.0
    extra.append(fixing)
    extra_l.append(-2.0 * values[-1])
    extra_u.append(-2.0 * values[-1])
    single = np.zeros(n + n_fixed)
    j = int(random.integers(n))
    single[j] = 0.5
    extra.append(single)
    extra_l.append(0.5 * point[j] - 0.25)
    extra_u.append(0.5 * point[j])
    if m:
        i, factor = int(random.integers(m)), float(random.choice([-1.0, 2.0, 1.0]))
        extra.append(A[i] * factor)
        bounds = sorted([l[i] * factor, u[i] * factor])
        extra_l.append(bounds[0])
        extra_u.append(bounds[1])
    extra.append(np.zeros(n + n_fixed))
    extra_l.append(-1.0)
    extra_u.append(0.0)
    variables = np.concatenate([variables, variables.max(initial=-1) + 1 + np.arange(n_fixed)])
    rows = np.concatenate([rows, rows.max(initial=-1) + 1 + np.arange(len(extra))])
    l, u = np.concatenate([l, extra_l]), np.concatenate([u, extra_u])
    return np.vstack([A, *extra]), P, q, l, u, lb, ub, point, variables, rows
