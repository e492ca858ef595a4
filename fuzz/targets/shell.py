"""Shell and Slurm scripts, with other files that they source and start: reading ends, and each word lies in the script."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.seeds import repositories, texts
from fuzz.target import Target, files, joined
from pytest_gbs.model.command import OtherFiles
from pytest_gbs.shell import read_commands


def _run(data: bytes) -> None:
    held = files(data)
    for path, source in held.items():
        if path.endswith((".sh", ".slurm", ".sbatch")):
            for command in read_commands(source, OtherFiles(held.get, held.__contains__)).commands:
                for word in command.words:
                    assert word.text is None or isinstance(word.text, str)


def _seeds() -> Iterator[bytes]:
    for text in texts(".sh", ".slurm", ".sbatch"):
        yield joined([("run.sh", text), ("env.sh", "export GPUS=8\n")])
    yield from (joined(each) for each in repositories() if any(name.endswith((".sh", ".slurm")) for name, _ in each))
    yield joined([("run.sh", _LONG), ("env.sh", "export N=${N:-4}\nf() { echo $((N * 2)); }\n")])


_LONG = """\
#!/bin/bash
#SBATCH --nodes=4 --array=0-3
set -euo pipefail
. ./env.sh
for i in 1 2 {3..5}; do GPUS=$(( i * $(f) )); done
while [[ $N -gt 1 ]]; do N=$((N/2)); done
case "$1" in a*|b) X=(1 "2 3") ;; *) X=${2:-d%.y*} ;; esac
if [ "$#" -lt 1 ] && ! grep -q batch c.yaml; then exit 1; fi
read -r a b <<< "${X[@]}"; eval "c=$a"
while getopts ":n:g:h" o; do case $o in n) N=$OPTARG ;; g) GPUS+=("$OPTARG") ;; :|\\?) exit 1 ;; esac; done; shift $((OPTIND - 1))
[[ $1 =~ ^(a|b)[0-9]+$ && ${BASH_REMATCH[1]} == a* ]] && X=(${1%%[0-9]*})
torchrun --nproc_per_node "${GPUS}" train.py --config ${C//a/b} $(cat <<'EOF'
--x=1
EOF
) | tee log.txt &
"""
TARGET = Target(
    _run,
    _seeds,
    (
        *(
            "$(",
            "$((",
            "${",
            "<<EOF\n",
            "EOF\n",
            "[[ ",
            "]]",
            "if ",
            "then\n",
            "fi\n",
            "for i in ",
            "do\n",
            "done\n",
            "case ",
            "esac\n",
            "&& ",
        ),
        *("|| ", "source env.sh\n", "bash run.sh\n", "eval ", "export ", "function f { ", "}\n", "#SBATCH --nodes=", "accelerate launch "),
        *(
            "torchrun --nproc_per_node ",
            "${a:-",
            "${#a}",
            "${a//b/c}",
            "${!a}",
            "$@",
            "shift\n",
            "set -- ",
            "declare -A ",
            "getopts a:b o ",
            "$OPTARG ",
            "[[ $a =~ ",
            "while ",
            "{1..9}",
        ),
    ),
)
