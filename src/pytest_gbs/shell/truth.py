"""How a condition ends: true, false or unknown, and whether a user can change that from outside; the operators of `[ ]` and `[[ ]]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.patterns import matches
from pytest_gbs.shell.state import emptiness, text_of
from pytest_gbs.shell.text import Parts


class Truth(NamedTuple):
    """Whether a command succeeds (None: unknown).

    `default` is true if a user can change the answer from outside. `expected` is true for a command of which the script expects success.
    """

    value: bool | None
    default: bool = False
    expected: bool = False

    def negated(self) -> Truth:
        """The opposite."""
        return Truth(None if self.value is None else not self.value, self.default)


YES: Final = Truth(True)
NO: Final = Truth(False)
UNKNOWN: Final = Truth(None)
EXPECTED: Final = Truth(None, expected=True)

COMPARISONS: Final[dict[str, Callable[[int, int], bool]]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
# `[[ $# > 0 ]]` compares texts, which comes to the same where one of them is 0.
AS_NUMBERS: Final = {">": "-gt", "<": "-lt"}


def both(left: Truth, right: Truth) -> Truth:
    """`left && right`."""
    for one in (left, right):
        if one.value is False and not one.default:
            return one
    if False in (left.value, right.value):
        return Truth(False, default=True)  # if nothing is set from outside, whatever the other one is
    if None in (left.value, right.value):
        return UNKNOWN
    return Truth(bool(left.value and right.value), left.default or right.default)


def either(left: Truth, right: Truth) -> Truth:
    """`left || right`."""
    return both(left.negated(), right.negated()).negated()


def is_not_empty(parts: Parts) -> Truth:
    """`[ -n parts ]`."""
    empty, default = emptiness(parts)
    return Truth(None if empty is None else not empty, default)


def same_text(left: Parts, sign: str, right: Parts, *, quoted: bool) -> Truth:
    """`left = right`, or `!=` as `sign` says; `right` is a pattern unless it is `quoted`."""
    if sign not in ("=", "==", "!="):
        return UNKNOWN
    text, pattern = text_of(left), text_of(right)
    if text is None or pattern is None:
        return Truth(sign == "!=", default=True) if _is_no_option(left, pattern) else _by_emptiness(left, sign, pattern)
    same = text == pattern if quoted else matches(pattern, text)
    return Truth(None if same is None else same == (sign != "!="), any(part.default for part in (*left, *right)))


def holds_expression(left: Parts, expression: Parts) -> Truth:
    """`[[ left =~ pretrain ]]`, an expression of plain letters; with `^-...` an argument that is not given is not an option."""
    text, wanted = text_of(left), text_of(expression)
    if text is None or wanted is None or not _plain().fullmatch(wanted):
        return Truth(False, default=True) if _is_no_option(left, (wanted or "").removeprefix("^")) else UNKNOWN
    return Truth(wanted in text, any(part.default for part in (*left, *expression)))


_plain = lazy_pattern(r"[\w/-]+")


def _is_no_option(left: Parts, pattern: str | None) -> bool:
    """Whether `pattern` is one of options (`--*`), and `left` an argument of the script that is not there unless a user gives it."""
    return pattern is not None and pattern.startswith("-") and len(left) == 1 and left[0].text is None and left[0].default


def _by_emptiness(left: Parts, sign: str, pattern: str | None) -> Truth:
    """The answer of `[ "$X" = "" ]`, and of `[ "x$X" = "x" ]`, for a variable of the environment."""
    holes = [part for part in left if part.text is None]
    known = text_of(part for part in left if part.text is not None)
    if pattern is None or not holes or pattern != known or not all(part.default for part in holes):
        return UNKNOWN
    return Truth(sign != "!=", default=True)


def are_arguments(elements: Sequence[Parts]) -> bool:
    """Whether this is `"$@"` of a script of whose arguments nothing is known: none, unless a user gives some."""
    parts = elements[0] if len(elements) == 1 else ()
    return len(parts) == 1 and parts[0].text is None and parts[0].name in ("@", "*") and parts[0].default


def counts_arguments(parts: Parts) -> bool:
    """Whether this is `$#` of a script of whose arguments nothing is known: 0, unless a user gives some."""
    return len(parts) == 1 and parts[0].text is None and parts[0].name == "#" and parts[0].default
