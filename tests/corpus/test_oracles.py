"""Generated configurations with what the frameworks' own code made of them: every case must agree.

The comparison is the one of the oracles themselves; only the way to ask is ours: in this process, some thirty times as fast as a
process for each question.
"""

import json
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_gbs.cli import main
from tests.support import oracles

# Tables of composed values rather than sizes; tests/composition holds composition against them.
WITHOUT_SIZES = {"hydra"}
# Programs that may take whatever GPUs they find, so that their command does not say how many.
ON_ANY_GPUS = {"axolotl", "levanter", "litgpt"}

# What the framework says in code that the oracles did not execute, by file and function; commits are those of the oracles.
_AUTO = (
    "transformers integrations/deepspeed.py (fill_match): an argument of the Trainer takes the place of `auto` before DeepSpeed reads it,"
    " and such a file is not given to DeepSpeed itself"
)
_EXPERTS = (
    "megatron/core/parallel_state.py:880-884 (initialize_model_parallel): RuntimeError where the GPUs are no multiple of expert x tensor x"
    " pipeline ranks, 2 x 1 x 8 and 16 x 1 x 1 on 8 GPUs"
)
_BASE = (
    "megatron/bridge/training/utils/omegaconf_utils.py:105 (process_config_with_overrides): what the file leaves out is that of the Python"
    " recipe it overrides (32 or 128 in recipes/common.py); 512 is that of the oracle's own, which is not in the folder"
)
_COMMENT = "no framework reads comments: 2 x 16 x 32 is 1024, and 1 x 2 x 8 / 8 is 2, where the row's comment claims 128, an error to us"
_CONTEXT = (
    "prime_rl/trainer/rl/train.py:126, trainer/parallel_dims.py:63-65 (_validate): one process // context ranks is no shard, and it asserts"
    " that there is one"
)
_PLAN = (
    "torchtune recipes/full_finetune_distributed.py:158-161 (__init__): ValueError, tensor parallelism without a plan; the row executed the"
    " launch alone"
)
_LOST = "the framework trains, with another accumulation than the script says: a comment ends the command before that flag"
_FILLED = "a file without a batch may be one that its program fills in: transformers until 4.5.1 refuses any other"
EXCEPTIONS = {
    "deepspeed-0002": _FILLED,
    "deepspeed-0021": _AUTO,
    "deepspeed-0153": _AUTO,
    "deepspeed-0162": _FILLED,
    "megatron-0103": _EXPERTS,
    "megatron-0142": _EXPERTS,
    "megatron-bridge-0011": _BASE,
    "megatron-bridge-0102": _BASE,
    "open-instruct-0092": _COMMENT,
    "open-instruct-0112": _COMMENT,
    "prime-rl-0020": _CONTEXT,
    "prime-rl-0038": _CONTEXT,
    "shell-0063": _PLAN,
    "shell-0160": _LOST,
}


def ask(_gbs: object, verb: str, case: dict[str, Any], folder: str) -> dict[str, Any]:
    """What `gbs VERB` says of a folder, as JSON; beside a schedule an entry for its first stage, of which the rows tell."""
    answer = _answer(verb, case, folder)
    entries = answer.get("recipes", [])
    entries += [_at_first(entry) for entry in entries if _schedules(entry)]
    return answer


def _schedules(entry: dict[str, Any]) -> dict[str, list[int | None]]:
    """The stages of the sizes that change while training runs."""
    return {name: size["stages"] for name, size in entry["quantities"].items() if "stages" in size}


def _at_first(entry: dict[str, Any]) -> dict[str, Any]:
    first = {name: {"status": "known", "value": stages[0]} for name, stages in _schedules(entry).items()}
    return {**entry, "quantities": {**entry["quantities"], **first}}


def _answer(verb: str, case: dict[str, Any], folder: str) -> dict[str, Any]:
    reported, complained = StringIO(), StringIO()
    with redirect_stdout(reported), redirect_stderr(complained), pytest.MonkeyPatch.context() as here:
        here.chdir(folder)
        code = main([verb, "--format", "json", *_flags(case["launch"]), "."])
    try:
        answer: dict[str, Any] = json.loads(reported.getvalue())
    except ValueError:
        return {"broken": f"exit {code}: {complained.getvalue()[-300:]}"}
    return answer


def _flags(launch: dict[str, Any]) -> list[str]:
    """The hardware of a row as flags, unless a script in the folder gives it."""
    if "command" in launch:
        return []
    if launch.get("num_nodes"):
        return ["--nodes", str(launch["num_nodes"]), "--gpus-per-node", str(launch["gpus_per_node"])]
    return ["--world-size", str(launch["world_size"])]


@cache
def comparison() -> ModuleType:
    """The comparison that lies with the oracles, asking in this process."""
    module = ModuleType("compare")
    exec((oracles() / "compare").read_text(encoding="utf-8"), module.__dict__)  # a script without a suffix
    module.__dict__["run"] = ask
    return module


def cases(table: str) -> Iterator[dict[str, Any]]:
    for line in (oracles() / f"{table}.jsonl").read_text(encoding="utf-8").splitlines():
        case: dict[str, Any] = json.loads(line)
        if "accepted" not in case["expect"]:
            continue
        command = case["launch"].get("command")
        # A command line that stands in no file of the folder gets a script of its own.
        if command is not None and command not in case["files"]:
            case["files"]["run.sh"] = f"{command}\n"
            case["launch"]["command"] = "run.sh"
        if table in ON_ANY_GPUS:
            del case["launch"]["command"]
        yield case


def tables() -> list[str]:
    """The names of all tables with sizes; none where the oracles are not at hand."""
    try:
        found = sorted(path.stem for path in oracles().glob("*.jsonl"))
    except pytest.skip.Exception:
        return []
    return [table for table in found if table not in WITHOUT_SIZES]


@pytest.mark.parametrize("table", tables())
def test_every_case_agrees_with_the_framework(table: str) -> None:
    wrong = {case["id"]: verdict for case in cases(table) if (verdict := comparison().judge(None, case))}
    assert {name: verdict for name, verdict in wrong.items() if name not in EXCEPTIONS} == {}
    known = {case["id"] for case in cases(table)} & EXCEPTIONS.keys()
    assert known - wrong.keys() == set(), "these agree now: take them off the exceptions"


def test_every_phase_of_a_schedule_agrees(tmp_path: Path) -> None:
    oracles()
    reported = 0
    for case in cases("levanter"):
        if "batch_schedule" not in case["expect"]:
            continue
        reported += 1
        (tmp_path / case["id"]).mkdir()
        for name, text in case["files"].items():
            (tmp_path / case["id"] / name).write_text(text, encoding="utf-8")
        stages = _schedules(_answer("show", case, str(tmp_path / case["id"]))["recipes"][0])
        accumulation = case["expect"]["schedule_gradient_accumulation_steps"]
        assert stages["global_batch_size"] == [batch for _, batch in case["expect"]["batch_schedule"]]
        assert stages.get("gradient_accumulation_steps", [None] * len(accumulation)) == accumulation
    assert reported


def test_exceptions_are_few_and_of_known_tables() -> None:
    oracles()
    total = sum(1 for table in tables() for _ in cases(table))
    assert {name.rpartition("-")[0] for name in EXCEPTIONS} <= set(tables())
    assert total > 2000
    assert len(EXCEPTIONS) < total / 150
