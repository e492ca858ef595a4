"""A batch that is named and given its number."""

import pytest

from pytest_gbs.claims.grammars._batch import is_list
from pytest_gbs.claims.grammars._tokens import SIGN, WORD, tokenise
from pytest_gbs.model.declaration import Force
from tests.claims.grammars.support import batch, batches, behind, declared

GLOBAL = "global_batch_size"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Config for 8 nodes with GBS 128", 128),
        ("Config for 2 node, with GBS 32", 32),
        ("Config for 8 nodes, with GBS 1,024", 1024),
        ("GBS 128", 128),
        ("GBS: 128", 128),
        ("GBS=128", 128),
        ("gbs=128", 128),
        ("GBS128", 128),
        ("GBS = 2**10", 1024),
        ("GBS = 2^40", 1_099_511_627_776),
        ("global batch size 256, 4 (accumulation steps)", 256),
        ("GBS：128", 128),
        ("global batch size: 512", 512),
        ("Global batch size of 128 split across all workers", 128),
        ("global batch size (across all GPUs): 512", 512),
        ("global_batch_size=512, lbs=16", 512),
        ("effective batch size 128 with 4 nodes", 128),
        ("Effective batch size on 8 GPUs: 128", 128),
        ("Effective batch = 16", 16),
        ("batch 4 per GPU, 8 GPUs, accumulation 2 -> effective 64", 64),
        ("we train on 8 GPUs with total batch size as 16", 16),
        ("batch 4 (matching the QLoRA paper) per GPU on 8 GPUs, so the effective batch size is 32", 32),
        ("total batch size = 512, 16 batch size for each GPU, accumulation steps = 4", 512),
        ("for example, to train the base model with a total batch size of 16, run", 16),
        ("S: batch=8, accum=4, effective: 32", 32),
        ("Effective batch size = 32 (adjust as needed)", 32),
        ("effective batch size (128) is computed below", 128),
        ("effective_batch_size: 64", 64),
        ("effective bsz 128", 128),
        ("batch size efectivo de 16", 16),
        ("batch efectivo = 16", 16),
        ("Batch effectif: 24", 24),
        ("tamanho efetivo batch 32", 32),
        ("effektive Batch-Größe: 64", 64),
        ("128 seqs/step", 128),
        ("effective batch = 16 (good gradient estimates)", 16),
        ("eff batch = 96 (same as the original)", 96),
        ("effective batch = 2 * 2 * 4 GPUs = 16 (matching the old QLoRA paper)", 16),
        ("we assume the batch size is 128, which means num_gpus * per_device_train_batch_size * gradient_accumulation_steps", 128),
        ("batch size of 96, i.e. GPUs x micro batch x accumulation", 96),
        ("eff. bs 128", 128),
        ("eff bs: 128", 128),
        ("Eff. batch size = 64", 64),
        ("bsz 128 (4 x 4 x 8)", 128),
        ("Batch size: 128 sequences (4 x 4 x 8)", 128),
        ("bs=128 (4*4*8)", 128),
        ("takes 6 minutes with a batch size of 32 (4 per device).", 32),
        ("batch size: 64 (8 samples per GPU, 2 accumulation)", 64),
        ("-> effective batch 32", 32),
        ("total batch size = 64", 64),
        ("total train batch size (w. parallel, distributed & accumulation) = 128", 128),
        ("total batch 256", 256),
        ("overall batch size of 256", 256),
        ("the full, fixed batch size of 512 (with gradient accumulation).", 512),
        ("accumulate gradients over equivalent batch size of 8 i.e. 2 microbatches of size 4", 8),
        ("128 global batch size on 64 GPUs", 128),
        ("finetuning (4 GPUs, 128 effective batch size)", 128),
        ("4 GPUs and 128 global batch", 128),
        ("512 samples per optimizer step", 512),
        ("global samples per step: 512", 512),
        ("512 sequences per step", 512),
        ("batch size 128 (global)", 128),
        ("batch size (global): 128", 128),
        ("batch size of 128 across 8 GPUs", 128),
        ("designed for 8 GPUs, so batch size 128", 128),
        ("If 2 nodes with 8 gpus each, batch_size will be 16", 16),
        ("-> batch_size will be 16 if 16 gpus", 16),
        ("safety cap (~1 epoch of the ~500k-sample mix at GBS 64)", 64),
        ("a smaller batch\n(GBS=2048) at 49k context", 2048),
        ("GBS: 128 / micro: 2 / accumulation: 8", 128),
        ("global batch size 128, 8 nodes", 128),
        ("effective batch size 128, 2 optimizer steps per rollout", 128),
        ("GBS 64 / (LBS 4 x 8 GPUs) = 2 grad-accum microbatches.", 64),
        ("RLVR teacher (GBS=512, 192k context)", 512),
        ("same training as that recipe (GBS=2048,\n49k context, 32+28 cluster)", 2048),
        ("Same lbs16/GBS512/ep8/2N/attn:te op point.", 512),
        ("Default config uses seq=4096, micro_batch=2, batch=16 which gives:", 16),
        ("有效批次大小，全局 GBS：128", 128),
    ],
)
def test_reads_the_number(text: str, value: int) -> None:
    assert batches(text) == [(GLOBAL, value)]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("global batch size 128", ""),
        ("global batch size of 128 sequences", "samples"),
        ("global batch size: 64 prompts", "prompts"),
        ("effective batch of 512 completions", "completions"),
        ("total batch size 32 preference pairs", "pairs"),
        ("512 samples per step", "samples"),
        ("global batch size in samples: 512", "samples"),
    ],
)
def test_reads_the_unit(text: str, unit: str) -> None:
    assert batch(text).unit == unit


@pytest.mark.parametrize(
    ("text", "value"),
    [("global batch size of 4M tokens", 4_194_304), ("Global batch size in tokens ~5.25M", 5_250_000), ("GBS of 2M", 2_097_152)],
)
def test_a_batch_of_tokens_is_one_of_tokens(text: str, value: int) -> None:
    found = batch(text)
    assert (found.name, found.value, found.unit) == ("tokens_per_step", value, "tokens")


def test_prompts_per_step_are_a_size_of_their_own() -> None:
    assert batches("64 prompts per step") == [("prompts_per_step", 64)]


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("Config for 8 nodes with GBS 128", {"num_nodes": 8}),
        ("effective batch size 128 with 4 nodes of 8 GPUs", {"num_nodes": 4, "gpus_per_node": 8}),
        ("designed for 32 GPUs, so batch size 128", {"world_size": 32}),
        ("effective batch size of 1k on 32 GPUs", {"world_size": 32}),
        ("effective batch size of 1K trained on 32 GPUs", {"world_size": 32}),
        ("effective batch size 128 on a single GPU", {"world_size": 1}),
        ("global_batch_size=64 and local_batch_size=8 keep accumulation at 1.", {"micro_batch_size": 8}),
        ("global batch 128 with 4 gradient accumulation steps on 8 GPUs", {"world_size": 8, "gradient_accumulation_steps": 4}),
        ("micro 1 accum 2 on 64 GPUs gives global batch size 128", {"world_size": 64, "gradient_accumulation_steps": 2}),
        ("GBS 128 (2 nodes x 8 GPUs)", {"num_nodes": 2, "gpus_per_node": 8}),
        ("GBS 128 (4x8 H100)", {"num_nodes": 4, "gpus_per_node": 8}),
        ("Config for 8 nodes\nGBS 128", {"num_nodes": 8}),
        ("8 nodes of 8 GPUs\nglobal batch size: 512", {"num_nodes": 8, "gpus_per_node": 8}),
        ("8 nodes of 8 GPUs\n\nglobal batch size: 512", {}),
        ("global batch size 128 with 8 GPUs or 8 GPUs on 2 nodes", {"world_size": 8, "num_nodes": 2}),
    ],
)
def test_conditions_are_those_of_its_own_statement_or_paragraph(text: str, conditions: dict[str, int]) -> None:
    found = batch(text)
    assert dict(found.conditions) == conditions
    assert len(found.condition_places) == len(found.conditions)


def test_hardware_of_the_statement_is_declared_by_itself_too() -> None:
    found = declared("Config for 8 nodes with GBS 128")
    assert [(d.name, d.value) for d in found] == [("num_nodes", 8), (GLOBAL, 128)]


@pytest.mark.parametrize(
    ("text", "ambiguous"),
    [
        ("designed for 8 GPUs, so batch size 128", True),
        ("designed for 32 GPUs, so batch size 128", False),
        ("effective batch size 128 on 8 GPUs in total", False),
        ("effective batch size 128 with 2 nodes of 8 GPUs", False),
        ("effective batch size 128 on a single GPU", False),
    ],
)
def test_n_gpus_without_more_words_are_ambiguous(text: str, ambiguous: bool) -> None:
    assert batch(text).ambiguous is ambiguous


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("The global batch size is set to 1,024", Force.STATES),
        ("the global batch size should be set to 1,024", Force.ADVISES),
        ("effective batch size should be 64", Force.STATES),
        ("effective batch-size should be 64=4x2x(8)", Force.STATES),
        ("set for global batch size of 2K while you may use lower values.", Force.STATES),
        ("accumulation 4 to keep the effective batch size at 128", Force.STATES),
        ("effective batch size 128 for tulu 2", Force.STATES),
        ("effective batch size should be 32 for best results", Force.ADVISES),
        ("we recommend a total batch size of 128", Force.ADVISES),
        ("keep the global batch size at 128", Force.ADVISES),
        ("at least a global batch size of 128", Force.ADVISES),
        ("Change this depending on the context length to keep a 500M GBS.", Force.ADVISES),
        ("if you have memory: global batch size 128", Force.ADVISES),
        ("if you have 8 GPUs, set GBS to 64", Force.ADVISES),
        ("For 4 GPUs, set gradient_accumulation_steps to 16 for an effective batch size of 128", Force.ADVISES),
        ("3e-4 at global batch size 512 is too high", Force.ADVISES),
        ("sqrt-scaled from GBS=1024", Force.OTHER),
        ("compare: run A, 8 GPUs, GBS 512", Force.OTHER),
        ("Schedule, matched to the other trainer (8 GPUs):\n  tokens/step = 1024 x 2048, global batch size 1024", Force.OTHER),
        ("Schedule, as in the run with which it is meant for direct\ncomparison:\n  global batch size 1024", Force.OTHER),
        ("Schedule of this run:\n  global batch size 1024", Force.STATES),
        ("Compared with others:\n  slower\n\nHere global batch size 1024", Force.STATES),
        ("global batch size 128?", Force.ADVISES),
        ("global batch size >= 128", Force.ADVISES),
        ("global batch size 128+", Force.ADVISES),
        ("the paper uses a global batch size of 512", Force.HISTORY),
        ("the original run had a total batch size of 512", Force.HISTORY),
        ("OpenThinker3, the closest published model, used total batch 256 on 64 A100s", Force.HISTORY),
        ("trained with global batch size 512", Force.HISTORY),
        ("was MBS=1 till GBS=784", Force.HISTORY),
        ("the library's reference (4 GPUs): batch=16 -> GBS=64", Force.HISTORY),
        ("global batch size 128, with a reference model", Force.STATES),
        ("Sizes are scaled down from the recipe of the larger GPU (MBS=64, GBS=512)", Force.OTHER),
        ("scaled down to a global batch size of 128", Force.STATES),
        ("(a) short sequences with GBS=16", Force.ADVISES),
        ("either a global batch size of 16", Force.ADVISES),
        ("not a global batch size of 128", Force.OTHER),
        ("global batch size smaller than GBS 128", Force.OTHER),
        ("other.yaml is for a global batch size of 128", Force.OTHER),
    ],
)
def test_force_follows_the_words_around(text: str, force: str) -> None:
    (found,) = {d.force for d in declared(text) if d.name in (GLOBAL, "tokens_per_step")}
    assert found == force


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("keep effective batch at 64 when you change this", Force.ADVISES),
        ("keep effective batch at 64 if memory allows", Force.ADVISES),
        ("keep total batch size <= 64", Force.ADVISES),
        ("was 8 (effective batch 64)", Force.HISTORY),
        ("was 8, effective batch 64", Force.HISTORY),
        ("effective batch was 64", Force.HISTORY),
        ("keep effective batch = 64", Force.STATES),
        ("keep the global batch size at 64.", Force.STATES),
        ("was 8 -- keeps effective BS=64", Force.STATES),
    ],
)
def test_what_a_key_keeps_is_stated_behind_it(text: str, force: str) -> None:
    assert {d.force for d in behind("gradient_accumulation_steps", text) if d.name == GLOBAL} == {force}


def test_what_a_key_keeps_is_a_claim_whatever_it_was_before() -> None:
    found = behind("gradient_accumulation_steps", "keep effective batch at 128 (was 16*8)")
    assert [(d.value, d.force) for d in found] == [(128, Force.STATES), (128, Force.HISTORY)]


@pytest.mark.parametrize("more", ["", " per step", " samples", " batches", " in 100 steps"])
def test_a_change_is_read_at_its_right_hand_side(more: str) -> None:
    found = batch(f"global batch size 128 -> 256{more}")
    assert (found.value, found.force) == (256, Force.DELTA)


@pytest.mark.parametrize("words", ["15,162 steps", "15162 optimizer steps", "20k training iterations", "3 epochs", "940 updates per epoch"])
def test_an_arrow_to_a_number_of_steps_is_not_a_change(words: str) -> None:
    found = batch(f"1 epoch (effective batch 6 → {words})")
    assert (found.value, found.force) == (6, Force.STATES)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Global batch size, allowed values are 16, 32, 64", [16, 32, 64]),
        ("Global batch size, allowed values are 16 and 32.", [16, 32]),
        ("Golbal batch size (options: 32, 64, 128)", [32, 64, 128]),
    ],
)
def test_allowed_values_are_a_set(text: str, values: list[int]) -> None:
    found = batch(text)
    assert found.force == Force.ALLOWS
    assert [value for value in range(1, 300) if found.admits(value)] == values


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("512 effective batch in the paper", "gradient_accumulation_steps"),
        ("512 effective batch (in the paper)", "gradient_accumulation_steps"),
        ("512 effective batch (the paper's)", "learning_rate"),
    ],
)
def test_a_papers_batch_is_history(text: str, key: str) -> None:
    assert [found.force for found in declared(text, (key,))] == [Force.HISTORY]


def test_a_papers_batch_beside_its_own_value_states_it() -> None:
    assert batches("512 effective batch (the paper's)", ("gradient_accumulation_steps",)) == [(GLOBAL, 512)]


@pytest.mark.parametrize(
    "text",
    [
        "Set --gradient_accumulation_steps  so that effective batch size is 256",
        "make sure that --per_device_train_batch_size x GPUs gives a global batch size of 256",
    ],
)
def test_a_sentence_may_name_a_flag(text: str) -> None:
    assert batches(text) == [("global_batch_size", 256)]


@pytest.mark.parametrize("text", ["train.py --effective_batch_size 256", "python train.py --name gbs-256 --global_batch_size 256"])
def test_a_command_states_nothing(text: str) -> None:
    assert batches(text) == []


def test_a_word_for_a_part_speaks_for_what_is_close_behind_it() -> None:
    assert batches("each has global batch size 64") == []
    assert batches("each run has global batch size 64") == [("global_batch_size", 64)]


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("128, 8 nodes", 0, False),
        ("128, of", 0, False),
        ("128 and more", 0, False),
        ("64 or 128 samples", 2, False),
        ("8, 128 of", 2, False),
        ("16, 32, 64", 0, True),
        ("batch 64 or 128", 1, True),
    ],
)
def test_a_number_is_one_of_several_by_what_follows_it(text: str, number: int, expected: bool) -> None:
    assert is_list(tokenise(text, 0, len(text)), number) is expected


def test_a_lone_x_is_a_sign_between_two_operands_alone() -> None:
    kinds = {
        text: next(token.kind for token in tokenise(text, 0, len(text)) if token.text == "x") for text in (", x 8", "8 x 8", "(2) x 8")
    }
    assert kinds == {", x 8": WORD, "8 x 8": SIGN, "(2) x 8": SIGN}
