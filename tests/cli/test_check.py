"""`gbs check`, end to end."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.support import GOOD, LAUNCHER, OPEN, STALE, UNCLAIMED, Gbs, write

WHOLE = """\
sft.yaml:1:44  error GBS101 stale-declaration
  comment says 128, but the settings give 256

      1 │ # Config for 2 nodes of 8 x H100s with GBS 128
        │              ─          ─                  ━━━ declared
      5 │ per_device_train_batch_size: 4
        │                              ─ micro
      6 │ gradient_accumulation_steps: 4
        │                              ─ accumulation

  256 = 4 micro x 4 accumulation x 16 data-parallel (2 nodes x 8 GPUs)
  fix: set gradient_accumulation_steps to 2, or set per_device_train_batch_size to 2, or change the comment to 256
  run: gbs fix sft.yaml --fix-settings, or --fix-declarations

1 recipe in 1 file: 1 violated; 1 error
"""


def test_a_finding_in_full(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": STALE})
    assert gbs("check") == (1, WHOLE, "")


def test_paths_are_relative_to_the_current_folder_and_evidence_is_not(repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, {"recipes/a/sft.yaml": OPEN.replace("128", "64"), "launchers/zero3.yaml": LAUNCHER.format(gpus=8)})
    monkeypatch.chdir(repo / "recipes")
    said = gbs("check", "a/sft.yaml")
    assert said.out.startswith("a/sft.yaml:1:31  error GBS101 stale-declaration\n")
    assert "assuming 8 GPUs per node: 1 launcher file says so (../launchers/zero3.yaml:4  num_processes: 8)" in said.out


def test_evidence_is_found_up_to_the_current_folder_where_nothing_marks_a_root(
    tmp_path: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"recipes/a/sft.yaml": OPEN, "launchers/zero3.yaml": LAUNCHER.format(gpus=8)})
    monkeypatch.chdir(tmp_path)
    assert "1 recipe in 1 file: 1 verified\n" in gbs("check", "recipes/a/sft.yaml").out


def test_paths_of_several_folders_share_their_root(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a/sft.yaml": GOOD, "b/sft.yaml": STALE, "b/gbs.toml": "", "c/sft.yaml": GOOD})
    out = gbs("check", "a", "b/sft.yaml").out
    assert "b/sft.yaml:1:44" in out
    assert "2 recipes in 2 files: 1 verified, 1 violated; 1 error\n" in out


def test_a_folder_that_is_a_link_is_followed_when_it_is_named(repo: Path, gbs: Gbs) -> None:
    write(repo, {"real/sft.yaml": GOOD})
    (repo / "link").symlink_to(repo / "real", target_is_directory=True)
    assert gbs("check", "link").out.startswith("1 recipe in 1 file: 1 verified\n")


def test_hardware_of_the_command_line_fills_what_is_open(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": OPEN})
    assert "1 undetermined" in gbs("check").out
    assert "1 verified" in gbs("check", "--gpus-per-node", "8").out


def test_hardware_can_come_from_a_launcher_file(repo: Path, gbs: Gbs, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("elsewhere")
    write(outside, {"zero3.yaml": LAUNCHER.format(gpus=8)})
    write(repo, {"sft.yaml": UNCLAIMED})
    entry = json.loads(gbs("show", "--format", "json", "--launch", str(outside / "zero3.yaml"), "sft.yaml").out)["recipes"][0]
    assert entry["quantities"]["global_batch_size"]["value"] == 64


def test_standard_input_is_checked_under_its_name(repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, {"recipes/sft.yaml": GOOD})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STALE.encode()), encoding="utf-8"))
    said = gbs("check", "-", "--stdin-filename", "recipes/sft.yaml", "--format", "concise")
    assert (said.code, said.out) == (1, "recipes/sft.yaml:1:44: GBS101 comment says 128, but the settings give 256\n")


def test_standard_input_that_is_not_text_is_one_line(repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a: \xe9\n"), encoding="utf-8"))
    said = gbs("check", "-")
    assert (said.code, said.out, said.err.startswith("gbs: standard input: not UTF-8 at byte 3")) == (2, "", True)


def test_strict_shows_what_is_open_as_an_error(repo: Path, gbs: Gbs) -> None:
    write(repo, {"open.yaml": OPEN, "unclaimed.yaml": UNCLAIMED})
    assert [line.split(":")[0] for line in gbs("check", "--strict", "--format", "concise").out.splitlines()] == ["open.yaml"]
    out = gbs("check", "--strict=all", "--format", "concise").out
    assert out == (
        "open.yaml:1:31: GBS101 can't be decided: comment says 128: true with 8 GPUs per node\n"
        "unclaimed.yaml:1:1: GBS105 the recipe does not state its global batch size, and --strict=all requires it\n"
    )


def test_the_report_goes_to_a_file(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": STALE})
    said = gbs("check", "--format", "json", "--output-file", "out.json")
    assert (said.code, said.out) == (1, "")
    assert json.loads((repo / "out.json").read_text(encoding="utf-8"))["summary"]["violated"] == 1


@pytest.mark.parametrize(
    ("environment", "flags", "painted"),
    [
        pytest.param("", "", False, id="a pipe"),
        pytest.param("FORCE_COLOR", "", True, id="forced"),
        pytest.param("FORCE_COLOR NO_COLOR", "", False, id="both"),
        pytest.param("NO_COLOR", "--color=always", True, id="the flag wins"),
        pytest.param("FORCE_COLOR", "--color=never", False, id="the other flag wins"),
    ],
)
@pytest.mark.usefixtures("repo")
def test_colours(environment: str, flags: str, painted: bool, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(Path(), {"sft.yaml": STALE})
    for name in environment.split():
        monkeypatch.setenv(name, "1")
    assert ("\x1b[" in gbs("check", *flags.split()).out) is painted


def test_show_files_lists_what_would_be_read(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a/sft.yaml": GOOD, "b/sft.yaml": GOOD, "README.md": ""})
    assert gbs("check", "--show-files", "--exclude", "b").out == "a/sft.yaml\n"


def test_show_settings_shows_what_is_in_force(repo: Path, gbs: Gbs) -> None:
    write(repo, {"gbs.toml": "strict = true\n"})
    out = gbs("check", "--show-settings", "--ignore", "stale-declaration").out
    assert "strict = True\n" in out
    assert "ignore = ('GBS101',)\n" in out


def test_a_folder_without_a_configuration_is_not_a_usage_error(repo: Path, gbs: Gbs) -> None:
    (repo / "empty").mkdir()
    assert gbs("check", "empty").code == 3


class TestHook:
    """What pre-commit calls: changed files only, and what rests on them."""

    def test_a_file_that_is_nothing_to_us_is_silent(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"ci.yaml": "on: push\n", "sft.yaml": STALE})
        assert gbs("check", "--hook", "ci.yaml") == (0, "", "")

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("chart/deploy.yaml", "spec:\n  replicas: {{ .Values.n }}\n  {{- if .Values.x }}\n  x: 1\n  {{- end }}\n"),
            ("tests/data/broken.json", '{"a": [1, '),
            ("old.py", "print 'python 2'\n"),
            ("newer.py", "except\nbatch_size = 8\n"),  # as a version of Python may read that is newer than this one
        ],
    )
    @pytest.mark.parametrize("command", ["check", "fix"])
    def test_a_file_that_can_not_be_read_and_holds_no_recipe_is_not_complained_of(
        self, name: str, text: str, command: str, repo: Path, gbs: Gbs
    ) -> None:
        """Nobody named it: it is among what changed."""
        write(repo, {name: text, "sft.yaml": GOOD})
        assert gbs(command, "--hook", name).code == 0
        assert gbs(command, name).code == 1

    def test_a_recipe_that_can_not_be_read_is_complained_of(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD + "report_to: [wandb\n"})
        said = gbs("check", "--hook", "--format", "concise", "sft.yaml")
        assert (said.code, "GBS001" in said.out) == (1, True)

    def test_an_excluded_file_is_silent_although_it_is_named(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"old/sft.yaml": STALE, "gbs.toml": "exclude = ['old']\n"})
        assert gbs("check", "--hook", "old/sft.yaml") == (0, "", "")

    def test_a_changed_recipe_is_checked_alone(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"good.yaml": GOOD, "stale.yaml": STALE})
        assert gbs("check", "--hook", "good.yaml").code == 0

    def test_a_changed_launcher_file_brings_the_recipes_that_rest_on_it(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"recipes/sft.yaml": OPEN, "recipes/zero3.yaml": LAUNCHER.format(gpus=4), "other/stale.yaml": STALE})
        said = gbs("check", "--hook", "--format", "concise", "recipes/zero3.yaml")
        assert (said.code, said.out) == (1, "recipes/sft.yaml:1:31: GBS101 comment says 128, but the settings give 64\n")

    @pytest.mark.parametrize("name", ["run.sh", "README.md", "Makefile"])
    def test_a_script_that_launches_nothing_unseen_is_silent(self, name: str, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": STALE, name: "0123 abcd\n" * 200_000})
        assert gbs("check", "--hook", name) == (0, "", "")

    @pytest.mark.parametrize("name", ["run.sh", "Makefile", "job.slurm"])
    def test_a_script_that_can_not_be_read_is_reported_with_the_recipes_that_it_may_launch(self, name: str, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD, name: "\0\ttorchrun train.py --config sft.yaml --gradient_accumulation_steps 8\n"})
        said = gbs("check", "--hook", name)
        assert said.code == 0
        assert f"{name}:1:1  warning GBS007 unread-script" in said.out
        assert f"undetermined: sft.yaml:1:44  {name} may launch it with another batch" in said.out
        assert gbs("check", "--hook", "--strict", name).code == 1
        assert gbs("check", "--require-verified", "1").code == 1

    def test_a_document_that_can_not_be_read_is_reported(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD, "README.md": "\0"})
        said = gbs("check", "--hook", "--format", "concise", "README.md")
        assert said[:2] == (0, "README.md:1:1: GBS007 not read: not text: NUL at byte 0; its launches are not checked\n")

    def test_changed_settings_bring_all(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"recipes/sft.yaml": OPEN, "gbs.toml": "gpus-per-node = 4\n"})
        assert gbs("check", "--hook", "gbs.toml").code == 1


@pytest.mark.usefixtures("repo")
def test_a_name_for_standard_input_that_is_not_read_is_refused(gbs: Gbs) -> None:
    said = gbs("check", "--stdin-filename", "sft.yaml")
    assert (said.code, said.out) == (2, "")
    assert "read only if - is among the paths" in said.err
