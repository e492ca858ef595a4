"""Which file of a tree a word of a command names, and which it does not."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.launches.path_finder import PathFinder
from pytest_gbs.model.command import Command, OtherFiles, Script, Word
from pytest_gbs.model.location import Source
from pytest_gbs.shell import read_commands
from tests.cli.support import write
from tests.launches.building import batches, checked


def finder(folder: Path, files: Mapping[str, str]) -> PathFinder:
    """Finds paths in a tree that holds `files`."""
    return PathFinder(WorkTree(write(folder, files)), tuple(sorted(files)))


def last_word(path: str, text: str) -> tuple[Word, Command, Script]:
    """The last word of the last command of a script."""
    script = read_commands(Source(path, text), OtherFiles(lambda _: None, lambda _: False))
    command = script.commands[-1]
    return command.words[-1], command, script


@pytest.mark.parametrize(
    ("script", "text", "files"),
    [
        ("run.sh", "torchrun train.py --config missing.yaml\n", ["sft.yaml"]),
        ("run.sh", "torchrun train.py --config ../sft.yaml\n", ["sft.yaml"]),  # outside of the tree
        ("run.sh", "torchrun train.py --config /data/sft.yaml\n", ["data/sft.yaml", "sft.yaml"]),
        ("run.sh", "torchrun train.py --config ~/sft.yaml\n", ["sft.yaml"]),
        ("run.sh", "torchrun train.py --config $CONFIG\n", ["sft.yaml"]),
        ("run.sh", "cd $HOME\ntorchrun train.py --config sft.yaml\n", ["sft.yaml"]),
        ("a/run.sh", "torchrun train.py --config sft.yaml\n", ["b/sft.yaml"]),  # beside another script
        ("run.sh", "tune run full --config llama3/8B_full\n", ["a/llama3/8B_full.yaml", "b/llama3/8B_full.yaml"]),  # which of the two?
        ("run.sh", "tune run full --config 8B_full\n", ["recipes/8B_full.yaml"]),  # a name alone
    ],
)
def test_names_no_file(tmp_path: Path, script: str, text: str, files: list[str]) -> None:
    found = finder(tmp_path, dict.fromkeys(files, ""))
    assert found.find(*last_word(script, text)) is None


@pytest.mark.parametrize(
    ("script", "text", "files", "expected"),
    [
        ("run.sh", "torchrun train.py --config sft.yaml\n", ["sft.yaml"], "sft.yaml"),
        ("a/b/run.sh", "torchrun train.py --config c.yaml\n", ["a/b/c.yaml"], "a/b/c.yaml"),
        ("a/b/run.sh", "torchrun train.py --config c.yaml\n", ["a/b/c.yaml", "c.yaml"], "c.yaml"),  # from the root first
        ("a/run.sh", "cd conf\ntorchrun train.py --config c.yaml\n", ["a/conf/c.yaml", "c.yaml"], "a/conf/c.yaml"),
        ("a/run.sh", 'cd "$(dirname "$0")"\ntorchrun train.py --config c.yaml\n', ["a/c.yaml", "c.yaml"], "a/c.yaml"),
        ("run.sh", "tune run full --config llama3/8B_full\n", ["recipes/llama3/8B_full.yaml"], "recipes/llama3/8B_full.yaml"),
        ("run.sh", "docker run -v $(pwd):/w image torchrun train.py --config /w/sft.yaml\n", ["sft.yaml"], "sft.yaml"),
    ],
)
def test_names_a_file(tmp_path: Path, script: str, text: str, files: list[str], expected: str) -> None:
    assert finder(tmp_path, dict.fromkeys(files, "")).find(*last_word(script, text)) == expected


def test_what_a_dockerfile_copies_is_in_the_container(tmp_path: Path) -> None:
    found = finder(tmp_path, {"job/Dockerfile": "FROM x\nWORKDIR /app\nCOPY . .\n", "job/sft.yaml": ""})
    assert found.find(*last_word("job/run.sh", "torchrun train.py --config /app/sft.yaml\n")) == "job/sft.yaml"
    assert found.find(*last_word("run.sh", "torchrun train.py --config /app/sft.yaml\n")) is None  # no Dockerfile is near


def test_only_one_file_of_a_name(tmp_path: Path) -> None:
    found = finder(tmp_path, {"a/x/train.py": "", "b/x/train.py": "", "c/only.py": ""})
    assert found.only_one("x/train.py") is None
    assert found.only_one("x/train.py", "b/") == "b/x/train.py"
    assert found.only_one("ly.py") is None  # whole parts of a path only
    assert found.only_one("only.py") == "c/only.py"


@pytest.mark.parametrize(
    ("text", "further_down", "expected"),
    [
        ("python deep/er.py\n", False, None),
        ("python deep/er.py\n", True, "docs/x/deep/er.py"),
        ("python -m pack.train\n", False, "src/pack/train.py"),
        ("python -m pack\n", False, None),  # a single name may be any installed package
        ("python train.txt\n", True, None),
    ],
)
def test_the_file_of_a_program(tmp_path: Path, text: str, further_down: bool, expected: str | None) -> None:
    found = finder(tmp_path, {"docs/x/deep/er.py": "", "src/pack/train.py": "", "src/pack/__main__.py": "", "docs/train.txt": ""})
    _, command, script = last_word("docs/README.md", f"```bash\n{text}```\n")
    assert found.program(command.words[1:], command, script, further_down=further_down) == expected


def test_only_configurations_are_recipes(tmp_path: Path) -> None:
    found = finder(tmp_path, {"a/x1.yaml": "", "a/x2.yaml": "", "a/x.py": "", "b/x1.yaml": ""})
    assert found.configuration(*last_word("run.sh", "python a/x.py\n")) is None
    assert found.configuration(*last_word("run.sh", "python a/x1.yaml\n")) == "a/x1.yaml"
    assert list(found.candidates(last_word("run.sh", "python a/$NAME.yaml\n")[0])) == ["a/x1.yaml", "a/x2.yaml"]


def test_places_are_listed_whether_they_exist_or_not(tmp_path: Path) -> None:
    _, command, script = last_word("a/b/run.sh", "python x.py\n")
    assert list(finder(tmp_path, {}).places("x.py", command, script)) == ["x.py", "a/b/x.py", "a/x.py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('python "$HERE/train.py"', None),  # an unknown folder
        ('HERE="$(dirname "$0")"\npython "$HERE/test.py"', None),  # it is not there
        ('HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\npython "$HERE/train.py"', "sft/train.py"),
        ('HERE="$(dirname "$0")"\npython "${HERE}/../train.py"', "train.py"),
        ('python "$(dirname "$0")/train.py"', "sft/train.py"),
    ],
)
def test_a_program_of_the_folder_of_the_script(tmp_path: Path, text: str, expected: str | None) -> None:
    word, command, script = last_word("sft/run.sh", text)
    found = finder(tmp_path, {"train.py": "", "sft/train.py": "", "a/test.py": "", "b/test.py": ""})
    assert found.program((word,), command, script, further_down=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python /home/me/acme/examples/a/train.py", "examples/a/train.py"),
        ("python $HOME/acme/examples/a/train.py", "examples/a/train.py"),
        ("python ~/acme/examples/a/train.py", "examples/a/train.py"),
        ("python /home/me/acme/examples/b/train.py", None),
        ("python /home/me/a/train.py", None),  # one folder may agree by chance
        ("python /home/me/examples/a/train.yaml", None),
        ("python acme/examples/a/train.py", None),  # below the tree, where it is not
        ("python $PROGRAM", None),
    ],
)
def test_a_program_is_found_where_the_author_has_the_tree(tmp_path: Path, text: str, expected: str | None) -> None:
    word, command, script = last_word("run.sh", text)
    assert finder(tmp_path, {"examples/a/train.py": "", "a/train.py": ""}).program((word,), command, script, further_down=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torchrun src/own/grpo.py", "one/src/own/grpo.py"),  # Liuziyu77/Visual-RFT: src/scripts/*.sh start src/virft/src/open_r1/grpo.py
        ("torchrun ./src/own/grpo.py", "one/src/own/grpo.py"),
        ("torchrun /data/one/src/own/grpo.py", "one/src/own/grpo.py"),
        ("torchrun /src/own/grpo.py", "one/src/own/grpo.py"),
        ("torchrun src/own/sft.py", None),  # two of them
        ("torchrun own/grpo.py", None),  # one folder may agree by chance
        ("torchrun lib/src/own/grpo.py", None),
        ("torchrun ../src/own/grpo.py", None),
    ],
)
def test_a_program_is_the_only_one_that_ends_so(tmp_path: Path, text: str, expected: str | None) -> None:
    word, command, script = last_word("scripts/run.sh", text)
    files = dict.fromkeys(("one/src/own/grpo.py", "one/src/own/sft.py", "two/src/own/sft.py"), "")
    assert finder(tmp_path, files).program((word,), command, script, further_down=False) == expected


@pytest.mark.parametrize(("script", "expected"), [("two/scripts/run.sh", "two/lib/src/own/sft.py"), ("three/run.sh", None)])
def test_of_several_programs_it_is_the_one_near_the_script(tmp_path: Path, script: str, expected: str | None) -> None:
    word, command, read = last_word(script, "torchrun src/own/sft.py")
    files = dict.fromkeys(("one/lib/src/own/sft.py", "two/lib/src/own/sft.py"), "")
    assert finder(tmp_path, files).program((word,), command, read, further_down=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cd /home/me/code/acme\npython train.py", "train.py"),
        ("cd $CODE\npython train.py", "train.py"),
        ("python /content/acme/train.py", "train.py"),
        ("python /work/train.py", None),  # one step may be anywhere
        ("cd /work\npython train.py", None),
        ("cd /home/me/code/acme\npython sweep.py", None),  # two of them
        ("python /content/acme/sweep.py", None),
        ("python /content/acme/a/train.py", None),  # that folder is here, without it
        ("git clone https://github.com/them/lib /work/lib\ncd /work/lib\npython train.py", None),
        ("git clone https://github.com/them/lib /work/lib/\npython /work/lib/train.py", None),
        ("cd /work\ngit clone git@github.com:them/lib.git other\ncd other\npython train.py", None),
    ],
)
def test_a_program_at_the_root_is_the_only_one_of_its_name(tmp_path: Path, text: str, expected: str | None) -> None:
    word, command, script = last_word("scripts/run.sh", text)
    files = dict.fromkeys(("train.py", "sweep.py", "a/sweep.py"), "")
    assert finder(tmp_path, files).program((word,), command, script, further_down=False) == expected


@pytest.mark.parametrize(
    ("script", "text", "expected"),
    [
        ("minillm/scripts/sft.sh", "python /home/MiniLLM/finetune.py", "minillm/finetune.py"),  # microsoft/LMOps
        ("minillm/scripts/sft.sh", "python /home/me/acme/finetune.py", None),  # two of them
        ("minillm/scripts/sft.sh", "python /MiniLLM/finetune.py", None),  # one step may be anywhere
        ("minillm/scripts/sft.sh", "python /home/MiniLLM/eval.py", None),  # not in that folder
        ("minillm/scripts/sft.sh", "git clone https://github.com/them/x /home/MiniLLM\npython /home/MiniLLM/finetune.py", None),
        ("other/scripts/sft.sh", "python /home/MiniLLM/finetune.py", None),  # the script is in another folder
        ("minillm/scripts/sft.sh", "python /home/me/acme/only.py", None),  # another folder
    ],
)
def test_a_folder_that_the_script_is_in_may_be_the_root_to_its_author(tmp_path: Path, script: str, text: str, expected: str | None) -> None:
    word, command, read = last_word(script, text)
    files = dict.fromkeys(("minillm/finetune.py", "minillm/only.py", "other/finetune.py", "eval.py", "other/eval.py"), "")
    assert finder(tmp_path, files).program((word,), command, read, further_down=False) == expected


def test_a_program_of_a_folder_that_git_makes_is_not_that_of_the_tree(tmp_path: Path) -> None:
    train = "from transformers import Trainer, TrainingArguments\nTrainer(args=TrainingArguments('o', per_device_train_batch_size=3))\n"
    run = "torchrun --nproc_per_node 8 /work/lib/train.py\n"
    made = f"git clone https://github.com/them/lib /work/lib\n{run}"
    files = {"train.py": train, "here.sh": run, "theirs.sh": made, "starts.sh": "bash theirs.sh\n"}
    assert batches(checked(tmp_path, files)) == [24]


# AI-Hypercomputer/maxtext e591f30c, scripts/diloco/run_diloco.sh: `cd /deps/src/`, then the configuration from there.
@pytest.mark.parametrize(
    ("folder", "name", "expected"),
    [
        ("/deps/src", "maxtext/configs/base.yml", "src/maxtext/configs/base.yml"),
        ("/home/me/acme", "src/maxtext/configs/base.yml", "src/maxtext/configs/base.yml"),
        ("/home/me/acme/src/maxtext", "configs/base.yml", "src/maxtext/configs/base.yml"),
        ("/home/me/acme/src/maxtext/configs", "base.yml", "src/maxtext/configs/base.yml"),
        ("/home/me/acme/other", "maxtext/configs/base.yml", None),
        ("/home/me/acme/src/maxtext/run", "../configs/base.yml", "src/maxtext/configs/base.yml"),
        ("/home/me/configs", "run.yml", None),  # two steps may agree by chance
        ("/home/me/acme", "run.yml", None),
        # PKU-YuanGroup/MoE-LLaVA, scripts/v1/phi2/finetune_moe.sh: `cd ~/MoE-LLaVA`.
        ("~/acme", "src/maxtext/configs/base.yml", "src/maxtext/configs/base.yml"),
        ("$PROJECT", "src/maxtext/configs/base.yml", "src/maxtext/configs/base.yml"),
        ("$PROJECT", "maxtext/configs/base.yml", None),
        ("$PROJECT", "base.yml", None),
        ("$PROJECT", "$PROJECT/configs/run.yml", None),
    ],
)
def test_a_file_is_found_from_a_folder_of_the_authors_tree(tmp_path: Path, folder: str, name: str, expected: str | None) -> None:
    found = finder(tmp_path, {"src/maxtext/configs/base.yml": "", "configs/run.yml": ""})
    assert found.find(*last_word("run.sh", f"cd {folder}\npython train.py {name}\n")) == expected


# Reduced from 5thGenDev/mamba-alignment-handbook, sft.sh: each path of the command is that of the author's machine.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("accelerate launch --config_file /home/me/acme/sft.yaml", None),  # nothing shows where the tree is
        ("accelerate launch --config_file /home/me/acme/a/ddp.yaml /home/me/acme/sft.yaml", None),  # two steps may agree by chance
        ("accelerate launch --config_file /home/me/acme/recipes/a/ddp.yaml /home/me/other/sft.yaml", None),
        ("accelerate launch --config_file /home/me/acme/recipes/a/ddp.yaml /home/me/acme/dpo.yaml", None),  # not there
        ("accelerate launch --config_file /home/me/acme/recipes/a/none.yaml /home/me/acme/sft.yaml", None),
        ("accelerate launch --config_file recipes/a/ddp.yaml /home/me/acme/sft.yaml", None),
        ("accelerate launch --config_file /home/me/acme/recipes/a/ddp.yaml /home/me/acme/sft.yaml", "sft.yaml"),
        ("accelerate launch /home/me/acme/src/own/sft.py /home/me/acme/sft.yaml", "sft.yaml"),
        ("accelerate launch --config_file /home/me/acme/recipes/a/ddp.yaml", "recipes/a/ddp.yaml"),
    ],
)
def test_paths_of_one_command_show_where_the_author_has_the_tree(tmp_path: Path, text: str, expected: str | None) -> None:
    files = dict.fromkeys(("sft.yaml", "a/ddp.yaml", "recipes/a/ddp.yaml", "src/own/sft.py"), "")
    assert finder(tmp_path, files).find(*last_word("run.sh", f"{text}\n")) == expected
