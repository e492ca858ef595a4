"""What starts training: a launcher file or a command, and the hardware it asks for."""

from __future__ import annotations

from collections.abc import Callable

from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import Quantity, Unknown
from pytest_gbs.model.record import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pytest_gbs.model.command import Command, Script, Word


class Kind:
    """What kind of text a launch was read from, which decides how much it may judge."""

    SCRIPT: Final = "script"
    DOCUMENT: Final = "document"
    TEST: Final = "test"
    TEMPLATE: Final = "template"


# Launches of these kinds judge nothing and are not judged: their batch is not meant to be that of the recipe.
JUDGES_NOTHING: Final = (Kind.TEST, Kind.TEMPLATE)


class Unread(NamedTuple):
    """A script, document or folder that was not read to its end, so that it may hold launches that are unknown, and why.

    `at` is where reading stopped, in whichever file; the start if nothing was read (`whole`). The path of a folder ends in `/`.
    `recipe` is a place in a recipe that it may launch, whose check it leaves open; None for the file itself.
    `met_before` says that another file met the same limit before, which all share; `behind_many` that the rest is more of the same:
    the script launches so much before it, or only further turns of a loop were not read.
    """

    path: str
    reason: str
    at: Location
    whole: bool = False
    recipe: Location | None = None
    met_before: bool = False
    behind_many: bool = False


class MissingFile(NamedTuple):
    """A file that a command names at `at` and that the repository does not have; `meant` is the name that was probably meant, or "".

    `given` is where the name is written: `at` itself, or where a variable gets it.
    """

    path: str
    at: Location
    given: Location
    meant: str = ""


class LostFlags(NamedTuple):
    """Flags behind the end of a command's line, which the shell runs as commands: in words `why` the line ends, and the first flag."""

    flags: tuple[str, ...]
    why: str
    at: Location


class MisnamedSetting(NamedTuple):
    """A number in the name of a file of settings, `part` of it, that the file sets otherwise: the `variable`, its `value` and place."""

    part: str
    stated: int
    variable: str
    value: int
    at: Location


class ModelCard(NamedTuple):
    """The sizes of the list that the Trainer writes into a model card, each with its place; `total` is the batch that it states."""

    total: Quantity
    factors: tuple[Quantity, ...]


class SettingList(NamedTuple):
    """The batch that a list of settings in a document states, and the micro batch and accumulation that the same list has."""

    total: Quantity
    factors: tuple[Quantity, ...]


Mistake: TypeAlias = MissingFile | LostFlags | MisnamedSetting | ModelCard | Declaration | SettingList
"""What may be wrong with a script or a document by itself."""


class Problem(NamedTuple):
    """Something wrong inside one launcher file: what its launcher would do, where, and the places it is about.

    `unless` is the option of a command line that fixes it (`--num_processes`), so that the file by itself may be in order.
    """

    message: str
    at: Location
    related: tuple[tuple[Location, str], ...] = ()
    stops: bool = True
    unless: str = ""


class LauncherFile(NamedTuple):
    """A launcher's own configuration file, an accelerate YAML say, and what it gives.

    `quantities` are the sizes it states (`world_size`, `num_nodes`, `gpus_per_node`, parallel sizes). `distributed` is false
    where it starts a single process whatever the numbers say. `problems` are contradictions within the file. `kind` is how it
    distributes, in its own word (`DEEPSPEED`).
    """

    path: str
    launcher: str
    quantities: tuple[Quantity, ...]
    distributed: bool
    problems: tuple[Problem, ...] = ()
    kind: str = ""


class Start(NamedTuple):
    """What a launcher makes of one command line: the processes that it starts, and the program that runs in each.

    `name` is the launcher as people type it ("accelerate launch"). `sizes` are those that it gives (`world_size`, `num_nodes`,
    `gpus_per_node`, parallel sizes, the accumulation that it exports), each with its place; one that it would give and that
    can't be known is `Unknown`. `program` is the program and its arguments (`train.py --config sft.yaml`), `-m` in front of a
    module. `recipes` are the recipes that the launcher's own grammar names, at whatever place (`llamafactory-cli train X`).
    `files` are the launcher files that it reads. `allocated` is the number of GPUs of the job that it runs in, training or not.
    With `together` the program reads its recipes as one configuration, in their order. `visible` are the GPUs that the one process
    sees that is started, where these are several: its program may feed all of them. A recipe that is a name without suffix is a file
    of Python below `own_recipes`, the folder in which the program has its own.
    """

    name: str
    at: Location
    sizes: tuple[Quantity | Unknown, ...]
    program: tuple[Word, ...]
    recipes: tuple[Word, ...] = ()
    files: tuple[LauncherFile, ...] = ()
    allocated: Quantity | None = None
    problems: tuple[Problem, ...] = ()
    together: bool = False
    visible: Quantity | None = None
    own_recipes: str = ""


class LauncherContext(NamedTuple):
    """What a launcher may ask while it reads a command: `launcher_file` gives the launcher file at the path a word names.

    `script` is the script that the command is in. `launcher_file` returns None if there is no such file, or it is none.
    `document` gives the recipe at the path a word names, in which a launcher may look for options of its own, and `text` the text of
    any file there: a program, a list of hosts.
    """

    script: Script
    launcher_file: Callable[[Word, Command], LauncherFile | None]
    document: Callable[[Word, Command], Document | None] | None = None
    text: Callable[[Word, Command], str | None] | None = None

    def text_of(self, word: Word, command: Command) -> str | None:
        """The text of the file at the path a word names; None if there is no such file, or the script writes it itself."""
        return self.text(word, command) if self.text is not None else None


class Launcher(NamedTuple):
    """One launcher: which documents are its files and how to read them, and which commands are its own.

    `hint` is a word that occurs in the bytes of each of its files, so that others need not be parsed; "" if it has none.
    `words` are texts of which one occurs in each script that holds such a command. `start` returns what a command starts, or
    None if the command is another's. `elsewhere` is true if that does not run in the job around the command.
    """

    name: str
    summary: str
    hint: str = ""
    owns: Callable[[Document], bool] | None = None
    read: Callable[[Document], LauncherFile] | None = None
    words: tuple[str, ...] = ()
    start: Callable[[Command, LauncherContext], Start | None] | None = None
    elsewhere: bool = False


class Grep(NamedTuple):
    """A search for a key in whatever recipe a script runs: which of the recipes that it can run have no such line, or several."""

    key: str
    at: Location
    without: tuple[str, ...]
    several: tuple[str, ...]
    of: int


class Launch(NamedTuple):
    """A command that launches a recipe: where it is, of which kind, and the sizes it gives.

    `command` names it for people ("accelerate launch"). `recipe` is the path of the recipe, "" if the command line is all
    there is. `at` is the command, `named` the word that names the recipe. `open` is true if the user of the script can add
    arguments (`"$@"`). `unread` is true if the program takes its recipe behind an option alone, and none is before it.
    `meant` is true if a bare quote ends the text before the command, and people mean it all the same.
    `start` is what the launcher made of the command; None for a launch context of the settings.
    """

    at: Location
    kind: str
    command: str
    quantities: tuple[Quantity, ...]
    recipe: str = ""
    named: Location | None = None
    open: bool = False
    unread: bool = False
    start: Start | None = None
    greps: tuple[Grep, ...] = ()
    meant: bool = False
