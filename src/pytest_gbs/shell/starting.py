"""A command that starts another script: which one, and with what."""

from __future__ import annotations

from pytest_gbs.model.command import Command, Invocation, Word, name_of
from pytest_gbs.model.document import SCRIPTS
from pytest_gbs.shell.slurm import HANDS_RANKS_ON, read_options
from pytest_gbs.shell.values import any_number
from pytest_gbs.shell.wrappers import SHELLS


def started_script(command: Command) -> tuple[Word, Invocation] | None:
    """The script that a command starts (`sbatch`, `bash FILE`, `./run.sh`) and how; None if it starts none."""
    words, environment = command.words, command.environment
    name = name_of(words[0])
    if name == "sbatch":
        directives, index = read_options(words)
        if any(directive.name == "--export" and directive.value in ("NONE", "NIL") for directive in directives):
            environment = ()
    else:
        directives, index = (), _index(name, words)
    if index >= len(words) or not words[index].parts or not (words[index].text or words[index].parts[-1].text or "").endswith(SCRIPTS):
        return None
    given = words[index + 1 :]
    if given and all(any_number((word.parts,))[0] for word in given):
        return None
    around = () if name == "sbatch" else tuple(wrapper for wrapper in command.wrappers if wrapper.name in ("srun", HANDS_RANKS_ON))
    return words[index], Invocation(given, environment, directives, around)


def _index(name: str, words: tuple[Word, ...]) -> int:
    """The index of the script that a shell is given, or that is itself the command."""
    if name not in SHELLS:
        return 0
    return next((index for index, word in enumerate(words[1:], 1) if not word.starts_with.startswith("-")), len(words))
