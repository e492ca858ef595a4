"""What the README shows is what happens, and what it asks a newcomer to type is what CI types."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: block.split("\n", 1)[0])
def test_the_output_shown_is_the_output(block: str) -> None:
    command, _, shown = block.partition("\n")
    words = command.removeprefix("$ gbs ").split()
    done = subprocess.run([sys.executable, "-m", "pytest_gbs", *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.stdout == shown


def test_there_are_two_commands_and_ci_types_them() -> None:
    commands = [block.strip() for block in blocks("sh")]
    assert len(commands) == 2
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for command in commands:
        assert command in script


def test_every_linked_file_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
