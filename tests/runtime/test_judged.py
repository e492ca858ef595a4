"""The frameworks as judge: what real trainings consume for each optimizer step is what `gbs show --format json` says of their recipes.

They need torch, transformers, trl, datasets, accelerate, lightning and deepspeed (extra `jobs`, and trl), and take minutes: they run
where GBS_JUDGED is set. litgpt, torchtune, axolotl and LLaMA-Factory pin other versions of these, so that each runs where it is
installed. One group of processes trains all configurations of one size, so that the libraries are imported once.
"""

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
from tests.runtime.judged import JUDGED, Judged, flags
from tests.runtime.starting import started

JUDGE = Path(__file__).with_name("judge.py")
SCRIPTS = {
    "trainer": "run_clm.py",
    **{kind: f"trl/scripts/{kind}.py" for kind in ("sft", "dpo", "grpo", "kto", "reward", "rloo")},
    **{kind: f"examples/scripts/{kind}.py" for kind in ("orpo", "cpo", "online_dpo")},
}
USUAL = ("torch", "transformers", "trl", "datasets", "accelerate", "lightning", "deepspeed")
# What starts a training on so many processes, of the frameworks that have a command.
COMMANDS = {
    "litgpt": "litgpt finetune_full my/model --config {file}\n",
    "torchtune": "tune run --nproc_per_node {processes} {job.program} --config {file}\n",
    "axolotl": "accelerate launch --num_processes {processes} -m axolotl.cli.train {file}\n",
    "llamafactory": "FORCE_TORCHRUN=1 NPROC_PER_NODE={processes} llamafactory-cli train {file}\n",
}
OWN = (*COMMANDS, "sentence_transformers")  # kinds that run where their package is installed
# What their files name, which the judge gives for this machine.
NAMED: dict[str, dict[str, Any]] = {
    "litgpt": {"out_dir": "out"},
    "torchtune": {"output_dir": "out"},
    "axolotl": {"base_model": "my/model", "datasets": [{"path": "my/data", "type": "alpaca"}], "output_dir": "out"},
    "llamafactory": {"model_name_or_path": "my/model", "output_dir": "out"},
}
# These leave a step that is not full to the next epoch, or out.
PARTIAL = ("limit_train_batches", "use_distributed_sampler")  # an epoch is not one of the data set
GROUPS = ("grpo", "rloo")  # an epoch has each prompt as many times as it is answered
KEEPS_THE_REST = ("deepspeed", "litgpt", "torchtune")
real = pytest.mark.skipif("GBS_JUDGED" not in os.environ, reason="GBS_JUDGED is not set")


def steps_of(job: Judged) -> int:
    """The optimizer steps that a configuration asks for; 0 or less if it says epochs."""
    return int(job.recipe.get("train", job.recipe).get("max_steps", 0))


def entry_of(job: Judged) -> dict[str, Any]:
    """What gbs shows of the launch of a configuration, and of an epoch of its data set."""
    script = SCRIPTS.get(job.kind, "train.py")
    if job.kind in COMMANDS:
        files = {
            "recipe.yaml": yaml.safe_dump({**NAMED[job.kind], **job.recipe}),
            "run.sh": COMMANDS[job.kind].format(file="recipe.yaml", processes=job.processes, job=job),
        }
    elif job.program:
        launcher = " ".join(("accelerate launch", *flags(job)))
        start = {
            "loop": f"{launcher} --num_processes {job.processes}",
            **dict.fromkeys(("torch", "sentence_transformers"), f"torchrun --nproc_per_node {job.processes}"),
            "deepspeed": f"deepspeed --num_gpus {job.processes}",
        }
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
def ran(processes: int, command: str) -> dict[str, Any]:
    """What the trainings on so many processes consumed, by name: those of the framework that has `command`, or of all without one."""
    names = [job.name for job in JUDGED if job.processes == processes and (job.kind if job.kind in OWN else "") == command]
    with TemporaryDirectory() as folder:
        done = started(processes, JUDGE, str(processes), folder, *names, timeout=3600)
    assert "\n@@" in done.stdout, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.rpartition("\n@@")[2])
    return found


def consumed(job: Judged) -> dict[str, Any]:
    """What a training consumed."""
    command = job.kind if job.kind in OWN else ""
    missing = [name for name in ((*USUAL[:5], command) if command else USUAL) if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")
    found: dict[str, Any] = ran(job.processes, command)[job.name]
    assert "error" not in found, found["error"]
    return found


@pytest.mark.parametrize("job", JUDGED, ids=lambda job: job.name)
def test_gbs_knows_the_batch(job: Judged) -> None:
    micro, steps = (job.recipe.get(key) for key in ("per_device_train_batch_size", "gradient_accumulation_steps"))
    known = expected(job)
    assert "global_batch_size" in known
    if micro and steps and not any(word in str(job.recipe.get("accelerator_config", "")) for word in ("split_batches", "num_steps")):
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
    found, known = consumed(job), expected(job)
    batch = known["global_batch_size"]
    full = [count for epoch in found["epochs"] for count in epoch[:-1]] or [found["epochs"][0][0]]
    assert set(full) == {min(batch, job.rows)}  # an accumulation may be longer than an epoch
    assert all(epoch[-1] <= batch for epoch in found["epochs"])
    if found["seen"] and "generation_batch_size" in known:
        assert {count * job.processes for count in found["seen"]} == {known["generation_batch_size"]}


@real
@pytest.mark.parametrize("job", [job for job in JUDGED if steps_of(job) > 0], ids=lambda job: job.name)
def test_it_makes_the_steps_that_it_is_given(job: Judged) -> None:
    assert sum(map(len, consumed(job)["epochs"])) == steps_of(job)


@real
@pytest.mark.parametrize("job", [job for job in JUDGED if steps_of(job) <= 0], ids=lambda job: job.name)
def test_an_epoch_has_the_steps_that_show_computes_for_its_data_set(job: Judged) -> None:
    batch, epoch = expected(job)["global_batch_size"], entry_of(job)["epoch"]
    if any(word in job.program for word in PARTIAL) or job.kind in GROUPS:
        assert epoch is None
        return
    full, left = epoch["full_steps"], epoch["left"]
    for found in consumed(job)["epochs"]:
        assert found[:full] == [batch] * full
        assert len(found) == full or (len(found) == full + 1 and 0 < found[full] <= batch)
        if "drop_last" in str(job.recipe) + job.program:
            # A loop may leave out a step that is not full.
            assert epoch["dropped"] is None or sum(found) in (job.rows - epoch["dropped"], full * batch)
        elif job.kind not in KEEPS_THE_REST and "sync_with_dataloader=False" not in job.program:
            # Several processes repeat samples, so that each has as many.
            assert sum(found) - job.rows in range(1 if job.processes == 1 else batch)
            assert (len(found) > full) == (left > 0)


@real
@pytest.mark.parametrize("job", [job for job in JUDGED if steps_of(job) > 0], ids=lambda job: job.name)
def test_what_the_steps_do_not_reach_is_reported(job: Judged) -> None:
    epoch, found = entry_of(job)["epoch"], consumed(job)
    if epoch is not None:
        assert epoch["unreached"] == max(0, job.rows - sum(map(sum, found["epochs"])))
