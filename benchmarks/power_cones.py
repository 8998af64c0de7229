"""``python -m benchmarks.power_cones``: power cones of many arguments, as Clarabel's own cone and as trees.

Random programs with such cones, an optimum of which exists, go to Clarabel in both forms with the settings of the
backend. Printed is how each ended and the iterations of all together.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import clarabel
import numpy as np
from scipy import sparse

from relift.program.cones import PowerND
from relift.program.program import Program
from relift.settings import SolverSettings
from relift.solvers.clarabel_ import ClarabelBackend, _settings
from relift.solvers.forms import Conic, csc, quadratic_part
from relift.testing.random_conic_programs import symmetric_conic_program


def with_own_cones(program: Program) -> tuple[str, int]:
    """Clarabel's status and iterations with its generalised power cone."""
    conic, rows = Conic.from_program(program), program.conic
    cones: list[Any] = [clarabel.NonnegativeConeT(conic.n_inequalities)]
    for cone in rows.cones:
        assert isinstance(cone, PowerND)
        cones.append(clarabel.GenPowerConeT(list(cone.alphas), 1))
    K, b = csc(sparse.vstack([conic.K, rows.A])), np.concatenate([conic.b, rows.b])
    P = csc(sparse.triu(quadratic_part(program)))
    try:
        settings = _settings(clarabel, SolverSettings(), program)
        found = clarabel.DefaultSolver(P, program.q.copy(), K, b, cones, settings).solve()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - a panic is an exception that is no Exception
        return "assertion", 0
    return str(found.status), int(found.iterations)


def with_trees(program: Program) -> tuple[str, int]:
    """The same with trees of cones of two arguments."""
    found = ClarabelBackend().solve(program, SolverSettings())
    return found.message, found.iterations or 0


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=400)
    n_programs = parser.parse_args().programs
    for name, solve in (("own cones", with_own_cones), ("trees", with_trees)):
        ends: Counter[str] = Counter()
        iterations = 0
        for seed in range(n_programs):
            random = np.random.default_rng(seed)
            made = symmetric_conic_program(
                seed, copies=int(random.integers(1, 4)), n_cones=int(random.integers(1, 4)), kinds=("power nd",),
                quadratic_objective=bool(random.integers(0, 2)),
            )  # fmt: skip
            status, taken = solve(made.program)
            ends[status] += 1
            iterations += taken
        print(f"{name:10} {iterations:6} iterations  {dict(ends)}")


if __name__ == "__main__":
    main()
