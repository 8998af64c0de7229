"""One machine for each pair of labels, as in SVC; what the pairs have in common is computed once.

Equal examples are merged once for all pairs, and kernel rows inside a label are shared by all pairs in which the label
takes part: half of all kernel values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from relift.ml.dual_machine import LabelMachines
from relift.ml.dual_problem import DualAnswer, LiftOptions
from relift.ml.kernels import KernelSource, PointKernel
from relift.ml.machine import KernelView, merge_examples, solve_merged, solve_over, spread_over_members
from relift.ml.merging import Merged
from relift.ml.small_dual import check_solver

Double = NDArray[np.float64]
Index = NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class PairAnswer:
    """The machine of two labels.

    Parameters
    ----------
    negative, positive
        The labels.
    members
        The examples of both.
    other
        For each of them the label that it is held against.
    beta
        Their dual variables.
    classes
        Their classes.
    distinct
        The examples that the answer is about, one of each merged group.
    answer
        The proved answer.
    """

    negative: int
    positive: int
    members: Index
    other: Index
    beta: Double
    classes: NDArray[Any]
    distinct: Index
    answer: DualAnswer


def pairs_of(n_labels: int) -> list[tuple[int, int]]:
    """Pairs of labels in the order of SVC's one-vs-one."""
    return [(i, j) for i in range(n_labels) for j in range(i + 1, n_labels)]


def solve_pairs(
    view: KernelView,
    X: Any,
    codes: NDArray[Any],
    n_labels: int,
    bound: Double,
    lift: str,
    options: LiftOptions,
) -> list[PairAnswer]:
    """Solve the machine of every pair of labels.

    Parameters
    ----------
    view
        The kernel.
    X
        The examples; for a precomputed kernel its matrix.
    codes, n_labels
        The label of each example, and how many labels there are.
    bound
        Upper bound of the dual variable of each example; those with 0 take no part.
    lift, options
        How the machines are lifted.
    """
    check_solver(options.solver)
    if n_labels == 2:
        return [_two_labels(view, X, codes, bound, lift, options)]
    if view.kernel == "precomputed":
        return [_of_matrix(view, X, codes, pair, bound, lift, options) for pair in pairs_of(n_labels)]
    there = np.flatnonzero(bound > 0)
    merged = merge_examples(view, X[there], lift, [codes[there]])
    # Distinct examples, sorted by label; those of a label keep the order of the merging.
    order = np.argsort(codes[there][merged.first], kind="stable")
    distinct = there[merged.first[order]]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    group = place[merged.labels]
    total = np.bincount(group, bound[there], len(distinct))
    begin = np.searchsorted(codes[distinct], np.arange(n_labels + 1)).astype(np.int32)
    source = view.source(X[distinct])
    members_of = [np.flatnonzero(codes[there] == label) for label in range(n_labels)]
    shared = LabelMachines(source, begin, options.cache_bytes) if _can_share(source, lift) else None
    answers = []
    for first, second in pairs_of(n_labels):
        index = np.concatenate([np.arange(begin[k], begin[k + 1]) for k in (first, second)]).astype(np.int64)
        # As in SVC the first label of a pair is the positive one.
        n_first = int(begin[first + 1] - begin[first])
        sign = np.ones(len(index))
        sign[n_first:] = -1.0
        part = total[index]
        lo, hi = np.minimum(sign * part, 0.0), np.maximum(sign * part, 0.0)
        machine = shared.pair(first, second) if shared is not None else None
        answer = solve_over(source.subset(index), sign, lo, hi, lift, options, machine=machine)
        here = np.concatenate([members_of[first], members_of[second]])
        inside = group[here] - np.where(codes[there][here] == first, begin[first], begin[second] - n_first)
        share = answer.beta / np.where(part > 0, part, 1.0)
        members = there[here]
        other = np.where(codes[members] == first, second, first)
        answers.append(
            PairAnswer(
                second, first, members, other, share[inside] * bound[members], answer.labels[inside],
                distinct[index], answer,
            )
        )  # fmt: skip
    return answers


def _can_share(source: KernelSource, lift: str) -> bool:
    return isinstance(source, PointKernel) and lift != "exact"


def _two_labels(
    view: KernelView, X: Any, codes: NDArray[Any], bound: Double, lift: str, options: LiftOptions
) -> PairAnswer:
    """The only pair: as in SVC the second label is the positive one."""
    members = np.flatnonzero(bound > 0)
    is_all = len(members) == len(codes)
    part = bound if is_all else bound[members]
    sign = np.where(codes[members] == 1, 1.0, -1.0)
    if is_all:
        examples = X
    else:
        examples = X[np.ix_(members, members)] if view.kernel == "precomputed" else X[members]
    merged = merge_examples(view, examples, lift, [sign])
    lo, hi = np.minimum(sign * part, 0.0), np.maximum(sign * part, 0.0)
    answer = solve_merged(view, examples, merged, sign, lo, hi, lift, options)
    return _spread(answer, merged, members, sign, part, 0, 1)


def _of_matrix(
    view: KernelView,
    X: Any,
    codes: NDArray[Any],
    pair: tuple[int, int],
    bound: Double,
    lift: str,
    options: LiftOptions,
) -> PairAnswer:
    first, second = pair
    members = np.flatnonzero(((codes == first) | (codes == second)) & (bound > 0))
    sign = np.where(codes[members] == first, 1.0, -1.0)
    part = bound[members]
    examples = X[np.ix_(members, members)]
    merged = merge_examples(view, examples, lift, [sign])
    lo, hi = np.minimum(sign * part, 0.0), np.maximum(sign * part, 0.0)
    answer = solve_merged(view, examples, merged, sign, lo, hi, lift, options)
    return _spread(answer, merged, members, sign, part, second, first)


def _spread(
    answer: DualAnswer, merged: Merged, members: Index, sign: Double, part: Double, negative: int, positive: int
) -> PairAnswer:
    beta = spread_over_members(answer.beta, merged, part)
    other = np.where(sign > 0, negative, positive)
    labels = answer.labels[merged.labels]
    return PairAnswer(negative, positive, members, other, beta, labels, members[merged.first], answer)
