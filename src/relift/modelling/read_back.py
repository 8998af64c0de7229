"""Expressions at an answer: whatever can be said in the model, with the values of its variables as data.

A variable that is solved is a param: its values are stored as a table beside those of the model, and definitions,
bodies of constraints and new expressions are evaluated by the queries that ground a model.

=====================  ==============================================================================================
``def`` with           for the tuples at which everything outside of its sums has a value; if that leaves an argument
arguments              open, those at which something inside of its sums has one
constraint             ``e`` of ``a <= e <= b``; of ``e <= f`` the side with unknowns, or e - f if both have some
objective              its value, without the rules of soft logic
=====================  ==============================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, cast, final

import numpy as np

from relift.arrays import Cells, Indices
from relift.errors import OptionError
from relift.grounding.queries_from_model import Queries
from relift.grounding.workspace import Workspace
from relift.language import checked_model as c
from relift.language.checks.names import ErrorList, Names, collect_names
from relift.language.checks.translate import Bound, Translator
from relift.language.messages import did_you_mean, raise_all
from relift.language.syntax import nodes as n
from relift.language.syntax.parser import parse_text
from relift.language.syntax.source import Source
from relift.modelling.result_table import ResultTable
from relift.tables.algebra import Column, Project, call
from relift.tables.load import load_table
from relift.tables.sources.contents import Columns
from relift.tables.sources.table import Source as TableSource

if TYPE_CHECKING:
    from relift.modelling.model_result import ModelResult

_VALUE = "#value"


@final
class Reader:
    """Evaluates expressions of a model at an answer.

    Parameters
    ----------
    answer
        The answer; it must have values.
    """

    def __init__(self, answer: ModelResult) -> None:
        self.answer = answer
        written = cast("n.ModelText", answer.grounded.model.written)
        self.statements = written.statements
        kept = tuple(s for s in map(_as_data, self.statements) if s is not None)
        self.errors = ErrorList(Source("", "<expression>"))
        self.names: Names = collect_names(n.ModelText(kept), self.errors)
        self.work = self._workspace()

    def _workspace(self) -> Workspace:
        """The tables of the model, and one for each variable."""
        before = self.answer.grounded._state.work
        declared = dict(before.model.parameters)
        tables, scalars = dict(before.tables), dict(before.scalars)
        for name, variable in self.answer.grounded.model.variables.items():
            declared[name] = c.Parameter(name, variable.arity)
            columns = self._columns(name, variable)
            if not variable.arity:
                scalars[name] = float(columns["value"][0])
                continue
            source = TableSource(f"the values of {name!r}", Columns(columns if columns["value"].size else {}))
            tables[name] = before.store(
                load_table(before.engine, before.fresh_name(name), source, variable.arity, has_value=True)
            )
        model = replace(before.model, parameters=declared, source=Source(""))
        return replace(before, model=model, tables=tables, scalars=scalars, unknowns={})

    def _columns(self, name: str, variable: c.Variable) -> dict[str, Cells]:
        """Keys and values of a variable, observed ones too."""
        found = self.answer.values(name)
        columns = [*found.values()]
        if variable.given is not None:
            observed = list(self.answer.grounded.table(variable.given).values())
            columns = [np.concatenate([a, b]) if b.size else a for a, b in zip(columns, observed, strict=True)]
        names = [f"argument {k}" for k in range(1, variable.arity + 1)]
        return dict(zip([*names, "value"], columns, strict=True))

    # --- what can be read

    @property
    def known(self) -> list[str]:
        """Names of definitions, of the objective and of constraints."""
        goal = [self.answer.objective_name] if self._objective() is not None else []
        return [*self._definitions(), *goal, *self._constraints()]

    def _definitions(self) -> list[str]:
        return list(self.names.definitions)

    def _objective(self) -> n.ObjectiveStatement | None:
        return next((s for s in self.statements if isinstance(s, n.ObjectiveStatement)), None)

    def _constraints(self) -> dict[str, n.ConstraintStatement]:
        found = [s for s in self.statements if isinstance(s, n.ConstraintStatement)]
        return {s.name or f"constraint_{k}": s for k, s in enumerate(found, 1)}

    def table(self, name: str) -> ResultTable:
        """The values of a definition, the objective or a constraint.

        Raises
        ------
        OptionError
            If there is no such name.
        DataError
            If it has no value somewhere.
        """
        if name in self.names.definitions:
            definition = self.names.definitions[name]
            parameters = cast("tuple[n.LogicName, ...]", definition.head.arguments)
            if not parameters:
                return self.evaluated(None, definition.head)
            return self.evaluated(n.Index(parameters, self._tuples_of(definition)), definition.head)
        goal = self._objective()
        if goal is not None and name == self.answer.objective_name:
            return self.evaluated(None, goal.body)
        constraints = self._constraints()
        if name in constraints:
            statement = constraints[name]
            return self.evaluated(statement.index, self._body(cast("n.Compare", statement.body)))
        known = [*self.answer.variables, *self.known]
        hint = did_you_mean(name, known) or f"Expected one of: {', '.join(known)}."
        raise OptionError(f"there is no variable, definition or constraint {name!r}.", hint)

    def at(self, name: str, entry: tuple[str | float, ...]) -> float:
        """One value of a definition, the objective or a constraint.

        Raises
        ------
        OptionError
            If there is no such name or tuple.
        """
        if name in self.names.definitions:
            head = self.names.definitions[name].head
            if len(head.arguments) != len(entry):
                raise OptionError(f"{name} has {len(head.arguments)} arguments, and {len(entry)} were given.")
            arguments = tuple(n.Text(e) if isinstance(e, str) else n.Number(repr(e)) for e in entry)
            return float(self.evaluated(None, n.Atom(name, arguments)))
        found = self.table(name).to_dict()
        key = entry[0] if len(entry) == 1 else entry
        if key not in found:
            shown = f"({', '.join(map(str, entry))})"
            raise OptionError(f"{name}{shown} does not exist.", f"See result[{name!r}].")
        return float(found[key])

    def expression(self, text: str) -> ResultTable | float:
        """The value of an expression; of ``{I in query} expression`` a table.

        Raises
        ------
        LanguageError
            If it is not one.
        """
        is_table = text.lstrip().startswith("{")
        frame = "subject to forall {} = 0;" if is_table else "minimize: {};"
        text = text.strip().removesuffix(";")
        if is_table:
            stop = _end_of_braces(text)
            text = f"{text[:stop]}: {text[stop:]}"
        (statement,) = parse_text(frame.format(text), "<expression>").statements
        if isinstance(statement, n.ConstraintStatement):
            return self.evaluated(statement.index, cast("n.Compare", statement.body).parts[0])
        return float(self.evaluated(None, cast("n.ObjectiveStatement", statement).body))

    # --- evaluation

    def evaluated(self, index: n.Index | None, body: n.Node) -> ResultTable:
        """The values of an expression for all answers of a query, sorted by these."""
        translator = Translator(self.names, self.errors)
        bound = Bound()
        variables: tuple[str, ...] = ()
        formula: c.Formula | None = None
        if index is not None:
            query = translator.query(index.variables, index.formula, {})
            bound, variables, formula = query.inside, query.variables, query.formula
        data = translator.data(body, bound)
        found, self.errors = self.errors.in_order(), ErrorList(self.errors.source)
        raise_all([type(error)(error.message, error.hint) for error in found])
        queries = Queries(self.work.tables, self.work.model.parameters, self.work.scalars, {}, Source(""))
        plan = queries.answers(variables, formula)
        plan, scalar = queries.value(plan, data)
        keys = queries.columns(variables)
        outputs = {f"k{k}": Column(key) for k, key in enumerate(keys)} | {_VALUE: call("real", scalar)}
        columns = self.work.fetch(Project(plan, outputs), queries, "the expression")
        values = np.asarray(columns.pop(_VALUE), dtype=np.float64)
        if np.isnan(values).any():
            raise self.work.explain_missing(queries, "the expression")
        order = _sorted_rows(list(columns.values()), values.size)
        shown = [] if index is None else [variable.name for variable in index.variables]
        sorted_keys = {name: column[order] for name, column in zip(shown, columns.values(), strict=True)}
        return ResultTable({**sorted_keys, "value": values[order]}, len(shown))

    def _body(self, comparison: n.Compare) -> n.Node:
        """What a constraint bounds."""
        if len(comparison.parts) == 3:
            return comparison.parts[1]
        left, right = comparison.parts
        unknown = [self._has_variable(side) for side in (left, right)]
        if all(unknown):
            return n.Sum((left, right), ("-",), comparison.span)
        return right if unknown[1] else left

    def _has_variable(self, node: n.Node) -> bool:
        variables = self.answer.grounded.model.variables
        atoms = [atom.name for atom, _ in _atoms(node, False)]
        return any(
            name in variables
            or (name in self.names.definitions and self._has_variable(self.names.definitions[name].body))
            for name in atoms
        )

    def _tuples_of(self, definition: n.Definition) -> n.Node:
        """A query for the tuples of a definition: what its body asks for its arguments."""
        parameters = [a.name for a in definition.head.arguments if isinstance(a, n.LogicName)]
        outside, inside = list[n.Atom](), list[n.Atom]()
        for atom, is_inside in self._atoms_of(definition.body, False):
            names = {a.name for a in atom.arguments if isinstance(a, n.LogicName)}
            if names & set(parameters):
                arguments = tuple(
                    a if isinstance(a, n.LogicName) and a.name in parameters else n.Wildcard() for a in atom.arguments
                )
                (inside if is_inside else outside).append(replace(atom, arguments=arguments))
        parts: list[n.Node] = list(dict.fromkeys(outside))
        open_names = [p for p in parameters if not any(p in _names(atom) for atom in outside)]
        whole = list(dict.fromkeys(atom for atom in inside if set(parameters) <= _names(atom)))
        if open_names and whole:
            parts.append(whole[0] if len(whole) == 1 else n.Either(tuple(whole)))
        else:
            for name in open_names:
                covering = list(dict.fromkeys(atom for atom in inside if name in _names(atom)))
                if not covering:
                    raise OptionError(
                        f"which values {name} of {definition.head.name!r} can have is not clear.",
                        f"Ask for one: result.value({definition.head.name!r}, ...).",
                    )
                parts.append(covering[0] if len(covering) == 1 else n.Either(tuple(covering)))
        return parts[0] if len(parts) == 1 else n.Both(tuple(parts))

    def _atoms_of(self, node: n.Node, inside: bool) -> Iterator[tuple[n.Atom, bool]]:
        """Atoms that have a table or values, those of used definitions with their own arguments."""
        for atom, is_inside in _atoms(node, inside):
            definition = self.names.definitions.get(atom.name)
            if definition is not None:
                given = dict(zip((a.name for a in _logic(definition.head)), atom.arguments, strict=True))
                for inner, deeper in self._atoms_of(definition.body, is_inside):
                    arguments = tuple(
                        given.get(a.name, n.Wildcard()) if isinstance(a, n.LogicName) else a for a in inner.arguments
                    )
                    yield replace(inner, arguments=arguments), deeper
            elif atom.name in self.names.symbols:
                yield atom, is_inside


def _as_data(statement: n.Statement) -> n.Statement | None:
    """A statement of the model where variables are params; None for what has no part in expressions."""
    match statement:
        case n.Variables():
            return n.Params(tuple(n.ParamItem(item.name, item.arity) for item in statement.items))
        case n.Relations() | n.Params() | n.RuleStatement() | n.Definition():
            return statement
        case _:
            return None


def _atoms(node: object, inside: bool) -> Iterator[tuple[n.Atom, bool]]:
    """Every atom of an expression, with whether it stands inside of a sum or in brackets."""
    match node:
        case n.Atom():
            if not any(isinstance(a, n.Star) for a in node.arguments):
                yield node, inside
            else:
                yield node, True
        case n.Indexed():
            for part in (node.index.formula, node.body, *node.others):
                if part is not None:
                    yield from _atoms(part, True)
        case n.Bracket():
            yield from _atoms(node.formula, True)
        case n.Sum() | n.Compare() | n.Both() | n.Either():
            for part in node.parts:
                yield from _atoms(part, inside)
        case n.Binary():
            yield from _atoms(node.left, inside)
            yield from _atoms(node.right, inside)
        case n.Minus():
            yield from _atoms(node.part, inside)
        case n.Negated():
            pass  # does not say which values there are
        case n.Call():
            for part in node.arguments:
                yield from _atoms(part, inside)
        case n.Piecewise():
            yield from _atoms(node.body, inside)
        case _:
            pass


def _logic(head: n.Atom) -> tuple[n.LogicName, ...]:
    return tuple(a for a in head.arguments if isinstance(a, n.LogicName))


def _names(atom: n.Atom) -> set[str]:
    return {a.name for a in atom.arguments if isinstance(a, n.LogicName)}


def _end_of_braces(text: str) -> int:
    """Where the first ``{..}`` ends; the whole text if it does not."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return position + 1
    return len(text)


def _sorted_rows(keys: list[Cells], size: int) -> Indices:
    """An order of rows by their keys."""
    if not keys:
        return np.arange(size)
    ranks = [np.unique(key.astype(str) if key.dtype == object else key, return_inverse=True)[1] for key in keys]
    return np.lexsort(ranks[::-1])
