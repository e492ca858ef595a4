"""What a job should train on in each optimizer step: a number, or what a recipe says."""

from __future__ import annotations

from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.record import NamedTuple


class Expected(NamedTuple):
    """Rows per optimizer step over all ranks, and its factors as far as they are known; `recipe` is where that is said, "" for nowhere."""

    global_batch_size: int
    micro_batch_size: int | None = None
    gradient_accumulation_steps: int | None = None
    data_parallel_size: int | None = None
    recipe: str = ""


def expect_global_batch_size(
    rows: int, *, micro: int | None = None, accumulation: int | None = None, data_parallel: int | None = None
) -> Expected:
    """`rows` per optimizer step over all ranks; the factors, if given, show which of them differs.

    Raises:
        UsageError: a number is not positive, or the factors do not give `rows`.
    """
    factors = (micro, accumulation, data_parallel)
    if any(number is not None and number < 1 for number in (rows, *factors)):
        raise UsageError("a batch size and its factors are positive whole numbers")
    if micro and accumulation and data_parallel and micro * accumulation * data_parallel != rows:
        raise UsageError(f"{micro} x {accumulation} x {data_parallel} is {micro * accumulation * data_parallel}, not {rows}")
    return Expected(rows, micro, accumulation, data_parallel)


def expect_recipe(path: str, *, document: int = 1) -> Expected:
    """What the recipe at `path` says: the batch that its comments claim, else the one that its settings and its launches give.

    Raises:
        UsageError: there is no such recipe, it does not fix its global batch size, or its launches give several.
        SettingsError: the settings of the repository are broken.
    """
    from pytest_gbs.loading import load

    found = next((recipe for recipe in load(path).recipes.values() if recipe.document == document), None)
    if found is None:
        raise UsageError(f"{path} is not a recipe that gbs knows")
    claimed = {claim.value for claim in found.claims if claim.name == "global_batch_size" and claim.unit != "tokens"}
    given = {each.global_batch_size for each in (found, *found.launches)} - {None}
    sizes = claimed or given
    if len(sizes) != 1:
        several = ", ".join(map(str, sorted(filter(None, sizes))))
        raise UsageError(f"{path} gives several global batch sizes: {several}" if several else f"{path} does not fix its global batch size")
    ranks = {each.data_parallel_size for each in (found, *found.launches)} - {None}
    size = sizes.pop() or 0
    return Expected(size, found.micro_batch_size, found.gradient_accumulation_steps, ranks.pop() if len(ranks) == 1 else None, path)
