"""Composition against Hydra itself: the oracle's trees, HALOs, and trees made up by hypothesis."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_gbs.composition import compose
from pytest_gbs.composition.composed import Override
from tests.cli.support import write
from tests.composition.support import ERROR, composed, hydra_says, ordered, tree, verdict
from tests.support import corpus, oracles


def test_oracle_agrees_key_for_key() -> None:
    differing = []
    rows = [json.loads(line) for line in (oracles() / "hydra.jsonl").read_text(encoding="utf-8").splitlines()]
    for row in rows:
        launch, overrides = row["launch"], list(map(Override, row["overrides"]))
        found = compose(tree(row["files"]), launch["config_path"], launch["config_name"], overrides, environment={})
        expected = ERROR if "error" in row["expect"] else ordered(row["expect"]["composed"])
        if verdict(found) != expected:
            differing.append(row["id"])
    assert rows and not differing


# Overrides of HALOs' own launch scripts at 4831988, the scripts' variables given a value, and of its README; then each loss and model.
_ARMO = (
    "train_datasets=[ultrafeedback_armorm] test_datasets=[ultrafeedback_armorm] exp_name=x ++cache_dir=/data "
    "++model.name_or_path=m/x ++lr=5e-6"
)
_ANY = "exp_name=x train_datasets=[shp] test_datasets=[shp]"
HALOS = {
    "launch_llama_sft": "loss=sft model=llama train_datasets=[ultrabin] test_datasets=[ultrabin] exp_name=llama3-8B-sft ++cache_dir=/data "
    "++model.name_or_path=meta-llama/Meta-Llama-3-8B ++model.use_peft=false ++cache_reference_logprobs=false ++lr=1e-6",
    "launch_llama_instruct_dpo": f"loss=dpo model=llama {_ARMO} ++loss.beta=0.1 ++n_examples=10_000 "
    "++model.batch_size=32 ++model.eval_batch_size=32",
    "launch_llama_instruct_kto_online": "loss=kto ++loss.beta=0.1 ++loss.desirable_weight=1.1 model=llama exp_name=x "
    "train_datasets=[outputs/a.json] "
    "test_datasets=[ultrafeedback_armorm] ++lr=5e-6 ++cache_dir=/data ++model.name_or_path=m/x ++model.load_from=/data/x "
    "++model.from_checkpoint=null ++online=true ++model.batch_size=64 ++model.gradient_accumulation_steps=2 ++model.eval_batch_size=64 "
    "++model.max_grad_norm=0.5",
    "humanline": f"loss=kto model=llama {_ARMO} ++loss.beta=0.1 ++loss.desirable_weight=1.1 ++n_examples=20_000 ++humanline=true "
    "++log_epsilon_P=-1.5 ++log_epsilon_R=1.5 ++model.batch_size=64 ++model.gradient_accumulation_steps=1 ++model.eval_batch_size=64",
    "launch_multinode_interactive": f"loss=simpo model=llama {_ARMO} ++model.batch_size=16 ++model.gradient_accumulation_steps=2 "
    "++model.eval_batch_size=16 ++loss.beta=10 ++loss.gamma_beta_ratio=0.3 ++model.max_grad_norm=100",
    "readme": "loss=sft model=llama datasets=[ultrabin] exp_name=llama3-8b_sft ++cache_dir=/data/models "
    "++model.name_or_path=meta-llama/Meta-Llama-3-8B",
    "without": _ANY,
    **{model: f"loss=dpo model={model} {_ANY}" for model in ("mistral", "pythia", "qwen", "gemma")},
    **{loss: f"loss={loss} model=llama {_ANY}" for loss in ("cdpo", "bradley-terry", "csft", "grpo", "ppo", "slic", "ipo")},
}


@pytest.mark.parametrize("overrides", HALOS.values(), ids=HALOS)
def test_halos_agrees_key_for_key(overrides: str) -> None:
    folder = corpus() / "files" / "ContextualAI__HALOs"
    files = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("config/**/*.yaml")}
    found = verdict(compose(tree(files), "config", "config", list(map(Override, overrides.split())), environment={}))
    assert found == hydra_says(folder, "config", "config", overrides.split())
    assert (found == ERROR) == (overrides in (HALOS["without"], HALOS["readme"]))


NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from([1, 2, "x", "???", None, True, 1.5, "${a}", "${.b}", "${g.a}", "${h.c.a}", "n${a}"])
CONTENT = st.dictionaries(
    st.sampled_from(["a", "b", "g", "h"]),
    st.recursive(SCALARS, lambda inner: st.dictionaries(NAMES, inner, max_size=2) | st.lists(inner, max_size=2), max_leaves=3),
    max_size=3,
)
PACKAGES = st.sampled_from(["", "", "", "@_here_", "@_global_", "@p", "@p.q", "@_group_.z", "@_global_.p"])
OPTIONS = st.sampled_from(["o1", "o1", "o2", "o3", "nope", "???", "${g}", "${h}"])
GROUPS = st.sampled_from(["g", "h", "g", "h", "/g", "/h", "s", "/s", "g/s", "/g/s"])


@st.composite
def _entries(draw: st.DrawFn) -> Any:
    kind = draw(st.integers(0, 9))
    package = draw(PACKAGES)
    if kind == 0:
        return "_self_"
    if kind == 1:
        return draw(st.sampled_from(["o1", "o2", "g/o1", "/g/o2", "/h/o1", "extra", "s/o1", "../x"])) + package
    if kind == 2:
        return {draw(GROUPS) + package: draw(st.lists(st.sampled_from(["o1", "o2", "o3"]), max_size=2))}
    if kind == 3:
        return {draw(GROUPS) + package: None}
    keyword = {4: "optional ", 5: "override ", 6: "override "}.get(kind, "")
    return {keyword + draw(GROUPS) + package: draw(OPTIONS)}


HEADERS = st.sampled_from(["", "", "", "", "# @package _global_\n", "# @package p.q\n", "# @package _group_\n"])


@st.composite
def _file(draw: st.DrawFn, most: int) -> str:
    content = draw(CONTENT)
    entries = draw(st.lists(_entries(), max_size=most))
    if entries:
        # Mostly such lists as Hydra takes: overrides last.
        entries.sort(key=lambda entry: isinstance(entry, dict) and next(iter(entry)).startswith("override"))
        content = {"defaults": entries, **content}
    return draw(HEADERS) + yaml.safe_dump(content, sort_keys=False)


OVERRIDES = st.sampled_from(
    ["g=o1", "g=o2", "h=o3", "+g=o1", "+h=o2", "+g/s=o1", "~g", "~g=o1", "~h", "g@p=o1", "+g@p.q=o2", "h@_global_=o1", "g=[o1,o2]",
     "g=null",
     "a=5", "a.b=5", "+a=5", "++a=5", "++a.b=5", "~a", "~a.b", "~a=1", "g.a=7", "+g.a=7", "++g.c=8", "g={a:1}", "+g={z:2}", "++a={b:1}",
     "a=[1,2]", "a=${b}", "++b='${g.a}'", "a.0=3", "p.q.a=1", "++p.q.a=1", "++a=???", "+b=[x]", "h.a.b=1", "~g.a", "~h.c", "g/s=o1"]
)  # fmt: skip


@st.composite
def _folders(draw: st.DrawFn) -> dict[str, str]:
    files = {"conf/config.yaml": draw(_file(4)), "conf/x.yaml": "xx: 1\n"}
    for group, most in (("g", 1), ("h", 1), ("g/s", 1), ("s", 0)):
        for option in ("o1", "o2"):
            files[f"conf/{group}/{option}.yaml"] = draw(_file(most))
    files["conf/g/o3.yaml"] = "b: 3\n"
    files["conf/extra.yaml"] = draw(_file(0))
    return files


# Folders and overrides of which Hydra takes most.
_SOUND_VALUES = st.sampled_from(
    [1, 2, "x", None, True, 1.5, "${top}", "n${top}", "${..top}", [1], {"a": 1}, {"b": "${top}"}, "${deep}", "???"]
)
_SOUND_CONTENT = st.dictionaries(st.sampled_from(["a", "b", "deep", "p", "g"]), _SOUND_VALUES, max_size=3)
_SOUND_LISTS: st.SearchStrategy[list[Any]] = st.sampled_from(
    [[], [], ["base"], ["_self_", "base"], ["base", "_self_"], ["base@q"], ["base@_here_"], ["base@_global_.r"], [{"/s": "o1"}],
     [{"/s@t": "o2"}],
     [{"s": "o1"}], [{"s@_global_.u": "o2"}], ["base", {"override /h": "o2"}], [{"optional s": "none"}], [{"s": ["o1", "o2"]}]]
)  # fmt: skip
_SOUND_OVERRIDES = st.sampled_from(
    ["g=o2", "h=o2", "~h", "+s@v=o1", "++a=5", "++deep.a=5", "++deep=${top}", "top=7", "~top", "++g.a=[1,{b:${top}}]", "++h.p.a='${g.a}'",
     "+fresh.x={y: 1}", "++deep={z: 1}", "++b=null", "++g.deep.a.b=1", "h=[o1,o2]", "++p=???"]
)  # fmt: skip


@st.composite
def _sound_folders(draw: st.DrawFn) -> dict[str, str]:
    def text(defaults: list[Any], content: dict[str, Any], header: str = "") -> str:
        return header + yaml.safe_dump({**({"defaults": defaults} if defaults else {}), **content}, sort_keys=False)

    defaults: list[Any] = [{draw(st.sampled_from(["g", "g@gg", "/g", "g@_here_"])): "o1"}, {"h": draw(st.sampled_from(["o1", "o2", None]))}]
    place = draw(st.integers(-1, 2))
    if place >= 0:
        defaults.insert(place, "_self_")
    files = {"conf/config.yaml": text(defaults, {"top": 3, "deep": {"a": 1, "c": [1]}, **draw(_SOUND_CONTENT)})}
    for group in ("g", "h"):
        for option in ("o1", "o2"):
            header = draw(st.sampled_from(["", "", "", "# @package _global_\n", "# @package p.w\n"]))
            files[f"conf/{group}/{option}.yaml"] = text(draw(_SOUND_LISTS), draw(_SOUND_CONTENT), header)
        files[f"conf/{group}/base.yaml"] = text([], draw(_SOUND_CONTENT))
    for folder in ("s", "g/s", "h/s"):
        for option in ("o1", "o2"):
            files[f"conf/{folder}/{option}.yaml"] = text([], draw(_SOUND_CONTENT))
    return files


@settings(max_examples=60, deadline=None)
@given(
    st.one_of(
        st.tuples(_folders(), st.lists(OVERRIDES, max_size=3)),
        st.tuples(_sound_folders(), st.lists(_SOUND_OVERRIDES, max_size=3, unique=True)),
    )
)
@example(({"conf/config.yaml": "defaults: [x]\nx: {a: '${b}'}\n", "conf/x.yaml": "b: {c: 1}\nx: {a: {d: 2}}\n"}, ["+x.a.e=1"]))
@example(({"conf/config.yaml": "a: {}\nb: n${a}\nc: [1, {x: null, y: t}]\nd: n${c}\ne: n${f}\nf: {g: '${a}', 1: 2.0}\n"}, []))
def test_agrees_with_hydra(case: tuple[dict[str, str], list[str]]) -> None:
    files, overrides = case
    folder = Path(tempfile.mkdtemp())
    try:
        write(folder, files)
        assert verdict(composed(files, *overrides, environment={})) == hydra_says(folder, "conf", "config", overrides)
    finally:
        shutil.rmtree(folder)
