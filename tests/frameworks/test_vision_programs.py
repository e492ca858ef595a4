"""timm, DeiT, Swin, DiT, YOLO, EDM, StyleGAN, MoCo and the ImageNet example: flags, short ones too; numbers worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, titled_batches

RUN = "torchrun --nproc_per_node=8"
TIMM = "--data-dir /data --model seresnet34 --sched cosine --reprob 0.5"
DEIT = "main.py --model deit_small --data-path /data"
SWIN = "main.py --cfg configs/tiny.yaml --data-path /data"
YOLO = "train.py --weights yolov5s.pt --data coco128 --img 640"
YOLO6 = "tools/train.py --conf configs/yolov6s.py --data data/coco.yaml --fuse_ab"
SPAWNS = "main.py -a resnet50 --dist-backend nccl --multiprocessing-distributed --rank 0"
EDM = "train.py --outdir=runs --data=a.zip"
MASKED = "scripts/image_train.py --data_dir d --image_size 256 --mask_ratio 0.30 --model MDT_S_2 --diffusion_steps 1000"
GUIDED = "scripts/image_train.py --data_dir d --image_size 64 --num_channels 128"
MOCO = "main_moco.py -a vit_small --stop-grad-conv1 --multiprocessing-distributed --rank 0"

# Programs as the repositories have them, as far as their options go.
PARSER = "import argparse\nparser = argparse.ArgumentParser()\n"
OWN = {
    "timm/train.py": PARSER
    + "group = parser.add_argument_group('Model')\n"
    + "group.add_argument('-b', '--batch-size', type=int, default=128)\n"
    + "group.add_argument('--grad-accum-steps', type=int, default=1)\n"
    + "args = parser.parse_args()\nargs.grad_accum_steps = max(1, args.grad_accum_steps)\n",
    "fork/train.py": PARSER
    + "parser.add_argument('--batch-size', type=int, default=64)\nparser.add_argument('--grad-accum-steps', type=int, default=2)\n",
    "other/train.py": PARSER
    + "parser.add_argument('-b', '--batch-size', type=int, default=128)\n"
    + "args = parser.parse_args()\nargs.batch_size = find_batch_size()\n",
}


def trained(folder: Path, command: str, files: dict[str, str] | None = None) -> list[tuple[str, int | None]]:
    """The framework and the global batch of each launch of a script that holds `command`."""
    report = checked(folder, {"run.sh": f"{command}\n", **(files or {})})
    return titled_batches(report)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(f"{RUN} train.py --model resnet50 --batch-size 32 --epochs 3", id="somebody's train.py"),
        pytest.param(f"{RUN} train.py -b 32 --lr 0.1", id="a short flag of anybody"),
        pytest.param(f"{RUN} train.py --model bert --batch-size 8 --opt adamw --data-dir /data", id="an optimizer and a model"),
        pytest.param(f"{RUN} validate.py {TIMM} -b 256", id="timm validates"),
        pytest.param(f"{RUN} {DEIT} --batch-size 64 --eval", id="DeiT evaluates"),
        pytest.param(f"{RUN} {DEIT} --batch-size 64 --gradient_accumulation_steps 2", id="another main accumulates"),
        pytest.param(f"{RUN} main.py --model deit_small --batch-size 64", id="no data of DeiT"),
        pytest.param(f"{RUN} {SWIN} --batch-size 64 --eval", id="Swin evaluates"),
        pytest.param(f"{RUN} {SWIN} --batch-size 64 --opts TRAIN.ACCUMULATION_STEPS 4", id="Swin, settings in pairs"),
        pytest.param(f"{RUN} train.py --model DiT-XL/2 --data-path /data", id="a batch that nothing says"),
        pytest.param(f"{RUN} train.py --weights a.pt --data b --batch-size 16", id="weights and data"),
        pytest.param(f"{RUN} {YOLO} --batch-size 16 --model a", id="a model by another name"),
        pytest.param(f"{RUN} tools/train.py configs/a.py --batch-size 16", id="another program in tools"),
        pytest.param(f"{RUN} {YOLO6.replace('tools/', '')} --batch 256", id="flags of YOLOv6 elsewhere"),
        pytest.param("python main.py -a resnet50 -b 256 --gpu 0", id="the example on one GPU"),
        pytest.param(f"{RUN} {EDM} --arch=resnet50 --batch=64", id="images, without what EDM calls its classes"),
        pytest.param(f"{RUN} {EDM} --arch=ddpmpp --cond=1 --batch-size=64", id="the batch of another"),
        pytest.param(f"python {EDM} --gpus=8 --batch=32", id="GPUs of another"),
        pytest.param("mpiexec -n 8 python classifier_train.py --data_dir d --batch_size 32", id="another that trains a classifier"),
        pytest.param("mpiexec -n 8 python image_sample.py --num_channels 128 --batch_size 32", id="guided-diffusion samples"),
        pytest.param("python main.py -a build -b 4", id="short flags of another main"),
    ],
)
def test_programs_of_others_say_nothing(tmp_path: Path, command: str) -> None:
    assert trained(tmp_path, command) == []


@pytest.mark.parametrize(
    ("command", "title", "batch"),
    [
        pytest.param(f"{RUN} train.py {TIMM} --batch-size 256", "timm", 2048, id="256 x 8"),
        pytest.param(f"{RUN} train.py {TIMM} -b 256", "timm", 2048, id="a short flag"),
        pytest.param(f"mpiexec -n 8 python {GUIDED} --batch_size 32", "guided-diffusion", 256, id="32 x 8"),
        pytest.param(f"mpiexec -n 8 python {GUIDED} --batch_size 32 --microbatch 5", "guided-diffusion", 256, id="32 x 8, in parts"),
        pytest.param(f"{RUN} {MASKED} --batch_size 4", "guided-diffusion", 32, id="4 x 8, of another model"),
        pytest.param(f"mpiexec -n 8 python {GUIDED} --lr 1e-4", "guided-diffusion", None, id="a default of each program's own"),
        pytest.param(
            "mpiexec -n 8 python cm_train.py --data_dir d --num_channels 9 --global_batch_size 2048", "guided-diffusion", 2048, id="of all"
        ),
        pytest.param(f"{RUN} {EDM} --arch=ddpmpp --cond=1", "EDM", 512, id="the default, over all GPUs"),
        pytest.param(f"{RUN} {EDM} --arch=ddpmpp --cond=1 --batch=256 --batch-gpu=16", "EDM", 256, id="16 x 2 x 8"),
        pytest.param(f"{RUN} train_edm2.py --outdir=a --data=b --preset=c --batch=2048", "EDM2", 2048, id="over all GPUs"),
        pytest.param(f"{RUN} train_edm2.py --outdir=a --data=b --preset=c --batch-gpu=32", "EDM2", None, id="as the preset has it"),
        pytest.param(f"python {EDM} --cfg=stylegan3-t --gpus=8 --batch=32 --gamma=8.2", "StyleGAN", 32, id="over GPUs that it starts"),
        pytest.param(f"{RUN} train.py {TIMM} -b256", "timm", 2048, id="its number in the same word"),
        pytest.param(f"{RUN} train.py {TIMM} -b=256", "timm", 2048, id="or behind a sign"),
        pytest.param(f"{RUN} train.py {TIMM} -b 64 --grad-accum-steps 4", "timm", 2048, id="64 x 4 x 8"),
        pytest.param(f"{RUN} train.py {TIMM} -b 64 --naflex-loader", "timm", None, id="as many tokens as 64 images have"),
        pytest.param(f"{RUN} train.py {TIMM} -b 64 --train-img-sizes 160 224", "timm", None, id="sizes of images that change"),
        pytest.param(f"{RUN} train.py {TIMM} -b $BATCH", "timm", None, id="a variable"),
        pytest.param(f"{RUN} {DEIT} --batch-size 128", "DeiT", 1024, id="128 x 8"),
        pytest.param(f"{RUN} {DEIT} --batch 128", "DeiT", 1024, id="abbreviated"),
        pytest.param(f"python run_with_submitit.py{DEIT[7:]} --nodes 4 --batch 64", "DeiT (submitit)", 2048, id="64 x 4 nodes of 8"),
        pytest.param(f"{RUN} main_dino.py --arch vit_small --data_path /data", "DINO", 512, id="64 x 8"),
        pytest.param("python run_with_submitit.py --arch vit_small --data_path /data", "DINO (submitit)", 1024, id="64 x 2 nodes of 8"),
        pytest.param(
            f"{RUN} --nnodes 4 main_mar.py --model mar_large --batch_size 64 --data_path /data --blr 1e-4", "MAR", 2048, id="64 x 32"
        ),
        pytest.param(f"{RUN} train.py --model DiT-XL/2 --data-path /d --epochs 9 --global-batch-size 256", "DiT", 256, id="of all GPUs"),
        pytest.param(f"{RUN} {YOLO} --batch-size 64", "YOLOv5", 64, id="64 at once"),
        pytest.param(f"{RUN} {YOLO} --batch 16", "YOLOv5", 64, id="16, four times"),
        pytest.param(f"{RUN} {YOLO} --batch 24", "YOLOv5", 72, id="64 / 24 = 2.7, three times"),
        pytest.param(f"{RUN} {YOLO} --batch 128", "YOLOv5", 128, id="more than 64"),
        pytest.param(f"{RUN} {YOLO}", "YOLOv5", 64, id="16 where nothing is said"),
        pytest.param(f"{RUN} {YOLO.replace('train.py', 'train_dual.py')} --batch 16", "YOLOv5", 64, id="YOLOv9, 16 four times"),
        pytest.param(f"{RUN} {YOLO6} --batch 256", "YOLOv6", 256, id="YOLOv6, 32 x 8"),
        pytest.param(f"python {YOLO6} --batch-size 32", "YOLOv6", 64, id="YOLOv6, 32 twice"),
        pytest.param(f"{RUN} {YOLO6} --batch 20", "YOLOv6", 60, id="YOLOv6, 64 / 20 = 3.2, three times, in shares that no check is for"),
        pytest.param(f"python {YOLO} --batch -1", "YOLOv5", None, id="AutoBatch"),
        pytest.param(f"python {SPAWNS} --world-size 2 -b 512", "PyTorch ImageNet example", 1024, id="512 x 2 nodes"),
        pytest.param(f"python {SPAWNS} --world-size 1", "PyTorch ImageNet example", 256, id="its default"),
        pytest.param(f"python {MOCO} --world-size 4", "MoCo v3", 4096, id="MoCo v3, all nodes"),
        pytest.param(f"python {MOCO} --world-size 1 -b 1024", "MoCo v3", 1024, id="MoCo v3, one node"),
    ],
)
def test_the_batch_of_a_command(tmp_path: Path, command: str, title: str, batch: int | None) -> None:
    assert trained(tmp_path, command) == [(title, batch)]


@pytest.mark.parametrize(
    ("more", "yaml", "batch"),
    [
        pytest.param("--batch-size 64 --accumulation-steps 2", "MODEL: {TYPE: swin}\n", 1024, id="64 x 2 x 8, by flags"),
        pytest.param("--batch-size 64", "TRAIN: {ACCUMULATION_STEPS: 4}\n", 2048, id="the file accumulates"),
        pytest.param("", "DATA: {BATCH_SIZE: 32}\n", 256, id="the file's batch"),
        pytest.param("", "MODEL: {TYPE: swin}\n", 1024, id="128 by default"),
        pytest.param("", "BASE: [other.yaml]\n", None, id="a parent may have another"),
    ],
)
def test_swin_takes_flags_over_its_file(tmp_path: Path, more: str, yaml: str, batch: int | None) -> None:
    assert trained(tmp_path, f"{RUN} {SWIN} {more}", {"configs/tiny.yaml": yaml}) == [("Swin Transformer", batch)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param("--batch-size 64", [("Swin Transformer", 512)], id="the file has no accumulation"),
        pytest.param("", [("PyTorch DistributedDataParallel", None)], id="a program may have another default batch"),
    ],
)
def test_what_was_made_from_swin_reads_its_file(tmp_path: Path, more: str, expected: list[object]) -> None:
    program = (
        PARSER
        + "parser.add_argument('--cfg')\nparser.add_argument('--data-path')\nparser.add_argument('--batch-size', type=int)\n"
        + "config = get_config(parser.parse_args())\ntorch.distributed.init_process_group('nccl')\n"
        + "data = torch.utils.data.DataLoader(dataset, batch_size=config.DATA.BATCH_SIZE)\n"
        + "model = torch.nn.parallel.DistributedDataParallel(build(config))\noptimizer = torch.optim.SGD(model.parameters())\n"
        + "for idx, x in enumerate(data):\n    (model(x) / config.TRAIN.ACCUMULATION_STEPS).backward()\n"
        + "    if (idx + 1) % config.TRAIN.ACCUMULATION_STEPS == 0:\n        optimizer.step()\n"
    )
    files = {"configs/tiny.yaml": "MODEL: {TYPE: swin}\n", "main.py": "import torch\nfrom config import get_config\n" + program}
    assert trained(tmp_path, f"{RUN} {SWIN} {more}", files) == expected


def test_simmim_is_started_like_swin(tmp_path: Path) -> None:
    command = f"{RUN} main_simmim.py --cfg configs/tiny.yaml --batch-size 64 --data-path /data"
    assert trained(tmp_path, command, {"configs/tiny.yaml": "MODEL: {TYPE: swin}\n"}) == [("Swin Transformer", 512)]


@pytest.mark.parametrize(
    ("program", "flags", "expected"),
    [
        pytest.param("other", "", [], id="a batch that is computed anew"),
        pytest.param("timm", "-b 64", [("timm", 512)], id="a short flag is the option that its parser has"),
        pytest.param("timm", "--batch 64", [("timm", 512)], id="so is one that it alone begins with"),
        pytest.param("timm", "", [("timm", 1024)], id="an accumulation of at least 1 is what the parser has"),
        pytest.param("fork", "--batch-size 32", [("timm", 512)], id="a fork accumulates by itself"),
    ],
)
def test_a_parser_says_what_its_flags_mean(tmp_path: Path, program: str, flags: str, expected: list[object]) -> None:
    assert trained(tmp_path, f"{RUN} {program}/train.py {TIMM} {flags}", OWN) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param(f"{RUN} {YOLO} --batch 64", [], id="YOLO, whole"),
        pytest.param(f"python {YOLO} --batch 3", [], id="YOLO, one GPU"),
        pytest.param(f"{RUN} {YOLO} --batch 20", ["GBS202"], id="YOLO, 20 for 8"),
        pytest.param(f"{RUN} train.py --model DiT-XL/2 --data-path /d --epochs 9 --global-batch-size 256", [], id="DiT, whole"),
        pytest.param(f"{RUN} train.py --model DiT-XL/2 --data-path /d --epochs 9 --global-batch-size 100", ["GBS202"], id="100 for 8"),
    ],
)
def test_all_gpus_take_as_many(tmp_path: Path, command: str, expected: list[str]) -> None:
    assert codes(checked(tmp_path, {"run.sh": f"{command}\n"})) == expected


CVNETS = "common: {{accum_freq: {}}}\ndataset:\n  train_batch_size0: {}  # effective batch size is {} ({} * 8 GPUs)\n"


@pytest.mark.parametrize(
    ("accumulation", "batch", "says", "found"),
    [(1, 128, "1024", []), (2, 128, "2048", []), (1, 8192, "65k", []), (2, 128, "1024", ["GBS101"]), (1, 8000, "65k", ["GBS101"])],
)
def test_what_comments_of_cvnets_say(tmp_path: Path, accumulation: int, batch: int, says: str, found: list[str]) -> None:
    report = checked(tmp_path, {"vit.yaml": CVNETS.format(accumulation, batch, says, batch)})
    assert codes(report) == found


LAZY = "from .common import get_config, model\ndataloader = get_config('coco.py').dataloader\ntrain = get_config('train.py').train\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param("dataloader.train.num_workers = 8\n", [], id="the batch of the common file"),
        pytest.param("def f(dataloader):\n    dataloader.train.total_batch_size = 8\n", [], id="set by a function"),
        pytest.param("loader.train.total_batch_size = 8\n", [], id="another loader"),
        pytest.param("dataloader.train.total_batch_size = 16\n", [16], id="set"),
        pytest.param("train.max_iter = 10\ndataloader.train.total_batch_size = 2 * 8\n", [16], id="worked out, behind another"),
        pytest.param("dataloader.train.total_batch_size = 16\ndataloader.train.total_batch_size = 8\n", [None], id="set twice"),
        pytest.param("if fast:\n    dataloader.train.total_batch_size = 16\n", [None], id="set sometimes"),
    ],
)
def test_what_a_lazy_configuration_sets(tmp_path: Path, lines: str, expected: list[int | None]) -> None:
    report = checked(tmp_path, {"run.py": LAZY + lines})
    assert [run.geometry.global_batch_size for each in report.files for run in each.runs] == expected


def test_a_comment_beside_a_lazy_configuration(tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.py": LAZY + "dataloader.train.total_batch_size = 16  # total batch size 32\n"})
    assert codes(report) == ["GBS101"]


BIG_VISION = """\
import big_vision.configs.common as bvcc
import ml_collections as mlc

def {name}({parameter}):
    {parsed}
    config = mlc.ConfigDict()
    config.total_steps = 100
    config.input = {{}}
    config.input.data = dict(name="pictures")
    config.input.batch_size = 4096
    if {test}:
        config.input.batch_size = 32
    return config
"""
PARSED = "arg = bvcc.parse_arg(arg, res=(224, int), runlocal=False)"


@pytest.mark.parametrize(
    ("name", "parameter", "parsed", "test", "expected"),
    [
        pytest.param("get_config", "arg=None", PARSED, "arg.runlocal", 4096, id="what the settings of a launch are by default"),
        pytest.param("get_config", "arg=None", PARSED, "not arg.runlocal", 32, id="the other way round"),
        pytest.param("get_config", "arg=None", PARSED, "arg.res > 100", None, id="a default with a type"),
        pytest.param("get_config", "arg=None", PARSED + "; setattr(arg, k, v)", "arg.runlocal", None, id="a setting that may be set"),
        pytest.param("get_config", "runlocal=False", "pass", "runlocal", 4096, id="a parameter of the function of the file"),
        pytest.param("get_config", "runlocal", "pass", "runlocal", None, id="a parameter without a default"),
        pytest.param("config_of", "runlocal=False", "pass", "runlocal", None, id="a parameter of another function"),
    ],
)
def test_the_batch_of_big_vision(tmp_path: Path, name: str, parameter: str, parsed: str, test: str, expected: int | None) -> None:
    text = BIG_VISION.format(name=name, parameter=parameter, parsed=parsed, test=test)
    report = checked(tmp_path, {"configs/a.py": text})
    assert [run.geometry.global_batch_size for each in report.files for run in each.runs] == [expected]
