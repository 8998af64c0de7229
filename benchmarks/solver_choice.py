"""``python -m benchmarks.solver_choice``: every solver on every program after lifting, beside what ``auto`` chooses.

CPU seconds of all threads from the small program to the certified answer of the original one; an answer that is not
certified has no time. Programs are the families of the benchmarks in two sizes, further families of which nothing is
alike, and the real programs of the data folder. Each has a line in the file, with what is known of its structure.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time, thread_time
from typing import Any

import numpy as np

import relift
from benchmarks.data import data_folder, real_programs
from benchmarks.families import FAMILIES
from benchmarks.families.further import FAMILIES as FURTHER
from benchmarks.families.up_to_scale import FAMILIES as UP_TO_SCALE
from benchmarks.large_programs import FAMILIES as LARGE
from benchmarks.large_programs import MORE_FAMILIES
from benchmarks.lp_methods import SIZES, _linear_part
from relift.formats.program_files import read_program
from relift.lifting.lifting import Lifting
from relift.program.program import Program
from relift.solvers.highs_race import INTERIOR_OPTIONS
from relift.solvers.predicted_fill import predicted_fill

MOST_OPERATIONS = 1e9
"""PIQP is not measured where one factorisation costs more."""

SHORT = 0.3
"""Runs shorter than this are repeated."""

NOT_LIFTED = "not lifted: "
"""Before the names of programs with symmetry that are solved as they are."""

WAYS: dict[str, dict[str, Any]] = {
    "auto": {},
    "simplex": {"backend": "highs", "threads": 1, "backend_options": {"solver": "simplex"}},
    "interior": {"backend": "highs", "threads": 1, "backend_options": INTERIOR_OPTIONS},
    "clarabel": {"backend": "clarabel"},
    "clarabel qdldl": {"backend": "clarabel", "backend_options": {"direct_solve_method": "qdldl"}},
    "clarabel faer": {"backend": "clarabel", "backend_options": {"direct_solve_method": "faer"}},
    "piqp": {"backend": "piqp"},
    "osqp": {"backend": "osqp"},
}


@dataclass(frozen=True)
class Line:
    """One program."""

    program: str
    family: str
    kind: str
    facts: dict[str, float]
    cpu: dict[str, float | None]
    caller: dict[str, float | None]
    iterations: dict[str, int | None]
    attempts: list[str]


def programs() -> Iterator[tuple[str, str, Callable[[], Program]]]:
    """Name, family, and how to make the program."""
    for family in (*FAMILIES, *FURTHER, *UP_TO_SCALE):
        sizes = family.sizes if len(family.sizes) > 1 else (max(family.sizes[0] // 3, 2), *family.sizes)
        for size in sizes:
            if not (family.name == "covering design" and size < 6):
                yield f"{family.name} {size}", family.name, partial(family.build, size)
    for family in FAMILIES:
        if family.is_symmetric:
            yield f"{NOT_LIFTED}{family.name} {family.sizes[0]}", family.name, partial(family.build, family.sizes[0])
        for size in () if family.is_symmetric else SIZES.get(family.name, ())[:1]:
            if size not in family.sizes:
                yield f"{family.name} {size}", family.name, partial(family.build, size)
    for name, build in (LARGE | MORE_FAMILIES).items():
        if name != "dense portfolio":
            yield f"large {name} 20000", name, partial(build, 20_000)
    folder = data_folder()
    if folder is None:
        return
    for name, program in real_programs("maros_meszaros"):
        yield f"maros/{name}", "maros/" + re.sub(r"[0-9]+$|_S$", "", name), partial(_given, program)
    for path in sorted((folder / "maros_meszaros").glob("Q[!P]*.npz")):
        yield f"netlib/{path.stem[1:]}", f"netlib/{path.stem[1:]}", partial(_linear_part, path)
    for path in sorted((folder / "energy").glob("*.mps.gz")):
        name = path.name.split(".")[0]
        yield f"energy/{name}", f"energy/{name[:6]}", partial(read_program, path, relax_integers=True)
    for path in sorted((folder / "lp_symmetric").glob("*.npz")):
        yield f"lp_symmetric/{path.stem}", f"lp_symmetric/{path.stem[:3]}", partial(read_program, path)


def _given(program: Program) -> Program:
    return program


def facts_of(program: Program) -> dict[str, float]:
    """What is known of a program before it is solved."""
    start = process_time()
    fill = predicted_fill(program)
    seconds = process_time() - start
    P, A = program.P, program.A
    by_rows, by_columns = A.tocsr(), A.tocsc()
    return {
        "n": program.n_variables, "m": program.n_rows, "nnz_A": A.nnz, "nnz_P": 0 if P is None else P.nnz,
        "curved": 0 if P is None else int(np.count_nonzero(P.diagonal())),
        "entries": -1.0 if fill is None else fill.entries, "operations": -1.0 if fill is None else fill.operations,
        "fill_seconds": seconds, "equalities": int(np.sum(program.l == program.u)),
        "bounded": int(np.sum(np.isfinite(program.lb) | np.isfinite(program.ub))),
        "boxed": int(np.sum(np.isfinite(program.lb) & np.isfinite(program.ub))),
        "longest_row": int(np.diff(by_rows.indptr).max(initial=0)),
        "longest_column": int(np.diff(by_columns.indptr).max(initial=0)),
        "conic": len(program.conic) + len(program.quadratic),
    }  # fmt: skip


def _ways(program: Program) -> list[str]:
    if len(program.conic) or len(program.quadratic):
        return ["auto", "clarabel", "clarabel qdldl"]
    if program.is_linear:
        return ["auto", "simplex", "interior", "clarabel", "clarabel qdldl"]
    return ["auto", "clarabel", "clarabel qdldl", "clarabel faer", "osqp", "piqp"]


def measure(
    name: str, family: str, build: Callable[[], Program], limit: float, repeats: int, kind_wanted: str, only: str
) -> Line | None:
    """All ways of one program; None if it is of another kind than is wanted."""
    lifting = relift.lift(build(), lift="none") if name.startswith(NOT_LIFTED) else relift.lift(build())
    small = lifting.small
    kind = "SOCP" if len(small.conic) or len(small.quadratic) else "LP" if small.is_linear else "QP"
    if kind_wanted not in ("", kind):
        return None
    facts = facts_of(small)
    cpu: dict[str, float | None] = {}
    caller: dict[str, float | None] = {}
    iterations: dict[str, int | None] = {}
    attempts: list[str] = []
    for way in _ways(small):
        if only and way not in only.split(","):
            continue
        settings = dict(WAYS[way])
        best = cpu.get("clarabel")
        if way == "piqp":  # it cannot be stopped by time
            is_long = facts["operations"] > MOST_OPERATIONS
        else:
            is_long = False
            settings["time_limit"] = min(limit, 0.5 + 8 * best) if best and way == "osqp" else limit
        if is_long:
            cpu[way] = caller[way] = None
            continue
        answer, cpu[way], caller[way] = _timed(lifting, settings, repeats)
        iterations[way] = answer.iterations
        if way == "auto":
            attempts = [str(attempt) for attempt in answer.attempts]
    return Line(name, family, kind, facts, cpu, caller, iterations, attempts)


def _timed(lifting: Lifting, settings: dict[str, Any], repeats: int) -> tuple[Any, float | None, float | None]:
    seconds = of_caller = np.inf
    for _ in range(repeats):
        start, start_of_caller = process_time(), thread_time()
        answer = relift.solve(lifting, **settings)
        used = process_time() - start
        of_caller, seconds = min(of_caller, thread_time() - start_of_caller), min(seconds, used)
        if answer.status != "optimal":
            return answer, None, None
        if used > SHORT:
            break
    return answer, seconds, of_caller


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solver_choice", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="", help="only those whose name contains one of these, comma-separated")
    parser.add_argument("--kind", default="", help="LP, QP or SOCP alone")
    parser.add_argument("--ways", default="", help="only these, comma-separated")
    parser.add_argument("--time-limit", type=float, default=8.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file that gets a line of JSON for each program")
    arguments = parser.parse_args()
    wanted = [part.strip() for part in arguments.programs.split(",") if part.strip()]
    done = set()
    if arguments.out is not None and arguments.out.exists():
        done = {json.loads(line)["program"] for line in arguments.out.read_text().splitlines()}
    for name, family, build in programs():
        if name in done or (wanted and not any(part in name for part in wanted)):
            continue
        line = measure(name, family, build, arguments.time_limit, arguments.repeats, arguments.kind, arguments.ways)
        if line is None:
            continue
        shown = {way: None if value is None else round(value, 4) for way, value in line.cpu.items()}
        print(f"{line.kind} {name}", shown, line.attempts if len(line.attempts) > 1 else "", flush=True)
        if arguments.out is not None:
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(line)) + "\n")


if __name__ == "__main__":
    main()
