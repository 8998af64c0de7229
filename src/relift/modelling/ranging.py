"""Sensitivity of linear models: how far a cost or a side of a row can change while an optimal basis stays optimal.

HiGHS solves the original program and reports the ranges of the basis in which it ends. Each cost and each side changes
alone. Where several points are optimal, that basis belongs to one of them, which need not be the answer that relift
gives: lifting gives equal values to what it cannot tell apart, and that is rarely a vertex.

What the lifted program can tell is another thing: ranges for all members of a class *together*. If every cost of a
class changes by the same amount, or every side of a class of rows, the classes stay equitable, so the optimum of the
original program is that of the lifted one along the whole way, and its ranges are exact. For one member of a class of k
they say nothing but an outer bound: a point that is equal on the class and optimal for a change d of one member is
optimal for d/k of all, because averaging over the classes keeps points feasible; the other direction fails, since
another point may gain from the one member. Hence one member alone is ranged on the original program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from relift.arrays import Vector
from relift.errors import BackendError, OptionError
from relift.grounding.atoms import AtomIndex
from relift.modelling.model_answer import block_of
from relift.modelling.result_table import ResultTable
from relift.pipeline import lift
from relift.program.program import Program
from relift.program.solution import Status
from relift.settings import SolverSettings
from relift.solvers import highs_

if TYPE_CHECKING:
    from relift.modelling.model_result import ModelResult


@final
@dataclass(frozen=True, eq=False)
class Ranging:
    """Ranges in which an optimal basis stays optimal.

    Parameters
    ----------
    costs
        For each variable: keys, ``value`` in that basis, ``cost``, ``cost_from`` and ``cost_to``.
    sides
        For each constraint: keys, ``activity``, ``dual``, ``lower`` and ``upper``, each of these with ``_from`` and
        ``_to``.
    is_together
        Whether all members of a class change together, by the same amount; the tables then have a column ``members``,
        the size of the class, and within its range a cost that changes by d changes the objective by d * members *
        value.
    """

    costs: Mapping[str, ResultTable]
    sides: Mapping[str, ResultTable]
    is_together: bool = False

    def __getitem__(self, name: str) -> ResultTable:
        """The ranges of a variable or of a constraint."""
        for tables in (self.costs, self.sides):
            if name in tables:
                return tables[name]
        raise OptionError(f"there is no variable or constraint {name!r}.", f"Expected one of: {self._names()}.")

    def _names(self) -> str:
        return ", ".join([*self.costs, *self.sides])

    def __repr__(self) -> str:
        return f"Ranging({self._names()}{', classes together' if self.is_together else ''})"


def ranging(answer: ModelResult, together: bool = False) -> Ranging:
    """The ranges of an answer; see `ModelResult.ranging`.

    Parameters
    ----------
    answer
        The answer.
    together
        Let all members of a class change together, and solve the lifted program alone.

    Raises
    ------
    OptionError
        If the model is not linear, or has no optimum.
    BackendError
        If HiGHS does not find the ranges.
    """
    program = answer.result.program
    if not program.is_linear or len(program.conic) or len(program.quadratic):
        raise OptionError("ranging() is for linear models.", "This one has quadratic terms or cones.")
    if answer.status != Status.OPTIMAL:
        raise OptionError(f"there is nothing to range: the model is {str(answer.status).replace('_', ' ')}.")
    columns, rows = _ranges_of_classes(program) if together else _ranges(program)
    atoms, index = answer.grounded.atoms, answer.grounded.rows
    return Ranging(
        {name: _table(atoms, name, "variable", columns) for name in answer.variables},
        {name: _table(index, name, "constraint", rows) for name in answer.constraints},
        together,
    )


def _table(index: AtomIndex, name: str, kind: str, columns: Mapping[str, Vector]) -> ResultTable:
    (block, *others) = block_of(index, name, kind)
    if others:  # the halves of a range
        raise OptionError(f"ranging() does not tell the halves of {name!r} apart.", "Write it as two constraints.")
    keys = dict(index.table(block.label))
    return ResultTable({**keys, **{k: v[block.start : block.stop] for k, v in columns.items()}}, len(keys))


def _ranges_of_classes(program: Program) -> tuple[dict[str, Vector], dict[str, Vector]]:
    """The same where all members of a class change together: columns of the lifted program, one entry for each member.

    Its variables are the common values, its rows one of each class, its costs the sums over the classes: a change of
    all costs of a class of k by d is one of k * d there.
    """
    lifting = lift(program, reduce=False, scale_rows=False, sizes=False, signs=False)
    if lifting.kept_variables.size < program.n_variables or lifting.kept_rows.size < program.n_rows:
        raise OptionError("ranging(together=True) has no class for some variables or rows.", "Leave the option out.")
    variables, rows = lifting.variables, lifting.rows
    one, one_row, sums = variables.representatives, rows.representatives, variables.indicator
    small = Program(
        q=program.q @ sums,
        A=(program.A.tocsr()[one_row] @ sums).tocsc(),
        l=program.l[one_row],
        u=program.u[one_row],
        lb=program.lb[one],
        ub=program.ub[one],
        sense=program.sense,
    )
    costs, sides = _ranges(small)
    for key in ("cost", "cost_from", "cost_to"):
        costs[key] = costs[key] / variables.class_sizes
    sides["dual"] = sides["dual"] / rows.class_sizes
    costs = {"members": variables.class_sizes.astype(np.float64), **costs}
    sides = {"members": rows.class_sizes.astype(np.float64), **sides}
    return (
        {key: column[variables.labels] for key, column in costs.items()},
        {key: column[rows.labels] for key, column in sides.items()},
    )


def _ranges(program: Program) -> tuple[dict[str, Vector], dict[str, Vector]]:
    """Columns for variables and for rows, in the sense of the program."""
    sign = -1.0 if program.sense == "max" else 1.0
    highs = highs_.load(program.minimisation(), SolverSettings())
    if (status := highs_.run(highs)) != "kOptimal":
        raise BackendError(f"HiGHS does not solve the original program: {status}.", "Ranges are those of its basis.")
    code, found = highs.getRanging()  # type: ignore[attr-defined]
    if "Ok" not in str(code) or not found.valid:
        raise BackendError("HiGHS does not give ranges for this program.")
    point, basis = highs.getSolution(), highs.getBasis()
    n, m = program.n_variables, program.n_rows
    least, most = (np.asarray(part.value_)[:n] for part in (found.col_cost_dn, found.col_cost_up))
    ends = (least, most) if sign > 0 else (-most, -least)
    columns = {"value": np.asarray(point.col_value)[:n], "cost": program.q, "cost_from": ends[0], "cost_to": ends[1]}
    activity = np.asarray(point.row_value)[:m]
    below, above = (np.asarray(part.value_)[:m] for part in (found.row_bound_dn, found.row_bound_up))
    is_lower, is_upper = (
        np.array([word in str(s) for s in basis.row_status], dtype=bool) for word in ("kLower", "kUpper")
    )
    is_equal = (program.l == program.u) & (is_lower | is_upper)
    at_lower, at_upper = is_lower | is_equal, is_upper | is_equal
    rows = {
        "activity": activity,
        "dual": -np.asarray(point.row_dual)[:m],
        "lower": program.l,
        "lower_from": np.where(at_lower, below, -np.inf),
        "lower_to": np.where(at_lower, above, activity),
        "upper": program.u,
        "upper_from": np.where(at_upper, below, activity),
        "upper_to": np.where(at_upper, above, np.inf),
    }
    return columns, rows
