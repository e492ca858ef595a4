"""A recipe of a Hydra tree whose files are not all there: nothing is taken from what is not seen."""

import pytest

from pytest_gbs.composition import compose
from pytest_gbs.composition.composed import ProblemKind
from pytest_gbs.composition.whole import whole
from pytest_gbs.frameworks import tables
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Source
from pytest_gbs.readers import read
from tests.composition.support import tree

THERE = {"conf/base.yaml": "a: 1\n", "conf/model/small.yaml": "b: 2\n", "more/far.yaml": "c: 3\n", "conf/1.yaml": "d: 4\n"}

UNSEEN = {
    "a file": "defaults: [gone]\n",
    "an option": "defaults: [base, model: gone]\n",
    "an option of a group that is not there": "defaults: [base, data/set: v1.5]\n",
    "above its own values": "defaults: [base, gone, _self_]\n",
    "from the folder's top": "defaults: [/gone, _self_]\n",
    "an option from the folder's top": "defaults: [/model: gone, _self_]\n",
    "not the last one": "defaults: [gone, base]\n",
    "one of a list": "defaults: [model: [small, gone]]\n",
    "another is chosen for it": "defaults: [model: small, override model: gone]\n",
    "in a package": "defaults: [model@here: gone]\n",
    "with its suffix": "defaults: [base, gone.yaml]\n",
    "outside of what is searched": "hydra: {searchpath: [file://more]}\ndefaults: [gone]\n",
    "outside of the folder": "defaults: [../gone, _self_]\n",
}
SEEN = {
    "a file": "defaults: [base]\n",
    "an option": "defaults: [model: small, _self_]\n",
    "from the folder's top": "defaults: [/base, /model: small]\n",
    "an optional one": "defaults: [base, optional model: gone]\n",
    "Hydra's own settings": "defaults: [base, hydra/launcher: gone]\n",
    "another is chosen for it": "defaults: [override model: small, model: gone]\n",
    "in a folder that is searched": "hydra: {searchpath: [file://more]}\ndefaults: [base, far]\n",
    "a number is no name": "defaults: [base, model: 1]\n",
    "none is chosen": "defaults: [base, model: null]\n",
    "one must be chosen": "defaults:\n- base\n- model: ???\n",
}


def _unseen(text: str) -> bool:
    """Whether a part is not there, which composing and the recipe as a whole must agree on."""
    files = {**THERE, "conf/config.yaml": text}
    (document,) = read(Source("conf/config.yaml", text))
    assert isinstance(document, Document)
    composed = compose(tree(files), "conf", "config", whole=True)
    found = whole(document, tree(files), tables()[0])
    unseen = found is not None and found.unseen
    assert unseen == any(problem.kind == ProblemKind.NOT_FOUND for problem in composed.problems)
    return unseen


@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN)
def test_a_part_that_is_not_there_is_noticed(text: str) -> None:
    assert _unseen(text)


@pytest.mark.parametrize("text", SEEN.values(), ids=SEEN)
def test_what_is_there_or_not_asked_for_is_not_missed(text: str) -> None:
    assert not _unseen(text)
