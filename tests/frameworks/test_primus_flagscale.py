"""Primus and FlagScale: the arguments of Megatron-LM and others below keys of their own."""

import pytest

from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.quantity import Name

from .building import outcomes, sizes, title, value

PRIMUS = "exp_name: mine\nmodules:\n  {module}:\n    framework: {framework}\n    config: {config}\n    overrides: {{{overrides}}}\n"
ARGUMENTS = "model: {micro_batch_size: %s, global_batch_size: %s}\nsystem: {tensor_model_parallel_size: %s%s}\n"
RUNNER = "experiment: {exp_name: mine, task: {type: train, backend: megatron}, runner: {nnodes: 2, nproc_per_node: 8}}\n"


def primus(overrides: str, framework: str = "megatron", module: str = "pre_trainer", config: str = "pre_trainer.yaml") -> str:
    return PRIMUS.format(module=module, framework=framework, config=config, overrides=overrides)


def flagscale(micro: object = 2, batch: object = 64, tensor: object = 4, more: str = "") -> str:
    return RUNNER + "train:\n" + "".join(f"  {line}\n" for line in (ARGUMENTS % (micro, batch, tensor, more)).splitlines())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("modules: {pre_trainer: {batch_size: 8}}\n", id="somebody's modules"),
        pytest.param("modules:\n- {class: encoder}\nbatch_size: 8\n", id="a list of modules"),
        pytest.param(primus("micro_batch_size: 2", framework="hummingbirdxt"), id="a framework without a table"),
        pytest.param("model: {num_layers: 2}\nsystem: {precision: {bf16: true}}\n", id="no batch"),
        pytest.param(RUNNER + "serve: {model: my/model}\n", id="FlagScale serves"),
    ],
)
def test_other_files_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(primus("micro_batch_size: 2, global_batch_size: 128, tensor_model_parallel_size: 2"), 16, (128, 8), id="stated"),
        # primus/configs/modules/megatron: 16 and 2 for pre-training, 128 and 1 for fine-tuning.
        pytest.param(primus("train_iters: 50"), 8, (16, 1), id="the defaults of Primus"),
        pytest.param(primus("train_iters: 50", module="post_trainer", config="sft_trainer.yaml"), 8, (128, 16), id="of its SFT"),
        pytest.param(primus("micro_batch_size: 2", config="mine.yaml"), 8, (None, None), id="another config"),
        pytest.param(primus("micro_batch_size: 2", framework="megatron_bridge"), 8, (None, None), id="the recipe has the rest"),
        pytest.param(primus("training: {local_batch_size: 7}", framework="torchtitan"), 8, (56, 1), id="torchtitan"),
        pytest.param(
            primus("training: {local_batch_size: 2, global_batch_size: 64}", framework="torchtitan"), 8, (64, 4), id="and a global batch"
        ),
        pytest.param(primus("per_device_batch_size: 8", framework="maxtext"), 8, (64, 1), id="MaxText"),
    ],
)
def test_primus_puts_overrides_over_its_own_defaults(text: str, world: int, expected: tuple[int | None, int | None]) -> None:
    stated = sizes(text, world_size=world).stated
    names = (Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
    assert tuple(value(stated.get(name)) for name in names) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(primus("micro_batch_size: 2, global_batch_size: 32"), [Verified], id="32 is 2 x 2 x 8"),
        pytest.param(primus("global_batch_size: 24"), [Finding], id="24 is not 2 x 8 x something"),
        pytest.param(primus("global_batch_size: 24, decrease_batch_size_if_needed: true"), [], id="it decreases the batch"),
    ],
)
def test_primus_asks_what_megatron_asks(text: str, expected: list[type]) -> None:
    assert [type(outcome) for outcome in outcomes("GBS202", text, world_size=8)] == expected


# 16 GPUs / 4 = 4 ranks, 64 / (2 x 4) = 8 micro batches; the model's own file says the same.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(flagscale(), (64, 8, 4), id="a tree"),
        pytest.param(ARGUMENTS % (2, 64, 4, ""), (64, 8, 4), id="its part"),
        pytest.param(flagscale(more=", hetero: {enable_hetero: true}"), (64, None, None), id="several meshes"),
    ],
)
def test_flagscale_flattens_its_tree(text: str, expected: tuple[int | None, ...]) -> None:
    stated = sizes(text, world_size=16).stated
    names = (Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)
    assert tuple(value(stated.get(name)) for name in names) == expected


def test_flagscale_needs_whole_micro_batches() -> None:
    assert [type(outcome) for outcome in outcomes("GBS202", flagscale(), world_size=16)] == [Verified]
    assert [type(outcome) for outcome in outcomes("GBS202", flagscale(batch=60), world_size=16)] == [Finding]
    assert outcomes("GBS202", flagscale(batch=60, more=", hetero: {enable_hetero: true}"), world_size=16) == []
