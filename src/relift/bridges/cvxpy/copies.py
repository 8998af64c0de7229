"""Deep copies of problems that were solved before: what CVXPY compiled for the original is compiled anew for them.

``copy.deepcopy`` gives all variables, parameters and constraints of a problem new numbers, but copies what CVXPY has
compiled as it is, with the old ones: a solve of the copy then ends in a KeyError, whichever solver is used. And to
compile the copy ends the process, since its variables remember forms with the old numbers. So variables are made to
forget these, and copies are recognised by the numbers.
"""

from __future__ import annotations

from typing import Any

from cvxpy import settings as words

_REMEMBERED = "canonical_form"
"""How the names of the attributes end in which leaves of CVXPY remember their forms."""


def forget_forms(compiled: Any) -> None:
    """Make variables and parameters forget forms that a deep copy of them would take over; they are made on demand.

    Parameters
    ----------
    compiled
        A parametrised program of CVXPY.
    """
    for leaf in (*compiled.variables, *compiled.parameters):
        for name in [name for name in vars(leaf) if name.endswith(_REMEMBERED)]:
            delattr(leaf, name)


def is_of_other_variables(compiled: Any) -> bool:
    """Whether what CVXPY has compiled speaks of numbers that its variables or parameters no longer have.

    Parameters
    ----------
    compiled
        A parametrised program of CVXPY.
    """
    tables = (compiled.id_to_var, compiled.id_to_param)
    return any(number != leaf.id for table in tables for number, leaf in table.items())


def compile_anew(problem: Any) -> None:
    """Compile a deep copy of a problem, and put the result where CVXPY looks for it.

    Parameters
    ----------
    problem
        A problem of which what was compiled :func:`is_of_other_variables`.
    """
    data, inverse_data = problem._cache.solving_chain.apply(problem)
    problem._cache.param_prog = data[words.PARAM_PROB]
    problem._cache.inverse_data = inverse_data[:-1]  # the last one is the solver's own, and made for every solve
    problem._solver_cache.clear()
