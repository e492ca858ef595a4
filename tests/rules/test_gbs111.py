"""Documents against themselves."""

from pathlib import Path

import pytest

from tests.launches.building import checked

_ROWS = "| Model | TP | PP | GBS | Hardware |\n|---|---|---|---|---|\n{}\n"


def _messages(folder: Path, text: str) -> list[str]:
    return [f.message for file in checked(folder, {"README.md": text}).files for f in file.findings]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_ROWS.format("| a | 1 | 8 | 64 | 512 GPUs |"), id="one sample for each rank"),
        pytest.param(_ROWS.format("| a | 2 | 1 | 32 | 8 GPUs |"), id="several samples for each rank"),
        pytest.param(_ROWS.format("| a | 3 | 1 | 32 | 8 GPUs |"), id="parallel sizes that do not fit: another matter"),
        pytest.param("Train with TP=1, PP=8, CP=2, GBS 32 on 512 GPUs.\n", id="context parallelism"),
        pytest.param("Train with a global batch size of 32 on 512 GPUs.\n", id="nothing said of parallelism"),
        pytest.param("Train with TP=8 and a global batch size of 32 on 512 GPUs.\n", id="pipeline parallelism not said"),
        pytest.param("Train with TP=1, PP=1, ~31 global batch size on 32 GPUs.\n", id="about"),
        pytest.param("# Results\n\n" + _ROWS.format("| a | 1 | 8 | 32 | 512 GPUs |"), id="results"),
        pytest.param("Global batch size: 8 GPUs x 4 x 4 = 128\n", id="true arithmetic"),
        pytest.param("We use 8 GPUs: global batch size = per_device_train_batch_size x accumulation steps x 8\n", id="GPUs as a number"),
        pytest.param(
            "On 8 GPUs the global batch size is `per_device_train_batch_size` x `gradient_accumulation_steps` x `num_gpus`.\n", id="whole"
        ),
        pytest.param(
            "On 8 GPUs the global batch size = per_device_train_batch_size * gradient_accumulation_steps * the number of GPUs.\n",
            id="the number of GPUs",
        ),
        pytest.param("On 1 GPU the global batch size = per_device_train_batch_size * gradient_accumulation_steps.\n", id="one GPU"),
        pytest.param("The global batch size = per_device_train_batch_size * gradient_accumulation_steps.\n", id="GPUs not said"),
        pytest.param(
            "On 8 GPUs the effective batch size per device = per_device_train_batch_size * gradient_accumulation_steps.\n", id="of a device"
        ),
        pytest.param("On 8 GPUs the global batch size = micro_batch_size * gradient_accumulation_steps.\n", id="micro"),
    ],
)
def test_it_stays_silent(text: str, tmp_path: Path) -> None:
    assert _messages(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            _ROWS.format("| a | 1 | 8 | 32 | 512 GPUs (64 nodes) |"),
            "document says global batch size 32, but 512 GPUs / (1 tensor x 8 pipeline) = 64 data-parallel ranks can't share it evenly",
            id="fewer samples than ranks",
        ),
        pytest.param(
            "Train with TP=2, PP=1, MBS=4, GBS 72 on 32 GPUs.\n",
            "document says global batch size 72, but 32 GPUs / (2 tensor x 1 pipeline) = 16 data-parallel ranks with 4 samples each"
            " can't share it evenly",
            id="an uneven share",
        ),
        pytest.param(
            "Global batch size: 8 GPUs x 4 x 4 = 256\n", "document says 8 x 4 x 4 = 256, but the product is 128", id="false arithmetic"
        ),
        pytest.param(
            "The model is trained on 8 A100 GPUs with 80GB memory. Keep the global batch size the same:"
            " `per_device_train_batch_size` x `gradient_accumulation_steps`.\n",
            "document's arithmetic for the global batch size leaves out its 8 GPUs",
            id="a formula without the GPUs",
        ),
    ],
)
def test_it_fires(text: str, message: str, tmp_path: Path) -> None:
    assert _messages(tmp_path, text) == [message]
