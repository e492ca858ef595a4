"""What people state about a batch in prose: a size, how firmly, and under which conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import Final, NamedTuple


class Force:
    """How strong a statement is; only what states can be true or false."""

    STATES: Final = "states"
    ADVISES: Final = "advises"  # "for best results", "recommended", "at least"
    HISTORY: Final = "history"  # "trained on", "original", "in the paper"
    ALLOWS: Final = "allows"  # "allowed values are": a set
    DELTA: Final = "delta"  # "8 -> 16"
    OTHER: Final = "other"  # another recipe or another batch
    CONFIRMS: Final = "confirms"  # of a document that may mean something else: it counts only where it holds


class Interval(NamedTuple):
    """Whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high


class Factor(NamedTuple):
    """One factor of a stated product: its number, the size it names if it names one ("" if not), and its place."""

    value: int
    name: str
    at: Location


class StatedArithmetic(NamedTuple):
    """Arithmetic that a comment writes out: `factors` multiplied, divided by `divisors`, are said to be `result`.

    `floor` is true for `//`. `holds` lists the whole numbers that the stated result may stand for. `value` is what the
    arithmetic really gives, or None if it is not a whole number or a factor is a word without a number.
    """

    factors: tuple[Factor, ...]
    divisors: tuple[Factor, ...]
    result: int
    holds: tuple[Interval, ...]
    value: int | None
    at: Location  # the whole expression

    @property
    def is_false(self) -> bool:
        """Whether it does not give the result that it writes out."""
        return self.value is not None and not any(self.value in interval for interval in self.holds)

    @property
    def text(self) -> str:
        """The arithmetic for people, without its result: `4 x 8 x 16 / 2`."""
        factors = " x ".join(str(factor.value) for factor in self.factors)
        return factors + "".join(f" / {divisor.value}" for divisor in self.divisors)


def without_partners(stated: StatedArithmetic, values: Iterable[int]) -> tuple[list[Factor], list[int]]:
    """The factors of `stated` and the positions in `values` that remain when equal numbers are paired off."""
    factors = list(stated.factors)
    unmatched: list[int] = []
    for position, value in enumerate(values):
        partner = next((factor for factor in factors if factor.value == value), None)
        if partner is None:
            unmatched.append(position)
        else:
            factors.remove(partner)
    return factors, unmatched


class Declaration(NamedTuple):
    """One stated size.

    `name` is a size of `model.quantity.Name`. `value` is the number as a whole number (`1k` is 1024, `128` is 128); `holds`
    are the values for which the statement counts as true (`1k`: what rounds to 1k in powers of 1000 or of 1024).
    `unit` is `samples`, `tokens`, `prompts`, `completions`, `pairs`, or "" if none is said. `conditions` are sizes that
    the same statement names: ("num_nodes", 8). A statement "N GPUs" has the name `world_size` and `ambiguous` true: it may
    mean GPUs per node; so may the condition "world_size" of an ambiguous declaration. `at` is the number itself, `text` the
    statement for people. `sum` is its arithmetic, where it is written out. `paragraph` is what it stands in, if that is a document.
    """

    name: str
    value: int
    holds: tuple[Interval, ...]
    at: Location
    text: str
    grammar: str
    unit: str = ""
    force: str = Force.STATES
    conditions: tuple[tuple[str, int], ...] = ()
    condition_places: tuple[Location, ...] = ()
    ambiguous: bool = False
    exact: bool = False  # our own annotation `# gbs: 128`
    weak: bool = False  # a file's or a run's name
    sum: StatedArithmetic | None = None
    per_rank: int = 0  # what each GPU takes, where that is what is stated and `value` is that times the GPUs
    by: str = ""  # what the script does with the number, which is in no comment: "prints", "divides"
    paragraph: CommentBlock | None = None

    @property
    def stands_in(self) -> str:
        """What it stands in, for people: a document or a comment."""
        return "document" if self.paragraph is not None else "comment"

    def stated_conditions(self) -> tuple[Factor, ...]:
        """The sizes that the same statement names, each where it is (where the number is, if nothing says)."""
        places = self.condition_places or (self.at,) * len(self.conditions)
        return tuple(Factor(value, name, at) for (name, value), at in zip(self.conditions, places, strict=False))

    def admits(self, value: int) -> bool:
        """Whether the statement counts as true for `value`."""
        return any(value in interval for interval in self.holds)


class Grammar(NamedTuple):
    """One way people write a batch size down.

    `hint` lists lower-case words of which at least one occurs in every text that this grammar can read: a comment without
    any of them is never handed to it. `read` returns the declarations found in one block of the file named, in text order.
    """

    name: str
    summary: str
    examples: tuple[str, ...]
    hint: tuple[str, ...]
    read: Callable[[CommentBlock, str], tuple[Declaration, ...]]
