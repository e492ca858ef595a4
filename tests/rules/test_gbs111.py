"""Documents against themselves."""

from pathlib import Path

import pytest

from tests.launches.building import checked

_LIST = "- Per-device batch size: {}\n- Gradient accumulation: {} steps\n- **Effective batch size**: {}\n"
_TABLE = "| Setting | Value | Reason |\n|---|---|---|\n| `batch_size` | **{}** | memory |\n| `grad_accum` | {} | {} |\n"
_TWO_RUNS = "| Setting | A | B |\n|---|---|---|\n| Batch size | 4 | 2 |\n| Accumulation steps | 8 | {} |\n| Effective batch | 32 | 16 |\n"
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
        pytest.param("Effective batch size: 64 (2 per device x 8 GPUs x 4 accumulation steps)\n", id="all factors named"),
        pytest.param("Effective batch size: 128 (2 per device x 4 accumulation steps)\n", id="GPUs not named"),
        pytest.param("Effective batch size: 128 (2 per device x 8 GPUs per node x 4 accumulation)\n", id="nodes not named"),
        pytest.param("Effective batch 128 on 2 nodes (2 per device x 8 GPUs x 4 accumulation)\n", id="nodes beside it"),
        pytest.param(_LIST.format(2, 4, 8), id="a list on one GPU"),
        pytest.param(_LIST.format(2, 4, 64), id="a list on some GPUs"),
        pytest.param(_LIST.format("2-4", 4, 10), id="a list with a range"),
        pytest.param(_LIST.format(2, 4, 8) + "- Gradient accumulation: 3\n", id="a list with two accumulations"),
        pytest.param("# Results\n\n" + _LIST.format(2, 4, 12), id="a list of results"),
        pytest.param(_TABLE.format(2, 4, "Effective batch = 8"), id="a table on one GPU"),
        pytest.param(_TABLE.format(8, 4, "Effective batch = 8"), id="the batch of all GPUs"),
        pytest.param(_TABLE.format(2, 4, "simulates larger batches of 9 images"), id="a table without a batch"),
        pytest.param(_TWO_RUNS.format(8), id="two runs"),
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
            "- **Effective batch**: 64 samples (2 per device x 8 GPUs x 8 accumulation steps)\n",
            "document says 2 x 8 x 8 = 64, but the product is 128",
            id="all factors named behind the batch",
        ),
        pytest.param(
            _LIST.format(4, 4, 8),
            "document says global batch size 8, but its settings give 4 micro x 4 accumulation = 16 for each GPU",
            id="a list",
        ),
        pytest.param(
            _TABLE.format(3, 4, "Effective batch = 8"),
            "document says global batch size 8, but its settings give 3 micro x 4 accumulation = 12 for each GPU",
            id="a table that states the batch as a reason",
        ),
        pytest.param(
            _TWO_RUNS.format(16),
            "document says global batch size 16, but its settings give 2 micro x 16 accumulation = 32 for each GPU",
            id="the second of two runs",
        ),
    ],
)
def test_it_fires(text: str, message: str, tmp_path: Path) -> None:
    assert _messages(tmp_path, text) == [message]
