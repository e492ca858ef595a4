"""`hydra.searchpath`: files in other folders of the tree, as seen from where the program is started."""

from pathlib import Path
from typing import Any

import pytest

from pytest_gbs.composition import compose
from pytest_gbs.composition.composed import Composed, ProblemKind
from tests.cli.support import write
from tests.composition.support import hydra_says, ordered, plain, tree

FOLDER = "recipe/mine/conf"
BASE = {"lib/conf/base.yaml": "a: 1\nb: {c: 2}\n"}


def _files(*entries: str, defaults: str = "[base, _self_]", **more: str) -> dict[str, str]:
    searched = "".join(f"    - {entry}\n" for entry in entries)
    return {**BASE, **more, f"{FOLDER}/config.yaml": f"hydra:\n  searchpath:\n{searched}defaults: {defaults}\nd: 4\n"}


def _composed(files: dict[str, str]) -> Composed:
    return compose(tree(files), FOLDER, "config", whole=True)


FOUND: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "a folder": (_files("file://lib/conf"), {"a": 1, "b": {"c": 2}, "d": 4}),
    "of several the first": (_files("file://more", "file://lib/conf", **{"more/base.yaml": "a: 9\n"}), {"a": 9, "d": 4}),
    "its own folder first": (_files("file://lib/conf", **{f"{FOLDER}/base.yaml": "a: 8\n"}), {"a": 8, "d": 4}),
    "a group": (
        _files("file://lib/conf", defaults="[group: x, _self_]", **{"lib/conf/group/x.yaml": "e: 5\n"}),
        {"group": {"e": 5}, "d": 4},
    ),
    "nothing is taken from it": (_files("file://gone", defaults="[_self_]"), {"d": 4}),
}


@pytest.mark.parametrize(("files", "expected"), FOUND.values(), ids=FOUND)
def test_it_is_searched_as_hydra_does(
    files: dict[str, str], expected: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _composed(files)
    assert not found.problems
    assert ordered(plain(found.data)) == ordered(expected)
    write(tmp_path, files)
    monkeypatch.chdir(tmp_path)
    assert hydra_says(tmp_path, FOLDER, "config", ()) == ordered(expected)


def test_a_package_of_the_tree_is_searched() -> None:
    assert plain(_composed(_files("pkg://lib.conf")).data) == {"a": 1, "b": {"c": 2}, "d": 4}


def test_a_folder_below_that_of_the_program_is_where_it_is_started() -> None:
    # A copy of a project in a subfolder, whose programs are started there.
    files = {f"copy/{path}": text for path, text in _files("file://lib/conf").items()}
    assert plain(compose(tree(files), f"copy/{FOLDER}", "config", whole=True).data) == {"a": 1, "b": {"c": 2}, "d": 4}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(_files("file:///lib/conf"), id="elsewhere"),
        pytest.param(_files("file://${oc.env:CONF}"), id="a variable"),
        pytest.param(_files("file://../../../../lib/conf"), id="outside"),
        pytest.param(_files("structured://lib"), id="classes"),
        pytest.param(_files("file://lib/conf", **{"recipe/lib/conf/base.yaml": "a: 7\n"}), id="one of two folders"),
        pytest.param({**BASE, f"{FOLDER}/config.yaml": "hydra: {searchpath: lib}\ndefaults: [base]\n"}, id="no list"),
    ],
)
def test_what_is_not_known_to_be_here_is_not_found(files: dict[str, str]) -> None:
    assert [problem.kind for problem in _composed(files).problems] == [ProblemKind.NOT_FOUND]
