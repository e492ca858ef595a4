"""Learning-rate schedules that accelerate steps once for each process, and how many steps they are made for."""

import json
from pathlib import Path

import pytest

from pytest_gbs.model.rule import Example
from tools.examples import check_example

# The option bounds the run in optimizer steps; without it the epochs do.
HEAD = """\
import argparse
import math

from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import get_scheduler


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max_train_steps", type=int, default=None)
    parser.add_argument("--warmup_steps", type=int, default=0)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=4)
    return parser.parse_args()


def main(model, optimizer, data):
    args = parse_args()
    accelerator = Accelerator({options})
    loader = DataLoader(data, batch_size=8)
"""
TAIL = """\
    done = 0
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(**batch).loss)
            optimizer.step()
            {moves}
        if accelerator.sync_gradients:
            done += 1
        if done >= args.max_train_steps:
            break
"""
PREPARE = "    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)\n"
FROM_EPOCHS = """\
    updates = math.ceil(len(loader) / args.gradient_accumulation_steps)
    if args.max_train_steps is None:
        args.max_train_steps = 3 * updates
"""
N = " * accelerator.num_processes"


def _schedule(training: str, warmup: str = "args.warmup_steps") -> str:
    return f'    scheduler = get_scheduler("cosine", optimizer, num_warmup_steps={warmup}, num_training_steps={training})\n'


def _program(*parts: str, options: str = "", moves: str = "scheduler.step()") -> str:
    return HEAD.format(options=options) + "".join(parts) + TAIL.format(moves=moves)


def _reported(folder: Path, text: str) -> list[str]:
    report = check_example(Example((("train.py", text),), ("--select", "GBS405")), folder)
    return [finding.message for finding in report.findings()]


OPTION = "args.max_train_steps"
LENGTH = "len(loader) * 3 // args.gradient_accumulation_steps"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_program(_schedule(OPTION + N, "args.warmup_steps" + N), PREPARE), id="both are multiplied"),
        pytest.param(_program(_schedule(LENGTH), PREPARE), id="sized by a data loader that is not prepared"),
        pytest.param(_program(_schedule(LENGTH, "100"), PREPARE), id="and a warm-up that is a number"),
        pytest.param(
            _program(
                FROM_EPOCHS,
                "    own = args.max_train_steps\n",
                _schedule(f"own if args.epochs else own{N}", "args.warmup_steps" + N),
                PREPARE,
            ),
            id="a condition decides whether it is multiplied",
        ),
        pytest.param(
            _program(
                f"    if args.max_train_steps is None:\n        total = math.ceil(len(loader) / accelerator.num_processes){N}\n",
                f"    else:\n        total = args.max_train_steps{N}\n",
                _schedule("total", "args.warmup_steps" + N),
                PREPARE,
            ),
            id="each way of giving the length has its own",
        ),
        pytest.param(
            _program(
                "    loader = accelerator.prepare(loader)\n", _schedule(LENGTH + N, "0"), "    scheduler = accelerator.prepare(scheduler)\n"
            ),
            id="the length of a prepared data loader, multiplied",
        ),
        pytest.param(_program(_schedule(OPTION)), id="accelerate does not get the schedule"),
        pytest.param(_program(_schedule(OPTION), PREPARE, options="split_batches=True"), id="batches are split"),
        pytest.param(_program(_schedule(OPTION), PREPARE, options="step_scheduler_with_optimizer=False"), id="steps on its own"),
        pytest.param(_program(_schedule(OPTION), PREPARE, options="**settings"), id="unknown options of accelerate"),
        pytest.param(_program(_schedule(OPTION), PREPARE, moves="if done < 10: scheduler.step()"), id="moves only at times"),
        pytest.param(_program(_schedule(OPTION), PREPARE, moves="pass"), id="is moved by something else"),
        pytest.param(_program(_schedule(OPTION + " * world_size"), PREPARE), id="a factor of unknown meaning"),
        pytest.param(_program(_schedule("args.total_steps"), PREPARE), id="an option that does not bound the run"),
        pytest.param(
            _program("    args.max_train_steps = len(loader) * 3\n", _schedule(OPTION), PREPARE),
            id="the program always sets it by the data loader",
        ),
        pytest.param(
            _program("    if args.fast:\n        args.max_train_steps = len(loader)\n", _schedule(OPTION), PREPARE),
            id="the program may set it",
        ),
        pytest.param(
            _program(_schedule(OPTION, "0"), PREPARE).replace("if accelerator.sync_gradients", "if True"), id="bounded in batches"
        ),
        pytest.param(
            _program(_schedule(LENGTH + N), PREPARE).replace("DataLoader(data,", "DataLoader(data, sampler=own,"), id="a sampler of its own"
        ),
        pytest.param(
            _program(_schedule(OPTION), "    if args.deepspeed:\n        scheduler = DummyScheduler(optimizer)\n", PREPARE),
            id="one of two schedules",
        ),
        pytest.param(
            _program(_schedule(OPTION).replace("\n", "  # gbs: ignore[GBS405] one GPU only\n"), PREPARE), id="a comment allows it"
        ),
    ],
)
def test_a_schedule_that_fits_or_of_which_too_little_is_known_is_left_alone(text: str, tmp_path: Path) -> None:
    assert _reported(tmp_path, text) == []


def test_an_option_in_optimizer_steps_needs_the_number_of_processes(tmp_path: Path) -> None:
    (message,) = _reported(tmp_path, _program(_schedule(OPTION), PREPARE))
    assert message == (
        "args.max_train_steps counts optimizer steps, and accelerate steps the schedule once per process: "
        "on N processes it ends N times earlier than on one"
    )


def test_the_accumulation_is_not_the_number_of_processes(tmp_path: Path) -> None:
    (message,) = _reported(tmp_path, _program(FROM_EPOCHS, _schedule(OPTION + " * args.gradient_accumulation_steps"), PREPARE))
    assert message.startswith("if args.max_train_steps is given, it counts optimizer steps")


def test_an_option_that_another_file_defines_may_be_missing(tmp_path: Path) -> None:
    program = _program(FROM_EPOCHS, _schedule(OPTION), PREPARE).replace(
        '    parser.add_argument("--max_train_steps", type=int, default=None)\n', ""
    )
    (message,) = _reported(tmp_path, program)
    assert message.startswith("if args.max_train_steps is given, it counts optimizer steps")


def test_epochs_of_a_data_loader_that_is_not_prepared_are_not_multiplied(tmp_path: Path) -> None:
    (message,) = _reported(tmp_path, _program(FROM_EPOCHS, _schedule(OPTION + N), PREPARE))
    assert message == (
        "if args.max_train_steps is not given, len(loader) before prepare() already counts the batches of all processes: "
        "on N processes the schedule is N times too long"
    )


@pytest.mark.parametrize(
    ("length", "fix"),
    [
        (OPTION, "multiply it by accelerator.num_processes, and divide len(loader) by that"),
        (OPTION + N, "divide len(loader) by accelerator.num_processes"),
    ],
)
def test_a_fix_suits_an_option_that_is_given_and_one_that_is_not(length: str, fix: str, tmp_path: Path) -> None:
    report = check_example(
        Example((("train.py", _program(FROM_EPOCHS, _schedule(length, "0"), PREPARE)),), ("--select", "GBS405")), tmp_path
    )
    assert [finding.holds for file in report.files for finding in file.findings] == [fix]
    fixed = _program(FROM_EPOCHS.replace("len(loader)", "len(loader) / accelerator.num_processes"), _schedule(OPTION + N, "0"), PREPARE)
    assert _reported(tmp_path, fixed) == []


def test_a_length_counts_the_processes_once(tmp_path: Path) -> None:
    (message,) = _reported(tmp_path, _program(_schedule(LENGTH + N), PREPARE))
    assert message.startswith("len(loader) before prepare() already counts the batches of all processes")


def test_the_length_of_a_prepared_data_loader_is_that_of_one_process(tmp_path: Path) -> None:
    prepared = "    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)\n"
    (message,) = _reported(tmp_path, _program(prepared, _schedule(LENGTH), "    scheduler = accelerator.prepare(scheduler)\n"))
    assert message.startswith("len(loader) has the batches of one process")


def test_a_warm_up_is_multiplied_like_the_length(tmp_path: Path) -> None:
    (message,) = _reported(tmp_path, _program(_schedule(OPTION + N), PREPARE))
    assert message.startswith("args.warmup_steps is not multiplied by the number of processes, as the schedule's length is")


def test_a_schedule_of_a_notebook_says_its_cell(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "source": _program(_schedule(OPTION), PREPARE)}]
    text = json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    report = check_example(Example((("train.ipynb", text),), ("--select", "GBS405")), tmp_path)
    assert [file.part for file in report.files if file.findings] == ["cell 1"]


# MTDoven/Conditional-Parameter-Diffusion, PixArt-StyleTrans-Comp/trainLoRA.sh, and xuesong39/DAC, train_text_to_image_lora.sh.
@pytest.mark.parametrize(
    ("script", "findings"),
    [
        pytest.param("accelerate launch --num_machines=1 --num_processes=1 train.py\n", 0, id="one process"),
        pytest.param("CUDA_VISIBLE_DEVICES=0 accelerate launch train.py\n", 0, id="one GPU"),
        pytest.param("accelerate launch --num_processes=2 train.py\n", 1, id="two processes"),
        pytest.param("accelerate launch train.py\n", 1, id="any number of processes"),
        pytest.param("accelerate launch --num_processes=1 other.py\n", 1, id="another program"),
        pytest.param(
            "accelerate launch --num_processes=1 train.py\naccelerate launch --num_processes=8 train.py\n", 1, id="one, and eight"
        ),
    ],
)
def test_a_program_that_is_started_in_one_process_alone_has_no_finding(script: str, findings: int, tmp_path: Path) -> None:
    files = (("train.py", _program(_schedule(OPTION), PREPARE)), ("run.sh", script))
    report = check_example(Example(files, ("--select", "GBS405")), tmp_path)
    assert sum(len(file.findings) for file in report.files) == findings


def test_that_a_notebook_shows_a_program_on_one_gpu_does_not_silence_it(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "source": "!accelerate launch --num_processes=1 train.py\n"}
    files = (("train.py", _program(_schedule(OPTION), PREPARE)), ("demo.ipynb", json.dumps({"cells": [cell], "nbformat": 4})))
    report = check_example(Example(files, ("--select", "GBS405")), tmp_path)
    assert sum(len(file.findings) for file in report.files) == 1
