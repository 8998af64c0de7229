"""The process that forks children, one for all tests of a worker; and a folder with a model to work on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.faults.children import Children

import relift

MODEL = """param supply/1, demand/1, cost/2;
var ship(P,C) in cost(P,C) >= 0;
minimize total: sum{P,C in cost(P,C)} cost(P,C)*ship(P,C);
subject to met forall {C in demand(C)}: sum{P in cost(P,C)} ship(P,C) >= demand(C);
subject to stock forall {P in supply(P)}: sum{C in cost(P,C)} ship(P,C) <= supply(P);
"""


@pytest.fixture(scope="session")
def children() -> Iterator[Children]:
    forking = Children()
    yield forking
    forking.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with models in several forms, and an old answer that must not be lost."""
    n = 12
    ring = np.eye(n) + np.roll(np.eye(n), 1, axis=1)
    program = relift.Program(q=np.ones(n), A=ring, l=np.ones(n), lb=0)
    for name in ("model.mps", "model.lp", "model.npz"):
        relift.write_program(program, tmp_path / name)
    relift.write_program(program.replace(P=np.eye(n)), tmp_path / "square.mps")
    (tmp_path / "model.rlp").write_text(MODEL, encoding="utf-8")
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "supply.csv").write_text("P,value\nlyon,5\nkiel,4\n", encoding="utf-8")
    (tables / "demand.csv").write_text("C,value\nrome,6\noslo,2\n", encoding="utf-8")
    (tables / "cost.csv").write_text(
        "P,C,value\nlyon,rome,2\nlyon,oslo,5\nkiel,rome,4\nkiel,oslo,3\n", encoding="utf-8"
    )
    lifting = relift.lift(program)
    from relift.formats.lifting_map import write_lifting_map
    from relift.formats.solutions import write_solution

    write_lifting_map(lifting, tmp_path / "map.json", tmp_path / "model.mps")
    write_solution(relift.solve(lifting.small, lift="none"), tmp_path / "small.json")
    write_solution(relift.solve(program), tmp_path / "solution.json")
    return tmp_path
