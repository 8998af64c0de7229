"""Arrays, tables and point sets for the fuzzer of files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.mutate import damaged_bytes

Random = np.random.Generator

MODEL = """param supply/1, demand/1, cost/2;
var ship(P,C) in cost(P,C) >= 0;
minimize total: sum{P,C in cost(P,C)} cost(P,C)*ship(P,C);
subject to met forall {C in demand(C)}: sum{P in cost(P,C)} ship(P,C) >= demand(C);
subject to stock forall {P in supply(P)}: sum{C in cost(P,C)} ship(P,C) <= supply(P);
"""


def drawn_tables(random: Random) -> tuple[str, dict[str, str]]:
    """A model and its tables as CSV texts."""
    plants = [f"p{k}" for k in range(int(random.integers(1, 5)))]
    cities = [str(name) for name in random.permutation(["rome", "oslo", "São Paulo", "kiel", "a b"])[:3]]
    number = lambda: f"{random.choice([1, 2.5, 0.1, 100, 3e-5])}"  # noqa: E731
    supply = "\n".join(["P,value", *(f"{p},{number()}" for p in plants)])
    demand = "\n".join(["C,value", *(f"{c},{number()}" for c in cities)])
    cost = "\n".join(["P,C,value", *(f"{p},{c},{number()}" for p in plants for c in cities if random.random() < 0.8)])
    return MODEL, {"supply": supply + "\n", "demand": demand + "\n", "cost": cost + "\n"}


def damaged_npz(clean: Path, path: Path, random: Random) -> bool:
    """Write an archive with another content or another form; True if only the form differs."""
    choice = int(random.integers(4))
    if choice == 0:
        path.write_bytes(damaged_bytes(clean.read_bytes(), random))
        return False
    with np.load(clean) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if choice == 1:
        names = [str(name) for name in random.permutation(list(arrays))]
        buffer = io.BytesIO()
        (np.savez if random.random() < 0.5 else np.savez_compressed)(buffer, **{name: arrays[name] for name in names})
        path.write_bytes(buffer.getvalue())
        return True
    for _ in range(int(random.integers(1, 3))):
        name = str(random.choice(list(arrays)))
        arrays[name] = _damaged_array(arrays[name], random)
        if random.random() < 0.1:
            del arrays[name]
            break
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    path.write_bytes(buffer.getvalue())
    return False


def _damaged_array(array: Any, random: Random) -> Any:
    flat = array.reshape(-1).copy()
    at = int(random.integers(flat.size)) if flat.size else 0
    match int(random.integers(9)):
        case 0:
            return flat[:-1]
        case 1:
            return np.concatenate([flat, flat[:1]])
        case 2:
            return array.astype(str)
        case 3:
            return array.reshape(*array.shape, 1)
        case 4 if flat.size and array.dtype.kind in "if":
            flat[at] = random.choice([-1, 2**31 - 1, 10**9, 0]) if array.dtype.kind == "i" else random.choice(
                [np.nan, np.inf, -np.inf, 1e300]
            )  # fmt: skip
            return flat.reshape(array.shape)
        case 5 if array.dtype.kind in "if":
            return array.astype(np.uint64 if array.dtype.kind == "i" else np.float16)
        case 6 if array.dtype.kind in "if":
            return array.astype(complex)
        case 7:
            return np.array([])
        case _ if flat.size and array.dtype.kind == "i":
            flat[at] = flat[at] + int(random.choice([-1, 1, 5, -1000, 1000]))
            return flat.reshape(array.shape)
    return array[::-1].copy() if array.ndim else np.array([array, array])


def drawn_points(random: Random) -> tuple[str, bytes, Any]:
    """A file of points, its bytes, and the points."""
    points = random.integers(-4, 5, (int(random.integers(1, 7)), 3)) / 4.0
    form = str(random.choice(["ply text", "ply binary", "obj", "npy"]))
    if form == "obj":
        return "points.obj", "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in points.tolist()).encode(), points
    if form == "npy":
        buffer = io.BytesIO()
        np.save(buffer, points)
        return "points.npy", buffer.getvalue(), points
    kind = "ascii" if form == "ply text" else "binary_little_endian"
    header = f"ply\nformat {kind} 1.0\nelement vertex {len(points)}\n" + "".join(
        f"property double {axis}\n" for axis in "xyz"
    )
    body = (
        "".join(f"{x!r} {y!r} {z!r}\n" for x, y, z in points.tolist()).encode()
        if form == "ply text"
        else points.astype("<f8").tobytes()
    )
    return "points.ply", f"{header}end_header\n".encode() + body, points
