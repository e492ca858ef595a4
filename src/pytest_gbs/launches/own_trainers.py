"""Whether a program trains with a class of its own, which need not check what the trainer of the framework checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import MOST_IMPORTED_PATHS
from pytest_gbs.model.location import Source
from pytest_gbs.model.program_context import Read
from pytest_gbs.readers.python import read_class, read_trainers
from pytest_gbs.readers.python.modules import module_paths

# A class of the tree that is made from the framework's trainer and has a method of this name checks what it likes.
_VALIDATES: Final = ("_validate_config",)


# What in a class decides which samples come to a process, and what makes completions of them.
_SAMPLES: Final = frozenset(("_get_train_sampler", "get_train_dataloader"))
_COMPLETES: Final = frozenset(("compute_loss", "_prepare_inputs"))
_VLLM: Final = "vllm"


def has_own_trainer(program: Source, framework: Framework, read: Read) -> bool:
    """Whether a trainer that a program may use is a class of its tree, and neither the framework's nor made from it.

    One that validates in the place of the framework's counts as its own. `read` gives a file of the tree. What can't be followed counts as
    the framework's.
    """
    packages = _packages(framework)
    return any(_is_own(program, name, packages, read) for name in read_trainers(program))


def takes_prompts(program: Source, framework: Framework, read: Read, *, by_vllm: bool) -> bool:
    """Whether the trainer of a program gets prompts, each of which it makes a group of completions of, as TRL's did before 0.15.

    That is so for a class of its tree that is not made from the framework's and leaves it to transformers which samples it gets. Of two,
    one of them with vLLM in its name, the launch takes that `by_vllm`.
    """
    names = read_trainers(program)
    chosen = [each for each in names if (_VLLM in each.lower()) == by_vllm] or names
    found = [_names_in(program, each, _packages(framework), read) for each in chosen]
    return bool(found) and all(not each.isdisjoint(_COMPLETES) and each.isdisjoint(_SAMPLES) for each in found)


def _packages(framework: Framework) -> set[str]:
    recognition = framework.recognition
    return {each.partition(".")[0] for each in (*recognition.uses, *recognition.calls, framework.package)}


def _is_own(program: Source, name: str, packages: set[str], read: Read) -> bool:
    found = set[str]()
    for names in _ancestry(program, name, packages, read):
        if names is None:
            return False
        if not names.isdisjoint(_VALIDATES):
            return True
        found |= names
    return bool(found)


def _names_in(program: Source, name: str, packages: set[str], read: Read) -> set[str]:
    """The names in a class of the tree and in those that it is made from; none if it is made from one of the framework's."""
    found = set[str]()
    for names in _ancestry(program, name, packages, read):
        if names is None:
            return set()
        found |= names
    return found


def _ancestry(program: Source, name: str, packages: set[str], read: Read) -> Iterator[frozenset[str] | None]:
    """Yield the names in a class and in each that it is made from in the tree; None for one of `packages`, or that is not there."""
    pending, steps = [(program, name)], 0
    while pending and steps < MOST_IMPORTED_PATHS:
        steps += 1
        file, name = pending.pop()
        above, fields = read_class(file, name)
        yield fields if above or fields else None
        for each in above:
            module, _, last = each.rpartition(".")
            if module.partition(".")[0] in packages:
                yield None
            inner = _module(module, file, read) if module else file
            pending += [(inner, last)] if inner is not None else []


def _module(name: str, file: Source, read: Read) -> Source | None:
    """The file of the module that `file` imports as `name`; None if it is not in the tree."""
    found = (read(path) for path in module_paths(name, file.path.rpartition("/")[0]))
    return next((each for each in found if isinstance(each, Source)), None)
