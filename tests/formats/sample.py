"""One report, built by hand, that every format has to render: one recipe of each verdict, a launcher file, a broken file."""

from collections.abc import Iterator

from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Applicability, Edit, Finding, Fix, Outcome, Related, Severity, Undetermined
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import FileReport, Report, Role, Verdict
from pytest_gbs.model.rule import Needs, Rule, Scope

SFT = """\
# Config for 8 nodes with GBS 128
model_name_or_path: my/model
dataset_name: my/data
learning_rate: 2.0e-5
per_device_train_batch_size: 1
gradient_accumulation_steps: 4
"""
KTO = "# global batch size: 64\nper_device_train_batch_size: 2\n"
GRPO = "model_name_or_path: my/model\n# batch of 512 on 4 nodes\nnum_generations: 8\n"
ZERO3 = 'distributed_type: "NO"\nnum_machines: 1\nnum_processes: 8\n'

ASSUMED = Assumption(Assuming.FILES_NEARBY, Name.GPUS_PER_NODE, 8, 3, "accelerate/zero3.yaml:3  num_processes: 8")


def nothing(_: object) -> Iterator[Outcome]:
    """Yield nothing."""
    return iter(())


def rule(code: str, name: str, summary: str, severity: str = Severity.ERROR, default: bool = True) -> Rule:
    """A rule that finds nothing."""
    return Rule(code, name, Scope.RUN, summary, (), (), nothing, severity, default, manual=f"{summary.capitalize()}.\n\nMend it.\n")


def place(path: str, text: str, part: str) -> Location:
    """Where `part` stands for the first time in `text`."""
    start = text.index(part)
    return Location(path, start, start + len(part))


MICRO = Location("recipes/sft.yaml", SFT.index("size: 1") + 6, SFT.index("size: 1") + 7, ("per_device_train_batch_size",))
ACCUMULATION = Location("recipes/sft.yaml", SFT.index("steps: 4") + 7, SFT.index("steps: 4") + 8, ("gradient_accumulation_steps",))

STALE = Finding(
    "GBS101",
    "comment says 128, but the settings give 256",
    Severity.ERROR,
    place("recipes/sft.yaml", SFT, "128"),
    "declared",
    (
        Related(MICRO, "micro batch"),
        Related(ACCUMULATION, "accumulation"),
        Related(place("recipes/sft.yaml", SFT, "8 nodes"), ""),
    ),
    ("256 = 1 micro x 4 accumulation x 64 data-parallel (8 nodes x 8 GPUs)",),
    "set gradient_accumulation_steps to 2, or change the comment to 256",
    (ASSUMED,),
    (
        Fix(
            "change gradient_accumulation_steps to 2",
            Applicability.SETTINGS,
            (Edit(ACCUMULATION, "4", "2"),),
        ),
    ),
)
UNFIXED = Finding(
    "GBS206",
    "the micro batch may shrink while training runs",
    Severity.WARNING,
    place("recipes/kto.yaml", KTO, "64"),
    "declared",
    (Related(place("accelerate/zero3.yaml", ZERO3, "8"), "GPUs"),),
)
ALONE = Finding(
    "GBS302",
    "accelerate launch starts 1 process, not 8: distributed_type is NO",
    Severity.INFO,
    place("accelerate/zero3.yaml", ZERO3, "8"),
    "",
    (Related(place("accelerate/zero3.yaml", ZERO3, '"NO"'), "no distribution"),),
)
OPEN = Undetermined(
    "GBS101",
    place("recipes/grpo.yaml", GRPO, "512"),
    "comment says 512",
    ("gpus_per_node",),
    "true with 8 GPUs per node",
    values=(8,),
)

STALE_DECLARATION = rule("GBS101", "stale-declaration", "a comment states a global batch size that the settings do not give")
RULES = {
    each.code: each
    for each in (
        rule("GBS101", "stale-declaration", "a comment states a global batch size that the settings do not give")._replace(
            needs=Needs.CLAIMS
        ),
        rule("GBS105", "missing-declaration", "a recipe does not say its batch", Severity.WARNING, default=False),
        rule("GBS206", "batch-not-fixed", "a claimed batch may change while training runs", Severity.WARNING),
        rule("GBS302", "launcher-sizes-inconsistent", "a launcher file's sizes contradict each other"),
    )
}
SOURCES = {
    path: Source(path, text)
    for path, text in (
        ("accelerate/zero3.yaml", ZERO3),
        ("recipes/grpo.yaml", GRPO),
        ("recipes/kto.yaml", KTO),
        ("recipes/sft.yaml", SFT),
    )
}
REPORT = Report(
    (
        FileReport("accelerate/zero3.yaml", 1, Role.LAUNCHER, None, None, (("GBS302", "violated"),), (ALONE,)),
        FileReport("broken.yaml", 1, Role.UNREADABLE, None, None, problem="not UTF-8 at byte 3"),
        FileReport("notes.yaml", 1, Role.NEITHER, None, None),
        FileReport("recipes/dpo.yaml", 1, Role.RECIPE, "trl", Verdict.VERIFIED, (("GBS101", "verified"),), assumptions=(ASSUMED,)),
        FileReport("recipes/grpo.yaml", 1, Role.RECIPE, "trl", Verdict.UNDETERMINED, (("GBS101", "undetermined"),), (), (OPEN,)),
        FileReport("recipes/kto.yaml", 1, Role.RECIPE, "trl", Verdict.WARNED, (("GBS206", "violated"),), (UNFIXED,), suppressed=1),
        FileReport("recipes/orpo.yaml", 1, Role.RECIPE, "trl", Verdict.UNCLAIMED),
        FileReport(
            "recipes/sft.yaml", 1, Role.RECIPE, "trl", Verdict.VIOLATED, (("GBS101", "violated"),), (STALE,), assumptions=(ASSUMED,)
        ),
    ),
    SOURCES,
    RULES,
    "set gpus-per-node in [tool.gbs] to the number of GPUs on each of your nodes: it decides 1 claim",
)
EMPTY = Report((), {}, {})
