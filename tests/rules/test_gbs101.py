"""A claimed global batch against what the settings give, each product worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.model.settings import Settings
from tests.rules.claimed import checked, launcher, on_nodes_of, recipe


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe(), id="nothing is said"),
        pytest.param(recipe(trailing="Use to increase effective batch size"), id="how to change it"),
        pytest.param(recipe(trailing="effective batch size should be 32 for best results"), id="advice"),
        pytest.param(recipe(header="the original model was trained on 256 GPUs with batch size 2048"), id="history"),
        pytest.param(recipe(header="gradient_accumulation_steps: 16  # 8 GPUs, so batch size 128"), id="a setting that is commented out"),
        pytest.param(recipe(trailing="evaluation batch size 64"), id="another batch"),
        pytest.param(recipe(header="needs 4x A100 80GB"), id="memory"),
        pytest.param(
            recipe(header="If you have 4 GPUs, set gradient_accumulation_steps to 16 to keep the effective batch size of 64."),
            id="other hardware",
        ),
        pytest.param(recipe(header="For 16 GPUs use effective batch size 256"), id="an instruction"),
        pytest.param(recipe(header="the global batch size stays 64 on 4 GPUs with accumulation 16"), id="an alternative"),
        pytest.param(recipe(header="Was 512 GBS in v1, now see below"), id="what it was"),
        pytest.param(recipe(header="global batch size 64-128"), id="a range"),
        pytest.param(recipe(header="batch size 256 caused OOM on 8 GPUs"), id="what did not work"),
        pytest.param(recipe(header="8 GPUs x 4 hours = 32 GPU hours"), id="hours"),
    ],
)
def test_no_claim_leaves_a_recipe_unclaimed(tmp_path: Path, text: str) -> None:
    assert checked(tmp_path, text)[:2] == ("unclaimed", [])


@pytest.mark.parametrize(
    "text",
    [
        # 4 nodes x 8 GPUs x 1 x 4 = 128: the 8 GPUs are those of a node, since a node count stands beside them.
        pytest.param(recipe(1, 4, "set up for 8 GPUs", "effective batch size 128 with 4 nodes"), id="8 GPUs on each of 4 nodes"),
        # 2 x 4 x 4 nodes x 8 GPUs = 256, where another comment says 8 GPUs and no node count.
        pytest.param(recipe(2, 4, "By default 8 GPUs with 2 per GPU", "we use 4 nodes, with a total batch size of 256"), id="a default"),
        # 2 nodes with 16 GPUs in all: 16 x 2 x 4 = 128.
        pytest.param(recipe(2, 4, "2 nodes, 16 GPUs", "effective batch size 128"), id="16 GPUs on 2 nodes"),
        # 32 x 1 x 4 = 128.
        pytest.param(recipe(1, 4, trailing="designed for 32 GPUs, so batch size 128"), id="32 GPUs in all"),
        pytest.param(recipe(1, 2, "Config for 8 nodes of 8 x H100s, with GBS 128"), id="nodes of 8"),
        pytest.param(recipe(1, 2, "gbs: 128 on 8 nodes x 8 gpus"), id="our own annotation"),
        # 1024 = 4 x 32 x 8 is 1k in powers of 1024.
        pytest.param(recipe(4, 32, trailing="effective batch size of 1k on 8 GPUs"), id="1k"),
        pytest.param(recipe(4, 2, "Config for 2 nodes of 8 GPUs", "effective batch size 128 (4 x 2 x 16 = 128)"), id="with arithmetic"),
    ],
)
def test_a_true_claim_is_verified(tmp_path: Path, text: str) -> None:
    assert checked(tmp_path, text)[:2] == ("verified", [])


def test_gpus_that_no_node_count_stands_beside_are_those_of_a_node_or_all(tmp_path: Path) -> None:
    for total, codes in ((256, []), (64, []), (128, ["GBS101"])):  # on 32 GPUs, on 8 GPUs, on neither
        text = recipe(2, 4, "By default 8 GPUs with 2 per GPU", f"we use 4 nodes, with a total batch size of {total}")
        assert checked(tmp_path, text).codes == codes


def test_a_total_of_another_node_count_says_nothing(tmp_path: Path) -> None:
    text = recipe(4, 2, "On one node: 8 GPUs, total batch size 64. On two nodes: total batch size 128")
    assert checked(tmp_path, text).codes == []


def test_nodes_without_gpus_say_which_number_would_make_it_true(tmp_path: Path) -> None:
    result = checked(tmp_path, recipe(header="Config for 8 nodes with GBS 128"))
    assert result.verdict == "undetermined"
    assert [outcome.implies for outcome in result.undetermined] == ["true with 8 GPUs per node"]


def test_no_hardware_says_on_how_many_gpus_it_would_be_true(tmp_path: Path) -> None:
    result = checked(tmp_path, recipe(header="global batch size: 128"))
    assert result.verdict == "undetermined"
    assert [outcome.implies for outcome in result.undetermined] == ["true on 64 GPUs"]


def test_launcher_files_that_agree_are_good_evidence(tmp_path: Path) -> None:
    result = checked(tmp_path, recipe(header="Config for 8 nodes with GBS 128"), a_yaml=launcher(8), b_yaml=launcher(16, 2))
    assert result[:2] == ("verified", [])
    assert result.assumptions == ("8 GPUs per node: 2 launcher files agree (launch/b.yaml:3  num_processes: 16)",)


def test_launcher_files_that_disagree_are_not_evidence(tmp_path: Path) -> None:
    result = checked(tmp_path, recipe(header="Config for 8 nodes with GBS 128"), a_yaml=launcher(8), b_yaml=launcher(4))
    assert result.verdict == "undetermined"
    words = "true with 8 GPUs per node; launcher files disagree on GPUs per node: launch/a.yaml:3 8, launch/b.yaml:3 4"
    assert [outcome.implies for outcome in result.undetermined] == [words]


def test_a_launcher_file_that_distributes_nothing_does_not_count(tmp_path: Path) -> None:
    text = recipe(header="Config for 8 nodes with GBS 128")
    assert checked(tmp_path, text, a_yaml=launcher(8), one_yaml=launcher(1, kind='"NO"')).verdict == "verified"


def test_settings_know_how_many_gpus_a_node_has(tmp_path: Path) -> None:
    text = recipe(header="Config for 8 nodes with GBS 64")
    assert checked(tmp_path, text, settings=on_nodes_of(4)).verdict == "verified"  # 8 x 4 x 1 x 2
    assert checked(tmp_path, text, settings=on_nodes_of(8)).verdict == "violated"


def test_hardware_on_the_command_line_fills_what_a_claim_leaves_open(tmp_path: Path) -> None:
    text = recipe(header="Config for 8 nodes with GBS 128")
    assert checked(tmp_path, text, given=Given(gpus_per_node=8)).verdict == "verified"


def test_hardware_on_the_command_line_never_contradicts_a_claim(tmp_path: Path) -> None:
    text = recipe(header="Config for 8 nodes of 8 GPUs with GBS 128")
    assert checked(tmp_path, text, given=Given(world_size=8)).verdict == "verified"


def test_the_exact_annotation_replaces_prose(tmp_path: Path) -> None:
    text = recipe(header="Config for 8 nodes of 8 GPUs with GBS 512", trailing="gbs: 128 on 64 gpus")
    assert checked(tmp_path, text)[:2] == ("verified", [])


def test_a_claim_can_be_switched_off(tmp_path: Path) -> None:
    text = recipe(trailing="effective batch size 512 on 8 GPUs (gbs: not-a-claim)")
    assert checked(tmp_path, text)[:2] == ("unclaimed", [])


@pytest.mark.parametrize(
    ("text", "given"),
    [
        # 8 nodes x 8 GPUs x 1 x 4 = 256
        pytest.param(recipe(1, 4, "Config for 8 nodes of 8 GPUs with GBS 128"), "the settings give 256", id="accumulation doubled"),
        # 1 node x 8 x 1 x 2 = 16, whichever way the 8 GPUs are read
        pytest.param(recipe(1, 2, "set up for 8 GPUs", "effective batch size 128 with 1 node"), "the settings give 16", id="one node"),
        # 4 nodes x 8 x 1 x 8 = 256, and 8 x 1 x 8 = 64 if 8 is the total
        pytest.param(
            recipe(1, 8, "set up for 8 GPUs", "effective batch size 128 with 4 nodes"), "the settings give 256", id="both readings"
        ),
        pytest.param(
            recipe(1, 2, trailing="designed for 8 GPUs, so batch size 128"), "the settings give 16", id="copied from another recipe"
        ),
        # 16 x 32 = 512, not 1k
        pytest.param(recipe(16, 1, trailing="effective batch size of 1k on 32 GPUs"), "the settings give 512", id="half of 1k"),
    ],
)
def test_a_false_claim_is_an_error(tmp_path: Path, text: str, given: str) -> None:
    result = checked(tmp_path, text)
    assert (result.verdict, result.codes, result.severities) == ("violated", ["GBS101"], ["error"])
    assert given in result.findings[0].message


@pytest.mark.parametrize(
    ("text", "law"),
    [
        pytest.param(recipe(3, 1, "global batch size: 128"), "3 x GPUs", id="128 is not a multiple of 3"),
        # 16 x GPUs per node = 1024 needs 64 GPUs in one node
        pytest.param(recipe(1, 2, "Config for 8 nodes with GBS 1024"), "16 x GPUs per node", id="no such node"),
    ],
)
def test_a_claim_that_no_hardware_makes_true_is_an_error(tmp_path: Path, text: str, law: str) -> None:
    result = checked(tmp_path, text)
    assert (result.verdict, result.codes) == ("violated", ["GBS101"])
    assert law in result.findings[0].message


def test_a_claim_that_rests_on_a_default_only_warns(tmp_path: Path) -> None:
    # The Trainer's default micro batch is 8: 8 x 2 x 8 = 128.
    result = checked(tmp_path, recipe(None, 2, trailing="effective batch size 64 on 8 GPUs"))
    assert (result.verdict, result.codes, result.severities) == ("warned", ["GBS101"], ["warning"])


def test_it_points_at_the_number_and_its_operands(tmp_path: Path) -> None:
    text = recipe(1, 4, "Config for 8 nodes of 8 GPUs with GBS 128")
    (finding,) = checked(tmp_path, text).findings
    spans = [text[at.start : at.stop] for at in (finding.at, *(related.at for related in finding.related))]
    assert spans[:3] == ["128", "1", "4"]
    assert finding.details == ("256 = 1 micro x 4 accumulation x 64 data-parallel (8 nodes x 8 GPUs)",)
    assert finding.holds == "set gradient_accumulation_steps to 2, or change the comment to 256"


def test_tokens_per_step_are_checked_against_packed_rows(tmp_path: Path) -> None:
    # 1 x 2 x 64 rows of 4096 tokens = 524,288
    packed = recipe(1, 2, "8 nodes of 8 GPUs, 0.5M tokens per step", more="packing: true")
    assert checked(tmp_path, packed).verdict == "verified"
    for near in ("0.55M", "0.49M"):  # within one in twenty
        rounded = recipe(1, 2, f"8 nodes of 8 GPUs, {near} tokens per step", more="packing: true")
        assert checked(tmp_path, rounded).verdict == "verified"
    for far in ("0.56M", "0.45M"):
        rounded = recipe(1, 2, f"8 nodes of 8 GPUs, {far} tokens per step", more="packing: true")
        assert checked(tmp_path, rounded).codes == ["GBS101"]
    wrong = recipe(1, 2, "8 nodes of 8 GPUs, 2M tokens per step", more="packing: true")
    assert checked(tmp_path, wrong).codes == ["GBS101"]


def test_rules_can_be_chosen(tmp_path: Path) -> None:
    text = recipe(1, 4, "Config for 8 nodes of 8 GPUs with GBS 128")
    assert checked(tmp_path, text, settings=Settings(ignore=("GBS101",))).codes == []
    assert checked(tmp_path, text, settings=Settings(severity=(("GBS101", "warning"),))).severities == ["warning"]


# contextnet_rnnt.yaml of NVIDIA/NeMo says its batch in two places of its header: 2 x 4 x 8 = 64.
def test_a_batch_that_a_header_says_twice_is_one_finding(tmp_path: Path) -> None:
    text = recipe(2, 4, "set for an effective batch size of 128 on 8 GPUs", trailing="effective batch size 128")
    found = checked(tmp_path, text)
    assert (found.verdict, found.codes) == ("violated", ["GBS101"])
    assert [related.label for related in found.findings[0].related].count("declared") == 1


_EXPERTS = """\
model_name_or_path: org/model
stage: sft
finetuning_type: full
per_device_train_batch_size: 1
gradient_accumulation_steps: {}
pipeline_model_parallel_size: 4
expert_model_parallel_size: 2
# global batch size = (8 // 2 // 4) * 8 = 8
"""


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        pytest.param(4, [], id="two replicas"),
        pytest.param(8, [], id="one replica"),
        pytest.param(16, ["the settings give 16 x data-parallel size: no data-parallel size gives 8"], id="more than one replica takes"),
        pytest.param(3, ["the settings give 3 x data-parallel size: no data-parallel size gives 8"], id="not a multiple"),
    ],
)
def test_replicas_are_whole_where_it_is_unknown_what_divides_the_gpus(tmp_path: Path, steps: int, says: list[str]) -> None:
    # Whether experts in parallel divide the GPUs depends on the backend.
    found = checked(tmp_path, _EXPERTS.format(steps)).findings
    assert [each.message for each in found] == [f"comment says 8, but {each}" for each in says]
