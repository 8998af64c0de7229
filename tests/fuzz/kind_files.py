"""Files, damaged or spelled otherwise: the same program or a clear error, never another program or a crash."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.draw_programs import drawn_program
from tests.fuzz.mutate import damaged_bytes, damaged_json, damaged_text
from tests.fuzz.other_files import damaged_npz, drawn_points, drawn_tables
from tests.fuzz.outcome import Failure, Outcome
from tests.fuzz.read_by_highs import difference_from_highs
from tests.fuzz.respell import respelled_csv, respelled_lp, respelled_mps

import relift
from relift import Program
from relift.errors import ProgramError, ReliftError
from relift.formats.lifting_map import read_lifting_map, write_lifting_map
from relift.formats.points import read_points
from relift.formats.program_files import read_program, read_program_with_notes, write_program
from relift.formats.solutions import read_solution, write_solution

UNIT = "files"
Random = np.random.Generator
_SHARES = {"mps": 0.36, "lp": 0.16, "npz": 0.1, "solution": 0.14, "map": 0.08, "csv": 0.08, "points": 0.08}


def run(random: Random, folder: Path) -> Outcome:
    """One file of one kind, changed in one way."""
    outcome = Outcome()
    kind = str(random.choice(list(_SHARES), p=list(_SHARES.values())))
    outcome.count(kind)
    _RUN[kind](random, folder, outcome)
    return outcome


def _tiny_program(random: Random, linear: bool = False) -> Program:
    """A program that files can hold."""
    while True:
        draft = drawn_program(random)
        if draft.cones or (linear and not draft.is_linear) or draft.n > 12:
            continue
        with contextlib.suppress(ProgramError):
            return draft.program()


def _named(program: Program, random: Random) -> Program:
    if random.random() < 0.5:
        return program
    names = ["x", "RHS", "cost_1", "E5", "1.5", "name with blanks", "Ü", "end", "free", "-", "a,b"]
    picked = [f"{names[int(random.integers(len(names)))]}_{j}" for j in range(program.n_variables)]
    return program.replace(variable_names=picked)


def _attempt(outcome: Outcome, what: str, path: Path, read: Callable[[], Any]) -> Any:
    """Read; an error of relift is an answer, any other exception is a failure."""
    try:
        found = read()
    except ReliftError as error:
        outcome.count(f"{what} refused")
        if any(ord(sign) < 32 and sign not in "\n\t" for sign in str(error)):
            _fail(outcome, f"{what}: control characters in the error", repr(str(error)), path)
        return None
    except OSError as error:
        outcome.count(f"{what} refused")
        del error
        return None
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        _fail(outcome, f"{what}: {type(error).__name__}", f"{type(error).__name__}: {error}", path)
        return None
    outcome.count(f"{what} accepted")
    return found


def _fail(outcome: Outcome, signature: str, sentence: str, path: Path) -> None:
    data = path.read_bytes()
    outcome.failures.append(
        Failure(signature, sentence, f"open({path.name!r}, 'wb').write({data!r})\n# read it as {signature}\n")
    )


def _model_file(random: Random, folder: Path, outcome: Outcome, suffix: str) -> None:
    program = _named(_tiny_program(random, linear=suffix == "lp" and random.random() < 0.7), random)
    clean, path = folder / f"clean.{suffix}", folder / f"changed.{suffix}"
    try:
        notes = write_program(program, clean)
    except ReliftError:
        outcome.count(f"{suffix} not writable")
        return
    text = clean.read_text(encoding="utf-8")
    wanted = _attempt(outcome, f"{suffix} clean", clean, lambda: read_program(clean))
    if wanted is None:
        error = _error_of(lambda: read_program(clean))
        _fail(outcome, f"{suffix} clean: what relift has written is refused", error, clean)
        return
    difference = "" if notes else _difference(program, wanted)
    if difference:
        _fail(outcome, f"{suffix} clean: what relift has written is another program", difference, clean)
    if random.random() < 0.4:
        changed, how = (respelled_mps if suffix == "mps" else respelled_lp)(text, random)
        path.write_bytes(changed.encode())
        found = _attempt(outcome, f"{suffix} respelled", path, lambda: read_program(path))
        if found is None:
            sentence = f"{how}: {_error_of(lambda: read_program(path))}"
            _fail(outcome, f"{suffix} respelled: refused", sentence, path)
        elif found != wanted:
            sentence = f"{how}: {_difference(wanted, found) or 'other names'}"
            _fail(outcome, f"{suffix} respelled: another program", sentence, path)
    else:
        if random.random() < 0.8:
            path.write_bytes(damaged_text(text, random).encode())
        else:
            path.write_bytes(damaged_bytes(text.encode(), random))
        found = _attempt(outcome, f"{suffix} damaged", path, lambda: read_program(path))
    if found is not None and _notes(path):
        outcome.count(f"{suffix} accepted with a note")  # such as a second set of bounds, which HiGHS adds to the first
    elif found is not None:
        difference = difference_from_highs(path, found)
        if difference:
            _fail(outcome, f"{suffix}: not as HiGHS reads it ({difference.split()[0]})", difference, path)
    if random.random() < 0.05:
        _by_command_line(outcome, suffix, path, ["solve", str(path), "--json"])


def _notes(path: Path) -> tuple[str, ...]:
    """What relift says about parts of a file that it did not use."""
    return read_program_with_notes(path)[1]


def _difference(one: Program, other: Program) -> str:
    """The first part in which two programs differ, names left out."""
    for name in ("n_variables", "n_rows", "sense", "r"):
        if getattr(one, name) != getattr(other, name):
            return f"{name} is {getattr(other, name)}, not {getattr(one, name)}"
    for name in ("q", "l", "u", "lb", "ub"):
        values, others = getattr(one, name), getattr(other, name)
        if not np.array_equal(values, others):
            at = int(np.flatnonzero(values != others)[0])
            return f"{name}[{at}] is {others[at]!r}, not {values[at]!r}"
    nameless = [program.replace(variable_names=None, row_names=None) for program in (one, other)]
    return "" if nameless[0] == nameless[1] else "a matrix differs"


def _error_of(read: Callable[[], Any]) -> str:
    try:
        read()
    except Exception as error:  # noqa: BLE001 - only its text is wanted
        return str(error)
    return ""


def _npz(random: Random, folder: Path, outcome: Outcome) -> None:
    program = _named(_tiny_program(random), random)
    clean, path = folder / "clean.npz", folder / "changed.npz"
    if len(program.quadratic):
        outcome.count("npz not writable")
        return
    write_program(program, clean)
    wanted = _attempt(outcome, "npz clean", clean, lambda: read_program(clean))
    if wanted is None or _difference(program, wanted):
        _fail(outcome, "npz clean: what relift has written is another program", f"{program} became {wanted}", clean)
    is_same = damaged_npz(clean, path, random)
    found = _attempt(outcome, "npz respelled" if is_same else "npz damaged", path, lambda: read_program(path))
    if is_same and (found is None or found != wanted):
        _fail(outcome, "npz respelled: another program", f"{wanted} became {found}", path)
    if found is not None:
        _attempt(outcome, "npz used", path, lambda: relift.solve(found))


def _solution(random: Random, folder: Path, outcome: Outcome) -> None:
    program = _named(_tiny_program(random, linear=True), random)
    result = relift.solve(program)
    suffix = str(random.choice(["json", "json", "txt", "sol"]))
    clean, path = folder / f"clean.{suffix}", folder / f"changed.{suffix}"
    write_solution(result, clean)
    text = clean.read_text(encoding="utf-8")
    changed = damaged_json(text, random) if suffix == "json" else damaged_text(text, random)
    path.write_bytes(changed.encode("utf-8", "surrogatepass"))
    found = _attempt(outcome, f"solution .{suffix} damaged", path, lambda: read_solution(path, program))
    if found is not None:
        _attempt(outcome, f"solution .{suffix} used", path, lambda: relift.certify(program, found))
    if random.random() < 0.05:
        write_program(program, folder / "model.npz")
        _by_command_line(outcome, "solution", path, ["check", str(folder / "model.npz"), str(path)])


def _map(random: Random, folder: Path, outcome: Outcome) -> None:
    program = _tiny_program(random, linear=True)
    model, clean, path = folder / "model.npz", folder / "map.json", folder / "changed.json"
    write_program(program, model)
    lifting = relift.lift(program)
    write_lifting_map(lifting, clean, model)
    path.write_bytes(damaged_json(clean.read_text(encoding="utf-8"), random).encode("utf-8", "surrogatepass"))
    found = _attempt(outcome, "map damaged", path, lambda: read_lifting_map(path))
    if found is not None:
        _attempt(outcome, "map used", path, lambda: found.check(lifting, str(path)))
    if random.random() < 0.1:
        small = folder / "small.json"
        write_solution(relift.solve(lifting.small), small)
        _by_command_line(outcome, "map", path, ["expand", str(path), str(small)])


def _grounded(text: str, folder: Path) -> tuple[Program, list[str], list[str]]:
    with relift.ground_model(text, folder, limit=100_000) as grounded:
        program = grounded.program
        names = list(program.variable_names or ()), list(program.row_names or ())
        return program.replace(variable_names=None, row_names=None), *names


def _csv(random: Random, folder: Path, outcome: Outcome) -> None:
    text, tables = drawn_tables(random)
    for name, table in tables.items():
        (folder / f"{name}.csv").write_bytes(table.encode())
    name = str(random.choice(list(tables)))
    path = folder / f"{name}.csv"
    is_same = bool(random.random() < 0.35)
    wanted = _grounded(text, folder) if is_same else None
    if is_same:
        changed, how = respelled_csv(tables[name], random)
    else:
        changed, how = damaged_text(tables[name], random), "damaged"
    path.write_bytes(changed.encode("utf-8", "surrogatepass"))
    read = lambda: _grounded(text, folder)  # noqa: E731
    found = _attempt(outcome, "csv respelled" if is_same else "csv damaged", path, read)
    if is_same and found is None:
        _fail(outcome, "csv respelled: refused", f"{how}: {_error_of(read)}", path)
    elif wanted is not None and found != wanted:
        _fail(outcome, "csv respelled: another program", f"{how}: {wanted[0]} became {found[0]}", path)


def _points(random: Random, folder: Path, outcome: Outcome) -> None:
    name, data, wanted = drawn_points(random)
    path = folder / name
    path.write_bytes(data)
    found = _attempt(outcome, "points clean", path, lambda: read_points(path))
    if found is None or not np.array_equal(found, wanted):
        _fail(outcome, "points clean: other points", f"{found} instead of {wanted}", path)
    path.write_bytes(damaged_bytes(data, random))
    _attempt(outcome, "points damaged", path, lambda: read_points(path))


def _by_command_line(outcome: Outcome, what: str, path: Path, words: list[str]) -> None:
    """The command line ends with a code of its own and a sentence, whatever the file holds."""
    from relift.cli.run import run as run_command

    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = run_command(words)
    outcome.count("by command line")
    if code not in {0, 2, 3, 4, 5, 6} or "something unexpected" in said.getvalue() or "Traceback" in said.getvalue():
        sentence = f"relift {words[0]} ends with {code}: {said.getvalue()}"
        _fail(outcome, f"{what} by command line: {said.getvalue()[:60]}", sentence, path)
    if "--json" in words and printed.getvalue():
        json.loads(printed.getvalue())


_RUN: dict[str, Callable[[Random, Path, Outcome], None]] = {
    "mps": lambda random, folder, outcome: _model_file(random, folder, outcome, "mps"),
    "lp": lambda random, folder, outcome: _model_file(random, folder, outcome, "lp"),
    "npz": _npz, "solution": _solution, "map": _map, "csv": _csv, "points": _points,
}  # fmt: skip
