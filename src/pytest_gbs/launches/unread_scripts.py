"""What scripts may launch of which a part was not read, judged by their texts: which programs, batch keys and files these mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pytest_gbs.launches.mentions import NameIndex, has_batch_key, programs, train
from pytest_gbs.model.document import CONFIGURATIONS, DOCUMENTS
from pytest_gbs.model.location import Tree, Unreadable, by_name


class Mentioned(NamedTuple):
    """What the text of a script mentions: programs, batch keys, the paths of scripts and of configuration files.

    `outright` are the configuration files whose names are in it, `possible` also those whose names are in it without their
    suffix, or fit a name with variables.
    """

    programs: frozenset[str] = frozenset()
    batch: bool = False
    scripts: tuple[str, ...] = ()
    outright: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()


class UnreadScripts:
    """What the scripts of a tree may launch; each text is searched once.

    Files are compared by name, without their folders, which may be variables.
    """

    def __init__(self, tree: Tree, paths: Sequence[str], scripts: Iterable[str]) -> None:
        self._tree = tree
        self._scripts = by_name(path for path in scripts if not path.lower().endswith(DOCUMENTS))
        self._configurations = by_name(path for path in paths if path.endswith(CONFIGURATIONS))
        self._bare: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._configurations:
            self._bare[name.rpartition(".")[0]].append(name)
        self._names = (NameIndex(self._scripts), NameIndex(self._configurations), NameIndex(self._bare))
        self._mentioned: dict[str, Mentioned] = {}
        self._possible: dict[str, frozenset[str]] = {}

    def may_launch(self, path: str) -> bool:
        """Whether the script at `path`, or one that it names, starts what trains, or any program beside a batch key or a recipe."""
        some, batch = False, False
        outright: dict[str, None] = {}
        for text in map(self._mentions, self._closure(path)):
            some, batch = some or bool(text.programs), batch or text.batch
            if train(text.programs) or (some and batch):
                return True
            outright.update(dict.fromkeys(text.outright))
        return some and any(has_batch_key(self._text(each) or "") for each in outright)

    def launches(self, text: str) -> bool:
        """Whether a part of a script names a program that may train, or another script."""
        mentioned = self._read(text)
        return bool(mentioned.programs or mentioned.scripts)

    def may_name(self, path: str, recipe: str) -> bool:
        """Whether the script at `path`, or one that it names, may name `recipe`.

        Where the text of the script is not known, so is what it names if its bytes show that it launches training, else nothing.
        """
        if self._text(path) is None:
            problem = self._tree.read(path)
            return isinstance(problem, Unreadable) and problem.matters
        if path not in self._possible:
            self._possible[path] = frozenset(each for one in self._closure(path) for each in self._mentions(one).possible)
        return recipe in self._possible[path]

    def _closure(self, path: str) -> Iterator[str]:
        """Yield a script, those that it names, and those that they name."""
        found, pending = {path}, [path]
        while pending:
            each = pending.pop()
            yield each
            new = [other for other in self._mentions(each).scripts if other not in found]
            found.update(new)
            pending += new

    def _text(self, path: str) -> str | None:
        found = self._tree.read(path)
        source = found.source if isinstance(found, Unreadable) else found
        return source.text.replace("\0", "") if source is not None else None

    def _mentions(self, path: str) -> Mentioned:
        if path not in self._mentioned:
            text = self._text(path)
            self._mentioned[path] = self._read(text) if text is not None else Mentioned()
        return self._mentioned[path]

    def _read(self, text: str) -> Mentioned:
        scripts, configurations, bare = self._names
        outright = configurations.named(text)
        possible = outright.union(configurations.fitting(text), *(self._bare[short] for short in bare.named(text, bare=True)))
        named = (_paths(self._scripts, scripts.named(text)), _paths(self._configurations, outright), _paths(self._configurations, possible))
        return Mentioned(programs(text), has_batch_key(text), *named)


def _paths(by_name: dict[str, list[str]], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for name in sorted(names) for path in by_name[name])
