"""Answers: expanded and restricted, written and read, solved elsewhere and carried back; each must pass its check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.fuzz.draft import Draft
from tests.fuzz.draw_programs import drawn_program
from tests.fuzz.outcome import Failure, Outcome
from tests.fuzz.shrink import shrunk

import relift
from relift import Program
from relift.errors import ProgramError
from relift.formats.lifting_map import named_small_program, read_lifting_map, read_small_solution, write_lifting_map
from relift.formats.program_files import read_program, write_program
from relift.formats.solutions import read_solution, with_bound_duals, write_solution
from relift.lifting.certificate import certify

UNIT = "answers"


def run(random: np.random.Generator, folder: Path) -> Outcome:
    """One answered program through one round trip."""
    outcome = Outcome()
    draft = drawn_program(random)
    trip = str(random.choice(list(_TRIPS)))
    try:
        draft.program()
    except ProgramError:
        outcome.count("refused")
        return outcome
    outcome.count(trip)
    problem = _problem(draft, trip, folder, outcome)
    if problem:
        small = shrunk(draft, lambda smaller: bool(_problem(smaller, trip, folder, Outcome())))
        problem = _problem(small, trip, folder, Outcome()) or problem
        signature = f"{trip}: {problem.split(':')[0]}"
        outcome.failures.append(Failure(signature, problem, f"{small.code()}# {trip}: tests/fuzz/kind_solutions.py\n"))
    return outcome


def _problem(draft: Draft, trip: str, folder: Path, outcome: Outcome) -> str:
    try:
        program = draft.program()
    except ProgramError:
        return ""
    result = relift.solve(program)
    if result.status not in {"optimal", "infeasible", "unbounded"}:
        outcome.count("no answer")
        return ""
    try:
        return _TRIPS[trip](program, result, folder)
    except Exception as error:  # noqa: BLE001 - no trip may raise
        return f"{type(error).__name__}: {error}"


def _unlike(program: Program, before: relift.Result, after: relift.Solution, rounding: float = 0.0) -> str:
    """How an answer that has come back is worse than it was."""
    for name in ("x", "y", "w", "ray_x", "ray_y"):
        old, new = getattr(before, name), getattr(after, name)
        if (old is None) != (new is None):
            return f"{name}: {'lost' if new is None else 'new'}"
        if old is not None and not np.allclose(old, new, rtol=rounding, atol=0.0, equal_nan=True):
            return f"{name}: {new.tolist()} instead of {old.tolist()}"
    again = certify(program, after)
    if before.status == "optimal" and not again.is_optimal:
        return f"certificate: {again}"
    return ""


def _through_json(program: Program, result: relift.Result, folder: Path) -> str:
    write_solution(result, folder / "answer.json")
    return _unlike(program, result, read_solution(folder / "answer.json", program))


def _through_text(program: Program, result: relift.Result, folder: Path) -> str:
    if len(program.conic) or len(program.quadratic) or result.status != "optimal":
        return ""  # plain text holds a point with the dual values of rows
    write_solution(result, folder / "answer.txt")
    found = with_bound_duals(program, read_solution(folder / "answer.txt", program))
    if not np.array_equal(found.x, result.x):
        return f"x: {found.x} instead of {result.x}"
    again = certify(program, found, 1e-5)
    return "" if again.is_optimal else f"certificate: {again}"


def _restrict_and_expand(program: Program, result: relift.Result, folder: Path) -> str:
    """The average over classes of an optimal point is optimal too (Theorem 1), with the same objective."""
    if result.status != "optimal":
        return ""
    ground = relift.solve(program, lift="none")
    if ground.status != "optimal":
        return ""
    lifting = relift.lift(program, reduce=False)
    averaged = lifting.expand(lifting.restrict(ground.solution))
    again = certify(program, averaged, 1e-4)
    if again.primal_residual > 1e-4:
        return f"the average is not feasible: {again}"
    scale = max(1.0, abs(ground.objective - program.r))
    if abs(averaged.objective - ground.objective) > 1e-4 * scale:
        return f"the average has another objective: {averaged.objective} instead of {ground.objective}"
    return ""


def _solved_elsewhere(program: Program, result: relift.Result, folder: Path) -> str:
    """Lift to a file, solve what the file holds, expand by the map."""
    if len(program.conic) or len(program.quadratic) or result.status != "optimal":
        return ""
    model, small_model = folder / "model.npz", folder / "small.npz"
    write_program(program, model)
    lifting = relift.lift(program)
    write_program(named_small_program(lifting), small_model)
    write_lifting_map(lifting, folder / "map.json", model)
    if lifting.small.n_variables == 0:
        return ""
    small = relift.solve(read_program(small_model), lift="none", reduce=False)
    if small.status != "optimal":
        return ""
    write_solution(small, folder / "small.json")
    found = read_lifting_map(folder / "map.json")
    again = relift.lift(read_program(model), lift=found.settings.lift)
    found.check(again, "map.json")
    expanded = again.expand(read_small_solution(folder / "small.json", again))
    certificate = certify(program, expanded, 1e-5)
    if certificate.primal_residual > 1e-5:
        return f"the expanded point is not feasible: {certificate}"
    scale = max(1.0, abs(result.objective - program.r))
    if abs(expanded.objective - result.objective) > 1e-4 * scale:
        return f"the expanded point has another objective: {expanded.objective} instead of {result.objective}"
    return ""


_TRIPS = {
    "json and back": _through_json, "text and back": _through_text, "restrict and expand": _restrict_and_expand,
    "solved elsewhere": _solved_elsewhere,
}  # fmt: skip
