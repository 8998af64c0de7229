"""JSON as PSL reads it: comments, trailing commas and single quotes are allowed."""

from __future__ import annotations

import json
import re

from relift.errors import FileFormatError

_PIECE = re.compile(
    r"""(?P<double>"(?:\\.|[^"\\\n])*")
      | (?P<single>'(?:\\.|[^'\\\n])*')
      | (?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)
      | (?P<comma>,(?=(?:\s|//[^\n]*|\#[^\n]*|/\*.*?\*/)*[\]}]))""",
    re.VERBOSE | re.DOTALL,
)


def read_lenient_json(text: str, name: str) -> object:
    r"""Read JSON with comments.

    Parameters
    ----------
    text
        The text.
    name
        How messages call it.

    Raises
    ------
    FileFormatError
        If it is not JSON.

    Examples
    --------
    >>> read_lenient_json('{"a": [1, 2,], # a comment\n "b": "# none"}', "x.json")
    {'a': [1, 2], 'b': '# none'}
    """
    plain = _PIECE.sub(_plain, text)
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{name}:{error.lineno}:{error.colno}: this is not JSON: {error.msg}.") from None


def _plain(match: re.Match[str]) -> str:
    if match["double"]:
        return match[0]
    if match["single"]:
        return json.dumps(match[0][1:-1].replace("\\'", "'"))
    # Blanks in place of what goes, so that places in messages stay right.
    return re.sub(r"[^\n]", " ", match[0])
