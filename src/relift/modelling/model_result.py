"""The answer for a model, by its own names: values by predicate, dual values and slacks by constraint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack, final, overload

import numpy as np

from relift.arrays import Vector
from relift.errors import OptionError
from relift.grounding.atoms import AtomIndex, Block
from relift.grounding.ground import GroundProgram
from relift.modelling.model_answer import ModelAnswer, block_of, is_helper, stacked
from relift.modelling.result_table import ResultTable
from relift.pipeline import SolveOptions
from relift.result import Result
from relift.settings import ProgressCallback
from relift.tables.sources.table import TableLike

if TYPE_CHECKING:
    from relift.modelling.explain import Conflict, Explanation
    from relift.modelling.ranging import Ranging
    from relift.modelling.read_back import Reader


class KeptOptions(SolveOptions, total=False):
    """The options that an answer was found with."""

    progress: ProgressCallback | None


class ResolveOptions(KeptOptions, total=False):
    """The options of :meth:`ModelResult.resolve`."""

    limit: int | None


@final
@dataclass(frozen=True, eq=False, repr=False)
class ModelResult(ModelAnswer):
    """The answer for a model.

    Parameters
    ----------
    grounded
        The original program, and what its numbers stand for.
    result
        The answer for the original program: certificate, classes, timings.
    options
        Options of the solve, kept for the next one.
    seconds
        How long grounding took.

    Examples
    --------
    >>> import relift
    >>> model = relift.Model.from_text('''
    ...     param cap/2;  var flow(X,Y) in cap(X,Y) >= 0 <= cap(X,Y);
    ...     maximize total: sum{Y in cap(s,Y)} flow(s,Y);
    ...     subject to balance forall {Z in cap(_,Z) & cap(Z,_)}:
    ...         sum{X in cap(X,Z)} flow(X,Z) = sum{Y in cap(Z,Y)} flow(Z,Y);
    ... ''')
    >>> result = model.solve(data={"cap": {("s", "a"): 3, ("s", "b"): 2, ("a", "t"): 2, ("b", "t"): 4}})
    >>> result
    ModelResult(optimal, total=4, 4 unknowns, 2 rows)
    >>> result["flow"]
    X  Y  value
    a  t      2
    b  t      2
    s  a      2
    s  b      2
    >>> result.value("flow", "s", "a"), result.slacks("balance").to_dict()
    (2.0, {'a': 0.0, 'b': 0.0})
    >>> result.resolve(data={"cap": {("s", "a"): 1, ("a", "t"): 2}}).objective
    1.0
    """

    hint_without_values = "See explain()."

    grounded: GroundProgram
    result: Result
    options: KeptOptions = field(default_factory=lambda: KeptOptions(), repr=False)
    seconds: float = 0.0

    def _sizes(self) -> str:
        program = self.result.program
        return f"{program.n_variables:,} unknowns, {program.n_rows + len(program.quadratic):,} rows"

    @property
    def notes(self) -> tuple[str, ...]:
        """Anything out of the ordinary: joins of tables that found nothing, notes of lifting."""
        return (*self.grounded.notes, *self.result.lifting.notes)

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints of the model."""
        names = (*self.grounded.rows.predicates, *self.grounded.quadratic.predicates)
        return tuple(name for name in dict.fromkeys(names) if not is_helper(name))

    # --- values

    @property
    def has_values(self) -> bool:
        """Whether the solve gave a point; one that ended early can have one."""
        return self.result.x is not None

    def values(self, name: str) -> ResultTable:
        """The values of a variable, a definition, the objective or the body of a constraint: keys, then ``value``.

        Raises
        ------
        OptionError
            If there is no such name, or the solve gave no point.
        """
        if not self._is_variable(name):
            return self._reader.table(name)
        block = self._variable(name)
        assert self.result.x is not None
        return self._table(self.grounded.atoms, [block], {"value": self.result.x})

    def value(self, name: str, *entry: str | float) -> float:
        """One value of a variable, a definition, the objective or the body of a constraint.

        Raises
        ------
        OptionError
            If there is no such name or tuple, or no point.
        """
        if not self._is_variable(name):
            return self._reader.at(name, entry)
        self._variable(name)
        assert self.result.x is not None
        return float(self.result.x[self.grounded.atoms.number(name, *entry)])

    def eval(self, expression: str) -> Any:
        """The value of an expression in the words of the model, at this answer.

        Parameters
        ----------
        expression
            For example ``"sum{I in item(I)} x(I)**2"``, which gives a number, or with a query in front
            ``"{I in item(I)} x(I)/cap(I)"``, which gives a table.

        Raises
        ------
        LanguageError
            If it is no expression of the model.
        DataError
            If it has no value, or not for each answer of the query.

        Examples
        --------
        >>> import relift
        >>> result = relift.solve_model("param a/1; a := {u: 1, v: 2}; var x(I) in a(I) >= a(I); minimize: x(*);")
        >>> result.eval("sum{I in a(I)} x(I)**2"), result.eval("{I in a(I) & a(I) > 1} 2*x(I)").to_dict()
        (5.0, {'v': 4.0})
        """
        return self._reader.expression(expression)

    def _is_variable(self, name: str) -> bool:
        index = self.grounded.atoms
        return any(block.name == name for block in index.blocks) or name in self.grounded.model.variables

    @cached_property
    def _reader(self) -> Reader:
        self._check_values()
        from relift.modelling.read_back import Reader

        return Reader(self)

    def bounds(self, name: str) -> ResultTable:
        """Bounds of a variable and their dual values: keys, ``value``, ``lower``, ``upper``, ``dual``."""
        block = block_of(self.grounded.atoms, name, "variable")[0]
        program, result = self.result.program, self.result
        columns = {
            "value": _or_nan(result.x, program.n_variables),
            "lower": program.lb,
            "upper": program.ub,
            "dual": _or_nan(result.w, program.n_variables),
        }
        return self._table(self.grounded.atoms, [block], columns)

    # --- constraints

    def constraint(self, name: str) -> ResultTable:
        """The rows of a constraint: keys, ``activity``, ``lower``, ``upper``, ``slack`` and ``dual``.

        `slack` is the distance to the nearer bound, negative where it is broken. `dual` is positive where the upper
        bound of the row is active and negative where the lower one is; when maximising, signs are those of minimising
        the negated objective. A range with unknowns on its sides has a column ``part`` that tells its halves apart.

        Parameters
        ----------
        name
            The constraint, or one half of it: ``"range.upper"``.
        """
        return self._constraint(name, ("activity", "lower", "upper", "slack", "dual"))

    @overload
    def duals(self) -> dict[str, ResultTable]: ...
    @overload
    def duals(self, name: str) -> ResultTable: ...
    def duals(self, name: str | None = None) -> ResultTable | dict[str, ResultTable]:
        """The dual values of a constraint: keys, then ``dual``; without a name those of all constraints, by name."""
        if name is None:
            return {each: self._constraint(each, ("dual",)) for each in self.constraints}
        return self._constraint(name, ("dual",))

    def slacks(self, name: str) -> ResultTable:
        """The slacks of a constraint: keys, then ``slack``."""
        return self._constraint(name, ("slack",))

    def ray(self) -> dict[str, ResultTable]:
        """The direction in which an unbounded model improves: for each variable the unknowns that move in it.

        Raises
        ------
        OptionError
            If the model is not unbounded.

        Examples
        --------
        >>> import relift
        >>> result = relift.solve_model("relation n/1; n := {1..3}; var x(I) in n(I) >= 0; maximize: x(1) - x(2);")
        >>> {name: table.to_dict() for name, table in result.ray().items()}
        {'x': {1: 1.0}}
        """
        ray = self.result.ray_x
        if ray is None:
            raise OptionError(
                f"there is no ray: the model is {str(self.status).replace('_', ' ')}.", "Unbounded models have one."
            )
        ray = ray / np.abs(ray).max()
        found = {}
        for name in self.variables:
            (block,) = block_of(self.grounded.atoms, name, "variable")
            table = self._table(self.grounded.atoms, [block], {"ray": ray})
            moves = np.abs(table["ray"]) > 1e-9
            if moves.any():
                found[name] = ResultTable({key: column[moves] for key, column in table.items()}, len(table) - 1)
        return found

    def ranging(self, *, together: bool = False) -> Ranging:
        """How far each cost and each right-hand side can change alone before the optimal basis changes.

        The original program is solved by HiGHS for it: the range of one member of a class cannot be told from the
        lifted program, which knows what happens when all of them change.

        Parameters
        ----------
        together
            Let all members of a class change together, by the same amount each. HiGHS then solves the lifted program,
            of which these ranges are exact; a column ``members`` says how many there are.

        Raises
        ------
        OptionError
            If the model is not linear, or has no optimum.

        Examples
        --------
        >>> import relift
        >>> result = relift.solve_model("var x >= 0 <= 4, y >= 0; maximize: 3*x + 2*y; subject to c: x + y <= 5;")
        >>> ranges = result.ranging()
        >>> ranges["x"]
        value  cost  cost_from  cost_to
            4     3          2      inf
        >>> ranges["c"]["upper_from"].tolist(), ranges["c"]["upper_to"].tolist()
        ([4.0], [inf])
        >>> text = "relation n/1; n := {1..3}; var x(I) in n(I) >= 0; minimize: sum{I in n(I)} 2*x(I);"
        >>> result = relift.solve_model(text + "subject to c: sum{I in n(I)} x(I) >= 6;")
        >>> result.ranging(together=True)["x"]
        I  members  value  cost  cost_from  cost_to
        1        3      2     2          0      inf
        2        3      2     2          0      inf
        3        3      2     2          0      inf
        """
        from relift.modelling.ranging import ranging

        return ranging(self, together)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><b>{escape(repr(self))}</b></p>{self.explain()._repr_html_()}"

    def rays(self, name: str) -> ResultTable:
        """Dual values that prove infeasibility: keys, then ``ray``. All others are not needed for the proof."""
        return self._constraint(name, ("ray",))

    def _constraint(self, name: str, wanted: tuple[str, ...]) -> ResultTable:
        rows, quadratic = self.grounded.rows, self.grounded.quadratic
        if any(block.name == name or block.label == name for block in quadratic.blocks):
            blocks = block_of(quadratic, name, "constraint")
            return self._table(quadratic, blocks, {key: self.quadratic_columns[key] for key in wanted})
        known = [*(b.name for b in quadratic.blocks)]
        blocks = block_of(rows, name, "constraint", known)
        return self._table(rows, blocks, {key: self.row_columns[key] for key in wanted})

    @property
    def row_columns(self) -> dict[str, Vector]:
        """Activity, bounds, slack, dual and ray of all rows of the original program."""
        program, result = self.result.program, self.result
        activity = _or_nan(None if result.x is None else program.A @ result.x, program.n_rows)
        return {
            "activity": activity,
            "lower": program.l,
            "upper": program.u,
            "slack": np.minimum(activity - program.l, program.u - activity),
            "dual": _or_nan(result.y, program.n_rows),
            "ray": _or_nan(result.ray_y, program.n_rows),
        }

    @property
    def quadratic_columns(self) -> dict[str, Vector]:
        """The same of the quadratic constraints ``body <= upper``; the sign of a dual is that of the text."""
        rows, solution = self.result.program.quadratic, self.result.solution
        sign = np.ones(len(rows))
        for block in self.grounded.quadratic.blocks:
            if any(c.negated for c in self.grounded.model.constraints if (c.name, c.part) == (block.name, block.part)):
                sign[block.start : block.stop] = -1.0
        activity = _or_nan(None if solution.x is None else rows.values_at(solution.x), len(rows))
        return {
            "activity": activity,
            "lower": np.full(len(rows), -np.inf),
            "upper": rows.r,
            "slack": rows.r - activity,
            "dual": sign * _or_nan(solution.z, len(rows)),
            "ray": _or_nan(solution.ray_z, len(rows)),
        }

    def _table(self, index: AtomIndex, blocks: list[Block], columns: Mapping[str, Vector]) -> ResultTable:
        keys = stacked([dict(index.table(block.label)) for block in blocks], blocks)
        numbers = {
            name: np.concatenate([column[block.start : block.stop] for block in blocks])
            for name, column in columns.items()
        }
        return ResultTable({**keys, **numbers}, len(keys))

    # --- the whole

    def explain(self) -> Explanation:
        """What became of each statement: rows, nonzeros, classes after lifting, dual values, seconds."""
        from relift.modelling.explain import explain

        return explain(self)

    def conflict(self) -> tuple[Conflict, ...]:
        """The constraints and bounds that cannot hold together, the heaviest first; empty unless infeasible."""
        from relift.modelling.explain import conflict

        return conflict(self)

    def resolve(
        self,
        *,
        data: Mapping[str, TableLike] | None = None,
        params: Mapping[str, float] | None = None,
        **options: Unpack[ResolveOptions],
    ) -> ModelResult:
        """Solve again with other data; statements that read nothing of what changes are not grounded again.

        Where only vectors of the original program change, its classes are kept or refined (never made coarser); where
        its size stays, the solver starts from this answer.

        Parameters
        ----------
        data, params
            What changes; the rest stays.
        options
            Options of :func:`relift.solve_model` that change.
        """
        from relift.modelling.solve_model import solve_again

        return solve_again(self, data, params, options)

    def close(self) -> None:
        """Give the tables back; key columns that were not looked at before can no longer be made."""
        self.grounded.close()


def _or_nan(vector: Vector | None, size: int) -> Vector:
    return np.full(size, np.nan) if vector is None else vector
