"""What answers for models have in common, whether the original program is here or in an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from difflib import get_close_matches
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from relift.errors import OptionError
from relift.grounding.atoms import AtomIndex, Block
from relift.grounding.ground import GroundProgram
from relift.lifting.certificate import Certificate
from relift.modelling.result_table import ResultTable
from relift.program.solution import Status
from relift.result import Result
from relift.tables.engine import Arrays

if TYPE_CHECKING:
    from relift.in_database.ground_tables import GroundTables
    from relift.in_database.lift_tables import EngineResult

Own = TypeVar("Own", bound="ModelAnswer")


class ModelAnswer(ABC):
    """The answer for a model: its status, its objective and its tables, by the names of the model."""

    hint_without_values = ""
    """Where to look for the reason that there are no values."""

    grounded: GroundProgram | GroundTables
    result: Result | EngineResult
    seconds: float

    @property
    def status(self) -> Status:
        """How the solve ended; ``optimal`` only with a certificate on the original program that passes."""
        return self.result.status

    @property
    def objective(self) -> float:
        """The objective, in the sense of the model; an infinity for infeasible and unbounded models."""
        return self.result.objective

    @property
    def objective_name(self) -> str:
        """The name of the objective; ``objective`` where the model gives none."""
        goal = self.grounded.model.objective
        return "objective" if goal is None else goal.name

    @property
    def certificate(self) -> Certificate:
        """Residuals on the original program."""
        return self.result.certificate

    @property
    def timings(self) -> dict[str, float]:
        """Seconds of each stage."""
        return {"ground": self.seconds, **self.result.timings}

    @property
    def notes(self) -> tuple[str, ...]:
        """Anything out of the ordinary: joins of tables that found nothing, notes of lifting."""
        return self.grounded.notes

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables of the model."""
        return tuple(name for name in self.grounded.atoms.predicates if not is_helper(name))

    @property
    def helpers(self) -> tuple[str, ...]:
        """Names of helper variables, which stand for ``max``, ``abs``, ``norm`` and other functions of unknowns."""
        return tuple(name for name in self.grounded.atoms.predicates if is_helper(name))

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints of the model."""
        return tuple(name for name in self.grounded.rows.predicates if not is_helper(name))

    @property
    def has_values(self) -> bool:
        """Whether the solve gave a point."""
        return self.status.has_point

    @abstractmethod
    def values(self, name: str) -> ResultTable:
        """The values of a variable: its key columns, then ``value``."""

    @abstractmethod
    def value(self, name: str, *entry: str | float) -> float:
        """The value of one unknown."""

    @abstractmethod
    def duals(self, name: str) -> ResultTable:
        """The dual values of a constraint: keys, then ``dual``."""

    @abstractmethod
    def close(self) -> None:
        """Give the tables back."""

    def __getitem__(self, name: str) -> ResultTable:
        """The values of a variable: its key columns, then ``value``."""
        return self.values(name)

    def _variable(self, name: str) -> Block:
        """The block of a variable that has values."""
        block = block_of(self.grounded.atoms, name, "variable")[0]
        self._check_values()
        return block

    def _check_values(self) -> None:
        if not self.has_values:
            raise OptionError(
                f"there are no values: the model is {str(self.status).replace('_', ' ')}.", self.hint_without_values
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.status}, {self.objective_name}={self.objective:.9g}, {self._sizes()})"

    @abstractmethod
    def _sizes(self) -> str:
        """How large the original program is, for people."""

    def __enter__(self: Own) -> Own:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def is_helper(name: str) -> bool:
    """Whether a name is that of a helper variable or of its rows: no name of the language has a dot."""
    return "." in name


def stacked(tables: list[Arrays], blocks: list[Block]) -> Arrays:
    """The columns of several blocks below each other; ``part`` tells the halves of a range apart."""
    if len(blocks) > 1:
        for block, table in zip(blocks, tables, strict=True):
            table["part"] = np.full(block.size, block.part, object)
    return {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}


def block_of(index: AtomIndex, name: str, kind: str, others: list[str] | None = None) -> list[Block]:
    """The blocks of a name: more than one for both halves of a range."""
    found = [block for block in index.blocks if block.label == name]
    found = found or [block for block in index.blocks if block.name == name]
    if not found:
        known = [*index.predicates, *(others or [])]
        close = get_close_matches(name, known, 1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Expected one of: {', '.join(known) or 'none'}."
        raise OptionError(f"there is no {kind} {name!r}.", hint)
    return found
