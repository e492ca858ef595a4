"""A command line as a script gives it: words that know where each of their characters came from, and what is unknown."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Final

from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Location, Source, below
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.record import NamedTuple


class Part(NamedTuple):
    """A run of characters of a word, or something unknown in their place.

    `text` is None if it depends on the machine, the environment or the arguments; `name` says on what (`NNODES`, `1`, `@`,
    `$(nproc)`). `at` is where the characters were given, an assignment or a directive, say; `use` is where the word takes
    them (`$NNODES`). `default` is true if a user can set another value without editing the script (`${NNODES:-1}`).
    `name` has then the variables and arguments that would do so, with a space between.
    An unknown that is a default is nothing when it is not set: an argument, a variable of the environment. `many` is true
    where an unknown may be any number of words (`"$@"`, an unquoted `$OPTIONS`). `path` is the path in the tree that an
    unknown names (`$(dirname "$0")`), with `./` in front where it is below the folder that the script was started in (`$PWD`).
    `pattern` is a pattern of file names, given here (`*.yaml`).
    `note` is what fixed the value where it is not an assignment (`#SBATCH --nodes`).
    """

    text: str | None
    at: Location
    use: Location
    name: str = ""
    default: bool = False
    many: bool = False
    path: str | None = None
    pattern: str = ""
    note: str = ""

    @property
    def exact(self) -> bool:
        """True if each character of the text is the character at the same distance in `at`."""
        return self.text is not None and self.at.stop - self.at.start == len(self.text)

    def cut(self, start: int, stop: int) -> Part:
        """The characters `start` to `stop` of a part that is known."""
        if self.text is None or (start <= 0 and stop >= len(self.text)):
            return self
        return self._replace(
            text=self.text[start:stop], at=_cut(self.at, len(self.text), start, stop), use=_cut(self.use, len(self.text), start, stop)
        )


def variables_of(parts: Iterable[Part]) -> tuple[str, ...]:
    """The variables and arguments whose defaults `parts` are, each once."""
    return tuple(dict.fromkeys(name for part in parts if part.default for name in part.name.split()))


def _cut(at: Location, length: int, start: int, stop: int) -> Location:
    """The place of a run of characters, which is the whole place where it is not as long as they are."""
    return Location(at.source, at.start + start, at.start + stop) if at.stop - at.start == length else at


_READ_BY_PARSERS: Final = str.maketrans("", "", "${}()[]'\"\\")


class Word(NamedTuple):
    """One word of a command: its text if all of it is known, its raw text, and where it is.

    `pieces` are None where the text stands there as it is: thousands of launches have dozens of such words.
    """

    text: str | None
    raw: str
    at: Location
    pieces: tuple[Part, ...] | None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The runs of characters that it is made of."""
        return (Part(self.text, self.at, self.at),) if self.pieces is None else self.pieces

    @property
    def value_at(self) -> Location:
        """The place to change for another value: where its only part was given, or the word itself."""
        parts = [part for part in self.pieces or () if part.text != ""]
        return parts[0].at if len(parts) == 1 else self.at

    @property
    def default(self) -> bool:
        """True if a user can set another value without editing the script."""
        return any(part.default for part in self.pieces or ())

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables and arguments that a user can set for another value; none if they have no names."""
        return variables_of(self.pieces or ())

    @property
    def many(self) -> bool:
        """True if it may be any number of words."""
        return any(part.many for part in self.pieces or ())

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The names of what keeps it from being known."""
        return tuple(part.name for part in self.pieces or () if part.text is None)

    @property
    def placeholder(self) -> str:
        """The text of an unknown value in a document: `$(NNODES)`, which is not a number and holds nothing that a parser would read."""
        return f"$({', '.join(self.unknowns).translate(_READ_BY_PARSERS)})"

    @property
    def note(self) -> str:
        """What fixed the value where it is not an assignment: `#SBATCH --nodes`."""
        return next((part.note for part in self.pieces or () if part.note), "")

    @property
    def starts_with(self) -> str:
        """The known text at its start: all of it, or what is before the first unknown."""
        if self.text is not None:
            return self.text
        known: list[str] = []
        for part in self.parts:
            if part.text is None:
                break
            known.append(part.text)
        return "".join(known)

    @property
    def path(self) -> Folder:
        """The path that it names: from the root of the tree, or from the folder where the command runs; None where unknown."""
        if self.text is not None:
            return Folder(self.text)
        parts = [part for part in self.parts if part.text != ""]
        rest = [part.text for part in parts[1:]]
        start = parts[0].path
        if start is None or None in rest:
            return Folder(None)
        whole = below(start, "".join(text or "" for text in rest).lstrip("/"))
        from_start = start.partition("/")[0] == "."
        return Folder(whole, rooted=not from_start, from_start=from_start)

    def after(self, count: int) -> Word:
        """The word without its first `count` characters, which must be known."""
        if self.pieces is None and self.text is not None and count < len(self.text):
            return Word(self.text[count:], self.raw, _cut(self.at, len(self.text), count, len(self.text)), None)
        left, kept = count, list[Part]()
        for part in self.parts:
            length = len(part.text or "")
            if part.text is not None and length <= left:
                left -= length
                continue
            kept.append(part.cut(left, length) if part.text is not None and left else part)
            left = 0
        at = span_of_all([part.use for part in kept]) or Location(self.at.source, self.at.stop, self.at.stop)
        return Word(self.text[count:] if self.text is not None else None, self.raw, at, tuple(kept))


def span_of_all(places: list[Location]) -> Location | None:
    """The span from the first to the last of `places`, all in the file of the first; None if there are none."""
    if not places:
        return None
    if len(places) == 1 and places[0].path is None:
        return places[0]
    same = [place for place in places if place.source == places[0].source]
    return Location(places[0].source, min(place.start for place in same), max(place.stop for place in same))


def plain_word(text: str, at: Location) -> Word:
    """A word that is `text`, all of it from `at`."""
    return Word(text, text, at, None)


class Assignment(NamedTuple):
    """A variable that a command finds in its environment."""

    name: str
    value: Word


class EnvironmentValue(NamedTuple):
    """What a variable is when a program starts: its text, None if unknown, whether a user can set it otherwise, and its place."""

    name: str
    text: str | None
    default: bool
    at: Location


class Directive(NamedTuple):
    """An option of `sbatch` that a script states itself; `value` is None for a switch, `at` the place of the value."""

    name: str
    value: str | None
    at: Location


class Folder(NamedTuple):
    """Where a command runs: `path` below the root of the tree where `rooted`, else below the folder it was started in.

    `path` is None if a script went somewhere that is unknown. What a word names is below the folder where its command runs, unless it
    is `from_start`: `ROOT=$PWD`, before a `cd`.
    """

    path: str | None = ""
    rooted: bool = False
    from_start: bool = False


class Wrapper(NamedTuple):
    """A command that runs another one (`srun`, `bash -c`, `nohup`): its own words, and the directives of a script it was given."""

    name: str
    words: tuple[Word, ...]
    at: Location
    directives: tuple[Directive, ...] = ()


class Machines(NamedTuple):
    """The machines that a job asks for: how many, and the GPUs of each; None if the job does not say it, or leaves a choice.

    `mounts` are the folders of the tree that they have elsewhere: `("/configs", "recipes/configs")`; what else they have may be
    `in_image`, which a Dockerfile of the tree may say.
    """

    nodes: Quantity | None = None
    gpus_per_node: Quantity | None = None
    mounts: tuple[tuple[str, str], ...] = ()
    in_image: bool = False


class Command(NamedTuple):
    """One command that a script runs.

    `environment` holds the variables it gets: those before it and the exported ones, as far as the script sets them.
    `conditional` is true if it may not run at all: in a branch, a loop or a function that is not known. `wrappers` are
    the commands around it, the outermost first. `context` says where in the file: a target of a Makefile, a code block.
    `meant` is true if no shell runs it, because quotes around it are broken, but the author means it. `machines` are those of
    the job that it is a part of, if a file describes one.
    """

    words: tuple[Word, ...]
    at: Location
    environment: tuple[Assignment, ...] = ()
    conditional: bool = False
    wrappers: tuple[Wrapper, ...] = ()
    folder: Folder = Folder()
    context: str = ""
    meant: bool = False
    machines: Machines | None = None

    @property
    def ends_with_args(self) -> bool:
        """True if the user of the script can add words: `"$@"`, or an unknown that is the value of no option."""
        return any(True for _ in self.open_words)

    @property
    def open_words(self) -> Iterator[Word]:
        """The words that may be any number of words, beside an unknown value behind an option."""
        before = ""
        for word in self.words:
            value = before.startswith("-") and "=" not in before and not {"@", "*"} & set(word.unknowns)
            if word.many and len([part for part in word.parts if part.text != ""]) == 1 and not value:
                yield word
            before = word.text or ""

    def variable(self, name: str) -> Word | None:
        """The value of `name` in the command's environment; None if the script does not set it."""
        return next((entry.value for entry in reversed(self.environment) if entry.name == name), None)


class Written(NamedTuple):
    """A file that a script writes itself: its path, and its text as one word."""

    path: Word
    text: Word
    at: Location
    folder: Folder = Folder()


def written_at(word: Word, written: Sequence[Written]) -> Written | None:
    """The last of the `written` files at the path of `word`, which need not be known whole as long as both say the same."""
    wanted = [(part.text, part.name) for part in word.parts if part.text != ""]
    for each in reversed(written):
        if wanted and [(part.text, part.name) for part in each.path.parts if part.text != ""] == wanted:
            return each
    return None


class OtherFiles(NamedTuple):
    """What a script sees of other files of the tree, by path: `read` gives one that it sources or searches, `has` whether there is one.

    `pay` is called with each number of statements and words that are read, and raises `Exhausted` if all scripts together have too many.
    """

    read: Callable[[str], Source | None]
    has: Callable[[str], bool]
    pay: Callable[[int], None] = lambda _: None


class Stop(NamedTuple):
    """Where a part of a script was not read, and why: "more than 2,000 commands". It may be in a file that the script sources.

    `met_before` says that another file met the same limit before, which all share; `behind_many` that the script launches so much
    before it that the rest is more of the same.
    """

    reason: str
    at: Location
    met_before: bool = False
    behind_many: bool = False


class Script(NamedTuple):
    """What a file runs: its commands in order, the options of `sbatch` that it states, its comments in order, the files it writes.

    `stopped` is the first part that was not read, so that there may be more commands; None if all was read. `unsourced` are the
    paths at which it looks for files to source that could not be had, and where. `not_converted` are the variables of loops of more
    turns than are read one by one, and the places of the loops. `unread` is the text behind the outermost loop in which reading stopped,
    of a document that from the block on in which it did; None if it is not known.
    """

    path: str
    commands: tuple[Command, ...]
    directives: tuple[Directive, ...] = ()
    comments: tuple[CommentBlock, ...] = ()
    written: tuple[Written, ...] = ()
    stopped: Stop | None = None
    unsourced: tuple[tuple[str, Location], ...] = ()
    not_converted: tuple[tuple[str, Location], ...] = ()
    unread: str | None = None

    @property
    def complete(self) -> bool:
        """Whether all of it was read."""
        return self.stopped is None

    @property
    def bare(self) -> Script:
        """The script as its launches keep it: of its commands it has those alone by which git makes a folder."""
        return self._replace(commands=tuple(filter(clones, self.commands)))


def clones(command: Command) -> bool:
    """Whether a command has git make a folder of another repository, or of this one."""
    return [word.text for word in command.words[:2]] == ["git", "clone"]


class Job(NamedTuple):
    """A job that a file describes: a text for a shell, or else the words of one command; its variables, and where it runs.

    `written` are the files that it finds there because the same file has their text.
    """

    text: tuple[Part, ...]
    words: tuple[Word, ...]
    environment: tuple[Assignment, ...]
    machines: Machines
    folder: Folder = Folder()
    context: str = ""
    written: tuple[Written, ...] = ()


class Invocation(NamedTuple):
    """How a script is started: its arguments, its variables, the options of `sbatch` that beat its own, and each `srun` around it."""

    arguments: tuple[Word, ...] = ()
    environment: tuple[Assignment, ...] = ()
    directives: tuple[Directive, ...] = ()
    wrappers: tuple[Wrapper, ...] = ()


class Option(NamedTuple):
    """An option of a command and its value; `value` is None if none follows. `place` is the index of the word that names it."""

    name: Word
    value: Word | None
    place: int


NO_SWITCHES: Final[frozenset[str]] = frozenset()


def name_of(word: Word) -> str:
    """The program that a word names, without its folder; "" if unknown."""
    if word.text is not None:
        return word.text.rpartition("/")[2]
    last = word.parts[-1].text if word.parts else None
    if last and ("/" in last or (len(word.parts) == 2 and _is_folder(word.parts[0].name))):
        return last.rpartition("/")[2]
    return ""


def _is_folder(variable: str) -> bool:
    """Whether a variable is called like one for a folder: `${CONDA_BIN_PATH}python` is Python."""
    return variable.upper().endswith(("PATH", "DIR", "BIN", "PREFIX"))


def spelled(name: str) -> str:
    """An option's name as we compare it: without dashes in front, underscores for the others."""
    return name.lstrip("-").replace("-", "_")


def options(words: tuple[Word, ...], *names: str, start: int = 0) -> Iterator[Option]:
    """Yield each use of an option among `words`: `--a b`, `--a=b`, `-n b`, and `-n8` for a name of one letter.

    Dashes and underscores within a name are the same. A word that begins with a dash is not a value, unless it is a number.
    """
    wanted = {spelled(name) for name in names}
    short = tuple(name for name in names if len(name) == 2 and name[0] == "-")
    for index in range(start, len(words)):
        known = words[index].starts_with
        if not known.startswith("-"):
            continue
        name, equals, _ = known.partition("=")
        if spelled(name) in wanted and (equals or words[index].text is not None):
            value = words[index].after(len(name) + 1) if equals else _value(words, index + 1)
            yield Option(words[index], value, index)
        elif short and known[:2] in short and len(known) > 2 and not known.startswith("--"):
            yield Option(words[index], words[index].after(2), index)


def _value(words: tuple[Word, ...], index: int) -> Word | None:
    if index >= len(words):
        return None
    known = words[index].starts_with
    return None if known.startswith("-") and not known[1:2].isdigit() else words[index]


def positionals(words: tuple[Word, ...], start: int = 1, switches: Container[str] = NO_SWITCHES) -> Iterator[tuple[int, Word]]:
    """Yield the words from `start` on that are neither options nor values of options, each with its index.

    `switches` are the options without value, by name as `spelled` gives it; `--` ends the options.
    """
    index = start
    while index < len(words):
        known = words[index].starts_with
        if words[index].text == "--":
            yield from enumerate(words[index + 1 :], index + 1)
            return
        if not known.startswith("-"):
            yield index, words[index]
        elif "=" not in known and spelled(known) not in switches and _value(words, index + 1) is not None:
            index += 1
        index += 1
