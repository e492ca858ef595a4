"""Settings: what each key means, all mistakes reported at once, and a schema that says the same as the quick check."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pytest_gbs.files.shipped import read_schema
from pytest_gbs.model.errors import SettingsError, UsageError
from pytest_gbs.model.settings import Expectation, Hardware, Settings
from pytest_gbs.settings import Overrides, load_settings
from pytest_gbs.settings.explain import problems, sentences
from pytest_gbs.settings.hardware import hardware_for
from pytest_gbs.settings.selection import merge
from pytest_gbs.settings.shape import fits

RULES = {
    "GBS001": "unreadable-file",
    "GBS101": "stale-declaration",
    "GBS104": "stale-factor",
    "GBS106": "name-disagrees",
    "GBS204": "unsatisfiable-batch",
    "GBS501": "recipe-policy",
}
SCHEMA: dict[str, Any] = json.loads(read_schema("settings"))
VALIDATOR = Draft202012Validator(SCHEMA)


def _load(root: Path, text: str) -> Settings:
    (root / "gbs.toml").write_text(text, encoding="utf-8")
    return load_settings(root, rules=RULES)


def _mistakes(root: Path, text: str, name: str = "gbs.toml") -> list[str]:
    (root / name).write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(root, rules=RULES)
    return str(caught.value).splitlines()


# Where settings stand.


def test_a_repository_without_settings_has_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\ndependencies = ['pytest-gbs']\nthis is not TOML, and not our concern\n")
    assert load_settings(tmp_path, rules=RULES) == Settings()


def test_an_empty_file_has_the_defaults(tmp_path: Path) -> None:
    assert _load(tmp_path, "") == Settings(source="gbs.toml")


def test_a_pyproject_that_is_a_folder_holds_no_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()
    assert load_settings(tmp_path, rules=RULES) == Settings()


def test_a_table_of_pyproject_is_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.gbs]\nexclude = ['old/']\n")
    assert load_settings(str(tmp_path), rules=RULES) == Settings(exclude=("old/",), source="pyproject.toml")


def test_gbs_toml_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.gbs]\nmax-file-size = 'broken'\n")
    assert _load(tmp_path, "max-file-size = 10") == Settings(max_file_size=10, source="gbs.toml")


def test_a_byte_order_mark_and_crlf_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "gbs.toml").write_bytes(b"\xef\xbb\xbfstrict = true\r\nexclude = ['a']\r\n")
    assert load_settings(tmp_path, rules=RULES) == Settings(strict=True, exclude=("a",), source="gbs.toml")


def test_a_file_named_by_the_user_is_read_in_place_of_others(tmp_path: Path) -> None:
    (tmp_path / "gbs.toml").write_text("broken")
    (tmp_path / "whole.toml").write_text("strict = true")
    (tmp_path / "table.toml").write_text("[tool.gbs]\nstrict = true")
    for name in ("whole.toml", "table.toml"):
        assert load_settings(tmp_path, tmp_path / name, rules=RULES) == Settings(strict=True, source=name)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("gone.toml", None, "gone.toml: there is no such file"),
        ("pyproject.toml", "[tool.ruff]", "pyproject.toml: it has no section [tool.gbs]"),
    ],
)
def test_a_file_named_by_the_user_must_hold_settings(name: str, text: str | None, expected: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, tmp_path / name, rules=RULES)
    assert str(caught.value) == expected


# What each key means.


def test_every_key_is_kept(tmp_path: Path) -> None:
    settings = _load(
        tmp_path,
        """\
select = ["GBS1", "recipe-policy"]
extend-select = ["gbs204"]
ignore = ["stale_factor"]
severity = {GBS1 = "info", GBS101 = "warning", recipe-policy = "error"}
per-file-ignores = {"tests/**" = ["GBS101", "GBS5"], "*.json" = ["ALL"]}
exclude = ["vendor/"]
num-nodes = 4
gpus-per-node = 8.0
max-file-size = 1_000
strict = "all"
require-ignore-reason = true
plugins = []
versions = {transformers = "4.57.1"}
[[hardware]]
paths = ["gb200/**"]
gpus-per-node = 4
[[launch]]
name = "nightly"
nodes = 2
gpus-per-node = 8
[[launch]]
name = "one"
paths = ["a/", "b/"]
world-size = 64
[[expect]]
paths = ["sft/**"]
global-batch-size = 128
tokens-per-step = {min = 4_000_000, max = 5_000_000}
[[expect]]
paths = ["dpo/**"]
global-batch-size = {in = [128, 256]}
micro-batch-size = {max = 8}
same = "world-size"
""",
    )
    assert settings == Settings(
        select=("GBS101", "GBS104", "GBS106", "GBS501"),
        extend_select=("GBS204",),
        ignore=("GBS104",),
        severity=(("GBS101", "warning"), ("GBS104", "info"), ("GBS106", "info"), ("GBS501", "error")),
        per_file_ignores=(("tests/**", ("GBS101", "GBS501")), ("*.json", tuple(RULES))),
        exclude=("vendor/",),
        hardware=(
            Hardware(("**",), num_nodes=4, gpus_per_node=8, origin="num-nodes and gpus-per-node in gbs.toml"),
            Hardware(("gb200/**",), gpus_per_node=4, origin="gpus-per-node in [[hardware]] of gbs.toml"),
        ),
        launches=(
            Hardware(("**",), 2, 8, origin="num-nodes and gpus-per-node in [[launch]] of gbs.toml", name="nightly"),
            Hardware(("a/", "b/"), world_size=64, origin="world-size in [[launch]] of gbs.toml", name="one"),
        ),
        expect=(
            Expectation(("sft/**",), "global_batch_size", (128,), origin="[[expect]] of gbs.toml", text="global-batch-size = 128"),
            Expectation(
                ("sft/**",),
                "tokens_per_step",
                (),
                4_000_000,
                5_000_000,
                origin="[[expect]] of gbs.toml",
                text="tokens-per-step = {min = 4000000, max = 5000000}",
            ),
            Expectation(
                ("dpo/**",), "global_batch_size", (128, 256), origin="[[expect]] of gbs.toml", text="global-batch-size = {in = [128, 256]}"
            ),
            Expectation(("dpo/**",), "micro_batch_size", high=8, origin="[[expect]] of gbs.toml", text="micro-batch-size = {max = 8}"),
            Expectation(("dpo/**",), "world_size", shared=True, origin="[[expect]] of gbs.toml", text='same = "world-size"'),
        ),
        max_file_size=1000,
        strict=True,
        strict_all=True,
        require_ignore_reason=True,
        source="gbs.toml",
        versions=(("transformers", "4.57.1"),),
    )
    assert type(settings.hardware[0].gpus_per_node) is int


def test_an_origin_names_the_table_of_pyproject(tmp_path: Path) -> None:
    tables = ("[tool.gbs]\ngpus-per-node = 8", "[[tool.gbs.hardware]]\npaths = ['a']\nnodes = 2", "[[tool.gbs.expect]]\npaths = ['a']")
    (tmp_path / "pyproject.toml").write_text("\n".join((*tables, "same = 'world-size'")))
    settings = load_settings(tmp_path, rules=RULES)
    assert [entry.origin for entry in settings.hardware] == [
        "gpus-per-node in [tool.gbs] of pyproject.toml",
        "num-nodes in [[tool.gbs.hardware]] of pyproject.toml",
    ]
    assert settings.expect[0].origin == "[[tool.gbs.expect]] of pyproject.toml"


# Mistakes.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("gpus-per-node = 'eight'", 'gpus-per-node is "eight": expected a whole number from 1 to 1,000', id="text"),
        pytest.param("gpus-per-node = 8.5", "gpus-per-node is 8.5: expected a whole number from 1 to 1,000", id="fraction"),
        pytest.param("gpus-per-node = nan", "gpus-per-node is nan: expected a whole number from 1 to 1,000", id="nan"),
        pytest.param("gpus-per-node = true", "gpus-per-node is true: expected a whole number from 1 to 1,000", id="true"),
        pytest.param("gpus-per-node = 0", "gpus-per-node is 0: expected a whole number from 1 to 1,000", id="zero"),
        pytest.param("world-size = 65537", "world-size is 65537: expected a whole number from 1 to 65,536", id="too many"),
        pytest.param("nodes = 2024-01-01", "nodes is 2024-01-01: expected a whole number from 1 to 65,536", id="date"),
        pytest.param("strict = 1", 'strict is 1: expected true, false or "all"', id="strict one"),
        pytest.param("require-ignore-reason = 'no'", 'require-ignore-reason is "no": expected true or false', id="boolean"),
        pytest.param("ignore = 'GBS101'", 'ignore is "GBS101": expected a list of texts', id="no list"),
        pytest.param("ignore = [1]", "ignore contains 1: expected text of 1 to 200 characters", id="number in a list"),
        pytest.param("severity = {GBS101 = 'bad'}", '[severity] GBS101 is "bad": expected "error", "warning" or "info"', id="severity"),
        pytest.param("severity = {GBS999 = 'info'}", "[severity] GBS999 is not a rule; gbs rules lists them", id="severity of no rule"),
        pytest.param("select = ['X9']", 'select contains "X9", which is not a rule; gbs rules lists them', id="prefix of no rule"),
        pytest.param(
            "ignore = ['stale-facto']",
            'ignore contains "stale-facto", which is not a rule; did you mean stale-factor? gbs rules lists them',
            id="misspelt rule",
        ),
        pytest.param("gpu-per-node = 8", "gpu-per-node is not a setting; did you mean gpus-per-node?", id="misspelt key"),
        pytest.param("gpus_per_node = 8", "gpus_per_node is not a setting; did you mean gpus-per-node?", id="underscores"),
        pytest.param("[tool.gbs]\nnodes = 1", "tool is not a setting; gbs.toml has no [tool.gbs] level", id="tool.gbs"),
        pytest.param("nodes = 1\nnum-nodes = 1", "nodes is the same setting as num-nodes; keep one of them", id="alias"),
        pytest.param("nodes = 4\nworld-size = 10", "world-size 10 is not a multiple of num-nodes 4", id="not divisible"),
        pytest.param(
            "nodes = 4\ngpus-per-node = 8\nworld-size = 64",
            "world-size 64 is not num-nodes 4 x gpus-per-node 8 = 32",
            id="not the product",
        ),
        pytest.param(
            "[[launch]]\nname = 'a'\ngpus-per-node = 8\nworld-size = 12",
            "[[launch]] world-size 12 is not a multiple of gpus-per-node 8",
            id="launch",
        ),
        pytest.param("[[launch]]\nnodes = 1", "[[launch]] has no name: expected text of 1 to 200 characters", id="no name"),
        pytest.param("[[hardware]]\nnodes = 1", "[[hardware]] has no paths: expected a list of one or more texts", id="no paths"),
        pytest.param(
            "[[hardware]]\npaths = ['a']",
            "[[hardware]] is empty: expected num-nodes, nodes, gpus-per-node or world-size",
            id="no hardware",
        ),
        pytest.param(
            "[hardware]\nnodes = 1",
            "hardware is {nodes = 1}: expected a list of tables, in double brackets",
            id="single brackets",
        ),
        pytest.param(
            "[[expect]]\npaths = ['a']\nglobal-batch-size = {in = 4}",
            "[[expect]] global-batch-size is {in = 4}: expected a whole number from 1 to 1,000,000,000,000, {in = ...} "
            "or {min = ..., max = ...}",
            id="expected",
        ),
        pytest.param(
            "[[expect]]\npaths = ['a']\nglobal-batch-size = {min = 9, max = 3}",
            "[[expect]] global-batch-size has min 9 above max 3",
            id="empty range",
        ),
        pytest.param("exclude = ['a[']", 'exclude contains "a[", which matches nothing', id="broken glob"),
        pytest.param(
            "per-file-ignores = {'' = []}", "[per-file-ignores] is not a valid name: expected text of 1 to 1,000 characters", id="no glob"
        ),
        pytest.param("versions = {trl = 1}", "[versions] trl is 1: expected text of 1 to 200 characters", id="version"),
    ],
)
def test_a_mistake_is_reported_in_one_line(text: str, expected: str, tmp_path: Path) -> None:
    lines = _mistakes(tmp_path, text)
    assert len(lines) == 1
    place, _, sentence = lines[0].partition(": ")
    assert place.startswith("gbs.toml:")
    assert sentence == expected


def test_all_mistakes_are_reported_at_once_in_their_order(tmp_path: Path) -> None:
    text = """\
[project]
name = "x"

[tool.gbs]
gpus-per-node = "eight"
exclude = [
  "ok/",  # comment
  "[x",
  3,
]
"strict" = 2
severity.GBS999 = "info"

[[tool.gbs.hardware]]
paths = ["a"]
nodes = 4
world-size = 10

[[tool.gbs.hardware]]
paths = ["b"]
nodes = 0

[tool.gbs.versions]
trl = 1
"""
    assert _mistakes(tmp_path, text, "pyproject.toml") == [
        'pyproject.toml:5: [tool.gbs] gpus-per-node is "eight": expected a whole number from 1 to 1,000',
        "pyproject.toml:6: [tool.gbs] exclude contains 3: expected text of 1 to 1,000 characters",
        'pyproject.toml:8: [tool.gbs] exclude contains "[x", which matches nothing',
        'pyproject.toml:11: [tool.gbs] strict is 2: expected true, false or "all"',
        "pyproject.toml:12: [tool.gbs.severity] GBS999 is not a rule; gbs rules lists them",
        "pyproject.toml:17: [[tool.gbs.hardware]] world-size 10 is not a multiple of num-nodes 4",
        "pyproject.toml:21: [[tool.gbs.hardware]] nodes is 0: expected a whole number from 1 to 65,536",
        "pyproject.toml:24: [tool.gbs.versions] trl is 1: expected text of 1 to 200 characters",
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"a = 1\nb = = 2\n", "gbs.toml:2: not TOML: invalid value (column 5)", id="syntax"),
        pytest.param(b"a = 1\nb = [1,\n", "gbs.toml:2: not TOML: invalid value (at the end)", id="unfinished"),
        pytest.param(b"a = 1\na = 2\n", "gbs.toml:2: not TOML: cannot overwrite a value (column 6)", id="twice"),
        pytest.param(b"a = 1\nb = '\xff'\n", "gbs.toml:2: not TOML: not UTF-8", id="bytes"),
        pytest.param(b"a = " + b"1" * 5000, "gbs.toml: not TOML: a number is too long", id="digits"),
        pytest.param(b"a = " + b"[" * 50_000, "gbs.toml: nested too deeply", id="brackets"),
        pytest.param(b"a = " + b"{a=" * 50_000, "gbs.toml: nested too deeply", id="braces"),
        pytest.param(b"[" + b"a." * 90_000 + b"a]", "gbs.toml: nested too deeply", id="dots"),
        pytest.param(
            b"nodes = 0x" + b"f" * 9000, "gbs.toml:1: nodes is 1000000000000000000: expected a whole number from 1 to 65,536", id="hex"
        ),
        pytest.param(b"#" * 200_001, "gbs.toml: larger than 200,000 bytes", id="size"),
    ],
)
def test_what_is_not_toml_is_reported_in_one_line(data: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / "gbs.toml").write_bytes(data)
    with pytest.raises(SettingsError) as caught:
        load_settings(tmp_path, rules=RULES)
    assert str(caught.value) == expected


def test_thousands_of_mistakes_are_answered_quickly(tmp_path: Path) -> None:
    keys = "".join(f"key{number} = {number}\n" for number in range(6_000))
    text = f"{keys}ignore = {['nothing'] * 6_000}\n"
    start = time.perf_counter()
    assert len(_mistakes(tmp_path, text)) == 100
    assert time.perf_counter() - start < 20


# The quick check and the schema.

_NUMBERS = st.one_of(st.integers(-1, 3), st.sampled_from([1000, 1001, 65_536, 65_537, 10**9, 10**9 + 1, 10**12, 10**12 + 1]))
_SCALARS = st.one_of(_NUMBERS, st.booleans(), st.floats(), st.sampled_from([8.0, 8.5, 0.0]), st.text(max_size=3), st.none())
_KEYS = sorted(
    {
        *SCHEMA["properties"],
        *(k for part in ("hardware", "launch", "expect") for k in SCHEMA["properties"][part]["items"]["properties"]),
        "in",
        "min",
        "max",
    }
)
_STRINGS = st.one_of(st.sampled_from(["error", "all", "global-batch-size", "", "x" * 201, "x" * 1001, "a"]), st.text(max_size=3))
_ANYTHING = st.recursive(
    st.one_of(_SCALARS, _STRINGS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.one_of(st.sampled_from(_KEYS), _STRINGS), inner, max_size=4)),
    max_leaves=8,
)


def _settings_like() -> st.SearchStrategy[dict[str, Any]]:
    """A strategy for settings most parts of which are right."""
    size = st.one_of(st.integers(1, 9), st.just(8.0))
    words = st.lists(st.sampled_from(["GBS101", "x"]), max_size=2)
    paths = st.lists(st.just("a/**"), min_size=1, max_size=2)
    hardware = dict.fromkeys(("num-nodes", "nodes", "gpus-per-node", "world-size"), size)
    bounds = st.fixed_dictionaries({}, optional={"min": size, "max": size})
    expected = st.one_of(size, bounds, st.fixed_dictionaries({"in": st.lists(size, max_size=2)}), _ANYTHING)
    parts: dict[str, st.SearchStrategy[Any]] = {
        "select": words,
        "severity": st.dictionaries(st.text(max_size=2), st.sampled_from(["error", "info", "bad"]), max_size=2),
        "per-file-ignores": st.dictionaries(st.sampled_from(["", "a", "x" * 1001]), words, max_size=2),
        "exclude": st.lists(_STRINGS, max_size=2),
        **hardware,
        "hardware": st.lists(st.fixed_dictionaries({}, optional={"paths": paths, **hardware}), max_size=2),
        "launch": st.lists(st.fixed_dictionaries({}, optional={"name": _STRINGS, "paths": paths, **hardware}), max_size=2),
        "expect": st.lists(
            st.fixed_dictionaries({"paths": paths}, optional={"global-batch-size": expected, "same": _STRINGS, "world-size": expected}),
            max_size=2,
        ),
        "max-file-size": _NUMBERS,
        "strict": st.one_of(st.booleans(), _STRINGS, st.sampled_from([0, 1, 1.0])),
        "require-ignore-reason": st.booleans(),
        "versions": st.dictionaries(_STRINGS, _STRINGS, max_size=2),
        "plugins": st.lists(_STRINGS, max_size=2),
        "frameworks": st.one_of(
            st.lists(_STRINGS, max_size=2), st.dictionaries(_STRINGS, st.one_of(_STRINGS, st.just({}), _ANYTHING), max_size=2)
        ),
    }
    return st.fixed_dictionaries({}, optional=parts)


@given(_settings_like())
def test_the_quick_check_accepts_what_the_schema_accepts(raw: dict[str, Any]) -> None:
    assert fits(raw) == VALIDATOR.is_valid(raw)


@given(st.dictionaries(st.sampled_from(_KEYS), _ANYTHING, max_size=4))
def test_the_quick_check_and_the_schema_agree_on_anything(raw: dict[str, Any]) -> None:
    assert fits(raw) == VALIDATOR.is_valid(raw)


@example({"frameworks": {"": {}}})
@given(st.one_of(_settings_like(), st.dictionaries(st.sampled_from(_KEYS), _ANYTHING, max_size=4)))
def test_whatever_is_refused_is_explained_a_line_for_each_mistake(raw: dict[str, Any]) -> None:
    wrong = problems(raw)
    lines = sentences(wrong, "gbs.toml", "", ())
    assert bool(lines) != fits(raw)
    assert len(lines) == len(wrong)
    assert not any("\n" in line.replace("\\n", "") for line in lines)


def test_the_schema_describes_every_key_and_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for name, part in SCHEMA["properties"].items():
        assert part["description"], name


@pytest.mark.parametrize("text", ["", "[tool.gbs]\nnodes = 4\nignore = ['GBS101']\n"], ids=["none", "some"])
def test_settings_in_order_import_nothing_heavy(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    code = (
        "import sys; from pytest_gbs.settings import load_settings; load_settings(sys.argv[1], rules={'GBS101': 'x'});"
        "print(*{'jsonschema', 'difflib', 'pathlib', 'dataclasses', 'typing_extensions', 'tomllib', 'tomli'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == (["tomllib" if sys.version_info >= (3, 11) else "tomli"] if text else [])


# The command line.


FROM_FILE = Settings(select=("GBS101",), extend_select=("GBS204",), ignore=("GBS104", "GBS106"), strict_all=True, strict=True)


def test_saying_nothing_changes_nothing() -> None:
    assert merge(FROM_FILE, Overrides(), RULES) == FROM_FILE


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param({"select": ["GBS104"]}, {"select": ("GBS104",), "extend_select": (), "ignore": ()}, id="select"),
        pytest.param(
            {"select": ["gbs104, recipe-policy", "GBS0"]},
            {"select": ("GBS104", "GBS501", "GBS001"), "extend_select": (), "ignore": ()},
            id="commas",
        ),
        pytest.param({"select": [], "extend_select": (), "ignore": [], "exclude": []}, {}, id="empty lists"),
        pytest.param({"extend_select": ["GBS104"]}, {"extend_select": ("GBS204", "GBS104"), "ignore": ("GBS106",)}, id="extend"),
        pytest.param({"ignore": ["GBS101", "GBS104"]}, {"ignore": ("GBS104", "GBS106", "GBS101")}, id="ignore"),
        pytest.param({"strict": False}, {"strict": False, "strict_all": False}, id="not strict"),
        pytest.param({"strict_all": False}, {"strict_all": False}, id="not all"),
        pytest.param({"max_file_size": 3, "exclude": ["a"]}, {"max_file_size": 3, "exclude": ("a",)}, id="others"),
    ],
)
def test_the_command_line_beats_the_file(said: dict[str, Any], expected: dict[str, Any]) -> None:
    assert merge(FROM_FILE, Overrides(**said), RULES) == FROM_FILE._replace(**expected)


def test_overrides_are_merged_on_loading(tmp_path: Path) -> None:
    (tmp_path / "gbs.toml").write_text("ignore = ['GBS1']")
    settings = load_settings(tmp_path, overrides=Overrides(select=["GBS1"], strict_all=True), rules=RULES)
    assert settings == Settings(select=("GBS101", "GBS104", "GBS106"), strict=True, strict_all=True, source="gbs.toml")


def test_a_rule_that_is_none_is_a_wrong_call() -> None:
    with pytest.raises(UsageError) as caught:
        merge(Settings(), Overrides(select=["GBS1010,GBS104"], ignore=["nothing-known"]), RULES)
    assert str(caught.value) == "no rule is called GBS1010; gbs rules lists them"


# Hardware.


def _hardware(*entries: Hardware) -> Settings:
    return Settings(hardware=entries)


TOP = Hardware(("**",), gpus_per_node=8, origin="gpus-per-node in [tool.gbs] of pyproject.toml")
HOME = "[[tool.gbs.hardware]] of pyproject.toml"


def test_no_hardware_is_none() -> None:
    assert hardware_for(Settings(), "a.yaml") is None
    assert hardware_for(_hardware(TOP._replace(paths=("b/",))), "a.yaml") is None


def test_the_top_level_is_for_all() -> None:
    assert hardware_for(_hardware(TOP), "a/b.yaml") == TOP._replace(paths=("a/b.yaml",))


def test_the_last_entry_that_matches_wins_field_by_field() -> None:
    settings = _hardware(
        TOP,
        Hardware(("a/",), num_nodes=2, gpus_per_node=6, origin=f"num-nodes and gpus-per-node in {HOME}"),
        Hardware(("a/b.yaml",), gpus_per_node=4, origin=f"gpus-per-node in {HOME}"),
        Hardware(("c/",), gpus_per_node=1, origin=f"gpus-per-node in {HOME}"),
    )
    assert hardware_for(settings, "a/b.yaml") == Hardware(("a/b.yaml",), 2, 4, origin=f"num-nodes and gpus-per-node in {HOME}")
    assert hardware_for(settings, "d.yaml") == Hardware(("d.yaml",), gpus_per_node=8, origin=TOP.origin)


def test_an_origin_names_each_table_that_was_used() -> None:
    settings = _hardware(TOP, Hardware(("a/",), num_nodes=2, origin=f"num-nodes in {HOME}"))
    found = hardware_for(settings, "a/b.yaml")
    assert found is not None
    assert found.origin == f"gpus-per-node in [tool.gbs] of pyproject.toml and num-nodes in {HOME}"


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        pytest.param((None, 8, 64), (2, None, None), (2, 8, None), id="nodes make the world untrue"),
        pytest.param((None, None, 64), (None, 4, None), (None, 4, 64), id="a world that divides stays"),
        pytest.param((None, None, 6), (None, 4, None), (None, 4, None), id="a world that does not divide goes"),
        pytest.param((8, 8, None), (None, None, 32), (None, 8, 32), id="a world makes the nodes untrue"),
        pytest.param((8, 8, None), (None, None, 4), (None, None, 4), id="a small world makes both untrue"),
        pytest.param((8, 8, 64), (None, 4, None), (8, 4, None), id="smaller machines"),
        pytest.param((2, 8, 16), (4, 4, None), (4, 4, 16), id="the same world from other machines"),
    ],
)
def test_a_later_entry_drops_what_it_contradicts(
    earlier: tuple[int | None, int | None, int | None],
    later: tuple[int | None, int | None, int | None],
    expected: tuple[int | None, int | None, int | None],
) -> None:
    settings = _hardware(Hardware(("**",), *earlier, "x in a"), Hardware(("**",), *later, "y in b"))
    found = hardware_for(settings, "a.yaml")
    assert found is not None
    assert found[1:4] == expected
