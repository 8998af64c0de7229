"""The table of mutants is true to the code: every old text stands once, and every test that must notice is there."""

from __future__ import annotations

import pytest
from tests.data import ROOT
from tests.mutants.table import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file.rpartition('/')[2]}: {mutant.old[:30]}")
def test_a_mutant_changes_one_place_and_its_tests_are_there(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    assert mutant.new != mutant.old
    folder, suffix = (ROOT / "core" / "tests", ".cpp") if mutant.is_cpp else (ROOT, "")
    assert all((folder / f"{name}{suffix}").exists() for name in mutant.tests)


def test_all_parts_have_mutants() -> None:
    parts = {mutant.file.removeprefix("src/relift/").partition("/")[0] for mutant in MUTANTS}
    assert parts >= {"program", "symmetry", "lifting", "solvers", "approximate", "formats", "bridges", "ml", "core"}
    assert len(MUTANTS) >= 30
