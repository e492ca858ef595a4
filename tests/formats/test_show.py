"""What `gbs show` prints about recipes: built by hand, with a small table of a framework that does not exist."""

import json

import jsonschema
import pytest

from pytest_gbs.arithmetic.solver import solve
from pytest_gbs.claims.judgement import judged
from pytest_gbs.files.shipped import read_schema
from pytest_gbs.formats import FormatOptions, find
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.declaration import Declaration, Interval
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.equation import Equation, Rounding
from pytest_gbs.model.framework import Framework, Recognition, Row
from pytest_gbs.model.launch import Kind, Launch, LauncherFile
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.quantity import Conflict, Name, Note, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.report import FileReport, Report, Role, Verdict
from pytest_gbs.model.run import Geometry, Run, World

TEXT = """\
# 8 nodes with GBS 128
micro: 1
accumulation: 2
length: 65536
eval_strategy: 'no'
save_strategy: epoch
"""
ZERO3 = "num_processes: 8\n"
EVALUATES = Condition(("eval_strategy",), ("steps",), default="no")
SAVES = Condition(("save_strategy",), ("steps",), default="steps")
EQUATIONS = (
    Equation(Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE)),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE)),
    Equation(Name.GLOBAL_BATCH_SIZE, (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)),
    Equation(Name.TOKENS_PER_STEP, (Name.GLOBAL_BATCH_SIZE, Name.SEQUENCE_LENGTH)),
)
TOY = Framework(
    "toy",
    "Toy (SFT)",
    Recognition(),
    "samples",
    (
        Row(("eval_steps",), Name.EVAL_STEPS, when=(EVALUATES,)),
        Row(("save_steps",), Name.SAVE_STEPS, when=(SAVES,)),
        Row(("log_every",), Name.LOGGING_STEPS, 10),
    ),
    EQUATIONS,
)


def place(part: str, text: str = TEXT, path: str = "recipes/sft.yaml") -> Location:
    """Where `part` stands for the first time."""
    start = text.index(part)
    return Location(path, start, start + len(part))


def document() -> Document:
    """The recipe with the two entries that a format looks up."""
    keyed = {}
    for key, value in (("eval_strategy", "'no'"), ("save_strategy", "epoch")):
        at = place(f"{key}: {value}")
        start = at.stop - len(value)
        keyed[(key,)] = (Scalar(at.start, at.start + len(key), key, True), Scalar(start, at.stop, value.strip("'"), value[0] != "'"))
    return Document(Source("recipes/sft.yaml", TEXT), 1, "yaml", None, keyed, (), ())  # type: ignore[arg-type]


def sizes(**hardware: Quantity) -> dict[str, Size]:
    """What the recipe and the hardware state."""
    own = [
        Quantity(Name.MICRO_BATCH_SIZE, 1, Origin.FILE, at=place("1\n")._replace(stop=TEXT.index("1\n") + 1), key="micro"),
        Quantity(Name.GRADIENT_ACCUMULATION_STEPS, 2, Origin.FILE, at=place("2\n"), key="accumulation"),
        Quantity(Name.SEQUENCE_LENGTH, 65536, Origin.FILE, at=place("65536"), key="length"),
        Quantity(Name.TENSOR_PARALLEL_SIZE, 1, Origin.DEFAULT),
        Quantity(Name.CONTEXT_PARALLEL_SIZE, 1, Origin.DEFAULT),
        Quantity(Name.LOGGING_STEPS, 10, Origin.DEFAULT, key="log_every"),
    ]
    return {**{size.name: size for size in own}, **hardware}


NODES = Quantity(Name.NUM_NODES, 8, Origin.COMMENT, at=place("8"), key="8 nodes")
PER_NODE = Quantity(
    Name.GPUS_PER_NODE,
    8,
    Origin.LAUNCHER,
    at=Location("accelerate/zero3.yaml", 15, 16),
    key="num_processes",
    note=Note("3 launcher files agree"),
)
CLAIM = Declaration(
    Name.GLOBAL_BATCH_SIZE, 128, (Interval(128, 128),), place("128"), "8 nodes with GBS 128", "test", conditions=((Name.NUM_NODES, 8),)
)
LAUNCH = Launch(Location("gbs.toml", 0, 0), Kind.SCRIPT, "small", ())


def run(stated: dict[str, Size], *, claimed: bool = True, launch: Launch | None = None, assumptions: tuple[Assumption, ...] = ()) -> Run:
    """The recipe in a world."""
    geometry = Geometry(solve(stated, EQUATIONS), {})
    bare = Run(document(), TOY, launch, geometry, (), (), assumptions=assumptions)
    if not claimed or launch is not None:
        return bare
    return bare._replace(claims=(judged(bare, CLAIM, (World(geometry, assumptions),)),), declarations=(CLAIM,))


def report(*runs: Run, verdict: str = Verdict.VERIFIED) -> Report:
    """The report on the recipe with these runs."""
    file = FileReport("recipes/sft.yaml", 1, Role.RECIPE, "toy", verdict, runs=runs)
    sources = {"recipes/sft.yaml": Source("recipes/sft.yaml", TEXT), "accelerate/zero3.yaml": Source("accelerate/zero3.yaml", ZERO3)}
    return Report((file,), sources, {})


KNOWN = run(sizes(num_nodes=NODES, gpus_per_node=PER_NODE), assumptions=(Assumption(Assuming.FILES_NEARBY, Name.GPUS_PER_NODE, 8, 3),))
UNKNOWN = run(sizes(), claimed=False)


def test_one_recipe_is_a_block_of_lines() -> None:
    smaller = run(sizes(world_size=Quantity(Name.WORLD_SIZE, 8, Origin.LAUNCH, key="small")), launch=LAUNCH)
    assert find("text").show is not None
    assert shown("text", report(KNOWN, smaller)) == (
        """\
recipes/sft.yaml   Toy (SFT)
  global batch size        128   = 1 x 2 x 64                        declared 128 at line 1: agrees
  micro batch size           1   micro, line 2
  accumulation               2   accumulation, line 3
  data-parallel size        64   = 64 GPUs
  GPUs                      64   = 8 nodes (line 1) x 8 (accelerate/zero3.yaml:1)
  tokens per step    8,388,608   at most: 128 x length 65,536 (line 4)
  evaluation                 -   eval_strategy: 'no'
  saves                 every epoch
  log lines             every 10 steps by default = 1,280 samples
  runs on               any number of GPUs; 128 only on 64
  launched by           small on 8 GPUs: 16
  assuming              8 GPUs per node: 3 launcher files agree
"""
    )


@pytest.mark.parametrize(
    ("hardware", "batch", "gpus"),
    [
        pytest.param(
            {},
            "  global batch size     2 x GPUs   (16 on 8, 128 on 64)",
            "  GPUs                  unknown: --world-size N, or num-nodes and gpus-per-node in [tool.gbs]",
            id="nothing known",
        ),
        pytest.param(
            {"num_nodes": NODES},
            "  global batch size     16 x GPUs per node   (64 on 4, 128 on 8)",
            "  GPUs                  8 nodes (line 1) x GPUs per node, unknown: --gpus-per-node N, or gpus-per-node in [tool.gbs]",
            id="nodes known",
        ),
        pytest.param(
            {"world_size": Quantity(Name.WORLD_SIZE, 4, Origin.GIVEN, key="--world-size")},
            "  global batch size          8   = 1 x 2 x 4",
            "  GPUs                       4   --world-size",
            id="given",
        ),
    ],
)
def test_an_unknown_is_a_law_and_says_how_to_make_it_known(hardware: dict[str, Quantity], batch: str, gpus: str) -> None:
    lines = shown("text", report(run(sizes(**hardware), claimed=False))).splitlines()
    assert [line for line in lines if line.startswith(("  global", "  GPUs"))] == [batch, gpus]


def test_a_law_without_hardware_has_no_examples_of_gpus() -> None:
    world = Quantity(Name.WORLD_SIZE, 4, Origin.GIVEN, key="--world-size")
    known = sizes(world_size=world)
    micro = Unknown(Name.MICRO_BATCH_SIZE, Reason.AUTO)
    (line,) = [
        each for each in shown("text", report(run({**known, micro.name: micro}, claimed=False))).splitlines() if "global batch" in each
    ]
    assert line == "  global batch size     8 x micro batch size"


def test_samples_are_counted_per_gpu_where_the_gpus_are_unknown() -> None:
    assert "  log lines             every 10 steps by default = 20 samples per GPU\n" in shown("text", report(UNKNOWN))


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(
            Unknown(Name.MICRO_BATCH_SIZE, Reason.AUTO, place("1\n")), "-   filled in when training starts (line 2)", id="automatic"
        ),
        pytest.param(Unknown(Name.MICRO_BATCH_SIZE, Reason.MISSING), "-   not stated", id="missing"),
        pytest.param(
            Conflict(
                Name.MICRO_BATCH_SIZE,
                (
                    Quantity(Name.MICRO_BATCH_SIZE, 2, Origin.FILE, at=place("2\n"), key="micro"),
                    Quantity(Name.MICRO_BATCH_SIZE, 4, Origin.DERIVED),
                ),
            ),
            "-   stated as 2 (micro, line 3) and as 4 (computed)",
            id="contradiction",
        ),
    ],
)
def test_a_number_that_is_not_there_says_why(size: Size, expected: str) -> None:
    text = shown("text", report(run(sizes() | {Name.MICRO_BATCH_SIZE: size}, claimed=False)))
    assert next(line for line in text.splitlines() if line.startswith("  micro batch size")).endswith(expected)


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        pytest.param(64, "declared 128 at line 1: agrees", id="agrees"),
        pytest.param(32, "declared 128 at line 1: does not agree, settings give 64", id="does not"),
    ],
)
def test_a_claim_is_checked_against_the_settings(gpus: int, expected: str) -> None:
    stated = sizes(world_size=Quantity(Name.WORLD_SIZE, gpus, Origin.COMMENT, at=place("8")))
    assert shown("text", report(run(stated))).splitlines()[1].endswith(expected)


@pytest.mark.parametrize(
    ("rounding", "batch", "text", "entry"),
    [
        pytest.param(Rounding.FLOOR, 32, "2   = 32 / (2 x 8)", (2, "32 / (2 x 8)"), id="whole"),
        pytest.param(Rounding.FLOOR, 24, "1   = 24 / (2 x 8), rounded down", (1, "24 / (2 x 8), rounded down"), id="rounded down"),
        pytest.param(Rounding.CEIL, 24, "2   = 24 / (2 x 8), rounded up", (2, "24 / (2 x 8), rounded up"), id="rounded up"),
        pytest.param(Rounding.EXACT, 24, "-   24 / (2 x 8) is not a whole number", ("not-whole", "24 / (2 x 8)"), id="no number"),
        pytest.param(Rounding.EXACT, 2, "-   2 / (2 x 8) is not a whole number", ("not-whole", "2 / (2 x 8)"), id="less than one"),
    ],
)
def test_a_division_that_leaves_a_remainder_says_so(rounding: str, batch: int, text: str, entry: tuple[int | str, str]) -> None:
    factors = (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)
    divides = Equation(Name.GRADIENT_ACCUMULATION_STEPS, (Name.GLOBAL_BATCH_SIZE,), factors, rounding)
    given = {Name.GLOBAL_BATCH_SIZE: batch, Name.MICRO_BATCH_SIZE: 2, Name.DATA_PARALLEL_SIZE: 8}
    stated: dict[str, Size] = {name: Quantity(name, number, Origin.FILE) for name, number in given.items()}
    reported = report(UNKNOWN._replace(framework=TOY._replace(equations=(divides,)), geometry=Geometry(solve(stated, (divides,)), {})))
    line = next(line for line in shown("text", reported).splitlines() if line.startswith("  accumulation"))
    assert line.removeprefix("  accumulation").lstrip() == text
    value = json.loads(shown("json", reported))["recipes"][0]["quantities"]["gradient_accumulation_steps"]
    assert (value.get("value", value.get("reason")), value["arithmetic"]) == entry


def test_gpus_that_leave_a_rest_are_shown_as_they_are_shared() -> None:
    three = {Name.TENSOR_PARALLEL_SIZE: Quantity(Name.TENSOR_PARALLEL_SIZE, 3, Origin.FILE)}
    reported = shown("text", report(run(sizes(world_size=Quantity(Name.WORLD_SIZE, 8, Origin.FILE)) | three, claimed=False)))
    assert "  data-parallel size         -   8 GPUs / (tensor 3) is not a whole number\n" in reported


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ((), "-   not stated"),
        (("tensor",), "GPUs / (tensor 2); pipeline parallel size not stated"),
        (("tensor", "pipeline"), "GPUs / (tensor 2 x pipeline 2)"),
    ],
)
def test_gpus_that_are_not_known_are_shared_by_what_is(known: tuple[str, ...], text: str) -> None:
    names = tuple(f"{each}_parallel_size" for each in ("tensor", "pipeline"))
    ranks = Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), names)
    stated: dict[str, Size] = {f"{each}_parallel_size": Quantity(f"{each}_parallel_size", 2, Origin.FILE) for each in known}
    reported = report(UNKNOWN._replace(framework=TOY._replace(equations=(ranks,)), geometry=Geometry(stated, {})))
    line = next(line for line in shown("text", reported).splitlines() if line.startswith("  data-parallel size"))
    assert line.split(maxsplit=2)[2] == text


def test_many_recipes_are_a_table() -> None:
    both = Report((*report(KNOWN).files, *report(UNKNOWN, verdict=Verdict.UNCLAIMED).files), report(KNOWN).sources, {})
    assert (
        shown("text", both)
        == """\
global batch  micro  accumulation  GPUs  tokens per step  verdict     framework  recipe
         128      1             2    64        8,388,608  consistent  Toy (SFT)  recipes/sft.yaml
    2 x GPUs      1             2     -                -  unclaimed   Toy (SFT)  recipes/sft.yaml
"""
    )
    assert shown("markdown", both).splitlines()[:3] == [
        "| global batch | micro | accumulation | GPUs | tokens per step | verdict | framework | recipe |",
        "| ---: | ---: | ---: | ---: | ---: | --- | --- | --- |",
        "| 128 | 1 | 2 | 64 | 8,388,608 | consistent | Toy (SFT) | recipes/sft.yaml |",
    ]


def batch_in_the_table(*left_out: str) -> str:
    """What the table says of the batch of a recipe that lacks these sizes."""
    lacking = run({name: size for name, size in sizes().items() if name not in left_out}, claimed=False)
    two = Report(report(lacking).files * 2, report().sources, {})
    return shown("text", two).splitlines()[1].strip().split("  ")[0]


def test_a_batch_of_which_a_factor_is_stated_is_a_formula() -> None:
    assert batch_in_the_table(Name.GRADIENT_ACCUMULATION_STEPS) == "accumulation x GPUs"
    assert batch_in_the_table(Name.MICRO_BATCH_SIZE) == "2 x micro batch size x GPUs"


def test_a_batch_of_which_nothing_is_stated_is_unknown() -> None:
    assert batch_in_the_table(Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS) == "unknown"


def test_json_has_the_published_shape() -> None:
    value = json.loads(shown("json", report(KNOWN)))
    jsonschema.Draft202012Validator(json.loads(read_schema("report"))).validate(value)
    recipe = value["recipes"][0]
    assert [recipe[key] for key in ("path", "document", "framework", "unit", "launch")] == ["recipes/sft.yaml", 1, "toy", "samples", None]
    assert recipe["quantities"]["global_batch_size"] == {
        "status": "known",
        "value": 128,
        "origin": "derived",
        "arithmetic": "1 x 2 x 64",
        "unit": "samples",
    }
    assert recipe["quantities"]["micro_batch_size"] == {
        "status": "known",
        "value": 1,
        "origin": "file",
        "key": "micro",
        "location": {"path": "recipes/sft.yaml", "line": 2, "column": 8, "end_line": 2, "end_column": 9},
    }
    assert recipe["quantities"]["data_parallel_size"]["arithmetic"] == "64 / (1 x 1)"
    assert recipe["declarations"][0]["conditions"] == {"num_nodes": 8}
    assert recipe["feasible_world_sizes"] == {"all": True, "reaching_declared": [64]}
    assert recipe["assumptions"] == ["8 GPUs per node: 3 launcher files agree"]


def test_json_of_what_is_not_known_has_the_law() -> None:
    quantities = json.loads(shown("json", report(UNKNOWN)))["recipes"][0]["quantities"]
    assert quantities["world_size"] == {"status": "unknown", "reason": "missing"}
    assert quantities["global_batch_size"] == {"status": "unknown", "reason": "missing", "law": "2 x world_size"}


def test_a_launch_has_an_entry_of_its_own() -> None:
    smaller = run(sizes(world_size=Quantity(Name.WORLD_SIZE, 8, Origin.LAUNCH, key="small")), launch=LAUNCH)
    entries = json.loads(shown("json", report(KNOWN, smaller)))["recipes"]
    assert [entry["launch"] for entry in entries] == [None, {"path": "gbs.toml", "line": 1, "kind": "script", "command": "small"}]
    assert entries[1]["quantities"]["global_batch_size"]["value"] == 16


def test_a_launcher_file_that_was_asked_for_is_an_entry() -> None:
    launcher = LauncherFile("accelerate/zero3.yaml", "accelerate", (PER_NODE,), True)
    file = FileReport("accelerate/zero3.yaml", 1, Role.LAUNCHER, None, None, named=True, launcher=launcher)
    asked = report(KNOWN)._replace(files=(file,))
    beside = report(KNOWN)
    beside = beside._replace(files=(*beside.files, file._replace(named=False)))
    assert [entry["path"] for entry in json.loads(shown("json", beside))["recipes"]] == ["recipes/sft.yaml"]
    entry = json.loads(shown("json", asked))["recipes"][0]
    assert (entry["framework"], entry["quantities"]["gpus_per_node"]["value"]) == (None, 8)
    assert shown("text", asked).splitlines() == [
        "accelerate/zero3.yaml   launcher file of accelerate",
        "  GPUs per node              8   line 1",
    ]


def shown(name: str, about: Report) -> str:
    show = find(name).show
    assert show is not None
    return show(about, FormatOptions())
