"""What is read in real recipes, by hand from `GROUND_TRUTH.tsv`; and in look-alikes, where nothing states a batch."""

from functools import cache
from pathlib import Path

import pytest

from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.files.decode import decode
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Unreadable
from pytest_gbs.readers import read
from tests.claims.grammars.support import BATCHES
from tests.support import corpus

WORLD, NODES, PER_NODE, DATA = "world_size", "num_nodes", "gpus_per_node", "data_parallel_size"
HANDBOOK = "huggingface__alignment-handbook/recipes/smollm3"
INSTRUCT = "allenai__open-instruct/configs/train_configs"
AUTOMODEL = "NVIDIA-NeMo__Automodel/examples"

# path, numbers stated for the batch, conditions of the first
CLAIMS = [
    (f"{HANDBOOK}/sft/sft.yaml", [128], {NODES: 8}),
    (f"{HANDBOOK}/sft/mid.yaml", [128], {NODES: 8}),
    (f"{HANDBOOK}/dpo/apo.yaml", [32], {NODES: 2}),
    (f"{INSTRUCT}/sft/tulu3_8b_preview_mix_v3.7.yaml", [128], {NODES: 1}),
    (f"{INSTRUCT}/sft/tulu3_L3.1_8b_math_faeze.yaml", [128], {NODES: 4}),
    (f"{INSTRUCT}/dpo/final_best_70b_dpo_config.yaml", [128], {WORLD: 8}),
    (f"{INSTRUCT}/dpo/mini.yaml", [32], {WORLD: 8}),
    (f"{INSTRUCT}/dpo/olmo_1b_mix_example.yaml", [32], {WORLD: 1}),
    (f"{INSTRUCT}/olmo2/olmo2_1124_7b_dpo.yaml", [128], {WORLD: 32}),
    (f"{INSTRUCT}/sft/tulu2_7b.yaml", [128], {}),
    ("huggingface__smollm/text/pretraining/smollm1/config_smollm1_135M.yaml", [512, 1_048_576], {}),
    ("huggingface__smollm/text/pretraining/smollm1/config_smollm1_1B.yaml", [1024, 2_100_000], {}),
    ("huggingface__open-r1/recipes/Qwen2.5-Coder-7B-Instruct/grpo/config_codeforces.yaml", [1024, 64], {WORLD: 8}),
    ("huggingface__open-r1/recipes/OlympicCoder-32B/sft/config_v00.00.yaml", [], {}),
    ("huggingface__open-r1/recipes/OpenR1-Distill-7B/sft/config_distill.yaml", [], {}),
    (f"{AUTOMODEL}/llm_finetune/nemotron/nemotron_ultra_v3_squad.yaml", [256], {DATA: 64}),
    (f"{AUTOMODEL}/speculative/eagle3/llama_eagle3_perfectblend.yaml", [32], {WORLD: 8}),
    (f"{AUTOMODEL}/long_context_validation/qwen3_32b/qwen3_32b_coderforge_cp16_128k_lowerLR.yaml", [16], {DATA: 8}),
    (f"{AUTOMODEL}/audio_finetune/qwen3_omni_asr/ami_sft.yaml", [64], {WORLD: 8}),
    (f"{AUTOMODEL}/audio_finetune/qwen3_omni_asr/multi_en_sft.yaml", [64, 64], {}),
    ("NVIDIA__NeMo/examples/asr/conf/contextnet_rnnt/contextnet_rnnt.yaml", [1024, 1024], {WORLD: 32}),
    ("NVIDIA__NeMo/examples/asr/conf/conformer/conformer_transducer_bpe.yaml", [2048, 2048], {}),
    ("hiyouga__LLaMA-Factory/examples/megatron/qwen3_moe_full.yaml", [8], {}),
    ("oumi-ai__oumi/configs/recipes/gemma4/sft/12b_full/train.yaml", [16], {WORLD: 8}),
    ("oumi-ai__oumi/src/experimental/configs/projects/zephyr/sft/qlora_train.yaml", [64], {}),
    ("allenai__OLMo/configs/custom_dataset_example.yaml", [128], {WORLD: 4}),
    ("ContextualAI__HALOs/config/model/base_model.yaml", [], {}),
    ("EleutherAI__pythia/models/1B/pythia-1b.yml", [], {}),
]
HARDWARE = [
    ("huggingface__open-r1/recipes/OlympicCoder-32B/sft/config_v00.00.yaml", {NODES: {16}, PER_NODE: {8}}),
    ("huggingface__open-r1/recipes/OpenR1-Distill-7B/sft/config_distill.yaml", {NODES: {1}, PER_NODE: {8}}),
    ("axolotl-ai-cloud__axolotl/examples/gpt-oss/gpt-oss-120b-fft-fsdp2-offload.yaml", {NODES: {2}, PER_NODE: {8}}),
    ("huggingface__smollm/text/pretraining/smollm1/config_smollm1_135M.yaml", {NODES: {4}}),
    (f"{AUTOMODEL}/llm_finetune/stepfun/step_3.5_flash_hellaswag_pp.yaml", {WORLD: {64}, NODES: {8}, PER_NODE: {8}}),
    (f"{AUTOMODEL}/llm_benchmark/qwen/qwen3_moe_30b_torchmm_gb200.yaml", {WORLD: {8}, NODES: {2}, PER_NODE: {4}}),
    (f"{INSTRUCT}/sft/tulu3_8b_preview_mix_v3.7.yaml", {WORLD: {8}, NODES: {1}}),
    ("EleutherAI__pythia/models/1B/pythia-1b.yml", {}),
]


def stated(path: Path, root: Path) -> tuple[Declaration, ...]:
    """What the comments of a YAML file declare, in all its documents; nothing where it can't be read."""
    source = decode(str(path.relative_to(root)), path.read_bytes())
    if isinstance(source, Unreadable):
        return ()
    documents = [document for document in read(source) if isinstance(document, Document)]
    return tuple(d for document in documents for d in read_declarations(document.comments, source.path))


def recipe(path: str) -> tuple[Declaration, ...]:
    """What a recipe of the corpus declares, or skip where this corpus does not have it."""
    root = corpus()
    file = root / "files" / path
    if not file.exists():
        pytest.skip(f"no {path} in this corpus")
    return stated(file, root)


@pytest.mark.parametrize(("path", "numbers", "conditions"), CLAIMS, ids=[path for path, _, _ in CLAIMS])
def test_reads_the_claims_of_a_real_recipe(path: str, numbers: list[int], conditions: dict[str, int]) -> None:
    claims = [d for d in recipe(path) if d.name in BATCHES and d.force == Force.STATES]
    assert [d.value for d in claims] == numbers
    assert not claims or dict(claims[0].conditions) == conditions


@pytest.mark.parametrize(("path", "sizes"), HARDWARE, ids=[path for path, _ in HARDWARE])
def test_reads_the_hardware_of_a_real_recipe(path: str, sizes: dict[str, set[int]]) -> None:
    found: dict[str, set[int]] = {}
    for declaration in recipe(path):
        if declaration.name not in BATCHES and declaration.force == Force.STATES:
            found.setdefault(declaration.name, set()).add(declaration.value)
    assert found == sizes


@cache
def _everything(part: str) -> dict[str, tuple[Declaration, ...]]:
    root = corpus()
    files = (path for path in sorted((root / part).rglob("*")) if path.suffix in (".yaml", ".yml"))
    return {str(path.relative_to(root)): stated(path, root) for path in files}


def test_look_alikes_state_no_batch() -> None:
    claims = {path: [d.text for d in found if d.name in BATCHES] for path, found in _everything("negatives").items()}
    assert {path: texts for path, texts in claims.items() if texts} == {}


def test_places_hold_the_numbers() -> None:
    root = corpus()
    for path, found in _everything("files").items():
        source = decode(path, (root / path).read_bytes())
        for declaration in found:
            assert not isinstance(source, Unreadable)
            written = source.text[declaration.at.start : declaration.at.stop]
            assert any(character.isdigit() for character in written) or written.isalpha(), (path, written)
