"""A launch is judged in its own world: what it really runs, against the number claimed and nothing else."""

from pathlib import Path

import pytest

from pytest_gbs.arithmetic.wording import assumed
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.settings import Expectation, Settings
from tests.launches.building import CLAIM, accelerate, batches, checked, codes, file, launched, only, recipe

NODES = "# Config for 8 nodes with GBS 128\n"


def script(command: str) -> str:
    return f"#!/bin/bash\n{command}\n"


@pytest.mark.parametrize(
    ("claim", "micro", "accumulation", "command"),
    [
        pytest.param(CLAIM, 4, 4, "torchrun --nproc_per_node 8 t.py --config sft.yaml", id="the hardware claimed"),
        pytest.param(CLAIM, 4, 4, "torchrun --nproc_per_node 4 t.py --config sft.yaml --gradient_accumulation_steps 8", id="half the GPUs"),
        pytest.param(
            CLAIM, 4, 4, "torchrun --nnodes 2 --nproc_per_node 8 t.py --config sft.yaml --per_device_train_batch_size=2", id="double"
        ),
        pytest.param(CLAIM, 4, 4, "torchrun --nproc_per_node $GPUS t.py --config sft.yaml", id="GPUs unknown"),
        pytest.param(CLAIM, 4, 4, "python t.py --config sft.yaml", id="plain Python"),
        pytest.param("", 4, 4, "torchrun --nproc_per_node 4 t.py --config sft.yaml", id="nothing claimed"),
        pytest.param(
            CLAIM, 4, 4, "torchrun --nproc_per_node 8 t.py --config sft.yaml --max_steps 10 --gradient_accumulation_steps 1", id="a test"
        ),
        pytest.param(
            "# GBS 128 on 8 GPUs, GBS 64 on 4 GPUs\n", 4, 4, "torchrun --nproc_per_node 4 t.py --config sft.yaml", id="one of two claims"
        ),
    ],
)
def test_it_is_in_order(claim: str, micro: int, accumulation: int, command: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(micro, accumulation, claim), "run.sh": script(command)})
    assert codes(report) == []


TENSOR_PARALLEL = accelerate(16) + "parallelism_config:\n  parallelism_config_tp_size: 4\n  parallelism_config_dp_shard_size: 4\n"


@pytest.mark.parametrize(
    ("claim", "command", "expected"),
    [
        # 4 x 1 x 16 = 64 by itself; four GPUs share each model at launch: 4 x 1 x 4 = 16.
        pytest.param(
            "# GBS 16 on 16 GPUs\n", "accelerate launch --config_file tp.yaml t.py --config sft.yaml", [], id="a launcher's sizes"
        ),
        pytest.param(
            "# GBS 128 on 16 GPUs\n",
            "torchrun --nnodes 2 --nproc_per_node 8 t.py --config sft.yaml --gradient_accumulation_steps 2",
            [],
            id="a flag",
        ),
        pytest.param("# GBS 16 on 16 GPUs\n", "torchrun --nproc_per_node 4 t.py --config sft.yaml", ["GBS101"], id="on other GPUs"),
        pytest.param(
            "# 4 micro x 4 accumulation x 8 GPUs = GBS 128\n",
            "torchrun --nproc_per_node 32 t.py --config sft.yaml",
            ["GBS104"],
            id="with another accumulation",
        ),
        pytest.param("# GBS 16 on 16 GPUs\n", "torchrun --nproc_per_node $N t.py --config sft.yaml", ["GBS101"], id="GPUs unknown"),
        pytest.param("# GBS 16 on 16 GPUs\n", "true", ["GBS101"], id="no launch"),
    ],
)
def test_a_claim_that_a_launch_fulfils_is_true(claim: str, command: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(4, 1, claim), "tp.yaml": TENSOR_PARALLEL, "run.sh": script(command)})
    assert codes(report) == expected
    assert file(report, "sft.yaml").verdict == ("violated" if expected else "verified")


def test_a_launch_and_a_claim_are_not_mixed(tmp_path: Path) -> None:
    # 1 x 2 x 64 = 128 as claimed, 1 x 16 x 8 = 128 as launched; 1 x 16 x 64 would be a false alarm.
    run = "accelerate launch --config_file zero3.yaml t.py --config sft.yaml --gradient_accumulation_steps 16"
    report = checked(tmp_path, {"sft.yaml": recipe(1, 2, NODES), "zero3.yaml": accelerate(8), "README.md": f"```sh\n{run}\n```\n"})
    assert (batches(report), codes(report), file(report, "sft.yaml").verdict) == ([128], [], "verified")


@pytest.mark.parametrize(
    ("command", "given", "spelled"),
    [
        pytest.param("torchrun --nproc_per_node 4 t.py --config sft.yaml", 64, "4", id="fewer GPUs"),
        pytest.param(
            "torchrun --nproc_per_node 8 t.py --config sft.yaml --gradient_accumulation_steps 8", 256, "8", id="more accumulation"
        ),
        pytest.param("GPUS=16\ntorchrun --nproc_per_node $GPUS t.py --config sft.yaml", 256, "16", id="where the variable is set"),
    ],
)
def test_a_launch_that_changes_the_batch_is_found(command: str, given: int, spelled: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(), "run.sh": script(command)})
    finding = only(report)
    assert (finding.code, finding.severity, finding.at.source) == ("GBS301", "error", "run.sh")
    assert finding.message == f"this launch gives {given}, but sft.yaml claims 128"
    assert script(command)[finding.at.start : finding.at.stop] == spelled
    assert [related.label for related in finding.related if related.at.source == "sft.yaml"].count("claimed") == 1
    assert file(report, "sft.yaml").verdict == "violated"


def test_a_document_warns_and_is_not_a_verdict_on_the_recipe(tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(), "README.md": "```sh\ntorchrun --nproc_per_node 4 t.py --config sft.yaml\n```\n"})
    assert only(report).severity == "warning"
    assert file(report, "sft.yaml").verdict == "verified"


def test_what_can_change_by_itself_is_said(tmp_path: Path) -> None:
    command = 'torchrun --nproc_per_node ${GPUS:-4} t.py --config sft.yaml "$@"'
    finding = only(checked(tmp_path, {"sft.yaml": recipe(), "run.sh": script(command)}))
    assert tuple(map(assumed, finding.assumptions)) == ("GPUS is not set", "the script gets no extra arguments")


@pytest.mark.parametrize(
    ("lines", "gpus", "expected"),
    [
        pytest.param("GPUS=4", "$GPUS", (), id="the script sets it"),
        pytest.param("GPUS=${N:-4}", "$GPUS", ("N is not set",), id="another variable's default"),
        pytest.param("GPUS=$((${N:-2} * ${M:-2}))", "$GPUS", ("N is not set", "M is not set"), id="a product of two"),
        pytest.param("N=${N:-8}\nGPUS=$((N / 2))", "${GPUS}", ("N is not set",), id="a variable in arithmetic"),
        pytest.param("GPUS=${A:-${B:-4}}", "$GPUS", ("B is not set", "A is not set"), id="a default of a default"),
        pytest.param("GPUS=$(echo ${N:-4})", "$GPUS", ("N is not set",), id="what a command prints of it"),
        pytest.param("GPUS=${1:-4}", "$GPUS", ("argument 1 is not given",), id="an argument"),
    ],
)
def test_what_is_not_set_is_the_variable_with_the_default(lines: str, gpus: str, expected: tuple[str, ...], tmp_path: Path) -> None:
    command = f"{lines}\ntorchrun --nproc_per_node {gpus} t.py --config sft.yaml"
    finding = only(checked(tmp_path, {"sft.yaml": recipe(), "run.sh": script(command)}))
    assert tuple(map(assumed, finding.assumptions)) == expected


def test_a_claim_in_the_script_is_checked_against_its_launch(tmp_path: Path) -> None:
    command = "# effective batch size: 256\ntorchrun --nproc_per_node 8 t.py --config sft.yaml"
    finding = only(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": script(command)}))
    assert finding.message == "this launch gives 128, but its comment claims 256"


def test_a_claim_of_one_launch_is_not_that_of_another(tmp_path: Path) -> None:
    one, other = (f"torchrun --nproc_per_node {gpus} t.py --config sft.yaml" for gpus in (8, 4))
    text = f"# effective batch size: 128\n{one}\n\n# effective batch size: 64\n{other}"
    assert codes(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": script(text)})) == []


def test_launches_fill_in_the_gpus_of_each_node(tmp_path: Path) -> None:
    # The claim names its nodes alone; 1 x 2 x 8 nodes x 8 = 128.
    command = "accelerate launch --num_machines 8 --num_processes 64 t.py --config sft.yaml"
    report = checked(tmp_path, {"sft.yaml": recipe(1, 2, NODES), "run.sh": script(command)})
    assert file(report, "sft.yaml").verdict == "verified"
    assert any("a launch starts them" in assumed(each) for each in file(report, "sft.yaml").assumptions)


def test_a_claim_that_a_launch_decides_is_not_open(tmp_path: Path) -> None:
    claim = "# effective batch size: 128\n"
    alone = checked(tmp_path / "a", {"sft.yaml": recipe(comment=claim)})
    both = checked(
        tmp_path / "b", {"sft.yaml": recipe(comment=claim), "run.sh": script("torchrun --nproc_per_node 8 t.py --config sft.yaml")}
    )
    assert [file(report, "sft.yaml").verdict for report in (alone, both)] == ["undetermined", "verified"]


def test_a_policy_holds_for_what_is_launched(tmp_path: Path) -> None:
    settings = Settings(expect=(Expectation(("**",), "global_batch_size", (128,)),))
    files = {"sft.yaml": recipe(comment=""), "run.sh": script("torchrun --nproc_per_node 4 t.py --config sft.yaml")}
    assert codes(checked(tmp_path, files, settings=settings)) == ["GBS501"]


def test_a_value_that_the_command_line_gets_wrong_is_found_there(tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 8 t.py --config sft.yaml --gradient_accumulation_steps 0"
    finding = only(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": script(command)}))
    assert (finding.code, finding.at.source) == ("GBS003", "run.sh")


def test_a_suppression_in_the_script_counts_for_the_recipe_too(tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 4 t.py --config sft.yaml  # gbs: ignore[GBS301] a trial"
    report = checked(tmp_path, {"sft.yaml": recipe(), "run.sh": script(command)})
    assert (codes(report), file(report, "sft.yaml").verdict, file(report, "run.sh").suppressed) == ([], "verified", 1)


def test_a_size_of_a_launch_knows_its_place(tmp_path: Path) -> None:
    text = script("torchrun --nproc_per_node 8 t.py --config sft.yaml --gradient_accumulation_steps 2")
    (run,) = launched(checked(tmp_path, {"sft.yaml": recipe(), "run.sh": text}))
    accumulation, micro = run.geometry.get("gradient_accumulation_steps"), run.geometry.get("micro_batch_size")
    assert accumulation.at is not None and micro.at is not None  # type: ignore[union-attr]
    assert (accumulation.at.source, text[accumulation.at.start : accumulation.at.stop]) == ("run.sh", "2")  # type: ignore[union-attr]
    assert micro.at.source == "sft.yaml"  # type: ignore[union-attr]


JOB = "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=8\n"
MEGATRON = "pretrain_gpt.py --micro-batch-size 1 --global-batch-size 64 --num-layers 2 --hidden-size 8 --seq-length 8 --train-iters 5"
INNER = f"export RANK=$SLURM_PROCID\npython {MEGATRON}\n"


def worlds(folder: Path, files: dict[str, str]) -> list[int | None]:
    """The processes of each launch that `run.sh` makes."""
    found = [run.launch for run in launched(checked(folder, files)) if run.launch is not None and run.launch.at.source == "run.sh"]
    return [next((size.value for size in launch.quantities if size.name == Name.WORLD_SIZE), None) for launch in found]


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        pytest.param("srun --nodes=2 bash inner.sh", INNER, id="other nodes for the step"),
        pytest.param("sbatch inner.sh x", INNER, id="a job of its own"),
        pytest.param("srun bash inner.sh", f"torchrun --nproc_per_node $GPUS {MEGATRON}", id="a launcher of its own"),
    ],
)
def test_the_tasks_of_a_job_are_not_those_of_a_script_within(command: str, inner: str, tmp_path: Path) -> None:
    assert worlds(tmp_path, {"run.sh": f"{JOB}{command}\n", "inner.sh": inner}) == [None]


@pytest.mark.parametrize(
    ("command", "inner", "processes"),
    [
        pytest.param("srun bash inner.sh", INNER, 32, id="without arguments"),
        pytest.param(f"srun ./inner.sh {MEGATRON}", 'python "$@"', 32, id="with arguments"),
        pytest.param("srun --ntasks=16 ./inner.sh", INNER, 16, id="options of the step"),
        pytest.param("bash inner.sh x", f"torchrun --nnodes $SLURM_NNODES --nproc_per_node 8 {MEGATRON}", 32, id="in the job alone"),
    ],
)
def test_a_script_within_a_job_has_its_tasks(command: str, inner: str, processes: int, tmp_path: Path) -> None:
    assert worlds(tmp_path, {"run.sh": f"{JOB}{command}\n", "inner.sh": inner}) == [processes]


def test_a_list_of_data_that_is_too_long_leaves_the_other_words(tmp_path: Path) -> None:
    data = "0.1 /data/text " * 800
    words = f"A='{data}'\nB='{data}'\nC=\"{MEGATRON} --train-data-path $A --valid-data-path $B --lr 1\"\nsrun python $C\n"
    report = checked(tmp_path, {"run.sh": JOB + words})
    assert batches(report) == [64]
    assert codes(report) == []


def test_options_that_are_too_long_leave_the_launch_unread(tmp_path: Path) -> None:
    data = "--data /data/text " * 800
    report = checked(tmp_path, {"run.sh": f'A="{data}"\nC="{MEGATRON} $A $A --global-batch-size 8"\nsrun python train.py $C\n'})
    assert batches(report) == []
    assert codes(report) == ["GBS007"]


RL = """\
python -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=64 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 actor_rollout_ref.rollout.n=8 {keys}
"""


@pytest.mark.parametrize(
    ("start", "keys", "world"),
    [
        pytest.param("", "trainer.nnodes=2 trainer.n_gpus_per_node=8", 16, id="by itself"),
        pytest.param("srun --nodes=1 --ntasks=1 ", "trainer.nnodes=2 trainer.n_gpus_per_node=8", 16, id="one controller"),
        pytest.param("srun --nodes=2 --ntasks-per-node=1 ", "trainer.nnodes=1 trainer.n_gpus_per_node=8", 8, id="a task on each node"),
        pytest.param("srun --nodes=2 --ntasks-per-node=1 ", "trainer.nnodes=$N trainer.n_gpus_per_node=8", None, id="nodes left open"),
    ],
)
def test_a_controller_asks_for_the_gpus_that_its_keys_count(tmp_path: Path, start: str, keys: str, world: int | None) -> None:
    script = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n" + start + RL.format(keys=keys)
    (run,) = launched(checked(tmp_path, {"run.sh": script}))
    assert run.geometry.value("world_size") == world


def test_processes_of_a_launcher_count_where_no_key_does(tmp_path: Path) -> None:
    """120 completions of 2 x 4 processes are 15 micro batches each; 8 GPUs, the default of a cluster, would not divide them."""
    script = "deepspeed --include localhost:0,1,4,5 --module openrlhf.cli.train_ppo --micro_train_batch_size 2 --train_batch_size 120\n"
    report = checked(tmp_path, {"run.sh": script})
    (run,) = launched(report)
    assert (run.geometry.value("world_size"), codes(report)) == (4, [])


@pytest.mark.parametrize(("flag", "world"), [("", 1), ("--fake-world-size 8", None), ("--fake-tokenizer x", 1)])
def test_a_world_that_is_simulated_is_not_what_was_started(flag: str, world: int | None, tmp_path: Path) -> None:
    sizes = "--num-layers 2 --lr 1e-4 --micro-batch-size 1 --global-batch-size 2 --num-experts 4 --expert-model-parallel-size 2"
    command = f"torchrun --nproc_per_node 1 pretrain_gpt.py {sizes} {flag}"
    report = checked(tmp_path, {"run.sh": script(command)})
    assert codes(report) == (["GBS202"] if world else [])
