"""A shell that reads a script instead of running it: what it knows, what it has spent, and what it has found."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Command, Directive, Part, Script, Stop, Word, Wrapper, Written, hull
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.arithmetic import HOLE, Reckoning, Unreckonable
from pytest_gbs.shell.expansion import read_region
from pytest_gbs.shell.fields import BLANKS
from pytest_gbs.shell.fields import word as make_word
from pytest_gbs.shell.limits import LONGEST_VALUE, MOST_COMMANDS, TOO_LONG, Budget, Exhausted
from pytest_gbs.shell.state import State, Variable, unknown
from pytest_gbs.shell.text import Parts, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tree_sitter import Node

    from pytest_gbs.model.document import CommentBlock

_DEEPEST_NAME: Final = 8


class Function(NamedTuple):
    """A function that the script defines: its body, and the text the body is in."""

    text: Text
    body: Node


class Frame(NamedTuple):
    """A function call or a loop around a statement: what its own variables were before, and states that left it early."""

    before: dict[str, Variable | None]
    left: list[State]
    function: Function | None = None


class Machine:
    """One file at work."""

    def __init__(self, source: Source, read: Callable[[str], Source | None] | None) -> None:
        self.sources = {source.path: source.text}
        self.read_file = read
        self.text_path = source.path
        self.text = Text(())
        self.budget = Budget()
        self.state = State(self.budget)
        self.functions: dict[str, Function] = {}
        self.exported = set[str]()  # functions that a new shell has too
        self.calls: list[Frame] = []
        self.loops: list[Frame] = []
        self.wrappers: tuple[Wrapper, ...] = ()
        self.context = ""
        self.slurm = False
        self.depth = 0
        self.shells = 0
        self.uncertain = 0
        self.muted = 0
        self.meant = 0
        self.exported_words: dict[int, tuple[Variable, Word]] = {}
        self.statement: Node | None = None  # the command at hand
        self.commands: list[Command] = []
        self.written: list[Written] = []
        self.doubtful: list[Location] = []
        self.stopped: Stop | None = None
        self.unsourced: list[tuple[str, Location]] = []
        self.unturned: dict[str, Location] = {}
        self.directives: tuple[Directive, ...] = ()

    # Words

    @property
    def at_start(self) -> Location:
        """The first character of the file."""
        return Location(self.text_path, 0, 0)

    @property
    def separators(self) -> str:
        """The characters at which an expansion falls apart."""
        variable = self.state.variables.get("IFS")
        text = variable.text if variable else None
        return BLANKS if text is None else text

    def at(self, node: Node) -> Location:
        """Return where `node` is written."""
        return self.text.location(*self.text.span(node))

    def raw_node(self, node: Node) -> str:
        """Return the characters of `node`."""
        start, stop = self.text.span(node)
        return self.text.string[start:stop]

    def raw(self, at: Location) -> str:
        """Return the characters of a place."""
        return self.sources.get(at.source, "")[at.start : at.stop]

    def word(self, parts: Parts, at: Location | None, otherwise: Location | None = None) -> Word:
        """Return a word of these parts that stands at `at`, or where its parts are used."""
        place = at or hull([part.use for part in parts]) or otherwise or Location(self.text_path, 0, 0)
        return make_word(parts, self.raw(place), place)

    def bounded(self, parts: Parts, most: int = LONGEST_VALUE) -> Parts:
        """Return a value, unknown if it is longer than `most` characters: than any that matters."""
        length = sum(len(part.text or "") for part in parts)
        self.budget.write(len(parts))
        if length > most or len(parts) > LONGEST_VALUE // 10:
            return (unknown(TOO_LONG, parts[0].use),)
        return parts

    def known_array(self, name: str) -> bool:
        """Return whether the number of items of array `name` is known."""
        variable = self.state.variables.get(name)
        return (variable is not None and variable.items is not None) or (name in "@*" and self.state.arguments is not None)

    def has_file(self, parts: Parts) -> bool:
        """Return whether `parts` name a file of the tree."""
        from pytest_gbs.shell.builtins import candidates

        if self.read_file is None or not parts:
            return False
        return any(self.read_file(path) is not None for path in candidates(self, self.word(parts, None)))

    # Output

    def emit(self, words: tuple[Word, ...], at: Location, environment: tuple[tuple[str, Word], ...]) -> None:
        """Note a command.

        Raises: Exhausted: there are too many.
        """
        if self.muted or not words:
            return
        from pytest_gbs.shell.surroundings import environment_of

        if len(self.commands) >= MOST_COMMANDS:
            raise Exhausted(f"more than {MOST_COMMANDS:,} commands")
        variables = environment_of(self, environment)
        folder, conditional = self.state.folder, self.uncertain > 0 or self.state.unlikely
        self.commands.append(Command(words, at, variables, conditional, self.wrappers, folder, self.context, self.meant > 0))

    def script(self, path: str, comments: Iterable[CommentBlock]) -> Script:
        """Return all that was found, as the script at `path`."""
        return Script(
            path,
            tuple(self.commands),
            self.directives,
            tuple(comments),
            tuple(self.written),
            self.stopped,
            tuple(self.doubtful),
            tuple(self.unsourced),
            tuple(self.unturned.items()),
        )

    def stop(self, reason: str, at: Location) -> None:
        """Note that something was not read; the first that was not is what is told."""
        if self.stopped is None and not self.muted:
            self.stopped = Stop(reason, at)

    @contextmanager
    def maybe(self, uncertain: bool = True) -> Iterator[None]:
        """Note the commands within as ones that may not run."""
        self.uncertain += uncertain
        try:
            yield
        finally:
            self.uncertain -= uncertain

    # Arithmetic

    def printed(self, node: Node) -> Parts:
        """Return what `$(...)` gives."""
        from pytest_gbs.shell.substitution import printed

        return printed(self, node)

    def reckon_expansion(self, node: Node) -> Parts:
        """Return the value of `$(( ... ))`."""
        start, stop = self.text.span(node)
        opening, closing = (2, 1) if self.text.string.startswith("$[", start) else (3, 2)
        at = self.text.location(start, stop)
        parts = read_region(self, node, start + opening, stop - closing, quoted=True)
        value, default, name = self.reckon(parts)
        if value is None:
            return (unknown(name or self.text.string[start:stop][:40], at, default=default),)
        return (Part(str(value), at, at, default=default),)

    def reckon_text(self, text: str) -> int | None:
        """Return the value of an expression that is known."""
        at = Location(self.text_path, 0, 0)
        return self.reckon((Part(text, at, at),))[0]

    def reckon(self, parts: Parts) -> tuple[int | None, bool, str]:
        """Return the value of an expression, whether a user can change it, and what keeps it from being known."""
        self.budget.step()
        seen = _Seen(
            self, any(part.default for part in parts if part.text is not None), next((p.name for p in parts if p.text is None), "")
        )
        string = "".join(HOLE if part.text is None else part.text for part in parts)
        at = parts[0].use if parts else Location(self.text_path, 0, 0)

        def assign(name: str, value: int | None) -> None:
            part = unknown(name, at) if value is None else Part(str(value), at, at, default=seen.default)
            self.state.assign(name, Variable((part,)))

        try:
            value = Reckoning(string, seen.look_up, assign).result()
        except Unreckonable:
            return None, False, seen.name
        return value, seen.default, seen.name


class _Seen:
    """The variables that an expression asks for."""

    __slots__ = ("default", "depth", "machine", "name")

    def __init__(self, machine: Machine, default: bool, name: str) -> None:
        self.machine, self.default, self.name, self.depth = machine, default, name, 0

    def look_up(self, name: str) -> int | None:
        """Return the number that variable `name` holds, or the value of the expression that it holds."""
        variable = self.machine.state.variables.get(name)
        text = variable.text if variable else None
        if variable is None or text is None:
            if variable is not None and variable.unset:
                return 0
            self.name = self.name or name
            return None
        self.default = self.default or any(part.default for part in variable.scalar)
        if self.depth >= _DEEPEST_NAME:
            raise Unreckonable
        self.depth += 1
        self.machine.budget.step(1 + len(text) // 8)
        value = Reckoning(text, self.look_up, lambda _name, _value: None).result()
        self.depth -= 1
        return value


def joined(words: tuple[Word, ...]) -> Parts:
    """Return words as one text, blanks between them, as `eval` and `ssh` read them."""
    found: list[Part] = []
    for number, entry in enumerate(words):
        if number:
            blank = Location(entry.at.source, entry.at.start, entry.at.start)
            found.append(Part(" ", blank, blank))
        found += entry.parts
    return tuple(found)
