"""A name for each finding that stays the same while lines around it come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256

from pytest_gbs.model.location import dotted
from pytest_gbs.model.outcome import Finding


def fingerprints(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a fingerprint for each finding, no two alike: of its rule, path and key, and which of several alike it is."""
    seen = Counter[str]()
    for finding in findings:
        key = dotted(finding.at.path or ())
        what = "\0".join((finding.code, finding.at.source, key))
        seen[what] += 1
        yield sha256(f"{what}\0{seen[what]}".encode("utf-8", "surrogatepass")).hexdigest()
