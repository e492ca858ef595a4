"""Job arrays of Slurm: each task has its number, and a script that asks for it is read once for each."""

import pytest

from pytest_gbs.model.command import Invocation
from pytest_gbs.model.location import Source
from pytest_gbs.shell import read_commands
from pytest_gbs.shell.starting import started_script
from tests.shell.reading import argv, commands

ITEMS = 'C=(a b c d)\nfoo "${C[$SLURM_ARRAY_TASK_ID]}"\n'


def read(option: str, body: str = ITEMS) -> list[list[str | None]]:
    """The commands of an array."""
    return [argv(command) for command in commands(f"#!/bin/bash\n#SBATCH {option}\n{body}")]


@pytest.mark.parametrize(
    "option",
    [
        pytest.param("--nodes=2", id="no array"),
        pytest.param("--array=$N", id="a variable"),
        pytest.param("--array=0-9999", id="too many"),
        pytest.param("--array=x", id="no numbers"),
        pytest.param("--array=0-", id="broken"),
    ],
)
def test_the_task_is_unknown(option: str) -> None:
    assert read(option) == [["foo", None]]


@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        pytest.param("--array=0-2", "abc", id="a range"),
        pytest.param("-a 1,3", "bd", id="a list"),
        pytest.param("--array=0-3:2", "ac", id="with a step"),
        pytest.param("--array=0-3%2", "abcd", id="a few at a time"),
        pytest.param("--array=2", "c", id="one"),
        pytest.param("--array=0-1,3", "abd", id="a range and one"),
    ],
)
def test_each_task_has_its_number(option: str, wanted: str) -> None:
    assert read(option) == [["foo", each] for each in wanted]


def test_commands_that_do_not_ask_for_the_number_are_read_once() -> None:
    assert read("--array=0-3", "foo a\n") == [["foo", "a"]]
    assert read("--array=0-1", "foo a\nfoo $SLURM_ARRAY_TASK_ID\n") == [["foo", "a"], ["foo", "0"], ["foo", "1"]]


def test_conditions_on_the_number_are_decided() -> None:
    body = "if [ $SLURM_ARRAY_TASK_ID -eq 0 ]; then N=2; else N=4; fi\nfoo $N\n"
    assert read("--array=0-2", body) == [["foo", "2"], ["foo", "4"]]


def test_sbatch_says_which_tasks_there_are() -> None:
    found = started_script(commands("sbatch --array=1-2 job.sh", "sbatch")[0])
    assert found is not None
    script = read_commands(Source("job.sh", "#!/bin/bash\n#SBATCH --nodes=2\n" + ITEMS), None, Invocation(directives=found[1].directives))
    assert [argv(command) for command in script.commands] == [["foo", "b"], ["foo", "c"]]
