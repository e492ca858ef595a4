"""What scripts may launch of which a part was not read, judged by their texts: which programs, batch keys and files these mention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from pytest_gbs.files.words import LAUNCHING, MATTERING
from pytest_gbs.launches.path_finder import like
from pytest_gbs.model.document import CONFIGURATIONS, DOCUMENTS
from pytest_gbs.model.limits import LONGEST_NAME_PATTERN, MOST_NAME_PATTERNS
from pytest_gbs.model.location import Tree, Unreadable, by_name
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import Final, NamedTuple

# Of the programs that launch training, those that run anything else as well.
_ANY: Final = frozenset(("python", "srun", "mpirun", "mpiexec", "uv run", "ray job", "composer ", "swift "))
_UNKNOWN: Final = "\0"  # in the place of what a variable or a command gives
_QUOTES: Final = str.maketrans("", "", "\"'")


class Mentioned(NamedTuple):
    """What the text of a script mentions: programs, batch keys, the paths of scripts and of configuration files.

    `outright` are the configuration files whose names are in it, `possible` also those whose names are in it without their
    suffix, or fit a name with variables.
    """

    programs: frozenset[str] = frozenset()
    batch: bool = False
    scripts: tuple[str, ...] = ()
    outright: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()


class UnreadScripts:
    """What the scripts of a tree may launch; each text is searched once.

    Files are compared by name, without their folders, which may be variables.
    """

    def __init__(self, tree: Tree, paths: Sequence[str], scripts: Iterable[str]) -> None:
        self._tree = tree
        self._scripts = by_name(path for path in scripts if not path.lower().endswith(DOCUMENTS))
        self._configurations = by_name(path for path in paths if path.endswith(CONFIGURATIONS))
        self._bare: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._configurations:
            self._bare[name.rpartition(".")[0]].append(name)
        self._starts = frozenset(name[:stop] for name in self._configurations for stop in range(len(name) + 1))
        self._ends = frozenset(name[start:] for name in self._configurations for start in range(len(name) + 1))
        self._mentioned: dict[str, Mentioned] = {}
        self._possible: dict[str, frozenset[str]] = {}

    def may_launch(self, path: str) -> bool:
        """Whether the script at `path`, or one that it names, starts what trains, or any program beside a batch key or a recipe."""
        some, batch = False, False
        outright: dict[str, None] = {}
        for text in map(self._mentions, self._closure(path)):
            some, batch = some or bool(text.programs), batch or text.batch
            if not text.programs <= _ANY or (some and batch):
                return True
            outright.update(dict.fromkeys(text.outright))
        return some and any(_has_batch_key(self._text(each) or "") for each in outright)

    def launches(self, text: str) -> bool:
        """Whether a part of a script names a program that may train, or another script."""
        mentioned = self._read(text)
        return bool(mentioned.programs or mentioned.scripts)

    def may_name(self, path: str, recipe: str) -> bool:
        """Whether the script at `path`, or one that it names, may name `recipe`.

        Where the text of the script is not known, so is what it names if its bytes show that it launches training, else nothing.
        """
        if self._text(path) is None:
            problem = self._tree.read(path)
            return isinstance(problem, Unreadable) and problem.matters
        if path not in self._possible:
            self._possible[path] = frozenset(each for one in self._closure(path) for each in self._mentions(one).possible)
        return recipe in self._possible[path]

    def _closure(self, path: str) -> Iterator[str]:
        """Yield a script, those that it names, and those that they name."""
        found, pending = {path}, [path]
        while pending:
            each = pending.pop()
            yield each
            new = [other for other in self._mentions(each).scripts if other not in found]
            found.update(new)
            pending += new

    def _text(self, path: str) -> str | None:
        found = self._tree.read(path)
        source = found.source if isinstance(found, Unreadable) else found
        return source.text.replace("\0", "") if source is not None else None

    def _mentions(self, path: str) -> Mentioned:
        if path not in self._mentioned:
            text = self._text(path)
            self._mentioned[path] = self._read(text) if text is not None else Mentioned()
        return self._mentioned[path]

    def _read(self, text: str) -> Mentioned:
        names = {form for token in _token().findall(text) for form in (token, token.strip(".-+"))}
        outright = names & self._configurations.keys()
        bare = {form for token in _value().findall(text) for form in (token, token.strip(".-+"))} & self._bare.keys()
        possible = outright.union(self._fitting(text), *(self._bare[name] for name in bare))
        scripts = _paths(self._scripts, names & self._scripts.keys())
        configurations = (_paths(self._configurations, each) for each in (outright, possible))
        return Mentioned(frozenset(_programs().findall(text)), _has_batch_key(text), scripts, *configurations)

    def _fitting(self, text: str) -> Iterable[str]:
        """The configurations that fit a name with variables in it: `${size}_sft.yaml`; all if there are too many such names."""
        text = _given().sub(_UNKNOWN, _given().sub(_UNKNOWN, text.translate(_QUOTES)))
        words = {word[-LONGEST_NAME_PATTERN:] for word in _end().split(text) if _UNKNOWN in word}
        parts = [word.split(_UNKNOWN) for word in sorted(words) if word.strip(_UNKNOWN)]
        fitting = [each for each in parts if each[0] in self._starts and each[-1] in self._ends]
        if not fitting or len(fitting) > MOST_NAME_PATTERNS:
            return self._configurations if fitting else ()
        pattern = re.compile("|".join(like([part for known in each for part in (None, known)][1:]).pattern for each in fitting))
        return [name for name in self._configurations if pattern.fullmatch(name)]


def _paths(by_name: dict[str, list[str]], names: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for name in sorted(names) for path in by_name[name])


def _has_batch_key(text: str) -> bool:
    """Whether a key of a batch or a launch is in `text`."""
    return any(word in text for word in MATTERING)


@cache
def _programs() -> re.Pattern[str]:
    words = "|".join(re.escape(word) + ("(?![A-Za-z_])" if word[-1].isalnum() else "") for word in LAUNCHING)
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{words})")


_token = lazy_pattern(r"[\w.+-]+")
# Those that are no option (`--config`), no folder (`config/`), and nothing that a value is given to (`config=`).
_value = lazy_pattern(r"(?<![\w.+-])(?!-)[\w.+-]++(?![/=])")
# A variable, or what a command prints; one may be in another.
_given = lazy_pattern(r"\$(?:\{[^{}\n]*\}|\([^()\n]*\)|\w+)|`[^`\n]*`")
_end = lazy_pattern(r"[\s;|&()<>/=]+")
