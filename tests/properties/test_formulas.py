"""What `gbs show --format json` gives for generated recipes is what short formulas give, each written from its framework's source.

A formula knows nothing of gbs: it takes the settings and the number of processes, and gives the sizes of one optimizer step, or
nothing where the framework would stop.
"""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.support import as_json, as_yaml, reported, shown, sizes

Sizes = dict[str, int]
few = st.integers(1, 16)
processes = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16, 64])

GLOBAL, MICRO, ACCUMULATION, RANKS = "global_batch_size", "micro_batch_size", "gradient_accumulation_steps", "data_parallel_size"


def is_stopped(files: dict[str, str], world: int) -> bool:
    """Whether something is wrong with the recipe on this hardware."""
    return any(finding.severity == "error" for finding in reported(files, world_size=world).findings())


def transformers(recipe: dict[str, Any], world: int) -> Sizes | None:
    """transformers 5.23 trainer.py:2557-2573 (get_total_train_batch_size); accelerate 1.15 data_loader.py:1115-1125 (split_batches)."""
    micro, steps = recipe["per_device_train_batch_size"], recipe.get("gradient_accumulation_steps", 1)
    if recipe.get("accelerator_config", {}).get("split_batches"):
        if micro % world:
            return None
        return {GLOBAL: micro * steps, ACCUMULATION: steps}
    return {GLOBAL: micro * steps * world, MICRO: micro, ACCUMULATION: steps, RANKS: world}


@settings(max_examples=60)
@given(
    st.fixed_dictionaries(
        {"model_name_or_path": st.just("my/model"), "output_dir": st.just("out"), "per_device_train_batch_size": few},
        optional={
            "gradient_accumulation_steps": few,
            "accelerator_config": st.fixed_dictionaries({"split_batches": st.booleans()}),
        },
    ),
    processes,
)
def test_transformers(recipe: dict[str, Any], world: int) -> None:
    files = {"sft.yaml": as_yaml(recipe)}
    expected = transformers(recipe, world)
    if expected is None:
        assert is_stopped(files, world)
        return
    (entry,) = shown(files, world_size=world)
    assert expected.items() <= sizes(entry).items()


def deepspeed(recipe: dict[str, Any], world: int) -> Sizes | None:
    """DeepSpeed 0.19 runtime/config.py:942-985 (_set_batch_related_parameters), 925-940 (_batch_assertion)."""
    train, micro, steps = (recipe.get(key) for key in _DEEPSPEED)
    if train and micro and not steps:
        steps = train // micro // world
    elif train and steps and not micro:
        micro = train // world // steps
    elif micro and not train:
        steps = steps or 1
        train = micro * steps * world
    elif train and not micro:
        steps, micro = 1, train // world
    if not train or not micro or not steps or train != micro * steps * world:
        return None
    return {GLOBAL: train, MICRO: micro, ACCUMULATION: steps, RANKS: world}


_DEEPSPEED = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")


@settings(max_examples=100)
@given(few, few, processes, st.integers(-3, 3), st.sets(st.sampled_from(_DEEPSPEED), min_size=1), st.sampled_from([1, 2, 3, 8, 64]))
def test_deepspeed(micro: int, steps: int, world: int, off: int, keys: set[str], launched: int) -> None:
    whole = dict(zip(_DEEPSPEED, (max(1, micro * steps * world + off), micro, steps), strict=True))
    recipe = {key: value for key, value in whole.items() if key in keys}
    files = {"ds.json": as_json({"zero_optimization": {"stage": 2}, "steps_per_print": 10, **recipe})}
    for ranks in (world, launched):
        expected = deepspeed(recipe, ranks)
        if expected is None:
            assert is_stopped(files, ranks), (recipe, ranks)
            continue
        (entry,) = shown(files, world_size=ranks)
        assert expected.items() <= sizes(entry).items(), (recipe, ranks)


def accelerate(batch: int, steps: int, world: int, split: bool) -> Sizes | None:
    """accelerate 1.15 data_loader.py:1115-1125, 189-222 (BatchSamplerShard); accelerator.py:1229-1236 (_do_sync)."""
    if split:
        return {GLOBAL: batch * steps} if batch % world == 0 else None
    return {GLOBAL: batch * steps * world, MICRO: batch, ACCUMULATION: steps}


_LOOP = """\
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator(gradient_accumulation_steps={steps}{more})
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, batch_size={batch}))
for rows in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(rows).loss)
        optimizer.step()
        optimizer.zero_grad()
"""


@settings(max_examples=60)
@given(few, few, st.sampled_from([1, 2, 4, 8]), st.booleans())
def test_accelerate(batch: int, steps: int, world: int, split: bool) -> None:
    more = ", dataloader_config=DataLoaderConfiguration(split_batches=True)" if split else ""
    text = _LOOP.format(batch=batch, steps=steps, more=more).replace(
        "import Accelerator\n", "import Accelerator\nfrom accelerate import DataLoaderConfiguration\n" if split else "import Accelerator\n"
    )
    files = {"train.py": text, "run.sh": f"accelerate launch --num_processes {world} train.py\n"}
    expected = accelerate(batch, steps, world, split)
    for entry in shown(files):
        if entry["launch"] and expected is not None:
            known = sizes(entry)
            assert all(known.get(name, value) == value for name, value in expected.items()), known
            assert split or GLOBAL in known


def megatron(recipe: dict[str, Any], world: int) -> Sizes | None:
    """Megatron-LM num_microbatches_calculator.py:381-391 (ConstantNumMicroBatchesCalculator), arguments.py:424-448 (data_parallel_size)."""
    model = recipe["tensor_model_parallel_size"] * recipe["pipeline_model_parallel_size"] * recipe["context_parallel_size"]
    if world % model:
        return None
    ranks, micro = world // model, recipe["micro_batch_size"]
    batch = recipe.get("global_batch_size", micro * ranks)
    running = batch
    if batch % (micro * ranks):
        if not recipe.get("decrease_batch_size_if_needed") or batch < micro * ranks:
            return None
        running = batch // (micro * ranks) * micro * ranks
    return {GLOBAL: running, MICRO: micro, RANKS: ranks, ACCUMULATION: running // (micro * ranks)}


@settings(max_examples=100)
@given(
    st.fixed_dictionaries(
        {
            "micro_batch_size": st.sampled_from([1, 2, 3, 4]),
            "tensor_model_parallel_size": st.sampled_from([1, 2, 4]),
            "pipeline_model_parallel_size": st.sampled_from([1, 2]),
            "context_parallel_size": st.sampled_from([1, 2]),
            "seq_length": st.just(4096),
            "num_layers": st.just(24),
            "train_iters": st.just(1000),
        },
        optional={"global_batch_size": st.sampled_from([8, 24, 64, 96, 100, 512])},
    ),
    processes,
)
def test_megatron(recipe: dict[str, Any], world: int) -> None:
    flags = " ".join(f"--{key.replace('_', '-')} {value}" for key, value in recipe.items())
    files = {"run.sh": f"torchrun --nproc_per_node {world} pretrain_gpt.py {flags}\n"}
    expected = megatron(recipe, world)
    if expected is None:
        assert any(finding.severity == "error" for finding in reported(files).findings()), files
        return
    entry = next(each for each in shown(files) if each["launch"])
    assert expected.items() <= sizes(entry).items()


def verl(batch: int, mini: int, micro: int, n: int, world: int) -> Sizes | None:
    """verl workers/fsdp_workers.py:241-262 (ActorRolloutRefWorker.__init__), trainer/ppo/ray_trainer.py (validate_config)."""
    rank = mini * n // world
    if (batch * n) % world or mini > batch or rank < 1 or rank % micro:
        return None
    steps = -(-batch // mini)  # verl 0.9 fills the last one up
    return {GLOBAL: rank * world, MICRO: micro, ACCUMULATION: rank // micro, "prompts_per_step": mini, "steps_per_rollout": steps}


@settings(max_examples=100)
@given(
    st.sampled_from([16, 64, 256, 1024]), st.sampled_from([8, 16, 60, 64, 256]), st.sampled_from([1, 2, 4]), st.integers(1, 8), processes
)
def test_verl(batch: int, mini: int, micro: int, n: int, world: int) -> None:
    recipe = {
        "data": {"train_batch_size": batch, "max_prompt_length": 512, "max_response_length": 512},
        "actor_rollout_ref": {"actor": {"ppo_mini_batch_size": mini, "ppo_micro_batch_size_per_gpu": micro}, "rollout": {"n": n}},
        "algorithm": {"adv_estimator": "grpo"},
        "trainer": {"n_gpus_per_node": world, "nnodes": 1},
    }
    files = {"grpo.yaml": as_yaml(recipe)}
    expected = verl(batch, mini, micro, n, world)
    if expected is None:
        assert reported(files).findings(), recipe
        return
    (entry,) = shown(files)
    assert expected.items() <= sizes(entry).items()
