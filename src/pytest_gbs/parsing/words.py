"""The words by which a text that cannot be read still shows that it concerns a batch or a launch."""

from __future__ import annotations

from pytest_gbs.core.typed import Final

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
