"""A statement cut into numbers, words and signs, each with its place."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from pytest_gbs.declarations.words import SEPARATE

NUMBER: Final = "number"
WORD: Final = "word"
SIGN: Final = "sign"

# No statement about a batch has more tokens than this; the rest of a longer one is not read.
_MOST: Final = 400
_SAME: Final = {
    **dict.fromkeys("×✕⨯✖", "x"),
    **dict.fromkeys("∗＊⋅", "*"),
    **dict.fromkeys(("→", "⇒", "➜", "⟶", "=>"), "->"),
    **dict.fromkeys(("≈", "≃", "≅", "～", "∼", "~="), "~"),
    **dict.fromkeys("–—−‐‑", "-"),
    **{"==": "=", "：": ":", "＝": "=", "，": ",", "、": ",", "（": "(", "）": ")", "÷": "/", "／": "/", "＋": "+", "≥": ">=", "≤": "<="},
}
# Names of sizes that are written right in front of their number: `dp8`, `bs128`.
_GLUED: Final = frozenset(("dp", "tp", "pp", "cp", "sp", "ep", "bs", "bsz", "gbs", "mbs", "lbs", "ga", "gas"))


class Token(NamedTuple):
    """A number (as written), a word or a sign (in lower case, one spelling for each sign), from `start` to `stop` of the text."""

    kind: str
    text: str
    start: int
    stop: int


@cache
def _pattern() -> re.Pattern[str]:
    digits = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:_\d+)*)(?:\.\d+)?(?:(?:\*\*|\^)\d+|[kKMB](?!\w))?"
    times = r"[xX](?=[\d\s(]|[A-Za-z]{1,3}\d|$)"
    apart = "|".join(sorted(SEPARATE, reverse=True))
    # `80GB`, `v0.23`, `7b`, `-1`, `50%`, `4-8` and `llama-8` are no counts.
    number = rf"(?:(?<![\w.$@-])(?<!\d:)|(?<=[\d)][xX])){digits}(?={times}|(?i:{apart})\b|(?![\w%]|[.:-]\d))"
    return re.compile(rf"({number})|((?<=[\d)]){times})|(\d+(?:[-:.]\d+)+\w*|[^\W_]+|_)|(->|=>|//|~=|>=|<=|==|\S)")


def tokenise(text: str, start: int, stop: int) -> tuple[Token, ...]:
    """Return the tokens of `text` from `start` to `stop`.

    Hyphens and underscores inside a name are left out, so that `global_batch_size` and `global batch-size` read the same. What has
    digits but counts nothing is a word.
    """
    tokens: list[Token] = []
    for match in _pattern().finditer(text, start, stop):
        found, (begin, end) = match.group(), match.span()
        if match.lastindex == 1:
            tokens.append(Token(NUMBER, found, begin, end))
        elif match.lastindex == 3:
            tokens.extend(_words(found.lower(), begin, end))
        else:
            tokens.append(Token(SIGN, "x" if match.lastindex == 2 else _SAME.get(found, found), begin, end))
        if len(tokens) >= _MOST:
            break
    return tuple(token for i, token in enumerate(_signed(tokens)) if not _is_hyphen(tokens, i))


def _words(found: str, begin: int, end: int) -> tuple[Token, ...]:
    """Return a word, or the name and the number that it is made of: `dp8`."""
    if found == "_":
        return ()
    name = found.rstrip("0123456789")
    if name != found and name in _GLUED:
        middle = begin + len(name)
        return (Token(WORD, name, begin, middle), Token(NUMBER, found[len(name) :], middle, end))
    return (Token(WORD, found, begin, end),)


def _signed(tokens: list[Token]) -> list[Token]:
    """Return `tokens` with each lone x between operands turned into a sign."""
    return [
        token._replace(kind=SIGN)
        if token.text == "x" and token.kind == WORD and 0 < i < len(tokens) - 1 and _is_operand(tokens[i - 1], ")") and _is_operand(tokens[i + 1], "(")
        else token
        for i, token in enumerate(tokens)
    ]


def _is_operand(token: Token, bracket: str) -> bool:
    return token.kind != SIGN or token.text == bracket


def _is_hyphen(tokens: list[Token], i: int) -> bool:
    """Return whether token `i` is a hyphen inside a name or behind a number: `batch-size`, `8-GPU`."""
    return tokens[i].text == "-" and 0 < i < len(tokens) - 1 and tokens[i - 1].stop == tokens[i].start and tokens[i].stop == tokens[i + 1].start
