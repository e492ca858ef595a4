"""Which files and items pytest collects, and what stays out."""

from pathlib import Path

import pytest

from tests.pytest_plugin.conftest import UNCLAIMED, VERIFIED, VIOLATED, Write


def ids(pytester: pytest.Pytester, *arguments: str) -> list[str]:
    """The node ids that pytest collects, sorted."""
    result = pytester.runpytest("--collect-only", "-q", *arguments)
    return sorted(line for line in result.outlines if "::" in line)


def claims(found: list[str]) -> list[str]:
    """The node ids about claims, and those of Python tests."""
    return [each for each in found if each.endswith("::GBS101") or ".py::" in each]


ALL = ["recipes/good.yaml::GBS101", "recipes/open.yaml::GBS101", "recipes/stale.yaml::GBS101"]


def test_without_the_option_nothing_is_there(repository: Path, pytester: pytest.Pytester) -> None:
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*gbs:*")


@pytest.mark.usefixtures("repository")
def test_a_file_that_is_not_a_recipe_has_no_items(pytester: pytest.Pytester) -> None:
    assert not [each for each in ids(pytester, "--gbs-recipes", "recipes") if "ci.yml" in each]


def test_an_unclaimed_recipe_has_no_claim_items(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/plain.yaml": UNCLAIMED})
    assert not [each for each in ids(pytester, "--gbs-recipes", "recipes") if "::GBS1" in each]


@pytest.mark.usefixtures("repository")
def test_recipes_alone_are_collected_without_testpaths(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ntestpaths = tests\n")
    assert claims(ids(pytester, "--gbs-recipes", "recipes/")) == ALL


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("tests/conftest.py", "raise SystemExit('imported')", id="conftest of the tests"),
        pytest.param("recipes/test_gpu.py", "raise SystemExit('imported')", id="test beside the recipes"),
        pytest.param("recipes/__init__.py", "raise SystemExit('imported')", id="package of recipes"),
        pytest.param("__init__.py", "raise SystemExit('imported')", id="package around them"),
    ],
)
def test_recipes_alone_import_no_code(write: Write, pytester: pytest.Pytester, name: str, text: str) -> None:
    write({name: text})
    result = pytester.runpytest("--gbs-recipes", "recipes")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.no_fnmatch_line("*imported*")
    assert claims(ids(pytester, "--gbs-recipes", "recipes")) == ALL


PROGRAM = """\
from trl import SFTConfig
SFTConfig(
    per_device_train_batch_size=1,
    gradient_accumulation_steps=2,  # gbs: 128 on 8 nodes x 8 gpus
)
raise SystemExit("imported")
"""


@pytest.mark.parametrize("argument", ["", "recipes/train.py", "recipes/train.py::GBS101"])
@pytest.mark.parametrize("ini", [True, False])
def test_a_program_is_an_item_and_never_imported(write: Write, pytester: pytest.Pytester, argument: str, ini: bool) -> None:
    write({"recipes/train.py": PROGRAM, "pytest.ini": f"[pytest]\ngbs_recipes = {'recipes' if ini else ''}\n"})
    arguments = [*filter(None, [argument]), *([] if ini else ["--gbs-recipes", "recipes"])]
    assert ids(pytester, *arguments) == ["recipes/train.py::GBS101"]
    pytester.runpytest(*arguments).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("test_train.py", PROGRAM.replace("raise SystemExit", "print") + "def test_it(): pass\n", id="the name of a test"),
        pytest.param("checks.py", "def test_it(): pass\n", id="no training"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_tests_in_a_file_that_is_named_are_collected(write: Write, pytester: pytest.Pytester, name: str, text: str) -> None:
    folder = "import sys, types\nsys.modules['trl'] = types.SimpleNamespace(SFTConfig=dict)\n"
    write({f"recipes/{name}": text, "conftest.py": folder})
    assert f"recipes/{name}::test_it" in ids(pytester, "--gbs-recipes", "recipes", f"recipes/{name}")


@pytest.mark.usefixtures("repository")
def test_a_test_that_is_named_is_collected_all_the_same(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/test_shapes.py": "def test_shapes():\n    pass\n"})
    assert ids(pytester, "--gbs-recipes", "recipes", "recipes/test_shapes.py") == ["recipes/test_shapes.py::test_shapes"]


@pytest.mark.usefixtures("repository")
def test_the_option_replaces_the_ini_option(write: Write, pytester: pytest.Pytester) -> None:
    write({"others/a.yaml": VERIFIED})
    pytester.makeini("[pytest]\ngbs_recipes = recipes\n")
    assert claims(ids(pytester, "--gbs-recipes", "others")) == ["others/a.yaml::GBS101"]


@pytest.mark.usefixtures("repository")
def test_a_link_to_a_folder_of_recipes_is_followed_when_it_is_asked_for(pytester: pytest.Pytester) -> None:
    (pytester.path / "linked").symlink_to("recipes", target_is_directory=True)
    assert claims(ids(pytester, "--gbs-recipes", "linked")) == [each.replace("recipes/", "linked/") for each in ALL]


@pytest.mark.usefixtures("repository")
def test_a_path_beside_them_collects_both(pytester: pytest.Pytester) -> None:
    assert claims(ids(pytester, "tests", "--gbs-recipes", "recipes")) == [*ALL, "tests/test_code.py::test_code"]


@pytest.mark.usefixtures("repository")
def test_tests_in_the_folder_are_collected_beside_a_path_of_tests(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/test_shapes.py": "def test_shapes():\n    pass\n"})
    assert "recipes/test_shapes.py::test_shapes" in ids(pytester, "tests", "--gbs-recipes", "recipes")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("testpaths", ["", "testpaths = tests"], ids=["everywhere", "testpaths"])
def test_the_ini_option_collects_both(pytester: pytest.Pytester, testpaths: str) -> None:
    pytester.makeini(f"[pytest]\ngbs_recipes = recipes\n{testpaths}\n")
    assert claims(ids(pytester)) == [*ALL, "tests/test_code.py::test_code"]


@pytest.mark.usefixtures("repository")
def test_the_ini_option_leaves_a_run_of_tests_alone(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ngbs_recipes = recipes\n")
    result = pytester.runpytest("tests/test_code.py")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*gbs:*")


@pytest.mark.usefixtures("repository")
def test_the_ini_option_is_relative_to_its_file(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini("[pytest]\ngbs_recipes = recipes\n")
    monkeypatch.chdir(pytester.path / "tests")
    assert claims(ids(pytester)) == [*ALL, "tests/test_code.py::test_code"]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    "table",
    [
        "tool.pytest.ini_options",
        pytest.param("tool.pytest", marks=pytest.mark.skipif(pytest.version_tuple < (9,), reason="pytest 9 brought this table")),
    ],
)
def test_toml_lists_folders(pytester: pytest.Pytester, table: str) -> None:
    pytester.makepyprojecttoml(f'[{table}]\ngbs_recipes = ["recipes"]\n')
    assert claims(ids(pytester)) == [*ALL, "tests/test_code.py::test_code"]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("argument", ["recipes/stale.yaml", "recipes/stale.yaml::GBS101", "./recipes/../recipes/stale.yaml"])
def test_a_path_inside_stands_for_the_folder(pytester: pytest.Pytester, argument: str) -> None:
    assert claims(ids(pytester, "--gbs-recipes", "recipes", argument)) == ["recipes/stale.yaml::GBS101"]


@pytest.mark.usefixtures("repository")
def test_a_file_can_be_the_root(pytester: pytest.Pytester) -> None:
    assert claims(ids(pytester, "--gbs-recipes", "recipes/stale.yaml")) == ["recipes/stale.yaml::GBS101"]


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("--gbs-recipes", "recipes", "--gbs-recipes", "recipes/"), id="twice"),
        pytest.param(("--gbs-recipes", "recipes", "--gbs-recipes", "recipes/stale.yaml"), id="one inside the other"),
        pytest.param(("--gbs-recipes", "recipes", "recipes"), id="as a path too"),
        pytest.param(("--gbs-recipes", "."), id="all of it"),
    ],
)
def test_no_item_is_collected_twice(pytester: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    assert claims(ids(pytester, *arguments)) == ALL


def test_several_folders_are_collected(write: Write, pytester: pytest.Pytester) -> None:
    write({"a/x.yaml": VERIFIED, "b/y.yaml": VERIFIED, "c/z.yaml": VERIFIED})
    assert claims(ids(pytester, "--gbs-recipes", "a", "--gbs-recipes", "b")) == ["a/x.yaml::GBS101", "b/y.yaml::GBS101"]


def test_folders_of_other_repositories_keep_their_own_settings(write: Write, pytester: pytest.Pytester) -> None:
    write({"a/x.yaml": VERIFIED, "b/gbs.toml": 'ignore = ["GBS101"]\n', "b/y.yaml": VERIFIED})
    assert claims(ids(pytester, "--gbs-recipes", "a", "--gbs-recipes", "b")) == ["a/x.yaml::GBS101"]


def test_ignored_files_have_no_items(write: Write, pytester: pytest.Pytester) -> None:
    write({".git/HEAD": "", ".gitignore": "recipes/own/\n", "recipes/own/x.yaml": VERIFIED, "recipes/y.yaml": VERIFIED})
    assert claims(ids(pytester, "--gbs-recipes", "recipes")) == ["recipes/y.yaml::GBS101"]


def test_an_ignored_file_that_is_named_has_items(write: Write, pytester: pytest.Pytester) -> None:
    write({".git/HEAD": "", ".gitignore": "recipes/own/\n", "recipes/own/x.yaml": VERIFIED, "recipes/y.yaml": VERIFIED})
    assert claims(ids(pytester, "--gbs-recipes", "recipes", "recipes/own/x.yaml")) == ["recipes/own/x.yaml::GBS101"]


COLLECTOR = """
import pytest

class Item(pytest.Item):
    def runtest(self):
        pass

class File(pytest.File):
    def collect(self):
        if {breaks}:
            raise ValueError("this is not a test of mine")
        yield Item.from_parent(self, name="theirs")

def pytest_collect_file(file_path, parent):
    if file_path.name.startswith("test_") and file_path.suffix == ".yaml":
        return File.from_parent(parent, path=file_path)
"""


def test_a_recipe_with_the_name_of_a_test_is_collected_beside_what_others_make_of_it(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/test_x.yaml": VERIFIED, "conftest.py": COLLECTOR.format(breaks=False), "tests/test_code.py": "def test_code(): pass\n"})
    found = ids(pytester, "tests", "--gbs-recipes", "recipes")
    assert "recipes/test_x.yaml::theirs" in found
    assert "recipes/test_x.yaml::GBS101" in found


def test_recipes_alone_are_ours_alone(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/test_x.yaml": VERIFIED, "conftest.py": COLLECTOR.format(breaks=True)})
    result = pytester.runpytest("--gbs-recipes", "recipes")
    assert result.ret == pytest.ExitCode.OK


def test_documents_of_one_file_share_their_items_and_the_worst_counts(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/two.yaml": f"{VERIFIED}---\n{VIOLATED}"})
    assert claims(ids(pytester, "--gbs-recipes", "recipes")) == ["recipes/two.yaml::GBS101"]
    result = pytester.runpytest("--gbs-recipes", "recipes", "-rA")
    result.stdout.fnmatch_lines(["FAILED recipes/two.yaml::GBS101*"])
    result.stdout.fnmatch_lines(["gbs: 1 verified, 1 violated; 1 error"])


@pytest.mark.parametrize(
    ("arguments", "ini", "words"),
    [
        pytest.param(("--gbs-recipes", "nowhere"), "", "no such file or folder: *nowhere", id="path"),
        pytest.param((), "gbs_recipes = nowhere", "no such file or folder: *nowhere", id="ini path"),
        pytest.param(("--gbs-recipes", "recipes", "--gbs-nodes", "0"), "", "--gbs-nodes 0 is not a whole number from 1 *", id="number"),
        pytest.param(
            ("--gbs-recipes", "recipes", "--gbs-nodes", "3", "--gbs-world-size", "8"),
            "",
            "--gbs-world-size 8 is not a multiple of --gbs-nodes 3",
            id="numbers",
        ),
        pytest.param(("--gbs-recipes", "recipes", "--gbs-select", "GBS999"), "", "no rule is called GBS999*", id="rule"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_a_wrong_call_is_one_line(pytester: pytest.Pytester, arguments: tuple[str, ...], ini: str, words: str) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    result = pytester.runpytest_subprocess(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: gbs: {words}"])
    assert len([line for line in result.errlines if line]) == 1


@pytest.mark.usefixtures("repository")
def test_broken_settings_are_one_line(write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.toml": "gpus-per-node = 'eight'\n"})
    result = pytester.runpytest_subprocess("--gbs-recipes", "recipes")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: gbs: gbs.toml*gpus-per-node*"])
    assert len([line for line in result.errlines if line]) == 1


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("-k", "stale"), ["recipes/stale.yaml::GBS101"], id="-k file"),
        pytest.param(("-k", "GBS101"), ALL, id="-k code"),
        pytest.param(("-m", "gbs"), ALL, id="-m gbs"),
        pytest.param(("-m", "not gbs"), ["tests/test_code.py::test_code"], id="-m not gbs"),
        pytest.param(("--deselect", "recipes/stale.yaml::GBS101", "-m", "gbs"), ALL[:2], id="--deselect"),
        pytest.param(("--ignore", "recipes/open.yaml", "-m", "gbs"), [ALL[0], ALL[2]], id="--ignore"),
        pytest.param(("--import-mode=importlib", "-m", "gbs"), ALL, id="--import-mode"),
        pytest.param(("-p", "no:cacheprovider", "-m", "gbs"), ALL, id="no cache"),
        pytest.param(("--strict-markers", "-W", "error", "-m", "gbs"), ALL, id="strict"),
        pytest.param(("-p", "no:randomly", "-m", "gbs"), ALL, id="not shuffled"),
    ],
)
def test_items_are_selected_as_any_others(pytester: pytest.Pytester, arguments: tuple[str, ...], expected: list[str]) -> None:
    assert claims(ids(pytester, "tests", "--gbs-recipes", "recipes", *arguments)) == expected


@pytest.mark.usefixtures("repository")
def test_select_and_ignore_choose_rules(pytester: pytest.Pytester) -> None:
    assert {each.partition("::")[2] for each in ids(pytester, "--gbs-recipes", "recipes", "--gbs-select", "GBS101")} == {"GBS101"}
    assert not claims(ids(pytester, "--gbs-recipes", "recipes", "--gbs-ignore", "stale-declaration"))


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize(("flag", "expected"), [("--lf", ["failed"]), ("--ff", ["failed", "passed", "skipped", "unclaimed"])])
def test_the_last_failed_run_again(pytester: pytest.Pytester, flag: str, expected: list[str]) -> None:
    pytester.runpytest("--gbs-recipes", "recipes", "-p", "no:randomly")
    result = pytester.runpytest("--gbs-recipes", "recipes", "-p", "no:randomly", flag, "-v")
    assert sorted(result.parseoutcomes().keys() - {"deselected"}) == expected
    first = next(line for line in result.outlines if "%]" in line)
    assert first.startswith("recipes/stale.yaml::GBS101 FAILED")


@pytest.mark.usefixtures("repository")
def test_without_the_plugin_its_options_are_unknown(pytester: pytest.Pytester) -> None:
    pytester.runpytest("-p", "no:gbs").assert_outcomes(passed=1)
    result = pytester.runpytest_subprocess("-p", "no:gbs", "--gbs-recipes", "recipes")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
