"""Launch scripts with what bash itself made of them: the same words, or fewer known ones, never others."""

import json
from typing import Any

from pytest_gbs.model.command import Command, OtherFiles
from pytest_gbs.model.location import Source
from pytest_gbs.shell import read_commands
from tests.support import oracles

_LAUNCHERS = {"accelerate", "torchrun", "deepspeed", "tune", "trl", "axolotl", "llamafactory-cli"}
# What these launches know for themselves: the machine, the job, the probe's own arguments.
_MACHINE = ("SLURM_", "MASTER_", "scontrol", "hostname", "nvidia-smi", "python -c")


def cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in (oracles() / "shell.jsonl").read_text(encoding="utf-8").splitlines() if line.strip()]


def launches(case: dict[str, Any]) -> list[Command]:
    """The training launches that we find in a case."""
    files, path = case["files"], case["launch"]["command"]
    held = {name: Source(name, text) for name, text in files.items()}
    others = [tuple(words[:2]) for words in case["expect"].get("other_argv", ())]
    programs = _LAUNCHERS | {words[0] for words in case["expect"].get("argv", ())}
    return [
        command
        for command in read_commands(held[path], OtherFiles(held.get, held.__contains__)).commands
        if command.words[0].text in programs and tuple(word.text for word in command.words[:2]) not in others
        if not case["launch"].get("targets") or command.context in case["launch"]["targets"]
    ]


def test_no_word_is_another_than_that_of_bash() -> None:
    wrong: list[tuple[object, ...]] = []
    for case in cases():
        for words, command in zip(case["expect"].get("argv", ()), launches(case), strict=False):
            if len(command.words) != len(words):
                wrong.append((case["id"], [word.text for word in command.words]))
            wrong += [
                (case["id"], word.text, text)
                for text, word in zip(words, command.words, strict=False)
                if word.text not in (None, text) and not word.default
            ]
    assert wrong == []


def test_every_launch_is_found_and_no_other() -> None:
    wrong = []
    for case in cases():
        found, wanted = launches(case), case["expect"].get("argv", [])
        if len(found) != len(wanted) and "glob" not in case["tags"]:
            wrong.append((case["id"], len(found), len(wanted)))
    assert wrong == []


def test_what_bash_knows_without_a_machine_we_know() -> None:
    hidden = []
    for case in cases():
        if "unknown" in case["expect"] or "glob" in case["tags"]:
            continue
        for command in launches(case):
            hidden += [
                (case["id"], word.raw, name)
                for word in command.words
                for name in word.unknowns
                if not any(sign in name for sign in _MACHINE)
            ]
    assert hidden == []


def test_the_variables_of_a_launch_are_those_of_bash() -> None:
    wrong = []
    for case in cases():
        if "unknown" in case["expect"]:
            continue
        for variables, command in zip(case["expect"].get("env", ()), launches(case), strict=False):
            for name, text in variables.items():
                value = command.variable(name)
                if value is None or value.text != text:
                    wrong.append((case["id"], name, value and value.text, text))
    assert wrong == []
