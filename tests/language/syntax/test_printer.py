from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from relift.language.syntax import nodes as n
from relift.language.syntax.parser import parse_text
from relift.language.syntax.printer import format_text, print_expression, print_model
from relift.language.syntax.syntax_errors import RESERVED

# --- random models ---

name_texts = st.text(string.ascii_lowercase + "_12X", min_size=1, max_size=5).map(lambda s: "p" + s)
names = name_texts.filter(lambda s: s not in RESERVED)
logic_names = st.sampled_from(["X", "Y", "I1", "Long_name"]).map(n.LogicName)
numbers = st.one_of(
    st.integers(0, 10**20).map(str),
    st.floats(0, 1e300).map(repr),
    st.sampled_from(["0.50", ".5", "1e5", "2E-3", "007"]),
).map(n.Number)
signed = st.one_of(numbers, numbers.map(lambda x: n.Number("-" + x.text)))
texts = st.one_of(names, st.text(max_size=8), st.sampled_from(["sum", "a b", 'q"\\', "Ünï ; #", "not"])).map(n.Text)
whole = st.integers(-1000, 1000).map(lambda k: n.Number(str(k)))
leaves = st.one_of(
    numbers,
    texts,
    logic_names,
    st.just(n.Wildcard()),
    st.just(n.Truth()),
    names.map(n.Atom),
)


def _extend(inner: st.SearchStrategy[n.Node]) -> st.SearchStrategy[n.Node]:
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)

    def signs(choices: list[str]) -> st.SearchStrategy[list[tuple[str, n.Node]]]:
        return st.lists(st.tuples(st.sampled_from(choices), inner), min_size=1, max_size=3)

    def chain(kind: type[n.Sum] | type[n.Compare], choices: list[str]) -> st.SearchStrategy[n.Node]:
        return st.builds(
            lambda first, rest: kind((first, *(e for _, e in rest)), tuple(s for s, _ in rest)), inner, signs(choices)
        )

    index = st.builds(n.Index, st.lists(logic_names, min_size=1, max_size=3).map(tuple), inner)
    return st.one_of(
        st.builds(n.Atom, names, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(n.Minus, inner),
        chain(n.Sum, ["+", "-"]),
        chain(n.Compare, ["=", "!=", "<", "<=", ">", ">="]),
        st.builds(n.Binary, st.sampled_from(["*", "/", "**"]), inner, inner),
        several.map(n.Both),
        several.map(n.Either),
        st.builds(n.Negated, inner),
        st.builds(n.Bracket, inner),
        st.builds(n.Call, st.sampled_from(["abs", "exp", "sqrt", "log"]), inner.map(lambda e: (e,))),
        st.builds(n.Call, st.sampled_from(["min", "max"]), several),
        st.builds(n.Indexed, st.sampled_from(["sum", "min", "max", "norm", "geo_mean"]), index, inner),
        st.builds(n.Indexed, st.just("quad_over_lin"), index, inner, inner.map(lambda e: (e,))),
        st.builds(n.Indexed, st.just("count"), index, st.none()),
        st.builds(n.Range, st.one_of(st.none(), logic_names), inner, inner),
        st.builds(lambda name, e: n.Atom(name, (e, n.Star())), names, inner),
        st.builds(lambda e, y: n.Piecewise(e, ((n.Number("-1"), y), (n.Number("2.5"), y))), inner, signed),
    )


expressions: st.SearchStrategy[n.Node] = st.recursive(leaves, _extend, max_leaves=12)
simple_formulas = st.one_of(
    st.just(n.Truth()),
    st.builds(n.Atom, names, st.lists(expressions, min_size=1, max_size=3).map(tuple)),
    st.builds(lambda a, b, sign: n.Compare((a, b), (sign,)), expressions, expressions, st.sampled_from(["<=", "!="])),
    st.builds(n.Range, st.one_of(st.none(), logic_names), expressions, expressions),
)
formulas: st.SearchStrategy[n.Node] = st.recursive(
    simple_formulas,
    lambda inner: st.one_of(
        st.builds(n.Negated, inner),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: n.Both(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: n.Either(tuple(parts))),
    ),
    max_leaves=4,
)
atoms = st.one_of(names.map(n.Atom), st.builds(n.Atom, names, st.lists(expressions, min_size=1, max_size=3).map(tuple)))
indexes = st.builds(n.Index, st.lists(logic_names, min_size=1, max_size=3).map(tuple), expressions)
sources = st.one_of(st.none(), st.text(max_size=8))
arities = st.integers(0, 9)
maybe_signed = st.one_of(st.none(), signed)
bounds = st.lists(st.builds(n.Bound, st.sampled_from(["<=", ">=", "="]), expressions), max_size=2).map(tuple)
givens = st.one_of(st.none(), names)
plain_variables = st.builds(
    lambda name, arity, b, given: n.VariableItem(name, arity, (), None, b, given), names, arities, bounds, givens
)
variables = st.builds(
    lambda name, over, domain, b, given: n.VariableItem(name, len(over), tuple(over), domain, b, given),
    names,
    st.lists(logic_names, min_size=1, max_size=3),
    formulas,
    bounds,
    givens,
)
constants = st.one_of(signed, texts)
entries = st.one_of(
    st.builds(n.Entry, st.lists(constants, min_size=1, max_size=3).map(tuple), maybe_signed),
    st.builds(lambda first, value, last: n.Entry((first,), value, last), whole, maybe_signed, whole),
    st.builds(
        lambda first, value, last: n.Entry((n.Text(""),), value, computed=(first, n.Sum((n.Atom("m"), last), ("+",)))),
        st.one_of(names.map(n.Atom), st.integers(0, 9).map(lambda k: n.Number(str(k)))),
        maybe_signed,
        expressions,
    ),
)


def _some(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=1, max_size=3).map(tuple)


summed = logic_names.map(lambda name: n.LogicName(name.name, is_summed=True))
rule_atoms = st.builds(
    n.Atom, names, st.lists(st.one_of(logic_names, summed, texts), min_size=1, max_size=3).map(tuple)
)
literals = st.one_of(rule_atoms, rule_atoms.map(n.Negated))
several_literals = st.lists(literals, min_size=2, max_size=3).map(tuple)
sides = st.tuples(
    st.one_of(literals, several_literals.map(n.Both)), st.one_of(literals, several_literals.map(n.Either))
).map(lambda both: n.Implies(*both))
numbers_in_rules = st.one_of(numbers, st.builds(lambda name: n.Cardinality(name.name), logic_names))
summands = st.one_of(
    rule_atoms, numbers_in_rules, st.builds(lambda a, b: n.Binary("*", a, b), numbers_in_rules, rule_atoms)
)
sums = st.builds(lambda a, b: n.Sum((a, b), ("-",)), summands, summands)
comparisons = st.builds(
    lambda a, sign, b: n.Compare((a, b), (sign,)), sums, st.sampled_from(["<=", ">=", "="]), st.one_of(sums, summands)
)
filters = st.lists(st.builds(n.Filter, logic_names, st.one_of(literals, several_literals.map(n.Both))), max_size=2)
soft_rules = st.builds(
    n.SoftRule,
    st.one_of(st.none(), numbers),
    st.one_of(sides, comparisons, literals, several_literals.map(n.Either)),
    st.sampled_from([1, 2]),
    st.booleans(),
    filters.map(tuple),
)


statements: st.SearchStrategy[n.Statement] = st.one_of(
    soft_rules,
    _some(st.builds(n.RelationItem, names, arities, sources)).map(n.Relations),
    _some(st.builds(n.RelationItem, names, st.just(1), sources, st.booleans())).map(n.Relations),
    _some(
        st.builds(
            lambda name, over, e: n.ParamItem(name, len(over), parameters=tuple(over), formula=n.Sum((e, e), ("-",))),
            names,
            st.lists(logic_names, max_size=3),
            expressions,
        )
    ).map(n.Params),
    _some(st.builds(n.ParamItem, names, arities, sources, maybe_signed, maybe_signed)).map(n.Params),
    _some(st.one_of(variables, plain_variables)).map(n.Variables),
    st.builds(n.Table, names, st.lists(entries, max_size=12).map(tuple)),
    atoms.map(n.Fact),
    st.builds(n.RuleStatement, atoms, expressions),
    st.builds(n.Definition, atoms, expressions, st.booleans()),
    st.builds(n.ObjectiveStatement, st.sampled_from(["min", "max"]), expressions, st.one_of(st.none(), names)),
    st.builds(n.ConstraintStatement, expressions, st.one_of(st.none(), names), st.one_of(st.none(), indexes)),
)
models: st.SearchStrategy[n.ModelText] = st.lists(statements, max_size=6).map(lambda s: n.ModelText(tuple(s)))

# --- tests ---

GOLDEN = sorted((Path(__file__).parents[2] / "golden").glob("*.rlp"))
slow = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@slow
@given(models)
def test_reading_what_was_printed_gives_the_same_model(model: n.ModelText) -> None:
    text = print_model(model)
    assert parse_text(text) == model
    assert format_text(text) == text


@slow
@given(expressions)
def test_an_expression_prints_as_what_it_is(node: n.Node) -> None:
    statement = parse_text(f"minimize: {print_expression(node)};").statements[0]
    assert isinstance(statement, n.ObjectiveStatement)
    assert statement.body == node


@pytest.mark.parametrize("path", GOLDEN, ids=lambda p: p.stem)
def test_a_golden_program_survives_formatting(path: Path) -> None:
    text = path.read_text("utf-8")
    model, formatted = parse_text(text), format_text(text)
    assert parse_text(formatted) == model
    assert format_text(formatted) == formatted
    assert max(map(len, formatted.splitlines())) <= 120
    comments = [line.split("#", 1)[1] for line in text.splitlines() if "#" in line]
    assert all(comment.rstrip() in formatted for comment in comments)


@slow
@given(
    st.lists(st.sampled_from(["# one", "# two; x", "", "var x;", "var y; # behind", "relation p/1,\n# inside\nq/1;"]))
)
@example(["var x; # a", "# b", "", "# c"])
def test_comments_stay_where_they_were(lines: list[str]) -> None:
    text = "\n".join(lines)
    formatted = format_text(text)
    assert format_text(formatted) == formatted
    assert formatted.count("#") == text.count("#")
    assert [line for line in formatted.splitlines() if line.startswith("var")] == [
        line.replace("; #", ";  #") for line in text.splitlines() if line.startswith("var")
    ]


def test_the_one_style() -> None:
    ugly = """
# head
relation  a/2,b/1 from 'x y.csv' ;param c=-1.50 default  2;# why


subject   to k forall{X,Y in a(X,Y)&~b(X)|not(X<=3)}: -x(X)^2+2*(1-c)/3>=-(sum{Z in b(Z)}x(Z))*c ;  # last
# tail"""
    assert format_text(ugly) == (
        '# head\nrelation a/2, b/1 from "x y.csv";\nparam c = -1.50 default 2;  # why\n\n'
        "subject to k forall {X, Y in a(X, Y) & !b(X) | !(X <= 3)}:\n"
        "    -x(X)**2 + 2*(1 - c)/3 >= (-sum{Z in b(Z)} x(Z))*c;  # last\n# tail"
    )


def test_long_lines_are_broken_at_the_loosest_place() -> None:
    text = "p(X) if " + " & ".join(f"some_relation_{k}(X, Y, Z)" for k in range(8)) + ";"
    formatted = format_text(text)
    assert all(len(line) <= 100 for line in formatted.splitlines())
    assert formatted.splitlines()[1].startswith("    some_relation_0")
    assert parse_text(formatted) == parse_text(text)
