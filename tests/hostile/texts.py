"""Texts of which several hostile files are made."""

import json
from typing import Final

from tests.launches.building import KEYS

SIZES: Final = f"{KEYS}per_device_train_batch_size: 4\ngradient_accumulation_steps: 4\n"
TOML: Final = "model_name_or_path = 'x'\noutput_dir = 'y'\nper_device_train_batch_size = 4\ngradient_accumulation_steps = 4\n"
RUN: Final = "accelerate launch --num_processes 8 train.py --config good.yaml\n"
MADE: Final = RUN.replace("8", "$N")
IN_SHELL: Final = json.dumps(["bash", "-c", RUN])


def numbered(part: str, many: int, head: str = "", tail: str = "") -> str:
    """`part` so many times, with its number in the place of # and the number before in the place of @."""
    return head + "".join(part.replace("#", str(n)).replace("@", str(n - 1)) for n in range(1, many + 1)) + tail


def cells(*sources: object) -> str:
    """A notebook with these cells of code."""
    return json.dumps({"cells": [{"cell_type": "code", "source": source, "outputs": []} for source in sources], "nbformat": 4})


def job(command: str, more: str = "") -> str:
    """A job of Kubernetes with one container."""
    spec = f"      containers:\n      - name: c\n        image: x\n        command: {command}\n{more}"
    return f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n{spec}"
