"""`gbs scale`, end to end: recipes and scripts on disk, and what people read."""

import json
import subprocess
from pathlib import Path

import pytest

from pytest_gbs.cli import main
from tests.cli.support import GOOD, LAUNCHER, OPEN, STALE, UNCLAIMED, Gbs, write

SCRIPT = """\
#!/bin/bash
# 8 GPUs, global batch size 128
NPROC=8
accelerate launch --num_processes $NPROC train.py --config sft.yaml --gradient_accumulation_steps 4
"""
SLURM = """\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:8
srun torchrun --nnodes 2 --nproc_per_node 8 train.py --config sft.yaml --gradient_accumulation_steps 2
"""


def _read(path: Path) -> str:
    return path.read_bytes().decode()


# Odd indentation, numbers and characters written in two ways, outputs that quote the source, no newline at the end.
NOTEBOOK = """{
   "cells": [
\t{"cell_type": "markdown", "metadata": {}, "source": ["# Gr\u00f6\u00dfe \\u00e9\\n"]},
      {"cell_type": "code", "execution_count": 3, "metadata": {"x":  1.50, "y":1e3},
       "outputs": [ {"name": "stdout", "output_type": "stream", "text": ["  gradient_accumulation_steps = 8 \\u2192 na\u00efve\\n"]} ],
       "source": ["from trl import SFTConfig, SFTTrainer\\n",
 "gr\u00f6\u00dfe = \\"\u00e9\\\\t\\u00fc\\"\\n",
 "args = SFTConfig(gr\u00f6\u00dfe, per_device_train_batch_size=4,  gradient_accumulation_steps = 8)  # 4 x 8 x 2 = 64\\n"]},
 {"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],
  "source":"SFTConfig(per_device_train_batch_size=2, gradient_accumulation_steps=12)"}
   ],  "nbformat": 4,
 "nbformat_minor": 5 , "metadata": {}}"""


class TestRecipes:
    """A recipe by itself."""

    def test_the_way_back_can_be_pasted_whatever_the_recipe_is_called(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a b.yaml": GOOD, "-c.yaml": GOOD, "$(touch ran).yaml": GOOD})
        for name, word in (("a b.yaml", "'a b.yaml'"), ("-c.yaml", "./-c.yaml"), ("$(touch ran).yaml", "'$(touch ran).yaml'")):
            assert f"  back with: gbs scale {word} --nodes 2" in gbs("scale", "--nodes", "1", "--", name).out

    def test_settings_and_comment_follow_the_hardware(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD})
        said = gbs("scale", "sft.yaml", "--nodes", "1")
        assert said == (
            0,
            "sft.yaml: global batch size 128 samples kept on 1 node x 8 GPUs (was 2 nodes x 8 GPUs)\n"
            "  line 6    gradient_accumulation_steps: 2 -> 4\n"
            "  line 1    comment: nodes 2 -> 1\n"
            "  128 = 4 micro x 4 accumulation x 8 data-parallel\n"
            "  steps: as many as before, each of 4 passes per GPU instead of 2\n"
            "  memory: more per GPU for all that is sharded over 8 GPUs instead of 16\n"
            "  back with: gbs scale sft.yaml --nodes 2 --gpus-per-node 8\n",
            "",
        )
        assert _read(repo / "sft.yaml") == GOOD.replace("2 nodes", "1 node").replace("steps: 2", "steps: 4")
        assert gbs("check", "sft.yaml").code == 0

    @pytest.mark.parametrize("nodes", [1, 2, 4])
    def test_back_are_the_original_bytes(self, nodes: int, repo: Path, gbs: Gbs) -> None:
        original = ("\ufeff" + GOOD.replace("\n", "\r\n")).encode()
        (repo / "sft.yaml").write_bytes(original)
        assert gbs("scale", "sft.yaml", "--nodes", str(nodes)).code == 0
        assert gbs("scale", "sft.yaml", "--nodes", "2").code == 0
        assert (repo / "sft.yaml").read_bytes() == original

    @pytest.mark.parametrize("newline", ["\n", "\r\n"])
    def test_of_a_notebook_only_the_numbers_change(self, newline: str, repo: Path, gbs: Gbs) -> None:
        text = NOTEBOOK.replace("\n", newline)
        write(repo, {"a.ipynb": text})
        reported = gbs("scale", "--world-size", "4", "--from-world-size", "2", "a.ipynb").out
        assert [line.partition(":")[0] for line in reported.splitlines() if line.startswith("a.ipynb")] == [
            "a.ipynb (cell 2)",
            "a.ipynb (cell 3)",
        ]
        expected = text.replace("steps = 8)  # 4 x 8 x 2 =", "steps = 4)  # 4 x 4 x 4 =").replace("steps=12", "steps=6")
        assert _read(repo / "a.ipynb") == expected

    def test_nothing_to_change_writes_nothing(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD})
        before = (repo / "sft.yaml").stat().st_mtime_ns
        assert gbs("scale", "sft.yaml", "--nodes", "2").out.splitlines()[0].endswith(", nothing to change")
        assert (repo / "sft.yaml").stat().st_mtime_ns == before

    def test_the_patch_applies_and_nothing_is_written(self, repo: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        write(repo, {"sub/sft.yaml": GOOD})
        assert main(["scale", "sub/sft.yaml", "--nodes", "1", "--diff"]) == 0
        patch = capfdbinary.readouterr().out
        assert _read(repo / "sub/sft.yaml") == GOOD
        subprocess.run(["git", "init", "-q"], cwd=repo, check=True)
        subprocess.run(["git", "apply"], input=patch, cwd=repo, check=True)
        assert "gradient_accumulation_steps: 4\n" in _read(repo / "sub/sft.yaml")

    def test_where_no_whole_number_keeps_it(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD})
        said = gbs("scale", "sft.yaml", "--world-size", "12")
        assert said == (
            1,
            "sft.yaml: no integer accumulation keeps the batch: 128 is not a multiple of 12 on 12 GPUs\n"
            "  nearest global batch sizes on 12 GPUs: 120 and 132\n"
            "  nearest numbers of GPUs that keep it: 4, 8, 16 and 32\n",
            "",
        )
        assert _read(repo / "sft.yaml") == GOOD

    def test_a_comment_that_leaves_the_gpus_to_other_files_can_not_say_others(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": OPEN, "zero3.yaml": LAUNCHER.format(gpus=8)})
        said = gbs("scale", "sft.yaml", "--nodes", "2", "--gpus-per-node", "4")
        assert said.code == 1
        assert said.out.startswith("sft.yaml: its comment does not state the GPUs per node (8 GPUs per node: ")
        assert said.out.endswith(': add "8 GPUs per node" to it first\n')
        assert gbs("scale", "sft.yaml", "--nodes", "4").code == 0
        assert gbs("check", "sft.yaml").code == 0

    def test_a_false_claim_is_fixed_first(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": STALE})
        said = gbs("scale", "sft.yaml", "--nodes", "1")
        assert (said.code, said.out) == (1, "sft.yaml: comment says 128, but the settings give 256: fix that first (gbs check)\n")

    def test_hardware_that_is_not_stated_is_asked_for(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": UNCLAIMED})
        said = gbs("scale", "sft.yaml", "--world-size", "16")
        assert said.code == 1
        assert said.out.startswith("sft.yaml: its current GPU count is unknown: give --from-world-size N")
        assert gbs("scale", "sft.yaml", "--from-world-size", "32", "--world-size", "16").code == 0
        assert "gradient_accumulation_steps: 4\n" in _read(repo / "sft.yaml")
        assert gbs("scale", "sft.yaml", "--from-world-size", "16", "--world-size", "32").code == 0
        assert _read(repo / "sft.yaml") == UNCLAIMED

    def test_several_are_written_together_or_not_at_all(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": GOOD, "b.yaml": UNCLAIMED})
        said = gbs("scale", ".", "--nodes", "1")
        assert (said.code, said.err) == (1, "gbs: 1 of 2 can't be scaled: nothing was written\n")
        assert _read(repo / "a.yaml") == GOOD
        write(repo, {"b.yaml": GOOD})
        assert gbs("scale", ".", "--nodes", "1").code == 0
        assert _read(repo / "a.yaml") == _read(repo / "b.yaml") != GOOD

    def test_each_document_of_a_file_by_itself(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": f"{GOOD}---\n{GOOD}"})
        assert gbs("scale", "sft.yaml", "--nodes", "4").code == 0
        changed = GOOD.replace("2 nodes", "4 nodes").replace("accumulation_steps: 2", "accumulation_steps: 1")
        assert _read(repo / "sft.yaml") == f"{changed}---\n{changed}"

    def test_json(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD, "open.yaml": UNCLAIMED})
        entry = json.loads(gbs("scale", "sft.yaml", "--nodes", "4", "--format", "json").out)["results"][0]
        assert (entry["status"], entry["global_batch_size"], entry["after"]["world_size"]) == ("scaled", 128, 32)
        assert entry["changes"][0] == {
            "size": "gradient_accumulation_steps",
            "what": "setting",
            "key": "gradient_accumulation_steps",
            "old": 2,
            "new": 1,
            "path": "sft.yaml",
            "line": 6,
        }
        entry = json.loads(gbs("scale", "open.yaml", "--nodes", "4", "--format", "json").out)["results"][0]
        assert (entry["status"], entry["near"]["world_sizes"]) == ("stuck", [])

    def test_markdown(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD})
        row = gbs("scale", "sft.yaml", "--nodes", "1", "--format", "markdown").out.splitlines()[2]
        assert row.startswith(
            "| sft.yaml | 128 (same) | 2 nodes x 8 GPUs -&gt; 1 node x 8 GPUs | gradient\\_accumulation\\_steps: 2 -&gt; 4"
        )

    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            pytest.param("sft.yaml", "gbs scale needs the hardware to go to", id="no hardware"),
            pytest.param("--nodes 2", "gbs scale takes recipes", id="no path"),
            pytest.param("- --nodes 2", "gbs scale takes recipes", id="standard input"),
            pytest.param("notes.yaml --nodes 2", "no recipe in notes.yaml that gbs knows", id="no recipe"),
            pytest.param("sft.yaml --nodes 2 --gpus-per-node 8 --world-size 8", "is 16 GPUs, but --world-size is 8", id="contradiction"),
            pytest.param(
                "sft.yaml --nodes 2 --from-nodes 3 --from-world-size 8",
                "--from-world-size 8 is not a multiple of --from-nodes 3",
                id="from",
            ),
        ],
    )
    def test_a_wrong_call_is_one_clear_line(self, flags: str, words: str, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": GOOD, "notes.yaml": "a: 1\n"})
        said = gbs("scale", *flags.split())
        assert said.code == 2
        assert words in said.err
        assert len(said.err.splitlines()) == 1
        assert _read(repo / "sft.yaml") == GOOD


class TestScripts:
    """Scripts that launch a recipe and hold the sizes."""

    def test_processes_accumulation_and_comment(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": UNCLAIMED, "run.sh": SCRIPT})
        said = gbs("scale", "run.sh", "--world-size", "16")
        assert (said.code, said.err) == (0, "")
        expected = SCRIPT.replace("# 8 GPUs", "# 16 GPUs").replace("NPROC=8", "NPROC=16").replace("steps 4", "steps 2")
        assert _read(repo / "run.sh") == expected
        assert gbs("scale", "run.sh", "--world-size", "8").code == 0
        assert _read(repo / "run.sh") == SCRIPT

    def test_options_of_the_job(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"sft.yaml": UNCLAIMED, "job.slurm": SLURM})
        assert gbs("scale", "job.slurm", "--nodes", "4").code == 0
        expected = SLURM.replace("--nodes=2", "--nodes=4").replace("--nnodes 2", "--nnodes 4").replace("steps 2", "steps 1")
        assert _read(repo / "job.slurm") == expected

    def test_a_recipe_that_nothing_else_launches_is_changed_with_it(self, repo: Path, gbs: Gbs) -> None:
        script = "accelerate launch --num_processes 8 train.py --config sft.yaml\n"
        write(repo, {"sft.yaml": UNCLAIMED, "run.sh": script})
        assert gbs("scale", "run.sh", "--world-size", "4").code == 0
        assert _read(repo / "run.sh") == script.replace("8", "4")
        assert _read(repo / "sft.yaml") == UNCLAIMED.replace("accumulation_steps: 2", "accumulation_steps: 4")

    def test_what_is_in_a_shared_recipe_is_not_touched(self, repo: Path, gbs: Gbs) -> None:
        script = "accelerate launch --num_processes 8 train.py --config sft.yaml\n"
        write(repo, {"sft.yaml": UNCLAIMED, "run.sh": script, "other.sh": script})
        said = gbs("scale", "run.sh", "--world-size", "4")
        assert said.code == 1
        assert "accumulation 4 would keep the batch" in said.out
        assert (_read(repo / "run.sh"), _read(repo / "sft.yaml")) == (script, UNCLAIMED)

    def test_a_launcher_file_is_not_touched(self, repo: Path, gbs: Gbs) -> None:
        launcher = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 8\n"
        script = "accelerate launch --config_file zero3.yaml train.py --config sft.yaml --gradient_accumulation_steps 4\n"
        write(repo, {"sft.yaml": UNCLAIMED, "zero3.yaml": launcher, "run.sh": script})
        said = gbs("scale", "run.sh", "--world-size", "4")
        assert said.code == 1
        assert "is set in zero3.yaml, which other recipes may share" in said.out

    def test_several_launches_are_left_alone(self, repo: Path, gbs: Gbs) -> None:
        script = SCRIPT + "accelerate launch --num_processes $NPROC train.py --config other.yaml\n"
        write(repo, {"sft.yaml": UNCLAIMED, "other.yaml": UNCLAIMED, "run.sh": script})
        said = gbs("scale", "run.sh", "--world-size", "4")
        assert (said.code, "it has 2 launches of recipes" in said.out) == (1, True)

    def test_launches_of_a_recipe_that_give_another_batch_then_are_reported(self, repo: Path, gbs: Gbs) -> None:
        script = "accelerate launch --num_processes 16 train.py --config sft.yaml\n"
        write(repo, {"sft.yaml": GOOD, "run.sh": script})
        assert "note: run.sh launches it with 256 then\n" in gbs("scale", "sft.yaml", "--nodes", "1").out


PROCESSES = "accelerate launch --num_machines $NODES --num_processes $((NODES * GPUS)) train.py --config sft.yaml\n"


def test_processes_that_follow_from_the_nodes_are_left_as_they_are(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED, "run.sh": f"NODES=1\nGPUS=8\n{PROCESSES}"})
    assert gbs("scale", "run.sh", "--nodes", "2").code == 0
    assert (repo / "run.sh").read_text() == f"NODES=2\nGPUS=8\n{PROCESSES}"
    assert "gradient_accumulation_steps: 1\n" in (repo / "sft.yaml").read_text()


def test_gpus_that_follow_from_nothing_that_changes_are_refused(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED, "run.sh": f"NODES=2\nGPUS=8\n{PROCESSES}"})
    said = gbs("scale", "run.sh", "--nodes", "2", "--gpus-per-node", "4")
    assert (said.code, said.out) == (1, "run.sh: 8 GPUs per node are worked out in run.sh: change them there first\n")
    assert (repo / "run.sh").read_text() == f"NODES=2\nGPUS=8\n{PROCESSES}"
