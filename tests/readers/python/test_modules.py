"""The names of a Python module as one configuration: what they are once all of it has run."""

import pytest

from pytest_gbs.model.document import MODULE, Document, Scalar
from pytest_gbs.model.location import Source
from pytest_gbs.model.program_context import ProgramContext
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import COMPUTED


def module(text: str, path: str = "config.py") -> Document | None:
    found = [each for each in read(Source(path, text)) if isinstance(each, Document) and each.called == MODULE]
    return found[0] if found else None


def value(text: str, *path: str) -> str | None:
    """The value at a path of the module in `text`; None where the text does not fix it."""
    document = module(text)
    assert document is not None
    node = document.get(*path)
    assert isinstance(node, Scalar)
    return None if node.tag == COMPUTED else node.text


@pytest.mark.parametrize("text", ["lr = 1e-4\n", "import batch\n", "def f():\n    batch_size = 4\n", "class A:\n    batch_size = 4\n"])
def test_a_module_without_a_batch_of_its_own_is_not_a_document(text: str) -> None:
    assert module(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "batch_size = 4\nif x:\n    batch_size = 8\n",
        "batch_size = 4\nfor i in x:\n    batch_size *= 2\n",
        "batch_size = 4\ndef f():\n    global batch_size\n    batch_size = 8\n",
        "from x import n\nbatch_size = n\n",
        "batch_size *= 2\n",
    ],
)
def test_what_a_module_does_not_fix_is_unknown(text: str) -> None:
    assert value(text, "batch_size") is None


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("batch_size = 4\n", "batch_size", "4"),
        ("batch_size = 4\nbatch_size *= 2", "batch_size", "8"),
        ("a = batch_size = 4\n", "batch_size", "4"),
        ("n = 2\nbatch_size = 4\nbatch_size *= n\nn = 8\n", "batch_size", "8"),
        ("batch_size = 1\nloader = dict(batch_size=batch_size)\nbatch_size = 2\n", "loader.batch_size", "1"),
        ("batch_size = 1\nloader = dict(batch_size=batch_size)\nloader['batch_size'] = 4\n", "loader.batch_size", "4"),
    ],
)
def test_a_name_is_what_it_is_at_the_end(text: str, path: str, expected: str) -> None:
    assert value(text, *path.split(".")) == expected


@pytest.mark.parametrize("text", ["_base_ = './base.py'\n", "from .base import *\n", "with read_base():\n    from .base import *\n"])
def test_what_other_files_may_add_is_said(text: str) -> None:
    document = module(text + "batch_size = 4\n")
    assert document is not None
    assert document.rest is not None


@pytest.mark.parametrize(("most", "expected"), [(5, "4"), (4, None)], ids=["just as many", "one more"])
def test_a_base_of_more_values_than_a_configuration_may_take_in_is_not_known(most: int, expected: str | None) -> None:
    base = Source("base.py", "a = [1, 2]\nloader = dict(batch_size=4)\n")  # a list, its two items, a dictionary, its value
    context = ProgramContext(lambda _: base, most_composed=lambda: most)
    (document,) = read(Source("config.py", "_base_ = 'base.py'\nbatch_size = 4\n"), context)
    assert isinstance(document, Document)
    assert (document.rest is None) is (expected is not None)
    node = document.get("loader", "batch_size")
    assert (node.text if isinstance(node, Scalar) else None) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("d.update(lr=1)", "4"),
        ("d.update({'batch_size': 8}, x=2)", None),
        ("d.pop('lr')\nd.update(batch_size=8)", None),
        ("d.setdefault(k, 1)", None),
    ],
)
def test_methods_of_a_dictionary_change_what_they_may(change: str, expected: str | None) -> None:
    assert value(f"d = dict(batch_size=4, lr=0)\n{change}\ntrain_dataloader = d\n", "train_dataloader", "batch_size") == expected


def test_comments_are_those_outside_of_strings() -> None:
    text = "a = '# no'  # one\nb = '''\n# no\n'''\nc = \"it's\"  # two\nbatch_size = 4  # three 'x'\nd = r'\\n'  # four\n"
    document = module(text)
    assert document is not None
    assert [block.text for block in document.comments] == ["one", "two", "three 'x'", "four"]
