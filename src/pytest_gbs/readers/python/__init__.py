"""Python programs and notebooks: read as text, never run or imported; each call that sets a batch size is a document."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from pytest_gbs.model.document import NOTEBOOK, Document
from pytest_gbs.model.location import Location, Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.schedule import Schedule
from pytest_gbs.readers.command_settings import CommandLine
from pytest_gbs.readers.python import documents
from pytest_gbs.readers.python.arguments import bases, parsed_classes
from pytest_gbs.readers.python.configurator import first_override
from pytest_gbs.readers.python.defaults import own_defaults
from pytest_gbs.readers.python.documents import (
    Executed,
    Started,
    document_of_comments,
    read_calls,
    read_documents,
    read_executed,
    read_launched,
)
from pytest_gbs.readers.python.engines import engines
from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.nodes import as_text
from pytest_gbs.readers.python.notebook import cell_at
from pytest_gbs.readers.python.program import parsed, read_program
from pytest_gbs.readers.python.results import Known
from pytest_gbs.readers.python.schedules import Schedules
from pytest_gbs.readers.python.values import Evaluator

_KEPT: Final = 64  # programs that the launches of a script start and that import one another; what is kept of each is small


def read_python(source: Source, context: ProgramContext | None = None) -> tuple[Document | Unreadable, ...]:
    """The documents of a Python file or a notebook, in the order of the text; why there are none where Python's parser refuses it."""
    program = read_program(source)
    return (program,) if isinstance(program, Unreadable) else tuple(read_documents(program, Modules(context)))


def read_started(source: Source, line: CommandLine, context: ProgramContext) -> tuple[Started, ...]:
    """The calls of a Python file that set a batch size, as they are when `line` starts it."""
    program = parsed(source)
    return () if program is None else tuple(read_launched(program, line, Modules(context)))


@lru_cache(_KEPT)
def executes_files(source: Source) -> bool:
    """Whether a program executes files over its own names, as nanoGPT's train.py does."""
    program = parsed(source) if "exec(" in source.text and "config" in source.text else None
    return program is not None and first_override(program.scopes) > 0


def read_executed_files(source: Source, files: list[Source]) -> Executed | None:
    """The names of a program with those of `files`, which it executes over them; None if it executes none, or one can't be read."""
    program, *others = (parsed(each) for each in (source, *files))
    if program is None or None in others:
        return None
    return read_executed(program, [each for each in others if each is not None])


def read_schedules(source: Source) -> tuple[tuple[Schedule, Document], ...]:
    """The learning-rate schedules that a program hands to accelerate, each with the comments in the call that makes it."""
    text = source.text
    if "Accelerator" not in text or "prepare" not in text or not ("get_scheduler" in text or "with_warmup" in text):
        return ()
    program = parsed(source)
    if program is None:
        return ()
    return tuple((each, document_of_comments(program, call)) for each, call in Schedules(program).found())


def read_calls_of(source: Source, package: str) -> tuple[Document, ...]:
    """The calls of classes of `package` in a Python file or a notebook, each with its keywords; none if Python's parser refuses it."""
    program = parsed(source)
    return () if program is None else tuple(read_calls(program, package))


class OwnDefault(NamedTuple):
    """What an option of a program's own parser is by default: its text, None if it is not known, and its place. None is `empty`."""

    text: str | None
    at: Location
    empty: bool


@lru_cache(_KEPT)
def read_own_defaults(source: Source) -> dict[str, OwnDefault]:
    """The options of a program's own parser, each with its default."""
    program = parsed(source)
    found = own_defaults(program) if program is not None else ()
    return {
        name: OwnDefault(as_text(value), Location(source.path, value.start, value.stop), isinstance(value, Known) and value.value is None)
        for name, value in found
    }


@lru_cache(_KEPT)
def read_spellings(source: Source) -> dict[str, str]:
    """The flags of a program's own parser, each with the name under which its value is kept: `b` for `batch_size`."""
    program = parsed(source)
    return Evaluator(program).spellings() if program is not None else {}


def read_tree(source: Source) -> ast.Module | None:
    """The syntax tree of a Python file; None if Python's parser refuses it."""
    program = parsed(source)
    return None if program is None else program.tree


@lru_cache(_KEPT)
def read_parsed(source: Source) -> dict[str, tuple[str, ...]]:
    """The names, as imported, of the classes into which a Python file parses its command line with a parser of transformers or TRL.

    They are by sub-command, "" for those of every command line.
    """
    program = parsed(source)
    return {} if program is None else parsed_classes(program.scopes)


def may_train_otherwise(source: Source, line: CommandLine) -> bool:
    """Whether a program that parses a trainer's arguments, started with `line`, may train with others, which it makes by itself."""
    program = parsed(source) if any(read_parsed(source).values()) else None
    return program is not None and documents.may_train_otherwise(program, line)


def read_set_arguments(source: Source, context: ProgramContext) -> Mapping[str, Location]:
    """The fields that a program may set itself of what a parser of transformers or TRL gives it, each with where; "" stands for any."""
    program = parsed(source) if any(read_parsed(source).values()) else None
    return dict(documents.set_arguments(program, Modules(context))) if program is not None else {}


@lru_cache(_KEPT)
def read_trainers(source: Source) -> tuple[str, ...]:
    """The names of trainers that a Python file looks up; those of modules (`trl.GRPOTrainer`) with dots."""
    program = parsed(source) if "Trainer" in source.text else None
    nodes = ast.walk(program.tree) if program is not None else ()
    return tuple(dict.fromkeys(name for node in nodes if _names_trainer().search(name := _looked_up(node))))


# `GRPOTrainer`, `GRPOTrainer_MP`, `GRPOTrainerModified`; not what transformers calls after its own.
_names_trainer = lazy_pattern(r"Trainer(?!Callback|Control|State|Memory|Utility|Args|Config)\w*$")


def _looked_up(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else ""


@lru_cache(_KEPT)
def read_engines(source: Source) -> tuple[frozenset[str], ...]:
    """The names of the arguments of each `deepspeed.initialize(...)` of a Python file; "" stands for `**` of what is not seen."""
    program = parsed(source) if "deepspeed" in source.text and "initialize(" in source.text else None
    made = engines(program.scopes) if program is not None else ()
    return tuple(frozenset(each.arg or "" for each in call.keywords) for call, _ in made)


@lru_cache(_KEPT)
def read_class(source: Source, name: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """What the class `name` of a Python file is made from, or imported as, and the fields to which it gives a value of its own."""
    program = parsed(source)
    return ((), frozenset()) if program is None else bases(program.scopes, name)


class Constant(NamedTuple):
    """A number or a text of a program, as text, and where it is."""

    text: str
    at: Location


@lru_cache(_KEPT)
def read_constants(source: Source) -> Mapping[str, Constant]:
    """The names that a program binds once, to a number or a text, outside of functions and branches; none if it can't be parsed."""
    program = parsed(source)
    found: dict[str, Constant] = {}
    for name, bindings in program.scopes.module.names.items() if program is not None else ():
        value = bindings[0].value if len(bindings) == 1 and bindings[0].branch is None and bindings[0].item < 0 else None
        if program is not None and isinstance(value, ast.Constant) and type(value.value) in (int, float, str):
            found[name] = Constant(str(value.value), Location(source.path, *program.span(value)))
    return found


def cell_words(source: Source, offset: int) -> str:
    """Where `offset` is in a notebook, as people count: "cell 5, line 2", "output of cell 5"; "" if it is in no cell, or no notebook."""
    found = cell_at(source, offset) if source.path.endswith(NOTEBOOK) else None
    number, line = found or (0, 0)
    return f"cell {number}, line {line}" if line else f"output of cell {number}" if number else ""
