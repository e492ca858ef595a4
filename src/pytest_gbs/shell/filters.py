"""What a few commands print that depend on nothing but their words and their input: `echo`, `seq`, `wc`, `basename` and others."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from pytest_gbs.model.command import Folder, Word
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.location import Location, below
from pytest_gbs.shell.arithmetic import InvalidExpression, evaluate
from pytest_gbs.shell.limits import MOST_TURNS
from pytest_gbs.shell.state import made_of, unknown
from pytest_gbs.shell.text import Parts


def output_of(words: list[str]) -> str | None:
    """What a command prints without input; None for a command that is not known here."""
    name, arguments = words[0], words[1:]
    if name == "echo":
        rest = arguments[arguments[:1] == ["-n"] :]
        return None if rest[:1] and rest[0][:1] == "-" and rest[0][1:] in ("e", "E", "ne", "en") else " ".join(rest) + "\n"
    return _expr(arguments) if name == "expr" else _seq(arguments) if name == "seq" else None


def _expr(words: list[str]) -> str | None:
    """What `expr` prints for integers and the operators between them."""
    if not words or any(not (is_digits(word.removeprefix("-")) or word in ("+", "-", "*", "/", "%", "(", ")")) for word in words):
        return None
    return _calculated(" ".join(word.lstrip("0") or "0" if is_digits(word) else word for word in words))


def _calculated(expression: str) -> str | None:
    try:
        value = evaluate(expression, lambda _name: None, lambda _name, _value: None)
    except InvalidExpression:
        return None
    return None if value is None else f"{value}\n"


def _seq(words: list[str]) -> str | None:
    numbers = [number for word in words if (number := _signed(word)) is not None]
    if not 1 <= len(numbers) == len(words) <= 3:
        return None
    first = numbers[0] if len(numbers) > 1 else 1
    step = numbers[1] if len(numbers) == 3 else 1
    if step == 0 or abs(numbers[-1] - first) // abs(step) > MOST_TURNS:
        return None
    stop = numbers[-1] + (1 if step > 0 else -1)
    return "".join(f"{number}\n" for number in range(first, stop, step))


def _signed(word: str) -> int | None:
    """The integer that a word is, with or without a minus before it; None if it is not one."""
    number = whole_number(word.removeprefix("-"))
    return number if number is None or word[:1] != "-" else -number


def filtered(words: tuple[Word, ...], text: str) -> str | None:
    """What a filter makes of `text`; None for a filter that is not known here."""
    known = [word.text for word in words if word.text is not None]
    made = _FILTERS.get(known[0]) if known and len(known) == len(words) else None
    return made(known[1:], text) if made is not None else None


def _tr(words: list[str], text: str) -> str | None:
    words = [word.replace("\\n", "\n") for word in words]
    return text.replace(words[0], words[1]) if len(words) == 2 and len(words[0]) == len(words[1]) == 1 else None


def _wc(words: list[str], text: str) -> str | None:
    counts = {"-l": text.count("\n"), "-w": len(text.split())}
    return f"{counts[words[0]]}\n" if len(words) == 1 and words[0] in counts else None


# A program of awk that prints a field or how many there are, behind the sign that separates them: `-F, {print NF}`.
_PRINT: Final = re.compile(r"(?:-F([^\s\\])|) ?\{ ?print (?:\$([1-9])|NF) ?;? ?\}", re.ASCII)


def _awk(words: list[str], text: str) -> str | None:
    program = _PRINT.fullmatch(" ".join(words).replace("-F ", "-F"))
    if program is None:
        return None
    rows = [line.split(program.group(1)) if line else [] for line in text.splitlines()]
    if program.group(2) is None:
        return "".join(f"{len(row)}\n" for row in rows)
    number = int(program.group(2))
    return "".join((row[number - 1] if len(row) >= number else "") + "\n" for row in rows)


def _head(words: list[str], text: str) -> str | None:
    count = whole_number("".join(words).lstrip("-n"))
    return "".join(text.splitlines(keepends=True)[:count]) if count is not None else None


_FILTERS: Final[dict[str, Callable[[list[str], str], str | None]]] = {
    "tr": _tr, "wc": _wc, "awk": _awk, "head": _head,
}  # fmt: skip


def key_pattern(pattern: str) -> re.Pattern[str] | None:
    r"""The regular expression of a `grep` for a key: text, `^`, `$`, `\s*`, ` *`; None for any other."""
    pattern = pattern.replace("[[:space:]]", r"\s")
    if len(pattern) > 100 or pattern.count("*") > 3 or not re.fullmatch(r"\^?(?:\\s\*| \*|[\w :\"'=/-])+\$?", pattern, re.ASCII):
        return None
    return re.compile(pattern, re.ASCII)


def place_of(folder: Folder) -> str | None:
    """The place of the folder that a shell is in, as an unknown has it; None if it is none of the tree."""
    if folder.path is None or folder.rooted:
        return folder.path
    return None if folder.path.startswith(("/", "~")) else f"./{folder.path}".rstrip("/")


def path_in_tree(folder: Folder, at: Location) -> Parts | None:
    """An absolute path of which only its place in the tree is known."""
    place = place_of(folder)
    return (unknown("pwd", at)._replace(path=place),) if place is not None else None


def _basename(words: tuple[Word, ...], at: Location, _folder: Folder) -> Parts | None:
    words = _without_dashes(words)
    if not 2 <= len(words) <= 3:
        return None
    parts = [part for part in words[1].parts if part.text != ""]
    last = parts[-1].text if parts else ""
    suffix = words[2].text if len(words) == 3 else ""
    if not last or suffix is None or (len(parts) > 1 and "/" not in last):
        return None
    name = last.rstrip("/").rsplit("/", 1)[-1]
    return (made_of(parts, name.removesuffix(suffix) if name != suffix else name, at),)


def _without_dashes(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`words` without the `--` behind which a command has no options."""
    return words[:1] + words[2:] if len(words) > 1 and words[1].text == "--" else words


def _dirname(words: tuple[Word, ...], at: Location, _folder: Folder) -> Parts | None:
    words = _without_dashes(words)
    if len(words) != 2:
        return None
    text, named = words[1].text, words[1].path
    if text is not None:
        head = text.rstrip("/").rpartition("/")
        return (made_of(words[1].parts, head[0] or ("/" if head[1] else "."), at),)
    above = below(named.path, "..") if named.path and named.rooted else None
    return None if above is None else (unknown("dirname", at)._replace(path=above),)


def _realpath(words: tuple[Word, ...], at: Location, _folder: Folder) -> Parts | None:
    options = [word.text for word in words[1:-1]]
    if len(words) < 2 or any(option is None or not option.startswith("-") for option in options):
        return None
    return path_in_tree(words[-1].path, at) if words[-1].path.rooted else None


def _pwd(_words: tuple[Word, ...], at: Location, folder: Folder) -> Parts | None:
    return path_in_tree(folder, at)


def _git(words: tuple[Word, ...], at: Location, _folder: Folder) -> Parts | None:
    wanted = [word.text for word in words] == ["git", "rev-parse", "--show-toplevel"]
    return (unknown("git root", at)._replace(path=""),) if wanted else None


def _which(words: tuple[Word, ...], at: Location, _folder: Folder) -> Parts | None:
    """Where a program is, which a script that starts it takes to be installed: `$(which accelerate)`, `$(command -v swift)`."""
    name = words[-1].text
    if len(words) != (2 if words[0].text == "which" else 3) or (len(words) == 3 and words[1].text not in ("-v", "-p", "-P")):
        return None
    return (unknown("which", at), made_of(words[-1].parts, f"/{name}", at)) if name and "/" not in name else None


# Commands that print a path, by their words, their place and the folder they run in.
PATHS: Final[dict[str, Callable[[tuple[Word, ...], Location, Folder], Parts | None]]] = {
    "basename": _basename, "dirname": _dirname, "realpath": _realpath, "readlink": _realpath, "pwd": _pwd, "git": _git,
    "which": _which, "command": _which, "type": _which,
}  # fmt: skip
