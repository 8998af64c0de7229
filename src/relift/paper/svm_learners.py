"""The four learners of the paper's relational experiment: models in the language, grounded, lifted, solved.

========== ============================================ =======================================
QP-SVM     smallest squared weights, hinge loss         solved in the dual, ground or lifted
LP-SVM     largest margin r, weights between -1 and 1   solved by HiGHS's interior point method
TC-...     the same, with a hinge for each link between a labelled example and an unlabelled one
========== ============================================ =======================================

The models lie in the folder ``models`` beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from time import process_time
from typing import final

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Double, Indices, SparseMatrix
from relift.errors import BackendError
from relift.language.checked_model import CheckedModel
from relift.language.checks.check_model import check_text
from relift.lifting.certificate import certify
from relift.lifting.lifting import Lifting
from relift.modelling.solve_model import ground_model
from relift.paper.hinge_dual import HingeAnswer, SignedHinges, lift_equal, solve_by_dual
from relift.pipeline import lift, solve
from relift.program.program import Program
from relift.program.solution import Solution
from relift.tables.sources.table import TableLike

TIE = 1e-6
"""Price of the squared weights in the final fits of linear programs: it decides among weights, and costs under 1e-6.

The bias has no price. Where moving it helps as many examples as it harms, several biases are optimal.
"""

_IPM = {"solver": "ipm", "run_crossover": "off"}


@final
@dataclass(frozen=True)
class Learner:
    """One of the four.

    Parameters
    ----------
    name
        As in the paper.
    model
        Name of its file in ``models``.
    is_collective
        Whether it uses links and unlabelled examples.
    is_linear
        Whether it is a linear program.
    """

    name: str
    model: str
    is_collective: bool
    is_linear: bool

    @property
    def text(self) -> str:
        """The model, in the relational language."""
        return (files("relift.paper") / "models" / f"{self.model}.rlp").read_text(encoding="utf-8")

    @property
    def checked(self) -> CheckedModel:
        """The checked model."""
        return _checked(self)


QP_SVM = Learner("QP-SVM", "qp_svm", False, False)
LP_SVM = Learner("LP-SVM", "lp_svm", False, True)
TC_QP_SVM = Learner("TC-QP-SVM", "tc_qp_svm", True, False)
TC_LP_SVM = Learner("TC-LP-SVM", "tc_lp_svm", True, True)
LEARNERS = (QP_SVM, LP_SVM, TC_QP_SVM, TC_LP_SVM)


@lru_cache
def _checked(learner: Learner) -> CheckedModel:
    return check_text(learner.text, f"{learner.model}.rlp")


@final
@dataclass(frozen=True, eq=False)
class Network:
    """Examples with attributes, labels and links.

    Parameters
    ----------
    attributes
        One row for each example, sparse.
    labels
        1 or -1 for each.
    links
        Pairs (citing, cited) of examples.
    """

    attributes: SparseMatrix
    labels: NDArray[np.int64]
    links: Indices

    def __len__(self) -> int:
        return len(self.labels)

    def tables(self, learner: Learner, labelled: Indices, query: Indices) -> dict[str, TableLike]:
        """The tables of a learner's model; examples and attributes are their numbers.

        Parameters
        ----------
        learner
            Which model.
        labelled
            Examples whose labels are known.
        query
            Examples whose labels are to be found.
        """
        example, feature = self.attributes.nonzero()
        entries = np.asarray(self.attributes[example, feature], np.float64).ravel()
        found: dict[str, TableLike] = {
            "attribute": {"example": example, "feature": feature, "entry": entries},
            "label": {"example": labelled, "label": self.labels[labelled]},
        }
        if learner.is_collective:
            found["cite"] = {"citing": self.links[:, 0], "cited": self.links[:, 1]}
            found["query"] = {"example": query}
        return found


@final
@dataclass(frozen=True)
class Prices:
    """What a slack costs.

    Parameters
    ----------
    c1
        Of a labelled example.
    c2
        Of a link; 0 for learners without links.
    """

    c1: float
    c2: float = 0.0


@final
class Task:
    """A learner on a network with some labels known: the ground program, for all prices.

    Parameters
    ----------
    network, learner
        What is learnt, and how.
    labelled, query
        Examples whose labels are known, and those whose labels are to be found.
    """

    def __init__(self, network: Network, learner: Learner, labelled: Indices, query: Indices) -> None:
        self.network, self.learner, self.labelled, self.query = network, learner, labelled, query
        self._tables = network.tables(learner, labelled, query)
        # Two prices that no class can confuse; others are put in later.
        self.program, blocks, self._features = self._ground(Prices(1.0, 0.5), 0.0)
        self.weights, self.bias = blocks["weight"], int(blocks["bias"][0])
        self._slacks, self._coslacks = blocks["slack"], blocks.get("coslack", np.zeros(0, np.int64))
        self._margin = blocks.get("r", np.zeros(0, np.int64))
        self.n_links = len(self._coslacks)

    def _ground(self, prices: Prices, tie: float) -> tuple[Program, dict[str, Indices], Indices]:
        params = {"c1": prices.c1}
        if self.learner.is_collective:
            params["c2"] = prices.c2
        if self.learner.is_linear:
            params["tie"] = tie
        with ground_model(self.learner.checked, self._tables, params) as grounded:
            blocks = {}
            for name in grounded.atoms.predicates:
                block = grounded.atoms.block(name)
                blocks[name] = np.arange(block.start, block.stop)
            features = np.asarray(grounded.atoms.table("weight")["J"], np.int64)
            program = grounded.program.replace(variable_names=None, row_names=None)
        return program, blocks, features

    def q(self, prices: Prices) -> Double:
        """The linear part of the program for some prices."""
        q = self.program.q.copy()
        q[self._slacks] = prices.c1
        q[self._coslacks] = prices.c2
        return q

    def at(self, prices: Prices, tie: float = 0.0) -> Program:
        """The program for some prices; with ``tie``, the one of its optima with small weights (linear programs)."""
        if tie:
            return self._ground(prices, tie)[0]
        return self.program.replace(q=self.q(prices))

    def scores(self, x: Double, examples: Indices) -> Double:
        """What a point of the program says about examples: above 0 means label 1."""
        w = np.zeros(self.network.attributes.shape[1])
        w[self._features] = x[self.weights]
        return np.asarray(self.network.attributes[examples] @ w + x[self.bias], np.float64)

    def margin(self, x: Double) -> float:
        """The margin r of a linear program."""
        return float(x[self._margin[0]])


def labels_from_scores(scores: Double) -> NDArray[np.int64]:
    """Label 1 above 0, -1 otherwise."""
    return np.where(scores > 0, 1, -1)


@final
class DualSearch:
    """Fits of a QP learner for many prices: classes and kernel are found once, each fit starts from the last.

    Parameters
    ----------
    task
        What is learnt.
    lifted
        Whether to merge what is indistinguishable first.
    """

    def __init__(self, task: Task, *, lifted: bool) -> None:
        self.task = task
        start = process_time()
        self.lifting: Lifting | None = lift_equal(task.program) if lifted else None
        self.form = SignedHinges.of(self.lifting.small if self.lifting else task.program)
        self.lift_seconds = process_time() - start
        self.kernel_seconds, self.solve_seconds = 0.0, 0.0
        self._last: HingeAnswer | None = None

    @cached_property
    def kernel(self) -> Double:
        """The kernel of the dual."""
        start = process_time()
        found = self.form.kernel()
        self.kernel_seconds = process_time() - start
        return found

    def fit(self, prices: Prices) -> Solution:
        """Solve for some prices; best called with growing ones.

        Parameters
        ----------
        prices
            What slacks cost.
        """
        kernel = self.kernel
        start = process_time()
        q = self.task.q(prices)
        if self.lifting is not None:
            # Classes tell slacks of links from others, so that every q of this task is constant on them: q^ = S'q.
            q = self.lifting.variables.indicator.T @ q[self.lifting.reduction.variables]
        answer = solve_by_dual(self.form, kernel, q, None if self._last is None else self._last.beta)
        self._last = answer
        solution = answer.solution if self.lifting is None else self.lifting.expand(answer.solution)
        self.solve_seconds += process_time() - start
        return solution

    def restart(self) -> None:
        """Start the next fit from nothing: its prices are not larger than the last ones."""
        self._last = None

    @property
    def seconds(self) -> float:
        """CPU seconds of all fits so far, lifting included."""
        return self.lift_seconds + self.kernel_seconds + self.solve_seconds


@final
@dataclass(frozen=True, eq=False)
class Fit:
    """One solved program.

    Parameters
    ----------
    x
        Point of the ground program.
    variables, rows
        Of the program that was solved.
    objective
        On the ground program.
    residual
        The largest relative residual of the certificate on the ground program.
    seconds
        CPU seconds: lifting, solving and expanding, not grounding and not the certificate.
    lift_seconds
        Of these, lifting.
    """

    x: Double
    variables: int
    rows: int
    objective: float
    residual: float
    seconds: float
    lift_seconds: float


def fit_by_dual(program: Program, *, lifted: bool) -> Fit:
    """Fit a QP learner by the dual of its program or of the lifted one.

    Parameters
    ----------
    program
        The ground program.
    lifted
        Whether to lift it first.
    """
    start = process_time()
    lifting = lift_equal(program) if lifted else None
    lift_seconds = process_time() - start
    small = program if lifting is None else lifting.small
    answer = solve_by_dual(SignedHinges.of(small)).solution
    solution = answer if lifting is None else lifting.expand(answer)
    seconds = process_time() - start
    residual = certify(program, solution).worst_residual
    return Fit(_point(solution), small.n_variables, small.n_rows, program.objective(_point(solution)), residual,
               seconds, lift_seconds)  # fmt: skip


def fit_by_solver(program: Program, *, lifted: bool, backend: str, options: Mapping[str, object] | None = None) -> Fit:
    """Fit a learner by :func:`relift.solve`.

    Parameters
    ----------
    program
        The ground program.
    lifted
        Whether to lift it first.
    backend, options
        The solver and its options.

    Raises
    ------
    BackendError
        If there is no point.
    """
    start = process_time()
    lifting = lift_equal(program) if lifted else lift(program, lift="none", reduce=False)
    lift_seconds = process_time() - start if lifted else 0.0
    result = solve(lifting, backend=backend, backend_options=options or {})
    seconds = process_time() - start
    x = _point(result.solution)
    return Fit(x, lifting.small.n_variables, lifting.small.n_rows, program.objective(x),
               result.certificate.worst_residual, seconds, lift_seconds)  # fmt: skip


def fit_linear(program: Program, *, lifted: bool) -> Fit:
    """Fit an LP learner: HiGHS's interior point method without crossover, the quickest of those tried."""
    return fit_by_solver(program, lifted=lifted, backend="highs", options=_IPM)


def fit_with_ties_broken(program: Program, *, lifted: bool) -> Fit:
    """Fit an LP learner whose squared weights have a small price (see TIE), which makes its weights unique."""
    return fit_by_solver(program, lifted=lifted, backend="clarabel")


def _point(solution: Solution) -> Double:
    if solution.x is None:
        raise BackendError(f"the program of a learner ended with status {solution.status}.")
    return solution.x
