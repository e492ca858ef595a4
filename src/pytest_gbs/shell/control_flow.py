"""Branches and loops: each that may be taken is read, and what they leave behind is joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import patterns
from pytest_gbs.shell.assignments import Assigning
from pytest_gbs.shell.limits import MOST_TURNS
from pytest_gbs.shell.reading import Frame
from pytest_gbs.shell.state import BREAK, CONTINUE, EXIT, RETURN, ShellState, Variable, join, text_of, unknown
from pytest_gbs.shell.text import Clause, Parts
from pytest_gbs.shell.truth import UNKNOWN, YES, Truth, are_arguments
from pytest_gbs.shell.word_reading import touching

if TYPE_CHECKING:
    from tree_sitter import Node

_CHEAP: Final = 8  # plain words of a `case` for the price of one step: loops over arguments compare each with dozens of them
_QUOTED: Final = ("string", "raw_string")


# The answer of a clause, the nodes of its condition, its statements, and the variables that they set if they do nothing else.
_Choice: TypeAlias = tuple[Truth, list["Node"], list["Node"], frozenset[str] | None]


class _Late(NamedTuple):
    """A clause that only `sets` variables, and how many clauses before it were read."""

    place: int
    body: list[Node]
    sets: frozenset[str]


def _nothing() -> None:
    """What is done behind a turn of a loop without a third expression."""


class ControlFlow(Assigning):
    """A file of which branches and loops are read."""

    # Branches

    def branch(self, node: Node) -> Truth:
        """Read an `if` with its `elif` and `else`."""
        count = len(self.commands)
        outcome = self.choose(node, self.if_clauses(node))
        if outcome is not None:
            conditions, has_commands = outcome
            self.survive(conditions, count if has_commands else len(self.commands), self.at(node))
        return UNKNOWN

    def case(self, node: Node) -> Truth:
        """Read a `case`."""
        if node.child_by_field_name("value") is not None:
            self.choose(node, self.case_clauses(node))
        return UNKNOWN

    def if_clauses(self, node: Node) -> Iterator[_Choice]:
        """Read each condition in turn and yield its answer, its nodes and the statements under it."""
        for clause in [node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))]:
            if clause.type == "else_clause":
                yield YES, [], clause.children, None
                continue
            inside = [child for child in clause.children if child.type not in ("elif_clause", "else_clause")]
            then = next((number for number, child in enumerate(inside) if child.type == "then"), len(inside))
            yield self.run_all(inside[:then]), inside[:then], inside[then + 1 :], None

    def case_clauses(self, node: Node) -> Iterator[_Choice]:
        """Yield for each pattern whether the value matches it, and the statements under it."""
        value = node.child_by_field_name("value")
        parts = self.value(value) if value is not None else ()
        text, default = text_of(parts), any(part.default for part in parts)
        clauses = self.clauses_of(node)
        self.budget.step(len(clauses) // _CHEAP)
        for clause in clauses:
            fits = None if text is None else self.fits(clause, text)
            always = fits is not False and self.fits(clause, "\x00") is True
            yield YES if always else Truth(fits, default and fits is not None), [], clause.body, clause.sets

    def clauses_of(self, node: Node) -> list[Clause]:
        """The clauses of a `case`, found once: a loop over arguments reads it for each of them."""
        clauses = self.text.clauses.get(node.start_byte)
        if clauses is None:
            clauses = [self.clause(child) for child in node.children if child.type == "case_item"]
            self.text.clauses[node.start_byte] = clauses
        return clauses

    def clause(self, item: Node) -> Clause:
        """One clause of a `case`."""
        nodes = item.children_by_field_name("value")
        closing = next((number for number, child in enumerate(item.children) if child.type == ")"), len(item.children))
        body = item.children[closing + 1 :]
        clause = Clause(set(), [], [], len(nodes) // _CHEAP, body, self.only_set(body))
        for node in nodes:
            start, stop = self.text.span(node)
            fixed = not _expands().search(self.text.string, start, stop) and not self.text.hidden(start, stop)
            pattern = text_of(self.value(node)) if fixed else None
            if pattern is None:
                clause.others.append(node)
            elif node.type in _QUOTED or _plain().fullmatch(pattern):
                clause.plain.add(pattern)
            else:
                clause.patterns.append(pattern)
        return clause._replace(sets=None) if clause.others else clause

    def only_set(self, body: list[Node]) -> frozenset[str] | None:
        """The variables that statements set which do nothing else, but for `shift`; None if they do more, or may."""
        statements = [(node, self.raw(node)) for node in body if node.is_named and node.type != "comment"]
        sets = [_assigned().match(raw) if node.type == "variable_assignment" else None for node, raw in statements]
        for (node, raw), name in zip(statements, sets, strict=True):
            if node.has_error or (name is None and not _shift().fullmatch(raw)) or _does_more().search(raw):
                return None
        return frozenset(name.group(1) for name in sets if name is not None)

    def fits(self, clause: Clause, text: str) -> bool | None:
        """Whether one of the patterns of a clause of `case` matches `text`."""
        self.budget.step(clause.price + len(clause.patterns) * (1 + len(text) // 50))
        if text in clause.plain:
            return True
        found = [patterns.matches(each, text) for each in clause.patterns]
        for node in clause.others:
            pattern = text_of(self.value(node))
            if pattern is None or node.type in _QUOTED:
                found.append(None if pattern is None else pattern == text)
            else:
                self.budget.step(1 + len(text) // 50)
                found.append(patterns.matches(pattern, text))
        return True if True in found else None if None in found else False

    def choose(self, node: Node, clauses: Iterator[_Choice]) -> tuple[list[Node], bool] | None:
        """Read the clauses that may be taken, and go on as any of them may have left things.

        Those that are not by default, and only set variables, come last: a loop over arguments meets dozens of them in each turn.

        None if one is taken for certain; else the conditions of those that are taken by default and end the script, and whether a
        clause with commands ends it.
        """
        ends: list[tuple[ShellState, bool]] = []
        ended: list[Node] = []
        late: list[_Late] = []
        count, has_commands = len(self.commands), False
        doubt, decided = False, False  # whether an earlier condition is unknown; whether one is met by default
        for answer, condition, body, sets in clauses:
            if self.state.ended():
                break
            if answer.value is False and (not answer.default or sets is not None):
                late += [_Late(len(ends), body, sets)] if answer.default and sets is not None else []
                continue
            otherwise = self.state.copy()
            taken = answer.value is True and not decided and not doubt
            with self.maybe(not taken):
                self.run_all(body)
            by_default = answer.default or (taken and self.state.over == EXIT and self.is_blank(condition, body, otherwise))
            ends.append((self.state.copy(), taken and (by_default or bool(ends or late))))
            decided = decided or taken
            has_commands = has_commands or (bool(self.state.over) and len(self.commands) > count)
            if self.state.over in (EXIT, RETURN) and taken and by_default:
                ended += condition
            if answer.value is True and not by_default:
                self.join_late(ends, late, otherwise, self.at(node))
                return None
            doubt = doubt or answer.value is None
            self.state.become(otherwise)
        otherwise = self.state.copy()
        ends.append((otherwise, not doubt and not decided and bool(ends or late)))
        self.join_late(ends, late, otherwise, self.at(node))
        return ended, has_commands

    def join_late(self, ends: list[tuple[ShellState, bool]], late: list[_Late], before: ShellState, at: Location) -> None:
        """Go on as one of `ends`, or as a clause of `late` leaves the state `before`.

        Where one is taken by default, a variable keeps its value and is known to be a default; one that is so already stays as it is.
        """

        def left_by(clause: _Late) -> tuple[ShellState, bool]:
            self.state.become(before.copy())
            with self.maybe():
                self.run_all(clause.body)
            return self.state.copy(), False

        if late and not any(marked and not state.over for state, marked in ends):
            for clause in reversed(late):
                ends.insert(clause.place, left_by(clause))
            late = []
        join(self.state, ends, at)
        settled: set[str] = set()
        for clause in late:
            known = {name: self.state.variables.get(name) for name in clause.sets - settled}
            settled.update(name for name, variable in known.items() if variable is None or variable.is_lowered(at, name))
            if not clause.sets <= settled:
                result = self.state.copy()
                join(self.state, [(result, True), left_by(clause)], at)

    def is_blank(self, condition: list[Node], body: list[Node], before: ShellState) -> bool:
        """Whether a branch fails because of what the script itself leaves empty: it is only run once that is filled in (`IMAGE=""`)."""
        names = {name for node in condition for name in _names().findall(self.raw(node))}
        empty = [before.variables[name] for name in names if name in before.variables]
        fails = any(_failure().search(self.raw(node)) for node in body)
        return fails and 0 < len(names) == len(empty) and not any(variable.unset or variable.scalar for variable in empty)

    def survive(self, condition: list[Node], count: int, at: Location) -> None:
        """Go on behind a branch that ended the script: what its condition asked for was given, so its default does not hold.

        If the branch has commands (there are more than `count`), what follows may not run.
        """
        if self.state.over:
            return
        for node in condition:
            for name in dict.fromkeys(_names().findall(self.raw(node))):
                variable = self.state.variables.get(name)
                if variable is None or all(part.default for part in variable.scalar):
                    self.state.forget(name, at)
        self.state.unlikely = self.state.unlikely or len(self.commands) > count

    # Loops

    def for_each(self, node: Node) -> Truth:
        """Read `for x in ...`, turn by turn if the values are known, and `select`, of which nothing is known."""
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            return UNKNOWN
        name = self.raw(variable)
        elements: list[Parts] = []
        if any(child.type == "in" for child in node.children):
            for group in touching(node.children_by_field_name("value"), self.text):
                elements += self.fields(*group)
        else:
            elements = list(self.look_up("@", self.at(variable)).elements)
        doubtful = any(part.many for parts in elements for part in parts)
        if doubtful or len(elements) > MOST_TURNS or node.children[0].type == "select":
            at = self.at(variable)
            if not doubtful and len(elements) > MOST_TURNS:
                self.long_loops.setdefault(name, at)
            pattern = next((part.pattern for part in elements[0] if part.pattern), "") if len(elements) == 1 else ""
            hidden = unknown(name, at)._replace(pattern=pattern)
            self.any_turns(body, lambda: self.state.assign(name, Variable((hidden,))), none=are_arguments(elements))
            return UNKNOWN
        with self.loop() as frame:
            for parts in elements:
                self.state.assign(name, Variable(parts))
                if not self.turn(body, frame):
                    break
            self.leave(body, frame)
        return UNKNOWN

    def count(self, node: Node) -> Truth:
        """Read `for ((...; ...; ...))`."""
        body = node.child_by_field_name("body")
        bounds = self.between_semicolons(node)
        if body is None or len(bounds) != 3:
            return UNKNOWN
        first, condition, after = (partial(self.arithmetic_statement, node, *span) for span in bounds)
        first()
        self.repeat(body, condition, after)
        return UNKNOWN

    def between_semicolons(self, node: Node) -> list[tuple[int, int]]:
        """The spans of the three expressions between `((` and `))`."""
        spans: list[tuple[int, int]] = []
        start = None
        for child in node.children:
            first, last = self.text.span(child)
            if child.type in (";", "))") and start is not None:
                spans.append((start, first))
            start = last if child.type in ("((", ";") else None if child.type == "))" else start
        return spans

    def while_loop(self, node: Node) -> Truth:
        """Read `while` or `until`."""
        body = node.child_by_field_name("body")
        asked = [child for child in node.children_by_field_name("condition") if child.is_named]
        if body is None:
            return UNKNOWN
        until = node.children[0].type == "until"

        def condition() -> Truth:
            answer = self.run_all(asked)
            return answer.negated() if until else answer

        constant = len(asked) == 1 and self.raw(asked[0]) in ("true", ":", "false", "[ 1 ]", "((1))")
        self.repeat(body, condition, _nothing, 2 if constant else MOST_TURNS)
        return UNKNOWN

    def repeat(self, body: Node, condition: Callable[[], Truth], after: Callable[[], object], most: int = MOST_TURNS) -> None:
        """Read a loop turn by turn while its condition is known, and for all turns at once from where it is not."""
        before, count = self.state.copy(), len(self.commands)
        with self.loop() as frame:
            for _ in range(most):
                answer = condition()
                if answer.value is None or answer.default:
                    break
                if not answer.value or not self.turn(body, frame):
                    self.leave(body, frame)
                    return
                after()
            else:
                answer = UNKNOWN
                for name in self.state.changed(before) if most == MOST_TURNS else ():
                    self.long_loops.setdefault(name, self.at(body))
                self.state.become(before)
                del self.commands[count:]
        self.any_turns(body, condition, after, none=answer.value is False)

    @contextmanager
    def loop(self) -> Iterator[Frame]:
        """A loop around what is read within."""
        frame = Frame({}, [])
        self.loops.append(frame)
        try:
            yield frame
        finally:
            self.loops.pop()

    def turn(self, body: Node, frame: Frame) -> bool:
        """Read one turn; whether another may follow."""
        count = len(frame.left)
        with self.maybe(bool(frame.left)):
            self.run(body)
        went_on = [state for state in frame.left[count:] if state.over == CONTINUE]
        frame.left[count:] = [state for state in frame.left[count:] if state.over != CONTINUE]
        if went_on:
            self.go_on_as(went_on, self.at(body))
        return not self.state.over

    def leave(self, body: Node, frame: Frame) -> None:
        """Go on behind a loop, as it ended or as a `break` left it."""
        self.go_on_as(frame.left, self.at(body), BREAK)
        if self.state.over == BREAK:
            self.state.over = ""

    def go_on_as(self, states: list[ShellState], at: Location, ending: str = "") -> None:
        """Go on as the state is or as any of `states` is, which ended in `ending` (any way, if empty) and now go on too."""
        for state in states:
            state.over = "" if ending in ("", state.over) else state.over
        if states:
            join(self.state, [(self.state.copy(), False), *((state, False) for state in states)], at)

    def any_turns(self, body: Node, start: Callable[[], object], after: Callable[[], object] = _nothing, *, none: bool = False) -> None:
        """Read a loop of unknown turns: what changes in one is unknown in all; `none` if by default there is no turn."""
        before = self.state.copy()
        changing = set[str]()
        for _ in range(3):
            end = self.trial(body, start, after, before, changing)
            found = set(before.changed(end)) | changing
            if found == changing and self.muted and after is _nothing:  # what follows would do the same, without a trace
                join(self.state, [(before, none), (end, False)], self.at(body))
                return
            if found == changing:
                break
            changing = found
        self.forget_names(changing, body)
        with self.loop() as frame, self.maybe():
            start()
            self.turn(body, frame)
            self.leave(body, frame)
        join(self.state, [(before, none), (self.state.copy(), False)], self.at(body))

    def trial(
        self, body: Node, start: Callable[[], object], after: Callable[[], object], before: ShellState, changing: set[str]
    ) -> ShellState:
        """The state behind one turn, with what is done before and after it, without noting any command."""
        self.muted += 1
        self.state.become(before.copy())
        self.forget_names(changing, body)
        try:
            with self.loop() as frame:
                start()
                self.turn(body, frame)
                after()
                self.leave(body, frame)
        finally:
            self.muted -= 1
        end = self.state.copy()
        self.state.become(before.copy())
        return end

    def forget_names(self, names: set[str], body: Node) -> None:
        """Make variables unknown that a loop changes."""
        for name in sorted(names):
            self.state.forget(name, self.at(body))


_failure = lazy_pattern(r"\bexit[ \t]+[1-9]")
_names = lazy_pattern(r"\$\{?([A-Za-z_]\w*)", re.ASCII)
_assigned = lazy_pattern(r"([A-Za-z_]\w*)\+?=", re.ASCII)
_shift = lazy_pattern(r"shift(?: [0-9]+)?")
# What an expansion may do besides: run a command, give a variable a value, end the script, count.
_does_more = lazy_pattern(r"`|[$<>]\(|\$\{[^}]*(?:\+\+|--|[^}#%]=|:?\?)")
_expands = lazy_pattern(r"[$`]")
_plain = lazy_pattern(r"[\w./=:,+-]+")
