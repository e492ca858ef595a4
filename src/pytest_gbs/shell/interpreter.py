"""A shell that reads a script instead of running it: one visitor of the syntax tree, whose statements, words and commands nest.

It is built in storeys, each a file that knows those below it alone: what is noted of a file (`reading`), its words
(`word_reading`), what they expand to (`expansion`), `conditions`, `assignments`, branches and loops (`control_flow`), what is started
(`launching`), the commands of the shell itself (`own_commands`), and here the statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Directive, Part, Stop, Word, Wrapper, Written, name_of, span_of_all, written_at
from pytest_gbs.model.document import SCRIPTS, CommentBlock
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import slurm, truth
from pytest_gbs.shell.comments import computed_size, divided_size
from pytest_gbs.shell.launching import is_spread, set_words
from pytest_gbs.shell.limits import DEEPEST, DEEPEST_CALL, TOO_LONG, Exhausted
from pytest_gbs.shell.own_commands import OWN_COMMANDS, OwnCommands
from pytest_gbs.shell.printing import PROGRAMS, only_prints
from pytest_gbs.shell.reading import Assignments, Frame, Function, Words
from pytest_gbs.shell.state import EXIT, RETURN, ShellState, join, unknown
from pytest_gbs.shell.text import Parts, ShellText
from pytest_gbs.shell.truth import EXPECTED, NO, UNKNOWN, YES, Truth
from pytest_gbs.shell.word_reading import touching
from pytest_gbs.shell.wrappers import joined_words, words_of

if TYPE_CHECKING:
    from tree_sitter import Node


_OUTERMOST: Final = 2  # the depth of a statement that is in no other
_REPEATED: Final = ("for_statement", "c_style_for_statement", "while_statement", "if_statement", "case_statement")
_REDIRECTS: Final = ("file_redirect", "heredoc_redirect", "herestring_redirect")
# Commands that ask a question; all others are expected to succeed.
_ASKING: Final = words_of("grep egrep fgrep rg command which type hash diff cmp test [ pgrep nvidia-smi nc curl ping")


# Commands that write what they read, but for words that they replace; a word of these shows that the sizes of a recipe are among them.
_COPYING: Final = words_of("cat envsubst sed")
_of_sizes = lazy_pattern(r"batch|accum|bsz|gpu|proc|node", re.IGNORECASE)
_RECIPES: Final = (".yaml", ".yml", ".json", ".toml")


class Input(NamedTuple):
    """The input that a command gets from a heredoc or a herestring, and the file its output goes to."""

    text: Parts | None = None
    file: Word | None = None
    adds: bool = False  # to what the file has


class Interpreter(OwnCommands):
    """A file that is read from its first statement to its last."""

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
            self.stop(f"statements nested more than {DEEPEST} deep", self.at(node))
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

    def children(self, node: Node) -> Truth:
        """Read the statements in a node."""
        return self.run_all(node.children)

    def broken(self, node: Node) -> Truth:
        """Pass over broken syntax: what it may have assigned is unknown from here on."""
        at, raw = self.at(node), self.raw(node)
        self.forget_in(raw, at)
        with self.maybe():
            for child in node.children:
                if child.type in _STATEMENTS and not self.state.over and child.type != "function_definition":
                    self.run(child)
                    self.forget_in(raw, at)
        self.state.over = ""
        return UNKNOWN

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
        groups = touching([child for child in body.children if child.is_named and child.type not in (*_REDIRECTS, "comment")], self.text)
        before = self.assignments(body)
        words = tuple(word for group in groups if group[0].type != "variable_assignment" for word in self.words(*group))
        words = (*words, *self.displaced(redirects))
        while before and words and _assigning().match(words[0].raw):  # behind `X=$A/$B/c` the grammar takes an assignment for a command
            self.state.forget(words[0].raw.split("=")[0].rstrip("+"), words[0].at)
            words = words[1:]
        at = _start(words, self.at(body))
        self.note_written(words, feed, at)
        words = self.noting_copies(words, feed, redirects)
        self.command = body
        return self.execute(words, before, feed, at)

    def assignments(self, body: Node) -> Assignments:
        """The variables set before a command."""
        groups = [
            group
            for group in touching([child for child in body.children if child.is_named], self.text)
            if group[0].type == "variable_assignment"
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
        adds = False
        for redirect in redirects:
            inside = [redirect]
            if redirect.type == "heredoc_redirect":
                text = self.heredoc(redirect)
                inside = [child for child in redirect.children if child.type == "file_redirect"]
            elif redirect.type == "herestring_redirect":
                named = [child for child in redirect.children if child.is_named]
                text, inside = self.value(named[-1]) if named else None, []
            file = next((target for each in inside if (target := self.output_file(each)) is not None), file)
            adds = adds or any(child.type == ">>" for each in inside for child in each.children)
        return Input(text, file, adds)

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

    def note_written(self, words: Words, feed: Input, at: Location) -> None:
        """Note the file that `cat > FILE <<EOF` or `tee FILE <<EOF` writes, and the script that `echo ... > FILE.sh` does."""
        name = name_of(words[0]) if words and not self.muted else ""
        text, target = feed.text, words[1] if name == "tee" and len(words) == 2 else feed.file
        if name == "echo" and text is None and target is not None and name_of(target).endswith(SCRIPTS):
            text = joined_words(words[2:] if len(words) > 1 and words[1].text in ("-e", "-n") else words[1:])
        if text is not None and target is not None and (name in ("echo", "tee") or (name == "cat" and len(words) == 1)):
            before = written_at(target, self.written) if feed.adds else None
            parts = self.added(before.text.parts, text, target.at) if before is not None else text
            self.written.append(Written(target, self.word(self.bounded(parts), None, at), at, self.state.folder))

    def noting_copies(self, words: Words, feed: Input, redirects: list[Node]) -> Words:
        """`words`, a file among them that was copied replaced by what it is a copy of; notes the recipe that a command makes of another.

        `envsubst < a.yaml > b.yaml`, `cp a.yaml b.yaml`: what is already at `b.yaml` in the tree is another file.
        """
        name = name_of(words[0]) if words and not self.muted else ""
        target = feed.file
        parts: Parts = (unknown(name, target.at),) if target is not None else ()
        if name == "cp" and len(words) == len(("cp", "a", "b")):
            target, parts = words[2], words[1].parts
        elif name in _COPYING and not any(_of_sizes().search(word.raw) for word in words):
            read = [each.child_by_field_name("destination") for each in redirects if [child.type for child in each.children[:1]] == ["<"]]
            parts = self.value(read[0]) if read and read[0] is not None else words[-1].parts
        if self.copies:
            known = (self.copies.get((word.text, self.state.folder)) for word in words)
            words = tuple(word if copied is None else self.word(copied, word.at) for word, copied in zip(words, known, strict=True))
        if target is not None and (target.text or "").endswith(_RECIPES) and feed.text is None and not feed.adds:
            self.copies[target.text, self.state.folder] = parts
        return words

    def note_printed(self, words: Words, feed: Input) -> None:
        """Note the batch size that `echo` prints and the script computes, outside of branches, loops and functions."""
        if feed.file is None and self.is_plain(words[0].at) and (block := computed_size(words[-1], self.sources)) is not None:
            self.note_size(words[0].at.start, block)

    def assign(self, node: Node) -> Truth:
        """Read `name=value`, and note the batch size that is divided to find an accumulation, outside of branches, loops and functions."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None and self.is_plain(self.at(node)):
            block = divided_size(self.raw(name), self.raw(value), self.state.variables, self.sources)
            if block is not None and block.pieces[0][1] < self.at(node).start:
                self.note_size(0, block)
        return super().assign(node)

    def is_plain(self, at: Location) -> bool:
        """Whether what is at a place runs once, outside of branches, loops and functions, and is in the file itself."""
        return not (self.muted or self.uncertain or self.state.unlikely or self.calls or self.loops) and at.source == self.text_path

    def note_size(self, key: int, block: CommentBlock) -> None:
        """Note what a script says of its batch, once for each key; what its tasks or parts have differently says nothing."""
        known = self.printed_sizes.setdefault(key, block)
        self.printed_sizes[key] = block if known == block else block._replace(text="")

    def added(self, before: Parts, text: Parts, at: Location) -> Parts:
        """A file to which a command adds lines; one that is too long gets no longer."""
        if any(part.name == TOO_LONG for part in before):
            return before
        self.budget.write(len(before), sum(len(part.text or "") for part in before))
        return (*before, Part("\n", at, at), *text)

    def execute(self, words: Words, before: Assignments, feed: Input, at: Location) -> Truth:
        """Do what a command does to the shell, or note it as one that runs."""
        if not words:
            for name, variable in before:
                self.state.assign(name, variable)
            return YES
        words = set_words(words)
        known = words[0].text or ""
        if known in self.functions:
            return YES if self.only_prints(known) else self.call(self.functions[known], words[1:], before)
        if known == "echo":
            self.note_printed(words, feed)
        builtin = OWN_COMMANDS.get(known)
        if builtin is not None:
            return builtin(self, words, before, feed.text)
        self.launch(words, {key: self.word(variable.scalar, None, at) for key, variable in before}, feed.text, at)
        if known == "exec" and len(words) > 1:
            self.state.over = EXIT
        if known == "grep":
            lines = self.lines_of_file(words)
            return UNKNOWN if lines is None else YES if lines else NO
        return UNKNOWN if name_of(words[0]) in _ASKING else EXPECTED

    def only_prints(self, name: str) -> bool:
        """Whether a function does nothing but print, itself and by those that it calls."""
        found, pending = {name}, [name]
        while pending:
            called = self.called_to_print(pending.pop())
            if called is None:
                return False
            pending += called - found
            found |= called
        self.budget.step(len(found) // 10)
        return True

    def called_to_print(self, name: str) -> frozenset[str] | None:
        """The functions that one calls which does nothing else but print; None if it does."""
        function = self.functions.get(name)
        if function is None or not PROGRAMS.isdisjoint(self.functions):  # `echo` may be one of the script's own
            return None
        if function not in self.printing:
            self.printing[function] = only_prints(function.body, function.text)
        return self.printing[function]

    def call(self, function: Function, words: Words, before: Assignments) -> Truth:
        """Read the body of a function with these arguments."""
        at = words[0].at if words else self.at_start
        if len(self.calls) >= DEEPEST_CALL:
            self.state.forget_all(at)
            if function not in (frame.function for frame in self.calls):  # one that calls itself was read
                self.stop(f"functions nested more than {DEEPEST_CALL} deep", self.at(self.command) if self.command else at)
            return EXPECTED
        arguments, text, loops = self.state.arguments, self.text, self.loops
        frame = Frame({}, [], function)
        for name, variable in before:
            frame.before.setdefault(name, self.state.variables.get(name))
            self.state.assign(name, variable._replace(exported=True))
        self.state.arguments = None if any(is_spread(word) for word in words) else tuple(word.parts for word in words)
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


def _start(words: Words, at: Location) -> Location:
    """The place of a command from its first word on, if other words come from variables set before (`$CMD $ARGS`)."""
    first = words[0].at if words else at
    if first.source != at.source or all(word.at.start >= first.start for word in words if word.at.source == at.source):
        return at
    return span_of_all([word.at for word in words if word.at.source == at.source and word.at.start >= first.start]) or at


_word = lazy_pattern(r"[\w.-]+")
_assigning = lazy_pattern(r"[A-Za-z_]\w*\+?=", re.ASCII)
_STATEMENTS: Final[dict[str, Callable[[Interpreter, Node], Truth]]] = {
    "list": Interpreter.and_or, "pipeline": Interpreter.pipeline, "subshell": Interpreter.subshell,
    "compound_statement": Interpreter.compound, "test_command": Interpreter.compound, "negated_command": Interpreter.negated,
    "function_definition": Interpreter.define, "redirected_statement": Interpreter.redirected_statement,
    "command": Interpreter.command_statement, "variable_assignment": Interpreter.assign, "variable_assignments": Interpreter.children,
    "declaration_command": Interpreter.declare, "unset_command": Interpreter.unset, "if_statement": Interpreter.branch,
    "case_statement": Interpreter.case, "for_statement": Interpreter.for_each, "c_style_for_statement": Interpreter.count,
    "while_statement": Interpreter.while_loop,
}  # fmt: skip
