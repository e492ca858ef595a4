"""Files given together on one command line as one configuration: side by side as GPT-NeoX reads them, or one over the other."""

# megatron/neox_arguments/arguments.py, NeoXArgs.from_ymls, GPT-NeoX. One over the other: jsonargparse 4.53, whose option of a configuration
# may be repeated (`ActionConfigFile.apply_config`), with which LightningCLI and litgpt read theirs.

from __future__ import annotations

from collections.abc import Sequence

from pytest_gbs.composition._errors import CompositionError, LimitExceeded
from pytest_gbs.composition._merge import Merger
from pytest_gbs.composition._nodes import Branch, Budget
from pytest_gbs.composition._to_document import to_document
from pytest_gbs.composition.composed import Composed, ComposeProblem, ProblemKind
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import Location, Unreadable


def merge_files(cache: DocumentCache, paths: Sequence[str], *, over: bool = False) -> Composed:
    """The files at `paths` as one configuration; a top-level key that two of them have is a problem of kind `duplicate`.

    With `over`, each is merged over those before it instead, and the result is the last of them.
    """
    budget = Budget()
    problems: list[ComposeProblem] = []
    sources: list[str] = []
    root = Branch(Location(paths[-1 if over else 0] if paths else "", 0, 0, ()))
    merger = Merger(root, budget, takes=True)
    for path in paths:
        try:
            source = cache.read(path)
            if isinstance(source, Unreadable):
                raise CompositionError(ProblemKind.NOT_FOUND, source.reason, Location(path))
            sources.append(path)
            found = cache.nodes(source, budget, Loader.PYYAML)
            if not isinstance(found, Branch):
                raise CompositionError(ProblemKind.UNREADABLE, "not a mapping", found.at)
            if over:
                merger.merge(root, found)
            else:
                _add(root, found, problems)
        except CompositionError as error:
            problems.append(error.problem)
        except LimitExceeded as error:
            problems.append(ComposeProblem(ProblemKind.LIMIT, str(error), Location(path)))
            break
    return to_document(root, root.at.source, problems, sources, None)


def _add(root: Branch, found: Branch, problems: list[ComposeProblem]) -> None:
    for key, node in found.content.items():
        # GPT-NeoX turns hyphens into underscores, and looks for a key as written among those that it has: `a-b` replaces silently.
        before = root.content.get(key)
        name = key.replace("-", "_") if type(key) is str else key
        if before is not None:
            problems.append(ComposeProblem(ProblemKind.DUPLICATE, f"{name} is in {before.at.source} too", node.at))
        root.put(name, node)
