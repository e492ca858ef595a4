from pathlib import Path
from typing import Any

import pytest

from pytest_gbs.composition import DETECTRON2, MMENGINE, NEMO_RL_RESOLVERS, QUININE, RTDETR, DocumentCache, ParentStyle, inherit
from pytest_gbs.composition.composed import Composed, ProblemKind
from pytest_gbs.model.location import Location
from tests.composition.support import ERROR, ordered, tree, verdict
from tests.support import corpus


def _inherited(files: dict[str, str], *style: ParentStyle, **more: Any) -> Composed:
    return inherit(tree(files), "r/child.yaml", *style, **more)


COMPOSES = {
    "no_parent": ({"r/child.yaml": "a: 1\n"}, {"a": 1}),
    "child_wins": ({"r/child.yaml": "defaults: p.yaml\na: {b: 2}\n", "r/p.yaml": "a: {b: 1, c: 1}\n"}, {"a": {"b": 2, "c": 1}}),
    "later_parent_wins": (
        {"r/child.yaml": "defaults: [p.yaml, ../q.yaml]\n", "r/p.yaml": "a: 1\nb: 1\n", "q.yaml": "a: 2\n"},
        {"a": 2, "b": 1},
    ),
    "grandparent": (
        {"r/child.yaml": "defaults: ../q/p.yaml\n", "q/p.yaml": "defaults: g.yaml\nb: 2\n", "q/g.yaml": "a: 1\nb: 1\n"},
        {"a": 1, "b": 2},
    ),
    "list_is_replaced": ({"r/child.yaml": "defaults: p.yaml\na: [3]\n", "r/p.yaml": "a: [1, 2]\n"}, {"a": [3]}),
    "missing_keeps_the_parents": ({"r/child.yaml": "defaults: p.yaml\na: ???\n", "r/p.yaml": "a: 1\n"}, {"a": 1}),
    "override_marker": ({"r/child.yaml": "defaults: p.yaml\na: {_override_: true, c: 2}\n", "r/p.yaml": "a: {b: 1}\n"}, {"a": {"c": 2}}),
    "interpolation_of_the_parent": ({"r/child.yaml": "defaults: p.yaml\nx: 2\n", "r/p.yaml": "x: 1\na: ${x}\n"}, {"x": 2, "a": 2}),
}


@pytest.mark.parametrize(("files", "expected"), COMPOSES.values(), ids=COMPOSES)
def test_child_goes_over_its_parents(files: dict[str, str], expected: dict[str, Any]) -> None:
    found = _inherited(files)
    assert not found.problems
    assert ordered(found.data) == ordered(expected)


def test_quinine_includes_files_beside_the_one_that_names_them() -> None:
    files = {
        "r/child.yaml": "inherit: [one/p.yaml, two.yaml]\na: {c: 3}\n",
        "r/one/p.yaml": "inherit: q.yaml\na: {b: 1, c: 1}\n",
        "r/one/q.yaml": "a: {d: 4}\n",
        "r/two.yaml": "a: {b: 2}\n",
    }
    assert _inherited(files, QUININE).data == {"a": {"b": 2, "c": 3, "d": 4}}


STOPS = {
    "no_such_file": ({"r/child.yaml": "defaults: p.yaml\na: 1\n"}, ProblemKind.NOT_FOUND),
    "outside": ({"r/child.yaml": "defaults: ../../p.yaml\na: 1\n"}, ProblemKind.NOT_FOUND),
    "absolute": ({"r/child.yaml": "defaults: /r/p.yaml\na: 1\n", "r/p.yaml": "b: 1\n"}, ProblemKind.NOT_FOUND),
    "leads_back": ({"r/child.yaml": "defaults: p.yaml\na: 1\n", "r/p.yaml": "defaults: child.yaml\n"}, ProblemKind.DEFAULTS),
    "odd_parent": ({"r/child.yaml": "defaults: {x: y}\na: 1\n"}, ProblemKind.DEFAULTS),
    "bad_yaml": ({"r/child.yaml": "defaults: p.yaml\na: 1\n", "r/p.yaml": "b: [\n"}, ProblemKind.UNREADABLE),
}


@pytest.mark.parametrize(("files", "kind"), STOPS.values(), ids=STOPS)
def test_parent_that_can_not_be_read_is_a_problem_and_nothing_is_known(files: dict[str, str], kind: str) -> None:
    found = _inherited(files)
    assert [problem.kind for problem in found.problems] == [kind]
    assert found.data == {}


def test_value_knows_the_parent_it_came_from() -> None:
    files = {"r/child.yaml": "defaults: p.yaml\na: {b: 2}\n", "r/p.yaml": "a: {b: 1, c: 7}\n"}
    found = _inherited(files)
    assert found.places["a", "c"] == Location("r/p.yaml", 13, 14, ("a", "c"))
    assert found.sources == ("r/child.yaml", "r/p.yaml")


def test_resolvers_of_nemo_rl() -> None:
    files = {"r/child.yaml": "defaults: p.yaml\na: 4\n", "r/p.yaml": "a: 1\nb: ${mul:${a},2}\n"}
    assert _inherited(files, resolvers=NEMO_RL_RESOLVERS).data == {"a": 4, "b": 8}


def test_many_generations_cost_little() -> None:
    files = {f"r/{n}.yaml": f"defaults: [{n + 1}.yaml, {n + 1}.yaml, {n + 1}.yaml]\na: {n}\n" for n in range(100)}
    assert _inherited({"r/child.yaml": "defaults: 0.yaml\n", **files}).problems


LINES = {
    "50 in a line": {f"r/{n}.yaml": f"defaults: {n - 1}.yaml\na{n}: {n}\n" if n else "b: 1\n" for n in range(50)},
    "a circle": {f"r/{n}.yaml": f"defaults: [{(n + 1) % 3}.yaml, p.yaml]\na: {n}\n" for n in range(3)} | {"r/p.yaml": "a: 7\n"},
    "one that is missing": {f"r/{n}.yaml": f"defaults: [{n + 1}.yaml, {n + 2}.yaml]\n" for n in range(9)},
    "one by two ways": {
        "r/a.yaml": "defaults: [b.yaml, c.yaml]\na: {x: 1}\n",
        "r/b.yaml": "defaults: d.yaml\na: {_override_: true, y: 2}\n",
        "r/c.yaml": "defaults: d.yaml\n",
        "r/d.yaml": "a: {x: 3, z: [4]}\n",
    },
}


@pytest.mark.parametrize("files", LINES.values(), ids=LINES)
def test_what_a_file_comes_to_does_not_depend_on_what_was_read_before(files: dict[str, str]) -> None:
    alone = {path: _comes_to(tree(files), path) for path in files}
    forwards, backwards = tree(files), tree(files)
    assert {path: _comes_to(forwards, path) for path in files} == alone
    assert {path: _comes_to(backwards, path) for path in reversed(files)} == alone


def _comes_to(cache: DocumentCache, path: str) -> tuple[object, ...]:
    found = inherit(cache, path)
    return ordered(found.data), found.places, [problem.kind for problem in found.problems]


def test_mmengine_bases_are_merged_at_any_depth() -> None:
    base = {"b/p.yaml": "a: {b: {x: 1}, c: 1}\nt: ${x}\n", "b/q.yaml": "d: 1\n"}
    child = {"r/child.yaml": "_base_: [../b/p.yaml, ../b/q.yaml]\na: {b: {_delete_: true, y: 2}}\n"}
    found = _inherited({**base, **child}, MMENGINE)
    assert not found.problems
    assert found.data == {"a": {"c": 1, "b": {"y": 2}}, "t": "${x}", "d": 1}


def test_mmengine_bases_may_not_share_a_key() -> None:
    files = {"r/child.yaml": "_base_: [p.yaml, q.yaml]\n", "r/p.yaml": "a: 1\n", "r/q.yaml": "a: 2\n"}
    assert [problem.kind for problem in _inherited(files, MMENGINE).problems] == [ProblemKind.DUPLICATE]


def _nemo_rl_says(omegaconf: Any, path: Path) -> Any:
    """What `load_config_with_inheritance` of NeMo-RL 7ea279a makes of the file, written anew."""
    config = omegaconf.OmegaConf.load(path)
    parents = config.pop("defaults") if "defaults" in config else []
    merged = omegaconf.OmegaConf.create({})
    for each in [parents] if isinstance(parents, str) else list(parents):
        merged = _over(omegaconf, merged, _nemo_rl_says(omegaconf, path.parent / each))
    return _over(omegaconf, merged, config) if parents else config


def _over(omegaconf: Any, base: Any, child: Any) -> Any:
    for key in list(child):
        section = None if omegaconf.OmegaConf.is_missing(child, key) else child[key]
        if isinstance(section, omegaconf.DictConfig) and section.get("_override_", False):
            section.pop("_override_")
            base.pop(key, None)
    return omegaconf.OmegaConf.merge(base, child)


@pytest.fixture
def nemo_rl() -> Any:
    omegaconf = pytest.importorskip("omegaconf")
    for name, function in NEMO_RL_RESOLVERS.items():
        omegaconf.OmegaConf.register_new_resolver(name, function, replace=True)
    yield omegaconf
    for name in NEMO_RL_RESOLVERS:
        omegaconf.OmegaConf.clear_resolver(name)


# fvcore's CfgNode.load_yaml_with_base merges mappings, takes lists as they are, and has no word for what a child replaces.
def test_base_of_detectron2() -> None:
    files = {
        "r/child.yaml": "_BASE_: ../base.yaml\nSOLVER: {IMS_PER_BATCH: 8, _delete_: true}\n",
        "base.yaml": "SOLVER: {IMS_PER_BATCH: 16, STEPS: !!python/tuple [1, 2]}\nSIZES: !!python/object/apply:eval ['[2 ** 5]']\n",
    }
    found = _inherited(files, DETECTRON2)
    assert not found.problems
    assert found.data["SOLVER"] == {"IMS_PER_BATCH": 8, "STEPS": [1, 2], "_delete_": True}


# RT-DETR's load_config reads what is included in its order, and the file itself over that.
def test_files_that_rtdetr_includes() -> None:
    files = {
        "r/child.yaml": "__include__: [../a.yml, b.yml]\ntrain: {shuffle: false}\n",
        "a.yml": "train: {batch: 16, shuffle: true, ops: [1, 2]}\n",
        "r/b.yml": "train: {batch: 32, ops: [3]}\n",
    }
    assert _inherited(files, RTDETR).data == {"train": {"batch": 32, "shuffle": False, "ops": [3]}}


def test_a_tag_that_makes_no_object_is_a_problem() -> None:
    found = _inherited({"r/child.yaml": "_BASE_: p.yaml\n", "r/p.yaml": "a: !mine [1]\n"}, DETECTRON2)
    assert [problem.kind for problem in found.problems] == [ProblemKind.UNREADABLE]


def test_agrees_with_nemo_rl_on_its_recipes(nemo_rl: Any) -> None:
    folder = corpus() / "files" / "NVIDIA-NeMo__RL"
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.yaml")}
    children = [path for path, text in files.items() if "\ndefaults:" in f"\n{text}"]
    differing, composed = [], 0
    for path in children:
        try:
            loaded = nemo_rl.OmegaConf.to_container(_nemo_rl_says(nemo_rl, folder / path), resolve=True)
            expected = ordered(loaded)
            composed += 1
        except Exception:  # parents that the corpus lacks, variables that are not set
            expected = ERROR
        if verdict(inherit(tree(files), path, resolvers=NEMO_RL_RESOLVERS, environment={})) != expected:
            differing.append(path)
    assert composed >= 10 and not differing
