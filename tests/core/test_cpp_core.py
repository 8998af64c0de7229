"""The C++ core on its own, built with sanitizers: no step outside an array, no undefined arithmetic, no leak."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.core.sanitized import QUICK, QUICK_FLAGS, QUICK_MODULES, QUICK_TESTS, build, missing_part, run_tests

CORE = Path(__file__).resolve().parents[2] / "core"
COMPILER = shutil.which("g++")


SOURCES = sorted((CORE / "tests").glob("test_*.cpp"))


OWN = "-DRELIFT_OWN_128_BITS"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.mark.skipif(COMPILER is None, reason="no g++ on this machine")
@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("test_core", (OWN,)),  # the compiler's 128 bits are in the module that the bindings' test builds
        *((source.stem, ()) for source in SOURCES if source.stem != "test_core"),
        ("test_numbers", (OWN,)),
    ],
    ids=[
        "test_core_without_int128",
        *(source.stem for source in SOURCES if source.stem != "test_core"),
        "test_numbers_without_int128",
    ],
)
def test_core_passes_its_tests_under_sanitizers(name: str, extra: tuple[str, ...], tmp_path: Path) -> None:
    program, source = tmp_path / name, CORE / "tests" / f"{name}.cpp"
    flags = ["-std=c++17", "-O0", "-g1", "-pthread", *SANITIZERS, *extra]
    built = subprocess.run(
        [str(COMPILER), *flags, "-Wall", "-Wextra", f"-I{CORE / 'include'}", str(source), "-o", str(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0 and "cannot find" in built.stderr:
        pytest.skip("the sanitizers' libraries are not installed")
    assert built.returncode == 0, built.stderr
    run = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.skipif(bool(missing_part()), reason=missing_part() or "sanitizers are there")
def test_bindings_pass_the_tests_of_kernels_under_sanitizers(tmp_path: Path) -> None:
    """Three modules are built; ``make sanitize`` builds all, and runs more tests with them."""
    build(tmp_path, QUICK_FLAGS, QUICK_MODULES)
    assert run_tests(tmp_path, QUICK_TESTS, QUICK, QUICK_MODULES).returncode == 0
