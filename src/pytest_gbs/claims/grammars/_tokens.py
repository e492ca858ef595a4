"""A statement cut into numbers, words and signs, each with its place."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cache

from pytest_gbs.claims.grammars.words import SEPARATE, is_rule_code, words
from pytest_gbs.model.limits import MOST_WORDS
from pytest_gbs.model.record import Any, Final, NamedTuple, TypeAlias

NUMBER: Final = "number"
WORD: Final = "word"
SIGN: Final = "sign"

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes
_SAME: Final = {
    **dict.fromkeys("×✕⨯✖", "x"),
    **dict.fromkeys("∗＊⋅", "*"),
    **dict.fromkeys("÷／", "/"),
    **dict.fromkeys(("→", "⇒", "➜", "⟶", "=>"), "->"),
    **dict.fromkeys(("≈", "≃", "≅", "～", "∼", "~="), "~"),
    **dict.fromkeys("–—−‐‑", "-"),
    **dict.fromkeys("，、", ","),
    **dict.fromkeys(("==", "＝"), "="),
    **dict.fromkeys("：", ":"),
    **dict.fromkeys("；", ";"),
    **dict.fromkeys("。", "."),
    **dict.fromkeys("（", "("),
    **dict.fromkeys("）", ")"),
    **dict.fromkeys("＋", "+"),
    **dict.fromkeys("≥", ">="),
    **dict.fromkeys("≤", "<="),
}
# Names of sizes that are written right in front of their number: `dp8`, `bs128`.
_GLUED: Final = words("dp tp pp cp sp ep bs bsz gbs mbs lbs ga gas")


class WordToken(NamedTuple):
    """A number (as written), a word or a sign (in lower case, one spelling for each sign), from `start` to `stop` of the text."""

    kind: str
    text: str
    start: int
    stop: int


Tokens: TypeAlias = tuple[WordToken, ...]


@cache
def _pattern() -> re.Pattern[str]:
    digits = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+(?:_\d+)*)(?:\.\d+)?(?:(?:\*\*|\^)\d+|[kKMB](?!\w))?"
    times = r"[xX](?=[\d\s(]|[A-Za-z]{1,3}\d|$)"
    apart = "|".join(sorted(SEPARATE, reverse=True))
    # `80GB`, `v0.23`, `7b`, `-1`, `50%`, `4-8` and `llama-8` are not counts.
    number = rf"(?:(?<![\w.$@-])(?<!\d:)|(?<=[\d)][xX])){digits}(?={times}|(?i:{apart})\b|(?![\w%]|[.:-]\d))"
    return re.compile(
        rf"\s*(?:((?<=[\d)]){times})|([^\W\d_][^\W_]*)|({number})|(\d+(?:[-:.]\d+)+\w*|\d[^\W_]*)|_|(->|=>|//|~=|>=|<=|==|\S))"
    )


_TIMES, _NAME, _NUMBER, _JUNK = 1, 2, 3, 4


def tokenise(text: str, start: int, stop: int) -> Tokens:
    """The tokens of `text` from `start` to `stop`.

    Hyphens and underscores inside a name are left out, so that `global_batch_size` and `global batch-size` read the same. What has
    digits but counts nothing is a word.
    """
    tokens: list[WordToken] = []
    signs = set[str]()
    foreign = names_batch(text[start:stop].lower())
    for match in _pattern().finditer(text, start, start + len(text[start:stop].rstrip())):
        kind = match.lastindex
        if kind is None:
            continue
        found, (begin, end) = match[kind], match.span(kind)
        if foreign and kind in (_NAME, _JUNK) and not found.isascii():
            tokens += _foreign(found, begin)
            continue
        if kind == _NAME:
            word = found.lower()
            name = word.rstrip("0123456789") if word[-1].isdigit() else ""
            if name in _GLUED and not is_rule_code(name, word[len(name) :]):
                middle = begin + len(name)
                tokens += (WordToken(WORD, name, begin, middle), WordToken(NUMBER, text[middle:end], middle, end))
                continue
            if word == "x":
                signs.add(word)
            tokens.append(_new(WordToken, (WORD, word, begin, end)))
        elif kind == _NUMBER:
            tokens.append(_new(WordToken, (NUMBER, found, begin, end)))
        elif kind == _JUNK:
            tokens.append(_new(WordToken, (WORD, found.lower(), begin, end)))
        else:
            sign = "x" if kind == _TIMES else _SAME.get(found, found)
            signs.add(sign)
            tokens.append(_new(WordToken, (SIGN, sign, begin, end)))
        if len(tokens) >= MOST_WORDS:
            break
    if "x" in signs:
        tokens = _signed(tokens)
    if "-" in signs:
        tokens = [token for i, token in enumerate(tokens) if token.text != "-" or not _is_hyphen(tokens, i)]
    return tuple(tokens)


def names_batch(text: str) -> bool:
    """Whether `text`, in lower case, may name the global batch in Chinese, Japanese or Korean."""
    if text.isascii():
        return False
    from pytest_gbs.claims.grammars import _asian

    return _asian.names_batch(text)


def _foreign(found: str, begin: int) -> Iterator[WordToken]:
    """Yield the words and numbers of a run without spaces that starts at `begin`."""
    from pytest_gbs.claims.grammars._asian import segments

    yield from (WordToken(NUMBER if counts else WORD, word, begin + i, begin + j) for word, counts, i, j in segments(found))


def _signed(tokens: list[WordToken]) -> list[WordToken]:
    """`tokens` with each lone x between operands turned into a sign."""
    for i in range(1, len(tokens) - 1):
        if tokens[i].text == "x" and _is_operand(tokens[i - 1], ")") and _is_operand(tokens[i + 1], "("):
            tokens[i] = tokens[i]._replace(kind=SIGN)
    return tokens


def _is_operand(token: WordToken, bracket: str) -> bool:
    return token.kind != SIGN or token.text == bracket


def _is_hyphen(tokens: list[WordToken], i: int) -> bool:
    """Whether token `i`, a hyphen, is inside a name or behind a number: `batch-size`, `8-GPU`."""
    if not 0 < i < len(tokens) - 1:
        return False
    return tokens[i - 1].stop == tokens[i].start and tokens[i].stop == tokens[i + 1].start


def text_at(tokens: Tokens, i: int) -> str:
    """The text of token `i`, or nothing if there is no such token."""
    return tokens[i].text if 0 <= i < len(tokens) else ""


def past(tokens: Tokens, i: int, words: Container[str], step: int = 1) -> int:
    """The first token from `i` on that is none of `words`; with a step of -1 the first one back."""
    while text_at(tokens, i) in words:
        i += step
    return i


_REMARK: Final = 16


def past_bracket(tokens: Tokens, i: int) -> int:
    """Where the bracketed remark ends that starts at token `i`; `i` if none does."""
    if text_at(tokens, i) == "(":
        for j in range(i + 1, min(i + _REMARK, len(tokens))):
            if tokens[j].text == ")":
                return j + 1
    return i
