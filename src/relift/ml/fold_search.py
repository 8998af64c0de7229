r"""Machines of all folds and all C of a grid, for one kernel at a time, each up to its proved gap.

What a grid search repeats need not be repeated:

- Kernel rows depend on neither C nor the fold. One machine over all examples serves them all: a held-out example has
  the bounds 0 and takes no part, but :math:`v_i = c_i - f(x_i)` is kept for it, which is its decision value.
- Values of C start from the solution of the one before. Scaled by any number between 1 and the ratio of the two it is
  feasible; the best such number is known, and v scales with it.

Every solve ends with the gap that a fit would end with, so that scores are those of such fits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from relift.arrays import Double, Examples, Indices, Integers
from relift.ml.dual_machine import DualLimits, DualMachine, LabelMachines, machine_of
from relift.ml.dual_problem import LiftOptions, class_totals
from relift.ml.kernels import KernelSource, PointKernel
from relift.ml.machine import KernelView, merge_examples
from relift.ml.merging import Merged
from relift.ml.pairs import pairs_of

Split = tuple[Indices, Indices]

FEW = 2000
"""Examples below which one of them moves a score: there the machines are solved to SVC's own tolerance."""


class FoldValues(NamedTuple):
    """The machine of one fold and one C: decision values of held-out and, if wanted, of training examples."""

    fold: int
    C_number: int
    test: Double
    train: Double | None
    gap: float


class FoldSearch:
    """The examples of a grid search.

    Parameters
    ----------
    X
        The examples, dense or sparse.
    codes, n_labels
        The label of each example, and how many labels there are.
    lift, options
        How machines are solved.
    """

    def __init__(self, X: Examples, codes: Integers, n_labels: int, lift: str, options: LiftOptions) -> None:
        self.X, self.codes, self.n_labels, self.options = X, codes, n_labels, options
        self.merged: Merged = merge_examples(KernelView("rbf", 1.0, 0.0, 3, X), X, lift, [codes], len(codes))
        order = np.argsort(codes[self.merged.first], kind="stable")
        self.distinct: Indices = self.merged.first[order]
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        self.group: Indices = place[self.merged.labels]
        labels = codes[self.distinct]
        self.begin = np.searchsorted(labels, np.arange(n_labels + 1)).astype(np.int32)
        limits = options.limits()
        if len(self.distinct) < FEW:
            limits = replace(limits, tol_gap=min(limits.tol_gap, 1e-3), enough=min(limits.enough, 1e-3))
        elif not options.lift_is_exact:
            limits = replace(limits, enough=4.0 * limits.enough)  # a score is a mean over many examples
        self.limits = limits

    def share_memory(self, cache_bytes: int) -> None:
        """Several kernels are searched at the same time: each has so much memory for its rows."""
        self.options = replace(self.options, cache_bytes=cache_bytes)

    def run(
        self, view: KernelView, Cs: list[float], splits: list[Split], bounds: list[Double], wants_train: bool
    ) -> list[FoldValues]:
        """Solve every fold for every C with one kernel.

        Parameters
        ----------
        view
            The kernel.
        Cs
            Values of C.
        splits
            Training and held-out examples of each fold.
        bounds
            For each fold the bounds of its training examples, for C = 1.
        wants_train
            Decision values of training examples are wanted, too.
        """
        source = view.source(self.X[self.distinct])
        machines = self._machines(source)
        order = np.argsort(Cs, kind="stable")
        found = []
        states = [_PairState(self, source, machine, pair) for machine, pair in machines]
        for fold, (train, test) in enumerate(splits):
            total = class_totals(self.group[train], bounds[fold], len(self.distinct))
            if len(np.unique(self.codes[train][bounds[fold] > 0])) < 2:
                raise ValueError(
                    f"The training examples of fold {fold} belong to the same class. Use stratified folds."
                )
            for state in states:
                state.set_bounds(total)
            for number in order:
                C = Cs[number]
                gap = max(state.solve(C, self.limits) for state in states)
                wanted = np.unique(self.group[np.concatenate([test, train]) if wants_train else test])
                values = np.zeros((len(self.distinct), len(states)))
                values[wanted] = self._values(view, states, wanted)
                at_train = values[self.group[train]] if wants_train else None
                found.append(FoldValues(fold, int(number), values[self.group[test]], at_train, gap))
        return found

    def _machines(self, source: Any) -> list[tuple[DualMachine, tuple[int, int]]]:
        room, n_labels = self.options.cache_bytes, self.n_labels
        if n_labels == 2:
            return [(machine_of(source, room, keeps_rows=True), (0, 1))]
        pairs = pairs_of(n_labels)
        if isinstance(source, PointKernel):
            # Machines of all pairs live side by side: each has its share of the memory.
            shared = LabelMachines(source, self.begin, room)
            shared.room //= len(pairs)
            return [(shared.pair(i, j), (i, j)) for i, j in pairs]
        return [(machine_of(source.subset(self.members(pair)), room), pair) for pair in pairs]

    def members(self, pair: tuple[int, int]) -> Indices:
        """Distinct examples of two labels."""
        return np.concatenate([np.arange(self.begin[k], self.begin[k + 1]) for k in pair]).astype(np.int64)

    def _values(self, view: KernelView, states: list[_PairState], wanted: Indices) -> Double:
        """Decision values, one column for each pair."""
        if self.n_labels == 2:
            state = states[0]
            return np.asarray((state.c - state.v + state.bias)[wanted, None])
        coefficients = np.zeros((len(self.distinct), len(states)))
        for number, state in enumerate(states):
            coefficients[state.members, number] = state.beta
        support = np.flatnonzero(coefficients.any(axis=1))
        biases = np.array([state.bias for state in states])
        if not len(support):
            return np.broadcast_to(biases, (len(wanted), len(states))).copy()
        weights = coefficients[support]
        vectors, out = self.X[self.distinct[support]], np.empty((len(wanted), len(states)))
        size = max(1, (1 << 22) // len(support))
        for begin in range(0, len(wanted), size):
            part = self.X[self.distinct[wanted[begin : begin + size]]]
            K = view.values(part, vectors)
            # Weights may be as large as C: products of single precision kernels are added up in double precision.
            out[begin : begin + size] = K.astype(np.float64, copy=False) @ weights
        return np.asarray(out + biases)


class _PairState:
    """The machine of two labels on the training examples of one fold, and its solution for the last C."""

    def __init__(self, search: FoldSearch, source: KernelSource, machine: DualMachine, pair: tuple[int, int]) -> None:
        i, j = pair
        begin = search.begin
        n_i, n_j = int(begin[i + 1] - begin[i]), int(begin[j + 1] - begin[j])
        self.machine = machine
        self.members = search.members(pair)
        sign = 1.0 if search.n_labels > 2 else -1.0
        self.c = np.concatenate([np.full(n_i, sign), np.full(n_j, -sign)])
        self.is_convex = getattr(source, "kernel", None) != "sigmoid"

    def set_bounds(self, total: Double) -> None:
        """A new fold: bounds of all distinct examples for C = 1, 0 for those that are held out."""
        bound = total[self.members]
        self.lo, self.hi = np.minimum(self.c * bound, 0.0), np.maximum(self.c * bound, 0.0)
        self.beta, self.v, self.bias = np.zeros(len(bound)), self.c.copy(), 0.0
        self.before = 0.0

    def solve(self, C: float, limits: DualLimits) -> float:
        """Solve for C from the solution for the one before; returns the gap."""
        lo, hi = C * self.lo, C * self.hi
        if not (lo < 0).any() or not (hi > 0).any():
            self.beta, self.v = np.zeros(len(self.c)), self.c.copy()
            self.bias = float(np.sign(self.hi.sum() + self.lo.sum()))
            return 0.0
        start = self.v
        if not self.is_convex:  # there are many stationary points: as in a fit, the one that zero leads to
            self.beta, start = np.zeros(len(self.c)), self.c.copy()
        elif self.before > 0:
            square = float(self.beta @ (self.c - self.v))
            scale = float(np.clip(float(self.c @ self.beta) / max(square, 1e-300), 1.0, C / self.before))
            self.beta = np.clip(scale * self.beta, lo, hi)
            start = self.c - scale * (self.c - self.v)
        outcome, self.v = self.machine.solve(self.c, lo, hi, 0.0, self.beta, start, limits)
        self.before, self.bias = C, outcome.bias
        return outcome.gap
