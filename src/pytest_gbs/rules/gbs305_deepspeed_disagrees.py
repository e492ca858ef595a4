"""A DeepSpeed configuration with other batch sizes than the recipe that names it.

DeepSpeed has its own names for the three sizes: `train_micro_batch_size_per_gpu`, `gradient_accumulation_steps`, and
`train_batch_size`, which is their product with the number of processes. A file that was written for one recipe says something
false for the next.

What the framework does: the Trainer of transformers fills in each `"auto"` and compares the others with its own arguments. It stops
before the first step: `Please correct the following DeepSpeed config values that mismatch TrainingArguments values` (transformers
5.23.0, integrations/deepspeed.py:108-192). A file without `gradient_accumulation_steps` gets 1 from accelerate (1.15.0,
utils/dataclasses.py:1273-1275): DeepSpeed stops if `train_batch_size` is there too. Otherwise the Trainer still accumulates as the recipe
says, since it decides itself when DeepSpeed steps (accelerate 1.8.0, utils/deepspeed.py:267); an earlier accelerate let DeepSpeed step
after each micro batch (1.7.0, utils/deepspeed.py:262-277). Before 4.30 the Trainer starts DeepSpeed itself, which works out what is
left out of the three (transformers 4.29.2, trainer.py:1741). A script on accelerate alone takes
DeepSpeed's accumulation and says so in a warning (accelerator.py:2207-2221).

How to fix it: write `"auto"` for all three, and let the recipe say them.

It stays silent on `"auto"`, on an accumulation that a Trainer's file leaves out unless the repository asks for accelerate before 1.8
(with transformers before 4.30 always),
if the named file is not in the repository, and on `train_batch_size` while the number of
processes is not known and some number would fit, or if the file has a `sequence_parallel_size`, by which DeepSpeed divides that number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.admissible import MOST_GPUS
from pytest_gbs.arithmetic.wording import count, short
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Origin, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Companion, Run
from pytest_gbs.readers.scalar import loader_of, resolve

_TRAIN: Final = "train_batch_size"
_MICRO: Final = "train_micro_batch_size_per_gpu"
_STEPS: Final = "gradient_accumulation_steps"
_SHARING: Final = "sequence_parallel_size"
_AUTO: Final = "auto"
_LONGEST: Final = 18
_STEPS_OF_ACCELERATE: Final = (1, 8)  # the version of accelerate since which the Trainer's accumulation counts
_BY_ACCELERATE: Final = (4, 30)  # the version of transformers since which its Trainer starts DeepSpeed through accelerate


def check(run: Run) -> Iterator[Outcome]:
    """Yield what each DeepSpeed configuration of `run` says of the batch beside the recipe."""
    for companion in run.companions:
        pair = _Pair(run, companion)
        found = tuple(_factors(pair)) or tuple(_left_out(pair))
        yield from found or _product(pair)


class _Pair(NamedTuple):
    """A recipe, and one DeepSpeed configuration that it runs with."""

    run: Run
    companion: Companion

    @property
    def document(self) -> Document:
        """The DeepSpeed configuration."""
        return self.companion.document

    @property
    def trainer(self) -> bool:
        """Whether a Trainer compares the two; else the script uses accelerate itself."""
        return bool(self.run.framework.companions)

    def size(self, name: str) -> Quantity | None:
        """Size `name` of the run, or None if it is not known."""
        found = self.run.geometry.stated.get(name)
        return found if isinstance(found, Quantity) else None

    def value(self, key: str) -> object:
        """The value at `key` as loaded; None if there is none or a script puts it there."""
        node = self.document.get(key)
        if not isinstance(node, Scalar):
            return node
        if node.tag is not None:
            return None
        return resolve(node, loader_of(self.document.syntax, self.run.framework.loader))

    def at(self, key: str) -> Location:
        """The place of the value at `key`, or of what names the configuration."""
        return self.document.locate((key,)) or self.companion.named

    def related(self, at: Location, *sizes: Quantity) -> tuple[Related, ...]:
        """The places in the recipe that a finding at `at` is about."""
        places = [Related(size.at, short(size.name)) for size in sizes if size.at is not None]
        return tuple(related for related in (*places, Related(self.companion.named, "named here")) if related.at != at)


def _factors(pair: _Pair) -> Iterator[Finding]:
    """Yield a finding for micro batch and accumulation where both sides say a number and it is not the same."""
    compared = ((_MICRO, Name.MICRO_BATCH_SIZE), (_STEPS, Name.GRADIENT_ACCUMULATION_STEPS))
    for key, name in compared if pair.trainer else compared[1:]:
        theirs, ours = pair.value(key), pair.size(name)
        if theirs in (None, _AUTO) or ours is None or theirs == ours.value:
            continue
        at = pair.at(key)
        does = "the Trainer stops at start" if pair.trainer else "accelerate uses DeepSpeed's value and prints a warning"
        message = f"{key} is {_written(theirs)} for DeepSpeed, but {_recipe_side(ours, key)}; {does}"
        yield Finding(
            ITS_RULE,
            message,
            _severity(stops=pair.trainer),
            at,
            short(name),
            pair.related(at, ours),
            holds=f"{_automatic(key)}, or both to one number",
        )


def _left_out(pair: _Pair) -> Iterator[Finding]:
    """Yield a finding where the configuration leaves out what nothing fills in from the recipe."""
    keyed = pair.document.keyed
    inline = pair.document.source.path == pair.run.path
    if pair.value(_TRAIN) is None and pair.value(_MICRO) is None and not _elastic(pair):
        if inline or pair.value(_STEPS) is None:  # else GBS209 says so of the file itself
            message = f"the DeepSpeed configuration has neither {_TRAIN} nor {_MICRO}; DeepSpeed stops at start"
            yield Finding(ITS_RULE, message, Severity.ERROR, pair.companion.named, holds=_automatic(_MICRO))
        return
    steps = pair.size(Name.GRADIENT_ACCUMULATION_STEPS)
    if (_STEPS,) in keyed or steps is None or steps.value == 1 or not ((_TRAIN,) in keyed or (_MICRO,) in keyed) or _elastic(pair):
        return
    if pair.trainer and _asks_for_older("transformers", _BY_ACCELERATE, pair):
        return
    stops = pair.trainer and (pair.companion.of_launcher or (pair.value(_TRAIN) is not None and pair.value(_MICRO) is not None))
    older = _asks_for_older("accelerate", _STEPS_OF_ACCELERATE, pair) if pair.trainer and not stops else ""
    if pair.trainer and not stops and not older:
        return
    does = "and DeepSpeed stops at start" if stops else "so DeepSpeed steps after every micro batch"
    message = f"the DeepSpeed configuration has no {_STEPS}, but {_recipe_side(steps)}; accelerate {older}sets it to 1, {does}"
    at = steps.at if inline and steps.at else Location(pair.document.source.path)
    yield Finding(ITS_RULE, message, _severity(stops=stops), at, related=pair.related(at, steps), holds=_automatic(_STEPS))


def _asks_for_older(package: str, version: tuple[int, int], pair: _Pair) -> str:
    """The versions of a package that the repository asks for, if all of them are before `version`: `0.34.2 `."""
    pins = (pin for pin in pair.run.framework.pins if pin.package == package and pin.high is not None)
    return next((f"{pin.text.lstrip('= ')} " for pin in pins if pin.high and pin.high <= version), "")


def _product(pair: _Pair) -> Iterator[Outcome]:
    """Yield what becomes of `train_batch_size`, which must be micro batch x accumulation x processes."""
    theirs = pair.value(_TRAIN)
    micro, steps, world = (pair.size(n) for n in (*RANK_FACTORS, Name.WORLD_SIZE))
    at = pair.at(_TRAIN)
    if pair.value(_SHARING) not in (None, 1):
        return
    if theirs in (None, _AUTO) or micro is None or steps is None:
        if micro is not None and steps is not None:
            yield Verified(ITS_RULE, pair.companion.named)
        return
    each = micro.value * steps.value
    if world is None and isinstance(theirs, (int, float)) and 0 < each <= theirs <= each * MOST_GPUS and theirs % each == 0:
        processes = int(theirs // each)
        message = f"{_TRAIN} {_written(theirs)} is {micro.value} micro x {steps.value} accumulation x processes"
        implies = f"true with {count(processes, Name.WORLD_SIZE)}"
        yield Undetermined(ITS_RULE, at, message, (Name.WORLD_SIZE,), implies, claim=False, values=(processes,))
    elif world is not None and theirs == each * world.value:
        yield Verified(ITS_RULE, at, pair.run.assumptions, decides=True)
    else:
        yield _disagrees(pair, at, (micro, steps), world)


def _disagrees(pair: _Pair, at: Location, sizes: tuple[Quantity, Quantity], world: Quantity | None) -> Finding:
    each = sizes[0].value * sizes[1].value
    arithmetic = f"{sizes[0].value} micro x {sizes[1].value} accumulation"
    who = "the Trainer" if pair.trainer else "DeepSpeed"
    if world is None:
        message = f"{_TRAIN} {_written(pair.value(_TRAIN))} is not {arithmetic} x any number of GPUs; {who} stops at start"
    else:
        total = f"{arithmetic} x {count(world.value, Name.WORLD_SIZE)} = {each * world.value:,}"
        message = f"{_TRAIN} is {_written(pair.value(_TRAIN))} for DeepSpeed, but {total}; {who} stops at start"
    assumptions = pair.run.assumptions if world is not None else ()
    holds = _automatic(_TRAIN) + (f" or {each * world.value:,}" if world is not None else "")
    return Finding(
        ITS_RULE, message, Severity.ERROR, at, short(Name.GLOBAL_BATCH_SIZE), pair.related(at, *sizes), holds=holds, assumptions=assumptions
    )


def _automatic(key: str) -> str:
    return f'set {key} of the DeepSpeed configuration to "auto"'


def _elastic(pair: _Pair) -> bool:
    return ("elasticity",) in pair.document.keyed


def _severity(*, stops: bool) -> str:
    return Severity.ERROR if stops else Severity.WARNING


def _recipe_side(size: Quantity, key: str = "") -> str:
    """The recipe's side: `per_device_train_batch_size is 4 in the recipe`, the key left out where it is the same."""
    named = size.key or short(size.name)
    where = "on the command line" if size.origin == Origin.LAUNCH else "in the recipe"
    return f"{size.value:,} {where}" if named == key else f"{named} is {size.value:,} {where}"


def _written(value: object) -> str:
    """A value of the configuration as people write it, short."""
    if type(value) in (int, float):
        return f"{value:,}" if type(value) is int else f"{value:g}"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) and len(value) <= _LONGEST else "not a number"


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: {accumulation}\ndeepspeed: ds_config.json\n"
_CONFIG = """\
{
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": 8,
  "zero_optimization": {"stage": 2}
}
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.COMPANIONS,
    summary="the DeepSpeed configuration has other batch sizes than the recipe",
    bad=(Example((("sft.yaml", _RECIPE.format(accumulation=2)), ("ds_config.json", _CONFIG))),),
    good=(Example((("sft.yaml", _RECIPE.format(accumulation=8)), ("ds_config.json", _CONFIG))),),
    check=check,
)
