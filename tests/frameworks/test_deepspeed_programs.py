"""Dictionaries of DeepSpeed in Python programs: recognised by keys that are DeepSpeed's alone, open if the program changes them."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.report import FileReport
from pytest_gbs.model.settings import Settings
from tests.support import check

CONFIG = '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 8, "zero_optimization": {"stage": 2}}'


def files(folder: Path, text: str) -> tuple[FileReport, ...]:
    (folder / "train.py").write_text(text, encoding="utf-8")
    return check(WorkTree(folder), (), Settings(), CommandLineHardware(), keep_runs=True).files


def sizes(folder: Path, text: str) -> list[int | None]:
    (found,) = files(folder, text)
    stated = found.runs[0].geometry.stated
    names = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.GLOBAL_BATCH_SIZE)
    return [size.value if isinstance(size := stated.get(name), Quantity) else None for name in names]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('config = {"train_batch_size": 4000, "rollout_fragment_length": 200}\n', id="RLlib"),
        pytest.param('grid = {"batch_size": [4, 8], "gradient_accumulation_steps": 2}\n', id="a grid"),
        pytest.param(f"def config():\n    return {CONFIG}\n", id="a caller may change it"),
        pytest.param(f"def config(n):\n    ds = {CONFIG}\n    return ds\n", id="a caller may change it, by its name"),
    ],
)
def test_what_is_not_a_configuration_of_deepspeed_says_nothing(tmp_path: Path, text: str) -> None:
    assert not any(each.framework for each in files(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"ds = {CONFIG}\n", [4, 8, None]),
        (f"import deepspeed\ndeepspeed.initialize(config={CONFIG})\n", [4, 8, None]),
        (f"def main():\n    micro = 2\n    ds = {CONFIG.replace('4', 'micro')}\n    run(ds)\n", [2, 8, None]),
        (f"ds = {CONFIG}\nds['train_batch_size'] = 64\n", [4, 8, 64]),
        (f"ds = {CONFIG}\nif x:\n    ds['train_micro_batch_size_per_gpu'] = 1\n", [None, 8, None]),
        (f"ds = {CONFIG}\nds.update(x)\n", [None, None, None]),
        (f"ds = {CONFIG.replace('8', 'args.accumulation')}\n", [4, None, None]),
        ('ds = {"train_batch_size": 16, "zero_optimization": {"stage": 1}}\n', [None, 1, 16]),
    ],
)
def test_what_the_program_leaves_as_written_is_known(tmp_path: Path, text: str, expected: list[int | None]) -> None:
    assert sizes(tmp_path, text) == expected


OWN_LOADER = f"""\
import deepspeed
ds = {CONFIG}
loader = DataLoader(data, batch_size=args.rows)
engine, *_ = deepspeed.initialize(model=model, config=ds)
for batch in loader:
    engine.backward(engine(batch))
    engine.step()
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("", "", None, id="a loader of another batch"),
        pytest.param("args.rows", "4", 4, id="a loader of that batch"),
        pytest.param("args.rows", "engine.train_micro_batch_size_per_gpu()", 4, id="what the engine says"),
        pytest.param("args.rows", "ds['train_micro_batch_size_per_gpu']", 4, id="what the configuration says"),
        pytest.param("batch_size=args.rows", "sampler=rows", 4, id="no batch is given"),
        pytest.param("config=ds)", "config=ds, training_data=data)", 4, id="a loader of DeepSpeed's"),
    ],
)
def test_a_batch_that_no_loader_of_the_program_has_is_unknown(tmp_path: Path, old: str, new: str, expected: int | None) -> None:
    assert sizes(tmp_path, OWN_LOADER.replace(old, new)) == [expected, 8, None]


def test_three_sizes_that_contradict_each_other_are_reported(tmp_path: Path) -> None:
    batch = '{"train_batch_size": 30, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2}'
    (found,) = files(tmp_path, f"ds = {batch}\n")
    assert len(found.findings) == 1
    (found,) = files(tmp_path, f"ds = {batch.replace('30', '32')}\n")
    assert not found.findings


# Its configuration comes from another file, and the program sets the batch in it.
ENGINE = """\
import argparse, deepspeed, torch
from other import configuration

parser = argparse.ArgumentParser()
parser.add_argument("--micro", type=int, default=4)
parser.add_argument("--steps", type=int, default=2)
args = parser.parse_args()
config = configuration(stage=2)
config["train_micro_batch_size_per_gpu"] = args.micro
config["train_batch_size"] = args.micro * args.steps * torch.distributed.get_world_size()
engine, _, _, _ = deepspeed.initialize(model=model, config=config)
for batch in loader:
    engine.backward(engine(batch))
    engine.step()
"""


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("engine.backward(engine(batch))", "engine(batch)"), id="an engine that is not trained"),
        pytest.param(("engine.backward(engine(batch))", "other.backward(engine(batch))"), id="another is trained"),
        pytest.param(("config=config", "args=args"), id="a file that the command line names"),
        pytest.param(("deepspeed.initialize", "mine.initialize"), id="a function of another name"),
    ],
)
def test_an_engine_that_is_not_known_to_train_is_not_a_recipe(tmp_path: Path, change: tuple[str, str]) -> None:
    assert files(tmp_path, ENGINE.replace(*change)) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ENGINE, [4, 2, None]),
        (ENGINE.replace("config = c", "config = {}\nother = c"), [4, 2, None]),
        (ENGINE.replace("get_world_size()", "get_world_size() + 1"), [4, None, None]),
        (ENGINE.replace("args.steps *", "args.steps // 3 +"), [4, None, None]),
        (ENGINE.replace("= args.micro * args.steps *", "= 10 *"), [4, None, None]),  # 10 is no whole number of micro batches
        (ENGINE.replace("= args.micro * args.steps *", "= 12 //"), [4, None, None]),
        (ENGINE.replace("config=config", "config=config, mpu=groups"), [4, None, None]),
        (ENGINE.replace("config[", "if x:\n    config[", 1), [None, None, None]),
        (ENGINE.replace("engine, _", "config.update(x)\nengine, _"), [None, None, None]),
    ],
)
def test_a_configuration_that_is_handed_to_an_engine_is_the_recipe(tmp_path: Path, text: str, expected: list[int | None]) -> None:
    assert sizes(tmp_path, text) == expected


# dvlab-research/LISA 3cb2d43, train_ds.py: the engine goes back in a function that gets it.
HANDED = ENGINE.partition("for batch in loader")[0] + "train(loader, wrapped=engine)\n"
TRAIN = """\
def train(rows, wrapped, epochs=1):
    for batch in rows:
        wrapped.backward(wrapped(batch))
        wrapped.step()
"""


@pytest.mark.parametrize(
    ("train", "beside", "found"),
    [
        pytest.param("", "", False, id="a function that is nowhere"),
        pytest.param("from steps import train\n", "", False, id="a function of a library"),
        pytest.param(TRAIN.replace("wrapped.backward", "print"), "", False, id="nothing goes back"),
        pytest.param(TRAIN.replace("wrapped.backward", "rows.backward"), "", False, id="another goes back"),
        pytest.param(TRAIN, "", True, id="in the same file"),
        pytest.param("from steps import train\n", TRAIN, True, id="in another file"),
        pytest.param("import steps\n", TRAIN, True, id="in a module"),
    ],
)
def test_an_engine_that_a_function_trains(tmp_path: Path, train: str, beside: str, found: bool) -> None:
    call = "steps.train(loader, engine)" if train == "import steps\n" else "train(loader, wrapped=engine)"
    if beside:
        (tmp_path / "steps.py").write_text(beside, encoding="utf-8")
    text = train + HANDED.replace("train(loader, wrapped=engine)", call)
    assert [each.path for each in files(tmp_path, text) if each.framework] == ["train.py"] * found


OTHER = """\
def configuration(stage, precision="bf16"):
    if stage > 2:
        kind = "fp16"
    else:
        kind = precision
    return {"train_batch_size": 32, "train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": stage}, kind: {"enabled": True}}
"""

# As liziniu/ReMax completes it, utils/ds_utils.py (get_train_ds_config).
NAMED = """\
def configuration(stage, precision="bf16"):
    made = {"train_batch_size": 32, "train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": stage}}
    if stage > 2:
        made["fp16"] = {"enabled": True}
    made["bf16"] = {"enabled": precision == "bf16"}
    return made
"""


@pytest.mark.parametrize(
    ("other", "batch"),
    [
        pytest.param("from elsewhere import configuration\n", None, id="not in the repository"),
        pytest.param(OTHER.replace("kind: {", "unknown(): {"), None, id="a key that is computed"),
        pytest.param(OTHER.replace("return {", "if x: return {}\n    return {"), None, id="returned in two places"),
        pytest.param(OTHER.replace("return {", "return {**other, "), None, id="more from elsewhere"),
        pytest.param(NAMED.replace('made["bf16"]', "made[precision]"), None, id="a key that is computed later"),
        pytest.param(NAMED.replace("    return", "    made.update(more())\n    return"), None, id="more from elsewhere, later"),
        pytest.param(OTHER, 64, id="written out"),
        pytest.param(NAMED, 64, id="completed before it is returned"),
    ],
)
def test_a_configuration_is_looked_for_in_the_file_that_makes_it(tmp_path: Path, other: str, batch: int | None) -> None:
    (tmp_path / "other.py").write_text(other, encoding="utf-8")
    (tmp_path / "train.py").write_text(ENGINE, encoding="utf-8")
    report = check(WorkTree(tmp_path), ["train.py"], Settings(), CommandLineHardware(world_size=8), keep_runs=True)
    (found,) = (each for each in report.files if each.path == "train.py")
    assert found.runs[0].geometry.value(Name.GLOBAL_BATCH_SIZE) == batch


@pytest.mark.parametrize(("given", "codes"), [("mpu=Groups(tensor=4)", []), ("mesh_param=mesh", []), ("mpu=None", ["GBS202"])])
def test_a_model_that_processes_share_leaves_fewer_of_them_for_the_batch(tmp_path: Path, given: str, codes: list[str]) -> None:
    text = ENGINE.replace("args.steps * torch.distributed.get_world_size()", "2").replace("config=config", f"config=config, {given}")
    text = text.replace("configuration(stage=2)", "{}")
    (tmp_path / "run.sh").write_text("deepspeed --num_gpus 8 train.py --micro 1\n", encoding="utf-8")
    assert [finding.code for file in files(tmp_path, text) for finding in file.findings] == codes


def test_a_launch_gives_the_engine_its_batch(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("deepspeed --num_gpus 8 train.py --micro 3 --steps 5\n", encoding="utf-8")
    (run,) = (run for file in files(tmp_path, ENGINE) for run in file.runs if run.launch is not None)
    assert [run.geometry.value(name) for name in (Name.MICRO_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE)] == [3, 120]


# Reduced from microsoft/LMOps, minillm: the file of DeepSpeed is read and completed here, and handed to what starts the engine.
COMPLETED = """\
import argparse
import json
import deepspeed

def start(args, ds):
    model, *_ = deepspeed.initialize(model=net, args=args, config_params=ds)
    return model

def train(args, model):
    for rows in DataLoader(data, batch_size=args.rows):
        model.backward(model(rows))
        model.step()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1)
    parser = deepspeed.add_config_arguments(parser)
    args = parser.parse_args()
    with open("out/args.json", "w") as f:
        json.dump(vars(args), f)
    with open(args.deepspeed_config) as f:
        settings = json.load(f)
    settings["gradient_accumulation_steps"] = args.steps
    settings["train_micro_batch_size_per_gpu"] = args.rows
    args.deepspeed_config = None
    train(args, start(args, settings))

main()
"""


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("return model", "start(args, {})\n    return model", None, id="started at two places"),
        pytest.param(
            "    model, *_", "    ds['train_micro_batch_size_per_gpu'] = best()\n    model, *_", None, id="changed where it starts"
        ),
        pytest.param("    model, *_", "    ds.update(best())\n    model, *_", None, id="completed where it starts"),
        pytest.param("start(args, settings)", "start(*both)", None, id="not plain what is handed over"),
        pytest.param("main()\n", "main()\nfor config in settings:\n    settings = config\n", 24, id="another of that name"),
        pytest.param("", "", 24, id="handed over"),
        pytest.param("start(args, settings)", "start(args, {**settings})", 24, id="a copy"),
        pytest.param("start(args, settings)", "start(ds=settings, args=args)", 24, id="by name"),
    ],
)
def test_a_configuration_is_followed_to_the_function_that_starts_the_engine(
    tmp_path: Path, old: str, new: str, expected: int | None
) -> None:
    assert launched(tmp_path, COMPLETED.replace(old, new, 1), "--deepspeed_config conf/zero/ds.json") == expected


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        pytest.param("elsewhere/ds.json", "", "", None, id="a file that is not here"),
        pytest.param("/home/me/zero/ds.json", "", "", None, id="two steps of a path agree"),
        pytest.param("conf/zero/ds.json", "main()\n", "main()\nmain()\n", None, id="read again"),
        pytest.param(
            "conf/zero/ds.json",
            "    with open(args.deep",
            "    if x:\n        args.deepspeed_config = y\n    with open(args.deep",
            None,
            id="set before",
        ),
        pytest.param("conf/zero/ds.json", "deepspeed.add_config_arguments", "own.add_config_arguments", None, id="options of its own"),
        pytest.param("conf/zero/ds.json", "", "", 24, id="as it is named"),
        pytest.param("/home/me/acme/conf/zero/ds.json", "", "", 24, id="where its author has it"),
    ],
)
def test_the_file_that_an_option_of_deepspeed_names(tmp_path: Path, file: str, old: str, new: str, expected: int | None) -> None:
    assert launched(tmp_path, COMPLETED.replace(old, new, 1), f"--deepspeed_config {file}") == expected


def launched(folder: Path, program: str, options: str) -> int | None:
    """The global batch size of `program` on 2 GPUs, with 3 rows and 4 steps."""
    (folder / "conf/zero").mkdir(parents=True)
    (folder / "conf/zero/ds.json").write_text('{"train_micro_batch_size_per_gpu": 1, "fp16": {"enabled": true}}', encoding="utf-8")
    (folder / "run.sh").write_text(f"torchrun --nproc_per_node 2 train.py --rows 3 --steps 4 {options}\n", encoding="utf-8")
    runs = [run for file in files(folder, program) for run in file.runs if run.launch is not None]
    return runs[0].geometry.value(Name.GLOBAL_BATCH_SIZE) if runs else None
