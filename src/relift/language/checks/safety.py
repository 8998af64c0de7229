"""Safety: every logic variable gets its values from somewhere, and conjunctions are put into an order that shows where.

A positive atom binds its plain variables; ``X = expression`` binds X once the right side is known; everything else, a
negation, a test, a computed argument, needs variables that are bound already. In a disjunction every part must bind the
variables that are used outside of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from relift.language import checked_model as c
from relift.language.checks.walk import Part, children, occurrences, variables_of


@final
@dataclass(frozen=True)
class Unbound:
    """A variable that nothing binds.

    Parameters
    ----------
    variable
        The occurrence to point at.
    reason
        What is wrong with it, to be put behind its name.
    """

    variable: c.LogicVariable
    reason: str


@final
class UnsafeError(Exception):
    """A formula cannot be evaluated; internal to the checker.

    Parameters
    ----------
    unbound
        The variables at fault.
    """

    def __init__(self, unbound: list[Unbound]) -> None:
        super().__init__(unbound)
        self.unbound = unbound


def in_order(formula: c.Formula, bound: set[str], shared: set[str]) -> tuple[c.Formula, set[str]]:
    """Put a formula into evaluation order.

    Parameters
    ----------
    formula
        Parts of conjunctions in any order.
    bound
        Variables that have a value already.
    shared
        Variables that are used outside of the formula.

    Returns
    -------
    formula
        The same, with conjunctions in evaluation order and `binds` set in the comparisons that bind.
    bound
        All variables that have a value afterwards.

    Raises
    ------
    UnsafeError
        If some variable is never bound.

    Examples
    --------
    >>> x, y = c.LogicVariable("X"), c.LogicVariable("Y")
    >>> formula = c.And((c.Comparison("=", y, c.Arithmetic("+", x, c.Constant(1))), c.Holds("node", (x,))))
    >>> ordered, bound = in_order(formula, set(), {"Y"})
    >>> [type(part).__name__ for part in ordered.parts], sorted(bound)
    (['Holds', 'Comparison'], ['X', 'Y'])
    """
    match formula:
        case c.TrueFormula():
            return formula, bound
        case c.Holds():
            after = bound | {a.name for a in formula.arguments if isinstance(a, c.LogicVariable)}
            _demand(formula, after, "is used in arithmetic, but nothing binds it")
            return formula, after
        case c.Comparison():
            return _comparison(formula, bound)
        case c.InRange():
            for end in (formula.first, formula.last):
                _demand(end, bound, "is needed for this range, but nothing binds it")
            own = {formula.value.name} if isinstance(formula.value, c.LogicVariable) else set[str]()
            _demand(formula.value, bound | own, "is needed for this range, but nothing binds it")
            return formula, bound | own
        case c.Not():
            _demand(formula.part, bound, "occurs under negation, and no positive atom binds it")
            return c.Not(in_order(formula.part, bound, set())[0]), bound
        case c.Or():
            return _disjunction(formula, bound, shared)
        case c.And():
            return _conjunction(formula, bound, shared)


def _demand(part: c.Formula | c.DataExpression, bound: set[str], reason: str) -> None:
    missing = {v.name: v for v in reversed([*occurrences(part)]) if v.name not in bound}
    if missing:
        raise UnsafeError([Unbound(v, reason) for v in reversed(missing.values())])


def _comparison(test: c.Comparison, bound: set[str]) -> tuple[c.Formula, set[str]]:
    if test.op == "=":
        for left, right in ((test.left, test.right), (test.right, test.left)):
            if isinstance(left, c.LogicVariable) and left.name not in bound and variables_of(right).keys() <= bound:
                return replace(test, left=left, right=right, binds=left.name), bound | {left.name}
        for left, right in ((test.left, test.right), (test.right, test.left)):
            if isinstance(left, c.LogicVariable) and not isinstance(right, c.LogicVariable):
                _demand(right, bound, "is needed for this equality, but nothing binds it")
    # A param without default would have bound its arguments: see the guards of a test.
    for value in _params(test):
        _demand(value, bound, f"is not bound: {value.name} has a default, so tuples without data pass the test too")
    _demand(test, bound, "is compared, but nothing binds it")
    return test, bound


def _params(part: Part) -> Iterator[c.ParameterValue]:
    if isinstance(part, c.ParameterValue):
        yield part
    if not isinstance(part, (c.Indicator, c.DataAggregate)):
        for child in children(part):
            yield from _params(child)


def _disjunction(formula: c.Or, bound: set[str], shared: set[str]) -> tuple[c.Formula, set[str]]:
    parts, after = list[c.Formula](), list[set[str]]()
    for part in formula.parts:
        ordered, bound_there = in_order(part, bound, shared)
        parts.append(ordered)
        after.append(bound_there)
    everywhere = set.intersection(*after)
    missing = {v.name: v for v in reversed([*occurrences(formula)]) if v.name in shared - everywhere}
    if missing:
        raise UnsafeError([Unbound(v, "is not bound by every part of the |") for v in reversed(missing.values())])
    # What only some parts bind, or what is not used outside, is existential in each part.
    return c.Or(tuple(parts)), bound | (everywhere & shared)


def _conjunction(formula: c.And, bound: set[str], shared: set[str]) -> tuple[c.Formula, set[str]]:
    waiting, ordered = list(formula.parts), list[c.Formula]()
    uses = [set(variables_of(part)) for part in waiting]
    while waiting:
        problems = list[Unbound]()
        for k, part in enumerate(waiting):
            outside = shared.union(*(u for i, u in enumerate(uses) if i != k))
            try:
                done, bound = in_order(part, bound, outside)
            except UnsafeError as unsafe:
                problems.extend(unsafe.unbound)
                continue
            ordered.append(done)
            shared = shared | uses[k]  # parts placed already still count as outside
            del waiting[k], uses[k]
            break
        else:
            distinct = {u.variable.name: u for u in reversed(problems)}
            raise UnsafeError([*reversed(distinct.values())])
    return c.And(tuple(ordered)), bound
