"""Launch scripts with what bash and the launchers themselves made of them: the same world, or none, never another."""

import json
from collections import Counter
from typing import Any

from pytest_gbs.model.launch import Start
from tests.launches.programs.starting import starts, world
from tests.support import oracles

# Scripts whose recipe splits the world: tensor or context parallel sizes, which are the framework's business.
_SPLIT = {"shell-0063": 4, "shell-0182": 2}
# Scripts that only a run can resolve, as the table itself says.
_NEEDS_RUNNING = {"glob", "loop-operand", "heredoc-config", "grep-recipe", "indirect-expansion", "associative-array", "pipeline", "sbatch"}


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (oracles() / "shell.jsonl").read_text(encoding="utf-8").splitlines() if line.strip()]


def launches(case: dict[str, Any]) -> list[Start]:
    """The training launches that we find in a case."""
    path, targets = case["launch"]["command"], case["launch"].get("targets")
    found = starts(case["files"][path], case["files"], path)
    return [start for command, start in found if not targets or command.context in targets]


def wanted(case: dict[str, Any]) -> list[int | None]:
    """The world of each launch, None where can not be known it."""
    expect = case["expect"]
    times = _SPLIT.get(case["id"], 1)
    sizes = [each.get("data_parallel_size") for each in expect.get("launches", [expect])]
    return [size * times if size is not None else None for size in sizes]


def test_every_launch_is_found_and_no_other() -> None:
    wrong = []
    for case in cases():
        found, expected = launches(case), wanted(case)
        if len(found) != len(expected) and not _NEEDS_RUNNING & set(case["tags"]):
            wrong.append((case["id"], [start.name for start in found], len(expected)))
    assert wrong == []


def test_the_world_is_that_of_the_launcher_or_not_known() -> None:
    seen: Counter[str] = Counter()
    wrong = []
    for case in cases():
        for start, expected in zip(launches(case), wanted(case), strict=False):
            found = world(start)
            verdict = "exact" if found == expected else "unknown" if isinstance(found, str) else "wrong"
            if expected is None:
                verdict = "rightly unknown" if isinstance(found, str) else "wrong"
            seen[verdict] += 1
            if verdict == "wrong" or (verdict == "unknown" and not _NEEDS_RUNNING & set(case["tags"])):
                wrong.append((case["id"], found, expected))
    assert wrong == []
    assert seen["exact"] > 90
    assert seen["unknown"] <= 2


def test_what_a_launch_runs_is_what_it_was_given() -> None:
    wrong = []
    for case in cases():
        for words, start in zip(case["expect"].get("argv", ()), launches(case), strict=False):
            given = [word.text for word in start.program if word.text is not None and word.text != "-m" and not word.default]
            if any(text not in words for text in given):
                wrong.append((case["id"], given, words))
    assert wrong == []
