"""OSQP beside PuLP, which changes how libraries that are loaded later find their functions."""

from __future__ import annotations

import functools
import json
import subprocess
import sys

import pytest

SCRIPT = """
import {modules}
import json, os, sys
import relift
program = relift.Program(P=[[2, 0], [0, 2]], q=[-2, -2], A=[[1, 1]], u=[1], lb=0)
relift.solve
codes = {{}}
for backend in {backends}:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        result = relift.solve(program, backend=backend, lift="none")
        print(json.dumps([backend, f"{{result.status}} {{round(result.objective, 5)}} {{result.message}}"]), flush=True)
        os._exit(0)
    codes[backend] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps(codes))
"""


@functools.cache
def all_said(modules: str) -> dict[str, str]:
    """What children say, one for each backend: forked after the imports, so that each loads its solver by itself."""
    backends = [*BACKENDS, "auto"]
    words = [sys.executable, "-c", SCRIPT.format(modules=modules, backends=backends)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(("[", "{"))]
    found = dict(json.loads(line) for line in lines[:-1])
    codes = json.loads(lines[-1]) if lines else {}
    return {name: found.get(name) or f"{codes.get(name, done.returncode)} {done.stderr[-500:]}" for name in backends}


def said(modules: str, backend: str = "osqp") -> str:
    """What a process prints that imports these modules before it solves."""
    pytest.importorskip("osqp")
    pytest.importorskip("pulp")
    return all_said(modules)[backend]


BACKENDS = {"osqp": "osqp", "cvxpy:OSQP": "cvxpy", "qpsolvers:osqp": "qpsolvers"}
"""The ways to OSQP, and the package that each of them is asked through."""


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """A way to OSQP."""
    pytest.importorskip(BACKENDS[request.param])
    return str(request.param)


@pytest.mark.parametrize("modules", ["pulp", "relift.pulp", "osqp, pulp"])
def test_osqp_runs_beside_pulp(modules: str, backend: str) -> None:
    assert said(modules, backend).startswith("optimal -1.5 ")


def test_osqp_that_another_package_has_loaded_after_pulp_is_refused_and_not_run(backend: str) -> None:
    assert said("pulp, osqp", backend).startswith("failure")
    assert "OSQP was loaded after PuLP, and would crash. Import osqp before pulp." in said("pulp, osqp", backend)
    assert said("pulp, osqp", "auto").startswith("optimal -1.5")


@pytest.mark.parametrize("package", ["cvxpy", "qpsolvers"])
def test_bridges_to_packages_that_import_osqp_load_it_safely(package: str) -> None:
    pytest.importorskip(package)
    assert said(f"pulp, relift.{package}, {package}, osqp").startswith("optimal -1.5 ")
