"""HALOs: a batch that is divided, read from a composed tree, from one file, or from the overrides alone."""

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks import recognise
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Outcome, Undetermined, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from tests.composition.support import composed

from .building import outcomes, sizes, stumbles, table, title, value

# A tree like that of HALOs, in miniature.
TREE = {
    "conf/config.yaml": (
        "seed: 1\nexp_name: ???\ntrain_datasets: ???\ntest_datasets: ???\ndefaults:\n- _self_\n- model: ???\n- loss: ???\n"
        "trainer: BasicTrainer\nn_epochs: 1\nn_examples: null\neval_every: 1024\nsave_every: 5120\n"
    ),
    "conf/model/base.yaml": (
        "name_or_path: ???\nmax_length: 1250\nbatch_size: 32\nmicrobatch_size: null\ngradient_accumulation_steps: 1\n"
        "eval_batch_size: 32\neval_microbatch_size: null\n"
    ),
    "conf/model/llama.yaml": "defaults: [base]\nname_or_path: null\n",
    "conf/loss/sft.yaml": "trainer: SFTTrainer\ndataloader: SFTDataLoader\n",
    "conf/loss/dpo.yaml": "beta: 0.1\ntrainer: DPOTrainer\ndataloader: PairedPreferenceDataLoader\n",
    "conf/loss/simpo.yaml": "beta: 0.1\ntrainer: SimPOTrainer\ndataloader: PairedPreferenceDataLoader\n",
    "conf/loss/kto.yaml": "beta: 0.1\ntrainer: KTOTrainer\ndataloader: UnpairedPreferenceDataLoader\n",
    "conf/loss/grpo.yaml": "trainer: GRPOTrainer\ndataloader: GroupUnpairedPreferenceDataLoader\n",
    "conf/loss/mine.yaml": "trainer: KTOTrainer\ndataloader: ScoreDataLoader\n",
}
DATA = ("train_datasets=[shp]", "test_datasets=[shp]", "exp_name=x", "model=llama")

HEAD = "exp_name: x\ntrain_datasets: [shp]\ntest_datasets: [shp]\n"
NAMED = "model: {name_or_path: my/model}\n"


def flat(loss: str = "kto", *, more: str = "", model: Mapping[str, object] = MappingProxyType({})) -> str:
    """One file that says all there is to say, the sizes in `model` among it."""
    settings = "".join(f"  {key}: {setting}\n" for key, setting in model.items())
    return f"loss: {loss}\n{HEAD}{more}model:\n  name_or_path: my/model\n{settings}"


def launched(loss: str, *overrides: str) -> Document:
    """What Hydra makes of the tree and a command line."""
    found = composed(TREE, f"loss={loss}", *DATA, *overrides)
    assert found.problems == ()
    return found.document


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TREE["conf/config.yaml"], id="the head of the tree"),
        pytest.param(TREE["conf/model/base.yaml"], id="a model's part"),
        pytest.param(TREE["conf/model/llama.yaml"], id="a model's part with parents"),
        pytest.param(TREE["conf/loss/kto.yaml"], id="a loss's part"),
        pytest.param("loss: l1\nmodel: resnet\n" + HEAD, id="somebody's vision model"),
        pytest.param("loss: kto\n" + NAMED, id="no data"),
        pytest.param(HEAD + NAMED, id="no loss"),
        pytest.param("loss: kto\nmodel: {batch_size: 8}\ntrain_datasets: [a]\n", id="no test data, no name"),
    ],
)
def test_parts_and_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("sft", "HALOs (SFT)"),
        ("csft", "HALOs (SFT)"),
        ("dpo", "HALOs (pairs)"),
        ("bradley-terry", "HALOs (pairs)"),
        ("kto", "HALOs (unpaired)"),
        ("ppo", "HALOs (unpaired)"),
        ("my-own", "HALOs"),
        ("{trainer: MyTrainer, dataloader: PairedPreferenceDataLoader}", "HALOs (pairs)"),
        ("{trainer: KTOTrainer, dataloader: HalfPrefDataLoader}", "HALOs (unpaired)"),
        ("{beta: 0.1}", "HALOs"),
    ],
)
def test_the_loader_of_the_loss_shows_what_a_batch_counts(loss: str, expected: str) -> None:
    assert title(flat(loss)) == expected


@pytest.mark.parametrize(
    ("loss", "expected"),
    [("sft", "HALOs (SFT)"), ("dpo", "HALOs (pairs)"), ("grpo", "HALOs (unpaired)"), ("mine", "HALOs (unpaired)")],
)
def test_a_composed_tree_is_recognised(loss: str, expected: str) -> None:
    found = recognise(launched(loss))
    assert found is not None
    assert found.title == expected


def test_pairs_are_two_sequences_each() -> None:
    assert (table("HALOs (pairs)").unit, table("HALOs (pairs)").sequences_per_sample) == ("pairs", 2)
    assert (table("HALOs (unpaired)").unit, table("HALOs (unpaired)").sequences_per_sample) == ("samples", 1)
    assert Name.SEQUENCE_LENGTH in sizes(flat("dpo")).stated
    assert Name.SEQUENCE_LENGTH not in sizes(flat("my-own")).stated


# Batch, accumulation and evaluation batch as launch.py:65-73 divides them among the processes.
LAUNCHES = [
    pytest.param("sft", (), 4, (32, 8, 32, 8), id="defaults"),
    pytest.param("dpo", ("++model.batch_size=16", "++model.eval_batch_size=16"), 4, (16, 4, 16, 4), id="16 on 4"),
    pytest.param("kto", ("++model.batch_size=64", "++model.eval_batch_size=64"), 4, (64, 16, 64, 16), id="64 on 4"),
    pytest.param(
        "kto",
        ("++model.batch_size=64", "++model.eval_batch_size=64", "++model.gradient_accumulation_steps=2"),
        4,
        (64, 8, 64, 8),
        id="64 on 4 in 2 steps",
    ),
    pytest.param(
        "simpo",
        ("++model.batch_size=16", "++model.eval_batch_size=16", "++model.gradient_accumulation_steps=2"),
        4,
        (16, 2, 16, 2),
        id="2 nodes of 2",
    ),
    pytest.param("kto", (), 8, (32, 4, 32, 4), id="8 processes"),
    pytest.param("kto", (), 3, (32, "not-whole", 32, "not-whole"), id="3 processes"),
    pytest.param("sft", ("++model.batch_size=1_024",), 8, (1024, 128, 32, 4), id="digits in groups"),
]


@pytest.mark.parametrize(("loss", "overrides", "world", "expected"), LAUNCHES)
def test_everything_is_divided_out_of_the_batch(loss: str, overrides: tuple[str, ...], world: int, expected: tuple[int | str, ...]) -> None:
    document = launched(loss, *overrides)
    found = recognise(document)
    assert found is not None
    given = {Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, world, Origin.GIVEN)}
    stated = geometry(read_sizes(document, found), given, applied_to(document, found), document).stated
    names = (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.EVAL_GLOBAL_BATCH_SIZE, Name.EVAL_MICRO_BATCH_SIZE)
    assert tuple(value(stated[name]) for name in names) == expected


@pytest.mark.parametrize(("loss", "overrides", "world", "expected"), LAUNCHES)
def test_the_overrides_alone_say_the_same(loss: str, overrides: tuple[str, ...], world: int, expected: tuple[int | str, ...]) -> None:
    model = {key: number for key, _, number in (each.removeprefix("++model.").partition("=") for each in overrides)}
    stated = sizes(flat(loss, model=model), world_size=world).stated
    assert (value(stated[Name.GLOBAL_BATCH_SIZE]), value(stated[Name.MICRO_BATCH_SIZE])) == expected[:2]


def test_the_batch_is_known_without_hardware_and_the_micro_batch_is_not() -> None:
    found = sizes(flat(model={"batch_size": 64, "gradient_accumulation_steps": 2}))
    assert found.global_batch_size == 64
    assert found.value(Name.MICRO_BATCH_SIZE) is None
    assert found.realised == {}


def test_an_evaluation_really_takes_a_batch_that_the_accumulation_divides() -> None:
    assert sizes(flat(model={"eval_batch_size": 32}), world_size=4).realised == {}
    really = sizes(flat(model={"eval_batch_size": 32, "gradient_accumulation_steps": 2}), world_size=4).realised
    assert value(really[Name.EVAL_GLOBAL_BATCH_SIZE]) == 16


@pytest.mark.parametrize(
    ("accumulation", "expected"), [("2", 32), ("2.0", 32), ("${A}", 32), ("0.5", "not-an-integer"), ("1.5", "not-an-integer")]
)
def test_a_fraction_of_an_accumulation_trains_another_batch(accumulation: str, expected: int | str) -> None:
    found = sizes(flat(model={"gradient_accumulation_steps": accumulation}), world_size=4)
    assert value({**found.stated, **found.realised}[Name.GLOBAL_BATCH_SIZE]) == expected


@pytest.mark.parametrize(("interval", "steps"), [(1024, 32), (1000, 31), (16, 0)])
def test_evaluations_come_every_whole_step(interval: int, steps: int) -> None:
    assert sizes(flat(more=f"eval_every: {interval}\n")).value(Name.EVAL_STEPS) == steps


def kinds(found: list[Outcome]) -> list[type]:
    return [type(outcome) for outcome in found]


@pytest.mark.parametrize(
    ("model", "world", "expected"),
    [
        pytest.param({}, 4, [Verified, Verified], id="32 and 32 on 4"),
        pytest.param({"batch_size": 48}, 6, [Verified, Finding], id="the evaluation alone"),
        pytest.param({"batch_size": 31}, 4, [Finding, Verified], id="the batch alone"),
        pytest.param({"batch_size": 32, "gradient_accumulation_steps": 8}, 8, [Finding, Finding], id="the accumulation divides both"),
        pytest.param({}, None, [Undetermined, Undetermined], id="processes unknown"),
    ],
)
def test_both_batches_must_divide(model: dict[str, int], world: int | None, expected: list[type]) -> None:
    assert kinds(outcomes("GBS202", flat(model=model), **({"world_size": world} if world else {}))) == expected


def test_the_message_names_the_keys() -> None:
    found = outcomes("GBS202", flat(model={"batch_size": 8, "gradient_accumulation_steps": 8}), world_size=4)[0]
    assert isinstance(found, Finding)
    assert found.message == "model.batch_size 8 is not divisible by 4 GPUs x model.gradient_accumulation_steps 8 = 32; HALOs stops at start"


@pytest.mark.parametrize(
    ("loss", "model", "expected"),
    [
        pytest.param("sft", {"batch_size": 1, "eval_batch_size": 1}, [], id="SFT takes one"),
        pytest.param("dpo", {"batch_size": 1, "eval_batch_size": 1}, [], id="a pair is two"),
        pytest.param("my-own", {"batch_size": 1, "eval_batch_size": 1}, [], id="an unknown loader"),
        pytest.param("kto", {"batch_size": 2, "eval_batch_size": 2}, [Verified, Verified], id="two are enough"),
        pytest.param("kto", {"batch_size": 1}, [Finding, Verified], id="one is not"),
        pytest.param("ppo", {"batch_size": 8, "gradient_accumulation_steps": 8}, [Finding, Verified], id="one in each step"),
        pytest.param("grpo", {"eval_batch_size": 2, "gradient_accumulation_steps": 2}, [Verified, Finding], id="in the evaluation"),
        pytest.param("kto", {"batch_size": "${BATCH}"}, [Undetermined, Verified], id="a batch from outside"),
    ],
)
def test_loaders_of_unpaired_data_need_two_samples(loss: str, model: dict[str, object], expected: list[type]) -> None:
    assert kinds(outcomes("GBS204", flat(loss, model=model))) == expected


@pytest.mark.parametrize(
    ("key", "written", "loss", "expected"),
    [
        pytest.param("batch_size", "32.0", "dpo", None, id="a whole float"),
        pytest.param("batch_size", "true", "dpo", None, id="true is 1"),
        pytest.param("batch_size", "1_024", "dpo", None, id="digits in groups"),
        pytest.param("batch_size", "${oc.decode:${oc.env:BATCH}}", "dpo", None, id="from the environment, decoded"),
        pytest.param("eval_batch_size", "-8", "dpo", None, id="an evaluation of single samples"),
        pytest.param("gradient_accumulation_steps", "2.0", "dpo", None, id="a whole accumulation"),
        pytest.param("batch_size", "'32'", "dpo", Treatment.STOPS, id="text"),
        pytest.param("batch_size", "${oc.env:BATCH}", "dpo", Treatment.STOPS, id="from the environment, which holds text"),
        pytest.param("batch_size", "auto", "dpo", Treatment.STOPS, id="auto"),
        pytest.param("batch_size", "8.5", "dpo", Treatment.STOPS, id="a fraction"),
        pytest.param("batch_size", "null", "dpo", Treatment.STOPS, id="null"),
        pytest.param("batch_size", "0", "dpo", Treatment.STOPS, id="zero"),
        pytest.param("gradient_accumulation_steps", "[1]", "dpo", Treatment.STOPS, id="a list"),
        pytest.param("gradient_accumulation_steps", "0.5", "dpo", Treatment.CONTINUES, id="twice the stated batch, if it starts"),
        pytest.param("gradient_accumulation_steps", "-8", "dpo", Treatment.CONTINUES, id="a loss turned over"),
        pytest.param("gradient_accumulation_steps", "-8", "kto", Treatment.STOPS, id="refused by the loader"),
        pytest.param("eval_batch_size", "0", "kto", Treatment.STOPS, id="no evaluation, refused"),
    ],
)
def test_odd_sizes_are_what_python_makes_of_them(key: str, written: str, loss: str, expected: str | None) -> None:
    assert stumbles(flat(loss, model={key: written})) == ({key: expected} if expected else {})


@pytest.mark.parametrize(
    ("line", "expected"), [("eval_every: 0", Treatment.STOPS_LATE), ("eval_every: 1e3", None), ("eval_every: -8", None)]
)
def test_odd_intervals_are_what_python_makes_of_them(line: str, expected: str | None) -> None:
    assert stumbles(flat(more=line + "\n")) == ({"eval_every": expected} if expected else {})


def test_an_exponent_is_a_number_to_omegaconf() -> None:
    assert sizes(flat(more="n_examples: 1e4\n")).value(Name.TRAIN_SAMPLES) == 10_000


def test_null_examples_leave_the_epochs() -> None:
    found = sizes(flat(more="n_examples: null\n"))
    assert Name.TRAIN_SAMPLES not in found.stated
    assert found.value(Name.NUM_EPOCHS) == 1
    assert sizes(flat(more="n_epochs: null\n")).value(Name.NUM_EPOCHS) is None
