"""Files that a command names and that the repository does not have, and flags that never reach a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property
from typing import Final

from pytest_gbs.arithmetic.near_miss import nearest
from pytest_gbs.files.gitignore import IgnoreFile
from pytest_gbs.files.regular import NOT_THERE
from pytest_gbs.model.command import Command, Script, Word
from pytest_gbs.model.document import CONFIGURATIONS, SCRIPTS
from pytest_gbs.model.launch import LostFlags, MissingFile
from pytest_gbs.model.limits import MOST_NAMES_COMPARED
from pytest_gbs.model.location import Source, Tree, Unreadable, below, grouped, upwards

_READ: Final = (*CONFIGURATIONS, *SCRIPTS, ".py")
# Options of Hydra programs, which look for files in folders of their own.
HYDRA: Final = frozenset(("--config-name", "-cn", "--config-path", "-cp", "--config-dir", "-cd"))
# Parts of options that name a file which is read, not written; an option of another name may name either.
_NAMES_INPUT: Final = ("conf", "deepspeed", "recipe", "yaml")
# Words of paths that stand for the reader's own.
_STANDS_FOR: Final = re.compile(r"(?i)(?:^|[/_.-])(?:path|to|your|my|example|some|xxx+|foo|bar|placeholder|todo)(?:[/_.-]|$)")
# What may make a file while the script runs, in the line that names it.
_MAKES: Final = re.compile(
    r">|\b(?:cp|mv|ln|tee|sed|cat|curl|wget|tar|unzip|envsubst|git|rsync|scp|touch|mktemp|download|generate|create|write|jq|yq|-o|--out\w*)\b"
)
# What writes to a file whose name comes from a variable: a redirection to it, or one of these words before it on its line.
_TO_A_VARIABLE: Final = re.compile(r">\s*[\"']?\$")
_WRITES: Final = re.compile(r"\b(?:tee|cp|mv|ln|touch|-o|--out\w*)\b")
# Parts of the names of programs that train; any other plain Python program may read a file that a run made.
_TRAINS: Final = re.compile(r"(?i)train|tun(?:e|ing)|sft|dpo|grpo|ppo|kto|orpo|rlhf|rlvr|launch")
_WORDS_APART: Final = 2  # that a name and the one that was meant may differ by


class MissingFiles:
    """Finds the files that commands name and that a tree does not have; `paths` are those that it has."""

    def __init__(self, tree: Tree, paths: Collection[str], candidates: Callable[[str, Command, Script], Iterator[str]]) -> None:
        self._tree = tree
        self._paths = paths
        self._candidates = candidates
        self._looked_up: dict[str, tuple[str, bool]] = {}
        self._left = MOST_NAMES_COMPARED
        self._writing: tuple[str, str, bool] | None = None  # of the script at hand: its path, its lines that may make files, and so on

    def of(self, command: Command, script: Script) -> Iterator[MissingFile]:
        """Yield the files that `command` names and that are not there, if it is known from which folder it starts."""
        named = list(_named(command))
        if len(named) < 2 or _is_another_program(command, named):  # nothing else shows where it starts
            return
        bases = [base for text, _ in named for base in self._bases(text, command, script)]
        for text, word in named if bases else ():
            base = bases[0]
            path = below(base, text)
            if path is None or any(each in self._paths or self._is_there(each) for each in self._candidates(text, command, script)):
                continue
            if not _STANDS_FOR.search(text) and not self._may_be_made(text, word, script) and not self._is_ignored(path):
                meant, kept_here = self._look_up(path)
                if meant or (kept_here and "/" in text):
                    yield MissingFile(text, word.at, word.value_at, meant)

    def _look_up(self, path: str) -> tuple[str, bool]:
        """The name that was probably meant by `path`, "" if none is known, and whether files of its kind are in its folder."""
        if path not in self._looked_up:
            folder, _, name = path.rpartition("/")
            suffix = name[name.rindex(".") :]
            siblings = tuple(self._folders.get(folder, ()))
            compared = siblings or tuple(self._by_suffix.get(suffix, ()))
            self._left -= len(compared)
            meant = "" if self._left < 0 else _meant(name, siblings) if siblings else nearest(path, compared) or ""
            self._looked_up[path] = meant, self._left >= 0 and any(each.endswith(suffix) for each in siblings)
        return self._looked_up[path]

    def _bases(self, text: str, command: Command, script: Script) -> Iterator[str]:
        """Yield the folder from which `command` finds the file at `text`."""
        for path in self._candidates(text, command, script):
            if path in self._paths:
                yield path[: -len(text)].rstrip("/") if path.endswith(text) else ""
                return

    def _is_there(self, path: str) -> bool:
        found = self._tree.read(path)
        return not (isinstance(found, Unreadable) and found.reason in NOT_THERE)

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        """The names of the files right in each folder."""
        return grouped((folder, name) for folder, _, name in (path.rpartition("/") for path in self._paths))

    @cached_property
    def _by_suffix(self) -> dict[str, list[str]]:
        """The paths of the files with each suffix."""
        return grouped((path[path.rfind(".") :], path) for path in self._paths)

    def _may_be_made(self, text: str, word: Word, script: Script) -> bool:
        """Whether a line of the script may make the file: it names it, or any variable if one gives it, where it writes."""
        if self._writing is None or self._writing[0] != script.path:
            self._writing = script.path, *self._written(script)
        _, lines, to_a_variable = self._writing
        return ("$" in word.raw and to_a_variable) or text.rpartition("/")[2] in lines

    def _written(self, script: Script) -> tuple[str, bool]:
        """The lines of a script that may make a file, and whether one of them writes to a file whose name comes from a variable."""
        source = self._tree.read(script.path)
        lines = source.text.splitlines() if isinstance(source, Source) else []
        to_a_variable = any(_TO_A_VARIABLE.search(line) or _WRITES.search(line, 0, max(0, line.rfind("$"))) for line in lines)
        return "\n".join(line for line in lines if _MAKES.search(line)), to_a_variable

    def _is_ignored(self, path: str) -> bool:
        """Whether a `.gitignore` leaves `path` out, so that it need not be in the repository."""
        for folder in ("", *upwards(path.rpartition("/")[0])):
            source = self._tree.read(f"{folder}/.gitignore".lstrip("/"))
            ignored = IgnoreFile(source.text, len(folder) + bool(folder)) if isinstance(source, Source) else None
            steps = [path, *upwards(path.rpartition("/")[0])]
            if ignored and any(ignored.says(step, step.rpartition("/")[2], step != path) for step in steps if step.startswith(folder)):
                return True
        return False


def _named(command: Command) -> Iterator[tuple[str, Word]]:
    """Yield the relative paths of files that `command` reads, as far as they are known and no variable is in them."""
    before = ""
    for word in command.words[1:]:
        option, equals, _ = word.starts_with.partition("=")
        option = before or (option if equals and option.startswith("-") else "")
        value = word.after(len(option) + 1) if equals and option and not before else word
        text = value.text or ""
        reads = not option or (option not in HYDRA and any(part in option for part in _NAMES_INPUT))
        if text.endswith(_READ) and reads and not text.startswith(("/", "~", "-")) and "=" not in text and "://" not in text:
            yield text.removeprefix("./"), value
        before = word.starts_with if word.starts_with.startswith("-") and not equals else ""


def _is_another_program(command: Command, named: list[tuple[str, Word]]) -> bool:
    """Whether `command` runs a program with plain Python, or with what a variable names, whose name does not say that it trains."""
    program = next((text for text, _ in named if text.endswith(".py")), "")
    first = command.words[0]
    plain = first.text is None or first.starts_with.rpartition("/")[2].startswith("python")
    return plain and _TRAINS.search(program) is None


def _meant(name: str, names: tuple[str, ...]) -> str:
    """The one name that `name` was probably meant to be: a few letters apart, or a word or two; "" if none is."""
    alike = nearest(name, names)
    if alike is not None:
        return alike
    stem, _, suffix = name.rpartition(".")
    alike_in_words = (each for each in names if each.rpartition(".")[2] == suffix and _words(stem) & _words(each.rpartition(".")[0]))
    apart = sorted((len(_words(name) ^ _words(each)), each) for each in alike_in_words)
    certain = apart and apart[0][0] <= _WORDS_APART and (len(apart) == 1 or apart[0][0] < apart[1][0])
    return apart[0][1] if certain else ""


def _words(name: str) -> set[str]:
    return set(re.split(r"[._-]", name.lower()))


def lost_flags(text: str, command: Command, behind: Iterable[Command]) -> LostFlags | None:
    """The flags that the shell runs as commands of their own, since the line of `command` ends before them; None if none."""
    lost: list[Command] = []
    for each in behind:
        # What a variable holds is in the middle of a line.
        starts_line = not text[text.rfind("\n", 0, each.at.start) + 1 : each.at.start].strip()
        written = each.at.source == command.at.source and starts_line
        if not written or not each.words or not each.words[0].starts_with.startswith("--"):
            break
        lost.append(each)
    names = (word.starts_with.partition("=")[0] for each in lost for word in each.words)
    flags = tuple(name for name in names if name.startswith("--") and name != "--")
    if not flags:
        return None
    why = _why(text, command.at.stop, lost[0].at.start)
    first = lost[0].words[0].at  # where a variable gets it: that may be in another file
    at = first if first.source == command.at.source else lost[0].at
    return LostFlags(flags, why, at)


def _why(text: str, stop: int, start: int) -> str:
    """What ends the line of a command that stops at `stop`, where `start` is that of the flags behind it."""
    between, last = text[stop:start], text[text.rfind("\n", 0, stop) + 1 : start].partition("\n")[0]
    if last != last.rstrip() and last.rstrip().endswith("\\"):
        return "a blank behind its backslash"
    return "a comment behind it" if "#" in between else "an empty line behind it" if "\\" in between else "no backslash at its end"
