"""Which solvers are asked before Clarabel for a quadratic program: PIQP or OSQP, by what factoring will cost.

Clarabel and PIQP factor in each of their ten to thirty iterations, OSQP once or a few times. Clarabel takes more time
for all that surrounds a factorisation, and factors by blocks of columns where factors are large; PIQP and OSQP factor
column by column. Hence:

- PIQP first where columns of the factor are short: it takes a third to two thirds of Clarabel's time, and solves some
  badly scaled programs at once on which Clarabel needs two or three attempts (UBH1, QSHARE1B);
- OSQP before it where factors fill up but no dense block has most of their entries, as on grids in two and three
  dimensions and along the links of a network of places: 90 ms where PIQP takes 206 and Clarabel 393. On programs that
  are nearly linear, or badly conditioned, it may need ten thousands of iterations, so it is asked only where most
  variables have a curvature of their own, and for no more iterations than cost a part of what Clarabel is predicted to
  need;
- Clarabel alone for small programs, for those whose factors have long columns and end in a dense block (random sparse
  rows, dense matrices), and for equalities without any bound, which it solves without an iteration.

Where Clarabel ends short of the tolerance, PIQP is asked before Clarabel in other units and with other settings.

If an answer does not pass its check, or not within the iterations that are granted, the next one is asked. What is
granted is counted in iterations, so that the choice does not depend on the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from relift.program.program import Program
from relift.solvers.predicted_fill import Fill, predicted_fill
from relift.solvers.registry import is_importable

FEWEST_ENTRIES = 2_000
"""Variables, rows and nonzeros together; smaller programs take Clarabel a moment, and the others longer to begin."""

LONGEST, LONGEST_SPREAD = 220.0, 400.0
"""Operations for each entry of the factor up to which PIQP is asked; from there on factoring by blocks is quicker. More
of them where these blocks are many small ones (see LEAST_SPREAD), as in power flow over the hours of a day."""

LONGEST_SECOND = 1_000.0
"""And up to which it is asked where Clarabel has ended short of the tolerance: asking that again, in other units and
with other settings, takes as long each time, and often does not help."""

PROXIMAL_ITERATIONS, FEWEST_PROXIMAL = 60, 20
"""What PIQP is granted, as it seldom takes more than 40; it is not asked where a time limit leaves fewer than 20."""

FEWEST_NODES, LEAST_FILL, LEAST_LENGTH, LEAST_SPREAD = 1_000, 4.0, 50.0, 4.0
"""When OSQP is asked: variables and rows, entries of the factor for each of the program, operations for each entry of
the factor, and how often its entries fill the dense block that would have as many operations for each (once for a dense
matrix, 1.1 to 1.4 times for random sparse ones, 6 times and more for grids)."""

LARGE_NODES, LARGE_FILL, LARGE_LENGTH, LARGE_OPERATIONS, LARGE_SPREAD = 8_000, 2.0, 100.0, 5e7, 1.3
"""And in large programs, where factors that end in a dense block are worth its while, too."""

INTERIOR_ITERATIONS = 15
"""Factorisations that an interior point method is predicted to need."""

SHARE = 0.35
"""The part of their cost that iterations of OSQP may have."""

FEWEST_ITERATIONS, FEWEST_OF_LARGE = 150, 300
"""So many OSQP may take in any case: where it is quick it needs 50 to 150, in large programs up to 300."""

SECONDS_PER_ENTRY, SECONDS_PER_OPERATION = 4.5e-8, 9e-10
"""What an iteration of PIQP takes at most, for entries of the program and its factor, and for operations: three times
what it took where this was measured. It cannot be stopped by time, so that this decides where there is a limit."""


@final
@dataclass(frozen=True)
class FirstTry:
    """A solver that is asked before the default one.

    Parameters
    ----------
    backend
        Its name.
    iterations
        How many it is granted.
    seconds
        What they take at most, for a solver that cannot be stopped by time; 0 for others.
    """

    backend: str
    iterations: int
    seconds: float = 0.0


def first_tries(program: Program) -> tuple[FirstTry, ...]:
    """The solvers that are asked before the default one, in this order; none for most programs that are no QPs.

    Parameters
    ----------
    program
        The program to solve.
    """
    entries = program.n_variables + program.n_rows + program.n_nonzeros
    if program.P is None or len(program.quadratic) or len(program.conic) or entries < FEWEST_ENTRIES:
        return ()
    has_first_order = is_importable("osqp") and np.count_nonzero(program.P.diagonal()) >= 0.5 * program.n_variables
    has_proximal = is_importable("piqp")
    if not (has_first_order or has_proximal) or not _has_inequality(program):
        return ()
    fill = predicted_fill(program)
    if fill is None or not fill.entries:
        return ()
    found = []
    if has_first_order and fill.is_whole and (iterations := _first_order_iterations(program, fill)):
        found.append(FirstTry("osqp", iterations))
    longest = LONGEST_SPREAD if fill.is_whole and _spread(fill) >= LEAST_SPREAD else LONGEST
    if has_proximal and fill.operations <= longest * fill.entries:
        found.append(_proximal(entries, fill))
    return tuple(found)


def second_tries(program: Program) -> tuple[FirstTry, ...]:
    """The solvers that are asked where the first answer of the default one does not pass, before that is asked again.

    Parameters
    ----------
    program
        The program to solve.
    """
    if program.P is None or len(program.quadratic) or len(program.conic):
        return ()
    if not is_importable("piqp") or not _has_inequality(program):
        return ()
    fill = predicted_fill(program)
    if fill is None or fill.operations > LONGEST_SECOND * fill.entries:
        return ()
    return (_proximal(program.n_variables + program.n_rows + program.n_nonzeros, fill),)


def _proximal(entries: int, fill: Fill) -> FirstTry:
    seconds = SECONDS_PER_ENTRY * (entries + fill.entries) + SECONDS_PER_OPERATION * fill.operations
    return FirstTry("piqp", PROXIMAL_ITERATIONS, PROXIMAL_ITERATIONS * seconds)


def _spread(fill: Fill) -> float:
    """How often the entries fill the dense block that has as many operations for each entry."""
    length = fill.operations / fill.entries  # a dense block of k columns has k²/2 entries and k³/3 operations
    return fill.entries / (1.125 * length * length)


def _has_inequality(program: Program) -> bool:
    """Whether there is a bound of a variable or a row that is no equality."""
    has_bound = np.isfinite(program.lb).any() or np.isfinite(program.ub).any()
    return bool(has_bound or np.any(program.l != program.u))


def _first_order_iterations(program: Program, fill: Fill) -> int:
    """How many iterations OSQP is granted; 0 if it is not to be asked."""
    size = program.n_variables + program.n_rows
    nonzeros = program.A.nnz + (0.0 if program.P is None else 0.5 * program.P.nnz) + size
    of_program, length, spread = fill.entries / nonzeros, fill.operations / fill.entries, _spread(fill)
    is_spread = size >= FEWEST_NODES and of_program >= LEAST_FILL and length >= LEAST_LENGTH and spread >= LEAST_SPREAD
    is_large = size >= LARGE_NODES and of_program >= LARGE_FILL and length >= LARGE_LENGTH
    is_large = is_large and fill.operations >= LARGE_OPERATIONS and spread >= LARGE_SPREAD
    if not (is_spread or is_large):
        return 0
    granted = int(SHARE * INTERIOR_ITERATIONS * length / 4.0)  # each passes the factor twice
    return max(FEWEST_OF_LARGE if is_large else FEWEST_ITERATIONS, granted)
