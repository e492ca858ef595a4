"""Words of a command line as sizes: what is a number, what is unknown, and why."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.command import Command, Option, Word, options, positionals, spelled
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import NO_NOTE, Name, Note, Noted, Origin, Quantity, Reason, Unknown, together
from pytest_gbs.model.record import NamedTuple

# What torchrun counts on the machine: torch/distributed/run.py, determine_local_world_size (pytorch 010929f).
_COUNTED: Final = ("auto", "gpu", "cpu", "xpu", "npu", "all")


class Split(NamedTuple):
    """A command in two: the words that are the launcher's own, and the program with its arguments.

    `opaque` is a word of unknown text that may hold any of the launcher's options.
    """

    own: tuple[Word, ...]
    program: tuple[Word, ...]
    opaque: Word | None


def names(text: str) -> frozenset[str]:
    """The names in a text."""
    return frozenset(text.split())


def split(command: Command, start: int, switches: frozenset[str], module: tuple[str, ...] = ("-m", "--module")) -> Split:
    """The launcher's own words from `start` on, and the program: the first word that is neither an option nor the value of one.

    `switches` are the options without value. Of an option in `module`, a `-m` is in front of the program.
    """
    glued = {spelled(word.starts_with) for word in command.words[start:] if _is_glued(word)}
    place = _program(command.words, start, switches | glued)
    own, program = command.words[start:place], command.words[place:]
    opaque = opaque_word(own)
    if program and opaque is None and _open(program[0]):
        opaque = program[0]
    marks = [word for word in own if word.text in module]
    return Split(own, (marks[0]._replace(text="-m"), *program) if marks and program else program, opaque)


def _is_glued(word: Word) -> bool:
    """Whether a word is an option of one letter together with its number: `-n8`."""
    known = word.starts_with
    return len(known) > 2 and known[0] == "-" and known[1].isalpha() and is_digits(known[2:])


def _program(words: tuple[Word, ...], start: int, switches: frozenset[str]) -> int:
    """The index of the program; a variable in its place may hold options where a Python file follows."""
    first = None
    for place, word in positionals(words, start, switches):
        if not _open(word):
            return place if first is None or (word.text or word.raw).endswith(".py") or words[place - 1].text == "-m" else first
        first = place if first is None else first
    return first if first is not None else len(words)


def _open(word: Word) -> bool:
    """Whether a word is nothing but an unknown that may be any number of words."""
    return word.many and all(part.text in (None, "") for part in word.parts)


def opaque_word(words: tuple[Word, ...]) -> Word | None:
    """A word among the options that may hold others of them: an unknown that is not empty by default."""
    if not words:
        return None
    return next((word for word in Command(words, words[0].at).open_words if not word.default), None)


def option(words: tuple[Word, ...], *names: str) -> tuple[str, Word] | None:
    """The last use of an option that has a value: its name as written, and the value."""
    found = None
    for each in options(words, *names):
        if each.value is not None:
            found = each.name.starts_with.partition("=")[0], each.value
    return found


def uses(words: tuple[Word, ...], *names: str) -> bool:
    """Whether an option is used, with a value or without."""
    return any(True for _ in options(words, *names))


def number(word: Word | None) -> int | None:
    """The whole number that a word is, None if it is none or is not known."""
    text = word.text if word is not None else None
    return whole_number(text) if text is not None else None


def size(name: str, word: Word, key: str, value: int | None = None) -> Quantity | Unknown:
    """Size `name` as a word gives it: `value` where it was already read, a number above 0, or why it is not known."""
    value = number(word) if value is None else value
    if value is None or value < 1:
        return Unknown(name, reason(word), word.at)
    return Quantity(name, value, Origin.LAUNCH, at=word.value_at, key=key, note=note(word))


def asked(name: str, words: tuple[Word, ...], *keys: str) -> Quantity | Unknown | None:
    """Size `name` as the last use of an option gives it, None if it is not used."""
    given = option(words, *keys)
    return size(name, given[1], given[0]) if given is not None else None


def of_variable(name: str, command: Command, key: str) -> Quantity | Unknown | None:
    """Size `name` as a variable of the environment gives it, None if the command has none that is called so."""
    word = command.variable(key)
    return size(name, word, key) if word is not None else None


def reason(word: Word) -> str:
    """Why a word is not a number."""
    if word.text is None:
        return Reason.PLACEHOLDER if any(name[:1] in ("{", "<") for name in word.unknowns) else Reason.INTERPOLATED
    if word.text in _COUNTED:
        return Reason.AUTO
    if "$" in word.text:
        return Reason.INTERPOLATED
    if word.text.isupper() or word.text[:1] in (".", "[", "<", "{"):
        return Reason.PLACEHOLDER  # `N`, `...`, `[GPUS]` in a document
    return Reason.ELASTIC if ":" in word.text else Reason.NOT_AN_INTEGER


def note(word: Word) -> Note:
    """What fixed a value: a directive of Slurm, a default that the environment or an argument can replace."""
    if word.note:
        return Note(word.note)
    if not word.default:
        return NO_NOTE
    names = word.variables
    if not names:
        return Note("a default", Noted.DEFAULT)
    said = ", ".join(f"argument {name}" if is_digits(name) else name for name in names)
    return Note(f"default of {said}", Noted.DEFAULT, " ".join(names))


def fallback(name: str, value: int, key: str, launcher: str, opaque: Word | None) -> Quantity | Unknown:
    """The launcher's own default for size `name`, unknown if an unknown word may say otherwise."""
    if opaque is not None:
        return Unknown(name, reason(opaque), opaque.at)
    return Quantity(name, value, Origin.DEFAULT, key=key, note=Note(f"default of {launcher}", Noted.BUILT_IN))


def world(nodes: Quantity | Unknown, each: Quantity | Unknown) -> Quantity | Unknown:
    """The processes of all nodes together, in one place: that of the processes on each, or of the nodes."""
    for one in (each, nodes):
        if not isinstance(one, Quantity):
            return Unknown(Name.WORLD_SIZE, one.reason, one.at)
    assert isinstance(nodes, Quantity)
    assert isinstance(each, Quantity)
    named = each if each.at is not None or nodes.at is None else nodes
    notes = [Note(f"{nodes.value} nodes x {each.value}")] if nodes.value > 1 else []
    notes += [one.note for one in (nodes, each) if one.origin != Origin.DEFAULT]
    return Quantity(Name.WORLD_SIZE, nodes.value * each.value, Origin.LAUNCH, at=named.at, key=named.key, note=together(notes))


def processes(nodes: Word | None, each: Word | None, launcher: str) -> tuple[Quantity | Unknown, ...]:
    """The world, `NNODES` and `NPROC_PER_NODE` of the environment, 1 for one that is not set."""
    named = ((Name.NUM_NODES, nodes, "NNODES"), (Name.GPUS_PER_NODE, each, "NPROC_PER_NODE"))
    number, one = (size(name, word, key) if word else fallback(name, 1, key, launcher, None) for name, word, key in named)
    return world(number, one), number, one


def devices(command: Command) -> Quantity | Unknown | None:
    """How many GPUs `CUDA_VISIBLE_DEVICES` names, a machine of the job has, or Slurm gives on one node; None if nothing says it."""
    word = command.variable("CUDA_VISIBLE_DEVICES")
    if word is not None:
        return named_devices(word, "CUDA_VISIBLE_DEVICES")
    return command.machines.gpus_per_node if command.machines is not None else _given_by_slurm(command)


def _given_by_slurm(command: Command) -> Quantity | None:
    """The GPUs of a job on one node, or of its step, which Slurm makes the visible ones (gres.conf(5), Slurm 24.11); else None."""
    step = next((each.words for each in reversed(command.wrappers) if each.name == "srun"), ())
    asked = [each for each in options(step, *_GPUS_OF_A_STEP, start=1) if each.value is not None]
    if asked:
        return _given_to_step(command, step, asked[0]) if len(asked) == 1 else None
    word, nodes = command.variable(_ON_NODE), command.variable("SLURM_NNODES")
    if word is None or word.text is None or (nodes is not None and nodes.text != "1"):
        return None
    found = size(Name.GPUS_PER_NODE, word, _ON_NODE)
    return found if isinstance(found, Quantity) else None


def _given_to_step(command: Command, step: tuple[Word, ...], asked: Option) -> Quantity | None:
    """The GPUs that the options of `srun` ask for, if they state one task or one node; None if there may be several tasks."""
    tasks, nodes = option(step, "--ntasks", "-n"), option(step, "--nodes", "-N")
    of_job = (command.variable(name) for name in ("SLURM_NTASKS", "SLURM_NTASKS_PER_NODE"))
    each = option(step, "--ntasks-per-node")
    others = each[1] if each is not None else next((word for word in of_job if word is not None), None)
    is_one = (
        tasks[1].text == "1"
        if tasks is not None
        else nodes is not None and nodes[1].text == "1" and (others is None or number(others) == 1)
    )
    key, word = asked.name.starts_with.partition("=")[0], asked.value
    count = _gpus().fullmatch(word.text or "") if word is not None else None
    if not is_one or count is None or word is None or opaque_word(step[1:]) is not None or (key == "--gres") != bool(count["kind"]):
        return None
    found = size(Name.GPUS_PER_NODE, word, key, int(count["number"]))
    return found if isinstance(found, Quantity) else None


_ON_NODE: Final = "SLURM_GPUS_ON_NODE"
_GPUS_OF_A_STEP: Final = ("--gpus", "-G", "--gpus-per-node", "--gpus-per-task", "--gres")
_gpus = lazy_pattern(r"(?P<kind>gpu:)?(?:[\w.-]+:)?(?P<number>[0-9]{1,4})")


def named_devices(word: Word, key: str) -> Quantity | Unknown:
    """How many GPUs a list with commas names."""
    names = (word.text or "").split(",")
    if word.text is None or not all(name.strip() for name in names) or "-1" in names:
        return Unknown(Name.GPUS_PER_NODE, reason(word) if word.text is None else Reason.MISSING, word.at)
    return size(Name.GPUS_PER_NODE, word, key, len(names))
