"""What is written down of plug-ins is what they say themselves, and where it is not, they are asked."""

import os
from pathlib import Path

import pytest

import pytest_gbs
from pytest_gbs import frameworks, rules
from pytest_gbs.files import plugins
from pytest_gbs.files.plugins import prebuilt, to_index
from pytest_gbs.frameworks import _files
from pytest_gbs.launches import programs as launchers
from pytest_gbs.model.rule import Rule
from tools.build_indexes import write

CHECKOUT = Path(__file__).parents[2]


def _seen_from_the_package(folder: Path) -> str:
    return os.path.relpath(folder, pytest_gbs.__path__[0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of two files whose index lies beside it; what is asked for is looked for there."""
    made = tmp_path / "plugins"
    made.mkdir()
    (made / "a.toml").write_text("x = 1\n")
    (made / "b.py").write_text("X = 1\n")
    monkeypatch.setattr(plugins, "PREBUILT", _seen_from_the_package(tmp_path))
    (tmp_path / "some.bin").write_bytes(to_index([str(made)], ("reported",), sealed=False))
    return made


def test_an_index_of_the_same_files_is_believed(folder: Path) -> None:
    assert prebuilt("some", [str(folder)]) == ("reported",)


def test_an_index_is_believed_whenever_its_files_were_written(folder: Path) -> None:
    os.utime(folder / "a.toml", (1, 1))
    assert prebuilt("some", [str(folder)]) == ("reported",)


def test_a_change_that_keeps_the_length_is_seen(folder: Path) -> None:
    (folder / "a.toml").write_text("x = 2\n")
    assert prebuilt("some", [str(folder)]) is None


def test_a_file_more_or_less_is_seen(folder: Path) -> None:
    (folder / "c.toml").write_text("")
    assert prebuilt("some", [str(folder)]) is None
    (folder / "c.toml").unlink()
    (folder / "b.py").unlink()
    assert prebuilt("some", [str(folder)]) is None


def test_the_index_of_a_wheel_looks_at_no_file(folder: Path) -> None:
    (folder.parent / "some.bin").write_bytes(to_index([str(folder)], ("reported",), sealed=True))
    assert prebuilt("some", [str(folder / "missing")]) == ("reported",)


def test_the_one_file_of_tables_of_a_wheel_holds_what_the_files_of_a_checkout_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apart = dict(_files._texts())
    assert len(apart) > 90
    monkeypatch.setattr(_files, "__file__", str(CHECKOUT / "src/pytest_gbs/frameworks/_files.py"))  # the tests may run on a wheel
    monkeypatch.setattr(_files, "PREBUILT", _seen_from_the_package(tmp_path))
    write(tmp_path)
    assert not (tmp_path / _files.PACKED).exists(), "a checkout reads its files"
    assert _files._texts.__wrapped__() == apart
    write(tmp_path, sealed=True)
    assert _files._texts.__wrapped__() == apart
    (tmp_path / _files.PACKED).write_text('######## one.toml\na = "######## two.toml"\n######## _two.toml\n')
    assert _files._texts.__wrapped__() == {"one": 'a = "######## two.toml"\n', "_two": ""}


@pytest.mark.parametrize("data", [b"", b"\xff", b"no index", to_index([], (), sealed=True)[:-1]], ids=["empty", "byte", "text", "cut"])
def test_a_broken_index_is_none(data: bytes, folder: Path) -> None:
    (folder.parent / "some.bin").write_bytes(data)
    assert prebuilt("some", [str(folder)]) is None


def test_tables_are_the_same_with_and_without_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reported() -> tuple[object, ...]:
        for remembered in (frameworks._known, frameworks._table, frameworks.tables):
            remembered.cache_clear()
        return frameworks.tables(), frameworks.recognising_words(), frameworks.titles()

    write(tmp_path)
    monkeypatch.setattr(plugins, "PREBUILT", _seen_from_the_package(tmp_path))
    assert prebuilt("frameworks", frameworks.SEARCH) is not None
    written = reported()
    monkeypatch.setattr(plugins, "PREBUILT", "missing")
    assert prebuilt("frameworks", frameworks.SEARCH) is None
    assert reported() == written
    assert prebuilt("launchers", launchers.__path__) is None


def test_rules_are_the_same_with_and_without_their_manuals() -> None:
    def reported(rule: Rule) -> dict[str, object]:
        return {name: value for name, value in rule._asdict().items() if name not in {"bad", "good", "check", "manual"}}

    assert [reported(rule) for rule in rules.rules()] == [reported(rule) for rule in rules.manuals()]
