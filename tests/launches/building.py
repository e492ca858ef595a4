"""Repositories of a few files, checked as `gbs check` would."""

from pathlib import Path

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.support import check

KEYS = "model_name_or_path: my/model\ndataset_name: my/data\nlearning_rate: 1.0e-5\nmax_length: 4096\n"
CLAIM = "# Config for 1 node of 8 GPUs with GBS 128\n"
TYPED = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmachine_rank: 0\nmixed_precision: bf16\n"
# What takes the arguments of the Trainer of transformers from its command line, and trains.
TRAINS = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments

(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
Trainer(args=args).train()
"""


def recipe(micro: int = 4, accumulation: int = 4, comment: str = CLAIM) -> str:
    """An SFT recipe; by default 4 x 4 x 8 = 128, as it claims."""
    return f"{comment}{KEYS}per_device_train_batch_size: {micro}\ngradient_accumulation_steps: {accumulation}\n"


def accelerate(processes: int, machines: int = 1) -> str:
    """A launcher file of accelerate."""
    return f"{TYPED}num_machines: {machines}\nnum_processes: {processes}\n"


def checked(folder: Path, files: dict[str, str], *targets: str, settings: Settings | None = None) -> Report:
    """The report on `targets` (all of it where none is given) of a repository that holds `files`."""
    tree = WorkTree(write(folder, files), named=frozenset(targets))
    return check(tree, targets, settings or Settings(), Given(), keep_runs=True)


def launched(report: Report) -> list[Run]:
    """The runs of launches, in the order of the report."""
    return [run for file in report.files for run in file.runs if run.launch is not None]


def titled_batches(report: Report) -> list[tuple[str, int | None]]:
    """The framework and the global batch size of each launch."""
    return [(run.framework.title, run.geometry.global_batch_size) for run in launched(report)]


def batches(report: Report) -> list[int | None]:
    """The global batch size of each launch."""
    return [run.geometry.global_batch_size for run in launched(report)]


def codes(report: Report) -> list[str]:
    """The codes of all findings."""
    return [finding.code for finding in report.findings()]


def file(report: Report, path: str) -> FileReport:
    """What is reported the file at `path`."""
    return next(each for each in report.files if each.path == path)


def only(report: Report) -> Finding:
    """The one finding."""
    (finding,) = report.findings()
    return finding
