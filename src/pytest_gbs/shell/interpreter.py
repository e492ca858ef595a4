"""A shell that reads a script instead of running it: one visitor of the syntax tree, whose statements, words and commands nest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_gbs.model.command import (
    Assignment,
    Command,
    Directive,
    Folder,
    OtherFiles,
    Part,
    Script,
    Stop,
    Word,
    Wrapper,
    Written,
    hull,
    name_of,
    options,
)
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.location import Location, Source, below
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.possessive import re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import filters, patterns, quotes, slurm, truth, values
from pytest_gbs.shell.arithmetic import HOLE, InvalidExpression, evaluate
from pytest_gbs.shell.env_file import named_env_file, read_env_file
from pytest_gbs.shell.fields import BLANKS, Fields, as_pattern, braces, make_word
from pytest_gbs.shell.limits import (
    DEEPEST,
    DEEPEST_CALL,
    LONGEST_PATH,
    LONGEST_VALUE,
    MOST_CHARACTERS,
    MOST_COMMANDS,
    MOST_TURNS,
    TOO_LONG,
    Exhausted,
    ShellBudget,
)
from pytest_gbs.shell.state import BREAK, CONTINUE, EXIT, RETURN, ShellState, Variable, emptiness, join, lowered, text_of, unknown
from pytest_gbs.shell.text import Parts, ShellText, parse, whole
from pytest_gbs.shell.truth import EXPECTED, NO, UNKNOWN, YES, Truth
from pytest_gbs.shell.values import Expanded, is_longer, one, without_lists
from pytest_gbs.shell.wrappers import (
    SHELLS,
    container_variables,
    env_assignments,
    given_script,
    inner,
    is_container,
    is_open_list,
    words_of,
)

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.model.document import CommentBlock

Words: TypeAlias = tuple[Word, ...]
Assignments: TypeAlias = tuple[tuple[str, Variable], ...]
Items: TypeAlias = tuple[tuple[str, Parts], ...]

_OUTERMOST: Final = 2  # the depth of a statement that stands in no other
_REPEATED: Final = ("for_statement", "c_style_for_statement", "while_statement", "if_statement", "case_statement")
_DEEPEST_NAME: Final = 8
_MOST_ITEMS: Final = 2_000
_LONGEST_FIXED: Final = 1_000
_NOT_STATEMENTS: Final = ("comment", "heredoc_body", "heredoc_end", "file_redirect", "word", "number")
_REDIRECTS: Final = ("file_redirect", "heredoc_redirect", "herestring_redirect")
_LITERALS: Final = ("raw_string", "ansi_c_string")
# Commands that ask a question; all others are expected to succeed.
_ASKING: Final = words_of("grep egrep fgrep rg command which type hash diff cmp test [ pgrep nvidia-smi nc curl ping")
# Commands that are run for what they print of the machine, and start nothing.
_PRINTERS: Final = words_of(
    "awk cat command conda curl cut date df du echo expr find free getconf getent grep egrep head hostid hostname "
    "id ip jq ls lscpu mktemp nproc nvidia-smi printf ps python python3 sacct scontrol sed seq shuf sort squeue ss "
    "stat tail tr uname uniq uuidgen wc which whoami yq [ test"
)
# Set on every machine, or by the shell itself: never empty.
_ALWAYS_SET: Final = words_of(
    "HOME USER PATH PWD OLDPWD SHELL LOGNAME HOSTNAME RANDOM SECONDS LINENO UID EUID PPID BASHPID BASH BASH_VERSION OSTYPE ? $ ! - _"
)
_OPERATORS: Final = (":-", ":=", ":+", ":?", "%%", "##", "//", "^^", ",,", "-", "=", "+", "?", "%", "#", "/", "^", ",", ":", "@")
# How a script puts a heredoc into a variable: `read -r -d '' NAME <<EOF`.
_READS_ALL: Final = (["-r", "-d", ""], ["-d", "", "-r"], ["-rd", ""])


class Function(NamedTuple):
    """A function that the script defines: its body, and the text the body is in."""

    text: ShellText
    body: Node


class Frame(NamedTuple):
    """A function call or a loop around a statement: what its own variables were before, and states that left it early."""

    before: dict[str, Variable | None]
    left: list[ShellState]
    function: Function | None = None


class Input(NamedTuple):
    """The input that a command gets from a heredoc or a herestring, and the file its output goes to."""

    text: Parts | None = None
    file: Word | None = None


class Parameter(NamedTuple):
    """What is in `${...}`: the sign before the name, the name, the subscript, the operator, and where its operand starts and stops."""

    node: Node
    at: Location
    prefix: str
    name: str
    subscript: str
    sign: str
    operand: int
    stop: int


class Interpreter:
    """The state of reading one file: what the shell knows, what has been spent, and what has been found."""

    def __init__(self, source: Source, others: OtherFiles | None) -> None:
        self.sources = {source.path: source.text}
        self.others = others
        self.text_path = source.path
        self.text = ShellText(())
        self.budget = ShellBudget()
        self.state = ShellState(self.budget)
        self.functions: dict[str, Function] = {}
        self.exported_functions = set[str]()
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
        self.written: list[Written] = []
        self.syntax_errors: list[Location] = []
        self.stopped: Stop | None = None
        self.behind: str | None = None
        self.missing_sources: list[tuple[str, Location]] = []
        self.long_loops: dict[str, Location] = {}
        self.directives: tuple[Directive, ...] = ()

    def read_text(
        self,
        text: ShellText,
        root: Node,
        directives: tuple[Directive, ...] = (),
        state: ShellState | None = None,
        around: tuple[Wrapper, ...] = (),
    ) -> bool:
        """Read `text`, of which `root` is the tree, in a new shell, or in the state given, `around` it; False if no more can be read."""
        self.text, self.state, self.functions = text, state or ShellState(self.budget), {}
        self.calls, self.loops, self.wrappers = [], [], around
        self.depth = self.shells = self.uncertain = self.muted = self.repaired = 0
        self.in_job = bool(directives)
        slurm.set_variables(self.state, directives)
        slurm.set_step_variables(self.state, self.at_start, around)
        try:
            self.run_all([root])
        except Exhausted as exhausted:
            self.stopped = self.stopped or exhausted.stop(self.at_start)
            self.behind = exhausted.behind
            return False
        except RecursionError:  # names that hold names that hold brackets nest deeper than any of them
            self.stopped = self.stopped or Stop("names within names without end", self.at_start)
        return True

    def script(self, path: str, comments: Iterable[CommentBlock]) -> Script:
        """All that was found, as the script at `path`."""
        return Script(
            path,
            tuple(self.commands),
            self.directives,
            tuple(comments),
            tuple(self.written),
            self.stopped,
            tuple(self.syntax_errors),
            tuple(self.missing_sources),
            tuple(self.long_loops.items()),
        )

    def stop(self, reason: str, at: Location) -> None:
        """Note that something was not read; the first place that was not is reported."""
        if self.stopped is None and not self.muted:
            self.stopped = Stop(reason, at)

    def note_syntax_error(self, at: Location) -> None:
        """Note a place whose syntax is broken."""
        if not self.muted:
            self.syntax_errors.append(at)

    @contextmanager
    def maybe(self, uncertain: bool = True) -> Iterator[None]:
        """Mark the commands within as ones that may not run."""
        self.uncertain += uncertain
        try:
            yield
        finally:
            self.uncertain -= uncertain

    # Places and words

    @property
    def at_start(self) -> Location:
        """The first character of the file."""
        return Location(self.text_path, 0, 0)

    def at(self, node: Node) -> Location:
        """The place of `node`."""
        return self.text.location(*self.text.span(node))

    def raw(self, node: Node) -> str:
        """The characters of `node`."""
        start, stop = self.text.span(node)
        return self.text.string[start:stop]

    def word(self, parts: Parts, at: Location | None, otherwise: Location | None = None) -> Word:
        """A word of these parts, which is at `at`, or where its parts are used."""
        place = at or hull([part.use for part in parts]) or otherwise or self.at_start
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
        folder = self.state.folder
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
        target, folder = word.path, self.state.folder
        if target.rooted or target.path is None:
            return target
        own = self.text_path.rpartition("/")[0]
        if own and f"{target.path}/".endswith(f"/{own}/"):
            return Folder(own, rooted=True)  # where the author has the folder of this very file
        if target.path.startswith("/"):
            return target  # of a container, perhaps
        if folder.path is None or len(folder.path) + len(target.path) > LONGEST_PATH:
            return Folder(None)
        moved = below(folder.path, target.path)
        if moved is None and not folder.rooted and not folder.path.startswith("/"):
            inside = below(own, folder.path)  # a script that leaves the folder it was started in was started in its own
            moved = below(inside, target.path) if inside is not None else None
            return Folder(moved, rooted=moved is not None)
        return Folder(f"/{moved}" if moved is not None and folder.path.startswith("/") else moved, folder.rooted)

    # Arithmetic

    def calculate_text(self, text: str) -> int | None:
        """The value of an expression that is known."""
        return self.calculate((Part(text, self.at_start, self.at_start),))[0]

    def calculate(self, parts: Parts) -> tuple[int | None, bool, str]:
        """The value of an expression, whether a user can change it from outside, and the name of what keeps it from being known."""
        self.budget.step()
        variables = _Variables(
            self, any(part.default for part in parts if part.text is not None), next((p.name for p in parts if p.text is None), "")
        )
        string = "".join(HOLE if part.text is None else part.text for part in parts)
        at = parts[0].use if parts else self.at_start

        def assign(name: str, value: int | None) -> None:
            part = unknown(name, at) if value is None else Part(str(value), at, at, default=variables.default)
            self.state.assign(name, Variable((part,)))

        try:
            value = evaluate(string, variables.look_up, assign)
        except InvalidExpression:
            return None, False, variables.unknown
        return value, variables.default, variables.unknown

    def arithmetic_expansion(self, node: Node) -> Parts:
        """The value of `$(( ... ))`; one that the grammar takes for a shell in a shell, and finds broken, is read by itself."""
        start, stop = self.text.span(node)
        if node.has_error and node.type != "arithmetic_expansion":
            return self.arithmetic_alone(self.text.slice(start, stop), node)
        opening, closing = (2, 1) if self.text.string.startswith("$[", start) else (3, 2)
        at = self.text.location(start, stop)
        value, default, name = self.calculate(self.region(node, start + opening, stop - closing, quoted=True))
        if value is None:
            return (unknown(name or self.text.string[start:stop][:40], at, default=default),)
        return (Part(str(value), at, at, default=default),)

    def arithmetic_alone(self, parts: Parts, node: Node) -> Parts:
        """The value of `$(( ... ))` in a text of its own; unknown if it is broken there too."""
        text, outer = ShellText(parts), self.text
        found: Node | None = parse(text, self.budget)
        while found is not None and found.type != "arithmetic_expansion":
            found = found.children[0] if found.child_count == 1 else None
        if found is None:
            return (unknown(self.raw(node)[:40], self.at(node)),)
        self.text = text
        try:
            return self.arithmetic_expansion(found)
        finally:
            self.text = outer

    def has_broken(self, node: Node) -> bool:
        """Whether there is broken syntax in `node` beside arithmetic that the grammar takes for a shell in a shell."""
        if node.is_error or node.is_missing:
            return True
        if node.type == "command_substitution" and _is_arithmetic(self.raw(node)):
            return False
        return any(child.has_error and self.has_broken(child) for child in node.children)

    def arithmetic_statement(self, node: Node, start: int, stop: int) -> Truth:
        """Whether an expression of `(( ... ))` is other than 0."""
        parts = self.region(node, start, stop, quoted=True)
        if not any(part.text is None or not part.text.isspace() for part in parts):
            return YES
        value, default, _ = self.calculate(parts)
        if value is None:
            self.forget_in(self.text.string[start:stop], self.text.location(start, stop), every=True)
            return UNKNOWN
        return Truth(value != 0, default)

    # Statements

    def run(self, node: Node) -> Truth:
        """Read one statement; whether it succeeds.

        Raises: Exhausted: the script asks for too much.
        """
        self.budget.step()
        if self.state.over:
            return UNKNOWN
        if self.depth > DEEPEST:
            self.state.forget_all(self.at(node))
            self.syntax_errors.append(self.at(node))
            self.stop(f"statements within more than {DEEPEST} others", self.at(node))
            return UNKNOWN
        self.depth += 1
        try:
            return self.broken(node) if node.is_error else _STATEMENTS.get(node.type, Interpreter.children)(self, node)
        except Exhausted as exhausted:
            exhausted.at = exhausted.at or self.at(node)
            if self.depth == _OUTERMOST:
                exhausted.behind = self.behind_loop(node)
            raise
        finally:
            self.depth -= 1

    def behind_loop(self, node: Node) -> str | None:
        """The text behind a loop or branch, with that of the functions which it names; None if `node` is neither."""
        if node.type not in _REPEATED:
            return None
        texts, others = [self.text.string[self.text.span(node)[1] :]], dict(self.functions)
        for text in texts:
            called = [others.pop(name) for name in set(_word().findall(text)) & others.keys()]
            texts += (function.text.string[slice(*function.text.span(function.body))] for function in called)
        return "\n".join(texts)

    def run_all(self, nodes: list[Node]) -> Truth:
        """Read statements in order; whether the last one succeeds."""
        result = YES
        for node in nodes:
            if node.is_named and node.type not in _NOT_STATEMENTS:
                result = self.run(node)
        return result

    def children(self, node: Node) -> Truth:
        """Read the statements in a node."""
        return self.run_all(node.children)

    def broken(self, node: Node) -> Truth:
        """Pass over broken syntax: what it may have assigned is unknown from here on."""
        at, raw = self.at(node), self.raw(node)
        self.note_syntax_error(at)
        self.forget_in(raw, at)
        with self.maybe():
            for child in node.children:
                if child.type in _STATEMENTS and not self.state.over and child.type != "function_definition":
                    self.run(child)
                    self.forget_in(raw, at)
        self.state.over = ""
        return UNKNOWN

    def forget_in(self, raw: str, at: Location, *, every: bool = False) -> None:
        """Make unknown what a text that could not be read may have set."""
        names = _may_assign(raw[:100_000], every)
        self.budget.step(len(raw) // 5_000 + len(names) // 10)
        for name in sorted(names):
            self.state.forget(name, at)

    def and_or(self, node: Node) -> Truth:
        """Read `a && b` or `a || b`."""
        parts = [child for child in node.children if child.is_named and child.type != "comment"]
        if len(parts) != 2 or any(part.is_error for part in parts):
            return self.broken(node)
        wanted = any(child.type == "&&" for child in node.children)
        left = self.run(parts[0])
        if self.state.over:
            return left
        if left.value is not None and not left.default:
            return self.run(parts[1]) if left.value == wanted else left
        if left.expected and wanted:
            return self.run(parts[1])
        skipped, count = self.state.copy(), len(self.commands)
        with self.maybe(left.value is None or left.value != wanted):
            right = self.run(parts[1])
        taken = self.state.copy()
        likely = left.value == wanted if left.default else None
        at = self.at(node)
        join(self.state, [(taken, likely is True), (skipped, likely is False)], at)
        if taken.over:
            self.survive([parts[0]] if likely else [], count, at)
        if left.expected:
            return left
        return truth.both(left, right) if wanted else truth.either(left, right)

    def pipeline(self, node: Node) -> Truth:
        """Read the commands of a pipeline, each in a shell of its own."""
        before, result = self.state.copy(), UNKNOWN
        for child in node.children:
            if child.is_named and child.type != "comment":
                self.state.become(before.copy())
                result = self.run(child)
        self.state.become(before)
        return EXPECTED if result.expected else UNKNOWN

    def subshell(self, node: Node) -> Truth:
        """Read `( ... )`."""
        before = self.state.copy()
        self.run_all(node.children)
        self.state.become(before)
        return EXPECTED

    def compound(self, node: Node) -> Truth:
        """Read `{ ...; }`, `(( ... ))`, `[ ... ]` or `[[ ... ]]`."""
        opening = node.children[0].type if node.children else ""
        if opening == "((":
            start, stop = self.text.span(node)
            return self.arithmetic_statement(node, start + 2, stop - 2)
        return self.test(node) if node.type == "test_command" else self.run_all(node.children)

    def negated(self, node: Node) -> Truth:
        """Read `! command`."""
        return self.run_all(node.children).negated()

    def define(self, node: Node) -> Truth:
        """Read the definition of a function."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is not None and body is not None:
            self.functions[self.raw(name)] = Function(self.text, body)
        return YES

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

    def if_clauses(self, node: Node) -> Iterator[tuple[Truth, list[Node], list[Node]]]:
        """Read each condition in turn and yield its answer, its nodes and the statements under it."""
        for clause in [node, *(child for child in node.children if child.type in ("elif_clause", "else_clause"))]:
            if clause.type == "else_clause":
                yield YES, [], clause.children
                continue
            inside = [child for child in clause.children if child.type not in ("elif_clause", "else_clause")]
            then = next((number for number, child in enumerate(inside) if child.type == "then"), len(inside))
            yield self.run_all(inside[:then]), inside[:then], inside[then + 1 :]

    def case_clauses(self, node: Node) -> Iterator[tuple[Truth, list[Node], list[Node]]]:
        """Yield for each pattern whether the value matches it, and the statements under it."""
        value = node.child_by_field_name("value")
        parts = self.value(value) if value is not None else ()
        text, default = text_of(parts), any(part.default for part in parts)
        for item in (child for child in node.children if child.type == "case_item"):
            fits = None if text is None else self.fits(item, text)
            always = fits is not False and self.fits(item, "\x00") is True
            closing = next((number for number, child in enumerate(item.children) if child.type == ")"), len(item.children))
            yield YES if always else Truth(fits, default and fits is not None), [], item.children[closing + 1 :]

    def fits(self, item: Node, text: str) -> bool | None:
        """Whether one of the patterns of a clause of `case` matches `text`."""
        found: list[bool | None] = []
        for node in item.children_by_field_name("value"):
            pattern = text_of(self.value(node))
            if node.type in ("string", "raw_string"):
                found.append(None if pattern is None else pattern == text)
            else:
                self.budget.step(1 + len(text) // 50)
                found.append(None if pattern is None else patterns.matches(pattern, text))
        return True if True in found else None if None in found else False

    def choose(self, node: Node, clauses: Iterator[tuple[Truth, list[Node], list[Node]]]) -> tuple[list[Node], bool] | None:
        """Read the clauses that may be taken, and go on as any of them may have left things.

        None if one is taken for certain; else the conditions of those that are taken by default and end the script, and whether a
        clause with commands ends it.
        """
        ends: list[tuple[ShellState, bool]] = []
        ended: list[Node] = []
        count, has_commands = len(self.commands), False
        doubt, decided = False, False  # whether an earlier condition is unknown; whether one is met by default
        for answer, condition, body in clauses:
            if self.state.ended():
                break
            if answer.value is False and not answer.default:
                continue
            otherwise = self.state.copy()
            taken = answer.value is True and not decided and not doubt
            with self.maybe(not taken):
                self.run_all(body)
            ends.append((self.state.copy(), taken and (answer.default or bool(ends))))
            decided = decided or taken
            has_commands = has_commands or (bool(self.state.over) and len(self.commands) > count)
            if self.state.over in (EXIT, RETURN) and taken and answer.default:
                ended += condition
            if answer.value is True and not answer.default:
                join(self.state, ends, self.at(node))
                return None
            doubt = doubt or answer.value is None
            self.state.become(otherwise)
        ends.append((self.state.copy(), not doubt and not decided and bool(ends)))
        join(self.state, ends, self.at(node))
        return ended, has_commands

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

    # Conditions

    def test(self, node: Node) -> Truth:
        """The answer of `[ ... ]` or `[[ ... ]]`."""
        inside = [child for child in node.children if child.is_named]
        if len(inside) != 1 or node.has_error:
            return UNKNOWN
        return self.test_expression(inside[0], double=node.children[0].type == "[[")

    def test_expression(self, node: Node, *, double: bool) -> Truth:
        """The answer of an expression in `[ ]`, or in `[[ ]]` if `double`."""
        self.budget.step()
        kind = node.type
        if kind == "parenthesized_expression":
            inside = [child for child in node.children if child.is_named]
            return self.test_expression(inside[0], double=double) if len(inside) == 1 else UNKNOWN
        if kind == "unary_expression":
            return self.test_of_one(node, double=double)
        if kind == "binary_expression":
            return self.test_of_two(node, double=double)
        if kind in ("negation_expression", "ternary_expression", "postfix_expression"):
            return UNKNOWN
        return truth.is_not_empty(self.value(node))

    def test_of_one(self, node: Node, *, double: bool) -> Truth:
        """The answer of `-n a` and the like."""
        operator = node.child_by_field_name("operator")
        operand = [child for child in node.children if child.is_named and (operator is None or child.id != operator.id)]
        sign = self.raw(operator) if operator is not None else "!"
        if len(operand) != 1:
            return UNKNOWN
        if sign == "!":
            return self.test_expression(operand[0], double=double).negated()
        return self.answer_of_one(sign, self.value(operand[0]))

    def answer_of_one(self, sign: str, parts: Parts) -> Truth:
        """The answer of an operator before one operand."""
        if sign in ("-n", "-z"):
            full = truth.is_not_empty(parts)
            return full if sign == "-n" else full.negated()
        name = text_of(parts)
        if sign == "-v" and name:
            variable = self.state.variables.get(name)
            return Truth(False, default=True) if variable is None else Truth(not variable.unset)
        return YES if sign in ("-f", "-e") and self.exists(self.word(parts, None)) else UNKNOWN

    def test_of_two(self, node: Node, *, double: bool) -> Truth:
        """The answer of `a = b` and the like."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None or len(node.children) != 3:
            return UNKNOWN
        sign = self.raw(operator)
        if sign in ("&&", "-a", "||", "-o"):
            combine = truth.both if sign in ("&&", "-a") else truth.either
            return combine(self.test_expression(left, double=double), self.test_expression(right, double=double))
        if not double and (right.type == "binary_expression" or left.type == "binary_expression"):
            return UNKNOWN  # the grammar groups `-a` and `-o` of `[` otherwise than bash
        quoted = right.type in ("string", "raw_string") or not double
        if left.type == "unary_expression":  # to bash `! a = b` is `! (a = b)`
            inside = [child for child in left.children if child.is_named]
            if self.raw(left)[:1] != "!" or len(inside) != 1:
                return UNKNOWN
            return self.answer_of_two(self.value(inside[0]), sign, self.value(right), quoted=quoted).negated()
        return self.answer_of_two(self.value(left), sign, self.value(right), quoted=quoted)

    def answer_of_two(self, left: Parts, sign: str, right: Parts, *, quoted: bool) -> Truth:
        """The answer of an operator between two operands."""
        if sign not in truth.COMPARISONS:
            return truth.same_text(left, sign, right, quoted=quoted)
        (first, first_default, _), (second, second_default, _) = self.calculate(left), self.calculate(right)
        no_arguments = truth.counts_arguments(left)
        if no_arguments and second is not None:
            first = 0
        if first is None or second is None:
            return UNKNOWN
        return Truth(truth.COMPARISONS[sign](first, second), first_default or second_default or no_arguments)

    def test_words(self, words: Words) -> Truth:
        """The answer of `test` with these words as arguments."""
        if not words:
            return NO
        if words[0].text == "!":
            return self.test_words(words[1:]).negated()
        if len(words) == 1:
            return truth.is_not_empty(words[0].parts)
        if len(words) == 2 and words[0].text is not None:
            return self.answer_of_one(words[0].text, words[1].parts)
        if len(words) == 3 and words[1].text is not None:
            return self.answer_of_two(words[0].parts, words[1].text, words[2].parts, quoted=True)
        return UNKNOWN

    # Loops

    def for_each(self, node: Node) -> Truth:
        """Read `for x in ...`, turn by turn if the values are known, and `select`, of which nothing is known."""
        variable, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
        if variable is None or body is None:
            return UNKNOWN
        name = self.raw(variable)
        elements: list[Parts] = []
        if any(child.type == "in" for child in node.children):
            for group in touching(node.children_by_field_name("value")):
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
            self.any_turns(body, lambda: self.state.assign(name, Variable((hidden,))))
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
        self.repeat(body, condition, lambda: YES, 2 if constant else MOST_TURNS)
        return UNKNOWN

    def repeat(self, body: Node, condition: Callable[[], Truth], after: Callable[[], Truth], most: int = MOST_TURNS) -> None:
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

    def any_turns(self, body: Node, start: Callable[[], object], after: Callable[[], object] = lambda: None, *, none: bool = False) -> None:
        """Read a loop of unknown turns: what changes in one is unknown in all; `none` if by default there is no turn."""
        before = self.state.copy()
        changing = set[str]()
        for _ in range(3):
            found = set(before.changed(self.trial(body, start, after, before, changing))) | changing
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

    # Variables

    def assign(self, node: Node) -> Truth:
        """Read `name=value`, `name+=value` and `name[key]=value`."""
        name, variable = self.assignment(node)
        if name:
            self.state.assign(name, variable)
        return YES

    def assignment(self, node: Node, *rest: Node) -> tuple[str, Variable]:
        """The name and the new value; no name if the syntax is broken. `rest` are nodes that belong to the value."""
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        subscript = target is not None and target.type == "subscript"
        name_node = target.child_by_field_name("name") if subscript and target is not None else target
        if target is None or name_node is None:
            return "", Variable()
        adding = any(child.type == "+=" for child in node.children)
        name = self.raw(name_node)
        old = self.state.variables.get(name) if adding or subscript else None
        if value is not None and value.type == "array":
            return name, self.array(value, self.items(name, old) if adding else ())
        parts = self.value(value, *rest) if value is not None else ()
        if subscript:
            index = target.child_by_field_name("index")
            key = text_of(self.value(index)) if index is not None else None
            return name, self.with_item(name, old, key, parts, adding=adding)
        if not adding:
            return name, Variable(parts)
        if old is None:
            return name, Variable((unknown(name, self.at(target), default=True), *parts))
        if old.items is not None:
            return name, self.with_item(name, old, "0", parts, adding=True)
        return name, Variable(self.bounded((*old.parts, *parts)), exported=old.exported)

    def items(self, name: str, old: Variable | None) -> Items | None:
        """The items that array `name` has; None if they are unknown."""
        if old is None:
            return () if name in self.state.variables or not self.state.forgotten else None
        if old.items is not None:
            return old.items
        return (("0", old.parts),) if old.parts else ()

    def array(self, node: Node, before: Items | None) -> Variable:
        """An array of what is in `( ... )`, behind the items it had before."""
        items = dict(before or ())
        following = max((_place(key) for key in items), default=-1) + 1
        for child, *rest in touching([child for child in node.children if child.is_named and child.type != "comment"]):
            key = _key().match(self.raw(child))
            if key and child.type in ("concatenation", "word"):
                start, stop = self.text.span(child)
                subscript = text_of(self.region(child, start + 1, start + key.end() - 2))
                if subscript is None:
                    return Variable((unknown("array", self.at(node), many=True),))
                items[subscript.strip('"')] = self.region(child, start + key.end(), stop)
                self.budget.step(1 + len(rest))
                following = _place(subscript) + 1 if _place(subscript) >= 0 else following
                continue
            for parts in self.fields(child, *rest):
                items[str(following)] = parts
                following += 1
        if len(items) > _MOST_ITEMS or before is None:
            return Variable((unknown("array", self.at(node), many=True),))
        self.budget.write(len(items))
        return Variable(items=tuple(items.items()))

    def with_item(self, name: str, old: Variable | None, key: str | None, parts: Parts, *, adding: bool) -> Variable:
        """An array with one item set."""
        before = self.items(name, old)
        if key is not None and not is_digits(key) and before and all(is_digits(k) for k, _ in before):
            number = self.calculate_text(key)
            key = str(number) if number is not None and number >= 0 else None
        if key is None or before is None or (old is not None and old.items is None and old.text is None):
            at = parts[0].use if parts else self.at_start
            return Variable((unknown(name, at, many=True),))
        items = dict(before)
        items[key] = self.bounded((*items.get(key, ()), *parts)) if adding else parts
        self.budget.write(len(items))
        return Variable(items=tuple(items.items()))

    def declare(self, node: Node) -> Truth:
        """Read `export`, `declare`, `typeset`, `local` and `readonly`."""
        kind = node.children[0].type
        options = "".join(self.raw(child) for child in node.children if child.type == "word" and self.raw(child)[0] == "-")
        exports = (kind == "export" or "x" in options) and "n" not in options
        local = kind == "local" or (kind in ("declare", "typeset") and "g" not in options)
        if kind == "export" and "f" in options:
            self.exported_functions.update(self.raw(child) for child in node.children[1:] if child.is_named)
            return YES
        for child, *rest in touching([child for child in node.children[1:] if child.is_named]):
            if child.type == "variable_assignment":
                self.declare_one(*self.assignment(child, *rest), exports=exports, local=local)
            elif child.type == "variable_name":
                self.declare_one(self.raw(child), None, exports=exports, local=local)
            elif child.type not in ("word", "comment") and not self.export_file(child):
                self.state.forgotten = True
        return YES

    def export_file(self, node: Node) -> bool:
        """Read `export $(cat .env)`; False if it exports anything else, or what the file has can't be had."""
        name = named_env_file(self.raw(node))
        source = self.file(self.word((Part(name, self.at(node), self.at(node)),), None)) if name else None
        if source is not None:
            self.set_from_file(self.state, source)
        return source is not None

    def set_from_file(self, state: ShellState, source: Source) -> None:
        """Set the variables that a file of them has, exported."""
        self.sources[source.path] = source.text
        self.budget.step(1 + len(source.text) // 200)
        for name, part in read_env_file(source):
            state.variables[name] = Variable((part,), exported=True)

    def declare_one(self, name: str, variable: Variable | None, *, exports: bool, local: bool) -> None:
        """Declare one variable, with a value unless `variable` is None."""
        if not name:
            return
        if local and self.calls:
            self.calls[-1].before.setdefault(name, self.state.variables.get(name))
            variable = variable or Variable()
        if variable is not None:
            self.state.assign(name, variable)
        if exports and name in self.state.variables:
            self.state.variables[name] = self.state.variables[name]._replace(exported=True)

    def unset(self, node: Node) -> Truth:
        """Read `unset`."""
        for child in node.children[1:]:
            for parts in self.fields(child) if child.is_named else ():
                name = text_of(parts)
                if name and name.isidentifier():
                    self.state.variables[name] = Variable(unset=True)
                elif name and "[" in name:
                    self.state.forget(name.split("[")[0], self.at(child))
        return YES

    # Commands

    def command_statement(self, node: Node) -> Truth:
        """Read a command without redirections around it."""
        return self.redirected(node, [])

    def redirected_statement(self, node: Node) -> Truth:
        """Read a statement with redirections."""
        body = node.child_by_field_name("body")
        return YES if body is None else self.redirected(body, node.children_by_field_name("redirect"))

    def redirected(self, body: Node, redirects: list[Node]) -> Truth:
        """Read a statement and what its redirections feed it."""
        result = self.run(body) if body.type != "command" else self.simple_command(body, redirects)
        for redirect in redirects if not self.state.over else ():
            for child in redirect.children if redirect.type == "heredoc_redirect" else ():  # `cat <<EOF | bash`, `cat <<EOF && run`
                if child.type in ("pipeline", "list", "command", "redirected_statement") and not self.state.over:
                    self.run(child)
        return result

    def simple_command(self, body: Node, redirects: list[Node]) -> Truth:
        """Read a command: its redirections, the variables before it, its words."""
        feed = self.input([*redirects, *(child for child in body.children if child.type in _REDIRECTS)])
        groups = touching([child for child in body.children if child.is_named and child.type not in (*_REDIRECTS, "comment")])
        before = self.assignments(body)
        words = tuple(word for group in groups if group[0].type != "variable_assignment" for word in self.words(*group))
        words = (*words, *self.displaced(redirects))
        while before and words and _assigning().match(words[0].raw):  # behind `X=$A/$B/c` the grammar takes an assignment for a command
            self.state.forget(words[0].raw.split("=")[0].rstrip("+"), words[0].at)
            words = words[1:]
        at = _start(words, self.at(body))
        self.note_written(words, feed, at)
        self.command = body
        return self.execute(words, before, feed, at)

    def assignments(self, body: Node) -> Assignments:
        """The variables set before a command."""
        groups = [
            group for group in touching([child for child in body.children if child.is_named]) if group[0].type == "variable_assignment"
        ]
        return tuple(found for group in groups if (found := self.assignment(*group))[0])

    def displaced(self, redirects: list[Node]) -> Words:
        """The arguments behind a redirection, which the grammar takes for more targets of `>` or more of a heredoc's mark."""
        words: list[Word] = []
        for redirect in redirects:
            is_file = redirect.type == "file_redirect"
            extra = redirect.children_by_field_name("destination")[1:] if is_file else redirect.children_by_field_name("argument")
            for node in extra:
                if is_file and node.prev_sibling is not None and node.prev_sibling.end_byte == node.start_byte:
                    continue
                if node.start_point.row != redirect.start_point.row and "\\\n" not in self.raw(redirect):
                    break
                words += self.words(node)
        return tuple(words)

    def input(self, redirects: list[Node]) -> Input:
        """What the redirections feed, and the file the output goes to."""
        text: Parts | None = None
        file: Word | None = None
        for redirect in redirects:
            inside = [redirect]
            if redirect.type == "heredoc_redirect":
                text = self.heredoc(redirect)
                inside = [child for child in redirect.children if child.type == "file_redirect"]
            elif redirect.type == "herestring_redirect":
                named = [child for child in redirect.children if child.is_named]
                text, inside = self.value(named[-1]) if named else None, []
            file = next((target for each in inside if (target := self.output_file(each)) is not None), file)
        return Input(text, file)

    def output_file(self, redirect: Node) -> Word | None:
        """The file that standard output goes to."""
        signs = [child.type for child in redirect.children if not child.is_named]
        destination = redirect.child_by_field_name("destination")
        if (
            destination is None
            or redirect.child_by_field_name("descriptor") is not None
            or signs[:1] not in ([">"], [">>"], [">|"], ["&>"])
        ):
            return None
        return self.word(self.value(destination), self.at(destination))

    def heredoc(self, redirect: Node) -> Parts | None:
        """The text of a heredoc, expanded unless its mark is quoted."""
        mark = next((child for child in redirect.children if child.type == "heredoc_start"), None)
        body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
        if mark is None or body is None:
            return None if mark is None else ()
        start, stop = self.text.span(body)
        if any(sign in self.raw(mark) for sign in "'\"\\"):
            return self.text.slice(start, stop)
        return self.region(body, start, stop, quoted=True)

    def note_written(self, words: Words, feed: Input, at: Location) -> None:
        """Note the file that `cat > FILE <<EOF` or `tee FILE <<EOF` writes."""
        if feed.text is None or not words or self.muted:
            return
        name = name_of(words[0])
        target = feed.file if name == "cat" and len(words) == 1 else words[1] if name == "tee" and len(words) == 2 else None
        if target is not None:
            self.written.append(Written(target, self.word(feed.text, None, at), at, self.state.folder))

    def execute(self, words: Words, before: Assignments, feed: Input, at: Location) -> Truth:
        """Do what a command does to the shell, or note it as one that runs."""
        if not words:
            for name, variable in before:
                self.state.assign(name, variable)
            return YES
        words = _set_words(words)
        known = words[0].text or ""
        if known in self.functions:
            return self.call(self.functions[known], words[1:], before)
        builtin = _BUILTINS.get(known)
        if builtin is not None:
            return builtin(self, words, before, feed.text)
        self.launch(words, {key: self.word(variable.scalar, None, at) for key, variable in before}, feed.text, at)
        if known == "exec" and len(words) > 1:
            self.state.over = EXIT
        if known == "grep":
            lines = self.lines_of_file(words)
            return UNKNOWN if lines is None else YES if lines else NO
        return UNKNOWN if name_of(words[0]) in _ASKING else EXPECTED

    def call(self, function: Function, words: Words, before: Assignments) -> Truth:
        """Read the body of a function with these arguments."""
        at = words[0].at if words else self.at_start
        if len(self.calls) >= DEEPEST_CALL:
            self.state.forget_all(at)
            if function not in (frame.function for frame in self.calls):  # one that calls itself was read
                self.stop(f"a function within more than {DEEPEST_CALL} others", self.at(self.command) if self.command else at)
            return EXPECTED
        arguments, text, loops = self.state.arguments, self.text, self.loops
        frame = Frame({}, [], function)
        for name, variable in before:
            frame.before.setdefault(name, self.state.variables.get(name))
            self.state.assign(name, variable._replace(exported=True))
        self.state.arguments = None if any(_is_spread(word) for word in words) else tuple(word.parts for word in words)
        self.text, self.loops = function.text, []
        self.calls.append(frame)
        try:
            result = self.run(function.body)
        finally:  # the loops around the call go on, or end, with their own frames
            self.calls.pop()
            self.text, self.loops = text, loops
        self.go_on_as(frame.left, at)
        if self.state.over == RETURN:
            self.state.over = ""
        self.state.arguments = arguments
        for name, old in frame.before.items():
            if old is None:
                self.state.variables.pop(name, None)
            else:
                self.state.variables[name] = old
        return result if result.value is not None else EXPECTED

    def launch(self, words: Words, variables: dict[str, Word], feed: Parts | None, at: Location) -> None:
        """Note a command, or the commands that it runs in its turn."""
        wrappers = self.wrappers
        try:
            self.unwrap(words, variables, feed, at)
        finally:
            self.wrappers = wrappers

    def unwrap(self, words: Words, variables: dict[str, Word], feed: Parts | None, at: Location) -> None:
        """Note the innermost of commands that run each other; `variables` are set before the outermost."""
        for _ in range(DEEPEST_CALL):
            name = name_of(words[0])
            if name in (*SHELLS, "ssh", "sbatch", "eval") and self.shell(words, variables, feed, at):
                return
            start = inner(words)
            if name == "env":
                start, found = env_assignments(words)
                variables.update(found)
            if not start or start >= len(words):
                if not start or name not in ("env", "command", "builtin", "exec"):
                    self.emit(words, at, variables)
                return
            self.wrappers = (*self.wrappers, Wrapper(name, words[:start], _place_of(words[:start], at)))
            around, words = words, _set_words(words[start:])
            at = _place_of(words, at)
            if is_container(around):
                with self.new_shell(self.container(around[:start], variables)):
                    self.unwrap(words, {}, None, at)
                return
        self.stop(f"a command behind more than {DEEPEST_CALL} others", at)

    def container(self, words: Words, variables: dict[str, Word]) -> ShellState:
        """The state in which a container starts: what the words that run it hand over, and the folder, which is mounted as a rule."""
        state = ShellState(self.budget)
        state.folder, state.unlikely, state.arguments = self.state.folder, self.state.unlikely, ()
        if any(map(is_open_list, words)):  # `docker exec ${VARIABLES[@]} NAME ./run.sh`: it may hand over any of them
            exported = {name: each for name, each in self.state.variables.items() if each.exported}
            state.variables = {name: each.lowered(words[0].at) for name, each in exported.items()}
            self.budget.step(len(exported) // 10)
        for option in options(words, "--env-file"):
            if option.value is not None and (source := self.file(option.value)) is not None:
                self.set_from_file(state, source)
        for name, given in container_variables(words).items():
            own = self.state.variables.get(name)
            value = given or variables.get(name)
            if value is not None:
                state.variables[name] = Variable(value.parts, exported=True)
            elif own is not None and own.exported:
                state.variables[name] = own
        return state

    def emit(self, words: Words, at: Location, variables: dict[str, Word]) -> None:
        """Note a command that runs with its environment: the exported variables, and those before the command.

        Raises: Exhausted: there are too many.
        """
        if self.muted:
            return
        if len(self.commands) >= MOST_COMMANDS:
            raise Exhausted(f"more than {MOST_COMMANDS:,} commands")
        environment = (*(each for each in self.environment() if each.name not in variables), *map(Assignment._make, variables.items()))
        self.budget.step(len(self.state.variables) // 200 + len(environment) // 4)  # looked at, and built
        self.commands.append(
            Command(
                words,
                at,
                environment,
                self.uncertain > 0 or self.state.unlikely,
                self.wrappers,
                self.state.folder,
                self.context,
                self.repaired > 0,
            )
        )

    def environment(self) -> tuple[Assignment, ...]:
        """The variables that are exported, each with its value."""
        return tuple(
            Assignment(name, self.exported_word(variable))
            for name, variable in self.state.variables.items()
            if variable.exported and variable.items is None and not variable.unset and variable.parts
        )

    def exported_word(self, variable: Variable) -> Word:
        """The value of a variable as a word, made once for all commands that have it."""
        made = self.exported_words.get(id(variable))
        if made is None:  # the variable is kept, or another one could get its identity
            made = self.exported_words[id(variable)] = (variable, self.word(variable.parts, None))
        return made[1]

    # Shells within the shell

    def shell(self, words: Words, variables: dict[str, Word], feed: Parts | None, at: Location) -> bool:
        """Read the script that a shell gets as an argument or as input; False if it gets none."""
        name = name_of(words[0])
        index, given = given_script(words)
        if given is None and (feed is None or index < len(words)):
            return False
        parts = given if given is not None else feed or ()
        if parts and all(part.text is None or part.text.isspace() for part in parts):
            if any(part.name == TOO_LONG for part in parts):
                self.stop(f"a script of more than {LONGEST_VALUE:,} characters within another", at)
            return False  # what it runs is unknown
        if name == "eval":
            self.evaluate(parts)
            return True
        repaired = self.repair_quotes(words, parts) if given is not None and name != "ssh" else None
        wrapper = Wrapper(name, words if given is None else words[: max(1, index - 1)], _place_of(words, at))
        state = ShellState(self.budget) if name == "ssh" else self.state.child()
        for key, value in variables.items():
            state.variables[key] = Variable(value.parts, exported=True)
        if name in SHELLS and repaired is None and index < len(words):
            state.arguments = tuple(word.parts for word in words[index + 1 :])
        slurm.set_step_variables(state, at, self.wrappers)
        self.repaired += repaired is not None
        try:
            with self.new_shell(state):
                self.evaluate(parts if repaired is None else repaired, (wrapper,))
        finally:
            self.repaired -= repaired is not None
        return True

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

    def evaluate(self, parts: Parts, wrappers: tuple[Wrapper, ...] = (), most: int = LONGEST_VALUE) -> None:
        """Read parts as a script of at most so many characters: what `eval` and `bash -c` do."""
        self.budget.write(len(parts))
        if is_longer(parts, most):
            self.stop(f"a script of more than {most:,} characters within another", parts[0].use)
            return
        if all(part.text is None or part.text.isspace() for part in parts):
            return
        if self.shells >= DEEPEST_CALL:
            self.stop(f"a shell within more than {DEEPEST_CALL} others", parts[0].use)
            return
        text, outer, before = ShellText(parts), self.text, self.wrappers
        self.budget.write(len(text.string))
        root = parse(text, self.budget)
        self.text = text
        if wrappers and wrappers[-1].name == "sbatch":
            directives = slurm.read_directives(text, root)
            wrappers = (*wrappers[:-1], wrappers[-1]._replace(directives=directives))
            slurm.set_variables(self.state, directives)
        self.wrappers = (*before, *wrappers)
        self.shells += 1
        try:
            self.run_all([root])
        finally:
            self.shells -= 1
            self.text, self.wrappers = outer, before

    def repair_quotes(self, words: Words, parts: Parts) -> Parts | None:
        """The script that `parts`, given to a shell as one of `words`, is with its inner quotes escaped; None if they are in order.

        To bash it ends at the next unescaped quote. If what it ends up with is broken, while all up to the last quote of the
        command is not, the author means the latter: `bash -c "for i in 1; do echo "hello"; done"`.
        """
        places = self.quotes_of(words, parts)
        if len(places) < 3 or not parse(ShellText(parts), self.budget).has_error:
            return None
        outer, text = self.text, quotes.with_escaped_quotes(self.text, places)
        self.budget.write(len(text.string))
        node = quotes.only_string(parse(text, self.budget))
        if node is None:
            return None
        self.text = text
        try:
            found = self.value(node)
        finally:
            self.text = outer
        if parse(ShellText(found), self.budget).has_error:
            return None
        self.note_syntax_error(outer.location(places[1], places[1] + 1))
        return found

    def quotes_of(self, words: Words, parts: Parts) -> list[int]:
        """The offsets of the quotes from the one that opens the word of `parts` to the end of the command."""
        given = next((word for word in words[1:] if parts and word.at.start <= parts[0].use.start < word.at.stop), None)
        for child in self.command.children if self.command is not None and given is not None else ():
            if given is not None and self.command is not None and self.at(child).start == given.at.start:
                inside = next((node for node in (child, *child.children) if node.type == "string"), None)
                stop = self.text.span(self.command)[1]
                return quotes.unescaped_quotes(self.text.string, self.text.span(inside)[0], stop) if inside is not None else []
        return []

    # Commands of the shell itself

    def do_nothing(self, _words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read a command that changes nothing here."""
        return YES

    def do_false(self, _words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `false`."""
        return NO

    def do_test(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `test` and `[` as a command."""
        return self.test_words(words[1:-1] if words[0].text == "[" else words[1:])

    def do_exit(self, _words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `exit`."""
        self.state.over = EXIT
        return UNKNOWN

    def do_return(self, _words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `return`."""
        if self.calls:
            self.calls[-1].left.append(self.state.copy())
        self.state.over = RETURN
        return UNKNOWN

    def do_break(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `break` and `continue`."""
        if self.loops:
            self.state.over = BREAK if words[0].text == "break" else CONTINUE
            self.loops[-1].left.append(self.state.copy())
        return UNKNOWN

    def do_shift(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `shift`."""
        count = 1 if len(words) == 1 else self.calculate(words[1].parts)[0]
        known = self.state.arguments
        if known is None or count is None or count < 0:
            self.state.arguments = None
            return UNKNOWN
        if values.any_number(known[:count])[0]:
            self.state.arguments = None
            return UNKNOWN
        if count > len(known):
            return NO
        self.state.arguments = known[count:]
        return YES

    def do_set(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `set`: the arguments behind its options, and `-a`."""
        for index, word in enumerate(words[1:], 1):
            known = word.starts_with
            if known[:1] == "-" and known[1:2] != "-" and "a" in known and "o" not in known:
                self.state.exporting = True
            elif word.text == "+a":
                self.state.exporting = False
            if word.text == "--" or not known.startswith(("-", "+")):
                if (words[index - 1].text or "").endswith("o"):
                    continue
                rest = words[index + 1 :] if word.text == "--" else words[index:]
                self.state.arguments = None if any(entry.many for entry in rest) else tuple(entry.parts for entry in rest)
                break
        return YES

    def do_cd(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `cd`."""
        targets = [word for word in words[1:] if not (word.text or "").startswith("-")]
        self.state.folder = self.moved(targets[0]) if len(targets) == 1 else Folder(None)
        return YES

    def do_source(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read another file in this shell; what it sets is unknown if it cannot be read."""
        source = self.file(words[1]) if len(words) > 1 else None
        if source is None and len(words) > 1 and self.others is not None:
            self.missing_sources += [(path, words[1].at) for path in self.candidates(words[1])]
        if source is None or self.shells >= DEEPEST_CALL:
            if source is not None and source.path not in self.sources:  # one that sources itself was read
                self.stop(f"a shell within more than {DEEPEST_CALL} others", words[1].at)
            self.state.forgotten = True
            return EXPECTED
        self.sources[source.path] = source.text
        outer, arguments = self.text_path, self.state.arguments
        self.text_path = source.path
        if len(words) > 2:
            self.state.arguments = tuple(word.parts for word in words[2:])
        try:
            self.evaluate((whole(source.path, source.text),), most=MOST_CHARACTERS)
        finally:
            self.text_path, self.state.arguments = outer, arguments
        return EXPECTED

    def do_eval(self, words: Words, _before: Assignments, feed: Parts | None) -> Truth:
        """Read `eval`."""
        self.launch(words, {}, feed, words[0].at)
        return EXPECTED

    def do_let(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `let`."""
        result = UNKNOWN
        for word in words[1:]:
            value, default, _ = self.calculate(word.parts)
            result = Truth(None if value is None else value != 0, default)
            if value is None:
                self.state.forget(word.starts_with.split("=")[0].rstrip("+-*/%&|^<>"), word.at)
        return result

    def do_read(self, words: Words, before: Assignments, feed: Parts | None) -> Truth:
        """Read `read`: the words of a herestring, the whole of a heredoc with `-d ''`, or something unknown."""
        if feed is not None and [word.text for word in words[1:-1]] in _READS_ALL and (words[-1].text or "").isidentifier():
            self.state.assign(words[-1].text or "", Variable(_trimmed(feed)))
            return NO  # the end of the input comes before the delimiter
        options = [word.text or "" for word in words[1:] if word.starts_with.startswith("-")]
        names = [word.text for word in words[1:] if word.text and word.text.isidentifier()]
        separators = next((variable.text for name, variable in before if name == "IFS"), BLANKS)
        known = feed is not None and text_of(feed) is not None and separators is not None
        if not names or not known or not all(option in ("-r", "-a", "-ra", "-ar") for option in options):
            return self.forget_words(names, words[0].at)
        fields = Fields(separators or "")
        fields.add_split(tuple(part for part in feed or () if part.text), words[0].at)
        found = tuple(tuple(part.cut(0, len((part.text or "").rstrip("\n"))) for part in parts) for parts in fields.finish())
        if any("a" in option for option in options):
            self.state.assign(names[0], Variable(items=tuple((str(i), parts) for i, parts in enumerate(found))))
        elif len(found) > len(names):
            return self.forget_words(names, words[0].at)
        else:
            for name, parts in zip(names, (*found, *((),) * len(names)), strict=False):
                self.state.assign(name, Variable(parts))
        return YES

    def forget_words(self, names: Iterable[str], at: Location) -> Truth:
        """Make variables unknown that a command sets."""
        for name in names:
            self.state.forget(name, at)
        return UNKNOWN

    def do_fill(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `mapfile` and `getopts`: the names among the words become unknown."""
        for word in words[1:]:
            if word.text and word.text.isidentifier():
                self.state.forget(word.text, word.at)
        return self.forget_words(("OPTARG", "OPTIND") if words[0].text == "getopts" else (), words[0].at)

    def do_printf(self, words: Words, _before: Assignments, _feed: Parts | None) -> Truth:
        """Read `printf -v NAME`."""
        if len(words) > 2 and words[1].text == "-v" and words[2].text:
            self.state.forget(words[2].text.split("[")[0], words[2].at)
        return YES

    # Words

    def fields(self, *nodes: Node) -> tuple[Parts, ...]:
        """The words that nodes without a blank between them give."""
        reader = _WordReader(self, split=True)
        reader.read_touching(nodes)
        return reader.fields.finish()

    def value(self, *nodes: Node) -> Parts:
        """What nodes give where one value is wanted: behind `=`, in `[[ ]]`, in a heredoc."""
        fixed = self.fixed_word(nodes[0]) if len(nodes) == 1 else None
        if fixed is not None:
            return self.bounded(fixed.parts)
        reader = _WordReader(self, split=False)
        reader.read_touching(nodes)
        return self.bounded(reader.fields.single())

    def region(self, node: Node, start: int, stop: int, *, quoted: bool = False) -> Parts:
        """The value of the part of `node` between two offsets."""
        reader = _WordReader(self, split=False)
        reader.among(node.children, start, stop, quoted=quoted)
        return self.bounded(reader.fields.single())

    def words(self, *nodes: Node) -> Words:
        """The words that nodes without a blank between them give; one that is not split has the place of the nodes."""
        fixed = self.fixed_word(nodes[0]) if len(nodes) == 1 else None
        if fixed is not None:
            return (fixed,)
        found = self.fields(*nodes)
        if len(found) == 1:
            return (self.word(found[0], self.text.location(self.text.span(nodes[0])[0], self.text.span(nodes[-1])[1])),)
        return tuple(self.word(parts, None) for parts in found)

    def fixed_word(self, node: Node) -> Word | None:
        """The word that a node is, made once, if it is the same however often it is read, as most are; else None."""
        words, key = self.text.words, (node.start_byte, node.end_byte)
        if key not in words:
            words[key] = self.read_fixed(node)
        word = words[key]
        if word is None or self.depth > DEEPEST:
            return None
        self.budget.step()
        return word

    def read_fixed(self, node: Node) -> Word | None:
        """The word that a node is if nothing in it depends on the state of the shell."""
        pattern = _FIXED.get(node.type)
        if pattern is None or node.has_error or node.end_byte - node.start_byte > _LONGEST_FIXED:
            return None
        start, stop = self.text.span(node)
        quotes_ = 1 if node.type in ("string", "raw_string") else 0
        if pattern().fullmatch(self.text.string, start + quotes_, stop - quotes_) is None:
            return None
        return self.word(self.text.slice(start + quotes_, stop - quotes_), self.text.location(start, stop))

    # Parameters

    def expand(self, node: Node, at: Location, *, quoted: bool) -> Expanded:
        """What `$name` or `${...}` gives, which is at `at`."""
        start, stop = self.text.span(node)
        string = self.text.string
        if self.text.hidden(start, stop):
            return one((unknown(string[start:stop][:40], at, many=True),))
        if node.type == "simple_expansion":
            return self.look_up(string[start + 1 : stop], at, quoted=quoted)
        parameter = self.parameter(node, start, stop, at)
        if parameter is None:
            return one((unknown(string[start:stop][:40], at),))
        name, sign, simple = parameter.name, parameter.sign, parameter.operand == parameter.stop and not parameter.sign
        if parameter.prefix == "!":
            return self.indirect(parameter, quoted=quoted) if simple else one((unknown("!" + name, at),))
        found = self.look_up(name, at, parameter.subscript, quoted=quoted)
        if parameter.prefix == "#":
            return one(self.length(parameter, found) if simple else (unknown("#" + name, at),))
        if not sign:
            return found if simple else one((unknown(name, at),))
        if sign in (":-", ":=", ":+", ":?", "-", "=", "+", "?"):
            return self.with_default(parameter, found)
        if sign == ":":
            bounds = text_of(self.region(node, parameter.operand, parameter.stop))
            return values.sliced(name, found, [self.calculate_text(b) for b in bounds.split(":")] if bounds is not None else [None], at)
        return Expanded(tuple(self.changed(parameter, element) for element in found.elements), found.spread)

    def parameter(self, node: Node, start: int, stop: int, at: Location) -> Parameter | None:
        """The name in `${...}` and what is around it; None if it is of another form."""
        text = self.text.string
        if text[stop - 1] != "}" or (node.has_error and self.has_broken(node)):
            return None
        place, prefix = start + 2, ""
        if text[place] in "#!" and text[place + 1 : place + 2] not in ("}", "", ":", "-", "%"):
            prefix = text[place]
            place += 1
        match = _parameter_name().match(text, place)
        if match is None:
            return None
        end, subscript = match.end(), ""
        if text[end] == "[":
            child = next((child for child in node.children if child.type == "subscript"), None)
            if child is None:
                return None
            last = self.text.span(child)[1]
            index = text_of(self.region(child, end + 1, last - 1))
            if index is None:
                return None
            subscript, end = index.strip('"'), last
        sign = next((sign for sign in _OPERATORS if text.startswith(sign, end, stop - 1)), "")
        return Parameter(node, at, prefix, match.group(), subscript, sign, end + len(sign), stop - 1)

    def look_up(self, name: str, at: Location, subscript: str = "", *, quoted: bool = True) -> Expanded:
        """The value of a variable, an argument, an item or all items of an array."""
        arguments = self.state.arguments
        if name in ("@", "*"):
            if arguments is None:
                return Expanded(((unknown(name, at, many=True, default=True),),), spread=True)
            return values.all_of(arguments, name, at, quoted=quoted)
        if name == "#":
            open_, default = values.any_number(arguments)
            return one((unknown("#", at, default=default),) if open_ or arguments is None else (Part(str(len(arguments)), at, at),))
        if is_digits(name) and name != "0":
            number = whole_number(name)
            open_, default = values.any_number(arguments[:number] if arguments is not None else None)
            if open_ or arguments is None or number == 0:
                return one((unknown(name, at, default=default or not open_),))
            return one(arguments[number - 1] if number is not None and number <= len(arguments) else ())
        variable = self.state.variables.get(name)
        if variable is None:
            found = self.not_set(name, at)
            if subscript in ("@", "*") and name != "BASH_SOURCE":
                return Expanded((tuple(part._replace(many=True) for part in found),), spread=True)
            return one(found)
        if subscript in ("@", "*"):
            items = (variable.parts,) if variable.items is None else tuple(parts for _, parts in variable.items)
            if variable.items is None and variable.text is None:
                items = (tuple(part._replace(many=True) for part in variable.parts),)
            return values.all_of(items, subscript, at, quoted=quoted)
        return one(self.item(name, variable, subscript, at) if subscript else variable.scalar)

    def not_set(self, name: str, at: Location) -> Parts:
        """The value of a variable that the script never set: what the environment has, if it has any."""
        if name in ("0", "BASH_SOURCE"):
            return (unknown(name, at)._replace(path=self.text_path),)
        if name == "PWD" and self.state.folder.rooted:
            return (unknown(name, at)._replace(path=self.state.folder.path),)
        certain = name in _ALWAYS_SET or (name.startswith("SLURM_") and self.in_job)
        return (unknown(name, at, default=not certain and not self.state.forgotten),)

    def item(self, name: str, variable: Variable, subscript: str, at: Location) -> Parts:
        """One item of an array."""
        if variable.items is None:
            return variable.parts if subscript == "0" or variable.text is None else ()
        items = dict(variable.items)
        if subscript in items or any(not is_digits(key) for key in items):
            return items.get(subscript, ())
        number = self.calculate_text(subscript)
        if number is None:
            return (unknown(name, at),)
        listed = list(items.values())
        return items.get(str(number), listed[number] if -len(listed) <= number < 0 else ())

    def indirect(self, parameter: Parameter, *, quoted: bool) -> Expanded:
        """The value of the variable whose name a variable holds (`${!A}`), or the subscripts of an array (`${!A[@]}`)."""
        variable, at = self.state.variables.get(parameter.name), parameter.at
        if parameter.subscript in ("@", "*"):
            if variable is None or variable.items is None:
                return one((unknown("!" + parameter.name, at),))
            return Expanded(tuple((Part(key, at, at),) for key, _ in variable.items), spread=True)
        name = variable.text if variable is not None and not parameter.subscript else None
        if not name or not (name.isidentifier() or is_digits(name)):
            return one((unknown("!" + parameter.name, at),))
        return self.look_up(name, at, quoted=quoted)

    def length(self, parameter: Parameter, found: Expanded) -> Parts:
        """The number of characters or items."""
        name, every, at = parameter.name, found.parts, parameter.at
        if name in "@*" or parameter.subscript in ("@", "*"):
            variable = self.state.variables.get(name)
            known = (variable is not None and variable.items is not None) or (name in "@*" and self.state.arguments is not None)
            if any(part.text is None and (part.many or not known) for part in every):
                return (unknown("#" + name, at),)
            count, place = len(found.elements), hull([part.at for part in every]) or at
        else:
            text = text_of(every)
            if text is None:
                return (unknown("#" + name, at),)
            count, place = len(text), at
        return (Part(str(count), place, at, name, any(part.default for part in every)),)

    def with_default(self, parameter: Parameter, found: Expanded) -> Expanded:
        """The value, or what replaces an empty one: `:-`, `:=`, `:+`, `:?` and the same without colon."""
        variable, sign, at = self.state.variables.get(parameter.name), parameter.sign, parameter.at
        empty, default = emptiness(found.parts)
        if sign[0] != ":" and empty and not default and variable is not None and not variable.unset:
            empty = False  # a variable that is set to nothing is set
        if sign[-1] == "?":
            elements = (tuple(p._replace(default=p.default and p.text is not None) for p in parts) for parts in found.elements)
            return Expanded(tuple(elements), found.spread)
        if sign[-1] == "+":
            if empty is not False:
                return one(() if empty and not default else (unknown(parameter.name, at, many=True, default=default),))
        elif empty is False:
            return found
        other = self.region(parameter.node, parameter.operand, parameter.stop)
        if empty is None:
            return found
        other = lowered(other, at) if default else other
        if sign[-1] == "=" and parameter.name.isidentifier() and not parameter.subscript:
            self.state.assign(parameter.name, Variable(other))
        return one(other)

    def changed(self, parameter: Parameter, parts: Parts) -> Parts:
        """A value after `%`, `#`, `/`, `^`, `,`; unknown if the value, the pattern or the operator is."""
        node, at, sign, operand = parameter.node, parameter.at, parameter.sign, parameter.operand
        text, raw = text_of(parts), self.text.string[operand : parameter.stop]
        hidden = (unknown(parameter.name, at),)
        if text is None:
            folder = parts[0].path if len(parts) == 1 and sign == "%" and raw == "/*" else None
            return hidden if folder is None else (parts[0]._replace(path=folder.rpartition("/")[0], at=at, use=at),)
        middle = raw.find("/", 1) if sign in ("/", "//") else -1
        pattern = text_of(self.region(node, operand, parameter.stop if middle < 0 else operand + middle))
        if sign in ("/", "//"):
            new = "" if middle < 0 else text_of(self.region(node, operand + middle + 1, parameter.stop))
            if pattern is None or new is None or "$" in raw[: max(middle, 0)]:
                return hidden
            left = patterns.replaced(text, pattern, new, every=sign == "//")
            return hidden if left is None else values.with_text(parts, left, at)
        if pattern is None:
            return hidden
        if sign in ("^", "^^", ",", ",,"):
            return hidden if pattern else values.with_text(parts, values.with_case(text, sign), at)
        self.budget.step(1 + len(text) ** 2 * len(pattern) // 2000)
        stripped = values.stripped(parts, text, sign, pattern, at) if sign[0] in "%#" else None
        return hidden if stripped is None else stripped

    # Substitutions

    def substitute(self, node: Node) -> Parts:
        """What a command substitution gives; unknown if it needs a machine to run on."""
        at, raw = self.at(node), self.raw(node)
        parts = self.printed([child for child in node.children if child.is_named and child.type != "comment"], at)
        if parts is None:
            name = next((text for text in raw.lstrip("$(` \n").split() if "=" not in text), "")
            if name not in _PRINTERS and name not in self.functions and name not in filters.PATHS:
                self.subshell(node)  # `JOB=$(sbatch train.slurm)`
            return (unknown(raw if len(raw) <= 60 else raw[:57] + "...", at),)
        text = text_of(parts)
        if text is None:
            return parts
        stripped = text.rstrip("\n")
        if len(parts) == 1:
            return (parts[0].cut(0, len(stripped)),) if stripped else ()
        return (Part(stripped, at, at, default=any(part.default for part in parts)),) if stripped else ()

    def printed(self, nodes: list[Node], at: Location) -> Parts | None:
        """What statements print; None if that is unknown."""
        if len(nodes) != 1 or nodes[0].has_error:
            return None
        node = nodes[0]
        inside = [child for child in node.children if child.is_named]
        if node.type == "list":
            return self.printed_by_cd_and_pwd(inside, at)
        if node.type == "pipeline":
            return self.printed_by_pipeline(inside, at)
        if node.type == "redirected_statement":
            body = node.child_by_field_name("body")
            for redirect in node.children_by_field_name("redirect"):
                if redirect.type == "heredoc_redirect" and body is not None and self.raw(body) == "cat":
                    return self.heredoc(redirect) if len(redirect.children) <= 4 else None
            return self.printed([body], at) if body is not None and self.raw(node).endswith("/dev/null") else None
        return self.printed_by_command(node, at) if node.type == "command" else None

    def printed_by_cd_and_pwd(self, nodes: list[Node], at: Location) -> Parts | None:
        """What `cd FOLDER && pwd` prints."""
        if len(nodes) != 2 or not self.raw(nodes[1]).startswith("pwd"):
            return None
        body = nodes[0].child_by_field_name("body") if nodes[0].type == "redirected_statement" else nodes[0]
        if body is None or body.type != "command":
            return None
        words = self.argument_words(body)
        targets = [word for word in words[1:] if word.text not in ("-P", "-L", "--")]
        if not words or words[0].text != "cd" or len(targets) != 1:
            return None
        return filters.path_in_tree(self.moved(targets[0]), at)

    def argument_words(self, node: Node) -> Words:
        """The words of a command, without assignments and redirections."""
        wanted = [c for c in node.children if c.is_named and c.type not in ("variable_assignment", "herestring_redirect", "file_redirect")]
        return tuple(word for group in touching(wanted) for word in self.words(*group))

    def printed_by_command(self, node: Node, at: Location) -> Parts | None:
        """What one command prints; None if that is unknown."""
        words = self.argument_words(node)
        if not words or words[0].text is None:
            return None
        feed = next((child for child in node.children if child.type == "herestring_redirect"), None)
        if feed is not None:
            text = text_of(self.value(feed.children[-1]))
            out = filters.filtered(words, text + "\n") if text is not None else None
            return None if out is None else (Part(out, at, at),)
        name = words[0].text
        if name in filters.PATHS:
            return filters.PATHS[name](words, at, self.state.folder)
        if name in ("grep", "cat"):
            lines = self.lines_of_file(words)
            return None if lines is None else (Part(lines, at, at, note="the recipe"),)
        texts = [word.text for word in words if word.text is not None]
        single = words[1].parts if name == "echo" and len(words) == 2 else None
        if len(texts) < len(words):
            return single if not words[1].many else None
        out = filters.output_of(texts)
        if out is None or single is not None:
            return None if out is None else single
        return (Part(out, at, at, default=any(word.default for word in words)),)

    def printed_by_pipeline(self, nodes: list[Node], at: Location) -> Parts | None:
        """What a pipeline of simple filters prints."""
        if not nodes or any(node.type != "command" for node in nodes):
            return None
        first = self.printed_by_command(nodes[0], at)
        text = text_of(first) if first is not None else None
        if first is None or text is None:
            return None
        out: str | None = text if text.endswith("\n") else text + "\n"
        for node in nodes[1:]:
            out = filters.filtered(self.argument_words(node), out) if out is not None else None
        return None if out is None else (Part(out, at, at, default=any(part.default for part in first)),)

    def lines_of_file(self, words: Words) -> str | None:
        """The lines of one file of the tree that `grep` or `cat` prints; None if the file or the pattern cannot be read."""
        flags = [word.text for word in words[1:] if word.starts_with.startswith("-")]
        rest = [word for word in words[1:] if not word.starts_with.startswith("-")]
        wanted = 1 if words[0].text == "cat" else 2
        if len(rest) != wanted or any(flag not in ("-E", "-q", "-qE", "-Eq", "-h") for flag in flags):
            return None
        source = self.file(rest[-1])
        if source is None or len(source.text) > LONGEST_VALUE * 5:
            return None
        self.budget.write(len(source.text))
        if wanted == 1:
            return source.text
        pattern = filters.key_pattern(rest[0].text or "")
        if pattern is None:
            return None
        return "".join(line + "\n" for line in source.text.splitlines() if pattern.search(line[:1000]))


class _Variables:
    """The variables that an arithmetic expression asks for."""

    __slots__ = ("default", "depth", "interpreter", "unknown")

    def __init__(self, interpreter: Interpreter, default: bool, name: str) -> None:
        self.interpreter, self.default, self.unknown, self.depth = interpreter, default, name, 0

    def look_up(self, name: str) -> int | None:
        """The number that variable `name` holds, or the value of the expression that it holds."""
        variable = self.interpreter.state.variables.get(name)
        text = variable.text if variable else None
        if variable is None or text is None:
            if variable is not None and variable.unset:
                return 0
            self.unknown = self.unknown or name
            return None
        self.default = self.default or any(part.default for part in variable.scalar)
        if self.depth >= _DEEPEST_NAME:
            raise InvalidExpression
        self.depth += 1
        self.interpreter.budget.step(1 + len(text) // 8)
        value = evaluate(text, self.look_up, lambda _name, _value: None)
        self.depth -= 1
        return value


class _WordReader:
    """One word that is being read; with `split`, it may fall apart into several."""

    __slots__ = ("budget", "fields", "interpreter", "split", "text", "vanished")

    def __init__(self, interpreter: Interpreter, *, split: bool) -> None:
        separators = interpreter.state.variables.get("IFS")
        known = separators.text if separators else None
        self.interpreter, self.text, self.budget, self.split = interpreter, interpreter.text, interpreter.budget, split
        self.fields = Fields(BLANKS if known is None else known)
        self.vanished = False  # `"${A[@]}"` of no items gives no word instead of an empty one

    def read_touching(self, nodes: tuple[Node, ...]) -> None:
        """Read nodes that make one word."""
        if len(nodes) == 1:
            self.read(nodes[0], quoted=False)
            return
        inside = [child for node in nodes for child in _flat(node)]
        self.among(inside, self.text.span(nodes[0])[0], self.text.span(nodes[-1])[1], quoted=False)

    def read(self, node: Node, *, quoted: bool) -> None:
        """Read a node of any kind."""
        interpreter = self.interpreter
        self.budget.step()
        start, stop = self.text.span(node)
        at = self.text.location(start, stop)
        if interpreter.depth > DEEPEST:
            interpreter.stop(f"words within more than {DEEPEST} others", at)
            self.add_expanded((unknown("nested too deep", at),), at, quoted=quoted)
            return
        interpreter.depth += 1
        try:
            self.read_kind(node, start, stop, at, quoted=quoted)
        finally:
            interpreter.depth -= 1

    def read_kind(self, node: Node, start: int, stop: int, at: Location, *, quoted: bool) -> None:
        """Read a node from `start` to `stop` by its kind."""
        kind = node.type
        if node.is_error or node.is_missing:
            self.broken(at)
        elif kind == "raw_string":
            self.fields.add(self.text.slice(start + 1, stop - 1))
        elif kind == "ansi_c_string":
            self.fields.add((unknown("$'...'", at),))
        elif kind in ("string", "translated_string"):
            self.string(node, start, stop, at)
        elif kind in ("simple_expansion", "expansion"):
            self.parameter(node, at, quoted=quoted)
        elif kind == "arithmetic_expansion" or (kind == "command_substitution" and _is_arithmetic(self.text.string[start:stop])):
            self.add_expanded(self.interpreter.arithmetic_expansion(node), at, quoted=quoted)
        elif kind == "command_substitution":
            self.add_expanded(self.interpreter.substitute(node), at, quoted=quoted)
        elif kind == "process_substitution":
            self.fields.add((unknown("<(...)", at),))
        else:
            self.among(node.children, start, stop, quoted=quoted)

    def string(self, node: Node, start: int, stop: int, at: Location) -> None:
        """Read a text in double quotes."""
        self.vanished = False
        if node.children[-1].is_missing or len(node.children) < 2:
            self.broken(at)
            return
        self.among(node.children, start + (2 if self.text.string[start] == "$" else 1), stop - 1, quoted=True)
        if self.fields.growing is None and not self.vanished:
            self.fields.add(())

    def broken(self, at: Location) -> None:
        """Read broken syntax."""
        self.fields.add((unknown("broken syntax", at),))
        self.interpreter.note_syntax_error(at)

    def among(self, nodes: list[Node], start: int, stop: int, *, quoted: bool) -> None:
        """Read what is between two offsets: nodes, and the text between them."""
        place = start
        for child in nodes:
            if not child.is_error and child.child_count == 0 and child.type not in _LITERALS:
                continue
            first, last = self.text.span(child)
            if last <= start or first >= stop or (quoted and child.type in _LITERALS):
                continue
            if first < start or last > stop:  # only a part of the child is between the offsets
                self.among(child.children, max(start, first), min(stop, last), quoted=quoted)
                place = min(stop, last)
                continue
            self.literal(place, first, quoted=quoted)
            self.read(child, quoted=quoted)
            place = last
        self.literal(place, stop, quoted=quoted)

    def literal(self, start: int, stop: int, *, quoted: bool) -> None:
        """Read text as it is written."""
        if stop <= start:
            return
        text = self.text
        match = _overlooked().search(text.string, start, stop + 1)
        if match is not None and match.end() <= stop:
            self.literal(start, match.start(1), quoted=quoted)
            self.overlooked(match.start(1), stop, quoted=quoted)
            return
        parts = text.literal(start, stop, quoted)
        if quoted or not self.split:
            self.fields.add(parts)
            return
        raw = text.string[start:stop]
        if raw[0] == "~" and self.fields.growing is None and (len(raw) == 1 or raw[1] == "/"):
            self.fields.add((unknown("HOME", text.location(start, start + 1)),))
            parts = text.literal(start + 1, stop, quoted)
        if ("*" in raw or "?" in raw) and "\\" not in raw and "=" not in raw:
            self.fields.add(tuple(as_pattern(part) for part in parts))
            return
        choices = braces(parts) if "{" in raw and "\\" not in raw else [parts]
        self.budget.step(len(choices) - 1)
        self.fields.add_each(tuple(choices))

    def overlooked(self, start: int, stop: int, *, quoted: bool) -> None:
        """Read an expansion that the grammar took for text; one other than `$name` is unknown to its end."""
        text = self.text
        name = _plain_name().match(text.string, start, stop)
        if name is None or text.hidden(start, name.end()):
            self.fields.add((unknown(text.string[start:stop][:40], text.location(start, stop), many=not quoted),))
            return
        at = text.location(start, name.end())
        for element in self.interpreter.look_up(name.group(1), at).elements[:1]:
            self.add_expanded(element, at, quoted=quoted)
        self.literal(name.end(), stop, quoted=quoted)

    def parameter(self, node: Node, at: Location, *, quoted: bool) -> None:
        """Read `$name` or `${...}`."""
        found = self.interpreter.expand(node, at, quoted=quoted or not self.split)
        self.budget.write(sum(map(len, found.elements)) + len(found.elements))
        self.budget.step(len(found.elements) // 2)
        if not found.spread:
            self.add_expanded(found.elements[0] if found.elements else (), at, quoted=quoted)
        elif not self.split:
            self.fields.add(values.joined(found.elements, at))
        elif quoted:
            self.vanished = not found.elements
            self.fields.add_each(found.elements)
        else:
            self.vanished = not found.elements
            for number, element in enumerate(found.elements):
                if number:
                    self.fields.close()
                self.fields.add_split(element, at if len(found.elements) == 1 else None)

    def add_expanded(self, parts: Parts, at: Location, *, quoted: bool) -> None:
        """Add what an expansion at `at` gave."""
        self.budget.write(len(parts) + sum(len(part.text or "") for part in parts))
        if self.split and not quoted:
            self.fields.add_split(parts, at)
        elif any(blank in part.text for part in parts if part.text for blank in BLANKS):
            self.fields.add(parts)  # several words, perhaps a command: each keeps its place
        else:
            self.fields.add(tuple(part._replace(use=at) for part in parts))


def touching(nodes: list[Node]) -> list[list[Node]]:
    """Nodes in groups between which there are blanks: the grammar takes `$A/$B/c` for two words."""
    groups: list[list[Node]] = []
    for node in nodes:
        if groups and groups[-1][-1].end_byte == node.start_byte:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _flat(node: Node) -> list[Node]:
    """The nodes that a word is made of."""
    return [inner for child in node.children for inner in _flat(child)] if node.type in ("concatenation", "command_name") else [node]


def _start(words: Words, at: Location) -> Location:
    """The place of a command from its first word on, if other words come from variables set before (`$CMD $ARGS`)."""
    first = words[0].at if words else at
    if first.source != at.source or all(word.at.start >= first.start for word in words if word.at.source == at.source):
        return at
    return hull([word.at for word in words if word.at.source == at.source and word.at.start >= first.start]) or at


def _place_of(words: Words, at: Location) -> Location:
    """The place of words, from the first to the last, as far as they are within `at`."""
    found = hull([word.at for word in words if word.at.source == at.source and at.start <= word.at.start <= at.stop])
    return found or at


def _is_spread(word: Word) -> bool:
    """Whether a word is an unknown number of arguments."""
    return word.many and len(word.parts) == 1 and word.parts[0].name in ("@", "*", "array")


def _set_words(words: Words) -> Words:
    """`words` from the first that is one: a variable without quotes in front of them is none unless a user sets it."""
    start = next((i for i, word in enumerate(words) if not _is_unset(word)), 0)  # `$PROFILER python train.py`
    return words[start:]


def _is_unset(word: Word) -> bool:
    return word.many and not _is_spread(word) and all(part.text is None and part.default for part in word.parts)


def _place(key: str) -> int:
    """The number of an item by its subscript, -1 if that is a name, or larger than that of any array."""
    number = whole_number(key)
    return -1 if number is None else number


def _trimmed(parts: Parts) -> Parts:
    """`parts` without the white space around them."""
    kept = list(parts)
    for end, strip in ((0, str.lstrip), (-1, str.rstrip)):
        while kept and (text := kept[end].text) is not None:
            rest = strip(text)
            if rest:
                kept[end] = kept[end].cut(len(text) - len(rest), len(text)) if end == 0 else kept[end].cut(0, len(rest))
                break
            kept.pop(end)
    return tuple(kept)


def _is_arithmetic(raw: str) -> bool:
    """Whether this is `$(( ... ))`, which the grammar takes for a shell in a shell behind `:-`."""
    return raw.startswith("$((") and raw.endswith("))") and ";" not in raw and "|" not in raw


@lru_cache(16)  # broken syntax is asked for again behind each of its parts
def _may_assign(raw: str, every: bool) -> frozenset[str]:
    names = {match.group(1) for match in _assignment_in_text().finditer(raw)}
    if every:
        names |= {match.group(1) or match.group(2) for match in _counting().finditer(raw)}
    return frozenset(names)


_assignment_in_text = lazy_pattern(r"(?<!\w)([A-Za-z_]\w*+)(?:\[[^\]\[\n]{0,80}\])?\s*+(?:[-+*/%&|^]|<<|>>)?=(?!=)", re.ASCII)
_counting = lazy_pattern(r"(?:\+\+|--)\s*+([A-Za-z_]\w*+)|(?<!\w)([A-Za-z_]\w*+)\s*+(?:\+\+|--)", re.ASCII)
_word = lazy_pattern(r"[\w.-]+")
_names = lazy_pattern(r"\$\{?([A-Za-z_]\w*)", re.ASCII)
_key = lazy_pattern(r"\[[^\]\n]+\]=")
_assigning = lazy_pattern(r"[A-Za-z_]\w*\+?=", re.ASCII)
_parameter_name = lazy_pattern(r"[0-9]+|[^\W0-9]\w*|[@*#?$!-]")
_overlooked = lazy_pattern(r"(?<!\\)(?:\\\\)*(\$(?=[A-Za-z_{(0-9@*#?])|`)")
_plain_name = lazy_pattern(r"\$([A-Za-z_]\w*|[0-9])", re.ASCII)
_bare_text = lazy_pattern(r"[A-Za-z0-9_./:=,+@%-]+")
_string_text = lazy_pattern(r"[^\\$`]+")
_raw_text = lazy_pattern(r"(?s:.+)")
# The nodes that may be the same at each reading, with the characters that keep them so.
_FIXED: Final = {
    "word": _bare_text,
    "number": _bare_text,
    "command_name": _bare_text,
    "string": _string_text,
    "raw_string": _raw_text,
}
_STATEMENTS: Final[dict[str, Callable[[Interpreter, Node], Truth]]] = {
    "list": Interpreter.and_or, "pipeline": Interpreter.pipeline, "subshell": Interpreter.subshell,
    "compound_statement": Interpreter.compound, "test_command": Interpreter.compound, "negated_command": Interpreter.negated,
    "function_definition": Interpreter.define, "redirected_statement": Interpreter.redirected_statement,
    "command": Interpreter.command_statement, "variable_assignment": Interpreter.assign, "variable_assignments": Interpreter.children,
    "declaration_command": Interpreter.declare, "unset_command": Interpreter.unset, "if_statement": Interpreter.branch,
    "case_statement": Interpreter.case, "for_statement": Interpreter.for_each, "c_style_for_statement": Interpreter.count,
    "while_statement": Interpreter.while_loop,
}  # fmt: skip
_BUILTINS: Final[dict[str, Callable[[Interpreter, Words, Assignments, Parts | None], Truth]]] = {
    **dict.fromkeys(
        words_of(": true echo pwd trap shopt ulimit umask wait jobs alias unalias hash enable bind disown times complete fg bg"),
        Interpreter.do_nothing,
    ),
    "false": Interpreter.do_false, "test": Interpreter.do_test, "[": Interpreter.do_test, "exit": Interpreter.do_exit,
    "return": Interpreter.do_return, "break": Interpreter.do_break, "continue": Interpreter.do_break, "shift": Interpreter.do_shift,
    "set": Interpreter.do_set, "cd": Interpreter.do_cd, "pushd": Interpreter.do_cd, "source": Interpreter.do_source,
    ".": Interpreter.do_source, "eval": Interpreter.do_eval, "let": Interpreter.do_let, "read": Interpreter.do_read,
    "mapfile": Interpreter.do_fill, "readarray": Interpreter.do_fill, "getopts": Interpreter.do_fill, "printf": Interpreter.do_printf,
}  # fmt: skip
