"""The state of reading one file: what the shell knows, what has been spent, and what has been found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_gbs.model.command import Command, Directive, Folder, OtherFiles, Script, Stop, Word, Wrapper, Written, span_of_all
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source, below
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.fields import make_word
from pytest_gbs.shell.limits import LONGEST_PATH, TOO_LONG, ShellBudget
from pytest_gbs.shell.state import ShellState, Variable, unknown
from pytest_gbs.shell.text import Parts, ShellText
from pytest_gbs.shell.truth import EXPECTED, YES, Truth
from pytest_gbs.shell.values import is_longer, without_lists

if TYPE_CHECKING:
    from tree_sitter import Node

Words: TypeAlias = tuple[Word, ...]
Assignments: TypeAlias = tuple[tuple[str, Variable], ...]
_NOT_STATEMENTS: Final = ("comment", "heredoc_body", "heredoc_end", "file_redirect", "word", "number")


class Function(NamedTuple):
    """A function that the script defines: its body, and the text the body is in."""

    text: ShellText
    body: Node


class Frame(NamedTuple):
    """A function call or a loop around a statement: what its own variables were before, and states that left it early."""

    before: dict[str, Variable | None]
    left: list[ShellState]
    function: Function | None = None


class ScriptReading(ABC):
    """A file that is being read: the text, the state of the shell, and what is noted of it."""

    def __init__(self, source: Source, others: OtherFiles | None) -> None:
        self.sources = {source.path: source.text}
        self.others = others
        self.text_path = source.path
        self.text = ShellText(())
        self.budget = ShellBudget(others.pay) if others is not None else ShellBudget()
        self.state = ShellState(self.budget)
        self.functions: dict[str, Function] = {}
        self.exported_functions = set[str]()
        self.printing: dict[Function, frozenset[str] | None] = {}  # those that a function which only prints calls; None of others
        self.calls: list[Frame] = []
        self.loops: list[Frame] = []
        self.wrappers: tuple[Wrapper, ...] = ()
        self.context = ""
        self.in_job = False  # of Slurm
        self.depth = 0
        self.shells = 0
        self.uncertain = 0
        self.muted = 0
        self.repaired = 0
        self.exported_words: dict[int, tuple[Variable, Word]] = {}
        self.command: Node | None = None  # the one that is being read
        self.commands: list[Command] = []
        self.clones = set[str]()  # folders that git made, each perhaps one of this very repository
        self.written: list[Written] = []
        self.copies: dict[tuple[str | None, Folder], Parts] = {}  # what files, by their paths, are copies of
        self.printed_sizes: dict[int, CommentBlock] = {}  # batch sizes that it computes, by the place of the command
        self.stopped: Stop | None = None
        self.behind: str | None = None
        self.missing_sources: list[tuple[str, Location]] = []
        self.long_loops: dict[str, Location] = {}
        self.directives: tuple[Directive, ...] = ()

    def script(self, path: str, comments: Iterable[CommentBlock]) -> Script:
        """All that was found, as the script at `path`."""
        return Script(
            path,
            tuple(self.commands),
            self.directives,
            tuple(sorted((*comments, *self.printed_sizes.values()), key=lambda block: block.stop)),
            tuple(self.written),
            self.stopped,
            tuple(self.missing_sources),
            tuple(self.long_loops.items()),
        )

    def stop(self, reason: str, at: Location) -> None:
        """Note that something was not read; the first place that was not is reported."""
        if self.stopped is None and not self.muted:
            self.stopped = Stop(reason, at)

    @contextmanager
    def maybe(self, uncertain: bool = True) -> Iterator[None]:
        """Mark the commands within as ones that may not run."""
        self.uncertain += uncertain
        try:
            yield
        finally:
            self.uncertain -= uncertain

    @contextmanager
    def new_shell(self, state: ShellState) -> Iterator[None]:
        """Go on in another shell, and come back as if nothing had happened."""
        outer = self.state, self.functions, self.calls, self.loops
        functions = {name: function for name, function in self.functions.items() if name in self.exported_functions}
        self.state, self.functions, self.calls, self.loops = state, functions, [], []
        try:
            yield
        finally:
            self.state, self.functions, self.calls, self.loops = outer

    # Places and words

    @property
    def at_start(self) -> Location:
        """The first character of the file."""
        return Location(self.text_path)

    def at(self, node: Node) -> Location:
        """The place of `node`."""
        return self.text.location(*self.text.span(node))

    def raw(self, node: Node) -> str:
        """The characters of `node`."""
        start, stop = self.text.span(node)
        return self.text.string[start:stop]

    def word(self, parts: Parts, at: Location | None, otherwise: Location | None = None) -> Word:
        """A word of these parts, which is at `at`, or where its parts are used."""
        place = at or span_of_all([part.use for part in parts]) or otherwise or self.at_start
        return make_word(parts, self.sources.get(place.source, "")[place.start : place.stop], place)

    def bounded(self, parts: Parts) -> Parts:
        """A value; what is too long in it is unknown, or all of it, if it is longer than any that matters."""
        self.budget.write(len(parts))
        if not is_longer(parts):
            return parts
        left = without_lists(parts)
        return (unknown(TOO_LONG, parts[0].use),) if is_longer(left) else left

    def candidates(self, word: Word) -> list[str]:
        """The paths in the tree that a word may name: from the current folder, from the root, from the folder of the script."""
        named = word.path
        if named.path is None or named.path.startswith("/"):
            return []
        if named.rooted:
            return [named.path]
        folder = Folder() if named.from_start else self.state.folder
        own = self.text_path.rpartition("/")[0]
        inside = "" if folder.path is None or folder.path.startswith("/") else folder.path
        bases = [folder.path] if folder.rooted else [inside, below(own, inside)]
        return list(dict.fromkeys(path for base in bases if base is not None and (path := below(base, named.path))))

    def file(self, word: Word) -> Source | None:
        """The file of the tree that a word names; None if there is none."""
        if self.others is None or not word.parts:
            return None
        return next((found for path in self.candidates(word) if (found := self.others.read(path)) is not None), None)

    def exists(self, word: Word) -> bool:
        """Whether the tree has the file that a word names."""
        return self.others is not None and bool(word.parts) and any(map(self.others.has, self.candidates(word)))

    def moved(self, word: Word) -> Folder:
        """The folder that `cd` with this word leads to."""
        target = word.path
        folder = Folder() if target.from_start else self.state.folder
        if target.rooted or target.path is None:
            return target
        own = self.text_path.rpartition("/")[0]
        if own and f"{target.path}/".endswith(f"/{own}/"):
            return Folder(own, rooted=True)  # where the author has the folder of this very file
        if target.path.startswith("/"):
            return target  # of a container, perhaps
        if target.path.rstrip("/") in self.clones:
            return Folder(f"/{target.path}")  # somewhere, as the author's own
        if folder.path is None or len(folder.path) + len(target.path) > LONGEST_PATH:
            return Folder(None)
        moved = below(folder.path, target.path)
        if moved is None and not folder.rooted and not folder.path.startswith("/"):
            inside = below(own, folder.path)  # a script that leaves the folder it was started in was started in its own
            moved = below(inside, target.path) if inside is not None else None
            return Folder(moved, rooted=moved is not None)
        return Folder(f"/{moved}" if moved is not None and folder.path.startswith("/") else moved, folder.rooted)

    # Statements

    @abstractmethod
    def run(self, node: Node) -> Truth:
        """Read one statement; whether it succeeds.

        Raises: Exhausted: the script asks for too much.
        """

    def run_all(self, nodes: list[Node]) -> Truth:
        """Read statements in order; whether the last one succeeds."""
        result = YES
        for node in nodes:
            if node.is_named and node.type not in _NOT_STATEMENTS:
                result = self.run(node)
        return result

    def subshell(self, node: Node) -> Truth:
        """Read `( ... )`."""
        before = self.state.copy()
        self.run_all(node.children)
        self.state.become(before)
        return EXPECTED

    def forget_in(self, raw: str, at: Location, *, every: bool = False) -> None:
        """Make unknown what a text that could not be read may have set."""
        names = _may_assign(raw[:100_000], every)
        self.budget.step(len(raw) // 5_000 + len(names) // 10)
        for name in sorted(names):
            self.state.forget(name, at)


@lru_cache(16)  # broken syntax is asked for again behind each of its parts
def _may_assign(raw: str, every: bool) -> frozenset[str]:
    names = {match.group(1) for match in _assignment_in_text().finditer(raw)}
    if every:
        names |= {match.group(1) or match.group(2) for match in _counting().finditer(raw)}
    return frozenset(names)


_assignment_in_text = lazy_pattern(r"(?<!\w)([A-Za-z_]\w*+)(?:\[[^\]\[\n]{0,80}\])?\s*+(?:[-+*/%&|^]|<<|>>)?=(?!=)", re.ASCII)
_counting = lazy_pattern(r"(?:\+\+|--)\s*+([A-Za-z_]\w*+)|(?<!\w)([A-Za-z_]\w*+)\s*+(?:\+\+|--)", re.ASCII)
