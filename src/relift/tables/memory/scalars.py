"""Scalars over columns in memory: arithmetic and comparisons in NumPy, with missing values as in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from relift.arrays import Cells, Double, Flags
from relift.errors import DataError
from relift.tables.algebra import TEXT_OPERATIONS, Call, Column, Literal, Scalar, Type, common_type
from relift.tables.memory.columns import ARRAY_OF, Vector
from relift.tables.memory.string_ids import Texts
from relift.tables.memory.text_functions import calculated_from_texts

LARGEST_WHOLE = 9.0e15
_COMPARE: dict[str, Callable[[Cells, Cells], Flags]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class NotInMemoryError(Exception):
    """Something that another engine should do; internal.

    Parameters
    ----------
    rows
        So many rows it would pass through, at least.
    """

    def __init__(self, rows: int = 0) -> None:
        super().__init__(rows)
        self.rows = rows


def evaluate(scalar: Scalar, columns: Mapping[str, Vector], texts: Texts) -> Vector:
    """The values of a scalar over columns."""
    if isinstance(scalar, Column):
        return columns[scalar.name]
    if isinstance(scalar, Literal):
        return _constant(scalar, texts)
    arguments = [evaluate(argument, columns, texts) for argument in scalar.arguments]
    with np.errstate(all="ignore"):
        return _call(scalar, arguments, texts)


def _constant(constant: Literal, texts: Texts) -> Vector:
    kind = constant.type
    if constant.value is None:
        return Vector(kind, np.zeros((), ARRAY_OF[kind]), np.ones((), np.bool_))
    if isinstance(constant.value, str):
        return Vector(kind, texts.numbers([constant.value]).reshape(()))
    if kind == Type.INTEGER:
        _refuse(not -(2**63) <= constant.value < 2**63, None)
    return Vector(kind, np.asarray(constant.value, ARRAY_OF[kind]))


def _call(scalar: Call, arguments: list[Vector], texts: Texts) -> Vector:
    operation = scalar.operation
    if operation in _COMPARE:
        return _compare(operation, arguments[0], arguments[1], texts)
    if operation in {"and", "or"}:
        return _connected(operation, arguments)
    if operation == "not":
        return Vector(Type.BOOLEAN, ~arguments[0].data, arguments[0].missing)
    if operation == "is null":
        (value,) = arguments
        if value.missing is None or value.type == Type.NOTHING:
            return Vector(Type.BOOLEAN, np.asarray(value.type == Type.NOTHING))
        return Vector(Type.BOOLEAN, value.missing)
    if operation == "coalesce":
        return _first_present(arguments)
    if operation == "if":
        return _chosen(*arguments)
    if operation == "text":
        raise NotInMemoryError
    if operation in TEXT_OPERATIONS:
        return calculated_from_texts(operation, arguments, texts)
    return _calculated(operation, arguments)


def missing_in(*vectors: Vector) -> NDArray[np.bool_] | None:
    """Where some of several columns has no value; None if all have one everywhere."""
    found = None
    for vector in vectors:
        if vector.missing is not None:
            found = vector.missing if found is None else found | vector.missing
    return found


def _compare(operation: str, left: Vector, right: Vector, texts: Texts) -> Vector:
    kind = common_type(left.type, right.type)
    if kind != left.type and not (kind.is_number and left.type.is_number and left.type != Type.NOTHING):
        left = left.cast(kind)
    if kind != right.type and not (kind.is_number and right.type.is_number and right.type != Type.NOTHING):
        right = right.cast(kind)
    first, second = left.data, right.data
    if kind == Type.TEXT and operation not in {"=", "!="}:
        ranks = np.append(texts.ranks(), np.int32(-1))  # the number -1 of what is missing has a place too
        first, second = ranks[first], ranks[second]
    elif kind == Type.REAL:
        first, second = first.astype(np.float64, copy=False), second.astype(np.float64, copy=False)
    return Vector(Type.BOOLEAN, np.asarray(_COMPARE[operation](first, second)), missing_in(left, right))


def _connected(operation: str, arguments: list[Vector]) -> Vector:
    """Of three values: an argument that decides does so, whatever is missing beside it."""
    decides = operation == "or"
    missing = missing_in(*arguments)
    decided = None
    for argument in arguments:
        flags = argument.data if decides else ~argument.data
        if argument.missing is not None:
            flags = flags & ~argument.missing
        decided = flags if decided is None else decided | flags
    assert decided is not None
    data = np.asarray(decided if decides else ~decided)
    return Vector(Type.BOOLEAN, data, None if missing is None else np.asarray(missing & ~decided))


def _first_present(arguments: list[Vector]) -> Vector:
    kind = Type.NOTHING
    for argument in arguments:
        kind = common_type(kind, argument.type)
    found = arguments[0].cast(kind)
    for argument in arguments[1:]:
        if found.missing is None:
            break
        other = argument.cast(kind)
        data = np.where(found.missing, other.data, found.data)
        missing = None if other.missing is None else np.asarray(found.missing & other.missing)
        found = Vector(kind, data.astype(ARRAY_OF[kind], copy=False), missing)
    return found


def _chosen(condition: Vector, then: Vector, otherwise: Vector) -> Vector:
    kind = common_type(then.type, otherwise.type)
    then, otherwise = then.cast(kind), otherwise.cast(kind)
    is_true = condition.data if condition.missing is None else condition.data & ~condition.missing
    data = np.where(is_true, then.data, otherwise.data).astype(ARRAY_OF[kind], copy=False)
    if then.missing is None and otherwise.missing is None:
        return Vector(kind, data)
    gaps = [np.zeros((), np.bool_) if v.missing is None else v.missing for v in (then, otherwise)]
    return Vector(kind, data, np.asarray(np.where(is_true, *gaps)))


def _calculated(operation: str, arguments: list[Vector]) -> Vector:
    missing = missing_in(*arguments)
    if any(argument.type == Type.NOTHING for argument in arguments):
        arguments = [argument.cast(Type.INTEGER) for argument in arguments]
        missing = missing_in(*arguments)
    is_real = any(argument.type == Type.REAL for argument in arguments)
    values = [argument.data for argument in arguments]
    if operation == "floor":
        return _floored(arguments[0], missing)
    if operation in {"real", "integer", "number of row"}:
        kinds = {"real": Type.REAL, "integer": Type.INTEGER, "number of row": Type.NUMBER_OF_ROW}
        return arguments[0].cast(kinds[operation])
    if operation in {"/", "**", "exp", "sqrt", "log"}:
        data, undefined = _FUNCTIONS[operation](*(value.astype(np.float64) for value in values))
        if undefined is not None and np.any(undefined):
            missing = np.asarray(undefined if missing is None else missing | undefined)
        return Vector(Type.REAL, np.asarray(data), missing)
    if operation == "is finite":
        found = np.isfinite(values[0].astype(np.float64))
        return Vector(Type.BOOLEAN, np.asarray(found if missing is None else found & ~missing))
    if operation == "is whole":
        value = values[0].astype(np.float64)
        return Vector(Type.BOOLEAN, np.asarray((np.floor(value) == value) & (np.abs(value) <= LARGEST_WHOLE)), missing)
    kind = Type.REAL if is_real else Type.INTEGER
    values = [value.astype(ARRAY_OF[kind], copy=False) for value in values]
    data = values[0]
    if operation in {"negative", "abs"}:
        if not is_real:  # -(-2**63) is no number of 64 bits
            _refuse(data == np.iinfo(np.int64).min, missing)
        data = -data if operation == "negative" else np.abs(data)
    elif operation in {"least", "greatest"}:
        for value in values[1:]:
            data = (np.minimum if operation == "least" else np.maximum)(data, value)
    elif operation == "mod":
        is_zero = values[1] == 0
        data = np.mod(values[0], np.where(is_zero, 1, values[1]))
        gaps = np.broadcast_to(is_zero if missing is None else missing | is_zero, data.shape)
        missing = gaps if gaps.any() else None
    else:
        data = {"+": np.add, "-": np.subtract, "*": np.multiply}[operation](*values)
        if not is_real:
            _refuse_overflow(operation, values[0], values[1], data, missing)
    return Vector(kind, np.asarray(data), missing)


def _floored(value: Vector, missing: Flags | None) -> Vector:
    if value.type != Type.REAL:
        return value.cast(Type.INTEGER)
    with np.errstate(invalid="ignore"):
        down = np.floor(value.data)
        is_far = ~(np.abs(down) <= LARGEST_WHOLE)
        gaps = np.asarray(is_far if missing is None else missing | is_far)
        return Vector(Type.INTEGER, np.asarray(np.where(gaps, 0, down).astype(np.int64)), gaps if gaps.any() else None)


def _refuse_overflow(operation: str, left: Cells, right: Cells, result: Cells, missing: Flags | None) -> None:
    if operation == "+":
        is_bad = ((left ^ result) & (right ^ result)) < 0
    elif operation == "-":
        is_bad = ((left ^ right) & (left ^ result)) < 0
    else:
        is_bad = np.abs(left.astype(np.float64) * right.astype(np.float64)) >= 2.0**63
        if np.any(is_bad):  # or only rounded up to that
            left, right = np.broadcast_arrays(left, right)
            is_bad = np.array(is_bad)
            is_bad[is_bad] = [
                not -(2**63) <= int(a) * int(b) < 2**63 for a, b in zip(left[is_bad], right[is_bad], strict=True)
            ]
    _refuse(is_bad, missing)


def _refuse(is_bad: Flags | bool, missing: Flags | None) -> None:
    if missing is not None:
        is_bad = is_bad & ~missing
    if np.any(is_bad):
        raise DataError("a whole number of more than 64 bits was calculated.", "Use reals: write 1.0 * x.")


def _divide(left: Double, right: Double) -> tuple[Double, Flags]:
    return left / right, right == 0


def _power(base: Double, exponent: Double) -> tuple[Double, Flags]:
    return np.power(base, exponent), ((base == 0) & (exponent < 0)) | ((base < 0) & (np.floor(exponent) != exponent))


_FUNCTIONS: dict[str, Callable[..., tuple[Double, Flags | None]]] = {
    "/": _divide,
    "**": _power,
    "exp": lambda value: (np.exp(value), None),
    "sqrt": lambda value: (np.sqrt(value), ~(value >= 0)),
    "log": lambda value: (np.log(value), ~(value > 0)),
}
