"""The page on frameworks of one's own: its example is executed, and it names what there is."""

import re
from pathlib import Path

import pytest

from pytest_gbs.cli import main
from pytest_gbs.frameworks._building import KINDS
from pytest_gbs.model.framework import Treatment
from pytest_gbs.settings import load_settings

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "own-framework.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?ms)^```(\w+)\n(.*?)^```$", PAGE)
EXAMPLES = [text for language, text in BLOCKS[3:] if language == "toml" and "entry-points" not in text]
WHOLE = [text for text in EXAMPLES if "recognise" in text]


def test_the_example_is_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (_, settings), (_, recipe), (_, shown) = BLOCKS[:3]
    Path("pyproject.toml").write_text(settings)
    Path("run.yaml").write_text(recipe)
    assert main(["show", "--world-size", "16", "run.yaml"]) == 0
    assert capsys.readouterr().out == shown


def test_the_other_parts_of_a_description_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    more = "".join(text for text in EXAMPLES if text not in WHOLE)
    keys = {"global_batch_size": "total", "num_generations": "generations", "micro_batch_size": "micro"}
    Path("acme.toml").write_text(
        f"{more}recognise = {{all-of = ['micro']}}\n[keys]\n" + "".join(f'{key} = "{size}"\n' for size, key in keys.items())
    )
    Path("gbs.toml").write_text('frameworks = ["acme.toml"]\n')
    Path("run.yaml").write_text("micro: 2\ntotal: 64\nbatch: 1\ngenerations: 2\n")
    assert main(["check", "--world-size", "8", "run.yaml"]) == 0


@pytest.mark.parametrize("text", WHOLE, ids=lambda text: text.splitlines()[1])
def test_a_whole_description_is_a_table(text: str, tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(text)
    (tmp_path / "gbs.toml").write_text('frameworks = ["acme.toml"]\n')
    tables = load_settings(tmp_path, rules={}).frameworks
    assert len(tables) == max(1, text.count("[[variants]]"))


def test_every_kind_of_value_and_what_can_happen_with_it_is_named() -> None:
    assert [word for word in KINDS if f"`{word}`" not in PAGE] == []
    reported = {Treatment.ELASTIC, Treatment.TEMPLATE, Treatment.SCHEDULE}  # for tables that are built in
    assert [word for name, word in vars(Treatment).items() if name.isupper() and f"`{word}`" not in PAGE and word not in reported] == []
