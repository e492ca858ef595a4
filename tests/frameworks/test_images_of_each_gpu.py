"""BasicSR, RT-DETR, detectron2 and DINOv2: images of each GPU or of all, and what a command line changes; numbers worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.building import checked, codes, file, launched, titled_batches

from .building import title

SR = """\
name: small_sr
model_type: SRModel
num_gpu: %s
datasets: {train: {gt_size: 128, batch_size_per_gpu: 6%s}}
network_g: {type: MSRResNet}
"""
LOADER = "train_dataloader:\n  dataset: {return_masks: false}\n  shuffle: true\n  %s\n"
CHILD = "__include__: [include/loader.yml, 'include/model.yml']\noutput_dir: out/small\nepoches: 12\n"
MODEL = "task: detection\nmodel: RTDETR\ncriterion: RTDETRCriterion\npostprocessor: RTDETRPostProcessor\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("datasets: {train: {batch_size_per_gpu: 6}}\n", id="no network"),
        pytest.param(SR % (4, ", mini_batch_sizes: [6, 3, 1]"), id="batches that shrink as patches grow"),
        pytest.param(LOADER % "batch_size: 16", id="a part that others include"),
        pytest.param("train_dataloader: {batch_size: 16}\noutput_dir: out\n", id="a data loader of something else"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(("gpus", "batch"), [("4", 24), ("1", 6), ("auto", None), ("0", None)])
def test_without_a_launcher_basicsr_trains_on_the_gpus_of_its_file(tmp_path: Path, gpus: str, batch: int | None) -> None:
    (run,) = file(checked(tmp_path, {"sr.yml": SR % (gpus, "")}), "sr.yml").runs
    assert (run.framework.title, run.geometry.global_batch_size) == ("BasicSR", batch)


@pytest.mark.parametrize(
    ("command", "batch"),
    [
        pytest.param("torchrun --nproc_per_node=8 basicsr/train.py -opt options/sr.yml --launcher pytorch", 48, id="8 x 6"),
        pytest.param("python basicsr/train.py -opt options/sr.yml", 24, id="4 x 6"),
        pytest.param("torchrun --nproc_per_node=$N basicsr/train.py -opt options/sr.yml --launcher pytorch", None, id="any number"),
    ],
)
def test_a_launcher_of_basicsr_decides(tmp_path: Path, command: str, batch: int | None) -> None:
    report = checked(tmp_path, {"options/sr.yml": SR % (4, ""), "run.sh": f"{command}\n"})
    assert titled_batches(report) == [("BasicSR", batch)]


@pytest.mark.parametrize(("stated", "codes_of_it"), [(32, []), (16, ["GBS101"])])
def test_a_part_of_rtdetr_states_its_own_batch(tmp_path: Path, stated: int, codes_of_it: list[str]) -> None:
    loader = LOADER % f"total_batch_size: 32 # total batch size equals to {stated} (4 * {stated // 4})"
    files = {"a.yml": CHILD.replace(", 'include/model.yml'", ""), "b.yml": CHILD.replace("small", "large"), "include/loader.yml": loader}
    assert codes(checked(tmp_path, {**files, "include/model.yml": MODEL})) == codes_of_it


@pytest.mark.parametrize(
    ("loader", "child", "gpus", "batch", "found"),
    [
        pytest.param("total_batch_size: 32", "", 8, 32, [], id="4 on each of 8"),
        pytest.param("total_batch_size: 32", "", 6, 32, ["GBS202"], id="32 / 6 is not whole"),
        pytest.param("batch_size: 4", "", 8, 32, [], id="4 on each"),
        pytest.param("total_batch_size: 32", "train_dataloader: {total_batch_size: 64}\n", 8, 64, [], id="its own go first"),
        pytest.param("total_batch_size: 32", "train_dataloader: {batch_size: 4}\n", 8, 32, ["GBS203"], id="not both"),
    ],
)
def test_rtdetr_has_its_batch_from_files_that_it_includes(
    tmp_path: Path, loader: str, child: str, gpus: int, batch: int, found: list[str]
) -> None:
    files = {"configs/small.yml": CHILD + child, "configs/include/loader.yml": LOADER % loader, "configs/include/model.yml": MODEL}
    report = checked(tmp_path, {**files, "run.sh": f"torchrun --nproc_per_node={gpus} tools/train.py -c configs/small.yml\n"})
    assert titled_batches(report) == [("RT-DETR", batch)]
    assert codes(report) == found


D2 = "MODEL: {META_ARCHITECTURE: MaskFormer}\nSOLVER: {IMS_PER_BATCH: 16, BASE_LR: 0.0001}\n"
VISION = """\
import ml_collections as mlc
def get_config():
  config = mlc.ConfigDict()
  config.input = dict(data=dict(name="in"))
  config.input.batch_size = 1024
  config.total_epochs = 90
  return config
"""
LAVIS = "model: {arch: blip2}\nrun: {task: captioning, batch_size_train: 16, init_lr: 1e-5}\n"
JEPA = "data: {batch_size: 24}\nmask: {num: 4}\nmeta: {seed: 1}\noptimization: {lr: 0.1}\nlogging: {write_tag: a}\n"
SCENIC = """\
import ml_collections
def get_config():
  config = ml_collections.ConfigDict()
  config.experiment_name = "small"
  config.dataset_name = "images"
  config.batch_size = 512
  return config
"""
NETS = "common: {accum_freq: 1}\ndataset: {category: classification, train_batch_size0: 128}\nmodel: {classification: {name: vit}}\n"
SELF = "train: {batch_size_per_gpu: 64, OFFICIAL_EPOCH_LENGTH: 1250}\ndino: {head_n_prototypes: 65536}\n"


@pytest.mark.parametrize(
    ("command", "batch", "gpus", "found"),
    [
        pytest.param("python train_net.py --config-file d2.yaml", 16, None, [], id="as the file says"),
        pytest.param("python train_net.py --config-file d2.yaml --num-gpus 8", 16, 8, [], id="on 8 GPUs"),
        pytest.param("python train_net.py --config-file d2.yaml --num-gpus 8 --num-machines 2", 16, 16, [], id="on 2 machines"),
        pytest.param("python train_net.py --num-gpus 8 --config-file d2.yaml SOLVER.IMS_PER_BATCH 32", 32, 8, [], id="another batch"),
        pytest.param("python train_net.py --config-file d2.yaml --num-gpus 4 SOLVER.IMS_PER_BATCH $B", None, 4, [], id="any batch"),
        pytest.param("python train_net.py --num-gpus 3 --config-file d2.yaml", 16, 3, ["GBS202"], id="16 / 3 is not whole"),
        pytest.param("python train_net.py --num-gpus 3 --config-file d2.yaml --eval-only MODEL.WEIGHTS a.pth", 16, 3, [], id="evaluates"),
        pytest.param("torchrun --nproc_per_node=8 dino.py --config-file dino.yaml train.batch_size_per_gpu=32", 256, 8, [], id="DINOv2"),
        pytest.param("torchrun --nproc_per_node=8 lavis.py --cfg-path la.yaml --options run.batch_size_train=8", 64, 8, [], id="LAVIS"),
        pytest.param("python main_distributed.py --fname jepa.yaml --nodes 2 --tasks-per-node 8", 384, 16, [], id="I-JEPA: 24 x 2 x 8"),
        pytest.param("python scenic/main.py --config=scenic.py --config.batch_size=128", 128, None, [], id="Scenic"),
        pytest.param(
            "torchrun --nproc_per_node=8 main_train.py --common.config-file cv.yaml --x dataset.train_batch_size0=32",
            256,
            8,
            [],
            id="CVNets",
        ),
        pytest.param("python -m vision.train --config vision.py --config.input.batch_size 512", 512, None, [], id="big_vision"),
    ],
)
def test_a_command_line_changes_the_batch_of_a_file(
    tmp_path: Path, command: str, batch: int | None, gpus: int | None, found: list[str]
) -> None:
    files = {
        "scenic.py": SCENIC,
        "cv.yaml": NETS,
        "d2.yaml": D2,
        "jepa.yaml": JEPA,
        "vision.py": VISION,
        "la.yaml": LAVIS,
        "dino.yaml": SELF,
        "run.sh": f"{command}\n",
    }
    report = checked(tmp_path, files)
    (run,) = launched(report)
    assert (run.geometry.global_batch_size, run.geometry.value(Name.WORLD_SIZE)) == (batch, gpus)
    assert codes(report) == found
