"""Scripts that take each other in, search for keys and launch thousands of recipes: the work of a check stays bounded by its files."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from pytest_gbs import Given, Settings
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.launches.find import Scripts
from pytest_gbs.model.report import Report, Verdict
from pytest_gbs.shell.limits import MOST_NESTED, MOST_SEARCHES, MOST_SHARED, MOST_STEPS
from tests.cli.support import write
from tests.launches.building import recipe
from tests.support import Noted, check

MOST_SECONDS = 20  # each took minutes, or would have with twice as many files
LAUNCH = "accelerate launch --num_processes 8 train.py --config sft.yaml\n"


def _report(root: Path) -> Report:
    return check(WorkTree(str(root)), (), Settings(), Given())


def test_scripts_that_source_a_common_file_are_read_whole(tmp_path: Path) -> None:
    scripts = {f"run{n}.sh": f"source common.sh\n{LAUNCH}" for n in range(40)}
    write(tmp_path, {"sft.yaml": recipe(), "common.sh": "export GPUS=8\n", **scripts})
    report = _report(tmp_path)
    assert [finding.code for file in report.files for finding in file.findings] == []
    assert sum(file.launches for file in report.files) == 40


def test_scripts_that_source_each_other_share_one_budget(tmp_path: Path) -> None:
    others = "".join(f"source s{n}.sh\n" for n in range(40))
    write(tmp_path, {"sft.yaml": recipe(), **{f"s{n}.sh": others + LAUNCH for n in range(40)}})
    before = time.perf_counter()
    report = _report(tmp_path)
    assert time.perf_counter() - before < MOST_SECONDS
    assert "GBS007" in {finding.code for file in report.files for finding in file.findings}
    assert next(file for file in report.files if file.path == "sft.yaml").verdict != Verdict.VERIFIED


def test_a_script_that_starts_with_searches_is_read_in_linear_time(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": recipe(), "run.sh": "grep -" * 10_000 + f"\n{LAUNCH.replace('sft.yaml', '$c.yaml')}"})
    before = time.perf_counter()
    _report(tmp_path)
    assert time.perf_counter() - before < MOST_SECONDS


def test_only_so_many_searches_of_a_script_are_checked(tmp_path: Path) -> None:
    search = 'n=$(grep train_batch_size "$c")\n'
    write(
        tmp_path,
        {
            "a.yaml": recipe(),
            "run.sh": search * (MOST_SEARCHES + 50) + "for c in $(ls); do\n" + LAUNCH.replace("sft.yaml", "$c") + "done\n",
        },
    )
    found = Scripts(tree := WorkTree(str(tmp_path)), tuple(tree.paths()), lambda _: False).launches("run.sh")
    assert all(len(each.launch.greps) <= MOST_SEARCHES for each in found)


def test_blank_lines_of_a_program_are_searched_in_linear_time(tmp_path: Path) -> None:
    write(tmp_path, {"sft.yaml": recipe(), "run.sh": LAUNCH, "train.py": "\n" * 200_000})
    before = time.perf_counter()
    _report(tmp_path)
    assert time.perf_counter() - before < MOST_SECONDS


def test_many_scripts_of_many_recipes_are_linked_once(tmp_path: Path) -> None:
    many = 600
    scripts = {f"run{n}.sh": LAUNCH.replace("sft.yaml", f"r{n}.yaml") for n in range(many)}
    write(tmp_path, {**{f"r{n}.yaml": recipe() for n in range(many)}, **scripts})
    before = time.perf_counter()
    report = _report(tmp_path)
    assert time.perf_counter() - before < MOST_SECONDS
    assert sum(file.launches for file in report.files) == many


@pytest.mark.parametrize("step", [-1, 1], ids=["before", "behind"])
def test_recipes_that_each_inherit_from_the_next_are_composed_once(step: int, tmp_path: Path) -> None:
    sizes = "policy: {train_global_batch_size: 512, train_micro_batch_size: 4, model_name: x}\ncluster: {gpus_per_node: 8, num_nodes: 1}\n"
    write(tmp_path, {f"r{n}.yaml": f"defaults: r{n + step}.yaml\n{sizes}" for n in range(4_000)})
    before = time.process_time()
    _report(tmp_path)
    assert time.process_time() - before < MOST_SECONDS


@pytest.mark.skipif(sys.platform != "linux", reason="no path is as long elsewhere")
def test_a_thousand_folders_in_each_other_take_no_time(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    for _ in range(1_500):
        folder.mkdir()
        folder /= "a"
    write(tmp_path, {"sft.yaml": recipe(), f"{folder.parent.relative_to(tmp_path)}/sft.yaml": recipe()})
    before = time.process_time()
    try:
        report = _report(tmp_path)
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "a")], check=True)  # too deep for Python
    assert time.process_time() - before < MOST_SECONDS
    assert [file.verdict for file in report.files] == [Verdict.VERIFIED] * 2


def test_files_that_a_thousand_commands_name_are_not_read_for_each(tmp_path: Path) -> None:
    launch = LAUNCH.replace("train.py", "scripts/trian.py")
    write(tmp_path, {"sft.yaml": recipe(), "scripts/train.py": "", "scripts/other.py": "", "run.sh": launch * 1_000})
    tree = Noted(tmp_path)
    report = check(tree, ("run.sh",), Settings(), Given())
    assert "GBS311" in {finding.code for file in report.files for finding in file.findings}
    reads = Counter(tree.asked)
    assert reads["sft.yaml"] < 20, reads
    assert reads["run.sh"] < 20


def test_a_file_that_is_checked_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {f"{n}/sft.yaml": recipe() for n in range(20)})
    tree = Noted(tmp_path)
    check(tree, (), Settings(), Given())
    reads = Counter(tree.asked)
    assert {reads[f"{n}/sft.yaml"] for n in range(20)} == {1}


def test_scripts_whose_functions_double_share_one_budget(tmp_path: Path) -> None:
    doubling = "f0() { export A=$1; }\n" + "".join(f"f{n}() {{ f{n - 1} $1; f{n - 1} $1; }}\n" for n in range(1, 8)) + "f7 x\n" * 200
    write(tmp_path, {"sft.yaml": recipe(), **{f"s{n}.sh": doubling + LAUNCH for n in range(60)}})
    scripts = Scripts(tree := WorkTree(str(tmp_path)), tuple(tree.paths()), lambda _: False)
    spent = [scripts.read_script(path).shared for path in scripts.paths]
    assert sum(spent) < MOST_SHARED + MOST_STEPS
    assert spent[-1] < 10


def test_scripts_that_start_what_is_too_much_say_so_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gbs.shell.limits.MOST_SHARED", 1_000)
    doubling = "f0() { export A=$1; }\n" + "".join(f"f{n}() {{ f{n - 1} $1; f{n - 1} $1; }}\n" for n in range(1, 8)) + "f7 x\n"
    write(tmp_path, {"sft.yaml": recipe(), "work.sh": doubling + LAUNCH, **{f"s{n}.sh": "bash work.sh now\n" for n in range(9)}})
    report = check(WorkTree(str(tmp_path)), (), Settings(), Given())
    shared = [x.severity for each in report.files for x in each.findings if x.code == "GBS007" and "more than 1,000 " in x.message]
    assert len(shared) > 5
    assert shared.count("warning") == 1


def _starting_often(root: Path, number: int) -> Scripts:
    work = "for i in 1 2 3 4 5 6 7 8; do X=$i; Y=${X}a; done\n" + LAUNCH
    starts = {f"s{n:03}.sh": "".join(f"bash work.sh {n}{k}\n" for k in range(5)) for n in range(number)}
    write(root, {"sft.yaml": recipe(), "work.sh": work, **starts})
    return Scripts(tree := WorkTree(str(root)), tuple(tree.paths()), lambda _: False)


@pytest.mark.parametrize(("number", "most"), [(9, 250), (90, 2_500)])
def test_scripts_that_start_others_share_as_much_as_their_text_allows(
    number: int, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_gbs.shell.limits.LEAST_SHARED", 100)
    monkeypatch.setattr("pytest_gbs.shell.limits.CHARACTERS_OF_SHARED", 4)
    scripts = _starting_often(tmp_path, number)
    assert most / 2 < sum(scripts.read_script(path).shared for path in scripts.paths) < most + 2_000
    assert scripts.unread and all("statements and words in loops" in each.reason for each in scripts.unread.values())


def test_scripts_of_which_others_read_too_many_are_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gbs.shell.limits.MOST_SHARED", 20_000)
    _starting_often(tmp_path, 420)
    alone, together = (check(WorkTree(str(tmp_path)), (), Settings(), Given(), jobs=jobs) for jobs in (1, 3))
    assert "GBS007" in {finding.code for finding in alone.findings()}
    assert alone == together


def test_scripts_that_name_each_other_and_launch_nothing_are_not_read(tmp_path: Path) -> None:
    chain = {f"c{n}.sh": f"source c{n + 1}.sh\nexport A=1\n" for n in range(1_000)}
    same = {f"{n}/run.sh": "bash run.sh x\n" for n in range(1_000)}
    write(tmp_path, {"sft.yaml": recipe(), "launch.sh": LAUNCH, **chain, **same})
    before = time.process_time()
    scripts = Scripts(tree := WorkTree(str(tmp_path)), tuple(tree.paths()), lambda _: False)
    assert [path for path in scripts.paths if scripts.launches(path)] == ["launch.sh"]
    assert time.process_time() - before < MOST_SECONDS
    assert list(scripts.scripts) == ["launch.sh"]


def test_all_scripts_have_only_so_many_launches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("shell.limits", "launches.find"):
        monkeypatch.setattr(f"pytest_gbs.{module}.MOST_LAUNCHED", 50)
    write(tmp_path, {"sft.yaml": recipe(), **{f"s{n:02}.sh": LAUNCH * 10 for n in range(9)}})
    scripts = Scripts(tree := WorkTree(str(tmp_path)), tuple(tree.paths()), lambda _: False)
    assert [len(scripts.launches(path)) for path in scripts.paths] == [10] * 5 + [0] * 4
    assert [each.met_before for each in scripts.unread.values()] == [False, True, True, True]
    assert scripts.unread["s05.sh"].reason == "more than 10,000 launches in all scripts together"


@pytest.mark.parametrize(("number", "code"), [(10, ""), (300, "GBS001")])
def test_recipes_that_inherit_from_a_large_one_have_their_part_of_what_is_composed(number: int, code: str, tmp_path: Path) -> None:
    sizes = "policy: {train_global_batch_size: 512, train_micro_batch_size: 4}\ncluster: {gpus_per_node: 8, num_nodes: 1}\nsft: {seed: 1}\n"
    base = sizes + "".join(f"key{n}: {n}\n" for n in range(9_000))
    write(tmp_path, {"base.yaml": base, **{f"r{n}.yaml": f"defaults: base.yaml\n{sizes}" for n in range(number)}})
    before = time.process_time()
    report = _report(tmp_path)
    assert time.process_time() - before < MOST_SECONDS / 2
    assert {finding.code for finding in report.findings()} == ({code} if code else set())


def test_scripts_within_their_own_length_share_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"sft.yaml": recipe(), **{f"s{n}.sh": "export A=1\n" * n + LAUNCH for n in range(40)}})
    scripts = Scripts(tree := WorkTree(str(tmp_path)), tuple(tree.paths()), lambda _: False)
    assert [scripts.read_script(path).shared for path in scripts.paths] == [0] * 40


@pytest.mark.parametrize("number", [30, 60])
def test_scripts_that_all_start_each_other_are_followed_so_far(number: int, tmp_path: Path) -> None:
    each = "".join(f"bash s{n}.sh $1 {n}\n" for n in range(number)) + LAUNCH
    write(tmp_path, {"sft.yaml": recipe(), **{f"s{n}.sh": each for n in range(number)}})
    scripts = Scripts(tree := WorkTree(str(tmp_path)), tuple(tree.paths()), lambda _: False)
    nested = [scripts.read_script(path).nested for path in scripts.paths]
    assert MOST_NESTED < sum(nested) < MOST_NESTED + 10_000
    reasons = [scripts.unread[path] for path in scripts.paths]
    shared = [each for each in reasons if each.reason.startswith("more than 1,000 scripts that others start")]
    assert len(shared) > 1 and all(each.met_before for each in shared[1:])


def test_the_report_on_them_is_the_same_for_several_processes(tmp_path: Path) -> None:
    each = "".join(f"bash s{n}.sh $1 {n}\n" for n in range(30)) + LAUNCH
    write(tmp_path, {"sft.yaml": recipe(), **{f"s{n}.sh": each for n in range(30)}, **{f"t{n}.sh": LAUNCH for n in range(300)}})
    alone, together = (check(WorkTree(str(tmp_path)), (), Settings(), Given(), jobs=jobs) for jobs in (1, 3))
    assert alone == together


def test_scripts_that_start_each_other_once_are_read_whole(tmp_path: Path) -> None:
    chain = {f"r{n}.sh": f"bash a{n}.sh sft\n" for n in range(200)}
    middle = {f"a{n}.sh": "bash train.sh $1 x\n" for n in range(200)}
    write(tmp_path, {"sft.yaml": recipe(), "train.sh": LAUNCH, **chain, **middle})
    scripts = Scripts(tree := WorkTree(str(tmp_path)), tuple(tree.paths()), lambda _: False)
    assert all(scripts.launches(path) for path in scripts.paths)
    assert not scripts.unread


def test_launches_of_a_large_recipe_share_what_they_leave_as_it_is(tmp_path: Path) -> None:
    large = recipe() + "".join(f"key{n}: {n}\n" for n in range(9_000))
    write(tmp_path, {"sft.yaml": large, "run.sh": "".join(LAUNCH.replace("\n", f" --seed {n}\n") for n in range(300))})
    before = time.process_time()
    report = _report(tmp_path)
    assert time.process_time() - before < MOST_SECONDS / 2
    assert sum(file.launches for file in report.files) == 300


@pytest.mark.parametrize(("most", "launches", "codes"), [(90_000, 9, set()), (1_000, 2, {"GBS007"})])
def test_launches_that_take_composing_have_only_so_many_values(
    most: int, launches: int, codes: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("find", "resolve"):
        monkeypatch.setattr(f"pytest_gbs.launches.{module}.MOST_LAUNCHED_VALUES", most)
    large = recipe() + "accelerator_config: {split_batches: false}\n" + "".join(f"key{n}: {n}\n" for n in range(900))
    scripts = {f"s{n}.sh": LAUNCH.replace("\n", f" --accelerator_config.x {n}\n") for n in range(9)}
    write(tmp_path, {"sft.yaml": large, **scripts})
    report = _report(tmp_path)
    assert sum(file.launches for file in report.files) == launches
    assert {finding.code for finding in report.findings()} == codes
    assert {file.verdict for file in report.files if file.path == "sft.yaml"} == {Verdict.UNDETERMINED if codes else Verdict.VERIFIED}
