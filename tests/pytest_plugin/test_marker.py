"""A team's own tests on its recipes: `@pytest.mark.gbs_recipes`."""

from pathlib import Path

import pytest

from pytest_gbs import Given, Settings
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.quantity import Name, Quantity, Unknown
from pytest_gbs.recipe import Recipe, read_recipe
from tests.pytest_plugin.conftest import UNCLAIMED, UNDETERMINED, VERIFIED, VIOLATED, Write
from tests.support import check

HEAD = "import pytest\n\n"


def marked(*globs: str, body: str = "pass") -> str:
    """A test module with one test of the recipes that match `globs`."""
    return f"{HEAD}@pytest.mark.gbs_recipes({', '.join(map(repr, globs))})\ndef test_recipe(recipe):\n    {body}\n"


def ids(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    """What stands in brackets of the node ids."""
    result = pytester.runpytest("--collect-only", "-q", *arguments)
    return sorted(line.partition("[")[2].removesuffix("]") for line in result.outlines if "::test_recipe[" in line)


def test_a_test_with_a_recipe_of_its_own_is_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD + "@pytest.fixture\ndef recipe():\n    return 'cake'\n\ndef test_recipe(recipe):\n    assert recipe == 'cake'\n"
    )
    pytester.runpytest("--strict-markers").assert_outcomes(passed=1)


def test_a_module_may_be_marked_for_those_of_its_tests_that_take_a_recipe(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VERIFIED})
    pytester.makepyfile(
        HEAD + "pytestmark = pytest.mark.gbs_recipes('recipes/*')\n\ndef test_recipe(recipe): pass\n\ndef test_other(): pass\n"
    )
    pytester.runpytest().assert_outcomes(passed=2)


def test_a_marked_test_that_takes_no_recipe_is_an_error(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VERIFIED})
    pytester.makepyfile(HEAD + "@pytest.mark.gbs_recipes('recipes/*')\ndef test_recipe(): pass\n")
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*test_recipe is marked with gbs_recipes and does not take the argument recipe*"])


def test_a_size_that_does_not_exist_is_an_error(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VERIFIED})
    body = "\n    ".join(
        (
            "assert recipe.value('num_nodes') is None or recipe.value('num_nodes') > 0",
            "with pytest.raises(ValueError, match=\"did you mean 'global_batch_size'\"):",
            "    recipe.value('globl_batch_size')",
        )
    )
    pytester.makepyfile(marked("recipes/*", body=body))
    pytester.runpytest().assert_outcomes(passed=1)


@pytest.mark.usefixtures("repository")
def test_no_items_are_collected_for_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(marked("recipes/**/*.yaml"))
    result = pytester.runpytest("test_no_items_are_collected_for_it.py")
    result.assert_outcomes(passed=4)
    result.stdout.no_fnmatch_line("gbs:*")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        pytest.param(
            ("recipes/**/*.yaml",), ["recipes/good.yaml", "recipes/open.yaml", "recipes/plain.yaml", "recipes/stale.yaml"], id="all"
        ),
        pytest.param(("recipes/good.yaml",), ["recipes/good.yaml"], id="one"),
        pytest.param(("good.yaml",), ["recipes/good.yaml"], id="a name anywhere"),
        pytest.param(("recipes/s*.yaml", "recipes/g*.yaml"), ["recipes/good.yaml", "recipes/stale.yaml"], id="two globs"),
        pytest.param(("recipes/*.yml",), [], id="no recipe"),
        pytest.param(("nowhere/*",), [], id="no folder"),
    ],
)
def test_ids_are_paths(pytester: pytest.Pytester, globs: tuple[str, ...], expected: list[str]) -> None:
    pytester.makepyfile(marked(*globs))
    assert [each for each in ids(pytester) if "/" in each] == expected


def test_documents_of_one_file_are_numbered(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": f"{VERIFIED}---\n{VIOLATED}"})
    pytester.makepyfile(marked("recipes/*"))
    assert ids(pytester) == ["recipes/a.yaml", "recipes/a.yaml#2"]


def test_paths_start_at_the_root_of_pytest(write: Write, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"project/pytest.ini": "[pytest]\n", "project/recipes/a.yaml": VERIFIED, "project/test_it.py": marked("recipes/*.yaml")})
    monkeypatch.chdir(pytester.path / "project")
    assert ids(pytester) == ["recipes/a.yaml"]


def test_sizes_are_numbers(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VERIFIED})
    pytester.makepyfile(
        marked(
            "recipes/*",
            body="assert (recipe.global_batch_size, recipe.micro_batch_size, recipe.num_nodes, recipe.world_size) == (128, 1, 8, 64)",
        )
    )
    pytester.runpytest("--strict-markers", "-W", "error").assert_outcomes(passed=1)


def test_hardware_of_the_command_line_counts(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNCLAIMED})
    pytester.makepyfile(marked("recipes/*", body="assert recipe.global_batch_size == 32"))
    pytester.runpytest("--gbs-world-size", "16").assert_outcomes(passed=1)
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*<Recipe recipes/a.yaml: global batch size 2 x GPUs>*"])


def test_a_recipe_that_cannot_be_read_is_there_to_fail(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": "model_name_or_path: m\ndataset_name: d\nper_device_train_batch_size: [1\n", "recipes/b.yaml": "a: [1\n"})
    pytester.makepyfile(marked("recipes/*", body="assert recipe.global_batch_size == 128"))
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*<Recipe recipes/a.yaml: *>*"])


@pytest.mark.parametrize("mark", ["gbs_recipes", "gbs_recipes()", "gbs_recipes(7)", "gbs_recipes(glob='x')"])
def test_a_marker_without_a_glob_says_what_it_takes(pytester: pytest.Pytester, mark: str) -> None:
    pytester.makepyfile(f"{HEAD}@pytest.mark.{mark}\ndef test_recipe(recipe): pass\n")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(["*gbs_recipes takes globs relative to pytest's root folder*"])
    assert "pytest_items" not in result.stdout.str()


def test_broken_settings_are_one_line(write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.toml": "gpus-per-node = 'eight'\n", "recipes/a.yaml": VERIFIED})
    pytester.makepyfile(marked("recipes/*"))
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(["gbs: gbs.toml*"])
    assert "pytest_items" not in result.stdout.str()


@pytest.mark.usefixtures("repository")
def test_workers_collect_the_same(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(marked("recipes/**/*.yaml"))
    pytester.runpytest_subprocess("-n", "2").assert_outcomes(passed=5)


def read(text: str, folder: Path) -> Recipe:
    """The recipe `text`."""
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    report = check(WorkTree(folder), ["a.yaml"], Settings(), Given(), keep_runs=True)
    return read_recipe(report.files[0], report, "a.yaml")


def test_a_size_that_is_not_known_is_none_and_says_why(tmp_path: Path) -> None:
    recipe = read(UNCLAIMED, tmp_path)
    assert recipe.global_batch_size is None
    assert isinstance(recipe.size("world_size"), Unknown)
    assert "global_batch_size" not in recipe.sizes
    assert recipe.law() == "2 x GPUs"


def test_a_size_that_is_known_says_where_it_is(tmp_path: Path) -> None:
    size = read(VERIFIED, tmp_path).size("gradient_accumulation_steps")
    assert isinstance(size, Quantity)
    assert (size.value, size.key) == (2, "gradient_accumulation_steps")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param(VERIFIED, "verified", id="verified"),
        pytest.param(VIOLATED, "violated", id="violated"),
        pytest.param(UNDETERMINED, "undetermined", id="undetermined"),
        pytest.param(UNCLAIMED, "unclaimed", id="unclaimed"),
    ],
)
def test_a_recipe_knows_its_verdict(tmp_path: Path, text: str, verdict: str) -> None:
    assert read(text, tmp_path).verdict == verdict


def test_claims_are_reported_with_their_lines(tmp_path: Path) -> None:
    (claim,) = read(VERIFIED, tmp_path).claims
    assert (claim.name, claim.value, claim.line) == ("global_batch_size", 128, 1)
    assert read(UNCLAIMED, tmp_path).claims == ()


def test_a_recipe_is_frozen(tmp_path: Path) -> None:
    recipe = read(VERIFIED, tmp_path)
    with pytest.raises(AttributeError):
        recipe.path = "b.yaml"  # type: ignore[misc]


def _is_size(attribute: property) -> bool:
    return attribute.fget is not None and attribute.fget.__annotations__["return"].startswith("int")


@pytest.mark.parametrize("name", sorted(name for name, each in vars(Recipe).items() if isinstance(each, property) and _is_size(each)))
def test_every_size_that_is_an_attribute_has_its_name(name: str) -> None:
    assert name in {value for key, value in vars(Name).items() if key.isupper()}
