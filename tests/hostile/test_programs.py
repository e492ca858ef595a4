"""A Python program or a notebook of a stranger, as long as one may be, takes neither time nor memory."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.support import write
from tests.hostile.texts import RUN, cells
from tests.hostile.watched import run, run_beside_good

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no getrusage")

LENGTH = 195_000  # characters, just below the limit of a program
IMPORT = "from transformers import TrainingArguments\n"
CALL = "TrainingArguments(output_dir='x', per_device_train_batch_size=4)\n"
PARSER = f"{IMPORT}import argparse\np = argparse.ArgumentParser()\np.add_argument('--b', default=4)\na = p.parse_args()\n"
DICTIONARY = "{'train_batch_size': 8, 'train_micro_batch_size_per_gpu': 8}"


def _numbered(head: str, part: str, tail: str = "") -> str:
    """`part` as often as it fits between `head` and `tail`, with its number in the place of @."""
    most = (LENGTH - len(head) - len(tail)) // (len(part) + 4 * part.count("@"))
    return head + "".join(part.replace("@", f"{number:05}") for number in range(most)) + tail


LOADER = "DataLoader(x, batch_size=4)"


def _loop(loaders: str, name: str) -> str:
    """A program that trains on the loader `name`, which `loaders` make."""
    head = "from accelerate import Accelerator\nfrom torch.utils.data import DataLoader\naccelerator = Accelerator()\n"
    return f"{head}{loaders}for b in {name}:\n    loss.backward()\n    optimizer.step()\n"


PROGRAMS = {
    "names": _numbered(IMPORT, "batch_@ = 8\n", CALL),
    "one name": _numbered(IMPORT, "batch = 4\nTrainingArguments(per_device_train_batch_size=batch)\n"),
    "names in a chain": _numbered(f"{IMPORT}b = 1\n", "b = b + b\n", CALL.replace("4", "b")),
    "calls of one function": _numbered(f"{IMPORT}def f(b):\n    return {CALL.replace('4', 'b')}", "f(4)\n"),
    "functions": _numbered(IMPORT, "def f@(b):\n  TrainingArguments(per_device_train_batch_size=b)\nf@(4)\n"),
    "dictionaries": _numbered("", f"d@ = {DICTIONARY}\n"),
    "items": _numbered(f"d = {DICTIONARY}\n", "d['k@'] = d\n"),
    "comments": _numbered(IMPORT, "# batch\n", CALL),
    "comments behind names": _numbered(IMPORT, "batch_@ = 1  # batch 8\n", CALL),
    "comments in a call": _numbered(f"{IMPORT}TrainingArguments(\n", "# batch\n", "per_device_train_batch_size=4)\n"),
    "a docstring": _numbered(f'{IMPORT}def f():\n    """', "batch 8\n", f'"""\n    x = {CALL}    return x\n'),
    "depth": f"{IMPORT}x = {'(' * 190}1{')' * 190}\n{CALL}",
    "dictionaries in depth": "d = " + "{'train_batch_size': " * 90 + "1" + "}" * 90,
    "decorators": _numbered(IMPORT, "@a\n", f"def f(): pass\n{CALL}"),
    "large constants": IMPORT + "".join(CALL.replace("4", each) for each in ("2**10**9", "int('a'*10**10)", "0x" + "f" * 90_000)),
    "options of large constants": PARSER + "".join(
        f"p.add_argument('--o', {each}=0x{'f' * 20_000})\np.add_subparsers().add_parser(0x{'f' * 20_000}, dataclass_types=A)\n"
        for each in ("default", "dest", "type", "choices", "nargs", "action")
    ) + CALL.replace("4", "a.o"),
    "values that choose": f"{IMPORT}b = 1\n{'b = b*2 if x else b*3' + chr(10)}" + "b = b*2 if x else b*3\n" * 60 + CALL.replace("4", "b"),
    "functions that double": _numbered(f"{IMPORT}def f(a): return a\n", "def f(a=f(2)): return f(a) * f(a)\n", CALL.replace("4", "f(2)")),
    "functions that are given themselves": IMPORT + CALL.replace("4", "(lambda f: f(f))(lambda f: f(f))"),
    "comprehensions": IMPORT + CALL.replace("4", "max(x * y for x in range(10**9) for y in range(10**9))"),
    "cases": _numbered(f"{IMPORT}match x:\n", "    case @: b = 1\n", CALL.replace("4", "b")),
    "names that are spelled otherwise": f"{IMPORT}\ufb01 = 4\nfi = 8\n{CALL.replace('4', chr(0xFB01))}{CALL.replace('T', chr(0xFF34), 1)}",
    "it imports itself": _numbered("", "from a import *\nfrom .a import *\n", IMPORT + CALL.replace("4", "b")),
    "form feeds": _numbered(f"\ufeff\x0c{IMPORT}", "\x0c\n", CALL),
    "a sum": _numbered(f"{IMPORT}x = 1", " + 1", f"\n{CALL}"),
    "a line": _numbered(f"{IMPORT}s = 'ä'; ", "TrainingArguments(per_device_train_batch_size=4); "),
    "arguments in a line": _numbered(f"{IMPORT}s = 'ä'; TrainingArguments(", "batch@=4,", ")\n"),
    "targets": _numbered(IMPORT, "a, ", f" = x\n{CALL}"),
    "conditions": f"{IMPORT}if x:\n    b = 1\n" + "elif x:\n    b = 2\n" * 2_000 + CALL.replace("4", "b") * 400,
    "fields": _numbered(
        f"{IMPORT}class A(TrainingArguments):\n", "    f@: int = 4\n", "    train_batch_size: int = 4\n" + "A(x=1)\n" * 5_000
    ),
    "options": _numbered(PARSER, "p.add_argument('--o@', default=4)\n", CALL.replace("4", "a.b") * 500),
    "options that are set": _numbered(PARSER, "a.c.b = 4\n", CALL.replace("4", "a.b") * 500),
    "attributes": _numbered(f"{IMPORT}a = {CALL}", "a.k@ = a.j@\n"),
    "a configuration": _numbered("def f():\n    c = C(train_batch_size=8)\n", "    c.a@ = 1\n    g(c)\n", "    return c\n"),
    "spread": _numbered(f"{IMPORT}d = {{", "'k@': 4, ", "}\n" + "TrainingArguments(per_device_train_batch_size=4, **d)\n" * 1_000),
    "loaders in a chain": _loop("".join(f"l{n} = l{n + 1} if x else list(l{n + 1})\n" for n in range(200)), "l0"),
    "loaders that are chosen": _loop("".join(f"l{n} = l{n + 1} if x else l{n + 1}\n" for n in range(39)) + f"l39 = {LOADER}\n", "l0"),
    "loops": _loop(f"l = accelerator.prepare({LOADER})\n", "l") + "for b in l:\n    loss.backward()\n    optimizer.step()\n" * 3_500,
    "conditions around a step": _loop(f"l = accelerator.prepare({LOADER})\n", "l")
    + "for b in l:\n    loss.backward()\n    if x:\n        pass\n" + "    elif x % 2:\n        optimizer.step()\n" * 1_500,
}  # fmt: skip
DDP = "import torch\nfrom torch.nn.parallel import DistributedDataParallel\nmodel = DistributedDataParallel(m)\noptimizer = 1\n"
STEPS = "for i in range(accum_steps):\n    loss.backward()\n    optimizer.step()\n"
PRODUCTS = "x0 = 2\n" + "".join(f"x{n} = x{n - 1} * x{n - 1}\n" for n in range(1, 61))
LOADER_OF = "from torch.utils.data import DataLoader\ndef make(n):\n    return DataLoader(x, batch_size=n)\n"
LIGHTNING = "import lightning as L\nfrom torch.utils.data import DataLoader\n"
ALL_CALLS = "".join(f"  f{n}(o)\n" for n in range(120))
# Programs of several files, each with the script that starts it.
LAUNCH = "!torchrun --nproc_per_node 8 run_clm.py --per_device_train_batch_size 4 --output_dir x\n"
LINES_FOR_A_SHELL = {
    "launches": [f"# GBS 64\n{LAUNCH}" * 8_000],
    "cells that launch": [f"# GBS 64\n{LAUNCH}"] * 5_000,
    "signs": ["!" * 1_000_000],
    "expressions": [f"!python {'{x}' * 300_000}\n"],
    "escapes": [f"!python run_clm.py {chr(34)}\n" * 50_000],
    "lines that go on": ["!python \\\n" * 100_000],
    "folders": ["!git clone a/b\n%cd b\n" * 40_000],
    "files": [f"%%writefile -a a.yaml\nx{number}: 1\n" for number in range(8_000)] + ["!python a.yaml"],
    "names": [f"x{number} = {number}\n!python run_clm.py --a $x{number}" for number in range(9_000)],
    "options of a magic": [f"%%script {'-a ' * 300_000}bash\n"],
}
TREES = {
    "products that double": {"train.py": f"{DDP}{PRODUCTS}global_batch_size = x60 * batch_size * world_size\n{STEPS}"},
    "products that are asserted": {
        "train.py": f"{DDP}{PRODUCTS}accum_steps = total // (B * T * world_size)\nassert total % (x60 * world_size) == 0\n{STEPS}"
    },
    "products": {"train.py": _numbered(DDP, "total_batch_size = batch_size * world_size * accum_steps@\n", STEPS)},
    "remainders": {"train.py": _numbered(f"{DDP}accum_steps = total // (B * T * world_size)\n", "assert t % x % y % z == 0\n", STEPS)},
    "loops beside each other": {
        "train.py": _numbered(f"{DDP}global_batch_size = batch_size * world_size * accum_steps\n", "for i in range(n@):\n  pass\n", STEPS)
    },
    "files that import files": {f"{name}.py": _numbered("", "import m@\n") for name in ("train", *(f"m{n:05}" for n in range(40)))},
    "imports of 500 dots": {"train.py": "from a.b.c import A\n", "a/b/c.py": _numbered(IMPORT, f"from {'.' * 500}m@ import A@\n")},
    "loaders of files in a circle": {
        "train.py": _loop("from b import make\nl = accelerator.prepare(make(4))\n", "l"),
        "b.py": f"from c import make\n{LOADER_OF.replace('make', 'again')}",
        "c.py": "import b\ndef make(n):\n    return b.make(b.again(n)) if n else make(make(n))\n",
    },
    "models that a function wraps": {
        "train.py": f"{PARSER}import torch\nfrom b import norm\nfrom torch.nn.parallel import DistributedDataParallel\n"
                    + "".join(f"p.add_argument('--o{n}', default={n})\n" for n in range(300))
                    + "def wrap(model, args):\n    model = DistributedDataParallel(model)\n    return model\n"
                    + f"def main(args):\n    loader = torch.utils.data.{LOADER}\n    model = make(args)\n    other = copy(model)\n"
                    + "    model = wrap(model, args)\n    other = wrap(other, args)\n" + "    norm(model)\n" * 30 + "main(a)\n",
        "b.py": "def norm(model): ...\n",
    },
    "loaders of files in a chain": {
        "train.py": _loop("from b0 import make\nl = accelerator.prepare(make(4))\n", "l"),
        **{f"b{n}.py": f"from b{n + 1} import make as m\ndef make(n):\n    if n: return m(n)\n    return m(n + n)\n" for n in range(60)},
        "b60.py": LOADER_OF,
    },
    "options of another file": {
        "train.py": _numbered(_loop("from b import make\nimport argparse\np = argparse.ArgumentParser()\n", "make(p.parse_args())"),
                              "p.add_argument('--o@', default=4)\n"),
        "b.py": LOADER_OF.replace("=n", "=n.o00001"),
    },
    "data modules of another file": {
        "train.py": _numbered(f"{LIGHTNING}from d import D\n", "d@ = D(batch_size=4)\nt@ = L.Trainer(devices=2)\nt@.fit(m, d@)\n"),
        "d.py": _numbered(LIGHTNING, "class D@(D):\n  x = 1\n", "class D(D00009):\n  def train_dataloader(self): return DataLoader(x)\n"),
    },
    "classes of files in a circle": {
        "train.py": f"{IMPORT}from transformers import HfArgumentParser\nfrom b import A\np = HfArgumentParser((A, TrainingArguments))\n"
        "a, t = p.parse_args_into_dataclasses()\n",
        "b.py": "from train import A as B\nclass A(B):\n    per_device_train_batch_size: int = 4\n",
    },
    "parents that double": {
        "train.py": "_base_ = ['b.py', 'b.py', 'c.py']\ntrain_dataloader = dict(batch_size=4)\ntrain_cfg = dict(max_iters=4)\n",
        "b.py": "_base_ = ['c.py']\na0 = dict(k=1)\n" + "".join(f"a{n} = dict(x=a{n - 1}, y=a{n - 1})\n" for n in range(1, 61)),
        "c.py": "_base_ = ['train.py', 'b.py']\n",
    },
    "a configuration that doubles": {
        "train.py": f"{IMPORT}from omegaconf import OmegaConf\nc = OmegaConf.load('b.yaml')\nTrainingArguments(**c, max_steps=c.a60.x)\n",
        "b.yaml": "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 61)),
    },
    "options filled by functions that all call each other": {
        "train.py": PARSER + "".join(f"def f{n}(o):\n  setattr(a, 'k', 1)\n{ALL_CALLS}" for n in range(120))
                    + f"f0(a)\n{CALL.replace('4', 'a.b')}"
    },
    "options handed to functions of another file": {
        "train.py": f"from b import *\nfrom b import {', '.join(f'f{n}' for n in range(3_000))}\n{PARSER}"
                    + "".join(f"f{n}(a)\n" for n in range(3_000)) + CALL.replace("4", "a.b"),
        "b.py": "def f0(o): pass\n" + "".join(f"def f{n}(o):\n  o.k{n} = 1\n  f{n - 1}(o)\n" for n in range(1, 3_000)),
    },
    "one name of many trainers' arguments": {
        "train.py": _numbered(PARSER, f"t = {CALL.replace('4', 'a.b')}Trainer(args=t)\n", "t.set_training(batch_size=3)\n" * 3_000)
    },
    "sub-commands": {
        "train.py": _numbered(f"{IMPORT}import argparse\np = argparse.ArgumentParser()\n",
                              "def f@(a):\n  TrainingArguments(per_device_train_batch_size=a.b)\np.set_defaults(func=f@)\n")
    },
    "installs of a notebook": {"n.ipynb": cells(f"!pip install {'trl==0.1 ' * 60_000}\n", IMPORT + CALL)},
    "a million cells": {"n.ipynb": f'{{"cells": [{"{}," * 1_000_000}{{"cell_type": "code", "source": "x"}}], "nbformat": 4}}'},
    "cells of nothing": {"n.ipynb": f'{{"cells": [{"[]," * 300_000}{{"cell_type": "code", "source": "x"}}], "nbformat": 4}}'},
    "a notebook that writes itself": {
        "n.ipynb": cells("%%writefile n.ipynb\n{}", "%run n.ipynb\n!python n.ipynb\n", IMPORT + CALL)
    },
    **{f"a notebook of {name}": {"n.ipynb": cells(*texts)} for name, texts in LINES_FOR_A_SHELL.items()},
}  # fmt: skip
TOO_LONG = {
    "names": "batch_size = 8\n" * 70_000,
    "a line": f"batch_size = '{'ä' * 1_000_000}'\n",
    "brackets": f"batch_size = {'[' * 1_000_000}",
}


@pytest.mark.parametrize("notebook", [False, True], ids=["program", "notebook"])
@pytest.mark.parametrize("text", [*PROGRAMS.values(), *TOO_LONG.values()], ids=[*PROGRAMS, *(f"too many: {name}" for name in TOO_LONG)])
def test_a_program_made_to_be_expensive(text: str, notebook: bool, tmp_path: Path) -> None:
    cells = {"cells": [{"cell_type": "code", "source": text.splitlines(keepends=True), "outputs": []}], "nbformat": 4}
    file = {"a.ipynb": json.dumps(cells, ensure_ascii=False)} if notebook else {"a.py": text}
    found = run_beside_good(tmp_path, file)
    assert "verified     good.yaml" in found.out


@pytest.mark.parametrize(
    "cookie", ["rot13", "utf-7", "unicode_escape", "hex", "zlib", "undefined", "x" * 5_000], ids=lambda cookie: cookie[:9]
)
def test_an_encoding_that_a_program_names(cookie: str, tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"train.py": f"# -*- coding: {cookie} -*-\n{IMPORT}{CALL}", "run.sh": RUN})
    assert "verified     good.yaml" in found.out


@pytest.mark.parametrize("files", TREES.values(), ids=TREES)
def test_files_made_to_be_expensive_together(files: dict[str, str], tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"run.sh": RUN * 10, **files})
    assert "good.yaml" in found.out


def test_a_notebook_of_many_cells(tmp_path: Path) -> None:
    found = run_beside_good(tmp_path, {"a.ipynb": cells(*[[IMPORT, CALL]] * 2_500)})
    assert "verified     good.yaml" in found.out


def test_a_program_that_is_too_long_is_reported(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": IMPORT + CALL + "x = 1\n" * 170_000})
    assert "more than 1,000,000 characters of Python" in run(tmp_path, "check", "-v", "a.py").out
