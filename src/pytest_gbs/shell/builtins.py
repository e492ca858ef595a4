"""The shell's own commands: those that change what it knows, and those that change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from pytest_gbs.model.command import Folder, Part, Word, below
from pytest_gbs.shell import calls, conditions
from pytest_gbs.shell.conditions import NO, UNKNOWN, YES, Truth
from pytest_gbs.shell.fields import Fields
from pytest_gbs.shell.limits import DEEPEST_CALL, LONGEST_PATH, MOST_CHARACTERS
from pytest_gbs.shell.machine import Machine
from pytest_gbs.shell.state import BREAK, CONTINUE, EXIT, RETURN, Variable, text_of
from pytest_gbs.shell.text import Parts, whole
from pytest_gbs.shell.wrappers import words_of

Words: TypeAlias = tuple[Word, ...]
Before: TypeAlias = tuple[tuple[str, Variable], ...]
Builtin: TypeAlias = Callable[[Machine, Words, Before, Parts | None], Truth]


def _nothing(_machine: Machine, _words: Words, _before: Before, _feed: Parts | None) -> Truth:
    return YES


def _false(_machine: Machine, _words: Words, _before: Before, _feed: Parts | None) -> Truth:
    return NO


def _test(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    inside = words[1:-1] if words[0].text == "[" else words[1:]
    return conditions.read_words(machine, inside)


def _exit(machine: Machine, _words: Words, _before: Before, _feed: Parts | None) -> Truth:
    machine.state.over = EXIT
    return UNKNOWN


def _return(machine: Machine, _words: Words, _before: Before, _feed: Parts | None) -> Truth:
    if machine.calls:
        machine.calls[-1].left.append(machine.state.copy())
    machine.state.over = RETURN
    return UNKNOWN


def _break(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    sign = BREAK if words[0].text == "break" else CONTINUE
    if machine.loops:
        machine.state.over = sign
        machine.loops[-1].left.append(machine.state.copy())
    return UNKNOWN


def _shift(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    count = 1 if len(words) == 1 else machine.reckon(words[1].parts)[0]
    known = machine.state.arguments
    if known is None or count is None or count < 0:
        machine.state.arguments = None
        return UNKNOWN
    if count > len(known):
        return NO
    machine.state.arguments = known[count:]
    return YES


def _set(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    for index, word in enumerate(words[1:], 1):
        known = word.starts_with
        if word.text == "-a" or (known[:1] == "-" and known[1:2] != "-" and "a" in known and "o" not in known):
            machine.state.exporting = True
        elif word.text == "+a":
            machine.state.exporting = False
        if word.text == "--" or not known.startswith(("-", "+")):
            if words[index - 1].text in ("-o", "+o") or (words[index - 1].text or "").endswith("o"):
                continue
            rest = words[index + 1 :] if word.text == "--" else words[index:]
            machine.state.arguments = None if any(entry.many for entry in rest) else tuple(entry.parts for entry in rest)
            break
    return YES


def _cd(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    targets = [word for word in words[1:] if not (word.text or "").startswith("-")]
    machine.state.folder = moved(machine.state.folder, targets[0]) if len(targets) == 1 else Folder(None)
    return YES


def moved(folder: Folder, word: Word) -> Folder:
    """Return the folder that `cd` with this word leads to."""
    target = word.path
    if target.rooted or target.path is None:
        return target
    if folder.path is None or target.path.startswith("/"):
        return Folder(None)
    if len(folder.path) + len(target.path) > LONGEST_PATH:
        return Folder(None)
    path = below(folder.path, target.path)
    return Folder(path, folder.rooted)


def _source(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    """Read another file in this shell, if it can be had; what it sets is unknown otherwise."""
    named = candidates(machine, words[1]) if len(words) > 1 and machine.read_file is not None else []
    source = next((found for path in named if machine.read_file and (found := machine.read_file(path)) is not None), None)
    if source is None:
        machine.unsourced += [(path, words[1].at) for path in named]
    elif machine.shells >= DEEPEST_CALL:
        if source.path not in machine.sources:  # one that sources itself was read
            machine.stop(f"a shell within more than {DEEPEST_CALL} others", words[1].at)
        source = None
    if source is None:
        machine.state.forgotten = True
        return conditions.HOPED
    machine.sources[source.path] = source.text
    outer, arguments = machine.text_path, machine.state.arguments
    machine.text_path = source.path
    if len(words) > 2:
        machine.state.arguments = tuple(word.parts for word in words[2:])
    try:
        calls.evaluate(machine, (whole(source.path, source.text),), most=MOST_CHARACTERS)
    finally:
        machine.text_path, machine.state.arguments = outer, arguments
    return conditions.HOPED


def candidates(machine: Machine, word: Word) -> list[str]:
    """Return the paths in the tree that a word may name: from where the script went, from the root, from its own folder."""
    named = word.path
    if named.path is None or named.path.startswith("/"):
        return []
    if named.rooted:
        return [named.path]
    folder = machine.state.folder
    own = machine.text_path.rpartition("/")[0]
    bases = [folder.path] if folder.rooted else ["" if folder.path is None else folder.path, below(own, folder.path or "")]
    return list(dict.fromkeys(path for base in bases if base is not None and (path := below(base, named.path))))


def _eval(machine: Machine, words: Words, _before: Before, feed: Parts | None) -> Truth:
    calls.launch(machine, words, (), feed, words[0].at)
    return conditions.HOPED


def _let(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    truth = UNKNOWN
    for word in words[1:]:
        value, default, _ = machine.reckon(word.parts)
        truth = Truth(None if value is None else value != 0, default)
        if value is None:
            machine.state.forget(word.starts_with.split("=")[0].rstrip("+-*/%&|^<>"), word.at)
    return truth


# How a script puts a heredoc into a variable: `read -r -d '' NAME <<EOF`.
_WHOLE: Final = (["-r", "-d", ""], ["-d", "", "-r"], ["-rd", ""])


def _read(machine: Machine, words: Words, before: Before, feed: Parts | None) -> Truth:
    """Read `read`: the words of a herestring, the whole of a heredoc with `-d ''`, or something unknown."""
    if feed is not None and [word.text for word in words[1:-1]] in _WHOLE and (words[-1].text or "").isidentifier():
        machine.state.assign(words[-1].text or "", Variable(_trimmed(feed)))
        return NO  # the end of the input comes before the delimiter
    options = [word.text or "" for word in words[1:] if word.starts_with.startswith("-")]
    names = [word.text for word in words[1:] if word.text and word.text.isidentifier()]
    separators = next((variable.text for name, variable in before if name == "IFS"), " \t\n")
    text = text_of(feed) if feed is not None else None
    simple = all(option in ("-r", "-a", "-ra", "-ar") for option in options)
    if not names or text is None or separators is None or not simple:
        for name in names:
            machine.state.forget(name, words[0].at)
        return UNKNOWN
    fields = Fields(separators)
    fields.add_split(tuple(part for part in feed or () if part.text), words[0].at)
    found = tuple(tuple(_stripped(part) for part in parts) for parts in fields.finish())
    if any("a" in option for option in options):
        machine.state.assign(names[0], Variable(items=tuple((str(i), parts) for i, parts in enumerate(found))))
    elif len(found) <= len(names):
        for name, parts in zip(names, (*found, *((),) * len(names)), strict=False):
            machine.state.assign(name, Variable(parts))
    else:
        for name in names:
            machine.state.forget(name, words[0].at)
    return YES


def _trimmed(parts: Parts) -> Parts:
    """Return `parts` without the white space around them."""
    kept = list(parts)
    for end, strip in ((0, str.lstrip), (-1, str.rstrip)):
        while kept and (text := kept[end].text) is not None:
            rest = strip(text)
            if rest:
                kept[end] = kept[end].cut(len(text) - len(rest), len(text)) if end == 0 else kept[end].cut(0, len(rest))
                break
            kept.pop(end)
    return tuple(kept)


def _stripped(part: Part) -> Part:
    """Return a part without the line break that a herestring ends with."""
    return part.cut(0, len(part.text.rstrip("\n"))) if part.text is not None else part


def _fill(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    """Read `mapfile`, `getopts`, `wait -p`: the names among the words become unknown."""
    for word in words[1:]:
        if word.text and word.text.isidentifier():
            machine.state.forget(word.text, word.at)
    if words[0].text == "getopts":
        machine.state.forget("OPTARG", words[0].at)
        machine.state.forget("OPTIND", words[0].at)
    return UNKNOWN


def _printf(machine: Machine, words: Words, _before: Before, _feed: Parts | None) -> Truth:
    if len(words) > 2 and words[1].text == "-v" and words[2].text:
        machine.state.forget(words[2].text.split("[")[0], words[2].at)
    return YES


_SILENT: Final = words_of(": true echo pwd trap shopt ulimit umask wait jobs alias unalias hash enable bind disown times complete fg bg")
TABLE: Final[dict[str, Builtin]] = {
    **dict.fromkeys(_SILENT, _nothing),
    "false": _false, "test": _test, "[": _test, "exit": _exit, "return": _return, "break": _break, "continue": _break,
    "shift": _shift, "set": _set, "cd": _cd, "pushd": _cd, "source": _source, ".": _source, "eval": _eval, "let": _let,
    "read": _read, "mapfile": _fill, "readarray": _fill, "getopts": _fill, "printf": _printf,
}  # fmt: skip
