"""A statement that is false as it was read is read once more, and stays false where a number is left over."""

import pytest

from tests.properties.support import reported
from tests.properties.test_true_statements import RECIPE

PROGRAM = """\
from transformers import HfArgumentParser, Trainer, TrainingArguments
args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
Trainer(args=args).train()
"""
LAUNCH = (
    "torchrun --nnodes {nodes} --nproc_per_node 8 train.py --per_device_train_batch_size {micro} --gradient_accumulation_steps {steps}\n"
)


def findings(comment: str, micro: int, steps: int) -> list[str]:
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=micro, steps=steps)}).files
    return [finding.message for finding in file.findings]


def launched(comment: str, micro: int, steps: int, nodes: int) -> list[str]:
    script = f"#!/bin/bash\n# {comment}\n" + LAUNCH.format(nodes=nodes, micro=micro, steps=steps)
    report = reported({"train.py": PROGRAM, "run.sh": script})
    return [finding.message for file in report.files for finding in file.findings]


@pytest.mark.parametrize(
    ("comment", "micro", "steps"),
    [
        ("num_nodes=3, 5 accumulation, 2 per device, 8 GPUs -> global batch size 240", 2, 5),
        ("eff. batch size = 8 A100 GPUs each * mbs 4 * GA 2 * nodes: 3 = 192", 4, 2),
        ("2 nodes, 4 per GPU, 8 H100s; global batch size = 64", 4, 1),
        ("GBS = 8 GPUs per machine x 4 hosts x micro 2 x accum 1 (64)", 2, 1),
        ("global batch size: 64 (micro batch 2 * world of 4 nodes * GA 1 * gpus_per_node=8)", 2, 1),
        ("GBS = 3 nodes (8 GPUs each) x 8 grad accum x 2 = 384", 2, 8),
        ("effective batch size = 4 nodes × batch size of 2 per GPU × 8 A100 80GB × 2x accumulation (128)", 2, 2),
    ],
)
def test_nodes_and_gpus_apart_from_each_other(comment: str, micro: int, steps: int) -> None:
    (file,) = reported({"r.yaml": RECIPE.format(comment=comment, micro=micro, steps=steps)}).files
    assert (file.findings, file.verdict) == ((), "verified")


@pytest.mark.parametrize(
    ("comment", "micro", "steps"),
    [
        ("Config for 2 x 8 GPUs with GBS 128", 4, 2),  # 16 x 4 x 2
        ("effective batch size: 256 on 4 * 8 GPUs", 8, 1),  # 32 x 8
        ("GBS 128, 2 x 8 GPUs", 4, 2),
        ("2 x 8 GPUs, global batch size 16", 1, 1),
        ("GBS 64 with 4 x 8 GPUs, accumulation 2", 4, 2),  # 4 on each of 8 GPUs
        ("GBS 32 (4 x 8 GPUs)", 4, 1),
        ("GBS 32 on 4 x 8 GPUs", 4, 1),
    ],
)
def test_two_numbers_before_the_gpus_are_nodes_or_a_micro_batch(comment: str, micro: int, steps: int) -> None:
    assert findings(comment, micro, steps) == []


@pytest.mark.parametrize(
    ("comment", "micro", "steps"),
    [
        ("Config for 2 x 8 GPUs with GBS 128", 4, 1),  # 16 x 4 = 64
        ("GBS 128, 2 x 8 GPUs", 4, 8),  # 16 x 4 x 8 = 512, and 8 x 4 x 8 = 256
        ("GBS 64 with 4 x 8 GPUs, accumulation 2", 4, 4),  # 4 x 4 x 8 = 128
        ("GBS 32 (4 x 8 GPUs)", 4, 2),  # 4 x 2 x 8 = 64
    ],
)
def test_two_numbers_before_the_gpus_that_are_neither(comment: str, micro: int, steps: int) -> None:
    assert findings(comment, micro, steps)


@pytest.mark.parametrize(
    ("comment", "micro", "steps"),
    [
        ("2 nodes, 4 per GPU, 8 H100s; global batch size = 64", 2, 1),  # 16 x 2 = 32
        ("GBS = 8 GPUs per machine x 4 hosts x micro 2 x accum 1 (64)", 2, 4),  # 32 x 2 x 4 = 256
        ("GBS = 3 nodes (8 GPUs each) x 8 grad accum x 2 = 384", 1, 8),  # 24 x 8 x 1 = 192
        ("Config for 1 node of 1 GPUs with GBS 2", 1, 1),  # the batch is no number of GPUs
        ("Config for 4 GPUs with GBS 2", 1, 2),  # nor is it the accumulation
        ("global batch size: 56 (1 per GPU, GA 1, 7 nodes x 8 GPUs)", 1, 7),  # seven nodes are no accumulation
    ],
)
def test_a_statement_in_which_a_number_is_left_over_is_false(comment: str, micro: int, steps: int) -> None:
    assert findings(comment, micro, steps)


@pytest.mark.parametrize(
    ("comment", "micro", "steps", "nodes"),
    [
        ("GBS = 8 GPUs x grad_acc 5 x batch size of 2 per GPU x 5 nodes = 400", 2, 5, 5),
        ("4 (per device) * 16 * gradient_accumulation_steps=5 = 320", 4, 5, 2),
        ("3 per device * 3 servers * accumulation of 5 * gpus_per_node=8 = 360 effective batch", 3, 5, 3),
        ("total batch size = grad_acc 1 * gpus_per_node=8 * 5 H100 nodes * per_device_train_batch_size=6 (240)", 6, 1, 5),
        ("grad_acc 5 * per_device_train_batch_size=6 * 8 GPUs/node * 5 worker nodes = 1200", 6, 5, 5),
        ("Global BS: 256 (8 (accumulation) * 2 worker nodes * mbs 2 * gpus per node: 8)", 2, 8, 2),
    ],
)
def test_a_comment_of_a_launch(comment: str, micro: int, steps: int, nodes: int) -> None:
    assert launched(comment, micro, steps, nodes) == []


@pytest.mark.parametrize(
    ("comment", "micro", "steps", "nodes"),
    [
        ("GBS = 8 GPUs x grad_acc 5 x batch size of 2 per GPU x 5 nodes = 400", 2, 5, 4),  # 32 x 2 x 5 = 320
        ("4 (per device) * 16 GPUs * accumulation 5 = 320", 4, 10, 2),  # 16 x 4 x 10 = 640
    ],
)
def test_a_false_comment_of_a_launch(comment: str, micro: int, steps: int, nodes: int) -> None:
    assert launched(comment, micro, steps, nodes)


def documented(sentence: str, micro: int, steps: int) -> list[str]:
    recipe = RECIPE.partition("\n")[2].format(micro=micro, steps=steps)
    report = reported({"recipes/r.yaml": recipe, "README.md": f"# Training\n\nWe train `recipes/r.yaml`: {sentence}\n"})
    return [finding.message for file in report.files for finding in file.findings]


@pytest.mark.parametrize(
    ("sentence", "micro", "steps"),
    [
        ("global batch size = 4 nodes (8 GPUs each) * per_device_train_batch_size=3 * grad accum 16 = 1536", 3, 16),
        ("3 samples per GPU + GA 2 + 8 NPUs + nodes=4 -> GBS 192", 3, 2),
        ("with 3 nodes, 8 GPUs, micro batch 6 and 2 accumulation steps the global batch size is 288", 6, 2),
    ],
)
def test_a_sentence_of_a_document(sentence: str, micro: int, steps: int) -> None:
    assert documented(sentence, micro, steps) == []


@pytest.mark.parametrize(
    ("sentence", "micro", "steps"),
    [
        ("global batch size = 4 nodes (8 GPUs each) * per_device_train_batch_size=3 * grad accum 16 = 1500", 3, 16),  # 32 x 48 = 1,536
        ("global batch size 192 on 4 nodes of 8 GPUs each", 3, 4),  # 32 x 12 = 384
    ],
)
def test_a_false_sentence_of_a_document(sentence: str, micro: int, steps: int) -> None:
    assert documented(sentence, micro, steps)
