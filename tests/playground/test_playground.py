"""The playground as people see it: in a headless Chromium, with the wheel of this checkout in the Python of Pyodide.

Pyodide and the grammar are not in the repository: GBS_PLAYGROUND_MODULES names the folder `node_modules` that has them.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import pytest_gbs
from tests.report.browser import Browser, browser
from tools.playground import ENGINE, PAGE, ROOT, write_engine, write_page

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the browser is driven over pipes of POSIX")

PATIENCE = 120  # seconds until Python has started
MODULES = Path(os.environ.get("GBS_PLAYGROUND_MODULES") or ROOT / "playground" / "node_modules")
SIZES = "per_device_train_batch_size: {}\ngradient_accumulation_steps: 2\n"
RECIPE = f"# global batch size 64 = 4 x 2 x 8 GPUs\nmodel_name_or_path: my/model\ndataset_name: my/dialogues\n{SIZES}"
LAUNCH = "#!/bin/bash\n# größer 😀\nN=8\naccelerate launch --num_processes $N sft.py \\\n  --config a.yaml\n"
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


class _Files(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript", ".wasm": "application/wasm"}  # noqa: RUF012

    def log_message(self, *_: object) -> None:
        """Be silent."""


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


def _served(chromium: Browser, folder: Path) -> Iterator[str]:
    """The address of what is in `folder`, the only one that the page may ask."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    chromium.own = (*chromium.own, address)
    yield address
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def bare(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page without an engine, as the site has it before there is one."""
    folder = tmp_path_factory.mktemp("bare")
    write_page(folder)
    yield from _served(chromium, folder)


@pytest.fixture(scope="module")
def whole(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page with all that it runs on."""
    missing = [name for package, names in ENGINE.items() for name in names if not (MODULES / package / name).exists()]
    if missing:
        pytest.skip(f"needs Pyodide: npm install --ignore-scripts --prefix playground ({MODULES / missing[0]} is missing)")
    folder, made = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("wheel")
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(made), str(ROOT)]
    subprocess.run(wheel, check=True, timeout=300)
    write_page(folder)
    write_engine(folder / "engine", MODULES, next(made.glob("*.whl")))
    yield from _served(chromium, folder)


@pytest.fixture
def ready(chromium: Browser, whole: str) -> str:
    """The address of the page, which is there with Python started and nothing in its fields."""
    if not chromium.run("location.href").startswith(whole) or not chromium.run("document.body.dataset.answers"):
        _open(chromium, whole)
    chromium.complaints.clear()
    _fill(chromium, recipe_name="a.yaml", recipe="", launch_name="run.sh", launch="", nodes="", gpus="")
    return whole


def _until(chromium: Browser, expression: str) -> None:
    end = time.monotonic() + PATIENCE
    while not chromium.run(expression):
        assert time.monotonic() < end, chromium.run("document.getElementById('status').textContent")
        time.sleep(0.05)


def _open(chromium: Browser, address: str, width: int = 1280, *, dark: bool = False) -> None:
    chromium.complaints.clear()
    chromium.open("about:blank")  # another fragment of the same page would not load it anew
    chromium.open(address, width, dark=dark)
    _until(chromium, "document.body.dataset.answers || document.body.dataset.failed")


def _fill(chromium: Browser, **fields: str) -> None:
    """Type into fields, and wait for the answer."""
    before = chromium.run("document.body.dataset.answers")
    for name, text in fields.items():
        find = f"each = document.getElementById('{name.replace('_', '-')}')"
        chromium.run(f"{find}; each.value = {json.dumps(text)}; each.dispatchEvent(new Event('input', {{bubbles: true}}))")
    _until(chromium, f"document.body.dataset.answers !== {json.dumps(before)}")


def _text(chromium: Browser, name: str) -> str:
    found: str = chromium.run(f"document.getElementById('{name}').innerText")
    return found


def _cells(chromium: Browser) -> list[list[str]]:
    rows = "[...document.querySelectorAll('#equation tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
    found: list[list[str]] = chromium.run(rows)
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_without_python_it_says_so(chromium: Browser, bare: str, width: int, dark: bool) -> None:
    _open(chromium, bare, width, dark=dark)
    assert _text(chromium, "status").startswith(f"Python could not be loaded from {bare}engine/")
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert chromium.run("getComputedStyle(document.body).backgroundColor") == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
    assert all("404" in each for each in chromium.complaints)


def test_every_field_has_a_label_and_is_reached_by_key(chromium: Browser, bare: str) -> None:
    _open(chromium, bare)
    fields = "[...document.querySelectorAll('input, textarea')]"
    assert chromium.run(f"{fields}.every((each) => each.labels.length === 1)")
    reached = []
    for _ in range(8):
        chromium.press("Tab")
        reached.append(chromium.run("document.activeElement.id"))
    assert reached == ["", "recipe-name", "recipe", "launch-name", "launch", "nodes", "gpus", "share"]


def test_a_policy_keeps_other_addresses_out() -> None:
    page = (ROOT / "playground" / "index.html").read_text(encoding="utf-8")
    policy = re.findall(r'Content-Security-Policy" content="(.+?)"', page)
    assert [each for each in policy[0].replace(";", "").split() if "'" not in each] == [
        *("default-src", "img-src", "data:", "script-src", "style-src", "connect-src", "base-uri", "form-action")
    ]
    texts = [(ROOT / "playground" / name).read_text(encoding="utf-8") for name in PAGE]
    assert not [each for text in texts for each in re.findall(r"https?://\S+", text)]
    assert not [each for text in texts for each in re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(", text)]


def test_what_is_typed_is_checked_as_in_python(chromium: Browser, ready: str) -> None:
    _fill(chromium, recipe=RECIPE.format(3), launch=LAUNCH)
    ours = pytest_gbs.load_texts({"a.yaml": RECIPE.format(3), "run.sh": LAUNCH})
    assert [each.code for each in ours.problems] == ["GBS101"]
    assert _text(chromium, "status") == repr(ours)[1:-1]
    assert _cells(chromium) == [list(row) for each in ours.recipes["a.yaml"].variants for row in each.equation()]
    assert ours.problems[0].message in _text(chromium, "findings")
    assert "launched by accelerate launch (run.sh:4)" in _text(chromium, "equation")
    _fill(chromium, recipe=RECIPE.format(4))
    assert _text(chromium, "findings") == "Nothing to complain of."
    assert chromium.complaints == []


def test_hardware_that_is_chosen_counts(chromium: Browser, ready: str) -> None:
    _fill(chromium, recipe=RECIPE.format(4).partition("\n")[2], nodes="2", gpus="8")
    assert _cells(chromium)[0][:2] == ["global batch size", "128"]
    _fill(chromium, nodes="-1")
    assert _text(chromium, "status") == "nodes -1 is not a positive whole number"
    assert chromium.complaints == []


def test_a_link_brings_back_what_was_there(chromium: Browser, ready: str) -> None:
    _fill(chromium, recipe_name="größe.yaml", recipe=RECIPE.format(4) + "# 😀\n", nodes="2", gpus="4")
    chromium.run("document.getElementById('share').click()")
    _until(chromium, "location.hash.length > 1 && document.getElementById('status').textContent.includes('link')")
    link, cells = chromium.run("location.href"), _cells(chromium)
    _open(chromium, link)
    assert chromium.run("document.getElementById('recipe-name').value") == "größe.yaml"
    assert chromium.run("document.getElementById('recipe').value") == RECIPE.format(4) + "# 😀\n"
    assert _cells(chromium) == cells
    assert chromium.complaints == []


@pytest.mark.parametrize("fragment", ["x", "%%%", "AAAA", "q1YqVrJSSlTSUUpVslJQqgUA"])
def test_a_broken_link_shows_an_example(chromium: Browser, ready: str, fragment: str) -> None:
    before = chromium.run("document.body.dataset.answers")
    chromium.run(f"location.hash = {json.dumps(fragment)}")
    _until(chromium, f"document.body.dataset.answers !== {json.dumps(before)}")
    assert _text(chromium, "status") == "This link is broken; here is an example instead."
    assert _cells(chromium)[0][:2] == ["global batch size", "256"]


def test_what_is_pasted_is_text(chromium: Browser, ready: str) -> None:
    _fill(chromium, recipe_name=f"{HOSTILE}.yaml", recipe=f"# {HOSTILE}\n" + RECIPE.format(3))
    assert chromium.run("document.images.length") == 0
    assert chromium.run("document.title") == "Playground - pytest-gbs"
    assert HOSTILE in _text(chromium, "findings")
    assert chromium.complaints == []
