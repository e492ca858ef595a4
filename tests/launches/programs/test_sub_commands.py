"""trl, llamafactory-cli, axolotl, tune, swift, xtuner, litgpt: each with its own grammar, and unknown what can not be known."""

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.programs.starting import problems, program, sizes, start_of, starts, world

NOTHING = {
    "trl-env": "trl env",
    "trl-serve": "trl vllm-serve --model x",
    "llamafactory-export": "llamafactory-cli export merge.yaml",
    "llamafactory-chat": "llamafactory-cli chat x.yaml",
    "llamafactory-1-without-a-trainer": "USE_V1=1 llamafactory-cli dpo x.yaml",
    "axolotl-preprocess": "axolotl preprocess config.yml",
    "axolotl-inference": "axolotl inference config.yml",
    "tune-download": "tune download meta-llama/Llama --output-dir x",
    "tune-copy": "tune cp llama3/8B_full x.yaml",
    "tune-quantize": "tune run quantize --config quantization",
    "tune-evaluate": "tune run --nproc_per_node 1 eleuther_eval --config x",
    "swift-infer": "NPROC_PER_NODE=8 swift infer --model x",
    "swift-compiler": "swift build",
    "xtuner-chat": "NPROC_PER_NODE=8 xtuner chat internlm/internlm2-chat-7b",
    "xtuner-copy": "xtuner copy-cfg internlm2_7b_qlora ./",
    "xtuner-changed": "xtuner train a.py --cfg-options train_dataloader.batch_size=4",
    "xtuner-bare": "xtuner train",
    "litgpt-download": "litgpt download EleutherAI/pythia-160m",
    "litgpt-serve": "litgpt serve out/final",
    "litgpt-bare": "litgpt",
    "specforge-bare": "specforge train",
    "specforge-plan": "specforge train -c x.yaml --plan",
    "specforge-serves": "specforge train -c x.yaml --role producer",
    "specforge-exports": "specforge export -c x.yaml",
    "bare": "trl",
    "arctic-data": "arctic_training process-data x.yml",
    "arctic-bare": "arctic_training --num_gpus 8",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_what_trains_nothing_starts_nothing(text: str) -> None:
    assert list(starts(text)) == []


FILES = {
    "sft.yaml": "model_name_or_path: x\nper_device_train_batch_size: 2\n",
    "with.yaml": "model_name_or_path: x\nnum_processes: 2\n",
    "profile.yaml": "model_name_or_path: x\naccelerate_config: zero3\n",
    "mine.yaml": "distributed_type: MULTI_GPU\nnum_machines: 2\nnum_processes: 16\n",
    "swift.yaml": "model: x\nENV:\n  NPROC_PER_NODE: 4\n  NNODES: '2'\n",
}
TRL = {
    "nothing-said": ("trl sft --model_name_or_path x", "auto"),
    "recipe-that-says-nothing": ("trl sft --config sft.yaml", "auto"),
    "recipe-elsewhere": ("trl sft --config other.yaml", "missing"),
    "profile-of-the-environment": ("trl sft --config sft.yaml --accelerate_config $P", "missing"),
    "no-such-profile": ("trl sft --config sft.yaml --accelerate_config zero9", "missing"),
    "processes": ("trl dpo --config sft.yaml --num_processes 4", 4),
    "profile": ("trl grpo --config sft.yaml --accelerate_config zero3", 8),
    "profile-and-processes": ("trl sft --config sft.yaml --accelerate_config fsdp2 --num_processes 4", 4),
    "profile-on-more-machines": ("trl sft --config sft.yaml --accelerate_config fsdp2 --num_machines 2", 8),
    "single": ("trl sft --config sft.yaml --accelerate_config single_gpu", 1),
    "file": ("trl sft --config sft.yaml --accelerate_config mine.yaml", 16),
    "in-the-recipe": ("trl sft --config with.yaml", 2),
    "command-line-beats-recipe": ("trl sft --config with.yaml --num_processes 8", 8),
    "profile-in-the-recipe": ("trl kto --config profile.yaml", 8),
    "module": ("python -m trl sft --num_processes 4 --config sft.yaml", 4),
}


@pytest.mark.parametrize(("text", "expected"), TRL.values(), ids=TRL)
def test_trl_hands_its_options_to_accelerate(text: str, expected: int | str) -> None:
    assert world(start_of(text, FILES)) == expected


def test_trl_names_its_recipe() -> None:
    start = start_of("trl sft --config sft.yaml --gradient_accumulation_steps 4 --accelerate_config zero1", FILES)
    assert (start.name, [word.text for word in start.recipes]) == ("trl sft", ["sft.yaml"])
    assert program(start)[:3] == ["sft", "--config", "sft.yaml"]
    assert sizes(start)[Name.GRADIENT_ACCUMULATION_STEPS] == 1  # of the profile; the other is the recipe's


def test_the_accumulation_of_trl_is_the_recipes() -> None:
    start = start_of("trl sft --config sft.yaml --gradient_accumulation_steps 4 --accelerate_config zero3", FILES)
    assert Name.GRADIENT_ACCUMULATION_STEPS not in sizes(start)


LLAMAFACTORY = {
    "nothing-said": ("llamafactory-cli train x.yaml", "auto"),
    "forced": ("FORCE_TORCHRUN=1 llamafactory-cli train x.yaml", "auto"),
    "not-forced": ("NPROC_PER_NODE=8 llamafactory-cli train x.yaml", "auto"),
    "forced-by-the-environment": ("FORCE_TORCHRUN=$F NPROC_PER_NODE=8 llamafactory-cli train x.yaml", "auto"),
    "elastic": ("FORCE_TORCHRUN=1 RDZV_ID=7 MIN_NNODES=1 MAX_NNODES=3 NPROC_PER_NODE=8 llamafactory-cli train x.yaml", "elastic"),
    "ray": ("USE_RAY=1 CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train x.yaml", "missing"),
    "nodes-of-the-environment": ("FORCE_TORCHRUN=1 NNODES=$N NPROC_PER_NODE=8 llamafactory-cli train x.yaml", "interpolated"),
    "devices-of-the-environment": ("CUDA_VISIBLE_DEVICES=$G llamafactory-cli train x.yaml", "auto"),
    "no-device": ("CUDA_VISIBLE_DEVICES= llamafactory-cli train x.yaml", "auto"),
    "one-device": ("CUDA_VISIBLE_DEVICES=3 llamafactory-cli train x.yaml", 1),
    "devices": ("CUDA_VISIBLE_DEVICES=0,1,2,3 llamafactory-cli train x.yaml", 4),
    "processes": ("FORCE_TORCHRUN=1 NPROC_PER_NODE=8 llamafactory-cli train x.yaml", 8),
    "nodes": ("FORCE_TORCHRUN=1 NNODES=2 NPROC_PER_NODE=8 llamafactory-cli train x.yaml", 16),
    "forced-off": ("FORCE_TORCHRUN=0 CUDA_VISIBLE_DEVICES=0 llamafactory-cli train x.yaml", 1),
    "forced-on-one": ("FORCE_TORCHRUN=true CUDA_VISIBLE_DEVICES=0 NNODES=2 llamafactory-cli train x.yaml", 2),
    "devices-and-nodes": ("NNODES=2 CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli train x.yaml", 4),
    "megatron": ("USE_MCA=1 NPROC_PER_NODE=8 llamafactory-cli train x.yaml", 8),
    "version-1": ("USE_V1=1 CUDA_VISIBLE_DEVICES=0,1 llamafactory-cli sft x.yaml", 2),
}


@pytest.mark.parametrize(("text", "expected"), LLAMAFACTORY.values(), ids=LLAMAFACTORY)
def test_llamafactory_reads_its_environment(text: str, expected: int | str) -> None:
    assert world(start_of(text)) == expected


def test_llamafactory_names_its_recipe() -> None:
    start = start_of("export FORCE_TORCHRUN=1\nllamafactory-cli train examples/sft.yaml learning_rate=1e-5")
    assert [word.text for word in start.recipes] == ["examples/sft.yaml"]
    assert program(start) == ["train", "examples/sft.yaml", "learning_rate=1e-5"]
    assert start_of("llamafactory-cli train --stage sft --template x").recipes == ()


AXOLOTL = {
    "nothing-said": ("axolotl train x.yml", "auto"),
    "torchrun-of-the-environment": ("axolotl train x.yml --launcher torchrun -- --nproc_per_node $N", "interpolated"),
    "plain": ("axolotl train x.yml --launcher python", "missing"),
    "launcher-of-the-environment": ("axolotl train x.yml --launcher $L -- --nproc_per_node 8", "interpolated"),
    "cloud": ("axolotl train x.yml --cloud modal.yml", "missing"),
    "handed-on": ("axolotl train x.yml -- --num_processes=8", 8),
    "legacy": ("axolotl train x.yml --num-processes 4", 4),
    "machines": ("axolotl train x.yml --launcher accelerate -- --num_processes 16 --num_machines 2", 16),
    "file": ("axolotl train x.yml -- --config_file mine.yaml", 16),
    "torchrun": ("axolotl train x.yml --launcher torchrun -- --nproc_per_node=8 --nnodes=2", 16),
    "torchrun-alone": ("axolotl train x.yml --launcher torchrun", 1),
    "one-device": ("CUDA_VISIBLE_DEVICES=0 axolotl train x.yml --launcher python", 1),
    "as-a-module": ("accelerate launch --num_processes 2 -m axolotl.cli.train x.yml", 2),
}


@pytest.mark.parametrize(("text", "expected"), AXOLOTL.values(), ids=AXOLOTL)
def test_axolotl_passes_on_what_follows_two_dashes(text: str, expected: int | str) -> None:
    assert world(start_of(text, FILES)) == expected


def test_axolotl_names_its_recipe() -> None:
    start = start_of("axolotl train config.yml --micro-batch-size 4 -- --num_processes 8")
    assert [word.text for word in start.recipes] == ["config.yml"]
    assert program(start) == ["train", "config.yml", "--micro-batch-size", "4"]


TUNE = {
    "environment": ("tune run --nproc_per_node $N full_finetune_distributed --config x.yaml", "interpolated"),
    "elastic": ("tune run --nnodes 1:2 --nproc_per_node 8 full_finetune_distributed --config x.yaml", "elastic"),
    "by-ray": ("tune run dev/async_grpo_full_finetune_distributed --config x.yaml", "missing"),
    "one-device": ("tune run lora_finetune_single_device --config llama3/8B_lora batch_size=4", 1),
    "processes": ("tune run --nproc_per_node 4 full_finetune_distributed --config x.yaml", 4),
    "nodes": ("tune run --nnodes 2 --nproc_per_node 8 --rdzv_id 1 full_finetune_distributed --config x.yaml", 16),
    "behind-the-recipe": ("tune run full_finetune_distributed --config x.yaml --nproc_per_node 8", 1),
    "own-recipe": ("tune run --nproc_per_node 2 recipes/mine.py --config x.yaml", 2),
}


@pytest.mark.parametrize(("text", "expected"), TUNE.values(), ids=TUNE)
def test_tune_run_takes_the_options_of_torchrun(text: str, expected: int | str) -> None:
    assert world(start_of(text)) == expected


def test_tune_run_names_its_recipe() -> None:
    start = start_of("tune run --nproc_per_node 4 full_finetune_distributed --config llama3_1/8B_full batch_size=4")
    assert [word.text for word in start.recipes] == ["llama3_1/8B_full"]
    assert program(start) == ["full_finetune_distributed", "--config", "llama3_1/8B_full", "batch_size=4"]


def test_a_recipe_of_one_device_takes_no_options_of_torchrun() -> None:
    start = start_of("tune run --nproc_per_node 2 lora_finetune_single_device --config x.yaml")
    message = "lora_finetune_single_device does not support distributed training; tune run stops at --nproc_per_node"
    assert problems(start) == [(message, True)]
    assert problems(start_of("tune run lora_finetune_single_device --config x.yaml")) == []


def test_specforge_leaves_the_processes_to_what_it_reads() -> None:
    start = start_of("specforge train -c x.yaml --role consumer training.batch_size=2")
    assert (start.name, sizes(start)) == ("specforge train", {Name.WORLD_SIZE: "missing"})
    assert [word.text for word in start.recipes] == ["x.yaml"]


def test_litgpt_leaves_the_processes_to_what_it_reads() -> None:
    start = start_of("litgpt finetune_lora checkpoints/x --config lora.yaml --devices 4")
    assert (start.name, sizes(start)) == ("litgpt finetune_lora", {Name.WORLD_SIZE: "missing"})
    assert [word.text for word in start.recipes] == ["lora.yaml"]
    assert program(start) == ["finetune_lora", "checkpoints/x", "--config", "lora.yaml", "--devices", "4"]
    assert start_of("litgpt pretrain pythia-14m").recipes == ()


SWIFT = {
    "nothing-said": ("swift sft --model x", "missing"),
    "devices": ("CUDA_VISIBLE_DEVICES=0,1 swift sft --model x", 1),  # JJH12234/ScaleBench: the model is split among them
    "devices-of-megatron": ("CUDA_VISIBLE_DEVICES=0,1 megatron sft --model x", "missing"),
    "unknown-devices": ("CUDA_VISIBLE_DEVICES=$GPUS swift sft --model x", "interpolated"),
    "recipe-elsewhere": ("NPROC_PER_NODE=8 swift sft other.yaml", "missing"),
    "nodes-of-the-environment": ("NNODES=$N NPROC_PER_NODE=8 megatron sft --model x", "interpolated"),
    "one-device": ("CUDA_VISIBLE_DEVICES=0 swift sft --model x", 1),
    "processes": ("NPROC_PER_NODE=4 CUDA_VISIBLE_DEVICES=0,1,2,3 swift rlhf --rlhf_type grpo", 4),
    "nodes": ("NNODES=2 NPROC_PER_NODE=8 megatron pt --model x", 16),
    "nodes-alone": ("NNODES=2 swift pt --model x", 2),
    "in-the-recipe": ("swift sft swift.yaml", 8),
    "environment-beats-recipe": ("NNODES=1 swift sft swift.yaml", 4),
}


@pytest.mark.parametrize(("text", "expected"), SWIFT.values(), ids=SWIFT)
def test_swift_reads_its_environment(text: str, expected: int | str) -> None:
    assert world(start_of(text, FILES)) == expected


def test_swift_names_its_recipe() -> None:
    start = start_of("swift sft swift.yaml --max_length 2048", FILES)
    assert (start.name, [word.text for word in start.recipes]) == ("swift sft", ["swift.yaml"])


XTUNER = {
    "nothing-said": ("xtuner train internlm2_7b_qlora --deepspeed deepspeed_zero2", 1),
    "on-one-node": ("NPROC_PER_NODE=8 xtuner train a.py", 8),
    "on-several": ("NNODES=4 NPROC_PER_NODE=8 xtuner train a.py", 32),
    "unknown": ("NPROC_PER_NODE=$N xtuner train a.py", "interpolated"),
    "tasks": ("srun --nodes=2 --ntasks-per-node=8 xtuner train a.py --launcher slurm", 16),
    "tasks-elsewhere": ("xtuner train a.py --launcher slurm", "missing"),
    "unknown-tasks": ("srun $ARGS xtuner train a.py --launcher slurm", "missing"),
    "started-by-another": ("xtuner train a.py --launcher pytorch", "not-an-integer"),
}


@pytest.mark.parametrize(("text", "expected"), XTUNER.values(), ids=XTUNER)
def test_xtuner_starts_so_many(text: str, expected: int | str) -> None:
    assert world(start_of(text)) == expected


ARCTIC = {
    "nothing-said": ("arctic_training x.yml", "missing"),
    "ray": ("arctic_training x.yml --launcher ray", "missing"),
    "of-the-environment": ("arctic_training x.yml --num_gpus $N", "interpolated"),
    "processes": ("arctic_training x.yml --num_gpus 2", 2),
    "mode": ("arctic_training train x.yml --num_nodes 2 --num_gpus 8", 16),
}


@pytest.mark.parametrize(("text", "expected"), ARCTIC.values(), ids=ARCTIC)
def test_arctic_training_hands_its_options_to_deepspeed(text: str, expected: int | str) -> None:
    assert world(start_of(text)) == expected
