"""Which recipe a command launches, from wherever it is called, and what kind of launch it is."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name, Reason, Unknown
from tests.launches.building import CLAIM, KEYS, accelerate, batches, checked, codes, file, launched, recipe

RUN = "accelerate launch --num_processes 8 train.py "


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("echo accelerate launch --num_processes 4 train.py --config sft.yaml", id="echo"),
        pytest.param("# accelerate launch --num_processes 4 train.py --config sft.yaml", id="a comment"),
        pytest.param("cat <<EOF\naccelerate launch --num_processes 4 train.py --config sft.yaml\nEOF", id="a here-document"),
        pytest.param("if false; then accelerate launch --num_processes 4 t.py --config sft.yaml; fi", id="never"),
        pytest.param("lm_eval --model hf --config sft.yaml --batch_size 4", id="another program"),
        pytest.param(f"{RUN}--config other.yaml", id="no such recipe"),
        pytest.param(f"{RUN}--config /elsewhere/sft.yaml", id="outside"),
        pytest.param(f"{RUN}--config ../sft.yaml", id="above the root"),
        pytest.param(f"cd /workspace/recipes\n{RUN}--config sft.yaml", id="a folder that is not that of the script"),
        pytest.param(f"cd /workspace/recipes\n{RUN}--config ./sft.yaml", id="the same, with dots"),
        pytest.param(f"cd /workspace\n{RUN}--config $PWD/sft.yaml", id="a current folder that is elsewhere"),
    ],
)
def test_it_launches_nothing_here(command: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(), "run.sh": f"#!/bin/bash\n{command}\n"})
    assert (batches(report), codes(report)) == ([], [])


@pytest.mark.parametrize(
    ("path", "command"),
    [
        pytest.param("run.sh", f"{RUN}--config recipes/a/sft.yaml", id="from the root"),
        pytest.param("run.sh", f"{RUN}--config=recipes/a/sft.yaml", id="behind an equals sign"),
        pytest.param("run.sh", f"{RUN}recipes/a/sft.yaml", id="by position"),
        pytest.param("run.sh", f"{RUN}--config ./recipes/../recipes/a/sft.yaml", id="with dots"),
        pytest.param("recipes/a/run.sh", f"{RUN}--config sft.yaml", id="from its own folder"),
        pytest.param("recipes/scripts/run.sh", f"{RUN}--config a/sft.yaml", id="from a folder above"),
        pytest.param("run.sh", f"cd recipes\n{RUN}--config a/sft.yaml", id="after cd"),
        pytest.param("run.sh", f"cd /home/me/repo\n{RUN}--config recipes/a/sft.yaml", id="where the author has the tree"),
        pytest.param("run.sh", f'{RUN}--config "${{ROOT:-$PWD}}/recipes/a/sft.yaml"', id="the current folder"),
        pytest.param("run.sh", f"R=$(pwd)\ncd recipes\n{RUN}--config $R/recipes/a/sft.yaml", id="the folder before cd"),
        pytest.param("run.sh", f'CONFIG=recipes/a\n{RUN}--config "$CONFIG/sft.yaml"', id="a variable"),
        pytest.param("recipes/run.sh", f'cd "$(dirname "$0")"\n{RUN}--config a/sft.yaml', id="the script's folder"),
        pytest.param("recipes/scripts/run.sh", f"cd ../a\n{RUN}--config sft.yaml", id="up from the script's folder"),
        pytest.param("Makefile", f"train:\n\t{RUN}--config recipes/a/sft.yaml", id="a Makefile"),
        pytest.param("train.slurm", f"#SBATCH --nodes=1\n{RUN}--config recipes/a/sft.yaml", id="Slurm"),
        pytest.param("README.md", f"```bash\n{RUN}--config recipes/a/sft.yaml\n```", id="a document"),
        pytest.param(
            "recipes/README.md", f"```sh\ncd /work/repo/recipes\n{RUN}--config a/sft.yaml\n```", id="where the author has its folder"
        ),
    ],
)
def test_it_launches_the_recipe(path: str, command: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"recipes/a/sft.yaml": recipe(), path: f"{command}\n"})
    assert batches(report) == [128]  # 4 x 4 x 8
    assert codes(report) == []
    assert file(report, "recipes/a/sft.yaml").verdict == "verified"


@pytest.mark.parametrize(
    ("path", "more", "kind"),
    [
        pytest.param("run.sh", "", "script", id="a shell script"),
        pytest.param("docs/train.md", "", "document", id="a document"),
        pytest.param("tests/run.sh", "", "test", id="below tests"),
        pytest.param("run.sh", " --max_steps 5", "test", id="a few steps"),
        pytest.param("run.sh", " --run_name acme-overfit", "test", id="a run that tries to overfit"),
        pytest.param("run.sh", " --run_name smoke-test", "test", id="a smoke test"),
        pytest.param("run.sh", " --run_name smoke-detector-overfitting", "script", id="a run of that subject"),
        pytest.param("run.sh", " --per_device_train_batch_size $MICRO", "template", id="a batch operand that is a variable"),
    ],
)
def test_a_launch_is_of_a_kind(path: str, more: str, kind: str, tmp_path: Path) -> None:
    fence = "```sh\n{}\n```" if path.endswith(".md") else "{}"
    report = checked(tmp_path, {"sft.yaml": recipe(), path: fence.format(f"{RUN}--config sft.yaml{more}") + "\n"})
    assert [run.launch.kind for run in launched(report) if run.launch] == [kind]


def test_a_recipe_that_is_a_variable_shows_what_is_known(tmp_path: Path) -> None:
    files = {"recipes/a/sft.yaml": recipe(comment=""), "recipes/b/sft.yaml": recipe(2, 2, "")}
    report = checked(tmp_path, {**files, "run.sh": 'torchrun --nproc_per_node 4 train.py --config "recipes/$1/sft.yaml"\n'})
    (run,) = launched(report)
    assert (run.geometry.value("data_parallel_size"), run.geometry.global_batch_size) == (4, None)
    assert run.launch is not None
    assert run.launch.kind == "template"
    assert codes(report) == []


def test_a_readme_gives_the_arguments_of_a_script(tmp_path: Path) -> None:
    script = '#!/bin/bash\naccelerate launch --num_processes $1 train.py --config "$2"\n'
    report = checked(tmp_path, {"sft.yaml": recipe(), "run.sh": script, "README.md": "```sh\nbash run.sh 8 sft.yaml\n```\n"})
    (run,) = (run for run in launched(report) if run.launch and run.launch.kind == "document")
    assert (run.geometry.global_batch_size, run.launch and run.launch.at.source) == (128, "README.md")


@pytest.mark.parametrize("ending", ["txt", "job.txt", "jobs"])
def test_a_file_that_is_not_a_script_is_not_started(ending: str, tmp_path: Path) -> None:
    script = '#!/bin/bash\naccelerate launch --num_processes $1 train.py --config "$2"\n'
    assert (
        batches(checked(tmp_path, {"sft.yaml": recipe(), f"train.{ending}": script, "run.sh": f"sbatch train.{ending} 8 sft.yaml\n"})) == []
    )


@pytest.mark.parametrize("ending", ["sh", "bash", "zsh", "slurm", "sbatch", "sub", "job"])
def test_a_script_that_another_starts_gets_its_arguments(ending: str, tmp_path: Path) -> None:
    script = '#!/bin/bash\naccelerate launch --num_processes $1 train.py --config "$2"\n'
    report = checked(tmp_path, {"sft.yaml": recipe(), f"train.{ending}": script, "run.sh": f"sbatch train.{ending} 8 sft.yaml\n"})
    (run,) = (run for run in launched(report) if run.launch and run.launch.at.source == "run.sh")
    assert run.geometry.global_batch_size == 128


def test_a_launcher_file_that_the_script_writes_itself_counts(tmp_path: Path) -> None:
    script = f"mkdir -p tmp\ncat > tmp/acc.yaml <<EOF\n{accelerate(16, 2)}EOF\n"
    report = checked(
        tmp_path,
        {"sft.yaml": recipe(comment=""), "run.sh": f"{script}accelerate launch --config_file tmp/acc.yaml t.py --config sft.yaml\n"},
    )
    assert batches(report) == [256]  # 4 x 4 x 16


def test_a_script_without_a_recipe_is_its_own(tmp_path: Path) -> None:
    flags = " ".join(f"--{line.replace(': ', ' ')}" for line in KEYS.splitlines())
    command = f"torchrun --nproc_per_node 8 train.py {flags} --per_device_train_batch_size 2 --gradient_accumulation_steps 4\n"
    report = checked(tmp_path, {"run.sh": command, "train.py": "from trl import SFTTrainer\n"})
    assert batches(report) == [64]  # 2 x 4 x 8
    assert report.recipes() == ()


def test_a_recipe_outside_the_tree_leaves_defaults_alone(tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 8 train.py --config /data/sft.yaml --per_device_train_batch_size 2 --learning_rate 1e-5\n"
    assert batches(checked(tmp_path, {"run.sh": command})) == []


_HALOS = {
    "launch.py": '@hydra.main(version_base=None, config_path="config", config_name="config")\ndef main(config):\n    pass\n',
    "config/config.yaml": "defaults:\n  - _self_\n  - model: ???\n  - loss: ???\ntrain_datasets: [a]\ntest_datasets: [a]\nexp_name: x\n"
    "eval_every: 1024\nn_examples: null\nn_epochs: 1\n",
    "config/model/llama.yaml": "batch_size: 64\ngradient_accumulation_steps: 2\neval_batch_size: 64\n",
    "config/loss/dpo.yaml": "trainer: DPOTrainer\ndataloader: PairedPreferenceDataLoader\n",
}
_LAUNCH = "accelerate launch --num_processes 4 launch.py loss=dpo model=llama"


def test_a_hydra_program_is_composed(tmp_path: Path) -> None:
    (run,) = launched(checked(tmp_path, {**_HALOS, "run.sh": f"{_LAUNCH} ++model.batch_size=32\n"}))
    # HALOs states the global batch: the micro batch is 32 / (4 x 2).
    assert (run.path, run.geometry.global_batch_size, run.geometry.value("micro_batch_size")) == ("config/config.yaml", 32, 4)


@pytest.mark.parametrize(
    "override",
    ["model.other=1", "+model.name=x", "~model.other", "loss.beta=1,2", "loss.beta='x", "loss.beta=${", "model.other.batch_size=1"],
)
def test_a_refused_override_of_something_else_changes_no_size(override: str, tmp_path: Path) -> None:
    files = {**_HALOS, "config/model/llama.yaml": _HALOS["config/model/llama.yaml"] + "name: y\n"}
    (run,) = launched(checked(tmp_path, {**files, "run.sh": f'{_LAUNCH} "{override}"\n'}))
    assert (run.geometry.value("global_batch_size"), run.geometry.value("gradient_accumulation_steps")) == (64, 2)


@pytest.mark.parametrize(
    "override",
    [
        pytest.param("+model.batch_size=32", id="it exists"),
        pytest.param("~model.batch_size=32", id="its value is another one"),
        pytest.param("model.batch_size=32,64", id="a sweep"),
        pytest.param("model.batch_size=choice(32,64)", id="a function"),
        pytest.param("model.batch_size=[32", id="an open bracket"),
        pytest.param("model.batch_size.x=32", id="a key below a number"),
        pytest.param("model={batch_size: 32, other: 1}", id="a mapping with a new key"),
        pytest.param("++model=llama", id="a group can't be forced"),
    ],
)
def test_what_a_refused_override_would_set_is_unknown(override: str, tmp_path: Path) -> None:
    (run,) = launched(checked(tmp_path, {**_HALOS, "run.sh": f'{_LAUNCH} "{override}"\n'}))
    batch = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    assert isinstance(batch, Unknown)
    assert run.geometry.value("micro_batch_size") is None
    if not override.startswith(("model=", "++", "model.batch_size.x")):
        assert (batch.reason, run.geometry.value("gradient_accumulation_steps")) == (Reason.NOT_APPLIED, 2)


@pytest.mark.parametrize(
    ("script", "line", "marked"),
    [
        pytest.param(f"{_LAUNCH} ++model.reward_model_path=a/b\n", 1, "a/b", id="written out"),
        # What reads $REWARD elsewhere needs it: the override is what has no effect.
        pytest.param(
            f"export REWARD=a/b\npython label.py --with $REWARD\n{_LAUNCH} ++model.reward_model_path=$REWARD\n",
            3,
            "++model.reward_model_path=$REWARD",
            id="a variable",
        ),
    ],
)
def test_an_override_without_effect_is_reported_at_its_word(script: str, line: int, marked: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {**_HALOS, "run.sh": script}, "run.sh")
    (found,) = (finding for file in report.files for finding in file.findings if finding.code == "GBS404")
    assert (found.at.source, script.count("\n", 0, found.at.start) + 1) == ("run.sh", line)
    assert script[found.at.start : found.at.stop] == marked


def test_files_that_several_launches_read_are_parsed_once(tmp_path: Path) -> None:
    commands = "".join(f"accelerate launch --config_file zero2.yaml train.py --config {name}.yaml --seed 1\n" for name in "ab")
    zero = accelerate(8).replace("MULTI_GPU", "DEEPSPEED") + "deepspeed_config:\n  deepspeed_config_file: ds.json\n"
    files = {"a.yaml": recipe(), "b.yaml": recipe(), "zero2.yaml": zero, "ds.json": '{"train_micro_batch_size_per_gpu": 4}'}
    one, other = launched(checked(tmp_path, {**files, "run.sh": commands}))
    assert one.launch and other.launch and one.launch.start and other.launch.start
    assert one.launch.start.files[0] is other.launch.start.files[0]
    assert one.companions[0].document is other.companions[0].document


ACCUMULATES = """\
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator(gradient_accumulation_steps=2)
loader = DataLoader(data, batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(batch))
        optimizer.step()
"""


# accelerate takes what a configuration of DeepSpeed says before what the program asks for.
@pytest.mark.parametrize(
    ("file", "flags", "engine", "expected"),
    [
        pytest.param("DEEPSPEED", "", '{"gradient_accumulation_steps": 16}', 192, id="4 x 16 x 3"),
        pytest.param("DEEPSPEED", "", '{"gradient_accumulation_steps": "auto"}', 24, id="left to the program"),
        pytest.param("DEEPSPEED", "", '{"gradient_accumulation_steps": 0}', 24, id="no number of batches"),
        pytest.param("MULTI_GPU", "", '{"gradient_accumulation_steps": 16}', 24, id="without DeepSpeed"),
        pytest.param("MULTI_GPU", "--use_deepspeed --deepspeed_config_file ds.json", '{"gradient_accumulation_steps": 8}', 96, id="flags"),
    ],
)
def test_a_configuration_of_deepspeed_that_a_launcher_names_accumulates(
    file: str, flags: str, engine: str, expected: int, tmp_path: Path
) -> None:
    named = accelerate(3).replace("MULTI_GPU", file) + "deepspeed_config:\n  deepspeed_config_file: ds.json\n"
    script = f"accelerate launch --config_file zero.yaml {flags} train.py\n"
    files = {"train.py": ACCUMULATES, "ds.json": engine, "zero.yaml": named, "run.sh": script}
    assert batches(checked(tmp_path, files)) == [expected]


LOADS = """\
import argparse
from accelerate import Accelerator
from loading import build

parser = argparse.ArgumentParser()
parser.add_argument("--train_batch_size", type=int, default=8)
args = parser.parse_args()
accelerator = Accelerator()
loader = build(data, batch_size=args.train_batch_size{more})
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(batch))
        optimizer.step()
"""
BUILDS = """\
from torch.utils.data import DataLoader

def build(data, batch_size, **kwargs):
    loader = DataLoader(data, batch_size=batch_size, **kwargs)
    return loader
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param("", 6, id="nothing further"),
        pytest.param(", shuffle=True", 6, id="something else"),
        pytest.param(", **more", None, id="what is not known"),
    ],
)
def test_a_function_of_another_file_hands_on_further_arguments(more: str, expected: int | None, tmp_path: Path) -> None:
    files = {"train.py": LOADS.format(more=more), "loading.py": BUILDS}
    script = {"run.sh": "accelerate launch --multi_gpu --num_processes 2 train.py --train_batch_size 3\n"}
    found = batches(checked(tmp_path, files | script))
    assert [each for each in found if each is not None] == ([] if expected is None else [expected])


def test_launches_of_a_loop_that_are_the_same_are_one(tmp_path: Path) -> None:
    loop = "for seed in 1 2 3; do\n  torchrun --nproc_per_node 8 train.py --config sft.yaml --seed $seed\ndone\n"
    assert batches(checked(tmp_path, {"sft.yaml": recipe(), "run.sh": loop})) == [128]


def test_a_launch_of_another_recipe_is_none_of_its_own(tmp_path: Path) -> None:
    report = checked(tmp_path, {"a.yaml": recipe(), "b.yaml": recipe(), "run.sh": f"{RUN}--config a.yaml\n"}, "b.yaml")
    assert [each.path for each in report.files] == ["b.yaml"]


def test_a_named_script_is_checked_against_the_recipe_it_launches(tmp_path: Path) -> None:
    command = "accelerate launch --num_processes 4 train.py --config sft.yaml\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=CLAIM), "run.sh": command}, "run.sh")
    assert ([each.path for each in report.files], codes(report)) == (["run.sh"], ["GBS301"])


def test_a_named_recipe_brings_its_launches_along(tmp_path: Path) -> None:
    command = "accelerate launch --num_processes 4 train.py --config sft.yaml\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=CLAIM), "scripts/run.sh": command}, "sft.yaml")
    assert [(each.path, each.verdict) for each in report.files] == [("scripts/run.sh", None), ("sft.yaml", "violated")]
    assert codes(report) == ["GBS301"]


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("--deepspeed ds_$ID.json", id="a DeepSpeed file that is a variable"),
        pytest.param("--data_mixture $MIX.yaml", id="data that is a variable"),
        pytest.param("--dataset_list /data/mix.yaml", id="data outside"),
    ],
)
def test_files_that_are_not_a_recipe_keep_nothing_open(more: str, tmp_path: Path) -> None:
    flags = " ".join(f"--{line.replace(': ', ' ')}" for line in KEYS.splitlines())
    command = f"torchrun --nproc_per_node 8 train.py {flags} --per_device_train_batch_size 2 {more}\n"
    program = "from trl import SFTTrainer\n"
    assert batches(checked(tmp_path, {"run.sh": command, "train.py": program})) == [16]  # 2 x 1 x 8


# --seq_parallel_size is VILA's (NVlabs/VILA, longvila/train/5_long_sft_1024frames.sh at b760c34).
@pytest.mark.parametrize("split", ["--tensor_parallel_size 4", "--seq_parallel_size 28", "--seq_parallel_size $RANKS", "--sp_size 2"])
def test_a_program_that_splits_the_model_itself_has_its_own_arithmetic(split: str, tmp_path: Path) -> None:
    flags = " ".join(f"--{line.replace(': ', ' ')}" for line in KEYS.splitlines())
    command = f"torchrun --nproc_per_node 8 train.py {flags} --per_device_train_batch_size 2 {split}\n"
    assert batches(checked(tmp_path, {"run.sh": command, "train.py": "from trl import SFTTrainer\n"})) == []


@pytest.mark.parametrize("split", ["--vllm_tensor_parallel_size 4", "--rollout_tensor_parallel_size 2", "--sglang_tp_size 4"])
def test_what_splits_the_model_for_completions_alone_leaves_the_batch(split: str, tmp_path: Path) -> None:
    flags = " ".join(f"--{line.replace(': ', ' ')}" for line in KEYS.splitlines())
    command = f"torchrun --nproc_per_node 8 train.py {flags} --per_device_train_batch_size 2 {split}\n"
    assert batches(checked(tmp_path, {"run.sh": command, "train.py": "from trl import SFTTrainer\n"})) == [16]  # 2 x 1 x 8


def test_a_hydra_configuration_that_is_a_variable_is_not_the_usual_one(tmp_path: Path) -> None:
    files = {
        "launch.py": '@hydra.main(version_base=None, config_path="config", config_name="config")\ndef main(config):\n    pass\n',
        "config/config.yaml": recipe(),
        "run.sh": "accelerate launch --num_processes 4 launch.py --config-name $NAME\n",
    }
    assert batches(checked(tmp_path, files)) == []


def test_a_recipe_shows_the_command_that_launches_it(tmp_path: Path) -> None:
    comment = "# accelerate launch --num_processes 4 \\\n#   train.py --config sft.yaml --gradient_accumulation_steps 8\n"
    (run,) = launched(checked(tmp_path, {"sft.yaml": recipe(comment=comment)}))
    assert run.launch is not None
    assert (run.launch.kind, run.launch.at.source, run.geometry.global_batch_size) == ("document", "sft.yaml", 128)  # 4 x 8 x 4


def test_a_comment_that_shows_how_another_recipe_is_launched_is_none_of_its_own(tmp_path: Path) -> None:
    comment = "# accelerate launch --num_processes 4 train.py --config other.yaml\n"
    assert batches(checked(tmp_path, {"sft.yaml": recipe(comment=comment), "other.yaml": recipe(comment="")})) == []


_EVALUATES = {
    "conf/train.yaml": "defaults: [evaluation, _self_]\ndpo: {batch_size: 16, accumulation: 4}\n",
    "conf/evaluation.yaml": "data: {train_batch_size: 64}\nactor_rollout_ref:\n"
    "  actor: {ppo_mini_batch_size: 32, ppo_micro_batch_size_per_gpu: 4}\n"
    "  rollout: {n: 1}\ntrainer: {nnodes: 1, n_gpus_per_node: 4}\n",
    "run.sh": "accelerate launch --num_processes 4 train.py dpo.batch_size=8\n",
}
_COMPOSES = 'import hydra\n{imports}\n\n@hydra.main(config_path="conf", config_name="train")\ndef main(config):\n    {body}\n\nmain()\n'
_TRAINS = (
    "DPOTrainer(args=DPOConfig(output_dir='o', per_device_train_batch_size=config.dpo.batch_size, "
    "gradient_accumulation_steps=config.dpo.accumulation)).train()"
)


@pytest.mark.parametrize(
    "imports", ["import verl", "from verl.trainer import main_ppo\nfrom trl import DPOTrainer", "from own.trainer import OwnTrainer"]
)
def test_a_program_that_composes_the_keys_of_its_trainer_is_one_of_it(imports: str, tmp_path: Path) -> None:
    files = {**_EVALUATES, "own/trainer.py": "", "train.py": _COMPOSES.format(imports=imports, body="pass")}
    assert [run.framework.name for run in launched(checked(tmp_path, files))] == ["verl"]


def test_a_program_with_the_trainer_of_a_library_may_compose_other_keys_to_evaluate(tmp_path: Path) -> None:
    program = _COMPOSES.format(imports="from trl import DPOConfig, DPOTrainer", body=_TRAINS)
    (run,) = launched(checked(tmp_path, {**_EVALUATES, "train.py": program}))
    assert (run.framework.name, run.geometry.global_batch_size, run.geometry.value("world_size")) == ("trl", 128, 4)  # 8 x 4 x 4


@pytest.mark.parametrize("model", ["--model x", "--load x-mcore", "--mcore_model x-mcore"])
def test_megatron_swift_takes_its_model_in_several_ways(model: str, tmp_path: Path) -> None:
    command = (
        f"NPROC_PER_NODE=8 megatron sft {model} --dataset y --tensor_model_parallel_size 2 --micro_batch_size 2 --global_batch_size 32\n"
    )
    assert batches(checked(tmp_path, {"run.sh": command})) == [32]
