"""Small texts that would grow without end if they were expanded, and large ones of one kind of part: none of them affects the rest."""

import json
import sys
from pathlib import Path

import pytest

from tests.hostile.texts import MADE, RUN, SIZES, TOML, numbered
from tests.hostile.watched import run_beside_good

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no getrusage")

CALL = "from transformers import TrainingArguments\nTrainingArguments(output_dir='x', per_device_train_batch_size=@)\n"
HYDRA = "python train.py --multirun "
DIGITS = "\u0663\uff18\u00b2"
SBATCH = "#!/bin/bash\n#SBATCH @\n"


def _nested(opening: str, closing: str, many: int, inner: str = "1") -> str:
    return opening * many + inner + closing * many


def _notebook(**more: object) -> str:
    cell = {"cell_type": "code", "source": CALL.replace("@", "4"), "outputs": [], "metadata": {}}
    return json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}} | more)


SHELL = {
    "a range of braces": f"N={{1..1000000000}}\nfor N in {{1..1000000000}}; do\n{MADE}done\n",
    "braces in braces": f"for N in {'{a,b}' * 60}; do\n{MADE}done\n",
    "braces of braces": f"for N in {_nested('{1,', ',2}', 5_000)}; do\n{MADE}done\n",
    "arithmetic in itself": f"A='B + 1'\nB='A + 1'\nN=$((A))\n{MADE}",
    "arithmetic that doubles": numbered("A#='A@ + A@'\n", 60, "A0=1\n", f"N=$((A60))\n{MADE}"),
    "powers": f"N=$((9 ** 9 ** 9 ** 9))\n{MADE}N=$((1 << 1000000000))\n{MADE}N=$((2 ** 63))\n{MADE}",
    "a function in itself": f"f() {{ f $@ $@; f $@ $@; {RUN[:-1]}; }}\nf a b\n",
    "functions that double": numbered("f#() { f@; f@; }\n", 40, f"f0() {{ {RUN[:-1]}; }}\n", "f40\n"),
    "loops in loops": "for a in $(seq 1000); do\n" * 30 + MADE + "done\n" * 30,
    "a loop without end": f"N=1\nwhile true; do N=$((N * 2)); {MADE[:-1]}; done\n",
    "a sequence": f"for N in $(seq 1 1000000000); do\n{MADE}done\nN=$(seq -s, 1 1000000000)\n{MADE}",
    "a width": f"N=$(printf '%1000000000d' 8)\n{MADE}N=$(printf '%0*d' 1000000000 8)\n{MADE}",
    "patterns of a replacement": f"A={'a' * 5_000}\nN=${{A//{'*a' * 50}b/8}}\n{MADE}N=${{A//+(+(+(a)))b/8}}\n{MADE}",
    "patterns of a case": f"case {'a' * 5_000} in {'*a' * 50}b) N=4;; +(*(a|aa))b) N=8;; esac\n{MADE}",
    "substitutions in each other": f"N={_nested('$(echo ', ')', 20_000)}\n{MADE}",
    "defaults in each other": f"N={_nested('${A:-', '}', 20_000)}\n{MADE}",
    "documents in documents": numbered("cat << E#\n", 20_000, "", RUN),
    "a script that sources itself": f". ./run.sh\nsource run.sh\nbash run.sh\n{RUN}. ./run.sh\n",
    "an array of jobs": SBATCH.replace("@", "--array=0-1000000000") + "N=$SLURM_ARRAY_TASK_ID\n" + MADE,
    "a list of hosts": SBATCH.replace("@", "--nodelist=gpu[0-1000000000],cpu[1-9][1-9][1-9][1-9]") + RUN,
    "a search of Hydra": f"{HYDRA}a=range(1,1000000000) b=choice({'1,' * 20_000}2) c=range(0,1,0.000000001)\n{RUN}",
    "values of Hydra in each other": f"{HYDRA}a={_nested('[', ']', 9_000)} b={_nested('{a:', '}', 3_000)}\n{RUN}",
}
MAKE = {
    "a variable that doubles when it is read": numbered("A# = $(A@) $(A@)\n", 60, "A0 = 8\n", f"all:\n\techo $(A60)\n\t{RUN}"),
    "a call of itself": f"f = $(call f,$(1)$(1))$(call f,$(1))\nall:\n\techo $(call f,8)\n\t{RUN}",
    "loops in loops": f"all:\n\techo {_nested('$(foreach i,1 2 3 4 5 6 7 8 9,', ')', 50, '$(i)')}\n\t{RUN}",
    "references in each other": f"all:\n\techo {_nested('$(', ')', 50_000, 'A')}\n\t{RUN}",
}
YAML = {
    "100,000 anchors": numbered("k#: &a# 1\n", 60_000, SIZES),
    "anchors and their aliases": numbered("k#: &a# [*a@]\n", 40_000, f"{SIZES}k0: &a0 1\n"),
    "a number of base 60": SIZES.replace("size: 4", f"size: {'1:' * 100_000}1"),
    "exponents": SIZES.replace("size: 4", "size: 1e999999999").replace("steps: 4", "steps: 1e-999999999"),
    "keys that are mappings": numbered("? {a#: {b: [c]}}\n: 1\n", 10_000, SIZES),
    "interpolations in each other": f"{SIZES}a: {_nested('${', '}', 30_000, 'a')}\nb: ${{b}}\nc: ${{d}}${{d}}\nd: ${{c}}${{c}}\n",
    "interpolations that double": numbered("a#: ${a@}${a@}\n", 60, f"defaults: [_self_]\n{SIZES}a0: 8\n", "max_steps: ${a60}\n"),
    "ten thousand manifests": "---\n".join(["apiVersion: v1\nkind: ConfigMap\ndata: {per_device_train_batch_size: '4'}\n"] * 10_000),
    "a matrix of jobs": "jobs:\n  a:\n    strategy:\n      matrix:\n"
    + numbered("        k#: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n", 40, "", f"    steps:\n    - run: {RUN}"),
}
OTHERS: dict[str, dict[str, str | bytes]] = {
    "TOML: keys with dots": {"a.toml": numbered(f"{'.'.join('abcdefgh' * 20)}.k# = 1\n", 4_000, TOML)},
    "TOML: tables with dots": {"a.toml": numbered(f"[{'.'.join('abcdefgh' * 20)}.t#]\n", 4_000, TOML)},
    "TOML: tables that are filled again": {"a.toml": numbered("a.b#.c = 1\n[a.b#]\nd = 1\n", 10_000, TOML)},
    "JSON: a key again and again": {"a.json": '{"train_micro_batch_size_per_gpu": 4' + ', "train_batch_size": 8' * 60_000 + "}"},
    "Python: 10,000 brackets": {"train.py": CALL.replace("@", _nested("(", ")", 10_000, "4"))},
    "Python: 10,000 conditions": {"train.py": CALL.replace("@", "4 if x else " * 10_000 + "8")},
    "Python: powers": {"train.py": numbered(CALL.replace("@", "9 ** 9 ** 9 ** 9"), 1) + CALL.replace("@", "1 << 10 ** 9 << 10")},
    "Python: texts of a width": {"train.py": CALL.replace("@", "int('%1000000000d' % 4)") + CALL.replace("@", "int('4' * 10 ** 9)")},
    "Python: lists of a length": {"train.py": CALL.replace("@", "len([0] * 10 ** 10)") + CALL.replace("@", "max(range(10 ** 12))")},
    "Python: dictionaries that double": {
        "train.py": numbered("a# = {**a@, 'k#': a@}\n", 200, "a0 = {'b': 4}\n", CALL.replace("@", "4, **a200"))
    },
    "Python: classes in a circle": {
        "train.py": numbered("class A#(A@): per_device_train_batch_size = 4\n", 3_000, "class A0(A3000): pass\n", CALL.replace("@", "A9.b"))
    },
    "Python: modules in a circle": {
        "train.py": f"from b import n\n{CALL.replace('@', 'n')}",
        "b.py": "from train import n\nfrom b import *\n",
    },
    "a notebook of metadata in depth": {"n.ipynb": _notebook(metadata="#").replace('"#"', _nested('{"a": ', "}", 50_000))},
    "a notebook of large metadata": {"n.ipynb": _notebook(metadata={f"k{n}": {"a": [n] * 20} for n in range(10_000)})},
    "a notebook of one output": {
        "n.ipynb": _notebook(
            cells=[{"cell_type": "code", "source": CALL.replace("@", "4"), "outputs": [{"text": ["Total batch size = 8\n"] * 40_000}]}]
        )
    },
    "a document of quotes": {"README.md": f"{'> ' * 100_000}```bash\n{RUN}```\n"},
    "a document of lists": {"README.md": "".join(f"{'  ' * n}- a\n" for n in range(1_400)) + f"```bash\n{RUN}```\n"},
    "a document of fences": {"README.md": "".join(f"{'`' * n}\n" for n in range(3, 1_200)) + "~~~\n```\n" * 30_000 + RUN},
    "a document of links": {"README.md": f"{'[' * 50_000}a{'](b)' * 50_000}\n```bash\n{RUN}```\n"},
    "a document of elements": {"README.md": f"{'<details>' * 30_000}{'<pre><code>' * 30_000}{'<!--' * 50_000}{RUN}"},
    "a document of digits": {"README.md": f"Global batch size: {'1,' * 100_000}000 tokens {DIGITS * 10_000}\n```bash\n{RUN}```\n"},
    "JSON: numbers beyond all": {"a.json": '{"train_batch_size": 1e999999, "zero_optimization": {"a": -1e-99999, "b": 08}}'},
    "JSON: schemas in a circle": {
        "a.json": '{"$ref": "a.json#/b", "b": {"$ref": "#/b"}, "train_batch_size": {"$ref": "file:///etc/passwd"}}'
    },
    "TOML: a date": {"a.toml": TOML.replace("= 4", "= 1979-05-27", 1) + f"a = {'{a = ' * 20_000}1{'}' * 20_000}\n"},
    "YAML: directives": {"a.yaml": numbered("%FOO #\n", 100_000, "", f"---\n{SIZES}")},
    "YAML: anchors": {"a.yaml": numbered("k#: &a 1\nl#: *a\n", 40_000, SIZES)},
    "YAML: questions": {"a.yaml": f"{SIZES}{'? ' * 20_000}a\n"},
    "Hydra: lists that double": {
        "conf/config.yaml": f"defaults: [a0, _self_]\n{SIZES}",
        **{f"conf/a{n}.yaml": f"defaults: [a{n + 1}@x, a{n + 1}@y]\nk: 1\n" for n in range(30)},
        "conf/a30.yaml": "k: 2\n",
        "run.sh": "python train.py --config-path conf --config-name config\n",
    },
    "ignored: brackets and stars": {
        ".gitignore": f"{'[[:alpha:]!' * 2_000}\n{'**/' * 3_000}x\n{'*?' * 200}b\n",
        f"{'a' * 200}.yaml": SIZES,
    },
    "ignored: and not": {".gitignore": "!a\n*\n!good.yaml\n!*/\n" * 20_000},
    "an image of commands": {
        "Dockerfile": f"FROM a\n{'ARG A=$A$A' + chr(10)}" * 3_000 + f"ENV A ${{A:-${{A}}}}\nRUN {'a && ' * 50_000}{RUN}ADD https://a.b /\n"
    },
    "files that Python would import": dict.fromkeys(
        ("setup.py", "conftest.py", "sitecustomize.py", "yaml.py", "pytest_gbs.py"), "open('ran', 'w')\n"
    ),
    "names of other folders": dict.fromkeys(
        ("run.sh/x", "a.yaml/x", "Makefile/x", "n.ipynb/x", ".gitignore/x", "requirements.txt/x"), SIZES
    ),
    "a document of columns": {"README.md": f"{'| batch size 8 ' * 30_000}|\n{'|---' * 30_000}|\n{'| 8 ' * 30_000}|\n"},
    "a document of settings": {
        "README.md": "|a" * 40_000 + "|\n|-|-|\n|batch size|4|\n|accumulation steps|8|\n" + "|x|1|\n" * 16_000 + RUN
    },
    "a comment of numerals": {
        "a.yaml": f"# 全局批次大小为{'一' * 5_000}{'万億' * 5_000}\n# global batch size {'twenty thousand and ' * 900}two\n{SIZES}"
    },
    "requirements in a circle": {
        "requirements.txt": "-r requirements.txt\n-r b.txt\n" * 50,
        "b.txt": "-r requirements.txt\n-c b.txt\ntrl==1.0\n" * 50,
    },
    "requirements of versions": {"requirements.txt": f"trl>={'1.' * 100_000}1\ntransformers=={'>=1,' * 50_000}<2\ntrl[{'a,' * 50_000}]\n"},
    "exclusions": {
        "gbs.toml": f"exclude = ['{'**/' * 150}x', '{'*a' * 150}b', '{'[a-z]' * 100}', '{'?' * 400}']\n",
        f"{'/'.join(['a' * 60] * 20)}/x.yaml": SIZES,
    },
    "a git folder in a circle": {".git": "gitdir: .git\n"},
    "a git folder of refuse": {
        ".git/index": b"DIRC\0\0\0\x02\xff\xff\xff\xff" + b"\xff" * 900_000,
        ".git/packed-refs": b"\xff" * 900_000,
        ".git/HEAD": b"ref: " + b"../" * 90_000,
        ".git/config": "[include]\n\tpath = config\n" * 9_000,
    },
}
EVERY: dict[str, dict[str, str | bytes]] = {
    **{f"a script: {name}": {"run.sh": text} for name, text in SHELL.items()},
    **{f"a Makefile: {name}": {"Makefile": text} for name, text in MAKE.items()},
    **{f"YAML: {name}": {"a.yaml": text} for name, text in YAML.items()},
    **OTHERS,
}


@pytest.mark.parametrize("files", EVERY.values(), ids=EVERY)
def test_what_would_grow_is_cut_short(files: dict[str, str | bytes], tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, files)
    assert "good.yaml" in found.out
