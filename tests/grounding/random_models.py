"""Random small models as text, with random tables: every formula is safe by construction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

RELATIONS = {"p": "n", "q": "nn", "r": "nnn", "s": "tn"}
PARAMS = {"a": "n", "b": "nn"}
DEFAULTED = {"d": "nn"}
NUMBERS = st.integers(0, 3)
TEXTS = st.sampled_from(["u", "v", "it's", 'say "x"; drop table t'])
VALUES = st.one_of(st.integers(-2, 2), st.sampled_from([0.1, 0.25, -0.3]))


def keys(signature: str) -> st.SearchStrategy[Any]:
    return st.tuples(*(NUMBERS if kind == "n" else TEXTS for kind in signature))


@st.composite
def data(draw: Any) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for name, signature in RELATIONS.items():
        tables[name] = draw(st.lists(keys(signature), max_size=6))
    for name, signature in (PARAMS | DEFAULTED).items():
        tables[name] = draw(st.dictionaries(keys(signature), VALUES, max_size=8))
    return tables


@dataclass
class Writer:
    """Draws pieces of text; ``bound`` maps variables that may be used to their kind."""

    draw: Any
    n_variables: int = 0
    bound: dict[str, str] = field(default_factory=dict)

    def fresh(self, kind: str) -> str:
        self.n_variables += 1
        return f"{kind.upper()}{self.n_variables}"

    def pick(self, options: list[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def argument(self, kind: str, bound: dict[str, str], allow_computed: bool = True) -> str:
        known = [name for name, found in bound.items() if found == kind]
        if kind == "t":
            return self.pick([*known, "u", '"it\'s"'])
        computed = [f"{name}+1" for name in known] + [f"3-{name}" for name in known] if allow_computed else []
        if computed and self.draw(st.integers(0, 3)) == 0:
            computed = [self.pick([f"prev({name})", f"next({name})", f"mod({name}, 2)"]) for name in known]
        return self.pick([*known, *known, *computed, "1", "2"])

    def atom(self, bound: dict[str, str], new: dict[str, str], negated: bool = False) -> str:
        """An atom that binds what is in ``new``, as far as it fits."""
        tables = RELATIONS | PARAMS | DEFAULTED
        kinds = set(new.values())
        name = self.pick([n for n, signature in tables.items() if not kinds or kinds <= set(signature)])
        left = dict(new)
        arguments = []
        for kind in tables[name]:
            fitting = [v for v, found in left.items() if found == kind]
            if fitting:
                arguments.append(fitting[0])
                del left[fitting[0]]
                continue
            arguments.append(self.pick(["_", self.argument(kind, bound)]))
        return f"{name}({','.join(arguments)})"

    def binding(self, bound: dict[str, str], new: str, kind: str, depth: int) -> str:
        choices = ["atom", "atom", "atom"]
        numbers = [name for name, found in bound.items() if found == "n"]
        if kind == "n":
            choices += ["range", *(["equation", "whole"] if numbers else [])]
        if depth:
            choices += ["or", "existential"]
        choice = self.pick(choices)
        if choice == "range":
            ends = [self.pick(["0", "1", *numbers]), self.pick(["2", "3", *(f"{name}+1" for name in numbers)])]
            return f"{new} in {ends[0]}..{ends[1]}"
        if choice == "whole":
            name = self.pick(numbers)
            return (
                f"{new} = {self.pick([f'floor({name}/2)', f'ceil({name}/2)', f'mod(1-{name}, 3)', f'round({name}/2)'])}"
            )
        if choice == "equation":
            return f"{new} = {self.pick(numbers)} {self.pick(['+', '-', '*'])} {self.pick(['1', '2', *numbers])}"
        if choice == "or":
            parts = [self.formula(dict(bound), {new: kind}, depth - 1) for _ in range(2)]
            return f"({parts[0]} | {parts[1]})"
        if choice == "existential":
            other = self.fresh("n")
            first = self.atom(bound, {other: "n"})
            return f"{first} & {self.atom({**bound, other: 'n'}, {new: kind})}"
        return self.atom(bound, {new: kind})

    def test(self, bound: dict[str, str], depth: int) -> str:
        choices = ["compare", "not", "not"]
        numbers = [name for name, found in bound.items() if found == "n"]
        choices += ["in range"] if numbers else []
        if depth:
            choices += ["not formula", "or", "count", "indicator"]
        choice = self.pick(choices)
        if choice == "in range":
            return f"{self.pick(['', '!'])}({self.pick(numbers)} in {self.pick(['0', '1'])}..{self.pick(['1', '2'])})"
        if choice == "not":
            return f"!{self.atom(bound, {}, negated=True)}"
        if choice == "not formula":
            return f"!({self.test(bound, depth - 1)} & {self.test(bound, depth - 1)})"
        if choice == "or":
            return f"({self.test(bound, depth - 1)} | {self.test(bound, depth - 1)})"
        if choice == "count":
            inner = self.fresh("n")
            return f"count{{{inner} in {self.formula(bound, {inner: 'n'}, depth - 1)}}} {self.pick(['>', '<=', '='])} 1"
        if choice == "indicator":
            return f"[{self.test(bound, depth - 1)}] + 1 < 2"
        return f"{self.number(bound, 0)} {self.pick(['<', '<=', '!=', '>=', '='])} {self.number(bound, 0)}"

    def formula(self, bound: dict[str, str], new: dict[str, str], depth: int) -> str:
        """A conjunction that binds every variable of ``new``."""
        bound = dict(bound)
        parts = []
        for name, kind in new.items():
            parts.append(self.binding(bound, name, kind, depth))
            bound[name] = kind
        for _ in range(self.draw(st.integers(0, 1))):
            parts.append(self.test(bound, depth))
        return " & ".join(parts)

    def number(self, bound: dict[str, str], depth: int) -> str:
        """A data expression."""
        numbers = [name for name, found in bound.items() if found == "n"]
        choices = ["constant", *(["variable"] if numbers else [])]
        if depth:
            choices += ["param", "default", "sum", "product", "aggregate", "indicator", "divide", "count"]
        choice = self.pick(choices)
        if choice == "variable":
            return str(self.pick(numbers))
        if choice == "param":
            return f"a({self.argument('n', bound)})"
        if choice == "default":
            return f"d({self.argument('n', bound)},{self.argument('n', bound)})"
        if choice in {"sum", "product"}:
            sign = self.pick(["+", "-"]) if choice == "sum" else "*"
            return f"({self.number(bound, depth - 1)} {sign} {self.number(bound, depth - 1)})"
        if choice == "divide":
            return f"({self.number(bound, depth - 1)} / {self.pick(['2', '4', *numbers])})"
        if choice == "count":
            inner = self.fresh("n")
            return f"count{{{inner} in {self.formula(bound, {inner: 'n'}, 0)}}}"
        if choice == "indicator":
            return f"[{self.test(bound, 0)}]"
        if choice == "aggregate":
            inner = self.fresh("n")
            kind = self.pick(["sum", "sum", "min", "max"])
            formula = self.formula(bound, {inner: "n"}, 0)
            return f"({kind}{{{inner} in {formula}}} ({self.number({**bound, inner: 'n'}, 0)}))"
        return str(self.pick(["1", "2", "0.5", "-1", "0.1"]))

    def linear(self, bound: dict[str, str], depth: int) -> str:
        """A term with one unknown."""
        unknown = self.pick(["x", "y", "z"])
        if depth and self.draw(st.booleans()):
            inner = self.fresh("n")
            formula = self.formula(bound, {inner: "n"}, 1)
            return f"sum{{{inner} in {formula}}} ({self.linear({**bound, inner: 'n'}, depth - 1)})"
        coefficient = self.number(bound, 1)
        if unknown == "z":
            return f"{coefficient}*z"
        first = self.argument("n", bound)
        if unknown == "x":
            return f"{coefficient}*x({first})"
        return f"{coefficient}*y({first},{self.argument('n', bound)})"


@st.composite
def models(draw: Any) -> str:
    writer = Writer(draw)
    lines = [
        "relation p/1 ordered, q/2, r/3, s/2;",
        "param a/1, b/2, d/2 default 0.5;",
        "var x/1, y/2, z;",
    ]
    new = {writer.fresh("n"): "n", writer.fresh("n"): "n"}
    lines.append(f"e({','.join(new)}) if {writer.formula({}, new, 1)};")
    if draw(st.booleans()):
        lines.append("e(X,Z) if e(X,Y) & q(Y,Z);")
    listed = {writer.fresh(kind): kind for kind in draw(st.lists(st.sampled_from("nnt"), min_size=1, max_size=2))}
    body = " + ".join(writer.linear(listed, 2) for _ in range(draw(st.integers(1, 2))))
    sign = draw(st.sampled_from(["<=", ">=", "="]))
    formula = writer.formula({}, listed, 1)
    lines.append(f"subject to c forall {{{','.join(listed)} in {formula}}}: {body} {sign} {writer.number(listed, 1)};")
    key = {writer.fresh("n"): "n", writer.fresh("n"): "n"}
    listed_key = ",".join(key)
    row = f"{writer.linear(key, 1)} <= {writer.number(key, 1)}"
    lines.append(f"subject to f forall {{{listed_key} in e({listed_key})}}: {row};")
    if draw(st.booleans()):
        row_of = {writer.fresh("n"): "n"}
        index = {writer.fresh("n"): "n"}
        both = {**row_of, **index}
        terms = f"sum{{{next(iter(index))} in {writer.formula(row_of, index, 1)}}} ({writer.linear(both, 1)} + 1)**2"
        alone = f"({writer.linear(row_of, 1)} + {writer.number(row_of, 0)})**2"
        body = draw(st.sampled_from([terms, alone, f"{terms} + 2*{alone} + {writer.linear(row_of, 0)} + 0.5"]))
        where = writer.formula({}, row_of, 1)
        lines.append(f"subject to g forall {{{next(iter(row_of))} in {where}}}: {body} <= {writer.number(row_of, 1)};")
    index = {writer.fresh("n"): "n"}
    inside = f"({writer.linear(index, 1)} + {writer.number(index, 0)})**2"
    square = f"sum{{{next(iter(index))} in {writer.formula({}, index, 1)}}} {inside}"
    lines.append(f"minimize o: {square} + {writer.linear({}, 1)};")
    return "\n".join(lines)
