"""`--changed-since`: the files that changed, and every recipe that rests on one of them."""

import json
from pathlib import Path

import pytest

from tests.cli.support import GOOD, LAUNCHER, OPEN, STALE, UNCLAIMED, Gbs
from tests.git import Git

PARENT = "defaults: parent.yaml\ndpo:\n  max_num_steps: 5\n"


@pytest.fixture
def git(repo: Path) -> Git:
    """A repository of stale recipes: each is a finding wherever it is looked at."""
    (repo / ".git").rmdir()
    git = Git(repo).init()
    git.commit({"a.yaml": STALE, "b.yaml": STALE, "c.yaml": UNCLAIMED}, "recipes")
    return git


def looked_at(gbs: Gbs, *arguments: str) -> list[str]:
    found = json.loads(gbs("check", "--changed-since", "HEAD", "--format", "json", *arguments).out)
    return [file["path"] for file in found["files"]]


def test_nothing_changed_is_clean(git: Git, gbs: Gbs) -> None:
    assert git.root.is_dir()
    said = gbs("check", "--changed-since", "HEAD", "-q")
    assert (said.code, said.err) == (0, "gbs: no recipe changed since HEAD\n")


def test_a_changed_recipe_is_checked_alone(git: Git, gbs: Gbs) -> None:
    git.write({"a.yaml": STALE + "logging_steps: 5\n"})
    assert looked_at(gbs) == ["a.yaml"]
    assert gbs("check", "--changed-since", "HEAD").code == 1


def test_a_new_file_counts_and_one_that_is_gone_does_not(git: Git, gbs: Gbs) -> None:
    git.write({"new.yaml": GOOD})
    (git.root / "a.yaml").unlink()
    assert looked_at(gbs) == ["new.yaml"]
    assert gbs("check", "--changed-since", "HEAD").code == 0


def test_paths_narrow_it_down(git: Git, gbs: Gbs) -> None:
    git.write({"a.yaml": STALE + "logging_steps: 5\n", "b.yaml": STALE + "logging_steps: 5\n"})
    assert looked_at(gbs, "b.yaml", "c.yaml") == ["b.yaml"]


def test_it_begins_where_the_branch_left(git: Git, gbs: Gbs) -> None:
    git.run("checkout", "-q", "-b", "topic")
    git.commit({"b.yaml": STALE + "logging_steps: 5\n"})
    git.run("checkout", "-q", "main")
    git.commit({"a.yaml": STALE + "logging_steps: 5\n"})
    git.run("checkout", "-q", "topic")
    assert looked_at(gbs, "--changed-since", "main") == ["b.yaml"]


@pytest.mark.parametrize(
    ("files", "change", "expected"),
    [
        pytest.param(
            {"run.sh": "accelerate launch --num_processes 8 train.py b.yaml\n", "train.py": ""},
            {"run.sh": "accelerate launch --num_processes 16 train.py b.yaml\n"},
            {"b.yaml", "run.sh"},
            id="a script that launches it",
        ),
        pytest.param(
            {
                "run.sh": "accelerate launch --config_file x/ddp.yaml train.py b.yaml\n",
                "train.py": "",
                "x/ddp.yaml": LAUNCHER.format(gpus=8),
            },
            {"x/ddp.yaml": LAUNCHER.format(gpus=4)},
            {"b.yaml", "run.sh", "x/ddp.yaml"},
            id="a launcher file of its launch",
        ),
        pytest.param(
            {"d.yaml": OPEN, "x/ddp.yaml": LAUNCHER.format(gpus=8)},
            {"x/ddp.yaml": LAUNCHER.format(gpus=4)},
            {"d.yaml", "x/ddp.yaml"},
            id="a launcher file that it is judged with",
        ),
        pytest.param(
            {
                "d.yaml": GOOD + "deepspeed: ds.json\n",
                "ds.json": '{"zero_optimization": {"stage": 2}, "train_micro_batch_size_per_gpu": "auto"}',
            },
            {"ds.json": '{"zero_optimization": {"stage": 3}, "train_micro_batch_size_per_gpu": "auto"}'},
            {"d.yaml", "ds.json"},
            id="a DeepSpeed file that it names",
        ),
        pytest.param({}, {"gbs.toml": "gpus-per-node = 8\n"}, {"a.yaml", "b.yaml", "c.yaml"}, id="the settings"),
    ],
)
def test_what_rests_on_a_changed_file_is_checked(
    files: dict[str, str], change: dict[str, str], expected: set[str], git: Git, gbs: Gbs
) -> None:
    git.commit(files)
    git.write(change)
    assert set(looked_at(gbs)) & {*expected, "a.yaml", "b.yaml", "c.yaml"} == expected


@pytest.mark.parametrize("start", ["\0", "mkdir -p out\n" * 2_000], ids=["wholly", "partly"])
def test_a_changed_script_that_is_not_read_is_reported_with_what_it_may_launch(start: str, git: Git, gbs: Gbs) -> None:
    launch = "torchrun --nproc_per_node 8 --nnodes 2 train.py --config d.yaml"
    git.commit({"d.yaml": GOOD, "run.sh": f"{launch}\n"})
    git.write({"run.sh": f"{start}{launch} --gradient_accumulation_steps 8\n"})
    assert looked_at(gbs) == ["d.yaml", "run.sh"]
    assert gbs("check", "--changed-since", "HEAD").code == 0
    assert gbs("check", "--changed-since", "HEAD", "--strict").code == 1


def test_a_changed_parent_checks_its_children(git: Git, gbs: Gbs) -> None:
    parent = (
        "dpo:\n  max_num_steps: 10\npolicy:\n  train_global_batch_size: 64\n  train_micro_batch_size: {}\n"
        "cluster:\n  gpus_per_node: 8\n  num_nodes: 1\n"
    )
    git.commit({"n/parent.yaml": parent.format(2), "n/child.yaml": PARENT})
    git.write({"n/parent.yaml": parent.format(4)})
    assert {"n/child.yaml", "n/parent.yaml"} <= set(looked_at(gbs))
    assert "a.yaml" not in looked_at(gbs)


def test_a_claim_that_was_checked_there_and_is_open_now_is_found(git: Git, gbs: Gbs) -> None:
    git.commit({"x/d.yaml": OPEN, "x/ddp.yaml": LAUNCHER.format(gpus=8)})
    (git.root / "x" / "ddp.yaml").unlink()
    said = gbs("check", "--changed-since", "HEAD", "--format", "concise")
    assert said.out.splitlines() == [
        "x/d.yaml:1:31: GBS107 comment says 128, which was verified at HEAD and can't be decided now: GPUs per node unknown"
    ]


class TestUndeclared:
    """GBS502, where it is selected."""

    CHANGED = UNCLAIMED.replace("gradient_accumulation_steps: 2", "gradient_accumulation_steps: 8")

    def test_it_is_off_unless_selected(self, git: Git, gbs: Gbs) -> None:
        git.write({"c.yaml": self.CHANGED})
        assert gbs("check", "--changed-since", "HEAD", "--format", "concise").out == ""

    def test_an_undeclared_change_is_found(self, git: Git, gbs: Gbs) -> None:
        git.write({"c.yaml": self.CHANGED})
        said = gbs("check", "--changed-since", "HEAD", "--format", "concise", "--extend-select", "GBS502")
        assert said.out == (
            "c.yaml:5:30: GBS502 global batch size went from 8 samples per GPU at HEAD "
            "to 32 samples per GPU, but the change is not declared\n"
        )

    def test_a_change_that_a_commit_declares_is_not(self, git: Git, gbs: Gbs) -> None:
        git.commit({"c.yaml": self.CHANGED}, "c: batch of 32 on each GPU")
        said = gbs("check", "--changed-since", "HEAD~1", "--format", "concise", "--extend-select", "GBS502")
        assert (said.code, said.out) == (0, "")


@pytest.mark.parametrize("revision", ["nope", "--all", "HEAD~5"])
def test_a_revision_that_is_not_there_is_one_line(revision: str, git: Git, gbs: Gbs) -> None:
    assert git.root.is_dir()
    said = gbs("check", f"--changed-since={revision}")
    assert (said.code, said.out) == (2, "")
    assert said.err == f"gbs: no commit {revision!r} in this repository; git fetch may bring it\n"


def test_it_goes_with_no_fix(git: Git, gbs: Gbs) -> None:
    assert git.root.is_dir()
    assert gbs("check", "--changed-since", "HEAD", "--fix").code == 2


def test_the_manual_of_a_rule_about_a_base_shows_it(gbs: Gbs) -> None:
    assert "\n  sft.yaml at the base\n    model_name_or_path: my/model\n" in gbs("rule", "GBS502").out
    assert "# sft.yaml at the base\n" in gbs("rule", "GBS502", "--format", "markdown").out
