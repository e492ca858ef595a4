"""What becomes of an item, and what pytest prints of it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.pytest_plugin.conftest import RECIPE, UNDETERMINED, VERIFIED, VIOLATED, Write, recipe
from tests.support import check

RECIPES = ("--gbs-recipes", "recipes")


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest(*RECIPES, "-p", "no:randomly", *arguments)


def test_a_verified_claim_passes(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VERIFIED})
    result = run(pytester, "-v")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["recipes/a.yaml::GBS101 PASSED*"])


def test_an_undetermined_claim_is_skipped_with_what_would_decide_it(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNDETERMINED})
    result = run(pytester, "-v")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["recipes/a.yaml::GBS101 SKIPPED (GPUs per node unknown*"])
    assert "GPUs per node unknown: --gbs-gpus-per-node, or [tool.gbs] gpus-per-node" in run(pytester, "-rs").stdout.str()


def test_a_recipe_that_an_unread_script_may_launch_is_skipped_and_says_why(write: Write, pytester: pytest.Pytester) -> None:
    root = write({"recipes/a.yaml": VERIFIED})
    (root / "run.sh").write_bytes(b"\0torchrun train.py recipes/a.yaml\n")
    result = run(pytester, "-v")
    assert result.ret == pytest.ExitCode.OK
    reason = "a script that may launch it was not read to its end: gbs check says which"
    result.stdout.fnmatch_lines(["recipes/a.yaml::GBS007 SKIPPED (a script that may launch it*", "recipes/a.yaml::GBS101 PASSED*"])
    assert reason in run(pytester, "-rs").stdout.str()
    strict = run(pytester, "--gbs-strict", "-v")
    assert strict.ret == pytest.ExitCode.TESTS_FAILED
    strict.stdout.fnmatch_lines(["recipes/a.yaml::GBS007 FAILED*"])


def test_hardware_decides_it(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNDETERMINED})
    run(pytester, "--gbs-gpus-per-node", "8", "-v").stdout.fnmatch_lines(["recipes/a.yaml::GBS101 PASSED*"])
    run(pytester, "--gbs-gpus-per-node", "4", "-v").stdout.fnmatch_lines(["recipes/a.yaml::GBS101 FAILED*"])


def test_equal_reasons_fold(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNDETERMINED, "recipes/b.yaml": UNDETERMINED})
    reasons = {line.partition(": ")[2] for line in run(pytester, "-rs").outlines if line.startswith("SKIPPED")}
    assert len(reasons) == 1


def test_strict_fails_what_cannot_be_decided(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": UNDETERMINED})
    result = run(pytester, "--gbs-strict", "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["recipes/a.yaml::GBS101 FAILED*", "FAILED recipes/a.yaml::GBS101 - can't be *"])


def test_strict_settings_for_all_fail_an_unclaimed_recipe(write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.toml": 'strict = "all"\n', "recipes/a.yaml": recipe("")})
    run(pytester, "-v").stdout.fnmatch_lines(["recipes/a.yaml::GBS105 FAILED*", "gbs: 1 unclaimed; 1 error"])


def test_a_violated_claim_fails_with_the_text_of_check(write: Write, pytester: pytest.Pytester) -> None:
    from pytest_gbs import Given
    from pytest_gbs.files.worktree import WorkTree
    from pytest_gbs.formats.text import render_finding
    from pytest_gbs.model.settings import Settings

    root = write({"recipes/a.yaml": VIOLATED})
    report = check(WorkTree(root), ["recipes/"], Settings(), Given())
    (finding,) = report.findings()
    result = run(pytester)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    section = result.stdout.str().partition(" FAILURES ")[2].partition("\n\ngbs: ")[0].splitlines()
    assert "\n".join(section[2:]) == render_finding(finding, report)


@pytest.mark.parametrize("variables", [{}, {"CI": "true"}], ids=["terminal", "CI"])
def test_the_short_summary_says_what_is_wrong_in_one_line(
    write: Write, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("BUILD_NUMBER", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    write({"recipes/a.yaml": VIOLATED})
    result = run(pytester)
    start = next(number for number, line in enumerate(result.outlines) if line.startswith("FAILED"))
    assert result.outlines[start].startswith("FAILED recipes/a.yaml::GBS101 - annotation says 128, but the settings give 256")
    assert "128" in result.outlines[start]
    assert "256" in result.outlines[start]
    assert result.outlines[start + 1].startswith("=")


def test_one_line_style_names_the_place(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VIOLATED})
    run(pytester, "--tb=line").stdout.fnmatch_lines(
        ["recipes/a.yaml:1: annotation says 128, but the settings give 256 (recipes/a.yaml:1:8)"]
    )


@pytest.mark.parametrize("style", ["auto", "long", "short", "line", "native", "no"])
def test_no_style_shows_code_of_ours(write: Write, pytester: pytest.Pytester, style: str) -> None:
    write({"recipes/a.yaml": VIOLATED})
    output = run(pytester, f"--tb={style}", "--showlocals").stdout.str()
    assert "Traceback" not in output
    assert "pytest_items" not in output
    assert "Violated" not in output


def test_a_warning_passes_and_is_listed(write: Write, pytester: pytest.Pytester) -> None:
    write({"gbs.toml": '[severity]\nGBS101 = "warning"\n', "recipes/a.yaml": VIOLATED})
    result = run(pytester, "-W", "error")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*= gbs warnings =*", "recipes/a.yaml:1:8  warning GBS101 stale-declaration", "gbs: 1 warned; 1 warning"])


KEYS = "model_name_or_path: m\ndataset_name: d\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{KEYS}per_device_train_batch_size: [1\n", id="YAML that ends too soon"),
        pytest.param(
            "model_name_or_path: m\ndataset_name: d\nper_device_train_batch_size: \t*nowhere\n\tgradient_accumulation_steps: 1", id="tabs"
        ),
        pytest.param(f"{KEYS}per_device_train_batch_size: 1\x00\n", id="NUL"),
    ],
)
def test_a_broken_recipe_is_one_item_that_fails(write: Write, pytester: pytest.Pytester, text: str) -> None:
    write({"recipes/a.yaml": text, "recipes/b.yaml": VERIFIED})
    result = run(pytester, "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert [line.split()[0] for line in result.outlines if line.startswith("recipes/a.yaml::") and "%]" in line] == [
        "recipes/a.yaml::GBS001"
    ]
    result.stdout.fnmatch_lines(["recipes/b.yaml::GBS101 PASSED*"])
    assert "error during collection" not in result.stdout.str()


BUG = """
import pytest_gbs.rules.gbs101_stale_declaration as guilty

def broken(run):
    raise ZeroDivisionError("not \\x1b[31mmine")
    yield

guilty.RULE = guilty.RULE._replace(check=broken)
"""


def test_a_bug_in_a_rule_is_an_item_that_fails(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VERIFIED, "conftest.py": BUG})
    result = pytester.runpytest_subprocess(*RECIPES, "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["recipes/a.yaml::GBS101 FAILED*", "*internal error in GBS101*ZeroDivisionError: not \\x1b*"])
    assert "Traceback" not in result.stdout.str()
    assert "\x1b" not in result.stdout.str()


ANOTHER_BUG = """
import pytest_gbs.api

check = pytest_gbs.api.check

def broken(tree, targets, *rest, **named):
    if any(target != "recipes/b.yaml" for target in targets):
        raise ZeroDivisionError("not mine")
    return check(tree, targets, *rest, **named)

pytest_gbs.api.check = broken
"""


def test_a_bug_anywhere_fails_the_guilty_files_only(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": VERIFIED, "recipes/b.yaml": VERIFIED, "conftest.py": ANOTHER_BUG})
    result = pytester.runpytest_subprocess(*RECIPES, "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines_random(["recipes/a.yaml::internal-error FAILED*", "recipes/b.yaml::GBS101 PASSED*"])
    result.stdout.fnmatch_lines(["internal error on recipes/a.yaml: ZeroDivisionError: not mine"])


def test_nothing_of_a_recipe_reaches_the_terminal_as_control(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a\x1b[31m.yaml": recipe("# gbs: 128 on 8 nodes x 8 gpus \u202e", accumulation=4)})
    output = run(pytester, "--color=no", "-v").stdout.str()
    assert "GBS101" in output.partition(" FAILURES ")[2]
    assert "\u202e" not in output
    assert "\x1b" not in output


STRANGE = ("a\x1b::b[c].yaml", "::error title=X::d/a.yaml", "##vso[x]y/a.yaml", "a[1].yaml", "a::b.yaml", "a::b[c]/d[e].yaml", "n\nx.yaml")


@pytest.mark.parametrize("arguments", [(), ("-n", "1"), ("--junitxml=out.xml",)], ids=" ".join)
def test_the_name_of_a_recipe_never_ends_the_session(arguments: tuple[str, ...], write: Write, pytester: pytest.Pytester) -> None:
    write({**{f"recipes/{name}": VIOLATED for name in STRANGE}, "recipes/z.yaml": VERIFIED})
    result = pytester.runpytest_subprocess(*RECIPES, *arguments)
    result.assert_outcomes(failed=len(STRANGE), passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_node_ids_of_strange_names_have_one_separator(write: Write, pytester: pytest.Pytester) -> None:
    write({f"recipes/{name}": VERIFIED for name in STRANGE})
    listed = pytester.runpytest(*RECIPES, "--collect-only", "-q").stdout.str().splitlines()
    assert sorted(line for line in listed if "::" in line) == [
        r"recipes/#\x23vso[x]y/a.yaml::GBS101",
        r"recipes/:\x3aerror title=X:\x3ad/a.yaml::GBS101",
        r"recipes/a:\x3ab.yaml::GBS101",
        r"recipes/a:\x3ab[c]/d[e].yaml::GBS101",
        "recipes/a[1].yaml::GBS101",
        r"recipes/a\x1b:\x3ab[c].yaml::GBS101",
        r"recipes/n\nx.yaml::GBS101",
    ]


def test_properties_are_plain_values(write: Write, pytester: pytest.Pytester) -> None:
    write(
        {
            "recipes/a.yaml": VIOLATED,
            "conftest.py": "import json, pathlib\n\ndef pytest_runtest_logreport(report):\n    if report.failed:\n"
            "        pathlib.Path('properties.json').write_text(json.dumps(dict(report.user_properties)))\n",
        }
    )
    run(pytester)
    said = json.loads((pytester.path / "properties.json").read_text(encoding="utf-8"))
    assert {name: said[name] for name in ("gbs_code", "gbs_path", "gbs_line")} == {
        "gbs_code": "GBS101",
        "gbs_path": "recipes/a.yaml",
        "gbs_line": 1,
    }


@pytest.mark.parametrize("arguments", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_junit_has_the_line_as_message_and_the_text_once(write: Write, pytester: pytest.Pytester, arguments: tuple[str, ...]) -> None:
    write({"recipes/a.yaml": VIOLATED, "recipes/b.yaml": UNDETERMINED})
    pytester.runpytest_subprocess(*RECIPES, "--junitxml=junit.xml", *arguments)
    cases = {
        f"{case.get('classname')} {case.get('name')}": case for case in ElementTree.parse(Path("junit.xml")).getroot().iter("testcase")
    }
    failure = cases["recipes.a.yaml GBS101"].find("failure")
    assert failure is not None
    assert failure.get("message", "").endswith(" (recipes/a.yaml:1:8)")
    assert "\n" not in failure.get("message", "")
    assert (failure.text or "").startswith("recipes/a.yaml:1:8  error GBS101 stale-declaration\n")
    assert cases["recipes.b.yaml GBS101"].find("skipped") is not None


def test_paths_are_seen_from_the_current_folder(write: Write, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"recipes/a.yaml": VIOLATED, "pytest.ini": "[pytest]\n"})
    monkeypatch.chdir(pytester.path / "recipes")
    result = pytester.runpytest("--gbs-recipes", ".")
    result.stdout.fnmatch_lines(["a.yaml:1:8  error GBS101 stale-declaration"])


def test_the_launcher_files_of_the_whole_repository_are_evidence(write: Write, pytester: pytest.Pytester) -> None:
    launcher = "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 8\n"
    write({"accelerate/ddp.yaml": launcher, "recipes/a.yaml": UNDETERMINED})
    run(pytester, "-v").stdout.fnmatch_lines(["recipes/a.yaml::GBS101 PASSED*"])
    pytester.runpytest(*RECIPES, "recipes/a.yaml::GBS101", "-v").stdout.fnmatch_lines(["recipes/a.yaml::GBS101 PASSED*"])


def test_severity_of_the_recipe_itself_is_kept(write: Write, pytester: pytest.Pytester) -> None:
    write({"recipes/a.yaml": RECIPE + "per_device_train_batch_size: 1\ngradient_accumulation_steps: 0\n"})
    result = run(pytester, "-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["recipes/a.yaml::GBS003 FAILED*"])
