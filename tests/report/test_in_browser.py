"""The page as people see it: in a headless Chromium, at three widths, with and without JavaScript."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_gbs.cli import main
from tests.cli.support import GOOD, STALE, UNCLAIMED, write
from tests.report.browser import Browser, browser

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the browser is driven over pipes of POSIX")

HOSTILE = "<img src=x onerror=alert(1)>&\"'.yaml"
FILES = {
    "gbs.toml": "gpus-per-node = 8\n",
    "a.yaml": GOOD,
    "b.yaml": STALE,
    "c.yaml": UNCLAIMED,
    "deep/down/d.yaml": GOOD.replace("2 nodes", "16 nodes").replace("128", "1,024"),
    HOSTILE: UNCLAIMED + "# </script><script>document.title = 'owned'</script>\n",
}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of this module."""
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page on five recipes, one of them of somebody who means harm."""
    return _made(tmp_path_factory.mktemp("recipes"), FILES)


def _made(folder: Path, files: dict[str, str]) -> Path:
    write(folder, files)
    out = folder / "page.html"
    assert main(["report", str(folder), "-o", str(out), "--jobs", "1"]) == 0
    return out


def _column(chromium: Browser, number: int) -> list[str]:
    shown = "[...document.querySelectorAll('tbody tr')].filter((row) => !row.hidden)"
    found: list[str] = chromium.run(f"{shown}.map((row) => row.cells[{number}].textContent)")
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 900, 1400])
def test_nothing_sticks_out_and_nothing_is_complained_of(chromium: Browser, page: Path, width: int, dark: bool) -> None:
    chromium.complaints.clear()
    chromium.open(page, width, dark=dark)
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert chromium.run("getComputedStyle(document.body).backgroundColor") == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
    assert chromium.run("getComputedStyle(document.querySelector('tr:last-child')).display") == ("block" if width < 700 else "table-row")
    assert chromium.complaints == []


def test_a_name_is_text_whatever_it_holds(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert chromium.run("document.title") == f"Batch sizes of {page.parent.name}"
    assert chromium.run("document.images.length + document.querySelectorAll('[onerror]').length") == 0
    assert chromium.run("document.scripts.length") == 1
    assert HOSTILE in _column(chromium, 0)


def test_columns_are_sorted_by_what_they_hold(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.run("document.querySelectorAll('thead button')[2].click()")
    assert _column(chromium, 2) == ["128", "256", "1,024", "8 x GPUs", "8 x GPUs"]
    chromium.run("document.querySelectorAll('thead button')[2].click()")
    assert _column(chromium, 2) == ["1,024", "256", "128", "8 x GPUs", "8 x GPUs"]
    assert chromium.run("document.querySelectorAll('thead th')[2].getAttribute('aria-sort')") == "descending"
    chromium.run("document.querySelectorAll('thead button')[1].click()")
    assert _column(chromium, 1) == ["unclaimed", "unclaimed", "verified", "verified", "violated"]


def test_everything_can_be_done_with_the_keyboard(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.run("document.querySelector('input').focus()")
    chromium.type("deep d.yaml")
    assert _column(chromium, 0) == ["deep/down/d.yaml"]
    assert chromium.run("document.querySelector('output').textContent") == "1 of 5"
    chromium.run("document.querySelector('input').value = ''; document.querySelector('form').dispatchEvent(new Event('input'))")
    for _ in range(4):  # verdict, framework, the table, its first heading
        chromium.press("Tab")
    assert chromium.run("document.activeElement.textContent") == "recipe"
    chromium.press("Enter")
    chromium.press("Enter")
    assert _column(chromium, 0)[0] == "deep/down/d.yaml"


def test_a_verdict_is_chosen(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    chromium.run(
        "const one = document.querySelector('select'); one.value = 'violated'; one.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    assert _column(chromium, 0) == ["b.yaml"]


def test_a_link_opens_what_it_leads_to(chromium: Browser, page: Path) -> None:
    chromium.open(page)
    assert chromium.run("document.querySelectorAll('details[open]').length") == 0
    chromium.run("document.querySelector('tbody a').click()")
    assert "runs on" in chromium.run("document.querySelector('details[open] pre').textContent")


def test_without_scripts_the_table_is_whole_and_nothing_pretends_to_work(chromium: Browser, page: Path) -> None:
    chromium.open(page, scripts=False)
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    assert len(_column(chromium, 0)) == 5
    assert chromium.run("document.querySelectorAll('button').length") == 0
    assert chromium.run("document.querySelector('form').offsetHeight") == 0


def test_thousands_of_recipes_are_there_at_once(chromium: Browser, tmp_path: Path) -> None:
    page = _made(tmp_path, {f"{number % 50}/{number}.yaml": GOOD if number % 3 else UNCLAIMED for number in range(3000)})
    start = time.process_time()
    chromium.open(page)
    timing = "performance.getEntriesByType('navigation')[0]"
    assert len(_column(chromium, 0)) == 3000
    assert chromium.run(f"{timing}.loadEventEnd - {timing}.responseStart") < 2000 * _slower()
    chromium.run("document.querySelectorAll('thead button')[2].click()")
    assert _column(chromium, 2)[:1] == ["128"]
    assert time.process_time() - start < 10


def _slower() -> float:
    """How often this machine has more to do than processors to do it with."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
