"""SpeechBrain, WeNet, F5-TTS, fairseq, AudioCraft, SLAM-LLM, whisper-finetune: samples, frames or tokens, and `!ref <name>`."""

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.quantity import Name

from .building import document, outcomes, sizes, stumbles, table, title

BRAIN = """
epoch_counter: !new:speechbrain.utils.epoch_loop.EpochCounter {limit: 3}
opt_class: !name:torch.optim.Adam
"""
LOADER = "{options}:\n  batch_size: {batch}\n  num_workers: 2\n"
WENET = "encoder: conformer\naccum_grad: 4\ndataset_conf: {batch_conf: {batch_type: %s}}\n"
SPEAKER = "exp_dir: exp/a\nnum_avg: 10\ndataset_args: {shuffle: true}\ndataloader_args: {batch_size: 16}\n"
WORDS = "dataset_conf: {batch_conf: {batch_size: 100}}\nmodel: {hidden_dim: 64}\noptim: adam\ntraining_config: {max_epoch: 80}\n"
VITS = "train: {batch_size: 32, segment_size: 8192, c_mel: 45, lr_decay: 0.99}\ndata: {hop_length: 256}\nmodel: {n_heads: 2}\n"
FUN = "dataset_conf: {batch_type: %s, batch_size: %s}\ntrain_conf: {accum_grad: 2}\n"
SLAM = "model_config: {llm_name: vicuna}\ntrain_config: {batch_size_training: 4%s}\n"
WHISPER = "model: {init_name: large-v3}\ndataset: {batch_size: 32}\ntraining: {accum_grad_steps: %s}\n"
F5 = "datasets: {name: mine, batch_size_per_gpu: %s, batch_size_type: %s}\noptim: {grad_accumulation_steps: %s}\n"

FAIRSEQ = (
    "task: {_name: translation}\ndataset: {%s}\noptimization: {max_update: 100%s}\ndistributed_training: {distributed_world_size: 4}\n"
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("train_dataloader_opts: {batch_size: 8}\nepochs: 3\n", id="a trainer of somebody's own"),
        pytest.param("number_of_epochs: 3\ncheckpointer: a\nbatch_size: 8\n", id="no DataLoader"),
        pytest.param(BRAIN + "valid_dataloader_opts: {batch_size: 8}\n", id="validation alone"),
        pytest.param("train_config: {batch_size_training: 4}\n", id="a trainer of llama-recipes"),
        pytest.param("dataset: {batch_size: 32}\ntraining: {accum_grad_steps: 4}\n", id="sections of anyone's, with accumulation"),
        pytest.param("accum_grad: 4\nbatch_size: 16\nencoder: conformer\n", id="ESPnet"),
        pytest.param(WENET % "bucket, bucket_batch_sizes: [8, 4]", id="a batch for each length"),
        pytest.param("dataset_conf: {batch_conf: {batch_size: 16}}\n", id="no accumulation of WeNet's"),
        pytest.param(SPEAKER.replace("dataset_args", "other_args"), id="loader options of somebody's own"),
        pytest.param(WORDS.replace("training_config", "settings"), id="batches of somebody's own"),
        pytest.param(VITS.replace("c_mel", "c_other"), id="a vocoder of somebody's own"),
        pytest.param(FUN % ("other", 4), id="a kind of batch that FunASR does not have"),
        pytest.param("datasets: {batch_size_per_gpu: 8}\n", id="a batch for each GPU, of something else"),
        pytest.param("sample_rate: 16000\ndataset: {batch_size: 8}\noptim: {optimizer: adamw}\n", id="audio of anyone's"),
        pytest.param(FAIRSEQ % ("batch_size: 8, max_tokens: 4096", ""), id="fairseq with two bounds"),
        pytest.param("dataset: {batch_size: 8}\noptimization: {max_epoch: 3}\n", id="sections of anyone's"),
        pytest.param(F5 % (8, "tokens", 1), id="a kind of batch that F5-TTS stops at"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        pytest.param(SPEAKER, "samples", 64, id="WeSpeaker: 16 x 4"),
        pytest.param(WORDS, "samples", 400, id="WeKws: 100 x 4"),
        pytest.param(VITS, "samples", 128, id="VITS: 32 x 4"),
        pytest.param(FUN % ("example", 16), "samples", 128, id="FunASR: 16 x 2 x 4"),
        pytest.param(FUN % ("token", 6000), "frames", 48000, id="FunASR: 6,000 x 2 x 4"),
    ],
)
def test_each_process_has_a_batch(text: str, unit: str, expected: int) -> None:
    found = recognise(document(text))
    assert found is not None
    assert (found.unit, sizes(text, world_size=4).global_batch_size) == (unit, expected)


@pytest.mark.parametrize("options", ["train_dataloader_opts", "train_dataloader_options", "dataloader_options", "train_loader_kwargs"])
@pytest.mark.parametrize(
    ("batch", "rest", "expected"),
    [
        pytest.param("8", "", 32, id="a number"),
        pytest.param("!ref <batch_size>", "batch_size: 6\n", 24, id="another key"),
        pytest.param("!ref <batch_size>", "batch_size: 6\ngrad_accumulation_factor: 2\n", 48, id="accumulation"),
        pytest.param("8", "gradient_accumulation: 2\n", 64, id="accumulation of recipes with a step of their own"),
        pytest.param("8", "accu_steps: 3\n", 96, id="and their other name for it"),
        pytest.param("!ref <sizes[train]>", "sizes: {train: 3}\n", 12, id="a key in a key"),
        pytest.param("!ref <one>", "one: !ref <two>\ntwo: 5\n", 20, id="over another reference"),
        pytest.param("!ref <batch_size> // 2", "batch_size: 6\n", None, id="computed"),
        pytest.param("!ref <elsewhere>", "", None, id="no such key"),
        pytest.param("!ref <a>", "a: !ref <b>\nb: !ref <a>\n", None, id="in a circle"),
        pytest.param("8", "dynamic_batching: True\n", None, id="batches by length"),
    ],
)
def test_speechbrain_has_the_batch_of_its_loader(options: str, batch: str, rest: str, expected: int | None) -> None:
    text = BRAIN + rest + LOADER.format(options=options, batch=batch)
    assert title(text) == "SpeechBrain"
    assert sizes(text, world_size=4).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_a_referred_batch_is_where_its_number_is() -> None:
    text = BRAIN + "batch_size: 6\n" + LOADER.format(options="train_dataloader_opts", batch="!ref <batch_size>")
    micro = sizes(text).stated[Name.MICRO_BATCH_SIZE]
    at = getattr(micro, "at", None)
    assert at is not None
    assert text[at.start : at.stop] == "6"


# 16 x 4 x 8 = 512 utterances, or 12,000 x 4 x 8 = 384,000 frames.
@pytest.mark.parametrize(
    ("conf", "expected", "unit", "count"),
    [
        pytest.param("static, batch_size: 16", "WeNet", "samples", 512, id="static"),
        pytest.param("dynamic, max_frames_in_batch: 20000", "WeNet (frames)", "frames", 640_000, id="dynamic"),
        pytest.param("dynamic", "WeNet (frames)", "frames", 384_000, id="the default frames"),
    ],
)
def test_wenet_counts_utterances_or_frames(conf: str, expected: str, unit: str, count: int) -> None:
    assert title(WENET % conf) == expected
    assert table(expected).unit == unit
    assert sizes(WENET % conf, world_size=8).value(Name.GLOBAL_BATCH_SIZE) == count


@pytest.mark.parametrize(
    ("batch", "kind", "accumulation", "expected", "count"),
    [(38400, "frame", 1, "F5-TTS (frames)", 307_200), (32, "sample", 2, "F5-TTS", 512)],
)
def test_f5_tts_counts_samples_or_frames(batch: int, kind: str, accumulation: int, expected: str, count: int) -> None:
    text = F5 % (batch, kind, accumulation)
    assert (title(text), sizes(text, world_size=8).value(Name.GLOBAL_BATCH_SIZE)) == (expected, count)


# 8 x 4 GPUs x accumulation.
@pytest.mark.parametrize(
    ("dataset", "more", "expected", "count"),
    [
        pytest.param("batch_size: 8", "", "fairseq", 32, id="samples"),
        pytest.param("batch_size: 8", ", update_freq: [16]", "fairseq", 512, id="one accumulation for all epochs"),
        pytest.param("batch_size: 8", ", update_freq: [2, 2]", "fairseq", 64, id="the same twice"),
        pytest.param("batch_size: 8", ", update_freq: [2, 4]", "fairseq", None, id="more in the second epoch"),
        pytest.param("batch_size: 8", ", update_freq: []", "fairseq", None, id="no epoch"),
        pytest.param("max_tokens: 4096", ", update_freq: [2]", "fairseq (tokens)", 32_768, id="tokens"),
        # Jwoo5/fairseq-signals, examples/m3ae/config/pretraining/w2v-cmsc_bert.yaml (6b9e137): null is no bound.
        pytest.param("batch_size: 8, max_tokens: null", ", update_freq: [2]", "fairseq", 64, id="samples, and no bound of tokens"),
        pytest.param("max_tokens: 4096, batch_size: null", ", update_freq: [2]", "fairseq (tokens)", 32_768, id="tokens, and no batch"),
    ],
)
def test_fairseq_accumulates_by_epoch(dataset: str, more: str, expected: str, count: int | None) -> None:
    text = FAIRSEQ % (dataset, more)
    assert (title(text), sizes(text, world_size=4).value(Name.GLOBAL_BATCH_SIZE)) == (expected, count)
    assert stumbles(text) == {}


CRAFT = "sample_rate: 32000\ncompression_model_checkpoint: a\ndataset: {batch_size: 192%s}\noptim: {optimizer: adamw}\n"


# train.py divides by the GPUs: 192 / 32 = 6.
@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param("", 192, id="for all splits"),
        pytest.param(", train: {batch_size: 64}", 64, id="for training"),
        pytest.param(", valid: {batch_size: 64}", 192, id="for validation"),
        pytest.param(", train: {batch_size: 64, mix_p: 0.0}", 64, id="nothing is mixed"),
        pytest.param(", train: {batch_size: 64, mix_p: 0.5}", None, id="some are mixed"),
    ],
)
def test_audiocraft_shares_a_batch_out(more: str, expected: int | None) -> None:
    stated = sizes(CRAFT % more, world_size=32)
    assert (title(CRAFT % more), stated.value(Name.GLOBAL_BATCH_SIZE)) == ("AudioCraft", expected)
    assert stated.value(Name.MICRO_BATCH_SIZE) == (None if expected is None else expected // 32)


@pytest.mark.parametrize(("world", "expected"), [(32, Verified), (64, Verified), (5, Finding)])
def test_each_gpu_of_audiocraft_takes_as_many_samples(world: int, expected: type) -> None:
    assert [type(each) for each in outcomes("GBS202", CRAFT % "", world_size=world)] == [expected]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param("", 16, id="4 x 1 x 4"),
        pytest.param(", gradient_accumulation_steps: 2", 32, id="4 x 2 x 4"),
        pytest.param(", batching_strategy: dynamic", None, id="batches by frames"),
        pytest.param(", enable_deepspeed: true, gradient_accumulation_steps: 2", None, id="accumulated by the file of DeepSpeed"),
    ],
)
def test_slam_llm_has_the_batch_of_its_loader(given: str, expected: int | None) -> None:
    assert title(SLAM % given) == "SLAM-LLM"
    assert sizes(SLAM % given, world_size=4).value(Name.GLOBAL_BATCH_SIZE) == expected


# X-LANCE/SLAM-LLM a68e78f, examples/aispeech_asr/scripts/finetune_torchrun.sh names no number of samples.
def test_a_batch_of_frames_is_a_batch_of_slam_llm_that_is_not_known() -> None:
    text = "model_config: {llm_name: vicuna}\ntrain_config: {batching_strategy: dynamic, num_epochs: 5}\n"
    assert title(text) == "SLAM-LLM"
    assert sizes(text, world_size=8).global_batch_size is None
    assert title(text.replace("batching_strategy: dynamic, ", "")) is None


@pytest.mark.parametrize(("world", "steps"), [(1, 8), (4, 2), (8, 1)])
def test_the_ranks_of_whisper_finetune_share_the_accumulation(world: int, steps: int) -> None:
    found = sizes(WHISPER % 8, world_size=world)
    assert (found.value(Name.GLOBAL_BATCH_SIZE), found.value(Name.GRADIENT_ACCUMULATION_STEPS)) == (256, steps)


@pytest.mark.parametrize(("world", "kind"), [(2, Verified), (4, Verified), (3, Finding)])
def test_whisper_finetune_stops_at_ranks_that_cannot_share(world: int, kind: type) -> None:
    assert [type(each) for each in outcomes("GBS201", WHISPER % 8, world_size=world)] == [kind]
