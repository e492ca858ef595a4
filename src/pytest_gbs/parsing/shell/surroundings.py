"""What a command finds around it: the variables in its environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.core.command import Assignment, Word

if TYPE_CHECKING:
    from pytest_gbs.parsing.shell.machine import Machine


def environment_of(machine: Machine, before: tuple[tuple[str, Word], ...]) -> tuple[Assignment, ...]:
    """Return the exported variables, and those that stand before the command."""
    found = {
        name: machine.word(variable.parts, None)
        for name, variable in machine.state.variables.items()
        if variable.exported and variable.items is None and not variable.unset and variable.parts
    }
    found.update(before)
    machine.budget.step(len(machine.state.variables) // 4)
    return tuple(Assignment(name, value) for name, value in found.items())
