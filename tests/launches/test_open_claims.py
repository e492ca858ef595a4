"""What a script says of its own batch where the hardware is not known: shown as open, and wrong only if no hardware gives it."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, launched, recipe

PROGRAM = "import transformers\nparser = transformers.HfArgumentParser((transformers.TrainingArguments,))\n"
FLAGS = "--model_name_or_path m --data_path d --learning_rate 2e-5 --output_dir o"


def script(comment: str, gpus: str, accumulation: str = "8", total: str = "") -> str:
    """A script of one launch with 4 samples on each GPU."""
    batch = f"--per_device_train_batch_size 4 --gradient_accumulation_steps {accumulation}"
    return f"{comment}\n{total}\ntorchrun --nproc_per_node={gpus} train.py {FLAGS} {batch}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(script("", "$GPUS"), [], id="nothing said"),
        pytest.param(script("", "$GPUS", total="TOTAL_BATCH_SIZE=100"), [], id="a variable says nothing of the batch"),
        pytest.param(script("# batch size of the paper: 100", "$GPUS"), [], id="of another run"),
        pytest.param(script("# global batch size 128", "4"), [], id="4 x 8 x 4 = 128"),
        pytest.param(script("# batch size = per_device * accumulation * num_gpus = 128", "4"), [], id="what a product comes to"),
        pytest.param(
            script("# global batch size 128", "$GPUS"), ["its comment claims 128: true with 4 GPUs per node"], id="32 on each GPU"
        ),
        pytest.param(script("# global batch size 128", "$GPUS", "$((TOTAL/GPUS/4))", "TOTAL=128"), ["its comment claims 128: "], id="both"),
    ],
)
def test_a_claim_that_the_hardware_decides_is_open(text: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": PROGRAM, "run.sh": text})
    assert codes(report) == []
    assert [f"{each.message}: {each.implies}" for file in report.files for each in file.undetermined if each.claim] == expected


def test_a_claim_that_no_hardware_gives_is_wrong(tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": PROGRAM, "run.sh": script("# global batch size 100", "$GPUS")})
    assert codes(report) == ["GBS301"]


# 4 x 8 x 4 = 128 on 4 GPUs; a loop may vary what a name counts.
@pytest.mark.parametrize(
    ("name", "held"),
    [
        pytest.param("out", False, id="no number"),
        pytest.param("out/bs4", False, id="of one device"),
        pytest.param("out/bs512", False, id="another number is not stated"),
        pytest.param("out/$BS", False, id="a variable"),
        pytest.param("out/bs128", True, id="the batch"),
    ],
)
def test_a_name_on_the_command_line_verifies_the_batch_and_refutes_nothing(name: str, held: bool, tmp_path: Path) -> None:
    text = script("", "4").replace("--output_dir o", f"--output_dir {name}")
    report = checked(tmp_path, {"train.py": PROGRAM, "run.sh": text})
    assert codes(report) == []
    assert any(file.verdict == "verified" for file in report.files if file.path == "run.sh") == held


def test_a_launch_is_compared_with_no_more_than_twenty_claims_of_its_recipe(tmp_path: Path) -> None:
    stated = "".join(f"# global batch size {number} on 8 GPUs\n" for number in range(100, 130))
    command = "accelerate launch --num_processes 16 train.py --config a.yaml\n"
    (run,) = launched(checked(tmp_path, {"train.py": PROGRAM, "a.yaml": recipe(comment=stated), "run.sh": command}))
    assert [each.declaration.value for each in run.claims] == list(range(100, 120))
