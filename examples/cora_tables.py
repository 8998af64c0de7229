"""Tables for examples/models/tc_qp_svm_cora.rlp from the Cora citation data (cora.content or .gz, and cora.cites).

    python examples/cora_tables.py path/to/cora tables/ --subject Neural_Networks --every 10
    relift examples/models/tc_qp_svm_cora.rlp --data tables/ --out results/

Every tenth paper is labelled, 1 if it is about the subject and -1 if not; the others are to be found out.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from pathlib import Path
from typing import Any

COLUMNS = {"word": ("paper", "word"), "cite": ("citing", "cited"), "label": ("paper", "label"), "query": ("paper",)}


def cora_tables(folder: Path, subject: str = "Neural_Networks", every: int = 10) -> dict[str, list[tuple[Any, ...]]]:
    """Relations and params by name, as lists of tuples; papers are their numbers, words are w0, w1, ..."""
    plain = folder / "cora.content"
    text = plain.read_text() if plain.is_file() else gzip.decompress((folder / "cora.content.gz").read_bytes()).decode()
    papers = [line.split("\t") for line in text.splitlines()]
    links = [line.split() for line in (folder / "cora.cites").read_text().splitlines()]  # cited, citing
    return {
        "word": [(int(p[0]), f"w{j}") for p in papers for j, entry in enumerate(p[1:-1]) if entry == "1"],
        "cite": [(int(citing), int(cited)) for cited, citing in links],
        "label": [(int(p[0]), 1 if p[-1] == subject else -1) for p in papers[::every]],
        "query": [(int(p[0]),) for k, p in enumerate(papers) if k % every],
    }


def write_tables(tables: dict[str, list[tuple[Any, ...]]], folder: Path) -> None:
    """One CSV file for each table, by its name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS[name])
            writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with cora.content (or .gz) and cora.cites")
    parser.add_argument("out", type=Path, help="folder for the tables")
    parser.add_argument("--subject", default="Neural_Networks")
    parser.add_argument("--every", type=int, default=10, help="every so-manyth paper is labelled")
    arguments = parser.parse_args()
    write_tables(cora_tables(arguments.folder, arguments.subject, arguments.every), arguments.out)


if __name__ == "__main__":
    main()
