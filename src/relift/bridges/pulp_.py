"""relift as a solver of PuLP: ``problem.solve(relift.pulp.RELIFT())``, or by name after the import.

The class is PuLP's own of HiGHS with another way to run: the model that PuLP has built is solved by
:func:`relift.highs.solve`, and PuLP reads the answer as it reads that of HiGHS. PuLP hands a maximisation to HiGHS as
the minimisation of the negated objective; the signs of ``constraint.pi`` and ``variable.dj`` are those of that
minimisation, as with ``pulp.HiGHS``.

>>> import pulp, relift.pulp
>>> problem = pulp.LpProblem("staff", pulp.LpMinimize)
>>> x = [problem.add_variable(f"x{i}", 0, 4) for i in range(50)]
>>> problem += pulp.lpSum(x)
>>> for i in range(50):
...     problem += x[i] + x[i - 1] >= 3, f"shift{i}"
>>> solver = relift.pulp.RELIFT(msg=False)
>>> pulp.LpStatus[problem.solve(solver)], pulp.value(problem.objective), x[0].varValue
('Optimal', 75.0, 1.5)
>>> solver.outcome
Outcome(optimal, objective=75, 50 -> 1 variables, 50 -> 1 rows, backend=highs)
"""

from __future__ import annotations

from typing import Any

from relift.bridges.highs import Integers, Outcome, solve
from relift.bridges.highs.options import set_options
from relift.errors import MissingPackageError

try:
    from pulp import apis as _apis
except ImportError:
    raise MissingPackageError("relift.pulp needs PuLP.", "Install it: pip install 'relift[pulp]'.") from None


class RELIFT(_apis.HiGHS):  # type: ignore[misc]
    """relift as a solver class of PuLP.

    Parameters
    ----------
    mip, msg, timeLimit, threads
        As in PuLP: whether variables are integer, whether a log is printed, seconds, threads.
    gapAbs, gapRel
        As in PuLP; for integer models only.
    integers
        What to do with a model that has integer variables: ``"refuse"`` it, or ``"pass"`` it to HiGHS without lifting.
    **options
        Keywords of :func:`relift.solve`, and options of HiGHS by their own names.
    """

    name = "RELIFT"

    def __init__(
        self,
        mip: bool = True,
        msg: bool = True,
        gapAbs: float | None = None,
        gapRel: float | None = None,
        threads: int | None = None,
        timeLimit: float | None = None,
        *,
        integers: Integers = "refuse",
        **options: Any,
    ) -> None:
        super().__init__(mip=mip, msg=msg, gapAbs=gapAbs, gapRel=gapRel, threads=threads, timeLimit=timeLimit)
        self.integers, self.words = integers, options
        self.outcome: Outcome | None = None
        """What relift did with the model that was solved last."""

    def callSolver(self, lp: Any) -> None:
        """Solve the model that PuLP has built; called by PuLP."""
        for number, variable in enumerate(lp.variables()):
            lp.solverModel.passColName(number, str(variable.name))
        words = set_options(lp.solverModel, self.words)
        self.outcome = solve(lp.solverModel, integers=self.integers, **words)

    def toDict(self) -> dict[str, Any]:
        """What :func:`pulp.getSolverFromDict` makes the same solver from."""
        given = {"gapAbs": self.gapAbs, "gapRel": self.gapRel, "threads": self.threads}
        given = {name: value for name, value in given.items() if value is not None}
        found: dict[str, Any] = super().toDict()
        return found | given | {"integers": self.integers} | self.words

    to_dict = toDict


def register() -> None:
    """Add ``"RELIFT"`` to what ``pulp.getSolver`` and ``pulp.listSolvers`` know; once more changes nothing."""
    if RELIFT not in _apis._all_solvers:
        _apis._all_solvers.append(RELIFT)


def unregister() -> None:
    """Take ``"RELIFT"`` out of what PuLP knows again."""
    if RELIFT in _apis._all_solvers:
        _apis._all_solvers.remove(RELIFT)


register()
