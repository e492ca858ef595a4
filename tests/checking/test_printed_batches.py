"""A batch size that a script prints as it is counts like a comment above the launch; what depends on anything does not."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, only

# 2 on each of 4 GPUs, 8 times: 64.
PROGRAM = """\
from transformers import Trainer, TrainingArguments

args = TrainingArguments(output_dir="o", per_device_train_batch_size=2, gradient_accumulation_steps=8)
Trainer(args=args).train()
"""
LAUNCH = "deepspeed --num_gpus=4 train.py\n"


def _found(script: str, folder: Path) -> list[str]:
    return codes(checked(folder, {"train.py": PROGRAM, "run.sh": f"#!/bin/bash\n{script}"}))


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param('echo "Effective batch size: 64"\n', id="the same"),
        pytest.param('echo "  - Effective batch size: 2 * 4 GPUs * 8 = 64"\n', id="the same as a product"),
        pytest.param('echo "Effective batch size: ${BATCH}"\n', id="a variable"),
        pytest.param('echo "Effective batch size: $((2 * 8)) of 128"\n', id="computed"),
        pytest.param('if [ -n "$DEBUG" ]; then\n  echo "Effective batch size: 128"\nfi\n', id="in a branch"),
        pytest.param('usage() {\n  echo "Effective batch size: 128"\n}\n', id="in a function"),
        pytest.param("cat > other.sh <<EOF\necho 'Effective batch size: 128'\nEOF\n", id="another script"),
        pytest.param('echo "Effective batch size: 128" >> notes.md\n', id="written somewhere"),
        pytest.param('echo "global batch size of evaluation: 128"\n', id="evaluation"),
        pytest.param('echo "batch size: 128"\n', id="of what is not said"),
        pytest.param('echo "epoch=2 / global_bs=64 (2x8x4) / max_len=4096"\n', id="the same among others"),
        pytest.param('echo "=== All eff_batch_128 runs complete ==="\n', id="a group of runs"),
        pytest.param('echo "try a global batch of 128"\n', id="advice"),
    ],
)
def test_what_a_script_prints_is_in_order(printed: str, tmp_path: Path) -> None:
    assert _found(f"{printed}{LAUNCH}", tmp_path) == []


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param('echo "Effective batch size: 128"\n', id="in double quotes"),
        pytest.param("echo 'Global batch size = 128'\n", id="in single quotes"),
        pytest.param('echo "epoch=2 / global_bs=128 (2x16x4) / max_len=4096"\n', id="in short"),
        pytest.param('echo "Effective batch: 128"\n', id="without its size"),
        pytest.param('echo "Settings:"\necho "  - Total batch size: 128"\necho ""\n', id="among others"),
    ],
)
def test_another_batch_than_the_script_prints_is_found(printed: str, tmp_path: Path) -> None:
    assert _found(f"{printed}{LAUNCH}", tmp_path) == ["GBS301"]


@pytest.mark.parametrize(("said", "found"), [("4 GPUs, global batch = 64", []), ("2 GPUs, global batch = 32", ["GBS303", "GBS301"])])
def test_a_comment_is_not_excused_by_the_batch_that_the_script_works_out(said: str, found: list[str], tmp_path: Path) -> None:
    printed = 'ROWS=2\necho "Effective batch size: $((ROWS * 4 * 8))"\n'
    assert _found(f"# {said}\n{printed}{LAUNCH}", tmp_path) == found


# 120 // 4 // 2 is 15, and 2 x 15 x 4 is 120 again; 126 // 4 // 2 is 15 too.
DIVIDES = """\
NUM_GPUS=4
MICRO=2
TOTAL_BATCH_SIZE={total}
{accumulation}
deepspeed --num_gpus={gpus} args.py --per_device_train_batch_size $MICRO --gradient_accumulation_steps $GRAD_ACCUM
"""
ARGUMENTS = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments

(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
Trainer(args=args).train()
"""
ACCUMULATION = "GRAD_ACCUM=$((TOTAL_BATCH_SIZE / NUM_GPUS / MICRO))"


def _divided(folder: Path, total: str, accumulation: str = ACCUMULATION, gpus: str = "$NUM_GPUS") -> list[str]:
    script = DIVIDES.format(total=total, accumulation=accumulation, gpus=gpus)
    return codes(checked(folder, {"args.py": ARGUMENTS, "run.sh": f"#!/bin/bash\n{script}"}))


@pytest.mark.parametrize(
    ("total", "accumulation"),
    [
        pytest.param("120", ACCUMULATION, id="without a remainder"),
        pytest.param("126", "GRAD_ACCUM=15", id="divided nowhere"),
        pytest.param("126", "N=$((TOTAL_BATCH_SIZE / 2))\nGRAD_ACCUM=15", id="divided for something else"),
        pytest.param("126", "GRAD_ACCUM=$((4 + 1200 / TOTAL_BATCH_SIZE))", id="what divides"),
        pytest.param("$BATCH", ACCUMULATION, id="not written out"),
        pytest.param("126", f'if [ -n "$FAST" ]; then\n  {ACCUMULATION}\nelse\n  GRAD_ACCUM=15\nfi', id="in a branch"),
        pytest.param("126", f"{ACCUMULATION}\nTOTAL_BATCH_SIZE=120\n{ACCUMULATION}", id="two of them"),
    ],
)
def test_a_batch_that_is_divided_is_in_order(total: str, accumulation: str, tmp_path: Path) -> None:
    assert _divided(tmp_path, total, accumulation) == []


@pytest.mark.parametrize(
    "accumulation",
    [
        pytest.param(ACCUMULATION, id="arithmetic"),
        pytest.param("GRAD_ACCUM=$(($TOTAL_BATCH_SIZE/($NUM_GPUS*$MICRO)))", id="by a product"),
        pytest.param("GRAD_ACCUM=$(( ${TOTAL_BATCH_SIZE} / NUM_GPUS / MICRO ))", id="braces"),
    ],
)
def test_a_batch_of_which_a_remainder_is_lost_is_found(accumulation: str, tmp_path: Path) -> None:
    assert _divided(tmp_path, "126", accumulation) == ["GBS301"]
    assert only(checked(tmp_path, {})).message == "this launch gives 120, but the script divides 126"


def test_other_gpus_than_a_script_divides_by_are_found(tmp_path: Path) -> None:
    assert _divided(tmp_path, "120", gpus="8") == ["GBS301"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        pytest.param('echo "Effective batch size: 128"', "this launch gives 64, but the script prints 128", id="printed"),
        pytest.param("# global batch size 128", "this launch gives 64, but its comment claims 128", id="in a comment"),
        pytest.param(
            '# settings\necho "Effective batch size: 128"  # of the run',
            "this launch gives 64, but the script prints 128",
            id="between comments",
        ),
        pytest.param(
            'echo "Effective batch size: 128 (2 * 8 GPUs * 8)"', "this launch gives 64 on 4 GPUs, but the script prints 128 on 8", id="GPUs"
        ),
        pytest.param("# 8 GPUs: global batch size 128", "this launch gives 64 on 4 GPUs, but its comment claims 128 on 8", id="its GPUs"),
        pytest.param(
            "# 4 GPUs per node, global batch size 128",
            "this launch gives 64, but its comment claims 128",
            id="the GPUs are right",
        ),
    ],
)
def test_one_finding_says_what_stated_the_batch_and_on_which_gpus(said: str, message: str, tmp_path: Path) -> None:
    script = f"#!/bin/bash\n{said}\n{LAUNCH}"
    assert only(checked(tmp_path, {"train.py": PROGRAM, "run.sh": script})).message == message


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("# runs on 8 GPUs\n\n# global batch size 64", id="the batch is right"),
        pytest.param("# runs on 8 GPUs\n\n# global batch size 64, with 8 GPUs", id="for those GPUs"),
    ],
)
def test_wrong_gpus_beside_a_right_batch_are_found(said: str, tmp_path: Path) -> None:
    assert set(_found(f"{said}\n{LAUNCH}", tmp_path)) == {"GBS303"}


LOOP = """\
for steps in 4 8 16; do
  # {said}
  deepspeed --num_gpus=4 train.py --per_device_train_batch_size 2 --gradient_accumulation_steps $steps
done
"""


# Reduced from experiments/gemma4_opt/p1_gbs_sweep of fyh2001/megatron-sft-recipes at d16a2d1: 32, 64 and 128.
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param("accumulation 8, global batch size 64: out of memory", [], id="of one turn of the loop"),
        pytest.param("global batch size 256", ["GBS301"] * 3, id="of none"),
    ],
)
def test_a_comment_within_a_loop_is_about_the_turn_that_it_fits(said: str, expected: list[str], tmp_path: Path) -> None:
    program = "from transformers import HfArgumentParser, Trainer, TrainingArguments\nHfArgumentParser(TrainingArguments)\nTrainer()\n"
    assert codes(checked(tmp_path, {"train.py": program, "run.sh": f"#!/bin/bash\n{LOOP.format(said=said)}"})) == expected


AFTER_ANOTHER = """\
{line}
STEPS=8
python tools/serve.py --port 8000 &
deepspeed --num_gpus=$GPUS train.py --per_device_train_batch_size 2 --gradient_accumulation_steps $STEPS
"""


# Reduced from examples/train/math_tir/train_1.5b_grpo.sh of TIGER-AI-Lab/verl-tool at 980962b.
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("GPUS=4 # 4 GPUs", [], id="the same"),
        pytest.param("# 8 GPUs\nGPUS=4", [], id="above a value"),
        pytest.param("GPUS=4\nPORT=1 # 8 GPUs", [], id="behind what the launch does not take"),
        pytest.param("GPUS=4  # using 8 GPUs: 0-7", ["GBS303"], id="behind the value of the launch"),
        pytest.param("GPUS=4; PORT=1  # 8 GPUs", ["GBS303"], id="on its line"),
        pytest.param("GPUS=4  # global batch size 128", ["GBS301"], id="a batch"),
    ],
)
def test_a_comment_behind_a_value_is_about_the_launch_that_takes_it(line: str, expected: list[str], tmp_path: Path) -> None:
    program = "from transformers import HfArgumentParser, Trainer, TrainingArguments\nHfArgumentParser(TrainingArguments)\nTrainer()\n"
    files = {"train.py": program, "tools/serve.py": "import flask\n", "run.sh": f"#!/bin/bash\n{AFTER_ANOTHER.format(line=line)}"}
    assert codes(checked(tmp_path, files)) == expected


@pytest.mark.parametrize(
    "comment",
    [
        pytest.param("# global batch size 128", id="of no hardware"),
        pytest.param("# 8 GPUs: global batch size 128", id="of other hardware"),
        pytest.param("# global batch size 128 on 4 GPUs with gradient accumulation 16", id="of another accumulation"),
        pytest.param("# 4 GPUs: global batch size 64", id="the same"),
    ],
)
def test_a_number_beside_the_true_one_may_be_of_another_run(comment: str, tmp_path: Path) -> None:
    found = _found(f'{comment}\necho "Effective batch size: 64"\n{LAUNCH}', tmp_path)
    assert [code for code in found if code == "GBS301"] == []


def test_a_number_of_the_same_hardware_is_false_beside_the_true_one(tmp_path: Path) -> None:
    assert _found(f'# 4 GPUs: global batch size 128\necho "Effective batch size: 64"\n{LAUNCH}', tmp_path) == ["GBS301"]


# 4 on each of 2 GPUs, twice: 16.
COMPUTED = """\
#!/bin/bash
MICRO=4
STEPS=2
GPUS=$(echo 2)
{printed}
torchrun --nproc_per_node $GPUS train.py --per_device_train_batch_size $MICRO --gradient_accumulation_steps $STEPS --output_dir out
"""
PARSES = (
    "from transformers import HfArgumentParser, Trainer, TrainingArguments\n\nTrainer(args=HfArgumentParser(TrainingArguments)).train()\n"
)


def _computed(printed: str, folder: Path) -> list[str]:
    return codes(checked(folder, {"train.py": PARSES, "run.sh": COMPUTED.format(printed=printed)}))


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param('echo "Global batch size: $((MICRO * GPUS * STEPS))"', id="the same"),
        pytest.param('echo "Effective batch: $(($MICRO * $STEPS * 2)) (of this run)"', id="the same with a constant"),
        pytest.param('TOTAL=$((MICRO * GPUS * STEPS))\necho "Total batch size = ${TOTAL}"', id="the same by a variable"),
        pytest.param('echo "Effective batch size per GPU: $((MICRO * STEPS))"', id="of each GPU"),
        pytest.param('echo "Batch size: $((MICRO * STEPS))"', id="of what is not said"),
        pytest.param('echo "Effective batch size: $((MICRO * NODES * STEPS))"', id="unknown"),
        pytest.param('echo "Effective batch size: $((MICRO * STEPS)) of 16"', id="a part"),
        pytest.param('echo "Effective batch size: $MICRO"', id="a variable by itself"),
        pytest.param('for i in 1 2; do echo "Effective batch size: $((MICRO * i))"; done', id="in a loop"),
        pytest.param('say() { echo "Effective batch size: $((MICRO * STEPS))"; }\nsay', id="in a function"),
        pytest.param('[ -n "$X" ] && echo "Effective batch size: $((MICRO * STEPS))"', id="perhaps"),
        pytest.param('echo "Effective batch size: $((MICRO * STEPS))" >> notes.md', id="written somewhere"),
    ],
)
def test_what_a_script_computes_and_prints_is_in_order(printed: str, tmp_path: Path) -> None:
    assert _computed(printed, tmp_path) == []


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param('echo "Effective batch size: $((MICRO * STEPS))"', id="GPUs are left out"),
        pytest.param('TOTAL=$((MICRO * 8 * STEPS))\necho "Global batch size: $TOTAL"', id="other GPUs"),
        pytest.param('echo "  Effective batch: $((MICRO * 4 * STEPS)) (4 GPUs)"', id="other GPUs, which it names"),
    ],
)
def test_another_batch_than_the_script_computes_and_prints_is_found(printed: str, tmp_path: Path) -> None:
    assert _computed(printed, tmp_path) == ["GBS301"]
