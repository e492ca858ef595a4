"""Policies that several recipes share: "these recipes have one value", whichever most of them have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_gbs.files.globs import matches_any
from pytest_gbs.model.settings import Expectation


def shared_policies(
    expectations: Iterable[Expectation], paths: Sequence[str], value: Callable[[str, str], int | None]
) -> dict[str, list[Expectation]]:
    """For each recipe among `paths` what is expected of it because most of the others have it; `value` is that of a recipe, if known."""
    found: defaultdict[str, list[Expectation]] = defaultdict(list)
    for expectation in expectations:
        if expectation.shared:
            for path, policy in _share(expectation, paths, value):
                found[path].append(policy)
    return dict(found)


def _share(expectation: Expectation, paths: Sequence[str], value: Callable[[str, str], int | None]) -> Iterator[tuple[str, Expectation]]:
    matching = (path for path in paths if matches_any(path, expectation.paths))
    values = {path: number for path in matching if (number := value(path, expectation.name)) is not None}
    if values:
        usual, number = Counter(values.values()).most_common(1)[0]
        text = f"{expectation.text}: {usual:,} in {number} of {len(values)} recipes"
        for path in values:
            yield path, expectation._replace(values=(usual,), text=text)
