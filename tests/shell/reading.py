"""What the tests of this folder share: a script read, its commands as lists of words."""

import textwrap

from pytest_gbs.model.command import Command, OtherFiles, Script, Word
from pytest_gbs.model.location import Location, Source
from pytest_gbs.shell import read_commands


def script(text: str, path: str = "run.sh", files: dict[str, str] | None = None) -> Script:
    """What a script runs, in a tree of `files`."""
    held = {name: Source(name, content) for name, content in (files or {}).items()}
    return read_commands(Source(path, text), OtherFiles(held.get, held.__contains__))


def commands(text: str, *programs: str) -> list[Command]:
    """The commands of a script that run one of `programs`, `foo` if none are given."""
    wanted = programs or ("foo",)
    return [command for command in script(text).commands if command.words[0].text in wanted]


def only(text: str) -> Command:
    """The one command `foo` of a script."""
    (found,) = commands(text)
    return found


def argv(command: Command) -> list[str | None]:
    """The texts of a command's words, None for what is unknown."""
    return [word.text for word in command.words]


def written(text: str, at: Location) -> str:
    """The characters of a place."""
    return text[at.start : at.stop]


def lines(text: str) -> str:
    """A script without the indentation of the test around it."""
    return textwrap.dedent(text).lstrip("\n")


def word_of(command: Command, option: str) -> Word:
    """The word behind an option."""
    texts = argv(command)
    return command.words[texts.index(option) + 1]


def paid(text: str) -> int:
    """How many statements and words it takes to read a script."""
    steps: list[int] = []
    read_commands(Source("run.sh", text), OtherFiles(lambda _: None, lambda _: False, steps.append))
    return sum(steps)
