"""Programs that start DeepSpeed's engine with the file that their command line names, which is their recipe then.

`deepspeed.initialize` takes the file from `args.deepspeed_config`, and refuses another configuration beside it (DeepSpeed 0.19.8,
__init__.py:529-532); `deepspeed.add_config_arguments` makes the option of that name (633).
"""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.location import Source
from pytest_gbs.readers.python import read_engines

OPTION: Final = "deepspeed_config"
# Arguments that bring another configuration, or say how the processes share the model.
_OTHERWISE: Final = frozenset(("config", "config_params", "mpu", "mesh_param", ""))
# A pipeline of DeepSpeed takes processes from the data-parallel ones; the file does not say how many.
_PIPELINE: Final = "PipelineModule"


def runs_named_file(program: Source) -> bool:
    """Whether the engines of a program, as far as it starts them, have the batch of the file behind `--deepspeed_config`."""
    engines = read_engines(program) if _PIPELINE not in program.text else ()
    return bool(engines) and all("args" in given and given.isdisjoint(_OTHERWISE) for given in engines)
