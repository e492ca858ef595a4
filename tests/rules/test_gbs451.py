"""GBS451: a global batch that the framework rounds down without a word."""

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.outcome import Finding, Severity, Verified
from pytest_gbs.model.quantity import Origin, Quantity
from pytest_gbs.model.run import Run
from pytest_gbs.rules.gbs451_rounded_accumulation import check
from tests.frameworks.building import document

RECIPE = """\
checkpoint_dir: checkpoints/my/model
train:
  global_batch_size: {batch}
  micro_batch_size: {micro}
  lr_warmup_steps: 100
"""


def run(text: str, world: int | None) -> Run:
    """The run of a recipe on so many GPUs."""
    found = document(text)
    framework = recognise(found)
    assert framework
    hardware = {"world_size": Quantity("world_size", world, Origin.GIVEN)} if world else {}
    return Run(found, framework, None, geometry(read_sizes(found, framework), hardware, applied_to(found, framework), found), (), ())


@pytest.mark.parametrize(
    ("batch", "micro", "world", "expected"),
    [
        pytest.param(129, 1, None, [], id="no GPUs known"),
        pytest.param("${BATCH}", 1, 8, [], id="no batch known"),
        pytest.param(3, 1, 4, [], id="nothing left, which stops"),
        pytest.param(128, 2, 64, [Verified], id="whole"),
        pytest.param(129, 1, 64, [Finding], id="129 = 2 x 1 x 64 + 1"),
        pytest.param(512, 24, 8, [Finding], id="512 = 2 x 24 x 8 + 128"),
    ],
)
def test_a_rounded_batch_is_reported(batch: int | str, micro: int, world: int | None, expected: list[type]) -> None:
    assert [type(each) for each in check(run(RECIPE.format(batch=batch, micro=micro), world))] == expected


def test_the_default_batch_may_be_rounded_too() -> None:
    (found,) = check(run("model_name: x\ntokenizer_dir: y\ntrain: {micro_batch_size: 24, max_tokens: 1}\n", 8))
    assert isinstance(found, Finding)
    assert "512" in found.message


def test_the_finding_names_both_numbers() -> None:
    (found,) = check(run(RECIPE.format(batch=512, micro=24), 8))
    assert isinstance(found, Finding)
    assert found.severity == Severity.WARNING
    assert found.message == "train.global_batch_size 512 becomes 384: litgpt rounds the accumulation down without a warning"
    assert RECIPE.format(batch=512, micro=24)[found.at.start : found.at.stop] == "512"
    assert found.holds == "set train.global_batch_size to 384"
