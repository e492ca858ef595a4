from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gbs.composition import compose
from pytest_gbs.composition.composed import Composed, Override, ProblemKind, Unresolved, UnresolvedReason
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import Location
from pytest_gbs.readers.scalar import Value, resolve
from tests.cli.support import write
from tests.composition.support import ERROR, composed, hydra_says, ordered, tree

LLAMA = {"conf/model/llama.yaml": "name: llama\nsize: 8\n", "conf/model/qwen.yaml": "name: qwen\nsize: 7\n"}
BASE = "defaults:\n  - _self_\n  - model: llama\nseed: 1\n"

COMPOSES: dict[str, tuple[dict[str, str], tuple[str, ...], dict[str, Any]]] = {
    "no_defaults_list": ({"conf/config.yaml": "a: 1\n"}, (), {"a": 1}),
    "empty_file": ({"conf/config.yaml": ""}, (), {}),
    "group": ({"conf/config.yaml": BASE, **LLAMA}, (), {"seed": 1, "model": {"name": "llama", "size": 8}}),
    "chosen_option": ({"conf/config.yaml": BASE, **LLAMA}, ("model=qwen",), {"seed": 1, "model": {"name": "qwen", "size": 7}}),
    "no_option": ({"conf/config.yaml": BASE, **LLAMA}, ("~model",), {"seed": 1}),
    "self_first_loses": (
        {"conf/config.yaml": "defaults: [_self_, model: llama]\nmodel: {size: 1}\n", **LLAMA},
        (),
        {"model": {"size": 8, "name": "llama"}},
    ),
    "self_last_wins": (
        {"conf/config.yaml": "defaults: [model: llama, _self_]\nmodel: {size: 1}\n", **LLAMA},
        (),
        {"model": {"name": "llama", "size": 1}},
    ),
    "no_self_wins": (
        {"conf/config.yaml": "defaults: [model: llama]\nmodel: {size: 1}\n", **LLAMA},
        (),
        {"model": {"name": "llama", "size": 1}},
    ),
    "null": ({"conf/config.yaml": "defaults: [model: null]\na: 1\n", **LLAMA}, (), {"a": 1}),
    "optional": ({"conf/config.yaml": "defaults: [optional model: gone]\na: 1\n", **LLAMA}, (), {"a": 1}),
    "package": ({"conf/config.yaml": "defaults: [model@x.y: llama]\n", **LLAMA}, (), {"x": {"y": {"name": "llama", "size": 8}}}),
    "here": ({"conf/config.yaml": "defaults: [model@_here_: llama]\n", **LLAMA}, (), {"name": "llama", "size": 8}),
    "header": ({"conf/config.yaml": "defaults: [g: o]\n", "conf/g/o.yaml": "# @package _global_\na: 1\n"}, (), {"a": 1}),
    "append": ({"conf/config.yaml": "a: 1\n", **LLAMA}, ("+model=qwen",), {"a": 1, "model": {"name": "qwen", "size": 7}}),
    "options": (
        {"conf/config.yaml": "defaults: [g: [a, b]]\n", "conf/g/a.yaml": "x: 1\ny: 1\n", "conf/g/b.yaml": "x: 2\n"},
        (),
        {"g": {"x": 2, "y": 1}},
    ),
    "nested": (
        {"conf/config.yaml": "defaults: [g: o]\n", "conf/g/o.yaml": "defaults: [h: p]\na: 1\n", "conf/g/h/p.yaml": "b: 2\n"},
        (),
        {"g": {"h": {"b": 2}, "a": 1}},
    ),
    "absolute": (
        {"conf/config.yaml": "defaults: [g: o]\n", "conf/g/o.yaml": "defaults: [/h: p]\na: 1\n", "conf/h/p.yaml": "b: 2\n"},
        (),
        {"g": {"h": {"b": 2}, "a": 1}},
    ),
    "override": (
        {"conf/config.yaml": "defaults: [e: x, _self_]\n", "conf/e/x.yaml": "defaults: [base]\na: 1\n", "conf/e/base.yaml": "b: 2\n"},
        ("e.b=3",),
        {"e": {"b": 3, "a": 1}},
    ),
    "override_of_a_group": (
        {
            "conf/config.yaml": "defaults: [model: llama, e: x]\n",
            "conf/e/x.yaml": "# @package _global_\ndefaults: [override /model: qwen]\n",
            **LLAMA,
        },
        (),
        {"model": {"name": "qwen", "size": 7}},
    ),
    "worked_out": (
        {"conf/config.yaml": "defaults: [model: llama, x: '${model}_x']\n", "conf/x/llama_x.yaml": "a: 1\n", **LLAMA},
        (),
        {"model": {"name": "llama", "size": 8}, "x": {"a": 1}},
    ),
    "hydras_own": (
        {"conf/config.yaml": "defaults: [override hydra/job_logging: none]\nhydra: {run: {dir: x}}\na: 1\n"},
        ("hydra.run.dir=y",),
        {"a": 1},
    ),
    "add_and_delete": ({"conf/config.yaml": "a: 1\nb: {c: 2}\n"}, ("+d.e=3", "~a", "++b.c=4"), {"b": {"c": 4}, "d": {"e": 3}}),
    "dictionary": ({"conf/config.yaml": "a: {b: 1, c: 2}\n"}, ("a={b: 3}",), {"a": {"b": 3, "c": 2}}),
    "list_is_replaced": ({"conf/config.yaml": "a: [1, 2]\n"}, ("a=[3]",), {"a": [3]}),
    "list_item": ({"conf/config.yaml": "a: [1, 2]\n"}, ("a.1=3",), {"a": [1, 3]}),
    "interpolation": ({"conf/config.yaml": "a: 1\nb: ${a}\n"}, ("a=2",), {"a": 2, "b": 2}),
    "parent_folder_within_the_tree": ({"conf/config.yaml": "defaults: [../other/x@_here_]\n", "other/x.yaml": "a: 1\n"}, (), {"a": 1}),
}


@pytest.mark.parametrize(("files", "overrides", "expected"), COMPOSES.values(), ids=COMPOSES)
def test_composes(files: dict[str, str], overrides: tuple[str, ...], expected: dict[str, Any]) -> None:
    found = composed(files, *overrides)
    assert not found.problems
    assert ordered(found.data) == ordered(expected)


@pytest.mark.parametrize(("files", "overrides", "expected"), COMPOSES.values(), ids=COMPOSES)
def test_composes_what_hydra_composes(tmp_path: Path, files: dict[str, str], overrides: tuple[str, ...], expected: dict[str, Any]) -> None:
    write(tmp_path, files)
    assert hydra_says(tmp_path, "conf", "config", overrides) == ordered(expected)


STOPS: dict[str, tuple[dict[str, str], tuple[str, ...], str]] = {
    "no_primary": ({"conf/other.yaml": "a: 1\n"}, (), ProblemKind.NOT_FOUND),
    "no_option": ({"conf/config.yaml": BASE, **LLAMA}, ("model=gone",), ProblemKind.NOT_FOUND),
    "option_to_be_given": ({"conf/config.yaml": "defaults:\n  - model: ???\n", **LLAMA}, (), ProblemKind.DEFAULTS),
    "group_twice": ({"conf/config.yaml": "defaults: [model: llama, model: qwen]\n", **LLAMA}, (), ProblemKind.DEFAULTS),
    "leads_back": ({"conf/config.yaml": "defaults: [config]\n"}, (), ProblemKind.DEFAULTS),
    "lead_back_to_each_other": ({"conf/config.yaml": "defaults: [a]\n", "conf/a.yaml": "defaults: [config]\n"}, (), ProblemKind.DEFAULTS),
    "override_first": ({"conf/config.yaml": "defaults: [override model: llama, model: qwen]\n", **LLAMA}, (), ProblemKind.DEFAULTS),
    "override_of_nothing": ({"conf/config.yaml": "defaults: [override model: llama]\n", **LLAMA}, (), ProblemKind.DEFAULTS),
    "no_list": ({"conf/config.yaml": "defaults: x\n"}, (), ProblemKind.DEFAULTS),
    "odd_entry": ({"conf/config.yaml": "defaults: [1]\n"}, (), ProblemKind.DEFAULTS),
    "new_key": ({"conf/config.yaml": "a: 1\n"}, ("b=1",), ProblemKind.OVERRIDE),
    "plus_on_a_key_that_is_there": ({"conf/config.yaml": "a: 1\n"}, ("+a=2",), ProblemKind.OVERRIDE),
    "deletes_nothing": ({"conf/config.yaml": "a: 1\n"}, ("~b",), ProblemKind.OVERRIDE),
    "deletes_another_value": ({"conf/config.yaml": "a: 1\n"}, ("~a=2",), ProblemKind.OVERRIDE),
    "sweep": ({"conf/config.yaml": "a: 1\n"}, ("a=1,2",), ProblemKind.OVERRIDE),
    "flag": ({"conf/config.yaml": "a: 1\n"}, ("--a=1",), ProblemKind.OVERRIDE),
    "group_without_entry": ({"conf/config.yaml": "a: 1\n", **LLAMA}, ("model=llama",), ProblemKind.OVERRIDE),
    "number_for_an_option": ({"conf/config.yaml": BASE, **LLAMA}, ("model=7",), ProblemKind.OVERRIDE),
    "mapping_and_list": ({"conf/config.yaml": "defaults: [g: a]\ng: [1]\n", "conf/g/a.yaml": "x: 1\n"}, (), ProblemKind.MERGE),
    "bad_yaml": ({"conf/config.yaml": "a: [\n"}, (), ProblemKind.UNREADABLE),
    "key_twice": ({"conf/config.yaml": "a: 1\na: 2\n"}, (), ProblemKind.UNREADABLE),
    "odd_tag": ({"conf/config.yaml": "a: !include x\n"}, (), ProblemKind.UNREADABLE),
    "two_documents": ({"conf/config.yaml": "a: 1\n---\na: 2\n"}, (), ProblemKind.UNREADABLE),
    "odd_header": ({"conf/config.yaml": "# @package\na: 1\n"}, (), ProblemKind.UNREADABLE),
}


@pytest.mark.parametrize(("files", "overrides", "kind"), STOPS.values(), ids=STOPS)
def test_says_where_hydra_stops(files: dict[str, str], overrides: tuple[str, ...], kind: str) -> None:
    assert kind in [problem.kind for problem in composed(files, *overrides).problems]


@pytest.mark.parametrize(("files", "overrides", "kind"), STOPS.values(), ids=STOPS)
def test_stops_where_hydra_stops(tmp_path: Path, files: dict[str, str], overrides: tuple[str, ...], kind: str) -> None:
    write(tmp_path, files)
    assert hydra_says(tmp_path, "conf", "config", overrides) == ERROR


GLOBAL = "# @package _global_\n"
WHOLE: dict[str, dict[str, str]] = {
    "optional": {"conf/config.yaml": "defaults: [optional model: gone]\na: 1\n", **LLAMA},
    "overridden": {
        "conf/config.yaml": "defaults: [model: gone, g: o]\n",
        "conf/g/o.yaml": GLOBAL + "defaults: [override /model: qwen]\n",
        **LLAMA,
    },
}


@pytest.mark.parametrize("files", WHOLE.values(), ids=WHOLE)
def test_whole_needs_no_file_that_is_not_merged(files: dict[str, str]) -> None:
    assert composed(files, whole=True).problems == ()
    assert composed(files, whole=True).data == composed(files).data


def test_whole_reads_nothing_more_once_a_file_is_missing() -> None:
    files = {"conf/config.yaml": "defaults: [model: llama, g: gone]\n", "conf/g/o.yaml": "", **LLAMA}
    found = composed(files, whole=True)
    assert [problem.kind for problem in found.problems] == [ProblemKind.NOT_FOUND]
    assert found.sources == ("conf/config.yaml",)


def test_name_that_leads_out_of_the_tree_is_not_read() -> None:
    found = composed({"conf/config.yaml": "defaults: [../../x@_here_, /../../y@_here_, //etc/z]\na: 1\n"})
    assert {problem.kind for problem in found.problems} == {ProblemKind.NOT_FOUND}
    assert (found.data, found.sources) == ({"a": 1}, ("conf/config.yaml",))


def _texts(files: dict[str, str], *places: Location) -> list[tuple[str, str]]:
    return [(at.source, files[at.source][at.start : at.stop]) for at in places]


def test_value_knows_its_file() -> None:
    files = {"conf/config.yaml": "defaults: [model: llama, _self_]\nmodel: {size: 1}\n", **LLAMA}
    override = Override("model.size=2", Location("run.sh", 40, 52))
    found = compose(tree(files), "conf", "config", [override])
    assert (found.data["model"]["size"], found.places["model", "size"]) == (2, Location("run.sh", 40, 52))
    name = found.places["model", "name"]
    assert _texts(files, name) == [("conf/model/llama.yaml", "llama")]
    assert name.path == ("name",)


def test_sources_are_the_files_that_were_read() -> None:
    found = composed({"conf/config.yaml": BASE, **LLAMA}, "model=qwen")
    assert found.sources == ("conf/config.yaml", "conf/model/qwen.yaml")


def test_document_is_read_like_any_other() -> None:
    files = {"conf/config.yaml": BASE + "lr: 1e-6\nn: ${model.size}\nx: ${oc.env:GPUS,8}\ny: ???\nz: '8'\nl: [1, {a: 2}]\n", **LLAMA}
    found = composed(files)
    document = found.document
    values = {}
    for path, (_, node) in document.keyed.items():
        if isinstance(node, Scalar):
            values[path] = resolve(node, Loader.PYYAML)
            assert document.source.text[node.start : node.stop] == node.text
    expected: dict[tuple[str | int, ...], Value] = {
        ("seed",): 1,
        ("lr",): 1e-6,
        ("n",): 8,
        ("x",): "${oc.env:GPUS,8}",
        ("y",): "???",
        ("z",): "8",
    }
    expected |= {("y",): "???", ("z",): "8", ("model", "name"): "llama", ("model", "size"): 8}
    assert values == expected
    assert _texts(files, found.places["n",]) == [("conf/config.yaml", "${model.size}")]


def _bomb(levels: int, text: str) -> dict[str, str]:
    files = {f"conf/g{n}.yaml": text.format(n + 1) for n in range(levels)}
    return {**files, f"conf/g{levels}.yaml": "x: 1\n", "conf/config.yaml": "defaults: [g0]\n"}


HOSTILE: dict[str, dict[str, str]] = {
    "diamonds": _bomb(40, "defaults: [g{0}@a, g{0}@b]\nx: 1\n"),
    "deep": _bomb(400, "defaults: [g{0}]\n"),
    "package": {"conf/config.yaml": "defaults: ['x@" + "a." * 5000 + "a']\n", "conf/x.yaml": "a: 1\n"},
    "not_text": {"conf/config.yaml": "\ud800"},
    "keys": {"conf/config.yaml": "? [a]\n: 1\n"},
    "null_key": {"conf/config.yaml": "null: 1\n"},
    "self_alias": {"conf/config.yaml": "a: &a [*a]\n"},
    "empty_names": {"conf/config.yaml": "defaults: ['', '/', '@', {'': x}, {' ': x}, {'@': y}]\n"},
    "odd_interpolation": {"conf/config.yaml": "defaults: [a: '${', b: '${x}', c: '${oc.env:X}']\n"},
}


@pytest.mark.parametrize("files", HOSTILE.values(), ids=HOSTILE)
def test_hostile_folders_are_problems(files: dict[str, str]) -> None:
    assert composed(files).problems


@pytest.mark.parametrize(
    "override", ["a.b.c.d=1", "+" + "a." * 3000 + "a=1", "a=" + "[" * 40 + "1" + "]" * 40, "+x={a:${a}}", "~", "=", "+=1", "@=1"]
)
def test_hostile_overrides_raise_nothing(override: str) -> None:
    assert isinstance(composed({"conf/config.yaml": "a: 1\n"}, override), Composed)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_raises_nothing(text: str, override: str) -> None:
    assert isinstance(composed({"conf/config.yaml": text}, override), Composed)


def test_environment_counts_where_it_is_given() -> None:
    files = {"conf/config.yaml": "a: ${oc.env:GPUS,8}\n"}
    assert composed(files, environment={"GPUS": "4"}).data.get("a") == "4"
    assert composed(files, environment={}).data.get("a") == "8"
    unknown = composed(files).data.get("a")
    assert isinstance(unknown, Unresolved)
    assert unknown.reason == UnresolvedReason.ENVIRONMENT
