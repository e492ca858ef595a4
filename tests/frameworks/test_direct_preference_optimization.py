"""The reference implementation of DPO, and HALOs of 2023: a batch that is cut among the processes that the program itself starts."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import Report
from tests.launches.building import checked, titled_batches

from .building import sizes, title, value

ROOT = (
    "seed: 0\nexp_name: ???\ndatasets: [hh]\nfsdp_port: null\ntrainer: BasicTrainer\nmax_length: 512\nn_epochs: 1\nn_examples: null\n"
    "eval_every: 20_000\nminimum_log_interval_secs: 1.0\n"
)
DPO = ROOT + "batch_size: 4\neval_batch_size: 16\ngradient_accumulation_steps: 1\n"
HALOS = (
    ROOT + "mode: train\nuse_fsdp: false\nmodel: {batch_size: 16, eval_batch_size: 8, gradient_accumulation_steps: 2, max_length: 2048}\n"
)
PAIRS = "loss: {name: dpo, beta: 0.1}\n"
FSDP = DPO.replace("BasicTrainer", "FSDPTrainer")
SPAWNED = HALOS.replace("use_fsdp: false", "use_fsdp: true")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(DPO.replace("fsdp_port: null\n", ""), id="no port"),
        pytest.param(DPO.replace("minimum_log_interval_secs: 1.0\n", ""), id="no interval"),
        pytest.param(ROOT, id="no batch"),
        pytest.param("batch_size: 4\ntrainer: FSDPTrainer\ngradient_accumulation_steps: 2\n", id="somebody's own trainer"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DPO, "direct-preference-optimization"),
        (DPO + PAIRS, "direct-preference-optimization (pairs)"),
        (HALOS, "HALOs of 2023"),
        (HALOS + PAIRS, "HALOs of 2023 (pairs)"),
    ],
)
def test_the_loss_says_what_a_batch_counts(text: str, expected: str) -> None:
    assert title(text) == expected


# The batch of a step, that of a process in one pass, and the batch that trains where it is another one.
@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(DPO, 8, (4, 4, None), id="one process, whatever the GPUs"),
        pytest.param(FSDP.replace("batch_size: 4\n", "batch_size: 64\n", 1), 8, (64, 8, None), id="DPO on 8"),
        pytest.param(FSDP.replace("batch_size: 4\n", "batch_size: 64\n", 1), 6, (64, 10, 60), id="DPO on 6 leaves 4 out"),
        pytest.param(HALOS, 4, (32, 16, None), id="HALOs in one process"),
        pytest.param(SPAWNED, 4, (32, 4, None), id="HALOs on 4"),
        pytest.param(SPAWNED, 3, (32, 5, 30), id="HALOs on 3 leave one of each 16 out"),
    ],
)
def test_a_batch_is_cut_among_processes(text: str, world: int, expected: tuple[int, ...]) -> None:
    found = sizes(text, world_size=world)
    known = (found.stated[Name.GLOBAL_BATCH_SIZE], found.stated[Name.MICRO_BATCH_SIZE], found.realised.get(Name.GLOBAL_BATCH_SIZE))
    assert tuple(value(each) for each in known) == expected


PROGRAM = (
    "import hydra\nimport torch\nimport torch.multiprocessing as mp\n"
    '@hydra.main(version_base=None, config_path="config", config_name="config")\n'
    "def main(config):\n    mp.spawn(worker_main, nprocs=torch.cuda.device_count())\n"
)
TREE = {
    "train.py": PROGRAM,
    "config/config.yaml": DPO + "defaults:\n- _self_\n- model: blank\n- loss: sft\n",
    "config/model/blank.yaml": "name_or_path: ???\n",
    "config/loss/sft.yaml": "name: sft\n",
    "config/loss/dpo.yaml": "name: dpo\nbeta: ???\n",
}
COMMAND = (
    "python -u train.py loss=dpo loss.beta=0.1 exp_name=x batch_size={batch} gradient_accumulation_steps=2 "
    "eval_batch_size=32 trainer={trainer}\n"
)


def launch(folder: Path, batch: int, trainer: str) -> Report:
    """The report on a script that trains on four GPUs."""
    script = "export CUDA_VISIBLE_DEVICES=0,1,2,3\n" + COMMAND.format(batch=batch, trainer=trainer)
    return checked(folder, {**TREE, "run.sh": script})


@pytest.mark.parametrize(("batch", "trainer"), [(64, "FSDPTrainer"), (64, "BasicTrainer"), (60, "BasicTrainer")])
def test_a_launch_that_cuts_its_batch_evenly_says_nothing(batch: int, trainer: str, tmp_path: Path) -> None:
    report = launch(tmp_path, batch, trainer)
    assert titled_batches(report) == [("direct-preference-optimization (pairs)", batch)]
    assert not list(report.findings())


def test_a_launch_that_leaves_a_part_of_its_batch_out_is_warned_of(tmp_path: Path) -> None:
    (finding,) = launch(tmp_path, 60, "FSDPTrainer").findings()
    assert (finding.code, finding.severity) == ("GBS202", "warning")
