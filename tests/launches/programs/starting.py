"""What the tests of this folder share: what one command of a script starts, in a tree of a few files."""

from collections.abc import Callable, Iterator

from pytest_gbs.launches.programs import read_launcher_file, started
from pytest_gbs.model.command import Command, OtherFiles, Script, Word
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import LauncherContext, LauncherFile, Start
from pytest_gbs.model.location import Source
from pytest_gbs.model.quantity import Name, Quantity, Unknown
from pytest_gbs.readers import read as parse
from pytest_gbs.shell import read_commands

Files = dict[str, str]


def starts(text: str, files: Files | None = None, path: str = "run.sh") -> Iterator[tuple[Command, Start]]:
    """Yield what each command of a script starts."""
    held = {name: Source(name, content) for name, content in (files or {}).items()}
    script = read_commands(Source(path, text), OtherFiles(held.get, held.__contains__))
    for command in script.commands:
        start = started(command, LauncherContext(script, _files(held, script), _documents(held), _texts(held)))
        if start is not None:
            yield command, start


def start_of(text: str, files: Files | None = None) -> Start:
    """What the one launch of a script starts."""
    ((_, start),) = starts(text, files)
    return start


def sizes(start: Start) -> dict[str, int | str]:
    """The sizes of a start, the reason in place of one that is not known."""
    return {size.name: size.value if isinstance(size, Quantity) else size.reason for size in start.sizes}


def world(start: Start) -> int | str:
    """The world, or why it is not known."""
    return sizes(start)[Name.WORLD_SIZE]


def size_of(start: Start, name: str = Name.WORLD_SIZE) -> Quantity | Unknown:
    """Size `name` of a start."""
    return next(size for size in start.sizes if size.name == name)


def program(start: Start) -> list[str | None]:
    """The program and its arguments."""
    return [word.text for word in start.program]


def problems(start: Start) -> list[tuple[str, bool]]:
    """What a start says is wrong, and whether it stops."""
    return [(problem.message, problem.stops) for problem in start.problems]


def written(text: str, start: Start, name: str = Name.WORLD_SIZE) -> str:
    """The characters of the script at the place of size `name`."""
    at = size_of(start, name).at
    assert at is not None
    return text[at.start : at.stop]


def _files(held: dict[str, Source], script: Script) -> Callable[[Word, Command], LauncherFile | None]:
    def read(word: Word, command: Command) -> LauncherFile | None:
        source = _held(held, word, command) or _written(script, word)
        found = (read_launcher_file(document) for document in parse(source) if isinstance(document, Document)) if source else iter(())
        return next((file for file in found if file is not None), None)

    return read


def _documents(held: dict[str, Source]) -> Callable[[Word, Command], Document | None]:
    def read(word: Word, command: Command) -> Document | None:
        source = _held(held, word, command)
        return next((each for each in parse(source) if isinstance(each, Document)), None) if source else None

    return read


def _texts(held: dict[str, Source]) -> Callable[[Word, Command], str | None]:
    def read(word: Word, command: Command) -> str | None:
        source = _held(held, word, command)
        return source.text if source else None

    return read


def _held(held: dict[str, Source], word: Word, command: Command) -> Source | None:
    path = (word.path.path or "").removeprefix("./")
    inside = [*(command.folder.path or "").split("/"), *path.split("/")]
    steps: list[str] = []
    for step in inside:
        if step == ".." and steps:
            steps.pop()
        elif step not in ("", ".", ".."):
            steps.append(step)
    return held.get(path) or held.get("/".join(steps))


def _written(script: Script, word: Word) -> Source | None:
    """A file that the script writes itself, a variable in place of what can not be known."""
    for each in script.written:
        if each.path.text == word.text:
            return Source("written.yaml", "".join(part.text if part.text is not None else f"$({part.name})" for part in each.text.parts))
    return None
