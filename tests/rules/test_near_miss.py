import pytest

from pytest_gbs.arithmetic.near_miss import nearest

ROWS = ("per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps", "num_generations", "max_steps")


@pytest.mark.parametrize(
    "word",
    [
        pytest.param("per_gpu_train_batch_size", id="another key of older versions"),
        pytest.param("train_batch_size", id="half of a key"),
        pytest.param("gradient_checkpointing", id="a key that starts alike"),
        pytest.param("max_grad", id="a short word with two other letters"),
        pytest.param("may_stops", id="two slips in a short word"),
        pytest.param("may_step", id="one letter changed and one left out in a short word"),
        pytest.param("num_generations", id="the key itself"),
        pytest.param("per_device_xxxxx_batch_size", id="between two keys"),
        pytest.param("total_device_train_batch_size", id="another word in front"),
        pytest.param("min_step", id="the opposite"),
        pytest.param("", id="nothing"),
        pytest.param("x" * 100_000, id="a very long word"),
    ],
)
def test_other_words_are_not_a_near_miss(word: str) -> None:
    assert nearest(word, ROWS) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("gradient_accumulation_step", "gradient_accumulation_steps", id="singular"),
        pytest.param("gradient_acummulation_steps", "gradient_accumulation_steps", id="one letter less, one more"),
        pytest.param("per_device_trian_batch_size", "per_device_train_batch_size", id="two letters swapped"),
        pytest.param("per-device-train-batch-size", "per_device_train_batch_size", id="hyphens"),
        pytest.param("Gradient_Accumulation_Steps", "gradient_accumulation_steps", id="capitals"),
        pytest.param("max_step", "max_steps", id="one slip in a short word"),
        pytest.param("numgenerations", "num_generations", id="underscore left out"),
    ],
)
def test_slips_of_the_finger_are_near_misses(word: str, meant: str) -> None:
    assert nearest(word, ROWS) == meant


@pytest.mark.parametrize(
    ("one", "other"),
    [("total_batch_size", "local_batch_size"), ("min_new_tokens", "max_new_tokens"), ("max_train_steps", "num_train_steps")],
)
def test_two_letters_changed_make_another_word(one: str, other: str) -> None:
    assert (nearest(one, (other,)), nearest(other, (one,))) == (None, None)


def test_a_tie_gives_no_answer() -> None:
    assert nearest("save_stepx", ("save_stepa", "save_stepb")) is None
