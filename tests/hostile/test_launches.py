"""Scripts, links, jobs and Makefiles of a stranger that start each other, or name what would grow: none of them affects the rest."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import write
from tests.hostile.texts import IN_SHELL, MADE, RUN, job, numbered
from tests.hostile.watched import GOOD, run_calmly

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no links, no getrusage")

SBATCH = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
ADDS = 'ARGS="$ARGS --load x"'
STEPS = "a/" * 4_000


SCRIPTS = {
    "programs of many steps": "".join(f"python /{STEPS}t{n}.py --config good.yaml\n" for n in range(100)),
    "programs of many steps at home": "".join(f"python ~/{'../' * 4_000}t{n}.py --config good.yaml\n" for n in range(70)),
    "a program of 9,000 steps": f"python /{'a/' * 9_000}t.py --config good.yaml\n" * 40,
    "entry points of many steps": "".join(f"/{STEPS}t{n}.sh bash -c 'python train.py --config good.yaml'\n" for n in range(100)),
    "entry points of 40 steps": f"/{'a/' * 40}t.sh bash -c 'python train.py --config good.yaml'\n" * 1_500,
    "entry points of entry points": f"{'/a/b.sh ' * 3_000}bash -c '{RUN[:-1]}'\n",
    "it submits itself": f"{SBATCH}sbatch run.sh\nsbatch $0\nsbatch ${{BASH_SOURCE[0]}}\nsbatch --export=ALL,N=$((N+1)) run.sh\n{RUN}",
    "exports that double": f"{SBATCH}A=8\n{'A=$A$A' + chr(10)}" * 60 + f"sbatch --export=ALL,A=$A run.sh\n{RUN}",
    "it writes itself": f"cat > run.sh <<'EOF'\nbash run.sh\nEOF\nbash run.sh\nsbatch run.sh\n{RUN}",
    "scripts that write scripts": numbered("cat > s#.sh <<EOF\nsbatch s@.sh\nsbatch s@.sh\nEOF\n", 600, "", "sbatch s600.sh\n"),
    "wraps in wraps": 'sbatch --wrap "' * 6_000 + RUN,
    "hosts within hosts": f"{'ssh h ' * 30_000}{RUN}{'ssh h <<E' + chr(10)}" * 2 + RUN,
    "containers in containers": "docker run -e A=$A -v /:/ x " * 12_000 + RUN,
    "folders back and forth": "pushd a\ncd b\ncd -\npopd\n" * 9_000 + RUN,
    "folders without end": f"pushd {'a/' * 2_000}\n{'pushd a' + chr(10)}" * 2 + "pushd a\n" * 15_000 + RUN,
    "words that branches add": f"ARGS=a\n{'if [ $X ]; then ' + ADDS + '; fi' + chr(10)}" * 3_000 + RUN,
    "items that branches add": "ARGS=(a)\n" + "if [ $X ]; then ARGS+=(--load x); fi\n" * 6_000 + RUN.replace("\n", " ${ARGS[@]}\n"),
    "branches in branches that add": f"ARGS=a\n{f'if [ $X ]; then {ADDS}; ' * 35}{'fi;' * 35}\n{RUN}",
    "cases that add": numbered(f"b#) {ADDS};;\n", 5_000, "ARGS=a\ncase $X in\n", f"esac\n{RUN}"),
    "flags that are switched off": f"accelerate launch train.py {'`# --x` ' * 20_000}--config good.yaml\n",
    "blanks to be filled in": f"{'<your path> ' * 20_000}\n{RUN}{'cd <a' + chr(10)}",
    "jobs of several parts": "#SBATCH --gpus-per-task=4\n#SBATCH hetjob\n" * 20_000 + RUN,
    "names of names": numbered("declare -n a#=a@\n", 8_000, "declare -n a0=a8000\n", RUN.replace("8 ", "$a1 ")),
    "traps": "trap 'bash run.sh' EXIT ERR DEBUG\n" * 10_000 + RUN,
    "an open here-document": "cat <<E\n" + "x $A\n" * 150_000 + RUN,
    "here-documents on one line": f"cat {'<<E ' * 5_000}\n{RUN}",
    "powers of powers": f"N=$((9**9**9**9))\nlet M=1<<10**9 K=2**62*2**62\n{MADE}",
    "brackets of arithmetic": f"N=$(({'(' * 20_000}8{')' * 20_000}))\n{MADE}",
    "replacements that double": f"A=aa\n{'A=${A//a/aa}' + chr(10)}" * 60 + f"N=${{#A}}\n{MADE}",
    "patterns of stars": f"A={'a' * 15_000}\nN=${{A//{'*a' * 9}b/x}}\ncase $A in {'*a' * 9}b) N=8;; esac\n[[ $A =~ (a+)+b ]]\n{MADE}",
    "braces of a billion": f"echo {{1..1000000000}} {{a..z}}{{a..z}}{{a..z}}{{a..z}}\nfor i in {{1..1000000000..2}}; do {RUN}done\n",
    "braces in braces": f"for i in {'{a,b}' * 30}; do {RUN}done\n",
    "an index of 10^18": f"A[10**18]=8\nB=([1000000000000]=1)\nN=${{A[10**18]}}\n{MADE}",
    "items that double": "A=(1)\n" + 'A+=("${A[@]}")\n' * 60 + f"N=${{#A[@]}}\n{MADE}",
    "arguments that double": "set -- 1\n" + "set -- $@ $@\n" * 60 + f"N=$#\n{MADE}",
    "evaluations that double": f"X='eval \"$X\"; eval \"$X\"'\neval \"$X\"\n{RUN}",
    "functions that call each other": numbered("f#() { f@; g@; }\ng#() { f@; g@; }\n", 300, f"f0() {{ {RUN[:-1]}; }}\n", "f300\n"),
    "widths of a billion": f"N=$(printf %1000000000d 8)\nprintf -v M '%*d' 1000000000 8\n{MADE}",
    "counts of a billion": f"for i in $(seq 1 1000000000) $(seq 0 1e-9 1); do {RUN[:-1]} --x $i; done\nmapfile -t A < <(seq 1 999999999)\n",
    "processes in processes": f"cat {'<(cat ' * 5_000}{RUN[:-1]}{')' * 5_000}\n{RUN}",
    "loops without end": f"while :; do until false; do for ((i = 0; i < 10**18; i++)); do {RUN[:-1]}; done; done; done\n",
    "cases of a megabyte": numbered("x#) N=#;;\n", 60_000, "case $X in\n", f"esac\n{MADE}"),
    "it reads itself": f"{'source $0' + chr(10)}source <(cat run.sh)\nbash < run.sh\ncat run.sh | bash\n" * 50 + RUN,
    "calculators": f"N=$(echo '9^9^9^9' | bc)\nM=$(python -c 'print(9**9**9)')\nK=$(awk 'BEGIN {{print 9^9^9}}')\n{MADE}",
    "nodes without number": f"#SBATCH --nodelist=n[1-99999999999]\n#SBATCH --nodes=1-9999999999999999\n#SBATCH --array=0-99999999%9\n{RUN}",
    "devices without number": f"CUDA_VISIBLE_DEVICES={','.join(map(str, range(20_000)))} {RUN}",
    "options": "while getopts 'a:b:' o; do case $o in a) A=$A$OPTARG;; esac; done\n" * 3_000 + RUN,
}  # fmt: skip
MAKE = {
    "variables that double at once": f"A := 8\n{'A := $(A)$(A)' + chr(10)}" * 40 + f"all:\n\techo $(A)\n\t{RUN}",
    "a variable that is added to": "A = 8\n" + "A += $(A) $(A)\n" * 20_000 + f"all:\n\techo $(A)\n\t{RUN}",
    "a text that evaluates itself": f"define f\nA = $(eval $(call f))$(eval $(call f))\nendef\n$(eval $(call f))\nall:\n\t{RUN}",
    "it includes itself": "include Makefile\n-include ./Makefile a/../Makefile\n" * 500 + f"all:\n\t{RUN}",
    "it makes itself": f"all: all\n\t$(MAKE) all\n\tmake -C . all\n\tcd . && make\n\t{RUN}",
    "conditions in conditions": "ifdef A\n" * 20_000 + f"all:\n\t{RUN}" + "endif\n" * 20_000,
    "variables of targets": numbered("t#: N = $(N) $(N)\n", 9_000, "", f"%: N=8\nall:\n\t{RUN.replace('8 ', '$(N) ')}"),
    "definitions in definitions": numbered("define d#\n", 20_000, "", f"all:\n\t{RUN}" + "endef\n" * 20_000),
    "substitutions": f"A = {'a.c ' * 20_000}\nB = $(A:%.c=%.o%.o)\nall:\n\techo $(foreach i,$(A),$(foreach j,$(B),$(i)))\n\t{RUN}",
    "loops in loops": f"L = {'a ' * 2_000}\nX = $(foreach i,$(L),$(foreach j,$(L),$(foreach k,$(L),$i$j$k)))\nall:\n\techo $(X)\n\t{RUN}",
    "a text that calls itself": f"f = $(call f,$(1)$(1)) $(call f,$(1))\nN = $(call f,8)\nall:\n\techo $(N)\n\t{RUN}",
    "names of names": numbered("a# = $(a$(a@))\n", 5_000, "a0 = 1\n", f"all:\n\techo $(a5000)\n\t{RUN}"),
    "programs": f"A := $(shell touch ran)\nB != touch ran\nSHELL = /bin/touch ran\nall:\n\techo $(A)\n\t{RUN}",
    "a line that goes on": f"all:\n\techo \\\n{chr(92) + chr(10)}" * 2 + "\\\n" * 200_000 + f"\t{RUN}",
}  # fmt: skip
JOBS: dict[str, dict[str, str]] = {
    "values of a chart that double": {
        "chart/values.yaml": numbered("a#: &a# {x: *a@, y: *a@}\n", 60, "a0: &a0 {x: 1}\n"),
        "chart/templates/job.yaml": job('["accelerate", "launch", "--num_processes", "{{ .Values.a60.x }}", "train.py"]'),
    },
    "a chart of a range": {"templates/job.yaml": "{{- range until 1000000000 }}\n" + job(IN_SHELL) + "---\n{{- end }}\n"},
    "a chart that includes itself": {
        "templates/_h.tpl": '{{- define "a" }}{{ include "a" . }}{{ include "a" . }}{{- end }}',
        "templates/job.yaml": job('["bash", "-c", {{ include "a" . | quote }}]'),
    },
    "a chart of quotes": {"templates/job.yaml": job("[" + '"{{ \\"' * 40_000 + "]")},
    "lists of lists": {
        "job.yaml": "kind: List\nitems:\n" + "".join("  " * n + "- kind: List\n" + "  " * n + "  items:\n" for n in range(90))
    },
    "as many replicas as 10^30": {
        "job.yaml": job(IN_SHELL).replace("spec:\n", f"spec:\n  parallelism: 1{'0' * 30}\n  completions: -1\n", 1)
    },
    "GPUs of no kind": {"job.yaml": job(IN_SHELL, "        resources: {limits: {nvidia.com/gpu: [8], amd.com/gpu: {a: 1}}}\n")},
    "as many GPUs as 10^30": {"job.yaml": job(IN_SHELL, f"        resources: {{limits: {{nvidia.com/gpu: '1{'0' * 30}'}}}}\n")},
    "aliases of containers": {"job.yaml": f"x: &a {{name: c, command: {IN_SHELL}}}\n" + job(IN_SHELL, "      - *a\n" * 20_000)},
    "containers that double": {
        "job.yaml": numbered("x#: &x# {<<: [*x@, *x@], n: 1}\n", 50, "x0: &x0 {name: c}\n", job(IN_SHELL, "      - {<<: *x50}\n"))
    },
    "commands of other kinds": {"job.yaml": job("{a: [b], ? [c] : d}", "        args: {1: 2}\n        env: [7, null, {name: [a]}]\n")},
    "sets of jobs": {
        "job.yaml": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec:\n  replicatedJobs:\n"
        + f"  - {{name: a, replicas: 99999999, template: {{spec: {{template: {{spec: {{containers: [{{command: {IN_SHELL}}}]}}}}}}}}}}\n"
        * 900
    },
    "a workflow that calls itself": {
        ".github/workflows/a.yml": f"jobs:\n  a: {{uses: ./.github/workflows/a.yml}}\n  b:\n    steps:\n{'    - run: ' + RUN}" * 2
    },
    "a task that starts itself": {
        "sky.yaml": f"resources: {{accelerators: 'A100:{'9' * 20}'}}\nnum_nodes: -1\nrun: |\n  sky launch sky.yaml\n  {RUN}"
    },
}


def _calm(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    found = run_calmly(folder, "check", "-v", ".")
    assert "good.yaml" in found.out
    assert not any(line.lstrip().startswith("::") for line in (found.out + found.err).replace("\r", "\n").split("\n"))
    assert sorted(folder.rglob("*")) == before


EVERY = {
    **{f"a script: {name}": {"run.sh": text} for name, text in SCRIPTS.items()},
    **{f"a Makefile: {name}": {"Makefile": text} for name, text in MAKE.items()},
    **JOBS,
}


@pytest.mark.parametrize("files", EVERY.values(), ids=EVERY)
def test_hostile_launches_do_not_affect_the_rest(files: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path, {"good.yaml": GOOD, **files})
    _calm(tmp_path)


def _linked(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def _folder_in_itself(folder: Path) -> None:
    _linked(folder / "l", ".")
    write(folder, {"run.sh": f"sbatch l/run.sh\nbash l/l/run.sh\nsource l/l/l/run.sh\n{RUN}"})


def _links_to_links(folder: Path) -> None:
    for number in range(30):
        _linked(folder / f"s{number}.sh", f"s{number + 1}.sh")
    write(folder, {"s30.sh": f"sbatch s0.sh\n{RUN}", "run.sh": numbered("sbatch s@.sh\n", 30)})


def _folders_in_each_other(folder: Path) -> None:
    write(folder, {"a/run.sh": RUN, "run.sh": numbered("sbatch a/l@/l@/l@/run.sh\n", 100)})
    for number in range(100):
        _linked(folder / f"a/l{number}", "../a")


def _links_outside(folder: Path) -> None:
    _linked(folder / "out", "/")
    write(folder, {"run.sh": f"sbatch out/etc/passwd\nsource out/etc/profile\npython out/usr/a.py --config good.yaml\n{RUN}"})


def _programs_that_are_links(folder: Path) -> None:
    for name, target in (("train.py", "/dev/zero"), ("b.py", "b.py"), ("c.py", "/etc/passwd")):
        _linked(folder / name, target)
    write(folder, {"run.sh": RUN + RUN.replace("train", "b") + RUN.replace("train", "c")})


def _newlines(folder: Path) -> None:
    inner = "a\n::error::x"
    write(folder, {f"{inner}/run.sh": RUN.replace("good", "../good"), f"{inner}/t.py": "import transformers\n"})
    write(folder, {"b\n::warning::c.sh": f"bash '{inner}/run.sh'\nsbatch $'a\\n::error::x/run.sh'\n{RUN}", "Makefile": "include b*\n"})


PLACES = (_folder_in_itself, _links_to_links, _folders_in_each_other, _links_outside, _programs_that_are_links, _newlines)


@pytest.mark.parametrize("make", PLACES, ids=lambda make: make.__name__.strip("_"))
def test_links_and_names(make: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path, {"good.yaml": GOOD})
    make(tmp_path)
    _calm(tmp_path)
