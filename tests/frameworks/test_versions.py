"""Versions: what specifiers allow, and what a framework is at them."""

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.frameworks.versions import at_version, in_eras, normalised, parse_bound, parse_version, read_specifiers
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.framework import Constraint, Era, Framework, Recognition, Row
from pytest_gbs.model.outcome import Verified
from pytest_gbs.model.quantity import Origin, Quantity
from pytest_gbs.model.run import Run
from tests.frameworks.building import document, table


@pytest.mark.parametrize("text", ["", "x", "5.0.0rc1", "0.16.0.dev0", "1.0a1", "main", "1..2", "4.*", "9" * 12], ids=str)
def test_what_is_not_a_release_is_not_a_version(text: str) -> None:
    assert parse_version(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4.57.1", (4, 57, 1)), ("0.15.0", (0, 15)), ("v2", (2,)), ("2.1.0+cu121", (2, 1)), ("1.2.post3", (1, 2)), ("0.0", (0,))],
    ids=str,
)
def test_a_version_is_its_numbers(text: str, expected: tuple[int, ...]) -> None:
    assert parse_version(text) == expected


@pytest.mark.parametrize("text", ["", "latest", "!=1.0", "==1.0rc1", ">=1.0b2", "==1.0,latest", "@ git+https://x", ">=*", "~=1"], ids=str)
def test_specifiers_that_say_nothing_certain_are_none(text: str) -> None:
    assert read_specifiers("trl", text) is None


@pytest.mark.parametrize(
    ("text", "low", "high", "exact"),
    [
        ("0.15", (0, 15), (0, 15, 0), True),
        ("==0.15.2", (0, 15, 2), (0, 15, 2, 0), True),
        ("===0.15.2", (0, 15, 2), (0, 15, 2, 0), True),
        ("==0.14.*", (0, 14), (0, 15), False),
        ("~=0.14.1", (0, 14, 1), (0, 15), False),
        ("~=2.1.0+cu118", (2, 1), (2, 2), False),
        ("~=0.14.1.post1", (0, 14, 1), (0, 15), False),
        ("==0.14.post1.*", (0, 14), (0, 15), False),
        (">=0.14,<0.15", (0, 14), (0, 15), False),
        (">0.14", (0, 14, 0), None, False),
        ("<=0.14", None, (0, 14, 0), False),
        (">=0.9, !=0.11, >=0.10", (0, 10), None, False),
    ],
    ids=str,
)
def test_specifiers_bound_the_versions(text: str, low: object, high: object, exact: bool) -> None:
    pin = read_specifiers("trl", text)
    assert pin is not None
    assert (pin.low, pin.high, pin.exact) == (low, high, exact)


def test_names_of_packages_are_compared_as_indexes_do() -> None:
    assert normalised("Flash_Attn.Extra") == normalised("flash-attn--extra") == "flash-attn-extra"


@pytest.mark.parametrize(
    ("text", "bound"),
    [("2.0", ("", "2.0")), ("acme 2.0", ("acme", "2.0")), ("My_Acme", ("my-acme", "")), ("a b", None), ("acme >2", None), ("", None)],
    ids=str,
)
def test_a_bound_names_a_version_or_another_package(text: str, bound: tuple[str, str] | None) -> None:
    assert parse_bound(text) == bound


@pytest.mark.parametrize(
    ("version", "title"), [(None, "new"), ("1.9", "before 2"), (">=1,<2", "before 2"), ("2.0", "known"), (">=1", "known")]
)
def test_an_era_may_be_of_another_package(version: str | None, title: str) -> None:
    of_other = (Era("2.0", TABLE._replace(title="before 2"), "other"), Era("", TABLE._replace(title="known"), "other"))
    table = TABLE._replace(title="new", eras=(Era("9.0", TABLE._replace(title="own"), ""), *of_other))
    pin = read_specifiers("other", version) if version else None
    assert at_version(table, pin, "other").title == title


TABLE = Framework(
    "f",
    "F",
    Recognition(),
    "samples",
    (Row(("old",), "micro_batch_size", until="1.0"), Row(("new",), "micro_batch_size", since="1.0"), Row(("both",), "max_steps")),
    (Equation("global_batch_size", ("micro_batch_size",), since="2.0"), Equation("global_batch_size", ("max_steps",), until="2.0")),
    (Constraint("batch-not-divisible", ("global_batch_size",), since="2.0"),),
)


def _facts(version: str | None) -> tuple[list[object], list[tuple[str, ...]], int]:
    found = at_version(in_eras(TABLE), read_specifiers("f", version) if version else None)
    return [row.key[0] for row in found.rows], [equation.product for equation in found.equations], len(found.constraints)


def test_a_table_without_bounds_has_no_eras() -> None:
    plain = TABLE._replace(rows=TABLE.rows[2:], equations=(), constraints=())
    assert in_eras(plain) is plain


@pytest.mark.parametrize("version", [None, "2.0", "2.0.1", "9", ">=0.1", ">=0.1,<3", "<=2.0", "<2.1"], ids=str)
def test_the_newest_version_holds_where_nothing_rules_it_out(version: str | None) -> None:
    assert _facts(version) == (["new", "both"], [("micro_batch_size",)], 1)


@pytest.mark.parametrize("version", ["1.0", "1.9.9", ">=0.5,<2", "==1.*"], ids=str)
def test_an_older_era_holds_for_versions_before_its_end(version: str) -> None:
    assert _facts(version) == (["new", "both"], [("max_steps",)], 0)


@pytest.mark.parametrize("version", ["0.1", "0.9.9", "<1.0", "~=0.5"], ids=str)
def test_the_oldest_era_holds_before_all_bounds(version: str) -> None:
    assert _facts(version) == (["old", "both"], [("max_steps",)], 0)


@pytest.mark.parametrize(
    ("version", "batch", "holds"),
    [
        # One process, micro batch 1, accumulation 8, groups of 8: whole in a step of 8 completions, not in a micro batch.
        pytest.param("0.17.0", 8, True, id="a step holds the group"),
        pytest.param("0.16.1", 8, False, id="a micro batch must hold the group"),
        pytest.param("0.15.0", 8, False, id="so it must in the first version that counts completions"),
        pytest.param("0.14.0", 64, None, id="the micro batch counts prompts"),
    ],
)
def test_groups_are_checked_as_the_pinned_version_of_trl_does(version: str, batch: int, holds: bool | None) -> None:
    text = "num_generations: 8\nper_device_train_batch_size: 1\ngradient_accumulation_steps: 8\n"
    read_from = document("model_name_or_path: my/model\ndataset_name: my/data\n" + text)
    then = at_version(table("TRL (GRPO)"), read_specifiers("trl", version))
    seen = geometry(
        read_sizes(read_from, then), {"world_size": Quantity("world_size", 1, Origin.GIVEN)}, applied_to(read_from, then), read_from
    )
    assert seen.global_batch_size == batch
    reported = list(judge(Run(read_from, applied_to(read_from, then).real, None, seen, (), ()), "group-not-divisible"))
    assert all(isinstance(each, Verified) for each in reported) == (holds is not False)
    assert (reported == []) == (holds is None)


NEMO = (
    "trainer: {devices: 8, num_nodes: 1, max_steps: 5}\nmodel: {micro_batch_size: 1, global_batch_size: 8, optim: {lr: 1},"
    " tensor_model_parallel_size: 2, pipeline_model_parallel_size: 1, context_parallel_size: 2, expert_model_parallel_size: 4}\n"
)


@pytest.mark.parametrize(
    ("version", "holds"),
    # 8 GPUs hold 2 tensor ranks of 4 experts; their 8 / (2 x 2) = 2 data-parallel ranks do not.
    [pytest.param(None, True, id="now"), pytest.param("2.1.0", True, id="since 2.1"), pytest.param("2.0.0", False, id="before 2.1")],
)
def test_ranks_of_experts_in_nemo(version: str | None, holds: bool) -> None:
    read_from = document(NEMO)
    then = at_version(table("NeMo (Megatron, pre-training)"), read_specifiers("nemo-toolkit", version) if version else None)
    seen = geometry(
        read_sizes(read_from, then), {"world_size": Quantity("world_size", 8, Origin.GIVEN)}, applied_to(read_from, then), read_from
    )
    run = Run(read_from, applied_to(read_from, then).real, None, seen, (), ())
    judged = [isinstance(each, Verified) for each in judge(run, "batch-not-divisible")]
    assert judged == [True, holds]  # the first is about whole micro batches


DEEPSPEED = "train_micro_batch_size_per_gpu: 2\ngradient_accumulation_steps: 4\nsequence_parallel_size: 2\n"
PLAIN_PPO = "pretrain: my/model\nrollout_batch_size: 128\ntrain_batch_size: 128\nactor_num_gpus_per_node: 8\n"
DOTTED_PPO = "actor: {model_name_or_path: my/model}\nrollout: {batch_size: 128}\ntrain: {batch_size: 128}\n"
VERL = (
    "data: {train_batch_size: 64}\ntrainer: {n_gpus_per_node: 8}\n"
    "actor_rollout_ref: {rollout: {n: 4}, actor: {strategy: megatron, ppo_mini_batch_size: 64, ppo_micro_batch_size_per_gpu: 2}}\n"
)


@pytest.mark.parametrize(
    ("title", "text", "version", "name", "expected"),
    [
        pytest.param("DeepSpeed", DEEPSPEED, None, "global_batch_size", 32, id="DeepSpeed: 8 GPUs are 4 ranks"),
        pytest.param("DeepSpeed", DEEPSPEED, "0.17.0", "global_batch_size", 32, id="DeepSpeed: since 0.17"),
        pytest.param("DeepSpeed", DEEPSPEED, "0.16.9", "global_batch_size", 64, id="DeepSpeed: ignored before"),
        pytest.param("DeepSpeed", f"{DEEPSPEED}data_parallel_size: 4\n", "0.15.0", "global_batch_size", 32, id="DeepSpeed: a mesh of both"),
        pytest.param("DeepSpeed", f"{DEEPSPEED}data_parallel_size: 4\n", "0.14.5", "global_batch_size", 64, id="DeepSpeed: no mesh"),
        pytest.param("OpenRLHF (PPO)", PLAIN_PPO, "0.8.5", "micro_batch_size", 4, id="OpenRLHF: 4 before 0.10"),
        pytest.param("OpenRLHF (PPO)", PLAIN_PPO, "0.10.1", "micro_batch_size", 1, id="OpenRLHF: 1 since 0.10"),
        pytest.param("OpenRLHF (PPO)", PLAIN_PPO, None, "micro_batch_size", None, id="OpenRLHF: one of both"),
        pytest.param("OpenRLHF (PPO)", f"{PLAIN_PPO}micro_train_batch_size: 2\n", None, "micro_batch_size", 2, id="OpenRLHF: said"),
        pytest.param("OpenRLHF (PPO)", DOTTED_PPO, None, "micro_batch_size", 1, id="OpenRLHF: dotted"),
        pytest.param("verl (RL, Megatron)", VERL, None, "global_batch_size", 256, id="verl: 64 prompts of 4 completions"),
        pytest.param("verl (RL, Megatron)", VERL, "0.3.0", "global_batch_size", 256, id="verl: since 0.3"),
        pytest.param("verl (RL, Megatron)", VERL, "0.2.0", "global_batch_size", 64, id="verl: completions before"),
        pytest.param("verl (RL, Megatron)", VERL, "0.2.0", "gradient_accumulation_steps", 4, id="verl: 64 / 8 / 2"),
        pytest.param("verl (RL, FSDP)", VERL, "0.2.0", "global_batch_size", 256, id="verl: FSDP always counted prompts"),
    ],
)
def test_each_version_has_its_own_arithmetic(title: str, text: str, version: str | None, name: str, expected: int | None) -> None:
    read_from = document(text)
    then = at_version(table(title), read_specifiers("x", version) if version else None)
    seen = geometry(
        read_sizes(read_from, then), {"world_size": Quantity("world_size", 8, Origin.GIVEN)}, applied_to(read_from, then), read_from
    )
    assert seen.value(name) == expected
