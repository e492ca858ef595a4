"""The bytes of a file as text: a configuration in whichever encoding YAML allows, a script as the bytes that a shell reads."""

from __future__ import annotations

from pytest_gbs.model.document import CONFIGURATIONS, DOCUMENTS
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.record import Final

# YAML 1.2.2, section 5.2: longest marks first, then the zero bytes around an ASCII character that starts a text without mark.
MARKS: Final = (
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xef\xbb\xbf", "utf-8"),
)
NOT_TEXT: Final = ("not text", "not UTF-")
"""How the reasons start that a decoder gives."""
_UTF_8: Final = MARKS[-1][0]


def decode(path: str, data: bytes) -> Source | Unreadable:
    """The text of `data` without its byte order mark, or why the bytes are not text.

    YAML, JSON and TOML are Unicode, and their loaders refuse other bytes. Shells, make and programs take bytes as they are: in all
    other files one that is not UTF-8 is a lone surrogate of the text (PEP 383), so that the rest is read all the same.
    The digest is left empty: hashing costs more at start-up than all else here, and only fixes need it.
    """
    if not path.lower().endswith((*CONFIGURATIONS, ".lock", *DOCUMENTS)):
        return _decode_bytes(path, data)
    if data[:1] not in b"\xef\xfe\xff\x00" and 0 not in data[:4]:
        return _decode(path, data, "utf-8", 0)
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _decode(path, data, encoding, len(mark))
    return _decode(path, data, _guess(data[:4]), 0)


def _guess(head: bytes) -> str:
    """The encoding of a text without byte order mark that starts with the bytes `head`."""
    zeros = tuple(byte == 0 for byte in head)
    if zeros == (True, True, True, False):
        return "utf-32-be"
    if zeros == (False, True, True, True):
        return "utf-32-le"
    if zeros[:2] == (True, False):
        return "utf-16-be"
    return "utf-16-le" if zeros[:2] == (False, True) else "utf-8"


def _decode_bytes(path: str, data: bytes) -> Source | Unreadable:
    """The text of a file as a shell reads it, never as UTF-16; one with a NUL is refused, with its text beside."""
    skip = len(_UTF_8) if data.startswith(_UTF_8) else 0
    source = Source(path, data[skip:].decode("utf-8", "surrogateescape"), "utf-8", skip > 0)
    zero = data.find(0)
    return source if zero < 0 else Unreadable(path, f"not text: NUL at byte {zero}", None, source)


def _decode(path: str, data: bytes, encoding: str, skip: int) -> Source | Unreadable:
    try:
        text = data[skip:].decode(encoding) if skip else data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8" and path.lower().endswith(DOCUMENTS):
            return _without_nul(path, data, data[skip:].decode(encoding, "surrogateescape"), encoding, skip)
        return _refuse(path, data, f"not {encoding.upper()} at byte {skip + error.start}: {error.reason}")
    return _without_nul(path, data, text, encoding, skip)


def _without_nul(path: str, data: bytes, text: str, encoding: str, skip: int) -> Source | Unreadable:
    zero = text.find("\0")
    if zero >= 0:
        escaped = "surrogateescape" if encoding == "utf-8" else "strict"
        return _refuse(path, data, f"not text: NUL at byte {skip + len(text[:zero].encode(encoding, escaped))}")
    return Source(path, text, encoding, skip > 0)


def _refuse(path: str, data: bytes, reason: str) -> Unreadable:
    from pytest_gbs.files.words import MATTERING

    return Unreadable(path, reason, matters=any(word.encode() in data for word in MATTERING))
