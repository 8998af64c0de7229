"""What a model consists of: its statements as text, their sizes over data, and the queries that the engine is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

from relift.grounding.ground import GroundProgram
from relift.language.checked_model import CheckedModel, Constraint, Objective, Variable
from relift.modelling.recording_engine import RecordingEngine
from relift.modelling.result_table import aligned


@final
@dataclass(frozen=True)
class StatementText:
    """A statement and where it stands.

    Parameters
    ----------
    name, kind
        Which it is.
    line
        Its line in the text, 0 if it has none.
    reads
        Names that it uses.
    """

    name: str
    kind: str
    line: int
    reads: tuple[str, ...] = field(default=())


def statements_of(model: CheckedModel) -> tuple[StatementText, ...]:
    """All statements of a model that name something.

    Examples
    --------
    >>> from relift.language.checks.check_model import check_text
    >>> model = check_text("relation p/1; var x(I) in p(I); subject to c forall {I in p(I)}: x(I) >= 1;")
    >>> for s in statements_of(model):
    ...     print(s.line, s.kind, s.name, *s.reads)
    1 relation p/1
    1 variable x/1 p
    1 constraint c p x
    """
    found = []
    for kind, declared in (("relation", model.relations), ("param", model.parameters), ("variable", model.variables)):
        for name, item in declared.items():
            reads = item.reads if isinstance(item, Variable) else frozenset()
            found.append(
                StatementText(f"{name}/{item.arity}", kind, _line(model, item.span.start), tuple(sorted(reads)))
            )
    for stratum in model.strata:
        for rule in stratum.rules:
            label = f"{rule.head}/{len(rule.arguments)}"
            found.append(StatementText(label, "rule", _line(model, rule.span.start), tuple(sorted(rule.reads))))
    goals: list[tuple[str, Objective | Constraint]] = [("constraint", c) for c in model.constraints]
    if model.objective is not None:
        goals.append(("minimise" if model.objective.sense == "min" else "maximise", model.objective))
    for kind, goal in goals:
        label = goal.name + (f".{goal.part}" if isinstance(goal, Constraint) and goal.part else "")
        found.append(StatementText(label, kind, _line(model, goal.span.start), tuple(sorted(goal.reads))))
    return tuple(sorted(found, key=lambda s: s.line))


def _line(model: CheckedModel, offset: int) -> int:
    return model.source.place(offset)[0] if model.source.text else 0


def shown_statements(model: CheckedModel) -> str:
    """The statements as a table."""
    rows = [[str(s.line), s.kind, s.name, ", ".join(s.reads)] for s in statements_of(model)]
    return aligned([["line", "kind", "name", "reads"], *rows], 4)


def shown_sizes(grounded: GroundProgram) -> str:
    """The sizes of all statements over their data as a table."""
    rows = [[s.name, s.kind, f"{s.rows:,}", f"{s.nonzeros:,}", f"{s.seconds:.4f}"] for s in grounded.statements]
    return aligned([["statement", "kind", "rows", "nonzeros", "seconds"], *rows], 2)


def shown_queries(engine: RecordingEngine) -> str:
    """The queries of all statements; those that check the tables are left out."""
    parts = []
    for statement, queries in engine.recorded[1:]:
        for number, query in enumerate(dict.fromkeys(queries), 1):
            parts.append(f"-- {statement}, query {number}\n{query};")
    return "\n\n".join(parts)
