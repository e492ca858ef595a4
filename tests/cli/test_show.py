"""`gbs show`, end to end."""

import json
from pathlib import Path

from tests.cli.support import GOOD, LAUNCHER, UNCLAIMED, Gbs, write


def test_one_recipe_in_full(repo: Path, gbs: Gbs) -> None:
    write(repo, {"recipes/sft.yaml": GOOD})
    lines = gbs("show", "recipes").out.splitlines()
    assert lines[:6] == [
        "recipes/sft.yaml   TRL (SFT)",
        "  global batch size        128   = 4 x 2 x 16                        declared 128 at line 1: agrees",
        "  micro batch size           4   per_device_train_batch_size, line 5",
        "  accumulation               2   gradient_accumulation_steps, line 6",
        "  data-parallel size        16   = 16 GPUs",
        "  GPUs                      16   = 2 nodes (line 1) x 8 (line 1)",
    ]
    assert "  tokens per step      524,288   at most: 128 x max_length 4,096 (line 4)" in lines
    assert "  runs on               any number of GPUs; 128 only on 16" in lines


def test_two_recipes_are_a_table_and_verbosely_two_blocks(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": GOOD, "b.yaml": UNCLAIMED})
    rows = gbs("show").out.splitlines()
    assert [row.split()[0] for row in rows] == ["global", "128", "8"]
    assert gbs("show", "-v").out.count("  global batch size") == 2


def test_a_launch_has_the_verdict_of_what_was_found_about_it(repo: Path, gbs: Gbs) -> None:
    command = "accelerate launch --num_processes {} --num_machines 1 train.py a.yaml\n"
    write(repo, {"a.yaml": GOOD, "b.yaml": GOOD, "run.sh": command.format(16) + command.format(8), "train.py": ""})
    verdicts = [next((word for word in ("verified", "violated") if word in row), "") for row in gbs("show").out.splitlines()]
    assert verdicts == ["", "violated", "", "violated", "verified"]  # a.yaml, its two launches, b.yaml


def test_launches_that_are_recipes_have_the_verdict_of_their_script_and_those_that_look_alike_one_row(repo: Path, gbs: Gbs) -> None:
    words = "--num-layers 2 --hidden-size 8 --micro-batch-size 2 --global-batch-size"
    command = f"torchrun --nproc-per-node 8 pretrain_gpt.py {words} {{}} $MORE\n"
    branch = 'if [ "$1" ]; then MORE="--lr 1"; else MORE="--lr 2"; fi\n'
    write(repo, {"run.sh": branch + command.format(32) + command.format(64)})
    assert gbs("show").out.splitlines() == [
        "global batch  micro  accumulation  GPUs  tokens per step  verdict     framework    recipe",
        "          32      2             2     8                -  consistent  Megatron-LM  run.sh:2 (torchrun)",
        "          64      2             4     8                -  consistent  Megatron-LM  run.sh:3 (torchrun)",
    ]


def test_a_launch_context_of_the_settings_is_an_entry(repo: Path, gbs: Gbs) -> None:
    settings = "[[launch]]\npaths = ['**']\nname = 'small'\nnodes = 1\ngpus-per-node = 4\n"
    write(repo, {"sft.yaml": GOOD, "gbs.toml": settings})
    entries = json.loads(gbs("show", "--format", "json", "sft.yaml").out)["recipes"]
    assert [(entry["launch"] or {}).get("command") for entry in entries] == [None, "small"]
    assert [entry["quantities"]["global_batch_size"]["value"] for entry in entries] == [128, 32]


def test_a_number_that_may_mean_two_things_has_no_note_about_it(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED + "# global batch size 8 with 8 GPUs\n"})
    (entry,) = json.loads(gbs("show", "--format", "json", "sft.yaml").out)["recipes"]
    size = entry["quantities"]["world_size"]
    assert (size["value"], size["origin"], size.get("note")) == (8, "comment", None)


def test_markdown_is_a_table(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": GOOD, "zero3.yaml": LAUNCHER.format(gpus=8)})
    assert gbs("show", "--format", "markdown").out.splitlines()[2].endswith("| verified | TRL (SFT) | sft.yaml |")


def test_numbers_in_names_are_shown_once(repo: Path, gbs: Gbs) -> None:
    text = "model_name_or_path: my/model\ndataset_name: my/data\nper_device_train_batch_size: 4\noutput_dir: out/sft-bs64\n"
    (repo / "sft-bs64.yaml").write_text(text, encoding="utf-8")
    shown = gbs("show", "sft-bs64.yaml").out
    (line,) = (line for line in shown.splitlines() if "name says" in line)
    assert " ".join(line.split()) == "name says 64 global batch size, the file's name and line 4"


def test_settings_that_give_nodes_and_gpus_are_named_once(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED, "gbs.toml": "num-nodes = 2\ngpus-per-node = 8\n"})
    assert "= 2 nodes x 8 (num-nodes and gpus-per-node in gbs.toml)\n" in gbs("show", "sft.yaml").out


class TestAtALine:
    """`FILE:LINE`, as tables and findings name a place."""

    LAUNCH = "accelerate launch --num_processes {} --num_machines 1 train.py {}\n"

    def test_a_launch_among_several_is_shown_in_full(self, repo: Path, gbs: Gbs) -> None:
        write(
            repo, {"a.yaml": UNCLAIMED, "train.py": "", "run.sh": self.LAUNCH.format(16, "a.yaml") + "\n" + self.LAUNCH.format(4, "a.yaml")}
        )
        for place in ("run.sh:3", "run.sh:7", "run.sh:3:12"):
            lines = gbs("show", place).out.splitlines()
            assert (lines[0], lines[1].split()[:4]) == ("run.sh:3   TRL (SFT)", ["global", "batch", "size", "32"])

    def test_a_recipe_with_what_launches_it(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED, "b.yaml": UNCLAIMED, "train.py": "", "run.sh": self.LAUNCH.format(16, "a.yaml")})
        said = gbs("show", "a.yaml:2").out
        assert "  launched by           run.sh:1 on 16 GPUs: 128" in said.splitlines()

    def test_what_a_launch_changes_of_the_batch(self, repo: Path, gbs: Gbs) -> None:
        launch = self.LAUNCH.format(8, "a.yaml").replace("\n", " --gradient_accumulation_steps 16\n")
        write(repo, {"a.yaml": UNCLAIMED, "train.py": "", "run.sh": launch})
        assert "  launched by           run.sh:1 on 8 GPUs with accumulation 16: 512" in gbs("show", "a.yaml:2").out.splitlines()

    def test_a_call_of_a_program_and_a_later_document(self, repo: Path, gbs: Gbs) -> None:
        call = 'SFTConfig(output_dir="out", per_device_train_batch_size={})\n'
        program = "from trl import SFTConfig\n" + call.format(2) + call.format(4)
        write(repo, {"train.py": program, "two.yaml": f"{UNCLAIMED}---\n{UNCLAIMED.replace('4096', '2048')}"})
        assert gbs("show", "train.py:2").out.startswith("train.py (line 2) ")
        assert gbs("show", "train.py:3").out.startswith("train.py (line 3) ")
        assert gbs("show", "two.yaml:4").out.startswith("two.yaml   ")
        assert gbs("show", "two.yaml:12").out.startswith("two.yaml (document 2) ")

    def test_other_paths_are_shown_as_ever(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED, "b.yaml": UNCLAIMED, "c.yaml": UNCLAIMED})
        rows = gbs("show", "a.yaml:1", "b.yaml").out.splitlines()[1:]
        assert [row.split()[-1] for row in rows] == ["a.yaml", "b.yaml"]

    def test_a_file_whose_name_ends_in_a_number(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"run.sh": "", "run.sh:3": "", "a.yaml": UNCLAIMED})
        assert gbs("show", "run.sh:3").err == "gbs: run.sh:3 holds no launch of a framework that gbs knows (gbs frameworks)\n"

    def test_nothing_at_the_line(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": UNCLAIMED, "train.py": "", "run.sh": "\n\n" + self.LAUNCH.format(16, "a.yaml"), "empty.sh": "true\n"})
        assert gbs("show", "run.sh:2") == (2, "", "gbs: nothing trains at run.sh:2 or above; the first is run.sh:3\n")
        assert gbs("show", "gone.sh:2") == (2, "", "gbs: no such file or folder: gone.sh:2\n")
        assert gbs("show", "empty.sh:1").code == 3
