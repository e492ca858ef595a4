"""A tree of files seen as a repository: what to report on, and what its launcher files say near a recipe."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, cached_property, partial

from pytest_gbs.claims.worlds import Nearby
from pytest_gbs.files.globs import matches_any
from pytest_gbs.files.regular import FOLDER, MISSING
from pytest_gbs.files.worktree import listing, remembering
from pytest_gbs.frameworks import describes, recogniser, recognising_words, set_by_arguments
from pytest_gbs.launches.jobs import is_job, may_describe_job
from pytest_gbs.launches.programs import hints as launcher_hints
from pytest_gbs.launches.programs import read_launcher_file
from pytest_gbs.model.document import CONFIGURATIONS, PROGRAMS, RECIPES, Document, holds_commands
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.guard import Guard
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.location import KeyPath, Location, Source, Tree, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program import NO_PROGRAM, Program
from pytest_gbs.model.record import TYPE_CHECKING, Any, Final, TypeVar
from pytest_gbs.model.settings import Settings
from pytest_gbs.readers import read

if TYPE_CHECKING:
    from pytest_gbs.checking.memory import Memory
    from pytest_gbs.composition.document_cache import DocumentCache
    from pytest_gbs.launches.find import Scripts
    from pytest_gbs.model.program_context import ProgramContext
    from pytest_gbs.settings.versions import Versions

Found = TypeVar("Found")
# What tokenizers write: millions of characters, with each word of a language as a key.
_VOCABULARIES: Final = ("tokenizer.json", "vocab.json")
WORTH_SHARING: Final = 200  # files a process; fewer are read before another one has started
_READ_AHEAD: Final = 10_000_000  # characters of files that are looked at before they are checked
# Data of a repository's own tests looks like recipes, and is checked only where it was asked for.
_TEST_DATA: Final = ("/tests/fixtures/", "/test/fixtures/")
_LARGE: Final = 100_000  # characters of a JSON file of which the keys alone are looked at
# Words of which a program with a recipe has one, and by which a Python module includes a configuration (mmengine).
_SIZES: Final = ("batch", "accum", "samples_per_gpu")
_TRAINS: Final = ".train("
_INCLUDES: Final = ("_base_ = ", "_base_=", "with read_base()")
_TEST_CODE: Final = ("/tests/", "/test/", "/test_")


class Repository:
    """The lazy memo of one tree: what its launcher files give, each read at most once.

    With a `memory` what earlier checks found out is not found out again while it holds.
    """

    def __init__(self, tree: Tree, settings: Settings, memory: Memory | None = None) -> None:
        self.memory = memory
        self.tree: Tree = remembering(tree) if memory is None else memory.begin(tree, settings)
        # What all results may rest on, whichever of them asks first.
        self.for_all: Tree = self.tree if memory is None else memory.noting_for_all()
        self.settings = settings
        self.guard = Guard()
        self._ahead: dict[str, Source] = {}
        self._awaited: set[str] = set()
        self._room = _READ_AHEAD if memory is None else 0  # what is kept aside would be read without a note
        self._launcher_files: dict[str, tuple[LauncherFile, str] | None] = {}
        self._nearby: dict[str, Nearby] = {}
        self._scripts: Scripts | None = None
        self._named_scripts: set[str] = set()
        self._unlisted: tuple[tuple[str, str], ...] = ()
        self.notice = ""  # why not all files were listed, once they were
        self._documents: dict[str, tuple[Document | Unreadable, ...]] = {}
        self._latest: tuple[Source, tuple[Document | Unreadable, ...]] | None = None
        self._recognise = recogniser(settings.frameworks)
        hints, self._called = recognising_words(settings.frameworks)
        self._hints = sorted({*launcher_hints(), *hints})

    def recognise(self, document: Document, program: Program = NO_PROGRAM) -> Framework | None:
        """The table that `document` is a recipe of, as it is at the versions that the repository is for, or None.

        The user's own tables come first. `program` is the program that reads it, as far as it is known.
        """
        found = self._recognise(document, program)
        if found is None or not _depends_on_versions(found, document):
            return found
        return self._versions.fitted(found, document, program.path)

    @cached_property
    def _versions(self) -> Versions:
        """The versions of the frameworks that the repository is for."""
        from pytest_gbs.settings.versions import Versions

        paths = self.all_paths
        return self.recall("versions", lambda: Versions(self.for_all, self.settings, lambda: paths))

    def recall(self, name: Hashable, find: Callable[[], Found], given: object = None, matters: Callable[[], bool] = lambda: True) -> Found:
        """What `find` gives, or what it gave in an earlier check that is remembered, as `Memory.recall` does."""
        return find() if self.memory is None else self.memory.recall(name, find, given, matters)

    @cached_property
    def all_paths(self) -> tuple[str, ...]:
        """All files of the tree, sorted."""
        paths, self._unlisted, self.notice = listing(self.tree)
        return paths

    def unlisted(self, targets: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the folders below `targets` that could not be listed, each with the reason, once the tree was listed."""
        prefixes = tuple("" if target in ("", ".") else target.rstrip("/") + "/" for target in targets or ("",))
        yield from ((path, reason) for path, reason in self._unlisted if path.startswith(prefixes))

    @property
    def scripts(self) -> Scripts | None:
        """The scripts of the tree, or None, at no cost, if it has no file that may hold a command line."""
        if self._scripts is None:
            if not self._named_scripts and not self.jobs and not any(map(holds_commands, self.all_paths)):
                return None
            self._scripts = self.make_scripts()
        return self._scripts

    def make_scripts(self) -> Scripts:
        """What reads the scripts of the tree, whether it has any or not."""
        from pytest_gbs.launches.find import Scripts

        left_out = partial(self._left_out, below="")
        scripts = Scripts(self.tree, self.all_paths, left_out, self._named_scripts, self.jobs, for_all=self.for_all)
        if self.memory is not None:
            scripts.files.launcher_files.lightly = self.memory.lightly
        return scripts

    @cached_property
    def jobs(self) -> frozenset[str]:
        """The files of the tree whose texts say that they may describe jobs that launch training."""
        return frozenset(
            path for path in self.all_paths if may_describe_job(path) and self.recall(("job", path), partial(self._is_job, path))
        )

    def _is_job(self, path: str) -> bool:
        source = self._read_ahead(path)
        return isinstance(source, Source) and is_job(source)

    def _read_ahead(self, path: str) -> Source | Unreadable:
        """The file at `path`, whose text is kept, as far as there is room, if it is one that will be checked."""
        source = self._ahead.get(path) or self.tree.read(path)
        if isinstance(source, Source) and path in self._awaited and path not in self._ahead and self._room > 0:
            self._ahead[path] = source
            self._room -= len(source.text)
        return source

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """All configuration files of the tree, sorted."""
        return tuple(path for path in self.all_paths if path.endswith(CONFIGURATIONS))

    @cached_property
    def readable_paths(self) -> tuple[str, ...]:
        """All files of the tree that may hold a recipe, sorted: configurations, Python programs and notebooks."""
        return tuple(path for path in self.all_paths if path.endswith(RECIPES))

    def targets(self, targets: Sequence[str]) -> dict[str, bool]:
        """The files to report on, in path order, and whether each was named itself.

        Raises:
            UsageError: a target is neither a file nor a folder of the tree.
        """
        found: dict[str, bool] = {}
        for target in targets or ("",):
            if holds_commands(target) and _is_there(self.tree.read(target)):
                self._named_scripts.add(target)
                continue
            inside = self._below(target)
            if inside is None:
                found[target] = True
            else:
                for path in inside:
                    found.setdefault(path, False)
        self._awaited = set(found)
        return dict(sorted(found.items()))

    def _below(self, target: str) -> list[str] | None:
        """The files below folder `target`, or None if it is a file itself."""
        if target in ("", "."):
            return [path for path in self.readable_paths if not self._left_out(path, "")]
        if self._is_file(target):
            return None
        prefix = target.rstrip("/") + "/"
        inside = _range(self.readable_paths, prefix)
        if inside or target.endswith("/"):
            return [path for path in inside if not self._left_out(path, prefix)]
        if not target.endswith(RECIPES) and not _is_there(self.tree.read(target)):
            raise UsageError(f"no file or folder {target}, or no configuration file in it")
        return None

    def script_targets(self, targets: Sequence[str]) -> dict[str, bool]:
        """The scripts, Makefiles and documents among the targets, and whether each was named itself."""
        if self.scripts is None:
            return {}
        every = frozenset(self.scripts.paths)
        found: dict[str, bool] = {}
        for target in targets or ("",):
            inside = [target] if target in every else _range(self.scripts.paths, "" if target in ("", ".") else target.rstrip("/") + "/")
            found.update((path, path == target) for path in inside)
        return found

    def _is_file(self, target: str) -> bool:
        """Whether `target` is a file that can be read, without listing the tree; its text is kept until it is asked for."""
        source = self.tree.read(target) if target.endswith(RECIPES) else None
        if isinstance(source, Source) and self.memory is None:
            self._ahead[target] = source
        return isinstance(source, Source)

    def looks_at(self, path: str) -> bool:
        """Whether the file at `path` is one that is looked at where the whole tree is."""
        return path.endswith(RECIPES) and not self._left_out(path, "")

    def _left_out(self, path: str, below: str) -> bool:
        """Whether the settings exclude the file, or it is test data that was not named."""
        if matches_any(path, self.settings.exclude):
            return True
        if path.endswith(PROGRAMS):
            return any(part in f"/{path}" for part in _TEST_CODE) and not any(part in f"/{below}" for part in _TEST_CODE)
        return any(folder in f"/{path}" and folder not in f"/{below}" for folder in _TEST_DATA)

    def documents(self, path: str, named: bool) -> tuple[Source | None, tuple[Document | Unreadable, ...]]:
        """The documents of the file at `path`; none, without parsing, where its text has no key of any table."""
        source = self._ahead.pop(path, None) or self.tree.read(path)
        self._awaited.discard(path)
        if isinstance(source, Unreadable):
            return None, (source,)
        if not named and not self._may_matter(path, source):
            self._launcher_files.setdefault(path, None)
            return source, ()
        found = self._documents.get(path) or self.recall(("documents", path), lambda: self._parse(source))
        self._latest = source, found
        return source, self._recipes(found) if path.endswith(PROGRAMS) else found

    def _may_matter(self, path: str, source: Source) -> bool:
        """Whether the text of a file has a key of some table, or calls a class of one."""
        if path.endswith(PROGRAMS):
            return self._may_call(source.text)
        return path.rpartition("/")[2] not in _VOCABULARIES and self._may_have_key(_keys_of(source))

    def _recipes(self, found: tuple[Document | Unreadable, ...]) -> tuple[Document | Unreadable, ...]:
        """What some table reads of the calls in a program, counted from 1."""
        recipes = [each for each in found if isinstance(each, Unreadable) or self.recognise(each) is not None]
        return tuple(each if isinstance(each, Unreadable) else each._replace(number=number) for number, each in enumerate(recipes, 1))

    def _may_have_key(self, text: str) -> bool:
        """Whether `text` holds a word that some table reads. What was found last is looked for first: recipes are alike."""
        for index, word in enumerate(self._hints):
            if word in text and _as_key(word).search(text):
                self._hints.insert(0, self._hints.pop(index))
                return True
        return False

    def concerns(self, source: Source) -> bool:
        """Whether a text that can't be read is a recipe or a launcher file, as far as its lines show keys."""
        from pytest_gbs.readers.outline import outline

        shown = outline(source)
        return self._recognise(shown, NO_PROGRAM) is not None or any((hint,) in shown.keyed for hint in launcher_hints())

    def _may_call(self, text: str) -> bool:
        """Whether `text`, a Python program, names a class that a table reads, and a batch size or `train`, or includes a configuration."""
        sets = (_TRAINS in text or any(sign in text for sign in _SIZES)) and any(word in text for word in self._called)
        return sets or any(sign in text for sign in _INCLUDES)

    @property
    def alone(self) -> bool:
        """True if the tree has a single file: nothing can be around it that fills up what it leaves open."""
        return len(self.all_paths) == 1

    @cached_property
    def document_cache(self) -> DocumentCache:
        """The tree for compositions, which look at the same files again and again."""
        from pytest_gbs.composition.document_cache import DocumentCache

        return DocumentCache(self.tree, self._read, self.all_paths, keep=self.memory is None)

    def readable(self, path: str) -> tuple[Document, ...]:
        """The documents of the file at `path` that can be read, read once."""
        if self.memory is not None:
            return tuple(document for document in self.documents(path, named=True)[1] if isinstance(document, Document))
        if path not in self._documents:
            self._documents[path] = self.documents(path, named=True)[1]
        return tuple(document for document in self._documents[path] if isinstance(document, Document))

    def remember(self, path: str, launcher_file: LauncherFile | None, source: Source) -> None:
        """Keep what the file at `path` is as a launcher file, so that it need not be read again as evidence."""
        if path not in self._launcher_files or launcher_file is not None:
            self._launcher_files[path] = None if launcher_file is None else _with_evidence(launcher_file, source)

    def launcher_file(self, path: str) -> LauncherFile | None:
        """What the launcher file at `path` gives, or None if it is none."""
        found = self._launcher_file(path)
        return found[0] if found else None

    def nearby(self, path: str) -> Nearby:
        """What the launcher files of the nearest enclosing folder that has any say about GPUs per node.

        Those of a folder are the ones in it and in folders right below it: others belong to something else of the repository.
        """
        from pytest_gbs.checking.nearby import agreement_of, is_near

        folder = path.rpartition("/")[0]
        below: list[str] = []
        while folder not in self._nearby:
            near = (path for path in _range(self.paths, f"{folder}/" if folder else "") if is_near(path, folder))
            found = [f for path in near if (f := self._launcher_file(path)) and f[0].distributed]
            if found or not folder:
                self._nearby[folder] = agreement_of(found)
            else:
                below.append(folder)
                folder = folder.rpartition("/")[0]
        around = self._nearby[folder]
        self._nearby.update(dict.fromkeys(below, around))
        return around

    def _launcher_file(self, path: str) -> tuple[LauncherFile, str] | None:
        if path not in self._launcher_files:
            find = partial(self.guard.attempt, path, partial(self._read_launcher_file, path), None)
            self._launcher_files[path] = self.recall(("launcher file", path), find)
        return self._launcher_files[path]

    def _read_launcher_file(self, path: str) -> tuple[LauncherFile, str] | None:
        source = self._read_ahead(path)
        if not isinstance(source, Source) or not any(hint in source.text for hint in launcher_hints()):
            return None
        files = (read_launcher_file(document) for document in read(source) if isinstance(document, Document))
        file = next((each for each in files if each is not None), None)
        return None if file is None else _with_evidence(file, source)

    def _read(self, source: Source) -> tuple[Document | Unreadable, ...]:
        """The documents of `source`, parsed once while it is the text of its file, and not again for the recipe that is being judged."""
        if self.memory is None and self._latest is not None and self._latest[0] == source and source.path.endswith(CONFIGURATIONS):
            return self._latest[1]
        if self.memory is None or self.tree.read(source.path) is not source:
            return read(source)
        return self.recall(("parsed", source.path), lambda: read(self._noted(source)))

    def _parse(self, source: Source) -> tuple[Document | Unreadable, ...]:
        """The documents of `source`, with what they take from other files of the tree."""
        return read(self._noted(source), self._program_context() if source.path.lower().endswith(PROGRAMS) else None)

    def _program_context(self) -> ProgramContext:
        from pytest_gbs.model.program_context import ProgramContext

        cache = self.document_cache
        return ProgramContext(cache.listed, self._in_folder, self._given_by_hydra, describes, set_by_arguments, lambda: cache.most_included)

    def _given_by_hydra(self, folder: str, name: str) -> tuple[dict[Any, Any], dict[KeyPath, Location]] | None:
        from pytest_gbs.composition.hydra import compose, given_to_program

        return given_to_program(compose(self.document_cache, folder, name))

    def _in_folder(self, folder: str) -> list[str]:
        """The paths of the files in a folder, without those in folders below it."""
        prefix = f"{folder}/" if folder else ""
        return [path for path in _range(self.all_paths, prefix) if "/" not in path[len(prefix) :]]

    def _noted(self, source: Source) -> Source:
        """`source`, on which what is found out rests from now on, where that is remembered."""
        if self.memory is not None:
            self.tree.read(source.path)
        return source


def _with_evidence(launcher_file: LauncherFile, source: Source) -> tuple[LauncherFile, str]:
    from pytest_gbs.checking.nearby import evidence_of

    return launcher_file, evidence_of(launcher_file, source)


def _range(paths: tuple[str, ...], prefix: str) -> list[str]:
    """Those of the sorted `paths` that start with `prefix`."""
    start = bisect_left(paths, prefix)
    stop = bisect_left(paths, prefix[:-1] + chr(ord(prefix[-1]) + 1)) if prefix else len(paths)
    return list(paths[start:stop])


def _keys_of(source: Source) -> str:
    """The text of a file, or of a large JSON file its keys alone: what an evaluation writes down is mostly numbers."""
    if len(source.text) < _LARGE or not source.path.endswith(".json"):
        return source.text
    return "".join(f"{key}: " for key in dict.fromkeys(_json_key().findall(source.text)))


_json_key = lazy_pattern(r'"([^"\\\n]{1,200})"\s*:')


@cache
def _as_key(word: str) -> re.Pattern[str]:
    """What finds `word` where a key may stand: by itself, with a sign of YAML, JSON or TOML behind it."""
    literal = re.escape(word)  # comes first, since a search for a literal is many times faster
    return re.compile(rf"{literal}(?<![\w-]{literal})[\"']?\s*[:=\].]")


def _is_there(found: Source | Unreadable) -> bool:
    """Whether there is something other than a folder at a path, which may not be readable."""
    return isinstance(found, Source) or found.reason not in (FOLDER, MISSING)


def _depends_on_versions(framework: Framework, document: Document) -> bool:
    """Whether anything that is judged of `document` differs from version to version."""
    if framework.eras or framework.copies:
        return True
    keys = (*(removal.key for removal in framework.removals), *(framework.companions if framework.beside else ()))
    return any(key in document.keyed for key in keys)
