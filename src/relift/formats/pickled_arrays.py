"""Arrays and sparse matrices from a pickle, made here and not by what the pickle names.

``numpy.savez`` pickles what is not an array: qpsolvers' archives hold None and matrices of SciPy so. A pickle is a
program that calls what it names. Here every name that such a file may use stands for a function or class of this
module, which makes small arrays and records parts, and every other name is refused; opcodes that those files do not
need are too.
"""

from __future__ import annotations

import pickle
import pickletools
import re
from collections.abc import Callable
from typing import BinaryIO, ClassVar, Literal, final

import numpy as np

from relift.arrays import Array

_SIMPLE = re.compile(r"[<>|=]?[fiub][1248]\Z")
_OPCODES = {
    "PROTO", "FRAME", "STOP", "MARK", "GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "NEWOBJ",
    "MEMOIZE", "BINPUT", "LONG_BINPUT", "BINGET", "LONG_BINGET",
    "EMPTY_TUPLE", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_LIST", "APPEND", "APPENDS", "EMPTY_DICT", "SETITEM",
    "SETITEMS", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT",
    "BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8",
}  # fmt: skip


@final
class _NdarrayName:
    """Stands for the class ``numpy.ndarray``, which pickles refer to and need not call."""


def _reconstruct(kind: object, shape: object, code: object) -> Array:
    """An empty array, to be filled by its state, whatever size is asked for."""
    del shape, code
    if kind is not _NdarrayName:
        raise pickle.UnpicklingError("array of another class")
    return np.ndarray((0,), np.int8)


def _dtype(name: object, *rest: object) -> np.dtype[np.generic]:
    del rest
    if name == "O8":
        return np.dtype(object)
    if not isinstance(name, str) or not _SIMPLE.match(name):
        raise pickle.UnpicklingError(f"type {str(name)[:40]}")
    return np.dtype(name)


def _scalar(kind: object, data: object = b"") -> object:
    if not isinstance(kind, np.dtype) or kind.hasobject or not isinstance(data, bytes) or len(data) != kind.itemsize:
        raise pickle.UnpicklingError("number of an unknown type")
    return np.frombuffer(data, kind)[0].item()


class PickledMatrix:
    """The parts of a compressed matrix as a pickle gives them; nothing is known of them."""

    order: ClassVar[Literal["csc", "csr"]]

    state: dict[str, object]

    def __setstate__(self, state: object) -> None:
        self.state = state if isinstance(state, dict) else {}

    def __new__(cls) -> PickledMatrix:
        """A matrix without parts; pickles make it so and call nothing else."""
        made = object.__new__(cls)
        made.state = {}
        return made


@final
class _Csc(PickledMatrix):
    order = "csc"


@final
class _Csr(PickledMatrix):
    order = "csr"


_NAMES: dict[tuple[str, str], Callable[..., object]] = {
    ("numpy", "ndarray"): _NdarrayName,
    ("numpy", "dtype"): _dtype,
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _reconstruct for core in ("core", "_core")},
    **{(f"numpy.{core}.multiarray", "scalar"): _scalar for core in ("core", "_core")},
    **{(f"scipy.sparse.{dash}csc", f"csc_{kind}"): _Csc for dash in ("", "_") for kind in ("matrix", "array")},
    **{(f"scipy.sparse.{dash}csr", f"csr_{kind}"): _Csr for dash in ("", "_") for kind in ("matrix", "array")},
}


@final
class _ArraysOnly(pickle.Unpickler):
    """An unpickler that knows the names of this module and no others."""

    def find_class(self, module: str, name: str) -> Callable[..., object]:
        if (module, name) not in _NAMES:
            raise pickle.UnpicklingError(f"{module}.{name}")
        return _NAMES[module, name]


def load_arrays(file: BinaryIO) -> object:
    """The object that a pickle makes: None, numbers, arrays, :class:`PickledMatrix`, or containers of them.

    Parameters
    ----------
    file
        At the first byte of the pickle.

    Raises
    ------
    pickle.UnpicklingError
        If it names anything else; the message is that name.
    """
    start = file.tell()
    for opcode, _, _ in pickletools.genops(file):
        if opcode.name not in _OPCODES:
            raise ValueError(f"the pickle uses {opcode.name}")
    file.seek(start)
    return _ArraysOnly(file).load()
