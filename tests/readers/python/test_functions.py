"""Functions that return a configuration: what they set, statement by statement; what others may have changed is unknown."""

from __future__ import annotations

import pytest

from pytest_gbs.model.document import FUNCTION, Document, Scalar
from pytest_gbs.model.location import Source
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import COMPUTED


def made(body: str) -> Document | None:
    """The configuration that a function with the lines of `body` makes."""
    text = "from library import base, Config, Training\ndef recipe(n=2):\n" + "".join(f"    {line}\n" for line in body.split("; "))
    found = [each for each in read(Source("recipes.py", text)) if isinstance(each, Document) and each.called == FUNCTION]
    return found[0] if found else None


def batch(body: str) -> str | None:
    document = made(body)
    assert document is not None
    node = document.get("train", "global_batch_size")
    assert isinstance(node, Scalar)
    return None if node.tag == COMPUTED else node.text


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("cfg = base(); cfg.train.lr = 1; return cfg", id="no batch"),
        pytest.param("cfg = base(); cfg.train.global_batch_size = 4", id="returns nothing"),
        pytest.param("n.train.global_batch_size = 4; return n", id="a parameter"),
        pytest.param("cfg = base(); cfg = base(); cfg.train.global_batch_size = 4; return cfg", id="made twice"),
        pytest.param("return base(global_batch_size=4)", id="a function of another file"),
    ],
)
def test_what_makes_no_configuration_is_no_document(body: str) -> None:
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


def test_the_docstring_is_a_comment_above() -> None:
    document = made('"""Eight GPUs.; ; Batch 64.; """; cfg = base(); cfg.train.global_batch_size = 8; return cfg')
    assert document is not None
    (block,) = document.comments
    assert block.text.split() == ["Eight", "GPUs.", "Batch", "64."]
    place = block.locate("recipes.py", block.text.index("64"), block.text.index("64") + 2)
    assert document.source.text[place.start : place.stop] == "64"
