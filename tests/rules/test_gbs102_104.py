"""A comment's own sum, and the factors that it names."""

from pathlib import Path

import pytest

from pytest_gbs import Settings
from tests.rules.claimed import checked, recipe


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe(4, 2, trailing="effective batch size: 8 GPUs x 4 x 2 = 64"), id="a true sum"),
        pytest.param(recipe(4, 2, trailing="effective batch size is 64=4x(2)x8"), id="result first"),
        pytest.param(recipe(4, 2, trailing="GBS = 8 × 4 × 2 = 64"), id="a real multiplication sign"),
        pytest.param(recipe(4, 2, header="num_gpus * grad_accum * per_device_batch_size = 8 * 2 * 4 = 64"), id="names, then numbers"),
        pytest.param(recipe(8, 1, trailing="8 GPUs * micro_batch=8 * grad_accum=1 -> effective batch 64"), id="named factors"),
        pytest.param(recipe(4, 2, trailing="effective batch = micro batch x accumulation x GPUs"), id="names only"),
        pytest.param(recipe(4, 2, trailing="GBS 64 (8 x 4 x 2 = 64)"), id="a true sum in a bracket"),
        pytest.param(recipe(4, 2, trailing="GBS 64 (8 x 4 x 2 = 512 GB of memory)"), id="another number behind a bracket"),
        pytest.param(recipe(8, 1, header="8 GPUs", trailing="global batch size = 8 x 8 = 64"), id="an accumulation of 1 is left out"),
        pytest.param(recipe(16, 1, header="4 GPUs", trailing="global batch size = 16 x 4 = 64"), id="micro batch and GPUs"),
        pytest.param(
            recipe(
                4, 2, header="sums:\n#  a: micro_batch=2 -> grad_accum = 64/(2*16) = 2\n#  b: micro_batch=4 -> grad_accum = 64/(4*8) = 2"
            ),
            id="two layouts, one of which is that of the recipe",
        ),
        # Two factors were traded for each other: the product is what counts.
        pytest.param(recipe(8, 1, trailing="8 GPUs * micro_batch=4 * grad_accum=2 -> effective batch 64"), id="two traded factors"),
    ],
)
def test_it_is_silent(tmp_path: Path, text: str) -> None:
    assert checked(tmp_path, text).codes == []


def test_a_true_sum_verifies_by_itself(tmp_path: Path) -> None:
    alone = Settings(select=("GBS102",))
    assert checked(tmp_path, recipe(4, 2, trailing="effective batch size: 8 GPUs x 4 x 2 = 64"), settings=alone).verdict == "verified"
    without = recipe(4, 2, header="8 GPUs", trailing="effective batch size: 64")
    assert checked(tmp_path, without, settings=alone).verdict == "unclaimed"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe(4, 2, trailing="effective batch size: 8 GPUs x 4 x 2 = 128"), id="result last"),
        pytest.param(recipe(4, 2, trailing="effective batch size is 128=4x(2)x8"), id="result first"),
        pytest.param(recipe(4, 2, header="num_gpus * grad_accum * per_device_batch_size = 8 * 2 * 4 = 128"), id="names, then numbers"),
        pytest.param(recipe(4, 2, trailing="GBS 64 (8 x 4 x 2 = 128)"), id="a true result in front, a false one behind"),
        pytest.param(recipe(4, 2, trailing="effective batch size 64 = 8 x 4 x 2 = 128"), id="two results"),
    ],
)
def test_a_sum_that_is_wrong_in_itself_is_the_one_finding(tmp_path: Path, text: str) -> None:
    result = checked(tmp_path, text)
    assert (result.codes, result.severities) == (["GBS102"], ["error"])
    assert "the product is 64" in result.findings[0].message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # 16 x 2 x 8 = 256, the comment was written for micro batch 4.
        pytest.param(
            recipe(16, 2, trailing="8 GPUs * micro_batch=4 * grad_accum=2 -> effective batch 64"),
            "micro batch size 4, but per_device_train_batch_size is 16",
            id="named micro batch",
        ),
        pytest.param(
            recipe(4, 4, header="num_gpus * grad_accum * per_device_batch_size = 8 * 2 * 4 = 64"),
            "accumulation 2, but gradient_accumulation_steps is 4",
            id="named accumulation",
        ),
        # 8 GPUs and 4 have their partners, 2 has none.
        pytest.param(
            recipe(4, 3, header="on 8 GPUs", trailing="effective batch size 64 = 4 x 2 x 8"),
            "accumulation 2, but gradient_accumulation_steps is 3",
            id="the one without a partner",
        ),
        # 16 are the GPUs of both nodes, 4 the micro batch.
        pytest.param(
            recipe(4, 4, header="2 nodes of 8 GPUs", trailing="effective batch size: 16 x 4 x 2 = 128"),
            "accumulation 2, but gradient_accumulation_steps is 4",
            id="nodes and GPUs as one factor",
        ),
    ],
)
def test_a_factor_that_changed_is_the_one_finding(tmp_path: Path, text: str, words: str) -> None:
    result = checked(tmp_path, text)
    assert (result.codes, result.severities) == (["GBS104"], ["error"])
    assert words in result.findings[0].message
