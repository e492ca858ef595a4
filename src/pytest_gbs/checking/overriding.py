"""Settings that a program of the tree writes on a command line: `cmd += " ++policy.dtensor_cfg.enabled=true"`.

A configuration that such a program starts is not run as it is written: what contradicts itself there need not be what runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_gbs.checking.finalise import Outcomes, kept
from pytest_gbs.checking.rulebook import Rulebook
from pytest_gbs.model.framework import Arguments, Framework
from pytest_gbs.model.limits import MOST_PROGRAMS_SEARCHED
from pytest_gbs.model.location import Source, Tree, dotted
from pytest_gbs.model.outcome import Finding

_ASSIGNED: Final = (Arguments.HYDRA, Arguments.PAIRS)


def without_what_programs_settle(outcomes: Outcomes, framework: Framework, rules: Rulebook, tree: Tree, paths: Iterable[str]) -> Outcomes:
    """The outcomes of a recipe without findings of which a program among `paths` writes one of the keys as an override."""
    found = [each for code, of_rule in outcomes.items() if rules.by_code[code].settled_by_programs for each in of_rule]
    keys = {key: key + "=" for each in found if isinstance(each, Finding) for key in _keys(each)}
    if not keys or framework.arguments not in _ASSIGNED:
        return outcomes
    written = _written(frozenset(keys.values()), tree, paths)
    settled = [each for each in found if isinstance(each, Finding) and any(keys[key] in written for key in _keys(each))]
    return kept(outcomes, lambda _, outcome: outcome not in settled)


def _keys(finding: Finding) -> Iterator[str]:
    """The keys that a finding is about, with dots."""
    places = (finding.at, *(related.at for related in finding.related))
    yield from (dotted(at.path) for at in places if at.path is not None and len(at.path) > 1)


def _written(texts: frozenset[str], tree: Tree, paths: Iterable[str]) -> set[str]:
    """Those of `texts` that a Python program has."""
    found: set[str] = set()
    programs = (path for path in paths if path.endswith(".py"))
    for _, path in zip(range(MOST_PROGRAMS_SEARCHED), programs, strict=False):
        source = tree.read(path)
        if isinstance(source, Source):
            found.update(text for text in texts - found if text in source.text)
        if len(found) == len(texts):
            break
    return found
