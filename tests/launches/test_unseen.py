"""What can't be seen is not wrong: parents that are not there, configurations of elsewhere, values that every launch replaces."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.settings import Settings
from tests.support import check

from .building import batches, checked, codes, recipe

NEMO_RL = """\
defaults: {parent}
policy:
  train_micro_batch_size: 2
cluster:
  num_nodes: 1
  gpus_per_node: 8
grpo:
  num_prompts_per_step: 32
"""
HYDRA = """\
hydra:
  searchpath: [file:///opt/configs]
defaults: [base, _self_]
trainer: {devices: 8, num_nodes: 1}
model: {micro_batch_size: 2}
"""
PROGRAM = """\
import hydra

@hydra.main(config_path="conf", config_name="{name}")
def main(cfg): ...
"""


def test_a_parent_that_is_not_there_may_have_all(tmp_path: Path) -> None:
    files = {"a/grpo.yaml": NEMO_RL.format(parent="../../elsewhere/base.yaml"), "b/grpo.yaml": NEMO_RL.format(parent="gone.yaml")}
    assert codes(checked(tmp_path, files)) == []


def test_the_search_path_of_hydra_is_not_here(tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"conf/nemo.yaml": HYDRA})) == []


def test_the_same_file_without_parents_lacks_its_batch(tmp_path: Path) -> None:
    text = "".join(line for line in HYDRA.splitlines(keepends=True) if line.startswith(("trainer", "model")))
    assert codes(checked(tmp_path, {"conf/nemo.yaml": text})) == ["GBS209"]


def test_overrides_of_a_configuration_that_is_not_there_are_not_judged(tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 8 train.py model.micro_batch_size=3 trainer.devices=8 model.optim.lr=1\n"
    report = checked(tmp_path, {"train.py": PROGRAM.format(name="gone"), "run.sh": command})
    assert (codes(report), batches(report)) == ([], [])


PACKAGED = """\
import hydra
from {package}.trainer import Trainer

@hydra.main(config_path="pkg://{package}.trainer.config", config_name="{package}")
def main(config):
    Trainer(config).train()
"""
ROLLOUT = "data.train_batch_size=64 actor_rollout_ref.rollout.n=8 trainer.nnodes=1 trainer.n_gpus_per_node=8"


# The configuration lies in a package: what the command line leaves out is unknown, and 64 prompts x 8 completions are not.
@pytest.mark.parametrize(
    ("package", "words", "expected"),
    [
        ("mine", f"{ROLLOUT} actor_rollout_ref.actor.ppo_mini_batch_size=64", []),
        ("rllm", ROLLOUT, []),
        ("rllm", f"{ROLLOUT} actor_rollout_ref.actor.ppo_mini_batch_size=64", [512]),
        ("rllm", "actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.rollout.mode=async", [None]),
    ],
)
def test_overrides_of_a_configuration_in_a_package_say_what_they_say(
    package: str, words: str, expected: list[int | None], tmp_path: Path
) -> None:
    report = checked(tmp_path, {"train.py": PACKAGED.format(package=package), "run.sh": f"python3 -m train {words}\n"})
    assert (codes(report), batches(report)) == ([], expected)


BASE = "trainer: {devices: 8, num_nodes: 1}\nmodel: {global_batch_size: 12, micro_batch_size: 1}\n"


@pytest.mark.parametrize(("batch", "expected"), [(16, []), (20, ["GBS202", "GBS202"])])
def test_a_batch_that_every_launch_replaces_is_not_wrong(batch: int, expected: list[str], tmp_path: Path) -> None:
    command = f"torchrun --nproc_per_node 8 train.py model.global_batch_size={batch}\n"
    report = checked(tmp_path, {"conf/base.yaml": BASE, "train.py": PROGRAM.format(name="base"), "run.sh": command})
    assert codes(report) == expected


def test_a_batch_that_one_launch_keeps_is(tmp_path: Path) -> None:
    commands = "torchrun --nproc_per_node 8 train.py model.global_batch_size=16\ntorchrun --nproc_per_node 8 train.py\n"
    report = checked(tmp_path, {"conf/base.yaml": BASE, "train.py": PROGRAM.format(name="base"), "run.sh": commands})
    assert codes(report) == ["GBS202"]


VERL = """\
actor_rollout_ref: {actor: {ppo_mini_batch_size: 32, ppo_micro_batch_size_per_gpu: 1}, rollout: {n: 1}}
data: {train_batch_size: null}
trainer: {nnodes: 1, n_gpus_per_node: 8}
"""
FILLS_IN = PROGRAM.format(name="ppo").replace("(cfg): ...", "(cfg):\n    cfg.{key} = cfg.groups * cfg.group_size\n")


@pytest.mark.parametrize(
    ("key", "words", "expected"),
    [
        pytest.param("data.train_batch_size", "", [], id="the program fills it in"),
        pytest.param("data.val_batch_size", "data.train_batch_size=64", [], id="the launch gives it"),
        pytest.param("data.val_batch_size", "", ["GBS003"], id="the program fills in another"),
        pytest.param("train_batch_size", "", ["GBS003"], id="the program has one of that name elsewhere"),
        pytest.param("data.train_batch_size", "data.train_batch_size=0", [], id="the program replaces what the launch gives"),
        pytest.param("data.val_batch_size", "data.train_batch_size=0", ["GBS003"], id="the launch gives no batch"),
    ],
)
def test_a_null_that_is_replaced_before_use_stops_nothing(key: str, words: str, expected: list[str], tmp_path: Path) -> None:
    files = {"conf/ppo.yaml": VERL, "train.py": FILLS_IN.replace("{key}", key), "run.sh": f"python train.py {words}\n"}
    assert codes(checked(tmp_path, files)) == expected


def test_a_null_that_one_launch_keeps_stops_it(tmp_path: Path) -> None:
    commands = "python train.py data.train_batch_size=64\npython train.py\n"
    assert codes(checked(tmp_path, {"conf/ppo.yaml": VERL, "train.py": PROGRAM.format(name="ppo"), "run.sh": commands})) == ["GBS003"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--output_dir <Specify path> --gradient_accumulation_steps 8", 256),
        ("--output_dir <dir> --gradient_accumulation_steps 8", 256),
        ("--gradient_accumulation_steps {number of steps; 8, say}", None),
        ("--gradient_accumulation_steps ...", None),
        ("--gradient_accumulation_steps \u2039steps\u203a", None),
        ("--gradient_accumulation_steps $STEPS", None),
        ("--gradient_accumulation_steps 8 <in >out", 256),
    ],
)
def test_a_placeholder_is_unknown_and_swallows_nothing(words: str, expected: int | None, tmp_path: Path) -> None:
    command = f"torchrun --nproc_per_node 8 train.py --config sft.yaml {words}\n"
    assert batches(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": command})) == [expected]


def test_a_placeholder_at_the_end_of_a_line_does_not_lose_the_launch(tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 8 --master_addr <address> \\\n  train.py --config sft.yaml --output_dir <dir>\n"
    assert batches(checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": command})) == [128]


def test_an_accelerate_file_for_sagemaker_is_not_judged(tmp_path: Path) -> None:
    text = "compute_environment: {}\ndistributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: 1\nmixed_precision: bf16\n"
    assert codes(checked(tmp_path / "a", {"acc.yaml": text.format("AMAZON_SAGEMAKER")})) == []
    assert codes(checked(tmp_path / "b", {"acc.yaml": text.format("LOCAL_MACHINE")})) == ["GBS302"]


# What the program itself puts in the place of a batch is not what a command line or a file says, as long as it always does.
@pytest.mark.parametrize(
    ("replaced", "expected"),
    [
        ("cfg.actor_rollout_ref.actor.ppo_mini_batch_size = cfg.groups * 6", (None, [])),
        ("if cfg.debug:\n        cfg.actor_rollout_ref.actor.ppo_mini_batch_size = 1", (64, ["GBS207"])),
        ("cfg.actor_rollout_ref.critic_batch = 64", (64, ["GBS207"])),
    ],
)
def test_a_batch_that_the_program_replaces_is_unknown(replaced: str, expected: tuple[int | None, list[str]], tmp_path: Path) -> None:
    program = PROGRAM.format(name="ppo").replace("(cfg): ...", f"(cfg):\n    {replaced}\n")
    words = "data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=128"
    report = checked(tmp_path, {"conf/ppo.yaml": VERL, "train.py": program, "run.sh": f"python train.py {words}\n"})
    assert (batches(report)[-1], codes(report)) == expected


LISTED = """\
ACTOR=(actor_rollout_ref.actor.ppo_mini_batch_size=32 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1)
{between}
python3 -m verl.trainer.main_ppo data.train_files=a data.train_batch_size=32 actor_rollout_ref.model.path=m \\
    actor_rollout_ref.rollout.n=1 trainer.n_gpus_per_node=8 trainer.nnodes=1 {arguments}
"""
DEVICE = 'case "$(probe)" in gpu) ;; npu) ACTOR+=(actor_rollout_ref.actor.megatron.vanilla_mbridge=False) ;; esac'


@pytest.mark.parametrize(
    ("between", "arguments", "expected"),
    [
        pytest.param(DEVICE, '"${ACTOR[@]}"', [], id="a list that is longer on some machines"),
        pytest.param("OPTIONS=$(cat options)", "$OPTIONS", [], id="options of a file"),
        pytest.param("", '"${ACTOR[@]}"', [], id="a list that is known"),
        pytest.param("", '"$@"', ["GBS207", "GBS209"], id="arguments that may not be there"),
        pytest.param("", "$MORE", ["GBS207", "GBS209"], id="a variable that may not be set"),
        pytest.param("", "", ["GBS207", "GBS209"], id="no more"),
    ],
)
def test_what_an_unknown_list_of_arguments_says_has_no_default(between: str, arguments: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.sh": LISTED.format(between=between, arguments=arguments)})
    assert sorted(codes(report)) == expected


OF_VERL = """\
python3 -m verl.trainer.main_ppo {named} algorithm.adv_estimator=gae data.train_batch_size=128 \\
  actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \\
  trainer.n_gpus_per_node=4 trainer.nnodes=1
"""


# 64 prompts of 1 completion each: verl's own configurations leave `rollout.n` at 1, and what others have can't be seen.
@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("--config-name=mine", []),
        ("-cn mine", []),
        ("--config-name=$NAME", []),
        ("--config-path=/conf --config-name=ppo_trainer", []),
        ("--config-dir=conf --config-name=ppo_trainer", []),
        ("--config-name=ppo_trainer", [64]),
        ("--config-path=./config --config-name='ppo_megatron_trainer'", [64]),
    ],
)
def test_the_configuration_of_a_package_is_known_by_its_name(tmp_path: Path, named: str, expected: list[int]) -> None:
    assert [batch for batch in batches(checked(tmp_path, {"run.sh": OF_VERL.format(named=named)})) if batch] == expected


SEARCHED = """\
hydra:
  searchpath: [file://verl/trainer/config]
defaults: [ppo_trainer, _self_]
actor_rollout_ref: {{rollout: {{name: sglang}}{more}}}
trainer: {{log_val_generations: 0}}
"""
PARENT = """\
data: {train_batch_size: 1024}
actor_rollout_ref:
  actor: {ppo_mini_batch_size: 256, use_dynamic_bsz: true}
  rollout: {n: 4}
trainer: {nnodes: 1, n_gpus_per_node: 8}
"""
GIVEN = "data.train_batch_size=512 actor_rollout_ref.actor.ppo_mini_batch_size=64 trainer.n_gpus_per_node=4"


# Reduced from recipe/sppo and recipe/spin of LLM360/Reasoning360 at 13158341 (run_qwen2.5-7b_rm.sh, run_spin.sh).
@pytest.mark.parametrize(
    ("parent", "more", "words", "expected"),
    [
        pytest.param({"verl/trainer/config/ppo_trainer.yaml": PARENT}, "", GIVEN, [256], id="64 prompts x 4"),
        # Which of them the parent has is unknown, and so is how many completions a prompt has.
        pytest.param({}, "", GIVEN, [None], id="a parent that is not there"),
        pytest.param({}, "", f"{GIVEN} actor_rollout_ref.rollout.n=2", [128], id="all is given"),
        # SPIN takes one step with all pairs of a rollout, whatever the mini batch is.
        pytest.param({"verl/trainer/config/ppo_trainer.yaml": PARENT}, ", actor: {dpo_beta: 0.1}", GIVEN, [], id="another trainer"),
    ],
)
def test_a_parent_in_a_searched_folder(parent: dict[str, str], more: str, words: str, expected: list[int | None], tmp_path: Path) -> None:
    program = PROGRAM.format(name="mine").replace('"conf"', '"config"')
    files = {**parent, "recipe/mine/config/mine.yaml": SEARCHED.format(more=more), "recipe/mine/main.py": program}
    assert batches(checked(tmp_path, {**files, "run.sh": f"python3 -m recipe.mine.main {words}\n"})) == expected


# Reduced from ARPO/scripts/ARPO_7B_Reasoning_1node.sh of dongguanting/ARPO at e257337.
@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        pytest.param("<path of this repository>/scripts/config", [256], id="what the reader fills in"),
        pytest.param("/home/me/acme/scripts/config", [256], id="where the author has the tree"),
        pytest.param("<path of this repository>/other/config", [None], id="another folder"),
        pytest.param("acme/scripts/config", [], id="a folder beside the program"),
    ],
)
def test_a_configuration_folder_in_the_place_of_the_repository(folder: str, expected: list[int | None], tmp_path: Path) -> None:
    files = {"acme/scripts/config/ppo.yaml": PARENT, "acme/verl/main.py": PROGRAM.format(name="gone")}
    flags = '--config-path="$CONFIG" --config-name=ppo.yaml actor_rollout_ref.actor.ppo_mini_batch_size=64'
    script = f'CONFIG="{folder}"\npython3 -m verl.main {flags}\n'
    assert batches(checked(tmp_path, {**files, "acme/scripts/run.sh": script})) == expected


# Reduced from main_ppo.py and train_general_reasoner.sh of TIGER-AI-Lab/General-Reasoner at 007e44c, where verl is a submodule.
@pytest.mark.parametrize(
    ("imports", "words", "expected"),
    [
        pytest.param("import torch", f"{GIVEN} actor_rollout_ref.rollout.n=8", [], id="another program"),
        pytest.param("from verl.trainer import RayPPOTrainer", GIVEN, [None], id="a part is given"),
        pytest.param("from verl.trainer import RayPPOTrainer", f"{GIVEN} actor_rollout_ref.rollout.n=8", [512], id="64 prompts x 8"),
    ],
)
def test_a_configuration_in_a_submodule(imports: str, words: str, expected: list[int | None], tmp_path: Path) -> None:
    program = PROGRAM.format(name="ppo").replace('"conf"', '"verl/trainer/config"')
    report = checked(tmp_path, {"mine.py": f"{imports}\n{program}", "run.sh": f"python -m mine {words}\n"})
    assert batches(report) == expected


# Reduced from recipe/dapo of Gen-Verse/Open-AgentRL at 1fe5dbd.
@pytest.mark.parametrize(("words", "expected"), [(GIVEN, [256]), ("trainer.total_epochs=1", [1024])])
def test_a_configuration_without_a_key_of_any_table(words: str, expected: list[int], tmp_path: Path) -> None:
    files = {
        "verl/trainer/config/ppo_trainer.yaml": PARENT,
        "dapo/config/dapo.yaml": "hydra: {searchpath: [file://verl/trainer/config]}\ndefaults: [ppo_trainer]\nfilter: {metric: acc}\n",
        "dapo/main.py": PROGRAM.format(name="dapo").replace('"conf"', '"config"'),
        "run.sh": f"python3 -m dapo.main {words}\n",
    }
    assert batches(checked(tmp_path, files)) == expected
    assert batches(check(WorkTree(tmp_path), ["run.sh"], Settings(), Given(), keep_runs=True)) == expected
