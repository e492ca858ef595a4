"""What a shell knows at one point of a script: its variables, arguments, folder; how two such states become one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from pytest_gbs.model.command import Folder, Part, variables_of
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.limits import MOST_NAMED, ShellBudget
from pytest_gbs.shell.text import Parts

# How a shell comes to its end, or a run of a loop to its own.
EXIT: Final = "exit"
RETURN: Final = "return"
BREAK: Final = "break"
CONTINUE: Final = "continue"
# How many variables are copied, compared or changed for the price of one step.
_COPIED: Final = 50
_COMPARED: Final = 200
_CHANGED: Final = 10


class Variable(NamedTuple):
    """A variable that the script has touched: its value, or the items of an array by subscript, `unset` if it removed it."""

    parts: Parts = ()
    items: tuple[tuple[str, Parts], ...] | None = None
    exported: bool = False
    unset: bool = False

    @property
    def text(self) -> str | None:
        """The value if all of it is known; the first item of an array."""
        return text_of(self.scalar)

    @property
    def scalar(self) -> Parts:
        """The parts of the value; of an array those of its item 0."""
        if self.items is None:
            return self.parts
        return next((parts for key, parts in self.items if key == "0"), ())

    def same(self, other: Variable | None) -> bool:
        """Whether both are the same to a script, wherever their characters came from."""
        if other is None or self.exported != other.exported or self.unset != other.unset:
            return False
        if self.items is None or other.items is None:
            return self.items is other.items and _alike(self.parts, other.parts)
        if len(self.items) != len(other.items):
            return False
        pairs = zip(self.items, other.items, strict=True)
        return all(one is two or (one[0] == two[0] and _alike(one[1], two[1])) for one, two in pairs)

    def lowered(self, at: Location, name: str) -> Variable:
        """The same value as one that a user can set otherwise, since it is that of `name`."""
        if self.items is None:
            return self._replace(parts=lowered(self.parts, at, name))
        return self._replace(parts=lowered(self.parts, at, name), items=tuple(_lowered_item(item, at, name) for item in self.items))

    def is_lowered(self, at: Location, name: str) -> bool:
        """Whether `lowered` would give the same."""
        return lowered(self.parts, at, name) is self.parts and all(_lowered_item(item, at, name) is item for item in self.items or ())


def _lowered_item(item: tuple[str, Parts], at: Location, name: str) -> tuple[str, Parts]:
    parts = lowered(item[1], at, name)
    return item if parts is item[1] else (item[0], parts)


def _alike(one: Parts, other: Parts) -> bool:
    """Whether the same is known of both; branches of a long loop share nearly all that they compare."""
    return one is other or shape(one) == shape(other)


def shape(parts: Parts) -> tuple[object, ...]:
    """What is known of `parts`: their text, and whether it is a default, or the known ones and the names of the others."""
    text = text_of(parts)
    if text is not None:
        return (text, any(part.default for part in parts))
    return tuple(part.text if part.text is not None else (part.name, part.path, part.default) for part in parts if part.text != "")


def lowered(parts: Parts, at: Location, name: str) -> Parts:
    """`parts` as ones that a user can set otherwise, with `name`; what is nothing becomes an empty part at `at`.

    They are the same object where they are that already: a loop over arguments does it in each turn, to all that it has collected.
    """
    if not parts:
        return (Part("", at, at, name, True),)
    if all(part.default and (part.text is None or name == part.name or name in part.name.split()) for part in parts):
        return parts
    named = (part if part.text is None else part._replace(name=_together((*variables_of((part,)), name))) for part in parts)
    return tuple(part._replace(default=True) for part in named)


def made_of(parts: Iterable[Part], text: str, at: Location) -> Part:
    """A text that follows from `parts`: what a user can set for another one of them gives another text."""
    defaults = [part for part in parts if part.default]
    return Part(text, at, at, _together(variables_of(part for part in defaults if part.text is not None)), bool(defaults))


def _together(names: Iterable[str]) -> str:
    """Names of variables as one text, each once."""
    return " ".join(islice(dict.fromkeys(names), MOST_NAMED))


def text_of(parts: Iterable[Part]) -> str | None:
    """The text of `parts`, None if one is unknown."""
    found: list[str] = []
    for part in parts:
        if part.text is None:
            return None
        found.append(part.text)
    return "".join(found)


def unknown(name: str, at: Location, *, many: bool = False, default: bool = False) -> Part:
    """A part of which only the name is known; a default if it is empty unless set from outside."""
    return Part(None, at, at, name, default, many)


def emptiness(parts: Parts) -> tuple[bool | None, bool]:
    """Whether `parts` are nothing (None: unknown), and whether a user can change that; what a system fixes is something."""
    if any(part.text is None and part.note for part in parts):
        return False, False
    if any(part.text for part in parts):
        return False, all(part.default for part in parts if part.text)
    holes = [part for part in parts if part.text is None]
    if not holes:
        return True, any(part.default for part in parts)
    return (True, True) if all(part.default for part in holes) else (None, False)


class ShellState:
    """The variables, the arguments (None: unknown), the folder of a shell, and how it ended, if it did.

    What goes through all variables is paid for: a script may have thousands, and thousands of branches.
    """

    __slots__ = ("arguments", "budget", "exporting", "folder", "forgotten", "left", "over", "unlikely", "unseen", "variables")

    def __init__(self, budget: ShellBudget) -> None:
        self.budget = budget
        self.variables: dict[str, Variable] = {}
        self.arguments: tuple[Parts, ...] | None = None
        self.folder = Folder()
        self.left: tuple[Folder, ...] = (Folder(None),)  # the folder that `cd -` goes back to, then those of `popd`
        self.over = ""
        self.exporting = False
        self.unlikely = False  # a branch that did something ended the script, if it was taken
        self.forgotten = False  # something unknown may have set any variable
        self.unseen = False  # so may a file that is not in the tree

    def copy(self) -> ShellState:
        """A state that goes its own way from here on."""
        self.budget.step(len(self.variables) // _COPIED)
        other = ShellState(self.budget)
        other.variables = dict(self.variables)
        other.arguments, other.folder, other.left, other.over = self.arguments, self.folder, self.left, self.over
        other.exporting, other.forgotten, other.unlikely, other.unseen = self.exporting, self.forgotten, self.unlikely, self.unseen
        return other

    def ended(self) -> bool:
        """Whether the shell came to an end, or left the loop at hand."""
        return bool(self.over)

    def become(self, other: ShellState) -> None:
        """Go on as `other`."""
        for name in ShellState.__slots__:
            setattr(self, name, getattr(other, name))

    def assign(self, name: str, variable: Variable) -> None:
        """Give `name` a value; a variable stays exported."""
        old = self.variables.get(name)
        exported = variable.exported or self.exporting or (old is not None and old.exported)
        self.variables[name] = variable if variable.exported == exported else variable._replace(exported=exported)

    def forget(self, name: str, at: Location) -> None:
        """Make the value of `name` unknown."""
        self.assign(name, Variable((unknown(name, at),)))

    def forget_all(self, at: Location) -> None:
        """Make everything unknown."""
        self.budget.step(len(self.variables) // _CHANGED)
        for name, variable in self.variables.items():
            if not _is_forgotten(name, variable):  # else it stays the very same, which is quickly compared
                self.forget(name, at)
        self.arguments, self.folder, self.left, self.forgotten = None, Folder(None), (Folder(None),), True

    def changed(self, other: ShellState) -> list[str]:
        """The variables that are not the same in both."""
        mine, others = self.variables, other.variables
        self.budget.step((len(mine) + len(others)) // _COMPARED)
        names = [name for name, variable in mine.items() if not _same(variable, others.get(name))]
        found = sorted([*names, *(name for name in others if name not in mine)])
        self.budget.step(len(found) // _CHANGED)
        return found

    def child(self) -> ShellState:
        """The state in which a new shell starts: what is exported, everything else unknown; no arguments."""
        self.budget.step(len(self.variables) // _CHANGED)
        other = ShellState(self.budget)
        for name, variable in self.variables.items():
            if variable.unset or (variable.exported and variable.items is None):
                other.variables[name] = variable
            elif hidden := _hidden(name, variable):
                other.variables[name] = Variable((hidden,))
        other.folder, other.forgotten, other.arguments = self.folder, self.forgotten, ()
        other.unlikely, other.unseen = self.unlikely, self.unseen
        return other


def _is_forgotten(name: str, variable: Variable) -> bool:
    """Whether nothing but its name is known of a variable."""
    if variable.items is not None or variable.unset or len(variable.parts) != 1:
        return False
    part = variable.parts[0]
    return part.text is None and part.name == name and part.path is None and not (part.default or part.many or part.pattern or part.note)


def _hidden(name: str, variable: Variable) -> Part | None:
    """What a new shell sees of a variable that is not exported: what the environment had, which is unknown."""
    parts = variable.scalar or next((parts for _, parts in variable.items or () if parts), ())
    return unknown(name, parts[0].at) if parts else None


def _same(one: Variable | None, other: Variable | None) -> bool:
    return one is other or (one is not None and one.same(other))


def join(state: ShellState, branches: list[tuple[ShellState, bool]], at: Location) -> None:
    """Let `state` go on where any of `branches` may have ended: what they disagree on is unknown.

    A branch that is marked is the one that a script takes if nothing is set from outside: its values win, as defaults.
    """
    alive = [(branch, marked) for branch, marked in branches if not branch.over]
    if not alive:
        state.become(branches[0][0])
        return
    chosen = next((branch for branch, marked in alive if marked), None)
    result = (chosen or alive[0][0]).copy()
    for branch, _ in alive:
        if branch is chosen or (chosen is None and branch is alive[0][0]):
            continue
        for name in result.changed(branch):
            mine, other = result.variables.get(name), branch.variables.get(name)
            if chosen is not None:
                if mine is not None:
                    result.variables[name] = mine.lowered(at, name)
            else:
                kept = _kept(name, mine, other, at) or _lengthened(name, mine, other, at)
                exported = bool((mine and mine.exported) or (other and other.exported))
                result.variables[name] = kept or Variable((unknown(name, at),), exported=exported)
        _join_rest(result, branch, chosen is not None)
    state.become(result)


def _kept(name: str, mine: Variable | None, other: Variable | None, at: Location) -> Variable | None:
    """The value that both have if they differ in nothing but being exported, or a default."""
    if mine is None or other is None or _count(mine) != _count(other):
        return None
    exported = mine.exported or other.exported
    for one in (mine, mine.lowered(at, name)):
        for two in (other, other.lowered(at, name)):
            if one._replace(exported=exported).same(two._replace(exported=exported)):
                return one._replace(exported=exported)
    return None


def _count(variable: Variable) -> int:
    """The items of an array, -1 for a variable that is none; lowered, it has as many."""
    return -1 if variable.items is None else len(variable.items)


def _lengthened(name: str, mine: Variable | None, other: Variable | None, at: Location) -> Variable | None:
    """What one begins with to which the other adds words that decide nothing (`ARGS+=(--load "$DIR")`), then any number of words."""
    if mine is None or other is None or mine.exported != other.exported or (mine.items is None) != (other.items is None):
        return None
    more = unknown(name, at, many=True)
    short, long = sorted((mine, other), key=lambda one: len(one.parts if one.items is None else one.items))
    if short.items is None or long.items is None:
        count = len(short.parts)
        added = "".join(part.text or "" for part in long.parts[count:])
        fits = bool(count) and added[:1].isspace() and shape(short.parts) == shape(long.parts[:count]) and _decides_nothing(added.split())
        return short._replace(parts=(*short.parts, Part(" ", at, at), more)) if fits else None
    rest = long.items[len(short.items) :]
    words = ["".join(part.text or "" for part in parts) for _, parts in rest]
    fits = bool(short.items and rest) and short.same(long._replace(items=long.items[: len(short.items)])) and _decides_nothing(words)
    return short._replace(items=(*short.items, (rest[0][0], (more,)))) if fits else None


# Parts of words that may change a batch, or name the file that has it. So does any number.
_decisive = lazy_pattern(
    "batch|bsz|accum|parallel|size|nproc|node|gpu|num|world|tensor|expert|pack|dynamic|coloc|schedule|speed|auto|conf|file|"
    r"ya?ml|json|toml|overrid|(?:^|=)[-+]?[0-9][0-9.e+-]*$|^-[a-z]"
)


def _decides_nothing(words: Iterable[str]) -> bool:
    """Whether none of `words`, of which some parts are known, sets what a batch is made of."""
    return not any(_decisive().search(word.lower()) for word in words)


def _join_rest(result: ShellState, branch: ShellState, chosen: bool) -> None:
    if chosen:
        return
    result.unlikely = result.unlikely and branch.unlikely
    if result.arguments != branch.arguments:
        result.arguments = None
    if result.folder != branch.folder:
        result.folder = Folder(None)
    if result.left != branch.left:
        result.left = (Folder(None),)
    result.forgotten, result.unseen = result.forgotten or branch.forgotten, result.unseen or branch.unseen
