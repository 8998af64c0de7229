"""``python -m benchmarks.lp_methods``: simplex, interior point, and what relift makes of the two, on linear programs.

Each program is solved as it is, without lifting, by HiGHS with its own defaults; by simplex alone and by interior point
without crossover alone, with the tolerances that relift asks for; by both in turns (``threads=1``) and by both at the
same time (``threads=2``). Seconds of CPU of all threads, and of the thread that calls, which are what the clock shows
where a second core is free, also on a machine that is busy. The smallest of several repeats where a run is short. A run
that does not end within the limit counts with the limit; the objectives of the others are compared.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import process_time, thread_time

import highspy

import relift
from benchmarks.data import data_folder
from benchmarks.families import FAMILIES
from benchmarks.large_programs import FAMILIES as LARGE
from relift.formats.program_files import read_program
from relift.program.program import Program
from relift.program.solution import Status
from relift.settings import SolverSettings
from relift.solvers.highs_ import HighsBackend, load

SIZES = {
    "optimal transport on a torus": (16, 20), "optimal transport": (20,), "MAP-LP on a torus": (80, 140),
    "MAP-LP of noisy pixels": (60,), "assignment by skills": (300,), "assignment": (400,), "transport": (400,),
    "transport, all different": (400,), "covering design": (12, 13), "identical commodities": (1000,),
    "multi-commodity flow": (400,), "repeated scenarios": (2000,), "stochastic LP": (1000,),
    "machine repair MDP": (11,), "security game by kinds": (50,), "security game": (50,), "random LP": (1500, 2500),
}  # fmt: skip
"""The linear families, larger than in the table of ground against lifted."""

SHORT = 0.3
"""Runs shorter than this are repeated."""

WAYS = ("default", "simplex", "interior", "turns", "race")


@dataclass(frozen=True)
class Line:
    """One program; seconds, None where a method found no optimum within the limit or at all."""

    program: str
    n_variables: int
    n_rows: int
    n_nonzeros: int
    cpu: dict[str, float | None]
    caller: dict[str, float | None]


def programs() -> Iterator[tuple[str, Callable[[], Program]]]:
    """Names and how to make the programs: families, large ones, and the real ones of the data folder."""
    for family in FAMILIES:
        for size in SIZES.get(family.name, ()):
            yield f"{family.name} {size}", partial(family.build, size)
    for name, build in LARGE.items():
        if name != "dense portfolio":
            yield f"{name} 100000", partial(build, 100_000)
    folder = data_folder()
    if folder is None:
        return
    for path in sorted((folder / "energy").glob("*.mps.gz")):
        yield f"energy/{path.name.split('.')[0]}", partial(read_program, path, relax_integers=True)
    for path in sorted((folder / "lp_symmetric").glob("*.npz")):
        yield f"lp_symmetric/{path.stem}", partial(read_program, path)
    for path in sorted((folder / "maros_meszaros").glob("Q[!P]*.npz")):  # linear programs of Netlib with a matrix added
        yield f"netlib/{path.stem[1:]}", partial(_linear_part, path)


def _linear_part(path: Path) -> Program:
    whole = read_program(path)
    return Program(q=whole.q, A=whole.A, l=whole.l, u=whole.u, lb=whole.lb, ub=whole.ub, r=whole.r)


def _default(program: Program, limit: float) -> float | None:
    """The objective by HiGHS as it comes."""
    highs = load(program, SolverSettings())
    plain = highspy.Highs()
    plain.setOptionValue("output_flag", False)
    plain.setOptionValue("time_limit", limit)
    plain.passModel(highs.getLp())  # type: ignore[attr-defined]
    plain.run()
    is_solved = plain.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(plain.getInfo().objective_function_value) if is_solved else None


def _by_backend(program: Program, limit: float, **settings: object) -> float | None:
    answer = HighsBackend().solve(program, SolverSettings(time_limit=limit, **settings))  # type: ignore[arg-type]
    return answer.objective if answer.status is Status.OPTIMAL else None


def _way(name: str, program: Program, limit: float) -> Callable[[], float | None]:
    interior = {"solver": "ipm", "run_crossover": "off"}
    ways: dict[str, Callable[[], float | None]] = {
        "default": partial(_default, program, limit),
        "simplex": partial(_by_backend, program, limit, threads=1, options={"solver": "simplex"}),
        "interior": partial(_by_backend, program, limit, threads=1, options=interior),
        "turns": partial(_by_backend, program, limit, threads=1),
        "race": partial(_by_backend, program, limit, threads=2),
    }
    return ways[name]


def measure(name: str, program: Program, limit: float, repeats: int) -> Line:
    """All ways of one program."""
    cpu: dict[str, float | None] = {}
    caller: dict[str, float | None] = {}
    objectives: dict[str, float] = {}
    for way in WAYS:
        seconds, of_caller, solve = math.inf, math.inf, _way(way, program, limit)
        for _ in range(repeats):
            start, start_of_caller = process_time(), thread_time()
            objective = solve()
            used = process_time() - start
            of_caller, seconds = min(of_caller, thread_time() - start_of_caller), min(seconds, used)
            if objective is None or used > SHORT:
                break
        cpu[way], caller[way] = (None, None) if objective is None else (seconds, of_caller)
        if objective is not None:
            objectives[way] = objective
    known = next(iter(objectives.values()), 0.0)
    wrong = {way: value for way, value in objectives.items() if abs(value - known) > 1e-5 * max(1.0, abs(known))}
    if wrong:
        raise SystemExit(f"{name}: objectives differ: {objectives}.")
    return Line(name, program.n_variables, program.n_rows, program.n_nonzeros, cpu, caller)


def ratios(lines: list[dict[str, dict[str, float | None]]], limit: float) -> dict[str, tuple[float, float, str]]:
    """For each way: total and worst ratio to the better of simplex and interior point, and where it is worst.

    Parameters
    ----------
    lines
        Measurements.
    limit
        What a run that did not end counts. Programs that all ways solve in less than a tenth of a second do not count
        for the worst.
    """
    found = {}
    for way, kind in (*((way, "cpu") for way in WAYS), ("race", "caller")):
        rows = []
        for line in lines:
            alone = [line[kind][name] for name in ("simplex", "interior")]
            better = min(limit if each is None else each for each in alone)
            own = line[kind][way]
            rows.append((limit if own is None else own, better, str(line["program"])))
        worst = max((own / better, name) for own, better, name in rows if max(own, better) >= 0.1)
        key = way if kind == "cpu" else f"{way}, thread that calls"
        found[key] = (sum(row[0] for row in rows) / sum(row[1] for row in rows), *worst)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lp_methods", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="", help="only those whose name contains one of these, comma-separated")
    parser.add_argument("--time-limit", type=float, default=30.0, help="seconds for one solve")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file for the figures, as JSON")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        program = dict(programs())[arguments.one]().minimisation()
        print(json.dumps(asdict(measure(arguments.one, program, arguments.time_limit, arguments.repeats))))
        return
    wanted = [part.strip() for part in arguments.programs.split(",") if part.strip()]
    lines = []
    for name, _ in programs():
        if wanted and not any(part in name for part in wanted):
            continue
        limits = ["--time-limit", str(arguments.time_limit), "--repeats", str(arguments.repeats)]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.lp_methods", "--one", name, *limits],
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        lines.append(json.loads(done.stdout.splitlines()[-1]))
        shown = {way: None if value is None else round(value, 3) for way, value in lines[-1]["cpu"].items()}
        print(name, shown, "caller of the race", lines[-1]["caller"]["race"], flush=True)
    for way, (total, worst, where) in ratios(lines, arguments.time_limit).items():
        print(f"{way}: {total:.2f} times the better of the two in total, {worst:.1f} at worst ({where})")
    if arguments.out is not None:
        facts = {"relift": relift.__version__, "python": platform.python_version(), "limit": arguments.time_limit}
        arguments.out.write_text(json.dumps({"facts": facts, "measurements": lines}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
