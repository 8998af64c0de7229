"""Solutions as Gurobi writes and reads them (``.sol``): a line for the objective, then a name and a value in each line.

The format has no dual values. :func:`relift.formats.solutions.read_solution` reads it as it reads relift's own text.
"""

from __future__ import annotations

from relift.errors import FileFormatError
from relift.formats.mps_writer import decimal, decimals
from relift.formats.names import names_for_mps
from relift.program.program import Program
from relift.program.solution import Solution, Status


def gurobi_text(program: Program, solution: Solution) -> str:
    """Put the point of an answer into Gurobi's layout.

    Parameters
    ----------
    program
        What it answers; names that MPS cannot hold are replaced as in MPS files.
    solution
        The answer.

    Raises
    ------
    FileFormatError
        If there is no point to write.

    Examples
    --------
    >>> import numpy as np
    >>> program = Program(q=[1.0, 2.0], variable_names=["x", "y"], lb=0)
    >>> print(gurobi_text(program, Solution(Status.OPTIMAL, x=np.array([0.5, 0.0]))), end="")
    # Objective value = 0.5
    x 0.5
    y 0
    """
    if solution.x is None or solution.status in {Status.INFEASIBLE, Status.FAILURE}:
        raise FileFormatError(
            f"a solution file of Gurobi holds a point, and the status is {solution.status}.", "Write .json instead."
        )
    lines = [f"# Objective value = {decimal(program.objective(solution.x))}"]
    values = zip(names_for_mps(program).variables, decimals(solution.x), strict=True)
    return "\n".join([*lines, *(f"{name} {value}" for name, value in values)]) + "\n"
