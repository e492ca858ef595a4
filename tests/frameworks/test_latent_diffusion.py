"""latent-diffusion, TiTok, Lumina, SAM 2, MiniGPT-4 and Chinese-CLIP: their own settings and flags; numbers worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, file, titled_batches

LATENT = """\
model: {base_learning_rate: 1.0e-06, target: ldm.models.diffusion.ddpm.LatentDiffusion}
data:
  target: main.DataModuleFromConfig
  params: {batch_size: 12, num_workers: 4}
lightning:
  trainer: {benchmark: true, accumulate_grad_batches: 2}
"""
TOKENIZER = "training: {gradient_accumulation_steps: 2, per_gpu_batch_size: 16, max_train_steps: 1000}\n"
SEGMENTS = "scratch: {train_batch_size: 3}\ntrainer: {mode: train}\nlauncher: {num_nodes: 2, gpus_per_node: 4}\n"
TALKS = """\
model: {arch: minigpt4}
datasets:
  first: {batch_size: 6, sample_ratio: 3}
  second: {batch_size: 6, sample_ratio: 5}
run: {task: image_text_pretrain, lr_sched: linear_warmup_cosine_lr, world_size: 1, distributed: true, max_epoch: 4}
"""


def known(folder: Path, text: str) -> list[int | None]:
    """The global batch of a file, without a launch."""
    return [run.geometry.global_batch_size for run in file(checked(folder, {"a.yaml": text}), "a.yaml").runs]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LATENT, id="no GPUs"),
        pytest.param(LATENT.replace("benchmark", "gpus: auto, benchmark"), id="GPUs that are found"),
        pytest.param(LATENT.replace("benchmark", "devices: [], benchmark"), id="no device"),
        pytest.param(LATENT.replace("benchmark", "devices: [a, b], benchmark"), id="devices with names"),
        pytest.param(LATENT.replace("benchmark", "devices: '0,$LAST', benchmark"), id="a device that is not known"),
        pytest.param(LATENT.replace("  trainer: {benchmark: true, ", "  trainer: {gpus: '0,1', num_nodes: -1, "), id="no number of nodes"),
        pytest.param(TALKS, id="no GPUs of MiniGPT-4, whose world size is set at run time"),
        pytest.param(TALKS.replace("batch_size: 6, sample_ratio: 5", "batch_size: 4, sample_ratio: 5"), id="data sets that differ"),
        pytest.param(TALKS.replace("batch_size: 6, sample_ratio: 5", "sample_ratio: 5"), id="a data set without a batch"),
        pytest.param(TOKENIZER, id="no GPUs of TiTok"),
        pytest.param(SEGMENTS.replace("gpus_per_node: 4", "gpus_per_node: auto"), id="GPUs of SAM 2 that are not known"),
    ],
)
def test_what_is_not_known_is_not_a_batch(tmp_path: Path, text: str) -> None:
    assert known(tmp_path, text) == [None]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LATENT.replace("base_learning_rate: 1.0e-06, ", ""), id="a model that is only sampled"),
        pytest.param(LATENT.replace("batch_size", "size"), id="no batch"),
        pytest.param(TOKENIZER.replace("per_gpu_", ""), id="a batch of something else"),
        pytest.param(SEGMENTS.replace("trainer", "model"), id="no trainer"),
        pytest.param(TALKS.replace("datasets", "evaluation_datasets"), id="MiniGPT-4 evaluates"),
    ],
)
def test_other_files_are_not_recipes(tmp_path: Path, text: str) -> None:
    assert not any(each.runs for each in checked(tmp_path, {"a.yaml": text}).files)


@pytest.mark.parametrize(
    ("text", "batch"),
    [
        pytest.param(LATENT.replace("benchmark", "gpus: '0,', benchmark"), 24, id="one GPU by its number"),
        pytest.param(LATENT.replace("benchmark", "devices: '0, 1, 2', benchmark"), 72, id="three of them"),
        pytest.param(LATENT.replace("benchmark", "devices: [2, 3], benchmark"), 48, id="a list of two"),
        pytest.param(LATENT.replace("benchmark", "devices: 4, num_nodes: 2, benchmark"), 192, id="two nodes of four"),
        pytest.param(
            LATENT.replace("batch_size: 12", "train: {loader: {batch_size: 5}}").replace("benchmark", "devices: '0,', benchmark"),
            10,
            id="a loader of generative-models",
        ),
        pytest.param(SEGMENTS, 24, id="SAM 2"),
    ],
)
def test_a_file_has_its_batch(tmp_path: Path, text: str, batch: int) -> None:
    assert known(tmp_path, text) == [batch]


@pytest.mark.parametrize(
    ("text", "command", "batch"),
    [
        pytest.param(LATENT, "python main.py --base a.yaml -t", None, id="whatever GPUs there are"),
        pytest.param(LATENT, "python main.py --base a.yaml -t --gpus $GPUS", None, id="GPUs of a variable"),
        pytest.param(LATENT, "python main.py --base a.yaml -t --gpus 0,", 24, id="12 x 2 x 1"),
        pytest.param(LATENT, "python main.py -b a.yaml -t --gpus=0,1", 48, id="12 x 2 x 2"),
        pytest.param(LATENT, "python main.py --base a.yaml -t --gpus 0,1,2,3 --num_nodes 2", 192, id="12 x 2 x 8"),
        pytest.param(LATENT, "python main.py --base a.yaml -t --gpus 0, data.params.batch_size=5", 10, id="5 x 2 x 1"),
        pytest.param(
            LATENT, "python main.py --base a.yaml -t --devices 0,1 lightning.trainer.accumulate_grad_batches=3", 72, id="12 x 3 x 2"
        ),
        pytest.param(
            LATENT.replace("benchmark", "gpus: '0,', benchmark"),
            "python main.py --base a.yaml -t --gpus 0,1",
            48,
            id="the command line wins",
        ),
        pytest.param(
            TOKENIZER, "accelerate launch --num_processes=8 main.py config=a.yaml training.per_gpu_batch_size=4", 64, id="4 x 2 x 8"
        ),
        pytest.param(SEGMENTS, "python main.py -c a.yaml --num-gpus 1 --num-nodes 1", 3, id="3 x 1"),
        pytest.param(TALKS, "torchrun --nproc_per_node 4 main.py --cfg-path a.yaml", 24, id="6 x 4"),
    ],
)
def test_a_launch_has_its_batch(tmp_path: Path, text: str, command: str, batch: int | None) -> None:
    assert batches(checked(tmp_path, {"a.yaml": text, "main.py": "", "run.sh": f"{command}\n"})) == [batch]


LUMINA = "--data_path data.yaml --data_parallel fsdp --max_steps 3"
CLIP = "--train-data=a --batch-size=16 --accum-freq=2 --context-length=52"
SPEAKS = "data --arch=ofa_large --criterion=own --batch-size=4 --update-freq=8"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(f"train.py {LUMINA} --global_batch_size 64", [], id="Lumina without a micro batch"),
        pytest.param(f"generate.py {LUMINA} --global_batch_size 64 --micro_batch_size 2", [], id="another program of Lumina"),
        pytest.param(f"cn_clip/training/main.py {CLIP}", [], id="Chinese-CLIP without a model"),
        pytest.param(f"train.py {SPEAKS.replace('--criterion=own', '')}", [], id="fairseq without a criterion"),
        pytest.param(f"train.py {SPEAKS.replace('--update-freq=8', '')}", [], id="no flag that is fairseq's alone"),
        pytest.param(f"train.py {SPEAKS} --max-tokens 4096", [], id="two bounds of fairseq"),
        pytest.param(f"train.py {LUMINA} --global_batch_size 64 --micro_batch_size 2", [("Lumina-T2X", 64)], id="Lumina"),
        pytest.param(
            f"cn_clip/training/main.py {CLIP} --vision-model=ViT-B-16 --text-model=a", [("open_clip (training.main)", 128)], id="16 x 2 x 4"
        ),
        pytest.param(f"train.py {SPEAKS}", [("fairseq (train.py)", 128)], id="4 x 8 x 4"),
        pytest.param(
            "train.py data --arch=a --criterion=b --max-tokens 1000 --update-freq 2 --user-dir c",
            [("fairseq (train.py, tokens)", 8000)],
            id="1000 x 2 x 4 tokens",
        ),
    ],
)
def test_flags_of_programs(tmp_path: Path, command: str, expected: list[tuple[str, int | None]]) -> None:
    assert titled_batches(checked(tmp_path, {"run.sh": f"torchrun --nproc_per_node=4 {command}\n"})) == expected


def test_a_rank_of_lumina_may_take_a_smaller_micro_batch_last(tmp_path: Path) -> None:
    script = f"torchrun --nproc_per_node=4 train.py {LUMINA} --global_batch_size 64 --micro_batch_size 5\n"
    report = checked(tmp_path, {"run.sh": script})
    assert (batches(report), list(report.findings())) == ([64], [])
