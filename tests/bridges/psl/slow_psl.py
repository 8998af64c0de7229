"""PSL by enumeration: every assignment of constants to variables is tried; slow, obvious, and independent of relift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pytest

cp = pytest.importorskip("cvxpy", reason="CVXPY solves the reference")

Ground = tuple[str, tuple[str, ...]]


class Missing(Exception):  # noqa: N818
    """An atom of an open predicate is neither observed nor a target."""


@dataclass(frozen=True)
class Atom:
    """A predicate with arguments: variables are upper-case, constants lower-case, ``+A`` is summed over."""

    name: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(a if is_variable(a) else repr(a) for a in self.arguments)})"

    def variables(self) -> Iterator[str]:
        yield from (a for a in self.arguments if is_variable(a))

    def at(self, env: dict[str, str]) -> Ground:
        return self.name, tuple(env.get(a.lstrip("+"), a) for a in self.arguments)


def is_variable(word: str) -> bool:
    return word.lstrip("+")[0].isupper()


@dataclass(frozen=True)
class Logical:
    body: tuple[tuple[bool, Atom], ...]
    head: tuple[tuple[bool, Atom], ...]
    tests: tuple[tuple[str, str, str], ...] = ()
    weight: float | None = None
    power: int = 1

    def __str__(self) -> str:
        body = " & ".join(
            [("!" if negated else "") + str(a) for negated, a in self.body]
            + [f"({a} {s} {b})" for a, s, b in self.tests]
        )
        head = " | ".join(("!" if negated else "") + str(a) for negated, a in self.head)
        text = f"{body} -> {head}" if body else head
        return f"{text} ." if self.weight is None else f"{self.weight}: {text}" + (" ^2" if self.power == 2 else "")


@dataclass(frozen=True)
class Arithmetic:
    """``sum of coefficient * atom`` compared with a constant; a coefficient "|B|" divides by the count of B."""

    terms: tuple[tuple[float, bool, Atom], ...]
    sign: str
    constant: float
    weight: float | None = None
    power: int = 1
    filters: tuple[tuple[str, bool, Atom], ...] = ()

    def __str__(self) -> str:
        parts = []
        for coefficient, is_mean, atom in self.terms:
            summed = [a.lstrip("+") for a in atom.arguments if a.startswith("+")]
            parts.append(f"{coefficient} * {atom}" + (f" / |{summed[0]}|" if is_mean else ""))
        text = f"{' + '.join(parts)} {self.sign} {self.constant}"
        text = f"{text} ." if self.weight is None else f"{self.weight}: {text}" + (" ^2" if self.power == 2 else "")
        return text + "".join(f" {{{v}: {'!' if negated else ''}{a}}}" for v, negated, a in self.filters)


@dataclass
class World:
    """Data: observed values and targets, and which predicates are open."""

    constants: list[str]
    open: set[str]
    observed: dict[Ground, float]
    targets: set[Ground]
    unknown: dict[Ground, Any] = field(default_factory=dict)

    def exists(self, atom: Ground) -> bool:
        return atom in self.observed or atom in self.targets

    def value(self, atom: Ground) -> Any:
        if atom in self.observed:
            return self.observed[atom]
        if atom in self.targets:
            return self.unknown.setdefault(atom, cp.Variable())
        if atom[0] in self.open:
            raise Missing(atom)
        return 0.0

    def assignments(self, names: list[str]) -> Iterator[dict[str, str]]:
        for values in product(self.constants, repeat=len(names)):
            yield dict(zip(names, values, strict=True))


def distances(world: World, rule: Logical | Arithmetic) -> Iterator[tuple[Any, bool]]:
    """For every grounding the distance l and whether it has an unknown; two for a weighted equality."""
    yield from logical(world, rule) if isinstance(rule, Logical) else arithmetic(world, rule)


def logical(world: World, rule: Logical) -> Iterator[tuple[Any, bool]]:
    clause = [(not negated, atom) for negated, atom in rule.body] + list(rule.head)
    joined = list(dict.fromkeys(atom for negated, atom in clause if negated))
    looked_up = list(dict.fromkeys(atom for negated, atom in clause if not negated))
    names = list(dict.fromkeys(v for atom in joined + looked_up for v in atom.variables()))
    for env in world.assignments(names):
        if not all(world.exists(atom.at(env)) for atom in joined):
            continue
        if not all(compare(env.get(a, a), sign, env.get(b, b)) for a, sign, b in rule.tests):
            continue
        grounded = [world.value(a.at(env)) for a in joined], [world.value(a.at(env)) for a in looked_up]
        has_unknown = any(a.at(env) in world.targets and a.at(env) not in world.observed for a in joined + looked_up)
        yield 1 - sum(grounded[1]) - sum(1 - x for x in grounded[0]), has_unknown


def compare(left: str, sign: str, right: str) -> bool:
    return {"!=": left != right, "==": left == right, "%": left < right}[sign]


def arithmetic(world: World, rule: Arithmetic) -> Iterator[tuple[Any, bool]]:
    atoms = [atom for _, _, atom in rule.terms]
    plain = list(dict.fromkeys(v for atom in atoms for v in atom.variables() if not v.startswith("+")))
    summed = list(dict.fromkeys(v.lstrip("+") for atom in atoms for v in atom.variables() if v.startswith("+")))
    for env in world.assignments(plain):
        everywhere = ({**env, **inner} for inner in world.assignments(summed))
        if not any(all(world.exists(atom.at(full)) for atom in atoms) for full in everywhere):
            continue
        total, has_unknown = -rule.constant, False
        for coefficient, is_mean, atom in rule.terms:
            own = [v.lstrip("+") for v in atom.variables() if v.startswith("+")]
            members = []
            for inner in world.assignments(own):
                full = {**env, **inner}
                if world.exists(atom.at(full)) and all(
                    (world.value(condition.at(full)) > 0) != negated
                    for v, negated, condition in rule.filters
                    if v in own
                ):
                    members.append(atom.at(full))
            scale = coefficient / len(members) if is_mean and members else coefficient
            total = total + sum(scale * world.value(member) for member in members)
            has_unknown |= any(member in world.targets and member not in world.observed for member in members)
        if rule.sign == "<=":
            yield total, has_unknown
        elif rule.sign == ">=":
            yield -total, has_unknown
        else:
            yield total, has_unknown
            yield -total, has_unknown


def optimum(world: World, rules: list[Logical | Arithmetic]) -> tuple[float, dict[Ground, float]]:
    """The optimum, observed groundings included, and the values of all unknowns that occur; infinite if infeasible."""
    total: Any = 0.0
    rows = []
    for rule in rules:
        for distance, has_unknown in distances(world, rule):
            if rule.weight is not None:
                total = total + rule.weight * cp.power(cp.pos(distance), rule.power)
            elif has_unknown:
                rows.append(distance <= 0)
    rows += [bound for x in world.unknown.values() for bound in (x >= 0, x <= 1)]
    problem = cp.Problem(cp.Minimize(total), rows)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status in {"optimal", "optimal_inaccurate", "infeasible"}
    return float(problem.value), {atom: float(x.value) for atom, x in world.unknown.items() if x.value is not None}
