"""flame: the batch of a rank times the accumulation times the ranks that share no sequence, by a file or by the flags of its script."""

from pathlib import Path

import pytest

from tests.launches.building import checked, titled_batches

RECIPE = """\
[job]
dump_folder = "exp"
[training]
batch_size = 4
seq_len = 2048
context_len = 2048
gradient_accumulation_steps = {steps}
data_parallel_shard_degree = -1
tensor_parallel_degree = {tensor}
[experimental]
context_parallel_degree = {context}
"""
# As train.sh hands on its own arguments.
SCRIPT = """\
params="$*"
NNODE=${NNODE:-"1"}
NGPU=${NGPU:-"8"}
torchrun --nnodes=${NNODE} --nproc_per_node=${NGPU} --rdzv_backend c10d -m flame.train $params
"""
TITLE = "flame (flash-linear-attention)"


def batches(folder: Path, arguments: str, *, steps: int = 2, tensor: int = 1, context: int = 1) -> list[tuple[str, int | None]]:
    """The global batch of each launch by a script that calls train.sh."""
    recipe = RECIPE.format(steps=steps, tensor=tensor, context=context)
    return titled_batches(checked(folder, {"fla.toml": recipe, "train.sh": SCRIPT, "run.sh": f"{arguments}\n"}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("batch_size = 4", "local_batch_size = 4", id="torchtitan's key"),
        pytest.param("gradient_accumulation_steps = 2\n", "", id="nothing accumulates"),
        pytest.param("[training]", "[trainer]", id="another table"),
    ],
)
def test_the_file_of_another_program_is_none_of_flame(tmp_path: Path, old: str, new: str) -> None:
    recipe = RECIPE.format(steps=2, tensor=1, context=1).replace(old, new)
    (file,) = checked(tmp_path, {"fla.toml": recipe}).files
    assert file.framework != "flame"


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        # 4 x 2 x 8, 4 x 2 x 32, 1 x 8 x 16; a sequence is shared by 2 x 4 ranks: 4 x 2 x 16 / 8.
        pytest.param("bash train.sh --job.config_file fla.toml", {}, 64, id="one machine"),
        pytest.param("NNODE=4 NGPU=8 bash train.sh --job.config_file fla.toml", {}, 256, id="four machines"),
        pytest.param(
            "NNODE=2 bash train.sh --job.config_file fla.toml --training.batch_size 1 --training.gradient_accumulation_steps 8",
            {},
            128,
            id="flags",
        ),
        pytest.param("NNODE=2 bash train.sh --job.config_file fla.toml", {"tensor": 2, "context": 4}, 16, id="shared sequences"),
        pytest.param("bash train.sh --job.config_file fla.toml --training.batch_size $MICRO", {}, None, id="a variable"),
    ],
)
def test_the_batch_of_a_launch(tmp_path: Path, arguments: str, options: dict[str, int], expected: int | None) -> None:
    assert batches(tmp_path, arguments, **options)[-1] == (TITLE, expected)
