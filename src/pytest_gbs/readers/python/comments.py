"""The comments of a program, and what each of its recipes has of them."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from functools import cache, cached_property

from pytest_gbs.model.document import CommentBlock, Keyed, Mapping
from pytest_gbs.model.location import KeyPath
from pytest_gbs.readers.owners import ABOVE, HEADER, TRAILING
from pytest_gbs.readers.python.program import Program


@cache
def _string_or_comment() -> re.Pattern[str]:
    """The pattern of strings and, as its group, comments: in a program that parses, a comment is what is not in a string."""
    triple = "|".join(rf"{sign}(?:\\.|[^\\])*?{sign}" for sign in ('"""', "'''"))
    single = "|".join(rf"{sign}(?:\\.|[^{sign}\\\n])*{sign}" for sign in ('"', "'"))
    return re.compile(rf"(#[^\r\n]*)|{triple}|{single}", re.DOTALL)


class ProgramComments:
    """The comments of a program, each with its line, and whether it has the line to itself."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def found(self) -> dict[int, tuple[int, str, bool]]:
        """The comments by their lines, in order: where each starts, its text, and whether it has the line to itself."""
        found: dict[int, tuple[int, str, bool]] = {}
        text, lines = self.program.text, self.program.lines
        for match in _string_or_comment().finditer(text):
            if match[1]:
                line = lines.line_of(match.start())
                found[line] = match.start(), match[1], not text[lines.starts[line - 1] : match.start()].strip()
        return found

    def of_call(self, node: ast.AST, keyed: Keyed, alone: bool) -> tuple[CommentBlock, ...]:
        """The comments within a call, right above it, behind or above what gives its values, and at the top of a file with one recipe."""
        comments = self.found
        text = (*self._prose(node), *self._docstring(node))
        if not comments and not text:
            return ()
        keys = self._keys(keyed)
        first: int = getattr(node, "lineno", 1)
        last: int = getattr(node, "end_lineno", first)
        numbers = list(comments)
        within = numbers[bisect_left(numbers, first) : bisect_right(numbers, last)]
        lines = {*within, *(keys.keys() & comments.keys())}
        parts = {line: [line] for line in lines}
        for line in keys:  # a comment above the field or the option whose default is the value
            over = self._above(line) if not first <= line <= last else []
            parts.update({over[0]: over} if over else {})
        below = sorted(keys)
        blocks = [self._block(each, *self._owner(each[-1], keys, below)) for _, each in sorted(parts.items())]
        above = self._above(first)
        if above:
            blocks.insert(0, self._block(above, None, HEADER))
        body = self.program.tree.body
        top = self._above(body[0].lineno if body else 1) if alone else []
        if top and top != above:
            blocks.insert(0, self._block(top, None, HEADER))
        return (*text, *blocks)

    def of_module(self, keyed: Keyed) -> tuple[CommentBlock, ...]:
        """All comments outside of functions, those behind a name its own."""
        keys = self._keys({path: entry for path, entry in keyed.items() if len(path) == 1}, values=False)
        below = sorted(keys)
        return tuple(self._block([line], *self._owner(line, keys, below)) for line in self.found)

    def _prose(self, node: ast.AST) -> tuple[CommentBlock, ...]:
        """The text of the cell right above the one of `node`, in a notebook, as a comment above it."""
        text, places = self.program.prose.get(self.program.cell(node), ("", ())) if self.program.cells else ("", ())
        return (CommentBlock(text, places, None, HEADER),) if places else ()

    def _docstring(self, node: ast.AST) -> tuple[CommentBlock, ...]:
        """What the docstring of a function says, as a comment above what it makes; examples of calls and commands say nothing of it.

        Nor does what it says of one value of an argument (`stage="sft": batch 256`), with the lines that are indented below it.
        """
        first = node.body[0] if isinstance(node, ast.FunctionDef) else None
        cases = tuple(f"{each.arg}=" for each in (*node.args.args, *node.args.kwonlyargs)) if isinstance(node, ast.FunctionDef) else ()
        constant = first.value if isinstance(first, ast.Expr) else None
        if not isinstance(constant, ast.Constant) or not isinstance(constant.value, str):
            return ()
        start = self.program.offset(constant.lineno, constant.col_offset)
        stop = self.program.offset(constant.end_lineno or constant.lineno, constant.end_col_offset or 0)
        texts: list[str] = []
        pieces: list[tuple[int, int]] = []
        length, case = 0, -1
        for line in self.program.text[start:stop].split("\n"):
            text = line.lstrip().lstrip("rRuU").lstrip("\"'") if not texts else line.lstrip()
            pieces.append((length, self.program.place(start + len(line) - len(text))))
            indent = len(line) - len(text)
            case = indent if text.startswith(cases) else case if not text or 0 <= case < indent else -1
            texts.append("" if case >= 0 or text.startswith((">>>", "...", "$")) else text.rstrip().rstrip("\"'"))
            length += len(texts[-1]) + 1
            start += len(line) + 1
        return (CommentBlock("\n".join(texts), tuple(pieces), None, HEADER),)

    def _keys(self, keyed: Keyed, values: bool = True) -> dict[int, KeyPath]:
        """The last key on each line of the program, where keys or the text of their values are."""
        found: dict[int, KeyPath] = {}
        for path, (key, value) in keyed.items():
            for node in (key, value)[: 1 + values]:
                if not isinstance(node, Mapping):
                    found[self._line(node.start)] = path
        return found

    def _line(self, place: int) -> int:
        """The line of the program that holds a place of the file."""
        places = self.program.places
        number = max(0, bisect_right(places, place, key=lambda each: each[1]) - 1)
        return self.program.lines.line_of(places[number][0] + place - places[number][1])

    def _owner(self, line: int, keys: dict[int, KeyPath], below: list[int]) -> tuple[KeyPath | None, str]:
        if not self.found[line][2]:
            return keys.get(line), TRAILING
        number = bisect_left(below, line)
        return (keys[below[number]] if number < len(below) else None), ABOVE

    def _above(self, line: int) -> list[int]:
        """The lines of the comment that ends right above `line`."""
        comments = self.found
        first = line
        while first - 1 in comments and comments[first - 1][2]:
            first -= 1
        return list(range(first, line))

    def _block(self, lines: list[int], owner: KeyPath | None, placement: str) -> CommentBlock:
        texts: list[str] = []
        pieces: list[tuple[int, int]] = []
        length = 0
        for line in lines:
            offset, raw, _ = self.found[line]
            text = raw.lstrip("#").lstrip()
            pieces.append((length, self.program.place(offset + len(raw) - len(text))))
            texts.append(text.rstrip())
            length += len(texts[-1]) + 1
        return CommentBlock("\n".join(texts), tuple(pieces), owner, placement)
