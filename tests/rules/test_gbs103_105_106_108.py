"""Claims held against each other: within a file, with the file's name, and across a folder."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.settings import Settings
from tests.rules.claimed import checked, on_nodes_of, recipe
from tests.support import check

ASKED = Settings(select=("GBS105",))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(recipe(4, 2, "global batch size: 128", "effective batch size 128"), id="the same twice"),
        pytest.param(recipe(4, 2, "GBS 128 with 2 nodes", "GBS 256 with 4 nodes"), id="under other conditions"),
        pytest.param(recipe(4, 2, "global batch size: 128", "1M tokens per step"), id="of another unit"),
    ],
)
def test_claims_that_do_not_contradict_are_silent(tmp_path: Path, text: str) -> None:
    assert "GBS103" not in checked(tmp_path, text).codes


def test_where_the_settings_decide_the_false_claim_alone_is_reported(tmp_path: Path) -> None:
    # 4 x 2 x 16 = 128
    result = checked(tmp_path, recipe(4, 2, "on 16 GPUs, global batch size: 128", "effective batch size 256"))
    assert result.codes == ["GBS101"]


def test_two_numbers_for_one_batch_contradict(tmp_path: Path) -> None:
    result = checked(tmp_path, recipe(4, 2, "global batch size: 128", "effective batch size 256"))
    assert (result.codes, result.severities) == (["GBS103"], ["error"])


def test_a_missing_declaration_is_nothing_unless_asked_for(tmp_path: Path) -> None:
    assert checked(tmp_path, recipe()).codes == []


def test_a_declared_recipe_lacks_nothing(tmp_path: Path) -> None:
    assert checked(tmp_path, recipe(trailing="gbs: 128 on 64 gpus"), settings=ASKED).codes == []


def test_a_missing_declaration_is_reported_when_asked_for(tmp_path: Path) -> None:
    assert checked(tmp_path, recipe(), settings=ASKED).codes == ["GBS105"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("mixtral-8x7b.yaml", recipe(header="4 nodes of 8 GPUs"), id="a model's name"),
        pytest.param("a100-80gb.yaml", recipe(header="2 nodes of 8 GPUs"), id="memory"),
        pytest.param("sft-2n8g.yaml", recipe(header="2 nodes of 8 GPUs"), id="hardware that agrees"),
        pytest.param("sft-2n8g.yaml", recipe(), id="hardware that nothing contradicts"),
        pytest.param("sft-bs128.yaml", recipe(4, 2), id="a batch that 16 GPUs give"),
        pytest.param("sft-bs4.yaml", recipe(4, 2), id="the micro batch"),
        pytest.param("sft-bs8.yaml", recipe(4, 2), id="the batch on one GPU"),
    ],
)
def test_a_name_that_may_be_right_is_silent(tmp_path: Path, name: str, text: str) -> None:
    assert checked(tmp_path, text, name=name).codes == []


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        pytest.param(
            "sft-2n8g.yaml",
            recipe(header="4 nodes of 8 GPUs"),
            "change the name to 4 nodes",
            id="nodes",
        ),
        pytest.param("sft-bs100.yaml", recipe(4, 2), "change the name to a multiple of 8", id="a batch that no number of GPUs gives"),
        pytest.param("sft-bs100.yaml", recipe(4, 2, "2 nodes of 8 GPUs"), "change the name to 128", id="another than on these GPUs"),
    ],
)
def test_a_name_that_is_wrong_warns_and_says_what_would_be_right(tmp_path: Path, name: str, text: str, holds: str) -> None:
    result = checked(tmp_path, text, name=name)
    assert (result.codes, result.severities) == (["GBS106"], ["warning"])
    assert [finding.holds for finding in result.findings] == [holds]


def test_a_run_name_counts_too(tmp_path: Path) -> None:
    assert checked(tmp_path, recipe(4, 2, more="run_name: llama-bs100")).codes == ["GBS106"]


def folder_of(tmp_path: Path, claims: list[tuple[int, int]], settings: Settings | None = None) -> dict[str, list[str]]:
    for number, (nodes, batch) in enumerate(claims):
        text = recipe(4, 2, f"Config for {nodes} nodes with GBS {batch}")
        (tmp_path / f"sft-{number}.yaml").write_text(text, encoding="utf-8")
    report = check(WorkTree(tmp_path), (), settings or Settings(), Given())
    return {file.path: [finding.code for finding in file.findings] for file in report.files if file.findings}


# On 8 GPUs per node, 4 x 2 x 8 = 64 for each node.
AGREE = [(1, 64), (2, 128), (4, 256), (8, 512)]


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param([*AGREE, (3, 192)], id="all alike"),
        pytest.param([*AGREE[:3], (2, 64)], id="too few to tell"),
        pytest.param([*AGREE, (2, 64), (4, 128)], id="two odd ones are a second kind of machine"),
    ],
)
def test_a_folder_without_one_odd_claim_is_silent(tmp_path: Path, claims: list[tuple[int, int]]) -> None:
    assert folder_of(tmp_path, claims) == {}


def test_the_odd_one_out_of_five_is_found(tmp_path: Path) -> None:
    assert folder_of(tmp_path, [*AGREE, (2, 64)]) == {"sft-4.yaml": ["GBS108"]}


def test_the_odd_one_can_be_silenced(tmp_path: Path) -> None:
    (tmp_path / "sft-9.yaml").write_text(
        recipe(4, 2, "Config for 2 nodes with GBS 64  # gbs: ignore[GBS108] smaller machines"), encoding="utf-8"
    )
    assert folder_of(tmp_path, AGREE) == {}


def test_the_odd_one_is_not_reported_twice(tmp_path: Path) -> None:
    assert folder_of(tmp_path, [*AGREE, (2, 64)], on_nodes_of(8)) == {"sft-4.yaml": ["GBS101"]}
