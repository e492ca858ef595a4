"""Python programs: any text gives recipes, schedules and launched calls, or nothing."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.seeds import texts
from fuzz.target import Target, source
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.readers import read
from pytest_gbs.readers.command_settings import command_line
from pytest_gbs.readers.python import read_parsed, read_schedules, read_started

PROGRAMS = (
    """\
from trl import SFTConfig, SFTTrainer
b = 4 if x else 8
d = dict(a=1)
c = SFTConfig(output_dir='x', per_device_train_batch_size=b, **d)
""",
    """\
import argparse
from transformers import TrainingArguments as T
p = argparse.ArgumentParser()
p.add_argument('--b', type=int, default=4)
a = p.parse_args()
args = T('x', per_device_train_batch_size=a.b, gradient_accumulation_steps=128 // a.b)
args.max_steps = 5
""",
    """\
from dataclasses import dataclass, field
from transformers import HfArgumentParser, TrainingArguments
@dataclass
class A(TrainingArguments):
    n: int = field(default=1)
    per_device_train_batch_size: int = 2
(a,) = HfArgumentParser((A,)).parse_args_into_dataclasses()
""",
    """\
from accelerate import Accelerator
from torch.utils.data import DataLoader
a = Accelerator(gradient_accumulation_steps=4)
m, o, l, s = a.prepare(m, o, DataLoader(d, batch_size=8), get_scheduler('linear', o, 10))
for b in l:
    with a.accumulate(m):
        a.backward(m(b).loss)
        o.step()
        s.step()
""",
    """\
import lightning as L
from torch.utils.data import DataLoader
t = L.Trainer(devices=8, num_nodes=2, accumulate_grad_batches=4)
class D(L.LightningDataModule):
    def __init__(self, b=32):
        self.b = b
    def train_dataloader(self):
        return DataLoader(x, batch_size=self.b)
t.fit(m, D(b=16))
""",
    """\
# GBS = 64
ds = {'train_batch_size': 64, 'train_micro_batch_size_per_gpu': 4}
import deepspeed
for i, b in enumerate(loader):
    loss = model(b)
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        opt.step()
        opt.zero_grad()
""",
    """\
import argparse, dataclasses, json
from transformers import TrainingArguments
from more import fill
p = argparse.ArgumentParser()
p.add_argument('--b', type=int, default=4)
p.set_defaults(**json.load(open('a.json')))
a = p.parse_args(namespace=argparse.Namespace(c=1))
def f(o, k='b'):
    setattr(o, k, 1)
    g(o)
def g(o):
    vars(o).update(b=2, **c)
    o.__dict__['b'] += 1
for k, v in c.items():
    a.__setattr__(k, v)
if a.b < 4:
    f(a)
fill(a)
t = TrainingArguments('x', per_device_train_batch_size=a.b)
t.set_training(batch_size=8)
t = dataclasses.replace(t, gradient_accumulation_steps=2)
""",
)


def watch(found: Source) -> None:
    """Read a program in every way, and check that what was found lies in it."""
    for document in read(found):
        if isinstance(document, Document):
            for path in document.keyed:
                at = document.locate(path)
                assert at is not None
                assert 0 <= at.start <= at.stop <= len(found.text)
    read_started(found, command_line((), 8, ()), ProgramContext(lambda _: found))
    read_schedules(found)
    read_parsed(found)


def _run(data: bytes) -> None:
    found = source("a.py", data)
    if not isinstance(found, Unreadable):
        watch(found)


def _seeds() -> Iterator[bytes]:
    for text in (*texts(".py"), *PROGRAMS):
        yield text.encode()


TARGET = Target(
    _run,
    _seeds,
    (
        *(
            "SFTConfig(",
            "TrainingArguments(",
            "per_device_train_batch_size=",
            "**",
            "lambda: ",
            "def f(b=1):\n    return ",
            "class A(B):\n    ",
        ),
        *(
            "if x:\n    ",
            "for b in l:\n    ",
            "with a:\n    ",
            "import ",
            "from a import ",
            "dict(",
            "int(",
            "{**a}",
            "a.b.c",
            "f'{a}'",
            "[0]",
            "setattr(a, ",
            "vars(a)",
            ".__dict__",
            "p.parse_args(",
        ),
    ),
)
