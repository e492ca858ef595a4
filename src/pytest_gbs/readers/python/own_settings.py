"""The whole numbers that a program gives names in one place, beside its comments: fields of a class, names, items of a dictionary."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from pytest_gbs.model.document import PYTHON, Document, Keyed, Mapping, Scalar
from pytest_gbs.model.limits import MOST_DOCUMENTS
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.python.comments import ProgramComments
from pytest_gbs.readers.python.program import Program, read_program

# An accumulation with a number, and a comment with one.
_accumulates = lazy_pattern(r"""(?i)accum\w{0,40}["']?[ \t]{0,40}(?::[ \t]{0,40}int[ \t]{0,40})?[=:][ \t]{0,40}\d""")
_commented = lazy_pattern(r"(?i)#[^\r\n#]{0,300}?(?:batch|\bbs|effective|tokens)")


def read_own_settings(source: Source, names: frozenset[str]) -> Iterator[Document]:
    """Yield a document for each class, function, dictionary, call, and the module, of what it directly gives some of `names`.

    A name that the program binds several times says nothing.
    """
    text = source.text
    if not _accumulates().search(text) or not _commented().search(text):
        return
    program = read_program(source)
    if not isinstance(program, Program):
        return
    comments = ProgramComments(program)
    nodes = list(ast.walk(program.tree))
    fields = {id(at) for node in nodes if isinstance(node, ast.ClassDef) for _, at, _ in _given(node)}
    stored = (each for each in nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and id(each) not in fields)
    bound = Counter(each.id.lower() for each in stored)
    number = 0
    for node in nodes:
        given = [(name, at, value) for name, at, value in _given(node) if name in names]
        is_whole = isinstance(node, (ast.ClassDef, ast.Dict, ast.Call))
        if not is_whole:
            given = [each for each in given if bound[each[0]] == 1]
        if len({name for name, _, _ in given}) < max(2, len(given)):
            continue
        number += 1
        if number > MOST_DOCUMENTS:
            return
        entries = tuple(
            (Scalar(*program.span(at), name, False), Scalar(*program.span(value), str(value.value), True)) for name, at, value in given
        )
        keyed: Keyed = {(key.text,): (key, value) for key, value in entries}
        root = Mapping(entries[0][0].start, entries[-1][1].stop, entries)
        around = node if is_whole else given[0][1]
        yield Document(
            source, number, PYTHON, root, keyed, comments.of_call(around, keyed, alone=False), (), part=program.part(given[0][1])
        )


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.keyword, ast.Constant]]:
    """Yield what `node` directly gives a whole number: its name, where that is, and the number."""
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
        for each in node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
                yield from _whole(each.target.id, each.target, each.value)
            elif isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name):
                yield from _whole(each.targets[0].id, each.targets[0], each.value)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from _whole(key.value, key, value)
    elif isinstance(node, ast.Call):
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield from _whole(keyword.arg, keyword, keyword.value)


def _whole(name: str, at: ast.expr | ast.keyword, value: ast.expr) -> Iterator[tuple[str, ast.expr | ast.keyword, ast.Constant]]:
    if isinstance(value, ast.Constant) and type(value.value) is int and value.value > 0:
        yield name.lower(), at, value
