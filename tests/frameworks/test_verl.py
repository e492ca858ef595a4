"""verl states batches in prompts, trains on completions, and rounds down for each rank."""

from pathlib import Path

import pytest

from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Reason
from pytest_gbs.model.rule import Example
from tests.launches.building import checked, codes
from tools.examples import check_example

from .building import outcomes, sizes, stumbles, table, title, value

RL = """\
data: {{train_batch_size: {train}, max_prompt_length: 512}}
actor_rollout_ref:
  actor: {{ppo_mini_batch_size: {mini}, {micro}}}
  rollout: {{n: {n}}}
"""
PARENTS = "defaults: [ppo_trainer, _self_]\n"
MICRO = "ppo_micro_batch_size_per_gpu: {}"
SFT = "data: {train_files: a.parquet, train_batch_size: 256, micro_batch_size_per_gpu: 4}\nmodel: {partial_pretrain: my/model}\n"
ENGINE = """\
data: {{train_batch_size: {batch}, micro_batch_size_per_gpu: 4, use_dynamic_bsz: {dynamic}, pad_mode: no_padding}}
model: {{path: my/model}}
"""
EASY = """\
data: {{rollout_batch_size: {rollout}}}
worker:
  actor: {{global_batch_size: {batch}, micro_batch_size_per_device_for_update: {micro}, dynamic_batching: {dynamic}}}
  rollout: {{n: 5}}
"""


def rl(train: int = 1024, mini: int = 256, n: int = 5, micro: object = 16, more: str = "") -> str:
    return RL.format(train=train, mini=mini, n=n, micro=MICRO.format(micro) + more)


def megatron(tensor: int = 4, pipeline: int = 3, **batch: int) -> str:
    return rl(**batch, more=f", megatron: {{tensor_model_parallel_size: {tensor}, pipeline_model_parallel_size: {pipeline}}}")


def findings(found: list[Outcome]) -> list[str]:
    return [outcome.message for outcome in found if isinstance(outcome, Finding)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("actor_rollout_ref: {model: {path: my/model}}\nrollout: {n: 8}\ndata: {path: a}\n", None, id="generation"),
        pytest.param(
            "actor_rollout_ref: {rollout: {n: 4}}\ndata: {train_files: a}\ntrainer: {nnodes: 1}\n", None, id="a generation server"
        ),
        pytest.param("ppo_mini_batch_size: 256\nppo_micro_batch_size_per_gpu: 8\nstrategy: fsdp\n", None, id="a part of the configuration"),
        pytest.param("data: {train_batch_size: 64}\nmodel: {path: my/model}\n", None, id="somebody's own trainer"),
        pytest.param(rl(), "verl (RL, FSDP)", id="RL"),
        pytest.param(rl(more=", strategy: fsdp2"), "verl (RL, FSDP)", id="FSDP said aloud"),
        pytest.param(rl(more=", strategy: megatron"), "verl (RL, Megatron)", id="Megatron by its strategy"),
        pytest.param(megatron(), "verl (RL, Megatron)", id="Megatron by its keys"),
        pytest.param(
            f"config-name: ppo_megatron_trainer.yaml\n{rl()}", "verl (RL, Megatron)", id="Megatron by the name of the configuration"
        ),
        pytest.param(SFT, "verl (SFT)", id="SFT"),
        pytest.param(SFT + rl().replace("data:", "more:"), "verl (SFT)", id="SFT beside what evaluates the policy"),
        pytest.param(ENGINE.format(batch=256, dynamic="true"), "verl (SFT, engine)", id="SFT with an engine"),
        pytest.param(EASY.format(rollout=512, batch=128, micro=4, dynamic="true"), "EasyR1", id="EasyR1"),
    ],
)
def test_recipes_are_recognised_by_parts_of_them(text: str, expected: str | None) -> None:
    assert title(text) == expected


# run_qwen2-7b_math.sh of verl: 256 prompts x 5 = 1280 completions, 160 on each of 8 ranks, 10 micro batches of 16.
def test_completions_follow_from_prompts() -> None:
    stated = sizes(rl(), num_nodes=1, gpus_per_node=8).stated
    expected = {
        Name.GLOBAL_BATCH_SIZE: 1280,
        Name.GENERATION_BATCH_SIZE: 5120,
        Name.STEPS_PER_ROLLOUT: 4,
        Name.RANK_BATCH_SIZE: 160,
        Name.GRADIENT_ACCUMULATION_STEPS: 10,
    }
    assert {name: value(stated.get(name)) for name in expected} == expected


def test_pairs_of_preferences_are_no_completions() -> None:
    text = rl() + "algorithm: {paired_preference: %s}\n"
    found = [sizes(text % paired, num_nodes=1, gpus_per_node=8).global_batch_size for paired in ("true", "false")]
    assert found == [None, 1280]


def test_sequence_parallel_ranks_share_a_batch() -> None:
    text = rl(more=", ulysses_sequence_parallel_size: 2")
    stated = sizes(text, world_size=8).stated
    assert value(stated[Name.DATA_PARALLEL_SIZE]) == 4
    assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == 20  # 1280 / 4 / 16


# run_moonlight16b_math_megatron.sh of verl: 3 nodes of 8, 24 / (4 x 3) = 2 ranks; 64 x 5 = 320, 160 on each, 10 x 16.
def test_model_parallel_ranks_share_a_batch() -> None:
    stated = sizes(megatron(mini=64), num_nodes=3, gpus_per_node=8).stated
    assert [value(stated[name]) for name in (Name.DATA_PARALLEL_SIZE, Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)] == [
        2,
        320,
        10,
    ]


def test_the_defaults_are_those_of_verls_own_configuration() -> None:
    bare = (
        PARENTS + "data: {train_files: a}\nactor_rollout_ref: {model: {path: my/model}}\n"
        "algorithm: {adv_estimator: grpo}\ntrainer: {total_epochs: 1}\n"
    )
    own = sizes(bare).stated
    assert [value(own[name]) for name in (Name.PROMPTS_PER_ROLLOUT, Name.PROMPTS_PER_STEP, Name.NUM_GENERATIONS)] == [1024, 256, 1]
    other = sizes(f"config-name: my_trainer\n{bare}").stated
    assert value(other.get(Name.GLOBAL_BATCH_SIZE)) is None


# The overlay of a data set, which a program of its own puts over another configuration: the mini batch is in that one.
def test_an_overlay_has_no_defaults() -> None:
    overlay = "data: {train_batch_size: 32}\nactor_rollout_ref: {rollout: {n: 2}}\n"
    stated = sizes(overlay).stated
    assert value(stated[Name.GENERATION_BATCH_SIZE]) == 64
    assert value(stated.get(Name.PROMPTS_PER_STEP)) is None
    assert findings(outcomes("GBS207", overlay)) == []
    assert findings(outcomes("GBS207", f"{overlay}trainer: {{total_epochs: 1}}\n")) == []
    assert findings(outcomes("GBS207", f"{PARENTS}{overlay}trainer: {{total_epochs: 1}}\n")) != []


# Trinity-RFT's recipes name a part of verl's configuration, and have the batch themselves: the mini batch is not above a batch of 1024.
def test_a_part_without_data_does_not_get_the_default_of_another_part() -> None:
    part = "actor_rollout_ref: {actor: {ppo_mini_batch_size: 2048}}\nalgorithm: {adv_estimator: grpo}\ntrainer: {total_epochs: 1}\n"
    stated = sizes(part).stated
    assert value(stated[Name.PROMPTS_PER_STEP]) == 2048
    assert value(stated.get(Name.PROMPTS_PER_ROLLOUT)) is None
    assert findings(outcomes("GBS207", part)) == []
    assert findings(outcomes("GBS207", f"data: {{train_files: a}}\n{part}")) == []
    assert findings(outcomes("GBS207", f"{PARENTS}data: {{train_files: a}}\n{part}")) != []


def test_micro_batches_filled_by_tokens_have_no_accumulation() -> None:
    stated = sizes(rl(more=", use_dynamic_bsz: true"), world_size=8).stated
    assert value(stated[Name.MICRO_BATCH_SIZE]) == 16
    assert Name.GRADIENT_ACCUMULATION_STEPS not in stated


def test_a_global_micro_batch_is_divided_among_the_ranks() -> None:
    text = RL.format(train=1024, mini=256, n=1, micro="ppo_micro_batch_size: 64")
    stated = sizes(text, world_size=8).stated
    assert value(stated[Name.MICRO_BATCH_SIZE]) == 8
    assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == 4  # 256 / 8 / 8


def test_what_trains_is_rounded_down() -> None:
    assert sizes(rl(), world_size=8).realised == {}
    assert sizes(rl(train=4096, mini=1027, n=1)).realised == {}
    rounded = sizes(rl(train=4096, mini=1027, n=1, micro=2), world_size=256)
    assert value(rounded.stated[Name.GLOBAL_BATCH_SIZE]) == 1027
    assert value(rounded.realised[Name.GLOBAL_BATCH_SIZE]) == 1024


@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(rl(), 8, 0, id="in order"),
        pytest.param(rl(), None, 0, id="GPUs not known"),
        pytest.param(rl(train=96, mini=96, n=1, micro="null", more=", use_dynamic_bsz: true"), 64, 0, id="by tokens"),
        pytest.param(megatron(train=1024, mini=64), 24, 0, id="not by the GPUs but by the ranks"),
        pytest.param(rl(train=1001, mini=8, n=1, micro=1), 8, 1, id="a rollout that the GPUs do not share"),
        pytest.param(rl(mini=8, n=1, micro=2), 8, 1, id="a micro batch larger than what a rank has"),
        pytest.param(rl(micro=48), 8, 1, id="160 is not 48 x something"),
        pytest.param(megatron(train=1000, mini=64, micro=16), 24, 1, id="Megatron: 5000, of 2 x 16"),
        pytest.param(megatron(train=96, mini=64, micro=16), 24, 0, id="Megatron: 480 is not 320 x something, and filled up"),
    ],
)
def test_batches_must_divide(text: str, world: int | None, expected: int) -> None:
    found = outcomes("GBS202", text, **({"world_size": world} if world else {}))
    assert len(findings(found)) == expected


# 96 x 5 = 480 completions, and 64 x 5 = 320 in a mini batch: asserted by its iterator, until 0.9 fills the rollout up to 640.
@pytest.mark.parametrize(("version", "expected"), [("0.9.0", []), ("0.8.0", ["GBS202"]), ("0.4.1", ["GBS202"])])
def test_a_rollout_of_whole_mini_batches_is_asked_for_until_it_is_filled_up(version: str, expected: list[str], tmp_path: Path) -> None:
    text = megatron(train=96, mini=64, micro=16) + "trainer: {nnodes: 3, n_gpus_per_node: 8}\n"
    report = checked(tmp_path, {"recipe.yaml": text, "requirements.txt": f"verl=={version}\n"})
    assert [code for code in codes(report) if code == "GBS202"] == expected


def test_the_engine_has_the_sequence_parallel_size() -> None:
    engine = "fsdp_config: {ulysses_sequence_parallel_size: 4}"
    assert value(sizes(rl(more=f", {engine}"), world_size=8).stated[Name.DATA_PARALLEL_SIZE]) == 2
    both = rl(more=f", {engine}, ulysses_sequence_parallel_size: 2")
    assert value(sizes(both, world_size=8).stated[Name.DATA_PARALLEL_SIZE]) == 4
    one = rl(more=f", {engine}, ulysses_sequence_parallel_size: 1")
    assert value(sizes(one, world_size=8).stated[Name.DATA_PARALLEL_SIZE]) == 2


def test_other_engines_have_degrees_of_their_own() -> None:
    assert value(sizes(rl(more=", veomni: {ulysses_parallel_size: 2}"), world_size=8).stated[Name.DATA_PARALLEL_SIZE]) == 4
    degrees = "torchtitan: {data_parallel_shard_size: 2, data_parallel_replicate_size: 2, tensor_parallel_size: 2}"
    assert value(sizes(rl(more=f", {degrees}"), world_size=8).stated[Name.DATA_PARALLEL_SIZE]) == 4
    assert value(sizes(rl(more=", strategy: torchtitan"), world_size=8).stated[Name.DATA_PARALLEL_SIZE]) == 1


@pytest.mark.parametrize("more", ["", ", megatron: {tensor_model_parallel_size: 1}"])
def test_a_file_without_parents_has_no_defaults(more: str) -> None:
    whole = rl(mini=0, more=more).replace("ppo_mini_batch_size: 0, ", "") + "trainer: {nnodes: 1}\n"
    assert value(sizes(whole).stated.get(Name.PROMPTS_PER_STEP)) is None
    assert value(sizes(f"{PARENTS}{whole}").stated[Name.PROMPTS_PER_STEP]) == 256


def test_a_rollout_that_is_not_whole_has_one_step_more() -> None:
    assert value(sizes(rl(train=1024, mini=256, n=1)).stated[Name.STEPS_PER_ROLLOUT]) == 4
    assert value(sizes(rl(train=1024, mini=384, n=1)).stated[Name.STEPS_PER_ROLLOUT]) == 3


# ToRL's scripts: a rollout of 128 prompts x 16 is one step, though a mini batch of 1,024 prompts is asked for.
@pytest.mark.parametrize(
    ("train", "micro", "expected"),
    [
        pytest.param(1024, "use_dynamic_bsz: true", {}, id="as large as a mini batch"),
        pytest.param(0, "use_dynamic_bsz: true", {}, id="the data come from elsewhere"),
        pytest.param(128, "use_dynamic_bsz: true", {Name.GLOBAL_BATCH_SIZE: 2048}, id="smaller, by tokens"),
        pytest.param(
            128, "ppo_micro_batch_size_per_gpu: 60", {Name.GLOBAL_BATCH_SIZE: 2048, Name.GRADIENT_ACCUMULATION_STEPS: 5}, id="smaller"
        ),
    ],
)
def test_a_rollout_that_is_smaller_than_a_mini_batch_is_one_step(train: int, micro: str, expected: dict[str, int]) -> None:
    realised = sizes(RL.format(train=train, mini=1024, n=16, micro=micro), world_size=8).realised
    found: dict[str, object] = {name: value(size) for name, size in realised.items() if name != Name.RANK_BATCH_SIZE}
    assert found == expected


# rLLM 9beb6e0f, cookbooks/math/train_verl.sh: one step with all 32 prompts x 8, though a mini batch of 64 is asked for.
@pytest.mark.parametrize(("train", "mini", "expected"), [(32, 64, [256, 1]), (64, 64, [512, 1]), (128, 32, [256, 4])])
def test_rllm_makes_a_smaller_step_of_a_small_rollout(train: int, mini: int, expected: list[int]) -> None:
    text = RL.format(train=train, mini=mini, n=8, micro="use_dynamic_bsz: true") + "rllm: {algorithm: {use_rllm: true}}\n"
    found = sizes(text, world_size=8)
    assert [found.value(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.STEPS_PER_ROLLOUT)] == expected


def test_a_rollout_holds_a_mini_batch_and_each_rank_a_completion() -> None:
    assert findings(outcomes("GBS207", rl(), world_size=8)) == []
    assert findings(outcomes("GBS207", rl(train=128, more=", use_dynamic_bsz: true"), world_size=8)) == []
    server = rl(mini=4, n=1, micro=1, more=", use_dynamic_bsz: true").partition("data:")
    assert findings(outcomes("GBS207", server[0] + server[2].partition("\n")[2], world_size=8)) == []
    assert len(findings(outcomes("GBS207", rl(train=128), world_size=8))) == 1
    assert len(findings(outcomes("GBS207", rl(train=8, mini=4, n=1, micro=1), world_size=8))) == 1


@pytest.mark.parametrize(
    ("micro", "expected"),
    [
        ("4", None),
        ("null", None),
        ("true", None),
        ("'${micro}'", None),
        ("0", Treatment.STOPS),
        ("-4", Treatment.STOPS),
        ("eight", Treatment.STOPS),
        ("1.5", Treatment.STOPS_LATE),
        ("1e1", Treatment.STOPS_LATE),
    ],
)
def test_nothing_is_converted(micro: str, expected: str | None) -> None:
    assert stumbles(rl(micro=micro)) == ({"ppo_micro_batch_size_per_gpu": expected} if expected else {})


def test_the_older_sft_trainer_takes_whole_micro_batches_only() -> None:
    stated = sizes(SFT, world_size=8).stated
    assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == 8  # 256 / (4 x 8)
    split = sizes(f"{SFT}ulysses_sequence_parallel_size: 2\n", world_size=8).stated
    assert value(split[Name.GRADIENT_ACCUMULATION_STEPS]) == 16
    assert isinstance(outcomes("GBS202", SFT, world_size=8)[0], Verified)
    (found,) = outcomes("GBS202", SFT, world_size=6)
    assert isinstance(found, Finding)
    assert found.severity == Severity.ERROR


def test_the_newer_sft_trainer_rounds_down() -> None:
    text = ENGINE.format(batch=250, dynamic="true")
    assert value(sizes(text, world_size=8).realised[Name.GLOBAL_BATCH_SIZE]) == 248
    assert sizes(ENGINE.format(batch=256, dynamic="true"), world_size=8).realised == {}
    fixed = sizes(ENGINE.format(batch=256, dynamic="false"), world_size=8).stated
    assert value(fixed[Name.GRADIENT_ACCUMULATION_STEPS]) == 8
    assert Name.MICRO_BATCH_SIZE not in sizes(text, world_size=8).stated
    assert table("verl (SFT, engine)").constraints == ()


def test_easyr1_takes_whole_batches_of_a_rollout() -> None:
    good = EASY.format(rollout=512, batch=128, micro=4, dynamic="false")
    stated = sizes(good, world_size=8).stated
    assert value(stated[Name.GLOBAL_BATCH_SIZE]) == 640
    assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == 20  # 640 / 8 / 4
    assert findings(outcomes("GBS202", good, world_size=8)) == []
    assert len(findings(outcomes("GBS202", EASY.format(rollout=500, batch=128, micro=4, dynamic="true"), world_size=8))) == 1
    assert len(findings(outcomes("GBS202", EASY.format(rollout=512, batch=128, micro=7, dynamic="true"), world_size=8))) == 1
    torn = sizes(EASY.format(rollout=512, batch=128, micro=7, dynamic="false"), world_size=8).stated
    assert value(torn[Name.GRADIENT_ACCUMULATION_STEPS]) == Reason.NOT_WHOLE


def test_the_asynchronous_trainer_has_no_rollout_of_its_own_size() -> None:
    text = f"async_training: {{staleness_threshold: 0.1}}\n{rl(train=0, mini=16, micro=2)}"
    stated = sizes(text, world_size=4).stated
    assert stumbles(text) == {}
    assert Name.PROMPTS_PER_ROLLOUT not in stated
    assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == 10  # 16 x 5 / 4 / 2
    assert findings(outcomes("GBS207", text, world_size=4)) == []
    assert stumbles(rl(train=0)) == {"train_batch_size": Treatment.STOPS}


ACTORS = "async_resources: {actor_fwd: {nnodes: 3, n_gpus_per_node: 8}, actor_train: {nnodes: 2, n_gpus_per_node: 4}}\n"


@pytest.mark.parametrize(
    ("actors", "steps"), [pytest.param("", 40, id="256 x 5 / 2 / 16"), pytest.param(ACTORS, 10, id="256 x 5 / 8 / 16")]
)
def test_async_flow_trains_on_gpus_of_its_own(actors: str, steps: int, tmp_path: Path) -> None:
    (found,) = checked(tmp_path, {"r.yaml": f"{rl()}trainer: {{nnodes: 1, n_gpus_per_node: 2}}\n{actors}"}).files
    assert [value(run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)) for run in found.runs] == [steps]


BOTH = "ppo_micro_batch_size: 64, ppo_micro_batch_size_per_gpu: 8"


@pytest.mark.parametrize(
    ("micro", "more", "expected"),
    [
        pytest.param("ppo_micro_batch_size_per_gpu: 8", "", [], id="one per GPU"),
        pytest.param("ppo_micro_batch_size: 64", "", [], id="the older one"),
        pytest.param("ppo_micro_batch_size_per_gpu: null", "", [], id="left to a command line"),
        pytest.param("use_dynamic_bsz: true", "", [], id="by tokens"),
        pytest.param("ppo_epochs: 1", "defaults: [ppo_trainer, _self_]\n", [], id="a parent may say it"),
        pytest.param("ppo_epochs: 1", "config-name: my_trainer\n", [], id="another configuration may say it"),
        pytest.param("ppo_epochs: 1", "async_training: {staleness_threshold: 0}\n", [], id="another trainer"),
        pytest.param(f"{BOTH}, use_dynamic_bsz: true", "", [], id="both, by tokens"),
        pytest.param("ppo_epochs: 1", "", [], id="whatever composes it may say it"),
        pytest.param(BOTH, "", ["GBS203"], id="both"),
    ],
)
def test_exactly_one_micro_batch_is_stated(micro: str, more: str, expected: list[str], tmp_path: Path) -> None:
    text = more + RL.format(train=1024, mini=256, n=1, micro=micro)
    report = check_example(Example((("ppo.yaml", text),)), tmp_path)
    assert [finding.code for finding in report.findings() if finding.code in ("GBS203", "GBS209")] == expected


# A program of the repository's own turns its recipe into overrides and adds the micro batch; verl's own does not.
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python tools/start.py --config grpo.yaml", []),
        ("python $ROOT/start.py --config grpo.yaml", []),
        ("python -m verl.trainer.main_ppo --config grpo.yaml", ["GBS209"]),
    ],
)
def test_a_program_of_ones_own_may_add_what_a_recipe_leaves_out(command: str, expected: list[str], tmp_path: Path) -> None:
    recipe = RL.format(train=1024, mini=256, n=1, micro="ppo_epochs: 1")
    files = (("grpo.yaml", recipe), ("run.sh", f"{command}\n"), ("tools/start.py", "import subprocess\n"))
    report = check_example(Example(files), tmp_path)
    assert [finding.code for finding in report.findings()] == expected
