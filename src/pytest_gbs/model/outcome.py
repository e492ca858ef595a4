"""What a rule says about one thing it judged."""

from __future__ import annotations

from pytest_gbs.model.assumption import Assumption
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import Final, NamedTuple, TypeAlias

# In place of a code: that of the rule which yields the outcome, put in where outcomes are collected.
ITS_RULE: Final = ""


class Severity:
    """How bad a finding is. Error: the framework would stop, or a stated claim is false without assumption."""

    ERROR: Final = "error"
    WARNING: Final = "warning"
    INFO: Final = "info"


SEVERITIES: Final = (Severity.ERROR, Severity.WARNING, Severity.INFO)


class Related(NamedTuple):
    """Another place a finding is about, with a short label ("accumulation")."""

    at: Location
    label: str


class Edit(NamedTuple):
    """Replace the text at `at`, which must be `expected`, by `replacement`."""

    at: Location
    expected: str
    replacement: str


class Applicability:
    """Whether a fix may be applied without asking."""

    SAFE: Final = "safe"  # changes neither a size nor a claim
    SETTINGS: Final = "settings"  # believes the claim, changes a setting
    DECLARATIONS: Final = "declarations"  # believes the settings, changes the claim
    DISPLAY: Final = "display"  # shown only


class Fix(NamedTuple):
    """A way out: `title` commands ("change gradient_accumulation_steps to 2"), `edits` do it."""

    title: str
    applicability: str = Applicability.DISPLAY
    edits: tuple[Edit, ...] = ()


class Finding(NamedTuple):
    """Something violated.

    `message` says what is and what would be, lower case, no full stop. `label` is under the primary span. `details` are
    lines of arithmetic and evidence under the excerpt; `holds` is a command ("set a to 2,
    or change the comment to 256").
    `assumptions` are the assumptions the judgement rests on. `launch` is the place of the launch it is about, if any.
    """

    code: str
    message: str
    severity: str
    at: Location
    label: str = ""
    related: tuple[Related, ...] = ()
    details: tuple[str, ...] = ()
    holds: str = ""
    assumptions: tuple[Assumption, ...] = ()
    fixes: tuple[Fix, ...] = ()
    launch: Location | None = None

    @property
    def identity(self) -> tuple[Location, str, str]:
        """What is the same of it, whichever of several launches runs into it."""
        return self.at, self.code, self.message


class Verified(NamedTuple):
    """Something judged and found in order. `decides` is true if that makes the recipe verified: it says something of its batch."""

    code: str
    at: Location | None = None
    assumptions: tuple[Assumption, ...] = ()
    decides: bool = False


class Undetermined(NamedTuple):
    """Something that could not be judged: what is missing (names of sizes) and for which values it would hold.

    `values` are the values of the one missing size for which it holds, `implies` says so in a sentence part ("true with 8
    GPUs per node"). `claim` is true if a claim, a policy or a lock entry could not be decided, which makes the recipe
    undetermined; a constraint that waits for hardware does not.
    """

    code: str
    at: Location
    message: str
    missing: tuple[str, ...] = ()
    implies: str = ""
    claim: bool = True
    values: tuple[int, ...] = ()


Outcome: TypeAlias = Verified | Finding | Undetermined
