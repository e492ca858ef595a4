"""`gbs lsp` as a command: how it starts and ends, what it says without its extra, and the session that its page shows."""

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.cli.support import write
from tests.lsp.editor import editor
from tests.lsp.test_diagnostics import STALE
from tests.lsp.transcript import PAGE, in_page, record

WITHOUT = "import sys; sys.modules['pygls'] = None; sys.argv[1:] = ['lsp']; from pytest_gbs.cli import run; run()"
RAN = "import pathlib\npathlib.Path(__file__).with_name('ran').write_text(__name__)\n"


def test_without_its_library_it_says_how_to_get_it(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'gbs: gbs lsp needs pygls: pip install "pytest-gbs[lsp]"\n'


def test_an_editor_that_is_gone_ends_it(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "pytest_gbs", "lsp", "--stdio"]
    done = subprocess.run(line, cwd=tmp_path, input="", capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")


async def test_no_module_of_the_workspace_is_imported(tmp_path: Path) -> None:
    late = ("pygls", "lsprotocol", "attrs", "attr", "cattrs", "asyncio", "yaml", "ruamel", "tree_sitter", "array")
    write(tmp_path, {f"{name}.py": RAN for name in late})

    async with editor(tmp_path) as person:
        person.open("a.yaml", STALE)
        assert await person.codes("a.yaml") == ["GBS101"]
        await person.actions("a.yaml", "size 6|4")
        await person.hover("a.yaml", "size 6|4")
    assert not (tmp_path / "ran").exists()


def test_the_page_shows_what_happens() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert in_page(page, asyncio.run(record())) == page, "read what changed, then run python -m tests.lsp.transcript"
