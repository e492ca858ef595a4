"""Comments beside the settings of a trainer that no table knows."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.settings import Settings
from tests.support import check

LOOP = "for batch in loader:\n    (model(batch) / accum).backward()\n"
SEVERAL = LOOP + "model = torch.nn.parallel.DistributedDataParallel(model)\n"
ONE = LOOP + "# normally distributed, fabricated\nsteps = len(data) / cfg.batch_size / cfg.grad_accum\nprint('a\\nProcess')\n"
DIVIDES = LOOP + "micro = cfg['batch_size'] // cfg['grad_accum']\n"


def reported(folder: Path, text: str, program: str = "") -> list[str]:
    (folder / "train.yaml").write_text(text, encoding="utf-8")
    if program:
        (folder / "train.py").write_text(program, encoding="utf-8")
    report = check(WorkTree(folder), (), Settings(), Given())
    assert not report.internal
    found = report.findings()
    assert all((each.code, each.severity, each.fixes) == ("GBS113", Severity.WARNING, ()) for each in found)
    return [each.message for each in found]


def settings(batch: int, accumulation: int, comment: str) -> str:
    return f"train:\n  lr: 1e-4\n  batch_size: {batch}\n  grad_accum: {accumulation}  # {comment}\n"


SILENT = {
    "one process": settings(4, 8, "effective batch = 32"),
    "several processes": settings(4, 8, "effective batch = 128"),
    "a product": settings(4, 8, "effective batch = 4 x 8 = 32"),
    "GPUs of the comment": settings(4, 8, "4 x 8 x 2 GPUs = 64"),
    "GPUs without a name": settings(4, 8, "effective batch = 4 x 8 x 2 = 64"),
    "GPUs and no accumulation": settings(48, 1, "effective batch = 48 x 4 = 192"),
    "a word for the processes": settings(4, 8, "effective batch = 4 * 8 * num_gpus"),
    "GPUs with their nodes": settings(4, 8, "4 * 8 * 16 GPUs (2 nodes) = 512 effective"),
    "half, on two processes for all that is known": settings(2, 8, "effective batch = 32"),
    "a batch size of all": settings(32, 8, "effective batch = 32"),
    "the micro batches of a batch size of all": settings(64, 8, "micro batch 8 x 8 accumulation = 64"),
    "a batch size of all on the GPUs that are named": settings(8, 3, "effective batch 64 on 8 GPUs"),
    "GPUs that another comment names": "# continues a run on 4 GPUs\n" + settings(4, 16, "effective batch = 4 * 16 = 64"),
    "GPUs of a run that it is compared with": "# effective batch = 4 * 1 * 16 = 64 (same as 4xH100)\n" + settings(4, 16, "micro"),
    "history": settings(8, 8, "trained on an effective batch of 32 before"),
    "advice": settings(8, 8, "for best results use an effective batch of 32"),
    "a change": settings(8, 8, "effective batch 32 -> 64"),
    "another count of the same step": settings(1, 32, "effective batch of 32 windows, about 48 examples per step"),
    "alternatives": settings(4, 8, "effective batch = 4 x accum 16 = 64; effective batch = 4 x accum 8 = 32"),
    "tokens": settings(4, 8, "4 * 8 * 512 = 16,384 tokens/step") + "  seq_len: 512\n",
    "the batch of all too": settings(8, 8, "effective batch = 32") + "  global_batch_size: 32\n",
    "evaluation": "eval:\n  batch_size: 8\n  grad_accum: 8  # effective batch = 32\n",
    "no accumulation": "train:\n  lr: 1e-4\n  batch_size: 8  # effective batch = 32\n",
    "two batches": settings(8, 8, "effective batch = 32") + "  micro_batch_size: 4\n",
    "two mappings": settings(4, 8, "effective batch = 32") + "student:\n  batch_size: 8\n  grad_accum: 8  # effective batch = 64\n",
    "text": "train:\n  lr: 1e-4\n  batch_size: '8'\n  grad_accum: 8  # effective batch = 32\n",
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_may_be_true_stays_silent(tmp_path: Path, text: str) -> None:
    assert reported(tmp_path, text) == []


FIRING = {
    "more than the comment": (
        settings(8, 8, "effective batch = 32"),
        "comment says 32, but the settings give 64 x GPUs: no number of GPUs gives 32",
    ),
    "no whole number of processes": (
        settings(6, 8, "effective batch = 64"),
        "comment says 64, but the settings give 48 x GPUs: no number of GPUs gives 64",
    ),
    "a product without room": (settings(4, 4, "effective batch = 4 x 8 = 32"), "comment says accumulation 8, but train.grad_accum is 4"),
    "a named factor": (settings(4, 4, "batch 4 x 8 accumulation = 32"), "comment says accumulation 8, but train.grad_accum is 4"),
    "false arithmetic": (settings(4, 8, "effective batch = 4 x 8 = 64"), "comment says 4 x 8 = 64, but the product is 32"),
    "tokens": (
        settings(8, 8, "16,384 tokens/step") + "  seq_len: 512\n",
        "comment says 16,384 tokens, but the settings give 32,768 x GPUs: no number of GPUs gives 16,384 tokens",
    ),
    "beside a true count of something else": (
        "# micro_batch=4 * seq_len=512 = 2,048 tokens per step\n# grad_accum=16 -> effective batch = 64 * 512 = 32,768 tokens\n"
        "batch_size: 4\ngrad_accum: 8\n",
        "comment says accumulation 16, but grad_accum is 8",
    ),
    "GPUs with their nodes": (
        settings(8, 1, "16 * 1 * 8 GPUs (1 node) = 128 effective"),
        "comment says 128, but the settings give 64",
    ),
    "above": (
        "# effective batch = 32\nbatch_size: 8\ngrad_accum_steps: 8\n",
        "comment says 32, but the settings give 64 x GPUs: no number of GPUs gives 32",
    ),
    "in two mappings": (
        "data:\n  batch_size: 8\ntrain:\n  gradient_accumulation_steps: 8  # effective batch = 32\n",
        "comment says 32, but the settings give 64 x GPUs: no number of GPUs gives 32",
    ),
}


@pytest.mark.parametrize(("text", "message"), FIRING.values(), ids=FIRING)
def test_what_no_number_of_processes_gives_is_reported(tmp_path: Path, text: str, message: str) -> None:
    assert reported(tmp_path, text) == [message]


@pytest.mark.parametrize("program", [LOOP, ONE])
def test_a_program_without_a_word_for_several_processes_is_one(tmp_path: Path, program: str) -> None:
    assert reported(tmp_path, settings(2, 8, "effective batch = 32"), program) == ["comment says 32, but the settings give 16"]


def test_what_a_program_does_not_divide_is_not_a_batch_of_all(tmp_path: Path) -> None:
    assert reported(tmp_path, settings(32, 2, "effective batch = 32"), LOOP) == ["comment says 32, but the settings give 64"]


@pytest.mark.parametrize("program", [SEVERAL, DIVIDES, "print('evaluates')\n"])
def test_a_program_that_may_do_otherwise_says_nothing(tmp_path: Path, program: str) -> None:
    assert reported(tmp_path, settings(2, 8, "effective batch = 32"), program) == []
    assert reported(tmp_path, settings(32, 2, "effective batch = 32"), program) == []


def test_toml_is_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "train.toml").write_text("[train]\nbatch_size = 8\naccum_steps = 8  # effective batch = 32\n", encoding="utf-8")
    report = check(WorkTree(tmp_path), (), Settings(), Given())
    assert [each.code for each in report.findings()] == ["GBS113"]


PROGRAMS = {
    "fields": "class Config:\n    batch_size: int = 8\n    grad_accum: int = 8  # effective batch = 32\n",
    "names": "BATCH_SIZE = 8\nSEED = 1\nGRAD_ACCUM_STEPS = 8  # effective batch = 32\n",
    "names of a function": "def main():\n    batch_size = 8\n    accum_steps = 8  # effective batch = 32\n",
    "items": 'config = {\n    "batch_size": 8,\n    "grad_accum": 8,  # effective batch = 32\n}\n',
    "arguments": "config = Config(\n    batch_size=8,\n    grad_accum=8,  # effective batch = 32\n)\n",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_numbers_of_a_program_are_read_where_they_have_names(tmp_path: Path, text: str) -> None:
    assert said_of(tmp_path, text) == ["comment says 32, but the settings give 64 x GPUs: no number of GPUs gives 32"]
    assert said_of(tmp_path, text.replace("8", "4", 1)) == []


QUIET = {
    "in two functions": "def train():\n    batch_size = 8\n\n\ndef main():\n    grad_accum = 8  # effective batch = 32\n",
    "bound again": PROGRAMS["names"] + "if debug:\n    BATCH_SIZE = 4\n",
    "computed": "class Config:\n    batch_size: int = 2 * 4\n    grad_accum: int = 8  # effective batch = 32\n",
    "a comment of a function": "BATCH_SIZE = 8\nGRAD_ACCUM_STEPS = 8\n\n\ndef main():\n    run()  # effective batch = 32\n",
    "no syntax": PROGRAMS["fields"] + "def\n",
    "a recipe of a table": "from trl import SFTConfig\nargs = SFTConfig(per_device_train_batch_size=8)\n" + PROGRAMS["names"],
}


@pytest.mark.parametrize("text", QUIET.values(), ids=QUIET)
def test_numbers_that_may_be_others_say_nothing(tmp_path: Path, text: str) -> None:
    assert said_of(tmp_path, text) == []


def said_of(folder: Path, program: str) -> list[str]:
    (folder / "train.py").write_text(program, encoding="utf-8")
    report = check(WorkTree(folder), (), Settings(), Given())
    assert not report.internal
    return [each.message for each in report.findings() if each.code == "GBS113"]


def test_a_comment_silences_it_in_a_program_too(tmp_path: Path) -> None:
    text = PROGRAMS["names"].replace("batch = 32", "batch = 32  gbs: ignore[GBS113]")
    assert said_of(tmp_path, text) == []


CALL = "args = TrainingArguments(\n    per_device_train_batch_size={},\n    gradient_accumulation_steps=8,  # effective batch size 16\n)\n"
CONFIGURATION = "per_device_train_batch_size: {}\ngradient_accumulation_steps: 8  # effective batch size of 16\n"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        pytest.param("python", CALL, id="a call"),
        pytest.param("yaml", CONFIGURATION, id="a configuration"),
        pytest.param("yml", f"train:\n  lr: 1\n{CONFIGURATION}", id="beside other settings"),
    ],
)
def test_code_blocks_of_documents_are_read(tmp_path: Path, language: str, text: str) -> None:
    def said(batch: object, heading: str = "# Settings") -> list[str]:
        block = f"{heading}\n\nLike this:\n\n```{language}\n{text.format(batch)}```\n"
        (tmp_path / "README.md").write_text(block, encoding="utf-8")
        report = check(WorkTree(tmp_path), (), Settings(), Given())
        assert not report.internal
        return [f"{each.code} {each.at.start - block.index('16')}: {each.message}" for each in report.findings()]

    assert said(4) == ["GBS113 0: comment says 16, but the settings give 32 x GPUs: no number of GPUs gives 16"]
    assert said(2) == []
    assert said(1) == []  # on two GPUs
    assert said("BATCH") == []


def test_other_code_blocks_and_prose_are_not_settings(tmp_path: Path) -> None:
    text = CONFIGURATION.format(4)
    (tmp_path / "README.md").write_text(f"```text\n{text}```\n\n```\n{text}```\n\n{text}\n```yaml\n- [\n{text}", encoding="utf-8")
    report = check(WorkTree(tmp_path), (), Settings(), Given())
    assert not report.findings() and not report.internal
