import pytest

from pytest_gbs.model.framework import Row
from pytest_gbs.model.outcome import Applicability, Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.rules.gbs005_misspelt_key import check

from .building import TABLE, only, shown, view

KNOWS = TABLE._replace(
    also=frozenset(("per_device_trail_batch_size", "learning_rate")),
    rows=(
        *TABLE.rows,
        Row(("max_steps",), Name.MAX_STEPS, -1),
        Row(("tokens", "micro_batch_size"), Name.EVAL_MICRO_BATCH_SIZE, 1),
        Row(("accumulation_of_gradients",), Name.GRADIENT_ACCUMULATION_STEPS),
    ),
)
BOTH = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(BOTH, id="all there"),
        pytest.param(BOTH + "gradient_accumulation_step: 8\n", id="the right key is there too"),
        pytest.param("accumulation_of_gradients: 2\ngradient_accumulation_step: 8\n", id="another key gives the size"),
        pytest.param("per_device_trail_batch_size: 4\n", id="a key the framework knows"),
        pytest.param("per_gpu_train_batch_size: 4\n", id="too far away"),
        pytest.param("max_step: 4\n", id="an interval"),
        pytest.param("# gradient_accumulation_step: 8\nlr: 1\n", id="commented out"),
        pytest.param("trainer:\n  gradient_accumulation_step: 8\n", id="in another mapping"),
        pytest.param("tokens: {micro_batch_size: 1}\n", id="a nested key that is there"),
        pytest.param("tokens: 4\n", id="no mapping where the rows are"),
        pytest.param("[gradient_accumulation_step]", id="a list"),
        pytest.param("{[1]: 2, 3: 4}\n", id="odd keys"),
    ],
)
def test_other_files_stay_silent(text: str) -> None:
    assert list(check(view(text, KNOWS))) == []


def test_a_file_of_no_framework_stays_silent() -> None:
    assert list(check(view("gradient_accumulation_step: 8\n", None))) == []


@pytest.mark.parametrize(
    ("text", "written", "meant"),
    [
        pytest.param("gradient_accumulation_step: 8\n", "gradient_accumulation_step", "gradient_accumulation_steps", id="singular"),
        pytest.param("per-device-train-batch-size: 8\n", "per-device-train-batch-size", "per_device_train_batch_size", id="hyphens"),
        pytest.param("'per_device_trian_batch_size': 8\n", "'per_device_trian_batch_size'", "per_device_train_batch_size", id="quoted"),
        pytest.param("tokens:\n  micro_batchsize: 8\n", "micro_batchsize", "micro_batch_size", id="nested"),
    ],
)
def test_a_near_miss_warns_and_names_the_key(text: str, written: str, meant: str) -> None:
    file = view(text, KNOWS)
    found = only(list(check(file)))
    assert found.severity == Severity.WARNING
    assert shown(file.document, found.at) == written
    assert found.holds == f"rename it to {meant}"
    (fix,) = found.fixes
    assert fix.applicability == Applicability.DISPLAY
    assert fix.edits[0].replacement == written.replace(written.strip("'"), meant)


def test_the_message_says_what_counts_instead() -> None:
    found = only(list(check(view("gradient_accumulation_step: 8\n", KNOWS))))
    assert found.message == "gradient_accumulation_step is not a key of Example; accumulation has its default, 1"


def test_numbered_keys_stay_silent() -> None:
    text = "".join(f"gradient_accumulation_{n:04}: 1\n" for n in range(2_000))
    assert list(check(view(text, KNOWS))) == []
