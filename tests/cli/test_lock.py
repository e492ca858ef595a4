"""`gbs lock` writes what recipes are, and `gbs check` holds them to it."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.support import GOOD, LAUNCHER, OPEN, UNCLAIMED, Gbs, write

RUN = "accelerate launch --num_processes 8 --num_machines 1 train.py {}\n"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def verdicts(gbs: Gbs, *arguments: str) -> dict[str, str]:
    found = json.loads(gbs("check", "--format", "json", *arguments).out)
    return {file["path"]: file["verdict"] for file in found["files"] if file["role"] == "recipe"}


def test_every_recipe_and_launch_has_a_sorted_line(repo: Path, gbs: Gbs) -> None:
    write(repo, {"b.yaml": GOOD, "a.yaml": UNCLAIMED, "run.sh": RUN.format("b.yaml"), "train.py": ""})
    said = gbs("lock")
    assert (said.code, said.err) == (0, "")
    assert (repo / "gbs.lock").read_text(encoding="utf-8").splitlines()[2:] == [
        '"a.yaml" = { unit = "samples", per_gpu = 8, micro_batch_size = 4, gradient_accumulation_steps = 2 }',
        '"b.yaml" = { global_batch_size = 128, unit = "samples", per_gpu = 8, micro_batch_size = 4, gradient_accumulation_steps = 2, '
        "num_nodes = 2, gpus_per_node = 8, claim = 128 }",
        '"b.yaml @ run.sh" = { global_batch_size = 64, unit = "samples", per_gpu = 8, micro_batch_size = 4, '
        "gradient_accumulation_steps = 2, num_nodes = 1, gpus_per_node = 8 }",
    ]
    assert said.out.splitlines()[-1] == "gbs.lock written: 2 recipes and 1 launch"


def test_launches_without_a_recipe_are_counted_as_launches(repo: Path, gbs: Gbs) -> None:
    write(repo, {"run.sh": "torchrun --nproc_per_node 8 run_clm.py --output_dir x --per_device_train_batch_size 4\n"})
    assert gbs("check").out.startswith("1 launch in 1 file, no recipe\n")
    assert gbs("lock").out.splitlines() == ["new      run.sh: 32 samples", "gbs.lock written: 1 launch"]


def test_the_first_lock_of_many_recipes_is_one_line(repo: Path, gbs: Gbs) -> None:
    write(repo, {f"{number}.yaml": UNCLAIMED for number in range(12)})
    assert len(gbs("lock", "--check").out.splitlines()) == 13
    write(repo, {"12.yaml": UNCLAIMED})
    assert gbs("lock").out == "gbs.lock written: 13 recipes\n"
    write(repo, {"13.yaml": UNCLAIMED})
    assert gbs("lock").out == "new      13.yaml: 8 samples per GPU\ngbs.lock written: 14 recipes\n"


def test_a_change_of_a_recipe_is_one_finding_however_often_it_is_launched(repo: Path, gbs: Gbs) -> None:
    launches = {"run.sh": RUN.format("a.yaml"), "README.md": f"```sh\n{RUN.format('a.yaml')}```\n", "train.py": ""}
    write(repo, {"a.yaml": UNCLAIMED, **launches})
    gbs("lock")
    edit(repo / "a.yaml", "per_device_train_batch_size: 4", "per_device_train_batch_size: 3")
    said = gbs("check", "--format", "concise")
    assert said.out.splitlines()[:1] == [
        "a.yaml:4:30: GBS503 global batch size is 6 samples per GPU, but gbs.lock has 8 samples per GPU: micro batch size 3, was 4"
    ]
    assert said.out.count("GBS503") == 1
    edit(repo / "run.sh", "num_processes 8", "num_processes 16")
    assert gbs("check", "--format", "concise").out.count("GBS503") == 2


def test_nothing_moves_a_second_time(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNCLAIMED, "b.yaml": GOOD})
    gbs("lock")
    before = (repo / "gbs.lock").stat()
    assert gbs("lock", "--check") == (0, "gbs.lock is up to date: 2 recipes\n", "")
    assert gbs("lock").code == 0
    assert (repo / "gbs.lock").stat().st_mtime_ns == before.st_mtime_ns
    assert [path.name for path in repo.iterdir() if "tmp" in path.name] == []


def test_a_line_that_holds_makes_a_recipe_verified(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNCLAIMED})
    assert verdicts(gbs) == {"a.yaml": "unclaimed"}
    gbs("lock")
    assert verdicts(gbs) == {"a.yaml": "verified"}
    assert verdicts(gbs, "--world-size", "64") == {"a.yaml": "verified"}


def test_a_recipe_that_is_new_or_gone_is_not_a_finding(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNCLAIMED, "b.yaml": UNCLAIMED})
    gbs("lock")
    (repo / "a.yaml").rename(repo / "c.yaml")
    assert gbs("check").code == 0
    assert verdicts(gbs) == {"b.yaml": "verified", "c.yaml": "unclaimed"}
    said = gbs("lock", "--check")
    assert said.code == 1
    assert said.out.splitlines() == [
        "gone     a.yaml: 8 samples per GPU",
        "new      c.yaml: 8 samples per GPU",
        "gbs.lock would change: 2 recipes; if that is intended, run gbs lock and commit it",
    ]
    assert '"c.yaml"' not in (repo / "gbs.lock").read_text(encoding="utf-8")


def test_a_batch_of_other_operands_is_not_a_finding(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": GOOD})
    gbs("lock")
    edit(repo / "a.yaml", "2 nodes", "4 nodes")
    edit(repo / "a.yaml", "gradient_accumulation_steps: 2", "gradient_accumulation_steps: 1")
    assert gbs("check").code == 0
    said = gbs("lock", "--check")
    assert (said.code, said.out.splitlines()[0]) == (1, "same     a.yaml: 128 samples (accumulation 2 to 1, nodes 2 to 4)")


def test_a_batch_that_moved_fails_with_its_operand_until_it_is_written_down(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNCLAIMED})
    gbs("lock")
    edit(repo / "a.yaml", "per_device_train_batch_size: 4", "per_device_train_batch_size: 16")
    said = gbs("check", "--format", "concise")
    assert said.code == 1
    assert said.out == (
        "a.yaml:4:30: GBS503 global batch size is 32 samples per GPU, but gbs.lock has 8 samples per GPU: micro batch size 16, was 4\n"
    )
    said = gbs("lock")
    assert said.out.splitlines()[0] == "changed  a.yaml: 8 samples per GPU to 32 samples per GPU (micro batch size 4 to 16)"
    assert gbs("check").code == 0


def test_a_launcher_file_that_moves_the_batch_is_named(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": OPEN.replace("GBS 128", "this batch"), "launch/ddp.yaml": LAUNCHER.format(gpus=8)})
    gbs("lock")
    edit(repo / "launch" / "ddp.yaml", "num_processes: 8", "num_processes: 4")
    found = json.loads(gbs("check", "--format", "json").out)
    (finding,) = (finding for file in found["files"] for finding in file["findings"])
    assert finding["message"] == "global batch size is 64 samples, but gbs.lock has 128 samples: GPUs per node 4, was 8"
    assert [each["location"]["path"] for each in finding["related"]] == ["launch/ddp.yaml", "gbs.lock"]


def test_a_line_that_cannot_be_checked_is_undetermined(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": OPEN.replace("GBS 128", "this batch"), "launch/ddp.yaml": LAUNCHER.format(gpus=8)})
    gbs("lock")
    (repo / "launch" / "ddp.yaml").unlink()
    assert verdicts(gbs) == {"a.yaml": "undetermined"}
    assert gbs("check").code == 0
    assert gbs("check", "--strict").code == 1


def test_launches_of_a_script_are_locked_as_they_are_where_others_come(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNCLAIMED, "run.sh": RUN.format("a.yaml"), "train.py": ""})
    gbs("lock")
    more = RUN.replace("--num_processes 8", "--num_processes 16").format("a.yaml")
    write(repo, {"run.sh": more + RUN.format("a.yaml")})
    assert gbs("check").code == 0
    write(repo, {"run.sh": more})
    said = gbs("check", "--format", "concise")
    assert said.code == 1
    assert "gbs.lock has 64 samples: GPUs per node 16, was 8" in said.out


def test_one_path_updates_the_lines_below_it_alone(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a/x.yaml": UNCLAIMED, "b/x.yaml": UNCLAIMED})
    gbs("lock")
    for folder in ("a", "b"):
        edit(repo / folder / "x.yaml", "per_device_train_batch_size: 4", "per_device_train_batch_size: 8")
    said = gbs("lock", "a")
    assert said.out.splitlines()[0].startswith("changed  a/x.yaml: 8 ")
    assert "b/x.yaml" not in said.out
    assert verdicts(gbs) == {"a/x.yaml": "verified", "b/x.yaml": "violated"}


def test_it_is_written_at_the_root_from_any_folder(repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, {"a/x.yaml": UNCLAIMED})
    monkeypatch.chdir(repo / "a")
    assert gbs("lock").code == 0
    assert (repo / "gbs.lock").exists()
    assert '"a/x.yaml"' in (repo / "gbs.lock").read_text(encoding="utf-8")


def test_the_line_ends_of_windows_stay(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNCLAIMED})
    gbs("lock")
    path = repo / "gbs.lock"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert gbs("lock", "--check").code == 0
    edit_bytes = path.read_bytes()
    write(repo, {"b.yaml": UNCLAIMED})
    gbs("lock")
    assert path.read_bytes().startswith(edit_bytes)
    assert path.read_bytes().count(b"\r\n") == path.read_bytes().count(b"\n") == 4


class TestErrors:
    """One clear line, and exit code 2."""

    def test_a_merge_conflict(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED})
        gbs("lock")
        sound = (repo / "gbs.lock").read_text(encoding="utf-8")
        write(repo, {"gbs.lock": sound + "<<<<<<< HEAD\n"})
        line = "gbs: gbs.lock:4: a merge conflict; gbs lock rewrites the file from what the recipes say\n"
        assert gbs("check") == (2, "", line)
        assert gbs("lock", "a.yaml") == (2, "", line)
        assert gbs("show").code == 2
        assert gbs("lock").code == 0
        assert (repo / "gbs.lock").read_text(encoding="utf-8") == sound

    def test_a_file_that_is_not_text(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED})
        (repo / "gbs.lock").write_bytes(b"\xff\x00\xfe")
        said = gbs("check")
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
        assert said.err.startswith("gbs: gbs.lock: ")
        assert gbs("lock").code == 0
        assert gbs("check").code == 0

    def test_a_folder_of_that_name(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED, "gbs.lock/x": ""})
        assert gbs("check") == gbs("lock") == (2, "", "gbs: gbs.lock: a folder, not a file\n")

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
    def test_a_folder_without_permission_to_write(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED})
        repo.chmod(0o500)
        try:
            said = gbs("lock", "-q")
        finally:
            repo.chmod(0o700)
        assert (said.code, said.out) == (2, "")
        assert not (repo / "gbs.lock").exists()

    def test_hardware_of_the_command_line_is_not_written_down(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED})
        said = gbs("lock", "--world-size", "8")
        assert said.code == 2
        assert "set gpus-per-node = 8 in [tool.gbs] instead" in said.err
        assert not (repo / "gbs.lock").exists()

    def test_standard_input_is_not_written_down(self, repo: Path, gbs: Gbs) -> None:
        assert gbs("lock", "-") == (2, "", "gbs: gbs lock does not read standard input\n")


def test_a_repository_without_recipes_exits_with_3(repo: Path, gbs: Gbs) -> None:
    said = gbs("lock")
    assert (said.code, said.out) == (3, "gbs.lock was not written: there is no recipe and no launch; gbs check says where it looked\n")
    assert not (repo / "gbs.lock").exists()


def test_recipes_without_any_known_batch_are_not_locked(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED.replace("size: 4", "size: ${oc.env:BATCH}")})
    why = "of no recipe or launch even the batch of one GPU is known; gbs show says what is missing"
    assert gbs("lock").out == f"gbs.lock was not written: {why}\n"
    assert not (repo / "gbs.lock").exists()


def test_a_launch_that_only_a_document_shows_is_locked_like_others(repo: Path, gbs: Gbs) -> None:
    command = "accelerate launch --config_file acc.yaml train.py --config a.yaml"
    write(repo, {"a.yaml": UNCLAIMED, "acc.yaml": LAUNCHER.format(gpus=8), "README.md": f"```sh\n{command}\n```\n"})
    assert gbs("lock").code == 0
    assert gbs("check").code == 0
    edit(repo / "acc.yaml", "num_processes: 8", "num_processes: 4")
    said = gbs("check")
    assert said.code == 1
    assert "1 violated" in said.out
