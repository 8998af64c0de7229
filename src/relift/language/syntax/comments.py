"""Comments and blank lines, which the grammar does not see and the formatter keeps."""

from __future__ import annotations

import re
from dataclasses import replace

from relift.language.syntax import nodes as n
from relift.language.syntax.source import Span
from relift.language.syntax.syntax_errors import SKIPPED


def comments_from_text(text: str, spans: list[Span], ends: list[int]) -> tuple[n.Comments, ...]:
    """The comments and blank lines around each statement, and those after the last."""
    comments = [(m.start(), m[0].rstrip()) for m in SKIPPED.finditer(text) if m[0][0] == "#"]
    if not comments and "\n\n" not in text:
        return ()
    around, behind, next_comment, last_end = list[n.Comments](), list[str](), 0, 0
    for k in range(len(spans) + 1):
        start = spans[k].start if k < len(spans) else len(text)
        end = ends[k] if k < len(spans) else len(text)
        lines, place = list[str](), last_end
        while next_comment < len(comments) and comments[next_comment][0] < end:
            offset, comment = comments[next_comment]
            gap = text[place:offset]
            if k > 0 and place == last_end and "\n" not in gap and offset < start:
                behind[-1] = comment
            else:
                if _has_blank_line(gap):
                    lines.append("")
                lines.append(comment)
            place = offset + len(comment)
            next_comment += 1
        if k < len(spans) and place < start and _has_blank_line(text[place:start]):
            lines.append("")
        around.append(n.Comments(tuple(lines)))
        behind.append("")
        last_end = end
    return tuple(replace(each, behind=comment) for each, comment in zip(around, behind, strict=True))


def _has_blank_line(gap: str) -> bool:
    return re.search(r"\n[ \t\f\r]*\n", gap) is not None
