"""What a few commands print that depend on nothing but their words and what they are fed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Word
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.shell.limits import MOST_TURNS

if TYPE_CHECKING:
    from pytest_gbs.shell.machine import Machine

_MOST_DIGITS: Final = 3  # of the number of a field


def print_words(machine: Machine, words: list[str]) -> str | None:
    """Return what a command prints on its own, None where we do not know the command."""
    name, arguments = words[0], words[1:]
    if name == "echo":
        flags = arguments[:1] == ["-n"]
        rest = arguments[flags:]
        return None if rest[:1] and rest[0][:1] == "-" and rest[0][1:] in ("e", "E", "ne", "en") else " ".join(rest) + "\n"
    if name == "printf" and len(arguments) == 2 and arguments[0] in ("%s", "%d", "%s\\n", "%d\\n"):
        return arguments[1] + "\n"
    if name == "printf" and len(arguments) == 1 and "%" not in arguments[0] and "\\" not in arguments[0]:
        return arguments[0]
    if name == "expr":
        return _expr(machine, arguments)
    if name == "seq":
        return _seq(arguments)
    return None


def _expr(machine: Machine, words: list[str]) -> str | None:
    """Return what `expr` prints for whole numbers and the signs between them."""
    if not words or any(not (is_digits(word.removeprefix("-")) or word in ("+", "-", "*", "/", "%", "(", ")")) for word in words):
        return None
    value = machine.reckon_text(" ".join(word.lstrip("0") or "0" if is_digits(word) else word for word in words))
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
    """Return the whole number that a word is, with or without a minus before it; None where it is none."""
    number = whole_number(word.removeprefix("-"))
    return number if number is None or word[:1] != "-" else -number


def filter_text(machine: Machine, words: tuple[Word, ...], text: str) -> str | None:
    """Return what a filter makes of `text`, None where we do not know the filter."""
    known = [word.text or "" for word in words if word.text is not None]
    if len(known) != len(words) or not known:
        return None
    made = _FILTERS.get(known[0])
    if known[0] == "bc":
        expression = text.strip()
        whole = bool(expression) and not set(expression) - set("0123456789+-*/% ()")
        value = machine.reckon_text(expression) if whole else None
        return None if value is None else f"{value}\n"
    return made(known[1:], text) if made is not None else None


def _tr(words: list[str], text: str) -> str | None:
    words = [word.replace("\\n", "\n") for word in words]
    if len(words) == 2 and words[0] == "-d" and "\\" not in words[1] and "[" not in words[1] and "-" not in words[1]:
        return "".join(character for character in text if character not in words[1])
    return text.replace(words[0], words[1]) if len(words) == 2 and len(words[0]) == len(words[1]) == 1 else None


def _wc(words: list[str], text: str) -> str | None:
    counts = {"-l": text.count("\n"), "-w": len(text.split())}
    return f"{counts[words[0]]}\n" if len(words) == 1 and words[0] in counts else None


def _cut(words: list[str], text: str) -> str | None:
    joined = " ".join(words).replace("-d ", "-d").replace("-f ", "-f").split(" ")
    separator = next((word[2:] for word in joined if word.startswith("-d")), "")
    field = whole_number(next((word[2:] for word in joined if word.startswith("-f")), ""), _MOST_DIGITS)
    if len(separator) != 1 or not field or len(joined) != 2:
        return None
    lines = [line.split(separator) for line in text.splitlines()]
    return "".join((fields[field - 1] if len(fields) >= field else "" if len(fields) > 1 else fields[0]) + "\n" for fields in lines)


def _awk(words: list[str], text: str) -> str | None:
    joined = " ".join(words).replace("-F ", "-F")
    field = re.fullmatch(r"\{ ?print \$([1-9]) ?;? ?\}", joined)
    if field:
        number = int(field.group(1))
        rows = [line.split() for line in text.splitlines()]
        return "".join((row[number - 1] if len(row) >= number else "") + "\n" for row in rows)
    for separator in (",", ":"):
        if joined in (f"-F{separator} {{print NF}}", f"-F{separator} {{ print NF }}"):
            return "".join(f"{line.count(separator) + 1 if line else 0}\n" for line in text.splitlines())
    return None


def _head(words: list[str], text: str) -> str | None:
    count = whole_number("".join(words).lstrip("-n"))
    return "".join(text.splitlines(keepends=True)[:count]) if count is not None else None


_FILTERS: Final[dict[str, Callable[[list[str], str], str | None]]] = {"tr": _tr, "wc": _wc, "cut": _cut, "awk": _awk, "head": _head}
