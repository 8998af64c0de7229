"""Leaves out the examples of modules and pages whose optional packages are not installed, and says so."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
NEEDS = {
    "cvxpy": (
        "src/relift/cvxpy.py",
        "src/relift/bridges/cvxpy/",
        "docs/cvxpy.md",
        "docs/coming_from_cvxpy.md",
        "docs/semidefinite.md",
    ),
    "linopy": ("src/relift/linopy.py", "src/relift/bridges/linopy_.py", "docs/pypsa_and_linopy.md"),
    "pulp": ("src/relift/pulp.py", "src/relift/bridges/pulp_.py", "docs/other_tools.md"),
    "pyomo": ("src/relift/pyomo.py", "src/relift/bridges/pyomo_.py", "docs/other_tools.md"),
    "pypsa": ("docs/pypsa_and_linopy.md",),
    "sklearn": (
        "src/relift/ml/",
        "src/relift/paper/",
        "docs/lifted_svm.md",
        "docs/coming_from_scikit_learn.md",
        "docs/gallery.md",
        "docs/repeated_rows.md",
    ),
    "qpsolvers": ("src/relift/qpsolvers.py", "src/relift/bridges/qpsolvers_.py", "docs/scipy_and_qpsolvers.md"),
}
"""Packages, and whose examples need them. Tests skip by themselves, with a reason."""

EXAMPLES = {
    "relift.symmetry.geometry.point_symmetries": "igraph",
    "relift.tables.postgres.copy_binary.columns_from_copy": "pyarrow",
}
"""Single examples that need a package which the others of their module do not."""

LONG = {
    "test_bindings_pass_the_tests_of_kernels_under_sanitizers",
    "test_core_passes_its_tests_under_sanitizers",
    "test_mypy_finds_no_wrong_type",
    "test_points_have_the_residuals_computed_here",
    "test_solver_modules_of_cvxpy_have_the_same_outcomes_behind_relift",
}
"""Tests that take longer than ten seconds; a name that is missing costs time, nothing else."""

MISSING = {package: places for package, places in NEEDS.items() if find_spec(package) is None}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what needs a missing package."""
    if not collection_path.is_file() or not collection_path.is_relative_to(ROOT):
        return None
    path = collection_path.relative_to(ROOT).as_posix()
    return True if any(path.startswith(place) for places in MISSING.values() for place in places) else None


def pytest_configure(config: pytest.Config) -> None:
    """Load OSQP before a test imports PuLP: the other way round it cannot run (see relift.solvers.osqp_library)."""
    if find_spec("osqp") is not None:
        import_module("osqp")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip single examples that need a missing package; share out what one process should do, and what takes long.

    Processes that share the tests (``-n 2 --dist worksteal``) begin with a contiguous part each and take from the end
    of each other's parts. So the first of them begins with all tests of Spark, and Java is started once; the second
    begins with what takes long; and what is left at the end is short, so that no process waits long for another one.
    """
    spark = [item for item in items if _has_group(item, "spark")]
    long = [item for item in items if _is_long(item) and not _has_group(item, "spark")]
    short = [item for item in items if not _is_long(item) and not _has_group(item, "spark")]
    n_processes = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    of_first = max(0, len(items) // n_processes - len(spark)) if n_processes > 1 else 0
    items[:] = [*spark, *short[:of_first], *long, *short[of_first:]]
    for item in items:
        package = EXAMPLES.get(item.name)
        if package is not None and find_spec(package) is None:
            item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))


def _is_long(item: pytest.Item) -> bool:
    return item.name.split("[")[0] in LONG


def _has_group(item: pytest.Item, name: str) -> bool:
    return any(mark.args == (name,) for mark in item.iter_markers("xdist_group"))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What is left out, and why."""
    return [f"left out: {', '.join(places)}, since {package} is not installed" for package, places in MISSING.items()]
