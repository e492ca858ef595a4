"""The frameworks as judge: what real trainings consume for each optimizer step is what `gbs show --format json` says of their recipes.

They need torch, transformers, trl, datasets, accelerate, lightning and deepspeed (extra `jobs`, and trl), and take minutes: they run where
GBS_JUDGED is set. One process group trains all configurations of one size, so that the libraries are imported once.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from tests.properties.support import shown, sizes
from tests.runtime.judged import JUDGED, Judged
from tests.runtime.starting import started

JUDGE = Path(__file__).with_name("judge.py")
SCRIPTS = {"trainer": "run_clm.py", **{kind: f"trl/scripts/{kind}.py" for kind in ("sft", "dpo", "grpo", "kto", "reward", "rloo")}}
missing = [name for name in ("torch", "transformers", "trl", "datasets", "accelerate", "lightning", "deepspeed") if find_spec(name) is None]
real = pytest.mark.skipif(bool(missing) or "GBS_JUDGED" not in os.environ, reason="GBS_JUDGED is not set, or libraries are missing")


def entry_of(job: Judged) -> dict[str, Any]:
    """What gbs shows of the launch of a configuration, and of an epoch of its data set."""
    script = SCRIPTS.get(job.kind, "train.py")
    if job.program:
        start = {"loop": f"accelerate launch --num_processes {job.processes}", "deepspeed": f"deepspeed --num_gpus {job.processes}"}
        files = {"train.py": job.program, "run.sh": f"{start.get(job.kind, 'python')} train.py\n"}
    else:
        recipe = {"model_name_or_path": "my/model", "dataset_name": "my/data", "output_dir": "out", **job.recipe}
        files = {
            f"{job.kind}.yaml": yaml.safe_dump(recipe, sort_keys=False),
            "run.sh": f"accelerate launch --num_processes {job.processes} {script} --config {job.kind}.yaml\n",
        }
    (entry,) = [each for each in shown(files, examples=job.rows) if each["launch"]]
    return entry


def expected(job: Judged) -> dict[str, int]:
    """The sizes that gbs gives for the launch of a configuration."""
    return sizes(entry_of(job))


@cache
def ran(processes: int) -> dict[str, Any]:
    """What the trainings on so many processes consumed, by name."""
    with TemporaryDirectory() as folder:
        done = started(processes, JUDGE, str(processes), folder, timeout=3600)
    assert "\n@@" in done.stdout, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.rpartition("\n@@")[2])
    return found


@pytest.mark.parametrize("job", JUDGED, ids=lambda job: job.name)
def test_gbs_knows_the_batch(job: Judged) -> None:
    micro, steps = (job.recipe.get(key) for key in ("per_device_train_batch_size", "gradient_accumulation_steps"))
    known = expected(job)
    assert "global_batch_size" in known
    if micro and steps and "split_batches" not in str(job.recipe.get("accelerator_config", "")):
        assert known["global_batch_size"] == micro * steps * job.processes


@pytest.mark.parametrize("job", [job for job in JUDGED if job.kind == "deepspeed"], ids=lambda job: job.name)
def test_a_file_of_deepspeed_is_its_dictionary_in_a_program(job: Judged) -> None:
    (entry,) = shown({"ds.json": json.dumps(job.recipe)}, job.processes)
    assert {name: size for name, size in sizes(entry).items() if "batch" in name} == {
        name: size for name, size in expected(job).items() if "batch" in name
    }


@real
@pytest.mark.parametrize("job", JUDGED, ids=lambda job: job.name)
def test_each_full_step_consumes_the_global_batch(job: Judged) -> None:
    found, known = ran(job.processes)[job.name], expected(job)
    assert "error" not in found, found["error"]
    batch = known["global_batch_size"]
    full = [count for epoch in found["epochs"] for count in epoch[:-1]] or [found["epochs"][0][0]]
    assert set(full) == {batch}
    assert all(epoch[-1] <= batch for epoch in found["epochs"])
    if found["seen"] and "generation_batch_size" in known:
        assert {count * job.processes for count in found["seen"]} == {known["generation_batch_size"]}


@real
@pytest.mark.parametrize("job", [job for job in JUDGED if job.recipe.get("max_steps", 0) > 0], ids=lambda job: job.name)
def test_it_makes_the_steps_that_it_is_told(job: Judged) -> None:
    assert sum(map(len, ran(job.processes)[job.name]["epochs"])) == job.recipe["max_steps"]


@real
@pytest.mark.parametrize("job", [job for job in JUDGED if job.recipe.get("max_steps", 0) <= 0], ids=lambda job: job.name)
def test_an_epoch_has_the_steps_that_are_told_of_its_data_set(job: Judged) -> None:
    batch, epoch = expected(job)["global_batch_size"], entry_of(job)["epoch"]
    full, left = epoch["full_steps"], epoch["left"]
    for found in ran(job.processes)[job.name]["epochs"]:
        assert found[:full] == [batch] * full
        assert len(found) == full or (len(found) == full + 1 and 0 < found[full] <= batch)
        if "drop_last" in str(job.recipe) + job.program:
            assert sum(found) in (job.rows - epoch["dropped"], full * batch)  # a loop may leave out a step that is not full
        elif job.kind != "deepspeed":  # its engine keeps the rest for the next epoch
            # Several processes repeat samples, so that each has as many.
            assert sum(found) - job.rows in range(1 if job.processes == 1 else batch)
            assert (len(found) > full) == (left > 0)


@real
@pytest.mark.parametrize("job", [job for job in JUDGED if job.recipe.get("max_steps", 0) > 0], ids=lambda job: job.name)
def test_what_the_steps_do_not_reach_is_told(job: Judged) -> None:
    epoch, found = entry_of(job)["epoch"], ran(job.processes)[job.name]
    if epoch is not None:
        assert epoch["unreached"] == max(0, job.rows - sum(map(sum, found["epochs"])))
