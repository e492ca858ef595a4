"""A key that looks like a setting, and that the framework overwrites or never reads.

Hydra takes any key behind `++`, and a key of a file may outlive the code that read it. What is written there looks like a setting
and has no effect.

What the framework does, without a warning: HALOs computes `model.microbatch_size` and `model.eval_microbatch_size` itself; saves
where it evaluates, if `intermediate_checkpoints` is on, and never asks for `save_every`; takes the trainer from the loss, not from
`trainer`; loads a reward model from `model.reward_model.path`, and looks at `model.reward_model_path` only if there is one; and reads
sizes below `model`, none at the top. litgpt's pretraining trains for `train.max_tokens`, and of `train.max_steps` it only says that
it is for profiling.

How to fix it: delete the key, or use the one that the finding names.

It stays silent if the value is the one that counts anyway, or null, and if it is that of HALOs' own config.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import called
from pytest_gbs.model.location import KeyPath, Location, dotted
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.rule import HALOS_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import Value, value_at

# Keys that nothing reads, the values of HALOs' own tree, and what counts instead (HALOs 4831988: git grep in *.py).
_UNREAD: Final[tuple[tuple[str, tuple[Value, ...], str], ...]] = (
    # config/config.yaml:65; train/trainers.py:325-334 saves where it evaluates.
    ("save_every", (5120,), "HALOs saves every eval_every examples, if intermediate_checkpoints is on"),
    # config/config.yaml:42; launch.py:169.
    ("trainer", ("BasicTrainer",), "HALOs reads loss.trainer"),
    # config/model/base_model.yaml:31-47.
    *((key, (), f"HALOs reads model.{key}") for key in ("batch_size", "gradient_accumulation_steps", "eval_batch_size", "max_length")),
)
_LITGPT: Final = "litgpt"
_MAX_STEPS: Final[KeyPath] = ("train", "max_steps")
# launch.py:66, 71.
_COMPUTED: Final = (("microbatch_size", Name.MICRO_BATCH_SIZE), ("eval_microbatch_size", Name.EVAL_MICRO_BATCH_SIZE))


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each key of `run` that has no effect."""
    if run.framework.name == _LITGPT:
        yield from _steps_of_pretraining(run)
        return
    for key, usual, instead in _UNREAD:
        value = _value(run, (key,))
        if value is not None and value not in usual:
            yield from _finding(run, (key,), f"{key} is never read; {instead}")
    for key, name in _COMPUTED:
        value, size = _value(run, ("model", key)), run.geometry.get(name)
        if value is None or (isinstance(size, Quantity) and value == size.value):
            continue
        computed = f"{size.value:,}" if isinstance(size, Quantity) else "batch / (processes x accumulation)"
        yield from _finding(run, ("model", key), f"model.{key} is overwritten; the {called(name)} is {computed}")
    if _value(run, ("model", "reward_model_path")) is not None and _value(run, ("model", "reward_model", "path")) is None:
        # train/trainers.py:236-252 asks for it if a reward model was loaded, which launch.py:293 does from the other key.
        message = "model.reward_model_path loads no reward model; HALOs reads model.reward_model.path"
        yield from _finding(run, ("model", "reward_model_path"), message)


def _steps_of_pretraining(run: Run) -> Iterator[Finding]:
    """Yield a finding where pretraining, whose table has no number of steps, is given one."""
    if all(row.name != Name.MAX_STEPS for row in run.framework.rows) and _value(run, _MAX_STEPS) is not None:
        # LG pretrain.py:321-323 counts tokens; 518-523 warns.
        message = "train.max_steps is never read; litgpt pretrains for train.max_tokens"
        yield from _finding(run, _MAX_STEPS, message)


def _finding(run: Run, key: KeyPath, message: str) -> Iterator[Finding]:
    at = run.document.locate(key)
    if at is None:
        return
    value = run.places.get(key) if run.places else None
    holds = f"remove {dotted(key)}"
    command = run.launch.at if run.launch is not None else None
    if value is not None and command is not None and value.source == command.source and not command.start <= value.start < command.stop:
        # A variable of the script holds the value, and may have an effect elsewhere: what has none is the override.
        yield Finding(
            ITS_RULE, message, Severity.WARNING, _override(run, key) or command, "sets it", (Related(value, "its value"),), holds=holds
        )
    else:
        yield Finding(ITS_RULE, message, Severity.WARNING, at, "no effect", holds=holds)


def _override(run: Run, key: KeyPath) -> Location | None:
    """The word of the launch's command that sets `key`, None if none does by itself."""
    start, name = run.launch.start if run.launch is not None else None, dotted(key)
    return next((word.at for word in start.program if word.starts_with.lstrip("+").startswith(f"{name}=")), None) if start else None


def _value(run: Run, key: KeyPath) -> Value:
    """The value of a scalar at `key` as OmegaConf reads it, None if there is none."""
    return value_at(run.document, key, run.framework.loader)


_RECIPE = f"loss: ppo\n{HALOS_RECIPE}  batch_size: 32\n  {{line}}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="a key that the framework overwrites or never reads",
    severity=Severity.WARNING,
    bad=(
        Example((("ppo.yaml", _RECIPE.format(line="microbatch_size: 4")),)),
        Example((("ppo.yaml", _RECIPE.format(line="reward_model_path: my/reward")),)),
    ),
    good=(
        Example((("ppo.yaml", _RECIPE.format(line="microbatch_size: null")),)),
        Example((("ppo.yaml", _RECIPE.format(line="reward_model: {path: my/reward}")),)),
    ),
    check=check,
    frameworks=("halos", "litgpt"),
)
