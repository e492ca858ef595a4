"""Entry points of Ray's job files as launches."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, launched

ENTRY = "torchrun --nproc_per_node=$GPUS -m trl.scripts.sft --config sft.yaml"
RECIPE = (
    "model_name_or_path: my/model\ndataset_name: my/data\nmax_length: 4096\n"
    "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"entrypoint: {ENTRY}\nname: a\n", id="of something else"),
        pytest.param("entrypoint: [torchrun]\ncompute_config: a\n", id="no text"),
        pytest.param("kind: RayCluster\nspec: {entrypoint: torchrun a.py}\n", id="a cluster"),
    ],
)
def test_what_is_not_a_job_is_silent(tmp_path: Path, text: str) -> None:
    assert launched(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": text})) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"name: a\nentrypoint: {ENTRY}\nimage_uri: b\nenv_vars: {{GPUS: 4}}\n", id="Anyscale"),
        pytest.param(f"entrypoint: {ENTRY}\nruntime_env:\n  working_dir: .\n  env_vars: {{GPUS: '4'}}\n", id="a runtime environment"),
        pytest.param(f"apiVersion: ray.io/v1\nkind: RayJob\nspec:\n  entrypoint: {ENTRY.replace('$GPUS', '4')}\n", id="RayJob"),
    ],
)
def test_the_entry_point_is_a_launch(tmp_path: Path, text: str) -> None:
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, "job.yaml": text})) == [32]
