"""The program that a launch starts: its name, its own file, and what that file imports.

`read` gives a file of the tree by its path.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.launches.found_launch import FoundLaunch
from pytest_gbs.launches.own_trainers import has_own_trainer, takes_prompts
from pytest_gbs.launches.python_file import (
    PythonFile,
    are_own,
    imported_paths,
    names_parser,
    parsed_into,
    paths_of,
    read_arguments,
    read_imports,
)
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import MOST_CANDIDATES, MOST_HANDED_ON, MOST_IMPORTED_MODULES, MOST_IMPORTS
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program import SCORING_COMMANDS, Program, only_scores
from pytest_gbs.model.program_context import Read
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.modules import module_paths

# `main.py mode=test_large`, a Hydra program's mode.
_SCORING_MODES: Final = frozenset(f"{key}={value}" for key in ("mode", "task", "action") for value in SCORING_COMMANDS)
_PLAIN: Final = sys.stdlib_module_names | {"hydra", "omegaconf"}
_trains = lazy_pattern(r"(?<!pre)train(?!able)|backward\(|optim(?!um)|\.fit\(|finetun|fine_tun", re.IGNORECASE)


def program_name(found: FoundLaunch) -> str:
    """The name of the program that runs: `trl/scripts/dpo` for that file and `trl.scripts.dpo`, `trl/dpo` for `trl dpo`."""
    words = found.start.program[:2]
    if words and words[0].text == "-m":
        return (words[1].text or "").replace(".", "/") if len(words) > 1 else ""
    called = found.start.name.split()
    if words and len(called) > 1 and words[0].text == called[-1]:
        return "/".join(called)
    if not words or words[0].text is not None:
        return (words[0].text or "").removesuffix(".py") if words else ""
    behind = words[0].parts[-1].text or ""  # what an unknown folder holds: `$HOME/pretrain_gpt.py`
    return behind.partition("/")[2].removesuffix(".py")


def scores_only(found: FoundLaunch) -> bool:
    """Whether the program of a launch evaluates, generates or converts, by its name, its module's packages, or a sub-command.

    `tune run generate`, `main.py test --config run.yaml`, as a program on Lightning's command line has it, and `main.py mode=test`.
    """
    folder, _, name = program_name(found).rpartition("/")
    is_module = any(word.text == "-m" for word in found.start.program[:1])
    behind = found.start.program[2 if is_module else 1 :]
    if only_scores(name, folder.replace("/", ".") if is_module else "") or (bool(behind) and behind[0].text in SCORING_COMMANDS):
        return True
    return any(word.text.partition("_")[0] in _SCORING_MODES for word in behind if word.text is not None)


def never_trains(program: str | None, read: Read) -> bool:
    """Whether the program at a path uses libraries, and no word of training is in its name or text, nor in those of its own files."""
    used = False
    for each in _with_imports(program, read):
        if each is None or each.file is None or _trains().search(each.source.path) or _trains().search(each.source.text):
            return False
        used = used or not _PLAIN.issuperset(name.partition(".")[0] for name in each.file.imports)
    return used


def program_source(found: FoundLaunch, read: Read) -> Source | None:
    """The program's own file; None if it is not in the tree, or can't be read."""
    return _source(found.program, read) if found.program is not None else None


def programs_of(found: FoundLaunch, read: Read) -> Iterator[tuple[Program, PythonFile | None]]:
    """Yield the program of a launch by name, then with what its file imports, and with what a file imports that only starts others.

    What a file imports says nothing of a sub-command that takes no class of arguments where others do.
    """
    path = found.program or ""
    yield Program(program_name(found), alone=True, path=path), None
    source = program_source(found, read)
    file = read_imports(source) if source is not None else None
    if source is None or file is None:
        return
    words = tuple(word.text for word in found.start.program[1:])
    classes = parsed_into(source, words)
    if classes is None:
        return
    parsed = read_arguments(source, classes, read)
    if parsed is not None:
        yield Program("", parsed.imports, alone=True, path=path), parsed
    elif are_own(source, classes) or _is_parsed_elsewhere(file, source, words, read):
        file = file._replace(parses_itself=True)
    yield Program("", file.imports, alone=True, path=path), file
    if file.thin:
        for inner in _imported_files(file, source.path, read):
            imported = read_imports(inner)
            file = file.together(imported) if imported is not None else file
        yield Program("", file.imports, alone=True, path=path), file
    if not classes and not file.parses_itself:  # a function of its own may be handed them: `parse_args(OwnTrainingArguments)`
        handed = read_arguments(source, tuple(sorted(name for name in file.imports if name.endswith("TrainingArguments"))), read)
        if handed is None:
            handed = _parsed_by_another(source, file, read)
        if handed is not None:
            yield Program("", handed.imports, alone=True, path=path), handed


def _is_parsed_elsewhere(file: PythonFile, source: Source, words: tuple[str | None, ...], read: Read) -> bool:
    """Whether a program without a parser imports a file that has one, and none of those parses into a class of a framework."""
    if file.parses_itself or names_parser(file.imports):
        return False
    own = False
    for inner in _imported_files(file, source.path, read, "ArgumentParser"):
        classes, imported = parsed_into(inner, words), read_imports(inner)
        if classes and read_arguments(inner, classes, read) is not None:
            return False
        own = own or are_own(inner, classes or ()) or (imported is not None and imported.parses_itself)
    return own


def _imported_files(file: PythonFile, path: str, read: Read, word: str = "") -> Iterator[Source]:
    """Yield the first files of the tree that `file`, at `path`, imports and that have `word` in their text."""
    found = (inner for each in imported_paths(file, path) if (inner := _source(each, read)) is not None and word in inner.text)
    yield from islice(found, MOST_IMPORTED_MODULES)


def _parsed_by_another(source: Source, file: PythonFile, read: Read) -> PythonFile | None:
    """The classes into which a function that a program imports parses the command line: `get_arguments`, whatever module hands it on."""
    for name in sorted(each for each in file.imports if _of_arguments().search(each))[:MOST_HANDED_ON]:
        module, imports = source, file.imports
        for _ in range(MOST_HANDED_ON):
            asked = next((each for each in sorted(imports) if each.rpartition(".")[2] == name.rpartition(".")[2]), "")
            paths = module_paths(asked.rpartition(".")[0] or ".", module.path.rpartition("/")[0]) if asked else ()
            inner = next((each for path in paths if (each := _source(path, read)) is not None), None)
            imported = read_imports(inner) if inner is not None else None
            if inner is None or imported is None:
                break
            if classes := parsed_into(inner, ()):
                return read_arguments(inner, classes, read)
            module, imports = inner, imported.imports
    return None


_of_arguments = lazy_pattern(r"\.(?=\w*(?:arg|pars))[a-z_]\w*$")


def starts_engine(program: str | None, read: Read) -> bool:
    """Whether the program at a path starts DeepSpeed itself, in one of its own files, and none of these takes a library's trainer."""
    starts = False
    for each in _with_imports(program, read):
        if each is None or any(not paths and "Trainer" in name.rpartition(".")[2] for name, paths in each.own.items()):
            return False
        starts = starts or (each.file is not None and "deepspeed.initialize(" in each.source.text)
    return starts


class _Imported(NamedTuple):
    """A file of a program, `file` None if Python's parser refuses it, and where of the tree all that it imports may be."""

    source: Source
    file: PythonFile | None
    own: dict[str, list[str]]


def _with_imports(program: str | None, read: Read) -> Iterator[_Imported | None]:
    """Yield the file at `program` and those of the tree that it imports, these with theirs; at last None if there are too many."""
    waiting, seen, left = [program] if program is not None else [], set[str](), MOST_IMPORTS
    while waiting:
        if left < 0 or len(seen) >= MOST_CANDIDATES:
            yield None
            return
        path = waiting.pop(0)
        source = _source(path, read) if path not in seen else None
        if source is None:
            continue
        seen.add(path)
        file = read_imports(source)
        imports = file.imports if file is not None else frozenset[str]()
        left -= len(imports)
        own = {name: _own_files(path, name, read) for name in imports} if left >= 0 else {}
        yield _Imported(source, file, own)
        waiting += (each for paths in own.values() for each in paths)


def has_another_trainer(path: str, framework: Framework, read: Read) -> bool:
    """Whether a program takes a library's trainer, and nothing of `framework`, whose keys it may compose to evaluate the model with."""
    source, how = _source(path, read), framework.recognition
    file = read_imports(source) if source is not None else None
    if file is None or not how.uses or names_trainer(framework) or Program("", file.imports).is_of(how.programs, how.uses):
        return False
    trainers = (name for name in file.imports if name.rpartition(".")[2].endswith("Trainer"))
    return any(not _own_files(path, name, read) for name in trainers)


def trains_itself(found: FoundLaunch, framework: Framework, read: Read) -> bool:
    """Whether the program of a launch has a trainer of its own in the place of one of the framework's that checks something."""
    tables = (framework, *(era.table for era in framework.eras))
    if found.missing or not any(each.by_trainer or each.doubt for table in tables for each in table.constraints):
        return False
    source = program_source(found, read)
    return source is not None and has_own_trainer(source, framework, read)


def own_groups(found: FoundLaunch, document: Document, framework: Framework, read: Read) -> Program | None:
    """Under which name a table has the trainer of a program that makes groups of completions otherwise than the framework's; else None."""
    source = program_source(found, read) if any(row.name == Name.NUM_GENERATIONS for row in framework.rows) else None
    vllm = document.keyed.get(("use_vllm",))
    by_vllm = vllm is not None and isinstance(vllm[1], Scalar) and vllm[1].text.lower() == "true"
    own = source is not None and takes_prompts(source, framework, read, by_vllm=by_vllm)
    return Program("own_trainer/groups_of_prompts", alone=True) if own else None


def names_trainer(framework: Framework) -> bool:
    """Whether programs of a framework import a trainer, which says what they do; what imports a package may as well evaluate."""
    return any("." in each for each in framework.recognition.uses)


def _own_files(path: str, name: str, read: Read) -> list[str]:
    """The files of the tree that `name`, which the file at `path` imports, may be in."""
    return [each for each in paths_of(name, path.rpartition("/")[0]) if _source(each, read) is not None]


def _source(path: str, read: Read) -> Source | None:
    source = read(path)
    return source if isinstance(source, Source) else None
