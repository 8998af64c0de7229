"""A PSL project as a model of the language: what is closed becomes a param, what is open a partly observed variable.

================================  ==================================================================================
``Link/2``, closed                ``param link/2``, 1 where a file gives no value; a tuple that is not there is 0
``HasCat/2``, open                ``relation hasCat_targets/2; param hasCat_observed/2;``
                                  ``var hasCat(A1,A2) in hasCat_targets(A1,A2) >= 0 <= 1 given hasCat_observed``
a rule                            ``rule``, word for word but for names, which begin with lower-case letters
================================  ==================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Unpack, final

import numpy as np

from relift.bridges.psl.evaluate import Evaluation, evaluations_of
from relift.bridges.psl.project import PARTS, Part, Predicate, Project, project_from_json, project_from_psl
from relift.bridges.psl.rules import rules_from_text
from relift.errors import FileFormatError, OptionError
from relift.grounding.ground import GroundProgram
from relift.language.checked_model import CheckedModel
from relift.language.checks.check_model import check_model
from relift.language.messages import nearest
from relift.language.syntax import nodes as n
from relift.language.syntax.parser import decode
from relift.language.syntax.printer import print_model
from relift.language.syntax.syntax_errors import RESERVED
from relift.modelling.model_result import ModelResult
from relift.modelling.options import GroundOptions, ModelOptions
from relift.modelling.solve_model import ground_model, solve_model
from relift.read_bytes import read_bytes
from relift.tables.engine import Arrays


@final
@dataclass(frozen=True, eq=False)
class PslProject:
    """A PSL project that can be solved.

    Parameters
    ----------
    project
        What was read.
    text
        The model as nodes; ``str(project)`` is its text in the language.
    names
        The variable or param of each predicate, by its name in PSL in lower case.
    """

    project: Project
    text: n.ModelText
    names: Mapping[str, str]
    _checked: list[CheckedModel] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        return print_model(self.text)

    def __repr__(self) -> str:
        n_rules = sum(isinstance(s, n.SoftRule) for s in self.text.statements)
        return f"PslProject({self.project.name}, {len(self.project.predicates)} predicates, {n_rules} rules)"

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found in the project and is not used."""
        return self.project.notes

    def check(self) -> CheckedModel:
        """The checked model.

        Raises
        ------
        LanguageError
            If a rule is wrong, with its place among the rules.
        """
        if not self._checked:
            self._checked.append(check_model(self.text))
        return self._checked[0]

    def data(self) -> dict[str, Arrays]:
        """The tables of the model as columns."""
        tables = {}
        for key, predicate in self.project.predicates.items():
            name = self.names[key]
            if predicate.is_open:
                tables[f"{name}_targets"] = _columns(predicate, "targets", with_values=False)
                tables[f"{name}_observed"] = _columns(predicate, "observations")
            else:
                tables[name] = _columns(predicate, "observations")
        return tables

    def ground(self, **options: Unpack[GroundOptions]) -> GroundProgram:
        """The original program; options are those of :func:`relift.ground_model`."""
        return ground_model(self.check(), self.data(), **options)

    def solve(self, **options: Unpack[ModelOptions]) -> ModelResult:
        """Infer all unknowns; options are those of :func:`relift.solve_model`."""
        return solve_model(self.check(), self.data(), **options)

    def inferred(self, answer: ModelResult) -> dict[str, dict[tuple[str | int, ...], float]]:
        """The inferred atoms of each open predicate, by its name in PSL."""
        found = {}
        for key, predicate in self.project.predicates.items():
            if predicate.is_open:
                *keys, values = answer[self.names[key]].values()
                columns = [column.tolist() for column in keys]
                found[predicate.name] = dict(zip(zip(*columns, strict=True), values.tolist(), strict=True))
        return found

    def evaluate(self, answer: ModelResult) -> tuple[Evaluation, ...]:
        """The figures of PSL's evaluators for every predicate with truth."""
        inferred = self.inferred(answer)
        return tuple(
            figure
            for predicate in self.project.predicates.values()
            if predicate.is_open and predicate.of("truth")
            for figure in evaluations_of(predicate, inferred[predicate.name])
        )


def read_psl(
    project: str | Path | Mapping[str, object], data: str | Path | None = None, *, int_ids: bool = False
) -> PslProject:
    """Read a PSL project.

    Parameters
    ----------
    project
        The path of its ``.json`` file, or of its ``.psl`` file of rules; or the content of the JSON file as a dict.
    data
        The ``.data`` file that belongs to a ``.psl`` file; by default the one of the same name.
    int_ids
        For ``.psl`` files: constants are whole numbers where no types are given.

    Raises
    ------
    FileFormatError
        If a file is not what it should be.
    LanguageError
        If a rule does not follow PSL's grammar.
    OptionError
        If the project needs what relift does not do.
    """
    if isinstance(project, Mapping):
        return _with_model(project_from_json(project, "<project>", Path()))
    path = Path(project)
    if path.suffix.lower() == ".json":
        if data is not None:
            raise OptionError("data= applies to .psl files; a .json file names its data itself.")
        return _with_model(project_from_json(decode(read_bytes(path), str(path)), str(path), path.parent))
    if path.suffix.lower() != ".psl":
        raise FileFormatError(f"{path} is not a PSL project.", "Its name should end in .json or .psl.")
    return _with_model(project_from_psl(path, _data_file(path, data), int_ids))


def _data_file(path: Path, data: str | Path | None) -> Path:
    if data is not None:
        return Path(data)
    own = path.with_suffix(".data")
    if own.is_file():
        return own
    found = sorted(path.parent.glob("*.data"))
    if len(found) == 1:
        return found[0]
    hint = f"There are {', '.join(f.name for f in found)}." if found else ""
    raise FileFormatError(
        f"which .data file belongs to {path} is not clear.", f"Give it as --data FILE. {hint}".strip()
    )


def _with_model(project: Project) -> PslProject:
    names = {key: _name(predicate.name) for key, predicate in project.predicates.items()}

    def resolve(name: str, count: int) -> tuple[str, tuple[str, ...]] | str:
        predicate = project.predicates.get(name.lower())
        if predicate is None:
            near = nearest(name.lower(), project.predicates)
            guess = f"; did you mean {project.predicates[near].name}?" if near else ""
            return f"{name} is not a predicate of the project{guess}"
        if predicate.arity != count:
            return f"{predicate.name} has {predicate.arity} arguments, not {count}"
        return names[name.lower()], predicate.types

    statements: list[n.Statement] = []
    for key, predicate in project.predicates.items():
        statements.extend(_declared(predicate, names[key]))
    is_open = {names[key] for key, predicate in project.predicates.items() if predicate.is_open}
    notes = [*project.notes]
    for rule in rules_from_text(project.rules, resolve, project.starts):
        if is_open.isdisjoint(_predicates_in(rule)):
            text = project.rules.text[rule.span.start : rule.span.stop].strip()
            notes.append(f"a rule about observed atoms alone is left out, there is nothing to infer: {text}")
        else:
            statements.append(rule)
    model = n.ModelText(tuple(statements), (), project.rules)
    return PslProject(replace(project, notes=tuple(notes)), model, names)


def _predicates_in(part: object) -> Iterator[str]:
    """The names of all atoms in a part of a rule, those of its filters included."""
    if isinstance(part, n.Atom):
        yield part.name
    if isinstance(part, tuple):
        for item in part:
            yield from _predicates_in(item)
    elif is_dataclass(part):
        for item in fields(part):
            yield from _predicates_in(getattr(part, item.name))


def _name(name: str) -> str:
    """The name of a predicate in the language: lower-case first, and no reserved word."""
    plain = name.replace("$", "_").lstrip("_") or "p"
    own = plain[0].lower() + plain[1:] if plain[0].isalpha() else f"p{plain}"
    return f"{own}_" if own in RESERVED else own


def _declared(predicate: Predicate, name: str) -> list[n.Statement]:
    arity = predicate.arity
    if not predicate.is_open:
        return [n.Params((n.ParamItem(name, arity),))]
    keys = tuple(n.LogicName(f"A{k}") for k in range(1, arity + 1))
    bounds = n.Bound(">=", n.Number("0")), n.Bound("<=", n.Number("1"))
    targets, observed = f"{name}_targets", f"{name}_observed"
    return [
        n.Relations((n.RelationItem(targets, arity),)),
        n.Params((n.ParamItem(observed, arity),)),
        n.Variables((n.VariableItem(name, arity, keys, n.Atom(targets, keys), bounds, observed),)),
    ]


def _columns(predicate: Predicate, part: Part, with_values: bool = True) -> Arrays:
    """The tuples of a part as columns of one type each, and their values."""
    assert part in PARTS
    rows = predicate.of(part)
    columns: Arrays = {}
    for k, kind in enumerate(predicate.types):
        words = [key[k] for key in rows]
        columns[f"c{k}"] = np.array(words, np.int64) if kind == "int" else np.array(words, object)
    if with_values:
        columns["value"] = np.fromiter(rows.values(), np.float64, len(rows))
    return columns
