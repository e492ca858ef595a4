"""A batch key that the pinned version of a library has removed.

`per_gpu_train_batch_size` overrides the micro batch in transformers 4, and transformers 5 does not know it. Removed keys are reported
only where they change a batch and where one exact version is known to be used: that of `[tool.gbs.versions]`, of a lock file, or of a
requirement with `==` (also in `pyproject.toml`, `setup.py`, `environment.yml`, `Dockerfile`) in the folder of the recipe or above it.

What the framework does: its argument parser stops at start with an error about a key that it does not know.

How to fix it: write the key that has taken its place, and delete the old one where both are there: the old one won.

It stays silent without an exact version, for ranges of versions, for versions before a release, and if files contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.framework import Removal
from pytest_gbs.model.location import Location, dotted
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import Example, Needs, Rule, Scope, written_in


def check(file: FileView) -> Iterator[Outcome]:
    """Yield a finding for each key of `file` that the pinned version of its package no longer has."""
    for removal in file.framework.removed if file.framework else ():
        entry = file.document.keyed.get(removal.key)
        if entry is not None:
            at = Location(file.document.source.path, entry[0].start, entry[0].stop, removal.key)
            yield _finding(removal, at)


def _finding(removal: Removal, at: Location) -> Finding:
    assert removal.pin is not None
    version = removal.pin.text.lstrip("= ")
    key = dotted(removal.key)
    message = f"{removal.package} {version} has no {key}, removed in {removal.since}; {removal.label}"
    related = (Related(removal.pin.at, "version"),) if removal.pin.at else ()
    details = () if removal.pin.at else (f"the version comes from {removal.pin.origin}",)
    holds = f"use {removal.instead} instead" if removal.instead else ""
    return Finding(ITS_RULE, message, Severity.ERROR, at, "removed", related, details, holds)


_RECIPE = """\
model_name_or_path: my/model
dataset_name: my/data
max_length: 2048
{key}: 4
gradient_accumulation_steps: 2
"""
_PINNED = (("requirements.txt", "torch>=2.4\ntransformers==5.0.0\n"),)

RULE = Rule(
    *written_in(__name__),
    scope=Scope.FILE,
    needs=Needs.REMOVED,
    summary="a batch key that the pinned version of a library has removed",
    bad=(Example((("sft.yaml", _RECIPE.format(key="per_gpu_train_batch_size")), *_PINNED)),),
    good=(
        Example((("sft.yaml", _RECIPE.format(key="per_device_train_batch_size")), *_PINNED)),
        Example((("sft.yaml", _RECIPE.format(key="per_gpu_train_batch_size")), ("requirements.txt", "transformers>=4.40\n"))),
    ),
    check=check,
)
