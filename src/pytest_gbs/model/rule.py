"""What a rule is: metadata, and a generator over frozen values."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_gbs.model.outcome import Outcome, Severity
from pytest_gbs.model.record import Any, Final, NamedTuple


class Scope:
    """What a rule is handed: FILE a `Document` (or `Unreadable`, or a launcher file), RUN a `Run`, LAUNCH one of a launch,
    RECIPE all runs of a recipe, REPOSITORY all `NodeClaim`s, UNREAD a script that was not read to its end (`Unread`), COMMAND what is
    wrong with the words of a launch in a script (`MissingFile`, `LostFlags`), or what a document says of itself
    (`ModelCard`, `Declaration`), SCHEDULE a `Schedule` of a program, OUTPUT a `SavedOutput` of a
    notebook, SETTINGS a `Run` of settings whose trainer no table knows."""

    FILE: Final = "file"
    UNREADABLE: Final = "unreadable"
    UNREAD: Final = "unread"
    COMMAND: Final = "command"
    SCHEDULE: Final = "schedule"
    OUTPUT: Final = "output"
    SETTINGS: Final = "settings"
    LAUNCHER: Final = "launcher"
    RUN: Final = "run"
    LAUNCH: Final = "launch"
    RECIPE: Final = "recipe"
    REPOSITORY: Final = "repository"
    SUPPRESSIONS: Final = "suppressions"


class Needs:
    """What a run, or a file and its table, must have for a rule to apply: the engine skips, and does not load, a rule without it."""

    CLAIMS: Final = "claims"
    OPEN_CLAIMS: Final = "open_claims"  # that can't be decided
    DECLARATIONS: Final = "declarations"
    STATED_FACTORS: Final = "stated_factors"
    POLICIES: Final = "policies"
    LOCKED: Final = "locked"
    BASE: Final = "base"
    COMPANIONS: Final = "companions"
    CHECKED: Final = "checked"  # a constraint of its framework that names the rule
    CONSTRAINTS: Final = "constraints"
    SWITCHES: Final = "switches"
    REQUIREMENTS: Final = "requirements"
    DUPLICATES: Final = "duplicates"  # of a recipe: keys that one mapping has twice
    REMOVED: Final = "removed"  # keys that the version at hand has no more


AGREED: Final = frozenset((Needs.POLICIES, Needs.LOCKED, Needs.BASE))
"""What users asked for themselves: the settings, the lock, an earlier state. It holds in tests and archives as well."""


class About:
    """What a rule judges, where that decides who else is asked and what becomes of its findings."""

    HARDWARE: Final = "hardware"  # sizes against the number of GPUs: on other hardware there may be nothing to find
    VALUE: Final = "value"  # single values, which a command line can get wrong as well as a file


# The first lines of recipes for examples: of TRL's SFT and GRPO, and of HALOs up to the sizes of its `model`.
SFT_RECIPE: Final = """\
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
per_device_train_batch_size: 4
"""
GRPO_RECIPE: Final = """\
model_name_or_path: my/model
dataset_name: my/prompts
reward_funcs: [accuracy]
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
"""
HALOS_RECIPE: Final = """\
exp_name: llama
train_datasets: [ultrabin]
test_datasets: [ultrabin]
model:
  name_or_path: my/model
"""


class Example(NamedTuple):
    """A recipe for the manual and the tests: file contents by name, and the flags it is checked with ("--world-size 8").

    `base` are the files at the earlier revision that it is compared with, where it is.
    """

    files: tuple[tuple[str, str], ...]
    flags: tuple[str, ...] = ()
    base: tuple[tuple[str, str], ...] = ()


class Rule(NamedTuple):
    """One rule. Its module's docstring is its manual page; `bad` fires it, `good` does not, both are executed by tests.

    `needs` is one of `Needs`, for rules about runs and files; "" if each is of interest. `about` is one of `About`, or "".

    The rest says what becomes of what the rule finds; other rules are named, never numbered.

    `explained_by` are rules of which a finding about the same run makes all that this rule says a repeat.
    `decided_by` is the rule that, by deciding something in a launch, closes what this rule leaves open of the recipe.
    `in_any_part` is true of a rule about what is missing: of files that a launch reads together any may have it.
    `certain_in_launch` is true if nothing that a user may set elsewhere changes what it finds in a script.
    `on_any_hardware` is true if no number of GPUs changes what it finds.
    `meant_by_scaling` is true of what changes with the hardware on purpose, and of what other launches of a recipe run into.
    `settled_by_programs` is true of what a program may settle that starts the recipe with settings of its own.
    `of_unclaimed` is true of the rule under which `--strict=all` reports a recipe without a claim.
    """

    code: str
    name: str
    scope: str
    summary: str
    bad: tuple[Example, ...]
    good: tuple[Example, ...]
    check: Callable[[Any], Iterator[Outcome]]
    severity: str = Severity.ERROR
    default: bool = True
    since: str = "0.1"
    frameworks: tuple[str, ...] = ()
    manual: str = ""
    needs: str = ""
    about: str = ""
    explained_by: tuple[str, ...] = ()
    decided_by: str = ""
    in_any_part: bool = False
    certain_in_launch: bool = False
    on_any_hardware: bool = False
    meant_by_scaling: bool = False
    of_unclaimed: bool = False
    settled_by_programs: bool = False


def written_in(module: str) -> tuple[str, str]:
    """Code and name of the rule that `module` holds, as its file is called: `gbs101_stale_declaration`."""
    code, _, name = module.rpartition(".")[2].partition("_")
    return code.upper(), name.replace("_", "-")
