"""How a model calls the arguments of its relations and params: by the logic variables of their atoms.

>>> from relift.language.checks.check_model import check_text
>>> model = check_text("param cap/2; var f(X,Y) in cap(X,Y); minimize: sum{Y in cap(s,Y)} f(s,Y);")
>>> uses_of(model, "cap")
(('X', 'Y'), (None, 'Y'))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from relift.language.checked_model import CheckedModel, Holds, LogicVariable, ParameterValue
from relift.language.syntax.source import NOWHERE


def uses_of(model: CheckedModel, name: str) -> tuple[tuple[str | None, ...], ...]:
    """The names of the arguments in every atom of a predicate, different ones, in the order of the text.

    Parameters
    ----------
    model
        The model.
    name
        A relation, param or derived predicate.
    """
    parts = (model.strata, tuple(model.variables.values()), model.objective, model.constraints)
    atoms = [atom for atom in _atoms(parts) if (_name(atom)) == name]
    atoms.sort(key=lambda atom: atom.span.start if atom.span != NOWHERE else 0)  # stable: Python models stay in order
    found = (tuple(a.name if isinstance(a, LogicVariable) else None for a in atom.arguments) for atom in atoms)
    return tuple(dict.fromkeys(use for use in found if any(use)))


def _name(atom: Holds | ParameterValue) -> str:
    return atom.predicate if isinstance(atom, Holds) else atom.name


def _atoms(part: object) -> Iterator[Holds | ParameterValue]:
    """Every atom inside of checked nodes, in their order."""
    stack = [part]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple | frozenset):
            stack.extend(reversed(tuple(node)))
        elif is_dataclass(node) and not isinstance(node, type):
            if isinstance(node, Holds | ParameterValue):
                yield node
            stack.extend(getattr(node, field.name) for field in reversed(fields(node)) if field.name != "span")
