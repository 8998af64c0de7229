"""Read point sets: PLY (text and binary), OBJ, NPY and NPZ, each of the first two also compressed (.gz)."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from relift.arrays import Cells, Matrix
from relift.errors import FileFormatError
from relift.formats.npz import numpy_array, numpy_arrays
from relift.read_bytes import decompressed, read_bytes

SUFFIXES = (".ply", ".ply.gz", ".obj", ".obj.gz", ".npy", ".npz")

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8",
}  # fmt: skip

LONGEST_HEADER = 1 << 20


def read_points(path: str | Path, max_bytes: int | None = None) -> Matrix:
    r"""Read the points of a file, one in each row.

    Parameters
    ----------
    path
        PLY: the properties x, y, z of the element ``vertex``. OBJ: the lines ``v x y z``. NPY: a matrix. NPZ: the
        array ``points``, or the only one.
    max_bytes
        How large the file may be, and what it decompresses to; None for 2 GiB.

    Raises
    ------
    FileFormatError
        If the file is not what its name says, or holds no points with two or three finite coordinates.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "square.obj")
    ...     _ = path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n")
    ...     read_points(path).shape
    (4, 3)
    """
    where = Path(path)
    name = where.name.lower()
    if not name.endswith(SUFFIXES):
        raise FileFormatError(
            f"{where}: the end of the name tells no point set.", f"Expected one of: {', '.join(SUFFIXES)}."
        )
    if name.endswith((".npy", ".npz")):
        points = _from_numpy(where, max_bytes)
    else:
        content = _content(where, max_bytes)
        points = _from_ply(content, where) if ".ply" in name[-7:] else _from_obj(content, where)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) == 0:
        raise FileFormatError(f"{where} holds an array of shape {points.shape}.", "Points have two or three columns.")
    if not np.isfinite(points).all():
        row = int(np.argwhere(~np.isfinite(points))[0][0])
        raise FileFormatError(f"{where}: point {row + 1} has a coordinate that is not a finite number.", "Remove it.")
    return points


def _content(path: Path, max_bytes: int | None) -> bytes:
    data = read_bytes(path, max_bytes)
    if path.suffix.lower() != ".gz":
        return data
    try:
        return decompressed(data, str(path), max_bytes)
    except FileFormatError as error:
        if "too large" in error.message or "times its size" in error.message:
            raise
        raise FileFormatError(f"{path} is not a complete gzip file ({error.message}).") from None


def _from_numpy(path: Path, max_bytes: int | None) -> Matrix:
    data = read_bytes(path, max_bytes)
    if path.suffix.lower() == ".npy":
        return _numbers(numpy_array(data, str(path), path.name), path)
    arrays = numpy_arrays(io.BytesIO(data), str(path), max_bytes)
    name = "points" if "points" in arrays else next(iter(arrays)) if len(arrays) == 1 else ""
    if not name:
        raise FileFormatError(
            f"{path} holds the arrays {', '.join(sorted(arrays)[:20]) or '(none)'}.", "Name the one to use 'points'."
        )
    return _numbers(np.asarray(arrays[name]), path)


def _numbers(array: Cells, path: Path) -> Matrix:
    if array.dtype.kind not in "fiu":
        raise FileFormatError(f"{path} holds an array of type {array.dtype}.", "Points are numbers.")
    return array.astype(np.float64)


def _from_obj(content: bytes, path: Path) -> Matrix:
    lines = [line for line in content.splitlines() if line.lstrip()[:2] in (b"v ", b"v\t")]
    try:
        # Some programs write a weight or a colour after the three coordinates.
        return np.array([line.split()[1:4] for line in lines], dtype=np.float64).reshape(-1, 3)
    except ValueError:
        for number, line in enumerate(content.splitlines(), 1):
            if line.lstrip()[:2] in (b"v ", b"v\t") and not _is_triple(line.split()[1:4]):
                shown = line.decode("utf-8", "replace")[:60]
                raise FileFormatError(f"{path}:{number}: {shown!r} has no three coordinates.") from None
        raise


def _is_triple(words: list[bytes]) -> bool:
    try:
        return len([float(word) for word in words]) == 3
    except ValueError:
        return False


@final
@dataclass(frozen=True)
class _Property:
    name: str
    kind: str
    count_kind: str = ""
    """Type of the length, for a list."""


@final
@dataclass(frozen=True)
class _Element:
    name: str
    count: int
    properties: list[_Property]


def _from_ply(content: bytes, path: Path) -> Matrix:
    form, elements, begin = _ply_header(content, path)
    names = [element.name for element in elements]
    if "vertex" not in names:
        raise FileFormatError(f"{path}: the header has no element vertex.", f"It has {', '.join(names) or 'none'}.")
    vertex = elements[names.index("vertex")]
    axes = [each.name for each in vertex.properties]
    missing = [axis for axis in "xyz" if axis not in axes]
    if missing:
        raise FileFormatError(f"{path}: vertices have no property {missing[0]}.", f"They have {', '.join(axes)}.")
    if any(each.count_kind for each in vertex.properties):
        raise FileFormatError(f"{path}: vertices with lists are not read.", "Write them with plain properties.")
    before = elements[: names.index("vertex")]
    if form == "ascii":
        return _ply_text(content[begin:], before, vertex, path)
    order = "<" if form == "binary_little_endian" else ">"
    for element in before:
        begin = _skip_binary(content, begin, element, order, path)
    record = np.dtype([(each.name, order + _TYPES[each.kind]) for each in vertex.properties])
    if begin + vertex.count * record.itemsize > len(content):
        raise FileFormatError(f"{path} ends before its {vertex.count:,} vertices do.", "It may be cut off.")
    records = np.frombuffer(content, record, vertex.count, begin)
    return np.column_stack([records[axis].astype(np.float64) for axis in "xyz"])


def _ply_header(content: bytes, path: Path) -> tuple[str, list[_Element], int]:
    if not content.startswith((b"ply\n", b"ply\r")):
        raise FileFormatError(f"{path} does not begin with the word ply.")
    end = content.find(b"end_header", 0, LONGEST_HEADER)
    if end < 0:
        raise FileFormatError(f"{path}: the header does not end.")
    begin = content.find(b"\n", end) + 1 or len(content)
    form, elements = "", list[_Element]()
    for number, line in enumerate(content[:end].decode("ascii", "replace").splitlines(), 1):
        words = line.split()
        if not words or words[0] in ("ply", "comment", "obj_info"):
            continue
        try:
            if words[0] == "format":
                form = words[1]
            elif words[0] == "element":
                elements.append(_Element(words[1], int(words[2]), []))
            elif words[0] == "property" and words[1] == "list":
                _ = _TYPES[words[2]], _TYPES[words[3]]
                elements[-1].properties.append(_Property(words[4], words[3], words[2]))
            elif words[0] == "property":
                _ = _TYPES[words[1]]
                elements[-1].properties.append(_Property(words[2], words[1]))
            else:
                raise KeyError(words[0])
        except (IndexError, KeyError, ValueError):
            raise FileFormatError(f"{path}:{number}: {line.strip()[:60]!r} is not a line of a PLY header.") from None
    if form not in ("ascii", "binary_little_endian", "binary_big_endian"):
        raise FileFormatError(f"{path}: the format {form!r} is not known.")
    if any(element.count < 0 for element in elements):
        raise FileFormatError(f"{path}: an element has a negative count.")
    return form, elements, begin


def _ply_text(content: bytes, before: list[_Element], vertex: _Element, path: Path) -> Matrix:
    lines = content.splitlines()
    first = sum(element.count for element in before)  # in text every record has its line
    lines = lines[first : first + vertex.count]
    if len(lines) < vertex.count:
        raise FileFormatError(f"{path} ends before its {vertex.count:,} vertices do.", "It may be cut off.")
    axes = [each.name for each in vertex.properties]
    try:
        table = np.loadtxt(io.BytesIO(b"\n".join(lines)), ndmin=2, comments=None)
    except ValueError as error:
        raise FileFormatError(f"{path}: the vertices are not a table of numbers ({error}).") from None
    if table.shape != (vertex.count, len(axes)):
        raise FileFormatError(f"{path}: vertices have {table.shape[1]} numbers for {len(axes)} properties.")
    return np.asarray(table[:, [axes.index(axis) for axis in "xyz"]], dtype=np.float64)


def _skip_binary(content: bytes, begin: int, element: _Element, order: str, path: Path) -> int:
    """Find the end of an element before the vertices; lists have to be walked one by one."""
    if not any(each.count_kind for each in element.properties):
        size = sum(np.dtype(_TYPES[each.kind]).itemsize for each in element.properties)
        return begin + element.count * size
    for _ in range(element.count):
        for each in element.properties:
            size = np.dtype(_TYPES[each.kind]).itemsize
            if not each.count_kind:
                begin += size
                continue
            count = np.dtype(order + _TYPES[each.count_kind])
            if begin + count.itemsize > len(content):
                raise FileFormatError(f"{path} ends within the element {element.name}.", "It may be cut off.")
            length = int(np.frombuffer(content, count, 1, begin)[0])
            if length < 0:
                raise FileFormatError(f"{path}: a list of the element {element.name} has a negative length.")
            begin += count.itemsize + length * size
    return begin
