"""trlX, RL4LMs, Ludwig, turbo-alignment and AutoTrain: recipes whose batch lies in a section, with words for what is found out."""

from pathlib import Path

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Source
from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.quantity import Name
from pytest_gbs.readers import read
from tests.launches.building import checked, launched

from .building import outcomes, sizes, stumbles, table, title

TRLX = "train: {{batch_size: {batch}{more}, pipeline: PromptPipeline, trainer: {trainer}}}\nmethod: {{name: {method}}}\n"
RL = (
    "tokenizer: {{model_name: t5}}\ndatapool: {{id: imdb}}\nenv: {{n_envs: {envs}}}\nalg: {{id: {alg}, args: {{n_steps: {steps}{more}}}}}\n"
)
SUPERVISED = "tokenizer: {model_name: t5}\ndatapool: {id: imdb}\nalg: {id: supervised, training_args: {per_device_train_batch_size: 4}}\n"
LUDWIG = "input_features: [{{name: a}}]\noutput_features: [{{name: b}}]\ntrainer: {{{trainer}}}\n"
AUTO = "task: {task}\nbase_model: gpt2\nproject_name: mine\nparams: {{batch_size: 2, gradient_accumulation: 8{more}}}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("train: {batch_size: 16, epochs: 3}\nmethod: {name: ppo}\n", id="a section of anyone's"),
        pytest.param("alg: {id: ppo, args: {batch_size: 64, n_steps: 8}}\n", id="reinforcement learning without text"),
        pytest.param(RL.format(envs=2, alg="trpo", steps=8, more=", batch_size: 4"), id="a batch of the value function"),
        pytest.param("trainer: {batch_size: 16, epochs: 3}\n", id="a trainer of anyone's"),
        pytest.param(LUDWIG.format(trainer="epochs: 3"), id="Ludwig finds a batch"),
        pytest.param(
            LUDWIG.format(trainer="batch_size: 8") + "hyperopt: {parameters: {trainer.batch_size: {space: choice}}}\n", id="a search"
        ),
        pytest.param("task: llm-sft\nparams: {batch_size: 2}\n", id="no project"),
        pytest.param("trainer: {handler: Mine, args: {per_device_eval_batch_size: 4}}\n", id="arguments that only evaluate"),
        pytest.param("sft: {per_device_train_batch_size: 4}\n", id="a micro batch alone"),
        pytest.param("sft: {batch_size: 4, learning_rate: 1e-5}\n", id="a stage of anyone's"),
        pytest.param("trainer_settings: {per_device_train_batch_size: 4}\nmodel_settings: {}\n", id="settings of anyone's"),
        pytest.param("grpo: {per_device_train_batch_size: 4, learning_rate: 1e-5}\n", id="prompts or completions"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("batch", "more", "trainer", "expected", "micro"),
    [
        pytest.param(16, "", "AcceleratePPOTrainer", 128, 16, id="a batch for each process"),
        pytest.param(16, ", minibatch_size: 4", "AcceleratePPOTrainer", 128, 4, id="in minibatches"),
        pytest.param(16, ", minibatch_size: 4", "NeMoPPOTrainer", None, 4, id="ranks from another file"),
        pytest.param(16, ", minibatch_size: null", "AcceleratePPOTrainer", 128, 16, id="no minibatches"),
        pytest.param(16, ", minibatch_size: 0", "AcceleratePPOTrainer", 128, 16, id="no minibatches, as zero"),
    ],
)
def test_trlx_has_a_batch_for_each_process(batch: int, more: str, trainer: str, expected: int | None, micro: int) -> None:
    text = TRLX.format(batch=batch, more=more, trainer=trainer, method="ppoconfig")
    stated = sizes(text, world_size=8)
    assert (title(text), table("trlX (PPO)").unit) == ("trlX (PPO)", "completions")
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.MICRO_BATCH_SIZE)) == (expected, micro)


@pytest.mark.parametrize(("mini", "expected"), [(4, Verified), (16, Verified), (5, Finding)])
def test_a_batch_of_trlx_holds_whole_minibatches(mini: int, expected: type) -> None:
    text = TRLX.format(batch=16, more=f", minibatch_size: {mini}", trainer="AccelerateSFTTrainer", method="sftconfig")
    assert [type(outcome) for outcome in outcomes("GBS202", text, world_size=8)] == [expected]


@pytest.mark.parametrize(("mini", "expected"), [("null", {}), ("0", {}), ("4", {}), ("-1", {"minibatch_size": "stops"})])
def test_trlx_takes_no_minibatches_for_the_whole_batch(mini: str, expected: dict[str, str]) -> None:
    assert stumbles(TRLX.format(batch=16, more=f", minibatch_size: {mini}", trainer="AcceleratePPOTrainer", method="ppoconfig")) == expected


ACCELERATE = "distributed_type: {kind}\ndeepspeed_config: {{{engine}}}\nnum_machines: 1\nnum_processes: 3\n"


# DeepSpeed's engine takes a step each time that it has had its own number of minibatches, whatever trlX does then.
@pytest.mark.parametrize(
    ("more", "kind", "engine", "expected"),
    [
        pytest.param("", "DEEPSPEED", "gradient_accumulation_steps: 3", 72, id="8 x 3 x 3 ranks"),
        pytest.param(", minibatch_size=2", "DEEPSPEED", "gradient_accumulation_steps: 4", 24, id="2 x 4 x 3"),
        pytest.param(", minibatch_size=2", "DEEPSPEED", "gradient_accumulation_steps: 1", 6, id="a step with each minibatch"),
        pytest.param(", minibatch_size=2", "DEEPSPEED", "deepspeed_config_file: ds.json", 30, id="2 x 5 of another file x 3"),
        pytest.param(", minibatch_size=2", "MULTI_GPU", "gradient_accumulation_steps: 3", 24, id="without DeepSpeed 8 x 3"),
    ],
)
def test_deepspeed_says_how_many_minibatches_of_trlx_make_a_step(more: str, kind: str, engine: str, expected: int, tmp_path: Path) -> None:
    program = f"import trlx\nfrom trlx.data.configs import TrainConfig\ntrain = TrainConfig(seq_length=64, batch_size=8{more})\n"
    files = {"train.py": program, "zero.yaml": ACCELERATE.format(kind=kind, engine=engine), "ds.json": '{"gradient_accumulation_steps": 5}'}
    (run,) = launched(checked(tmp_path, {**files, "run.sh": "accelerate launch --config_file zero.yaml train.py\n"}))
    assert run.geometry.value(Name.GLOBAL_BATCH_SIZE) == expected


def test_a_program_makes_a_configuration_of_trlx() -> None:
    text = "from trlx.data.configs import TrainConfig\ntrain = TrainConfig(seq_length=64, batch_size=32, minibatch_size=8)\n"
    (found,) = (each for each in read(Source("train.py", text)) if isinstance(each, Document) and recognise(each))
    assert getattr(recognise(found), "title", None) == "trlX (Python)"


TURBO = '{{"trainer_settings": {{{settings}}}, "model_settings": {{}}, "tokenizer_settings": {{}}, "train_dataset_settings": {{}}}}\n'


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param('"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16', 128, id="1 x 16 x 8"),
        pytest.param(
            '"per_device_train_batch_size": 1, "gradient_accumulation_steps": 16, "sequence_parallel": 2', 64, id="1 x 16 x 8 / 2"
        ),
        pytest.param('"learning_rate": 3e-4', 1024, id="defaults 4 x 32 x 8"),
    ],
)
def test_processes_of_turbo_alignment_may_share_sequences(settings: str, expected: int) -> None:
    text = TURBO.format(settings=settings)
    assert (title(text, "sft.json"), sizes(text, world_size=8).value(Name.GLOBAL_BATCH_SIZE)) == ("turbo-alignment", expected)


# open-unlearning composes the arguments of the Trainer below `trainer.args`: 4 x 8 on 2 GPUs.
def test_arguments_of_the_trainer_lie_two_sections_deep() -> None:
    text = "trainer: {handler: NPO, args: {per_device_train_batch_size: 4, gradient_accumulation_steps: 8, num_train_epochs: 10}}\n"
    assert (title(text), sizes(text, world_size=2).value(Name.GLOBAL_BATCH_SIZE)) == ("transformers Trainer (args of trainer)", 64)


# A rollout has 10 x 128 = 1,280 tokens, 20 batches of 64.
@pytest.mark.parametrize(
    ("alg", "more", "expected"),
    [
        pytest.param("ppo", ", batch_size: 64", 64, id="PPO"),
        pytest.param("nlpo", "", 64, id="NLPO by default"),
        pytest.param("a2c", "", 1280, id="A2C takes a rollout"),
    ],
)
def test_rl4lms_counts_tokens(alg: str, more: str, expected: int) -> None:
    stated = sizes(RL.format(envs=10, alg=alg, steps=128, more=more))
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.GENERATION_BATCH_SIZE)) == (expected, 1280)


def test_rl4lms_hands_supervised_runs_to_the_trainer() -> None:
    assert (title(SUPERVISED), sizes(SUPERVISED, world_size=8).value(Name.GLOBAL_BATCH_SIZE)) == ("RL4LMs (supervised)", 32)


# ludwig/utils/trainer_utils.py, get_rendered_batch_size_grad_accum, with 4 workers.
@pytest.mark.parametrize(
    ("trainer", "total", "accumulation"),
    [
        pytest.param("batch_size: 8", 32, 1, id="nothing accumulates"),
        pytest.param("batch_size: 8, gradient_accumulation_steps: 4", 128, 4, id="accumulation"),
        pytest.param("batch_size: 8, gradient_accumulation_steps: auto", 32, 1, id="accumulation of one batch"),
        pytest.param("batch_size: 8, effective_batch_size: 128", 128, 4, id="128 / 8 / 4"),
        pytest.param("batch_size: 8, effective_batch_size: 128, gradient_accumulation_steps: auto", 128, 4, id="the same, said"),
        pytest.param("batch_size: auto", None, 1, id="found on the machine"),
    ],
)
def test_ludwig_renders_what_is_left_out(trainer: str, total: int | None, accumulation: int) -> None:
    stated = sizes(LUDWIG.format(trainer=trainer), world_size=4)
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.GRADIENT_ACCUMULATION_STEPS)) == (total, accumulation)


@pytest.mark.parametrize(
    ("trainer", "findings"),
    [
        ("batch_size: 8", 0),
        ("batch_size: 8, effective_batch_size: 128", 0),
        ("batch_size: 8, effective_batch_size: 100", 1),
        ("gradient_accumulation_steps: 3, effective_batch_size: 128", 1),
    ],
)
def test_the_effective_batch_of_ludwig_is_a_multiple(trainer: str, findings: int) -> None:
    reported = outcomes("GBS202", LUDWIG.format(trainer=trainer))
    assert len([each for each in reported if isinstance(each, Finding)]) == findings


@pytest.mark.parametrize(
    ("task", "more", "expected"),
    [
        ("llm-sft", "", "autotrain"),
        ("text-classification", "", "autotrain"),
        ("llm-dpo", "", "AutoTrain (preference pairs)"),
        ("llm", ", trainer: orpo", "AutoTrain (preference pairs)"),
    ],
)
def test_autotrain_hands_its_batch_to_the_trainer(task: str, more: str, expected: str) -> None:
    text = AUTO.format(task=task, more=more)
    assert (title(text) or "").casefold() == expected.casefold()
    assert sizes(text, world_size=4).value(Name.GLOBAL_BATCH_SIZE) == 64


# Reduced from Liquid4All/leap-finetune, job_configs/vlm_dpo_example.yaml, and TiandaSun/KG_GRPO, configs/sft_7b.yaml.
@pytest.mark.parametrize("section", ["training_config", "sft", "dpo"])
def test_a_stage_of_a_file_holds_arguments_of_the_trainer(section: str) -> None:
    text = f"{section}: {{per_device_train_batch_size: 2, gradient_accumulation_steps: 16, num_train_epochs: 1}}\n"
    assert title(text) == f"transformers Trainer ({section})"
    assert sizes(text, world_size=4).value(Name.GLOBAL_BATCH_SIZE) == 128
    assert sizes(text.replace("gradient_accumulation_steps: 16, ", ""), world_size=4).value(Name.GLOBAL_BATCH_SIZE) is None
