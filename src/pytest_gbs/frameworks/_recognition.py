"""How the table of a document is found among many: every key a bit, a table loaded only when it is the one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.document import COMMAND_LINE, PYTHON, Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import MOST_RECIPE_KEYS
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.program import NO_PROGRAM, Program
from pytest_gbs.model.record import Final, NamedTuple

_MOST_ALIKE: Final = 1_024
# Only Weights & Biases writes this key: the file says what a run had, each value in a mapping, and nothing reads it back.
_RECORD: Final = ("_wandb",)
# What of a program belongs to a table only by its keys.


class TableEntry(NamedTuple):
    """How one table is recognised, each key a bit, and which table it is: the name of its file and its number there."""

    name: str
    number: int
    title: str
    loader: str
    needed: int
    all_of: int
    one_of: tuple[int, ...]
    none_of: int
    marks: int
    paths: tuple[str, ...]
    weight: int
    functions: tuple[tuple[str, tuple[tuple[str, KeyPath], ...]], ...]
    header: bool
    syntax: str
    calls: tuple[str, ...]
    imports: str
    programs: tuple[str, ...]
    uses: tuple[str, ...]
    common_name: bool
    yields: bool
    when: tuple[Condition, ...]

    def admits(self, seen: int) -> bool:
        """Whether a document with the keys `seen` may belong to this table."""
        # A loop rather than all(): this is asked of several tables for every recipe.
        for group in self.one_of:
            if not group & seen:
                return False
        return not (seen & self.none_of or self.all_of & ~seen)

    def admits_alone(self, seen: int, program: Program) -> bool:
        """Whether the settings `seen` of a command line without a file may be those of a program of this table."""
        own = not (self.programs or self.uses) if not self.name else program.is_of(self.programs, self.uses)
        return own and (self.admits(seen) if self.common_name else not self.all_of & ~seen)

    def suits(self, document: Document) -> bool:
        """Whether the syntax and the values of `document` are those that this table asks for, where it asks for any."""
        if self.syntax not in ("", COMMAND_LINE, document.syntax):
            return False
        if not self.when:
            return True
        for condition in self.when:  # noqa: SIM110 - a loop here too
            if holds(condition, document, self.loader):
                return True
        return False

    def nearness(self, words: list[str]) -> tuple[int, int]:
        """How near to the end of a path, read as `words`, one of this table's words is, then its weight."""
        return max((number for number, word in enumerate(words) if word in self.paths), default=-1), self.weight


class Index(NamedTuple):
    """All keys that say anything, in the order of their bits, the entry of each table, and words for text that may hold one.

    In the text of a program one of the words in `called` occurs.
    """

    keys: tuple[KeyPath, ...]
    entries: tuple[TableEntry, ...]
    hints: tuple[str, ...]
    called: tuple[str, ...] = ()


class Recogniser:
    """Tells to which table of an index a document belongs; `load` gives the table of an entry."""

    def __init__(self, index: Index, load: Callable[[TableEntry], Framework]) -> None:
        self._bits = {key: 1 << number for number, key in enumerate(index.keys)}
        self._entries = index.entries
        self._load = load
        self._needed = 0
        self._alike: dict[int, tuple[TableEntry, ...]] = {}
        for entry in index.entries:
            self._needed |= entry.needed

    def recognise(self, document: Document, program: Program = NO_PROGRAM) -> Framework | None:
        """The table that `document` is a recipe of, or None if it is not a recipe that any table knows.

        The words of the `program` that reads it count as nearer than those of the document's own path; if it is alone, so does
        whose program it is, without comparing the keys of files.
        """
        if document.syntax == PYTHON:
            return self._of_program(document)
        # The programs of transformers evaluate with the arguments of the training, and LLaMA-Factory does too.
        if _RECORD in document.keyed or getattr(document.get("do_train"), "text", "").lower() == "false":
            return None
        bits = self._bits
        seen = 0
        for key in document.keyed.keys() & bits.keys():
            seen |= bits[key]
        needed = seen & self._needed
        if not needed or len(document.keyed) > MOST_RECIPE_KEYS:
            return None
        admitted = self._alone(seen, needed, program) if program.alone else self._admitted(seen, needed)
        entries = [entry for entry in admitted if entry.suits(document)]
        if len(entries) > 1:
            best = max((entry.marks & seen).bit_count() for entry in entries)
            entries = [entry for entry in entries if (entry.marks & seen).bit_count() == best]
        if len(entries) > 1:
            words = [*_words(document.source.path), *_named_above(document, entries), *_words(program.name)]
            entries.sort(key=lambda entry: entry.nearness(words), reverse=True)
        return self._load(entries[0]) if entries else None

    def _of_program(self, document: Document) -> Framework | None:
        """The table of what a Python program calls, or of what that class is made from."""
        return next((found for called in document.called.split() if (found := self._of_call(called, document)) is not None), None)

    def _of_call(self, called: str, document: Document) -> Framework | None:
        """The table of a class; a dictionary, a module and a class of the program's own must have the keys of the table too.

        A table for programs alone may say by which keys it is another class of that name.
        """
        name = class_name(called)
        entries = [entry for entry in self._entries if name in entry.calls and (not entry.imports or entry.imports in document.imports)]
        seen = sum(self._bits[key] for key in document.keyed.keys() & self._bits.keys()) if entries else 0
        if _by_keys(name):
            entries = [entry for entry in entries if entry.needed & seen and entry.admits(seen) and entry.suits(document)]
        else:
            entries = [entry for entry in entries if entry.syntax != PYTHON or not entry.none_of & seen]
        found = max(entries, key=lambda entry: (bool(entry.imports), (entry.marks & seen).bit_count(), entry.weight), default=None)
        return self._load(found) if found is not None else None

    def _alone(self, seen: int, needed: int, program: Program) -> list[TableEntry]:
        """The entries whose program it is; the keys of files choose among several."""
        found = [entry for entry in self._entries if entry.needed & needed and entry.admits_alone(seen, program)]
        found = [entry for entry in found if not entry.yields] or found
        return [entry for entry in found if entry.admits(seen)] or [entry for entry in found if not seen & entry.none_of] or found

    def _admitted(self, seen: int, needed: int) -> tuple[TableEntry, ...]:
        """The entries that a document with the keys `seen`, some of them `needed`, may belong to; recipes of one folder are alike."""
        found = self._alike.get(seen)
        if found is None:
            if len(self._alike) >= _MOST_ALIKE:
                self._alike.clear()
            found = self._alike[seen] = tuple(
                entry
                for entry in self._entries
                if entry.needed & needed and not entry.imports and entry.syntax != COMMAND_LINE and entry.admits(seen)
            )
        return found


def class_name(called: str) -> str:
    """The name of a class as tables have it: that of its package and its own (`trl.SFTConfig`), wherever in there it is imported from."""
    root, _, last = called.partition(".")
    return f"{root}.{last.rpartition('.')[2]}" if last else root


def build(named: Iterable[tuple[str, int, Framework]]) -> Index:
    """The index of tables, each with the name of its file and its number there."""
    bits: dict[KeyPath, int] = {}
    hints: set[str] = set()
    called: set[str] = set()

    def mask(keys: tuple[KeyPath, ...]) -> int:
        together = 0
        for key in keys:
            together |= bits.setdefault(key, 1 << len(bits))
        return together

    entries: list[TableEntry] = []
    for name, number, table in named:
        how = table.recognition
        all_of, one_of = mask(how.all_of), tuple(mask(group) for group in how.one_of)
        needed = [str(how.all_of[0][-1])] if how.all_of else [str(key[-1]) for key in how.one_of[0]]
        hints.update(needed)
        for call in how.calls:
            called.update(needed if _by_keys(call) else [call.rpartition(".")[2]])
        masks = (all_of or one_of[0], all_of, one_of, mask(how.none_of), mask(how.marks))
        last = (how.header, how.syntax, how.calls, how.imports)
        of_programs = (how.programs, how.uses, how.common_name, how.yields)
        whole = (name, number, table.title, table.loader, *masks, how.paths, how.weight, how.functions, *last, *of_programs, how.when)
        entries.append(TableEntry._make(whole))
    return Index(tuple(bits), tuple(entries), tuple(sorted(hints)), tuple(sorted(called)))


def _by_keys(called: str) -> bool:
    """Whether what a program calls says too little by its name: a dictionary, a module, a class that a program defines itself."""
    return "." not in called


def _named_above(document: Document, entries: list[TableEntry]) -> list[str]:
    """The words of the programs that the comments above the first key name, the one named first last; of tables that ask."""
    if not any(entry.header for entry in entries):
        return []
    text = " ".join(block.text for block in document.comments if block.placement == "header")
    named = [each.strip("`'\",;:()") for each in text.split() if "_" in each]
    return [word for each in reversed(named) for word in _words(each)]


def _words(path: str) -> list[str]:
    """The lower-case words of a path: `recipes/zephyr/dpo/config_full.yaml` has five and its extension."""
    for sign in "._-":
        path = path.replace(sign, "/")
    return path.lower().split("/")
