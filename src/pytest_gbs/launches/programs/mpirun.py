"""mpirun: so many processes of a Python program over all hosts.

Open MPI 5.0, mpirun(1): `-n`, `-np`, `--n`, `--np` and `-c` are the same; so are `-n` and `-np` of MPICH's and Intel's mpiexec.
"""

from __future__ import annotations

from pytest_gbs.launches.programs._programs import is_python, own_program
from pytest_gbs.launches.programs._ranks import may_train_alone
from pytest_gbs.launches.programs._words import option, size
from pytest_gbs.model.command import Command, name_of
from pytest_gbs.model.launch import Launcher, LauncherContext, Start
from pytest_gbs.model.quantity import Name, Reason, Unknown


def start(command: Command, context: LauncherContext) -> Start | None:
    """What `mpirun -np N python ...` starts."""
    if name_of(command.words[0]) not in ("mpirun", "mpiexec"):
        return None
    place = next((place for place, word in enumerate(command.words) if is_python(word)), 0)
    inner = command._replace(words=command.words[place:])
    index = own_program(inner) if place else None
    if index is None:
        return None
    given = option(command.words[1:place], "-n", "-np", "--n", "--np", "-c")
    known = given is not None and not may_train_alone(inner, index, context)
    world = size(Name.WORLD_SIZE, given[1], given[0]) if given is not None and known else Unknown(Name.WORLD_SIZE, Reason.MISSING)
    return Start("mpirun", command.at, (world,), inner.words[index:])


LAUNCHER = Launcher("mpirun", "mpirun -np N python script.py", words=("mpirun", "mpiexec"), start=start)
