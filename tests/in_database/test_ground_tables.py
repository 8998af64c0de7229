"""A model grounded into tables is the program that grounding makes locally, and its answer is the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import relift
from relift.errors import DataError, NonConvexError, OptionError
from relift.grounding.ground import ground
from relift.in_database.ground_tables import GroundTables, ground_into_tables
from relift.in_database.lift_tables import lift_in_engine
from relift.language.checks.check_model import check_text
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine

FLEET = """
param rate/1, need/1, price/1, cap; relation next/2;
var charge(C,T) in rate(C) & price(T) >= 0 <= rate(C)*2;
var level(C,T) in rate(C) & price(T) >= 0;
var peak;
minimize cost: sum{C,T in rate(C) & price(T)} price(T)*charge(C,T) + 0.3*peak + 3
    + sum{T in price(T)} 0.01*(sum{C in rate(C)} charge(C,T) - 0.1)**2
    + sum{C,T in rate(C) & price(T)} 0.5*level(C,T)**2 + sum{C in need(C)} need(C)*0.1;
subject to energy forall {C in rate(C)}: sum{T in price(T)} charge(C,T) >= need(C) - 0.1;
subject to grid forall {T in price(T)}: sum{C in rate(C)} 0.1*rate(C)*charge(C,T) <= cap + sum{C in need(C)} 0.1;
subject to below forall {T in price(T)}: sum{C in rate(C)} charge(C,T) <= peak;
subject to step forall {C,T,S in rate(C) & next(T,S)}: level(C,S) - level(C,T) - 0.9*charge(C,T) = 0;
subject to twice forall {C in rate(C)}: sum{T in price(T)} charge(C,T) + sum{T in next(T,_)} 0.1*charge(C,T) <= 99;
"""
HINGES = """
param label/1; relation word/2;
var weight(J) in word(_,J), bias;
maximize gain: 2 - sum{I in label(I)} max(0, 1 - label(I)*(sum{J in word(I,J)} weight(J) + bias))
    - sum{J in word(_,J)} 0.5*abs(weight(J));
subject to small forall {J in word(_,J)}: -5 <= weight(J) <= 5;
subject to near: -9 <= bias <= 9;
"""


def fleet_data(cars: int = 9, slots: int = 4) -> dict[str, Any]:
    return {
        "rate": {f"c{i}": 1.5 + i % 3 for i in range(cars)},
        "need": {f"c{i}": round(2 + 0.7 * (i % 3), 1) for i in range(cars)},
        "price": {t: round(0.1 * (t + 1), 1) for t in range(slots)},
        "cap": 40.0,
        "next": [(t, t + 1) for t in range(slots - 1)],
    }


def hinge_data() -> dict[str, Any]:
    return {
        "label": {i: 1.0 if i % 2 else -1.0 for i in range(8)},
        "word": [(i, f"w{j}") for i in range(8) for j in range(4) if (i // 2 + j) % 2],
    }


def assert_same_numbers(engine: Engine, tables: GroundTables, local: relift.Program) -> None:
    program, minimised = tables.program, local.minimisation()
    columns, rows = engine.fetch(program.columns), engine.fetch(program.rows)
    for found, key, names in ((columns, "column", ("q", "lb", "ub")), (rows, "row", ("l", "u"))):
        order = np.argsort(found[key])
        for name in names:
            np.testing.assert_array_equal(found[name][order], getattr(minimised, name), err_msg=name)
    found = engine.fetch(program.nonzeros)
    A = sparse.coo_array((found["value"], (found["row"], found["column"])), shape=local.A.shape)
    assert A.nnz == minimised.A.nnz
    assert abs(A - minimised.A).max() == 0
    assert program.r == pytest.approx(minimised.r, abs=1e-12)
    if minimised.P is not None:
        assert program.quadratic_nonzeros is not None
        found = engine.fetch(program.quadratic_nonzeros)
        P = sparse.coo_array((found["value"], (found["first"], found["second"])), shape=minimised.P.shape)
        assert abs(P - minimised.P).max() == 0


@pytest.mark.parametrize(("text", "data"), [(FLEET, fleet_data()), (HINGES, hinge_data())])
def test_tables_of_a_model_are_its_ground_program(text: str, data: dict[str, Any]) -> None:
    model = check_text(text)
    local = ground(model, data, presolve=False).program
    with DuckDBEngine(threads=1) as engine:
        tables = ground_into_tables(model, data, engine=engine)
        assert_same_numbers(engine, tables, local)
        lifting = lift_in_engine(tables.program)
        lifted = relift.lift(local, reduce=False, sizes=False, signs=False)
        assert lifting.variable_partition == lifted.variables
        assert lifting.row_partition == lifted.rows


def test_a_model_solved_in_the_engine_has_the_values_of_the_local_solve() -> None:
    model, data = relift.Model.from_text(FLEET), fleet_data()
    local = model.solve(data=data)
    with model.solve(data=data, lift_in_engine=True) as answer:
        assert str(answer.status) == "optimal"
        assert answer.objective == pytest.approx(local.objective, rel=1e-7)
        assert answer.certificate.is_optimal
        assert answer.lifting.small.n_variables < local.result.program.n_variables
        for name in ("charge", "level", "peak"):
            ours, theirs = answer[name], local[name]
            assert ours.key_names == theirs.key_names
            assert list(ours.to_dict()) == list(theirs.to_dict())
        assert answer["level"].to_dict() == pytest.approx(local["level"].to_dict(), abs=1e-5)
        assert answer.value("level", "c1", 2) == pytest.approx(local.value("level", "c1", 2), abs=1e-5)
        assert answer.duals("energy").to_dict() == pytest.approx(local.duals("energy").to_dict(), abs=1e-5)
        batches = list(answer.batches("charge", rows=7))
        assert [b.n_rows for b in batches] == [7, 7, 7, 7, 7, 1]
        assert answer.store("charge", "kept") == 36
    with pytest.raises(OptionError, match=r"unknown option 'lift_in_engnie'\. Did you mean 'lift_in_engine'"):
        model.solve(data=data, lift_in_engnie=True)  # type: ignore[call-overload]


def test_the_ray_of_an_unbounded_model_names_its_unknowns_in_the_engine_too() -> None:
    model = relift.Model.from_text("""
        relation n/1; n := {1..4}; var x(I) in n(I) >= 0, y >= 0 <= 3;
        maximize: sum{I in n(I) & I <= 2} x(I) + y; subject to c: x(1) + x(3) <= x(2) + 5;
    """)
    with model.solve(lift_in_engine=True) as answer:
        rays = {name: table.to_dict() for name, table in answer.ray().items()}
    assert list(rays) == ["x"]
    assert set(rays["x"]) <= {1, 2, 3}
    assert max(map(abs, rays["x"].values())) == pytest.approx(1)
    moved = {I: rays["x"].get(I, 0.0) for I in range(1, 5)}
    assert moved[1] + moved[2] > 0  # it improves
    assert moved[1] + moved[3] <= moved[2] + 1e-9  # and stays feasible


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            lambda answer: answer.ray(),
            "there is no ray: the model is optimal. Unbounded models have one.",
        ),
        (
            lambda answer: answer.eval("x + 1"),
            "eval('x + 1') is not for models that were lifted inside an engine: their values stay there. Keep the"
            " values of a variable as a table with store(name, table) and query that, or solve the model without"
            " lift_in_engine.",
        ),
        (
            lambda answer: answer.ranging(),
            "ranging() is not for models that were lifted inside an engine: it needs the original program here."
            " Solve the model without lift_in_engine.",
        ),
    ],
)
def test_what_an_answer_in_an_engine_cannot_tell_is_refused(asked: Callable[[Any], object], message: str) -> None:
    answer = relift.Model.from_text("var x >= 1; minimize: x;").solve(lift_in_engine=True)
    with answer, pytest.raises(OptionError) as caught:
        asked(answer)
    assert str(caught.value) == message


def test_solve_model_says_where_lift_in_engine_belongs() -> None:
    with pytest.raises(OptionError) as caught:
        relift.solve_model("var x >= 1; minimize: x;", lift_in_engine=True)  # type: ignore[call-arg]
    assert str(caught.value) == (
        "lift_in_engine is an option of Model.solve. Write Model.from_text(text).solve(lift_in_engine=True)."
    )


def test_a_model_in_a_file_leaves_nothing_of_ours_and_all_of_the_users(tmp_path: Path) -> None:
    import duckdb

    database = tmp_path / "own.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE t1_rate AS SELECT 1 AS mine")
    model = relift.Model.from_text(FLEET)
    answer = model.solve(data=fleet_data(), lift_in_engine=True, database=database, memory_limit="500MB", resume=True)
    assert str(answer.status) == "optimal"
    answer.close()
    with duckdb.connect(str(database)) as connection:
        assert connection.execute("SHOW TABLES").fetchall() == [("t1_rate",)]


def test_what_cannot_be_lifted_in_an_engine_is_refused_in_words() -> None:
    data = {"a": [(1,), (2,)]}
    quadratic = (
        "relation a/1; var x(I) in a(I); minimize z: sum{I in a(I)} x(I); subject to c: sum{I in a(I)} x(I)**2 <= 1;"
    )
    with pytest.raises(OptionError, match="'c' is quadratic; these are not lifted inside an engine"):
        relift.Model.from_text(quadratic).solve(data=data, lift_in_engine=True)
    products = "relation a/1; var x(I) in a(I) >= 0; minimize z: sum{I in a(I)} x(I)*x(1);"
    with pytest.raises(NonConvexError, match="convexity is not proved"):
        relift.Model.from_text(products).solve(data=data, lift_in_engine=True)
    outside = "relation a/1; var x(I) in a(I) >= 0; minimize z: sum{I in a(I)} x(I); subject to c: x(7) >= 1;"
    with pytest.raises(DataError, match="lies outside of the domain of 'x'"):
        relift.Model.from_text(outside).solve(data=data, lift_in_engine=True)
    with pytest.raises(OptionError, match="lift='orbits' is not available with lift_in_engine"):
        relift.Model.from_text(outside).solve(data=data, lift_in_engine=True, lift="orbits")
