"""Texts without passwords: every error of relift goes through here, and everything that the command line says.

What looks like the address of a server or like a setting of a password is cut generously: it is better to lose a few
words of a message than to print a piece of a password that was written in a way nobody expected.

>>> redacted("there is no file 'postgresql:/me:secret@db.example.org/sales'.")
"there is no file 'postgresql:/***@db.example.org/sales'."
>>> redacted("host=db password='a secret' dbname=sales")
'host=db password=*** dbname=sales'
"""

from __future__ import annotations

import re
from urllib.parse import unquote

HIDDEN = "***"
_ADDRESS = re.compile(
    r"(?<![a-z0-9+.\-])([a-z][a-z0-9+.\-]{0,40}:/+|postgres\w{0,9}:/*)(?=[^@]*@).*@", re.IGNORECASE | re.DOTALL
)
"""From a scheme to the last @ behind it: a password may hold @, /, ? and blanks."""
_USER = re.compile(r"[a-z]+://[\w.\-]*@", re.IGNORECASE)
"""An address with a user and no password."""
_PAIR = re.compile(r"(?<![^\s'\"(=])[^\s:@'\"(]{1,100}:(?!\s|/*\*\*\*|//[\w.\-]*@)[^\n]{0,300}@")
"""``user:password@host`` without a scheme."""
_NO_HOST = re.compile(
    r"(postgres\w{0,9}:/*[^\s:@/?'\"]{0,100}):(?!\s|\d{1,5}(?:[/?,'\"\s.)]|$)|/|\*\*\*).+",
    re.IGNORECASE | re.DOTALL,
)
"""An address that ends behind its password."""
_WHOLE = re.compile(r"(postgres\w{0,9}:/+[^\s'\"?]{0,300})\?[^'\"]+", re.IGNORECASE)
_WORD = r"(?:ssl|pg|db|user|postgres)?_?(?:password|passwd|passphrase|pwd)"
_SETTING = re.compile(
    rf"(?<![a-z])({_WORD})(\\*[\"']?\s{{0,9}}[=:]\s{{0,9}}|%3d)"
    r"(?:\\*([\"'])(?:\\.|(?!\3).|\3(?=\3|\w))*(?:\3|$)|(?:(?!\s{1,9}[a-z_]\w{0,40}\s{0,9}=)[^&\"'])*)",
    re.IGNORECASE | re.DOTALL,
)
"""A setting: in quotation marks to the closing one, else to the next setting, quotation mark, ampersand or the end."""


def redacted(text: str) -> str:
    """A text without the passwords of addresses in it.

    Parameters
    ----------
    text
        Anything that will be shown.
    """
    lower = text.lower()
    if "pass" in lower or "pwd" in lower:
        text = _SETTING.sub(lambda found: f"{found[1]}={HIDDEN}", text)
    if "postgres" in lower:
        text = _WHOLE.sub(_without_spelt_settings, text)
    if "@" in text:
        text = _ADDRESS.sub(lambda found: found[0] if _USER.fullmatch(found[0]) else f"{found[1]}{HIDDEN}@", text)
        text = _PAIR.sub(f"{HIDDEN}@", text)
    return _NO_HOST.sub(rf"\1:{HIDDEN}", text) if "postgres" in lower else text


def _without_spelt_settings(address: re.Match[str]) -> str:
    """An address without its settings, if they set a password in signs such as ``pass%77ord``."""
    settings = address[0][len(address[1]) :]
    is_spelt = "%" in settings and "pass" in unquote(settings).lower()
    return f"{address[1]}?{HIDDEN}" if is_spelt else address[0]
