"""Commands that start others: wrappers, containers, shells within the shell, and what is noted as run."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.command import Assignment, Command, Word, Wrapper, name_of, options, positionals, span_of_all, written_at
from pytest_gbs.model.location import Location, endings
from pytest_gbs.shell import quotes, slurm
from pytest_gbs.shell.control_flow import ControlFlow
from pytest_gbs.shell.limits import DEEPEST_CALL, LONGEST_VALUE, MOST_COMMANDS, TOO_LONG, Exhausted
from pytest_gbs.shell.reading import Words
from pytest_gbs.shell.state import ShellState, Variable
from pytest_gbs.shell.text import Parts, ShellText, parse
from pytest_gbs.shell.values import is_longer
from pytest_gbs.shell.wrappers import (
    ELSEWHERE,
    PROGRAMS,
    SHELLS,
    container_variables,
    env_assignments,
    given_script,
    inner,
    is_container,
    is_open_list,
)

_CLONE_SWITCHES: Final = frozenset(("recursive", "recurse_submodules", "q", "quiet", "single_branch", "no_checkout", "v", "verbose"))


class Launching(ControlFlow):
    """A file of which the commands are noted that it starts."""

    def launch(self, words: Words, variables: dict[str, Word], feed: Parts | None, at: Location) -> None:
        """Note a command, or the commands that it runs in its turn."""
        wrappers = self.wrappers
        try:
            self.unwrap(words, variables, feed, at)
        finally:
            self.wrappers = wrappers

    def unwrap(self, words: Words, variables: dict[str, Word], feed: Parts | None, at: Location) -> None:
        """Note the innermost of commands that run each other; `variables` are set before the outermost."""
        for _ in range(DEEPEST_CALL):
            name = name_of(words[0])
            if name in (*SHELLS, *ELSEWHERE, "sbatch", "eval") and self.shell(words, variables, feed, at):
                return
            start = inner(words) or int(self.is_entry_point(words))
            if name == "env":
                start, found = env_assignments(words)
                variables.update(found)
            if not start or start >= len(words):
                if not start or name not in ("env", "command", "builtin", "exec"):
                    self.emit(words, at, variables)
                return
            self.wrappers = (*self.wrappers, Wrapper(name, words[:start], _place_of(words[:start], at)))
            around, words = words, set_words(words[start:])
            at = _place_of(words, at)
            if is_container(around):
                with self.new_shell(self.container(around[:start], variables)):
                    self.unwrap(words, {}, None, at)
                return
        self.stop(f"a command behind more than {DEEPEST_CALL} others", at)

    def is_entry_point(self, words: Words) -> bool:
        """Whether `words` are a script that a container has, and not the tree, with a command for it: `/opt/entry.sh bash -c ...`."""
        script = words[0].text or ""
        if not script.startswith("/") or not script.endswith(".sh") or len(words) == 1 or name_of(words[1]) not in PROGRAMS:
            return False
        self.budget.step(script.count("/"))
        return self.others is None or not any(map(self.others.has, endings(script, 1)))

    def container(self, words: Words, variables: dict[str, Word]) -> ShellState:
        """The state in which a container starts: what the words that run it hand over, and the folder, which is mounted as a rule."""
        state = ShellState(self.budget)
        state.folder, state.unlikely, state.arguments = self.state.folder, self.state.unlikely, ()
        if any(map(is_open_list, words)):  # `docker exec ${VARIABLES[@]} NAME ./run.sh`: it may hand over any of them
            exported = {name: each for name, each in self.state.variables.items() if each.exported}
            state.variables = {name: each.lowered(words[0].at, name) for name, each in exported.items()}
            self.budget.step(len(exported) // 10)
        for option in options(words, "--env-file"):
            if option.value is not None and (source := self.file(option.value)) is not None:
                self.set_from_file(state, source)
        for name, given in container_variables(words).items():
            own = self.state.variables.get(name)
            value = given or variables.get(name)
            if value is not None:
                state.variables[name] = Variable(value.parts, exported=True)
            elif own is not None and own.exported:
                state.variables[name] = own
        return state

    def emit(self, words: Words, at: Location, variables: dict[str, Word]) -> None:
        """Note a command that runs with its environment: the exported variables, and those before the command.

        Raises: Exhausted: there are too many.
        """
        if self.muted:
            return
        if len(self.commands) >= MOST_COMMANDS:
            raise Exhausted(f"more than {MOST_COMMANDS:,} commands")
        if words[0].text == "git":
            self.clones |= _cloned(words)
        environment = (*(each for each in self.environment() if each.name not in variables), *map(Assignment._make, variables.items()))
        self.budget.step(len(self.state.variables) // 200 + len(environment) // 4)  # looked at, and built
        self.commands.append(
            Command(
                words,
                at,
                environment,
                self.uncertain > 0 or self.state.unlikely,
                self.wrappers,
                self.state.folder,
                self.context,
                self.repaired > 0,
            )
        )

    def environment(self) -> tuple[Assignment, ...]:
        """The variables that are exported, each with its value."""
        return tuple(
            Assignment(name, self.exported_word(variable))
            for name, variable in self.state.variables.items()
            if variable.exported and variable.items is None and not variable.unset and variable.parts
        )

    def exported_word(self, variable: Variable) -> Word:
        """The value of a variable as a word, made once for all commands that have it."""
        made = self.exported_words.get(id(variable))
        if made is None:  # the variable is kept, or another one could get its identity
            made = self.exported_words[id(variable)] = (variable, self.word(variable.parts, None))
        return made[1]

    # Shells within the shell

    def shell(self, words: Words, variables: dict[str, Word], feed: Parts | None, at: Location) -> bool:
        """Read the script that a shell gets as an argument or as input; False if it gets none."""
        name = name_of(words[0])
        index, given = given_script(words)
        behind = index
        if given is None and (found := self.own_script(words, index)) is not None:
            index, given = found
            behind = index + 1
        if given is None and (feed is None or index < len(words)):
            return False
        parts = given if given is not None else feed or ()
        if parts and all(part.text is None or part.text.isspace() for part in parts):
            if any(part.name == TOO_LONG for part in parts):
                self.stop(f"a script of more than {LONGEST_VALUE:,} characters within another", at)
            return False  # what it runs is unknown
        if name == "eval":
            self.evaluate(parts)
            return True
        repaired = self.repair_quotes(words, parts) if given is not None and name not in ELSEWHERE else None
        wrapper = Wrapper(name, words if given is None else words[: max(1, behind - 1)], _place_of(words, at))
        state = ShellState(self.budget) if name in ELSEWHERE else self.state.child()
        for key, value in variables.items():
            state.variables[key] = Variable(value.parts, exported=True)
        if name in SHELLS and repaired is None and index < len(words):
            state.arguments = tuple(word.parts for word in words[index + 1 :])
        slurm.set_step_variables(state, at, self.wrappers)
        self.repaired += repaired is not None
        try:
            with self.new_shell(state):
                self.evaluate(parts if repaired is None else repaired, (wrapper,))
        finally:
            self.repaired -= repaired is not None
        return True

    def own_script(self, words: Words, index: int) -> tuple[int, Parts] | None:
        """The index of the script that a shell or `sbatch` reads, and its text, if the file at hand wrote it; None otherwise."""
        place = slurm.read_options(words)[1] if name_of(words[0]) == "sbatch" else index
        written = written_at(words[place], self.written) if place < len(words) else None
        return (place, written.text.parts) if written is not None else None

    def evaluate(self, parts: Parts, wrappers: tuple[Wrapper, ...] = (), most: int = LONGEST_VALUE) -> None:
        """Read parts as a script of at most so many characters: what `eval` and `bash -c` do."""
        self.budget.write(len(parts))
        if is_longer(parts, most):
            self.stop(f"a script of more than {most:,} characters within another", parts[0].use)
            return
        if all(part.text is None or part.text.isspace() for part in parts):
            return
        if self.shells >= DEEPEST_CALL:
            self.stop(f"shells nested more than {DEEPEST_CALL} deep", parts[0].use)
            return
        text, outer, before = ShellText(parts), self.text, self.wrappers
        self.budget.write(0, len(text.string))
        root = parse(text, self.budget)
        self.text = text
        if wrappers and wrappers[-1].name == "sbatch":
            directives = slurm.read_directives(text, root)
            wrappers = (*wrappers[:-1], wrappers[-1]._replace(directives=directives))
            slurm.set_variables(self.state, directives)
        self.wrappers = (*before, *wrappers)
        self.shells += 1
        try:
            self.run_all([root])
        finally:
            self.shells -= 1
            self.text, self.wrappers = outer, before

    def repair_quotes(self, words: Words, parts: Parts) -> Parts | None:
        """The script that `parts`, given to a shell as one of `words`, is with its inner quotes escaped; None if they are in order.

        To bash it ends at the next unescaped quote. If what it ends up with is broken, while all up to the last quote of the
        command is not, the author means the latter: `bash -c "for i in 1; do echo "hello"; done"`.
        """
        places = self.quotes_of(words, parts)
        if len(places) < 3 or not parse(ShellText(parts), self.budget).has_error:
            return None
        outer, text = self.text, quotes.with_escaped_quotes(self.text, places)
        self.budget.write(0, len(text.string))
        node = quotes.only_string(parse(text, self.budget))
        if node is None:
            return None
        self.text = text
        try:
            found = self.value(node)
        finally:
            self.text = outer
        return None if parse(ShellText(found), self.budget).has_error else found

    def quotes_of(self, words: Words, parts: Parts) -> list[int]:
        """The offsets of the quotes from the one that opens the word of `parts` to the end of the command."""
        given = next((word for word in words[1:] if parts and word.at.start <= parts[0].use.start < word.at.stop), None)
        for child in self.command.children if self.command is not None and given is not None else ():
            if given is not None and self.command is not None and self.at(child).start == given.at.start:
                inside = next((node for node in (child, *child.children) if node.type == "string"), None)
                stop = self.text.span(self.command)[1]
                return quotes.unescaped_quotes(self.text.string, self.text.span(inside)[0], stop) if inside is not None else []
        return []


def _place_of(words: Words, at: Location) -> Location:
    """The place of words, from the first to the last, as far as they are within `at`."""
    found = span_of_all([word.at for word in words if word.at.source == at.source and at.start <= word.at.start <= at.stop])
    return found or at


def is_spread(word: Word) -> bool:
    """Whether a word is an unknown number of arguments."""
    return word.many and len(word.parts) == 1 and word.parts[0].name in ("@", "*", "array")


def set_words(words: Words) -> Words:
    """`words` from the first that is one: a variable without quotes in front of them is none unless a user sets it."""
    start = next((i for i, word in enumerate(words) if not _is_unset(word)), 0)  # `$PROFILER python train.py`
    return words[start:]


def _is_unset(word: Word) -> bool:
    return word.many and not is_spread(word) and all(part.text is None and part.default for part in word.parts)


def _cloned(words: Words) -> set[str]:
    """The folder that `git clone URL [FOLDER]` makes; nothing for other commands of git."""
    if len(words) < 3 or words[1].text != "clone":
        return set()
    named = [word.text for _, word in positionals(words, 2, _CLONE_SWITCHES)]
    last = (named[-1] or "").rstrip("/") if named else ""
    return {last if len(named) > 1 else last.rpartition("/")[2].removesuffix(".git")}
