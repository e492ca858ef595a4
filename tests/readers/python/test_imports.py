"""What a program takes from other files of its repository: numbers, fields of classes, options of their parsers."""

from collections.abc import Callable

import pytest

from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import COMPUTED

OPTIONS = """\
import argparse
def get_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", "-b", type=int, default=8)
    parser.add_argument("--accumulation", type=int, default=2)
    parser.add_argument("--must_be_given", type=int)
    return parser
def parse_args():
    args = get_parser().parse_args()
    return args
"""
CALL = "from transformers import TrainingArguments\n{}\nTrainingArguments('out', per_device_train_batch_size={})\n"


def reads(files: dict[str, str]) -> Callable[[str], Source | Unreadable]:
    return lambda path: Source(path, files[path]) if path in files else Unreadable(path, "no such file")


def _size(document: Document) -> str | None:
    value = document.get("per_device_train_batch_size")
    assert isinstance(value, Scalar)
    assert 0 <= value.start < value.stop <= len(document.source.text)
    return None if value.tag == COMPUTED else value.text


def _reported(before: str, expression: str, files: dict[str, str]) -> str | None:
    text = CALL.format(before, expression)
    documents = (each for each in read(Source("a/train.py", text), ProgramContext(reads(files))) if isinstance(each, Document))
    (found,) = (each for each in documents if each.called == "transformers.TrainingArguments")
    return _size(found)


# facebookresearch/contriever 39fb220, src/options.py: an object of another file parses the command line.
OBJECT = """\
import argparse
class Base:
    def parse(self):
        opt, _ = self.parser.parse_known_args()
        return opt
    def defaults(self):
        return self.batch
class Options(Base):
    def __init__(self):
        self.parser = argparse.ArgumentParser()
        self.parser.add_argument("--batch_size", default=64, type=int)
"""


@pytest.mark.parametrize(
    ("made", "asked", "expected"),
    [
        pytest.param("Options()", "options.defaults()", None, id="another method"),
        pytest.param("Options()", "options.read()", None, id="no method of it"),
        pytest.param("Options() or Other()", "options.parse()", None, id="one of two objects"),
        pytest.param("Options()", "options.parse()", "64", id="what it parses"),
    ],
)
def test_options_that_an_object_of_another_file_parses(made: str, asked: str, expected: str | None) -> None:
    before = f"from options import Options\noptions = {made}\nopt = {asked}"
    assert _reported(before, "opt.batch_size", {"a/options.py": OBJECT}) == expected


@pytest.mark.parametrize(
    ("before", "expression", "files"),
    [
        pytest.param("from sizes import BATCH", "BATCH", {}, id="a file that is not there"),
        pytest.param(
            "from sizes import BATCH", "BATCH", {"a/sizes.py": "import os\nBATCH = int(os.environ['BATCH'])"}, id="the environment"
        ),
        pytest.param("from sizes import BATCH", "BATCH", {"a/sizes.py": "BATCH = 4\nif x:\n    BATCH = 8"}, id="a condition"),
        pytest.param("from sizes import BATCH", "BATCH", {"a/sizes.py": "def f(:  # BATCH = 4"}, id="a file that Python refuses"),
        pytest.param("from sizes import BATCH", "BATCH", {"a/sizes.py": "from sizes import BATCH"}, id="a file that imports itself"),
        pytest.param("from x import BATCH", "BATCH", {"a/x.py": "from y import BATCH", "a/y.py": "from x import BATCH"}, id="a circle"),
        pytest.param(
            "from x import BATCH", "BATCH", {"a/x.py": "import y\nBATCH = y.BATCH", "a/y.py": "import x\nBATCH = x.BATCH"}, id="of sums"
        ),
        pytest.param(
            "from sizes import cfg", "cfg.batch", {"a/sizes.py": "class C:\n    batch = 4\ncfg = C()"}, id="an object that may change"
        ),
        pytest.param("from sizes import cfg", "cfg['batch']", {"a/sizes.py": "cfg = dict(batch=4)"}, id="a dictionary that may change"),
        pytest.param("import sizes\nsizes.batch = f()", "sizes.batch", {"a/sizes.py": "batch = 4"}, id="set here"),
        pytest.param(
            "from sizes import C\nfor key in x:\n    setattr(C, key, 1)",
            "C.batch",
            {"a/sizes.py": "class C:\n    batch = 4"},
            id="set by name",
        ),
        pytest.param(
            "from opts import parse_args\nargs = parse_args()", "args.must_be_given", {"a/opts.py": OPTIONS}, id="without a default"
        ),
        pytest.param("from opts import parse_args\nargs = parse_args()", "args.other", {"a/opts.py": OPTIONS}, id="no such option"),
        pytest.param(
            "from opts import parse_args\nargs = parse_args()\nargs.batch_size = f()",
            "args.batch_size",
            {"a/opts.py": OPTIONS},
            id="set later",
        ),
        pytest.param(
            "from opts import parse_args\ndef g(a):\n    a.batch_size = 1\nargs = parse_args()\ng(args)",
            "args.batch_size",
            {"a/opts.py": OPTIONS},
            id="set by a function",
        ),
        pytest.param(
            "from opts import parse_args\nargs = parse_args()",
            "args.batch_size",
            {"a/opts.py": OPTIONS.replace("    return args", "    args.batch_size //= 2\n    return args")},
            id="set where it is parsed",
        ),
        pytest.param(
            "from sizes import C\nc = C(8)",
            "c.batch",
            {"a/sizes.py": "class C:\n    def __init__(self, n):\n        self.batch = 4 * n"},
            id="what __init__ makes of an argument",
        ),
        pytest.param(
            "from sizes import C\nc = C()",
            "c.batch",
            {"a/sizes.py": "class C:\n    def __init__(self):\n        self.batch = 4\n    def halve(self):\n        self.batch = 2"},
            id="what another method sets",
        ),
        pytest.param(
            "from opts import load\nargs = load()",
            "args.batch_size",
            {"a/opts.py": OPTIONS + "def load():\n    return x\n"},
            id="something else",
        ),
    ],
)
def test_what_may_be_otherwise_is_not_known(before: str, expression: str, files: dict[str, str]) -> None:
    assert _reported(before, expression, files) is None


@pytest.mark.parametrize(
    ("before", "expression", "files", "expected"),
    [
        ("from sizes import BATCH", "BATCH", {"a/sizes.py": "BATCH = 4"}, "4"),
        ("from .sizes import BATCH", "BATCH", {"a/sizes.py": "BATCH = 2 * 2"}, "4"),
        ("from sizes import *", "BATCH", {"sizes.py": "BATCH = 4"}, "4"),
        ("import sizes", "sizes.BATCH // 2", {"a/sizes.py": "BATCH = 4"}, "2"),
        ("from lib import BATCH", "BATCH", {"a/lib/__init__.py": "from .sizes import BATCH", "a/lib/sizes.py": "BATCH = 4"}, "4"),
        ("from sizes import C", "C.batch", {"a/sizes.py": "class C:\n    batch = 4"}, "4"),
        ("from sizes import C", "C().batch", {"a/sizes.py": "class C:\n    batch: int = 4"}, "4"),
        ("from sizes import C\nc = C(batch=8)", "c.batch", {"a/sizes.py": "class C:\n    batch: int = 4"}, "8"),
        ("from sizes import C\nc = C(1e-4, 8)", "c.batch", {"a/sizes.py": "class C:\n    lr: float = 1\n    batch: int = 4"}, "8"),
        ("from sizes import C\nc = C(1e-4)", "c.batch", {"a/sizes.py": "class C:\n    lr: float = 1\n    batch: int = 4"}, "4"),
        ("class B:\n    batch: int = 4\nclass C(B):\n    lr: float = 1\nc = C(8)", "c.batch", {}, "8"),
        ("class C:\n    def __init__(self, batch):\n        self.batch = batch\nc = C(8)", "c.batch", {}, "8"),
        ("from sizes import C\nc = C()", "c.batch", {"a/sizes.py": "class C:\n    def __init__(self):\n        self.batch = 4"}, "4"),
        (
            "from sizes import C\nc = C()\nc.batch = 6",
            "c.batch",
            {"a/sizes.py": "class C:\n    def __init__(self):\n        self.batch = 4"},
            "6",
        ),
        ("from sizes import C\nclass D(C):\n    lr: float = 1\nd = D()", "d.batch", {"a/sizes.py": "class C:\n    batch: int = 4"}, "4"),
        ("from sizes import C\nclass D(C):\n    batch: int = 6\nd = D()", "d.batch", {"a/sizes.py": "class C:\n    batch: int = 4"}, "6"),
        ("from opts import parse_args\nargs = parse_args()", "args.batch_size", {"a/opts.py": OPTIONS}, "8"),
        ("from opts import get_parser\nargs = get_parser().parse_args()", "args.accumulation", {"a/opts.py": OPTIONS}, "2"),
        ("from opts import parse_args\nargs = parse_args()\nargs.batch_size = 3", "args.batch_size", {"a/opts.py": OPTIONS}, "3"),
    ],
)
def test_what_another_file_gives_is_known_where_it_is_used(before: str, expression: str, files: dict[str, str], expected: str) -> None:
    assert _reported(before, expression, files) == expected


def test_what_is_copied_with_other_values_has_these() -> None:
    made = "from dataclasses import dataclass, replace\n@dataclass\nclass C:\n    batch: int = 4\n    steps: int = 2\n"
    assert _reported(made + "c = replace(C(), batch=8)", "c.batch * c.steps", {}) == "16"


def test_a_function_that_is_given_a_number_returns_what_it_makes_of_it() -> None:
    assert _reported("def half(n):\n    return n // 2", "half(8)", {}) == "4"
    assert _reported("def half(n):\n    return n // 2\nhalf(6)", "half(8)", {}) == "4"
    assert _reported("def half(n=6):\n    return n // 2\nhalf(8)", "half()", {}) == "3"
    assert _reported("def half(n):\n    return half(n) if n else n\nhalf(6)", "half(8)", {}) is None
    assert _reported("def half(n):\n    return n // 2\nhalf(6)", "half(other())", {}) is None
    assert _reported("def half(n):\n    return n // 2\nhalf(6)", "half(*other())", {}) is None


ARGUMENTS = {
    "a/own/args.py": """\
from dataclasses import dataclass
from .base import Base
@dataclass
class Mine(Base):
    per_device_train_batch_size: int = 6
""",
    "a/own/base.py": """\
from dataclasses import dataclass
import transformers
@dataclass
class Base(transformers.TrainingArguments):
    per_device_train_batch_size: int = 3
    gradient_accumulation_steps: int = 7
class Doubled(transformers.TrainingArguments):
    def __init__(self, out, per_device_train_batch_size=1):
        super().__init__(out, per_device_train_batch_size=per_device_train_batch_size * 2)
@dataclass
class Options:
    batch: int = 5
class Circle(Circle):
    batch: int = 5
""",
}


def _made(text: str, files: dict[str, str]) -> list[tuple[str, str | None, str | None]]:
    """Each call of `text` that is a recipe: the library's class, the micro batch and the accumulation."""
    documents = (
        each for each in read(Source("a/train.py", text), ProgramContext(reads(files))) if isinstance(each, Document) and "." in each.called
    )
    micro, steps = "per_device_train_batch_size", "gradient_accumulation_steps"
    return [(each.called.split()[-1], _text(each, micro), _text(each, steps)) for each in documents]


def _text(document: Document, key: str) -> str | None:
    value = document.get(key)
    return value.text if isinstance(value, Scalar) and value.tag != COMPUTED else None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("from own.base import Options\nOptions(batch=4)\n", id="a class of no library"),
        pytest.param("from own.base import Circle\nCircle(batch=4)\n", id="a class that is made from itself"),
        pytest.param("from .base import Gone\nGone(per_device_train_batch_size=4)\n", id="a class that is nowhere"),
        pytest.param(
            "from functools import partial\nmake = partial(make, per_device_train_batch_size=4)\nmake()\n", id="a partial of itself"
        ),
        pytest.param("from functools import partial\npartial()(batch_size=4)\n", id="a partial of nothing"),
        pytest.param(
            "from own.args import Mine\nclass T:\n    def __init__(self, args=None):\n        self.args = args or Mine('out')\n",
            id="what a trainer makes if it gets none",
        ),
        pytest.param("def f(n):\n    pass\nfrom functools import partial\npartial(f, n=4)()\n", id="a function"),
    ],
)
def test_what_is_not_a_class_of_a_library_is_not_a_recipe(text: str) -> None:
    assert [each for each in _made(text, ARGUMENTS) if each[0].startswith(("transformers.", "trl."))] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from own.args import Mine\nMine('out')\n", ("6", "7")),
        ("from own import args\nargs.Mine('out', per_device_train_batch_size=2)\n", ("2", "7")),
        ("from own.base import Base\nclass HereArgs(Base):\n    per_device_train_batch_size: int = 1\nHereArgs('out')\n", ("1", "7")),
        ("from own.base import Doubled\nDoubled('out', per_device_train_batch_size=2)\n", (None, None)),
        ("from functools import partial\nfrom own.args import Mine\npartial(Mine, gradient_accumulation_steps=2)('out')\n", ("6", "2")),
        ("from own.args import Mine\nMine('out', per_device_train_batch_size=2, **more())\n", ("2", None)),
    ],
)
def test_classes_of_other_files_have_their_own_defaults(text: str, expected: tuple[str | None, str | None]) -> None:
    assert _made(text, ARGUMENTS) == [("transformers.TrainingArguments", *expected)]


def test_what_a_partial_gives_holds_until_its_call_gives_another() -> None:
    text = """\
import functools
from trl import SFTConfig
first = functools.partial(SFTConfig, "out", per_device_train_batch_size=4, gradient_accumulation_steps=2)
second = functools.partial(first, gradient_accumulation_steps=8)
first(learning_rate=1e-4)
second()
second(per_device_train_batch_size=1)
"""
    assert [each[1:] for each in _made(text, {})] == [("4", "2"), ("4", "8"), ("1", "8")]


def test_a_class_has_the_names_of_what_it_is_made_from_nearest_first() -> None:
    files = {
        "trl/__init__.py": "from .sft import SFTConfig\n",
        "trl/sft.py": "import transformers\nclass SFTConfig(transformers.TrainingArguments):\n    pass\n",
    }
    text = "from trl import SFTConfig\nSFTConfig('out', per_device_train_batch_size=2)\n"
    (found,) = read(Source("train.py", text), ProgramContext(reads(files)))
    assert isinstance(found, Document)
    assert found.called == "trl.SFTConfig transformers.TrainingArguments"


DICTIONARIES = """\
import os
LORA = dict(per_device_train_batch_size=4, steps=[2, 3])
RUN = {"model": os.environ["MODEL"], "train": {"batch": 6}}
LATER = {"batch": 1}
LATER["batch"] = 5
DEEP = {"train": {"batch": 6}}
DEEP["train"]["batch"] = 7
"""


@pytest.mark.parametrize(
    ("before", "expression", "expected"),
    [
        pytest.param("from config import LORA", "LORA['accumulation']", None, id="no such key"),
        pytest.param("from config import RUN", "RUN['model']", None, id="of the environment"),
        pytest.param("from config import DEEP", "DEEP['train']['batch']", None, id="set inside of a key"),
        pytest.param("from config import LATER\nLATER.update(read())", "LATER['batch']", None, id="updated here"),
        pytest.param("import config\nconfig.LATER.update(read())", "config.LATER['batch']", None, id="updated in its module"),
        pytest.param("import config\nconfig.LATER['batch'] = read()", "config.LATER['batch']", None, id="set in its module"),
        pytest.param("from config import LORA", "LORA['per_device_train_batch_size']", "4", id="a key"),
        pytest.param("from config import LORA", "LORA['steps'][1]", "3", id="of a list"),
        pytest.param("from config import RUN", "RUN['train']['batch']", "6", id="of a dictionary"),
        pytest.param("import config", "config.RUN['train']['batch']", "6", id="of its module"),
        pytest.param("from config import LATER", "LATER['batch']", "5", id="set there"),
        pytest.param("from config import LATER\nLATER['batch'] = 8", "LATER['batch']", "8", id="set here"),
        pytest.param("from config import LATER as OPTIONS", "OPTIONS.get('batch', 2)", "5", id="by another name"),
    ],
)
def test_a_dictionary_of_another_file(before: str, expression: str, expected: str | None) -> None:
    assert _reported(before, expression, {"a/config.py": DICTIONARIES}) == expected
    assert _reported(before, expression, {"config.py": "batch = 1\n" + DICTIONARIES}) == expected


# bytedance/F-16 fda40e3, llava/train/train.py: an object of a class of the program, given to a function of another file.
SETTINGS = "class Settings:\n    size = 4\n    steps: int = 2\nsettings = Settings({})\n"
SIZES = {
    "a/helpers.py": """\
def size_of(settings):
    return settings.size
def sizes(settings):
    return {"per_device_train_batch_size": settings.size}
"""
}


@pytest.mark.parametrize(
    ("given", "after", "expected"),
    [
        pytest.param("", "settings.size = 8", None, id="set later"),
        pytest.param("size=8", "settings.size *= 2", None, id="multiplied later"),
        pytest.param("", "for name, value in read().items():\n    setattr(settings, name, value)", None, id="set by name"),
        pytest.param("size=read()", "", None, id="computed"),
        pytest.param("**read()", "", None, id="unpacked"),
        pytest.param("", "", "4", id="by default"),
        pytest.param("size=8", "", "8", id="given"),
        pytest.param("", "settings.steps = 8", "4", id="another attribute is set"),
    ],
)
def test_an_object_is_given_to_another_file(given: str, after: str, expected: str | None) -> None:
    before = SETTINGS.format(given) + after
    assert _reported(f"from helpers import size_of\n{before}", "size_of(settings)", SIZES) == expected
    assert _reported(f"from helpers import sizes\n{before}", "sizes(settings)['per_device_train_batch_size']", SIZES) == expected
    spread = before + "\nTrainingArguments('out', **sizes(settings))"
    text = f"from transformers import TrainingArguments\nfrom helpers import sizes\n{spread}\n"
    found = [each for each in read(Source("a/train.py", text), ProgramContext(reads(SIZES))) if isinstance(each, Document)]
    assert {_size(each) for each in found} - {None} == {expected} - {None}


def test_an_attribute_that_is_set_by_its_name_is_lost() -> None:
    assert _reported(SETTINGS.format("") + "setattr(settings, read(), 8)", "settings.size", {}) is None
    assert _reported(SETTINGS.format("") + "setattr(other, read(), 8)", "settings.size", {}) == "4"


def test_functions_that_fill_a_configuration_by_each_other_are_read_in_time() -> None:
    """Each of 40 asks the one before for two: 2 ** 39 calls in all, of which few are looked at."""
    first = "import ml_collections\ndef f0(n):\n    c = ml_collections.ConfigDict()\n    c.batch_size = n\n    return c\n"
    further = "def f{0}(n):\n    c = ml_collections.ConfigDict()\n    c.a = f{1}(n)\n    c.b = f{1}(2)\n    return c\n"
    text = first + "".join(further.format(i, i - 1) for i in range(1, 40)) + "def get_config():\n    return f39(1)\n"
    assert len(read(Source("configs/a.py", text), ProgramContext(reads({})))) > 1
