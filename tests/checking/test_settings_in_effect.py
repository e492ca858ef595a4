"""What settings say reaches the judgement: launch contexts, policies, severities, exclusions."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Expectation, Hardware, Settings
from tests.cli.support import write
from tests.rules.claimed import recipe
from tests.support import check


def report_on(folder: Path, settings: Settings, **files: str) -> Report:
    write(folder, {name.replace("__", "/") + ".yaml": text for name, text in files.items()})
    return check(WorkTree(folder), (), settings, Given(), keep_runs=True)


def batch(report: Report, entry: int) -> int | None:
    return report.files[0].runs[entry].geometry.global_batch_size


BIG = Hardware(("**",), num_nodes=4, gpus_per_node=8, origin="[[tool.gbs.launch]]", name="big cluster")
GRPO = recipe(16, 4, more="num_generations: 14\nreward_funcs: [accuracy]")


def test_a_launch_context_is_an_entry_of_its_own(tmp_path: Path) -> None:
    report = report_on(tmp_path, Settings(launches=(BIG,)), sft=recipe(1, 2))
    assert (batch(report, 0), batch(report, 1)) == (None, 64)
    assert report.files[0].verdict == "unclaimed"


@pytest.mark.parametrize(("accumulation", "codes"), [(4, []), (2, ["GBS301"])], ids=["the same", "another"])
def test_a_launch_context_is_checked_against_the_number_claimed(tmp_path: Path, accumulation: int, codes: list[str]) -> None:
    comment = "gradient accumulation is for 4 nodes, GBS 128" if accumulation == 4 else "Config for 8 nodes of 8 GPUs with GBS 128"
    report = report_on(tmp_path, Settings(launches=(BIG,)), sft=recipe(1, accumulation, comment))
    assert [finding.code for finding in report.findings()] == codes


def test_a_launch_context_of_other_recipes_is_none_of_ours(tmp_path: Path) -> None:
    report = report_on(tmp_path, Settings(launches=(BIG._replace(paths=("dpo/**",)),)), sft=recipe())
    assert len(report.files[0].runs) == 1


def test_what_a_launch_context_breaks_says_which_launch_it_is(tmp_path: Path) -> None:
    (finding,) = report_on(tmp_path, Settings(launches=(BIG,)), grpo=GRPO).findings()
    assert finding.code == "GBS205"
    assert "launched as big cluster" in finding.details


@pytest.mark.parametrize(("values", "verdict"), [((16,), "verified"), ((128,), "violated"), ((16, 128), "verified")], ids=str)
def test_a_policy_is_checked_against_the_recipe(tmp_path: Path, values: tuple[int, ...], verdict: str) -> None:
    expect = Expectation(("**",), "global_batch_size", values)
    report = report_on(tmp_path, Settings(expect=(expect,)), sft=recipe(1, 2, "on 8 GPUs"))
    assert report.files[0].verdict == verdict


def test_a_policy_that_waits_for_hardware_is_undetermined(tmp_path: Path) -> None:
    expect = Expectation(("**",), "global_batch_size", (128,))
    assert report_on(tmp_path, Settings(expect=(expect,)), sft=recipe(1, 2)).files[0].verdict == "undetermined"


def test_recipes_that_share_a_batch_are_checked_against_the_one_most_have(tmp_path: Path) -> None:
    shared = Expectation(("**",), "global_batch_size", shared=True, text='same = "global-batch-size"')
    files = {"a": recipe(1, 2, "on 8 GPUs"), "b": recipe(2, 1, "on 8 GPUs"), "c": recipe(4, 2, "on 8 GPUs")}
    report = report_on(tmp_path, Settings(expect=(shared,)), **files)
    assert [(file.path, file.verdict) for file in report.files] == [("a.yaml", "verified"), ("b.yaml", "verified"), ("c.yaml", "violated")]


def test_excluded_files_are_not_looked_at(tmp_path: Path) -> None:
    report = report_on(tmp_path, Settings(exclude=("old/",)), sft=recipe(), old__sft=recipe())
    assert [file.path for file in report.files] == ["sft.yaml"]


def test_data_of_a_repositorys_own_tests_is_looked_at_only_where_it_is_named(tmp_path: Path) -> None:
    report = report_on(tmp_path, Settings(), sft=recipe(), tests__fixtures__sft=recipe())
    assert [file.path for file in report.files] == ["sft.yaml"]
    named = check(WorkTree(tmp_path), ("tests/fixtures",), Settings(), Given())
    assert [file.path for file in named.files] == ["tests/fixtures/sft.yaml"]


def test_per_file_ignores_and_severities_apply(tmp_path: Path) -> None:
    text = recipe(1, 4, "Config for 8 nodes of 8 GPUs with GBS 128")
    assert report_on(tmp_path, Settings(per_file_ignores=(("*.yaml", ("GBS101",)),)), sft=text).findings() == ()
    assert [f.severity for f in report_on(tmp_path, Settings(severity=(("GBS101", "info"),)), sft=text).findings()] == ["info"]


def test_a_suppression_on_any_operands_line_silences(tmp_path: Path) -> None:
    text = recipe(1, 4, "Config for 8 nodes of 8 GPUs with GBS 128", "gbs: ignore[GBS101] the long run has twice the steps")
    report = report_on(tmp_path, Settings(), sft=text)
    assert (report.findings(), report.files[0].suppressed) == ((), 1)


def test_a_suppression_that_silences_nothing_is_reported(tmp_path: Path) -> None:
    report = report_on(tmp_path, Settings(), sft=recipe(1, 2, trailing="gbs: ignore[GBS101] nothing to see"))
    assert [finding.code for finding in report.findings()] == ["GBS901"]


def test_an_undetermined_claim_can_be_silenced_too(tmp_path: Path) -> None:
    report = report_on(tmp_path, Settings(), sft=recipe(1, 2, "global batch size: 128  # gbs: ignore[GBS101] who knows"))
    assert (report.files[0].verdict, report.findings()) == ("unclaimed", ())


def test_two_documents_of_a_file_are_two_recipes(tmp_path: Path) -> None:
    both = recipe(1, 2, "GBS 128 on 64 GPUs") + "---\n" + recipe(1, 4, "GBS 128 on 64 GPUs")
    report = report_on(tmp_path, Settings(), sft=both)
    assert [(file.document, file.verdict) for file in report.files] == [(1, "verified"), (2, "violated")]


def test_a_broken_file_with_batch_keys_is_reported_and_the_run_goes_on(tmp_path: Path) -> None:
    report = report_on(
        tmp_path,
        Settings(),
        a="model_name_or_path: m\ndataset_name: d\nper_device_train_batch_size: [1\n",
        b=recipe(1, 2, "GBS 128 on 64 GPUs"),
    )
    assert [(file.path, file.role, file.verdict) for file in report.files] == [
        ("a.yaml", "unreadable", None),
        ("b.yaml", "recipe", "verified"),
    ]
    assert [finding.code for finding in report.findings()] == ["GBS001"]


def test_a_broken_file_without_them_is_none_of_our_business_unless_named(tmp_path: Path) -> None:
    assert report_on(tmp_path, Settings(), a="title: [1\n").findings() == ()
    assert [f.code for f in check(WorkTree(tmp_path), ("a.yaml",), Settings(), Given()).findings()] == ["GBS001"]


def test_a_report_can_be_sent_to_another_process(tmp_path: Path) -> None:
    import pickle

    report = report_on(tmp_path, Settings(), sft=recipe(1, 4, "GBS 128 on 64 GPUs"))
    assert pickle.loads(pickle.dumps(report)).findings() == report.findings()
