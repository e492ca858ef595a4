"""The DeepSpeed configurations that a run reads beside its recipe: named by it, written into it, or named by its launcher file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.document import Document, Mapping, Scalar
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.location import KeyPath, Location, Source, Tree, Unreadable, below, upwards
from pytest_gbs.model.quantity import Size
from pytest_gbs.model.record import Final
from pytest_gbs.model.run import Companion, Run
from pytest_gbs.readers import read

# accelerate 1.15.0 commands/launch.py:410-415; its file holds the flag of the same name.
_LAUNCHED: Final[KeyPath] = ("deepspeed_config", "deepspeed_config_file")
_SUFFIXES: Final = (".json",)  # accelerate 1.15.0 utils/deepspeed.py reads it with json.load
_INCLUDED: Final = (".json", ".toml", ".yaml", ".yml")


class Companions:
    """Finds the DeepSpeed configurations of runs, each file of one tree read and parsed at most once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._documents: dict[str, tuple[Document | Unreadable, ...] | None] = {}

    def beside(self, run: Run, locate: Callable[[Location], Location] | None = None) -> Run:
        """`run` with the DeepSpeed configurations that its recipe names; if it names none, those of its launcher file.

        `locate` turns places in a document that is made up (a recipe with settings of the command line in it) into real ones.
        """
        found = [each for key in run.framework.companions for each in self.named(run.document, key)]
        if locate is not None:
            found = [each._replace(named=locate(each.named)) for each in found if each.document.source.path != run.path]
        start = run.launch.start if run.launch else None
        if not found and start is not None:
            for file in start.files:
                documents = self._read(file.path) or ()
                named = (each for d in documents if isinstance(d, Document) for each in self.named(d, _LAUNCHED))
                found.extend(each._replace(of_launcher=True) for each in named)
        return run._replace(companions=tuple(found)) if found else run

    def sizes(self, document: Document, framework: Framework) -> dict[str, Size]:
        """The sizes that the framework takes from a file that `document` names, rather than holds: DeepSpeed's, or one of its own."""
        found: dict[str, Size] = {}
        for key in (*framework.companions, *framework.includes):
            rows = tuple(row._replace(key=row.key[len(key) :]) for row in framework.rows if row.key[: len(key)] == key and row.key != key)
            if rows and not isinstance(document.get(*key), Mapping):
                for each in self.named(document, key, _INCLUDED if key in framework.includes else _SUFFIXES):
                    found.update(read_sizes(each.document, framework._replace(rows=rows)))
        return found

    def of_launcher(self, files: Iterable[LauncherFile], framework: Framework) -> dict[str, Size]:
        """The sizes that the framework takes from files that the launcher's own ones name."""
        found: dict[str, Size] = {}
        if framework.companions or framework.includes:
            for document in (each for file in files for each in self._read(file.path) or ()):
                found.update(self.sizes(document, framework) if isinstance(document, Document) else {})
        return found

    def named(self, document: Document, key: KeyPath, suffixes: tuple[str, ...] = _SUFFIXES) -> Iterator[Companion]:
        """Yield the configuration that `document` holds or names at `key`; nothing if the tree has no such file.

        A path is looked up from the root of the tree, where people launch, then from the folder of the file that names it and
        those above. It never leads out of the tree.
        """
        node = document.get(*key)
        if node is None:
            return
        named = document.locate(key) or Location(document.source.path, node.start, node.stop, key)
        if isinstance(node, Mapping):
            yield Companion(_within(document, key, node), named)
        elif isinstance(node, Scalar) and node.text.endswith(suffixes):
            folder = document.source.path.rpartition("/")[0]
            for place in dict.fromkeys(filter(None, map(partial(_below, name=node.text), ("", *upwards(folder))))):
                found = self._read(place)
                if found is not None:
                    if found and isinstance(found[0], Document):
                        yield Companion(found[0], named)
                    return

    def _read(self, path: str) -> tuple[Document | Unreadable, ...] | None:
        """The documents of the file at `path`, or None if the tree has no such file."""
        if path not in self._documents:
            source = self._tree.read(path)
            self._documents[path] = read(source) if isinstance(source, Source) else None
        return self._documents[path]


def _below(folder: str, name: str) -> str | None:
    """The path of `name` as seen from `folder`; None if it leads out of the tree or is absolute."""
    return None if name.startswith(("/", "~")) or "\\" in name or "\0" in name else below(folder, name)


def _within(document: Document, key: KeyPath, node: Mapping) -> Document:
    """The mapping at `key` as a document of its own, with the places that it has in the file."""
    depth = len(key)
    keyed = {path[depth:]: entry for path, entry in document.keyed.items() if path[:depth] == key and len(path) > depth}
    return document._replace(root=node, keyed=keyed, comments=(), duplicates=())
