"""The words by which a text that cannot be read still shows that it concerns a batch or a launch."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.document import DOCUMENTS, MAKEFILES, SCRIPTS

# Programs that launch training: one of these is in each script that does. The words of all launchers are among them.
LAUNCHING: Final = (
    "accelerate",
    "arctic_training",
    "axolotl",
    "colossalai ",
    "composer ",
    "deepspeed",
    "deepy.py",
    "fabric run",
    "fairseq-train",
    "fairseq-hydra-train",
    "gaudi_spawn.py",
    "lerobot-train",
    "lightning run",
    "litgpt",
    "llamafactory",
    "lmf ",
    "megatron ",
    "mpiexec",
    "mpirun",
    "msrun",
    "orchestrator @",
    "oumi ",
    "python",
    "ray job",
    "rl @",
    "sft @",
    "specforge",
    "srun",
    "swift ",
    "torch.distributed",
    "torchrun",
    "trainer @",
    "trl ",
    "tune run",
    "uv run",
    "xla_spawn.py",
    "xtuner ",
)
# Those that no prose has by chance.
_BY_NAME: Final = ("accelerate launch", "axolotl train", "deepspeed --", "llamafactory-cli", "torch.distributed.run", "torchrun ")
_SHELL: Final = (*SCRIPTS, ".mk")
# Parts of keys; `batch_size` covers the many that end in it.
MATTERING: Final = (
    "batch_size",
    "batchsize",
    "batch-size",
    "gradient_accumulation",
    "grad_accum",
    "accumulate_grad",
    "global_batch",
    "micro_batch",
    "batch_per_",
    "samples_per_",
    "num_processes",
    "num_machines",
    "num_nodes",
    "num_gpus",
    "gpus_per_node",
    "nproc_per_node",
    "distributed_type",
    "world_size",
    "data_parallel",
    "tensor_parallel",
    "tensor_model_parallel",
    "pipeline_parallel",
    "pipeline_model_parallel",
    "num_generations",
    "steps_per_generation",
    "auto_find_batch",
)


def launching_words(path: str) -> tuple[str, ...]:
    """The words of which one is in each file that launches training, if its name says that it may; none otherwise."""
    if path.lower().endswith(DOCUMENTS):
        return (*_BY_NAME, *MATTERING)
    return (*LAUNCHING, *MATTERING) if path.lower().endswith(_SHELL) or path.rpartition("/")[2] in MAKEFILES else ()
