"""The words that come out of one written word: what is quoted stays together, what is expanded bare falls apart at blanks."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.command import Part, Word
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.location import Location
from pytest_gbs.shell.limits import LONGEST_VALUE, MOST_TURNS, TOO_LONG
from pytest_gbs.shell.state import text_of, unknown
from pytest_gbs.shell.text import Parts

BLANKS: Final = " \t\n"
_PLACEHOLDER: Final = "<"  # what begins so stands for one word of the reader's own: `<your path>`, `<(...)`


class Fields:
    """Fields as they grow, part by part."""

    __slots__ = ("done", "growing", "separators")

    def __init__(self, separators: str = BLANKS) -> None:
        self.done: list[Parts] = []
        self.growing: list[Part] | None = None
        self.separators = separators

    def add(self, parts: Parts) -> None:
        """Add to the field at hand, which is there from now on even if it is empty."""
        if self.growing is None:
            self.growing = []
        self.growing.extend(parts)

    def close(self) -> None:
        """End the field at hand."""
        if self.growing is not None:
            self.done.append(tuple(self.growing))
        self.growing = None

    def add_each(self, elements: tuple[Parts, ...]) -> None:
        """Add elements that are fields of their own, the first and last joined with what is around them."""
        for number, element in enumerate(elements):
            if number:
                self.close()
            self.add(element)

    def add_split(self, parts: Parts, at: Location | None) -> None:
        """Add what an expansion at `at` gives, fallen apart at blanks; what is unknown may be any number of words.

        One word has the place of the expansion; several keep their own, as without `at`.
        """
        pieces = list(self._pieces(parts))
        single = None not in pieces
        for piece in pieces:
            if piece is None:
                self.close()
            else:
                self.add((piece._replace(use=at) if single and at is not None else piece,))

    def _pieces(self, parts: Parts) -> list[Part | None]:
        """The parts between blanks, and None for a run of blanks."""
        found: list[Part | None] = []
        for part in parts:
            if part.text is None:
                found.append(part._replace(many=not part.name.startswith(_PLACEHOLDER)))
                continue
            if not any(separator in part.text for separator in self.separators):
                if part.text:
                    found.append(_split_part(part))
                continue
            start = 0
            for place, character in enumerate(part.text):
                if character in self.separators:
                    if place > start:
                        found.append(_split_part(part.cut(start, place)))
                    found.append(None)
                    start = place + 1
            if start < len(part.text):
                found.append(_split_part(part.cut(start, len(part.text))))
        return found

    def single(self) -> Parts:
        """All fields as one value."""
        return tuple(part for field in self.finish() for part in field if part.text != "" or part.default)

    def finish(self) -> tuple[Parts, ...]:
        """All fields."""
        self.close()
        return tuple(self.done)


def as_pattern(part: Part) -> Part:
    """A pattern of file names, of which the files are unknown."""
    return part if part.text is None else Part(None, part.at, part.use, part.text, many=True, pattern=part.text)


def _split_part(part: Part) -> Part:
    return as_pattern(part) if part.text is not None and "*" in part.text and "=" not in part.text else part


def make_word(parts: Parts, raw: str, at: Location) -> Word:
    """A word of these parts; one that is longer than any option is unknown."""
    text = parts[0].text if len(parts) == 1 else text_of(parts)
    if (len(text) if text is not None else sum(len(part.text or "") for part in parts)) > LONGEST_VALUE:
        return Word(None, raw, at, (unknown(TOO_LONG, at),))
    return Word(text, raw, at, parts)


def braces(parts: Parts) -> list[Parts]:
    """The words of a bare literal with one `{a,b}` or `{1..4}`; itself if there is none."""
    text = text_of(parts)
    if text is None or "{" not in text or len(parts) != 1:
        return [parts]
    start, stop = text.find("{"), text.find("}")
    inside = text[start + 1 : stop] if stop > start else ""
    if "{" in inside or text.count("{") > 1:
        return [parts]
    choices = _range(inside) if ".." in inside else inside.split(",") if "," in inside else []
    if not choices or len(choices) > MOST_TURNS:
        return [parts]
    head, tail, middle = parts[0].cut(0, start), parts[0].cut(stop + 1, len(text)), parts[0].cut(start, stop + 1)
    kept = [middle._replace(text=choice) for choice in choices]
    return [tuple(part for part in (head, choice, tail) if part.text) for choice in kept]


def _range(inside: str) -> list[str]:
    """The numbers of `1..4` or `1..9..2`; none where it is something else."""
    bounds = inside.split("..")
    if not 2 <= len(bounds) <= 3 or not all(whole_number(bound.removeprefix("-")) is not None for bound in bounds):
        return []
    first, last = int(bounds[0]), int(bounds[1])
    step = abs(int(bounds[2])) if len(bounds) == 3 else 1
    if step == 0 or abs(last - first) // step > MOST_TURNS or any(len(b) > 1 and b.lstrip("-")[0] == "0" for b in bounds):
        return []
    return [str(number) for number in range(first, last + (1 if last >= first else -1), step if last >= first else -step)]
