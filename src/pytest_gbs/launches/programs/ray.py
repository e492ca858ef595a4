"""ray job submit: a program on a cluster, of which only the cluster knows how many processes will train."""

from __future__ import annotations

from itertools import dropwhile

from pytest_gbs.launches.programs._programs import python_program
from pytest_gbs.model.command import Command, Word, name_of
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Reason, Unknown


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `ray job submit ... -- python ...` starts."""
    words = command.words
    if name_of(words[0]) != "ray" or tuple(word.text for word in words[1:3]) != ("job", "submit"):
        return None
    place = next((place for place, word in enumerate(words) if word.text == "--"), len(words))
    # A shell of the cluster runs what is behind `--`, so that variables may be set before the program.
    inside = tuple(dropwhile(_sets_variable, words[place + 1 :]))
    index = python_program(command._replace(words=inside)) if inside else None
    if not inside:
        return None
    return Start("ray job submit", command.at, (Unknown(Name.WORLD_SIZE, Reason.MISSING),), inside[index or 0 :])


def _sets_variable(word: Word) -> bool:
    name, equals, _ = word.starts_with.partition("=")
    return bool(equals) and name.isidentifier()


LAUNCHER = Launcher("ray", "ray job submit -- python script.py", words=("ray job",), start=start, elsewhere=True)
