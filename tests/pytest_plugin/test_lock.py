"""Recipes in pytest held to `gbs.lock`, and to what they were at a revision."""

import pytest

from pytest_gbs.history.lockfile import read_lock
from tests.git import Git
from tests.pytest_plugin.conftest import UNCLAIMED, UNDETERMINED, VERIFIED, VIOLATED, Write

LOCK = 'version = 1\n"recipes/a.yaml" = { unit = "samples", per_gpu = 2, micro_batch_size = 1, gradient_accumulation_steps = 2 }\n'


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest("--gbs-recipes", "recipes", "-p", "no:randomly", *arguments)


def test_a_recipe_that_holds_passes(write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.lock": LOCK, "recipes/a.yaml": UNCLAIMED})
    result = run(pytester, "-v")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["recipes/a.yaml::GBS503 PASSED*", "gbs: 1 verified"])


def test_a_recipe_whose_batch_moved_fails_with_its_operand(write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.lock": LOCK, "recipes/a.yaml": UNCLAIMED.replace("gradient_accumulation_steps: 2", "gradient_accumulation_steps: 4")})
    result = run(pytester, "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "recipes/a.yaml::GBS503 FAILED*",
            "*global batch size is 4 samples per GPU, but gbs.lock has 2 samples per GPU: accumulation 4, was 2",
        ]
    )


def test_a_broken_lock_file_ends_the_session_with_one_line(write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.lock": LOCK + "<<<<<<< HEAD\n", "recipes/a.yaml": UNCLAIMED})
    result = run(pytester)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: gbs: gbs.lock:3: a merge conflict*"])


class TestChangedSince:
    """`--gbs-changed-since`: only what changed, and what rests on it."""

    @pytest.fixture(autouse=True)
    def git(self, write: Write) -> Git:
        git = Git(write({"recipes/a.yaml": VIOLATED, "recipes/b.yaml": VERIFIED, "recipes/c.yaml": UNDETERMINED})).init()
        git.commit()
        return git

    def test_nothing_changed_is_not_a_failure(self, pytester: pytest.Pytester) -> None:
        result = run(pytester, "--gbs-changed-since", "HEAD")
        assert result.ret == pytest.ExitCode.OK
        result.assert_outcomes()

    def test_a_changed_recipe_has_items_and_no_other(self, git: Git, pytester: pytest.Pytester) -> None:
        git.write({"recipes/b.yaml": VERIFIED + "logging_steps: 5\n"})
        result = run(pytester, "--gbs-changed-since", "HEAD", "-v")
        assert result.ret == pytest.ExitCode.OK
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["recipes/b.yaml::GBS101 PASSED*"])

    def test_a_revision_that_is_not_there_ends_the_session_with_one_line(self, pytester: pytest.Pytester) -> None:
        result = run(pytester, "--gbs-changed-since", "nope")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["ERROR: gbs: no commit 'nope' in this repository; git fetch may bring it"])


def test_the_lock_of_these_tests_is_one() -> None:
    from pytest_gbs.model.location import Source

    assert list(read_lock(Source("gbs.lock", LOCK))) == ["recipes/a.yaml"]
