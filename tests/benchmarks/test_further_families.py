"""The further families can be built in any size, and have optimal points."""

from __future__ import annotations

import pytest
from benchmarks.families.family import Family
from benchmarks.families.further import FAMILIES

import relift

SMALL = {
    "membrane": 6, "heat": 4, "mass and spring": 3, "large control": 2, "factor portfolio": 100, "time-indexed jobs": 5,
    "least deviations": 3, "blending": 30, "power market": 4,
}  # fmt: skip
"""Sizes for families whose size is a side or a horizon; of others a dozen."""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: str(family.name))
def test_each_has_an_optimal_point(family: Family) -> None:
    program = family.build(SMALL.get(family.name, 12))
    assert program.is_linear is (family.kind == "LP")
    result = relift.solve(program)
    assert result.status == "optimal"
    assert result.certificate.worst_residual <= 1e-6
    assert family.build(family.sizes[0]).n_variables > program.n_variables
