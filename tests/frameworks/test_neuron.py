"""Trainers of AWS: NeuronX Distributed Training in NeMo's tree, and optimum-neuron, whose model is cut among cores."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.building import checked, titled_batches

from .building import outcomes, sizes, title

NXDT = """\
trainer: {{devices: 32, num_nodes: 4}}
distributed_strategy: {{tensor_model_parallel_size: {tensor}, pipeline_model_parallel_size: 1}}
data: {{micro_batch_size: {micro}, global_batch_size: {batch}}}
"""
OPTIMUM = "per_device_train_batch_size: 1\ngradient_accumulation_steps: 16\nzero_1: true\nlearning_rate: 1.0e-4\n{more}"


def nxdt(batch: object = 1024, micro: int = 1, tensor: int = 32) -> str:
    return NXDT.format(batch=batch, micro=micro, tensor=tensor)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "trainer: {devices: 8}\nmodel: {micro_batch_size: 1, global_batch_size: 8, tensor_model_parallel_size: 2}\n", id="NeMo"
        ),
        pytest.param("distributed_strategy: ddp\ndata: {global_batch_size: 64}\n", id="somebody's own"),
        pytest.param("data: {global_batch_size: 64, micro_batch_size: 1}\n", id="no degrees"),
        pytest.param("per_device_train_batch_size: 1\nlearning_rate: 1.0e-4\ntensor_parallel_size: 8\n", id="the Trainer"),
    ],
)
def test_others_are_left_alone(text: str) -> None:
    assert not any(name in (title(text) or "").lower() for name in ("neuron",))


def test_alignment_counts_pairs() -> None:
    assert title(nxdt()) == "NeuronX Distributed Training"
    assert title(nxdt() + "model_alignment_strategy: {dpo: {kl_beta: 0.01}}\n") == "NeuronX Distributed Training (preference pairs)"
    assert title(nxdt() + "model_alignment_strategy: {sft: {packing: true}}\n") == "NeuronX Distributed Training"


# examples/conf/hf_llama3_8B_config.yaml: 128 cores / 32 = 4 ranks, 1,024 / 4 = 256 micro batches.
@pytest.mark.parametrize(("text", "expected"), [(nxdt(), 256), (nxdt(micro=2), 128), (nxdt(tensor=8), 64)])
def test_cores_are_shared_among_the_degrees(text: str, expected: int) -> None:
    assert sizes(text, world_size=128).value(Name.GRADIENT_ACCUMULATION_STEPS) == expected


@pytest.mark.parametrize("batch", [1024, 1022])
def test_nothing_asks_for_whole_micro_batches(batch: int) -> None:
    assert outcomes("GBS202", nxdt(batch), world_size=128) == []


# examples/training/llama/finetune_llama.sh: 1 x 16 on 32 cores in eights.
@pytest.mark.parametrize(
    ("more", "expected"),
    [("", 512), ("tensor_parallel_size: 8\n", 64), ("tensor_parallel_size: 8\npipeline_parallel_size: 4\n", 16)],
)
def test_a_model_takes_several_cores(more: str, expected: int) -> None:
    text = OPTIMUM.format(more=more)
    assert title(text) == "optimum-neuron"
    assert sizes(text, world_size=32).global_batch_size == expected


# huggingface/optimum-neuron 213224e6, notebooks/ec2/text-generation/scripts/sft_finetuning_qwen3.{py,sh}, reduced: the classes of the
# package lie in the same tree, and defaults that they repeat are those of the table.
PROGRAM = """\
from transformers import HfArgumentParser
from optimum.neuron import NeuronSFTConfig, NeuronSFTTrainer, {arguments}
(training_args,) = HfArgumentParser(({arguments},)).parse_args_into_dataclasses()
config = NeuronSFTConfig(max_length=2048, **training_args.to_dict())
NeuronSFTTrainer(args=config).train()
"""
ITS_OWN = {
    "optimum/neuron/__init__.py": "from .arguments import NeuronTrainingArguments\n",
    "optimum/neuron/arguments.py": """\
from dataclasses import dataclass
from transformers import TrainingArguments
@dataclass
class NeuronTrainingArguments(TrainingArguments):
    gradient_accumulation_steps: int = 1
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
""",
}
OTHERS = (
    "from optimum.neuron import NeuronTrainingArguments\nclass Arguments(NeuronTrainingArguments):\n    tensor_parallel_size: int = 4\n"
)


@pytest.mark.parametrize("files", [{}, ITS_OWN], ids=["installed", "its own repository"])
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("--per_device_train_batch_size 1 --gradient_accumulation_steps 8 --tensor_parallel_size 8", 32),  # 1 x 8 x 32 / 8
        ("--per_device_train_batch_size 2 --zero_1", 64),  # 2 x 1 x 32
        ("--per_device_train_batch_size 1 --tensor_parallel_size 8 --pipeline_parallel_size 2", 2),  # 1 x 1 x 32 / 16
        ("--per_device_train_batch_size 1 --tensor_parallel_size $TP", None),
    ],
)
def test_a_launch_has_the_defaults_of_the_table(tmp_path: Path, files: dict[str, str], flags: str, expected: int | None) -> None:
    program = PROGRAM.format(arguments="NeuronTrainingArguments")
    report = checked(tmp_path, files | {"sft.py": program, "run.sh": f"torchrun --nproc_per_node 32 sft.py {flags}\n"})
    assert titled_batches(report) == [("optimum-neuron", expected)]


def test_a_class_made_from_that_of_the_package_has_defaults_of_its_own(tmp_path: Path) -> None:
    program = PROGRAM.replace("from optimum", "from mine import Arguments\nfrom optimum", 1).format(arguments="NeuronTrainingArguments")
    program = program.replace("((NeuronTrainingArguments,))", "((Arguments,))")
    script = "torchrun --nproc_per_node 32 sft.py --per_device_train_batch_size 2 --zero_1\n"
    report = checked(tmp_path, {"mine.py": OTHERS, "sft.py": program, "run.sh": script})
    assert titled_batches(report) == [("optimum-neuron", None)]
