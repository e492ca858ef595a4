"""Commands within commands: functions, `bash -c`, heredocs for a shell, `srun`, `env` and others that pass on."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_gbs.model.command import Word, Wrapper, hull, name_of
from pytest_gbs.model.location import Location
from pytest_gbs.shell import broken_quotes, slurm
from pytest_gbs.shell.conditions import HOPED, Truth
from pytest_gbs.shell.limits import DEEPEST_CALL, LONGEST_VALUE, TOO_LONG
from pytest_gbs.shell.machine import Frame, Function, Machine, joined
from pytest_gbs.shell.state import RETURN, State, Variable, join
from pytest_gbs.shell.text import Parts, Text, parse
from pytest_gbs.shell.wrappers import SHELLS, inner

if TYPE_CHECKING:
    from collections.abc import Iterator

Environment = tuple[tuple[str, Word], ...]


def call(machine: Machine, function: Function, words: tuple[Word, ...], before: tuple[tuple[str, Variable], ...]) -> Truth:
    """Read the body of a function with these arguments."""
    from pytest_gbs.shell.statements import run

    at = words[0].at if words else machine.at_start
    if len(machine.calls) >= DEEPEST_CALL:
        machine.state.forget_all(at)
        if function not in (frame.function for frame in machine.calls):  # one that calls itself was read
            machine.stop(f"a function within more than {DEEPEST_CALL} others", machine.at(machine.statement) if machine.statement else at)
        return HOPED
    arguments, text, loops = machine.state.arguments, machine.text, machine.loops
    frame = Frame({}, [], function)
    for name, variable in before:
        frame.before.setdefault(name, machine.state.variables.get(name))
        machine.state.assign(name, variable._replace(exported=True))
    machine.state.arguments = None if any(_spreads(word) for word in words) else tuple(word.parts for word in words)
    machine.text, machine.loops = function.text, []
    machine.calls.append(frame)
    try:
        truth = run(machine, function.body)
    finally:  # the loops around the call go on, or end, with their own frames
        machine.calls.pop()
        machine.text, machine.loops = text, loops
    _return(machine, frame, arguments, at)
    return truth if truth.value is not None else HOPED


def _spreads(word: Word) -> bool:
    """Return whether a word is an unknown number of arguments."""
    return word.many and len(word.parts) == 1 and word.parts[0].name in ("@", "*", "array")


def _return(machine: Machine, frame: Frame, arguments: tuple[Parts, ...] | None, at: Location) -> None:
    """Go on behind a call, as it ended or as a `return` left it; its own variables are gone."""
    for state in frame.left:
        state.over = ""
    if frame.left:
        join(machine.state, [(machine.state.copy(), False), *((state, False) for state in frame.left)], at)
    if machine.state.over == RETURN:
        machine.state.over = ""
    machine.state.arguments = arguments
    for name, old in frame.before.items():
        if old is None:
            machine.state.variables.pop(name, None)
        else:
            machine.state.variables[name] = old


def launch(machine: Machine, words: tuple[Word, ...], environment: Environment, feed: Parts | None, at: Location) -> None:
    """Note a command, or the commands that it runs in its turn."""
    wrappers = machine.wrappers
    try:
        _launch(machine, words, dict(environment), feed, at)
    finally:
        machine.wrappers = wrappers


def _launch(machine: Machine, words: tuple[Word, ...], variables: dict[str, Word], feed: Parts | None, at: Location) -> None:
    for _ in range(DEEPEST_CALL):
        if name_of(words[0]) in (*SHELLS, "ssh", "sbatch", "eval") and _shell(machine, words, variables, feed, at):
            break
        start = inner(words)
        if not start:
            machine.emit(words, at, tuple(variables.items()))
            break
        if name_of(words[0]) == "env":
            start, found = _env(words)
            variables.update(found)
        if start >= len(words):
            if name_of(words[0]) not in ("env", "command", "builtin", "exec"):
                machine.emit(words, at, tuple(variables.items()))
            break
        machine.wrappers = (*machine.wrappers, Wrapper(name_of(words[0]), words[:start], _place(words[:start], at)))
        words = words[start:]
        at = _place(words, at)
    else:
        machine.stop(f"a command behind more than {DEEPEST_CALL} others", at)


def _place(words: tuple[Word, ...], at: Location) -> Location:
    """Return where words stand: from the first to the last, if they stand within `at`."""
    found = hull([word.at for word in words if word.at.source == at.source and at.start <= word.at.start <= at.stop])
    return found or at


def _env(words: tuple[Word, ...]) -> tuple[int, dict[str, Word]]:
    """Return the index of the command behind `env ... A=b`, and the variables it sets."""
    index, found = inner(words), dict[str, Word]()
    while index < len(words):
        name, equals, _ = words[index].starts_with.partition("=")
        if not equals or not name.isidentifier():
            break
        found[name] = words[index].after(len(name) + 1)
        index += 1
    return index, found


def _shell(machine: Machine, words: tuple[Word, ...], variables: dict[str, Word], feed: Parts | None, at: Location) -> bool:
    """Read the script that a shell is given as an argument or fed; return whether it was given one."""
    name = name_of(words[0])
    index, given = _given(name, words)
    if given is None and (feed is None or index < len(words)):
        return False
    parts = given if given is not None else feed or ()
    if parts and all(part.text is None or part.text.isspace() for part in parts):
        if any(part.name == TOO_LONG for part in parts):
            machine.stop(f"a script of more than {LONGEST_VALUE:,} characters within another", at)
        return False  # nobody knows what it runs
    whole = broken_quotes.meant(machine, words, parts) if given is not None and name not in ("eval", "ssh") else None
    rest = words[index:] if name in SHELLS and whole is None else ()
    wrapper = Wrapper(name, words if given is None else words[: max(1, index - 1)], _place(words, at))
    if name == "eval":
        evaluate(machine, parts)
        return True
    state = State(machine.budget) if name == "ssh" else machine.state.child()
    for key, value in variables.items():
        state.variables[key] = Variable(value.parts, exported=True)
    if rest:
        state.arguments = tuple(word.parts for word in rest[1:])
    for outer in machine.wrappers:
        if outer.name == "srun":
            slurm.surprising(state, at, tuple(word.starts_with for word in outer.words))
    machine.meant += whole is not None
    try:
        with _inside(machine, state):
            evaluate(machine, parts if whole is None else whole, (wrapper,))
    finally:
        machine.meant -= whole is not None
    return True


def _given(name: str, words: tuple[Word, ...]) -> tuple[int, Parts | None]:
    """Return the script among the words of a shell, and the index behind it; None where it is fed or names a file."""
    if name == "eval":
        return len(words), joined(words[1:])
    if name == "sbatch":
        index = next((i for i, word in enumerate(words) if word.starts_with.startswith("--wrap")), 0)
        if index and words[index].starts_with.startswith("--wrap="):
            return len(words), words[index].after(7).parts
        if index and index + 1 < len(words):
            return len(words), words[index + 1].parts
        named = any(not word.starts_with.startswith("-") for word in words[1:])
        return (0 if named else len(words)), None
    if name == "ssh":
        return _behind_host(words)
    for index, word in enumerate(words[1:], 1):
        known = word.text or ""
        if known.startswith("-") and not known.startswith("--") and "c" in known[1:] and index + 1 < len(words):
            return index + 2, words[index + 1].parts
        if not word.starts_with.startswith("-"):
            return index, None
        if known in ("-s", "-"):
            return len(words), None
    return len(words), None


def _behind_host(words: tuple[Word, ...]) -> tuple[int, Parts | None]:
    """Return the command behind the host of `ssh`."""
    index = 1
    while index < len(words) and words[index].starts_with.startswith("-"):
        index += 2 if (words[index].text or "") in ("-p", "-i", "-o", "-l", "-F", "-J", "-L", "-R", "-b", "-c") else 1
    inside = words[index + 1 :]
    return (len(words), joined(inside)) if inside else (len(words), None)


@contextmanager
def _inside(machine: Machine, state: State) -> Iterator[None]:
    """Go on in a shell of its own, and come back as if nothing had happened."""
    outer, functions, calls, loops = machine.state, machine.functions, machine.calls, machine.loops
    kept = {name: function for name, function in functions.items() if name in machine.exported}
    machine.state, machine.functions, machine.calls, machine.loops = state, kept, [], []
    try:
        yield
    finally:
        machine.state, machine.functions, machine.calls, machine.loops = outer, functions, calls, loops


def evaluate(machine: Machine, parts: Parts, wrappers: tuple[Wrapper, ...] = (), most: int = LONGEST_VALUE) -> None:
    """Read parts as a script of at most so many characters: what `eval` and `bash -c` do."""
    from pytest_gbs.shell.statements import run_all

    given, parts = parts, machine.bounded(parts, most)
    if parts is not given:
        machine.stop(f"a script of more than {most:,} characters within another", given[0].use)
    if all(part.text is None or part.text.isspace() for part in parts):
        return
    if machine.shells >= DEEPEST_CALL:
        machine.stop(f"a shell within more than {DEEPEST_CALL} others", parts[0].use)
        return
    text, outer, before = Text(parts), machine.text, machine.wrappers
    machine.budget.write(len(text.string))
    root = parse(text, machine.budget)
    machine.text = text
    if wrappers and wrappers[-1].name == "sbatch":
        directives = slurm.read_directives(text, root)
        wrappers = (*wrappers[:-1], wrappers[-1]._replace(directives=directives))
        slurm.set_variables(machine.state, directives)
    machine.wrappers = (*before, *wrappers)
    machine.shells += 1
    try:
        run_all(machine, [root])
    finally:
        machine.shells -= 1
        machine.text, machine.wrappers = outer, before
