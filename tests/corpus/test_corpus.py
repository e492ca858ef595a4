"""Thousands of real configurations: no crash, no cry of wolf, and what was worked out by hand is what comes out."""

import csv
import json

import pytest

from pytest_gbs.model.report import FileReport, Verdict
from tests.corpus.laid_out import report_on, repositories
from tests.corpus.sensitivity import changes
from tests.corpus.snapshot import FILE, summary
from tests.support import corpus

# Rows of the ground truth that the file by itself does not decide, and why.
NOT_BY_ITSELF = {
    "stepfun/step_3.5_flash_hellaswag_pp.yaml": "what disagrees is the hardware of its `ci:`, a launch of kind test, which judges no claim",
    "HALOs/config/model/base_model.yaml": "a part of a Hydra tree; launch.py, which composes it, is not in the corpus",
    "checkpointless_llama3_70b_lora.yaml": "a kind of HyperPod's recipes without a table",
    "zephyr-7b-beta/dpo/config_full.yaml": "the claim is in a paper",
}


def file_of(path: str) -> FileReport:
    """The report on one file of the corpus, `files/OWNER__NAME/path`."""
    part, name, inner = path.split("/", 2)
    return next(file for file in report_on(corpus() / part / name).files if file.path == inner)


def test_no_rule_crashes_on_any_file() -> None:
    internal = [line for part in ("files", "negatives") for folder in repositories(part) for line in report_on(folder).internal]
    assert internal == []


def test_what_is_not_a_recipe_has_no_finding() -> None:
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
    assert (file.verdict, _batch(file)) == (Verdict.VERIFIED, wanted)


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
    assert sum(len({finding.at.source for finding in report_on(folder).findings("warning")}) for folder in folders) <= 2


def ground_truth() -> list[dict[str, str]]:
    """The rows of the ground truth whose files are here and decide them."""
    with (corpus() / "GROUND_TRUTH.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter="\t") if row["path"].startswith("files/")]
    return [row for row in rows if (corpus() / row["path"]).exists() and not any(row["path"].endswith(part) for part in NOT_BY_ITSELF)]


# What a row of the ground truth may come to: a recipe that states no number is verified where its framework asks something of it.
VERDICTS = {
    "agree": (Verdict.VERIFIED, Verdict.UNCLAIMED),
    "DISAGREE": (Verdict.VIOLATED, Verdict.WARNED),
    "undeterminable": (Verdict.UNDETERMINED, Verdict.UNCLAIMED),
}
# Claims that are not in the file: a README makes them for it, or they are the key of the batch itself.
ELSEWHERE = ("pythia", "llemma", "20B.yml", "qwq_32b_squad_peft.yaml")


def test_what_was_worked_out_by_hand_comes_out() -> None:
    rows = ground_truth()
    wrong = []
    for row in rows:
        file = file_of(row["path"])
        size = row["computed_gbs"].split()[0] if row["computed_gbs"] else ""
        wanted = int(size) if size.isdecimal() and row["verdict"] != "undeterminable" else None
        verdicts = VERDICTS[row["verdict"]]
        states = row["declared_gbs"] and row["verdict"] == "agree" and not any(part in row["path"] for part in ELSEWHERE)
        if file.verdict not in (verdicts[:1] if states else verdicts) or (wanted is not None and _batch(file) != wanted):
            wrong.append((row["path"], file.verdict, _batch(file), row["verdict"], wanted))
    assert len(rows) >= 40
    assert wrong == []


def _batch(file: FileReport) -> int | None:
    return file.runs[0].geometry.global_batch_size


# Changes after which the claim still holds as it is written, by file, size, and the new number.
STILL_TRUE = {
    ("examples/asr/conf/carnelinet/carnelinet_384.yaml", "micro_batch_size", 33): "1k, and 33 x 32 = 1,056 is about as much",
    ("examples/asr/conf/carnelinet/carnelinet_384.yaml", "world_size", 33): "1k, and 32 x 33 = 1,056 is about as much",
    ("text/pretraining/smollm1/config_smollm1_135M.yaml", "sequence_length", 2049): "1M tokens: 512 x 2,049 = 1,049,088",
    ("text/pretraining/smollm1/config_smollm1_1B.yaml", "sequence_length", 2049): "2.1M tokens: 1,024 x 2,049 = 2,098,176",
    (
        "fast_llm_external_models/apriel2/examples/train_supernet_qwen2.yaml",
        "sequence_length",
        4097,
    ): "~65k tokens: 16 x 4,097 = 65,552",
    ("src/experimental/configs/projects/zephyr/sft/qlora_train.yaml", "micro_batch_size", 8): "64=4x2x(8), whose factors have no names",
}


def test_every_operand_that_changes_is_found() -> None:
    every = [change for folder in repositories("files") for change in changes(folder, report_on(folder))]
    missed = {(change.path, change.name, change.new) for change in every if not change.found}
    assert len(every) >= 400
    assert missed == STILL_TRUE.keys()
