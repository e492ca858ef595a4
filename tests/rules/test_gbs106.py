"""What names state, held against the recipe's own keys and against its launches."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.report import FileReport, Verdict
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.rules.claimed import recipe
from tests.support import check

# 4 x 2 on each GPU: 64 on 8, 32 on 4.
BS64 = recipe(4, 2, more="output_dir: out/llama-bs64")
TORCHRUN = "torchrun {flags} train.py --config {recipe}{more}\n"


def script(flags: str, name: str = "sft.yaml", more: str = "") -> str:
    return "#!/bin/bash\n" + TORCHRUN.format(flags=flags, recipe=name, more=f" {more}" if more else "")


def checked(folder: Path, files: dict[str, str], name: str = "sft.yaml") -> FileReport:
    report = check(WorkTree(write(folder, files)), (), Settings(), Given())
    return next(file for file in report.files if file.path == name)


NEMO = """\
grpo: {{num_prompts_per_step: 2, num_generations_per_prompt: 8, max_num_steps: 10}}
policy:
  train_global_batch_size: 16
  train_micro_batch_size: 1
  max_total_sequence_length: 512
  dtensor_cfg: {{enabled: true, tensor_parallel_size: 1, context_parallel_size: 1}}
env:
  nemo_gym: {{num_gpu_nodes: {gym}}}
cluster: {{num_nodes: {nodes}, gpus_per_node: 8}}
logger: {{wandb: {{name: grpo-{name}}}}}
"""


@pytest.mark.parametrize(
    ("gym", "nodes", "name"),
    [
        pytest.param(5, 1, "6n8g", id="with the nodes of the environment"),
        pytest.param(5, 1, "1n8g", id="without them"),
        pytest.param(0, 2, "2n8g", id="the environment has none"),
        pytest.param("null", 2, "2n8g", id="the environment's are not given"),
    ],
)
def test_nodes_of_the_environment_may_count_in_a_name(tmp_path: Path, gym: object, nodes: int, name: str) -> None:
    file = checked(tmp_path, {f"grpo-{name}.yaml": NEMO.format(gym=gym, nodes=nodes, name=name)}, f"grpo-{name}.yaml")
    assert file.findings == ()


def test_other_nodes_than_both_together_are_reported(tmp_path: Path) -> None:
    (finding,) = checked(tmp_path, {"grpo-4n8g.yaml": NEMO.format(gym=2, nodes=1, name="4n8g")}, "grpo-4n8g.yaml").findings
    assert (finding.code, finding.message) == ("GBS106", "the name says 4 nodes, but the recipe has 1 node")


# detectron2 is given the images of all GPUs.
IMAGES = """\
MODEL: {{META_ARCHITECTURE: GeneralizedRCNN, WEIGHTS: a.pkl}}
DATASETS: {{TRAIN: [mine]}}
SOLVER: {{BASE_LR: 0.01, IMS_PER_BATCH: {batch}, MAX_ITER: 1000}}
OUTPUT_DIR: out/{name}
"""


@pytest.mark.parametrize(
    ("batch", "name", "codes"),
    [
        (64, "rcnn-bs64", []),
        (32, "rcnn-bs64", ["GBS106"]),
        (128, "rcnn-bs64", []),  # 64 on each of two GPUs, perhaps
        (32, "rcnn-64", []),
    ],
)
def test_a_batch_that_is_more_than_all_gpus_have(tmp_path: Path, batch: int, name: str, codes: list[str]) -> None:
    file = checked(tmp_path, {"a.yaml": IMAGES.format(batch=batch, name=name)}, "a.yaml")
    assert [each.code for each in file.findings] == codes


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"run.sh": script("--nproc_per_node 4", more="--output_dir out/llama-bs32")}, id="the launch has a name of its own"),
        pytest.param({"run.sh": script("--nproc_per_node ${GPUS:-4}")}, id="a variable may change the processes"),
        pytest.param({"run.sh": script("--nproc_per_node $GPUS")}, id="the processes are a variable"),
        pytest.param({"a.sh": script("--nproc_per_node 4"), "b.sh": script("--nproc_per_node $GPUS")}, id="one of two launches is open"),
        pytest.param({"run.sh": script("--nproc_per_node 4", more="--max_steps 2")}, id="a launch that only tries it"),
    ],
)
def test_a_batch_that_no_launch_is_known_to_contradict_is_silent(tmp_path: Path, files: dict[str, str]) -> None:
    file = checked(tmp_path, {"sft.yaml": BS64, **files})
    assert (file.findings, file.verdict) == ((), Verdict.UNCLAIMED)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("sft-32gpus-gbs256", Verdict.VERIFIED),  # 4 x 2 x 32
        ("sft-16gpus-bs64", Verdict.VERIFIED),  # 4 x 16, before accumulation
        ("sft-2n8g-gbs128", Verdict.VERIFIED),
        ("sft-8gpu-gbs64", Verdict.VERIFIED),  # 8 GPUs in all
        ("sft-8gpu-gbs128", Verdict.UNCLAIMED),  # or on each of two nodes
        ("sft-16gpus-bs8", Verdict.UNCLAIMED),  # the batch of one device
        ("sft-2nodes-gbs128", Verdict.UNCLAIMED),  # of how many GPUs is not said
        ("sft-16gpus-gbs128-bs8", Verdict.UNCLAIMED),  # two batches
        ("sft-32gpus-gbs1024", Verdict.WARNED),
        ("sft-4n8g-gbs64000", Verdict.WARNED),
    ],
)
def test_a_batch_is_checked_against_the_hardware_of_the_same_name(tmp_path: Path, name: str, verdict: str) -> None:
    file = checked(tmp_path, {f"{name}.yaml": recipe(4, 2)}, f"{name}.yaml")
    assert file.verdict == verdict
    assert all("but the settings give 256 on 32 GPUs" in finding.message for finding in file.findings)


def test_hardware_of_a_name_that_the_recipe_contradicts_verifies_nothing(tmp_path: Path) -> None:
    (finding,) = checked(tmp_path, {"sft-16gpus-gbs128.yaml": "# 8 GPUs\n" + recipe(4, 2)}, "sft-16gpus-gbs128.yaml").findings
    assert "the name says batch size 128, but the settings give 64" in finding.message


@pytest.mark.parametrize("batch", [4, 8])
def test_a_batch_of_one_device_is_silent(tmp_path: Path, batch: int) -> None:
    files = {"sft.yaml": recipe(4, 2, more=f"run_name: llama-bs{batch}"), "run.sh": script("--nproc_per_node 8")}
    assert checked(tmp_path, files).findings == ()


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"sft.yaml": BS64, "run.sh": script("--nproc_per_node 8")}, id="a script"),
        pytest.param({"sft.yaml": BS64, "README.md": f"```bash\n{script('--nproc_per_node 8')}```\n"}, id="a document"),
        pytest.param({"sft.yaml": BS64, "a.sh": script("--nproc_per_node 8"), "b.sh": script("--nproc_per_node 4")}, id="one of two"),
        pytest.param({"sft.yaml": recipe(4, 2, "8 GPUs", more="output_dir: out/llama-bs64")}, id="a comment's hardware"),
    ],
)
def test_a_batch_that_the_recipe_or_a_launch_gives_verifies(tmp_path: Path, files: dict[str, str]) -> None:
    file = checked(tmp_path, files)
    assert (file.findings, file.verdict) == ((), Verdict.VERIFIED)


@pytest.mark.parametrize("name", ["run.sh", "README.md"])
def test_a_batch_that_no_launch_gives_is_one_warning(tmp_path: Path, name: str) -> None:
    text = script("--nproc_per_node 4")
    (finding,) = checked(tmp_path, {"sft.yaml": BS64, name: f"```bash\n{text}```\n" if name.endswith("md") else text}).findings
    assert (finding.code, finding.severity) == ("GBS106", "warning")
    assert finding.message == f"the name says batch size 64, but the launch in {name} gives 32"
    assert BS64[finding.at.start : finding.at.stop] == "64"


def test_names_that_say_the_same_are_one_finding_on_the_path(tmp_path: Path) -> None:
    text = recipe(4, 2, "4 nodes of 8 GPUs", more="run_name: sft-2n8g\noutput_dir: out/sft-2n8g")
    (finding,) = checked(tmp_path, {"sft-2n8g.yaml": text}, "sft-2n8g.yaml").findings
    assert (finding.at.start, finding.at.stop) == (0, 0)
    assert [text[each.at.start : each.at.stop] for each in finding.related] == ["2", "2", "4"]


def test_all_that_a_name_has_wrong_is_one_finding(tmp_path: Path) -> None:
    (finding,) = checked(tmp_path, {"sft-2n4g.yaml": recipe(4, 2, "4 nodes of 8 GPUs")}, "sft-2n4g.yaml").findings
    assert (
        finding.message
        == "the name says 2 nodes, but the recipe has 4 nodes; the name says 4 GPUs per node, but the recipe has 8 GPUs per node"
    )


@pytest.mark.parametrize(
    ("flags", "messages"),
    [
        pytest.param("--nnodes 2 --nproc_per_node 8", [], id="agrees"),
        pytest.param("--nnodes $NODES --nproc_per_node 8", [], id="open"),
        pytest.param(
            "--nnodes 4 --nproc_per_node 8", ["the name says 2 nodes, but the launch in run.sh gives 4 nodes"], id="another number of nodes"
        ),
    ],
)
def test_hardware_in_a_name_is_checked_against_the_scripts(tmp_path: Path, flags: str, messages: list[str]) -> None:
    file = checked(tmp_path, {"sft-2n8g.yaml": recipe(4, 2), "run.sh": script(flags, "sft-2n8g.yaml")}, "sft-2n8g.yaml")
    assert [finding.message for finding in file.findings] == messages


def test_a_parents_run_name_is_not_the_childs(tmp_path: Path) -> None:
    parent = NEMO.format(gym=0, nodes=2, name="2n8g")
    child = "defaults: grpo-2n8g.yaml\ncluster: {num_nodes: 4}\n"
    assert checked(tmp_path, {"grpo-2n8g.yaml": parent, "grpo-large.yaml": child}, "grpo-large.yaml").findings == ()


_BARE = "model_name_or_path: my/model\ndataset_name: my/data\nper_device_train_batch_size: 4\ngradient_accumulation_steps: 2{}\n"


@pytest.mark.parametrize(
    ("comment", "flags", "verdict"),
    [
        pytest.param("  # bs=64", "--nproc_per_node 8", Verdict.VERIFIED, id="all GPUs"),
        pytest.param("  # bs=8", "--nproc_per_node 8", Verdict.UNDETERMINED, id="one GPU"),
    ],
)
def test_a_bare_batch_size_is_of_one_gpu_or_of_all(comment: str, flags: str, verdict: str, tmp_path: Path) -> None:
    file = checked(tmp_path, {"sft.yaml": _BARE.format(comment), "run.sh": script(flags)})
    assert file.findings == ()
    assert file.verdict in (verdict, Verdict.UNCLAIMED)


def test_a_bare_batch_size_that_is_neither_is_reported_at_the_comment(tmp_path: Path) -> None:
    file = checked(tmp_path, {"sft.yaml": _BARE.format("  # bs=128"), "run.sh": script("--nproc_per_node 8")})
    assert [(f.code, f.message) for f in file.findings] == [
        ("GBS106", "the comment says batch size 128, but the launch in run.sh gives 64")
    ]
    assert (tmp_path / "sft.yaml").read_text()[file.findings[0].at.start :].startswith("128")


@pytest.mark.parametrize(("rows", "found"), [(4, []), (2, ["the name says batch size 128, but the settings give 64 on 32 GPUs"])])
def test_a_name_with_its_own_gpus_is_judged_on_those(rows: int, found: list[str], tmp_path: Path) -> None:
    """A comment about the learning rate may speak of others."""
    text = f"model_name_or_path: m\ndataset_name: d\nmax_length: 8\nper_device_train_batch_size: {rows}\ngradient_accumulation_steps: 1\n"
    head = "# base_batch_size = (8 GPUs) x (16 samples per GPU)\n"
    (tmp_path / "net_32xb4_in1k.yaml").write_text(head + text, encoding="utf-8")
    report = check(WorkTree(tmp_path), (), Settings(), Given())
    assert [each.message for each in report.findings() if each.code == "GBS106"] == found
