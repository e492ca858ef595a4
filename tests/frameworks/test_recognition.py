import csv
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import Source
from pytest_gbs.readers import read
from tests.support import corpus

from .building import title

MODEL = "model_name_or_path: my/model\n"
TRAINING = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\nlearning_rate: 1.0e-5\noutput_dir: out\n"

# Keys of any trainer.
ANY_KEYS = [
    "amp",
    "arch",
    "bf16",
    "checkpoint",
    "data",
    "data_path",
    "dataset",
    "dataset_name",
    "device",
    "dropout",
    "epochs",
    "eval_interval",
    "fp16",
    "gpus",
    "grad_accum",
    "grad_clip",
    "gradient_accumulation_steps",
    "hidden_size",
    "image_size",
    "learning_rate",
    "loss",
    "lr",
    "max_epochs",
    "max_length",
    "max_steps",
    "model",
    "model_name",
    "model_path",
    "name",
    "num_classes",
    "num_epochs",
    "num_gpus",
    "num_layers",
    "num_workers",
    "optimizer",
    "output_dir",
    "project",
    "resume",
    "save_dir",
    "save_interval",
    "scheduler",
    "seed",
    "seq_len",
    "steps",
    "task",
    "tokenizer",
    "train_data",
    "train_path",
    "val_data",
    "vocab_size",
    "wandb",
    "warmup",
    "warmup_steps",
    "weight_decay",
    "workers",
    "world_size",
]

LOOK_ALIKES = {
    "only comments": "# nothing here\n{}\n",
    "a scalar": "hello\n",
    "a list": "- per_device_train_batch_size\n- model_name_or_path\n",
    "accelerate": "distributed_type: MULTI_GPU\nnum_processes: 8\nper_device_train_batch_size: 4\noutput_dir: x\n",
    "DeepSpeed": "zero_optimization: {stage: 3}\ntrain_micro_batch_size_per_gpu: auto\ngradient_accumulation_steps: auto\n",
    "model config": "architectures: [LlamaForCausalLM]\nmodel_type: llama\nhidden_size: 4096\n",
    "generation config": "max_new_tokens: 128\ntemperature: 0.7\ndo_sample: true\n",
    "adapter config": "base_model_name_or_path: my/model\npeft_type: LORA\nr: 16\nlora_alpha: 32\n",
    "trainer state": "train_batch_size: 4\nlog_history: []\nmax_steps: 100\nsave_steps: 10\n",
    "data filtering": MODEL + "dataset_name: my/data\nnum_generations: 4\nmax_completion_length: 512\nreward_funcs: [code]\n",
    "inference": MODEL + "template: llama3\ninfer_backend: vllm\n",
    "dataset mixture": "datasets:\n  - id: my/data\n    split: train\nseed: 1\n",
    "CI workflow": "name: tests\non: push\njobs:\n  build:\n    runs-on: ubuntu-latest\n",
    "table of contents": "- title: Chapter\n  sections:\n    - local: chapter1\n",
    "lm-harness": "task: mmlu\ndataset_path: my/data\nnum_fewshot: 5\n",
    "evaluation": "task: mmlu\nbatch_size: 8\nnum_fewshot: 5\n",
    "a program with options of DeiT": "model: vit\ndata_path: data\nbatch_size: 8\nlr: 0.1\n",
    "a program with options of DINO": "arch: vit\ndata_path: data\nbatch_size_per_gpu: 8\n",
    "a program with options of YOLO": "weights: a.pt\nimgsz: 640\nbatch_size: 8\n",
    "vLLM server": "model: my/model\ntensor-parallel-size: 8\nmax-model-len: 4096\n",
    "beaker": "version: v2\ntasks:\n  - name: train\n    arguments: [--per_device_train_batch_size, '4']\n",
    "SkyPilot": "resources: {accelerators: 'A100:8'}\nnum_nodes: 2\nrun: python train.py\n",
    "Kubernetes": "apiVersion: v1\nkind: ConfigMap\nper_device_train_batch_size: 4\noutput_dir: x\n",
    "oumi": "model: {model_name: my/model}\ntraining:\n  per_device_train_batch_size: 4\n  gradient_accumulation_steps: 2\n",
    "torchtune": "model: {_component_: x}\nbatch_size: 2\ngradient_accumulation_steps: 8\nepochs: 1\n",
    "nested Trainer arguments": "defaults:\n  per_device_train_batch_size: 2\n  gradient_accumulation_steps: 32\n  learning_rate: 1e-5\n",
    "a restored model that is evaluated": "trainer: {devices: 1}\nmodel: {restore_from_path: vit.nemo, micro_batch_size: 512}\n",
    "a model to be restored and evaluated": "trainer: {devices: 1}\nmodel: {restore_from_path: null, micro_batch_size: 512}\n",
    "a vocabulary": "".join(f"w{n}: {n}\n" for n in range(10_001)) + MODEL + "stage: 7\n" + TRAINING,
    "keys of OpenRLHF": MODEL + "beta: 0.1\ngradient_checkpointing: true\nmicro_train_batch_size: 1\ntrain_batch_size: 8\n",
    # Reduced from NovaSearch-Team/RAG-Retrieval, training_llm.yaml: its program has batch_size for what the Trainer calls otherwise.
    "a reranker with a loss": MODEL + "batch_size: 2\ngradient_accumulation_steps: 2\nloss_type: ranknet\ntrain_group_size: 10\n",
    "a micro batch alone": "per_device_train_batch_size: 4\n",
    "what is evaluated": MODEL + TRAINING + "do_train: false\ndo_predict: true\n",
    "a record of Weights & Biases": f"wandb_version: 1\n\n{MODEL}{TRAINING}_wandb: {{desc: null, value: {{cli_version: 0.17}}}}\n",
}


@pytest.mark.parametrize("seed", range(20))
def test_keys_that_any_trainer_has_are_of_no_framework(seed: int) -> None:
    random = Random(seed)
    for _ in range(50):
        keys = [*random.sample(ANY_KEYS, random.randint(4, 12)), random.choice(("batch_size", "train_batch_size", "batch"))]
        (document,) = read(Source("conf.yaml", "".join(f"{key}: 8\n" for key in keys)))
        assert isinstance(document, Document)
        assert recognise(document) is None, keys


@pytest.mark.parametrize("text", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_other_files_are_not_recipes(text: str) -> None:
    assert title(text) is None


def test_other_files_are_not_recipes_under_a_recipe_s_path() -> None:
    for text in LOOK_ALIKES.values():
        assert title(text, "recipes/zephyr/sft/config.yaml") is None


OF_DPO = [
    ("kto", "loss_type: kto_pair\n", "TRL (DPO)"),
    ("kto", "loss_type: sigmoid\n", "TRL (DPO)"),
    ("bco", "loss_type: bco_pair\n", "TRL (DPO)"),
    ("orpo", "loss_type: robust\n", "TRL (DPO)"),
    ("cpo", "loss_type: kto_pair\n", "TRL (DPO)"),
    ("cpo", "loss_type: sigmoid\n", "TRL (CPO)"),
    ("kto", "loss_type: kto\n", "TRL (KTO)"),
    ("kto", "loss_type: apo_zero_unpaired\n", "TRL (KTO)"),
    ("kto", "", "TRL (KTO)"),
]


@pytest.mark.parametrize(("folder", "loss", "expected"), OF_DPO)
def test_a_path_says_nothing_against_the_loss(folder: str, loss: str, expected: str) -> None:
    text = MODEL + TRAINING + "beta: 0.1\nmax_prompt_length: 512\n" + loss
    assert title(text, f"recipes/zephyr/{folder}/config.yaml") == expected


RECIPES = [
    pytest.param("", MODEL + TRAINING + "dataset_name: my/data\n", "TRL (SFT)", id="a dataset alone"),
    pytest.param("", MODEL + "dataset_name: my/data\nlearning_rate: 1.0e-5\n", "TRL (SFT)", id="every batch key by default"),
    pytest.param("", MODEL + TRAINING + "max_seq_length: 2048\n", "TRL (SFT)", id="older name of the length"),
    pytest.param("", MODEL + TRAINING + "dataset_mixture: {seed: 1}\nmax_length: 8192\npacking: true\n", "TRL (SFT)", id="handbook"),
    pytest.param(
        "", MODEL + TRAINING + "dataset_mixer: {my/data: 1.0}\nbeta: 0.1\nmax_prompt_length: 512\n", "TRL (DPO)", id="old handbook"
    ),
    pytest.param("recipes/m/dpo/config.yaml", MODEL + TRAINING + "dataset_name: x\n", "TRL (DPO)", id="by its folder"),
    pytest.param("recipes/m-sft/dpo/config.yaml", MODEL + TRAINING + "dataset_name: x\n", "TRL (DPO)", id="by the nearest folder"),
    pytest.param("recipes/dpo/m/config_sft_full.yaml", MODEL + TRAINING + "dataset_name: x\n", "TRL (SFT)", id="by the file's name"),
    pytest.param("recipes/m/orpo/config.yaml", MODEL + TRAINING + "beta: 0.05\nmax_prompt_length: 9\n", "TRL (ORPO)", id="ORPO"),
    pytest.param("recipes/m/simpo/config.yaml", MODEL + TRAINING + "beta: 2.0\ngamma_beta_ratio: 0.5\n", "TRL (CPO)", id="SimPO"),
    pytest.param("", MODEL + TRAINING + "beta: 2.0\nsimpo_gamma: 0.5\n", "TRL (CPO)", id="CPO by its keys"),
    pytest.param("", MODEL + TRAINING + "desirable_weight: 1.0\n", "TRL (KTO)", id="KTO by its keys"),
    pytest.param("kto/config.yaml", MODEL + TRAINING + "beta: 0.1\n", "TRL (KTO)", id="KTO by its folder"),
    pytest.param("", MODEL + TRAINING + "prompt_sample_size: 64\n", "TRL (BCO)", id="BCO"),
    pytest.param("", MODEL + TRAINING + "center_rewards_coefficient: 0.01\n", "TRL (Reward)", id="reward model"),
    pytest.param("reward.yaml", MODEL + TRAINING + "max_length: 1024\n", "TRL (Reward)", id="reward model by its name"),
    pytest.param("", MODEL + TRAINING + "num_generations: 8\nreward_funcs: [accuracy]\n", "TRL (GRPO)", id="GRPO"),
    pytest.param("grpo.yaml", MODEL + TRAINING + "max_completion_length: 512\n", "TRL (GRPO)", id="GRPO by its name"),
    pytest.param("recipes/m/rloo/config.yaml", MODEL + TRAINING + "num_generations: 4\n", "TRL (RLOO)", id="RLOO"),
    pytest.param("", MODEL + TRAINING + "num_mini_batches: 4\nnum_ppo_epochs: 1\n", "TRL (PPO)", id="PPO"),
    pytest.param("", MODEL + TRAINING + "reward_model_path: my/rm\nmissing_eos_penalty: 1.0\n", "TRL (Online DPO)", id="Online DPO"),
    pytest.param(
        "",
        MODEL + TRAINING + "use_slow_tokenizer: true\ndataset_mixer: {x: 1}\nwith_tracking: true\n",
        "open-instruct (SFT)",
        id="open-instruct",
    ),
    pytest.param(
        "configs/dpo/a.yaml", MODEL + TRAINING + "with_tracking: true\nbeta: 0.1\n", "open-instruct (DPO)", id="open-instruct DPO"
    ),
    pytest.param("", MODEL + TRAINING + "block_size: 1024\n", "transformers Trainer (example script)", id="run_clm.py"),
    pytest.param("", MODEL + TRAINING + "dataset_name: x\nline_by_line: true\n", "transformers Trainer (example script)", id="run_mlm.py"),
    pytest.param("", "base_model: m\nmicro_batch_size: 2\ngradient_accumulation_steps: 4\nlearning_rate: 2e-5\n", "axolotl", id="axolotl"),
    pytest.param(
        "",
        MODEL + TRAINING + "stage: sft\nfinetuning_type: lora\ntemplate: llama3\ndataset: identity\n",
        "LLaMA-Factory",
        id="LLaMA-Factory",
    ),
    pytest.param("", TRAINING + "model: my/model\ntuner_type: lora\ndataset: [a, b]\n", "ms-swift", id="ms-swift"),
    pytest.param("", MODEL + "trainer: {train_batch_size: 128}\noptimizer: {learning_rate: 1.0e-5}\n", "Levanter", id="Levanter"),
    pytest.param("", TRAINING, "transformers Trainer", id="arguments of some script"),
    pytest.param("", TRAINING + "my_own_key: 1\n", "transformers Trainer", id="arguments and keys of no framework"),
]


@pytest.mark.parametrize(("path", "text", "expected"), RECIPES)
def test_recipes_are_distinguished_by_keys_then_by_path(path: str, text: str, expected: str) -> None:
    assert title(text, path or "recipe.yaml") == expected


def test_json_is_recognised_as_yaml_is() -> None:
    assert title('{"model_name_or_path": "m", "dataset_name": "d", "per_device_train_batch_size": 4}', "a.json") == "TRL (SFT)"


# The names of the frameworks that a label of the corpus stands for, where it is not the label itself.
NAMES = {
    "alignment-handbook": {"trl", "open-instruct"},
    "trl": {"trl", "open-instruct", "fms-hf-tuning"},
    "hf-trainer": {"transformers", "ms-swift"},
    "megatron": {"megatron-lm"},
    "nemo": {"nemo", "automodel", "nemo-rl", "nemo-aligner", "megatron-bridge"},
    "other:llmstudio": {"h2o-llmstudio"},
    "other:dolomite": {"dolomite-engine"},
    "other:ms-swift": {"ms-swift", "megatron-swift"},
    "other:oumi": {"oumi", "verl"},  # the defaults of verl lie in its tree
    "other:hyperpod": {"sagemaker-hyperpod", "nemo", "verl"},  # its launcher brings NeMo's configurations along
    "other": {"llamafactory", "deepspeed", "trlx"},
}
# Labels of recipes of which there is no table; nothing of theirs may be taken for another framework's.
WITHOUT_TABLE = {"other", "accelerate-config", "not-a-recipe"}
# Recipes with another label than their own, by a part of their path.
MISLABELLED = {
    "facebookresearch__fairseq2/recipes/lm/": "other:fairseq2",  # `python -m recipes.lm.sft --config-file` trains on them
    "neuronx-distributed-training/examples/conf/": "other:neuronx",  # NeMo's tree, and a trainer of its own
    "RL4LMs/scripts/training/": "other:rl4lms",
    "LAVIS/lavis/projects/alpro/train/": "other:lavis",
}
# Files with a framework's label that are not recipes of it by themselves, by a part of their path.
NO_RECIPES = {
    "HALOs/config/": "parts of a Hydra tree, a recipe once they are composed",
    "NeMo__RL/examples/configs/": "what differs from a parent, a recipe once they are composed",
    "trainer/config/": "parts of a Hydra tree",
    "verl_configs/": "parts of a Hydra tree",
    "prime-rl/configs/debug/fake/": "what differs from another file",
    "pythia-12b.yml": "a comma is missing: neither YAML nor JSON",
    "model_training/configs/": "sections of several runs, by a trainer of its own",
    "_inference_": "tests that generate",
    "generat": "generates",
    "inference": "generates",
    "evaluation/": "evaluates",
    "finetune_eval": "evaluates",
    "validate_config": "evaluates",
    "speechlm": "speech, in batches of seconds",
    "conf/vits": "speech, in buckets",
    "nerf/": "no language model",
    "rlhf_ppo/": "two configurations in one, which a launcher takes apart",
    "card.yaml": "a table of results",
    "chatlearn": "another framework",
    "convert_": "converts a checkpoint",
    "tests/invariant/references/": "a table of results",
    "kueue": "a Kubernetes manifest around a recipe",
    "benchmark/config/tuner.json": "a table of many runs",
    "tuning/135m/tune.yaml": "a search over many runs",
    "fine-tuning/hydra_config/": "parts of a Hydra tree",
    "llama-8b_hydra.yaml": "what a test compares with, once it has put a folder in the place of `{$results_dir}`: no YAML until then",
    "nova-lite-ppo-cm_hydra.yaml": "what the launcher writes for the critic alone, out of a recipe of PPO",
    "log_probs_lora_cmp_config.yaml": "a test of deepspeed_train, which ROLL has no longer",
    "tests/pipeline/agentic_pipeline_config.yaml": "a test of deepspeed_train, which ROLL has no longer",
    "projects/instructblip/": "evaluates",
    "projects/xinstruct_blip/": "evaluates",
    "caption_coco_eval_large.yaml": "evaluates",
    "log_probs_megatron_remove_padding_config.yaml": "a test in which no worker trains",
}


@cache
def _recognised(root: Path) -> list[tuple[str, str, Framework | None]]:
    """Label, path and table of each labelled configuration of the corpus."""
    found = []
    with (root / "MANIFEST.tsv").open(encoding="utf-8", newline="") as manifest:
        for row in csv.DictReader(manifest, delimiter="\t"):
            file = root / row["path"]
            if row["path"].startswith("launchers") or not file.is_file():
                continue
            text = file.read_bytes().decode("utf-8", "replace")
            documents = read(Source(row["path"].split("/", 2)[2], text))
            tables = [recognise(each) for each in documents if isinstance(each, Document)]
            label = next((true for part, true in MISLABELLED.items() if part in row["path"]), row["framework"])
            found.append((label, row["path"], next((each for each in tables if each), None)))
    return found


def _called(label: str) -> set[str]:
    return NAMES.get(label, {label.removeprefix("other:")})


def test_every_labelled_recipe_is_recognised_as_one_of_its_framework() -> None:
    found = [(path, table) for label, path, table in _recognised(corpus()) if label not in WITHOUT_TABLE]
    missed = [path for path, table in found if table is None]
    assert [path for path in missed if not any(part in path for part in NO_RECIPES)] == []
    assert len(found) - len(missed) > 2100


def test_nothing_is_recognised_as_a_recipe_of_another_framework() -> None:
    found = _recognised(corpus())
    assert [(label, path, table.title) for label, path, table in found if table is not None and table.name not in _called(label)] == []


def test_trainers_of_the_corpus_are_those_of_their_folders() -> None:
    folders = {"sft": "TRL (SFT)", "dpo": "TRL (DPO)", "orpo": "TRL (ORPO)", "grpo": "TRL (GRPO)", "simpo": "TRL (CPO)", "kto": "TRL (KTO)"}
    found = Counter(
        (path.split("/")[-2], table.title)
        for label, path, table in _recognised(corpus())
        if label in ("alignment-handbook", "trl", "hf-trainer") and table and table.name == "trl" and path.split("/")[-2] in folders
    )
    assert found.total() > 100
    assert {pair for pair in found if folders[pair[0]] != pair[1]} == set()
