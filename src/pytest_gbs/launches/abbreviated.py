"""Flags that are short for others: argparse takes the beginning of an option for it, unless others begin so too.

transformers' parser, on which those of TRL and LLaMA-Factory are built, is one of argparse that allows it (TF hf_argparser.py,
HfArgumentParser).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pytest_gbs.launches.program_files import names_trainer
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import Source
from pytest_gbs.model.quantity import RANK_FACTORS
from pytest_gbs.readers.command_settings import CommandSetting

# By this key launches of the Trainer are recognised; no other of its options begins so.
_MICRO: Final = "per_device_train_batch_size"
_SHORTEST: Final = "per_device_train"


def recognisable(words: list[CommandSetting], program: Source | None) -> list[CommandSetting]:
    """`words` with the key of the Trainer's micro batch written out, unless `program` may have the short one itself."""
    return _renamed(
        words, {each.name: _MICRO for each in words if each.name.startswith(_SHORTEST) and _MICRO.startswith(each.name)}, program
    )


def written_out(words: list[CommandSetting], framework: Framework, program: Source | None) -> list[CommandSetting]:
    """`words`, each factor of the batch under the name that a Trainer of `framework` has for it, unless `program` may have it itself."""
    factors = [str(row.key[0]) for row in framework.rows if row.name in RANK_FACTORS and len(row.key) == 1]
    short = {word.name for word in words if word.name not in factors and any(name.startswith(word.name) for name in factors)}
    if not short or not names_trainer(framework):
        return words
    options = {name: name for name in (*factors, *framework.also)}
    return _renamed(words, {name: _meant(name, options) for name in short}, program)


def _renamed(words: list[CommandSetting], meant: dict[str, str], program: Source | None) -> list[CommandSetting]:
    own = {name for name in meant if program is not None and re.search(rf"\b{re.escape(name)}\b", program.text)}
    names = {name: option for name, option in meant.items() if option != name and name not in own}
    return [each._replace(path=(names[each.name],)) if each.name in names else each for each in words] if names else words


def spelled_out(words: list[CommandSetting], options: Mapping[str, str]) -> list[CommandSetting]:
    """`words` with the names under which a program keeps them: `-b` and `--batch` are `batch_size` if its parser says so."""
    names = {each.name: _meant(each.name, options) for each in words}
    return [each._replace(path=(name,)) if (name := names[each.name]) != each.name else each for each in words]


def _meant(flag: str, options: Mapping[str, str]) -> str:
    """The option that a flag is, or which it alone begins, as argparse has it."""
    meant = {name for each, name in options.items() if each.startswith(flag)} if flag not in options else {options[flag]}
    return meant.pop() if len(meant) == 1 else flag
