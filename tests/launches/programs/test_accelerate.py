import json

import pytest

from pytest_gbs.launches.programs import accelerate_without_type, launchers, read_launcher_file
from pytest_gbs.launches.programs._accelerate_file import owns, read
from pytest_gbs.launches.programs.accelerate import LAUNCHER
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.location import Source
from pytest_gbs.model.quantity import Name, Origin
from pytest_gbs.readers import read as parse
from tests.support import corpus, oracles


def document(text: str, path: str = "zero3.yaml") -> Document:
    (found,) = parse(Source(path, text))
    assert isinstance(found, Document)
    return found


def launcher(text: str, kind: str = "MULTI_GPU") -> LauncherFile:
    return read(document(f"compute_environment: LOCAL_MACHINE\ndistributed_type: {kind}\n{text}"))


def sizes(file: LauncherFile) -> dict[str, int]:
    return {size.name: size.value for size in file.quantities if size.name != Name.DATA_PARALLEL_SIZE}


def data_parallel(file: LauncherFile) -> int | None:
    return next((size.value for size in file.quantities if size.name == Name.DATA_PARALLEL_SIZE), None)


def problems(file: LauncherFile) -> list[tuple[str, bool]]:
    return [(problem.message, problem.stops) for problem in file.problems]


MESH = "parallelism_config:\n"


def mesh(**of: int) -> str:
    return MESH + "".join(f"  parallelism_config_{name}_size: {size}\n" for name, size in of.items())


def test_it_is_found_by_listing_the_folder() -> None:
    assert LAUNCHER in launchers()


@pytest.mark.parametrize(
    "text",
    [
        "distributed_type: MULTI_GPU\n",
        "num_processes: 8\nnum_machines: 1\n",
        "distributed_type: [a]\nnum_processes: 8\n",
        "launch: {distributed_type: FSDP, num_processes: 8}\n",
        "[distributed_type, num_processes]\n",
        "# distributed_type: FSDP\nname: ci\n",
    ],
)
def test_other_files_are_not_its_own(text: str) -> None:
    assert not owns(document(text))


@pytest.mark.parametrize("text", ["distributed_type: FSDP\nnum_processes: 2\n", 'distributed_type: "NO"\nmixed_precision: bf16\n'])
def test_its_files_are_its_own(text: str) -> None:
    assert owns(document(text))


def test_processes_are_the_total_over_all_machines() -> None:
    found = launcher("num_processes: 16\nnum_machines: 2\n", "DEEPSPEED")
    assert sizes(found) == {Name.WORLD_SIZE: 16, Name.NUM_NODES: 2, Name.GPUS_PER_NODE: 8}
    assert found.distributed
    assert found.problems == ()
    world = found.quantities[0]
    assert (world.origin, world.key) == (Origin.LAUNCHER, "num_processes")
    assert world.at is not None
    assert (world.at.source, world.at.path) == ("zero3.yaml", ("num_processes",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("num_processes: 8\n", {Name.WORLD_SIZE: 8, Name.GPUS_PER_NODE: 8}, id="machines left out"),
        pytest.param("num_processes: '8'\n", {Name.WORLD_SIZE: 8, Name.GPUS_PER_NODE: 8}, id="text on one machine"),
        pytest.param("num_processes: 010\n", {Name.WORLD_SIZE: 8, Name.GPUS_PER_NODE: 8}, id="octal"),
        pytest.param(
            "num_processes: 8\nnum_machines: 0\n", {Name.WORLD_SIZE: 8, Name.NUM_NODES: 1, Name.GPUS_PER_NODE: 8}, id="no machine"
        ),
        pytest.param("num_processes: 8\nnum_machines: 2.0\n", {Name.WORLD_SIZE: 8, Name.NUM_NODES: 2, Name.GPUS_PER_NODE: 4}, id="float"),
        pytest.param("num_processes: auto\n", {}, id="counted by torchrun"),
        pytest.param("num_processes: ${GPUS}\n", {}, id="filled in"),
    ],
)
def test_sizes_are_those_that_start(text: str, expected: dict[str, int]) -> None:
    found = launcher(text)
    assert sizes(found) == expected
    assert found.problems == ()


@pytest.mark.parametrize("kind", ["NO", "'NO'", '"NO"', "no"], ids=["plain", "single", "double", "lower case"])
def test_without_distribution_one_process_starts(kind: str) -> None:
    found = launcher("num_processes: 1\n", kind)
    assert not found.distributed
    assert sizes(found) == {Name.WORLD_SIZE: 1}
    assert found.problems == ()
    many = launcher("num_processes: 8\n", kind)
    assert sizes(many) == {Name.WORLD_SIZE: 1}
    assert problems(many) == [("accelerate launch starts 1 process, not 8: distributed_type is NO", False)]
    ((place, label),) = many.problems[0].related
    assert (place.path, label) == (("distributed_type",), "no distribution")


@pytest.mark.parametrize("kind", ["XLA", "TPU", "MULTI_CPU", "MEGATRON_LM"])
def test_other_hardware_is_read_alike(kind: str) -> None:
    found = launcher("num_processes: 8\n", kind)
    assert sizes(found) == {Name.WORLD_SIZE: 8, Name.GPUS_PER_NODE: 8}
    assert found.problems == ()


def test_processes_that_do_not_divide_are_rounded_down_in_silence() -> None:
    found = launcher("num_processes: 30\nnum_machines: 4\n")
    assert sizes(found) == {Name.WORLD_SIZE: 28, Name.NUM_NODES: 4, Name.GPUS_PER_NODE: 7}
    assert problems(found) == [("accelerate launch starts 28 processes, 7 on each of 4 machines, not 30", False)]


@pytest.mark.parametrize(
    ("text", "message", "stops"),
    [
        (
            "num_processes: 2\nnum_machines: 4\n",
            "2 processes on 4 machines leave a machine without a process; accelerate launch stops",
            True,
        ),
        ("num_processes: 0\n", "num_processes must be at least 1, not 0; accelerate launch stops", True),
        ("num_processes: -8\n", "num_processes must be at least 1, not -8; accelerate launch stops", True),
        ("num_processes: 8.5\n", "num_processes 8.5 is not a whole number; accelerate launch stops", True),
        ("num_processes: true\n", "num_processes True is not a whole number; accelerate launch stops", True),
        ("num_processes: '16'\nnum_machines: 2\n", "num_processes '16' is not a whole number; accelerate launch stops", True),
        ("num_processes: 1e1\n", "num_processes '1e1' is not a whole number; accelerate launch stops", True),
        ("num_processes: 8\nnum_machines: '2'\n", "num_machines '2' is text, not a number; accelerate launch stops", True),
    ],
)
def test_processes_that_cannot_start_are_a_problem(text: str, message: str, stops: bool) -> None:
    assert problems(launcher(text)) == [(message, stops)]


@pytest.mark.parametrize(
    ("text", "expected", "message", "option"),
    [
        pytest.param("num_machines: 4\n", {Name.NUM_NODES: 4}, "no num_processes: ", "--num_processes", id="absent"),
        pytest.param("num_processes: null\n", {}, "no num_processes: ", "--num_processes", id="null"),
        pytest.param("num_processes: -1\nnum_machines: 2\n", {Name.NUM_NODES: 2}, "num_processes -1: ", "--num_processes", id="minus one"),
        pytest.param(
            "num_processes: 8\nnum_machines: null\n",
            {Name.WORLD_SIZE: 8, Name.GPUS_PER_NODE: 8},
            "num_machines is null, not a number; accelerate launch stops",
            "--num_machines",
            id="machines null",
        ),
    ],
)
def test_what_is_left_to_the_command_line_stops_unless_it_is_given(text: str, expected: dict[str, int], message: str, option: str) -> None:
    found = launcher(text)
    (problem,) = found.problems
    assert sizes(found) == expected
    assert problem.message.startswith(message)
    assert (problem.stops, problem.unless) == (True, option)


def test_a_file_for_a_single_process_needs_no_number_of_them() -> None:
    assert launcher("mixed_precision: bf16\n", "'NO'").problems == ()


@pytest.mark.parametrize("key", ["gpus_per_node", "nproc_per_node", "num_gpus", "num_process", "nnodes", "gradient_accumulation_steps"])
def test_a_key_that_accelerate_does_not_know_stops_it(key: str) -> None:
    assert problems(launcher(f"num_processes: 8\n{key}: 8\n")) == [(f"accelerate launch does not know the key {key} and stops", True)]


@pytest.mark.parametrize("key", ["ipex_config", "dynamo_backend", "command_file", "gpu_ids", "fp16"])
def test_keys_of_some_version_of_accelerate_are_not_a_problem(key: str) -> None:
    assert launcher(f"num_processes: 8\n{key}: all\n").problems == ()


_WRITTEN = "compute_environment: LOCAL_MACHINE\nmachine_rank: 0\nmain_training_function: main\nnum_processes: 8\n"


@pytest.mark.parametrize(
    "text",
    [
        _WRITTEN + "distributed_type: FSDP\n",
        "machine_rank: 0\nmain_training_function: main\nnum_processes: 8\n",
        "compute_environment: LOCAL_MACHINE\nnum_processes: 8\n",
        "compute_environment: dev\nmain_training_function: main\nmachine_rank: 0\n",
    ],
    ids=["with a type", "no environment", "too few keys", "no processes"],
)
def test_only_a_file_of_accelerate_can_lack_its_type(text: str) -> None:
    assert not accelerate_without_type.owns(document(text))


def test_a_file_without_a_type_stops_accelerate() -> None:
    found = read_launcher_file(document(_WRITTEN))
    assert found is not None
    assert (sizes(found), found.distributed, problems(found)) == ({}, False, [("no distributed_type: accelerate launch stops", True)])


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        pytest.param("num_processes: 8\n", "MULTI_GPU", 8, id="each process"),
        pytest.param("num_processes: 30\nnum_machines: 4\n", "MULTI_GPU", 28, id="rounded down"),
        pytest.param("num_processes: 8\n", "'NO'", 1, id="single"),
        pytest.param("num_processes: 8\n" + mesh(dp_shard=4, tp=2), "FSDP", 4, id="less the tensor parallel"),
        pytest.param("num_processes: 8\n" + mesh(dp_shard=2, tp=2, cp=2), "FSDP", 2, id="and the context parallel"),
        pytest.param("num_processes: 8\n" + mesh(tp=3), "FSDP", None, id="no whole number"),
        pytest.param("num_processes: 8\n", "MEGATRON_LM", None, id="degrees of Megatron"),
        pytest.param("num_machines: 2\n", "MULTI_GPU", None, id="processes not known"),
    ],
)
def test_ranks_with_data_of_their_own_are_counted(text: str, kind: str, expected: int | None) -> None:
    assert data_parallel(launcher(text, kind)) == expected


def test_how_it_distributes_is_kept() -> None:
    assert launcher("num_processes: 8\n", "DEEPSPEED").kind == "DEEPSPEED"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("num_processes: 8\n" + mesh(dp_shard=4, tp=2), {"tensor_parallel_size": 2}, id="FSDP and tensor"),
        pytest.param("num_processes: 8\n" + mesh(dp_replicate=2, dp_shard=2, tp=2), {"tensor_parallel_size": 2}, id="HSDP and tensor"),
        pytest.param("num_processes: 8\n" + mesh(cp=8, sp=1), {"context_parallel_size": 8, "sequence_parallel_size": 1}, id="context"),
        pytest.param("num_processes: 8\n" + mesh(dp_replicate=1), {}, id="all of them 1"),
        pytest.param("num_processes: 8\n" + mesh(sp=2, dp_shard=2), {"sequence_parallel_size": 2}, id="DeepSpeed minds sequences itself"),
        pytest.param("num_processes: 8\nparallelism_config: {}\n", {}, id="empty"),
        pytest.param("num_processes: 8\n" + MESH + "  parallelism_config_tp_size: ${TP}\n", {}, id="filled in"),
    ],
)
def test_parallel_sizes_that_fit_are_read(text: str, expected: dict[str, int]) -> None:
    found = launcher(f"fsdp_config: {{fsdp_version: 2}}\n{text}", "FSDP")
    assert found.problems == ()
    assert {name: size for name, size in sizes(found).items() if name.endswith("parallel_size")} == expected


@pytest.mark.parametrize(
    ("of", "message"),
    [
        pytest.param({"tp": 2, "cp": 2}, "tp 2 x cp 2 = 4 is not the number of processes, 8; training stops at start", id="too few"),
        pytest.param({"tp": 16}, "tp 16 is not the number of processes, 8; training stops at start", id="too many"),
        pytest.param(
            {"cp": 2, "sp": 4}, "context parallel 2 and sequence parallel 4 can't be combined; training stops at start", id="both"
        ),
        pytest.param(
            {"dp_replicate": 4, "tp": 2},
            "tensor or context parallelism needs dp_shard above 1 if dp_replicate is above 1; training stops at start",
            id="replicated only",
        ),
        pytest.param({"tp": 0}, "parallelism_config_tp_size is 0 and must be at least 1; training stops at start", id="zero"),
        pytest.param({"dp_shard": -1}, "parallelism_config_dp_shard_size is -1 and must be at least 1; training stops at start", id="-1"),
    ],
)
def test_parallel_sizes_that_do_not_fit_are_a_problem(of: dict[str, int], message: str) -> None:
    text = "num_processes: 8\nfsdp_config: {fsdp_version: 2}\n" + mesh(**of)
    assert problems(launcher(text, "FSDP")) == [(message, True)]


def test_parallel_sizes_need_the_second_fsdp() -> None:
    text = "num_processes: 8\n" + mesh(dp_shard=4, tp=2)
    assert problems(launcher("fsdp_config: {fsdp_version: 1}\n" + text, "FSDP")) == [
        ("parallel sizes need fsdp_version 2; training stops at start", True)
    ]
    assert problems(launcher(text, "DEEPSPEED")) == []


def test_parallel_sizes_are_compared_with_what_starts() -> None:
    assert launcher("num_processes: 9\nnum_machines: 2\n" + mesh(dp_shard=8)).problems[1:] == ()


@pytest.mark.parametrize(
    ("kind", "written", "expected"),
    [
        ("DEEPSPEED", "4", 4),
        ("DEEPSPEED", "'4'", 4),
        ("DEEPSPEED", "auto", None),
        ("DEEPSPEED", "null", None),
        ("MULTI_GPU", "4", None),
    ],
)
def test_the_accumulation_of_deepspeed_is_kept(kind: str, written: str, expected: int | None) -> None:
    found = launcher(f"num_processes: 8\ndeepspeed_config:\n  gradient_accumulation_steps: {written}\n", kind)
    assert sizes(found).get(Name.GRADIENT_ACCUMULATION_STEPS) == expected


def test_json_is_read_too() -> None:
    found = read(document('{"distributed_type": "MULTI_GPU", "num_processes": 4, "num_machines": 1}', "accelerate.json"))
    assert sizes(found) == {Name.WORLD_SIZE: 4, Name.NUM_NODES: 1, Name.GPUS_PER_NODE: 4}


def test_the_contradictions_in_the_corpus_are_known() -> None:
    root = corpus()
    found = {}
    files = 0
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".yaml", ".yml", ".json") and p.is_file()):
        text = path.read_bytes().decode("utf-8", "replace")
        if LAUNCHER.hint in text or accelerate_without_type.LAUNCHER.hint in text:
            for each in parse(Source(path.relative_to(root).as_posix(), text)):
                file = read_launcher_file(each) if isinstance(each, Document) else None
                files += file is not None
                if file is not None and file.problems:
                    found[file.path] = [(problem.message, problem.unless) for problem in file.problems]
    assert files > 80
    left_open = [path for path, of in found.items() if all(unless for _, unless in of)]
    assert {path: of for path, of in found.items() if path not in left_open} == {
        "files/huggingface__trl/trl/accelerate_configs/single_gpu.yaml": [
            ("accelerate launch starts 1 process, not 8: distributed_type is NO", "")
        ]
    }
    assert len(left_open) == 5  # launched with --num_processes by the scripts beside them


def test_it_says_what_accelerate_itself_does() -> None:
    disagreements = []
    cases = [json.loads(line) for line in (oracles() / "accelerate.jsonl").read_text(encoding="utf-8").splitlines()]
    for case in cases:
        expect, (name, text) = case["expect"], next(iter(case["files"].items()))
        file = read_launcher_file(document(text, name))
        assert file is not None
        stops = any(problem.stops for problem in file.problems)
        agrees = stops != expect["accepted"] and (stops or sizes(file).get(Name.WORLD_SIZE) == expect["num_processes"])
        agrees = agrees and (stops or data_parallel(file) == expect["data_parallel_size"])
        if not agrees or (not stops and bool(file.problems) != ("note" in expect)):
            disagreements.append((case["id"], problems(file), sizes(file), expect))
    assert len(cases) > 100
    assert disagreements == []
