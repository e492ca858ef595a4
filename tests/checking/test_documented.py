"""Statements of documents that may be about several things: they count for what has the batch, and are held against nothing."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, launched

TRAINER = "import transformers\nparser = transformers.HfArgumentParser((transformers.TrainingArguments,))\n"
FLAGS = "--model_name_or_path m --data_path d --learning_rate 2e-5 --output_dir o"


def command(micro: int = 4, accumulation: int = 8) -> str:
    """A block with a launch on 4 GPUs: 4 x 8 x 4 = 128."""
    batch = f"--per_device_train_batch_size {micro} --gradient_accumulation_steps {accumulation}"
    return f"\n```bash\ntorchrun --nproc_per_node=4 train.py {FLAGS} {batch}\n```\n"


def verified(folder: Path, readme: str) -> list[tuple[int | None, list[int]]]:
    """The batch of each launch of a README, with the numbers stated of it that hold; nothing may be found wrong."""
    report = checked(folder, {"README.md": readme, "train.py": TRAINER})
    assert codes(report) == []
    return [(run.geometry.global_batch_size, [each.declaration.value for each in run.claims]) for run in launched(report)]


BY_SETTING = "| Hyperparameter | 7B | 13B |\n|---|---|---|\n| Batch size | {a} | {b} |\n| Epochs | 3 | 5 |\n"
BY_MODEL = "| Hyperparameter | Global Batch Size | Epochs |\n|---|---|---|\n| Ours-13B | {a} | 3 |\n"
SAID = "We use a batch size of {a}.\n"
PLAIN = "| Setting | Value |\n|---|---|\n| Batch size | {a} |\n"


@pytest.mark.parametrize(
    "readme",
    [
        pytest.param("# Train\n\n" + PLAIN.format(a=4) + command(), id="of one device"),
        pytest.param("# Train\n\n" + PLAIN.format(a=64) + command(), id="another number"),
        pytest.param("# Train\n\n" + SAID.format(a=64) + command(), id="another number in a sentence"),
        pytest.param("# Train\n\n" + SAID.format(a="128 per GPU") + command(), id="of one device in a sentence"),
        pytest.param("# Train\n\nIt was trained with a global batch size of 64.\n" + command(), id="what was"),
        pytest.param("# Train\n\n" + BY_MODEL.format(a=64) + command(), id="of another model"),
        pytest.param("# Train\n\n" + BY_SETTING.format(a=128, b=64) + command(), id="two numbers"),
        pytest.param("# Train\n" + command(2) + "\nThe global batch size is 512.\n" + command(4, 4), id="of neither launch"),
        pytest.param("# Results\n\n" + PLAIN.format(a=128) + "\n# Train\n" + command(), id="results"),
        pytest.param("# Train\n\n| Batch size | lr |\n|---|---|\n| 128 | 1 |\n" + command(), id="a heading that leaves the batch open"),
    ],
)
def test_a_number_that_may_mean_something_else_is_not_a_claim(tmp_path: Path, readme: str) -> None:
    assert all(claims == [] for _, claims in verified(tmp_path, readme))


@pytest.mark.parametrize(
    ("readme", "wanted"),
    [
        pytest.param("# Train\n\n" + PLAIN.format(a=128) + command(), [(128, [128])], id="a row of a table of two columns"),
        pytest.param("# Train\n\n" + SAID.format(a=128) + command(), [(128, [128])], id="a sentence"),
        pytest.param("# Train\n\n" + SAID.format(a="128 on 4 GPUs") + command(), [(128, [128])], id="a sentence with its GPUs"),
        pytest.param("# Train\n\nIt was trained with a global batch size of 128.\n" + command(), [(128, [128])], id="what was"),
        pytest.param("# Train\n\n" + BY_SETTING.format(a=128, b=128) + command(), [(128, [128])], id="one number for all models"),
        pytest.param("# Train\n\n" + BY_MODEL.format(a=128) + command(), [(128, [128])], id="a row of a model"),
        pytest.param(
            "# Train\n\n" + BY_MODEL.format(a=128) + command() + "\nAnother:\n" + command(8, 4),
            [(128, [128]), (128, [128])],
            id="of two launches",
        ),
        pytest.param(
            "# Train\n\n" + BY_MODEL.format(a=128) + command() + command(4, 4), [(128, [128]), (64, [])], id="of one of two launches"
        ),
        pytest.param(
            "# Train\n\n## Settings\n\n" + BY_MODEL.format(a=128) + "\n## Run\n" + command(), [(128, [128])], id="in the section before"
        ),
    ],
)
def test_a_number_that_a_launch_gives_is_verified(tmp_path: Path, readme: str, wanted: list[tuple[int, list[int]]]) -> None:
    assert verified(tmp_path, readme) == wanted


@pytest.mark.parametrize(("many", "held"), [(8, [128]), (9, [])])
def test_a_sentence_is_about_no_more_than_eight_launches(tmp_path: Path, many: int, held: list[int]) -> None:
    found = verified(tmp_path, "# Train\n\n" + SAID.format(a=128) + command() * many)
    assert found == [(128, held)] * many


def test_a_table_of_two_columns_states_what_it_is_about_whatever_its_heading(tmp_path: Path) -> None:
    readme = "# Train\n\n| Field | Value |\n|---|---|\n| Global batch size | 64 |\n" + command()
    assert codes(checked(tmp_path, {"README.md": readme, "train.py": TRAINER})) == ["GBS301"]


def test_a_link_to_a_file_of_the_repository_names_it(tmp_path: Path) -> None:
    readme = "# Train\n\nThe global batch size is 64: [run.sh](https://github.com/team/ours/blob/main/scripts/run.sh).\n"
    script = f"torchrun --nproc_per_node=4 train.py {FLAGS} --per_device_train_batch_size 4 --gradient_accumulation_steps 8\n"
    found = checked(tmp_path, {"README.md": readme, "train.py": TRAINER, "scripts/run.sh": script, "other/run.sh": "true\n"})
    assert codes(found) == ["GBS301"]


@pytest.mark.parametrize(("named", "wanted"), [("run.sh", ["GBS301"]), ("scripts/run.sh", ["GBS301"]), ("other/run.sh", [])])
def test_a_name_without_a_folder_is_that_of_the_one_file(tmp_path: Path, named: str, wanted: list[str]) -> None:
    script = f"torchrun --nproc_per_node=4 train.py {FLAGS} --per_device_train_batch_size 4 --gradient_accumulation_steps 8\n"
    readme = f"# Train\n\nThe global batch size is 64: `{named}`.\n"
    assert codes(checked(tmp_path, {"README.md": readme, "train.py": TRAINER, "scripts/run.sh": script})) == wanted


def scripts(folder: Path, readme: str) -> list[str]:
    """The codes of what is found where a README speaks of scripts that give 128, 64, and both."""
    one, other = (command(4, steps).partition("```bash\n")[2].partition("```")[0] for steps in (8, 4))
    files = {"README.md": readme, "train.py": TRAINER, "run/a.sh": one, "run/b.sh": other, "run/both.sh": one + other}
    return codes(checked(folder, files))


STARTED = "# Train\n\nThe global batch size is {batch}.\n\n```bash\n{line}\n```\n"


@pytest.mark.parametrize(
    "readme",
    [
        pytest.param(STARTED.format(batch=128, line="bash run/a.sh"), id="as it says"),
        pytest.param(STARTED.format(batch=64, line="  $ sh ./run/b.sh"), id="as it says, indented"),
        pytest.param(STARTED.format(batch=512, line="bash run/both.sh"), id="two launches"),
        pytest.param(STARTED.format(batch=512, line="bash run/a.sh\nbash run/b.sh"), id="two scripts"),
        pytest.param(STARTED.format(batch=512, line="bash run/c.sh"), id="a script that is not here"),
        pytest.param(STARTED.format(batch=512, line="cat run/a.sh"), id="a script that is shown"),
        pytest.param(STARTED.format(batch=512, line="# bash run/a.sh"), id="a comment"),
        pytest.param("# Results\n" + STARTED.format(batch=512, line="bash run/a.sh")[1:], id="results"),
    ],
)
def test_scripts_that_a_section_starts_are_not_wrong(tmp_path: Path, readme: str) -> None:
    assert scripts(tmp_path, readme) == []


@pytest.mark.parametrize("line", ["bash run/a.sh", "sbatch run/a.sh", "./run/a.sh"])
def test_a_section_speaks_of_the_script_that_it_starts(tmp_path: Path, line: str) -> None:
    assert scripts(tmp_path, STARTED.format(batch=512, line=line)) == ["GBS301"]


OTHER = command(8, 8)  # 8 x 8 x 4 = 256
UNKNOWN = "\n```bash\npython serve.py --port 80\n```\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{command()}\nWith the following command the global batch size is 256.\n{OTHER}", id="the following command"),
        pytest.param(f"{command()}\nThe global batch size is 256:\n{OTHER}", id="a colon"),
        pytest.param(f"{command()}\nIn the example above the global batch size is 128.\n{OTHER}", id="the example above"),
        pytest.param(f"{command()}\nThe global batch size is 64:\n\nFirst log in.\n{OTHER}", id="a colon before something else"),
        pytest.param(f"{command()}\nTrain with a global batch size of 64:\n\n`4 GPUs`:\n{OTHER}", id="a colon before other GPUs"),
        pytest.param(f"{UNKNOWN}\nIn the example above the global batch size is 64.\n{command()}", id="what is shown is unknown"),
        pytest.param(f"{command()}{OTHER}\nWith the commands above the global batch size is 64.\n", id="of several commands"),
        pytest.param(
            f"{command()}\nUnlike the above command, the following script has a global batch size of 64.\n{OTHER}", id="points at two"
        ),
        pytest.param(f"{command()}\nThe above command may have a global batch size of 64.\n{OTHER}", id="advice"),
        pytest.param(f"{command()}\n# Next\n\nThe above command has a global batch size of 128.\n{OTHER}", id="above the heading"),
    ],
)
def test_what_points_at_a_block_is_about_no_other_command(tmp_path: Path, text: str) -> None:
    verified(tmp_path, f"# Train\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{command()}\nWith the following command the global batch size is 128.\n{OTHER}", id="the following command"),
        pytest.param(f"{command()}\n# Next\n\nThe above command has a global batch size of 64.\n", id="above the heading"),
        pytest.param(f"{command()}\nThe global batch size is **128:**\n{OTHER}", id="a colon"),
        pytest.param(f"{command()}\nThe above command has a global batch size of 64.\n{OTHER}", id="the above command"),
        pytest.param(
            f"{command()}\nTrain it with a global batch size of 128, run:\n\n`Net-Tiny`:\n{OTHER}", id="a colon, and the model's name"
        ),
        pytest.param(f"The global batch size is 128:\n{command()}\nThe global batch size is 128:\n{OTHER}", id="the same of two commands"),
    ],
)
def test_what_points_at_a_block_is_checked_against_its_command(tmp_path: Path, text: str) -> None:
    report = checked(tmp_path, {"README.md": f"# Train\n\n{text}", "train.py": TRAINER})
    assert codes(report) == ["GBS301"]


BY_STAGE = "| Model | Epoch | Batch_Size |\n|---|---|---|\n| Ours_7B | 1 | {a} |\n| Ours_13B | 1 | {b} |\n\n"


@pytest.mark.parametrize(
    "text",
    [
        *(pytest.param(f"With a batch size of {size}, run the following command:\n{command()}", id=f"{size}") for size in (4, 16, 32, 128)),
        pytest.param(f"With a batch size of 64 or 256, run the following command:\n{command()}", id="a choice"),
        pytest.param(f"You can reach a batch size of 64 with the following command:\n{command()}", id="advice"),
        pytest.param(f"We use a batch size of 64.\n{command()}", id="points at nothing"),
        pytest.param(BY_STAGE.format(a=64, b=256) + f"Training script as follows:\n{command()}", id="a row that is not named"),
        pytest.param(BY_STAGE.format(a=64, b=256) + f"Training script for Ours_34B as follows:\n{command()}", id="another row"),
        pytest.param(BY_STAGE.format(a=128, b=64) + f"Training script for Ours_7B as follows:\n{command()}", id="the row that is named"),
    ],
)
def test_a_plain_batch_that_a_command_has_in_some_way_is_not_wrong(tmp_path: Path, text: str) -> None:
    verified(tmp_path, f"# Train\n\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"With a batch size of 64, run the following command:\n{command()}", id="a sentence"),
        pytest.param(BY_STAGE.format(a=64, b=256) + f"Training script for Ours_7B as follows:\n{command()}", id="the row that is named"),
    ],
)
def test_a_plain_batch_of_the_command_that_is_pointed_at_is_none_of_its_sizes(tmp_path: Path, text: str) -> None:
    report = checked(tmp_path, {"README.md": f"# Train\n\n{text}", "train.py": TRAINER})
    assert [(each.code, each.severity) for each in report.findings()] == [("GBS301", "warning")]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"# Train on 4 GPUs (global batch size 128)\n{command()}", id="as it says"),
        pytest.param(f"# Train on 4 GPUs (batch size 4)\n{command()}", id="a batch of one device"),
        pytest.param(f"# Train on 8 GPUs\n\nHere on 4 GPUs.\n{command()}", id="two numbers"),
        pytest.param(f"# Train on 8 GPUs\n{command()}{command(2)}", id="two launches"),
        pytest.param(f"# Train on 8 GPUs\n\n## Then\n{command()}", id="of a part"),
        pytest.param(f"# Results on 8 GPUs (batch size 64)\n{command()}", id="results"),
        pytest.param(f"# Train, for example on 8 GPUs\n{command()}", id="an example"),
    ],
)
def test_a_heading_that_is_not_wrong(tmp_path: Path, text: str) -> None:
    assert codes(checked(tmp_path, {"README.md": text, "train.py": TRAINER})) == []


@pytest.mark.parametrize(
    ("heading", "wanted"),
    [
        pytest.param("Train on 8 GPUs", "GBS303", id="hardware"),
        pytest.param("Train with a global batch size of 64", "GBS301", id="a batch"),
        pytest.param("Train the base model (batch size 64)", "GBS301", id="a plain batch that is none of its sizes"),
    ],
)
def test_a_heading_is_about_the_one_command_of_its_section(tmp_path: Path, heading: str, wanted: str) -> None:
    document = f"# Data\n{command(2).replace('train.py', 'other.py')}\n# {heading}\n{command()}"
    assert codes(checked(tmp_path, {"README.md": document, "train.py": TRAINER})) == [wanted]


IN_BLOCK = "# Train\n\n```bash\n{lines}\n```\n"
LAUNCHED = command().strip().split("\n")[1]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(f"# global batch size 128 on 4 GPUs\n{LAUNCHED}", id="as it says"),
        pytest.param(f"{LAUNCHED}  # global batch size 128, 4 GPUs", id="as it says, behind"),
        pytest.param(f"# if you have 8 GPUs, the global batch size is 256\n{LAUNCHED}", id="a condition"),
        pytest.param(f"# at least 8 GPUs\n{LAUNCHED}", id="a bound"),
        pytest.param(f"# global batch size 64\npython other.py\n# then\n{LAUNCHED}", id="above another command"),
        pytest.param(f"python other.py  # global batch size 64\n{LAUNCHED}", id="behind another command"),
        pytest.param(f"# global batch size 64\n{LAUNCHED}\n{LAUNCHED.replace('size 4', 'size 2')}", id="above two launches"),
        pytest.param(f"{LAUNCHED}\n# global batch size 64", id="below"),
        pytest.param(f"{LAUNCHED} --run_name 'a # global batch size 64'", id="in quotes"),
        pytest.param(f"# add --gradient_accumulation_steps 4 for a global batch size of 64\n{LAUNCHED}", id="another flag"),
    ],
)
def test_a_comment_in_a_block_may_be_about_something_else(tmp_path: Path, lines: str) -> None:
    assert codes(checked(tmp_path, {"README.md": IN_BLOCK.format(lines=lines), "train.py": TRAINER})) == []


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        pytest.param(f"# global batch size 64\n{LAUNCHED}", "GBS301", id="above"),
        pytest.param(f"# global batch size 64\nexport A=1\n\n{LAUNCHED}", "GBS301", id="above other lines"),
        pytest.param(f"# global batch size 64\n{LAUNCHED}\n# global batch size 128\n{LAUNCHED}", "GBS301", id="of the first"),
        pytest.param(f"{LAUNCHED}  # global batch size 64", "GBS301", id="behind"),
        pytest.param(LAUNCHED.replace(" train.py", " \\\n    train.py") + " # global batch size 64", "GBS301", id="behind its last line"),
        pytest.param(f"# on 8 GPUs\n{LAUNCHED}", "GBS303", id="hardware"),
        pytest.param("bash run/a.sh  # 8 x A100", "GBS303", id="hardware of a script"),
        pytest.param("# 8 GPUs, global batch size 64\nbash run/a.sh", "GBS301", id="the batch of a script"),
    ],
)
def test_a_comment_in_a_block_is_about_the_command_that_it_is_beside(tmp_path: Path, lines: str, wanted: str) -> None:
    files = {"README.md": IN_BLOCK.format(lines=lines), "train.py": TRAINER, "run/a.sh": LAUNCHED}
    assert codes(checked(tmp_path, files)) == [wanted]


def test_a_script_that_gets_variables_alone_is_itself(tmp_path: Path) -> None:
    assert scripts(tmp_path, STARTED.format(batch=512, line="bash run/a.sh ${rank} $address")) == ["GBS301"]


def test_a_block_in_restructured_text_is_pointed_at(tmp_path: Path) -> None:
    lines = command().partition("```bash\n")[2].partition("```")[0]
    text = f"Train\n=====\n\nFirst:\n\n.. code:: bash\n\n   {lines}\nThe global batch size is 64:\n\n.. code:: bash\n\n   {lines}\n"
    assert codes(checked(tmp_path, {"a.rst": text, "train.py": TRAINER})) == ["GBS301"]


def beside_script(folder: Path, readme: str, *, at: str = "recipes/sft", script: str = "run.sh", more: str = "") -> list[str]:
    """The messages about a script of one launch on 4 GPUs with a batch of 128, and a document beside it."""
    launch = command().replace("```bash", "").replace("```", "")
    others = {f"{at}/other.sh": launch} if more else {}
    files = {f"{at}/README.md": readme + more, f"{at}/{script}": launch, "train.py": TRAINER, **others}
    return [each.message for file in checked(folder, files).files for each in file.findings]


ABOUT = "# Training\n\n## Batch\n\nThe global batch size is {}.\n\n## Usage\n\n```bash\nbash recipes/sft/run.sh\n```\n"


@pytest.mark.parametrize(
    ("readme", "options"),
    [
        pytest.param(ABOUT.format(128), {}, id="the batch that it has"),
        pytest.param(ABOUT.format("64 in the paper, and was 32"), {}, id="another batch"),
        pytest.param(ABOUT.format(64) + "\n## Larger\n\nThe global batch size is 32.\n", {}, id="two batches"),
        pytest.param(ABOUT.format(64).replace("recipes/sft/", ""), {"at": "."}, id="at the root"),
        pytest.param(ABOUT.format(64), {"more": "\n## Other\n\n```bash\nbash recipes/sft/other.sh\n```\n"}, id="two scripts"),
        pytest.param(ABOUT.format(64), {"script": "../run.sh"}, id="a script of another folder"),
        pytest.param(ABOUT.format(64) + command(2), {}, id="a launch of its own"),
    ],
)
def test_a_document_that_is_about_more_than_a_script_contradicts_nothing(tmp_path: Path, readme: str, options: dict[str, str]) -> None:
    assert beside_script(tmp_path, readme, **options) == []


def test_a_document_beside_a_script_is_about_it(tmp_path: Path) -> None:
    assert beside_script(tmp_path, ABOUT.format(64)) == ["this launch gives 128, but README.md claims 64"]


LAUNCHED = f"torchrun --nproc_per_node=4 train.py {FLAGS} --per_device_train_batch_size 4 --gradient_accumulation_steps 8\n"


@pytest.mark.parametrize(
    "readme",
    [
        pytest.param("# Train\n\nWith a global batch size of 128:\n\n    {}", id="the same"),
        pytest.param("# Train\n\n    We use a global batch size of 64.\n\nSo:\n\n    {}", id="a text shown as code"),
        pytest.param("# 训练\n\n运行以下命令，批处理大小为 4×8=32。\n\n```bash\n{}```\n", id="of one device, in Chinese"),
    ],
)
def test_what_a_document_shows_beside_a_command_agrees(tmp_path: Path, readme: str) -> None:
    assert codes(checked(tmp_path, {"README.md": readme.format(LAUNCHED), "train.py": TRAINER})) == []


# eric-mitchell/direct-preference-optimization, cascip/ChatAlpaca and hiyouga/ChatGLM-Efficient-Tuning have the shapes.
@pytest.mark.parametrize(
    ("readme", "wanted"),
    [
        pytest.param("# Train\n\nWith a global batch size of 64:\n\n    {}", "GBS301", id="a command that is indented"),
        pytest.param(
            f"# Train\n\n{BY_MODEL.format(a=64)}\nRun the following command for ours-13b:\n\n```bash\n{{}}```\n",
            "GBS301",
            id="a row of a table, with other capitals",
        ),
        pytest.param("# 训练\n\n运行以下命令，批处理大小为 8×8=64。\n\n```bash\n{}```\n", "GBS301", id="arithmetic in Chinese"),
        pytest.param(
            "# Train\n\nFor example, we fine-tuned it on 8 A100 using the following command:\n\n```bash\n{}```\n", "GBS303", id="we"
        ),
    ],
)
def test_what_a_document_shows_beside_a_command_disagrees(tmp_path: Path, readme: str, wanted: str) -> None:
    assert codes(checked(tmp_path, {"README.md": readme.format(LAUNCHED), "train.py": TRAINER})) == [wanted]


@pytest.mark.parametrize(("said", "wanted"), [(64, []), (32, []), (128, ["GBS301"])])
def test_a_plain_batch_is_no_part_of_a_smaller_one(said: int, wanted: list[str], tmp_path: Path) -> None:
    options = "--micro-batch-size 4 --global-batch-size 64 --seq-length 2048 --num-layers 2 --hidden-size 64"
    readme = f"# Train\n\nTo train with batch size {said}, run:\n\n    torchrun --nproc_per_node $N pretrain_gpt.py {options}\n"
    assert codes(checked(tmp_path, {"README.md": readme})) == wanted


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("The script `run.sh` trains on 4 GPUs.", id="as it says"),
        pytest.param("To train on 8 GPUs, change `run.sh`.", id="a change"),
        pytest.param("We use 8 GPUs in the paper. See `run.sh` for a start.", id="another sentence"),
        pytest.param("It was trained on 8 GPUs with `run.sh`.", id="what was"),
        pytest.param("If you have 8 GPUs, use `run.sh`.", id="a condition"),
        pytest.param("See `run.sh`.\n\nThis uses 8 GPUs.", id="another paragraph"),
        pytest.param("Start `run.sh` or `other.sh`. This uses 8 GPUs.", id="two scripts"),
        pytest.param("On 8 GPUs, in a script adapted from `run.sh`.", id="another script"),
    ],
)
def test_hardware_in_a_paragraph_that_names_a_script_may_be_of_something_else(said: str, tmp_path: Path) -> None:
    assert scripts_named(tmp_path, said) == []


# swz30/Restormer, NVIDIA's example of 175 billion parameters and PEFT's of several GPUs have the shapes.
@pytest.mark.parametrize(
    "said",
    [
        pytest.param("In `run.sh` we show how to train it on 8 GPUs.", id="the same sentence"),
        pytest.param("Look at [run.sh](https://github.com/t/r/blob/main/run.sh). This example trains on 8 GPUs.", id="this example"),
        pytest.param("**Note:** This training script uses 8 GPUs by default. For another number, modify [run.sh](run.sh).", id="a note"),
    ],
)
def test_hardware_in_the_sentence_that_names_a_script_is_compared(said: str, tmp_path: Path) -> None:
    assert scripts_named(tmp_path, said) == ["GBS303"]


def scripts_named(folder: Path, said: str) -> list[str]:
    """What is found if a document says something of a script that trains on 4 GPUs, beside which another one does."""
    files = {"run.sh": LAUNCHED, "other.sh": LAUNCHED, "train.py": TRAINER}
    return codes(checked(folder, {**files, "README.md": f"# Train\n\n{said}\n"}))


ALL_BELOW = (
    "# Train\n\n> The training commands below are configured for a node of {gpus} x A100s (80GB). You may change it.\n\n{more}## Full\n"
)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(f"{ALL_BELOW.format(gpus=4, more='')}{command()}\n## LoRA\n{command(2)}", id="as it says"),
        pytest.param(f"{ALL_BELOW.format(gpus=8, more='').replace('## Full', '# Next')}{command()}", id="above the next section"),
        pytest.param(f"{ALL_BELOW.format(gpus=8, more='').replace('configured for', 'fast on')}{command()}", id="what is fast"),
        pytest.param(f"{ALL_BELOW.format(gpus=8, more='Or 4 GPUs, as we use in the commands below. ')}{command()}", id="another paragraph"),
        pytest.param(f"{ALL_BELOW.format(gpus='8 x A100s or 4', more='')}{command()}", id="two numbers"),
        pytest.param(f"{command()}\n{ALL_BELOW.format(gpus=8, more='')}", id="above it"),
    ],
)
def test_commands_below_that_are_not_wrong(document: str, tmp_path: Path) -> None:
    assert "GBS303" not in codes(checked(tmp_path, {"README.md": document, "train.py": TRAINER}))


# huggingface/open-r1 and facebookresearch/coconut have the shapes.
@pytest.mark.parametrize("verb", ["are configured for", "assume"])
def test_all_commands_below_are_compared(verb: str, tmp_path: Path) -> None:
    document = ALL_BELOW.format(gpus=8, more="").replace("are configured for", verb)
    for more in (f"{command()}\n## LoRA\n{command(2)}", "\n```bash\nbash run.sh\n```\n"):
        found = checked(tmp_path, {"README.md": document + more, "train.py": TRAINER, "run.sh": LAUNCHED}).findings()
        assert [(each.code, each.message) for each in found] == [("GBS303", "document says 8 GPUs, but torchrun starts 4 processes")]
