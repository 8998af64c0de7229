"""Linear models on data with repeated rows: relift from distinct rows, scikit-learn on all rows.

``python -m benchmarks.repeated_rows`` (``--rows``, ``--quick``, ``--out docs/repeated_rows.json``; ``--table FILE``
prints a table that was stored). Categorical columns are given to relift as a data frame; scikit-learn gets them through
``OneHotEncoder`` (whose time is part of its time, as grouping is of relift's). One process, one thread, CPU seconds.
The answers are compared: no ratio without the same objective. The last lines are data without any repetition, where
relift can only lose or draw.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, PoissonRegressor, QuantileRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from relift.ml import (
    LiftedElasticNet,
    LiftedLasso,
    LiftedLogisticRegression,
    LiftedPoissonRegressor,
    LiftedQuantileRegressor,
)

LEVELS = (50, 12, 2, 7, 30, 4, 5, 3)
SKLEARN_LIMIT = {"quantile": 3000}
"""Rows up to which scikit-learn is run at all."""


def categorical(n_rows: int, n_distinct: int, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """Eight categorical columns with about so many distinct rows; a label, a count and a capped count."""
    import pandas as pd

    random = np.random.default_rng(seed)
    distinct = np.column_stack([random.integers(0, k, n_distinct) for k in LEVELS])
    codes = distinct[random.integers(0, n_distinct, n_rows)]
    effects = [random.normal(0, 0.5, k) for k in LEVELS]
    score = sum(effect[codes[:, j]] for j, effect in enumerate(effects)) - 1.0
    frame = pd.DataFrame(
        {f"c{j}": pd.Categorical.from_codes(codes[:, j], [f"v{i:02}" for i in range(k)]) for j, k in enumerate(LEVELS)}
    )
    counts = random.poisson(np.exp(0.5 * score))
    labels = random.random(n_rows) < 1 / (1 + np.exp(-score))
    return frame, {"label": labels, "count": counts, "capped": np.minimum(counts, 3).astype(float)}


def continuous(n_rows: int, seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """Ten columns of normal numbers: no row occurs twice."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n_rows, 10))
    score = X[:, 0] - 0.5 * X[:, 1]
    counts = random.poisson(np.exp(0.5 * score)).astype(float)
    return X, {
        "label": random.random(n_rows) < 1 / (1 + np.exp(-score)),
        "count": counts,
        "capped": np.minimum(counts, 3),
    }


MODELS: dict[str, tuple[str, Callable[[], Any], Callable[[], Any]]] = {
    "logistic": ("label", LiftedLogisticRegression, lambda: LogisticRegression(max_iter=1000, tol=1e-6)),
    "logistic L1": (
        "label",
        lambda: LiftedLogisticRegression(l1_ratio=1.0, C=0.01),
        lambda: LogisticRegression(l1_ratio=1.0, C=0.01, solver="saga", max_iter=200, tol=1e-5),
    ),
    "poisson": (
        "count",
        lambda: LiftedPoissonRegressor(alpha=1e-3),
        lambda: PoissonRegressor(alpha=1e-3, max_iter=1000, tol=1e-6),
    ),
    "lasso": ("count", lambda: LiftedLasso(alpha=1e-3), lambda: Lasso(alpha=1e-3, tol=1e-6)),
    "elastic net": ("count", lambda: LiftedElasticNet(alpha=1e-3), lambda: ElasticNet(alpha=1e-3, tol=1e-6)),
    "quantile": ("capped", lambda: LiftedQuantileRegressor(alpha=1e-3), lambda: QuantileRegressor(alpha=1e-3)),
}


def objective(name: str, model: Any, scores: Any, coefficients: Any, y: Any) -> float:
    """The objective of a model on all rows, for each row."""
    w = np.ravel(coefficients)
    if name.startswith("logistic"):
        C, l1 = model.C, model.l1_ratio
        loss = float(np.mean(np.logaddexp(0.0, scores) - y * scores))
        return loss + float(l1 * np.abs(w).sum() + (1 - l1) * 0.5 * w @ w) / (C * len(y))
    if name == "poisson":
        return float(np.mean(np.exp(scores) - y * scores)) + 0.5 * model.alpha * float(w @ w)
    if name == "quantile":
        errors = y - scores
        return float(np.mean(np.maximum(0.5 * errors, -0.5 * errors))) + model.alpha * float(np.abs(w).sum())
    ratio = getattr(model, "l1_ratio", 1.0) if name == "elastic net" else 1.0
    penalty = model.alpha * (ratio * np.abs(w).sum() + (1 - ratio) * 0.5 * w @ w)
    return 0.5 * float(np.mean((y - scores) ** 2)) + float(penalty)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = work()
    return found, process_time() - start


def measure(name: str, data: str, X: Any, y: Any, limit: int) -> dict[str, Any]:
    """One line: seconds of both, and whether the objectives agree."""
    _, lifted, plain = MODELS[name]
    y = np.asarray(y, dtype=np.float64) if name != "logistic" and not name.startswith("logistic") else np.asarray(y)
    model, seconds = timed(lambda: lifted().fit(X, y))
    line = {
        "model": name, "data": data, "rows": len(y), "distinct": model.n_distinct_, "lifted_seconds": seconds,
        "gap": model.gap_, "sklearn_seconds": None, "ratio": None, "difference": None,
    }  # fmt: skip
    if len(y) > min(limit, SKLEARN_LIMIT.get(name, limit)):
        return line
    is_frame = hasattr(X, "columns")
    other = make_pipeline(OneHotEncoder(), plain()) if is_frame else plain()
    other, line["sklearn_seconds"] = timed(lambda: other.fit(X, y))
    last = other[-1] if is_frame else other
    values = (_scores(name, each, X) for each in (model, other))
    ours, theirs = (objective(name, last, s, m.coef_, y) for s, m in zip(values, (model, last), strict=True))
    line["difference"] = (theirs - ours) / max(abs(theirs), 1e-12)
    if line["difference"] > -1e-4:  # relift's objective is not the worse one
        line["ratio"] = line["sklearn_seconds"] / seconds
    return line


def _scores(name: str, model: Any, X: Any) -> Any:
    if name.startswith("logistic"):
        return model.decision_function(X)
    values = model.predict(X)
    return np.log(values) if name == "poisson" else values


def table(lines: list[dict[str, Any]]) -> str:
    """The lines as Markdown."""
    shown = [
        "| model | data | rows | distinct | relift CPU s | scikit-learn CPU s | ratio | objective: sklearn − relift "
        "| proved gap |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        other = "not run" if line["sklearn_seconds"] is None else f"{line['sklearn_seconds']:.2f}"
        ratio = "–" if line["ratio"] is None else f"{line['ratio']:.2g}×"
        difference = "–" if line["difference"] is None else f"{line['difference']:+.0e}"
        shown.append(
            f"| {line['model']} | {line['data']} | {line['rows']:,} | {line['distinct']:,} | "
            f"{line['lifted_seconds']:.2f} | {other} | {ratio} | {difference} | {line['gap']:.0e} |"
        )
    return "\n".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--distinct", type=int, default=100_000)
    parser.add_argument("--sklearn-rows", type=int, default=1_000_000, help="scikit-learn is run up to so many rows")
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--quick", action="store_true", help="few rows")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--table", type=Path, help="print a stored table and end")
    arguments = parser.parse_args()
    if arguments.table:
        print(table(json.loads(arguments.table.read_text(encoding="utf-8"))))
        return
    sizes = [20_000] if arguments.quick else arguments.rows
    n_distinct = 1000 if arguments.quick else arguments.distinct
    lines = []
    with threadpool_limits(1):
        for n_rows in [*([] if arguments.quick else [3000]), *sizes]:
            X, targets = categorical(n_rows, min(n_distinct, max(1, n_rows // 10)))
            for name in arguments.models:
                lines.append(measure(name, "categories", X, targets[MODELS[name][0]], arguments.sklearn_rows))
                print(table(lines[-1:]).splitlines()[-1], flush=True)
        X, targets = continuous(3000 if arguments.quick else 100_000)
        for name in arguments.models:
            rows = slice(0, 3000) if name == "quantile" else slice(None)
            lines.append(
                measure(name, "no repetition", X[rows], targets[MODELS[name][0]][rows], arguments.sklearn_rows)
            )
            print(table(lines[-1:]).splitlines()[-1], flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
