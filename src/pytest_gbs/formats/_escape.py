"""Text of strangers made safe to print: nothing in it moves a cursor, turns the writing around, breaks a line or commands a CI system."""

from __future__ import annotations

import re
from functools import cache

from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape(text: str) -> str:
    """`text` with controls, line breaks, signs that turn the writing around and lone surrogates written out: `\\x1b`.

    Letters of all languages stay as they are.
    """
    return text if text.isprintable() else _unsafe().sub(_written, text)


def neutralize(text: str, *, commands: str = "") -> str:
    """The lines of a report with everything written out that a terminal or the log of a CI system would obey.

    Line breaks, tabs, our colours and links to our manual stay. A line that starts with `::` is a command of GitHub Actions, `##[name]`,
    `##vso[name]` and `##teamcity[name]` are commands of others anywhere in a line; `commands` is what the report's own start with.
    """
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _unsafe_lines().sub(_written, text)
    if "::" in text and commands != "::":
        text = _github().sub(r"\1\\x3a", text)
    return text if commands == "##" else neutralize_hashes(text, r"#\x23")


def neutralize_hashes(text: str, written: str) -> str:
    """`text` with each `##` that starts a command of a CI system replaced by what a format has for it."""
    return _hashes().sub(lambda _: written, text) if "##" in text else text


def has_control_sequences(text: str) -> bool:
    """Whether a terminal or the log of a CI system would obey a part of `text`, which is to be printed byte by byte."""
    return bool(_control_sequences().search(text) or _github().search(text) or _hashes().search(text))


_SIGNS: Final = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # C1, bidi controls, line and paragraph ends
_INVISIBLE: Final = "\u00ad\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\uffff\ud800-\udfff\U000e0000-\U000e007f"


# What is written out: C0, C1, line and paragraph ends, bidi controls, invisible tags, surrogates, non-characters.
_unsafe = lazy_pattern(f"[\x00-\x1f{_SIGNS}{_INVISIBLE}]")


@cache
def _unsafe_lines() -> re.Pattern[str]:
    """The same where lines, colours and links to our manual are our own."""
    from pytest_gbs.model.documentation import DOCUMENTATION

    link = f"\\]8;;(?:{re.escape(DOCUMENTATION)}[a-z0-9/]*)?\x1b\\\\|\\\\"
    return re.compile(f"\x1b(?!\\[[0-9;]*m|{link})|[\x00-\x08\x0b-\x1a\x1c-\x1f{_SIGNS}{_INVISIBLE}]")


# What text may not hold that is printed byte by byte: line ends and a byte order mark are a part of files.
_control_sequences = lazy_pattern(f"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f{_SIGNS}]")
_github = lazy_pattern(r"(?m)^((?:[^\S\n]|\x1b\[[0-9;]*m)*):(?=:)")
_hashes = lazy_pattern(r"##(?=\w*\[)")


def _written(match: re.Match[str]) -> str:
    sign = match.group()
    if sign in _SHORT:
        return _SHORT[sign]
    code = ord(sign)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
