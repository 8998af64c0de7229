"""Every formula has the same value when NumPy computes it and when an engine does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.in_database.table_expressions import EXPRESSIONS, column
from relift.in_database.temporary_tables import TemporaryTables
from relift.program import formulas
from relift.tables.algebra import Project
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.memory.engine import MemoryEngine

FORMULAS = sorted(
    name
    for name, each in vars(formulas).items()
    if inspect.isfunction(each) and each.__module__ == formulas.__name__ and name != "scale_of_objective"
)
"""All but the one that is a function of single numbers."""

NUMBERS = {"common": 0.25, "scale": 3.0}
"""Parameters that are one number for all."""

POSITIVE = {"class_size", "size", "own_unit", "natural", "products", "largest_term", "n_infinite"}
NOT_ZERO = {"entry", "leader_scale", "scale"}
SIDES = {"lower": -np.inf, "upper": np.inf, "side": np.inf, "own": -np.inf}
"""Parameters that may be infinite, and how."""


@pytest.fixture(scope="module", params=["duckdb", "memory"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with DuckDBEngine(threads=1) if request.param == "duckdb" else MemoryEngine() as opened:
        yield opened


def drawn(name: str, random: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    values = random.choice([-3.0, -1.0, -1e-12, 0.0, 1e-12, 0.5, 2.0], n) * random.choice([1.0, 1e-6, 1e6], n)
    if name in POSITIVE:
        return np.abs(values) + random.choice([1.0, 7.0], n)
    if name in NOT_ZERO:
        return np.where(values == 0.0, 1.0, values)
    if name in SIDES:
        return np.where(random.random(n) < 0.3, SIDES[name], values)
    return values


@pytest.mark.parametrize("name", FORMULAS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_a_formula_has_the_same_value_for_arrays_and_in_an_engine(engine: Engine, name: str, seed: int) -> None:
    random, n = np.random.default_rng(seed), 30
    formula = getattr(formulas, name)
    parameters = list(inspect.signature(formula).parameters)
    takes_reading, names = parameters[0] == "ops", [each for each in parameters if each != "ops"]
    numbers = {each: NUMBERS[each] for each in names if takes_reading and each in NUMBERS}
    arrays = {each: drawn(each, random, n) for each in names if each not in numbers}
    with np.errstate(all="ignore"):
        here = formula(*([formulas.ARRAYS] if takes_reading else []), **arrays, **numbers)
    expressions = {each: column(each) for each in arrays}
    there = formula(*([EXPRESSIONS] if takes_reading else []), **expressions, **numbers)
    here, there = ([each] if not isinstance(each, tuple) else list(each) for each in (here, there))
    temporary = TemporaryTables(engine, "formulas")
    try:
        table = temporary.attach("t", {"i": np.arange(n), **arrays})
        wanted = {f"f{k}": each.scalar for k, each in enumerate(there)}
        found = engine.fetch(Project(table, {"i": column("i").scalar, **wanted}))
    finally:
        temporary.close()
    order = np.argsort(found["i"])
    for k, expected in enumerate(here):
        np.testing.assert_allclose(found[f"f{k}"][order].astype(float), np.broadcast_to(expected, n), rtol=1e-12)


def test_shares_of_a_class_put_its_dual_value_together_again() -> None:
    scales = np.array([2.0, -4.0, 0.5])
    share = formulas.row_share(scales, scales[0], 3)
    assert (share * scales).sum() == pytest.approx(scales[0])
    assert formulas.variable_share(np.array([4.0])).tolist() == [0.25]
    by_factors = formulas.row_share(1 / scales[0], 1 / scales, 3)
    np.testing.assert_allclose(by_factors, share)
