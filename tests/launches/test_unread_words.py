"""One word that can't be read leaves its own setting unknown, never the others, never the launch."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

TUNE = """\
model: {_component_: torchtune.models.llama3.llama3_8b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 2048}
optimizer: {_component_: torch.optim.AdamW}
batch_size: 4
gradient_accumulation_steps: 1
epochs: 1
output_dir: /tmp/out
"""
RUN = "tune run --nproc_per_node 8 full_finetune_distributed --config r.yaml gradient_accumulation_steps=4 "
MEGATRON = "--num-layers 8 --micro-batch-size 2 --global-batch-size 64 --seq-length 4096 --train-iters 100"


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("gradient_accumulation_steps=${A[$((i+1))]}", id="an item of an array"),
        pytest.param("gradient_accumulation_steps='${a:b'", id="text that OmegaConf can't parse"),
        pytest.param("gradient_accumulation_steps=$(nproc)", id="an output"),
    ],
)
@pytest.mark.parametrize("recipe", [TUNE, TUNE.replace("/tmp/out", "!acme out")], ids=["plain", "with a tag of its own"])
def test_its_own_setting_is_unknown(recipe: str, setting: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"r.yaml": recipe, "run.sh": f"{RUN}{setting}\n"})
    assert (batches(report), codes(report)) == ([None], [])


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param("output_dir=${X[$((i+1))]}", id="an item of an array"),
        pytest.param("output_dir='${a:b'", id="text that OmegaConf can't parse"),
        pytest.param("output_dir=${X//[^a-z]/$(date)}", id="replaced"),
        pytest.param("optimizer.lr=${LR:-$(( 1 / (2) ))}", id="nested parentheses"),
    ],
)
@pytest.mark.parametrize("recipe", [TUNE, TUNE.replace("/tmp/out", "!acme out")], ids=["plain", "with a tag of its own"])
def test_the_other_settings_are_as_they_were(recipe: str, setting: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"r.yaml": recipe, "run.sh": f"{RUN}{setting}\n"})
    assert (batches(report), codes(report)) == ([128], [])  # 4 x 4 x 8


def test_the_launch_of_a_script_stays_whatever_one_argument_is(tmp_path: Path) -> None:
    files = {
        "run.sh": f"srun ./launch.sh pretrain_gpt.py {MEGATRON} --save runs/$SLURM_JOB_ID --data-path $DATA --bf16\n",
        "launch.sh": 'python "$@"\n',
        "pretrain_gpt.py": "from megatron.training import pretrain\n",
    }
    assert batches(checked(tmp_path, files)) == [64]


@pytest.mark.parametrize("setting", ["a.tools=tools.yaml", "+a.tools=/data/tools.yaml", "a.tools=$DATA/tools.yaml", "a/b@c=d.yaml"])
def test_a_file_that_a_setting_of_hydra_names_is_not_the_recipe(setting: str, tmp_path: Path) -> None:
    run = "python3 -m verl.trainer.main_ppo data.train_batch_size=512 actor_rollout_ref.actor.ppo_mini_batch_size=128 algorithm.gamma=1"
    assert len(batches(checked(tmp_path, {"run.sh": f"{run} trainer.n_gpus_per_node=8 {setting}\n"}))) == 1


@pytest.mark.parametrize("option", ["--model-card", "--num-checkpoint", "--data-cache"])
def test_a_file_behind_an_option_with_a_c_is_not_a_recipe(option: str, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"r.yaml": TUNE, "run.sh": f"tune run --nproc_per_node 8 my_recipe.py {option} r.yaml\n"})) == []


@pytest.mark.parametrize("option", ["-c", "--config", "--cfg"])
def test_a_file_behind_an_option_that_says_so_is_one(option: str, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"r.yaml": TUNE, "run.sh": f"tune run --nproc_per_node 8 my_recipe.py {option} r.yaml\n"})) == [32]
