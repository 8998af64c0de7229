"""Linear models on measured numbers, where no row occurs twice: relift can lose here, so it is measured here.

``python -m benchmarks.dense_rows`` (``--shapes 2000x30 20000x100``, ``--quick``, ``--out docs/dense_rows.json``;
``--table FILE`` prints a table that was stored). Both sides with their defaults, one thread, in turns in one process,
the smallest of several runs. Columns are correlated, and of sizes from about 0.05 to 20 in the lines that say so. The
answers are compared: scikit-learn stops where its slopes are small, relift at a proved gap of 1e-8.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, PoissonRegressor
from threadpoolctl import threadpool_limits

from relift.ml import LiftedElasticNet, LiftedLasso, LiftedLogisticRegression, LiftedPoissonRegressor

SHAPES = ("200x30", "2000x10", "2000x100", "20000x10", "20000x100", "20000x300", "100000x30")
SECONDS = 1.0
"""Each side is repeated for about that long."""


def data(n_rows: int, n_columns: int, *, is_scaled: bool, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """Correlated columns, and targets of every kind that depend on five of them."""
    random = np.random.default_rng(seed)
    common = random.standard_normal((n_rows, max(1, n_columns // 10)))
    X = 0.7 * random.standard_normal((n_rows, n_columns)) + 0.3 * common @ random.standard_normal(
        (common.shape[1], n_columns)
    )
    few = X[:, :5]
    score = few @ random.standard_normal(5) / 2.0
    targets = {
        "two": (score + random.logistic(size=n_rows) > 0).astype(int),
        "number": score + random.standard_normal(n_rows),
        "count": random.poisson(np.exp(np.clip(0.5 * score, -5.0, 2.0))).astype(float),
    }
    for n_labels in (3, 10):
        noise = random.gumbel(size=(n_rows, n_labels))
        targets[f"{n_labels} labels"] = (few @ random.standard_normal((5, n_labels)) + noise).argmax(axis=1)
    if not is_scaled:
        X = X * np.exp(random.normal(0.0, 1.5, n_columns)) + random.normal(0.0, 3.0, n_columns)
    return X, targets


MODELS: dict[str, tuple[str, Callable[[], Any], Callable[[], Any]]] = {
    "logistic, 2 labels": ("two", LiftedLogisticRegression, LogisticRegression),
    "logistic, 3 labels": ("3 labels", LiftedLogisticRegression, LogisticRegression),
    "logistic, 10 labels": ("10 labels", LiftedLogisticRegression, LogisticRegression),
    "logistic, 10 labels, C=1000": (
        "10 labels", lambda: LiftedLogisticRegression(C=1000), lambda: LogisticRegression(C=1000),
    ),
    "poisson": ("count", lambda: LiftedPoissonRegressor(alpha=0.01), lambda: PoissonRegressor(alpha=0.01)),
    "lasso": ("number", lambda: LiftedLasso(alpha=0.01), lambda: Lasso(alpha=0.01)),
    "elastic net": ("number", lambda: LiftedElasticNet(alpha=0.01), lambda: ElasticNet(alpha=0.01)),
}  # fmt: skip


def objective(model: Any, X: Any, y: Any) -> float:
    """The objective of a fitted model, for each row."""
    w = np.atleast_2d(model.coef_)
    if hasattr(model, "classes_"):
        scores = model.decision_function(X)
        scores = np.column_stack([np.zeros(len(y)), scores]) if scores.ndim == 1 else scores
        codes = np.searchsorted(model.classes_, y)
        loss = float(np.mean(logsumexp(scores, axis=1) - scores[np.arange(len(y)), codes]))
        return loss + 0.5 * float((w**2).sum()) / (model.C * len(y))
    if isinstance(model, LiftedPoissonRegressor | PoissonRegressor):
        scores = X @ model.coef_ + model.intercept_
        return float(np.mean(np.exp(scores) - y * scores)) + 0.5 * model.alpha * float((w**2).sum())
    ratio = 1.0 if isinstance(model, LiftedLasso | Lasso) else model.l1_ratio
    penalty = model.alpha * (ratio * np.abs(w).sum() + 0.5 * (1 - ratio) * (w**2).sum())
    return 0.5 * float(np.mean((y - model.predict(X)) ** 2)) + float(penalty)


def in_turns(works: tuple[Callable[[], Any], ...]) -> tuple[list[Any], list[float], list[float]]:
    """What each work returns, and its smallest CPU and clock seconds."""
    found: list[Any] = [None] * len(works)
    cpu, clock, spent = [np.inf] * len(works), [np.inf] * len(works), 0.0
    for turn in range(15):
        for at, work in enumerate(works):
            start, begin = process_time(), perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found[at] = work()
            seconds = perf_counter() - begin
            cpu[at], clock[at], spent = min(cpu[at], process_time() - start), min(clock[at], seconds), spent + seconds
        if turn >= 2 and spent > SECONDS * len(works):
            break
    return found, cpu, clock


def measure(name: str, shape: str, *, is_scaled: bool) -> dict[str, Any]:
    """One line."""
    n_rows, n_columns = map(int, shape.split("x"))
    X, targets = data(n_rows, n_columns, is_scaled=is_scaled)
    target, lifted, plain = MODELS[name]
    y = targets[target]
    models, cpu, clock = in_turns((lambda: lifted().fit(X, y), lambda: plain().fit(X, y)))
    ours, theirs = (objective(model, X, y) for model in models)
    return {
        "model": name, "shape": shape, "columns": "of one size" if is_scaled else "of many sizes", "lifted": cpu[0],
        "sklearn": cpu[1], "ratio": cpu[1] / cpu[0], "clock_ratio": clock[1] / clock[0], "gap": models[0].gap_,
        "difference": (theirs - ours) / max(abs(theirs), 1e-12),
    }  # fmt: skip


def table(lines: list[dict[str, Any]]) -> str:
    """The lines as Markdown, those where relift is slower marked."""
    shown = [
        "| model | rows × columns | columns | relift CPU ms | scikit-learn CPU ms | ratio | by the clock "
        "| objective: sklearn − relift | proved gap |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        ratio = f"{line['ratio']:.2f}×" if line["ratio"] >= 0.95 else f"**{line['ratio']:.2f}×**"
        shown.append(
            f"| {line['model']} | {line['shape'].replace('x', ' × ')} | {line['columns']} "
            f"| {1e3 * line['lifted']:.1f} | {1e3 * line['sklearn']:.1f} | {ratio} | {line['clock_ratio']:.2f}× | "
            f"{line['difference']:+.0e} | {line['gap']:.0e} |"
        )
    return "\n".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), metavar="ROWSxCOLUMNS")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--quick", action="store_true", help="small shapes only")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="print a stored table and end")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads(arguments.table.read_text(encoding="utf-8"))))
        return
    lines = []
    with threadpool_limits(1):
        for shape in ["200x10"] if arguments.quick else arguments.shapes:
            for name in arguments.models:
                for is_scaled in (True, False):
                    lines.append(measure(name, shape, is_scaled=is_scaled))
                    print(table(lines[-1:]).splitlines()[-1], flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
