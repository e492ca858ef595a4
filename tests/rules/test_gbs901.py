from pathlib import Path

import pytest

from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Applicability, Edit, Severity
from pytest_gbs.model.rule import Example
from pytest_gbs.model.suppression import Suppression
from pytest_gbs.rules.gbs901_unused_suppression import check
from tools.examples import check_example

from .building import only

AT = Location("sft.yaml", 10, 35)
REMOVAL = Edit(Location("sft.yaml", 8, 35), "  # gbs: ignore[GBS101]", "")


def test_nothing_unused_has_no_outcome() -> None:
    assert list(check(())) == []


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        pytest.param(("GBS101",), "no finding of GBS101 here to ignore", id="one code"),
        pytest.param(("GBS101", "GBS104"), "no finding of GBS101 or GBS104 here to ignore", id="two codes"),
        pytest.param(("no-such-rule",), "no finding of no-such-rule here to ignore", id="no rule"),
    ],
)
def test_an_unused_suppression_warns_and_can_be_removed(codes: tuple[str, ...], message: str) -> None:
    found = only(list(check((Suppression(AT, codes, removal=REMOVAL),))))
    assert (found.message, found.severity, found.at) == (message, Severity.WARNING, AT)
    (fix,) = found.fixes
    assert (fix.applicability, fix.edits) == (Applicability.SAFE, (REMOVAL,))


def test_a_suppression_without_brackets_is_left_to_its_author() -> None:
    found = only(list(check((Suppression(AT, removal=REMOVAL),))))
    assert found.message == "a suppression without a rule in brackets ignores nothing"
    assert found.fixes == ()


def test_a_suppression_without_the_reason_that_the_settings_ask_for_is_left_to_its_author() -> None:
    found = only(list(check((Suppression(AT, ("GBS101",), removal=REMOVAL, refused=True),))))
    assert found.message == "a suppression without a reason ignores nothing here: the settings ask for one"
    assert found.fixes == ()


def test_a_suppression_for_the_whole_file_says_so() -> None:
    found = only(list(check((Suppression(AT, ("GBS101",), removal=REMOVAL, whole_file=True),))))
    assert found.message == "no finding of GBS101 in this file to ignore"


def test_each_unused_suppression_is_a_finding() -> None:
    assert len(list(check((Suppression(AT, ("GBS101",)), Suppression(AT))))) == 2


RECIPE = """\
# global batch size: {batch} on 8 GPUs
model_name_or_path: my/model
dataset_name: my/dialogues
per_device_train_batch_size: 4
gradient_accumulation_steps: 4{comment}
"""


def codes(batch: int, comment: str, folder: Path) -> list[str]:
    report = check_example(Example((("sft.yaml", RECIPE.format(batch=batch, comment=comment)),)), folder)
    return [finding.code for finding in report.findings()]


@pytest.mark.parametrize(
    "comment",
    [
        pytest.param("  # gbs: ignore[GBS101] the paper's", id="a code"),
        pytest.param("  # gbs: ignore[stale-declaration] the paper's", id="a name"),
        pytest.param("  # tuned  # gbs: ignore[GBS101]", id="behind another comment"),
    ],
)
def test_a_suppression_at_work_is_not_reported(comment: str, tmp_path: Path) -> None:
    assert codes(64, comment, tmp_path) == []


@pytest.mark.parametrize(
    ("batch", "comment", "found"),
    [
        pytest.param(128, "  # gbs: ignore[GBS101]", ["GBS901"], id="nothing to ignore"),
        pytest.param(64, "  # gbs: ignore[GBS002]", ["GBS101", "GBS901"], id="another rule"),
        pytest.param(64, "  # gbs: ignore[GBS101, GBS002]", ["GBS901"], id="one of two codes is unused"),
        pytest.param(64, "  # gbs: ignore", ["GBS101", "GBS901"], id="no brackets"),
        pytest.param(128, "  # gbs: ignore[]", ["GBS901"], id="empty brackets"),
        pytest.param(128, "  # gbs: ignore[no-such-rule]", ["GBS901"], id="no rule"),
    ],
)
def test_a_suppression_that_ignores_nothing_is_reported(batch: int, comment: str, found: list[str], tmp_path: Path) -> None:
    assert sorted(codes(batch, comment, tmp_path)) == found


@pytest.mark.parametrize(
    "comment",
    [
        pytest.param("  # gbs: ignored by the launcher", id="prose with a word that is a letter away"),
        pytest.param("  # gbs: note that the launcher decides", id="prose"),
        pytest.param("  # gbs: micro[4] x ranks[8] x 4", id="brackets without a rule"),
        pytest.param("  # noqa: GBS101", id="another tool's comment"),
        pytest.param("  # see GBS301", id="a rule is mentioned"),
        pytest.param("  # GBS101 is right: the header is the paper's", id="a rule starts a sentence"),
    ],
)
def test_what_only_looks_like_our_comment_is_neither_reported_nor_a_claim(comment: str, tmp_path: Path) -> None:
    assert codes(128, comment, tmp_path) == []


@pytest.mark.parametrize(
    ("comment", "written", "meant"),
    [
        pytest.param("  # gbs: ignroe[GBS101]", "ignroe", "ignore", id="letters swapped"),
        pytest.param("  # gbs: ignores[GBS101] why", "ignores", "ignore", id="a letter too many"),
        pytest.param("  # gbs: noqa[GBS101]", "noqa", "ignore", id="another tool's word"),
        pytest.param("  # gbs: disable[stale-declaration]", "disable", "ignore", id="a rule by its name"),
        pytest.param("  # gbs: ignore-file[GBS101]", "ignore-file", "file-ignore", id="the wrong way round"),
        pytest.param("  # gbs: not-a-clam", "not-a-clam", "not-a-claim", id="the marker of a claim"),
    ],
)
def test_a_misspelt_comment_is_reported_with_what_was_meant(comment: str, written: str, meant: str, tmp_path: Path) -> None:
    report = check_example(Example((("sft.yaml", RECIPE.format(batch=128, comment=comment)),)), tmp_path)
    found = only(list(report.findings()))
    assert found.code == "GBS901"
    assert found.message == f"gbs: {written} is not a gbs comment and has no effect; did you mean gbs: {meant}?"
    ((edit,),) = (fix.edits for fix in found.fixes)
    assert (edit.expected, edit.replacement) == (written, meant)


def test_a_misspelt_comment_silences_nothing(tmp_path: Path) -> None:
    assert sorted(codes(64, "  # gbs: ignroe[GBS101]", tmp_path)) == ["GBS101", "GBS901"]
