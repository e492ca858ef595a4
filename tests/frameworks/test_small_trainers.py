"""Trainers with few keys: mistral-finetune, EasyLM, SpecForge, MDLM and others, and the Trainer's arguments in a section of any file."""

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import Name

from .building import document, outcomes, sizes, title

MISTRAL = "data: {instruct_data: a.jsonl}\nmodel_id_or_path: my/model\nrun_dir: out\nseq_len: 8192\n"
POLICY = "_target_: mine.Workspace\ndataloader: {batch_size: 64}\ntraining: {device: 'cuda:0', num_epochs: 8%s}\n"
MOSHI = "data: {train_data: a.jsonl}\nmoshi_paths: {hf_repo_id: my/model}\nrun_dir: out\nduration_sec: 100\n"
EASY = "train_dataset: {type: %s, json_dataset: {batch_size: 2048, seq_length: 2048}}\n"
EASY_TORCH = "train_dataset: {type: %s, %s_dataset: {batch_size: 2}}\noptimizer: {accumulate_gradient_steps: 4}\n"
SECTION = "%s: {per_device_train_batch_size: 4, gradient_accumulation_steps: 2, learning_rate: 1.0e-5}\n"
ARCTIC = "type: sft\nmodel: {name_or_path: my/model}\ndata: {sources: [my/data]}\n"
MDLM = """\
mode: %s
noise: {type: loglinear}
loader:
  global_batch_size: 512
  batch_size: %s
trainer:
  num_nodes: 1
  devices: ${device_count:}
  accumulate_grad_batches: ${div_up:${loader.global_batch_size}, ${eval:${trainer.devices} * ${loader.batch_size}}}
"""
JEPA = "app: vjepa\nnodes: %s\ntasks_per_node: 8\ndata: {batch_size: 24}\nmask: {num: 4}\nmeta: {seed: 1}\noptimization: {lr: 0.1}\n"
CVNETS = "common: {accum_freq: %s}\ndataset:\n  train_batch_size0: 128  # effective batch size is %s (128 * 8 GPUs)\n"
SAFARI = """\
train: {monitor: val/loss, global_batch_size: 64}
task: {_name_: lm}
dataset: {_name_: lines%s}
loader: {batch_size: 50}
trainer: {_target_: pytorch_lightning.Trainer, devices: %s, accumulate_grad_batches: %s}
"""
SPEC = "model: {target_model_path: my/model, draft_model_config: d.json}\ntraining: {strategy: eagle3, batch_size: 2%s}\n"
FOURM = "batch_size: 128\nblr: 0.0001\nnum_input_tokens: 128\nnum_target_tokens: 128\ndata_config: a.yaml\n"
TOKENIZER = "batch_size: 64\nblr: 0.0001\ncodebook_size: 16_384\nencoder_type: vit_b_enc\n"
HUGINN = "model_name: m\nblock_size: 4096\nworld_batch_size: 1024\nmicro_batch_size: 8\n"
COSMOS = """\
train: {train_batch_per_replica: %s, train_policy: {type: %s, mini_batch: 8%s}}
rollout: {n_generation: 16}
policy: {parallelism: {n_init_replicas: 2, tp_size: 1, dp_shard_size: 4, dp_replicate_size: 2}}
"""
NANO = "depth: 24\ndevice_batch_size: %s\ntotal_batch_size: %s\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("model_id_or_path: my/model\nbatch_size: 8\n", id="somebody's inference"),
        pytest.param("data: a\nmodel_id_or_path: my/model\nbatch_size: 8\nmax_tokens: 64\n", id="no place for a run"),
        pytest.param("lm_server: {batch_size: 4}\nload_llama_config: 7b\n", id="EasyLM serves"),
        pytest.param("test_dataset: {type: json, json_dataset: {batch_size: 4}}\n", id="EasyLM evaluates"),
        pytest.param("eval_args: {per_device_train_batch_size: 4, learning_rate: 1.0}\n", id="a section that does not train"),
        pytest.param("training_args: {per_device_eval_batch_size: 4, output_dir: out}\n", id="a section that evaluates"),
        pytest.param("training_args: {per_device_train_batch_size: 4}\n", id="nothing else that trains"),
        pytest.param(NANO % (32, 524288), id="nanochat's flags without its program"),
        pytest.param("num_samples: 10\ndevice_batch_size: 8\n", id="nanochat's flags of RL without its program"),
        pytest.param(ARCTIC + "micro_batch_size: 12\ngen_train: true\n", id="ArcticTraining on what a model generates"),
        pytest.param(ARCTIC + "batch_size: 2\n", id="nothing of ArcticTraining's"),
        pytest.param("model: {target_model_path: my/model}\ntraining: {batch_size: 2}\n", id="no draft of SpecForge's"),
        pytest.param(MDLM % ("ppl_eval", 16), id="MDLM evaluates"),
        pytest.param(POLICY % "", id="a workspace that says nothing of its steps"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    found = title(text) or ""
    assert not any(name in found for name in ("mistral", "EasyLM", "nanochat", "Arctic", "SpecForge", "MDLM", "Policy", "("))


@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(MISTRAL, 8, 8, id="one row for each GPU"),
        pytest.param(MISTRAL + "batch_size: 2\nnum_microbatches: 4\n", 8, 64, id="2 x 4 x 8 rows"),
        pytest.param(POLICY % ", gradient_accumulate_every: 2", 4, 512, id="64 x 2 x 4"),
        pytest.param(MOSHI + "batch_size: 16\n", 8, 128, id="16 x 8 rows of sound"),
        pytest.param(MOSHI + "batch_size: 2\nnum_microbatches: 4\n", 1, 8, id="2 x 4 rows of sound"),
        pytest.param(ARCTIC + "micro_batch_size: 2\n", 8, 16, id="2 x 8"),
        pytest.param(
            ARCTIC + "micro_batch_size: 2\ngradient_accumulation_steps: 4\nsequence_parallel_size: 2\n", 8, 32, id="2 x 4 x (8 / 2)"
        ),
        pytest.param(MDLM % ("train", 16), 8, 512, id="as stated, in 4 batches"),
        pytest.param(MDLM % ("train", "${div_up:${.global_batch_size}, 8}"), 8, 512, id="as stated, whatever a device takes"),
        pytest.param(JEPA % 2, 16, 384, id="24 x 2 x 8"),
        pytest.param(CVNETS % (2, 2048), 8, 2048, id="128 x 2 x 8"),
        pytest.param(SAFARI % (", batch_size: 8", 2, 4), 2, 64, id="8 x 4 x 2"),
        pytest.param(SAFARI % ("", 4, 1), 4, 200, id="the batch of the loader where the dataset has none, 50 x 1 x 4"),
        pytest.param(SPEC % "" + "deployment: {trainer: {nnodes: 2, nproc_per_node: 8}}\n", 16, 32, id="2 x 16"),
        pytest.param(SPEC % ", accumulation_steps: 4, sp_ring_size: 2", 8, 64, id="2 x (4 x 2) x (8 / 2)"),
        pytest.param(EASY % "json", 512, 2048, id="the same batch on any mesh"),
        pytest.param(EASY % "json" + "optimizer: {accumulate_gradient_steps: 2}\n", 512, 4096, id="two batches for a step"),
        pytest.param(EASY % "huggingface", 512, 8, id="the default of the other dataset"),
        pytest.param(EASY_TORCH % ("tulu_json_torch", "json_torch"), 512, 8, id="a data set of PyTorch, 2 x 4"),
        pytest.param(EASY_TORCH % ("json_processed", "json_torch"), 512, 8, id="another of them"),
        pytest.param(EASY_TORCH % ("tulu_hf_torch", "json_torch"), 512, None, id="not of that one"),
        pytest.param(FOURM, 64, 8192, id="128 x 64"),
        pytest.param(FOURM + "accum_iter: 2\n", 64, 16384, id="128 x 2 x 64"),
        pytest.param(TOKENIZER, 8, 512, id="64 x 8"),
        pytest.param(HUGINN, 64, 1024, id="as stated, in 2 micro batches"),
        pytest.param(SECTION % "training_args", 8, 64, id="training_args"),
        pytest.param(SECTION % "train", 8, 64, id="train"),
        pytest.param("training_args: {per_device_train_batch_size: 4, learning_rate: 1.0}\n", 8, None, id="no accumulation said"),
    ],
)
def test_batches_follow_from_few_keys(text: str, world: int, expected: int | None) -> None:
    assert sizes(text, world_size=world).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_the_accumulation_of_mdlm_follows() -> None:
    assert sizes(MDLM % ("train", 16), world_size=8).value(Name.GRADIENT_ACCUMULATION_STEPS) == 4  # 512 / (16 x 8)
    assert sizes(MDLM % ("train", 16)).value(Name.GRADIENT_ACCUMULATION_STEPS) is None


# In RL 1,024 completions for each of 2 replicas, 1,024 / (8 x 4) micro batches; in SFT 128 rows for each of 4 x 2 ranks.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(COSMOS % (1024, "grpo", ""), (2048, 32, 8), id="RL"),
        pytest.param(COSMOS % (1024, "grpo", ", batch_size_per_optimize: 512"), (None, None, 8), id="several steps"),
        pytest.param((COSMOS % (128, "sft", "")).replace("tp_size: 1", "tp_size: 2"), (1024, 16, 16), id="SFT"),
        pytest.param((COSMOS % (128, "sft", "")).replace("shard_size: 4", "shard_size: -1"), (None, 16, None), id="shards of the machine"),
    ],
)
def test_cosmos_rl_has_a_batch_of_replicas_or_of_ranks(text: str, expected: tuple[int | None, ...]) -> None:
    stated = sizes(text)
    assert (stated.global_batch_size, stated.value(Name.GRADIENT_ACCUMULATION_STEPS), stated.value(Name.WORLD_SIZE)) == expected


@pytest.mark.parametrize(("batch", "expected"), [(1024, []), (1000, [Finding])])
def test_the_shards_of_cosmos_rl_take_whole_micro_batches(batch: int, expected: list[type]) -> None:
    assert [type(each) for each in outcomes("GBS202", COSMOS % (batch, "grpo", "")) if isinstance(each, Finding)] == expected


# scripts/base_train.py: 32 rows x 2,048 tokens x 8 GPUs = 524,288 tokens.
@pytest.mark.parametrize(
    ("device", "total", "expected"),
    [
        pytest.param(32, 524288, [Verified], id="one micro batch"),
        pytest.param(16, 524288, [Verified], id="two"),
        pytest.param(32, -1, [Verified], id="2^20, found from 20 layers"),
        pytest.param(32, 500000, [Finding], id="not whole"),
        pytest.param(48, 524288, [Finding], id="nor is this"),
    ],
)
def test_nanochat_holds_whole_micro_batches(device: int, total: int, expected: list[type]) -> None:
    found = recognise(document(NANO % (device, total)), Program("scripts/base_train", alone=True))
    assert (found and found.title, found and found.unit) == ("nanochat (pretraining)", "tokens")
    text = NANO % (device, total) + "window_pattern: L\n"
    assert [type(outcome) for outcome in outcomes("GBS202", text, world_size=8)] == expected


VLM = "per_device_train_batch_size: {micro}\ngradient_accumulation_steps: 2\nnum_generations: 8\ndata_file_paths: a\nimage_folders: a\n"


# run_scripts/run_grpo_rec.sh: 8 x 2 x 8 = 128 completions, 16 prompts; a micro batch of all ranks has 64, eight groups.
def test_vlm_r1_counts_completions() -> None:
    assert title(VLM.format(micro=8)) == "VLM-R1"
    stated = sizes(VLM.format(micro=8), world_size=8)
    assert (stated.global_batch_size, stated.value(Name.GENERATION_BATCH_SIZE), stated.value(Name.PROMPTS_PER_STEP)) == (128, 64, 16)


@pytest.mark.parametrize(("micro", "world", "expected"), [(8, 1, [Verified]), (1, 8, [Verified]), (3, 4, [Finding]), (1, 4, [Finding])])
def test_vlm_r1_needs_whole_groups(micro: int, world: int, expected: list[type]) -> None:
    assert [type(outcome) for outcome in outcomes("GBS205", VLM.format(micro=micro), world_size=world)] == expected


@pytest.mark.parametrize(
    "program", ["llava/train/train_mem", "tinyllava/train/train", "fastchat/train/train_lora", "src/open_r1/train", "llava/serve/cli"]
)
def test_programs_of_others_hand_their_arguments_to_the_trainer(program: str) -> None:
    found = recognise(
        document("per_device_train_batch_size: 4\nlearning_rate: 1.0e-5\nvision_tower: my/tower\n"), Program(program, alone=True)
    )
    assert (found.name if found else None) == ("transformers" if "/train/" in program else None)
