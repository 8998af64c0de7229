"""The moons experiment, small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="experiments need scikit-learn")
pytest.importorskip("matplotlib", reason="experiments need matplotlib")

from relift.paper.framework import Request
from relift.paper.moons_data import moons_network
from relift.paper.registry import get_experiment
from relift.paper.results import write_results
from relift.paper.runner import make_plan, run_plan


def test_links_know_the_moons_and_not_the_noise() -> None:
    network = moons_network(200, 150, 4, 0.1, seed=0)
    assert (np.bincount(network.links[:, 0]) == 4).all()
    one, other = network.links.T
    assert np.mean(network.labels[one] == network.labels[other]) > 0.98
    assert np.array_equal(moons_network(200, 3, 4, 0.1, seed=0).links, network.links)


def test_links_help_where_features_do_not(tmp_path: Path) -> None:
    experiment = get_experiment("moons")
    request = Request(True, 0, (), {"examples": 160, "noise_features": 80, "shares": [0.5], "splits": 2})
    outcome = run_plan(make_plan(experiment, request, tmp_path))
    means = {
        name: np.mean([row["lifted_accuracy"] for row in outcome.rows if row["learner"] == name])
        for name in ("QP-SVM", "TC-QP-SVM", "LP-SVM", "TC-LP-SVM")
    }
    assert means["TC-QP-SVM"] > means["QP-SVM"] + 0.05
    assert means["TC-LP-SVM"] > means["LP-SVM"] + 0.05
    assert sum(row["label_changes"] for row in outcome.rows) == 0
    report = experiment.report(outcome.setup, outcome.rows)
    written = write_results(experiment, outcome, report, tmp_path)
    assert (written.folder / "moons.png").stat().st_size > 1000
