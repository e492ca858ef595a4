"""Which word another one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pytest_gbs.arithmetic.wording import listing
from pytest_gbs.model.record import Final

_CLOSE: Final = 0.65  # difflib's ratio from which on a word of the command line is offered
_PART: Final = 3  # letters of a word for which those with them are offered
_OFFERED: Final = 3  # of those


def slips(word: str) -> int:
    """How many typing errors a word of this length may have and still be taken for another: short words differ too easily."""
    return 0 if len(word) < 6 else 1 if len(word) < 12 else 2


@lru_cache(4096)  # the recipes of a repository hold the same keys
def nearest(word: str, candidates: tuple[str, ...]) -> str | None:
    """The one candidate that `word` is probably a misspelling of, or None; hyphens and capitals do not count.

    A tie between two candidates is not an answer.
    """
    found = sorted((_unlike(word, candidate), candidate) for candidate in candidates if candidate != word and _is_alike(word, candidate))
    found = [each for each in found if each[0] <= slips(each[1]) + 1]
    return found[0][1] if found and (len(found) == 1 or found[0][0] < found[1][0]) else None


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """`did you mean check? ` for a mistyped word of the command line or a part of one, or "" if no candidate is close."""
    from difflib import get_close_matches

    known = list(candidates)
    with_it = [each for each in known if len(word) >= _PART and word in each][:_OFFERED]
    close = with_it or get_close_matches(word[:100], known, 1, _CLOSE)
    return f"did you mean {listing(close)}? " if close else ""


def _is_alike(word: str, candidate: str) -> bool:
    """A cheap test before `_unlike`: one typing error changes the length by at most one and adds at most one new letter."""
    most = slips(candidate)
    return abs(len(word) - len(candidate)) <= most and len(set(_plain(word)).difference(_plain(candidate))) <= most


def _unlike(word: str, candidate: str) -> int:
    """The number of letters of both words without a match in the other: 1 for one left out or added, 2 for one changed or moved."""
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, _plain(word), _plain(candidate), autojunk=False).get_matching_blocks()
    return len(word) + len(candidate) - 2 * sum(block.size for block in blocks)


def _plain(word: str) -> str:
    return word.replace("-", "_").lower()
