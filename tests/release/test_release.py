"""What a release rests on: one version, one list of modules, a source distribution with all tests."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

import relift

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "setup.py").exists(), reason="not a checkout of the repository")


def test_the_version_is_the_same_wherever_it_stands() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^version: (.*)$", citation) == [relift.__version__]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    assert "version" not in project


def test_the_wheels_are_audited_for_every_module_that_is_built() -> None:
    from release.wheels import MODULES

    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    built = {node.value for node in ast.walk(ast.parse(setup)) if isinstance(node, ast.Constant)}
    named = {name for name in built if isinstance(name, str) and re.fullmatch(r"relift\._\w*core", name)}
    assert named == {f"relift.{module}" for module in MODULES}
    from relift.cli import installation

    shown = Path(installation.__file__).read_text(encoding="utf-8")
    assert all(f'"{module}"' in shown for module in MODULES)


def test_the_source_distribution_takes_every_folder_of_the_repository() -> None:
    manifest = (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    grafted = set(re.findall(r"(?m)^graft (\w+)$", manifest))
    made = {"build", "dist", "results", "__pycache__"}
    folders = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name.isidentifier()}
    assert folders - made - {"src"} <= grafted | {"shared"}


def test_the_compiled_core_is_missed_aloud_once(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    import relift.pipeline  # all of it, before the core is hidden: modules look for it when they are imported
    from relift.errors import SlowReferenceWarning
    from relift.symmetry import colour_refinement, finite_field

    monkeypatch.setattr(finite_field, "CORE_IS_COMPILED", False)
    colour_refinement._warn_once.cache_clear()
    program = relift.Program(q=[1, 1, 1], A=[[1, 1, 1]], l=[3], lb=0)
    for _ in range(2):
        assert relift.lift(program).small.n_variables == 1
    told = [str(each.message) for each in recwarn if issubclass(each.category, SlowReferenceWarning)]
    assert told == [
        "relift was installed without its compiled core: the NumPy reference runs, which gives the same answers and is "
        "many times slower. Install a wheel for this platform, or install again with a C++17 compiler."
    ]
