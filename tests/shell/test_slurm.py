"""Slurm: the options a script states, and the variables they fix."""

import pytest

from pytest_gbs.model.command import Invocation
from pytest_gbs.model.location import Source
from pytest_gbs.shell import read_commands
from pytest_gbs.shell.starting import started_script
from tests.shell.reading import argv, commands, script, written

NO_DIRECTIVE = {
    "commented-out": "##SBATCH --nodes=4",
    "blank-before": "# SBATCH --nodes=4",
    "behind-a-command": "foo\n#SBATCH --nodes=4",
    "another-word": "#SBATCHES --nodes=4",
    "in-a-string": 'echo "\n#SBATCH --nodes=4\n"',
}


@pytest.mark.parametrize("text", NO_DIRECTIVE.values(), ids=NO_DIRECTIVE)
def test_other_comments_state_no_options(text: str) -> None:
    assert script("#!/bin/bash\n" + text + "\n").directives == ()


OPTIONS = {
    "long": ("--nodes=4", [("--nodes", "4")]),
    "blank": ("--nodes 4", [("--nodes", "4")]),
    "short": ("-N 4", [("--nodes", "4")]),
    "glued": ("-N4", [("--nodes", "4")]),
    "commented": ("--nodes=4   # as the recipe", [("--nodes", "4")]),
    "switch": ("--exclusive", [("--exclusive", None)]),
    "two": ("-N 2 --gpus-per-node=8", [("--nodes", "2"), ("--gpus-per-node", "8")]),
    "quoted": ('--constraint="a b"', [("--constraint", "a b")]),
    "switch-then-option": ("--exclusive --nodes=2", [("--exclusive", None), ("--nodes", "2")]),
    "template": ("--nodes={{ nodes }}", [("--nodes", None)]),
    "gres": ("--gres=gpu:h100:8", [("--gres", "gpu:h100:8")]),
    "time": ("-t 3-00:00:00", [("--time", "3-00:00:00")]),
}


@pytest.mark.parametrize(("line", "wanted"), OPTIONS.values(), ids=OPTIONS)
def test_directives_are_read_as_sbatch_does(line: str, wanted: list[tuple[str, str | None]]) -> None:
    text = f"#!/bin/bash\n\n# a job\n#SBATCH {line}\n"
    found = script(text).directives
    assert [(directive.name, directive.value) for directive in found] == wanted
    assert all(directive.value is None or written(text, directive.at) == directive.value for directive in found)


VARIABLES = {
    "nodes": ("-N 4", "SLURM_NNODES", "4"),
    "job-nodes": ("--nodes=4", "SLURM_JOB_NUM_NODES", "4"),
    "last-wins": ("--nodes=4\n#SBATCH --nodes=2", "SLURM_NNODES", "2"),
    "tasks": ("--ntasks=16", "SLURM_NTASKS", "16"),
    "tasks-of-nodes": ("--nodes=4 --ntasks-per-node=8", "SLURM_NTASKS", "32"),
    "tasks-per-node": ("--ntasks-per-node=8", "SLURM_NTASKS_PER_NODE", "8"),
    "gpus": ("--gpus-per-node=8", "SLURM_GPUS_PER_NODE", "8"),
    "gpus-of-a-kind": ("--gpus-per-node=h100:8", "SLURM_GPUS_ON_NODE", "8"),
    "gres": ("--gres=gpu:8", "SLURM_GPUS_ON_NODE", "8"),
    "gres-of-a-kind": ("--gres=gpu:a100:4", "SLURM_GPUS_ON_NODE", "4"),
    "gpus-of-tasks": ("--ntasks-per-node=2 --gpus-per-task=h100:4", "SLURM_GPUS_ON_NODE", "8"),
    "gpus-of-some-tasks": ("--ntasks=2 --gpus-per-task=4", "SLURM_GPUS_ON_NODE", None),
    "nothing-said": ("--exclusive", "SLURM_NNODES", None),
    "range": ("--nodes=2-4", "SLURM_NNODES", None),
    "placeholder": ("--nodes={{ n }}", "SLURM_NNODES", None),
    "rank": ("--nodes=4", "SLURM_PROCID", None),
    "not-a-default-in-a-job": ("--exclusive", "SLURM_NNODES:-1", None),
}


@pytest.mark.parametrize(("line", "name", "value"), VARIABLES.values(), ids=VARIABLES)
def test_directives_fix_variables(line: str, name: str, value: str | None) -> None:
    text = f"#!/bin/bash\n#SBATCH {line}\nfoo ${{{name}}}"
    (command,) = (command for command in script(text).commands if command.words[0].text == "foo")
    assert command.words[1].text == value


def test_a_variable_of_slurm_is_located_in_its_directive() -> None:
    text = "#!/bin/bash\n#SBATCH --nodes=4\nN=$SLURM_NNODES\nfoo $((N * 8)) $N"
    (command,) = commands(text)
    word = command.words[2]
    assert (word.text, written(text, word.value_at), word.value_at.start) == ("4", "4", 28)
    assert word.note == "sbatch --nodes"


def test_a_variable_of_slurm_elsewhere_is_a_default() -> None:
    word = commands("foo ${SLURM_NNODES:-1}")[0].words[1]
    assert (word.text, word.default) == ("1", True)


def test_srun_with_other_nodes_changes_what_its_shell_sees() -> None:
    text = "#!/bin/bash\n#SBATCH --nodes=4\nsrun --nodes=2 bash -c 'foo $SLURM_NNODES'\nsrun bash -c 'foo $SLURM_NNODES'"
    assert [argv(command)[1] for command in commands(text)] == [None, "4"]


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [
        pytest.param("2", [None, None], id="fewer"),
        pytest.param("$N", [None, None], id="unknown"),
        pytest.param("$SLURM_JOB_NUM_NODES", ["4", "32"], id="those of the job"),
        pytest.param("4", ["4", "32"], id="as many"),
    ],
)
def test_a_step_on_as_many_nodes_as_its_job_knows_what_the_job_knows(nodes: str, wanted: list[str | None]) -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=4 --ntasks=32\nsrun -N{nodes} bash -c 'foo $SLURM_JOB_NUM_NODES $SLURM_NTASKS'"
    assert [argv(command)[1:] for command in commands(text)] == [wanted]


def test_a_script_is_read_as_it_is_submitted() -> None:
    (command,) = commands("sbatch --nodes=2 -J x train.slurm --model m 8", "sbatch")
    started = started_script(command)
    assert started is not None
    file, invocation = started
    assert file.text == "train.slurm"
    text = '#!/bin/bash\n#SBATCH --nodes=1\nwhile [[ $# -gt 1 ]]; do M=$2; shift 2; done\nfoo $SLURM_NNODES $M "$@"'
    found = read_commands(Source("train.slurm", text), None, invocation)
    assert argv(found.commands[-1]) == ["foo", "2", "m", "8"]


@pytest.mark.parametrize("text", ["sbatch --wrap=x", "python train.py", "bash -x", 'sbatch run.sh "$@"', "bash $X"], ids=range(5))
def test_a_command_that_starts_no_script_known_starts_none(text: str) -> None:
    found = script(text).commands
    assert all(started_script(command) is None for command in found)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        pytest.param("foo $1 $3", ["a", None], id="behind them"),
        pytest.param("foo $#", [None], id="how many"),
        pytest.param("shift 2; foo $1", [None], id="beyond them"),
        pytest.param("shift; foo $2", [None], id="beside them"),
        pytest.param('foo "$@"', ["a", None, "b"], id="all"),
        pytest.param("shift $#; foo $1", [None], id="so many"),
    ],
)
def test_arguments_of_which_one_may_be_several(body: str, wanted: list[str | None]) -> None:
    (command,) = commands("./run.sh a $X b", "./run.sh")
    started = started_script(command)
    assert started is not None
    assert argv(read_commands(Source("run.sh", body), None, started[1]).commands[-1])[1:] == wanted


def test_arguments_given_are_the_arguments() -> None:
    (command,) = commands("bash run.sh 8 'a b'", "bash")
    started = started_script(command)
    assert started is not None
    found = read_commands(Source("run.sh", 'foo "$1" "$2" $# "${3:-z}"'), None, started[1])
    assert argv(found.commands[0]) == ["foo", "8", "a b", "2", "z"]
    assert isinstance(started[1], Invocation)
