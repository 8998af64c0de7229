"""``relift check``: the residuals of any solution, or the statements of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from relift.cli import models
from relift.cli.exit_codes import EXIT_FAILURE, leave
from relift.cli.models import (
    DataOption,
    EngineOption,
    HeaderOption,
    ModelArguments,
    ParamOption,
    SchemaOption,
)
from relift.cli.options import (
    JsonOption,
    MaxBytesOption,
    ModelArgument,
    QuietOption,
    RelaxOption,
    ToleranceOption,
)
from relift.cli.screen import show
from relift.cli.words import Argument
from relift.cli.work import print_json, read_model
from relift.errors import OptionError

if TYPE_CHECKING:
    from relift.lifting.certificate import Certificate
    from relift.program.solution import Solution


def check_command(
    model: ModelArgument,
    solution: Annotated[
        Path | None,
        Argument(metavar="SOLUTION", help="What `relift solve -o` wrote: .json, .txt or .sol."),
    ] = None,
    data: DataOption = None,
    param: ParamOption = None,
    engine: EngineOption = None,
    schema: SchemaOption = None,
    header: HeaderOption = None,
    tol: ToleranceOption = 1e-6,
    relax: RelaxOption = False,
    max_bytes: MaxBytesOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Recompute the residuals of a solution; or check a .rlp model (with --data its tables too).

    Exit code 0 only if all is right.
    """
    if models.is_relational(model):
        from relift.formats.program_files import SUFFIXES

        if solution is not None and solution.name.lower().endswith(SUFFIXES):
            raise OptionError("the model comes first, then its solution.", f"Write: relift check {solution} {model}.")
        if solution is not None:
            raise OptionError(
                "a .rlp model is checked by itself.", "Write it with `relift ground` to check a solution."
            )
        words = ModelArguments(model, data, param or (), engine=engine, schema=schema, header=header or ())
        models.check_model_command(words, as_json, quiet)
        return
    models.refuse_for_programs(model, data=data, param=param, engine=engine, schema=schema, header=header)
    if solution is None:
        raise OptionError("the solution to check is missing.", "Write: relift check MODEL SOLUTION.")
    from relift.formats.solutions import (
        certificate_for_json,
        number_for_json,
        read_solution,
        with_bound_duals,
    )
    from relift.lifting.certificate import certify
    from relift.settings import SolverSettings

    SolverSettings(tol)
    program, _ = read_model(model, relax, quiet, max_bytes)
    answer = with_bound_duals(program, read_solution(solution, program))
    certificate = certify(program, answer, tol)
    passed, what = verdict(answer, certificate)
    if as_json:
        print_json(
            {
                "format": "relift-check",
                "version": 1,
                "status": str(answer.status),
                "passed": passed,
                "objective": number_for_json(certificate.objective),
                "certificate": certificate_for_json(certificate),
                "message": what,
            }
        )
    elif not quiet:
        from relift.report.summary import certificate_line

        show(certificate_line(certificate, answer.status), what)
    leave(0 if passed else EXIT_FAILURE)


def verdict(answer: Solution, certificate: Certificate) -> tuple[bool, str]:
    """Whether an answer passes its check, and what to say about it."""
    from relift.program.solution import Status

    if answer.status == Status.INFEASIBLE:
        passed = certificate.is_proved
        return (
            passed,
            "the model is infeasible: the ray proves it" if passed else "the ray does not prove infeasibility",
        )
    if answer.status == Status.UNBOUNDED:
        passed = certificate.is_proved and certificate.is_feasible
        return passed, (
            "the model is unbounded: point and ray prove it" if passed else "point and ray do not prove unboundedness"
        )
    if certificate.is_optimal:
        return True, f"optimal within the tolerance, objective {certificate.objective:.10g}"
    if not certificate.is_feasible:
        return False, "the point breaks rows or bounds"
    if answer.y is None or answer.w is None:
        return False, "the point is feasible; optimality needs dual values, and the file has none"
    return False, "the point is feasible, but the dual values do not prove it optimal"
