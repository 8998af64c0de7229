"""The registry finds backends by name, and says what to do when it does not."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys

import pytest

from relift.errors import MissingPackageError, OptionError
from relift.program import Program
from relift.solvers import registry
from relift.solvers.registry import backend_names, backend_table, backends_to_try, get_backend

HAS_PASS_THROUGHS = all(importlib.util.find_spec(name) for name in ("qpsolvers", "cvxpy"))


def test_core_backends_are_always_there() -> None:
    assert {"highs", "clarabel"} <= set(backend_names(installed=True)) <= set(backend_names())


@pytest.mark.parametrize("name", backend_names(installed=True))
def test_backend_answers_to_its_name(name: str) -> None:
    backend = get_backend(name)
    assert backend.name == name
    assert backend.solves_quadratic
    assert backend.is_first_order == (name in {"osqp", "scs"})


def test_default_is_highs_for_linear_and_clarabel_for_quadratic_programs() -> None:
    assert next(backends_to_try(Program(q=[1.0], lb=0))).name == "highs"
    assert next(backends_to_try(Program(P=[[1.0]]))).name == "clarabel"


@pytest.mark.parametrize(
    ("name", "suggestion"), [("HiGHS", "Did you mean 'highs'? "), ("claarbel", "Did you mean 'clarabel'? "), ("x", "")]
)
def test_unknown_name_is_met_with_the_nearest_and_the_list(name: str, suggestion: str) -> None:
    with pytest.raises(OptionError) as caught:
        get_backend(name)
    known = "highs, clarabel, osqp, piqp, scs, qpsolvers:<name>, cvxpy:<NAME>"
    assert str(caught.value) == f"there is no backend {name!r}. {suggestion}Expected one of: {known}."


@pytest.mark.skipif(not HAS_PASS_THROUGHS, reason="qpsolvers or cvxpy is not installed")
def test_unknown_solver_of_a_pass_through_is_met_with_the_nearest() -> None:
    with pytest.raises(
        OptionError, match=r"qpsolvers has no solver 'clarable' installed. Did you mean 'qpsolvers:clar"
    ):
        get_backend("qpsolvers:clarable")
    with pytest.raises(OptionError, match=r"CVXPY has no solver 'clarabel' installed. Did you mean 'cvxpy:CLARABEL'"):
        get_backend("cvxpy:clarabel")


@pytest.mark.skipif(not HAS_PASS_THROUGHS, reason="qpsolvers or cvxpy is not installed")
def test_pass_through_knows_first_order_methods() -> None:
    assert get_backend("cvxpy:OSQP").is_first_order
    assert not get_backend("qpsolvers:clarabel").is_first_order


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("osqp", "osqp", "backends"), ("qpsolvers:piqp", "qpsolvers", "backends"), ("cvxpy:OSQP", "cvxpy", "cvxpy")],
)
def test_missing_package_is_named_with_its_extra(
    name: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(registry, "_FOUND", set())
    monkeypatch.setattr(importlib.util, "find_spec", lambda wanted: None if wanted == package else found(wanted))
    with pytest.raises(MissingPackageError) as caught:
        get_backend(name)
    assert str(caught.value) == (
        f"the backend {name!r} needs the package {package}, which is not installed. "
        f'Install it: pip install "relift[{extra}]"'
    )
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    line = next(line for line in backend_table() if line.package == package)
    assert not line.is_installed
    assert line.version == ""
    assert line.install == f'pip install "relift[{extra}]"'


def test_table_has_a_version_for_every_installed_backend() -> None:
    table = backend_table()
    assert [line.name for line in table][:2] == ["highs", "clarabel"]
    assert all(line.version[:1].isdigit() for line in table if line.is_installed)
    assert all(line.description for line in table)


def test_optional_solvers_are_imported_only_when_used() -> None:
    code = (
        "import sys; from relift.solvers.registry import get_backend, backend_names; get_backend('highs');"
        "get_backend('clarabel'); backend_names(installed=True);"
        "print([m for m in ('osqp', 'piqp', 'scs', 'qpsolvers', 'cvxpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
