"""Draw the pictures of docs/gallery.md from the values that its examples leave: ``python docs/gallery_pictures.py``."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "relift", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

HERE = Path(__file__).parent
COLOURS = ("#2f6f8f", "#c8743c", "#5f9e6e", "#8a6bb0")


def values() -> dict[str, Any]:
    """Run the examples of the page."""
    found: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples((HERE / "gallery.md").read_text(encoding="utf-8")):
        exec(example.source, found)
    return found


def fleet(at: dict[str, Any]) -> plt.Figure:
    """Load by kind of car, and the price."""
    figure, axes = plt.subplots(figsize=(6, 3))
    load = at["plan"].x.reshape(3, at["copies"], at["hours"]).sum(axis=1)
    hours, bottom = np.arange(at["hours"]), np.zeros(at["hours"])
    for part, colour, need in zip(load, COLOURS, (8, 14, 20), strict=False):
        axes.bar(hours, part, 0.8, bottom, color=colour, label=f"cars that need {need} kWh")
        bottom += part
    axes.axhline(250, color="#a33b20", lw=1)
    axes.set(xlabel="hour", ylabel="kW", ylim=(0, 360))
    right = axes.twinx()
    right.plot(hours, at["price"], color="#444", marker=".", lw=1)
    right.set(ylabel="price", ylim=(0, 40))
    axes.legend(frameon=False, loc="upper left")
    return figure


def frontier(at: dict[str, Any]) -> plt.Figure:
    """Risk against return, and who holds what."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
    left.plot(at["deviations"], at["targets"], color=COLOURS[0], marker=".")
    left.set(xlabel="standard deviation", ylabel="expected return")
    shares = np.array([result.x.reshape(4, 5).sum(axis=1) for result in at["frontier"]])
    right.stackplot(at["targets"], shares.T, colors=COLOURS, labels=[f"sector {k}" for k in range(4)])
    right.set(xlabel="expected return", ylabel="share", ylim=(0, 1))
    right.legend(fontsize=7, loc="lower left")
    return figure


def prism(at: dict[str, Any]) -> plt.Figure:
    """The graph, coloured by class."""
    figure, axes = plt.subplots(figsize=(3.4, 3.4))
    angle = np.arange(6) * np.pi / 3
    places = np.concatenate([r * np.stack([np.sin(angle), np.cos(angle)], axis=1) for r in (2, 1)])
    for i, j in np.argwhere(np.triu(at["prism"])):
        axes.plot(*places[[i, j]].T, color="#b5bcc2", lw=1, zorder=1)
    axes.scatter(*places.T, c=at["classes"].labels, cmap="tab10", s=160, zorder=2)
    axes.set_aspect("equal")
    axes.axis("off")
    return figure


def svc(at: dict[str, Any]) -> plt.Figure:
    """Distinct points, and the boundary."""
    figure, axes = plt.subplots(figsize=(3.8, 3.4))
    points, inverse, counts = np.unique(at["X"], axis=0, return_inverse=True, return_counts=True)
    share = np.bincount(inverse.ravel(), at["y"]) / counts
    shown = axes.scatter(*points.T, c=share, s=counts, cmap="viridis")
    x, y = np.meshgrid(np.linspace(-0.05, 1.05, 120), np.linspace(-0.05, 1.05, 120))
    height = at["machine"].decision_function(np.stack([x.ravel(), y.ravel()], axis=1)).reshape(x.shape)
    axes.contour(x, y, height, levels=[0], colors="#a33b20")
    figure.colorbar(shown, label="share of label 1")
    return figure


if __name__ == "__main__":
    at = values()
    folder = HERE / "figures" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    for draw in (fleet, frontier, prism, svc):
        figure = draw(at)
        figure.savefig(folder / f"{draw.__name__}.svg", bbox_inches="tight", metadata={"Date": None})
