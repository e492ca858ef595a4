import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Outcome, Severity
from pytest_gbs.model.quantity import Name, Quantity, Reason
from pytest_gbs.model.run import Run
from pytest_gbs.rules.gbs203_contradictory_batch import check as contradictions
from pytest_gbs.rules.gbs209_missing_batch_key import check as missing
from pytest_gbs.rules.gbs421_ignored_total_batch import check as ignored

from .building import document, outcomes, sizes, stumbles, title, value

RUN = "base_model: my/model\ndatasets:\n  - path: my/data\n    type: alpaca\nsequence_len: 4096\nnum_epochs: 1\nlearning_rate: 0.0002\n"
BATCH = "micro_batch_size: {micro}\ngradient_accumulation_steps: {steps}\n"
SFT = RUN + BATCH.format(micro=2, steps=4)
GRPO = SFT + "rl: grpo\ntrl:\n  num_generations: {group}\n"


def run(text: str, /, **hardware: int) -> Run:
    """The run of a recipe in a world of the given sizes."""
    read_from = document(text, "config.yml")
    found = recognise(read_from)
    assert found is not None
    assert found.name == "axolotl"
    return Run(read_from, found, None, sizes(text, **hardware), (), ())


def messages(found: list[Outcome]) -> list[str]:
    """What the findings say."""
    return [each.message for each in found if isinstance(each, Finding)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("base_model: my/model\nmerge_method: ties\nmodels: []\n", id="a merge"),
        pytest.param("base_model: my/model\nlora_model_dir: out\n", id="inference"),
        pytest.param("provider: modal\nsecrets: []\ngpu: h100\n", id="a cloud"),
        pytest.param("micro_batch_size: 1\ngradient_accumulation_steps: 2\nnum_epochs: 1\n", id="no model"),
        # Polygl0t/llm-foundry, distributed/specifications.yaml (922bae0): the accumulation follows from the total.
        pytest.param("base_model:\ntotal_batch_size: 2097152\nmicro_batch_size: 16\nnum_train_epochs: 1\nlearning_rate: 1\n", id="a total"),
        pytest.param(
            '{"base_model": "m", "micro_batch_size": 8, "gradient_accumulation_steps": 8, "learning_rate": 1, "final_checkpoint": "c"}',
            id="the summary of a run",
        ),
    ],
)
def test_what_does_not_train_is_not_a_recipe(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("", "axolotl", id="none"),
        pytest.param("rl:\n", "axolotl", id="null"),
        pytest.param("rl: ${RL}\n", "axolotl", id="filled in later"),
        pytest.param("reward_model: true\n", "axolotl", id="reward model"),
        pytest.param("rl: dpo\n", "axolotl (preference pairs)", id="DPO"),
        pytest.param("rl: orpo\n", "axolotl (preference pairs)", id="ORPO"),
        pytest.param("rl: kto\n", "axolotl (KTO)", id="KTO"),
        pytest.param("rl: grpo\n", "axolotl (GRPO)", id="GRPO"),
        pytest.param("rl: gdpo\n", "axolotl (GRPO)", id="GDPO"),
        pytest.param("rl: ebft\nebft:\n  alignment_coef: 1.0\n", "axolotl (EBFT)", id="EBFT"),
        pytest.param("rl: ebft\nebft:\n  mode: strided\n", "axolotl (EBFT, strided)", id="EBFT without prompts"),
    ],
)
def test_rl_chooses_the_trainer(line: str, expected: str) -> None:
    assert title(SFT + line) == expected


# Global batch = micro x accumulation x (processes / context / tensor), by hand.
@pytest.mark.parametrize(
    ("text", "hardware", "expected", "unit"),
    [
        pytest.param(SFT, {"world_size": 8}, 64, "samples", id="2 x 4 x 8"),
        pytest.param(SFT, {"num_nodes": 2, "gpus_per_node": 8}, 128, "samples", id="2 nodes"),
        pytest.param(SFT + "context_parallel_size: 4\n", {"world_size": 8}, 16, "samples", id="context"),
        pytest.param(SFT + "sequence_parallel_degree: 4\n", {"world_size": 8}, 16, "samples", id="context by its older name"),
        pytest.param(SFT + "context_parallel_size: 2\ntensor_parallel_size: 2\n", {"world_size": 8}, 16, "samples", id="both"),
        pytest.param(SFT + "tensor_parallel_size: 0\ncontext_parallel_size:\n", {"world_size": 8}, 64, "samples", id="neither"),
        pytest.param(SFT + "expert_parallel_size: 4\n", {"world_size": 4}, 32, "samples", id="experts divide nothing"),
        pytest.param(SFT + "dp_shard_size: 4\ndp_replicate_size: 2\n", {"world_size": 8}, 64, "samples", id="shards and replicas"),
        pytest.param(SFT + "use_ray: true\nray_num_workers: 4\n", {"world_size": 4}, 32, "samples", id="ray"),
        pytest.param(SFT + "rl: dpo\n", {"world_size": 8}, 64, "pairs", id="pairs"),
        pytest.param(GRPO.format(group=4), {"world_size": 2}, 16, "completions", id="completions"),
        pytest.param(RUN + "micro_batch_size: 4\nbatch_size: 128\n", {"world_size": 8}, 32, "samples", id="batch_size has no say"),
    ],
)
def test_the_global_batch_follows(text: str, hardware: dict[str, int], expected: int, unit: str) -> None:
    batch = sizes(text, **hardware).stated[Name.GLOBAL_BATCH_SIZE]
    assert isinstance(batch, Quantity)
    assert (batch.value, batch.unit) == (expected, unit)


def test_prompts_are_completions_by_group() -> None:
    assert sizes(GRPO.format(group=4), world_size=2).value(Name.PROMPTS_PER_STEP) == 4
    assert sizes(SFT + "rl: grpo\n", world_size=2).value(Name.PROMPTS_PER_STEP) == 2


def test_an_accumulation_left_open_is_not_known() -> None:
    text = RUN + "micro_batch_size: 4\nbatch_size: 128\ngradient_accumulation_steps:\n"
    assert value(sizes(text, world_size=8).stated.get(Name.GRADIENT_ACCUMULATION_STEPS)) == Reason.AUTO
    assert stumbles(text) == {}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("eval_batch_size: 8\n", None, id="never"),
        pytest.param("val_set_size: 0.0\neval_batch_size: 8\n", None, id="nothing set aside"),
        pytest.param("val_set_size: 0.05\n", 16, id="the micro batch"),
        pytest.param("val_set_size: 0.05\neval_batch_size: 8\n", 64, id="its own"),
        pytest.param("test_datasets: [a]\neval_batch_size: 8\n", 64, id="other data"),
    ],
)
def test_the_evaluation_batch_is_there_where_something_evaluates(line: str, expected: int | None) -> None:
    assert sizes(SFT + line, world_size=8).value(Name.EVAL_GLOBAL_BATCH_SIZE) == expected


@pytest.mark.parametrize("written", ["8", "'8'", "8.0", "true", "0x10", "1_024", "${MICRO}", "'{{ micro }}'"])
def test_what_pydantic_converts_stays_silent(written: str) -> None:
    assert stumbles(RUN + BATCH.format(micro=written, steps=written)) == {}


@pytest.mark.parametrize(
    ("written", "micro", "steps"),
    [
        ("8.5", Treatment.STOPS, Treatment.STOPS),
        ("eight", Treatment.STOPS, Treatment.STOPS),
        ("auto", Treatment.STOPS, Treatment.STOPS),
        ("[8]", Treatment.STOPS, Treatment.STOPS),
        ("0", Treatment.STOPS, Treatment.STOPS),
        ("~", Treatment.STOPS, Treatment.STOPS),
        ("-8", Treatment.STOPS_LATE, Treatment.NO_STEPS),
    ],
)
def test_other_values_are_stumbled_over(written: str, micro: str, steps: str) -> None:
    found = stumbles(RUN + BATCH.format(micro=written, steps=written))
    assert found == {"micro_batch_size": micro, "gradient_accumulation_steps": steps}


@pytest.mark.parametrize("keys", [BATCH.format(micro=1, steps=8), "micro_batch_size: 4\nbatch_size: 128\n"])
def test_two_batch_keys_are_enough(keys: str) -> None:
    assert list(missing(run(RUN + keys))) == []


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("micro_batch_size: 4\n", "gradient_accumulation_steps or batch_size is missing; at least two of "),
        ("gradient_accumulation_steps: 4\n", "micro_batch_size or batch_size is missing; at least two of "),
    ],
)
def test_one_batch_key_is_not(keys: str, expected: str) -> None:
    (found,) = messages(list(missing(run(RUN + keys))))
    assert found.startswith(expected)


PACKED = RUN + "sample_packing: true\ncontext_parallel_size: 2\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SFT + "warmup_steps: 0\nwarmup_ratio: 0.1\n", id="no warm-up steps"),
        pytest.param(SFT + "saves_per_epoch: 1\nsave_steps:\n", id="null"),
        pytest.param(SFT + "batch_size: 0\n", id="no total"),
        pytest.param(PACKED + BATCH.format(micro=1, steps=4), id="a row at a time"),
        pytest.param(SFT + "context_parallel_size: 2\n", id="context without packing"),
        pytest.param(SFT + "sample_packing: true\ncontext_parallel_size: 1\n", id="packing without context"),
    ],
)
def test_keys_that_go_together_stay_silent(text: str) -> None:
    assert list(contradictions(run(text))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(SFT + "batch_size: 64\n", "gradient_accumulation_steps and batch_size are both set", id="total"),
        pytest.param(SFT + "warmup_steps: 10\nwarmup_ratio: 0.1\n", "warmup_steps and warmup_ratio are both set", id="warm-up"),
        pytest.param(SFT + "saves_per_epoch: 1\nsave_steps: 50\n", "save_steps and saves_per_epoch are both set", id="saves"),
        pytest.param(
            PACKED + BATCH.format(micro=2, steps=4),
            "context_parallel_size and micro_batch_size are both set; with sample_packing",
            id="ring",
        ),
    ],
)
def test_keys_that_exclude_each_other_are_found(text: str, expected: str) -> None:
    (found,) = messages(list(contradictions(run(text))))
    assert found.startswith(expected)


@pytest.mark.parametrize(
    ("text", "hardware"),
    [
        pytest.param(SFT + "dp_shard_size: 16\n", {"world_size": 16}, id="one copy"),
        pytest.param(SFT + "dp_shard_size: 16\n", {"world_size": 32}, id="two copies, by themselves"),
        pytest.param(SFT + "dp_shard_size: 4\ndp_replicate_size: 2\ntensor_parallel_size: 2\n", {"world_size": 16}, id="filled"),
        pytest.param(SFT + "dp_shard_size: 4\ndp_replicate_size: 1\n", {"world_size": 8}, id="a single replica is filled up"),
        pytest.param(SFT + "dp_shard_size: 4\n", {}, id="GPUs not known"),
    ],
)
def test_a_filled_mesh_stays_silent(text: str, hardware: dict[str, int]) -> None:
    assert messages(outcomes("GBS202", text, "c.yml", **hardware)) == []


@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(SFT + "dp_shard_size: 16\n", 24, id="24 GPUs, shards of 16"),
        pytest.param(SFT + "dp_shard_size: 4\ndp_replicate_size: 2\n", 16, id="16 GPUs, 8 in the mesh"),
    ],
)
def test_gpus_left_over_are_found(text: str, world: int) -> None:
    assert len(messages(outcomes("GBS202", text, "c.yml", world_size=world))) == 1


@pytest.mark.parametrize(
    ("text", "hardware"),
    [
        pytest.param(GRPO.format(group=4), {"gpus_per_node": 2, "num_nodes": 1}, id="2 x 4 = two groups of 4"),
        pytest.param(SFT + "rl: grpo\n", {"gpus_per_node": 8, "num_nodes": 1}, id="TRL's own group is left to TRL"),
        pytest.param(GRPO.format(group=3) + "  generation_batch_size: 6\n", {"gpus_per_node": 8, "num_nodes": 1}, id="a batch of its own"),
        pytest.param(SFT + "rl: gdpo\ntrl: {num_generations: 3}\n", {}, id="GDPO is not looked at"),
        pytest.param(GRPO.format(group=8), {}, id="GPUs not known"),
    ],
)
def test_whole_groups_stay_silent(text: str, hardware: dict[str, int]) -> None:
    assert messages(outcomes("GBS205", text, "c.yml", **hardware)) == []


@pytest.mark.parametrize(
    ("text", "hardware"),
    [
        pytest.param(GRPO.format(group=3), {}, id="8 completions in groups of 3"),
        pytest.param(GRPO.format(group=1), {}, id="a group of one"),
        pytest.param(GRPO.format(group=4) + "  generation_batch_size: 6\n", {}, id="6 in groups of 4"),
        pytest.param(GRPO.format(group=4), {"gpus_per_node": 4, "num_nodes": 1}, id="two groups for four GPUs"),
    ],
)
def test_broken_groups_are_found(text: str, hardware: dict[str, int]) -> None:
    found = outcomes("GBS205", text, "c.yml", **hardware)
    assert len(messages(found)) == 1


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(BATCH.format(micro=4, steps=8), id="no total"),
        pytest.param("micro_batch_size: 4\nbatch_size: 4\n", id="what is trained with"),
        pytest.param("micro_batch_size: 4\nbatch_size: 64\ngradient_accumulation_steps:\n", id="the accumulation follows from it"),
        pytest.param("micro_batch_size: 4\nbatch_size: 64\ngradient_accumulation_steps: 2\n", id="refused"),
        pytest.param("micro_batch_size: ${MICRO}\nbatch_size: 64\n", id="an unknown micro batch"),
        pytest.param("micro_batch_size: 4\nbatch_size: ${TOTAL}\n", id="an unknown total"),
        pytest.param("micro_batch_size: 4\nbatch_size: [64]\n", id="a list"),
    ],
)
def test_a_total_batch_that_counts_or_is_refused_stays_silent(keys: str) -> None:
    assert list(ignored(run(RUN + keys))) == []


def test_a_total_batch_without_effect_is_a_warning() -> None:
    text = RUN + "micro_batch_size: 4\nbatch_size: 128\n"
    (found,) = ignored(run(text))
    assert isinstance(found, Finding)
    assert found.severity == Severity.WARNING
    assert text[found.at.start : found.at.stop] == "128"
    assert found.message == "axolotl ignores batch_size 128 for training: accumulation is 1, so each GPU trains on 4 per step"
    assert [text[each.at.start : each.at.stop] for each in found.related] == ["4"]
