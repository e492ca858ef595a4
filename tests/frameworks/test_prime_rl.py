"""prime-rl's SFT batch counts packed rows, its RL batch rollouts; the recipe says on how many GPUs it trains."""

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Undetermined, Verified
from pytest_gbs.model.quantity import HARDWARE, Name

from .building import document, outcomes, sizes, stumbles, table, title, value

SFT = """\
max_steps = 100

[model]
name = "my/model"
cp = {cp}

[deployment]
{deployment}

[data]
name = "my/data"
seq_len = 1024
batch_size = {batch}
micro_batch_size = {micro}
"""
ONE = "num_train_gpus = 2"
SEVERAL = 'type = "multi_node"\nnum_train_nodes = 3'
DEPLOYMENT = "[deployment]\nnum_train_gpus = 2\nnum_infer_gpus = 6\n"
RL = f"""\
max_steps = 100

{DEPLOYMENT}
[model]
name = "my/model"

[orchestrator]
{{batch}}

[trainer.optim]
lr = 3e-6
"""


def sft(batch: object = 64, micro: object = 1, cp: int = 1, deployment: str = ONE) -> str:
    return SFT.format(batch=batch, micro=micro, cp=cp, deployment=deployment)


def rl(batch: str = "batch_size = 128\ngroup_size = 8") -> str:
    return RL.format(batch=batch)


def hardware(text: str) -> dict[str, int | str | None]:
    read_from = document(text, "a.toml")
    found = recognise(read_from)
    assert found is not None
    return {name: value(size) for name, size in read_sizes(read_from, found).items() if name in HARDWARE}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[vllm]\nmax_model_len = 4096\n", None, id="inference alone"),
        pytest.param('[data]\nbatch_size = 8\n[model]\nname = "a"\n', None, id="anybody's"),
        pytest.param(
            '[orchestrator]\nenabled = true\n[image]\ntag = "main"\n[trainer]\nenabled = true\n', None, id="a chart for a cluster"
        ),
        pytest.param(sft(), "prime-rl (SFT)", id="SFT"),
        pytest.param(rl(), "prime-rl (RL)", id="RL"),
        pytest.param(
            'batch_size = 128\ngroup_size = 16\n[model]\nname = "a"\n[train.sampling]\nx = 1\n',
            "prime-rl (orchestrator)",
            id="orchestrator",
        ),
    ],
)
def test_recipes_are_recognised(text: str, expected: str | None) -> None:
    assert title(text, "a.toml") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(sft(), {Name.WORLD_SIZE: 2}, id="GPUs of one node"),
        pytest.param(sft(deployment=""), {Name.WORLD_SIZE: 1}, id="one by default"),
        pytest.param(sft(deployment=SEVERAL), {Name.NUM_NODES: 3, Name.GPUS_PER_NODE: 8}, id="nodes"),
        pytest.param(sft(deployment="num_gpus = 8"), {Name.WORLD_SIZE: 8}, id="GPUs of one node, as it was called"),
        pytest.param(
            sft(deployment=SEVERAL.replace("train_", "")), {Name.NUM_NODES: 3, Name.GPUS_PER_NODE: 8}, id="nodes, as they were called"
        ),
        pytest.param(rl(), {Name.WORLD_SIZE: 2}, id="those that infer do not count"),
        pytest.param(
            "inference_gpu_ids = [0, 1, 2, 3, 4]\ntrainer_gpu_ids = [5, 6, 7]\n" + rl().replace(DEPLOYMENT, ""),
            {Name.WORLD_SIZE: "auto"},
            id="GPUs by their numbers",
        ),
    ],
)
def test_the_recipe_says_which_gpus_train(text: str, expected: dict[str, int]) -> None:
    assert hardware(text) == expected


# examples/basic/wordle/sft.toml of prime-rl: 64 rows on 2 GPUs are 32 micro batches of one row.
@pytest.mark.parametrize(
    ("text", "world", "accumulation"),
    [(sft(), 2, 32), (sft(micro=4), 2, 8), (sft(batch=4, cp=2), 4, 2), (sft(batch=128, cp=2), 8, 32)],
    ids=["wordle", "micro batches of 4", "context", "more of it"],
)
def test_accumulation_follows_from_the_batch(text: str, world: int, accumulation: int) -> None:
    assert value(sizes(text, "a.toml", world_size=world).stated[Name.GRADIENT_ACCUMULATION_STEPS]) == accumulation


def test_the_sft_trainer_takes_whole_micro_batches_only() -> None:
    def kinds(text: str, world: int) -> list[type]:
        return [type(outcome) for outcome in outcomes("GBS202", text, "a.toml", world_size=world)]

    assert kinds(sft(), 2) == [Verified, Verified]
    assert kinds(sft(batch=6), 24) == [Finding, Verified]
    assert kinds(sft(batch=100, micro=8), 1) == [Finding, Finding]
    assert kinds(sft(batch=4, cp=2), 8) == [Verified, Verified]  # 4 x 2 rows of 8 GPUs


def test_nodes_divide_into_groups() -> None:
    grouped = sft(deployment=f"{SEVERAL}\nnodes_per_fsdp_group = {{group}}", batch=48)
    good = outcomes("GBS202", grouped.format(group=3), "a.toml", num_nodes=3, gpus_per_node=8)
    bad = outcomes("GBS202", grouped.format(group=2), "a.toml", num_nodes=3, gpus_per_node=8)
    assert [type(outcome) for outcome in good] == [Verified] * 3
    assert [type(outcome) for outcome in bad] == [Verified, Verified, Finding]
    assert len(outcomes("GBS202", sft(deployment=SEVERAL, batch=48), "a.toml", num_nodes=3, gpus_per_node=8)) == 2


def test_a_batch_of_rollouts_holds_whole_groups() -> None:
    stated = sizes(rl(), "a.toml", world_size=2).stated
    assert value(stated[Name.GLOBAL_BATCH_SIZE]) == 128
    assert value(stated[Name.PROMPTS_PER_STEP]) == 16
    assert isinstance(outcomes("GBS205", rl(), "a.toml")[0], Verified)
    assert isinstance(outcomes("GBS205", rl("batch_size = 100\ngroup_size = 8"), "a.toml")[0], Finding)
    assert isinstance(outcomes("GBS205", rl("group_size = 3"), "a.toml")[0], Finding)  # 128 by default
    assert isinstance(outcomes("GBS205", rl("rollouts_per_example = 3"), "a.toml")[0], Finding)  # its older name


def test_a_batch_of_tokens_is_not_a_number_of_rollouts() -> None:
    text = rl("token_batch_size = 65536\ngroup_size = 8")
    stated = sizes(text, "a.toml", world_size=2).stated
    assert Name.GLOBAL_BATCH_SIZE not in stated
    assert value(stated[Name.TOKENS_PER_STEP]) == 65536
    assert outcomes("GBS205", text, "a.toml") == []
    (either,) = table("prime-rl (RL)").exclusions
    assert either.keys == (("orchestrator", "batch_size"), ("orchestrator", "token_batch_size"))


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ("64", None),
        ("64.0", None),
        ('"64"', None),
        ("0o100", None),
        ("64.5", Treatment.STOPS),
        ('"auto"', Treatment.STOPS),
        ("0", Treatment.STOPS),
        ("-64", Treatment.STOPS),
    ],
)
def test_the_config_converts_what_denotes_a_whole_number(batch: str, expected: str | None) -> None:
    assert stumbles(sft(batch=batch), "a.toml") == ({"batch_size": expected} if expected else {})


def test_unknown_gpus_leave_the_division_open() -> None:
    assert isinstance(outcomes("GBS202", sft(batch=128), "a.toml")[0], Undetermined)


# 512 rollouts in micro batches of 8: 32 on each of 2 ranks, if rows are padded.
@pytest.mark.parametrize(("more", "expected"), [("", 32), ('collate_mode = "packing"\n', None)])
def test_its_trainer_as_zeroband_has_a_file_of_its_own(more: str, expected: int | None) -> None:
    text = f"{more}[optim]\nbatch_size = 512\nstep_per_rollout = 4\n[train]\nmicro_bs = 8\n[data]\nseq_length = 2048\n"
    stated = sizes(text, "a.toml", world_size=2)
    assert (stated.global_batch_size, stated.value(Name.GRADIENT_ACCUMULATION_STEPS)) == (512, expected)
    assert [type(each) for each in outcomes("GBS202", text, "a.toml", world_size=3)] == [Finding if expected else Undetermined]
