"""Hashes and wide integers: words that every engine has, each its own. Placeholders in a tree, replaced at the end.

=============  ============================  =========================  =================
               DuckDB                        PostgreSQL                 Spark
=============  ============================  =========================  =================
wide integer   ``INT128``                    ``DECIMAL(38, 0)``         ``DECIMAL(38, 0)``
hash           ``hash`` (64 bits)            ``hashint8extended``       ``xxhash64``
exact sum      ``SUM`` of 64 bits is wide    the same                   of ``DECIMAL(20, 0)``
=============  ============================  =========================  =================

A hash is taken of (value + seed), not of the two beside each other: engines join the hashes of two arguments by XOR,
and then the words of one seed would be those of another up to a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

_HASH = "RELIFT_HASH"
_WIDE_TERM = "RELIFT_WIDE_TERM"


def hash_word(shifted: exp.Expr, mask: exp.Expr) -> exp.Expr:
    """The engine's hash of an integer, cut to the bits of a mask."""
    return exp.Anonymous(this=_HASH, expressions=[shifted, mask])


def wide_term(value: exp.Expr) -> exp.Expr:
    """An integer that stands in a sum which must not overflow."""
    return exp.Anonymous(this=_WIDE_TERM, expressions=[value])


def in_words_of(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The tree with the words of a dialect in place of the placeholders."""
    if dialect != "duckdb":
        for kind in list(tree.find_all(exp.DataType)):
            if kind.this == exp.DataType.Type.INT128:
                kind.replace(exp.DataType.build("DECIMAL(38, 0)"))
    for node in reversed(list(tree.find_all(exp.Anonymous))):  # inner ones first
        if node.this == _HASH:
            node.replace(_HASHES[dialect](*node.expressions))
        elif node.this == _WIDE_TERM:
            node.replace(_spark_term(node.expressions[0]) if dialect == "spark" else node.expressions[0])
    return tree


def _duckdb_hash(value: exp.Expr, mask: exp.Expr) -> exp.Expr:
    unsigned = exp.Cast(this=mask, to=exp.DataType(this=exp.DataType.Type.UBIGINT))
    word = exp.BitwiseAnd(this=exp.Anonymous(this="hash", expressions=[value]), expression=unsigned)
    return exp.Cast(this=word, to=exp.DataType(this=exp.DataType.Type.BIGINT))


def _postgres_hash(value: exp.Expr, mask: exp.Expr) -> exp.Expr:
    word = exp.Anonymous(this="hashint8extended", expressions=[value, exp.Literal.number(0)])
    return exp.Paren(this=exp.BitwiseAnd(this=word, expression=mask))


def _spark_hash(value: exp.Expr, mask: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.BitwiseAnd(this=exp.Anonymous(this="xxhash64", expressions=[value]), expression=mask))


def _spark_term(value: exp.Expr) -> exp.Expr:
    """Spark adds up BIGINT as BIGINT; 20 digits leave room for 10**18 terms."""
    return exp.Cast(this=value, to=exp.DataType.build("DECIMAL(20, 0)"))


_HASHES: Mapping[str, Callable[[exp.Expr, exp.Expr], exp.Expr]] = {
    "duckdb": _duckdb_hash,
    "postgres": _postgres_hash,
    "spark": _spark_hash,
}
