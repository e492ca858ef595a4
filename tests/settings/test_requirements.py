"""Which versions of a package the files of a repository ask for."""

from __future__ import annotations

import time

import pytest

from pytest_gbs.model.location import Source
from pytest_gbs.settings.requirements import asks_for_versions, read_pins


def _pins(name: str, text: str) -> list[tuple[str, bool]]:
    return [(text[pin.at.start : pin.at.stop].strip(), pin.exact) for pin in read_pins(Source(name, text), "trl") if pin.at]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "torch==2.0\ntrl-extras==1.0\nnotrl==1.0\n"),
        ("requirements.txt", "# trl==0.14.0\n"),
        ("requirements.txt", "trl\ntrl @ git+https://x/trl@v0.14.0\n-e ./trl\n"),
        ("requirements.txt", "trl==0.14.0rc1\n"),
        ("uv.lock", '[[package]]\nname = "trl"\nsource = { git = "x" }\n'),
        ("uv.lock", '[[package]]\nname = "other"\nversion = "0.14.0"\ndependencies = [{ name = "trl" }]\n'),
        ("pyproject.toml", '[project]\nname = "trl"\nversion = "0.14.0"\n'),
        ("pyproject.toml", 'dependencies = ["trl", "my-trl==1.0"]\n'),
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
    ],
    ids=str,
)
def test_what_is_said_is_read_with_its_place(name: str, text: str, expected: list[tuple[str, bool]]) -> None:
    assert _pins(name, text) == expected


@pytest.mark.parametrize("name", ["pyproject.toml", "uv.lock", "requirements.txt", "requirements-gpu.txt"])
def test_files_that_ask_for_versions_are_known_by_name(name: str) -> None:
    assert asks_for_versions(name)
    assert not asks_for_versions(f"x{name}")


@pytest.mark.parametrize(
    "text", ["trl[" * 50_000, "trl " * 50_000, '"trl' * 50_000, "trl" + "=" * 200_000, 'name = "trl"\n' * 20_000], ids=str
)
def test_hostile_text_is_read_quickly(text: str) -> None:
    start = time.monotonic()
    for name in ("requirements.txt", "pyproject.toml", "uv.lock"):
        list(read_pins(Source(name, text), "trl"))
    assert time.monotonic() - start < 10
