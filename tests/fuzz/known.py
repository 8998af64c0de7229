"""Failures that are known and not fixed yet: counted, reported apart, and listed in docs/reliability.md.

An entry is a pattern of signatures and what is wrong. It goes when the fault goes.
"""

from __future__ import annotations

import re

KNOWN: dict[str, str] = {
    r"mps respelled: another program|mps: not as HiGHS reads it \(A\)": "a comment or an empty line inside of COLUMNS",
    r"(mps|lp) clean: what relift has written": (
        "bounds of 1e20 and more, which MPS and LP read as infinite; entries up to 1e-12, which LP cannot hold"
    ),
    r"solution .json damaged: OverflowError": "a whole number too large for a float in a solution",
    r"npz damaged: ValueError": "a damaged zip archive is not called a file error",
    r"points damaged: TokenError": "a damaged header of a NumPy file is not called a file error",
}


def is_known(signature: str) -> bool:
    return any(re.match(pattern, signature) for pattern in KNOWN)
