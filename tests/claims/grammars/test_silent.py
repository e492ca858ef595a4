"""Comments that mention batches and GPUs and state no batch size."""

import pytest

from pytest_gbs.model.declaration import Force
from tests.claims.grammars.support import BATCHES, behind, declared, hardware

PROSE = {
    "quotient-with-spaces": "samples 4096 / gbs 512 = 8",
    "several-in-front": "64 or 128 global batch size",
    "too-large-a-power": "GBS = 2^41",
    "product-without-a-link": "global batch size = 16 per device 8xA100",
    "how-to-change": "Use to increase effective batch size",
    "depends-on-memory": "batch size may be increased based on the available memory",
    "adjust": "Adjust batch size based on GPU memory",
    "update-as-needed": "Update as needed for your desired effective batch size",
    "reach": "will use more micro batches to reach global batch size",
    "memory": "limited by GPU memory",
    "profiling": "Global batch to start profiling",
    "tensor-shape": "bs 3 (3 x 224 x 224)",
    "of-one-device": "batch size 8 (8 per GPU)",
    "of-one-device-and-node": "batch size: 4 per GPU (16 per node)",
    "larger-in-brackets": "batch size 8 (32 per GPU at most)",
    "shared-evaluation": "evaluation batch size 64 (8 per GPU)",
    "shared-micro": "micro batch size 8 (1 per GPU)",
    "explained-micro": "micro batch size 4 (num_gpus * micro_batch * accum is the other one)",
    "explained-by-gpus-alone": "batch size is 8, which means num_gpus * 8 rows",
    "explained-for-each": "batch size is 8 per GPU, which means num_gpus * micro * accum in all",
    "explained-without-gpus": "batch size 16 (micro_batch * accum)",
    "two-factors": "bsz 16 (4 x 4)",
    "rollout-names": "num_prompts_per_step * num_generations_per_prompt",
    "no-number": "Smaller effective batch sizes may need another learning rate",
    "size-below": "effective batch size = batch_size * accumulation, see below",
}
FORMULAS = {
    "consumed-samples": "consumed_samples = global_step * micro_batch_size * data_parallel_size * accumulate_grad_batches",
    "names-only": "Global Batch Size = per_device_batch_size * num_devices * gradient_accumulation_steps",
    "names-and-threshold": "global batch size = per_device_train_batch_size * devices_num * accumulation, 32 or more is acceptable",
    "names-with-numbers": "with per_device_train_batch_size=1 and accumulation the effective batch grows",
    "simulated-by-names": "simulate a batch size of 8 * actual_batch_size",
    "half-names": "Total batch size will be 2 * BATCH_SIZE (anchors + positives)",
    "ratio": "Effective batch size = 16x real batch size",
    "constraint": "true saves memory. Requires gradient_accumulation_steps=1",
    "unreadable-factor": "num_training_steps * micro_batch_size * gradient_accumulation_steps * data_parallel_size = 20000",
    "unreadable-factor-with-number": "train_batch_size=16 x images_of_a_prompt=8 x 2 ranks = 64 global",
    "unreadable-factors": "drawn=4 x images_of_a_prompt 8 x 2 ranks = 64 global",
    "of-each-gpu": "per GPU: 2 x 4 = 8",
    "tokens-of-each-gpu": "tokens: 2 * 4 * 2048 = 16384 per GPU",
    "on-each-device": "2 * 4 = 8 per device before sync",
    "steps-in-all": "total of 1000 steps = 128 * 1000 = 128000 samples",
    "tokens-of-something": "8 x 64 = 512 tokens of padding",
    "another-size": "DP = 48 / (4*1*2) = 6",
    "divided-by-nothing": "GBS: 128 /",
    "length-in-front": "global batch size with sequences of 2048: 4 * 8",
    "parallel-sizes": "pp_size(8) * ep_size(64) = 512 GPUs => 64 nodes (8 H100/node).",
    "expression-of-steps": "200k samples * 1 epoch / 8 ranks / grad_accum=4 ~= 6.25k optim steps",
    "hidden-size": "4 heads * 64 -> hidden size 256",
}
OTHER_BATCHES = {
    "evaluation": "evaluation global batch size: 64",
    "for-evaluation": "global batch size 128 for evaluation",
    "during-eval": "total batch size of 64 during eval",
    "validation": "this is also val batch size",
    "vision-encoder": "vision encoder: global batch size 64",
    "log-prob": "log_prob global batch size 256",
    "rollout": "rollout global batch size 1024",
    "data-loader": "total batch size for the dataloader: 64",
    "map": "map total batch size 256",
    "per-device": "effective batch size 8 per GPU",
    "slash-device": "global batch size: 8/GPU",
    "per-chip": "Total batch size (8 per 40gb A100)",
    "quotient": "7,680 rows/GBS 8 make an epoch",
    "beside-a-micro-step": "seq=4096, batch=16",
    "each-node": "each node processes 512 samples per step",
    "per-card": "Total batch size (8 per card)",
    "micro": "micro global batch size 4",
    "plain": "batch size 128",
    "plain-on-hardware": "tuned on 8 GPUs with bs 32",
    "effective-epochs": "batch 4 on 8 GPUs, effective 2 epochs",
    "effective-rate": "batch 4 on 8 GPUs, effective 64 lr steps",
    "effective-without-factors": "batch order is fixed, effective 64",
    "effective-from-a-number": "batch 4 x 8 GPUs, effective 64 instead of 32",
}
STEPS = {
    "would-mean": "open-r1/OpenR1-Math-220k has 93,733 samples, bsz=4 would mean 23,433 total steps",
    "divisor": "7.5k ex / global_batch 8 = ~934 steps/epoch",
    "total-steps": "(total steps: 1558, bs: 64)",
    "steps-from-tokens": "llama: 1T tokens / 4M tokens_per_batch = 250000 steps",
}
COMMENTED_OUT = {
    "yaml": "per_device_train_batch_size: 4",
    "yaml-global": "global_batch_size: 64",
    "yaml-item": "- global_batch_size: 64",
    "toml": "global_batch_size = 64",
    "twice": "# global_batch_size: 64",
    "claim-behind-it": "gradient_accumulation_steps: 16  # designed for 8 GPUs, so batch size 128",
    "claim-behind-key": "gradient_accumulation_steps: 16 # effective batch size 128",
    "several": "micro_batch_size: 4 # limited by memory\nglobal_batch_size: 8 # will use more micro batches",
    "command": "accelerate launch --num_processes 8 train.py --total_batch_size 128",
    "flag": "--global-batch-size 128",
    "sbatch": "SBATCH --nodes=8",
    "environment": "CUDA_VISIBLE_DEVICES=0,1 python train.py global_batch_size=64",
    "continued": "torchrun train.py \\\nglobal batch size 128",
}
NOT_BATCHES = {
    "gigabytes": "Disk size in GBs: 128",
    "gigabytes-used": "Use 512 GBs of disk",
    "memory": "8 * 78GB",
    "model": "30B-A3B with global experts",
    "shape": "[batch_size, seq_len, vocab] (B, T)",
    "exceeds": "vllm_smoke_test: true, 49B exceeds 1 GPU",
    "another-result": "local_batch_size 1 x 2 ranks => grad accum 4",
    "gpu-hours": "2 x 13800s = 7.7 GPU-h",
    "tokens-of-dataset": "135M tokens (global_train_batch_size * max_sequence_length * max_duration)",
    "tokens-per-second": "~8k tokens/s/gpu throughput, batch 16",
    "range": "global batch size between 64 and 128",
    "range-hyphen": "GBS 64-128",
    "alternatives": "global batch size 64 or 128",
    "alternatives-in-front": "16, 32 or 128 effective batch size",
    "name-of-another-run": "resume from out/sft-gbs96-lr1e5",
    "name-of-a-script": "copy of job_gbs96.sh",
    "suppression": "gbs: ignore[GBS101] the global batch size 128 is that of the paper",
    "not-a-claim": "gbs: not-a-claim, effective batch size 128",
    "chinese": "自动计算 DP 和 GBS",
}
ALL = {**PROSE, **FORMULAS, **OTHER_BATCHES, **STEPS, **COMMENTED_OUT, **NOT_BATCHES}


@pytest.mark.parametrize("text", ALL.values(), ids=ALL.keys())
def test_states_no_batch(text: str) -> None:
    assert [d for d in declared(text) if d.name in BATCHES] == []


@pytest.mark.parametrize("key", ["gradient_accumulation_steps", "per_device_train_batch_size", "max_steps"])
@pytest.mark.parametrize("text", [*PROSE.values(), *STEPS.values(), *COMMENTED_OUT.values()])
def test_states_no_batch_behind_a_key_either(key: str, text: str) -> None:
    assert [d for d in behind(key, text) if d.name in BATCHES] == []


@pytest.mark.parametrize("key", ["per_device_eval_batch_size", "eval_batch_size", "val_batch_size", "test_batch_size"])
def test_takes_what_follows_an_evaluation_key_for_evaluation(key: str) -> None:
    assert [d for d in behind(key, "effective batch size 64 on 8 GPUs") if d.name in BATCHES] == []


@pytest.mark.parametrize("key", ["interval", "latest", "save_interval"])
def test_does_not_take_letters_within_a_word_for_evaluation(key: str) -> None:
    assert [d.value for d in behind(key, "effective batch size 64") if d.name in BATCHES] == [64]


@pytest.mark.parametrize(
    "text",
    [
        "8 * 78GB",
        "24GB+ VRAM per GPU",
        "(80GB)",
        "recommended: 4-8x H100",
        "2xB200 / 8xH100",
        "TODO adapt batch sizes to 16+ GPUs",
        "Mixtral-8x7B",
        "GPU 0 and GPUs 1-7",
        "H100: 989, A100: 312",
        "set for v4-64 TPU",
        "16 experts per GPU",
        "Adjust --nproc-per-node to the number of GPUs available",
        "--nproc_per_node 8",
        "a single GPU is enough for the tokenizer",
        "does not fit on one GPU",
        "tune run --nnodes 1 --nproc_per_node 4 full_finetune_distributed --config llama3/8B_full",
        "8 for 8xH100; 2 for 2xB200",
        "4 is suitable for 4 GPUs",
        "device_mapping: list(range(0,8))",
        "num_nodes: 4",
        "nodes: 4",
        "This setup works well for 3090 24GB GPU, adapt it to yours.",
        "each machine has 8x MI250X",
        "4 MI250X per node",
        "8 AMD MI250 GPUs",
    ],
)
def test_states_no_hardware(text: str) -> None:
    assert hardware(text) == {}


@pytest.mark.parametrize(
    ("text", "force"),
    [
        # Like examples/run_openvla_oft_rl_libero.sh of PRIME-RL/SimpleVLA-RL at 7c51662.
        ("More machines? Set NUM_NODES=2", "advises"),
        ("For 2 nodes, set the node count above", "advises"),
        ("With 16 GPUs, increase the learning rate", "advises"),
        ("on 2 GPUs (1 trainer + 1 inference)", Force.OTHER),
        ("8 GPUs for SGLang inference, 8 GPUs for actor+ref", Force.OTHER),
        ("8 GPUs (2 learners, 6 inference engines)", Force.OTHER),
        ("8 GPUs (2 learners, 6 others)", Force.OTHER),
        ("matching the 4-node script", Force.OTHER),
        ("derived from another run (4 nodes, 2 epochs)", Force.OTHER),
        ("OOMs on 8xH100 at step 1", Force.OTHER),
        ("sequences split across 2 GPUs", Force.OTHER),
        ("use ling_1t_lora_pp.yaml (32 GPUs) instead", Force.OTHER),
        ("It requires at least 8 GPUs", Force.ADVISES),
        ("Minimum: 4x H100", Force.ADVISES),
        ("a node with 8 GPUs is recommended", Force.ADVISES),
        ("This can run on 4 GPUs", Force.ADVISES),
        ("Disable when running on 8 GPUs", Force.ADVISES),
        ("batch size (trained on 256 gpus)", Force.HISTORY),
        ("number of gpus (original titanet-large was trained on 4 nodes with 8 gpus each)", Force.HISTORY),
        ("This config is only tested on an 8xA100 machine.", Force.HISTORY),
        ("For faster training, consider a larger machine (8x A100 80 GB)", Force.ADVISES),
        ("Alternative: a larger machine (8x A100 80 GB)", Force.ADVISES),
        ("Examples for 8xH100:", Force.ADVISES),
        ("Examples: 2 nodes of 8 GPUs", Force.ADVISES),
        ("With three GPUs, split=[10, 20] puts layers 10-19 on the second", Force.ADVISES),
    ],
)
def test_never_lets_weak_words_state_hardware(text: str, force: str) -> None:
    assert hardware(text) == {}
    assert hardware(text, force)


@pytest.mark.parametrize(
    "text",
    [
        "going from 48 to 96 GBS halved the throughput",
        "Tulu 3 used an effective batch size of 96",
        "a quarter of the global batch of 96",
        "lr from a sweep at GBS 96, scaled down",
        "v1: GBS 96",
        "before: effective batch size 96",
        "Experiment A: 96 GBS; experiment B: 4 GBS",
        "ablation: GBS 96 vs 64",
        "we found a GBS of 96 unstable",
        "GBS=96 OOMs on 40GB cards",
        "a global batch of 96 would need 24 GPUs",
        "GBS 96 once we have more nodes",
        "for GBS 96 use accumulation 6",
        "as in Table 3 (global batch size 96)",
        "the default is a 96 global batch in their team's recipe",
    ],
)
def test_a_batch_of_another_run_is_not_stated_of_this_one(text: str) -> None:
    found = [each.force for each in declared(text) if each.name in BATCHES and each.value == 96]
    assert Force.STATES not in found
