"""Grounding by nested loops over Python sets, in exact fractions: slow, obvious, and independent of any engine."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from relift.language import checked_model as c

Env = dict[str, Any]
Row = tuple[dict[tuple[str, tuple[Any, ...]], Fraction], Fraction]


class NoValue(Exception):  # noqa: N818
    """A value is missing, or arithmetic has no answer."""


class Border(NoValue):
    """Nothing stands before the first value, or behind the last."""


def number(value: Any) -> Any:
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value) if isinstance(value, int) else value


FUNCTIONS: dict[str, Any] = {
    "abs": abs,
    "min": lambda *parts: min(parts),
    "max": lambda *parts: max(parts),
    "floor": lambda value: Fraction(math.floor(value)),
    "mod": lambda a, b: a - b * math.floor(a / b),
}


class SlowEvaluator:
    def __init__(self, model: c.CheckedModel, data: Mapping[str, Any]) -> None:
        self.model = model
        self.relations: dict[str, set[tuple[Any, ...]]] = defaultdict(set)
        self.values: dict[str, dict[tuple[Any, ...], Fraction]] = defaultdict(dict)
        for name in model.relations:
            self.relations[name] = {tuple(map(number, row)) for row in data.get(name, ())}
        for name, parameter in model.parameters.items():
            if parameter.value is not None:
                self.values[name][()] = number(parameter.value)
            given = data.get(name, {})
            given = given if isinstance(given, dict) else {(): given}
            for key, value in given.items():
                key = key if isinstance(key, tuple) else (key,)
                self.values[name][tuple(map(number, key))] = number(value)
        for stratum in model.strata:
            self.derive(stratum)

    def derive(self, stratum: c.Stratum) -> None:
        while True:
            before = sum(len(self.relations[name]) for name in stratum.predicates)
            for rule in stratum.rules:
                for env in list(self.solutions(rule.body, {})):
                    self.relations[rule.head].add(tuple(self.value(a, env) for a in rule.arguments))
            if before == sum(len(self.relations[name]) for name in stratum.predicates):
                return

    def solutions(self, formula: c.Formula, env: Env) -> Iterator[Env]:
        if isinstance(formula, c.TrueFormula):
            yield env
        elif isinstance(formula, c.Holds):
            yield from self.matches(formula, env)
        elif isinstance(formula, c.Comparison):
            if formula.binds is not None and formula.binds not in env:
                yield {**env, formula.binds: self.value(formula.right, env)}
            elif compare(formula.op, self.value(formula.left, env), self.value(formula.right, env)):
                yield env
        elif isinstance(formula, c.InRange):
            yield from self.in_range(formula, env)
        elif isinstance(formula, c.Not):
            if not list(self.solutions(formula.part, env)):
                yield env
        elif isinstance(formula, c.And):
            yield from self.all_parts(formula.parts, env)
        else:
            for part in formula.parts:
                yield from self.solutions(part, env)

    def in_range(self, formula: c.InRange, env: Env) -> Iterator[Env]:
        first, last = self.value(formula.first, env), self.value(formula.last, env)
        if first.denominator != 1 or last.denominator != 1:
            raise NoValue("an end of a range")
        numbers = [Fraction(k) for k in range(int(first), int(last) + 1)]
        if isinstance(formula.value, c.LogicVariable) and formula.value.name not in env:
            yield from ({**env, formula.value.name: k} for k in numbers)
        elif self.value(formula.value, env) in numbers:
            yield env

    def all_parts(self, parts: tuple[c.Formula, ...], env: Env) -> Iterator[Env]:
        if not parts:
            yield env
            return
        for extended in list(self.solutions(parts[0], env)):
            yield from self.all_parts(parts[1:], extended)

    def matches(self, atom: c.Holds, env: Env) -> Iterator[Env]:
        table = (
            self.values[atom.predicate] if atom.predicate in self.model.parameters else self.relations[atom.predicate]
        )
        for row in list(table):
            found = dict(env)
            for argument, value in zip(atom.arguments, row, strict=True):
                if isinstance(argument, c.Anonymous):
                    continue
                if isinstance(argument, c.LogicVariable) and argument.name not in found:
                    found[argument.name] = value
                    continue
                try:
                    if self.value(argument, found) != value:
                        break
                except Border:
                    break
            else:
                yield found

    def answers(self, variables: tuple[str, ...], formula: c.Formula | None, env: Env) -> list[Env]:
        if formula is None:
            return [env]
        distinct = {tuple(found[v] for v in variables) for found in self.solutions(formula, env)}
        return [{**env, **dict(zip(variables, row, strict=True))} for row in sorted(distinct, key=str)]

    def value(self, e: Any, env: Env) -> Any:
        if isinstance(e, c.Constant):
            return number(e.value)
        if isinstance(e, c.LogicVariable):
            return env[e.name]
        if isinstance(e, c.ParameterValue):
            key = tuple(self.value(a, env) for a in e.arguments)
            if key in self.values[e.name]:
                return self.values[e.name][key]
            default = self.model.parameters[e.name].default
            if default is None:
                raise NoValue(f"{e.name}{key}")
            return number(default)
        if isinstance(e, c.Negative):
            return -self.value(e.part, env)
        if isinstance(e, c.Arithmetic):
            return arithmetic(e.op, self.value(e.left, env), self.value(e.right, env))
        if isinstance(e, c.Function):
            parts = [self.value(a, env) for a in e.arguments]
            return FUNCTIONS[e.name](*parts)
        if isinstance(e, c.Neighbour):
            values = sorted(value for (value,) in self.relations[e.relation])
            here = self.value(e.argument, env)
            place = values.index(here) + e.step if here in values else -1
            if not 0 <= place < len(values):
                raise Border(f"{e.relation} {here}")
            return values[place]
        if isinstance(e, c.Indicator):
            return Fraction(any(True for _ in self.solutions(e.formula, env)))
        answers = self.answers(e.variables, e.formula, env)
        if e.kind == "count":
            return Fraction(len(answers))
        parts = [self.value(e.body, answer) for answer in answers]
        if e.kind == "sum":
            return sum(parts, Fraction(0))
        if not parts:
            raise NoValue(e.kind)
        return min(parts) if e.kind == "min" else max(parts)

    def within(self, scopes: tuple[c.Scope, ...], env: Env) -> Iterator[Env]:
        if not scopes:
            yield env
            return
        for answer in self.answers(scopes[0].variables, scopes[0].formula, env):
            yield from self.within(scopes[1:], answer)

    def affine(self, terms: tuple[Any, ...], env: Env) -> Row:
        entries: dict[tuple[str, tuple[Any, ...]], Fraction] = defaultdict(Fraction)
        constant = Fraction(0)
        for term in terms:
            for inner in self.within(term.scopes, env):
                coefficient = self.value(term.coefficient, inner)
                if isinstance(term, c.ConstantTerm):
                    constant += coefficient
                else:
                    key = tuple(self.value(a, inner) for a in term.unknown.arguments)
                    entries[term.unknown.name, key] += coefficient
        return entries, constant

    def constraint(self, constraint: c.Constraint) -> dict[tuple[Any, ...], tuple[Any, Any, Any]]:
        rows = {}
        for env in self.answers(constraint.variables, constraint.formula, {}):
            entries, constant = self.affine(constraint.body.terms, env)
            sides = [
                None if side is None else self.value(side, env) - constant
                for side in (constraint.lower, constraint.upper)
            ]
            key = tuple(env[v] for v in constraint.variables)
            rows[key] = ({atom: v for atom, v in entries.items() if v}, *sides)
        return rows

    def quadratic_constraint(self, constraint: c.Constraint) -> dict[tuple[Any, ...], tuple[Any, Any, Any]]:
        """For each row q, P as a mapping of pairs, and the right-hand side."""
        rows = {}
        for env in self.answers(constraint.variables, constraint.formula, {}):
            q, P, r = self.quadratic(constraint.body.terms, env)
            rows[tuple(env[v] for v in constraint.variables)] = (q, P, self.value(constraint.upper, env) - r)
        return rows

    def objective(self) -> tuple[dict[Any, Fraction], dict[Any, Fraction], Fraction]:
        """q, P as a mapping of pairs, and r."""
        assert self.model.objective is not None
        return self.quadratic(self.model.objective.expression.terms, {})

    def quadratic(
        self, terms: tuple[Any, ...], outside: Env
    ) -> tuple[dict[Any, Fraction], dict[Any, Fraction], Fraction]:
        q: dict[Any, Fraction] = defaultdict(Fraction)
        P: dict[Any, Fraction] = defaultdict(Fraction)
        r = Fraction(0)
        for term in terms:
            if isinstance(term, c.LinearTerm | c.ConstantTerm):
                entries, constant = self.affine((term,), outside)
                r += constant
                for atom, value in entries.items():
                    q[atom] += value
                continue
            for env in self.within(term.scopes, outside):
                weight = self.value(term.coefficient, env)
                if isinstance(term, c.ProductTerm):
                    first, second = (
                        (u.name, tuple(self.value(a, env) for a in u.arguments)) for u in (term.first, term.second)
                    )
                    P[first, second] += weight
                    P[second, first] += weight
                    continue
                entries, constant = self.affine(term.inner.terms, env)
                r += weight * constant * constant
                for atom, value in entries.items():
                    q[atom] += 2 * weight * constant * value
                    for other, another in entries.items():
                        P[atom, other] += 2 * weight * value * another
        return nonzero(q), nonzero(P), r


def nonzero(mapping: dict[Any, Fraction]) -> dict[Any, Fraction]:
    return {key: value for key, value in mapping.items() if value}


def compare(op: str, left: Any, right: Any) -> bool:
    return bool(
        {
            "=": lambda: left == right,
            "!=": lambda: left != right,
            "<": lambda: left < right,
            "<=": lambda: left <= right,
            ">": lambda: left > right,
            ">=": lambda: left >= right,
        }[op]()
    )


def arithmetic(op: str, left: Any, right: Any) -> Any:
    if op == "/":
        if right == 0:
            raise NoValue("division by zero")
        return left / right
    if op == "**":
        if left == 0 and right < 0:
            raise NoValue("power")
        power = left**right
        if isinstance(power, complex) or not math.isfinite(power):
            raise NoValue("power")
        return Fraction(power) if not isinstance(power, Fraction) else power
    return {"+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right}[op]()
