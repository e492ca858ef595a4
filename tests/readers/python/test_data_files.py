"""Configurations that a program loads from a YAML or JSON file which it names, or that Hydra gives it."""

from typing import Any

import pytest

from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.location import KeyPath, Location, Source, Unreadable
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import COMPUTED

HEAD = """import json, os, yaml, hydra
from functools import lru_cache
from pathlib import Path
from omegaconf import OmegaConf
from transformers import TrainingArguments
"""
LOADER = """import yaml

def load(path):
    with open(path) as file:
        return yaml.safe_load(file)

def checked(path: str, kind="train"):
    with open(path, encoding="utf-8") as file:
        data = yaml.safe_load(file)
    if data is None:
        return {}
    if kind not in data:
        raise ValueError(kind)
    return data

def either(path):
    if quick():
        return {"train": {"batch": 1}}
    return load(path)

def override(settings, given):
    for key, value in given.items():
        settings["train"][key] = value

def outer(settings):
    override(settings, {})

def show(settings):
    for key in settings:
        print(key, settings[key])
"""
CALL = "TrainingArguments('out', per_device_train_batch_size={})\n"
OF_YAML = "c = yaml.safe_load(open('run.yaml'))\n"
OF_CONF = "c = OmegaConf.load('run.yaml')\n"
OF_ATTRIBUTE = CALL.format("c.train.batch")
OF_FUNCTION = "def load(path='run.yaml'):\n    with open(path) as f:\n        return yaml.safe_load(f)\n"
OF_TRIED = """\
def load(path='run.yaml'):
    with open(path) as f:
        try:
            return yaml.safe_load(f)
        except ValueError:
            {}
"""
OF_OPENED = """\
def load(path='run.yaml'):
    try:
        with open(path) as f:
            return yaml.safe_load(f)
    except OSError:
        raise
"""
OF_JOINED = "c = yaml.safe_load(open(os.path.join(d, '..', 'a', 'run.yaml')))\n"
OF_TRAIN = CALL.format("c['train']['batch']")
MAIN = "@hydra.main(version_base=None, config_path='conf', config_name='{}')\ndef main(cfg):\n    {}    " + CALL
FILES = {
    "a/run.yaml": "train:\n  batch: 4\nlr: 1e-4\n",
    "a/run.json": '{"batch": 4}',
    "a/broken.yaml": "train: [\n",
    "a/list.yaml": "- batch: 4\n",
    "twice.yaml": "batch: 4\n",
    "a/twice.yaml": "batch: 8\n",
    "a/loader.py": LOADER,
    **{f"a/run{number}.json": '{"batch": 4}' for number in range(21)},
    "a/long.yaml": "batch: 4\n".ljust(100_000, "#"),
    "a/longer.yaml": "batch: 4\n".ljust(100_001, "#"),
}


def of_files(many: int) -> str:
    """A call with what so many files have, all of which say 4."""
    loaded = (f"json.load(open('run{number}.json'))['batch']" for number in range(many))
    return CALL.format(f"max({', '.join(loaded)})")


def composes(folder: str, name: str) -> tuple[dict[str, Any], dict[KeyPath, Location]] | None:
    """What Hydra makes of the files, worked out by hand."""
    assert folder == "a/conf"
    whole = {"train": {"batch": 4}, "model": {"sizes": [4]}, "none": None, "open": "$BATCH", "lost": object(), "lr": 1e-4}
    return (whole, {}) if name == "run" else None


def reported(text: str) -> str | None:
    def reads(path: str) -> Source | Unreadable:
        return Source(path, FILES[path]) if path in FILES else Unreadable(path, "no such file")

    documents = (
        each
        for each in read(Source("a/train.py", HEAD + text), ProgramContext(reads, given_by_hydra=composes))
        if isinstance(each, Document)
    )
    (found,) = (each for each in documents if each.called == "transformers.TrainingArguments")
    value = found.get("per_device_train_batch_size")
    if value is None:
        return None
    assert isinstance(value, Scalar)
    assert 0 <= value.start < value.stop <= len(found.source.text)
    return None if value.tag == COMPUTED else value.text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("c = yaml.safe_load(open('none.yaml'))\n" + CALL.format("c['batch']"), id="a file that is not there"),
        pytest.param("c = yaml.safe_load(open('broken.yaml'))\n" + CALL.format("c['train']"), id="a file that YAML refuses"),
        pytest.param(of_files(21), id="one file too many"),
        pytest.param("c = yaml.safe_load(open('longer.yaml'))\n" + CALL.format("c['batch']"), id="a file of too many characters"),
        pytest.param("c = yaml.safe_load(open('list.yaml'))\n" + CALL.format("c[0]['batch']"), id="no mapping"),
        pytest.param("c = yaml.safe_load(open('twice.yaml'))\n" + CALL.format("c['batch']"), id="two files of that name"),
        pytest.param("c = yaml.safe_load(open('../twice.yaml'))\n" + CALL.format("c['batch']"), id="from the current folder upwards"),
        pytest.param("c = yaml.safe_load(open('/etc/run.yaml'))\n" + CALL.format("c['batch']"), id="somewhere else"),
        pytest.param("c = yaml.safe_load(open(path()))\n" + CALL.format("c['batch']"), id="a name that is not known"),
        pytest.param("c = yaml.safe_load(text)\n" + CALL.format("c['batch']"), id="a text"),
        pytest.param("c = json.load(open('run.json'))\nc['batch'] = f()\n" + CALL.format("c['batch']"), id="set later"),
        pytest.param("c = json.load(open('run.json'))\nc.update(x)\n" + CALL.format("c['batch']"), id="updated"),
        pytest.param("c = OmegaConf.load('run.yaml')\nc.train.batch = f()\n" + CALL.format("c.train.batch"), id="an attribute that is set"),
        pytest.param(
            "c = OmegaConf.load('run.yaml')\nOmegaConf.update(c, 'train.batch', 1)\n" + CALL.format("c.train.batch"), id="a library sets"
        ),
        pytest.param(f"{OF_CONF}c.update(x)\n" + OF_ATTRIBUTE, id="attributes that are updated"),
        pytest.param(f"{OF_CONF}c.train.update(batch=8)\n" + OF_ATTRIBUTE, id="an attribute that is updated"),
        pytest.param(f"{OF_CONF}t = merged(c)\nt.update(x)\n" + OF_ATTRIBUTE, id="what a function made is updated"),
        pytest.param(f"{OF_CONF}t = EasyDict(c)\nt.update(x)\n" + OF_ATTRIBUTE, id="settings of another class are updated"),
        pytest.param(
            f"from easydict import EasyDict as edict\n{OF_YAML}t = edict(c)\nt.update(x)\n" + CALL.format("t.train.batch"), id="its copy"
        ),
        pytest.param("from easydict import EasyDict\nc = EasyDict(f())\n" + OF_ATTRIBUTE, id="what a function makes, with attributes"),
        pytest.param(f"{OF_CONF}t = c.train\nt[k] = x\n" + OF_ATTRIBUTE, id="an item that is computed"),
        pytest.param(f"{OF_CONF}setattr(c.train, 'batch', 8)\n" + OF_ATTRIBUTE, id="an attribute that setattr sets"),
        pytest.param(f"{OF_CONF}self.c.batch = 8\n" + OF_ATTRIBUTE, id="what an object has is set"),
        pytest.param(f"{OF_CONF}self.c.update(x)\n" + OF_ATTRIBUTE, id="what an object has is updated"),
        pytest.param(f"{OF_CONF}self.run_config.update(x)\n" + OF_ATTRIBUTE, id="a configuration that an object has is updated"),
        pytest.param("c = OmegaConf.load(args.x[:3])\n" + OF_ATTRIBUTE, id="a part of a name that is not known"),
        pytest.param("c = OmegaConf.load('a/run.yaml'[2::x])\n" + OF_ATTRIBUTE, id="some letters of a name"),
        pytest.param("c = OmegaConf.merge(OmegaConf.load('run.yaml'), OmegaConf.from_cli())\n" + CALL.format("c.train.batch"), id="merged"),
        pytest.param(f"from loader import override\n{OF_YAML}override(c, x)\n" + OF_TRAIN, id="a function of another file sets a part"),
        pytest.param(f"from loader import outer\n{OF_YAML}outer(c)\n" + OF_TRAIN, id="a function calls one that sets a part"),
        pytest.param(f"{OF_YAML}def f(d):\n    d['train'] = x\nf(d=c)\n" + OF_TRAIN, id="a function of this file sets an item"),
        pytest.param(f"from elsewhere import f\n{OF_YAML}f(c['train'])\n" + OF_TRAIN, id="a function that is not there"),
        pytest.param(f"from elsewhere import f\n{OF_YAML}f(c['lr'], c)\n" + OF_TRAIN, id="a function that gets a number and all"),
        pytest.param(f"{OF_YAML}t = c['train']\nt['batch'] = x\n" + OF_TRAIN, id="a part is set by its name"),
        pytest.param(f"{OF_YAML}t = c.get('train', {{}})\nt.update(x)\n" + OF_TRAIN, id="a part is updated by its name"),
        pytest.param(f"{OF_YAML}c['train'].update(x)\n" + OF_TRAIN, id="a part is updated"),
        pytest.param(
            OF_TRIED.format("return {}") + "c = load()\n" + OF_TRAIN, id="a function that returns something else where loading fails"
        ),
        pytest.param("from loader import either\nc = either('run.yaml')\n" + OF_TRAIN, id="a function that returns one of two"),
        pytest.param("from loader import load\nc = load(Path(x) / 'run.yaml')\n" + OF_TRAIN, id="a folder that is not known"),
        pytest.param("c = yaml.safe_load(open(Path(__file__).parents[1] / 'run.yaml'))\n" + OF_TRAIN, id="not in the folder that it names"),
        pytest.param("c = yaml.safe_load(open(os.path.join(x, 'run.yaml')))\n" + OF_TRAIN, id="a folder that is computed, joined"),
        pytest.param("p = Path('run.yaml')\nc = yaml.safe_load(p.read_text() + x)\n" + OF_TRAIN, id="a text that is longer"),
        pytest.param(MAIN.format("none", "", "cfg.train.batch"), id="no such configuration"),
        pytest.param(MAIN.format("run", "", "cfg.open"), id="what a variable gives"),
        pytest.param(MAIN.format("run", "", "cfg.lost"), id="what can't be composed"),
        pytest.param(MAIN.format("run", "", "cfg.train.other"), id="no such key"),
        pytest.param(MAIN.replace("'conf'", "folder()").format("run", "", "cfg.train.batch"), id="a folder that is computed"),
        pytest.param(MAIN.format("run", "cfg.train.batch = f()\n", "cfg.train.batch"), id="set in the function"),
        pytest.param(MAIN.format("run", "cfg['train']['batch'] = f()\n", "cfg.train.batch"), id="set as an item"),
    ],
)
def test_what_may_be_otherwise_is_not_known(text: str) -> None:
    assert reported(text) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("c = yaml.safe_load(open('run.yaml'))\n" + CALL.format("c['train']['batch']"), id="opened in the call"),
        pytest.param(of_files(20), id="as many files as may be"),
        pytest.param("c = yaml.safe_load(open('long.yaml'))\n" + CALL.format("c['batch']"), id="as many characters as may be"),
        pytest.param("c = yaml.safe_load(open('./run.yaml'))\n" + CALL.format("c['train']['batch']"), id="in the folder itself"),
        pytest.param("with open('run.yaml') as f:\n    c = yaml.safe_load(f)\n" + CALL.format("c['train']['batch']"), id="with"),
        pytest.param("c = yaml.load(open('run.yaml', 'r'), Loader=yaml.Loader)\n" + CALL.format("c['train']['batch']"), id="a loader"),
        pytest.param("NAME = 'run.json'\nc = json.load(open(NAME))\n" + CALL.format("c.get('batch')"), id="JSON"),
        pytest.param("c = OmegaConf.load('run.yaml')\n" + CALL.format("c.train.batch"), id="OmegaConf"),
        pytest.param(f"from easydict import EasyDict as edict\n{OF_YAML}c = edict(c)\n" + OF_ATTRIBUTE, id="EasyDict"),
        pytest.param(f"from munch import munchify\n{OF_YAML}c = munchify(c)\n" + OF_ATTRIBUTE, id="munch"),
        pytest.param("c = OmegaConf.create({'train': {'batch': 4}})\n" + OF_ATTRIBUTE, id="made of a dictionary"),
        pytest.param("c = OmegaConf.load('run.yaml')\n" + CALL.format("c['train']['batch']"), id="its items"),
        pytest.param("def f(batch):\n    " + CALL.format("batch") + "f(**json.load(open('run.json')))\n", id="spread"),
        pytest.param(
            "c = OmegaConf.load('run.yaml')\ndef f(batch):\n    " + CALL.format("batch") + "f(**c.train)\n", id="spread attributes"
        ),
        pytest.param("from loader import load\nc = load('run.yaml')\n" + OF_TRAIN, id="a function of another file"),
        pytest.param(OF_TRIED.format("print('broken')") + "c = load()\n" + OF_TRAIN, id="a function that reports where loading fails"),
        pytest.param(OF_OPENED + "c = load()\n" + OF_TRAIN, id="a function that raises where opening fails"),
        pytest.param("from loader import checked\nc = checked('run.yaml')\n" + OF_TRAIN, id="a function that checks"),
        pytest.param("import loader\nc = loader.load('run.yaml')\n" + OF_TRAIN, id="a function of a module"),
        pytest.param(f"@lru_cache(maxsize=1)\n{OF_FUNCTION}c = load()\n" + OF_TRAIN, id="a function that is called once"),
        pytest.param(f"{OF_FUNCTION}c = load() or {{}}\n" + OF_TRAIN, id="a function of this file"),
        pytest.param("HERE = Path(__file__).resolve().parent\nc = yaml.safe_load((HERE / 'run.yaml').open())\n" + OF_TRAIN, id="a path"),
        pytest.param("c = yaml.safe_load(Path('run.yaml').read_text(encoding='utf-8'))\n" + OF_TRAIN, id="the text of a path"),
        pytest.param("with open('run.yaml') as f:\n    c = yaml.safe_load(f.read())\n" + OF_TRAIN, id="the text of a file"),
        pytest.param("f = open(Path(__file__).parents[1].joinpath('a', 'run.yaml'))\nc = yaml.safe_load(f)\n" + OF_TRAIN, id="above"),
        pytest.param("d = os.path.dirname(os.path.abspath(__file__))\n" + OF_JOINED + OF_TRAIN, id="joined"),
        pytest.param(f"from loader import show\n{OF_YAML}show(c)\nprint(c)\nlogger.info(c)\n" + OF_TRAIN, id="shown"),
        pytest.param(
            f"from accelerate.utils import set_seed\n{OF_YAML}set_seed(c['train'].get('seed', 42))\nset_seed(c['lr'])\n" + OF_TRAIN,
            id="a library gets numbers of it",
        ),
        pytest.param(f"{OF_YAML}t = c['train']\n" + CALL.format("t.get('batch', 8)"), id="a part with a name"),
        pytest.param(f"{OF_YAML}" + CALL.format("c['train'].get('size', 4)"), id="what the file does not have"),
        pytest.param(f"{OF_CONF}bar.update(1)\nscaler.update()\nlosses.update(loss, 4)\n" + OF_ATTRIBUTE, id="bars and meters move on"),
        pytest.param(f"{OF_CONF}s = model.state_dict()\ns.update(loaded)\n" + OF_ATTRIBUTE, id="the state of a model"),
        pytest.param(f"import numpy as np\n{OF_CONF}a = {{}}\na[k] = v\nb = np.zeros(4)\nb[i] = 1\n" + OF_ATTRIBUTE, id="items of others"),
        pytest.param(f"{OF_CONF}ema = EMA(model)\nema.update(model)\nlog = {{}}\nlog.update(c)\n" + OF_ATTRIBUTE, id="an object, a log"),
        pytest.param(f"{OF_CONF}self.reader.update(self.writer)\nself.banks[k] = v\n" + OF_ATTRIBUTE, id="what an object has of a model"),
        pytest.param(f"{OF_CONF}m = OmegaConf.to_container(c.model)\nm.update(x)\n" + OF_ATTRIBUTE, id="a copy as a dictionary"),
        pytest.param(
            "n = 'run.yaml'\nif n[-5:] == '.yaml':\n    c = OmegaConf.load(n)\nelse:\n    c = load_module(n[:-3])\n" + OF_ATTRIBUTE,
            id="by the end of its name",
        ),
        pytest.param(f"import wandb\n{OF_CONF}wandb.config.update(c)\nm.update(loss=1)\n" + OF_ATTRIBUTE, id="what is reported"),
        pytest.param(f"{OF_CONF}class D:\n    def __init__(self, batch):\n        self.batch = batch\n" + OF_ATTRIBUTE, id="a data set"),
        pytest.param(MAIN.format("run", "", "cfg.train.batch"), id="Hydra"),
        pytest.param(MAIN.format("run", "", "cfg.model.sizes[0]"), id="Hydra, of a list"),
        pytest.param(MAIN.format("run.yaml", "lr = cfg.lr\n", "cfg['train'].batch"), id="Hydra, with the ending"),
    ],
)
def test_what_the_file_says_is_known(text: str) -> None:
    assert reported(text) == "4"
