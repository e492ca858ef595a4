"""Which program a command runs: by its name, or as a module of Python."""

from __future__ import annotations

import sys
from typing import Final

from pytest_gbs.model.command import Command, Word, name_of

# Modules that are launchers themselves, so that plain Python leaves them alone.
ACCELERATE_MODULES: Final = ("accelerate.commands.launch",)
ACCELERATE_CLI_MODULES: Final = ("accelerate.commands.accelerate_cli", "accelerate")
TORCHRUN_MODULES: Final = ("torch.distributed.run", "torch.distributed.launch", "torch.distributed.elastic_launch")
DEEPSPEED_MODULES: Final = ("deepspeed.launcher.runner", "deepspeed")
SUB_COMMAND_MODULES: Final = {
    "trl": ("trl.cli", "trl"),
    "llamafactory-cli": ("llamafactory.cli", "llamafactory"),
    "axolotl": ("axolotl.cli.main",),
    "tune": ("torchtune._cli.tune",),
    "oumi": ("oumi",),
    "swift": ("swift.cli.main",),
    "megatron": ("swift.cli._megatron.main",),
}
# The same of a file.
DEEPY: Final = "deepy.py"
SPAWNING: Final = {"gaudi_spawn.py": "--world_size", "xla_spawn.py": "--num_cores"}
_VALUED: Final[tuple[str, ...]] = ("-W", "-X", "--check-hash-based-pycs")
# Modules that train nothing and start nothing that trains.
_TOOLS: Final = sys.stdlib_module_names | {"pip", "pytest", "http.server", "json.tool", "nltk.downloader"}
# Modules that run the program behind their options, each with those that have a value.
_RUNNING: Final[dict[str, tuple[str, ...]]] = {
    "debugpy": ("--listen", "--connect", "--log-to", "--adapter-access-token"),
    "cProfile": ("-o", "--outfile", "-s", "--sort"),
    "pdb": ("-c", "--command"),
    "ipdb": ("-c", "--command"),
}


def is_python(word: Word) -> bool:
    """Whether a word names a Python interpreter."""
    name = name_of(word)
    return name.startswith("python") and all(sign in "0123456789." for sign in name[6:])


def python_program(command: Command) -> int | None:
    """The index of the file or of the `-m` that Python runs; None if it runs neither, or is not Python."""
    words = command.words
    if not is_python(words[0]):
        return None
    index, valued = 1, _VALUED
    while index < len(words):
        text = words[index].text
        if text == "-m":
            module = words[index + 1].text or "" if index + 1 < len(words) else None
            if module not in _RUNNING:
                return index if module is not None else None
            index, valued = index + 2, _RUNNING[module]
            continue
        if text in ("-c", "-", "-V", "--version", "-h", "--help"):
            return None
        if not words[index].starts_with.startswith("-"):
            return index
        index += 2 if text in valued else 1
    return None


def module_of(command: Command) -> tuple[str, int] | None:
    """The module that `python -m` runs and the index behind it; None if it runs none."""
    index = python_program(command)
    if index is None or command.words[index].text != "-m":
        return None
    return command.words[index + 1].text or "", index + 2


def own_program(command: Command) -> int | None:
    """The index of what Python itself runs; None if it runs nothing, a tool such as pip, or a module or script that is a launcher."""
    module, index = module_of(command), python_program(command)
    name = module[0] if module is not None else ""
    if index is None or is_launcher(name) or name in _TOOLS or name_of(command.words[index]) in (DEEPY, *SPAWNING):
        return None
    return index


def behind(command: Command, names: tuple[str, ...], modules: tuple[str, ...] = ()) -> int | None:
    """The index of the first argument of a program, called by one of its names or as a module; None if it is another."""
    if name_of(command.words[0]) in names:
        return 1
    module = module_of(command)
    return module[1] if module is not None and module[0] in modules else None


def is_launcher(module: str) -> bool:
    """Whether a module is a launcher that has a file of its own here."""
    others = (*ACCELERATE_MODULES, *ACCELERATE_CLI_MODULES, *TORCHRUN_MODULES, *DEEPSPEED_MODULES)
    return module in others or any(module in names for names in SUB_COMMAND_MODULES.values())
