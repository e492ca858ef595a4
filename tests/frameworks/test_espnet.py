"""ESPnet2: a batch of utterances or of values that all GPUs share, and accumulation; numbers worked out by hand."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, stumbles, table, title

TRAINS = "encoder: conformer\noptim: adam\nmax_epoch: 50\nbest_model_criterion: [[valid, acc, max]]\nkeep_nbest_models: 10\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("batch_size: 16\noptim: adam\nmax_epoch: 3\npatience: 5\n", id="a trainer of somebody's own"),
        pytest.param("batch_size: 1\nbeam_size: 20\nctc_weight: 0.3\n", id="decoding"),
        pytest.param(TRAINS, id="no batch"),
        pytest.param(f"{TRAINS}accum_grad: 4\ndataset_conf: {{batch_conf: {{batch_type: static, batch_size: 16}}}}\n", id="WeNet"),
        pytest.param("batch-size: 32\naccum-grad: 2\nepochs: 30\ncriterion: acc\n", id="ESPnet 1"),
        pytest.param(f"{TRAINS}batch_type: catbel\nbatch_size: 16\n", id="by category"),
        pytest.param(f"{TRAINS}batch_type: numel\nbatch_bins: 1000\nmultiple_iterator: true\n", id="several iterators"),
        pytest.param(f"{TRAINS}use_deepspeed: true\nbatch_type: numel\nbatch_bins: 1000\n", id="DeepSpeed"),
    ],
)
def test_what_is_not_training_of_espnet_says_nothing(text: str) -> None:
    found = title(text)
    assert found is None or not found.startswith("ESPnet")


# The GPUs share the batch, so that their number does not matter: 32 x 4 = 128.
@pytest.mark.parametrize(
    ("more", "expected", "batch"),
    [
        pytest.param("batch_size: 32\naccum_grad: 4\n", "ESPnet2", 128, id="folded by default"),
        pytest.param("batch_type: sorted\nbatch_size: 32\n", "ESPnet2", 32, id="sorted"),
        pytest.param("batch_type: unsorted\naccum_grad: 2\n", "ESPnet2", 40, id="the default of 20"),
        pytest.param("batch_type: folded\nbatch_size: '8'\n", "ESPnet2", 8, id="a number as text"),
        pytest.param("batch_type: numel\nbatch_bins: 3000000\naccum_grad: 4\n", "ESPnet2 (values)", 12_000_000, id="values"),
        pytest.param("batch_type: length\n", "ESPnet2 (values)", 1_000_000, id="the default of values"),
        pytest.param("batch_type: numel\nbatch_bins: 500\nbatch_size: 20\n", "ESPnet2 (values)", 500, id="a size that is not read"),
    ],
)
@pytest.mark.parametrize("gpus", [1, 4])
def test_all_gpus_share_a_batch(more: str, expected: str, batch: int, gpus: int) -> None:
    assert (title(TRAINS + more), sizes(TRAINS + more, world_size=gpus).value(Name.GLOBAL_BATCH_SIZE)) == (expected, batch)


def test_what_is_counted() -> None:
    assert [table(each).unit for each in ("ESPnet2", "ESPnet2 (values)")] == ["samples", "values"]


def test_what_argparse_refuses() -> None:
    assert stumbles(TRAINS + "batch_size: 1.5\naccum_grad: 0\n") == {"batch_size": "stops", "accum_grad": "stops"}
