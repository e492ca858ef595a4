"""Programs that train a model of TTS with Coqui's Trainer: the configuration has the batch, TrainerArgs the accumulation."""

from pathlib import Path

import pytest

from tests.launches.building import checked, titled_batches

PROGRAM = """\
from trainer import Trainer, TrainerArgs
from TTS.tts.configs.vits_config import VitsConfig
from TTS.tts.models.vits import Vits
from TTS.tts.utils.text.tokenizer import TTSTokenizer

MICRO = 16
config = VitsConfig(run_name="a", batch_size=MICRO, eval_batch_size=8)
tokenizer, config = TTSTokenizer.init_from_config(config)
trainer = Trainer(TrainerArgs({arguments}), config, "out", model=Vits(config, tokenizer))
trainer.fit()
"""
ONE = "CUDA_VISIBLE_DEVICES=0 python train.py"


def trained(folder: Path, program: str, command: str = ONE) -> list[tuple[str, int | None]]:
    """The framework and the global batch of each launch."""
    return titled_batches(checked(folder, {"train.py": program, "run.sh": f"{command}\n"}))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("from trainer import", "from mine.trainer import", id="another trainer"),
        pytest.param("TTS.tts.configs", "mine.configs", id="a configuration of others"),
        pytest.param("batch_size=MICRO, ", "", id="the default of one of many classes"),
        pytest.param("tokenizer, config", "config.batch_size = 64\ntokenizer, config", id="a batch that is set later"),
        pytest.param("MICRO = 16", "other = VitsConfig(batch_size=4)\nMICRO = 16", id="one of two configurations"),
    ],
)
def test_a_batch_that_is_not_plain_is_not_reported(tmp_path: Path, old: str, new: str) -> None:
    assert trained(tmp_path, PROGRAM.format(arguments="").replace(old, new)) == []


@pytest.mark.parametrize(
    ("arguments", "command", "expected"),
    [
        pytest.param("", ONE, 16, id="16 x 1"),
        pytest.param("grad_accum_steps=4", ONE, 64, id="16 x 4"),
        pytest.param("grad_accum_steps=4", f"{ONE} --coqpit.batch_size 2", 8, id="2 x 4"),
        pytest.param("grad_accum_steps=4", f"{ONE} --coqpit.batch_size=2 --grad_accum_steps=8", 16, id="2 x 8"),
        pytest.param("", f"{ONE} --coqpit.batch_size $SIZE", None, id="a variable"),
        pytest.param("grad_accum_steps=steps()", ONE, None, id="a computed accumulation"),
        pytest.param("", "CUDA_VISIBLE_DEVICES=0,1 python train.py", None, id="one GPU of two, or both"),
    ],
)
def test_the_batch_of_a_launch(tmp_path: Path, arguments: str, command: str, expected: int | None) -> None:
    assert trained(tmp_path, PROGRAM.format(arguments=arguments), command) == [("Coqui TTS", expected)]
