"""`gbs.lock`: a line for each recipe and launch with the batch that it had when gbs lock last ran. It is TOML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.limits import LARGEST_LOCKED, LONGEST_LOCK_LINE
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.locked import PER_GPU, PER_RANK, Record
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple

NAME: Final = "gbs.lock"
VERSION: Final = 1
_HEAD: Final = """\
# The global batch size of each recipe and launch. Written by gbs lock; gbs check fails if one changes ({rule}).
version = 1
"""
_MARKERS: Final = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_SHARES: Final = {"per_gpu": PER_GPU, "per_rank": PER_RANK}
_OWN: Final = ("global_batch_size", "unit", "claim", *_SHARES)
_ESCAPED: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class LockLine(NamedTuple):
    """One entry: its record, and where its line is."""

    record: Record
    at: Location


def write_lock(records: Mapping[str, Record], rule: str) -> str:
    """The text of the lock file, its entries in the order of their names; `rule` is the code of the rule that holds to it."""
    return _HEAD.format(rule=rule) + "".join(f"{_quoted(key)} = {{ {', '.join(_fields(records[key]))} }}\n" for key in sorted(records))


def _fields(record: Record) -> Iterator[str]:
    if record.global_batch_size is not None:
        yield f"global_batch_size = {record.global_batch_size}"
    yield f"unit = {_quoted(record.unit)}"
    if record.share:
        name = next(name for name, of in _SHARES.items() if of == record.of)
        yield f"{name} = {record.share if record.share.isdigit() else _quoted(record.share)}"
    yield from (f"{name} = {value}" for name, value in record.operands)
    if record.claim is not None:
        yield f"claim = {record.claim}"


def _quoted(text: str) -> str:
    """`text` as a basic string of TOML."""
    return '"' + "".join(_ESCAPED.get(sign) or (sign if sign.isprintable() else f"\\U{ord(sign):08x}") for sign in text) + '"'


def read_lock(source: Source) -> dict[str, LockLine]:
    """The entries of the lock file by name.

    Raises:
        SettingsError: it holds the marks of a merge conflict, or what `gbs lock` does not write; the text names the line.
    """
    found: dict[str, LockLine] = {}
    start = 0
    for number, line in enumerate(source.text.splitlines(keepends=True), 1):
        text, where = line.strip(), f"{source.path}:{number}"
        at = Location(source.path, start, start + len(line.rstrip("\r\n")))
        start += len(line)
        if text.startswith(_MARKERS):
            raise SettingsError(f"{where}: a merge conflict; gbs lock rewrites the file from what the recipes say")
        if not text or text.startswith("#"):
            continue
        version = _version().fullmatch(text)
        if version is not None:
            if int(version.group(1)) != VERSION:
                raise SettingsError(
                    f"{where}: version {version.group(1)} is from another version of gbs; this one writes {VERSION}: run gbs lock"
                )
            continue
        key, record = _read_line(text, where)
        if key in found:
            raise SettingsError(f"{where}: a second line for {key}; gbs lock rewrites the file")
        found[key] = LockLine(record, at)
    return found


def _read_line(text: str, where: str) -> tuple[str, Record]:
    match = _entry().fullmatch(text) if len(text) <= LONGEST_LOCK_LINE else None
    fields = dict(_read_fields(match.group(2))) if match is not None else {}
    if match is None or not fields or not _is_sound(fields):
        raise SettingsError(f"{where}: not a line that gbs lock writes; gbs lock rewrites the file")
    share, of = next(((str(fields[name]), of) for name, of in _SHARES.items() if name in fields), ("", PER_GPU))
    operands = tuple((name, value) for name, value in fields.items() if name not in _OWN and isinstance(value, int))
    batch, claim = fields.get("global_batch_size"), fields.get("claim")
    return _unquoted(match.group(1)), Record(
        str(fields["unit"]), batch if isinstance(batch, int) else None, share, of, operands, claim if isinstance(claim, int) else None
    )


def _is_sound(fields: dict[str, int | str]) -> bool:
    numbers = [value for name, value in fields.items() if name not in ("unit", *_SHARES)]
    return isinstance(fields.get("unit"), str) and all(isinstance(value, int) and value <= LARGEST_LOCKED for value in numbers)


def _read_fields(text: str) -> Iterator[tuple[str, int | str]]:
    """Yield the fields of an inline table; an unsound one where something else is in it."""
    place = 0
    for match in _field().finditer(text):
        if match.start() != place:
            break
        place = match.end()
        yield match.group(1), _unquoted(match.group(3)) if match.group(2) is None else int(match.group(2))
    if place != len(text):
        yield "unit", 0


def _unquoted(text: str) -> str:
    return _escape().sub(lambda match: _MEANT.get(match.group(1)) or _sign(match.group(1)), text)


def _sign(code: str) -> str:
    number = int(code[1:], 16)
    return chr(number) if number < 0x110000 else "?"


_MEANT: Final = {escaped[1]: sign for sign, escaped in _ESCAPED.items()}


_version = lazy_pattern(r"version = ([0-9]{1,6})")
_entry = lazy_pattern(r'"((?:[^"\\]|\\.)*)" = \{ (.*) \}')
_field = lazy_pattern(r'([a-z_]+) = (?:([0-9]{1,15})|"((?:[^"\\]|\\.)*)")(?:, (?=[a-z])|$)')
_escape = lazy_pattern(r'\\(["\\nrt]|U[0-9a-f]{8})')
