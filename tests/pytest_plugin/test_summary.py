"""What the terminal summary and the exit status say of recipes as a whole."""

from pathlib import Path

import pytest

from tests.pytest_plugin.conftest import UNCLAIMED, UNDETERMINED, VERIFIED, Write

RECIPES = ("--gbs-recipes", "recipes")
COUNTS = "gbs: 1 verified, 1 violated, 1 undetermined, 1 unclaimed; 1 error"


def test_every_verdict_is_counted_and_each_open_claim_has_a_line(repository: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest(*RECIPES)
    result.stdout.fnmatch_lines(["gbs: recipes from recipes/", COUNTS, "  undetermined: recipes/open.yaml:1:8*128*8*"])


@pytest.mark.parametrize("arguments", [("-n", "2"), ("-n", "2", "--dist", "loadfile"), ("-n", "1", "-p", "no:randomly")], ids=" ".join)
def test_workers_report_to_the_controller(repository: Path, pytester: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    alone = pytester.runpytest_subprocess(*RECIPES)
    result = pytester.runpytest_subprocess(*RECIPES, *arguments)
    assert result.parseoutcomes() == alone.parseoutcomes()
    assert result.outlines.count(COUNTS) == 1
    assert sum(line.startswith("  undetermined: recipes/open.yaml") for line in result.outlines) == 1
    result.stdout.fnmatch_lines(["FAILED recipes/stale.yaml::GBS101 - annotation says 128*"])


def test_workers_collect_both_with_the_ini_option(repository: Path, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ngbs_recipes = recipes\ntestpaths = tests\n")
    alone = pytester.runpytest_subprocess()
    result = pytester.runpytest_subprocess("-n", "2")
    assert result.parseoutcomes() == alone.parseoutcomes()
    assert result.outlines.count(COUNTS) == 1


def test_workers_import_no_code_for_recipes_alone(repository: Path, write: Write, pytester: pytest.Pytester) -> None:
    write({"tests/conftest.py": "raise SystemExit('imported')"})
    result = pytester.runpytest_subprocess(*RECIPES, "-n", "2")
    assert result.outlines.count(COUNTS) == 1


def test_quiet_keeps_the_line(repository: Path, pytester: pytest.Pytester) -> None:
    pytester.runpytest(*RECIPES, "-q").stdout.fnmatch_lines([COUNTS])


def test_collecting_only_counts(repository: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest(*RECIPES, "--collect-only")
    result.stdout.fnmatch_lines([COUNTS])
    result.stdout.no_fnmatch_line("*undetermined: *")


def test_recipes_that_were_deselected_are_not_counted_as_judged(repository: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest(*RECIPES, "-k", "good or open")
    (line,) = [line for line in result.outlines if line.startswith("gbs: 1")]
    assert "1 verified" in line
    assert "violated" not in line
    assert "deselected" in line


def test_one_file_counts_that_file(repository: Path, pytester: pytest.Pytester) -> None:
    pytester.runpytest(*RECIPES, "recipes/good.yaml").stdout.fnmatch_lines(["gbs: 1 verified"])


def test_unclaimed_recipes_are_not_a_failure(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNCLAIMED})
    result = pytester.runpytest(*RECIPES)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["gbs: 1 unclaimed", "  unclaimed: this recipe states no batch size, *gbs lock protects it", "* 1 unclaimed in *"]
    )


def test_what_the_lock_can_not_have_is_not_said_to_be_protected(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNCLAIMED.replace("per_device_train_batch_size: 1", "per_device_train_batch_size: ${oc.env:BATCH}")})
    pytester.runpytest(*RECIPES).stdout.fnmatch_lines(["  unclaimed: this recipe states no batch size, *gbs lock can't protect it, *"])


def test_passes_never_stand_alone_beside_unclaimed_recipes(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNCLAIMED, "recipes/b.yaml": UNCLAIMED, "recipes/c.yaml": VERIFIED})
    for more in ((), ("-q",), ("-n", "2")):
        outcomes = pytester.runpytest_subprocess(*RECIPES, *more).parseoutcomes()
        assert (outcomes["passed"], outcomes["unclaimed"]) == (1, 2)


def test_a_session_without_unclaimed_recipes_counts_as_before(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/c.yaml": VERIFIED})
    assert pytester.runpytest_subprocess(*RECIPES).parseoutcomes() == {"passed": 1}


def test_a_folder_without_recipes_collects_no_test(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/ci.yml": "name: ci\njobs: {}\n"})
    result = pytester.runpytest(*RECIPES)
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["gbs: no recipe found; gbs check says why"])


def test_the_setting_that_would_decide_the_most_is_said(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNDETERMINED, "recipes/b.yaml": UNDETERMINED, "recipes/c.yaml": VERIFIED})
    pytester.runpytest(*RECIPES).stdout.fnmatch_lines(["gbs: 1 verified, 2 undetermined", "*set gpus-per-node in*"])


def test_a_broken_test_elsewhere_leaves_the_summary(repository: Path, write: Write, pytester: pytest.Pytester) -> None:
    write({"tests/test_broken.py": "import nothing_like_this\n"})
    result = pytester.runpytest("tests", *RECIPES)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([COUNTS])


def test_the_baseline_of_the_settings_holds_and_what_is_named_in_vain_is_reported(
    repository: Path, write: Write, pytester: pytest.Pytester
) -> None:
    entry = '{{"path": "recipes/{}.yaml", "rule": "GBS101", "key": "", "count": 1}}'
    listed = ", ".join(entry.format(name) for name in ("stale", "good"))
    write({"gbs.toml": 'baseline = "known.json"\nexclude = ["nothing/**"]\n', "known.json": f'{{"version": 1, "findings": [{listed}]}}'})
    result = pytester.runpytest(*RECIPES)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ['  exclude has "nothing/**", which matches no file*', "  in the baseline, but no longer found: recipes/good.yaml GBS101"]
    )


def test_a_baseline_that_is_missing_ends_the_session_with_one_line(repository: Path, write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.toml": 'baseline = "known.json"\n'})
    result = pytester.runpytest(*RECIPES)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*baseline known.json in gbs.toml: there is no such file; gbs check --write-baseline known.json writes it"]
    )


PROGRAM = """\
from accelerate import Accelerator
from transformers import get_scheduler

STEPS = 1000


def train(model, optimizer, loader):
    accelerator = Accelerator()
    scheduler = get_scheduler("cosine", optimizer, num_warmup_steps=100, num_training_steps=STEPS)
    loader, scheduler = accelerator.prepare(loader, scheduler)
    steps = 0
    for batch in loader:
        scheduler.step()
        steps += 1
        if steps >= STEPS:
            break
"""


def test_a_program_with_findings_is_not_called_a_launcher(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/train.py": PROGRAM})
    pytester.runpytest(*RECIPES).stdout.fnmatch_lines(["gbs: 1 program with findings; 1 warning"])


def test_settings_with_findings_are_not_called_a_launcher(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/train.yaml": "train:\n  lr: 1e-4\n  batch_size: 8\n  grad_accum: 8  # effective batch = 32\n"})
    pytester.runpytest(*RECIPES).stdout.fnmatch_lines(["gbs: 1 settings with findings; 1 warning"])
