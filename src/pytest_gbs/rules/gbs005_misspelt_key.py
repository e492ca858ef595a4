"""An unknown key that is probably a misspelt batch key that is missing.

`gradient_accumulation_step: 8` looks like a setting. It is not one: the accumulation is the framework's default.

Nothing else in the file shows the difference, and the batch is smaller by the factor that seems to be set.

What the framework does: the parsers of transformers and TRL stop at a key that no argument has, unless the training script
defines one or allows extra keys; then the value is dropped in silence and the default counts. This is why the finding is a
warning.

How to fix it: write the key as the finding has it. If the key is your script's own, put `# gbs: ignore[GBS005]` with a
reason behind it.

It stays silent if the right key is in the file as well, if the key belongs to the framework, and for short keys, which differ
by a letter too easily: one typing error is allowed from six letters on. From twelve on a second letter may be missing or too
many.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cache, lru_cache

from pytest_gbs.arithmetic.near_miss import nearest, slips
from pytest_gbs.arithmetic.wording import called
from pytest_gbs.model.document import Document, Mapping, Scalar
from pytest_gbs.model.fileview import INTERVALS, FileView
from pytest_gbs.model.framework import Framework, Row
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.outcome import ITS_RULE, Applicability, Edit, Finding, Fix, Outcome, Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in

# A slip in what is not a factor of a batch is another tool's business; hardware is rarely a recipe's to state.
_NO_FACTORS: Final = INTERVALS | {Name.SEQUENCE_LENGTH, Name.NUM_NODES, Name.WORLD_SIZE, Name.TENSOR_PARALLEL_SIZE}


def check(file: FileView) -> Iterator[Outcome]:
    """Yield a finding for each key of `file` that was probably meant to be a batch key."""
    framework = file.framework
    if framework is None:
        return
    known = _known(framework)
    for parent, rows in _missing(file.document, framework).items():
        names = tuple(rows)
        lengths = set[int]().union(*map(_lengths, names))
        for key in _keys(file.document, parent, lengths):
            meant = nearest(key.text, names) if (*parent, key.text) not in known else None
            # The framework's other keys are asked last: the table may have to load them.
            if meant is not None and key.text not in framework.also:
                yield _finding(file.document, framework, key, rows[meant])


@lru_cache
def _known(framework: Framework) -> frozenset[KeyPath]:
    """The keys of a table."""
    return frozenset(row.key for row in framework.rows)


@lru_cache
def _factors(framework: Framework) -> tuple[Row, ...]:
    """The rows of a table whose sizes are factors of a batch."""
    return tuple(row for row in framework.rows if row.name not in _NO_FACTORS)


@cache
def _lengths(name: str) -> frozenset[int]:
    """How long a slip of key `name` may be."""
    return frozenset(range(len(name) - slips(name), len(name) + slips(name) + 1))


def _missing(document: Document, framework: Framework) -> dict[KeyPath, dict[str, Row]]:
    """The rows of factors that `document` gives by none of their keys, by last key, for each mapping they belong to."""
    keyed = document.keyed
    given = {row.name for row in _factors(framework) if row.key in keyed}
    found: dict[KeyPath, dict[str, Row]] = {}
    for row in _factors(framework):
        parent = row.key[:-1]
        if row.name not in given and (not parent or parent in keyed):
            found.setdefault(parent, {})[str(row.key[-1])] = row
    return found


def _keys(document: Document, parent: KeyPath, lengths: Set[int]) -> list[Scalar]:
    """The keys of one of `lengths` that the mapping at `parent` holds itself."""
    node = document.get(*parent) if parent else document.root
    entries = node.entries if isinstance(node, Mapping) else ()
    return [key for key, _ in entries if type(key) is Scalar and len(key.text) in lengths]


def _finding(document: Document, framework: Framework, key: Scalar, row: Row) -> Finding:
    meant = str(row.key[-1])
    default = f"; {called(row.name)} has its default, {row.default:,}" if isinstance(row.default, int) else ""
    at = Location(document.source.path, key.start, key.stop, (*row.key[:-1], key.text))
    written = document.source.text[key.start : key.stop]
    fix = Fix(f"rename {key.text} to {meant}", Applicability.DISPLAY, (Edit(at, written, written.replace(key.text, meant)),))
    message = f"{key.text} is not a key of {framework.title.split(' (')[0]}{default}"
    return Finding(ITS_RULE, message, Severity.WARNING, at, "unknown", holds=f"rename it to {meant}", fixes=(fix,))


_RECIPE = SFT_RECIPE + "{key}: 8\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.FILE,
    summary="a key is probably a misspelt batch key",
    severity=Severity.WARNING,
    bad=(Example((("sft.yaml", _RECIPE.format(key="gradient_accumulation_step")),)),),
    good=(Example((("sft.yaml", _RECIPE.format(key="gradient_accumulation_steps")),)),),
    check=check,
)
