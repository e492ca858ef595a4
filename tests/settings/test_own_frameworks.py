"""A user's own framework: what its description comes to, every mistake with its line, and a schema that says the same."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pytest_gbs import Given
from pytest_gbs.files.shipped import read_schema
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.frameworks._formulas import formula, relation
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.equation import Enforcement, Rounding
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.framework import Arguments, Framework, Loader, SameAs, Treatment
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings
from pytest_gbs.settings import load_settings
from pytest_gbs.settings.explain import sentences
from pytest_gbs.settings.framework_mistakes import SIZES
from pytest_gbs.settings.frameworks import describe
from tests.cli.support import write
from tests.schema_strategies import nearly
from tests.support import check, in_memory

SCHEMA: dict[str, Any] = json.loads(read_schema("framework"))
VALIDATOR = Draft202012Validator(SCHEMA)
SHORT = """\
recognise = {all-of = ["acme.batch"]}
[keys]
"acme.batch" = "micro_batch_size"
"acme.accumulate" = {size = "gradient_accumulation_steps", default = 4}
"acme.tensor" = {size = "tensor_parallel_size", default = 1}
"""
# The same facts as a table of settings rather than a file of its own.
INSIDE = "[frameworks.acme]\n" + SHORT.replace("[keys]", "[frameworks.acme.keys]")
RECIPE = "acme: {batch: 2, tensor: 2}\n"


def _load(root: Path, files: dict[str, str]) -> Settings:
    return load_settings(write(root, files), rules={})


def _table(root: Path, text: str) -> Framework:
    (found,) = _load(root, {"gbs.toml": 'frameworks = ["acme.toml"]\n', "acme.toml": text}).frameworks
    return found


def _mistakes(root: Path, text: str, settings: str = 'frameworks = ["acme.toml"]\n') -> list[str]:
    with pytest.raises(SettingsError) as caught:
        _load(root, {"gbs.toml": settings, "acme.toml": text})
    return str(caught.value).splitlines()


def _check(root: Path, files: dict[str, str], world_size: int | None = None) -> Report:
    settings = _load(root, files)
    return check(WorkTree(root, settings.max_file_size, settings.exclude), [], settings, Given(None, None, world_size), keep_runs=True)


def _shown(report: Report) -> dict[str, tuple[str, int | None]]:
    return {file.path: (run.framework.title, run.geometry.global_batch_size) for file in report.files for run in file.runs}


# What a description comes to.


def test_a_missing_description_is_not_a_table(tmp_path: Path) -> None:
    assert _load(tmp_path, {"gbs.toml": "frameworks = []\n"}).frameworks == ()


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"gbs.toml": INSIDE}, id="gbs.toml"),
        pytest.param({"pyproject.toml": INSIDE.replace("[frameworks", "[tool.gbs.frameworks")}, id="pyproject.toml"),
        pytest.param({"gbs.toml": 'frameworks = ["tools/acme.toml"]\n', "tools/acme.toml": SHORT}, id="a list of files"),
        pytest.param(
            {"gbs.toml": 'frameworks = {acme = "tools/x.toml"}\n', "tools/x.toml": f'name = "acme"\n{SHORT}'}, id="a file by name"
        ),
    ],
)
def test_a_few_lines_compute_the_batch(files: dict[str, str], tmp_path: Path) -> None:
    report = _check(tmp_path, {**files, "run.yaml": RECIPE}, world_size=16)
    assert _shown(report) == {"run.yaml": ("acme", 64)}  # 2 x 4 x 16 / 2


def test_what_is_not_said_is_usual(tmp_path: Path) -> None:
    table = _table(tmp_path, SHORT)
    assert (table.name, table.title, table.unit, table.loader, table.arguments) == (
        "acme",
        "acme",
        "samples",
        Loader.PYYAML,
        Arguments.FLAGS,
    )
    assert {equation.result: equation.divisors for equation in table.equations} == {
        Name.WORLD_SIZE: (),
        Name.DATA_PARALLEL_SIZE: (Name.TENSOR_PARALLEL_SIZE,),
        Name.GLOBAL_BATCH_SIZE: (),
    }


def test_what_is_said_is_kept(tmp_path: Path) -> None:
    table = _table(
        tmp_path,
        """\
title = "Acme (pairs)"
unit = "pairs"
loader = "omegaconf"
arguments = "hydra"
package = "acme-train"
version = "acme 3"
companions = ["ds"]
names = ["run.name"]
also = ["seed"]
sequences-per-sample = 2
strict = true
equations = [
  "data_parallel_size = replicate_size * shard_size",
  {formula = "gradient_accumulation_steps = global_batch_size / (micro_batch_size * data_parallel_size)", rounding = "ceil"},
  "rank_batch_size = global_batch_size // data_parallel_size",
]
constraints = ["global_batch_size % data_parallel_size == 0", {relation = "num_generations >= 2", enforcement = "corrects"}]
exclusions = [{keys = ["a.b", "c"]}]
requirements = [{keys = ["batch"], label = "it stops"}]
switches = [{key = "adaptive", is = [true], sizes = ["global_batch_size"], label = "it grows"}]
texts = [{key = "lr", label = "it breaks"}]
assumed = {pipeline_parallel_size = 1}
packing = {key = "packed", present = true}

[recognise]
any-of = [["batch"], ["acme", "a.b"]]
none-of = ["trainer"]
marks = ["acme"]
paths = ["Acme"]
weight = 2
when = [{key = "kind", not = ["sft"], default = "sft"}]
syntax = "yaml"

[keys]
batch = [{size = "global_batch_size", when = [{key = "per", is = ["step"]}]}, {size = "micro_batch_size", since = "2.0"}]
micro = {size = "micro_batch_size", default = "rank_batch_size", unless = "global_batch_size", minimum = 2}
shards = {size = "shard_size", words = {auto = "auto", "-1" = "auto"}, quoted = "accepts", why = "int()"}
'a\\.b.c' = "replicate_size"
generations = "num_generations"
""",
    )
    assert (table.title, table.unit, table.loader, table.arguments, table.package) == (
        "Acme (pairs)",
        "pairs",
        Loader.OMEGACONF,
        Arguments.HYDRA,
        "acme-train",
    )
    assert (table.companions, table.names, table.sequences_per_sample) == ((("ds",),), (("run", "name"),), 2)
    assert [(e.result, e.rounding) for e in table.equations] == [
        (Name.DATA_PARALLEL_SIZE, Rounding.EXACT),
        (Name.GRADIENT_ACCUMULATION_STEPS, Rounding.CEIL),
        (Name.RANK_BATCH_SIZE, Rounding.FLOOR),
        (Name.WORLD_SIZE, Rounding.EXACT),
        (Name.GLOBAL_BATCH_SIZE, Rounding.EXACT),
    ]
    assert [(c.rule, c.at_least, c.enforcement) for c in table.constraints] == [
        ("batch-not-divisible", None, Enforcement.STOPS),
        ("micro-batch-too-small", 2, Enforcement.CORRECTS),
    ]
    assert table.exclusions[0].keys == (("a", "b"), ("c",))
    assert table.requirements[0].keys == (("batch",),)
    assert table.switches[0].condition == Condition(("adaptive",), (True,))
    assert table.packing == Condition(("packed",), (None,), negated=True)
    assert table.recognition.one_of == ((("batch",),), (("acme",), ("a", "b")))
    assert table.recognition.when == (Condition(("kind",), ("sft",), negated=True, default="sft"),)
    assert table.recognition.paths == ("acme",)
    rows = {(row.key, row.name): row for row in table.rows}
    assert rows[("batch",), Name.GLOBAL_BATCH_SIZE].when == (Condition(("per",), ("step",)),)
    assert rows[("micro",), Name.MICRO_BATCH_SIZE].default == SameAs(Name.RANK_BATCH_SIZE, unless=Name.GLOBAL_BATCH_SIZE)
    assert rows[("a.b", "c"), Name.REPLICATE_SIZE].reading.zero == Treatment.STOPS
    assert (
        (-1, Treatment.AUTO) in rows[("shards",), Name.SHARD_SIZE].reading.words,
        rows[("shards",), Name.SHARD_SIZE].reading.quoted,
    ) == (
        True,
        Treatment.ACCEPTS,
    )
    assert [(era.until, len(era.table.rows)) for era in table.eras] == [("2.0", len(table.rows) - 1)]


def test_each_fact_without_a_source_cites_where_it_is_described(tmp_path: Path) -> None:
    table = _table(tmp_path, SHORT)
    assert {row.source for row in table.rows} == {"acme.toml"}
    assert table.version == table.source == "acme.toml"


@pytest.mark.parametrize("value", ["auto", "0", "-1", "2.5", "[1]", "'8'"], ids=str)
def test_an_odd_value_is_not_a_mistake_if_nothing_says_what_happens(value: str, tmp_path: Path) -> None:
    report = _check(tmp_path, {"gbs.toml": INSIDE, "run.yaml": f"acme:\n  batch: {value}\n"}, world_size=8)
    assert list(report.findings()) == []
    assert _shown(report) == {"run.yaml": ("acme", None)}


def test_an_odd_value_stops_a_strict_framework(tmp_path: Path) -> None:
    report = _check(
        tmp_path, {"gbs.toml": 'frameworks = ["acme.toml"]', "acme.toml": f"strict = true\n{SHORT}", "run.yaml": "acme: {batch: 0}"}
    )
    assert [finding.code for finding in report.findings()] == ["GBS003"]


def test_a_constraint_of_a_users_framework_is_judged(tmp_path: Path) -> None:
    text = 'constraints = ["global_batch_size % (micro_batch_size * data_parallel_size) == 0"]\n' + SHORT.replace(
        '"acme.accumulate" = {size = "gradient_accumulation_steps", default = 4}', '"acme.total" = "global_batch_size"'
    )
    files = {"gbs.toml": 'frameworks = ["acme.toml"]', "acme.toml": text}
    fitting = _check(tmp_path, {**files, "run.yaml": "acme: {batch: 2, total: 64}"}, world_size=8)
    assert list(fitting.findings()) == []
    broken = _check(tmp_path, {**files, "run.yaml": "acme: {batch: 2, total: 60}"}, world_size=8)
    assert [finding.code for finding in broken.findings()] == ["GBS202"]


# Recognition.

HF = "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\nlearning_rate: 0.1\noutput_dir: x\n"
OVER = """\
[frameworks.ours]
recognise = {all-of = ["per_device_train_batch_size"], files = ["ours/**"]}
keys = {per_device_train_batch_size = "global_batch_size"}
"""


def test_other_recipes_are_recognised_as_ever(tmp_path: Path) -> None:
    report = _check(tmp_path, {"gbs.toml": INSIDE, "sft.yaml": HF}, world_size=8)
    assert _shown(report) == {"sft.yaml": ("transformers Trainer", 64)}


def test_a_users_table_comes_before_the_built_in_ones_where_its_files_are(tmp_path: Path) -> None:
    report = _check(tmp_path, {"gbs.toml": OVER, "ours/sft.yaml": HF, "theirs/sft.yaml": HF}, world_size=8)
    assert _shown(report) == {"ours/sft.yaml": ("ours", 4), "theirs/sft.yaml": ("transformers Trainer", 64)}


def test_a_launch_of_a_users_recipe_is_a_run_of_its_own(tmp_path: Path) -> None:
    files = {"gbs.toml": INSIDE, "run.yaml": RECIPE, "train.py": "import acme\n"}
    files["run.sh"] = "torchrun --nproc_per_node 8 train.py --config run.yaml --acme.batch 3\n"
    report = _check(tmp_path, files)
    launched = [run for file in report.files for run in file.runs if run.launch is not None]
    assert [(run.framework.title, run.geometry.global_batch_size) for run in launched] == [("acme", 48)]  # 3 x 4 x 8 / 2


# Mistakes.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("keys = {a = 'micro_batch_size'}", "acme.toml:1: has no recognise: expected a table", id="no recognition"),
        pytest.param(
            SHORT.replace('"micro_batch_size"', '"micro_batch"'),
            'acme.toml:3: keys.acme.batch is "micro_batch", which is not a size; did you mean micro_batch_size?',
            id="no size",
        ),
        pytest.param(
            SHORT.replace('"acme.batch" =', "acme.batch ="),
            'acme.toml:3: keys.acme has no size; a key with dots is written in quotes, such as "train.batch" = "micro_batch_size"',
            id="no quotes",
        ),
        pytest.param(
            SHORT.replace("default = 4", "defualt = 4"),
            "acme.toml:4: keys.acme.accumulate.defualt is not a setting; did you mean default?",
            id="misspelt",
        ),
        pytest.param(
            'equations = ["global_batch_size = micro_batch_size *"]\n' + SHORT,
            'acme.toml:1: equations contains "global_batch_size = micro_batch_size *", '
            "which is not a formula: expected size = size * size, with / or //"
            " and one size or (size * size) behind it",
            id="no formula",
        ),
        pytest.param(
            'equations = ["global_batch_size = micro_batch_size * nodes"]\n' + SHORT,
            'acme.toml:1: equations contains "global_batch_size = micro_batch_size * nodes", '
            "but nodes is not a size; did you mean num_nodes?",
            id="no size in a formula",
        ),
        pytest.param(
            'equations = ["global_batch_size = micro_batch_size * num_generations"]\n' + SHORT,
            "acme.toml:1: equations needs num_generations, which no key and no other equation gives",
            id="a size that nothing gives",
        ),
        pytest.param(
            'constraints = ["global_batch_size % 8"]\n' + SHORT,
            'acme.toml:1: constraints contains "global_batch_size % 8", '
            "which is not a relation: expected size * size % (size * size) == 0, or size / size"
            " >= 2",
            id="no relation",
        ),
        pytest.param(
            SHORT.replace("default = 4", 'default = "four"'),
            'acme.toml:4: keys.acme.accumulate.default is "four", which is not a size',
            id="a default of no size",
        ),
        pytest.param(
            SHORT.replace("default = 4", 'since = "new"'),
            'acme.toml:4: keys.acme.accumulate.since is "new": expected a version such as "0.16"',
            id="no version",
        ),
        pytest.param(
            'recognise = {all-of = ["x"]}\nkeys = {x = "sequence_length"}\n',
            "acme.toml:2: keys has no key of the micro_batch_size or the global_batch_size",
            id="no batch",
        ),
        pytest.param(
            SHORT.replace('["acme.batch"]}', '["acme.batch"], functions = {' + ", ".join(f"x{n} = {{}}" for n in range(1_001)) + "}}"),
            "acme.toml:1: recognise.functions has more than 1,000 entries",
            id="functions without end",
        ),
        pytest.param(
            'title = "A\\n::error::b"\n' + SHORT,
            r'acme.toml:1: title is "A\n::error::b": expected text of 1 to 200 printable characters',
            id="a title of two lines",
        ),
        pytest.param(
            SHORT.replace('"acme.batch" =', '"acme.\\u001b[8m" ='),
            r"acme.toml:2: keys.acme.\x1b[8m is not a valid name: expected text of 1 to 1,000 printable characters",
            id="a key that hides what is behind it",
        ),
        pytest.param("recognise = [", "acme.toml:1: not TOML: invalid value (at the end)", id="no TOML"),
    ],
)
def test_a_mistake_is_reported_with_its_line(text: str, expected: str, tmp_path: Path) -> None:
    assert _mistakes(tmp_path, text) == [expected]


def test_a_name_is_one_line(tmp_path: Path) -> None:
    assert _mistakes(tmp_path, "", f'[frameworks."a\\n::error::b"]\n{SHORT.partition(chr(10))[0]}\n') == [
        r"gbs.toml:1: [frameworks.a\n::error::b] has a name that is not text of 1 to 200 printable characters"
    ]


def test_all_mistakes_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    settings = 'gpu = 1\n[frameworks]\none = "acme.toml"\nother = "../other.toml"\n[frameworks.two]\nkeys = {}\n'
    assert _mistakes(tmp_path, SHORT.replace('"micro_batch_size"', "7"), settings) == [
        "gbs.toml:1: gpu is not a setting; there are " + _known(),
        'gbs.toml:4: [frameworks.other] is "../other.toml", which is not a file of this repository',
        "gbs.toml:5: [frameworks.two] has no recognise: expected a table",
        "acme.toml:3: keys.acme.batch is 7: expected a size (micro_batch_size, global_batch_size, ...), a table or a list of one or more"
        " tables",
    ]


def _known() -> str:
    names = sorted(json.loads(read_schema("settings"))["properties"])
    return f"{', '.join(names[:-1])} and {names[-1]}"


@pytest.mark.parametrize("path", ["../acme.toml", "/etc/passwd", "C:/acme.toml", "a/../../acme.toml", "a\\\\..\\\\..\\\\b"], ids=str)
def test_nothing_outside_the_repository_is_read(path: str, tmp_path: Path) -> None:
    (line,) = _mistakes(tmp_path, SHORT, f'frameworks = ["{path}"]\n')
    assert line.endswith("which is not a file of this repository")


def test_a_link_out_of_the_repository_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text(SHORT)
    root = tmp_path / "root"
    root.mkdir()
    (root / "acme.toml").symlink_to(tmp_path / "outside.toml")
    (root / "gbs.toml").write_text('frameworks = ["acme.toml"]\n')
    with pytest.raises(SettingsError, match="which is not a file of this repository"):
        load_settings(root, rules={})


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^missing\.toml: there is no such file$"):
        _load(tmp_path, {"gbs.toml": 'frameworks = ["missing.toml"]\n'})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("keys = " + "[" * 900 + "]" * 900, id="deep lists"),
        pytest.param("keys = " + "{a=" * 60 + "1" + "}" * 60, id="deep tables"),
        pytest.param(f'equations = ["{"a * " * 20_000}"]\n{SHORT}', id="a long formula"),
        pytest.param("\n".join(f"x{n} = 1" for n in range(5_000)), id="many keys"),
        pytest.param("\x00", id="no text"),
    ],
)
def test_hostile_descriptions_are_refused_quickly(text: str, tmp_path: Path) -> None:
    start = time.monotonic()
    assert _mistakes(tmp_path, text)
    assert time.monotonic() - start < 20


# The whole notation: what a built-in table can say, one of a user's can.

FORK = """\
inherits = "trl_sft"
[recognise]
all-of = "acme_queue"
[keys]
per_device_train_batch_size.default = 3
"""
FORKED = "acme_queue: x\n" + HF.replace("per_device_train_batch_size: 4\n", "") + "dataset_name: d\nmodel_name_or_path: m\nmax_length: 8\n"


def test_a_fork_of_a_built_in_framework_says_where_it_differs(tmp_path: Path) -> None:
    files = {"gbs.toml": 'frameworks = ["acme.toml"]\n', "acme.toml": FORK, "fork.yaml": FORKED, "sft.yaml": FORKED.partition("\n")[2]}
    report = _check(tmp_path, files, world_size=8)
    assert _shown(report) == {"fork.yaml": ("acme", 48), "sft.yaml": ("TRL (SFT)", 128)}  # 3 x 2 x 8, 8 x 2 x 8
    (table,) = load_settings(tmp_path, rules={}).frameworks
    assert (table.name, table.title, table.package, table.unit) == ("trl", "acme", "trl", "samples")
    assert {row.source for row in table.rows if row.key == ("gradient_accumulation_steps",)} == {
        "TF training_args.py:849, trainer.py:2510-2518"
    }


@pytest.mark.parametrize("parent", ["trl_sft", "trl-sft", "_trl"], ids=str)
def test_built_in_tables_are_inherited_by_file_by_name_and_in_part(parent: str, tmp_path: Path) -> None:
    table = _table(tmp_path, FORK.replace("trl_sft", parent).replace("all-of", "any-of"))
    assert [row.default for row in table.rows if row.key == ("per_device_train_batch_size",)] == [3]


def test_one_variant_of_a_built_in_table_is_inherited(tmp_path: Path) -> None:
    table = _table(tmp_path, 'inherits = "trl-grpo"\nrecognise.all-of = "acme"\n')
    assert (table.title, table.unit) == ("acme", "completions")
    assert [era.until for era in table.eras] == ["0.15", "0.17", "1.9"]


def test_own_tables_share_parts_and_have_variants(tmp_path: Path) -> None:
    settings = """\
[frameworks._acme.keys]
"{section}.batch" = "micro_batch_size"
[frameworks.acme]
inherits = "_acme"
variants = [{title = "Acme (RL)", let.section = "rl"}, {title = "Acme (SFT)", let.section = "sft"}]
recognise.all-of = "{section}.batch"
[frameworks.other]
inherits = "acme"
title = "Other"
let.section = "x"
"""
    found = _load(tmp_path, {"gbs.toml": settings}).frameworks
    assert [(each.name, each.title, each.rows[0].key) for each in found] == [
        ("acme", "Acme (RL)", ("rl", "batch")),
        ("acme", "Acme (SFT)", ("sft", "batch")),
        ("other", "Other", ("x", "batch")),
    ]


def test_a_table_named_as_the_built_in_one_it_differs_from(tmp_path: Path) -> None:
    (table,) = _load(tmp_path, {"gbs.toml": '[frameworks.trl_sft]\ninherits = "trl_sft"\nunit = "rows"\n'}).frameworks
    assert (table.title, table.unit) == ("trl_sft", "rows")


def test_a_users_table_has_sizes_rules_removals_and_hooks(tmp_path: Path) -> None:
    table = _table(
        tmp_path,
        """\
package = "acme"
derive = "realise_rank_batches"
constraints = [{relation = "buffer_size % micro_batch_size == 0", rule = "group-not-divisible"}]
removals = [{key = "old", since = "2.0", label = "it stops", instead = "acme.batch"}]
sizes = {buffer_size = "rows that wait"}
"""
        + SHORT
        + '"acme.buffer" = "buffer_size"\n',
    )
    assert table.derive is not None
    assert [(each.rule, each.dividend) for each in table.constraints] == [("group-not-divisible", ("buffer_size",))]
    assert [(each.key, each.package, each.since, each.instead) for each in table.removals] == [(("old",), "acme", "2.0", "acme.batch")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            'inherits = "trl_stf"\n' + SHORT,
            'acme.toml:1: inherits is "trl_stf", and there is no table of that name; did you mean trl_sft?',
            id="no table to inherit",
        ),
        pytest.param(
            SHORT.replace("default = 4", 'when = "packed"') + "[conditions]\npacks = {key = 'packing', is = [true]}\n",
            'acme.toml:4: keys.acme.accumulate.when names the condition "packed", and there is none of that name; did you mean packs?',
            id="no condition",
        ),
        pytest.param(
            SHORT.replace("default = 4", 'reading = "usal"'),
            'acme.toml:4: keys.acme.accumulate.reading is "usal", and there is no reading of that name; did you mean usual?',
            id="no reading",
        ),
        pytest.param(
            SHORT + '[readings.a]\nlike = "b"\n[readings.b]\nlike = "a"\n',
            "acme.toml:7: readings.a.like refers back to itself, or over more than 10 others\n"
            "acme.toml:9: readings.b.like refers back to itself, or over more than 10 others",
            id="readings in a circle",
        ),
        pytest.param(
            'derive = "realise_rank_batch"\n' + SHORT,
            'acme.toml:1: derive is "realise_rank_batch": expected "realise_rank_batches", "realise_rollout_batch",'
            ' "realise_running_batch", "realise_divided_batches", "realise_whole_micro_batches", "accumulate_to_a_nominal_batch",'
            ' "accumulate_where_both_are_given", "accumulate_where_a_global_batch_is_given", "fill_accumulation", "run_alone",'
            ' "reduce_micro_batch", "schedule_accumulation", "clamp_to_the_processes", "leave_out_generation", "count_the_devices",'
            ' "raise_micro_batch_to_groups", "raise_step_to_groups", "raise_to_whole_groups" or "size_from_the_depth"',
            id="no hook",
        ),
        pytest.param(
            'let.n = "four"\n' + SHORT.replace("default = 4", 'default = "{n}"'),
            'acme.toml:5: keys.acme.accumulate.default is "four", which is not a size',
            id="a word that is no number",
        ),
        pytest.param(
            SHORT.replace("default = 4", 'source = "x", unit = "{n}"') + "[let]\nn = 4\n",
            "acme.toml:4: keys.acme.accumulate.unit is 4: expected text of 1 to 200 printable characters",
            id="a number where text is wanted",
        ),
        pytest.param(
            SHORT + '[conditions]\nc = {key = "a", is = "{OFF}"}\n',
            'acme.toml:7: conditions.c.is is "{OFF}", and `let` has no list of that name',
            id="no list",
        ),
        pytest.param(
            'inherits = "_trl"\nwithout = "conditions.finds-batch-size"\nrecognise.any-of = "x"\n',
            'acme.toml:1: inherits brings switches.0.condition, which names the condition "finds-batch-size", and there is none of that'
            " name; did you mean splits-batches?",
            id="a mistake in what is inherited",
        ),
        pytest.param(
            'without = "keys.old"\n' + SHORT, "acme.toml:1: without leaves out keys.old, which is not there", id="nothing to leave out"
        ),
        pytest.param(
            SHORT + "[[variants]]\n[[variants]]\n[variants.keys]\nx = {size = 'micro'}\n",
            'acme.toml:9: variants.keys.x.size is "micro", which is not a size',
            id="in a variant",
        ),
        pytest.param(
            SHORT + '[before."2.0".keys]\nx = {default = 2}\n',
            "acme.toml:7: before.2.0.keys.x has no size: expected a size (micro_batch_size, global_batch_size, ...)",
            id="before a version",
        ),
        pytest.param(
            SHORT.replace("default = 4", 'since = "2.0"') + "[before.\"2.0\"]\nunit = 'x'\n",
            "acme.toml:4: keys.acme.accumulate.since is given together with before; give only one of the two",
            id="versions given in two ways",
        ),
        pytest.param(
            SHORT + "[[variants]]\n[[variants.variants]]\n", "acme.toml:7: variants.variants is not allowed here", id="variants of variants"
        ),
        pytest.param(
            'switches = [{sizes = "micro_batch_size", label = "x"}]\n' + SHORT,
            "acme.toml:1: switches is empty: expected condition, key and is, key and not, key and present or key and from and to",
            id="a switch without a condition",
        ),
        pytest.param(
            SHORT + '[keys."a\\nb"]\nx = 1\n',
            "acme.toml:2: keys.a\\nb.x is not a setting; there are all, boolean, collection, default, default-when, evidence,"
            " fraction, key, minimum, negative, null, quoted, ratio, reading, since, size, source, spellings, text, unit, unless, until,"
            " when, when-any, whole-float, why, words and zero",
            id="a key that would break the line",
        ),
        pytest.param(
            SHORT + "[conditions]\nc = {is = [1]}\n",
            "acme.toml:7: conditions.c has no key: expected text of 1 to 1,000 printable characters",
            id="a condition of no key",
        ),
    ],
)
def test_a_mistake_in_what_is_abbreviated_is_reported_where_it_is(text: str, expected: str, tmp_path: Path) -> None:
    assert _mistakes(tmp_path, text) == expected.split("\n")


def test_tables_of_the_settings_that_inherit_from_each_other_are_reported(tmp_path: Path) -> None:
    parents = {"a": 'inherits = "b"', "b": 'inherits = "a"', "c": 'inherits = "d"', "d": "x = 1"}
    settings = "[frameworks]\n" + "".join(f"[frameworks.{name}]\n{line}\n" for name, line in parents.items())
    lines = _mistakes(tmp_path, "", settings)
    assert lines[0] == 'gbs.toml:3: [frameworks.a] inherits is "b", where inherits is "a", which refers back to itself'
    assert lines[2] == 'gbs.toml:7: [frameworks.c] inherits is "d", which has mistakes'
    assert lines[3].startswith("gbs.toml:9: [frameworks.d] x is not a setting; there are ")


# Whatever a table says, it is a table or a list of mistakes.

_CONDITION = st.sampled_from(
    [
        *("c", "not c", "d", "none"),
        *({"key": "a", "is": [True]}, {"key": "a.b", "not": ["null", 1]}, {"key": "a", "present": True}),
        *({"key": "a", "from": 2, "to": 5}, {"key": "a", "is": "{list}"}, {"key": "a", "is": "{none}"}),
    ]
)
_OF_PARTS = {
    "size": st.sampled_from([*SIZES[:12], "own_size", "{w}"]),
    "version": st.sampled_from(["0.15", "1.0", "2", "x"]),
    "word": st.sampled_from(["usual", "any", "strict", "r", "none"]),
    "one-condition": _CONDITION,
    "condition": _CONDITION.filter(lambda each: isinstance(each, dict)),
    "when": st.one_of(_CONDITION, st.lists(_CONDITION, max_size=2)),
}
_SOME = st.sampled_from(
    ["a", "b", "c.d", "a.b", "{w}", "{w}.x", "{none}", "acme", "trl_sft", "_trl", "trl-grpo", "keys.a", "own_size", "x y", "", "\\", "{"]
)
_FORMULAS = st.sampled_from(
    ["global_batch_size = micro_batch_size * data_parallel_size", "world_size = num_nodes * gpus_per_node", "own_size = a / b", "x"]
)
_GIVEN: dict[str, dict[str, Any]] = {
    "let": {"w": "batch", "list": ["x", 1]},
    "conditions": {"c": {"key": "a", "is": [1]}, "d": {"key": "b.c", "present": False}},
    "readings": {"r": {"all": "auto"}},
    "sizes": {"own_size": "what it counts"},
    "recognise": {"all-of": "a"},
    "keys": {"a": "micro_batch_size"},
}


@examples(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(nearly(SCHEMA, SCHEMA, _SOME, _OF_PARTS), st.lists(_FORMULAS, max_size=2), st.sets(st.sampled_from(sorted(_GIVEN))))
def test_no_table_of_a_user_ends_in_a_traceback(raw: dict[str, Any], formulas: list[str], sections: set[str]) -> None:
    for section in sections:
        if isinstance(raw.setdefault(section, {}), dict):
            raw[section] = {**_GIVEN[section], **raw[section]}
    if formulas:
        raw["equations"] = formulas
    described = describe({"acme": raw, "other": {"inherits": "acme"}, "_part": {"unit": "rows"}}, ".", "gbs.toml")
    if not described.tables:
        assert sentences(described.wrong, "gbs.toml", "", ())
        return
    text = "# global batch size 64 = 8 x 8\na: 8\nb: 2\nc: {d: -1}\nbatch: {x: [1]}\n"
    check(in_memory({"run.yaml": text}), ["run.yaml"], Settings(frameworks=described.tables), Given())


# The two notations.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = b", ("a", ("b",), (), "exact")),
        (" a=b*c ", ("a", ("b", "c"), (), "exact")),
        ("a = b * c / d", ("a", ("b", "c"), ("d",), "exact")),
        ("a = b // (c * d)", ("a", ("b",), ("c", "d"), "floor")),
        ("a = b + c", None),
        ("a = b / c / d", None),
        ("a == b", None),
        ("a = 2 * b", None),
        ("", None),
    ],
    ids=str,
)
def test_a_formula_is_a_product_over_a_product(text: str, expected: object) -> None:
    found = formula(text)
    assert (found and (found.result, found.product, found.divisors, found.rounding)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a % b == 0", (("a",), ("b",), None)),
        ("(a * b) % (c * d) == 0", (("a", "b"), ("c", "d"), None)),
        ("a >= 2", (("a",), (), 2)),
        ("a / (b * c) >= 1", (("a",), ("b", "c"), 1)),
        ("a % b == 1", None),
        ("a <= 2", None),
        ("a % b", None),
    ],
    ids=str,
)
def test_a_relation_is_a_division_or_a_least_size(text: str, expected: object) -> None:
    found = relation(text)
    assert (found and (found.dividend, found.divisor, found.at_least)) == expected


# The schema.


def test_the_schema_is_one_and_describes_every_key() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert [name for name, part in SCHEMA["properties"].items() if "description" not in part] == []
    assert SCHEMA["$defs"]["size"]["anyOf"][0]["enum"] == list(SIZES)


def test_a_known_size_keeps_its_place(tmp_path: Path) -> None:
    report = _check(tmp_path, {"gbs.toml": INSIDE, "run.yaml": RECIPE}, world_size=8)
    (run,) = (run for file in report.files for run in file.runs)
    micro = run.geometry.get(Name.MICRO_BATCH_SIZE)
    assert isinstance(micro, Quantity)
    assert (micro.key, micro.at and (micro.at.source, micro.at.start)) == ("acme.batch", ("run.yaml", RECIPE.index("2")))
