"""How much of a script is read before we stop: hostile scripts loop, nest and double.

Each constant is a row of `docs/limits.md`, in the notation of `model/limits.py`; the rule UNREAD says where reading stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final

from pytest_gbs.model.command import Stop
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern

MOST_CHARACTERS: Final = 1_000_000  # characters of a script or Makefile, or of the code blocks of a document; the rest is UNREAD
MOST_TOKENS: Final = 50_000  # words, signs and line ends of the same; the rest is UNREAD
MOST_PIPES: Final = 2_000  # pipes (`|`) of the same; the rest is UNREAD
MOST_PIECES: Final = 50_000  # placeholders of a template, lines of a code block; UNREAD instead of a script with more
MOST_LOOKS: Final = 16  # times that the parser may look at each character, on average; syntax broken so badly is UNREAD
MOST_STEPS: Final = 40_000  # statements and words, each turn of a loop and each call counted; UNREAD points to the rest
MOST_COMMANDS: Final = 2_000  # commands; UNREAD points to the rest
LEAST_SHARED: Final = 200_000  # of these in all scripts together, without what each may have for its length; UNREAD says where it ends
CHARACTERS_OF_SHARED: Final = 2  # characters of all scripts for which they may have one more together
MOST_SHARED: Final = 1_000_000  # of these in all scripts together, however long they are
MOST_LAUNCHED: Final = 10_000  # launches in all scripts together; UNREAD says where they end
MOST_NESTED: Final = 1_000  # scripts that started scripts start, in all together, those three deep counted four times; UNREAD says where
LEAST_OWN: Final = 200  # of these that a script may have for itself, however short
CHARACTERS_OF_ONE: Final = 5  # characters of a script for which it may have one more for itself
MOST_SEARCHES: Final = 100  # searches of a script for a key of its recipe (`grep`); those behind them are not checked
MOST_JOBS: Final = 200  # containers and tasks of a file that describes jobs; UNREAD points to the rest
MOST_JOB_ITEMS: Final = 1_000  # items of a list in such a file: containers, variables, words; UNREAD instead of one with more
MOST_TURNS: Final = 64  # turns of a loop; a longer one is read once for all turns
LONGEST_VALUE: Final = 20_000  # characters of a variable or word; a longer one is unknown
LONGEST_LIST: Final = 1_000  # characters without an option that are kept of a variable that is too long; a longer text is unknown
MOST_NAMED: Final = 8  # variables with a default that are named beside a value; more are not named
LONGEST_PATH: Final = 4_096  # characters of the folder that a script went to; a longer one is unknown
MOST_PUSHED: Final = 20  # folders that `popd` may go back to; those behind them are unknown
TOO_LONG: Final = "too long"  # the name of what is unknown since it is longer
MOST_TEXT: Final = 10_000_000  # characters of all expansions, CHARACTERS_OF_PIECE more for each piece; UNREAD points to the rest
CHARACTERS_OF_PIECE: Final = 10  # characters that cost as much as one more piece of a value: a text or an expansion in it
DEEPEST: Final = 40  # statements or words within each other; what is deeper is UNREAD
DEEPEST_CALL: Final = 8  # functions and shells within each other; what is deeper is UNREAD
_STEPS_OF_TREE: Final = 4  # what a syntax tree costs, however small
_CHARACTERS_OF_STEP: Final = 100  # characters that are parsed in the time of one step
_FEW_LOOKS: Final = 100_000  # characters that the parser may look at besides


class Exhausted(Exception):
    """A script asks for more than we are ready to read; its text says of what: "more than 2,000 commands".

    `at` is the statement that asked, once that is known, and `behind` the text behind the outermost loop or branch around it.
    `met_before` says that another file met the same limit before.
    """

    at: Location | None = None
    behind: str | None = None

    def __init__(self, reason: str, *, met_before: bool = False) -> None:
        super().__init__(reason)
        self.met_before = met_before

    def stop(self, at: Location) -> Stop:
        """Where reading stops, `at` unless the statement is known."""
        return Stop(str(self), self.at or at, self.met_before)


class SharedSteps:
    """The statements and words of all scripts of a check: what loops, calls and scripts that others source or start multiply.

    `spent` are those beyond what each script may have for its own length, `nested` are scripts that started scripts start, and
    `launched` what they launch. `length` gives the characters of all scripts, and is asked only where many are spent.
    """

    def __init__(self, length: Callable[[], int]) -> None:
        self.own = self.spent = self.nested = self.launched = 0
        self.met_before = False
        self._length = length
        self._most = 0  # not known yet

    def begin(self, text: str) -> None:
        """Go on to a script of the tree, which may have some for its own length."""
        self.own = LEAST_OWN + len(text) // CHARACTERS_OF_ONE
        self.met_before = self.is_too_much()

    def is_too_much(self, more: int = 0, nested: int = 0, launched: int = 0) -> bool:
        """Whether more was asked for than there is, or would be with so many more."""
        many = self.nested + nested > MOST_NESTED or self.launched + launched > MOST_LAUNCHED
        return many or self._exceeds(self.spent + more)

    def launch(self, count: int) -> int:
        """Pay for so many launches; how many of them there is room for.

        Those behind them are paid for too, so that it is known that there were more.
        """
        room = max(0, MOST_LAUNCHED - self.launched)
        self.launched += count
        return min(count, room)

    def _exceeds(self, spent: int) -> bool:
        return spent > min(LEAST_SHARED, MOST_SHARED) and spent > self.most

    @property
    def most(self) -> int:
        """How many all scripts may have together."""
        if not self._most:
            self._most = min(MOST_SHARED, LEAST_SHARED + self._length() // CHARACTERS_OF_SHARED)
        return self._most

    def start(self, depth: int) -> None:
        """Pay for a script that is started, `depth` scripts within each other: those that start each other all start more and more.

        Raises: Exhausted: nothing is left.
        """
        self.nested += (depth - 1) ** 2
        if self.nested > MOST_NESTED:
            raise Exhausted(f"more than {MOST_NESTED:,} scripts that others start which are started themselves", met_before=self.met_before)

    def pay(self, count: int) -> None:
        """Pay for so many statements and words.

        Raises: Exhausted: nothing is left.
        """
        self.own -= count
        if self.own < 0:
            self.spent -= self.own
            self.own = 0
            if self._exceeds(self.spent):
                often = f"more than {self.most:,} statements and words in loops, calls and scripts that others source or start"
                raise Exhausted(often, met_before=self.met_before)

    def take_in(self, text: str) -> None:
        """Pay for the text of a script that another one sources or starts.

        Raises: Exhausted: nothing is left.
        """
        self.pay(_STEPS_OF_TREE + len(text) // _CHARACTERS_OF_STEP)


class ShellBudget:
    """What is left to spend on one file; `pay` pays for what all share."""

    def __init__(self, pay: Callable[[int], None] = lambda _: None) -> None:
        self.pay = pay
        self.steps = MOST_STEPS
        self.text = MOST_TEXT
        self.tokens = self.again = MOST_TOKENS
        self.parsed = 0  # characters
        self.looks = _FEW_LOOKS

    def step(self, count: int = 1) -> None:
        """Pay for one statement or word.

        Raises: Exhausted: nothing is left.
        """
        self.steps -= count
        self.pay(count)
        if self.steps < 0:
            raise Exhausted(f"more than {MOST_STEPS:,} statements and words")

    def write(self, pieces: int, characters: int = 0) -> None:
        """Pay for so many pieces of values, which have so many characters.

        Raises: Exhausted: nothing is left.
        """
        self.text -= CHARACTERS_OF_PIECE * pieces + characters
        if self.text < 0:
            raise Exhausted(f"more than {MOST_TEXT:,} characters in its expansions")

    def parse(self, text: str) -> None:
        """Pay for the syntax tree of `text`, before it is made.

        Raises: Exhausted: it would be too large.
        """
        self.step(_STEPS_OF_TREE)
        self.parsed += len(text)
        self.looks += MOST_LOOKS * len(text)
        if self.parsed > MOST_TOKENS:  # no text has more tokens than characters
            self.tokens -= _tokens(text)
        if self.tokens < 0:
            raise Exhausted(f"more than {MOST_TOKENS:,} words and signs")
        if text.count("|") > MOST_PIPES:  # the parser's memory grows with the square of those of one pipeline
            raise Exhausted(f"more than {MOST_PIPES:,} pipes")

    def parse_again(self, text: str) -> None:
        """Pay for another syntax tree of `text`, of which a few signs were replaced.

        Raises: Exhausted: too much was parsed again.
        """
        self.looks += MOST_LOOKS * len(text)
        self.again -= _tokens(text)
        if self.again < 0:
            raise Exhausted(f"more than {MOST_TOKENS:,} words and signs around assignments on one line")

    def look(self, length: int) -> bool:
        """Pay for so many bytes that the parser looks at; return whether there was enough left."""
        self.looks -= length
        return self.looks >= 0


def beginning(text: str) -> tuple[int, str] | None:
    """Where the lines end with which a text that is too long begins, and why it is; None if all of it may be read."""
    found: list[tuple[int, str]] = []
    if len(text) > MOST_CHARACTERS:
        found.append((MOST_CHARACTERS, f"more than {MOST_CHARACTERS:,} characters"))
    if len(text) > MOST_TOKENS and (token := next(islice(_token().finditer(text), MOST_TOKENS, None), None)) is not None:
        found.append((token.start(), f"more than {MOST_TOKENS:,} words and signs"))
    if text.count("|") > MOST_PIPES:
        pipe = next(islice(re.finditer(r"\|", text), MOST_PIPES, None))
        found.append((pipe.start(), f"more than {MOST_PIPES:,} pipes"))
    if not found:
        return None
    stop, reason = min(found)
    return text.rfind("\n", 0, stop) + 1, reason


def _tokens(text: str) -> int:
    """About how many nodes the syntax tree of a text has at its lowest level."""
    return sum(1 for _ in _token().finditer(text))


_token = lazy_pattern(r"\w+(?:[-./=]\w+)*|\n\s*|[^\s\w]")
