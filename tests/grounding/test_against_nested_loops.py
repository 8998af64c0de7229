"""The engine's answer is that of nested loops, on random models over random tables."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from tests.grounding.random_models import data, models
from tests.grounding.slow_evaluator import NoValue, SlowEvaluator

from relift.errors import DataError, LanguageError
from relift.grounding.fill_quadratic import is_quadratic
from relift.grounding.ground import GroundProgram, ground
from relift.language.checked_model import Constraint
from relift.language.checks.check_model import check_text
from relift.tables.duckdb.engine import DuckDBEngine
from relift.tables.engine import Engine
from relift.tables.memory.engine import MemoryEngine


def atoms_of(index: Any) -> list[tuple[str, tuple[Any, ...]]]:
    found = []
    for block in index.blocks:
        columns = list(index.table(block.name, block.part).values())
        for k in range(block.size):
            entry = tuple(
                v if isinstance(v, str) else Fraction(v)
                for v in (column[k].item() if hasattr(column[k], "item") else column[k] for column in columns)
            )
            found.append((block.label, entry))
    return found


def assert_same(grounded: GroundProgram, slow: SlowEvaluator) -> None:
    program = grounded.program
    atoms = atoms_of(grounded.atoms)
    rows = atoms_of(grounded.rows)
    assert max(Counter(atoms).values(), default=1) == 1
    assert max(Counter(rows).values(), default=1) == 1
    A = program.A.tocsr()
    for constraint in grounded.model.constraints:
        if is_quadratic(constraint):
            assert_same_curved(grounded, slow, constraint, atoms)
            continue
        expected = slow.constraint(constraint)
        label = f"{constraint.name}.{constraint.part}" if constraint.part else constraint.name
        mine = [i for i, (name, _) in enumerate(rows) if name == label]
        assert {rows[i][1] for i in mine} == set(expected)
        for i in mine:
            entries, lower, upper = expected[rows[i][1]]
            found = {atoms[j]: v for j, v in zip(A[[i]].indices, A[[i]].data, strict=True)}
            assert found.keys() == entries.keys()
            for atom, value in entries.items():
                assert found[atom] == pytest.approx(float(value), rel=1e-12, abs=1e-13)
            for side, wanted, nothing in ((program.l[i], lower, -np.inf), (program.u[i], upper, np.inf)):
                assert side == pytest.approx(nothing if wanted is None else float(wanted), rel=1e-12, abs=1e-13)
    q, P, r = slow.objective()
    found_q = {atoms[j]: program.q[j] for j in np.flatnonzero(np.abs(program.q) > 1e-13)}
    assert found_q == pytest.approx({atom: float(v) for atom, v in q.items()}, rel=1e-12, abs=1e-12)
    if program.P is not None:
        entries = program.P.tocoo()
        found_P = {
            (atoms[i], atoms[j]): v for i, j, v in zip(*entries.coords, entries.data, strict=True) if abs(v) > 1e-13
        }
        assert found_P == pytest.approx({pair: float(v) for pair, v in P.items()}, rel=1e-12, abs=1e-12)
    else:
        assert not P
    assert program.r == pytest.approx(float(r), rel=1e-12, abs=1e-12)


def assert_same_curved(grounded: GroundProgram, slow: SlowEvaluator, constraint: Constraint, atoms: Any) -> None:
    quadratic = grounded.program.quadratic
    rows = atoms_of(grounded.quadratic)
    expected = slow.quadratic_constraint(constraint)
    mine = [k for k, (name, _) in enumerate(rows) if name == constraint.name]
    assert {rows[k][1] for k in mine} == set(expected)
    for k in mine:
        q, P, r = expected[rows[k][1]]
        entries = np.flatnonzero((quadratic.owner == k) & (np.abs(quadratic.values) > 1e-13))
        found_P = {(atoms[quadratic.first[e]], atoms[quadratic.second[e]]): quadratic.values[e] for e in entries}
        assert len(found_P) == entries.size
        assert found_P == pytest.approx({pair: float(v) for pair, v in P.items()}, rel=1e-12, abs=1e-12)
        slopes = quadratic.q.tocsr()[[k]]
        found_q = {atoms[j]: v for j, v in zip(slopes.indices, slopes.data, strict=True) if abs(v) > 1e-13}
        assert found_q == pytest.approx({atom: float(v) for atom, v in q.items()}, rel=1e-12, abs=1e-12)
        assert quadratic.r[k] == pytest.approx(float(r), rel=1e-12, abs=1e-12)


@settings(max_examples=60, deadline=None, phases=[Phase.reuse, Phase.generate], suppress_health_check=list(HealthCheck))
@given(text=models(), tables=data(), seed=st.integers(0, 3))
def test_grounding_is_what_nested_loops_give(text: str, tables: dict[str, Any], seed: int) -> None:
    try:
        model = check_text(text)
    except LanguageError as error:
        event(f"refused: {type(error).__name__}")
        return
    try:
        slow = SlowEvaluator(model, tables)
        for constraint in model.constraints:
            (slow.quadratic_constraint if is_quadratic(constraint) else slow.constraint)(constraint)
        slow.objective()
    except NoValue:
        event("no value")
        with pytest.raises(DataError):
            ground(model, tables)
        return
    event("grounded")
    others: dict[int, list[Engine]] = {0: [DuckDBEngine(threads=1)], 1: [MemoryEngine(most_rows=3)]}
    engines = others.get(seed, [MemoryEngine()])
    for engine in engines:  # with three rows many queries are handed over to DuckDB
        with ground(model, tables, engine=engine) as grounded:
            assert_same(grounded, slow)
