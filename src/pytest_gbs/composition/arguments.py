"""A recipe with the settings of a command line in it, or those settings alone, each value with its place."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

from pytest_gbs.composition._errors import CompositionError, LimitExceeded
from pytest_gbs.composition._from_document import from_document
from pytest_gbs.composition._interpolation_grammar import check_text
from pytest_gbs.composition._interpolations import Interpolations, Resolvers
from pytest_gbs.composition._nodes import MISSING, Branch, Budget, Leaf
from pytest_gbs.composition._override_grammar import parse_override
from pytest_gbs.composition._to_document import spelled, to_document
from pytest_gbs.composition._tokens import GrammarError, UnsupportedSyntax
from pytest_gbs.composition.composed import NOT_APPLIED, Composed
from pytest_gbs.model.document import Document, Node, Scalar
from pytest_gbs.model.framework import Arguments, Loader
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.readers.command_settings import CommandSetting
from pytest_gbs.readers.scalar import loader_of, resolve

# What int() of Python takes, as argparse converts with it.
_NUMBER: Final = r"[+-]?[0-9]+(_[0-9]+)*"
# What float() takes of the numbers that people write: `2e-5` is a number to a parser of arguments.
_FRACTION: Final = r"[+-]?([0-9]+\.[0-9]*|\.?[0-9]+)([eE][+-]?[0-9]+)?"
_LONGEST: Final = 18
_FEW: Final = 30  # keys of a document, or places, that are copied for each launch: what is looked up there is found sooner
_T = TypeVar("_T")


def with_settings(
    document: Document | None,
    path: str,
    settings: Iterable[CommandSetting],
    style: str,
    loader: str,
    *,
    resolvers: Resolvers | None = None,
    environment: Mapping[str, str] | None = None,
) -> Composed | None:
    """`document`, or nothing, with `settings` in it as the file at `path`; None if it can't be read as a mapping.

    `style` is how the program takes settings, one of `Arguments`. A value that can't be known is text that no number is.
    `resolvers` and `environment` are those of `Interpolations`.
    """
    budget = Budget()
    try:
        root = from_document(document, budget, loader) if document is not None else Branch(Location(path, 0, 0, ()))
        if not isinstance(root, Branch):
            return None
        for setting in settings:
            _put(root, setting, style, loader)
    except (CompositionError, LimitExceeded):
        return None
    interpolations = Interpolations(root, Budget(), resolvers, environment) if loader == Loader.OMEGACONF else None
    return to_document(root, path, (), (path,), interpolations)


def lay_over(base: Composed, settings: Iterable[CommandSetting], style: str, loader: str) -> Composed | None:
    """`base` with `settings` in it, as `with_settings` would have it, which shares all else with it: thousands of launches may do so.

    None if that takes composing: a setting is within a mapping, is an interpolation or takes the place of a collection. The document has
    no root.
    """
    keyed: dict[KeyPath, tuple[Node, Node]] = {}
    places: dict[KeyPath, Location] = {}
    for setting in settings:
        leaf, there = _leaf(setting, style, loader), base.document.keyed.get(setting.path)
        open_value = isinstance(leaf.value, str) and ("${" in leaf.value or leaf.value == MISSING)
        if len(setting.path) != 1 or open_value or (there is not None and not isinstance(there[1], Scalar)):
            return None
        name, (text, plain) = str(setting.path[0]), spelled(leaf.value)
        keyed[setting.path] = _scalar(name, False), _scalar(text, plain)
        places[setting.path] = leaf.at
    document = base.document._replace(root=None, keyed=_over(keyed, base.document.keyed))
    return base._replace(data={}, document=document, places=_over(places, base.places))


@lru_cache
def _scalar(text: str, plain: bool) -> Scalar:
    """A scalar that no file has; launches give the same flags and values again and again."""
    return Scalar(0, len(text), text, plain)


def _over(given: dict[KeyPath, _T], base: Mapping[KeyPath, _T]) -> Mapping[KeyPath, _T]:
    """What `given` has, and else `base`, which is not copied if it is large."""
    return {**base, **given} if len(base) <= _FEW else ChainMap(given, base)  # type: ignore[arg-type]


def _put(root: Branch, setting: CommandSetting, style: str, loader: str) -> None:
    branch = root
    for step in setting.path[:-1]:
        inner = branch.content.get(step)
        if not isinstance(inner, Branch):
            inner = Branch(setting.at)
            branch.put(step, inner)
        branch = inner
    if setting.path:
        branch.put(setting.path[-1], _leaf(setting, style, loader))


def _leaf(setting: CommandSetting, style: str, loader: str) -> Leaf:
    leaf = Leaf(_value(setting, style, loader), setting.at, setting.word.raw)
    return leaf if loader != Loader.OMEGACONF or _is_readable(leaf) else Leaf(NOT_APPLIED, setting.at, NOT_APPLIED)


def _is_readable(leaf: Leaf) -> bool:
    """Whether OmegaConf can parse the text of a setting; if not, this setting is unknown and the others are as they were."""
    try:
        check_text(leaf.value)
    except GrammarError:
        return False
    return True


def _value(setting: CommandSetting, style: str, loader: str) -> object:
    """The value of a setting as the program converts it."""
    text = setting.text
    if text is None:
        return setting.word.placeholder
    if setting.switch:
        return True
    if style == Arguments.FLAGS and len(text) <= _LONGEST:
        if re.fullmatch(_NUMBER, text):
            return int(text)
        if re.fullmatch(_FRACTION, text):
            return float(text)
    if style == Arguments.HYDRA:
        return _hydra_value(text)
    value = resolve(Scalar(0, len(text), text, plain=True), loader_of("yaml", loader))
    # `0x8` and `1:30` are numbers to YAML, but not to a parser of arguments.
    return text if style == Arguments.FLAGS and type(value) in (int, float) else value


@lru_cache(512)  # launches beside each other have most of their overrides alike
def _hydra_value(text: str) -> Any:
    """The value of an override in Hydra's grammar; the text itself if it is not a scalar."""
    try:
        value = parse_override(f"value={text}").value
    except UnsupportedSyntax:
        return NOT_APPLIED
    except GrammarError:
        return text
    return value if isinstance(value, bool | int | float | str) or value is None else text
