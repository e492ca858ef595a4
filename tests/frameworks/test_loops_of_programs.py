"""Training loops of a program's own under a launcher: the batch of one process times accumulation times processes."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name, Quantity, Size, Unknown
from tests.launches.building import TYPED, batches, checked, codes, launched
from tests.readers.python.test_loops import ACCELERATE, DISTRIBUTED

VARIABLE = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"
# The same program with options of argparse: 8 and 1 by default.
OPTIONS = (
    ACCELERATE.replace("main(batch_size=2)", "main(args)")
    .replace("main(batch_size=8)", "main(args)")
    .replace("batch_size=batch_size", "batch_size=args.train_batch_size")
    .replace("steps=4", "steps=args.steps")
    .replace(
        "def main",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--train_batch_size', type=int, default=8)\n"
        "p.add_argument('--steps', type=int, default=1)\nargs = p.parse_args()\n\ndef main",
    )
)


def settings(given: str) -> str:
    """The program with settings for all its loaders: 2 x 4 if each process has batches of its own."""
    return "from accelerate.utils import DataLoaderConfiguration\n" + ACCELERATE.replace(
        "(gradient", f"(dataloader_config=DataLoaderConfiguration({given}), gradient"
    )


def later(given: str) -> str:
    """The program with an accumulation that is set once its Accelerator is made: 2 x N."""
    made = "accelerator = Accelerator(gradient_accumulation_steps=4)\n"
    assert made in ACCELERATE
    before, behind = ACCELERATE.split(made)
    return f"{before}{made}{before.rpartition(chr(10))[2]}accelerator.gradient_accumulation_steps = {given}\n{behind}"


def plugin(given: str) -> str:
    """The program with a plug-in that accumulates in place of its argument: 2 x N."""
    return "from accelerate import DeepSpeedPlugin\nfrom accelerate.utils import GradientAccumulationPlugin\n" + ACCELERATE.replace(
        "(gradient_accumulation_steps=4)", f"({given})"
    )


@pytest.mark.parametrize(
    ("program", "command", "batch"),
    [
        pytest.param(ACCELERATE, "accelerate launch --num_processes 8 train.py", 64, id="2 x 4 x 8"),
        pytest.param(later("8"), "accelerate launch --num_processes 2 train.py", 32, id="set later: 2 x 8 x 2"),
        pytest.param(later("best()"), "accelerate launch --num_processes 2 train.py", None, id="set later to what is not known"),
        pytest.param(OPTIONS, "accelerate launch --num_processes 2 train.py", 16, id="defaults: 8 x 1 x 2"),
        pytest.param(OPTIONS, "accelerate launch --num_processes 2 train.py --train_batch_size=3 --steps 5", 30, id="flags: 3 x 5 x 2"),
        pytest.param(OPTIONS, "accelerate launch --num_processes 2 train.py --train_batch_size $N", None, id="a variable"),
        pytest.param(settings("split_batches=flag"), "accelerate launch --num_processes 2 train.py", None, id="may be shared"),
        pytest.param(settings("split_batches=False"), "accelerate launch --num_processes 2 train.py", 16, id="not shared"),
        pytest.param(settings("dispatch_batches=True"), "accelerate launch --num_processes 2 train.py", 16, id="sent by one process"),
        pytest.param(settings("split_batches=True"), "accelerate launch --num_processes 2 train.py", 8, id="shared: 2 x 4"),
        pytest.param(
            plugin("gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=steps)"),
            "accelerate launch --num_processes 2 train.py",
            None,
            id="a plug-in: steps that are not known",
        ),
        pytest.param(
            plugin("gradient_accumulation_plugin=plugin_of(num_steps=8)"),
            "accelerate launch --num_processes 2 train.py",
            None,
            id="a plug-in of another making",
        ),
        pytest.param(
            plugin("gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=8, sync_with_dataloader=False)"),
            "accelerate launch --num_processes 2 train.py",
            32,
            id="a plug-in: 2 x 8 x 2",
        ),
        pytest.param(
            ACCELERATE, "accelerate launch --num_processes 2 --gradient_accumulation_steps 8 train.py", 16, id="a flag for DeepSpeed alone"
        ),
        pytest.param(
            ACCELERATE,
            "accelerate launch --use_deepspeed --num_processes 2 --gradient_accumulation_steps 8 train.py",
            32,
            id="the launcher's for DeepSpeed: 2 x 8 x 2",
        ),
        pytest.param(
            ACCELERATE,
            "accelerate launch --use_deepspeed --num_processes 2 --gradient_accumulation_steps $N train.py",
            None,
            id="the launcher's that is not known",
        ),
        # As scripts of PKU-YuanGroup/Open-Sora-Plan have it: accelerate asks the environment first.
        pytest.param(ACCELERATE, f"{VARIABLE}=8 accelerate launch --num_processes 2 train.py", 32, id="of the environment: 2 x 8 x 2"),
        pytest.param(ACCELERATE, f"export {VARIABLE}=${{N:-8}}\naccelerate launch --num_processes 2 train.py", 32, id="exported"),
        pytest.param(ACCELERATE, f"{VARIABLE}=$N accelerate launch --num_processes 2 train.py", None, id="of the environment, not known"),
        pytest.param(
            plugin("gradient_accumulation_plugin=GradientAccumulationPlugin(num_steps=4)"),
            f"{VARIABLE}=8 accelerate launch --num_processes 2 train.py",
            16,
            id="a plug-in, for which the environment is not asked",
        ),
        pytest.param(DISTRIBUTED, "torchrun --nnodes 2 --nproc_per_node 4 train.py", 512, id="16 x 4 x 8"),
    ],
)
def test_a_launch_of_the_program(program: str, command: str, batch: int | None, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.py": program, "run.sh": f"{command}\n"})) == [batch]


def test_a_batch_that_the_processes_cannot_share_stops(tmp_path: Path) -> None:
    def found(processes: int) -> list[str]:
        launch = f"accelerate launch --num_processes {processes} train.py\n"
        return codes(checked(tmp_path, {"train.py": settings("split_batches=True"), "run.sh": launch}))

    assert (found(2), found(3)) == ([], ["GBS202"])


def test_a_launcher_file_of_deepspeed_wins(tmp_path: Path) -> None:
    launcher = TYPED.replace("MULTI_GPU", "DEEPSPEED") + "num_machines: 1\nnum_processes: 2\n"
    launcher += "deepspeed_config:\n  gradient_accumulation_steps: 1\n  zero_stage: 2\n"
    files = {"train.py": OPTIONS, "ds.yaml": launcher, "run.sh": "accelerate launch --config_file ds.yaml train.py --steps 4\n"}
    assert codes(checked(tmp_path, files)) == ["GBS306"]
    assert batches(checked(tmp_path, {**files, "run.sh": "accelerate launch --config_file ds.yaml train.py\n"})) == [16]


def test_a_program_may_leave_the_accumulation_to_its_launcher(tmp_path: Path) -> None:
    command = "accelerate launch --use_deepspeed --num_processes 2 --gradient_accumulation_steps 8 train.py\n"
    found = checked(tmp_path, {"train.py": ACCELERATE.replace("gradient_accumulation_steps=4", ""), "run.sh": command})
    assert (batches(found), codes(found)) == ([32], [])


def test_the_accumulation_of_a_deepspeed_plugin_is_read(tmp_path: Path) -> None:
    def accumulation(given: str) -> Size | None:
        files = {"train.py": plugin(f"deepspeed_plugin={given}"), "run.sh": "accelerate launch --use_deepspeed train.py\n"}
        return launched(checked(tmp_path, files))[0].geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)

    known, unknown = accumulation("DeepSpeedPlugin(gradient_accumulation_steps=8)"), accumulation("DeepSpeedPlugin(zero_stage=2)")
    assert isinstance(known, Quantity)
    assert known.value == 8
    assert isinstance(unknown, Unknown)


# Reduced from KimMeen/Time-LLM, run_main.py: the plugin has a file, and the loop steps after each batch.
OPEN = '{"zero_optimization": {"stage": 2}, "gradient_accumulation_steps": "auto", "train_micro_batch_size_per_gpu": "auto"}'
OWN = plugin("deepspeed_plugin=DeepSpeedPlugin(hf_ds_config='./ds.json')").replace("with accelerator.accumulate(model):", "if True:")
UNCONDITIONAL = OWN.replace("            if True:\n    ", "", 1).replace("                optimizer.step()", "            optimizer.step()")


@pytest.mark.parametrize(
    ("program", "file", "batch"),
    [
        pytest.param(UNCONDITIONAL, OPEN.replace('steps": "auto"', 'steps": 4'), None, id="the file accumulates"),
        pytest.param(UNCONDITIONAL, OPEN.replace('gpu": "auto"', 'gpu": 4'), None, id="the file has a micro batch"),
        pytest.param(UNCONDITIONAL, OPEN[:-1], None, id="a broken file"),
        pytest.param(UNCONDITIONAL.replace("ds.json", "other.json"), OPEN, None, id="another file"),
        pytest.param(UNCONDITIONAL.replace("'./ds.json'", "name"), OPEN, None, id="a name that is not known"),
        pytest.param(UNCONDITIONAL.replace("hf_ds", "gradient_accumulation_steps=2, hf_ds"), OPEN, None, id="the plugin accumulates"),
        pytest.param(UNCONDITIONAL.replace("(deepspeed", "(gradient_accumulation_steps=2, deepspeed"), OPEN, None, id="both"),
        pytest.param(OWN.replace("if True", "if step % 2 == 0"), OPEN, None, id="a condition that DeepSpeed does not heed"),
        pytest.param(UNCONDITIONAL, OPEN, 4, id="the loader's: 2 x 2"),
        pytest.param(UNCONDITIONAL, "{}", 4, id="a file without any of them"),
    ],
)
def test_a_plugin_with_a_file_of_deepspeed(program: str, file: str, batch: int | None, tmp_path: Path) -> None:
    files = {"train.py": program, "ds.json": file, "run.sh": "accelerate launch --num_processes 2 train.py\n"}
    assert batches(checked(tmp_path, files)) == [batch]
