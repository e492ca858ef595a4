"""Arithmetic that gives a batch, with what its factors are called."""

import pytest

from pytest_gbs.model.declaration import Declaration
from tests.claims.grammars.support import BATCHES, batch, batches, behind, declared

MICRO, ACCUMULATION = "micro_batch_size", "gradient_accumulation_steps"
WORLD, NODES, PER_NODE, DATA = "world_size", "num_nodes", "gpus_per_node", "data_parallel_size"


@pytest.mark.parametrize(
    "text", ["6 x 8 = 48 batch size", "6 x 8 gpus = 48 batch size per node", "6 x 8 gpus = 48 batches", "6 x 8 gpus = 48"]
)
def test_a_plain_batch_is_that_of_all_only_if_gpus_are_multiplied(text: str) -> None:
    assert [each.value for each in _claims(text) if each.name == "global_batch_size"] == []


@pytest.mark.parametrize("text", ["at GBS=256 x seq=16384", "GBS=256 × seq=16384（4.19M tokens/step）"])
def test_settings_side_by_side_are_not_arithmetic(text: str) -> None:
    assert [(each.value, each.sum) for each in _claims(text) if each.name == "global_batch_size"] in ([], [(256, None)])


@pytest.mark.parametrize(
    ("text", "result", "factors"),
    [
        ("GBS = 8 x 16 x 1 = 128", 128, [8, 16, 1]),
        ("global batch size 64 = 2×accumulation steps 4×8", 64, [2, 4, 8]),
        ("global batch size = 4 x 8 V100 32gb GPUs x 2 = 64", 64, [4, 8, 2]),
        ("GBS＝8×16＝128", 128, [8, 16]),
        ("GBS 128=1*2*64", 128, [1, 2, 64]),
        ("Effective batch = 4×4 = 16", 16, [4, 4]),
        ("Effective batch-size is 128=16x(1)x8", 128, [16, 1, 8]),
        ("effective batch-size should be 64=4x2x(8)", 64, [4, 2, 8]),
        ("Effective batch size = 24 * 4 * 4 = 384 (must be divisible by 4 GPUs)", 384, [24, 4, 4]),
        ("Effective batch size on the 8-GPU (A100:8) target: 1 * 2 * 8 = 16.", 16, [1, 2, 8]),
        ("effective batch size = 2 * 4 * 8", 64, [2, 4, 8]),
        ("4 * 8 * 4 = 128 global batch size", 128, [4, 8, 4]),
        ("GBS = 64*12*2 = 1536 seq = 12.58M tok/step", 1536, [64, 12, 2]),
        ("GBS = 8*2*32*sequence_length = 512*sequence_length = 1M tokens", 512, [8, 2, 32]),
        ("64 GPUs: 64 * 1 * 2 = 128", 128, [64, 1, 2]),
        ("- GBS = 4 * 6 = 24", 24, [4, 6]),
        ("6 x 8 gpus = 48 batch size", 48, [6, 8]),  # illuin-tech/colpali, tr_args/default_tr_args.yaml, with a micro batch of 4
        ("2 nodes x 8 GPUs x 4 = 64 batch", 64, [2, 8, 4]),
    ],
)
def test_reads_result_and_factors(text: str, result: int, factors: list[int]) -> None:
    stated = next(d for d in _claims(text) if d.name == "global_batch_size").sum
    assert stated is not None
    assert (stated.result, [factor.value for factor in stated.factors], stated.value) == (result, factors, result)


@pytest.mark.parametrize(
    ("text", "result", "factors"),
    [
        ("8 nodes x 8 GPUs x 1 x 2 = 128", 128, [(8, NODES), (8, PER_NODE), (1, ""), (2, "")]),
        ("8 nodes * 8 gpus/node * 1 * 2 = 128", 128, [(8, NODES), (8, PER_NODE), (1, ""), (2, "")]),
        ("8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32.", 32, [(8, WORLD), (1, MICRO), (4, ACCUMULATION)]),
        ("micro 1 x accum 2 x dp 64 = 128", 128, [(1, MICRO), (2, ACCUMULATION), (64, DATA)]),
        ("batch size * accum * gpus = 2 * 4 * 8 = 64", 64, [(2, MICRO), (4, ACCUMULATION), (8, WORLD)]),
        ("effective batch = 2 batch size x 4 grad accum x 8 GPUs = 64", 64, [(2, MICRO), (4, ACCUMULATION), (8, WORLD)]),
        ("effective batch: 2 bs x 4 accum x 8 GPUs = 64", 64, [(2, MICRO), (4, ACCUMULATION), (8, WORLD)]),
        ("4 x 2 x 8 GPUs = 64", 64, [(4, ""), (2, ""), (8, WORLD)]),
        ("1 (bs) * 2 (ga) * 64 (gpus) = 128", 128, [(1, MICRO), (2, ACCUMULATION), (64, WORLD)]),
        ("Global Batch Size = 16 * 8(GPUs) * 4(Accum) = 512", 512, [(16, ""), (8, WORLD), (4, ACCUMULATION)]),
        ("Global batch size = 128: per_device(2) x grad_accum(16) x gpus(4) = 128", 128, [(2, MICRO), (16, ACCUMULATION), (4, WORLD)]),
        ("global batch size is 128 (8 GPUs x 4 per device x 4 accumulation)", 128, [(8, WORLD), (4, MICRO), (4, ACCUMULATION)]),
        ("local_batch_size=8 -> global 128 = 8 * 16 dp * 1 grad-accum.", 128, [(8, ""), (16, DATA), (1, ACCUMULATION)]),
        (
            "total_samples_per_batch = num_gpus * grad_accumulation_steps * per_device_batch_size = 8 * 32 * 4 = 1024",
            1024,
            [(8, WORLD), (32, ACCUMULATION), (4, MICRO)],
        ),
        (
            "batch_accumulation_per_replica * micro_batch_size * dp = 4 * 8 * 16 = 512",
            512,
            [(4, ACCUMULATION), (8, MICRO), (16, DATA)],
        ),
        (
            "per_device_train_batch_size=1 x gradient_accumulation_steps=2 x 64 GPUs = 128",
            128,
            [(1, MICRO), (2, ACCUMULATION), (64, WORLD)],
        ),
    ],
)
def test_names_the_factors(text: str, result: int, factors: list[tuple[int, str]]) -> None:
    stated = batch(text).sum
    assert stated is not None
    assert (stated.result, [(factor.value, factor.name) for factor in stated.factors]) == (result, factors)


@pytest.mark.parametrize(
    ("text", "divisors", "value"),
    [
        ("global batchsize = (8 // 2 // 4) * 8 = 8", [2, 4], 8),
        ("GBS = 512 / 8 * 2 = 128", [8], 128),
        ("GBS = 7 // 2 * 4 = 12", [2], 12),
        ("GBS = 7 / 2 = 3", [2], None),
        ("GBS = 8 / (2 * 2) * 16 = 32", [2, 2], 32),
    ],
)
def test_divisors_are_divided_by(text: str, divisors: list[int], value: int | None) -> None:
    stated = batch(text).sum
    assert stated is not None
    assert ([divisor.value for divisor in stated.divisors], stated.value) == (divisors, value)


@pytest.mark.parametrize(
    ("text", "result", "value"),
    [("GBS = 8 x 16 = 256", 256, 128), ("8 GPUs * 4 (micro) * 4 (accum) = 64", 64, 128), ("effective batch size 128 = 4 x 8", 128, 32)],
)
def test_false_arithmetic_is_kept_as_it_is_written(text: str, result: int, value: int) -> None:
    stated = batch(text).sum
    assert stated is not None
    assert (stated.result, stated.value) == (result, value)


@pytest.mark.parametrize(
    "text", ["GBS 128 (2 nodes x 8 GPUs)", "effective batch size 128 (8x8 GPUs)", "GBS 128: 2 nodes x 8 GPUs", "GBS 128 (micro 4 x 8 GPUs)"]
)
def test_a_remark_in_brackets_need_not_be_the_whole_arithmetic(text: str) -> None:
    assert batch(text).sum is None


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("global_batch_size", "local_batch_size(4) * dp_size(64) -> no grad accumulation.", 256),
        ("global_batch_size", "batch-size 4 x 8 GPUs", 32),
        ("global_batch_size", "dp8 x local_batch_size 1 x grad_accum 2", 16),
        ("global_train_batch_size", "4 GPUs * 32", 128),
        ("gradient_accumulation_steps", "128 = 1 x 2 x 64", 128),
        ("gradient_accumulation_steps", "1*2*64=128", 128),
    ],
)
def test_the_key_in_front_shows_what_the_arithmetic_gives(key: str, text: str, value: int) -> None:
    found = [d for d in behind(key, text) if d.name == "global_batch_size"]
    assert [(d.value, d.sum.value if d.sum else None) for d in found] == [(value, value)]
    assert batches(text) == [] or "GPUs" in text or "dp" in text


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("gradient_accumulation_steps", "Per GPU (global = 4 x 8 = 32)", []),
        ("gradient_accumulation_steps", "Per GPU (global batch = 4 x 8 = 32)", [32]),
        ("gradient_accumulation_steps", "Per GPU (global = 2 x 4 x 8 = 64)", [64]),
    ],
)
def test_two_numbers_behind_the_accumulation_may_give_that_of_all_gpus(key: str, text: str, expected: list[int]) -> None:
    assert [each.value for each in behind(key, text) if each.name == "global_batch_size"] == expected


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("batch_size_per_gpu", "8 GPUs, 8 * 38400 = 307200", [(307200, [(8, WORLD), (38400, MICRO)])]),
        ("micro_batch_size", "4 GPUs: 4 x 16 = 64", [(64, [(4, WORLD), (16, MICRO)])]),
        ("micro_batch_size", "4 GPUs, 16 x 4 = 64", []),  # which of them is the GPUs is not said
        ("micro_batch_size", "2 nodes, 2 x 16 = 32", []),
        ("eval_batch_size", "4 GPUs, 4 x 16 = 64", []),
        ("num_heads", "4 GPUs, 4 x 16 = 64", []),
    ],
)
def test_two_numbers_behind_gpus_are_those_and_the_batch_of_each(key: str, text: str, expected: list[object]) -> None:
    found = [each for each in behind(key, text) if each.name == "global_batch_size"]
    assert [(each.value, [(factor.value, factor.name) for factor in each.sum.factors] if each.sum else []) for each in found] == expected


def test_arithmetic_on_the_next_line_belongs_to_the_claim() -> None:
    found = batch("Global batch is held at 1,048,576 tokens, matching the Olmo 3 run:\n  1 * 4 * 8 * 32768.")
    assert found.name == "tokens_per_step"
    assert found.sum is not None
    assert (found.sum.result, found.sum.value) == (1_048_576, 1_048_576)


def test_samples_and_tokens_of_one_chain_are_two_claims() -> None:
    found = _claims("GBS = 8*2*32*sequence_length = 512*sequence_length = 1M tokens")
    assert [(d.name, d.value, d.unit) for d in found] == [
        ("global_batch_size", 512, "samples"),
        ("tokens_per_step", 1_048_576, "tokens"),
    ]


def test_prompts_are_worked_out_too() -> None:
    text = "unique_prompts_per_batch = total_samples_per_batch / num_generations = 1024 / 16 = 64"
    assert batches(text) == [("prompts_per_step", 64)]


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("8 nodes x 8 GPUs x 1 x 2 = 128", {NODES: 8, PER_NODE: 8}),
        ("8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32.", {WORLD: 8}),
        ("micro 1 x accum 2 x dp 64 = 128", {DATA: 64}),
        ("effective batch size 128 (micro 4 x 8 GPUs, accumulation 4)", {WORLD: 8, MICRO: 4, ACCUMULATION: 4}),
        # Reduced from ALI-AL-MARJANI/open-r1, recipes/Grounded-R1-Qwen-7B/grpo/config_v0.yaml: the GPUs of each node stand in front.
        ("effective: 1 * 8GPUs * 3nodes * 16 = 384", {PER_NODE: 8, NODES: 3}),
        ("GBS = 8 GPUs * mbs 4 * 2 nodes = 64", {PER_NODE: 8, NODES: 2}),
        ("4 nodes x grad_acc 2 x 4 (per device) x 8 GPUs => 256 total batch size", {PER_NODE: 8, NODES: 4}),
    ],
)
def test_hardware_among_the_factors_is_a_condition(text: str, conditions: dict[str, int]) -> None:
    found = batch(text)
    assert dict(found.conditions) == conditions
    assert not found.ambiguous


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("total batch = 64 = 8(gpus) * 1(sft_per_device_train_batch_size) * 8(gradient_accumulation_steps)", 64),
        ("GRPO total batch = 32(prompts)*8(num_generations) = 256 = 8(gpus) * 4(per_device_train_batch_size) * 8(accumulation)", 256),
        ("GBS = 8 x 16 (see below) = 128", 128),
    ],
)
def test_remarks_in_brackets_do_not_end_the_arithmetic(text: str, result: int) -> None:
    stated = batch(text).sum
    assert stated is not None
    assert (stated.result, stated.value) == (result, result)


def test_arithmetic_that_goes_on_where_it_cannot_be_read_is_not_judged() -> None:
    assert batch("total batch = 64 = 8(gpus) * 1(a=3) * 8").sum is None


def test_setups_for_different_hardware_are_advice() -> None:
    found = _claims("8 GPUs: 8 * 1 * 16 = 128\n64 GPUs: 64 * 1 * 2 = 128")
    assert [(d.value, d.force) for d in found] == [(128, "advises"), (128, "advises")]


def _claims(text: str) -> list[Declaration]:
    return [d for d in declared(text) if d.name in BATCHES]


@pytest.mark.parametrize("text", ["GBS = 1*3090*2 = 6180", "GBS = 2 x 4090 = 8180", "GBS = 4*3090*8*2 = 197760"])
def test_a_factor_may_be_the_number_of_a_gpu_model(text: str) -> None:
    assert [each.name for each in declared(text)] == ["global_batch_size"]


@pytest.mark.parametrize("text", ["GBS 64 on 8 x 3090", "8 x 3090 = 8 GPUs, GBS 64"])
def test_a_gpu_model_stays_one_where_no_arithmetic_goes_on(text: str) -> None:
    assert batch(text).conditions == (("world_size", 8),)


def test_gpus_of_a_model_in_front_of_nodes_are_those_of_each() -> None:
    assert dict(batch("8 x 3090 x 2 nodes, GBS 64").conditions) == {PER_NODE: 8, NODES: 2}


def test_arithmetic_behind_arithmetic_is_a_statement_of_its_own() -> None:
    text = "NOTE: batch_accumulation_per_replica * micro_batch_size * dp = 1 * 32 * 16 = 512\n512 * 1024 = 524288 tokens per step"
    assert batches(text, ("batch_accumulation_per_replica",)) == [("global_batch_size", 512), ("tokens_per_step", 524288)]


def test_a_label_on_the_next_line_starts_a_statement_of_its_own() -> None:
    text = "batch_size = train_batch_size * gradient_accumulation_steps * num_gpus = 128\nepoch size: 3 for 52k rows, batch 8 to test"
    assert [(each.value, each.force) for each in _claims(text) if each.name == "global_batch_size"] == [(128, "states")]


def test_prompts_times_generations_are_a_batch() -> None:
    text = "Cap to the rollout batch (num_prompts_per_step * num_generations_per_prompt = 32 * 16 = 512)."
    assert batches(text) == [("global_batch_size", 512)]


@pytest.mark.parametrize("key", ["max_steps", "lr_warmup_steps"])
def test_prompts_times_rollouts_behind_another_key_are_not_a_batch(key: str) -> None:
    assert batches("256 prompts per step * 16 rollouts per prompt", (key,)) == []


def test_prompts_times_rollouts_beside_the_global_batch_are_it() -> None:
    found = batch("This is one minibatch, which is 256 prompts per step * 16 rollouts per prompt.", ("train_global_batch_size",))
    assert (found.value, found.sum is not None) == (4096, True)


@pytest.mark.parametrize(("text", "result", "given"), [("bsz 128 (4 x 4 x 16)", 128, 256), ("bs=128 (4*4*8)", 128, 128)])
def test_three_factors_beside_a_batch_are_the_whole_arithmetic(text: str, result: int, given: int) -> None:
    found = batch(text, (ACCUMULATION,))
    assert found.sum is not None
    assert (found.sum.result, found.sum.value) == (result, given)


def test_what_each_gpu_takes_is_not_a_batch_beside_the_product() -> None:
    assert batches("effective batch size is 128 images per GPU * 8 GPUs = 1024") == [("global_batch_size", 1024)]


@pytest.mark.parametrize(("text", "value"), [("128 / (2 * 8) = 8", 128), ("512 / 8 / 4 = 16", 512)])
def test_quotients_behind_the_accumulation_state_the_batch(text: str, value: int) -> None:
    assert batches(text, (ACCUMULATION,)) == [("global_batch_size", value)]
    assert batches(text, ("warmup_steps",)) == []


@pytest.mark.parametrize(
    "text",
    [
        "GA = 8192 / 128 = 64",  # one divisor may be anything
        "GA = 8192 / (micro * ranks) = 64",
        "GA = 8192 / (32*4)",
        "lr = 8192 / (32*4) = 64",
        "TP = 64 / (8*2) = 4",
    ],
)
def test_arithmetic_that_gives_an_accumulation_is_read_whole_or_not_at_all(text: str) -> None:
    assert batches(text) == []


@pytest.mark.parametrize(
    ("text", "stated", "given"),
    [
        ("GA = 8192 / (32*4) = 64", 8192, 8192),
        ("grad_accum = 128 // (64 * 2) = 1", 128, 128),
        ("gradient accumulation = 512 / 8 / 4 = 15", 512, 480),  # 8 x 4 x 15
    ],
)
def test_an_accumulation_worked_out_states_the_batch_that_is_divided(text: str, stated: int, given: int) -> None:
    found = batch(text)
    assert found.sum is not None
    assert (found.value, found.sum.value) == (stated, given)


@pytest.mark.parametrize(
    "text",
    [
        "DP = GPUs / (tp*pp) = 512 / (2*4) = 64",
        "global batch size: dp = 64 / 8 = 8",
        "GA = GBS / (world*lbs) = 64",
        "steps = rows / (gpus*bs) = 8192 / (32*4) = 64",
        "GA = GBS / lbs = 8192 / 4 = 2048",
    ],
)
def test_other_quotients_behind_names_are_not_a_batch(text: str) -> None:
    assert batches(text) == []


def test_an_accumulation_worked_out_behind_names_states_the_batch() -> None:
    found = batch("GA = GBS / (world*lbs) = 8192 / (32*4) = 64")
    assert (found.value, found.conditions) == (8192, ((WORLD, 32), (ACCUMULATION, 64)))
    assert found.sum is not None
    assert (found.sum.value, [factor.name for factor in found.sum.factors]) == (8192, [WORLD, MICRO, ""])


@pytest.mark.parametrize(
    ("text", "result", "factors"),
    [
        ("Total batch = 4/device * 8 devices * 8 accumulation = 256", 256, [(4, MICRO), (8, WORLD), (8, ACCUMULATION)]),
        ("Effective batch size is 8 GPUs * 2 sequences/GPU * 8 accumulation = 128", 128, [(8, WORLD), (2, MICRO), (8, ACCUMULATION)]),
        ("batch 15/GPU x 2 GPUs x grad accumulation 4 = 120", 120, [(15, MICRO), (2, WORLD), (4, ACCUMULATION)]),
        ("96 effective (2 per GPU x 8 GPUs x grad accum 6)", 96, [(2, MICRO), (8, WORLD), (6, ACCUMULATION)]),
        ("2 bs x 4 ga x 8 GPUs = 64 global", 64, [(2, MICRO), (4, ACCUMULATION), (8, WORLD)]),
        ("16 accumulation x 2 = 32 per device x 4 devices = 128", 128, [(16, ACCUMULATION), (2, ""), (4, WORLD)]),
        ("batch = 4*4*2 = 32", 32, [(4, ""), (4, ""), (2, "")]),
        ("grad_accum=2 x 4 x micro_batch=3 -> total batch 24", 24, [(2, ACCUMULATION), (4, ""), (3, MICRO)]),
        ("16 NPUs x 4 per device = 64 batch", 64, [(16, WORLD), (4, MICRO)]),
        ("8 A100s x 8 x GA=1 = 64", 64, [(8, WORLD), (8, ""), (1, ACCUMULATION)]),
        ("GBS = 8 GPUs * 5 H100 nodes * 2 per GPU * grad accum 3 = 240", 240, [(8, PER_NODE), (5, NODES), (2, MICRO), (3, ACCUMULATION)]),
        ("batch 128 = 2 x 16 x 4", 128, [(2, ""), (16, ""), (4, "")]),
        ("batch effectif 24 (per_device = 3 x grad_accum = 8)", 24, [(3, MICRO), (8, ACCUMULATION)]),
    ],
)
def test_reads_arithmetic_in_other_words(text: str, result: int, factors: list[tuple[int, str]]) -> None:
    (stated,) = [d.sum for d in _claims(text) if d.sum is not None]
    assert (stated.result, stated.value) == (result, result)
    assert [(factor.value, factor.name) for factor in stated.factors] == factors


@pytest.mark.parametrize(
    "text",
    [
        "batch = 3 * 4 * 2048 = 24576",  # tokens, as likely
        "batch = 3 * 256 * 256 = 196608",
        "batch = 4 * 4 * 2 = 64",
        "micro batch = 4 * 4 * 2 = 32",
        "eval batch 128 = 2 x 16 x 4",
        "batch 128 = 8 x 16",
        "8 heads/GPU x 4 GPUs = 32",
    ],
)
def test_a_plain_batch_is_given_by_three_factors_of_samples(text: str) -> None:
    assert batches(text) == []


@pytest.mark.parametrize("text", ["effective batch = 8 x 16 x 2048 = 262144", "GBS: 8 * 16 * 4 * 1024 = 524288"])
def test_a_factor_as_long_as_a_sequence_makes_it_tokens_where_that_is_true(text: str) -> None:
    (found,) = _claims(text)
    assert (found.name, found.unit, found.force) == ("tokens_per_step", "tokens", "confirms")


@pytest.mark.parametrize("text", ["GBS 512 = 8 x 64", "GBS = 2 x 512 GPUs = 1024", "GBS = 5 x 777 = 3885"])
def test_a_shorter_or_called_factor_counts_samples(text: str) -> None:
    assert [(found.name, found.force) for found in _claims(text)] == [("global_batch_size", "states")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1 batch size * 1024 block size * 16 gradaccum * 256 GPUs = 32M", "tokens_per_step"),
        ("12 batch size * 1024 block size * 5 gradaccum * 8 GPUs = 500,000", "tokens_per_step"),
        ("4 batch size * 1024 block size * 8 GPUs = 32", "global_batch_size"),
        ("4 batch size * 1024 block size * 8 GPUs = 48", "global_batch_size"),
    ],
)
def test_a_wrong_result_counts_what_it_is_near_to(text: str, name: str) -> None:
    assert [found.name for found in _claims(text)] == [name]


def test_arithmetic_of_another_run_in_brackets_is_not_a_claim() -> None:
    assert [(d.value, d.conditions, d.sum) for d in _claims("eff batch 96 (Open-RS 4xA40 x 6 x 4 = 96)")] == [(96, (), None)]
    assert [d.conditions for d in _claims("eff batch 96 (on 4xA40 x 6 x 4 = 96)")] == [((WORLD, 4),)]


@pytest.mark.parametrize("text", ["global batch = 4 x 8 GPUs (", "global batch = 4 x 8 GPUs (2", "global batch = 4 x 8 GPUs (2 nodes"])
def test_a_bracket_that_nothing_closes_is_no_remark(text: str) -> None:
    assert [(found.value, found.force) for found in _claims(text) if found.name == "global_batch_size"] == [(32, "states")]


def test_a_remark_of_nodes_is_a_part_of_the_factor() -> None:
    assert batches("global batch = 4 x 8 GPUs (2 nodes) x 2 = 64") == [("global_batch_size", 64)]
