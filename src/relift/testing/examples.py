"""Small programs with a symmetry that one can see, for examples, tests and first trials."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from relift.program.program import Program


def running_example() -> Program:
    """The running example of Mladenov, Kleinhans and Kersting (2016): minimise x'Qx over x >= 1.

    Orbits and counting tell {1, 3} from {2, 4}; sums see one class of four. Note that P = 2Q.

    Examples
    --------
    >>> program = running_example()
    >>> program.objective([2, 1, 1, 2]), program.objective([1.5] * 4)
    (3.0, 0.0)
    """
    Q = np.array([[1, 0, -1, 0], [0, 2, 0, -2], [-1, 0, 1, 0], [0, -2, 0, 2]])
    return Program(P=2 * Q, lb=np.ones(4))


def ring_of_springs(n: int) -> Program:
    """Points in a ring, neighbours joined by springs, each pair held above 1 against a weight: one class.

    Minimise ½ Σ (x_i - x_{i+1})² + Σ x_i subject to x_i + x_{i+1} >= 1; the optimum is n/2.

    Parameters
    ----------
    n
        Number of points, at least 3.

    Examples
    --------
    >>> import relift
    >>> result = relift.solve(ring_of_springs(1000))
    >>> result.lifting.small, round(result.objective, 5)
    (Program(LP, min, 1 variables, 1 rows, 1 nonzeros), 500.0)
    """
    here, following = np.arange(n), np.roll(np.arange(n), -1)
    ones = np.ones(n)
    step = sparse.coo_array((np.r_[ones, -ones], (np.r_[here, here], np.r_[here, following])), shape=(n, n)).tocsc()
    pairs = abs(step)
    return Program(P=step.T @ step, q=ones, A=pairs, l=ones)


def transport(k: int) -> Program:
    """As many sources as sinks, of one unit each, all routes at cost 1: k² variables and 2k rows, one class of each.

    Parameters
    ----------
    k
        Number of sources and of sinks.

    Examples
    --------
    >>> import relift
    >>> result = relift.solve(transport(30))
    >>> result.lifting.small, round(result.objective, 9)
    (Program(LP, min, 1 variables, 1 rows, 1 nonzeros), 30.0)
    """
    ones, eye = np.ones((1, k)), sparse.eye_array(k)
    A = sparse.vstack([sparse.kron(eye, ones), sparse.kron(ones, eye)]).tocsc()
    return Program(q=np.ones(k * k), A=A, l=np.ones(2 * k), u=np.ones(2 * k), lb=0)


def friends_and_smokers(people: int) -> Program:
    """Who smokes, who falls ill, if all are friends and the first is known to smoke: a linear program from soft rules.

    For each person i variables smokes(i), ill(i) in [0, 1] with prior costs .7 and 1; smoking makes ill: a penalty
    of 1.5 for max(0, smokes(i) - ill(i)); friends smoke together: a penalty of .1 for each ordered pair's
    max(0, smokes(i) - smokes(j)). All persons but the first are equivalent.

    Parameters
    ----------
    people
        Number of persons.

    Examples
    --------
    >>> import relift
    >>> program = friends_and_smokers(20)
    >>> small = relift.lift(program).small
    >>> program.n_variables, program.n_rows, small.n_variables
    (440, 400, 8)
    """
    n = people
    i, j = (pair.ravel() for pair in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    i, j = i[i != j], j[i != j]
    n_pairs = i.size
    person, pair = np.arange(n), np.arange(n_pairs)
    smokes, ill, sick, apart = 0, n, 2 * n, 3 * n  # where each kind of variable starts
    rows = np.r_[person, person, person, n + pair, n + pair, n + pair]
    columns = np.r_[smokes + person, ill + person, sick + person, smokes + i, smokes + j, apart + pair]
    values = np.r_[np.ones(n), -np.ones(n), -np.ones(n), np.ones(n_pairs), -np.ones(n_pairs), -np.ones(n_pairs)]
    size = 3 * n + n_pairs
    lb = np.zeros(size)
    lb[0] = 1.0
    return Program(
        q=np.r_[np.full(n, 0.7), np.ones(n), np.full(n, 1.5), np.full(n_pairs, 0.1)],
        A=sparse.coo_array((values, (rows, columns)), shape=(n + n_pairs, size)).tocsc(),
        u=np.zeros(n + n_pairs),
        lb=lb,
        ub=np.r_[np.ones(2 * n), np.full(n + n_pairs, np.inf)],
    )
