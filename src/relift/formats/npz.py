"""NumPy archives (.npz) of programs: relift's own, qpsolvers', the benchmark collection's.

- relift's own: ``relift_format`` = 1, ``shape`` = (rows, variables), ``P_data, P_indices, P_indptr`` (CSC,
  absent for an
  LP), ``A_data, A_indices, A_indptr`` (CSC), ``q, l, u, lb, ub, r, sense`` and, if there are names,
  ``variable_names`` and ``row_names``. No pickles. With cones also ``C_data, C_indices, C_indptr`` (CSC), ``C_shape``,
  ``b``, and for each cone its kind and size in ``cones`` and the exponents of power cones, one after the other, in
  ``exponents``.
- qpsolvers' ``Problem.save``: ``P, q, G, h, A, b, lb, ub``, where what is missing, and a sparse matrix, is
  a pickled
  object. Those are read by an unpickler that knows arrays and sparse matrices and refuses everything else.
- the benchmark collection: as ours without ``lb`` and ``ub``; the last rows of A are the identity and hold
  the bounds.
"""

from __future__ import annotations

import io
import lzma
import math
import pickle
import struct
import sys
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from relift.arrays import Cells, MatrixLike, SparseMatrix, Vector, is_sparse
from relift.errors import FileFormatError, ProgramError, ReliftError
from relift.formats.pickled_arrays import PickledMatrix, load_arrays
from relift.program.arrays import as_floats
from relift.program.cones import Cone, Exponential, Power, PowerND, SecondOrder, Semidefinite
from relift.program.conic_rows import ConicRows
from relift.program.program import Program
from relift.program.sparse_structure import compressed
from relift.read_bytes import Growth, brief, checked_limit

FORMAT = 1
"""Version of relift's own layout."""

_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, RuntimeError, struct.error,
    ValueError, KeyError, IndexError, OverflowError, AttributeError, TypeError,
)  # fmt: skip
"""What a damaged archive makes the modules of Python raise: anything but an error of its own kind."""


def program_from_npz(file: BinaryIO, source: str, max_bytes: int | None = None) -> Program:
    """Read a NumPy archive in any of the three layouts, told apart by their keys.

    Parameters
    ----------
    file
        The open file.
    source
        How to call the file in messages.
    max_bytes
        How much all arrays may decompress to; see :func:`relift.read_bytes.decompressed`.

    Raises
    ------
    FileFormatError
        If it is not an archive, is damaged or too large, or its keys fit none of the layouts.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> _ = write_npz(Program(q=[1.0], lb=0, sense="max", ub=2), file)
    >>> program_from_npz(file, "tiny.npz")
    Program(LP, max, 1 variables, 0 rows, 0 nonzeros)
    """
    arrays = numpy_arrays(file, source, max_bytes)
    try:
        if "relift_format" in arrays:
            return _own(arrays, source)
        if "A_data" in arrays and "shape" in arrays:
            return _benchmark(arrays, source)
        if "P" in arrays and "q" in arrays:
            return _qpsolvers(arrays)
    except ReliftError:
        raise
    except _DAMAGE as error:  # arrays of other types than any of the layouts has
        raise FileFormatError(f"{source} is damaged ({brief(error)}).", "Copy or write the file again.") from None
    raise FileFormatError(
        f"{source} is an archive without a program: its keys are {_listed(arrays)}.",
        "Write programs with relift.write_program or qpsolvers' Problem.save.",
    )


def _listed(keys: Mapping[str, object]) -> str:
    shown = [key if len(key) <= 40 else f"{key[:37]}..." for key in sorted(keys)[:20]]
    return ", ".join([*shown, *(["..."] if len(keys) > 20 else [])]) or "none"


def numpy_arrays(file: BinaryIO, source: str, max_bytes: int | None = None) -> dict[str, Any]:
    """All arrays of an archive by name; see :func:`program_from_npz`."""
    limit = checked_limit(max_bytes)
    arrays: dict[str, Any] = {}
    try:
        size = file.seek(0, io.SEEK_END)
        growth = Growth(source, size, limit, is_default=max_bytes is None)
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if not member.filename.endswith(".npy"):
                    continue
                with archive.open(member) as packed:
                    data = growth.read(packed)
                name = member.filename.removesuffix(".npy")
                if name in arrays:
                    raise FileFormatError(f"{source} has two arrays {name!r}.", "Write the file again.")
                arrays[name] = numpy_array(data, source, member.filename)
    except FileFormatError:
        raise
    except _DAMAGE as error:
        raise FileFormatError(
            f"{source} is not a NumPy archive, or it is cut off or damaged ({brief(error)}).",
            "Copy or write the file again.",
        ) from None
    return arrays


def numpy_array(data: bytes, source: str, name: str) -> Any:
    """The array in the bytes of an ``.npy`` file, called by a name in messages; None where one was pickled."""
    file = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(file)
        if version not in {(1, 0), (2, 0), (3, 0)}:
            raise ValueError(f"version {version[0]}.{version[1]} of the format is not known")
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, is_fortran, dtype = read_header(file)
        if dtype.hasobject:
            value = load_arrays(file)
            value = value.item() if isinstance(value, np.ndarray) and value.shape == () else value
            return _plain(value, len(data), source, name)
        if dtype.kind not in "fiubcSU":
            raise ValueError(f"arrays of type {dtype} are not read")
        count = math.prod(shape)
        rest = memoryview(data)[file.tell() :]
        # The header is only a claim: nothing is made that the bytes do not fill.
        if any(size < 0 for size in shape) or count * dtype.itemsize != len(rest):
            raise ValueError(f"{len(rest)} bytes do not make {count} numbers of type {dtype}")
        if dtype.itemsize == 0:
            return np.zeros(shape, dtype)
        if dtype.kind == "U":
            letters = np.frombuffer(rest, np.dtype("u4").newbyteorder(dtype.byteorder))
            if letters.size and int(letters.max()) > sys.maxunicode:  # NumPy would make strings of them
                raise ValueError("a text holds what is no letter")
        return np.frombuffer(rest, dtype).reshape(shape, order="F" if is_fortran else "C")
    except pickle.UnpicklingError as error:
        raise FileFormatError(
            f"{source}: {name} holds a pickled {error}, which is not read because it could run code.",
            "Write the program with relift.write_program.",
        ) from None
    except Exception as error:  # noqa: BLE001 - tokenizers, dtypes, pickles: no list of what they raise is complete
        raise FileFormatError(
            f"{source}: {name} is damaged ({brief(error)}).", "Copy or write the file again."
        ) from None


def _plain(value: object, n_bytes: int, source: str, name: str) -> Any:
    """What an unpickled object may be: nothing, a number, an array of numbers, a compressed matrix of such arrays."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, PickledMatrix):
        parts = [_plain(value.state.get(part), n_bytes, source, name) for part in ("data", "indices", "indptr")]
        shape = value.state.get("_shape")
        if not (isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(size, int) for size in shape)):
            raise ValueError("a sparse matrix has no shape")
        return _checked(value.order, parts, shape, source, name)
    if type(value) is np.ndarray and value.dtype.kind in "fiub" and value.nbytes <= n_bytes:
        return value
    raise ValueError(f"a {type(value).__name__} is not an array of numbers")


def _need(arrays: Mapping[str, object], names: tuple[str, ...], source: str) -> None:
    missing = [name for name in names if name not in arrays]
    if missing:
        raise FileFormatError(f"{source} lacks {', '.join(missing)}; its keys are {_listed(arrays)}.")


def _compressed(arrays: Mapping[str, object], letter: str, shape: tuple[int, int], source: str) -> SparseMatrix:
    parts = tuple(f"{letter}_{part}" for part in ("data", "indices", "indptr"))
    _need(arrays, parts, source)
    return _checked("csc", [arrays[part] for part in parts], shape, source, letter)


def _checked(
    order: Literal["csr", "csc"], parts: Sequence[object], shape: tuple[int, int], source: str, name: str
) -> SparseMatrix:
    data, indices, indptr = parts
    try:
        return compressed(name, order, data, indices, indptr, shape)
    except (ProgramError, ValueError, TypeError) as error:
        reason = error.message if isinstance(error, ProgramError) else str(error)
        raise FileFormatError(
            f"{source}: {name} is not a sparse matrix of {shape[0]} x {shape[1]} ({reason.rstrip('.')}).",
            "Copy or write the file again.",
        ) from None


def _need_size(arrays: Mapping[str, object], key: str, size: int, source: str) -> None:
    """Refuse another size before anything of the claimed size is made."""
    found = np.asarray(arrays[key]).shape
    if found != (size,):
        raise FileFormatError(
            f"{source}: {key} has {' x '.join(map(str, found)) or 'one'} entries, but {size} are needed.",
            "Copy or write the file again.",
        )


def _shape(arrays: Mapping[str, object], source: str) -> tuple[int, int]:
    shape = np.asarray(arrays["shape"]).ravel()[:8]
    if shape.size != 2 or shape.dtype.kind not in "iu" or np.any(shape < 0):
        raise FileFormatError(f"{source}: shape is {shape.tolist()}, but must be (rows, variables).")
    return int(shape[0]), int(shape[1])


def _own(arrays: Mapping[str, Any], source: str) -> Program:
    version = np.asarray(arrays["relift_format"])
    found = version.ravel()[:4].tolist() if version.ndim else version.item()
    if version.size != 1 or version.dtype.kind not in "iu" or int(version.ravel()[0]) != FORMAT:
        raise FileFormatError(
            f"{source} has layout {found}, but this version of relift reads layout {FORMAT}.",
            "Update relift.",
        )
    _need(arrays, ("shape", "q", "l", "u", "lb", "ub", "r", "sense"), source)
    m, n = _shape(arrays, source)
    for key, size in (("q", n), ("l", m), ("u", m), ("lb", n), ("ub", n)):
        _need_size(arrays, key, size, source)
    names = {
        key: None if key not in arrays else [str(name) for name in np.asarray(arrays[key]).ravel().tolist()]
        for key in ("variable_names", "row_names")
    }
    return Program(
        _compressed(arrays, "P", (n, n), source) if "P_data" in arrays else None,
        arrays["q"],
        _compressed(arrays, "A", (m, n), source),
        *(arrays[key] for key in ("l", "u", "lb", "ub", "r")),
        sense=str(arrays["sense"]),  # type: ignore[arg-type]
        variable_names=names["variable_names"],
        row_names=names["row_names"],
        conic=_conic(arrays, n, source) if "cones" in arrays else None,
    )


_CONES: tuple[type[Cone], ...] = (SecondOrder, Exponential, Power, PowerND, Semidefinite)
"""The number of a kind in a file is its place here."""


def _conic(arrays: Mapping[str, Any], n: int, source: str) -> ConicRows:
    _need(arrays, ("C_shape", "b", "exponents"), source)
    listed, exponents = np.asarray(arrays["cones"]), np.asarray(arrays["exponents"], dtype=np.float64).ravel().tolist()
    shape = np.asarray(arrays["C_shape"]).ravel()
    if listed.ndim != 2 or listed.shape[1] != 2 or listed.dtype.kind not in "iu" or shape.size != 2 or shape[1] != n:
        raise FileFormatError(f"{source}: the list of cones, or C_shape, is damaged.", "Write the file again.")
    _need_size(arrays, "b", int(shape[0]), source)
    cones: list[Cone] = []
    at = 0
    for kind, size in listed.tolist():
        if not 0 <= kind < len(_CONES):
            raise FileFormatError(f"{source}: there is no cone of kind {kind}.", "Update relift.")
        if _CONES[kind] is Power:
            cones.append(Power(*exponents[at : at + 1]) if at < len(exponents) else _no_exponent(source))
            at += 1
        elif _CONES[kind] is PowerND:
            cones.append(PowerND(tuple(exponents[at : at + size - 1])))
            at += size - 1
        else:
            cones.append(Exponential() if _CONES[kind] is Exponential else _CONES[kind](size))
    return ConicRows(_compressed(arrays, "C", (int(shape[0]), n), source), arrays["b"], cones)


def _no_exponent(source: str) -> Cone:
    raise FileFormatError(f"{source}: an exponent of a power cone is missing.", "Write the file again.")


def _arrays_of_cones(rows: ConicRows) -> dict[str, Cells]:
    C = rows.A.tocsc()
    listed, exponents = [], []
    for cone in rows.cones:
        size = cone.n if isinstance(cone, Semidefinite) else cone.n_rows
        listed.append((_CONES.index(type(cone)), size))
        exponents += [cone.alpha] if isinstance(cone, Power) else list(getattr(cone, "alphas", ()))
    return {
        **{f"C_{part}": getattr(C, part) for part in ("data", "indices", "indptr")},
        "C_shape": np.array(C.shape, dtype=np.int64),
        "b": rows.b,
        "cones": np.array(listed, dtype=np.int64),
        "exponents": np.array(exponents, dtype=np.float64),
    }


def _benchmark(arrays: Mapping[str, Any], source: str) -> Program:
    _need(arrays, ("q", "l", "u"), source)
    rows, n = _shape(arrays, source)
    m = rows - n
    l, u = np.asarray(arrays["l"]).ravel(), np.asarray(arrays["u"]).ravel()
    if l.size != rows or u.size != rows:
        raise FileFormatError(f"{source}: l and u have {l.size} and {u.size} entries, but A has {rows} rows.")
    stacked = _compressed(arrays, "A", (rows, n), source)
    upper = stacked.tocsr()
    below = upper[max(m, 0) :].tocsc()
    is_identity = (
        m >= 0 and below.nnz == n and bool(np.all(below.indices == np.arange(n)) and np.all(below.data == 1.0))
    )
    if not is_identity:
        raise FileFormatError(
            f"{source}: the last {n} rows of A are not the identity, which holds the bounds in this layout.",
            "Write the program with relift.write_program.",
        )
    P = _compressed(arrays, "P", (n, n), source) if np.size(arrays.get("P_data", ())) else None
    return Program(P, arrays["q"], upper[:m].tocsc(), l[:m], u[:m], l[m:], u[m:], arrays.get("r", 0.0))


def _qpsolvers(arrays: Mapping[str, Any]) -> Program:
    return program_from_parts(**{key: arrays.get(key) for key in ("P", "q", "G", "h", "A", "b", "lb", "ub")})


def program_from_parts(
    P: MatrixLike | None = None,
    q: ArrayLike | None = None,
    G: MatrixLike | None = None,
    h: ArrayLike | None = None,
    A: MatrixLike | None = None,
    b: ArrayLike | None = None,
    lb: ArrayLike | None = None,
    ub: ArrayLike | None = None,
) -> Program:
    """Make the program of ``Gx <= h``, ``Ax = b``, ``lb <= x <= ub``: rows of G first, then those of A.

    Examples
    --------
    >>> program = program_from_parts([[2.0]], [1.0], G=[[1.0]], h=[4.0], A=[[3.0]], b=[6.0])
    >>> program.A.toarray().tolist(), program.l.tolist(), program.u.tolist()
    ([[1.0], [3.0]], [-inf, 6.0], [4.0, 6.0])
    """
    for matrix, vector, names in ((G, h, "G and h"), (A, b, "A and b")):
        if (matrix is None) != (vector is None):
            from relift.errors import ShapeError

            raise ShapeError(f"{names} must be given together.", "Give both or none.", names[0])
    blocks, lower, upper = [], [], []
    for name, matrix, vector, is_equality in (("G", G, h, False), ("A", A, b, True)):
        if matrix is None:
            continue
        block, right = _block(name, matrix, vector)
        blocks.append(block)
        lower.append(right if is_equality else np.full(right.size, -np.inf))
        upper.append(right)
    if not blocks:
        return Program(P, q, lb=lb, ub=ub)
    rows = sparse.vstack(blocks, format="csc") if len(blocks) > 1 else blocks[0]
    return Program(P, q, rows, np.concatenate(lower), np.concatenate(upper), lb, ub)


def _block(name: str, matrix: MatrixLike, vector: ArrayLike | None) -> tuple[SparseMatrix, Vector]:
    """Make one block of rows, checked by making a program of it, so that messages speak of G, h, A and b."""
    from relift.errors import ProgramError

    other = "h" if name == "G" else "b"
    given = matrix if is_sparse(matrix) else np.atleast_2d(as_floats(name, matrix))
    try:
        checked = Program(A=given, u=as_floats(other, vector).ravel())
    except ProgramError as error:
        translated = {"A": name, "u": other}.get(error.argument, error.argument)
        raise type(error)(
            error.message.replace(error.argument, translated, 1), error.hint, translated, error.entry
        ) from None
    return checked.A, checked.u


def write_npz(program: Program, file: str | Path | BinaryIO) -> None:
    """Write relift's own layout.

    Parameters
    ----------
    program
        What to write.
    file
        Where: a name ending in ``.npz``, or an open file.
    """
    A = program.A.tocsc()
    arrays: dict[str, Any] = {
        "relift_format": np.int64(FORMAT),
        "shape": np.array(A.shape, dtype=np.int64),
        **{key: getattr(program, key) for key in ("q", "l", "u", "lb", "ub")},
        "r": np.float64(program.r),
        "sense": np.str_(program.sense),
        **{f"A_{part}": getattr(A, part) for part in ("data", "indices", "indptr")},
    }
    if program.P is not None:
        arrays |= {f"P_{part}": getattr(program.P, part) for part in ("data", "indices", "indptr")}
    if len(program.conic):
        arrays |= _arrays_of_cones(program.conic)
    for key in ("variable_names", "row_names"):
        if getattr(program, key) is not None:
            arrays[key] = np.array(list(getattr(program, key)), dtype=np.str_)
    np.savez_compressed(file, **arrays)
