"""SkyPilot tasks as launches: the nodes, GPUs and variables that a task asks for."""

from pathlib import Path

import pytest

from pytest_gbs.launches.jobs import is_job
from pytest_gbs.model.launch import Kind
from pytest_gbs.model.location import Source
from tests.launches.building import batches, checked, codes, file, launched, recipe

SFT = "-m trl.scripts.sft --config sft.yaml"
MOUNTED = "-m trl.scripts.sft --config /configs/sft.yaml"
RUN = f"run: |\n  torchrun --nnodes $SKYPILOT_NUM_NODES --nproc_per_node $SKYPILOT_NUM_GPUS_PER_NODE {SFT}\n"
WITHOUT_CLAIM = recipe(4, 4, "")


def task(resources: str, rest: str = "", run: str = RUN) -> str:
    """A task of these resources."""
    return f"resources:\n  accelerators: {resources}\n{rest}{run}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("run: python train.py\nlr: 3\nnum_nodes: 2\n", id="keys that no task has"),
        pytest.param("run: torchrun --nproc_per_node 3 -m trl.scripts.sft --config sft.yaml\n", id="nothing but a command"),
        pytest.param("run:\n  name: x\nresources: {}\n", id="no text"),
        pytest.param(task("H100:8", run="run: echo torchrun\n"), id="nothing that trains"),
        pytest.param("- run\n- resources\n", id="a list"),
        pytest.param("run: |\n  {{ task.command }}\nresources: {accelerators: H100:8}\n", id="a template"),
    ],
)
def test_files_that_launch_nothing_are_silent(tmp_path: Path, text: str) -> None:
    found = checked(tmp_path, {"sft.yaml": recipe(), "task.yaml": text})
    assert launched(found) == []
    assert codes(found) == []


@pytest.mark.parametrize(
    ("resources", "rest", "batch"),
    [
        pytest.param("H100:8", "", 128, id="one node"),
        pytest.param("H100:8", "num_nodes: 2\n", 256, id="two nodes"),
        pytest.param("L4", "", 16, id="a name alone is one GPU"),
        pytest.param("{H100: 8, A100: 8}", "", 128, id="a choice of equals"),
        pytest.param("{H100:8, H200:8}", "", 128, id="keys that hold the number"),
        pytest.param("['A100:4', 'H100:4']", "", 64, id="a list"),
        pytest.param("{H100: 8, A100: 4}", "", None, id="a choice of different numbers"),
        pytest.param("H100:8\n  any_of: [{accelerators: L4:1}, {cloud: aws}]", "", None, id="another choice"),
        pytest.param("H100:8\n  any_of: [{cloud: gcp}, {cloud: aws}]", "", 128, id="a choice of clouds"),
        pytest.param("tpu-v5e-8", "", None, id="no GPU"),
        pytest.param("null", "", None, id="none"),
        pytest.param("H100:8", "num_nodes: many\n", None, id="no number of nodes"),
    ],
)
def test_nodes_and_gpus(tmp_path: Path, resources: str, rest: str, batch: int | None) -> None:
    found = checked(tmp_path, {"sft.yaml": WITHOUT_CLAIM, "task.yaml": task(resources, rest)})
    assert batches(found) == [batch]
    assert file(found, "task.yaml").role == "launcher"
    assert [each.path for each in found.files].count("task.yaml") == 1


@pytest.mark.parametrize(
    ("command", "batch"),
    [
        (f'NODES=$(echo "$SKYPILOT_NODE_IPS" | wc -l)\n  torchrun --nnodes $NODES --nproc_per_node gpu {SFT}', 128),
        (f'NODES=`echo "$SKYPILOT_NODE_IPS" | wc -l`\n  torchrun --nnodes $NODES --nproc_per_node 2 {SFT}', 64),
        (f"torchrun --nnodes 2 --nproc_per_node 4 {MOUNTED} --gradient_accumulation_steps $STEPS", 96),
        (f"torchrun --nnodes 2 --nproc_per_node 4 {MOUNTED} --gradient_accumulation_steps $SECRET", None),
        (f"accelerate launch {SFT}", None),  # of two nodes, each by itself
        (f"python {SFT}", None),
    ],
)
def test_variables_and_mounted_files(tmp_path: Path, command: str, batch: int | None) -> None:
    rest = "num_nodes: 2\nenvs:\n  STEPS: 3\n  SECRET:\nfile_mounts:\n  /configs: ./\n  /data: s3://my-data\n"
    found = checked(tmp_path, {"sft.yaml": WITHOUT_CLAIM, "task.yaml": task("H100:4", rest, f"run: |\n  {command}\n")})
    assert batches(found) == [batch]


def test_what_lies_in_a_bucket_is_not_a_file_of_the_repository(tmp_path: Path) -> None:
    run = "run: torchrun --nproc_per_node 4 -m trl.scripts.sft --config /configs/sft.yaml\n"
    rest = "file_mounts:\n  /configs: {source: 's3://bucket', mode: MOUNT}\n"
    files = {"s3:/bucket/sft.yaml": WITHOUT_CLAIM, "task.yaml": task("H100:4", rest, run)}
    assert batches(checked(tmp_path, files)) == []


@pytest.mark.parametrize(("gpus", "batch"), [(1, 16), (4, 64)])
@pytest.mark.parametrize("command", ["accelerate launch", "torchrun --nproc_per_node auto", "composer", "deepspeed"])
def test_launchers_count_the_gpus_of_the_only_node(tmp_path: Path, command: str, gpus: int, batch: int) -> None:
    program = "from trl import SFTConfig, TrlParser\nTrlParser(SFTConfig).parse_args_and_config()\n"
    run = f"run: {command} sft.py --config sft.yaml\n"
    found = checked(tmp_path, {"sft.yaml": WITHOUT_CLAIM, "sft.py": program, "task.yaml": task(f"A100:{gpus}", run=run)})
    assert batches(found) == [batch]


@pytest.mark.parametrize(("nodes", "assumed"), [("num_nodes: 1\n", []), ("", ["SKYPILOT_NUM_NODES"])])
def test_a_number_of_nodes_that_is_not_stated_is_assumed(tmp_path: Path, nodes: str, assumed: list[str]) -> None:
    (run,) = launched(checked(tmp_path, {"sft.yaml": WITHOUT_CLAIM, "task.yaml": task("H100:8", nodes)}))
    assert run.geometry.global_batch_size == 128
    assert [assumption.name for assumption in run.assumptions] == assumed


def test_one_process_on_one_gpu_is_the_world(tmp_path: Path) -> None:
    run = "run: python -m trl.scripts.sft --config sft.yaml\n"
    assert batches(checked(tmp_path, {"sft.yaml": WITHOUT_CLAIM, "task.yaml": task("A100:1", run=run)})) == [16]


@pytest.mark.parametrize(("nodes", "batch"), [("num_nodes: 2\n", 64), ("", 32), ("num_nodes: all\n", None)])
def test_jobs_of_oumi_take_the_nodes_and_gpus_of_the_cluster(tmp_path: Path, nodes: str, batch: int | None) -> None:
    recipe = "model: {model_name: m}\ndata: {train: {datasets: []}}\ntraining:\n  trainer_type: TRL_SFT\n"
    recipe += "  per_device_train_batch_size: 8\n  gradient_accumulation_steps: 1\n"
    run = "run: |\n  oumi distributed torchrun \\\n    -m oumi train -c train.yaml\n"
    files = {"train.yaml": recipe, "job.yaml": task("A100:4", f"{nodes}working_dir: .\nuser: me\n", run)}
    assert batches(checked(tmp_path, files)) == [batch]


def test_the_folder_of_a_task(tmp_path: Path) -> None:
    text = task("H100:8", "workdir: recipes\n")
    assert batches(checked(tmp_path, {"recipes/sft.yaml": WITHOUT_CLAIM, "task.yaml": text})) == [128]


def test_a_task_in_a_folder_of_tests_judges_nothing(tmp_path: Path) -> None:
    found = checked(tmp_path, {"sft.yaml": recipe(), "tests/task.yaml": task("H100:1").replace("--config ", "--config ../")})
    assert [run.launch.kind for run in launched(found) if run.launch] == [Kind.TEST]
    assert codes(found) == []


def test_more_processes_than_gpus_and_another_batch_are_reported_at_their_places(tmp_path: Path) -> None:
    run = "run: torchrun --nproc_per_node 8 -m trl.scripts.sft --config sft.yaml --gradient_accumulation_steps $STEPS\n"
    text = task("A100:4", "envs:\n  STEPS: 2\n", run)
    found = checked(tmp_path, {"sft.yaml": recipe(), "task.yaml": text})
    assert [(each.code, text[each.at.start : each.at.stop]) for each in found.findings()] == [("GBS301", "2"), ("GBS304", "8")]
    assert "the job has 4 GPUs" in found.findings()[1].message


@pytest.mark.parametrize(
    ("text", "is_task"),
    [
        ("run:\n  name: my-run\n  replicas: 16\n", False),
        ("run:  # of the job\n\n  # its name\n  name: my-run\n", False),
        ("run: |\n  torchrun train.py\n", True),
        ("run: torchrun train.py\n", True),
        ("run:\n  torchrun train.py\n", True),
    ],
)
def test_a_section_of_settings_is_not_parsed_as_a_task(text: str, is_task: bool) -> None:
    assert is_job(Source("a.yaml", text)) == is_task
