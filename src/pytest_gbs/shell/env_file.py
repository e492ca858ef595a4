"""Files of variables (`.env`): a name, an equals sign and a value on each line, read by docker, compose and `export $(cat .env)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.model.command import Part
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell.state import unknown

_MOST: Final = 500  # variables of one file


def read_env_file(source: Source) -> Iterator[tuple[str, Part]]:
    """Yield each variable with its value; one that takes from others is unknown."""
    for match in islice(_line().finditer(source.text), _MOST):
        written = match[2].strip()
        quote = written[:1] if written[:1] in ("'", '"') and written.find(written[0], 1) > 0 else ""
        value = written[1 : written.index(quote, 1)] if quote else written.partition(" #")[0].rstrip()
        start = match.start(2) + match[2].find(value, len(quote))
        at = Location(source.path, start, start + len(value))
        yield match[1], unknown(match[1], at) if "$" in value and quote != "'" else Part(value, at, at, match[1])


def named_env_file(raw: str) -> str | None:
    """The file whose lines a command substitution gives as words (`$(grep -v '^#' .env | xargs)`); None if it is anything else."""
    match = _printed().fullmatch(raw)
    return match.group(1) if match is not None else None


_line = lazy_pattern(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w{0,100})=([^\n]*)$", re.MULTILINE)
# `cat FILE`, or `grep` for all lines but comments, and what puts them on one line.
_printed = lazy_pattern(
    r"\$\([ \t]*(?:cat|(?:grep|egrep)(?:[ \t]+-[A-Za-z]+)*[ \t]+(?:'\^?#[^'\n]{0,20}'|\"\^?#[^\"\n]{0,20}\"|\^?#\S{0,20}))"
    r"[ \t]+([\w./-]{1,200})[ \t]*(?:\|[ \t]*(?:xargs|grep|sed|tr|awk)\b[^|`$\n]{0,80}){0,3}\)"
)
