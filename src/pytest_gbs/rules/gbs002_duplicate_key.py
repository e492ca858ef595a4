"""A batch key that is set twice in one mapping, so that one of its values is dropped.

Only keys that hold a size of the batch or of the launch count, and blocks that hold such keys.

A reader finds the first value; the run has the last. Two branches that are merged, or a block
that is pasted to try something, leave such a pair behind.

What the framework does: PyYAML, which transformers, TRL and accelerate load with, and Python's JSON keep the last value
without a warning. OmegaConf, YAML 1.2 loaders and DeepSpeed's JSON reader stop.

How to fix it: delete the wrong line. Look at the value that the finding names as dropped: it may be the one that a comment, a
paper or a launch script relies on.

It stays silent for keys that are not a size of the batch, such as the steps between two saves. If both values are the same the
finding is a note, because nothing is lost yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.model.document import Alias, Document, Duplicate, Mapping, Node, Scalar
from pytest_gbs.model.fileview import INTERVALS, FileView
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in

_MOST = 20  # findings in one file at most
_LONGEST = 60  # two values longer than this are not worth showing


def check(file: FileView) -> Iterator[Outcome]:
    """Yield a finding for each key of a size that one mapping of `file` holds twice."""
    if file.document.duplicates:
        keys = _keys(file)
        of_sizes = (each for each in file.document.duplicates if any(key[: len(each.path)] == each.path for key in keys))
        for duplicate in islice(of_sizes, _MOST):
            yield _finding(file, duplicate)


def _keys(file: FileView) -> set[KeyPath]:
    """The key paths that hold sizes in this kind of file."""
    keys = {row.key for row in file.framework.rows if row.name not in INTERVALS} if file.framework else set()
    if file.launcher:
        keys.update(leaf.at.path for size in file.launcher.quantities for leaf in leaves(size) if leaf.at and leaf.at.path)
    return keys


def _finding(file: FileView, duplicate: Duplicate) -> Finding:
    document = file.document
    key = str(duplicate.path[-1])
    first, second = (_value(document, duplicate, place) for place in (duplicate.first, duplicate.second))
    dropped, kept = (_text(document, node) for node in (first, second))
    same = dropped == kept
    if first is None or second is None or "\n" in dropped + kept or len(dropped + kept) > _LONGEST:
        says = f"{key} is set twice"
    else:
        says = f"{key} is set twice, as {dropped}" + (" both times" if same else f" and as {kept}")
    severity = Severity.INFO if same and not _stops(file) else Severity.ERROR
    related = (Related(_place(document, first, duplicate.first), "dropped"),)
    at = _place(document, second, duplicate.second)
    return Finding(ITS_RULE, f"{says}; {_consequence(file)}", severity, at, "kept", related, holds="keep one of the two")


def _consequence(file: FileView) -> str:
    if _stops(file):
        return "the framework stops when it loads the file"
    return f"{'PyYAML' if file.document.syntax == 'yaml' else 'the loader'} keeps the last one without a warning"


def _stops(file: FileView) -> bool:
    """Whether the loader of this file refuses a key that is set twice."""
    return file.document.syntax == "yaml" and file.framework is not None and file.framework.loader != Loader.PYYAML


def _value(document: Document, duplicate: Duplicate, place: Location) -> Node | None:
    """The value of that entry of the duplicated key which is at `place`."""
    mapping = _mapping(document, duplicate.path[:-1])
    for key, value in mapping.entries if mapping else ():
        if isinstance(key, Scalar) and key.text == duplicate.path[-1] and key.start <= place.start <= value.stop:
            return value
    return None


def _mapping(document: Document, path: KeyPath) -> Mapping | None:
    node = document.root
    for part in path:
        if isinstance(node, Alias):
            node = node.target
        if not isinstance(node, Mapping):
            return None
        node = next((value for key, value in reversed(node.entries) if isinstance(key, Scalar) and key.text == part), None)
    return node if isinstance(node, Mapping) else None


def _text(document: Document, node: Node | None) -> str:
    return "" if node is None else document.source.text[node.start : node.stop].strip()


def _place(document: Document, node: Node | None, fallback: Location) -> Location:
    """The span of a short value, which is what is dropped or kept; else that of its key."""
    if not isinstance(node, Scalar) or node.start == node.stop:
        return fallback
    return Location(document.source.path, node.start, node.stop, fallback.path)


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 2\nlearning_rate: 2.0e-5\ngradient_accumulation_steps: 8\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.FILE,
    needs=Needs.DUPLICATES,
    summary="a batch key is set twice, and one value is dropped",
    bad=(Example((("sft.yaml", _RECIPE),)),),
    good=(Example((("sft.yaml", _RECIPE.replace("gradient_accumulation_steps: 2\n", "")),)),),
    check=check,
)
