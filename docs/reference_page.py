"""The tables of docs/reference.md: every public name with the first sentence of its docstring.

Sources are read and not imported, so that bridges to packages that are not installed are listed too.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import relift

SOURCE = Path(relift.__file__).parent.parent
PARTS = ("highs", "linopy", "pyomo", "pulp", "ortools", "cvxpy", "qpsolvers")
"""Modules of one bridge each."""


@lru_cache
def _parsed(module: str) -> ast.Module:
    path = SOURCE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def home_and_summary(module: str, name: str) -> tuple[str, str]:
    """Where a name is defined, and what its docstring begins with.

    Parameters
    ----------
    module
        Where it is offered.
    name
        The name.
    """
    body = _parsed(module).body
    defined = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]
    if defined:  # the last: those before it are overloads
        return module, _first_sentence(ast.get_docstring(defined[-1]) or "")
    for k, node in enumerate(body):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                after = body[k + 1] if k + 1 < len(body) else None
                is_told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                return module, _first_sentence(str(after.value.value)) if is_told else ""  # type: ignore[union-attr]
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            return home_and_summary(str(node.module), name)
    raise SystemExit(f"{module} offers {name}, which it neither defines nor imports")


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    formulas = re.sub(r":math:`([^`]*)`", lambda math: f"${_in_table(math[1])}$", paragraph.replace("``", "`"))
    return re.sub(r"\\*\|", r"\\|", formulas)


def _in_table(math: str) -> str:
    """A formula without the bar that ends a cell."""
    return re.sub(r"\\+\|", r"\\Vert{}", math).replace("|", r"\vert{}")


def public_names(module: str) -> list[str]:
    """What a module offers, read from its ``__all__``."""
    if module == "relift":
        return list(relift.__all__)
    for node in _parsed(module).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return sorted(ast.literal_eval(node.value))
    raise SystemExit(f"{module} has no __all__")


def home_of(module: str, name: str) -> tuple[str, str]:
    """Home and summary of a public name; some packages import their names when they are first used."""
    if module == "relift":
        return home_and_summary(relift._homes()[name], name)
    if module == "relift.ml":
        from relift.ml import _HOME

        return home_and_summary(f"relift.ml.{_HOME[name]}", name)
    return home_and_summary(module, name)


def table(module: str) -> str:
    """All names of a module."""
    lines = ["| name | what it is |", "|---|---|"]
    for name in public_names(module):
        lines.append(f"| `{module}.{name}` | {_plain(home_of(module, name)[1])} |")
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Docstrings refer by roles of Sphinx, which a table of Markdown does not know."""
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)


def errors() -> str:
    """All errors and warnings."""
    lines = ["| name | what it means |", "|---|---|"]
    for node in _parsed("relift.errors").body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            lines.append(f"| `relift.errors.{node.name}` | {_plain(_first_sentence(ast.get_docstring(node) or ''))} |")
    return "\n".join(lines)


REFERENCE_BLOCKS = {
    "names_relift": lambda: table("relift"),
    "names_ml": lambda: table("relift.ml"),
    "names_errors": errors,
    **{f"names_{part}": (lambda part=part: table(f"relift.{part}")) for part in PARTS},
}
