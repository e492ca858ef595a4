"""ColossalAI's booster in programs: what ranks take from the loader that a plugin prepares, each batch worked out by hand beside it."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked

OPTIONS = """\
import argparse
from colossalai.booster import Booster
from colossalai.booster.plugin import GeminiPlugin, HybridParallelPlugin, LowLevelZeroPlugin, MoeHybridParallelPlugin
parser = argparse.ArgumentParser()
parser.add_argument("--plugin", type=str, default="gemini", choices=["gemini", "3d", "zero2", "moe"])
parser.add_argument("-b", "--batch_size", type=int, default=4)
parser.add_argument("--accumulation_steps", type=int, default=1)
parser.add_argument("--tp", type=int, default=1)
parser.add_argument("--pp", type=int, default=1)
parser.add_argument("--sp", type=int, default=1)
parser.add_argument("--sp_mode", type=str, default="split_gather")
args = parser.parse_args()
"""
PLUGIN = """\
if args.plugin == "gemini":
    plugin = GeminiPlugin(precision="bf16", tp_size=args.tp)
elif args.plugin.startswith("zero"):
    plugin = LowLevelZeroPlugin(stage=2)
elif args.plugin == "3d":
    plugin = HybridParallelPlugin(
        tp_size=args.tp,
        pp_size=args.pp,
        sp_size=args.sp,
        enable_sequence_parallelism=args.sp > 1,
        sequence_parallelism_mode=args.sp_mode,
        microbatch_size=1,
    )
elif args.plugin == "moe":
    plugin = MoeHybridParallelPlugin(tp_size=1, pp_size=2, ep_size=8, zero_stage=1)
else:
    raise ValueError(args.plugin)
booster = Booster(plugin=plugin)
"""
LOADER = "loader = plugin.prepare_dataloader(dataset=rows, batch_size=args.batch_size, shuffle=True, drop_last=True)\n"
BOOST = "model, optimizer, _, loader, schedule = booster.boost(model=model, optimizer=optimizer, dataloader=loader)\n"
TRAINER = """\
from coati.trainer import SFTTrainer
trainer = SFTTrainer(model=model, booster=booster, plugin=plugin, accumulation_steps=args.accumulation_steps)
trainer.fit(train_dataloader=loader)
"""
EACH_BATCH = """\
for step, batch in enumerate(loader):
    booster.backward(model(**batch)[0], optimizer)
    optimizer.step()
"""
EVERY_FEW = """\
for step, batch in enumerate(loader):
    booster.backward(model(**batch)[0] / args.accumulation_steps, optimizer)
    if (step + 1) % args.accumulation_steps == 0:
        optimizer.step()
"""
TWO_LOADERS = """\
if args.benchmark:
    loader = plugin.prepare_dataloader(noise, batch_size=args.batch_size)
else:
    loader = plugin.prepare_dataloader(rows, args.batch_size, drop_last=True)
"""
PROGRAM = OPTIONS + PLUGIN + LOADER + BOOST


def batch(folder: Path, program: str, flags: str, run: str = "--nproc_per_node 8") -> list[int | None]:
    files = {"train.py": program, "hosts": "one\ntwo\n\n", "run.sh": f"colossalai run {run} train.py {flags}\n"}
    return batches(checked(folder, files))


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(
            OPTIONS + PLUGIN + "loader = DataLoader(rows, batch_size=8)\n" + BOOST + EACH_BATCH, id="a loader of the program's own"
        ),
        pytest.param(PROGRAM.replace(", dataloader=loader", "") + EACH_BATCH, id="no loader is boosted"),
        pytest.param(PROGRAM + BOOST + EACH_BATCH, id="two are"),
        pytest.param(PROGRAM + TRAINER.replace("SFTTrainer", "PPOTrainer"), id="a trainer that makes batches of its own"),
        pytest.param(PROGRAM, id="nothing that trains"),
    ],
)
def test_a_program_whose_batch_is_not_plain_is_not_a_recipe(tmp_path: Path, program: str) -> None:
    assert batch(tmp_path, program, "-b 8") == []


@pytest.mark.parametrize(
    ("program", "flags"),
    [
        pytest.param(PROGRAM + EVERY_FEW, "--plugin 3d --tp 2 --pp 2 --accumulation_steps 4", id="stages accumulate otherwise"),
        pytest.param(PROGRAM + EACH_BATCH, "--plugin $PLUGIN", id="an unknown plugin"),
        pytest.param(PROGRAM + EACH_BATCH, "--plugin 3d --tp $TP", id="an unknown degree"),
        pytest.param(PROGRAM + EACH_BATCH, "--plugin 3d --tp 2 --sp 2 --sp_mode $MODE", id="an unknown way to divide sequences"),
        pytest.param(
            OPTIONS + PLUGIN + TWO_LOADERS.replace("noise, batch_size=args.batch_size", "noise, 1") + BOOST + EACH_BATCH, "", id="two"
        ),
    ],
)
def test_what_the_program_does_not_fix_is_unknown(tmp_path: Path, program: str, flags: str) -> None:
    assert batch(tmp_path, program, flags) == [None]


@pytest.mark.parametrize(
    ("program", "flags", "run", "expected"),
    [
        pytest.param(PROGRAM + TRAINER, "--plugin zero2 -b 8", "--nproc_per_node 4 --hostfile ./hosts", 64, id="8 x 1 x 2 hosts x 4"),
        pytest.param(PROGRAM + TRAINER, "--batch_size 16 --accumulation_steps 2", "--nproc_per_node 4", 128, id="16 x 2 x 4"),
        pytest.param(PROGRAM + TRAINER, "--tp 2", "--nproc_per_node 8", 16, id="gemini: 4 x 8 / 2"),
        pytest.param(PROGRAM + EACH_BATCH, "--plugin 3d -b 8 --tp 4 --pp 2", "--nproc_per_node=8", 8, id="8 x 8 / (4 x 2)"),
        pytest.param(PROGRAM + EACH_BATCH, "--plugin 3d -b 8 --tp 4 --pp 2", "--nproc_per_node 8 --host a,b,c", 24, id="8 x 24 / (4 x 2)"),
        pytest.param(PROGRAM + EACH_BATCH, "--plugin 3d --tp 2 --sp 2 --sp_mode all_to_all", "--nproc_per_node 8", 8, id="4 x 8 / (2 x 2)"),
        pytest.param(
            PROGRAM + EACH_BATCH, "--plugin 3d --tp 2 --sp 2", "--nproc_per_node 8", 16, id="split over the tensor ranks: 4 x 8 / 2"
        ),
        pytest.param(PROGRAM + EVERY_FEW, "--plugin zero2 -b 2 --accumulation_steps 8", "--nproc_per_node 8", 128, id="2 x 8 x 8"),
        pytest.param(PROGRAM + EVERY_FEW, "--plugin 3d --tp 2 --accumulation_steps 8", "--nproc_per_node 8", 128, id="4 x 8 x 8 / 2"),
        pytest.param(PROGRAM + EACH_BATCH, "--plugin moe -b 1", "--nproc_per_node 8", 4, id="experts divide no batch: 1 x 8 / 2"),
        pytest.param(
            OPTIONS + PLUGIN + TWO_LOADERS + BOOST + EACH_BATCH, "-b 3", "--nproc_per_node 8 --hostfile hosts --num_nodes 1", 24, id="3 x 8"
        ),
    ],
)
def test_the_batch_is_the_one_that_is_worked_out_by_hand(tmp_path: Path, program: str, flags: str, run: str, expected: int) -> None:
    assert batch(tmp_path, program, flags, run) == [expected]


# 3 tensor x 2 pipeline ranks do not divide 8 processes, and colossalai asserts that they do.
def test_ranks_that_do_not_divide_the_processes_are_found(tmp_path: Path) -> None:
    report = checked(
        tmp_path, {"train.py": PROGRAM + EACH_BATCH, "run.sh": "colossalai run --nproc_per_node 8 train.py --plugin 3d --tp 3 --pp 2\n"}
    )
    assert [finding.code for file in report.files for finding in file.findings] == ["GBS201"]
