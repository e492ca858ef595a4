"""What is assumed, in words: one sentence part for each kind."""

import pytest

from pytest_gbs.arithmetic.wording import assumed
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.quantity import Name

WHERE = "launch/b.yaml:3  num_processes: 16"
KINDS = {getattr(Assuming, name) for name in vars(Assuming) if name.isupper()}


@pytest.mark.parametrize(
    ("assumption", "words"),
    [
        (Assumption(Assuming.FILES_NEARBY, Name.GPUS_PER_NODE, 8, 3, WHERE), f"8 GPUs per node: 3 launcher files agree ({WHERE})"),
        (Assumption(Assuming.FILES_NEARBY, Name.GPUS_PER_NODE, 1, 1, "a.yaml"), "1 GPU per node: 1 launcher file says so (a.yaml)"),
        (Assumption(Assuming.LAUNCHES, Name.GPUS_PER_NODE, 4, where="run.sh:7"), "4 GPUs per node: a launch starts them (run.sh:7)"),
        (Assumption(Assuming.COMMENT, Name.NUM_NODES, 2), "2 nodes, which the comment needs"),
        (Assumption(Assuming.NOT_SET, "GPUS"), "GPUS is not set"),
        (Assumption(Assuming.NOT_SET), "the script's default value is used"),
        (Assumption(Assuming.LEFT_AS_IT_IS, Name.NUM_NODES, 2), "2 nodes: a comment asks to adapt it"),
        (Assumption(Assuming.QUOTES), "the quoted text is one argument, although a bare quote inside it ends it"),
        (Assumption(Assuming.NOTHING_ADDED), "the script gets no extra arguments"),
        (Assumption(Assuming.ONE_PROCESS), "one process uses all GPUs of its node"),
    ],
)
def test_each_kind_has_its_words(assumption: Assumption, words: str) -> None:
    assert assumed(assumption) == words


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_only_what_somebody_may_set_without_editing_is_by_default(kind: str) -> None:
    assert Assumption(kind).by_default == (kind in {Assuming.NOT_SET, Assuming.LEFT_AS_IT_IS})
