"""Commands that run others: the inner one is what counts, the outer ones stay with it."""

import pytest

from tests.shell.reading import argv, commands, lines, only, written

UNWRAPPED = {
    "none": ("foo 1", []),
    "nohup": ("nohup foo 1 > log &", ["nohup"]),
    "time": ("time foo 1", ["time"]),
    "timeout": ("timeout -k 5 2h foo 1", ["timeout"]),
    "env": ("env A=1 B=2 foo 1", ["env"]),
    "exec": ("exec foo 1", ["exec"]),
    "srun": ("srun foo 1", ["srun"]),
    "srun-options": ("srun --nodes=2 --ntasks 4 -N 2 -l --jobid $ID --kill-on-bad-exit=1 foo 1", ["srun"]),
    "srun-unknown-options": ("srun $OPTIONS foo 1", ["srun"]),
    "srun-string-of-options": ('A=" --wait=60 --nodes=2 "\nsrun $A foo 1', ["srun"]),
    "container": ("srun apptainer exec --nv --bind /data image.sif foo 1", ["srun", "apptainer"]),
    "docker": ("docker run --rm --gpus all -v $PWD:/w image foo 1", ["docker"]),
    "uv": ("uv run --extra x foo 1", ["uv"]),
    "poetry": ("poetry run foo 1", ["poetry"]),
    "conda": ("conda run -n env --no-capture-output foo 1", ["conda"]),
    "neuron_parallel_compile": ("neuron_parallel_compile foo 1", ["neuron_parallel_compile"]),
    "numactl": ("numactl --cpunodebind=0 foo 1", ["numactl"]),
    "gantry": ("gantry run --gpus 8 -- foo 1", ["gantry"]),
    "bash-c": ('bash -c "foo 1"', ["bash"]),
    "bash-options": ("bash -lc 'foo 1'", ["bash"]),
    "srun-bash": ('srun --nodes=1 bash -c "set -e; foo 1"', ["srun", "bash"]),
    "bash-in-bash": ("bash -c \"bash -c 'foo 1'\"", ["bash", "bash"]),
    "eval": ('C="foo 1"\neval "$C"', []),
    "eval-words": ("eval foo 1", []),
    "string-run": ('C="foo 1"\n$C', []),
    "entry-point": ('srun --container-image=i /opt/entry.sh bash -c "foo 1"', ["srun", "entry.sh", "bash"]),
    "heredoc": ("bash <<EOF\nfoo 1\nEOF", ["bash"]),
    "heredoc-quoted": ("bash -s <<'EOF'\nfoo 1\nEOF", ["bash"]),
    "ssh": ("ssh -p 22 host 'cd x && foo 1'", ["ssh"]),
    "xpk": ("xpk workload create --cluster=c --command='cd x && foo 1'", ["xpk"]),
    "gcloud": ('gcloud compute tpus tpu-vm ssh host --worker=all --command "foo 1"', ["gcloud"]),
    "wrap": ('sbatch --nodes=2 --wrap="foo 1"', ["sbatch"]),
    "submitted": ("sbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=2\nfoo 1\nEOF", ["sbatch"]),
    "substitution": ("J=$(srun foo 1)", ["srun"]),
    "command": ("command foo 1", ["command"]),
    "all": ('C="foo 1"\nnohup srun -N 1 env A=1 bash -c "$C" &', ["nohup", "srun", "env", "bash"]),
}


@pytest.mark.parametrize(("text", "wrappers"), UNWRAPPED.values(), ids=UNWRAPPED)
def test_the_inner_command_counts(text: str, wrappers: list[str]) -> None:
    command = only(text)
    assert argv(command) == ["foo", "1"]
    assert [wrapper.name for wrapper in command.wrappers] == wrappers


@pytest.mark.parametrize("maybe", ["nohup", "srun -l", ""])
def test_what_may_be_in_front_of_a_launcher_does_not_hide_it(maybe: str) -> None:
    (command,) = commands(f'if [ "$PROFILE" = 1 ]; then\n    MAYBE="{maybe}"\nfi\n$MAYBE torchrun train.py', "torchrun")
    assert argv(command) == ["torchrun", "train.py"]


def test_what_may_be_in_front_of_another_command_stays() -> None:
    assert commands('if [ "$MANY" = 1 ]; then\n    MAYBE="torchrun"\nfi\n$MAYBE python train.py', "python") == []


def test_a_wrapper_keeps_its_words() -> None:
    (wrapper,) = only("srun --nodes=2 -l foo 1").wrappers
    assert [word.text for word in wrapper.words] == ["srun", "--nodes=2", "-l"]


def test_a_submitted_script_keeps_its_directives() -> None:
    text = "sbatch <<EOF\n#!/bin/bash\n#SBATCH --nodes=2\nfoo \\$SLURM_NNODES\nEOF"
    command = only(text)
    assert argv(command) == ["foo", "2"]
    assert [(d.name, d.value) for d in command.wrappers[0].directives] == [("--nodes", "2")]


def test_an_unknown_command_stays_a_command_of_its_shell() -> None:
    (command,) = commands('bash -c "$COMMAND"', "bash")
    assert argv(command) == ["bash", "-c", None]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("A=1\nbash -c \"foo $A\"", "1"), ("export A=1\nbash -c 'foo $A'", "1"), ("export A=1\nbash -c \"foo \\$A\"", "1"),
     ("A=1\nbash -c 'foo $A'", None), ("A=2 bash -c 'foo $A'", "2"), ("bash -c 'foo $1' x 3", "3"), ("export A=1\nssh h 'foo $A'", None),
     ("set -a\nA=1\nbash -c 'foo $A'", "1")],
    ids=["outer", "exported", "escaped", "not-exported", "prefixed", "argument", "other-machine", "all-exported"],
)  # fmt: skip
def test_a_new_shell_has_what_is_exported(text: str, wanted: str | None) -> None:
    assert argv(only(text)) == ["foo", wanted]


def test_words_in_a_string_have_their_own_places() -> None:
    text = lines("""
        N=8
        srun bash -c "foo \\
          --n $N \\
          --m \\$M --k 3"
    """)
    command = only(text)
    assert argv(command) == ["foo", "--n", "8", "--m", None, "--k", "3"]
    assert [written(text, word.at) for word in command.words] == ["foo", "--n", "$N", "--m", "$M", "--k", "3"]
    assert written(text, command.words[2].value_at) == "8"


def test_words_of_a_string_have_the_places_in_it() -> None:
    text = 'N=8\nC="foo --n $N"\nC+=" --m 3"\n$C'
    command = only(text)
    assert [written(text, word.at) for word in command.words] == ["foo", "--n", "$N", "--m", "3"]
    assert written(text, command.at) == "$C"


def test_a_command_made_of_variables_is_located_at_its_first_word() -> None:
    text = 'B="--n 8"\nA="foo --m 3"\nC="$A $B"\nbash -c "$C --k 4"'
    command = only(text)
    assert argv(command) == ["foo", "--m", "3", "--n", "8", "--k", "4"]
    assert written(text, command.at).startswith("foo --m 3")


def test_the_environment_of_a_command_is_what_the_script_gives() -> None:
    text = "export A=1\nB=2\nC=3 foo"
    command = only(text)
    assert {entry.name: entry.value.text for entry in command.environment} == {"A": "1", "C": "3"}
    variable = command.variable("A")
    assert variable is not None
    assert written(text, variable.value_at) == "1"
    assert command.variable("B") is None


def test_variables_given_with_env_are_in_the_environment() -> None:
    command = only("env -u X A=1 foo")
    assert {entry.name: entry.value.text for entry in command.environment} == {"A": "1"}
