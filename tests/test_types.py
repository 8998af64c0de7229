"""What the types of the package promise: few places where anything goes, and array types that are defined once."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "relift"
MOST = 300
"""So many times the word Any may stand in the code, imports included; comments and docstrings do not count."""

CLOSED = ("program", "symmetry", "lifting")
"""Packages whose public signatures say what they take and return."""


def words(text: str) -> Iterator[str]:
    """All names of a module, also those in quotation marks, as in ``cast("Any", x)``; no comments, no docstrings."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.string
    tree = ast.parse(text)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in prose and "Any" in str(node.value):
            yield from names_in(node)


def annotations_of(node: ast.AST) -> Iterator[ast.expr]:
    """The annotations that a function, argument or assignment carries itself."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        yield from (argument.annotation for argument in every if argument is not None and argument.annotation)
        if node.returns is not None:
            yield node.returns
    elif isinstance(node, ast.AnnAssign):
        yield node.annotation


def names_in(expression: ast.AST) -> Iterator[str]:
    """The names in an annotation, also in one that is a string."""
    for part in ast.walk(expression):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            with suppress(SyntaxError, ValueError):  # a text that is no type
                yield from names_in(ast.parse(part.value, mode="eval"))


def open_signatures(text: str) -> list[str]:
    """Public functions, methods and attributes of a module that take or return Any."""
    found = []

    def look(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            name = target_of(node)
            if name.startswith("_") and not name.startswith("__"):
                continue
            if any("Any" in names_in(annotation) for annotation in annotations_of(node)):
                found.append(prefix + name)
            if isinstance(node, ast.AnnAssign) and is_alias(node) and node.value and "Any" in names_in(node.value):
                found.append(prefix + name)
            if isinstance(node, ast.ClassDef):
                look(node.body, f"{prefix}{name}.")

    look(ast.parse(text).body, "")
    return found


def target_of(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return ""


def is_alias(node: ast.AnnAssign) -> bool:
    return "TypeAlias" in names_in(node.annotation)


def array_aliases(text: str) -> list[str]:
    """Names that a module gives to types of arrays."""
    found = []
    for node in ast.parse(text).body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Subscript) and "NDArray" in names_in(value.value):
            found += [target.id for target in targets if isinstance(target, ast.Name)]
    return found


def modules(*packages: str) -> list[Path]:
    folders = [SOURCE / package for package in packages] or [SOURCE]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


def test_any_stands_in_few_places() -> None:
    counts = {
        path.relative_to(SOURCE).as_posix(): sum(word == "Any" for word in words(text))
        for path in [*modules(), *SOURCE.rglob("*.pyi")]
        if "Any" in (text := path.read_text(encoding="utf-8"))
    }
    most = sorted(counts, key=lambda name: -counts[name])[:10]
    assert sum(counts.values()) <= MOST, {name: counts[name] for name in most}


@pytest.mark.parametrize("package", CLOSED)
def test_no_public_signature_of_the_inner_packages_takes_or_returns_anything(package: str) -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): signatures
        for path in modules(package)
        if (signatures := open_signatures(path.read_text(encoding="utf-8")))
    }
    assert modules(package)
    assert found == {}


def test_array_types_are_defined_in_one_module() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): names
        for path in modules()
        if (names := array_aliases(path.read_text(encoding="utf-8")))
    }
    assert list(found) == ["arrays.py"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(x: Any) -> None: ...", ["f"]),
        ("def f(*, x: 'dict[str, Any]') -> None: ...", ["f"]),
        ("def f() -> typing.Any: ...", ["f"]),
        ("def f(**words: Any) -> None: ...", ["f"]),
        ("def _f(x: Any) -> None: ...", []),
        ("class A:\n    x: Any\n    def __init__(self, y: list[Any]) -> None: ...", ["A.x", "A.__init__"]),
        ("class _A:\n    x: Any", []),
        ("Quantity: TypeAlias = Any", ["Quantity"]),
        ("def f(x: object) -> int:\n    y: Any = x\n    return y", []),
    ],
)
def test_signatures_that_are_open_are_found(text: str, found: list[str]) -> None:
    assert open_signatures(text) == found


def test_words_count_in_code_and_in_quoted_annotations_but_not_in_prose() -> None:
    text = '"""Any."""\nfrom typing import Any\nx: "list[Any]" = []  # Any\ny: Any = cast("Any", "Any text")\n'
    assert sum(word == "Any" for word in words(text)) == 4


def test_aliases_of_arrays_are_found() -> None:
    text = "A = NDArray[np.float64]\nB: TypeAlias = npt.NDArray[np.int64]\nC = dict[str, int]\nd = NDArray"
    assert array_aliases(text) == ["A", "B"]
