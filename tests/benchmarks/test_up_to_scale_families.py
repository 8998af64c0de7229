"""Families of many sizes and of oriented networks, made small: classes do not depend on how many sizes there are."""

from __future__ import annotations

import pytest
from benchmarks.families.family import Family
from benchmarks.families.up_to_scale import FAMILIES

import relift


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_is_what_it_says_and_lifting_keeps_its_optimum(family: Family) -> None:
    program = family.build(11 if "flow" in family.name else 30)
    lifted, direct = relift.solve(program), relift.solve(program, lift="none", reduce=False)
    assert lifted.status == direct.status == "optimal"
    assert lifted.certificate.is_optimal
    assert lifted.objective == pytest.approx(direct.objective, rel=1e-6, abs=1e-6)
    small, plain = lifted.lifting.small, relift.lift(program, sizes=False, signs=False).small
    assert plain.n_variables >= 0.9 * program.n_variables
    if family.is_symmetric:
        assert small.n_variables < 0.4 * plain.n_variables
    else:
        assert small.n_variables == plain.n_variables


SIZED = [family for family in FAMILIES if family.is_symmetric and "many sizes" in family.name]


@pytest.mark.parametrize("family", SIZED, ids=lambda family: family.name)
def test_more_sizes_do_not_make_more_classes(family: Family) -> None:
    few, many = (relift.lift(family.build(n)).small for n in (12, 40))
    assert (few.n_variables, few.n_rows) == (many.n_variables, many.n_rows)
