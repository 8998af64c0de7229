"""kill -9 while a file is written: the old file or the new one, whole; the next run is not disturbed by the rest."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.children import Children

import relift
from relift.formats.lifting_map import read_lifting_map
from relift.formats.program_files import read_program
from relift.formats.solutions import read_solution
from relift.language.checks.check_model import check_text

OLD = b"an older file\n"
PICTURE = """
import numpy as np
from relift.report.plot_points import plot_points
plot_points(np.eye(2), np.zeros(2), "classes.png")
"""


def _is_solution(path: Path) -> bool:
    return read_solution(path, read_program(path.parent / "model.mps")).x is not None


def _is_table(path: Path) -> bool:
    return len(path.read_text(encoding="utf-8").splitlines()) == 5


WRITERS: dict[str, tuple[tuple[str, ...] | str, str, Callable[[Path], object]]] = {
    "a solution as JSON": (("solve", "model.mps", "-o", "new.json"), "new.json", _is_solution),
    "a solution as text": (("solve", "model.mps", "-o", "new.txt"), "new.txt", _is_solution),
    "a small model as MPS": (("lift", "model.mps", "-o", "new.mps"), "new.mps", read_program),
    "a small model, packed": (("lift", "model.mps", "-o", "new.mps.gz"), "new.mps.gz", read_program),
    "a small model as LP": (("lift", "model.mps", "-o", "new.lp"), "new.lp", read_program),
    "a small model as npz": (("lift", "model.mps", "-o", "new.npz"), "new.npz", read_program),
    "a map": (("lift", "model.mps", "--map", "new.json"), "new.json", read_lifting_map),
    "an expanded answer": (("expand", "map.json", "small.json", "-o", "new.json"), "new.json", _is_solution),
    "a table of values": (
        ("solve", "model.rlp", "--data", "tables", "--out", "results"), "results/ship.csv", _is_table
    ),
    "a table from inside of an engine": (
        ("solve", "model.rlp", "--data", "tables", "--out", "results", "--lift-in-engine"),
        "results/ship.csv",
        _is_table,
    ),
    "a ground program": (("ground", "model.rlp", "--data", "tables", "-o", "new.mps"), "new.mps", read_program),
    "a formatted model": (
        ("fmt", "-w", "model.rlp"), "model.rlp", lambda path: check_text(path.read_text(encoding="utf-8"))
    ),
    "a picture": (PICTURE, "classes.png", lambda path: path.read_bytes().startswith(b"\x89PNG")),
}  # fmt: skip


@pytest.mark.parametrize("writer", WRITERS)
def test_a_killed_process_leaves_the_old_file_or_the_new_one(writer: str, children: Children, place: Path) -> None:
    work, name, is_whole = WRITERS[writer]
    if writer == "a picture":
        pytest.importorskip("matplotlib")
    given = {"code": work} if isinstance(work, str) else {}
    words = () if isinstance(work, str) else work
    target = place / name
    target.parent.mkdir(exist_ok=True)
    if name != "model.rlp":
        target.write_bytes(OLD)
    old = target.read_bytes()
    for point, after in (("os:fsync", False), ("os:replace", False), ("os:replace", True)):
        ended = children.run(*words, **given, point=point, signal=signal.SIGKILL, after=after, folder=str(place))
        assert ended.code == -signal.SIGKILL, (point, ended)
        if after:
            assert target.read_bytes() != old
            assert is_whole(target)
        else:
            assert target.read_bytes() == old
    ended = children.run(*words, **given, folder=str(place))
    assert ended.code == 0, ended.err
    assert is_whole(target)


def test_solution_json_is_the_last_file_of_a_folder(children: Children, place: Path) -> None:
    """Whoever waits for it finds all tables of the same answer."""
    words = ("solve", "model.rlp", "--data", "tables", "--out", "results")
    for nth in range(1, 4):
        children.run(*words, point="os:replace", signal=signal.SIGKILL, nth=nth, after=True, folder=str(place))
        assert not (place / "results" / "solution.json").exists()
    children.run(*words, point="os:replace", signal=signal.SIGKILL, nth=4, after=True, folder=str(place))
    assert (place / "results" / "solution.json").exists()


def test_every_module_writes_files_in_this_way() -> None:
    """No open() for writing, write_text, write_bytes or savefig with a path elsewhere in relift."""
    import ast

    root = Path(relift.__file__).parent
    allowed = {
        "atomic.py": "this is the way",
        "cli/run.py": "os.devnull",
        "cli/closed_pipes.py": "os.devnull",
        "cli/highs_command.py": "a log that is added to, as HiGHS does",
        "bridges/apart.py": "what two processes tell each other, in a folder of its own",
        "tables/sources/csv_layout.py": "a copy for DuckDB in a folder of its own",
    }
    found = []
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _writes(node) and name not in allowed:
                found.append(f"{name}:{node.lineno}")
    assert found == []


def _writes(call: object) -> bool:
    import ast

    assert isinstance(call, ast.Call)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in {"write_text", "write_bytes", "write_html", "to_csv", "to_parquet", "tofile"}:
        return True
    if name != "open":
        return False
    words = [*call.args, *(keyword.value for keyword in call.keywords)]
    modes = [w.value for w in words if isinstance(w, ast.Constant) and isinstance(w.value, str)]
    return any(set(mode) <= set("rwabx+t") and set(mode) & set("wax") for mode in modes)
