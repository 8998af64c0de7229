"""Stratification: an order in which rules can be evaluated, so that a negation only asks for what is finished.

Predicates that depend on each other form one stratum (a strongly connected component, found by Tarjan's algorithm,
which also yields them in evaluation order). A dependence through a negation, an aggregate or ``[..]`` inside of one
stratum has no agreed meaning and is an error; engines answer it wrongly without saying so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from relift.errors import StratificationError
from relift.language import checked_model as c
from relift.language.checks.names import ErrorList
from relift.language.checks.walk import Part, children, predicates_of

Graph = Mapping[str, Mapping[str, object]]


def strata_from_rules(
    rules: tuple[c.Rule, ...], arities: Mapping[str, int], errors: ErrorList
) -> tuple[c.Stratum, ...]:
    """Group rules into strata; what depends on its own negation goes to `errors`.

    Parameters
    ----------
    rules
        All rules, in the order of the text.
    arities
        Arity of each predicate that has rules.
    errors
        Takes the errors.
    """
    graph: dict[str, dict[str, c.Holds | None]] = {rule.head: {} for rule in rules}
    for rule in rules:
        for atom, is_inside in _asked(rule):
            if atom.predicate in graph and (is_inside or atom.predicate not in graph[rule.head]):
                graph[rule.head][atom.predicate] = atom if is_inside else None
    place, by_head = {name: k for k, name in enumerate(graph)}, dict[str, list[c.Rule]]()
    for rule in rules:
        by_head.setdefault(rule.head, []).append(rule)
    strata = list[c.Stratum]()
    for group in components(graph):
        members = sorted(group, key=place.__getitem__)
        uses = [(head, name, atom) for head in members for name, atom in graph[head].items()]
        wrong = [(head, name, atom) for head, name, atom in uses if name in group and atom is not None]
        if wrong:
            head, name, atom = wrong[0]
            cycle = " -> ".join([head, *_path(graph, name, head, group)])
            errors.add(
                StratificationError,
                atom.span,
                f"{head} depends on itself through a negation, an aggregate or [..]: {cycle}",
                "Inside a recursion, atoms must not be negated, aggregated or in brackets.",
            )
        own = tuple(rule for name in members for rule in by_head[name])
        is_recursive = any(name in group for head in members for name in graph[head])
        creates = is_recursive and any(_creates_values(rule) for rule in own)
        strata.append(c.Stratum({name: arities[name] for name in members}, own, is_recursive, creates))
    return tuple(strata)


def _asked(rule: c.Rule) -> Iterator[tuple[c.Holds, bool]]:
    yield from predicates_of(rule.body)
    for argument in rule.arguments:
        yield from predicates_of(argument)


def _creates_values(rule: c.Rule) -> bool:
    computed = (c.Arithmetic, c.Negative, c.Function, c.Indicator, c.DataAggregate)

    def binds_computed(part: Part) -> bool:
        if isinstance(part, c.InRange):
            return True
        if isinstance(part, c.Comparison):
            return part.binds is not None and isinstance(part.right, computed)
        return any(binds_computed(child) for child in children(part))

    return binds_computed(rule.body) or any(isinstance(a, computed) for a in rule.arguments)


def _path(graph: Graph, start: str, goal: str, group: set[str]) -> list[str]:
    """A shortest way from start to goal inside the group."""
    came_from: dict[str, str | None] = {start: None}
    queue = [start]
    for name in queue:
        if name == goal:
            break
        for following in graph[name]:
            if following in group and following not in came_from:
                came_from[following] = name
                queue.append(following)
    path, step = list[str](), goal if goal in came_from else None
    while step is not None:
        path.append(step)
        step = came_from[step]
    return path[::-1]


def components(graph: Graph) -> list[set[str]]:
    """Strongly connected components, each after all that it depends on (Tarjan 1972, without recursion).

    Examples
    --------
    >>> [sorted(group) for group in components({"a": {"b": 0}, "b": {"a": 0, "d": 0}, "d": {}})]
    [['d'], ['a', 'b']]
    """
    number, low, on_stack = dict[str, int](), dict[str, int](), set[str]()
    stack, found = list[str](), list[set[str]]()
    for root in graph:
        if root in number:
            continue
        work = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, following = work[-1]
            for other in following:
                if other not in graph:
                    continue
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_stack:
                    low[name] = min(low[name], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    group = set[str]()
                    while name not in group:
                        group.add(stack.pop())
                    on_stack -= group
                    found.append(group)
    return found
