"""Thousands of real configurations: no crash, no cry of wolf, and what was worked out by hand is what comes out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_gbs.core.quantity import Quantity
from pytest_gbs.core.report import FileReport, Role, Verdict
from tests.corpus.laid_out import report_on, repositories
from tests.corpus.sensitivity import changes
from tests.corpus.snapshot import FILE, summary
from tests.support import corpus

# Rows of the ground truth that a recipe file of the frameworks known so far decides by itself.
KNOWN = ("huggingface__alignment-handbook", "allenai__open-instruct", "huggingface__open-r1")


def file_of(path: str) -> FileReport:
    """Return the report on one file of the corpus, `files/OWNER__NAME/path`."""
    part, name, inner = path.split("/", 2)
    return next(file for file in report_on(corpus() / part / name).files if file.path == inner)


def test_no_rule_crashes_on_any_file() -> None:
    internal = [line for part in ("files", "negatives") for folder in repositories(part) for line in report_on(folder).internal]
    assert internal == []


def test_what_is_no_recipe_has_no_finding() -> None:
    found = [(folder.name, finding) for folder in repositories("negatives") for finding in report_on(folder).findings()]
    assert found == []


def test_the_corpus_is_as_it_was_read() -> None:
    assert summary() == json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("recipes/smollm3/sft/sft.yaml", 128),
        ("recipes/smollm3/sft/mid.yaml", 128),
        ("recipes/smollm3/dpo/apo.yaml", 32),
    ],
)
def test_the_alignment_handbook_is_verified(path: str, wanted: int) -> None:
    file = file_of(f"files/huggingface__alignment-handbook/{path}")
    size = file.runs[0].geometry.get("global_batch_size")
    assert (file.verdict, size.value if isinstance(size, Quantity) else None) == (Verdict.VERIFIED, wanted)


def test_the_alignment_handbook_reads_three_verified_and_nineteen_unclaimed() -> None:
    report = report_on(corpus() / "files" / "huggingface__alignment-handbook")
    verdicts = [file.verdict for file in report.recipes()]
    assert (verdicts.count(Verdict.VERIFIED), verdicts.count(Verdict.UNCLAIMED), len(verdicts)) == (3, 19, 22)
    assert report.findings() == ()


@pytest.mark.parametrize(
    "name",
    ["alignment-handbook", "open-r1", "trl", "open-instruct", "smollm", "NVIDIA__NeMo", "HALOs", "NVIDIA-NeMo__RL"],
)
def test_a_first_run_has_few_warnings(name: str) -> None:
    folders = [folder for folder in repositories("files") if folder.name.endswith(name)]
    assert folders
    assert sum(len(report_on(folder).findings("warning")) for folder in folders) <= 2


def ground_truth() -> list[dict[str, str]]:
    with (corpus() / "GROUND_TRUTH.tsv").open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream, delimiter="\t") if row["path"].split("/")[1] in KNOWN]


def test_what_was_worked_out_by_hand_comes_out() -> None:
    wrong = []
    rows = [row for row in ground_truth() if row["path"].startswith("files/") and (corpus() / row["path"]).exists()]
    for row in rows:
        file = file_of(row["path"])
        wanted = _wanted(row)
        if wanted is not None and (file.verdict, _batch(file)) != wanted:
            wrong.append((row["path"], file.verdict, _batch(file), wanted))
    assert len(rows) >= 10
    assert wrong == []


def _wanted(row: dict[str, str]) -> tuple[str, int] | None:
    """Return the verdict and the global batch of a row; None where its claim is not in the file."""
    if row["verdict"] == "undeterminable":
        return None
    if not row["declared_gbs"]:
        return Verdict.UNCLAIMED, int(row["computed_gbs"])
    return (Verdict.VERIFIED if row["verdict"] == "agree" else Verdict.VIOLATED), int(row["computed_gbs"])


def _batch(file: FileReport) -> int | None:
    size = file.runs[0].geometry.get("global_batch_size")
    return size.value if isinstance(size, Quantity) else None


def test_every_operand_that_changes_is_found() -> None:
    every = [change for folder in repositories("files") for change in changes(folder, report_on(folder))]
    missed = [(change.path, change.name, change.old, change.new, change.verdict) for change in every if not change.found]
    assert len(every) >= 400
    assert missed == []


def labelled() -> list[tuple[Path, str]]:
    with (corpus() / "MANIFEST.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [(row["path"], row["framework"]) for row in csv.DictReader(stream, delimiter="\t")]
    return [(Path(path), label) for path, label in rows if path.startswith("files/") and (corpus() / path).exists()]


def test_recipes_of_this_family_are_recognised() -> None:
    of_family = [path for path, label in labelled() if label in ("alignment-handbook", "trl")]
    roles = {path: file_of(path.as_posix()).role for path in of_family if "tests/fixtures" not in path.as_posix()}
    missed = [path.as_posix() for path, role in roles.items() if role != Role.RECIPE]
    # Two nested trees of Open-Assistant's own trainer, a Kubernetes ConfigMap around a recipe, and a table of TRL's test results.
    assert len(missed) <= 4
    assert len(of_family) >= 240
