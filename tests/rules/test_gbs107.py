"""GBS107 claim-no-longer-checked: an open claim that the lock file or the base had decided."""

from pathlib import Path

import pytest

from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.rule import Example
from tools.examples import check_example

RECIPE = """\
# Config for 2 nodes with GBS {batch}
model_name_or_path: my/model
dataset_name: my/dialogues
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
"""
LOCK = 'version = 1\n"sft.yaml" = {{ unit = "samples", per_gpu = 8, {claim} }}\n'
CLAIMED = LOCK.format(claim="claim = 128")


def findings(folder: Path, files: dict[str, str], *flags: str) -> list[Finding]:
    report = check_example(Example(tuple(files.items()), flags), folder)
    return [finding for finding in report.findings() if finding.code == "GBS107"]


@pytest.mark.parametrize(
    ("files", "flags"),
    [
        pytest.param({"sft.yaml": RECIPE.format(batch=128)}, (), id="no lock file"),
        pytest.param({"sft.yaml": RECIPE.format(batch=128), "gbs.lock": LOCK.format(claim="micro_batch_size = 4")}, (), id="never checked"),
        pytest.param({"sft.yaml": RECIPE.format(batch=256), "gbs.lock": CLAIMED}, (), id="another claim"),
        pytest.param({"sft.yaml": RECIPE.format(batch=128), "gbs.lock": CLAIMED, "gbs.toml": "gpus-per-node = 8\n"}, (), id="checked"),
        pytest.param({"sft.yaml": RECIPE.format(batch=128), "gbs.lock": CLAIMED, "gbs.toml": "gpus-per-node = 4\n"}, (), id="violated"),
        pytest.param({"sft.yaml": RECIPE.partition("\n")[2], "gbs.lock": CLAIMED}, (), id="gone"),
    ],
)
def test_it_is_silent(files: dict[str, str], flags: tuple[str, ...], tmp_path: Path) -> None:
    assert findings(tmp_path, files, *flags) == []


def test_a_claim_that_was_checked_and_is_open_now_is_found(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, {"sft.yaml": RECIPE.format(batch=128), "gbs.lock": CLAIMED})
    assert found.message == ("comment says 128, which was verified in gbs.lock and can't be decided now: GPUs per node unknown")
    assert found.details == ("it is true with 8 GPUs per node",)
    assert found.holds == "state the GPUs per node in the comment or in [tool.gbs]"
    assert found.severity == "warning"


def test_launcher_files_that_disagree_now_are_the_reason(tmp_path: Path) -> None:
    launcher = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: {}\n"
    files = {"sft.yaml": RECIPE.format(batch=128), "a.yaml": launcher.format(8), "gbs.lock": CLAIMED}
    assert findings(tmp_path, files) == []
    (found,) = findings(tmp_path, {"b.yaml": launcher.format(4)})
    assert "launcher files disagree on GPUs per node" in found.details[0]
