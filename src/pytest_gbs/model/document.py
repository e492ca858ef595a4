"""A configuration file as a tree of nodes that know their spans, with its comments and the keys they belong to."""

from __future__ import annotations

from bisect import bisect_right
from collections import abc
from operator import itemgetter

from pytest_gbs.model.location import KeyPath, Location, Source
from pytest_gbs.model.record import Final, NamedTuple, TypeAlias

CONFIGURATIONS: Final = (".yaml", ".yml", ".json", ".toml")
"""What the name of a configuration file ends with."""
NOTEBOOK: Final = ".ipynb"
PROGRAMS: Final = (".py", NOTEBOOK)
"""What the name of a Python program ends with."""
RECIPES: Final = (*CONFIGURATIONS, *PROGRAMS)
"""What the name of a file that may hold a recipe ends with."""
SHELL_CELL: Final = r"%%(?:(?:ba|z)?sh|shell|script)\b"
"""The pattern of what a cell of a notebook for a shell starts with."""
PYTHON: Final = "python"
"""The syntax of Python programs."""
COMMAND_LINE: Final = "command line"
"""In a table the syntax of what is in no file."""
DICTIONARY: Final = "dict"
"""What `Document.called` is where a dictionary of a program is read."""
FUNCTION: Final = "function"
"""What `Document.called` is where what a function makes and returns is read."""
OF_FILE: Final = "get_config"
"""The function that `config_flags` of ml_collections calls of a file (ml_collections/config_flags/config_flags.py, _LoadConfigModule)."""
LOOP: Final = "loop"
"""What `Document.called` is where a training loop of a program's own is read."""
MODULE: Final = "module"
"""What `Document.called` is where the names of a Python module are read."""
SCRIPTS: Final = (".sh", ".bash", ".zsh", ".ksh", ".slurm", ".sbatch", ".sub", ".job", ".pbs", ".qsub", ".lsf", ".launcher")
"""What the name of a shell script ends with."""
DOCUMENTS: Final = (".md", ".mdx", ".qmd", ".rst")
"""What the name of a document ends with, whose code blocks may hold command lines."""
MAKEFILES: Final = ("Makefile", "makefile", "GNUmakefile")
"""The names that make looks for."""
_MAKEFILES: Final = frozenset(name.lower() for name in MAKEFILES)
COMMANDS: Final = (*SCRIPTS, *DOCUMENTS, ".mk")
"""What the name of a file ends with that may hold command lines."""
PRINTED: Final = "prints"
"""The placement of a comment block that is none, but what a script prints."""
COMPUTED: Final = "computes"
"""The placement of one with a batch that the script works out and prints: what it is in this run, whatever was meant."""
DIVIDED: Final = "divides"
"""The placement of a comment block that is none, but a batch that a script divides to find its accumulation."""
INCLUDES: Final[frozenset[KeyPath]] = frozenset((("defaults",), ("_base_",), ("_BASE_",), ("__include__",), ("inherit",)))
"""Keys by which a file includes others."""


class Scalar(NamedTuple):
    """A scalar as written: `text` is its content without quotes; `plain` is false if quotes or a block make it a string.

    `tag` is the explicit tag (`!!int`, `!include`) or None. The span covers the quotes but neither anchor nor tag.
    """

    start: int
    stop: int
    text: str
    plain: bool
    tag: str | None = None


class Mapping(NamedTuple):
    """A mapping with every entry in order, repeated keys included."""

    start: int
    stop: int
    entries: tuple[tuple[Node, Node], ...]
    tag: str | None = None


class Sequence(NamedTuple):
    """A sequence of nodes."""

    start: int
    stop: int
    items: tuple[Node, ...]
    tag: str | None = None


class Alias(NamedTuple):
    """`*name`: the node that the anchor named, never a copy of it; None if it would contain itself or is not defined."""

    start: int
    stop: int
    name: str
    target: Node | None


Node: TypeAlias = Scalar | Mapping | Sequence | Alias
Keyed: TypeAlias = "abc.Mapping[KeyPath, tuple[Node, Node]]"


def followed(node: Node | None) -> Node | None:
    """`node`, or what it names if it is an alias."""
    return node.target if isinstance(node, Alias) else node


class CommentBlock(NamedTuple):
    """Neighbouring comment lines read as one text, and the key they belong to.

    `text` has the comment signs and the indentation taken off, lines joined by a line break. `pieces` says where each
    part came from: (offset in `text`, offset in the file), one pair per line, ascending. `owner` is the key path of the
    entry that the block is behind (`trailing`) or above (`above`), or None in a `header` (before the first key) and
    at the `end`. A block of what a script `prints` or `divides` is not a comment.
    """

    text: str
    pieces: tuple[tuple[int, int], ...]
    owner: KeyPath | None
    placement: str

    @property
    def stop(self) -> int:
        """The offset in the file right behind the last character of the comment."""
        offset, place = self.pieces[-1]
        return place + len(self.text) - offset

    def locate(self, source: str, start: int, stop: int) -> Location:
        """The place in file `source` of the characters `start` to `stop` of this block's text."""
        base, origin = self.pieces[max(0, bisect_right(self.pieces, start, key=itemgetter(0)) - 1)]
        return Location(source, start - base + origin, stop - base + origin, self.owner)

    def offset(self, place: int) -> int:
        """Where in `text` the character is that is at `place` in the file."""
        base, origin = self.pieces[max(0, bisect_right(self.pieces, place, key=itemgetter(1)) - 1)]
        return base + place - origin


class Duplicate(NamedTuple):
    """A key that one mapping holds twice: where both stand, and its path."""

    path: KeyPath
    first: Location
    second: Location


class Document(NamedTuple):
    """One document of a file.

    `number` counts documents of the file from 1. `syntax` is `yaml`, `json`, `toml` or `python`. `keyed` maps the key path of
    every entry reached through mappings alone to (key node, value node), after merge keys, the last of repeated keys winning,
    as the loaders have it.

    In a Python program `called` is the class whose call this is, as imported (`trl.SFTConfig`), with those that it is made from behind
    blanks. `imports` are the modules that the program imports, and further keys come from `rest` if that is set: `**options`. `part`
    says for people where it is in its file: "line 104", "cell 5". `function` is the name of the function that makes and returns it.
    `unset` are variables of the environment by whose defaults its batch sizes are what they are.
    """

    source: Source
    number: int
    syntax: str
    root: Node | None
    keyed: Keyed
    comments: tuple[CommentBlock, ...]
    duplicates: tuple[Duplicate, ...]
    called: str = ""
    imports: frozenset[str] = frozenset()
    rest: Location | None = None
    part: str = ""
    function: str = ""
    unset: tuple[str, ...] = ()

    def get(self, *path: str | int) -> Node | None:
        """The value at key path `path`, aliases followed, or None if there is none."""
        entry = self.keyed.get(path)
        if entry is None:
            return None
        value = entry[1]
        return value.target if type(value) is Alias else value

    def locate(self, path: KeyPath) -> Location | None:
        """The span of the value at `path` as written (an alias if there is an alias), or None."""
        entry = self.keyed.get(path)
        return None if entry is None else Location(self.source.path, entry[1].start, entry[1].stop, path)


def holds_commands(path: str) -> bool:
    """Whether the name of a file says that it may hold command lines."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(COMMANDS) or name in _MAKEFILES
