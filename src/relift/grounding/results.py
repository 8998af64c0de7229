"""Answers that speak the language of the model: tables of values, duals and slacks, and what each statement did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.errors import MissingPackageError, OptionError
from relift.grounding.atoms import AtomIndex, Block, atom_name
from relift.grounding.ground import GroundProgram
from relift.program.solution import Solution, Status

Floats = NDArray[np.float64]
ACTIVE = 1e-7
"""A multiplier counts as active above this share of the largest one."""


@final
class ResultTable(Mapping[str, NDArray[Any]]):
    """Equally long NumPy columns by name: the arguments of a predicate, then what was asked for.

    Parameters
    ----------
    name
        The predicate or constraint.
    columns
        The columns.
    n_keys
        How many of them, from the first, are arguments.

    Examples
    --------
    >>> table = ResultTable("x", {"I": np.array(["a", "b"], object), "value": np.array([1.0, 0.5])}, 1)
    >>> table.to_dict()
    {('a',): 1.0, ('b',): 0.5}
    """

    def __init__(self, name: str, columns: dict[str, NDArray[Any]], n_keys: int) -> None:
        self.name, self.columns, self.n_keys = name, columns, n_keys

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(next(iter(self.columns.values())).size)

    def to_dict(self) -> dict[tuple[Any, ...], float]:
        """Tuple of arguments to the first column that is no argument."""
        columns = [column.tolist() for column in self.columns.values()]
        keys = zip(*columns[: self.n_keys], strict=True) if self.n_keys else [()] * self.n_rows
        return dict(zip(keys, columns[self.n_keys], strict=True))

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return _imported("pandas").DataFrame(self.columns)

    def to_polars(self) -> Any:
        """A Polars data frame."""
        return _imported("polars").DataFrame({k: _listed(v) for k, v in self.columns.items()})

    def to_arrow(self) -> Any:
        """An Arrow table."""
        return _imported("pyarrow").table({k: _listed(v) for k, v in self.columns.items()})

    def __repr__(self) -> str:
        shown = []
        for k in range(min(self.n_rows, 10)):
            row = [column[k] for column in self.columns.values()]
            rest = ", ".join(f"{v:.6g}" for v in row[self.n_keys :])
            shown.append(f"  {atom_name(self.name, row[: self.n_keys])} = {rest}")
        more = [f"  ... and {self.n_rows - 10:,} more"] if self.n_rows > 10 else []
        head = f"{self.name}: {self.n_rows:,} rows of {', '.join(self.columns)}"
        return "\n".join([head, *shown, *more])


def _listed(column: NDArray[Any]) -> Any:
    return column.tolist() if column.dtype == object else column


def _imported(package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError as error:
        raise MissingPackageError(f"{package} is not installed.", f"Install it: pip install {package}") from error


@final
@dataclass(frozen=True)
class StatementAnswer:
    """What one statement came to.

    Parameters
    ----------
    name, kind
        The statement; kind is ``"variable"``, ``"constraint"`` or ``"objective"``.
    rows
        Ground rows, or unknowns.
    nonzeros
        Stored coefficients.
    classes
        Classes after lifting; None for the objective.
    substituted
        Rows or unknowns that were known before lifting, so that they belong to no class.
    active
        Rows whose multiplier is not zero (for a variable: unknowns at a bound); None without multipliers.
    weight
        Sum of the sizes of the multipliers; None without multipliers.
    """

    name: str
    kind: str
    rows: int
    nonzeros: int
    classes: int | None = None
    substituted: int = 0
    active: int | None = None
    weight: float | None = None


@final
@dataclass(frozen=True, eq=False)
class ModelResult:
    """The answer to a model.

    Parameters
    ----------
    grounded
        The ground program.
    result
        What :func:`relift.solve` returned for it: it has a ``solution`` and a ``lifting``.

    Examples
    --------
    >>> import relift
    >>> from relift.grounding.ground import ground
    >>> from relift.language.check_model import check_text
    >>> model = check_text("relation n/1; n := {1..3}; var x(I) in n(I) >= 0; "
    ...                    "minimize: sum{I in n(I)} I*x(I); subject to all: sum{I in n(I)} x(I) = 1;")
    >>> grounded = ground(model)
    >>> answer = ModelResult(grounded, relift.solve(grounded.program))
    >>> answer["x"]["value"].tolist()
    [1.0, 0.0, 0.0]
    """

    grounded: GroundProgram
    result: Any

    @property
    def solution(self) -> Solution:
        """Point, multipliers and rays by number."""
        solution: Solution = self.result.solution
        return solution

    @property
    def status(self) -> Status:
        """How the solve ended."""
        return self.solution.status

    @property
    def objective(self) -> float:
        """The optimum."""
        return self.solution.objective

    def __getitem__(self, name: str) -> ResultTable:
        return self.values(name)

    def values(self, name: str) -> ResultTable:
        """Values of the unknowns of a predicate: its arguments, and ``value``.

        Raises
        ------
        OptionError
            If there is no such predicate, or no point.
        """
        block = self.grounded.atoms.block(name)
        return self._table(self.grounded.atoms, block, {"value": _part(self.solution.x, block, "point")})

    def value(self, name: str, *entry: str | float) -> float:
        """The value of one ground atom."""
        x = self.solution.x
        if x is None:
            raise _nothing("point")
        return float(x[self.grounded.atoms.number(name, *entry)])

    def reduced_costs(self, name: str) -> ResultTable:
        """Multipliers of the bounds of a predicate's unknowns, as ``dual``."""
        block = self.grounded.atoms.block(name)
        return self._table(self.grounded.atoms, block, {"dual": _part(self.solution.w, block, "multipliers")})

    def duals(self, name: str) -> ResultTable:
        """Multipliers of a constraint: its arguments, and ``dual``.

        The sign is that of the constraint as it was written: positive where its left side presses on an upper bound.
        A range with unknowns on its sides has the halves ``name.lower`` and ``name.upper``.
        """
        block = self.grounded.rows.block(name)
        dual = _part(self.solution.y, block, "multipliers")
        return self._table(self.grounded.rows, block, {"dual": -dual if self._is_negated(block) else dual})

    def slacks(self, name: str) -> ResultTable:
        """How far each row of a constraint is from its nearest bound, as ``slack``; negative where it is violated."""
        block, x = self.grounded.rows.block(name), self.solution.x
        if x is None:
            raise _nothing("point")
        program = self.grounded.program
        rows = slice(block.start, block.stop)
        activity = (program.A.tocsr()[rows] @ x) if block.size else np.empty(0)
        distance = np.minimum(activity - program.l[rows], program.u[rows] - activity)
        return self._table(self.grounded.rows, block, {"slack": distance})

    def _is_negated(self, block: Block) -> bool:
        found = [c.negated for c in self.grounded.model.constraints if (c.name, c.part) == (block.name, block.part)]
        return bool(found and found[0])

    def _table(self, index: AtomIndex, block: Block, values: dict[str, Floats]) -> ResultTable:
        keys = index.table(block.name, block.part)
        clear = {f"{name}_" if name in keys else name: column for name, column in values.items()}
        return ResultTable(block.label, {**keys, **clear}, len(keys))

    # --- explanations -----------------------------------------------------------------------------------------------

    def explain(self) -> tuple[StatementAnswer, ...]:
        """For each statement: how large it is, how many classes it has, and how much it binds."""
        lifting = self.result.lifting
        answers = []
        for report in self.grounded.statements:
            rest: dict[str, Any] = {}
            if report.kind != "objective":
                is_variable = report.kind == "variable"
                index = self.grounded.atoms if is_variable else self.grounded.rows
                block = index.block(report.name)
                labels = (lifting.class_of_variable if is_variable else lifting.class_of_row)[block.start : block.stop]
                rest = {"classes": int(np.unique(labels[labels >= 0]).size), "substituted": int((labels < 0).sum())}
                multipliers = self.solution.w if is_variable else self.solution.y
                if multipliers is not None:
                    largest = float(np.abs(multipliers).max(initial=0.0))
                    mine = np.abs(multipliers[block.start : block.stop])
                    rest |= {"active": int((mine > ACTIVE * largest).sum()), "weight": float(mine.sum())}
            answers.append(StatementAnswer(report.name, report.kind, report.rows, report.nonzeros, **rest))
        return tuple(answers)

    def conflict(self) -> dict[str, float]:
        """For an infeasible model: which statements carry the proof, with their shares of it, largest first.

        The proof adds up rows and bounds with multipliers to a contradiction. The share of a statement is that of its
        multipliers, each times the size of its row, so that it does not change when a row is multiplied by a number.

        Raises
        ------
        OptionError
            If the model was not found infeasible.
        """
        y, w = self.solution.ray_y, self.solution.ray_w
        if y is None or w is None:
            raise OptionError(f"the model is {self.status}, not infeasible.", "There is no conflict to explain.")
        program = self.grounded.program
        size = np.asarray(abs(program.A).sum(axis=1)).ravel()
        bound = np.where(y > 0, program.u, program.l)
        size = np.maximum(size, np.abs(np.where(np.isfinite(bound), bound, 0.0)))
        shares: dict[str, float] = {}
        for index, mass in ((self.grounded.rows, np.abs(y) * size), (self.grounded.atoms, np.abs(w))):
            for block in index.blocks:
                share = float(mass[block.start : block.stop].sum())
                label = block.label if index is self.grounded.rows else f"bounds of {block.label}"
                if share > 0:
                    shares[label] = shares.get(label, 0.0) + share
        total = sum(shares.values())
        ordered = sorted(shares.items(), key=lambda item: -item[1])
        return {name: share / total for name, share in ordered if share > 1e-9 * total}


def _part(values: Floats | None, block: Block, what: str) -> Floats:
    if values is None:
        raise _nothing(what)
    return values[block.start : block.stop]


def _nothing(what: str) -> OptionError:
    return OptionError(f"the answer has no {what}.", "Look at its status.")
