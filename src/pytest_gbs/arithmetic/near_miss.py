"""How far two words are apart, counted in slips of the finger."""

from __future__ import annotations

from functools import lru_cache


def distance(one: str, other: str, most: int) -> int:
    """Return how many letters were left out, added, changed or swapped with a neighbour; `most` + 1 where they are more.

    Each letter takes part in one slip at most (optimal string alignment).
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    one, other = _unlike(one, other)
    before: list[int] = []
    above = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        here = [row] + [most + 1] * len(other)
        # Only cells near the diagonal can end at `most` or less.
        for column in range(max(1, row - most), min(len(other), row + most) + 1):
            against = other[column - 1]
            best = min(above[column] + 1, here[column - 1] + 1, above[column - 1] + (letter != against))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == against:
                best = min(best, before[column - 2] + 1)
            here[column] = best
        if min(here) > most and min(above) > most:
            return most + 1
        before, above = above, here
    return min(above[-1], most + 1)


def _unlike(one: str, other: str) -> tuple[str, str]:
    """Return both words without what they start and end with alike, which no shortest way between them touches."""
    start, end = 0, min(len(one), len(other))
    while start < end and one[start] == other[start]:
        start += 1
    one, other, end = one[start:], other[start:], end - start
    stop = 0
    while stop < end and one[-1 - stop] == other[-1 - stop]:
        stop += 1
    return one[: len(one) - stop], other[: len(other) - stop]


def slips(word: str) -> int:
    """Return how many slips a word of this length may hold and still be taken for another: short words differ too easily."""
    return 0 if len(word) < 6 else 1 if len(word) < 12 else 2


@lru_cache(4096)  # the recipes of a repository hold the same keys
def nearest(word: str, candidates: tuple[str, ...]) -> str | None:
    """Return the one candidate that `word` was probably meant to be, or None; hyphens and capitals do not count.

    A tie between two candidates is not an answer.
    """
    found: list[tuple[int, str]] = []
    plain = _plain(word)
    letters = set(plain)
    for candidate in candidates:
        most = slips(candidate)
        # Nearly all keys end here: a slip changes the length by one at most, and brings in one new letter at most.
        if abs(len(word) - len(candidate)) <= most and len(letters.difference(_plain(candidate))) <= most and candidate != word:
            apart = distance(plain, _plain(candidate), most)
            if apart <= most:
                found.append((apart, candidate))
    found.sort()
    if not found or (len(found) > 1 and found[0][0] == found[1][0]):
        return None
    return found[0][1]


def _plain(word: str) -> str:
    return word.replace("-", "_").lower()
