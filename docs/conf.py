"""The site: ``make site``. Its pages are the Markdown files of this folder; names are described by their docstrings."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from reference_page import PARTS, home_of, public_names  # noqa: E402

import relift  # noqa: E402

project = "relift"
author = "The relift developers"
copyright = author
version = release = relift.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_heading_anchors = 4
exclude_patterns = ["_build", "paper", "*.json"]
html_theme = "furo"
html_title = f"relift {version}"
html_static_path: list[str] = []
html_copy_source = False
nitpicky = False
napoleon_google_docstring = False
napoleon_use_ivar = True  # a property may be among the attributes of its class, too
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "MatrixLike", "NDArray")}
autodoc_member_order = "bysource"
autodoc_mock_imports = ["ortools"]
suppress_warnings = ["ref.python", "myst.header"]  # one class under two names; pages may begin at any level

API = HERE / "api"


def _write_api(app: Any) -> None:
    """One page for each module of public names, from their docstrings; made anew at each build."""
    API.mkdir(exist_ok=True)
    for module in ("relift", "relift.ml", *(f"relift.{part}" for part in PARTS), "relift.errors"):
        lines = [f"# {module}: all names\n", "```{eval-rst}"]
        if module == "relift.errors":
            lines += [".. automodule:: relift.errors", "   :members:"]
        else:
            for name in public_names(module):
                home, _ = home_of(module, name)
                lines += [*_entry(module, home, name), ""]
        (API / f"{module.replace('.', '_')}.md").write_text("\n".join([*lines, "```", ""]), encoding="utf-8")


def _entry(module: str, home: str, name: str) -> list[str]:
    """How autodoc is asked for one name; it is shown under the name by which it is imported."""
    from importlib import import_module

    try:
        thing = getattr(import_module(home), name)
    except ImportError:
        return [f".. py:data:: {module}.{name}", "", "   Its package is not installed where this page was built."]
    if isinstance(thing, type):
        return [f".. autoclass:: {module}.{name}", "   :members:", "   :no-index-entry:"]
    if callable(thing) and hasattr(thing, "__code__"):
        return [f".. autofunction:: {module}.{name}"]
    return [f".. autodata:: {module}.{name}", "   :no-value:"]


def _shown(app: Any, name: str, source: list[str]) -> None:
    """Links out of this folder, which lead to files of the repository, become plain names on the site."""
    source[0] = re.sub(r"\[([^\]]+)\]\(\.\./(?!CHANGELOG)[^)]*\)", r"\1", source[0])


def _skipped(app: Any, kind: str, name: str, thing: object, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to its estimators: the routing of metadata is described there."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Any) -> None:
    """Hooks of Sphinx."""
    app.connect("autodoc-skip-member", _skipped)
    app.connect("builder-inited", _write_api)
    app.connect("source-read", _shown)
