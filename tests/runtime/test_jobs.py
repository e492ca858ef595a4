"""Real trainings on the CPU, of one process and of two: those of another batch stop before their first step.

They need the libraries of the extra `jobs`; without them there is nothing to run.
"""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.runtime.starting import started

JOB = Path(__file__).with_name("job.py")
RIGHT = 2 * 4  # micro batch x accumulation of one rank
missing = [name for name in ("torch", "transformers", "accelerate", "lightning") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")
with_deepspeed = pytest.mark.skipif(find_spec("deepspeed") is None, reason="not installed: deepspeed")


def run(processes: int, *words: str) -> list[tuple[int, str]]:
    """The steps that each process made, and what stopped it."""
    done = started(processes, JOB, *words)
    found = re.findall(r"(?m)steps (\d+) \[(.*?)\]$", done.stdout)
    assert len(found) == processes, done.stdout + done.stderr
    return [(int(steps), stopped) for steps, stopped in found]


@pytest.mark.parametrize(
    ("processes", "library", "words"),
    [
        pytest.param(1, "transformers", [], id="transformers"),
        pytest.param(1, "transformers", ["flat=1"], id="a flattened batch has one row in its tensors"),
        pytest.param(1, "transformers", ["workers=2"], id="rows collated by other processes"),
        pytest.param(2, "transformers", [], id="transformers on two ranks"),
        pytest.param(2, "transformers", ["dispatch_batches=1"], id="rows dispatched by one rank"),
        pytest.param(1, "lightning", [], id="lightning"),
        pytest.param(2, "lightning", ["devices=2"], id="lightning on two ranks"),
        pytest.param(2, "accelerate", [], id="accelerate on two ranks"),
        pytest.param(4, "accelerate", [], id="accelerate on four ranks"),
        pytest.param(2, "deepspeed", [], id="deepspeed on two ranks", marks=with_deepspeed),
        pytest.param(4, "deepspeed", ["stage=2"], id="deepspeed on four ranks that share the gradients", marks=with_deepspeed),
        pytest.param(1, "torch", [], id="torch"),
    ],
)
def test_a_job_of_the_expected_batch_trains(tmp_path: Path, processes: int, library: str, words: list[str]) -> None:
    found = run(processes, library, str(RIGHT * processes), f"folder={tmp_path}", *words)
    assert all(steps > 0 and not stopped for steps, stopped in found)


@pytest.mark.parametrize(
    ("processes", "library", "rows", "words", "message"),
    [
        pytest.param(1, "transformers", 16, [], "should be 16, but the first optimizer step trains on 8 rows", id="transformers"),
        pytest.param(2, "transformers", 16, ["split_batches=1"], "trains on 8 rows = 1 micro x 4 accumulation x 2", id="split batches"),
        pytest.param(2, "lightning", 8, ["devices=2"], "trains on 16 rows = 2 micro x 4 accumulation x 2", id="lightning"),
        pytest.param(2, "lightning", 16, ["devices=2", "same_rows=1"], "16 rows on 2 ranks, 8 of them different", id="the same rows twice"),
        pytest.param(2, "accelerate", 8, [], "trains on 16 rows = 2 micro x 4 accumulation x 2", id="accelerate"),
        pytest.param(4, "accelerate", 16, [], "trains on 32 rows = 2 micro x 4 accumulation x 4", id="accelerate on four ranks"),
        pytest.param(2, "deepspeed", 8, [], "trains on 16 rows = 2 micro x 4 accumulation x 2", id="deepspeed", marks=with_deepspeed),
        pytest.param(
            4,
            "deepspeed",
            16,
            ["stage=2"],
            "trains on 32 rows = 2 micro x 4 accumulation x 4",
            id="deepspeed, shared",
            marks=with_deepspeed,
        ),
        pytest.param(1, "torch", 64, [], "trains on 8 rows", id="torch"),
    ],
)
def test_a_job_of_another_batch_stops_before_its_first_step(
    tmp_path: Path, processes: int, library: str, rows: int, words: list[str], message: str
) -> None:
    for steps, stopped in run(processes, library, str(rows), f"folder={tmp_path}", *words):
        assert steps == 0
        assert message in stopped


def test_a_warning_lets_it_train_and_the_record_says_what_ran(tmp_path: Path) -> None:
    ((steps, stopped),) = run(1, "transformers", "16", f"folder={tmp_path}", "warn=1", f"record={tmp_path}/run.json")
    assert (steps, stopped) == (2, "")
    found = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert (found["expected"], found["global_batch_size"], found["rows"], found["micro_batches"]) == (16, 8, [8], [4])
