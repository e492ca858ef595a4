"""Which scripts launch nothing however they are started, as their texts show: others start them often, and each start is work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from pytest_gbs.launches.programs import command_words
from pytest_gbs.model.command import Invocation, Word
from pytest_gbs.model.document import DOCUMENTS, RECIPES, SCRIPTS
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple

NOTHING_GIVEN: Final = Invocation()
_PYTHON: Final = "python"  # runs a file or a module that is named somewhere, or what it is given itself (`python -c`)


class _Text(NamedTuple):
    """What texts mention: a launcher, Python, a program for it.

    `open` is true if they include a file of which a part of the name is a variable, `indirect` if a variable is all of it.
    """

    launcher: bool = False
    python: bool = False
    program: bool = False
    open: bool = False
    indirect: bool = False


class _Mentioned(NamedTuple):
    """What texts mention, and the names of the files that they start or source."""

    mentions: _Text = _Text()
    names: tuple[str, ...] = ()


class IdleScripts:
    """The scripts of a tree, by what they mention; `read` gives a file, `named` the paths of those with a name.

    Each file is looked at once, and so is each name, whatever names it: thousands of scripts may name each other.
    """

    def __init__(self, read: Callable[[str], Source | None], named: Callable[[str], Sequence[str]]) -> None:
        self._read, self._named = read, named
        self._files: dict[str, _Mentioned] = {}
        self._names: dict[str, _Mentioned] = {}
        self._closures: dict[str, _Text] = {}

    def is_idle(self, source: Source, how: Invocation = NOTHING_GIVEN) -> bool:
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
        """What a script mentions, and the files that it names, and those that these name."""
        if source.path not in self._files:
            self._files[source.path] = self._of_text(source.text)
        own = self._files[source.path]
        if own.mentions.launcher:
            return own.mentions
        for name in own.names:
            if name not in self._closures:
                self._close(name)
            if self._closures[name].launcher:
                return self._closures[name]
        return _together([own.mentions, *(self._closures[name] for name in own.names)])

    def _close(self, start: str) -> None:
        """Find what can be reached from a name: what a file mentions, those mention as well that name it."""
        mentions = {start: self._name(start).mentions}
        above: defaultdict[str, list[str]] = defaultdict(list)
        names = [start]
        for name in names:
            for other in () if mentions[name].launcher else self._name(name).names:
                above[other].append(name)
                if other not in mentions:
                    mentions[other] = self._closures.get(other) or self._name(other).mentions
                    names += [other] if other not in self._closures else []
        pending = list(mentions)
        while pending:
            name = pending.pop()
            for other in above[name]:
                found = _together([mentions[other], mentions[name]])
                if found != mentions[other]:
                    mentions[other] = found
                    pending.append(other)
        self._closures.update(mentions)

    def _name(self, name: str) -> _Mentioned:
        """What all files of a name mention together."""
        if name not in self._names:
            found = [self._file(path) for path in self._named(name)]
            names = dict.fromkeys(other for each in found for other in each.names)
            self._names[name] = _Mentioned(_together([each.mentions for each in found]), tuple(names))
        return self._names[name]

    def _file(self, path: str) -> _Mentioned:
        if path not in self._files:
            source = self._read(path)
            self._files[path] = self._of_text(source.text) if source is not None else _Mentioned()
        return self._files[path]

    def _of_text(self, text: str) -> _Mentioned:
        found, names = _mentioned(text)
        every = names | _tokens(text) if found.indirect else names
        return _Mentioned(found, tuple(sorted(name for name in every if self._named(name))))


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
_scripts = lazy_pattern(rf"(?<![^\s;&|<>()=])[^\s;&|<>()=]*(?:{_ENDINGS})\b")  # from the start of a word alone: words may be long
_sourced = lazy_pattern(r"(?m)(?:^|[;&|({]|\b(?:then|do|else))[ \t]*(?:source|\.)[ \t]+([^\s;&|]+)")

__all__ = ["IdleScripts"]
