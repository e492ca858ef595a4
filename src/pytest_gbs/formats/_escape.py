"""Text of strangers made safe to print: nothing in it moves a cursor, turns the writing around or starts a new line."""

from __future__ import annotations

import re
from functools import cache

from pytest_gbs.core.typed import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    """Return `text` with controls, line breaks, signs that turn the writing around and lone surrogates written out: `\\x1b`.

    Letters of all languages stay as they are.
    """
    return text if text.isprintable() else _unsafe().sub(_written, text)


@cache
def _unsafe() -> re.Pattern[str]:
    """Return what is written out: C0, C1, line and paragraph ends, bidi controls, invisible tags, surrogates, non-characters."""
    return re.compile(
        "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\uffff\ud800-\udfff\U000e0000-\U000e007f]"
    )


def _written(match: re.Match[str]) -> str:
    sign = match.group()
    if sign in _SHORT:
        return _SHORT[sign]
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
