"""Comments put together at random from the words that people use: a true one is never reported, a false one is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.support import reported

BATCHES = (
    *("global batch size", "effective batch size", "total batch size", "GBS", "effective batch", "global_batch_size", "Global BS"),
    *("total train batch size", "overall batch size", "eff. batch size", "effective bs", "total effective batch size"),
    *("batch size efectivo", "batch effectif", "batch efetivo", "有效batch size"),
)
MICROS = (
    *("{micro} per GPU", "{micro} per device", "micro batch {micro}", "micro_batch_size {micro}", "per_device_train_batch_size={micro}"),
    *("mbs {micro}", "batch size of {micro} per GPU", "{micro} (per device)", "{micro} samples per GPU", "micro-batch {micro}"),
    *("{micro}/GPU", "{micro} sequences/GPU", "{micro} samples/device"),
)
STEPS = (
    *("{steps} gradient accumulation steps", "{steps} accumulation steps", "grad accum {steps}", "{steps} grad accum", "GA {steps}"),
    *("gradient_accumulation_steps={steps}", "{steps} (accumulation)", "accumulation of {steps}", "grad_acc {steps}"),
)
HARDWARE = (
    *("{gpus} GPUs", "{gpus}xH100", "{gpus} A100s", "{gpus} devices", "{gpus} x A100 80GB", "{nodes} nodes x 8 GPUs", "dp={gpus}"),
    *("{nodes} nodes with 8 GPUs each", "{nodes} nodes of 8 H100s", "DP {gpus}"),
)
SHAPES = (
    "{batch}: {total} ({one}, {two}, {three})",
    "{batch} = {total} ({one} x {two} x {three})",
    "{batch} of {total} on {hardware}",
    "{batch} {total} with {hardware}",
    "{one} * {two} * {three} = {total}",
    "{batch} = {one} x {two} x {three} = {total}",
    "{batch} {total} = {one} x {two} x {three}",
    "{hardware}, {batch} {total}",
    "{one}, {two}, {three} -> {batch} {total}",
    "{one}, {two}, {three} => {total} {batch}",
    "With {hardware} and {accumulation}, the {batch} is {total}.",
    "{total} {batch} on {hardware}",
    "{hardware}; {batch}: {total} ({per_device})",
    "{batch}: {total}, {per_device}, {accumulation}",
    "Config for {hardware} with {batch} {total}",
    "{total} samples per optimizer step ({one}, {two}, {three})",
    "{total} effective ({one} x {two} x {three})",
    "{one} * {two} * {three} = {total} effective",
    "{batch} = {one} x {two} x {three} = {total} (same as the original)",
    "{batch} {total} on {hardware} (matches the old 3 x 5 on 2 GPUs)",
    "{batch} {total} on {hardware} (Open-RS 2 A40 x 3 x 7 = {total})",
)
RECIPE = """\
# {comment}
model_name_or_path: m
dataset_name: d
learning_rate: 2.0e-5
per_device_train_batch_size: {micro}
gradient_accumulation_steps: {steps}
output_dir: out
"""


@st.composite
def statements(draw: st.DrawFn) -> tuple[str, int, int]:
    """A true statement, and the micro batch size and the accumulation of which it is true."""
    micro, steps, nodes = draw(st.sampled_from((1, 2, 3, 4, 6, 8))), draw(st.sampled_from((1, 2, 4, 5, 16))), draw(st.integers(2, 8))
    numbers = {"micro": micro, "steps": steps, "nodes": nodes, "gpus": 8 * nodes}
    factors = [draw(st.sampled_from(each)).format(**numbers) for each in (MICROS, STEPS, HARDWARE)]
    one, two, three = draw(st.permutations(factors))
    shape, batch = draw(st.sampled_from(SHAPES)), draw(st.sampled_from(BATCHES))
    words = {"per_device": factors[0], "accumulation": factors[1], "hardware": factors[2], "one": one, "two": two, "three": three}
    return shape.format(batch=batch, total=micro * steps * 8 * nodes, **words), micro, steps


@settings(max_examples=200, deadline=None)
@given(statements())
def test_a_true_statement_is_not_reported(statement: tuple[str, int, int]) -> None:
    comment, micro, steps = statement
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=micro, steps=steps)}).files
    assert [finding.message for finding in file.findings] == []
    assert file.verdict in ("verified", "undetermined")


GPUS_EACH = (
    *("8 GPUs", "8 H100s", "8 devices", "8 GPUs per node", "8 GPUs/node", "gpus_per_node=8", "8xH100", "8 A100 GPUs each", "8 NPUs"),
    *("8 GPUs per machine", "nproc_per_node=8", "8 GPUs (per node)", "gpus per node: 8", "8 ranks per node", "8 x A100", "8 A100 80GB"),
)
MACHINES = (
    *("{} nodes", "{} machines", "nnodes={}", "num_nodes={}", "{} hosts", "nodes: {}", "nodes={}", "{} servers", "{} H100 nodes"),
    *("{} worker nodes", "{} nodes (8 GPUs each)", "world of {} nodes"),
)
APART_SHAPES = (
    *("{batch} = {product} = {total}", "{product} = {total}", "{batch} {total} = {product}", "{batch}: {total} ({product})"),
    *("{product} = {total} {batch}", "{batch} = {product} ({total})", "{list} -> {batch} {total}", "{batch} of {total} ({list})"),
    *("{batch} {total}: {list}", "{list}; {batch} = {total}", "{list}, so the {batch} is {total}", "with {list} we get {batch} {total}"),
)


@st.composite
def statements_apart(draw: st.DrawFn) -> tuple[str, int, int]:
    """A true statement that names nodes and the GPUs of each apart from each other."""
    micro, steps, nodes = (draw(st.sampled_from(each)) for each in ((1, 2, 4, 6), (1, 2, 3, 5, 8), (2, 3, 4, 5)))
    machines = draw(st.sampled_from(MACHINES)).format(nodes)
    each = [] if "each" in machines else [draw(st.sampled_from(GPUS_EACH))]
    factors = [draw(st.sampled_from(names)).format(micro=micro, steps=steps) for names in (MICROS, STEPS)]
    factors = draw(st.permutations([*factors, *each, machines]))
    products, lists = draw(st.sampled_from((" x ", " * ", "*"))), draw(st.sampled_from((", ", " + ", " and ")))
    words = {"product": products.join(factors), "list": lists.join(factors), "batch": draw(st.sampled_from(BATCHES))}
    return draw(st.sampled_from(APART_SHAPES)).format(total=micro * steps * 8 * nodes, **words), micro, steps


@settings(max_examples=300, deadline=None)
@given(statements_apart())
def test_gpus_and_nodes_apart_are_those_of_each_node(statement: tuple[str, int, int]) -> None:
    comment, micro, steps = statement
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=micro, steps=steps)}).files
    assert [finding.message for finding in file.findings] == []


@settings(max_examples=200, deadline=None)
@given(statements_apart(), st.sampled_from((7, 11, 13)))
def test_no_other_accumulation_makes_a_statement_with_nodes_and_gpus_true(statement: tuple[str, int, int], times: int) -> None:
    comment, micro, steps = statement
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=micro, steps=times * steps)}).files
    assert file.verdict != "verified"


BRIEF_SHAPES = (
    *("{batch} = {product} = {total}", "{batch}: {total} ({product})", "{product} = {total} {batch}", "{batch} {total}, {product}"),
    *("{batch} = {product}", "{batch} ({product}): {total}", "{batch} of {total} ({product})", "{product} = {total} ({batch})"),
)
BRIEF_FACTORS = {
    "micro": ("{}", "{}", "{} per gpu", "bs {}", "micro {}", "{} (micro)"),
    "steps": ("{}", "{}", "{} accum", "ga {}", "{} (accumulation)"),
    "gpus": ("{}", "{}", "{} GPUs", "dp {}", "{} H100s", "{} A100 GPUs"),
    "micro x steps": ("{}", "{} per gpu", "{} samples per gpu per step"),
    "steps x gpus": ("{}",),
}


@st.composite
def brief_statements(draw: st.DrawFn) -> tuple[str, int, int]:
    """A true statement in which factors may have no name, be several sizes in one, or be left out where they are 1."""
    micro, steps, gpus = (draw(st.sampled_from(each)) for each in ((1, 2, 4, 8, 16), (1, 1, 2, 4, 8), (1, 2, 4, 8, 16, 32)))
    sizes = {"micro": micro, "steps": steps, "gpus": gpus}
    parts = draw(
        st.sampled_from(
            (sizes, sizes, sizes, {"micro x steps": micro * steps, "gpus": gpus}, {"micro": micro, "steps x gpus": steps * gpus})
        )
    )
    if draw(st.booleans()):
        parts = {name: value for name, value in parts.items() if value != 1} or sizes
    named = draw(st.booleans())
    factors = [draw(st.sampled_from(BRIEF_FACTORS[name] if named else ("{}",))).format(value) for name, value in parts.items()]
    product = draw(st.sampled_from((" x ", " * ", " × "))).join(draw(st.permutations(factors)))
    shape, batch = draw(st.sampled_from(BRIEF_SHAPES)), draw(st.sampled_from(BATCHES))
    hardware = draw(st.sampled_from(("", f" on {gpus} GPUs", f" for {gpus}x A100")))
    return shape.format(batch=batch, product=product, total=micro * steps * gpus) + hardware, micro, steps


@settings(max_examples=300, deadline=None)
@given(brief_statements())
def test_a_brief_true_statement_is_not_reported(statement: tuple[str, int, int]) -> None:
    comment, micro, steps = statement
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=micro, steps=steps)}).files
    assert [finding.message for finding in file.findings] == []


@settings(max_examples=200, deadline=None)
@given(statements())
def test_a_statement_with_hardware_of_another_accumulation_is_reported(statement: tuple[str, int, int]) -> None:
    comment, micro, steps = statement
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=micro, steps=7 * steps)}).files
    assert file.verdict in ("violated", "undetermined")
    if "GPUs" in comment or "H100" in comment or "A100" in comment or "devices" in comment:
        assert file.verdict == "violated"


@pytest.mark.parametrize(
    "comment",
    [
        "8 GPUs, micro batch 2, accumulation 4 -> batch of 16 for evaluation",
        "each has global batch size 128",
        "2 x 16 A100 nodes were tried",
    ],
    ids=["evaluation", "of a part", "other hardware"],
)
def test_what_is_not_about_the_batch_stays_silent(comment: str) -> None:
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=2, steps=4)}).files
    assert file.findings == ()
