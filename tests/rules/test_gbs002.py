import pytest

from pytest_gbs.model.framework import Loader, Row
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.rules.gbs002_duplicate_key import check

from .building import TABLE, only, shown, view

NESTED = TABLE._replace(rows=(*TABLE.rows, Row(("parallelism", "dp"), Name.DATA_PARALLEL_SIZE)))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n", id="no key twice"),
        pytest.param("learning_rate: 1\nlearning_rate: 2\n", id="a key that is not a size"),
        pytest.param("a: {per_device_train_batch_size: 1}\nb: {per_device_train_batch_size: 2}\n", id="in two mappings"),
        pytest.param("base: &b {per_device_train_batch_size: 1}\n<<: *b\nper_device_train_batch_size: 2\n", id="a merge key"),
        pytest.param("per_device_train_batch_size: 4\n# per_device_train_batch_size: 2\n", id="commented out"),
        pytest.param("other: {dp: 1, dp: 2}\n", id="the last part of a key elsewhere"),
    ],
)
def test_other_files_stay_silent(text: str) -> None:
    assert list(check(view(text, NESTED))) == []


def test_a_file_of_no_framework_stays_silent() -> None:
    assert list(check(view("per_device_train_batch_size: 4\nper_device_train_batch_size: 2\n", None))) == []


def test_two_values_are_an_error_that_says_which_counts() -> None:
    file = view("per_device_train_batch_size: 4\nlr: 1\nper_device_train_batch_size: 2\n")
    found = only(list(check(file)))
    assert found.message == "per_device_train_batch_size is set twice, as 4 and as 2; PyYAML keeps the last one without a warning"
    assert found.severity == Severity.ERROR
    assert (found.at.start, shown(file.document, found.at), found.label) == (66, "2", "kept")
    (related,) = found.related
    assert (related.at.start, shown(file.document, related.at), related.label) == (29, "4", "dropped")


def test_the_same_value_twice_is_a_note() -> None:
    found = only(list(check(view("per_device_train_batch_size: 4\nper_device_train_batch_size: 4\n"))))
    assert found.message == "per_device_train_batch_size is set twice, as 4 both times; PyYAML keeps the last one without a warning"
    assert found.severity == Severity.INFO


def test_a_loader_that_refuses_makes_it_an_error() -> None:
    table = TABLE._replace(loader=Loader.OMEGACONF)
    found = only(list(check(view("per_device_train_batch_size: 4\nper_device_train_batch_size: 4\n", table))))
    assert found.message.endswith("the framework stops when it loads the file")
    assert found.severity == Severity.ERROR


@pytest.mark.parametrize(("digits", "shown"), [(59, True), (60, False)])
def test_values_are_shown_up_to_a_length(digits: int, shown: bool) -> None:
    found = only(list(check(view(f"per_device_train_batch_size: {'4' * digits}\nper_device_train_batch_size: 2\n"))))
    assert (" and as 2" in found.message) is shown


def test_very_long_values_are_not_shown() -> None:
    found = only(list(check(view(f"per_device_train_batch_size: {'4' * 999}\nper_device_train_batch_size: 2\n"))))
    assert found.message == "per_device_train_batch_size is set twice; PyYAML keeps the last one without a warning"
    assert found.severity == Severity.ERROR


def test_json_names_its_own_loader() -> None:
    text = '{"per_device_train_batch_size": 4, "per_device_train_batch_size": 2}'
    found = only(list(check(view(text, path="sft.json"))))
    assert found.message == "per_device_train_batch_size is set twice, as 4 and as 2; the loader keeps the last one without a warning"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param("parallelism:\n  dp: 1\n  dp: 2\n", "2", id="below a key"),
        pytest.param("parallelism: {dp: 1}\nparallelism: {dp: 2}\n", "parallelism", id="the block above the key"),
        pytest.param("per_device_train_batch_size:\nper_device_train_batch_size: 2\n", "2", id="no first value"),
        pytest.param("x: &x 4\nper_device_train_batch_size: *x\nper_device_train_batch_size: 2\n", "2", id="an alias"),
    ],
)
def test_every_shape_of_value_is_found(text: str, kept: str) -> None:
    file = view(text, NESTED)
    assert shown(file.document, only(list(check(file))).at) == kept


def test_a_launcher_file_has_its_own_keys() -> None:
    text = "distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: bf16\nmixed_precision: no\nnum_processes: 4\n"
    stated = Quantity(Name.WORLD_SIZE, 4, Origin.FILE, at=Location("a.yaml", 0, 1, ("num_processes",)))
    file = view(text, None)._replace(launcher=LauncherFile("a.yaml", "accelerate", (stated,), True))
    assert only(list(check(file))).message.startswith("num_processes is set twice, as 8 and as 4")
