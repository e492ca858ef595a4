"""`gbs diff` on a repository through a series of edits, and its one line where it can't."""

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_gbs.files.shipped import read_schema
from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._diff import find
from pytest_gbs.model.difference import Batch, BatchChange, Differences, Operand, Status
from tests.cli.support import GOOD, LAUNCHER, OPEN, UNCLAIMED, Gbs
from tests.git import Git

RUN = "accelerate launch --num_processes 8 --num_machines 1 train.py {}\n"


@pytest.fixture
def git(repo: Path) -> Git:
    """A repository with one recipe of a claim, one without, and a launch of it."""
    (repo / ".git").rmdir()
    git = Git(repo).init()
    git.commit({"a/sft.yaml": GOOD, "b/dpo.yaml": UNCLAIMED, "run.sh": RUN.format("b/dpo.yaml"), "train.py": ""}, "recipes")
    return git


def changes(gbs: Gbs, *arguments: str) -> list[dict[str, Any]]:
    said = gbs("diff", "--format", "json", *arguments)
    assert said.code == 0, said.err
    page = json.loads(said.out)
    jsonschema.validate(page, json.loads(read_schema("report")))
    found: list[dict[str, Any]] = page["changes"]
    return found


def reported(gbs: Gbs, *arguments: str) -> list[tuple[str, str | None, str, str, str]]:
    """Path, launch, status and batch of each change."""
    law = "law"
    return [
        (c["path"], c["launch"], c["status"], (c["before"] or {law: ""})[law], (c["after"] or {law: ""})[law])
        for c in changes(gbs, *arguments)
    ]


def edited(text: str, **keys: object) -> str:
    for key, value in keys.items():
        head, _, rest = text.partition(f"{key}: ")
        text = f"{head}{key}: {value}\n{rest.partition(chr(10))[2]}"
    return text


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"README.md": "# GBS 512\n"}, id="a document without a launch"),
        pytest.param({"a/sft.yaml": edited(GOOD, max_length=2048)}, id="another length"),
        pytest.param({"a/sft.yaml": edited(GOOD, learning_rate="1e-5")}, id="another learning rate"),
        pytest.param({"a/sft.yaml": GOOD + "# a comment\nlogging_steps: 5\n"}, id="another comment"),
        pytest.param({"new.txt": "x", "data.yaml": "a: 1\n"}, id="files that are not recipes"),
        pytest.param({"gbs.lock": "<<<<<<<\n"}, id="a broken lock file"),
    ],
)
def test_what_leaves_the_batch_alone_is_not_a_change(files: dict[str, str], git: Git, gbs: Gbs) -> None:
    git.write(files)
    assert changes(gbs, "HEAD") == []
    assert gbs("diff", "HEAD", "--fail-on", "changed") == (0, "no batch changed; 2 recipes compared, HEAD with the working tree\n", "")


def test_operands_of_a_changed_batch_are_named_with_their_lines(git: Git, gbs: Gbs) -> None:
    git.write({"a/sft.yaml": edited(GOOD, per_device_train_batch_size=16, gradient_accumulation_steps=1)})
    (change,) = changes(gbs, "HEAD")
    assert (change["path"], change["launch"], change["status"]) == ("a/sft.yaml", None, "changed")
    assert change["before"] == {
        "global_batch_size": 128,
        "law": "128",
        "unit": "samples",
        "tokens_per_step": 128 * 4096,
        "tokens_law": "524,288",
    }
    assert change["after"]["global_batch_size"] == 256
    assert change["operands"] == [
        {
            "name": "micro_batch_size",
            "key": "per_device_train_batch_size",
            "before": 4,
            "after": 16,
            "location": {"path": "a/sft.yaml", "line": 5},
        },
        {
            "name": "gradient_accumulation_steps",
            "key": "gradient_accumulation_steps",
            "before": 2,
            "after": 1,
            "location": {"path": "a/sft.yaml", "line": 6},
        },
    ]
    (rate,) = change["settings"]
    assert (rate["topic"], rate["key"], rate["before"], rate["after"], rate["same"]) == (
        "learning rate",
        "learning_rate",
        "2.0e-5",
        "2.0e-5",
        True,
    )
    assert "linear scaling would be x 2, square-root scaling x 1.41" in change["notes"][0]
    assert change["notes"][1:] == ["the comment still says 128 (GBS101)"]


def test_a_learning_rate_that_moved_along_has_no_note(git: Git, gbs: Gbs) -> None:
    text = edited(GOOD, gradient_accumulation_steps=4, learning_rate="4e-5").replace("GBS 128", "GBS 256")
    git.write({"a/sft.yaml": text})
    (change,) = changes(gbs, "HEAD")
    assert change["notes"] == []
    assert json.loads(gbs("diff", "HEAD", "--format", "json").out)["notes"] == []


def test_a_learning_rate_written_otherwise_is_the_same(git: Git, gbs: Gbs) -> None:
    git.write({"a/sft.yaml": edited(GOOD, gradient_accumulation_steps=4, learning_rate="0.00002")})
    assert changes(gbs, "HEAD")[0]["settings"][0]["same"]


def test_warmup_in_steps_counts_other_samples(git: Git, gbs: Gbs) -> None:
    git.commit({"a/sft.yaml": GOOD + "warmup_steps: 100\nwarmup_ratio: 0.1\n"})
    git.write({"a/sft.yaml": edited(GOOD, gradient_accumulation_steps=8) + "warmup_steps: 100\nwarmup_ratio: 0.1\n"})
    notes = changes(gbs, "HEAD")[0]["notes"]
    assert "warmup_steps 100 is the same number of steps, which is 4 times the samples" in notes


def test_a_change_that_cancels_out_is_the_same_batch(git: Git, gbs: Gbs) -> None:
    git.write({"b/dpo.yaml": edited(UNCLAIMED, per_device_train_batch_size=2, gradient_accumulation_steps=4)})
    assert reported(gbs, "HEAD") == [
        ("b/dpo.yaml", None, "same", "8 x GPUs", "8 x GPUs"),
        ("b/dpo.yaml", "run.sh:1", "same", "64", "64"),
    ]
    assert gbs("diff", "HEAD", "--fail-on", "changed").code == 0


def test_what_is_said_of_a_recipe_is_not_said_of_its_launches_again(git: Git, gbs: Gbs) -> None:
    git.write({"b/dpo.yaml": edited(UNCLAIMED, gradient_accumulation_steps=4)})
    recipe, launch = changes(gbs, "HEAD")
    assert (recipe["status"], launch["status"]) == ("changed", "changed")
    assert (len(recipe["notes"]), len(recipe["settings"])) == (1, 1)
    assert (launch["notes"], launch["settings"]) == ([], [])
    assert launch["operands"] == recipe["operands"]


def test_a_script_that_is_its_own_recipe_is_named_once(git: Git, gbs: Gbs) -> None:
    flags = "--model_name_or_path m --dataset_name d --per_device_train_batch_size 4 --gradient_accumulation_steps {}"
    command = "torchrun --nproc_per_node 8 --nnodes 1 trl/scripts/sft.py " + flags + "\n"
    git.commit({"alone.sh": command.format(2)})
    git.write({"alone.sh": command.format(4)})
    said = gbs("diff", "HEAD", "--", "alone.sh").out.splitlines()
    assert said[:3] == ["alone.sh:1", "  global batch size   64 → 128 samples", "  why                 accumulation 2 → 4 (line 1)"]


def test_a_launch_of_the_settings_is_named_as_they_name_it(git: Git, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = '[[launch]]\nname = "cluster"\npaths = ["**"]\nworld-size = {}\n'
    git.commit({"gbs.toml": launch.format(8)})
    git.write({"gbs.toml": launch.format(16)})
    monkeypatch.chdir(git.root / "b")
    assert ("dpo.yaml", "[cluster]", "changed", "64", "128") in reported(gbs, "HEAD")


def test_a_launch_script_moves_its_launch_alone(git: Git, gbs: Gbs) -> None:
    git.write({"run.sh": "set -e\n" + RUN.format("b/dpo.yaml --gradient_accumulation_steps 4")})
    (change,) = changes(gbs, "HEAD")
    assert (change["path"], change["launch"], change["status"]) == ("b/dpo.yaml", "run.sh:2", "changed")
    assert (change["before"]["law"], change["after"]["law"]) == ("64", "128")
    assert change["operands"][0]["location"] == {"path": "run.sh", "line": 2}


def test_a_launcher_file_moves_the_launches_that_read_it(git: Git, gbs: Gbs) -> None:
    git.commit({"ddp.yaml": LAUNCHER.format(gpus=8), "run.sh": "accelerate launch --config_file ddp.yaml train.py b/dpo.yaml\n"})
    git.write({"ddp.yaml": LAUNCHER.format(gpus=4)})
    assert ("b/dpo.yaml", "run.sh:1", "changed", "64", "32") in reported(gbs, "HEAD")


def test_a_batch_that_becomes_a_matter_of_run_time_is_not_known(git: Git, gbs: Gbs) -> None:
    git.write({"b/dpo.yaml": edited(UNCLAIMED, per_device_train_batch_size="auto")})
    assert {status for _, _, status, _, _ in reported(gbs, "HEAD")} == {"unknown"}


def test_a_share_of_each_gpu_that_moves_is_a_change_whatever_the_gpus(git: Git, gbs: Gbs) -> None:
    git.write({"a/sft.yaml": OPEN.replace("accumulation_steps: 2", "accumulation_steps: 4")})  # 4 x 2 of each GPU, then 4 x 4
    ((path, _, status, before, after),) = reported(gbs, "HEAD")
    assert (path, status, before, after) == ("a/sft.yaml", "changed", "128", "32 x GPUs per node")


def test_settings_count_on_the_side_where_they_stand(git: Git, gbs: Gbs) -> None:
    git.commit({"gbs.toml": "world-size = 8\n"})
    git.write({"gbs.toml": "world-size = 16\n"})
    assert ("b/dpo.yaml", None, "changed", "64", "128") in reported(gbs, "HEAD")
    assert ("b/dpo.yaml", None, "same", "8 x GPUs", "64") in reported(gbs, "HEAD~1", "HEAD")


class TestRenames:
    """A recipe is followed to where it went."""

    def test_a_rename_alone_is_reported_once(self, git: Git, gbs: Gbs) -> None:
        git.run("mv", "a", "c")
        assert [(c["path"], c["renamed_from"], c["status"]) for c in changes(gbs, "HEAD")] == [("c/sft.yaml", "a/sft.yaml", "renamed")]

    def test_a_rename_with_an_edit_is_a_change(self, git: Git, gbs: Gbs) -> None:
        git.run("mv", "a/sft.yaml", "a/long.yaml")
        git.write({"a/long.yaml": edited(GOOD, gradient_accumulation_steps=4)})
        (change,) = changes(gbs, "HEAD")
        assert (change["renamed_from"], change["status"], change["before"]["law"], change["after"]["law"]) == (
            "a/sft.yaml",
            "changed",
            "128",
            "256",
        )

    def test_a_launch_follows_its_recipe_and_its_script(self, git: Git, gbs: Gbs) -> None:
        head = "set -e\nexport A=1\n"
        git.commit({"run.sh": head + RUN.format("b/dpo.yaml")})
        git.run("mv", "b", "c")
        git.run("mv", "run.sh", "start.sh")
        git.write({"start.sh": head + RUN.format("c/dpo.yaml --gradient_accumulation_steps 4")})
        assert ("c/dpo.yaml", "start.sh:3", "changed", "64", "128") in reported(gbs, "HEAD")

    def test_of_two_alike_the_one_of_the_same_name_is_taken(self, git: Git, gbs: Gbs) -> None:
        git.commit({"x/one.yaml": UNCLAIMED, "x/two.yaml": UNCLAIMED})
        git.run("mv", "x", "y")
        moved = {(c["path"], c["renamed_from"]) for c in changes(gbs, "HEAD")}
        assert moved == {("y/one.yaml", "x/one.yaml"), ("y/two.yaml", "x/two.yaml")}

    def test_another_recipe_is_new_and_the_old_one_gone(self, git: Git, gbs: Gbs) -> None:
        (git.root / "a" / "sft.yaml").unlink()
        git.write({"c.yaml": "".join(f"# line {n}\n" for n in range(40)) + UNCLAIMED})
        assert [(path, status) for path, _, status, _, _ in reported(gbs, "HEAD")] == [("a/sft.yaml", "removed"), ("c.yaml", "added")]


class TestSeries:
    """Commit after commit, from either end."""

    @pytest.fixture
    def series(self, git: Git) -> Git:
        git.commit({"a/sft.yaml": edited(GOOD, gradient_accumulation_steps=4)}, "twice the accumulation")
        git.run("mv", "a/sft.yaml", "a/full.yaml")
        git.commit({}, "another name")
        git.commit({"a/full.yaml": edited(GOOD, gradient_accumulation_steps=8, per_device_train_batch_size=1)}, "a smaller GPU")
        return git

    def test_each_step_shows_its_own(self, series: Git, gbs: Gbs) -> None:
        assert series.root.is_dir()
        steps = [reported(gbs, f"HEAD~{n}", f"HEAD~{n - 1}") for n in (3, 2, 1)]
        assert [[entry[2:] for entry in step] for step in steps] == [
            [("changed", "128", "256")],
            [("renamed", "256", "256")],
            [("changed", "256", "128")],
        ]

    def test_all_of_it_is_the_same_batch_of_other_operands(self, series: Git, gbs: Gbs) -> None:
        assert series.root.is_dir()
        assert reported(gbs, "HEAD~3") == reported(gbs, "HEAD~3..HEAD") == [("a/full.yaml", None, "same", "128", "128")]

    def test_backwards_it_is_the_other_way_round(self, series: Git, gbs: Gbs) -> None:
        assert series.root.is_dir()
        assert reported(gbs, "HEAD~2", "HEAD~3") == [("a/sft.yaml", None, "changed", "256", "128")]

    def test_three_dots_begin_where_a_branch_left(self, series: Git, gbs: Gbs) -> None:
        series.run("checkout", "-q", "-b", "topic", "HEAD~3")
        series.commit({"b/dpo.yaml": edited(UNCLAIMED, gradient_accumulation_steps=4)})
        assert [entry[:3] for entry in reported(gbs, "main...topic")] == [
            ("b/dpo.yaml", None, "changed"),
            ("b/dpo.yaml", "run.sh:1", "changed"),
        ]
        assert len(reported(gbs, "main..topic")) == 3

    def test_the_working_tree_is_left_alone(self, series: Git, gbs: Gbs) -> None:
        before = series.run("status", "--porcelain"), series.run("rev-parse", "HEAD")
        gbs("diff", "HEAD~3", "HEAD~1")
        assert (series.run("status", "--porcelain"), series.run("rev-parse", "HEAD")) == before


def test_paths_select_what_is_reported(git: Git, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    git.write({name: edited(text, gradient_accumulation_steps=4) for name, text in (("a/sft.yaml", GOOD), ("b/dpo.yaml", UNCLAIMED))})
    assert {path for path, *_ in reported(gbs, "HEAD", "--", "a")} == {"a/sft.yaml"}
    assert {path for path, *_ in reported(gbs, "HEAD", "--", "a/sft.yaml", "b")} == {"a/sft.yaml", "b/dpo.yaml"}
    assert reported(gbs, "HEAD", "--", "nowhere") == []
    monkeypatch.chdir(git.root / "b")
    assert {path for path, *_ in reported(gbs, "HEAD", "--", ".")} == {"dpo.yaml"}


def test_fail_on_changed_is_a_gate(git: Git, gbs: Gbs) -> None:
    git.write({"a/sft.yaml": edited(GOOD, gradient_accumulation_steps=4)})
    assert gbs("diff", "HEAD").code == 0
    assert gbs("diff", "HEAD", "--fail-on", "changed").code == 1


def test_the_text_says_all_of_it(git: Git, gbs: Gbs) -> None:
    git.run("mv", "a/sft.yaml", "a/full.yaml")
    git.write({"a/full.yaml": edited(GOOD, gradient_accumulation_steps=4)})
    assert gbs("diff", "HEAD").out == (
        "a/full.yaml   (was a/sft.yaml)\n"
        "  global batch size   128 → 256 samples\n"
        "  why                 accumulation 2 → 4 (line 6)\n"
        "  tokens per step     524,288 → 1,048,576\n"
        "  learning rate       learning_rate 2.0e-5 (same)\n"
        "  note: learning_rate is the same, 2.0e-5, for another batch: linear scaling would be x 2, square-root scaling x 1.41\n"
        "  note: the comment still says 128 (GBS101)\n"
        "\n"
        "1 changed; 2 recipes compared, HEAD with the working tree\n"
        "  a learning rate is tuned for a batch; linear and square-root scaling are rough guides only: what fits depends on optimizer, "
        "warmup, clipping, sequence length and data\n"
    )


def test_markdown_is_a_table_that_no_name_breaks_out_of(git: Git, gbs: Gbs) -> None:
    git.commit({"x|<b>`.yaml": UNCLAIMED})
    git.write({"x|<b>`.yaml": edited(UNCLAIMED, gradient_accumulation_steps=4)})
    lines = gbs("diff", "HEAD", "--format", "markdown").out.splitlines()
    assert lines[2] == "| recipe | global batch | why | tokens per step | steps per epoch | learning rate, warmup, length |"
    assert lines[4] == (
        "| x\\|&lt;b&gt;\\`.yaml | 8 x GPUs → 16 x GPUs (x 2) | accumulation 2 → 4 (line 5) | 32,768 x GPUs → 65,536 x GPUs | x 0.5 | "
        "2.0e-5 (same), linear scaling x 2, square root x 1.41 |"
    )


def test_what_changed_most_is_on_top_and_what_follows_from_it_folded_away(git: Git, gbs: Gbs) -> None:
    git.commit({"c.yaml": UNCLAIMED, "d.yaml": UNCLAIMED})
    git.write({"c.yaml": edited(UNCLAIMED, gradient_accumulation_steps=3), "d.yaml": edited(UNCLAIMED, gradient_accumulation_steps=1)})
    git.write({"a/sft.yaml": edited(edited(GOOD, gradient_accumulation_steps=4), per_device_train_batch_size=2)})
    git.write({"b/dpo.yaml": edited(UNCLAIMED, gradient_accumulation_steps=16)})
    head, *folded = gbs("diff", "HEAD", "--format", "markdown").out.split("<details>")
    assert [line.split(" | ")[0] for line in head.splitlines()[4:] if line] == ["| b/dpo.yaml", "| d.yaml", "| c.yaml"]  # x 8, x 0.5, x 1.5
    assert folded[0].startswith("<summary>2 with the same batch, or changed like their recipe</summary>\n\n| recipe ")
    assert [line.split(" | ")[0] for line in folded[0].splitlines()[4:6]] == ["| b/dpo.yaml @ run.sh:1", "| a/sft.yaml"]
    assert folded[1].startswith("<summary>4 notes</summary>\n\n- b/dpo.yaml: ")
    assert gbs("diff", "HEAD", "--format", "markdown").out.count("</details>") == 2


def test_no_change_is_one_line(git: Git, gbs: Gbs) -> None:
    said = gbs("diff", "HEAD", "--format", "markdown").out
    assert said == "**Global batch size: no batch changed; 2 recipes compared, HEAD with the working tree**\n"


@pytest.mark.parametrize("name", ["{}.yaml", "@" * 200 + "{}.yaml"], ids=["usual", "long"])
def test_a_comment_is_never_too_long_and_says_what_it_leaves_out(name: str) -> None:
    sides = Batch(128, "128", "samples"), Batch(64, "64", "samples")
    operands = (Operand("micro_batch_size", "micro batch size", 4, 2, "a.yaml", 5),)
    many = tuple(
        BatchChange(name.format(n), "", Status.CHANGED, *sides, operands, factor=1 / (n + 2), notes=("note",)) for n in range(3000)
    )
    text = find("markdown")(Differences("main", "HEAD", many, 3000), FormatOptions())
    assert 55_000 < len(text) <= 65_000
    rows = sum(line.startswith("| ") and "128 → 64" in line for line in text.splitlines())
    notes = sum(line.startswith("- ") for line in text.splitlines())
    assert rows >= 10
    assert text.count("<details>") == text.count("</details>")
    assert text.index("2999.yaml") < text.index("2998.yaml") < text.index("2997.yaml")
    assert text.endswith(f"{6000 - rows - notes:,} rows left out, since a comment may not be longer: `gbs diff` has them all.\n")


def test_names_that_are_not_utf_8_are_written_out(git: Git, gbs: Gbs) -> None:
    name = os.fsdecode(b"caf\xe9\x1b[31m.yaml")
    try:
        git.commit({name: UNCLAIMED})
    except OSError:
        pytest.skip("this file system takes no such name")
    git.write({name: edited(UNCLAIMED, gradient_accumulation_steps=4)})
    assert "caf\\udce9\\x1b[31m.yaml\n" in gbs("diff", "HEAD").out
    assert changes(gbs, "HEAD")[0]["path"] == name
    assert gbs("lock").code == 0
    assert gbs("check").code == 0


def test_binary_and_deleted_files_are_not_recipes(git: Git, gbs: Gbs) -> None:
    (git.root / "a" / "sft.yaml").write_bytes(b"\x00\x01\x02")
    (git.root / "b" / "dpo.yaml").unlink()
    assert {(path, status) for path, _, status, _, _ in reported(gbs, "HEAD")} == {("a/sft.yaml", "removed"), ("b/dpo.yaml", "removed")}


class TestErrors:
    """One clear line, and exit code 2."""

    @pytest.mark.parametrize(
        ("arguments", "line"),
        [
            ((), "one git revision to compare the working tree with, or two"),
            (("HEAD", "HEAD", "HEAD"), "one git revision to compare the working tree with, or two"),
            (("nope",), "no commit 'nope' in this repository; git fetch may bring it"),
            (("HEAD", "nope"), "no commit 'nope' in this repository"),
            (("nope...HEAD",), "no commit 'nope' in this repository"),
            (("HEAD", "--format", "sarif"), "gbs diff has no format 'sarif'; its formats are json, markdown, text"),
            (("-",), "gbs diff does not read standard input"),
        ],
    )
    def test_a_call_that_makes_no_sense(self, arguments: tuple[str, ...], line: str, git: Git, gbs: Gbs) -> None:
        said = gbs("diff", *arguments)
        assert git.root.is_dir()
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
        assert line in said.err

    def test_settings_that_are_broken_on_one_side(self, git: Git, gbs: Gbs) -> None:
        git.commit({"gbs.toml": "world-size = 'many'\n"})
        git.commit({"gbs.toml": "world-size = 8\n"})
        said = gbs("diff", "HEAD~1", "HEAD")
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith("gbs: the settings in gbs.toml at HEAD~1 are broken")

    def test_a_shallow_clone(self, git: Git, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
        git.commit({"b/dpo.yaml": edited(UNCLAIMED, gradient_accumulation_steps=4)})
        clone = git.root / "clone"
        git.run("clone", "-q", "--depth", "1", git.root.as_uri(), str(clone))
        monkeypatch.chdir(clone)
        said = gbs("diff", "HEAD~1")
        assert (said.code, said.out) == (2, "")
        assert "shallow: git fetch --unshallow, or fetch-depth: 0 in CI" in said.err
        assert gbs("diff", "HEAD").code == 0

    def test_no_repository_of_git(self, repo: Path, gbs: Gbs) -> None:
        said = gbs("diff", "HEAD")
        assert repo.is_dir()
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)

    def test_no_git(self, git: Git, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(git.root))
        assert gbs("diff", "HEAD") == (2, "", "gbs: git can't be run: it is not on the PATH\n")
