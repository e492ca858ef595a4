"""Recipes that the script writes itself before it starts the program that reads them."""

from pathlib import Path

import pytest

from tests.launches.building import KEYS, batches, checked, codes

RECIPE = f"{KEYS}per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
RUN = "torchrun --nproc_per_node=8 -m trl.scripts.sft --config {path}\n"
WRITE = "cat > {path} <<{mark}\n{text}EOF\n"


@pytest.mark.parametrize(
    ("script", "found"),
    [
        pytest.param(WRITE.format(path="a.yaml", mark="EOF", text=RECIPE) + RUN.format(path="b.yaml"), [], id="another file"),
        pytest.param(WRITE.format(path="a.yaml", mark="EOF", text="b: 1\n") + RUN.format(path="a.yaml"), [], id="no recipe"),
        pytest.param(WRITE.format(path="a.yaml", mark="EOF", text="b: [\n") + RUN.format(path="a.yaml"), [], id="no YAML"),
        pytest.param(WRITE.format(path="a.yaml", mark="EOF", text=RECIPE) + RUN.format(path="a.yaml"), [64], id="a recipe"),
        pytest.param(WRITE.format(path="$OUT/a.yaml", mark="'EOF'", text=RECIPE) + RUN.format(path="$OUT/a.yaml"), [64], id="a folder"),
        pytest.param(
            "M=3\n"
            + WRITE.format(path="a.yaml", mark="EOF", text=RECIPE.replace("batch_size: 2", "batch_size: $M"))
            + RUN.format(path="a.yaml"),
            [96],
            id="a variable",
        ),
        pytest.param(
            WRITE.format(path="a.yaml", mark="EOF", text=RECIPE.replace("batch_size: 2", "batch_size: $M")) + RUN.format(path="a.yaml"),
            [None],
            id="an unknown variable",
        ),
        pytest.param(
            WRITE.format(path="a.yaml", mark="EOF", text=RECIPE) + RUN.format(path="a.yaml --gradient_accumulation_steps 1"),
            [16],
            id="flags",
        ),
    ],
)
def test_recipes_in_a_script(tmp_path: Path, script: str, found: list[int | None]) -> None:
    report = checked(tmp_path, {"run.sh": script})
    assert batches(report) == found
    assert codes(report) == []


def test_a_mistake_is_where_the_script_has_it(tmp_path: Path) -> None:
    text = RECIPE.replace("gradient_accumulation_steps: 4", "gradient_accumulation_steps: 0")
    script = WRITE.format(path="a.yaml", mark="EOF", text=text) + RUN.format(path="a.yaml")
    (finding,) = checked(tmp_path, {"run.sh": script}).findings()
    assert script[finding.at.start : finding.at.stop] == "0"
