"""SwissArmyTransformer, oat, LMFlow, DanceGRPO, MLPerf's NeMo: flags, or the DeepSpeed file that these name; numbers worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, titled_batches

SAT = "finetune.py --mode finetune --train-iters 1000"
OAT = "python -m oat.experiment.main --pretrain my/model"
STEP = "--gpus 8 --train_batch_size 48 --train_batch_size_per_device 4"
RL = "--num_ppo_epochs 1 --critic_type drgrpo"
MLPERF = "torchrun --nnodes=1 --nproc_per_node=8 src/train.py --nodes 1 --gpus_per_node 8"
MAXTEXT = "python3 -m maxtext.trainers"
LMFLOW = "examples/finetune.py --model_name_or_path my/model --dataset_path data/alpaca"
AIAK = "torchrun --nproc_per_node 8 /workspace/aiak_training_llm/train.py --model-name llava-ov-1.5-4b --train-iters 9"
DANCE = "torchrun --nproc_per_node=8 train_grpo_flux.py --sampling_steps 16 --timestep_fraction 0.6 --num_generations 12"
MICRO = "--per_device_train_batch_size 2 --gradient_accumulation_steps 4"

# Programs as the repositories have them, as far as their arguments go.
OWN = {
    "finetune.py": "import argparse\nfrom sat import get_args\nparser = argparse.ArgumentParser(add_help=False)\n"
    "parser.add_argument('--max_length', type=int)\nknown, rest = parser.parse_known_args()\nargs = get_args(rest)\n",
    "evaluate_model.py": "from sat import get_args\nargs = get_args()\n",
    "other.py": "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--batch-size', type=int)\n",
    "src/train.py": "import argparse\nfrom nemo import lightning\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--gbs', type=int, default=1152, help='global batch')\nparser.add_argument('--mbs', type=int, default=1)\n"
    "parser.add_argument('--tensor_parallel_size', type=int, default=1)\n"
    "parser.add_argument('--pipeline_parallel_size', type=int, default=1)\n"
    "parser.add_argument('--context_parallel_size', type=int, default=1)\nargs = parser.parse_args()\n",
    "math_rl.py": "from oat.args import get_default_args\nfrom oat.algorithms.ppo import PPOLearner\n",
    "examples/finetune.py": "from transformers import HfArgumentParser\nfrom lmflow.pipeline.auto_pipeline import AutoPipeline\n",
    "examples/chatbot.py": "from transformers import HfArgumentParser\nfrom lmflow.models.auto_model import AutoModel\n",
    "scripts/zero.json": '{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2, "zero_optimization": {"stage": 2}}\n',
    "scripts/no_steps.json": '{"train_micro_batch_size_per_gpu": 3, "zero_optimization": {"stage": 2}}\n',
}


def trained(folder: Path, script: str) -> list[tuple[str, int | None]]:
    """The framework and the global batch of each launch of a script."""
    return titled_batches(checked(folder, {"scripts/run.sh": f"{script}\n", **OWN}))


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("deepspeed --num_gpus 8 other.py --train-iters 10 --batch-size 8", id="sat is not imported"),
        pytest.param("deepspeed --num_gpus 8 evaluate_model.py --mode finetune --train-iters 0 --batch-size 8", id="sat evaluates"),
        pytest.param("deepspeed --num_gpus 8 finetune.py --batch-size 8 --input-source text.txt", id="sat generates"),
        pytest.param("python other.py --train_batch_size 8 --pretrain a", id="oat is not imported"),
        pytest.param("torchrun --nproc_per_node=8 src/train.py --gbs 32", id="a global batch alone"),
        pytest.param("python3 -m maxtext.inference.decode per_device_batch_size=4 base_output_directory=a", id="MaxText decodes"),
        pytest.param(f"{MAXTEXT}.post_train.rl.train_rl num_batches=4", id="MaxText's rollouts of a file that is not seen"),
        pytest.param("python -m oat.oracles.remote.server --cuda-devices 0", id="an oracle of oat"),
        pytest.param("torchrun --nproc_per_node 8 train.py --micro-batch-size 1 --training-phase sft", id="a program of another's"),
        pytest.param(f"accelerate launch --num_processes 8 examples/chatbot.py --model_name_or_path a {MICRO}", id="LMFlow talks"),
        pytest.param(DANCE.replace("flux", "sd") + " --gradient_accumulation_steps 4", id="DanceGRPO on Stable Diffusion"),
        pytest.param(DANCE + " --gradient_accumulation_steps 4 --iters_per_group 25", id="a fork of DanceGRPO with another loop"),
    ],
)
def test_programs_of_others_say_nothing(tmp_path: Path, command: str) -> None:
    assert trained(tmp_path, command) == []


@pytest.mark.parametrize(
    ("script", "title", "total"),
    [
        pytest.param(f"{MAXTEXT}.post_train.rl.train_rl rl.num_generations=8 batch_size=16", "MaxText (RL)", 128, id="MaxText: 16 x 8"),
        pytest.param(
            f'C="{MAXTEXT}.post_train.rl.train_rl rl.num_generations=4 batch_size=8"\nxpk workload create --tpu-type=a --command="${{C}}"',
            "MaxText (RL)",
            32,
            id="MaxText on xpk: 8 x 4",
        ),
        pytest.param(f"deepspeed --num_gpus 8 {SAT} --batch-size 8", "SwissArmyTransformer", 64, id="sat: 8 x 8"),
        pytest.param(f"deepspeed --include localhost:0,1 {SAT} --batch-size 4", "SwissArmyTransformer", 8, id="sat: 4 x 2"),
        pytest.param(
            f"deepspeed --num_gpus 8 {SAT} --batch-size 4 --gradient-accumulation-steps 2 --model-parallel-size 2",
            "SwissArmyTransformer",
            32,
            id="sat: 4 x 2 x 8 / 2",
        ),
        pytest.param(
            f"deepspeed --num_gpus 8 {SAT} --batch-size 16 --deepspeed_config scripts/zero.json",
            "SwissArmyTransformer",
            64,
            id="sat: the file has the last word, 4 x 2 x 8",
        ),
        pytest.param(
            f"deepspeed --num_gpus 8 {SAT} --gradient-accumulation-steps 5 --deepspeed_config scripts/no_steps.json",
            "SwissArmyTransformer",
            24,
            id="sat: a file without accumulation is 1, 3 x 8",
        ),
        pytest.param(
            f"here=$(dirname $(realpath $0))\ndeepspeed --num_gpus 8 {SAT} --deepspeed_config $here/zero.json",
            "SwissArmyTransformer",
            64,
            id="sat: a file beside the script",
        ),
        pytest.param(f"accelerate launch --num_processes 8 {LMFLOW} {MICRO}", "LMFlow", 64, id="LMFlow: 2 x 4 x 8"),
        pytest.param(f"accelerate launch --num_processes 8 {LMFLOW} --per_device_train_batch_size 2", "LMFlow", 16, id="LMFlow: 2 x 8"),
        pytest.param(f"{DANCE} --gradient_accumulation_steps 4 --train_batch_size 2", "DanceGRPO", 32, id="DanceGRPO: 1 x 4 x 8"),
        pytest.param(f"{DANCE} --gradient_accumulation_steps 4 --sp_size 2", "DanceGRPO", 16, id="DanceGRPO: 1 x 4 x 8 / 2"),
        pytest.param(f"{AIAK} --training-phase sft --micro-batch-size 1 --global-batch-size 24", "AIAK-Training-LLM", 24, id="AIAK"),
        pytest.param(f"{AIAK} --training-phase sft --micro-batch-size 3", "AIAK-Training-LLM", 24, id="AIAK: 3 x 8"),
        pytest.param(f"{AIAK} --training-phase sft --micro-batch-size 3 --packing-sft-data", "AIAK-Training-LLM", None, id="AIAK packs"),
        pytest.param(f"{MLPERF} --gbs 32 --mbs 2", "NeMo (MLPerf)", 32, id="MLPerf: as the log of the run says"),
        pytest.param(f"export GBS=32 MBS=2\n{MLPERF} --gbs $GBS --mbs $MBS", "NeMo (MLPerf)", 32, id="MLPerf: from the environment"),
        pytest.param(f"{OAT} --gpus 8 --train-batch-size-per-device 8", "oat (preferences)", 128, id="oat: 128 by default"),
        pytest.param(f"{OAT} --algo SFT --chat_data a --train_batch_size 64", "oat (SFT)", 64, id="oat: SFT"),
        pytest.param(f"python math_rl.py --pretrain a {RL} --train_batch_size 256", "oat (RL)", 256, id="oat: a program of its own"),
    ],
)
def test_batches(tmp_path: Path, script: str, title: str, total: int | None) -> None:
    assert trained(tmp_path, script) == [(title, total)]


@pytest.mark.parametrize(
    ("flags", "refused"),
    [
        pytest.param("--gpus 8 --train_batch_size 128 --train_batch_size_per_device 8", False, id="4 learn: 128 = 8 x 4 x 4"),
        pytest.param(STEP, False, id="4 learn: 48 = 4 x 3 x 4"),
        pytest.param("--gpus 8 --train_batch_size 64 --train_batch_size_per_device 8 --collocate", False, id="8 learn: 64 = 8 x 8"),
        pytest.param(f"{STEP} --preference_data a", False, id="any number may learn"),
        pytest.param(f"{STEP} --collocate", True, id="8 learn: 48 / 32"),
        pytest.param("--gpus 8 --train_batch_size 40 --train_batch_size_per_device 4", True, id="4 learn: 40 / 16"),
    ],
)
def test_half_of_the_gpus_of_oat_learn(tmp_path: Path, flags: str, refused: bool) -> None:
    found = codes(checked(tmp_path, {"run.sh": f"{OAT} {flags}\n"}))
    assert found == (["GBS202"] if refused else [])


@pytest.mark.parametrize(
    ("flags", "refused"),
    [
        pytest.param("--gbs 32 --mbs 2", False, id="32 = 2 x 2 x 8"),
        pytest.param("--gbs 32 --mbs 8 --tensor_parallel_size 2", False, id="32 = 8 x 8 / 2"),
        pytest.param("--gbs 32 --mbs $MBS", False, id="a micro batch of the environment"),
        pytest.param("--gbs 32 --mbs 8", True, id="32 / 64"),
    ],
)
def test_whole_micro_batches_of_all_ranks(tmp_path: Path, flags: str, refused: bool) -> None:
    found = codes(checked(tmp_path, {"run.sh": f"{MLPERF} {flags}\n", **OWN}))
    assert found == (["GBS202"] if refused else [])
