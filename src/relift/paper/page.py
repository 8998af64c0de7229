"""One HTML page that needs nothing else: figures are inside it, no script, no network."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

LARGEST_SVG = 400_000
"""Bytes; of larger figures the PNG goes into the page."""

CSS = """
:root { color-scheme: light; --line: #d8dce2; --soft: #f5f6f8; --ink: #1d2733; --faint: #5b6672; --accent: #2f5d8c; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 2.5rem 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.shows { color: var(--faint); margin: 0 0 1.2rem; font-size: 1.05rem; }
section + section { border-top: 2px solid var(--line); margin-top: 3rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; font-variant-numeric: tabular-nums; }
th, td { padding: .42rem .7rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { background: var(--soft); font-weight: 600; border-bottom: 2px solid var(--line); }
td.number, th.number { text-align: right; white-space: nowrap; }
tr:last-child td { border-bottom: 2px solid var(--line); }
p.note, figcaption, details { color: var(--faint); font-size: .9rem; }
figure { margin: 1.8rem 0; text-align: center; }
figure img { max-width: 100%; height: auto; }
figcaption { text-align: left; margin: .5rem auto 0; max-width: 48rem; }
code { background: var(--soft); padding: .1em .3em; border-radius: 3px; font-size: .92em; }
details { margin-top: 2rem; } summary { cursor: pointer; color: var(--accent); }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; font-size: .85rem; }
@media (max-width: 40rem) {
  body { font-size: 15px; }
  main { padding: 1rem .8rem 2.5rem; }
  h1 { font-size: 1.35rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; }
  p, figcaption, details, code, td { overflow-wrap: anywhere; }
  table { font-size: .82rem; } th, td { padding: .32rem .4rem; }
  table.many { width: max-content; min-width: 100%; } table.many td, table.many th { overflow-wrap: normal; }
  td:first-child { min-width: 7.5em; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .75rem; }
  figure { margin: 1.2rem 0; }
}
@media print { main { max-width: none; } figure, table { break-inside: avoid; } }
"""

_NUMBER = re.compile(r"[–-]|same|differs|[-+−]?[\d.,]+(e[-+]?\d+)?\s*(%|s|ms|×|x|min)?")


def page_from_sections(title: str, sections: Sequence[str]) -> str:
    """Put sections on a page.

    Parameters
    ----------
    title
        Of the page.
    sections
        From :func:`section_from_result`.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)} – relift</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def section_from_result(document: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str:
    """Write one experiment as a section of a page.

    Parameters
    ----------
    document
        The JSON document of the experiment.
    pictures
        Its figures, by the name of the file.
    """
    parts = [
        f'<section id="{html.escape(document["experiment"])}">',
        f"<h1>{_marked(document['title'])}</h1>",
        f'<p class="shows">{_marked(document["shows"])}</p>',
    ]
    if document["quick"]:
        parts.append("<p><strong>A quick run, on a smaller scale than the paper.</strong></p>")
    if document["comparison"]:
        parts.append("<h2>The paper and relift</h2>")
        notes = any(line["note"] for line in document["comparison"])
        columns = ["", "paper", "ours", "ours / paper", *(["remark"] if notes else [])]
        rows = [[*line["cells"], *([line["note"]] if notes else [])] for line in document["comparison"]]
        parts.append(_table(columns, rows))
    parts += [f"<p>{_marked(paragraph)}</p>" for paragraph in document["text"]]
    parts += [_figure(figure, pictures) for figure in document["figures"]]
    for table in document["tables"]:
        parts.append(f"<h2>{_marked(table['title'])}</h2>")
        parts.append(_table(table["columns"], table["rows"]))
        if table["note"]:
            parts.append(f'<p class="note">{_marked(table["note"])}</p>')
    parts.append(_colophon(document))
    parts.append("</section>")
    return "\n".join(parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    is_number = [
        bool(rows) and all(_NUMBER.fullmatch(row[k].strip()) for row in rows if row[k].strip())
        for k in range(len(columns))
    ]
    kinds = [' class="number"' if number else "" for number in is_number]
    head = "".join(f"<th{kind}>{_marked(name)}</th>" for kind, name in zip(kinds, columns, strict=True))
    lines = [
        "<tr>" + "".join(f"<td{kind}>{_marked(cell)}</td>" for kind, cell in zip(kinds, row, strict=True)) + "</tr>"
        for row in rows
    ]
    body = "\n".join(lines)
    kind = ' class="many"' if len(columns) > 5 else ""  # scrolls sideways on a narrow screen
    return f'<div class="wide"><table{kind}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _figure(figure: Mapping[str, str], pictures: Mapping[str, bytes]) -> str:
    content, kind = pictures[f"{figure['name']}.svg"], "image/svg+xml"
    if len(content) > LARGEST_SVG:
        content, kind = pictures[f"{figure['name']}.png"], "image/png"
    source = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    caption = _marked(figure["caption"])
    alt = html.escape(re.sub(r"[`*]", "", figure["caption"]), quote=True)
    return f'<figure><img src="{source}" alt="{alt}"><figcaption>{caption}</figcaption></figure>'


def _colophon(document: Mapping[str, Any]) -> str:
    versions = "\n".join(f"{name} {version or 'not installed'}" for name, version in document["versions"].items())
    settings = "\n".join(f"{name} = {value}" for name, value in document["settings"].items())
    quick = " --quick" if document["quick"] else ""
    seed = f" --seed {document['seed']}" if document["seed"] else ""
    data = "".join(f" --data {html.escape(name)}" for name in document["data"])
    command = f"relift reproduce {document['experiment']}{quick}{data}{seed}"
    return (
        f"<details><summary>How this was made</summary>\n<p><code>{command}</code> on {document['date']}, "
        f"{document['parts']} parts in {document['seconds']:.1f} s, seed {document['seed']}.</p>\n"
        f"<pre>{html.escape(settings)}</pre>\n<pre>{html.escape(versions)}</pre>\n</details>"
    )


def _marked(text: str) -> str:
    """Escape a text and turn its marks into elements.

    Examples
    --------
    >>> _marked("a < b in **all** of `x[0]`")
    'a &lt; b in <strong>all</strong> of <code>x[0]</code>'
    """
    safe = html.escape(text)
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", safe)
