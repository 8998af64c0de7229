"""Whether every link and picture inside the built site leads somewhere: ``python docs/check_site.py build/site``.

Sphinx warns of references that it resolves itself; links in raw HTML, anchors and pictures are looked at here, as a
browser would follow them. Addresses of other hosts are not asked: ``python -m sphinx -b linkcheck docs build/links``.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note what a tag names and where it leads."""
        for name, value in attributes:
            if name in {"id", "name"} and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value and (tag, name) != ("link", "href"):
                self.links.append(value)


def broken_links(folder: Path) -> list[str]:
    """What leads nowhere, with the page on which it stands.

    Parameters
    ----------
    folder
        The built site.
    """
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html"))}
    broken = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            is_there = target.exists()
            has_anchor = not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
            if not is_there or not has_anchor:
                broken.append(f"{path.relative_to(folder.resolve())}: {link}")
    return broken


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1]))
    print("\n".join(found) or "every link inside the site leads somewhere")
    sys.exit(bool(found))
