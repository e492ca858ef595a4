"""The training frameworks: a table each (`*.toml`), found by listing this folder, loaded when a recipe of theirs is met."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from marshal import dumps, loads

from pytest_gbs import model
from pytest_gbs.files.globs import matches_any
from pytest_gbs.files.plugins import prebuilt
from pytest_gbs.frameworks._recognition import Index, Recogniser, build, class_name
from pytest_gbs.frameworks._stored import restored, restored_index, stored, stored_index
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.program import NO_PROGRAM, Program
from pytest_gbs.model.record import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pytest_gbs.frameworks._notation import Raw

Recognise: TypeAlias = Callable[[Document, Program], Framework | None]

# What the stored tables depend on: the files of this folder, and what a table is.
SEARCH: Final = (*__path__, *model.__path__)


class _Known(NamedTuple):
    """How all tables are recognised, and each as it is stored, by the name of its file and its number there."""

    how: Index
    tables: dict[tuple[str, int], bytes]


@cache
def tables() -> tuple[Framework, ...]:
    """The tables of all frameworks."""
    return tuple(table for _, _, table in named_tables())


def named_tables() -> Iterator[tuple[str, int, Framework]]:
    """Yield each table with the name of its file and its number there."""
    for name, number in _known().tables:
        yield name, number, _table(name, number)


def titles() -> tuple[str, ...]:
    """The titles of all tables, none of them loaded."""
    return tuple(entry.title for entry in _known().how.entries)


def recognising_words(extra: tuple[Framework, ...] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words of which one occurs in the text of every recipe, and of every program with one, those of the tables `extra` too."""
    known, own = _known().how, build(("", number, table) for number, table in enumerate(extra))
    return (*known.hints, *own.hints), (*known.called, *own.called)


def describes(called: str) -> bool:
    """Whether a table is for calls of the class that is imported as `called`."""
    return class_name(called) in _classes()


def set_by_arguments(function: str) -> dict[str, KeyPath]:
    """The keys that the arguments of a library's function set of the recipe that it returns; none if no table knows it."""
    return _functions().get(function, {})


@cache
def _functions() -> dict[str, dict[str, KeyPath]]:
    return {name: dict(arguments) for entry in _known().how.entries for name, arguments in entry.functions}


@cache
def _classes() -> frozenset[str]:
    return frozenset(name for entry in _known().how.entries for name in entry.calls)


def recognise(document: Document, program: Program = NO_PROGRAM) -> Framework | None:
    """The table that `document` is a recipe of, or None if it is not a recipe that any table knows.

    The words of the `program` that reads it count as nearer than those of the document's own path.
    """
    return _recogniser().recognise(document, program)


def description(name: str) -> Raw | None:
    """The description called `name`, None if there is none: a file of this folder, a shared part (`_trl`) too, or one table.

    A table goes by its slug, as `gbs schema` lists it: `trl-grpo` is one of those that `trl_grpo` describes.
    """
    from pytest_gbs.frameworks._files import description as of_file
    from pytest_gbs.frameworks._notation import expand

    found = of_file(name)
    if found is not None:
        return found
    entry = next((entry for entry in _known().how.entries if slug(entry.title) == name), None)
    return expand(of_file(entry.name) or {}, of_file)[entry.number].raw if entry else None


def names() -> tuple[str, ...]:
    """The names of all descriptions, shared parts too."""
    from pytest_gbs.frameworks._files import names as of_files

    return tuple(dict.fromkeys((*of_files(), *map(slug, titles()))))


def slug(title: str) -> str:
    """The title of a table as file names and settings have it: `TRL (SFT)` is `trl-sft`."""
    return "-".join("".join(sign if sign.isalnum() else " " for sign in title.lower()).split())


def recogniser(extra: tuple[Framework, ...]) -> Recognise:
    """A function like `recognise` for which the tables `extra` come first."""
    if not extra:
        return recognise
    fitting: dict[tuple[int, ...], Recogniser] = {}

    def recognise_own(document: Document, program: Program = NO_PROGRAM) -> Framework | None:
        path = document.source.path
        chosen = tuple(n for n, table in enumerate(extra) if not table.recognition.files or matches_any(path, table.recognition.files))
        if chosen not in fitting:
            index = build(("", number, extra[number]) for number in chosen)
            fitting[chosen] = Recogniser(index, lambda entry: extra[entry.number])
        return fitting[chosen].recognise(document, program) or recognise(document, program)

    return recognise_own


@cache
def _recogniser() -> Recogniser:
    return Recogniser(_known().how, lambda entry: _table(entry.name, entry.number))


@cache
def _table(name: str, number: int) -> Framework:
    found: Framework = restored(loads(_known().tables[name, number]))
    return found


@cache
def _known() -> _Known:
    """The tables as they were written down when the package was built, or, where one has changed since, from their files."""
    written = prebuilt("frameworks", SEARCH)
    return _from_files() if written is None else _Known(restored_index(written[0]), dict(zip(*written[1:], strict=True)))


def _from_files() -> _Known:
    from pytest_gbs.frameworks._files import built_in

    found = tuple(built_in())
    index = build(found)
    return _Known(index, {(name, number): dumps(stored(table)) for name, number, table in found})


def to_write_down() -> tuple[object, ...]:
    """What `tables` and the rest would find, made of the files: the index, the names of the tables, and the tables."""
    known = _from_files()
    return stored_index(known.how), tuple(known.tables), tuple(known.tables.values())
