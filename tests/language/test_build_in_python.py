"""Everything that text can say, Python can say: the six programs, built and compared with what their text means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relift.errors import (
    ArityError,
    DuplicateNameError,
    LanguageError,
    ModelBuildingError,
    SafetyError,
    UnknownNameError,
)
from relift.language.build_in_python import (
    Model,
    between,
    count_,
    exp,
    indicator,
    indices,
    log,
    max_,
    maximum,
    min_,
    minimum,
    sqrt,
    sum_,
    true,
)
from relift.language.checks.check_model import check_text
from relift.language.syntax.parser import parse_text

GOLDEN = Path(__file__).parents[1] / "golden"


def tc_qp_svm() -> Model:
    m = Model()
    I, J, I1, I2 = m.indices("I J I1 I2")
    word, cite, query = m.relation("word", 2), m.relation("cite", 2), m.relation("query", 1)
    label, c1, c2 = m.param("label", 1), m.param("c1", value=1), m.param("c2", value=0.5)
    feature = m.derive("feature", J, where=word(..., J))
    linked = m.derive("linked", I1, I2, where=label(I1) & query(I2) & (cite(I1, I2) | cite(I2, I1)))
    weight, bias = m.var("weight", J, where=feature(J)), m.var("bias")
    slack = m.var("slack", I, where=label(I), lower=0)
    coslack = m.var("coslack", I1, I2, where=linked(I1, I2), lower=0)
    predict = m.define("predict", I, body=sum_(weight(J), over=J, where=word(I, J)) + bias)
    slacks = sum_(slack(I), over=I, where=label(I))
    coslacks = sum_(coslack(I1, I2), over=(I1, I2), where=linked(I1, I2))
    m.minimise(sum_(weight(J) ** 2, over=J, where=feature(J)) + c1 * slacks + c2 * coslacks, name="loss")
    m.subject_to(label(I) * predict(I) >= 1 - slack(I), forall=I, where=label(I), name="margin")
    m.subject_to(
        label(I1) * predict(I2) >= 1 - coslack(I1, I2), forall=(I1, I2), where=linked(I1, I2), name="collective"
    )
    m.facts(label, {"p1": 1, "p2": 1, "p3": -1, "p4": -1})
    m.facts(query, ["q1", "q2", "q3", "q4", "q5"])
    words = "p1w1 p1w2 p2w1 p2w3 p3w4 p3w5 p4w4 p4w6 q1w2 q2w3 q3w5 q4w6 q5w1 q5w4"
    m.facts(word, [(pair[:2], pair[2:]) for pair in words.split()])
    cites = "p1q1 q2p2 p3q3 q4p4 p1q5 q5p3"
    m.facts(cite, [(pair[:2], pair[2:]) for pair in cites.split()])
    return m


def max_flow() -> Model:
    m = Model()
    X, Y, Z = m.indices("X Y Z")
    cap, source, target = m.param("cap", 2), m.relation("source", 1), m.relation("target", 1)
    edge = m.derive("edge", X, Y, where=cap(X, Y))
    node = m.derive("node", X, where=edge(X, ...) | edge(..., X))
    flow = m.var("flow", X, Y, where=edge(X, Y), lower=0, upper=cap(X, Y))
    m.maximise(sum_(flow(X, Y), over=(X, Y), where=source(X) & edge(X, Y)), name="total")
    inflow = sum_(flow(X, Z), over=X, where=edge(X, Z))
    outflow = sum_(flow(Z, Y), over=Y, where=edge(Z, Y))
    m.subject_to(inflow == outflow, forall=Z, where=node(Z) & ~source(Z) & ~target(Z), name="balance")
    pairs = "ab50 ac100 bd40 be20 cd60 cf20 de50 df60 eg70 fg70"
    m.facts(cap, {(p[0], p[1]): int(p[2:]) for p in pairs.split()})
    m.facts(source, ["a"])
    m.facts(target, ["g"])
    return m


def sudoku() -> Model:
    m = Model()
    I, J, X, U, V = m.indices("I J X U V")
    num, boxind, initial = m.relation("num", 1), m.relation("boxind", 1), m.relation("initial", 3)
    m.facts(num, range(1, 10))
    m.facts(boxind, range(1, 4))
    inside = (3 * (U - 1) < I) & (I <= 3 * U) & (3 * (V - 1) < J) & (J <= 3 * V)
    box = m.derive("box", I, J, U, V, where=boxind(U) & boxind(V) & num(I) & num(J) & inside)
    fill = m.var("fill", I, J, X, where=num(I) & num(J) & num(X), lower=0)
    m.maximise(sum_(fill(1, 1, X), over=X, where=num(X)))
    m.subject_to(sum_(fill(I, J, X), over=X, where=num(X)) == 1, forall=(I, J), where=num(I) & num(J), name="cell")
    m.subject_to(sum_(fill(I, J, X), over=J, where=num(J)) == 1, forall=(I, X), where=num(I) & num(X), name="row")
    m.subject_to(sum_(fill(I, J, X), over=I, where=num(I)) == 1, forall=(J, X), where=num(J) & num(X), name="col")
    m.subject_to(
        sum_(fill(I, J, X), over=(I, J), where=box(I, J, U, V)) == 1,
        forall=(X, U, V),
        where=num(X) & boxind(U) & boxind(V),
        name="blk",
    )
    m.subject_to(fill(I, J, X) == 1, forall=(I, J, X), where=initial(I, J, X), name="clue")
    return m


def map_lp() -> Model:
    m = Model()
    X, Y, V, W = m.indices("X Y V W")
    edge, val = m.relation("edge", 2), m.relation("val", 1)
    theta1, theta2 = m.param("theta1", 2, default=0), m.param("theta2", 4, default=0)
    node = m.derive("node", X, where=edge(X, ...) | edge(..., X))
    mu = m.var("mu", X, V, where=node(X) & val(V), lower=0)
    nu = m.var("nu", X, Y, V, W, where=edge(X, Y) & val(V) & val(W), lower=0)
    single = sum_(theta1(X, V) * mu(X, V), over=(X, V), where=theta1(X, V))
    m.maximise(
        single + sum_(theta2(X, Y, V, W) * nu(X, Y, V, W), over=(X, Y, V, W), where=theta2(X, Y, V, W)), name="score"
    )
    m.subject_to(sum_(mu(X, V), over=V, where=val(V)) == 1, forall=X, where=node(X), name="norm")
    left = sum_(nu(X, Y, V, W), over=W, where=val(W)) == mu(X, V)
    m.subject_to(left, forall=(X, Y, V), where=edge(X, Y) & val(V), name="left")
    right = sum_(nu(X, Y, V, W), over=V, where=val(V)) == mu(Y, W)
    m.subject_to(right, forall=(X, Y, W), where=edge(X, Y) & val(W), name="right")
    m.facts(val, [0, 1])
    m.facts(edge, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    return m


def lasso() -> Model:
    m = Model()
    I, J = m.indices("I J")
    x, y, weight = m.param("x", 2), m.param("y", 1), m.param("lambda", value=4)
    feature = m.derive("feature", J, where=x(..., J))
    w, t = m.var("w", J, where=feature(J)), m.var("t", J, where=feature(J))
    residual = y(I) - sum_(x(I, J) * w(J), over=J, where=x(I, J))
    m.minimise(sum_(residual**2, over=I, where=y(I)) + weight * sum_(t(J), over=J, where=feature(J)))
    m.subject_to(between(-t(J), w(J), t(J)), forall=J, where=feature(J), name="absval")
    rows = [(1, 0), (0, 1), (1, 1), (2, -1)]
    m.facts(x, {(i + 1, name): row[k] for i, row in enumerate(rows) for k, name in enumerate("ab")})
    m.facts(y, {1: 1, 2: 2, 3: 2.5, 4: np.float64(0.5)})
    return m


def mdp() -> Model:
    m = Model()
    X, Y, A, X2, Y2, DX, DY = m.indices("X Y A X2 Y2 DX DY")
    coord, goal, move = m.relation("coord", 1), m.relation("goal", 2), m.relation("move", 3)
    gamma = m.param("gamma", value=0.9)
    m.facts(coord, range(1, 5))
    m.facts(goal, [(4, 4)])
    m.facts(move, [("n", 0, 1), ("s", 0, -1), ("e", 1, 0), ("w", np.int64(-1), 0)])
    dir_ = m.derive("dir", A, where=move(A, ..., ...))
    cell = m.derive("cell", X, Y, where=coord(X) & coord(Y))
    there = (X2 == X + DX) & (Y2 == Y + DY) & cell(X2, Y2)
    go = m.derive("go", X, Y, A, X2, Y2, where=cell(X, Y) & move(A, DX, DY) & there)
    can = m.derive("can", X, Y, A, where=go(X, Y, A, ..., ...))
    step = m.derive("step", X, Y, A, X2, Y2, where=go(X, Y, A, X2, Y2))
    m.derive(step, X, Y, A, X, Y, where=cell(X, Y) & dir_(A) & ~can(X, Y, A))
    v = m.var("v", X, Y, where=cell(X, Y))
    m.minimise(sum_(v(X, Y), over=(X, Y), where=cell(X, Y)))
    m.subject_to(
        v(X, Y) >= -1 + gamma * v(X2, Y2),
        forall=(X, Y, A, X2, Y2),
        where=step(X, Y, A, X2, Y2) & ~goal(X, Y),
        name="bellman",
    )
    m.subject_to(v(X, Y) == 0, forall=(X, Y), where=goal(X, Y), name="absorb")
    return m


PROGRAMS = [tc_qp_svm, max_flow, sudoku, map_lp, lasso, mdp]


@pytest.mark.parametrize("build", PROGRAMS)
def test_a_program_built_in_python_means_what_its_text_means(build: Callable[[], Model]) -> None:
    from_text = check_text((GOLDEN / f"{build.__name__}.rlp").read_text("utf-8"))
    assert build().check() == from_text


@pytest.mark.parametrize("build", PROGRAMS)
def test_a_program_built_in_python_prints_as_text_that_reads_the_same(build: Callable[[], Model]) -> None:
    model = build()
    assert parse_text(str(model)) == model.text_nodes
    assert str(Model.from_text(str(model))) == str(model)


def test_all_of_the_language_can_be_said() -> None:
    m = Model()
    (X,) = indices("X")
    p, c = m.relation("p", 1, source="p.csv"), m.param("c", 1, default=-2, source="c d.csv")
    x, y = m.var("x", arity=1, lower=(0, -1), upper=5), m.var("y", equal=3)
    total = sum([x(1), x(2), 0.5 * x("a b")])
    m.minimise(
        maximum(0, 1 - y) ** 2
        + abs(y - 2)
        + exp(1) * y
        - sqrt(4) * y / log(3)
        + minimum(1, 2) * total
        + max_(c(X), over=X, where=c(X)) * y
        + min_(-c(X), over=X, where=true & p(X)) * y
        + count_(over=X, where=p(X) & (X != "z") | c(X) & (c(X) >= 2**X) & (X > 1) & (X < 9)) * y
        + indicator(p("q")) * (+y)
    )
    m.subject_to(between(0, y, 1))
    m.add_text("subject to last: y <= 1;")
    assert (
        str(m)
        == """\
relation p/1 from "p.csv";
param c/1 from "c d.csv" default -2;
var x/1 >= 0 >= -1 <= 5;
var y = 3;
minimize:
    max(0, 1 - y)**2 + abs(y - 2) + exp(1)*y - sqrt(4)*y/log(3)
    + min(1, 2)*(x(1) + x(2) + 0.5*x("a b")) + (max{X in c(X)} c(X))*y
    + (min{X in true & p(X)} -c(X))*y
    + count{X in p(X) & X != "z" | c(X) & c(X) >= 2**X & X > 1 & X < 9}*y + [p(q)]*y;
subject to: 0 <= y <= 1;
subject to last: y <= 1;"""
    )
    assert parse_text(str(m)) == m.text_nodes
    m.check()


def test_a_model_from_a_file_keeps_its_comments_and_its_places(tmp_path: Path) -> None:
    path = tmp_path / "model.rlp"
    path.write_text("# why\nvar x;\nminimize: x + nothing;\n", "utf-8")
    model = Model.from_file(path)
    assert str(model).startswith("# why")
    with pytest.raises(UnknownNameError) as caught:
        model.check()
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 3, 15)


def test_an_error_in_a_model_built_in_python_points_into_its_text() -> None:
    m = Model()
    I, J = m.indices("I J")
    p = m.relation("p", 1)
    x = m.var("x", I, where=p(I))
    m.subject_to(x(J) >= 1, forall=I, where=p(I))
    with pytest.raises(SafetyError) as caught:
        m.check()
    assert "subject to forall {I in p(I)}: x(J) >= 1;" in str(caught.value)


def test_data_are_kept_as_they_are() -> None:
    m = tc_qp_svm()
    table = object()
    assert m.data(word=table, c1=0.5) is m
    assert m.tables == {"word": table, "c1": 0.5}
    assert m.tables["word"] is table
    with pytest.raises(UnknownNameError, match="Did you mean 'word'"):
        m.data(wrod=table)


def test_names_of_a_text_can_be_used_in_python() -> None:
    m = Model.from_text("param c = 2; var x(I) in p(I); relation p/1; r(X) if p(X); def f = c + 1; g(X) = p(X) & r(X);")
    (I,) = m.indices("I")
    m.minimise(sum_(m["c"] * m["f"] * m["x"](I), over=I, where=m["r"](I) & m["g"](I)))
    m.check()
    with pytest.raises(UnknownNameError):
        m["nothing"]


I, J = indices("I J")
M = Model()
P, C, X1, Y0, K = M.relation("p", 1), M.param("c", 1), M.var("x", arity=1), M.var("y"), M.param("k")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: P(I) and P(J), "p(I) has no truth value in Python. Join formulas with &, | and ~ instead of and, or "
         "and not; write between(a, e, b) for a <= e <= b, "),
        (lambda: 0 <= X1(I) <= 1, "x(I) >= 0 has no truth value in Python."),
        (lambda: not P(I), "p(I) has no truth value in Python."),
        (lambda: P(I) & I < 3, "I is not a formula, and & needs one. Comparisons between & and | need parentheses: "
         "p(X) & (X < 3)."),
        (lambda: P(I) + 1, "p(I) is a formula, and + needs a number. Write indicator(..) for 1 or 0."),
        (lambda: P(I) | 3, "3 is not a formula, and | needs one."),  # type: ignore[operator]
        (lambda: 3 & P(I), "3 is not a formula, and & needs one."),
        (lambda: X1(I) * "a", "'a' is not a number, and * needs one."),
        (lambda: X1 + 1, "x has 1 argument and cannot be used without. Write x(I)."),
        (lambda: P & P(I), "p has 1 argument and cannot be used without. Write p(I)."),
        (lambda: bool(P), "p has no truth value in Python. Use &, | and ~ instead of and, or and not."),
        (lambda: [*P(I)], "p(I) cannot be iterated over. Sum over it with sum_(..., over=..., where=...)."),
        (lambda: len(P(I)), "p(I) has no length before it is grounded. Count with count_(over=..., where=...)."),
        (lambda: sum_(Y0, over="I", where=P(I)), "I is not a logic variable. Make some with indices(\"I J\")."),  # type: ignore[arg-type]
        (lambda: sum_(Y0, over=(), where=P(I)), "a query needs at least one logic variable."),
        (lambda: sum_(Y0, over=I, where=I), "I is not a formula, and where needs one."),
        (lambda: indices("i"), "'i' cannot be the name of a logic variable. A logic variable begins with an upper-case "
         "letter."),
        (lambda: Y0 + float("nan"), "nan is not a finite number."),
        (lambda: Y0 + True, "True is not a number. A comparison of Python values is made before the model sees it."),
        (lambda: Y0 + None, "None is not a number."),
        (lambda: M.var("z", I), "z has no query that says for which tuples it exists. Give where=, or arity= if its "
         "tuples are those that are used."),
        (lambda: M.var("z", I, where=P(I), arity=1), "z needs either logic variables with where=, or arity=."),
        (lambda: M.relation("Big", 1), "'Big' cannot be the name of a relation. Names begin with a lower-case letter."),
        (lambda: M.relation("sum", 1), "'sum' is a reserved word. Choose another name."),
        (lambda: M.relation("q", -1), "arity=-1 is not possible. Give a whole number of arguments."),
        (lambda: M.param("q", 1, value=3), "q has 1 argument, so it needs a table. Give default= instead of value=."),  # type: ignore[call-overload]
        (lambda: M.subject_to(True), "the constraint is True, not a comparison. A comparison of two Python numbers is "
         "made by Python before the model sees it."),
        (lambda: M.subject_to(Y0), "y is not a comparison. Write e <= b, e >= b, e == b or between(a, e, b)."),
        (lambda: M.subject_to(Y0 >= 1, forall=I), "forall= and where= belong together. Give both, or none of them."),
        (lambda: M.subject_to(Y0 >= 1, name="Big"), "'Big' cannot be a name. Names begin with a lower-case letter."),
        (lambda: M.facts(K, [1]), "k has no arguments, so its fact is one number."),
    ],
)  # fmt: skip
def test_wrong_use_is_explained(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(ModelBuildingError) as caught:
        wrong()
    assert str(caught.value).replace("\n", " ").startswith(message)
    assert isinstance(caught.value, (LanguageError, TypeError))


def test_wrong_names_and_arities_are_found_at_once() -> None:
    with pytest.raises(ArityError, match="p has 1 argument"):
        P(I, J)
    with pytest.raises(ArityError, match="but not the row"):
        M.facts(P, [("a", "b")])
    with pytest.raises(DuplicateNameError, match="declared twice"):
        M.relation("p", 2)


def test_facts_of_a_single_param() -> None:
    m = Model()
    m.facts(m.param("k"), 3)
    assert m.check().facts["k"].values == (3,)


def test_a_relation_without_arguments_is_called_without() -> None:
    m = Model()
    flag = m.relation("flag", 0)
    m.facts(flag, [()])
    m.minimise(indicator(flag()) * m.var("x"))
    assert m.check().facts["flag"].rows == ((),)
