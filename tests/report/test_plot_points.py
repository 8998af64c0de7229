"""Pictures of points are written, and what cannot be drawn is refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from relift.errors import MissingPackageError, OptionError, ShapeError
from relift.report.plot_points import plot_points


@pytest.mark.parametrize("dimensions", [2, 3])
def test_a_picture_is_written(tmp_path: Path, dimensions: int) -> None:
    pytest.importorskip("matplotlib")
    points = np.random.default_rng(0).standard_normal((500, dimensions))
    written = plot_points(points, np.arange(500) % 13, tmp_path / "points.png", title="classes", most_points=100)
    assert written.read_bytes().startswith(b"\x89PNG")


def test_a_page_is_written_where_plotly_is_installed(tmp_path: Path) -> None:
    points = np.random.default_rng(0).standard_normal((50, 3))
    if importlib.util.find_spec("plotly") is None:
        with pytest.raises(MissingPackageError, match="need plotly"):
            plot_points(points, np.zeros(50), tmp_path / "points.html")
        pytest.skip("plotly is not installed")
    assert "scatter3d" in plot_points(points, np.zeros(50), tmp_path / "points.html").read_text(encoding="utf-8")


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match=r"points have shape \(3, 4\)"):
        plot_points(np.zeros((3, 4)), np.zeros(3), tmp_path / "a.png")
    with pytest.raises(ShapeError, match="labels have shape"):
        plot_points(np.zeros((3, 2)), np.zeros(2), tmp_path / "a.png")
    with pytest.raises(OptionError, match="no ending"):
        plot_points(np.zeros((3, 2)), np.zeros(3), tmp_path / "a")
