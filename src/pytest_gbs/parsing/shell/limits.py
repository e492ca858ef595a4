"""How much of a script is read before we stop: hostile scripts loop, nest and double."""

from __future__ import annotations

from pytest_gbs.core.location import Location
from pytest_gbs.core.typed import Final

MOST_CHARACTERS: Final = 1_000_000  # of a file
MOST_STEPS: Final = 40_000  # statements and words, loops and calls counted each time
MOST_COMMANDS: Final = 2_000
MOST_TURNS: Final = 64  # of one loop
LONGEST_VALUE: Final = 20_000  # characters of one variable or word
TOO_LONG: Final = "too long"  # the name of what is unknown since it is longer
MOST_TEXT: Final = 1_000_000  # characters of all expansions together
DEEPEST: Final = 40  # statements within statements, words within words
DEEPEST_CALL: Final = 8  # functions and shells within each other


class Exhausted(Exception):
    """A script asks for more than we are ready to read; its text says of what: "more than 2,000 commands".

    `at` is the statement that asked, once that is known.
    """

    at: Location | None = None


class Budget:
    """What is left to spend on one file."""

    __slots__ = ("steps", "text")

    def __init__(self) -> None:
        self.steps = MOST_STEPS
        self.text = MOST_TEXT

    def step(self, count: int = 1) -> None:
        """Pay for one statement or word.

        Raises: Exhausted: nothing is left.
        """
        self.steps -= count
        if self.steps < 0:
            raise Exhausted(f"more than {MOST_STEPS:,} statements and words")

    def write(self, length: int) -> None:
        """Pay for so many characters of an expansion.

        Raises: Exhausted: nothing is left.
        """
        self.text -= length
        if self.text < 0:
            raise Exhausted(f"more than {MOST_TEXT:,} characters in its expansions")
