"""Many files shared out among processes: the report is that of one process, whatever becomes of the others.

All of it runs in processes of its own: where other threads run, as in a test run that is itself shared out, nothing is forked off.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import write

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked off here")

_RECIPE = """\
# Config for {nodes} nodes of 8 GPUs with GBS 128{more}
model_name_or_path: m
max_length: 8
per_device_train_batch_size: 4
"""


def _many() -> dict[str, str]:
    """More recipes than one process checks alone: verified, stale, silenced, unreadable, and one that a script launches."""
    return {
        **{f"recipes/good-{number}.yaml": _RECIPE.format(nodes=4, more="") for number in range(300)},
        **{f"recipes/stale-{number}.yaml": _RECIPE.format(nodes=2, more="") for number in range(20)},
        "recipes/silent.yaml": _RECIPE.format(nodes=2, more="  # gbs: ignore[GBS101] known"),
        "recipes/idle.yaml": _RECIPE.format(nodes=4, more="  # gbs: ignore[GBS101] nothing to ignore"),
        "recipes/broken.yaml": "model_name_or_path: m\ndataset_name: d\nper_device_train_batch_size: [\n",
        "train.sh": "torchrun --nproc_per_node 8 trl/scripts/sft.py --config recipes/good-7.yaml\n",
        "unread.sh": "\0torchrun --nproc_per_node 8 trl/scripts/sft.py --config recipes/good-8.yaml\n",
        "pyproject.toml": "",
    }


def _run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], cwd=root, capture_output=True, text=True, check=False, timeout=120)


def test_the_report_is_that_of_one_process(tmp_path: Path) -> None:
    write(tmp_path, _many())
    alone, shared = (_run(tmp_path, "-m", "pytest_gbs", "check", "--format", "json", "--jobs", jobs) for jobs in ("1", "3"))
    assert alone.returncode == shared.returncode == 1
    assert alone.stderr == shared.stderr == ""
    assert json.loads(alone.stdout) == json.loads(shared.stdout)
    codes = [finding["code"] for file in json.loads(shared.stdout)["files"] for finding in file["findings"]]
    assert sorted(codes) == ["GBS001", "GBS007", *["GBS101"] * 20, "GBS301", "GBS901"]


_IMPORT = "from pytest_gbs.checking.worker_pool import WorkerPool"
_FILES = "[str(number) for number in range(1_000)]"


def test_each_file_is_taken_once(tmp_path: Path) -> None:
    code = f"{_IMPORT}; crew = WorkerPool({_FILES}, list, 3); print(list(crew.taken()), *crew.results()); crew.close()"
    done = _run(tmp_path, "-c", code)
    assert done.stderr == ""
    lists = json.loads("[" + done.stdout.strip().replace("'", '"').replace("] [", "], [") + "]")
    assert len(lists) == 3
    assert sorted(int(number) for each in lists for number in each) == list(range(1_000))


@pytest.mark.parametrize(
    "work",
    [
        pytest.param("lambda paths: 1 / 0", id="raises"),
        pytest.param("lambda paths: next(paths) and os.kill(os.getpid(), 9)", id="killed"),
        pytest.param("lambda paths: lambda: 0", id="brings what can't be sent"),
        pytest.param("lambda paths: print('seen') or sys.exit(5)", id="writes and exits"),
    ],
)
def test_who_fails_brings_nothing_and_says_nothing(tmp_path: Path, work: str) -> None:
    code = f"import os, sys; {_IMPORT}; crew = WorkerPool({_FILES}, {work}, 3); print(list(crew.results())); crew.close()"
    done = _run(tmp_path, "-c", code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_what_is_lost_with_a_process_is_done_by_the_one_that_is_left(tmp_path: Path) -> None:
    write(tmp_path, _many())
    code = (
        "import os, sys\n"
        "from pytest_gbs.checking import worker_pool\n"
        "from pytest_gbs.cli import main\n"
        "worker_pool.pickle.dump = lambda *_: os._exit(9)\n"
        "sys.exit(main(['check', '--format', 'json', '--jobs', '3']))\n"
    )
    lost = _run(tmp_path, "-c", code)
    alone = _run(tmp_path, "-m", "pytest_gbs", "check", "--format", "json", "--jobs", "1")
    assert lost.returncode == 1
    assert json.loads(lost.stdout) == json.loads(alone.stdout)


def test_closing_sends_home_who_is_still_at_work(tmp_path: Path) -> None:
    code = f"import time; {_IMPORT}; crew = WorkerPool({_FILES}, lambda _: time.sleep(600), 3); crew.close(); print('closed')"
    assert _run(tmp_path, "-c", code).stdout == "closed\n"


def test_beside_a_thread_nothing_is_forked_off(tmp_path: Path) -> None:
    code = (
        "import os, threading, time\n"
        "from pytest_gbs.checking.worker_pool import WorkerPool\n"
        "threading.Thread(target=time.sleep, args=(2,), daemon=True).start()\n"
        f"crew = WorkerPool({_FILES}, list, 3)\n"
        "print(len(list(crew.taken())), list(crew.results()))\n"
        "crew.close()\n"
    )
    assert _run(tmp_path, "-c", code).stdout == "1000 []\n"
