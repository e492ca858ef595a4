"""Silencing findings by comments: behind the line, with other codes, or above it."""

import pytest

from tests.fixes.memory import ignored, recipe, text

HEADER = "Config for 2 nodes of 8 x H100s with GBS 128"
STALE = recipe(4, 4, HEADER)


@pytest.mark.parametrize("before", [recipe(4, 2, HEADER), recipe(4, 2), "a: [\n", "a: 1\n"], ids=["fine", "unclaimed", "broken", "other"])
def test_nothing_to_silence_changes_nothing(before: str) -> None:
    assert ignored({"sft.yaml": before}).files == {}


@pytest.mark.parametrize(("reason", "words"), [("", ""), ("the  paper's\nbatch", " the paper's batch")], ids=["no reason", "a reason"])
def test_the_comment_is_written_behind_the_line(reason: str, words: str) -> None:
    found = ignored({"sft.yaml": STALE}, reason)
    assert text(found, STALE) == STALE.replace("GBS 128", f"GBS 128  # gbs: ignore[GBS101]{words}")
    assert found.report.findings() == ()


def test_line_ends_stay() -> None:
    before = STALE.replace("\n", "\r\n")
    assert text(ignored({"sft.yaml": before}), before) == before.replace("GBS 128", "GBS 128  # gbs: ignore[GBS101]")


def test_a_second_time_changes_nothing() -> None:
    after = text(ignored({"sft.yaml": STALE}), STALE)
    assert ignored({"sft.yaml": after}).files == {}


def test_another_rule_joins_a_comment_that_is_there() -> None:
    before = recipe(4, 4, f"{HEADER}  # gbs: ignore[GBS104] an old one")
    found = ignored({"sft.yaml": before})
    assert text(found, before) == before.replace("[GBS104]", "[GBS104, GBS101]")


def test_json_holds_no_comments() -> None:
    # 4 x 2 does not divide 100.
    sizes = '"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": 2'
    found = ignored({"ds.json": f'{{{sizes}, "zero_optimization": {{"stage": 1}}}}'})
    assert (found.files, found.refused) == ({}, ())


@pytest.mark.parametrize("last", [True, False], ids=["in its last line", "in its middle"])
def test_no_comment_cuts_a_command_short(last: bool) -> None:
    lines = ["accelerate launch --num_processes 4 train.py \\", "  --gradient_accumulation_steps 4", "  --config sft.yaml"]
    ordered = [lines[0], lines[2] + " \\", lines[1]] if last else [lines[0], lines[1] + " \\", lines[2]]
    script = "\n".join(["#!/bin/bash", *ordered, ""])
    found = ignored({"sft.yaml": recipe(4, 4, "Config for 1 node of 8 GPUs with GBS 128"), "run.sh": script})
    comment = "# gbs: ignore[GBS301]"
    expected = f"{script[:-1]}  {comment}\n" if last else script.replace("accelerate", f"{comment}\naccelerate")
    assert text(found, script, "run.sh") == expected
