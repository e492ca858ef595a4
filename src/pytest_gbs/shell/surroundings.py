"""What a command finds around it: the variables in its environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.model.command import Assignment, Word

if TYPE_CHECKING:
    from pytest_gbs.shell.machine import Machine
    from pytest_gbs.shell.state import Variable


def environment_of(machine: Machine, before: tuple[tuple[str, Word], ...]) -> tuple[Assignment, ...]:
    """Return the exported variables, and those that stand before the command."""
    found = {
        name: _word(machine, variable)
        for name, variable in machine.state.variables.items()
        if variable.exported and variable.items is None and not variable.unset and variable.parts
    }
    found.update(before)
    machine.budget.step(len(machine.state.variables) // 100)
    return tuple(Assignment(name, value) for name, value in found.items())


def _word(machine: Machine, variable: Variable) -> Word:
    """Return the value of a variable as a word, made once for all commands that have it."""
    made = machine.exported_words.get(id(variable))
    if made is None:  # the variable is kept, or another one could get its identity
        made = machine.exported_words[id(variable)] = (variable, machine.word(variable.parts, None))
    return made[1]
