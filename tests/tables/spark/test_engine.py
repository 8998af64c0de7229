"""Spark gives what DuckDB gives, and fails with words: on one local session for the whole file."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.data import ROOT
from tests.grounding import programs as p
from tests.grounding.random_models import data, models

import relift
from relift.errors import DataError, EngineError, LanguageError, OptionError, SizeLimitError
from relift.grounding.ground import ground
from relift.language.checks.check_model import check_text
from relift.program.program import Program
from relift.settings import Progress
from relift.tables.algebra import Column, Filter, Join, Limit, Project, Scan, Type, Unit, call, literal
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.load import load_table
from relift.tables.sources.table import Table, source_from_data
from relift.tables.spark import storage
from relift.tables.spark.engine import SparkEngine
from relift.testing.conformance import Case
from relift.testing.conformance_engine import CASES

if importlib.util.find_spec("pyspark") is None:
    pytest.skip("PySpark is not installed", allow_module_level=True)
if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
    pytest.skip("there is no Java for Spark", allow_module_level=True)

pytestmark = pytest.mark.xdist_group("spark")
MODELS = ROOT / "examples" / "models"
CLUES = [(i, j, int(digit)) for i, row in enumerate(p.CLUES, 1) for j, digit in enumerate(row, 1) if digit != "."]
PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "tc_qp_svm": (p.TC_QP_SVM + p.TC_QP_SVM_FACTS, {}),
    "max_flow": (p.MAX_FLOW + p.MAX_FLOW_FACTS, {}),
    "sudoku": (p.SUDOKU, {"initial": CLUES}),
    "map_lp": (p.MAP_LP, {"edge": [("a", "b"), ("b", "c"), ("a", "c")], "theta1": {("a", 0): 1, ("b", 1): 0.5}}),
    "lasso": (p.LASSO + p.REGRESSION_FACTS, {}),
    "mdp": (p.MDP, {}),
}
REACH = "relation edge/2; reach(X,Y) if edge(X,Y); reach(X,Z) if reach(X,Y) & edge(Y,Z); var x(X,Y) in reach(X,Y) >= 0;"


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    """A session as a user would have it."""
    with SparkEngine(driver_memory="1g") as engine:
        yield engine._open.parent


@pytest.fixture
def engine(session: Any) -> Iterator[SparkEngine]:
    with SparkEngine(session) as engine:
        yield engine


@pytest.fixture
def all_on_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the smallest tables are stored by Spark, and numbered by ranges."""
    monkeypatch.setattr(storage, "SMALL", 0)


def left_behind(session: Any) -> tuple[int, list[str]]:
    """Rows that Spark still keeps, and views of any kind."""
    views = [table.name for table in [*session.catalog.listTables(), *session.catalog.listTables("global_temp")]]
    return session._sc._jsc.getPersistentRDDs().size(), sorted(set(views))


def assert_same(one: Program, other: Program) -> None:
    """To the last bit."""
    for name in ("A", "P"):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        if first is not None:
            first, second = first.tocsr(), second.tocsr()
            for part in ("shape", "indptr", "indices", "data"):
                assert np.array_equal(getattr(first, part), getattr(second, part)), (name, part)
    for name in ("q", "l", "u", "lb", "ub"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.r == other.r
    assert list(one.variable_names or ()) == list(other.variable_names or ())
    assert list(one.row_names or ()) == list(other.row_names or ())


def assert_grounds_as_on_duckdb(text: str, tables: dict[str, Any], engine: Engine, folder: Path | None = None) -> None:
    model = check_text(text)
    with (
        ground(model, tables, engine=engine, folder=folder) as found,
        ground(model, tables, engine=DuckDBEngine(), folder=folder) as wanted,
    ):
        assert_same(found.program, wanted.program)


# --- the same answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_spark_conforms(case: Case[Engine], engine: SparkEngine) -> None:
    case.check(engine)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_language(name: str, engine: SparkEngine) -> None:
    assert_grounds_as_on_duckdb(*PROGRAMS[name], engine)


@pytest.mark.usefixtures("all_on_the_cluster")
def test_a_program_whose_tables_are_all_stored_by_spark(engine: SparkEngine, session: Any) -> None:
    assert_grounds_as_on_duckdb(*PROGRAMS["max_flow"], engine)
    assert left_behind(session) == (0, [])


def test_a_model_of_the_gallery_with_its_files(engine: SparkEngine) -> None:
    assert_grounds_as_on_duckdb((MODELS / "karate_collective.rlp").read_text(), {}, engine, MODELS)


@settings(max_examples=2, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(text=models(), tables=data())
def test_random_models(text: str, tables: dict[str, Any], session: Any) -> None:
    try:
        model = check_text(text)
    except LanguageError:
        return
    try:
        wanted = ground(model, tables)
    except DataError:
        with pytest.raises(DataError):
            ground(model, tables, engine=SparkEngine(session))
        return
    with wanted, ground(model, tables, engine=SparkEngine(session)) as found:
        assert_same(found.program, wanted.program)


def test_a_model_is_solved_on_the_session_of_a_user(session: Any) -> None:
    edges = session.createDataFrame(
        [("a", "b", 3), ("a", "c", 2), ("b", "d", 2), ("c", "d", 4), ("b", "c", 1)], "x string, y string, cap int"
    )
    answer = relift.Model.from_text(p.MAX_FLOW.replace("target(g)", "target(d)")).solve(
        data={"cap": edges}, engine=session
    )
    assert answer.objective == pytest.approx(5)
    assert session.sql("SELECT 1").count() == 1


@pytest.mark.usefixtures("all_on_the_cluster")
def test_recursions_do_not_let_plans_grow(engine: SparkEngine, session: Any) -> None:
    chain = [(k, k + 1) for k in range(10)]
    model = check_text(REACH)
    with ground(model, {"edge": chain}, engine=engine) as found:
        assert found.program.n_variables == 10 * 11 // 2
        name = next(name for name in engine._store.tables if name.endswith("_reach"))
        plan = engine._open.session.table(name)._jdf.queryExecution().analyzed().toString()
        assert plan.count("LogicalRDD") <= storage.MOST_PARTS
        assert "Join" not in plan
    assert left_behind(session) == (0, [])


def test_reals_that_are_not_decimals_add_up_to_the_same_bits(engine: SparkEngine) -> None:
    random = np.random.default_rng(3)
    tables = {
        "w": {
            (int(i), int(j)): float(v)
            for i, j, v in zip(*random.integers(0, 9, (2, 200)), random.standard_normal(200), strict=True)
        }
    }
    text = "param w/2; p(I) if w(I,_); var x(I) in p(I); minimize: sum{I in p(I)} (sum{J in w(I,J)} w(I,J)) * x(I);"
    assert_grounds_as_on_duckdb(text, tables, engine)


# --- data of the cluster ---------------------------------------------------------------------------------------------


def test_types_of_spark_columns(engine: SparkEngine, session: Any) -> None:
    frame = session.sql(
        "SELECT CAST(1 AS TINYINT) a, true b, CAST(0.5 AS FLOAT) c, CAST('1.25' AS DECIMAL(9,2)) d, 'é' e,"
        " DATE'2024-02-29' f, CAST('x' AS STRING COLLATE UTF8_LCASE) g, CAST('y' AS VARCHAR(3)) `odd ``name.x`"
    )
    types = engine.attach("t", source_from_data("t", frame))
    assert [kind.value for kind in types.values()] == ["integer"] * 2 + ["real"] * 2 + ["text"] * 4
    scan = Scan("t", {column: (column, kind) for column, kind in types.items()})
    row = [column[0] for column in engine.fetch(scan).values()]
    assert row == [1, 1, 0.5, 1.25, "é", "2024-02-29", "x", "y"]
    assert engine.count(Filter(scan, call("=", Column("c6"), literal("X"))), 9) == 0  # code points, not a language
    with pytest.raises(DataError, match=r"the column 'a' holds array<int>"):
        engine.attach("u", source_from_data("u", session.sql("SELECT array(1) a")))
    empty = engine.attach("v", source_from_data("v", frame.filter("a > 1")))
    assert set(empty.values()) == {Type.NOTHING}


def test_tables_and_views_by_name(engine: SparkEngine, session: Any) -> None:
    session.range(5).createOrReplaceTempView("my_view")
    try:
        for given in ((session, "my_view"), "my_view", Table((session, "my_view"), ["id"])):
            source = source_from_data("t", given, engine=engine)
            assert load_table(engine, f"t{id(given)}", source, 1, has_value=False).rows == 5
        with pytest.raises(DataError, match="no_such_view"):
            engine.attach("u", source_from_data("u", "no_such_view", engine=engine))
        with pytest.raises(DataError, match="no_such_view"):
            source_from_data("u", (session, "no_such_view"))
    finally:
        session.catalog.dropTempView("my_view")


def test_other_engines_read_spark_dataframes(session: Any) -> None:
    frame = session.createDataFrame([("a", 1.5), ("b", 2.5)], "k string, v double")
    with DuckDBEngine() as engine:
        table = load_table(engine, "t", source_from_data("t", frame), 1, has_value=True)
        assert engine.fetch(table.scan(["k"], "v"))["v"].tolist() == [1.5, 2.5]


def test_frames_that_are_random_are_read_once(engine: SparkEngine, session: Any) -> None:
    table = load_table(engine, "t", source_from_data("t", session.range(30_000).selectExpr("id", "rand() v")), 1, True)
    scan = table.scan(["k"], "v")
    once, again = (dict(zip(*(c.tolist() for c in engine.fetch(scan).values()), strict=True)) for _ in range(2))
    assert once == again


def test_nothing_of_the_users_session_changes(session: Any) -> None:
    before = dict(session.conf.getAll)
    session.conf.set("spark.sql.shuffle.partitions", "3")
    active = type(session).getActiveSession()
    session.range(2).createOrReplaceTempView("t1_edge")  # the name of a table of ours
    try:
        with SparkEngine(session) as engine:
            assert engine._open.usual["spark.sql.shuffle.partitions"] == "3"
            with ground(check_text(REACH), {"edge": [(1, 2), (2, 3)]}, engine=engine) as found:
                assert found.program.n_variables == 3
            assert session.table("t1_edge").count() == 2
        assert type(session).getActiveSession() is active
        assert dict(session.conf.getAll) == before | {"spark.sql.shuffle.partitions": "3"}
        assert left_behind(session) == (0, ["t1_edge"])
    finally:
        session.conf.set("spark.sql.shuffle.partitions", before["spark.sql.shuffle.partitions"])
        session.catalog.dropTempView("t1_edge")


def test_two_models_at_once(session: Any) -> None:
    def solve(n: int) -> int:
        tables = {"edge": [(k, k + 1) for k in range(n)]}
        with ground(check_text(REACH), tables, engine=SparkEngine(session)) as found:
            return found.program.n_variables

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(solve, (3, 4))) == [6, 10]
    assert left_behind(session) == (0, [])


# --- storing ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("all_on_the_cluster")
def test_tables_grow_in_few_parts(engine: SparkEngine) -> None:
    grown = Project(Unit(), {"X": literal(0)})
    engine.create("t", grown)
    for k in range(1, 12):
        assert engine.append("t", Project(Unit(), {"X": literal(k)})) == 1
    assert len(engine._store.tables["t"].parts) <= storage.MOST_PARTS
    found = engine.fetch(Scan("t", {"X": ("X", Type.INTEGER)}))["X"]
    assert sorted(found.tolist()) == list(range(12))


def test_advice_changes_no_rows(session: Any, tmp_path: Path) -> None:
    with SparkEngine(session, checkpoint_folder=str(tmp_path)) as engine:
        engine.attach("t", source_from_data("t", session.range(50_000).selectExpr("id", "id % 7 AS k")))
        scan = Scan("t", {"X": ("c0", Type.INTEGER), "K": ("c1", Type.INTEGER)})
        engine.cluster("t", ("c1",))
        other = Project(Limit(scan, 30_000), {"K": Column("K")})
        engine.create("keys", other)
        text = engine._open.session.sql(engine.explain(Join(scan, Scan("keys", {"K": ("K", Type.INTEGER)}), "semi")))
        plan = text._jdf.queryExecution().executedPlan().toString()
        assert plan.count("Exchange") <= 1, plan  # that of the keys: the table lies as the join needs it
        engine.save("t")
        assert [path.suffix for path in tmp_path.rglob("*.parquet")]
        assert engine.count(scan, 10**6) == 50_000
        assert np.sort(engine.fetch(scan)["X"]).tolist() == list(range(50_000))
    assert not list(tmp_path.rglob("*.parquet"))
    assert left_behind(session) == (0, [])


def test_budgets_are_checked_before_anything_is_stored(engine: SparkEngine, session: Any) -> None:
    engine.attach("t", source_from_data("t", session.range(30_000)))
    table = Scan("t", {"X": ("c0", Type.INTEGER)})
    product = Join(table, Project(table, {"Y": Column("X")}))
    kept = left_behind(session)
    with pytest.raises(SizeLimitError):
        engine.create("big", product, budget=100_000)
    assert left_behind(session) == kept
    engine.create("big", table)
    with pytest.raises(EngineError, match="'big' already"):
        engine.create("big", table)


# --- failures --------------------------------------------------------------------------------------------------------


def doomed(session: Any, folder: Path, is_always: bool) -> Any:
    """Edges of a chain; the Python worker that makes them is killed, once or whenever it is started."""
    from pyspark.sql.functions import udf

    def next_number(k: int) -> int:
        marker = folder / "killed"
        if is_always or not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return k + 1

    return session.range(0, 6, 1, 1).select("id", udf(next_number, "bigint")("id").alias("next"))


def test_a_killed_task_is_run_again(session: Any, tmp_path: Path) -> None:
    edges = doomed(session, tmp_path, is_always=False)
    model = check_text(REACH)
    with (
        ground(model, {"edge": edges}, engine=SparkEngine(session)) as found,
        ground(model, {"edge": [(k, k + 1) for k in range(6)]}) as wanted,
    ):
        assert_same(found.program, wanted.program)
    assert (tmp_path / "killed").exists()
    assert left_behind(session) == (0, [])


def test_a_task_that_is_killed_again_and_again_is_an_error(session: Any, tmp_path: Path) -> None:
    edges = doomed(session, tmp_path, is_always=True)
    with pytest.raises(
        EngineError, match=r"the table of 'edge': Spark gave up a task after 4 attempts: .*Python worker"
    ):
        ground(check_text(REACH), {"edge": edges}, engine=SparkEngine(session))
    assert left_behind(session) == (0, [])
    assert session.range(3).count() == 3


def test_an_error_of_the_users_own_code_is_shown(session: Any) -> None:
    from pyspark.sql.functions import udf

    def broken(k: int) -> int:
        raise ValueError(f"no answer for {k}")

    edges = session.range(0, 1, 1, 1).select("id", udf(broken, "bigint")("id").alias("next"))
    with pytest.raises(DataError, match=r"the table of 'edge': Python code .* raised ValueError: no answer for 0$"):
        ground(check_text(REACH), {"edge": edges}, engine=SparkEngine(session))
    assert left_behind(session) == (0, [])


def test_overflow_is_an_error_of_the_data(engine: SparkEngine) -> None:
    large = Project(Unit(), {"X": literal(2**62)})
    with pytest.raises(DataError, match=r"^Spark: .*overflow"):
        engine.fetch(Project(large, {"Y": call("*", Column("X"), literal(4))}))


def test_variables_of_the_shell_are_not_looked_up_in_texts(engine: SparkEngine) -> None:
    for text in ("${spark.master}", "${env:HOME}", "{{x}}", ":x", "?", "\\u0041", "a\nb"):
        assert engine.fetch(Project(Unit(), {"T": literal(text)}))["T"].tolist() == [text]


def test_wrong_sessions_are_refused(session: Any) -> None:
    with pytest.raises(OptionError, match="a SparkSession"):
        SparkEngine("local[2]")


def run_python(code: str, **environment: str) -> str:
    variables = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | environment
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_without_java_or_pyspark_it_is_said_what_to_install() -> None:
    start = "from relift.tables.spark.engine import SparkEngine\ntry: SparkEngine()\nexcept ImportError as e: print(e)"
    said = run_python(start, PATH="/nonexistent")
    assert said == (
        "Spark needs Java, and there is none on the PATH. Install a Java runtime of version 17 or newer "
        "(for example openjdk-17-jre-headless), or set JAVA_HOME.\n"
    )
    hidden = (
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'pyspark' else find(name, *rest)\n"
    )
    assert "pip install 'relift[spark]'" in run_python(hidden + start)


STOPPED = "the Spark session was stopped, or its JVM ended, while relift was using it"


def test_a_session_that_is_stopped_between_two_statements(session: Any) -> None:
    """One of the last two tests: the session of the others is gone then."""

    def stop(event: Progress) -> None:
        if "edge: " in event.message:
            session.stop()

    with pytest.raises(EngineError, match=STOPPED) as caught:
        ground(check_text(p.MAX_FLOW + p.MAX_FLOW_FACTS), engine=SparkEngine(session), progress=stop)
    assert "\n" not in str(caught.value)
    with pytest.raises(EngineError, match="Give one that runs"):
        SparkEngine(session)


def test_a_session_that_is_stopped_in_the_middle_of_a_job() -> None:
    with SparkEngine() as engine:  # started anew
        numbers = engine.attach("t", source_from_data("t", np.arange(100_000)))
        table = Scan("t", {"X": ("c0", numbers["c0"])})
        product = Join(table, Project(table, {"Y": Column("X")}))
        odd = Filter(product, call("=", call("*", Column("X"), Column("Y")), literal(7)))
        tracker = engine._open.session._sc.statusTracker()

        def stop() -> None:
            while not tracker.getActiveJobsIds():
                time.sleep(0.05)
            engine._open.parent.stop()

        stopping = threading.Thread(target=stop)
        stopping.start()
        with pytest.raises(EngineError, match=STOPPED):
            engine.count(odd, 10)
        stopping.join(300)
