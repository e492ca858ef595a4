"""Fixing a recipe that was in order until one number of it changed: the fix holds, is made once, and touches nothing else."""

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gbs import Given
from pytest_gbs.api import fix
from pytest_gbs.fixes.apply import FixResult
from pytest_gbs.model.outcome import Applicability
from pytest_gbs.model.settings import Settings
from tests.properties.support import reported, shown, sizes
from tests.support import in_memory

SETTINGS, DECLARATIONS = Applicability.SETTINGS, Applicability.DECLARATIONS
counts = st.sampled_from([1, 2, 3, 4, 6, 8, 16])
spaces = st.sampled_from([" ", "   ", "\t", " # why: see issue 12 # ", " # ü "])
lines = st.sampled_from(
    ["", "\n", "# a note\n", "seed: 1\n", "text: 'a: 4'\n", "# ---\n", "list: [1, 2,\n  3]\n", "t: |\n  per_device: 4\n\n"]
)


@st.composite
def recipes(draw: st.DrawFn) -> tuple[str, int, int, int]:
    """A recipe that claims micro x accumulation x GPUs, with strange lines between; the three numbers."""
    micro, steps, gpus = draw(counts), draw(counts), draw(st.sampled_from([1, 2, 4, 8]))
    claim = draw(
        st.sampled_from(
            ["# Config for 1 node of {g} GPUs with GBS {b}\n", "# gbs: {b} on {g} gpus\n", "# global batch size {b} on {g} GPUs\n"]
        )
    )
    end = draw(st.sampled_from(["\n", "\r\n"]))
    keys = [f"per_device_train_batch_size: {micro}", f"gradient_accumulation_steps: {steps}"]
    keys = draw(st.permutations([*keys, "model_name_or_path: my/model", "dataset_name: d", "learning_rate: 1.0e-5"]))
    body = "".join(draw(lines) + key + draw(spaces).rstrip(" \t") + "\n" for key in keys)
    text = claim.format(g=gpus, b=micro * steps * gpus) + body + draw(lines)
    text = re.sub(r"(?m)^(seed|text|list|t):", lambda m: f"k{m.start()}:", text)  # no key stands twice
    return text.replace("\n", end), micro, steps, gpus


def repaired(files: dict[str, str], kind: str) -> FixResult:
    return fix(in_memory(files), (), Settings(), Given(), (kind,))


def after(found: FixResult, path: str, before: str) -> str:
    return found.files[path][1].text if path in found.files else before


@settings(max_examples=40)
@given(recipes())
def test_a_recipe_in_order_stays_as_it_is(found: tuple[str, int, int, int]) -> None:
    files = {"sft.yaml": found[0]}
    assert [(f.code, f.message) for f in reported(files).findings()] == []
    assert repaired(files, SETTINGS).files == {}
    assert repaired(files, DECLARATIONS).files == {}


@settings(max_examples=60)
@given(
    recipes(),
    st.sampled_from(["per_device_train_batch_size", "gradient_accumulation_steps"]),
    counts,
    st.sampled_from([SETTINGS, DECLARATIONS]),
)
def test_one_number_that_changed(found: tuple[str, int, int, int], key: str, now: int, kind: str) -> None:
    text, micro, steps, gpus = found
    stale = re.sub(rf"(?m)^{key}: \d+", f"{key}: {now}", text)
    done = repaired({"sft.yaml": stale}, kind)
    fixed = after(done, "sft.yaml", stale)
    assert repaired({"sft.yaml": fixed}, kind).files == {}, "a second fix changes it again"
    changed = [(one, two) for one, two in zip(stale.splitlines(True), fixed.splitlines(True), strict=True) if one != two]
    assert len(changed) <= 1, changed
    assert all(re.sub(r"\d+", "#", one) == re.sub(r"\d+", "#", two) for one, two in changed)
    if stale == text:
        assert not changed
    elif kind == DECLARATIONS:
        assert changed
        assert changed[0][1].startswith("#")
        assert reported({"sft.yaml": fixed}).findings() == ()
    elif changed:
        assert not changed[0][1].startswith("#")
        assert _batch(fixed, gpus) == micro * steps * gpus
        assert reported({"sft.yaml": fixed}).findings() == ()
    else:
        other = {"per_device_train_batch_size": steps, "gradient_accumulation_steps": micro}[key]
        rest = micro * steps
        assert rest % now or key == "gradient_accumulation_steps", f"{rest} / {now} is whole, {other} could change"


def _batch(text: str, gpus: int) -> Any:
    (entry,) = shown({"sft.yaml": text}, world_size=gpus)
    return sizes(entry)["global_batch_size"]
