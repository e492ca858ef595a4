"""Settings of a command line laid over a document that launches share: the same as composing it anew, or nothing."""

import pytest

from pytest_gbs.composition import lay_over, with_settings
from pytest_gbs.model.command import Part, Word
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.framework import Arguments, Loader
from pytest_gbs.model.location import Location, Source
from pytest_gbs.readers import read
from pytest_gbs.readers.command_settings import CommandSetting

FEW = "lr: 1e-5\nbatch: 4\nnested: {a: 1, b: [1, 2]}\nitems: [1]\nnothing:\n"
MANY = FEW + "".join(f"key{n}: {n}\n" for n in range(50))


def _setting(path: str, text: str | None, number: int) -> CommandSetting:
    at = Location("run.sh", number, number + 9)
    word = Word(text, text or "$X", at, (Part(text, at, at, "" if text is not None else "X"),))
    return CommandSetting(tuple(path.split(".")), text, at, word)


def _document(text: str) -> Document:
    (document,) = read(Source("a.yaml", text))
    assert isinstance(document, Document)
    return document


def _said(document: Document) -> dict[object, object]:
    """What each key has, without the places in a text that is made up."""
    return {key: (node.text, node.plain) if isinstance(node, Scalar) else type(node) for key, (_, node) in document.keyed.items()}


@pytest.mark.parametrize("loader", [Loader.PYYAML, Loader.OMEGACONF])
@pytest.mark.parametrize("text", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize(
    "given",
    [("batch", "8"), ("batch", None), ("batch", "x"), ("lr", "2e-5"), ("nothing", "true"), ("new", "1"), ("new", "null"), ("key7", "-1")],
    ids=str,
)
def test_it_is_as_composed_anew(given: tuple[str, str | None], text: str, loader: str) -> None:
    document, settings = _document(text), [_setting("seed", "1", 5), _setting(*given, 20)]
    base = with_settings(document, "a.yaml", (), Arguments.FLAGS, loader)
    anew = with_settings(document, "a.yaml", settings, Arguments.FLAGS, loader)
    assert base is not None and anew is not None
    laid = lay_over(base, settings, Arguments.FLAGS, loader)
    assert laid is not None
    assert list(laid.document.keyed) == list(anew.document.keyed)
    assert _said(laid.document) == _said(anew.document)
    assert dict(laid.places) == anew.places
    assert base.document.keyed.get(("seed",)) is None


@pytest.mark.parametrize(
    "given",
    [("nested.a", "2"), ("nested", "2"), ("items", "2"), ("new.a", "2"), ("batch", "${lr}"), ("batch", "???")],
    ids=str,
)
def test_what_takes_composing_is_left_to_it(given: tuple[str, str]) -> None:
    base = with_settings(_document(MANY), "a.yaml", (), Arguments.FLAGS, Loader.OMEGACONF)
    assert base is not None
    assert lay_over(base, [_setting(*given, 5)], Arguments.FLAGS, Loader.OMEGACONF) is None
