"""VeOmni: the global batch is stated, or one micro batch of each data-parallel rank; older keys have no sections."""

from pathlib import Path

import pytest

from tests.frameworks.building import sizes, title, value
from tests.launches.building import batches, checked, codes

RECIPE = """\
model: {model_path: acme/small}
data: {train_path: acme, max_seq_len: 2048}
train:
  accelerator: {ulysses_size: 2}
  init_device: meta
  micro_batch_size: 2
"""
OLD = "train:\n  data_parallel_mode: fsdp2\n  ulysses_parallel_size: 2\n  context_parallel_size: 2\n  micro_batch_size: 2\n"
RUN = "torchrun --nnodes 1 --nproc_per_node 8 tasks/train_text.py run.yaml"


@pytest.mark.parametrize(
    ("text", "batch", "accumulation"),
    [
        pytest.param(f"{RECIPE}  global_batch_size: 32\n", 32, 4, id="32 / (2 x 8 / 2)"),
        pytest.param(RECIPE, 8, 1, id="none stated: 2 x 8 / 2"),
        pytest.param(f"{RECIPE}  global_batch_size: null\n", 8, 1, id="none, in words"),
        pytest.param(OLD, 4, 1, id="older keys: 2 x 8 / (2 x 2)"),
        pytest.param(f"{OLD}  global_batch_size: 16\n", 16, 4, id="older keys, stated"),
    ],
)
def test_the_batch_of_a_recipe(text: str, batch: int, accumulation: int) -> None:
    assert title(text) == "VeOmni"
    found = sizes(text, world_size=8)
    assert (value(found.get("global_batch_size")), value(found.get("gradient_accumulation_steps"))) == (batch, accumulation)


@pytest.mark.parametrize(
    "text", ["train: {global_batch_size: 8}\n", "train: {micro_batch_size: 2, steps: 4}\n", "train: {init_device: meta}\n"]
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("flags", "batch", "found"),
    [
        pytest.param("", 32, [], id="of the file"),
        pytest.param(" --train.global_batch_size 16", 16, [], id="a flag"),
        pytest.param(" --train.micro_batch_size 16", 32, ["GBS202"], id="no whole micro batches of 4 ranks"),
    ],
)
def test_a_launch(flags: str, batch: int, found: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.yaml": f"{RECIPE}  global_batch_size: 32\n", "run.sh": f"{RUN}{flags}\n"})
    assert (batches(report), codes(report)) == ([batch], found)


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        pytest.param("global batch size 32", [], id="the same"),
        pytest.param("global batch size 64", ["GBS101"], id="another"),
        pytest.param("For 8 GPUs: global_batch_size=8\n# For 1 GPU: global_batch_size=1", [], id="what to set on which hardware"),
        pytest.param("For 4 GPUs: global_batch_size=64", ["GBS101"], id="on one alone"),
    ],
)
def test_a_comment_is_compared_with_it(comment: str, found: list[str], tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"run.yaml": f"# {comment}\n{RECIPE}  global_batch_size: 32\n"})) == found
