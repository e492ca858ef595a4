"""One version everywhere, and a tag that is released only if it is that one."""

import re
import subprocess
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from pytest_gbs import __version__
from pytest_gbs.cli import run
from tools import addresses, release

ROOT = Path(__file__).resolve().parents[1]


def test_one_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    component = (ROOT / "templates" / "gbs.yml").read_text(encoding="utf-8")
    assert {release.version(), citation["version"], *re.findall(r"pytest-gbs==([\d.]+)", component)} == {__version__}


def _checkout(root: Path) -> None:
    """The files of this checkout as git has them, in a repository of their own."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for name in filter(None, names):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "examples/")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_where_the_project_lives_is_named_in_few_files() -> None:
    named = {name for name in addresses.named_in() if not name.startswith(("schemas/", "tests/"))}
    prose = {"CITATION.cff", "SECURITY.md", "docs/ci.md", "docs/playground.md", "docs/pre-commit.md"}
    assert named == {*prose, "editors/vscode/package.json", "pyproject.toml", "src/pytest_gbs/model/documentation.py"}
    for name in prose:
        assert "OWNER" not in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no git checkout")
def test_the_project_can_move(tmp_path: Path) -> None:
    _checkout(tmp_path)
    before = addresses.named_in(tmp_path)
    addresses.move("https://git.example.org/acme/gbs", "https://acme.example.org/gbs/", tmp_path)
    assert addresses.addresses(tmp_path) == ("git.example.org/acme/gbs", "acme.example.org/gbs")
    after = addresses.named_in(tmp_path)
    assert {name: len(lines) for name, lines in after.items()} == {name: len(lines) for name, lines in before.items()}
    assert "--repo acme/gbs" in (tmp_path / "SECURITY.md").read_text(encoding="utf-8")
    assert (
        'DOCUMENTATION: Final = "https://acme.example.org/gbs/en/stable/"'
        in (tmp_path / "src/pytest_gbs/model/documentation.py").read_text()
    )


def test_a_tag_that_is_not_the_version_is_not_released() -> None:
    assert "the tag is v0.0.1" in release.problems("v0.0.1")[0]


def test_the_package_runs_by_its_own_name() -> None:
    ours = {each.name: each.load() for each in entry_points(group="console_scripts") if each.value.startswith("pytest_gbs")}
    assert ours == {"gbs": run, "pytest-gbs": run}


def test_the_changelog_begins_with_what_is_unreleased_or_the_version() -> None:
    headings = re.findall(r"(?m)^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert headings[0] in ("Unreleased", __version__)
