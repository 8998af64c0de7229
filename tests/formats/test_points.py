"""Point sets are read from every format as they were written; what is wrong is told in a sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relift.errors import FileFormatError
from relift.formats.points import read_points

TYPES = {"float": "f4", "double": "f8", "short": "i2", "uchar": "u1", "int": "i4"}


def ply(points: np.ndarray, form: str, kind: str, extras: tuple[str, ...], faces_first: bool, eol: str = "\n") -> bytes:
    """A PLY file with properties before and after the coordinates, and a face list before or after the vertices."""
    names = [f"{extra}_{k}" for k, extra in enumerate(extras)]
    properties = [*zip(names, extras, strict=True)][:1] + [(axis, kind) for axis in "xyz"]
    properties += [*zip(names, extras, strict=True)][1:]
    vertex = [f"element vertex {len(points)}", *(f"property {kind} {name}" for name, kind in properties)]
    face = ["element face 2", "property list uchar int vertex_indices", "property uchar mark"]
    middle = face + vertex if faces_first else vertex + face
    header = eol.join(["ply", f"format {form} 1.0", "comment made for a test", *middle, "end_header"]) + eol
    faces = [[0, 1, 2], [2, 1, 0, 1]]
    if form == "ascii":
        columns = [points[:, "xyz".index(name)] if name in "xyz" else np.full(len(points), 7) for name, _ in properties]
        vertex_text = eol.join(" ".join(repr(float(v)) for v in row) for row in zip(*columns, strict=True))
        face_text = eol.join(" ".join(map(str, [len(f), *f, 9])) for f in faces)
        body = [face_text, vertex_text] if faces_first else [vertex_text, face_text]
        return (header + eol.join(text for text in body if text) + eol).encode()
    order = "<" if "little" in form else ">"
    record = np.zeros(len(points), [(name, order + TYPES[kind]) for name, kind in properties])
    for name, _ in properties:
        record[name] = points[:, "xyz".index(name)] if name in "xyz" else 7
    face_bytes = b"".join(bytes([len(f)]) + np.array(f, order + "i4").tobytes() + b"\x09" for f in faces)
    body_bytes = [face_bytes, record.tobytes()] if faces_first else [record.tobytes(), face_bytes]
    return header.encode() + b"".join(body_bytes)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 30),
    form=st.sampled_from(["ascii", "binary_little_endian", "binary_big_endian"]),
    kind=st.sampled_from(["float", "double"]),
    extras=st.lists(st.sampled_from(["uchar", "float", "short"]), max_size=3).map(tuple),
    faces_first=st.booleans(),
    eol=st.sampled_from(["\n", "\r\n"]),
    is_packed=st.booleans(),
)
def test_ply_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, seed: int, n: int, form: str, kind: str, extras: tuple[str, ...],
    faces_first: bool, eol: str, is_packed: bool,
) -> None:  # fmt: skip
    points = np.random.default_rng(seed).standard_normal((n, 3)).astype(TYPES[kind]).astype(float)
    content = ply(points, form, kind, extras, faces_first, eol)
    path = tmp_path_factory.mktemp("ply") / ("shape.PLY.gz" if is_packed else "shape.ply")
    path.write_bytes(gzip.compress(content) if is_packed else content)
    assert np.array_equal(read_points(path), points)


def test_obj_has_its_vertices_read_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "shape.obj"
    path.write_text(
        "# a shape\no thing\nv 1 2 3\n  v -1.5e2 0 .5 1.0\nvn 0 0 1\nvt 0 0\nv\t4 5 6 0.1 0.2 0.3\nf 1 2 3\n"
    )
    assert read_points(path).tolist() == [[1, 2, 3], [-150, 0, 0.5], [4, 5, 6]]


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
def test_arrays_are_read(tmp_path: Path, dtype: str) -> None:
    points = np.arange(12).reshape(4, 3).astype(dtype)
    np.save(tmp_path / "a.npy", points)
    np.savez(tmp_path / "b.npz", other=np.zeros(2), points=points)
    np.savez_compressed(tmp_path / "c.npz", whatever=points)
    for name in ("a.npy", "b.npz", "c.npz"):
        found = read_points(tmp_path / name)
        assert found.dtype == np.float64
        assert np.array_equal(found, points)


HEADER = "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.stl", b"", "tells no point set"),
        ("a.ply", b"solid", "does not begin with the word ply"),
        ("a.ply", b"ply\nformat ascii 1.0\n", "the header does not end"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement face 1\nend_header\n", "no element vertex. It has face"),
        ("a.ply", b"ply\nformat ebcdic 1.0\nelement vertex 1\nproperty float x\nend_header\n", "'ebcdic' is not known"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex many\nend_header\n", "a.ply:3: 'element vertex many' is no"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex -4\nproperty float x\nproperty float y\n"
                  b"property float z\nend_header\n", "a negative count"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\nend_header\n", "'property quad x' is no"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "no property y"),
        ("a.ply", HEADER.encode() + b"1 2 3\n", "ends before its 2 vertices do"),
        ("a.ply", HEADER.encode() + b"1 2 3\n4 five 6\n", "not a table of numbers"),
        ("a.ply", HEADER.encode() + b"1 2\n3 4\n", "2 numbers for 3 properties"),
        ("a.ply", HEADER.encode() + b"1 2 3\n4 nan 6\n", "point 2 has a coordinate that is not a finite number"),
        ("a.ply", HEADER.replace("ascii", "binary_little_endian").encode() + bytes(20), "ends before its 2 vertices"),
        ("a.ply.gz", b"ply", "is not a complete gzip file"),
        ("a.ply.gz", gzip.compress(b"ply\n" * 900, mtime=0)[:-9], "is not a complete gzip file"),
        ("a.obj", b"v 1 2 3\n\nv 1 2\n", "a.obj:3: 'v 1 2' has no three coordinates"),
        ("a.obj", b"v 1 2 x\n", "a.obj:1"),
        ("a.obj", b"f 1 2 3\n", "shape (0, 3)"),
        ("a.npy", b"\x93NUMPY", "a.npy is damaged"),
        ("a.npz", b"PK\x03\x04", "a.npz is not a NumPy archive, or it is cut off"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError) as caught:
        read_points(tmp_path / name)
    assert message in str(caught.value)
    assert name in str(caught.value)


def test_arrays_that_are_no_points_are_refused(tmp_path: Path) -> None:
    cases = {"shape (3,)": np.zeros(3), "shape (2, 5)": np.zeros((2, 5)), "type <U1": np.array([["a", "b"]])}
    for message, array in cases.items():
        np.save(tmp_path / "a.npy", array)
        with pytest.raises(FileFormatError) as caught:
            read_points(tmp_path / "a.npy")
        assert message in str(caught.value)
    np.save(tmp_path / "a.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(FileFormatError):
        read_points(tmp_path / "a.npy")
    np.savez(tmp_path / "b.npz", a=np.zeros((2, 3)), b=np.zeros((2, 3)))
    with pytest.raises(FileFormatError, match=r"holds the arrays a, b\. Name the one to use 'points'"):
        read_points(tmp_path / "b.npz")


@pytest.mark.parametrize("scan", ["bunny", "dragon"])
def test_scans_written_as_binary_ply_come_back(tmp_path: Path, scan: str) -> None:
    from tests.data import data_folder

    points = read_points(data_folder("scans") / f"{scan}.npz")
    path = tmp_path / "scan.ply"
    path.write_bytes(ply(points, "binary_big_endian", "float", ("uchar",), True))
    assert np.array_equal(read_points(path), points)
