"""Each experiment in a small size: its rows say what they should, its report can be written, its checks can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")
pytest.importorskip("matplotlib", reason="experiments need matplotlib")

from relift.errors import OptionError
from relift.paper.example import METHODS, averaging_matrix
from relift.paper.framework import Report, Request, Row
from relift.paper.gaussian_machines import paper_lifted_grid, signature_classes, two_gaussians
from relift.paper.registry import NAMES, get_experiment
from relift.paper.results import write_results
from relift.paper.runner import make_plan, run_plan
from relift.paper.shaded_points import shaded_picture
from relift.paper.shapes import trefoil_knot
from relift.paper.slips import SLIPS, run_slip
from relift.paper.theorem_checks import PROPOSITIONS, Check, is_counting, rbf, run_check
from relift.symmetry.partition import Partition


def reproduced(name: str, out: Path, data: tuple[Path, ...] = (), **overrides: Any) -> tuple[list[Row], Report]:
    experiment = get_experiment(name)
    outcome = run_plan(make_plan(experiment, Request(True, 0, data, overrides), out))
    report = experiment.report(outcome.setup, outcome.rows)
    written = write_results(experiment, outcome, report, out)
    for figure in report.figures:
        assert (written.folder / f"{figure.name}.svg").stat().st_size > 1000
    assert written.page.is_file()
    return outcome.rows, report


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_is_described_and_its_settings_stand_in_the_fingerprint(name: str) -> None:
    experiment = get_experiment(name)
    assert experiment.name == name
    assert experiment.shows.endswith(".")
    assert 0 < experiment.quick_seconds <= 120
    assert experiment.quick_seconds <= experiment.full_seconds
    assert (experiment.takes is None) == (experiment.data_help == "")


def test_quick_runs_of_all_fit_into_two_minutes() -> None:
    assert sum(get_experiment(name).quick_seconds for name in NAMES) <= 120


def test_the_running_example_comes_out_as_in_the_paper(tmp_path: Path) -> None:
    rows, report = reproduced("example", tmp_path)
    assert all(line.cells()[3] in ("1", "same") for line in report.comparisons if line.ours is not None)
    found = {row["method"]: row for row in rows if row["kind"] == "classes"}
    assert set(found) == set(METHODS)
    assert found["equitable"]["labels"] == [0, 0, 0, 0]
    assert found["counting"]["labels"] == [0, 1, 0, 1]
    assert all(row["optimum"] == pytest.approx(0, abs=1e-6) for row in found.values() if "optimum" in row)
    assert all((row["residual"] < 1e-12) == row["expected"] for row in rows if row["kind"] == "geometry")


def test_gaussians_in_a_small_size(tmp_path: Path) -> None:
    rows, report = reproduced(
        "gaussians", tmp_path, train_each=150, test_each=400, anchors=40, gammas=[0.25, 1.0], Cs=[1.0]
    )
    assert len(rows) == 8
    for row in rows:
        least = 0.0228 if row["apart"] == 4.0 else 0.1587
        assert least - 0.05 < row["error"] < least + 0.08
        assert row["seconds"] > 0
        assert (row["gap"] is not None) == (row["machine"] == "LSVM (relift)")
    assert len(report.comparisons) == 22
    assert report.comparisons[0].paper == 0.02


def test_the_papers_lifted_machine_solves_its_small_dual() -> None:
    X, y = two_gaussians(2, 2.0, 120, 5)
    machine = paper_lifted_grid(X, y, 20, [0.5, 1.0], [1.0])
    labels = signature_classes(X, y, 20)
    C, gamma = machine.best_params_["C"], machine.best_params_["gamma"]
    classes = np.unique(labels)
    of_class = np.array([machine.coefficients[labels == c][0] for c in classes])
    assert machine.n_classes == len(classes)
    assert np.array_equal(of_class[np.searchsorted(classes, labels)], machine.coefficients)
    # Feasible on the ground: box and balance.
    alpha = machine.coefficients * y
    assert alpha.min() >= -1e-9
    assert alpha.max() <= C + 1e-6
    assert abs(machine.coefficients.sum()) < 1e-6
    # Optimal among points constant on classes: no class wants to move, up to the tolerance of the solver.
    K = np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    g = 1 - y * (K @ machine.coefficients + machine.intercept)
    for c in classes:
        mean, share = g[labels == c].mean(), alpha[labels == c][0]
        assert mean < 5e-3 or share > C - 1e-6
        assert mean > -5e-3 or share < 1e-9


def test_shapes_of_a_file_and_of_the_knot(tmp_path: Path) -> None:
    np.save(tmp_path / "my knot.npy", trefoil_knot(3000))
    rows, report = reproduced("shapes", tmp_path, (tmp_path / "my knot.npy",), anchors=100, compared_points=None)
    assert [row["budget"] for row in rows] == [4, 5]
    for row in rows:
        assert (row["points"], sum(row["sizes"]), row["compared"]) == (3000, 3000, 3000)
        assert row["different"] == 0
        assert row["direct_seconds"] > 0
    assert not any("made up" in paragraph for paragraph in report.text)
    rows, report = reproduced("shapes", tmp_path, anchors=50, shapes=[{"name": "knot", "points": 2000}])
    assert rows[0]["points"] == 2000
    assert any("made up" in paragraph for paragraph in report.text)


def test_another_file_under_the_same_name_is_another_shape(tmp_path: Path) -> None:
    path = tmp_path / "shape.npy"
    marks = []
    for seed in (0, 1):
        np.save(path, trefoil_knot(50, seed))
        marks.append(make_plan(get_experiment("shapes"), Request(True, 0, (path,)), tmp_path).marks)
    assert not set(marks[0]) & set(marks[1])


def test_too_few_points_for_the_budget_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "three.npy", trefoil_knot(3))
    with pytest.raises(OptionError, match="4 orbits of 3 points"):
        reproduced("shapes", tmp_path, (tmp_path / "three.npy",))


def test_near_points_hide_far_ones() -> None:
    flat = np.stack(np.meshgrid(np.linspace(0, 1, 80), np.linspace(0, 1, 80)), axis=-1).reshape(-1, 2)
    near, far = np.c_[flat, np.ones(len(flat))], np.c_[flat, np.zeros(len(flat))]
    labels = np.repeat([0, 1], len(flat))
    picture = shaded_picture(np.vstack([near, far]), labels, width=120, turn=0, tilt=0)
    middle = picture[30:-30, 30:-30].reshape(-1, 3)
    assert np.all(middle[:, 2] > middle[:, 0])  # blue, the near class, and nothing of the red one behind it


def test_theorems_hold_and_slips_are_confirmed(tmp_path: Path) -> None:
    rows, report = reproduced("theorems", tmp_path, instances=12)
    assert {row["name"] for row in rows} == {*PROPOSITIONS, *SLIPS}
    assert all(row["holds"] for row in rows if row["kind"] == "proposition")
    assert all(row["confirmed"] for row in rows if row["kind"] == "slip")
    assert [line.what for line in report.comparisons if line.cells()[3] == "differs"] == [
        "RBF kernel, exponent of the cross term",
        "sorted distances, 'only if'",
        "Theorem 2, full rank and idempotence",
    ]


def test_a_check_that_finds_a_failure_or_a_large_residual_does_not_hold() -> None:
    assert Check(5, 1e-16, 1e-12).holds
    assert not Check(5, 1e-3, 1e-12).holds
    assert not Check(5, 0.0, 0.0, failures=1).holds


def test_the_checks_tell_right_from_wrong() -> None:
    K = rbf(np.diag([1.0, 1.0, 4.0]), 0.5)
    assert is_counting(K, Partition.from_labels([0, 0, 1]))
    assert not is_counting(K, Partition.one_class(3))


@pytest.mark.parametrize("name", ["stochastic", "sums", "theorem-1", "kernels"])
def test_a_proposition_about_wrong_averages_does_not_hold(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_check(name, 0, 20)["holds"]
    shifted = "relift.paper.theorem_checks.averaging_matrix"
    monkeypatch.setattr(shifted, lambda partition: np.roll(averaging_matrix(partition), 1, axis=0))
    assert not run_check(name, 0, 20)["holds"]


@pytest.mark.parametrize(("name", "kernel"), [("kernels", "rbf"), ("kernels", "polynomial")])
def test_a_kernel_that_is_no_function_of_inner_products_is_noticed(
    name: str, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"relift.paper.theorem_checks.{kernel}", lambda Q, _: Q + np.arange(len(Q)))
    found = run_check(name, 0, 20)
    assert not found["holds"]
    assert found["failures"] > 0


def test_a_slip_whose_example_fails_is_not_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relift.paper.slips.FIVE_POINTS", np.eye(5))  # here all points can be exchanged
    assert not run_slip("sorted-distances")["confirmed"]


def test_files_of_the_same_name_stay_apart(tmp_path: Path) -> None:
    paths: list[Path] = []
    for folder, name in (("a", "x.npy"), ("b", "x.npy"), ("b", "x y.npy"), ("b", "x_y.npy")):
        (tmp_path / folder).mkdir(exist_ok=True)
        np.save(tmp_path / folder / name, trefoil_knot(30, len(paths)))
        paths.append(tmp_path / folder / name)
    plan = make_plan(get_experiment("shapes"), Request(True, 0, tuple(paths)), tmp_path)
    assert len({part.key for part in plan.parts}) == 8
    assert [shape["name"] for shape in plan.setup["shapes"]] == ["x (1)", "x (2)", "x y (3)", "x_y (4)"]
