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


COPY = KEYS + "per_device_train_batch_size: 64\ngradient_accumulation_steps: 1\n"  # what an earlier run left at `b.yaml`


@pytest.mark.parametrize(
    ("script", "found"),
    [
        pytest.param("python make.py > b.yaml\n" + RUN.format(path="b.yaml"), [], id="a program writes it"),
        pytest.param("sed 's/_batch_size: 2/_batch_size: 4/' a.yaml > b.yaml\n" + RUN.format(path="b.yaml"), [], id="edited"),
        pytest.param("cat $1 > b.yaml\n" + RUN.format(path="b.yaml"), [], id="a copy of an unknown file"),
        pytest.param("envsubst < a.yaml >> b.yaml\n" + RUN.format(path="b.yaml"), [512], id="added to it"),
        pytest.param("envsubst < a.yaml > c.yaml\n" + RUN.format(path="b.yaml"), [512], id="to another file"),
        pytest.param(RUN.format(path="b.yaml") + "cp a.yaml b.yaml\n", [512], id="copied afterwards"),
        pytest.param("TAG=1 envsubst < a.yaml > b.yaml && " + RUN.format(path="b.yaml"), [64], id="variables put in"),
        pytest.param("sed 's/TAG/1/' a.yaml > b.yaml\n" + RUN.format(path="b.yaml"), [64], id="a name put in"),
        pytest.param("cat a.yaml > b.yaml\n" + RUN.format(path="b.yaml"), [64], id="cat"),
        pytest.param("cp a.yaml b.yaml\n" + RUN.format(path="b.yaml"), [64], id="a copy"),
        pytest.param("for each in a d; do\ncp $each.yaml b.yaml\n" + RUN.format(path="b.yaml") + "done\n", [64, 128], id="a loop"),
    ],
)
def test_a_recipe_that_a_script_copies_is_what_it_copies(tmp_path: Path, script: str, found: list[int | None]) -> None:
    files = {"a.yaml": RECIPE, "b.yaml": COPY, "d.yaml": RECIPE.replace("steps: 4", "steps: 8"), "run.sh": script}
    assert batches(checked(tmp_path, files)) == found


def test_a_mistake_is_where_the_script_has_it(tmp_path: Path) -> None:
    text = RECIPE.replace("gradient_accumulation_steps: 4", "gradient_accumulation_steps: 0")
    script = WRITE.format(path="a.yaml", mark="EOF", text=text) + RUN.format(path="a.yaml")
    (finding,) = checked(tmp_path, {"run.sh": script}).findings()
    assert script[finding.at.start : finding.at.stop] == "0"
