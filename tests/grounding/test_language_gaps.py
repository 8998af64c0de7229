"""Ranges, dates, neighbours, texts, stars and bent lines: right answers, and the same in memory and in DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

import relift
from relift.errors import ConvexityError, DataError, DegreeError, KindError, ModelSyntaxError

ENGINES = ["memory", "duckdb"]


def solved(text: str, data: Any = None, engine: str = "memory", **options: Any) -> Any:
    return relift.solve_model(text, data, engine=engine, **options)


def keys(result: Any, name: str) -> list[Any]:
    return list(result[name].to_dict())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("var x(I) in 1..n >= 1;", [1, 2, 3, 4]),
        ("var 1 <= x(I) <= 3 in I in 2..n;", [2, 3, 4]),
        ("var x(I) in p(I) & I in 3..2*n >= 1;", [3, 5]),
        ("relation r/1; r := {1..n, 9}; var x(I) in r(I) >= 1;", [1, 2, 3, 4, 9]),
        ("relation r/1; r := {n..n+1}; var x(I) in r(I) >= 1;", [4, 5]),
        ("var x(I) in p(I) & I != 2 >= 1;", [3, 5]),
        ("var x(I) in I in n..1 | p(I) >= 1;", [2, 3, 5]),
        ("var x(I) in p(I) & !(I in 3..4) >= 1;", [2, 5]),
        ("var x(I) in p(J) & I in 1..mod(J,3) >= 1;", [1, 2]),
        ("var x(I) in p(J) & I = floor(J/2) >= 1;", [1, 2]),
        ("var x(I) in p(J) & I = ceil(J/2) >= 1;", [1, 2, 3]),
        ("var x(I) in p(J) & I = round(J/2) >= 1;", [1, 2, 3]),
        ("var x(I) in p(J) & I = mod(-J, 3) >= 1;", [0, 1]),
        ("var x(I) in p(J) & I = mod(J + 0.5, 2) >= 1;", [0.5, 1.5]),
    ],
)
def test_ranges_and_whole_numbers_give_these_tuples(declaration: str, expected: list[Any], engine: str) -> None:
    text = f"param n = 4; relation p/1; p := {{2, 3, 5}}; {declaration} minimize: sum{{I in x(I)}} x(I);"
    assert keys(solved(text, engine=engine), "x") == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_a_range_may_depend_on_variables_outside_of_it(engine: str) -> None:
    text = "param n = 3; var x(I,J) in I in 1..n & J in I..n >= 1; minimize: sum{I in 1..n, J in I..n} I*J*x(I,J);"
    result = solved(text, engine=engine)
    assert keys(result, "x") == [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)]
    assert result.objective == pytest.approx(25)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_end_of_a_range_that_is_not_whole_is_an_error(engine: str) -> None:
    with pytest.raises(DataError, match=r"an end of a range is \(2\.5\), which is not a whole number"):
        solved("param n = 2.5; var x(I) in 1..n >= 0; minimize: sum{I in x(I)} x(I);", engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("shift", "expected"),
    [
        ("T + days(1)", ["2024-02-29", "2026-01-02 06:30:00", "2026-03-30 00:30:00+00:00"]),
        ("T - hours(7)", ["2024-02-27 17:00:00", "2025-12-31 23:30:00", "2026-03-28 17:30:00+00:00"]),
        ("T + days(2) - hours(6.5)", ["2024-02-29 17:30:00", "2026-01-03", "2026-03-30 18:00:00+00:00"]),
        ("T + minutes(N) + seconds(1.5)", ["2024-02-28 00:01:01.5", "2026-01-01 06:31:01.5",
                                         "2026-03-29 00:31:01.5+00:00"]),
    ],
)  # fmt: skip
def test_dates_and_timestamps_are_shifted_in_canonical_form(shift: str, expected: list[str], engine: str) -> None:
    text = f"relation t/1; var x(S) in t(T) & N = 1 & S = {shift} >= 1; minimize: sum{{S in x(S)}} x(S);"
    moments = ["2024-02-28", "2026-01-01 06:30:00", "2026-03-29 00:30:00+00:00"]
    assert keys(solved(text, {"t": moments}, engine), "x") == sorted(expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_of_dates_are_numbers(engine: str) -> None:
    text = """
        relation t/1; var x(Y,M,D,W,H,N) in t(T) & Y = year(T) & M = month(T) & D = day(T) & W = weekday(T)
            & H = hour(T) & N = minute(T) >= 1;
        minimize: sum{Y,M,D,W,H,N in x(Y,M,D,W,H,N)} x(Y,M,D,W,H,N);
    """
    found = keys(solved(text, {"t": ["2026-11-15", "2026-11-16 23:59:58", "2026-01-01 05:06:07+00:00"]}, engine), "x")
    assert found == [(2026, 1, 1, 4, 5, 6), (2026, 11, 15, 7, 0, 0), (2026, 11, 16, 1, 23, 59)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", ["tomorrow", "2026-1-1", "12:30:00"])
def test_a_text_that_is_not_a_date_is_named(text: str, engine: str) -> None:
    with pytest.raises(DataError, match=rf"\({text}\) is not a date or a timestamp"):
        solved(
            "relation t/1; var x(S) in t(T) & S = T + days(1); minimize: sum{S in x(S)} x(S);", {"t": [text]}, engine
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("order", [[3, 10, 7], ["b", "a", "B"], ["2026-01-31", "2026-02-01", "2025-12-31"]])
def test_neighbours_follow_the_order_of_the_relation(order: list[Any], engine: str) -> None:
    text = """
        relation time/1 ordered; var x(T) in time(T) >= 0;
        minimize: sum{T in time(T)} x(T);
        subject to start forall {T in time(T) & !time(prev(T))}: x(T) >= 1;
        subject to grow forall {T in time(T) & time(prev(T))}: x(T) = 2*x(prev(T));
        subject to top forall {T in time(T) & time(next(T, time))}: x(next(T)) >= x(T);
    """
    found = solved(text, {"time": order}, engine)["x"].to_dict()
    assert [found[key] for key in sorted(order)] == pytest.approx([1, 2, 4])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_border_of_an_ordered_relation_is_named(engine: str) -> None:
    text = "relation s/1 ordered; var x(T) in s(T); minimize: sum{T in s(T)} x(T)**2; subject to c forall {T in s(T)}: "
    with pytest.raises(DataError, match=r"prev\(2\) does not exist: that is the first of 's', or not in it"):
        solved(text + "x(T) >= x(prev(T));", {"s": [4, 2, 9]}, engine)
    with pytest.raises(DataError, match=r"next\(9\) does not exist: that is the last of 's', or not in it"):
        solved(text + "x(T) >= x(next(T));", {"s": [4, 2, 9]}, engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_are_cut_joined_and_counted(engine: str) -> None:
    text = """
        relation s/1; var x(A,B,N) in s(T) & A = upper(substring(T, 1, 2)) & B = concat(lower(T), "-", length(T))
            & N = length(T) >= 1;
        minimize: sum{A,B,N in x(A,B,N)} x(A,B,N);
    """
    found = keys(solved(text, {"s": ["bus7", "Ärger", "X"]}, engine), "x")
    assert sorted(found) == sorted([("BU", "bus7-4", 4), ("ÄR", "Ärger-5", 5), ("X", "x-1", 1)])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_star_sums_over_an_argument_of_variables_and_params(engine: str) -> None:
    text = """
        param need/1, cost/2; var ship(P,C) in cost(P,C) >= 0;
        minimize: sum{P,C in cost(P,C)} cost(P,C)*ship(P,C);
        subject to met forall {C in need(C)}: ship(*,C) >= need(C);
        subject to all: ship(*,*) <= cost(a,*) + 10;
    """
    data = {"need": {"u": 3, "v": 4}, "cost": {("a", "u"): 1, ("a", "v"): 2, ("b", "v"): 1}}
    result = solved(text, data, engine)
    assert result.objective == pytest.approx(7)
    assert result.constraint("all")["upper"].tolist() == [13]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_param_by_a_formula_is_data(engine: str) -> None:
    text = """
        param n = 3; param d(I) = 2*I + n; param half = n/2;
        var x(I) in 1..n >= d(I); minimize: half*sum{I in 1..n & d(I) > 5} d(I)*x(I) + 0*sum{I in x(I)} x(I);
    """
    assert solved(text, engine=engine).objective == pytest.approx(1.5 * (49 + 81))


@pytest.mark.parametrize(
    ("bends", "sense", "expected"),
    [
        ("0:0, 10:5, 20:20", "minimize: {} - x", -5),  # slopes 0.5 and 1.5
        ("-10:1, 0:1, 10:11, 20:41", "minimize: {} - 2*x", -9),
        ("0:0, 10:20, 20:30", "maximize: {} - 1.5*x", 5),
        ("0:0, 10:5, 20:10", "minimize: {} - 0.25*x", 0),
    ],
)
def test_piecewise_linear_costs_go_on_at_both_ends(bends: str, sense: str, expected: float) -> None:
    result = solved(f"var 0 <= x <= 30; {sense.format(f'piecewise(x; {bends})')};")
    assert result.objective == pytest.approx(expected)


def test_piecewise_of_data_may_bend_both_ways() -> None:
    text = "var x(I) in p(I) = piecewise(I; 0:0, 1:2, 2:1, 3:1); relation p/1; minimize: sum{I in p(I)} x(I);"
    found = solved(text, {"p": [-1.0, 0.5, 1.5, 2.5, 4.0]})["x"].to_dict()
    assert found == pytest.approx({-1.0: -2, 0.5: 1, 1.5: 1.5, 2.5: 1, 4.0: 1})


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("var x; minimize: piecewise(x; 0:0, 1:2, 2:1, 3:4);", ConvexityError,
         "neither convex nor concave: its slopes are 2, -1, 3"),
        ("var x; minimize: piecewise(x; 0:0);", ModelSyntaxError, "piecewise needs at least two points"),
        ("var x; minimize: piecewise(x; 1:0, 0:1);", ModelSyntaxError, "go from left to right"),
        ("var x; minimize: floor(x);", DegreeError, r"floor\(\.\.\) applies to data only"),
        ("var x; minimize: mod(x);", KindError, "mod has 2 arguments, not 1"),
        ("var x; minimize: days(2);", KindError, r"days\(\.\.\) is added to a date or timestamp"),
        ("relation s/1; var x(T) in s(prev(T)) & s(T); minimize: x(1);", KindError,
         "no relation is declared as ordered"),
        ("relation a/1 ordered, b/1 ordered; var x(T) in a(T); minimize: sum{T in a(T) & a(prev(T))} x(T);", KindError,
         "there are several ordered relations"),
        ("relation s/2 ordered;", ModelSyntaxError, "only a relation with one argument can be ordered"),
        ("var x; param d = 2*x; minimize: d;", KindError, "the param d is data, and this formula has unknowns"),
        ("param d/1 = 2*3*4;", ModelSyntaxError, "a param that is given by a formula has no table"),
        ("relation p/2; var x; minimize: x*p(1,*);", KindError, "neither a variable nor a param"),
        ("relation p/2; var x(I) in p(I,*); minimize: x(1);", KindError, r"\* is a sum, and a formula is needed here"),
        ("var x(I) in p(I) & I >= 2 >= 1; relation p/1; minimize: x(1);", ModelSyntaxError,
         "it is not clear where the query"),
        ("var x(I); minimize: x(1);", ModelSyntaxError, "x has no query behind its arguments"),
        ("param c/1; c := {1..n: 2}; param n = 2; var x; minimize: x;", relift.errors.FactError,
         "goes from one written number"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        solved(text)


def test_bounds_stand_in_front_or_behind() -> None:
    data = "relation p/1; p := {1..3}; param lo/1 default -1; "
    goal = " minimize: sum{I in p(I)} x(I);"
    texts = [
        "var x(I) in p(I) >= lo(I) <= 5;",
        "var lo(I) <= x(I) <= 5 in p(I);",
        "var 5 >= x(I) >= lo(I) in p(I);",
        "var x(I) <= 5 in p(I) >= lo(I);",
    ]
    programs = [relift.Model.from_text(data + text + goal).ground({"lo": {2: 3}}).program for text in texts]
    assert all((p.lb.tolist(), p.ub.tolist()) == ([-1, 3, -1], [5, 5, 5]) for p in programs)


def test_predicates_take_the_place_of_functions() -> None:
    text = "param hour/1, day = 3; hour := {a: 2}; var x >= hour(a) + day; minimize: x;"
    assert solved(text).objective == pytest.approx(5)


def test_the_engine_in_memory_agrees_with_sql_on_a_timestamp_with_fractions() -> None:
    with duckdb.connect() as connection:
        shifted = "select cast(timestamp '2026-01-01 00:00:00.25' + interval 1 hour as varchar)"
        ((text,),) = connection.execute(shifted).fetchall()
    model = "relation t/1; var x(S) in t(T) & S = T + hours(1) >= 1; minimize: sum{S in x(S)} x(S);"
    for engine in ENGINES:
        assert keys(solved(model, {"t": ["2026-01-01 00:00:00.25"]}, engine), "x") == [text]


@pytest.mark.parametrize("engine", ENGINES)
def test_data_take_the_place_of_a_range_of_the_model(engine: str) -> None:
    text = "param n = 3; relation p/1; p := {1..n}; var x(I) in p(I) >= 1; minimize: x(*);"
    assert keys(solved(text, engine=engine), "x") == [1, 2, 3]
    assert keys(solved(text, {"p": [5, 7]}, engine), "x") == [5, 7]
    assert keys(solved(text, {"n": 2}, engine).resolve(params={"n": 4}), "x") == [1, 2, 3, 4]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_relation_with_data_and_rules_can_be_grounded_again(engine: str) -> None:
    text = "relation p/1, q/1; p := {1, 2}; p(X) if q(X); var x(I) in p(I) >= 1; minimize: x(*);"
    first = solved(text, {"q": [7]}, engine)
    assert keys(first.resolve(data={"q": [8, 9]}), "x") == [1, 2, 8, 9]
    assert keys(first.resolve(data={"q": []}), "x") == [1, 2]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_default_does_not_stand_for_what_lies_before_the_first(engine: str) -> None:
    text = """
    relation p/1 ordered; param d/2 default 0.5; var y/1;
    minimize o: sum{N in p(N)} d(N, prev(N))*y(N);
    """
    with pytest.raises(DataError, match=r"prev\(0\) does not exist: that is the first of 'p'"):
        relift.ground_model(text, {"p": [(0,), (2,)], "d": {(2, 0): 1}}, engine=engine)
    later = text.replace("N in p(N)", "N in p(N) & p(prev(N))")
    assert relift.ground_model(later, {"p": [(0,), (2,)], "d": {(2, 1): 1}}, engine=engine).program.q.tolist() == [0.5]
