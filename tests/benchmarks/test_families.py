"""The families of the benchmarks, made small: as symmetric as they say, and solved alike lifted and ground."""

from __future__ import annotations

import pytest
from benchmarks.families import FAMILIES, Family

import relift

SMALL = {
    "charging fleet": 60,
    "covering design": 8,
    "machine repair MDP": 5,
    "obstacle 3-D": 5,
    "model predictive control": 10,
    "isotonic regression": 200,
    "linear SVM": 200,
    "lasso": 60,
    "lasso, tied features": 200,
    "group lasso, tied groups": 80,
    "optimal transport": 5,
    "optimal transport on a torus": 5,
    "MAP-LP on a torus": 6,
    "MAP-LP of noisy pixels": 6,
    "security game": 6,
    "security game by kinds": 6,
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_what_it_says_and_lifting_keeps_its_optimum(family: Family) -> None:
    program = family.build(SMALL.get(family.name, 40))
    lifted = relift.solve(program)
    ground = relift.solve(program, lift="none", reduce=False)
    assert lifted.status == ground.status == "optimal"
    assert lifted.objective == pytest.approx(ground.objective, rel=1e-5, abs=1e-5)
    n, small = program.n_variables, lifted.lifting.small.n_variables
    # Without symmetry some variables may rest at 0 all the same.
    assert small < 0.9 * n if family.is_symmetric else small >= 0.97 * n
    kind = "SOCP" if len(program.conic) else "LP" if program.is_linear else "QP"
    assert kind == family.kind


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.area in {"finance", "random"}], ids=lambda f: f.name)
def test_families_stay_feasible_when_they_are_tiny(family: Family) -> None:
    for size in (2, 3, 5, 12):
        assert relift.solve(family.build(size)).status == "optimal"


def test_half_of_the_families_have_no_symmetry_and_every_area_is_there() -> None:
    symmetric = sum(family.is_symmetric for family in FAMILIES)
    assert abs(2 * symmetric - len(FAMILIES)) <= 2
    assert len({family.name for family in FAMILIES}) == len(FAMILIES) >= 24
    assert {family.area for family in FAMILIES} >= {"learning", "operations", "control", "finance", "games"}
    assert {family.kind for family in FAMILIES} == {"LP", "QP", "SOCP"}
