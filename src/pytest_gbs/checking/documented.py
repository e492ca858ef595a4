"""What documents state about the recipes and launches of a repository: each statement with what it is certainly about.

A statement is about the recipe or launch that its own paragraph names (hardware if its sentence does), or that is in the code block to
which the paragraph points (a comment in a block points at its commands), else about the only one of its section, as is a heading; one
that starts with "Both" is about each of two, and GPUs stated of all commands below are about each of those. In a document beside a
script, about which it is as a whole, it is about the launch of that script. What has several candidates there, or only candidates
elsewhere in the document, contradicts nothing: it confirms those candidates that have the batch, and is kept for `gbs show`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Final, TypeAlias

from pytest_gbs.checking.repository import Repository
from pytest_gbs.checking.runs import CLAIMED
from pytest_gbs.claims.documents import Paragraph, Section, read_sections
from pytest_gbs.claims.pointing import Pointed
from pytest_gbs.launches.resolved_launch import ResolvedLaunch
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import CONFIGURATIONS, SCRIPTS
from pytest_gbs.model.limits import MOST_SUBJECTS
from pytest_gbs.model.location import Location, Source, below
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import HARDWARE, RANK_FACTORS, Name
from pytest_gbs.model.record import NamedTuple


class Subject(NamedTuple):
    """What a statement may be about: a launch at a place, or a recipe by itself (no place)."""

    recipe: str
    launch: Location | None = None


Statement: TypeAlias = tuple[Subject, Declaration]


def read_documents(
    repository: Repository, paths: Iterable[str], launches: Iterable[ResolvedLaunch]
) -> Iterator[tuple[Source, tuple[Statement, ...]]]:
    """Yield each document of `paths` with what it states of recipes and launches; statements that judge nothing have the force "other"."""
    at_source: defaultdict[str, dict[Subject, None]] = defaultdict(dict)
    for resolved in launches:
        at = resolved.found.launch.at
        at_source[at.source][Subject(resolved.recipe, at)] = None
    files: defaultdict[str, list[str]] = defaultdict(list)
    for path in repository.all_paths:
        files[path.rpartition("/")[2]].append(path)
    for path in paths:
        source = repository.tree.read(path)
        if isinstance(source, Source):
            document = _Document(repository, source, at_source, files)
            yield source, repository.guard.attempt(path, partial(_all, document), ())


def _all(document: _Document) -> tuple[Statement, ...]:
    return tuple(document.statements())


class _Document:
    """One document: its sections, and what may be meant in each."""

    def __init__(
        self, repository: Repository, source: Source, at_source: dict[str, dict[Subject, None]], files: dict[str, list[str]]
    ) -> None:
        self._repository, self._source, self._at_source, self._files = repository, source, at_source, files
        self._sections = read_sections(source)
        self._known: dict[str, tuple[Subject, ...]] = {}

    def statements(self) -> Iterator[Statement]:
        """Yield each statement with each recipe or launch that it may be about."""
        alone = self._alone()
        for number, section in enumerate(self._sections):
            values = section.values()
            around = self._around(number) if any(each.declarations for each in section.paragraphs) and not self._meant[number] else ()
            for paragraph in (each for each in section.paragraphs if each.declarations):
                if of_all := tuple(self._of_all_below(number, paragraph)):
                    yield from of_all
                    continue
                named = self._named(paragraph.names)
                shown = self._subjects(paragraph.block) if paragraph.block and not named else ()
                if paragraph.comment and not shown:
                    continue
                subjects = shown or self._meant[number] or alone
                if named:
                    recipes = {each.recipe for each in named}
                    subjects = _merged((*named, *(each for each in subjects if each.recipe in recipes)))
                if len(subjects) > MOST_SUBJECTS:
                    continue
                stated = section.values(paragraph.block) if shown else values
                beside = (
                    [paragraph] if paragraph.heading else [each for each in section.paragraphs if shown and each.block == paragraph.block]
                )
                batches = {each.value for one in beside for each in one.declarations if each.name in CLAIMED}
                for declaration in paragraph.declarations:
                    certain = len(subjects) == 1 or (len(subjects) == 2 and declaration.text.lower().startswith("both "))
                    if not named and not shown and (paragraph.row or paragraph.block):
                        certain = False  # of a model, for example, that no file names, or of a command that starts nothing known
                    of_it = (
                        bool(shown) or paragraph.heading or (bool(named) and _is_beside(self._source.text, declaration, paragraph.names))
                    )
                    judges = certain and _judges(declaration, stated, of_it)
                    weak = declaration.weak and certain and len(batches) == 1
                    each = declaration if judges else declaration._replace(force=_otherwise(declaration), weak=weak)
                    yield from ((subject, each) for subject in subjects or around)

    def _of_all_below(self, number: int, paragraph: Paragraph) -> Iterator[Statement]:
        """Yield the GPUs that a paragraph states of all commands behind it in its section and the parts of that, for each of them."""
        stated = [each for each in paragraph.declarations if each.name in _GPUS and each.force == Force.STATES]
        if not any(_all_below().search(each.text) for each in stated) or len({each.name for each in stated}) < len(stated):
            return
        levels = [section.level for section in self._sections]
        last = next((i for i in range(number + 1, len(levels)) if levels[i] <= levels[number]), len(levels)) - 1
        scripts = tuple(name for section in self._sections[number : last + 1] for name in section.scripts)
        subjects = self._subjects(Pointed(paragraph.start, self._sections[last].stop, scripts))
        yield from ((subject, each) for subject in subjects for each in stated if len(subjects) <= MOST_SUBJECTS)

    def _alone(self) -> tuple[Subject, ...]:
        """The launch of a script beside the document, in a folder of their own, if it starts or names nothing else and states one batch."""
        folder = self._source.path.rpartition("/")[0]
        found = {subject for subjects in self._meant for subject in subjects}
        scripts = {each.launch.source for each in found if each.launch is not None}
        if not (folder and len(found) == len(scripts) == 1) or self._source.path in scripts:
            return ()
        said: dict[tuple[str, str], set[int]] = defaultdict(set)
        for section in self._sections:
            for key, values in section.values().items():
                said[key] |= values
        several = any(len(values) > 1 for (name, _), values in said.items() if name in CLAIMED)
        return () if several or any(each.rpartition("/")[0] != folder for each in scripts) else tuple(found)

    @cached_property
    def _meant(self) -> tuple[tuple[Subject, ...], ...]:
        """What each section may be about by itself."""
        return tuple(self._subjects(each, (name for one in each.paragraphs for name in one.names)) for each in self._sections)

    def _subjects(self, part: Section | Pointed, names: Iterable[str] = ()) -> tuple[Subject, ...]:
        """The launches that are in a part of the document, and the recipes and scripts that it starts or that are named."""
        launches = self._at_source.get(self._source.path, ())
        in_it = (each for each in launches if each.launch and part.start <= each.launch.start < part.stop)
        return _merged((*in_it, *self._named((*names, *part.scripts))))

    def _around(self, number: int) -> tuple[Subject, ...]:
        """The subjects of the smallest part of the document around a section that has any; nothing if it has too many."""
        levels = [section.level for section in self._sections]
        above: int | None = number
        while above is not None:
            below_it = levels[above]
            above = next((i for i in range(above - 1, -1, -1) if levels[i] < below_it), None)
            first = above or 0
            stop = next((i for i in range(first + 1, len(levels)) if above is not None and levels[i] <= levels[above]), len(levels))
            found = _merged(each for subjects in self._meant[first:stop] for each in subjects)
            if found:
                return found if len(found) <= MOST_SUBJECTS else ()
        return ()

    def _named(self, names: Iterable[str]) -> tuple[Subject, ...]:
        for name in (names := tuple(names)):
            if name not in self._known:
                self._known[name] = tuple(self._of_file(name))
        return _merged(subject for name in names for subject in self._known[name])

    def _of_file(self, name: str) -> Iterator[Subject]:
        """Yield the recipe that a file name is that of, or the launches of a script; nothing if it is not certain which file is meant."""
        path = self._find(name)
        if path is None:
            return
        if path.endswith(SCRIPTS):
            yield from self._at_source.get(path, ())
        elif path.endswith(CONFIGURATIONS):
            documents = self._repository.readable(path)
            framework = self._repository.recognise(documents[0]) if len(documents) == 1 else None
            if framework is not None and not framework.companion:
                yield Subject(path)

    def _find(self, name: str) -> str | None:
        folder = self._source.path.rpartition("/")[0]
        name = _in_web().sub("", name)
        same = self._files.get(name.rpartition("/")[2], [])
        near = next((path for path in (below(folder, name), below("", name)) if path in same), None)
        return near or (same[0] if len(same) == 1 and "/" not in name else None)


# A link to a file as the pages of GitHub and others show it: `//github.com/team/recipes/blob/main/scripts/train.sh`.
_in_web = lazy_pattern(r"^.{0,200}?/(?:blob|tree|raw)/[^/]+/")


def _merged(subjects: Iterable[Subject]) -> tuple[Subject, ...]:
    """`subjects` each once; a recipe by itself gives way to its launches."""
    found = tuple(dict.fromkeys(subjects))
    launched = {each.recipe for each in found if each.launch is not None}
    return tuple(each for each in found if each.launch is not None or each.recipe not in launched)


def _is_beside(text: str, declaration: Declaration, names: Iterable[str]) -> bool:
    """Whether the sentence of `text` that states `declaration` names one of `names`, or is about "this script", and asks for no change."""
    first, last = max(0, declaration.at.start - _LONG), declaration.at.stop + _LONG
    start = max((each.end() for each in _end().finditer(text, first, declaration.at.start)), default=first)
    stop = next((each.start() for each in _end().finditer(text, declaration.at.stop, last)), last)
    sentence = text[start:stop]
    return (any(map(sentence.__contains__, names)) or _about_it().match(sentence) is not None) and not _changes().search(sentence)


# "The training commands below are configured for a node of 8 x H100s."
_all_below = lazy_pattern(r"(?i)\bcommands below (?:all )?(?:are (?:configured |meant )?for|assume)\b")
_GPUS: Final = (Name.WORLD_SIZE, Name.GPUS_PER_NODE)
_LONG: Final = 400
_end = lazy_pattern(r"[.!?]\s+(?=[A-Z(\[`*])|\n\s*\n|\n[ \t]*[-*+][ \t]")
_about_it = lazy_pattern(r"(?i)\W*(?:note\W+)?(?:this|it|the (?:above )?(?:training )?(?:script|example|command))\b")
_changes = lazy_pattern(r"(?i)\b(?:adapt|adjust|alter|based|chang|edit|increas|instead|modif|need|other|reduc|replac|set|tweak|updat)")
_TRUE_OF_SOME: Final = (Force.STATES, Force.CONFIRMS, Force.HISTORY)


def _otherwise(declaration: Declaration) -> str:
    """The force of what may be about several things, or about what was: a batch counts for those that have it."""
    return Force.CONFIRMS if declaration.force in _TRUE_OF_SOME and declaration.name in CLAIMED else Force.OTHER


def _judges(declaration: Declaration, values: dict[tuple[str, str], set[int]], pointed: bool) -> bool:
    """Whether a batch, or hardware right above the command that it is for, is stated as the only one of its kind: two are of two things."""
    others = values.get((declaration.name, declaration.unit), set()) - {declaration.value}
    judged = declaration.name in CLAIMED or (pointed and declaration.name in (*HARDWARE, *RANK_FACTORS))
    return declaration.force == Force.STATES and judged and not others
