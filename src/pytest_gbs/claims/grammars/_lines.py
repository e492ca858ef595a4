"""Which lines of a comment are prose: settings that are commented out, commands and comments to this tool are not."""

from __future__ import annotations

import re
from functools import cache

from pytest_gbs.model.pattern import lazy_pattern


def prose(line: str) -> str:
    """`line` without its indentation, comment signs, and comments to this tool."""
    body = line.strip(" \t#\r")
    if "gbs:" in body:
        return _own().split(body, maxsplit=1)[0].rstrip(" \t#")
    return body


# What starts a comment to this tool that states nothing.
_own = lazy_pattern(r"(?:^|#\s*)gbs:\s*(?:ignore|not-a-claim|[a-z][\w-]*\s?\[)")


def is_setting(line: str) -> bool:
    """Whether a comment's line is a setting that was commented out: `gradient_accumulation_steps: 16  # 8 GPUs`."""
    match = _setting().match(line)
    if match is None:
        return False
    key, value = match["key"], match["value"].strip()
    if key.lower() == "gbs" or key.lower().startswith("effective"):
        return False
    scalar = _scalar().match(value) is not None
    if match["sign"] == "=":
        return scalar and ("_" in key or key.islower())
    if "_" in key:
        return scalar or not value[:1].isdigit()
    return scalar and key.islower()


_setting = lazy_pattern(
    r"(?:- |export )?[\"']?(?P<key>--?[\w-]+|[A-Za-z_][\w./]*)[\"']?\s*(?P<sign>:(?=\s|$)|=(?!=))(?P<value>.*)", re.DOTALL
)
_scalar = lazy_pattern(r"(?:[\"'\[{$&*!|>].*|[^\s#]*,?)(?:\s+#.*)?$", re.DOTALL)


@cache
def _command() -> re.Pattern[str]:
    programs = (
        "torchrun|accelerate launch|deepspeed|sbatch|srun|salloc|mpirun|python3?|bash|sh|uv|pip|cd|export|tune|ray|llamafactory-cli|axolotl"
        "|litgpt|automodel|oumi|swift|composer"
    )
    arguments = r"(?:--?\w|[\w./$-]*(?:\s--?\w|\.(?:py|sh|ya?ml|slurm)\b|\s+run\b|=))"
    return re.compile(rf"\$ |SBATCH|CUDA_VISIBLE_DEVICES=|(?:[A-Z_\d]+=\S+ +)*(?:{programs})\s+{arguments}")


def is_command(line: str) -> bool:
    """Whether a comment's line is a command, or part of one: `accelerate launch --num_processes 8 train.py`."""
    if line.endswith("\\") or line.startswith("--"):
        return True
    if " --" in line and _flag().search(line) is not None and _prose().match(line) is None:
        return True
    return _command().match(line) is not None


# A sentence that names a flag: `Set --gradient_accumulation_steps so that the effective batch size is 256`.
_prose = lazy_pattern(r"(?:set|adjust|choose|keep|make sure)\s", re.IGNORECASE)
_flag = lazy_pattern(r"\s--[a-zA-Z]")
