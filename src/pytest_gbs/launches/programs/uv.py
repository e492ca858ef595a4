"""uv run: a Python file or module in an environment of its own, one process that uses whatever GPUs it sees."""

from __future__ import annotations

from pytest_gbs.launches.programs._programs import is_launcher
from pytest_gbs.launches.programs.python import one_process, visible_gpus
from pytest_gbs.model.command import Command, Word
from pytest_gbs.model.launch import Launcher, LauncherContext, Start


def start(command: Command, _context: LauncherContext) -> Start | None:
    """What `uv run FILE.py` or `uv run -m MODULE` starts; None if uv runs a command that is not a Python of its own."""
    runner = command.wrappers[-1] if command.wrappers else None
    if runner is None or runner.name != "uv":
        return None
    program = _program(runner.words, command.words)
    if program is None:
        return None
    return Start("uv run", command.at, (one_process(command),), program, visible=visible_gpus(command))


def _program(options: tuple[Word, ...], words: tuple[Word, ...]) -> tuple[Word, ...] | None:
    if options[-1].text in ("-m", "--module"):
        flag = options[-1]._replace(text="-m")
        return None if is_launcher(words[0].text or "") else (flag, *words)
    return words if (words[0].text or "").endswith(".py") else None


LAUNCHER = Launcher("uv", "uv run script.py, uv run -m module", words=("uv run",), start=start)
