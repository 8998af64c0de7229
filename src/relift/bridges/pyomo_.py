"""relift as a solver of Pyomo: ``import relift.pyomo``, then ``SolverFactory("relift")``.

The class is Pyomo's own of HiGHS with another way to run: the model that Pyomo has built, and keeps up to date when it
is changed, is solved by :func:`relift.highs.solve`, and Pyomo reads the answer as it reads that of HiGHS: values,
reduced costs (``rc``) and dual values (``dual``) in Pyomo's signs. Both interfaces of Pyomo know the name: the one that
models are written with, and ``pyomo.contrib.solver``.

>>> import pyomo.environ as pyo, relift.pyomo
>>> model = pyo.ConcreteModel()
>>> model.x = pyo.Var(range(60), bounds=(0, 5))
>>> model.total = pyo.Objective(expr=sum(3 * model.x[i] for i in range(60)))
>>> model.demand = pyo.Constraint(expr=sum(model.x[i] for i in range(60)) >= 120)
>>> model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
>>> solver = pyo.SolverFactory("relift")
>>> str(solver.solve(model).solver.termination_condition)
'optimal'
>>> pyo.value(model.total), model.dual[model.demand], solver.outcome.result.lifting.small.n_variables
(360.0, 3.0, 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relift import __version__
from relift.bridges.highs import Outcome, solve
from relift.bridges.highs.options import changed_for_a_while, set_options
from relift.errors import MissingPackageError

try:
    import pyomo.environ  # noqa: F401 - it registers Pyomo's own solvers
    from pyomo.contrib.solver.common.factory import SolverFactory
    from pyomo.contrib.solver.solvers.highs import Highs
    from pyomo.opt.base.solvers import LegacySolverFactory
except ImportError:
    raise MissingPackageError("relift.pyomo needs Pyomo 6.10.", "Install it: pip install 'relift[pyomo]'.") from None

NAME = "relift"
"""What Pyomo calls the solver."""
_VERSION = tuple(int(part) for part in __version__.split(".") if part.isdigit())
"""What results tell; ``version()`` stays that of HiGHS, by which Pyomo's class decides what to call."""


class Relift(Highs):  # type: ignore[misc]
    """relift as a solver class of Pyomo; what ``SolverFactory("relift")`` makes.

    ``solver_options`` (``options`` of the older interface) are keywords of :func:`relift.solve`, ``integers`` of
    :func:`relift.highs.solve`, and options of HiGHS.
    """

    outcome: Outcome | None = None
    """What relift did with the model that was solved last."""

    def _solve(self, *arguments: Any, **words: Any) -> Any:
        held, config = self._solver_model, self._active_config
        options = dict(config.solver_options.items())
        own = {name: options.pop(name) for name in ("integers",) if name in options}
        own |= set_options(held, options)
        self._name_columns()
        self._pass_quadratic_part()

        def run() -> None:
            self.outcome = solve(held, **own)

        # Pyomo sets the options on the object again and would not know those of relift.
        given = dict(config.solver_options.items())
        for name in given:
            if name in own:
                del config.solver_options[name]
        held.run = run
        try:
            results = super()._solve(*arguments, **words)
            results.solver_version = _VERSION
            return results
        finally:
            del held.run
            for name, value in given.items():
                config.solver_options[name] = value

    def _pass_quadratic_part(self) -> None:
        """Pass the quadratic part anew: Pyomo leaves that of an earlier objective where the present one has none."""
        held = self._solver_model
        n = held.getNumCol()
        if n and held.getModel().hessian_.dim_:
            starts = np.zeros(n, dtype=np.int32)
            with changed_for_a_while(held, output_flag=False):  # it remarks that this one is empty
                held.passHessian(n, 0, 1, starts, starts[:0], np.zeros(0))
            self._mutable_objective._build_and_pass_hessian()

    def _name_columns(self) -> None:
        """Let errors name the variables."""
        for number, held in self._pyomo_var_to_solver_var_map.items():
            self._solver_model.passColName(held, str(self._vars[number][0].name))


def register() -> None:
    """Add ``"relift"`` to the solvers of Pyomo; once more changes nothing."""
    SolverFactory.register(name=NAME, legacy_name=NAME, doc="relift: lifted linear and quadratic programs")(Relift)


def unregister() -> None:
    """Take ``"relift"`` out of the solvers of Pyomo again."""
    for factory in (SolverFactory, LegacySolverFactory):
        factory.unregister(NAME)


register()
