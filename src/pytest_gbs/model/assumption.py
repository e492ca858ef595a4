"""What a judgement takes for granted: the kinds of assumptions, and what each is about. Their words are in `arithmetic.wording`."""

from __future__ import annotations

from pytest_gbs.model.record import Final, NamedTuple


class Assuming:
    """The kinds of assumptions."""

    FILES_NEARBY: Final = "files-nearby"  # launcher files near the recipe agree on the GPUs of a node
    LAUNCHES: Final = "launches"  # the launches of the recipe agree on them
    COMMENT: Final = "comment"  # a claim holds only with this size
    NOT_SET: Final = "not-set"  # a variable or an argument with a default is not given
    LEFT_AS_IT_IS: Final = "left-as-it-is"  # a comment asks the user of the script to change a number
    QUOTES: Final = "quotes"  # a text in quotes that end too early is meant as a whole
    NOTHING_ADDED: Final = "nothing-added"  # the user of the script may add words to its command
    ONE_PROCESS: Final = "one-process"  # no launcher starts a process for each GPU


class Assumption(NamedTuple):
    """One thing that a judgement takes for granted. `kind` is one of `Assuming`.

    `name` is the size with its `value`, or the variable that is not set. `witnesses` is how many files say so, `where` the place where
    one of them does.
    """

    kind: str
    name: str = ""
    value: int = 0
    witnesses: int = 0
    where: str = ""

    @property
    def by_default(self) -> bool:
        """True if the user may choose another value, without editing a file."""
        return self.kind in (Assuming.NOT_SET, Assuming.LEFT_AS_IT_IS)
