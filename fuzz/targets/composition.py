"""Hydra trees, parents, merged files and overrides: composing ends with values or problems."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.seeds import ROOT
from fuzz.target import Empty, Target, files, joined
from pytest_gbs.composition import DocumentCache, compose, inherit, merge_files
from pytest_gbs.composition.composed import Override
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.readers import read

_TREE = (
    (
        "conf/config.yaml",
        "defaults:\n  - model: a\n  - /data@train: b\n  - optional x: ???\n  - _self_\n  - override model/opt: c\nb: ${train.n}\n",
    ),
    ("conf/model/a.yaml", "# @package _global_\ndefaults: [opt: d]\nm: {k: ${oc.env:HOME,1}, l: [1, ${.k}]}\n"),
    ("conf/model/opt/c.yaml", "lr: 1e-3\n"),
    ("conf/data/b.yaml", "n: ${mul:2,3}\nq: '${b}x${oc.select:m.k,4}'\n"),
    ("run.txt", "model=a\n+x.y=[1,{a:2}]\n~m.k\nmodel/opt@p:q=c\nb='a b'\ntrain.n=choice(1,2)\n++z=range(1,3)\nhydra.run.dir=x\n"),
    ("parent.yaml", "a: 1\nbatch: {size: 4}\n"),
    ("child.yaml", "defaults: parent.yaml\nbatch: {size: ${a}}\nc: ${mul:${a},8}\n"),
)


def _run(data: bytes) -> None:
    held = files(data)
    tree = OverlayTree(Empty(), held)
    words = held.pop("run.txt", None)
    overrides = [Override(line) for line in words.text.split("\n")[:20]] if words else []
    compose(DocumentCache(tree, read), "conf", "config", overrides)
    compose(DocumentCache(tree, read), "conf", "config", overrides, whole=True, environment={"HOME": "/"})
    yamls = [path for path in held if path.endswith(".yaml")][:4]
    merge_files(DocumentCache(tree, read), yamls)
    for path in yamls:
        inherit(DocumentCache(tree, read), path)


def _seeds() -> Iterator[bytes]:
    yield joined(_TREE)
    yield joined(_TREE[:1] + _TREE[4:5])
    yield joined(_TREE[5:])
    halos = ROOT / "examples/batch-tables/halos/config"
    found = [(str(path.relative_to(halos)), path.read_text(encoding="utf-8")) for path in sorted(halos.rglob("*.yaml"))]
    yield joined([(f"conf/{name}", text) for name, text in found] + [("run.txt", "loss=kto\nmodel=llama\n++n=4\n")])


TARGET = Target(
    _run,
    _seeds,
    (
        "defaults:\n  - ",
        "_self_",
        "override ",
        "optional ",
        "@package _global_",
        "${",
        "${oc.env:",
        "???",
        "null",
        "~",
        "++",
        "=",
        "@",
        ":",
        "_here_",
    ),
)
