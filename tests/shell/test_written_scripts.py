"""Scripts that a script writes itself and then runs."""

import pytest

from tests.shell.reading import argv, commands

SILENT = {
    "written, not run": "cat > run.sh <<EOF\nfoo 1\nEOF",
    "another one is run": "cat > run.sh <<EOF\nfoo 1\nEOF\nbash other.sh",
    "run before it is written": "bash run.sh\ncat > run.sh <<EOF\nfoo 1\nEOF",
    "written anew": "echo 'foo 1' > run.sh\necho 'bar 1' > run.sh\nbash run.sh",
    "a log": "echo 'foo 1' > run.log\nbash run.log",
    "to the screen": "echo 'foo 1'\nbash run.sh",
    "errors": "echo 'foo 1' 2> run.sh\nbash run.sh",
    "an unknown text": "echo $COMMAND > run.sh\nbash run.sh",
    "itself": "cat > run.sh <<EOF\nbash run.sh\nEOF\nbash run.sh",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_is_not_run_is_not_a_command(text: str) -> None:
    assert commands(text) == []


RUN = {
    "cat": ("cat > run.sh <<EOF\nfoo 1\nEOF\nbash run.sh", ["1"]),
    "tee": ("tee run.sh <<EOF\nfoo 1\nEOF\nsh run.sh", ["1"]),
    "echo": ("echo 'foo 1' > run.sh\nbash run.sh", ["1"]),
    "echo of a variable": ('TEXT=$(cat <<- EOM\n  foo 1\nEOM\n)\necho "$TEXT" > run.sh\nbash -x run.sh', ["1"]),
    "line by line": ("echo 'N=2' > run.sh\necho 'foo $N' >> run.sh\nbash run.sh", ["2"]),
    "echo -e": ("echo -e 'foo 1' > run.sh\nbash run.sh", ["1"]),
    "with arguments": ("cat > run.sh <<'EOF'\nfoo $1\nEOF\nbash run.sh 3", ["3"]),
    "with variables": ("export N=4\ncat > run.sh <<'EOF'\nfoo $N\nEOF\nbash run.sh", ["4"]),
    "of a job": ("cat > job.sh <<EOF\n#SBATCH --nodes=5\nfoo \\$SLURM_JOB_NUM_NODES\nEOF\nsbatch --mem=0 job.sh", ["5"]),
    "at an unknown place": ('cat > "$OUT/run.sh" <<EOF\nfoo 1\nEOF\nbash "$OUT/run.sh"', ["1"]),
    "in each process": ("echo 'foo 1' > run.sh\ntorchrun --no-python bash run.sh", ["1"]),
}


@pytest.mark.parametrize(("text", "wanted"), RUN.values(), ids=RUN)
def test_what_is_run_is_read(text: str, wanted: list[str]) -> None:
    assert [argv(command)[1] for command in commands(text)] == wanted
