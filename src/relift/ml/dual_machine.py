"""A kernel matrix with cached rows, and sequential minimal optimisation on it up to a proved gap.

A :class:`DualMachine` stands for a list of examples and their kernel. It solves one dual after the other over them
(other bounds, other starts) and keeps the kernel rows it has computed as long as memory lasts; see
``core/include/relift/ml/dual_machine.hpp``. Without a compiler a slow twin in NumPy takes its place.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Double, Indices, Reals
from relift.ml import compiled
from relift.ml.dual_reference import ReferenceMachine
from relift.ml.kernels import FunctionKernel, KernelSource, MatrixKernel, PointKernel, SparseKernel

REACHED, NO_VIOLATION, STEP_LIMIT, TIME_LIMIT = range(4)
"""Why a solve ended: the gap was reached; nothing is left to improve; a limit of the caller."""

MATRIX_LIMIT = 6000
"""Examples up to which the kernel of a callable is computed at once: single rows would cost a call each."""

NO_LIMIT = 2**62


@final
@dataclass(frozen=True)
class DualLimits:
    """When a solve is good enough, and when it has to end.

    Parameters
    ----------
    tol_gap
        Relative gap to reach.
    enough
        Largest difference of two slopes that could be exchanged, to reach as well.
    floor
        Difference below which nothing can be improved any more.
    max_steps
        Steps at most; -1: no limit.
    max_seconds
        Processor time at most.
    """

    tol_gap: float
    enough: float = np.inf
    floor: float = 1e-11
    max_steps: int = -1
    max_seconds: float = np.inf


class DualOutcome(NamedTuple):
    """What is proved about the point that a solve ended with.

    Parameters
    ----------
    status
        One of ``REACHED``, ``NO_VIOLATION``, ``STEP_LIMIT``, ``TIME_LIMIT``.
    steps
        Pairs that were improved.
    kernel_values
        Kernel values computed since the machine was made.
    gap, dual_value, total
        Relative gap, dual value, and primal value less dual value.
    violation
        Largest difference of two slopes that could be exchanged.
    bias, scale
        The primal value is that of scale (f + bias).
    """

    status: int
    steps: int
    kernel_values: int
    gap: float
    bias: float
    dual_value: float
    total: float
    violation: float
    scale: float


@final
class DualMachine:
    """The examples of a kernel source, ready to be solved over.

    Parameters
    ----------
    handle
        The compiled machine, or its twin.
    size
        Number of examples.
    keeps
        Arrays that have to live as long.
    """

    def __init__(self, handle: Any, size: int, keeps: Any = None) -> None:
        self._handle, self.size, self._keeps = handle, size, keeps

    def solve(
        self, c: Double, lo: Double, hi: Double, epsilon: float, beta: Double, v: Double | None, limits: DualLimits
    ) -> tuple[DualOutcome, Double]:
        """Improve a feasible beta in place; return what is proved, and v = c - K beta.

        Parameters
        ----------
        c, lo, hi, epsilon
            The dual; examples with lo = hi = 0 take no part, but their v is kept.
        beta
            Where to start.
        v
            c - K beta, changed in place; computed if None.
        limits
            When to stop.
        """
        is_given = v is not None
        values = np.empty(self.size) if v is None else v
        steps = limits.max_steps if limits.max_steps >= 0 else NO_LIMIT
        arguments = (c, lo, hi, float(epsilon), beta, values, is_given, limits.tol_gap, limits.enough, limits.floor)
        if isinstance(self._handle, ReferenceMachine):
            found = self._handle.solve(*arguments, steps, limits.max_seconds)
        else:
            found = core().solve_dual(self._handle, *arguments, steps, limits.max_seconds)
        return DualOutcome._make(found), values


def machine_of(source: KernelSource, cache_bytes: int | None = None, keeps_rows: bool = False) -> DualMachine:
    """The machine over all examples of a kernel source.

    With ``keeps_rows`` each kernel row of dense points that is computed is kept whole, if all fit into half the memory:
    what one solve has computed, the next one has.

    Examples
    --------
    >>> source = PointKernel(np.array([[0.0], [1.0]]), "linear", 1.0, 0.0, 3)
    >>> c, lo, hi, beta = np.array([-1.0, 1.0]), np.array([-9.0, 0.0]), np.array([0.0, 9.0]), np.zeros(2)
    >>> outcome, _ = machine_of(source).solve(c, lo, hi, 0.0, beta, None, DualLimits(1e-6))
    >>> beta.tolist(), outcome.status == REACHED, round(outcome.bias, 6)
    ([-2.0, 2.0], True, -1.0)
    """
    size = source.size
    room = default_cache_bytes(size) if cache_bytes is None else int(cache_bytes)
    if not compiled.CORE_IS_COMPILED:
        return DualMachine(ReferenceMachine(source), size)
    if isinstance(source, PointKernel):
        is_kept = keeps_rows and size * source.points.itemsize * (size + 64) <= room // 2
        return DualMachine(core().point_machine(source.points, *source.numbers(), room, is_kept), size)
    if isinstance(source, SparseKernel):
        X = source.points
        data = np.ascontiguousarray(X.data, dtype=np.float64)
        indices, indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
        handle = core().sparse_machine(data, indices, indptr, X.shape[1], *source.numbers(), room)
        return DualMachine(handle, size)
    if isinstance(source, MatrixKernel):
        return machine_of_matrix(source.matrix, None, room)
    if size <= MATRIX_LIMIT:
        everything = np.arange(size)
        return machine_of_matrix(_whole_matrix(source, everything), None, room)
    assert isinstance(source, FunctionKernel)
    return DualMachine(core().function_machine(source.diagonal(), _row_function(source), room), size, source)


def machine_of_matrix(K: Reals, members: NDArray[np.int32] | None, cache_bytes: int | None = None) -> DualMachine:
    """A machine over some rows and columns of a kernel matrix, or all."""
    room = default_cache_bytes(len(K)) if cache_bytes is None else int(cache_bytes)
    if K.dtype != np.float32:
        K = np.ascontiguousarray(K, dtype=np.float64)
    chosen = np.arange(len(K), dtype=np.int32) if members is None else np.ascontiguousarray(members, dtype=np.int32)
    if not compiled.CORE_IS_COMPILED:
        return DualMachine(ReferenceMachine(MatrixKernel(K[np.ix_(chosen, chosen)])), len(chosen))
    return DualMachine(core().matrix_machine(K, chosen, room), len(chosen))


@final
class LabelMachines:
    """Machines of pairs of labels over points sorted by label: kernel rows inside a label are computed once.

    Parameters
    ----------
    source
        All points, sorted by label.
    begin
        Where each label begins, and the number of points.
    cache_bytes
        For the shared rows, and for those of a pair.
    """

    def __init__(self, source: PointKernel, begin: NDArray[np.int32], cache_bytes: int | None = None) -> None:
        self.source, self.begin = source, np.ascontiguousarray(begin, dtype=np.int32)
        self.room = default_cache_bytes(source.size) if cache_bytes is None else int(cache_bytes)
        self._handle: Any = None
        if compiled.CORE_IS_COMPILED:
            self._handle = core().label_machines(source.points, self.begin, *source.numbers(), self.room // 2)

    def members(self, first: int, second: int) -> Indices:
        """The points of two labels, in the order of their machine."""
        begin = self.begin
        return np.concatenate(
            [np.arange(begin[first], begin[first + 1]), np.arange(begin[second], begin[second + 1])]
        ).astype(np.int64)

    def pair(self, first: int, second: int) -> DualMachine:
        """The machine over the points of two labels."""
        if self._handle is None:
            members = self.members(first, second)
            return DualMachine(ReferenceMachine(self.source.subset(members)), len(members))
        begin = self.begin
        size = int(begin[first + 1] - begin[first] + begin[second + 1] - begin[second])
        return DualMachine(core().pair_machine(self._handle, first, second, self.room // 2), size)

    def solve_all(self, total: Double, limits: DualLimits) -> tuple[list[tuple[DualOutcome, float]], Double] | None:
        """Solve the duals of all pairs from zero, in one call; None without a compiler.

        Parameters
        ----------
        total
            Upper bounds of the dual variables; the first label of a pair is the positive one.
        limits
            Of each solve.

        Returns
        -------
        outcomes
            For each pair what is proved, and its seconds.
        coefficients
            Row r has what each example has against label r.
        """
        if self._handle is None:
            return None
        n_labels = len(self.begin) - 1
        coefficients, lines = np.zeros((n_labels, self.source.size)), np.empty((n_labels * (n_labels - 1) // 2, 10))
        steps = limits.max_steps if limits.max_steps >= 0 else NO_LIMIT
        core().solve_pairs(
            self._handle, np.ascontiguousarray(total), limits.tol_gap, limits.enough, limits.floor, steps,
            limits.max_seconds, self.room // 2, coefficients, lines,
        )  # fmt: skip
        outcomes = [
            (DualOutcome(int(status), int(steps), int(values), *rest), seconds)
            for status, steps, values, *rest, seconds in lines.tolist()
        ]
        return outcomes, coefficients


def core() -> Any:
    """The compiled part, without types."""
    return vars(compiled)["core"]


def default_cache_bytes(size: int) -> int:
    """Memory for the kernel rows of so many examples: half of what is free, at most 2 GiB and at least 64 MiB."""
    if 8 * size * size <= 64 << 20:
        return 64 << 20
    return int(min(max(_free_bytes() // 2, 64 << 20), 2 << 30))


def _free_bytes() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(os.sysconf("SC_PHYS_PAGES")) * int(os.sysconf("SC_PAGE_SIZE")) // 2
    except (AttributeError, ValueError, OSError):
        return 2 << 30


def _whole_matrix(source: KernelSource, everything: Indices) -> Double:
    out = np.empty((source.size, source.size))
    for begin in range(0, source.size, 512):
        out[begin : begin + 512] = source.block(everything[begin : begin + 512], everything)
    return np.asarray(0.5 * (out + out.T))


def _row_function(source: KernelSource) -> Any:
    def row(i: int, columns: Any, out: Any) -> None:
        chosen = np.frombuffer(columns, dtype=np.uint32).astype(np.int64)
        np.frombuffer(out, dtype=np.float64)[:] = source.block(np.array([i]), chosen)[0]

    return row
