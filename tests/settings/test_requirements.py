"""Which versions of a package the files of a repository ask for."""

import json
import time
from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.location import Source
from pytest_gbs.model.settings import Settings
from pytest_gbs.settings.requirements import asks_for_versions, read_installed, read_pins
from pytest_gbs.settings.versions import Versions


def _pins(name: str, text: str) -> list[tuple[str, bool]]:
    return [(text[pin.at.start : pin.at.stop].strip(), pin.exact) for pin in read_pins(Source(name, text), "trl") if pin.at]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "torch==2.0\ntrl-extras==1.0\nnotrl==1.0\n"),
        ("requirements.txt", "# trl==0.14.0\n"),
        ("requirements.txt", "trl\ntrl @ git+https://x/y/trl\n-e ./trl\n"),
        ("requirements.txt", "trl @ git+https://x/y/trl@main\n-e git+https://x/y/trl.git@HEAD#egg=trl\n"),
        ("requirements.txt", "# trl @ git+https://x/y/trl@019fc6d\nmy-trl @ git+https://x/y/trl@019fc6d\n"),
        ("requirements.txt", "git+https://x/y/trl-extras.git@019fc6d\ngit+https://x/y/trl.git@019fc6d#egg=my-trl\n"),
        ("pyproject.toml", '[tool.uv.sources]\ntrl = { path = "../trl" }\nother = { git = "https://x/y/trl", rev = "019fc6d" }\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\n# trl = "^0.14"\ntrl-extras = "^0.14"\ntrl = "*"\n'),
        ("requirements.txt", "trl==0.14.0rc1\n"),
        ("uv.lock", '[[package]]\nname = "trl"\nsource = { git = "x" }\n'),
        ("uv.lock", '[[package]]\nname = "other"\nversion = "0.14.0"\ndependencies = [{ name = "trl" }]\n'),
        ("pyproject.toml", '[project]\nname = "trl"\nversion = "0.14.0"\n'),
        ("pyproject.toml", 'dependencies = ["trl", "my-trl==1.0"]\n'),
        ("pyproject.toml", '# dependencies = ["trl==0.14.0"]\n'),
        ("setup.py", "install_requires=['trl', 'my-trl==1.0']\n"),
        ("setup.cfg", "install_requires =\n    trl\n    trl-extras==1.0\n"),
        ("environment.yml", "dependencies:\n  - trl\n  # - trl==0.14.0\n  - pip:\n    - my-trl==1.0\n"),
        ("environment.yml", "name: trl\nvariables:\n  trl: '==1.0'\n"),
        ("Dockerfile", "RUN pip install trl my-trl==1.0 trl-extras==2\n# RUN pip install trl==0.14.0\n"),
        ("Dockerfile", "RUN pip install 'trl>=0.14' git+https://x/y/trl --find-links=trl==0.14.0\n"),
        ("run.yaml", "- trl==0.14.0\n"),
        (".gitmodules", '[submodule "trl"]\n\tpath = lib/trl\n\turl = https://x/trl/other.git\n'),
        (".gitmodules", '[submodule "trl"]\n\tpath = trl\n\turl = https://x/y/trl-extras\n'),
        ("docker.txt", "trl==0.14.0\n"),
    ],
    ids=str,
)
def test_nothing_is_read_where_nothing_is_said(name: str, text: str) -> None:
    assert _pins(name, text) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("requirements.txt", "torch==2.0\ntrl==0.14.0\n", [("==0.14.0", True)]),
        ("requirements.txt", "TRL[vllm] == 0.14.0 ; python_version > '3.9'  # why\n", [("== 0.14.0", True)]),
        ("requirements.txt", "trl>=0.14,<0.15\n", [(">=0.14,<0.15", False)]),
        ("requirements-dev.txt", "trl==0.14.0 --hash=sha256:ab\n", []),
        ("requirements.txt", "trl==0.14.0 \\\n    --hash=sha256:ab\n", [("==0.14.0", True)]),
        ("uv.lock", '[[package]]\nname = "trl"\nversion = "0.14.0"\n', [("0.14.0", True)]),
        ("poetry.lock", '[[package]]\r\nname = "trl"\r\nversion = "0.14.0"\r\n', [("0.14.0", True)]),
        ("pyproject.toml", "dependencies = ['trl[x]==0.14.0', \"torch\"]\n", [("==0.14.0", True)]),
        ("pyproject.toml", "dependencies = [\"trl~=0.14.0; sys_platform == 'linux'\"]\n", [("~=0.14.0", False)]),
        ("setup.py", "setup(install_requires=['torch', 'trl[vllm]==0.14.0'])\n", [("==0.14.0", True)]),
        ("setup.cfg", "install_requires =\n    torch\n    trl==0.14.0\n", [("==0.14.0", True)]),
        ("environment.yml", "dependencies:\n  - pip:\n    - 'trl[vllm]==0.14.0'\n", [("==0.14.0", True)]),
        ("environment-gpu.yaml", "dependencies:\n  - conda-forge::trl=0.14.0=pyhd8\n", [("=0.14.0=pyhd8", False)]),
        ("conda.yml", "- trl=0.14\n- torch\n", [("=0.14", False)]),
        ("Dockerfile", "RUN pip install torch trl[vllm]==0.14.0 && rm -r /x\n", [("==0.14.0", True)]),
        ("Dockerfile.gpu", "RUN pip install \\\n    torch==2.1 \\\n    'trl==0.14.0'\n", [("==0.14.0", True)]),
        ("requirements.txt", "trl @ git+https://x/y/trl@v0.14.0\n", [("v0.14.0", True)]),
        ("pyproject.toml", '[tool.uv.sources]\ntrl = { git = "https://x/y/trl", tag = "v0.14.0" }\n', [("v0.14.0", True)]),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntrl = "^0.14.2"\n', [("^0.14.2", False)]),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntrl = { version = "0.14.2", extras = ["vllm"] }\n', [("0.14.2", True)]),
        ("train.dockerfile", "RUN uv pip install trl==0.14.0\n", [("==0.14.0", True)]),
    ],
    ids=str,
)
def test_what_is_said_is_read_with_its_place(name: str, text: str, expected: list[tuple[str, bool]]) -> None:
    assert _pins(name, text) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "trl@git+https://x/y/trl.git@019fc6d#egg=trl[main]\n"),
        ("requirements.txt", "trl[vllm] @ git+https://x/y/fork@019fc6d ; python_version > '3.9'\n"),
        ("requirements.txt", "-e git+ssh://git@x/y/trl.git@019fc6d#egg=trl\n"),
        ("requirements.txt", "git+https://x/y/trl.git@019fc6d\n"),
        ("requirements.txt", "git+https://x/y/fork.git@019fc6d#subdirectory=a&egg=trl\n"),
        ("requirements.txt", "trl @ https://x/y/trl/archive/019fc6d.zip\n"),
        ("setup.py", "install_requires=['trl @ git+https://x/y/trl.git@019fc6d']\n"),
        ("setup.cfg", "install_requires =\n    trl @ git+https://x/y/trl.git@019fc6d\n"),
        ("pyproject.toml", 'dependencies = ["trl @ git+https://x/y/trl.git@019fc6d"]\n'),
        ("pyproject.toml", '[tool.uv.sources]\ntrl = { git = "https://x/y/trl.git", rev = "019fc6d" }\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntrl = {rev = "019fc6d", git = "https://x/y/trl.git"}\n'),
        ("environment.yml", "dependencies:\n  - pip:\n    - git+https://x/y/trl.git@019fc6d\n"),
        ("Dockerfile", "RUN pip install torch git+https://x/y/trl.git@019fc6d && rm -r /x\n"),
    ],
    ids=str,
)
def test_a_commit_may_be_any_version(name: str, text: str) -> None:
    (pin,) = read_pins(Source(name, text), "trl")
    assert (pin.low, pin.high, pin.exact, pin.commit, pin.text) == (None, None, False, True, "019fc6d")
    assert pin.at
    assert text[pin.at.start : pin.at.stop] == "019fc6d"


@pytest.mark.parametrize(
    "text",
    ["\tpath = lib/trl\n\turl = https://x/y/trl.git\n\tbranch = main\n", "    path = lib/trl\r\n    url = git@x:me/trl\r\n"],
)
def test_a_submodule_is_at_a_commit_that_may_be_any_version(text: str) -> None:
    (pin,) = read_pins(Source(".gitmodules", f'[submodule "one"]\n{text}'), "trl")
    assert (pin.low, pin.high, pin.exact, pin.commit, pin.text) == (None, None, False, True, "lib/trl")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("0.16.0.dev0", (0, 15), (0, 16)), ("0.15.3.dev0+gab", (0, 15, 2), (0, 15, 3)), ("5.0.0.dev0", None, (5,))],
)
def test_what_a_lock_file_has_of_a_commit_lies_between_two_releases(text: str, low: object, high: object) -> None:
    (pin,) = read_pins(Source("uv.lock", f'name = "trl"\nversion = "{text}"\nsource = {{ git = "https://x/y/trl?rev=a#a" }}\n'), "trl")
    assert (pin.low, pin.high, pin.exact, pin.commit) == (low, high, False, True)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("^0.14.2", (0, 14, 2), (0, 15)), ("^1.2", (1, 2), (2,)), ("^0.0.3", (0, 0, 3), (0, 0, 4)), ("~0.14.2", (0, 14, 2), (0, 15))],
)
def test_specifiers_of_poetry_are_ranges(text: str, low: object, high: object) -> None:
    (pin,) = read_pins(Source("pyproject.toml", f'trl = "{text}"\n'), "trl")
    assert (pin.low, pin.high, pin.exact) == (low, high, False)


@pytest.mark.parametrize(
    ("text", "low", "high"), [("=0.14.0", (0, 14), (0, 14, 1)), ("=0.14", (0, 14), (0, 15)), ("=0.14.*", (0, 14), (0, 15))]
)
def test_one_equals_sign_of_conda_is_a_range(text: str, low: object, high: object) -> None:
    (pin,) = read_pins(Source("environment.yml", f"- trl{text}\n"), "trl")
    assert (pin.low, pin.high) == (low, high)


@pytest.mark.parametrize(
    "name",
    ["pyproject.toml", "uv.lock", "requirements.txt", "requirements-gpu.txt", "setup.py", "setup.cfg", "environment.yml", "Dockerfile.gpu"],
)
def test_files_that_ask_for_versions_are_known_by_name(name: str) -> None:
    assert asks_for_versions(name)
    assert not asks_for_versions(f"x{name}")


@pytest.mark.parametrize(
    "text",
    [
        "trl[" * 50_000,
        "trl " * 50_000,
        '"trl' * 50_000,
        "trl" + "=" * 200_000,
        "trl@git+https://" + "a/" * 99_000,
        "trl={git=" * 30_000,
        'name = "trl"\n' * 20_000,
    ],
    ids=str,
)
def test_hostile_text_is_read_quickly(text: str) -> None:
    start = time.process_time()
    for name in ("requirements.txt", "pyproject.toml", "uv.lock", "environment.yml", "Dockerfile"):
        list(read_pins(Source(name, text), "trl"))
    assert time.process_time() - start < 10


def _notebook(*lines: str) -> Source:
    cells = [{"cell_type": "code", "source": list(lines)}, {"cell_type": "markdown", "source": ["!pip uninstall trl==0.9.0"]}]
    return Source("run.ipynb", json.dumps({"cells": cells}, indent=1))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# !pip install trl==0.15.2", []),
        ("if colab:\n    !pip install trl==0.15.2", []),
        ("!pip install trl", []),
        ("!pip install trl>=0.15.2", []),
        ("!pip install trlx==0.7", []),
        ("!pip uninstall trl==0.15.2", []),
        ("print('!pip install trl==0.15.2')", []),
        ("!pip install -r trl==0.15.2.txt", []),
        ("!pip install trl==0.15.2", ["==0.15.2"]),
        ("%pip install -q trl==0.15.2 peft\n", ["==0.15.2"]),
        ("import os\n!pip install --no-deps 'trl==0.15.2' \"peft==0.1\"", ["==0.15.2"]),
        ('!python -m pip install -U "trl[vllm]==0.15.2"', ["==0.15.2"]),
        ("! uv pip install peft TRL==0.15.2 # as in the paper", ["==0.15.2"]),
    ],
)
def test_what_a_notebook_installs(line: str, expected: list[str]) -> None:
    source = _notebook(*line.splitlines(keepends=True))
    assert [source.text[pin.at.start : pin.at.stop] for pin in read_installed(source, "trl") if pin.at] == expected


def test_a_notebook_says_its_version_before_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("trl==0.9.6\n")
    (tmp_path / "run.ipynb").write_text(_notebook("!pip install trl==0.15.2").text)
    (tmp_path / "other.ipynb").write_text(_notebook("!pip install peft==0.15.2").text)
    tree = WorkTree(tmp_path)
    versions = Versions(tree, Settings(), tree.paths)
    found = (versions.pin("trl", name) for name in ("run.ipynb", "other.ipynb", "run.py"))
    assert [pin.text for pin in found if pin] == ["==0.15.2", "==0.9.6", "==0.9.6"]
