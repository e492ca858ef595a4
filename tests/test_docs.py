"""What the pages show is what happens, and each of their links leads somewhere."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from pytest_gbs.cli import commands
from pytest_gbs.cli.completion import whole_parser
from tools.run_docs import ROOT, as_run, pages

PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=_name)
def test_what_is_shown_is_what_is_printed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert as_run(text) == text, f"read what changed, then run python -m tools.run_docs {_name(page)}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "rules"], ids=_name)
def test_every_block_names_its_language(page: Path) -> None:
    fences = re.findall(r"(?m)^```(\w*)$", page.read_text(encoding="utf-8"))
    assert "" not in fences[::2], "what is printed belongs into a console block, which is run"


@cache
def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / file if file else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_command_that_is_named_can_be_called(page: Path) -> None:
    blocks = re.findall(r"(?ms)^```(?:sh|bash|console)?\n(.*?)^```$", page.read_text(encoding="utf-8"))
    for line in re.findall(r"(?m)^(?:\$ )?(gbs [a-z].*)$", "\n".join(blocks)):
        _, name, *words = shlex.split(re.split(r" [|>&]| +#|;", line)[0])
        if name in commands():
            whole_parser().parse_args([name, *words])


def test_each_promise_of_security_names_tests_that_are_there() -> None:
    promises = [line for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")][1:]
    assert len(promises) == 13
    assert [line for line in promises if "`tests/" not in line] == []
    for path, test in re.findall(r"`(tests/[^`]+?)(?:::(\w+))?`", "".join(promises)):
        assert f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"), (path, test)
