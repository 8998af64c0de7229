"""Linear models from data frames and from tables of engines: the answer of a pipeline with one-hot columns."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.postgres_server import Server

pytest.importorskip("sklearn", reason="relift.ml needs scikit-learn")

from sklearn.compose import make_column_transformer
from sklearn.linear_model import Lasso, LogisticRegression, PoissonRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from relift.errors import DataError, OptionError
from relift.ml import (
    LiftedElasticNet,
    LiftedLasso,
    LiftedLogisticRegression,
    LiftedPoissonRegressor,
    LiftedQuantileRegressor,
)

pd = pytest.importorskip("pandas", reason="frames need pandas")


FEATURES = ["town", "size", "age"]


def survey(n_rows: int = 800) -> Any:
    """Answers that repeat: a town, a size, an age in decades, a label, a count, a weight."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "town": random.choice(["Köln", "Aachen", "O'Fallon", 'a "b"'], n_rows),
            "size": random.choice(["S", "M", "L"], n_rows),
            "age": random.integers(2, 7, n_rows),
        }
    )
    score = (frame["town"] == "Köln") - 0.3 * (frame["age"] - 4)
    frame["bought"] = np.where(random.random(n_rows) < 1 / (1 + np.exp(-score)), "yes", "no")
    frame["visits"] = random.poisson(np.exp(0.5 * score))
    frame["n"] = random.integers(1, 4, n_rows)
    return frame


def pipeline(model: Any) -> Any:
    encoder = make_column_transformer((OneHotEncoder(), ["town", "size"]), remainder="passthrough")
    return make_pipeline(encoder, model)


def other_frames(frame: Any) -> list[Any]:
    """The same table in other libraries and types."""
    found = [frame, frame.astype({"town": "category", "size": "string"})]
    pa = pytest.importorskip("pyarrow", reason="Arrow tables need pyarrow")
    table = pa.Table.from_pandas(frame)
    found += [table, table.set_column(0, "town", table.column("town").dictionary_encode())]
    pl = pytest.importorskip("polars", reason="Polars frames need polars")
    found += [pl.from_pandas(frame), pl.from_pandas(frame).with_columns(pl.col("size").cast(pl.Categorical))]
    return found


def test_frames_of_all_libraries_give_the_answer_of_a_pipeline() -> None:
    frame = survey()
    expected = pipeline(LogisticRegression(tol=1e-10, max_iter=5000)).fit(frame[FEATURES], frame["bought"])
    weights = frame["n"].to_numpy()
    for given in other_frames(frame[FEATURES]):
        model = LiftedLogisticRegression(tol=1e-11).fit(given, frame["bought"])
        np.testing.assert_allclose(model.predict_proba(given), expected.predict_proba(frame[FEATURES]), atol=1e-5)
        assert model.get_feature_names_out().tolist()[:3] == ["town_Aachen", "town_Köln", "town_O'Fallon"]
        assert model.feature_names_in_.tolist() == FEATURES
        assert model.n_distinct_ <= 60
        assert model.fit(given, frame["bought"], weights).class_of_sample_.shape == (len(frame),)


def test_counts_and_numbers_from_a_frame_are_those_of_a_pipeline() -> None:
    frame = survey()
    for model, expected in (
        (LiftedPoissonRegressor(alpha=0.1, tol=1e-11), PoissonRegressor(alpha=0.1, tol=1e-10, max_iter=5000)),
        (LiftedLasso(alpha=0.01, tol=1e-11), Lasso(alpha=0.01, tol=1e-12, max_iter=10**5)),
    ):
        model.fit(frame[FEATURES], frame["visits"], frame["n"])
        fitted = pipeline(expected)
        fitted.fit(
            frame[FEATURES], frame["visits"], **{f"{expected.__class__.__name__.lower()}__sample_weight": frame["n"]}
        )
        np.testing.assert_allclose(model.predict(frame[FEATURES]), fitted.predict(frame[FEATURES]), atol=1e-4)


def check_table(table: Any, engine: Any = None) -> None:
    """Models fitted from a table of an engine are those fitted from the frame."""
    frame = survey()
    for model, target in (
        (LiftedLogisticRegression(), "bought"),
        (LiftedPoissonRegressor(alpha=0.1), "visits"),
        (LiftedElasticNet(alpha=0.1), "visits"),
        (LiftedQuantileRegressor(alpha=0.01), "visits"),
    ):
        expected = type(model)(**model.get_params()).fit(frame[FEATURES], frame[target], frame["n"])
        model.fit_table(table, target, features=FEATURES, weight="n", engine=engine)
        assert model.primal_value_ == pytest.approx(expected.primal_value_, rel=1e-6)
        assert model.n_distinct_ == expected.n_distinct_
        assert model.lift_report_["rows"] == len(frame)
        if target == "visits":
            np.testing.assert_allclose(model.predict(frame), expected.predict(frame[FEATURES]), atol=1e-3)
        else:
            assert model.classes_.tolist() == ["no", "yes"]
        assert not hasattr(model, "class_of_sample_")


def test_a_table_of_duckdb_is_grouped_there(tmp_path: Path) -> None:
    import duckdb

    survey().to_parquet(tmp_path / "survey.parquet")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(f"CREATE TABLE survey AS SELECT * FROM '{tmp_path}/survey.parquet'")
        check_table("survey", connection)
        check_table("SELECT * FROM survey WHERE n > 0;", connection)
        check_table("main.survey", connection)
        check_table(connection.table("survey"))
    check_table("survey", str(tmp_path / "shop.duckdb"))
    check_table(tmp_path / "survey.parquet")
    check_table(survey())


def test_a_table_of_postgresql_is_grouped_there(postgres_server: Server) -> None:
    psycopg = pytest.importorskip("psycopg", reason="needs psycopg")
    frame = survey()
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("CREATE TABLE survey (town text, size text, age int, bought text, visits int, n int)")
        with connection.cursor().copy("COPY survey FROM STDIN") as copy:
            for row in frame.itertuples(index=False):
                copy.write_row(row)
        check_table("survey", postgres_server.url())
        check_table("SELECT * FROM public.survey", connection)
        connection.execute("DROP TABLE survey")


@pytest.fixture
def spark_session() -> Iterator[Any]:
    """A session as a user would have it."""
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    if shutil.which("java") is None and not os.environ.get("JAVA_HOME"):
        pytest.skip("there is no Java for Spark")
    from relift.tables.spark.engine import SparkEngine

    with SparkEngine(driver_memory="1g") as engine:
        yield engine._open.parent


@pytest.mark.xdist_group("spark")
def test_a_spark_data_frame_is_grouped_there(spark_session: Any) -> None:
    frame = spark_session.createDataFrame(survey())
    check_table(frame)
    frame.createOrReplaceTempView("survey")
    check_table("survey", spark_session)


def test_missing_values_in_frames_are_refused() -> None:
    frame = survey(20)
    frame.loc[3, "town"] = None
    with pytest.raises(
        ValueError, match=r"the column 'town' has missing values in 1 of 20 rows. Drop these rows, or fill"
    ):
        LiftedLogisticRegression().fit(frame[FEATURES], frame["bought"])
    with pytest.raises(TypeError, match="LazyFrame has no rows yet"):
        LiftedLasso().fit(pytest.importorskip("polars").LazyFrame({"a": ["x"]}), [1.0])
    with pytest.raises(ValueError, match="must hold numbers or strings; it holds datetime64"):
        LiftedLasso().fit(pd.DataFrame({"a": ["x"], "b": pd.to_datetime(["2020-01-01"])}), [1.0])


def test_new_categories_and_other_tables_are_refused_at_prediction() -> None:
    frame = survey(50)
    model = LiftedLogisticRegression().fit(frame[FEATURES], frame["bought"])
    with pytest.raises(ValueError, match="the column 'size' has categories that were not seen in fit: 'XL'"):
        model.predict(frame[FEATURES].assign(size="XL"))
    with pytest.raises(ValueError, match=r"the table has no column 'age'. It has 'town', 'size'"):
        model.predict(frame[["town", "size"]])
    with pytest.raises(ValueError, match="held categories in fit and holds numbers now"):
        model.predict(frame[FEATURES].assign(size=1, town="Köln"))
    with pytest.raises(ValueError, match="was fitted on a table: give a table with columns 'town', 'size', 'age'"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="was fitted on an array of numbers"):
        LiftedLasso().fit(np.zeros((2, 3)), [0.0, 1.0]).predict(frame[FEATURES])


def test_wrong_tables_are_one_sentence(tmp_path: Path) -> None:
    import duckdb

    frame, model = survey(20), LiftedPoissonRegressor()
    with pytest.raises(OptionError, match=r"the table has no column 'visit'. It has 'town'"):
        model.fit_table(frame, "visit")
    with pytest.raises(OptionError, match="'visits' cannot be a feature as well"):
        model.fit_table(frame, "visits", features=["visits"])
    with pytest.raises(OptionError, match=r"is neither a file nor a data frame. Say where it lies"):
        model.fit_table("survey", "visits")
    with pytest.raises(OptionError, match="engine='oracle' is not one that can group rows"):
        model.fit_table("survey", "visits", engine="oracle")
    with pytest.raises(FileNotFoundError):
        model.fit_table(tmp_path / "none.parquet", "visits")
    with duckdb.connect() as connection, pytest.raises(DataError, match=r"DuckDB cannot group the table.*survey"):
        model.fit_table("survey", "visits", engine=connection)
    with pytest.raises(DataError, match="the target 'visits' is missing in 1 rows"):
        model.fit_table(frame.assign(visits=[None, *[1.0] * 19]), "visits")
    with pytest.raises(DataError, match="the weight 'n' is negative"):
        model.fit_table(frame.assign(n=-1), "visits", weight="n")
    with pytest.raises(DataError, match="the table has no rows"):
        model.fit_table(frame[:0], "visits")
    with pytest.raises(ValueError, match="the column 'town' has missing values"):
        model.fit_table(frame.assign(town=[None, *["x"] * 19]), "visits", features=["town"])
    with pytest.raises(ValueError, match="lift='none' cannot be fitted from a table"):
        LiftedLasso(lift="none").fit_table(frame, "visits")
