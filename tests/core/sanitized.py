"""The extensions with sanitizers: built into a temporary folder, and the tests of their kernels run with them.

``python -m tests.core.sanitized [TEST ...]`` runs all of them, or those named. No step outside an array, no overflow of
a signed number, no wrong shift or cast passes unseen; leaks are looked for in the tests of the core without Python
(``core/tests``), since the interpreter itself never gives everything back.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "_core": "module.cpp",
    "_passes_core": "passes_module.cpp",
    "_tables_core": "tables_module.cpp",
    "_ml_core": "ml_module.cpp",
    "_linear_core": "linear_module.cpp",
}
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FLAGS = (
    "-std=c++17",
    "-g1",
    *SANITIZERS,
    "-fPIC",
    "-pthread",
    "-shared",
    "-DPy_LIMITED_API=0x030B0000",
    "-Wall",
    "-Wextra",
)
KERNEL_TESTS = (
    "tests/lifting/test_point_residuals.py",
    "tests/lifting/test_ray_residuals.py",
    "tests/program/test_conic_passes.py",
    "tests/program/test_passes.py",
    "tests/program/test_quadratic_passes.py",
    "tests/solvers/test_forms.py",
    "tests/solvers/test_newton_polish.py",
    "tests/symmetry/test_colour_refinement.py",
    "tests/symmetry/test_cone_refinement.py",
    "tests/symmetry/test_equitable.py",
    "tests/symmetry/test_finite_field.py",
    "tests/symmetry/test_geometry.py",
    "tests/symmetry/test_kernel_partitions.py",
    "tests/symmetry/test_looks.py",
    "tests/symmetry/test_partition.py",
    "tests/symmetry/test_snapping.py",
    "tests/hostile/test_collisions.py",
    "tests/tables/test_compiled.py",
    "tests/tables/memory/test_engine.py",
    "tests/ml/test_kernels.py",
    "tests/ml/test_point_signatures.py",
    "tests/ml/test_dual.py",
    "tests/ml/test_nu_machines.py",
    "tests/ml/test_linear_models.py",
)
"""Tests that reach the compiled kernels."""

LEFT_OUT = "not exhausted_memory and not ctrl_c and not progress_is_told"
"""Sanitizers reserve terabytes of addresses, so that a test that limits them cannot run here; and millions of vertices,
which others need to be interrupted at work, take minutes."""


def missing_part() -> str:
    """Why nothing can be built here; empty if it can."""
    compiler = shutil.which("g++")
    if compiler is None:
        return "no g++ on this machine"
    found = subprocess.run([compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    return "" if Path(found.stdout.strip()).is_absolute() else "the sanitizers' libraries are not installed"


QUICK_MODULES = ("_core", "_tables_core", "_ml_core")
QUICK_FLAGS = ("-O0", "-fno-sanitize=null,alignment")
"""The modules that these tests enter. A read by a null pointer ends the process in any case, and where something is
aligned is checked by the tests of the core without Python; without the two a third less is compiled."""

QUICK_TESTS = ("tests/symmetry/test_colour_refinement.py", "tests/tables/test_compiled.py", "tests/ml/test_kernels.py")
QUICK = "refused or core_checks or unsorted or factor or example or groups or joins or gathered or rows or nearest"
"""A choice among them that enters three modules and takes seconds."""


def build(folder: Path, extra: tuple[str, ...] = ("-O1",), modules: tuple[str, ...] = tuple(MODULES)) -> None:
    """Copy the package to a folder, with sanitised extensions.

    Parameters
    ----------
    folder
        Where ``relift`` is put.
    extra
        Further flags: ``-O0`` builds quicker, ``-O1`` runs quicker.
    modules
        Which extensions.
    """
    shutil.copytree(
        ROOT / "src" / "relift", folder / "relift", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    )
    includes = [f"-I{ROOT / 'core' / 'include'}", f"-I{sysconfig.get_paths()['include']}"]

    def build_one(name: str) -> None:
        target, source = folder / "relift" / f"{name}.abi3.so", ROOT / "core" / "bindings" / MODULES[name]
        words = ["g++", *FLAGS, *extra, *includes, str(source), "-o", str(target)]
        subprocess.run(words, check=True)

    with ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        list(pool.map(build_one, modules))


def environment(folder: Path) -> dict[str, str]:
    """What a process needs to run with the package in a folder."""
    libraries = [
        subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so")
    ]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return {
        **inherited,
        "PYTHONPATH": str(folder),
        "PYTHONMALLOC": "malloc",
        "LD_PRELOAD": ":".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def run_tests(
    folder: Path, tests: tuple[str, ...], chosen: str = LEFT_OUT, names: tuple[str, ...] = tuple(MODULES)
) -> subprocess.CompletedProcess[str]:
    """Run tests with the package in a folder; they fail where a sanitizer finds something.

    Parameters
    ----------
    folder
        Made by :func:`build`.
    tests
        Files of tests.
    chosen
        Which of them, in the words of pytest's ``-k``.
    names
        The extensions that were built.
    """
    around = environment(folder)
    modules = ", ".join(f"relift.{name}" for name in names)
    where = f"import {modules}, relift._ml_core as m; print(m.__file__)"
    found = subprocess.run([sys.executable, "-c", where], env=around, capture_output=True, text=True, cwd=folder)
    if Path(found.stdout.strip()).parent != folder / "relift":
        raise RuntimeError(f"the sanitised extensions are not used: {found.stdout}{found.stderr}")
    words = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", chosen, *tests]
    return subprocess.run(words, env=around, cwd=ROOT, text=True, check=False)


def main(tests: tuple[str, ...]) -> int:
    """Build, run, and tell; 0 if nothing was found."""
    reason = missing_part()
    if reason:
        print(f"cannot build with sanitizers: {reason}.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="relift-sanitized-") as name:
        build(Path(name))
        return run_tests(Path(name), tests or KERNEL_TESTS).returncode


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
