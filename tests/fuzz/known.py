"""Failures that are known and not fixed yet: counted, reported apart, and listed in docs/reliability.md.

An entry is a pattern of signatures and what is wrong. It goes when the fault goes.
"""

from __future__ import annotations

import re

KNOWN: dict[str, str] = {}


def is_known(signature: str) -> bool:
    return any(re.match(pattern, signature) for pattern in KNOWN)
