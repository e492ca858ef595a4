"""Functions that return a configuration: what they set, statement by statement; what others may have changed is unknown."""

import pytest

from pytest_gbs.model.document import FUNCTION, Document, Scalar
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import COMPUTED

HELPERS = """\
from library import base, Config, Training

def names(c):
    c.train.name = "run"

def doubles(c):
    c.train.global_batch_size *= 2

def passes_on(n, c):
    doubles(c)

def loops(c):
    loops(c.train)

def small():
    return Config(train=Training(global_batch_size=8))

def trains(batch):
    return Training(global_batch_size=batch)

"""


def made(body: str) -> Document | None:
    """The configuration that a function with the lines of `body` makes."""
    text = HELPERS + "def recipe(n=2):\n" + "".join(f"    {line}\n" for line in body.split("; "))
    return recipe(read(Source("recipes.py", text)))


def recipe(documents: tuple[Document | Unreadable, ...]) -> Document | None:
    """The last of the functions that make a configuration, if it is called `recipe`."""
    found = [each for each in documents if isinstance(each, Document) and each.called == FUNCTION]
    return found[-1] if found and found[-1].part == f"line {HELPERS.count(chr(10)) + 1}" else None


def batch(body: str) -> str | None:
    document = made(body)
    assert document is not None
    node = document.get("train", "global_batch_size")
    assert isinstance(node, Scalar)
    return None if node.tag == COMPUTED else node.text


def test_a_parser_has_no_field_for_what_it_is_given() -> None:
    body = "    args = parser.parse_args(namespace=argparse.Namespace(c=1))\n    args.train_batch_size = 8\n    train(args)\n"
    text = f"import argparse\nparser = argparse.ArgumentParser()\n\ndef main():\n{body}"
    (document,) = read(Source("train.py", text))
    assert isinstance(document, Document)
    assert document.keyed.keys() == {("train_batch_size",)}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("cfg = base(); cfg.train.lr = 1; return cfg", id="no batch"),
        pytest.param("cfg = base(); cfg.train.global_batch_size = 4", id="returns nothing"),
        pytest.param("n.train.global_batch_size = 4; return n", id="a parameter"),
        pytest.param("cfg = base(); if n: cfg = base(); cfg.train.global_batch_size = 4; return cfg", id="made twice, perhaps"),
        pytest.param("return base(global_batch_size=4)", id="a function of another file"),
        pytest.param("return Config(train=Training(global_batch_size=4)).merge({'train': 8})", id="merged with something else"),
    ],
)
def test_what_makes_no_configuration_is_not_a_document(body: str) -> None:
    assert made(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "cfg = base(); cfg.train.global_batch_size = n; return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; change(cfg); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; change(x=cfg.train); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; cfg.train.finalize(); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; train = cfg.train; train.global_batch_size = 8; return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; cfg.train.global_batch_size *= 2; return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; setattr(cfg.train, 'global_batch_size', 8); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; cfg.train['global_batch_size'] = 8; return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; doubles(cfg); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; passes_on(1, cfg); return cfg",
        "cfg = small(); doubles(cfg); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; loops(cfg); return cfg",
    ],
)
def test_what_the_function_does_not_fix_is_unknown(body: str) -> None:
    assert batch(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "cfg = base(); cfg.train.global_batch_size = 8; return cfg",
        "cfg = base(); change(cfg); cfg.train.global_batch_size = 8; return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; cfg.train.global_batch_size = 8; return cfg",
        "cfg = base(); cfg.train = Training(global_batch_size=4); cfg.train.global_batch_size = 8; return cfg",
        "cfg = base(); cfg.train.global_batch_size = 8; change(cfg.model); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 4; cfg = base(); cfg.train.global_batch_size = 8; return cfg",
        "cfg = base(); cfg.train.global_batch_size = 8; names(cfg); return cfg",
        "cfg = base(); cfg.train.global_batch_size = 8; names(c=cfg); return cfg",
        "cfg = small(); return cfg",
        "cfg = small(); cfg.train.lr = 1; return cfg",
        "cfg = Config(train=trains(8)); return cfg",
        "return Config(train=Training(global_batch_size=8)).merge(n)",
        "train = Training(global_batch_size=4); train.global_batch_size = 8; return Config(train=train)",
        "cfg = Config(train=Training(global_batch_size=8)); return cfg",
        "return Config(train=Training(global_batch_size=8))",
    ],
)
def test_what_the_function_sets_is_known(body: str) -> None:
    assert batch(body) == "8"


def test_what_is_not_set_comes_from_elsewhere() -> None:
    document = made("cfg = base(); cfg.train.global_batch_size = 8; return cfg")
    assert document is not None
    assert document.rest is not None


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("cfg = base(); cfg.train.global_batch_size = 8; library.pretrain(cfg)", "8"),
        ("cfg = base(); cfg.train.global_batch_size = 8; library.pretrain(config=cfg); print(cfg)", "8"),
        ("cfg = base(); cfg.train.global_batch_size = 8; cfg.callbacks[0].batch = 4; library.pretrain(cfg)", "8"),
        ("cfg = small(); cfg.train.global_batch_size = 16; library.pretrain(cfg)", "16"),
        ("cfg = base(); cfg.train.global_batch_size = 8; cfg.train.global_batch_size *= 2; library.pretrain(cfg)", None),
        ("cfg = base(); cfg.train.global_batch_size = 8; change(cfg); cfg.train.lr = 1; library.pretrain(cfg)", None),
        ("cfg = base(); cfg.train.global_batch_size = n; library.pretrain(cfg)", None),
    ],
)
@pytest.mark.parametrize("in_function", [True, False])
def test_what_is_set_where_it_is_used_is_known_up_to_there(body: str, value: str | None, in_function: bool) -> None:
    lines = body.split("; ")
    text = HELPERS + "import library\nn = input()\n" + ("def main():\n    " + "\n    ".join(lines) if in_function else "\n".join(lines))
    found = [each for each in read(Source("run.py", text)) if isinstance(each, Document) and each.called == FUNCTION]
    node = found[-1].get("train", "global_batch_size")
    assert isinstance(node, Scalar)
    assert (None if node.tag == COMPUTED else node.text) == value


def test_what_is_set_and_never_used_is_not_a_document() -> None:
    assert made("cfg = base(); cfg.train.global_batch_size = 8") is None


def test_the_docstring_is_a_comment_above() -> None:
    document = made('"""Eight GPUs.; ; Batch 64.; """; cfg = base(); cfg.train.global_batch_size = 8; return cfg')
    assert document is not None
    (block,) = document.comments
    assert block.text.split() == ["Eight", "GPUs.", "Batch", "64."]
    place = block.locate("recipes.py", block.text.index("64"), block.text.index("64") + 2)
    assert document.source.text[place.start : place.stop] == "64"


def test_a_class_of_the_library_has_no_keys_from_elsewhere() -> None:
    document = made("return Config(train=Training(global_batch_size=8))")
    assert document is not None
    assert document.rest is None


@pytest.mark.parametrize(
    "body", ["return Config(train=own.Training(global_batch_size=8))", "return Config(train=Training(global_batch_size=8, **n))"]
)
def test_classes_of_others_and_what_is_spread_may_have_more(body: str) -> None:
    document = made(body)
    assert document is not None
    assert document.rest is None
    assert document.keyed["train",][1].tag == COMPUTED  # type: ignore[union-attr]


def test_examples_of_a_docstring_are_not_comments() -> None:
    document = made('"""Eight GPUs.;     >>> recipe(nodes=4);     ... 4 nodes;     $ run 4 nodes;     """; return Config(train=trains(8))')
    assert document is not None
    (block,) = document.comments
    assert block.text.split() == ["Eight", "GPUs."]


def test_what_a_docstring_says_of_one_value_of_an_argument_is_not_a_comment() -> None:
    text = '"""Eight GPUs.;     n=4: batch 64,;         in 2 steps.; ;         Or 3.;     Batch 8.;     """'
    document = made(f"{text}; return Config(train=trains(8))")
    assert document is not None
    (block,) = document.comments
    assert block.text.split() == ["Eight", "GPUs.", "Batch", "8."]


OTHER = "from lib.names import names\ndef changes(cfg):\n    names(cfg)\n    cfg.train.global_batch_size = 64\n"
NAMES = "def names(cfg):\n    cfg.train.name = 'run'\n"
FILES = {
    "src/lib/__init__.py": "from .other import changes\nfrom lib.names import *\n",
    "src/lib/other.py": OTHER,
    "src/lib/names.py": NAMES,
}


@pytest.mark.parametrize(
    ("imports", "value"),
    [
        ("from lib.names import names as helps", "8"),
        ("from .names import names as helps", "8"),
        ("from lib.other import names as helps", "8"),  # as it was imported there
        ("from lib.other import changes as helps", "64"),
        ("from lib import changes as helps", "64"),
        ("from lib import names as helps", None),  # everything was imported
        ("from elsewhere import helps", None),
        ("helps = print", None),
    ],
)
def test_a_function_of_another_file_is_looked_into(imports: str, value: str | None) -> None:
    lines = ("cfg = base()", "cfg.train.global_batch_size = 8", "helps(cfg)", "return cfg")
    text = f"{imports}\nfrom library import base\ndef recipe():\n" + "".join(f"    {line}\n" for line in lines)
    sources = {path: Source(path, text) for path, text in FILES.items()}
    (document,) = read(Source("src/lib/recipes.py", text), ProgramContext(lambda path: sources.get(path) or Unreadable(path, "missing")))
    assert isinstance(document, Document)
    node = document.get("train", "global_batch_size")
    assert isinstance(node, Scalar)
    assert (None if node.tag == COMPUTED else node.text) == value


HELPER = "{}\ndef recipe(fast=False):\n    cfg = base()\n    cfg.train.global_batch_size = 8\n    {}\n    return cfg\n"
SETS = "def helps(c):\n    c.train.global_batch_size = 64"


@pytest.mark.parametrize(
    ("helper", "call", "value"),
    [
        pytest.param("def helps(c, n):\n    c.train.global_batch_size = n", "helps(cfg, 64)", None, id="not a constant"),
        pytest.param("def helps(c):\n    if c.fast: c.train.global_batch_size = 64", "helps(cfg)", None, id="sets it sometimes"),
        pytest.param("def helps(c):\n    if c.fast: return\n    c.train.global_batch_size = 64", "helps(cfg)", None, id="may end before"),
        pytest.param(SETS + "\n    c.train = other()", "helps(cfg)", None, id="replaces what is around it"),
        pytest.param(SETS + "\n    c.train.global_batch_size *= 2", "helps(cfg)", None, id="changes it later"),
        pytest.param(SETS + "\n    unknown(c)", "helps(cfg)", None, id="hands it on later"),
        pytest.param("def helps(c):\n    for c in c.all: c.train.global_batch_size = 64", "helps(cfg)", None, id="in a loop"),
        pytest.param("def helps(c, d):\n    c.train.global_batch_size = 64", "helps(cfg, cfg)", None, id="given twice"),
        pytest.param(SETS, "unknown() and helps(cfg)", None, id="called sometimes"),
        pytest.param(SETS, "if unknown(): helps(cfg)", None, id="called under a condition"),
        pytest.param(SETS, "[helps(cfg) for _ in range(2)]", None, id="in a comprehension"),
        pytest.param(SETS, "if fast: helps(cfg)", "8", id="not called by default"),
        pytest.param(SETS, "helps(cfg)", "64", id="sets it"),
        pytest.param("def helps(c):\n    unknown(c)\n    c.train.global_batch_size = 64", "helps(cfg)", "64", id="sets it at last"),
        pytest.param("def helps(c):\n    c.train = other()\n    c.train.global_batch_size = 64", "helps(cfg)", "64", id="after all of it"),
        pytest.param("def helps(t):\n    t.global_batch_size = 64", "helps(cfg.train)", "64", id="of a part"),
        pytest.param(SETS + "\ndef more(c):\n    helps(c)", "more(cfg)", "64", id="through another"),
        pytest.param(SETS, "helps(cfg); cfg.train.global_batch_size = 32", "32", id="set once more"),
    ],
)
def test_what_a_function_always_sets_is_set_where_it_is_called(helper: str, call: str, value: str | None) -> None:
    text = "from library import base, other, unknown\n" + HELPER.format(helper, call)
    if call.startswith("if fast"):
        text = text.replace("def recipe", "import nemo_run\n@nemo_run.cli.factory\ndef recipe")
    found = [each for each in read(Source("recipes.py", text)) if isinstance(each, Document) and each.called == FUNCTION]
    node = found[-1].get("train", "global_batch_size")
    assert isinstance(node, Scalar)
    assert (None if node.tag == COMPUTED else node.text) == value


def test_functions_that_start_from_each_other_without_end_are_read_as_far_as_a_bound() -> None:
    made = "def f{0}():\n    cfg = f{1}()\n    cfg.train.global_batch_size = {0}\n    g{0}(cfg)\n    return cfg\n"
    one = made + "def g{0}(cfg):\n    g{1}(cfg)\n    g{2}(cfg)\n"
    text = "from library import f900\n" + "".join(one.format(number, number + 1, number + 2) for number in range(900))
    assert len(read(Source("recipes.py", text))) > 0


BASES = {
    "src/bases.py": """\
from library import Config, Trainer
def started(batch, degree=2, *, kind="full"):
    config = Config(train=Trainer(degree=degree, kind=kind))
    config.train.batch_size = batch
    config.train.micro_batch_size = 2 * degree
    if kind.upper() in ("LORA", "DORA"):
        config.train.degree = 1
    return config
def either(first):
    return Config(train=Trainer(batch_size=1)) if first else Config(train=Trainer(batch_size=2))
def read(path):
    return load(path)
def endless():
    return endless()
""",
    "src/endless.py": "from recipes import recipe as again\ndef around():\n    return again()\n",
}


def from_base(lines: str) -> Document | None:
    """What `recipe` makes in a file that imports the functions of `BASES`, if that is a configuration."""
    text = "from bases import *\nfrom bases import started, either, read, endless\nfrom endless import around\ndef recipe():\n"
    text += "".join(f"    {line}\n" for line in lines.split("; "))
    sources = {"src/recipes.py": Source("src/recipes.py", text)} | {path: Source(path, each) for path, each in BASES.items()}
    found = read(sources["src/recipes.py"], ProgramContext(lambda path: sources.get(path) or Unreadable(path, "missing")))
    return next((each for each in found if isinstance(each, Document) and each.called == FUNCTION), None)


@pytest.mark.parametrize(
    "lines",
    ["return either(1)", "return read('x')", "return endless()", "return around()", "cfg = around(); return cfg", "return missing(8)"],
)
def test_a_function_of_another_file_that_returns_no_one_configuration_gives_none(lines: str) -> None:
    assert from_base(lines) is None


@pytest.mark.parametrize(
    ("lines", "key", "value"),
    [
        ("return started(8)", "batch_size", "8"),
        ("n = 4; return started(batch=n * 2)", "batch_size", "8"),
        ("return started()", "batch_size", None),
        ("return started(*some)", "batch_size", None),
        ("return started(8, **more)", "degree", None),
        ("return started(8)", "degree", "2"),
        ("return started(8, 4)", "degree", "4"),
        ("return started(8, kind='lora')", "degree", "1"),
        ("return started(8, kind=chosen())", "degree", None),
        ("return started(8, degree=4)", "micro_batch_size", "8"),
        ("return started(8, degree=chosen())", "micro_batch_size", None),
        ("cfg = started(8); cfg.train.batch_size = 16; return cfg", "batch_size", "16"),
        ("cfg = started(8); cfg.train.batch_size = chosen(); return cfg", "batch_size", None),
    ],
)
def test_a_configuration_starts_from_what_a_function_of_another_file_returns(lines: str, key: str, value: str | None) -> None:
    document = from_base(lines)
    assert document is not None
    node = document.get("train", key)
    assert isinstance(node, Scalar)
    assert (None if node.tag == COMPUTED else node.text) == value


def test_what_another_file_gives_is_at_the_call_and_what_the_call_gives_where_it_is_written() -> None:
    document = from_base("cfg = started(8, degree=4); return cfg")
    assert document is not None
    text = document.source.text
    spans = {str(path[-1]): text[node.start : node.stop] for path, (_, node) in document.keyed.items()}
    assert (spans["batch_size"], spans["degree"], spans["micro_batch_size"]) == ("8", "4", "started(8, degree=4)")


@pytest.mark.parametrize(
    ("use", "is_recipe"),
    [
        pytest.param("cfg = recipe()\ncfg.train.global_batch_size = 32\npretrain(cfg)", False, id="changed"),
        pytest.param("def main():\n    cfg = recipe()\n    cfg.train = other()\n    pretrain(cfg)", False, id="changed in a function"),
        pytest.param("cfg = recipe()\npretrain(cfg)", True, id="used as it is"),
        pytest.param("def main():\n    cfg = recipe()\n    cfg.train.steps = 5\n    return cfg", True, id="made into another"),
    ],
)
def test_what_a_program_changes_where_it_uses_it_is_not_a_recipe(use: str, is_recipe: bool) -> None:
    made = "def recipe():\n    cfg = base()\n    cfg.train.global_batch_size = 8\n    return cfg"
    text = f"from library import base, other, pretrain\n{made}\n{use}\n"
    found = [each for each in read(Source("recipes.py", text)) if isinstance(each, Document) and each.part == "line 2"]
    assert bool(found) is is_recipe


@pytest.mark.parametrize("call", ["lib.other.changes()", "other.changes()", "more.changes()"])
def test_a_function_may_be_called_as_one_of_an_imported_module(call: str) -> None:
    imports = "import lib.other\nfrom lib import other\nimport lib.other as more"
    text = f"{imports}\ndef recipe():\n    cfg = {call}\n    cfg.train.lr = 1\n    return cfg\n"
    made = "from library import base\ndef changes():\n    cfg = base()\n    cfg.train.global_batch_size = 64\n    return cfg\n"
    sources = {"lib/__init__.py": Source("lib/__init__.py", ""), "lib/other.py": Source("lib/other.py", made)}
    (document,) = read(Source("recipes.py", text), ProgramContext(lambda path: sources.get(path) or Unreadable(path, "missing")))
    assert isinstance(document, Document)
    node = document.get("train", "global_batch_size")
    assert isinstance(node, Scalar)
    assert node.text == "64"
