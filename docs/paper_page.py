"""The generated blocks of docs/paper.md, from docs/paper/*.json; ``python docs/paper_page.py results`` renews those.

``relift reproduce all --out results`` makes the results; this script keeps their tables (without single rows) and
figures under docs/; ``python docs/generate.py`` then fills the page.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
STORED, FIGURES = DOCS / "paper", DOCS / "figures" / "paper"
NAMES = ("example", "gaussians", "cora", "moons", "shapes", "theorems")
LARGEST_SVG = 200_000
"""Bytes; of larger figures the PNG is kept."""


def block(name: str) -> str:
    """One experiment as Markdown."""
    path = STORED / f"{name}.json"
    if not path.is_file():
        return f"*Not run yet: `relift reproduce {name}` makes this section.*"
    document = json.loads(path.read_text(encoding="utf-8"))
    notes = any(line["note"] for line in document["comparison"])
    columns = ["", "paper", "ours", "ours / paper", *(["remark"] if notes else [])]
    rows = [[*line["cells"], *([line["note"]] if notes else [])] for line in document["comparison"]]
    parts = [document["shows"], _table(columns, rows), *document["text"]]
    for figure in document["figures"]:
        alt = figure["caption"].split(". ")[0].rstrip(".").replace("`", "").replace("*", "")
        parts += [f"![{alt}](figures/paper/{figure['file']})", f"*{figure['caption'].replace('*', '')}*"]
    for table in document["tables"]:
        parts += [f"**{table['title']}**", _table(table["columns"], table["rows"]), table["note"]]
    parts.append(_colophon(document))
    return "\n\n".join(part for part in parts if part)


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _colophon(document: dict[str, Any]) -> str:
    versions = {name: version for name, version in document["versions"].items() if version}
    shown = ", ".join(f"{name} {versions[name]}" for name in ("relift", "python", "numpy", "scipy", "scikit-learn"))
    quick = " --quick" if document["quick"] else ""
    data = "".join(f" --data {name}" for name in document.get("data", ()))
    minutes = document["seconds"] / 60
    took = f"{minutes:.0f} minutes" if minutes >= 1.5 else f"{max(1, round(document['seconds']))} s"
    return (
        f"*`relift reproduce {document['experiment']}{quick}{data}`: {document['parts']} parts in {took}, "
        f"seed {document['seed']}; {shown}.*"
    )


def keep(results: Path) -> list[str]:
    """Copy what the page needs from a folder of results; names of the experiments that were there."""
    found = []
    for name in NAMES:
        source = results / name / f"{name}.json"
        if not source.is_file():
            continue
        document = json.loads(source.read_text(encoding="utf-8"))
        del document["rows"]
        for key in ("platform", "machine"):
            document["versions"].pop(key, None)
        FIGURES.mkdir(parents=True, exist_ok=True)
        for old in FIGURES.glob(f"{name}-*"):
            old.unlink()
        for figure in document["figures"]:
            picture = results / name / f"{figure['name']}.svg"
            if picture.stat().st_size > LARGEST_SVG:
                picture = picture.with_suffix(".png")
            figure["file"] = f"{name}-{picture.name}"
            shutil.copyfile(picture, FIGURES / figure["file"])
        STORED.mkdir(exist_ok=True)
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        (STORED / f"{name}.json").write_text(text, encoding="utf-8")
        found.append(name)
    return found


PAPER_BLOCKS = {f"paper_{name}": (lambda name=name: block(name)) for name in NAMES}
"""For docs/generate.py."""


def main() -> None:
    """Renew what docs/paper.md is made from."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="the folder that `relift reproduce` wrote")
    found = keep(parser.parse_args().results)
    if not found:
        sys.exit("no results there: run `relift reproduce all` first")
    print(f"kept: {', '.join(found)}. Now run python docs/generate.py")


if __name__ == "__main__":
    main()
