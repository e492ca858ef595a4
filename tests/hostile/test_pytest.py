"""pytest with options and folders of a stranger: each ends with what was found, or with one line that says what is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from tests.hostile.watched import GOOD
from tests.support import PYTHON

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such names")

BAD: Final = GOOD.replace("128", "129")
NAMES: Final = ("-x.yaml", "a::b.yaml", "c[d].yaml", "e\nf.yaml", "\x1b[31mg.yaml", "\u202eh.yaml", "i j.yaml", "--gbs-strict.yaml")
REFUSED: Final = {
    "no nodes": ("--gbs-nodes=0",),
    "nodes without end": ("--gbs-nodes", "9" * 5_000),
    "nodes of controls": ("--gbs-nodes=\x1b[2J",),
    "nodes in Arabic": ("--gbs-nodes=\u0663",),
    "a rule that does not exist": ("--gbs-select=GBS999",),
    "a rule of controls": ("--gbs-ignore=\x1b[2J\n::error::x",),
    "rules of a device": ("--gbs-allow-local-rules=/dev/zero",),
    "a revision that is an option": ("--gbs-changed-since=--output=evil",),
    "recipes of nowhere": ("--gbs-recipes=nope",),
    "recipes of controls": ("--gbs-recipes=\x1b[2J\n::error::x",),
    "recipes that are a device": ("--gbs-recipes=/dev/zero",),
}
TAKEN: Final = {
    "no terminal": ("-p", "no:terminal"),
    "no skipping": ("-p", "no:skipping"),
    "no JUnit": ("-p", "no:junitxml"),
    "JUnit": ("--junitxml=out.xml",),
    "collected alone": ("--collect-only", "-q"),
    "two processes": ("-n", "2"),
    "the last failed": ("--lf",),
    "another parent": ("--gbs-recipes=recipes/..",),
    "the same again": ("--gbs-recipes=./recipes/", "--gbs-recipes=recipes"),
}


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [*PYTHON, "-m", "pytest", "-p", "no:randomly", *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, check=False, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    recipes = tmp_path / "recipes"
    (recipes / "folder.yaml").mkdir(parents=True)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_own.py").write_text("raise SystemExit('collected')\n")
    (recipes / "test_of_recipes.py").write_text("raise SystemExit('collected')\n")
    for name in NAMES:
        (recipes / name).write_text(BAD)
    (recipes / "loop").symlink_to("../recipes")
    (recipes / "gone.yaml").symlink_to("nowhere")
    (recipes / "outside.yaml").symlink_to("/etc/passwd")
    return tmp_path


def _is_harmless(text: str) -> bool:
    """Whether nothing in `text` is a control or a command of a workflow."""
    lines = text.split("\n")
    return not set(text) & {"\x1b", "\u202e", "\r"} and not any(line.startswith("::error") for line in lines)


@pytest.mark.parametrize("options", REFUSED.values(), ids=REFUSED)
def test_options_that_make_no_sense_are_one_line(options: tuple[str, ...], folder: Path) -> None:
    done = _run(folder, "--gbs-recipes=recipes", *options)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 4, said
    assert "Traceback" not in said and "INTERNALERROR" not in said
    assert _is_harmless(said)
    assert len(said) < 8_000 or len("".join(options)) > 4_000


@pytest.mark.parametrize("options", TAKEN.values(), ids=TAKEN)
def test_names_of_a_stranger_are_items_like_any_other(options: tuple[str, ...], folder: Path) -> None:
    if "-n" in options and find_spec("xdist") is None:
        pytest.skip("pytest-xdist is not installed")
    done = _run(folder, "--gbs-recipes=recipes", *options)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == (0 if "--collect-only" in options else 1), said
    assert not any(word in said for word in ("Traceback", "INTERNALERROR", "SystemExit", "collected')", "root:x:"))
    assert _is_harmless(said)


def test_an_item_is_chosen_by_the_id_that_it_is_shown_with(folder: Path) -> None:
    shown = _run(folder, "--gbs-recipes=recipes", "--collect-only", "-q").stdout.decode().splitlines()
    ids = [line for line in shown if line.endswith("::GBS101")]
    assert len(ids) == len(NAMES)
    done = _run(folder, "--gbs-recipes=recipes", "-q", "--deselect", ids[-1])
    assert f"{len(NAMES) - 1} failed" in done.stdout.decode()
