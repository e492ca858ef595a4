"""Files that change while they are checked: each run ends with a result or a clear finding, and none writes or waits."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.location import Source
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.hostile.watched import GOOD, run
from tests.launches.building import accelerate
from tests.support import PYTHON, check

# What happens to a.yaml once gbs has looked at it and is about to open it.
CHANGES = {
    "deleted": "os.unlink(path)",
    "emptied": "os.truncate(path, 0)",
    "grown": "append(path, b'#' * 9_000_000)",
    "a pipe": "os.unlink(path); os.mkfifo(path)",
    "a folder": "os.unlink(path); os.mkdir(path)",
    "a device": "os.unlink(path); os.symlink('/dev/zero', path)",
    "a link to itself": "os.unlink(path); os.symlink('a.yaml', path)",
    "a link outside": "os.unlink(path); os.symlink('/etc/passwd', path)",
    "no longer text": "os.truncate(path, 0); append(path, bytes(range(256)))",
}
_MEANWHILE = """\
done = []
def append(path, data):
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, data)
    os.close(descriptor)
def meanwhile(path):
    if str(path).endswith("a.yaml") and not done:
        done.append(path)
        CHANGE
        deeds.clear()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes, no links")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_changes_once_it_was_looked_at(change: str, tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": GOOD, "good.yaml": GOOD})
    found = run(tmp_path, "check", "-v", ".", meanwhile=_MEANWHILE.replace("CHANGE", change))
    assert found.is_calm(), found
    assert "verified     good.yaml" in found.out


FALSE = GOOD.replace("128", "129")
# What happens to a.yaml at one of the times at which `gbs fix` opens it, and what is there in the end, unless it was fixed before that.
RACES = {
    "written by another": ("replace(path, b'x: 1\\n')", "x: 1\n"),
    "written by another in part": ("os.truncate(path, 30)", FALSE[:30]),
    "deleted": ("os.unlink(path)", None),
    "a link outside": ("os.unlink(path); os.symlink(OUTSIDE, path)", FALSE),
    "a folder": ("os.unlink(path); os.mkdir(path)", None),
    "of no use to others": ("os.chmod(path, 0)", FALSE),
}
_REPLACE = """\
def replace(path, data):
    descriptor = os.open(str(path) + ".other", os.O_WRONLY | os.O_CREAT)
    os.write(descriptor, data)
    os.close(descriptor)
    os.replace(str(path) + ".other", path)
times = []
def meanwhile(path):
    if str(path).endswith("a.yaml"):
        times.append(path)
        if len(times) == TIME:
            CHANGE
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no links")
@pytest.mark.parametrize("time", [1, 2, 3, 4])
@pytest.mark.parametrize(("change", "left"), RACES.values(), ids=RACES)
def test_a_fix_takes_nothing_from_another_and_writes_nothing_outside(change: str, left: str | None, time: int, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside.yaml", tmp_path / "inside"
    write(inside, {"a.yaml": FALSE, "gbs.toml": ""})
    outside.write_text(FALSE, "utf-8")
    race = _REPLACE.replace("TIME", str(time)).replace("CHANGE", change.replace("OUTSIDE", repr(str(outside))))
    found = run(inside, "fix", "--fix-declarations", "a.yaml", meanwhile=race)
    assert found.code in (0, 1, 2, 3), found
    assert "Traceback" not in found.out
    assert outside.read_text("utf-8") == FALSE
    assert {each.name for each in inside.iterdir()} - {"a.yaml"} == {"gbs.toml"}
    now = (inside / "a.yaml").read_text("utf-8") if (inside / "a.yaml").is_file() else None
    assert now in (left, GOOD)


def test_fixes_at_the_same_time_write_the_same(tmp_path: Path) -> None:
    write(tmp_path, {**{f"{n}.yaml": FALSE for n in range(9)}, "gbs.toml": ""})
    command = [*PYTHON, "-m", "pytest_gbs", "fix", "--fix-declarations", "."]
    started = [subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(3)]
    ends = [(each.communicate(timeout=120)[1], each.returncode) for each in started]
    said_why = (b"has changed since it was read", b"nothing was written", b"does not hold what is to be replaced")
    assert all(code == 0 or any(why in said for why in said_why) for said, code in ends), ends
    assert {each.read_text("utf-8") for each in tmp_path.glob("*.yaml")} == {GOOD}
    assert len(list(tmp_path.iterdir())) == 10


FILES = {
    "sft.yaml": GOOD,
    "ds.json": '{"train_batch_size": 128, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 4}\n',
    "torchtitan.toml": "# GBS = 64\n[training]\nlocal_batch_size = 8\nglobal_batch_size = 64\nsteps = 1000\n[parallelism]\n",
    "accelerate.yaml": accelerate(8),
    "run.sh": "accelerate launch --config_file accelerate.yaml train.py --config sft.yaml --deepspeed ds.json\n",
    "gbs.lock": 'version = 1\n"sft.yaml" = { global_batch_size = 128, unit = "samples", per_gpu = 16, claim = 128 }\n',
    "README.md": "```bash\ntorchrun --nproc_per_node 8 train.py --config sft.yaml\n```\n",
}
_PARTS = [
    *"{}[]()<>\"'`\\$#&*!|>%@:,;=-+~?\n\t\r 0aé²\x00\ud800\u2028",
    "9" * 40,
    "${",
    "<<: *a",
    "---\n",
    "# GBS = ",
    "&a ",
    "$((",
    "1e999",
]


def _damaged(text: str, chance: random.Random) -> str:
    """`text` with a few parts taken out, doubled, or replaced by what means something to one of the readers."""
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(text) + 1)
        stop = min(len(text), start + chance.choice((0, 1, 2, 10, 40)))
        text = text[:start] + chance.choice((chance.choice(_PARTS), text[start:stop] * 2, "")) + text[stop:]
    return text


@pytest.mark.parametrize("seed", range(6))
def test_damaged_files_are_reported_and_break_nothing(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    tree = WorkTree(tmp_path)
    for _ in range(40):
        damaged = {name: _damaged(text, chance) if chance.random() < 0.5 else text for name, text in FILES.items()}
        locked = {"gbs.lock": Source("gbs.lock", FILES["gbs.lock"])}  # a damaged lock is a usage error of its own
        report = check(OverlayTree(tree, {**damaged, **locked, "good.yaml": GOOD}), (), Settings(), Given())
        assert report.internal == (), damaged
        assert [file.verdict for file in report.files if file.path == "good.yaml"] in (["verified"], ["undetermined"]), damaged
