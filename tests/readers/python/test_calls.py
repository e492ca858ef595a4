"""What a Python program says of a batch, read without running it; what it does not fix is unknown."""

import pytest

from pytest_gbs.model.document import DICTIONARY, Document, Scalar
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import COMPUTED

CALL = "TrainingArguments(per_device_train_batch_size="
IMPORT = "from transformers import TrainingArguments\n"
MICRO = "per_device_train_batch_size"
# What a version of the library does not have is left out.
FILTERED = f"import inspect\nnames = set(inspect.signature(TrainingArguments).parameters)\no = {{'{MICRO}': 4, 'eval_steps': None}}\n"
TAKEN = f"\n{CALL}p['{MICRO}'])\n"
PARSER = "import argparse\np = argparse.ArgumentParser()\n"
TYPER = "import typer\napp = typer.Typer()\n@app.command()\n"


def documents(text: str, path: str = "train.py") -> list[Document]:
    found = read(Source(path, text))
    assert all(isinstance(each, Document) for each in found)
    return [each for each in found if isinstance(each, Document)]


SUB_COMMANDS = f"""\
{PARSER}
def train(args):
    TrainingArguments({MICRO}=args.n)
def test(args):
    print(args.n)
s = p.add_subparsers()
t = s.add_parser("train")
t.add_argument("--n", type=int, default=4)
t.set_defaults(func=train)
args = p.parse_args()
args.func(args)
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("set_defaults(func=train)", "set_defaults(func=test)"), None),
        (("def train(args)", "def train(other, args)"), None),
        (("def train(args)", "def train(*, args)"), None),
        (("set_defaults(func=train)", "add_argument('--m', default=train)"), None),
        (("args.func(args)", "args.n = x\nargs.func(args)"), None),
        (("args = p", "s.add_parser('test').add_argument('--n', default=8)\nargs = p"), None),
        (("args.func(args)", "args.func(args)"), "4"),
    ],
)
def test_a_function_that_a_sub_command_of_argparse_runs(change: tuple[str, str], expected: str | None) -> None:
    assert change[0] in SUB_COMMANDS
    assert micro(SUB_COMMANDS.replace(*change)) == expected


def micro(text: str) -> str | None:
    """The micro batch of the one call of TrainingArguments in `text`; None where the text does not fix it."""
    (call,) = (each for each in documents(IMPORT + text) if each.called == "transformers.TrainingArguments")
    node = call.get(MICRO)
    assert isinstance(node, Scalar)
    return None if node.tag == COMPUTED else node.text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def main(n):\n    TrainingArguments(per_device_train_batch_size=n)\n", id="a parameter that no call gives"),
        pytest.param("if x:\n    n = 4\nelse:\n    n = 8\nTrainingArguments(per_device_train_batch_size=n)\n", id="a condition"),
        pytest.param("for n in (1, 2):\n    TrainingArguments(per_device_train_batch_size=n)\n", id="a loop"),
        pytest.param("n = 4\nif x:\n    n += 4\nTrainingArguments(per_device_train_batch_size=n)\n", id="changed under a condition"),
        pytest.param("n = 4\nfor i in x:\n    n *= 2\nTrainingArguments(per_device_train_batch_size=n)\n", id="changed in a loop"),
        pytest.param("n = 4\ndef f():\n    global n\n    n = 8\nTrainingArguments(per_device_train_batch_size=n)\n", id="a global"),
        pytest.param("n = 4\ndef f(p):\n    exec(open(p).read(), globals())\n    " + CALL + "n)\n", id="what a file may set"),
        pytest.param("import os\nTrainingArguments(per_device_train_batch_size=int(os.environ['N']))\n", id="the environment"),
        pytest.param("import os\nos.environ['N'] = '8'\n" + CALL + "int(os.environ.get('N', '4')))\n", id="a variable that it sets"),
        pytest.param("import os\nos.environ.setdefault('N', x)\n" + CALL + "int(os.getenv('N', 4)))\n", id="a variable that it may set"),
        pytest.param("import os\nos.environ.update(x)\n" + CALL + "int(os.getenv('N', 4)))\n", id="variables that it sets"),
        pytest.param("import os\n" + CALL + "64 // int(os.getenv('NUM_GPUS', 8)))\n", id="a variable of the hardware"),
        pytest.param("import torch\nTrainingArguments(per_device_train_batch_size=64 // torch.cuda.device_count())\n", id="the machine"),
        pytest.param("devices = 1\nTrainingArguments(per_device_train_batch_size=64 // devices)\n", id="a share of each device"),
        pytest.param("TrainingArguments(per_device_train_batch_size=4 if 1 in (1, x) else 8)\n", id="one of what is not known"),
        pytest.param("TrainingArguments(per_device_train_batch_size=4 if x.lower() == 'a' else 8)\n", id="text that is not known"),
        pytest.param(f"c = Config(train={CALL}4))\nif x:\n    c.train.{MICRO} = 32\n", id="set through what holds it"),
        pytest.param(f"c = Config(train={CALL}4))\nc.train.{MICRO} += 32\n", id="added to through what holds it"),
        pytest.param("n = n\nTrainingArguments(per_device_train_batch_size=n)\n", id="a name that is itself"),
        pytest.param("TrainingArguments(per_device_train_batch_size=8 // 0)\n", id="a division by zero"),
        pytest.param("TrainingArguments(per_device_train_batch_size=9 ** 9 ** 9)\n", id="a power"),
        pytest.param("def f(n):\n    TrainingArguments(per_device_train_batch_size=n)\nf(1)\nf(2)\n", id="calls that differ"),
        pytest.param("o = {'n': 4}\no.update(p)\nTrainingArguments(per_device_train_batch_size=o['n'])\n", id="a dictionary that changes"),
        pytest.param(PARSER + "p.add_argument('--n')\n" + CALL + "p.parse_args().n)\n", id="no default"),
        pytest.param(PARSER + "p.add_argument('--n', type=int, default=None)\n" + CALL + "p.parse_args().n)\n", id="an empty default"),
        pytest.param("import fire\ndef f(n=None):\n    " + CALL + "n)\nfire.Fire(f)\n", id="an empty default of a function"),
        pytest.param(TYPER + "def f(n: int):\n    " + CALL + "n)\n", id="typer, without a default"),
        pytest.param(TYPER + "def f(n: int = 4):\n    " + CALL + "n)\ndef g():\n    f(8)\n", id="typer, and a call that gives another"),
        pytest.param(FILTERED + "p = {k: v for k, v in o.items() if k in others}" + TAKEN, id="names of something else"),
        pytest.param(FILTERED + "p = {k: v for k, v in o.items() if k not in names}" + TAKEN, id="names that are left out"),
        pytest.param(FILTERED + "p = {k: v for k, v in o.items() if v > 4}" + TAKEN, id="values of a kind"),
        pytest.param(FILTERED + "p = {k: 2 * v for k, v in o.items() if k in names}" + TAKEN, id="other values"),
        pytest.param("t = " + CALL + "4)\nif x:\n    t.per_device_train_batch_size = 8\n", id="set under a condition"),
    ],
)  # fmt: skip
def test_what_the_text_does_not_fix_is_unknown(text: str) -> None:
    assert micro(text) is None


# Each of these was followed as often as it names itself, so that nothing behind it was known (OpenEnv's 2048 notebooks of Unsloth).
@pytest.mark.parametrize(
    "loop",
    [
        pytest.param("    while state:\n        a = b(a)\n        a = c(int(a), a, a)\n", id="again and again"),
        pytest.param(
            "    for i in state:\n" + "".join(f"        if i == {n}:\n            a = Act(a, b=a)\n" for n in range(9)), id="in cases"
        ),
    ],
)
def test_names_that_take_themselves_use_up_no_budget(loop: str) -> None:
    play = f"from env import Act\ndef play(state):\n{loop}        DataLoader(a, batch_size=a)\n"
    assert micro(f"{play}TrainingArguments(per_device_train_batch_size=4)\n") == "4"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("n = 4\ndef f(p):\n    exec(open(p).read(), {})\n    " + CALL + "n)\n", "4", id="text with names of its own"),
        pytest.param(f"c = Config(train={CALL}4), more=1)\nc.more.{MICRO} = 32\nd.train.{MICRO} = 8\n", "4", id="set in another one"),
        pytest.param(f"c = Config(train={CALL}4))\nc.train.epochs = 32\n", "4", id="another key set through what holds it"),
        ("TrainingArguments(per_device_train_batch_size=4)\n", "4"),
        ("N = 4\nTrainingArguments(per_device_train_batch_size=N)\n", "4"),
        ("n = 8\nn = n // 2\nTrainingArguments(per_device_train_batch_size=n)\n", "4"),
        ("n = 2\nn *= 4\nn //= 2\nTrainingArguments(per_device_train_batch_size=n)\n", "4"),
        ("n = 4 if 'LoRA'.lower() in ('lora', 'dora') else 8\nTrainingArguments(per_device_train_batch_size=n)\n", "4"),
        ("n = 8 if 2 in [1, 3] else 4\nTrainingArguments(per_device_train_batch_size=n)\n", "4"),
        ("n = 8 if True else 2\nTrainingArguments(per_device_train_batch_size=n // 2)\n", "4"),
        ("a, b = 4, 8\nTrainingArguments(per_device_train_batch_size=a)\n", "4"),
        ("o = dict(per_device_train_batch_size=4)\nTrainingArguments(**o)\n", "4"),
        ("o = {}\no['per_device_train_batch_size'] = 4\nTrainingArguments(**o)\n", "4"),
        (FILTERED + "TrainingArguments(**{k: v for k, v in o.items() if k in names and v is not None})\n", "4"),
        (FILTERED + "TrainingArguments(**{key: value for key, value in o.items() if value is not None})\n", "4"),
        (FILTERED + "o = {k: v for k, v in o.items() if k in TrainingArguments.__dataclass_fields__}\nTrainingArguments(**o)\n", "4"),
        ("TrainingArguments(**{'per_device_train_batch_size': 2 * 2})\n", "4"),
        ("def main(n=4):\n    TrainingArguments(per_device_train_batch_size=n)\nmain()\n", "4"),
        ("def main(n):\n    TrainingArguments(per_device_train_batch_size=n)\nmain(n=4)\n", "4"),
        ("import fire\ndef main(n: int = 4):\n    TrainingArguments(per_device_train_batch_size=n)\nfire.Fire(main)\n", "4"),
        ("from jsonargparse.cli import CLI\ndef main(n: int = 4):\n    TrainingArguments(per_device_train_batch_size=n)\nCLI(main)\n", "4"),
        ("class C:\n    n = 4\nTrainingArguments(per_device_train_batch_size=C.n)\n", "4"),
        ("class C:\n    n: int = 2\nc = C(n=4)\nTrainingArguments(per_device_train_batch_size=c.n)\n", "4"),
        ("t = TrainingArguments(per_device_train_batch_size=2)\nt.per_device_train_batch_size = 4\n", "4"),
        ("if __name__ == '__main__':\n    n = 4\n    TrainingArguments(per_device_train_batch_size=n)\n", "4"),
        (
            PARSER + "p.add_argument('--batch-size', type=int, default=4)\n"
            "TrainingArguments(per_device_train_batch_size=p.parse_args().batch_size)\n",
            "4",
        ),
        (
            "from dataclasses import field\nfrom transformers import HfArgumentParser\nclass S:\n    n: int = field(default=4)\n"
            "s, t = HfArgumentParser((S, TrainingArguments)).parse_args_into_dataclasses()\n"
            "TrainingArguments(per_device_train_batch_size=s.n)\n",
            "4",
        ),
        (TYPER + "def f(n: int = 4):\n    " + CALL + "n)\n", "4"),
        (TYPER + "def f(n: int = typer.Option(4)):\n    " + CALL + "n)\n@app.command()\ndef g(n: int = 4):\n    f(n=n)\n", "4"),
        ("import click\n@click.option('--n', default=4)\ndef main(n):\n    TrainingArguments(per_device_train_batch_size=n)\n", "4"),
    ],
)
def test_what_the_text_fixes_is_known(text: str, value: str) -> None:
    assert micro(text) == value


def test_a_class_made_from_an_imported_one_has_its_own_defaults() -> None:
    fields = "    per_device_train_batch_size: int = 4\n    output_dir: str = 'x'\n"
    made = "Mine(gradient_accumulation_steps=2)\n"
    text = IMPORT + "class Mine(TrainingArguments):\n" + fields + made
    (call,) = documents(text)
    assert call.called == "transformers.TrainingArguments"
    assert {path[0]: node.text for path, (_, node) in call.keyed.items() if isinstance(node, Scalar)} == {
        "gradient_accumulation_steps": "2",
        "per_device_train_batch_size": "4",
        "output_dir": "x",
    }


def test_classes_of_the_repository_are_not_those_of_a_library() -> None:
    assert documents("from .config import SFTConfig\nSFTConfig(batch_size=4)\n") == []
    assert documents("class SFTConfig:\n    pass\nSFTConfig(batch_size=4)\n") == []


def test_a_call_of_a_library_without_a_batch_is_not_a_document() -> None:
    assert documents(IMPORT + "TrainingArguments(output_dir='x')\n") == []


def test_further_arguments_that_are_not_known_are_said() -> None:
    (call,) = documents(IMPORT + "TrainingArguments(per_device_train_batch_size=4, **options)\n")
    assert call.rest is not None
    assert call.source.text[call.rest.start : call.rest.stop] == "options"


@pytest.mark.parametrize(
    ("key", "further"),
    [
        pytest.param("k = f()\n", True, id="any name"),
        pytest.param("for k in ('max_length', 'max_seq_length'):\n    print(k)\n", True, id="the names of a loop"),
        pytest.param("k = 'max_length'\nk += x\n", True, id="a part of a name"),
        pytest.param("def main(k='max_length'):\n  o['max_length'] = k\nfor k in x:\n  pass\n", True, id="the parameter of something else"),
        pytest.param("k = 'max_length' if x else y\n", True, id="a name or any other"),
        pytest.param("k = 8\n", True, id="a number"),
        pytest.param("k = 'max_length'\n", False, id="one name"),
        pytest.param("k = 'max_seq_length' if 'max_seq_length' in known else 'max_length'\n", False, id="one of two names"),
        pytest.param("if x:\n    k = 'max_seq_length'\nelse:\n    k = 'max_length'\n", False, id="one of two names, by a statement"),
    ],
)
def test_an_item_may_have_one_of_several_names(key: str, further: bool) -> None:
    found = documents(f"{IMPORT}o = {{'{MICRO}': 4}}\n{key}o[k] = 1024\nTrainingArguments(**o)\n")
    assert [each.rest is not None for each in found if each.called == "transformers.TrainingArguments"] == [further]


def test_the_name_of_an_item_may_be_that_of_the_batch() -> None:
    assert micro(f"o = {{'{MICRO}': 4}}\nk = '{MICRO}' if x else 'gradient_accumulation_steps'\no[k] = 8\nTrainingArguments(**o)\n") is None
    assert micro(f"o = {{'{MICRO}': 4}}\nk = '{MICRO}'\no[k] = 8\nTrainingArguments(**o)\n") == "8"


def test_spans_are_those_of_the_literals() -> None:
    text = IMPORT + 'É = "é"; SIZE = 16  # per GPU\nargs = TrainingArguments(\n    per_device_train_batch_size=SIZE,\n)\n'
    (call,) = documents(text)
    key, value = call.keyed[(MICRO,)]
    assert text[key.start : key.stop] == MICRO
    assert (text[value.start : value.stop], text.index("16")) == ("16", value.start)
    assert [(each.text, each.owner) for each in call.comments] == [("per GPU", (MICRO,))]


def test_comments_within_and_above_a_call_belong_to_it() -> None:
    text = IMPORT + "# GBS 64\nt = TrainingArguments(\n    # for 8 GPUs\n    per_device_train_batch_size=4,  # each\n)\n# later\n"
    (call,) = documents(text)
    assert [(each.text, each.owner, each.placement) for each in call.comments] == [
        ("GBS 64", None, "header"),
        ("for 8 GPUs", (MICRO,), "above"),
        ("each", (MICRO,), "trailing"),
    ]
    for block in call.comments:
        at = block.locate("train.py", 0, len(block.text))
        assert text[at.start : at.stop] == block.text


def test_a_comment_above_the_default_of_a_field_belongs_to_it() -> None:
    fields = "class S:\n    other: int = 1\n\n    # on 8 GPUs\n    # 64\n    n: int = 4\n    # of the last one\n    m: int = 1\n"
    (call,) = documents(IMPORT + fields + "TrainingArguments(per_device_train_batch_size=S().n)\n")
    assert [(each.text, each.owner, each.placement) for each in call.comments] == [("on 8 GPUs\n64", (MICRO,), "above")]


def test_dictionaries_that_are_written_out_are_read() -> None:
    (found,) = documents('x = {"train_batch_size": 8, "zero_optimization": {"stage": 2}}\n')
    stage = found.get("zero_optimization", "stage")
    assert isinstance(stage, Scalar)
    assert (found.called, stage.text, found.source.text[stage.start :]) == (DICTIONARY, "2", "2}}\n")


@pytest.mark.parametrize("text", ["print 'x'\n", "(" * 5_000, "x = 1\0", "\udc80 = 1"])
def test_what_python_refuses_matters_only_if_it_was_named(text: str) -> None:
    (found,) = read(Source("train.py", text))
    assert isinstance(found, Unreadable)
    assert not found.matters


def test_long_programs_end() -> None:
    chain = "a0 = 1\n" + "".join(f"a{n} = a{n - 1} + a{n - 1}\n" for n in range(1, 3_000))
    assert micro(chain + "TrainingArguments(per_device_train_batch_size=a2999)\n") is None
    assert micro("TrainingArguments(per_device_train_batch_size=" + "1+" * 900 + "1)\n") is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("a = 1\n" * 170_000, "more than 1,000,000 characters", id="characters"),
        pytest.param("a=1\n" * 70_000, "more than 200,000 words", id="words"),
        pytest.param("x = f'" + "{a}" * 20_001 + "'\n", "more than 20,000 braces", id="braces"),
    ],
)
def test_a_program_that_costs_too_much_is_refused(text: str, why: str) -> None:
    (found,) = read(Source("train.py", IMPORT + text))
    assert isinstance(found, Unreadable)
    assert found.reason.startswith(why)


def test_a_long_program_is_read() -> None:
    assert micro("# one line of many\n" * 20_000 + "TrainingArguments(per_device_train_batch_size=4)\n") == "4"


def test_bytes_of_another_encoding_are_in_strings_and_comments() -> None:
    text = IMPORT + "# \udce9\nx = '\udce9'; TrainingArguments(per_device_train_batch_size=4)\n"
    (call,) = (each for each in documents(text) if each.called == "transformers.TrainingArguments")
    node = call.get(MICRO)
    assert isinstance(node, Scalar)
    assert text[node.start : node.stop] == "4"


SPREAD = PARSER + "p.add_argument('--b', type=int, default=4)\ndef main({}):\n    TrainingArguments(per_device_train_batch_size=b)\n"


FURTHER = "class S:\n    n: int = 4\ndef make(name, **more):\n    return S(**{'name': name, **more})\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("s = make('a', **options())\n", None, id="what is not known"),
        pytest.param("s = make('a', n=f())\n", None, id="what a call gives"),
        pytest.param("make('b', n=2)\ns = make('a')\n", "4", id="another call gives one"),
        pytest.param("s = make('a')\n", "4", id="none"),
        pytest.param("s = make(name='a', n=8)\n", "8", id="one that the function hands on"),
    ],
)
def test_further_keywords_of_a_function_are_those_of_its_call(text: str, expected: str | None) -> None:
    assert micro(FURTHER + text + CALL + "s.n)\n") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(SPREAD.format("b") + "main(**options())\n", None, id="what a function returns"),
        pytest.param(SPREAD.format("b") + "main(**vars(args))\n", None, id="something that is not known"),
        pytest.param(SPREAD.format("b") + "args = p.parse_args()\nargs.b = f()\nmain(**vars(args))\n", None, id="an option that is set"),
        pytest.param(SPREAD.format("b=2") + "args = p.parse_args()\nmain(**{name: 1})\n", None, id="keys that are not known"),
        pytest.param(SPREAD.format("b") + "args = p.parse_args()\nmain(**vars(args), args=args)\n", "4", id="all options"),
        pytest.param(SPREAD.format("b") + "args = p.parse_args()\nmain(8, **vars(args))\n", "8", id="by its place"),
        pytest.param(SPREAD.format("b=2") + "main(**{'c': 1})\n", "2", id="others"),
        pytest.param(SPREAD.format("b=2") + "main(**dict(b=3))\n", "3", id="a dictionary"),
        pytest.param(
            PARSER + "p.add_argument('--b', default=4)\nc = vars(p.parse_args())\n" + CALL + "c['b'])\n", "4", id="as a dictionary"
        ),
    ],
)
def test_options_that_are_spread_over_parameters(text: str, expected: str | None) -> None:
    assert micro(text) == expected


# Each of 15 names is twice the one before it: 2^15, and three times as many expressions if a name is looked up wherever it stands.
@pytest.mark.parametrize(("first", "expected"), [("1", str(2**15)), ("len(rows)", None), ("a15", None)])
def test_what_stands_in_many_places_is_looked_up_once(first: str, expected: str | None) -> None:
    doubled = "".join(f"a{number} = a{number - 1} + a{number - 1}\n" for number in range(1, 16))
    assert micro(f"a0 = {first}\n{doubled}{CALL}a15)\n") == expected
