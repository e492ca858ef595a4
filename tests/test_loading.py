"""`pytest_gbs.load`: a repository for Python and notebooks."""

import builtins
import doctest
import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import pytest_gbs
from pytest_gbs.model.errors import SettingsError, UsageError
from tests.cli.support import write

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "python-api.md"
RECIPE = "# global batch size 64 = 4 x 2 x 8 GPUs\nmodel_name_or_path: my/model\ndataset_name: my/dialogues\nmax_length: 2048\n"
SIZES = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
OPEN = RECIPE.partition("\n")[2] + SIZES


def test_a_folder_without_recipes_is_empty(tmp_path: Path) -> None:
    found = pytest_gbs.load(write(tmp_path, {"a.yaml": "cake: true\n"}))
    assert (found.recipes, found.problems, found.records()) == ({}, (), [])


def test_what_holds_is_not_a_problem(tmp_path: Path) -> None:
    found = pytest_gbs.load(write(tmp_path, {"recipes/a.yaml": RECIPE + SIZES}))
    recipe = found.recipes["recipes/a.yaml"]
    assert (recipe.global_batch_size, recipe.world_size, recipe.verdict, found.problems) == (64, 8, "verified", ())
    assert recipe.claims[0].value == 64


def test_a_problem_says_what_gbs_check_says(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_gbs.cli import main

    write(tmp_path, {"a.yaml": RECIPE + SIZES.replace("4", "3", 1)})
    (problem,) = pytest_gbs.load(tmp_path).problems
    assert (problem.code, problem.severity, problem.path, problem.line) == ("GBS101", "error", "a.yaml", 1)
    assert problem.message == "comment says 64, but the settings give 48"
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--color", "never", "."]) == 1
    assert str(problem) in capsys.readouterr().out


def test_paths_are_those_seen_from_the_folder_asked_for_and_what_lies_above_counts(tmp_path: Path) -> None:
    write(tmp_path, {"gbs.toml": "gpus-per-node = 8\nnum-nodes = 2\n", "recipes/a.yaml": OPEN})
    assert pytest_gbs.load(tmp_path / "recipes").recipes["a.yaml"].global_batch_size == 128
    assert pytest_gbs.load(tmp_path / "recipes" / "a.yaml").recipes["a.yaml"].global_batch_size == 128


def test_given_hardware_fills_in_and_never_contradicts_a_claim(tmp_path: Path) -> None:
    write(tmp_path, {"open.yaml": OPEN, "says.yaml": RECIPE + SIZES})
    found = pytest_gbs.load(tmp_path, nodes=2, gpus_per_node=8).recipes
    assert found["open.yaml"].global_batch_size == 128
    assert found["says.yaml"].verdict == "verified"
    assert pytest_gbs.load(tmp_path).recipes["open.yaml"].law() == "8 x GPUs"


def test_the_baseline_of_the_settings_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_gbs.cli import main

    write(tmp_path, {"a.yaml": RECIPE + SIZES.replace("4", "3", 1)})
    monkeypatch.chdir(tmp_path)
    main(["check", "--write-baseline", "known.json", "."])
    write(tmp_path, {"gbs.toml": 'baseline = "known.json"\n'})
    assert pytest_gbs.load(tmp_path).problems == ()


def test_a_launch_is_a_row_of_its_own(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": OPEN, "run.sh": "accelerate launch --num_processes 16 train.py --config a.yaml\n"})
    first, second = pytest_gbs.load(tmp_path).records()
    assert (first["path"], first["launch"], first["global_batch_size"]) == ("a.yaml", None, None)
    assert (second["path"], second["launch"], second["global_batch_size"]) == ("a.yaml", "accelerate launch", 128)


def test_a_script_that_is_a_recipe_of_its_own_has_the_sizes_of_its_launch(tmp_path: Path) -> None:
    sizes = "--micro-batch-size 2 --global-batch-size 64 --tensor-model-parallel-size 1 --num-layers 2 --seq-length 128"
    write(tmp_path, {"run.sh": f"# global batch size 64\ntorchrun --nproc_per_node 8 pretrain_gpt.py {sizes}\n"})
    found = pytest_gbs.load(tmp_path)
    assert found.recipes["run.sh"].gradient_accumulation_steps == 4
    assert [record["global_batch_size"] for record in found.records()] == [64]


def test_documents_of_one_file_are_distinguished(tmp_path: Path) -> None:
    found = pytest_gbs.load(write(tmp_path, {"a.yaml": RECIPE + SIZES + "---\n" + OPEN}))
    assert sorted(found.recipes) == ["a.yaml", "a.yaml#2"]


def test_a_file_that_cannot_be_read_is_a_problem_and_no_error(tmp_path: Path) -> None:
    found = pytest_gbs.load(write(tmp_path, {"a.yaml": RECIPE + SIZES + "a: [\n"}))
    assert [problem.code for problem in found.problems] == ["GBS001"]


@pytest.mark.parametrize(
    ("files", "asked", "message"),
    [
        pytest.param({}, {"path": "nowhere"}, "no such file or folder: nowhere", id="path"),
        pytest.param({}, {"nodes": 2, "gpus_per_node": 8, "world_size": 8}, "2 x .* 8 is 16 GPUs", id="hardware"),
        pytest.param({"gbs.toml": "gpus-per-node = 'many'\n"}, {}, "gbs.toml", id="settings"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], asked: dict[str, str], message: str
) -> None:
    monkeypatch.chdir(write(tmp_path, files))
    with pytest.raises((UsageError, SettingsError), match=message):
        pytest_gbs.load(**asked)  # type: ignore[arg-type]


def test_tables_for_notebooks_escape_what_a_stranger_wrote(tmp_path: Path) -> None:
    found = pytest_gbs.load(write(tmp_path, {"<b>/a&b.yaml": RECIPE + SIZES}))
    (recipe,) = found.recipes.values()
    for html in (found._repr_html_(), recipe._repr_html_()):
        assert "&lt;b&gt;/a&amp;b.yaml" in html
        assert "<b>" not in html
    assert "<th>global batch size</th><td>64</td><td>= 4 x 2 x 8 " in recipe._repr_html_()


def test_without_pandas_there_is_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = pytest_gbs.load(write(tmp_path, {"a.yaml": OPEN}))
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pandas"):
        found.to_pandas()


def test_sizes_are_whole_numbers_in_pandas(tmp_path: Path) -> None:
    table = pytest_gbs.load(write(tmp_path, {"a.yaml": OPEN, "b.yaml": RECIPE + SIZES})).to_pandas()
    assert table["micro_batch_size"].tolist() == [4, 4]
    assert (str(table["global_batch_size"].dtype), table["global_batch_size"].isna().tolist()) == ("Int64", [True, False])


def test_every_public_name_is_there_and_described() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## What is public")[2]
    for name in pytest_gbs.__all__:
        assert getattr(pytest_gbs, name)
        assert f"`{name}`" in page, name
    assert dir(pytest_gbs) == sorted(pytest_gbs.__all__)


def test_what_the_page_shows_is_what_python_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    shown = "\n".join(re.findall(r"(?ms)^```pycon\n(.*?)^```$", PAGE.read_text(encoding="utf-8")))
    names: Mapping[str, object] = {}
    test = doctest.DocTestParser().get_doctest(shown, dict(names), PAGE.name, str(PAGE), 0)
    result = doctest.DocTestRunner(verbose=False).run(test)
    assert test.examples
    assert result.failed == 0
