"""Which formulation of TC-QP-SVM is the quickest? The same program, ground and lifted, in four ways."""

from __future__ import annotations

from time import process_time

import numpy as np
from scipy import sparse
from sklearn.svm import SVC

from relift.arrays import Double
from relift.paper.framework import Row
from relift.paper.hinge_dual import SignedHinges, lift_equal
from relift.paper.svm_learners import TC_QP_SVM, Network, Prices, Task, fit_by_dual, fit_by_solver
from relift.paper.svm_protocol import Split
from relift.program.program import Program

FORMULATIONS = ("dual by SMO", "dual by LIBSVM", "primal by Clarabel")


def formulation_rows(network: Network, split: Split, prices: Prices, repeats: int = 2) -> list[Row]:
    """CPU seconds of each formulation, the smallest of some repeats, lifting included; and what it found.

    Parameters
    ----------
    network, split
        What is learnt.
    prices
        What slacks cost.
    repeats
        How often each is timed.
    """
    task = Task(network, TC_QP_SVM, split.labelled, split.test)
    program = task.at(prices)
    rows: list[Row] = []
    for name in FORMULATIONS:
        row: Row = {"kind": "formulation", "formulation": name, "c1": prices.c1, "c2": prices.c2}
        for side in ("ground", "lifted"):
            found = [_fit(name, program, lifted=side == "lifted") for _ in range(repeats)]
            row[f"{side}_seconds"] = min(seconds for seconds, _ in found)
            row[f"{side}_objective"] = found[0][1]
        rows.append(row)
    return rows


def _fit(name: str, program: Program, *, lifted: bool) -> tuple[float, float]:
    if name == "dual by LIBSVM":
        return _fit_by_libsvm(program, lifted=lifted)
    fit = (
        fit_by_dual(program, lifted=lifted)
        if name == "dual by SMO"
        else fit_by_solver(program, lifted=lifted, backend="clarabel")
    )
    return fit.seconds, fit.objective


def _fit_by_libsvm(program: Program, *, lifted: bool) -> tuple[float, float]:
    """Scikit-learn's SVC on the points of the hinge form; what a point stands for is its weight."""
    start = process_time()
    hinges = SignedHinges.of(lift_equal(program).small if lifted else program)
    form = hinges.form
    sides = np.sign(form.sides)
    points = sparse.csr_matrix(sparse.diags_array(sides) @ form.A @ sparse.diags_array(1.0 / np.sqrt(hinges.curvature)))
    points.indices, points.indptr = points.indices.astype(np.int32), points.indptr.astype(np.int32)
    lo, hi = hinges.bounds(form.program.q)
    machine = SVC(C=1.0, kernel="linear", cache_size=500, tol=1e-4)
    machine.fit(points, sides, sample_weight=np.where(sides > 0, hi, -lo))
    seconds = process_time() - start
    w: Double = np.asarray(machine.coef_.todense()).ravel() / np.sqrt(hinges.curvature)
    left = form.left(w) - form.sides * machine.intercept_[0]
    slack = np.maximum(left, 0.0) / form.slopes
    return seconds, 0.5 * float(hinges.curvature @ w**2) + float(form.program.q[form.slacks] @ slack)
