"""Rules and tables that are not built in: of packages that the settings name, and of files that the command line names."""

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gbs.cli import main
from pytest_gbs.model.errors import SettingsError, UsageError
from pytest_gbs.settings import Overrides, load_settings

RULES = {"GBS101": "stale-declaration"}
MODULE = '''\
"""Every batch is a multiple of 64."""

from pytest_gbs.model.framework import Framework, Recognition, Row
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.rule import Rule, Scope


def check(run):
    size = run.geometry.get("global_batch_size")
    if getattr(size, "value", 0) % 64:
        yield Finding("{code}", "no multiple of 64", "error", run.at("micro_batch_size"))


RULE = Rule("{code}", "odd-batch", Scope.RUN, "a batch that is not a multiple of 64", (), (), check)
FRAMEWORK = Framework("acme", "Acme", Recognition(all_of=(("acme",),)), "samples", (Row(("acme", "batch"), "global_batch_size"),), ())
'''
RECIPE = """\
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
per_device_train_batch_size: 3
"""


def _install(folder: Path, name: str, text: str) -> None:
    """Write an installed package that offers its one module as a plug-in of this name."""
    (folder / f"{name}_module.py").write_text(text)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[pytest_gbs]\n{name} = {name}_module\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one recipe, in which the test runs."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "sft.yaml").write_text(RECIPE)
    monkeypatch.chdir(folder)
    return folder


def _settings(root: Path, text: str) -> None:
    (root / "gbs.toml").write_text(text)


def test_an_installed_plugin_that_is_not_named_is_not_loaded(site: Path, root: Path) -> None:
    _install(site, "silent", "raise RuntimeError('loaded')\n")
    _settings(root, "")
    assert load_settings(root, rules=RULES).rules == ()


def test_settings_without_plugins_do_not_look_for_any(root: Path) -> None:
    _settings(root, "nodes = 4\n")
    code = (
        "import sys; from pytest_gbs.settings import load_settings; load_settings(sys.argv[1], rules={});"
        "print('importlib.metadata' in sys.modules)"
    )
    line = f"import sys; sys.path[:0] = {sys.path!r}; {code}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", line, str(root)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_python_files_of_a_repository_are_not_rules_whatever_its_settings_say(root: Path) -> None:
    (root / "evil.py").write_text("raise RuntimeError('loaded')\n")
    for setting in ('plugins = ["evil"]', 'plugins = ["evil.py"]', 'plugins = ["./evil"]', 'local-rules = ["evil.py"]'):
        _settings(root, f"{setting}\n")
        with pytest.raises(SettingsError):
            load_settings(root, rules=RULES)


def test_a_plugin_brings_rules_and_tables(site: Path, root: Path) -> None:
    _install(site, "brings", MODULE.format(code="ACME101"))
    _settings(root, 'plugins = ["brings"]\nignore = ["odd-batch"]\n')
    settings = load_settings(root, rules=RULES)
    assert [(rule.code, rule.manual) for rule in settings.rules] == [("ACME101", "Every batch is a multiple of 64.")]
    assert [table.title for table in settings.frameworks] == ["Acme"]
    assert settings.ignore == ("ACME101",)


def test_the_lists_name_what_a_plugin_brings(site: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _install(site, "listed", MODULE.format(code="ACME103"))
    _settings(root, 'plugins = ["listed"]\n')
    for command, words in (["rules"], "ACME103"), (["rule", "odd-batch"], "Every batch is a multiple of 64."), (["frameworks"], "Acme"):
        assert main(command) == 0
        assert words in capsys.readouterr().out


def test_the_manual_is_there_where_the_settings_are_broken(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _settings(root, "nodes = 0\n")
    assert main(["rule", "GBS101"]) == 0
    reported = capsys.readouterr()
    assert "stale-declaration" in reported.out
    assert reported.err.startswith("gbs: using only the built-in rules and frameworks: ")
    assert reported.err.count("\n") == 1


def test_a_rule_of_a_plugin_is_checked(site: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _install(site, "checks", MODULE.format(code="ACME102"))
    _settings(root, 'plugins = ["checks"]\n')
    assert main(["check", "--world-size", "8", "--format", "concise", "sft.yaml"]) == 1  # 3 x 8 = 24
    assert "ACME102" in capsys.readouterr().out
    assert main(["check", "--world-size", "64", "sft.yaml"]) == 0


def test_a_table_of_a_plugin_is_recognised(site: Path, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _install(site, "tables", MODULE.format(code="ACME103"))
    _settings(root, 'plugins = ["tables"]\n')
    (root / "acme.yaml").write_text("acme: {batch: 128}\n")
    assert main(["show", "acme.yaml"]) == 0
    assert "Acme" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("import not_there\n", "can't be loaded: ModuleNotFoundError: No module named 'not_there'", id="broken"),
        pytest.param("x = 1\n", "offers neither rules (RULE, RULES) nor frameworks (FRAMEWORK, FRAMEWORKS)", id="empty"),
        pytest.param("RULES = ('GBS101',)\n", "offers a str as a rule", id="no rule"),
        pytest.param(MODULE.format(code="GBS101"), "has a rule GBS101, and there is one already", id="a code that is taken"),
    ],
)
def test_what_is_wrong_with_a_plugin_is_reported_with_its_line(
    text: str, expected: str, site: Path, root: Path, request: pytest.FixtureRequest
) -> None:
    name = f"wrong_{request.node.callspec.id.replace(' ', '_')}"
    _install(site, name, text)
    _settings(root, f'nodes = 1\nplugins = ["{name}"]\n')
    with pytest.raises(SettingsError) as caught:
        load_settings(root, rules=RULES)
    assert str(caught.value) == f'gbs.toml:2: plugins contains "{name}", which {expected}'


def test_a_plugin_that_is_not_installed_is_reported_with_the_other_mistakes(site: Path, root: Path) -> None:
    _install(site, "there", MODULE.format(code="ACME104"))
    _settings(root, 'plugins = ["their"]\nnodes = "x"\n')
    with pytest.raises(SettingsError) as caught:
        load_settings(root, rules=RULES)
    first, second = str(caught.value).splitlines()
    assert first.startswith('gbs.toml:1: plugins contains "their", which no installed package offers')
    assert "there" in first
    assert second.startswith("gbs.toml:2: nodes is")


# Local rules.


def test_local_rules_run_where_the_command_line_names_them(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "rules").mkdir()
    (root / "rules" / "odd.py").write_text(MODULE.format(code="OUR101"))
    (root / "rules" / "_shared.py").write_text("raise RuntimeError('loaded')\n")
    arguments = ["check", "--world-size", "8", "--format", "concise", "sft.yaml"]
    assert main(arguments) == 0
    for path in ("rules", "rules/odd.py"):
        assert main([*arguments, "--allow-local-rules", path]) == 1
        assert "OUR101" in capsys.readouterr().out


def test_pytest_runs_local_rules_too(pytester: pytest.Pytester) -> None:
    (pytester.path / "sft.yaml").write_text(RECIPE)
    (pytester.path / "odd.py").write_text(MODULE.format(code="OUR103"))
    arguments = ("--gbs-recipes", "sft.yaml", "--gbs-world-size", "8")
    assert "OUR103" not in pytester.runpytest_subprocess(*arguments).stdout.str()
    result = pytester.runpytest_subprocess(*arguments, "--gbs-allow-local-rules", "odd.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*sft.yaml::OUR103*"])


def test_a_local_rule_can_be_selected(root: Path) -> None:
    (root / "odd.py").write_text(MODULE.format(code="OUR102"))
    overrides = Overrides(select=["odd-batch"], local_rules=["odd.py"])
    assert load_settings(root, None, overrides, rules=RULES).select == ("OUR102",)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("missing.py", None, id="missing"),
        pytest.param("odd.txt", "RULES = ()\n", id="no Python file"),
        pytest.param("odd.py", "def\n", id="no Python"),
        pytest.param("odd.py", "import not_there\n", id="an import that fails"),
        pytest.param("odd.py", "x = 1\n", id="no rule"),
        pytest.param("odd.py", MODULE.format(code="GBS101"), id="a code that is taken"),
    ],
)
def test_local_rules_that_are_none_are_a_usage_error(path: str, text: str | None, root: Path) -> None:
    if text is not None:
        (root / path).write_text(text)
    with pytest.raises(UsageError, match="--allow-local-rules"):
        load_settings(root, None, Overrides(local_rules=[path]), rules=RULES)
