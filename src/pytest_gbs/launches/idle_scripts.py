"""Which scripts launch nothing however they are started, as their texts show: others start them often, and each start is work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pytest_gbs.launches.programs import command_words
from pytest_gbs.model.command import Invocation, Word
from pytest_gbs.model.document import DOCUMENTS, RECIPES, SCRIPTS
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple

_PYTHON: Final = "python"  # runs a file or a module that is named somewhere, or what it is given itself (`python -c`)


class _Text(NamedTuple):
    """What texts mention: a launcher, Python, a program for it.

    `open` is true if they take in a file of which a part of the name is a variable, `indirect` if a variable is all of it.
    """

    launcher: bool = False
    python: bool = False
    program: bool = False
    open: bool = False
    indirect: bool = False


class IdleScripts:
    """The scripts of a tree, by what they mention; `read` gives a file, `named` the paths of those with a name."""

    def __init__(self, read: Callable[[str], Source | None], named: Callable[[str], Sequence[str]]) -> None:
        self._read, self._named = read, named
        self._texts: dict[str, tuple[_Text, frozenset[str]]] = {}
        self._closures: dict[str, _Text] = {}

    def is_idle(self, source: Source, how: Invocation) -> bool:
        """Whether `source`, the scripts that it names, and what it is started with, mention nothing that launches."""
        own = self._closure(source)
        if own.launcher or own.open:
            return False
        text = "\n".join(_known(how))
        given, names = _mentioned(text)
        found = _together([own, given])
        if names or found.launcher or (found.python and found.program):
            return False
        return not (found.indirect and any(map(self._named, _tokens(text))))

    def _closure(self, source: Source) -> _Text:
        if source.path not in self._closures:
            found, pending = {source.path: source}, [source]
            texts: list[_Text] = []
            while pending and not (texts and texts[-1].launcher):
                each = pending.pop()
                text, names = self._mentioned(each)
                texts.append(text)
                for path in (path for name in names for path in self._named(name) if path not in found):
                    other = self._read(path)
                    if other is not None:
                        found[path] = other
                        pending.append(other)
            self._closures[source.path] = _together(texts)
        return self._closures[source.path]

    def _mentioned(self, source: Source) -> tuple[_Text, frozenset[str]]:
        if source.path not in self._texts:
            found, names = _mentioned(source.text)
            self._texts[source.path] = found, names | _tokens(source.text) if found.indirect else names
        return self._texts[source.path]


def _mentioned(text: str) -> tuple[_Text, frozenset[str]]:
    """What a text mentions, and the names of the files that it starts or sources."""
    words = [word for word in command_words() if word in text]
    paths = (*_scripts().findall(text), *_sourced().findall(text))
    names = [path.strip("\"'").rpartition("/")[2] for path in paths]
    indirect = [name for name in names if _variable().fullmatch(name)]
    is_open = any(sign in name for name in names for sign in "$}`*?)" if name not in indirect)
    launcher = any(word != _PYTHON for word in words)
    return _Text(launcher, _PYTHON in words, _program().search(text) is not None, is_open, bool(indirect)), frozenset(names)


def _tokens(text: str) -> frozenset[str]:
    """The words of a text that may be the name of a file to source."""
    return frozenset(token for token in _token().findall(text) if not token.endswith(_NEVER_SOURCED))


def _together(texts: list[_Text]) -> _Text:
    return _Text(*(any(each) for each in zip(*texts, strict=True))) if texts else _Text()


def _known(how: Invocation) -> Iterator[str]:
    """Yield the known parts of what a script is started with."""
    words: tuple[Word, ...] = (*how.arguments, *(each.value for each in how.environment), *(w for each in how.wrappers for w in each.words))
    for word in words:
        yield from (part.text for part in word.parts if part.text is not None)


_NEVER_SOURCED: Final = (*DOCUMENTS, *RECIPES, ".txt", ".csv")
_ENDINGS: Final = "|".join(map(re.escape, SCRIPTS))
_token = lazy_pattern(r"[\w.+-]+")
_variable = lazy_pattern(r"\$\{?\w+\}?")
_program = lazy_pattern(r"\.py\b|-m[ \t=]+[\"']?[A-Za-z_$]")
_scripts = lazy_pattern(rf"[^\s;&|<>()=]*(?:{_ENDINGS})\b")
_sourced = lazy_pattern(r"(?m)(?:^|[;&|({]|\b(?:then|do|else))[ \t]*(?:source|\.)[ \t]+([^\s;&|]+)")

__all__ = ["IdleScripts"]
