"""accelerate launch: options beat the file, the file beats nothing, and what neither says is unknown."""

import pytest

from pytest_gbs.model.quantity import Name, Origin, Quantity
from tests.launches.programs.starting import problems, program, size_of, sizes, start_of, starts, world, written

FILES = {
    "ddp.yaml": "distributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 8\n",
    "two.yaml": "distributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: 16\n",
    "odd.yaml": "distributed_type: MULTI_GPU\nnum_machines: 4\nnum_processes: 10\n",
    "open.yaml": "distributed_type: FSDP\nnum_machines: 2\nmixed_precision: bf16\n",
    "single.yaml": 'distributed_type: "NO"\nnum_machines: 1\nnum_processes: 1\n',
    "zero.yaml": "distributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 8\ndeepspeed_config:\n  gradient_accumulation_steps: 4\n",
    "tp.yaml": "distributed_type: FSDP\nnum_machines: 1\nnum_processes: 8\nparallelism_config:\n  parallelism_config_tp_size: 2\n"
    "  parallelism_config_dp_shard_size: 4\nfsdp_config:\n  fsdp_version: 2\n",
}

NOTHING = {
    "config": "accelerate config",
    "test": "accelerate test --config_file ddp.yaml",
    "help": "accelerate launch --help",
    "no-program": "accelerate launch --num_processes 8",
    "echo": "echo accelerate launch --num_processes 8 train.py",
    "estimate": "accelerate estimate-memory bert",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_what_is_not_a_launch_starts_nothing(text: str) -> None:
    assert list(starts(text, FILES)) == []


UNKNOWN = {
    "nothing-said": ("accelerate launch train.py", "auto"),
    "processes-of-the-environment": ("accelerate launch --num_processes $N train.py", "interpolated"),
    "machines-of-the-environment": ("accelerate launch --num_processes 8 --num_machines $N train.py", "interpolated"),
    "counted": ("accelerate launch --num_processes $(nvidia-smi -L | wc -l) train.py", "interpolated"),
    "file-elsewhere": ("accelerate launch --config_file ~/mine.yaml train.py", "missing"),
    "file-of-the-environment": ("accelerate launch --config_file $C train.py", "missing"),
    "file-without-processes": ("accelerate launch --config_file open.yaml train.py", "missing"),
    "words-of-a-command": ("accelerate launch $(options) train.py", "interpolated"),
    "floored-file-other-machines": ("accelerate launch --config_file odd.yaml --num_machines 2 train.py", "missing"),
    "too-few": ("accelerate launch --num_processes 2 --num_machines 4 train.py", "not-whole"),
    "on-the-processor": ("accelerate launch --cpu --num_processes 4 train.py", "missing"),
    "behind-the-program": ("accelerate launch train.py --num_processes 8", "auto"),
    "single-chosen-away": ("accelerate launch --config_file single.yaml --multi_gpu train.py", "missing"),
    "placeholder": ("accelerate launch --num_processes N train.py", "placeholder"),
}


@pytest.mark.parametrize(("text", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_known_is_unknown(text: str, reason: str) -> None:
    assert sizes(start_of(text, FILES)) == {Name.WORLD_SIZE: reason}


KNOWN = {
    "flag": ("--num_processes 8", 8, 1, 8),
    "equals": ("--num_processes=8", 8, 1, 8),
    "hyphens": ("--num-processes 8 --num-machines 2", 8, 2, 4),
    "last-wins": ("--num_processes 8 --num_processes 4", 4, 1, 4),
    "machines": ("--num_processes 16 --num_machines 2 --machine_rank 0", 16, 2, 8),
    "no-machines-are-one": ("--num_processes 8 --num_machines 0", 8, 1, 8),
    "floored": ("--num_processes 10 --num_machines 4", 8, 4, 2),
    "variable": ("--num_processes $((2 * 4))", 8, 1, 8),
    "environment-adds-nothing": ("--num_processes 8 $EXTRA", 8, 1, 8),
    "default": ("--num_processes ${N:-4}", 4, 1, 4),
    "switches": ("--multi_gpu --same_network --use_fsdp_not_a_flag x --num_processes 2", 2, 1, 2),
    "boolean-before-the-program": ("--num_processes 2 --use_deepspeed", 2, 1, 2),
    "file": ("--config_file ddp.yaml", 8, 1, 8),
    "file-equals": ("--config_file=./two.yaml", 16, 2, 8),
    "file-floored": ("--config_file odd.yaml", 8, 4, 2),
    "flag-beats-file": ("--config_file two.yaml --num_processes 4", 4, 2, 2),
    "machines-beat-file": ("--config_file two.yaml --num_machines 1", 16, 1, 16),
    "flag-for-an-open-file": ("--config_file open.yaml --num_processes 16", 16, 2, 8),
}


@pytest.mark.parametrize(("options", "processes", "machines", "each"), KNOWN.values(), ids=KNOWN)
@pytest.mark.parametrize(
    "launch",
    [
        "accelerate launch",
        "accelerate-launch",
        "python -m accelerate.commands.launch",
        "python3 -u -m accelerate.commands.accelerate_cli launch",
    ],
)
def test_processes_are_read(launch: str, options: str, processes: int, machines: int, each: int) -> None:
    start = start_of(f"{launch} {options} scripts/sft.py --config x.yaml", FILES)
    assert sizes(start) == {Name.WORLD_SIZE: processes, Name.NUM_NODES: machines, Name.GPUS_PER_NODE: each}
    assert program(start) == ["scripts/sft.py", "--config", "x.yaml"]
    assert start.name == "accelerate launch"


def test_a_file_that_is_not_here_leaves_the_machines_open() -> None:
    assert sizes(start_of("accelerate launch --config_file mine.yaml --num_processes 8 train.py")) == {Name.WORLD_SIZE: 8}


def test_a_single_process_starts_without_distribution() -> None:
    start = start_of("accelerate launch --config_file single.yaml --num_processes 4 train.py", FILES)
    assert sizes(start) == {Name.WORLD_SIZE: 1}
    assert problems(start) == [("accelerate launch starts 1 process, not 4: distributed_type is NO", False)]
    chosen = start_of("accelerate launch --config_file single.yaml --multi_gpu --num_processes 4 train.py", FILES)
    assert (world(chosen), problems(chosen)) == (4, [])


def test_a_module_is_marked() -> None:
    start = start_of("accelerate launch --num_processes 8 -m axolotl.cli.train config.yml --debug")
    assert program(start) == ["-m", "axolotl.cli.train", "config.yml", "--debug"]
    assert program(start_of("accelerate launch -m --num_processes 8 scripts.train --x 1")) == ["-m", "scripts.train", "--x", "1"]


def test_parallel_sizes_of_the_file_are_handed_on() -> None:
    start = start_of("accelerate launch --config_file tp.yaml train.py", FILES)
    assert sizes(start)[Name.TENSOR_PARALLEL_SIZE] == 2
    beaten = start_of("accelerate launch --config_file tp.yaml --parallelism_config_tp_size 4 train.py", FILES)
    assert sizes(beaten)[Name.TENSOR_PARALLEL_SIZE] == 4


ACCUMULATION = {
    "multi-gpu": ("--num_processes 8 --gradient_accumulation_steps 4", None),
    "file-without-deepspeed": ("--config_file ddp.yaml --gradient_accumulation_steps 4", None),
    "another-way-chosen": ("--config_file zero.yaml --use_fsdp", None),
    "of-the-program": ("--config_file ddp.yaml train.py --gradient_accumulation_steps 2", None),
    "flag": ("--num_processes 8 --use_deepspeed --gradient_accumulation_steps 4", 4),
    "file": ("--config_file zero.yaml", 4),
    "flag-beats-file": ("--config_file zero.yaml --gradient_accumulation_steps 2", 2),
    "not-known": ("--config_file zero.yaml --gradient_accumulation_steps $GA", "interpolated"),
}


@pytest.mark.parametrize(("options", "expected"), ACCUMULATION.values(), ids=ACCUMULATION)
def test_the_accumulation_counts_under_deepspeed_only(options: str, expected: int | str | None) -> None:
    found = sizes(start_of(f"accelerate launch {options} train.py", FILES))
    assert found.get(Name.GRADIENT_ACCUMULATION_STEPS) == expected


PROBLEMS = {
    "in-order": ("--num_processes 8 --num_machines 2", []),
    "one-process": ("--num_processes 1", []),
    "unknown": ("--num_processes $N --num_machines 3", []),
    "floored": (
        "--num_processes 10 --num_machines 4",
        [("accelerate launch starts 8 processes, 2 on each of 4 machines, not 10", False)],
    ),
    "too-few": (
        "--num_processes 2 --num_machines 4",
        [("2 processes on 4 machines leave a machine without a process; accelerate launch stops", True)],
    ),
    "none": ("--num_processes 0", [("the number of processes must be at least 1, not 0; accelerate launch stops", True)]),
    "one-for-several-gpus": (
        "--multi_gpu --num_processes 1",
        [("--multi_gpu needs at least 2 processes; accelerate launch stops", True)],
    ),
    "two-ways": (
        "--multi_gpu --use_fsdp --num_processes 8",
        [("--multi_gpu and --use_fsdp can't be combined; accelerate launch stops", True)],
    ),
    "left-open": (
        "--config_file open.yaml",
        [("neither --num_processes nor the configuration file gives a number of processes; accelerate launch stops", True)],
    ),
    "left-open-and-given": ("--config_file open.yaml --num_processes 4", []),
}


@pytest.mark.parametrize(("options", "expected"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_accelerate_refuses_or_changes_is_reported(options: str, expected: list[tuple[str, bool]]) -> None:
    assert problems(start_of(f"accelerate launch {options} train.py", FILES)) == expected


def test_a_size_is_located_where_it_was_given() -> None:
    text = "GPUS=8\nNODES=${NNODES:-2}\naccelerate launch --num_processes $((GPUS * NODES)) --num_machines $NODES train.py\n"
    start = start_of(text)
    assert (world(start), sizes(start)[Name.NUM_NODES]) == (16, 2)
    nodes = size_of(start, Name.NUM_NODES)
    assert isinstance(nodes, Quantity)
    assert (nodes.origin, nodes.key, nodes.note.words) == (Origin.LAUNCH, "--num_machines", "default of NNODES")
    assert written(text, start, Name.NUM_NODES) == "2"


def test_a_size_of_the_file_keeps_its_place() -> None:
    start = start_of("accelerate launch --config_file ddp.yaml train.py", FILES)
    size = size_of(start)
    assert isinstance(size, Quantity)
    assert size.at is not None
    assert (size.origin, size.at.source, size.key) == (Origin.LAUNCHER, "ddp.yaml", "num_processes")
    assert [file.path for file in start.files] == ["ddp.yaml"]


def test_a_file_that_the_script_writes_is_read() -> None:
    text = "cat > acc.yaml <<EOF\ndistributed_type: FSDP\nnum_processes: 4\nEOF\naccelerate launch --config_file acc.yaml train.py\n"
    assert world(start_of(text)) == 4


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("CUDA_VISIBLE_DEVICES=0,1 accelerate launch --num_processes 1 train.py", "missing", id="several"),
        pytest.param("CUDA_VISIBLE_DEVICES=0,1 accelerate launch --config_file one.yaml train.py", "missing", id="several, by a file"),
        pytest.param("CUDA_VISIBLE_DEVICES=3 accelerate launch --num_processes 1 train.py", 1, id="one"),
        pytest.param("accelerate launch --num_processes 1 train.py", 1, id="not said"),
        pytest.param("CUDA_VISIBLE_DEVICES=0,1 accelerate launch --use_deepspeed --num_processes 1 train.py", 1, id="DeepSpeed"),
        pytest.param("CUDA_VISIBLE_DEVICES=0,1 accelerate launch --num_processes 2 train.py", 2, id="a process for each"),
    ],
)
def test_one_process_that_sees_several_devices_may_use_them_all(command: str, expected: int | str) -> None:
    one = "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nnum_machines: 1\nnum_processes: 1\n"
    assert world(start_of(command, {"one.yaml": one})) == expected


# xuesong39/DAC, train_text_to_image_lora.sh
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("accelerate launch train.py", "auto", id="not said"),
        pytest.param("CUDA_VISIBLE_DEVICES=0,1 accelerate launch train.py", "auto", id="two"),
        pytest.param("CUDA_VISIBLE_DEVICES=$GPU accelerate launch train.py", "auto", id="a variable"),
        pytest.param("CUDA_VISIBLE_DEVICES=0 accelerate launch --config_file elsewhere.yaml train.py", "missing", id="a file elsewhere"),
        pytest.param("CUDA_VISIBLE_DEVICES=0 accelerate launch --num_machines 2 train.py", "auto", id="several machines"),
        pytest.param("srun --nodes 2 env CUDA_VISIBLE_DEVICES=0 accelerate launch train.py", "auto", id="several nodes of a job"),
        pytest.param("CUDA_VISIBLE_DEVICES=3 accelerate launch train.py", 1, id="one"),
        pytest.param("accelerate launch --gpu_ids 3 train.py", 1, id="one, by an option"),
    ],
)
def test_one_device_is_one_process(command: str, expected: int | str) -> None:
    assert world(start_of(command)) == expected
