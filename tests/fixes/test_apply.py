"""Fixes of recipes: which operand changes, which comment, and what is left alone. Products are worked out by hand."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings, strategies

from pytest_gbs import Given
from pytest_gbs.fixes.apply import apply_fixes
from pytest_gbs.model.location import Source
from pytest_gbs.model.report import Report
from pytest_gbs.model.rule import Rule
from pytest_gbs.model.settings import Settings
from pytest_gbs.rules import manuals
from tests.fixes.memory import DECLARATIONS, SETTINGS, recipe, repaired, text
from tests.support import check, in_memory

# 2 nodes of 8: micro x accumulation x 16.
LAUNCH = "accelerate launch --num_processes 16 train.py --config 1.yaml --learning_rate 1e-5\n"
HEADER = "Config for 2 nodes of 8 x H100s with GBS 128"


@pytest.mark.parametrize("kinds", [(), (SETTINGS,), (DECLARATIONS,)], ids=["safe", "settings", "declarations"])
@pytest.mark.parametrize(
    "before",
    [
        pytest.param(recipe(4, 2, HEADER), id="in order"),
        pytest.param(recipe(4, 4), id="nothing claimed"),
        pytest.param(recipe("auto", 4, HEADER), id="not known"),
        pytest.param(recipe(4, 4, "GBS 128"), id="undecided"),
        pytest.param("a: [\n", id="unreadable"),
        pytest.param("a: 1\n", id="no recipe"),
        pytest.param(recipe(4, 4, HEADER, more="# gbs: file-ignore[GBS101] the paper's"), id="suppressed"),
    ],
)
def test_what_needs_no_fix_stays(before: str, kinds: tuple[str, ...]) -> None:
    found = repaired({"sft.yaml": before}, *kinds)
    assert (found.files, found.applied, found.refused) == ({}, (), ())


def test_a_stale_claim_needs_a_decision() -> None:
    found = repaired({"sft.yaml": recipe(4, 4, HEADER)})
    assert found.files == {}
    assert [finding.code for finding in found.report.findings()] == ["GBS101"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # 4 x 4 x 16 = 256; half the accumulation gives 128.
        pytest.param(recipe(4, 4, HEADER), recipe(4, 2, HEADER), id="accumulation first"),
        # 8 x 1 x 16 = 128 is claimed to be 64: the accumulation can't be halved.
        pytest.param(recipe(8, 1, HEADER.replace("128", "64")), recipe(4, 1, HEADER.replace("128", "64")), id="else micro batch"),
        # 3 x 3 x 16 = 144; 128 / 16 = 8 = 2 x 4, and the micro batch must not grow.
        pytest.param(recipe(3, 3, HEADER), recipe(2, 4, HEADER), id="both where neither alone will do"),
        # 4 x 1 x 16 = 64: the accumulation has its default, and gets a line.
        pytest.param(recipe(4, None, HEADER), recipe(4, 2, HEADER), id="a default"),
        pytest.param(recipe("'4'", "'4'", HEADER), recipe("'4'", "'2'", HEADER), id="quotes"),
        pytest.param(recipe(4, 4, HEADER).replace("\n", "\r\n"), recipe(4, 2, HEADER).replace("\n", "\r\n"), id="line ends"),
        pytest.param(recipe(4, 4, HEADER)[:-1], recipe(4, 2, HEADER)[:-1], id="no last line end"),
        pytest.param(recipe(4, None, HEADER)[:-1], recipe(4, 2, HEADER)[:-1], id="a default at the end"),
        pytest.param(recipe(4, "&steps 4", HEADER), recipe(4, "&steps 2", HEADER), id="an anchor"),
        # The comment says accumulation 8: so it was.
        pytest.param(
            recipe(4, 4, trailing="accumulation 8, so the effective batch size is 512 on 16 GPUs"),
            recipe(4, 8, trailing="accumulation 8, so the effective batch size is 512 on 16 GPUs"),
            id="a factor",
        ),
    ],
)
def test_believing_the_claim_changes_a_setting(before: str, after: str) -> None:
    found = repaired({"sft.yaml": before}, SETTINGS)
    assert text(found, before) == after
    assert found.report.findings() == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(recipe(4, 4, HEADER), recipe(4, 4, HEADER.replace("128", "256")), id="the number"),
        pytest.param(recipe(16, 4, HEADER.replace("128", "1,024 ")), recipe(16, 4, HEADER.replace("128", "1,024 ")), id="in order"),
        pytest.param(recipe(32, 4, HEADER.replace("128", "1,024")), recipe(32, 4, HEADER.replace("128", "2,048")), id="with a comma"),
        # 4 x 2 x 16 was right; the accumulation is 4 now.
        pytest.param(
            recipe(4, 4, "2 nodes of 8 GPUs", "effective batch size 128 (4 x 2 x 16 = 128)"),
            recipe(4, 4, "2 nodes of 8 GPUs", "effective batch size 256 (4 x 4 x 16 = 256)"),
            id="a number said twice",
        ),
        pytest.param(
            recipe(4, 4, "2 nodes of 8 GPUs", "effective batch size 4 x 2 x 16 = 128"),
            recipe(4, 4, "2 nodes of 8 GPUs", "effective batch size 4 x 4 x 16 = 256"),
            id="factors and total",
        ),
        pytest.param(
            recipe(8, 4, "2 nodes of 8 GPUs", "effective batch size 4 x 2 x 16 = 128"),
            recipe(8, 4, "2 nodes of 8 GPUs", "effective batch size 4 x 8 x 16 = 512"),
            id="two factors",
        ),
        # 4 x 2 x 16 is 128, not 256.
        pytest.param(
            recipe(4, 2, "2 nodes of 8 GPUs", "effective batch size 4 x 2 x 16 = 256"),
            recipe(4, 2, "2 nodes of 8 GPUs", "effective batch size 4 x 2 x 16 = 128"),
            id="false arithmetic",
        ),
    ],
)
def test_believing_the_settings_changes_the_comment(before: str, after: str) -> None:
    found = repaired({"sft.yaml": before}, DECLARATIONS)
    assert text(found, before) == after
    assert found.report.findings() == ()


@pytest.mark.parametrize("kind", [SETTINGS, DECLARATIONS])
def test_a_second_time_changes_nothing(kind: str) -> None:
    once = repaired({"sft.yaml": recipe(4, 4, HEADER)}, kind)
    assert once.files
    assert repaired({"sft.yaml": once.files["sft.yaml"][1].text}, kind).files == {}


def test_a_claim_that_no_whole_number_reaches_stays() -> None:
    # 127 on 16 GPUs: nothing times 16 is 127.
    before = recipe(4, 4, HEADER.replace("128", "127"))
    found = repaired({"sft.yaml": before}, SETTINGS)
    assert (found.files, found.refused) == ({}, ())
    assert [finding.code for finding in found.report.findings()] == ["GBS101"]


def test_claims_that_exclude_each_other_are_left_to_people() -> None:
    # 4 x 4 x 16 = 256 is what the first says; fixing the second would break it.
    before = recipe(4, 4, "Config for 2 nodes of 8 GPUs with GBS 256", "effective batch size 128 on 16 GPUs")
    found = repaired({"sft.yaml": before}, SETTINGS)
    assert found.files == {}
    assert all("would be reported instead" in each.why for each in found.refused)
    assert found.refused


def test_a_repair_that_breaks_a_division_gives_way_to_another() -> None:
    # 2 x 4 x 8 = 64 completions in groups of 8. Claimed: 32. Accumulation 2 is fine: 32 / 8 = 4 prompts.
    before = (
        "# gbs: 32 on 8 gpus\nmodel_name_or_path: my/model\ndataset_name: my/prompts\nreward_funcs: [accuracy]\nnum_generations: 8\n"
        "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
    )
    found = repaired({"grpo.yaml": before}, SETTINGS)
    assert text(found, before, "grpo.yaml") == before.replace("steps: 4", "steps: 2")
    assert found.report.findings() == ()


def test_a_false_factor_is_fixed_although_the_claim_itself_stays_open() -> None:
    # 2 x 8 x GPUs: 16 on one, 32 on two. Nothing says how many there are, before and after.
    before = (
        "model_name_or_path: my/model\ndataset_name: my/chat\nper_device_train_batch_size: 2\n"
        "gradient_accumulation_steps: 8  # effective batch size = 4 per GPU * 8 = 32\n"
    )
    found = repaired({"sft.yaml": before}, DECLARATIONS)
    assert text(found, before) == before.replace("4 per GPU * 8 = 32", "2 per GPU * 8 = 16")
    assert found.report.findings() == ()


def test_the_target_is_fixed_where_it_is_what_is_stated() -> None:
    before = (
        "# gbs: 64 on 8 gpus\ncheckpoint_dir: checkpoints/my/model\ndevices: 8\ntrain:\n  global_batch_size: 128\n"
        "  micro_batch_size: 4\n  lr_warmup_steps: 100\n  save_interval: 1000\n"
    )
    found = repaired({"lora.yaml": before}, SETTINGS)
    assert text(found, before, "lora.yaml") == before.replace("size: 128", "size: 64")


def test_an_unused_suppression_goes_safely() -> None:
    before = recipe(4, 2, HEADER, "gbs: ignore[GBS101] it was so")
    assert text(repaired({"sft.yaml": before}), before) == recipe(4, 2, HEADER)


@pytest.mark.parametrize("kinds", [(), (SETTINGS,), (DECLARATIONS,)], ids=["safe", "settings", "declarations"])
@pytest.mark.parametrize("rule", manuals(), ids=lambda rule: rule.code)
def test_bad_examples_are_fixed_for_good_or_left(rule: Rule, kinds: tuple[str, ...]) -> None:
    for example in rule.bad:
        given = Given(world_size=int(example.flags[1])) if example.flags[:1] == ("--world-size",) else Given()
        found = repaired(dict(example.files), *kinds, given=given)
        left = {path: after.text for path, (_, after) in found.files.items()}
        again = repaired(dict(example.files) | left, *kinds, given=given)
        assert again.files == {}
        assert bool(found.files) == bool(found.applied)


@pytest.mark.parametrize(
    ("code", "kinds"),
    [
        ("GBS004", ()),
        ("GBS101", (SETTINGS,)),
        ("GBS101", (DECLARATIONS,)),
        ("GBS102", (DECLARATIONS,)),
        ("GBS104", (SETTINGS,)),
        ("GBS104", (DECLARATIONS,)),
        ("GBS202", (SETTINGS,)),
        ("GBS204", (SETTINGS,)),
        ("GBS205", (SETTINGS,)),
        ("GBS301", (SETTINGS,)),
        ("GBS310", (SETTINGS,)),
        ("GBS451", (SETTINGS,)),
        ("GBS471", (SETTINGS,)),
        ("GBS901", ()),
    ],
)
def test_what_arithmetic_settles_is_settled(code: str, kinds: tuple[str, ...]) -> None:
    (rule,) = (rule for rule in manuals() if rule.code == code)
    example = rule.bad[0]
    given = Given(world_size=int(example.flags[1])) if example.flags[:1] == ("--world-size",) else Given()
    found = repaired(dict(example.files), *kinds, given=given)
    assert code in [repair.finding.code for repair in found.applied]
    assert code not in [finding.code for finding in found.report.findings()]


def test_an_alias_is_left_alone() -> None:
    before = recipe("&four 4", "*four", HEADER.replace("128", "512"))
    found = repaired({"sft.yaml": before}, SETTINGS)
    # 4 x 4 x 16 = 256; the micro batch is an anchor, whose alias would change too.
    assert found.files == {}
    assert [each.why for each in found.refused] == ["gradient_accumulation_steps would change too"]


def test_each_file_is_fixed_though_another_can_not_be() -> None:
    hopeless, stale = recipe(4, 4, HEADER.replace("128", "127")), recipe(4, 4, HEADER)
    contradicting = recipe(4, 4, "Config for 2 nodes of 8 GPUs with GBS 256", "effective batch size 128 on 16 GPUs")
    found = repaired({"a.yaml": hopeless, "b.yaml": stale, "c.yaml": contradicting, "d.yaml": stale}, SETTINGS)
    assert sorted(found.files) == ["b.yaml", "d.yaml"]
    assert {each.repair.finding.at.source for each in found.refused} == {"c.yaml"}


def test_a_flag_of_a_launch_is_fixed_in_its_script() -> None:
    script = "#!/bin/bash\naccelerate launch --num_processes 4 train.py --config sft.yaml --gradient_accumulation_steps 4\n"
    files = {"sft.yaml": recipe(4, 4, "Config for 1 node of 8 GPUs with GBS 128"), "run.sh": script}
    found = repaired(files, SETTINGS)
    # 4 x 8 x 4 = 128.
    assert {path: after.text for path, (_, after) in found.files.items()} == {"run.sh": script.replace("steps 4", "steps 8")}


def test_hardware_given_by_flags_counts() -> None:
    before = recipe(4, 4, "global batch size 128")
    found = repaired({"sft.yaml": before}, SETTINGS, given=Given(world_size=16))
    assert text(found, before) == recipe(4, 2, "global batch size 128")


@settings(max_examples=80, deadline=None, derandomize=True)
@given(strategies.text(max_size=40), strategies.integers(0, 200), strategies.sampled_from([SETTINGS, DECLARATIONS]))
def test_strange_text_in_a_recipe_stays_as_it_is(strange: str, offset: int, kind: str) -> None:
    stale = recipe(4, 4, HEADER)
    before = stale[:offset] + strange.replace("\0", "") + stale[offset:]
    found = repaired({"sft.yaml": before}, kind)
    after = text(found, before)
    digits = str.maketrans("", "", "0123456789,_")
    if "\ngradient_accumulation_steps:" not in before:
        after = after.replace("gradient_accumulation_steps: 2\n", "")  # it has its default then, and gets a line
    assert after.translate(digits) == before.translate(digits)
    assert repaired({"sft.yaml": text(found, before)}, kind).files == {}


def test_a_misspelt_key_is_not_a_default() -> None:
    before = recipe(4, None, HEADER, more="gradient_acumulation_steps: 2")
    assert repaired({"sft.yaml": before}, SETTINGS).files == {}


def test_a_huge_file_is_refused_in_one_line() -> None:
    before = recipe(4, 4, HEADER) + "# " + "x" * 1_000_000 + "\n"
    found = repaired({"sft.yaml": before}, SETTINGS)
    assert found.files == {}
    assert all("too many to read it again" in each.why for each in found.refused)
    assert found.refused


@pytest.mark.parametrize(
    ("many", "script", "tries"),
    [
        pytest.param(300, "", 33, id="files"),  # 10,000 // 300
        pytest.param(40, LAUNCH * 200, 41, id="launches"),  # 10,000 // 241
    ],
)
def test_fixes_are_tried_so_often_that_so_much_is_checked_again(many: int, script: str, tries: int) -> None:
    files = {f"{number}.yaml": recipe(4, 4, HEADER) for number in range(many)} | ({"run.sh": script} if script else {})
    tree = in_memory(files)
    report = check(tree, (), Settings(), Given())
    tried: list[list[str]] = []

    def nothing_helps(changed: Mapping[str, Source]) -> Report:
        tried.append(sorted(changed))
        return report

    found = apply_fixes(report, tree.read, nothing_helps, (SETTINGS,))
    assert (found.files, found.applied) == ({}, ())
    assert [len(each) for each in tried[:4]] == [many, many // 2, many // 2, many // 4]
    assert len(tried) == tries


def test_what_is_refused_of_one_file_is_found_by_halves() -> None:
    files = {f"{number:02}.yaml": recipe(4, 4, HEADER) for number in range(64)}
    tree = in_memory(files)
    report = check(tree, (), Settings(), Given())
    tried: list[int] = []

    def all_but_one(changed: Mapping[str, Source]) -> Report:
        tried.append(len(changed))
        fixed = in_memory(files | {path: source.text for path, source in changed.items()})
        return report if "37.yaml" in changed else check(fixed, (), Settings(), Given())

    found = apply_fixes(report, tree.read, all_but_one, (SETTINGS,))
    assert (len(found.files), len(found.applied)) == (63, 63)
    assert {each.repair.finding.at.source for each in found.refused} == {"37.yaml"}
    assert len(tried) < 30
